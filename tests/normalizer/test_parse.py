"""How columns read values that are not plain JSON: each way of writing, and nothing lost.

``readings.json`` has a value in a line: the dtype and ``parse`` of a column, what is written, and
what is read of it; moments and days are there in ISO 8601.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.jsontree.coerce import parse_values
from aatoolkit.sections import Column, Section, Table, records
from aatoolkit.sections.column import Reading

CASES = json.loads(Path(__file__).with_name("readings.json").read_bytes())


@pytest.mark.parametrize(("dtype", "parse", "written", "value"), CASES["read"])
def test_a_value_is_read_as_it_is_meant(dtype: str, parse: str, written: Any, value: Any) -> None:
    result = parse_values([written, None], Reading(dtype, parse), "2026-11-20")
    reading, absent = result.array.to_pylist()
    is_time = isinstance(reading, date)
    assert is_time == (dtype in ("date", "timestamp"))
    assert (reading.isoformat() if is_time else reading) == value
    assert absent is None
    assert not len(result.invalid_positions)
    assert not len(result.missing_positions)


@pytest.mark.parametrize(("dtype", "parse", "written"), CASES["refused"])
def test_what_does_not_fit_is_named_and_never_bent(dtype: str, parse: str, written: Any) -> None:
    result = parse_values([written, None], Reading(dtype, parse), "2026-11-20")
    assert result.array.to_pylist() == [None, None]
    assert result.invalid_positions == [0]


def test_percents_become_fractions_without_a_rounding_error() -> None:
    result = parse_values(["34.5%", 7, "0.1%"], Reading("Float64", "number", scale=0.01))
    assert result.array.to_pylist() == [0.345, 0.07, 0.001]


def test_a_sentinel_is_missing_and_not_odd() -> None:
    values = [3, -1, "n/a", "—", 9999, None, "x", False]
    marks = (-1, "n/a", "—", 9999, False)
    result = parse_values(values, Reading("Int64", missing=marks))
    assert result.array.to_pylist() == [3, None, None, None, None, None, None, None]
    assert result.missing_positions == [1, 2, 3, 4, 7]
    assert result.invalid_positions == [6]


def test_the_year_of_a_day_is_beside_it() -> None:
    columns = (Column("day", "date", parse="month day", year="$.window.end"),)
    table = Table("days", "One row per day.", records("rows"), "day", columns)
    answer = {"window": {"end": "2026-01-05"}, "rows": [{"day": "Dec 31"}, {"day": "Jan 2"}]}
    tables = aa.normalize(Section("mine", "Days.", table), answer)
    assert tables.main["day"].astype(str).tolist() == ["2025-12-31", "2026-01-02"]
    assert tables.rebuild() == answer
