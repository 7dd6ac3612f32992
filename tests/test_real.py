"""Real third-party data through the whole line: loader, service, HTTP, client, frames.

Every count is compared with one computed straight from the raw files by pandas alone. The
data is not part of the project; where it is absent these tests are skipped.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from serving import client_of

import aatoolkit as aa
from aatoolkit.service import Store, write_store

REAL = Path(
    os.environ.get("AATOOLKIT_REAL_DATA", Path(__file__).parents[2] / "shared" / "real")
).resolve()
HOST = "real.example"
LOG = REAL / "ai-crawler-log" / "crawler_log.csv"
BENCHMARK = REAL / "ai-search-benchmark"
RESULTS = {
    "gemini": "gemini_results.jsonl",
    "grok": "grok_search_result.jsonl",
    "desearch": "datura_horizon_web_results.jsonl",
}
RAN_AT = datetime(2026, 11, 19, 12, tzinfo=UTC)

pytestmark = [
    pytest.mark.skipif(
        not LOG.exists() or not BENCHMARK.exists(),
        reason="the real data is not here; AATOOLKIT_REAL_DATA can name its folder",
    )
]


def lines(name: str) -> list[dict]:
    with open(BENCHMARK / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """One row an answer: engine, question, and its URLs as returned, those without one left out."""
    return pd.DataFrame(
        {
            "engine": engine,
            "question": row["question"],
            "text": row["result"],
            "topic": None,
            "urls": [found["url"] for found in row["search_results"] if found["url"]],
        }
        for engine, name in RESULTS.items()
        for row in lines(name)
    ).assign(topic=lambda frame: frame["question"].map(topics()))


def topics() -> dict[str, str]:
    return {row["question"]: row["category"] for row in lines("data.jsonl")}


@pytest.fixture(scope="module")
def cited(results: pd.DataFrame) -> pd.DataFrame:
    """One row a URL that an answer returned."""
    flat = results[["engine", "topic", "urls"]].explode("urls").dropna(subset="urls")
    return flat.assign(domain=flat["urls"].map(lambda url: urlsplit(url).netloc.lower()))


@pytest.fixture(scope="module")
def answers(
    results: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[aa.Project]:
    folder = tmp_path_factory.mktemp("benchmark")
    prompts = results.drop_duplicates("question").reset_index(drop=True)
    ids = {question: f"q{number}" for number, question in enumerate(prompts["question"])}
    numbered = results.assign(chat_id=[f"a{number}" for number in range(len(results))])
    flat = numbered.explode("urls").dropna(subset="urls")
    write_store(
        folder,
        {
            "projects": pd.DataFrame({"host": [HOST], "as_of": [RAN_AT]}),
            "engines": pd.DataFrame({"host": HOST, "engine": list(RESULTS), "configured": True}),
            "prompts": pd.DataFrame(
                {
                    "host": HOST,
                    "prompt_id": prompts["question"].map(ids),
                    "prompt": prompts["question"],
                    "topic": prompts["topic"],
                }
            ),
            "answers": pd.DataFrame(
                {
                    "host": HOST,
                    "chat_id": numbered["chat_id"],
                    "prompt_id": numbered["question"].map(ids),
                    "engine": numbered["engine"],
                    "ran_at": RAN_AT,
                    "outcome": "answered",
                    "answer_text": numbered["text"],
                    "answer_characters": numbered["text"].str.len(),
                }
            ),
            "citations": pd.DataFrame(
                {
                    "host": HOST,
                    "chat_id": flat["chat_id"],
                    "n": flat.groupby("chat_id").cumcount() + 1,
                    "url": flat["urls"],
                    "source_domain": flat["urls"].map(lambda url: urlsplit(url).netloc.lower()),
                    "cited": True,
                }
            ),
        },
    )
    with client_of(Store.open(folder)) as client:
        yield client.project(HOST)


def test_every_cited_url_has_its_count(answers: aa.Project, cited: pd.DataFrame) -> None:
    frame = answers.read("urls").main.set_index("url")["citation_count"].astype(int)
    assert frame.to_dict() == cited["urls"].value_counts().to_dict()


@pytest.mark.parametrize("engine", RESULTS)
def test_every_cited_domain_has_its_count(
    answers: aa.Project, cited: pd.DataFrame, engine: str
) -> None:
    of_engine = cited.loc[cited["engine"] == engine, "domain"].value_counts().to_dict()
    tables = answers.read("domains")
    whole = tables.main.set_index("source_domain")["citation_count"].astype(int)
    assert whole.to_dict() == cited["domain"].value_counts().to_dict()
    parts = tables["source_domain_engines"]
    part = parts[parts["engine"] == engine].set_index("source_domain")["citation_count"]
    assert part.astype(int).to_dict() == of_engine
    alone = answers.read("domains", engine=engine).main.set_index("source_domain")
    assert alone["citation_count"].astype(int).to_dict() == of_engine


def test_every_answer_comes_back_with_its_text_and_citations(
    answers: aa.Project, results: pd.DataFrame
) -> None:
    options = answers.scope_options()
    assert set(options.values("topic")) == set(results["topic"].dropna())
    for (engine, topic), raw in results.groupby(["engine", "topic"]):
        tables = answers.read("chats", engine=engine, topic=topic)
        chats = tables.main.set_index("chat_id")
        assert len(chats) == len(raw)
        assert sorted(chats["answer_text"]) == sorted(raw["text"])
        counts = tables["chat_citations"].groupby("chat_id").size()
        per_answer = counts.reindex(chats.index).dropna().astype(int).tolist()
        assert sorted(per_answer) == sorted(n for n in raw["urls"].map(len) if n)


def test_the_sample_records_how_many_matched(answers: aa.Project, results: pd.DataFrame) -> None:
    tables = answers.read("chats")
    extra = tables.extra.set_index("path")["value"]
    assert int(extra["$.sampling.matched"]) == len(results)
    assert int(extra["$.sampling.returned"]) == len(tables.main) < len(results)
    assert tables.main.aa.availability["status"].unique().tolist() == ["partial"]


@pytest.fixture(scope="module")
def log() -> pd.DataFrame:
    """The crawler log: one row a bot, hour and path; its rows have four fields or five."""
    with open(LOG, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    frame = pd.DataFrame(
        [[*row, *[None] * (5 - len(row))] for row in rows],
        columns=["window", "bot", "requests", "site", "path"],
    )
    frame["path"] = frame["path"].replace("", None)
    frame["hour"] = pd.to_datetime(frame["window"].str.split(" - ").str[0], utc=True)
    frame["requests"] = frame["requests"].astype(int)
    return frame


@pytest.fixture(scope="module")
def crawl_store(log: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawler")
    write_store(
        folder,
        {
            "projects": pd.DataFrame({"host": [HOST], "as_of": [end_of(log)]}),
            "crawler_hits": log[["hour", "bot", "requests", "path", "site"]].assign(host=HOST),
        },
    )
    return folder


def end_of(log: pd.DataFrame) -> pd.Timestamp:
    """The last minute of the log's last day."""
    return log["hour"].max().normalize() + timedelta(hours=23, minutes=59)


def windows(log: pd.DataFrame, days: int) -> list[pd.Timestamp]:
    """Moments at which windows of some days end so that together they cover the whole log."""
    last, first = end_of(log), log["hour"].min().normalize()
    count = -(-((last.normalize() - first).days + 1) // days)
    return [last - timedelta(days=days * number) for number in range(count)]


@pytest.mark.thorough
def test_every_hour_of_the_crawler_log(crawl_store: Path, log: pd.DataFrame) -> None:
    seen = []
    for as_of in windows(log, 7):
        with client_of(Store.open(crawl_store, as_of=as_of.to_pydatetime())) as client:
            frame = client.project(HOST).read("crawl", days=7)["crawl_timeseries"]
            assert frame["bucket_start"].nunique() in (0, 7 * 24)
            seen.append(frame)
    hours = pd.concat(seen).set_index(["bucket_start", "bot"])["requests"]
    raw = log.groupby(["hour", "bot"])["requests"].sum()
    assert hours.dropna().astype(int).sort_index().to_dict() == raw.to_dict()
    # An hour without a row in the log is missing, and never a zero.
    assert not (hours == 0).any()
    assert hours.isna().sum() == len(hours) - len(raw)


@pytest.mark.parametrize("days", [30, 90])
def test_bots_and_paths_of_the_crawler_log(crawl_store: Path, log: pd.DataFrame, days: int) -> None:
    for as_of in windows(log, days):
        start = as_of.normalize() - timedelta(days=days - 1)
        part = log[(log["hour"] >= start) & (log["hour"] <= as_of)]
        with client_of(Store.open(crawl_store, as_of=as_of.to_pydatetime())) as client:
            tables = client.project(HOST).read("crawl", days=days)
        bots = tables["crawl_bots"].set_index("bot")["requests"].astype(int)
        assert bots.to_dict() == part.groupby("bot")["requests"].sum().to_dict()
        paths = tables["crawl_paths"].set_index("path")["requests"].astype(int)
        assert paths.to_dict() == part.groupby("path")["requests"].sum().to_dict()
        each = tables["crawl_path_bots"].set_index(["path", "bot"])["requests"].astype(int)
        assert each.to_dict() == part.groupby(["path", "bot"])["requests"].sum().to_dict()
        by_day = part.groupby([part["hour"].dt.floor("D"), "bot"])["requests"].sum()
        series = tables["crawl_timeseries"].set_index(["bucket_start", "bot"])["requests"]
        assert series.dropna().astype(int).sort_index().to_dict() == by_day.to_dict()
        assert not (series == 0).any()
        assert "partial" in tables._words["crawl_bots"]
        assert tables.main["verified_requests"].isna().all()
