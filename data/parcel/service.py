"""A small analytics service of another make, for meeting one that nobody described.

Everything it tells is **made up**: no engine, shop or site in it exists. It answers the addresses
of the Agent Analytics API in shapes, names and units of its own: a grid with numbers in text,
prices with their currency, days without a year, a chart, and its own words for what was not
measured. It uses the standard library alone and listens on this machine.

    python service.py --port 8790              # then send: Authorization: Bearer parcel-token
    python service.py --port 8790 --month-later
"""

from __future__ import annotations

import argparse
import json
import random
import threading
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "parcel-token"
HOST = "teahouse.example"
ENGINES = {"owl": "Owl Answers", "heron": "Heron Chat", "wren": "Wren", "kite": "Kite Search"}
IDLE = "kite"
BRANDS = ("Teahouse", "Leaf & Co.", "Samovar", "Morning Cup")
SITES = ("brewnotes.example", "kettlereview.example", "teahouse.example", "cupofnews.example",
         "leafwiki.example", "steepforum.example", "dailyleaf.example")  # fmt: skip
DAYS = [*(f"2026-10-{day:02}" for day in range(12, 32)),
        *(f"2026-11-{day:02}" for day in range(1, 11))]  # fmt: skip
MONTHS = {"10": "Oct", "11": "Nov"}


def simulate(seed: int) -> list[dict]:
    """Answers of engines to prompts: who is named, and which sites are cited."""
    rng = random.Random(seed)
    found = []
    for number in range(1400):
        named = [one for at, one in enumerate(BRANDS) if rng.random() < 0.62 / (at * 0.6 + 1)]
        cited = [site for at, site in enumerate(SITES) for _ in range(2)
                 if rng.random() < 0.45 / (at + 1.4)]  # fmt: skip
        found.append(
            {
                "engine": rng.choice(("owl", "owl", "heron", "wren")),
                "day": rng.choice(DAYS),
                "prompt": f"P-{number % 31:03}",
                "named": named,
                "cited": cited,
                "visits": rng.randrange(4) if "teahouse.example" in cited else 0,
                "spend": rng.randrange(90, 2400),
                "currency": "EUR" if number % 3 else "GBP",
            }
        )
    return found


def grouped(number: int) -> str:
    """A number as this service writes it: 1,204."""
    return f"{number:,}"


def percent(part: int, whole: int) -> str:
    """A share as this service writes it: 34.5 %."""
    return f"{100 * part / whole:.2f} %" if whole else "—"


def short_day(day: str) -> str:
    """A day as this service writes it: Nov 3."""
    return f"{MONTHS[day[5:7]]} {int(day[8:])}"


def domains(answers: list[dict]) -> dict:
    cites = Counter(site for one in answers for site in one["cited"])
    inside = Counter(site for one in answers for site in set(one["cited"]))
    last = {site: one["day"] for one in sorted(answers, key=lambda one: one["day"])
            for site in one["cited"]}  # fmt: skip
    rows = [
        [site, grouped(count), grouped(inside[site]), grouped(len(answers)),
         percent(inside[site], len(answers)), short_day(last[site])]
        for site, count in cites.most_common()
    ]  # fmt: skip
    return {
        "grid": {
            "head": ["Site", "Cites", "AnswersWith", "AnswersAll", "Reach", "LastOn"],
            "body": rows,
        },
        "sum": {"Cites": grouped(cites.total())},
    }


def overview(answers: list[dict]) -> dict:
    per_day: dict[str, Counter] = defaultdict(Counter)
    for one in answers:
        per_day[one["day"]][one["engine"]] += 1
    engines = [name for name in ENGINES if name != IDLE]
    return {
        "headline": {"Answers": grouped(len(answers))},
        "curve": {
            "labels": DAYS,
            "series": [
                {"name": name, "data": [per_day[day][name] for day in DAYS]} for name in engines
            ],
        },
    }


def ranking(answers: list[dict]) -> dict:
    named = Counter(brand for one in answers for brand in one["named"])
    by = {brand: Counter(one["engine"] for one in answers if brand in one["named"])
          for brand in BRANDS}  # fmt: skip
    return {
        "board": [
            {
                "Brand": brand,
                "Named": grouped(named[brand]),
                "OutOf": grouped(len(answers)),
                "NamedPart": percent(named[brand], len(answers)),
                "ByEngine": {name: by[brand][name] for name in ENGINES if name != IDLE},
            }
            for brand, _ in named.most_common()
        ],
    }


def ads(answers: list[dict]) -> dict:
    money: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for one in answers:
        money[one["engine"], one["currency"]].append(one)
    sign = {"EUR": "€", "GBP": "£"}
    return {
        "lines": [
            {
                "Engine": engine,
                "Shown": grouped(len(ones)),
                "Paid": f"{sign[currency]}{sum(one['spend'] for one in ones) / 100:,.2f}",
            }
            for (engine, currency), ones in sorted(money.items())
        ],
    }


SECTIONS = {"domains": domains, "overview": overview, "ranking": ranking, "ads": ads}


def answer(section: str, engines: list[str], later: bool) -> dict:
    """The whole answer of a section: its data, and what of it could be measured."""
    picked = [one for one in simulate(8 if later else 7) if not engines or one["engine"] in engines]
    body = SECTIONS[section](picked)
    if later and section == "domains":  # a month later somebody renamed a column and a unit
        body["grid"]["head"][1] = "Citations"
        for row in body["grid"]["body"]:
            row[4] = str(round(float(row[4].rstrip(" %")) / 100, 4))
    state = {name: "still_to_come" if name == IDLE else "all_there" for name in ENGINES}
    return {"content": body, "info": {"until": DAYS[-1], "perEngine": state}}


def options() -> dict:
    return {
        "engines": [
            {"id": name, "label": label, "configured": True,
             "lastRunDay": None if name == IDLE else DAYS[-1]}
            for name, label in ENGINES.items()
        ],
        "topics": [{"topic": "Tea", "count": 31}],
        "categories": [],
        "brands": [{"name": one, "tracked": True, "own": one == BRANDS[0]} for one in BRANDS],
        "days": [7, 30, 90],
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """Answers GET requests with JSON."""

    later = False
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        params = {name: values[0] for name, values in parse_qs(url.query).items()}
        base = f"/api/domains/{HOST}"
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.reply(401, {"problem": "who are you?"})
        elif url.path == f"{base}/scope-options":
            self.reply(200, options())
        elif url.path == f"{base}/agent-analytics" and params.get("section") in SECTIONS:
            engines = [one for one in params.get("engine", "").split(",") if one]
            self.reply(200, answer(params["section"], engines, self.later))
        else:
            self.reply(404, {"problem": "there is no such thing here"})

    def reply(self, status: int, body: dict) -> None:
        text = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


def start(port: int = 0) -> tuple[ThreadingHTTPServer, str]:
    """Serve in the background; gives the server and its address. ``server.shutdown()`` ends it."""
    handler = type("Handler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--month-later", action="store_true")
    args = parser.parse_args()
    Handler.later = args.month_later
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
