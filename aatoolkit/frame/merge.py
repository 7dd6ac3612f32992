"""`merge`, `rename`, `concat` with pandas' signatures that keep the metadata pandas drops.

None changes a frame that it is given. A column's metadata is carried along as it holds in its
frame, and combined where several frames meet in one column; `adopt` restores what was lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition
from aatoolkit.frame.dtypes import in_common
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import (
    EMPTY,
    NOTHING,
    ColumnMetadata,
    FrameMetadata,
    attach,
    metadata_of,
)
from aatoolkit.metadata.fingerprint import FingerprintCheck, fingerprint_of

_SIDE = "_aatoolkit_side"

_MOST_VALUES = 500
"""The most values of a column by which the rows of frames are told from each other."""


def merge(left: pd.DataFrame, right: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """``left.merge(right, **options)`` with the metadata of both."""
    shown = options.pop("indicator", False)
    side = (shown if isinstance(shown, str) else "_merge") if shown else _SIDE
    merged = left.merge(right, **options, indicator=side)
    counts = merged[side].value_counts()
    lacking_left, lacking_right = int(counts["right_only"]), int(counts["left_only"])
    if not shown:
        merged = merged.drop(columns=side)
    knowns = metadata_of(left, levels=True), metadata_of(right, levels=True)
    shared = _shared(left, right, options)
    names = _merged_names(left, right, shared, options.get("suffixes", ("_x", "_y")))
    columns = {
        names[place][name]: _without_rows(column.renamed(names[place]), lacking, len(merged))
        for place, lacking in enumerate((lacking_left, lacking_right))
        for name, column in knowns[place].columns.items()
        if name not in shared
    }
    for name in shared:
        both = [known.columns.get(name, NOTHING) for known in knowns]
        columns[name] = _of_key(*both, only_left=lacking_right, only_right=lacking_left)
    key = _merged_key(merged, knowns, names, shared)
    return attach(merged, FrameMetadata(columns, key, _sources(knowns)))


def rename(frame: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """``frame.rename(…)`` with the metadata of each column under its new name."""
    renamed = frame.rename(*arguments, **options)
    known = metadata_of(frame, levels=True)
    names = dict(zip(map(str, frame.columns), map(str, renamed.columns), strict=True))
    columns = {
        names.get(name, name): column.renamed(names) for name, column in known.columns.items()
    }
    key = tuple(names.get(name, name) for name in known.key)
    return attach(renamed, FrameMetadata(columns, key, known.sources))


def adopt(frame: pd.DataFrame, *frames: pd.DataFrame) -> pd.DataFrame:
    """The frame with the metadata of others, for columns that hold what theirs hold."""
    known = metadata_of(frame, levels=True)
    columns, sources, key = dict(known.columns), [known], known.key
    for other in frames:
        theirs = metadata_of(other, levels=True)
        fitting = _fitting(frame, other, theirs)
        new = {name: fitting[name] for name in columns.keys() & fitting if not columns[name].of}
        if new:
            columns |= new
            sources.append(theirs)
            key = key or tuple(name for name in theirs.key if set(theirs.key) <= columns.keys())
    adopted = frame.copy(deep=False)
    return attach(adopted, FrameMetadata(columns, _unique_key(adopted, key), _sources(sources)))


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
        If there is no frame, or what `pandas.concat` refuses.
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
    apart = _apart(listed, knowns)
    columns = {str(name): _stacked(str(name), listed, knowns, apart) for name in stacked.columns}
    same = {known.key for known in knowns}
    key = same.pop() if len(same) == 1 else ()
    whole = _unique_key(stacked, key)
    if apart and not whole and key:
        whole = _unique_key(stacked, (apart[0].column, *key))
    key = whole
    return attach(stacked, FrameMetadata(columns, key, _sources(knowns)))


def _apart(
    frames: Sequence[pd.DataFrame], knowns: Sequence[FrameMetadata]
) -> list[Condition] | None:
    """Conditions by which the rows of each frame can be found among those of all, if there are.

    They name the values of a column that no two frames share: of its context, or of its key.
    """
    keys = [name for known in knowns for name in known.key]
    for name in dict.fromkeys(("host", *CONTEXT, *keys)):
        if not all(
            name in frame.columns and name in known.columns
            for frame, known in zip(frames, knowns, strict=True)
        ):
            continue
        values = [_distinct(frame[name]) for frame in frames]
        listed = [value for each in values if each for value in each]
        if all(values) and len(listed) == len({*listed}) <= _MOST_VALUES:
            return [Condition(name, "in", tuple(each)) for each in values if each]
    return None


def _distinct(values: pd.Series) -> list[str] | None:
    """The distinct values of a column as text; None if there are too many, or some are missing."""
    if values.isna().any():
        return None
    found = values.unique()
    if len(found) > _MOST_VALUES:
        return None
    return [
        each.isoformat() if isinstance(each, date) else str(each)
        for each in pd.Series(found).astype(object)
    ]


def _stacked(
    name: str,
    frames: Sequence[pd.DataFrame],
    knowns: Sequence[FrameMetadata],
    apart: Sequence[Condition] | None,
) -> ColumnMetadata:
    """The metadata of a column over the frames that have it, and those that lack it."""
    having = [known.columns[name] for known in knowns if name in known.columns]
    lacking = [
        frame for frame, known in zip(frames, knowns, strict=True) if name not in known.columns
    ]
    of = {column.of for column in having}
    whole = ColumnMetadata(
        of.pop() if len(of) == 1 else None, combine(column.availability for column in having)
    )
    rows, without = sum(map(len, frames)), sum(map(len, lacking))
    if not lacking and len({(column.elsewhere, column.statements) for column in having}) == 1:
        return replace(having[0], of=whole.of, otherwise=having[0].elsewhere)
    if apart is None:
        return _without_rows(whole, without, rows, Cause.ABSENT, "are of frames without")
    absent = ColumnMetadata(None, _absent(without, rows, Cause.ABSENT, "are of frames without"))
    stated = tuple(
        statement
        for known, condition in zip(knowns, apart, strict=True)
        for statement in known.columns.get(name, absent).within(condition)
    )
    return replace(whole, statements=stated)


def _without_rows(
    column: ColumnMetadata,
    lacking: int,
    rows: int,
    cause: Cause = Cause.NO_ROW,
    why: str = "have no match",
) -> ColumnMetadata:
    """The metadata of a column that some rows lack, as they come from elsewhere."""
    if not lacking or column.availability.status not in (Status.AVAILABLE, Status.PARTIAL):
        return column
    return column.combined(_absent(lacking, rows, cause, why))


def _absent(lacking: int, rows: int, cause: Cause, why: str) -> Availability:
    return Availability(Status.UNAVAILABLE, cause, f"{lacking} of {rows} rows {why}")


def _shared(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> list[str]:
    """The columns, or levels of the index, on which both are merged under one name."""
    given = ("on", "left_on", "right_on")
    if options.get("how") == "cross":
        return []
    if options.get("left_index") or options.get("right_index"):
        names = [str(name) for name in left.index.names if name is not None]
        return [name for name in names if name in right.index.names]
    if all(options.get(name) is None for name in given):
        return [str(name) for name in left.columns.intersection(right.columns)]
    of_left, of_right = (
        _listed(options.get("on") if options.get("on") is not None else options.get(name))
        for name in given[1:]
    )
    pairs = zip(of_left, of_right, strict=True)
    return [a for a, b in pairs if isinstance(a, str) and isinstance(b, str) and a == b]


def _listed(names: Any) -> list[Any]:
    return [*names] if isinstance(names, (list, tuple, pd.Index)) else [names]


def _merged_names(
    left: pd.DataFrame,
    right: pd.DataFrame,
    shared: Sequence[str],
    suffixes: Sequence[str | None],
) -> list[dict[str, str]]:
    """For each side the names that its columns have after the merge."""
    both = {str(name) for name in left.columns.intersection(right.columns)} - {*shared}
    return [
        {
            str(name): f"{name}{suffix or ''}" if str(name) in both else str(name)
            for name in (*frame.columns, *frame.index.names)
        }
        for frame, suffix in zip((left, right), suffixes, strict=True)
    ]


def _of_key(
    left: ColumnMetadata, right: ColumnMetadata, *, only_left: int, only_right: int
) -> ColumnMetadata:
    """The metadata of a column of both: of the side that holds all its values, if one does."""
    if only_left and only_right:
        of = left.of if left.of == right.of else None
        return ColumnMetadata(of, combine([left.availability, right.availability]))
    first, second = (right, left) if only_right else (left, right)
    return second if first == NOTHING and not (only_left or only_right) else first


def _merged_key(
    merged: pd.DataFrame,
    knowns: Sequence[FrameMetadata],
    names: Sequence[Mapping[str, str]],
    shared: Sequence[str],
) -> tuple[str, ...]:
    """The key of the left and the rest of the right's, if that identifies the rows."""
    left, right = (
        [name if name in shared else names[place][name] for name in known.key]
        for place, known in enumerate(knowns)
    )
    own = [*left, *(name for name in right if name not in left and name not in shared)]
    return _unique_key(merged, tuple(own if left else ()))


def _unique_key(frame: pd.DataFrame, key: tuple[str, ...]) -> tuple[str, ...]:
    """The key if it still identifies the rows of a frame."""
    inside = any(name in frame.index.names for name in key)
    rows = frame.reset_index() if inside else frame
    there = bool(key) and all(name in rows.columns for name in key)
    return key if there and not rows.duplicated([*key]).any() else ()


def _sources(knowns: Iterable[FrameMetadata]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(source for known in knowns for source in known.sources))


def _fitting(
    frame: pd.DataFrame, other: pd.DataFrame, theirs: FrameMetadata
) -> dict[str, ColumnMetadata]:
    """The metadata of another frame's columns that hold the same here, checked on every row."""
    declared = {name: column for name, column in theirs.columns.items() if column.of}
    measured = [
        name for name, column in declared.items() if column.availability.status not in EMPTY
    ]
    fingerprint = fingerprint_of(other, measured, theirs.key, limit=len(other))
    whole = FingerprintCheck(frame, fingerprint, theirs.key)
    fitting = {}
    for name, column in declared.items():
        if column.availability.status in EMPTY:
            if whole.is_empty(name):
                fitting[name] = column
        elif whole.change(name) is None:
            fitting[name] = column
        elif name in frame.columns:
            held = frame[frame[name].notna()]
            if len(held) and FingerprintCheck(held, fingerprint, theirs.key).change(name) is None:
                fitting[name] = _without_rows(column, len(frame) - len(held), len(frame))
    return fitting
