"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.coerce import POOL

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd


class Block(NamedTuple):
    """Columns of one type, one after the other in an array, and their numbers in a table."""

    array: pa.Array
    columns: list[int]


def to_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> pd.DataFrame:
    """Convert an Arrow table to a DataFrame.

    Days and instants are ``datetime64[us]``, instants in UTC; missing values are ``pd.NA`` or
    ``NaT``, never NaN and never zero. A category is a pandas category with either backend. A list
    is a tuple in an ``object`` column, which pandas can compare, count and write to files; with
    ``dtype_backend="pyarrow"`` it is Arrow's own.
    """
    # Not copied where it is in one piece.
    arrays = [c.chunk(0) if c.num_chunks == 1 else c.combine_chunks() for c in table.columns]
    blocks = [Block(array, [number]) for number, array in enumerate(arrays)]
    return frame_of(tuple(table.column_names), blocks, table.num_rows, dtype_backend)


def frame_of(
    names: tuple[str, ...], blocks: Sequence[Block], size: int, dtype_backend: str
) -> pd.DataFrame:
    """Make a DataFrame of blocks; the constructor would look at the type of every array again."""
    import pandas as pd
    from pandas.api import internals  # type: ignore[attr-defined]  # the stubs lack it

    made: list[tuple[Any, Any]] = []
    for array, columns in blocks:
        converted = _converted(array, len(columns), size, dtype_backend)
        if isinstance(converted, np.ndarray):  # a block of what is numpy's has two axes
            made.append((converted.reshape(len(columns), size), np.array(columns)))
        else:
            made += zip(converted, map(_place, columns), strict=True)
    index = pd.RangeIndex(size)
    frame: pd.DataFrame = internals.create_dataframe_from_blocks(made, index, _names(names).view())
    return frame


def own_buffers(table: pa.Table) -> pa.Table:
    """Copy the columns that are parts of larger buffers, all of which a pickle would hold.

    Examples
    --------
    >>> part = pa.table({"n": pa.array(range(9000)).slice(10, 2)})
    >>> part.get_total_buffer_size(), own_buffers(part).get_total_buffer_size()
    (72000, 16)
    """
    columns = [
        pa.chunked_array([pa.concat_arrays(column.chunks)], column.type)
        if column.num_chunks and column.get_total_buffer_size() > 2 * column.nbytes
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


@cache
def _place(number: int) -> npt.NDArray[np.intp]:
    return np.array([number])


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> pd.Index:
    """The names of columns as an index, to be viewed: what is given out could be renamed."""
    import pandas as pd

    return pd.Index(names, dtype="str")


def _converted(whole: pa.Array, count: int, size: int, dtype_backend: str) -> Any:
    """Convert so many columns of a type, one after the other in one array.

    What comes of them can be written to.
    """
    import pandas as pd

    kind = whole.type
    starts = range(0, count * size, size) if size else [0] * count
    if pa.types.is_dictionary(kind):
        codes = whole.indices.fill_null(-1) if whole.null_count else whole.indices
        codes = codes.to_numpy(zero_copy_only=False).copy()
        dtype = _category(tuple(whole.dictionary.to_pylist()), kind.ordered)
        return [pd.Categorical.from_codes(codes, dtype=dtype, validate=False)]
    other: Any = pd.ArrowDtype(kind)
    if dtype_backend != "pyarrow":
        if kind in _MASKED:
            missing = np.zeros(len(whole), bool)
            if whole.null_count:
                missing = whole.is_null().to_numpy(zero_copy_only=False)
            if kind == pa.bool_():
                filled = whole.fill_null(False) if whole.null_count else whole
                values = filled.to_numpy(zero_copy_only=False)
            else:
                values = np.array(_in_memory(whole))
            make = getattr(pd.arrays, _MASKED[kind])
            return [make(values[at : at + size], missing[at : at + size]) for at in starts]
        if kind in (pa.date32(), pa.timestamp("us")):
            # pandas holds days as instants at midnight.
            return whole.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).copy()
        if pa.types.is_list(kind):
            return as_tuples(whole)
        if kind == pa.timestamp("us", tz="UTC"):
            instants = _instants()
            return [instants.__from_arrow__(whole.slice(at, size)).copy() for at in starts]
        if kind in (pa.string(), pa.large_string()):
            other, whole = pd.StringDtype(), whole.cast(pa.large_string(), memory_pool=POOL)
    return [other.__from_arrow__(whole.slice(at, size)) for at in starts]


@cache
def _instants() -> pd.DatetimeTZDtype:
    import pandas as pd

    return pd.DatetimeTZDtype("us", ZoneInfo("UTC"))


_MASKED = {
    pa.int32(): "IntegerArray",
    pa.int64(): "IntegerArray",
    pa.float64(): "FloatingArray",
    pa.bool_(): "BooleanArray",
}
"""What pandas has of a type of numbers with missing ones."""


def _in_memory(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an array as they are in memory; any where one is missing."""
    dtype = array.type.to_pandas_dtype()
    buffer = array.buffers()[1] if len(array) else b""
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype().itemsize)


def as_tuples(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Convert lists to tuples, missing ones to ``pd.NA``.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    import pandas as pd

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    flat = whole.flatten()
    texts = (
        flat.to_numpy(zero_copy_only=False).tolist() if not flat.null_count else flat.to_pylist()
    )
    lengths = pc.list_value_length(whole)
    if whole.null_count:
        lengths = lengths.fill_null(0)
    starts = [0, *lengths.to_numpy(zero_copy_only=False).cumsum().tolist()]
    tuples = (tuple(texts[a:b]) for a, b in pairwise(starts))
    cells = np.fromiter(tuples, object, len(whole))
    if whole.null_count:
        cells[whole.is_null().to_numpy(zero_copy_only=False)] = pd.NA
    return cells


@lru_cache(maxsize=256)
def _category(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    import pandas as pd

    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)
