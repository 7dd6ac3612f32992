"""Subjects of statements: which rows conditions pick."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pandas as pd
import pytest

from aatoolkit.availability.subject import Condition, make_conditions_after, make_engine_conditions


def test_an_engine_is_picked_by_its_id() -> None:
    (condition,) = make_engine_conditions("gemini", "grok")
    assert condition.matches(["gemini", "chatgpt", None, "grok"]) == [True, False, False, True]


def test_a_day_is_the_same_key_however_it_is_held() -> None:
    condition = Condition("date", "in", ("2026-11-19",))
    held = [
        date(2026, 11, 19),
        pd.Timestamp("2026-11-19"),
        "2026-11-19",
        pd.Timestamp(2026, 11, 20),
    ]
    assert condition.matches(held) == [True, True, True, False]
    moment = Condition("at", "in", ("2026-11-19T06:00:00+00:00",))
    assert moment.matches([pd.Timestamp("2026-11-19T06:00:00Z"), pd.Timestamp("2026-11-19")]) == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (">", [False, False, True]),
        (">=", [False, True, True]),
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
    ],
)
def test_days_are_compared_as_days_however_they_are_held(op: str, expected: list[bool]) -> None:
    condition = Condition("date", op, ("2026-11-19",))
    days = [date(2026, 11, 18), date(2026, 11, 19), date(2026, 11, 20)]
    assert condition.matches(days) == expected
    assert condition.matches([day.isoformat() for day in days]) == expected
    assert condition.matches([pd.Timestamp(day) for day in days]) == expected
    hours = [datetime(2026, 11, day.day, 13, tzinfo=UTC) for day in days]
    assert condition.matches(hours) == expected


def test_a_moment_is_compared_with_moments_to_the_second() -> None:
    (condition,) = make_conditions_after("2026-11-19T12:00:00Z")
    hours = ["2026-11-19T11:00:00Z", "2026-11-19T12:00:00Z", "2026-11-19 13:00:00", "2026-11-19"]
    assert condition.matches(hours) == [False, False, True, False]


def test_a_month_is_compared_with_days_by_its_name() -> None:
    assert Condition("month", ">=", ("2026-11",)).matches(["2026-10-31", "2026-11-01"]) == [
        False,
        True,
    ]


def test_numbers_are_compared_as_numbers_and_what_is_no_moment_is_not_compared_with_one() -> None:
    assert Condition("hour", ">", ("9",)).matches([10, 9, "8"]) == [True, False, False]
    assert Condition("date", ">", ("2026-11-19",)).matches(["soon", None, pd.NaT, pd.NA]) == [
        False,
        False,
        False,
        False,
    ]
    assert Condition("path", "<", ("m",)).matches(["a", "z"]) == [True, False]
