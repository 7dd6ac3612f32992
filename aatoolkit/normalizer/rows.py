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

from aatoolkit._util.dtypes import TEMPORAL_DTYPES
from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import join_some, to_json_text
from aatoolkit.availability.detect import is_sample_size_key
from aatoolkit.errors import PayloadError, SchemaDriftWarning, warn
from aatoolkit.jsontree.coerce import hashable_key
from aatoolkit.jsontree.decode import check_json_value
from aatoolkit.jsontree.layout import MAX_FIELDS, StructureCounter
from aatoolkit.jsontree.paths import (
    Elements,
    Entries,
    Field,
    NamedColumn,
    Position,
    Step,
    Steps,
    format_path,
    list_leaf_paths_and_texts,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, Vector, compose_row_indexes
from aatoolkit.sections.section import ENVELOPE_FIELDS, Column, Section, Table, make_pattern

RowPositions = Sequence[int] | RowIndex

RowValues = tuple[Vector, RowIndex]
"""A vector of values, and for each row of a table the position of the row's value in the vector, or
-1 if the row has none.
"""

ElementAccess = tuple[Vector, RowIndex, RowIndex]
"""Array elements that were read by their position, one per row of a table. The first item is the
vector of all elements. The other two have for each row the position of the row's array, and the
position of its element.
"""


class TablePlan(NamedTuple):
    """Properties of a declared table that are computed once, before it is read from responses."""

    table: Table
    row_type: type | None  # of the rows in the response: list, dict, or None for any
    is_filtered: bool  # whether rows are dropped by their values
    paths_outside_rows: frozenset[str]  # paths of columns whose values may belong to no row
    measure_column_names: frozenset[str]  # columns of measured numbers
    column_name_by_dimension: dict[
        str, str | None
    ]  # the columns of engines and days, by "engine" and "date"
    parsed_column_names: frozenset[str]  # columns whose values must be parsed, masked or filled
    separate_column_names: frozenset[str]  # columns that are converted one by one


@lru_cache(maxsize=128)
def plan_tables(section: Section) -> tuple[TablePlan, ...]:
    """Return one `TablePlan` per table of a section: properties that are needed to read the table.

    A section is one kind of response.
    """
    value_columns = [column for table in section for column in table.columns if not column.is_label]
    patterns_in_rows = {
        column.pattern for column in value_columns if (column.source or "")[0] not in "^$"
    }
    paths_above_rows = {
        column.source or "" for column in value_columns if column.pattern not in patterns_in_rows
    }
    table_plans = []
    for table in section:
        row_form = table.rows
        value_paths = [column.source or "" for column in table.columns]
        dtype_by_column = {column.name: column.dtype for column in table.columns}
        row_type: type | None = dict
        if any(path[0] == "[" for path in value_paths):
            row_type = list
        elif row_form.one or "." in value_paths or all(path[0] in "^@#$" for path in value_paths):
            row_type = None
        is_filtered = bool(row_form.without or row_form.only)
        measure_column_names = frozenset(
            column.name for column in table.columns if _is_measure(table, column)
        )
        parsed_column_names = frozenset(
            column.name
            for column in table.columns
            if column.reading or column.valid or column.null is not None
        )
        separate_column_names = parsed_column_names | {
            name for name in dtype_by_column if dtype_by_column[name] == "category"
        }
        source_paths = {column.source or "" for column in table.columns if not column.is_label}
        paths_outside_rows = frozenset(
            source_paths if is_filtered else source_paths & paths_above_rows
        )
        # A row of several engines is no row of one: its numbers sum over them.
        engine_column = next(
            (
                name
                for name in (
                    "engine",
                    *(key for key in table.key if key in words_of("engine_column")),
                )
                if dtype_by_column.get(name, "list<string>") != "list<string>"
            ),
            None,
        )
        day_column = next(
            (
                name
                for name in dtype_by_column
                if name in table.key and dtype_by_column[name] in TEMPORAL_DTYPES
            ),
            None,
        )
        column_name_by_dimension = {"engine": engine_column, "date": day_column}
        table_plans.append(
            TablePlan(
                table,
                row_type,
                is_filtered,
                paths_outside_rows,
                measure_column_names,
                column_name_by_dimension,
                parsed_column_names,
                separate_column_names,
            )
        )
    return tuple(table_plans)


def _is_measure(table: Table, column: Column) -> bool:
    """Return whether a column has measured numbers, not keys or sample sizes."""
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    field_names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_sample_size_key(field_names[-1] if field_names else "")


@lru_cache(maxsize=8192)
def _parse_value_path(value_path: str, header_steps: Steps | None) -> tuple[int, str, Any]:
    """Parse the path from a row to the value of a column, such as ``^name`` or ``@0``.

    `Column.source` describes such paths. ``header_steps`` is the path of the array with the column
    names, if the rows are arrays. The result is a tuple: the number of levels up (``^``); a marker
    (``@``, ``#``, ``$`` or empty); and the steps down, or the number after ``@`` or ``#``. For
    ``^meta.id`` it is 1, an empty marker, and the steps ``meta`` and ``id``.
    """
    # The marker is @ for a key, # for a position, $ for the whole response, or empty.
    remaining_path = value_path.lstrip("^")
    levels_up = len(value_path) - len(remaining_path)
    if remaining_path[0] in "@#":
        return levels_up, remaining_path[0], int(remaining_path[1:])
    if remaining_path[0] == "$":
        return 0, "$", parse_path(remaining_path[1:].lstrip("."))
    if remaining_path[0] == "[" and header_steps is not None:
        return levels_up, "", (NamedColumn(header_steps, remaining_path[1:-1]),)
    return levels_up, "", () if remaining_path == "." else parse_path(remaining_path)


@lru_cache(maxsize=8192)
def find_source_paths(
    value_path: str, valid_path: str | None, header_steps: Steps | None
) -> list[tuple[str, list[Steps]]]:
    """Return the paths in a response from which a column is read.

    Each item is a tuple of a path from the row, and a list of paths of arrays with column names.
    ``value_path`` is the path of the values; ``valid_path`` is the path of a boolean that says
    whether each value is valid.
    """
    paths_and_header_paths = []
    for path in (value_path, valid_path.lstrip("!")) if valid_path else (value_path,):
        _, path_marker, steps = _parse_value_path(path, header_steps)
        if path_marker not in ("@", "#"):
            header_paths = [step.header for step in steps if isinstance(step, NamedColumn)]
            paths_and_header_paths.append(
                (path, [steps[: -1 - steps[::-1].index(Elements())] for steps in header_paths])
            )
    return paths_and_header_paths


class TableRows:
    """Finds the rows of one table in a response, and the values of its columns."""

    def __init__(self, document_vector: Vector, table_plan: TablePlan) -> None:
        self.plan = table_plan
        self.table = table_plan.table
        row_form = self.table.rows
        self.absent_path: str | None = None  # the first part of the path to the rows that is absent
        self.is_null = False  # whether the response has null instead of rows
        self.step_vectors = [
            vector := document_vector
        ]  # the values at each step of the path to the rows
        for step_number, step in enumerate(row_form.steps, 1):
            parent_vector = vector
            vector = vector.descend((step,))
            self.step_vectors.append(vector)
            is_absent = vector.is_absent
            is_limited_to_keys = isinstance(step, Entries) and bool(step.only_keys)
            if not isinstance(step, Field):
                is_absent = (
                    is_limited_to_keys
                    and not len(vector)
                    and (dict in parent_vector.types or is_absent)
                )
            if is_absent and self.absent_path is None:
                self.absent_path = format_path(row_form.steps[:step_number])
            self.is_null |= vector.is_null and (isinstance(step, Field) or is_limited_to_keys)
        if row_form.function is not None:
            vector = _compute_rows(vector, self.table.name, row_form.function)
        self.vector = vector
        self._values_by_source: dict[str, RowValues] = {}
        self.element_accesses: list[ElementAccess] = []  # array elements read by position
        self.row_index = vector.level.row_positions
        if row_form.one:
            self.row_index = self._find_single_row()
        elif table_plan.row_type is not None:
            # An entry that is null is a row with a key and no values.
            are_rows_entries = table_plan.row_type is dict and type(row_form.steps[-1]) is Entries
            row_types = (
                {table_plan.row_type, type(None)} if are_rows_entries else {table_plan.row_type}
            )
            if vector.types - row_types:
                self.row_index = vector.find_positions_by_type(row_types)
        if row_form.first:
            self.row_index = self.row_index[
                vector.level.item_positions[self.row_index] >= row_form.first
            ]
        if table_plan.is_filtered:
            is_kept_row = np.ones(self.row_count, bool)
            for value_filters, keeps_matching_rows in (
                (row_form.without, False),
                (row_form.only, True),
            ):
                for value_path, filter_values in value_filters:
                    filter_keys = {*map(hashable_key, filter_values)}
                    if None in filter_values:
                        filter_keys.add(hashable_key(MISSING))
                    values = take_values(*self._find_values(value_path, []))
                    is_kept_row &= (
                        np.array([hashable_key(value) in filter_keys for value in values], bool)
                        == keeps_matching_rows
                    )
            self.row_index = self.row_index[is_kept_row]

    @property
    def row_count(self) -> int:
        """The number of rows of the table."""
        return len(self.row_index)

    def _find_single_row(self) -> RowIndex:
        """Return the row index of a table that is declared to have a single row.

        A row index is an array with the positions of rows. It is empty here if the response has
        none of the fields of the row.
        """
        vectors = [self.vector] if self.table.rows.steps else []
        for column in self.table.columns:
            levels_up, path_marker, steps = _parse_value_path(column.source or "", None)
            if steps and not levels_up and not path_marker:
                field_steps = takewhile(lambda step: type(step) is Field, steps)
                vectors.append(self.vector.descend([*field_steps]))
        is_present = not vectors or any(vector.types - {Missing} for vector in vectors)
        return self.vector.level.row_positions if is_present else np.arange(0)

    def get_values(self, value_path: str) -> RowValues:
        """Return the values at the path of a column, and their positions by row.

        Returns
        -------
        vector : Vector
            All values at the path.
        row_index : numpy.ndarray
            For each row, the position of its value in ``vector``, or -1.
        """
        row_values = self._values_by_source.get(value_path)
        if row_values is None:
            row_values = self._values_by_source[value_path] = self._find_values(
                value_path, self.element_accesses
            )
        return row_values

    def _find_values(self, value_path: str, element_accesses: list[ElementAccess]) -> RowValues:
        """Find the values at the path of a column, and their positions by row, for `get_values`.

        Array elements that are read by their position are added to ``element_accesses``.
        """
        levels_up, path_marker, part_after_marker = _parse_value_path(
            value_path, self.table.rows.header
        )
        if path_marker == "@":
            step_number = [
                step_number
                for step_number, step in enumerate(self.table.rows.steps, 1)
                if type(step) is Entries
            ][part_after_marker]
            return self.step_vectors[step_number].keys(), self._find_ancestor_positions(step_number)
        vector = self.vector
        row_index = self.row_index
        if path_marker == "$":
            vector, row_index = self._document_values
        for _ in range(levels_up):
            vector, row_index = _find_enclosing_records(vector, row_index)
        if path_marker == "#":
            return Vector(
                (vector.level.item_positions + part_after_marker).tolist(), vector.level
            ), row_index
        return self._follow_path(vector, row_index, part_after_marker, element_accesses)

    @property
    def _document_values(self) -> RowValues:
        """A vector with the response as its only value, and for each row its position there: 0."""
        return self.step_vectors[0], np.zeros(self.row_count, np.int64)

    def _follow_path(
        self,
        vector: Vector,
        row_index: RowIndex,
        steps: Sequence[Step],
        element_accesses: list[ElementAccess],
    ) -> RowValues:
        """Follow a path down from the value of each row, and return the values at the path's end.

        ``vector`` is a list of values, and ``row_index`` has for each row the position of its value
        in this list. ``steps`` is the path from these values. The result consists of a vector of
        the values at the end of the path, and for each row the position of its value there. Array
        elements that are read by position or name are added to ``element_accesses``.
        """
        for step in steps:
            if type(step) is Field:
                vector = vector.field(step.name)
            elif isinstance(step, Position | NamedColumn):
                array_positions = row_index
                if type(step) is Position:
                    element_positions = np.full(self.row_count, step.index)
                else:
                    element_positions = self._find_column_positions(step)  # type: ignore[arg-type]
                vector, row_index = _take_elements(vector, row_index, element_positions)
                element_accesses.append((vector, array_positions, row_index))
                if type(step) is NamedColumn and (element_positions < 0).all():
                    vector = Vector([MISSING] * len(vector), vector.level, vector.field_names, True)
                    self.step_vectors.append(vector)  # elements of it refer to it weakly
            elif isinstance(step, Elements | Entries) and step.container_index is not None:
                vector, row_index = self._find_items_of_rows(
                    vector, row_index, step.container_index
                )
            else:
                vector = vector.descend((step,))
        return vector, row_index

    def _find_column_positions(self, step: NamedColumn) -> RowIndex:
        """Return for each row the position of a column's value; rows are arrays of values here.

        ``step`` has the name of the column and the path of the array of column names in the
        response. The value has the same position in the row as the name has in that array; -1 if
        the name is not there.
        """
        last_elements_index = max(
            step_number
            for step_number, header_step in enumerate(step.header)
            if header_step == Elements()
        )
        header, row_index = self._follow_path(
            *self._document_values, step.header[:last_elements_index], []
        )
        elements = header.elements()
        column_names = elements.descend(step.header[last_elements_index + 1 :]).values
        element_positions = self._find_item_positions(
            elements, column_names, row_index, [step.name] * self.row_count
        )
        return compose_row_indexes(element_positions, elements.level.item_positions)

    def _find_items_of_rows(
        self, vector: Vector, row_index: RowIndex, container_index: int
    ) -> RowValues:
        """Return, for each row, the item of another array or object that belongs to the row.

        The item has the same position, or the same key, as the row has in the array or object with
        the number ``container_index`` on the path to the rows. The result is a vector of items,
        and for each row the position of its item in the vector, or -1.
        """
        steps = self.table.rows.steps
        step_number = [
            step_number
            for step_number, step in enumerate(steps, 1)
            if isinstance(step, Elements | Entries)
        ][container_index]
        container_level = self.step_vectors[step_number].level
        ancestor_positions = self._find_ancestor_positions(step_number)
        if vector is self.step_vectors[step_number - 1] and np.array_equal(
            row_index, self._find_ancestor_positions(step_number - 1)
        ):
            return self.step_vectors[step_number], ancestor_positions
        if isinstance(steps[step_number - 1], Elements):
            return _take_elements(
                vector, row_index, container_level.item_positions[ancestor_positions]
            )
        entries = vector.entries()
        keys = container_level.keys or []
        row_keys = [keys[position] for position in ancestor_positions.tolist()]
        return entries, self._find_item_positions(
            entries, entries.level.keys or (), row_index, row_keys
        )

    def _find_item_positions(
        self, vector: Vector, item_labels: Sequence[Any], row_index: RowIndex, row_labels: list[str]
    ) -> RowIndex:
        """Return an array: for each row, the position of the item that has the row's label, or -1.

        A label is a key or name. ``item_labels`` has the labels of the items in ``vector``, and
        ``row_labels`` the labels of the rows. ``row_index`` says in which array or object the item
        of each row is looked up.
        """
        parents_and_labels = zip(
            vector.level.parent_positions.tolist(), map(repr, item_labels), strict=True
        )
        position_by_parent_and_label = {
            parent_and_label: position
            for position, parent_and_label in enumerate(parents_and_labels)
        }
        parents_and_row_labels = zip(row_index.tolist(), map(repr, row_labels), strict=True)
        return np.array(
            [
                position_by_parent_and_label.get(parent_and_label, -1)
                for parent_and_label in parents_and_row_labels
            ],
            np.int64,
        )

    def _find_ancestor_positions(self, step_number: int) -> RowIndex:
        """Return an array: for each row, the position of the value that encloses the row.

        The enclosing values are those after the step ``step_number`` on the path to the rows; the
        first step has the number 1.
        """
        level = self.vector.level
        row_index = self.row_index
        while level is not self.step_vectors[step_number].level:
            row_index = compose_row_indexes(row_index, level.parent_positions)
            assert level.container is not None
            level = level.container.level
        return row_index

    def make_path_finder(self, column: Column) -> Callable[[int], str | None]:
        """Return a function that finds the JSON path of a column's value by the number of a row.

        The function returns None for a row without a value.
        """

        def find_path(row_number: int) -> str | None:
            vector, row_index = self.get_values(column.source or "")
            return vector.path(int(row_index[row_number])) if row_index[row_number] >= 0 else None

        return find_path

    def iter_element_positions(self, elements: Vector) -> Iterator[RowIndex]:
        """Yield, as an array, the positions of those ``elements`` that contain rows of this table.

        Nothing is yielded if ``elements`` are not on the path to the rows.
        """
        level = self.vector.level
        row_index = level.row_positions
        while level.container is not None:
            row_index = compose_row_indexes(row_index, level.parent_positions)
            level = level.container.level
            if level is elements.level:
                yield row_index


def take_values(vector: Vector, row_index: RowIndex) -> Sequence[Any]:
    """Return the values at some positions of a vector; the position -1 gives None."""
    if row_index is vector.level.row_positions:
        return vector.values  # type: ignore[no-any-return]
    values = [*vector.values, None]  # None is the last, at -1
    return [*map(values.__getitem__, row_index.tolist())]


def _compute_rows(
    vector: Vector, table_name: str, make_rows: Callable[[Any], Iterable[Any]]
) -> Vector:
    """Return the rows that a function of the user computes from values of the response.

    ``table_name`` is used in the error message if the function fails.
    """
    try:
        row_lists = [
            [] if value is None or value is MISSING else [dict(row) for row in make_rows(value)]
            for value in vector.values
        ]
        check_json_value(row_lists)
    except Exception as error:
        error_text = f"the rows of {table_name} could not be made: {type(error).__name__}: {error}"
    else:
        return vector.flatten(row_lists, is_computed=True)
    raise PayloadError(error_text, problems=[f"{error_text} @ {vector.path(0)}"])


def _find_enclosing_records(vector: Vector, row_index: RowIndex) -> RowValues:
    """Return the array elements that contain some values, one level up.

    ``row_index`` has for each row the position of its value in ``vector``. The result is a vector
    of array elements, and for each row the position of its element.
    """
    level = vector.level
    is_below_element = bool(vector.field_names)
    while not (
        is_below_element and level.is_in_array
    ):  # a declaration is refused if there is no record
        row_index = compose_row_indexes(row_index, level.parent_positions)
        is_below_element = True
        level = level.container.level  # type: ignore[union-attr]
    return level.container.elements(), row_index  # type: ignore[union-attr]


def _take_elements(vector: Vector, row_index: RowIndex, element_positions: RowIndex) -> RowValues:
    """Return for each row one element of the row's array, such as the second element.

    ``row_index`` has for each row the position of its array in ``vector``, and
    ``element_positions`` the position of the element in this array. The result is a vector of the
    elements of all arrays, and for each row the position of its element in the vector, or -1.
    """
    elements = vector.elements()
    array_lengths = np.asarray(elements.level.item_counts, np.int64)
    if not len(array_lengths):
        return elements, np.full(len(element_positions), -1, np.int64)
    is_present = (
        (row_index >= 0) & (element_positions >= 0) & (element_positions < array_lengths[row_index])
    )
    return elements, np.where(
        is_present, (array_lengths.cumsum() - array_lengths)[row_index] + element_positions, -1
    )


def find_unused_values(
    all_table_rows: Sequence[TableRows],
) -> Iterator[tuple[Vector, RowIndex, str, str | None]]:
    """Yield the values at declared paths that no row has, for example because rows were left out.

    Yields
    ------
    vector : Vector
        The values at one path.
    positions : numpy.ndarray
        The positions of the unused values in ``vector``.
    reason : str
        Why they are not read.
    path : str or None
        The path to report as a difference from the declaration; None for nothing.
    """
    reason_by_vector = {}
    accesses_by_elements: dict[Vector, list[tuple[RowIndex, RowIndex]]] = {}
    for table_rows in all_table_rows:
        if table_rows.table.rows.first:
            is_before_first_row = (
                table_rows.vector.level.item_positions < table_rows.table.rows.first
            )
            yield table_rows.vector, np.flatnonzero(is_before_first_row), "known", None
        is_filtered = table_rows.plan.is_filtered
        for path in table_rows.plan.paths_outside_rows:
            reason_by_vector[table_rows.get_values(path)[0]] = (
                "left out" if is_filtered else "known"
            )
        for elements, array_positions, row_index in table_rows.element_accesses:
            accesses_by_elements.setdefault(elements, []).append((array_positions, row_index))
    vectors_and_row_indexes = [
        table_rows.get_values(path)
        for table_rows in all_table_rows
        if reason_by_vector
        for column in table_rows.table.columns
        for path, _ in find_source_paths(
            column.source or "", column.valid, table_rows.table.rows.header
        )
    ]
    for vector, reason in reason_by_vector.items():
        row_indexes = (
            column_index
            for column_vector, column_index in vectors_and_row_indexes
            if column_vector is vector
        )
        yield (
            vector,
            _find_unused_positions(vector, vector.present_positions, row_indexes),
            reason,
            None,
        )
    for elements, element_accesses in accesses_by_elements.items():
        array_positions = np.concatenate(
            [array_positions for array_positions, _ in element_accesses]
        )
        candidate_positions = np.flatnonzero(
            np.isin(elements.level.parent_positions, array_positions)
        )
        other_row_indexes = chain.from_iterable(
            table_rows.iter_element_positions(elements) for table_rows in all_table_rows
        )
        indexes_of_elements = chain(
            (row_index for _, row_index in element_accesses), other_row_indexes
        )
        unused_positions = _find_unused_positions(
            elements, candidate_positions, indexes_of_elements
        )
        yield elements, unused_positions, "new", format_path(elements.steps)


def _find_unused_positions(
    vector: Vector, positions: RowIndex, row_indexes: Iterable[RowIndex]
) -> RowIndex:
    """Return those of ``positions`` in a vector that are in none of the arrays ``row_indexes``."""
    is_unused = np.ones(len(vector) + 1, bool)  # the last is where -1 points
    for row_index in row_indexes:
        is_unused[row_index] = False
    return positions[is_unused[positions]]


# --- values that no column reads -------------------------------------------------------------


class FieldNode:
    """A node in the tree of JSON paths that a section (kind of response) declares."""

    def __init__(self) -> None:
        self.child_by_key: dict[Any, FieldNode] = {}  # by field name, Elements or Entries
        self.is_read = False  # whether a column reads the values
        self.unread_reason: str | None = None  # why no column does, if this is expected

    def get_nodes(self, steps: Sequence[Step]) -> list[FieldNode]:
        """Return the nodes at a path below this node. Missing nodes are created."""
        if not steps:
            return [self]
        step = steps[0]
        remaining_steps = steps[1:]
        # A map that is limited to some keys has a node for each.
        if isinstance(step, Entries) and step.only_keys:
            return [
                node
                for name in step.only_keys
                for node in self.get_nodes((Field(name), *remaining_steps))
            ]
        key = step.name if isinstance(step, Field) else type(step)
        return self.child_by_key.setdefault(key, FieldNode()).get_nodes(remaining_steps)


@lru_cache(maxsize=128)
def build_field_tree(section: Section) -> FieldNode:
    """Return the tree of all JSON paths that the columns of a section (kind of response) read."""
    root_node = FieldNode()
    for name in ENVELOPE_FIELDS:
        root_node.get_nodes((Field(name),))[0].unread_reason = "envelope"
    expected_paths = [*map(parse_pattern, section.kept)]
    for table in section:
        row_form = table.rows
        is_computed = table.rows.function is not None
        root_node.get_nodes(row_form.steps)
        expected_paths += [row_form.steps] * is_computed
        for column in table.columns:
            if column.is_label:
                continue
            for value_path, header_paths in find_source_paths(
                column.source or "", column.valid, row_form.header
            ):
                expected_paths += header_paths
                if is_computed and value_path[0] not in "^$":
                    continue
                # On the path to the rows, only the keys that the rows are limited to.
                column_steps = list(parse_pattern(make_pattern(row_form, value_path)))
                for step_position, (step, row_step) in enumerate(
                    zip(column_steps, row_form.steps, strict=False)
                ):
                    if isinstance(row_step, Entries) and isinstance(step, Entries):
                        column_steps[step_position] = row_step
                for node in root_node.get_nodes(column_steps):
                    node.is_read = True
    for path in expected_paths:
        for node in root_node.get_nodes(path):
            node.unread_reason = "known"
    return root_node


@dataclass(frozen=True)
class Drift:
    """A difference between a response and its declaration, such as an undeclared field."""

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
    """Collects how a response differs from its declaration, and the values without a column."""

    def __init__(self) -> None:
        self.extra_values: list[
            tuple[Vector, RowPositions, str]
        ] = []  # positions in a vector, and why
        self.drift_by_kind_and_path: dict[tuple[str, str], Drift] = {}  # by kind and path

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """Record a difference between the response and its declaration.

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
        drift = self.drift_by_kind_and_path.get((kind, path))
        if drift is None or drift.count < count:
            self.drift_by_kind_and_path[kind, path] = Drift(kind, path, count, example)

    def add_extra(
        self, vector: Vector, positions: RowPositions, reason: str, path: str | None = None
    ) -> None:
        """Record values of the response that no column has.

        Parameters
        ----------
        vector : Vector
            All values at one JSON path.
        positions : sequence of int
            The positions of the values in the vector.
        reason : str
            Why no column has them, such as ``"new"``.
        path : str, optional
            The path to report as a difference from the declaration; by default nothing is reported.
        """
        # Computed values are not in the response.
        if len(positions) and not vector.level.is_computed:
            self.extra_values.append((vector, positions, reason))
        if len(positions) and path is not None:
            self.record(reason, path, len(positions), _find_first_leaf(vector.values[positions[0]]))

    def extend(self, other_report: DriftReport) -> None:
        """Add the differences and values of another report."""
        self.extra_values += other_report.extra_values
        for drift in other_report.drift_by_kind_and_path.values():
            self.record(**vars(drift))

    def ignore_absent_paths(self, paths: Iterable[str]) -> None:
        """Delete the records of absent fields at some paths, and of fields nested in them."""
        path_prefixes = tuple(f"{path}." for path in paths)
        for drift_kind, path in [*self.drift_by_kind_and_path]:
            if drift_kind == "absent" and f"{path}.".startswith(path_prefixes):
                del self.drift_by_kind_and_path[drift_kind, path]

    def iter_extra_values(self, *reasons: str) -> Iterator[tuple[Any, str, str]]:
        """Yield each value that no column has, with its JSON path and the reason.

        With ``reasons``, only values with one of these reasons are yielded.
        """
        for vector, positions, reason in self.extra_values:
            for position in map(int, positions) if not reasons or reason in reasons else ():
                yield vector.values[position], vector.path(position), reason

    @property
    def text_and_reason_by_path(self) -> dict[str, tuple[str, str]]:
        """A dict from the JSON path of each value that no column has to a tuple.

        The tuple has the value as JSON text, and the reason why no column has it.
        """
        return {
            leaf_path: (value_json, reason)
            for value, path, reason in self.iter_extra_values()
            for leaf_path, value_json in list_leaf_paths_and_texts(value, path)
        }

    def extra_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per value that no column has.

        The columns are ``path``, ``value`` and ``why``. Values of known fields come last.
        """
        rank_by_reason = {"envelope": 2, "known": 1}
        extra_rows = [
            (path, *text_and_reason)
            for path, text_and_reason in self.text_and_reason_by_path.items()
        ]
        return frame_from_rows(
            ("path", "value", "why"),
            sorted(extra_rows, key=lambda row: rank_by_reason.get(row[2], 0)),
        )

    def drift_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per difference from the declaration.

        The columns are ``kind``, ``path``, ``count`` and ``example``.
        """
        drift_rows = [[*vars(drift).values()] for drift in self.drift_by_kind_and_path.values()]
        return frame_from_rows(("kind", "path", "count", "example"), drift_rows, count="Int64")

    def raise_or_warn(self, section: Section, strict: bool) -> None:
        """Warn if there are differences from the declaration.

        With ``strict``, raise a `PayloadError` instead, which lists all differences.
        """
        problems = [*map(str, self.drift_by_kind_and_path.values())]
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
                f"{join_some(problems, separator='; ')}; "
                "all are in .drift and .extra of its tables",
                SchemaDriftWarning,
            )


def frame_from_rows(
    column_names: Sequence[str], rows: Iterable[Sequence[Any]], /, **dtype_by_column: Any
) -> pd.DataFrame:
    """Return a DataFrame with the given column names and rows.

    Parameters
    ----------
    column_names : sequence of str
        The names of the columns.
    rows : iterable of sequence
        The rows, one value per column.
    **dtype_by_column : dtype
        The dtypes of columns by name; by default ``string``.
    """
    columns = [*zip(*rows, strict=True)] or [()] * len(column_names)
    return pd.DataFrame(
        {
            name: pd.array([*values], dtype_by_column.get(name, "string"))
            for name, values in zip(column_names, columns, strict=True)
        }
    )


def _find_first_leaf(value: Any) -> str:
    """Return the first scalar or empty container in a JSON value, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return to_json_text(value)


class ResponseWalk(StructureCounter):
    """Visits each value of a response once, to count distinct paths and find undeclared values.

    ``max_paths`` is the maximum number of distinct paths. ``has_exact_integers`` says whether the
    response was decoded by Python's own decoder, which keeps large integers exact. Undeclared
    values are collected in ``drift_report``.
    """

    def __init__(self, max_paths: int, has_exact_integers: bool) -> None:
        super().__init__(max_paths, has_exact_integers)
        self.drift_report = DriftReport()

    def visit(
        self, vector: Vector, node: FieldNode, depth: int = 0, reason: str | None = None
    ) -> None:
        """Visit the values at a declared path, and the values nested in them.

        ``node`` is the node of the path in the tree of declared paths, and ``depth`` the depth of
        nesting. ``reason`` says why no column reads the values, if that is expected.
        """
        value_types = vector.types
        reason = node.unread_reason or reason
        self.count_path(vector.values, value_types, depth)
        has_only_scalars = value_types.isdisjoint((dict, list))
        if has_only_scalars and node.is_read:  # the column reports the values that it cannot read
            return
        expected_types: set[type] = {Missing}
        entries_node = node.child_by_key.get(Entries)
        elements_node = node.child_by_key.get(Elements)
        if dict in value_types and entries_node is not None:
            expected_types.add(dict)
            self.count_keys(vector.objects)
            self.visit(vector.entries(), entries_node, depth + 1, reason)
        elif dict in value_types and node.child_by_key.keys() - {Elements}:
            expected_types.add(dict)
            self._visit_fields(vector, node, depth + 1, reason)
        if list in value_types and elements_node is not None:
            expected_types.add(list)
            self.visit(vector.elements(), elements_node, depth + 1, reason)
        undeclared_types = {dict, list} & value_types - expected_types
        if undeclared_types:
            self.count_descendants(
                [value for value in vector.values if type(value) in undeclared_types], depth
            )
        if node.is_read:
            return
        # Null is expected of fields and entries: an element that is null has no row.
        if (
            not node.unread_reason
            and depth
            and (vector.field_names or not vector.level.is_in_array)
        ):
            expected_types.add(type(None))
        if not value_types <= expected_types:
            self._report_undeclared(
                vector,
                vector.find_positions_by_type(value_types - expected_types),
                reason,
                "wrong type",
            )

    def _visit_fields(
        self, vector: Vector, node: FieldNode, depth: int, reason: str | None
    ) -> None:
        """Visit the declared fields of objects, and report the undeclared fields."""
        field_names = vector.list_fields()
        self.count_keys(vector.objects, len(field_names))
        undeclared_names = {name for name in field_names if name not in node.child_by_key}
        are_keys_data = len(undeclared_names) > MAX_FIELDS
        for name in (
            [name for name in node.child_by_key if type(name) is str]
            if are_keys_data
            else field_names
        ):
            field_vector = vector.field(name)
            if name in undeclared_names:
                self.count_values(field_vector.values, field_vector.types, depth)
                self._report_undeclared(field_vector, field_vector.present_positions, reason, "new")
            elif field_vector.types != {Missing}:
                self.visit(field_vector, node.child_by_key[name], depth, reason)
        if are_keys_data:  # one path, whatever their keys
            entry_vector = vector.entries()
            undeclared_positions = [
                position
                for position, key in enumerate(entry_vector.level.keys or ())
                if key in undeclared_names
            ]
            self.count_descendants(
                [entry_vector.values[position] for position in undeclared_positions], depth
            )
            self._report_undeclared(entry_vector, undeclared_positions, reason, "new")

    def _report_undeclared(
        self, vector: Vector, positions: RowPositions, reason: str | None, drift_kind: str
    ) -> None:
        """Report undeclared values, given by a vector and the positions of the values in it.

        ``reason`` says why no column reads them, if that is expected; else ``drift_kind`` says how
        the response differs from its declaration, such as ``new``.
        """
        path = None if reason else format_path(vector.steps)
        self.drift_report.add_extra(vector, positions, reason or drift_kind, path)
