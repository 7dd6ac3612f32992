"""Conditions that select rows of a table, and statements on whether they could be measured."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from aatoolkit.availability.status import Availability

_MIDNIGHT = re.compile(r"(?<=^\d{4}-\d\d-\d\d)[T ]00:00:00(\+00:00|Z)?$")
_DATE_OR_TIME = re.compile(r"\d{4}-\d\d(-\d\d.*)?")


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
            condition_texts = {_MIDNIGHT.sub("", value) for value in self.values}
            return [
                value is not None and _MIDNIGHT.sub("", as_text(value)) in condition_texts
                for value in values
            ]
        return [self._compares(value) for value in values]

    def _compares(self, value: object) -> bool:
        """Return whether a value meets a condition with an operator such as ``>``, not ``in``."""
        text, limit = _make_comparable(as_text(value), self.values[0])
        if text is None or limit is None or value is None:
            return False
        is_above, is_below = text > limit, text < limit  # type: ignore[operator]
        return bool({">": is_above, ">=": not is_below, "<": is_below, "<=": not is_above}[self.op])

    def __str__(self) -> str:
        sign = "=" if self.op == "in" and len(self.values) == 1 else self.op
        return f"{self.column} {sign} {', '.join(self.values)}"


@dataclass(frozen=True)
class Statement:
    """Whether some rows of a table or column could be measured.

    Parameters
    ----------
    availability : Availability
        Whether they could be measured, and why not.
    rows : tuple of Condition
        Conditions that select the rows; a row must meet all of them. Empty for all rows.

    Examples
    --------
    >>> statement = Statement(Availability(), engine("chatgpt"))
    >>> str(statement.rows[0])
    'engine = chatgpt'
    """

    availability: Availability
    rows: tuple[Condition, ...] = ()


def engine(*ids: str) -> tuple[Condition, ...]:
    """Return a tuple with one `Condition`: the row is about one of the given engines.

    Examples
    --------
    >>> str(engine("chatgpt", "gemini")[0])
    'engine in chatgpt, gemini'
    """
    return (Condition("engine", "in", ids),)


def after(moment: str) -> tuple[Condition, ...]:
    """Return a tuple with one `Condition`: the date of the row is after ``moment``.

    ``moment`` is a date or timestamp in ISO format.

    Examples
    --------
    >>> str(after("2026-11-19")[0])
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


def _make_comparable(text: str, limit: str) -> tuple[object, object]:
    """Convert two texts to a pair that ``<`` compares as numbers, as times or as text.

    Returns
    -------
    tuple
        The two converted values; None and None if only one of them is a time.

    Examples
    --------
    >>> _make_comparable("7", "10"), _make_comparable("2026-11-20T06:00:00Z", "2026-11-20")
    ((7.0, 10.0), ('2026-11-20', '2026-11-20'))
    """
    if _DATE_OR_TIME.fullmatch(text) and _DATE_OR_TIME.fullmatch(limit):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        length = min(len(text), len(limit), 10 if 10 in (len(text), len(limit)) else 19)
        return text[:length].replace(" ", "T"), limit[:length].replace(" ", "T")
    try:
        return float(text), float(limit)
    except ValueError:
        return (None, None) if _DATE_OR_TIME.fullmatch(limit) else (text, limit)
