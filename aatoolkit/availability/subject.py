"""Statements about the availability of rows, and the conditions that select these rows.

A statement is about all rows of a table or column, or about the rows that match its conditions,
such as the rows of one engine or the rows after a day. Conditions hold their values as text. So a
statement can be made before there is a table, stored in a frame's metadata, and applied to the rows
that are left after filtering.
"""

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
        The name of the column; before the columns of the table are known, ``engine`` or ``date``.
    op : {"in", ">", ">=", "<", "<="}
        How values are compared: numbers as numbers, dates and timestamps in time order, other text
        as text. If one value is a date and the other a timestamp, only the dates are compared.
    values : tuple of str
        The values, as text, to compare the column with: one or more for ``in``, exactly one for
        the other operators.

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
        """Return, for each of the column's ``values``, whether it meets the condition.

        A missing value never meets it. Passing only the distinct values of the column is faster.
        """
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
    """The availability of some rows of a table or column, with the conditions that select them.

    Parameters
    ----------
    availability : Availability
        The availability of these rows.
    rows : tuple of Condition
        The conditions that these rows match, all of them; an empty tuple stands for all rows.
    """

    availability: Availability
    rows: tuple[Condition, ...] = ()


def engine(*ids: str) -> tuple[Condition, ...]:
    """Return the condition that a row is about one of the engines ``ids``, in a one-item tuple."""
    return (Condition("engine", "in", ids),)


def after(moment: str) -> tuple[Condition, ...]:
    """Return the condition that a row's date is after ``moment``, in a one-item tuple.

    ``moment`` is a date or a timestamp.

    Examples
    --------
    >>> str(after("2026-11-19")[0])
    'date > 2026-11-19'
    """
    return (Condition("date", ">", (moment,)),)


def as_text(value: object) -> str:
    """Return a value of a column as text, in the format of `Condition.values`.

    Examples
    --------
    >>> as_text(date(2026, 11, 19)), as_text(7)
    ('2026-11-19', '7')
    """
    return value.isoformat() if isinstance(value, date) else str(value)


def _make_comparable(text: str, limit: str) -> tuple[object, object]:
    """Return two texts as numbers, times or texts that ``<`` can compare.

    Return (None, None) if only ``limit`` is a time.
    """
    if _DATE_OR_TIME.fullmatch(text) and _DATE_OR_TIME.fullmatch(limit):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        length = min(len(text), len(limit), 10 if 10 in (len(text), len(limit)) else 19)
        return text[:length].replace(" ", "T"), limit[:length].replace(" ", "T")
    try:
        return float(text), float(limit)
    except ValueError:
        return (None, None) if _DATE_OR_TIME.fullmatch(limit) else (text, limit)
