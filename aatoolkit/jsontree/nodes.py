"""A document as a tree of nodes, each with all values at one path, in columns.

Values are added level by level: all values of one path, from all rows, at once, so that the work
on a row is done by loops in C. A long array may be added in chunks, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.child_table import ChildTable, Pending, PendingValues
from aatoolkit.jsontree.chunks import SHORT, ColumnChunk, concat_rows, row_count, valid_rows
from aatoolkit.jsontree.decode import MAX_DEPTH, InexactParse, SplitError
from aatoolkit.jsontree.grouping import (
    Flags,
    ObjectBatch,
    RowIndex,
    Rows,
    row_numbers,
    rows_apart,
    select_rows,
)
from aatoolkit.jsontree.keyed import MAX_FIELDS, KeyTraits
from aatoolkit.jsontree.kinds import ARROW, BIG, INTEGER, KIND_OF, POOL, STRING, scalar_array
from aatoolkit.jsontree.layout import Layout, NodeLimit

_NULL = type(None)
_KINDS: tuple[type, ...] = (_NULL, bool, int, float, str, dict, list)
_CODES = {kind: code for code, kind in enumerate(_KINDS)}


class Node:
    """All values at one path, by row of the enclosing table.

    Attributes
    ----------
    rows : list of rows
        The rows that have a value, null included.
    scalars : dict of str to list of chunks
        Booleans, numbers and strings, by kind; Arrow's nulls are JSON's.
    record : ObjectFields or None
        Objects as fields.
    items, entries : ChildTable or None
        Arrays, and objects whose keys are data, as rows of a table of their own.
    """

    __slots__ = (
        "entries",
        "items",
        "layout",
        "limit",
        "numbers",
        "record",
        "rows",
        "scalars",
        "traits",
        "was_keyed",
    )

    def __init__(self, layout: Layout | None = None, limit: NodeLimit | None = None) -> None:
        self.layout = layout
        self.limit = limit
        self.rows: list[Rows] = []
        self.scalars: dict[str, list[ColumnChunk]] = {}
        self.record: ObjectFields | None = None
        self.items: ChildTable | None = None
        self.entries: ChildTable | None = None
        self.numbers: dict[str, int] | None = None
        self.traits: KeyTraits | None = None
        self.was_keyed: bool | None = None

    def add_values(self, values: list[Any], rows: Rows, depth: int) -> int:
        """Add values and all that is nested in them; return their number of keys.

        Returns how many keys the objects among them have.

        Raises
        ------
        InexactParse
            If they are nested too deep.
        SplitError
            If objects look like rows of a table in one chunk and not in another.
        PayloadError
            If the document has more nodes than are allowed.
        """
        pending = PendingValues([(self, values, rows, depth)])
        members = 0
        while pending.below:
            node, values, rows, depth = pending.below.pop()
            members += node._add(values, rows, depth, pending)
        pending.add_short_columns()
        return members

    def _add(self, values: list[Any], rows: Rows, depth: int, pending: PendingValues) -> int:
        self.rows.append(rows)
        if self.scalars.keys() == {STRING} and not (self.record or self.items or self.entries):
            # Only text so far: Arrow itself refuses what is neither text nor null.
            try:
                self.add_scalars(STRING, scalar_array(values, STRING), rows)
            except pa.ArrowTypeError:
                pass
            else:
                return 0
        if len(values) > 1 and self._has_several_kinds:
            return self._add_mixed(values, rows, depth, pending)
        kinds = set(map(type, values))
        if len(kinds) == 1 or (_NULL in kinds and len(kinds) == 2 and not kinds & {dict, list}):
            kinds.discard(_NULL)
            return self._add_kind(kinds.pop(), values, rows, depth, pending) if kinds else 0
        return self._add_mixed(values, rows, depth, pending)

    @property
    def _has_several_kinds(self) -> bool:
        return len(self.scalars) + sum(map(bool, (self.record, self.items, self.entries))) > 1

    @property
    def is_settled(self) -> bool:
        """Whether further objects of the same keys and kinds of values are read in the same way."""
        pinned = self.layout is not None and self.layout.keyed is not None
        return pinned or (self.traits is not None and self.traits.are_settled)

    @property
    def nulls(self) -> RowIndex:
        """The rows whose value is null."""
        held = [
            row_numbers(valid_rows(chunk)) for chunks in self.scalars.values() for chunk in chunks
        ]
        held += [concat_rows(self.record.rows)] if self.record else []
        for child in (self.items, self.entries):
            held += [row_numbers(rows) for _, rows in child.lengths] if child else []
        there = concat_rows(self.rows)
        return rows_apart(there, np.concatenate(held)) if held else there

    @property
    def null_count(self) -> int:
        """The number of values that are null."""
        chunks = [*chain.from_iterable(self.scalars.values())]
        for child in (self.items, self.entries):
            chunks += child.lengths if child else []
        held = sum(len(array) - array.null_count for array, _ in chunks)
        objects = row_count(self.record.rows) if self.record else 0
        return row_count(self.rows) - int(held) - objects

    def array_at(self, path: tuple[str, ...]) -> ChildTable:
        """The array at the end of a path of fields.

        Raises
        ------
        SplitError
            If one of the objects on the way is a table of rows with a key.
        """
        node = self
        for key in path:
            if node.record is None or key not in node.record.fields:
                raise SplitError
            node = node.record.fields[key]
        if node.items is None:
            raise LookupError("there is no array at the end of the path")
        return node.items

    def _add_mixed(self, values: list[Any], rows: Rows, depth: int, pending: PendingValues) -> int:
        # One call with all types takes a third of the time of a call for each.
        codes = np.frombuffer(bytes(itemgetter(*map(type, values))(_CODES)), np.uint8)
        members = 0
        for code in np.bincount(codes).nonzero()[0].tolist():
            kind = _KINDS[code]
            mine = codes == code
            at = mine.nonzero()[0]
            if kind is _NULL or (
                2 * len(at) > len(values) and self._add_most(kind, values, mine, rows)
            ):
                continue
            found = [values[n] for n in at.tolist()]
            members += self._add_kind(kind, found, select_rows(rows, at), depth, pending)
        return members

    def _add_most(self, kind: type, values: list[Any], mine: Flags, rows: Rows) -> bool:
        """Add scalars that are most of the values; the others become null, so no row moves."""
        name = KIND_OF.get(kind)
        if name is None:
            return False
        try:
            array = pa.array(values, ARROW[name], mask=~mine, memory_pool=POOL)
        except (OverflowError, pa.ArrowInvalid):
            return False
        self.add_scalars(name, array, rows)
        return True

    def _add_kind(
        self, kind: type, values: list[Any], rows: Rows, depth: int, pending: PendingValues
    ) -> int:
        if kind is dict or kind is list:
            if depth >= MAX_DEPTH:
                raise InexactParse
            add = self._add_objects if kind is dict else self._add_arrays
            return add(values, rows, depth + 1, pending)
        if len(values) <= SHORT:
            pending.short[KIND_OF[kind]].append((self, values, rows))
        else:
            self.add_column(KIND_OF[kind], values, rows)
        return 0

    def add_column(self, kind: str, values: list[Any], rows: Rows) -> None:
        """Add Python scalars of one kind, and null; integers beyond 64 bits are set apart."""
        try:
            self.add_scalars(kind, scalar_array(values, kind), rows)
        except (OverflowError, pa.ArrowInvalid):
            fits = np.fromiter((v is None or -(2**63) <= v < 2**63 for v in values), bool)
            at, beyond = np.flatnonzero(fits), np.flatnonzero(~fits)
            small, big = [values[i] for i in at], [str(values[i]) for i in beyond]
            self.add_scalars(INTEGER, scalar_array(small, INTEGER), select_rows(rows, at))
            self.add_scalars(BIG, scalar_array(big, BIG), select_rows(rows, beyond))

    def add_scalars(self, kind: str, array: pa.Array, rows: Rows) -> None:
        """Add scalars of one kind, and null; their rows are in `rows` already."""
        if len(array) > array.null_count:
            self.scalars.setdefault(kind, []).append((array, rows))

    def _add_arrays(
        self, arrays: list[list[Any]], rows: Rows, depth: int, pending: PendingValues
    ) -> int:
        if self.items is None:
            self.items = _child_table(self.layout and self.layout.each, self.limit)
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        values = list(chain.from_iterable(arrays))
        pending.below += self.items.add_rows(values, lengths, rows, depth)
        return 0

    def _add_objects(
        self, objects: list[dict[str, Any]], rows: Rows, depth: int, pending: PendingValues
    ) -> int:
        if self.numbers is None:
            self.numbers = {}
        batch = ObjectBatch(objects, self.numbers)
        if self.limit is not None and len(batch.keys) > MAX_FIELDS:
            self.limit.has_large_object |= max(map(len, objects)) > MAX_FIELDS
        if self._is_keyed(batch):
            if self.entries is None:
                self.entries = _child_table(self.layout and self.layout.entries, self.limit, [])
            pending.below += self.entries.add_rows(
                batch.values, batch.lengths, rows, depth, batch.keys
            )
        else:
            if self.record is None:
                self.record = ObjectFields(self.layout.fields if self.layout else {}, self.limit)
            pending.below += self.record.add_objects(batch, rows, depth)
        return len(batch.keys)

    def _is_keyed(self, batch: ObjectBatch) -> bool:
        """Whether objects are rows with a key: as declared, else as their keys look."""
        if self.layout is not None and self.layout.keyed is not None:
            return self.layout.keyed
        self.traits = self.traits or KeyTraits()
        self.traits.update(batch)
        keyed = self.traits.are_keyed()
        if self.was_keyed is (not keyed):
            raise SplitError
        self.was_keyed = keyed
        return keyed


def _child_table(
    layout: Layout | None, limit: NodeLimit | None, keys: list[pa.Array] | None = None
) -> ChildTable:
    if limit is not None:
        limit.add(1)
    return ChildTable(Node(layout, limit), keys=keys)


@dataclass
class ObjectFields:
    """The objects of a node that are read as fields: their rows, and a node per field.

    Attributes
    ----------
    others : ChildTable or None
        The entries whose keys are not declared, where there are more than `MAX_FIELDS` of them:
        one node holds them all.
    """

    layouts: Mapping[str, Layout] = field(default_factory=dict)
    limit: NodeLimit | None = None
    rows: list[Rows] = field(default_factory=list)
    fields: dict[str, Node] = field(default_factory=dict)
    others: ChildTable | None = None

    def add_objects(self, batch: ObjectBatch, rows: Rows, depth: int) -> Iterator[Pending]:
        """Add objects and all that is nested in them."""
        self.rows.append(rows)
        if self.others is not None or self._has_too_many(batch):
            batch, keys, values, lengths = batch.partition(self.layouts.keys() | self.fields.keys())
            if self.others is None:
                self.others = _child_table(None, self.limit, [])
            yield from self.others.add_rows(values, lengths, rows, depth, keys)
        before = len(self.fields)
        for key, values, there in batch.by_key(rows):
            node = self.fields.get(key)
            if node is None:
                node = self.fields[key] = Node(self.layouts.get(key), self.limit)
            yield node, values, there, depth
        if self.limit is not None and len(self.fields) > before:
            self.limit.add(len(self.fields) - before)

    def _has_too_many(self, batch: ObjectBatch) -> bool:
        if batch.distinct + len(self.fields) <= MAX_FIELDS:
            return False
        if batch.distinct - len(self.layouts) > MAX_FIELDS:
            return True
        return len((batch.counts.keys() | self.fields.keys()) - self.layouts.keys()) > MAX_FIELDS
