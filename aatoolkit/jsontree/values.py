"""The JSON values of a node: all of them, or those of some rows."""

from __future__ import annotations

from itertools import repeat
from typing import Any, Final

import numpy as np

from aatoolkit.jsontree.child_table import ChildTable
from aatoolkit.jsontree.chunks import concat_rows, without_nulls
from aatoolkit.jsontree.grouping import RowIndex, Rows
from aatoolkit.jsontree.kinds import BIG
from aatoolkit.jsontree.nodes import Node


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""Stands where there is nothing, not even null."""


def values(node: Node, rows: RowIndex) -> list[Any]:
    """The JSON values in some rows, in rising order; `MISSING` where there is none."""
    found = np.full(len(rows), MISSING, object)
    found[_match_rows(node.rows, rows)[0]] = None
    for kind, chunks in node.scalars.items():
        for array, there in map(without_nulls, chunks):
            at, taken = _match_rows([there], rows)
            held = (array if len(taken) == len(array) else array.take(taken)).to_pylist()
            found[at] = _objects(list(map(int, held)) if kind == BIG else held)
    if node.record is not None:
        at, _ = _match_rows(node.record.rows, rows)
        fields = [(key, values(one, rows[at])) for key, one in node.record.fields.items()]
        objects = _records(fields, len(at))
        if node.record.others is not None:
            starts = [there for _, there in node.record.others.lengths]
            more = _below(node.record.others, _match_rows(starts, rows[at])[1])
            objects = [one | other for one, other in zip(objects, more, strict=True)]
        found[at] = _objects(objects)
    for child in (node.items, node.entries):
        if child is not None:
            at, taken = _match_rows([one for _, one in child.lengths], rows)
            found[at] = _objects(_below(child, taken))
    return found.tolist()


def first_leaf(node: Node, row: int) -> Any:
    """The first value below one row that is a scalar or an empty container."""
    for child, empty in ((node.items, []), (node.entries, {})):
        taken = None if child is None else _find_row([rows for _, rows in child.lengths], row)
        if child is not None and taken is not None:
            lengths = np.concatenate([array.to_numpy() for array, _ in child.lengths])
            start = int(lengths[:taken].sum(dtype=np.int64))
            return first_leaf(child.node, start) if lengths[taken] else empty
    if node.record is not None and _find_row(node.record.rows, row) is not None:
        for field in node.record.fields.values():
            if _find_row(field.rows, row) is not None:
                return first_leaf(field, row)
        return {}
    for kind, chunks in node.scalars.items():
        for array, rows in chunks:
            at = _find_row([rows], row)
            if at is not None and array[at].is_valid:
                return int(array[at].as_py()) if kind == BIG else array[at].as_py()
    return None


def _find_row(chunks: list[Rows], row: int) -> int | None:
    """Find the position of one row among those of chunks; None if it is in none."""
    start = 0
    for rows in chunks:
        if isinstance(rows, range):
            if row in rows:
                return start + row - rows.start
        elif len(at := np.flatnonzero(rows == row)):
            return start + int(at[0])
        start += len(rows)
    return None


def _match_rows(chunks: list[Rows], rows: RowIndex) -> tuple[RowIndex, RowIndex]:
    """Intersect row numbers with those of chunks; return the positions in both."""
    there = concat_rows(chunks)
    if len(there) == len(rows) and (there == rows).all():
        same = np.arange(len(rows))
        return same, same
    order = None if (there[1:] > there[:-1]).all() else np.argsort(there, kind="stable")
    rising = there if order is None else there[order]
    nodes = np.searchsorted(rising, rows)
    nodes[nodes == len(there)] = 0
    at = np.flatnonzero(rising[nodes] == rows) if len(there) else np.empty(0, np.int64)
    return at, nodes[at] if order is None else order[nodes[at]]


def _records(fields: list[tuple[str, list[Any]]], size: int) -> list[dict[str, Any]]:
    if not fields:
        return [{} for _ in range(size)]
    pairs = map(zip, repeat([key for key, _ in fields]), zip(*(v for _, v in fields), strict=True))
    return [{key: value for key, value in row if value is not MISSING} for row in pairs]


def _below(child: ChildTable, taken: RowIndex) -> list[Any]:
    """The arrays, or objects, of some of the rows that have one."""
    lengths = np.concatenate([array.to_numpy() for array, _ in child.lengths]).astype(np.int64)
    starts = (np.cumsum(lengths) - lengths)[taken]
    lengths = lengths[taken]
    ends = np.cumsum(lengths)
    rows = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
    held = values(child.node, rows)
    bounds = list(zip((ends - lengths).tolist(), ends.tolist(), strict=True))
    if child.keys is None:
        return [held[start:end] for start, end in bounds]
    everything = [key for array in child.keys for key in array.to_pylist()]
    keys = [everything[row] for row in rows.tolist()]
    return [dict(zip(keys[a:b], held[a:b], strict=True)) for a, b in bounds]


def _objects(values: list[Any]) -> Any:
    return np.fromiter(values, object, len(values))
