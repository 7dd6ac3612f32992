"""Frames of one's own as tables: which rows the columns that no table declares come from.

A measure counts once for each row of the table it was declared in. A frame that comes from a CSV
file has no declaration, and yet a join repeats its rows: so a merge makes it a table too. Its
name is made of what it holds, so that the same file joined twice is one table, and its key are
the columns on which it was merged if they identify its rows, else the fewest that do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata
from aatoolkit.metadata.cell_hash import hash_cells
from aatoolkit.metadata.fingerprint import MOVED, OVERWRITTEN, arrays_of, row_hashes

_JOINED = "joined-"
"""What the names of such tables begin with; no section names a table so."""

NO_KEY = "what tells apart rows that are equal in all columns"


def is_joined(table: str) -> bool:
    """Whether a table is a frame that was merged, not one that a section declares."""
    return table.startswith(_JOINED)


def as_table(
    frame: pd.DataFrame, known: FrameMetadata, keys: Sequence[Any]
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
    own = [name for name, column in known.columns.items() if _is_foreign(column) and name in arrays]
    if not own:
        return known, ""
    grain = _grain(frame, known, own, [name for name in keys if isinstance(name, str)])
    hashed = sorted({*own, *grain} & {*arrays})
    rows = row_hashes([hash_cells(arrays[name]) for name in hashed], 0xFFFF_FFFF_FFFF_FFFF)
    rows.sort()
    about = hashlib.sha256(repr((hashed, known.sources)).encode())
    about.update(rows.tobytes())
    table = f"{_JOINED}{about.hexdigest()[:12]}"
    columns = {
        name: replace(column, of=f"{table}.{name}") if name in own else column
        for name, column in known.columns.items()
    }
    grains = {**known.grains, table: grain}
    # Rows of a frame of which nothing was known are distinguished by their key from now on.
    key = grain if len(own) == len(known.columns) and grain != (NO_KEY,) else known.key
    return replace(known, columns=columns, key=key, grains=grains), table


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
    frame: pd.DataFrame, known: FrameMetadata, own: Sequence[str], keys: Sequence[str]
) -> tuple[str, ...]:
    """The columns that identify the rows of a frame: the fewest that do, keys of a merge first."""
    levels = [name for name in frame.index.names if name not in (None, *frame.columns)]
    rows = frame.reset_index(levels) if levels else frame
    there = [name for name in rows.columns if isinstance(name, str)]
    there = [name for name in there if there.count(name) == 1]
    for names in _candidates(rows, known, own, keys, there):
        if {*names} <= {*there} and _are_distinct(rows, names):
            return names
    return (NO_KEY,)


def _candidates(
    rows: pd.DataFrame,
    known: FrameMetadata,
    own: Sequence[str],
    keys: Sequence[str],
    there: Sequence[str],
) -> Iterator[tuple[str, ...]]:
    yield tuple(dict.fromkeys(keys))
    if known.key:
        yield known.key
    words = [name for name in there if not pd.api.types.is_float_dtype(rows[name].dtype)]
    for name in words:
        yield tuple(dict.fromkeys((*keys, name)))
    yield tuple(dict.fromkeys((*keys, *words)))
    yield tuple(dict.fromkeys((*keys, *own)))
    yield tuple(there)


def _are_distinct(rows: pd.DataFrame, names: Sequence[str]) -> bool:
    if not names:
        return len(rows) < 2
    try:
        return not rows.duplicated([*names]).any()
    except TypeError:  # lists have no hash
        return False


def in_names_of(
    grain: tuple[str, ...], pairs: Mapping[str, str], names: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a key in the names of a merged frame.

    Parameters
    ----------
    grain : tuple of str
        The key of a table, in the names of its side.
    pairs : mapping of str to str
        For columns of that side, those of the other side that every row has in their place.
    names : mapping of str to str
        What the other columns of the side are called after the merge.
    """
    return tuple(pairs.get(name) or names.get(name, name) for name in grain)
