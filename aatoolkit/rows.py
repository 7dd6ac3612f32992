"""The rows of a declared table in one document, and the values of its columns."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from aatoolkit.paths import Each, Entries, Field, format_path, parse_path
from aatoolkit.section import Table
from aatoolkit.vectors import KEYS, MISSING, Vector, descend

_Places = np.ndarray[tuple[int], np.dtype[np.intp]]
Found = tuple[Vector, _Places]
"""Values as a vector and, for each row of a table, the row of the vector that holds its value."""


class TableRows:
    """Where the rows of one table stand in one document.

    Parameters
    ----------
    document : Vector
        The whole answer.
    table : Table
        The declared table.
    """

    def __init__(self, document: Vector, table: Table) -> None:
        self.document = document
        self.table = table
        self.vector = descend(document, table.rows.steps)
        self.picked = np.flatnonzero(self._are_rows())
        self.whole = len(self.picked) == len(self.vector)

    def __len__(self) -> int:
        return len(self.picked)

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        vector, steps = self.document, self.table.rows.steps
        for at, step in enumerate(steps, 1):
            vector = descend(vector, (step,))
            if isinstance(step, Field) and vector.absent:
                return format_path(steps[:at])
        return None

    @cached_property
    def unsaid(self) -> bool:
        """Whether null stands where the rows should, which is not to say that there are none."""
        vector, found = self.document, False
        for step in self.table.rows.steps:
            vector = descend(vector, (step,))
            empty = vector.kinds <= {type(None), type(MISSING)} and type(None) in vector.kinds
            found = found or (isinstance(step, Field) and empty)
        return found

    def values(self, source: str) -> Found:
        """The values of a column, by its source."""
        if source[0] == "$":
            found = descend(self.document, parse_path(source[1:].lstrip(".")))
            return found, np.zeros(len(self), np.intp)
        if source[0] == "@":
            return self._label(int(source[1:]))
        vector, rows = self.vector, self.picked
        while source.startswith("^"):
            vector, up = vector.enclosing()
            rows, source = up[rows], source[1:]
        if source[0] == "#":
            labels = [position + int(source[1:]) for position in vector.labels or ()]
            return Vector(labels, vector.parent, vector.rows), rows
        if source.startswith("["):
            return self._position(vector, int(source[1:-1])), rows
        return (vector if source == "." else descend(vector, parse_path(source))), rows

    def column(self, source: str) -> tuple[list[Any], Vector, _Places]:
        """The values of a column row by row, and where each of them stands."""
        vector, places = self.values(source)
        if len(places) == len(vector) and places is self.picked and self.whole:
            return vector.values, vector, places
        return list(map(vector.values.__getitem__, places.tolist())), vector, places

    def spare(self, elsewhere: Container[str]) -> Iterator[Found]:
        """Values that only the rows of this table would hold, and none does.

        Such are the labels of an axis that is longer than its arrays, and fields of a record
        that encloses no row. ``elsewhere`` lists the patterns that other columns hold.
        """
        for number in range(len(self.table.rows.axes)):
            yield _rest(*self._label(len(self.table.rows.labels) - number - 1))
        for column in self.table.columns:
            source = column.source or ""
            if source[0] in "^$" and not column.is_label and column.pattern not in elsewhere:
                yield _rest(*self.values(source))

    def beyond(self) -> list[int]:
        """The rows that are arrays with more positions than are declared."""
        names = len(self.table.rows.positional)
        return [
            row for row in self.picked.tolist() if names and len(self.vector.values[row]) > names
        ]

    def _are_rows(self) -> list[bool]:
        """Which values are rows: arrays of positions, objects, or any where no field is read."""
        values, rows = self.vector.values, self.table.rows
        plain = all(column.source and column.source[0] in ".^@#$" for column in self.table.columns)
        kind = list if rows.positional else dict
        if rows.one or (plain and not rows.positional) or self.vector.kinds == {kind}:
            return [True] * len(values)
        return [type(value) is kind for value in values]

    def _label(self, number: int) -> Found:
        rows = self.table.rows
        above = self.vector.steps()
        steps = list(rows.steps)
        keys = [at for at, step in enumerate(steps) if isinstance(step, Entries)]
        arrays = [at for at, step in enumerate(steps) if isinstance(step, Each)]
        if number < len(keys):
            vector, up = above[len(steps) - 1 - keys[number]]
            keys_only = Vector(vector.labels or [], vector.parent, vector.rows, vector.labels, KEYS)
            return keys_only, up[self.picked]
        axis = number - len(keys)
        vector, up = above[len(steps) - 1 - arrays[axis - len(rows.axes)]]
        labels = descend(self.document, (*rows.axes[axis], Each()))
        places = np.asarray(vector.labels or [], np.intp)[up[self.picked]]
        if len(places) and places.max() >= len(labels):
            short = int(places.max()) + 1 - len(labels)
            labels = _lengthened(labels, short)
        return labels, places

    @staticmethod
    def _position(vector: Vector, place: int) -> Vector:
        values = [
            value[place] if type(value) is list and len(value) > place else MISSING
            for value in vector.values
        ]
        return Vector(values, vector, None, [place] * len(values))


def _lengthened(labels: Vector, short: int) -> Vector:
    """The labels of an axis that is shorter than its arrays, with gaps at its end."""
    return Vector(
        [*labels.values, *[MISSING] * short],
        labels.parent,
        np.append(labels.rows if labels.rows is not None else [], [0] * short).astype(np.intp),
        [*(labels.labels or []), *range(len(labels), len(labels) + short)],
    )


def _rest(vector: Vector, taken: _Places) -> Found:
    there = [row for row, value in enumerate(vector.values) if value is not MISSING]
    return vector, np.setdiff1d(np.asarray(there, np.intp), taken)
