"""The hash of a table's content, which does not depend on how the table is stored."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import canonical_json
from aatoolkit.errors import NotWritten

if TYPE_CHECKING:
    import pandas as pd

_HASH_TITLE_LINE = b"aatoolkit logical hash 1\n"

_KindAndBytes = tuple[str, list[bytes | memoryview]]
"""The kind of an array's values, such as ``integer``, and the bytes to hash."""


def logical_hash(table: pd.DataFrame | pa.Table) -> str:
    """Return the SHA-256 of a table's content, to compare tables without storing them.

    Tables with equal columns and rows in the same order have the same hash. It does not depend on
    the version of pandas or pyarrow, the dtype backend or the file layout. Named index levels are
    hashed as the first columns.

    These bytes are hashed, in this order:

    - the line ``aatoolkit logical hash 1``;
    - a line of JSON, ``{"columns":[[name,kind],…],"rows":n}``, without spaces, in UTF-8;
    - for each column, one byte per row (1 for a value, 0 for a missing value), and then the values.
      A missing value is hashed as zero, or as an empty text or list.

    The kinds of values (numbers are little-endian):

    - ``boolean``: one byte.
    - ``integer``: 8 bytes, signed.
    - ``float``: 8 bytes, IEEE 754. NaN is a missing value, and -0 is 0.
    - ``instant``: the microseconds since 1970 in UTC, as ``integer``.
    - ``local``, for a day or a time without a time zone: the microseconds since midnight of
      1 January 1970 in local time, as ``integer``. A day is its midnight.
    - ``text``: the length of each text in bytes, as ``integer``, then all texts in UTF-8. A
      category is its text.
    - ``big integer``, too large for ``integer``: its digits, as ``text``.
    - ``list<kind>``: the length of each list, as ``integer``, then the items of all lists as a
      column.
    - ``null``: no bytes, for a column without values, whose kind is unknown.

    Parameters
    ----------
    table : pandas.DataFrame or pyarrow.Table
        The table to hash.

    Returns
    -------
    str
        The hash, as 64 hexadecimal digits.

    Raises
    ------
    NotWritten
        If a column has values of another kind.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"brand": ["Acme", None], "mention_count": [3, None]})
    >>> nullable = logical_hash(frame.convert_dtypes())
    >>> nullable == logical_hash(frame.convert_dtypes(dtype_backend="pyarrow"))
    True
    >>> nullable == logical_hash(frame.convert_dtypes().fillna({"mention_count": 0}))
    False
    """
    if not isinstance(table, pa.Table):
        table = _to_arrow(table)
    names_and_kinds = []
    hashed_buffers = []
    for name, column_array in zip(table.column_names, table.columns, strict=True):
        try:
            value_kind, encoded_values = _encode_column(column_array)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise NotWritten(f"column {name!r} has no logical hash: {error}") from None
        names_and_kinds.append([name, value_kind])
        hashed_buffers += encoded_values
    header_dict = {"columns": names_and_kinds, "rows": table.num_rows}
    hasher = hashlib.sha256(_HASH_TITLE_LINE + canonical_json(header_dict).encode() + b"\n")
    for buffer in hashed_buffers:
        hasher.update(buffer)
    return hasher.hexdigest()


def _to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Convert a DataFrame to an Arrow table, with named index levels as the first columns."""
    level_names = [name for name in frame.index.names if name is not None]
    frame_without_levels = frame.reset_index(level_names) if level_names else frame.copy(deep=False)
    frame_without_levels.attrs = {}  # Arrow would write the text of the attrs
    try:
        return pa.Table.from_pandas(frame_without_levels, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise NotWritten(f"the table has no logical hash: {error}") from None


def _encode_column(column: Any) -> _KindAndBytes:
    """Return the kind of a column's values, such as ``float``, and the bytes to hash.

    The bytes say first which values are missing.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_floating(array.type):
        # numpy writes a missing number as NaN.
        array = array.cast(pa.float64())
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    value_kind, value_buffers = _encode_values(array)
    return value_kind, [_encode_numbers(pc.is_valid(array), pa.uint8()), *value_buffers]


def _encode_values(array: pa.Array) -> _KindAndBytes:
    """Return the kind of an array's values, such as ``float``, and the bytes of the values."""
    arrow_type = array.type
    arrow_types = pa.types
    if arrow_types.is_null(arrow_type) or (
        arrow_types.is_nested(arrow_type) and array.null_count == len(array)
    ):
        return "null", []  # a column of Python objects names no kind either
    if arrow_types.is_boolean(arrow_type):
        return "boolean", [_encode_numbers(array, pa.uint8())]
    if arrow_types.is_integer(arrow_type):
        try:
            return "integer", [_encode_numbers(array, pa.int64())]
        except pa.ArrowInvalid:
            return "big integer", _encode_texts(array.cast(pa.large_string()))
    if arrow_types.is_floating(arrow_type):
        return "float", [_encode_numbers(pc.add(array, 0.0), pa.float64())]
    if arrow_types.is_date(arrow_type) or arrow_types.is_timestamp(arrow_type):
        time_zone = None if arrow_types.is_date(arrow_type) else arrow_type.tz
        microseconds = array.cast(pa.timestamp("us", time_zone)).cast(pa.int64())
        return "instant" if time_zone else "local", [_encode_numbers(microseconds, pa.int64())]
    if arrow_types.is_large_string(arrow_type):
        return "text", _encode_texts(array)
    if arrow_types.is_list(arrow_type) or arrow_types.is_large_list(arrow_type):
        items_array = array.flatten()
        item_kind, encoded_items = _encode_column(items_array if len(items_array) else pa.nulls(0))
        length_bytes = _encode_numbers(pc.list_value_length(array), pa.int64())
        return f"list<{item_kind}>", [length_bytes, *encoded_items]
    raise TypeError(f"{arrow_type} is not of any kind that responses hold")


def _encode_texts(array: pa.Array) -> list[bytes | memoryview]:
    """Return the bytes of texts: the length of each text in bytes, then all texts in UTF-8."""
    # A null may have bytes in the buffer, which do not count.
    texts = pc.fill_null(array, "")
    _, offset_buffer, utf8_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer or bytes(8), np.int64)[
        texts.offset : texts.offset + len(texts) + 1
    ]
    length_bytes = _encode_numbers(pa.array(np.diff(offsets)), pa.int64())
    return [
        length_bytes,
        b"" if utf8_buffer is None else memoryview(utf8_buffer)[offsets[0] : offsets[-1]],
    ]


def _encode_numbers(array: pa.Array, arrow_type: pa.DataType) -> bytes:
    """Return the bytes of numbers, cast to ``arrow_type``, with zero for null."""
    numbers = pc.fill_null(array.cast(arrow_type), pa.scalar(0, arrow_type)).to_numpy(
        zero_copy_only=False
    )
    return np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes()
