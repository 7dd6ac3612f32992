"""Map the rows of several documents to the documents, and find what each document lacks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aatoolkit.jsontree.chunks import concat_rows, row_count
from aatoolkit.jsontree.cursor import Cursor, RowLevel
from aatoolkit.jsontree.grouping import RowIndex, Rows

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class DocumentRows:
    """Documents that are rows of one node, and the rows of the levels below them.

    Parameters
    ----------
    root : Cursor
        The documents.
    """

    def __init__(self, root: Cursor) -> None:
        self.count = root.level.size
        self._rows: dict[RowLevel, RowIndex] = {root.level: np.arange(self.count)}
        self._absent: dict[Cursor, Mask] = {}

    def none(self) -> Mask:
        """A mask of no document."""
        return np.zeros(self.count, np.bool_)

    def rows_of(self, level: RowLevel) -> RowIndex:
        """For each row of a level, the number of its document."""
        found = self._rows.get(level)
        if found is None:
            above = level.above
            assert above is not None
            found = self._rows[level] = self.rows_of(above.level)[level.parents]
        return found

    def having(self, level: RowLevel, rows: Iterable[Rows]) -> Mask:
        """Mask of the documents that some rows of a level are of."""
        found, rows = self.none(), list(rows)
        if rows:
            found[self.rows_of(level)[concat_rows(rows)]] = True
        return found

    def lacking(self, cursor: Cursor) -> Mask:
        """Mask of the documents with objects that could hold a field, and none that does."""
        found = self._absent.get(cursor)
        if found is None:
            found = self._absent[cursor] = self._lacking(cursor)
        return found

    def _lacking(self, cursor: Cursor) -> Mask:
        around = cursor.object
        if around is None:
            return self.none()
        record = around.node.record if around.node is not None else None
        above = self.lacking(around)
        if record is None or not record.rows:
            return above
        rows = [] if cursor.node is None else cursor.node.rows
        if row_count(rows) == row_count(record.rows) and not above.any():
            return above
        lacking = ~self.having(cursor.level, rows)
        return np.where(self.having(cursor.level, record.rows), lacking, above)

    def null_alone(self, cursor: Cursor) -> Mask:
        """Mask of the documents that have null at a path, and nothing else."""
        node = cursor.node
        if node is None or not node.null_count:
            return self.none()
        there = concat_rows(node.rows)
        given = np.setdiff1d(there, node.nulls)
        found = self.having(cursor.level, [there])
        return found & ~self.having(cursor.level, [given])
