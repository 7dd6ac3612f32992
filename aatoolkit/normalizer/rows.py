"""The rows of a declared table in one document, and the values of its columns."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.chunks import concat_rows
from aatoolkit.jsontree.coerce import Array
from aatoolkit.jsontree.cursor import Cursor, RowLevel, RowMap, compose_index, constant_key
from aatoolkit.jsontree.decode import is_json_value
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.nodes import ChildTable
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_path
from aatoolkit.normalizer.field_map import expand_keys
from aatoolkit.sections.section import Column, Table

Found = tuple[Cursor, RowMap]
"""Where the values of a column stand, and for each row of its table the row of its value."""


class TableRows:
    """Where the rows of one table stand in one document.

    Parameters
    ----------
    document : Spot
        The whole answer.
    table : Table
        The declared table.
    """

    def __init__(self, document: Cursor, table: Table) -> None:
        self.table = table
        self._branches = [_Branch(document, s, table) for s in expand_keys(table.rows.steps)]
        self.size = sum(branch.size for branch in self._branches)

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        found = [at for branch in self._branches if (at := branch.field_absent) is not None]
        if len(found) < len(self._branches):
            return None
        return format_path(self.table.rows.steps[: min(found) + 1])

    @cached_property
    def is_null(self) -> bool:
        """Whether null stands where the rows should, which is not to say that there are none."""
        return all(branch.is_null for branch in self._branches)

    def find(self, source: str) -> list[Found]:
        """Where the values of a column stand, by its source; one for each spelling of the path."""
        return [branch.find(source) for branch in self._branches]

    def column(self, declared: Column, found: list[Found]) -> Array:
        """The values of a column, row by row, and null where one does not fit."""
        parts = [
            _taken(cursor, declared.dtype, index, branch.size)
            for branch, (cursor, index) in zip(self._branches, found, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        chunks = [
            c
            for part in parts
            for c in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])
        ]
        return pa.chunked_array(chunks).take(pa.array(self.order))

    def source_rows(self, found: list[Found]) -> tuple[RowIndex, RowIndex]:
        """For each row, which of the spots has the value of a column, and in which row there."""
        which, there = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        for number, ((_, index), here) in enumerate(zip(found, self.numbers, strict=True)):
            which[here] = number
            there[here] = np.arange(len(here)) if index is None else index
        return which, there

    @cached_property
    def numbers(self) -> list[RowIndex]:
        """For each spelling of the path, the numbers of its rows in the table."""
        if len(self._branches) == 1:
            return [np.arange(self.size)]
        numbers = np.empty(self.size, np.int64)
        numbers[self.order] = np.arange(self.size)
        return np.split(numbers, np.cumsum([branch.size for branch in self._branches])[:-1])

    @cached_property
    def order(self) -> RowIndex:
        """Where each row stands among those of all spellings, one spelling after the other."""
        keys = [branch.order for branch in self._branches]
        return np.lexsort([np.concatenate(one) for one in reversed(list(zip(*keys, strict=True)))])

    def unplaced(self, elsewhere: Container[str]) -> Iterator[tuple[Cursor, RowIndex]]:
        """Values that only the rows of this table would hold, and none does.

        Such are the labels of an axis that is longer than its arrays, and fields of a record
        that encloses no row. ``elsewhere`` lists the patterns that other columns hold.
        """
        rows = self.table.rows
        for number in range(len(rows.axes)):
            yield from _rest(self.find(f"@{len(rows.labels) - number - 1}"))
        for declared in self.table.columns:
            source = declared.source or ""
            if source[0] in "^$" and not declared.is_label and declared.pattern not in elsewhere:
                yield from _rest(self.find(source))

    def beyond(self) -> Iterator[tuple[Cursor, RowIndex]]:
        """The elements of rows that are arrays with more positions than are declared."""
        names = len(self.table.rows.positional)
        if names:
            for branch in self._branches:
                elements = branch.cursor.each()
                yield elements, np.flatnonzero(elements.level.positions >= names)


class _Branch:
    """The rows of a table at one path that has no choice of keys."""

    def __init__(self, document: Cursor, steps: tuple[Step, ...], table: Table) -> None:
        self.rows = table.rows
        self.cursors = [document]
        for one in steps:
            self.cursors.append(self.cursors[-1].descend((one,)))
        self.cursor = self.cursors[-1]
        if table.rows.function is not None:
            self.cursor = _computed_rows(self.cursor, table.name, table.rows.function)
        self.picked = self._picked(table)
        self.size = self.cursor.level.size if self.picked is None else len(self.picked)

    def _picked(self, table: Table) -> RowMap:
        """Which rows of the level are rows of the table; None if all are.

        They are arrays of positions, objects, or any where no field is read.
        """
        sources = [declared.source or "" for declared in table.columns]
        if table.rows.one or (not table.rows.positional and all(s[0] in ".^@#$" for s in sources)):
            return None
        node = self.cursor.node
        if node is None:
            return np.empty(0, np.int64)
        if table.rows.positional:
            rows = [there for _, there in node.items.lengths] if node.items else []
        else:
            rows = node.record.rows if node.record else []
            rows = rows + [there for _, there in (node.entries.lengths if node.entries else [])]
        found = np.sort(concat_rows(rows))
        return None if len(found) == self.cursor.level.size else found

    @property
    def field_absent(self) -> int | None:
        """The number of the first field on the way to the rows that is lacking."""
        for at, (given, cursor) in enumerate(zip(self.rows.steps, self.cursors[1:], strict=True)):
            if isinstance(given, Field) and cursor.field_absent:
                return at
        return None

    @property
    def is_null(self) -> bool:
        return any(
            isinstance(given, Field) and cursor.is_null
            for given, cursor in zip(self.rows.steps, self.cursors[1:], strict=True)
        )

    @property
    def order(self) -> list[RowIndex]:
        """What rows of several spellings are sorted by: where they branch off, and which it is."""
        found: list[RowIndex] = []
        for at, given in enumerate(self.rows.steps):
            if isinstance(given, Entries) and given.only:
                number = given.only.index(self.cursors[at + 1].tail[-1])
                above = self._up(at)
                found += [
                    np.arange(self.size) if above is None else above,
                    np.full(self.size, number),
                ]
        return found

    def find(self, source: str) -> Found:
        if source[0] == "$":
            cursor = self.cursors[0].descend(parse_path(source))
            return cursor, np.zeros(self.size, np.int64)
        if source[0] == "@":
            return self._label(int(source[1:]))
        cursor, index = self.cursor, self.picked
        while source.startswith("^"):
            (cursor, index), source = _enclosing_record(cursor, index), source[1:]
        if source[0] == "#":
            return cursor.level.position_cursor(int(source[1:])), index
        if source.startswith("["):
            return _position(cursor, int(source[1:-1]), index)
        return (cursor if source == "." else cursor.descend(parse_path(source))), index

    def _label(self, number: int) -> Found:
        keys = [at for at, step in enumerate(self.rows.steps) if isinstance(step, Entries)]
        if number < len(keys):
            at = keys[number] + 1
            given = self.rows.steps[at - 1]
            cursor, index = self.cursors[at], self._up(at)
            if isinstance(given, Entries) and given.only:
                return constant_key(cursor, cursor.tail[-1]), index
            return cursor.level.labels, index
        arrays = [at for at, step in enumerate(self.rows.steps) if isinstance(step, Each)]
        axis = number - len(keys)
        at = arrays[axis - len(self.rows.axes)] + 1
        labels = self.cursors[0].descend((*self.rows.axes[axis], Each()))
        source_rows = compose_index(self._up(at), self.cursors[at].level.positions)
        assert source_rows is not None
        return labels, np.where(source_rows < labels.level.size, source_rows, -1)

    def _up(self, at: int) -> RowMap:
        """For each row, its row in the level of an earlier spot."""
        level, index = self.cursor.level, self.picked
        while level is not self.cursors[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index


def _computed_rows(cursor: Cursor, table: str, function: Callable[[Any], Iterable[Any]]) -> Cursor:
    """The rows that a function makes of the values of a spot."""
    there = cursor.rows if cursor.node is None else np.setdiff1d(cursor.rows, cursor.node.nulls)
    try:
        found = [[dict(row) for row in function(value)] for value in cursor.values(there)]
        if not is_json_value(found):
            raise TypeError("not all of them are made of JSON values")
    except Exception as error:
        problem = f"the rows of {table} could not be made: {type(error).__name__}: {error}"
    else:
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        child = ChildTable()
        for node, values, rows, depth in child.add_rows(list(chain(*found)), lengths, there, 0):
            node.add_values(values, rows, depth)
        return RowLevel.open(child, cursor, computed=True)
    raise PayloadError(problem, problems=[f"{problem} @ {cursor.path(0)}"])


def _enclosing_record(cursor: Cursor, index: RowMap) -> Found:
    """The record one array up, and for each row its row there."""
    level, first = cursor.level, not cursor.tail
    while first or not level.in_array:
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, first = compose_index(index, level.parents), level.above.level, False
    return level.element, index


def _position(cursor: Cursor, node: int, index: RowMap) -> Found:
    """The elements at one place of the arrays of a spot."""
    elements = cursor.each()
    there = np.flatnonzero(elements.level.positions == node)
    by_array = np.full(cursor.level.size, -1, np.int64)
    by_array[elements.level.parents[there]] = there
    return elements, compose_index(index, by_array)


def _taken(cursor: Cursor, dtype: str, index: RowMap, size: int) -> Array:
    array, _ = cursor.to_arrow(dtype)
    if index is None:
        return array
    if len(index) == 0 or len(array) == 0:
        return pa.nulls(size, array.type)
    return array.take(pa.array(index, mask=index < 0))


def _rest(found: list[Found]) -> Iterator[tuple[Cursor, RowIndex]]:
    """The values that no row takes."""
    for cursor in dict.fromkeys(cursor for cursor, _ in found):
        taken = [cursor.rows if index is None else index for one, index in found if one is cursor]
        yield cursor, np.setdiff1d(cursor.rows, np.concatenate(taken))


def held(index: RowMap, rows: RowIndex) -> RowIndex:
    """Those of some rows of a spot that rows of the table take."""
    return rows if index is None or not len(rows) else np.intersect1d(rows, index)
