"""Load validated tables into DuckDB and check the references between them."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import pyarrow as pa

from aatoolkit.service.conform import StoreError
from aatoolkit.service.schema import TABLES

_ANSWER = ("host", "chat_id")


def database(tables: Mapping[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    """A DuckDB database whose schema ``store`` holds the tables; absent ones without rows.

    Raises
    ------
    StoreError
        Where a row refers to one that does not exist, or to a run without an answer.
    """
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA store")
    for declared in TABLES.values():
        given = tables.get(declared.name)
        table = declared.arrow.empty_table() if given is None else given
        connection.register("incoming", _without_zone(table))
        connection.execute(f"CREATE TABLE store.{declared.name} AS SELECT * FROM incoming")
        connection.unregister("incoming")
    problems = [
        problem
        for name in tables
        for columns, parent in TABLES[name].refers
        for problem in _dangling(connection, name, columns, parent)
    ]
    problems += [
        problem
        for name in tables
        if (_ANSWER, "answers") in TABLES[name].refers
        for problem in _unanswered(connection, name)
    ]
    if problems:
        connection.close()
        raise StoreError(problems)
    return connection


def _without_zone(table: pa.Table) -> pa.Table:
    """Instants as UTC without a zone: DuckDB gives out zoned ones only through pytz."""
    naive = pa.timestamp("us")
    return table.cast(
        pa.schema(
            field.with_type(naive) if pa.types.is_timestamp(field.type) else field
            for field in table.schema
        )
    )


def _dangling(
    connection: duckdb.DuckDBPyConnection, name: str, columns: tuple[str, ...], parent: str
) -> list[str]:
    listed = ", ".join(columns)
    known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    found = connection.execute(
        f"SELECT rowid, {listed} FROM store.{name} ANTI JOIN store.{parent} USING ({listed})"
        f" WHERE {known} ORDER BY rowid LIMIT 1"
    ).fetchone()
    if found is None:
        return []
    row, *values = found
    shown = ", ".join(f"{c}={v!r}" for c, v in zip(columns, values, strict=True))
    return [f"{name}.{'+'.join(columns)}: {shown} in row {row} is not in {parent}"]


def _unanswered(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Only an answer that was given can mention, cite or expand anything."""
    found = connection.execute(
        f"SELECT seen.rowid, host, chat_id, outcome FROM store.{name} AS seen"
        " JOIN store.answers AS answers USING (host, chat_id)"
        " WHERE outcome <> 'answered' ORDER BY seen.rowid LIMIT 1"
    ).fetchone()
    if found is None:
        return []
    row, host, chat, outcome = found
    return [
        f"{name}.chat_id: {chat!r} of {host!r} in row {row} has the outcome {outcome!r} in"
        " answers; only answers that were given, 'answered', can have such rows"
    ]
