"""The rows of declared tables in one document, and where the values of their columns are.

What a declaration asks for is compiled once a section, into a `TablePlan`; `TableRows` are the
rows of a table in a response. Where the values of a column are is a place, and for each row the
row of its value there: the two are the same where a field of the row itself is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.dtypes import MOMENTS
from aatoolkit._util.text import json_text, some_of
from aatoolkit.availability.detect import is_size
from aatoolkit.errors import PayloadError, SchemaDriftWarning, warn
from aatoolkit.jsontree.coerce import identity
from aatoolkit.jsontree.decode import checked_value
from aatoolkit.jsontree.layout import MAX_FIELDS, Census
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    Position,
    Step,
    format_path,
    leaves,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, Vector, compose_index
from aatoolkit.sections.section import ENVELOPE, Column, Section, Table

Rows = Sequence[int] | RowIndex

Place = tuple[Vector, RowIndex]
"""Where the values of a column are, and for each row of its table the row of its value."""


class TablePlan(NamedTuple):
    """What can be computed from a table's declaration before any response.

    Attributes
    ----------
    table : Table
        The declaration.
    kind : type or None
        Whether rows are arrays or objects; None if they are whatever is there.
    is_filtered : bool
        Whether some rows are left out for their values.
    beyond : frozenset of str
        The sources outside the rows that no other column reads; of filtered rows, all sources.
    measures : frozenset of str
        The columns of measured numbers: no keys, labels or sample sizes.
    dimensions : dict
        The columns by which statements pick rows: of engines, and of days.
    unplain, alone : frozenset of str
        The columns whose values are not plain JSON of their dtype; these, and categories, which
        are not converted together.
    """

    table: Table
    kind: type | None
    is_filtered: bool
    beyond: frozenset[str]
    measures: frozenset[str]
    dimensions: dict[str, str | None]
    unplain: frozenset[str]
    alone: frozenset[str]


@lru_cache(maxsize=128)
def plans(section: Section) -> tuple[TablePlan, ...]:
    """Compile the declaration of a section."""
    values = [column for table in section for column in table.columns if not column.is_label]
    inside = {column.pattern for column in values if (column.source or "")[0] not in "^$"}
    beyond = {column.source or "" for column in values if column.pattern not in inside}
    compiled = []
    for table in section:
        rows, sources = table.rows, [column.source or "" for column in table.columns]
        dtypes = {column.name: column.dtype for column in table.columns}
        kind: type | None = dict
        if any(source[0] == "[" for source in sources):
            kind = list
        elif rows.one or "." in sources or all(source[0] in "^@#$" for source in sources):
            kind = None
        is_filtered = bool(rows.without or rows.only)
        measures = frozenset(c.name for c in table.columns if _is_measure(table, c))
        unplain = frozenset(c.name for c in table.columns if c.reading or c.null is not None)
        alone = unplain | {name for name in dtypes if dtypes[name] == "category"}
        unlabelled = {column.source or "" for column in table.columns if not column.is_label}
        outside = frozenset(unlabelled if is_filtered else unlabelled & beyond)
        # A row of several engines is no row of one: its numbers sum over them.
        engine = "engine" if dtypes.get("engine", "list<string>") != "list<string>" else None
        day = next((name for name in dtypes if name in table.key and dtypes[name] in MOMENTS), None)
        dimensions = {"engine": engine, "date": day}
        compiled.append(
            TablePlan(table, kind, is_filtered, outside, measures, dimensions, unplain, alone)
        )
    return tuple(compiled)


def _is_measure(table: Table, column: Column) -> bool:
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_size(names[-1] if names else "")


@lru_cache(maxsize=8192)
def _compiled(source: str, header: tuple[Step, ...] | None) -> tuple[int, str, Any]:
    """Split a source: how many records up it begins, its first sign, and the rest."""
    rest = source.lstrip("^")
    ups = len(source) - len(rest)
    if rest[0] in "@#":
        return ups, rest[0], int(rest[1:])
    if rest[0] == "$":
        return 0, "$", parse_path(rest[1:].lstrip("."))
    if rest[0] == "[" and header is not None:
        return ups, "", (Named(header, rest[1:-1]),)
    return ups, "", () if rest == "." else parse_path(rest)


class TableRows:
    """The rows of one table in one document.

    Parameters
    ----------
    document : Vector
        The whole response.
    plan : TablePlan
        The declared table.

    Attributes
    ----------
    places : list of Vector
        The places on the way to the rows, the document first.
    picked : numpy.ndarray
        For each row of the table, its row in the last place.
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
        self.places = [place := document]
        for at, step in enumerate(rows.steps, 1):
            above, place = place, place.descend((step,))
            self.places.append(place)
            is_absent = place.field_absent
            is_limited = isinstance(step, Entries) and bool(step.only)
            if not isinstance(step, Field):
                is_absent = is_limited and not len(place) and (dict in above.kinds or is_absent)
            if is_absent and self.absent is None:
                self.absent = format_path(rows.steps[:at])
            self.is_null |= place.is_null and (isinstance(step, Field) or is_limited)
        if rows.function is not None:
            place = _computed_rows(place, self.table.name, rows.function)
        self.place = place
        self._places: dict[str, Place] = {}
        self.reads: list[tuple[Vector, RowIndex, RowIndex]] = []
        self.picked = place.level.rows
        if rows.one:
            self.picked = self._single()
        elif plan.kind is not None:
            # The key of an entry that is null is a row of which nothing is known.
            is_entry = plan.kind is dict and type(rows.steps[-1]) is Entries
            kinds = {plan.kind, type(None)} if is_entry else {plan.kind}
            if place.kinds - kinds:
                self.picked = place.where(kinds)
        if rows.first:
            self.picked = self.picked[place.level.positions[self.picked] >= rows.first]
        if plan.is_filtered:
            keep = np.ones(self.size, bool)
            for filters, is_wanted in ((rows.without, False), (rows.only, True)):
                for source, scalars in filters:
                    wanted = {*map(identity, scalars)}
                    if None in scalars:
                        wanted.add(identity(MISSING))
                    values = values_at(*self._find(source))
                    keep &= np.array([identity(v) in wanted for v in values], bool) == is_wanted
            self.reads.clear()  # what rows are chosen by is read again, row by row
            self.picked = self.picked[keep]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.picked)

    def _single(self) -> RowIndex:
        """Return the single row if its object, or a field of it, is there; else no rows.

        What encloses the response, such as its domain, is no row by itself.
        """
        places = [self.place] if self.table.rows.steps else []
        for column in self.table.columns:
            ups, sign, steps = _compiled(column.source or "", None)
            if steps and not ups and not sign:
                fields = takewhile(lambda step: type(step) is Field, steps)
                places.append(self.place.descend([*fields]))
        is_there = not places or any(place.kinds - {Missing} for place in places)
        return self.place.level.rows if is_there else np.arange(0)

    def find(self, source: str) -> Place:
        """Find the values of a column by its source: a place, and for each row its row there."""
        place = self._places.get(source)
        if place is None:
            place = self._places[source] = self._find(source)
        return place

    def _find(self, source: str) -> Place:
        ups, sign, rest = _compiled(source, self.table.rows.header)
        if sign == "@":
            keys = [at for at, step in enumerate(self.table.rows.steps, 1) if type(step) is Entries]
            return self.places[keys[rest]].keys(), self._up(keys[rest])
        place, index = self.place, self.picked
        if sign == "$":
            place, index = self._document
        for _ in range(ups):
            place, index = _enclosing_record(place, index)
        if sign == "#":
            return Vector((place.level.positions + rest).tolist(), place.level), index
        return self._follow(place, index, rest)

    @property
    def _document(self) -> Place:
        return self.places[0], np.zeros(self.size, np.int64)

    def _follow(self, place: Vector, index: RowIndex, steps: Sequence[Step]) -> Place:
        """Follow a path from a place; bound steps and single elements differ row by row."""
        for step in steps:
            if type(step) is Field:
                place = place.field(step.name)
            elif isinstance(step, Position | Named):
                above = index
                if type(step) is Position:
                    positions = np.full(self.size, step.number)
                else:
                    positions = self._named(step)  # type: ignore[arg-type]
                place, index = _elements(place, index, positions)
                self.reads.append((place, above, index))
                if type(step) is Named and (positions < 0).all():
                    place = Vector([MISSING] * len(place), place.level, place.tail, True)
            elif isinstance(step, Each | Entries) and step.at is not None:
                place, index = self._bound(place, index, step.at)
            else:
                place = place.descend((step,))
        return place, index

    def _named(self, step: Named) -> RowIndex:
        """For each row, the position that a header gives to a name; -1 where it has none."""
        last = max(at for at, part in enumerate(step.header) if part == Each())
        count = len(self.reads)
        holder, index = self._follow(*self._document, step.header[:last])
        del self.reads[count:]  # names are no values
        elements = holder.each()
        names = elements.descend(step.header[last + 1 :]).values
        labelled = self._labelled(elements, names, index, [step.name] * self.size)
        return compose_index(labelled, elements.level.positions)

    def _bound(self, place: Vector, index: RowIndex, number: int) -> Place:
        """The element at the position, or the entry under the key, of one of a row's own steps."""
        steps = self.table.rows.steps
        at = [at for at, step in enumerate(steps, 1) if isinstance(step, Each | Entries)][number]
        own, up = self.places[at].level, self._up(at)
        if place is self.places[at - 1]:
            return self.places[at], up
        if isinstance(steps[at - 1], Each):
            return _elements(place, index, own.positions[up])
        entries, keys = place.entries(), own.keys or []
        keys = [keys[row] for row in up.tolist()]
        return entries, self._labelled(entries, entries.level.keys or (), index, keys)

    def _labelled(
        self, place: Vector, labels: Sequence[Any], index: RowIndex, keys: list[str]
    ) -> RowIndex:
        """For each row, the element or entry with a label in its array or object; -1 for none."""
        parents = zip(place.level.parents.tolist(), map(repr, labels), strict=True)
        rows = {pair: row for row, pair in enumerate(parents)}
        pairs = zip(index.tolist(), map(repr, keys), strict=True)
        return np.array([rows.get(pair, -1) for pair in pairs], np.int64)

    def _up(self, at: int) -> RowIndex:
        """For each row, its row in the level of an earlier place."""
        level, index = self.place.level, self.picked
        while level is not self.places[at].level:
            index = compose_index(index, level.parents)
            assert level.above is not None
            level = level.above.level
        return index

    def path_in(self, column: Column) -> Callable[[int], str | None]:
        """Return a function that gives the JSON path of a column's value in a row, if any."""

        def path(row: int) -> str | None:
            place, index = self.find(column.source or "")
            origin = int(index[row])
            return place.path(origin) if origin >= 0 else None

        return path

    def around(self, elements: Vector) -> Iterator[RowIndex]:
        """Yield the elements that hold rows of the table."""
        level = self.place.level
        index = level.rows
        while level.above is not None:
            index, level = compose_index(index, level.parents), level.above.level
            if level is elements.level:
                yield index


def values_at(place: Vector, index: RowIndex) -> Sequence[Any]:
    """The values of a place in the rows of a table."""
    if index is place.level.rows:
        return place.values  # type: ignore[no-any-return]
    values = [*place.values, None]  # which is at -1
    return [*map(values.__getitem__, index.tolist())]


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


def _enclosing_record(place: Vector, index: RowIndex) -> Place:
    """The place of the record one array up, and for each row its row there."""
    level, is_inside = place.level, bool(place.tail)
    while not (is_inside and level.in_array):
        if level.above is None:
            raise LookupError("the document itself is not enclosed by anything")
        index, level, is_inside = compose_index(index, level.parents), level.above.level, True
    assert level.above is not None
    return level.above.each(), index


def _elements(place: Vector, index: RowIndex, positions: RowIndex) -> Place:
    """The elements of arrays, and for each row that at a position in its array; -1 for none."""
    elements = place.each()
    lengths = np.asarray(elements.level.lengths, np.int64)
    if not len(lengths):
        return elements, np.full(len(positions), -1, np.int64)
    is_there = (index >= 0) & (positions >= 0) & (positions < lengths[index])
    return elements, np.where(is_there, (lengths.cumsum() - lengths)[index] + positions, -1)


def untaken(tables: Sequence[TableRows]) -> Iterator[tuple[Vector, RowIndex, str, str | None]]:
    """Yield values that only rows could hold and none does, why they are kept; if drift, where.

    Such are the labels of an axis that is longer than its arrays, fields of a record that
    encloses no row, rows that a filter drops and no other table reads; and, as ``new``, the
    elements of arrays that are read by position, where no column and no table reads them.
    """
    whys = {}
    reads: dict[Vector, list[tuple[RowIndex, RowIndex]]] = {}
    for rows in tables:
        if rows.table.rows.first:
            is_before = rows.place.level.positions < rows.table.rows.first
            yield rows.place, np.flatnonzero(is_before), "known", None
        is_filtered = rows.plan.is_filtered
        for source in rows.plan.beyond:
            whys[rows.find(source)[0]] = "left out" if is_filtered else "known"
        for elements, arrays, row_map in rows.reads:
            reads.setdefault(elements, []).append((arrays, row_map))
    places = [rows.find(c.source or "") for rows in tables if whys for c in rows.table.columns]
    for place, why in whys.items():
        indexes = (index for other, index in places if other is place)
        yield place, _left(place, place.present, indexes), why, None
    for elements, parts in reads.items():
        arrays = np.concatenate([arrays for arrays, _ in parts])
        met = np.flatnonzero(np.isin(elements.level.parents, arrays))
        around = [index for rows in tables for index in rows.around(elements)]
        left = _left(elements, met, [*(row_map for _, row_map in parts), *around])
        yield elements, left, "new", format_path(elements.steps)


def _left(place: Vector, rows: RowIndex, taken: Iterable[RowIndex]) -> RowIndex:
    """The rows of a place that are in none of some others."""
    is_left = np.ones(len(place) + 1, bool)  # the last is where -1 points
    for index in taken:
        is_left[index] = False
    return rows[is_left[rows]]


# --- what no column takes --------------------------------------------------------------------


class FieldNode:
    """One step of a section's declared paths: the steps below, and whether columns read it.

    Attributes
    ----------
    below : dict
        The steps below: by the name of a field, and by `Each` and `Entries`.
    is_read : bool
        Whether a column takes the value.
    why : str or None
        Why a value that is not taken is no drift: ``envelope`` or ``known``.
    """

    def __init__(self) -> None:
        self.below: dict[Any, FieldNode] = {}
        self.is_read = False
        self.why: str | None = None

    def down(self, steps: Sequence[Step]) -> list[FieldNode]:
        """The nodes some steps below, one for each of the keys that a step is limited to."""
        if not steps:
            return [self]
        step, rest = steps[0], steps[1:]
        if isinstance(step, Entries) and step.only:
            return [node for name in step.only for node in self.down((Field(name), *rest))]
        key = step.name if isinstance(step, Field) else type(step)
        return self.below.setdefault(key, FieldNode()).down(rest)


@lru_cache(maxsize=128)
def field_map(section: Section) -> FieldNode:
    """Build the tree of the paths that columns read, and of others that are expected."""
    root = FieldNode()
    for name in ENVELOPE:
        root.down((Field(name),))[0].why = "envelope"
    expected = [*map(parse_pattern, section.kept)]
    for table in section:
        rows, is_computed = table.rows, table.rows.function is not None
        root.down(rows.steps)
        expected += [rows.steps] * is_computed
        for column in table.columns:
            if column.is_label:
                continue
            ups, sign, source = _compiled(column.source or "", rows.header)
            for header in (step.header for step in source if isinstance(step, Named)):
                last = max(at for at, step in enumerate(header) if step == Each())
                expected.append(header[:last])
            if is_computed and not ups and not sign:
                continue
            # Where it passes through the rows, with the keys that they name.
            steps = list(parse_pattern(column.pattern))
            for at, (step, row_step) in enumerate(zip(steps, rows.steps, strict=False)):
                if isinstance(row_step, Entries) and isinstance(step, Entries):
                    steps[at] = row_step
            for node in root.down(steps):
                node.is_read = True
    for path in expected:
        for node in root.down(path):
            node.why = "known"
    return root


@dataclass(frozen=True)
class Drift:
    """One difference between a response and its declaration.

    Parameters
    ----------
    kind : str
        ``new``, ``absent``, ``wrong type``, ``new level``, ``null key`` or ``duplicate key``.
    path : str
        Where, with ``[]`` and ``{}`` for any of many; for keys, the table and its columns.
    count : int
        How often.
    example : str or None
        One value, as JSON text.
    """

    kind: str
    path: str
    count: int
    example: str | None = None

    def __str__(self) -> str:
        example = f", such as {self.example[:60]}" if self.example is not None else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        place = self.path
        if not self.kind.endswith(" key"):
            place = f"$.{place}" if place else "$"
        return f"{self.kind}{times}{example} @ {place}"


class DriftReport:
    """The drift of a response, and the values that no column took.

    Attributes
    ----------
    kept : list of tuple
        What no column took: the place, its rows, and why it was kept.
    differences : dict
        The differences, by kind and path.
    """

    def __init__(self) -> None:
        self.kept: list[tuple[Vector, Rows, str]] = []
        self.differences: dict[tuple[str, str], Drift] = {}

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        drift = self.differences.get((kind, path))
        if drift is None or drift.count < count:
            self.differences[kind, path] = Drift(kind, path, count, example)

    def keep(self, place: Vector, rows: Rows, why: str, path: str | None = None) -> None:
        """Keep the values at some rows of a place as extra, unless a function computed them.

        With a path they are one drift.
        """
        if len(rows) and not place.level.computed:
            self.kept.append((place, rows, why))
        if len(rows) and path is not None:
            self.record(why, path, len(rows), _first_leaf(place.values[rows[0]]))

    def extend(self, report: DriftReport) -> None:
        """Append the drift and the values of another report."""
        self.kept += report.kept
        for (kind, path), drift in report.differences.items():
            self.record(kind, path, drift.count, drift.example)

    def values(self, *reasons: str) -> Iterator[tuple[Any, str, str]]:
        """Yield the values that no table has, with path and reason; for some reasons only."""
        for place, rows, why in self.kept:
            for row in map(int, rows) if not reasons or why in reasons else ():
                yield place.values[row], place.path(row), why

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """By JSON path, the JSON text of each leaf that is kept, and why."""
        return {
            path: (text, why)
            for value, place, why in self.values()
            for path, text in leaves(value, place)
        }

    def extra_frame(self) -> pd.DataFrame:
        """The leaves that no column took; those of fields that are expected come last."""
        order = {"envelope": 2, "known": 1}
        rows = [(path, *of) for path, of in self.extra.items()]
        return listing(
            ("path", "value", "why"), sorted(rows, key=lambda leaf: order.get(leaf[2], 0))
        )

    def drift_frame(self) -> pd.DataFrame:
        """The differences, one a row."""
        rows = [[*vars(drift).values()] for drift in self.differences.values()]
        return listing(("kind", "path", "count", "example"), rows, count="Int64")

    def raise_or_warn(self, section: Section, strict: bool) -> None:
        """Raise for the differences of a response if that is asked for; else warn of the first."""
        problems = [*map(str, self.differences.values())]
        if problems and strict:
            raise PayloadError(
                f"the response of {section.name} differs from its declaration in {len(problems)} "
                "places:\n" + "\n".join(problems),
                section=section.name,
                problems=problems,
            )
        if problems:
            warn(
                f"the response of {section.name} is not as declared: "
                f"{some_of(problems, separator='; ')}; all are in .drift and .extra of its tables",
                SchemaDriftWarning,
            )


def listing(names: Sequence[str], rows: Iterable[Sequence[Any]], /, **dtypes: Any) -> pd.DataFrame:
    """Build a frame of text, but for some columns of other dtypes."""
    columns = [*zip(*rows, strict=True)] or [()] * len(names)
    return pd.DataFrame(
        {
            name: pd.array([*values], dtypes.get(name, "string"))
            for name, values in zip(names, columns, strict=True)
        }
    )


def _first_leaf(value: Any) -> str:
    """The first value that is a scalar or an empty container, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return json_text(value)


class Walk:
    """A walk through a response: counts what it has, and reports what no column takes.

    Parameters
    ----------
    census : Census
        Counts.
    """

    def __init__(self, census: Census) -> None:
        self.census, self.report = census, DriftReport()

    def visit(self, place: Vector, node: FieldNode, depth: int = 0, why: str | None = None) -> None:
        """Visit the values at a declared place, and what is below them."""
        kinds, why = place.kinds, node.why or why
        self.census.look(place.values, kinds, depth)
        is_leaf = kinds.isdisjoint((dict, list))
        if is_leaf and node.is_read:  # what the column itself could not read it keeps
            return
        takes: set[type] = {Missing}
        entries, elements = node.below.get(Entries), node.below.get(Each)
        if dict in kinds and entries is not None:
            takes.add(dict)
            self.census.add_keys(place.objects)
            self.visit(place.entries(), entries, depth + 1, why)
        elif dict in kinds and node.below.keys() - {Each}:
            takes.add(dict)
            self._visit_fields(place, node, depth + 1, why)
        if list in kinds and elements is not None:
            takes.add(list)
            self.visit(place.each(), elements, depth + 1, why)
        rest = {dict, list} & kinds - takes
        if rest:
            self.census.walk([v for v in place.values if type(v) in rest], depth)
        if node.is_read:
            return
        # Null is expected of fields and entries: an element that is null has no row.
        if not node.why and depth and (place.tail or not place.level.in_array):
            takes.add(type(None))
        if not kinds <= takes:
            self._keep(place, place.where(kinds - takes), why, "wrong type")

    def _visit_fields(self, place: Vector, node: FieldNode, depth: int, why: str | None) -> None:
        """Visit the declared fields of objects, report the others; very many are keys of one."""
        names = place.fields()
        self.census.add_keys(place.objects, len(names))
        new = {name for name in names if name not in node.below}
        are_many = len(new) > MAX_FIELDS
        for name in [name for name in node.below if type(name) is str] if are_many else names:
            field = place.field(name)
            if name in new:
                self.census.survey(field.values, field.kinds, depth)
                self._keep(field, field.present, why, "new")
            elif field.kinds != {Missing}:
                self.visit(field, node.below[name], depth, why)
        if are_many:
            entries = place.entries()
            rows = [row for row, key in enumerate(entries.level.keys or ()) if key in new]
            self.census.walk([entries.values[row] for row in rows], depth)
            self._keep(entries, rows, why, "new")

    def _keep(self, place: Vector, rows: Rows, why: str | None, kind: str) -> None:
        path = None if why else format_path(place.steps)
        self.report.keep(place, rows, why or kind, path)
