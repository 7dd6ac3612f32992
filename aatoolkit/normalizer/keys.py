"""Count the distinct rows of some Arrow columns: whether a key is unique."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

Codes = np.ndarray[tuple[int], np.dtype[np.int64]]

_DENSE = 4
"""How many numbers a row are still counted one by one, and not sorted."""


def count_distinct(columns: list[pa.ChunkedArray]) -> int:
    """Count the distinct rows of some columns."""
    codes, many = row_codes(columns)
    if many <= _DENSE * (len(codes) + 1):
        return int(np.count_nonzero(np.bincount(codes)))
    return len(np.unique(codes))


def row_codes(
    columns: Iterable[pa.ChunkedArray], codes: Codes | None = None, many: int = 1
) -> tuple[Codes, int]:
    """Number the rows, equal rows alike; return the numbers and a bound above them.

    ``codes`` are numbers below ``many`` that tell rows apart already.
    """
    for column in columns:
        more, known = _codes(column)
        codes = np.zeros(len(more), np.int64) if codes is None else codes
        if many * known > 2**62:
            _, codes = np.unique(codes, return_inverse=True)
            many = len(codes)
        codes, many = codes * known + more, many * known
    return np.zeros(0, np.int64) if codes is None else codes, many


def _codes(column: pa.ChunkedArray) -> tuple[Codes, int]:
    """Number the values of a column, null included; return the numbers and a bound above them."""
    whole = column.combine_chunks()
    if pa.types.is_integer(whole.type) and len(whole) and not whole.null_count:
        numbers = whole.to_numpy()
        least, most = int(numbers.min()), int(numbers.max())
        if most - least < _DENSE * len(numbers):
            return numbers - least, most - least + 1
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode(null_encoding="encode")
    known = len(whole.dictionary) + 1
    indices = whole.indices.fill_null(known - 1) if whole.indices.null_count else whole.indices
    return indices.to_numpy(), known
