"""Conditions by which a statement about availability selects the rows that it is about.

A statement is about all rows of a table or column, or about the rows that match its conditions,
such as those of one engine or those after a day. Conditions compare values as text. So a statement
can be made before there is a table, stored in a frame's metadata, and applied to the rows that are
left after filtering.
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
    """A condition on the values of one column, by which rows are selected.

    Parameters
    ----------
    column : str
        The name of the column. As long as the table is not known, it is the name of a dimension,
        ``engine`` or ``date``.
    op : {"in", ">", ">=", "<", "<="}
        How values are compared: numbers as numbers, dates and timestamps in time order, other text
        as text. A date and a timestamp are compared by their dates.
    values : tuple of str
        The values to compare the column with, as text: one or more for ``in``, exactly one for
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

        A missing value never does. It is faster to pass only the distinct values of the column.
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
    """Return the condition that a row belongs to one of these engines, as a tuple of length 1."""
    return (Condition("engine", "in", ids),)


def after(moment: str) -> tuple[Condition, ...]:
    """Return the condition that a row is later than a date or timestamp, as a tuple of length 1.

    Examples
    --------
    >>> str(after("2026-11-19")[0])
    'date > 2026-11-19'
    """
    return (Condition("date", ">", (moment,)),)


def as_text(value: object) -> str:
    """Return a column's value as text, in the spelling of `Condition.values`.

    Examples
    --------
    >>> as_text(date(2026, 11, 19)), as_text(7)
    ('2026-11-19', '7')
    """
    return value.isoformat() if isinstance(value, date) else str(value)


def _make_comparable(text: str, limit: str) -> tuple[object, object]:
    """Return two texts as comparable numbers, times or texts; (None, None) if impossible."""
    if _DATE_OR_TIME.fullmatch(text) and _DATE_OR_TIME.fullmatch(limit):
        # By the day if either is one (2026-11-20), else by the second (2026-11-20T06:00:00).
        length = min(len(text), len(limit), 10 if 10 in (len(text), len(limit)) else 19)
        return text[:length].replace(" ", "T"), limit[:length].replace(" ", "T")
    try:
        return float(text), float(limit)
    except ValueError:
        return (None, None) if _DATE_OR_TIME.fullmatch(limit) else (text, limit)
