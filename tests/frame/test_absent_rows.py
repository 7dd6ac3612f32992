"""What an answer without rows states concerns totals over several answers, and no row of others."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import (
    MEASURED,
    NOT_CONNECTED,
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    metadata_of,
)
from hypothesis import given, settings, strategies as st

import aatoolkit as aa
from aatoolkit.availability import Availability, Cause, Status, combine
from tests.helpers.effort import examples

STATES = (
    MEASURED,
    NOT_CONNECTED,
    Availability(Status.PARTIAL, Cause.PENDING, "Still counting."),
    Availability(Status.NOT_APPLICABLE),
    Availability(Status.UNKNOWN),
)
RULES = {"requests": "sum"}


def visits(
    host: str, rows: int, state: Availability = MEASURED, *, named: bool = True
) -> pd.DataFrame:
    """Requests by bot of one host, synthetic."""
    bots = [f"bot-{number}" for number in range(rows)]
    frame = pd.DataFrame({"host": host, "bot": bots, "requests": 2}, index=range(rows))
    frame = frame.astype({"host": "string", "bot": "string", "requests": "Int64"})
    columns = dict.fromkeys(frame, ColumnMetadata(None, MEASURED))
    columns["requests"] = ColumnMetadata(None, state)
    source = Source(f"{host}.example", "crawl", "days=7")
    frame["host"] += ".example"
    metadata = FrameMetadata(columns, ("host", "bot"), (source,))
    return attach(frame, metadata) if named else attach(frame.drop(columns="host"), metadata)


def state(frame: pd.DataFrame) -> Availability:
    return metadata_of(frame).columns["requests"].availability


def cells(frame: pd.DataFrame) -> set[str]:
    return {*frame.aa.to_long(columns="requests")["availability"].astype(str)}


def total(frame: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    return frame.aa.aggregate(by, "requests", rules=RULES)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("order", [1, -1])
def test_rows_of_others_are_measured_and_a_total_is_not_whole(order: int, named: bool) -> None:
    parts = [visits("acme", 2, named=named), visits("initech", 0, NOT_CONNECTED, named=named)]
    both = aa.concat(parts[::order])
    assert state(both) == Availability(Status.PARTIAL, Cause.NOT_CONNECTED, "Create the CNAME.")
    assert cells(both) == {"available"}
    assert len(both.aa.measured("requests")) == 2
    assert total(both)["requests"].tolist() == [4]
    assert state(total(both)).reason == "Create the CNAME."
    by_bot = total(both, "bot")
    assert cells(by_bot) == {"partial"}
    assert state(by_bot).status == "partial"


def test_groups_of_the_hosts_that_answered_are_whole() -> None:
    three = aa.concat([visits("acme", 2), visits("initech", 0, NOT_CONNECTED), visits("globex", 1)])
    assert state(three).status == "partial"
    by_host = total(three, "host")
    assert cells(by_host) == {"available"}
    assert state(by_host).reason == "Create the CNAME."
    assert state(total(three)).status == "partial"


PARTS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(STATES)), min_size=1, max_size=4)


@pytest.mark.thorough
@settings(max_examples=examples(120, fast=12))
@given(parts=PARTS, named=st.booleans())
def test_the_whole_is_the_join_of_all_answers_and_a_row_is_of_its_own(
    parts: list[tuple[int, Availability]], named: bool
) -> None:
    parts = [
        (0 if availability.status in ("unavailable", "not_applicable") else rows, availability)
        for rows, availability in parts
    ]
    frames = [visits(f"h{n}", *availability, named=named) for n, availability in enumerate(parts)]
    stacked = aa.concat(frames, ignore_index=True)
    assert state(stacked).status == combine(availability for _, availability in parts).status
