"""Find the rows and columns of tables in JSON that has no description.

A table is made from a list of objects; from several lists of equal length; from a list of lists; or
from an object whose keys are data. In the example, two lists of equal length become the columns of
one table. The path ``trend.hits[@0]`` means the element of ``trend.hits`` that has the same
position as the row.

>>> from aatoolkit.jsontree.paths import format_path
>>> trend = {"days": ["2026-11-03", "2026-11-04"], "hits": [3, 1]}
>>> structure = JsonStructure([{"trend": trend}], Vocabulary({}))
>>> [format_path(row_set.steps) for row_set in structure.row_sets]
['', 'trend.days[]']
>>> [format_path(steps) for row_set in structure.row_sets for steps, _ in row_set.columns]
['trend.days[]', 'trend.hits[@0]']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, takewhile, zip_longest
from operator import eq
from types import NoneType
from typing import Any

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.lexicon import matches_form
from aatoolkit.jsontree.coerce import parse_values
from aatoolkit.jsontree.paths import Elements, Entries, Field, NamedColumn, Position, Step
from aatoolkit.jsontree.vectors import MISSING, Missing
from aatoolkit.sections.column import to_snake_case
from aatoolkit.sections.inference.words import Vocabulary, is_measure_name, is_time_name
from aatoolkit.sections.section import widen_to_all_elements

_NUMBER_PATTERN = re.compile(r"\s*[+-]?(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?\s*%?\s*")
_DAY_PATTERN = re.compile(r"\d{4}-\d\d|\d{4}-?W\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}")
_LANGUAGE_PATTERN = re.compile("[a-z]{2}(?:[-_][A-Za-z]{2,4})?")
"""Matches the code of a language, as ``en`` or ``pt-BR``."""
_DATA_KEY_PATTERN = re.compile(r"\d+[!:]\w+([!:]\w+)*|[A-Z_-]*\d[A-Z0-9_-]*")
_DTYPE_BY_FIELD_NAMES = {
    "num den": "Float64",
    "numerator denominator": "Float64",
    "units nanos": "Float64",
    "year month day": "date",
}
"""Maps the fields of an object that together give one value, such as a day, to its dtype."""

_MIN_SIMILARITY = 0.55
"""How similar the values of an object must be, from 0 to 1, if its keys are data."""

_MIN_LIST_SIMILARITY = 0.8
_MAX_TUPLE_LENGTH = 12
_MAX_COINCIDENTAL_LENGTH = 2
"""Lists up to this length may have equal lengths by chance."""

_SIMILARITY_SAMPLE_SIZE = 200

Steps = tuple[Step, ...]
PathAndValues = tuple[Steps, list[Any]]
"""A parsed path, and its value in each row; `MISSING` in rows where it is absent."""

HeaderNames = tuple[Steps, list[list[str]]]
"""The parsed path to a list with the names of columns, and the names in it for each row."""


@dataclass(eq=False)
class RowSet:
    """The rows of one future table: the items of all lists, or of all objects, at one path.

    If the rows are nested in rows of another table, these are called the enclosing rows.

    Attributes
    ----------
    steps : tuple of Step
        The parsed path to the rows, such as that of ``domains[]``.
    parent : RowSet, optional
        The enclosing rows; None if the rows are the responses themselves.
    parent_row_positions : list of int
        For each row, the position of its enclosing row in ``parent``.
    row_keys : list
        For each row, its position in its list or its key in its object.
    container_path : tuple of Step
        The parsed path to the list or object with the rows.
    first_position : int
        The position of the first row in its list; 1 if the first element has column names.
    has_element_names : bool
        Whether another list has a name for each row.
    kept_values_by_path : dict of str to tuple
        Which rows to keep, as ``only`` in `Rows`: maps the path from a row to a field to
        its values in these rows.
    columns : list of tuple
        The future columns of the table. Each tuple has the parsed path to the values, and a list
        with one value for each row; `MISSING` where a row has no such field.
    list_groups : list of ListGroup
        The lists that are values of the rows: one group for each path.
    data_key_objects : list of tuple
        The objects in the rows whose keys are data. Each tuple has a parsed path, and a list with
        one object or `MISSING` for each row.
    table : DraftTable, optional
        The table of the rows, if there is one.
    """

    steps: Steps
    parent: RowSet | None
    parent_row_positions: list[int]
    row_keys: list[Any]
    container_path: Steps
    first_position: int = 0
    has_element_names: bool = False
    kept_values_by_path: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    columns: list[PathAndValues] = field(default_factory=list)
    list_groups: list[ListGroup] = field(default_factory=list)
    data_key_objects: list[PathAndValues] = field(default_factory=list)
    table: Any = None

    def __len__(self) -> int:
        return len(self.row_keys)

    def iter_with_ancestors(self) -> Iterator[RowSet]:
        """Yield these rows, then the rows that enclose them, and so on up to the responses."""
        row_set: RowSet | None = self
        while row_set is not None:
            yield row_set
            row_set = row_set.parent

    def find_enclosing_positions(self, ancestor: RowSet) -> list[int]:
        """Return a list: for each row, the position of its enclosing row in ``ancestor``."""
        enclosing_positions = list(range(len(self)))
        for row_set in self.iter_with_ancestors():
            if row_set is ancestor:
                break
            enclosing_positions = [
                row_set.parent_row_positions[position] for position in enclosing_positions
            ]
        return enclosing_positions


class ListGroup:
    """The lists at one path in the rows of a table: one list, or `MISSING`, for each row.

    Parameters
    ----------
    steps : tuple of Step
        The parsed path to the lists.
    lists : list
        One list, or `MISSING`, for each row.

    Attributes
    ----------
    present_lists : list of list
        The lists without `MISSING`.
    items : list
        The items of all lists.
    kinds : set of str
        The kinds of the items, such as ``number`` or ``dict``.
    lengths : list
        For each row the length of its list, or None.
    max_length : int
        The length of the longest list.
    is_of_lists : bool
        Whether all items are lists themselves.
    contains_names : bool
        Whether the items were found to be names of the columns or elements of other lists.
    """

    def __init__(self, steps: Steps, lists: list[Any]) -> None:
        self.steps = steps
        self.lists = lists
        self.present_lists = [list_items for list_items in lists if list_items is not MISSING]
        self.items = [item for list_items in self.present_lists for item in list_items]
        self.kinds = _find_value_kinds(self.items)
        self.lengths = [None if list_items is MISSING else len(list_items) for list_items in lists]
        self.max_length = max(map(len, self.present_lists), default=0)
        self.is_of_lists = self.kinds == {"list"}
        self.contains_names = False

    @cached_property
    def field_and_texts(self) -> tuple[str | None, list[list[Any]]] | None:
        """The texts in the lists, if they can be column names; else None.

        Returns
        -------
        field : str or None
            The name of the field with the texts, if the lists contain objects.
        texts : list of list of str
            The texts of each list.
        """
        field_names = [*(self.items[0] or ())] if self.kinds == {"dict"} else [None]
        for field_name in field_names:
            lists_of_texts = [
                [item.get(field_name) if type(item) is dict else item for item in list_items]
                for list_items in (
                    [] if list_items is MISSING else list_items for list_items in self.lists
                )
            ]
            are_texts = {_find_value_kind(text) for texts in lists_of_texts for text in texts} <= {
                "text",
                "mark",
            }
            if are_texts and all(len({*texts}) == len(texts) for texts in lists_of_texts):
                return field_name, lists_of_texts
        return None


ListsOfNames = tuple[ListGroup, list[int]]
"""Lists with names for the elements of other lists, and for each row the position of its list."""


class JsonStructure:
    """Finds the rows and columns of all tables in some JSON documents.

    Parameters
    ----------
    documents : sequence
        The decoded JSON of several responses of one section.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.

    Attributes
    ----------
    row_sets : list of RowSet
        The rows of each table; nested rows come after the rows that enclose them.
    header_paths : set of tuple of Step
        The parsed paths of lists that contain column names, and no data.
    """

    def __init__(self, documents: Sequence[Any], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.row_sets: list[RowSet] = []
        self.header_paths: set[Steps] = set()
        root_row_set = RowSet((), None, [], list(range(len(documents))), ())
        self.row_sets.append(root_row_set)
        self._add_columns(root_row_set, [((), [*documents])])
        for row_set in self.row_sets[1:]:
            if any(child_row_set.parent is row_set for child_row_set in self.row_sets):
                continue
            self._split_by_fields(row_set)
            is_header = row_set.steps[:-1] in self.header_paths and len(row_set.columns) == 1
            if is_header and row_set in self.row_sets:
                self.row_sets.remove(row_set)

    def _add_columns(self, row_set: RowSet, paths_and_values: Iterable[PathAndValues]) -> None:
        """Add scalar values of rows as columns, and lists or objects of rows as nested tables.

        Parameters
        ----------
        row_set : RowSet
            The rows.
        paths_and_values : iterable of tuple
            Tuples of a parsed path and a list with the value of each row.
        """
        list_group_count = len(row_set.list_groups)
        object_count = len(row_set.data_key_objects)
        for steps, row_values in paths_and_values:
            self._add_values(row_set, steps, row_values)
        self._add_object_row_sets(row_set, row_set.data_key_objects[object_count:])
        self._add_list_row_sets(row_set, row_set.list_groups[list_group_count:])

    def _add_values(self, row_set: RowSet, steps: Steps, row_values: list[Any]) -> None:
        """Add the values at one path of the rows: scalars as a column, objects field by field.

        Lists and objects whose keys are data are stored in ``row_set``, to become tables later.

        Parameters
        ----------
        row_set : RowSet
            The rows.
        steps : tuple of Step
            The parsed path.
        row_values : list
            The value of each row, or `MISSING`.
        """
        value_types = {*map(type, row_values)} - {Missing}
        if dict in value_types:
            dicts = _keep_values_of_type(dict, row_values)
            present_dicts = [value for value in dicts if value is not MISSING]
            if self._has_data_keys(present_dicts, steps):
                row_set.data_key_objects.append((steps, dicts))
            else:
                field_names = dict.fromkeys(
                    field_name for value in present_dicts for field_name in value
                )
                for part_names, dtype in _DTYPE_BY_FIELD_NAMES.items():
                    if {*part_names.split()} <= {*field_names}:
                        parsed_parts = parse_values(dicts, Reading(dtype, "parts"))
                        if not parsed_parts.invalid_positions:
                            row_set.columns.append((steps, dicts))
                for field_name in field_names:
                    field_values = [
                        MISSING if value is MISSING else value.get(field_name, MISSING)
                        for value in dicts
                    ]
                    self._add_values(row_set, (*steps, Field(field_name)), field_values)
        if list in value_types:
            lists = _keep_values_of_type(list, row_values)
            may_be_days = value_types <= {list, type(None)} and is_time_name(
                _find_last_field_name(steps)
            )
            if may_be_days and not parse_values(lists, Reading("date", "parts")).invalid_positions:
                row_set.columns.append((steps, lists))  # such as [2026, 11, 20]
                return
            list_group = ListGroup(steps, lists)
            if (
                list_group.max_length <= 1 < len(list_group.items)
                and list_group.kinds == {"dict"}
                and not matches_form(_find_last_field_name(steps), "header")
                and self._find_header(row_set, list_group, has_mixed_kinds=False) is None
            ):
                # Lists of one record at most, in row after row, are wrappers.
                records = [
                    MISSING if list_items in (MISSING, []) else list_items[0]
                    for list_items in list_group.lists
                ]
                self._add_values(row_set, (*steps, Position(0)), records)
            elif list_group.max_length:
                row_set.list_groups.append(list_group)
            else:
                row_set.columns.append((steps, list_group.lists))
        scalar_types = value_types - {dict, list}
        if scalar_types - {NoneType} or (scalar_types and scalar_types == value_types):
            scalar_values = [
                MISSING if type(value) in (dict, list) else value for value in row_values
            ]
            row_set.columns.append((steps, scalar_values))

    def _split_by_fields(self, row_set: RowSet) -> None:
        """Split a table into several if its rows have different fields in each enclosing row.

        For example, the rows ``blocks[].items[]`` may have different fields in each block. They
        stay in one table if they share some fields, and one block has all the texts that each row
        of the other has.
        """
        for ancestor in [*row_set.iter_with_ancestors()][1:-1]:
            ancestor_keys = [
                ancestor.row_keys[row_position]
                for row_position in row_set.find_enclosing_positions(ancestor)
            ]
            counts_by_path, text_counts_by_path = (
                {
                    path: Counter(compress(ancestor_keys, map(is_counted, row_values)))
                    for path, row_values in row_set.columns
                }
                for is_counted in (
                    lambda value: value is not MISSING,
                    lambda value: type(value) is str,
                )
            )
            table_variants: list[tuple[set[Steps], set[Steps], list[Any]]] = []
            for key, row_count in Counter(ancestor_keys).items():
                paths = {path for path, count_by_key in counts_by_path.items() if count_by_key[key]}
                # A single row does not show which of its fields are optional.
                text_paths = {
                    path for path in paths if text_counts_by_path[path][key] == row_count > 1
                }
                similar_variants = (
                    table_variant
                    for table_variant in table_variants
                    # Rows by engine and rows by page are two tables; empty rows are of any.
                    if not (table_variant[1] and paths and table_variant[1].isdisjoint(paths))
                    and (table_variant[0] <= paths or text_paths <= table_variant[1])
                )
                table_variant = next(similar_variants, None)
                if table_variant is None:
                    table_variants.append((text_paths, paths, [key]))
                else:
                    table_variant[0].intersection_update(text_paths)
                    table_variant[1].update(paths)
                    table_variant[2].append(key)
            if 1 < len(table_variants) <= _MAX_TUPLE_LENGTH:
                self.row_sets.remove(row_set)
                for _, kept_paths, kept_keys in table_variants:
                    self._add_partial_row_set(row_set, ancestor, kept_paths, kept_keys)
                return

    def _add_partial_row_set(
        self,
        row_set: RowSet,
        ancestor: RowSet,
        kept_paths: set[Steps],
        ancestor_keys: list[Any],
    ) -> None:
        """Add a table that has some of the rows and columns of an existing table.

        Parameters
        ----------
        row_set : RowSet
            The rows of the existing table.
        ancestor : RowSet
            Rows that enclose the rows of the existing table.
        kept_paths : set of tuple of Step
            The parsed paths of the columns to keep.
        ancestor_keys : list
            Keys of ``ancestor``. Rows are kept if the key of their enclosing row is among them.
        """
        key_path = (
            "^" * sum(isinstance(step, Elements) for step in row_set.steps[len(ancestor.steps) :])
            + "#0"
        )
        if isinstance(ancestor.steps[-1], Entries):
            key_path = f"@{sum(isinstance(step, Entries) for step in ancestor.steps) - 1}"
        kept_positions = [
            row_position
            for row_position, kept_position in enumerate(row_set.find_enclosing_positions(ancestor))
            if ancestor.row_keys[kept_position] in ancestor_keys
        ]
        new_row_set = replace(
            row_set,
            parent_row_positions=[
                row_set.parent_row_positions[kept_position] for kept_position in kept_positions
            ],
            row_keys=[row_set.row_keys[kept_position] for kept_position in kept_positions],
            kept_values_by_path={**row_set.kept_values_by_path, key_path: tuple(ancestor_keys)},
            columns=[
                (path, [row_values[kept_position] for kept_position in kept_positions])
                for path, row_values in row_set.columns
                if path in kept_paths
            ],
        )
        self.row_sets.append(new_row_set)

    # --- maps -----------------------------------------------------------------------------------

    def _has_data_keys(self, objects: list[dict[str, Any]], steps: Steps) -> bool:
        """Return whether the keys of some objects are data, such as days, and not field names.

        Parameters
        ----------
        objects : list of dict
            The objects at one path, from all rows.
        steps : tuple of Step
            The parsed path.
        """
        keys = list(dict.fromkeys(key for value in objects for key in value))
        if not keys:
            return False
        dimension = self.vocabulary.find_dimension(keys)
        if dimension is not None or all(map(_DATA_KEY_PATTERN.fullmatch, keys)):
            return True
        if len(keys) == 1:
            return False
        values_of_keys = [[value.get(key) for value in objects] for key in keys]
        nonempty_values = [
            nonempty_value
            for values_of_key in values_of_keys
            for nonempty_value in _list_nonempty_values(values_of_key)
        ]
        dicts_of_lists = [
            {name: value for name, value in nonempty_value.items() if isinstance(value, list)}
            for nonempty_value in nonempty_values
            if isinstance(nonempty_value, dict)
        ]
        header_texts = {
            str(header)
            for list_by_name in dicts_of_lists
            if any(_find_value_kinds(rows) == {"list"} for rows in list_by_name.values())
            for name, header in list_by_name.items()
            if matches_form(name, "header")
        }
        if len(header_texts) > 1:
            return False  # tables of different columns
        similarity = _measure_similarity(nonempty_values)
        last_field_name = (
            to_snake_case(steps[-1].name) if steps and isinstance(steps[-1], Field) else ""
        )
        has_by_in_name = {"by", "per"} & {*last_field_name.split("_")}
        are_translations = all(
            isinstance(nonempty_value, str) for nonempty_value in nonempty_values
        ) and all(map(_LANGUAGE_PATTERN.fullmatch, keys))
        if are_translations or similarity < _MIN_SIMILARITY:
            return False
        if has_by_in_name:
            return True
        are_keys_known = sum(key in self.vocabulary.field_by_text for key in keys) >= 0.8 * len(
            keys
        )
        are_measure_names = 2 * sum(map(is_measure_name, keys)) >= len(keys)
        contain_lists = any(
            isinstance(value, list) for values_of_key in values_of_keys for value in values_of_key
        )
        are_values_records = (
            len(keys) >= 3 <= len(nonempty_values)
            and all(
                isinstance(nonempty_value, dict) and len(nonempty_value) > 1
                for nonempty_value in nonempty_values
            )
            # Lists of different things may have some fields in common.
            and not (contain_lists and (not steps or similarity < _MIN_LIST_SIMILARITY))
        )
        return are_values_records or (are_keys_known and not are_measure_names)

    def _add_object_row_sets(self, row_set: RowSet, data_key_objects: list[PathAndValues]) -> None:
        """Add tables for objects whose keys are data, such as ``{"chatgpt": 3}``.

        Each entry of an object becomes a row. Several objects in one row that have the same keys
        become columns of one table.
        """
        objects_by_keys: dict[tuple[Any, ...], list[PathAndValues]] = {}
        for steps, dicts in data_key_objects:
            keys = tuple(None if value is MISSING else frozenset(value) for value in dicts)
            objects_by_keys.setdefault(keys, []).append((steps, dicts))
        for parallel_objects in objects_by_keys.values():
            self._add_child_row_set(row_set, parallel_objects, parallel_objects[0], Entries)

    # --- arrays ---------------------------------------------------------------------------------

    def _add_list_row_sets(self, row_set: RowSet, list_groups: list[ListGroup]) -> None:
        """Add the lists in the rows of a table: as nested tables, or as columns of this table."""
        remaining_list_groups = [
            list_group
            for list_group in list_groups
            if not self._add_if_columns(row_set, list_group)
        ]
        parallel_groups_by_key: dict[Any, tuple[ListsOfNames | None, list[ListGroup]]] = {}
        for list_group in remaining_list_groups:
            if list_group.contains_names:
                continue
            lists_of_names = self._find_lists_of_names(row_set, list_group)
            # Of a square grid a list beside it may name the rows or the columns.
            item_lengths = {len(item or ()) for item in list_group.items if list_group.is_of_lists}
            has_own_row_set = (
                list_group.max_length < 2
                or list_group.kinds == {"dict"}
                or item_lengths == {list_group.max_length}
                or _find_last_field_name(list_group.steps) in ("columns", "headers")
            )
            # A list that is missing in some rows has the length of the others there.
            similar_lengths = (
                other_lengths
                for other_lengths in parallel_groups_by_key
                if {
                    length == other_length
                    for length, other_length in zip(list_group.lengths, other_lengths, strict=False)
                    if None not in (length, other_length)
                }
                == {True}
            )
            lengths = (*list_group.lengths,)
            if lists_of_names is not None:
                parallel_key: Any = (lists_of_names[0], lengths)
            else:
                parallel_key = (
                    list_group.steps if has_own_row_set else next(similar_lengths, lengths)
                )
            _, parallel_groups = parallel_groups_by_key.setdefault(
                parallel_key, (lists_of_names, [])
            )
            parallel_groups.append(list_group)
        for lists_of_names, parallel_groups in parallel_groups_by_key.values():
            are_rows = lists_of_names is not None or len(parallel_groups) > 1
            if are_rows or not self._add_if_not_rows(row_set, parallel_groups[0]):
                self._add_parallel_row_set(row_set, parallel_groups, lists_of_names)

    def _add_parallel_row_set(
        self,
        row_set: RowSet,
        list_groups: list[ListGroup],
        lists_of_names: ListsOfNames | None = None,
    ) -> None:
        """Add one table for several lists of equal length: each position becomes a row.

        Parameters
        ----------
        row_set : RowSet
            The rows with the lists.
        list_groups : list of ListGroup
            The lists, each of which becomes a column.
        lists_of_names : tuple, optional
            Other lists that have a name for each position.
        """
        main_list_group = max(
            list_groups, key=lambda group: (group.is_of_lists, len(group.present_lists))
        )
        containers = [(list_group.steps, list_group.lists) for list_group in list_groups]
        main_container = main_list_group.steps, main_list_group.lists
        self._add_child_row_set(row_set, containers, main_container, Elements, lists_of_names)

    def _add_child_row_set(
        self,
        row_set: RowSet,
        containers: list[PathAndValues],
        main_container: PathAndValues,
        step_type: type[Elements | Entries],
        lists_of_names: ListsOfNames | None = None,
        kept_values_by_path: dict[str, tuple[Any, ...]] | None = None,
    ) -> None:
        """Add a nested table whose rows are the items of lists or objects in enclosing rows.

        Parameters
        ----------
        row_set : RowSet
            The enclosing rows.
        containers : list of tuple
            The lists or objects: tuples of a parsed path, and a list with one list or object for
            each enclosing row. Each tuple becomes one column or several.
        main_container : tuple
            The tuple among ``containers`` whose lists or objects decide the number of rows.
        step_type : type
            `Each` for lists, `Entries` for objects.
        lists_of_names : tuple, optional
            Other lists that have a name for each item.
        kept_values_by_path : dict, optional
            Conditions for the rows to keep, as in `Rows`.
        """
        lists = [items for items in main_container[1] if isinstance(items, list)]
        first_position = int(len(containers) == 1 and _has_header_row(lists))
        rows_and_keys = [
            (parent_position, row_key)
            for parent_position, items in enumerate(main_container[1])
            if items is not MISSING
            for row_key in (items if step_type is Entries else range(first_position, len(items)))
        ]
        steps = (*widen_to_all_elements(main_container[0]), step_type())
        parent_positions = [parent_position for parent_position, _ in rows_and_keys]
        row_keys = [row_key for _, row_key in rows_and_keys]
        containers_and_name_lists = [*containers]
        if lists_of_names is not None:
            name_list_group, list_positions = lists_of_names
            name_list_group.contains_names = True
            containers_and_name_lists.append(
                (
                    name_list_group.steps,
                    [name_list_group.lists[position] for position in list_positions],
                )
            )
        paths = [path for path, _ in containers_and_name_lists]
        container_path = paths[0][: min(count_shared_steps(paths[0], path) for path in paths)]
        new_row_set = RowSet(
            steps,
            row_set,
            parent_positions,
            row_keys,
            container_path,
            first_position,
            lists_of_names is not None,
            kept_values_by_path or {},
        )
        nesting_depth = sum(isinstance(step, Elements | Entries) for step in steps) - 1
        paths_and_values = [
            (
                steps
                if path == main_container[0] and not kept_values_by_path
                else (*bind_to_row(path), step_type(container_index=nesting_depth)),
                [
                    MISSING
                    if lists[parent_position] is MISSING
                    else lists[parent_position][row_key]
                    for parent_position, row_key in rows_and_keys
                ],
            )
            for path, lists in containers_and_name_lists
        ]
        if first_position:
            header_path = (*bind_to_row(main_container[0]), Position(0), Elements())
            header_by_row = [
                main_container[1][parent_position][0] for parent_position in parent_positions
            ]
            row_list_group = ListGroup(steps, paths_and_values[0][1])
            paths_and_values = self._split_into_columns(
                row_list_group, (header_path, header_by_row)
            )
        self.row_sets.append(new_row_set)
        self._add_columns(new_row_set, paths_and_values)

    def _add_if_columns(self, row_set: RowSet, list_group: ListGroup) -> bool:
        """Add one column for each position in some lists, if all are like ``["2026-11-03", 4]``.

        Each list must have values of different kinds, or another list must have a column name for
        each position.

        Returns
        -------
        bool
            Whether columns were added.
        """
        kinds_by_position = [
            _find_value_kinds(
                value for cell in cells for value in (cell if type(cell) is list else [cell])
            )
            for cells in zip_longest(*list_group.present_lists)
        ]
        has_mixed_kinds = (
            all(len(kinds) <= 1 for kinds in kinds_by_position)
            and len(set().union(*kinds_by_position)) > 1
        )
        # Inner lists of one kind may be rows as well as columns.
        if list_group.is_of_lists and (
            not has_mixed_kinds
            or None in list_group.items
            or any(len({*map(len, items)}) > 1 for items in list_group.present_lists)
        ):
            return False
        header = self._find_header(row_set, list_group, has_mixed_kinds=has_mixed_kinds)
        lists_of_names = None if has_mixed_kinds else self._find_lists_of_names(row_set, list_group)
        if header is not None and lists_of_names is not None:
            are_names_nearer = count_shared_steps(
                lists_of_names[0].steps, list_group.steps
            ) > count_shared_steps(header[0], list_group.steps)
            header = None if are_names_nearer else header
        if header is not None or (
            has_mixed_kinds
            and (list_group.is_of_lists or _are_short_tuples(row_set, list_group, 2))
        ):
            paths_and_values = self._split_into_columns(list_group, header)
            if list_group.is_of_lists:
                # Each position in the inner lists becomes a row.
                self._add_child_row_set(
                    row_set,
                    paths_and_values,
                    self._split_into_columns(list_group)[0],
                    Elements,
                    kept_values_by_path={"^#0": (0,)},
                )
            else:
                self._add_columns(row_set, paths_and_values)
            return True
        return False

    def _add_if_not_rows(self, row_set: RowSet, list_group: ListGroup) -> bool:
        """Add lists as columns of the rows that contain them, if their items are no rows.

        Lists of texts become one column. Short lists of equal length become one column per
        position.

        Returns
        -------
        bool
            Whether columns were added. If not, the items of the lists are rows of a table.
        """
        are_texts = {*map(type, list_group.items)} - {NoneType} == {str}
        texts_by_position = map(set, zip_longest(*list_group.present_lists))
        # A text that is first in one list and second in another is no cell of a column.
        are_unordered_texts = are_texts and sum(map(len, texts_by_position)) > len(
            {*list_group.items}
        )
        if not are_unordered_texts and _are_short_tuples(
            row_set, list_group, max(4, 2 * list_group.max_length)
        ):
            self._add_columns(row_set, self._split_into_columns(list_group))
            return True
        if are_texts:
            row_set.columns.append((list_group.steps, list_group.lists))
        return are_texts

    @staticmethod
    def _split_into_columns(
        list_group: ListGroup, header: HeaderNames | None = None
    ) -> list[PathAndValues]:
        """Split lists into columns: one for each position, or for each column name in ``header``.

        Returns
        -------
        list of tuple
            Tuples of a parsed path, and a list with the value of each row.
        """
        header_path, names_by_row = header or (
            None,
            [[*range(list_group.max_length)]] * len(list_group.lists),
        )
        position_by_name_of_rows: list[dict[Any, int]] = [
            {name: position for position, name in enumerate(names)} for names in names_by_row
        ]
        paths_and_values: list[PathAndValues] = []
        for name in dict.fromkeys(
            name for position_by_name in position_by_name_of_rows for name in position_by_name
        ):
            step = Position(name) if header_path is None else NamedColumn(header_path, name)
            column_values = [
                list_items[position_by_name[name]]
                if list_items is not MISSING
                and position_by_name.get(name, len(list_items)) < len(list_items)
                else MISSING
                for list_items, position_by_name in zip(
                    list_group.lists, position_by_name_of_rows, strict=True
                )
            ]
            paths_and_values.append(((*list_group.steps, step), column_values))
        return paths_and_values

    def _find_header(
        self, row_set: RowSet, list_group: ListGroup, *, has_mixed_kinds: bool
    ) -> HeaderNames | None:
        """Find the header of rows that are lists: a list of their names, such as ``columns``.

        Parameters
        ----------
        row_set : RowSet
            The rows with the given lists.
        list_group : ListGroup
            The given lists.
        has_mixed_kinds : bool
            Whether each of the given lists has values of different kinds.

        Returns
        -------
        tuple or None
            The parsed path to the names; and a list that has, for each row, its list of names.
        """
        possible_headers = []
        for other_list_group, list_positions in _iter_neighbours(
            row_set, list_group, includes_same_rows=list_group.is_of_lists
        ):
            if other_list_group.field_and_texts is None:
                continue
            field_name, lists_of_texts = other_list_group.field_and_texts
            names_by_row = [lists_of_texts[position] for position in list_positions]
            list_name = _find_last_field_name(list_group.steps)
            other_list_name = _find_last_field_name(other_list_group.steps)
            has_header_name = matches_form(other_list_name, "header")
            # A single name, or one for the positions of some rows only, is a value of theirs, as
            # are records beside records.
            are_names_fixed = len({*map(tuple, names_by_row)}) == 1 < list_group.max_length and (
                field_name is None or "dict" not in list_group.kinds
            )
            # ``index_names`` is the header of ``index``.
            path_similarity = (
                count_shared_steps(other_list_group.steps, list_group.steps),
                list_name in other_list_name,
            )
            has_same_name = (
                other_list_name == list_name
                and self.vocabulary.find_dimension(names_by_row[0]) is None
            )
            if has_header_name or (are_names_fixed and (has_mixed_kinds or has_same_name)):
                possible_headers.append(
                    (path_similarity, other_list_group, field_name, names_by_row)
                )
        if not possible_headers:
            return None
        _, other_list_group, field_name, names_by_row = max(
            possible_headers, key=lambda possible_header: possible_header[0]
        )
        other_list_group.contains_names = True
        self.header_paths.add(other_list_group.steps)
        widened_steps = widen_to_all_elements(other_list_group.steps)
        shared_step_count = count_shared_steps(widened_steps, row_set.steps)
        return (
            *bind_to_row(
                (*widened_steps[:shared_step_count], *other_list_group.steps[shared_step_count:])
            ),
            Elements(),
            *([Field(field_name)] if field_name is not None else []),
        ), names_by_row

    def _find_lists_of_names(self, row_set: RowSet, list_group: ListGroup) -> ListsOfNames | None:
        """Find the lists that name the elements of given lists, such as ``labels`` of ``values``.

        A list of names has as many elements as the list of values, and may be in the same row or in
        an enclosing row.

        Parameters
        ----------
        row_set : RowSet
            The rows with the given lists.
        list_group : ListGroup
            The given lists.

        Returns
        -------
        tuple or None
            The `ListGroup` of the lists of names, and for each row the position of its list of
            names in this group. If there are several such groups, the one whose path is most
            similar to that of the given lists is returned.
        """
        if list_group.max_length < 2:
            return None
        possible_lists = []
        for other_list_group, list_positions in _iter_neighbours(
            row_set, list_group, includes_same_rows=False
        ):
            # Short lists elsewhere have the same length by chance, and fractions name nothing.
            other_record_path = other_list_group.steps[:-1]
            is_in_same_record = other_record_path == list_group.steps[: len(other_record_path)]
            if (
                other_list_group.kinds.isdisjoint(("dict", "list"))
                and (is_in_same_record or list_group.max_length > _MAX_COINCIDENTAL_LENGTH)
                and not any(type(item) is float for item in other_list_group.items)
            ):
                possible_lists.append((other_list_group, list_positions))
        return max(
            possible_lists,
            key=lambda possible_group: count_shared_steps(
                possible_group[0].steps, list_group.steps
            ),
            default=None,
        )


# --- paths --------------------------------------------------------------------------------------


def _iter_neighbours(
    row_set: RowSet,
    list_group: ListGroup,
    *,
    includes_same_rows: bool,
) -> Iterator[tuple[ListGroup, list[int]]]:
    """Yield other lists as long as given lists, in the rows that enclose the rows of these.

    The nearest ones come first.

    Parameters
    ----------
    row_set : RowSet
        The rows with the given lists.
    list_group : ListGroup
        The given lists.
    includes_same_rows : bool
        Whether to begin with the other lists in the rows with the given lists.

    Yields
    ------
    ListGroup
        The other lists at one path.
    list of int
        For each row with a given list, the position of the row that encloses it and has the other
        list.
    """
    for ancestor in [*row_set.iter_with_ancestors()][not includes_same_rows :]:
        list_positions = row_set.find_enclosing_positions(ancestor)
        for other_list_group in ancestor.list_groups:
            if other_list_group.steps != list_group.steps[: len(other_list_group.steps)] and all(
                length in (None, other_list_group.lengths[position])
                for length, position in zip(list_group.lengths, list_positions, strict=True)
            ):
                yield other_list_group, list_positions


def _find_last_field_name(steps: Steps) -> str:
    """Return the name of the last field in a parsed path; "" if there is none."""
    return next((step.name for step in reversed(steps) if isinstance(step, Field)), "")


def bind_to_row(steps: Iterable[Step]) -> Steps:
    """Replace each ``[]`` of a parsed path by ``[@0]``, ``[@1]`` and so on.

    ``[@0]`` means the single element that has the same position as the row.

    Examples
    --------
    >>> from aatoolkit.jsontree.paths import format_path
    >>> format_path(bind_to_row((Field("rows"), Elements(), Field("n"))))
    'rows[@0].n'
    """
    bound_path: list[Step] = []
    list_depth = 0
    for step in steps:
        if isinstance(step, Elements | Entries):
            step, list_depth = type(step)(container_index=list_depth), list_depth + 1
        bound_path.append(step)
    return tuple(bound_path)


def count_shared_steps(steps: Sequence[Any], other_steps: Sequence[Any]) -> int:
    """Return the number of steps that two parsed paths have in common at their beginning.

    Examples
    --------
    >>> count_shared_steps((Field("a"), Elements()), (Field("a"), Field("b")))
    1
    """
    return sum(takewhile(bool, map(eq, steps, other_steps)))


# --- kinds of values ----------------------------------------------------------------------------


def _keep_values_of_type(value_type: type, values: list[Any]) -> list[Any]:
    """Return a copy of a list in which values of any other type are replaced by `MISSING`."""
    return [value if type(value) is value_type else MISSING for value in values]


def _find_value_kind(value: Any) -> str:
    """Return the kind of a JSON value, such as ``number``, ``day``, ``text`` or ``dict``.

    ``mark`` is the kind of texts without letters or digits.

    Examples
    --------
    >>> [_find_value_kind(value) for value in (3, "34.5%", "2026-11-03", "—", [])]
    ['number', 'number', 'day', 'mark', 'list']
    """
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return (
            "number"
            if _NUMBER_PATTERN.fullmatch(value)
            else "day"
            if _DAY_PATTERN.match(value)
            else "text"
            if any(map(str.isalnum, value))
            else "mark"
        )
    return type(value).__name__


def _find_value_kinds(values: Iterable[Any]) -> set[str]:
    """Return the set of kinds of some values, such as ``number``.

    Null, and texts such as ``—`` without letters or digits, are left out.

    Examples
    --------
    >>> sorted(_find_value_kinds([3, "17", None, "—", "a.example"]))
    ['number', 'text']
    """
    return {*map(_find_value_kind, values)} - {"NoneType", "Missing", "mark"}


def _list_nonempty_values(values: Iterable[Any]) -> list[Any]:
    """Return the values that are not null, ``{}`` or ``[]``.

    If any of them are objects, return only the objects. If all are lists of objects, return the
    objects in the lists.

    Examples
    --------
    >>> _list_nonempty_values([{"n": 1}, None, {}]), _list_nonempty_values([[{"n": 1}, {"n": 2}]])
    ([{'n': 1}], [{'n': 1}, {'n': 2}])
    """
    nonempty_values = [value for value in values if value not in (None, {}, [])]
    objects = [
        nonempty_value for nonempty_value in nonempty_values if isinstance(nonempty_value, dict)
    ]
    if not objects and all(isinstance(nonempty_value, list) for nonempty_value in nonempty_values):
        list_items = [item for nonempty_value in nonempty_values for item in nonempty_value]
        objects = list_items if {*map(type, list_items)} == {dict} else []
    return objects or nonempty_values


def _measure_similarity(json_values: list[Any]) -> float:
    """Return how similar some JSON values are to each other, as a number from 0 to 1.

    It is 1 if all are objects that have the same fields, with values of the same kinds.

    Examples
    --------
    >>> _measure_similarity([{"n": 1}, {"n": 2}]), _measure_similarity([{"n": 1}, {"m": 2}])
    (1.0, 0.5)
    """
    field_kinds_of_values = []
    for json_value in json_values[:: len(json_values) // _SIMILARITY_SAMPLE_SIZE + 1]:
        keys_and_items = json_value.items() if isinstance(json_value, dict) else [(0, json_value)]
        keys_and_items = (
            [(0, item) for item in json_value[:3]]
            if isinstance(json_value, list)
            else keys_and_items
        )
        field_kinds = {
            (key, _find_value_kind(item)) for key, item in keys_and_items if item is not None
        }
        field_kinds_of_values += [field_kinds] if field_kinds else []
    kind_counts = Counter(
        field_kind for field_kinds in field_kinds_of_values for field_kind in field_kinds
    )
    return (
        kind_counts.total() / (len(kind_counts) * len(field_kinds_of_values))
        if kind_counts
        else 0.0
    )


def _are_short_tuples(row_set: RowSet, list_group: ListGroup, min_lists: int) -> bool:
    """Return whether at least ``min_lists`` lists are short tuples of scalars, like ``[x, y]``.

    Parameters
    ----------
    row_set : RowSet
        The rows with the lists.
    list_group : ListGroup
        The lists.
    min_lists : int
        The minimum number of lists.
    """
    is_regular = (
        len({*map(len, list_group.present_lists)}) == 1
        and list_group.max_length <= _MAX_TUPLE_LENGTH
    )
    is_flat = list_group.kinds.isdisjoint(("dict", "list"))
    return (
        row_set.parent is not None
        and is_regular
        and is_flat
        and len(list_group.present_lists) >= min_lists
    )


def _has_header_row(lists: list[list[Any]]) -> bool:
    """Return whether the items of each list are rows, the first of which has the column names.

    Examples
    --------
    >>> rows = [["host", "hits"], ["a.example", 3], ["b.example", 4]]
    >>> _has_header_row([rows]), _has_header_row([rows, rows[:1]])
    (True, True)
    """
    for rows in lists:
        if not rows or not all(isinstance(row, list) for row in rows):
            return False
        header, *other_rows = rows
        are_distinct_texts = {*map(_find_value_kind, header)} <= {"text", "mark"} and len(
            {*header}
        ) == len(header)
        cell_kinds = _find_value_kinds(cell for row in other_rows for cell in row)
        if (
            not are_distinct_texts
            or max(map(len, rows)) > len(header)
            or (other_rows and cell_kinds <= {"text"})
        ):
            return False
    return max(map(len, lists), default=0) > 2
