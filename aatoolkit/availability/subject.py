"""Statements about the availability of rows, and the conditions that select these rows."""

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
    """A condition on the values of one column that selects rows.

    Parameters
    ----------
    column : str
        The name of the column.
    op : {"in", ">", ">=", "<", "<="}
        How values are compared: as numbers, as times or else as text.
    values : tuple of str
        The values to compare with, as text. Operators other than ``in`` take exactly one.

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
        """Return whether each value meets the condition; a missing value does not."""
        if self.op == "in":
            condition_texts = {_MIDNIGHT.sub("", value) for value in self.values}
            return [
                value is not None and _MIDNIGHT.sub("", as_text(value)) in condition_texts
                for value in values
            ]
        return [self._compares(value) for value in values]

    def _compares(self, value: object) -> bool:
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
    """The availability of some rows of a table or column.

    Parameters
    ----------
    availability : Availability
        The availability of these rows.
    rows : tuple of Condition
        The rows match all these conditions; empty for all rows.
    """

    availability: Availability
    rows: tuple[Condition, ...] = ()


def engine(*ids: str) -> tuple[Condition, ...]:
    """Return the condition that a row is about one of the engines, in a tuple."""
    return (Condition("engine", "in", ids),)


def after(moment: str) -> tuple[Condition, ...]:
    """Return the condition that a row's date is after a date or timestamp, in a tuple.

    Examples
    --------
    >>> str(after("2026-11-19")[0])
    'date > 2026-11-19'
    """
    return (Condition("date", ">", (moment,)),)


def as_text(value: object) -> str:
    """Return a value of a column as text; dates in ISO format.

    Examples
    --------
    >>> as_text(date(2026, 11, 19)), as_text(7)
    ('2026-11-19', '7')
    """
    return value.isoformat() if isinstance(value, date) else str(value)


def _make_comparable(text: str, limit: str) -> tuple[object, object]:
    """Convert two texts to numbers, times or texts that ``<`` can compare."""
    if _DATE_OR_TIME.fullmatch(text) and _DATE_OR_TIME.fullmatch(limit):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        length = min(len(text), len(limit), 10 if 10 in (len(text), len(limit)) else 19)
        return text[:length].replace(" ", "T"), limit[:length].replace(" ", "T")
    try:
        return float(text), float(limit)
    except ValueError:
        return (None, None) if _DATE_OR_TIME.fullmatch(limit) else (text, limit)
