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

_MISSING_VALUE_HASH = 0x9E3779B97F4A7C15
"""The hash of every missing value."""

_MIN_FACTORIZED_LENGTH = 10_000
"""From this number of values on, each distinct text of a column is hashed only once."""

MAX_SAMPLE_ROWS = 32
"""The maximum number of rows in a sample: enough for one row per day of a month."""

_ROW_HASH_BITS = 0xFFFF_FFFF
_CELL_HASH_BITS = 0xFFFF
"""The bits that are kept of the hash of a row, and of a cell, if only a sample is hashed."""

_FULL_CELL_HASH_BITS = 0xFFFF_FFFF
"""The bits that are kept of the hash of a cell, if all rows are hashed."""

_MIN_DISTINCT_NUMBERS = 3
"""If this many distinct numbers equal those that were read, it is not by chance."""

# Why a column counts as changed.
OVERWRITTEN_REASON = "overwritten"
MOVED_REASON = (
    "its rows do not match those that were read: select the key columns too, "
    "and use df.aa.aggregate, df.aa.merge and aa.concat where pandas' own would be used"
)


def hash_cells(values: Array) -> Hashes:
    """Return an array with the hash of each value; equal values of any dtype have equal hashes."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        category_hashes = np.append(
            hash_cells(values.categories.array), np.uint64(_MISSING_VALUE_HASH)
        )
        return category_hashes[values.codes]  # type: ignore[no-any-return]
    is_missing = values.isna()
    present_values = values[~is_missing] if is_missing.any() else values
    if pd.api.types.is_object_dtype(present_values.dtype):
        present_values = pd.Series(present_values).infer_objects().array
    hashes = np.full(len(values), _MISSING_VALUE_HASH, np.uint64)
    hashes[~is_missing] = _hash_present_values(present_values)
    return hashes


def _hash_present_values(values: Array) -> Hashes:
    """Return an array with the hash of each value; no value may be missing.

    Numbers are hashed as floats, times as microseconds, and other values as text.
    """
    dtype_kind = values.dtype.kind
    if dtype_kind in "biuf":
        hashable_values = values.to_numpy("float64", na_value=np.nan) + 0.0
    elif dtype_kind == "M":
        times = values.to_numpy("datetime64[us]", na_value=np.datetime64("NaT"))
        hashable_values = times.astype("int64").astype("float64")
    else:
        hashable_values = values.to_numpy(object)
        if not isinstance(values.dtype, pd.StringDtype):
            hashable_values = np.array([_to_text(value) for value in hashable_values], dtype=object)
    return pd.util.hash_array(hashable_values, categorize=len(values) >= _MIN_FACTORIZED_LENGTH)


def _to_text(value: Any) -> str:
    """Return a value as text; the items of a list are joined."""
    if isinstance(value, str):
        return value
    is_list = isinstance(value, (list, tuple, np.ndarray))
    return "\x1f".join(map(_to_text, value)) if is_list else str(value)


def find_positions(hashes: Hashes, original_hashes: pd.Index) -> Positions:
    """Return, for each hash, the position of the first original row with this hash, or -1."""
    if np.array_equal(hashes, original_hashes) and original_hashes.is_unique:
        return np.arange(len(hashes))
    first_positions = np.flatnonzero(~original_hashes.duplicated())
    positions_in_distinct = original_hashes[first_positions].get_indexer(pd.Index(hashes))
    return np.append(first_positions, -1)[positions_in_distinct]


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of the cells of a DataFrame, as it was read: of all rows, or of a sample of rows.

    In the names of the attributes, ``label`` stands for a label of the index, and ``key`` for the
    values of the columns that identify a row.
    """

    row_count: int = 0  # the number of rows of the frame
    index_names: tuple[str | None, ...] = (None,)  # the names of the index levels
    label_range: tuple[int, int] | None = None  # the range of labels of an unnamed integer index
    label_hashes: Sequence[int] | Hashes = ()  # the hash of the index label of each row
    key_hashes: Sequence[int] | Hashes = ()  # the hash of the key of each row, if keys are unique
    # by column: the number of missing values, and the hash of each cell
    missing_counts_and_hashes: Mapping[str, tuple[int, Sequence[int] | npt.NDArray[Any]]] = field(
        default_factory=dict
    )
    # columns that are hashed together with the labels, if the labels are not unique
    label_columns: tuple[str, ...] = ()
    is_sample: bool = True  # whether the hashes are shortened, and of at most 32 rows

    @cached_property
    def is_complete(self) -> bool:
        """Whether all rows were hashed."""
        return all(
            len(hashes) == self.row_count for _, hashes in self.missing_counts_and_hashes.values()
        )

    def cell_hashes_of(self, column_names: Iterable[str]) -> list[Hashes]:
        """Return the hashes of the cells of some columns, as one array per column."""
        return [
            np.asarray(self.missing_counts_and_hashes[name][1], dtype=np.uint64)
            for name in column_names
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint of a sample of rows as a JSON object, with hashes as hex text."""

        def to_hex(hashes: Any, dtype: str) -> str:
            """Return the bytes of hashes, converted to a NumPy dtype, as hexadecimal text."""
            return np.asarray(hashes).astype(dtype).tobytes().hex()

        return {
            "rows": self.row_count,
            "index": self.index_names,
            "span": self.label_range,
            "labels": to_hex(self.label_hashes, ">u4"),
            "keys": to_hex(self.key_hashes, ">u4"),
            "cells": {
                name: [missing_count, to_hex(cell_hashes, ">u2")]
                for name, (missing_count, cell_hashes) in self.missing_counts_and_hashes.items()
            },
        }

    @staticmethod
    def from_dict(json_object: Mapping[str, Any]) -> Fingerprint:
        """Create a fingerprint from the JSON object that `to_dict` returned."""

        def from_hex(hex_text: str, dtype: str) -> Hashes:
            """Return the hashes that `to_hex` converted to hexadecimal text."""
            return np.frombuffer(bytes.fromhex(hex_text), dtype).astype(np.uint64)

        label_span = json_object["span"]
        cell_items = json_object["cells"].items()
        return Fingerprint(
            int(json_object["rows"]),
            tuple(json_object["index"]),
            label_span and tuple(label_span),
            from_hex(json_object["labels"], ">u4"),
            from_hex(json_object["keys"], ">u4"),
            {
                name: (int(missing_count), from_hex(hex_text, ">u2"))
                for name, (missing_count, hex_text) in cell_items
            },
        )

    @cached_property
    def label_index(self) -> pd.Index:
        """The index labels of the original rows, as hashes, to look up the position of a row."""
        return pd.Index(np.asarray(self.label_hashes, np.uint64))

    @cached_property
    def key_index(self) -> pd.Index:
        """The keys of the original rows, as hashes, to look up the position of a row."""
        return pd.Index(np.asarray(self.key_hashes, np.uint64))


def fingerprint_of(
    frame: pd.DataFrame,
    column_names: Iterable[str],
    key_columns: tuple[str, ...],
    *,
    is_sample: bool = False,
) -> Fingerprint:
    """Return hashes of the cells of a DataFrame, and of its index labels and keys.

    Parameters
    ----------
    frame : pandas.DataFrame
        The DataFrame.
    column_names : iterable of str
        The columns whose cells are hashed.
    key_columns : tuple of str
        The columns that identify a row.
    is_sample : bool
        Whether to hash at most 32 of the rows.

    Returns
    -------
    Fingerprint
    """
    index = frame.index
    array_by_name = arrays_of(frame)
    column_names = [name for name in column_names if name in array_by_name]
    sample_positions: Any = slice(None)
    if is_sample and len(frame) > MAX_SAMPLE_ROWS:  # the first rows, then some at equal distances
        half_sample_size = MAX_SAMPLE_ROWS // 2
        spaced_positions = np.linspace(
            half_sample_size, len(frame) - 1, half_sample_size, dtype=np.intp
        )
        sample_positions = np.append(np.arange(half_sample_size), spaced_positions)
    sampled_array_by_column = {
        name: array_by_name[name][sample_positions]
        for name in (*column_names, *key_columns)
        if name in array_by_name
    }
    level_hash_arrays = _hash_labels(index[sample_positions])
    hashes_by_column = {name: hash_cells(array) for name, array in sampled_array_by_column.items()}
    label_columns = [name for name in column_names if array_by_name[name].dtype.kind not in "biuf"]
    if is_sample or index.is_unique:
        label_columns = []
    key_hashes: Sequence[int] | Hashes = ()
    if key_columns and {*key_columns} <= {*hashes_by_column}:
        key_hashes = combine_to_row_hashes(
            [hashes_by_column[name] for name in key_columns], is_sample
        )
    return Fingerprint(
        len(frame),
        index_names(index),
        label_range(index),
        combine_to_row_hashes(
            [*level_hash_arrays, *(hashes_by_column[name] for name in label_columns)], is_sample
        ),
        key_hashes if pd.Index(key_hashes).is_unique else (),
        {
            name: (
                int(array_by_name[name].isna().sum()),
                _truncate_hashes(hashes_by_column[name], is_sample).astype("u4"),
            )
            for name in column_names
        },
        tuple(label_columns),
        is_sample,
    )


def arrays_of(frame: pd.DataFrame) -> dict[str, Array]:
    """Return a dict from the name of each column and named index level to its pandas array.

    A name that several columns have is left out.
    """
    frame = pd.DataFrame(frame)  # without attrs, which each of its columns would copy
    column_names = [str(name) for name in frame.columns]
    repeated_names = {name for name, name_count in Counter(column_names).items() if name_count > 1}
    array_by_name = {
        str(name): frame.index.get_level_values(level).array
        for level, name in enumerate(frame.index.names)
        if name is not None
    }
    array_by_name |= {
        name: column.array for name, (_, column) in zip(column_names, frame.items(), strict=True)
    }
    # A name of several columns is ambiguous.
    return {name: array for name, array in array_by_name.items() if name not in repeated_names}


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """Return the names of the levels of an index as texts; None for a level without a name."""
    return tuple(None if name is None else str(name) for name in index.names)


def _hash_labels(index: pd.Index) -> list[Hashes]:
    """Return the hashes of the labels of an index, as one array per level."""
    return [hash_cells(index.get_level_values(level).array) for level in range(index.nlevels)]


def label_range(index: pd.Index) -> tuple[int, int] | None:
    """Return the smallest and the largest label of an unnamed index of integers.

    Return None for any other index, and for an empty one.
    """
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def combine_to_row_hashes(column_hash_arrays: list[Hashes], is_sample: bool = False) -> Hashes:
    """Return one hash per row, combined from the hashes of its cells.

    ``column_hash_arrays`` has one array of cell hashes per column. With ``is_sample``, the result
    is shortened to 32 bits.
    """
    combined_hashes = np.zeros(len(column_hash_arrays[0]), dtype=np.uint64)
    for cell_hashes in column_hash_arrays:
        combined_hashes = combined_hashes * np.uint64(1_000_003) + cell_hashes
    return combined_hashes & np.uint64(_ROW_HASH_BITS) if is_sample else combined_hashes


def _truncate_hashes(hashes: Hashes, is_sample: bool = False) -> Hashes:
    """Shorten the hashes of cells to 32 bits, or to 16 bits if ``is_sample`` is true."""
    return hashes & np.uint64(_CELL_HASH_BITS if is_sample else _FULL_CELL_HASH_BITS)


def _row_count_by_hash(column_hash_arrays: Iterable[Hashes]) -> pd.Series:
    """Return a Series with the number of rows by the hash of the row.

    ``column_hash_arrays`` has one array of cell hashes per column.
    """
    row_hashes = combine_to_row_hashes([*map(_truncate_hashes, column_hash_arrays)])
    return pd.Index(row_hashes).value_counts()


def has_excess_rows(
    column_hash_arrays: list[Hashes], hash_arrays_of_frames: Iterable[list[Hashes]]
) -> bool:
    """Return whether some row is in one DataFrame more often than in each of several others.

    Each DataFrame is represented by a list with one array of cell hashes per column:
    ``column_hash_arrays`` stands for the one, and ``hash_arrays_of_frames`` for the others.
    """
    row_count_by_hash = _row_count_by_hash(column_hash_arrays)
    max_row_count_by_hash = (
        pd.concat([*map(_row_count_by_hash, hash_arrays_of_frames)]).groupby(level=0).max()
    )
    return bool(
        (
            row_count_by_hash > max_row_count_by_hash.reindex(row_count_by_hash.index, fill_value=0)
        ).any()
    )


class RowMatch(NamedTuple):
    """The rows of a DataFrame, each with its position among the rows that were originally read."""

    row_hashes: Hashes
    """The hashes of the frame's rows."""
    original_row_hashes: pd.Index
    """The hashes of the rows that were read."""
    positions: Positions
    """For each row of the frame, its position among the rows that were read; -1 for a new row."""
    is_matched_by_key: bool
    """Whether rows were matched by key, and not by index label."""

    @property
    def match_mask(self) -> Mask:
        """A boolean mask of the DataFrame's rows: True if the row was read, False if it is new."""
        return self.positions >= 0


class FingerprintCheck:
    """Finds the columns of a DataFrame that still have the values that were read.

    ``fingerprint`` has the hashes of the values that were read. ``key_columns`` has the names of
    the columns that identify a row.
    """

    def __init__(
        self, frame: pd.DataFrame, fingerprint: Fingerprint, key_columns: tuple[str, ...]
    ) -> None:
        self._index = frame.index
        self._arrays = arrays_of(frame)
        self._fingerprint = fingerprint
        self._key_names = key_columns
        self._shared_names = [
            name for name in fingerprint.missing_counts_and_hashes if name in self._arrays
        ]
        self._cell_hashes: dict[str, Hashes] = {}

    @property
    def hashed_columns(self) -> set[str]:
        """The names of the columns that were hashed when the DataFrame was read."""
        return {*self._fingerprint.missing_counts_and_hashes}

    def match_original(self) -> tuple[Positions, set[str]] | None:
        """Find the position that each row had when it was read; return None if none can be found.

        Returns
        -------
        positions : numpy.ndarray
            For each row, its position when it was read.
        unchanged_columns : set of str
            The names of the columns with unchanged values.
        """
        if len(self._index) == 0:
            return np.empty(0, np.intp), {*self._shared_names}
        fingerprint = self._fingerprint
        has_moved_rows = MOVED_REASON in self._reason_by_column.values()
        best_match = None
        for row_match, changed_columns, _ in (
            self._match_attempts if fingerprint.is_complete else ()
        ):
            if not (row_match.original_row_hashes.is_unique and row_match.match_mask.all()) or (
                has_moved_rows and not row_match.is_matched_by_key
            ):
                continue
            unchanged_columns = {*self._shared_names} - changed_columns | (
                {*self._key_names} if row_match.is_matched_by_key else set()
            )
            if best_match is None or len(unchanged_columns) > len(best_match[1]):
                best_match = row_match.positions, unchanged_columns
        had_range_index = fingerprint.index_names == (None,) and fingerprint.label_range == (
            0,
            fingerprint.row_count - 1,
        )
        if (
            fingerprint.is_complete
            or has_moved_rows
            or not had_range_index
            or not self._is_in_read_range
        ):
            return best_match
        unchanged_columns = {
            name for name in self._shared_names if self.change_reason(name) is None
        }
        return self._index.to_numpy().astype(np.intp), unchanged_columns

    def find_repeated_tables(self, columns_by_table: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the names of the tables that have a row more often now than when they were read.

        ``columns_by_table`` maps the name of each declared table to its columns in the DataFrame.
        If only a sample of rows was hashed, a table may be returned although none of its rows is
        repeated.
        """
        if not columns_by_table or not len(self._index):
            return set()
        original_match = self.match_original()
        if original_match is not None:
            return {*columns_by_table} if np.bincount(original_match[0]).max() > 1 else set()
        # With hashes of only some rows, assume the worst.
        if not self._fingerprint.is_complete:
            may_repeat = len(self._index) > self._fingerprint.row_count or not self._index.is_unique
            return {*columns_by_table} if may_repeat else set()
        repeated_tables = set()
        for table_name, column_names in columns_by_table.items():
            unchanged_columns = [name for name in column_names if self.change_reason(name) is None]
            if unchanged_columns and has_excess_rows(
                [*map(self._hash_column, unchanged_columns)],
                [self._fingerprint.cell_hashes_of(unchanged_columns)],
            ):
                repeated_tables.add(table_name)
        return repeated_tables

    def is_column_empty(self, column_name: str) -> bool:
        """Return whether a column has only missing values."""
        values = self._arrays.get(column_name)
        return values is not None and bool(values.isna().all())

    def change_reason(self, column_name: str) -> str | None:
        """Return the reason why a column counts as changed; None if its values are unchanged."""
        return (
            self._reason_by_column.get(column_name)
            if column_name in self._fingerprint.missing_counts_and_hashes
            else MOVED_REASON
        )

    @cached_property
    def _reason_by_column(self) -> dict[str, str]:
        """A dict from each changed column to the reason why it counts as changed."""
        reason_by_column = dict.fromkeys(
            self.hashed_columns.difference(self._shared_names), "not one column of this name"
        )
        if len(self._index) == 0:
            return reason_by_column
        reasons_of_attempts = [match_reasons for _, _, match_reasons in self._match_attempts] or [
            dict.fromkeys(self._shared_names, MOVED_REASON)
        ]
        # Of the matches by label and by key, that with fewer changed columns counts.
        return reason_by_column | min(reasons_of_attempts, key=len)

    @cached_property
    def _match_attempts(self) -> list[tuple[RowMatch, set[str], dict[str, str]]]:
        """The attempts to match the rows with those that were read: by index label, then by key.

        Each attempt is a tuple of three: the match of the rows; the names of the columns whose
        values differ from those of the matching rows; and a dict from each column that counts as
        changed to the reason. The second attempt is made only if the first finds changed columns.
        """
        match_attempts = []
        for find_match in (self._match_by_label, self._match_by_key):
            row_match = find_match()
            if row_match is None:
                continue
            changed_columns = {
                name for name in self._shared_names if self._has_changed_values(name, row_match)
            }
            reason_by_summed_column = self._find_summed_columns(
                row_match.match_mask, changed_columns
            )
            reason_by_column = (
                dict.fromkeys(changed_columns, OVERWRITTEN_REASON) | reason_by_summed_column
            )
            match_attempts.append((row_match, changed_columns, reason_by_column))
            if not reason_by_column:
                break
        return match_attempts

    def _find_summed_columns(self, match_mask: Mask, changed_columns: set[str]) -> dict[str, str]:
        """Find columns that may have been summed by group, although their values seem unchanged.

        Such a sum can equal the value that was read by chance. ``match_mask`` is True for each row
        that was found among the rows that were read, and ``changed_columns`` are the columns that
        certainly changed. The result is a dict from column to the reason why it counts as changed.
        """
        # After a groupby, labels of groups can equal labels of rows, and sums what was read there.
        unchanged_columns = {*self._shared_names} - changed_columns
        if self._key_names and unchanged_columns >= {*self._key_names}:
            return {}
        number_columns = [
            name for name in unchanged_columns if self._arrays[name].dtype.kind in "biuf"
        ]
        has_text = len(number_columns) < len(unchanged_columns)
        if len(self._index) == self._fingerprint.row_count:
            return (
                {}
                if has_text or not changed_columns
                else dict.fromkeys(self._shared_names, MOVED_REASON)
            )
        zero_hashes = hash_cells(pd.array([0, None], "Int64"))
        has_varied_numbers = any(
            len(np.setdiff1d(self._hash_column(name)[match_mask], zero_hashes))
            >= _MIN_DISTINCT_NUMBERS
            for name in number_columns
        )
        if changed_columns or not (has_text or has_varied_numbers) or not match_mask.any():
            return dict.fromkeys(self._shared_names, MOVED_REASON)
        # A groupby can make the index 0, 1, 2, …
        if has_varied_numbers and label_range(self._index) != (0, len(self._index) - 1):
            return {}
        # A sum over missing values may equal a value that was read.
        return {
            name: MOVED_REASON
            for name in self._shared_names
            if self._fingerprint.missing_counts_and_hashes[name][0]
        }

    def _hash_column(self, column_name: str) -> Hashes:
        """Return the hashes of the cells that a column has now; they are computed only once."""
        if column_name not in self._cell_hashes:
            self._cell_hashes[column_name] = hash_cells(self._arrays[column_name])
        return self._cell_hashes[column_name]

    def _has_changed_values(self, column_name: str, row_match: RowMatch) -> bool:
        """Return whether the values of a column differ from those that were read.

        Only rows that ``row_match`` found among the rows that were read are compared.
        """
        if not self._is_missing_count_plausible(column_name):
            return True
        (original_hashes,) = self._fingerprint.cell_hashes_of([column_name])
        match_mask = row_match.match_mask
        compares_all_rows = self._fingerprint.is_complete or match_mask.all()
        cell_hashes = (
            self._hash_column(column_name)[match_mask]
            if compares_all_rows
            else hash_cells(self._arrays[column_name][match_mask])
        )
        cell_hashes = _truncate_hashes(cell_hashes, self._fingerprint.is_sample)
        if row_match.original_row_hashes.is_unique:
            return not np.array_equal(original_hashes[row_match.positions[match_mask]], cell_hashes)
        original_cell_hashes = _combine_hashes(
            row_match.original_row_hashes.to_numpy(), original_hashes
        )
        return not np.isin(
            _combine_hashes(row_match.row_hashes[match_mask], cell_hashes), original_cell_hashes
        ).all()

    def _is_missing_count_plausible(self, column_name: str) -> bool:
        """Return whether an unchanged column could have as many missing values as this column has.

        The result is False if, for example, missing values were filled. If all rows were hashed,
        it is always True, as the cells themselves can be compared.
        """
        # The cells themselves are compared.
        if self._fingerprint.is_complete:
            return True
        missing_count_before = self._fingerprint.missing_counts_and_hashes.get(column_name, (0,))[0]
        row_count = len(self._index)
        read_row_count = self._fingerprint.row_count
        missing_count_now = int(self._arrays[column_name].isna().sum())
        if row_count == read_row_count:
            return missing_count_now == missing_count_before
        if (
            missing_count_before - missing_count_now > read_row_count - row_count > 0
            and self._index.is_unique
        ):
            return False  # more were missing than rows are gone: some were filled
        return missing_count_now * read_row_count <= missing_count_before * max(
            row_count, read_row_count
        )

    def _match_by_label(self) -> RowMatch | None:
        """Find, by its index label, the position that each row had when it was read.

        The result is None if that is impossible.
        """
        fingerprint = self._fingerprint
        if index_names(self._index) != fingerprint.index_names or not {
            *fingerprint.label_columns
        } <= {*self._arrays}:
            return None
        is_sampled_range = fingerprint.label_range is not None and not fingerprint.is_complete
        if is_sampled_range and not self._is_in_read_range:
            return None
        level_hash_arrays = [
            *_hash_labels(self._index),
            *map(self._hash_column, fingerprint.label_columns),
        ]
        row_match = self._match_rows(
            level_hash_arrays, fingerprint.label_index, is_matched_by_key=False
        )
        return row_match if is_sampled_range or self._has_enough_matches(row_match) else None

    def _match_by_key(self) -> RowMatch | None:
        """Find, by its key, the position that each row had when it was read; None if impossible."""
        has_key = all(
            name in self._arrays and self._is_missing_count_plausible(name)
            for name in self._key_names
        )
        if not len(self._fingerprint.key_hashes) or not has_key:
            return None
        column_hash_arrays = [self._hash_column(name) for name in self._key_names]
        row_match = self._match_rows(
            column_hash_arrays, self._fingerprint.key_index, is_matched_by_key=True
        )
        return row_match if self._has_enough_matches(row_match) else None

    def _match_rows(
        self,
        column_hash_arrays: list[Hashes],
        original_row_hashes: pd.Index,
        *,
        is_matched_by_key: bool,
    ) -> RowMatch:
        """Find, by a hash of the row, the position that each row had when it was read.

        The result has an array of these positions, with -1 for a row that was not read. The hash of
        a row is combined from ``column_hash_arrays``: one array of hashes per key column if
        ``is_matched_by_key`` is true, else one per level of the index. It is looked up among the
        hashes in ``original_row_hashes``.
        """
        row_hashes = combine_to_row_hashes(column_hash_arrays, self._fingerprint.is_sample)
        return RowMatch(
            row_hashes,
            original_row_hashes,
            find_positions(row_hashes, original_row_hashes),
            is_matched_by_key,
        )

    def _has_enough_matches(self, row_match: RowMatch) -> bool:
        """Return whether enough rows were found among those that were read.

        All rows must be found. If only a sample was hashed, one row is enough.
        """
        return bool(
            row_match.match_mask.all()
            if self._fingerprint.is_complete
            else row_match.match_mask.any()
        )

    @cached_property
    def _is_in_read_range(self) -> bool:
        """Whether all index labels are integers in the range of the labels that were read."""
        label_range_now = label_range(self._index)
        original_range = self._fingerprint.label_range
        return bool(
            label_range_now
            and original_range
            and original_range[0] <= label_range_now[0]
            and label_range_now[1] <= original_range[1]
        )


def _combine_hashes(hashes_of_rows: Hashes, hashes_of_cells: Hashes) -> Hashes:
    """Return one hash per cell, combined from the hash of the cell and the hash of its row."""
    return (hashes_of_rows ^ (hashes_of_rows >> np.uint64(29))) * np.uint64(
        0x9E37_79B9_7F4A_7C15
    ) + hashes_of_cells
