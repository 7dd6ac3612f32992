"""The rows of declared tables in one document, and where the values of their columns are.

What a declaration asks for is compiled once a section, into a `TablePlan`; `TableRows` are the
rows of a table in an answer. Where the values of a column are is a place, and for each row the
row of its value there: the two are the same where a field of the row itself is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, takewhile
from typing import Any, NamedTuple

import numpy as np

from aatoolkit.availability.detect import is_size
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.coerce import Parsed, read_as, to_array
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
from aatoolkit.sections.column import Reading
from aatoolkit.sections.section import Column, Section, Table

Place = tuple[Vector, RowMap]
"""Where the values of a column are, and for each row of its table the row of its value."""

_SIGNS = frozenset("$@^#[.")
"""What a source begins with that is no path from the row itself."""


class TablePlan(NamedTuple):
    """What is to be known of a declared table before an answer comes.

    Attributes
    ----------
    table : Table
        The declaration.
    takes_arrays, takes_any : bool
        Whether rows are arrays; whether they are whatever is there.
    readings : dict
        How each column is parsed; None where it is plain JSON.
    measures : frozenset of str
        The columns of measured numbers: no keys, labels or sample sizes.
    beyond : frozenset of str
        The sources outside the rows that no other column reads.
    """

    table: Table
    takes_arrays: bool
    takes_any: bool
    readings: dict[str, Reading | None]
    measures: frozenset[str]
    beyond: frozenset[str]


@lru_cache(maxsize=128)
def plans(section: Section) -> tuple[TablePlan, ...]:
    """Compile the declaration of a section."""
    values = [column for table in section for column in table.columns if not column.is_label]
    inside = {column.pattern for column in values if (column.source or "")[0] not in "^$"}
    beyond = frozenset(column.source or "" for column in values if column.pattern not in inside)
    return tuple(_plan(table, beyond) for table in section)


def _plan(table: Table, beyond: frozenset[str]) -> TablePlan:
    sources = [column.source or "" for column in table.columns]
    return TablePlan(
        table,
        table.rows.takes_positions or any(source[0] == "[" for source in sources),
        "." in sources or all(source[0] in "^@#$" for source in sources),
        {column.name: column.reading for column in table.columns},
        frozenset(column.name for column in table.columns if _is_measure(table, column)),
        beyond & {*sources},
    )


def _is_measure(table: Table, column: Column) -> bool:
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_size(names[-1] if names else "")


class TableRows:
    """The rows of one table in one document.

    Parameters
    ----------
    document : Vector
        The whole answer.
    plan : TablePlan
        The declared table.

    Attributes
    ----------
    places : list of Vector
        The places on the way to the rows, the document first.
    picked : numpy.ndarray or None
        Which of the last place are rows; None if all are.
    """

    def __init__(self, document: Vector, plan: TablePlan) -> None:
        self.plan, self.table = plan, plan.table
        rows = self.table.rows
        self.places = [document]
        for step in rows.steps:
            self.places.append(self.places[-1].descend((step,)))
        self.place = self.places[-1]
        if rows.function is not None:
            self.place = _computed_rows(self.place, self.table.name, rows.function)
        self._places: dict[str, Place] = {}
        self._reads: list[tuple[Vector, RowMap, RowIndex]] = []
        self.picked: RowMap = None
        if rows.one:
            self.picked = self._single()
        elif plan.takes_arrays or not plan.takes_any:
            kind = list if plan.takes_arrays else dict
            if self.place.kinds != {kind}:
                picked = self.place.where(lambda other: other is kind)
                self.picked = None if len(picked) == self.place.level.size else picked
        if rows.first:
            self._pick(self.place.level.positions[self.numbers] >= rows.first)
        if rows.without or rows.only:
            keep = np.ones(self.size, np.bool_)
            for chosen, wanted in ((rows.without, False), (rows.only, True)):
                for source, scalars in chosen:
                    keep &= _has(*self._find(source), scalars, self.size) == wanted
            self._pick(keep)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.place.level.size if self.picked is None else len(self.picked)

    @property
    def numbers(self) -> RowIndex:
        """For each row of the table, its row in the last place."""
        return np.arange(self.place.level.size) if self.picked is None else self.picked

    def _pick(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        self.picked = self.numbers[keep]

    def _single(self) -> RowMap:
        """The answers that have the object of a single row, or a field of it; None if all do.

        What encloses the answer, such as its domain, is no row by itself.
        """
        places = [self.place] if self.table.rows.steps else []
        sources = [column.source or "" for column in self.table.columns]
        paths = (parse_path(source) for source in sources if source[0] not in _SIGNS)
        places += [
            self.place.descend(tuple(takewhile(lambda step: type(step) is Field, path)))
            for path in paths
        ]
        if any(len(place.present) == self.place.level.size for place in places):
            return None
        rows = [place.present for place in places]
        return np.unique(np.concatenate(rows)) if rows else None

    @cached_property
    def absent(self) -> str | None:
        """The first field on the way to the rows that the document lacks; None if it has all."""
        for at, step in enumerate(self.table.rows.steps):
            above, place = self.places[at : at + 2]
            if isinstance(step, Field):
                is_absent = place.field_absent
            else:
                is_absent = isinstance(step, Entries) and bool(step.only) and not len(place)
                is_absent = is_absent and (dict in above.kinds or above.field_absent)
            if is_absent:
                return format_path(self.table.rows.steps[: at + 1])
        return None

    @cached_property
    def is_null(self) -> bool:
        """Whether there is null instead of rows, which does not mean that there are none."""
        return any(
            place.is_null
            for step, place in zip(self.table.rows.steps, self.places[1:], strict=True)
            if isinstance(step, Field) or (isinstance(step, Entries) and step.only)
        )

    def find(self, source: str) -> Place:
        """Find the values of a column by its source: a place, and for each row its row there."""
        place = self._places.get(source)
        if place is None:
            place = self._places[source] = self._find(source)
        return place

    def _find(self, source: str) -> Place:
        if source[0] not in _SIGNS:
            return self._follow(self.place, self.picked, parse_path(source))
        if source[0] == "$":
            return self._follow(*self._document, parse_path(source[1:].lstrip(".")))
        if source[0] == "@":
            keys = [
                at for at, step in enumerate(self.table.rows.steps, 1) if isinstance(step, Entries)
            ]
            at = keys[int(source[1:])]
            return self.places[at].keys(), self._up(at)
        place, index = self.place, self.picked
        while source.startswith("^"):
            (place, index), source = _enclosing_record(place, index), source[1:]
        if source[0] == "#":
            return place.level.numbered(int(source[1:])), index
        if source[0] == "[" and self.table.rows.takes_positions:
            position = self._position_of(source[1:-1])
            if position is None:
                return Vector([MISSING] * place.level.size, place.level, place.tail, True), index
            elements = place.each()
            return elements, _aligned(elements, index, np.full(self.size, position))
        return self._follow(place, index, () if source == "." else parse_path(source))

    @property
    def _document(self) -> Place:
        """The document, and for each row the one that it is in."""
        is_one = self.places[0].level.size == 1
        return self.places[0], np.zeros(self.size, np.int64) if is_one else self._up(0)

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
        self._reads.append((elements, index, rows))
        return elements, rows

    def _named(self, step: Named) -> RowIndex:
        """For each row, the position that a header gives to a name; -1 where it has none."""
        last = max(at for at, part in enumerate(step.header) if part == Each())
        read = len(self._reads)
        holder, index = self._follow(*self._document, step.header[:last])
        del self._reads[read:]  # names are no values
        elements = holder.each()
        names = elements.descend(step.header[last + 1 :]).values
        positions = _by_label(elements, names, elements.level.positions)
        return _looked_up(positions, self._rows_of(index), [step.name] * self.size)

    def _bound(self, place: Vector, index: RowMap, number: int) -> Place:
        """The element at the position, or the entry under the key, of one of a row's own steps."""
        steps = self.table.rows.steps
        at = [at for at, step in enumerate(steps, 1) if isinstance(step, Each | Entries)][number]
        if place is self.places[at - 1]:
            return self.places[at], self._up(at)
        own, up = self.places[at].level, self._up(at)
        if isinstance(steps[at - 1], Each):
            elements = place.each()
            positions = own.positions if up is None else own.positions[up]
            return elements, _aligned(elements, index, positions)
        entries = place.entries()
        rows = _by_label(entries, entries.level.keys or (), np.arange(len(entries)))
        keys = [(own.keys or [])[row] for row in self._rows_of(up)]
        return entries, _looked_up(rows, self._rows_of(index), keys)

    def _rows_of(self, index: RowMap) -> Iterable[int]:
        return range(self.size) if index is None else index.tolist()

    @cached_property
    def _header(self) -> dict[str, int]:
        """The positions that the header names, by name."""
        names = self.places[0].descend(self.table.rows.header or ())
        pairs = zip(names.values, names.level.positions.tolist(), strict=True)
        return {name: at for name, at in reversed([*pairs]) if isinstance(name, str)}

    def _position_of(self, name: str) -> int | None:
        """The position that a source of a row that is an array means; None if it has none."""
        return int(name) if self.table.rows.header is None else self._header.get(name)

    def _up(self, at: int) -> RowMap:
        """For each row, its row in the level of an earlier place."""
        level, index = self.place.level, self.picked
        while level is not self.places[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index

    def read(self, column: Column, place: Vector) -> Parsed:
        """Parse all values at a place as a column reads them."""
        reading = self.plan.readings[column.name]
        parsed: Parsed | None = place.arrays.get(reading or column.dtype)
        if parsed is None:
            if reading is None:
                parsed = to_array(place.values, place.kinds, column.dtype)
            else:
                values: Iterable[Any] = ()
                if reading.year is not None:
                    values = self.find(reading.year)[0].values
                year = next((value for value in values if value is not MISSING), None)
                parsed = read_as(place.values, reading, year)
            place.arrays[reading or column.dtype] = parsed
        return parsed

    def path_in(self, column: Column) -> Callable[[int], str | None]:
        """Return a function that gives the JSON path of a column's value in a row, if any."""

        def path(row: int) -> str | None:
            place, index = self.find(column.source or "")
            origin = row if index is None else int(index[row])
            return place.path(origin) if origin >= 0 else None

        return path

    def undeclared(self) -> Iterator[tuple[Vector, RowIndex]]:
        """Yield the elements of array rows at positions that are not declared."""
        rows = self.table.rows
        if rows.takes_positions:
            elements, names = self.place.each(), [*map(str, range(len(rows.positional)))]
            if rows.header is not None:
                sources = [column.source or "" for column in self.table.columns]
                names = [source[1:-1] for source in sources if source[0] == "["]
            positions = [self._position_of(name) for name in names]
            declared = [position for position in positions if position is not None]
            yield elements, np.flatnonzero(~np.isin(elements.level.positions, declared))

    def rows_around(self, elements: Vector) -> Iterator[RowIndex]:
        """Yield the elements that hold rows of the table."""
        level, index = self.place.level, None
        while level.above is not None:
            index, level = compose_index(index, level.parents), level.above.level
            if level is elements.level and index is not None:
                yield np.unique(index)


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


def _by_label(place: Vector, labels: Sequence[Any], rows: RowIndex) -> dict[tuple[int, Any], int]:
    """Numbers of elements or entries, by the row that encloses each and its label."""
    triples = zip(place.level.parents.tolist(), labels, rows.tolist(), strict=True)
    return {(parent, label): row for parent, label, row in triples if isinstance(label, str)}


def _looked_up(
    numbers: dict[tuple[int, Any], int], holders: Iterable[int], labels: Iterable[str]
) -> RowIndex:
    pairs = zip(holders, labels, strict=True)
    return np.array([numbers.get(pair, -1) for pair in pairs], np.int64)


def _has(
    place: Vector, index: RowMap, scalars: tuple[Any, ...], size: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each row, whether its value at a place is one of some values; None is also nothing."""
    wanted = {(value, type(value) is bool) for value in scalars}
    nothing = None in scalars
    mask = [
        nothing
        if value is None or value is MISSING
        else type(value) not in (dict, list) and (value, type(value) is bool) in wanted
        for value in place.values
    ]
    rows = range(size) if index is None else index.tolist()
    return np.fromiter((mask[row] if row >= 0 else nothing for row in rows), bool, size)


def untaken(tables: Sequence[TableRows]) -> Iterator[tuple[Vector, RowIndex, str, str]]:
    """Yield values that only rows could hold and none does, why they are kept, and where.

    Such are the labels of an axis that is longer than its arrays, fields of a record that
    encloses no row, rows that a filter drops and no other table reads; and, as ``new``, the
    elements at positions that no column reads of arrays whose positions are columns.
    """
    for rows in tables:
        if rows.table.rows.first:
            is_before = rows.place.level.positions < rows.table.rows.first
            yield rows.place, np.flatnonzero(is_before), "known", ""
    whys: dict[Vector, str] = {}
    for rows in tables:
        filtered = rows.table.rows.without or rows.table.rows.only
        for column in rows.table.columns if filtered or rows.plan.beyond else ():
            source = column.source or ""
            if not column.is_label and (filtered or source in rows.plan.beyond):
                whys[rows.find(source)[0]] = "left out" if filtered else "known"
    if whys:
        taken: dict[Vector, list[RowIndex]] = {place: [] for place in whys}
        for rows in tables:
            for column in rows.table.columns:
                place, index = rows.find(column.source or "")
                if place in taken:
                    taken[place].append(np.arange(place.level.size) if index is None else index)
        for place, why in whys.items():
            yield place, np.setdiff1d(place.present, np.concatenate(taken[place])), why, ""
    reads: dict[Vector, list[tuple[RowMap, RowIndex]]] = {}
    for elements, arrays, there in chain.from_iterable(rows._reads for rows in tables):
        reads.setdefault(elements, []).append((arrays, there))
    for rows in tables:
        # Positions that are no columns of a grid may be tables of their own, or labels of such.
        for elements, there in rows.undeclared():
            elsewhere = [taken for _, taken in reads.pop(elements, [])]
            elsewhere += [index for other in tables for index in other.rows_around(elements)]
            left = np.setdiff1d(there, np.concatenate([*elsewhere, np.array([], np.int64)]))
            yield elements, left, "new", f"{rows.table.rows.path}[]"
    for elements, parts in reads.items():
        is_met = np.ones(len(elements), bool)
        if all(arrays is not None for arrays, _ in parts):
            met = np.concatenate([arrays for arrays, _ in parts if arrays is not None])
            is_met = np.isin(elements.level.parents, met)
        taken_there = np.concatenate([there for _, there in parts])
        left = np.setdiff1d(np.flatnonzero(is_met), taken_there)
        where = elements.path(int(left[0])).removeprefix("$").removeprefix(".") if len(left) else ""
        yield elements, left, "new", where
