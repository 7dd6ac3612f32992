"""``df.aa.to_long``, ``with_context`` and ``interval``."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, Source, attach
from effort import one_in
from samples import payload_of, sample_bytes

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import AvailabilityError


def read(section: str, **scope: object) -> aa.Tables:
    narrowed = aa.Scope(**scope)  # type: ignore[arg-type]
    return aa.normalize(section, payload_of(sample_bytes(section), section=section, scope=narrowed))


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
    columns = {
        "engine": ColumnMetadata("conversion_engines.engine", MEASURED),
        "n": ColumnMetadata("conversion_engines.sessions", MEASURED),
        "revenue": ColumnMetadata("conversion_engines.revenue", lacking),
    }
    long = attach(frame, FrameMetadata(columns, ("engine",))).aa.to_long()
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


def test_a_number_whose_unit_depends_on_its_row_has_the_unit_of_its_row() -> None:
    frame = read("overview").main
    long = frame.aa.to_long(["value", "denominator"]).groupby("variable")["unit"]
    assert long.get_group("value").tolist() == frame["unit"].tolist()
    assert long.get_group("denominator").nunique() == 1


@pytest.mark.parametrize("section", one_in(3, aa.sections.names()))
def test_every_table_has_a_long_form_that_loses_no_number(section: str) -> None:
    for name, frame in read(section).items():
        long = frame.aa.to_long()
        for variable, cells in long.groupby("variable"):
            values = frame[variable].astype("Float64").tolist()
            assert cells["value"].astype("Float64").tolist() == values, name
        assert long["availability"].notna().all()


def test_context_stands_before_the_columns() -> None:
    frame = read("domains", days=7, engine=["gemini", "chatgpt"]).main
    with_context = frame.aa.with_context()
    assert with_context.iloc[0, :9].tolist() == [
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
    assert [*with_context.columns[9:]] == [*frame.columns]
    assert with_context.aa.codebook["of"].iloc[9:].tolist() == frame.aa.codebook["of"].tolist()
    empty = frame.iloc[:0].aa.with_context()
    assert empty.dtypes.tolist() == with_context.dtypes.tolist()
    with pytest.raises(AvailabilityError, match="already has"):
        with_context.aa.with_context()


@pytest.mark.parametrize("sources", [(), (Source("a.example"), Source("b.example"))])
def test_rows_of_several_answers_have_no_one_context(sources: tuple[Source, ...]) -> None:
    frame = attach(pd.DataFrame({"n": [1]}), FrameMetadata(sources=sources))
    with pytest.raises(AvailabilityError, match="before combining them"):
        frame.aa.with_context()
