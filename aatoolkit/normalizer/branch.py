"""The rows of a declared table at one path, and where the values of their columns are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.chunks import concat_rows
from aatoolkit.jsontree.coerce import rows_of_other_kinds
from aatoolkit.jsontree.cursor import Cursor, RowLevel, RowMap, compose_index, constant_key
from aatoolkit.jsontree.decode import is_json_value
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.nodes import Node
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, parse_path
from aatoolkit.sections.row_shapes import Scalar
from aatoolkit.sections.section import Table

Found = tuple[Cursor, RowMap]
"""Where the values of a column are, and for each row of its table the row of its value."""

_SIGNS = frozenset("$@^#[&.")
"""What a source begins with that is no path from the row itself."""

_Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Branch:
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
        if table.rows.without or table.rows.only:
            self.picked = self._filtered()
        self.size = self.cursor.level.size if self.picked is None else len(self.picked)

    def _picked(self, table: Table) -> RowMap:
        """The rows of the level that are rows of the table; None if all are.

        They are arrays of positions, objects, or any where no field is read or the row itself is.
        """
        sources = [declared.source or "" for declared in table.columns]
        arrays = bool(table.rows.positional) or table.rows.header is not None
        whole = "." in sources or all(s[0] in "^@#$&" for s in sources)
        if table.rows.one:
            return self._given(sources)
        if not arrays and whole:
            return None
        node = self.cursor.node
        if node is None:
            return np.empty(0, np.int64)
        if arrays:
            rows = [there for _, there in node.items.lengths] if node.items else []
        else:
            rows = node.record.rows if node.record else []
            rows = rows + [there for _, there in (node.entries.lengths if node.entries else [])]
        found = np.sort(concat_rows(rows))
        return None if len(found) == self.cursor.level.size else found

    def _given(self, sources: list[str]) -> RowMap:
        """The answers that have the object of a single row, or a field of it; None if all do.

        What encloses the answer, such as its domain, is no row by itself.
        """
        own = [self.cursor] if self.rows.steps else []
        own += [self.cursor.descend(parse_path(s)) for s in sources if s[0] not in _SIGNS]
        found = np.unique(concat_rows([each.rows for each in own])) if own else None
        return None if found is None or len(found) == self.cursor.level.size else found

    def _filtered(self) -> RowMap:
        """The picked rows that pass the table's filters."""
        size = self.cursor.level.size if self.picked is None else len(self.picked)
        keep = np.ones(size, np.bool_)
        for chosen, wanted in ((self.rows.without, False), (self.rows.only, True)):
            for source, values in chosen:
                keep &= _has(*self.find(source), values) == wanted
        return np.flatnonzero(keep) if self.picked is None else self.picked[keep]

    @property
    def field_absent(self) -> int | None:
        """The number of the first field on the way to the rows that is lacking."""
        for at, (given, cursor) in enumerate(zip(self.rows.steps, self.cursors[1:], strict=True)):
            if isinstance(given, Field) and cursor.field_absent:
                return at
        return None

    @property
    def is_null(self) -> bool:
        """Whether null is on the way to the rows."""
        return any(
            isinstance(given, Field) and cursor.is_null
            for given, cursor in zip(self.rows.steps, self.cursors[1:], strict=True)
        )

    @property
    def order(self) -> list[RowIndex]:
        """The sort keys that interleave the rows of several branches: place and branch number."""
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
        """Find the values of a column by its source: a cursor, and for each row its row there."""
        if source[0] not in _SIGNS:
            return self.cursor.descend(parse_path(source)), self.picked
        if source[0] == "$":
            cursor = self.cursors[0].descend(parse_path(source))
            one = self.cursors[0].level.size == 1
            return cursor, np.zeros(self._row_count, np.int64) if one else self._up(0)
        if source[0] == "@":
            return self._label(int(source[1:]))
        cursor, index = self.cursor, self.picked
        while source.startswith("^"):
            (cursor, index), source = _enclosing_record(cursor, index), source[1:]
        if source[0] == "#":
            return cursor.level.position_cursor(int(source[1:])), index
        if source.startswith("["):
            return self._position(cursor, source[1:-1], index)
        if source[0] == "&":
            return self._beside(source[1:])
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
        path = self.rows.axes[axis]
        around = _common_rows(self.rows.steps, path)
        labels = self.cursors[around].descend((*path[around:], Each()))
        return labels, _aligned(labels, self._up(around), self._positions_at(at))

    def _beside(self, path: str) -> Found:
        """Find a column in another array of the object that holds the rows' array."""
        around = len(self.cursors) - 1 - self.rows.beside
        elements, index = self.cursors[around].descend(parse_path(path)), self._up(around)
        for at, step in enumerate(self.rows.steps[-self.rows.beside :], around + 1):
            if isinstance(step, Each):
                elements = elements.descend((Each(),))
                index = _aligned(elements, index, self._positions_at(at))
        return elements, index

    def _positions_at(self, at: int) -> RowIndex:
        """For each row, its position in the array whose elements are at an earlier cursor."""
        level = self.cursors[at].level
        found = compose_index(self._up(at), level.positions)
        assert found is not None
        return found

    @property
    def _row_count(self) -> int:
        return self.cursor.level.size if self.picked is None else len(self.picked)

    @cached_property
    def header(self) -> dict[str, int]:
        """The positions that the header names, by name."""
        if self.rows.header is None:
            return {}
        names = self.cursors[0].descend(self.rows.header)
        there = names.rows
        found: dict[str, int] = {}
        for name, position in zip(names.values(there), names.level.positions[there], strict=True):
            if isinstance(name, str):
                found.setdefault(name, int(position))
        return found

    def position_of(self, name: str) -> int | None:
        """The position that a source of a row that is an array means; None if it has none."""
        return int(name) if self.rows.header is None else self.header.get(name)

    def _position(self, cursor: Cursor, name: str, index: RowMap) -> Found:
        position = self.position_of(name)
        if position is None:
            return Cursor(cursor.level, None, cursor.tail, True), index
        return _position(cursor, position, index)

    def _up(self, at: int) -> RowMap:
        """For each row, its row in the level of an earlier cursor."""
        level, index = self.cursor.level, self.picked
        while level is not self.cursors[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index


def _computed_rows(cursor: Cursor, table: str, function: Callable[[Any], Iterable[Any]]) -> Cursor:
    """A cursor over the rows that a function computes from the values at a node."""
    there = cursor.rows if cursor.node is None else np.setdiff1d(cursor.rows, cursor.node.nulls)
    try:
        found = [[dict(row) for row in function(value)] for value in cursor.values(there)]
        if not is_json_value(found):
            raise TypeError("not all of them are made of JSON values")
    except Exception as error:
        problem = f"the rows of {table} could not be made: {type(error).__name__}: {error}"
    else:
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        child = ChildTable(Node())
        for node, values, rows, depth in child.add_rows(list(chain(*found)), lengths, there, 0):
            node.add_values(values, rows, depth)
        return RowLevel.open(child, cursor, computed=True)
    raise PayloadError(problem, problems=[f"{problem} @ {cursor.path(0)}"])


def _enclosing_record(cursor: Cursor, index: RowMap) -> Found:
    """The cursor of the record one array up, and for each row its row there."""
    level, first = cursor.level, not cursor.tail
    while first or not level.in_array:
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, first = compose_index(index, level.parents), level.above.level, False
    return level.element, index


def _position(cursor: Cursor, node: int, index: RowMap) -> Found:
    """The elements at one place of the arrays at a node."""
    elements = cursor.each()
    there = np.flatnonzero(elements.level.positions == node)
    by_array = np.full(cursor.level.size, -1, np.int64)
    by_array[elements.level.parents[there]] = there
    return elements, compose_index(index, by_array)


def _common_rows(steps: tuple[Step, ...], path: tuple[Step, ...]) -> int:
    """Count the leading steps of a path to rows that another path shares, up to a row."""
    around = 0
    for at, (one, other) in enumerate(zip(steps, path, strict=False), 1):
        if one != other:
            break
        if not isinstance(one, Field):
            around = at
    return around


def _aligned(elements: Cursor, parents: RowMap, positions: RowIndex) -> RowIndex:
    """For each row and position in its array, the row of that element; -1 where none is."""
    level = elements.level
    if not level.size:
        return np.full(len(positions), -1, np.int64)
    order = (
        None if (np.diff(level.parents) >= 0).all() else np.argsort(level.parents, kind="stable")
    )
    rising = level.parents if order is None else level.parents[order]
    above = np.arange(len(positions)) if parents is None else parents
    found = np.searchsorted(rising, above) + positions
    there = found < np.searchsorted(rising, above, "right")
    found = np.where(there, found, 0)
    return np.where(there, found if order is None else order[found], -1)


def _has(cursor: Cursor, index: RowMap, values: tuple[Scalar, ...]) -> _Mask:
    """For each row, whether its value at a cursor is one of some values."""
    mask = np.zeros(cursor.level.size, np.bool_)
    kinds = (
        ("string", [v for v in values if isinstance(v, str)]),
        ("boolean", [v for v in values if isinstance(v, bool)]),
        ("Float64", [float(v) for v in values if type(v) in (int, float) and v is not None]),
    )
    for dtype, wanted in kinds:
        if wanted:
            array, _ = cursor.to_arrow(dtype)
            array = pc.is_in(array, pa.array(wanted, array.type))
            mask |= array.to_numpy(zero_copy_only=False)
    if None in values:
        there = rows_of_other_kinds(cursor.node, frozenset()) if cursor.node else []
        nothing = np.ones(cursor.level.size, np.bool_)
        nothing[concat_rows(there)] = False
        mask |= nothing
    if index is None:
        return mask
    found: _Mask = np.where(index >= 0, mask[index] if len(mask) else False, None in values)
    return found
