"""A synthetic store is repeatable, holds together, and has the gaps that real ones have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from folders import contents

from aatoolkit.service import SECTIONS, ServiceScope, Store, synthesize, write_synthetic_store

ACME, GLOBEX, INITECH, NEWCO = (
    "acme.example",
    "globex.example",
    "initech.example",
    "newco.example",
)


@pytest.fixture(scope="module")
def drawn() -> dict[str, pa.Table]:
    return synthesize()


@pytest.fixture(scope="module")
def store(drawn: dict[str, pa.Table]) -> Iterator[Store]:
    """The default store; opening it checks every table and every reference."""
    store = Store.of(drawn)
    yield store
    store.close()


def column(store: Store, sql: str) -> list[Any]:
    return [cell for (cell,) in store.connection.execute(sql).fetchall()]


def holds(store: Store, table: str, condition: str, host: str = ACME) -> bool:
    """Whether some row of the host meets the condition."""
    sql = f"SELECT count(*) > 0 FROM store.{table} WHERE host = '{host}' AND ({condition})"
    return column(store, sql) == [True]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_synthetic_store(tmp_path / folder, seed=7, answers=300)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("answers", [301, 0])
def test_there_are_as_many_answers_as_requested(answers: int) -> None:
    drawn = synthesize(answers=answers)
    assert len(drawn["answers"]) == answers
    Store.of(drawn).close()


def test_less_than_nothing_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="negative"):
        synthesize(answers=-1)
    with pytest.raises(ValueError, match="negative"):
        synthesize(seed=-1)
    for icc in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="icc"):
            synthesize(icc=icc)


def test_it_says_that_it_is_synthetic(drawn: dict[str, pa.Table], tmp_path: Path) -> None:
    texts = drawn["answers"]["answer_text"].drop_null()
    assert pc.all(pc.starts_with(texts, "(synthetic)")).as_py()
    for table in drawn.values():
        if "host" in table.column_names:
            assert pc.all(pc.ends_with(table["host"], ".example")).as_py()
    write_synthetic_store(tmp_path, answers=20)
    assert "Nothing in these tables was observed" in (tmp_path / "README.md").read_text("utf-8")


def test_the_clock_stands_still(store: Store) -> None:
    clocks = column(store, "SELECT DISTINCT as_of FROM store.projects")
    assert clocks == [datetime(2026, 11, 20, 23, 30)]
    for table, moment in (
        ("answers", "ran_at"),
        ("ads", "observed_at"),
        ("crawler_hits", "last_at"),
        ("site_checks", "checked_at"),
        ("actions", "updated_at"),
    ):
        (latest,) = column(store, f"SELECT max({moment}) FROM store.{table}")
        assert latest <= clocks[0], table


FEATURES = json.loads(Path(__file__).with_name("features.json").read_bytes())
"""What a store has: a table, and a condition that some row of ``acme.example`` meets."""


@pytest.mark.parametrize("name", FEATURES)
def test_there_is(store: Store, name: str) -> None:
    assert holds(store, *FEATURES[name])


def test_there_is_something_to_find(store: Store) -> None:
    with store.observe(ServiceScope(ACME, 30)) as o:
        insights = SECTIONS["insights"].compute(o).body["insights"]
    kinds = {insight["type"] for insight in insights}
    assert {"competitor_citation_gain", "citation_loss"} <= kinds
    assert "seen" in {insight["state"] for insight in insights}
