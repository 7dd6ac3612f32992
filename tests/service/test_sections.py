"""The 17 sections: against answers that were read and kept, and against pandas.

The golden files hold what each section answers of one synthetic store to a few questions. With
``AATOOLKIT_UPDATE_GOLDEN=1`` in the environment they are written anew; read the difference. The
recomputation shares nothing with the service but the store's tables.
"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import requests

from aatoolkit.service import SECTIONS, Accounts, Service, Store, start_server, synthesize

GOLDEN = Path(__file__).parent / "golden"
QUESTIONS = (
    ("acme.example", ""),
    ("acme.example", "days=7&engine=chatgpt,gemini&brand=Globex"),
    ("acme.example", "days=90&topic=Sales automation&category=commercial"),
    ("globex.example", "engine=google-ai-overview"),
    ("newco.example", ""),
)
TOKEN = "a-token-of-the-sections"


@pytest.fixture(scope="module")
def asked() -> Any:
    """Asks a host for a section of the store that the golden files are of."""
    with start_server(Service(Store.of(tables()), Accounts.single(TOKEN))) as server:
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {TOKEN}"

        def ask(host: str, section: str, query: str = "") -> Any:
            path = f"{server.base_url}/api/domains/{host}/agent-analytics"
            response = session.get(f"{path}?section={section}&{query}", timeout=20)
            assert response.status_code == 200, response.text
            return response.json()

        yield ask


@cache
def tables() -> Any:
    return synthesize(seed=3, answers=250)


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_answers_are_those_that_were_kept(section: str, asked: Any) -> None:
    kept = GOLDEN / f"{section}.json"
    answers = [asked(host, section, query) for host, query in QUESTIONS]
    if os.environ.get("AATOOLKIT_UPDATE_GOLDEN") == "1":
        GOLDEN.mkdir(exist_ok=True)
        lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
        kept.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for answer, expected in zip(answers, json.loads(kept.read_text("utf-8")), strict=True):
        assert close(answer) == close(expected)


def close(value: Any) -> Any:
    """The value with its numbers to twelve digits."""
    if isinstance(value, dict):
        return {key: close(item) for key, item in value.items()}
    if isinstance(value, list):
        return [close(item) for item in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


class Observed:
    """The rows of a host's tables in a window, by pandas alone."""

    def __init__(self, host: str, days: int, **filters: str) -> None:
        self.host = host
        self.end = self.rows("projects")["as_of"].iloc[0].normalize().tz_localize(None)
        self.start = self.end - timedelta(days=days - 1)
        prompts = self.rows("prompts")
        for name in ("topic", "category"):
            if name in filters:
                prompts = prompts[prompts[name] == filters[name]]
        runs = self.rows("answers").merge(prompts[["prompt_id"]], on="prompt_id")
        runs["day"] = runs["ran_at"].dt.tz_localize(None).dt.normalize()
        runs = runs[runs["day"].between(self.start, self.end)]
        if "engine" in filters:
            runs = runs[runs["engine"] == filters["engine"]]
        self.answers = runs[runs["outcome"] == "answered"]
        brands = self.rows("brands")
        focus = brands["brand"] == filters.get("brand", "")
        self.focus = {*brands.loc[focus if "brand" in filters else brands["own"].eq(True), "brand"]}

    def rows(self, table: str) -> pd.DataFrame:
        frame = tables()[table].to_pandas()
        return frame[frame["host"] == self.host]

    def of_answers(self, table: str) -> pd.DataFrame:
        columns = ["chat_id", "engine", "day"]
        return self.rows(table).merge(self.answers[columns], on="chat_id")


SCOPES: tuple[dict[str, Any], ...] = (
    {"days": 30},
    {"days": 90, "engine": "chatgpt"},
    {"days": 30, "topic": "CRM for startups"},
    {"days": 90, "category": "commercial", "brand": "Globex"},
)
each_scope = pytest.mark.parametrize("scope", SCOPES, ids=str)


def query(scope: dict[str, Any]) -> str:
    return "&".join(f"{name}={value}" for name, value in scope.items())


@each_scope
def test_mentions_are_those_that_pandas_counts(scope: dict[str, Any], asked: Any) -> None:
    observed = Observed("acme.example", **scope)
    mentions = observed.of_answers("mentions")
    ours = mentions[mentions["brand"].isin(observed.focus)]
    count, mentioned = len(observed.answers), ours["chat_id"].nunique()
    body = asked("acme.example", "overview", query(scope))
    kpis = body["kpis"]
    assert (kpis["mentionRate"]["numerator"], kpis["mentionRate"]["denominator"]) == (
        mentioned,
        count,
    )
    assert kpis["mentionRate"]["value"] == pytest.approx(mentioned / count)
    assert kpis["shareOfVoice"]["value"] == pytest.approx(len(ours) / len(mentions))
    assert kpis["averagePosition"]["value"] == pytest.approx(ours["position"].mean())
    assert kpis["sentimentScore"]["value"] == pytest.approx(ours["sentiment_score"].mean())
    days = observed.answers.groupby("day").size()
    points = {point["date"]: point["answerCount"] for point in body["trends"]["points"]}
    assert points == {
        f"{day:%Y-%m-%d}": days.get(day, 0) for day in pd.date_range(observed.start, observed.end)
    }
    counts = mentions["brand"].value_counts()
    for row in asked("acme.example", "ranking", query(scope))["leaderboard"]:
        assert row["mentionCount"] == counts.get(row["brand"], 0)
        assert row["allMentionCount"] == len(mentions)


@each_scope
def test_sources_are_those_that_pandas_counts(scope: dict[str, Any], asked: Any) -> None:
    observed = Observed("acme.example", **scope)
    citations = observed.of_answers("citations")
    if "brand" in scope:
        mentions = observed.of_answers("mentions")
        named = mentions.loc[mentions["brand"] == scope["brand"], "chat_id"]
        citations = citations[citations["chat_id"].isin(named)]
    cited = citations[citations["cited"]]
    domains = {
        row["domain"]: row for row in asked("acme.example", "domains", query(scope))["domains"]
    }
    assert {name: row["citationCount"] for name, row in domains.items()} == (
        cited["source_domain"].value_counts().to_dict()
    )
    urls = asked("acme.example", "urls", query(scope))["items"]
    assert {row["url"]: row["answerCount"] for row in urls} == (
        cited.groupby("url")["chat_id"].nunique().to_dict()
    )


@pytest.mark.parametrize("days", [7, 30, 90])
def test_the_site_is_what_pandas_counts(days: int, asked: Any) -> None:
    observed = Observed("acme.example", days)
    hits, visits = observed.rows("crawler_hits"), observed.rows("visits")
    days_of = hits["hour"].dt.tz_localize(None).dt.normalize()
    hits = hits[days_of.between(observed.start, observed.end)]
    body = asked("acme.example", "crawl", f"days={days}")
    assert {row["bot"]: row["requests"] for row in body["bots"]} == (
        hits.groupby("bot")["requests"].sum().to_dict()
    )
    visits = visits[pd.to_datetime(visits["day"]).between(observed.start, observed.end)]
    totals = asked("acme.example", "conversions", f"days={days}")["totals"]
    assert totals["sessions"] == len(visits)


@pytest.mark.parametrize("name", ["<b>Bold</b> & Sons", 'Hooli "Sales"', "O'Neil; DROP TABLE"])
def test_names_like_markup_come_through_as_they_are(name: str) -> None:
    renamed = {}
    for table, held in tables().items():
        frame = held.to_pandas()
        if "brand" in frame:
            frame["brand"] = frame["brand"].replace("Hooli", name)
        renamed[table] = frame
    with start_server(Service(Store.of(renamed), Accounts.single(TOKEN))) as server:
        response = requests.get(
            f"{server.base_url}/api/domains/acme.example/agent-analytics",
            {"section": "ranking", "brand": name},
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=20,
        )
    (row,) = response.json()["leaderboard"]
    assert row["brand"] == name
    assert row["mentionCount"] > 0
