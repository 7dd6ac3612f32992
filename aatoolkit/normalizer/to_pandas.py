"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import shown
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Mask = npt.NDArray[np.bool_]

BACKENDS = ("numpy_nullable", "pyarrow")
"""What ``dtype_backend`` may be, as in pandas."""

_FEW = 1000
"""Of columns with so many rows and fewer, each call takes longer than its work."""


def check_backend(dtype_backend: str) -> None:
    """Raise for a ``dtype_backend`` that pandas does not know.

    Raises
    ------
    ArgumentError
        If it is neither ``numpy_nullable`` nor ``pyarrow``.
    """
    if not isinstance(dtype_backend, str) or dtype_backend not in BACKENDS:
        raise ArgumentError(
            f"dtype_backend={shown(dtype_backend)} is not known; use 'numpy_nullable' or 'pyarrow'",
            argument="dtype_backend",
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
    columns = table.columns
    if table.num_rows <= _FEW and dtype_backend != "pyarrow":
        columns = _large_together(columns)
    blocks = [
        (_converter(column.type, dtype_backend)(column), place)
        for column, place in zip(columns, _places(len(columns)), strict=True)
    ]
    names = _names(tuple(table.column_names))
    index = pd.RangeIndex(table.num_rows)
    frame: pd.DataFrame = internals.create_dataframe_from_blocks(blocks, index, names.view())
    return frame


def own_buffers(table: pa.Table) -> pa.Table:
    """Copy the short columns that are parts of larger buffers, all of which a pickle would hold.

    Examples
    --------
    >>> part = pa.table({"n": pa.array(range(9000)).slice(10, 2)})
    >>> part.get_total_buffer_size(), own_buffers(part).get_total_buffer_size()
    (72000, 16)
    """
    if table.num_rows > _FEW:
        return table
    columns = [
        pa.chunked_array([pa.concat_arrays(column.chunks)], column.type)
        if column.num_chunks and column.get_total_buffer_size() > 2 * column.nbytes
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


@cache
def _places(columns: int) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    return [np.array([number]) for number in range(columns)]


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> pd.Index:
    """The names of columns as an index, to be viewed: what is given out could be renamed."""
    import pandas as pd

    return pd.Index(names, dtype="str")


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
    if kind in (pa.date32(), pa.timestamp("us")):
        # pandas holds days as instants at midnight. What is Arrow's own could not be written to.
        # A block of what is numpy's has two axes.
        naive = pa.timestamp("us")
        return lambda column: column.cast(naive).to_numpy().copy().reshape(1, -1)
    if kind == pa.timestamp("us", tz="UTC"):
        instants = pd.DatetimeTZDtype("us", ZoneInfo("UTC"))
        return lambda column: instants.__from_arrow__(_whole(column)).copy()
    text: Any = pd.StringDtype()
    if kind == pa.large_string():
        return text.__from_arrow__  # type: ignore[no-any-return]
    if kind == pa.string():
        return lambda column: text.__from_arrow__(_large(_whole(column)))
    if kind == pa.bool_():
        return _flags
    other: Any = pd.ArrowDtype(kind)
    return other.__from_arrow__  # type: ignore[no-any-return]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _missing(array: pa.Array) -> Mask:
    if not array.null_count:
        return np.zeros(len(array), bool)
    missing: Mask = array.is_null().to_numpy(zero_copy_only=False)
    return missing


def _numbers(make: Callable[[Any, Mask], Any], dtype: Any, column: pa.ChunkedArray) -> Any:
    """Convert numbers to an array of pandas that can be written to."""
    whole = _whole(column)
    return make(_values(whole, dtype).copy(), _missing(whole))


def _values(array: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """The numbers of an array as they are in memory; any where one is missing."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype().itemsize)


def _flags(column: pa.ChunkedArray) -> pd.arrays.BooleanArray:
    import pandas as pd

    whole = _whole(column)
    known = whole.fill_null(False) if whole.null_count else whole
    return pd.arrays.BooleanArray(known.to_numpy(zero_copy_only=False), _missing(whole))


def _large_together(columns: list[pa.ChunkedArray]) -> list[pa.Array | pa.ChunkedArray]:
    """Convert short columns of text to text with offsets of eight bytes, in one array."""
    texts = [column for column in columns if column.type == pa.string()]
    if not texts or not len(texts[0]):
        return columns
    large = _large(pa.concat_arrays([*map(_whole, texts)]))
    starts = iter(range(0, len(large), len(texts[0])))
    return [
        large.slice(next(starts), len(column)) if column.type == pa.string() else column
        for column in columns
    ]


def _large(text: pa.Array) -> pa.Array:
    """Convert text to text with offsets of eight bytes; a cast takes twice as long for few rows."""
    if not len(text) or (text.offset and text.null_count):
        return text.cast(pa.large_string())
    valid, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, np.int32, len(text) + 1, 4 * text.offset).astype(np.int64)
    start = int(ends[0])
    if start:
        ends -= start
        data = data.slice(start)
    return pa.LargeStringArray.from_buffers(
        len(text), pa.py_buffer(ends), data, valid if text.null_count else None, text.null_count
    )


def as_tuples(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Convert lists to tuples, missing ones to ``pd.NA``; equal texts are shared.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    import pandas as pd

    whole = _whole(column)
    flat = _shared(whole.flatten())
    if whole.null_count:
        lengths = pc.fill_null(pc.list_value_length(whole), 0).to_numpy(zero_copy_only=False)
    else:
        lengths = np.diff(whole.offsets.to_numpy())
    ends = lengths.cumsum()
    slices = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    found = np.fromiter((tuple(flat[a:b]) for a, b in slices), object, len(whole))
    if whole.null_count:
        found[_missing(whole)] = pd.NA
    return found


def _shared(items: pa.Array) -> list[Any]:
    """The values of an array as Python objects; of long ones equal texts are one object."""
    if not pa.types.is_string(items.type):
        return items.to_pylist()  # type: ignore[no-any-return]
    if len(items) <= _FEW:
        return items.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
    items = items.dictionary_encode()
    texts = np.array([*items.dictionary.to_pylist(), None], dtype=object)
    codes = items.indices.fill_null(len(texts) - 1)
    return texts[codes.to_numpy(zero_copy_only=False)].tolist()  # type: ignore[no-any-return]


def _categories(column: pa.ChunkedArray) -> pd.Categorical:
    import pandas as pd

    whole = _whole(column)
    dtype = _category(tuple(whole.dictionary.to_pylist()), whole.type.ordered)
    codes = _values(whole.indices, whole.indices.type.to_pandas_dtype()).copy()
    if whole.null_count:
        codes[_missing(whole.indices)] = -1
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


@lru_cache(maxsize=256)
def _category(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    import pandas as pd

    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)
