"""Real third-party data through the whole line: loader, service, HTTP, client, frames.

Every count is compared with one computed straight from the raw files by pandas alone. The
data is not part of the project; where it is absent these tests are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
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
    """One row per answer: engine, question, and its URLs without those that lack one."""
    return pd.DataFrame(
        {
            "engine": engine,
            "question": row["question"],
            "text": row["result"],
            "topic": None,
            "urls": [result["url"] for result in row["search_results"] if result["url"]],
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
    counts = tables.main.set_index("source_domain")["citation_count"].astype(int)
    assert counts.to_dict() == cited["domain"].value_counts().to_dict()
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
