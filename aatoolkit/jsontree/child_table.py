"""Tables below a node: the elements of its arrays, or the entries of its objects, as rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.chunks import ColumnChunk
from aatoolkit.jsontree.grouping import RowIndex, Rows, row_numbers
from aatoolkit.jsontree.kinds import STRING, scalar_array

if TYPE_CHECKING:
    from aatoolkit.jsontree.nodes import Node

Pending = tuple["Node", list[Any], Rows, int]
"""Values still to be added: the node, the values, their rows, and how deep they are nested."""

Positions = np.ndarray[tuple[int], np.dtype[np.int32]]


@dataclass
class ChildTable:
    """A table below a node: one row for each element of its arrays, or entry of its objects.

    Attributes
    ----------
    node : Node
        The elements.
    lengths : list of chunks
        How many rows each row of the parent has.
    parents, positions : lists of numpy arrays
        For each row, the parent's row; its position in the array.
    keys : list of Arrow arrays or None
        For each row, its key in the object; None for elements of arrays.
    size : int
        The number of rows.
    """

    node: Node
    lengths: list[ColumnChunk] = field(default_factory=list)
    parents: list[RowIndex] = field(default_factory=list)
    positions: list[Positions] = field(default_factory=list)
    keys: list[pa.Array] | None = None
    size: int = 0

    def add_rows(
        self,
        values: list[Any],
        lengths: RowIndex,
        rows: Rows,
        depth: int,
        keys: list[str] | None = None,
    ) -> list[Pending]:
        """Add elements or entries, given how many each row of the parent has."""
        below = self.open_rows(lengths, rows)
        if self.keys is not None:
            self.keys.append(scalar_array(keys, STRING))
        return [(self.node, values, below, depth)] if values else []

    def open_rows(self, lengths: RowIndex, rows: Rows) -> range:
        """Number new rows, given how many each row of the parent has."""
        ends = lengths.cumsum()
        more = int(ends[-1]) if len(ends) else 0
        self.lengths.append((pa.array(lengths.astype(np.int32)), rows))
        self.parents.append(row_numbers(rows).repeat(lengths))
        starts = (ends - lengths).astype(np.int32).repeat(lengths)
        self.positions.append(np.arange(more, dtype=np.int32) - starts)
        return self._number(more)

    def extend(self, values: list[Any], depth: int) -> int:
        """Add more elements to the only array there is; return how many keys they have."""
        return self.node.add_values(values, self.append_rows(len(values)), depth)

    def append_rows(self, more: int) -> range:
        """Number new rows: more elements of the only array there is."""
        ((_, rows),) = self.lengths
        self.parents.append(np.zeros(more, np.int64))
        self.positions.append(np.arange(self.size, self.size + more, dtype=np.int32))
        self.lengths = [(pa.array([self.size + more], pa.int32()), rows)]
        return self._number(more)

    def _number(self, more: int) -> range:
        self.size += more
        return range(self.size - more, self.size)


class PendingValues:
    """Values that are still to be added to nodes.

    Attributes
    ----------
    below : list of Pending
        What is nested in the values added so far.
    short : dict of str to list
        Short columns of scalars, by kind: the node, the values, their rows.
    """

    def __init__(self, below: list[Pending]) -> None:
        self.below = below
        self.short: dict[str, list[tuple[Node, list[Any], Rows]]] = defaultdict(list)

    def add_short_columns(self) -> None:
        """Add the short columns: all of one kind are converted together, and share buffers.

        To call Arrow takes as long as to convert a hundred values.
        """
        for kind, columns in self.short.items():
            try:
                shared = scalar_array([*chain.from_iterable(one for _, one, _ in columns)], kind)
            except (OverflowError, pa.ArrowInvalid):
                for node, values, rows in columns:
                    node.add_column(kind, values, rows)
                continue
            start = 0
            for node, values, rows in columns:
                node.add_scalars(kind, shared.slice(start, len(values)), rows)
                start += len(values)
