"""Conditions that select rows of a table, and statements on whether they could be measured."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from aatoolkit.availability.status import Availability

_MIDNIGHT_PATTERN = re.compile(r"(?<=^\d{4}-\d\d-\d\d)[T ]00:00:00(\+00:00|Z)?$")
_DATE_OR_TIME_PATTERN = re.compile(r"\d{4}-\d\d(-\d\d.*)?")


@dataclass(frozen=True)
class Condition:
    """A condition that selects rows by the values of one column, such as ``date > 2026-11-19``.

    Parameters
    ----------
    column : str
        The name of the column.
    op : {"in", ">", ">=", "<", "<="}
        The comparison. Numbers are compared as numbers, times as times, and others as text.
    values : tuple of str
        The values to compare with, as text. A comparison other than ``in`` takes one value.

    Examples
    --------
    >>> late = Condition("date", ">", ("2026-11-19",))
    >>> late.matches(["2026-11-19", "2026-11-20T06:00:00Z", None])
    [False, True, False]
    >>> str(Condition("engine", "in", ("chatgpt", "gemini")))
    'engine in chatgpt, gemini'
    """

    column: str
    op: str
    values: tuple[str, ...]

    def matches(self, values: Iterable[object]) -> list[bool]:
        """Return a list with a boolean for each value: whether it meets the condition.

        The boolean is False for a missing value.
        """
        if self.op == "in":
            condition_texts = {_MIDNIGHT_PATTERN.sub("", value) for value in self.values}
            return [
                value is not None and _MIDNIGHT_PATTERN.sub("", as_text(value)) in condition_texts
                for value in values
            ]
        return [self._meets_comparison(value) for value in values]

    def _meets_comparison(self, value: object) -> bool:
        """Return whether a value meets this condition, which is ``<``, ``<=``, ``>`` or ``>=``."""
        operand, limit = _make_comparable(as_text(value), self.values[0])
        if operand is None or limit is None or value is None:
            return False
        is_above, is_below = operand > limit, operand < limit  # type: ignore[operator]
        return bool({">": is_above, ">=": not is_below, "<": is_below, "<=": not is_above}[self.op])

    def __str__(self) -> str:
        operator = "=" if self.op == "in" and len(self.values) == 1 else self.op
        return f"{self.column} {operator} {', '.join(self.values)}"


@dataclass(frozen=True)
class Statement:
    """A statement on some rows of a table or column: could they be measured, and if not, why?

    Parameters
    ----------
    availability : Availability
        Whether they could be measured, and why not.
    rows : tuple of Condition
        Conditions that select the rows; a row must meet all of them. Empty for all rows.

    Examples
    --------
    >>> statement = Statement(Availability(), make_engine_conditions("chatgpt"))
    >>> str(statement.rows[0])
    'engine = chatgpt'
    """

    availability: Availability
    rows: tuple[Condition, ...] = ()


def make_engine_conditions(*engine_ids: str) -> tuple[Condition, ...]:
    """Return a tuple with one `Condition`, which selects the rows of some engines (AI assistants).

    Examples
    --------
    >>> str(make_engine_conditions("chatgpt", "gemini")[0])
    'engine in chatgpt, gemini'
    """
    return (Condition("engine", "in", engine_ids),)


def make_conditions_after(moment: str) -> tuple[Condition, ...]:
    """Return a tuple with one `Condition`, which selects the rows with a date after ``moment``.

    ``moment`` is a date or timestamp in ISO format.

    Examples
    --------
    >>> str(make_conditions_after("2026-11-19")[0])
    'date > 2026-11-19'
    """
    return (Condition("date", ">", (moment,)),)


def as_text(value: object) -> str:
    """Return a value of a column as text, with dates in ISO format.

    Examples
    --------
    >>> as_text(date(2026, 11, 19)), as_text(7)
    ('2026-11-19', '7')
    """
    return value.isoformat() if isinstance(value, date) else str(value)


def _make_comparable(value_text: str, limit_text: str) -> tuple[object, object]:
    """Convert two texts to two values that can be compared by ``<``.

    Two numbers become floats. Two times are shortened to the precision that both have. Other texts
    stay as they are.

    Returns
    -------
    tuple
        The two converted values; None and None if only ``limit_text`` is a time.

    Examples
    --------
    >>> _make_comparable("7", "10"), _make_comparable("2026-11-20T06:00:00Z", "2026-11-20")
    ((7.0, 10.0), ('2026-11-20', '2026-11-20'))
    """
    if _DATE_OR_TIME_PATTERN.fullmatch(value_text) and _DATE_OR_TIME_PATTERN.fullmatch(limit_text):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        compared_length = min(
            len(value_text), len(limit_text), 10 if 10 in (len(value_text), len(limit_text)) else 19
        )
        return value_text[:compared_length].replace(" ", "T"), limit_text[:compared_length].replace(
            " ", "T"
        )
    try:
        return float(value_text), float(limit_text)
    except ValueError:
        return (
            (None, None)
            if _DATE_OR_TIME_PATTERN.fullmatch(limit_text)
            else (value_text, limit_text)
        )
