"""A store's tables in DuckDB: small ones in memory, large ones as Parquet files on disk.

Schema ``store`` has every table with its instants as UTC without a zone, ``raw`` the two that
are read by instant, in the form in which a Parquet file can skip other days. ``derived`` has
what sections need of all days, computed when the first query reads it:

================== =====================================================================
``engine_runs``     first and last day on which an engine was asked, by host
``source_domains``  the domains among a host's sources
``cited_pages``     first and last day on which a page was cited, up to the store's clock
``shopping_shown``  the engines on which products were seen
``crawler_events``  first and last request of a crawler, up to the store's clock
``recorded_hours``  the hours in which a gateway recorded, or in which a crawler was seen
================== =====================================================================
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from pathlib import Path

import duckdb
import pyarrow as pa

from aatoolkit.service.files import StoreFiles, unreadable
from aatoolkit.service.schema import TABLES
from aatoolkit.service.validate import StoreError

_ANSWER = ("host", "chat_id")
_BY_INSTANT = ("answers", "crawler_hits")

# Planning a query over a few thousand rows takes longer than running it: what these rewrites
# gain there is less than what they cost, and a second thread costs more than it helps.
_FOR_LARGE_TABLES = (
    "join_order",
    "common_subplan",
    "common_aggregate",
    "compressed_materialization",
    "duplicate_groups",
    "join_elimination",
    "join_filter_pushdown",
    "late_materialization",
    "partial_aggregate_pushdown",
    "projection_placement",
    "projection_pullup",
    "top_n_window_elimination",
    "window_self_join",
)

_TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "flag": "BOOLEAN",
    "instant": "TIMESTAMP",
    "day": "DATE",
    "words": "VARCHAR[]",
}
"""The type of each kind of column in DuckDB; instants as UTC without a zone."""

Reference = tuple[tuple[str, ...], str]
"""Columns that refer to those of the same names in another table, and that table."""

_DERIVED = {
    "engine_runs": """
SELECT host, engine, CAST(min(ran_at) AS DATE) AS first_run_day,
  CAST(max(ran_at) AS DATE) AS last_run_day
FROM store.answers GROUP BY host, engine
""",
    "source_domains": "SELECT DISTINCT host, source_domain FROM store.citations",
    "cited_pages": """
SELECT host, url, CAST(min(ran_at) AS DATE) AS first_day, CAST(max(ran_at) AS DATE) AS last_day
FROM store.citations JOIN store.answers USING (host, chat_id)
JOIN store.projects USING (host)
WHERE cited AND outcome = 'answered' AND CAST(ran_at AS DATE) <= CAST(as_of AS DATE)
GROUP BY host, url
""",
    "shopping_shown": """
SELECT DISTINCT host, engine FROM store.product_mentions JOIN store.answers USING (host, chat_id)
""",
    "crawler_events": """
SELECT host, min(hour) AS first_at, max(coalesce(last_at, hour)) AS last_at
FROM store.crawler_hits JOIN store.projects USING (host)
WHERE CAST(hour AS DATE) <= CAST(as_of AS DATE) GROUP BY host
""",
    "recorded_hours": """
SELECT host, hour FROM store.crawler_hours UNION SELECT host, hour FROM store.crawler_hits
""",
}


def load(
    tables: Mapping[str, pa.Table], files: StoreFiles | None = None
) -> duckdb.DuckDBPyConnection:
    """Load the tables of a store into a DuckDB database; absent ones are empty.

    Parameters
    ----------
    tables
        Validated tables.
    files
        Validated Parquet files: small ones are read into memory, large ones stay on disk.

    Raises
    ------
    StoreError
        Where a row refers to one that does not exist, or to a run without an answer, and
        where a file is damaged.
    """
    files = files or StoreFiles()
    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET parquet_metadata_cache = true")
    connection.execute("CREATE SCHEMA store; CREATE SCHEMA raw")
    if files.large:
        # Requests run side by side: more threads for each cost work and gain little time.
        threads = max(1, (os.cpu_count() or 1) // 2)
        connection.execute(f"SET GLOBAL threads = {threads}")
    else:
        _plan_less(connection)
    connection.execute("BEGIN")
    names = {*tables, *files.small, *files.large}
    connection.execute(";".join(_without_rows(name) for name in TABLES if name not in names))
    for name, path in files.large.items():
        connection.execute(f"CREATE VIEW store.{name} AS {_of_file(name, path)}")
    for name, path in files.small.items():
        _read_file(connection, name, path)
    for name, table in tables.items():
        connection.register("incoming", _without_zone(table))
        connection.execute(f"CREATE TABLE store.{name} AS SELECT * FROM incoming")
        connection.unregister("incoming")
    connection.execute("COMMIT")
    for name in _BY_INSTANT:
        rows = _parquet(files.large[name]) if name in files.large else f"store.{name}"
        connection.execute(f"CREATE VIEW raw.{name} AS SELECT * FROM {rows}")
    problems = _broken_references(connection, names, files.large)
    if problems:
        connection.close()
        raise StoreError(problems)
    return connection


@cache
def _without_rows(name: str) -> str:
    """The statement that creates a table nothing was observed for; faster than from Arrow."""
    columns = ", ".join(f'"{column.name}" {_TYPES[column.kind]}' for column in TABLES[name].columns)
    return f"CREATE TABLE store.{name} ({columns})"


def _plan_less(connection: duckdb.DuckDBPyConnection) -> None:
    """Disable optimiser steps that only large tables need, so that queries are planned quickly."""
    known = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    disabled = ",".join(name for (name,) in known if name in _FOR_LARGE_TABLES)
    connection.execute(f"SET GLOBAL disabled_optimizers = '{disabled}'")
    connection.execute("SET GLOBAL threads = 1")


def _read_file(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    try:
        connection.execute(f"CREATE TABLE store.{name} AS {_of_file(name, path)}")
    except duckdb.Error as error:
        connection.close()
        raise StoreError([unreadable(path, error)]) from error


class Derived:
    """The tables of the schema ``derived``, each created when a query first reads it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("CREATE SCHEMA derived")
        self._connection = connection
        self._lock = threading.Lock()
        self._created: set[str] = set()

    def require(self, sql: str) -> None:
        """Create the tables that a query reads and that are not there yet."""
        for name in _derived_read(sql):
            if name not in self._created:
                with self._lock:
                    self._create(name)

    def _create(self, name: str) -> None:
        if name not in self._created:
            with self._connection.cursor() as cursor:
                cursor.execute(f"CREATE TABLE derived.{name} AS {_DERIVED[name]}")
            self._created.add(name)


@lru_cache(maxsize=1024)
def _derived_read(sql: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"\bderived\.(\w+)", sql)))


def observed_hosts(connection: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
    """For each table with a host, the hosts that have a row in it."""
    names = [name for name, declared in TABLES.items() if declared.key[:1] != ("bot",)]
    rows = " UNION ALL ".join(f"SELECT DISTINCT '{name}', host FROM store.{name}" for name in names)
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, host in connection.execute(rows).fetchall():
        found[name].add(host)
    return {name: frozenset(hosts) for name, hosts in found.items()}


def _parquet(path: Path, *options: str) -> str:
    quoted = "'" + str(path).replace("'", "''") + "'"
    return f"read_parquet({', '.join((quoted, *options))})"


def _of_file(name: str, path: Path) -> str:
    """SQL for the rows of a Parquet file, instants as UTC without a zone."""
    instants = [column.name for column in TABLES[name].columns if column.kind == "instant"]
    casts = ", ".join(f"CAST({column} AS TIMESTAMP) AS {column}" for column in instants)
    replaced = f" REPLACE ({casts})" if casts else ""
    return f"SELECT *{replaced} FROM {_parquet(path)}"


def _without_zone(table: pa.Table) -> pa.Table:
    """Cast instants to UTC without a zone: DuckDB gives out zoned ones only through pytz."""
    naive = pa.timestamp("us")
    return table.cast(
        pa.schema(
            field.with_type(naive) if pa.types.is_timestamp(field.type) else field
            for field in table.schema
        )
    )


def _broken_references(
    connection: duckdb.DuckDBPyConnection, names: Collection[str], files: Mapping[str, Path]
) -> list[str]:
    referring: dict[Reference, list[str]] = {}
    for name in TABLES:
        for reference in TABLES[name].refers if name in names else ():
            referring.setdefault(reference, []).append(name)
    # All tables that refer to one are looked up in it together; where that fails, each alone.
    broken = {
        reference
        for reference, children in referring.items()
        if not _all_exist(connection, children, reference)
    }
    return [
        problem
        for name in TABLES
        for reference in TABLES[name].refers
        if reference in broken
        and name in referring[reference]
        and not _all_exist(connection, [name], reference)
        for problem in _described(connection, name, *reference, files)
    ]


def _all_exist(
    connection: duckdb.DuckDBPyConnection, children: Collection[str], reference: Reference
) -> bool:
    """Whether every reference of some tables has its row, apart from nulls."""
    columns, parent = reference
    listed = ", ".join(columns)
    known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    rows = " UNION ALL ".join(f"SELECT {listed} FROM store.{n} WHERE {known}" for n in children)
    wanted = f"SELECT {listed} FROM store.{parent}"
    if reference == (_ANSWER, "answers"):
        wanted += " WHERE outcome = 'answered'"
    sql = f"SELECT NOT EXISTS (SELECT 1 FROM ({rows}) ANTI JOIN ({wanted}) USING ({listed}))"
    return bool(connection.execute(sql).fetchall()[0][0])


def _described(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: tuple[str, ...],
    parent: str,
    files: Mapping[str, Path],
) -> list[str]:
    """Describe the first row whose reference has no row, or no answered one."""
    if name in files:
        rows, number = _parquet(files[name], "file_row_number = true"), "file_row_number"
    else:
        rows, number = f"store.{name}", "rowid"
    listed = ", ".join(columns)
    known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    dangling = connection.execute(
        f"SELECT {number}, {listed} FROM {rows} ANTI JOIN store.{parent} USING ({listed})"
        f" WHERE {known} ORDER BY {number} LIMIT 1"
    ).fetchall()
    problems = []
    for row, *values in dangling:
        shown = ", ".join(f"{c}={v!r}" for c, v in zip(columns, values, strict=True))
        problems.append(f"{name}.{'+'.join(columns)}: {shown} in row {row} is not in {parent}")
    if (columns, parent) == (_ANSWER, "answers"):
        unanswered = connection.execute(
            f"SELECT {number}, host, chat_id, outcome FROM {rows}"
            " JOIN (SELECT host, chat_id, outcome FROM store.answers) USING (host, chat_id)"
            f" WHERE outcome <> 'answered' ORDER BY {number} LIMIT 1"
        ).fetchall()
        problems += [
            f"{name}.chat_id: {chat!r} of {host!r} in row {row} has the outcome {outcome!r} in"
            " answers; only answers that were given, 'answered', can have such rows"
            for row, host, chat, outcome in unanswered
        ]
    return problems
