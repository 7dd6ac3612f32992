"""Read a long array chunk by chunk, by Arrow's own JSON reader where it provably loses nothing.

What the first chunk holds is learnt as an Arrow type. Arrow's reader then refuses a chunk with
any other field or kind of value, a key given twice, an integer beyond 64 bits or half a surrogate
pair. What it lets pass is checked in the bytes:

* It makes the same of null and of a field that is missing. Either all fields are there, as the
  number of keys in the bytes is, and each null is one; or those that are never null in the
  bytes are missing as often as Arrow has null, and keys are as many less.
* It makes floats of integers that are among floats. Of the floats that are whole, none was
  written as an integer or all were, as the bytes show.
* It takes numbers that are not finite, and text that is no Unicode.

A chunk that may be read inexactly is read through Python values, as the first one was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json

from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.decode import (
    Chunk,
    Members,
    Span,
    SplitBody,
    check_exact,
    has_overlong_number,
    is_plain_key,
)
from aatoolkit.jsontree.exactness import EXACT_FLOAT
from aatoolkit.jsontree.grouping import Rows, select_rows
from aatoolkit.jsontree.kinds import ARROW, BIG, INTEGER, NUMBER, POOL
from aatoolkit.jsontree.nodes import Node

_NAMES = {kind: name for name, kind in ARROW.items() if name != BIG}
_CHUNK = 1 << 20
_LARGER = 2
"""How many times as large chunks are that Arrow's reader is not tried on."""

_AHEAD = 2
MAX_FAILURES = 3
"""How many chunks more may be read in vain than were read well."""


class LossyRead(Exception):
    """Arrow's reader may have changed something."""


def read_array(child: ChildTable, parts: SplitBody) -> None:
    """Parse all elements of the long array of a document.

    Parameters
    ----------
    child : Child
        The array's table.
    parts : Parts
        The document.

    Raises
    ------
    InexactParse, SplitError
        As `~aatoolkit.jsontree.nodes.Place.grow`.
    """
    assert parts.first is not None
    with ThreadPoolExecutor(_AHEAD, "aatoolkit-shred") as readers:
        reader = _ChunkReader(child, parts, readers)
        reader.add_parsed(parts.first)
        for _ in parts.rest(reader.read):
            pass


class _ChunkReader:
    """Parses chunk by chunk, while the next ones are being read."""

    def __init__(self, child: ChildTable, parts: SplitBody, readers: ThreadPoolExecutor) -> None:
        self._child = child
        self._parts = parts
        self._readers = readers
        self._form: _ArrowForm | None = None
        self._ahead: dict[Span, Future[_ChunkColumns]] = {}
        self._failures_left = MAX_FAILURES

    def add_parsed(self, chunk: Chunk) -> None:
        """Add the elements of a parsed chunk; derive from them the schema for Arrow's reader."""
        check_exact(chunk.text, self._child.extend(chunk.values, self._parts.depth))
        self._form = _ArrowForm.of(self._child.node) if self._failures_left else None
        self._ahead.clear()
        self._parts.chunk_size = _CHUNK * (_LARGER if self._form is None else 1)

    def read(self, span: Span, then: Iterator[Span]) -> bool | None:
        """Read a span of the body; None if its text is not a sequence of elements."""
        if self._form is not None:
            try:
                columns = self._columns(span, then, self._form)
            except (LossyRead, pa.ArrowException):
                self._failures_left -= 1
            else:
                self._failures_left += 1
                elements = columns.elements
                columns.fill(self._child.node, elements, self._child.append_rows(len(elements)))
                return True
        chunk = self._parts.chunk(span)
        if chunk is None:
            return None
        self.add_parsed(chunk)
        return True

    def _columns(self, span: Span, then: Iterator[Span], form: _ArrowForm) -> _ChunkColumns:
        """Read a span in columns, while the next spans are being read in threads."""
        for one in chain([span], islice(then, _AHEAD)):
            if one not in self._ahead:
                try:
                    self._ahead[one] = self._readers.submit(form.read, self._parts, one)
                except RuntimeError:  # there is no thread to be had
                    break
        found = self._ahead.pop(span, None)
        return form.read(self._parts, span) if found is None else found.result()


@dataclass(frozen=True)
class _ArrowForm:
    """The schema that elements of an array share, for Arrow's reader.

    Parameters
    ----------
    schema : pyarrow.Schema
        The schema of a record with the array in its only field.
    """

    schema: pa.Schema

    @staticmethod
    def of(node: Node) -> _ArrowForm | None:
        """Derive the schema from all values of a node; None if they are of several kinds."""
        try:
            return _ArrowForm(pa.schema([("", pa.list_(_kind(node)))]))
        except LossyRead:
            return None

    def read(self, parts: SplitBody, span: Span) -> _ChunkColumns:
        """Parse the elements in a span of a body by Arrow's reader.

        Raises
        ------
        LossyRead, pyarrow.ArrowException
            If it holds anything else, or may be changed.
        """
        text = parts.text_of(span, b'{"":[', b"]}")
        table = json.read_json(
            pa.BufferReader(text),
            json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="error"),
            memory_pool=POOL,
        )
        if table.num_rows != 1 or has_overlong_number(text) or not _is_utf8(text):
            raise LossyRead
        return _ChunkColumns(text, table.column(0).chunk(0).flatten())


def _kind(node: Node) -> pa.DataType:
    """The Arrow type of the values of a node."""
    found = []
    if node.scalars:
        names = node.scalars.keys()
        found.append(pa.float64() if names == {INTEGER, NUMBER} else ARROW[next(iter(names))])
    if node.items is not None:
        found.append(pa.list_(_kind(node.items.node)))
    if node.record is not None:
        fields = node.record.fields
        found.append(pa.struct([(key, _kind(inner)) for key, inner in fields.items()]))
        plain = bool(fields) and node.record.others is None and all(map(is_plain_key, fields))
        if not (plain and node.is_settled):
            raise LossyRead
    several = len(node.scalars) > 1 and node.scalars.keys() != {INTEGER, NUMBER}
    if len(found) > 1 or several or BIG in node.scalars or node.entries is not None:
        raise LossyRead
    return found[0] if found else pa.null()


class _ChunkColumns:
    """The elements of a chunk in columns, verified to be exactly what the text holds.

    Raises
    ------
    LossyRead, pyarrow.ArrowException
        If that is not sure.
    """

    def __init__(self, text: bytes, elements: pa.Array) -> None:
        self.elements = elements
        self._keys = self._integers = self._whole = 0
        self._is_wide = False
        self._nulls: Counter[str] = Counter()
        self._count(elements, None)
        members = Members(text)
        self._missing = self._left_out(members)
        if self._whole:
            integers = members.integers()
            if integers == self._integers:
                self._whole = 0
            elif integers != self._integers + self._whole or self._is_wide:
                raise LossyRead

    def _left_out(self, members: Members) -> set[str]:
        """The keys that objects of the text lack where Arrow has null."""
        keys = members.count()
        if keys == self._keys:
            return set()
        missing = {key for key in self._nulls if not members.nulls(key)}
        if keys != self._keys - sum(self._nulls[key] for key in missing):
            raise LossyRead
        return missing

    def _count(self, array: pa.Array, field: str | None) -> None:
        """Count keys, nulls by key, integers and whole floats, to compare with the text."""
        kind = array.type
        if field is not None and array.null_count:
            self._nulls[field] += array.null_count
        if pa.types.is_struct(kind):
            self._keys += (len(array) - array.null_count) * kind.num_fields
            objects = array.drop_null() if array.null_count else array
            for inner, name in zip(objects.flatten(), kind.names, strict=True):
                self._count(inner, name)
        elif pa.types.is_list(kind):
            self._count(array.flatten(), None)
        elif pa.types.is_integer(kind):
            self._integers += (len(array) - array.null_count) * (field is not None)
        elif pa.types.is_floating(kind):
            numbers = array.drop_null().to_numpy()
            whole = numbers[numbers == np.floor(numbers)]
            self._whole += len(whole)
            self._is_wide |= bool((np.abs(whole) >= EXACT_FLOAT).any())
            if not np.isfinite(numbers).all() or (len(whole) and field is None):
                raise LossyRead

    def fill(self, node: Node, array: pa.Array, rows: Rows, key: str | None = None) -> None:
        """Add an array to a node of its form, and what is nested in it below."""
        if key in self._missing:
            array, rows = _valid(array, rows)
        node.rows.append(rows)
        kind = array.type
        if array.null_count == len(array):
            return
        if pa.types.is_struct(kind) and node.record is not None:
            objects, rows = _valid(array, rows)
            node.record.rows.append(rows)
            fields = node.record.fields.items()
            for (name, inner), values in zip(fields, objects.flatten(), strict=True):
                self.fill(inner, values, rows, name)
        elif pa.types.is_list(kind) and node.items is not None:
            arrays, rows = _valid(array, rows)
            below = node.items.open_rows(arrays.value_lengths().to_numpy(), rows)
            if below:
                self.fill(node.items.node, arrays.flatten(), below)
        elif pa.types.is_floating(kind) and self._whole:
            whole = pc.equal(array, pc.floor(array))
            node.add_scalars(INTEGER, pc.if_else(whole, array, None).cast(pa.int64()), rows)
            node.add_scalars(NUMBER, pc.if_else(whole, None, array), rows)
        else:
            node.add_scalars(_NAMES[kind], array, rows)


def _is_utf8(text: bytes) -> bool:
    """Whether a text is UTF-8 throughout."""
    if text.isascii():
        return True
    bounds = pa.py_buffer(np.array([0, len(text)], np.int32))
    whole = pa.Array.from_buffers(pa.binary(), 1, [None, bounds, pa.py_buffer(text)])
    try:
        whole.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def _valid(array: pa.Array, rows: Rows) -> tuple[pa.Array, Rows]:
    """An array without its nulls, and the rows that are left."""
    if not array.null_count:
        return array, rows
    return array.drop_null(), select_rows(rows, np.flatnonzero(array.is_valid()))
