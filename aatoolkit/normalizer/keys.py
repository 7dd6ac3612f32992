"""Count the distinct rows of some Arrow columns: whether a key is unique."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.coerce import Array
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.normalizer.rows import TableRows
from aatoolkit.sections.column import Column

Codes = np.ndarray[tuple[int], np.dtype[np.int64]]

_DENSE = 4
"""How many numbers a row are still counted one by one, and not sorted."""


class KeyCounter:
    """Counts the distinct keys of the tables of one answer.

    Its tables have keys in common: values of one place in the answer are numbered once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Cursor, str], tuple[Codes, int]] = {}

    def count(self, rows: TableRows, arrays: Mapping[str, Array]) -> int:
        """Count the distinct keys of a table, given its columns."""
        key = (column for column in rows.table.columns if column.name in rows.table.key)
        return _count(*_joined(self._codes(rows, column, arrays[column.name]) for column in key))

    def _codes(self, rows: TableRows, column: Column, array: Array) -> tuple[Codes, int]:
        found = rows.find(column.source or "")
        cursor, index = found[0]
        is_plain = column.dtype in ("string", "Int64") and column.null is None
        if len(found) > 1 or not is_plain or column.reading is not None:
            return _codes(array)
        if index is not None and (not len(index) or index.min() < 0):
            return _codes(array)
        known = self._known.get((cursor, column.dtype))
        if known is None:
            known = self._known[cursor, column.dtype] = _codes(cursor.to_arrow(column.dtype)[0])
        codes, many = known
        return (codes if index is None else codes[index]), many


def count_distinct(columns: Iterable[Array]) -> int:
    """Count the distinct rows of some columns."""
    return _count(*row_codes(columns))


def _count(codes: Codes, many: int) -> int:
    if many <= _DENSE * (len(codes) + 1):
        return int(np.count_nonzero(np.bincount(codes)))
    rising = np.sort(codes)
    return int(np.count_nonzero(rising[1:] != rising[:-1])) + (len(rising) > 0)


def row_codes(
    columns: Iterable[Array], codes: Codes | None = None, many: int = 1
) -> tuple[Codes, int]:
    """Number the rows, equal rows alike; return the numbers and a bound above them.

    ``codes`` are numbers below ``many`` that tell rows apart already.
    """
    return _joined(map(_codes, columns), codes, many)


def _joined(
    columns: Iterable[tuple[Codes, int]], codes: Codes | None = None, many: int = 1
) -> tuple[Codes, int]:
    for more, known in columns:
        codes = np.zeros(len(more), np.int64) if codes is None else codes
        if many * known > 2**62:
            _, codes = np.unique(codes, return_inverse=True)
            many = len(codes)
        codes, many = codes * known + more, many * known
    return np.zeros(0, np.int64) if codes is None else codes, many


def _codes(column: Array) -> tuple[Codes, int]:
    """Number the values of a column, null included; return the numbers and a bound above them."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
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
