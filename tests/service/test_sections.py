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

from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

GOLDEN = Path(__file__).parent / "golden"
SECTIONS = [
    "actions",
    "ads",
    "chats",
    "conversions",
    "crawl",
    "crawlability",
    "domains",
    "fanouts",
    "gaps",
    "impact",
    "insights",
    "overview",
    "perception",
    "prompts",
    "ranking",
    "shopping",
    "urls",
]
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


@pytest.mark.parametrize("section", SECTIONS)
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

    def __init__(self, host: str, days: int, previous: bool = False, **filters: str) -> None:
        self.host, self.filters = host, filters
        end = self.whole("projects")["as_of"].iloc[0].normalize().tz_localize(None)
        self.end = end - timedelta(days=days if previous else 0)
        self.start = self.end - timedelta(days=days - 1)
        prompts = self.whole("prompts")
        for name in ("topic", "category"):
            if name in filters:
                prompts = prompts[prompts[name] == filters[name]]
        runs = self.whole("answers").merge(prompts[["prompt_id", "topic"]], on="prompt_id")
        runs["day"] = runs["ran_at"].dt.tz_localize(None).dt.normalize()
        runs = runs[runs["day"].between(self.start, self.end)]
        if "engine" in filters:
            runs = runs[runs["engine"] == filters["engine"]]
        self.runs, self.answers = runs, runs[runs["outcome"] == "answered"]
        brands = self.whole("brands")
        focus = brands["brand"] == filters.get("brand", "")
        self.focus = {*brands.loc[focus if "brand" in filters else brands["own"].eq(True), "brand"]}

    def whole(self, table: str) -> pd.DataFrame:
        frame = tables()[table].to_pandas()
        return frame[frame["host"] == self.host]

    def of_answers(self, table: str) -> pd.DataFrame:
        columns = ["chat_id", "engine", "prompt_id", "day", "topic"]
        return self.whole(table).merge(self.answers[columns], on="chat_id")


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
    engines = ours.groupby("engine")["chat_id"].nunique()
    for row in body["engines"]:
        assert row["answerCount"] == (observed.answers["engine"] == row["engine"]).sum()
        assert (row["mentionCount"] or 0) == engines.get(row["engine"], 0)
    counts = mentions["brand"].value_counts()
    for row in asked("acme.example", "ranking", query(scope))["leaderboard"]:
        assert row["mentionCount"] == counts.get(row["brand"], 0)
        assert row["allMentionCount"] == len(mentions)
    for row in asked("acme.example", "perception", query(scope))["sentiment"]:
        scores = mentions.loc[mentions["brand"] == row["brand"], "sentiment_score"]
        assert row["scoredCount"] == scores.count()
        assert row["score"] == (pytest.approx(scores.mean()) if scores.count() else None)


@each_scope
def test_prompts_are_those_that_pandas_counts_in_both_windows(
    scope: dict[str, Any], asked: Any
) -> None:
    windows = [Observed("acme.example", previous=previous, **scope) for previous in (False, True)]
    rows = asked("acme.example", "prompts", query(scope))["rows"]
    for observed, before in zip(windows, ("", "previous"), strict=True):
        mentions = observed.of_answers("mentions")
        ours = mentions[mentions["brand"].isin(observed.focus)].drop_duplicates("chat_id")
        for keys in (["prompt_id"], ["prompt_id", "engine"]):
            answers = observed.answers.groupby(keys).size().to_dict()
            named = ours.groupby(keys).size().to_dict()
            listed = {
                (row["promptId"], *more): item
                for row in rows
                for more, item in (
                    [((), row)]
                    if len(keys) == 1
                    else [((engine["engine"],), engine) for engine in row["engines"]]
                )
            }
            for place, item in listed.items():
                key = place[0] if len(keys) == 1 else place
                count = item["previousAnswerCount" if before else "answerCount"]
                mentioned = item["previousMentionCount" if before else "mentionCount"]
                assert count == answers.get(key, 0)
                assert mentioned == (named.get(key, 0) if count else None)


@each_scope
def test_sources_are_those_that_pandas_counts(scope: dict[str, Any], asked: Any) -> None:
    observed = Observed("acme.example", **scope)
    citations = observed.of_answers("citations")
    if "brand" in scope:
        mentions = observed.of_answers("mentions")
        named = mentions.loc[mentions["brand"] == scope["brand"], "chat_id"]
        citations = citations[citations["chat_id"].isin(named)]
    cited = citations[citations["cited"]]
    body = asked("acme.example", "domains", query(scope))
    assert body["totals"]["citationCount"] == len(cited)
    domains = {row["domain"]: row for row in body["domains"]}
    assert {name: row["citationCount"] for name, row in domains.items()} == (
        cited["source_domain"].value_counts().to_dict()
    )
    by_engine = cited.groupby(["source_domain", "engine"]).size().to_dict()
    assert {(n, e): c for n, row in domains.items() for e, c in row["byEngine"].items()} == (
        by_engine
    )
    urls = asked("acme.example", "urls", query(scope))["items"]
    assert {row["url"]: row["answerCount"] for row in urls} == (
        cited.groupby("url")["chat_id"].nunique().to_dict()
    )
    fanouts = observed.of_answers("fanouts")
    if "brand" in scope:
        fanouts = fanouts[fanouts["chat_id"].isin(named)]
    queries = asked("acme.example", "fanouts", query(scope))["queries"]
    assert {row["query"]: row["occurrences"] for row in queries} == (
        fanouts["query"].value_counts().to_dict()
    )


@pytest.mark.parametrize("days", [7, 30, 90])
def test_the_site_is_what_pandas_counts(days: int, asked: Any) -> None:
    observed = Observed("acme.example", days)
    hits = observed.whole("crawler_hits")
    days_of = hits["hour"].dt.tz_localize(None).dt.normalize()
    hits = hits[days_of.between(observed.start, observed.end)]
    body = asked("acme.example", "crawl", f"days={days}")
    assert body["totals"]["requests"] == hits["requests"].sum()
    assert {row["bot"]: row["requests"] for row in body["bots"]} == (
        hits.groupby("bot")["requests"].sum().to_dict()
    )
    series = body["series"]["requests"]
    assert {bot: sum(filter(None, counts)) for bot, counts in series.items()} == (
        hits.groupby("bot")["requests"].sum().to_dict()
    )
    visits = observed.whole("visits")
    visits = visits[pd.to_datetime(visits["day"]).between(observed.start, observed.end)]
    totals = asked("acme.example", "conversions", f"days={days}")["totals"]
    assert totals["sessions"] == len(visits)
    through = observed.whole("analytics")["conversions_through"].iloc[0]
    complete = visits[visits["engine"].isna() & (visits["day"] <= through)]
    made = observed.whole("conversions")["visit_id"].isin(complete["visit_id"]).sum()
    inseparable = observed.whole("engines").query("separable_traffic == False")["engine"]
    mixed = visits[visits["engine"].isin(inseparable) & (visits["day"] <= through)]
    made += observed.whole("conversions")["visit_id"].isin(mixed["visit_id"]).sum()
    assert totals["otherCompleteSessions"] == len(complete) + len(mixed)
    assert totals["otherConversions"] == made


@each_scope
def test_advertisements_and_shelves_are_those_that_pandas_counts(
    scope: dict[str, Any], asked: Any
) -> None:
    observed = Observed("acme.example", **scope)
    engines = observed.whole("engines")
    checked = engines.loc[engines["shopping_checked"].eq(True), "engine"]
    seen_on = observed.whole("product_mentions").merge(observed.whole("answers"), on="chat_id")
    known = {*checked, *(engines.loc[engines["shopping_checked"].isna(), "engine"])} & {
        *checked,
        *seen_on["engine"],
    }
    answers = observed.answers[observed.answers["engine"].isin(known)]
    shelf = observed.of_answers("product_mentions")
    shelf = shelf[shelf["chat_id"].isin(answers["chat_id"])]
    totals = asked("acme.example", "shopping", query(scope))["totals"]
    assert (totals["answersChecked"], totals["answersWithShopping"]) == (
        len(answers),
        shelf["chat_id"].nunique(),
    )
    ads = observed.whole("ads")
    moment = ads["observed_at"].dt.tz_localize(None).dt.normalize()
    ads = ads[moment.between(observed.start, observed.end)]
    if "engine" in scope:
        ads = ads[ads["engine"] == scope["engine"]]
    if "topic" in scope or "category" in scope:
        prompts = observed.whole("prompts")
        name = "topic" if "topic" in scope else "category"
        ads = ads[ads["prompt_id"].isin(prompts.loc[prompts[name] == scope[name], "prompt_id"])]
    if "brand" in scope:
        ads = ads[ads["advertiser"] == scope["brand"]]
    listed = asked("acme.example", "ads", query(scope))["observations"]
    assert {row["adId"] for row in listed} == {*ads["ad_id"]}


@each_scope
def test_gaps_are_those_that_pandas_counts(scope: dict[str, Any], asked: Any) -> None:
    observed = Observed("acme.example", **scope)
    mentions = observed.of_answers("mentions")
    ours = mentions.loc[mentions["brand"].isin(observed.focus), "chat_id"]
    cited = observed.of_answers("citations").query("cited")
    counts = cited[cited["chat_id"].isin(ours)]["source_domain"].value_counts()
    body = asked("acme.example", "gaps", query(scope))
    for row in body["domainGaps"]:
        assert row["ownCitations"] == counts.get(row["domain"], 0)
        for brand, count in row["competitorCitations"].items():
            chats = mentions.loc[mentions["brand"] == brand, "chat_id"]
            of_domain = cited[cited["source_domain"] == row["domain"]]
            assert count == of_domain["chat_id"].isin(chats).sum()
    topics = observed.answers.groupby("topic").size()
    assert {row["topic"]: row["answerCount"] for row in body["topicGaps"]} == topics.to_dict()


def test_chats_are_the_runs_with_what_was_seen_in_them(asked: Any) -> None:
    observed = Observed("acme.example", 30)
    chats = {chat["chatId"]: chat for chat in asked("acme.example", "chats")["chats"]}
    assert set(chats) == {*observed.runs["chat_id"]}
    for table, field in (("mentions", "mentions"), ("citations", "citations")):
        counts = observed.of_answers(table)["chat_id"].value_counts()
        assert {name: len(chat[field]) for name, chat in chats.items()} == {
            name: counts.get(name, 0) for name in chats
        }


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
