"""Fingerprints: hashes of cells, which detect columns that were changed since they were read.

pandas keeps ``attrs`` in operations after which the metadata no longer holds: sums by group, a
column that is assigned anew, two names that are swapped. So the metadata comes with hashes of
cells. Equal values of any dtype have equal hashes: numbers are hashed as floats, times as
microseconds, all else as text, to 64 bits. In memory all cells are hashed when this is first
needed, and four bytes of each hash are kept. The text of the metadata has the hashes of at most
`SAMPLE_SIZE` rows, by which frames from a pickle are checked: of all rows of a small frame; of the
first rows of a larger frame and others at equal distances.

`FingerprintCheck` matches the rows of a frame to those that were read: by index label, or by key if
the frame has new labels. A column counts as unchanged if all rows are matched and have the same
values as before. So it is unchanged after selecting, sorting, repeating and dropping rows, dropping
columns, moving the key into the index, and converting to another dtype that holds the same values.

Two changes cannot be detected: a change of rows outside the sample, in a frame from a pickle; and
new numbers that happen to equal all those that were read. Rows whose key was dropped might be sums
by group; they are accepted only if sums cannot equal them by chance.
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
"""An extension array of pandas; there is no public type with all of its methods."""
Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.intp]

_MISSING_HASH = 0x9E3779B97F4A7C15

_MIN_TEXTS = 10_000
"""If there are at least this many texts, each distinct text is hashed only once."""

SAMPLE_SIZE = 32
"""The maximum number of rows in a sample: enough for one row per day of a month."""

_ROW_BITS, _CELL_BITS = 0xFFFF_FFFF, 0xFFFF
"""Masks of the bits that a sample keeps of the hash of a row, and of a cell."""

_FULL_CELL_BITS = 0xFFFF_FFFF
"""Mask of the bits of a cell's hash that are kept if all rows are hashed, not a sample."""

_MIN_DIFFERENT = 3
"""If so many distinct numbers of a column equal the values that were read, it is not by chance."""

OVERWRITTEN = "overwritten"
MOVED = (
    "its rows do not match those that were read: select the key columns too, "
    "and use df.aa.aggregate, df.aa.merge and aa.concat where pandas' own would be used"
)


def hash_cells(values: Array) -> Hashes:
    """Return the hash of each value; equal values of any dtype have the same hash.

    All missing values have the same hash.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        level_hashes = np.append(hash_cells(values.categories.array), np.uint64(_MISSING_HASH))
        return level_hashes[values.codes]  # type: ignore[no-any-return]
    is_missing = values.isna()
    present_values = values[~is_missing] if is_missing.any() else values
    if pd.api.types.is_object_dtype(present_values.dtype):
        present_values = pd.Series(present_values).infer_objects().array
    hashes = np.full(len(values), _MISSING_HASH, np.uint64)
    hashes[~is_missing] = _hash_present(present_values)
    return hashes


def _hash_present(values: Array) -> Hashes:
    """Return the hash of each value; no value may be missing.

    Numbers are hashed as floats, times as microseconds, and other values as text.
    """
    dtype_kind = values.dtype.kind
    if dtype_kind in "biuf":
        array = values.to_numpy("float64", na_value=np.nan) + 0.0
    elif dtype_kind == "M":
        moments = values.to_numpy("datetime64[us]", na_value=np.datetime64("NaT"))
        array = moments.astype("int64").astype("float64")
    else:
        array = values.to_numpy(object)
        if not isinstance(values.dtype, pd.StringDtype):
            array = np.array([_to_text(value) for value in array], dtype=object)
    return pd.util.hash_array(array, categorize=len(values) >= _MIN_TEXTS)


def _to_text(value: Any) -> str:
    """Return a value as text; a list becomes the joined texts of its items."""
    if isinstance(value, str):
        return value
    is_list = isinstance(value, (list, tuple, np.ndarray))
    return "\x1f".join(map(_to_text, value)) if is_list else str(value)


class HashedRows:
    """The hashes of the rows that were read, to find the position of a row by its hash."""

    def __init__(self, hashes: Sequence[int] | Hashes) -> None:
        self.hashes: Hashes = np.asarray(hashes, dtype=np.uint64)

    @cached_property
    def is_unique(self) -> bool:
        """Whether all rows have different hashes."""
        return pd.Index(self.hashes).is_unique

    def positions(self, hashes: Hashes) -> Positions:
        """Return for each of ``hashes`` the position of the first row with this hash, or -1."""
        if np.array_equal(hashes, self.hashes) and self.is_unique:
            return np.arange(len(hashes))
        first_positions = np.flatnonzero(~pd.Index(self.hashes).duplicated())
        unique_positions = pd.Index(self.hashes[first_positions]).get_indexer(pd.Index(hashes))
        return np.append(first_positions, -1)[unique_positions]


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of the rows of a frame as it was read: of all rows, or of a sample of rows.

    Parameters
    ----------
    rows : int
        The number of rows of the frame.
    index : tuple of str or None
        The names of the levels of the frame's index.
    span : tuple of int or None
        The smallest and the largest label, if the index has integers and no name; else None.
    labels : sequence of int
        The hash of the index label of each hashed row.
    keys : sequence of int
        The hash of the key of each hashed row; empty if there is no key, or if keys repeat.
    cells : mapping of str to tuple
        Maps each column to its number of missing values and the hashes of its cells in the hashed
        rows.
    label_columns : tuple of str
        The columns that are hashed together with the labels, if labels are not unique.
    is_sample : bool
        Whether only a sample of the rows was hashed, with shorter hashes.
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: Sequence[int] | Hashes = ()
    keys: Sequence[int] | Hashes = ()
    cells: Mapping[str, tuple[int, Sequence[int] | npt.NDArray[Any]]] = field(default_factory=dict)
    label_columns: tuple[str, ...] = ()
    is_sample: bool = True

    @cached_property
    def is_complete(self) -> bool:
        """Whether all rows were hashed."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())

    def hashes_of(self, names: Iterable[str]) -> list[Hashes]:
        """Return the hashes of the cells of the columns ``names``, one array per column."""
        return [np.asarray(self.cells[name][1], dtype=np.uint64) for name in names]

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint of a sample as JSON values, with hashes as hexadecimal text."""

        def to_hex(hashes: Any, dtype: str) -> str:
            return np.asarray(hashes).astype(dtype).tobytes().hex()

        return {
            "rows": self.rows,
            "index": list(self.index),
            "span": self.span and list(self.span),
            "labels": to_hex(self.labels, ">u4"),
            "keys": to_hex(self.keys, ">u4"),
            "cells": {
                name: [missing_count, to_hex(cells, ">u2")]
                for name, (missing_count, cells) in self.cells.items()
            },
        }

    @staticmethod
    def from_dict(body: Mapping[str, Any]) -> Fingerprint:
        """Create a fingerprint from the JSON values that `to_dict` returned."""

        def from_hex(hex_text: str, dtype: str) -> Hashes:
            return np.frombuffer(bytes.fromhex(hex_text), dtype).astype(np.uint64)

        span, cells = body["span"], body["cells"].items()
        return Fingerprint(
            int(body["rows"]),
            tuple(body["index"]),
            span and tuple(span),
            from_hex(body["labels"], ">u4"),
            from_hex(body["keys"], ">u4"),
            {
                name: (int(missing_count), from_hex(hex_text, ">u2"))
                for name, (missing_count, hex_text) in cells
            },
        )

    @cached_property
    def by_label(self) -> HashedRows:
        """The rows that were read, to be looked up by the hash of their index label."""
        return HashedRows(self.labels)

    @cached_property
    def by_key(self) -> HashedRows:
        """The rows that were read, to be looked up by the hash of their key."""
        return HashedRows(self.keys)


def fingerprint_of(
    frame: pd.DataFrame, names: Iterable[str], key: tuple[str, ...], *, sample: bool = False
) -> Fingerprint:
    """Return the fingerprint of a frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    names : iterable of str
        The columns, or levels of the index, to hash.
    key : tuple of str
        The columns that identify a row.
    sample : bool
        Whether to hash a sample of rows, with shorter hashes.
    """
    index, arrays = frame.index, arrays_of(frame)
    names = [name for name in names if name in arrays]
    positions = _choose_sample_positions(len(frame)) if sample else slice(None)
    sampled_arrays = {name: arrays[name][positions] for name in (*names, *key) if name in arrays}
    label_hashes = _hash_labels(index[positions])
    cell_hashes = {name: hash_cells(array) for name, array in sampled_arrays.items()}
    label_columns = [name for name in names if arrays[name].dtype.kind not in "biuf"]
    if sample or index.is_unique:
        label_columns = []
    key_hashes: Sequence[int] | Hashes = ()
    if key and {*key} <= {*cell_hashes}:
        key_hashes = row_hashes([cell_hashes[name] for name in key], sample)
    return Fingerprint(
        len(frame),
        index_names(index),
        label_span(index),
        row_hashes([*label_hashes, *(cell_hashes[name] for name in label_columns)], sample),
        key_hashes if HashedRows(key_hashes).is_unique else (),
        {
            name: (
                int(arrays[name].isna().sum()),
                _truncate(cell_hashes[name], sample).astype("u4"),
            )
            for name in names
        },
        tuple(label_columns),
        sample,
    )


def arrays_of(frame: pd.DataFrame) -> dict[str, Array]:
    """Return a dict from the name of each column and named index level to its values.

    Names that several columns have are left out.
    """
    frame = pd.DataFrame(frame)  # without attrs, which each of its columns would copy
    names = [str(name) for name in frame.columns]
    repeated_names = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): frame.index.get_level_values(level).array
        for level, name in enumerate(frame.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, frame.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in repeated_names}


def _choose_sample_positions(size: int) -> Positions:
    """Return the positions of the rows to sample in a frame of ``size`` rows.

    They are the first rows, then others at equal distances. A frame of at most `SAMPLE_SIZE` rows
    is sampled as a whole.
    """
    half = SAMPLE_SIZE // 2
    late_positions = np.linspace(half, size - 1, half, dtype=np.intp)
    return np.arange(size) if size <= SAMPLE_SIZE else np.append(np.arange(half), late_positions)


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """Return the names of the levels of an index as texts; None for a level without a name."""
    return tuple(None if name is None else str(name) for name in index.names)


def _hash_labels(index: pd.Index) -> list[Hashes]:
    return [hash_cells(index.get_level_values(level).array) for level in range(index.nlevels)]


def label_span(index: pd.Index) -> tuple[int, int] | None:
    """Return the smallest and the largest label of an unnamed index of integers; else None."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def row_hashes(columns: list[Hashes], sample: bool = False) -> Hashes:
    """Return one hash per row, combined from the hashes of its cells.

    ``columns`` has an array of hashes per column. With ``sample``, the hashes are shorter.
    """
    combined_hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for hashes in columns:
        combined_hashes = combined_hashes * np.uint64(1_000_003) + hashes
    return combined_hashes & np.uint64(_ROW_BITS) if sample else combined_hashes


def _truncate(hashes: Hashes, sample: bool = False) -> Hashes:
    """Return the hashes of cells, cut to the bits that a fingerprint keeps, fewer in a sample."""
    return hashes & np.uint64(_CELL_BITS if sample else _FULL_CELL_BITS)


def _count_rows(columns: Iterable[Hashes]) -> pd.Series:
    """Return a Series with the number of times that each row occurs, indexed by the row's hash."""
    hashes = row_hashes([*map(_truncate, columns)])
    return pd.Index(hashes).value_counts()


def has_more_rows(column_hashes: list[Hashes], frames: Iterable[list[Hashes]]) -> bool:
    """Return whether any row occurs more often in ``column_hashes`` than in each of the ``frames``.

    Parameters
    ----------
    column_hashes : list of array
        The hashes of the cells of some rows, one array per column.
    frames : iterable of list of array
        For each frame, the hashes of the same columns.
    """
    counts = _count_rows(column_hashes)
    read_counts = pd.concat([*map(_count_rows, frames)]).groupby(level=0).max()
    return bool((counts > read_counts.reindex(counts.index, fill_value=0)).any())


class RowMatch(NamedTuple):
    """The rows of a frame, matched by label or by key to the rows that were read."""

    hashes: Hashes
    """The hashes of the frame's rows."""
    read_rows: HashedRows
    """The rows that were read."""
    positions: Positions
    """For each row of the frame, its position among the rows that were read; -1 for a new row."""
    is_by_key: bool
    """Whether rows were matched by key, and not by index label."""

    @property
    def mask(self) -> Mask:
        """For each row of the frame, whether it is among the rows that were read."""
        return self.positions >= 0


class FingerprintCheck:
    """Finds by a fingerprint which columns of a frame still hold the values that were read.

    Rows are matched by index label or by key, whichever makes fewer columns differ. If a column was
    overwritten, only this column differs; if the frame has new labels, nearly all columns differ
    when rows are matched by label.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index, self._arrays = frame.index, arrays_of(frame)
        self._origin, self._key = fingerprint, key
        self._columns = [name for name in fingerprint.cells if name in self._arrays]
        self._cell_hashes: dict[str, Hashes] = {}

    @property
    def hashed_columns(self) -> set[str]:
        """The names of the columns in the fingerprint."""
        return {*self._origin.cells}

    def match_original(self) -> tuple[Positions, set[str]] | None:
        """Return the position that each row had when it was read, and the unchanged columns.

        Return None if the positions are uncertain. If rows were matched by key, their positions are
        certain even if other columns were overwritten, or have values that may be sums of groups.
        """
        if len(self._index) == 0:
            return np.empty(0, np.intp), {*self._columns}
        is_moved = MOVED in self._changes.values()
        best_match = None
        for match, diff_columns, _ in self._matches if self._origin.is_complete else ():
            if not (match.read_rows.is_unique and match.mask.all()) or (
                is_moved and not match.is_by_key
            ):
                continue
            unchanged_columns = {*self._columns} - diff_columns | (
                {*self._key} if match.is_by_key else set()
            )
            if best_match is None or len(unchanged_columns) > len(best_match[1]):
                best_match = match.positions, unchanged_columns
        is_range = self._origin.index == (None,) and self._origin.span == (0, self._origin.rows - 1)
        if self._origin.is_complete or is_moved or not is_range or not self._is_within_span:
            return best_match
        unchanged_columns = {name for name in self._columns if self.change(name) is None}
        return self._index.to_numpy().astype(np.intp), unchanged_columns

    def repeated(self, tables: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the tables with a row that is (or may be) in the frame more often than when read.

        Parameters
        ----------
        tables : mapping of str to sequence of str
            Maps the name of each table to the names of its columns in the frame.
        """
        if not tables or not len(self._index):
            return set()
        original = self.match_original()
        if original is not None:
            return {*tables} if np.bincount(original[0]).max() > 1 else set()
        if not self._origin.is_complete:
            is_repeated = len(self._index) > self._origin.rows or not self._index.is_unique
            return {*tables} if is_repeated else set()
        repeated_tables = set()
        for table, columns in tables.items():
            names = [name for name in columns if self.change(name) is None]
            if names and has_more_rows(
                [*map(self._hash_column, names)], [self._origin.hashes_of(names)]
            ):
                repeated_tables.add(table)
        return repeated_tables

    def is_empty(self, name: str) -> bool:
        """Return whether a column or index level is in the frame and has only missing values."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Return why a column no longer holds the values that were read; None if it holds them."""
        return self._changes.get(name) if name in self._origin.cells else MOVED

    @cached_property
    def _changes(self) -> dict[str, str]:
        """Maps each column that does not hold the values that were read to the reason."""
        reasons = dict.fromkeys(
            self.hashed_columns.difference(self._columns), "not one column of this name"
        )
        if len(self._index) == 0:
            return reasons
        reasons_of_matches = [match_reasons for _, _, match_reasons in self._matches] or [
            dict.fromkeys(self._columns, MOVED)
        ]
        return reasons | min(reasons_of_matches, key=len)

    @cached_property
    def _matches(self) -> list[tuple[RowMatch, set[str], dict[str, str]]]:
        """The matches of the frame's rows to the rows that were read: by index label, and by key.

        Each match comes with the set of columns whose values differ, and with a dict that maps each
        column that may no longer hold the values that were read to the reason. Either the values
        differ, or they are equal but may be sums of groups; see `_find_possible_sums`.
        """
        matches = []
        for find_match in (self._match_by_label, self._match_by_key):
            match = find_match()
            if match is None:
                continue
            diff_columns = {name for name in self._columns if self._differs(name, match)}
            possible_sums = self._find_possible_sums(match.mask, diff_columns)
            reasons = dict.fromkeys(diff_columns, OVERWRITTEN) | possible_sums
            matches.append((match, diff_columns, reasons))
            if not reasons:
                break
        return matches

    def _find_possible_sums(self, is_matched: Mask, diff_columns: set[str]) -> dict[str, str]:
        """Return a dict from each column whose values may be sums of groups to the reason.

        After a groupby the labels of groups can equal the labels of rows, and a sum can equal the
        value that was read at its label. No column is returned in these cases:

        - The key is unchanged.
        - The number of rows is unchanged, and so is a column of text or every column.
        - All columns are unchanged, one of them has several different numbers, and the index is not
          0, 1, 2 and so on, as it can be after a groupby.

        If all columns are unchanged, but there are only texts, or the index is 0, 1, 2 and so on,
        the columns that had missing values when they were read are returned: a sum over missing
        values may equal a value that was read. In all other cases every column is returned.
        """
        equal_columns = {*self._columns} - diff_columns
        if self._key and equal_columns >= {*self._key}:
            return {}
        number_columns = [name for name in equal_columns if self._arrays[name].dtype.kind in "biuf"]
        has_text = len(number_columns) < len(equal_columns)
        if len(self._index) == self._origin.rows:
            return {} if has_text or not diff_columns else dict.fromkeys(self._columns, MOVED)
        zero_hashes = hash_cells(pd.array([0, None], "Int64"))
        is_varied = any(
            len(np.setdiff1d(self._hash_column(name)[is_matched], zero_hashes)) >= _MIN_DIFFERENT
            for name in number_columns
        )
        if diff_columns or not (has_text or is_varied) or not is_matched.any():
            return dict.fromkeys(self._columns, MOVED)
        if is_varied and label_span(self._index) != (0, len(self._index) - 1):
            return {}
        return {name: MOVED for name in self._columns if self._origin.cells[name][0]}

    def _hash_column(self, name: str) -> Hashes:
        """Return the hashes of the cells of a column of the frame; they are cached."""
        if name not in self._cell_hashes:
            self._cell_hashes[name] = hash_cells(self._arrays[name])
        return self._cell_hashes[name]

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Return whether a column differs in matched rows, or was filled or emptied in others."""
        if not self._has_likely_missing(name):
            return True
        (read_hashes,), mask = self._origin.hashes_of([name]), match.mask
        is_complete = self._origin.is_complete or mask.all()
        hashes = (
            self._hash_column(name)[mask] if is_complete else hash_cells(self._arrays[name][mask])
        )
        hashes = _truncate(hashes, self._origin.is_sample)
        if match.read_rows.is_unique:
            return not np.array_equal(read_hashes[match.positions[mask]], hashes)
        read_cell_hashes = _combine_hashes(match.read_rows.hashes, read_hashes)
        return not np.isin(_combine_hashes(match.hashes[mask], hashes), read_cell_hashes).all()

    def _has_likely_missing(self, name: str) -> bool:
        """Return whether dropping or repeating rows explains a column's number of missing values.

        If it does not, values of the column were filled or removed. Return True if all rows were
        hashed, because then the cells themselves are compared.
        """
        if self._origin.is_complete:
            return True
        missing_before = self._origin.cells.get(name, (0,))[0]
        row_count, read_row_count = len(self._index), self._origin.rows
        missing_now = int(self._arrays[name].isna().sum())
        if row_count == read_row_count:
            return missing_now == missing_before
        if missing_before - missing_now > read_row_count - row_count > 0 and self._index.is_unique:
            return False  # more were missing than rows are gone: some were filled
        return missing_now * read_row_count <= missing_before * max(row_count, read_row_count)

    def _match_by_label(self) -> RowMatch | None:
        """Match the rows of the frame, by index label, to the rows that were read.

        Return None if the frame has another index, or if too few of its labels were read.
        """
        origin = self._origin
        if index_names(self._index) != origin.index or not {*origin.label_columns} <= {
            *self._arrays
        }:
            return None
        is_sampled_range = origin.span is not None and not origin.is_complete
        if is_sampled_range and not self._is_within_span:
            return None
        columns = [*_hash_labels(self._index), *map(self._hash_column, origin.label_columns)]
        match = self._match_rows(columns, origin.by_label, is_by_key=False)
        return match if is_sampled_range or self._has_enough_matches(match) else None

    def _match_by_key(self) -> RowMatch | None:
        """Return the match of the frame's rows by key; None if the key is gone or changed."""
        has_key = all(name in self._arrays and self._has_likely_missing(name) for name in self._key)
        if not len(self._origin.keys) or not has_key:
            return None
        columns = [self._hash_column(name) for name in self._key]
        match = self._match_rows(columns, self._origin.by_key, is_by_key=True)
        return match if self._has_enough_matches(match) else None

    def _match_rows(
        self, columns: list[Hashes], read_rows: HashedRows, *, is_by_key: bool
    ) -> RowMatch:
        """Return the match of the frame's rows to ``read_rows`` by their labels or keys.

        ``columns`` has the hashes of the labels or keys of the frame's rows.
        """
        hashes = row_hashes(columns, self._origin.is_sample)
        return RowMatch(hashes, read_rows, read_rows.positions(hashes), is_by_key)

    def _has_enough_matches(self, match: RowMatch) -> bool:
        """Return whether enough rows of the frame match rows that were read.

        All of them must match. If only a sample of the rows that were read was hashed, one match is
        enough.
        """
        return bool(match.mask.all() if self._origin.is_complete else match.mask.any())

    @cached_property
    def _is_within_span(self) -> bool:
        """Whether all labels are integers between the smallest and the largest that were read."""
        span, read_span = label_span(self._index), self._origin.span
        return bool(span and read_span and read_span[0] <= span[0] and span[1] <= read_span[1])


def _combine_hashes(rows: Hashes, cells: Hashes) -> Hashes:
    """Return one hash per cell, combined from the hash of the cell and the hash of its row."""
    return (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E37_79B9_7F4A_7C15) + cells
