"""`merge`, `concat`, `rename` and `adopt`: pandas operations that keep the metadata of columns.

Each function returns a new frame. Its columns keep the metadata that still holds after the
operation. `adopt` restores metadata that a plain pandas operation dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.grouping import group_values
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status, combine
from aatoolkit.availability.subject import as_text
from aatoolkit.errors import ArgumentError, item_not_found, warn
from aatoolkit.frame.cell_status import are_keys_listable, key_statements
from aatoolkit.frame.duplicates import (
    JOINED_TABLE_PREFIX,
    NO_KEY_PLACEHOLDER,
    is_joined_table,
    response_scope,
)
from aatoolkit.frame.groupby import flatten_index, to_nullable
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import (
    EMPTY,
    NO_METADATA,
    ColumnMetadata,
    FrameMetadata,
    attach,
    columns_by_table,
    metadata_of,
    original_fingerprint,
    table_names_of,
)
from aatoolkit.metadata.fingerprint import (
    MOVED_REASON,
    OVERWRITTEN_REASON,
    FingerprintCheck,
    arrays_of,
    combine_to_row_hashes,
    fingerprint_of,
    has_excess_rows,
    hash_cells,
)
from aatoolkit.metadata.recorded import METHOD_BY_VERB, cache_checks, record_call_as, record_recipe
from aatoolkit.scope import FILTERS

FrameWithMetadata = tuple[pd.DataFrame, FrameMetadata]
MergeOptions = Mapping[str, Any]

# Temporary columns of a merge, with the positions of the original rows.
_ROW_NUMBER_COLUMNS = ("_aatoolkit_left_row", "_aatoolkit_right_row")


@record_call_as("merge", "left", "right")
def merge(left: pd.DataFrame, right: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Merge two frames like `pandas.merge`, and keep the metadata of both."""
    merge_keys = _find_merge_keys(left, right, options)
    _check_keys(left, right, options, merge_keys)
    numbered_frames = [
        frame.assign(**{column_name: range(len(frame))})
        for frame, column_name in zip((left, right), _ROW_NUMBER_COLUMNS, strict=True)
    ]
    try:
        merged_frame = numbered_frames[0].merge(numbered_frames[1], **options)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        problem_text = str(error).strip("'\"").partition(". If you wish")[0] or type(error).__name__
        dtype_hint = "; give the keys one dtype, by astype or pd.to_datetime" * (
            "trying to" in problem_text
        )
        raise ArgumentError(f"the frames cannot be merged: {problem_text}{dtype_hint}") from None
    repeated_flags = [
        bool(merged_frame[column_name].dropna().duplicated().any())
        for column_name in _ROW_NUMBER_COLUMNS
    ]
    unmatched_masks = [
        merged_frame[column_name].isna().to_numpy(bool) for column_name in _ROW_NUMBER_COLUMNS
    ]
    unmatched_counts = [int(unmatched_mask.sum()) for unmatched_mask in unmatched_masks]
    is_anti = "anti" in options.get("how", "inner")
    if len(left) and len(right) and (unmatched_masks[0] | unmatched_masks[1]).all() and not is_anti:
        warn("no row of the one frame matches a row of the other; look at the spelling of the keys")
    merged_frame = merged_frame.drop(columns=[*_ROW_NUMBER_COLUMNS])
    metadata_of_frames = [metadata_of(frame, with_index_levels=True) for frame in (left, right)]
    metadata_with_tables = [
        *map(_with_undeclared_table, (left, right), metadata_of_frames, merge_keys)
    ]
    shared_keys = _find_shared_keys(left, right, options)
    new_names_of_frames = names_after_merge(left, right, options)
    metadata_by_column: dict[str, ColumnMetadata] = {}
    key_by_table: dict[str, tuple[str, ...]] = {}
    repeated_tables = set[str]()
    # The keys of a side whose rows may have no match are replaced by those of the other side.
    has_left_keys = options.get("how", "inner") in ("left", "inner")
    left_key_by_right = {
        right_key: new_names_of_frames[0].get(left_key, left_key)
        # Of several pairs with the same right key, the first counts.
        for left_key, right_key in reversed([*zip(*merge_keys, strict=False)] * has_left_keys)
        if isinstance(left_key, str) and isinstance(right_key, str)
    }
    for side_index, (metadata, new_name_by_old) in enumerate(
        zip(metadata_with_tables, new_names_of_frames, strict=True)
    ):
        for column_name, column in metadata.columns.items():
            if column_name not in shared_keys:
                metadata_by_column[new_name_by_old[column_name]] = column.renamed(new_name_by_old)
        repeated_tables.update(metadata.repeated_tables)
        if repeated_flags[side_index]:
            repeated_tables.update(table_names_of(metadata))
        for table_name in table_names_of(metadata):
            table_key = metadata.key_of(table_name)
            if table_key is not None and table_name not in key_by_table:
                new_names = new_name_by_old | (
                    left_key_by_right if side_index and is_joined_table(table_name) else {}
                )
                key_by_table[table_name] = tuple(
                    new_names.get(column_name, column_name) for column_name in table_key
                )
    table_names_of_frames = [{*table_names_of(metadata)} for metadata in metadata_with_tables]
    old_table_names = {
        table_name for metadata in metadata_of_frames for table_name in metadata.key_by_table
    }
    new_table_name = next(
        (
            table_name
            for table_name in key_by_table
            if is_joined_table(table_name) and table_name not in old_table_names
        ),
        "",
    )
    for column_name in shared_keys:
        metadata_of_key_sides = [
            metadata.columns.get(column_name, NO_METADATA) for metadata in metadata_of_frames
        ]
        column = _key_metadata(
            *metadata_of_key_sides,
            left_only_count=unmatched_counts[1],
            right_only_count=unmatched_counts[0],
        )
        is_known = (
            column.declared_name
            or column.availability.status != Status.UNKNOWN
            or not new_table_name
        )
        metadata_by_column[column_name] = (
            column if is_known else replace(column, declared_name=f"{new_table_name}.{column_name}")
        )
    for side_index, unmatched_mask in enumerate(unmatched_masks):
        if not unmatched_counts[side_index]:
            continue
        other_frame_keys = [
            new_names_of_frames[1 - side_index].get(key)
            for key in merge_keys[1 - side_index]
            if isinstance(key, str)
        ]
        unmatched_keys = merged_frame[
            [column_name for column_name in merged_frame if column_name in other_frame_keys]
        ][unmatched_mask]
        availability = no_match_availability(unmatched_counts[side_index], len(unmatched_mask))
        statements = list[Statement]()
        if are_keys_listable(unmatched_keys, FrameMetadata(metadata_by_column)):
            statements = key_statements(unmatched_keys, [availability])
        for column_name in metadata_with_tables[side_index].columns.keys() - {*shared_keys}:
            new_name = new_names_of_frames[side_index][column_name]
            metadata_by_column[new_name] = with_unmatched_rows(
                metadata_by_column[new_name], availability, statements
            )
    keys_of_frames = [
        [
            column_name if column_name in shared_keys else new_name_by_old[column_name]
            for column_name in metadata.key
        ]
        for metadata, new_name_by_old in zip(metadata_with_tables, new_names_of_frames, strict=True)
    ]
    merged_key = dict.fromkeys(
        (
            *keys_of_frames[0],
            *(column_name for column_name in keys_of_frames[1] if column_name not in shared_keys),
        )
    )
    merged_metadata = FrameMetadata(
        metadata_by_column,
        unique_key(merged_frame, tuple(merged_key) if keys_of_frames[0] else ()),
        sources_of(metadata_with_tables),
        {
            table_name: table_key
            for table_name, table_key in key_by_table.items()
            if table_name not in table_names_of_frames[0] & table_names_of_frames[1]
        },
        tuple(sorted(repeated_tables)),
    )
    return attach(merged_frame, merged_metadata)


def rename(frame: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """Rename columns like ``DataFrame.rename``, and keep their metadata."""
    renamed_frame: pd.DataFrame = frame.rename(*arguments, **options)
    new_name_by_old = dict(
        zip(map(str, frame.columns), map(str, renamed_frame.columns), strict=True)
    )
    with cache_checks():
        metadata = metadata_of(frame, with_index_levels=True)
        metadata_by_column = {
            new_name_by_old.get(name, name): column.renamed(new_name_by_old)
            for name, column in metadata.columns.items()
        }
        key_by_table = {
            table: tuple(new_name_by_old.get(name, name) for name in table_key)
            for table in table_names_of(metadata)
            if (table_key := metadata.key_of(table)) is not None
        }
        key_columns = tuple(new_name_by_old.get(name, name) for name in metadata.key)
        attach(
            renamed_frame,
            replace(
                metadata, columns=metadata_by_column, key=key_columns, key_by_table=key_by_table
            ),
        )
        record_recipe(
            renamed_frame, "rename", {"frame": frame, "names": new_name_by_old}, ("frame",)
        )
    return renamed_frame


METHOD_BY_VERB["rename"] = (lambda frame, names: rename(frame, columns=names)), ("frame",)


@record_call_as("adopt", "frame", "frames")
def adopt(frame: pd.DataFrame, frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return a copy of ``frame`` with the metadata that its columns have in ``frames``.

    A column takes the metadata of a column with the same name and equal values.
    """
    metadata = metadata_of(frame, with_index_levels=True)
    metadata_by_column = dict(metadata.columns)
    all_metadata = [metadata]
    key_columns = metadata.key
    repeated_tables = {*metadata.repeated_tables}
    for other_frame in frames:
        other_metadata = metadata_of(other_frame, with_index_levels=True)
        matching_columns, new_repeated_tables = _find_matching_columns(
            frame, other_frame, other_metadata
        )
        adopted_columns = {
            name: matching_columns[name]
            for name in metadata_by_column.keys() & matching_columns
            # Declared columns keep their own metadata.
            if not metadata_by_column[name].declared_name
        }
        if adopted_columns:
            metadata_by_column |= adopted_columns
            all_metadata.append(other_metadata)
            repeated_tables |= {*other_metadata.repeated_tables, *new_repeated_tables}
            key_columns = key_columns or (
                other_metadata.key if {*other_metadata.key} <= metadata_by_column.keys() else ()
            )
    adopted_frame = frame.copy(deep=False)
    key_by_table = {
        table: table_key
        for frame_metadata in reversed(all_metadata)
        for table, table_key in frame_metadata.key_by_table.items()
    }
    adopted_metadata = FrameMetadata(
        metadata_by_column,
        unique_key(adopted_frame, key_columns),
        sources_of(all_metadata),
        key_by_table,
        tuple(sorted(repeated_tables)),
    )
    return attach(adopted_frame, adopted_metadata)


def with_unmatched_rows(
    column: ColumnMetadata, availability: Availability, new_statements: Sequence[Statement] = ()
) -> ColumnMetadata:
    """Return the metadata of a column after a merge in which some rows found no match.

    ``availability`` (a status with its reason) is that of the rows without a match; it becomes a
    part of the availability of the column. ``new_statements`` state it for single rows.
    """
    combined_availability = combine([column.availability, availability])
    if is_joined_table(column.table) and column.availability == NO_METADATA.availability:
        # A column that no table declares: nothing is stated about single rows.
        combined_availability = replace(availability, status=Status.PARTIAL)
        new_statements = ()
    elif column.availability.status not in (Status.AVAILABLE, Status.PARTIAL):
        return column
    elif not new_statements:  # no keys tell which rows have no match
        return column.combined_with(availability)
    statements = (*column.statements, *new_statements)
    return replace(
        column,
        availability=combined_availability,
        rest_availability=column.default_availability,
        statements=statements,
    )


def no_match_availability(unmatched_count: int, row_count: int) -> Availability:
    """Return the availability (status and reason) of the cells of rows that found no match."""
    reason = f"{unmatched_count} of {row_count} rows without a match"
    return Availability(Status.UNAVAILABLE, Cause.NO_ROW, reason)


def names_after_merge(
    left: pd.DataFrame, right: pd.DataFrame, options: MergeOptions
) -> list[dict[str, str]]:
    """Return two dicts, for the left and right frame, from column name to name after the merge.

    For example, ``count`` becomes ``count_x`` if both frames have a column of this name.
    """
    shared_names = {*map(str, left.columns.intersection(right.columns))} - {
        *_find_shared_keys(left, right, options)
    }
    return [
        {
            str(name): f"{name}{suffix or ''}" if str(name) in shared_names else str(name)
            for name in (*frame.columns, *frame.index.names)
        }
        for frame, suffix in zip((left, right), options.get("suffixes", ("_x", "_y")), strict=True)
    ]


def _key_metadata(
    left: ColumnMetadata,
    right: ColumnMetadata,
    *,
    left_only_count: int,
    right_only_count: int,
) -> ColumnMetadata:
    """Return the metadata of a key column after a merge.

    ``left_only_count`` and ``right_only_count`` are the numbers of rows that only one frame has.
    """
    # Neither side has all values of the key.
    if left_only_count and right_only_count:
        declared_name = left.declared_name if left.declared_name == right.declared_name else None
        return ColumnMetadata(declared_name, combine([left.availability, right.availability]))
    metadata, other_metadata = (right, left) if right_only_count else (left, right)
    return (
        other_metadata
        if metadata == NO_METADATA and not (left_only_count or right_only_count)
        else metadata
    )


def unique_key(frame: pd.DataFrame, key: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``key`` if its columns identify each row of the frame; else an empty tuple."""
    flat_frame = flatten_index(frame)
    has_key_columns = bool(key) and {*key} <= {*flat_frame.columns}
    return key if has_key_columns and not flat_frame.duplicated([*key]).any() else ()


def sources_of(metadata_of_frames: Iterable[FrameMetadata]) -> tuple[Any, ...]:
    """Return the distinct `Source` records of several frames, i.e. the responses they came from."""
    return tuple(
        dict.fromkeys(chain.from_iterable(metadata.sources for metadata in metadata_of_frames))
    )


def _find_matching_columns(
    frame: pd.DataFrame, other_frame: pd.DataFrame, other_metadata: FrameMetadata
) -> tuple[dict[str, ColumnMetadata], set[str]]:
    """Return the metadata of those columns of ``other_frame`` that ``frame`` has with equal values.

    The values count as the same if only rows were selected, sorted or repeated, or if further rows
    of ``frame`` have no value.

    Returns
    -------
    matching_columns : dict of str to ColumnMetadata
        The metadata of these columns, by name.
    repeated_tables : set of str
        The names of those tables in ``other_frame`` that have a row which occurs more often in
        ``frame`` than in ``other_frame``.
    """
    declared_columns = {
        name: column for name, column in other_metadata.columns.items() if column.declared_name
    }
    empty_columns = [
        name for name, column in declared_columns.items() if column.availability.status in EMPTY
    ]
    fingerprint = fingerprint_of(
        other_frame,
        [name for name in declared_columns if name not in empty_columns],
        other_metadata.key,
    )
    fingerprint_check = FingerprintCheck(frame, fingerprint, other_metadata.key)
    matching_columns = {
        name: column
        for name, column in declared_columns.items()
        if (
            fingerprint_check.is_column_empty(name)
            if name in empty_columns
            else not fingerprint_check.change_reason(name)
        )
    }
    repeated_tables = fingerprint_check.find_repeated_tables(columns_by_table(matching_columns))
    for name, column in declared_columns.items():
        if name in matching_columns or name in empty_columns or name not in frame.columns:
            continue
        rows_with_value = frame[frame[name].notna()]
        fingerprint_check = FingerprintCheck(rows_with_value, fingerprint, other_metadata.key)
        if len(rows_with_value) and fingerprint_check.change_reason(name) is None:
            missing_count = len(frame) - len(rows_with_value)
            matching_columns[name] = with_unmatched_rows(
                column, no_match_availability(missing_count, len(frame))
            )
            repeated_tables |= fingerprint_check.find_repeated_tables(
                {column.table: [*other_metadata.key, name]}
            )
    return matching_columns, repeated_tables


def _with_undeclared_table(
    frame: pd.DataFrame, metadata: FrameMetadata, merge_keys: Sequence[Any]
) -> FrameMetadata:
    """Return a frame's metadata in which the undeclared columns form a new table with a key.

    After a merge, the name and key of this table show which rows were repeated. ``merge_keys``
    lists the columns, index levels or arrays of this frame that the merge compares.
    """
    array_by_column = arrays_of(frame)
    undeclared_column_names = [
        name
        for name, column in metadata.columns.items()
        if name in array_by_column
        and column.declared_name is None
        and column.availability.reason not in (OVERWRITTEN_REASON, MOVED_REASON)
    ]
    if not undeclared_column_names:
        return metadata
    flat_frame = flatten_index(frame)
    unique_column_names = [
        name
        for name in flat_frame.columns
        if isinstance(name, str) and [*flat_frame.columns].count(name) == 1
    ]
    non_float_columns = [name for name in unique_column_names if flat_frame[name].dtype.kind != "f"]
    merge_keys = [name for name in merge_keys if isinstance(name, str)]
    # The key of the new table is the first of these that identifies the rows.
    candidate_keys = [
        merge_keys,
        metadata.key or merge_keys,
        *([*merge_keys, non_float_column] for non_float_column in non_float_columns),
        [*merge_keys, *non_float_columns],
        [*merge_keys, *undeclared_column_names],
        unique_column_names,
    ]
    table_key = (NO_KEY_PLACEHOLDER,)
    for candidate_key in map(dict.fromkeys, candidate_keys):
        with suppress(TypeError):  # lists have no hash
            if {*candidate_key} <= {*unique_column_names} and not (
                flat_frame.duplicated([*candidate_key]).any()
                if candidate_key
                else len(flat_frame) > 1
            ):
                table_key = tuple(candidate_key)
                break
    hashed_columns = sorted({*undeclared_column_names, *table_key} & {*array_by_column})
    row_hashes = np.sort(
        combine_to_row_hashes([hash_cells(array_by_column[name]) for name in hashed_columns])
    )
    digest = hashlib.sha256(
        repr((hashed_columns, metadata.sources)).encode() + row_hashes.tobytes()
    )
    table_name = f"{JOINED_TABLE_PREFIX}{digest.hexdigest()[:12]}"
    metadata_by_column = {
        name: replace(column, declared_name=f"{table_name}.{name}")
        if name in undeclared_column_names
        else column
        for name, column in metadata.columns.items()
    }
    # A frame without metadata gets this key as its own.
    is_without_metadata = len(undeclared_column_names) == len(metadata.columns) and table_key != (
        NO_KEY_PLACEHOLDER,
    )
    return replace(
        metadata,
        columns=metadata_by_column,
        key=table_key if is_without_metadata else metadata.key,
        key_by_table={**metadata.key_by_table, table_name: table_key},
    )


# --- keys of a merge ----------------------------------------------------------------------------


def _find_merge_keys(
    left: pd.DataFrame, right: pd.DataFrame, options: MergeOptions
) -> list[list[Any]]:
    """Return the merge keys of each side: column names, index levels or arrays."""
    if options.get("how") == "cross":
        return [[], []]
    on_option = options.get("on")
    merge_keys = (
        [on_option, on_option]
        if on_option is not None
        else [options.get("left_on"), options.get("right_on")]
    )
    for position, frame in enumerate((left, right)):
        if options.get(("left_index", "right_index")[position]):
            merge_keys[position] = [*frame.index.names]
    if merge_keys == [None, None]:
        merge_keys = [[name for name in left.columns if name in {*right.columns}]] * 2
    return [
        [*key_names] if isinstance(key_names, list | tuple) else [key_names]
        for key_names in merge_keys
    ]


def _find_shared_keys(left: pd.DataFrame, right: pd.DataFrame, options: MergeOptions) -> list[str]:
    """Return the merge keys that have the same name on both sides."""
    if options.get("left_index") or options.get("right_index"):
        level_names = [str(name) for name in left.index.names if name is not None]
        return [name for name in level_names if name in right.index.names]
    key_pairs = zip(*_find_merge_keys(left, right, options), strict=False)
    is_scalar = pd.api.types.is_scalar
    return [
        str(left_key)
        for left_key, right_key in key_pairs
        if is_scalar(left_key) and is_scalar(right_key) and left_key == right_key
    ]


def _check_keys(
    left: pd.DataFrame,
    right: pd.DataFrame,
    options: MergeOptions,
    keys_of_frames: Sequence[Sequence[Any]],
) -> None:
    """Raise if a merge key does not exist, or if pandas would merge on a measured column.

    ``keys_of_frames`` has the merge keys of the left and of the right frame.
    """
    for frame, frame_name, frame_keys in zip(
        (left, right), ("left", "right"), keys_of_frames, strict=True
    ):
        available_names = [str(name) for name in (*frame.columns, *frame.index.names)]
        for merge_key in frame_keys:
            if isinstance(merge_key, str) and merge_key not in available_names:
                hint = "; where its name differs between the frames, use left_on= and right_on="
                column_kind = f"{frame_name}-hand column"
                raise item_not_found(column_kind, merge_key, available_names, hint)
    key_options = ("on", "left_on", "right_on", "left_index", "right_index")
    if any(options.get(name) is not None and options[name] is not False for name in key_options):
        return
    left_metadata = metadata_of(left, with_index_levels=True)
    shared_keys = keys_of_frames[0]
    key_columns = {*left_metadata.key, *metadata_of(right, with_index_levels=True).key}
    text_keys = [
        name for name in shared_keys if not pd.api.types.is_numeric_dtype(left[name].dtype)
    ]
    measure_columns = [
        name
        for name in map(str, shared_keys)
        if left_metadata.declaration_of(name).aggregate.rule not in ("none", "key")
        or (left_metadata.declaration_of(name).unit and name not in (*key_columns, *text_keys))
    ]
    if measure_columns:
        raise ArgumentError(
            "without on= rows are joined where all shared columns are equal, and "
            f"{', '.join(measure_columns)} are measures; name the key: "
            f"on={[name for name in shared_keys if name in key_columns] or text_keys or '…'}",
            argument="on",
        )


# --- stacked frames -----------------------------------------------------------------------------

_MAX_CONDITION_VALUES = 500
"""The maximum number of values in the conditions that select the rows of one stacked frame."""


@record_call_as("concat", "frames")
def concat(
    frames: Iterable[pd.DataFrame] | Mapping[Hashable, pd.DataFrame],
    *,
    join: str = "outer",
    ignore_index: bool = False,
    keys: Iterable[Hashable] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Stack frames like `pandas.concat`, and keep their metadata.

    A column keeps its dtype even if a frame lacks it. A categorical column gets the categories of
    all frames.

    The column's availability, i.e. whether it was measured, is combined from all frames. For
    example, it is ``partial`` if one frame lacks the column. The column keeps its unit and
    aggregation rule if all frames agree on them.

    Parameters
    ----------
    frames : iterable or mapping of pandas.DataFrame
        The frames; none is changed. The keys of a mapping are used as ``keys``.
    join : {"outer", "inner"}
        Whether to keep all columns, or those that all frames have.
    ignore_index : bool
        Whether to number the rows anew.
    keys, **options
        As in `pandas.concat`.

    Returns
    -------
    pandas.DataFrame
        The rows of all frames, in order.

    Raises
    ------
    ValueError
        If `pandas.concat` refuses the frames or options.
    MetadataError
        If a frame's metadata is damaged, or newer than this version can read.

    Examples
    --------
    >>> first, second = pd.DataFrame({"n": [1]}), pd.DataFrame({"n": [2], "m": [3]})
    >>> concat([first, second], ignore_index=True)
       n     m
    0  1  <NA>
    1  2     3
    """
    if isinstance(frames, Mapping):
        keys = [*frames] if keys is None else [*keys]
        frames = [frames[name] for name in keys]
    frames = [*frames]
    stacked_frame = pd.concat(
        _cast_to_common_dtypes(frames),
        join=join,  # type: ignore[call-overload]
        ignore_index=ignore_index,
        keys=keys,
        **options,
    )
    frames_with_metadata = [(frame, metadata_of(frame, with_index_levels=True)) for frame in frames]
    nonempty_frames = [
        frame_and_metadata
        for frame_and_metadata in frames_with_metadata
        if len(frame_and_metadata[0])
    ] or frames_with_metadata
    conditions_by_frame = _find_frame_conditions(nonempty_frames)
    metadata_by_column = {
        str(name): _stacked_column_metadata(
            str(name), nonempty_frames, frames_with_metadata, conditions_by_frame
        )
        for name in stacked_frame.columns
    }
    complete_statuses = (Status.AVAILABLE, Status.NOT_APPLICABLE)
    for name, column_metadata in metadata_by_column.items():
        frames_and_columns = [
            (frame, metadata.columns[name])
            for frame, metadata in frames_with_metadata
            if name in metadata.columns
        ]
        absence_reasons = [
            availability
            for _, column_metadata in frames_and_columns
            for availability in column_metadata.absence_reasons
        ]
        absence_reasons += [
            column_metadata.availability
            for frame, column_metadata in frames_and_columns
            if not len(frame)
            and nonempty_frames != frames_with_metadata
            and column_metadata.availability.status not in complete_statuses
        ]
        metadata_by_column[name] = (
            column_metadata.with_absences(*absence_reasons) if absence_reasons else column_metadata
        )
    distinct_keys = {metadata.key for _, metadata in frames_with_metadata}
    shared_key = distinct_keys.pop() if len(distinct_keys) == 1 else ()
    stacked_key = unique_key(stacked_frame, shared_key)
    if conditions_by_frame and not stacked_key and shared_key:
        stacked_key = unique_key(
            stacked_frame,
            (*(condition.column for condition in conditions_by_frame[0]), *shared_key),
        )
    key_by_table: dict[str, tuple[str, ...]] = {}
    repeated_tables = {
        table for _, metadata in frames_with_metadata for table in metadata.repeated_tables
    }
    for table in dict.fromkeys(
        table for _, metadata in frames_with_metadata for table in table_names_of(metadata)
    ):
        frames_with_table = [
            frame_and_metadata
            for frame_and_metadata in nonempty_frames
            if table in table_names_of(frame_and_metadata[1])
        ]
        metadata_with_table = [
            metadata for _, metadata in frames_with_metadata if table in table_names_of(metadata)
        ]
        table_keys = {metadata.key_of(table) for metadata in metadata_with_table}
        table_key = min(table_keys, key=str) or ()
        key_presence_flags = {
            all(map(metadata.has_valid_metadata, metadata.key_of(table) or table_key))
            for _, metadata in frames_with_table
        }
        has_different_keys = len(table_keys) > 1 or len(key_presence_flags) > 1
        if has_different_keys:
            key_by_table[table] = (f"the key of {table} of every frame",)
        elif any(table in metadata.key_by_table for metadata in metadata_with_table):
            key_by_table[table] = table_key
        if has_different_keys or _repeats_rows(frames_with_table, table):
            repeated_tables.add(table)
    if any(map(is_joined_table, repeated_tables)):
        joined_tables = {column_metadata.table for column_metadata in metadata_by_column.values()}
        repeated_tables |= {*filter(is_joined_table, joined_tables)} - {*key_by_table}
    sources = sources_of(metadata for _, metadata in frames_with_metadata)
    return attach(
        stacked_frame,
        FrameMetadata(
            metadata_by_column, stacked_key, sources, key_by_table, tuple(sorted(repeated_tables))
        ),
    )


def _repeats_rows(frames: Sequence[FrameWithMetadata], table_name: str) -> bool:
    """Return whether two of the frames have rows of ``table_name`` in common."""
    frames_by_response = group_values(
        (scope, (frame, metadata))
        for frame, metadata in frames
        for scope in (
            {table_name}
            if is_joined_table(table_name)
            else {*map(response_scope, metadata.sources)}
        )
    )
    for frames_of_response in frames_by_response.values():
        # Only frames that were read from the same response can repeat rows.
        if len(frames_of_response) < 2:
            continue
        compared_frames = []
        for frame, metadata in frames_of_response:
            name_by_declared_name = {
                column.declared_name: name
                for name, column in metadata.columns.items()
                if column.table == table_name
            }
            fingerprint = original_fingerprint(frame, metadata)
            if fingerprint is None or not fingerprint.is_complete:
                fingerprint = fingerprint_of(
                    frame, filter(metadata.has_valid_metadata, metadata.columns), metadata.key
                )
            compared_frames.append((name_by_declared_name, arrays_of(frame), fingerprint))
        shared_columns = [
            declared_name
            for declared_name in compared_frames[0][0]
            if all(
                name_by_declared_name.get(declared_name) in fingerprint.missing_counts_and_hashes
                for name_by_declared_name, _, fingerprint in compared_frames
            )
        ]
        current_hashes = [
            np.concatenate(
                [
                    hash_cells(array_by_column[name_by_declared_name[declared_name]])
                    for name_by_declared_name, array_by_column, _ in compared_frames
                ]
            )
            for declared_name in shared_columns
        ]
        original_hashes = [
            fingerprint.cell_hashes_of(
                name_by_declared_name[declared_name] for declared_name in shared_columns
            )
            for name_by_declared_name, _, fingerprint in compared_frames
        ]
        if shared_columns and has_excess_rows(current_hashes, original_hashes):
            return True
    return False


def _distinct_texts(values: pd.Series) -> tuple[str, ...]:
    """Return the distinct values as texts; an empty tuple if one is missing or there are many."""
    distinct_values = values.unique()
    if len(distinct_values) > _MAX_CONDITION_VALUES or values.isna().any():
        return ()
    return tuple(map(as_text, pd.Series(distinct_values).astype(object)))


def _find_frame_conditions(
    frames: Sequence[FrameWithMetadata],
) -> list[tuple[Condition, ...]] | None:
    """Return for each frame the conditions that select its rows in the stacked frame.

    For example, the rows of a frame of one host are selected by the value of ``host``. The result
    is None if no column tells the frames apart.
    """
    key_columns = [name for _, metadata in frames for name in metadata.key]
    candidate_columns = dict.fromkeys(("host", *CONTEXT_COLUMNS, *FILTERS, *key_columns))
    del candidate_columns["fetched_at"]
    for condition_columns in (
        *((name,) for name in candidate_columns),
        ("host", "days"),
        ("fetched_at",),
    ):
        if not all(
            {*condition_columns} <= {*frame.columns} & metadata.columns.keys()
            for frame, metadata in frames
        ):
            continue
        texts_of_frames = [
            [_distinct_texts(frame[name]) for name in condition_columns] for frame, _ in frames
        ]
        combinations = [
            combination
            for texts_of_columns in texts_of_frames
            for combination in product(*texts_of_columns)
        ]
        is_listable = all(map(all, texts_of_frames)) and len(combinations) <= _MAX_CONDITION_VALUES
        if is_listable and len(combinations) == len({*combinations}):
            return [
                tuple(
                    Condition(name, "in", column_texts)
                    for name, column_texts in zip(condition_columns, texts_of_columns, strict=True)
                )
                for texts_of_columns in texts_of_frames
            ]
    return None


def _stacked_column_metadata(
    name: str,
    nonempty_frames: Sequence[FrameWithMetadata],
    all_frames: Sequence[FrameWithMetadata],
    conditions_by_frame: Sequence[tuple[Condition, ...]] | None,
) -> ColumnMetadata:
    """Return the metadata of the column ``name`` of stacked frames, combined from all frames.

    ``conditions_by_frame`` has for each frame the conditions that select its rows in the stacked
    frame; None if no column tells the frames apart.
    """
    has_column = any(name in metadata.columns for _, metadata in nonempty_frames)
    frames, conditions_by_frame = (
        (nonempty_frames, conditions_by_frame) if has_column else (all_frames, None)
    )
    metadata_of_columns = [
        metadata.columns[name] for _, metadata in frames if name in metadata.columns
    ]
    declared_names = {column_metadata.declared_name for column_metadata in metadata_of_columns}
    tables = sorted({column_metadata.table for column_metadata in metadata_of_columns})
    if len(declared_names) > 1 and all(
        map(is_joined_table, tables)
    ):  # of several frames that were merged, no key
        declared_names = {
            f"{JOINED_TABLE_PREFIX}{hashlib.sha256(repr(tables).encode()).hexdigest()[:12]}.{name}"
        }
    missing_row_count = sum(
        len(frame) for frame, metadata in frames if name not in metadata.columns
    )
    row_count = sum(len(frame) for frame, _ in frames)
    absence_reason = f"{missing_row_count} of {row_count} rows from frames without it"
    absence_availability = Availability(Status.UNAVAILABLE, Cause.ABSENT, absence_reason)
    column_metadata = ColumnMetadata(
        declared_names.pop() if len(declared_names) == 1 else None,
        combine(column_metadata.availability for column_metadata in metadata_of_columns),
        caution=next(
            (
                column_metadata.caution
                for column_metadata in metadata_of_columns
                if column_metadata.caution
            ),
            None,
        ),
    )
    has_equal_statements = (
        len(metadata_of_columns) == len(frames)
        and len({column_metadata.statements for column_metadata in metadata_of_columns}) == 1
    )
    default_availabilities = {
        column_metadata.default_availability for column_metadata in metadata_of_columns
    }
    if has_equal_statements and (len(default_availabilities) == 1 or conditions_by_frame is None):
        return replace(
            column_metadata,
            statements=metadata_of_columns[0].statements,
            rest_availability=combine([*default_availabilities]),
        )
    if conditions_by_frame is None:
        is_measured = column_metadata.availability.status in (Status.AVAILABLE, Status.PARTIAL)
        return (
            column_metadata.combined_with(absence_availability)
            if missing_row_count and is_measured
            else column_metadata
        )
    statements = chain.from_iterable(
        metadata.columns.get(name, ColumnMetadata(None, absence_availability)).statements_within(
            *conditions
        )
        for (_, metadata), conditions in zip(frames, conditions_by_frame, strict=True)
    )
    return replace(column_metadata, statements=tuple(statements))


def _cast_to_common_dtypes(frames: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return copies of the frames in which each column has one dtype, which stacking then keeps."""
    if not all(frame.columns.is_unique for frame in frames):
        return [*frames]
    new_frames = [pd.DataFrame(frame).copy(deep=False) for frame in frames]  # without attrs
    for column_name in dict.fromkeys(chain.from_iterable(new_frames)):
        frames_with_column = [frame for frame in new_frames if column_name in frame]
        dtype = _find_common_dtype(
            [frame[column_name] for frame in frames_with_column],
            len(frames_with_column) < len(new_frames),
        )
        for frame in frames_with_column if dtype is not None else ():
            is_empty = frame[column_name].isna().all()
            column_values = pd.Series(None, frame.index) if is_empty else frame[column_name]
            frame[column_name] = column_values.astype(dtype)
    return new_frames


def _find_common_dtype(columns: Sequence[pd.Series], may_be_missing: bool) -> Any:
    """Return the dtype to convert columns to before stacking; None if pandas may choose.

    ``may_be_missing`` says whether some of the stacked frames lack the column.
    """
    filled_columns = [column for column in columns if column.notna().any()]
    dtypes: list[Any] = [*dict.fromkeys(column.dtype for column in filled_columns or columns)]
    other_dtypes = [dtype for dtype in dtypes if not isinstance(dtype, pd.CategoricalDtype)]
    if len(dtypes) > 1 and not other_dtypes:
        category_levels = chain.from_iterable(dtype.categories for dtype in dtypes)
        return pd.CategoricalDtype([*dict.fromkeys(category_levels)])
    if len(dtypes) > 1 and len(other_dtypes) != 1:
        return None
    dtype = (other_dtypes or dtypes)[0]
    may_be_missing = may_be_missing or len(filled_columns) < len(columns)
    return to_nullable(pd.Series(dtype=dtype)).dtype if filled_columns and may_be_missing else dtype
