"""All values at one path of a document, in columns: a walk through the tree of its places.

A `Level` is rows that many values lead to: the document's own, the elements of arrays, the
entries of objects. A `Spot` is one place in the rows of a level. Going from spot to spot costs
the same for one row as for a million.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.chunks import concat_rows, row_count
from aatoolkit.jsontree.coerce import Array, column
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.kinds import INTEGER, STRING
from aatoolkit.jsontree.nodes import Node
from aatoolkit.jsontree.paths import KEY_SIGN, Each, Field, Step, key_step
from aatoolkit.jsontree.values import first_leaf, values

RowMap = RowIndex | None
"""For each row the row of a level, -1 for none; None where the two are the same."""


class RowLevel:
    """The rows of one table of the tree.

    Parameters
    ----------
    child : Child
        The rows.
    above : Spot or None
        The place whose arrays or objects they are; None for the document itself.
    computed : bool
        Whether a function computed them of what stands there.
    """

    def __init__(
        self, child: ChildTable, above: Cursor | None = None, computed: bool = False
    ) -> None:
        self.computed = computed
        self.child = child
        self.size = child.size
        # A document holds what is below; circles would hold its data long after their use.
        self._above = None if above is None else ref(above)
        self._element: ref[Cursor] | None = None

    @staticmethod
    def open(child: ChildTable, above: Cursor | None = None, computed: bool = False) -> Cursor:
        """The elements, or entries, that new rows are: who wants the rows holds these."""
        level = RowLevel(child, above, computed)
        cursor = Cursor(level, child.node)
        level._element = ref(cursor)
        return cursor

    @property
    def element(self) -> Cursor:
        """The elements, or entries, that the rows are."""
        return _deref(self._element)

    @property
    def above(self) -> Cursor | None:
        """The place whose arrays or objects the rows are; None for the document itself."""
        return None if self._above is None else _deref(self._above)

    @property
    def in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self.above is not None and self.child.keys is None and not self.computed

    @cached_property
    def parents(self) -> RowIndex:
        """For each row, that of the level above."""
        return _numbers(self.child.parents)

    @cached_property
    def positions(self) -> RowIndex:
        """For each row, its place in the array or object."""
        return _numbers(self.child.positions)

    @cached_property
    def keys(self) -> pa.Array:
        """For each row, its key in the object."""
        return pa.concat_arrays(self.child.keys or [pa.array([], pa.string())])

    @property
    def labels(self) -> Cursor:
        """The keys of the rows as values of their own."""
        return Cursor(self, _texts(self.keys), is_key=True)

    def position_cursor(self, first: int) -> Cursor:
        """The positions of the rows as values of their own, counted from a number."""
        node = Node()
        rows = range(self.size)
        node.rows = [rows]
        node.scalars[INTEGER] = [(pa.array(self.positions + first, pa.int64()), rows)]
        return Cursor(self, node)

    def path(self, row: int) -> str:
        """The JSON path of one row."""
        if self.above is None:
            return "$"
        above = self.above.path(int(self.parents[row]))
        if self.child.keys is None:
            return f"{above}[{self.positions[row]}]"
        return above + key_step(self.keys[row].as_py())


class Cursor:
    """One place in the rows of a level.

    Parameters
    ----------
    level : Level
        The rows.
    place : Place or None
        What stands there; None if nothing does.
    tail : tuple of str
        The fields that lead there from a row.
    lacking : bool
        Whether there are objects that could hold it, and none has the field.

    Examples
    --------
    >>> from aatoolkit.jsontree.parse import parse_document
    >>> document = Cursor.of(parse_document({"a": [{"b": 1}, {}]}).root)
    >>> found = document.field("a").each().field("b")
    >>> found.rows.tolist(), found.path(0), found.field("c").field_absent
    ([0], '$.a[0].b', False)
    """

    __slots__ = (
        "__weakref__",
        "_arrays",
        "_below",
        "field_absent",
        "is_key",
        "level",
        "node",
        "tail",
    )

    def __init__(
        self,
        level: RowLevel,
        node: Node | None,
        tail: tuple[str, ...] = (),
        field_absent: bool = False,
        is_key: bool = False,
    ) -> None:
        self.level = level
        self.node = node
        self.tail = tail
        self.field_absent = field_absent
        self.is_key = is_key
        self._below: dict[object, Cursor] = {}
        self._arrays: dict[str, tuple[Array, RowIndex]] = {}

    @staticmethod
    def of(document: Node) -> Cursor:
        """The spot of a whole document."""
        return RowLevel.open(ChildTable(node=document, size=1))

    def field(self, name: str) -> Cursor:
        """A field of the objects here, in the same rows."""
        found = self._below.get(name)
        if found is None:
            record = self.node.record if self.node else None
            node = record.fields.get(name) if record else None
            field_absent = self.field_absent if record is None else node is None
            found = self._below[name] = Cursor(self.level, node, (*self.tail, name), field_absent)
        return found

    def each(self) -> Cursor:
        """The elements of the arrays here; what is no array has none."""
        return self._child(Ellipsis, self.node.items if self.node else None, None)

    def entries(self) -> Cursor:
        """The entries of the objects here whose keys are data."""
        return self._child(None, self.node.entries if self.node else None, [])

    def others(self) -> Cursor | None:
        """The entries with keys that are not declared, where they are too many to be fields."""
        record = self.node.record if self.node else None
        if record is None or record.others is None:
            return None
        return self._child(self.others, record.others, [])

    def _child(self, sign: object, child: ChildTable | None, keys: list[pa.Array] | None) -> Cursor:
        found = self._below.get(sign)
        if found is None:
            found = self._below[sign] = RowLevel.open(child or ChildTable(Node(), keys=keys), self)
        return found

    def descend(self, steps: tuple[Step, ...]) -> Cursor:
        """The spot some steps below."""
        cursor = self
        for one in steps:
            if isinstance(one, Field):
                cursor = cursor.field(one.name)
            else:
                cursor = cursor.each() if isinstance(one, Each) else cursor.entries()
        return cursor

    def fields(self) -> Iterator[str]:
        """The names of the fields of the objects here."""
        return iter(self.node.record.fields if self.node and self.node.record else ())

    @property
    def rows(self) -> RowIndex:
        """The rows in which there is anything, null included."""
        return np.sort(concat_rows(self.node.rows)) if self.node else np.empty(0, np.int64)

    @property
    def is_null(self) -> bool:
        """Whether something is here, and it is null alone."""
        node = self.node
        return (
            node is not None
            and bool(row_count(node.rows))
            and not (node.scalars or node.record or node.items or node.entries)
        )

    def to_arrow(self, dtype: str) -> tuple[Array, RowIndex]:
        """What stands here as an array of a dtype, and the rows whose value does not fit it."""
        found = self._arrays.get(dtype)
        if found is None:
            found = self._arrays[dtype] = column(self.node, dtype, self.level.size)
        return found

    def values(self, rows: RowIndex) -> list[Any]:
        """What stands in some rows, as JSON values."""
        return values(self.node, rows) if self.node and len(rows) else []

    def first_leaf(self, row: int) -> Any:
        """The first value that is no container, or empty container, of what stands in a row."""
        return None if self.node is None else first_leaf(self.node, row)

    def path(self, row: int) -> str:
        """The JSON path of the value in one row; of a key, that of its value and a sign."""
        sign = KEY_SIGN if self.is_key else ""
        return self.level.path(row) + "".join(map(key_step, self.tail)) + sign


def _deref(found: ref[Cursor] | None) -> Cursor:
    cursor = None if found is None else found()
    if cursor is None:
        raise LookupError("the document of these rows is no longer held by anybody")
    return cursor


def constant_key(cursor: Cursor, name: str) -> Cursor:
    """The name of a field as a value in each row of its objects."""
    node = _texts(
        pa.array([name], pa.string()).take(pa.array(np.zeros(cursor.level.size, np.int8)))
    )
    return Cursor(cursor.level, node, cursor.tail, is_key=True)


def _texts(array: pa.Array) -> Node:
    node, rows = Node(), range(len(array))
    node.rows = [rows]
    node.scalars[STRING] = [(array, rows)]
    return node


def _numbers(chunks: list[pa.Array]) -> RowIndex:
    if not chunks:
        return np.empty(0, np.int64)
    found: RowIndex = np.concatenate([chunk.to_numpy() for chunk in chunks])
    return found


def compose_index(index: RowMap, further: RowMap) -> RowMap:
    """One index after another."""
    if index is None or further is None:
        return further if index is None else index
    if len(index) and index.min() < 0:
        found = np.full(len(index), -1, np.int64)
        found[index >= 0] = further[index[index >= 0]]
        return found
    return further[index]
