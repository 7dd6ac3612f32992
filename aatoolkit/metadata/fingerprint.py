"""Fingerprints: cell hashes that detect whether a column was changed since it was read.

pandas keeps ``attrs`` through steps after which they no longer hold: sums by group, a column
that is assigned anew, two names that are swapped. So the metadata comes with hashes of cells: 64
bits a value, equal for equal values of any dtype (numbers are hashed as floats, times as
microseconds, all else as text). In memory those are all cells, four bytes each, computed when they
are first needed. The text of the metadata holds a sample of at most `SAMPLE_SIZE` rows, which is
what frames that went through a pickle are checked by: every row of a small frame, the first ones
and an even choice of a larger one.

`FingerprintCheck` matches a row by its label, or by its key once labels were made anew. A column is
accepted if the matched rows hold what they held, and if no row is a new one. Selecting, sorting,
repeating and dropping rows, dropping columns, moving the key into the index and converting to a
dtype of the same values all leave it accepted.

What cannot be detected: a change of rows outside the sample of a frame that went through a
pickle, and numbers alone that equal by chance, one by one, as many that were read. Rows without
their key might be sums; they are accepted only where sums cannot look like them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Array = Any
"""An array of pandas; there is no public type for all that its arrays can do."""
Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

_MISSING = 0x9E3779B97F4A7C15

_MANY = 10_000
"""From this many texts on, each distinct one is hashed once."""

SAMPLE_SIZE = 32
"""The most rows that are sampled: every day of a month."""

_ROW, _CELL = 0xFFFF_FFFF, 0xFFFF
"""The bits of a hash that a sample keeps of rows, and those of cells."""

_WHOLE_CELL = 0xFFFF_FFFF
"""Those of cells where every row is hashed: of rows then all, as no two are to share a hash."""

_SEVERAL = 3
"""So many different numbers in rows with their own labels do not agree by chance."""

OVERWRITTEN = "overwritten"
MOVED = (
    "its rows do not match those that were read: select the key columns too, "
    "and use df.aa.aggregate, df.aa.merge and aa.concat where pandas' own would be used"
)


def hash_cells(values: Array) -> Hashes:
    """Hash each value: equal values of any dtype hash alike, and so do all missing ones."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        levels: Hashes = np.append(hash_cells(values.categories.array), np.uint64(_MISSING))
        of_codes: Hashes = levels[values.codes]
        return of_codes
    missing = values.isna()
    present = values[~missing] if missing.any() else values
    if pd.api.types.is_object_dtype(present.dtype):
        present = pd.Series(present).infer_objects().array
    hashes: Hashes = np.full(len(values), _MISSING, np.uint64)
    hashes[~missing] = _hashed(present)
    return hashes


def _hashed(values: Array) -> Hashes:
    """Hash numbers as floats, times as microseconds, all else as text."""
    kind = values.dtype.kind
    if kind in "biuf":
        plain = values.to_numpy("float64", na_value=np.nan) + 0.0
    elif kind == "M":
        moments = values.to_numpy("datetime64[us]", na_value=np.datetime64("NaT"))
        plain = moments.astype("int64").astype("float64")
    else:
        plain = values.to_numpy(object)
        if not isinstance(values.dtype, pd.StringDtype):
            plain = np.array([_text(value) for value in plain], dtype=object)
    return pd.util.hash_array(plain, categorize=len(values) >= _MANY)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value

    is_list = isinstance(value, (list, tuple, np.ndarray))
    return "\x1f".join(map(_text, value)) if is_list else str(value)


class HashedRows:
    """The hashes of rows that were read, to find rows of a frame among them."""

    def __init__(self, hashes: Sequence[int] | Hashes) -> None:
        self.hashes: Hashes = np.asarray(hashes, dtype=np.uint64)

    @cached_property
    def distinct(self) -> bool:
        """Whether no two rows have the same hash."""
        return pd.Index(self.hashes).is_unique

    def places(self, hashes: Hashes) -> Places:
        """For each hash, the number of a row that has it; -1 where there is none."""
        if np.array_equal(hashes, self.hashes) and self.distinct:
            return np.arange(len(hashes))
        first = np.flatnonzero(~pd.Index(self.hashes).duplicated())
        place = pd.Index(self.hashes[first]).get_indexer(pd.Index(hashes))
        return np.append(first, -1)[place]


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
    is_sample : bool
        Whether it is of some rows, in short.
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: Sequence[int] | Hashes = ()
    keys: Sequence[int] | Hashes = ()
    cells: Mapping[str, tuple[int, Sequence[int] | npt.NDArray[Any]]] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    is_sample: bool = True

    @cached_property
    def is_complete(self) -> bool:
        """Whether every row is in the sample."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())

    def rows_of(self, names: Iterable[str]) -> list[Hashes]:
        """The hashes of all rows' cells in some columns, a column each."""
        return [np.asarray(self.cells[name][1], dtype=np.uint64) for name in names]

    def to_dict(self) -> dict[str, Any]:
        """Convert a sample to JSON values, its hashes as hexadecimal text."""

        def text(hashes: Any, kind: str) -> str:
            return np.asarray(hashes).astype(kind).tobytes().hex()

        return {
            "rows": self.rows,
            "index": list(self.index),
            "span": self.span and list(self.span),
            "labels": text(self.labels, ">u4"),
            "keys": text(self.keys, ">u4"),
            "cells": {name: [n, text(cells, ">u2")] for name, (n, cells) in self.cells.items()},
        }

    @staticmethod
    def from_dict(body: Mapping[str, Any]) -> Fingerprint:
        """Read what `to_dict` wrote."""

        def numbers(text: str, kind: str) -> Hashes:
            return np.frombuffer(bytes.fromhex(text), kind).astype(np.uint64)

        span, cells = body["span"], body["cells"].items()
        return Fingerprint(
            int(body["rows"]),
            tuple(body["index"]),
            span and tuple(span),
            numbers(body["labels"], ">u4"),
            numbers(body["keys"], ">u4"),
            {name: (int(missing), numbers(text, ">u2")) for name, (missing, text) in cells},
        )

    @cached_property
    def by_label(self) -> HashedRows:
        """The rows by the hashes of their labels."""
        return HashedRows(self.labels)

    @cached_property
    def by_key(self) -> HashedRows:
        """The rows by the hashes of their keys."""
        return HashedRows(self.keys)


def fingerprint_of(
    rows: pd.DataFrame,
    names: Iterable[str],
    key: tuple[str, ...],
    *,
    sample: bool = False,
) -> Fingerprint:
    """Hash the rows of a frame.

    Parameters
    ----------
    rows : pandas.DataFrame
        The frame.
    names : iterable of str
        The columns, or levels of the index, to hash.
    key : tuple of str
        The columns that identify a row.
    sample : bool
        Whether to hash some rows, in short, and not all.
    """
    index, arrays = rows.index, arrays_of(rows)
    names = [name for name in names if name in arrays]
    places = _sampled(len(rows)) if sample else slice(None)
    used = {name: arrays[name][places] for name in (*names, *key) if name in arrays}
    labels = _label_hashes(index[places])
    hashed = {name: hash_cells(array) for name, array in used.items()}
    beside = [name for name in names if arrays[name].dtype.kind not in "biuf"]
    if sample or index.is_unique:
        beside = []
    keys: Sequence[int] | Hashes = ()
    if key and {*key} <= {*hashed}:
        keys = row_hashes([hashed[name] for name in key], sample)
    return Fingerprint(
        len(rows),
        index_names(index),
        label_span(index),
        row_hashes([*labels, *(hashed[name] for name in beside)], sample),
        keys if HashedRows(keys).distinct else (),
        {
            name: (int(arrays[name].isna().sum()), _kept(hashed[name], sample).astype("u4"))
            for name in names
        },
        tuple(beside),
        sample,
    )


def arrays_of(rows: pd.DataFrame) -> dict[str, Array]:
    """The values of every column and index level whose name is unique."""
    rows = pd.DataFrame(rows)  # without attrs, which each of its columns would copy
    names = [str(name) for name in rows.columns]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): rows.index.get_level_values(level).array
        for level, name in enumerate(rows.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, rows.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in repeated}


def _sampled(rows: int) -> Places:
    """The positions of the rows to sample: all, or the first ones and evenly spaced others."""
    first = SAMPLE_SIZE // 2
    others = np.linspace(first, rows - 1, first, dtype=np.intp)
    return np.arange(rows) if rows <= SAMPLE_SIZE else np.append(np.arange(first), others)


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """The names of the levels of an index."""
    return tuple(None if name is None else str(name) for name in index.names)


def _label_hashes(index: pd.Index) -> list[Hashes]:
    return [hash_cells(index.get_level_values(level).array) for level in range(index.nlevels)]


def label_span(index: pd.Index) -> tuple[int, int] | None:
    """The smallest and the largest label, if labels are plain numbers, as in a new frame."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def row_hashes(columns: list[Hashes], sample: bool = False) -> Hashes:
    """Combine hashes of columns to one per row."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for hashes in columns:
        total = total * np.uint64(1_000_003) + hashes
    return total & np.uint64(_ROW) if sample else total


def _kept(cells: Hashes, sample: bool = False) -> Hashes:
    """The bits of cells' hashes that a fingerprint keeps."""
    return cells & np.uint64(_CELL if sample else _WHOLE_CELL)


def _counts(columns: Iterable[Hashes]) -> pd.Series:
    """How often each row occurs."""
    hashes = row_hashes([*map(_kept, columns)])
    return pd.Index(hashes).value_counts()


def has_more(rows: list[Hashes], read: Iterable[list[Hashes]]) -> bool:
    """Whether some rows contain a row more often than each of several other frames does.

    Parameters
    ----------
    rows : list of array
        By column the hashes of the rows' cells.
    read : iterable of list of array
        The same columns of the others.
    """

    now, most = _counts(rows), pd.concat([*map(_counts, read)]).groupby(level=0).max()
    return bool((now > most.reindex(now.index, fill_value=0)).any())


class RowMatch(NamedTuple):
    """A match between the rows of a frame and the rows that were hashed."""

    hashes: Hashes
    """The hashes of the frame's rows."""
    read: HashedRows
    """The rows that were read."""
    places: Places
    """For each row the number of the equal hashed row; -1 where there is none."""
    by_key: bool

    @property
    def mask(self) -> Mask:
        """Mask of the frame's rows that are among the hashed ones."""
        return self.places >= 0


class FingerprintCheck:
    """Check a frame against its fingerprint: which columns still hold what was read.

    Rows are matched by label or by key, whichever leaves the fewest columns changed: a column
    that was overwritten differs alone, and with new labels nearly all differ.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index, self._arrays = frame.index, arrays_of(frame)
        self._read, self._key = fingerprint, key
        self._there = [name for name in fingerprint.cells if name in self._arrays]
        self._hashed: dict[str, Hashes] = {}

    @property
    def hashed(self) -> set[str]:
        """The columns whose cells were hashed."""
        return {*self._read.cells}

    def placed(self) -> tuple[Places, set[str]] | None:
        """Each row's position in the hashed frame, and unchanged columns; None if not sure.

        Rows found by their key are sure even where `change` is not: what they hold is compared
        with what they held.
        """
        if len(self._index) == 0:
            return np.empty(0, np.intp), {*self._there}
        is_moved = MOVED in self._changes.values()
        best: tuple[Places, set[str]] | None = None
        for match, differing, _ in self._matches if self._read.is_complete else ():
            if not (match.read.distinct and match.mask.all()) or (is_moved and not match.by_key):
                continue
            same = {*self._there} - differing | ({*self._key} if match.by_key else set())
            if best is None or len(same) > len(best[1]):
                best = match.places, same
        is_numbered = self._read.index == (None,) and self._read.span == (0, self._read.rows - 1)
        if self._read.is_complete or is_moved or not is_numbered or not self._is_within_span:
            return best
        same = {name for name in self._there if self.change(name) is None}
        return self._index.to_numpy().astype(np.intp), same

    def repeated(self, tables: Mapping[str, Sequence[str]]) -> set[str]:
        """The tables of which the frame holds a row more often than the rows that were hashed.

        Parameters
        ----------
        tables : mapping of str to sequence of str
            By table the columns of the frame that are its own.
        """
        if not tables or not len(self._index):
            return set()
        placed = self.placed()
        if placed is not None:
            return {*tables} if np.bincount(placed[0]).max() > 1 else set()
        if not self._read.is_complete:
            is_repeated = len(self._index) > self._read.rows or not self._index.is_unique
            return {*tables} if is_repeated else set()
        repeated = set()
        for table, columns in tables.items():
            names = [name for name in columns if self.change(name) is None]
            if names and has_more([*map(self._hashes, names)], [self._read.rows_of(names)]):
                repeated.add(table)
        return repeated

    def is_empty(self, name: str) -> bool:
        """Whether a column, or level of the index, is there and holds no value."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Return the reason why a column is not accepted; None if it is."""
        return self._changes.get(name) if name in self._read.cells else MOVED

    @cached_property
    def _changes(self) -> dict[str, str]:
        gone = dict.fromkeys(self.hashed.difference(self._there), "not one column of this name")
        if len(self._index) == 0:
            return gone
        changes = [change for _, _, change in self._matches] or [dict.fromkeys(self._there, MOVED)]
        return gone | min(changes, key=len)

    @cached_property
    def _matches(self) -> list[tuple[RowMatch, set[str], dict[str, str]]]:
        """The ways to match rows, the columns that then differ, and why each is not accepted."""
        matches = []
        for match in filter(None, (find() for find in (self._by_label, self._by_key))):
            differing = {name for name in self._there if self._differs(name, match)}
            sums = self._possible_sums(match.mask, differing)
            matches.append((match, differing, dict.fromkeys(differing, OVERWRITTEN) | sums))
            if not matches[-1][-1]:
                break
        return matches

    def _possible_sums(self, mask: Mask, differing: set[str]) -> dict[str, str]:
        """The columns that may hold sums of rows which agree with the hashes only by chance.

        Sums have numbers as labels too. As many rows are accepted if text agrees, or all
        columns; fewer or more if both, or if several different numbers agree. Labels from 0 on may
        be those of groups: a sum over missing values would pass for what was read beside it.
        """
        agreeing = {*self._there} - differing
        if self._key and agreeing >= {*self._key}:
            return {}
        numbers = [name for name in agreeing if self._arrays[name].dtype.kind in "biuf"]
        has_text = len(numbers) < len(agreeing)
        if len(self._index) == self._read.rows:
            is_like = has_text or not differing
            return {} if is_like else dict.fromkeys(self._there, MOVED)
        zeros = hash_cells(pd.array([0, None], "Int64"))
        is_varied = any(
            len(np.setdiff1d(self._hashes(name)[mask], zeros)) >= _SEVERAL for name in numbers
        )
        if differing or not (has_text or is_varied) or not mask.any():
            return dict.fromkeys(self._there, MOVED)
        if is_varied and label_span(self._index) != (0, len(self._index) - 1):
            return {}
        return {name: MOVED for name in self._there if self._read.cells[name][0]}

    def _hashes(self, name: str) -> Hashes:
        """The hashes of a column's cells, computed once."""
        if name not in self._hashed:
            self._hashed[name] = hash_cells(self._arrays[name])
        return self._hashed[name]

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Whether a matched row holds something else, or other rows were filled or emptied."""
        if not self._lacks_as_before(name):
            return True
        (read,), mask = self._read.rows_of([name]), match.mask
        is_all = self._read.is_complete or mask.all()
        cells = self._hashes(name)[mask] if is_all else hash_cells(self._arrays[name][mask])
        cells = _kept(cells, self._read.is_sample)
        if match.read.distinct:
            return not np.array_equal(read[match.places[mask]], cells)
        rows = _mixed(match.read.hashes, read)
        return not np.isin(_mixed(match.hashes[mask], cells), rows).all()

    def _lacks_as_before(self, name: str) -> bool:
        """Whether the number of missing values fits rows that were only dropped or repeated."""
        if self._read.is_complete:
            return True
        missing = self._read.cells.get(name, (0,))[0]
        now, before = len(self._index), self._read.rows
        lacking = int(self._arrays[name].isna().sum())
        if now == before:
            return lacking == missing
        if missing - lacking > before - now > 0 and self._index.is_unique:
            return False  # more were missing than rows are gone: some were filled
        return lacking * before <= missing * max(now, before)

    def _by_label(self) -> RowMatch | None:
        read = self._read
        if index_names(self._index) != read.index or not {*read.beside} <= {*self._arrays}:
            return None
        if read.span is not None and not read.is_complete and not self._is_within_span:
            return None
        parts = [*_label_hashes(self._index), *map(self._hashes, read.beside)]
        match = self._match(parts, read.by_label, by_key=False)
        is_numbered = read.span is not None and not read.is_complete
        return match if is_numbered or self._is_match(match) else None

    def _by_key(self) -> RowMatch | None:
        is_filled = all(name in self._arrays and self._lacks_as_before(name) for name in self._key)
        if not len(self._read.keys) or not is_filled:
            return None
        parts = [self._hashes(name) for name in self._key]
        match = self._match(parts, self._read.by_key, by_key=True)
        return match if self._is_match(match) else None

    def _match(self, parts: list[Hashes], read: HashedRows, *, by_key: bool) -> RowMatch:
        hashes = row_hashes(parts, self._read.is_sample)
        return RowMatch(hashes, read, read.places(hashes), by_key)

    def _is_match(self, match: RowMatch) -> bool:
        """Whether enough rows match: all of a complete sample, else at least one."""
        return bool(match.mask.all() if self._read.is_complete else match.mask.any())

    @cached_property
    def _is_within_span(self) -> bool:
        """Whether labels are plain numbers among those that were read."""
        inner, outer = label_span(self._index), self._read.span
        return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])


def _mixed(rows: Hashes, cells: Hashes) -> Hashes:
    """Combine the hashes of rows with those of their cells."""
    return (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E37_79B9_7F4A_7C15) + cells
