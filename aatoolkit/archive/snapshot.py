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


def make_in_condition(column: str, allowed_values: Iterable[str]) -> str:
    """Return the SQL condition ``column IN (values)``.

    Examples
    --------
    >>> print(make_in_condition("host", ["b.example", "a.example"]))
    "host" IN ('a.example', 'b.example')
    """
    literals_sql = ", ".join(map(quote_value, sorted(allowed_values)))
    return f"{quote_name(column)} IN ({literals_sql})" if literals_sql else "false"


@cache
def _shared_connection() -> Any:
    """Return the DuckDB connection of this process."""
    atexit.register(_shared_connection.cache_clear)
    return _new_connection()


def _new_connection() -> Any:
    """Return a connection to a new DuckDB database in memory."""
    config_options = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = import_duckdb().connect(config=config_options)
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

    def list_time_conditions(
        self, column_sql: str, to_sql: Callable[[datetime], str] = quote_value
    ) -> list[str]:
        """Return SQL conditions: the times in a column must lie between ``since`` and ``until``."""
        bound_by_operator = {">=": self.since, "<=": self.until}
        return [
            f"{column_sql} {operator} {to_sql(bound)}"
            for operator, bound in bound_by_operator.items()
            if bound
        ]

    @property
    def where_sql(self) -> str:
        """The SQL condition that a selected row meets."""
        condition_sqls = [] if self.hosts is None else [make_in_condition("host", self.hosts)]
        condition_sqls += self.list_time_conditions("month", "'{:%Y-%m}'".format)
        condition_sqls += self.list_time_conditions("fetched_at")
        if self.scope is not None:
            condition_sqls.append(f"days = {self.scope.days}")
            for filter_name in FILTERS:
                filter_values = self.scope._filters.get(filter_name)
                value_condition = (
                    f"= {quote_value(','.join(filter_values))}" if filter_values else "IS NULL"
                )
                condition_sqls.append(f"filter_{filter_name} {value_condition}")
        return " AND ".join(condition_sqls) or "true"

    def to_dict(self) -> dict[str, Any]:
        """Convert the selection to a dict of JSON values, without fields that are None."""
        value_by_field = {
            "hosts": self.hosts and [*self.hosts],
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "scope": self.scope and self.scope._to_query(),
        }
        return {
            field_name: value for field_name, value in value_by_field.items() if value is not None
        }


def to_moment(
    day_or_moment: DayOrMoment | None, argument_name: str, *, is_end_of_day: bool = False
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
    if day_or_moment is None:
        return None
    parsed_moment = (
        parse_datetime(day_or_moment) if isinstance(day_or_moment, str) else day_or_moment
    )
    if isinstance(parsed_moment, datetime) and parsed_moment.tzinfo is not None:
        with contextlib.suppress(OverflowError):
            return parsed_moment.astimezone(UTC)
    if isinstance(parsed_moment, date) and not isinstance(parsed_moment, datetime):
        day_start = datetime.combine(parsed_moment, time(), UTC)
        return day_start + timedelta(days=1, microseconds=-1) if is_end_of_day else day_start
    raise ScopeError(
        f"{argument_name}={day_or_moment!r} is no day and no moment with a time zone; "
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
    hidden_run_names: frozenset[str] = frozenset()
    byte_count: int = 0
    schema: Any = None
    has_added_columns: bool = False


class Snapshot:
    """The tables of an archive as readers see them at one moment, for SQL queries.

    ``visible_run_names`` are the names of the runs (calls of `Archive.add`) whose rows are visible;
    by default all finished runs. ``open_tables`` are Delta tables that are open already, by path.
    """

    def __init__(
        self,
        store: ArchiveStore,
        visible_run_names: Collection[str] | None = None,
        open_tables: Mapping[str, Any] | None = None,
    ) -> None:
        self.store = store
        self._open_tables = open_tables or {}
        self.run_log = read_run_log(store)
        self.visible_run_names = (
            self.run_log.committed_run_names
            if visible_run_names is None
            else frozenset(visible_run_names)
        )
        self._visible_files_by_path: dict[str, VisibleFiles] = {}

    def find_visible_files(self, table_path: str) -> VisibleFiles:
        """Return the data files of a table, and the runs in them whose rows are hidden.

        A run is one call of `Archive.add`; its rows are hidden from readers until it has finished.
        """
        if table_path not in self._visible_files_by_path:
            table = self._open_tables.get(table_path) or self.store.cached_table(table_path)
            self._visible_files_by_path[table_path] = (
                VisibleFiles(None) if table is None else self._list_visible_files(table_path, table)
            )
        return self._visible_files_by_path[table_path]

    def has_table(self, table_path: str) -> bool:
        """Return whether the archive has the table ``table_path``."""
        return self.find_visible_files(table_path).table is not None

    def _list_visible_files(self, table_path: str, delta_table: Any) -> VisibleFiles:
        # Other engines take paths, and the URLs of objects.
        file_uris = delta_table.file_uris()
        paths = tuple(map(unquote, file_uris) if self.store.is_local else file_uris)
        for path in paths if self.store.is_local else ():
            # A pipe or a device would be waited for, for ever.
            if os.path.exists(path) and not os.path.isfile(path):
                raise ArchiveError("it is no regular file; take it away", path=path)
        # The log is read again after the table was opened: newer runs are hidden too.
        has_run_column = table_path not in (RUNS_TABLE, CHANGES_TABLE)
        hidden_run_names = (
            read_run_log(self.store).begun_run_names - self.visible_run_names
            if has_run_column
            else frozenset[str]()
        )
        byte_count = sum(
            file_row["size_bytes"]
            for file_row in self.store.list_data_files(table_path, delta_table)
        )
        table_fields = [*pa.schema(delta_table.schema().to_arrow())]
        system_schema = SYSTEM_SCHEMAS.get(table_path)
        field_names = {field.name for field in table_fields}
        missing_fields = [
            field for field in system_schema or CONTEXT_SCHEMA if field.name not in field_names
        ]
        has_added_columns = ADDED_COLUMNS_PROPERTY in delta_table.metadata().configuration
        schema = pa.schema([*table_fields, *missing_fields])
        return VisibleFiles(
            delta_table,
            paths,
            hidden_run_names,
            byte_count,
            schema,
            has_added_columns or bool(missing_fields),
        )

    def query(
        self, sql: str, *table_paths: str, parameters: list[Any] | None = None, **views: Any
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
            for view_name, path_or_table in {
                **{path: path for path in table_paths},
                **views,
            }.items():
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

    def query_rows(self, sql: str, *table_paths: str, **options: Any) -> list[dict[str, Any]]:
        """Run an SQL query, and return one dict per row; the arguments are those of `query`."""
        return list(self.query(sql, *table_paths, **options).to_pylist())

    def _add_view(
        self, connection: Any, view_name: str, table_path: str, condition_sql: str = "true"
    ) -> None:
        """Create an SQL view of the rows of a table that readers may see and that meet a condition.

        ``view_name`` is the name of the view, and ``table_path`` the path of the table.
        """
        visible_files = self.find_visible_files(table_path)
        if visible_files.table is None:
            raise ArchiveError(
                f"the archive at {self.store.root} has no table {table_path}; archive.rebuild() "
                "makes tables of its responses",
                path=self.store.root,
            )
        if visible_files.hidden_run_names:
            condition_sql += f" AND NOT {make_in_condition('run', visible_files.hidden_run_names)}"
        view_sources = []
        if visible_files.paths and self.store.is_local:
            is_partitioned = bool(visible_files.table.metadata().partition_columns)
            paths_sql = ", ".join(map(quote_value, visible_files.paths))
            view_sources.append(
                f"read_parquet([{paths_sql}], hive_partitioning={is_partitioned}, "
                f"hive_types_autocast=false, union_by_name={visible_files.has_added_columns})"
            )
        elif visible_files.paths:
            with self.store.convert_errors(table_path):
                dataset = self.store.arrow_dataset(table_path, visible_files.table)
            connection.register(f"{view_name} with rows", dataset)
            view_sources.append(quote_name(f"{view_name} with rows"))
        if visible_files.has_added_columns or not view_sources:  # there may be no file
            connection.register(f"{view_name} without rows", visible_files.schema.empty_table())
            view_sources.append(quote_name(f"{view_name} without rows"))
        union_sql = " UNION ALL BY NAME ".join(
            f"SELECT * FROM {view_source}" for view_source in view_sources
        )
        columns_sql = ", ".join(quote_name(field.name) for field in visible_files.schema)
        try:
            connection.execute(
                f"CREATE TEMP VIEW {quote_name(view_name)} AS SELECT {columns_sql} "
                f"FROM ({union_sql}) WHERE {condition_sql}"
            )
        except import_duckdb().Error as error:
            problem = to_one_line(str(error).partition("LINE 1:")[0])
            raise ArchiveError(
                f"{table_path} cannot be read: {problem}; {FIX_HINT}", path=self.store.root
            ) from None

    # -- queries of users ----------------------------------------------------------------------

    def run_user_query(
        self, query: str, source_by_table: Mapping[str, Any], until: datetime | None
    ) -> Any:
        """Run a user's SQL query, which can read only some tables, and return the resulting rows.

        ``source_by_table`` is the result of `list_sql_tables`, a dict from names of tables to their
        paths or functions. Rows fetched after ``until`` are left out. The result is a
        ``duckdb.DuckDBPyRelation``.
        """
        duckdb = import_duckdb()
        with self.convert_query_errors(source_by_table):
            # A database of its own, for what locks it down holds for all of its connections.
            connection = _new_connection()
            sql_statements = []
            if isinstance(query, str):
                query.encode()  # DuckDB's own error would say nothing of it
                sql_statements = connection.extract_statements(query)
            if len(sql_statements) != 1 or sql_statements[0].type != duckdb.StatementType.SELECT:
                raise ArgumentError(
                    "a query is one SELECT, which changes nothing; write one", argument="query"
                )
            # Not get_table_names, which binds a query before there are tables, and fails at USING.
            ((syntax_tree_json,),) = connection.execute(
                "SELECT json_serialize_sql($1)", [query]
            ).fetchall()
            allowed_paths: list[str] = []
            for table_name in sorted(
                {*_find_table_names(json.loads(syntax_tree_json))} & {*source_by_table}
            ):
                table_source = source_by_table[table_name]
                if isinstance(table_source, list):
                    raise ArgumentError(
                        f"two sections have a table {table_name}; write SECTION__{table_name} in "
                        "the query",
                        argument="query",
                    )
                if callable(table_source):
                    connection.register(table_name, table_source())
                    continue
                has_host_column = (
                    until
                    and self.has_table(table_source)
                    and "host" in self.find_visible_files(table_source).schema.names
                )
                condition_sql = Selection(until=until).where_sql if has_host_column else "true"
                self._add_view(connection, table_name, table_source, condition_sql)
                allowed_paths += (
                    self.find_visible_files(table_source).paths if self.store.is_local else ()
                )
            connection.execute("SET allowed_paths = $1", [allowed_paths])
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
                    "table",
                    match["name"],
                    (table_name for table_name in table_names if table_name != match["name"]),
                )
            message = f"the query failed: {problem}; help(Archive.sql) lists what it reads"
            if isinstance(error, duckdb.ProgrammingError | duckdb.DataError | UnicodeError):
                raise ArgumentError(message, argument="query") from None
            raise ArchiveError(message, path=self.store.root) from None


_UNKNOWN_TABLE_PATTERN = re.compile(r"Table (?:Function )?with name (?P<name>\S+) does not exist!")


def _find_table_names(syntax_tree: Any) -> Iterator[str]:
    """Yield the names of the tables in the syntax tree of an SQL query."""
    for node_key, subtree in (
        syntax_tree.items() if isinstance(syntax_tree, dict) else enumerate(syntax_tree)
    ):
        if node_key == "table_name" and isinstance(subtree, str):
            yield subtree.strip('"')
        elif isinstance(subtree, dict | list):
            yield from _find_table_names(subtree)
