"""Find the rows and columns of tables in JSON that has no description.

A table is made from a list of objects; from several lists of equal length; from a list of lists; or
from an object whose keys are data. In the example, two lists of equal length become the columns of
one table. The path ``trend.hits[@0]`` means the element of ``trend.hits`` that has the same
position as the row.

>>> from aatoolkit.jsontree.paths import format_path
>>> trend = {"days": ["2026-11-03", "2026-11-04"], "hits": [3, 1]}
>>> structure = Structure([{"trend": trend}], Vocabulary({}))
>>> [format_path(row_set.steps) for row_set in structure.row_sets]
['', 'trend.days[]']
>>> [format_path(column.steps) for column in structure.raw_columns]
['trend.days[]', 'trend.hits[@0]']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile, zip_longest
from operator import eq
from types import NoneType
from typing import Any

from aatoolkit._util.dtypes import Reading
from aatoolkit.jsontree.coerce import read_as
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Position, Step
from aatoolkit.jsontree.vectors import MISSING, Missing
from aatoolkit.sections.column import snake
from aatoolkit.sections.inference.words import Vocabulary, is_measure_name

_NUMBER = re.compile(r"\s*[+-]?(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?\s*%?\s*")
_DAY = re.compile(r"\d{4}-\d\d|\d{4}-?W\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}")
_DATA_KEY = re.compile(r"\d+[!:]\w+([!:]\w+)*|[A-Z_-]*\d[A-Z0-9_-]*")
_HEADER_NAME = re.compile(
    r"(.*_)?(columns?|cols?|fields?|headers?|schema|keys?|vars|variables|names|metadata|meta|type"
    r"|info|dimensions?|metrics?|definitions?|ids)(_(entries|list))?"
)
_PARTS = (
    ({"num", "den"}, "Float64"),
    ({"numerator", "denominator"}, "Float64"),
    ({"units", "nanos"}, "Float64"),
    ({"year", "month", "day"}, "date"),
)
"""Names of fields that together are one value, such as a year, a month and a day; its dtype."""

_MIN_AGREEMENT, _MIN_LIST_AGREEMENT = 0.55, 0.8
_MAX_TUPLE_LENGTH, _MAX_LENGTH_BY_CHANCE, _SAMPLE_SIZE = 12, 2, 200

Path = tuple[Step, ...]
PathAndValues = tuple[Path, list[Any]]
"""A parsed path, and its value in each row; `MISSING` in rows where it is absent."""

Header = tuple[Path, list[list[str]]]
"""The parsed path to a list with the names of columns, and its names for each row."""


@dataclass(eq=False)
class RowSet:
    """The rows of one future table: the items of all lists, or of all objects, at one path.

    If the rows are nested in rows of another table, these are called the enclosing rows.

    Attributes
    ----------
    steps : tuple of Step
        The parsed path to the rows, such as that of ``domains[]``.
    parent : RowSet, optional
        The enclosing rows; None for the responses themselves.
    parent_rows : list of int
        For each row, the position of its enclosing row in ``parent``.
    keys : list
        For each row, its position in its list or its key in its object.
    holder : tuple of Step
        The parsed path to the list or object with the rows.
    first : int
        The position of the first row in its list; 1 if the first element has column names.
    has_label : bool
        Whether another list has a name for each row.
    only : dict of str to tuple
        Conditions for the rows to keep, as in `Rows`.
    arrays : list of Arrays
        The lists that are values of the rows.
    maps : list of tuple
        The objects in the rows whose keys are data. Each tuple has a parsed path, and a list with
        one object or `MISSING` for each row.
    """

    steps: Path
    parent: RowSet | None
    parent_rows: list[int]
    keys: list[Any]
    holder: Path
    first: int = 0
    has_label: bool = False
    only: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    arrays: list[Arrays] = field(default_factory=list)
    maps: list[PathAndValues] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.keys)

    def with_ancestors(self) -> Iterator[RowSet]:
        """Yield these rows, then the rows that enclose them, and so on up to the responses."""
        row_set: RowSet | None = self
        while row_set is not None:
            yield row_set
            row_set = row_set.parent

    def enclosing_rows(self, ancestor: RowSet) -> list[int]:
        """Return a list: for each row, the position of its enclosing row in ``ancestor``."""
        rows = list(range(len(self)))
        for row_set in self.with_ancestors():
            if row_set is ancestor:
                break
            rows = [row_set.parent_rows[row] for row in rows]
        return rows


@dataclass(eq=False)
class RawColumn:
    """The values of one future column.

    Attributes
    ----------
    row_set : RowSet
        The rows.
    steps : tuple of Step
        The parsed path to the values.
    values : list
        One value for each row; `MISSING` where it is absent.
    """

    row_set: RowSet
    steps: Path
    values: list[Any]


class Arrays:
    """The lists at one path in the rows of a table: one list, or `MISSING`, for each row.

    Parameters
    ----------
    steps : tuple of Step
        The parsed path to the lists.
    lists : list
        The lists.
    """

    def __init__(self, steps: Path, lists: list[Any]) -> None:
        self.steps, self.lists = steps, lists
        self.filled = [values for values in lists if values is not MISSING]
        self.items = [item for values in self.filled for item in values]
        self.kinds = _kinds_of(self.items)
        self.lengths = [None if values is MISSING else len(values) for values in lists]
        self.longest = max(map(len, self.filled), default=0)
        self.is_of_lists = self.kinds == {"list"}
        self.is_names = False

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
            texts = [
                [item.get(field_name) if type(item) is dict else item for item in values]
                for values in ([] if values is MISSING else values for values in self.lists)
            ]
            are_texts = {_kind_of(text) for row in texts for text in row} <= {"text", "mark"}
            if are_texts and all(len({*row}) == len(row) for row in texts):
                return field_name, texts
        return None


Label = tuple[Arrays, list[int]]
"""Lists with names for the elements of other lists, and for each row the position of its list."""


class Structure:
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
    raw_columns : list of RawColumn
        The columns of all tables, in the order of the responses.
    headers : set of tuple of Step
        The parsed paths of lists that contain column names, and no data.
    """

    def __init__(self, documents: Sequence[Any], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.row_sets: list[RowSet] = []
        self.raw_columns: list[RawColumn] = []
        self.headers: set[Path] = set()
        root = RowSet((), None, [], list(range(len(documents))), ())
        self.row_sets.append(root)
        self._add_raw_columns(root, [((), [*documents])])
        for row_set in self.row_sets[1:]:
            if any(child_set.parent is row_set for child_set in self.row_sets):
                continue
            raw_columns = [column for column in self.raw_columns if column.row_set is row_set]
            self._split_by_fields(row_set, raw_columns)
            is_header = row_set.steps[:-1] in self.headers and len(raw_columns) == 1
            if is_header and row_set in self.row_sets:
                self.row_sets.remove(row_set)

    def _add_raw_columns(self, row_set: RowSet, paths_and_values: Iterable[PathAndValues]) -> None:
        """Add scalar values of rows as columns, and lists or objects of rows as nested tables.

        Parameters
        ----------
        row_set : RowSet
            The rows.
        paths_and_values : iterable of tuple
            Tuples of a parsed path and a list with the value of each row.
        """
        array_count, map_count = len(row_set.arrays), len(row_set.maps)
        for steps, values in paths_and_values:
            self._add_values(row_set, steps, values)
        self._add_map_row_sets(row_set, row_set.maps[map_count:])
        self._add_array_row_sets(row_set, row_set.arrays[array_count:])

    def _add_values(self, row_set: RowSet, steps: Path, values: list[Any]) -> None:
        """Add the values at one path of the rows: scalars as a column, objects field by field.

        Lists and objects whose keys are data are stored in ``row_set``, to become tables later.

        Parameters
        ----------
        row_set : RowSet
            The rows.
        steps : tuple of Step
            The parsed path.
        values : list
            The value of each row, or `MISSING`.
        """
        value_types = {*map(type, values)} - {Missing}
        if dict in value_types:
            dicts = _values_of_type(dict, values)
            objects = [value for value in dicts if value is not MISSING]
            if self._is_map(objects, steps):
                row_set.maps.append((steps, dicts))
            else:
                field_names = dict.fromkeys(name for value in objects for name in value)
                for names, dtype in _PARTS:
                    if names <= {*field_names}:
                        result = read_as(dicts, Reading(dtype, "parts"))
                        if not result.invalid and result.array.null_count < len(dicts):
                            self.raw_columns.append(RawColumn(row_set, steps, dicts))
                for name in field_names:
                    field_values = [
                        MISSING if value is MISSING else value.get(name, MISSING) for value in dicts
                    ]
                    self._add_values(row_set, (*steps, Field(name)), field_values)
        if list in value_types:
            array = Arrays(steps, _values_of_type(list, values))
            is_single = array.longest <= 1 < len(array.items) and array.kinds == {"dict"}
            if row_set.parent is None:  # a header of one name is of the rows of each response
                is_single &= _HEADER_NAME.fullmatch(snake(_last_name(steps))) is None
            if is_single and self._find_header(row_set, array, is_mixed=False) is None:
                # Lists of one record at most, in row after row, are wrappers.
                records = [MISSING if items in (MISSING, []) else items[0] for items in array.lists]
                self._add_values(row_set, (*steps, Position(0)), records)
            elif array.longest:
                row_set.arrays.append(array)
            else:
                self.raw_columns.append(RawColumn(row_set, steps, array.lists))
        scalar_types = value_types - {dict, list}
        if scalar_types - {NoneType} or (scalar_types and scalar_types == value_types):
            scalars = [MISSING if type(value) in (dict, list) else value for value in values]
            self.raw_columns.append(RawColumn(row_set, steps, scalars))

    def _split_by_fields(self, row_set: RowSet, raw_columns: list[RawColumn]) -> None:
        """Split a table into several if its rows have other fields in each enclosing row.

        For example, ``blocks[].items[]`` may be objects of another kind in each block.
        """
        for ancestor in [*row_set.with_ancestors()][1:-1]:
            keys = [ancestor.keys[row] for row in row_set.enclosing_rows(ancestor)]
            paths_by_key: dict[Any, set[Path]] = {}
            for column in raw_columns:
                for key, value in zip(keys, column.values, strict=True):
                    if value is not MISSING:
                        paths_by_key.setdefault(key, set()).add(column.steps)
            groups: list[tuple[set[Path], list[Any]]] = []
            for key, paths in paths_by_key.items():
                similar_groups = (group for group in groups if _have_similar_paths(group[0], paths))
                group = next(similar_groups, (set(), []))
                groups += [group] * (not group[1])
                group[0].update(paths)
                group[1].append(key)
            if 1 < len(groups) <= _MAX_TUPLE_LENGTH:
                self.row_sets.remove(row_set)
                for group in groups:
                    self._add_partial_row_set(row_set, raw_columns, ancestor, *group)
                return

    def _add_partial_row_set(
        self,
        row_set: RowSet,
        raw_columns: list[RawColumn],
        ancestor: RowSet,
        kept_paths: set[Path],
        ancestor_keys: list[Any],
    ) -> None:
        """Add a table with some of the rows and columns of another table.

        Parameters
        ----------
        row_set : RowSet
            The rows of the other table.
        raw_columns : list of RawColumn
            The columns of the other table.
        ancestor : RowSet
            The rows that enclose the rows of the other table.
        kept_paths : set of tuple of Step
            The parsed paths of the columns to keep.
        ancestor_keys : list
            Keys of ``ancestor``. Rows are kept if the key of their enclosing row is among them.
        """
        source = (
            "^" * sum(isinstance(step, Each) for step in row_set.steps[len(ancestor.steps) :])
            + "#0"
        )
        if isinstance(ancestor.steps[-1], Entries):
            source = f"@{sum(isinstance(step, Entries) for step in ancestor.steps) - 1}"
        kept_rows = [
            index
            for index, row in enumerate(row_set.enclosing_rows(ancestor))
            if ancestor.keys[row] in ancestor_keys
        ]
        new_set = replace(
            row_set,
            parent_rows=[row_set.parent_rows[row] for row in kept_rows],
            keys=[row_set.keys[row] for row in kept_rows],
            only={**row_set.only, source: tuple(ancestor_keys)},
            arrays=[],
            maps=[],
        )
        self.row_sets.append(new_set)
        self.raw_columns += [
            RawColumn(new_set, column.steps, [column.values[row] for row in kept_rows])
            for column in raw_columns
            if column.steps in kept_paths
        ]

    # --- maps -----------------------------------------------------------------------------------

    def _is_map(self, objects: list[dict[str, Any]], steps: Path) -> bool:
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
        if dimension not in (None, "domain") or all(map(_DATA_KEY.fullmatch, keys)):
            return True
        if len(keys) == 1 or (steps and isinstance(steps[-1], Each)):
            return False  # elements of a list are records
        columns = [[value.get(key) for value in objects] for key in keys]
        members = [member for column in columns for member in _members_of(column)]
        grids = [member for member in members if isinstance(member, dict) and _has_rows(member)]
        headers = {
            str(names)
            for grid in grids
            for key, names in grid.items()
            if isinstance(names, list) and _HEADER_NAME.fullmatch(snake(key))
        }
        if len(headers) > 1:
            return False  # tables of different columns
        shapes = [frozenset(_shapes_of(column)) for column in columns]
        are_fields = len(objects) > 1 and {*map(len, shapes)} == {1} != {len({*shapes})}
        agreement = _mean_agreement(members)
        last_name = snake(steps[-1].name) if steps and isinstance(steps[-1], Field) else ""
        is_named_map = {"by", "per"} & {*last_name.split("_")}
        are_fields &= not is_named_map and agreement < _MIN_LIST_AGREEMENT
        if are_fields or agreement < _MIN_AGREEMENT:
            return False
        if dimension is not None or is_named_map:
            return True
        is_text = sum(key in self.vocabulary.field_by_text for key in keys) >= 0.8 * len(keys)
        is_measure = 2 * sum(map(is_measure_name, keys)) >= len(keys)
        has_lists = any(isinstance(value, list) for column in columns for value in column)
        are_records = (
            len(keys) >= 3 <= len(members)
            and all(isinstance(member, dict) and len(member) > 1 for member in members)
            # Lists of different things may have some fields in common.
            and not (has_lists and (is_measure or not steps or agreement < _MIN_LIST_AGREEMENT))
        )
        return are_records or (is_text and not is_measure)

    def _add_map_row_sets(self, row_set: RowSet, maps: list[PathAndValues]) -> None:
        """Add tables for objects whose keys are data, such as ``{"chatgpt": 3}``.

        Each entry becomes a row. Objects with the same keys become columns of one table.
        """
        maps_by_keys: dict[tuple[Any, ...], list[PathAndValues]] = {}
        for steps, dicts in maps:
            keys = tuple(None if value is MISSING else frozenset(value) for value in dicts)
            maps_by_keys.setdefault(keys, []).append((steps, dicts))
        for parallel_maps in maps_by_keys.values():
            self._add_child_row_set(row_set, parallel_maps, parallel_maps[0], Entries)

    # --- arrays ---------------------------------------------------------------------------------

    def _add_array_row_sets(self, row_set: RowSet, arrays: list[Arrays]) -> None:
        """Add lists in rows: as nested tables, or as columns of these rows."""
        row_arrays = [array for array in arrays if not self._add_if_columns(row_set, array)]
        arrays_by_length: dict[Any, list[Arrays]] = {}
        arrays_by_label: dict[Any, tuple[Label, list[Arrays]]] = {}
        for array in row_arrays:
            if array.is_names and array.kinds != {"dict"}:
                continue
            label = self._find_label(row_set, array)
            if label is not None:
                arrays_by_label.setdefault((label[0], *array.lengths), (label, []))[1].append(array)
                continue
            # Of a square grid a list beside it may name the rows or the columns.
            item_lengths = {len(item or ()) for item in array.items if array.is_of_lists}
            has_own_row_set = (
                array.longest < 2 or array.kinds == {"dict"} or item_lengths == {array.longest}
            ) or _last_name(array.steps) in ("columns", "headers")
            similar_lengths = (
                key
                for key in arrays_by_length
                if not has_own_row_set and _have_equal_lengths(array.lengths, key)
            )
            key = next(similar_lengths, array.steps if has_own_row_set else (*array.lengths,))
            arrays_by_length.setdefault(key, []).append(array)
        for label, group in arrays_by_label.values():
            self._add_parallel_row_set(row_set, group, label)
        for group in arrays_by_length.values():
            if len(group) > 1 or not self._add_if_not_rows(row_set, group[0]):
                self._add_parallel_row_set(row_set, group)

    def _add_parallel_row_set(
        self, row_set: RowSet, arrays: list[Arrays], label: Label | None = None
    ) -> None:
        """Add one table for several lists of equal length: each position becomes a row.

        Parameters
        ----------
        row_set : RowSet
            The rows with the lists.
        arrays : list of Arrays
            The lists, each of which becomes a column.
        label : tuple, optional
            Other lists that have a name for each position.
        """
        main_array = max(arrays, key=lambda array: (array.is_of_lists, len(array.filled)))
        containers = [(array.steps, array.lists) for array in arrays]
        first_position = int(len(arrays) == 1 and _has_header_row(main_array.filled))
        self._add_child_row_set(
            row_set, containers, (main_array.steps, main_array.lists), Each, label, first_position
        )

    def _add_row_set_of_columns(
        self, row_set: RowSet, array: Arrays, paths_and_values: list[PathAndValues]
    ) -> None:
        """Add a table for a list of lists in which each inner list is a column.

        Each position in the inner lists becomes a row.
        """
        steps, lists = self._split_into_columns(array)[0]
        label = self._find_label(row_set, Arrays(steps, lists), includes_own_lists=True)
        self._add_child_row_set(
            row_set, paths_and_values, (steps, lists), Each, label, only={"^#0": (0,)}
        )

    def _add_child_row_set(
        self,
        row_set: RowSet,
        containers: list[PathAndValues],
        main_container: PathAndValues,
        step_type: type[Each | Entries],
        label: Label | None = None,
        first_position: int = 0,
        only: dict[str, tuple[Any, ...]] | None = None,
    ) -> None:
        """Add a nested table whose rows are the items of lists, or of objects, in other rows.

        Parameters
        ----------
        row_set : RowSet
            The other rows.
        containers : list of tuple
            The lists or objects: tuples of a parsed path, and a list with one container for each
            row. Each tuple becomes one column or several.
        main_container : tuple
            The tuple whose containers decide the number of rows.
        step_type : type
            `Each` for lists, `Entries` for objects.
        label : tuple, optional
            Other lists that have a name for each item.
        first_position : int
            The position of the first row in its list; 1 if the first element has column names.
        only : dict, optional
            Conditions for the rows to keep, as in `Rows`.
        """
        row_ids = [
            (parent_row, key)
            for parent_row, items in enumerate(main_container[1])
            if items is not MISSING
            for key in (items if step_type is Entries else range(first_position, len(items)))
        ]
        # A step to a single element leads to all of its array.
        widened_steps = (
            Each() if isinstance(path_step, Position | Named) else path_step
            for path_step in main_container[0]
        )
        steps = (*widened_steps, step_type())
        parent_rows, keys = [parent_row for parent_row, _ in row_ids], [key for _, key in row_ids]
        containers_and_label = [*containers]
        if label is not None:
            label_array, label_rows = label
            label_array.is_names = True
            containers_and_label.append(
                (label_array.steps, [label_array.lists[row] for row in label_rows])
            )
        paths = [path for path, _ in containers_and_label]
        holder = paths[0][: min(count_shared_steps(paths[0], path) for path in paths)]
        new_set = RowSet(
            steps, row_set, parent_rows, keys, holder, first_position, label is not None, only or {}
        )
        depth = sum(isinstance(step, Each | Entries) for step in steps) - 1
        paths_and_values = [
            (
                steps
                if path == main_container[0] and not only
                else (*bind_to_row(path), step_type(at=depth)),
                [
                    MISSING if lists[parent_row] is MISSING else lists[parent_row][key]
                    for parent_row, key in row_ids
                ],
            )
            for path, lists in containers_and_label
        ]
        if first_position:
            header = (*bind_to_row(main_container[0]), Position(0), Each())
            header_names = [main_container[1][parent_row][0] for parent_row in parent_rows]
            rows = Arrays(steps, paths_and_values[0][1])
            paths_and_values = self._split_into_columns(rows, (header, header_names))
        self.row_sets.append(new_set)
        self._add_raw_columns(new_set, paths_and_values)

    def _may_be_columns(self, row_set: RowSet, array: Arrays, *, is_mixed: bool) -> bool:
        """Return whether lists of lists may be tables in which each inner list is a column.

        ``is_mixed`` says whether the inner lists hold different kinds of values.
        """
        if array.longest < 2 or {*map(type, array.items)} != {list}:
            return False
        lengths_of_items = [{*map(len, values)} for values in array.filled]
        if max(map(len, lengths_of_items)) > 1:
            return False
        is_square = any(
            item_lengths == {len(values)}
            for item_lengths, values in zip(lengths_of_items, array.filled, strict=True)
        )
        first_lengths = [
            len(items[0]) if items is not MISSING and items else None for items in array.lists
        ]
        neighbour_lengths = (
            neighbour.lengths
            for neighbour, _ in _arrays_around(row_set, array, includes_own_lists=True)
        )
        is_grid = is_square or any(lengths == first_lengths for lengths in neighbour_lengths)
        is_uniform = max(len(_kinds_of(item)) for item in array.items) == 1
        return is_uniform and (is_mixed or not is_grid)

    def _add_if_columns(self, row_set: RowSet, array: Arrays) -> bool:
        """Add the positions of lists as columns, if all lists are like ``["2026-11-03", 4]``.

        That is so if they have values of different kinds, or if another list has their column
        names.

        Returns
        -------
        bool
            Whether columns were added.
        """
        kinds_by_position = [_shapes_of(cells) for cells in zip_longest(*array.filled)]
        is_mixed = (
            all(len(kinds) <= 1 for kinds in kinds_by_position)
            and len(set().union(*kinds_by_position)) > 1
        )
        if array.is_of_lists and not self._may_be_columns(row_set, array, is_mixed=is_mixed):
            return False
        header = self._find_header(row_set, array, is_mixed=is_mixed)
        label = None if is_mixed or array.is_of_lists else self._find_label(row_set, array)
        if header is not None and label is not None:
            is_label_nearer = count_shared_steps(label[0].steps, array.steps) > count_shared_steps(
                header[0], array.steps
            )
            header = None if is_label_nearer else header
        if header is not None or (
            is_mixed and (array.is_of_lists or _are_tuples(row_set, array, 2))
        ):
            paths_and_values = self._split_into_columns(array, header)
            if array.is_of_lists:
                self._add_row_set_of_columns(row_set, array, paths_and_values)
            else:
                self._add_raw_columns(row_set, paths_and_values)
            return True
        return False

    def _add_if_not_rows(self, row_set: RowSet, array: Arrays) -> bool:
        """Add lists of texts as one column, and short lists of equal length as one column per
        position.

        Returns
        -------
        bool
            Whether columns were added. If not, the items of the lists are rows.
        """
        if _are_tuples(row_set, array, max(4, 2 * array.longest)):
            self._add_raw_columns(row_set, self._split_into_columns(array))
            return True
        are_texts = {*map(type, array.items)} - {NoneType} == {str}
        if are_texts:
            self.raw_columns.append(RawColumn(row_set, array.steps, array.lists))
        return are_texts

    @staticmethod
    def _split_into_columns(array: Arrays, header: Header | None = None) -> list[PathAndValues]:
        """Split lists into columns: one for each position, or for each column name in ``header``.

        Returns
        -------
        list of tuple
            Tuples of a parsed path, and a list with the value of each row.
        """
        path, rows_of_names = header or (None, [[*range(array.longest)]] * len(array.lists))
        positions_by_row: list[dict[Any, int]] = [
            {name: position for position, name in enumerate(names)} for names in rows_of_names
        ]
        paths_and_values: list[PathAndValues] = []
        for name in dict.fromkeys(name for positions in positions_by_row for name in positions):
            step = Position(name) if path is None else Named(path, name)
            cells = [
                values[positions[name]]
                if values is not MISSING and positions.get(name, len(values)) < len(values)
                else MISSING
                for values, positions in zip(array.lists, positions_by_row, strict=True)
            ]
            paths_and_values.append(((*array.steps, step), cells))
        return paths_and_values

    def _find_header(self, row_set: RowSet, array: Arrays, *, is_mixed: bool) -> Header | None:
        """Find a list of column names, such as ``columns``, for the positions of other lists.

        Parameters
        ----------
        row_set : RowSet
            The rows with the other lists.
        array : Arrays
            The other lists.
        is_mixed : bool
            Whether the other lists have values of different kinds.

        Returns
        -------
        tuple or None
            The parsed path to the names, and the list of names for each row.
        """
        candidates = []
        for neighbour, rows in _arrays_around(row_set, array, includes_own_lists=array.is_of_lists):
            if neighbour.field_and_texts is None:
                continue
            field_name, texts = neighbour.field_and_texts
            names_by_row = [texts[row] for row in rows]
            pairs = zip(array.lists, names_by_row, strict=True)
            is_exact = all(items is MISSING or len(items) == len(names) for items, names in pairs)
            has_header_name = _HEADER_NAME.fullmatch(snake(_last_name(neighbour.steps))) is not None
            # ``index_names`` is that of ``index``.
            has_same_name = _last_name(array.steps) in _last_name(neighbour.steps)
            closeness = (
                count_shared_steps(neighbour.steps, array.steps),
                has_same_name,
                has_header_name,
            )
            # What names only the positions of some rows are values of theirs.
            has_same_names = len({*map(tuple, names_by_row)}) == 1 and "dict" not in array.kinds
            is_header = has_header_name or (is_mixed and not array.is_of_lists and has_same_names)
            if _last_name(neighbour.steps) == _last_name(array.steps) and has_same_names:
                is_header |= self.vocabulary.find_dimension(names_by_row[0]) is None
            if array.kinds == {"text"} and has_same_names:
                is_header |= _are_tuples(row_set, array, max(4, 2 * array.longest))
            if is_exact and is_header:
                candidates.append((closeness, neighbour, field_name, names_by_row))
        if not candidates:
            return None
        _, neighbour, field_name, names_by_row = max(candidates, key=lambda candidate: candidate[0])
        neighbour.is_names = True
        self.headers.add(neighbour.steps)
        return (
            *bind_to_row(neighbour.steps),
            Each(),
            *([Field(field_name)] if field_name is not None else []),
        ), names_by_row

    def _find_label(
        self, row_set: RowSet, array: Arrays, *, includes_own_lists: bool = False
    ) -> Label | None:
        """Find lists with a name for each element of other lists, such as ``labels`` of a picture.

        Parameters
        ----------
        row_set : RowSet
            The rows with the other lists.
        array : Arrays
            The other lists.
        includes_own_lists : bool
            Whether to search also among the lists in the same row.

        Returns
        -------
        tuple or None
            The `Arrays` with the names, and for each row the position of its list there. If there
            are several, the one with the most similar path is returned.
        """
        if array.longest < 2:
            return None
        candidates = []
        for neighbour, list_positions in _arrays_around(
            row_set, array, includes_own_lists=includes_own_lists
        ):
            pairs = zip(array.lengths, list_positions, strict=True)
            may_be_label = neighbour.kinds.isdisjoint(("dict", "list")) and not (
                includes_own_lists and neighbour.is_names
            )
            # Short lists elsewhere have the same length by chance, and fractions name nothing.
            record_path = neighbour.steps[:-1]
            may_be_label &= (
                array.longest > _MAX_LENGTH_BY_CHANCE
                or record_path == array.steps[: len(record_path)]
            )
            may_be_label &= not any(type(item) is float for item in neighbour.items)
            if may_be_label and all(
                length in (None, neighbour.lengths[position]) for length, position in pairs
            ):
                candidates.append((neighbour, list_positions))
        return max(
            candidates,
            key=lambda candidate: count_shared_steps(candidate[0].steps, array.steps),
            default=None,
        )


# --- paths --------------------------------------------------------------------------------------


def _arrays_around(
    row_set: RowSet, array: Arrays, *, includes_own_lists: bool
) -> Iterator[tuple[Arrays, list[int]]]:
    """Yield the other lists in the rows that enclose some lists, from the nearest to the outermost.

    Parameters
    ----------
    row_set : RowSet
        The rows with the lists.
    array : Arrays
        The lists.
    includes_own_lists : bool
        Whether to begin with other lists in the same rows.

    Yields
    ------
    Arrays
        The other lists.
    list of int
        For each row, the position of its enclosing row.
    """
    for ancestor in [*row_set.with_ancestors()][not includes_own_lists :]:
        rows = row_set.enclosing_rows(ancestor)
        for neighbour in ancestor.arrays:
            if neighbour.steps != array.steps[: len(neighbour.steps)]:
                yield neighbour, rows


def _have_similar_paths(paths: set[Path], other_paths: set[Path]) -> bool:
    """Return whether two sets share at least half of all paths, or one set contains the other."""
    return len(paths & other_paths) >= min(
        0.5 * len(paths | other_paths), len(paths), len(other_paths)
    )


def _have_equal_lengths(lengths: list[int | None], other_lengths: Sequence[Any]) -> bool:
    """Return whether two sequences of lengths are equal, ignoring positions where one is None.

    Examples
    --------
    >>> _have_equal_lengths([3, None], (3, 2)), _have_equal_lengths([3, 1], (3, 2))
    (True, False)
    """
    comparisons = [
        length == other_length
        for length, other_length in {*zip(lengths, other_lengths, strict=False)}
        if None not in (length, other_length)
    ]
    return len(lengths) == len(other_lengths) and any(comparisons) and all(comparisons)


def _last_name(steps: Path) -> str:
    """Return the name of the last field in a parsed path; "" if there is none."""
    return next((step.name for step in reversed(steps) if isinstance(step, Field)), "")


def bind_to_row(steps: Iterable[Step]) -> Path:
    """Replace each ``[]`` of a parsed path by ``[@0]``, ``[@1]`` and so on.

    ``[@0]`` means the single element that has the same position as the row.

    Examples
    --------
    >>> from aatoolkit.jsontree.paths import format_path
    >>> format_path(bind_to_row((Field("rows"), Each(), Field("n"))))
    'rows[@0].n'
    """
    path: list[Step] = []
    depth = 0
    for step in steps:
        if isinstance(step, Each | Entries):
            step, depth = type(step)(at=depth), depth + 1
        path.append(step)
    return tuple(path)


def count_shared_steps(steps: Sequence[Any], other_steps: Sequence[Any]) -> int:
    """Return the number of steps that two parsed paths have in common at their beginning.

    Examples
    --------
    >>> count_shared_steps((Field("a"), Each()), (Field("a"), Field("b")))
    1
    """
    return sum(takewhile(bool, map(eq, steps, other_steps)))


# --- kinds of values ----------------------------------------------------------------------------


def _values_of_type(value_type: type, values: list[Any]) -> list[Any]:
    """Return a copy of a list in which values of any other type are replaced by `MISSING`."""
    return [value if type(value) is value_type else MISSING for value in values]


def _kind_of(value: Any) -> str:
    """Return the kind of a JSON value, such as ``number``, ``day``, ``text`` or ``dict``.

    Examples
    --------
    >>> _kind_of(3), _kind_of("34.5%"), _kind_of("2026-11-03"), _kind_of("—"), _kind_of([])
    ('number', 'number', 'day', 'mark', 'list')
    """
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "moment" if 1e9 <= value < 2e9 or 1e12 <= value < 2e12 else "number"
    if isinstance(value, str):
        return (
            "number"
            if _NUMBER.fullmatch(value)
            else "day"
            if _DAY.match(value)
            else ("text" if any(map(str.isalnum, value)) else "mark")
        )
    return type(value).__name__


def _shapes_of(values: Iterable[Any]) -> set[str]:
    """Return the set of kinds of some values; for a dict its field names, for a list the kind of
    items.

    Examples
    --------
    >>> sorted(_shapes_of([{"b": 1, "a": 2}, [3], "x"]))
    ["['a', 'b']", '[number', 'text']
    """
    values = [*values]
    shapes = {str(sorted(value)) for value in values if isinstance(value, dict)}
    list_shapes = {
        f"[{kind}" for value in values if isinstance(value, list) for kind in _kinds_of(value)
    }
    return shapes | list_shapes | (_kinds_of(values) - {"dict", "list"})


def _kinds_of(values: Iterable[Any]) -> set[str]:
    """Return the set of kinds of some values, such as ``number``.

    Null, and texts such as ``—`` without letters or digits, are left out.

    Examples
    --------
    >>> sorted(_kinds_of([3, "17", None, "—", "a.example"]))
    ['number', 'text']
    """
    kinds = {*map(_kind_of, values)} - {"NoneType", "Missing", "mark"}
    return kinds - {"moment"} if "number" in kinds else kinds


def _members_of(values: Iterable[Any]) -> list[Any]:
    """Return the values that are not empty. If all are lists of objects, return these objects.

    Examples
    --------
    >>> _members_of([{"n": 1}, None, {}]), _members_of([[{"n": 1}, {"n": 2}]])
    ([{'n': 1}], [{'n': 1}, {'n': 2}])
    """
    members = [value for value in values if value not in (None, {}, [])]
    objects = [member for member in members if isinstance(member, dict)]
    if not objects and all(isinstance(member, list) for member in members):
        items = [item for member in members for item in member]
        objects = items if {*map(type, items)} == {dict} else []
    return objects or members


def _has_rows(record: Mapping[str, Any]) -> bool:
    """Return whether any field of an object is a list of lists."""
    lists = [value for value in record.values() if isinstance(value, list)]
    return any(isinstance(item, list) for items in lists for item in items)


def _mean_agreement(members: list[Any]) -> float:
    """Return how similar objects are, as a number from 0 to 1.

    It is 1 if all objects have the same fields, with values of the same kinds.

    Examples
    --------
    >>> _mean_agreement([{"n": 1}, {"n": 2}]), _mean_agreement([{"n": 1}, {"m": 2}])
    (1.0, 0.5)
    """
    member_kinds = []
    for member in members[:: len(members) // _SAMPLE_SIZE + 1]:
        items = member.items() if isinstance(member, dict) else [(0, member)]
        items = [(0, item) for item in member[:3]] if isinstance(member, list) else items
        kinds = {(key, _kind_of(item)) for key, item in items if item is not None}
        member_kinds += [kinds] if kinds else []
    counts = Counter(field_kind for kinds in member_kinds for field_kind in kinds)
    return counts.total() / (len(counts) * len(member_kinds)) if counts else 0.0


def _unwrap(value: Any) -> Any:
    """Return the innermost value of nested objects that have one field each.

    Examples
    --------
    >>> _unwrap({"value": {"n": 3}}), _unwrap({"a": 1, "b": 2})
    (3, {'a': 1, 'b': 2})
    """
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value


def _are_tuples(row_set: RowSet, array: Arrays, min_rows: int) -> bool:
    """Return whether there are enough short lists of scalars with equal lengths, like ``[x, y]``.

    Parameters
    ----------
    row_set : RowSet
        The rows with the lists.
    array : Arrays
        The lists.
    min_rows : int
        The minimum number of lists.
    """
    is_regular = len({*map(len, array.filled)}) == 1 and array.longest <= _MAX_TUPLE_LENGTH
    is_flat = {*map(_kind_of, map(_unwrap, array.items))}.isdisjoint({"dict", "list"})
    return row_set.parent is not None and is_regular and is_flat and len(array.filled) >= min_rows


def _has_header_row(lists: list[list[Any]]) -> bool:
    """Return whether the first row has the column names, in each list of rows.

    Examples
    --------
    >>> _has_header_row([[["host", "hits"], ["a.example", 3], ["b.example", 4]]])
    True
    """
    for rows in lists:
        if len(rows) < 3 or not all(isinstance(row, list) for row in rows):
            return False
        header, *other_rows = rows
        are_names = {*map(_kind_of, header)} <= {"text", "mark"} and len({*header}) == len(header)
        if not are_names or max(map(len, other_rows)) > len(header):
            return False
        if _kinds_of(item for row in other_rows for item in row) <= {"text"}:
            return False
    return bool(lists)
