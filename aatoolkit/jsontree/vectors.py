"""The values at one path of a JSON document, as one aligned vector.

A document is walked level by level, not record by record: `Vector.field`, `Vector.each` and
`Vector.entries` go one step down for all values at once. A `Vector` holds Python values; a
`LazyVector` reads them from the columns of a parsed document when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any
from weakref import ref

import numpy as np
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import row_count
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.kinds import BIG, BOOLEAN, INTEGER, NUMBER, STRING
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, key_step
from aatoolkit.jsontree.values import MISSING

__all__ = ["MISSING", "LazyVector", "Vector", "descend"]

_Rows = np.ndarray[tuple[int], np.dtype[np.intp]]
_TYPES = {INTEGER: int, BIG: int, NUMBER: float, STRING: str, BOOLEAN: bool}


class Vector:
    """The values at one path, with the way back up.

    Parameters
    ----------
    values : list
        The values; `MISSING` where an enclosing object lacks the field.
    parent : Vector, optional
        The vector one step up; None for the document itself.
    rows : array of int, optional
        For each value, its row in the parent; None where the two are aligned.
    labels : list, optional
        For each value, its position in the array or its key in the object.
    name : str, optional
        The field's name, where the step was a field.

    Examples
    --------
    >>> document = Vector.of({"a": [{"b": 1}, {}, {"b": None}]})
    >>> found = document.field("a").each().field("b")
    >>> found.values, found.path(2)
    ([1, MISSING, None], '$.a[2].b')
    """

    __slots__ = (
        "__weakref__",
        "_below",
        "_kinds",
        "_numbers",
        "_parent",
        "_values",
        "labels",
        "name",
        "rows",
    )

    def __init__(
        self,
        values: list[Any],
        parent: Vector | None = None,
        rows: _Rows | None = None,
        labels: list[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._values = values
        # Who holds a vector holds those below it; circles would outlive their use.
        self._parent = None if parent is None else ref(parent)
        self.rows = rows
        self.labels = labels
        self.name = name
        self._below: dict[object, Vector] = {}
        self._kinds: set[type] | None = None
        self._numbers: set[bool] | None = None

    @classmethod
    def of(cls, document: Any) -> Vector:
        """The vector that holds one document."""
        return cls([document])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def values(self) -> list[Any]:
        """The values."""
        return self._values

    def value(self, row: int) -> Any:
        """One of them."""
        return self.values[row]

    @property
    def kinds(self) -> set[type]:
        """The types of the values."""
        if self._kinds is None:
            self._kinds = self._find_kinds()
        return self._kinds

    def _find_kinds(self) -> set[type]:
        return set(map(type, self.values))

    @property
    def numbers(self) -> set[bool]:
        """Whether there are numbers other than 0, and whether there are such as are 0."""
        if self._numbers is None:
            self._numbers = self._find_numbers()
        return self._numbers

    def _find_numbers(self) -> set[bool]:
        if self.kinds.isdisjoint((int, float)):
            return set()
        return {value != 0 for value in self.values if type(value) in (int, float)}

    def fields(self) -> list[str]:
        """The names of the fields of all objects among the values, as they come."""
        objects = self._of(dict)
        # Objects are of few shapes: their names are gathered once a shape.
        return list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, objects)))))

    def field(self, name: str) -> Vector:
        """The values of one field, aligned with this vector."""
        found = self._below.get(name)
        if found is None:
            found = self._below[name] = Vector(self._field(name), self, name=name)
        return found

    def _field(self, name: str) -> list[Any]:
        if self.kinds == {dict}:
            try:
                return list(map(itemgetter(name), self.values))
            except KeyError:
                return [value.get(name, MISSING) for value in self.values]
        return [
            value.get(name, MISSING) if type(value) is dict else MISSING for value in self.values
        ]

    def _of(self, kind: type) -> list[Any]:
        """The values of one type, in order."""
        if self.kinds == {kind}:
            return self.values
        return [value for value in self.values if type(value) is kind]

    def each(self) -> Vector:
        """The elements of the arrays among the values; what is no array has none."""
        found = self._below.get(Ellipsis)
        if found is None:
            arrays: list[Any] = self.values
            if self.kinds != {list}:
                arrays = [value if type(value) is list else () for value in self.values]
            lengths = np.fromiter(map(len, arrays), np.intp, len(arrays))
            labels = chain.from_iterable(map(range, lengths.tolist()))
            found = self._below[Ellipsis] = Vector(
                list(chain.from_iterable(arrays)), self, _repeat(lengths), list(labels)
            )
        return found

    def entries(self, only: Sequence[str] = ()) -> Vector:
        """The entries of the objects among the values, or those with some keys only."""
        found = self._below.get(only := tuple(only))
        if found is None:
            objects = self.values
            if self.kinds != {dict}:
                objects = [value if type(value) is dict else {} for value in self.values]
            if only:
                objects = [{key: one[key] for key in only if key in one} for one in objects]
            lengths = np.fromiter(map(len, objects), np.intp, len(objects))
            found = self._below[only] = Vector(
                list(chain.from_iterable(map(dict.values, objects))),
                self,
                _repeat(lengths),
                list(chain.from_iterable(objects)),
                name="",
            )
        return found

    def path(self, row: int) -> str:
        """The JSON path of one value."""
        if self._parent is None:
            return "$"
        parent = self._parent()
        if parent is None:
            raise LookupError("the document of these values is no longer held by anybody")
        above = parent.path(row if self.rows is None else int(self.rows[row]))
        if self.labels is None:
            return above + key_step(self.name or "")
        label = self.labels[row]
        return above + (f"[{label}]" if isinstance(label, int) else key_step(label))


class LazyVector(Vector):
    """A `Vector` of the values at a node.

    Parameters
    ----------
    spot : Spot
        The spot; its document is to be held by somebody.
    name : str, optional
        The field's name, where the last step was a field.

    Examples
    --------
    >>> from aatoolkit.jsontree.parse import parse_document
    >>> document = Cursor.of(parse_document({"a": [{"b": 1}, {}, {"b": 0.5}]}).root)
    >>> found = LazyVector(document).field("a").each().field("b")
    >>> sorted(kind.__name__ for kind in found.kinds), found.values, found.path(2)
    (['Missing', 'float', 'int'], [1, MISSING, 0.5], '$.a[2].b')
    """

    def __init__(self, cursor: Cursor, name: str | None = None) -> None:
        super().__init__([], name=name)
        self._cursor = cursor

    def __len__(self) -> int:
        return self._cursor.level.size

    @cached_property
    def _values_made(self) -> list[Any]:
        if self._cursor.node is None:
            return [MISSING] * len(self)
        return self._cursor.values(np.arange(len(self)))

    @property
    def values(self) -> list[Any]:
        """The values, all of which are made now."""
        return self._values_made

    def value(self, row: int) -> Any:
        """One of them."""
        return MISSING if self._cursor.node is None else self._cursor.values(np.array([row]))[0]

    def _find_kinds(self) -> set[type]:
        node = self._cursor.node
        if node is None:
            return {type(MISSING)} if len(self) else set()
        found: set[type] = {_TYPES[kind] for kind in node.scalars}
        if node.record is not None or node.entries is not None:
            found.add(dict)
        if node.items is not None:
            found.add(list)
        if node.null_count:
            found.add(type(None))
        if row_count(node.rows) < len(self):
            found.add(type(MISSING))
        return found

    def _find_numbers(self) -> set[bool]:
        scalars = self._cursor.node.scalars if self._cursor.node else {}
        chunks = [*scalars.get(INTEGER, ()), *scalars.get(NUMBER, ())]
        found = {
            value
            for array, _ in chunks
            for value in pc.unique(pc.not_equal(array, 0)).drop_null().to_pylist()
        }
        return found | {True for _ in scalars.get(BIG, ())}

    def fields(self) -> list[str]:
        """The names of the fields of all objects among the values."""
        return super().fields() if self._is_keyed else [*self._cursor.fields()]

    def field(self, name: str) -> Vector:
        """The values of one field, aligned with this vector."""
        if self._is_keyed:
            return super().field(name)
        found = self._below.get(name)
        if found is None:
            found = self._below[name] = LazyVector(self._cursor.field(name), name)
        return found

    def each(self) -> Vector:
        """The elements of the arrays among the values; what is no array has none."""
        found = self._below.get(Ellipsis)
        if found is None:
            found = self._below[Ellipsis] = LazyVector(self._cursor.each())
        return found

    def path(self, row: int) -> str:
        """The JSON path of one value."""
        return self._cursor.path(row)

    @property
    def _is_keyed(self) -> bool:
        """Whether some objects are no columns: their keys are data."""
        node = self._cursor.node
        return node is not None and (
            node.entries is not None or (node.record is not None and node.record.others is not None)
        )


def descend(vector: Vector, steps: tuple[Step, ...]) -> Vector:
    """The vector some steps below another."""
    for step in steps:
        if isinstance(step, Field):
            vector = vector.field(step.name)
        elif isinstance(step, Each):
            vector = vector.each()
        elif isinstance(step, Entries):
            vector = vector.entries(step.only)
        else:
            raise ValueError(f"a vector has all elements, not one: {step}")
    return vector


def _repeat(lengths: _Rows) -> _Rows:
    rows: _Rows = np.repeat(np.arange(len(lengths)), lengths)
    return rows
