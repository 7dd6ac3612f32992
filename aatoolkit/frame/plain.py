"""Frames with ordinary NumPy dtypes, for libraries that know no others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aatoolkit.frame.csv import as_texts
from aatoolkit.frame.groupby import flattened, numpy_times
from aatoolkit.jsontree.decode import EXACT_FLOAT


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with ordinary dtypes; see ``df.aa.plain``."""
    flat = flattened(frame)
    columns = [_plain(flat.iloc[:, at]) for at in range(flat.shape[1])]
    whole = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(flat)))
    return whole.set_axis([str(name) for name in flat.columns], axis=1)


def _plain(values: pd.Series) -> pd.Series:
    """A column of numbers, flags or moments of NumPy, else of Python's texts and None."""
    kind, missing = values.dtype, values.isna().to_numpy(bool)
    api = pd.api.types
    if isinstance(kind, pd.CategoricalDtype):
        values = values.astype(kind.categories.dtype)
        kind = values.dtype
    if api.is_datetime64_any_dtype(kind):
        times = numpy_times(values)
        if times.dt.tz is not None:
            times = times.dt.tz_convert("UTC").dt.tz_localize(None)
        return times.reset_index(drop=True)
    if api.is_bool_dtype(kind) and not missing.any():
        return pd.Series(values.to_numpy(bool))
    if api.is_numeric_dtype(kind) and not api.is_bool_dtype(kind):
        is_whole = api.is_integer_dtype(kind)
        if is_whole and not missing.any():
            return pd.Series(values.to_numpy("uint64" if kind.kind == "u" else "int64"))
        largest = values.abs().max() if is_whole else 0
        if pd.isna(largest) or largest <= EXACT_FLOAT:
            return pd.Series(values.to_numpy(np.float64, na_value=np.nan))
    is_other = api.is_bool_dtype(kind) or api.is_numeric_dtype(kind)
    cells = values.astype(object) if is_other else as_texts(values)
    texts = cells.to_numpy(object, copy=True)
    texts[missing] = None
    return pd.Series(texts, dtype="object")
