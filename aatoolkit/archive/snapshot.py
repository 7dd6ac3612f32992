"""Snapshots: the rows of committed runs as of one moment, and which of them are wanted.

Runs are read before a table and after it. What was committed before is seen; rows of any run that
had begun by then and was not committed before are not, so that no run is seen in part. Whatever is
read of an archive is asked by SQL of views of these files.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, cached_property
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import parse_moment
from aatoolkit.archive.runs import RUNS, read_runs
from aatoolkit.archive.schema import bare, path_of
from aatoolkit.archive.store import ArchiveStore, duckdb
from aatoolkit.errors import ArchiveError, ScopeError
from aatoolkit.scope import FILTERS, Scope

OWN = (RUNS, "responses", "frames", "availability", "drift", "hints", "changes")
"""The tables of an archive beside the declared ones."""

_FACTS = ("path", "size_bytes", "num_records", "min.run", "max.run")


# -- SQL ---------------------------------------------------------------------------------------


def quoted(value: Any) -> str:
    """A value as a literal of SQL.

    Examples
    --------
    >>> quoted("it's"), quoted(7)
    ("'it''s'", '7')
    """
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def identifier(name: str) -> str:
    """A name as an identifier of SQL.

    Examples
    --------
    >>> identifier("host")
    '"host"'
    """
    return '"' + name.replace('"', '""') + '"'


def in_list(column: str, values: Iterable[str]) -> str:
    """The condition of SQL that a column has one of some values, of which there may be none."""
    listed = ", ".join(map(quoted, sorted(values)))
    return f"{identifier(column)} IN ({listed})" if listed else "false"


def run(connection: Any, sql: str, values: list[Any] | None = None) -> pa.Table:
    """The result of a query as an Arrow table.

    Raises
    ------
    ArchiveError
        If it cannot be answered.
    """
    problem = ""
    try:
        return connection.sql(sql, params=values).to_arrow_table()
    except duckdb().Error as error:
        problem = str(error)
    raise ArchiveError(f"the query failed: {problem}")


@cache
def _database(process: int) -> Any:
    """The engine of a process, which takes long to start; what a cursor makes is its own."""
    atexit.register(_database.cache_clear)
    return new_database()


def new_database() -> Any:
    """An engine in memory that fetches nothing."""
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    return duckdb().connect(config=config)


# -- which rows --------------------------------------------------------------------------------

When = str | date | datetime
"""A day, or a moment with a time zone; text in ISO 8601."""


@dataclass(frozen=True)
class Selection:
    """Rows by host, time of fetch and scope.

    Parameters
    ----------
    hosts : tuple of str or None
        The hosts; None for all.
    since, until : datetime.datetime or None
        The first and last moment of fetch, both included.
    scope : Scope or None
        The scope; None for all.
    """

    hosts: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: Scope | None = None

    @classmethod
    def of(
        cls,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
    ) -> Selection:
        """Validate arguments, and return the selection that they describe.

        Raises
        ------
        ScopeError
            If a host is no domain, a day or moment cannot be read, or the first is after the last.
        """
        listed: Iterable[Any] = (
            hosts if isinstance(hosts, Iterable) and not isinstance(hosts, str) else [hosts]
        )
        if scope is not None and not isinstance(scope, Scope):
            raise ScopeError(f"{scope!r} is not a Scope; write aa.Scope(days=7)", parameter="scope")
        first = None if since is None else moment(since, "since")
        last = None if until is None else moment(until, "until", last=True)
        if first and last and first > last:
            raise ScopeError(f"since={since!r} is after until={until!r}", parameter="since")
        names = None if hosts is None else tuple(dict.fromkeys(map(canonical_host, listed)))
        return cls(names, first, last, scope)

    def before(self, limit: datetime | None) -> Selection:
        """Return the selection limited to what was fetched until a moment."""
        if limit is None:
            return self
        return replace(self, until=limit if self.until is None else min(self.until, limit))

    @property
    def where(self) -> str:
        """The condition in SQL on the context columns, which every table has."""
        parts = [] if self.hosts is None else [in_list("host", self.hosts)]
        for sign, limit in ((">=", self.since), ("<=", self.until)):
            if limit is not None:
                parts.append(f"month {sign} '{limit:%Y-%m}' AND fetched_at {sign} {quoted(limit)}")
        if self.scope is not None:
            parts.append(f"days = {self.scope.days}")
            for name in FILTERS:
                values = self.scope._filters.get(name)
                is_same = f"= {quoted(','.join(values))}" if values else "IS NULL"
                parts.append(f"filter_{name} {is_same}")
        return " AND ".join(parts) or "true"


def moment(value: When, name: str, *, last: bool = False) -> datetime:
    """Parse a moment in UTC; of a day, its first or its last moment.

    Raises
    ------
    ScopeError
        If it cannot be read, or has a time and no time zone.

    Examples
    --------
    >>> moment("2026-10-01", "since").isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> moment("2026-10-01", "until", last=True).isoformat()
    '2026-10-01T23:59:59.999999+00:00'
    """
    parsed: Any = parse_moment(value) if isinstance(value, str) else value
    if isinstance(parsed, datetime) and parsed.tzinfo is not None:
        with contextlib.suppress(OverflowError):
            return parsed.astimezone(UTC)
    if isinstance(parsed, date) and not isinstance(parsed, datetime):
        start = datetime.combine(parsed, time(), UTC)
        return start + timedelta(days=1, microseconds=-1) if last else start
    hint = "write '2026-10-01' or '2026-10-01T12:00:00Z'"
    problem = f"{name}={value!r} is no day and no moment with a time zone; {hint}"
    raise ScopeError(problem, parameter=name)


# -- which files -------------------------------------------------------------------------------


@dataclass(frozen=True)
class VisibleFiles:
    """The files of one table that hold rows of the runs that are seen.

    Parameters
    ----------
    table : DeltaTable or None
        The table; None if there is none.
    paths : tuple of str
        The files, as addresses.
    hidden : frozenset of str
        The runs whose rows are in some of these files and are not seen; as a rule none.
    size : int
        The bytes of the files.
    """

    table: Any | None
    paths: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    size: int = 0

    @property
    def schema(self) -> pa.Schema:
        """The schema of the table, without metadata."""
        assert self.table is not None
        return bare(pa.schema(self.table.schema().to_arrow()))


class Snapshot:
    """An archive as it was when this was made; ``exists`` says whether there was one.

    Parameters
    ----------
    store
        The archive.
    seen
        The runs whose rows are seen; by default those that were committed.
    tables
        Tables that are open already, to be read as they are.
    """

    def __init__(
        self,
        store: ArchiveStore,
        seen: Collection[str] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> None:
        self.store, self._tables = store, tables or {}
        self.runs, self.exists = read_runs(store)
        self.seen = self.runs.committed if seen is None else frozenset(seen)
        self._files: dict[str, VisibleFiles] = {}

    def files(self, name: str) -> VisibleFiles:
        """The files of a table that may be read."""
        if name not in self._files:
            table = self._tables.get(name) or self.store.peek(name)
            self._files[name] = VisibleFiles(None) if table is None else self._visible(name, table)
        return self._files[name]

    def has(self, name: str) -> bool:
        """Whether there is a table of this name."""
        return self.files(name).table is not None

    def _visible(self, name: str, table: Any) -> VisibleFiles:
        with self.store.errors(name):
            actions = pa.table(table.get_add_actions(flatten=True))
        unseen: frozenset[str] = frozenset()
        if "min.run" in actions.column_names:
            unseen = read_runs(self.store)[0].begun - self.seen
        rows = actions.select([n for n in _FACTS if n in actions.column_names]).to_pylist()
        kept: list[dict[str, Any]] = []
        hidden: set[str] = set()
        for row in rows:
            low, high = row.get("min.run"), row.get("max.run")
            if low is None or high is None:
                hidden |= unseen
            elif low == high and low in unseen:
                continue
            else:
                hidden |= {run for run in unseen if low <= run <= high}
            kept.append(row)
        addresses = {uri.rsplit("/", 1)[-1]: self.store.address(uri) for uri in table.file_uris()}
        paths = tuple(addresses[row["path"].rsplit("/", 1)[-1]] for row in kept)
        size = sum(row["size_bytes"] or 0 for row in kept)
        return VisibleFiles(table, paths, frozenset(hidden), size)

    def query(
        self, sql: str, *names: str, values: list[Any] | None = None, **views: str
    ) -> pa.Table:
        """The result of a query of tables, by their own names or by those of views."""
        with self.connect({**{name: name for name in names}, **views}) as connection:
            return run(connection, sql, values)

    def rows(self, sql: str, *names: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of such a result."""
        return list(self.query(sql, *names, values=values).to_pylist())

    def connect(self, views: Mapping[str, str]) -> Any:
        """A connection with a view for each table; names are mapped to paths."""
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
                "archive.rebuild() makes tables anew from the responses",
                path=self.store.root,
            )

    def _view(self, connection: Any, view: str, path: str) -> None:
        files = self.files(path)
        if files.table is None:
            hint = "" if path in (RUNS, "responses") else "; archive.rebuild() makes it"
            raise ArchiveError(
                f"the archive at {self.store.root} has no table {path}{hint}", path=self.store.root
            )
        names, is_local = {field.name for field in files.schema}, self.store.is_local
        where = f" WHERE NOT {in_list('run', files.hidden)}" if files.hidden else ""
        if files.paths and is_local:
            # Columns that were added later are in no file but those written since.
            is_uneven = "true" if path in self._grown else "false"
            is_partitioned = "true" if files.table.metadata().partition_columns else "false"
            listed = ", ".join(map(quoted, files.paths))
            connection.execute(
                f"CREATE TEMP VIEW {identifier(view)} AS SELECT * FROM read_parquet([{listed}], "
                f"hive_partitioning={is_partitioned}, hive_types_autocast=false, "
                f"union_by_name={is_uneven}){where}"
            )
            described = connection.execute(f"DESCRIBE {identifier(view)}").fetchall()
            if names <= {row[0] for row in described}:
                return
            connection.execute(f"DROP VIEW {identifier(view)}")
        rows: Any = files.schema.empty_table()
        if files.paths:
            rows = self._dataset(path, files)
        connection.register(f"{view} unfiltered" if where else view, rows)
        if where:
            connection.execute(
                f"CREATE TEMP VIEW {identifier(view)} AS "
                f"SELECT * FROM {identifier(f'{view} unfiltered')}{where}"
            )

    def _dataset(self, path: str, files: VisibleFiles) -> ds.Dataset:
        with self.store.errors(path):
            whole = self.store.dataset(path, files.table)
        names = {uri.rsplit("/", 1)[-1] for uri in files.paths}
        kept = [f for f in whole.get_fragments() if f.path.rsplit("/", 1)[-1] in names]
        return ds.FileSystemDataset(kept, whole.schema, whole.format, whole.filesystem)

    @cached_property
    def _grown(self) -> frozenset[str]:
        """The tables that have columns which older files lack."""
        return frozenset(
            path_of(row["section"], row["table"])
            for row in changes_of(self)
            if row["change"] == "new column"
        )


def changes_of(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The rows of the table ``changes``; none where nothing changed yet."""
    return snapshot.store.rows_of("changes") or []
