"""Fingerprints: cell hashes that detect whether a column was changed since it was read.

pandas keeps ``attrs`` through steps after which they no longer hold: sums by group, a column
that is assigned anew, two names that are swapped. So the metadata comes with hashes of cells.
In memory those are all cells, four bytes each, computed when they are first needed. The text of
the metadata holds a sample of at most `SAMPLE_SIZE` rows, which is what frames that went through
a pickle are checked by: every row of a small frame, the first ones and an even choice of a larger
one. `FingerprintCheck` in `aatoolkit.metadata.fingerprint_check` compares a frame with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from aatoolkit.metadata.cell_hash import arrow_array, hash_cells

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.metadata.cell_hash import Array, Hashes

    CellHashes = Sequence[int] | npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
    Places = npt.NDArray[np.intp]

SAMPLE_SIZE = 32
"""The most rows that are sampled: every day of a month."""

_ROW, _CELL = 0xFFFF_FFFF_0000, 0xFFFF
"""The bits of a hash that a sample keeps of rows, and those of cells."""

_WHOLE_ROW, _WHOLE_CELL = 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF
"""The same where every row is hashed: of a million rows, no two are to share a hash."""

OVERWRITTEN = "overwritten"
MOVED = "its rows are not those that were read; df.aa.aggregate, merge and concat keep its state"


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of some rows of a frame.

    Parameters
    ----------
    rows : int
        The rows that the frame had.
    index : tuple of str or None
        The names of its index.
    span : tuple of int or None
        The smallest and the largest label, where labels were plain numbers.
    labels : tuple of int
        The hashes of the sampled rows' labels.
    keys : tuple of int
        The hashes of their keys; none where there is no key, or one that repeats.
    cells : mapping of str to tuple of int
        By column, how many values were missing, and the hash of each sampled cell.
    beside : tuple of str
        The columns that count as part of the labels, where labels repeat.
    bits : int
        The bits of a cell's hash that are kept.
    row_bits : int
        The bits of a row's hash that are kept.
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: Sequence[int] | Hashes = ()
    keys: Sequence[int] | Hashes = ()
    cells: Mapping[str, tuple[int, CellHashes]] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    bits: int = _CELL
    row_bits: int = _ROW

    @cached_property
    def whole(self) -> bool:
        """Whether every row is in the sample."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())

    def sampled(self) -> Fingerprint:
        """The fingerprint of some of the rows, of one of all rows."""
        import numpy as np

        at = np.array(_chosen(self.rows, SAMPLE_SIZE), np.intp)
        rows, cells = np.uint64(_ROW), np.uint32(_CELL)
        return replace(
            self,
            labels=np.asarray(self.labels)[at] & rows,
            keys=np.asarray(self.keys)[at] & rows if len(self.keys) else (),
            cells={
                name: (missing, np.asarray(hashes)[at] & cells)
                for name, (missing, hashes) in self.cells.items()
            },
            bits=_CELL,
            row_bits=_ROW,
        )

    def rows_of(self, names: Iterable[str]) -> list[Hashes]:
        """The hashes of all rows' cells in some columns, a column each."""
        import numpy as np

        return [np.asarray(self.cells[name][1], dtype=np.uint64) for name in names]

    @cached_property
    def by_label(self) -> HashedRows:
        """The rows by the hashes of their labels."""
        return HashedRows(self.labels)

    @cached_property
    def by_key(self) -> HashedRows:
        """The rows by the hashes of their keys."""
        return HashedRows(self.keys)


class HashedRows:
    """The hashes of rows that were read, to find rows of a frame among them."""

    def __init__(self, hashes: Sequence[int] | Hashes) -> None:
        import numpy as np

        self.hashes: Hashes = np.asarray(hashes, dtype=np.uint64)

    @cached_property
    def _order(self) -> npt.NDArray[np.uint32]:
        import numpy as np

        return np.argsort(self.hashes, kind="stable").astype(np.uint32)

    @cached_property
    def distinct(self) -> bool:
        """Whether no two rows have the same hash."""
        import numpy as np

        rising = np.sort(self.hashes)
        return bool((rising[1:] != rising[:-1]).all())

    def places(self, hashes: Hashes, near: Places | None = None) -> Places:
        """For each hash, the number of a row that has it; -1 where there is none."""
        import numpy as np

        if np.array_equal(hashes, self.hashes) and self.distinct:
            return np.arange(len(hashes))
        if near is not None and np.array_equal(self.hashes[near], hashes) and self.distinct:
            return near
        if not len(self.hashes):
            return np.full(len(hashes), -1)
        rising = self.hashes[self._order]
        at = np.minimum(np.searchsorted(rising, hashes), len(rising) - 1)
        return np.where(rising[at] == hashes, self._order[at].astype(np.intp), -1)


def fingerprint_of(
    rows: pd.DataFrame | pa.Table,
    names: Iterable[str],
    key: tuple[str, ...],
    *,
    sample: bool = False,
) -> Fingerprint:
    """Hash the rows of a frame, or of the Arrow table it was made of.

    Parameters
    ----------
    rows : pandas.DataFrame or pyarrow.Table
        The rows; those of a table are labelled by their numbers.
    names : iterable of str
        The columns, or levels of the index, to hash.
    key : tuple of str
        The columns that identify a row.
    sample : bool
        Whether to hash some rows, in short, and not all.
    """
    import numpy as np
    import pandas as pd

    index = rows.index if isinstance(rows, pd.DataFrame) else pd.RangeIndex(len(rows))
    arrays = arrays_of(rows)
    names = [name for name in names if name in arrays]
    taken = {name: arrays[name] for name in (*names, *key) if name in arrays}
    labels = index
    if sample:
        at = np.array(_chosen(len(rows), SAMPLE_SIZE), np.intp)
        taken, labels = {name: array.take(at) for name, array in taken.items()}, index[at]
    hashed = {name: hash_cells(array) for name, array in taken.items()}
    bits, row_bits = (_CELL, _ROW) if sample else (_WHOLE_CELL, _WHOLE_ROW)
    beside = [] if sample or index.is_unique else _texts(arrays, names)
    of_labels = [hash_cells(level) for level in index_levels(labels)]
    keys: Sequence[int] | Hashes = ()
    if key and {*key} <= {*hashed}:
        keys = row_hashes([hashed[name] for name in key], row_bits)
    return Fingerprint(
        len(rows),
        index_names(index),
        label_span(index),
        row_hashes([*of_labels, *(hashed[name] for name in beside)], row_bits),
        keys if HashedRows(keys).distinct else (),
        {
            name: (int(arrays[name].isna().sum()), (hashed[name] & np.uint64(bits)).astype("u4"))
            for name in names
        },
        tuple(beside),
        bits,
        row_bits,
    )


@lru_cache(maxsize=1024)
def row_numbers(rows: int) -> Hashes:
    """The hashes of sampled labels where these are the numbers of rows, as in a new frame."""
    import numpy as np
    import pandas as pd

    numbers = pd.array(np.array(_chosen(rows, SAMPLE_SIZE), dtype=np.int64))
    return row_hashes([hash_cells(numbers)])


def _texts(arrays: Mapping[str, Array], names: Iterable[str]) -> list[str]:
    """The columns that are not numeric."""
    return [name for name in names if arrays[name].dtype.kind not in "biuf"]


def arrays_of(rows: pd.DataFrame | pa.Table) -> dict[str, Array]:
    """The values of every column and index level whose name is unique."""
    import pandas as pd

    if not isinstance(rows, pd.DataFrame):
        return dict(zip(rows.column_names, map(arrow_array, rows.columns), strict=True))
    names = [str(name) for name in rows.columns]
    twice = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): rows.index.get_level_values(level).array
        for level, name in enumerate(rows.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, rows.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in twice}


def _chosen(rows: int, limit: int) -> list[int]:
    """The positions of the rows to sample: all, or the first ones and evenly spaced others."""
    if rows <= limit:
        return [*range(rows)]
    first = limit // 2
    rest = limit - first
    return [*range(first), *(first + (rows - 1 - first) * n // (rest - 1) for n in range(rest))]


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """The names of the levels of an index."""
    return tuple(None if name is None else str(name) for name in index.names)


def index_levels(index: pd.Index) -> list[Array]:
    """The values of each level of an index."""
    return [index.get_level_values(level).array for level in range(index.nlevels)]


def label_span(index: pd.Index) -> tuple[int, int] | None:
    """The smallest and the largest label, if labels are plain numbers, as in a new frame."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def row_hashes(parts: list[Hashes], bits: int = _ROW) -> Hashes:
    """Combine hashes of columns to one per row; low bits stay free for a cell's in a sample."""
    import numpy as np

    total = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        total = total * np.uint64(1_000_003) + part
    return total & np.uint64(bits)


def has_more(rows: list[Hashes], read: Iterable[list[Hashes]]) -> bool:
    """Whether some rows hold one row more often than any of several others does.

    Parameters
    ----------
    rows : list of array
        By column the hashes of the rows' cells.
    read : iterable of list of array
        The same columns of the others.
    """
    import numpy as np
    import pandas as pd

    def counts(columns: list[Hashes]) -> pd.Series:
        hashes = row_hashes([column & np.uint64(_WHOLE_CELL) for column in columns], _WHOLE_ROW)
        return pd.Index(hashes).value_counts()

    now, most = counts(rows), pd.concat([*map(counts, read)]).groupby(level=0).max()
    return bool((now > most.reindex(now.index, fill_value=0)).any())


def is_over(rows: list[Hashes], known: Fingerprint, names: Sequence[str]) -> bool:
    """Whether rows hold one that was read more often than different rows of what is left of it.

    Parameters
    ----------
    rows : list of array
        By column the hashes of the rows' cells.
    known : Fingerprint
        The rows that were read.
    names : sequence of str
        The columns of these hashes.
    """
    import numpy as np
    import pandas as pd

    def hashed(columns: list[Hashes]) -> Hashes:
        return row_hashes([column & np.uint64(known.bits) for column in columns], _WHOLE_ROW)

    _, different = np.unique(hashed(known.rows_of(known.cells)), return_index=True)
    read = pd.Index(hashed([column[different] for column in known.rows_of(names)])).value_counts()
    now = pd.Index(hashed(rows)).value_counts().reindex(read.index, fill_value=0)
    return bool((now > read).any())


def mixed(rows: Hashes, cells: Hashes) -> Hashes:
    """Combine the hashes of rows with those of their cells."""
    import numpy as np

    return (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E37_79B9_7F4A_7C15) + cells
