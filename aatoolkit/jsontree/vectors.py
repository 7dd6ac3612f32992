"""Vectors: all values at one path of a JSON document, as one list.

For example, the vector of ``chats[].id`` has one value per element of ``chats``. These elements are
the rows of the vector, and a `NestingLevel` describes them. `Vector.field`, `Vector.elements` and
`Vector.entries` return the vector one step further down the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any
from weakref import ref

import numpy as np

from aatoolkit.jsontree.layout import MAX_FIELDS, group_by_common_key
from aatoolkit.jsontree.paths import KEY_MARKER, Elements, Entries, Field, Step, Steps, format_key

RowIndex = np.ndarray[tuple[int], np.dtype[np.int64]]
"""An array with one number per row: the position of a row in another list; -1 for none."""


class Missing:
    """The type of `MISSING`, the value of a field that an object lacks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
"""The value of a field that an object lacks."""


class NestingLevel:
    """The rows of a `Vector`, which is a list of values at one JSON path: one row per value.

    The rows are whole documents (usually one), or the elements of all arrays at a path, or the
    entries of all objects at a path. An entry is a key of an object with its value.
    """

    def __init__(
        self,
        row_count: int,
        container: Vector | None = None,  # the arrays or objects whose items are the rows
        item_counts: Sequence[int] = (),  # the number of items in each
        keys: list[str] | None = None,  # of the rows, for entries of objects
        is_computed: bool = False,  # by a function of the declaration
    ) -> None:
        self.row_count = row_count
        self.item_counts = item_counts
        self.keys = keys
        self.is_computed = is_computed
        # A vector refers to its items; a cycle would keep them until the garbage collector runs.
        self._container = None if container is None else ref(container)

    @property
    def container(self) -> Vector | None:
        """The arrays or objects whose items are the rows; None for the document."""
        if self._container is None:
            return None
        container = self._container()
        if container is None:
            raise LookupError("the document of these values was deleted; keep a reference to it")
        return container

    @property
    def is_in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self._container is not None and self.keys is None and not self.is_computed

    @cached_property
    def row_positions(self) -> RowIndex:
        """An array of the positions of the rows: 0, 1, 2 and so on."""
        return np.arange(self.row_count)

    @cached_property
    def parent_positions(self) -> RowIndex:
        """An array: for each row, the position of its array or object in ``container``."""
        return np.repeat(np.arange(len(self.item_counts)), self.item_counts)

    @cached_property
    def item_positions(self) -> RowIndex:
        """An array: for each row, its position in its own array or object, from 0."""
        item_counts = np.asarray(self.item_counts, np.int64)
        first_item_positions = np.repeat(item_counts.cumsum() - item_counts, item_counts)
        return self.row_positions - first_item_positions

    @cached_property
    def paths(self) -> list[str]:
        """A list with the JSON path of each row."""
        container = self.container
        if container is None:
            return ["$"] * self.row_count
        item_path_suffixes = map("[{}]".format, self.item_positions.tolist())
        if self.keys is not None:
            item_path_suffixes = map(format_key, self.keys)
        container_paths = container.paths
        return [
            container_paths[container_position] + item_path_suffix
            for container_position, item_path_suffix in zip(
                self.parent_positions, item_path_suffixes, strict=True
            )
        ]


class Vector:
    """The values at one path of a JSON document, as a list.

    Examples
    --------
    >>> document = Vector([{"a": [{"b": 1}, {}, {"b": None}]}])
    >>> vector = document.field("a").elements().field("b")
    >>> vector.values, vector.path(2), vector.field("c").is_absent
    ([1, MISSING, None], '$.a[2].b', False)
    """

    def __init__(
        self,
        values: Sequence[Any],
        level: NestingLevel | None = None,  # the rows; by default each value is a document
        field_names: tuple[str, ...] = (),  # on the path from a row to its value
        is_absent: bool = False,  # whether no object has the field
        is_key: bool = False,  # whether the values are keys of objects
    ) -> None:
        self.values: Any = values
        self.level = NestingLevel(len(values)) if level is None else level
        self.field_names = field_names
        self.is_absent = is_absent
        self.is_key = is_key
        self.types: set[type] = {*map(type, values)}  # of the values
        # The vectors of its fields, elements, entries and keys, each computed once.
        self._child_vector_by_key: dict[object, Vector] = {}

    def __len__(self) -> int:
        return self.level.row_count

    def find_positions_by_type(self, types: set[type]) -> RowIndex:
        """Return the positions of the rows whose value has one of these types."""
        if types >= self.types:
            return self.level.row_positions
        return np.flatnonzero(np.fromiter(map(types.__contains__, map(type, self.values)), bool))

    @property
    def present_positions(self) -> RowIndex:
        """The positions of the rows that have the field; its value may be null."""
        return self.find_positions_by_type(self.types - {Missing})

    @property
    def is_null(self) -> bool:
        """Whether all values are null or `MISSING`, and at least one is null."""
        return type(None) in self.types and self.types <= {type(None), Missing}

    @cached_property
    def nonzero_flags(self) -> set[bool]:
        """A set of booleans: for each number among the values, whether it is not 0."""
        if self.types.isdisjoint((int, float)):
            return set()
        return {value != 0 for value in self.values if type(value) in (int, float)}

    def list_values_of_type(self, value_type: type) -> Sequence[Any]:
        """Return a list of the values of one type, in order."""
        return [value for value in self.values if type(value) is value_type]

    @cached_property
    def values_by_field(self) -> dict[str, list[Any]]:
        """A dict from field name to a list of its values.

        It is empty unless all values of the vector are objects with the same keys.
        """
        has_few_fields = self.types == {dict} and len(self.values[0]) <= MAX_FIELDS
        return group_by_common_key(self.values) if has_few_fields else {}

    @cached_property
    def objects(self) -> Sequence[dict[str, Any]]:
        """A list of the values, with an empty dict in place of each value that is no object."""
        if self.types == {dict}:
            return self.values  # type: ignore[no-any-return]
        return [value if type(value) is dict else {} for value in self.values]

    def list_fields(self) -> list[str]:
        """Return the distinct field names of all objects, in the order of the document."""
        return [*self.values_by_field] or [*dict.fromkeys(chain.from_iterable(self.objects))]

    def field(self, name: str) -> Vector:
        """Return a `Vector` of the values of one field; `MISSING` for objects without the field."""
        child_vector = self._child_vector_by_key.get(name)
        if child_vector is None:
            field_values = self.values_by_field.get(name)
            if field_values is None and dict in self.types and not self.values_by_field:
                field_values = [*map(dict.get, self.objects, repeat(name), repeat(MISSING))]
            child_vector = self._child_vector_by_key[name] = Vector(
                [MISSING] * len(self.values) if field_values is None else field_values,
                self.level,
                (*self.field_names, name),
            )
            child_vector.is_absent = child_vector.types == {Missing} and (
                dict in self.types or self.is_absent
            )
        return child_vector

    def elements(self) -> Vector:
        """Return a `Vector` of the elements of all arrays, with one row per element."""
        child_vector = self._child_vector_by_key.get(Ellipsis)
        if child_vector is None:
            arrays = self.values
            if self.types != {list}:
                arrays = [value if type(value) is list else () for value in arrays]
            child_vector = self._child_vector_by_key[Ellipsis] = self.flatten(arrays)
        return child_vector

    def entries(self, only_keys: Sequence[str] = ()) -> Vector:
        """Return a `Vector` of the values in all objects, with one row per key of each object.

        With ``only_keys``, only these keys are included.
        """
        child_key = tuple(only_keys)
        child_vector = self._child_vector_by_key.get(child_key)
        if child_vector is None:
            objects = self.objects
            if only_keys:
                objects = [
                    {key: json_object[key] for key in only_keys if key in json_object}
                    for json_object in objects
                ]
            entry_keys = list(chain.from_iterable(objects))
            child_vector = self._child_vector_by_key[child_key] = self.flatten(
                [*map(dict.values, objects)], entry_keys
            )
        return child_vector

    def keys(self) -> Vector:
        """Return a `Vector` of the keys of the rows, which must be entries of objects."""
        child_vector = self._child_vector_by_key.get(None)
        if child_vector is None:
            child_vector = self._child_vector_by_key[None] = Vector(
                self.level.keys or [], self.level, is_key=True
            )
        return child_vector

    def flatten(
        self, lists: Sequence[Any], keys: list[str] | None = None, is_computed: bool = False
    ) -> Vector:
        """Return a `Vector` of the items of some lists, with one row per item.

        ``lists`` has one list for each row of this vector. If the items are the values of objects,
        ``keys`` has their keys. ``is_computed`` says whether a user's function computed the items.
        """
        items = lists[0] if len(lists) == 1 and keys is None else [*chain.from_iterable(lists)]
        return Vector(items, NestingLevel(len(items), self, [*map(len, lists)], keys, is_computed))

    def descend(self, steps: Sequence[Step]) -> Vector:
        """Follow a path down from the values; return a `Vector` of the values at the path's end."""
        end_vector = self
        for step in steps:
            if type(step) is Field:
                end_vector = end_vector.field(step.name)
            elif type(step) is Elements:
                end_vector = end_vector.elements()
            elif type(step) is Entries:
                end_vector = end_vector.entries(step.only_keys)
            else:
                raise ValueError(f"{step} is one element of an array; a vector has all elements")
        return end_vector

    @property
    def steps(self) -> Steps:
        """The steps of the path from the document to the values."""
        container = self.level.container
        field_steps = map(Field, self.field_names)
        if container is None:
            return tuple(field_steps)
        return (
            *container.steps,
            Elements() if self.level.keys is None else Entries(),
            *field_steps,
        )

    @property
    def paths(self) -> list[str]:
        """The JSON paths of the values, one per row."""
        path_suffix = self._path_suffix
        return (
            [path + path_suffix for path in self.level.paths] if path_suffix else self.level.paths
        )

    def path(self, row: int) -> str:
        """Return the JSON path of the value in a row."""
        return self.level.paths[row] + self._path_suffix

    @property
    def _path_suffix(self) -> str:
        """The end of each value's JSON path, after the path of its row."""
        return "".join(map(format_key, self.field_names)) + (KEY_MARKER if self.is_key else "")


def compose_row_indexes(row_index: RowIndex, next_index: RowIndex) -> RowIndex:
    """Return ``next_index[row_index]``, but -1 where ``row_index`` is -1.

    Both are arrays of positions, in which -1 stands for none.
    """
    if not len(next_index):
        return np.full(len(row_index), -1, np.int64)
    return np.where(row_index >= 0, next_index[row_index], -1)
