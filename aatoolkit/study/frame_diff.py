"""Compare two frames of one table: which rows are new or gone, and which cells differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from aatoolkit.metadata.attrs import metadata_of

_ROW_NUMBER = "row"
_SIDES = {"left_only": "only before", "right_only": "only after"}


def key_of(*frames: pd.DataFrame) -> list[str]:
    """Choose the columns to match rows by; empty if only row numbers can match them."""
    key = [*metadata_of(frames[0]).key]
    if any("_row" in frame.columns for frame in frames):
        # The key repeats, so that rows are matched by row number.
        return []
    return key if all(name in frame.columns for name in key for frame in frames) else []


def pairs(
    one: pd.DataFrame, other: pd.DataFrame, key: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the differences as columns of ``rows``, ``numbers`` and ``texts``, keys in words.

    Parameters
    ----------
    one, other
        The frames.
    key
        The columns to match rows by.
    """
    names = [*key] or [_ROW_NUMBER]
    joined = _plain(one, key).merge(
        _plain(other, key), on=names, how="outer", suffixes=(" before", " after"), indicator=True
    )
    words = _in_words(joined, names)
    for side, change in _SIDES.items():
        there = joined["_merge"] == side
        if there.any():
            yield "rows", {"key": words[there], "change": change}
    both = joined["_merge"] == "both"
    for column in one.columns:
        if column in other.columns and column not in names:
            yield from _cells(joined, str(column), words, both)


def stacked(
    parts: Sequence[Mapping[str, Any]], names: Sequence[str], numbers: Mapping[str, str]
) -> pd.DataFrame:
    """Concatenate parts into one frame with fixed dtypes.

    Parameters
    ----------
    parts
        Values by column name: a Series, or one value for all rows of the part.
    names
        The columns.
    numbers
        The dtypes of the columns that are not text.
    """
    rows = [max((len(v) for v in part.values() if _is_many(v)), default=1) for part in parts]
    columns = {}
    for name in names:
        dtype: Any = numbers.get(name, "string")
        pieces = [
            pd.Series(part[name] if _is_many(part[name]) else [part[name]] * count, dtype=dtype)
            for part, count in zip(parts, rows, strict=True)
        ]
        columns[name] = pd.concat([pd.Series([], dtype=dtype), *pieces], ignore_index=True)
    return pd.DataFrame(columns)


def _is_many(value: Any) -> bool:
    return isinstance(value, pd.Series)


def _cells(
    joined: pd.DataFrame, column: str, words: pd.Series, both: pd.Series
) -> Iterator[tuple[str, dict[str, Any]]]:
    before, after = joined[f"{column} before"], joined[f"{column} after"]
    equal = (before == after).fillna(False).astype(bool) | (before.isna() & after.isna())
    there = both & ~equal
    if not there.any():
        return
    found = {"key": words[there], "column": column}
    sides = {"before": before[there], "after": after[there]}
    if all(_is_number(side) for side in sides.values()):
        yield "numbers", {**found, **sides, "change": sides["after"] - sides["before"]}
    else:
        texts = {name: side.astype("string") for name, side in sides.items()}
        yield "texts", {**found, **texts}


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != "boolean"


def _plain(frame: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Drop categories, lists and metadata of a frame; without a key, add row numbers."""
    columns = {
        str(name): _comparable_column(frame[name]) for name in frame.columns if name != "_row"
    }
    if not key:
        columns[_ROW_NUMBER] = pd.Series(range(len(frame)), index=frame.index, dtype="Int64")
    return pd.DataFrame(columns)


def _comparable_column(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype("string")
    if isinstance(column.dtype, pd.ArrowDtype) and pa.types.is_list(column.dtype.pyarrow_dtype):
        column = column.astype(object)
    if column.dtype == object:
        return column.map(_joined, na_action="ignore").astype("string")
    return column


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (tuple, np.ndarray)) else str(value)


def _in_words(joined: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    words = pd.Series("", index=joined.index, dtype="string")
    for at, name in enumerate(key):
        value = joined[name].astype("string").fillna("nothing")
        words = words + (", " if at else "") + f"{name}=" + value
    return words
