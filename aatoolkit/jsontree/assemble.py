"""Assemble Arrow tables from nodes: columns, their names, and the plan for `unshred`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree import names
from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.chunks import (
    ColumnChunk,
    fill_rows,
    row_count,
    to_column,
    valid_rows,
    without_nulls,
)
from aatoolkit.jsontree.exactness import EXACT_FLOAT
from aatoolkit.jsontree.grouping import Rows
from aatoolkit.jsontree.kinds import ARROW, BIG, INTEGER, NUMBER
from aatoolkit.jsontree.nodes import Node

PLAN = b"aatoolkit.shred"
"""The key of the plan in a table's schema metadata."""

VERSION = 1
KINDS = ["missing", "null", "object", "array", "entries", *sorted(ARROW)]
"""The values of a kind column; row numbers instead of values also name their table."""

_WORDS = pa.array(KINDS)
_CODES = {kind: code for code, kind in enumerate(KINDS)}


def assemble(document: Node) -> dict[str, pa.Table]:
    """Build the tables of a document, the document's own first."""
    return dict(_tables(document))


def _tables(document: Node) -> Iterator[tuple[str, pa.Table]]:
    pending = [(names.DOCUMENT, ChildTable(node=document, size=1))]
    while pending:
        name, child = pending.pop()
        builder = _Builder(name, child)
        yield names.short(name), builder.table()
        pending += reversed(builder.below)


class _Builder:
    """Builds one table."""

    def __init__(self, name: str, child: ChildTable) -> None:
        self.name = name
        self.child = child
        self.columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        self.below: list[tuple[str, ChildTable]] = []

    def table(self) -> pa.Table:
        if self.child.parents:
            self.columns[names.PARENT] = pa.chunked_array([*map(pa.array, self.child.parents)])
            self.columns[names.PLACE] = pa.chunked_array([*map(pa.array, self.child.positions)])
        if self.child.keys:
            self.columns[names.KEY] = pa.chunked_array(self.child.keys)
        plan = {
            "version": VERSION,
            "table": self.name,
            "rows": self.child.size,
            "cell": self._cell(self.child.node, "", [range(self.child.size)]),
        }
        text = json.dumps(plan, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return pa.table(self.columns).replace_schema_metadata({PLAN: text.encode()})

    def _cell(self, node: Node, label: str, enclosing: list[Rows]) -> dict[str, Any]:
        """Add a node's columns to the table; return the plan: which column holds which kind."""
        label_or_value = label or names.VALUE
        cell: dict[str, Any] = {}
        rest = self._rest(node, enclosing)
        if len(rest) > 1:
            cell["kind"] = label_or_value + names.KIND
            self.columns[cell["kind"]] = self._kinds(node, enclosing)
        elif rest:
            cell["rest"] = rest[0]
        scalars = self._scalars(node, cell)
        for kind, chunks in scalars.items():
            column = label_or_value if len(scalars) == 1 else f"{label_or_value}@{kind}"
            cell.setdefault("scalars", {})[kind] = column
            self.columns[column] = to_column(chunks, _arrow(kind), self.child.size)
        if rest == ["null"] and not (scalars or node.items or node.entries):
            self.columns[label_or_value] = pa.nulls(self.child.size)
        for sign, child in ((names.ITEMS, node.items), (names.ENTRIES, node.entries)):
            if child is not None:
                cell[sign] = self._child(child, label, sign)
        if node.record is not None:
            assert node.record.others is None, "tables are made of documents without a layout"
            cell["fields"] = {
                key: self._cell(inner, names.field(label, key), node.record.rows)
                for key, inner in sorted(node.record.fields.items())
            }
        return cell

    def _rest(self, node: Node, enclosing: list[Rows]) -> list[str]:
        """The kinds, such as null or missing, of rows for which the node has no column value."""
        there = row_count(node.rows)
        objects = row_count(node.record.rows) if node.record else 0
        counts = {
            "missing": row_count(enclosing) - there,
            "null": node.null_count,
            "object": objects,
        }
        return [kind for kind, count in counts.items() if count]

    def _scalars(self, node: Node, cell: dict[str, Any]) -> dict[str, list[ColumnChunk]]:
        """The scalars by kind; integers are cast to floats where both stay distinguishable."""
        found = dict(sorted(node.scalars.items()))
        if INTEGER in found and NUMBER in found and BIG not in found and _one_column(found):
            chunks = map(without_nulls, found.pop(INTEGER) + found[NUMBER])
            found[NUMBER] = [(array.cast(ARROW[NUMBER]), rows) for array, rows in chunks]
            cell["whole"] = INTEGER
        return found

    def _child(self, child: ChildTable, label: str, sign: str) -> dict[str, str]:
        column = (label or names.VALUE) + sign
        self.columns[column] = to_column(child.lengths, pa.int32(), self.child.size)
        name = names.table(self.name, label, sign)
        self.below.append((name, child))
        return {"column": column, "table": name}

    def _kinds(self, node: Node, enclosing: list[Rows]) -> pa.DictionaryArray:
        """The kind of value in each row."""
        tables = sorted(node.scalars.keys() - ARROW.keys())
        words = pa.array([*KINDS, *tables]) if tables else _WORDS
        number = _CODES | {kind: len(KINDS) + n for n, kind in enumerate(tables)}
        codes = np.full(self.child.size, -1, np.int16)
        for kind, rows in self._rows_of_kinds(node, enclosing):
            fill_rows(codes, rows, number[kind])
        outside = row_count(enclosing) < self.child.size
        numbers = pa.array(codes, mask=codes < 0) if outside else pa.array(codes)
        return pa.DictionaryArray.from_arrays(numbers, words, safe=False)

    def _rows_of_kinds(self, node: Node, enclosing: list[Rows]) -> Iterator[tuple[str, Rows]]:
        """Yield rows and what they hold; what comes later holds for rows that come twice."""
        yield from zip(repeat("missing"), enclosing, strict=False)
        yield from zip(repeat("null"), node.rows, strict=False)
        for kind, chunks in node.scalars.items():
            yield from zip(repeat(kind), map(valid_rows, chunks), strict=False)
        if node.record is not None:
            yield from zip(repeat("object"), node.record.rows, strict=False)
        for kind, child in (("array", node.items), ("entries", node.entries)):
            for _, rows in child.lengths if child is not None else ():
                yield kind, rows


def _arrow(kind: str) -> pa.DataType:
    return ARROW.get(kind, pa.int64())


def _one_column(scalars: dict[str, list[ColumnChunk]]) -> bool:
    """Whether integers can be stored among floats exactly and remain distinguishable."""
    for array, _ in scalars[INTEGER]:
        ends = pc.min_max(array).as_py()
        if ends["min"] < -EXACT_FLOAT or ends["max"] > EXACT_FLOAT:
            return False
    floats = (array.drop_null().to_numpy() for array, _ in scalars[NUMBER])
    return not any((array == np.floor(array)).any() for array in floats)
