"""Subjects: which rows an availability statement is about.

A statement concerns all rows of a table or column, or those that its conditions pick: an engine,
the days after a day, one key. Conditions compare text, so that a statement can be written down
without a table, carried with a frame, and applied to whichever rows are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from aatoolkit.availability.status import Availability

_MIDNIGHT = re.compile(r"(?<=^\d{4}-\d\d-\d\d)[T ]00:00:00(\+00:00|Z)?$")
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d.*)?")


@dataclass(frozen=True)
class Condition:
    """Rows picked by the values of one column.

    Parameters
    ----------
    column : str
        The column, or where no table is known the dimension: ``engine``, ``date``.
    op : {"in", ">", ">=", "<", "<="}
        How values are compared: numbers as numbers, days and moments as such, other text as
        text. A day and a moment are compared by their days.
    values : tuple of str
        What they are compared with, as text: any number with ``in``, else one.

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
        """For each of some values, whether rows with it match the condition.

        A missing value matches nothing. Meant for the distinct values of a column, not for
        each of its rows.
        """
        if self.op == "in":
            wanted = {_MIDNIGHT.sub("", value) for value in self.values}
            return [
                value is not None and _MIDNIGHT.sub("", as_text(value)) in wanted
                for value in values
            ]
        return [self._compares(value) for value in values]

    def _compares(self, value: object) -> bool:
        text, limit = _comparable(as_text(value), self.values[0])
        if text is None or limit is None or value is None:
            return False
        is_above, is_below = text > limit, text < limit  # type: ignore[operator]
        return bool({">": is_above, ">=": not is_below, "<": is_below, "<=": not is_above}[self.op])

    def __str__(self) -> str:
        sign = "=" if self.op == "in" and len(self.values) == 1 else self.op
        return f"{self.column} {sign} {', '.join(self.values)}"


@dataclass(frozen=True)
class Statement:
    """One availability statement about a table or column.

    Parameters
    ----------
    availability : Availability
        What it states.
    rows : tuple of Condition
        The rows it is about: those for which all conditions hold; all rows where there are none.
    """

    availability: Availability
    rows: tuple[Condition, ...] = ()


def engine(*ids: str) -> tuple[Condition, ...]:
    """Conditions on the rows of some engines."""
    return (Condition("engine", "in", ids),)


def after(moment: str) -> tuple[Condition, ...]:
    """Conditions on the rows after a day or moment.

    Examples
    --------
    >>> str(after("2026-11-19")[0])
    'date > 2026-11-19'
    """
    return (Condition("date", ">", (moment,)),)


def as_text(value: object) -> str:
    """Format a value of a column as conditions hold it.

    Examples
    --------
    >>> as_text(date(2026, 11, 19)), as_text(7)
    ('2026-11-19', '7')
    """
    return value.isoformat() if isinstance(value, date) else str(value)


def _comparable(text: str, limit: str) -> tuple[object, object]:
    """Two values in a form in which they can be compared; None where they cannot."""
    if _MOMENT.fullmatch(text) and _MOMENT.fullmatch(limit):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        length = min(len(text), len(limit), 10 if 10 in (len(text), len(limit)) else 19)
        return text[:length].replace(" ", "T"), limit[:length].replace(" ", "T")
    try:
        return float(text), float(limit)
    except ValueError:
        return (None, None) if _MOMENT.fullmatch(limit) else (text, limit)
