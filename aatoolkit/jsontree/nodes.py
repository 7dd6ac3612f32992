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

from aatoolkit.jsontree.chunks import Piece, count, filled, joined
from aatoolkit.jsontree.decode import MAX_DEPTH, Miscut, Unsure
from aatoolkit.jsontree.grouping import Places, Rows, codes_of, grouped, looked_up, numbers, pick
from aatoolkit.jsontree.keyed import Traits

Task = tuple["Place", list[Any], Rows, int]
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


class Place:
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
        self.scalars: dict[str, list[Piece]] = {}
        self.record: Record | None = None
        self.items: Child | None = None
        self.entries: Child | None = None
        self.traits: Traits | None = None
        self.was_keyed: bool | None = None

    def grow(self, values: list[Any], rows: Rows, depth: int) -> int:
        """Take in values and all that lies below them.

        Returns how many keys the objects among them have.

        Raises
        ------
        Unsure
            If they are nested too deep.
        Miscut
            If objects look like rows of a table in one chunk and not in another.
        """
        waiting: list[Task] = [(self, values, rows, depth)]
        members = 0
        while waiting:
            place, values, rows, depth = waiting.pop()
            members += place._take(values, rows, depth, waiting)
        return members

    def _take(self, values: list[Any], rows: Rows, depth: int, waiting: list[Task]) -> int:
        self.rows.append(rows)
        if self.scalars.keys() == {STRING} and not (self.record or self.items or self.entries):
            # Only text so far: Arrow itself refuses what is neither text nor null.
            try:
                self.keep(STRING, _array(values, STRING), rows)
            except pa.ArrowTypeError:
                pass
            else:
                return 0
        kinds = set(map(type, values))
        if len(kinds) == 1 or (_NULL in kinds and len(kinds) == 2 and not kinds & {dict, list}):
            kinds.discard(_NULL)
            return self._take_kind(kinds.pop(), values, rows, depth, waiting) if kinds else 0
        return self._take_mixed(values, kinds, rows, depth, waiting)

    @property
    def is_settled(self) -> bool:
        """Whether objects stay fields, whatever more come that have no other fields and kinds."""
        pinned = self.layout is not None and self.layout.keyed is not None
        return pinned or (self.traits is not None and self.traits.are_settled)

    @property
    def nulls(self) -> Places:
        """The rows in which there is null."""
        held = [filled(piece)[1] for pieces in self.scalars.values() for piece in pieces]
        held += [joined(self.record.rows)] if self.record else []
        for child in (self.items, self.entries):
            held += [numbers(rows) for _, rows in child.lengths] if child else []
        there = joined(self.rows)
        return np.setdiff1d(there, np.concatenate(held)) if held else there

    @property
    def null_count(self) -> int:
        """In how many rows there is null."""
        pieces = [*chain.from_iterable(self.scalars.values())]
        for child in (self.items, self.entries):
            pieces += child.lengths if child else []
        held = sum(len(array) - array.null_count for array, _ in pieces)
        objects = count(self.record.rows) if self.record else 0
        return count(self.rows) - int(held) - objects

    def array(self, path: tuple[str, ...]) -> Child:
        """The array at the end of some fields of the document, each an object but the last.

        Raises
        ------
        Miscut
            If one of the objects is not told by fields but by rows.
        """
        place = self
        for key in path:
            if place.record is None:
                raise Miscut
            place = place.record.fields[key]
        if place.items is None:
            raise LookupError("there is no array at the end of the path")
        return place.items

    def _take_mixed(
        self, values: list[Any], kinds: set[type], rows: Rows, depth: int, waiting: list[Task]
    ) -> int:
        codes = looked_up(_CODES, list(map(type, values)))
        objects = np.fromiter(values, object, len(values))
        members = 0
        for kind in kinds - {_NULL}:
            at = np.flatnonzero(codes == _CODES[kind])
            if kind in _SCALARS and 2 * len(at) > len(values):
                # The rule, with exceptions: they are left out in place, and no row is moved.
                ruled = objects.copy()
                ruled[codes != _CODES[kind]] = None
                self._take_kind(kind, ruled.tolist(), rows, depth, waiting)
            else:
                found = objects[at].tolist()
                members += self._take_kind(kind, found, pick(rows, at), depth, waiting)
        return members

    def _take_kind(
        self, kind: type, values: list[Any], rows: Rows, depth: int, waiting: list[Task]
    ) -> int:
        if kind is dict or kind is list:
            if depth >= MAX_DEPTH:
                raise Unsure
            take = self._take_objects if kind is dict else self._take_arrays
            return take(values, rows, depth + 1, waiting)
        name = _SCALARS[kind]
        try:
            self.keep(name, _array(values, name), rows)
        except (OverflowError, pa.ArrowInvalid):
            fits = np.fromiter((v is None or -(2**63) <= v < 2**63 for v in values), bool)
            at, beyond = np.flatnonzero(fits), np.flatnonzero(~fits)
            self.keep(INTEGER, _array([values[i] for i in at], INTEGER), pick(rows, at))
            self.keep(BIG, _array([str(values[i]) for i in beyond], BIG), pick(rows, beyond))
        return 0

    def keep(self, kind: str, array: pa.Array, rows: Rows) -> None:
        """Add scalars of one kind, and null, to those that are here; their rows are known."""
        if len(array) > array.null_count:
            self.scalars.setdefault(kind, []).append((array, rows))

    def _take_arrays(
        self, arrays: list[list[Any]], rows: Rows, depth: int, waiting: list[Task]
    ) -> int:
        if self.items is None:
            self.items = Child(place=Place(self.layout and self.layout.each))
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        values = list(chain.from_iterable(arrays))
        waiting += self.items.take(values, lengths, rows, depth)
        return 0

    def _take_objects(
        self, objects: list[dict[str, Any]], rows: Rows, depth: int, waiting: list[Task]
    ) -> int:
        keys = list(chain.from_iterable(objects))
        values = list(chain.from_iterable(map(dict.values, objects)))
        first = list(objects[0])
        regular = keys == first * len(objects)
        codes = None if regular else codes_of(keys)
        counts = dict.fromkeys(first, len(objects)) if codes is None else codes.counts
        if self._keyed(counts, len(objects), values):
            if self.entries is None:
                self.entries = Child(keys=[], place=Place(self.layout and self.layout.entries))
            lengths = np.fromiter(map(len, objects), np.int64, len(objects))
            waiting += self.entries.take(values, lengths, rows, depth, keys)
        else:
            if self.record is None:
                self.record = Record(self.layout.fields if self.layout else {})
            self.record.rows.append(rows)
            if codes is None:
                groups = [(key, values[n :: len(first)], rows) for n, key in enumerate(first)]
            else:
                groups = grouped(objects, codes, values, rows)
            waiting += self.record.take(groups, depth)
        return len(keys)

    def _keyed(self, counts: dict[str, int], objects: int, values: list[Any]) -> bool:
        if self.layout is not None and self.layout.keyed is not None:
            return self.layout.keyed
        self.traits = self.traits or Traits()
        self.traits.see(counts, objects, values)
        keyed = self.traits.keyed()
        if self.was_keyed is (not keyed):
            raise Miscut
        self.was_keyed = keyed
        return keyed


@dataclass
class Record:
    """Objects as fields: the rows they are in, and the place of each field."""

    layouts: Mapping[str, Layout] = field(default_factory=dict)
    rows: list[Rows] = field(default_factory=list)
    fields: dict[str, Place] = field(default_factory=dict)

    def take(self, groups: list[tuple[str, list[Any], Rows]], depth: int) -> Iterator[Task]:
        """What the places of the fields are to take in."""
        for key, values, rows in groups:
            if key not in self.fields:
                self.fields[key] = Place(self.layouts.get(key))
            yield self.fields[key], values, rows, depth


@dataclass
class Child:
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

    lengths: list[Piece] = field(default_factory=list)
    parents: list[pa.Array] = field(default_factory=list)
    positions: list[pa.Array] = field(default_factory=list)
    keys: list[pa.Array] | None = None
    place: Place = field(default_factory=Place)
    size: int = 0

    def take(
        self,
        values: list[Any],
        lengths: Places,
        rows: Rows,
        depth: int,
        keys: list[str] | None = None,
    ) -> list[Task]:
        """Take in elements or entries, so many of each row of the parent; what is left to do."""
        below = self.open(lengths, rows)
        if self.keys is not None:
            self.keys.append(_array(keys, STRING))
        return [(self.place, values, below, depth)] if values else []

    def open(self, lengths: Places, rows: Rows) -> range:
        """Make rows, so many of each row of the parent."""
        ends = np.cumsum(lengths)
        more = int(ends[-1]) if len(ends) else 0
        self.lengths.append((pa.array(lengths.astype(np.int32)), rows))
        self.parents.append(pa.array(np.repeat(numbers(rows), lengths)))
        self.positions.append(_int32(np.arange(more) - np.repeat(ends - lengths, lengths)))
        return self._rows(more)

    def extend(self, values: list[Any], depth: int) -> int:
        """Take in more elements of the only array there is; how many keys their objects have."""
        return self.place.grow(values, self.append(len(values)), depth)

    def append(self, more: int) -> range:
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


def _int32(places: Places) -> pa.Array:
    return pa.array(places.astype(np.int32))
