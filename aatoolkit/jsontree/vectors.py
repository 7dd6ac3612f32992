"""The values at one path of a JSON document as Python values, in one aligned vector.

A `Vector` has values; a `LazyVector` reads them from the columns of a parsed document when they
are needed. To walk columns costs more a step and less a value: on small documents a `Vector` is
about twenty times as fast as a `~aatoolkit.jsontree.cursor.Cursor` whose values are read.
"""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import row_count
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.kinds import BIG, BOOLEAN, INTEGER, NUMBER, STRING
from aatoolkit.jsontree.values import MISSING
from aatoolkit.jsontree.walker import Level, Walker

__all__ = ["MISSING", "LazyVector", "Vector"]

_Rows = np.ndarray[tuple[int], np.dtype[np.intp]]
_TYPES = {INTEGER: int, BIG: int, NUMBER: float, STRING: str, BOOLEAN: bool}


class VectorLevel(Level["Vector"]):
    """The elements of the arrays, or the entries of the objects, of a vector.

    Parameters
    ----------
    above : Vector
        The vector.
    lengths : array of int
        How many each of its values has.
    labels : list
        Their positions in the arrays, or their keys in the objects.
    """

    def __init__(self, above: Vector, lengths: _Rows, labels: list[Any]) -> None:
        super().__init__(len(labels), above)
        self.parents: _Rows = np.repeat(np.arange(len(lengths)), lengths)
        self.labels = labels

    def parent(self, row: int) -> int:
        """The row of the level above that one row is in."""
        return int(self.parents[row])

    def label(self, row: int) -> str | int:
        """The position of one row in its array, or its key in its object."""
        found: str | int = self.labels[row]
        return found


class Vector(Walker["Vector"]):
    """The values at one path, with the way back up.

    Parameters
    ----------
    values : list
        The values; `MISSING` where an enclosing object lacks the field.
    level : Level, optional
        Their rows; those of a document, or of several, if left out.
    tail : tuple of str
        The fields that lead there from a row.

    Examples
    --------
    >>> document = Vector.of({"a": [{"b": 1}, {}, {"b": None}]})
    >>> found = document.field("a").each().field("b")
    >>> found.values, found.path(2)
    ([1, MISSING, None], '$.a[2].b')
    """

    __slots__ = ("_kinds", "_numbers", "_values")

    def __init__(
        self, values: list[Any], level: Level[Any] | None = None, tail: tuple[str, ...] = ()
    ) -> None:
        super().__init__(Level(len(values)) if level is None else level, tail)
        self._values: list[Any] | None = values
        self._kinds: set[type] | None = None
        self._numbers: set[bool] | None = None

    @classmethod
    def of(cls, document: Any) -> Vector:
        """The vector that holds one document."""
        return cls([document])

    def __len__(self) -> int:
        return self.level.size

    @property
    def rows(self) -> _Rows | None:
        """For each element or entry its row in the vector above; None for other values."""
        return None if self._opened is None else self._opened.parents

    @property
    def labels(self) -> list[Any] | None:
        """For each element or entry its position in the array or its key in the object."""
        return None if self._opened is None else self._opened.labels

    @property
    def _opened(self) -> VectorLevel | None:
        """The level whose rows the values are, and not fields of them."""
        return self.level if isinstance(self.level, VectorLevel) and not self.tail else None

    @property
    def values(self) -> list[Any]:
        """The values."""
        if self._values is None:
            self._values = self._find_values()
        return self._values

    def _find_values(self) -> list[Any]:
        raise NotImplementedError

    def value(self, row: int) -> Any:
        """The value in one row."""
        return self.values[row]

    @property
    def kinds(self) -> set[type]:
        """The set of Python types of the values."""
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

    def _field(self, name: str) -> Vector:
        return Vector(self._field_values(name), self.level, (*self.tail, name))

    def _field_values(self, name: str) -> list[Any]:
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

    def _each(self) -> Vector:
        arrays: list[Any] = self.values
        if self.kinds != {list}:
            arrays = [value if type(value) is list else () for value in self.values]
        lengths = np.fromiter(map(len, arrays), np.intp, len(arrays))
        labels = list(chain.from_iterable(map(range, lengths.tolist())))
        return Vector(list(chain.from_iterable(arrays)), VectorLevel(self, lengths, labels))

    def _entries(self, only: tuple[str, ...]) -> Vector:
        objects = self.values
        if self.kinds != {dict}:
            objects = [value if type(value) is dict else {} for value in self.values]
        if only:
            objects = [{key: one[key] for key in only if key in one} for one in objects]
        lengths = np.fromiter(map(len, objects), np.intp, len(objects))
        labels = list(chain.from_iterable(objects))
        values = list(chain.from_iterable(map(dict.values, objects)))
        return Vector(values, VectorLevel(self, lengths, labels))


class LazyVector(Vector):
    """A `Vector` of the values at a place of a parsed document.

    Parameters
    ----------
    cursor : Cursor
        The place; its document is to be held by somebody.

    Examples
    --------
    >>> from aatoolkit.jsontree.parse import parse_document
    >>> document = Cursor.of(parse_document({"a": [{"b": 1}, {}, {"b": 0.5}]}).root)
    >>> found = LazyVector(document).field("a").each().field("b")
    >>> sorted(kind.__name__ for kind in found.kinds), found.values, found.path(2)
    (['Missing', 'float', 'int'], [1, MISSING, 0.5], '$.a[2].b')
    """

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Cursor) -> None:
        super().__init__([], cursor.level, cursor.tail)
        self._values = None
        self._cursor = cursor

    def _find_values(self) -> list[Any]:
        if self._cursor.node is None:
            return [MISSING] * len(self)
        return self._cursor.values(np.arange(len(self)))

    def value(self, row: int) -> Any:
        """The value in one row."""
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

    def _field(self, name: str) -> Vector:
        return super()._field(name) if self._is_keyed else LazyVector(self._cursor.field(name))

    def _each(self) -> Vector:
        return LazyVector(self._cursor.each())

    @property
    def _is_keyed(self) -> bool:
        """Whether some objects are no columns: their keys are data."""
        node = self._cursor.node
        return node is not None and (
            node.entries is not None or (node.record is not None and node.record.others is not None)
        )
