"""Maintain an archive: compact files, delete responses, verify checksums, and rebuild tables."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from aatoolkit._util.grouping import group_values
from aatoolkit._util.text import counted, visible
from aatoolkit.archive.responses import USABLE_SQL, ArchivedResponse, read_response_groups
from aatoolkit.archive.schema import (
    FILTER_COLUMNS,
    FRAMES_TABLE,
    RESPONSES_TABLE,
    STATEMENT_SCHEMAS,
    SYSTEM_SCHEMAS,
    ChangeRow,
    StoredTable,
    append_changes,
    list_declaration_differences,
    list_stored_tables,
    load_stored_table,
    record_new_tables,
)
from aatoolkit.archive.snapshot import Snapshot, make_in_condition, quote_name, quote_value
from aatoolkit.archive.store import (
    CHECKSUMS_FOLDER,
    RUNS_TABLE,
    ArchiveStore,
    Checksums,
    import_deltalake,
    log_run_state,
    new_run_name,
    read_run_log,
    replace_checksums,
    retry_on_conflict,
    writer_properties,
)
from aatoolkit.archive.writing import DerivedResponse, TableBuffer, derive_responses
from aatoolkit.client.reading import ReadingOptions, progress_bar
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError

# -- compact and forget -------------------------------------------------------------------------

_MAX_SORTED_BYTES = 1 << 30
"""The largest total size at which the files of a month are sorted by host when they are joined."""

_MAX_ORPHAN_HOURS = 24 * 7
"""The age in hours from which on a file that belongs to no table is removed."""

_RETENTION_PROPERTY = "delta.logRetentionDuration"


@dataclass(frozen=True)
class UpkeepReport:
    """The result of `Archive.compact` or `Archive.forget`.

    Attributes
    ----------
    files, bytes : tuple of int
        The number of data files and of bytes, each before and after.
    rows : int
        The number of removed rows; 0 for `Archive.compact`.
    hosts : int
        The number of hosts that remain in the archive.
    busy : tuple of str
        The tables that were skipped because another process was writing to them.
    """

    files: tuple[int, int]
    bytes: tuple[int, int]
    rows: int
    hosts: int
    busy: tuple[str, ...] = ()

    def __repr__(self) -> str:
        busy_note = f", busy: {counted(len(self.busy), 'table')}" if self.busy else ""
        return (
            f"<UpkeepReport: {counted(self.rows, 'row')} removed, {self.files[0]:,} files of "
            f"{self.bytes[0]:,} bytes are now {self.files[1]:,} of {self.bytes[1]:,}; "
            f"{counted(self.hosts, 'host')} left{busy_note}>"
        )


def data_table_names(store: ArchiveStore) -> list[str]:
    """Return the names of the table ``responses`` and of all tables made from responses."""
    return [RESPONSES_TABLE, *list_stored_tables(store), *STATEMENT_SCHEMAS]


def open_all_tables(store: ArchiveStore) -> dict[str, Any]:
    """Open all Delta tables of an archive, and return them as a dict by path."""
    table_by_path = {
        table_path: store.open_table(table_path)
        for table_path in (*list_stored_tables(store), *SYSTEM_SCHEMAS)
    }
    return {table_path: table for table_path, table in table_by_path.items() if table is not None}


def compact(store: ArchiveStore, *, keep_hours: float, removed_row_count: int = 0) -> UpkeepReport:
    """Join small files, and delete files that were replaced; return a report.

    Replaced files are kept for ``keep_hours`` hours. Rows of interrupted calls are removed too.
    ``removed_row_count`` is the number of rows that the caller has removed, for the report.
    """
    file_and_byte_count_before = _count_files_and_bytes(store, open_all_tables(store))
    _remove_expired_runs(store)
    busy_table_paths = []
    for table_path, table in open_all_tables(store).items():
        try:
            _compact_table(store, table_path, table, keep_hours)
        except ArchiveConflict:
            busy_table_paths.append(table_path)
    table_by_path = open_all_tables(store)
    replace_checksums(store, table_by_path)
    host_count = 0
    if store.cached_table(RESPONSES_TABLE) is not None:
        count_sql = "SELECT count(DISTINCT host) AS n FROM responses"
        host_count = int(Snapshot(store).query_rows(count_sql, RESPONSES_TABLE)[0]["n"])
    file_counts, byte_counts = zip(
        file_and_byte_count_before, _count_files_and_bytes(store, table_by_path), strict=True
    )
    return UpkeepReport(
        file_counts, byte_counts, removed_row_count, host_count, tuple(busy_table_paths)
    )


def _remove_expired_runs(store: ArchiveStore) -> None:
    """Remove the rows of unfinished runs (calls of `Archive.add`) that wrote nothing for a day."""
    run_log = read_run_log(store)
    expired_run_names = sorted(run_log.expired_run_names(datetime.now(UTC)))
    for run_name in expired_run_names:
        if run_name not in run_log.removed_run_names:
            # From now on the run cannot be committed.
            log_run_state(store, run_name, "removing")
    if expired_run_names:
        _delete_rows(store, make_in_condition("run", expired_run_names))
    for run_name in expired_run_names:
        log_run_state(store, run_name, "removed")


def _compact_table(store: ArchiveStore, table_path: str, table: Any, keep_hours: float) -> None:
    file_sizes_by_month = group_values(
        (file_row.get("partition.month"), file_row["size_bytes"])
        for file_row in store.list_data_files(table_path, table)
    )
    with store.convert_errors(table_path):
        for month, file_sizes in file_sizes_by_month.items():
            partition_filters = None if month is None else [("month", "=", month)]
            if len(file_sizes) > 1 and (month is None or sum(file_sizes) > _MAX_SORTED_BYTES):
                table.optimize.compact(partition_filters, writer_properties=writer_properties())
            elif len(file_sizes) > 1:
                table.optimize.z_order(
                    ["host"], partition_filters, writer_properties=writer_properties()
                )
        vacuum_options = {"dry_run": False, "enforce_retention_duration": False}
        retention_hours = math.ceil(keep_hours)
        table.vacuum(retention_hours, **vacuum_options)
        table.vacuum(max(retention_hours, _MAX_ORPHAN_HOURS), full=True, **vacuum_options)


def forget(
    store: ArchiveStore, hosts: Sequence[str] | None, before: datetime | None
) -> UpkeepReport:
    """Delete the responses of hosts that were fetched before a moment, and the rows made from them.

    ``hosts`` are the hosts, or None for all; ``before`` is the moment, or None for any time.
    """
    if hosts is None and before is None:
        raise ArchiveError("say what to forget: hosts, or what was fetched before a moment")
    # From here on no run that began before can be committed: it may refer to deleted bodies.
    log_run_state(store, new_run_name(), "forgotten")
    condition_sqls = [] if hosts is None else [make_in_condition("host", hosts)]
    if before is not None:
        condition_sqls += [
            f"month <= '{before:%Y-%m}'",
            f"fetched_at < {_format_moment_sql(before)}",
        ]
    upkeep_report = compact(
        store,
        keep_hours=0,
        removed_row_count=_delete_rows(store, " AND ".join(condition_sqls), before),
    )
    # On an object store this may take very long: there, Delta removes old commits after 30 days.
    for table_path in data_table_names(store) if store.is_local else ():
        table = store.open_table(table_path)
        if table is None:
            continue
        # Old commits name hosts in their statistics.
        retention_text = table.metadata().configuration.get(_RETENTION_PROPERTY, "interval 30 days")
        with store.convert_errors(table_path):
            table.alter.set_table_properties({_RETENTION_PROPERTY: "interval 0 seconds"})
            table.create_checkpoint()
            table.cleanup_metadata()
            table.alter.set_table_properties({_RETENTION_PROPERTY: retention_text})
    replace_checksums(store, open_all_tables(store))
    return upkeep_report


def _format_moment_sql(moment: datetime) -> str:
    """Return a datetime as SQL text in the syntax that deltalake understands."""
    arrow_type_sql = "'Timestamp(Microsecond, Some(\"UTC\"))'"
    return f"arrow_cast('{moment.isoformat()}', {arrow_type_sql})"


def _delete_rows(
    store: ArchiveStore, condition_sql: str, cutoff_time: datetime | None = None
) -> int:
    """Delete rows that meet an SQL condition from all tables, and return their number.

    ``cutoff_time`` is a moment if the condition selects only responses fetched before it, else
    None. If a later response shares the body of a deleted one, the body is moved to the later
    response.
    """
    return sum(
        retry_on_conflict(
            lambda table_path=table_path: _delete_table_rows(  # type: ignore[misc]
                store, table_path, condition_sql, cutoff_time
            )
        )
        for table_path in data_table_names(store)
    )


def _delete_table_rows(
    store: ArchiveStore, table_path: str, condition_sql: str, cutoff_time: datetime | None
) -> int:
    """Delete rows that meet an SQL condition from one table, and return their number.

    ``cutoff_time`` is a moment if the condition selects only responses fetched before it, else
    None. If a later response shares the body of a deleted one, the body is moved to the later
    response.
    """
    table = store.open_table(table_path)
    if table is None:
        return 0
    schema = pa.schema(table.schema().to_arrow())
    new_rows = schema.empty_table()
    # Equal bodies are stored once: later rows may need the body of a deleted row.
    if table_path == RESPONSES_TABLE and cutoff_time is not None:
        begun_run_names = read_run_log(store).begun_run_names
        snapshot = Snapshot(store, begun_run_names, {RESPONSES_TABLE: table})
        rows_with_bodies = snapshot.query(
            _BODYLESS_RESPONSES_SQL.format(before=quote_value(cutoff_time)), RESPONSES_TABLE
        )
        new_rows = rows_with_bodies.select(schema.names).cast(schema)
        if new_rows.num_rows:
            hash_sql = make_in_condition("sha256", {*new_rows["sha256"].to_pylist()})
            receiving_rows_sql = f"{hash_sql} AND fetched_at >= {_format_moment_sql(cutoff_time)}"
            condition_sql = f"(({condition_sql}) OR ({receiving_rows_sql}))"

    def count_rows() -> int:
        return sum(file_row["num_records"] for file_row in store.list_data_files(table_path, table))

    row_count_before = count_rows()
    # Not DeltaTable.delete: the files that it writes have view types, which pyarrow cannot filter.
    with store.convert_errors(table_path):
        import_deltalake().write_deltalake(
            table,
            new_rows,
            mode="overwrite",
            predicate=condition_sql,
            writer_properties=writer_properties(),
        )
        table.update_incremental()
    return row_count_before - count_rows()


_BODYLESS_RESPONSES_SQL = """
WITH lost AS (
    SELECT host, section, scope, sha256, any_value(body) FILTER (has_body) AS moved
    FROM responses WHERE sha256 IS NOT NULL GROUP BY ALL
    HAVING bool_or(has_body AND fetched_at < {before}) AND bool_or(fetched_at >= {before})
    AND NOT bool_or(has_body AND fetched_at >= {before})
), later AS (
    SELECT *, row_number() OVER (
        PARTITION BY host, section, scope, sha256 ORDER BY fetched_at) = 1 AS is_first
    FROM responses WHERE fetched_at >= {before} AND sha256 IN (SELECT sha256 FROM lost)
), heirs AS (
    SELECT later.* REPLACE (
        has_body OR (is_first AND moved IS NOT NULL) AS has_body,
        coalesce(body, CASE WHEN is_first THEN moved END) AS body)
    FROM later LEFT JOIN lost USING (host, section, scope, sha256)
)
SELECT * FROM heirs
"""
"""Selects responses fetched since a moment whose bodies are stored only in older rows.

The first response of each such body gets the body.
"""


def _count_files_and_bytes(
    store: ArchiveStore, table_by_path: Mapping[str, Any]
) -> tuple[int, int]:
    """Return the number of data files of Delta tables, and their total size in bytes."""
    file_rows = [
        file_row
        for table_path, table in table_by_path.items()
        for file_row in store.list_data_files(table_path, table)
    ]
    return len(file_rows), sum(file_row["size_bytes"] for file_row in file_rows)


_RESPONSE_KEY_COLUMNS = ("run", "host", "days", *FILTER_COLUMNS, "fetched_at")
_MAX_LISTED_PROBLEMS = 20
_RESPONSES_PER_BATCH = 2000
_MAX_BUFFER_BYTES = 1 << 27

TableProblem = tuple[str, str]
"""The name of a table, and a sentence on what is wrong with it."""

# -- verify ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ArchiveCheck:
    """The result of verifying an archive; ``bool(check)`` is True if nothing is wrong.

    Attributes
    ----------
    path : str
        The archive.
    responses, tables : int
        The number of responses and of tables that were checked.
    problems : tuple of (str, str)
        Pairs of a table's name and what is wrong with it.
    unchecked : int
        The number of files without a checksum. `Archive.compact` records their checksums.
    """

    path: str
    responses: int
    tables: int
    problems: tuple[TableProblem, ...]
    unchecked: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        summary = "all as stored" if self.ok else counted(len(self.problems), "problem")
        if self.unchecked:
            summary += f"; {self.unchecked:,} files have no checksum, which compact() records"
        checked_counts = f"{counted(self.responses, 'response')}, {counted(self.tables, 'table')}"
        lines = [f"<ArchiveCheck: {checked_counts}: {summary}>"]
        lines += [
            visible(f"  {name}: {problem}")
            for name, problem in self.problems[:_MAX_LISTED_PROBLEMS]
        ]
        return "\n".join(lines)


def verify(store: ArchiveStore, reading_options: ReadingOptions, *, replay: bool) -> ArchiveCheck:
    """Compare all files and responses with their checksums, and count the rows of tables.

    If ``replay`` is true, also make the tables again from the responses and compare every row.
    """
    checksums = Checksums(store, ignores_cache=True)
    problems = [
        (CHECKSUMS_FOLDER, f"the file {name} is not what was written")
        for name in checksums.damaged_file_names
    ]
    # Files are compared before any is read as a table: reading a damaged file would fail.
    table_names = dict.fromkeys((*SYSTEM_SCHEMAS, *checksums.digests_by_table))
    problems += [
        (name, problem) for name in table_names for problem in checksums.find_problems(name)
    ]
    response_count = 0
    if not problems:
        snapshot = Snapshot(store)
        if not snapshot.run_log.table_exists:
            raise ArchiveError(
                f"there is no archive at {store.root} yet; add responses first", path=store.root
            )
        for name in list_stored_tables(store).keys() - table_names.keys():
            table_names[name] = None
            problems += [(name, problem) for problem in checksums.find_problems(name)]
        unhashed_run_names = snapshot.run_log.committed_run_names - checksums.run_names
        if unhashed_run_names:
            problem = (
                f"those of {counted(len(unhashed_run_names), 'run')} are gone; "
                "compact() records files as they are"
            )
            problems.append((CHECKSUMS_FOLDER, problem))
        if snapshot.run_log.rebuilding_run_names:
            problems.append((RUNS_TABLE, "a rebuild was interrupted; run archive.rebuild() again"))
    if not problems and snapshot.has_table(RESPONSES_TABLE):
        try:
            response_count, problems = _check_responses(snapshot)
            problems = problems or [*_compare_row_counts(snapshot)]
            if replay and not problems:
                problems = _replay_responses(snapshot, reading_options)
        except ArchiveError as error:
            problems.append(("archive", error.message))
    return ArchiveCheck(
        store.root, response_count, len(table_names) - 2, tuple(problems), checksums.unchecked_count
    )


def _check_responses(snapshot: Snapshot) -> tuple[int, list[TableProblem]]:
    """Return the number of responses, and a problem for each damaged body or duplicate response."""
    response_count = 0
    problems = []
    for response_group in read_response_groups(snapshot):
        response_count += len(response_group)
        for response in response_group:
            try:
                response.payload()
            except ArchiveError as error:
                problems.append((RESPONSES_TABLE, error.message))
    duplicate_rows = snapshot.query_rows(
        f"SELECT host, section, scope, fetched_at, count(*) AS n FROM responses WHERE {USABLE_SQL} "
        "GROUP BY host, section, scope, fetched_at, sha256 HAVING n > 1",
        RESPONSES_TABLE,
    )
    for duplicate_row in duplicate_rows:
        *key_texts, row_count_text = map(str, duplicate_row.values())
        problems.append(
            (RESPONSES_TABLE, f"{' '.join(key_texts)}: it is there {row_count_text} times")
        )
    return response_count, problems


def _compare_row_counts(snapshot: Snapshot) -> Iterator[TableProblem]:
    """Count the rows that each response has in each table; yield a problem for each wrong number.

    The table ``frames`` records the right numbers.
    """
    response_key_sql = ", ".join(_RESPONSE_KEY_COLUMNS)
    same_response_sql = " AND ".join(
        f"f.{key_column} IS NOT DISTINCT FROM t.{key_column}"
        for key_column in _RESPONSE_KEY_COLUMNS
    )
    stored_table_items = (
        list_stored_tables(snapshot.store).items() if snapshot.has_table(FRAMES_TABLE) else ()
    )
    for table_path, section_and_table in stored_table_items:
        difference_rows = snapshot.query_rows(
            f"WITH f AS (SELECT {response_key_sql}, sum(rows) AS n FROM frames WHERE rows > 0 AND "
            'section = $1 AND "table" = $2 GROUP BY ALL), '
            f"t AS (SELECT {response_key_sql}, count(*) AS n FROM stored GROUP BY ALL) "
            "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
            f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same_response_sql} "
            f"WHERE f.n IS DISTINCT FROM t.n LIMIT {_MAX_LISTED_PROBLEMS}",
            FRAMES_TABLE,
            parameters=[*section_and_table],
            stored=table_path,
        )
        for difference_row in difference_rows:
            yield (
                table_path,
                f"{difference_row['host']}: {difference_row['there']} rows, its responses gave "
                f"{difference_row['wanted']}",
            )


def _replay_responses(snapshot: Snapshot, reading_options: ReadingOptions) -> list[TableProblem]:
    """Convert the responses to tables again; return a problem for each table that differs."""
    problems: list[TableProblem] = []
    recomputed_tables = TableBuffer()
    for archived_response, derived_response in derive_tables(
        read_response_groups(snapshot), reading_options
    ):
        if derived_response.error is None:
            recomputed_tables.add(archived_response, derived_response)
        if len(recomputed_tables) > _RESPONSES_PER_BATCH:
            problems += _find_different_tables(snapshot, recomputed_tables)
            recomputed_tables = TableBuffer()
    return [*problems, *_find_different_tables(snapshot, recomputed_tables)]


def _find_different_tables(
    snapshot: Snapshot, recomputed_tables: TableBuffer
) -> Iterator[TableProblem]:
    """Yield a problem for each stored table that lacks any of the rows in ``recomputed_tables``."""
    for table_path in recomputed_tables.table_by_path:
        recomputed_rows = recomputed_tables.table_rows(
            table_path, load_stored_table(snapshot.store, table_path).schema()
        )
        if recomputed_rows is None:
            continue
        columns_sql = ", ".join(map(quote_name, recomputed_rows.column_names))
        difference_sql = (
            f"SELECT host FROM (SELECT {columns_sql} FROM derived EXCEPT ALL "
            f"SELECT {columns_sql} FROM stored SEMI JOIN derived USING (run, host))"
        )
        hosts = snapshot.query(difference_sql, stored=table_path, derived=recomputed_rows)[
            "host"
        ].to_pylist()
        if hosts:
            host_names_text = ", ".join(sorted({*hosts})[:3])
            yield table_path, f"{host_names_text}: {len(hosts)} rows are others; rebuild()"


def derive_tables(
    response_groups: Iterable[Sequence[ArchivedResponse]], reading_options: ReadingOptions
) -> Iterator[tuple[ArchivedResponse, DerivedResponse]]:
    """Convert stored responses to tables; yield pairs of a response and its tables."""
    for response_group in response_groups:
        responses = []
        payloads = []
        for response in response_group:
            try:
                payloads.append(response.payload())
                responses.append(response)
            except ArchiveError as error:
                yield response, DerivedResponse(response.section, error=error)
        yield from zip(responses, derive_responses(payloads, reading_options), strict=True)


# -- rebuild -----------------------------------------------------------------------------------


def rebuild(
    store: ArchiveStore, reading_options: ReadingOptions, progress: bool | None
) -> dict[str, AAToolkitError]:
    """Convert all responses to tables again, and replace the old rows.

    Returns the errors of responses that could not be converted, by the name of the response.
    """
    run_log_before = read_run_log(store)
    run_name = new_run_name()
    log_run_state(store, run_name, "rebuilding")
    error_by_response_name: dict[str, AAToolkitError] = {}
    stored_table_by_path: dict[str, StoredTable] = {}
    new_file_paths_by_table: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory(prefix="aatoolkit-") as temporary_folder:
        table_buffer = TableBuffer()

        def write_table_buffer() -> None:
            stored_table_by_path.update(table_buffer.table_by_path)
            paths_and_rows = [
                (table_path, table_buffer.table_rows(table_path, stored_table.schema()))
                for table_path, stored_table in table_buffer.table_by_path.items()
            ]
            for table_path, new_rows in (*paths_and_rows, *table_buffer.statement_tables()):
                if new_rows is not None and new_rows.num_rows:
                    new_file_paths = new_file_paths_by_table.setdefault(table_path, [])
                    new_file_paths.append(
                        Path(
                            temporary_folder,
                            f"{len(new_file_paths_by_table)}-{len(new_file_paths)}.parquet",
                        )
                    )
                    pq.write_table(new_rows, new_file_paths[-1], compression="zstd")

        response_groups = progress_bar(
            read_response_groups(Snapshot(store)), progress, total=0, unit="host"
        )
        for response, derived_response in derive_tables(response_groups, reading_options):
            if derived_response.error is not None:
                error_by_response_name[response.name] = derived_response.error
                continue
            table_buffer.add(response, derived_response)
            if (
                table_buffer.byte_count > _MAX_BUFFER_BYTES
                or len(table_buffer) >= _RESPONSES_PER_BATCH
            ):
                write_table_buffer()
                table_buffer = TableBuffer()
        write_table_buffer()
        if run_name not in read_run_log(store).rebuilding_run_names:
            raise ArchiveConflict(
                "the tables were made anew by another process meanwhile; nothing is left to do",
                path=store.root,
            )
        _replace_tables(store, stored_table_by_path, new_file_paths_by_table)
    for finished_run_name in (*sorted(run_log_before.rebuilding_run_names), run_name):
        log_run_state(store, finished_run_name, "rebuilt")
    delta_table_by_path = open_all_tables(store)
    replace_checksums(
        store,
        delta_table_by_path,
        new_table_paths={*delta_table_by_path} - {RESPONSES_TABLE, RUNS_TABLE},
    )
    return error_by_response_name


def _replace_tables(
    store: ArchiveStore,
    stored_table_by_path: Mapping[str, StoredTable],
    new_file_paths_by_table: Mapping[str, Sequence[Path]],
) -> None:
    """Replace the rows of all tables that were made from responses.

    ``stored_table_by_path`` has the declaration of each table, by the path of its Delta table.
    ``new_file_paths_by_table`` has the Parquet files with the new rows, by the same path.
    """
    section_and_table_by_old_path = list_stored_tables(store)
    change_rows: list[ChangeRow] = []
    for table_path, stored_table in stored_table_by_path.items():
        with contextlib.suppress(ArchiveError):  # damaged metadata is replaced
            change_rows += (
                _list_declaration_changes(load_stored_table(store, table_path), stored_table)
                if table_path in section_and_table_by_old_path
                else ()
            )
        record_new_tables(store, [stored_table])
        table_properties = stored_table.table_properties()
        delta_table = store.open_or_create(
            table_path, stored_table.schema(), table_properties=table_properties
        )
        _overwrite_rows(
            store,
            table_path,
            delta_table,
            stored_table.schema(),
            new_file_paths_by_table.get(table_path, ()),
        )
        with store.convert_errors(table_path):
            delta_table.update_incremental()
            delta_table.alter.set_table_properties(table_properties, raise_if_not_exists=False)
    for table_path, (section_name, table_name) in section_and_table_by_old_path.items():
        if table_path in stored_table_by_path:
            continue
        change_rows.append((section_name, table_name, None, "no longer declared", None, None))
        delta_table = store.open_table(table_path)
        if delta_table is not None:
            with store.convert_errors(table_path):
                delta_table.delete()
    for table_path, schema in STATEMENT_SCHEMAS.items():
        _overwrite_rows(
            store,
            table_path,
            store.open_or_create(table_path, schema),
            schema,
            new_file_paths_by_table.get(table_path, ()),
        )
    append_changes(store, change_rows)


def _overwrite_rows(
    store: ArchiveStore,
    table_path: str,
    delta_table: Any,
    schema: pa.Schema,
    parquet_paths: Sequence[Path],
) -> None:
    """Replace all rows of a Delta table by the rows in Parquet files.

    ``schema`` is the new schema of the table. Error messages call the table ``table_path``.
    """
    with store.convert_errors(table_path):
        new_rows = schema.empty_table()
        if parquet_paths:
            new_rows = ds.dataset([*map(str, parquet_paths)], schema=schema).scanner().to_reader()
        else:
            delta_table.delete()  # writing no rows would leave the old ones
        import_deltalake().write_deltalake(
            delta_table,
            new_rows,
            mode="overwrite",
            schema_mode="overwrite",
            writer_properties=writer_properties(),
        )


def _list_declaration_changes(
    old_table: StoredTable, new_table: StoredTable
) -> Iterator[ChangeRow]:
    """Compare two declarations of a table; yield a row for the table ``changes`` per difference."""
    section_and_table = new_table.section, new_table.table.name
    for difference, old_value, new_value in list_declaration_differences(
        old_table.table, new_table.table
    ):
        changed_column, _, changed_property = difference.partition(": ")
        yield (
            *section_and_table,
            changed_column,
            f"changed {changed_property or difference}",
            old_value,
            new_value,
        )
    for column_name in new_table.columns.keys() - old_table.columns.keys():
        yield (
            *section_and_table,
            column_name,
            "new column",
            None,
            new_table.columns[column_name].dtype,
        )
    for column_name in old_table.columns.keys() - new_table.columns.keys():
        yield (
            *section_and_table,
            column_name,
            "no longer declared",
            old_table.columns[column_name].dtype,
            None,
        )
