"""Find the axes and variables, i.e. the structure, of responses without a declaration.

An axis is a set of rows. Its rows are the elements of the lists at one path, or the entries of the
maps (objects whose keys are data) at one path. The axis whose rows contain these lists or maps is
its parent; the responses themselves are the first axis. A variable is the values at one path, one
for each row of an axis. The variables of an axis are the columns of one table. Lists of equal
lengths in one record share an axis. If rows are lists, a header is a list with a name
for each of their elements. A label is a list with a name for each row. Structure decides before
names, so that names in any language lead to the same tables.

In the example, ``trend.hits[@0]`` is the element of ``trend.hits`` at the position of the row.

>>> from aatoolkit.jsontree.paths import format_path
>>> trend = {"days": ["2026-11-03", "2026-11-04"], "hits": [3, 1]}
>>> structure = Structure([{"trend": trend}], Vocabulary({}))
>>> [format_path(axis.steps) for axis in structure.axes]
['', 'trend.days[]']
>>> [format_path(variable.steps) for variable in structure.variables]
['trend.days[]', 'trend.hits[@0]']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
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
_FRACTION_FIELDS = {"num", "den"}, {"numerator", "denominator"}, {"units", "nanos"}
_MIN_AGREEMENT, _MAX_TUPLE_LENGTH, _SAMPLE_SIZE = 0.55, 12, 200

Path = tuple[Step, ...]
Stream = tuple[Path, list[Any]]
"""A path, and its value for each row of an axis; `MISSING` for rows without a value."""

Header = tuple[Path, list[list[str]]]
"""The path to a list that names positions, and the list of names for each row of an axis."""


@dataclass(eq=False)
class Axis:
    """A set of rows, from all responses of a section.

    The rows are the elements of the lists at one path, or the entries of the maps at one path.

    Attributes
    ----------
    steps : tuple of Step
        The path to the rows; empty for the responses themselves.
    parent : Axis, optional
        The axis whose rows contain these lists or maps.
    parent_rows : list of int
        For each row, the position in the parent of the row that contains it.
    keys : list
        The position of each row in its list, or its key in its map.
    holder : tuple of Step
        The path to the list of the rows, or to the record of several lists that share the axis.
    first : int
        The position of the first row in its list; 1 if the element before it is a header.
    is_labelled : bool
        Whether another list names the rows by their positions.
    only : dict of str to tuple
        A filter, if the axis has only some of the rows at its path: by source, the values of the
        rows that it has.
    arrays, maps : list
        The lists (`Arrays`) and maps (`Stream`) in the rows, which become further axes or columns.
    """

    steps: Path
    parent: Axis | None
    parent_rows: list[int]
    keys: list[Any]
    holder: Path
    first: int = 0
    is_labelled: bool = False
    only: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    arrays: list[Arrays] = field(default_factory=list)
    maps: list[Stream] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.keys)

    def chain(self) -> Iterator[Axis]:
        """Yield the axis, its parent, and so on up to the axis of the responses."""
        axis: Axis | None = self
        while axis is not None:
            yield axis
            axis = axis.parent

    def rows_of(self, ancestor: Axis) -> list[int]:
        """Return, for each row, the position of the row of ``ancestor`` that contains it."""
        rows = list(range(len(self)))
        for axis in self.chain():
            if axis is ancestor:
                break
            rows = [axis.parent_rows[row] for row in rows]
        return rows


@dataclass(eq=False)
class Variable:
    """The values at one path: one for each row of an axis, `MISSING` for rows without a value.

    A path that does not begin with the path of the rows refers to them by their positions or keys,
    as in ``trend.hits[@0]``.
    """

    axis: Axis
    steps: Path
    values: list[Any]


class Arrays:
    """The lists at one path: one for each row of an axis, `MISSING` for rows without a list."""

    def __init__(self, steps: Path, lists: list[Any]) -> None:
        self.steps, self.lists = steps, lists
        self.filled = [values for values in lists if values is not MISSING]
        self.items = [item for values in self.filled for item in values]
        self.kinds = _kinds(self.items)
        self.lengths = [None if values is MISSING else len(values) for values in lists]
        self.longest = max(map(len, self.filled), default=0)
        self.is_used = False

    @cached_property
    def names(self) -> tuple[str | None, list[list[Any]]] | None:
        """The texts in the lists, if they can be a header or labels; else None.

        They can be if all are texts and no list has the same text twice. The texts are the elements
        of the lists; if the elements are records, the texts are the values of one field of these
        records. The result is a pair: the name of the field (None if the elements are no records),
        and for each list its texts.
        """
        fields = [*(self.items[0] or ())] if self.kinds == {"dict"} else [None]
        for name in fields:
            texts = [
                [item.get(name) if type(item) is dict else item for item in values]
                for values in ([] if values is MISSING else values for values in self.lists)
            ]
            is_text = {_kind(text) for row in texts for text in row} == {"text"}
            if is_text and all(len({*row}) == len(row) for row in texts):
                return name, texts
        return None


Label = tuple[Arrays, list[int]]
"""The lists that name the positions of an array, and for each row of the array the position of the
list that names its positions."""


class Structure:
    """The axes (sets of rows) and variables (values by row) in the responses of one section.

    Parameters
    ----------
    documents : sequence
        The decoded responses; more responses show more fields.
    vocabulary : Vocabulary
        The known engines, topics and so on, by which keys that are data are recognised.

    Attributes
    ----------
    axes : list of Axis
        The axes, enclosing axes first; the rows of the first axis are the responses.
    variables : list of Variable
        The variables, in the order of the responses.
    headers : set of tuple of Step
        The paths of lists that only name the positions of other lists.
    """

    def __init__(self, documents: Sequence[Any], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.axes: list[Axis] = []
        self.variables: list[Variable] = []
        self.headers: set[Path] = set()
        root = Axis((), None, [], list(range(len(documents))), ())
        self._add_axis(root, [((), [*documents])])
        for axis in self.axes[1:]:
            self._split(axis)

    def _add_axis(self, axis: Axis, streams: Iterable[Stream]) -> None:
        """Add an axis, i.e. a set of rows, with its variables and all axes nested in it."""
        self.axes.append(axis)
        self._add_variables(axis, streams)

    def _add_variables(self, axis: Axis, streams: Iterable[Stream]) -> None:
        """Add streams as variables of an axis, and the lists and maps in them as further axes.

        A stream is a path with one value for each row of the axis.
        """
        array_count, map_count = len(axis.arrays), len(axis.maps)
        for steps, values in streams:
            self._read(axis, steps, values)
        self._add_map_axes(axis, axis.maps[map_count:])
        self._add_array_axes(axis, axis.arrays[array_count:])

    def _read(self, axis: Axis, steps: Path, values: list[Any]) -> None:
        """Add the values at one path: objects field by field, scalars as a variable.

        ``values`` has one value for each row of the axis. Lists and maps are stored in the axis,
        and handled later.
        """
        value_types = {*map(type, values)} - {Missing}
        if dict in value_types:
            dicts = _values_of_type(dict, values)
            objects = [value for value in dicts if value is not MISSING]
            if self._is_map(objects, steps):
                axis.maps.append((steps, dicts))
            else:
                names = dict.fromkeys(name for value in objects for name in value)
                if any(pair <= names.keys() for pair in _FRACTION_FIELDS):
                    parsed = read_as(dicts, Reading("Float64", "parts"))
                    if not parsed.invalid and parsed.array.null_count < len(dicts):
                        self.variables.append(Variable(axis, steps, dicts))
                for name in names:
                    field_values = [
                        MISSING if value is MISSING else value.get(name, MISSING) for value in dicts
                    ]
                    self._read(axis, (*steps, Field(name)), field_values)
        if list in value_types:
            array = Arrays(steps, _values_of_type(list, values))
            if array.longest <= 1 < len(array.items) and array.kinds == {"dict"}:
                # Lists of one record at most, in row after row, are wrappers.
                field_values = [MISSING if row in (MISSING, []) else row[0] for row in array.lists]
                self._read(axis, (*steps, Position(0)), field_values)
            elif array.longest:
                axis.arrays.append(array)
            else:
                self.variables.append(Variable(axis, steps, array.lists))
        scalar_types = value_types - {dict, list}
        if scalar_types - {NoneType} or (scalar_types and scalar_types == value_types):
            scalars = [MISSING if type(value) in (dict, list) else value for value in values]
            self.variables.append(Variable(axis, steps, scalars))

    def _split(self, axis: Axis) -> None:
        """Split an axis (a set of rows) into several if its rows are records of different kinds.

        Records are of different kinds if the records within one enclosing row have other fields
        than the records within another.
        """
        variables = [variable for variable in self.variables if variable.axis is axis]
        is_held = any(child_axis.parent is axis for child_axis in self.axes)
        for ancestor in [*axis.chain()][1:-1] if not is_held else ():
            keys = [ancestor.keys[row] for row in axis.rows_of(ancestor)]
            paths_by_key: dict[Any, set[Path]] = {}
            for variable in variables:
                for key, value in zip(keys, variable.values, strict=True):
                    if value is not MISSING:
                        paths_by_key.setdefault(key, set()).add(variable.steps)
            groups: list[tuple[set[Path], list[Any]]] = []
            for key, paths in paths_by_key.items():
                similar_groups = (group for group in groups if _are_alike(group[0], paths))
                group = next(similar_groups, (set(), []))
                groups += [group] * (not group[1])
                group[0].update(paths)
                group[1].append(key)
            if 1 < len(groups) <= _MAX_TUPLE_LENGTH:
                self.axes.remove(axis)
                for group in groups:
                    self._add_part(axis, variables, ancestor, *group)
                return

    def _add_part(
        self, axis: Axis, variables: list[Variable], outer: Axis, paths: set[Path], keys: list[Any]
    ) -> None:
        """Add an axis with only some rows of ``axis``: those within some rows of ``outer``.

        ``keys`` are the keys or positions of these outer rows. ``variables`` are the variables of
        ``axis``; the new axis gets those whose path is in ``paths``.
        """
        source = "^" * sum(isinstance(step, Each) for step in axis.steps[len(outer.steps) :]) + "#0"
        if isinstance(outer.steps[-1], Entries):
            source = f"@{sum(isinstance(step, Entries) for step in outer.steps) - 1}"
        rows = [index for index, row in enumerate(axis.rows_of(outer)) if outer.keys[row] in keys]
        parent_rows = [axis.parent_rows[row] for row in rows]
        own_keys = [axis.keys[row] for row in rows]
        only = {**axis.only, source: tuple(keys)}
        new_axis = replace(
            axis, parent_rows=parent_rows, keys=own_keys, only=only, arrays=[], maps=[]
        )
        self.axes.append(new_axis)
        self.variables += [
            Variable(new_axis, variable.steps, [variable.values[row] for row in rows])
            for variable in variables
            if variable.steps in paths
        ]

    # --- maps -----------------------------------------------------------------------------------

    def _is_map(self, objects: list[dict[str, Any]], steps: Path) -> bool:
        """Whether the keys of objects are data and not names of fields, by the keys and values."""
        keys = list(dict.fromkeys(key for value in objects for key in value))
        if not keys:
            return False
        dimension = self.vocabulary.dimension(keys)
        if dimension not in (None, "domain") or all(map(_DATA_KEY.fullmatch, keys)):
            return True
        if len(keys) == 1 or (steps and isinstance(steps[-1], Each)):
            return False  # elements of a list are records
        members = [member for value in objects for member in value.values()]
        members = [member for member in members if member not in (None, {}, [])]
        shapes = [frozenset(_shapes(value.get(key) for value in objects)) for key in keys]
        are_fields = len(objects) > 1 and {*map(len, shapes)} == {1} != {len({*shapes})}
        if are_fields or _mean_agreement(members) < _MIN_AGREEMENT:
            return False
        if dimension is not None:
            return True
        is_text = sum(key in self.vocabulary.texts for key in keys) >= 0.8 * len(keys)
        is_measure = 2 * sum(map(is_measure_name, keys)) >= len(keys)
        are_records = len(keys) >= 3 <= len(members) and all(
            isinstance(member, dict) and len(member) > 1 for member in members
        )
        last_name = snake(steps[-1].name) if steps and isinstance(steps[-1], Field) else ""
        return are_records or (is_text and not is_measure) or last_name.startswith(("by_", "per_"))

    def _add_map_axes(self, axis: Axis, maps: list[Stream]) -> None:
        """Add axes for the maps in the rows of an axis: each entry of a map becomes a row.

        Maps at several paths share one axis if they have equal keys in every row.
        """
        groups: dict[tuple[Any, ...], list[Stream]] = {}
        for steps, dicts in maps:
            keys = tuple(None if row is MISSING else frozenset(row) for row in dicts)
            groups.setdefault(keys, []).append((steps, dicts))
        for group in groups.values():
            self._add_child_axis(axis, group, group[0], Entries)

    # --- arrays ---------------------------------------------------------------------------------

    def _add_array_axes(self, axis: Axis, arrays: list[Arrays]) -> None:
        """Add the lists in the rows of an axis as further axes or as columns.

        Lists at several paths share one axis if they have equal lengths in every row.
        """
        row_arrays = [array for array in arrays if not self._add_if_columns(axis, array)]
        arrays_by_length: dict[Any, list[Arrays]] = {}
        arrays_by_label: dict[Any, tuple[Label, list[Arrays]]] = {}
        for array in row_arrays:
            if array.is_used and array.kinds != {"dict"}:
                continue
            label = self._label(axis, array)
            if label is not None:
                arrays_by_label.setdefault((label[0], *array.lengths), (label, []))[1].append(array)
                continue
            # Of a square grid a list beside it may name the rows or the columns.
            sizes = {len(item or ()) for item in array.items if array.kinds == {"list"}}
            has_own_axis = array.longest < 2 or array.kinds == {"dict"} or sizes == {array.longest}
            similar_lengths = (
                key
                for key in arrays_by_length
                if not has_own_axis and _are_alike_long(array.lengths, key)
            )
            key = next(similar_lengths, array.steps if has_own_axis else (*array.lengths,))
            arrays_by_length.setdefault(key, []).append(array)
        for label, group in arrays_by_label.values():
            self._add_parallel_axis(axis, group, label)
        for group in arrays_by_length.values():
            if len(group) > 1 or not self._add_if_cells(axis, group[0]):
                self._add_parallel_axis(axis, group)

    def _add_parallel_axis(
        self, axis: Axis, group: list[Arrays], label: Label | None = None
    ) -> None:
        """Add one axis for lists at several paths: each position in them becomes a row.

        The path of the rows is the path of a list of lists if there is one, or else of the list
        that most rows have. ``label`` is a list in an enclosing row that names the positions.
        """
        main_array = max(group, key=lambda array: (array.kinds == {"list"}, len(array.filled)))
        streams = [(array.steps, array.lists) for array in group]
        first_position = int(len(group) == 1 and _has_header_row(main_array.filled))
        self._add_child_axis(
            axis, streams, (main_array.steps, main_array.lists), Each, label, first_position
        )

    def _add_column_axis(self, axis: Axis, array: Arrays, streams: list[Stream]) -> None:
        """Add an axis for lists that are the columns of a table: each position becomes a row."""
        steps, lists = self._elements(array, None, ())[0]
        label = self._label(axis, Arrays(steps, lists), is_own=True)
        self._add_child_axis(axis, streams, (steps, lists), Each, label, only={"^#0": (0,)})

    def _add_child_axis(
        self,
        axis: Axis,
        group: list[Stream],
        main_stream: Stream,
        step: type[Each | Entries],
        label: Label | None = None,
        first: int = 0,
        only: dict[str, tuple[Any, ...]] | None = None,
    ) -> None:
        """Add an axis whose rows are the items of lists or maps in the rows of another axis.

        The lists or maps in ``group`` have equal lengths or keys. The path of ``main_stream``
        becomes the path of the rows. ``label`` is a list in an enclosing row that names the items,
        ``first`` the position of the first row, ``only`` a filter of rows.
        """
        rows = [
            (at, key)
            for at, items in enumerate(main_stream[1])
            if items is not MISSING
            for key in (items if step is Entries else range(first, len(items)))
        ]
        # A step to a single element leads to all of its array.
        elements = (Each() if isinstance(at, Position | Named) else at for at in main_stream[0])
        steps = (*elements, step())
        parent_rows, keys = [at for at, _ in rows], [key for _, key in rows]
        streams_and_label = [*group]
        if label is not None:
            array, label_rows = label
            array.is_used = True
            streams_and_label.append((array.steps, [array.lists[row] for row in label_rows]))
        paths = [path for path, _ in streams_and_label]
        holder = paths[0][: min(_shared(paths[0], path) for path in paths)]
        new_axis = Axis(
            steps, axis, parent_rows, keys, holder, first, label is not None, only or {}
        )
        number = sum(isinstance(step, Each | Entries) for step in steps) - 1
        streams = [
            (steps if path == main_stream[0] and not only else (*bound(path), step(at=number)),
             [MISSING if lists[at] is MISSING else lists[at][key] for at, key in rows])
            for path, lists in streams_and_label
        ]  # fmt: skip
        if first:
            header = (*bound(main_stream[0]), Position(0), Each())
            names = [main_stream[1][at][0] for at in parent_rows]
            streams = self._elements(Arrays(steps, streams[0][1]), header, names)
        self._add_axis(new_axis, streams)

    def _may_be_columns(self, axis: Axis, array: Arrays, *, is_mixed: bool) -> bool:
        """Whether the elements of lists, themselves lists, may be the columns of a table.

        They may be if they have equal lengths, and if the values in each are of one kind.
        """
        lengths_of_items = [{len(item or ()) for item in values} for values in array.filled]
        if array.longest < 2 or any(
            len(item_lengths) != 1 or item_lengths == {0} for item_lengths in lengths_of_items
        ):
            return False
        is_square = any(
            item_lengths == {len(values)}
            for item_lengths, values in zip(lengths_of_items, array.filled, strict=True)
        )
        first_lengths = [len(row[0]) if row is not MISSING and row else None for row in array.lists]
        neighbour_lengths = (
            neighbour.lengths for neighbour, _ in _arrays_around(axis, array, is_whole=True)
        )
        is_grid = is_square or any(lengths == first_lengths for lengths in neighbour_lengths)
        is_even = all(len(_kinds(item or ())) <= 1 for item in array.items)
        return is_even and (is_mixed or not is_grid)

    def _add_if_columns(self, axis: Axis, array: Arrays) -> bool:
        """Add the elements of lists as columns, if each position in the lists has its own meaning.

        Return whether they were added.
        """
        kinds = [_shapes(cells) for cells in zip_longest(*array.filled)]
        is_mixed = all(len(kind) <= 1 for kind in kinds) and len(set().union(*kinds)) > 1
        is_whole = array.kinds == {"list"}
        if is_whole and not self._may_be_columns(axis, array, is_mixed=is_mixed):
            return False
        header = self._header(axis, array, is_mixed=is_mixed, is_whole=is_whole)
        label = None if is_mixed or is_whole else self._label(axis, array)
        if header is not None and label is not None:
            is_nearer = _shared(label[0].steps, array.steps) > _shared(header[0], array.steps)
            header = None if is_nearer else header
        if header is not None or (is_mixed and (is_whole or _is_tuple(axis, array, 2))):
            streams = self._elements(array, *(header or (None, ())))
            if is_whole:
                self._add_column_axis(axis, array, streams)
            else:
                self._add_variables(axis, streams)
            return True
        return False

    def _add_if_cells(self, axis: Axis, array: Arrays) -> bool:
        """Add lists as columns if their elements are not rows; return whether they were added.

        Lists of texts become one column of lists. Short lists (tuples) in many rows become one
        column per position.
        """
        if _is_tuple(axis, array, max(4, 2 * array.longest)):
            self._add_variables(axis, self._elements(array, None, ()))
            return True
        is_text = all(type(item) is str for item in array.items if item is not None)
        if is_text and array.kinds:
            self.variables.append(Variable(axis, array.steps, array.lists))
        return is_text and bool(array.kinds)

    @staticmethod
    def _elements(
        array: Arrays, header: Path | None, names: Sequence[Sequence[str]]
    ) -> list[Stream]:
        """Return one stream for each position in lists: its path, and the element for each row.

        With a header, return one stream for each name in it; ``names`` has the names for each row.
        """
        positions_by_name = [{name: position for position, name in enumerate(row)} for row in names]
        if header is None:
            positions_by_name = [{i: i for i in range(array.longest)}] * len(array.lists)  # type: ignore[misc]
        streams: list[Stream] = []
        for name in dict.fromkeys(name for row in positions_by_name for name in row):
            step = Position(name) if header is None else Named(header, name)  # type: ignore[arg-type]
            cells = [
                values[row[name]]
                if values is not MISSING and row.get(name, len(values)) < len(values)
                else MISSING
                for values, row in zip(array.lists, positions_by_name, strict=True)
            ]
            streams.append(((*array.steps, step), cells))
        return streams

    def _header(
        self, axis: Axis, array: Arrays, *, is_mixed: bool, is_whole: bool
    ) -> Header | None:
        """Return the header that names the positions of the lists in ``array``; None without one.

        The header is a pair: its path, and its names for each row.
        """
        candidates = []
        for neighbour, rows in _arrays_around(axis, array, is_whole=is_whole):
            if neighbour.names is None:
                continue
            name, texts = neighbour.names
            names = [texts[row] for row in rows]
            pairs = zip(array.lists, names, strict=True)
            is_exact = all(row is MISSING or len(row) == len(texts) for row, texts in pairs)
            has_header_name = _HEADER_NAME.fullmatch(snake(_last_name(neighbour.steps))) is not None
            # ``index_names`` is that of ``index``.
            has_same_name = _last_name(array.steps) in _last_name(neighbour.steps)
            closeness = _shared(neighbour.steps, array.steps), has_same_name, has_header_name
            # What names only the positions of some rows are values of theirs.
            has_same_names = len({*map(tuple, names)}) == 1 and "dict" not in array.kinds
            is_header = has_header_name or (is_mixed and not is_whole and has_same_names)
            if array.kinds == {"text"} and has_same_names:
                is_header |= _is_tuple(axis, array, max(4, 2 * array.longest))
            if is_exact and is_header:
                candidates.append((closeness, neighbour, name, names))
        if not candidates:
            return None
        _, neighbour, name, names = max(candidates, key=lambda candidate: candidate[0])
        neighbour.is_used = True
        self.headers.add(neighbour.steps)
        return (
            *bound(neighbour.steps),
            Each(),
            *([Field(name)] if name is not None else []),
        ), names

    def _label(self, axis: Axis, array: Arrays, *, is_own: bool = False) -> Label | None:
        """Return the nearest lists in enclosing rows that are as long as ``array``; else None.

        They may name the rows. They are returned with the position, for each row of the axis, of
        the list that belongs to it.
        """
        if array.longest < 2:
            return None
        candidates = []
        for neighbour, rows in _arrays_around(axis, array, is_whole=is_own):
            pairs = zip(array.lengths, rows, strict=True)
            is_plain = neighbour.kinds.isdisjoint(("dict", "list")) and not (
                is_own and neighbour.is_used
            )
            if is_plain and all(length in (None, neighbour.lengths[row]) for length, row in pairs):
                candidates.append((neighbour, rows))
        return max(
            candidates, key=lambda candidate: _shared(candidate[0].steps, array.steps), default=None
        )


# --- paths --------------------------------------------------------------------------------------


def _arrays_around(
    axis: Axis, array: Arrays, *, is_whole: bool
) -> Iterator[tuple[Arrays, list[int]]]:
    """Yield the lists in rows that enclose the rows of an axis, except those around ``array``.

    Each is yielded with a list: for each row of the axis, the position of the enclosing row. With
    ``is_whole``, the lists in the rows themselves are included, because they may name columns.
    """
    for ancestor in [*axis.chain()][not is_whole :]:
        rows = axis.rows_of(ancestor)
        for neighbour in ancestor.arrays:
            if neighbour.steps != array.steps[: len(neighbour.steps)]:
                yield neighbour, rows


def _are_alike(group: set[Path], paths: set[Path]) -> bool:
    """Whether two sets of paths share at least half of their paths, or one contains the other."""
    return len(group & paths) >= min(0.5 * len(group | paths), len(group), len(paths))


def _are_alike_long(lengths: list[int | None], others: Sequence[Any]) -> bool:
    """Whether two sequences of lengths, one per row, are equal wherever both are known."""
    pairs = {*zip(lengths, others, strict=False)}
    comparisons = [length == other for length, other in pairs if None not in (length, other)]
    return len(lengths) == len(others) and any(comparisons) and all(comparisons)


def _last_name(steps: Path) -> str:
    return next((step.name for step in reversed(steps) if isinstance(step, Field)), "")


def bound(steps: Iterable[Step]) -> Path:
    """Return a path with steps to the item at the row's position or key instead of to all items.

    Examples
    --------
    >>> from aatoolkit.jsontree.paths import format_path
    >>> format_path(bound((Field("rows"), Each(), Field("n"))))
    'rows[@0].n'
    """
    path: list[Step] = []
    number = 0
    for step in steps:
        if isinstance(step, Each | Entries):
            step, number = type(step)(at=number), number + 1
        path.append(step)
    return tuple(path)


def _shared(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return how many elements at the beginning of two sequences are equal."""
    return next(
        (
            index
            for index, (member, other_member) in enumerate(zip(first, second, strict=False))
            if member != other_member
        ),
        min(len(first), len(second)),
    )


# --- kinds of values ----------------------------------------------------------------------------


def _values_of_type(kind: type, values: list[Any]) -> list[Any]:
    return [value if type(value) is kind else MISSING for value in values]


def _kind(value: Any) -> str:
    """Return the kind of a value, such as ``number``, also for numbers and days that are texts."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "moment" if 1e9 <= value < 2e9 or 1e12 <= value < 2e12 else "number"
    if isinstance(value, str):
        return "number" if _NUMBER.fullmatch(value) else "day" if _DAY.match(value) else "text"
    return type(value).__name__


def _shapes(values: Iterable[Any]) -> set[str]:
    """Return the kinds of values; of objects their fields, of lists the kinds of elements."""
    values = [*values]
    shapes = {str(sorted(value)) for value in values if isinstance(value, dict)}
    items = {f"[{kind}" for value in values if isinstance(value, list) for kind in _kinds(value)}
    return shapes | items | (_kinds(values) - {"dict", "list"})


def _kinds(values: Iterable[Any]) -> set[str]:
    kinds = {_kind(value) for value in values if value is not None and value is not MISSING}
    return kinds - {"moment"} if "number" in kinds else kinds


def _mean_agreement(members: list[Any]) -> float:
    """Return how much the values in objects (the members) resemble each other, from 0 to 1.

    It is the mean, over all fields (name and kind), of the share of members that have the field.
    """
    member_kinds = []
    for member in members[:_SAMPLE_SIZE]:
        items = member.items() if isinstance(member, dict) else [(0, member)]
        items = [(0, item) for item in member[:3]] if isinstance(member, list) else items
        kinds = {(key, _kind(item)) for key, item in items if item is not None}
        member_kinds += [kinds] if kinds else []
    counts = Counter(field_kind for kinds in member_kinds for field_kind in kinds)
    return counts.total() / (len(counts) * len(member_kinds)) if counts else 0.0


def _unwrapped(value: Any) -> Any:
    """Return the value inside nested objects with one field each; other values unchanged."""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value


def _is_tuple(axis: Axis, array: Arrays, min_rows: int) -> bool:
    """Whether lists are tuples: ``min_rows`` or more short lists of one length and plain values."""
    is_even = len({*map(len, array.filled)}) == 1 and array.longest <= _MAX_TUPLE_LENGTH
    is_plain = {*map(_kind, map(_unwrapped, array.items))}.isdisjoint({"dict", "list"})
    return axis.parent is not None and is_even and is_plain and len(array.filled) >= min_rows


def _has_header_row(tables: list[list[Any]]) -> bool:
    """Whether the first element of each list is a header, i.e. names the columns of the others."""
    for rows in tables:
        if len(rows) < 3 or not all(isinstance(row, list) for row in rows):
            return False
        header, *other_rows = rows
        is_name = {*map(_kind, header)} == {"text"} and len({*header}) == len(header)
        if not is_name or max(map(len, other_rows)) > len(header):
            return False
        if _kinds(item for row in other_rows for item in row) <= {"text"}:
            return False
    return bool(tables)
