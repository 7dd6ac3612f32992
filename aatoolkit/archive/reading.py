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

from aatoolkit._util.defaults import require_package
from aatoolkit._util.grouping import group_values
from aatoolkit.archive.responses import USABLE_SQL, row_to_source
from aatoolkit.archive.schema import (
    FILTER_COLUMNS,
    FRAMES_TABLE,
    HISTORY_COLUMNS,
    STATEMENT_SCHEMAS,
    SYSTEM_SCHEMAS,
    StoredTable,
    load_stored_table,
    stored_tables,
)
from aatoolkit.archive.snapshot import Selection, Snapshot, quote_name, quote_value
from aatoolkit.archive.store import MOMENT_TYPE, ArchiveStore
from aatoolkit.availability import UNKNOWN, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.errors import ScopeError, unknown
from aatoolkit.frame.cell_status import MEASURED_COLUMN
from aatoolkit.frame.merge import unique_key
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import NO_METADATA, ColumnMetadata, FrameMetadata, attach
from aatoolkit.metadata.column import with_failed_responses
from aatoolkit.metadata.recipe import Recipe
from aatoolkit.normalizer.columns import encode_categories, to_frame

_RESPONSE_KEY_COLUMNS = ("run", "section", "sha256", "fetched_at", "host", "days", *FILTER_COLUMNS)
"""The columns that identify a response, in the table ``responses`` and in ``frames``."""

_ROWS_VIEW = "rows of the table"
"""The name that the table to read has in SQL queries."""

_MAX_STATEMENTS = 400
"""How many statements on the availability of some rows the metadata of a DataFrame can have."""


ResponseRow = dict[str, Any]
"""A row of the table ``responses`` as a dict, with one more entry.

The entry ``states`` has the metadata of a table's columns as JSON: whether each was measured.
"""


class TableReader:
    """Reads one table of an archive as a DataFrame.

    ``snapshot`` is the archive as of one moment. ``section`` and ``table`` are names; if ``table``
    is None, the first table of the section is read.
    """

    def __init__(self, snapshot: Snapshot, section: str, table: str | None) -> None:
        self.snapshot = snapshot
        archived_tables = stored_tables(snapshot.store)
        section_names = dict.fromkeys(name for name, _ in archived_tables.values())
        section_name = section if section in section_names else str(section).replace("-", "_")
        path_by_table = {
            table_name: path
            for path, (table_section, table_name) in archived_tables.items()
            if table_section == section_name
        }
        item_kind = "section"
        requested_name = str(section)
        existing_names = [*section_names]
        if path_by_table and table is not None:
            item_kind = f"{section_name} table"
            requested_name = str(table)
            existing_names = [*path_by_table]
        if not path_by_table or table not in (None, *path_by_table):
            raise ScopeError(
                unknown(f"archived {item_kind}", requested_name, existing_names),
                parameter=item_kind.split()[-1],
                unknown=(requested_name,),
            )
        self.path = path_by_table[table or next(iter(path_by_table))]
        self.stored_table = load_stored_table(snapshot.store, self.path)
        self.section_and_table = {"section": section_name, "table": self.stored_table.table.name}

    def check_selection(self, selection: Selection) -> None:
        """Raise `ScopeError` if the archive lacks responses of the section that were selected.

        The archive must have a response of each selected host, one with the selected scope, and
        one fetched before the last selected moment.
        """
        section = self.section_and_table["section"]
        scope = selection.scope
        request_rows = self.snapshot.rows(
            "SELECT host, scope, min(fetched_at) AS first FROM responses WHERE section = $1 "
            "GROUP BY ALL ORDER BY ALL",
            "responses",
            parameters=[section],
        )
        selected_values = {
            "host": selection.hosts,
            "scope": (scope._to_query(),) if scope else None,
        }
        for column, values in selected_values.items():
            if values is None:
                continue
            archived_values = dict.fromkeys(row[column] for row in request_rows)
            for value in values:
                if value not in archived_values:
                    problem = unknown(f"archived {column} of {section}", value, archived_values)
                    raise ScopeError(problem, parameter=column, unknown=(value,))
            request_rows = [row for row in request_rows if row[column] in values]
        first_fetched_at = min((row["first"] for row in request_rows), default=None)
        if first_fetched_at and selection.until and selection.until < first_fetched_at:
            raise ScopeError(
                f"the first response of {section} is of {first_fetched_at}; read until a later "
                "time",
                parameter="until",
            )

    def read(self, selection: Selection) -> pd.DataFrame:
        """Return the rows of the selected responses as a DataFrame, sorted by host and time."""
        self.check_selection(selection)
        sort_columns = ["host", "fetched_at", "days", *self.stored_table.key, "_row"]
        sql = (
            f"SELECT * FROM {quote_name(_ROWS_VIEW)} WHERE {selection.where_sql} "
            f"ORDER BY {', '.join(map(quote_name, sort_columns))}"
        )
        context_key = ("host", "days", *FILTER_COLUMNS, "fetched_at")
        recipe = ["archived", "read", {**self.section_and_table, **selection.to_dict()}]
        return self._build_frame(self._query(sql), selection, recipe, CONTEXT_COLUMNS, context_key)

    def history(self, fetch_selection: Selection, day_selection: Selection) -> pd.DataFrame:
        """Return a DataFrame with one row per key and day: the newest row that has values.

        ``fetch_selection`` selects responses by host, filters and time of fetch. ``day_selection``
        selects the days of the result.
        """
        self.check_selection(fetch_selection)
        rows = self._query(
            _history_sql(self.stored_table, fetch_selection.where_sql, day_selection), FRAMES_TABLE
        )
        key_columns = [
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
            rows, fetch_selection, recipe, key_columns, key_columns, HISTORY_COLUMNS, "last_seen"
        )

    def _query(self, sql: str, *paths: str) -> pa.Table:
        views: dict[str, Any] = {_ROWS_VIEW: self.path}
        rows = self.snapshot.query(sql, *paths, **views)
        type_by_column = {field.name: field.type for field in self.stored_table.schema()}
        fields = [
            pa.field(
                field.name,
                type_by_column.get(
                    field.name, MOMENT_TYPE if pa.types.is_timestamp(field.type) else field.type
                ),
            )
            for field in rows.schema
        ]
        return rows.cast(pa.schema(fields))

    def _read_responses(self, selection: Selection) -> tuple[list[ResponseRow], int]:
        """Return the selected responses that were converted to the table, and a number of failures.

        Each response is a dict, whose entry ``states`` has the metadata of the table's columns as
        JSON. A request of which all attempts of a day failed counts as one failure.
        """
        same_response_sql = " AND ".join(
            f"f.{name} IS NOT DISTINCT FROM a.{name}" for name in _RESPONSE_KEY_COLUMNS
        )
        responses = self.snapshot.rows(
            "SELECT a.* EXCLUDE (body), f.states FROM "
            f'(SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND {selection.where_sql}) '
            f"f JOIN (SELECT * FROM responses WHERE {USABLE_SQL}) a ON {same_response_sql} "
            "ORDER BY a.fetched_at, a.host, a.days",
            FRAMES_TABLE,
            "responses",
            parameters=[*self.section_and_table.values()],
        )
        failed_requests = self.snapshot.rows(
            f"SELECT host FROM responses WHERE section = $1 AND {selection.where_sql} "
            "GROUP BY host, scope, fetched_at::DATE HAVING bool_and(error IS NOT NULL)",
            "responses",
            parameters=[self.section_and_table["section"]],
        )
        return responses, len(failed_requests)

    def _build_frame(
        self,
        rows: pa.Table,
        selection: Selection,
        recipe: Recipe,
        leading_columns: Sequence[str],
        context_key: Sequence[str],
        trailing_columns: Sequence[str] = (),
        time_column: str = "fetched_at",
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
        leading_columns : sequence of str
            The columns to put first, such as ``host``.
        context_key : sequence of str
            The columns that identify a row of the result, together with the key of the table.
        trailing_columns : sequence of str
            The columns to put last, such as ``revisions``.
        time_column : str
            The column with the time at which the row was fetched.
        """
        table = self.stored_table
        responses, failed_count = self._read_responses(selection)
        columns = [name for name in rows.column_names if name in table.columns]
        row_key = [*context_key, *table.key]
        if rows["_row"].null_count < rows.num_rows:
            trailing_columns = ["_row", *trailing_columns]
            row_key = [*row_key, "_row"]
        frame = to_frame(
            _encode_category_columns(
                rows.select([*leading_columns, *columns, *trailing_columns]), table
            )
        )
        column_metadata = self._combine_column_metadata(columns, responses, time_column)
        if failed_count:
            column_metadata = with_failed_responses(column_metadata, failed_count, len(responses))
        metadata = FrameMetadata(
            {name: column_metadata.get(name, MEASURED_COLUMN) for name in map(str, frame.columns)},
            unique_key(frame, tuple(dict.fromkeys(row_key))) if table.key else (),
            tuple(dict.fromkeys(map(row_to_source, responses))),
            recipe=recipe,
        )
        return attach(frame, metadata)

    def _combine_column_metadata(
        self, names: Sequence[str], responses: Sequence[ResponseRow], time_column: str
    ) -> dict[str, ColumnMetadata]:
        """Combine the metadata that the columns ``names`` have in several responses.

        If the metadata differs between responses, the result says for which hosts and times a
        column was measured. ``time_column`` is the column with the time of fetch.
        """
        table = self.stored_table
        declared_names = {name: column.name for name, column in table.columns.items()}
        stored_names = {column: name for name, column in declared_names.items()}
        responses_by_metadata: dict[str, list[ResponseRow]] = group_values(
            (response["states"], response) for response in responses
        )
        columns_by_metadata = {
            metadata_json: FrameMetadata.loads(metadata_json).columns
            for metadata_json in responses_by_metadata
        }
        metadata_and_conditions = _list_conditions(responses_by_metadata, time_column)
        combined_metadata = {}
        for name in names:
            qualified_name = f"{table.prefix}{table.table.name}.{declared_names[name]}"
            metadata_variants = {
                metadata_json: metadata_columns.get(declared_names[name], NO_METADATA).renamed(
                    stored_names
                )
                for metadata_json, metadata_columns in columns_by_metadata.items()
            }
            if (
                len(
                    {
                        (column.default_availability, column.statements)
                        for column in metadata_variants.values()
                    }
                )
                == 1
            ):
                combined_metadata[name] = replace(
                    next(iter(metadata_variants.values())), declared_name=qualified_name
                )
                continue
            availabilities = [column.availability for column in metadata_variants.values()]
            statements: tuple[Statement, ...] = ()
            if metadata_and_conditions is None:
                availabilities += [
                    statement.availability
                    for column in metadata_variants.values()
                    for statement in column.statements
                ]
            for metadata_json, row_conditions in metadata_and_conditions or ():
                statements += metadata_variants[metadata_json].statements_within(*row_conditions)
            combined_metadata[name] = ColumnMetadata(
                qualified_name, combine(availabilities) if availabilities else UNKNOWN, statements
            )
        return combined_metadata


def _list_conditions(
    responses_by_metadata: Mapping[str, Sequence[ResponseRow]], time_column: str
) -> list[tuple[str, tuple[Condition, ...]]] | None:
    """Return, for each group of responses, conditions on host and time that select its rows.

    Parameters
    ----------
    responses_by_metadata : mapping of str to sequence of dict
        Groups of responses in which a table's columns have the same metadata, by this metadata as
        JSON.
    time_column : str
        The column with the time of fetch.

    Returns
    -------
    list of (str, tuple of Condition), optional
        Pairs of the key of a group and conditions that some of its rows meet, such as ``host in
        a.example``. A group can have several pairs. The result is None if there are more pairs
        than `_MAX_STATEMENTS`.
    """
    hosts_by_metadata = {
        metadata_json: sorted({row["host"] for row in responses})
        for metadata_json, responses in responses_by_metadata.items()
    }
    metadata_counts = Counter(host for hosts in hosts_by_metadata.values() for host in hosts)
    conditions: list[tuple[str, tuple[Condition, ...]]] = []
    for metadata_json, responses in responses_by_metadata.items():
        uniform_hosts = tuple(
            host for host in hosts_by_metadata[metadata_json] if metadata_counts[host] == 1
        )
        if uniform_hosts:
            conditions.append((metadata_json, (Condition("host", "in", uniform_hosts),)))
        for host in [
            host for host in hosts_by_metadata[metadata_json] if metadata_counts[host] > 1
        ]:
            fetch_times = sorted({row["fetched_at"] for row in responses if row["host"] == host})
            times = tuple(fetch_time.astimezone(UTC).isoformat() for fetch_time in fetch_times)
            row_conditions = (Condition("host", "in", (host,)), Condition(time_column, "in", times))
            conditions.append((metadata_json, row_conditions))
    return conditions if len(conditions) <= _MAX_STATEMENTS else None


def _encode_category_columns(rows: pa.Table, table: StoredTable) -> pa.Table:
    """Return rows in which the columns that are declared as categories are dictionary-encoded."""
    for name, column in table.columns.items():
        if column.dtype == "category" and name in rows.column_names:
            texts = rows[name].combine_chunks()
            new_categories = {*texts.unique().to_pylist()} - {*column.levels, None}
            encoded_texts = encode_categories(
                texts, column, () if column.ordered else sorted(new_categories)
            )
            rows = rows.set_column(rows.column_names.index(name), name, encoded_texts)
    return rows


# -- history -----------------------------------------------------------------------------------


def _history_sql(table: StoredTable, condition: str, day_selection: Selection) -> str:
    """Return the SQL query for the history of a table: one row per key and day.

    ``condition`` is an SQL condition that selects responses. ``day_selection`` selects the days.
    """
    day_sql = quote_name(str(table.time_column))
    key_columns = ["host", *FILTER_COLUMNS, *table.key, "_row"]
    value_columns = [name for name in table.columns if name not in key_columns]
    key_sql = ", ".join(map(quote_name, key_columns))
    columns_sql = ", ".join(map(quote_name, (*key_columns, *value_columns)))
    struct_sql = f"row({', '.join(map(quote_name, value_columns))})" if value_columns else "row(1)"
    has_value_sql = (
        " OR ".join(f"{quote_name(name)} IS NOT NULL" for name in value_columns) or "true"
    )
    same_request_sql = " AND ".join(
        f"c.{name} IS NOT DISTINCT FROM f.{name}" for name in ("host", *FILTER_COLUMNS)
    )
    value_window_sql = f'PARTITION BY {key_sql}, "aa known" ORDER BY fetched_at, days'
    conditions = [
        '("aa covered" IS NULL OR "aa covered" <= "aa last")',
        *day_selection.time_conditions(day_sql),
    ]
    return f"""
    WITH stored AS (
        SELECT {columns_sql}, fetched_at, days, ({has_value_sql}) AS "aa known",
            {struct_sql} AS "aa packed"
        FROM {quote_name(_ROWS_VIEW)} WHERE {condition}
    ), numbered AS (
        SELECT *,
            row_number() OVER (PARTITION BY {key_sql}
                ORDER BY "aa known" DESC, fetched_at DESC, days DESC) AS "aa place",
            min(fetched_at) OVER (PARTITION BY {key_sql}) AS first_seen,
            max(fetched_at) OVER (PARTITION BY {key_sql}) AS "aa last",
            row_number() OVER ({value_window_sql}) AS "aa nth",
            lag("aa packed") OVER ({value_window_sql}) AS "aa before"
        FROM stored
    ), changed AS (
        SELECT *, "aa known" AND "aa nth" > 1 AND "aa packed" IS DISTINCT FROM "aa before"
            AS "aa change"
        FROM numbered
    ), counted AS (
        SELECT *,
            sum("aa change"::BIGINT) OVER (PARTITION BY {key_sql}) AS "aa revised",
            max(CASE WHEN "aa change" THEN fetched_at END) OVER (PARTITION BY {key_sql})
                AS "aa changed"
        FROM changed
    ), f AS (SELECT * FROM counted WHERE "aa place" = 1
    ), covering AS (
        SELECT * FROM frames
        WHERE "table" = {quote_value(table.table.name)} AND section = {quote_value(table.section)}
        AND is_whole AND {condition}
    ), judged AS (
        SELECT f.*, (
            SELECT max(c.fetched_at) FROM covering c
            WHERE {same_request_sql}
            AND CAST(f.{day_sql} AS DATE) BETWEEN c.window_start AND c.window_end
        ) AS "aa covered" FROM f
    )
    SELECT {columns_sql}, first_seen, fetched_at AS last_seen,
        coalesce("aa changed", first_seen) AS last_changed,
        CAST("aa revised" AS BIGINT) AS revisions
    FROM judged WHERE {" AND ".join(conditions)} ORDER BY host, {day_sql}, {key_sql}
    """


# -- all tables --------------------------------------------------------------------------------


def sql_tables(snapshot: Snapshot) -> dict[str, Any]:
    """Return the tables that a user's SQL query may name: a dict from the name to the path.

    If two sections have a table of this name, the value is a list with the name instead. If the
    table is computed, the value is a function that returns an Arrow table.
    """
    source_by_name: dict[str, Any] = {}
    for path, (section, table) in stored_tables(snapshot.store).items():
        source_by_name[table] = [table] if table in source_by_name else path
        source_by_name[f"{section}__{table}"] = path
    return {
        **{name: name for name in SYSTEM_SCHEMAS},
        "columns": lambda: _describe_columns(snapshot),
        **source_by_name,
    }


def _describe_columns(snapshot: Snapshot) -> pa.Table:
    """Return an Arrow table with one row per column of the archive: its unit and meaning."""
    rows = []
    for path in filter(snapshot.has_table, stored_tables(snapshot.store)):
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


def table_overview(snapshot: Snapshot, until: datetime | None) -> pd.DataFrame:
    """Return a DataFrame with one row per table: its rows, responses, hosts, files and bytes.

    Responses fetched after ``until`` are left out.
    """
    rows: list[dict[str, Any]] = []
    for path, (section, table) in stored_tables(snapshot.store).items():
        visible_files = snapshot.files_of(path)
        # If the first run was killed, a table may be listed that was not created.
        if visible_files.table is not None:
            rows.append(
                {
                    "section": section,
                    "table": table,
                    "files": len(visible_files.paths),
                    "bytes": visible_files.byte_count,
                    "place": len(rows),
                }
            )
    type_by_column = dict.fromkeys(("section", "table"), "string")
    type_by_column |= dict.fromkeys(("files", "bytes", "place"), "int64")
    frames_table = (
        FRAMES_TABLE
        if snapshot.has_table(FRAMES_TABLE)
        else STATEMENT_SCHEMAS[FRAMES_TABLE].empty_table()
    )
    return to_frame(
        snapshot.query(
            'SELECT t.section, t."table", coalesce(sum(f.rows), 0)::BIGINT AS rows, '
            "count(f.host) AS responses, count(DISTINCT f.host) AS hosts, "
            "min(f.fetched_at)::DATE AS first_day, max(f.fetched_at)::DATE AS last_day, "
            "t.files, t.bytes FROM stored t LEFT JOIN (SELECT * FROM stated "
            f'WHERE {Selection(until=until).where_sql}) f USING (section, "table") '
            'GROUP BY t.section, t."table", t.files, t.bytes, t.place ORDER BY t.place',
            stored=pa.Table.from_pylist(rows, pa.schema(type_by_column)),
            stated=frames_table,
        ),
        "numpy_nullable",
    )


def dask_frame(snapshot: Snapshot, table_path: str, until: datetime | None) -> Any:
    """Return a table of an archive as a Dask DataFrame with one partition per file.

    ``table_path`` is where the archive has the table, such as ``tables/domains/source_domains``.
    Rows fetched after ``until`` are left out.
    """
    with require_package("a Dask DataFrame needs", "scale"):
        import dask.dataframe as dd
    visible_files = snapshot.files_of(table_path)
    empty_frame = to_frame(visible_files.schema.empty_table(), "pyarrow")
    if not visible_files.paths:
        return dd.from_pandas(empty_frame, npartitions=1)
    condition = ~ds.field("run").isin(pa.array(sorted(visible_files.hidden_runs), "string"))
    if until is not None:
        condition &= ds.field("fetched_at") <= pa.scalar(until, MOMENT_TYPE)
    arguments = {"store": snapshot.store, "schema": visible_files.schema, "condition": condition}
    return dd.from_map(_read_file, list(visible_files.paths), **arguments, meta=empty_frame)


def _read_file(
    file_path: str, *, store: ArchiveStore, schema: pa.Schema, condition: ds.Expression
) -> pd.DataFrame:
    """Read the rows of one Parquet file that meet a condition, as a DataFrame."""
    dataset = ds.dataset(
        file_path if store.is_local else file_path.removeprefix(f"{store.root}/"),
        schema=schema,
        format="parquet",
        filesystem=None if store.is_local else store.file_system,
        partitioning=ds.partitioning(pa.schema({"month": "string"}), flavor="hive"),
    )
    return to_frame(dataset.to_table(filter=condition), "pyarrow")
