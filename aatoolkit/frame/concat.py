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
    ValueError
        If `pandas.concat` refuses what is given.
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
    listed = [*frames]
    stacked = pd.concat(
        in_common(listed, every=join == "outer"),
        join=join,  # type: ignore[call-overload]
        ignore_index=ignore_index,
        keys=keys,
        names=names,
        sort=sort,
        verify_integrity=verify_integrity,
    )
    knowns = [metadata_of(frame, levels=True) for frame in listed]
    every = [*zip(listed, knowns, strict=True)]
    held = [pair for pair in every if len(pair[0])] or every
    apart = _apart(held)
    columns = {str(name): _stacked(str(name), held, every, apart) for name in stacked.columns}
    empty = [metadata for frame, metadata in every if not len(frame)] if held != every else []
    columns = with_absent(columns, held, empty)
    same = {metadata.key for metadata in knowns}
    key = same.pop() if len(same) == 1 else ()
    whole = unique_key(stacked, key)
    if apart and not whole and key:
        whole = unique_key(stacked, (*(condition.column for condition in apart[0]), *key))
    grains: dict[str, tuple[str, ...]] = {}
    repeated = {table for metadata in knowns for table in metadata.repeated}
    for table in dict.fromkeys(table for metadata in knowns for table in tables_of(metadata)):
        own, having = declared_key(table), [pair for pair in held if table in tables_of(pair[1])]
        kinds = {metadata.grain(table, own) for metadata in knowns if table in tables_of(metadata)}
        if len(kinds) > 1:
            repeated.add(table)
            grains[table] = (f"rows of one kind of {table}",)
        elif any(table in metadata.grains for metadata in knowns):
            grains[table] = kinds.pop() or ()
        grain = grains.get(table, own or ())
        if len({all(map(k.holds, k.grain(table, own) or grain)) for _, k in having}) > 1:
            repeated.add(table)
            grains[table] = tuple(f"{name} of every frame" for name in grain)
        elif _stacks_again(having, table):
            repeated.add(table)
    if any(map(is_joined, repeated)):
        joined = {column.table for column in columns.values() if is_joined(column.table)}
        repeated |= joined - {*grains}
    described = FrameMetadata(columns, whole, sources_of(knowns), grains, tuple(sorted(repeated)))
    return attach(stacked, described)


def _stacks_again(frames: Sequence[Described], table: str) -> bool:
    """Whether rows of a table are in several frames of one answer, or perhaps are.

    They are if the frames hold a row more often than any of the frames that they were taken from.
    """
    apart: list[tuple[set[Any], list[Described]]] = []
    for frame, metadata in frames:
        answers = {table} if is_joined(table) else {*map(answer_of, metadata.sources)}
        touching = [at for at, (others, _) in enumerate(apart) if others & answers]
        members = [member for at in touching for member in apart[at][1]]
        answers = answers.union(*(apart[at][0] for at in touching))
        apart = [each for at, each in enumerate(apart) if at not in touching]
        apart.append((answers, [*members, (frame, metadata)]))
    return any(_has_again(members, table) for _, members in apart if len(members) > 1)


def _has_again(frames: Sequence[Described], table: str) -> bool:
    names = [
        {column.of: name for name, column in metadata.columns.items() if column.table == table}
        for _, metadata in frames
    ]
    origins = [_origin(frame, metadata) for frame, metadata in frames]
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


def _origin(frame: pd.DataFrame, metadata: FrameMetadata) -> Fingerprint:
    """The hashes of the rows that a frame was taken from; its own where they are not at hand."""
    found = fingerprint_in(frame, metadata)
    if found is not None and found.whole:
        return found
    return fingerprint_of(frame, filter(metadata.holds, metadata.columns), metadata.key)


def _apart(frames: Sequence[Described]) -> list[Conditions] | None:
    """Conditions that distinguish the rows of each frame; None if no columns do.

    They name the values of a column that no two frames share: of its context, of what it was
    read by, or of its key. Else they name its host and its window, and last the time of reading,
    which says of frames read within a second nothing.
    """
    keys = [name for _, metadata in frames for name in metadata.key]
    names = dict.fromkeys(("host", *CONTEXT, *FILTERS, *keys))
    single = [(name,) for name in names if name != "fetched_at"]
    for columns in (*single, ("host", "days"), ("fetched_at",)):
        if found := _distinct_by(frames, columns):
            return found
    return None


def _distinct_by(frames: Sequence[Described], columns: tuple[str, ...]) -> list[Conditions]:
    """Conditions on some columns whose values, taken together, no two frames share; else none."""
    if not all(
        {*columns} <= {*frame.columns} & metadata.columns.keys() for frame, metadata in frames
    ):
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
    is_held = any(name in metadata.columns for _, metadata in held)
    frames, apart = (held, apart) if is_held else (every, None)
    having = [metadata.columns[name] for _, metadata in frames if name in metadata.columns]
    lacking = [frame for frame, metadata in frames if name not in metadata.columns]
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
        for (_, metadata), conditions in zip(frames, apart, strict=True)
        for statement in metadata.columns.get(name, absent).within(*conditions)
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
    kinds: dict[Hashable, Any] = {}
    for label in dict.fromkeys(chain.from_iterable(frame.columns for frame in frames)):
        columns = [frame[label] for frame in frames if label in frame.columns]
        kinds[label] = _common(columns, lacking=every and len(columns) < len(frames))
    return [
        pd.DataFrame(
            {
                label: _as(frame, label, kind)
                for label, kind in kinds.items()
                if every or label in frame.columns
            },
            index=frame.index,
        )
        for frame in frames
    ]


def _as(frame: pd.DataFrame, label: Hashable, dtype: Any) -> pd.Series:
    """A column of a frame in a dtype; of missing values where there is none, or it has none."""
    column = frame[label] if label in frame.columns else None
    if column is not None and (dtype is None or column.dtype == dtype):
        return column
    if column is None or column.isna().all():
        return pd.Series(None, index=frame.index, dtype=dtype or object)
    return column.astype(dtype)


def _common(columns: Sequence[pd.Series], *, lacking: bool) -> Any:
    """The common dtype of a column; None where pandas may choose it."""
    typed = [column for column in columns if column.dtype != object or column.notna().any()]
    dtypes = [*dict.fromkeys(column.dtype for column in typed)]
    levelled = [dtype for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)]
    plain = [dtype for dtype in dtypes if dtype not in levelled]
    if len(dtypes) > 1 and not plain:
        levels = chain.from_iterable(dtype.categories for dtype in levelled)
        return pd.CategoricalDtype([*dict.fromkeys(levels)])
    if len(dtypes) > 1 and len(plain) == 1:
        return plain[0]
    if len(dtypes) != 1:
        return None
    dtype, is_lacking = dtypes[0], lacking or len(typed) < len(columns)
    if not is_lacking or not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
        return dtype
    return "boolean" if dtype.kind == "b" else dtype.name.replace("int", "Int").replace("u", "U")
