"""Find the row of a replayed frame that is a row of a frame; compare cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.errors import ItemNotFound, did_you_mean, near_matches
from aatoolkit.frame.explain.text import plain, shown
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.fingerprint import arrays_of

_CLOSE = 1e-12
_MOST = 5000
"""The most values among which near matches of one are looked for."""


def same(one: Any, other: Any) -> bool:
    """Whether two cells are equal, whatever their dtypes.

    Examples
    --------
    >>> same(3, 3.0), same(None, pd.NA), same("3", 3), same(0.1 + 0.2, 0.3)
    (True, True, False, True)
    """
    one, other = plain(one), plain(other)
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(abs(one), abs(other))
    return bool(one == other)


def position_of(frame: pd.DataFrame, row: int | Hashable | Mapping[str, Any]) -> int:
    """Find the position of a row given by position, label, or the values of some columns.

    A mapping is matched by value. A whole number is the label of a row where the index has it, as
    in ``df.loc``, and else its position; in a frame as it was read the two are the same.

    Raises
    ------
    ItemNotFound
        If there is no such row, or several.
    """
    if isinstance(row, Mapping):
        return _of_key(frame, row)
    try:
        found = frame.index.get_loc(row)
    except (KeyError, TypeError):
        found = None
    if isinstance(found, int):
        return found
    if found is not None:
        count = int(found.sum()) if isinstance(found, np.ndarray) else found.stop - found.start
        raise ItemNotFound(
            f"{count} rows have the label {row!r}; name the row by the values of its key",
            key=row,
        )
    size = len(frame)
    if isinstance(row, int | np.integer) and not isinstance(row, bool) and -size <= row < size:
        return int(row) % size
    raise ItemNotFound(f"there is no row {row!r} among {len(frame)} rows", key=row)


def _of_key(frame: pd.DataFrame, row: Mapping[str, Any]) -> int:
    flat = flattened(frame)
    find(flat, row)
    mask = np.ones(len(flat), bool)
    for name, value in row.items():
        mask &= matching(flat[name], value)
    places = np.flatnonzero(mask)
    if len(places) == 1:
        return int(places[0])
    described = ", ".join(f"{name} = {shown(value)}" for name, value in row.items())
    if len(places):
        raise ItemNotFound(f"{len(places)} rows have {described}", key=dict(row))
    near = did_you_mean(
        [
            match
            for name, value in row.items()
            if isinstance(value, str) and not matching(flat[name], value).any()
            for match in near_matches(value, map(str, flat[name].dropna().unique()[:_MOST]))
        ]
    )
    raise ItemNotFound(f"no row has {described}{f', {near}' if near else ''}", key=dict(row))


def matching(values: pd.Series, value: Any) -> npt.NDArray[np.bool_]:
    """Mask of the rows that equal a value; a day may be given as text."""
    wanted = plain(value)
    return np.array([_alike(each, wanted) for each in values.astype(object)], bool)


def _alike(cell: Any, wanted: Any) -> bool:
    given = plain(cell)
    if given is not None and isinstance(wanted, str) and not isinstance(given, str):
        return str(given) == wanted or (
            isinstance(given, int | float)
            and not isinstance(given, bool)
            and _as_number(wanted, given)
        )
    return same(given, wanted)


def _as_number(text: str, number: float) -> bool:
    try:
        return float(text) == number
    except ValueError:
        return False


def matched(
    frame: pd.DataFrame, at: int, base: pd.DataFrame, key: Sequence[str], besides: str
) -> int | str:
    """Find the row of a replayed frame that is a row of a frame, or why there is none.

    Rows are the same where their keys are; without a key, where all columns are that both have,
    except the one to be explained, and the label decides between several.

    Parameters
    ----------
    frame, at
        The frame as it is now, and the position of the row.
    base : pandas.DataFrame
        The frame as it was when its metadata was attached.
    key : sequence of str
        The columns that identify a row of it.
    besides : str
        The column to be explained, which may have been changed since.
    """
    now, then = arrays_of(frame), arrays_of(base)
    label = _label(frame, at, base)
    names = [name for name in key if name in now and name in then]
    if key and len(names) == len(key):
        if label is not None and all(same(then[name][label], now[name][at]) for name in names):
            return label
        mask = _rows_with(now, then, names, at, len(base))
        places = np.flatnonzero(mask)
        if len(places) == 1:
            return int(places[0])
        if not len(places):
            return "its key is of no row that was read: the key was changed since"
    names = [name for name in now if name in then and name != besides]
    if not names and label is None:
        return "nothing identifies its row any longer"
    mask = _rows_with(now, then, names, at, len(base))
    places = np.flatnonzero(mask)
    if label is not None and label < len(base) and mask[label]:
        return label
    if len(places) == 1:
        return int(places[0])
    if len(places):
        keep = f"; keep its key: {', '.join(key)}" if key else ""
        return f"{len(places)} rows that were read could be this one{keep}"
    return "no row that was read is like this one: its row was changed since"


def _label(frame: pd.DataFrame, at: int, base: pd.DataFrame) -> int | None:
    """Find the row with the same label in another frame, where labels are alike and unique."""
    if frame.index.nlevels != base.index.nlevels or frame.index.names != base.index.names:
        return None
    try:
        found = base.index.get_loc(frame.index[at])
    except (KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None


def _rows_with(
    now: Mapping[str, Any], then: Mapping[str, Any], names: Sequence[str], at: int, rows: int
) -> npt.NDArray[np.bool_]:
    places = np.arange(rows)
    for name in names:
        if not len(places):
            break
        wanted = now[name][at]
        taken = then[name].take(places).astype(object) if len(places) < rows else then[name]
        places = places[[same(cell, wanted) for cell in taken]]
    mask = np.zeros(rows, bool)
    mask[places] = True
    return mask
