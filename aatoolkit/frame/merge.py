"""`merge` and `rename` with pandas' signatures that keep the metadata pandas drops.

None changes a frame that it is given. A column's metadata is carried along as it holds in its
frame, and combined where several frames meet in one column; `adopt` restores what was lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.merge_keys import check_keys, keys_of
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
from aatoolkit.metadata.fingerprint import (
    MOVED,
    OVERWRITTEN,
    FingerprintCheck,
    arrays_of,
    fingerprint_of,
    hash_cells,
    row_hashes,
)
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
    if problem:
        raise ArgumentError(f"the frames cannot be merged: {problem}")
    repeats = [bool(merged[name].dropna().duplicated().any()) for name in _ROWS]
    counts = merged[side].value_counts()
    lacking_left, lacking_right = int(counts["right_only"]), int(counts["left_only"])
    merged = merged.drop(columns=[*_ROWS, *(() if shown else (side,))])
    stored = metadata_of(left, levels=True), metadata_of(right, levels=True)
    keys = keys_of(left, right, options)
    tabled = [as_table(*side) for side in zip((left, right), stored, keys, strict=True)]
    knowns = [metadata for metadata, _ in tabled]
    shared = _shared(left, right, options)
    names = columns_after(left, right, options)
    columns = {
        names[place][name]: without_rows(column.renamed(names[place]), lacking, len(merged))
        for place, lacking in enumerate((lacking_left, lacking_right))
        for name, column in knowns[place].columns.items()
        if name not in shared
    }
    own = next((table for _, table in tabled if table), "")
    for name in shared:
        both = [metadata.columns.get(name, NOTHING) for metadata in stored]
        column = _of_key(*both, only_left=lacking_right, only_right=lacking_left)
        is_known = column.of or column.availability.status != Status.UNKNOWN or not own
        columns[name] = column if is_known else replace(column, of=f"{own}.{name}")
    key = _merged_key(merged, knowns, names, shared)
    # Of the side whose rows may have no match, the other's keys stand in the place of its own.
    in_place: dict[str, str] = {}
    if str(options.get("how") or "inner") in ("left", "inner"):
        for one, two in zip(*keys, strict=False):
            if isinstance(one, str) and isinstance(two, str):
                in_place.setdefault(two, names[0].get(one, one))
    grains: dict[str, tuple[str, ...]] = {}
    repeated = {table for metadata in knowns for table in metadata.repeated}
    for place, metadata in enumerate(knowns):
        tables = tables_of(metadata)
        repeated |= {*tables} if repeats[place] else set()
        for table in tables:
            grain = metadata.grain(table, declared_key(table))
            if grain is not None:
                new = names[place] | (in_place if place and is_joined(table) else {})
                grains[table] = tuple(new.get(name, name) for name in grain)
    for table in {*tables_of(knowns[0])} & {*tables_of(knowns[1])}:
        grains.pop(table, None)
    described = FrameMetadata(columns, key, sources_of(knowns), grains, tuple(sorted(repeated)))
    return attach(merged, described)


def _numbered(frame: pd.DataFrame, side: int) -> pd.DataFrame:
    """Add a column of row numbers, by which repeated rows are found."""
    return frame.assign(**{_ROWS[side]: range(len(frame))})


def rename(frame: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """``frame.rename(…)`` with the metadata of each column under its new name."""
    renamed: pd.DataFrame = frame.rename(*arguments, **options)
    with checked_once():
        metadata = metadata_of(frame, levels=True)
        names = dict(zip(map(str, frame.columns), map(str, renamed.columns), strict=True))
        columns = {
            names.get(name, name): column.renamed(names)
            for name, column in metadata.columns.items()
        }
        key = tuple(names.get(name, name) for name in metadata.key)
        grains = {
            table: tuple(names.get(name, name) for name in grain)
            for table in tables_of(metadata)
            if (grain := metadata.grain(table, declared_key(table))) is not None
        }
        attach(renamed, FrameMetadata(columns, key, metadata.sources, grains, metadata.repeated))
        record(renamed, "rename", {"frame": frame, "names": names}, ("frame",))
    return renamed


@recorded("adopt", "frame", "frames")
def adopt(frame: pd.DataFrame, *frames: pd.DataFrame) -> pd.DataFrame:
    """The frame with the metadata of others, for columns that hold what theirs hold."""
    metadata = metadata_of(frame, levels=True)
    columns, sources, key = dict(metadata.columns), [metadata], metadata.key
    repeated = {*metadata.repeated}
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
    if options.get("left_index") or options.get("right_index"):
        names = [str(name) for name in left.index.names if name is not None]
        return [name for name in names if name in right.index.names]
    pairs = zip(*keys_of(left, right, options), strict=False)
    scalar = pd.api.types.is_scalar
    return [str(a) for a, b in pairs if scalar(a) and scalar(b) and a == b]


def columns_after(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]
) -> list[dict[str, str]]:
    """For each side of a merge the names that its columns have after it."""
    both = {*map(str, left.columns.intersection(right.columns))}
    both -= {*_shared(left, right, options)}
    return [
        {
            str(name): f"{name}{suffix or ''}" if str(name) in both else str(name)
            for name in (*frame.columns, *frame.index.names)
        }
        for frame, suffix in zip((left, right), options.get("suffixes", ("_x", "_y")), strict=True)
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
        [name if name in shared else names[place][name] for name in metadata.key]
        for place, metadata in enumerate(knowns)
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
    return tuple(dict.fromkeys(source for metadata in knowns for source in metadata.sources))


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


_JOINED = "joined-"
"""What the names of such tables begin with; no section names a table so."""

NO_KEY = "what tells apart rows that are equal in all columns"


def is_joined(table: str) -> bool:
    """Whether a table is a frame that was merged, not one that a section declares."""
    return table.startswith(_JOINED)


def as_table(
    frame: pd.DataFrame, metadata: FrameMetadata, keys: Sequence[Any]
) -> tuple[FrameMetadata, str]:
    """Describe the columns of a frame that no table declares as columns of one table.

    Parameters
    ----------
    frame : pandas.DataFrame
        One side of a merge.
    known : FrameMetadata
        Its metadata, with the levels of its index.
    keys : sequence
        What it is merged on: names of columns or levels, or arrays.

    Returns
    -------
    metadata : FrameMetadata
        The metadata with ``of`` in each of those columns, and the key of their table.
    table : str
        The table's name; empty where every column is declared or holds other values than were
        read.
    """
    arrays = arrays_of(frame)
    own = [
        name for name, column in metadata.columns.items() if _is_foreign(column) and name in arrays
    ]
    if not own:
        return metadata, ""
    grain = _grain(frame, metadata, own, [name for name in keys if isinstance(name, str)])
    hashed = sorted({*own, *grain} & {*arrays})
    rows = row_hashes([hash_cells(arrays[name]) for name in hashed])
    rows.sort()
    about = hashlib.sha256(repr((hashed, metadata.sources)).encode())
    about.update(rows.tobytes())
    table = f"{_JOINED}{about.hexdigest()[:12]}"
    columns = {
        name: replace(column, of=f"{table}.{name}") if name in own else column
        for name, column in metadata.columns.items()
    }
    grains = {**metadata.grains, table: grain}
    # Rows of a frame of which nothing was known are distinguished by their key from now on.
    key = grain if len(own) == len(metadata.columns) and grain != (NO_KEY,) else metadata.key
    return replace(metadata, columns=columns, key=key, grains=grains), table


def common_table(name: str, columns: Sequence[ColumnMetadata]) -> str | None:
    """The declared column that columns of stacked frames are; None if they are not one.

    Of several frames that were merged, it is one of all of them, which has no key.
    """
    of = {column.of for column in columns}
    if len(of) == 1:
        return of.pop()
    tables = sorted({column.table for column in columns})
    if not all(map(is_joined, tables)):
        return None
    return f"{_JOINED}{hashlib.sha256(repr(tables).encode()).hexdigest()[:12]}.{name}"


def _is_foreign(column: ColumnMetadata) -> bool:
    """Whether nothing is known of a column, not even that it was changed."""
    return column.of is None and column.availability.reason not in (OVERWRITTEN, MOVED)


def _grain(
    frame: pd.DataFrame, metadata: FrameMetadata, own: Sequence[str], keys: Sequence[str]
) -> tuple[str, ...]:
    """The columns that identify the rows of a frame: the fewest that do, keys of a merge first."""
    levels = [name for name in frame.index.names if name not in (None, *frame.columns)]
    rows = frame.reset_index(levels) if levels else frame
    there = [n for n in rows.columns if isinstance(n, str) and [*rows.columns].count(n) == 1]
    words = [name for name in there if not pd.api.types.is_float_dtype(rows[name].dtype)]
    candidates = [keys, *([metadata.key] if metadata.key else []), *([*keys, w] for w in words)]
    for names in (*candidates, [*keys, *words], [*keys, *own], there):
        grain = tuple(dict.fromkeys(names))
        if {*grain} <= {*there} and _are_distinct(rows, grain):
            return grain
    return (NO_KEY,)


def _are_distinct(rows: pd.DataFrame, names: Sequence[str]) -> bool:
    if not names:
        return len(rows) < 2
    try:
        return not rows.duplicated([*names]).any()
    except TypeError:  # lists have no hash
        return False
