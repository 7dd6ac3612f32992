"""Store the metadata of a DataFrame in a Parquet file, and read it back.

A file has the metadata twice. Under the key ``aatoolkit`` it is JSON for other programs, such as
DuckDB or Polars. Under ``PANDAS_ATTRS`` it is complete and compressed, for this package and pandas.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from aatoolkit.errors import MetadataError
from aatoolkit.metadata.attrs import ATTRIBUTE, FrameMetadata, tables_of
from aatoolkit.metadata.attrs import declared as declared
from aatoolkit.metadata.column import dump_state
from aatoolkit.metadata.recipe import pack
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import find_table, register_table

# The key in DataFrame.attrs and the key in the file are the same, so that whoever finds either
# knows what wrote it; pandas writes attrs into the file under PANDAS.
KEY = ATTRIBUTE.encode()
PANDAS = b"PANDAS_ATTRS"
ARROW = b"ARROW:schema"

LAYOUT = "2.1"
"""The version of the JSON under the key ``aatoolkit``; since 2.1 files have checksums."""


def with_metadata(schema: pa.Schema, metadata: FrameMetadata) -> pa.Schema:
    """Return a copy of an Arrow schema to which the metadata of a DataFrame is added."""
    return schema.with_metadata(
        {
            **(schema.metadata or {}),
            PANDAS: _to_json({ATTRIBUTE: pack(metadata.dumps())}),
            KEY: _to_json(_make_body(metadata)),
        }
    )


_PARQUET_NAMES = "string large_string bool date32 int8 int16 int32 int64 float double timestamp[us]"
_PARQUET_TYPES = {
    *map(pa.type_for_alias, _PARQUET_NAMES.split()),
    *(pa.list_(pa.string()), pa.timestamp("us", "UTC")),
}
"""The Arrow types that Parquet stores without loss."""


def file_keys(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the keys and values for a Parquet file's metadata, from an Arrow schema."""
    if all(field.type in _PARQUET_TYPES and field.nullable for field in schema):
        return dict(schema.metadata)
    # Parquet's own types would lose something. A reader of an Arrow schema sees only its metadata.
    arrow_schema = base64.b64encode(schema.serialize().to_pybytes())
    return {KEY: schema.metadata[KEY], ARROW: arrow_schema}


def read_keys(keys: Mapping[bytes, bytes], names: list[str]) -> FrameMetadata | None:
    """Read the metadata of a DataFrame from a Parquet file; return None if the file has none.

    ``keys`` are the keys and values of the file's metadata. ``names`` are the columns that were
    read. Raise `MetadataError` if the metadata is damaged.
    """
    try:
        metadata_text = json.loads(keys.get(PANDAS, b"{}")).get(ATTRIBUTE)
        if KEY in keys:
            body = json.loads(keys[KEY])
            for name, declaration in body.get("declarations", {}).items():
                register_table(name, load_table(declaration))
        if metadata_text is None:
            return None
        metadata = FrameMetadata.loads(metadata_text)
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
    """Return the metadata of a DataFrame as a JSON value for other programs."""
    column_items = metadata.columns.items()
    states_by_name = {name: dump_state(column.availability) for name, column in column_items}
    states = [state for state, _ in Counter(states_by_name.values()).most_common()]
    columns = {}
    for name, column in column_items:
        # The most frequent state, 0, is left out.
        facts: dict[str, Any] = {"state": states.index(states_by_name[name])}
        if declaration := declared(column):
            facts["unit"] = declaration.unit
            facts["aggregation"] = str(declaration.aggregate).removeprefix("none")
            facts["description"] = declaration.doc
        columns[name] = _drop_empty(facts)
    body = {
        "version": LAYOUT,
        "key": metadata.key,
        "states": [
            _drop_empty(dict(zip(("status", "cause", "reason"), state, strict=True)))
            for state in states
        ],
        "columns": columns,
    }
    # Declarations, except those of the default profile, which everybody has.
    tables = {name: find_table(name) for name in sorted(tables_of(metadata)) if ":" in name}
    declarations = {name: dump_table(table) for name, table in tables.items() if table}
    return body | ({"declarations": declarations} if declarations else {})


def _drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dict without the items whose value is None, 0 or empty."""
    return {name: value for name, value in fields.items() if value}


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
