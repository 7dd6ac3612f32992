"""Columns of a JSON document: all values at one path as one list, a `Vector`.

The rows of a vector are a `Level`: the document itself, the elements of all arrays at a path, or
the entries of all objects. `Vector.field` returns the values of a field in the same rows, with
`MISSING` where an object lacks it; `Vector.elements` and `Vector.entries` return the items of
arrays and objects, which are the rows of another level. All of them run over all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Final
from weakref import ref

import numpy as np

from aatoolkit.jsontree.layout import MAX_FIELDS, common_fields
from aatoolkit.jsontree.paths import KEY_SIGN, Each, Entries, Field, Step, key_step

RowIndex = np.ndarray[tuple[int], np.dtype[np.int64]]
"""For each row of a table or level, the number of a row in another level; -1 for none."""


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""The value where an object lacks a field."""


class Level:
    """The rows of a vector: the document, the elements of arrays, or the entries of objects.

    Parameters
    ----------
    size : int
        The number of rows.
    container : Vector, optional
        The arrays or objects that the rows are items of; None for the document itself.
    lengths : sequence of int
        The number of items of each array or object.
    keys : list of str, optional
        The key of each row; None for elements of arrays.
    is_computed : bool
        Whether a function computed the rows from the values of ``container``.
    """

    def __init__(
        self,
        size: int,
        container: Vector | None = None,
        lengths: Sequence[int] = (),
        keys: list[str] | None = None,
        is_computed: bool = False,
    ) -> None:
        self.size, self.lengths, self.keys, self.is_computed = size, lengths, keys, is_computed
        # A vector refers to its items; a cycle would keep them until the garbage collector runs.
        self._container = None if container is None else ref(container)

    @property
    def container(self) -> Vector | None:
        """The arrays or objects that the rows are items of; None for the document itself."""
        if self._container is None:
            return None
        container = self._container()
        if container is None:
            raise LookupError("the document of these values was deleted; keep a reference to it")
        return container

    @property
    def in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self._container is not None and self.keys is None and not self.is_computed

    @cached_property
    def rows(self) -> RowIndex:
        """The row numbers, from 0."""
        return np.arange(self.size)

    @cached_property
    def parents(self) -> RowIndex:
        """For each row, the row of ``container`` whose array or object it is an item of."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def positions(self) -> RowIndex:
        """For each row, its position in its array or object, from 0."""
        lengths = np.asarray(self.lengths, np.int64)
        starts = np.repeat(lengths.cumsum() - lengths, lengths)
        return self.rows - starts

    @cached_property
    def paths(self) -> list[str]:
        """The JSON path of each row."""
        container = self.container
        if container is None:
            return ["$"] * self.size
        labels = map("[{}]".format, self.positions.tolist())
        if self.keys is not None:
            labels = map(key_step, self.keys)
        container_paths = container.paths
        return [
            container_paths[row] + label for row, label in zip(self.parents, labels, strict=True)
        ]


class Vector:
    """The values at one path: one for each document, each array element or each object entry.

    Parameters
    ----------
    values : sequence
        The values; `MISSING` where an object lacks the field.
    level : Level, optional
        The rows that the values belong to; by default each value is a document of its own.
    field_names : tuple of str
        The names of the fields on the path from a row to its value.
    is_absent : bool
        Whether there are objects, and none has the field.
    is_key : bool
        Whether the values are keys of objects.

    Attributes
    ----------
    kinds : set of type
        The Python types of the values.

    Examples
    --------
    >>> document = Vector([{"a": [{"b": 1}, {}, {"b": None}]}])
    >>> inner = document.field("a").elements().field("b")
    >>> inner.values, inner.path(2), inner.field("c").is_absent
    ([1, MISSING, None], '$.a[2].b', False)
    """

    def __init__(
        self,
        values: Sequence[Any],
        level: Level | None = None,
        field_names: tuple[str, ...] = (),
        is_absent: bool = False,
        is_key: bool = False,
    ) -> None:
        self.values: Any = values
        self.level = Level(len(values)) if level is None else level
        self.field_names, self.is_absent, self.is_key = field_names, is_absent, is_key
        self.kinds: set[type] = {*map(type, values)}
        # The vectors of its fields, elements, entries and keys, each computed once.
        self._children: dict[object, Vector] = {}

    def __len__(self) -> int:
        return self.level.size

    def where(self, kinds: set[type]) -> RowIndex:
        """Return the rows whose value has one of the types ``kinds``."""
        if kinds >= self.kinds:
            return self.level.rows
        return np.flatnonzero(np.fromiter(map(kinds.__contains__, map(type, self.values)), bool))

    @property
    def present(self) -> RowIndex:
        """The rows that have a value, null included."""
        return self.where(self.kinds - {Missing})

    @property
    def is_null(self) -> bool:
        """Whether there are values, and all are null."""
        return type(None) in self.kinds and self.kinds <= {type(None), Missing}

    @cached_property
    def numbers(self) -> set[bool]:
        """The kinds of numbers among the values: True if one is not 0, False if one is 0.

        Empty if there are no numbers.
        """
        if self.kinds.isdisjoint((int, float)):
            return set()
        return {value != 0 for value in self.values if type(value) in (int, float)}

    def of_type(self, kind: type) -> Sequence[Any]:
        """Return the values of one type, in order."""
        return [value for value in self.values if type(value) is kind]

    @cached_property
    def records(self) -> dict[str, list[Any]]:
        """The values of every field, if all values are objects with the same keys; else empty."""
        are_few = self.kinds == {dict} and len(self.values[0]) <= MAX_FIELDS
        return common_fields(self.values) if are_few else {}

    @cached_property
    def objects(self) -> Sequence[dict[str, Any]]:
        """The values, with an empty object for every value that is no object."""
        if self.kinds == {dict}:
            return self.values  # type: ignore[no-any-return]
        return [value if type(value) is dict else {} for value in self.values]

    def fields(self) -> list[str]:
        """Return the names of the fields of all objects, in the order of the document."""
        return [*self.records] or [*dict.fromkeys(chain.from_iterable(self.objects))]

    def field(self, name: str) -> Vector:
        """Return the values of one field, in the same rows; `MISSING` where a row lacks it."""
        child = self._children.get(name)
        if child is None:
            values = self.records.get(name)
            if values is None and dict in self.kinds and not self.records:
                values = [*map(dict.get, self.objects, repeat(name), repeat(MISSING))]
            child = self._children[name] = Vector(
                [MISSING] * len(self.values) if values is None else values,
                self.level,
                (*self.field_names, name),
            )
            is_nowhere = child.kinds == {Missing}
            child.is_absent = is_nowhere and (dict in self.kinds or self.is_absent)
        return child

    def elements(self) -> Vector:
        """Return the elements of all values that are arrays, as a vector with a row for each."""
        child = self._children.get(Ellipsis)
        if child is None:
            arrays = self.values
            if self.kinds != {list}:
                arrays = [value if type(value) is list else () for value in arrays]
            child = self._children[Ellipsis] = self.flatten(arrays)
        return child

    def entries(self, only: Sequence[str] = ()) -> Vector:
        """Return the values of the entries of all objects; with ``only``, of those keys alone."""
        names = tuple(only)
        child = self._children.get(names)
        if child is None:
            objects = self.objects
            if names:
                objects = [{key: item[key] for key in names if key in item} for item in objects]
            keys = list(chain.from_iterable(objects))
            child = self._children[names] = self.flatten([*map(dict.values, objects)], keys)
        return child

    def keys(self) -> Vector:
        """Return the keys of the rows, which are entries of objects."""
        child = self._children.get(None)
        if child is None:
            child = Vector(self.level.keys or [], self.level, is_key=True)
            self._children[None] = child
        return child

    def flatten(
        self, lists: Sequence[Any], keys: list[str] | None = None, is_computed: bool = False
    ) -> Vector:
        """Return a vector of the items of lists; there is one list for each row of this vector."""
        values = lists[0] if len(lists) == 1 and keys is None else [*chain.from_iterable(lists)]
        return Vector(values, Level(len(values), self, [*map(len, lists)], keys, is_computed))

    def descend(self, steps: Sequence[Step]) -> Vector:
        """Return the values at a path below this one.

        Raises
        ------
        ValueError
            If a step leads to a single element of an array.
        """
        vector = self
        for step in steps:
            if type(step) is Field:
                vector = vector.field(step.name)
            elif type(step) is Each:
                vector = vector.elements()
            elif type(step) is Entries:
                vector = vector.entries(step.only)
            else:
                raise ValueError(f"{step} is one element of an array; a vector has all elements")
        return vector

    @property
    def steps(self) -> tuple[Step, ...]:
        """The path from the document to the values."""
        container, fields = self.level.container, map(Field, self.field_names)
        if container is None:
            return tuple(fields)
        return (*container.steps, Each() if self.level.keys is None else Entries(), *fields)

    @property
    def paths(self) -> list[str]:
        """The JSON path of the value in each row."""
        end = self._end
        return [path + end for path in self.level.paths] if end else self.level.paths

    def path(self, row: int) -> str:
        """Return the JSON path of the value in one row; that of a key ends in `KEY_SIGN`."""
        return self.level.paths[row] + self._end

    @property
    def _end(self) -> str:
        return "".join(map(key_step, self.field_names)) + (KEY_SIGN if self.is_key else "")


def compose_index(index: RowIndex, further: RowIndex) -> RowIndex:
    """Return the row index that applies ``index``, then ``further``: ``further[index[row]]``.

    It is -1 where one of them has no row.
    """
    if not len(further):
        return np.full(len(index), -1, np.int64)
    return np.where(index >= 0, further[index], -1)
