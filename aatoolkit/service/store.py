"""A store of observations: written from tables, checked as a whole, held in memory for queries.

A store is a folder with one Parquet file a table; ``schema`` says what each holds.
``write_store`` is how observations of your own get into one, ``Store`` how they are read.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from aatoolkit.service.observations import Observations
from aatoolkit.service.question import Question
from aatoolkit.service.schema import TABLES, StoreColumn, StoreTable
from aatoolkit.service.scope_options import scope_options

if TYPE_CHECKING:
    import pandas as pd

    Tabular: TypeAlias = pa.Table | pd.DataFrame

__all__ = ["Store", "StoreError", "describe_store", "write_store"]

_ADVICE = (
    "`aatoolkit serve --describe` documents every table and column: mend the tables and give"
    " them again."
)
_NO_PROJECTS = "projects.host: the table is missing; a store has at least its projects"
_ROW_GROUP = 32_768
_BESIDE = (".json", ".md")
_KEPT_SCOPES = 4
"""Scopes of recent questions that keep their tables."""


class StoreError(Exception):
    """A store, or a table meant for one, is not as the schema says.

    Parameters
    ----------
    problems
        Every problem found, each naming the table and the column it is in.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        listed = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{count} with the store:{listed}\n{_ADVICE}")


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
    converted = _converted(tables)
    _load(converted).close()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stale = sorted({path.stem for path in folder.glob("*.parquet")} - converted.keys())
    if stale:
        raise StoreError(
            f"{name}.parquet: the folder holds this file already and it is not among the tables"
            " given; give it too, or write to an empty folder"
            for name in stale
        )
    for name, table in converted.items():
        part = folder / f".{name}.part"
        pq.write_table(table, part, compression="zstd", row_group_size=_ROW_GROUP)
    for name in converted:
        os.replace(folder / f".{name}.part", folder / f"{name}.parquet")


class Store:
    """A store in memory, open for queries.

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
        tables: Mapping[str, Tabular],
        folder: Path | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self.connection = _load(_converted(tables))
        self._folder = folder
        self._as_of = as_of
        if as_of is not None:
            self.connection.execute("UPDATE store.projects SET as_of = $1", [_utc(as_of)])
        projects = self.connection.execute("SELECT * FROM store.projects ORDER BY host")
        names = [column[0] for column in projects.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in projects.fetchall()]
        self._projects = {row["host"]: row for row in rows}
        self.hosts: list[str] = list(self._projects)
        self._observed = _observed(self.connection)
        self._scopes: deque[Observations] = deque(maxlen=_KEPT_SCOPES)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, tables: Mapping[str, Tabular]) -> Store:
        """Validate tables and hold them as a store without a folder.

        Raises
        ------
        StoreError
            With every problem found in the tables.
        """
        return cls(tables)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], as_of: datetime | None = None) -> Store:
        """Read and validate a store's folder.

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
        return cls(_read_folder(Path(folder)), Path(folder), as_of)

    def reload(self) -> Store:
        """Read the store's folder again; a store without a folder returns itself."""
        return self if self._folder is None else Store.open(self._folder, self._as_of)

    def scope_options(self, host: str) -> dict[str, Any]:
        """The values that each filter may take for a project.

        Raises
        ------
        LookupError
            The store has no project of this host.
        """
        with self.observe(Question(host)) as observations:
            return scope_options(observations)

    @contextmanager
    def observe(self, question: Question) -> Iterator[Observations]:
        """Query what is in the scope of a question; nobody else uses its cursor meanwhile.

        Raises
        ------
        LookupError
            The store has no project of this host.
        """
        with self._lock:
            idle = (scope for scope in self._scopes if scope.question == question)
            scope = next(idle, None)
            if scope is not None:
                self._scopes.remove(scope)
        if scope is None:
            project = self._projects[question.host]
            cursor = self.connection.cursor()
            scope = Observations(question, project, self._observed[question.host], cursor)
        yield scope
        with self._lock:
            self._scopes.append(scope)

    def close(self) -> None:
        """Release the database."""
        self._scopes.clear()
        self.connection.close()


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


def _observed(connection: duckdb.DuckDBPyConnection) -> dict[str, frozenset[str]]:
    """For each host, the tables that have a row of it."""
    names = [name for name, table in TABLES.items() if "host" in table.names]
    rows = " UNION ALL ".join(f"SELECT DISTINCT host, '{name}' FROM store.{name}" for name in names)
    observed: dict[str, set[str]] = {}
    for host, name in connection.execute(rows).fetchall():
        observed.setdefault(host, set()).add(name)
    return {host: frozenset(tables) for host, tables in observed.items()}


def _read_folder(folder: Path) -> dict[str, pa.Table]:
    if not folder.is_dir():
        raise StoreError([f"{folder}: there is no such folder"])
    tables: dict[str, pa.Table] = {}
    problems: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "README")) or path.suffix in _BESIDE:
            continue
        if path.suffix != ".parquet" or path.stem not in TABLES or not path.is_file():
            problems.append(f"{path.name}: the file is no table of a store")
            continue
        try:
            # read_table would import pyarrow.dataset, and that imports pandas.
            with pq.ParquetFile(path) as file:
                tables[path.stem] = file.read()
        except Exception as error:  # damaged bytes come to light as almost anything
            problems.append(f"{path.name}: the file cannot be read as Parquet: {error}")
    if problems:
        raise StoreError(problems)
    return tables


def _converted(tables: Mapping[str, Tabular]) -> dict[str, pa.Table]:
    """Convert tables to the columns, order and types of the store.

    Optional columns that are absent are added as nulls, and instants of other zones are
    converted to UTC. Whatever cannot be converted without loss is refused.
    """
    problems = [] if "projects" in tables else [_NO_PROJECTS]
    converted: dict[str, pa.Table] = {}
    for name, table in tables.items():
        if name not in TABLES:
            problems.append(f"{name}: the store has no such table{_near(name, TABLES)}")
            continue
        arrow = _to_arrow(name, table, problems)
        unknown = [c for c in dict.fromkeys(arrow.column_names) if c not in TABLES[name].names]
        problems += [
            f"{name}.{column}: the table has no such column{_near(column, TABLES[name].names)}"
            for column in unknown
        ]
        columns = {c.name: _column(name, c, arrow, problems) for c in TABLES[name].columns}
        converted[name] = pa.table(columns)
    if problems:
        raise StoreError(problems)
    return converted


def _to_arrow(name: str, table: Tabular, problems: list[str]) -> pa.Table:
    """Convert a DataFrame column by column, so that one that is mixed is named."""
    if isinstance(table, pa.Table):
        return table
    columns, names = [], [str(column) for column in table.columns]
    for position, column in enumerate(names):
        try:
            values = pa.array(table.iloc[:, position], from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            problems.append(f"{name}.{column}: its values are of several types: {error}")
            values = pa.nulls(len(table))
        columns.append(pa.chunked_array(values) if isinstance(values, list) else values)
    return pa.Table.from_arrays(columns, names=names)


def _column(name: str, column: StoreColumn, table: pa.Table, problems: list[str]) -> Any:
    """Return one column in the type of the store; a problem leaves it null."""
    problem = ""
    nothing = pa.nulls(len(table), column.type)
    count = table.column_names.count(column.name)
    if count > 1:
        problem = f"the column is there {count} times"
    elif not count:
        problem = "the required column is missing" if column.required else ""
    else:
        values = table.column(column.name)
        kind = values.type
        if column.required and values.null_count:
            row = values.is_null().index(True).as_py()
            problem = f"null in a required column, first in row {row}, counted from 0"
        elif values.null_count == len(values):
            return nothing
        elif not _ACCEPTED[column.kind](kind):
            problem = f"{kind} where {column.kind} is needed"
        elif column.kind == "instant" and kind.tz is None:
            problem = "instants without a zone: say which, and UTC is made of it"
        else:
            try:
                converted = values.cast(column.type)
                converted.validate(full=True)
                if not (pt.is_date(column.type) and pt.is_timestamp(kind)):
                    return converted
                if converted.cast(kind).equals(values):
                    return converted
                problem = "an instant that is not a whole day"
            except pa.ArrowInvalid as error:
                problem = f"it does not fit {column.kind} without loss: {error}"
    if problem:
        problems.append(f"{name}.{column.name}: {problem}")
    return nothing


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def _is_list(kind: pa.DataType) -> bool:
    is_list = pt.is_list(kind) or pt.is_large_list(kind)
    return bool(is_list and (_is_text(kind.value_type) or pt.is_null(kind.value_type)))


_ACCEPTED: Mapping[str, Callable[[pa.DataType], bool]] = {
    "text": _is_text,
    "integer": _is_number,
    "number": _is_number,
    "flag": pt.is_boolean,
    "instant": pt.is_timestamp,
    "day": lambda kind: pt.is_date(kind) or (pt.is_timestamp(kind) and kind.tz is None),
    "words": _is_list,
}
"""Which Arrow types may be converted to each kind, if every value survives it."""


def _load(tables: Mapping[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    """Load converted tables into a database, absent ones empty, and check their values."""
    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL threads = 1; CREATE SCHEMA store")
    problems: list[str] = []
    for name, declared in TABLES.items():
        # Instants lose their zone: DuckDB gives out zoned ones only through pytz.
        instants = (column.name for column in declared.columns if column.kind == "instant")
        casts = ", ".join(f"CAST({column} AS TIMESTAMP) AS {column}" for column in instants)
        kept = f"* REPLACE ({casts})" if casts else "*"
        connection.register("incoming", tables[name] if name in tables else _without_rows(declared))
        connection.execute(f"CREATE TABLE store.{name} AS SELECT {kept} FROM incoming")
        connection.unregister("incoming")
        if name in tables:
            problems += _problems(connection, declared)
    if problems:
        connection.close()
        raise StoreError(problems)
    return connection


def _without_rows(table: StoreTable) -> pa.Table:
    # Schema.empty_table would import pandas, which a service has no other use for.
    return pa.table([pa.nulls(0, column.type) for column in table.columns], schema=table.arrow)


def _problems(connection: duckdb.DuckDBPyConnection, table: StoreTable) -> list[str]:
    """Describe what is wrong with the values of a table: the first case of each kind."""
    rows, listed = f"FROM store.{table.name}", ", ".join(table.key)
    checks = {c.name: check for c in table.columns if (check := _check(c))}
    problems = []
    for name, (condition, what) in checks.items():
        found = connection.execute(f'SELECT "{name}" {rows} WHERE {condition} LIMIT 1').fetchall()
        problems += [f"{table.name}.{name}: {what.format(value)}" for (value,) in found]
    if listed:
        sql = f"SELECT {listed}, count(*) {rows} GROUP BY {listed} HAVING count(*) > 1 LIMIT 1"
        for *key, count in connection.execute(sql).fetchall():
            shown = _shown(table.key, key)
            problems.append(f"{table.name}.{'+'.join(table.key)}: {shown} is there {count} times")
    for columns, parent in table.refers:
        listed = ", ".join(columns)
        known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
        wanted = f"SELECT {listed} FROM store.{parent}"
        what = f"is not in {parent}"
        if parent == "answers":
            wanted, what = f"{wanted} WHERE outcome = 'answered'", "is no answer that was given"
        sql = f"SELECT {listed} {rows} ANTI JOIN ({wanted}) USING ({listed}) WHERE {known} LIMIT 1"
        problems += [
            f"{table.name}.{'+'.join(columns)}: {_shown(columns, values)} {what}"
            for values in connection.execute(sql).fetchall()
        ]
    return problems


def _check(column: StoreColumn) -> tuple[str, str] | None:
    """A condition of wrong values of a column, and what is wrong with them."""
    name = f'"{column.name}"'
    allowed = ", ".join(f"'{value}'" for value in column.values)
    if column.kind == "number":
        return f"NOT isfinite({name})", "{!r} is not a finite number"
    if column.kind == "words":
        known = f" OR NOT list_has_all([{allowed}], {name})" if allowed else ""
        condition = f"len({name}) <> list_aggregate({name}, 'count'){known}"
        return condition, f"{{!r}} has a word that is none of {allowed or 'text'}"
    if allowed:
        return f"{name} NOT IN ({allowed})", f"{{!r}} is none of {allowed}"
    return None


def _shown(columns: Iterable[str], values: Iterable[object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in zip(columns, values, strict=True))


def _near(name: str, known: Iterable[str]) -> str:
    matches = get_close_matches(name, list(known), 1)
    return f"; perhaps {matches[0]!r} is meant" if matches else ""
