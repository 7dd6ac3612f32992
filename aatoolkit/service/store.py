"""A store of observations: written from tables, checked as a whole, opened for queries.

A store is a folder with one Parquet file a table; ``schema.py`` says what each holds.
``write_store`` is how observations of your own get into one, ``Store`` how they are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit.service.conform import StoreError, conform
from aatoolkit.service.database import database
from aatoolkit.service.schema import TABLES, StoreTable

if TYPE_CHECKING:
    from aatoolkit.service.conform import Tabular

__all__ = ["Store", "StoreError", "conform", "describe_store", "write_store"]

_BESIDE = (".json", ".md")


def write_store(folder: str | os.PathLike[str], tables: Mapping[str, Tabular]) -> None:
    """Check tables, alone and against one another, and write them as a store.

    The same tables give the same bytes. Nothing is written unless everything is right.

    Parameters
    ----------
    folder
        Where; it is made if it does not exist.
    tables
        Arrow tables or DataFrames by the name of the table.

    Raises
    ------
    StoreError
        With every problem found, or where the folder holds a table of another store.
    """
    conformed = _conform_all(tables)
    database(conformed).close()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _check_stale(folder, conformed)
    for name, table in conformed.items():
        pq.write_table(table, folder / f".{name}.part", compression="zstd")
    for name in conformed:
        os.replace(folder / f".{name}.part", folder / f"{name}.parquet")


class Store:
    """A store in memory, ready for queries.

    Attributes
    ----------
    connection
        A DuckDB connection whose schema ``store`` holds every table of the schema, those
        that were not observed without rows. Instants are stored as UTC without a zone.
    hosts
        The projects' hosts, sorted.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        folder: Path | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self.connection = database(tables)
        self._folder = folder
        self._as_of = as_of
        if as_of is not None:
            self.connection.execute("UPDATE store.projects SET as_of = $1", [_utc(as_of)])
        found = self.connection.execute("SELECT host FROM store.projects ORDER BY host").fetchall()
        self.hosts: list[str] = [host for (host,) in found]

    @classmethod
    def open(cls, folder: str | os.PathLike[str], as_of: datetime | None = None) -> Store:
        """Read and check a store's folder.

        Parameters
        ----------
        folder
            The folder that ``write_store`` wrote. Hidden files, ``README*``, ``*.json`` and
            ``*.md`` may lie beside the tables.
        as_of
            Another clock for all projects, to look at older windows; it needs a zone.

        Raises
        ------
        StoreError
            With every problem found in the folder and its tables.
        ValueError
            Where ``as_of`` has no zone.
        """
        folder = Path(folder)
        return cls(_conform_all(_read(folder)), folder, as_of)

    @classmethod
    def of(cls, tables: Mapping[str, Tabular]) -> Store:
        """Check tables and hold them as a store without a folder.

        Raises
        ------
        StoreError
            With every problem found in the tables.
        """
        return cls(_conform_all(tables))

    def reload(self) -> Store:
        """The store as its folder holds it now; a store without a folder is itself."""
        return self if self._folder is None else Store.open(self._folder, self._as_of)

    def close(self) -> None:
        """Release the database."""
        self.connection.close()


def describe_store() -> str:
    """The tables and columns of a store, as Markdown."""
    return "# The tables of a store\n\n" + "\n".join(map(_describe, TABLES.values()))


def _describe(table: StoreTable) -> str:
    lines = [f"## {table.name}", "", table.doc, ""]
    lines.append(f"Key: {', '.join(f'`{name}`' for name in table.key) or 'none'}.")
    lines += [
        f"`{'`, `'.join(columns)}` must be in `{parent}`." for columns, parent in table.refers
    ]
    lines += ["", "| column | kind | required | values | what it says |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for column in table.columns:
        required = "yes" if column.required else ""
        values = ", ".join(f"`{value}`" for value in column.values)
        lines.append(f"| `{column.name}` | {column.kind} | {required} | {values} | {column.doc} |")
    return "\n".join([*lines, ""])


def _utc(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(f"as_of {instant.isoformat()} needs a zone, such as datetime.UTC")
    return instant.astimezone(UTC).replace(tzinfo=None)


def _conform_all(tables: Mapping[str, Tabular]) -> dict[str, pa.Table]:
    problems: list[str] = []
    if "projects" not in tables:
        problems.append("projects.host: the table is missing; a store has at least its projects")
    conformed: dict[str, pa.Table] = {}
    for name, table in tables.items():
        try:
            conformed[name] = conform(name, table)
        except StoreError as error:
            problems += error.problems
    if problems:
        raise StoreError(problems)
    return conformed


def _read(folder: Path) -> dict[str, pa.Table]:
    if not folder.is_dir():
        raise StoreError([f"{folder}: there is no such folder"])
    problems: list[str] = []
    tables: dict[str, pa.Table] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "README")) or path.suffix in _BESIDE:
            continue
        if path.suffix != ".parquet" or path.stem not in TABLES:
            problems.append(f"{path.name}: the file is no table of a store")
            continue
        try:
            tables[path.stem] = pq.read_table(path, partitioning=None)
        except (pa.ArrowInvalid, OSError) as error:
            problems.append(f"{path.name}: the file cannot be read as Parquet: {error}")
    if problems:
        raise StoreError(problems)
    return tables


def _check_stale(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    stale = sorted({path.stem for path in folder.glob("*.parquet")} - tables.keys())
    if stale:
        raise StoreError(
            f"{name}.parquet: the folder holds this file already and it is not among the tables"
            " given; give it too, or write to an empty folder"
            for name in stale
        )
