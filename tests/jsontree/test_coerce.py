"""Values as typed arrays: exact, and what does not fit is named."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aatoolkit._util.dtypes import DTYPES
from aatoolkit.jsontree.coerce import ARROW_TYPE_BY_DTYPE, coerce_values, parse_values
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections import Column

json_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["2026-11-20", "2026-11-20T06:10:00Z", "5", "true"])
)
json_values = (
    st.just(MISSING)
    | json_scalars
    | st.lists(json_scalars, max_size=2)
    | st.dictionaries(st.text(), json_scalars)
)


def read(values: list[Any], dtype: str) -> tuple[list[Any], list[int]]:
    array, odd = coerce_values(values, dtype)
    return array.to_pylist(), odd


@given(st.lists(json_values, max_size=8), st.sampled_from([*DTYPES]))
def test_any_values_have_the_declared_type_and_what_is_null_is_named(
    values: list[Any], dtype: str
) -> None:
    array, odd = coerce_values(values, dtype)
    assert array.type == ARROW_TYPE_BY_DTYPE[dtype]
    assert len(array) == len(values)
    empty = {row for row, value in enumerate(values) if value is None or value is MISSING}
    null = {row for row, is_null in enumerate(array.is_null().to_pylist()) if is_null}
    assert null == empty | {*odd}
    assert not empty & {*odd}
    assert odd == sorted(set(odd))


@pytest.mark.parametrize(
    ("value", "dtype", "read_as"),
    [
        (2**53 + 1, "Int64", 2**53 + 1),
        (2**63 - 1, "Int64", 2**63 - 1),
        (-(2**63), "Int64", -(2**63)),
        (5.0, "Int64", 5),
        (0, "Int64", 0),
        (3, "Float64", 3.0),
        (2**53, "Float64", 2.0**53),
        (0.1, "Float64", 0.1),
        (False, "boolean", False),
        ("", "string", ""),
        ("\0", "string", "\0"),
        ([], "list<string>", []),
        (["a", None], "list<string>", ["a", None]),
    ],
)
def test_what_fits_is_exact(value: Any, dtype: str, read_as: Any) -> None:
    for beside in ([], [None], [MISSING], ["odd", {}]):
        ((first, *_), odd) = read([value, *beside], dtype)
        assert (first, type(first)) == (read_as, type(read_as))
        assert 0 not in odd


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "Int64"),
        ("5", "Int64"),
        (5.5, "Int64"),
        (2**63, "Int64"),
        (-(2**63) - 1, "Int64"),
        (2.0**60, "Int64"),
        (1e300, "Int64"),
        (False, "Float64"),
        ("0.5", "Float64"),
        (2**53 + 1, "Float64"),
        (10**400, "Float64"),
        (1, "boolean"),
        ("true", "boolean"),
        (5, "string"),
        (True, "string"),
        (["a"], "string"),
        ({"a": 1}, "category"),
        ("\ud800", "string"),
        ("a", "list<string>"),
        ([1], "list<string>"),
        ([["a"]], "list<string>"),
        ([], "Int64"),
        ({}, "Float64"),
    ],
)
def test_what_does_not_fit_is_null_and_named(value: Any, dtype: str) -> None:
    assert read([value], dtype) == ([None], [0])


DAYS = {
    "2026-11-20": date(2026, 11, 20),
    "2024-02-29": date(2024, 2, 29),
    "0001-01-01": date(1, 1, 1),
    "9999-12-31": date(9999, 12, 31),
}
NO_DAYS = [
    *("2025-02-29", "2026-13-01", "2026-00-10", "2026-11-00", "0000-01-01", "20261120"),
    *("01/02/2026", "2026-1-2", "2026-W01-1", "2026-11-20T00:00:00Z", "2026-11-20 ", ""),
    *("٢٠٢٦-١١-٢٠", "-026-11-20", "today", "2026-11-20\n", 20261120, 0, True),
]


INSTANTS = {
    "2026-11-20T06:10:00Z": datetime(2026, 11, 20, 6, 10, tzinfo=UTC),
    "2026-11-20T06:10Z": datetime(2026, 11, 20, 6, 10, tzinfo=UTC),
    "2026-11-20 06:10:00Z": datetime(2026, 11, 20, 6, 10, tzinfo=UTC),
    "2026-11-20T06:10:00.5Z": datetime(2026, 11, 20, 6, 10, 0, 500000, tzinfo=UTC),
    "2026-11-20T06:10:00.123456Z": datetime(2026, 11, 20, 6, 10, 0, 123456, tzinfo=UTC),
    "2026-11-20T00:10:00+05:30": datetime(2026, 11, 19, 18, 40, tzinfo=UTC),
    "2026-11-20T00:10:00-0800": datetime(2026, 11, 20, 8, 10, tzinfo=UTC),
}
NO_INSTANTS = [
    *("2026-11-20T06:10:00", "2026-11-20", "2026-11-20T25:00:00Z", "2026-11-20T24:00:00Z"),
    *("2026-11-20T06:60:00Z", "2026-11-20T06:10:60Z", "2026-02-30T06:10:00Z"),
    *("0000-01-01T00:00:00Z", "2026-11-20T06:10:00+24:00", "2026-11-20T06:10:00+01:60"),
    *("2026-11-20T06:10:00.1234567Z", "2026-11-20T06:10:00 UTC", "20261120T061000Z", ""),
    *("٢٠٢٦-11-20T06:10:00Z", "2026-11-20T06:10:00Z\n", 1763619000, 1763619000.5, True),
]


@pytest.mark.parametrize(
    ("dtype", "times", "others"),
    [("date", DAYS, NO_DAYS), ("timestamp", INSTANTS, NO_INSTANTS)],
)
def test_a_day_and_an_instant_are_read_and_nothing_else_is_bent_into_one(
    dtype: str, times: dict[str, Any], others: list[Any]
) -> None:
    assert read([*times], dtype) == ([*times.values()], [])
    for value in others:
        assert read([*times, value], dtype) == ([*times.values(), None], [len(times)]), value


@pytest.mark.parametrize("parse", ["number", "money", "duration", "month day year"])
@pytest.mark.parametrize("text", [" ", "1 ", "1,", "-01T", "jan 1 "])
def test_a_text_without_end_is_read_at_once_as_no_number_and_no_time(parse: str, text: str) -> None:
    dtype = "date" if parse.startswith("month") else "Float64"
    column = Column("amount", dtype, "What is read.", parse=parse)
    assert parse_values([text * 50_000 + "x"], column).invalid_positions == [0]
