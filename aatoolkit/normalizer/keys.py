"""Count the distinct rows of some Arrow columns: whether a key is unique."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_Codes = np.ndarray[tuple[int], np.dtype[np.int64]]

_DENSE = 4
"""How many numbers a row are still counted one by one, and not sorted."""


def count_distinct(columns: list[pa.ChunkedArray]) -> int:
    """How many different rows some columns have."""
    codes, many = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        more, known = _codes(column)
        if many * known > 2**62:
            _, codes = np.unique(codes, return_inverse=True)
            many = len(codes)
        codes, many = codes * known + more, many * known
    if many <= _DENSE * (len(codes) + 1):
        return int(np.count_nonzero(np.bincount(codes)))
    return len(np.unique(codes))


def _codes(column: pa.ChunkedArray) -> tuple[_Codes, int]:
    """One number for each value of a column, null included, and a bound to the numbers."""
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
