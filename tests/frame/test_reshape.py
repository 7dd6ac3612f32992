"""``df.aa.to_long``, ``with_context`` and ``interval``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from effort import one_in

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import AvailabilityError, ItemNotFound, NotWritten
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, Source, attach

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
MEASURED = Availability(Status.AVAILABLE)


def read(section: str, **scope: object) -> aa.Tables:
    return aa.normalize(
        section,
        aa.Payload(
            (SAMPLES / f"{section}.json").read_bytes(),
            fetched_at=datetime(2026, 11, 20, 7, tzinfo=UTC),
            host="acme.example",
            section=section,
            scope=aa.Scope(**scope),  # type: ignore[arg-type]
        ),
    )


def test_a_row_a_cell_with_what_is_known_of_it() -> None:
    frame = pd.DataFrame(
        {
            "engine": pd.array(["a", "b"], "string"),
            "unit": ["u", "v"],
            "n": pd.array([0, None], "Int64"),
            "revenue": pd.array([None, None], "Float64"),
        }
    )
    lacking = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "Connect it.")
    known = {
        "engine": ColumnMetadata("conversion_engines.engine", MEASURED),
        "n": ColumnMetadata("conversion_engines.sessions", MEASURED),
        "revenue": ColumnMetadata("conversion_engines.revenue", lacking),
    }
    long = attach(frame, FrameMetadata(known, ("engine",))).aa.to_long()
    assert [*long.columns] == [
        "engine",
        "unit_",
        "variable",
        "value",
        "unit",
        "availability",
        "availability_cause",
        "availability_reason",
    ]
    assert long.drop(columns="unit_").values.tolist() == [
        ["a", "n", 0.0, "count", "available", pd.NA, pd.NA],
        ["b", "n", pd.NA, "count", "unknown", pd.NA, "no value is given"],
        ["a", "revenue", pd.NA, "`currency` units", "unavailable", "not_connected", "Connect it."],
        ["b", "revenue", pd.NA, "`currency` units", "unavailable", "not_connected", "Connect it."],
    ]
    sums = long.aa.aggregate("variable", rules={"value": "sum"})
    assert sums["value"].isna().all()


@pytest.mark.parametrize("section", one_in(3, aa.sections.names()))
def test_every_table_has_a_long_form_that_loses_no_number(section: str) -> None:
    for name, frame in read(section).items():
        long = frame.aa.to_long()
        for variable, cells in long.groupby("variable"):
            values = frame[variable].astype("Float64").tolist()
            assert cells["value"].astype("Float64").tolist() == values, name
        assert long["availability"].notna().all()


def test_whole_numbers_stay_whole_or_are_refused() -> None:
    large = 2**53 + 1
    frame = pd.DataFrame({"n": pd.array([large, None], "Int64"), "x": [0.5, 1.0], "s": "t"})
    assert frame.aa.to_long("n")["value"].tolist() == [large, pd.NA]
    with pytest.raises(NotWritten, match=r"n holds whole numbers beyond 2\*\*53"):
        frame.aa.to_long()
    with pytest.raises(AvailabilityError, match="only numbers have a long form: s holds"):
        frame.aa.to_long(["n", "s"])


def test_a_frame_without_numbers_has_an_empty_long_form() -> None:
    long = pd.DataFrame({"s": ["t"]}).aa.to_long()
    assert len(long) == 0
    assert [*long.columns][:3] == ["s", "variable", "value"]


def test_context_stands_before_the_columns() -> None:
    frame = read("domains", days=7, engine=["gemini", "chatgpt"]).main
    whole = frame.aa.with_context()
    assert whole.iloc[0, :9].tolist() == [
        "acme.example",
        7,
        pd.Timestamp("2026-10-22"),
        pd.Timestamp("2026-11-20"),
        "chatgpt,gemini",
        pd.NA,
        pd.NA,
        pd.NA,
        pd.Timestamp("2026-11-20T07:00:00Z"),
    ]
    assert [*whole.columns[9:]] == [*frame.columns]
    assert whole.aa.codebook["of"].iloc[9:].tolist() == frame.aa.codebook["of"].tolist()
    empty = frame.iloc[:0].aa.with_context()
    assert empty.dtypes.tolist() == whole.dtypes.tolist()
    with pytest.raises(AvailabilityError, match="already has"):
        whole.aa.with_context()


def test_context_that_is_not_known_is_missing() -> None:
    frame = attach(pd.DataFrame({"n": [1]}), FrameMetadata(sources=(Source(),)))
    assert frame.aa.with_context().iloc[0, :9].isna().all()


@pytest.mark.parametrize("sources", [(), (Source("a.example"), Source("b.example"))])
def test_rows_of_several_answers_have_no_one_context(sources: tuple[Source, ...]) -> None:
    frame = attach(pd.DataFrame({"n": [1]}), FrameMetadata(sources=sources))
    with pytest.raises(AvailabilityError, match="before combining them"):
        frame.aa.with_context()


def rates(hits: list[int | None], trials: list[int | None]) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "mention_count": pd.array(hits, "Int64"),
            "answer_count": pd.array(trials, "Int64"),
            "mention_rate": pd.array([None] * len(hits), "Float64"),
        }
    )
    names = {name: ColumnMetadata(f"overview_trend.{name}", MEASURED) for name in frame.columns}
    return attach(frame, FrameMetadata(names))


def test_intervals_are_those_of_wilson() -> None:
    found = rates([0, 5, 10, 81], [10, 10, 10, 263]).aa.interval("mention_rate")
    assert [*found.columns] == ["mention_rate_low", "mention_rate_high"]
    expected = [(0.0, 0.2775), (0.2366, 0.7634), (0.7225, 1.0), (0.2553, 0.3662)]
    for row, (low, high) in zip(found.itertuples(index=False), expected, strict=True):
        assert row == pytest.approx((low, high), abs=5e-5)
    wide = rates([5], [10]).aa.interval("mention_rate", level=0.99)
    assert wide.iloc[0, 0] < found.iloc[1, 0]


def test_where_a_side_was_not_measured_there_is_no_interval() -> None:
    found = rates([None, 1, 0, 1], [10, None, 0, 2]).aa.interval("mention_rate")
    assert found.isna().all(axis=1).tolist() == [True, True, True, False]
    counts = rates([1, 1, 1], [2, 2, 2]).assign(
        availability=["partial", "unavailable", "available"]
    )
    found = counts.aa.interval("mention_rate")
    assert found.isna().all(axis=1).tolist() == [False, True, False]


def test_an_interval_that_cannot_be_is_refused() -> None:
    with pytest.raises(AvailabilityError, match="no part of its denominator"):
        rates([3], [2]).aa.interval("mention_rate")
    one_of_two = rates([3, 1], [2, 2]).aa.interval("mention_rate")
    assert one_of_two.isna().all(axis=1).tolist() == [True, False]
    with pytest.raises(
        AvailabilityError, match=r"names no numerator.*its rates have: mention_rate$"
    ):
        rates([3], [2]).aa.interval("mention_count")
    with pytest.raises(ItemNotFound, match="'n': there is no such column"):
        rates([3], [2]).aa.interval("n")
    with pytest.raises(ValueError, match="not between 0 and 1"):
        rates([1], [2]).aa.interval("mention_rate", level=95)
