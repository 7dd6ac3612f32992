"""All values at one path of a JSON document, side by side.

A document is walked level by level, not record by record: `Vector.field`, `Vector.each` and
`Vector.entries` go one step down for all values at once, and remember where each came from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final
from weakref import ref

import numpy as np

from aatoolkit.jsontree.paths import Each, Field, Step
from aatoolkit.jsontree.values import MISSING

__all__ = ["KEYS", "MISSING", "Vector", "descend", "leaves", "step"]

KEYS: Final = "~"
"""The name of a vector of keys: the path of a key is that of its value and this sign."""

_Rows = np.ndarray[tuple[int], np.dtype[np.intp]]


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

    __slots__ = ("__weakref__", "_below", "_kinds", "_parent", "_values", "labels", "name", "rows")

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
            self._kinds = set(map(type, self.values))
        return self._kinds

    @property
    def numbers(self) -> set[bool]:
        """Whether there are numbers other than 0, and whether there are such as are 0."""
        if not self.kinds & {int, float}:
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
            return above + step(self.name or "")
        label = self.labels[row]
        return above + (f"[{label}]" if isinstance(label, int) else step(label))


def descend(vector: Vector, steps: tuple[Step, ...]) -> Vector:
    """The vector some steps below another."""
    for step in steps:
        if isinstance(step, Field):
            vector = vector.field(step.name)
        elif isinstance(step, Each):
            vector = vector.each()
        else:
            vector = vector.entries(step.only)
    return vector


def leaves(value: Any, path: str) -> list[tuple[str, str]]:
    """The leaves below a value as JSON paths and JSON texts; empty containers are leaves.

    Examples
    --------
    >>> leaves({"a": [1, {}], "b c": None}, "$")
    [('$.a[0]', '1'), ('$.a[1]', '{}'), ('$["b c"]', 'null')]
    """
    found: list[tuple[str, str]] = []
    pending: list[tuple[Any, str]] = [(value, path)]
    while pending:
        one, at = pending.pop()
        if isinstance(one, dict) and one:
            pending += reversed([(item, at + step(key)) for key, item in one.items()])
        elif isinstance(one, list) and one:
            pending += reversed([(item, f"{at}[{i}]") for i, item in enumerate(one)])
        else:
            found.append((at, json.dumps(one, ensure_ascii=False)))
    return found


def step(name: str) -> str:
    """One step of a JSON path, to a field or key of any name."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return f".{name}"
    return f"[{json.dumps(name, ensure_ascii=False)}]"


def _repeat(lengths: _Rows) -> _Rows:
    rows: _Rows = np.repeat(np.arange(len(lengths)), lengths)
    return rows
