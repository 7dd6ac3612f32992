"""The status of each group of an aggregate stays with its rows, whatever becomes of them."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pandas as pd
import pytest
from carried import ColumnMetadata, FrameMetadata, Source, attach, metadata_of
from hypothesis import given, settings
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status, join
from tests.helpers.effort import examples

MEASURED = Availability(Status.AVAILABLE)
LACKING = (
    Availability(Status.UNAVAILABLE, Cause.NOT_RUN, "No run yet."),
    Availability(Status.PARTIAL, Cause.TRUNCATED, "Capped."),
    Availability(Status.PARTIAL, Cause.PENDING, "Still counting."),
)
SOURCE = Source("acme.example", "overview", "days=7")
KEYS = ("engine", "date", "topic")


def stated(cells: dict[tuple[str, ...], Availability], missing: bool) -> pd.DataFrame:
    """Mentions by engine, day and topic, each row with a status of its own."""
    frame = pd.DataFrame([*cells], columns=[*KEYS]).astype("string")
    counts = [None if each.status == Status.UNAVAILABLE else 2 for each in cells.values()]
    frame["mention_count"] = pd.array(counts, dtype="Int64")
    if missing:
        frame.loc[0, "topic"] = pd.NA
    statements = tuple(
        Statement(
            state,
            tuple(
                Condition(name, "in", (value,))
                for name, value in zip(KEYS, cell, strict=True)
                if not (missing and row == 0 and name == "topic")
            ),
        )
        for row, (cell, state) in enumerate(cells.items())
        if state != MEASURED
    )
    columns = dict.fromkeys(KEYS, ColumnMetadata(None, MEASURED))
    columns["mention_count"] = ColumnMetadata(None, MEASURED, statements)
    return attach(frame, FrameMetadata(columns, KEYS, (SOURCE,)))


CELLS = st.dictionaries(
    st.tuples(
        st.sampled_from(("chatgpt", "claude", "gemini")),
        st.sampled_from(("2026-11-18", "2026-11-19", "2026-11-20")),
        st.sampled_from(("prices", "reviews")),
    ),
    st.sampled_from((MEASURED, *LACKING)),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(200, fast=12))
@given(
    cells=CELLS,
    missing=st.booleans(),
    by=st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True),
    data=st.data(),
)
def test_a_column_of_an_aggregate_has_the_status_of_the_groups_that_are_left(
    cells: dict[tuple[str, ...], Availability], missing: bool, by: list[str], data: st.DataObject
) -> None:
    frame = stated(cells, missing)
    found = frame.aa.aggregate(by, "mention_count", rules={"mention_count": "sum"})
    rows = data.draw(st.sets(st.sampled_from(range(len(found))), min_size=1), label="rows")
    left = found.iloc[sorted(rows)]
    column = metadata_of(left).columns["mention_count"]
    beside = "mention_count_availability"
    if beside in found and column.statements:
        expected = reduce(join, map(Status, left[beside]))
        assert column.availability.status == expected
    if beside in found and not found[by].isna().any(axis=None):
        assert column.statements


@pytest.mark.thorough
def test_an_engine_of_the_demo_is_available_once_others_are_filtered_out(tmp_path: Path) -> None:
    engines = aa.demo().read("overview")["overview_engines"]
    found = engines.aa.aggregate("engine", "mention_rate")
    assert status(found) == "partial"
    assert status(found[found["engine"] == "chatgpt"]) == "available"
    assert status(found[["engine", "mention_rate"]].head(1)) == "available"
    assert status(found[found["engine"] == "google-ai-overview"]) == "unavailable"
    assert status(found.set_index("engine").drop("google-ai-overview")) == "available"
    joined = found.aa.merge(engines[["engine"]].iloc[:2], on="engine")
    assert status(joined) == "available"
    file = tmp_path / "engines.parquet"
    found.aa.to_parquet(file)
    read = aa.read_parquet(file)
    assert status(read) == "partial"
    assert status(read[read["engine"] == "claude"]) == "available"


def status(frame: pd.DataFrame, column: str = "mention_rate") -> str:
    return str(frame.aa.availability.loc[column, "status"])
