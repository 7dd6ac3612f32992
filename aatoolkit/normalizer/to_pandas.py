"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.argument_kinds import shown
from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Mask = npt.NDArray[np.bool_]

BACKENDS = ("numpy_nullable", "pyarrow")
"""What ``dtype_backend`` may be, as in pandas."""


def check_backend(dtype_backend: str) -> None:
    """Raise for a ``dtype_backend`` that pandas does not know.

    Raises
    ------
    ConfigurationError
        If it is neither ``numpy_nullable`` nor ``pyarrow``.
    """
    if not isinstance(dtype_backend, str) or dtype_backend not in BACKENDS:
        raise ConfigurationError(
            f"dtype_backend={shown(dtype_backend)} is not known; use 'numpy_nullable' or 'pyarrow'",
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
    return _converter(column.type, dtype_backend)(column)


@cache
def _converter(kind: pa.DataType, dtype_backend: str) -> Callable[[pa.ChunkedArray], Any]:
    """The function that converts columns of a kind; pandas' own ones take many small steps."""
    import pandas as pd

    if pa.types.is_dictionary(kind):
        return _categories
    if dtype_backend == "pyarrow":
        dtype: Any = pd.ArrowDtype(kind)
        return dtype.__from_arrow__  # type: ignore[no-any-return]
    if pa.types.is_list(kind):
        return lambda column: as_tuples(column).reshape(1, -1)
    numbers: dict[pa.DataType, Callable[[Any, Mask], Any]] = {
        pa.int32(): pd.arrays.IntegerArray,
        pa.int64(): pd.arrays.IntegerArray,
        pa.float64(): pd.arrays.FloatingArray,
    }
    if kind in numbers:
        return partial(_numbers, numbers[kind], kind.to_pandas_dtype())
    if kind == pa.timestamp("us"):
        # What is Arrow's own could not be written to. A block of what is numpy's has two axes.
        return lambda column: column.to_numpy().copy().reshape(1, -1)
    if kind == pa.timestamp("us", tz="UTC"):
        instants = pd.DatetimeTZDtype("us", ZoneInfo("UTC"))
        return lambda column: instants.__from_arrow__(column).copy()
    if kind == pa.string():
        text: Any = pd.StringDtype()
        return lambda column: text.__from_arrow__(_large(column))
    known: dict[pa.DataType, Any] = {pa.bool_(): pd.BooleanDtype()}
    return known.get(kind, pd.ArrowDtype(kind)).__from_arrow__  # type: ignore[no-any-return]


def _numbers(make: Callable[[Any, Mask], Any], dtype: Any, column: pa.ChunkedArray) -> Any:
    """Convert numbers to an array of pandas that can be written to."""
    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    size = len(whole)
    if not size:
        return make(np.empty(0, dtype), np.empty(0, bool))
    values = np.frombuffer(whole.buffers()[1], dtype, size, whole.offset * dtype().itemsize)
    if whole.null_count:
        return make(values.copy(), whole.is_null().to_numpy(zero_copy_only=False))
    return make(values.copy(), np.zeros(size, bool))


def _large(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert text to text with offsets of eight bytes; a cast takes twice as long for few rows."""
    whole = column.chunk(0) if column.num_chunks == 1 else None
    if whole is None or whole.offset or not len(whole):
        return column.cast(pa.large_string())
    valid, offsets, data = whole.buffers()
    ends = np.frombuffer(offsets, np.int32, len(whole) + 1).astype(np.int64)
    large = pa.LargeStringArray.from_buffers(
        len(whole), pa.py_buffer(ends), data, valid, whole.null_count
    )
    return pa.chunked_array([large])


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
