"""The Parquet files of a store's folder: read whole, or checked and copied for reading in place."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit.service.conform import StoreError, conform
from aatoolkit.service.schema import TABLES, StoreColumn, StoreTable

ROWS_IN_MEMORY = 50_000
"""Tables with more rows stay on disk."""

ROW_GROUP = 32_768
"""Rows of a Parquet row group: the least that is read of a file."""

_BESIDE = (".json", ".md")


@dataclass
class StoreFiles:
    """The tables of a folder: those held in memory, and copies of the files of the others."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as one Parquet file of a store."""
    pq.write_table(table, path, compression="zstd", row_group_size=ROW_GROUP)


def read_files(folder: Path, copies: Path) -> StoreFiles:
    """Read and validate the tables of a store's folder.

    Parameters
    ----------
    folder
        The folder that holds the store.
    copies
        A folder for copies of large files, so that what is served does not change when
        somebody writes to the store.

    Raises
    ------
    StoreError
        With every problem of the files and their tables.
    """
    paths = _paths(folder)
    problems: list[str] = []
    if "projects" not in paths:
        problems.append("projects.host: the table is missing; a store has at least its projects")
    found = StoreFiles()
    with duckdb.connect() as checker:
        for name, path in paths.items():
            try:
                if name != "projects" and _row_count(path) > ROWS_IN_MEMORY:
                    found.copies[name] = _copied(name, path, copies, checker)
                else:
                    found.tables[name] = conform(name, _whole(path))
            except StoreError as error:
                problems += error.problems
    if problems:
        raise StoreError(problems)
    return found


def _paths(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise StoreError([f"{folder}: there is no such folder"])
    problems: list[str] = []
    paths: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "README")) or path.suffix in _BESIDE:
            continue
        if path.suffix != ".parquet" or path.stem not in TABLES:
            problems.append(f"{path.name}: the file is no table of a store")
            continue
        try:
            pq.read_schema(path)
            paths[path.stem] = path
        except (pa.ArrowInvalid, OSError) as error:
            problems.append(_unreadable(path, error))
    if problems:
        raise StoreError(problems)
    return paths


def _unreadable(path: Path, error: Exception) -> str:
    return f"{path.name}: the file cannot be read as Parquet: {error}"


def _row_count(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def _whole(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, partitioning=None)
    except (pa.ArrowInvalid, OSError) as error:
        raise StoreError([_unreadable(path, error)]) from error


def _copied(name: str, path: Path, copies: Path, checker: duckdb.DuckDBPyConnection) -> Path:
    """A valid copy of a table's file, in the schema of the store."""
    copy = copies / path.name
    shutil.copyfile(path, copy)
    if not _is_valid(TABLES[name], copy, checker):
        # The slow way finds what to say of an invalid table, and converts what can be.
        write_table(conform(name, _whole(copy)), copy)
    return copy


def _is_valid(declared: StoreTable, path: Path, checker: duckdb.DuckDBPyConnection) -> bool:
    """Whether a file is as ``write_table`` leaves it; False also where that is unknown."""
    if not pq.read_schema(path).equals(declared.arrow):
        return False
    quoted = str(path).replace("'", "''")
    conditions = [*map(_wrong, declared.columns), "FALSE"]
    checks = [f"SELECT 1 FROM given WHERE {' OR '.join(filter(None, conditions))}"]
    if declared.key:
        checks.append(f"SELECT 1 FROM given GROUP BY {', '.join(declared.key)} HAVING count(*) > 1")
    try:
        checker.execute(f"CREATE OR REPLACE VIEW given AS SELECT * FROM read_parquet('{quoted}')")
        return not any(checker.execute(f"{sql} LIMIT 1").fetchall() for sql in checks)
    except duckdb.Error:
        return False


def _wrong(column: StoreColumn) -> str:
    """The condition under which a value of a column is not valid; empty where all are.

    Null in a required column is none: a file cannot hold it where its schema forbids it.
    """
    name = f'"{column.name}"'
    listed = ", ".join(f"'{value}'" for value in column.values)
    if column.kind == "number":
        return f"NOT isfinite({name})"
    if column.kind == "words":
        known = f" OR NOT list_has_all([{listed}], {name})" if listed else ""
        return f"len({name}) <> list_aggregate({name}, 'count'){known}"
    return f"{name} NOT IN ({listed})" if listed else ""
