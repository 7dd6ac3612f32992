"""Compare two frames of one table: which rows are new or gone, and which cells differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
        return []  # the key repeats
    return key if all(name in frame.columns for name in key for frame in frames) else []


def differences(
    before: pd.DataFrame, after: pd.DataFrame, key: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the differences as frames of ``rows``, ``numbers`` and ``texts``, keys in words.

    Parameters
    ----------
    before, after
        The frames.
    key
        The columns to match rows by.
    """
    names = [*key] or [_ROW_NUMBER]
    joined = _plain(before, key).merge(
        _plain(after, key), on=names, how="outer", suffixes=(" before", " after"), indicator=True
    )
    words = _in_words(joined, names)
    changes = joined["_merge"].map(_SIDES).astype("string")
    if changes.notna().any():
        frame = pd.DataFrame({"key": words, "change": changes})[changes.notna()]
        yield "rows", frame.sort_values("change", ascending=False, kind="stable")
    for column in map(str, before.columns):
        if column in after.columns and column not in (*names, "_row"):
            yield from _cells(joined[changes.isna()], column, words[changes.isna()])


def _cells(
    joined: pd.DataFrame, column: str, words: pd.Series
) -> Iterator[tuple[str, pd.DataFrame]]:
    before, after = joined[f"{column} before"], joined[f"{column} after"]
    is_equal = (before == after).fillna(False).astype(bool) | (before.isna() & after.isna())
    if is_equal.all():
        return
    frame = pd.DataFrame({"key": words, "column": column, "before": before, "after": after})
    frame = frame[~is_equal]
    if all(_is_number(side) for side in (before, after)):
        yield "numbers", frame.assign(change=frame["after"] - frame["before"])
    else:
        yield "texts", frame.astype({"before": "string", "after": "string"})


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
    is_list = isinstance(value, tuple | list | np.ndarray)
    return ", ".join(map(str, value)) if is_list else str(value)  # type: ignore[call-overload]


def _in_words(joined: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    words = pd.Series("", index=joined.index, dtype="string")
    for at, name in enumerate(key):
        value = joined[name].astype("string").fillna("nothing")
        words = words + (", " if at else "") + f"{name}=" + value
    return words
