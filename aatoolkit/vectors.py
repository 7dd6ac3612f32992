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

import numpy as np

from aatoolkit.paths import Each, Field, Step


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Stands where an object has no such field; null is None."""

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

    __slots__ = ("_below", "_kinds", "labels", "name", "parent", "rows", "values")

    def __init__(
        self,
        values: list[Any],
        parent: Vector | None = None,
        rows: _Rows | None = None,
        labels: list[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.values = values
        self.parent = parent
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
    def kinds(self) -> set[type]:
        """The types of the values."""
        if self._kinds is None:
            self._kinds = set(map(type, self.values))
        return self._kinds

    def fields(self) -> list[str]:
        """The names of the fields of all objects among the values, as they come."""
        objects = self._of(dict)
        # Objects are of few shapes: their names are gathered once a shape.
        return list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, objects)))))

    @property
    def in_array(self) -> bool:
        """Whether the values are elements of arrays."""
        return self.labels is not None and self.name is None

    @property
    def absent(self) -> bool:
        """Whether there were objects to hold these values, and none had the field.

        A field below null is not absent: null is all that is known of it.
        """
        at: Vector | None = self
        while at is not None and at.kinds == {_Missing}:
            at = at.parent
        return at is not self and at is not None and dict in at.kinds

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

    def enclosing(self) -> tuple[Vector, _Rows]:
        """The records one array up, and for each value its row there."""
        at, rows = self._up(np.arange(len(self)))
        while not at.in_array:
            at, rows = at._up(rows)
        return at, rows

    def steps(self) -> list[tuple[Vector, _Rows]]:
        """Every vector from this one up to the document, with each value's row there."""
        found = [(self, np.arange(len(self)))]
        while found[-1][0].parent is not None:
            found.append(found[-1][0]._up(found[-1][1]))
        return found

    def path(self, row: int) -> str:
        """The JSON path of one value."""
        parts: list[str] = []
        at: Vector = self
        while at.parent is not None:
            if at.labels is not None and at.name == KEYS:
                parts.append(KEYS)
            if at.labels is None:
                parts.append(step(at.name or ""))
            else:
                label = at.labels[row]
                parts.append(f"[{label}]" if isinstance(label, int) else step(label))
            row = row if at.rows is None else int(at.rows[row])
            at = at.parent
        return "$" + "".join(reversed(parts))

    def _up(self, rows: _Rows) -> tuple[Vector, _Rows]:
        if self.parent is None:
            raise LookupError("the document itself is not enclosed by anything")
        return self.parent, rows if self.rows is None else self.rows[rows]


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
    waiting: list[tuple[Any, str]] = [(value, path)]
    while waiting:
        one, at = waiting.pop()
        if isinstance(one, dict) and one:
            waiting += reversed([(item, at + step(key)) for key, item in one.items()])
        elif isinstance(one, list) and one:
            waiting += reversed([(item, f"{at}[{i}]") for i, item in enumerate(one)])
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
