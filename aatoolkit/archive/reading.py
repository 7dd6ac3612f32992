"""Read tables of an archive as DataFrames with metadata: units, sources and missing data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from aatoolkit._util.defaults import needed
from aatoolkit.archive.responses import USABLE, source_of
from aatoolkit.archive.schema import (
    FILTER_COLUMNS,
    FRAMES,
    HISTORY_COLUMNS,
    OWN_SCHEMAS,
    STATEMENT_TABLES,
    StoredTable,
    load_stored_table,
    stored_tables,
)
from aatoolkit.archive.snapshot import Selection, Snapshot, identifier, literal
from aatoolkit.archive.store import MOMENT, ArchiveStore
from aatoolkit.availability import UNKNOWN, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.errors import ScopeError, unknown
from aatoolkit.frame.cell_status import MEASURED
from aatoolkit.frame.merge import unique_key
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import NO_METADATA, ColumnMetadata, FrameMetadata, attach
from aatoolkit.metadata.column import with_failures
from aatoolkit.metadata.recipe import Recipe
from aatoolkit.normalizer.columns import encode_categories, to_frame

_RESPONSE_KEY = ("run", "section", "sha256", "fetched_at", "host", "days", *FILTER_COLUMNS)
"""The columns that identify a response, in ``responses`` and in all other tables."""

_ROWS = "rows of the table"
"""The name of the table's view in SQL."""

_MOST_STATEMENTS = 400
"""The largest number of statements about availability that the metadata of a DataFrame has."""


ResponseState = dict[str, Any]
"""A row of the table ``responses``; ``states`` says as JSON which columns were measured."""


class TableReader:
    """Reads one table of an archive as a DataFrame.

    If no table is named, it is the first table of the section.
    """

    def __init__(self, snapshot: Snapshot, section: str, table: str | None) -> None:
        self.snapshot = snapshot
        archived_tables = stored_tables(snapshot.store)
        sections = dict.fromkeys(name for name, _ in archived_tables.values())
        section_name = section if section in sections else str(section).replace("-", "_")
        paths = {
            name: path
            for path, (table_section, name) in archived_tables.items()
            if table_section == section_name
        }
        noun, name, valid_names = "section", str(section), [*sections]
        if paths and table is not None:
            noun, name, valid_names = f"{section_name} table", str(table), [*paths]
        if not paths or table not in (None, *paths):
            raise ScopeError(
                unknown(f"archived {noun}", name, valid_names),
                parameter=noun.split()[0],
                unknown=(name,),
            )
        self.path = paths[table or next(iter(paths))]
        self.stored_table = load_stored_table(snapshot.store, self.path)
        self.section_and_table = {"section": section_name, "table": self.stored_table.table.name}

    def check(self, selection: Selection) -> None:
        """Raise `ScopeError` if the archive has no response from the selected hosts and time."""
        section, scope = self.section_and_table["section"], selection.scope
        responses = self.snapshot.rows(
            "SELECT host, scope, min(fetched_at) AS first FROM responses WHERE section = $1 "
            "GROUP BY ALL ORDER BY ALL",
            "responses",
            values=[section],
        )
        criteria = {"host": selection.hosts, "scope": (scope._to_query(),) if scope else None}
        for parameter, values in criteria.items():
            if values is None:
                continue
            archived_values = dict.fromkeys(row[parameter] for row in responses)
            for value in values:
                if value not in archived_values:
                    problem = unknown(f"archived {parameter} of {section}", value, archived_values)
                    raise ScopeError(problem, parameter=parameter, unknown=(value,))
            responses = [row for row in responses if row[parameter] in values]
        earliest = min((row["first"] for row in responses), default=None)
        if earliest and selection.until and selection.until < earliest:
            raise ScopeError(
                f"the first response of {section} is of {earliest}; read until a later time",
                parameter="until",
            )

    def read(self, selection: Selection) -> pd.DataFrame:
        """Return the rows of the selected responses as a DataFrame, sorted by host and time."""
        self.check(selection)
        sort_columns = ["host", "fetched_at", "days", *self.stored_table.key, "_row"]
        sql = (
            f"SELECT * FROM {identifier(_ROWS)} WHERE {selection.where} "
            f"ORDER BY {', '.join(map(identifier, sort_columns))}"
        )
        context_key = ("host", "days", *FILTER_COLUMNS, "fetched_at")
        recipe = ["archived", "read", {**self.section_and_table, **selection.to_dict()}]
        return self._build_frame(self._query(sql), selection, recipe, CONTEXT, context_key)

    def history(self, fetch_selection: Selection, day_selection: Selection) -> pd.DataFrame:
        """Return a DataFrame with one row per key and day, with the newest value of each column.

        ``fetch_selection`` selects responses by host and time of fetch. ``day_selection`` selects
        the days of the result.
        """
        self.check(fetch_selection)
        rows = self._query(
            _history_sql(self.stored_table, fetch_selection.where, day_selection), FRAMES
        )
        context = [
            "host",
            *(name for name in FILTER_COLUMNS if rows[name].null_count < rows.num_rows),
        ]
        as_of = {"as_of": fetch_selection.until.isoformat()} if fetch_selection.until else {}
        recipe = [
            "archived",
            "history",
            {**self.section_and_table, **day_selection.to_dict(), **as_of},
        ]
        return self._build_frame(
            rows, fetch_selection, recipe, context, context, HISTORY_COLUMNS, "last_seen"
        )

    def _query(self, sql: str, *paths: str) -> pa.Table:
        views: dict[str, Any] = {_ROWS: self.path}
        rows = self.snapshot.query(sql, *paths, **views)
        types = {field.name: field.type for field in self.stored_table.schema()}
        fields = [
            pa.field(
                field.name,
                types.get(field.name, MOMENT if pa.types.is_timestamp(field.type) else field.type),
            )
            for field in rows.schema
        ]
        return rows.cast(pa.schema(fields))

    def _read_states(self, selection: Selection) -> tuple[list[ResponseState], int]:
        """Return the selected responses, and the number of failed requests.

        Each response is a dict, whose entry ``states`` has the metadata of the table's columns as
        JSON.
        """
        same_response_sql = " AND ".join(
            f"f.{name} IS NOT DISTINCT FROM a.{name}" for name in _RESPONSE_KEY
        )
        states = self.snapshot.rows(
            "SELECT a.* EXCLUDE (body), f.states FROM "
            f'(SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND {selection.where}) '
            f"f JOIN (SELECT * FROM responses WHERE {USABLE}) a ON {same_response_sql} "
            "ORDER BY a.fetched_at, a.host, a.days",
            FRAMES,
            "responses",
            values=[*self.section_and_table.values()],
        )
        failed_requests = self.snapshot.rows(
            f"SELECT host FROM responses WHERE section = $1 AND {selection.where} "
            "GROUP BY host, scope, fetched_at::DATE HAVING bool_and(error IS NOT NULL)",
            "responses",
            values=[self.section_and_table["section"]],
        )
        return states, len(failed_requests)

    def _build_frame(
        self,
        rows: pa.Table,
        selection: Selection,
        recipe: Recipe,
        context: Sequence[str],
        context_key: Sequence[str],
        extra_columns: Sequence[str] = (),
        moment_column: str = "fetched_at",
    ) -> pd.DataFrame:
        """Convert rows from Arrow to a DataFrame with metadata.

        Parameters
        ----------
        rows : pyarrow.Table
            The rows, with all columns.
        selection : Selection
            The responses that the rows come from.
        recipe : list
            The method and arguments by which the DataFrame can be read again.
        context : sequence of str
            The columns to put first, such as ``host``.
        context_key : sequence of str
            The columns that identify a row, together with the key of the table.
        extra_columns : sequence of str
            The columns to put last, such as ``revisions``.
        moment_column : str
            The column with the time of fetch.
        """
        table = self.stored_table
        responses, failed_count = self._read_states(selection)
        names = [name for name in rows.column_names if name in table.columns]
        row_key = [*context_key, *table.key]
        if rows["_row"].null_count < rows.num_rows:
            extra_columns, row_key = ["_row", *extra_columns], [*row_key, "_row"]
        frame = to_frame(_with_categories(rows.select([*context, *names, *extra_columns]), table))
        columns = self._column_metadata(names, responses, moment_column)
        if failed_count:
            columns = with_failures(columns, failed_count, len(responses))
        metadata = FrameMetadata(
            {name: columns.get(name, MEASURED) for name in map(str, frame.columns)},
            unique_key(frame, tuple(dict.fromkeys(row_key))) if table.key else (),
            tuple(dict.fromkeys(map(source_of, responses))),
            recipe=recipe,
        )
        return attach(frame, metadata)

    def _column_metadata(
        self, names: Sequence[str], responses: Sequence[ResponseState], moment_column: str
    ) -> dict[str, ColumnMetadata]:
        """Combine the metadata of columns from several responses.

        If the responses differ, the result says for which hosts and times a column was measured.
        """
        table = self.stored_table
        declared_names = {name: column.name for name, column in table.columns.items()}
        stored_names = {column: name for name, column in declared_names.items()}
        groups: dict[str, list[ResponseState]] = {}
        for response in responses:
            groups.setdefault(response["states"], []).append(response)
        columns_by_states = {states: FrameMetadata.loads(states).columns for states in groups}
        conditions = _group_conditions(groups, moment_column)
        columns = {}
        for name in names:
            qualified_name = f"{table.prefix}{table.table.name}.{declared_names[name]}"
            metadatas = {
                states: state_columns.get(declared_names[name], NO_METADATA).renamed(stored_names)
                for states, state_columns in columns_by_states.items()
            }
            if (
                len(
                    {
                        (column.other_availability, column.statements)
                        for column in metadatas.values()
                    }
                )
                == 1
            ):
                columns[name] = replace(
                    next(iter(metadatas.values())), declared_name=qualified_name
                )
                continue
            availabilities = [column.availability for column in metadatas.values()]
            statements: tuple[Statement, ...] = ()
            if conditions is None:
                availabilities += [
                    statement.availability
                    for column in metadatas.values()
                    for statement in column.statements
                ]
            for states, row_conditions in conditions or ():
                statements += metadatas[states].statements_within(*row_conditions)
            columns[name] = ColumnMetadata(
                qualified_name, combine(availabilities) if availabilities else UNKNOWN, statements
            )
        return columns


def _group_conditions(
    groups: Mapping[str, Sequence[ResponseState]], moment_column: str
) -> list[tuple[str, tuple[Condition, ...]]] | None:
    """Return conditions on host and time that select the rows of each group of responses.

    Returns
    -------
    list of (str, tuple of Condition), optional
        The key of a group, and the conditions that its rows meet, such as ``host in a.example``.
        None
        if there are too many.
    """
    hosts_by_states = {
        states: sorted({row["host"] for row in group}) for states, group in groups.items()
    }
    group_counts = Counter(host for group_hosts in hosts_by_states.values() for host in group_hosts)
    conditions: list[tuple[str, tuple[Condition, ...]]] = []
    for states, group in groups.items():
        own_hosts = tuple(host for host in hosts_by_states[states] if group_counts[host] == 1)
        if own_hosts:
            conditions.append((states, (Condition("host", "in", own_hosts),)))
        for host in [host for host in hosts_by_states[states] if group_counts[host] > 1]:
            moments = sorted({row["fetched_at"] for row in group if row["host"] == host})
            times = tuple(moment.astimezone(UTC).isoformat() for moment in moments)
            row_conditions = Condition("host", "in", (host,)), Condition(moment_column, "in", times)
            conditions.append((states, row_conditions))
    return conditions if len(conditions) <= _MOST_STATEMENTS else None


def _with_categories(rows: pa.Table, table: StoredTable) -> pa.Table:
    """Return an Arrow table whose categorical columns are dictionary-encoded."""
    for name, column in table.columns.items():
        if column.dtype == "category" and name in rows.column_names:
            texts = rows[name].combine_chunks()
            new_levels = {*texts.unique().to_pylist()} - {*column.levels, None}
            categories = encode_categories(
                texts, column, () if column.ordered else sorted(new_levels)
            )
            rows = rows.set_column(rows.column_names.index(name), name, categories)
    return rows


# -- history -----------------------------------------------------------------------------------


def _history_sql(table: StoredTable, where: str, day_selection: Selection) -> str:
    """Return the SQL query for the history of a table: one row per key and day."""
    moment_sql = identifier(str(table.moment))
    key = ["host", *FILTER_COLUMNS, *table.key, "_row"]
    value_columns = [name for name in table.columns if name not in key]
    partition = ", ".join(map(identifier, key))
    columns = ", ".join(map(identifier, (*key, *value_columns)))
    packed_row = f"row({', '.join(map(identifier, value_columns))})" if value_columns else "row(1)"
    known_sql = " OR ".join(f"{identifier(name)} IS NOT NULL" for name in value_columns) or "true"
    same_scope = " AND ".join(
        f"c.{name} IS NOT DISTINCT FROM f.{name}" for name in ("host", *FILTER_COLUMNS)
    )
    value_window = f'PARTITION BY {partition}, "aa known" ORDER BY fetched_at, days'
    conditions = [
        '("aa covered" IS NULL OR "aa covered" <= "aa last")',
        *day_selection.period_conditions(moment_sql),
    ]
    return f"""
    WITH stored AS (
        SELECT {columns}, fetched_at, days, ({known_sql}) AS "aa known", {packed_row} AS "aa packed"
        FROM {identifier(_ROWS)} WHERE {where}
    ), numbered AS (
        SELECT *,
            row_number() OVER (PARTITION BY {partition}
                ORDER BY "aa known" DESC, fetched_at DESC, days DESC) AS "aa place",
            min(fetched_at) OVER (PARTITION BY {partition}) AS first_seen,
            max(fetched_at) OVER (PARTITION BY {partition}) AS "aa last",
            row_number() OVER ({value_window}) AS "aa nth",
            lag("aa packed") OVER ({value_window}) AS "aa before"
        FROM stored
    ), changed AS (
        SELECT *, "aa known" AND "aa nth" > 1 AND "aa packed" IS DISTINCT FROM "aa before"
            AS "aa change"
        FROM numbered
    ), counted AS (
        SELECT *,
            sum("aa change"::BIGINT) OVER (PARTITION BY {partition}) AS "aa revised",
            max(CASE WHEN "aa change" THEN fetched_at END) OVER (PARTITION BY {partition})
                AS "aa changed"
        FROM changed
    ), f AS (SELECT * FROM counted WHERE "aa place" = 1
    ), covering AS (
        SELECT * FROM frames
        WHERE "table" = {literal(table.table.name)} AND section = {literal(table.section)}
        AND is_whole AND {where}
    ), judged AS (
        SELECT f.*, (
            SELECT max(c.fetched_at) FROM covering c
            WHERE {same_scope}
            AND CAST(f.{moment_sql} AS DATE) BETWEEN c.window_start AND c.window_end
        ) AS "aa covered" FROM f
    )
    SELECT {columns}, first_seen, fetched_at AS last_seen,
        coalesce("aa changed", first_seen) AS last_changed,
        CAST("aa revised" AS BIGINT) AS revisions
    FROM judged WHERE {" AND ".join(conditions)} ORDER BY host, {moment_sql}, {partition}
    """


# -- all tables --------------------------------------------------------------------------------


def sql_tables(snapshot: Snapshot) -> dict[str, Any]:
    """Return a dict from each table name that a user's SQL query may use to the table's path.

    The value is a list if two sections have a table of this name, and a function if the table is
    computed.
    """
    tables: dict[str, Any] = {}
    for path, (section, table) in stored_tables(snapshot.store).items():
        tables[table] = [table] if table in tables else path
        tables[f"{section}__{table}"] = path
    return {
        **{name: name for name in OWN_SCHEMAS},
        "columns": lambda: _columns_of(snapshot),
        **tables,
    }


def _columns_of(snapshot: Snapshot) -> pa.Table:
    """Return an Arrow table with one row per column of the archive: its unit and meaning."""
    rows = []
    for path in filter(snapshot.has, stored_tables(snapshot.store)):
        stored_table = load_stored_table(snapshot.store, path)
        rows += [
            {
                "section": stored_table.section,
                "table": stored_table.table.name,
                "column": name,
                "dtype": column.dtype,
                "unit": column.unit,
                "aggregation": str(column.aggregate),
                "is_key": name in stored_table.key,
                "description": column.doc,
            }
            for name, column in stored_table.columns.items()
        ]
    return pa.Table.from_pylist(rows)


def overview(snapshot: Snapshot, until: datetime | None) -> pd.DataFrame:
    """Return a DataFrame with one row per table: its rows, responses, hosts, files and bytes.

    Responses fetched after ``until`` are left out.
    """
    rows: list[dict[str, Any]] = []
    for path, (section, table) in stored_tables(snapshot.store).items():
        files = snapshot.files(path)
        # If the first run was killed, a table may be listed that was not created.
        if files.table is not None:
            rows.append(
                {
                    "section": section,
                    "table": table,
                    "files": len(files.paths),
                    "bytes": files.size,
                    "place": len(rows),
                }
            )
    types = dict.fromkeys(("section", "table"), "string")
    types |= dict.fromkeys(("files", "bytes", "place"), "int64")
    frames = FRAMES if snapshot.has(FRAMES) else STATEMENT_TABLES[FRAMES].empty_table()
    return to_frame(
        snapshot.query(
            'SELECT t.section, t."table", coalesce(sum(f.rows), 0)::BIGINT AS rows, '
            "count(f.host) AS responses, count(DISTINCT f.host) AS hosts, "
            "min(f.fetched_at)::DATE AS first_day, max(f.fetched_at)::DATE AS last_day, "
            "t.files, t.bytes FROM stored t LEFT JOIN (SELECT * FROM stated "
            f'WHERE {Selection(until=until).where}) f USING (section, "table") '
            'GROUP BY t.section, t."table", t.files, t.bytes, t.place ORDER BY t.place',
            stored=pa.Table.from_pylist(rows, pa.schema(types)),
            stated=frames,
        ),
        "numpy_nullable",
    )


def dask_frame(snapshot: Snapshot, path: str, until: datetime | None) -> Any:
    """Return a table as a Dask DataFrame with one partition per file.

    Rows fetched after ``until`` are left out.
    """
    with needed("a Dask DataFrame needs", "scale"):
        import dask.dataframe as dd
    files = snapshot.files(path)
    empty_frame = to_frame(files.schema.empty_table(), "pyarrow")
    if not files.paths:
        return dd.from_pandas(empty_frame, npartitions=1)
    condition = ~ds.field("run").isin(pa.array(sorted(files.hidden_runs), "string"))
    if until is not None:
        condition &= ds.field("fetched_at") <= pa.scalar(until, MOMENT)
    options = {"store": snapshot.store, "schema": files.schema, "condition": condition}
    return dd.from_map(_read_file, list(files.paths), **options, meta=empty_frame)


def _read_file(
    file: str, *, store: ArchiveStore, schema: pa.Schema, condition: ds.Expression
) -> pd.DataFrame:
    """Read the rows of one Parquet file that meet a condition, as a DataFrame."""
    dataset = ds.dataset(
        file if store.is_local else file.removeprefix(f"{store.root}/"),
        schema=schema,
        format="parquet",
        filesystem=None if store.is_local else store.files,
        partitioning=ds.partitioning(pa.schema({"month": "string"}), flavor="hive"),
    )
    return to_frame(dataset.to_table(filter=condition), "pyarrow")
