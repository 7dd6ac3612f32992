"""Two synthetic stores, and how to ask them for a section.

Every figure of ``SMALL`` was worked out by hand; ``RICH`` is large enough for every rule
of impact to speak, and ``WIDE`` for those of insights.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

import aatoolkit.service.sections  # noqa: F401  registers the sections
from aatoolkit.service.answer import SECTIONS, SectionAnswer
from aatoolkit.service.question import Question
from aatoolkit.service.schema import TABLES
from aatoolkit.service.store import Store

HOST = "acme.example"


Rows = list[dict[str, Any]]


def day(text: str) -> date:
    return date.fromisoformat(f"2026-{text}")


def at(text: str, hour: int = 6) -> datetime:
    return datetime.combine(day(text), datetime.min.time(), UTC) + timedelta(hours=hour)


def store(tables: Mapping[str, Rows]) -> Store:
    return Store.of(
        {
            name: pa.Table.from_pylist(
                [row if name == "bots" else {"host": HOST, **row} for row in rows],
                schema=TABLES[name].arrow,
            )
            for name, rows in tables.items()
        }
    )


def ask(held: Store, name: str, days: int = 7, **filters: tuple[str, ...]) -> SectionAnswer:
    with held.observe(Question(HOST, days, filters)) as observations:
        return SECTIONS[name].ask(observations)


def rows_of(keys: str, *values: tuple[Any, ...]) -> Rows:
    return [dict(zip(keys.split(), row, strict=True)) for row in values]


PROJECT = {"as_of": at("11-20", 23), "observed_from": day("11-01")}


SMALL: dict[str, Rows] = {
    "projects": [
        {
            **PROJECT,
            "plan": "growth",
            "prompt_allowance": 100,
            "engine_allowance": 5,
            "allowance_resets_on": day("12-01"),
        }
    ],
    "engines": rows_of(
        "engine label configured",
        ("chatgpt", "ChatGPT", True),
        ("gemini", "Gemini", True),
        ("overviews", "AI Overviews", True),
        ("copilot", "Copilot", False),
    ),
    "brands": rows_of(
        "brand tracked own domain",
        ("Acme", True, True, "acme.example"),
        ("Globex", True, False, "globex.example"),
        ("Initech", True, False, None),
        ("Hooli", False, None, None),
    ),
    "own_terms": rows_of("term", ("acme crm",), ("acme",)),
    "prompts": rows_of(
        "prompt_id prompt topic category active volume_estimate volume_band",
        ("p1", "best crm", "Start", "commercial", True, 720, "100-1K"),
        ("p2", "acme or globex", None, "commercial", True, None, None),
        ("p3", "crm mit api", "Sales", "informational", False, None, "<100"),
    ),
    "answers": rows_of(
        "chat_id prompt_id engine ran_at outcome",
        ("b1", "p1", "chatgpt", at("11-08"), "answered"),
        ("b2", "p2", "gemini", at("11-10"), "answered"),
        ("c1", "p1", "chatgpt", at("11-14"), "answered"),
        ("c2", "p1", "gemini", at("11-14"), "answered"),
        ("c3", "p2", "chatgpt", at("11-16"), "answered"),
        ("c4", "p2", "gemini", at("11-16"), "answered"),
        ("c5", "p1", "chatgpt", at("11-20"), "answered"),
        ("c6", "p2", "gemini", at("11-20", 7), "error"),
    ),
    "mentions": rows_of(
        "chat_id brand position sentiment sentiment_score",
        ("b1", "Globex", 1, None, None),
        ("b2", "Acme", 3, "neutral", 50.0),
        ("c1", "Acme", 2, "positive", 80.0),
        ("c1", "Globex", 1, "neutral", 60.0),
        ("c2", "Globex", 1, None, None),
        ("c3", "Acme", 1, "neutral", 60.0),
        ("c3", "Globex", 2, None, None),
        ("c3", "Hooli", 12, None, None),
        ("c5", "Acme", None, None, None),
    ),
    "citations": rows_of(
        "chat_id n url source_domain cited",
        ("b1", 1, "https://acme.example/old", "acme.example", True),
        ("c1", 1, "https://acme.example/a", "acme.example", True),
        ("c1", 2, "https://reviews.example/x", "reviews.example", True),
        ("c1", 3, "https://docs.acme.example/b", "docs.acme.example", False),
        ("c3", 1, "https://globex.example/", "globex.example", True),
        ("c3", 2, "https://blog.acme.example/c", "blog.acme.example", True),
    ),
    "attributes": rows_of(
        "chat_id brand attribute polarity",
        ("c1", "Acme", "easy", "positive"),
        ("c3", "Acme", "easy", "positive"),
        ("c5", "Acme", "easy", "neutral"),
        ("c2", "Globex", "big", None),
        ("c3", "Acme", "cheap", "negative"),
    ),
    "claims": rows_of(
        "claim_id brand text verdict",
        ("k1", "Acme", "Acme is free.", "accurate"),
        ("k2", "Globex", "Globex is old.", None),
    ),
    "claim_sightings": rows_of("claim_id chat_id", ("k1", "c1"), ("k1", "c2"), ("k1", "c5")),
    "actions": [
        {
            "action_id": "a1",
            "group": "onsite",
            "type": "unblock_bot",
            "title": "Allow the bot",
            "state": "in_progress",
            "created_at": at("11-01"),
            "engine": "chatgpt",
            "score": 0.9,
            "steps": ["Edit robots.txt"],
            "evidence_prompt_ids": [],
        },
        {
            "action_id": "a2",
            "group": "offsite",
            "type": "outreach",
            "title": "Get listed",
            "state": "open",
            "created_at": at("11-12"),
            "topic": "Start",
            "impact_metric": "citationShare",
            "impact_low": 0.005,
            "evidence_prompt_ids": ["p1"],
            "evidence_competitors": ["Globex"],
        },
        {
            "action_id": "a3",
            "group": "onsite",
            "type": "markup",
            "title": "Later",
            "state": "open",
            "created_at": at("11-21"),
        },
    ],
}


def rich(prompts: int = 10) -> dict[str, Rows]:
    """Two weeks of answers; every ten prompts are as the first ten."""
    tables: dict[str, Rows] = {**SMALL, "answers": [], "mentions": [], "citations": []}
    tables["prompts"] = [
        {
            "prompt_id": f"p{n}",
            "prompt": f"prompt {n}",
            "topic": "Start" if n < 5 else None,
            "category": "commercial",
            "active": True,
            "volume_estimate": 10,
            "created_at": at("08-02"),
        }
        for n in range(prompts)
    ]
    for number in range(14):
        for n in range(prompts):
            for engine in ("chatgpt", "gemini"):
                _add_answer(tables, number, n, engine)
    tables["attributes"] = rows_of("chat_id brand attribute", ("13-0-gemini", "Acme", "easy"))
    tables["claim_sightings"] = rows_of("claim_id chat_id", ("k1", "13-0-gemini"))
    tables["source_page_brands"] = rows_of(
        "url brand mentioned", ("https://reviews.example/x", "Globex", True)
    )
    tables["experiments"] = [
        experiment("e1", "11-14", "11-20", prompt_ids=["p0", "p1", "p2", "p3", "p4"]),
        experiment("e2", "11-18", "11-20"),
    ]
    tables["annotations"] = rows_of(
        "day label kind",
        (day("11-15"), "Model update", "engine_change"),
        (day("10-01"), "Long ago", None),
    )
    return tables


def _add_answer(tables: dict[str, Rows], number: int, n: int, engine: str) -> None:
    """One answer: Acme in prompts 0-1 in the first week, in 0-4 in the second."""
    chat, late = f"{number}-{n}-{engine}", number >= 7
    tables["answers"].append(
        {
            "chat_id": chat,
            "prompt_id": f"p{n}",
            "engine": engine,
            "ran_at": at(f"11-{number + 7:02}"),
            "outcome": "answered",
        }
    )
    tables["mentions"].append({"chat_id": chat, "brand": "Globex", "position": 1})
    if n % 10 < (5 if late else 2):
        score = (80.0 if late else 60.0) + n % 10
        tables["mentions"].append(
            {
                "chat_id": chat,
                "brand": "Acme",
                "position": 3,
                "sentiment": "positive",
                "sentiment_score": score,
            }
        )
    if n == 0 or (n % 10 == 0 and not late):
        page = "new" if late else "old"
        tables["citations"].append(_citation(chat, f"https://acme.example/{page}", HOST))
    if n % 10 == 1 and late:
        cited = _citation(chat, "https://reviews.example/x", "reviews.example")
        tables["citations"].append(cited)


def _citation(chat: str, url: str, domain: str) -> dict[str, Any]:
    return {"chat_id": chat, "n": 1, "url": url, "source_domain": domain, "cited": True}


def experiment(action: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    return {
        "action_id": action,
        "title": f"Experiment {action}",
        "completed_on": day(start) - timedelta(days=1),
        "before_start": day("11-07"),
        "before_end": day("11-13"),
        "after_start": day(start),
        "after_end": day(end),
        "control": "prompts not touched by the action",
        **more,
    }


RICH = rich()
WIDE = rich(100)
"""The same of more prompts, as changes of few show little."""
