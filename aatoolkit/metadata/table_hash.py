"""The logical hash of a table: the same for equal content, in whatever format it is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.errors import NotWritten

if TYPE_CHECKING:
    import pandas as pd

_TITLE = b"aatoolkit logical hash 1\n"

_Bytes = bytes | memoryview
_Written = tuple[str, list[_Bytes]]


def logical_hash(table: pd.DataFrame | pa.Table) -> str:
    """Compute the SHA-256 of a table's content: columns and rows in their order.

    It is the same for every version of pandas and pyarrow, for every dtype backend, and for
    every layout of a file that a table is read back from. What is hashed is, in this order:

    - the line ``aatoolkit logical hash 1``;
    - a line of JSON, ``{"columns":[[name,kind],…],"rows":n}``, without spaces, in UTF-8;
    - for each column one byte a row, 1 for a value and 0 where there is none; then its
      values, with zero or nothing in the place of those that are missing.

    The kinds, and how their values are written (numbers are little-endian):

    - ``boolean``: one byte; ``integer``: 8 bytes, signed; ``float``: 8 bytes, IEEE 754,
      where NaN is a missing value and -0 is 0;
    - ``instant``: the microseconds since 1970 in UTC, and ``local``: those of a clock without
      a time zone, which a day is the midnight of; both as ``integer``;
    - ``text``: the length of each in bytes, as ``integer``, then all of them in UTF-8. A
      category is its text; ``big integer`` is text too;
    - ``list<kind>``: the length of each, as ``integer``, then all their items as a column;
    - ``null``: nothing, for a column without any value that would show its kind.

    Named levels of an index count as columns before the others; an index without a name does
    not count.

    Parameters
    ----------
    table : pandas.DataFrame or pyarrow.Table
        The table.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    NotWritten
        If a column holds what has no kind.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"brand": ["Acme", None], "mention_count": [3, None]})
    >>> one = logical_hash(frame.convert_dtypes())
    >>> one == logical_hash(frame.convert_dtypes(dtype_backend="pyarrow"))
    True
    >>> one == logical_hash(frame.convert_dtypes().fillna({"mention_count": 0}))
    False
    """
    columns = [(name, *_encoded(name, values)) for name, values in _columns(table)]
    rows = table.num_rows if isinstance(table, pa.Table) else len(table)
    head = {"columns": [[name, kind] for name, kind, _ in columns], "rows": rows}
    total = hashlib.sha256(_TITLE)
    total.update(json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    for piece in chain.from_iterable(pieces for _, _, pieces in columns):
        total.update(piece)
    return total.hexdigest()


def _columns(table: pd.DataFrame | pa.Table) -> Iterator[tuple[str, Any]]:
    """The columns by name; of a frame, named levels of the index come first."""
    if isinstance(table, pa.Table):
        yield from zip(table.column_names, table.columns, strict=True)
        return
    for level, name in enumerate(table.index.names):
        if name is not None:
            yield str(name), table.index.get_level_values(level)
    for at, name in enumerate(table.columns):
        yield str(name), table.iloc[:, at]


def _encoded(name: str, values: Any) -> _Written:
    """Encode a column to its kind and bytes."""
    problem = ""
    try:
        if not isinstance(values, pa.ChunkedArray):
            values = pa.array(values, from_pandas=True)
        return _written(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        problem = str(error)
    raise NotWritten(f"column {name!r} has no logical hash: {problem}")


def _written(values: Any) -> _Written:
    """Encode values to their kind and bytes: which are present, then the values."""
    if pa.types.is_dictionary(values.type):
        return _written(values.cast(values.type.value_type))
    if pa.types.is_string(values.type):
        values = values.cast(pa.large_string())
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_floating(whole.type):
        # NaN is how numpy has no number.
        whole = whole.cast(pa.float64())
        whole = pc.if_else(pc.is_nan(whole), pa.scalar(None, pa.float64()), whole)
    kind, pieces = _of_kind(whole)
    return kind, [_numbers(pc.is_valid(whole), pa.uint8()), *pieces]


def _of_kind(array: pa.Array) -> _Written:
    given, is_a = array.type, pa.types
    if is_a.is_null(given):
        return "null", []
    if is_a.is_boolean(given):
        return "boolean", [_numbers(array, pa.uint8())]
    if is_a.is_integer(given):
        return _integers(array)
    if is_a.is_floating(given):
        return "float", [_numbers(pc.add(array, 0.0), pa.float64())]
    if is_a.is_date(given) or is_a.is_timestamp(given):
        zone = None if is_a.is_date(given) else given.tz
        moments = array.cast(pa.timestamp("us", zone)).cast(pa.int64())
        return "instant" if zone else "local", [_numbers(moments, pa.int64())]
    if is_a.is_large_string(given):
        return "text", _text(array)
    if is_a.is_list(given) or is_a.is_large_list(given):
        if array.null_count == len(array):
            return "null", []  # a column of Python objects names no kind either
        inside = array.flatten()
        kind, items = _written(inside if len(inside) else pa.nulls(0))
        return f"list<{kind}>", [_numbers(pc.list_value_length(array), pa.int64()), *items]
    raise TypeError(f"{given} is not of any kind that answers hold")


def _integers(array: pa.Array) -> _Written:
    try:
        return "integer", [_numbers(array, pa.int64())]
    except pa.ArrowInvalid:
        return "big integer", _text(array.cast(pa.large_string()))


def _text(array: pa.Array) -> list[_Bytes]:
    # Without its nulls, behind which there may be bytes.
    there = pc.fill_null(array, "")
    _, ends, content = there.buffers()
    at = np.frombuffer(ends or bytes(8), np.int64)[there.offset : there.offset + len(there) + 1]
    lengths = _numbers(pa.array(np.diff(at)), pa.int64())
    return [lengths, b"" if content is None else memoryview(content)[at[0] : at[-1]]]


def _numbers(array: pa.Array, kind: pa.DataType) -> _Bytes:
    """Numbers of one type, little-endian, with zero for each that is missing."""
    there = pc.fill_null(array.cast(kind), pa.scalar(0, kind))
    found = there.to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(found, found.dtype.newbyteorder("<")).tobytes()
