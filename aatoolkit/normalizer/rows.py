"""The rows of a declared table in one document, and the values of its columns."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.chunks import joined
from aatoolkit.jsontree.coerce import Array
from aatoolkit.jsontree.cursor import Index, Level, Spot, labelled, through
from aatoolkit.jsontree.decode import is_plain
from aatoolkit.jsontree.grouping import Places
from aatoolkit.jsontree.nodes import Child
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_path
from aatoolkit.normalizer.field_map import spelt_out
from aatoolkit.sections.section import Column, Table

Found = tuple[Spot, Index]
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

    def __init__(self, document: Spot, table: Table) -> None:
        self.table = table
        self._branches = [_Branch(document, s, table) for s in spelt_out(table.rows.steps)]
        self.size = sum(branch.size for branch in self._branches)

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        found = [at for branch in self._branches if (at := branch.lacking) is not None]
        if len(found) < len(self._branches):
            return None
        return format_path(self.table.rows.steps[: min(found) + 1])

    @cached_property
    def unsaid(self) -> bool:
        """Whether null stands where the rows should, which is not to say that there are none."""
        return all(branch.unsaid for branch in self._branches)

    def find(self, source: str) -> list[Found]:
        """Where the values of a column stand, by its source; one for each spelling of the path."""
        return [branch.find(source) for branch in self._branches]

    def column(self, declared: Column, found: list[Found]) -> Array:
        """The values of a column, row by row, and null where one does not fit."""
        parts = [
            _taken(spot, declared.dtype, index, branch.size)
            for branch, (spot, index) in zip(self._branches, found, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        chunks = [
            c
            for part in parts
            for c in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])
        ]
        return pa.chunked_array(chunks).take(pa.array(self.order))

    def places(self, found: list[Found]) -> tuple[Places, Places]:
        """For each row, which of the spots has the value of a column, and in which row there."""
        which, there = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        for number, ((_, index), here) in enumerate(zip(found, self.numbers, strict=True)):
            which[here] = number
            there[here] = np.arange(len(here)) if index is None else index
        return which, there

    @cached_property
    def numbers(self) -> list[Places]:
        """For each spelling of the path, the numbers of its rows in the table."""
        if len(self._branches) == 1:
            return [np.arange(self.size)]
        numbers = np.empty(self.size, np.int64)
        numbers[self.order] = np.arange(self.size)
        return np.split(numbers, np.cumsum([branch.size for branch in self._branches])[:-1])

    @cached_property
    def order(self) -> Places:
        """Where each row stands among those of all spellings, one spelling after the other."""
        keys = [branch.order for branch in self._branches]
        return np.lexsort([np.concatenate(one) for one in reversed(list(zip(*keys, strict=True)))])

    def spare(self, elsewhere: Container[str]) -> Iterator[tuple[Spot, Places]]:
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

    def beyond(self) -> Iterator[tuple[Spot, Places]]:
        """The elements of rows that are arrays with more positions than are declared."""
        names = len(self.table.rows.positional)
        if names:
            for branch in self._branches:
                elements = branch.spot.each()
                yield elements, np.flatnonzero(elements.level.positions >= names)


class _Branch:
    """The rows of a table at one path that has no choice of keys."""

    def __init__(self, document: Spot, steps: tuple[Step, ...], table: Table) -> None:
        self.rows = table.rows
        self.spots = [document]
        for one in steps:
            self.spots.append(self.spots[-1].under((one,)))
        self.spot = self.spots[-1]
        if table.rows.function is not None:
            self.spot = _made(self.spot, table.name, table.rows.function)
        self.picked = self._picked(table)
        self.size = self.spot.level.size if self.picked is None else len(self.picked)

    def _picked(self, table: Table) -> Index:
        """Which rows of the level are rows of the table; None if all are.

        They are arrays of positions, objects, or any where no field is read.
        """
        sources = [declared.source or "" for declared in table.columns]
        if table.rows.one or (not table.rows.positional and all(s[0] in ".^@#$" for s in sources)):
            return None
        place = self.spot.place
        if place is None:
            return np.empty(0, np.int64)
        if table.rows.positional:
            rows = [there for _, there in place.items.lengths] if place.items else []
        else:
            rows = place.record.rows if place.record else []
            rows = rows + [there for _, there in (place.entries.lengths if place.entries else [])]
        found = np.sort(joined(rows))
        return None if len(found) == self.spot.level.size else found

    @property
    def lacking(self) -> int | None:
        """The number of the first field on the way to the rows that is lacking."""
        for at, (given, spot) in enumerate(zip(self.rows.steps, self.spots[1:], strict=True)):
            if isinstance(given, Field) and spot.lacking:
                return at
        return None

    @property
    def unsaid(self) -> bool:
        return any(
            isinstance(given, Field) and spot.is_null
            for given, spot in zip(self.rows.steps, self.spots[1:], strict=True)
        )

    @property
    def order(self) -> list[Places]:
        """What rows of several spellings are sorted by: where they branch off, and which it is."""
        found: list[Places] = []
        for at, given in enumerate(self.rows.steps):
            if isinstance(given, Entries) and given.only:
                number = given.only.index(self.spots[at + 1].tail[-1])
                above = self._up(at)
                found += [
                    np.arange(self.size) if above is None else above,
                    np.full(self.size, number),
                ]
        return found

    def find(self, source: str) -> Found:
        if source[0] == "$":
            spot = self.spots[0].under(parse_path(source[1:].lstrip(".")))
            return spot, np.zeros(self.size, np.int64)
        if source[0] == "@":
            return self._label(int(source[1:]))
        spot, index = self.spot, self.picked
        while source.startswith("^"):
            (spot, index), source = _enclosing(spot, index), source[1:]
        if source[0] == "#":
            return spot.level.numbered(int(source[1:])), index
        if source.startswith("["):
            return _position(spot, int(source[1:-1]), index)
        return (spot if source == "." else spot.under(parse_path(source))), index

    def _label(self, number: int) -> Found:
        keys = [at for at, step in enumerate(self.rows.steps) if isinstance(step, Entries)]
        if number < len(keys):
            at = keys[number] + 1
            given = self.rows.steps[at - 1]
            spot, index = self.spots[at], self._up(at)
            if isinstance(given, Entries) and given.only:
                return labelled(spot, spot.tail[-1]), index
            return spot.level.labels, index
        arrays = [at for at, step in enumerate(self.rows.steps) if isinstance(step, Each)]
        axis = number - len(keys)
        at = arrays[axis - len(self.rows.axes)] + 1
        labels = self.spots[0].under((*self.rows.axes[axis], Each()))
        places = through(self._up(at), self.spots[at].level.positions)
        assert places is not None
        return labels, np.where(places < labels.level.size, places, -1)

    def _up(self, at: int) -> Index:
        """For each row, its row in the level of an earlier spot."""
        level, index = self.spot.level, self.picked
        while level is not self.spots[at].level:
            index = through(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index


def _made(spot: Spot, table: str, function: Callable[[Any], Iterable[Any]]) -> Spot:
    """The rows that a function makes of the values of a spot."""
    there = spot.rows if spot.place is None else np.setdiff1d(spot.rows, spot.place.nulls)
    try:
        found = [[dict(row) for row in function(value)] for value in spot.values(there)]
        if not is_plain(found):
            raise TypeError("not all of them are made of JSON values")
    except Exception as error:
        problem = f"the rows of {table} could not be made: {type(error).__name__}: {error}"
    else:
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        child = Child()
        for place, values, rows, depth in child.take(list(chain(*found)), lengths, there, 0):
            place.grow(values, rows, depth)
        return Level.begin(child, spot, made=True)
    raise PayloadError(problem, problems=[f"{problem} @ {spot.path(0)}"])


def _enclosing(spot: Spot, index: Index) -> Found:
    """The record one array up, and for each row its row there."""
    level, first = spot.level, not spot.tail
    while first or not level.in_array:
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, first = through(index, level.parents), level.above.level, False
    return level.element, index


def _position(spot: Spot, place: int, index: Index) -> Found:
    """The elements at one place of the arrays of a spot."""
    elements = spot.each()
    there = np.flatnonzero(elements.level.positions == place)
    by_array = np.full(spot.level.size, -1, np.int64)
    by_array[elements.level.parents[there]] = there
    return elements, through(index, by_array)


def _taken(spot: Spot, dtype: str, index: Index, size: int) -> Array:
    array, _ = spot.typed(dtype)
    if index is None:
        return array
    if len(index) == 0 or len(array) == 0:
        return pa.nulls(size, array.type)
    return array.take(pa.array(index, mask=index < 0))


def _rest(found: list[Found]) -> Iterator[tuple[Spot, Places]]:
    """The values that no row takes."""
    for spot in dict.fromkeys(spot for spot, _ in found):
        taken = [spot.rows if index is None else index for one, index in found if one is spot]
        yield spot, np.setdiff1d(spot.rows, np.concatenate(taken))


def held(index: Index, rows: Places) -> Places:
    """Those of some rows of a spot that rows of the table take."""
    return rows if index is None or not len(rows) else np.intersect1d(rows, index)
