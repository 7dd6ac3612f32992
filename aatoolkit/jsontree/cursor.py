"""All values at one path of a document, in columns: a walk through the tree of its places.

A `Level` is rows that many values lead to: the document's own, the elements of arrays, the
entries of objects. A `Spot` is one place in the rows of a level. Going from spot to spot costs
the same for one row as for a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.chunks import count, joined
from aatoolkit.jsontree.coerce import Array, column
from aatoolkit.jsontree.grouping import Places
from aatoolkit.jsontree.nodes import INTEGER, STRING, Child, Place
from aatoolkit.jsontree.paths import Each, Field, Step
from aatoolkit.jsontree.values import first_leaf, values
from aatoolkit.jsontree.vectors import KEYS, step

Index = Places | None
"""For each row the row of a level, -1 for none; None where the two are the same."""


class Level:
    """The rows of one table of the tree.

    Parameters
    ----------
    child : Child
        The rows.
    above : Spot or None
        The place whose arrays or objects they are; None for the document itself.
    made : bool
        Whether a function made them of what stands there.
    """

    def __init__(self, child: Child, above: Spot | None = None, made: bool = False) -> None:
        self.made = made
        self.child = child
        self.size = child.size
        # A document holds what is below; circles would hold its data long after their use.
        self._above = None if above is None else ref(above)
        self._element: ref[Spot] | None = None

    @staticmethod
    def begin(child: Child, above: Spot | None = None, made: bool = False) -> Spot:
        """The elements, or entries, that new rows are: who wants the rows holds these."""
        level = Level(child, above, made)
        spot = Spot(level, child.place)
        level._element = ref(spot)
        return spot

    @property
    def element(self) -> Spot:
        """The elements, or entries, that the rows are."""
        return _held(self._element)

    @property
    def above(self) -> Spot | None:
        """The place whose arrays or objects the rows are; None for the document itself."""
        return None if self._above is None else _held(self._above)

    @property
    def in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self.above is not None and self.child.keys is None and not self.made

    @cached_property
    def parents(self) -> Places:
        """For each row, that of the level above."""
        return _numbers(self.child.parents)

    @cached_property
    def positions(self) -> Places:
        """For each row, its place in the array or object."""
        return _numbers(self.child.positions)

    @cached_property
    def keys(self) -> pa.Array:
        """For each row, its key in the object."""
        return pa.concat_arrays(self.child.keys or [pa.array([], pa.string())])

    @property
    def labels(self) -> Spot:
        """The keys of the rows as values of their own."""
        return Spot(self, _texts(self.keys), (KEYS,))

    def numbered(self, first: int) -> Spot:
        """The positions of the rows as values of their own, counted from a number."""
        place = Place()
        rows = range(self.size)
        place.rows = [rows]
        place.scalars[INTEGER] = [(pa.array(self.positions + first, pa.int64()), rows)]
        return Spot(self, place)

    def path(self, row: int) -> str:
        """The JSON path of one row."""
        if self.above is None:
            return "$"
        above = self.above.path(int(self.parents[row]))
        if self.child.keys is None:
            return f"{above}[{self.positions[row]}]"
        return above + step(self.keys[row].as_py())


class Spot:
    """One place in the rows of a level.

    Parameters
    ----------
    level : Level
        The rows.
    place : Place or None
        What stands there; None if nothing does.
    tail : tuple of str
        The fields that lead there from a row.
    lacking : bool
        Whether there are objects that could hold it, and none has the field.

    Examples
    --------
    >>> from aatoolkit.jsontree.arrow_tables import grow
    >>> document = Spot.of(grow({"a": [{"b": 1}, {}]}).place)
    >>> found = document.field("a").each().field("b")
    >>> found.rows.tolist(), found.path(0), found.field("c").lacking
    ([0], '$.a[0].b', False)
    """

    __slots__ = ("__weakref__", "_below", "_typed", "lacking", "level", "place", "tail")

    def __init__(
        self, level: Level, place: Place | None, tail: tuple[str, ...] = (), lacking: bool = False
    ) -> None:
        self.level = level
        self.place = place
        self.tail = tail
        self.lacking = lacking
        self._below: dict[object, Spot] = {}
        self._typed: dict[str, tuple[Array, Places]] = {}

    @staticmethod
    def of(document: Place) -> Spot:
        """The spot of a whole document."""
        return Level.begin(Child(place=document, size=1))

    def field(self, name: str) -> Spot:
        """A field of the objects here, in the same rows."""
        found = self._below.get(name)
        if found is None:
            record = self.place.record if self.place else None
            place = record.fields.get(name) if record else None
            lacking = self.lacking if record is None else place is None
            found = self._below[name] = Spot(self.level, place, (*self.tail, name), lacking)
        return found

    def each(self) -> Spot:
        """The elements of the arrays here; what is no array has none."""
        return self._child(Ellipsis, self.place.items if self.place else None, None)

    def entries(self) -> Spot:
        """The entries of the objects here whose keys are data."""
        return self._child(None, self.place.entries if self.place else None, [])

    def _child(self, sign: object, child: Child | None, keys: list[pa.Array] | None) -> Spot:
        found = self._below.get(sign)
        if found is None:
            found = self._below[sign] = Level.begin(child or Child(keys=keys), self)
        return found

    def under(self, steps: tuple[Step, ...]) -> Spot:
        """The spot some steps below."""
        spot = self
        for one in steps:
            if isinstance(one, Field):
                spot = spot.field(one.name)
            else:
                spot = spot.each() if isinstance(one, Each) else spot.entries()
        return spot

    def fields(self) -> Iterator[str]:
        """The names of the fields of the objects here."""
        return iter(self.place.record.fields if self.place and self.place.record else ())

    @property
    def rows(self) -> Places:
        """The rows in which there is anything, null included."""
        return np.sort(joined(self.place.rows)) if self.place else np.empty(0, np.int64)

    @property
    def is_null(self) -> bool:
        """Whether something is here, and it is null alone."""
        place = self.place
        return (
            place is not None
            and bool(count(place.rows))
            and not (place.scalars or place.record or place.items or place.entries)
        )

    def typed(self, dtype: str) -> tuple[Array, Places]:
        """What stands here as an array of a dtype, and the rows whose value does not fit it."""
        found = self._typed.get(dtype)
        if found is None:
            found = self._typed[dtype] = column(self.place, dtype, self.level.size)
        return found

    def values(self, rows: Places) -> list[Any]:
        """What stands in some rows, as JSON values."""
        return values(self.place, rows) if self.place and len(rows) else []

    def first_leaf(self, row: int) -> Any:
        """The first value that is no container, or empty container, of what stands in a row."""
        return None if self.place is None else first_leaf(self.place, row)

    def path(self, row: int) -> str:
        """The JSON path of the value in one row; of a key, that of its value and a sign."""
        tail = (KEYS if name == KEYS else step(name) for name in self.tail)
        return self.level.path(row) + "".join(tail)


def _held(found: ref[Spot] | None) -> Spot:
    spot = None if found is None else found()
    if spot is None:
        raise LookupError("the document of these rows is no longer held by anybody")
    return spot


def labelled(spot: Spot, name: str) -> Spot:
    """The name of a field as a value in each row of its objects."""
    place = _texts(pa.array([name], pa.string()).take(pa.array(np.zeros(spot.level.size, np.int8))))
    return Spot(spot.level, place, (*spot.tail, KEYS))


def _texts(array: pa.Array) -> Place:
    place, rows = Place(), range(len(array))
    place.rows = [rows]
    place.scalars[STRING] = [(array, rows)]
    return place


def _numbers(pieces: list[pa.Array]) -> Places:
    if not pieces:
        return np.empty(0, np.int64)
    found: Places = np.concatenate([piece.to_numpy() for piece in pieces])
    return found


def through(index: Index, further: Index) -> Index:
    """One index after another."""
    if index is None or further is None:
        return further if index is None else index
    if len(index) and index.min() < 0:
        found = np.full(len(index), -1, np.int64)
        found[index >= 0] = further[index[index >= 0]]
        return found
    return further[index]
