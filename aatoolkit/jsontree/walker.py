"""The walk through a document, level by level: a step goes down for all rows at once.

A `Level` is rows that many values belong to: the document's own, the elements of arrays, the
entries of objects. A `Walker` is at one place in the rows of a level; the fields that lead there
stay on the level, `each` and `entries` open the next. What is at a place is held as columns by a
`~aatoolkit.jsontree.cursor.Cursor`, as Python values by a `~aatoolkit.jsontree.vectors.Vector`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar
from weakref import ref

from aatoolkit.jsontree.paths import Each, Entries, Field, Step, key_step

T = TypeVar("T")
W = TypeVar("W", bound="Walker[Any]")


class Level(Generic[W]):
    """The rows that the values of several places belong to.

    Parameters
    ----------
    size : int
        How many there are.
    above : Walker or None
        The place whose arrays or objects the rows are in; None for the document itself.
    """

    def __init__(self, size: int, above: W | None = None) -> None:
        self.size = size
        # A document holds what is below; circles would hold its data long after their use.
        self._above = None if above is None else ref(above)

    @property
    def above(self) -> W | None:
        """The cursor whose arrays or objects the rows are in; None for the document itself."""
        return None if self._above is None else deref(self._above)

    def parent(self, row: int) -> int:
        """The row of the level above that one row is in."""
        raise NotImplementedError

    def label(self, row: int) -> str | int:
        """The position of one row in its array, or its key in its object."""
        raise NotImplementedError

    def path(self, row: int) -> str:
        """The JSON path of one row."""
        above = self.above
        if above is None:
            return "$"
        label = self.label(row)
        step = f"[{label}]" if isinstance(label, int) else key_step(label)
        return above.path(self.parent(row)) + step


class Walker(Generic[W]):
    """The values at one path, in the rows of a level.

    Parameters
    ----------
    level : Level
        The rows.
    tail : tuple of str
        The fields that lead there from a row.
    """

    __slots__ = ("__weakref__", "_below", "level", "tail")

    def __init__(self, level: Level[W], tail: tuple[str, ...] = ()) -> None:
        self.level = level
        self.tail = tail
        # Who holds a place holds those below it.
        self._below: dict[object, W] = {}

    def field(self, name: str) -> W:
        """The values of one field, in the same rows."""
        found = self._below.get(name)
        if found is None:
            found = self._below[name] = self._field(name)
        return found

    def each(self) -> W:
        """The elements of the arrays here; what is no array has none."""
        found = self._below.get(Ellipsis)
        if found is None:
            found = self._below[Ellipsis] = self._each()
        return found

    def entries(self, only: Sequence[str] = ()) -> W:
        """The entries of the objects here, or those with some keys only."""
        keys = tuple(only)
        found = self._below.get(keys)
        if found is None:
            found = self._below[keys] = self._entries(keys)
        return found

    def _field(self, name: str) -> W:
        raise NotImplementedError

    def _each(self) -> W:
        raise NotImplementedError

    def _entries(self, only: tuple[str, ...]) -> W:
        raise NotImplementedError

    def descend(self, steps: Sequence[Step]) -> W:
        """Return the cursor some steps below.

        Raises
        ------
        ValueError
            If a step is that to one element of an array: a place has all elements.
        """
        found: Any = self
        for step in steps:
            if isinstance(step, Field):
                found = found.field(step.name)
            elif isinstance(step, Each):
                found = found.each()
            elif isinstance(step, Entries):
                found = found.entries(step.only)
            else:
                raise ValueError(f"a place has all elements, not one: {step}")
        return found  # type: ignore[no-any-return]

    def path(self, row: int) -> str:
        """The JSON path of the value in one row."""
        return self.level.path(row) + "".join(map(key_step, self.tail))


def deref(held: ref[T]) -> T:
    """Return the object of a weak reference, or raise if it is gone.

    Raises
    ------
    LookupError
        If nobody holds it any longer.
    """
    found = held()
    if found is None:
        raise LookupError("the document of these values is no longer held by anybody")
    return found
