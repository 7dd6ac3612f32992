"""A document as a tree of places, each with all the values that stand there.

Values come level by level: all values at one place, from all rows, are taken in at once, so that
the work on a row is done by loops in C. A long array may come in chunks, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.chunks import ColumnChunk, concat_rows, row_count, without_nulls
from aatoolkit.jsontree.decode import MAX_DEPTH, InexactParse, SplitError
from aatoolkit.jsontree.grouping import (
    RowIndex,
    Rows,
    encode_keys,
    group_by_key,
    lookup_codes,
    row_numbers,
    select_rows,
)
from aatoolkit.jsontree.keyed import KeyTraits

Pending = tuple["Node", list[Any], Rows, int]
"""Values that a place has still to take in: the place, they, their rows, and how deep they lie."""

INTEGER, BIG, NUMBER, STRING, BOOLEAN = "integer", "big", "number", "string", "boolean"
ARROW = {
    INTEGER: pa.int64(),
    BIG: pa.string(),
    NUMBER: pa.float64(),
    STRING: pa.string(),
    BOOLEAN: pa.bool_(),
}
"""The Arrow type of each kind of scalar; integers beyond 64 bits are decimal text."""

POOL = pa.system_memory_pool()
"""An array is built with room to spare; where Arrow takes memory else, the room stays taken."""

_NULL = type(None)
_SCALARS = {int: INTEGER, float: NUMBER, str: STRING, bool: BOOLEAN}
_CODES = {_NULL: 0, bool: 1, int: 2, float: 3, str: 4, dict: 5, list: 6}


class Layout(Protocol):
    """Which objects are rows with a key, where that is known beforehand."""

    @property
    def keyed(self) -> bool | None:
        """Whether objects are rows with a key, or fields; None leaves it to their looks."""

    @property
    def fields(self) -> Mapping[str, Layout]:
        """The same of what lies in fields."""

    @property
    def each(self) -> Layout | None:
        """The same of the elements of arrays."""

    @property
    def entries(self) -> Layout | None:
        """The same of the entries of objects that are rows with a key."""


class Node:
    """One place in the rows of a table, and what stands there.

    Attributes
    ----------
    rows : list of rows
        The rows in which there is anything, null included.
    scalars : dict of str to list of pieces
        Booleans, numbers and strings, by kind; Arrow's nulls are JSON's.
    record : Record or None
        Objects as fields.
    items, entries : Child or None
        Arrays, and objects whose keys are data, as rows of a table of their own.
    """

    __slots__ = ("entries", "items", "layout", "record", "rows", "scalars", "traits", "was_keyed")

    def __init__(self, layout: Layout | None = None) -> None:
        self.layout = layout
        self.rows: list[Rows] = []
        self.scalars: dict[str, list[ColumnChunk]] = {}
        self.record: Record | None = None
        self.items: ChildTable | None = None
        self.entries: ChildTable | None = None
        self.traits: KeyTraits | None = None
        self.was_keyed: bool | None = None

    def add_values(self, values: list[Any], rows: Rows, depth: int) -> int:
        """Take in values and all that lies below them.

        Returns how many keys the objects among them have.

        Raises
        ------
        Unsure
            If they are nested too deep.
        SplitError
            If objects look like rows of a table in one chunk and not in another.
        """
        pending: list[Pending] = [(self, values, rows, depth)]
        members = 0
        while pending:
            node, values, rows, depth = pending.pop()
            members += node._take(values, rows, depth, pending)
        return members

    def _take(self, values: list[Any], rows: Rows, depth: int, pending: list[Pending]) -> int:
        self.rows.append(rows)
        if self.scalars.keys() == {STRING} and not (self.record or self.items or self.entries):
            # Only text so far: Arrow itself refuses what is neither text nor null.
            try:
                self.add_scalars(STRING, _array(values, STRING), rows)
            except pa.ArrowTypeError:
                pass
            else:
                return 0
        kinds = set(map(type, values))
        if len(kinds) == 1 or (_NULL in kinds and len(kinds) == 2 and not kinds & {dict, list}):
            kinds.discard(_NULL)
            return self._add_kind(kinds.pop(), values, rows, depth, pending) if kinds else 0
        return self._add_mixed(values, kinds, rows, depth, pending)

    @property
    def is_settled(self) -> bool:
        """Whether objects stay fields, whatever more come that have no other fields and kinds."""
        pinned = self.layout is not None and self.layout.keyed is not None
        return pinned or (self.traits is not None and self.traits.are_settled)

    @property
    def nulls(self) -> RowIndex:
        """The rows in which there is null."""
        held = [without_nulls(chunk)[1] for chunks in self.scalars.values() for chunk in chunks]
        held += [concat_rows(self.record.rows)] if self.record else []
        for child in (self.items, self.entries):
            held += [row_numbers(rows) for _, rows in child.lengths] if child else []
        there = concat_rows(self.rows)
        return np.setdiff1d(there, np.concatenate(held)) if held else there

    @property
    def null_count(self) -> int:
        """In how many rows there is null."""
        chunks = [*chain.from_iterable(self.scalars.values())]
        for child in (self.items, self.entries):
            chunks += child.lengths if child else []
        held = sum(len(array) - array.null_count for array, _ in chunks)
        objects = row_count(self.record.rows) if self.record else 0
        return row_count(self.rows) - int(held) - objects

    def array_at(self, path: tuple[str, ...]) -> ChildTable:
        """The array at the end of some fields of the document, each an object but the last.

        Raises
        ------
        SplitError
            If one of the objects is not told by fields but by rows.
        """
        node = self
        for key in path:
            if node.record is None:
                raise SplitError
            node = node.record.fields[key]
        if node.items is None:
            raise LookupError("there is no array at the end of the path")
        return node.items

    def _add_mixed(
        self, values: list[Any], kinds: set[type], rows: Rows, depth: int, pending: list[Pending]
    ) -> int:
        codes = lookup_codes(_CODES, list(map(type, values)))
        objects = np.fromiter(values, object, len(values))
        members = 0
        for kind in kinds - {_NULL}:
            at = np.flatnonzero(codes == _CODES[kind])
            if kind in _SCALARS and 2 * len(at) > len(values):
                # The rule, with exceptions: they are left out in place, and no row is moved.
                ruled = objects.copy()
                ruled[codes != _CODES[kind]] = None
                self._add_kind(kind, ruled.tolist(), rows, depth, pending)
            else:
                found = objects[at].tolist()
                members += self._add_kind(kind, found, select_rows(rows, at), depth, pending)
        return members

    def _add_kind(
        self, kind: type, values: list[Any], rows: Rows, depth: int, pending: list[Pending]
    ) -> int:
        if kind is dict or kind is list:
            if depth >= MAX_DEPTH:
                raise InexactParse
            take = self._add_objects if kind is dict else self._add_arrays
            return take(values, rows, depth + 1, pending)
        name = _SCALARS[kind]
        try:
            self.add_scalars(name, _array(values, name), rows)
        except (OverflowError, pa.ArrowInvalid):
            fits = np.fromiter((v is None or -(2**63) <= v < 2**63 for v in values), bool)
            at, beyond = np.flatnonzero(fits), np.flatnonzero(~fits)
            self.add_scalars(
                INTEGER, _array([values[i] for i in at], INTEGER), select_rows(rows, at)
            )
            self.add_scalars(
                BIG, _array([str(values[i]) for i in beyond], BIG), select_rows(rows, beyond)
            )
        return 0

    def add_scalars(self, kind: str, array: pa.Array, rows: Rows) -> None:
        """Add scalars of one kind, and null, to those that are here; their rows are known."""
        if len(array) > array.null_count:
            self.scalars.setdefault(kind, []).append((array, rows))

    def _add_arrays(
        self, arrays: list[list[Any]], rows: Rows, depth: int, pending: list[Pending]
    ) -> int:
        if self.items is None:
            self.items = ChildTable(node=Node(self.layout and self.layout.each))
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        values = list(chain.from_iterable(arrays))
        pending += self.items.add_rows(values, lengths, rows, depth)
        return 0

    def _add_objects(
        self, objects: list[dict[str, Any]], rows: Rows, depth: int, pending: list[Pending]
    ) -> int:
        keys = list(chain.from_iterable(objects))
        values = list(chain.from_iterable(map(dict.values, objects)))
        first = list(objects[0])
        regular = keys == first * len(objects)
        codes = None if regular else encode_keys(keys)
        counts = dict.fromkeys(first, len(objects)) if codes is None else codes.counts
        if self._keyed(counts, len(objects), values):
            if self.entries is None:
                self.entries = ChildTable(keys=[], node=Node(self.layout and self.layout.entries))
            lengths = np.fromiter(map(len, objects), np.int64, len(objects))
            pending += self.entries.add_rows(values, lengths, rows, depth, keys)
        else:
            if self.record is None:
                self.record = Record(self.layout.fields if self.layout else {})
            self.record.rows.append(rows)
            if codes is None:
                groups = [(key, values[n :: len(first)], rows) for n, key in enumerate(first)]
            else:
                groups = group_by_key(objects, codes, values, rows)
            pending += self.record.add_fields(groups, depth)
        return len(keys)

    def _keyed(self, counts: dict[str, int], objects: int, values: list[Any]) -> bool:
        if self.layout is not None and self.layout.keyed is not None:
            return self.layout.keyed
        self.traits = self.traits or KeyTraits()
        self.traits.see(counts, objects, values)
        keyed = self.traits.keyed()
        if self.was_keyed is (not keyed):
            raise SplitError
        self.was_keyed = keyed
        return keyed


@dataclass
class Record:
    """Objects as fields: the rows they are in, and the place of each field."""

    layouts: Mapping[str, Layout] = field(default_factory=dict)
    rows: list[Rows] = field(default_factory=list)
    fields: dict[str, Node] = field(default_factory=dict)

    def add_fields(
        self, groups: list[tuple[str, list[Any], Rows]], depth: int
    ) -> Iterator[Pending]:
        """What the places of the fields are to take in."""
        for key, values, rows in groups:
            if key not in self.fields:
                self.fields[key] = Node(self.layouts.get(key))
            yield self.fields[key], values, rows, depth


@dataclass
class ChildTable:
    """A table below a place: one row for each element of its arrays, or entry of its objects.

    Attributes
    ----------
    lengths : list of pieces
        How many rows each row of the parent has.
    parents, positions, keys : lists
        For each row, the parent's row; its position in the array; its key in the object.
    place : Place
        What the elements are.
    size : int
        The number of rows.
    """

    lengths: list[ColumnChunk] = field(default_factory=list)
    parents: list[pa.Array] = field(default_factory=list)
    positions: list[pa.Array] = field(default_factory=list)
    keys: list[pa.Array] | None = None
    node: Node = field(default_factory=Node)
    size: int = 0

    def add_rows(
        self,
        values: list[Any],
        lengths: RowIndex,
        rows: Rows,
        depth: int,
        keys: list[str] | None = None,
    ) -> list[Pending]:
        """Take in elements or entries, so many of each row of the parent; what is left to do."""
        below = self.open_rows(lengths, rows)
        if self.keys is not None:
            self.keys.append(_array(keys, STRING))
        return [(self.node, values, below, depth)] if values else []

    def open_rows(self, lengths: RowIndex, rows: Rows) -> range:
        """Make rows, so many of each row of the parent."""
        ends = np.cumsum(lengths)
        more = int(ends[-1]) if len(ends) else 0
        self.lengths.append((pa.array(lengths.astype(np.int32)), rows))
        self.parents.append(pa.array(np.repeat(row_numbers(rows), lengths)))
        self.positions.append(_int32(np.arange(more) - np.repeat(ends - lengths, lengths)))
        return self._rows(more)

    def extend(self, values: list[Any], depth: int) -> int:
        """Take in more elements of the only array there is; how many keys their objects have."""
        return self.node.add_values(values, self.append_rows(len(values)), depth)

    def append_rows(self, more: int) -> range:
        """Make more rows, elements of the only array there is."""
        ((_, rows),) = self.lengths
        self.parents.append(pa.array(np.zeros(more, np.int64)))
        self.positions.append(_int32(np.arange(self.size, self.size + more)))
        self.lengths = [(pa.array([self.size + more], pa.int32()), rows)]
        return self._rows(more)

    def _rows(self, more: int) -> range:
        self.size += more
        return range(self.size - more, self.size)


def _array(values: Sequence[Any] | None, kind: str) -> pa.Array:
    """Scalars of one kind as an Arrow array."""
    return pa.array(values, ARROW[kind], memory_pool=POOL)


def _int32(nodes: RowIndex) -> pa.Array:
    return pa.array(nodes.astype(np.int32))
