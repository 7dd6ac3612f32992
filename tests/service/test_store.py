"""A store refuses what it cannot vouch for, naming the place, and keeps the rest unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import contents

from aatoolkit.service import TABLES, Store, StoreError, write_store

HOST = "acme.example"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)

Tables = dict[str, Any]


def tables() -> Tables:
    """A small store: two answers, one of them empty, and a citation of the other."""
    return {
        "projects": pd.DataFrame({"host": [HOST], "as_of": [NOON]}),
        "engines": pd.DataFrame({"host": [HOST], "engine": ["chatgpt"], "configured": [True]}),
        "prompts": pd.DataFrame({"host": [HOST], "prompt_id": ["pr_1"], "prompt": ["which?"]}),
        "answers": pd.DataFrame(
            {
                "host": [HOST, HOST],
                "chat_id": ["ch_1", "ch_2"],
                "prompt_id": ["pr_1", "pr_1"],
                "engine": ["chatgpt", "chatgpt"],
                "ran_at": [NOON, NOON],
                "outcome": ["answered", "empty"],
            }
        ),
        "citations": pd.DataFrame(
            {
                "host": [HOST],
                "chat_id": ["ch_1"],
                "n": [1],
                "url": ["https://reviews.example/"],
                "source_domain": ["reviews.example"],
                "cited": [True],
            }
        ),
    }


def changed(table: str, **columns: Any) -> Tables:
    """The small store with other columns in one table."""
    store = tables()
    store[table] = store[table].assign(**columns)
    return store


def without(table: str, column: str) -> Tables:
    store = tables()
    store[table] = store[table].drop(columns=column)
    return store


def doubled(table: str) -> Tables:
    store = tables()
    store[table] = pd.concat([store[table], store[table]])
    return store


def with_mention(**columns: Any) -> Tables:
    mention = {"host": HOST, "chat_id": "ch_1", "brand": "Acme CRM", **columns}
    brand = {"host": HOST, "brand": "Acme CRM", "tracked": True}
    return {**tables(), "brands": pd.DataFrame([brand]), "mentions": pd.DataFrame([mention])}


def with_experiments(**columns: Any) -> Tables:
    entry = {"host": HOST, "action_id": ["act_1", "act_2"], "title": "(synthetic)", **columns}
    days = ("completed_on", "before_start", "before_end", "after_start", "after_end")
    return {**tables(), "experiments": pd.DataFrame({**entry, **dict.fromkeys(days, NOON.date())})}


NAIVE = datetime(2026, 11, 20, 12)

WRONG: dict[str, tuple[Tables, str, str]] = {
    "unknown table": ({**tables(), "answer": tables()["answers"]}, "answer", " answers, "),
    "no projects": ({"engines": tables()["engines"]}, "projects.host", "missing"),
    "unknown column": (changed("answers", modle="m"), "answers.modle", " model, "),
    "required column missing": (without("answers", "engine"), "answers.engine", "missing"),
    "null in required": (changed("answers", engine=["chatgpt", None]), "answers.engine", "row 1"),
    "text for integer": (changed("citations", n=["1"]), "citations.n", "integer is needed"),
    "fraction for integer": (
        changed("answers", answer_characters=[1.0, 1.5]),
        "answers.answer_characters",
        "1.5",
    ),
    "number for flag": (changed("citations", cited=[1]), "citations.cited", "flag is needed"),
    "several types": (changed("answers", model=["m", 7]), "answers.model", "several types"),
    "no number": (
        with_mention(sentiment_score=float("inf")),
        "mentions.sentiment_score",
        "not a finite number",
    ),
    "value outside": (
        changed("answers", outcome=["answered", "emty"]),
        "answers.outcome",
        "'emty' is none of",
    ),
    "word outside": (
        with_experiments(metrics=[["mentionRate"], ["citationCount", "citatonCount"]]),
        "experiments.metrics",
        "'citatonCount'] has a word that is none of",
    ),
    "null among words": (
        changed("engines", referrers=[["a.example", None]]),
        "engines.referrers",
        "None] has a word",
    ),
    "key twice": (doubled("engines"), "engines.host+engine", "engine='chatgpt'"),
    "instant without zone": (changed("answers", ran_at=NAIVE), "answers.ran_at", "UTC"),
    "instant for day": (changed("projects", observed_from=NOON), "projects.observed_from", "day"),
    "no such engine": (
        changed("answers", engine=["chatgpt", "gemini"]),
        "answers.host+engine",
        "engine='gemini' is not in engines",
    ),
    "no such answer": (changed("citations", chat_id=["ch_9"]), "citations.host+chat_id", "'ch_9'"),
    "empty answer cites": (
        changed("citations", chat_id=["ch_2"]),
        "citations.host+chat_id",
        "no answer",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_table_and_column(name: str, tmp_path: Path) -> None:
    broken, place, detail = WRONG[name]
    with pytest.raises(StoreError) as caught:
        write_store(tmp_path / "store", broken)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{place}: ")
    assert detail in problem
    assert problem in str(caught.value)
    assert "serve --describe" in str(caught.value)
    assert not (tmp_path / "store").exists()


def test_every_problem_is_reported_at_once() -> None:
    broken = {**without("answers", "engine"), **without("citations", "url")}
    broken["answers"] = without("answers", "engine")["answers"].assign(ran_at=NAIVE)
    with pytest.raises(StoreError) as caught:
        Store.of(broken)
    places = [problem.partition(":")[0] for problem in caught.value.problems]
    assert places == ["answers.engine", "answers.ran_at", "citations.url"]


def held(store: Tables, table: str, column: str) -> list[Any]:
    rows = Store.of(store).connection.execute(f"SELECT {column} FROM store.{table}").fetchall()
    return [value for (value,) in rows]


def test_what_can_be_converted_without_loss_is() -> None:
    store = changed("answers", answer_characters=[12.0, float("nan")])
    assert held(store, "answers", "answer_characters") == [12, None]
    nothing = changed("answers", model=float("nan"), features=pd.NaT)
    assert held(nothing, "answers", "model") == held(nothing, "answers", "features") == [None] * 2
    there = NOON.astimezone(timezone(timedelta(hours=9)))
    assert held(changed("projects", as_of=[there]), "projects", "as_of") == [NAIVE]
    midnight = changed("projects", observed_from=pd.Timestamp("2026-05-05"))
    assert held(midnight, "projects", "observed_from") == [date(2026, 5, 5)]
    text = {"host": pa.array([HOST], pa.large_string())}
    terms = pa.table({**text, "term": pa.array(["acme"]).dictionary_encode()})
    assert held({**tables(), "own_terms": terms}, "own_terms", "term") == ["acme"]


def test_tables_that_were_not_observed_are_there_without_rows() -> None:
    store = Store.of(tables())
    for name, declared in TABLES.items():
        result = store.connection.execute(f"SELECT * FROM store.{name}")
        names = [column[0] for column in result.description]
        assert names == [column.name for column in declared.columns]
    assert store.connection.execute("SELECT * FROM store.visits").fetchall() == []


def put_text(folder: Path) -> str:
    (folder / "notes.txt").write_text("by the way")
    return "notes.txt"


def put_stranger(folder: Path) -> str:
    pq.write_table(pa.table({"a": [1]}), folder / "answer.parquet")
    return "answer.parquet"


def put_broken(folder: Path) -> str:
    (folder / "visits.parquet").write_bytes(b"no Parquet at all")
    return "visits.parquet"


def put_pipe(folder: Path) -> str:
    os.mkfifo(folder / "visits.parquet")
    return "visits.parquet"


def put_damaged(folder: Path) -> str:
    damaged = bytearray((folder / "answers.parquet").read_bytes())
    damaged[40:80] = bytes(40)
    (folder / "answers.parquet").write_bytes(damaged)
    return "answers.parquet"


def put_other(folder: Path) -> str:
    path = folder / "answers.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    return "citations.host+chat_id"


@pytest.mark.parametrize(
    "put", [put_text, put_stranger, put_broken, put_pipe, put_damaged, put_other]
)
def test_a_file_that_is_no_table_is_named(put: Callable[[Path], str], tmp_path: Path) -> None:
    write_store(tmp_path, tables())
    name = put(tmp_path)
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path)
    (problem,) = caught.value.problems
    assert problem.startswith(name)


def test_tables_of_another_store_are_not_mixed_in(tmp_path: Path) -> None:
    write_store(tmp_path, tables())
    before = contents(tmp_path)
    fewer = tables()
    del fewer["citations"]
    with pytest.raises(StoreError, match=r"citations\.parquet"):
        write_store(tmp_path, fewer)
    assert contents(tmp_path) == before
