"""`merge` and `rename` with pandas' signatures that keep the metadata pandas drops.

None changes a frame that it is given. A column's metadata is carried along as it holds in its
frame, and combined where several frames meet in one column; `adopt` restores what was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError, ColumnNotFound
from aatoolkit.frame.joined_tables import as_table, in_names_of, is_joined
from aatoolkit.frame.merge_keys import check_keys, dtypes_of_keys, keys_of
from aatoolkit.metadata.arrow_schema import declared_key
from aatoolkit.metadata.attrs import (
    EMPTY,
    NOTHING,
    ColumnMetadata,
    FrameMetadata,
    attach,
    columns_of_tables,
    metadata_of,
    tables_of,
)
from aatoolkit.metadata.fingerprint import fingerprint_of
from aatoolkit.metadata.fingerprint_check import FingerprintCheck
from aatoolkit.metadata.recorded import checked_once, record, recorded

_SIDE = "_aatoolkit_side"

_ROWS = ("_aatoolkit_left_row", "_aatoolkit_right_row")


@recorded("merge", "left", "right")
def merge(left: pd.DataFrame, right: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """``left.merge(right, **options)`` with the metadata of both."""
    shown = options.pop("indicator", False)
    side = (shown if isinstance(shown, str) else "_merge") if shown else _SIDE
    check_keys(left, right, options)
    problem = ""
    try:
        merged = _numbered(left, 0).merge(_numbered(right, 1), **options, indicator=side)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        problem = str(error).strip("'\"").partition(". If you wish")[0] or type(error).__name__
        if isinstance(error, ValueError) and "trying to merge on" in problem:
            problem = dtypes_of_keys(left, right, options) or problem
    if problem:
        raise ArgumentError(f"the frames cannot be merged: {problem}")
    repeats = [bool(merged[name].dropna().duplicated().any()) for name in _ROWS]
    merged = merged.drop(columns=[*_ROWS])
    counts = merged[side].value_counts()
    lacking_left, lacking_right = int(counts["right_only"]), int(counts["left_only"])
    if not shown:
        merged = merged.drop(columns=side)
    stored = metadata_of(left, levels=True), metadata_of(right, levels=True)
    keys = keys_of(left, right, options)
    tabled = [as_table(*side) for side in zip((left, right), stored, keys, strict=True)]
    knowns = [known for known, _ in tabled]
    shared = _shared(left, right, options)
    names = _merged_names(left, right, shared, options.get("suffixes", ("_x", "_y")))
    columns = {
        names[place][name]: without_rows(column.renamed(names[place]), lacking, len(merged))
        for place, lacking in enumerate((lacking_left, lacking_right))
        for name, column in knowns[place].columns.items()
        if name not in shared
    }
    own = next((table for _, table in tabled if table), "")
    for name in shared:
        both = [known.columns.get(name, NOTHING) for known in stored]
        found = _of_key(*both, only_left=lacking_right, only_right=lacking_left)
        is_known = found.of or found.availability.status != Status.UNKNOWN or not own
        columns[name] = found if is_known else replace(found, of=f"{own}.{name}")
    key = _merged_key(merged, knowns, names, shared)
    pairs = _in_place(keys, names, str(options.get("how") or "inner"))
    grains, repeated = _merged_grains(knowns, names, repeats, pairs)
    return attach(merged, FrameMetadata(columns, key, sources_of(knowns), grains, repeated))


def _numbered(frame: pd.DataFrame, side: int) -> pd.DataFrame:
    """Add a column of row numbers, by which repeated rows are found."""
    return frame.assign(**{_ROWS[side]: range(len(frame))})


def _merged_grains(
    knowns: Sequence[FrameMetadata],
    names: Sequence[Mapping[str, str]],
    repeats: Sequence[bool],
    pairs: Sequence[Mapping[str, str]],
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The columns that identify the rows of each table, and the tables whose rows repeat."""
    grains: dict[str, tuple[str, ...]] = {}
    repeated: set[str] = set()
    tables = [tables_of(known) for known in knowns]
    for known, new, repeats_rows, own, other in zip(
        knowns, names, repeats, tables, pairs, strict=True
    ):
        repeated |= {*known.repeated} | ({*own} if repeats_rows else set())
        for table in own:
            grain = known.grain(table, declared_key(table))
            if grain is not None:
                grains[table] = in_names_of(grain, other if is_joined(table) else {}, new)
    for table in {*tables[0]} & {*tables[1]}:
        grains.pop(table, None)
    return grains, tuple(sorted(repeated))


def _in_place(
    keys: Sequence[Sequence[Any]], names: Sequence[Mapping[str, str]], how: str
) -> list[dict[str, str]]:
    """For each side, its keys and those of the other side that every row has in their place.

    So of the side whose rows have no match the key is known too, and one that is called
    otherwise on both sides may be dropped.
    """
    pairs: list[dict[str, str]] = [{}, {}]
    if how in ("left", "inner"):
        for one, two in zip(*keys, strict=False):
            if isinstance(one, str) and isinstance(two, str):
                pairs[1].setdefault(two, names[0].get(one, one))
    return pairs


def rename(frame: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """``frame.rename(…)`` with the metadata of each column under its new name."""
    problem = ""
    try:
        renamed: pd.DataFrame = frame.rename(*arguments, **options)
    except (KeyError, IndexError, NotImplementedError, TypeError, ValueError) as error:
        problem = str(error).strip("'\"") or type(error).__name__
        is_missing = isinstance(error, KeyError)
    if problem and is_missing:
        raise ColumnNotFound(f"the frame cannot be renamed: {problem}")
    if problem:
        raise ArgumentError(f"the frame cannot be renamed: {problem}", argument="columns")
    with checked_once():
        known = metadata_of(frame, levels=True)
        names = dict(zip(map(str, frame.columns), map(str, renamed.columns), strict=True))
        columns = {
            names.get(name, name): column.renamed(names) for name, column in known.columns.items()
        }
        key = tuple(names.get(name, name) for name in known.key)
        grains = {
            table: tuple(names.get(name, name) for name in grain)
            for table in tables_of(known)
            if (grain := known.grain(table, declared_key(table))) is not None
        }
        attach(renamed, FrameMetadata(columns, key, known.sources, grains, known.repeated))
        record(renamed, "rename", {"frame": frame, "names": names}, ("frame",))
    return renamed


@recorded("adopt", "frame", "frames")
def adopt(frame: pd.DataFrame, *frames: pd.DataFrame) -> pd.DataFrame:
    """The frame with the metadata of others, for columns that hold what theirs hold."""
    known = metadata_of(frame, levels=True)
    columns, sources, key = dict(known.columns), [known], known.key
    repeated = {*known.repeated}
    for other in frames:
        theirs = metadata_of(other, levels=True)
        fitting, again = _fitting(frame, other, theirs)
        new = {name: fitting[name] for name in columns.keys() & fitting if not columns[name].of}
        if new:
            columns |= new
            sources.append(theirs)
            repeated |= {*theirs.repeated, *again}
            key = key or tuple(name for name in theirs.key if set(theirs.key) <= columns.keys())
    adopted = frame.copy(deep=False)
    grains = {table: grain for each in reversed(sources) for table, grain in each.grains.items()}
    answers, unique = sources_of(sources), unique_key(adopted, key)
    described = FrameMetadata(columns, unique, answers, grains, tuple(sorted(repeated)))
    return attach(adopted, described)


def without_rows(
    column: ColumnMetadata,
    lacking: int,
    rows: int,
    cause: Cause = Cause.NO_ROW,
    why: str = "have no match",
) -> ColumnMetadata:
    """Return a column's metadata after a join in which some rows have no value for it."""
    if not lacking or column.availability.status not in (Status.AVAILABLE, Status.PARTIAL):
        return column
    return column.combined(absent_rows(lacking, rows, cause, why))


def absent_rows(lacking: int, rows: int, cause: Cause, why: str) -> Availability:
    """The availability of a column that some rows lack, as they have no match."""
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


def columns_after(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]
) -> list[dict[str, str]]:
    """For each side of a merge the names that its columns have after it."""
    shared = _shared(left, right, options)
    return _merged_names(left, right, shared, options.get("suffixes", ("_x", "_y")))


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
    return unique_key(merged, tuple(own if left else ()))


def unique_key(frame: pd.DataFrame, key: tuple[str, ...]) -> tuple[str, ...]:
    """The key if it still identifies the rows of a frame."""
    inside = any(name in frame.index.names for name in key)
    rows = frame.reset_index() if inside else frame
    there = bool(key) and all(name in rows.columns for name in key)
    return key if there and not rows.duplicated([*key]).any() else ()


def sources_of(knowns: Iterable[FrameMetadata]) -> tuple[Any, ...]:
    """The answers that several frames were read from, each once."""
    return tuple(dict.fromkeys(source for known in knowns for source in known.sources))


def _fitting(
    frame: pd.DataFrame, other: pd.DataFrame, theirs: FrameMetadata
) -> tuple[dict[str, ColumnMetadata], set[str]]:
    """The metadata of another frame's columns whose values are equal here, checked row by row.

    Also the tables of which rows are repeated here.
    """
    declared = {name: column for name, column in theirs.columns.items() if column.of}
    measured = [
        name for name, column in declared.items() if column.availability.status not in EMPTY
    ]
    fingerprint = fingerprint_of(other, measured, theirs.key)
    whole = FingerprintCheck(frame, fingerprint, theirs.key)
    fitting: dict[str, ColumnMetadata] = {}
    in_part: dict[str, ColumnMetadata] = {}
    repeated: set[str] = set()
    for name, column in declared.items():
        if column.availability.status in EMPTY:
            if whole.is_empty(name):
                fitting[name] = column
        elif whole.change(name) is None:
            fitting[name] = column
        elif name in frame.columns:
            held = frame[frame[name].notna()]
            check = FingerprintCheck(held, fingerprint, theirs.key)
            if len(held) and check.change(name) is None:
                in_part[name] = without_rows(column, len(frame) - len(held), len(frame))
                repeated |= check.repeated({column.table: [*theirs.key, name]})
    repeated |= whole.repeated(columns_of_tables(fitting))
    return fitting | in_part, repeated
