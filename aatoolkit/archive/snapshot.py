"""SQL queries on the tables of an archive, and selections of rows.

A run is one call of `Archive.add`. Readers see its rows only after all of them are written.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import Names, parse_datetime
from aatoolkit.archive.schema import CHANGES_TABLE, CONTEXT_SCHEMA, SYSTEM_SCHEMAS
from aatoolkit.archive.store import (
    ADDED_COLUMNS_PROPERTY,
    FIX_HINT,
    RUNS_TABLE,
    ArchiveStore,
    import_duckdb,
    read_run_log,
    to_one_line,
)
from aatoolkit.errors import ArchiveError, ArgumentError, ScopeError, unknown
from aatoolkit.scope import FILTERS, Scope

# -- SQL ---------------------------------------------------------------------------------------


def quote_value(value: str | datetime) -> str:
    """Return a text or datetime as an SQL literal.

    Examples
    --------
    >>> quote_value("it's")
    "'it''s'"
    """
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{value}'"
    return "'" + value.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Return the name of a column or table as a quoted SQL identifier.

    Examples
    --------
    >>> quote_name("host")
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
    literals = ", ".join(map(quote_value, sorted(values)))
    return f"{quote_name(column)} IN ({literals})" if literals else "false"


@cache
def _shared_connection() -> Any:
    """Return the DuckDB connection of this process."""
    atexit.register(_shared_connection.cache_clear)
    return _new_connection()


def _new_connection() -> Any:
    """Return a connection to a new DuckDB database in memory."""
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = import_duckdb().connect(config=config)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


# -- selections of rows ------------------------------------------------------------------------

DayOrMoment = str | date | datetime
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
    def from_args(
        cls,
        hosts: Names | None = None,
        since: DayOrMoment | None = None,
        until: DayOrMoment | None = None,
        scope: Scope | None = None,
    ) -> Selection:
        """Create a selection from the arguments of a method such as `Archive.read`."""
        first_moment = to_moment(since, "since")
        last_moment = to_moment(until, "until", is_end_of_day=True)
        if first_moment and last_moment and first_moment > last_moment:
            raise ScopeError(
                f"since={since!r} is after until={until!r}; swap the two", parameter="since"
            )
        host_names: Any = (
            hosts if isinstance(hosts, Iterable) and not isinstance(hosts, str) else [hosts]
        )
        host_names = (
            None if hosts is None else tuple(dict.fromkeys(map(canonical_host, host_names)))
        )
        return cls(host_names, first_moment, last_moment, scope)

    def restrict_until(self, moment: datetime | None) -> Selection:
        """Return a copy that selects only responses fetched until a moment.

        With None, return the selection unchanged.
        """
        if moment is None:
            return self
        return replace(self, until=moment if self.until is None else min(self.until, moment))

    def time_conditions(
        self, column: str, to_sql: Callable[[datetime], str] = quote_value
    ) -> list[str]:
        """Return SQL conditions: the times in a column must lie between ``since`` and ``until``."""
        bounds = {">=": self.since, "<=": self.until}
        return [
            f"{column} {operator} {to_sql(bound)}" for operator, bound in bounds.items() if bound
        ]

    @property
    def where_sql(self) -> str:
        """The SQL condition that a selected row meets."""
        conditions = [] if self.hosts is None else [sql_in("host", self.hosts)]
        conditions += self.time_conditions("month", "'{:%Y-%m}'".format)
        conditions += self.time_conditions("fetched_at")
        if self.scope is not None:
            conditions.append(f"days = {self.scope.days}")
            for name in FILTERS:
                values = self.scope._filters.get(name)
                value_condition = f"= {quote_value(','.join(values))}" if values else "IS NULL"
                conditions.append(f"filter_{name} {value_condition}")
        return " AND ".join(conditions) or "true"

    def to_dict(self) -> dict[str, Any]:
        """Convert the selection to a dict of JSON values, without fields that are None."""
        selection_fields = {
            "hosts": self.hosts and [*self.hosts],
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "scope": self.scope and self.scope._to_query(),
        }
        return {name: value for name, value in selection_fields.items() if value is not None}


def to_moment(
    value: DayOrMoment | None, argument_name: str, *, is_end_of_day: bool = False
) -> datetime | None:
    """Convert a day or datetime to a datetime in UTC.

    A day is converted to its first moment, or to its last one if ``is_end_of_day`` is true.
    If the value cannot be parsed, the error message names the argument ``argument_name``.

    Examples
    --------
    >>> to_moment("2026-10-01", "since").isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> to_moment("2026-10-01", "until", is_end_of_day=True).isoformat()
    '2026-10-01T23:59:59.999999+00:00'
    """
    if value is None:
        return None
    parsed_value = parse_datetime(value) if isinstance(value, str) else value
    if isinstance(parsed_value, datetime) and parsed_value.tzinfo is not None:
        with contextlib.suppress(OverflowError):
            return parsed_value.astimezone(UTC)
    if isinstance(parsed_value, date) and not isinstance(parsed_value, datetime):
        day_start = datetime.combine(parsed_value, time(), UTC)
        return day_start + timedelta(days=1, microseconds=-1) if is_end_of_day else day_start
    raise ScopeError(
        f"{argument_name}={value!r} is no day and no moment with a time zone; "
        "write '2026-10-01' or '2026-10-01T12:00:00Z'",
        parameter=argument_name,
    )


# -- visible files -----------------------------------------------------------------------------


@dataclass(frozen=True)
class VisibleFiles:
    """The data files of one table, and the runs in them whose rows readers must not see.

    A run is one call of `Archive.add`; its rows are hidden until it has finished. ``table`` is the
    Delta table, or None if there is none. ``has_added_columns`` says whether some files lack
    columns of the schema.
    """

    table: Any | None
    paths: tuple[str, ...] = ()
    hidden_runs: frozenset[str] = frozenset()
    byte_count: int = 0
    schema: Any = None
    has_added_columns: bool = False


class Snapshot:
    """The tables of an archive as readers see them at one moment, for SQL queries.

    ``visible_runs`` are the names of the runs (calls of `Archive.add`) whose rows are visible; by
    default all finished runs. ``open_tables`` are Delta tables that are open already, by path.
    """

    def __init__(
        self,
        store: ArchiveStore,
        visible_runs: Collection[str] | None = None,
        open_tables: Mapping[str, Any] | None = None,
    ) -> None:
        self.store = store
        self._open_tables = open_tables or {}
        self.run_log = read_run_log(store)
        self.visible_runs = (
            self.run_log.committed_runs if visible_runs is None else frozenset(visible_runs)
        )
        self._files: dict[str, VisibleFiles] = {}

    def files_of(self, name: str) -> VisibleFiles:
        """Return the data files of the table ``name``, and the runs in them whose rows are hidden.

        A run is one call of `Archive.add`; its rows are hidden from readers until it has finished.
        """
        if name not in self._files:
            table = self._open_tables.get(name) or self.store.cached_table(name)
            self._files[name] = VisibleFiles(None) if table is None else self._files_in(name, table)
        return self._files[name]

    def has_table(self, name: str) -> bool:
        """Return whether the archive has the table ``name``."""
        return self.files_of(name).table is not None

    def _files_in(self, name: str, table: Any) -> VisibleFiles:
        # Other engines take paths, and the URLs of objects.
        uris = table.file_uris()
        paths = tuple(map(unquote, uris) if self.store.is_local else uris)
        for path in paths if self.store.is_local else ():
            # A pipe or a device would be waited for, for ever.
            if os.path.exists(path) and not os.path.isfile(path):
                raise ArchiveError("it is no regular file; take it away", path=path)
        # The log is read again after the table was opened: newer runs are hidden too.
        has_run_column = name not in (RUNS_TABLE, CHANGES_TABLE)
        hidden_runs = (
            read_run_log(self.store).begun_runs - self.visible_runs
            if has_run_column
            else frozenset[str]()
        )
        byte_count = sum(file_row["size_bytes"] for file_row in self.store.data_files(name, table))
        fields = [*pa.schema(table.schema().to_arrow())]
        system_schema = SYSTEM_SCHEMAS.get(name)
        field_names = {field.name for field in fields}
        new_fields = [
            field for field in system_schema or CONTEXT_SCHEMA if field.name not in field_names
        ]
        has_added_columns = ADDED_COLUMNS_PROPERTY in table.metadata().configuration
        schema = pa.schema([*fields, *new_fields])
        return VisibleFiles(
            table, paths, hidden_runs, byte_count, schema, has_added_columns or bool(new_fields)
        )

    def query(
        self, sql: str, *paths: str, parameters: list[Any] | None = None, **views: Any
    ) -> pa.Table:
        """Run an SQL query on tables of the archive, and return an Arrow table.

        Parameters
        ----------
        sql : str
            The query, with parameters ``$1``, ``$2`` and so on.
        *paths : str
            The paths of the tables that the query names.
        parameters : list, optional
            The values of ``$1``, ``$2`` and so on.
        **views : str or pyarrow.Table
            Further tables of the query, by the name that they have there: the path of a table of
            the archive, or an Arrow table.
        """
        with _shared_connection().cursor() as connection:
            for view_name, path_or_table in {**{path: path for path in paths}, **views}.items():
                if isinstance(path_or_table, pa.Table):
                    connection.register(view_name, path_or_table)
                else:
                    self._add_view(connection, view_name, path_or_table)
            try:
                return connection.sql(sql, params=parameters).to_arrow_table()
            except import_duckdb().Error as error:
                raise ArchiveError(
                    f"the query failed: {to_one_line(error)}", path=self.store.root
                ) from None

    def rows(self, sql: str, *paths: str, **options: Any) -> list[dict[str, Any]]:
        """Run an SQL query, and return one dict per row; the arguments are those of `query`."""
        return list(self.query(sql, *paths, **options).to_pylist())

    def _add_view(self, connection: Any, view: str, path: str, condition: str = "true") -> None:
        """Create an SQL view of the rows of a table that readers may see and that meet a condition.

        ``view`` is the name of the view, and ``path`` the path of the table.
        """
        visible_files = self.files_of(path)
        if visible_files.table is None:
            raise ArchiveError(
                f"the archive at {self.store.root} has no table {path}; archive.rebuild() makes "
                "tables of its responses",
                path=self.store.root,
            )
        if visible_files.hidden_runs:
            condition += f" AND NOT {sql_in('run', visible_files.hidden_runs)}"
        view_sources = []
        if visible_files.paths and self.store.is_local:
            is_partitioned = bool(visible_files.table.metadata().partition_columns)
            paths = ", ".join(map(quote_value, visible_files.paths))
            view_sources.append(
                f"read_parquet([{paths}], hive_partitioning={is_partitioned}, "
                f"hive_types_autocast=false, union_by_name={visible_files.has_added_columns})"
            )
        elif visible_files.paths:
            with self.store.convert_errors(path):
                dataset = self.store.arrow_dataset(path, visible_files.table)
            connection.register(f"{view} with rows", dataset)
            view_sources.append(quote_name(f"{view} with rows"))
        if visible_files.has_added_columns or not view_sources:  # there may be no file
            connection.register(f"{view} without rows", visible_files.schema.empty_table())
            view_sources.append(quote_name(f"{view} without rows"))
        union_sql = " UNION ALL BY NAME ".join(
            f"SELECT * FROM {view_source}" for view_source in view_sources
        )
        columns_sql = ", ".join(quote_name(field.name) for field in visible_files.schema)
        try:
            connection.execute(
                f"CREATE TEMP VIEW {quote_name(view)} AS SELECT {columns_sql} FROM ({union_sql}) "
                f"WHERE {condition}"
            )
        except import_duckdb().Error as error:
            problem = to_one_line(str(error).partition("LINE 1:")[0])
            raise ArchiveError(
                f"{path} cannot be read: {problem}; {FIX_HINT}", path=self.store.root
            ) from None

    # -- queries of users ----------------------------------------------------------------------

    def run_user_query(self, query: str, tables: Mapping[str, Any], until: datetime | None) -> Any:
        """Run a user's SQL query, which can read only ``tables``, and return the resulting rows.

        ``tables`` is the result of `sql_tables`, a dict from names of tables to their paths or
        functions. Rows fetched after ``until`` are left out. The result is a
        ``duckdb.DuckDBPyRelation``.
        """
        duckdb = import_duckdb()
        with self.convert_query_errors(tables):
            # A database of its own, for what locks it down holds for all of its connections.
            connection = _new_connection()
            statements = []
            if isinstance(query, str):
                query.encode()  # DuckDB's own error would say nothing of it
                statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise ArgumentError(
                    "a query is one SELECT, which changes nothing; write one", argument="query"
                )
            # Not get_table_names, which binds a query before there are tables, and fails at USING.
            ((syntax_tree_json,),) = connection.execute(
                "SELECT json_serialize_sql($1)", [query]
            ).fetchall()
            allowed_files: list[str] = []
            for name in sorted({*_find_table_names(json.loads(syntax_tree_json))} & {*tables}):
                source = tables[name]
                if isinstance(source, list):
                    raise ArgumentError(
                        f"two sections have a table {name}; write SECTION__{name} in the query",
                        argument="query",
                    )
                if callable(source):
                    connection.register(name, source())
                    continue
                has_host_column = (
                    until
                    and self.has_table(source)
                    and "host" in self.files_of(source).schema.names
                )
                condition = Selection(until=until).where_sql if has_host_column else "true"
                self._add_view(connection, name, source, condition)
                allowed_files += self.files_of(source).paths if self.store.is_local else ()
            connection.execute("SET allowed_paths = $1", [allowed_files])
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            # The query is computed now: later, a failure would be DuckDB's own error.
            connection.sql(query).create("main.result")
            return connection.table("main.result")

    @contextlib.contextmanager
    def convert_query_errors(self, table_names: Iterable[str]) -> Iterator[None]:
        """Convert DuckDB's errors in a ``with`` block to `ArgumentError` or `ArchiveError`.

        An `ArgumentError` says that the query is wrong, an `ArchiveError` that it could not be run.
        ``table_names`` are the tables that the query may use. If the query names another table, the
        message suggests a similar name.
        """
        duckdb = import_duckdb()
        try:
            yield
        except (duckdb.Error, UnicodeError) as error:
            problem = to_one_line(error)
            if match := _UNKNOWN_TABLE_PATTERN.search(problem):
                # DuckDB suggests its own tables, and knows no other yet.
                problem = unknown(
                    "table", match["name"], (name for name in table_names if name != match["name"])
                )
            message = f"the query failed: {problem}; help(Archive.sql) lists what it reads"
            if isinstance(error, duckdb.ProgrammingError | duckdb.DataError | UnicodeError):
                raise ArgumentError(message, argument="query") from None
            raise ArchiveError(message, path=self.store.root) from None


_UNKNOWN_TABLE_PATTERN = re.compile(r"Table (?:Function )?with name (?P<name>\S+) does not exist!")


def _find_table_names(tree: Any) -> Iterator[str]:
    """Yield the names of the tables in the syntax tree of an SQL query."""
    for key, subtree in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if key == "table_name" and isinstance(subtree, str):
            yield subtree.strip('"')
        elif isinstance(subtree, dict | list):
            yield from _find_table_names(subtree)
