"""Provenance: where the cells of declared tables were in their answer.

A placement is the answer as `aatoolkit.jsontree.arrow_tables` lays it out, with all its arrays,
objects and nulls; but instead of each value that a column took there is the number of the row
that has it now. The values themselves are in the columns and in ``extra`` alone, and
`~aatoolkit.normalizer.reconstruct.rebuild` puts the three together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.assemble import assemble
from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.chunks import ColumnChunk, without_nulls
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.nodes import Node, ObjectFields
from aatoolkit.normalizer.field_map import FieldNode, field_map
from aatoolkit.normalizer.formats import value_formats
from aatoolkit.normalizer.reconstruct import CellSource
from aatoolkit.normalizer.rows import TableRows
from aatoolkit.sections.section import Column, Section

_Taken = tuple[Cursor, str, pa.Array, RowIndex]
"""A cursor, a column and the numbers of its rows that took values there, and from which rows.

Of values that the column holds in another way than they were written, such as a number for its
text, it is their kind and they themselves.
"""


def provenance(
    document: Cursor, section: Section, rows: Sequence[TableRows], built: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """Record where the values of an answer are, as tables like those of ``shred``.

    Parameters
    ----------
    document : Cursor
        The answer.
    section : Section
        Its declaration.
    rows : sequence of TableRows
        Where the rows of each table are.
    built : mapping of str to pyarrow.Table
        The tables that were made of them.
    """
    scalars: dict[Cursor, dict[str, list[ColumnChunk]]] = {}
    seen: dict[Cursor, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    for cursor, source, given, there in _taken(rows, built):
        done = seen.setdefault(cursor, np.zeros(cursor.level.size, np.bool_))
        fresh = ~done[there]
        if fresh.any():
            done[there] = True
            chunks = scalars.setdefault(cursor, {}).setdefault(source, [])
            chunks.append((given.filter(pa.array(fresh)), there[fresh]))
    return assemble(_without_extra(document, field_map(section), scalars))


def _taken(rows: Sequence[TableRows], built: Mapping[str, pa.Table]) -> Iterator[_Taken]:
    """Yield the values that columns read: first from the row itself, then from around it."""
    for around in (False, True):
        for one in rows:
            for column in one.table.columns:
                if (column.source or "")[0] in "^$" if around else _is_own(one, column):
                    yield from _of_column(one, column, built[one.table.name][column.name])


def _is_own(rows: TableRows, column: Column) -> bool:
    source = column.source or ""
    first_axis = len(rows.table.rows.labels) - len(rows.table.rows.axes)
    return source[0] not in "^$#@" or (source[0] == "@" and int(source[1:]) >= first_axis)


def _of_column(rows: TableRows, column: Column, cells: pa.ChunkedArray) -> Iterator[_Taken]:
    valid = np.asarray(cells.is_valid())
    for (cursor, index), here in zip(rows.find(column.source or ""), rows.numbers, strict=True):
        there = np.arange(cursor.level.size) if index is None else index
        fits = np.asarray(rows.read(column, cursor).array.is_valid())
        chosen = np.flatnonzero((there >= 0) & valid[here])
        chosen = chosen[fits[there[chosen]]]
        there, firsts = np.unique(there[chosen], return_index=True)
        here = here[chosen[firsts]]
        if column.reading is not None:
            yield from _as_written(cursor, there)
            continue
        for value_format, rows_of in value_formats(cursor.node, column.dtype, cursor.level.size):
            alike = slice(None) if rows_of is None else np.isin(there, rows_of)
            source = CellSource(rows.table.name, column.name, value_format).dumps()
            yield cursor, source, pa.array(here[alike], pa.int64()), there[alike]


def _as_written(cursor: Cursor, rows: RowIndex) -> Iterator[_Taken]:
    """Yield the values in some rows of a cursor as the answer has them, one kind at a time."""
    for kind, chunks in cursor.node.scalars.items() if cursor.node else ():
        for array, there in map(without_nulls, chunks):
            taken = np.isin(there, rows)
            yield cursor, kind, array.filter(pa.array(taken)), there[taken]


def _without_extra(
    cursor: Cursor, declared: FieldNode, scalars: Mapping[Cursor, dict[str, list[ColumnChunk]]]
) -> Node:
    """Copy a node without what is in ``extra``, with row numbers for values."""
    node, found = cursor.node, Node()
    if node is None:
        return found
    found.rows = node.rows
    found.scalars = dict(scalars.get(cursor, {}))
    if declared.mapped:
        return found
    if declared.each is not None and node.items is not None:
        found.items = _child(node.items, _without_extra(cursor.each(), declared.each, scalars))
    if declared.entries is not None and node.entries is not None:
        found.entries = _child(
            node.entries, _without_extra(cursor.entries(), declared.entries, scalars)
        )
    if declared.fields and node.record is not None:
        known = [name for name in node.record.fields if name in declared.fields]
        found.record = ObjectFields(
            rows=node.record.rows,
            fields={
                name: _without_extra(cursor.field(name), declared.fields[name], scalars)
                for name in known
            },
        )
    return found


def _child(child: ChildTable, node: Node) -> ChildTable:
    return ChildTable(node, child.lengths, child.parents, child.positions, child.keys, child.size)
