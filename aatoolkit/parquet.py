"""DataFrames in Parquet with what is known of them, and back.

The file's schema holds one key, ``aatoolkit``: JSON with the key, the sources and, for each
column, its availability, unit, rule and meaning, for any engine that reads file metadata.
Beside it stands pandas' own key for ``attrs``, so that plain ``pandas.read_parquet`` gives a
frame whose ``df.aa`` works; and the same facts of a column on its Arrow field.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit import sections
from aatoolkit.errors import ExportError, ScopeError
from aatoolkit.metadata import ATTRIBUTE, VERSION, ColumnMetadata, FrameMetadata, metadata_of
from aatoolkit.section import Column
from aatoolkit.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

_PANDAS_ATTRS = b"PANDAS_ATTRS"
_LEVELS = b"aa.levels"


def write_parquet(frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a frame with its metadata; the file appears whole or not at all.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    path : str or path
        The file; its folder is made where it is missing.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ExportError
        If a column cannot be written to Parquet.
    """
    path = Path(path)
    known = metadata_of(frame)
    plain = frame.copy(deep=False)
    plain.attrs = {}
    problem = ""
    try:
        table = pa.Table.from_pandas(plain)
    except (pa.ArrowException, TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ExportError(f"{path.name} cannot be written as Parquet: {problem}", path=str(path))
    carried = FrameMetadata.dumps(known)
    table = table.replace_schema_metadata(
        {
            b"pandas": _readable(table.schema.metadata[b"pandas"]),
            _PANDAS_ATTRS: json.dumps({ATTRIBUTE: carried}).encode(),
            ATTRIBUTE.encode(): json.dumps(_described(known), ensure_ascii=False).encode(),
        }
    )
    levels = {str(name): [*frame[name].cat.categories] for name in frame.select_dtypes("category")}
    _write_whole(_with_field_metadata(table, known, levels), path)
    return path


def read_parquet(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a Parquet file with what it says of its columns.

    Any Parquet file can be read; columns of which it says nothing are unknown.

    Raises
    ------
    MetadataError
        When the metadata is asked for, if it is damaged or of a newer major version.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_parquet(pd.DataFrame({"n": [1]}), f"{folder}/n.parquet")
    ...     read_parquet(path).aa.availability["status"].tolist()
    ['unknown']
    """
    import pandas as pd

    frame, schema = pd.read_parquet(path), pq.read_schema(path)
    lists = [field.name for field in schema if pa.types.is_list(field.type)]
    for name, column in zip(lists, pq.read_table(path, columns=lists).columns, strict=True):
        kind = pa.list_(column.type.value_type)
        values = column.cast(kind)
        frame[name] = pd.Series(values, index=frame.index, dtype=pd.ArrowDtype(kind))
    return frame.astype(_lost_dtypes(schema, len(frame)))


def _lost_dtypes(schema: pa.Schema, rows: int) -> dict[str, Any]:
    """The dtypes that pandas writes and reads as others: Arrow strings, levels of no rows."""
    import pandas as pd

    body = json.loads((schema.metadata or {}).get(b"pandas", b'{"columns": []}'))
    lost: dict[str, Any] = {
        column["name"]: pd.ArrowDtype(pa.string())
        for column in body["columns"]
        if column["numpy_type"] == "string[pyarrow]" and column["name"] in schema.names
    }
    for field in schema if rows == 0 else ():
        levels = (field.metadata or {}).get(_LEVELS)
        if levels is not None and pa.types.is_dictionary(field.type):
            lost[field.name] = pd.CategoricalDtype(json.loads(levels), field.type.ordered)
    return lost


def write_tables(tables: Tables, folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Write every table of a section to ``folder/section/table.parquet``, one after the other.

    Also ``extra.parquet``, ``drift.parquet`` and ``availability.parquet``, so that nothing of
    the answer is left behind.
    """
    place = Path(folder) / tables.section
    for name in tables:
        yield write_parquet(tables[name], place / f"{name}.parquet")
    for name, frame in (
        ("_extra", tables.extra),
        ("_drift", tables.drift),
        ("_availability", tables.availability),
    ):
        yield write_parquet(frame, place / f"{name}.parquet")


def declared(column: ColumnMetadata) -> Column | None:
    """The declared column that a column is, where it is one."""
    table, _, name = (column.of or "").partition(".")
    try:
        return sections.table(table)[name]
    except (ScopeError, KeyError):
        return None


def _described(known: FrameMetadata) -> Mapping[str, Any]:
    return {
        "version": VERSION,
        "key": list(known.key),
        "columns": {name: _facts(column) for name, column in known.columns.items()},
        "sources": [vars(source) for source in known.sources],
    }


def _facts(column: ColumnMetadata) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "status": str(column.availability.status),
        "cause": column.availability.cause and str(column.availability.cause),
        "reason": column.availability.reason,
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
    return {name: fact for name, fact in facts.items() if fact is not None}


def _with_field_metadata(
    table: pa.Table, known: FrameMetadata, levels: Mapping[str, list[Any]]
) -> pa.Table:
    fields = []
    for field in table.schema:
        facts = _facts(known.columns[field.name]) if field.name in known.columns else {}
        described = {f"aa.{name}".encode(): text.encode() for name, text in facts.items()}
        if field.name in levels:
            described[_LEVELS] = json.dumps(levels[field.name], default=str).encode()
        fields.append(field.with_metadata(described))
    return table.cast(pa.schema(fields, table.schema.metadata))


def _readable(pandas: bytes) -> bytes:
    """pandas' own metadata without the dtypes that it writes and then cannot read."""
    body = json.loads(pandas)
    for column in body["columns"]:
        if column["numpy_type"].startswith("list<"):
            column["numpy_type"] = "object"
    return json.dumps(body).encode()


def _write_whole(table: pa.Table, path: Path) -> None:
    """Write beside the file, make it durable, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".tmp-{secrets.token_hex(8)}.parquet"
    try:
        with temporary.open("xb") as file:
            pq.write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
