"""Numbers of groups: sums that are exact, and the smallest, largest, first or last value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.cell_status import Codes, Mask
from aatoolkit.frame.groupby import Groups


def as_floats(values: pd.Series) -> npt.NDArray[np.float64]:
    """Values as floats; missing ones are NaN."""
    return values.to_numpy(np.float64, na_value=np.nan)


def added(values: npt.NDArray[np.float64], use: Mask, groups: Groups) -> npt.NDArray[np.float64]:
    """The sum of some rows of each group, as a float."""
    return np.bincount(groups.ids[use], values[use], minlength=len(groups)).astype(np.float64)


def sums(values: pd.Series, use: Mask, groups: Groups, name: str) -> pd.Series:
    """The sum of some rows of each group; integers and flags add exactly."""
    if pd.api.types.is_integer_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        whole = pd.array(_whole_sums(values[use], groups.ids[use], len(groups), name), "Int64")
        return like(pd.Series(whole), values)
    total = pd.array(added(as_floats(values), use, groups), dtype="Float64")
    return like(pd.Series(total), values)


def _whole_sums(values: pd.Series, ids: Codes, groups: int, name: str) -> npt.NDArray[np.int64]:
    """Sum integers exactly, halves apart, so that nothing overflows."""
    if len(values) and int(values.max()) >= 2**63:
        raise _overflow(name)
    exact = values.to_numpy(np.int64)
    high, low = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    np.add.at(high, ids, exact >> 32)
    np.add.at(low, ids, exact & 0xFFFFFFFF)
    high += low >> 32
    if ((high < -(2**31)) | (high >= 2**31)).any():
        raise _overflow(name)
    return (high << 32) | (low & 0xFFFFFFFF)


def _overflow(name: str) -> AvailabilityError:
    why = "a sum is too large for a 64-bit integer"
    return AvailabilityError(f"{name}: {why}; convert it to Float64 first", columns={name: why})


def chosen(values: pd.Series, use: Mask, groups: Groups, rule: str) -> pd.Series:
    """The smallest, largest, first or last value of each group, of the same dtype."""
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iub":
        values = values.convert_dtypes()
    grouped = values[use].groupby(groups.ids[use])
    found: pd.Series = grouped.agg(rule)
    return found.reindex(range(len(groups)))


def like(result: pd.Series, values: pd.Series) -> pd.Series:
    """Cast a result to an Arrow dtype where the column has one."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = pa.int64() if pd.api.types.is_integer_dtype(result.dtype) else pa.float64()
        return result.astype(pd.ArrowDtype(kind))
    return result
