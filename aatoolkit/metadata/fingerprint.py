"""Fingerprints: sampled cell hashes that detect whether a column was changed since it was read.

pandas keeps ``attrs`` through steps after which they no longer hold: sums by group, a column
that is assigned anew, two names that are swapped. So the metadata holds hashes of the cells of
some rows, at most `SAMPLE_SIZE`: every row of a small table, the first ones and an even choice
of a larger one. A row is matched by its label, or by its key once labels were made anew. A
column is accepted if the matched rows hold what they held, and if no row is a new one.
Selecting, sorting, repeating and dropping rows, dropping columns, moving the key into the index
and converting to a dtype of the same values all leave it accepted.

What a fingerprint cannot detect: a change of rows outside the sample, and numbers alone that
equal by chance, one by one, as many that were read. Rows without their key might be sums;
`FingerprintCheck` says when they are accepted all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from aatoolkit.metadata.cell_hash import hash_arrow_cells, hash_cells

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.metadata.cell_hash import Array, Hashes

    RowMatch = tuple[Hashes, Hashes]
    Sampled = tuple[list[Hashes], dict[str, Hashes], dict[str, int]]

SAMPLE_SIZE = 32
"""The most rows that are sampled: every day of a month."""

_ROW, _CELL = 0xFFFF_FFFF_0000, 0xFFFF
"""The bits of a hash that are used of rows, and those that are used of cells."""

OVERWRITTEN = "overwritten"
MOVED = "its rows are not those that were read"


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
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()
    cells: Mapping[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every row is in the sample."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())


def fingerprint_of(
    frame: pd.DataFrame,
    names: Iterable[str],
    key: tuple[str, ...],
    limit: int = SAMPLE_SIZE,
    table: pa.Table | None = None,
) -> Fingerprint:
    """Hash some rows of a frame, of the columns or index levels named.

    Pass the Arrow ``table`` that a new frame was made of: hashing its cells costs less.
    """
    sample = _sample_frame if table is None else partial(_sample_table, table)
    wanted = [*dict.fromkeys((*names, *key))]
    labels, hashed, missing = sample(frame, wanted, _chosen(len(frame), limit))
    keys = (
        _row_hashes([hashed[name] for name in key]).tolist() if {*key} <= {*hashed} and key else []
    )
    return Fingerprint(
        len(frame),
        _names(frame.index),
        _span(frame.index),
        tuple(_row_hashes(labels).tolist()),
        tuple(keys) if len({*keys}) == len(keys) else (),
        {
            name: (missing[name], tuple(_short(hashed[name]).tolist()))
            for name in names
            if name in hashed
        },
    )


def _sample_frame(frame: pd.DataFrame, names: list[str], places: list[int]) -> Sampled:
    """Hashes of some rows: labels, cells by column; and how many values each column lacks."""
    import numpy as np

    at = np.array(places, dtype=np.intp)
    arrays = {name: array for name, array in arrays_of(frame).items() if name in {*names}}
    return (
        [hash_cells(level) for level in _levels(frame.index[at])],
        {name: hash_cells(array.take(at)) for name, array in arrays.items()},
        {name: int(array.isna().sum()) for name, array in arrays.items()},
    )


def _sample_table(table: pa.Table, _: pd.DataFrame, names: list[str], places: list[int]) -> Sampled:
    """The same of a frame made of an Arrow table, whose labels are the numbers of its rows."""
    columns = {name: table[name] for name in names if name in table.column_names}
    labels, *hashed = hash_arrow_cells(columns.values(), places)
    return (
        [labels],
        dict(zip(columns, hashed, strict=True)),
        {name: column.null_count for name, column in columns.items()},
    )


class FingerprintCheck:
    """Check a frame against its fingerprint: which columns still hold what was read.

    Rows are matched by label or by key, whichever leaves the fewest columns changed: a column
    that was overwritten differs alone, and with new labels nearly all differ.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index = frame.index
        self._arrays = arrays_of(frame)
        self._fingerprint = fingerprint
        self._key = key

    def is_empty(self, name: str) -> bool:
        """Whether a column, or level of the index, is there and holds no value."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Why a column is not accepted; None if it is."""
        return self._changes.get(name) if name in self._fingerprint.cells else MOVED

    @cached_property
    def _changes(self) -> Mapping[str, str]:
        cells = self._fingerprint.cells
        there = [name for name in cells if name in self._arrays]
        alike = dict.fromkeys({*cells}.difference(there), "not one column of this name")
        if len(self._index) == 0:
            return alike
        found: dict[str, str] | None = None
        for match in self._row_matches():
            changes = {name: OVERWRITTEN for name in there if self._differs(name, match)}
            changes |= self._possible_sums(match, changes)
            if found is None or len(changes) < len(found):
                found = changes
            if not found:
                break
        return alike | (dict.fromkeys(there, MOVED) if found is None else found)

    def _possible_sums(self, match: RowMatch, changes: Mapping[str, str]) -> Mapping[str, str]:
        """The columns that might hold sums: rows without their key that agree by chance.

        Sums have numbers as labels too. As many rows are accepted if text agrees, or all
        columns; fewer or more if both, in the columns of which no value was missing: a sum
        over missing values would else pass for what was read beside it.
        """
        import numpy as np

        cells = {
            name: cell for name, cell in self._fingerprint.cells.items() if name in self._arrays
        }
        agreeing = {*cells} - {*changes}
        if self._key and agreeing >= {*self._key}:
            return {}
        has_text = any(self._arrays[name].dtype.kind not in "biuf" for name in agreeing)
        if len(self._index) == self._fingerprint.rows:
            return {} if has_text or not changes else dict.fromkeys(cells, MOVED)
        if changes or not has_text or not np.isin(*match).any():
            return dict.fromkeys(cells, MOVED)
        return {name: MOVED for name, (missing, _) in cells.items() if missing}

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Whether a matched row holds something else, or other rows were filled or emptied."""
        import numpy as np

        values, (missing, hashes) = self._arrays[name], self._fingerprint.cells[name]
        now, before = match
        found = np.isin(now, before)
        expected = before + np.asarray(hashes, dtype=np.uint64)
        held = now[found] + _short(hash_cells(values[found]))
        return not self._lacks_as_before(name, missing) or not np.isin(held, expected).all()

    def _lacks_as_before(self, name: str, missing: int) -> bool:
        """Whether as many values are missing as can be, were rows dropped or repeated."""
        if self._fingerprint.whole:
            return True
        now, before = len(self._index), self._fingerprint.rows
        lacking = int(self._arrays[name].isna().sum())
        if now == before:
            return lacking == missing
        return lacking * before <= missing * max(now, before)

    def _row_matches(self) -> Iterator[RowMatch]:
        """The ways to match rows with the sample in which no row is a new one."""
        known = self._fingerprint
        if _names(self._index) == known.index:
            match = self._row_match(_levels(self._index), known.labels)
            numbered = known.span is not None and not known.whole
            if _within(_span(self._index), known.span) if numbered else self._matches(match):
                yield match
        if known.keys and all(self._is_filled(name) for name in self._key):
            match = self._row_match([self._arrays[name] for name in self._key], known.keys)
            if self._matches(match):
                yield match

    def _row_match(self, parts: list[Array], known: tuple[int, ...]) -> RowMatch:
        import numpy as np

        return _row_hashes([hash_cells(part) for part in parts]), np.asarray(known, dtype=np.uint64)

    def _matches(self, match: RowMatch) -> bool:
        """Whether rows match the sample: every row if all were sampled, else at least one."""
        import numpy as np

        found = np.isin(*match)
        return bool(found.all() if self._fingerprint.whole else found.any())

    def _is_filled(self, name: str) -> bool:
        """Whether a key column is there, with no more values missing than when it was read."""
        missing, _ = self._fingerprint.cells.get(name, (0, ()))
        return name in self._arrays and self._lacks_as_before(name, missing)


def arrays_of(frame: pd.DataFrame) -> dict[str, Array]:
    """The values of every column that is alone of its name, and of the index levels' names."""
    names = [str(name) for name in frame.columns]
    twice = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): frame.index.get_level_values(level).array
        for level, name in enumerate(frame.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, frame.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in twice}


def _chosen(rows: int, limit: int) -> list[int]:
    """The positions of the rows to sample: all, or the first ones and an even choice."""
    if rows <= limit:
        return [*range(rows)]
    first = limit // 2
    rest = limit - first
    return [*range(first), *(first + (rows - 1 - first) * n // (rest - 1) for n in range(rest))]


def _names(index: pd.Index) -> tuple[str | None, ...]:
    return tuple(None if name is None else str(name) for name in index.names)


def _levels(index: pd.Index) -> list[Array]:
    return [index.get_level_values(level).array for level in range(index.nlevels)]


def _span(index: pd.Index) -> tuple[int, int] | None:
    """The smallest and the largest label, if labels are plain numbers, as in a new frame."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def _within(inner: tuple[int, int] | None, outer: tuple[int, int] | None) -> bool:
    return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])


def _row_hashes(parts: list[Hashes]) -> Hashes:
    """One hash a row of its values, with the low bits left free for that of a cell."""
    import numpy as np

    total = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        total = total * np.uint64(1_000_003) + part
    return total & np.uint64(_ROW)


def _short(hashes: Hashes) -> Hashes:
    """Two bytes a cell, which is what is kept."""
    import numpy as np

    return hashes & np.uint64(_CELL)
