"""Values that are made of a document's columns when they are asked for, and only then."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import row_count
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.nodes import BIG, BOOLEAN, INTEGER, NUMBER, STRING
from aatoolkit.jsontree.vectors import MISSING, Vector

_TYPES = {INTEGER: int, BIG: int, NUMBER: float, STRING: str, BOOLEAN: bool}


class LazyVector(Vector):
    """A `Vector` of what stands at a spot.

    Parameters
    ----------
    spot : Spot
        The spot; its document is to be held by somebody.
    name : str, optional
        The field's name, where the last step was a field.

    Examples
    --------
    >>> from aatoolkit.jsontree.arrow_tables import parse_document
    >>> document = Cursor.of(parse_document({"a": [{"b": 1}, {}, {"b": 0.5}]}).root)
    >>> found = LazyVector(document).field("a").each().field("b")
    >>> sorted(kind.__name__ for kind in found.kinds), found.values, found.path(2)
    (['Missing', 'float', 'int'], [1, MISSING, 0.5], '$.a[2].b')
    """

    def __init__(self, cursor: Cursor, name: str | None = None) -> None:
        super().__init__([], name=name)
        self._spot = cursor

    def __len__(self) -> int:
        return self._spot.level.size

    @cached_property
    def _values_made(self) -> list[Any]:
        if self._spot.node is None:
            return [MISSING] * len(self)
        return self._spot.values(np.arange(len(self)))

    @property
    def values(self) -> list[Any]:
        """The values, all of which are made now."""
        return self._values_made

    def value(self, row: int) -> Any:
        """One of them."""
        return MISSING if self._spot.node is None else self._spot.values(np.array([row]))[0]

    @property
    def kinds(self) -> set[type]:
        """The types of the values."""
        if self._kinds is None:
            self._kinds = self._found()
        return self._kinds

    def _found(self) -> set[type]:
        node = self._spot.node
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

    @property
    def numbers(self) -> set[bool]:
        """Whether there are numbers other than 0, and whether there are such as are 0."""
        scalars = self._spot.node.scalars if self._spot.node else {}
        chunks = [*scalars.get(INTEGER, ()), *scalars.get(NUMBER, ())]
        found = {
            value
            for array, _ in chunks
            for value in pc.unique(pc.not_equal(array, 0)).drop_null().to_pylist()
        }
        return found | {True for _ in scalars.get(BIG, ())}

    def fields(self) -> list[str]:
        """The names of the fields of all objects among the values."""
        return super().fields() if self._is_keyed else [*self._spot.fields()]

    def field(self, name: str) -> Vector:
        """The values of one field, aligned with this vector."""
        if self._is_keyed:
            return super().field(name)
        found = self._below.get(name)
        if found is None:
            found = self._below[name] = LazyVector(self._spot.field(name), name)
        return found

    def each(self) -> Vector:
        """The elements of the arrays among the values; what is no array has none."""
        found = self._below.get(Ellipsis)
        if found is None:
            found = self._below[Ellipsis] = LazyVector(self._spot.each())
        return found

    def path(self, row: int) -> str:
        """The JSON path of one value."""
        return self._spot.path(row)

    @property
    def _is_keyed(self) -> bool:
        """Whether some objects are no columns: their keys are data."""
        return self._spot.node is not None and self._spot.node.entries is not None
