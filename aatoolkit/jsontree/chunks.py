"""Chunks of a column: some of its values and the rows they are in, joined into one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.grouping import RowIndex, Rows, row_numbers, select_rows

SHORT = 1000
"""Columns of so many values and fewer are converted to Arrow together, and share buffers."""

ColumnChunk = tuple[pa.Array, Rows]
"""Some values of a column, and the rows they are in."""


def to_column(
    chunks: list[ColumnChunk], kind: pa.DataType, size: int
) -> pa.ChunkedArray | pa.Array:
    """Join chunks to one column of a given length, with null in all other rows."""
    end = 0
    for _, rows in chunks:
        if not isinstance(rows, range) or rows.start != end:
            break
        end = rows.stop
    else:
        if end == size and len(chunks) == 1:
            return chunks[0][0]
        if end == size:
            return pa.chunked_array([array for array, _ in chunks], kind)
    scatter = _text if pa.types.is_string(kind) else _fixed
    return scatter(chunks, kind, size)


def own_buffers(table: pa.Table) -> pa.Table:
    """Copy the short columns that are parts of larger buffers, all of which a pickle would hold.

    Examples
    --------
    >>> part = pa.table({"n": pa.array(range(9000)).slice(10, 2)})
    >>> part.get_total_buffer_size(), own_buffers(part).get_total_buffer_size()
    (72000, 16)
    """
    if table.num_rows > SHORT:
        return table
    columns = [
        pa.chunked_array([pa.concat_arrays(column.chunks)], column.type)
        if column.num_chunks and column.get_total_buffer_size() > 2 * column.nbytes
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _text(chunks: list[ColumnChunk], kind: pa.DataType, size: int) -> pa.Array:
    """Text in its rows, null in all others."""
    whole = pa.concat_arrays([array for array, _ in chunks])
    positions = np.full(size, -1, np.int32)
    positions[concat_rows([rows for _, rows in chunks])] = np.arange(len(whole), dtype=np.int32)
    return whole.take(pa.array(positions, mask=positions < 0))


def _fixed(chunks: list[ColumnChunk], kind: pa.DataType, size: int) -> pa.Array:
    """Numbers or booleans in their rows, null in all others."""
    values, empty = np.zeros(size, kind.to_pandas_dtype()), np.ones(size, np.bool_)
    for array, rows in map(without_nulls, chunks):
        fill_rows(values, rows, array.to_numpy(zero_copy_only=False))
        fill_rows(empty, rows, False)
    return pa.array(values, kind, mask=empty)


def fill_rows(column: np.ndarray[Any, Any], rows: Rows, values: Any) -> None:
    """Set the values of some rows."""
    if isinstance(rows, range):
        column[rows.start : rows.stop] = values
    else:
        column[rows] = values


def without_nulls(chunk: ColumnChunk) -> tuple[pa.Array, RowIndex]:
    """Drop the nulls of a chunk."""
    array = chunk[0]
    rows = row_numbers(valid_rows(chunk))
    return array.drop_null() if array.null_count else array, rows


def valid_rows(chunk: ColumnChunk) -> Rows:
    """Return the rows of a chunk that are not null."""
    array, rows = chunk
    bits = array.buffers()[0]
    if bits is None or not array.null_count:
        return rows
    count = array.offset + len(array)
    valid = np.unpackbits(np.frombuffer(bits, np.uint8), count=count, bitorder="little")
    return select_rows(rows, valid[array.offset :].nonzero()[0])


def row_count(rows: Sequence[Rows]) -> int:
    """Count the rows in several arrays."""
    return sum(map(len, rows))


def concat_rows(rows: Sequence[Rows]) -> RowIndex:
    """Concatenate arrays of row numbers."""
    if len(rows) == 1:
        return row_numbers(rows[0])
    return np.concatenate([row_numbers(one) for one in rows]) if rows else np.empty(0, np.int64)
