"""Snapshots: the files of committed runs, as of one moment.

Runs are read before a table and after it. What was committed before is seen; rows of any run that
had begun by then and was not committed before are not, so that no run is seen in part.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from aatoolkit.archive.runs import RUNS, read_runs
from aatoolkit.archive.schema import among, path_of
from aatoolkit.archive.store import ArchiveStore, duckdb
from aatoolkit.errors import ArchiveError


@dataclass(frozen=True)
class VisibleFiles:
    """The files of one table that hold rows of committed runs.

    Parameters
    ----------
    table : DeltaTable or None
        The table; None if there is none.
    files : tuple of str
        The files, as addresses.
    hidden : frozenset of str
        The runs whose rows are in some of these files and are not seen; as a rule none.
    rows, size : int
        The rows and bytes of the files.
    """

    table: Any | None
    files: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    rows: int = 0
    size: int = 0
    by_month: Mapping[str, int] | None = None


class Snapshot:
    """An archive as it was when this was made; ``exists`` says whether there was one."""

    def __init__(self, store: ArchiveStore) -> None:
        self.store = store
        self.runs, self.exists = read_runs(store)
        self._files: dict[str, VisibleFiles] = {}
        self._first: dict[str, pa.Schema] = {}

    def files(self, name: str) -> VisibleFiles:
        """The files of a table that may be read."""
        if name not in self._files:
            self._files[name] = self._visible(name)
        return self._files[name]

    def _visible(self, name: str) -> VisibleFiles:
        table = self.store.peek(name)
        if table is None:
            return VisibleFiles(None)
        with self.store.errors(name):
            actions = pa.table(table.get_add_actions(flatten=True))
        if "min.run" not in actions.column_names:
            unseen: frozenset[str] = frozenset()
        else:
            later, _ = read_runs(self.store)
            unseen = later.begun - self.runs.committed
        rows = actions.select([n for n in _FACTS if n in actions.column_names]).to_pylist()
        kept, hidden = [], set()
        for row in rows:
            low, high = row.get("min.run"), row.get("max.run")
            if low is not None and low == high and low in unseen:
                continue
            if low is not None and high is not None:
                hidden |= {run for run in unseen if low <= run <= high}
            else:
                hidden |= unseen
            kept.append(row)
        addresses = {uri.rsplit("/", 1)[-1]: self.store.address(uri) for uri in table.file_uris()}
        months: dict[str, int] = {}
        for row in kept:
            month = str(row.get("partition.month") or "")
            months[month] = months.get(month, 0) + 1
        return VisibleFiles(
            table,
            tuple(addresses[row["path"].rsplit("/", 1)[-1]] for row in kept),
            frozenset(hidden),
            sum(row["num_records"] or 0 for row in kept),
            sum(row["size_bytes"] or 0 for row in kept),
            months,
        )

    def dataset(self, name: str) -> tuple[ds.Dataset, ds.Expression | None]:
        """A table as an Arrow dataset of committed runs, and the filter that it needs, if any."""
        found = self.files(name)
        if found.table is None:
            raise self._missing_table(name)
        with self.store.errors(name):
            whole = self.store.dataset(name, found.table)
        names = {uri.rsplit("/", 1)[-1] for uri in found.files}
        kept = [f for f in whole.get_fragments() if f.path.rsplit("/", 1)[-1] in names]
        part = ds.FileSystemDataset(kept, whole.schema, whole.format, whole.filesystem)
        hidden = sorted(found.hidden)
        return part, ~among("run", hidden) if hidden else None

    def _missing_table(self, name: str) -> ArchiveError:
        hint = "" if name in (RUNS, "answers") else "; archive.rebuild() makes it of the answers"
        return ArchiveError(
            f"the archive at {self.store.root} has no table {name}{hint}", path=self.store.root
        )

    def to_arrow(
        self, name: str, columns: list[str] | None = None, where: ds.Expression | None = None
    ) -> pa.Table:
        """Rows of committed runs."""
        part, needed = self.dataset(name)
        both = [condition for condition in (where, needed) if condition is not None]
        condition = both[0] & both[1] if len(both) == 2 else (both[0] if both else None)
        with self.store.errors(name):
            return part.to_table(columns=columns, filter=condition)

    # -- DuckDB --------------------------------------------------------------------------------

    def connect(self, views: Mapping[str, str]) -> Any:
        """A DuckDB connection with a view for each table; names are mapped to paths."""
        connection = _database(os.getpid()).cursor()
        connection.execute("SET TimeZone = 'UTC'")
        for view, path in views.items():
            self.view(connection, view, path)
        return connection

    def view(self, connection: Any, view: str, path: str) -> None:
        """Add a view of a table to a connection.

        Raises
        ------
        ArchiveError
            If there is no such table, or a file of it cannot be read.
        """
        problem = ""
        try:
            self._view(connection, view, path)
        except duckdb().Error as error:
            problem = self.store.masked(str(error).partition("LINE 1:")[0])
        if problem:
            raise ArchiveError(
                f"{path} cannot be read: {problem}; archive.verify() says more, and "
                "archive.rebuild() makes tables anew from the answers",
                path=self.store.root,
            )

    def _view(self, connection: Any, view: str, path: str) -> None:
        found = self.files(path)
        if found.table is None:
            raise self._missing_table(path)
        if not found.files:
            connection.register(view, _empty(found.table))
            return
        if not self.store.is_local:
            part, needed = self.dataset(path)
            connection.register(view, part if needed is None else part.filter(needed))
            return
        listed = ", ".join(map(quoted, found.files))
        uneven = "true" if self._uneven(path) else "false"
        where = ""
        if found.hidden:
            where = f" WHERE run NOT IN ({', '.join(map(quoted, sorted(found.hidden)))})"
        partitioned = bool(found.table.metadata().partition_columns)
        connection.execute(
            f"CREATE TEMP VIEW {identifier(view)} AS SELECT * FROM read_parquet([{listed}], "
            f"hive_partitioning={'true' if partitioned else 'false'}, "
            f"hive_types_autocast=false, union_by_name={uneven}){where}"
        )
        missing = self._missing(connection, view, found.table)
        if missing:
            connection.execute(f"DROP VIEW {identifier(view)}")
            part, needed = self.dataset(path)
            connection.register(view, part if needed is None else part.filter(needed))

    def _uneven(self, path: str) -> bool:
        """Whether files of a table may lack columns that were added later."""
        return path.startswith("tables/") and path in self._grown

    @property
    def _grown(self) -> frozenset[str]:
        if not hasattr(self, "_grown_tables"):
            self._grown_tables = frozenset(
                path_of(row["section"], row["table"])
                for row in changes_of(self)
                if row["change"] == "new column"
            )
        return self._grown_tables

    @staticmethod
    def _missing(connection: Any, view: str, table: Any) -> set[str]:
        described = connection.execute(f"DESCRIBE {identifier(view)}").fetchall()
        return {field.name for field in table.schema().fields} - {row[0] for row in described}


@cache
def _database(process: int) -> Any:
    """The engine of a process, which takes long to start; what a cursor makes is its own."""
    atexit.register(_database.cache_clear)
    return new_database()


def new_database() -> Any:
    """An engine in memory that fetches nothing."""
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    return duckdb().connect(config=config)


def changes_of(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The rows of the table ``changes``; none where nothing changed yet."""
    return snapshot.store.rows_of("changes") or []


def run(connection: Any, sql: str, values: list[Any] | None = None) -> pa.Table:
    """The result of a query as an Arrow table.

    Raises
    ------
    ArchiveError
        If it cannot be answered.
    """
    problem = ""
    try:
        found = connection.sql(sql, params=values).to_arrow_table()
    except duckdb().Error as error:
        problem = str(error)
    if problem:
        raise ArchiveError(f"the query failed: {problem}")
    return found


def _empty(table: Any) -> pa.Table:
    schema = pa.schema(table.schema().to_arrow())
    return pa.schema([pa.field(f.name, f.type) for f in schema]).empty_table()


def quoted(text: str) -> str:
    """A text as a literal of SQL.

    Examples
    --------
    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as an identifier of SQL.

    Examples
    --------
    >>> identifier("host")
    '"host"'
    """
    return '"' + name.replace('"', '""') + '"'


def in_list(column: str, values: Collection[str] | Iterable[str]) -> str:
    """The condition of SQL that a column has one of some values."""
    return f"{identifier(column)} IN ({', '.join(map(quoted, values))})"


_FACTS = ("path", "size_bytes", "num_records", "min.run", "max.run", "partition.month")

OWN = (RUNS, "answers", "frames", "availability", "drift", "hints", "changes")
"""The tables of an archive beside the declared ones."""
