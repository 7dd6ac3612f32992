"""SQL queries on the tables of an archive, and selections of rows.

A run is one call of `Archive.add`. Readers see its rows only after all of them are written.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import parse_moment
from aatoolkit.archive.schema import CHANGES, CONTEXT_FIELDS, OWN_SCHEMAS
from aatoolkit.archive.store import (
    EXTENDED,
    REMEDY,
    RUNS,
    ArchiveStore,
    duckdb,
    one_line,
    read_runs,
)
from aatoolkit.errors import ArchiveError, ScopeError, unknown
from aatoolkit.scope import FILTERS, Scope

# -- SQL ---------------------------------------------------------------------------------------


def literal(value: str | datetime) -> str:
    """Return a text or datetime as an SQL literal.

    Examples
    --------
    >>> literal("it's")
    "'it''s'"
    """
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{value}'"
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier.

    Examples
    --------
    >>> identifier("host")
    '"host"'
    """
    return '"' + name.replace('"', '""') + '"'


def sql_in(column: str, values: Iterable[str]) -> str:
    """Return the SQL condition ``column IN (values)``.

    Examples
    --------
    >>> print(sql_in("host", ["b.example", "a.example"]))
    "host" IN ('a.example', 'b.example')
    """
    literals = ", ".join(map(literal, sorted(values)))
    return f"{identifier(column)} IN ({literals})" if literals else "false"


@cache
def _connection(process_id: int) -> Any:
    """Return the DuckDB connection of a process, which is cached."""
    atexit.register(_connection.cache_clear)
    return _new_connection()


def _new_connection() -> Any:
    """Return a new DuckDB connection in memory."""
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb().connect(config=config)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


# -- selections of rows ------------------------------------------------------------------------

When = str | date | datetime
"""A day, or a moment with a time zone; texts are in ISO 8601."""


@dataclass(frozen=True)
class Selection:
    """A selection of rows by host, time of fetch, and filters of the request.

    A field that is None selects all.
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
        """Create a selection from the arguments of a method such as `Archive.read`."""
        first_moment, last_moment = moment(since, "since"), moment(until, "until", is_last=True)
        if first_moment and last_moment and first_moment > last_moment:
            raise ScopeError(
                f"since={since!r} is after until={until!r}; swap the two", parameter="since"
            )
        names: Any = (
            hosts if isinstance(hosts, Iterable) and not isinstance(hosts, str) else [hosts]
        )
        names = None if hosts is None else tuple(dict.fromkeys(map(canonical_host, names)))
        return cls(names, first_moment, last_moment, scope)

    def before(self, limit: datetime | None) -> Selection:
        """Return a copy that selects only responses fetched until the moment ``limit``."""
        if limit is None:
            return self
        return replace(self, until=limit if self.until is None else min(self.until, limit))

    def period_conditions(self, column: str) -> list[str]:
        """Return SQL conditions that a datetime column lies between ``since`` and ``until``."""
        limits = {">=": self.since, "<=": self.until}
        return [f"{column} {sign} {literal(limit)}" for sign, limit in limits.items() if limit]

    @property
    def where(self) -> str:
        """The selection as an SQL condition."""
        conditions = [] if self.hosts is None else [sql_in("host", self.hosts)]
        limits = {">=": self.since, "<=": self.until}
        conditions += [f"month {sign} '{limit:%Y-%m}'" for sign, limit in limits.items() if limit]
        conditions += self.period_conditions("fetched_at")
        if self.scope is not None:
            conditions.append(f"days = {self.scope.days}")
            for name in FILTERS:
                values = self.scope._filters.get(name)
                comparison = f"= {literal(','.join(values))}" if values else "IS NULL"
                conditions.append(f"filter_{name} {comparison}")
        return " AND ".join(conditions) or "true"

    def to_dict(self) -> dict[str, Any]:
        """Convert the selection to a dict of JSON values, without fields that are None."""
        values = {
            "hosts": self.hosts and [*self.hosts],
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "scope": self.scope and self.scope._to_query(),
        }
        return {name: value for name, value in values.items() if value is not None}


def moment(value: When | None, name: str, *, is_last: bool = False) -> datetime | None:
    """Convert a day or datetime to a datetime in UTC.

    A day gives its first moment, or with ``is_last`` its last moment. ``name`` is the name of the
    argument, for the message if the value cannot be parsed.

    Examples
    --------
    >>> moment("2026-10-01", "since").isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> moment("2026-10-01", "until", is_last=True).isoformat()
    '2026-10-01T23:59:59.999999+00:00'
    """
    if value is None:
        return None
    parsed_value = parse_moment(value) if isinstance(value, str) else value
    if isinstance(parsed_value, datetime) and parsed_value.tzinfo is not None:
        with contextlib.suppress(OverflowError):
            return parsed_value.astimezone(UTC)
    if isinstance(parsed_value, date) and not isinstance(parsed_value, datetime):
        day_start = datetime.combine(parsed_value, time(), UTC)
        return day_start + timedelta(days=1, microseconds=-1) if is_last else day_start
    raise ScopeError(
        f"{name}={value!r} is no day and no moment with a time zone; "
        "write '2026-10-01' or '2026-10-01T12:00:00Z'",
        parameter=name,
    )


# -- visible files -----------------------------------------------------------------------------


@dataclass(frozen=True)
class VisibleFiles:
    """The data files of one table, and the unfinished runs whose rows readers must not see.

    A run is one call of `Archive.add`. ``is_extended`` says whether some files lack columns of the
    schema.
    """

    table: Any | None
    paths: tuple[str, ...] = ()
    hidden_runs: frozenset[str] = frozenset()
    size: int = 0
    schema: Any = None
    is_extended: bool = False


class Snapshot:
    """The tables of an archive as readers see them at one moment, for SQL queries.

    ``committed`` are the names of the finished runs (calls of `Archive.add`) whose rows are
    visible; by default all. ``tables`` are Delta tables that are open already, by path.
    """

    def __init__(
        self,
        store: ArchiveStore,
        committed: Collection[str] | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> None:
        self.store, self._tables = store, tables or {}
        self.runs = read_runs(store)
        self.committed = self.runs.committed if committed is None else frozenset(committed)
        self._files: dict[str, VisibleFiles] = {}

    def files(self, name: str) -> VisibleFiles:
        """Return the data files of a table, and the runs whose rows readers must not see.

        A run is one call of `Archive.add`.
        """
        if name not in self._files:
            table = self._tables.get(name) or self.store.peek(name)
            self._files[name] = VisibleFiles(None) if table is None else self._files_of(name, table)
        return self._files[name]

    def has(self, name: str) -> bool:
        """Return whether a table exists."""
        return self.files(name).table is not None

    def _files_of(self, name: str, table: Any) -> VisibleFiles:
        # Other engines take paths, and the URLs of objects.
        uris = table.file_uris()
        paths = tuple(map(unquote, uris) if self.store.is_local else uris)
        for path in paths if self.store.is_local else ():
            # A pipe or a device would be waited for, for ever.
            if os.path.exists(path) and not os.path.isfile(path):
                raise ArchiveError("it is no regular file; take it away", path=path)
        # The log is read again after the table was opened: newer runs are hidden too.
        has_runs = name not in (RUNS, CHANGES)
        hidden_runs = read_runs(self.store).begun - self.committed if has_runs else frozenset[str]()
        size = sum(row["size_bytes"] for row in self.store.actions(name, table))
        fields, own_schema = [*pa.schema(table.schema().to_arrow())], OWN_SCHEMAS.get(name)
        field_names = {field.name for field in fields}
        new_fields = [
            field for field in own_schema or CONTEXT_FIELDS if field.name not in field_names
        ]
        is_extended = EXTENDED in table.metadata().configuration
        schema = pa.schema([*fields, *new_fields])
        return VisibleFiles(
            table, paths, hidden_runs, size, schema, is_extended or bool(new_fields)
        )

    def query(
        self, sql: str, *paths: str, values: list[Any] | None = None, **views: Any
    ) -> pa.Table:
        """Run an SQL query on tables of the archive, and return an Arrow table.

        Parameters
        ----------
        sql : str
            The query, with parameters ``$1``, ``$2`` and so on.
        *paths : str
            The paths of the tables that the query names.
        values : list, optional
            The values of the parameters.
        **views : str or pyarrow.Table
            Other names in the query, with the path of a table or the table itself.
        """
        with _connection(os.getpid()).cursor() as connection:
            for view, source in {**{path: path for path in paths}, **views}.items():
                if isinstance(source, pa.Table):
                    connection.register(view, source)
                else:
                    self._add_view(connection, view, source)
            try:
                return connection.sql(sql, params=values).to_arrow_table()
            except duckdb().Error as error:
                raise ArchiveError(
                    f"the query failed: {one_line(error)}", path=self.store.root
                ) from None

    def rows(self, sql: str, *paths: str, **options: Any) -> list[dict[str, Any]]:
        """Run an SQL query, and return one dict per row; the arguments are those of `query`."""
        return list(self.query(sql, *paths, **options).to_pylist())

    def _add_view(self, connection: Any, view: str, path: str, where: str = "true") -> None:
        """Create an SQL view of the rows of a table that readers may see."""
        files = self.files(path)
        if files.table is None:
            raise ArchiveError(
                f"the archive at {self.store.root} has no table {path}; archive.rebuild() makes "
                "tables of its responses",
                path=self.store.root,
            )
        if files.hidden_runs:
            where += f" AND NOT {sql_in('run', files.hidden_runs)}"
        sources = []
        if files.paths and self.store.is_local:
            is_partitioned = bool(files.table.metadata().partition_columns)
            paths = ", ".join(map(literal, files.paths))
            sources.append(
                f"read_parquet([{paths}], hive_partitioning={is_partitioned}, "
                f"hive_types_autocast=false, union_by_name={files.is_extended})"
            )
        elif files.paths:
            with self.store.errors(path):
                dataset = self.store.dataset(path, files.table)
            connection.register(f"{view} with rows", dataset)
            sources.append(identifier(f"{view} with rows"))
        if files.is_extended or not sources:  # there may be no file
            connection.register(f"{view} without rows", files.schema.empty_table())
            sources.append(identifier(f"{view} without rows"))
        union_sql = " UNION ALL BY NAME ".join(f"SELECT * FROM {source}" for source in sources)
        columns = ", ".join(identifier(field.name) for field in files.schema)
        try:
            connection.execute(
                f"CREATE TEMP VIEW {identifier(view)} AS SELECT {columns} FROM ({union_sql}) "
                f"WHERE {where}"
            )
        except duckdb().Error as error:
            problem = one_line(str(error).partition("LINE 1:")[0])
            raise ArchiveError(
                f"{path} cannot be read: {problem}; {REMEDY}", path=self.store.root
            ) from None

    # -- queries of users ----------------------------------------------------------------------

    def relation(self, query: str, tables: Mapping[str, Any], until: datetime | None) -> Any:
        """Run a user's SQL query, which can read only the given tables, and return its rows.

        ``tables`` is the result of `sql_tables`. Rows fetched after ``until`` are left out. The
        result is a ``duckdb.DuckDBPyRelation``.
        """
        engine = duckdb()
        with self.typed(tables):
            # A database of its own, for what locks it down holds for all of its connections.
            connection = _new_connection()
            statements = []
            if isinstance(query, str):
                query.encode()  # DuckDB's own error would say nothing of it
                statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != engine.StatementType.SELECT:
                raise ArchiveError("a query is one SELECT, which changes nothing; write one")
            # Not get_table_names, which binds a query before there are tables, and fails at USING.
            ((tree_json,),) = connection.execute(
                "SELECT json_serialize_sql($1)", [query]
            ).fetchall()
            allowed_files: list[str] = []
            for name in sorted({*_table_names(json.loads(tree_json))} & {*tables}):
                source = tables[name]
                if isinstance(source, list):
                    raise ArchiveError(
                        f"two sections have a table {name}; write SECTION__{name} in the query"
                    )
                if callable(source):
                    connection.register(name, source())
                    continue
                has_host = until and self.has(source) and "host" in self.files(source).schema.names
                where = Selection(until=until).where if has_host else "true"
                self._add_view(connection, name, source, where)
                allowed_files += self.files(source).paths if self.store.is_local else ()
            connection.execute("SET allowed_paths = $1", [allowed_files])
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            # The query is computed now: later, a failure would be DuckDB's own error.
            connection.sql(query).create("main.result")
            return connection.table("main.result")

    @contextlib.contextmanager
    def typed(self, tables: Iterable[str]) -> Iterator[None]:
        """Convert DuckDB's errors in a ``with`` block to `ArchiveError`.

        ``tables`` are the names that the query may use; the message suggests a similar one.
        """
        try:
            yield
        except (duckdb().Error, UnicodeError) as error:
            problem = one_line(error)
            if match := _UNKNOWN_TABLE.search(problem):
                # DuckDB suggests its own tables, and knows no other yet.
                problem = unknown(
                    "table", match["name"], (name for name in tables if name != match["name"])
                )
            raise ArchiveError(
                f"the query failed: {problem}; help(Archive.sql) lists what it reads",
                path=self.store.root,
            ) from None


_UNKNOWN_TABLE = re.compile(r"Table (?:Function )?with name (?P<name>\S+) does not exist!")


def _table_names(tree: Any) -> Iterator[str]:
    """Yield the names of the tables in the syntax tree of an SQL query."""
    for key, subtree in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if key == "table_name" and isinstance(subtree, str):
            yield subtree.strip('"')
        elif isinstance(subtree, dict | list):
            yield from _table_names(subtree)
