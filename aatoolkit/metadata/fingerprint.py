"""Detect columns that were changed since they were read, by hashes of their cells.

pandas keeps ``DataFrame.attrs`` after operations that change values, such as sums by group. The
metadata in ``attrs`` therefore has a fingerprint: hashes of the cells. `FingerprintCheck` looks up
each row among the rows that were read, by its index label or its key, and compares the hashes.
Selecting, sorting, repeating and dropping rows do not count as changes.
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

# Two changes cannot be detected: of rows outside the sample, in a frame from a pickle, and to
# numbers that happen to equal those that were read.
_MISSING_HASH = 0x9E3779B97F4A7C15

_MIN_TEXTS = 10_000
"""From this number of texts on, each distinct text is hashed only once."""

SAMPLE_SIZE = 32
"""The maximum number of rows in a sample: enough for one row per day of a month."""

_ROW_BITS, _CELL_BITS = 0xFFFF_FFFF, 0xFFFF
"""Masks of the bits that a sample keeps of the hash of a row, and of a cell."""

_FULL_CELL_BITS = 0xFFFF_FFFF
"""Mask of the bits of a cell's hash that are kept without sampling."""

_MIN_DIFFERENT = 3
"""If this many distinct numbers equal those that were read, it is not by chance."""

OVERWRITTEN = "overwritten"
MOVED = (
    "its rows do not match those that were read: select the key columns too, "
    "and use df.aa.aggregate, df.aa.merge and aa.concat where pandas' own would be used"
)


def hash_cells(values: Array) -> Hashes:
    """Return an array with the hash of each value; equal values of any dtype have equal hashes."""
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
    """Return the hash of each value, of which none is missing.

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
    """Return a value as text; the items of a list are joined."""
    if isinstance(value, str):
        return value
    is_list = isinstance(value, (list, tuple, np.ndarray))
    return "\x1f".join(map(_to_text, value)) if is_list else str(value)


class HashedRows:
    """The hashes of the rows that were read; it finds the position of a row by its hash."""

    def __init__(self, hashes: Sequence[int] | Hashes) -> None:
        self.hashes: Hashes = np.asarray(hashes, dtype=np.uint64)

    @cached_property
    def is_unique(self) -> bool:
        """Whether all rows have different hashes."""
        return pd.Index(self.hashes).is_unique

    def positions(self, hashes: Hashes) -> Positions:
        """Return, for each hash, the position of the first row with this hash, or -1."""
        if np.array_equal(hashes, self.hashes) and self.is_unique:
            return np.arange(len(hashes))
        first_positions = np.flatnonzero(~pd.Index(self.hashes).duplicated())
        unique_positions = pd.Index(self.hashes[first_positions]).get_indexer(pd.Index(hashes))
        return np.append(first_positions, -1)[unique_positions]


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of the cells of a DataFrame, as it was read: of all rows, or of a sample of rows."""

    rows: int = 0  # the number of rows of the frame
    index: tuple[str | None, ...] = (None,)  # the names of the index levels
    span: tuple[int, int] | None = None  # the range of labels of an unnamed integer index
    labels: Sequence[int] | Hashes = ()  # the hash of the index label of each row
    keys: Sequence[int] | Hashes = ()  # the hash of the key of each row, if keys are unique
    # by column: the number of missing values, and a hash per cell
    cells: Mapping[str, tuple[int, Sequence[int] | npt.NDArray[Any]]] = field(default_factory=dict)
    label_columns: tuple[str, ...] = ()  # hashed with labels that are not unique
    is_sample: bool = True  # of some rows, with shorter hashes

    @cached_property
    def is_complete(self) -> bool:
        """Whether all rows were hashed."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())

    def hashes_of(self, names: Iterable[str]) -> list[Hashes]:
        """Return the hashes of the cells of some columns, as one array per column."""
        return [np.asarray(self.cells[name][1], dtype=np.uint64) for name in names]

    def to_dict(self) -> dict[str, Any]:
        """Convert the hashes of a sample of rows to JSON values, as hexadecimal text."""

        def to_hex(hashes: Any, dtype: str) -> str:
            return np.asarray(hashes).astype(dtype).tobytes().hex()

        return {
            "rows": self.rows,
            "index": self.index,
            "span": self.span,
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
        """A `HashedRows` that finds the original position of a row by its index label."""
        return HashedRows(self.labels)

    @cached_property
    def by_key(self) -> HashedRows:
        """A `HashedRows` that finds the original position of a row by its key."""
        return HashedRows(self.keys)


def fingerprint_of(
    frame: pd.DataFrame, names: Iterable[str], key: tuple[str, ...], *, sample: bool = False
) -> Fingerprint:
    """Return hashes of the rows of a DataFrame.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    names : iterable of str
        The columns whose cells are hashed.
    key : tuple of str
        The columns that identify a row.
    sample : bool
        Whether to hash at most 32 of the rows.

    Returns
    -------
    Fingerprint
    """
    index, arrays = frame.index, arrays_of(frame)
    names = [name for name in names if name in arrays]
    positions: Any = slice(None)
    if sample and len(frame) > SAMPLE_SIZE:  # the first rows, then some at equal distances
        half = SAMPLE_SIZE // 2
        late_positions = np.linspace(half, len(frame) - 1, half, dtype=np.intp)
        positions = np.append(np.arange(half), late_positions)
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
    """Return a dict from the name of each column and named index level to its pandas array."""
    frame = pd.DataFrame(frame)  # without attrs, which each of its columns would copy
    names = [str(name) for name in frame.columns]
    repeated_names = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): frame.index.get_level_values(level).array
        for level, name in enumerate(frame.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, frame.items(), strict=True)}
    # A name of several columns is ambiguous.
    return {name: array for name, array in arrays.items() if name not in repeated_names}


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """Return the names of the levels of an index as texts; None for a level without a name."""
    return tuple(None if name is None else str(name) for name in index.names)


def _hash_labels(index: pd.Index) -> list[Hashes]:
    return [hash_cells(index.get_level_values(level).array) for level in range(index.nlevels)]


def label_span(index: pd.Index) -> tuple[int, int] | None:
    """Return the smallest and the largest label of an unnamed index of integers.

    Return None for any other index, and for an empty one.
    """
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def row_hashes(columns: list[Hashes], sample: bool = False) -> Hashes:
    """Return one hash per row, combined from the hashes of its cells.

    ``columns`` has one array of hashes per column.
    """
    combined_hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for hashes in columns:
        combined_hashes = combined_hashes * np.uint64(1_000_003) + hashes
    return combined_hashes & np.uint64(_ROW_BITS) if sample else combined_hashes


def _truncate(hashes: Hashes, sample: bool = False) -> Hashes:
    """Shorten the hashes of cells to 32 bits, or to 16 for a sample of rows."""
    return hashes & np.uint64(_CELL_BITS if sample else _FULL_CELL_BITS)


def _count_rows(columns: Iterable[Hashes]) -> pd.Series:
    """Return a Series from the hash of each row to the number of rows with this hash."""
    hashes = row_hashes([*map(_truncate, columns)])
    return pd.Index(hashes).value_counts()


def has_more_rows(column_hashes: list[Hashes], frames: Iterable[list[Hashes]]) -> bool:
    """Return whether any row occurs more often than it does in each of some DataFrames.

    All DataFrames, including the first, are given as lists of hashes, one array per column.
    """
    counts = _count_rows(column_hashes)
    row_counts_read = pd.concat([*map(_count_rows, frames)]).groupby(level=0).max()
    return bool((counts > row_counts_read.reindex(counts.index, fill_value=0)).any())


class RowMatch(NamedTuple):
    """For each row of a DataFrame, its position among the rows that were read from the response."""

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
        """A boolean mask of the DataFrame's rows: True if the row was read, False if it is new."""
        return self.positions >= 0


class FingerprintCheck:
    """Finds the columns of a DataFrame that still have the values that were read.

    ``fingerprint`` has the hashes of the values that were read. ``key`` has the names of the
    columns that identify a row.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index, self._arrays = frame.index, arrays_of(frame)
        self._origin, self._key = fingerprint, key
        self._columns = [name for name in fingerprint.cells if name in self._arrays]
        self._cell_hashes: dict[str, Hashes] = {}

    @property
    def hashed_columns(self) -> set[str]:
        """The names of the columns that were hashed."""
        return {*self._origin.cells}

    def match_original(self) -> tuple[Positions, set[str]] | None:
        """Find the position of each row when it was read; return None if that is impossible.

        Returns
        -------
        positions : numpy.ndarray
            For each row, its position when it was read.
        unchanged_columns : set of str
            The names of the columns with unchanged values.
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
        """Return the names of tables of which a row occurs more often than when it was read.

        ``tables`` maps the name of a table to its columns in the DataFrame. If only a sample of
        rows was hashed, a table may be returned without certainty.
        """
        if not tables or not len(self._index):
            return set()
        original = self.match_original()
        if original is not None:
            return {*tables} if np.bincount(original[0]).max() > 1 else set()
        # With hashes of only some rows, assume the worst.
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
        """Return whether a column has only missing values."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Return the reason why a column counts as changed; None if its values are unchanged."""
        return self._changes.get(name) if name in self._origin.cells else MOVED

    @cached_property
    def _changes(self) -> dict[str, str]:
        """A dict from each changed column to the reason why it counts as changed."""
        reasons = dict.fromkeys(
            self.hashed_columns.difference(self._columns), "not one column of this name"
        )
        if len(self._index) == 0:
            return reasons
        reasons_of_matches = [match_reasons for _, _, match_reasons in self._matches] or [
            dict.fromkeys(self._columns, MOVED)
        ]
        # Of the matches by label and by key, that with fewer changed columns counts.
        return reasons | min(reasons_of_matches, key=len)

    @cached_property
    def _matches(self) -> list[tuple[RowMatch, set[str], dict[str, str]]]:
        """The attempts to find the original position of each row: by label, then by key.

        The original position is that among the rows that were read. Each attempt is a tuple: the
        positions found, the columns whose values differ, and a dict from the columns that count as
        changed to the reason.
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
        """Return columns that may have been aggregated although their values equal the old ones.

        After a sum by group, values can equal old values by chance. The result is a dict from
        column to the reason why it counts as changed.
        """
        # After a groupby, labels of groups can equal labels of rows, and sums what was read there.
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
        # A groupby can make the index 0, 1, 2, …
        if is_varied and label_span(self._index) != (0, len(self._index) - 1):
            return {}
        # A sum over missing values may equal a value that was read.
        return {name: MOVED for name in self._columns if self._origin.cells[name][0]}

    def _hash_column(self, name: str) -> Hashes:
        """Return the hashes of the cells that a column has now. They are computed once."""
        if name not in self._cell_hashes:
            self._cell_hashes[name] = hash_cells(self._arrays[name])
        return self._cell_hashes[name]

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Return whether the values of a column differ from those that were read.

        Only rows that were found among the rows read are compared.
        """
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
        """Return whether the number of missing values in a column is consistent with the rows read.

        It is False if, for example, missing values were filled. If all rows were hashed, it is
        True.
        """
        # The cells themselves are compared.
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
        """Return the position that each row had when it was read, found by label, or None."""
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
        """Find the position of each row when it was read, by its key; None if impossible."""
        has_key = all(name in self._arrays and self._has_likely_missing(name) for name in self._key)
        if not len(self._origin.keys) or not has_key:
            return None
        columns = [self._hash_column(name) for name in self._key]
        match = self._match_rows(columns, self._origin.by_key, is_by_key=True)
        return match if self._has_enough_matches(match) else None

    def _match_rows(
        self, columns: list[Hashes], read_rows: HashedRows, *, is_by_key: bool
    ) -> RowMatch:
        """Find the position of each row when it was read, by hashes of some columns.

        ``columns`` has the hashes of the index labels or of the key columns.
        """
        hashes = row_hashes(columns, self._origin.is_sample)
        return RowMatch(hashes, read_rows, read_rows.positions(hashes), is_by_key)

    def _has_enough_matches(self, match: RowMatch) -> bool:
        """Return whether enough rows were found among those that were read.

        All rows must be found. If only a sample was hashed, one row is enough.
        """
        return bool(match.mask.all() if self._origin.is_complete else match.mask.any())

    @cached_property
    def _is_within_span(self) -> bool:
        """Whether all index labels are integers in the range of the labels that were read."""
        span, read_span = label_span(self._index), self._origin.span
        return bool(span and read_span and read_span[0] <= span[0] and span[1] <= read_span[1])


def _combine_hashes(rows: Hashes, cells: Hashes) -> Hashes:
    """Return one hash per cell, combined from the hash of the cell and the hash of its row."""
    return (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E37_79B9_7F4A_7C15) + cells
