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
================== =====================================================================
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

import duckdb
import pyarrow as pa

from aatoolkit.service.conform import StoreError
from aatoolkit.service.schema import TABLES

_ANSWER = ("host", "chat_id")
_BY_INSTANT = ("answers", "crawler_hits")

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
}


def load(
    tables: Mapping[str, pa.Table], files: Mapping[str, Path] | None = None
) -> duckdb.DuckDBPyConnection:
    """A DuckDB database with the tables of a store; absent ones have no rows.

    Parameters
    ----------
    tables
        Validated tables, which are held in memory.
    files
        Validated Parquet files, which are read from disk.

    Raises
    ------
    StoreError
        Where a row refers to one that does not exist, or to a run without an answer.
    """
    files = files or {}
    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET parquet_metadata_cache = true")
    connection.execute("CREATE SCHEMA store; CREATE SCHEMA raw")
    for name, declared in TABLES.items():
        if name in files:
            connection.execute(f"CREATE VIEW store.{name} AS {_of_file(name, files[name])}")
        else:
            table = tables.get(name, declared.arrow.empty_table())
            connection.register("incoming", _without_zone(table))
            connection.execute(f"CREATE TABLE store.{name} AS SELECT * FROM incoming")
            connection.unregister("incoming")
    for name in _BY_INSTANT:
        rows = _parquet(files[name]) if name in files else f"store.{name}"
        connection.execute(f"CREATE VIEW raw.{name} AS SELECT * FROM {rows}")
    problems = _broken_references(connection, {**tables, **files}.keys(), files)
    if problems:
        connection.close()
        raise StoreError(problems)
    return connection


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
    found: dict[str, frozenset[str]] = {}
    for name, declared in TABLES.items():
        if declared.key[:1] == ("bot",):
            continue
        rows = connection.execute(f"SELECT DISTINCT host FROM store.{name}").fetchall()
        found[name] = frozenset(host for (host,) in rows)
    return found


def _parquet(path: Path, *options: str) -> str:
    quoted = "'" + str(path).replace("'", "''") + "'"
    return f"read_parquet({', '.join((quoted, *options))})"


def _of_file(name: str, path: Path) -> str:
    """The rows of a Parquet file, instants as UTC without a zone."""
    instants = [column.name for column in TABLES[name].columns if column.kind == "instant"]
    casts = ", ".join(f"CAST({column} AS TIMESTAMP) AS {column}" for column in instants)
    replaced = f" REPLACE ({casts})" if casts else ""
    return f"SELECT *{replaced} FROM {_parquet(path)}"


def _without_zone(table: pa.Table) -> pa.Table:
    """Instants as UTC without a zone: DuckDB gives out zoned ones only through pytz."""
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
    problems = []
    for name in TABLES:
        if name not in names:
            continue
        for columns, parent in TABLES[name].refers:
            known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
            wanted = f"SELECT {', '.join(columns)} FROM store.{parent}"
            if (columns, parent) == (_ANSWER, "answers"):
                wanted += " WHERE outcome = 'answered'"
            (whole,) = connection.execute(
                f"SELECT NOT EXISTS (SELECT 1 FROM store.{name}"
                f" ANTI JOIN ({wanted}) USING ({', '.join(columns)}) WHERE {known})"
            ).fetchall()[0]
            if not whole:
                problems += _described(connection, name, columns, parent, files)
    return problems


def _described(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: tuple[str, ...],
    parent: str,
    files: Mapping[str, Path],
) -> list[str]:
    """What is wrong with the first row that refers to nothing, or to no answer."""
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
