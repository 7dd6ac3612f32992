"""A small simulated world, and two made-up services that describe it in styles of their own.

Counts add over engines, rates are pooled, pages and prompts are distinct things. ``ledger`` answers
with grids, numbers in text, per cent signs and a totals row; ``nested`` with wrappers, maps,
columnar charts, sentinels and epoch seconds. ``KEY`` says what each field means.

``abroad`` writes numbers with a decimal comma and points between thousands, in hyphenated names
below ``attributes``; ``terse`` has short names, units nowhere and positional rows with a legend.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from aatoolkit._util.lexicon import read_text_table

ENGINES = ("atlas", "borealis", "cirrus")
BRANDS = ("Nordvik", "Ostra", "Pellworm", "Quill & Sons", "Rusk")
HOSTS = tuple(f"{letter}lder.example" for letter in "abcefghk")
TOPICS = ("Kettles", "Lamps", "Rugs")
START = 1_793_500_000
SECTIONS = ("domains", "ranking", "crawl", "prompts")


@cache
def answers() -> tuple[dict[str, Any], ...]:
    """What was asked of the engines, and what they said."""
    rng = random.Random("a small world")
    drawn = []
    for number in range(900):
        brands = [brand for at, brand in enumerate(BRANDS) if rng.random() < 0.7 / (at + 1)]
        rng.shuffle(brands)
        hosts = [
            host for at, host in enumerate(HOSTS) for _ in range(3) if rng.random() < 0.5 / (at + 2)
        ]
        drawn.append(
            {
                "engine": rng.choice((*ENGINES, ENGINES[0])),
                "prompt": f"q{number % 24:02}",
                "topic": TOPICS[number % 24 % 3],
                "day": number % 20,
                "brands": brands,
                "pages": [f"{host}/{rng.randrange(4)}" for host in hosts],
            }
        )
    return tuple(drawn)


def picked(engines: Iterable[str]) -> list[dict[str, Any]]:
    """The answers of some engines; of all if none are named."""
    wanted = set(engines) or set(ENGINES)
    return [answer for answer in answers() if answer["engine"] in wanted]


def options() -> dict[str, Any]:
    """The scope options, as the API's document has them."""
    return {
        "engines": [
            {"id": engine, "label": engine.title(), "configured": True, "lastRunDay": "2026-11-01"}
            for engine in ENGINES
        ],
        "topics": [{"topic": topic, "count": 8} for topic in TOPICS],
        "categories": [],
        "brands": [{"name": brand, "tracked": True, "own": brand == "Nordvik"} for brand in BRANDS],
        "ownTerms": ["nordvik"],
        "days": [7, 30, 90],
    }


def _domains(engines: Iterable[str]) -> list[dict[str, Any]]:
    held: dict[str, dict[str, Any]] = defaultdict(
        lambda: {"cit": 0, "ans": 0, "pages": set(), "own": 0}
    )
    for answer in picked(engines):
        for host in {page.partition("/")[0] for page in answer["pages"]}:
            held[host]["ans"] += 1
            held[host]["own"] += "Nordvik" in answer["brands"]
        for page in answer["pages"]:
            host = page.partition("/")[0]
            held[host]["cit"] += 1
            held[host]["pages"].add(page)
    rows = [
        {"host": host, **values, "pages": len(values["pages"])} for host, values in held.items()
    ]
    return sorted(rows, key=lambda row: -row["cit"])


def _brands(engines: Iterable[str]) -> list[dict[str, Any]]:
    rows = []
    chosen = picked(engines)
    total = sum(len(answer["brands"]) for answer in chosen)
    for brand in BRANDS:
        ranks = [
            answer["brands"].index(brand) + 1 for answer in chosen if brand in answer["brands"]
        ]
        by = Counter(answer["engine"] for answer in chosen if brand in answer["brands"])
        days = Counter(answer["day"] for answer in chosen if brand in answer["brands"])
        rows.append(
            {
                "brand": brand,
                "mentions": len(ranks),
                "first": sum(rank == 1 for rank in ranks),
                "mean": sum(ranks) / len(ranks) if ranks else None,
                "of": len(chosen),
                "share": len(ranks) / total if total else None,
                "by": by,
                "days": days,
            }
        )
    return sorted(rows, key=lambda row: -row["mentions"])


def _prompts(engines: Iterable[str]) -> list[dict[str, Any]]:
    held: dict[str, dict[str, Any]] = {}
    for answer in picked(engines):
        row = held.setdefault(
            answer["prompt"], {"topic": answer["topic"], "runs": 0, "named": 0, "by": Counter()}
        )
        row["runs"] += 1
        row["named"] += "Nordvik" in answer["brands"]
        row["by"][answer["engine"]] += 1
    return [{"id": name, **row} for name, row in sorted(held.items())]


def _grouped(number: int) -> str:
    return f"{number:,}"


def ledger(section: str, engines: Iterable[str] = ()) -> Any:
    """Grids, text and per cent signs."""
    if section == "domains":
        rows = _domains(engines)
        body = [
            [
                r["host"],
                _grouped(r["cit"] * 37),
                _grouped(r["ans"]),
                f"{100 * r['own'] / r['ans']:.1f}%",
                str(r["pages"]),
                "n/a" if at % 4 == 3 else f"{r['cit'] / r['ans']:.3f}",
            ]
            for at, r in enumerate(rows)
        ]
        total = [sum(r["cit"] * 37 for r in rows), sum(r["ans"] for r in rows)]
        body.append(["TOTAL", *map(_grouped, total), "—", "99", "n/a"])
        heads = ["Source", "Citations", "Answers", "Own mention rate", "Distinct pages", "Depth"]
        return {"table": {"headers": heads, "rows": body}, "note": "Sorted by citations."}
    if section == "ranking":
        rows = _brands(engines)
        return {
            "board": [
                {
                    "#": f"#{at + 1}",
                    "Name": r["brand"],
                    "Mentions": _grouped(r["mentions"]),
                    "Mention share": f"{100 * r['share']:.2f} %" if r["share"] else "-",
                    "Avg. position": f"{r['mean']:.2f}" if r["mean"] else "-",
                    "Firsts": r["first"],
                }
                for at, r in enumerate(rows)
            ]
        }
    if section == "crawl":
        hits = Counter(answer["day"] for answer in picked(engines))
        return {
            "log": [
                [f"2026-10-{day + 1:02}", 3 * count, f"{count % 5}"]
                for day, count in sorted(hits.items())
            ],
            "total_hits": 3 * sum(hits.values()),
        }
    rows = _prompts(engines)
    return {
        "prompts": [
            {
                "Prompt ID": r["id"],
                "Topic": r["topic"],
                "Runs": r["runs"],
                "Named": r["named"],
                "Named %": f"{100 * r['named'] / r['runs']:.1f}",
            }
            for r in rows
        ]
    }


def nested(section: str, engines: Iterable[str] = ()) -> Any:
    """Wrappers, maps, columnar charts, sentinels and epoch seconds."""
    if section == "domains":
        rows = _domains(engines)
        items = [
            {
                "attributes": {
                    "domain": r["host"],
                    "citationCount": r["cit"],
                    "answerCount": r["ans"],
                    "ownShare": round(r["own"] / r["ans"], 4),
                    "uniqueUrls": r["pages"],
                    "lastSeenAt": START + 86_400 * at,
                    "bestSlot": -1 if at == 2 else at + 1,
                }
            }
            for at, r in enumerate(rows)
        ]
        return {
            "result": {"items": items, "totals": {"citationCount": sum(r["cit"] for r in rows)}}
        }
    if section == "ranking":
        rows = _brands(engines)
        days = [f"2026-10-{day + 1:02}" for day in range(20)]
        board = {
            r["brand"]: {
                "mentionCount": r["mentions"],
                "visibility": round(r["mentions"] / r["of"], 4),
                "answersTotal": r["of"],
                "meanPosition": round(r["mean"], 3) if r["mean"] else None,
                "byEngine": dict(r["by"]),
            }
            for r in rows
        }
        trend = {
            "days": days,
            "mentions": [sum(r["days"][day] for r in rows) for day in range(20)],
            "leaders": [rows[0]["days"][day] for day in range(20)],
        }
        return {
            "result": {
                "brands": board,
                "trend": trend,
                "mentionsTotal": sum(r["mentions"] for r in rows),
            }
        }
    if section == "crawl":
        hits = Counter((answer["day"] % 4, answer["engine"]) for answer in picked(engines))
        weeks = {
            f"2026-W{40 + week}": {
                engine: 2 * hits[week, engine] for engine in ENGINES if hits[week, engine]
            }
            for week in range(4)
        }
        return {"result": {"weekly": weeks, "summary": {"hits": 2 * sum(hits.values())}}}
    rows = _prompts(engines)
    return {
        "result": {
            "edges": [
                {
                    "node": {
                        "promptId": r["id"],
                        "topic": r["topic"],
                        "runCount": r["runs"],
                        "namedRuns": r["named"],
                        "namedRate": round(r["named"] / r["runs"], 4),
                        "perEngine": dict(r["by"]),
                    },
                    "cursor": f"c{at}",
                }
                for at, r in enumerate(rows)
            ]
        }
    }


SERVICES = {"ledger": ledger, "nested": nested}

_COLUMNS: dict[tuple[str, str, str], tuple[str, str | None, str]] = {
    (service, section, path): (kind, None if unit == "-" else unit, rule)
    for service, section, path, kind, unit, rule in read_text_table(
        Path(__file__).with_name("columns.txt")
    )
}
"""By service, section and path of a column: its kind, the beginning of its unit, and its rule."""

KEY = {place: column for place, column in _COLUMNS.items() if place[0] in SERVICES}


# --- two more, as strangers would write them -------------------------------------------------


def _comma(number: float, decimals: int) -> str:
    text = f"{number:,.{decimals}f}"
    return text.replace(",", " ").replace(".", ",").replace(" ", ".")


def abroad(section: str, engines: tuple[str, ...] = ()) -> Any:
    if section == "domains":
        data = [
            {
                "type": "cited-site",
                "id": str(900 + HOSTS.index(r["host"])),
                "attributes": {
                    "host-name": r["host"],
                    "number-of-citations": _comma(r["cit"] * 11, 0),
                    "number-of-answers": _comma(r["ans"], 0),
                    "own-mention-share": f"{_comma(100 * r['own'] / r['ans'], 2)} %",
                    "different-pages": r["pages"],
                },
            }
            for r in _domains(engines)
        ]
        return {"jsonapi": {"version": "1.1"}, "data": data}
    if section == "ranking":
        data = [
            {
                "type": "brand",
                "attributes": {
                    "brand-name": r["brand"],
                    "mentions": r["mentions"],
                    "out-of": r["of"],
                    "visibility": f"{_comma(100 * r['mentions'] / r['of'], 2)} %",
                    "mean-place": _comma(r["mean"], 3) if r["mean"] else "–",
                },
            }
            for r in _brands(engines)
        ]
        return {"data": data, "meta": {"count": len(data)}}
    rows = _prompts(engines)
    data = [
        {
            "attributes": {
                "question-id": r["id"],
                "runs": r["runs"],
                "runs-with-us": r["named"],
                "hit-rate": _comma(r["named"] / r["runs"], 4),
            }
        }
        for r in rows
    ]
    return {"data": data}


def terse(section: str, engines: tuple[str, ...] = ()) -> Any:
    if section == "domains":
        return {
            "k": ["h", "c", "a", "own", "shr"],
            "v": [
                [r["host"], r["cit"], r["ans"], r["own"], round(100 * r["own"] / r["ans"], 2)]
                for r in _domains(engines)
            ],
            "t": {"c": sum(r["cit"] for r in _domains(engines))},
        }
    if section == "ranking":
        return {
            "b": {
                r["brand"]: [r["mentions"], round(r["mentions"] / r["of"], 4)]
                for r in _brands(engines)
            },
            "of": len(picked(engines)),
        }
    return {
        "p": [
            {"q": r["id"], "n": r["runs"], "m": r["named"], "r": round(r["named"] / r["runs"], 4)}
            for r in _prompts(engines)
        ]
    }


STRANGE = {"abroad": abroad, "terse": terse}
STRANGE_KEY = {place: column for place, column in _COLUMNS.items() if place[0] in STRANGE}
