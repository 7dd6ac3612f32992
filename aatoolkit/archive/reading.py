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
    list_stored_tables,
    load_stored_table,
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
        section_and_table_by_path = list_stored_tables(snapshot.store)
        section_names = dict.fromkeys(name for name, _ in section_and_table_by_path.values())
        section_name = section if section in section_names else str(section).replace("-", "_")
        path_by_table = {
            table_name: path
            for path, (table_section, table_name) in section_and_table_by_path.items()
            if table_section == section_name
        }
        requested_kind = "section"
        requested_name = str(section)
        existing_names = [*section_names]
        if path_by_table and table is not None:
            requested_kind = f"{section_name} table"
            requested_name = str(table)
            existing_names = [*path_by_table]
        if not path_by_table or table not in (None, *path_by_table):
            raise ScopeError(
                unknown(f"archived {requested_kind}", requested_name, existing_names),
                parameter=requested_kind.split()[-1],
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
        section_name = self.section_and_table["section"]
        scope = selection.scope
        request_rows = self.snapshot.query_rows(
            "SELECT host, scope, min(fetched_at) AS first FROM responses WHERE section = $1 "
            "GROUP BY ALL ORDER BY ALL",
            "responses",
            parameters=[section_name],
        )
        selected_values_by_column = {
            "host": selection.hosts,
            "scope": (scope._to_query(),) if scope else None,
        }
        for column_name, selected_values in selected_values_by_column.items():
            if selected_values is None:
                continue
            archived_values = dict.fromkeys(
                request_row[column_name] for request_row in request_rows
            )
            for selected_value in selected_values:
                if selected_value not in archived_values:
                    problem = unknown(
                        f"archived {column_name} of {section_name}", selected_value, archived_values
                    )
                    raise ScopeError(problem, parameter=column_name, unknown=(selected_value,))
            request_rows = [
                request_row
                for request_row in request_rows
                if request_row[column_name] in selected_values
            ]
        first_fetched_at = min((request_row["first"] for request_row in request_rows), default=None)
        if first_fetched_at and selection.until and selection.until < first_fetched_at:
            raise ScopeError(
                f"the first response of {section_name} is of {first_fetched_at}; read until a "
                "later time",
                parameter="until",
            )

    def read(self, selection: Selection) -> pd.DataFrame:
        """Return the rows of the selected responses as a DataFrame, sorted by host and time."""
        self.check_selection(selection)
        sort_column_names = ["host", "fetched_at", "days", *self.stored_table.key, "_row"]
        select_sql = (
            f"SELECT * FROM {quote_name(_ROWS_VIEW)} WHERE {selection.where_sql} "
            f"ORDER BY {', '.join(map(quote_name, sort_column_names))}"
        )
        context_key_columns = ("host", "days", *FILTER_COLUMNS, "fetched_at")
        recipe = ["archived", "read", {**self.section_and_table, **selection.to_dict()}]
        return self._build_frame(
            self._query(select_sql), selection, recipe, CONTEXT_COLUMNS, context_key_columns
        )

    def history(self, fetch_selection: Selection, day_selection: Selection) -> pd.DataFrame:
        """Return a DataFrame with one row per key and day: the newest row that has values.

        ``fetch_selection`` selects responses by host, filters and time of fetch. ``day_selection``
        selects the days of the result.
        """
        self.check_selection(fetch_selection)
        history_rows = self._query(
            _history_sql(self.stored_table, fetch_selection.where_sql, day_selection), FRAMES_TABLE
        )
        key_columns = [
            "host",
            *(
                filter_column
                for filter_column in FILTER_COLUMNS
                if history_rows[filter_column].null_count < history_rows.num_rows
            ),
        ]
        as_of_argument = (
            {"as_of": fetch_selection.until.isoformat()} if fetch_selection.until else {}
        )
        recipe = [
            "archived",
            "history",
            {**self.section_and_table, **day_selection.to_dict(), **as_of_argument},
        ]
        return self._build_frame(
            history_rows,
            fetch_selection,
            recipe,
            key_columns,
            key_columns,
            HISTORY_COLUMNS,
            "last_seen",
        )

    def _query(self, sql: str, *table_paths: str) -> pa.Table:
        path_by_view: dict[str, Any] = {_ROWS_VIEW: self.path}
        query_rows = self.snapshot.query(sql, *table_paths, **path_by_view)
        type_by_column = {
            result_field.name: result_field.type for result_field in self.stored_table.schema()
        }
        result_fields = [
            pa.field(
                result_field.name,
                type_by_column.get(
                    result_field.name,
                    MOMENT_TYPE if pa.types.is_timestamp(result_field.type) else result_field.type,
                ),
            )
            for result_field in query_rows.schema
        ]
        return query_rows.cast(pa.schema(result_fields))

    def _read_responses(self, selection: Selection) -> tuple[list[ResponseRow], int]:
        """Return the selected responses that the table was made from, and how many requests failed.

        Each response is a dict, whose entry ``states`` has the metadata of the table's columns as
        JSON. A request of which all attempts of a day failed counts as one failure.
        """
        same_response_sql = " AND ".join(
            f"f.{key_column} IS NOT DISTINCT FROM a.{key_column}"
            for key_column in _RESPONSE_KEY_COLUMNS
        )
        response_rows = self.snapshot.query_rows(
            "SELECT a.* EXCLUDE (body), f.states FROM "
            f'(SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND {selection.where_sql}) '
            f"f JOIN (SELECT * FROM responses WHERE {USABLE_SQL}) a ON {same_response_sql} "
            "ORDER BY a.fetched_at, a.host, a.days",
            FRAMES_TABLE,
            "responses",
            parameters=[*self.section_and_table.values()],
        )
        failed_request_rows = self.snapshot.query_rows(
            f"SELECT host FROM responses WHERE section = $1 AND {selection.where_sql} "
            "GROUP BY host, scope, fetched_at::DATE HAVING bool_and(error IS NOT NULL)",
            "responses",
            parameters=[self.section_and_table["section"]],
        )
        return response_rows, len(failed_request_rows)

    def _build_frame(
        self,
        arrow_rows: pa.Table,
        selection: Selection,
        recipe: Recipe,
        leading_columns: Sequence[str],
        context_key_columns: Sequence[str],
        trailing_columns: Sequence[str] = (),
        time_column: str = "fetched_at",
    ) -> pd.DataFrame:
        """Convert rows from Arrow to a DataFrame with metadata.

        Parameters
        ----------
        arrow_rows : pyarrow.Table
            The rows, with all columns.
        selection : Selection
            The responses that the rows come from.
        recipe : list
            The method and arguments by which the DataFrame can be read again.
        leading_columns : sequence of str
            The columns to put first, such as ``host``.
        context_key_columns : sequence of str
            The columns that identify a row of the result, together with the key of the table.
        trailing_columns : sequence of str
            The columns to put last, such as ``revisions``.
        time_column : str
            The column with the time at which the row was fetched.
        """
        stored_table = self.stored_table
        response_rows, failed_count = self._read_responses(selection)
        column_names = [name for name in arrow_rows.column_names if name in stored_table.columns]
        row_key_columns = [*context_key_columns, *stored_table.key]
        if arrow_rows["_row"].null_count < arrow_rows.num_rows:
            trailing_columns = ["_row", *trailing_columns]
            row_key_columns = [*row_key_columns, "_row"]
        frame = to_frame(
            _encode_category_columns(
                arrow_rows.select([*leading_columns, *column_names, *trailing_columns]),
                stored_table,
            )
        )
        metadata_by_column = self._combine_column_metadata(column_names, response_rows, time_column)
        if failed_count:
            metadata_by_column = with_failed_responses(
                metadata_by_column, failed_count, len(response_rows)
            )
        frame_metadata = FrameMetadata(
            {
                name: metadata_by_column.get(name, MEASURED_COLUMN)
                for name in map(str, frame.columns)
            },
            unique_key(frame, tuple(dict.fromkeys(row_key_columns))) if stored_table.key else (),
            tuple(dict.fromkeys(map(row_to_source, response_rows))),
            recipe=recipe,
        )
        return attach(frame, frame_metadata)

    def _combine_column_metadata(
        self, column_names: Sequence[str], response_rows: Sequence[ResponseRow], time_column: str
    ) -> dict[str, ColumnMetadata]:
        """Combine the metadata that the columns ``column_names`` have in several responses.

        If the metadata differs between responses, the result says for which hosts and times a
        column was measured. ``time_column`` is the column with the time of fetch.
        """
        stored_table = self.stored_table
        declared_by_stored_name = {
            column_name: column.name for column_name, column in stored_table.columns.items()
        }
        stored_by_declared_name = {
            column: column_name for column_name, column in declared_by_stored_name.items()
        }
        response_rows_by_metadata: dict[str, list[ResponseRow]] = group_values(
            (response_row["states"], response_row) for response_row in response_rows
        )
        columns_by_metadata = {
            metadata_json: FrameMetadata.loads(metadata_json).columns
            for metadata_json in response_rows_by_metadata
        }
        metadata_and_conditions = _list_conditions(response_rows_by_metadata, time_column)
        combined_metadata_by_column = {}
        for column_name in column_names:
            declared_name = declared_by_stored_name[column_name]
            qualified_name = f"{stored_table.prefix}{stored_table.table.name}.{declared_name}"
            metadata_by_json = {
                metadata_json: metadata_by_column.get(declared_name, NO_METADATA).renamed(
                    stored_by_declared_name
                )
                for metadata_json, metadata_by_column in columns_by_metadata.items()
            }
            if (
                len(
                    {
                        (column.default_availability, column.statements)
                        for column in metadata_by_json.values()
                    }
                )
                == 1
            ):
                combined_metadata_by_column[column_name] = replace(
                    next(iter(metadata_by_json.values())), declared_name=qualified_name
                )
                continue
            availabilities = [column.availability for column in metadata_by_json.values()]
            statements: tuple[Statement, ...] = ()
            if metadata_and_conditions is None:
                availabilities += [
                    statement.availability
                    for column in metadata_by_json.values()
                    for statement in column.statements
                ]
            for metadata_json, row_conditions in metadata_and_conditions or ():
                statements += metadata_by_json[metadata_json].statements_within(*row_conditions)
            combined_metadata_by_column[column_name] = ColumnMetadata(
                qualified_name, combine(availabilities) if availabilities else UNKNOWN, statements
            )
        return combined_metadata_by_column


def _list_conditions(
    response_rows_by_metadata: Mapping[str, Sequence[ResponseRow]], time_column: str
) -> list[tuple[str, tuple[Condition, ...]]] | None:
    """Return, for each group of responses, conditions on host and time that select its rows.

    Parameters
    ----------
    response_rows_by_metadata : mapping of str to sequence of dict
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
        metadata_json: sorted({response_row["host"] for response_row in response_rows})
        for metadata_json, response_rows in response_rows_by_metadata.items()
    }
    metadata_count_by_host = Counter(host for hosts in hosts_by_metadata.values() for host in hosts)
    metadata_and_conditions: list[tuple[str, tuple[Condition, ...]]] = []
    for metadata_json, response_rows in response_rows_by_metadata.items():
        single_metadata_hosts = tuple(
            host for host in hosts_by_metadata[metadata_json] if metadata_count_by_host[host] == 1
        )
        if single_metadata_hosts:
            metadata_and_conditions.append(
                (metadata_json, (Condition("host", "in", single_metadata_hosts),))
            )
        for host in [
            host for host in hosts_by_metadata[metadata_json] if metadata_count_by_host[host] > 1
        ]:
            fetch_times = sorted(
                {
                    response_row["fetched_at"]
                    for response_row in response_rows
                    if response_row["host"] == host
                }
            )
            fetch_time_texts = tuple(
                fetch_time.astimezone(UTC).isoformat() for fetch_time in fetch_times
            )
            row_conditions = (
                Condition("host", "in", (host,)),
                Condition(time_column, "in", fetch_time_texts),
            )
            metadata_and_conditions.append((metadata_json, row_conditions))
    return metadata_and_conditions if len(metadata_and_conditions) <= _MAX_STATEMENTS else None


def _encode_category_columns(arrow_rows: pa.Table, stored_table: StoredTable) -> pa.Table:
    """Return rows in which the columns that are declared as categories are dictionary-encoded."""
    for column_name, column in stored_table.columns.items():
        if column.dtype == "category" and column_name in arrow_rows.column_names:
            category_texts = arrow_rows[column_name].combine_chunks()
            new_categories = {*category_texts.unique().to_pylist()} - {*column.levels, None}
            encoded_texts = encode_categories(
                category_texts, column, () if column.ordered else sorted(new_categories)
            )
            arrow_rows = arrow_rows.set_column(
                arrow_rows.column_names.index(column_name), column_name, encoded_texts
            )
    return arrow_rows


# -- history -----------------------------------------------------------------------------------


def _history_sql(
    stored_table: StoredTable, response_condition_sql: str, day_selection: Selection
) -> str:
    """Return the SQL query for the history of a table: one row per key and day.

    ``response_condition_sql`` is an SQL condition that selects responses. ``day_selection`` selects
    the days.
    """
    day_column_sql = quote_name(str(stored_table.time_column))
    key_columns = ["host", *FILTER_COLUMNS, *stored_table.key, "_row"]
    value_columns = [
        column_name for column_name in stored_table.columns if column_name not in key_columns
    ]
    key_columns_sql = ", ".join(map(quote_name, key_columns))
    all_columns_sql = ", ".join(map(quote_name, (*key_columns, *value_columns)))
    value_struct_sql = (
        f"row({', '.join(map(quote_name, value_columns))})" if value_columns else "row(1)"
    )
    has_value_sql = (
        " OR ".join(f"{quote_name(column_name)} IS NOT NULL" for column_name in value_columns)
        or "true"
    )
    same_request_sql = " AND ".join(
        f"c.{column_name} IS NOT DISTINCT FROM f.{column_name}"
        for column_name in ("host", *FILTER_COLUMNS)
    )
    value_window_sql = f'PARTITION BY {key_columns_sql}, "aa known" ORDER BY fetched_at, days'
    result_conditions = [
        '("aa covered" IS NULL OR "aa covered" <= "aa last")',
        *day_selection.list_time_conditions(day_column_sql),
    ]
    return f"""
    WITH stored AS (
        SELECT {all_columns_sql}, fetched_at, days, ({has_value_sql}) AS "aa known",
            {value_struct_sql} AS "aa packed"
        FROM {quote_name(_ROWS_VIEW)} WHERE {response_condition_sql}
    ), numbered AS (
        SELECT *,
            row_number() OVER (PARTITION BY {key_columns_sql}
                ORDER BY "aa known" DESC, fetched_at DESC, days DESC) AS "aa place",
            min(fetched_at) OVER (PARTITION BY {key_columns_sql}) AS first_seen,
            max(fetched_at) OVER (PARTITION BY {key_columns_sql}) AS "aa last",
            row_number() OVER ({value_window_sql}) AS "aa nth",
            lag("aa packed") OVER ({value_window_sql}) AS "aa before"
        FROM stored
    ), changed AS (
        SELECT *, "aa known" AND "aa nth" > 1 AND "aa packed" IS DISTINCT FROM "aa before"
            AS "aa change"
        FROM numbered
    ), counted AS (
        SELECT *,
            sum("aa change"::BIGINT) OVER (PARTITION BY {key_columns_sql}) AS "aa revised",
            max(CASE WHEN "aa change" THEN fetched_at END) OVER (PARTITION BY {key_columns_sql})
                AS "aa changed"
        FROM changed
    ), f AS (SELECT * FROM counted WHERE "aa place" = 1
    ), covering AS (
        SELECT * FROM frames
        WHERE "table" = {quote_value(stored_table.table.name)}
        AND section = {quote_value(stored_table.section)}
        AND is_whole AND {response_condition_sql}
    ), judged AS (
        SELECT f.*, (
            SELECT max(c.fetched_at) FROM covering c
            WHERE {same_request_sql}
            AND CAST(f.{day_column_sql} AS DATE) BETWEEN c.window_start AND c.window_end
        ) AS "aa covered" FROM f
    )
    SELECT {all_columns_sql}, first_seen, fetched_at AS last_seen,
        coalesce("aa changed", first_seen) AS last_changed,
        CAST("aa revised" AS BIGINT) AS revisions
    FROM judged WHERE {" AND ".join(result_conditions)}
    ORDER BY host, {day_column_sql}, {key_columns_sql}
    """


# -- all tables --------------------------------------------------------------------------------


def list_sql_tables(snapshot: Snapshot) -> dict[str, Any]:
    """Return the tables that a user's SQL query may name: a dict from the name to the path.

    If two sections have a table of this name, the value is a list with the name instead. If the
    table is computed, the value is a function that returns an Arrow table.
    """
    source_by_name: dict[str, Any] = {}
    for path, (section_name, table_name) in list_stored_tables(snapshot.store).items():
        source_by_name[table_name] = [table_name] if table_name in source_by_name else path
        source_by_name[f"{section_name}__{table_name}"] = path
    return {
        **{name: name for name in SYSTEM_SCHEMAS},
        "columns": lambda: _describe_columns(snapshot),
        **source_by_name,
    }


def _describe_columns(snapshot: Snapshot) -> pa.Table:
    """Return an Arrow table with one row per column of the archive: its unit and meaning."""
    column_rows = []
    for table_path in filter(snapshot.has_table, list_stored_tables(snapshot.store)):
        stored_table = load_stored_table(snapshot.store, table_path)
        column_rows += [
            {
                "section": stored_table.section,
                "table": stored_table.table.name,
                "column": column_name,
                "dtype": column.dtype,
                "unit": column.unit,
                "aggregation": str(column.aggregate),
                "is_key": column_name in stored_table.key,
                "description": column.doc,
            }
            for column_name, column in stored_table.columns.items()
        ]
    return pa.Table.from_pylist(column_rows)


def summarize_tables(snapshot: Snapshot, until: datetime | None) -> pd.DataFrame:
    """Return a DataFrame with one row per table: its rows, responses, hosts, files and bytes.

    Responses fetched after ``until`` are left out.
    """
    table_rows: list[dict[str, Any]] = []
    for table_path, (section_name, table_name) in list_stored_tables(snapshot.store).items():
        visible_files = snapshot.find_visible_files(table_path)
        # If the first run was killed, a table may be listed that was not created.
        if visible_files.table is not None:
            table_rows.append(
                {
                    "section": section_name,
                    "table": table_name,
                    "files": len(visible_files.paths),
                    "bytes": visible_files.byte_count,
                    "place": len(table_rows),
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
            stored=pa.Table.from_pylist(table_rows, pa.schema(type_by_column)),
            stated=frames_table,
        ),
        "numpy_nullable",
    )


def read_dask_frame(snapshot: Snapshot, table_path: str, until: datetime | None) -> Any:
    """Return a table of an archive as a Dask DataFrame with one partition per file.

    ``table_path`` is where the archive has the table, such as ``tables/domains/source_domains``.
    Rows fetched after ``until`` are left out.
    """
    with require_package("a Dask DataFrame needs", "scale"):
        import dask.dataframe as dd
    visible_files = snapshot.find_visible_files(table_path)
    empty_frame = to_frame(visible_files.schema.empty_table(), "pyarrow")
    if not visible_files.paths:
        return dd.from_pandas(empty_frame, npartitions=1)
    row_condition = ~ds.field("run").isin(
        pa.array(sorted(visible_files.hidden_run_names), "string")
    )
    if until is not None:
        row_condition &= ds.field("fetched_at") <= pa.scalar(until, MOMENT_TYPE)
    read_arguments = {
        "store": snapshot.store,
        "schema": visible_files.schema,
        "row_condition": row_condition,
    }
    return dd.from_map(_read_file, list(visible_files.paths), **read_arguments, meta=empty_frame)


def _read_file(
    file_path: str, *, store: ArchiveStore, schema: pa.Schema, row_condition: ds.Expression
) -> pd.DataFrame:
    """Read the rows of one Parquet file that meet a condition, as a DataFrame."""
    file_dataset = ds.dataset(
        file_path if store.is_local else file_path.removeprefix(f"{store.root}/"),
        schema=schema,
        format="parquet",
        filesystem=None if store.is_local else store.file_system,
        partitioning=ds.partitioning(pa.schema({"month": "string"}), flavor="hive"),
    )
    return to_frame(file_dataset.to_table(filter=row_condition), "pyarrow")
