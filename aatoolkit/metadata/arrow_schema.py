"""Column metadata in the schema of a Parquet file, for every engine, and read back.

The same facts are stored four times, because engines look in different places:

- the key ``aatoolkit``, JSON that DuckDB, Polars and pyarrow show, and that is read back;
- ``PANDAS_ATTRS``, so that plain ``pandas.read_parquet`` gives a frame whose ``df.aa`` works;
- the metadata of each Arrow field: ``aa.status``, ``aa.unit`` … and ``comment``;
- ``org.apache.spark.sql.parquet.row.metadata``, from which Spark takes comments.
"""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from aatoolkit import sections
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError, ScopeError
from aatoolkit.metadata.attrs import ATTRIBUTE, VERSION, ColumnMetadata, FrameMetadata
from aatoolkit.sections.portable import dump_table, load_table
from aatoolkit.sections.registry import remember
from aatoolkit.sections.section import Column

KEY = ATTRIBUTE.encode()
PANDAS = b"PANDAS_ATTRS"
SPARK = b"org.apache.spark.sql.parquet.row.metadata"


def declared(column: ColumnMetadata) -> Column | None:
    """The declared column that a column is, where it is one."""
    table, _, name = (column.of or "").partition(".")
    try:
        return sections.table(table)[name]
    except (ScopeError, KeyError):
        return None


def declared_key(table: str) -> tuple[str, ...] | None:
    """The key of a declared table, where it is one and has one."""
    try:
        return tuple(sections.table(table).key) or None
    except (ScopeError, KeyError):
        return None


def with_metadata(schema: pa.Schema, known: FrameMetadata) -> pa.Schema:
    """The schema with the metadata wherever an engine may look for it."""
    facts = {name: _facts(column) for name, column in known.columns.items()}
    fields = [_with_facts(field, facts.get(field.name, {})) for field in schema]
    written = {
        **(schema.metadata or {}),
        PANDAS: json.dumps({ATTRIBUTE: known.dumps()}).encode(),
        KEY: json.dumps(_body(known, facts), ensure_ascii=False).encode(),
    }
    spark = [_spark_field(field, facts.get(field.name, {})) for field in schema]
    if all(field["type"] for field in spark):
        written[SPARK] = json.dumps({"type": "struct", "fields": spark}).encode()
    return pa.schema(fields, written)


def read_schema(schema: pa.Schema) -> FrameMetadata | None:
    """The metadata of the columns that a schema has; None where it holds none.

    Raises
    ------
    MetadataError
        If that is damaged, or of a newer major version.
    """
    written = schema.metadata or {}
    text = _carrier(written)
    if text is None:
        return None
    try:
        known = FrameMetadata.loads(text)
    except MetadataError as error:
        raise _refused(error) from None
    columns = {name: column for name, column in known.columns.items() if name in schema.names}
    return replace(known, columns=columns)


def _carrier(written: Mapping[bytes, bytes]) -> str | None:
    """The carrier's text: of our own key, else of pandas'."""
    try:
        if KEY in written:
            return _text(json.loads(written[KEY]))
        text = json.loads(written.get(PANDAS, b"{}")).get(ATTRIBUTE)
        return None if text is None else str(text)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise MetadataError(_advice("this file's aatoolkit metadata is damaged")) from None


def _body(known: FrameMetadata, facts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    carried = json.loads(known.dumps())
    body: dict[str, Any] = {
        **_declarations(known),
        "version": VERSION,
        "creator": {
            "library": "aatoolkit",
            "version": importlib.import_module("aatoolkit").__version__,
        },
        "key": carried["key"],
        "columns": facts,
        "sources": carried["sources"],
    }
    return body | {
        name: carried[name]
        for name in ("fingerprint", "statements", "grains", "repeated")
        if name in carried
    }


def _declarations(known: FrameMetadata) -> dict[str, Any]:
    """The tables of other profiles than the default one, which a reader need not have."""
    names = {(column.of or "").partition(".")[0] for column in known.columns.values()}
    found = {}
    for name in sorted(name for name in names if ":" in name):
        with contextlib.suppress(ScopeError):
            found[name] = dump_table(sections.table(name))
    return {"declarations": found} if found else {}


def _text(body: Mapping[str, Any]) -> str:
    """The carrier's text again; facts that a carrier does not hold are left out."""
    for name, declaration in body.get("declarations", {}).items():
        if ":" in name:
            remember(name, load_table(declaration))
    body = {name: part for name, part in body.items() if name != "declarations"}
    states: list[list[str | None]] = []
    columns: dict[str, list[Any]] = {}
    if str(body["version"]).split(".")[0] == VERSION.split(".")[0]:
        for name, facts in body["columns"].items():
            states.append([facts["status"], facts.get("cause"), facts.get("reason")])
            columns[name] = [facts.get("of"), len(states) - 1]
    return json.dumps({**body, "states": states, "columns": columns})


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
    state = column.availability
    facts = {
        "status": str(state.status),
        "cause": state.cause and str(state.cause),
        "reason": state.reason,
        "of": column.of,
    }
    what = declared(column)
    if what is not None:
        facts |= {
            "dtype": what.dtype,
            "unit": what.unit,
            "aggregation": str(what.aggregate),
            "description": what.doc,
        }
    return {name: str(fact) for name, fact in facts.items() if fact is not None}


def _with_facts(field: pa.Field, facts: Mapping[str, str]) -> pa.Field:
    own = {f"aa.{name}": fact for name, fact in facts.items()} | _comment(facts)
    return field.with_metadata({**(field.metadata or {}), **own})


def _comment(facts: Mapping[str, str]) -> dict[str, str]:
    """A comment that describes a column, for engines that show one comment a column."""
    state = facts.get("status", Status.UNKNOWN)
    parts = [facts.get("description"), facts.get("unit"), state if state in _KNOWN else None]
    text = " · ".join(part for part in parts if part)
    return {"comment": text} if text else {}


_KNOWN = frozenset(Status) - {Status.UNKNOWN}


def _spark_field(field: pa.Field, facts: Mapping[str, str]) -> dict[str, Any]:
    own = {f"aa.{name}": fact for name, fact in facts.items()} | _comment(facts)
    return {
        "name": field.name,
        "type": _spark_type(field.type),
        "nullable": True,
        "metadata": own,
    }


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
