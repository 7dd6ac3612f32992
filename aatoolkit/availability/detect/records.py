"""The records of one list, looked at column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from aatoolkit.availability import Availability
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import Answer
from aatoolkit.jsontree.vectors import MISSING, Vector

_MOST_CODES = 200
"""A column of more distinct texts than this holds texts, and no codes."""

Told = tuple[int, Any, Availability]
"""A row, what stands in it, and what that says."""


class Records:
    """The records of a list, and what is found in them.

    Parameters
    ----------
    answer : Answer
        The answer, which takes what is found.
    rows : Vector
        The records; what is no object has no fields.
    """

    def __init__(self, answer: Answer, rows: Vector) -> None:
        self.answer = answer
        self.rows = rows
        self.names = rows.fields()

    @cached_property
    def are_dated(self) -> bool:
        """Whether they are points in time."""
        return any(map(roles.is_when, self.names))

    @cached_property
    def counted(self) -> set[str]:
        """The fields that hold a number in some record."""
        return {name for name in self.names if self.rows.field(name).numbers}

    @cached_property
    def measured(self) -> set[str]:
        """Those of them that are no sizes of samples and no moments."""
        return {n for n in self.counted if not roles.is_size(n) and not roles.is_when(n)}

    @cached_property
    def counting(self) -> set[str]:
        """Those of them that hold a number other than 0."""
        return {name for name in self.measured if True in self.rows.field(name).numbers}

    def lacks(self, at: int) -> bool:
        """Whether a record holds null where others hold numbers."""
        return any(self.rows.field(name).values[at] is None for name in self.counted)

    def is_idle(self, at: int, *, zero: bool) -> bool:
        """Whether a record holds nothing where others count; with ``zero``, nothing or 0."""
        zeros = (self.rows.field(name).values[at] for name in self.counting) if zero else ()
        null = self.lacks(at) or any(value == 0 for value in zeros)
        numbers = (self.rows.field(name).values[at] for name in self.measured)
        return null and not any(type(one) in (int, float) and one for one in numbers)

    def telling(
        self, name: str, kind: type, says: Callable[[Any], Availability | None]
    ) -> Iterator[Told]:
        """The values of a type that say something; each distinct one is asked once."""
        values = self.rows.field(name).values
        distinct = {value for value in values if type(value) is kind}
        if len(distinct) > _MOST_CODES:
            return
        states = {value: state for value in distinct if (state := says(value)) is not None}
        if states:
            for at, value in enumerate(values):
                if type(value) is kind and value in states:
                    yield at, value, states[value]

    def given(self, name: str) -> Iterator[tuple[int, Any]]:
        """The values of a field that are there, each with its row."""
        for at, value in enumerate(self.rows.field(name).values):
            if value is not MISSING:
                yield at, value

    def add(
        self, name: str, at: int, state: Availability, rule: str, about: str | None = None
    ) -> None:
        """Keep what a field says of its record, or of another field of it."""
        told = self.rows.field(name)
        place = self.rows.path(at) if about is None else self.rows.field(about).path(at)
        target = place.removeprefix("$").removeprefix(".")
        self.answer.add("row", target, state, told.path(at), rule, told.values[at])
