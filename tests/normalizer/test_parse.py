"""How columns read values that are not plain JSON: each way of writing, and nothing lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.jsontree.coerce import read_as
from aatoolkit.sections import Column, Section, Table, records
from aatoolkit.sections.column import Reading

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dtype", "parse", "written", "value"),
    [
        ("Int64", "number", "1,204", 1204),
        ("Int64", "number", "1 204", 1204),
        ("Int64", "number", "1\u202f204", 1204),
        ("Int64", "number", "1'204'000", 1204000),
        ("Int64", "number", "#3", 3),
        ("Int64", "number", "+2", 2),
        ("Int64", "number", "−5", -5),
        ("Int64", "number", "9007199254740993", 9007199254740993),
        ("Int64", "number", 7, 7),
        ("Int64", "number", 7.0, 7),
        ("Float64", "number", "34.5%", 34.5),
        ("Float64", "number", "34.5 %", 34.5),
        ("Float64", "number", "+2.1", 2.1),
        ("Float64", "number", "1.2k", 1200.0),
        ("Float64", "number", "-3M", -3e6),
        ("Float64", "number", 0.5, 0.5),
        ("Float64", "number", 3, 3.0),
        ("Float64", "decimal comma", "1.204,5", 1204.5),
        ("Float64", "decimal comma", "0,5", 0.5),
        ("Float64", "decimal comma", "12", 12.0),
        ("Float64", "money", "$1,204.50", 1204.5),
        ("Float64", "money", "1 204,50 €", 1204.5),
        ("Float64", "money", "-$3.00", -3.0),
        ("Float64", "money", "USD 12", 12.0),
        ("Float64", "money", 12, 12.0),
        ("string", "currency", "$1,204.50", "$"),
        ("string", "currency", "12.00 EUR", "EUR"),
        ("Float64", "duration", "1m 30s", 90.0),
        ("Float64", "duration", "PT1M30S", 90.0),
        ("Float64", "duration", "00:01:30", 90.0),
        ("Float64", "duration", "1:30", 90.0),
        ("Float64", "duration", "350 ms", 0.35),
        ("Float64", "duration", "2.5s", 2.5),
        ("Float64", "duration", 90, 90.0),
        ("Float64", "parts", {"num": 3, "den": "4"}, 0.75),
        ("Float64", "parts", {"num": 0, "den": 0}, None),
        ("Float64", "parts", {"units": "12", "nanos": 5 * 10**8, "currencyCode": "EUR"}, 12.5),
        ("date", "DD/MM/YYYY", "24/10/2026", date(2026, 10, 24)),
        ("date", "DD/MM/YYYY", "3.4.2026", date(2026, 4, 3)),
        ("date", "MM/DD/YYYY", "10-24-2026", date(2026, 10, 24)),
        ("boolean", "boolean", "Yes", True),
        ("boolean", "boolean", "off", False),
        ("boolean", "boolean", 1, True),
        ("boolean", "boolean", "0", False),
        ("boolean", "boolean", True, True),
        ("date", "YYYYMMDD", 20261120, date(2026, 11, 20)),
        ("date", "YYYYMMDD", "20261120", date(2026, 11, 20)),
        ("date", "iso week", "2026-W47", date(2026, 11, 16)),
        ("date", "iso week", "2026W01", date(2025, 12, 29)),
        ("date", "month day", "Nov 3", date(2026, 11, 3)),
        ("date", "month day", "3 November", date(2026, 11, 3)),
        ("date", "month day", "Dec 30", date(2025, 12, 30)),
        ("date", "epoch s", 1795176000, date(2026, 11, 20)),
        ("timestamp", "epoch s", 1795176000, NOON),
        ("timestamp", "epoch ms", 1795176000000, NOON),
        ("timestamp", "epoch s", "1795176000", NOON),
        ("timestamp", "epoch s", 1795176000.0, NOON),
        ("timestamp", "utc", "2026-11-20T12:00:00", NOON),
        ("timestamp", "utc", "2026-11-20T13:00:00+01:00", NOON),
        ("date", "utc", "2026-11-20T12:00:00Z", date(2026, 11, 20)),
    ],
)
def test_a_value_is_read_as_it_is_meant(dtype: str, parse: str, written: Any, value: Any) -> None:
    result = read_as([written, None], Reading(dtype, parse), "2026-11-20")
    assert result.array.to_pylist() == [value, None]
    assert not len(result.invalid)
    assert not len(result.missing)


@pytest.mark.parametrize(
    ("dtype", "parse", "written"),
    [
        ("Int64", "number", "1,20"),
        ("Int64", "number", "34.5"),
        ("Int64", "number", "1,204,5"),
        ("Int64", "number", "many"),
        ("Int64", "number", ""),
        ("Int64", "number", True),
        ("Int64", "number", "1e3"),
        ("Float64", "number", {"a": 1}),
        ("Float64", "number", [1]),
        ("Float64", "decimal comma", "1,204.5"),
        ("Float64", "money", "1.204"),
        ("Float64", "money", "free"),
        ("Float64", "duration", "1m 30"),
        ("Float64", "duration", "P"),
        ("Float64", "duration", "5 parsecs"),
        ("Float64", "parts", {"num": "few", "den": 2}),
        ("boolean", "boolean", "maybe"),
        ("boolean", "boolean", 2),
        ("date", "YYYYMMDD", 20261332),
        ("date", "YYYYMMDD", "2026112"),
        ("date", "iso week", "2026-W60"),
        ("date", "month day", "Feb 30"),
        ("date", "month day", "Foo 3"),
        ("timestamp", "epoch s", 10**15),
        ("timestamp", "epoch s", 2**53 + 1),
        ("timestamp", "epoch ms", -(2**63)),
        ("date", "epoch s", 2**63 - 1),
        ("timestamp", "epoch ms", "soon"),
        ("timestamp", "utc", "2026-11-20"),
        ("timestamp", "utc", 5),
    ],
)
def test_what_does_not_fit_is_named_and_never_bent(dtype: str, parse: str, written: Any) -> None:
    result = read_as([written, None], Reading(dtype, parse), "2026-11-20")
    assert result.array.to_pylist() == [None, None]
    assert result.invalid == [0]


def test_percents_become_fractions_without_a_rounding_error() -> None:
    result = read_as(["34.5%", 7, "0.1%"], Reading("Float64", "number", scale=0.01))
    assert result.array.to_pylist() == [0.345, 0.07, 0.001]


def test_a_sentinel_is_missing_and_not_odd() -> None:
    values = [3, -1, "n/a", "—", 9999, None, "x", False]
    marks = (-1, "n/a", "—", 9999, False)
    result = read_as(values, Reading("Int64", missing=marks))
    assert result.array.to_pylist() == [3, None, None, None, None, None, None, None]
    assert result.missing == [1, 2, 3, 4, 7]
    assert result.invalid == [6]


def test_the_year_of_a_day_is_beside_it() -> None:
    columns = (Column("day", "date", parse="month day", year="$.window.end"),)
    table = Table("days", "One row per day.", records("rows"), "day", columns)
    answer = {"window": {"end": "2026-01-05"}, "rows": [{"day": "Dec 31"}, {"day": "Jan 2"}]}
    tables = aa.normalize(Section("mine", "Days.", table), answer)
    assert tables.main["day"].astype(str).tolist() == ["2025-12-31", "2026-01-02"]
    assert tables.rebuild() == answer
