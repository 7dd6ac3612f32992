"""The rows of declared tables in one document, and where the values of their columns are.

What a declaration asks for is compiled once a section, into a `TablePlan`; `TableRows` are the
rows of a table in an answer. Where the values of a column are is a place, and for each row the
row of its value there: the two are the same where a field of the row itself is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from aatoolkit.availability.detect import is_size
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.coerce import Parsed, read_as
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
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, RowMap, Vector, compose_index
from aatoolkit.sections.column import Reading
from aatoolkit.sections.section import Column, Section, Table

Place = tuple[Vector, RowMap]
"""Where the values of a column are, and for each row of its table the row of its value."""

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

_SIGNS = frozenset("$@^#[.")
"""What a source begins with that is no path from the row itself."""


class ColumnPlan(NamedTuple):
    """What is to be known of a declared column before an answer comes.

    Attributes
    ----------
    column, source
        The declaration, and its source.
    reading : Reading
        How it is written; `is_plain` if that is plain JSON of its dtype.
    is_measure : bool
        Whether it holds measured numbers: no keys, labels or sample sizes.
    """

    column: Column
    source: str
    reading: Reading
    is_plain: bool
    is_measure: bool


class TablePlan(NamedTuple):
    """What is to be known of a declared table before an answer comes.

    Attributes
    ----------
    table : Table
        The declaration.
    columns : tuple of ColumnPlan
        Its columns.
    kind : type or None
        Whether rows are arrays or objects; None if they are whatever is there.
    is_filtered : bool
        Whether some rows are left out for their values.
    beyond : frozenset of str
        The sources outside the rows that no other column reads.
    """

    table: Table
    columns: tuple[ColumnPlan, ...]
    kind: type | None
    is_filtered: bool
    beyond: frozenset[str]


@lru_cache(maxsize=128)
def plans(section: Section) -> tuple[TablePlan, ...]:
    """Compile the declaration of a section."""
    values = [column for table in section for column in table.columns if not column.is_label]
    inside = {column.pattern for column in values if (column.source or "")[0] not in "^$"}
    beyond = {column.source or "" for column in values if column.pattern not in inside}
    listed = []
    for table in section:
        rows, sources = table.rows, [column.source or "" for column in table.columns]
        kind: type | None = dict
        if rows.takes_positions or any(source[0] == "[" for source in sources):
            kind = list
        elif rows.one or "." in sources or all(source[0] in "^@#$" for source in sources):
            kind = None
        columns = tuple(
            ColumnPlan(
                column,
                column.source or "",
                column.reading or Reading(column.dtype),
                column.reading is None,
                _is_measure(table, column),
            )
            for column in table.columns
        )
        is_filtered = bool(rows.without or rows.only)
        listed.append(TablePlan(table, columns, kind, is_filtered, frozenset(beyond & {*sources})))
    return tuple(listed)


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
    size : int
        The number of rows.
    absent : str or None
        The first field on the way to the rows that the document lacks; None if it has all.
    is_null : bool
        Whether there is null instead of rows, which does not mean that there are none.
    reads : list
        The single elements that columns take: the place of all, for each row the row of its
        array, and the row of its element.
    """

    def __init__(self, document: Vector, plan: TablePlan) -> None:
        self.plan, self.table = plan, plan.table
        rows = self.table.rows
        self.absent: str | None = None
        self.is_null = False
        self.places = [document]
        for step in rows.steps:
            self._step(step)
        self.place = self.places[-1]
        if rows.function is not None:
            self.place = _computed_rows(self.place, self.table.name, rows.function)
        self._places: dict[str, Place] = {}
        self.reads: list[tuple[Vector, RowMap, RowIndex]] = []
        self.picked: RowMap = None
        if rows.one:
            self.picked = self._single()
        elif plan.kind is not None:
            # The key of an entry that is null is a row of which nothing is known.
            is_entry = plan.kind is dict and type(rows.steps[-1]) is Entries
            kinds = {plan.kind, type(None)} if is_entry else {plan.kind}
            if self.place.kinds - kinds:
                self.picked = self.place.where(kinds.__contains__)
        if rows.first:
            self.picked = self.numbers[self.place.level.positions[self.numbers] >= rows.first]
        if plan.is_filtered:
            keep = np.ones(len(self.numbers), bool)
            for chosen, wanted in ((rows.without, False), (rows.only, True)):
                for source, scalars in chosen:
                    keep &= _has(*self._find(source), scalars, len(keep)) == wanted
            self.picked = self.numbers[keep]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.place) if self.picked is None else len(self.picked)

    @property
    def numbers(self) -> RowIndex:
        """For each row of the table, its row in the last place."""
        return np.arange(len(self.place)) if self.picked is None else self.picked

    def _step(self, step: Step) -> None:
        """Go one step towards the rows."""
        above = self.places[-1]
        place = above.descend((step,))
        is_limited = isinstance(step, Entries) and bool(step.only)
        is_absent = place.field_absent
        if not isinstance(step, Field):
            is_absent = is_limited and not len(place) and (dict in above.kinds or is_absent)
        self.places.append(place)
        if is_absent and self.absent is None:
            self.absent = format_path(self.table.rows.steps[: len(self.places) - 1])
        self.is_null |= place.is_null and (isinstance(step, Field) or is_limited)

    def _single(self) -> RowMap:
        """The answers that have the object of a single row, or a field of it; None if all do.

        What encloses the answer, such as its domain, is no row by itself.
        """
        places = [self.place] if self.table.rows.steps else []
        paths = [parse_path(of.source) for of in self.plan.columns if of.source[0] not in _SIGNS]
        for path in paths:
            places.append(self.place.descend([*takewhile(lambda step: type(step) is Field, path)]))
        if any(Missing not in place.kinds for place in places):
            return None
        return np.unique(np.concatenate([place.present for place in places])) if places else None

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
            keys = [at for at, step in enumerate(self.table.rows.steps, 1) if type(step) is Entries]
            at = keys[int(source[1:])]
            return self.places[at].keys(), self._up(at)
        place, index = self.place, self.picked
        while source.startswith("^"):
            (place, index), source = _enclosing_record(place, index), source[1:]
        if source[0] == "#":
            positions = place.level.positions + int(source[1:])
            return Vector(positions.tolist(), place.level), index
        if source[0] == "[" and self.table.rows.takes_positions:
            position = self._position_of(source[1:-1])
            if position is None:
                return Vector([MISSING] * len(place), place.level, place.tail, True), index
            return _elements(place, index, np.full(self.size, position))
        return self._follow(place, index, () if source == "." else parse_path(source))

    @property
    def _document(self) -> Place:
        """The document, and for each row the one that it is in."""
        is_one = len(self.places[0]) == 1
        return self.places[0], np.zeros(self.size, np.int64) if is_one else self._up(0)

    def _follow(self, place: Vector, index: RowMap, steps: Sequence[Step]) -> Place:
        """Follow a path from a place; bound steps and single elements differ row by row."""
        for step in steps:
            if isinstance(step, Position | Named):
                positions = np.full(self.size, step.number) if type(step) is Position else None
                above = index
                place, index = _elements(
                    place, index, self._named(step) if positions is None else positions
                )
                self.reads.append((place, above, index))
            elif isinstance(step, Each | Entries) and step.at is not None:
                place, index = self._bound(place, index, step.at)
            else:
                place = place.descend((step,))
        return place, index

    def _named(self, step: Any) -> RowIndex:
        """For each row, the position that a header gives to a name; -1 where it has none."""
        last = max(at for at, part in enumerate(step.header) if part == Each())
        read = len(self.reads)
        holder, index = self._follow(*self._document, step.header[:last])
        del self.reads[read:]  # names are no values
        elements = holder.each()
        names = elements.descend(step.header[last + 1 :]).values
        return self._labelled(elements, names, index, [step.name] * self.size, True)

    def _bound(self, place: Vector, index: RowMap, number: int) -> Place:
        """The element at the position, or the entry under the key, of one of a row's own steps."""
        steps = self.table.rows.steps
        at = [at for at, step in enumerate(steps, 1) if isinstance(step, Each | Entries)][number]
        own, up = self.places[at].level, self._up(at)
        if place is self.places[at - 1]:
            return self.places[at], up
        if isinstance(steps[at - 1], Each):
            return _elements(place, index, own.positions if up is None else own.positions[up])
        entries = place.entries()
        keys = [(own.keys or [])[row] for row in self._rows_of(up)]
        return entries, self._labelled(entries, entries.level.keys or (), index, keys, False)

    def _rows_of(self, index: RowMap) -> Iterable[int]:
        return range(self.size) if index is None else index.tolist()

    def _labelled(
        self, place: Vector, labels: Sequence[Any], index: RowMap, keys: list[str], by_place: bool
    ) -> RowIndex:
        """For each row, the element or entry with a label in its array or object; -1 for none."""
        level = place.level
        numbers = level.positions.tolist() if by_place else range(len(place))
        held = zip(level.parents.tolist(), labels, numbers, strict=True)
        found = {(parent, label): row for parent, label, row in held if isinstance(label, str)}
        pairs = zip(self._rows_of(index), keys, strict=True)
        return np.array([found.get(pair, -1) for pair in pairs], np.int64)

    def _position_of(self, name: str) -> int | None:
        """The position that a source of a row that is an array means; None if it has none."""
        header = self.table.rows.header
        if header is None:
            return int(name)
        names = self.places[0].descend(header)
        pairs = zip(names.values, names.level.positions.tolist(), strict=True)
        return next((at for held, at in pairs if held == name), None)

    def _up(self, at: int) -> RowMap:
        """For each row, its row in the level of an earlier place."""
        level, index = self.place.level, self.picked
        while level is not self.places[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index

    def read(self, plan: ColumnPlan, place: Vector) -> Parsed:
        """Parse all values at a place as a column reads them, what is odd included."""
        reading, year = plan.reading, None
        if reading.year is not None:
            values = self.find(reading.year)[0].values
            year = next((value for value in values if value is not MISSING), None)
        return read_as(place.values, reading, year)

    def path_in(self, column: Column) -> Callable[[int], str | None]:
        """Return a function that gives the JSON path of a column's value in a row, if any."""

        def path(row: int) -> str | None:
            place, index = self.find(column.source or "")
            origin = row if index is None else int(index[row])
            return place.path(origin) if origin >= 0 else None

        return path

    def undeclared(self) -> tuple[Vector, RowIndex]:
        """The elements of array rows, and those at positions that are not declared."""
        rows, elements = self.table.rows, self.place.each()
        names = [*map(str, range(len(rows.positional)))]
        if rows.header is not None:
            names = [of.source[1:-1] for of in self.plan.columns if of.source[0] == "["]
        declared = [at for at in map(self._position_of, names) if at is not None]
        return elements, np.flatnonzero(~np.isin(elements.level.positions, declared))

    def rows_around(self, elements: Vector) -> Iterator[RowIndex]:
        """Yield the elements that hold rows of the table."""
        level, index = self.place.level, None
        while level.above is not None:
            index, level = compose_index(index, level.parents), level.above.level
            if level is elements.level and index is not None:
                yield index


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
    level, is_inside = place.level, bool(place.tail)
    while not (is_inside and level.in_array):
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, is_inside = compose_index(index, level.parents), level.above.level, True
    assert level.above is not None
    return level.above.each(), index


def _elements(place: Vector, index: RowMap, positions: RowIndex) -> tuple[Vector, RowIndex]:
    """The elements of arrays, and for each row that at a position in its array; -1 for none."""
    elements = place.each()
    lengths = np.asarray(elements.level.lengths, np.int64)
    above = np.arange(len(positions)) if index is None else index
    if not len(lengths):
        return elements, np.full(len(positions), -1, np.int64)
    is_there = (above >= 0) & (positions >= 0) & (positions < lengths[above])
    return elements, np.where(is_there, (lengths.cumsum() - lengths)[above] + positions, -1)


def _has(place: Vector, index: RowMap, scalars: tuple[Any, ...], size: int) -> Mask:
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
    whys: dict[Vector, str] = {}
    for rows in tables:
        if rows.table.rows.first:
            is_before = rows.place.level.positions < rows.table.rows.first
            yield rows.place, np.flatnonzero(is_before), "known", ""
        is_filtered = rows.plan.is_filtered
        for plan in rows.plan.columns if is_filtered or rows.plan.beyond else ():
            if not plan.column.is_label and (is_filtered or plan.source in rows.plan.beyond):
                whys[rows.find(plan.source)[0]] = "left out" if is_filtered else "known"
    taken: dict[Vector, list[RowMap]] = {place: [] for place in whys}
    for rows in tables if whys else ():
        for plan in rows.plan.columns:
            place, index = rows.find(plan.source)
            if place in taken:
                taken[place].append(index)
    for place, why in whys.items():
        if all(index is not None for index in taken[place]):
            yield place, _left(place.present, *taken[place]), why, ""
    reads: dict[Vector, list[tuple[RowMap, RowIndex]]] = {}
    for elements, arrays, there in [read for rows in tables for read in rows.reads]:
        reads.setdefault(elements, []).append((arrays, there))
    for rows in tables:
        # Positions that are no columns of a grid may be tables of their own, or labels of such.
        if rows.table.rows.takes_positions:
            elements, there = rows.undeclared()
            elsewhere = [taken for _, taken in reads.pop(elements, [])]
            elsewhere += [index for other in tables for index in other.rows_around(elements)]
            yield elements, _left(there, *elsewhere), "new", f"{rows.table.rows.path}[]"
    for elements, parts in reads.items():
        met = np.arange(len(elements))
        if all(arrays is not None for arrays, _ in parts):
            arrays = np.concatenate([arrays for arrays, _ in parts if arrays is not None])
            met = np.flatnonzero(np.isin(elements.level.parents, arrays))
        left = _left(met, *(there for _, there in parts))
        where = elements.path(int(left[0])).removeprefix("$").removeprefix(".") if len(left) else ""
        yield elements, left, "new", where


def _left(rows: RowIndex, *taken: Any) -> RowIndex:
    """The rows that are in none of some others."""
    return rows[~np.isin(rows, np.concatenate(taken))] if taken else rows
