"""A store of observations: a folder with one Parquet file per table.

``write_store`` writes your own observations to a store, and ``Store`` reads them.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from aatoolkit.service.observations import Observations, ServiceScope
from aatoolkit.service.schema import TABLES, StoreColumn, StoreTable

if TYPE_CHECKING:
    import pandas as pd

    Tabular: TypeAlias = pa.Table | pd.DataFrame

_ROW_GROUP_SIZE = 32_768
_HASHES_FILE_NAME = "checked.json"
"""The name of the file with the hashes of a store's files when they were last checked."""

_MAX_CACHED_SCOPES = 4
"""The number of recent requests whose temporary tables are kept."""


class StoreError(Exception):
    """Raised if a store or its tables do not fit the schema.

    Parameters
    ----------
    problems : iterable of str
        All problems, each with its table and column.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        summary = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(
            f"{summary} with the store:{lines}\n`aatoolkit serve --describe` documents every table"
            " and column: mend the tables and give them again."
        )


def write_store(folder: str | os.PathLike[str], tables: Mapping[str, Tabular]) -> None:
    """Validate tables, and write them to a folder as a store.

    Parameters
    ----------
    folder : str or path
        The folder; it is created if it does not exist.
    tables : mapping of str to pyarrow.Table or pandas.DataFrame
        The tables by name, such as ``answers``.

    Raises
    ------
    StoreError
        If the tables have problems, or the folder has other Parquet files. Then nothing is written.
    """
    converted_tables = _convert_tables_to_schema(tables)
    _load_database(converted_tables).close()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    extra_tables = sorted(
        {path.stem for path in folder.glob("*.parquet")} - converted_tables.keys()
    )
    if extra_tables:
        raise StoreError(
            f"{name}.parquet: the folder holds this file already and it is not among the tables"
            " given; give it too, or write to an empty folder"
            for name in extra_tables
        )
    for name, table in converted_tables.items():
        temporary_path = folder / f".{name}.part"
        pq.write_table(table, temporary_path, compression="zstd", row_group_size=_ROW_GROUP_SIZE)
    for name in converted_tables:
        os.replace(folder / f".{name}.part", folder / f"{name}.parquet")
    hash_by_table = _hash_files({name: folder / f"{name}.parquet" for name in converted_tables})
    Path(folder, _HASHES_FILE_NAME).write_text(
        json.dumps(hash_by_table, indent=0), encoding="utf-8"
    )


class Store:
    """A store of observations in memory, open for queries.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection whose schema ``store`` has all tables. Timestamps are in UTC.
    hosts : list of str
        The hosts of the projects, sorted.
    options : dict
        A cache that maps each host to the possible values of its filters.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path | None = None) -> None:
        self.connection = connection
        self._folder = folder
        host_rows = connection.execute("SELECT host FROM store.projects ORDER BY host").fetchall()
        self.hosts: list[str] = [host for (host,) in host_rows]
        self.options: dict[str, dict[str, Any]] = {}
        self._has_rows_by_host: dict[str, dict[str, bool]] = {host: {} for host in self.hosts}
        self._recent_observations: deque[Observations] = deque(maxlen=_MAX_CACHED_SCOPES)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, tables: Mapping[str, Tabular]) -> Store:
        """Validate tables, and create a store in memory from them.

        Parameters
        ----------
        tables : mapping of str to pyarrow.Table or pandas.DataFrame
            The tables by name, such as ``answers``.

        Raises
        ------
        StoreError
            If the tables have problems.
        """
        return cls(_load_database(_convert_tables_to_schema(tables)))

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Open the store in a folder, and validate it.

        Parameters
        ----------
        folder : str or path
            The folder, as `write_store` writes it.

        Raises
        ------
        StoreError
            If the folder or its tables have problems.
        """
        folder = Path(folder)
        return cls(_load_database(_read_folder(folder)), folder)

    def reload(self) -> Store:
        """Read the store again from its folder, and return it as a new store.

        A store without a folder is returned unchanged.
        """
        return self if self._folder is None else Store.open(self._folder)

    @contextmanager
    def observe(self, scope: ServiceScope) -> Iterator[Observations]:
        """Yield an `Observations` object, for queries over the data that pass a request's filters.

        The objects of recent requests are kept, and used again for equal requests.
        """
        with self._lock:
            matching_observations = (
                observations
                for observations in self._recent_observations
                if observations.scope == scope
            )
            observations = next(matching_observations, None)
            if observations is not None:
                self._recent_observations.remove(observations)
        if observations is None:
            has_rows_by_table = self._has_rows_by_host[scope.host]
            observations = Observations(scope, has_rows_by_table, self.connection.cursor())
        yield observations
        with self._lock:
            self._recent_observations.append(observations)

    def close(self) -> None:
        """Close the database."""
        self._recent_observations.clear()
        self.connection.close()


def _hash_files(path_by_table: Mapping[str, Path]) -> dict[str, str]:
    """Return a dict from the name of each table to the SHA-256 of its file."""
    return {name: sha256(path.read_bytes()).hexdigest() for name, path in path_by_table.items()}


def _read_folder(folder: Path) -> Mapping[str, pa.Table | Path]:
    """Read the tables of the store in a folder; return them as a dict by name.

    If no file has changed since the tables were last checked, the dict has the paths of the files
    instead of the tables.
    """
    if not folder.is_dir():
        raise StoreError([f"{folder}: there is no such folder"])
    path_by_table = {}
    table_by_name = {}
    problems = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "README")) or path.suffix in (".json", ".md"):
            continue
        if path.suffix != ".parquet" or path.stem not in TABLES or not path.is_file():
            problems.append(f"{path.name}: the file is no table of a store")
        path_by_table[path.stem] = path
    hashes_path = folder / _HASHES_FILE_NAME
    if not problems and hashes_path.is_file():
        with suppress(ValueError):
            if json.loads(hashes_path.read_bytes()) == _hash_files(path_by_table):
                return path_by_table
    for table_name, path in path_by_table.items() if not problems else ():
        try:
            # read_table would import pyarrow.dataset, and that imports pandas.
            with pq.ParquetFile(path) as file:
                table_by_name[table_name] = file.read()
        except Exception as error:  # damaged bytes can raise almost any exception
            problems.append(f"{path.name}: the file cannot be read as Parquet: {error}")
    if problems:
        raise StoreError(problems)
    return _convert_tables_to_schema(table_by_name)


def _convert_tables_to_schema(table_by_name: Mapping[str, Tabular]) -> dict[str, pa.Table]:
    """Convert tables to the columns and types of the schema; raise `StoreError` if they do not fit.

    Optional columns that a table lacks are added, with nulls.
    """
    problems = []
    if "projects" not in table_by_name:
        problems.append("projects.host: the table is missing; a store has at least its projects")
    converted_table_by_name = {}
    for table_name, table in table_by_name.items():
        if table_name not in TABLES:
            problems.append(
                f"{table_name}: the store has no such table; it has {', '.join(TABLES)}"
            )
            continue
        declared_table = TABLES[table_name]
        input_column_names = [
            str(column) for column in getattr(table, "column_names", table.columns)
        ]
        problems += [
            f"{table_name}.{column}: the table has no such column; "
            f"it has {', '.join(declared_table.column_names)}"
            for column in input_column_names
            if column not in declared_table.column_names
        ]
        converted_columns = []
        for column in declared_table.columns:
            converted_columns.append(pa.nulls(len(table), column.arrow_type))
            try:
                if column.name in input_column_names:
                    converted_columns[-1] = _convert_column(column, table[column.name])
                elif column.is_required:
                    raise ValueError("the required column is missing")
            except (ValueError, OverflowError, pa.ArrowException) as error:
                problems.append(f"{table_name}.{column.name}: {error}")
        converted_table_by_name[table_name] = pa.table(
            converted_columns, schema=declared_table.arrow_schema
        )
    if problems:
        raise StoreError(problems)
    return converted_table_by_name


def _convert_column(column: StoreColumn, values: Any) -> Any:
    """Convert the values of a column to its type in the schema; misfits raise a `ValueError`."""
    if not isinstance(values, pa.ChunkedArray):
        try:
            values = pa.array(values, from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            raise ValueError(f"its values are of several types: {error}") from error
    if column.is_required and values.null_count:
        row_number = values.is_null().index(True).as_py()
        raise ValueError(f"null in a required column, first in row {row_number}, counted from 0")
    if values.null_count == len(values):
        return pa.nulls(len(values), column.arrow_type)
    column_kind = _find_column_kind(values.type)
    if column_kind == "instant" == column.kind and values.type.tz is None:
        raise ValueError("instants without a zone: say which, and UTC is made of it")
    is_day_timestamp = column_kind == "instant" and column.kind == "day" and values.type.tz is None
    if column_kind != {"integer": "number"}.get(column.kind, column.kind) and not is_day_timestamp:
        raise ValueError(f"{values.type} where {column.kind} is needed")
    converted_values = values.cast(column.arrow_type)
    converted_values.validate(full=True)
    return converted_values


_ARROW_PATTERN_BY_KIND = {
    "text": "(large_)?string",
    "number": r"u?int\d|halffloat|float|double|decimal",
    "flag": "bool",
    "instant": "timestamp",
    "day": "date",
}
"""A regular expression for the names of the Arrow types that each kind of column accepts."""


def _find_column_kind(type_: pa.DataType) -> str:
    """Return the kind of column, such as ``text``, for an Arrow type; "" if there is none."""
    if pt.is_list(type_) or pt.is_large_list(type_):
        is_text_list = pt.is_null(type_.value_type) or _find_column_kind(type_.value_type) == "text"
        return "words" if is_text_list else ""
    value_type = type_.value_type if pt.is_dictionary(type_) else type_
    return next(
        (
            kind
            for kind, pattern in _ARROW_PATTERN_BY_KIND.items()
            if re.match(pattern, str(value_type))
        ),
        "",
    )


def _load_database(source_by_table: Mapping[str, pa.Table | Path]) -> duckdb.DuckDBPyConnection:
    """Load tables into a new database in memory, and return the connection.

    ``source_by_table`` maps the name of each table to the table, or to the path of its file. The
    values of a table are checked, for example for repeated keys. Files were checked before, and are
    not checked again.
    """
    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL threads = 1; CREATE SCHEMA store")
    problems: list[str] = []
    for table_name, declared_table in TABLES.items():
        # Instants lose their zone: DuckDB gives out zoned ones only through pytz.
        timestamp_columns = (
            column.name for column in declared_table.columns if column.kind == "instant"
        )
        cast_columns_sql = ", ".join(
            f"CAST({column} AS TIMESTAMP) AS {column}" for column in timestamp_columns
        )
        columns_sql = f"* REPLACE ({cast_columns_sql})" if cast_columns_sql else "*"
        # Schema.empty_table would import pandas, which a service has no other use for.
        empty_columns = [pa.nulls(0, column.arrow_type) for column in declared_table.columns]
        table_source = source_by_table.get(
            table_name, pa.table(empty_columns, schema=declared_table.arrow_schema)
        )
        is_file = isinstance(table_source, Path)
        if not is_file:
            connection.register("incoming", table_source)
        source_sql, parameters = (
            ("read_parquet($1)", [str(table_source)]) if is_file else ("incoming", [])
        )
        connection.execute(
            f"CREATE TABLE store.{table_name} AS SELECT {columns_sql} FROM {source_sql}", parameters
        )
        if table_name in source_by_table and not is_file:
            for column_names, check_sql, message in _list_sql_checks(declared_table):
                for invalid_row in connection.execute(f"{check_sql} LIMIT 1").fetchall():
                    cells_text = ", ".join(
                        f"{column}={value!r}"
                        for column, value in zip(column_names, invalid_row, strict=True)
                    )
                    problems.append(
                        f"{table_name}.{'+'.join(column_names)}: {cells_text} {message}"
                    )
    if problems:
        connection.close()
        raise StoreError(problems)
    connection.execute(_ENGINE_RUNS_SQL)
    return connection


_ENGINE_RUNS_SQL = """
CREATE TABLE store.engine_runs AS
SELECT host, engine, CAST(min(ran_at) AS DATE) AS first_run_day,
  CAST(max(ran_at) AS DATE) AS last_run_day
FROM store.answers GROUP BY host, engine
"""
"""The first and last day on which a host sent a prompt to an engine."""


def _list_sql_checks(table: StoreTable) -> Iterator[tuple[Sequence[str], str, str]]:
    """Yield the checks of a table, as tuples.

    A tuple has the names of the checked columns, an SQL query that selects their invalid values,
    and a message.
    """
    from_sql = f"FROM store.{table.name}"
    for column in table.columns:
        quoted_name = f'"{column.name}"'
        allowed_sql = ", ".join(f"'{value}'" for value in column.values)
        invalid_sql = f"{quoted_name} NOT IN ({allowed_sql})"
        problem_text = f"is none of {allowed_sql}"
        if column.kind == "number":
            invalid_sql = f"NOT isfinite({quoted_name})"
            problem_text = "is not a finite number"
        elif column.kind == "words":
            unknown_sql = (
                f" OR NOT list_has_all([{allowed_sql}], {quoted_name})" if allowed_sql else ""
            )
            invalid_sql = (
                f"len({quoted_name}) <> list_aggregate({quoted_name}, 'count'){unknown_sql}"
            )
            problem_text = f"has a word that is none of {allowed_sql or 'text'}"
        elif not allowed_sql:
            continue
        yield [column.name], f"SELECT {quoted_name} {from_sql} WHERE {invalid_sql}", problem_text
    if key_columns_sql := ", ".join(table.key):
        invalid_rows_sql = (
            f"SELECT {key_columns_sql} {from_sql} GROUP BY {key_columns_sql} HAVING count(*) > 1"
        )
        yield table.key, invalid_rows_sql, "is there more than once"
    for parent_table, foreign_key_columns in table.parents:
        key_columns_sql = ", ".join(foreign_key_columns)
        parent_sql = f"SELECT {key_columns_sql} FROM store.{parent_table}"
        problem_text = f"is not in {parent_table}"
        if parent_table == "answers":
            parent_sql = f"{parent_sql} WHERE outcome = 'answered'"
            problem_text = "is no answer that was given"
        has_key_sql = " AND ".join(
            f"{column_name} IS NOT NULL" for column_name in foreign_key_columns
        )
        invalid_rows_sql = (
            f"SELECT {key_columns_sql} {from_sql} ANTI JOIN ({parent_sql}) "
            f"USING ({key_columns_sql}) WHERE {has_key_sql}"
        )
        yield foreign_key_columns, invalid_rows_sql, problem_text
