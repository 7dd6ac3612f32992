"""Store column metadata in Parquet files, readable for every engine, and read it back.

Engines look in different places, and each fact is stored where it is looked for:

- the key ``aatoolkit``, JSON that DuckDB, Polars and pyarrow show: the key of the frame, and the
  state, unit, rule and meaning of each column;
- ``PANDAS_ATTRS``, compressed: all that a frame carries, so that plain ``pandas.read_parquet``
  gives a frame whose ``df.aa`` works; from here it is read back;
- ``org.apache.spark.sql.parquet.row.metadata``: names, types and comments, for Spark.

The Arrow schema is stored only where Parquet's own types would lose something, such as categories,
since a reader that finds one sees no other key: it then repeats the first two.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit import sections
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError, NotWritten, ScopeError
from aatoolkit.metadata.attrs import ATTRIBUTE, ColumnMetadata, FrameMetadata
from aatoolkit.metadata.column import dump_state
from aatoolkit.metadata.recipe import pack
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import find_table, remember
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

# The key of DataFrame.attrs and that of the file are one word, so that whoever finds either knows
# what wrote it; pandas writes attrs into the file under PANDAS.
KEY = ATTRIBUTE.encode()
PANDAS = b"PANDAS_ATTRS"
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
ARROW = b"ARROW:schema"

LAYOUT = "2.1"
"""The version of what the key ``aatoolkit`` holds; since 2.1 files have checksums."""


def declared(column: ColumnMetadata) -> Column | None:
    """The declaration of a column; None for a column that no table declares."""
    name, _, own = (column.of or "").partition(".")
    table = find_table(name)
    try:
        return None if table is None else table[own]
    except KeyError:
        return None


def declared_key(table: str) -> tuple[str, ...] | None:
    """The key of a declared table; None for other tables, and without a key."""
    found = find_table(table)
    return None if found is None else tuple(found.key) or None


def with_metadata(schema: pa.Schema, known: FrameMetadata) -> pa.Schema:
    """Add the metadata that readers of Arrow and pandas look for to a schema."""
    written = {
        **(schema.metadata or {}),
        PANDAS: _json({ATTRIBUTE: pack(known.dumps())}),
        KEY: _json(_body(known)),
    }
    return schema.with_metadata(written)


def with_facts(schema: pa.Schema, known: FrameMetadata) -> pa.Schema:
    """Add the state, unit, rule and meaning of each column to its field of a schema.

    For tables in memory: engines hand fields on, and drop the keys of a schema more easily.
    """
    fields = [_with_facts(field, known.columns.get(field.name)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _with_facts(field: pa.Field, column: ColumnMetadata | None) -> pa.Field:
    if column is None:
        return field
    state = column.availability
    stated = {"status": str(state.status), "cause": state.cause, "reason": state.reason}
    facts = {**{name: fact for name, fact in stated.items() if fact}, **_facts(column)}
    own = {f"aa.{name}": str(fact) for name, fact in facts.items()}
    return field.with_metadata({**(field.metadata or {}), **own})


def file_keys(schema: pa.Schema, known: FrameMetadata) -> dict[bytes, bytes]:
    """Build the key-value metadata of a Parquet file from columns and schema."""
    keys = dict(schema.metadata or {})
    if not all(map(_is_kept, schema)):
        own = {name: keys.pop(name) for name in (KEY,) if name in keys}
        keys = own | {ARROW: base64.b64encode(schema.serialize().to_pybytes())}
    spark = [_spark_field(field, known.columns.get(field.name)) for field in schema]
    if all(field["type"] for field in spark):
        keys[SPARK] = _json({"type": "struct", "fields": spark})
    return keys


def _is_kept(field: pa.Field) -> bool:
    """Whether a field keeps its type when it is written to Parquet and read back."""
    kind = field.type
    if field.metadata or not field.nullable:
        return False
    if pa.types.is_timestamp(kind):
        return bool(kind.unit == "us" and kind.tz in (None, "UTC"))
    if pa.types.is_list(kind):
        return bool(kind == pa.list_(pa.string()))
    return str(kind) in _SPARK_TYPES and not pa.types.is_dictionary(kind)


def read_keys(keys: Mapping[bytes, bytes], names: list[str]) -> FrameMetadata | None:
    """Read column metadata from the keys of a file or schema; None where there is none.

    Raises
    ------
    MetadataError
        If that is damaged, or of a newer major version.
    """
    text = _carrier(keys)
    if text is None:
        return None
    try:
        known = FrameMetadata.loads(text)
    except MetadataError as error:
        raise _refused(error) from None
    columns = {name: column for name, column in known.columns.items() if name in names}
    return replace(known, columns=columns)


def has_checksums(keys: Mapping[bytes, bytes]) -> bool:
    """Whether a file says of itself that it has checksums."""
    try:
        return KEY in keys and json.loads(keys[KEY])["version"] == LAYOUT
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def _carrier(keys: Mapping[bytes, bytes]) -> str | None:
    """The metadata text in a file's keys."""
    try:
        if KEY in keys:
            body = json.loads(keys[KEY])
            _remember(body)
            if str(body["version"]).split(".")[0] != LAYOUT.split(".")[0]:
                return json.dumps({"version": body["version"]})
        text = json.loads(keys.get(PANDAS, b"{}")).get(ATTRIBUTE)
        return None if text is None else str(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MetadataError(_advice("this file's aatoolkit metadata is damaged")) from None


def _body(known: FrameMetadata) -> dict[str, Any]:
    """Describe the columns as JSON for readers of the file that lack this package.

    A column without ``state`` is in the first of the states, which most columns are in.
    """
    own = {name: dump_state(column.availability) for name, column in known.columns.items()}
    states = [state for state, _ in Counter(own.values()).most_common()]
    names = ("status", "cause", "reason")
    return {
        "version": LAYOUT,
        "key": list(known.key),
        "states": [
            {name: fact for name, fact in zip(names, state, strict=True) if fact is not None}
            for state in states
        ],
        "columns": {
            name: ({"state": at} if (at := states.index(own[name])) else {}) | _facts(column)
            for name, column in known.columns.items()
        },
        **_declarations(known),
    }


def _declarations(known: FrameMetadata) -> dict[str, Any]:
    """The tables of other profiles than the default one, which a reader need not have."""
    names = {column.table for column in known.columns.values()}
    found = {}
    for name in sorted(name for name in names if ":" in name):
        with contextlib.suppress(ScopeError):
            found[name] = dump_table(sections.table(name))
    return {"declarations": found} if found else {}


def _remember(body: Mapping[str, Any]) -> None:
    """Register the declarations that a file brings along."""
    for name, declaration in body.get("declarations", {}).items():
        if ":" in name:
            remember(name, load_table(declaration))


def _refused(error: MetadataError) -> MetadataError:
    reason = (
        "this file's aatoolkit metadata is damaged"
        if "damaged" in error.message
        else error.message.replace("this metadata", "this file's aatoolkit metadata")
    )
    return MetadataError(_advice(reason), version=error.version)


def _advice(reason: str) -> str:
    return f"{reason}; pandas.read_parquet reads the data without it"


def _facts(column: ColumnMetadata) -> dict[str, str]:
    """The declared facts of a column as text; the rule ``none`` is left out."""
    what = declared(column)
    if what is None:
        return {}
    rule = str(what.aggregate)
    facts = {"unit": what.unit, "aggregation": rule if rule != "none" else None}
    return {name: fact for name, fact in {**facts, "description": what.doc}.items() if fact}


def _comment(column: ColumnMetadata | None) -> dict[str, str]:
    """A comment that describes a column, and says what of it was not measured.

    Engines show one comment a column.
    """
    if column is None:
        return {}
    facts, state = _facts(column), column.availability.status
    status = None if state in (Status.UNKNOWN, Status.AVAILABLE) else str(state)
    parts = (facts.get("description"), facts.get("unit"), status)
    text = " · ".join(part for part in parts if part)
    return {"comment": text} if text else {}


def _spark_field(field: pa.Field, column: ColumnMetadata | None) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": _spark_type(field.type),
        "nullable": True,
        "metadata": _comment(column),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_SPARK_TYPES: Mapping[str, str] = {
    "string": "string",
    "large_string": "string",
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "date32[day]": "date",
}


def _spark_type(kind: pa.DataType) -> Any:
    """Spark's name of a type; None of one for which it has no name."""
    if pa.types.is_dictionary(kind):
        return _spark_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _spark_type(kind.value_type)
        return element and {"type": "array", "elementType": element, "containsNull": True}
    return _SPARK_TYPES.get(str(kind))


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
    columns = [(name, *_encoded(name, values)) for name, values in _columns_of(table)]
    rows = table.num_rows if isinstance(table, pa.Table) else len(table)
    head = {"columns": [[name, kind] for name, kind, _ in columns], "rows": rows}
    total = hashlib.sha256(_TITLE)
    total.update(json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    for piece in chain.from_iterable(pieces for _, _, pieces in columns):
        total.update(piece)
    return total.hexdigest()


def _columns_of(table: pd.DataFrame | pa.Table) -> Iterator[tuple[str, Any]]:
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
        return "text", _text_bytes(array)
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
        return "big integer", _text_bytes(array.cast(pa.large_string()))


def _text_bytes(array: pa.Array) -> list[_Bytes]:
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
