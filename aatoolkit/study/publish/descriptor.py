"""``datapackage.json``: the content of the files, as specified by Data Package 2.0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from aatoolkit.frame.csv import is_guarded_number
from aatoolkit.sections.section import Column
from aatoolkit.study.publish.codebook import CODES, QUDT, rule_of
from aatoolkit.study.publish.stacking import PublishedTable

_TYPES = {
    "Int64": "integer",
    "Float64": "number",
    "boolean": "boolean",
    "datetime64[us, UTC]": "datetime",
}
_PROFILES = "https://datapackage.org/profiles/2.0"
MEDIA = {
    "zip": "application/zip",
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "cff": "application/yaml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "": "text/plain",
}
"""The media types of the published files, by suffix."""


def descriptor(
    about: Mapping[str, Any], tables: Iterable[PublishedTable], files: Mapping[str, tuple[int, str]]
) -> dict[str, Any]:
    """Build the descriptor of a data package.

    Parameters
    ----------
    about
        Title, description and so on, named as in the specification.
    tables
        The tables.
    files
        The size and SHA-256 of each file, by its path.
    """
    listed = [*tables]
    resources = [
        _resource(table, form, path, *files[path])
        for form in ("parquet", "csv")
        for table in listed
        if (path := path_of(table.name, form)) in files
    ]
    return {"$schema": f"{_PROFILES}/datapackage.json", **about, "resources": resources}


def path_of(table: str, form: str) -> str:
    """The path of a table in a package."""
    folder = "data" if form == "parquet" else form
    return f"{folder}/{re.sub(r'[^A-Za-z0-9_-]', '_', table)}.{form}"


def _resource(
    table: PublishedTable, form: str, path: str, size: int, sha256: str
) -> dict[str, Any]:
    own = re.sub(r"[^a-z0-9._-]", "_", table.name.lower())
    csv = {"dialect": {"delimiter": ","}, "encoding": "utf-8"} if form == "csv" else {}
    return {
        "$schema": f"{_PROFILES}/dataresource.json",
        "name": own if form == "parquet" else f"{own}.{form}",
        "type": "table",
        "title": table.name,
        **({"description": table.doc} if table.doc else {}),
        "path": path,
        "format": form,
        "mediatype": MEDIA[form],
        **csv,
        **_sum(form, size, sha256),
        "schema": _schema(table, form),
    }


def _sum(form: str, size: int, sha256: str) -> dict[str, Any]:
    """The checksum of a file; validators cannot check ``bytes`` and ``hash`` of binary files."""
    if form == "parquet":
        return {"sha256": sha256}
    return {"bytes": size, "hash": f"sha256:{sha256}"}


def _schema(table: PublishedTable, form: str) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "$schema": f"{_PROFILES}/tableschema.json",
        "fields": [
            _field(column, table.frame[name], str(table.known.columns[name].availability), form)
            for name, column in table.columns.items()
        ],
        "missingValues": [""],
    }
    if table.key:
        schema["primaryKey"] = [*table.key]
    if "answer" in table.columns and table.name != "answers":
        of = "answers" if form == "parquet" else f"answers.{form}"
        schema["foreignKeys"] = [
            {"fields": ["answer"], "reference": {"resource": of, "fields": ["answer"]}}
        ]
    return schema


def _field(column: Column, values: pd.Series, availability: str, form: str) -> dict[str, Any]:
    kind = str(values.dtype)
    description = column.doc
    if column.dtype == "list<string>":
        # Frictionless does not accept a Parquet list as an array, nor as any other type.
        found = {"type": "any" if form == "parquet" else "array"}
    elif pd.api.types.is_datetime64_dtype(values.dtype):
        found = {"type": "datetime" if form == "parquet" else "date"}
    elif form == "csv" and is_guarded_number(values):
        found = {"type": "string"}
    else:
        found = {"type": _TYPES.get(kind, "string")}
    facts = {
        "name": column.name,
        **found,
        "description": description,
        "unit": column.unit,
        "ucumCode": CODES[column.unit][0] if column.unit in CODES else None,
        "unitCode": QUDT + CODES[column.unit][1] if column.unit in CODES else None,
        "aggregation": rule_of(column),
        "availability": availability,
    }
    return {name: fact for name, fact in facts.items() if fact}
