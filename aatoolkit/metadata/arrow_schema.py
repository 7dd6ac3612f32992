"""Store the metadata of a DataFrame in a Parquet file, and read it back.

A file has the metadata twice. Under the key ``aatoolkit`` it is a JSON document for other programs,
such as DuckDB or Polars. Under ``PANDAS_ATTRS`` it is complete and compressed, for this package and
pandas.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from aatoolkit._util.text import canonical_json
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.attrs import (
    ATTRS_KEY,
    FrameMetadata,
    declaration_of as declaration_of,
    table_names_of,
)
from aatoolkit.metadata.column import dump_availability
from aatoolkit.metadata.recipe import compress_text
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import find_table, register_table

# Keys of the metadata of a Parquet file. `METADATA_KEY` is also the key in DataFrame.attrs, so that
# whoever finds either knows what wrote it. pandas writes all attrs under `PANDAS_KEY`.
METADATA_KEY = ATTRS_KEY.encode()
PANDAS_KEY = b"PANDAS_ATTRS"
ARROW_SCHEMA_KEY = b"ARROW:schema"

METADATA_JSON_VERSION = "2.1"
"""The version of the JSON document under the key ``aatoolkit``; since 2.1 files have checksums."""


def with_metadata(schema: pa.Schema, metadata: FrameMetadata) -> pa.Schema:
    """Return a copy of an Arrow schema to which the metadata of a DataFrame is added."""
    return schema.with_metadata(
        {
            **(schema.metadata or {}),
            PANDAS_KEY: canonical_json({ATTRS_KEY: compress_text(metadata.dumps())}).encode(),
            METADATA_KEY: canonical_json(_make_metadata_json(metadata)).encode(),
        }
    )


_TYPE_ALIASES = "string large_string bool date32 int8 int16 int32 int64 float double timestamp[us]"
_PARQUET_TYPES = {
    *map(pa.type_for_alias, _TYPE_ALIASES.split()),
    *(pa.list_(pa.string()), pa.timestamp("us", "UTC")),
}
"""The Arrow types that Parquet stores without loss."""


def make_file_metadata(table_schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the keys and values of metadata to write into a Parquet file with an Arrow schema."""
    if all(field.type in _PARQUET_TYPES and field.nullable for field in table_schema):
        return dict(table_schema.metadata)
    # Parquet's own types would lose something. A reader of an Arrow schema sees only its metadata.
    arrow_schema = base64.b64encode(table_schema.serialize().to_pybytes())
    return {METADATA_KEY: table_schema.metadata[METADATA_KEY], ARROW_SCHEMA_KEY: arrow_schema}


def read_file_metadata(
    file_metadata: Mapping[bytes, bytes], column_names: list[str]
) -> FrameMetadata | None:
    """Return the metadata of a DataFrame that was read from a Parquet file; None if it has none.

    ``file_metadata`` are the keys and values of the file's metadata. ``column_names`` are the
    columns of the file that were read. Raise `MetadataError` if the metadata is damaged.
    """
    try:
        metadata_text = json.loads(file_metadata.get(PANDAS_KEY, b"{}")).get(ATTRS_KEY)
        if METADATA_KEY in file_metadata:
            json_document = json.loads(file_metadata[METADATA_KEY])
            for table_name, declaration_json in json_document.get("declarations", {}).items():
                register_table(table_name, load_table(declaration_json))
        if metadata_text is None:
            return None
        metadata = FrameMetadata.loads(metadata_text)
        metadata_by_column = {
            column_name: column
            for column_name, column in metadata.columns.items()
            if column_name in column_names
        }
        return replace(metadata, columns=metadata_by_column)
    except MetadataError as error:
        problem_text = error.message.partition(";")[0]
        version = error.version
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        problem_text = "this file's aatoolkit metadata is damaged"
        version = None
    raise MetadataError(
        f"{problem_text}; pandas.read_parquet reads the data without it", version=version
    )


def _make_metadata_json(frame_metadata: FrameMetadata) -> dict[str, Any]:
    """Return the metadata of a DataFrame as a JSON document for other programs."""
    column_items = frame_metadata.columns.items()
    availability_by_column = {
        column_name: dump_availability(column_metadata.availability)
        for column_name, column_metadata in column_items
    }
    distinct_availabilities = [
        availability for availability, _ in Counter(availability_by_column.values()).most_common()
    ]
    fields_by_column = {}
    for column_name, column_metadata in column_items:
        # The most frequent availability, at position 0, is left out.
        column_fields: dict[str, Any] = {
            "state": distinct_availabilities.index(availability_by_column[column_name])
        }
        if declaration := declaration_of(column_metadata):
            column_fields["unit"] = declaration.unit
            column_fields["aggregation"] = str(declaration.aggregate).removeprefix("none")
            column_fields["description"] = declaration.doc
        fields_by_column[column_name] = _drop_empty_fields(column_fields)
    metadata_json = {
        "version": METADATA_JSON_VERSION,
        "key": frame_metadata.key,
        "states": [
            _drop_empty_fields(dict(zip(("status", "cause", "reason"), availability, strict=True)))
            for availability in distinct_availabilities
        ],
        "columns": fields_by_column,
    }
    # Declarations, except those of the default profile, which everybody has.
    table_by_name = {
        table_name: find_table(table_name)
        for table_name in sorted(table_names_of(frame_metadata))
        if ":" in table_name
    }
    declaration_by_table = {
        table_name: dump_table(table) for table_name, table in table_by_name.items() if table
    }
    return metadata_json | ({"declarations": declaration_by_table} if declaration_by_table else {})


def _drop_empty_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dict without the items whose value is None, 0 or empty."""
    return {name: value for name, value in fields.items() if value}
