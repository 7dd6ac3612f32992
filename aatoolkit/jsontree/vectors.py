"""The walk through a JSON document, level by level: all values of one path in one list.

A `Level` is rows that many values belong to: the document's own, the elements of arrays, the
entries of objects. A `Vector` is the values at one path in the rows of a level: one list, with
`MISSING` where an enclosing object lacks the field. The fields of a row stay on its level; `each`
and `entries` open the next. A step goes down for all rows at once, by loops in C.
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
"""For each row the row of a level, -1 for none."""


class Missing:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""Stands where there is nothing, not even null."""


class Level:
    """The rows that one array or map opens, which the values of the places below it belong to.

    Parameters
    ----------
    size : int
        How many there are.
    above : Vector, optional
        The place whose arrays or objects the rows are in; None for the document itself.
    lengths : sequence of int
        How many rows each row above has.
    keys : list of str, optional
        The key of each row; None for elements of arrays.
    computed : bool
        Whether a function computed the rows of what is there.
    """

    def __init__(
        self,
        size: int,
        above: Vector | None = None,
        lengths: Sequence[int] = (),
        keys: list[str] | None = None,
        computed: bool = False,
    ) -> None:
        self.size, self.lengths, self.keys, self.computed = size, lengths, keys, computed
        # A document holds what is below; circles would hold its data long after their use.
        self._above = None if above is None else ref(above)

    @property
    def above(self) -> Vector | None:
        """The place whose arrays or objects the rows are in; None for the document itself."""
        if self._above is None:
            return None
        above = self._above()
        if above is None:
            raise LookupError("the document of these values is no longer held by anybody")
        return above

    @property
    def in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self._above is not None and self.keys is None and not self.computed

    @cached_property
    def rows(self) -> RowIndex:
        """The number of each row."""
        return np.arange(self.size)

    @cached_property
    def parents(self) -> RowIndex:
        """For each row, that of the level above."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def positions(self) -> RowIndex:
        """For each row, its place in the array or object."""
        lengths = np.asarray(self.lengths, np.int64)
        starts = np.repeat(lengths.cumsum() - lengths, lengths)
        return self.rows - starts

    @cached_property
    def paths(self) -> list[str]:
        """The JSON path of each row."""
        above = self.above
        if above is None:
            return ["$"] * self.size
        labels = map("[{}]".format, self.positions.tolist())
        if self.keys is not None:
            labels = map(key_step, self.keys)
        outer = above.paths
        return [outer[row] + label for row, label in zip(self.parents, labels, strict=True)]


class Vector:
    """The values at one path, in the rows of a level.

    Parameters
    ----------
    values : sequence
        The values; `MISSING` where an enclosing object lacks the field.
    level : Level, optional
        Their rows; those of a document, or of several, if left out.
    tail : tuple of str
        The fields that lead there from a row.
    field_absent : bool
        Whether there are objects that could hold it, and none has the field.
    is_key : bool
        Whether the values are keys of objects.

    Attributes
    ----------
    kinds : set of type
        The Python types of the values.

    Examples
    --------
    >>> document = Vector([{"a": [{"b": 1}, {}, {"b": None}]}])
    >>> inner = document.field("a").each().field("b")
    >>> inner.values, inner.path(2), inner.field("c").field_absent
    ([1, MISSING, None], '$.a[2].b', False)
    """

    def __init__(
        self,
        values: Sequence[Any],
        level: Level | None = None,
        tail: tuple[str, ...] = (),
        field_absent: bool = False,
        is_key: bool = False,
    ) -> None:
        self.values: Any = values
        self.level = Level(len(values)) if level is None else level
        self.tail, self.field_absent, self.is_key = tail, field_absent, is_key
        self.kinds: set[type] = {*map(type, values)}
        # Who holds a place holds those below it.
        self._below: dict[object, Vector] = {}

    def __len__(self) -> int:
        return self.level.size

    def where(self, kinds: set[type]) -> RowIndex:
        """The rows whose value has one of some types."""
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
        """Whether some numbers are not 0, and whether some are 0."""
        if self.kinds.isdisjoint((int, float)):
            return set()
        return {value != 0 for value in self.values if type(value) in (int, float)}

    def of_type(self, kind: type) -> Sequence[Any]:
        """The values of one type, in order."""
        return [value for value in self.values if type(value) is kind]

    @cached_property
    def records(self) -> dict[str, list[Any]]:
        """All fields of the values, where all are objects with the same keys; else none."""
        are_few = self.kinds == {dict} and len(self.values[0]) <= MAX_FIELDS
        return common_fields(self.values) if are_few else {}

    @cached_property
    def objects(self) -> Sequence[dict[str, Any]]:
        """The values that are objects, and an empty one in place of each other value."""
        if self.kinds == {dict}:
            return self.values  # type: ignore[no-any-return]
        return [value if type(value) is dict else {} for value in self.values]

    def fields(self) -> list[str]:
        """The names of the fields of all objects among the values, as they come."""
        return [*self.records] or [*dict.fromkeys(chain.from_iterable(self.objects))]

    def field(self, name: str) -> Vector:
        """The values of one field, in the same rows."""
        below = self._below.get(name)
        if below is None:
            values = self.records.get(name)
            if values is None and dict in self.kinds and not self.records:
                values = [*map(dict.get, self.objects, repeat(name), repeat(MISSING))]
            below = self._below[name] = Vector(
                [MISSING] * len(self.values) if values is None else values,
                self.level,
                (*self.tail, name),
            )
            is_nowhere = below.kinds == {Missing}
            below.field_absent = is_nowhere and (dict in self.kinds or self.field_absent)
        return below

    def each(self) -> Vector:
        """The elements of the arrays here; what is no array has none."""
        below = self._below.get(Ellipsis)
        if below is None:
            arrays = self.values
            if self.kinds != {list}:
                arrays = [value if type(value) is list else () for value in arrays]
            below = self._below[Ellipsis] = self.opened(arrays)
        return below

    def entries(self, only: Sequence[str] = ()) -> Vector:
        """The entries of the objects here, or those with some keys only."""
        names = tuple(only)
        below = self._below.get(names)
        if below is None:
            objects = self.objects
            if names:
                objects = [{key: o[key] for key in names if key in o} for o in objects]
            keys = list(chain.from_iterable(objects))
            below = self._below[names] = self.opened([*map(dict.values, objects)], keys)
        return below

    def keys(self) -> Vector:
        """The keys of the entries that are here, as values."""
        below = self._below.get(None)
        if below is None:
            below = Vector(self.level.keys or [], self.level, is_key=True)
            self._below[None] = below
        return below

    def opened(
        self, lists: Sequence[Any], keys: list[str] | None = None, computed: bool = False
    ) -> Vector:
        """Open a level: for each row here a list of rows."""
        values = lists[0] if len(lists) == 1 and keys is None else [*chain.from_iterable(lists)]
        return Vector(values, Level(len(values), self, [*map(len, lists)], keys, computed))

    def descend(self, steps: Sequence[Step]) -> Vector:
        """Return the place some steps below.

        Raises
        ------
        ValueError
            If a step is that to one element of an array: a place has all elements.
        """
        place = self
        for step in steps:
            if type(step) is Field:
                place = place.field(step.name)
            elif type(step) is Each:
                place = place.each()
            elif type(step) is Entries:
                place = place.entries(step.only)
            else:
                raise ValueError(f"a place has all elements, not one: {step}")
        return place

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that lead here from the document."""
        above, fields = self.level.above, map(Field, self.tail)
        if above is None:
            return tuple(fields)
        return (*above.steps, Each() if self.level.keys is None else Entries(), *fields)

    @property
    def paths(self) -> list[str]:
        """The JSON path of the value in each row."""
        end = self._end
        return [path + end for path in self.level.paths] if end else self.level.paths

    def path(self, row: int) -> str:
        """The JSON path of the value in one row; a key has its value's path with a sign behind."""
        return self.level.paths[row] + self._end

    @property
    def _end(self) -> str:
        return "".join(map(key_step, self.tail)) + (KEY_SIGN if self.is_key else "")


def compose_index(index: RowIndex, further: RowIndex) -> RowIndex:
    """Compose two row indexes: apply one after the other."""
    if not len(further):
        return np.full(len(index), -1, np.int64)
    return np.where(index >= 0, further[index], -1)
