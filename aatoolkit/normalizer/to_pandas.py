"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
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

    # Few rows are converted together, all columns of a type: each step takes longer than its
    # work. And as blocks: the constructor would look at the type of every array again.
    columns = [c.chunk(0) if c.num_chunks == 1 else c.combine_chunks() for c in table.columns]
    groups: dict[Any, list[int]] = {}
    for number, column in enumerate(columns):
        is_few = table.num_rows <= _FEW and not pa.types.is_dictionary(column.type)
        groups.setdefault(column.type if is_few else number, []).append(number)
    blocks: list[tuple[Any, Any]] = []
    for numbers in groups.values():
        whole = columns[numbers[0]]
        if len(numbers) > 1:
            whole = pa.concat_arrays([columns[number] for number in numbers])
        arrays = _converted(whole, len(numbers), dtype_backend)
        if isinstance(arrays, np.ndarray):  # a block of what is numpy's has two axes
            blocks.append((arrays.reshape(len(numbers), -1), np.array(numbers)))
        else:
            blocks += zip(arrays, map(_place, numbers), strict=True)
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
def _place(number: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.array([number])


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> pd.Index:
    """The names of columns as an index, to be viewed: what is given out could be renamed."""
    import pandas as pd

    return pd.Index(names, dtype="str")


def _converted(whole: pa.Array, count: int, dtype_backend: str) -> Sequence[Any]:
    """Convert so many columns of a type, one after the other in one array.

    What comes of them can be written to.
    """
    import pandas as pd

    kind, size = whole.type, len(whole) // count
    bounds = [(size * number, size * (number + 1)) for number in range(count)]
    if pa.types.is_dictionary(kind):
        codes = _values(whole.indices, whole.indices.type.to_pandas_dtype()).copy()
        if whole.null_count:
            codes[_missing(whole.indices)] = -1
        dtype = _category(tuple(whole.dictionary.to_pylist()), kind.ordered)
        return [pd.Categorical.from_codes(codes, dtype=dtype, validate=False)]
    if dtype_backend != "pyarrow":
        if kind in _NUMBERS or kind == pa.bool_():
            if kind == pa.bool_():
                make: Any = pd.arrays.BooleanArray
                values = whole.fill_null(False).to_numpy(zero_copy_only=False)
            else:
                make = getattr(pd.arrays, _NUMBERS[kind])
                values = _values(whole, kind.to_pandas_dtype()).copy()
            missing = _missing(whole)
            return [make(values[start:end], missing[start:end]) for start, end in bounds]
        if kind in (pa.date32(), pa.timestamp("us")):
            # pandas holds days as instants at midnight.
            return whole.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).copy()  # type: ignore[no-any-return]
        if pa.types.is_list(kind):
            return as_tuples(whole)  # type: ignore[return-value]
    other: Any = pd.ArrowDtype(kind)
    if dtype_backend != "pyarrow" and kind in (pa.string(), pa.large_string()):
        other, whole = pd.StringDtype(), whole.cast(pa.large_string())
    elif dtype_backend != "pyarrow" and kind == pa.timestamp("us", tz="UTC"):
        other = _instants()
        return [other.__from_arrow__(whole.slice(start, size)).copy() for start, _ in bounds]
    return [other.__from_arrow__(whole.slice(start, size)) for start, _ in bounds]


@cache
def _instants() -> pd.DatetimeTZDtype:
    import pandas as pd

    return pd.DatetimeTZDtype("us", ZoneInfo("UTC"))


_NUMBERS = {
    pa.int32(): "IntegerArray",
    pa.int64(): "IntegerArray",
    pa.float64(): "FloatingArray",
}
"""What pandas has of a type of numbers."""


def _missing(array: pa.Array) -> Mask:
    if not array.null_count:
        return np.zeros(len(array), bool)
    missing: Mask = array.is_null().to_numpy(zero_copy_only=False)
    return missing


def _values(array: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """The numbers of an array as they are in memory; any where one is missing."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype().itemsize)


def as_tuples(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Convert lists to tuples, missing ones to ``pd.NA``; equal texts are shared.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    import pandas as pd

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
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


@lru_cache(maxsize=256)
def _category(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    import pandas as pd

    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)
