"""Pieces of a column: some of its values and the rows they are in, joined into one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.grouping import Places, Rows, numbers

Piece = tuple[pa.Array, Rows]
"""Some values of a column, and the rows they are in."""


def laid_out(pieces: list[Piece], kind: pa.DataType, size: int) -> pa.ChunkedArray | pa.Array:
    """Pieces as one column of so many rows; where there is none, null."""
    end = 0
    for _, rows in pieces:
        if not isinstance(rows, range) or rows.start != end:
            break
        end = rows.stop
    else:
        if end == size:
            return pa.chunked_array([array for array, _ in pieces], kind)
    scatter = _text if pa.types.is_string(kind) else _fixed
    return scatter(pieces, kind, size)


def _text(pieces: list[Piece], kind: pa.DataType, size: int) -> pa.Array:
    """Text in its rows, null in all others."""
    whole = pa.concat_arrays([array for array, _ in pieces])
    places = np.full(size, -1, np.int32)
    places[joined([rows for _, rows in pieces])] = np.arange(len(whole), dtype=np.int32)
    return whole.take(pa.array(places, mask=places < 0))


def _fixed(pieces: list[Piece], kind: pa.DataType, size: int) -> pa.Array:
    """Numbers or booleans in their rows, null in all others."""
    values, empty = np.zeros(size, kind.to_pandas_dtype()), np.ones(size, np.bool_)
    for array, rows in map(filled, pieces):
        values[rows] = array.to_numpy(zero_copy_only=False)
        empty[rows] = False
    return pa.array(values, kind, mask=empty)


def filled(piece: Piece) -> tuple[pa.Array, Places]:
    """A piece without its nulls."""
    array, rows = piece
    if not array.null_count:
        return array, numbers(rows)
    return array.drop_null(), numbers(rows)[array.is_valid().to_numpy(zero_copy_only=False)]


def count(rows: Sequence[Rows]) -> int:
    """How many rows there are."""
    return sum(map(len, rows))


def joined(rows: Sequence[Rows]) -> Places:
    """All rows as one array."""
    if len(rows) == 1:
        return numbers(rows[0])
    return np.concatenate([numbers(one) for one in rows]) if rows else np.empty(0, np.int64)
