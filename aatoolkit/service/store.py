"""A store of observations: written from tables, checked as a whole, opened for queries.

A store is a folder with one Parquet file a table; ``schema.py`` says what each holds.
``write_store`` is how observations of your own get into one, ``Store`` how they are read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from aatoolkit.service.database import Derived, load, observed_hosts
from aatoolkit.service.files import StoreFiles, read_files, write_table
from aatoolkit.service.observations import Observations
from aatoolkit.service.question import Question
from aatoolkit.service.schema import TABLES, StoreTable
from aatoolkit.service.scope import ScopePool
from aatoolkit.service.scope_options import scope_options
from aatoolkit.service.validate import StoreError, conform
from aatoolkit.service.workers import Cancellation

if TYPE_CHECKING:
    from aatoolkit.service.validate import Tabular

__all__ = ["Store", "StoreError", "conform", "describe_store", "write_store"]


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
    load(conformed).close()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _check_stale(folder, conformed)
    for name, table in conformed.items():
        write_table(table, folder / f".{name}.part")
    for name in conformed:
        os.replace(folder / f".{name}.part", folder / f"{name}.parquet")


class Store:
    """A store, open for queries.

    Attributes
    ----------
    connection
        A DuckDB connection whose schema ``store`` holds every table of the schema, those
        that were not observed without rows. Instants are UTC without a zone.
    hosts
        The projects' hosts, sorted.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        files: StoreFiles | None = None,
        folder: Path | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self.connection = load(tables, files)
        self._folder = folder
        self._as_of = as_of
        if as_of is not None:
            self.connection.execute("UPDATE store.projects SET as_of = $1", [_utc(as_of)])
        self._derived = Derived(self.connection)
        self._observed = observed_hosts(self.connection)
        self._projects = self._read_projects()
        self.hosts: list[str] = sorted(self._projects)
        self._options: dict[str, dict[str, Any]] = {}
        self._cursors: deque[duckdb.DuckDBPyConnection] = deque()
        self._scopes = ScopePool()
        self._copies: weakref.finalize[..., Store] | None = None

    @classmethod
    def open(cls, folder: str | os.PathLike[str], as_of: datetime | None = None) -> Store:
        """Read and validate a store's folder.

        Large tables are not loaded: queries read them from copies of their files, which are
        removed with the store.

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
        copies = tempfile.mkdtemp(prefix="aatoolkit-store-")
        try:
            found = read_files(folder, Path(copies))
            store = cls({}, found, folder, as_of)
        except BaseException:
            shutil.rmtree(copies, ignore_errors=True)
            raise
        store._copies = weakref.finalize(store, shutil.rmtree, copies, ignore_errors=True)
        return store

    @classmethod
    def of(cls, tables: Mapping[str, Tabular]) -> Store:
        """Validate tables and hold them as a store without a folder.

        Raises
        ------
        StoreError
            With every problem found in the tables.
        """
        return cls(_conform_all(tables))

    def reload(self) -> Store:
        """Read the store's folder again; a store without a folder returns itself."""
        return self if self._folder is None else Store.open(self._folder, self._as_of)

    def scope_options(self, host: str) -> dict[str, Any]:
        """The values that each filter may take for a project; computed once.

        Raises
        ------
        LookupError
            The store has no project of this host.
        """
        if host not in self._options:
            with self._cursor() as cursor:
                self._options[host] = scope_options(cursor, self._derived, host)
        return self._options[host]

    @contextmanager
    def observe(
        self, question: Question, cancellation: Cancellation | None = None
    ) -> Iterator[Observations]:
        """Query what is in the scope of a question.

        Raises
        ------
        LookupError
            The store has no project of this host.
        """
        with ExitStack() as stack:
            base = None
            if question.key != question.unfiltered.key:
                base = stack.enter_context(self._observe(question.unfiltered, cancellation))
            yield stack.enter_context(self._observe(question, cancellation, base))

    @contextmanager
    def _observe(
        self,
        question: Question,
        cancellation: Cancellation | None,
        base: Observations | None = None,
    ) -> Iterator[Observations]:
        project = self._projects[question.host]
        of_base = None if base is None else base.scope
        with (
            self._cursor() as cursor,
            self._scopes.use(question, project, cursor, of_base) as scope,
        ):
            yield Observations(scope, cursor, self._observed, self._derived, cancellation, base)

    def close(self) -> None:
        """Release the database and remove the copies of large files."""
        while self._cursors:
            self._cursors.pop().close()
        self.connection.close()
        if self._copies is not None:
            self._copies()

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a cursor that nobody else uses meanwhile."""
        try:
            cursor = self._cursors.pop()
        except IndexError:
            cursor = self.connection.cursor()
        try:
            yield cursor
        finally:
            self._cursors.append(cursor)

    def _read_projects(self) -> dict[str, dict[str, Any]]:
        self.connection.execute("SELECT * FROM store.projects ORDER BY host")
        names = [column[0] for column in self.connection.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in self.connection.fetchall()]
        return {row["host"]: row for row in rows}


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


def _check_stale(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    stale = sorted({path.stem for path in folder.glob("*.parquet")} - tables.keys())
    if stale:
        raise StoreError(
            f"{name}.parquet: the folder holds this file already and it is not among the tables"
            " given; give it too, or write to an empty folder"
            for name in stale
        )
