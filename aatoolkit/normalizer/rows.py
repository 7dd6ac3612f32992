"""The rows of declared tables in one document, and where the values of their columns are.

What a declaration asks for is compiled once a section, into `TablePlan`. A `Branch` is the rows
at one path that has no choice of keys, `TableRows` those of all spellings of a table's path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, takewhile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from aatoolkit.availability.detect import is_size
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.coerce import Array, to_array
from aatoolkit.jsontree.decode import checked_value
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    Position,
    Step,
    format_path,
    parse_path,
)
from aatoolkit.jsontree.vectors import MISSING, RowIndex, RowMap, Vector, compose_index
from aatoolkit.normalizer.field_map import expand_keys
from aatoolkit.normalizer.parse import Parsed, read_as
from aatoolkit.sections.column import Reading
from aatoolkit.sections.section import Column, Section, Table

Place = tuple[Vector, RowMap]
"""Where the values of a column are, and for each row of its table the row of its value."""

_SIGNS = frozenset("$@^#[.")
"""What a source begins with that is no path from the row itself."""

_Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class TablePlan(NamedTuple):
    """What is to be known of a declared table before an answer comes.

    Attributes
    ----------
    table : Table
        The declaration.
    spellings : tuple
        The paths to its rows, one for each of the keys that a step names.
    takes_arrays, takes_any : bool
        Whether rows are arrays; whether they are whatever is there.
    readings : dict
        How each column is parsed; None where it is plain JSON.
    measures : frozenset of str
        The columns of measured numbers: no keys, labels or sample sizes.
    beyond : tuple of str
        The sources outside the rows that no other column reads.
    """

    table: Table
    spellings: tuple[tuple[Step, ...], ...]
    takes_arrays: bool
    takes_any: bool
    readings: dict[str, Reading | None]
    measures: frozenset[str]
    beyond: tuple[str, ...]


@lru_cache(maxsize=128)
def plans(section: Section) -> tuple[TablePlan, ...]:
    """Compile the declaration of a section."""
    columns = [column for table in section for column in table.columns if not column.is_label]
    inside = {column.pattern for column in columns if (column.source or "")[0] not in "^$"}
    return tuple(_plan(table, inside) for table in section)


def _plan(table: Table, inside: set[str]) -> TablePlan:
    rows, sources = table.rows, [column.source or "" for column in table.columns]
    return TablePlan(
        table,
        expand_keys(rows.steps),
        rows.takes_positions or any(source[0] == "[" for source in sources),
        "." in sources or all(source[0] in "^@#$" for source in sources),
        {column.name: column.reading for column in table.columns},
        frozenset(column.name for column in table.columns if _is_measure(table, column)),
        tuple(
            column.source or ""
            for column in table.columns
            if not column.is_label
            and (column.source or "")[0] in "^$"
            and column.pattern not in inside
        ),
    )


def _is_measure(table: Table, column: Column) -> bool:
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_size(names[-1] if names else "")


class Branch:
    """The rows of a table at one path that has no choice of keys."""

    def __init__(self, document: Vector, steps: tuple[Step, ...], plan: TablePlan) -> None:
        self.rows = rows = plan.table.rows
        self.places = [document]
        for step in steps:
            self.places.append(self.places[-1].descend((step,)))
        self.place = self.places[-1]
        if rows.function is not None:
            self.place = _computed_rows(self.place, plan.table.name, rows.function)
        self.reads: list[tuple[Vector, RowMap, RowIndex]] = []
        self.picked = self._picked(plan)
        if rows.first:
            is_row = self.place.level.positions >= rows.first
            self.picked = (
                np.flatnonzero(is_row) if self.picked is None else self.picked[is_row[self.picked]]
            )
        if rows.without or rows.only:
            self.picked = self._filtered()

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.place.level.size if self.picked is None else len(self.picked)

    def _picked(self, plan: TablePlan) -> RowMap:
        """The rows of the level that are rows of the table; None if all are.

        They are arrays of positions, objects, or any where no field is read or the row itself is.
        """
        if self.rows.one:
            return self._single(plan.table)
        if not plan.takes_arrays and plan.takes_any:
            return None
        kind = list if plan.takes_arrays else dict
        if self.place.kinds == {kind}:
            return None
        picked = self.place.where(lambda other: other is kind)
        return None if len(picked) == self.place.level.size else picked

    def _single(self, table: Table) -> RowMap:
        """The answers that have the object of a single row, or a field of it; None if all do.

        What encloses the answer, such as its domain, is no row by itself.
        """
        places = [self.place] if self.rows.steps else []
        sources = [column.source or "" for column in table.columns]
        paths = (parse_path(source) for source in sources if source[0] not in _SIGNS)
        places += [
            self.place.descend(tuple(takewhile(lambda step: type(step) is Field, path)))
            for path in paths
        ]
        if any(len(place.present) == self.place.level.size for place in places):
            return None
        rows = [place.present for place in places]
        return np.unique(np.concatenate(rows)) if rows else None

    def _filtered(self) -> RowMap:
        """The picked rows that pass the table's filters."""
        keep = np.ones(self.size, np.bool_)
        for chosen, wanted in ((self.rows.without, False), (self.rows.only, True)):
            for source, scalars in chosen:
                keep &= _has(*self.find(source), scalars, self.size) == wanted
        return np.flatnonzero(keep) if self.picked is None else self.picked[keep]

    @property
    def field_absent(self) -> int | None:
        """The number of the first field on the way to the rows that is lacking."""
        for at, (step, place) in enumerate(zip(self.rows.steps, self.places[1:], strict=True)):
            if isinstance(step, Field) and place.field_absent:
                return at
        return None

    @property
    def is_null(self) -> bool:
        """Whether null is on the way to the rows."""
        return any(
            isinstance(step, Field) and place.is_null
            for step, place in zip(self.rows.steps, self.places[1:], strict=True)
        )

    @property
    def order(self) -> list[RowIndex]:
        """The sort keys that interleave the rows of several branches: place and branch number."""
        keys: list[RowIndex] = []
        for at, step in enumerate(self.rows.steps):
            if isinstance(step, Entries) and step.only:
                number = step.only.index(self.places[at + 1].tail[-1])
                above = self._up(at)
                keys.append(np.arange(self.size) if above is None else above)
                keys.append(np.full(self.size, number))
        return keys

    def find(self, source: str) -> Place:
        """Find the values of a column by its source: a place, and for each row its row there."""
        if source[0] not in _SIGNS:
            return self._follow(self.place, self.picked, parse_path(source))
        if source[0] == "$":
            path = parse_path(source[1:].lstrip("."))
            return self._follow(self.places[0], self._documents, path)
        if source[0] == "@":
            return self._label(int(source[1:]))
        place, index = self.place, self.picked
        while source.startswith("^"):
            (place, index), source = _enclosing_record(place, index), source[1:]
        if source[0] == "#":
            return place.level.numbered(int(source[1:])), index
        if source.startswith("[") and self.rows.takes_positions:
            return self._position(place, source[1:-1], index)
        return self._follow(place, index, () if source == "." else parse_path(source))

    @property
    def _documents(self) -> RowMap:
        """For each row, its document."""
        is_one = self.places[0].level.size == 1
        return np.zeros(self.size, np.int64) if is_one else self._up(0)

    def _follow(self, place: Vector, index: RowMap, steps: Sequence[Step]) -> Place:
        """Follow a path from a place; bound steps and single elements differ row by row."""
        for step in steps:
            if isinstance(step, Position):
                place, index = self._element(place, index, np.full(self.size, step.number))
            elif isinstance(step, Named):
                place, index = self._element(place, index, self._named(step))
            elif isinstance(step, Each | Entries) and step.at is not None:
                place, index = self._bound(place, index, step.at)
            else:
                place = place.descend((step,))
        return place, index

    def _element(self, place: Vector, index: RowMap, positions: RowIndex) -> Place:
        """The element of each row's array at a position of its own."""
        elements = place.each()
        rows = _aligned(elements, index, positions)
        self.reads.append((elements, index, rows))
        return elements, rows

    def _named(self, step: Named) -> RowIndex:
        """For each row, the position that a header gives to a name; -1 where it has none."""
        last = max(at for at, part in enumerate(step.header) if part == Each())
        read = len(self.reads)
        holder, index = self._follow(self.places[0], self._documents, step.header[:last])
        del self.reads[read:]  # names are no values
        elements = holder.each()
        names = elements.descend(step.header[last + 1 :]).values
        level = elements.level
        positions = {
            (parent, name): position
            for parent, name, position in zip(
                level.parents.tolist(), names, level.positions.tolist(), strict=True
            )
            if isinstance(name, str)
        }
        holders = range(self.size) if index is None else index.tolist()
        found = [positions.get((holder, step.name), -1) for holder in holders]
        return np.array(found, np.int64)

    def _bound(self, place: Vector, index: RowMap, number: int) -> Place:
        """The element at the position, or the entry under the key, of one of a row's own steps."""
        many = [
            at for at, step in enumerate(self.rows.steps, 1) if isinstance(step, Each | Entries)
        ]
        at = many[number]
        if place is self.places[at - 1]:
            return self.places[at], self._up(at)
        if isinstance(self.rows.steps[at - 1], Each):
            elements = place.each()
            return elements, _aligned(elements, index, self._positions_at(at))
        entries, own = place.entries(), self.places[at].level.keys or []
        rows = {
            key: row
            for row, key in enumerate(
                zip(entries.level.parents.tolist(), entries.level.keys or (), strict=True)
            )
        }
        holders = range(self.size) if index is None else index.tolist()
        up = self._up(at)
        keys = range(self.size) if up is None else up.tolist()
        found = [
            rows.get((holder, own[key]), -1) for holder, key in zip(holders, keys, strict=True)
        ]
        return entries, np.array(found, np.int64)

    def _label(self, number: int) -> Place:
        keys = [at for at, step in enumerate(self.rows.steps) if isinstance(step, Entries)]
        at = keys[number] + 1
        step, place, index = self.rows.steps[at - 1], self.places[at], self._up(at)
        if isinstance(step, Entries) and step.only:
            names = [place.tail[-1]] * place.level.size
            return Vector(names, place.level, place.tail, is_key=True), index
        return place.keys(), index

    def _positions_at(self, at: int) -> RowIndex:
        """For each row, its position in the array whose elements are at an earlier place."""
        positions = compose_index(self._up(at), self.places[at].level.positions)
        assert positions is not None
        return positions

    @cached_property
    def header(self) -> dict[str, int]:
        """The positions that the header names, by name."""
        names = self.places[0].descend(self.rows.header or ())
        positions: dict[str, int] = {}
        for name, position in zip(names.values, names.level.positions.tolist(), strict=True):
            if isinstance(name, str):
                positions.setdefault(name, position)
        return positions

    def position_of(self, name: str) -> int | None:
        """The position that a source of a row that is an array means; None if it has none."""
        return int(name) if self.rows.header is None else self.header.get(name)

    def _position(self, place: Vector, name: str, index: RowMap) -> Place:
        position = self.position_of(name)
        if position is None:
            return Vector([MISSING] * place.level.size, place.level, place.tail, True), index
        elements = place.each()
        there = np.flatnonzero(elements.level.positions == position)
        by_array = np.full(place.level.size, -1, np.int64)
        by_array[elements.level.parents[there]] = there
        return elements, compose_index(index, by_array)

    def _up(self, at: int) -> RowMap:
        """For each row, its row in the level of an earlier place."""
        level, index = self.place.level, self.picked
        while level is not self.places[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index


def _computed_rows(place: Vector, table: str, function: Callable[[Any], Iterable[Any]]) -> Vector:
    """A place of the rows that a function computes from the values at another."""
    try:
        rows = [
            [] if value is None or value is MISSING else [dict(row) for row in function(value)]
            for value in place.values
        ]
        checked_value(rows)
    except Exception as error:
        problem = f"the rows of {table} could not be made: {type(error).__name__}: {error}"
    else:
        return place.opened(rows, computed=True)
    raise PayloadError(problem, problems=[f"{problem} @ {place.path(0)}"])


def _enclosing_record(place: Vector, index: RowMap) -> Place:
    """The place of the record one array up, and for each row its row there."""
    level, first = place.level, not place.tail
    while first or not level.in_array:
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, first = compose_index(index, level.parents), level.above.level, False
    return level.element, index


def _aligned(elements: Vector, parents: RowMap, positions: RowIndex) -> RowIndex:
    """For each row and position in its array, the row of that element; -1 where none is."""
    lengths = np.asarray(elements.level.lengths, np.int64)
    starts = lengths.cumsum() - lengths
    above = np.arange(len(positions)) if parents is None else parents
    if not len(lengths):
        return np.full(len(positions), -1, np.int64)
    is_there = (above >= 0) & (positions >= 0) & (positions < lengths[above])
    return np.where(is_there, starts[above] + positions, -1)


def _has(place: Vector, index: RowMap, scalars: tuple[Any, ...], size: int) -> _Mask:
    """For each row, whether its value at a place is one of some values; None is also nothing."""
    wanted = {(value, type(value) is bool) for value in scalars}
    nothing = None in scalars
    mask = [
        nothing
        if value is None or value is MISSING
        else type(value) not in (dict, list) and (value, type(value) is bool) in wanted
        for value in place.values
    ]
    if index is None:
        return np.array(mask, np.bool_)
    return np.fromiter((mask[row] if row >= 0 else nothing for row in index.tolist()), bool, size)


class TableRows:
    """The rows of one table in one document.

    Parameters
    ----------
    document : Vector
        The whole answer.
    plan : TablePlan
        The declared table.
    """

    def __init__(self, document: Vector, plan: TablePlan) -> None:
        self.plan, self.table = plan, plan.table
        self.branches = [Branch(document, steps, plan) for steps in plan.spellings]
        self.size = sum(branch.size for branch in self.branches)
        self._places: dict[str, list[Place]] = {}

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        lacking = [at for branch in self.branches if (at := branch.field_absent) is not None]
        if len(lacking) < len(self.branches):
            return None
        return format_path(self.table.rows.steps[: min(lacking) + 1])

    @cached_property
    def is_null(self) -> bool:
        """Whether there is null instead of rows, which does not mean that there are none."""
        return all(branch.is_null for branch in self.branches)

    def find(self, source: str) -> list[Place]:
        """Find the values of a column by its source, once for each spelling of the path."""
        places = self._places.get(source)
        if places is None:
            places = self._places[source] = [branch.find(source) for branch in self.branches]
        return places

    def read(self, column: Column, place: Vector) -> Parsed:
        """Parse all values at a place as a column reads them."""
        reading = self.plan.readings[column.name]
        parsed: Parsed | None = place.arrays.get(reading or column.dtype)
        if parsed is None:
            if reading is None:
                parsed = _plain(place, column.dtype)
            else:
                year = None if reading.year is None else self._first(reading.year)
                parsed = read_as(place.values, reading, year)
            place.arrays[reading or column.dtype] = parsed
        return parsed

    def _first(self, source: str) -> Any:
        """The first value of the answer at a path from its root."""
        values = self.branches[0].find(source)[0].values
        return next((value for value in values if value is not MISSING), None)

    def column(self, parsed: Sequence[Parsed], places: Sequence[Place]) -> Array:
        """The values of a column, row by row, and null where one does not fit."""
        parts = [
            part.array if index is None else _take(part.array, index)
            for part, (_, index) in zip(parsed, places, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        return pa.concat_arrays(parts).take(pa.array(self.order))

    def source_rows(self, places: Sequence[Place]) -> tuple[RowIndex, RowIndex]:
        """For each row, the number of the place that has a column's value, and its row there."""
        which, there = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        for number, ((_, index), here) in enumerate(zip(places, self.numbers, strict=True)):
            which[here] = number
            there[here] = np.arange(len(here)) if index is None else index
        return which, there

    def path_in(self, column: Column) -> Callable[[int], str | None]:
        """Return a function that gives the JSON path of a column's value in a row, if any."""
        origins: list[tuple[RowIndex, RowIndex]] = []

        def path(row: int) -> str | None:
            places = self.find(column.source or "")
            if not origins:  # few columns are asked for
                origins.append(self.source_rows(places))
            which, there = origins[0]
            origin = int(there[row])
            return places[int(which[row])][0].path(origin) if origin >= 0 else None

        return path

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
        keys = zip(*(branch.order for branch in self.branches), strict=True)
        return np.lexsort([np.concatenate(key) for key in reversed(list(keys))])

    def unplaced(self) -> Iterator[tuple[Vector, RowIndex]]:
        """Yield values that only rows of this table could hold, and none does.

        Such are the labels of an axis that is longer than its arrays, and fields of a record
        that encloses no row.
        """
        rows = self.table.rows
        for branch in self.branches if rows.first else ():
            yield branch.place, np.flatnonzero(branch.place.level.positions < rows.first)
        for source in self.plan.beyond:
            places = self.find(source)
            for place in dict.fromkeys(place for place, _ in places):
                indexes = [index for other, index in places if other is place]
                taken = [index for index in indexes if index is not None]
                if len(taken) == len(indexes):
                    yield place, np.setdiff1d(place.present, np.concatenate(taken))

    def beyond(self) -> Iterator[tuple[Vector, RowIndex]]:
        """Yield the elements of array rows at positions that are not declared."""
        names, header = len(self.table.rows.positional), self.table.rows.header
        for branch in self.branches if self.table.rows.takes_positions else ():
            elements = branch.place.each()
            known = [*range(names)]
            if header is not None:
                sources = [column.source or "" for column in self.table.columns]
                positions = (branch.position_of(s[1:-1]) for s in sources if s[0] == "[")
                known = [position for position in positions if position is not None]
            yield elements, np.flatnonzero(~np.isin(elements.level.positions, known))


def _plain(place: Vector, dtype: str) -> Parsed:
    """Values that are plain JSON of a dtype; Arrow itself refuses what is neither text nor null."""
    if dtype in ("string", "category"):
        try:
            return Parsed(pa.array(place.values, pa.string()), (), ())
        except (TypeError, ValueError):
            pass
    return Parsed(*to_array(place.values, place.kinds, dtype), ())


def _take(array: pa.Array, index: RowIndex) -> pa.Array:
    """Take the values at rows of a place, null at -1."""
    if not len(index) or not len(array):
        return pa.nulls(len(index), array.type)
    if index.min() < 0:
        return array.take(pa.array(index, mask=index < 0))
    return array.take(pa.array(index))


def left_out(tables: Sequence[TableRows]) -> Iterator[tuple[Vector, RowIndex]]:
    """Yield the values of rows that a filter drops and no other table reads."""
    filtered = [rows for rows in tables if rows.table.rows.without or rows.table.rows.only]
    taken: dict[Vector, list[RowIndex]] = {}
    for rows in tables if filtered else ():
        for column in rows.table.columns:
            for place, index in rows.find(column.source or ""):
                here = np.arange(place.level.size) if index is None else index
                taken.setdefault(place, []).append(here)
    for rows in filtered:
        for column in rows.table.columns:
            for place, _ in rows.find(column.source or "") if not column.is_label else ():
                yield place, np.setdiff1d(place.present, [*chain(*taken.get(place, []))])


def unread(tables: Sequence[TableRows]) -> Iterator[tuple[Vector, RowIndex]]:
    """Yield the elements of arrays whose positions are columns, where no column reads them."""
    reads: dict[Vector, list[tuple[RowMap, RowIndex]]] = {}
    for rows in tables:
        for branch in rows.branches:
            for elements, arrays, there in branch.reads:
                reads.setdefault(elements, []).append((arrays, there))
    for elements, parts in reads.items():
        whole = any(arrays is None for arrays, _ in parts)
        taken = np.concatenate([there for _, there in parts])
        parents = [arrays for arrays, _ in parts if arrays is not None]
        is_met = whole or np.isin(elements.level.parents, np.concatenate(parents))
        yield elements, np.setdiff1d(np.flatnonzero(is_met & np.ones(len(elements), bool)), taken)


def held(index: RowMap, rows: Sequence[int]) -> RowIndex:
    """Intersect row numbers of a place with those that rows of the table read."""
    there = np.asarray(rows, np.int64)
    return there if index is None or not len(there) else there[np.isin(there, index)]
