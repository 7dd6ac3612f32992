"""The values at one path of a document as columns: a walk through the tree of its nodes.

Going from place to place costs the same for one row as for a million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from aatoolkit.jsontree.paths import KEY_SIGN
from aatoolkit.jsontree.values import first_leaf, values
from aatoolkit.jsontree.walker import Level, Walker, deref

RowMap = RowIndex | None
"""For each row the row of a level, -1 for none; None where the two are the same."""


class RowLevel(Level["Cursor"]):
    """The rows of one table of the tree.

    Parameters
    ----------
    child : ChildTable
        The rows.
    above : Cursor or None
        The place whose arrays or objects they are; None for the document itself.
    computed : bool
        Whether a function computed them of what is there.
    """

    def __init__(
        self, child: ChildTable, above: Cursor | None = None, computed: bool = False
    ) -> None:
        super().__init__(child.size, above)
        self.computed = computed
        self.child = child
        self._element: ref[Cursor] | None = None

    @staticmethod
    def open(child: ChildTable, above: Cursor | None = None, computed: bool = False) -> Cursor:
        """Return the cursor of the rows of a child table; hold it as long as the rows."""
        level = RowLevel(child, above, computed)
        cursor = Cursor(level, child.node)
        level._element = ref(cursor)
        return cursor

    @property
    def element(self) -> Cursor:
        """The cursor of the elements, or entries, that are the rows."""
        if self._element is None:
            raise LookupError("these rows have not been opened")
        return deref(self._element)

    @property
    def in_array(self) -> bool:
        """Whether the rows are elements of arrays."""
        return self._above is not None and self.child.keys is None and not self.computed

    @cached_property
    def parents(self) -> RowIndex:
        """For each row, that of the level above."""
        return _joined(self.child.parents)

    @cached_property
    def positions(self) -> RowIndex:
        """For each row, its place in the array or object."""
        return _joined(self.child.positions)

    @cached_property
    def keys(self) -> pa.Array:
        """For each row, its key in the object."""
        return pa.concat_arrays(self.child.keys or [pa.array([], pa.string())])

    @property
    def labels(self) -> Cursor:
        """A cursor over the keys of the rows, as values."""
        return Cursor(self, _texts(self.keys), is_key=True)

    def position_cursor(self, first: int) -> Cursor:
        """A cursor over the positions of the rows, as values, counted from a number."""
        node = Node()
        rows = range(self.size)
        node.rows = [rows]
        node.scalars[INTEGER] = [(pa.array(self.positions.astype(np.int64) + first), rows)]
        return Cursor(self, node)

    def parent(self, row: int) -> int:
        """The row of the level above that one row is in."""
        return int(self.parents[row])

    def label(self, row: int) -> str | int:
        """The position of one row in its array, or its key in its object."""
        key: str | None = None if self.child.keys is None else self.keys[row].as_py()
        return int(self.positions[row]) if key is None else key


class Cursor(Walker["Cursor"]):
    """The values at one path of a document, as columns.

    Parameters
    ----------
    level : RowLevel
        The rows.
    node : Node or None
        The values; None if there are none.
    tail : tuple of str
        The fields that lead there from a row.
    field_absent : bool
        Whether there are objects that could hold it, and none has the field.
    is_key : bool
        Whether the values are keys of objects.

    Examples
    --------
    >>> from aatoolkit.jsontree.parse import parse_document
    >>> document = Cursor.of(parse_document({"a": [{"b": 1}, {}]}).root)
    >>> found = document.field("a").each().field("b")
    >>> found.rows.tolist(), found.path(0), found.field("c").field_absent
    ([0], '$.a[0].b', False)
    """

    __slots__ = ("_arrays", "_object", "field_absent", "is_key", "node")

    level: RowLevel

    def __init__(
        self,
        level: RowLevel,
        node: Node | None,
        tail: tuple[str, ...] = (),
        field_absent: bool = False,
        is_key: bool = False,
    ) -> None:
        # Without the call of the base: an answer has as many of these as it has columns.
        self.level, self.tail, self._below = level, tail, {}
        self.node = node
        self.field_absent = field_absent
        self.is_key = is_key
        self._arrays: dict[str, tuple[Array, RowIndex]] = {}
        self._object: ref[Cursor] | None = None

    @staticmethod
    def of(document: Node, size: int = 1) -> Cursor:
        """Return the cursor of a whole document, or of several that are rows of one node."""
        return RowLevel.open(ChildTable(node=document, size=size))

    @property
    def object(self) -> Cursor | None:
        """The cursor of the objects of which this is a field; None if it is no field."""
        return None if self._object is None else deref(self._object)

    def _field(self, name: str) -> Cursor:
        record = self.node.record if self.node else None
        node = record.fields.get(name) if record else None
        field_absent = self.field_absent if record is None else node is None
        found = Cursor(self.level, node, (*self.tail, name), field_absent)
        found._object = ref(self)
        return found

    def _each(self) -> Cursor:
        return self._open(self.node.items if self.node else None, None)

    def _entries(self, only: tuple[str, ...]) -> Cursor:
        if only:  # declared keys are fields: that was decided when the document was parsed
            return self.entries()
        return self._open(self.node.entries if self.node else None, [])

    def others(self) -> Cursor | None:
        """The entries with keys that are not declared, where they are too many to be fields."""
        record = self.node.record if self.node else None
        if record is None or record.others is None:
            return None
        found = self._below.get(None)
        if found is None:
            found = self._below[None] = self._open(record.others, [])
        return found

    def _open(self, child: ChildTable | None, keys: list[pa.Array] | None) -> Cursor:
        return RowLevel.open(child or ChildTable(Node(), keys=keys), self)

    def fields(self) -> Iterator[str]:
        """The names of the fields of the objects here."""
        return iter(self.node.record.fields if self.node and self.node.record else ())

    @property
    def rows(self) -> RowIndex:
        """The rows that have a value, null included."""
        rows = concat_rows(self.node.rows) if self.node else np.empty(0, np.int64)
        return rows if self.node is None or len(self.node.rows) == 1 else np.sort(rows)

    @property
    def is_null(self) -> bool:
        """Whether there are values, and all are null."""
        node = self.node
        return (
            node is not None
            and bool(row_count(node.rows))
            and not (node.scalars or node.record or node.items or node.entries)
        )

    def to_arrow(self, dtype: str) -> tuple[Array, RowIndex]:
        """Convert the values to an Arrow array; return it and the rows that do not fit."""
        found = self._arrays.get(dtype)
        if found is None:
            found = self._arrays[dtype] = column(self.node, dtype, self.level.size)
        return found

    def values(self, rows: RowIndex) -> list[Any]:
        """The values in some rows, as JSON values."""
        return values(self.node, rows) if self.node and len(rows) else []

    def first_leaf(self, row: int) -> Any:
        """The first scalar or empty container of the value in a row."""
        return None if self.node is None else first_leaf(self.node, row)

    def path(self, row: int) -> str:
        """The JSON path of the value in one row; of a key, that of its value and a sign."""
        return super().path(row) + (KEY_SIGN if self.is_key else "")


def constant_key(cursor: Cursor, name: str) -> Cursor:
    """Return a cursor over a field's name, as a value in each row of its objects."""
    node = _texts(
        pa.array([name], pa.string()).take(pa.array(np.zeros(cursor.level.size, np.int8)))
    )
    return Cursor(cursor.level, node, cursor.tail, is_key=True)


def _texts(array: pa.Array) -> Node:
    node, rows = Node(), range(len(array))
    node.rows = [rows]
    node.scalars[STRING] = [(array, rows)]
    return node


def _joined(chunks: Sequence[np.ndarray[tuple[int], np.dtype[Any]]]) -> RowIndex:
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty(0, np.int64)


def compose_index(index: RowMap, further: RowMap) -> RowMap:
    """Compose two row indexes: apply one after the other."""
    if index is None or further is None:
        return further if index is None else index
    if len(index) and index.min() < 0:
        found = np.full(len(index), -1, np.int64)
        found[index >= 0] = further[index[index >= 0]]
        return found
    return further[index]
