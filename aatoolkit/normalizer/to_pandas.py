"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

BACKENDS = ("numpy_nullable", "pyarrow")
"""What ``dtype_backend`` may be, as in pandas."""


def check_backend(dtype_backend: str) -> None:
    """Raise for a ``dtype_backend`` that pandas does not know.

    Raises
    ------
    ConfigurationError
        If it is neither ``numpy_nullable`` nor ``pyarrow``.
    """
    if dtype_backend not in BACKENDS:
        raise ConfigurationError(
            f"dtype_backend={dtype_backend!r} is not known; use 'numpy_nullable' or 'pyarrow'",
            setting="dtype_backend",
        )


def to_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> pd.DataFrame:
    """Convert an Arrow table to a DataFrame.

    Days and instants are ``datetime64[us]``, instants in UTC; missing values are ``pd.NA`` or
    ``NaT``, never NaN and never zero. A category is a pandas category with either backend. A list
    is a tuple in an ``object`` column, which pandas can compare, count and write to files; with
    ``dtype_backend="pyarrow"`` it is Arrow's own.
    """
    import pandas as pd
    from pandas.api import internals  # type: ignore[attr-defined]  # the stubs lack it

    # Column by column: `Table.to_pandas` takes several times as long where there are few rows.
    # And as blocks: the constructor would look at the type of every array again.
    table = _as_held(table, dtype_backend)
    blocks = [
        (_array(column, dtype_backend), place)
        for column, place in zip(table.columns, _places(table.num_columns), strict=True)
    ]
    names = _names(tuple(table.column_names))
    index = pd.RangeIndex(table.num_rows)
    frame: pd.DataFrame = internals.create_dataframe_from_blocks(blocks, index, names.view())
    return frame


@cache
def _places(columns: int) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    return [np.array([number]) for number in range(columns)]


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> pd.Index:
    """The names of columns as an index, to be viewed: what is given out could be renamed."""
    import pandas as pd

    return pd.Index(names, dtype="str")


def _as_held(table: pa.Table, dtype_backend: str) -> pa.Table:
    """Convert days to naive instants at midnight, where pandas holds days so."""
    days = [pa.types.is_date(kind) for kind in table.schema.types]
    if dtype_backend == "pyarrow" or not any(days):
        return table
    fields = [
        pa.field(f.name, pa.timestamp("us")) if day else f
        for f, day in zip(table.schema, days, strict=True)
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))


def _array(column: pa.ChunkedArray, dtype_backend: str) -> Any:
    """Convert the values of a column to what pandas holds."""
    if pa.types.is_dictionary(column.type):
        return _categories(column)
    if pa.types.is_list(column.type) and dtype_backend != "pyarrow":
        return as_tuples(column).reshape(1, -1)
    dtype = _dtype(column.type, dtype_backend)
    if dtype is None:
        # What is Arrow's own could not be written to. A block of what is numpy's has two axes.
        return column.to_numpy().copy().reshape(1, -1)
    values = dtype.__from_arrow__(column)
    return values.copy() if values.dtype.kind == "M" and dtype_backend != "pyarrow" else values


@cache
def _dtype(kind: pa.DataType, dtype_backend: str) -> Any:
    """The dtype of a kind of values; None for naive instants, which are numpy's."""
    import pandas as pd

    if dtype_backend == "pyarrow":
        return pd.ArrowDtype(kind)
    nullable = {
        pa.string(): pd.StringDtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.timestamp("us", tz="UTC"): pd.DatetimeTZDtype("us", ZoneInfo("UTC")),
        pa.timestamp("us"): None,
    }
    return nullable[kind] if kind in nullable else pd.ArrowDtype(kind)


def as_tuples(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Convert lists to tuples, missing ones to ``pd.NA``; equal texts are shared.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    import pandas as pd

    whole = column.combine_chunks()
    items = whole.flatten()
    if pa.types.is_string(items.type):
        items = items.dictionary_encode()
        texts = np.array([*items.dictionary.to_pylist(), None], dtype=object)
        codes = items.indices.fill_null(len(texts) - 1)
        flat = texts[codes.to_numpy(zero_copy_only=False)].tolist()
    else:
        flat = items.to_pylist()
    lengths = pc.fill_null(pc.list_value_length(whole), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths)
    slices = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    found = np.fromiter((tuple(flat[a:b]) for a, b in slices), object, len(whole))
    if whole.null_count:
        found[whole.is_null().to_numpy(zero_copy_only=False)] = pd.NA
    return found


def _categories(column: pa.ChunkedArray) -> pd.Categorical:
    import pandas as pd

    whole = column.combine_chunks()
    dtype = _category(tuple(whole.dictionary.to_pylist()), whole.type.ordered)
    codes = whole.indices.fill_null(-1) if whole.null_count else whole.indices
    return pd.Categorical.from_codes(codes.to_numpy(), dtype=dtype, validate=False)


@lru_cache(maxsize=256)
def _category(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    import pandas as pd

    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)
