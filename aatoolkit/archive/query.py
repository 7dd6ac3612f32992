"""Query a whole archive: SQL, Dask, and an overview of its tables."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds

from aatoolkit._util.defaults import needed
from aatoolkit.archive import tables as declared
from aatoolkit.archive.schema import MOMENT, among
from aatoolkit.archive.snapshot import OWN, Selection, Snapshot, identifier, new_database
from aatoolkit.archive.store import ArchiveStore, duckdb
from aatoolkit.errors import ArchiveError, did_you_mean, near_matches

if TYPE_CHECKING:
    import pandas as pd


_UNKNOWN_TABLE = re.compile(r"Table with name (?P<name>\S+) does not exist!")


def relation(snapshot: Snapshot, query: str, until: datetime | None) -> Any:
    """Ask a query of views of the tables; it can reach no other file, and no setting.

    Raises
    ------
    ArchiveError
        If the query is not valid, or is no question.
    """
    with _typed(snapshot):
        return _asked(snapshot, query, until)


def frame_of_query(snapshot: Snapshot, query: str, until: datetime | None) -> pd.DataFrame:
    """The rows of a query; what fails while they are computed is an `ArchiveError` too."""
    with _typed(snapshot):
        frame: pd.DataFrame = _asked(snapshot, query, until).df()
        return frame


@contextlib.contextmanager
def _typed(snapshot: Snapshot) -> Iterator[None]:
    """Convert the errors of DuckDB to `ArchiveError`, with what to do."""
    problem = ""
    try:
        yield
    except duckdb().Error as error:
        problem = snapshot.store.masked(str(error))
        unknown = _UNKNOWN_TABLE.search(problem)
        if unknown:  # DuckDB suggests its own tables, and knows no other yet
            known = [table for _, table in declared.stored_tables(snapshot.store).values()]
            hint = did_you_mean(near_matches(unknown["name"], [*known, *OWN]))
            problem = "; ".join(filter(None, (f"there is no table {unknown['name']!r}", hint)))
        elif "disabled by configuration" in problem or "has been locked" in problem:
            problem += "; a query reads the archive's tables alone, which help(Archive.sql) lists"
    except UnicodeError:
        problem = "it is not text that can be encoded; take out lone surrogates"
    if problem:
        raise ArchiveError(f"the query failed: {problem}", path=snapshot.store.root)


def _asked(snapshot: Snapshot, query: str, until: datetime | None) -> Any:
    engine = duckdb()
    # A database of its own, for what locks it down holds for all of its connections.
    connection = new_database()
    connection.execute("SET TimeZone = 'UTC'")
    statements = []
    if isinstance(query, str):
        query.encode()  # DuckDB's own error would say nothing of it
        statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != engine.StatementType.SELECT:
        raise ArchiveError("sql takes one SELECT, which changes nothing")
    # Not get_table_names, which binds a query before there are tables, and fails at USING.
    ((tree,),) = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()
    names = {name.strip('"') for name in _table_names(json.loads(tree))}
    files: list[str] = []
    for view, path in views(snapshot, names).items():
        if view == "columns":
            connection.register(view, columns_of(snapshot))
            continue
        hidden = view if until is None else f"{view} of all times"
        snapshot.view(connection, hidden, path)
        files += snapshot.files(path).paths if snapshot.store.is_local else ()
        if hidden != view:
            _limit(connection, view, hidden, until)
    connection.execute("SET allowed_paths = $1", [files])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection.sql(query)


def _table_names(tree: Any) -> Iterator[str]:
    """Yield the names of tables in the syntax tree of a query."""
    for name, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if name == "table_name" and isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            yield from _table_names(part)


def views(snapshot: Snapshot, names: set[str]) -> dict[str, str]:
    """The tables that names in a query stand for, as paths."""
    found: dict[str, str] = {}
    for path, (section, table) in declared.stored_tables(snapshot.store).items():
        for name in (table, f"{section}__{table}"):
            if name in names:
                if name in found:
                    raise ArchiveError(
                        f"two sections have a table {name}; write SECTION__{name} in the query"
                    )
                found[name] = path
    found |= {name: name for name in (*OWN, "columns") if name in names and name not in found}
    return found


def _limit(connection: Any, view: str, whole: str, until: datetime | None) -> None:
    """Create a temporary view of a table's rows that were fetched until a moment."""
    names = [row[0] for row in connection.execute(f"DESCRIBE {identifier(whole)}").fetchall()]
    where = "true"
    if "fetched_at" in names:
        where = Selection(until=until).where
    connection.execute(
        f"CREATE TEMP VIEW {identifier(view)} AS SELECT * FROM {identifier(whole)} WHERE {where}"
    )


def overview(snapshot: Snapshot, until: datetime | None) -> pd.DataFrame:
    """One row per table: rows, responses, hosts, days, files and bytes."""
    counted: Mapping[tuple[str, str], Mapping[str, Any]] = {}
    if snapshot.has("frames"):
        rows = snapshot.rows(
            'SELECT section, "table", sum(rows)::BIGINT AS rows, count(*) AS responses, '
            "count(DISTINCT host) AS hosts, min(fetched_at)::DATE AS first_day, "
            "max(fetched_at)::DATE AS last_day FROM frames "
            f"WHERE {Selection(until=until).where} GROUP BY ALL",
            "frames",
        )
        counted = {(row["section"], row["table"]): row for row in rows}
    found = []
    for path, place in declared.stored_tables(snapshot.store).items():
        files = snapshot.files(path)
        if files.table is None:
            # The first run was killed before the table was made; adding again makes it.
            continue
        facts = counted.get(place, {})
        found.append(
            {
                "section": place[0],
                "table": place[1],
                # A table of which no response was added has no rows, and no days.
                **{name: facts.get(name, 0) for name in ("rows", "responses", "hosts")},
                **{name: facts.get(name) for name in ("first_day", "last_day")},
                "files": len(files.paths),
                "bytes": files.size,
            }
        )
    counts = ("rows", "responses", "hosts", "files", "bytes")
    kinds = {"section": pa.string(), "table": pa.string(), **dict.fromkeys(counts[:3], pa.int64())}
    kinds |= dict.fromkeys(("first_day", "last_day"), pa.date32())
    kinds |= dict.fromkeys(counts[3:], pa.int64())
    return _frame(pa.Table.from_pylist(found, pa.schema(kinds)), "numpy_nullable")


def columns_of(snapshot: Snapshot) -> pa.Table:
    """Unit, rule and meaning of every column of the declared tables."""
    rows = []
    for path in declared.stored_tables(snapshot.store):
        loaded = declared.load(snapshot.store, path)
        if loaded is None:
            continue
        for name, column in loaded[1].columns.items():
            rows.append(
                {
                    "section": loaded[1].section,
                    "table": loaded[1].table.name,
                    "column": name,
                    "dtype": column.dtype,
                    "unit": column.unit,
                    "aggregation": str(column.aggregate),
                    "is_key": name in loaded[1].key,
                    "description": column.doc,
                }
            )
    return pa.Table.from_pylist(rows)


def dask_frame(snapshot: Snapshot, path: str, until: datetime | None) -> Any:
    """A table as a Dask DataFrame, one partition a file."""
    with needed("a Dask DataFrame needs", "scale"):
        import dask.dataframe as dd
    found = snapshot.files(path)
    if found.table is None:
        raise ArchiveError(f"the archive has no table {path}", path=snapshot.store.root)
    empty = _frame(found.schema.empty_table())
    if not found.paths:
        return dd.from_pandas(empty, npartitions=1)
    how = {"store": snapshot.store, "path": path, "schema": found.schema, "until": until}
    return dd.from_map(
        _read_file, list(found.paths), **how, hidden=sorted(found.hidden), meta=empty
    )


def _read_file(
    file: str,
    *,
    store: ArchiveStore,
    path: str,
    schema: pa.Schema,
    hidden: list[str],
    until: datetime | None,
) -> pd.DataFrame:
    """One file, in whichever process; only an object store needs its table opened there."""
    condition = ~among("run", hidden)
    if until is not None:
        condition &= ds.field("fetched_at") <= pa.scalar(until, MOMENT)
    part = ds.dataset(
        file if store.is_local else file.removeprefix(f"{store.root}/"),
        schema=schema,
        format="parquet",
        filesystem=None if store.is_local else store.files,
        partitioning=ds.partitioning(pa.schema([pa.field("month", pa.string())]), flavor="hive"),
    )
    return _frame(part.to_table(filter=condition))


def _frame(rows: pa.Table, backend: str = "pyarrow") -> pd.DataFrame:
    from aatoolkit.normalizer.to_pandas import to_frame

    return to_frame(rows, backend)
