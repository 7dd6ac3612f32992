"""Find the rows of declared tables in a response, and the values of their columns.

The values of a column are a `Vector` (all values at one JSON path) and a row index. The row index
is an array with one number per row: the position of the row's value in the vector. Values that no
column reads are collected, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.dtypes import MOMENTS
from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import json_text, some_of
from aatoolkit.availability.detect import is_sample_size
from aatoolkit.errors import PayloadError, SchemaDriftWarning, warn
from aatoolkit.jsontree.coerce import hashable_key
from aatoolkit.jsontree.decode import check_json_value
from aatoolkit.jsontree.layout import MAX_FIELDS, StructureCounter
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    Position,
    Step,
    format_path,
    leaf_values,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, Vector, compose_row_indexes
from aatoolkit.sections.section import ENVELOPE_FIELDS, Column, Section, Table, make_pattern

Path = tuple[Step, ...]
Rows = Sequence[int] | RowIndex

RowValues = tuple[Vector, RowIndex]
"""A vector, and for each row of a table the position of its value in the vector, or -1."""

ElementRead = tuple[Vector, RowIndex, RowIndex]
"""Array elements that were read by position: the vector of all elements, and for each row of a
table the position of its array and of its element.
"""


class TablePlan(NamedTuple):
    """Properties of a declared table that are computed once, for reading it from responses."""

    table: Table
    kind: type | None  # of the rows in the response: list, dict, or None for any
    is_filtered: bool  # whether rows are dropped by their values
    outer_sources: frozenset[str]  # paths of columns whose values may belong to no row
    measures: frozenset[str]  # columns of measured numbers
    dimensions: dict[str, str | None]  # the columns of engines and days, by "engine" and "date"
    parsed: frozenset[str]  # columns whose values must be parsed, masked or filled
    separate: frozenset[str]  # columns that are converted one by one


@lru_cache(maxsize=128)
def plans(section: Section) -> tuple[TablePlan, ...]:
    """Return one `TablePlan` (properties of a table, used for reading) per table of a section."""
    value_columns = [column for table in section for column in table.columns if not column.is_label]
    patterns_inside = {
        column.pattern for column in value_columns if (column.source or "")[0] not in "^$"
    }
    outer_sources = {
        column.source or "" for column in value_columns if column.pattern not in patterns_inside
    }
    table_plans = []
    for table in section:
        rows = table.rows
        sources = [column.source or "" for column in table.columns]
        dtypes = {column.name: column.dtype for column in table.columns}
        row_type: type | None = dict
        if any(source[0] == "[" for source in sources):
            row_type = list
        elif rows.one or "." in sources or all(source[0] in "^@#$" for source in sources):
            row_type = None
        is_filtered = bool(rows.without or rows.only)
        measures = frozenset(column.name for column in table.columns if _is_measure(table, column))
        parsed = frozenset(
            column.name
            for column in table.columns
            if column.reading or column.valid or column.null is not None
        )
        separate = parsed | {name for name in dtypes if dtypes[name] == "category"}
        value_sources = {column.source or "" for column in table.columns if not column.is_label}
        outside_rows = frozenset(value_sources if is_filtered else value_sources & outer_sources)
        # A row of several engines is no row of one: its numbers sum over them.
        engine_column = next(
            (
                name
                for name in (
                    "engine",
                    *(key for key in table.key if key in words_of("engine_column")),
                )
                if dtypes.get(name, "list<string>") != "list<string>"
            ),
            None,
        )
        day_column = next(
            (name for name in dtypes if name in table.key and dtypes[name] in MOMENTS), None
        )
        dimensions = {"engine": engine_column, "date": day_column}
        table_plans.append(
            TablePlan(
                table, row_type, is_filtered, outside_rows, measures, dimensions, parsed, separate
            )
        )
    return tuple(table_plans)


def _is_measure(table: Table, column: Column) -> bool:
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_sample_size(names[-1] if names else "")


@lru_cache(maxsize=8192)
def _parse_source(source: str, header: tuple[Step, ...] | None) -> tuple[int, str, Any]:
    """Parse the path from a row to the value of a column, such as ``^name`` or ``@0``.

    The result is a tuple: the number of levels up (``^``); a sign (``@``, ``#``, ``$`` or empty);
    and the steps down, or the number after ``@`` or ``#``.
    """
    # The sign is @ for a key, # for a position, $ for the whole response, or empty.
    source_below = source.lstrip("^")
    levels_up = len(source) - len(source_below)
    if source_below[0] in "@#":
        return levels_up, source_below[0], int(source_below[1:])
    if source_below[0] == "$":
        return 0, "$", parse_path(source_below[1:].lstrip("."))
    if source_below[0] == "[" and header is not None:
        return levels_up, "", (Named(header, source_below[1:-1]),)
    return levels_up, "", () if source_below == "." else parse_path(source_below)


@lru_cache(maxsize=8192)
def find_sources_read(
    source: str, valid_path: str | None, header: Path | None
) -> list[tuple[str, list[Path]]]:
    """Return tuples: a path that a column reads, and the paths of arrays with its column names."""
    sources = []
    for path in (source, valid_path.lstrip("!")) if valid_path else (source,):
        _, sign, steps = _parse_source(path, header)
        if sign not in ("@", "#"):
            headers = [step.header for step in steps if isinstance(step, Named)]
            sources.append((path, [steps[: -1 - steps[::-1].index(Each())] for steps in headers]))
    return sources


class TableRows:
    """Finds the rows of one table in a response, and the values of its columns."""

    def __init__(self, document: Vector, plan: TablePlan) -> None:
        self.plan, self.table = plan, plan.table
        rows = self.table.rows
        self.absent_path: str | None = None  # the first part of the path to the rows that is absent
        self.is_null = False  # whether the response has null instead of rows
        self.vectors = [vector := document]  # the values at each step of the path to the rows
        for step_count, step in enumerate(rows.steps, 1):
            parent, vector = vector, vector.descend((step,))
            self.vectors.append(vector)
            is_absent = vector.is_absent
            is_limited = isinstance(step, Entries) and bool(step.only)
            if not isinstance(step, Field):
                is_absent = is_limited and not len(vector) and (dict in parent.kinds or is_absent)
            if is_absent and self.absent_path is None:
                self.absent_path = format_path(rows.steps[:step_count])
            self.is_null |= vector.is_null and (isinstance(step, Field) or is_limited)
        if rows.function is not None:
            vector = _compute_rows(vector, self.table.name, rows.function)
        self.vector = vector
        self._values: dict[str, RowValues] = {}
        self.element_reads: list[ElementRead] = []  # array elements read by position
        self.row_index = vector.level.rows
        if rows.one:
            self.row_index = self._find_single_row()
        elif plan.kind is not None:
            # An entry that is null is a row with a key and no values.
            is_entry = plan.kind is dict and type(rows.steps[-1]) is Entries
            row_types = {plan.kind, type(None)} if is_entry else {plan.kind}
            if vector.kinds - row_types:
                self.row_index = vector.rows_of_types(row_types)
        if rows.first:
            self.row_index = self.row_index[vector.level.positions[self.row_index] >= rows.first]
        if plan.is_filtered:
            mask = np.ones(self.size, bool)
            for filters, is_kept in ((rows.without, False), (rows.only, True)):
                for source, scalars in filters:
                    filter_keys = {*map(hashable_key, scalars)}
                    if None in scalars:
                        filter_keys.add(hashable_key(MISSING))
                    values = take_values(*self._find_values(source, []))
                    mask &= (
                        np.array([hashable_key(cell) in filter_keys for cell in values], bool)
                        == is_kept
                    )
            self.row_index = self.row_index[mask]

    @property
    def size(self) -> int:
        """The number of rows of the table."""
        return len(self.row_index)

    def _find_single_row(self) -> RowIndex:
        """Return an array with the position of the table's only row.

        The array is empty if the response has none of the row's fields.
        """
        vectors = [self.vector] if self.table.rows.steps else []
        for column in self.table.columns:
            levels_up, sign, steps = _parse_source(column.source or "", None)
            if steps and not levels_up and not sign:
                fields = takewhile(lambda step: type(step) is Field, steps)
                vectors.append(self.vector.descend([*fields]))
        is_present = not vectors or any(vector.kinds - {Missing} for vector in vectors)
        return self.vector.level.rows if is_present else np.arange(0)

    def values_of(self, source: str) -> RowValues:
        """Return the values at the path of a column, and their positions by row.

        Returns
        -------
        vector : Vector
            All values at the path.
        index : numpy.ndarray
            For each row, the position of its value in ``vector``, or -1.
        """
        values = self._values.get(source)
        if values is None:
            values = self._values[source] = self._find_values(source, self.element_reads)
        return values

    def _find_values(self, source: str, element_reads: list[ElementRead]) -> RowValues:
        levels_up, sign, steps_or_number = _parse_source(source, self.table.rows.header)
        if sign == "@":
            step_number = [
                step_number
                for step_number, step in enumerate(self.table.rows.steps, 1)
                if type(step) is Entries
            ][steps_or_number]
            return self.vectors[step_number].keys(), self._find_ancestor_rows(step_number)
        vector, index = self.vector, self.row_index
        if sign == "$":
            vector, index = self._document
        for _ in range(levels_up):
            vector, index = _find_enclosing_records(vector, index)
        if sign == "#":
            return Vector((vector.level.positions + steps_or_number).tolist(), vector.level), index
        return self._follow_path(vector, index, steps_or_number, element_reads)

    @property
    def _document(self) -> RowValues:
        return self.vectors[0], np.zeros(self.size, np.int64)

    def _follow_path(
        self,
        vector: Vector,
        index: RowIndex,
        steps: Sequence[Step],
        element_reads: list[ElementRead],
    ) -> RowValues:
        """Follow a path from some values; return the values at its end, and their positions by row.

        Array elements that are read by their position are added to ``element_reads``.
        """
        for step in steps:
            if type(step) is Field:
                vector = vector.field(step.name)
            elif isinstance(step, Position | Named):
                arrays = index
                if type(step) is Position:
                    positions = np.full(self.size, step.number)
                else:
                    positions = self._find_positions_of_name(step)  # type: ignore[arg-type]
                vector, index = _take_elements(vector, index, positions)
                element_reads.append((vector, arrays, index))
                if type(step) is Named and (positions < 0).all():
                    vector = Vector([MISSING] * len(vector), vector.level, vector.field_names, True)
                    self.vectors.append(vector)  # elements of it refer to it weakly
            elif isinstance(step, Each | Entries) and step.at is not None:
                vector, index = self._find_items_of_rows(vector, index, step.at)
            else:
                vector = vector.descend((step,))
        return vector, index

    def _find_positions_of_name(self, step: Named) -> RowIndex:
        """Return an array: for each row, the position of a column name in its header, or -1."""
        last_array = max(
            number for number, header_step in enumerate(step.header) if header_step == Each()
        )
        header, index = self._follow_path(*self._document, step.header[:last_array], [])
        elements = header.elements()
        names = elements.descend(step.header[last_array + 1 :]).values
        element_rows = self._find_rows_by_label(elements, names, index, [step.name] * self.size)
        return compose_row_indexes(element_rows, elements.level.positions)

    def _find_items_of_rows(
        self, vector: Vector, index: RowIndex, container_number: int
    ) -> RowValues:
        """Return, for each row, the item of another array or object that belongs to the row.

        The item has the same position in its array, or the same key in its object, as the row. The
        result is a vector of items, and for each row a position in it or -1.
        """
        steps = self.table.rows.steps
        step_number = [
            step_number
            for step_number, step in enumerate(steps, 1)
            if isinstance(step, Each | Entries)
        ][container_number]
        level, rows = self.vectors[step_number].level, self._find_ancestor_rows(step_number)
        if vector is self.vectors[step_number - 1] and np.array_equal(
            index, self._find_ancestor_rows(step_number - 1)
        ):
            return self.vectors[step_number], rows
        if isinstance(steps[step_number - 1], Each):
            return _take_elements(vector, index, level.positions[rows])
        entries, keys = vector.entries(), level.keys or []
        keys = [keys[row] for row in rows.tolist()]
        return entries, self._find_rows_by_label(entries, entries.level.keys or (), index, keys)

    def _find_rows_by_label(
        self, vector: Vector, labels: Sequence[Any], index: RowIndex, row_labels: list[str]
    ) -> RowIndex:
        """Return an array: for each row, the position of the item that has the row's label, or -1.

        ``labels`` are the labels of the items, and ``row_labels`` those of the rows.
        """
        parents_and_labels = zip(vector.level.parents.tolist(), map(repr, labels), strict=True)
        rows_by_pair = {pair: row for row, pair in enumerate(parents_and_labels)}
        pairs = zip(index.tolist(), map(repr, row_labels), strict=True)
        return np.array([rows_by_pair.get(pair, -1) for pair in pairs], np.int64)

    def _find_ancestor_rows(self, step_number: int) -> RowIndex:
        """Return an array: for each row, the position of the array or object that encloses it.

        ``step_number`` is the number of a step on the path to the rows, from 1.
        """
        level, index = self.vector.level, self.row_index
        while level is not self.vectors[step_number].level:
            index = compose_row_indexes(index, level.parents)
            assert level.container is not None
            level = level.container.level
        return index

    def path_finder(self, column: Column) -> Callable[[int], str | None]:
        """Return a function from the number of a row to the JSON path of the column's value there.

        The function returns None for a row without a value.
        """

        def path(row: int) -> str | None:
            vector, index = self.values_of(column.source or "")
            return vector.path(int(index[row])) if index[row] >= 0 else None

        return path

    def iter_element_indexes(self, elements: Vector) -> Iterator[RowIndex]:
        """Yield an array with the positions of those elements that contain rows of this table.

        ``elements`` are array elements on the path to the rows.
        """
        level = self.vector.level
        index = level.rows
        while level.container is not None:
            index, level = compose_row_indexes(index, level.parents), level.container.level
            if level is elements.level:
                yield index


def take_values(vector: Vector, index: RowIndex) -> Sequence[Any]:
    """Return the values at some positions of a vector; the position -1 gives None."""
    if index is vector.level.rows:
        return vector.values  # type: ignore[no-any-return]
    values = [*vector.values, None]  # None is the last, at -1
    return [*map(values.__getitem__, index.tolist())]


def _compute_rows(vector: Vector, table: str, function: Callable[[Any], Iterable[Any]]) -> Vector:
    """Return the rows that a function of the user computes from values of the response.

    ``table`` is the name of the table, for the error message if the function fails.
    """
    try:
        rows = [
            [] if value is None or value is MISSING else [dict(row) for row in function(value)]
            for value in vector.values
        ]
        check_json_value(rows)
    except Exception as error:
        problem = f"the rows of {table} could not be made: {type(error).__name__}: {error}"
    else:
        return vector.flatten(rows, is_computed=True)
    raise PayloadError(problem, problems=[f"{problem} @ {vector.path(0)}"])


def _find_enclosing_records(vector: Vector, index: RowIndex) -> RowValues:
    """Return the array elements around some rows, and for each row the position of its element."""
    level, is_inside = vector.level, bool(vector.field_names)
    while not (is_inside and level.in_array):  # a declaration is refused if there is no record
        index, is_inside = compose_row_indexes(index, level.parents), True
        level = level.container.level  # type: ignore[union-attr]
    return level.container.elements(), index  # type: ignore[union-attr]


def _take_elements(vector: Vector, index: RowIndex, positions: RowIndex) -> RowValues:
    """Return for each row one element of an array, such as the second one: ``array[position]``.

    ``index`` says which array of ``vector`` belongs to each row, and ``positions`` which element of
    it. The result refers to an element by its position in the arrays joined end to end; -1 stands
    for no element.
    """
    elements = vector.elements()
    lengths = np.asarray(elements.level.lengths, np.int64)
    if not len(lengths):
        return elements, np.full(len(positions), -1, np.int64)
    is_present = (index >= 0) & (positions >= 0) & (positions < lengths[index])
    return elements, np.where(is_present, (lengths.cumsum() - lengths)[index] + positions, -1)


def find_unread_values(
    tables: Sequence[TableRows],
) -> Iterator[tuple[Vector, RowIndex, str, str | None]]:
    """Yield the values at declared paths that no row has, for example because rows were left out.

    Yields
    ------
    vector : Vector
        The values at one path.
    positions : numpy.ndarray
        The positions of the unread values in ``vector``.
    reason : str
        Why they are not read.
    path : str or None
        The path to report as a difference from the declaration; None for nothing.
    """
    reasons = {}
    reads_by_elements: dict[Vector, list[tuple[RowIndex, RowIndex]]] = {}
    for table_rows in tables:
        if table_rows.table.rows.first:
            is_before = table_rows.vector.level.positions < table_rows.table.rows.first
            yield table_rows.vector, np.flatnonzero(is_before), "known", None
        is_filtered = table_rows.plan.is_filtered
        for source in table_rows.plan.outer_sources:
            reasons[table_rows.values_of(source)[0]] = "left out" if is_filtered else "known"
        for elements, arrays, row_index in table_rows.element_reads:
            reads_by_elements.setdefault(elements, []).append((arrays, row_index))
    values = [
        table_rows.values_of(source)
        for table_rows in tables
        if reasons
        for column in table_rows.table.columns
        for source, _ in find_sources_read(
            column.source or "", column.valid, table_rows.table.rows.header
        )
    ]
    for vector, reason in reasons.items():
        indexes = (index for column_vector, index in values if column_vector is vector)
        yield vector, _find_unread_rows(vector, vector.present_rows, indexes), reason, None
    for elements, element_reads in reads_by_elements.items():
        arrays = np.concatenate([arrays for arrays, _ in element_reads])
        candidates = np.flatnonzero(np.isin(elements.level.parents, arrays))
        other_indexes = chain.from_iterable(
            table_rows.iter_element_indexes(elements) for table_rows in tables
        )
        indexes_of_elements = chain((row_index for _, row_index in element_reads), other_indexes)
        unread_rows = _find_unread_rows(elements, candidates, indexes_of_elements)
        yield elements, unread_rows, "new", format_path(elements.steps)


def _find_unread_rows(vector: Vector, rows: RowIndex, indexes: Iterable[RowIndex]) -> RowIndex:
    """Return the positions in ``rows`` that occur in none of the ``indexes``."""
    is_unread = np.ones(len(vector) + 1, bool)  # the last is where -1 points
    for index in indexes:
        is_unread[index] = False
    return rows[is_unread[rows]]


# --- values that no column reads -------------------------------------------------------------


class FieldNode:
    """A node in the tree of the declared JSON paths of a section."""

    def __init__(self) -> None:
        self.children: dict[Any, FieldNode] = {}  # by field name, Each or Entries
        self.is_read = False  # whether a column reads the values
        self.reason: str | None = None  # why no column does, if this is expected

    def get_nodes(self, steps: Sequence[Step]) -> list[FieldNode]:
        """Return the nodes at a path below this node. Missing nodes are created."""
        if not steps:
            return [self]
        step, remaining_steps = steps[0], steps[1:]
        # A map that is limited to some keys has a node for each.
        if isinstance(step, Entries) and step.only:
            return [
                node
                for name in step.only
                for node in self.get_nodes((Field(name), *remaining_steps))
            ]
        key = step.name if isinstance(step, Field) else type(step)
        return self.children.setdefault(key, FieldNode()).get_nodes(remaining_steps)


@lru_cache(maxsize=128)
def build_field_tree(section: Section) -> FieldNode:
    """Return the tree of all JSON paths that the columns of a section (kind of response) read."""
    root = FieldNode()
    for name in ENVELOPE_FIELDS:
        root.get_nodes((Field(name),))[0].reason = "envelope"
    expected_paths = [*map(parse_pattern, section.kept)]
    for table in section:
        rows, is_computed = table.rows, table.rows.function is not None
        root.get_nodes(rows.steps)
        expected_paths += [rows.steps] * is_computed
        for column in table.columns:
            if column.is_label:
                continue
            for source, header_paths in find_sources_read(
                column.source or "", column.valid, rows.header
            ):
                expected_paths += header_paths
                if is_computed and source[0] not in "^$":
                    continue
                # On the path to the rows, only the keys that the rows are limited to.
                steps = list(parse_pattern(make_pattern(rows, source)))
                for position, (step, row_step) in enumerate(zip(steps, rows.steps, strict=False)):
                    if isinstance(row_step, Entries) and isinstance(step, Entries):
                        steps[position] = row_step
                for node in root.get_nodes(steps):
                    node.is_read = True
    for path in expected_paths:
        for node in root.get_nodes(path):
            node.reason = "known"
    return root


@dataclass(frozen=True)
class Drift:
    """A difference between a response and its declaration, such as a new or an absent field."""

    kind: str  # "new", "absent", "wrong type", "new level", "null key", "duplicate key"
    path: str  # of the field; for keys, the table with its key columns
    count: int  # how many values differ
    example: str | None = None  # one of them, as JSON text

    def __str__(self) -> str:
        example_note = f", such as {self.example[:60]}" if self.example is not None else ""
        count_note = f" ({self.count} times)" if self.count > 1 else ""
        path = self.path
        if not self.kind.endswith(" key"):
            path = f"$.{path}" if path else "$"
        elif self.kind == "duplicate key":
            path += ": the key is too short; add a column to the table's key= in the profile"
        return f"{self.kind}{count_note}{example_note} @ {path}"


class DriftReport:
    """The differences of a response from its declaration, and the values without a column."""

    def __init__(self) -> None:
        self.extra_values: list[tuple[Vector, Rows, str]] = []  # positions in a vector, and why
        self.differences: dict[tuple[str, str], Drift] = {}  # by kind and path

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """Record a difference from the declaration.

        Parameters
        ----------
        kind : str
            The kind, such as ``"new"`` or ``"wrong type"``.
        path : str
            The path of the field, such as ``domains[].rank``.
        count : int
            How many values differ.
        example : str, optional
            One of them, as JSON text.
        """
        drift = self.differences.get((kind, path))
        if drift is None or drift.count < count:
            self.differences[kind, path] = Drift(kind, path, count, example)

    def add_extra(self, vector: Vector, rows: Rows, reason: str, path: str | None = None) -> None:
        """Record values that no column has.

        Parameters
        ----------
        vector : Vector
            All values at one JSON path.
        rows : sequence of int
            The positions of the values in the vector.
        reason : str
            Why no column has them, such as ``"new"``.
        path : str, optional
            The path to report as a difference from the declaration; by default nothing is reported.
        """
        # Computed values are not in the response.
        if len(rows) and not vector.level.is_computed:
            self.extra_values.append((vector, rows, reason))
        if len(rows) and path is not None:
            self.record(reason, path, len(rows), _find_first_leaf(vector.values[rows[0]]))

    def extend(self, report: DriftReport) -> None:
        """Add the differences and values of another report."""
        self.extra_values += report.extra_values
        for drift in report.differences.values():
            self.record(**vars(drift))

    def ignore_absences(self, paths: Iterable[str]) -> None:
        """Remove the recorded absences of fields at some paths, and below them."""
        prefixes = tuple(f"{path}." for path in paths)
        for kind, path in [*self.differences]:
            if kind == "absent" and f"{path}.".startswith(prefixes):
                del self.differences[kind, path]

    def values(self, *reasons: str) -> Iterator[tuple[Any, str, str]]:
        """Yield each value that no column has, with its JSON path and the reason.

        With ``reasons``, only values with one of these reasons are yielded.
        """
        for vector, rows, reason in self.extra_values:
            for row in map(int, rows) if not reasons or reason in reasons else ():
                yield vector.values[row], vector.path(row), reason

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """The values that no column has: a dict from JSON path to JSON text and reason."""
        return {
            leaf_path: (text, reason)
            for value, path, reason in self.values()
            for leaf_path, text in leaf_values(value, path)
        }

    def extra_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per value that no column has.

        The columns are ``path``, ``value`` and ``why``. Values of known fields come last.
        """
        reason_ranks = {"envelope": 2, "known": 1}
        rows = [(path, *text_and_reason) for path, text_and_reason in self.extra.items()]
        return listing(
            ("path", "value", "why"), sorted(rows, key=lambda row: reason_ranks.get(row[2], 0))
        )

    def drift_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per difference from the declaration.

        The columns are ``kind``, ``path``, ``count`` and ``example``.
        """
        rows = [[*vars(drift).values()] for drift in self.differences.values()]
        return listing(("kind", "path", "count", "example"), rows, count="Int64")

    def raise_or_warn(self, section: Section, strict: bool) -> None:
        """Warn if there are differences from the declaration.

        With ``strict``, raise a `PayloadError` instead, which lists all differences.
        """
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
    """Return a DataFrame made from rows.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    rows : iterable of sequence
        The rows, one value per column.
    **dtypes : dtype
        The dtypes of columns by name; by default ``string``.
    """
    columns = [*zip(*rows, strict=True)] or [()] * len(names)
    return pd.DataFrame(
        {
            name: pd.array([*values], dtypes.get(name, "string"))
            for name, values in zip(names, columns, strict=True)
        }
    )


def _find_first_leaf(value: Any) -> str:
    """Return the first scalar or empty container in a JSON value, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return json_text(value)


class ResponseWalk(StructureCounter):
    """Visits all values of a response once: counts their paths, and reports undeclared values."""

    def __init__(self, limit: int, is_exact: bool) -> None:
        super().__init__(limit, is_exact)
        self.report = DriftReport()

    def visit(
        self, vector: Vector, node: FieldNode, depth: int = 0, reason: str | None = None
    ) -> None:
        """Visit the values at a declared path, and the values nested in them.

        ``reason`` is given if no column is expected to read the values; it says why.
        """
        value_types, reason = vector.kinds, node.reason or reason
        self.count_path(vector.values, value_types, depth)
        is_leaf = value_types.isdisjoint((dict, list))
        if is_leaf and node.is_read:  # the column reports the values that it cannot read
            return
        expected_types: set[type] = {Missing}
        entries, elements = node.children.get(Entries), node.children.get(Each)
        if dict in value_types and entries is not None:
            expected_types.add(dict)
            self.count_keys(vector.objects)
            self.visit(vector.entries(), entries, depth + 1, reason)
        elif dict in value_types and node.children.keys() - {Each}:
            expected_types.add(dict)
            self._visit_fields(vector, node, depth + 1, reason)
        if list in value_types and elements is not None:
            expected_types.add(list)
            self.visit(vector.elements(), elements, depth + 1, reason)
        undeclared_types = {dict, list} & value_types - expected_types
        if undeclared_types:
            self.count_inside(
                [value for value in vector.values if type(value) in undeclared_types], depth
            )
        if node.is_read:
            return
        # Null is expected of fields and entries: an element that is null has no row.
        if not node.reason and depth and (vector.field_names or not vector.level.in_array):
            expected_types.add(type(None))
        if not value_types <= expected_types:
            self._report(
                vector, vector.rows_of_types(value_types - expected_types), reason, "wrong type"
            )

    def _visit_fields(
        self, vector: Vector, node: FieldNode, depth: int, reason: str | None
    ) -> None:
        """Visit the declared fields of objects, and report the undeclared fields."""
        names = vector.fields()
        self.count_keys(vector.objects, len(names))
        new_names = {name for name in names if name not in node.children}
        are_many = len(new_names) > MAX_FIELDS
        for name in [name for name in node.children if type(name) is str] if are_many else names:
            field = vector.field(name)
            if name in new_names:
                self.count_values(field.values, field.kinds, depth)
                self._report(field, field.present_rows, reason, "new")
            elif field.kinds != {Missing}:
                self.visit(field, node.children[name], depth, reason)
        if are_many:  # one path, whatever their keys
            entries = vector.entries()
            rows = [row for row, key in enumerate(entries.level.keys or ()) if key in new_names]
            self.count_inside([entries.values[row] for row in rows], depth)
            self._report(entries, rows, reason, "new")

    def _report(self, vector: Vector, rows: Rows, reason: str | None, kind: str) -> None:
        path = None if reason else format_path(vector.steps)
        self.report.add_extra(vector, rows, reason or kind, path)
