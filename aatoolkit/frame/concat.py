"""`concat` with pandas' signature that keeps the metadata of all frames.

Where the rows of each frame are identified by a column, what is stated of a frame stays a statement
about its rows; where they cannot, it is combined over all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Cause, combine
from aatoolkit.availability.subject import Condition
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.duplicates import answer_of
from aatoolkit.frame.merge import (
    absent_rows,
    common_table,
    is_joined,
    sources_of,
    unique_key,
    without_rows,
)
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.frame.statements import MOST_VALUES, distinct_texts, with_absent
from aatoolkit.metadata.arrow_schema import declared_key
from aatoolkit.metadata.attrs import (
    ColumnMetadata,
    FrameMetadata,
    attach,
    fingerprint_in,
    metadata_of,
    tables_of,
)
from aatoolkit.metadata.fingerprint import (
    Fingerprint,
    arrays_of,
    fingerprint_of,
    has_more,
    hash_cells,
)
from aatoolkit.metadata.recorded import recorded
from aatoolkit.scope import FILTERS

Described = tuple[pd.DataFrame, FrameMetadata]
Conditions = tuple[Condition, ...]


@recorded("concat", "frames")
def concat(
    frames: Iterable[pd.DataFrame] | Mapping[Hashable, pd.DataFrame],
    *,
    join: str = "outer",
    ignore_index: bool = False,
    keys: Iterable[Hashable] | None = None,
    names: list[Hashable] | None = None,
    sort: bool = False,
    verify_integrity: bool = False,
) -> pd.DataFrame:
    """Stack frames as `pandas.concat` does, with the metadata of all of them.

    A column keeps its dtype where a frame lacks it or has only missing values of it, and a
    category gets the levels of all. Its status is the join of its statuses in all frames; it
    is ``partial`` where a frame with rows lacks it. It stays the same declared column, with
    unit and rule, if it is so in every frame that has it.

    Parameters
    ----------
    frames : iterable or mapping of pandas.DataFrame
        The frames; none is changed. Of a mapping, its keys are ``keys``.
    join : {"outer", "inner"}
        Whether to keep all columns, or those that all frames have.
    ignore_index : bool
        Whether to number the rows anew.
    keys, names, sort, verify_integrity
        As in `pandas.concat`.

    Returns
    -------
    pandas.DataFrame
        The rows of all frames, one after the other.

    Raises
    ------
    ArgumentError
        If there is no frame, or `pandas.concat` refuses what is given.
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
    listed = _frames(frames)
    problem = ""
    try:
        stacked = pd.concat(
            in_common(listed, every=join == "outer"),
            join=join,  # type: ignore[call-overload]
            ignore_index=ignore_index,
            keys=keys,
            names=names,
            sort=sort,
            verify_integrity=verify_integrity,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ArgumentError(f"the frames cannot be concatenated: {problem}")
    knowns = [metadata_of(frame, levels=True) for frame in listed]
    every = [*zip(listed, knowns, strict=True)]
    held = [pair for pair in every if len(pair[0])] or every
    apart = _apart(held)
    columns = {str(name): _stacked(str(name), held, every, apart) for name in stacked.columns}
    empty = [known for frame, known in every if not len(frame)] if held != every else []
    columns = with_absent(columns, held, empty)
    same = {known.key for known in knowns}
    key = same.pop() if len(same) == 1 else ()
    whole = unique_key(stacked, key)
    if apart and not whole and key:
        whole = unique_key(stacked, (*(each.column for each in apart[0]), *key))
    grains, repeated = _stacked_grains(knowns, columns.values())
    for table in dict.fromkeys(table for known in knowns for table in tables_of(known)):
        having = [pair for pair in held if table in tables_of(pair[1])]
        key = grains.get(table, declared_key(table) or ())
        if len({*(_has_all(known, table, key) for _, known in having)}) > 1:
            repeated.add(table)
            grains[table] = tuple(f"{name} of every frame" for name in key)
        elif _stacks_again(having, table):
            repeated.add(table)
    described = FrameMetadata(columns, whole, sources_of(knowns), grains, tuple(sorted(repeated)))
    return attach(stacked, described)


def _has_all(known: FrameMetadata, table: str, key: Sequence[str]) -> bool:
    """Whether a frame has the key of a table."""
    grain = known.grain(table, declared_key(table)) or key
    return all(map(known.holds, grain))


def _stacks_again(frames: Sequence[Described], table: str) -> bool:
    """Whether rows of a table are in several frames of one answer, or perhaps are.

    They are if the frames hold a row more often than any of the frames that they were taken from.
    """
    apart: list[tuple[set[Any], list[Described]]] = []
    for frame, known in frames:
        answers = {table} if is_joined(table) else {*map(answer_of, known.sources)}
        touching = [at for at, (others, _) in enumerate(apart) if others & answers]
        members = [member for at in touching for member in apart[at][1]]
        answers = answers.union(*(apart[at][0] for at in touching))
        apart = [each for at, each in enumerate(apart) if at not in touching]
        apart.append((answers, [*members, (frame, known)]))
    return any(_has_again(members, table) for _, members in apart if len(members) > 1)


def _has_again(frames: Sequence[Described], table: str) -> bool:
    names = [
        {column.of: name for name, column in known.columns.items() if column.table == table}
        for _, known in frames
    ]
    origins = [_origin(frame, known) for frame, known in frames]
    shared = [
        of
        for of in names[0]
        if all(own.get(of) in origin.cells for own, origin in zip(names, origins, strict=True))
    ]
    if not shared:
        return False
    rows = [
        [hash_cells(arrays_of(frame)[own[of]]) for of in shared]
        for (frame, _), own in zip(frames, names, strict=True)
    ]
    read = [
        origin.rows_of(own[of] for of in shared) for own, origin in zip(names, origins, strict=True)
    ]
    return has_more([np.concatenate(column) for column in zip(*rows, strict=True)], read)


def _origin(frame: pd.DataFrame, known: FrameMetadata) -> Fingerprint:
    """The hashes of the rows that a frame was taken from; its own where they are not at hand."""
    found = fingerprint_in(frame, known)
    if found is not None and found.whole:
        return found
    return fingerprint_of(frame, filter(known.holds, known.columns), known.key)


def _frames(given: Any) -> list[pd.DataFrame]:
    """The frames, if that is what they are.

    Raises
    ------
    ArgumentError
        If they are no frames.
    ArgumentError
        If there is none.
    """
    if isinstance(given, pd.DataFrame | str | bytes) or not isinstance(given, Iterable):
        raise ArgumentError(
            f"frames is a {type(given).__name__}; give a list of DataFrames", argument="frames"
        )
    listed = [*given]
    wrong = [each for each in listed if not isinstance(each, pd.DataFrame)]
    if wrong:
        raise ArgumentError(
            f"frames holds a {type(wrong[0]).__name__}, which is no DataFrame", argument="frames"
        )
    if not listed:
        raise ArgumentError("No objects to concatenate: give one frame at least", argument="frames")
    return listed


def _stacked_grains(
    knowns: Sequence[FrameMetadata], columns: Iterable[ColumnMetadata]
) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """The columns that identify the rows of each table, and the tables whose rows may repeat."""
    grains: dict[str, tuple[str, ...]] = {}
    repeated = {table for known in knowns for table in known.repeated}
    for table in dict.fromkeys(table for known in knowns for table in tables_of(known)):
        key = declared_key(table)
        found = {known.grain(table, key) for known in knowns if table in tables_of(known)}
        if len(found) > 1:
            repeated.add(table)
            grains[table] = (f"rows of one kind of {table}",)
        elif any(table in known.grains for known in knowns):
            grains[table] = found.pop() or ()
    if any(map(is_joined, repeated)):
        several = {column.table for column in columns if is_joined(column.table)}
        repeated |= {table for table in several if table not in grains}
    return grains, repeated


def _apart(frames: Sequence[Described]) -> list[Conditions] | None:
    """Conditions that distinguish the rows of each frame; None if no columns do.

    They name the values of a column that no two frames share: of its context, of what it was
    read by, or of its key. Else they name its host and its window, and last the time of reading,
    which says of frames read within a second nothing.
    """
    keys = [name for _, known in frames for name in known.key]
    names = dict.fromkeys(("host", *CONTEXT, *FILTERS, *keys))
    single = [(name,) for name in names if name != "fetched_at"]
    for columns in (*single, ("host", "days"), ("fetched_at",)):
        if found := _distinct_by(frames, columns):
            return found
    return None


def _distinct_by(frames: Sequence[Described], columns: tuple[str, ...]) -> list[Conditions]:
    """Conditions on some columns whose values, taken together, no two frames share; else none."""
    if not all({*columns} <= {*frame.columns} & known.columns.keys() for frame, known in frames):
        return []
    values = [[distinct_texts(frame[name]) for name in columns] for frame, _ in frames]
    combined = [row for each in values if all(each) for row in product(*(v or () for v in each))]
    if (
        not all(map(all, values))
        or len(combined) != len({*combined})
        or len(combined) > MOST_VALUES
    ):
        return []
    return [
        tuple(Condition(name, "in", tuple(v or ())) for name, v in zip(columns, each, strict=True))
        for each in values
    ]


def _stacked(
    name: str,
    held: Sequence[Described],
    every: Sequence[Described],
    apart: Sequence[Conditions] | None,
) -> ColumnMetadata:
    """The metadata of a column over the frames that have it, and those that lack it.

    Where none of the frames with rows has it, it is that of all frames.
    """
    is_held = any(name in known.columns for _, known in held)
    frames, apart = (held, apart) if is_held else (every, None)
    having = [known.columns[name] for _, known in frames if name in known.columns]
    lacking = [frame for frame, known in frames if name not in known.columns]
    whole = ColumnMetadata(
        common_table(name, having),
        combine(column.availability for column in having),
        caution=next((column.caution for column in having if column.caution), None),
    )
    rows, without = sum(len(frame) for frame, _ in frames), sum(map(len, lacking))
    alike = not lacking and len({column.statements for column in having}) == 1
    if alike and len({column.elsewhere for column in having}) == 1:
        return replace(having[0], of=whole.of, otherwise=having[0].elsewhere)
    if apart is None and alike:
        otherwise = combine(column.elsewhere for column in having)
        return replace(whole, statements=having[0].statements, otherwise=otherwise)
    if apart is None:
        return without_rows(whole, without, rows, Cause.ABSENT, "are of frames without")
    absent = ColumnMetadata(None, absent_rows(without, rows, Cause.ABSENT, "are of frames without"))
    stated = tuple(
        statement
        for (_, known), conditions in zip(frames, apart, strict=True)
        for statement in known.columns.get(name, absent).within(*conditions)
    )
    return replace(whole, statements=stated)


def in_common(frames: Sequence[pd.DataFrame], *, every: bool) -> list[pd.DataFrame]:
    """Cast columns of several frames to common dtypes.

    Parameters
    ----------
    frames : sequence of pandas.DataFrame
        The frames, none of which is changed.
    every : bool
        Whether each gets every column, missing where it had none.
    """
    if not all(frame.columns.is_unique for frame in frames):
        return [*frames]
    labels = dict.fromkeys(chain.from_iterable(frame.columns for frame in frames))
    targets: dict[Hashable, Any] = {label: _common(frames, label, every=every) for label in labels}
    return [_with_dtypes(frame, targets, every=every) for frame in frames]


def _with_dtypes(frame: pd.DataFrame, targets: dict[Hashable, Any], *, every: bool) -> pd.DataFrame:
    columns = {
        label: _as(frame[label], dtype) if label in frame.columns else _missing(frame, dtype)
        for label, dtype in targets.items()
        if every or label in frame.columns
    }
    return pd.DataFrame(columns, index=frame.index)


def _as(column: pd.Series, dtype: Any) -> pd.Series:
    if dtype is None or column.dtype == dtype:
        return column
    return _missing(column, dtype) if column.isna().all() else column.astype(dtype)


def _missing(like: pd.DataFrame | pd.Series, dtype: Any) -> pd.Series:
    """Make a column of missing values, of a given length."""
    return pd.Series(None, index=like.index, dtype=dtype or object)


def _common(frames: Sequence[pd.DataFrame], label: Hashable, *, every: bool) -> Any:
    """The common dtype of a column; None where pandas may choose it."""
    columns = [frame[label] for frame in frames if label in frame.columns]
    typed = [column for column in columns if column.dtype != object or column.notna().any()]
    dtypes = [*dict.fromkeys(column.dtype for column in typed)]
    levelled = [dtype for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)]
    plain = [dtype for dtype in dtypes if not isinstance(dtype, pd.CategoricalDtype)]
    if levelled and not plain:
        return _levelled(levelled)
    if len(plain) != 1:
        return None
    lacking = (every and len(columns) < len(frames)) or len(typed) < len(columns)
    return _nullable(plain[0]) if lacking else plain[0]


def _levelled(dtypes: Sequence[pd.CategoricalDtype]) -> pd.CategoricalDtype:
    """Combine categorical dtypes to one with all levels; ordered if one has all in one order."""
    longest = max(dtypes, key=lambda dtype: len(dtype.categories))
    ordered = all(
        dtype.ordered
        and [level for level in longest.categories if level in dtype.categories]
        == [*dtype.categories]
        for dtype in dtypes
    )
    levels = dict.fromkeys(chain.from_iterable(dtype.categories for dtype in (longest, *dtypes)))
    return pd.CategoricalDtype([*levels], ordered=ordered)


def _nullable(dtype: Any) -> Any:
    """The nullable counterpart of a dtype; the dtype itself if it can hold missing values."""
    if isinstance(dtype, pd.api.extensions.ExtensionDtype) or dtype.kind not in "biu":
        return dtype
    return "boolean" if dtype.kind == "b" else dtype.name.replace("int", "Int").replace("u", "U")
