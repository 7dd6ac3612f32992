"""Dtypes: common ones of several frames that are concatenated, and names of those in files."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd
import pyarrow as pa

LEVELS = b"aa.levels"


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


def is_parseable(dtype: str) -> bool:
    """Whether pandas can parse the name of a dtype.

    Examples
    --------
    >>> is_parseable("int64[pyarrow]"), is_parseable("list<item: int64>[pyarrow]")
    (True, False)
    """
    try:
        pd.api.types.pandas_dtype(dtype)
    except (TypeError, ValueError, NotImplementedError):
        return False
    return True


def parseable(keys: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The keys of a Parquet file, of which pandas can parse all names of Arrow dtypes.

    pandas writes names such as ``list<item: string>[pyarrow]``, and does not read them back. Such
    a column is an object here, and the name is kept beside it.
    """
    body = json.loads(keys.get(b"pandas", b"{}"))
    for column in body.get("columns", ()):
        if not is_parseable(column["numpy_type"]):
            column |= {"numpy_type": "object", "metadata": {"dtype": column["numpy_type"]}}
    return {**keys, b"pandas": json.dumps(body).encode()} if body else dict(keys)


def lost_dtypes(schema: pa.Schema, rows: int) -> dict[str, Any]:
    """The dtypes that pandas reads as others: Arrow strings and lists, levels of no rows."""
    body = json.loads((schema.metadata or {}).get(b"pandas", b'{"columns": []}'))
    lost: dict[str, Any] = {
        column["name"]: pd.ArrowDtype(pa.string())
        for column in body["columns"]
        if column["numpy_type"] == "string[pyarrow]" and column["name"] in schema.names
    }
    for column in body["columns"]:
        name, written = column["name"], column.get("metadata") or {}
        if str(written.get("dtype")).endswith("[pyarrow]") and name in schema.names:
            kind = schema.field(name).type
            lost[name] = pd.ArrowDtype(
                pa.list_(kind.value_type) if pa.types.is_list(kind) else kind
            )
    for field in schema if rows == 0 else ():
        levels = (field.metadata or {}).get(LEVELS)
        if levels is not None and pa.types.is_dictionary(field.type):
            lost[field.name] = pd.CategoricalDtype(json.loads(levels), field.type.ordered)
    return lost
