"""The rows of a declared table in one document, and the values of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.chunks import concat_rows
from aatoolkit.jsontree.coerce import NO_ROWS, Array
from aatoolkit.jsontree.cursor import Cursor, RowMap
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.paths import format_path
from aatoolkit.normalizer.branch import Branch, Found
from aatoolkit.normalizer.field_map import expand_keys
from aatoolkit.normalizer.parse import Parsed, read_as
from aatoolkit.sections.column import Column, Reading
from aatoolkit.sections.section import Table


class TableRows:
    """The rows of one table in one document.

    Parameters
    ----------
    document : Cursor
        The whole answer.
    table : Table
        The declared table.
    """

    def __init__(self, document: Cursor, table: Table) -> None:
        self.table = table
        self.branches = [Branch(document, s, table) for s in expand_keys(table.rows.steps)]
        self.size = sum(branch.size for branch in self.branches)
        self._found: dict[str, list[Found]] = {}
        self._read: dict[tuple[Cursor, Reading], Parsed] = {}
        self._indexes: dict[int, tuple[RowIndex, pa.Array]] = {}

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        found = [at for branch in self.branches if (at := branch.field_absent) is not None]
        if len(found) < len(self.branches):
            return None
        return format_path(self.table.rows.steps[: min(found) + 1])

    @cached_property
    def is_null(self) -> bool:
        """Whether there is null instead of rows, which does not mean that there are none."""
        return all(branch.is_null for branch in self.branches)

    def find(self, source: str) -> list[Found]:
        """Find the values of a column by its source, once for each spelling of the path."""
        found = self._found.get(source)
        if found is None:
            found = self._found[source] = [branch.find(source) for branch in self.branches]
        return found

    def column(self, parsed: list[Parsed], found: list[Found]) -> Array:
        """The values of a column, row by row, and null where one does not fit."""
        parts = [
            one.array if index is None else self._take(one.array, index, branch.size)
            for branch, one, (_, index) in zip(self.branches, parsed, found, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        chunks = [
            c
            for part in parts
            for c in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])
        ]
        return pa.chunked_array(chunks).take(pa.array(self.order))

    def _take(self, array: Array, index: RowIndex, size: int) -> Array:
        """Take the values at rows of a node, null at -1; columns share the index of a parent."""
        if len(index) == 0 or len(array) == 0:
            return pa.nulls(size, array.type)
        given = self._indexes.get(id(index))
        if given is None:
            mask = index < 0
            converted = pa.array(index, mask=mask) if mask.any() else pa.array(index)
            given = self._indexes[id(index)] = index, converted
        return array.take(given[1])

    def read(self, declared: Column, cursor: Cursor) -> Parsed:
        """Parse all values at a cursor as a column reads them."""
        reading = declared.reading
        if reading is None:
            return Parsed(*cursor.to_arrow(declared.dtype), NO_ROWS)
        found = self._read.get((cursor, reading))
        if found is None:
            year = None if reading.year is None else self._first(reading.year)
            found = read_as(cursor.node, reading, cursor.level.size, year)
            self._read[cursor, reading] = found
        return found

    def _first(self, source: str) -> Any:
        """The first value of the answer at a path from its root."""
        cursor, _ = self.branches[0].find(source)
        return next(iter(cursor.values(cursor.rows[:1])), None)

    @property
    def is_filtered(self) -> bool:
        """Whether rows of its path may be left out."""
        return bool(self.table.rows.without or self.table.rows.only)

    def source_rows(self, found: list[Found]) -> tuple[RowIndex, RowIndex]:
        """For each row, the number of the cursor that has a column's value, and its row there."""
        which, there = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        for number, ((_, index), here) in enumerate(zip(found, self.numbers, strict=True)):
            which[here] = number
            there[here] = np.arange(len(here)) if index is None else index
        return which, there

    @cached_property
    def numbers(self) -> list[RowIndex]:
        """For each spelling of the path, the numbers of its rows in the table."""
        if len(self.branches) == 1:
            return [np.arange(self.size)]
        numbers = np.empty(self.size, np.int64)
        numbers[self.order] = np.arange(self.size)
        return np.split(numbers, np.cumsum([branch.size for branch in self.branches])[:-1])

    @cached_property
    def order(self) -> RowIndex:
        """The position of each row among those of all spellings, one spelling after the other."""
        keys = [branch.order for branch in self.branches]
        return np.lexsort([np.concatenate(one) for one in reversed(list(zip(*keys, strict=True)))])

    def unplaced(self, beyond: Iterable[str]) -> Iterator[tuple[Cursor, RowIndex]]:
        """Yield values that only rows of this table could hold, and none does.

        Such are the labels of an axis that is longer than its arrays, and fields of a record
        that encloses no row. ``beyond`` lists the sources of such fields.
        """
        rows = self.table.rows
        for number in range(len(rows.axes)):
            yield from _rest(self.find(f"@{len(rows.labels) - number - 1}"))
        for source in beyond:
            yield from _rest(self.find(source))

    def beyond(self) -> Iterator[tuple[Cursor, RowIndex]]:
        """Yield the elements of array rows at positions that are not declared."""
        names, header = len(self.table.rows.positional), self.table.rows.header
        for branch in self.branches if names or header is not None else ():
            elements = branch.cursor.each()
            known = [*range(names)]
            if header is not None:
                sources = [column.source or "" for column in self.table.columns]
                found = (branch.position_of(s[1:-1]) for s in sources if s[0] == "[")
                known = [position for position in found if position is not None]
            yield elements, np.flatnonzero(~np.isin(elements.level.positions, known))


def left_out(tables: Sequence[TableRows]) -> Iterator[tuple[Cursor, RowIndex]]:
    """Yield the values of rows that a filter drops and no other table reads."""
    filtered = [rows for rows in tables if rows.is_filtered]
    if not filtered:
        return
    taken: dict[Cursor, list[RowIndex]] = {}
    for rows in tables:
        for column in rows.table.columns:
            for cursor, index in rows.find(column.source or ""):
                here = np.arange(cursor.level.size) if index is None else index
                taken.setdefault(cursor, []).append(here)
    for rows in filtered:
        for column in rows.table.columns:
            if not column.is_label:
                for cursor, _ in rows.find(column.source or ""):
                    yield cursor, np.setdiff1d(cursor.rows, concat_rows(taken.get(cursor, [])))


def _rest(found: list[Found]) -> Iterator[tuple[Cursor, RowIndex]]:
    """Yield the values that no row reads."""
    for cursor in dict.fromkeys(cursor for cursor, _ in found):
        taken = [cursor.rows if index is None else index for one, index in found if one is cursor]
        yield cursor, np.setdiff1d(cursor.rows, np.concatenate(taken))


def held(index: RowMap, rows: RowIndex) -> RowIndex:
    """Intersect row numbers of a node with those that rows of the table read."""
    return rows if index is None or not len(rows) else np.unique(rows[np.isin(rows, index)])
