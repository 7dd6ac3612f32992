"""Store the metadata of a frame in a Parquet file, so that other programs see it; read it back.

The metadata is stored under two keys of the file's own metadata:

- ``aatoolkit`` has JSON that DuckDB, Polars and pyarrow show: the key of the frame, and the
  availability, unit, aggregation rule and description of each column;
- ``PANDAS_ATTRS`` has all metadata of the frame, compressed, so that plain ``pandas.read_parquet``
  gives a frame whose ``df.aa`` works. This package, too, reads the metadata from this key.

The Arrow schema is stored only if Parquet's own types would lose something, such as categories.
A reader that finds an Arrow schema sees only its keys, so the two keys above are repeated in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.errors import MetadataError, NotWritten
from aatoolkit.metadata.attrs import ATTRIBUTE, ColumnMetadata, FrameMetadata, tables_of
from aatoolkit.metadata.column import dump_state
from aatoolkit.metadata.recipe import pack
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import find_table, remember
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

# The key in DataFrame.attrs and the key in the file are the same, so that whoever finds either
# knows what wrote it; pandas writes attrs into the file under PANDAS.
KEY = ATTRIBUTE.encode()
PANDAS = b"PANDAS_ATTRS"
ARROW = b"ARROW:schema"

LAYOUT = "2.1"
"""The version of the JSON under the key ``aatoolkit``; since 2.1 files have checksums."""


def declared(column: ColumnMetadata) -> Column | None:
    """Return the declaration of a column; None if no table declares it."""
    name, _, field = (column.of or "").partition(".")
    table = find_table(name)
    try:
        return None if table is None else table[field]
    except KeyError:
        return None


def with_metadata(schema: pa.Schema, metadata: FrameMetadata) -> pa.Schema:
    """Return ``schema`` with the metadata under the keys ``aatoolkit`` and ``PANDAS_ATTRS``."""
    keys = {
        **(schema.metadata or {}),
        PANDAS: _to_json({ATTRIBUTE: pack(metadata.dumps())}),
        KEY: _to_json(_make_body(metadata)),
    }
    return schema.with_metadata(keys)


_PARQUET_NAMES = "string large_string bool date32 int8 int16 int32 int64 float double timestamp[us]"
_PARQUET_TYPES = {
    *map(pa.type_for_alias, _PARQUET_NAMES.split()),
    *(pa.list_(pa.string()), pa.timestamp("us", "UTC")),
}
"""The Arrow types that Parquet stores without loss."""


def file_keys(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the key-value metadata to write into a Parquet file with the schema ``schema``.

    If Parquet's own types store every column without loss, it is the metadata of ``schema``.
    Otherwise it has the key ``aatoolkit`` and the serialized Arrow schema, which includes all
    metadata of ``schema``.
    """
    if all(field.type in _PARQUET_TYPES and field.nullable for field in schema):
        return dict(schema.metadata)
    arrow_schema = base64.b64encode(schema.serialize().to_pybytes())
    return {KEY: schema.metadata[KEY], ARROW: arrow_schema}


def read_keys(keys: Mapping[bytes, bytes], names: list[str]) -> FrameMetadata | None:
    """Read the metadata of the columns ``names`` from the keys of a Parquet file or Arrow schema.

    Return None if the keys hold no metadata of a frame.

    Raises
    ------
    MetadataError
        If the metadata is damaged, or of a newer major version.
    """
    try:
        text = json.loads(keys.get(PANDAS, b"{}")).get(ATTRIBUTE)
        if KEY in keys:
            body = json.loads(keys[KEY])
            for name, declaration in body.get("declarations", {}).items():
                remember(name, load_table(declaration))
        if text is None:
            return None
        metadata = FrameMetadata.loads(text)
        columns = {name: column for name, column in metadata.columns.items() if name in names}
        return replace(metadata, columns=columns)
    except MetadataError as error:
        problem, version = error.message.partition(";")[0], error.version
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        problem, version = "this file's aatoolkit metadata is damaged", None
    raise MetadataError(
        f"{problem}; pandas.read_parquet reads the data without it", version=version
    )


def _make_body(metadata: FrameMetadata) -> dict[str, Any]:
    """Return the JSON value of the key ``aatoolkit``, for programs that lack this package.

    It has the key of the frame, a list of availabilities (``states``), and the metadata of each
    column. The ``state`` of a column is the position of the column's availability in the list; it
    is left out if it is 0, the most frequent. The declarations of tables are included, except of
    those in the default profile, which is publicly known.
    """
    columns = metadata.columns.items()
    states_by_name = {name: dump_state(column.availability) for name, column in columns}
    states = [state for state, _ in Counter(states_by_name.values()).most_common()]
    body = {
        "version": LAYOUT,
        "key": metadata.key,
        "states": [
            _drop_empty(dict(zip(("status", "cause", "reason"), state, strict=True)))
            for state in states
        ],
        "columns": {
            name: ({"state": position} if (position := states.index(states_by_name[name])) else {})
            | _drop_empty(_describe_declaration(column))
            for name, column in columns
        },
    }
    tables = {name: find_table(name) for name in sorted(tables_of(metadata)) if ":" in name}
    declarations = {name: dump_table(table) for name, table in tables.items() if table}
    return body | ({"declarations": declarations} if declarations else {})


def _describe_declaration(column: ColumnMetadata) -> dict[str, str | None]:
    """Return the declared unit, aggregation rule and description of a column.

    Return an empty dict if no table declares the column.
    """
    declaration = declared(column)
    if declaration is None:
        return {}
    rule = str(declaration.aggregate)
    return {
        "unit": declaration.unit,
        "aggregation": rule if rule != "none" else None,
        "description": declaration.doc,
    }


def _drop_empty(fields: Mapping[str, str | None]) -> dict[str, str]:
    """Return the fields without those whose value is None or empty."""
    return {name: value for name, value in fields.items() if value}


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_HASH_TITLE = b"aatoolkit logical hash 1\n"

_Encoded = tuple[str, list[bytes | memoryview]]
"""The kind of an array, such as ``integer``, and its bytes."""


def logical_hash(table: pd.DataFrame | pa.Table) -> str:
    """Compute the SHA-256 of a table's content: columns and rows in their order.

    It does not depend on the version of pandas or pyarrow, on the dtype backend, or on the layout
    of a file that the table was read from. These bytes are hashed, in this order:

    - the line ``aatoolkit logical hash 1``;
    - a line of JSON, ``{"columns":[[name,kind],…],"rows":n}``, without spaces, in UTF-8;
    - for each column first one byte per row, 1 for a value and 0 for a missing value; then the
      values of the column, in which a missing value is zero or an empty text or list.

    The kinds, and how their values are written (numbers are little-endian):

    - ``boolean``: one byte; ``integer``: 8 bytes, signed; ``float``: 8 bytes, IEEE 754,
      where NaN is a missing value and -0 is 0;
    - ``instant``: the microseconds since 1970 in UTC, as ``integer``;
    - ``local``, a time without a time zone, or a day, which is written as its midnight: the
      microseconds since midnight of 1 January 1970 in local time, as ``integer``;
    - ``text``: the length of each text in bytes, as ``integer``, then all texts in UTF-8. A
      category is written as its text. A ``big integer``, too large for ``integer``, is written as
      the text of its digits;
    - ``list<kind>``: the length of each list, as ``integer``, then the items of all lists as a
      column;
    - ``null``: no bytes, for a column whose kind is not known because it has no values.

    The named levels of the index are hashed as the first columns; levels without a name are not
    hashed.

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
        If a column has a type that is none of these kinds.

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
    kinds, pieces = [], []
    for name, values in zip(table.column_names, table.columns, strict=True):
        try:
            kind, encoded_values = _encode(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise NotWritten(f"column {name!r} has no logical hash: {error}") from None
        kinds.append([name, kind])
        pieces += encoded_values
    digest = hashlib.sha256(
        _HASH_TITLE + _to_json({"columns": kinds, "rows": table.num_rows}) + b"\n"
    )
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Convert a frame to an Arrow table, with the named index levels as the first columns."""
    levels = [name for name in frame.index.names if name is not None]
    flat_frame = frame.reset_index(levels) if levels else frame.copy(deep=False)
    flat_frame.attrs = {}  # Arrow would write the text of the attrs
    try:
        return pa.Table.from_pandas(flat_frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise NotWritten(f"the table has no logical hash: {error}") from None


def _encode(values: Any) -> _Encoded:
    """Return the kind of a column, such as ``float``, and the bytes to hash for the column.

    They are one byte per row, 1 for a value and 0 for a missing value, then the bytes of all
    values.
    """
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type):
        values = values.cast(pa.large_string())
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_floating(array.type):
        # numpy writes a missing number as NaN.
        array = array.cast(pa.float64())
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    kind, pieces = _encode_values(array)
    return kind, [_encode_numbers(pc.is_valid(array), pa.uint8()), *pieces]


def _encode_values(array: pa.Array) -> _Encoded:
    """Return the kind of an array, such as ``float``, and the bytes of its values.

    ``array`` has null in place of NaN.
    """
    arrow_type, arrow_types = array.type, pa.types
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
        moments = array.cast(pa.timestamp("us", time_zone)).cast(pa.int64())
        return "instant" if time_zone else "local", [_encode_numbers(moments, pa.int64())]
    if arrow_types.is_large_string(arrow_type):
        return "text", _encode_texts(array)
    if arrow_types.is_list(arrow_type) or arrow_types.is_large_list(arrow_type):
        items_array = array.flatten()
        items_kind, encoded_items = _encode(items_array if len(items_array) else pa.nulls(0))
        lengths = _encode_numbers(pc.list_value_length(array), pa.int64())
        return f"list<{items_kind}>", [lengths, *encoded_items]
    raise TypeError(f"{arrow_type} is not of any kind that responses hold")


def _encode_texts(array: pa.Array) -> list[bytes | memoryview]:
    """Return the bytes of texts: the length of each text in bytes, then all texts in UTF-8."""
    # A null may have bytes in the buffer, which do not count.
    texts = pc.fill_null(array, "")
    _, offset_buffer, content = texts.buffers()
    offsets = np.frombuffer(offset_buffer or bytes(8), np.int64)[
        texts.offset : texts.offset + len(texts) + 1
    ]
    lengths = _encode_numbers(pa.array(np.diff(offsets)), pa.int64())
    return [lengths, b"" if content is None else memoryview(content)[offsets[0] : offsets[-1]]]


def _encode_numbers(array: pa.Array, arrow_type: pa.DataType) -> bytes:
    """Return the bytes of numbers, cast to ``arrow_type``, little-endian, with zero for null."""
    numbers = pc.fill_null(array.cast(arrow_type), pa.scalar(0, arrow_type)).to_numpy(
        zero_copy_only=False
    )
    return np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes()
