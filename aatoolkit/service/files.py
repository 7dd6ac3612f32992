"""The Parquet files of a store's folder: checked, and copied for DuckDB to read."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit.service.schema import TABLES, StoreColumn, StoreTable
from aatoolkit.service.validate import StoreError, conform

ROWS_IN_MEMORY = 50_000
"""Tables with more rows stay on disk; the projects never do."""

ROW_GROUP = 32_768
"""Rows of a Parquet row group: the least that is read of a file."""

_BESIDE = (".json", ".md")


@dataclass
class StoreFiles:
    """Valid copies of the files of a folder, by table: of small tables, and of large ones."""

    small: dict[str, Path] = field(default_factory=dict)
    large: dict[str, Path] = field(default_factory=dict)


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
        A folder for copies of the files, so that what is served does not change when
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
                copy = _copied(name, path, copies, checker)
                is_large = name != "projects" and _row_count(copy) > ROWS_IN_MEMORY
                (found.large if is_large else found.small)[name] = copy
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
            problems.append(unreadable(path, error))
    if problems:
        raise StoreError(problems)
    return paths


def unreadable(path: Path, error: Exception) -> str:
    """Word the problem of a file whose bytes are damaged."""
    return f"{path.name}: the file cannot be read as Parquet: {error}"


def _row_count(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def _whole(path: Path) -> pa.Table:
    try:
        # read_table would import pyarrow.dataset, and that imports pandas.
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowInvalid, OSError) as error:
        raise StoreError([unreadable(path, error)]) from error


def _copied(name: str, path: Path, copies: Path, checker: duckdb.DuckDBPyConnection) -> Path:
    """Copy a table's file, converted to the schema of the store where it differs."""
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
    conditions = list(filter(None, map(_wrong, declared.columns)))
    try:
        checker.execute(f"CREATE OR REPLACE VIEW given AS SELECT * FROM read_parquet('{quoted}')")
        if conditions:
            wrong = f"SELECT 1 FROM given WHERE {' OR '.join(conditions)} LIMIT 1"
            if checker.execute(wrong).fetchall():
                return False
        if not declared.key:
            return True
        found = checker.execute(f"SELECT hash({', '.join(declared.key)}) AS key FROM given")
        # As many hashes as rows prove that no key is there twice; sorting numbers is quickest.
        hashes = np.sort(found.fetchnumpy()["key"])
        return not (hashes[1:] == hashes[:-1]).any()
    except duckdb.Error:
        return False


def _wrong(column: StoreColumn) -> str:
    """SQL condition for invalid values of a column; empty where all are valid.

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
