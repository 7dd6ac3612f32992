"""No number is 0 unless zero was measured: where pandas says 0, and on random frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, attach, described
from effort import examples
from hypothesis import given, settings, strategies as st
from serving import shared_client

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.availability import join

SUM = {"x": "sum"}


def frame_of(groups: list[str | None], values: list[int | None]) -> pd.DataFrame:
    return pd.DataFrame({"g": pd.array(groups, "string"), "x": pd.array(values, "Int64")})


def gaps() -> pd.DataFrame:
    days = pd.to_datetime(["2026-11-01", "2026-11-03"])
    return pd.DataFrame({"day": days, "x": pd.array([1, 2], "Int64")})


def levelled() -> pd.DataFrame:
    """A level that no row has, before, between and after those that rows have."""
    rows = {"g": pd.Categorical(["d", "b"], [*"abcde"]), "x": pd.array([1, 2], "Int64")}
    return described(pd.DataFrame(rows), "nowhere")


ALL_NA = frame_of(["a", "a"], [None, None])
ONE_NA = frame_of(["a", "b"], [1, None])
CROSSED = pd.DataFrame(
    {
        "g": pd.Categorical(["a", "b"], ["a", "b"]),
        "h": pd.Categorical(["c", "d"], ["c", "d"]),
        "x": pd.array([1, 1], "Int64"),
    }
)

ZERO_MAKERS: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "the sum of an all-NA column": (
        lambda: ALL_NA["x"].sum(),
        lambda: ALL_NA.aa.aggregate(rules=SUM).loc[0, "x"],
    ),
    "the sum of an all-NA group": (
        lambda: ONE_NA.groupby("g")["x"].sum()["b"],
        lambda: ONE_NA.aa.aggregate("g", rules=SUM).set_index("g").loc["b", "x"],
    ),
    "a level that no row has": (
        lambda: levelled().groupby("g", observed=False)["x"].sum()["c"],
        lambda: (
            levelled().aa.aggregate("g", rules=SUM, observed=False).set_index("g").loc["c", "x"]
        ),
    ),
    "a gap of a resampled series": (
        lambda: gaps().resample("D", on="day")["x"].sum().iloc[1],
        lambda: gaps().aa.aggregate(pd.Grouper(key="day", freq="D"), rules=SUM).loc[1, "x"],
    ),
    "the sum of an empty frame": (
        lambda: ALL_NA.iloc[:0]["x"].sum(),
        lambda: ALL_NA.iloc[:0].aa.aggregate(rules=SUM).loc[0, "x"],
    ),
    "a combination never seen": (
        lambda: pd.crosstab(CROSSED["g"], CROSSED["h"]).loc["a", "d"],
        lambda: (
            CROSSED.aa.aggregate(["g", "h"], rules=SUM, observed=False)
            .set_index(["g", "h"])
            .loc[("a", "d"), "x"]
        ),
    ),
}


@pytest.mark.parametrize(("of_pandas", "ours"), ZERO_MAKERS.values(), ids=ZERO_MAKERS)
def test_where_pandas_says_zero_it_stays_missing(
    of_pandas: Callable[[], object], ours: Callable[[], object]
) -> None:
    assert of_pandas() == 0
    assert ours() is pd.NA


@pytest.mark.parametrize(
    ("state", "status", "reason"),
    [
        (MEASURED, "not_applicable", "no rows"),
        (Availability(Status.UNAVAILABLE, Cause.NOT_RUN, "No run."), "unavailable", "No run."),
        (Availability(), "unknown", pd.NA),
    ],
)
@pytest.mark.parametrize("by", [None, "g"])
def test_an_empty_frame_says_why_it_is_empty(
    state: Availability, status: str, reason: object, by: str | None
) -> None:
    metadata = FrameMetadata({"x": ColumnMetadata("nowhere.x", state)})
    empty = attach(frame_of([], []), metadata)
    result = empty.aa.aggregate(by, rules=SUM)
    assert result["x"].tolist() == ([pd.NA] if by is None else [])
    assert result["x"].dtype == "Int64"
    assert result.aa.availability.loc["x", ["status", "reason"]].tolist() == [status, reason]


cells = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from("cd"),
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from([str(status) for status in Status]),
)
tables = st.lists(cells, max_size=8).map(
    lambda rows: attach(
        pd.DataFrame(
            {
                "g": pd.array([row[0] for row in rows], "string"),
                "h": pd.array([row[1] for row in rows], "string"),
                "x": pd.array([row[2] for row in rows], "Int64"),
                "availability": pd.Categorical(
                    [row[3] for row in rows], [str(status) for status in Status]
                ),
            }
        ),
        FrameMetadata({"x": ColumnMetadata("nowhere.x", MEASURED)}),
    )
)


def status_of(value: object, word: object) -> Status:
    """The model: what is known of a cell, in plain Python."""
    if word in (Status.UNAVAILABLE, Status.NOT_APPLICABLE, Status.UNKNOWN, Status.PARTIAL):
        return Status(word)
    return Status.UNKNOWN if value is pd.NA else Status.AVAILABLE


def expected(rows: pd.DataFrame, skip_missing: bool) -> tuple[object, Status]:
    """The model: the sum of some rows and what is known of it, row by row."""
    cells = [
        (value, status_of(value, word))
        for value, word in zip(rows["x"], rows["availability"], strict=True)
    ]
    status = reduce(join, (status for _, status in cells), Status.NOT_APPLICABLE)
    numbers = [
        value
        for value, status in cells
        if value is not pd.NA and status in (Status.AVAILABLE, Status.PARTIAL)
    ]
    counting = [status for _, status in cells if status != Status.NOT_APPLICABLE]
    if counting and len(numbers) == len(counting):
        return sum(numbers), status
    if skip_missing and numbers:
        return sum(numbers), Status.PARTIAL
    return pd.NA, status if numbers or status != Status.PARTIAL else Status.UNAVAILABLE


@settings(deadline=None, max_examples=examples(60))
@given(tables, st.booleans())
def test_it_is_the_model_and_zero_only_where_all_was_measured(
    frame: pd.DataFrame, skip_missing: bool
) -> None:
    result = frame.aa.aggregate("g", rules=SUM, skip_missing=skip_missing)
    plain = frame.groupby("g", dropna=False)
    assert result["g"].tolist() == [*plain.groups]
    statuses = []
    for row, (_, rows) in zip(result.to_dict("records"), plain, strict=True):
        value, status = expected(rows, skip_missing)
        assert pd.isna(row["x"]) if value is pd.NA else row["x"] == value
        assert row.get("x_availability", status) == status
        statuses.append(status)
        if not skip_missing and not pd.isna(row["x"]):
            kept = rows[rows["availability"] != "not_applicable"]
            assert row["x"] == kept["x"].sum(skipna=False)
    if statuses:
        joined = reduce(join, statuses)
        assert result.aa.availability.loc["x", "status"] == joined


@pytest.fixture(scope="module")
def client() -> aa.Client:
    return shared_client(1500)


@pytest.mark.parametrize("section", ["crawl", "conversions"])
@pytest.mark.parametrize("skip_missing", [False, True])
def test_what_is_not_connected_stays_so_to_the_last_aggregate(
    client: aa.Client, section: str, skip_missing: bool
) -> None:
    tables = client.project("initech.example").read(section)
    result = tables.main.aa.aggregate(skip_missing=skip_missing)
    assert len(result) == 1
    assert result.isna().all(axis=None)
    availability = result.drop(columns=result.filter(like="_coverage").columns).aa.availability
    assert {*availability["status"]} == {"unavailable"}
    assert {*availability["cause"]} == {"not_connected"}
    assert availability["reason"].notna().all()
