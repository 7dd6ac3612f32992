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
from aatoolkit.archive.responses import USABLE_SQL, ArchivedResponse, response_groups
from aatoolkit.archive.schema import (
    FILTER_COLUMNS,
    FRAMES_TABLE,
    RESPONSES_TABLE,
    STATEMENT_SCHEMAS,
    SYSTEM_SCHEMAS,
    ChangeRow,
    StoredTable,
    append_changes,
    declaration_differences,
    load_stored_table,
    record_new_tables,
    stored_tables,
)
from aatoolkit.archive.snapshot import Snapshot, quote_name, quote_value, sql_in
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
    retry,
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
    return [RESPONSES_TABLE, *stored_tables(store), *STATEMENT_SCHEMAS]


def open_all_tables(store: ArchiveStore) -> dict[str, Any]:
    """Open all Delta tables of an archive, and return them as a dict by path."""
    tables = {name: store.open_table(name) for name in (*stored_tables(store), *SYSTEM_SCHEMAS)}
    return {name: table for name, table in tables.items() if table is not None}


def compact(store: ArchiveStore, *, keep_hours: float, removed_row_count: int = 0) -> UpkeepReport:
    """Join small files, and delete files that were replaced; return a report.

    Replaced files are kept for ``keep_hours`` hours. Rows of interrupted calls are removed too.
    ``removed_row_count`` is the number of rows that the caller has removed, for the report.
    """
    files_and_bytes_before = _count_files_and_bytes(store, open_all_tables(store))
    _remove_expired_runs(store)
    busy_tables = []
    for name, table in open_all_tables(store).items():
        try:
            _compact_table(store, name, table, keep_hours)
        except ArchiveConflict:
            busy_tables.append(name)
    tables = open_all_tables(store)
    replace_checksums(store, tables)
    host_count = 0
    if store.cached_table(RESPONSES_TABLE) is not None:
        sql = "SELECT count(DISTINCT host) AS n FROM responses"
        host_count = int(Snapshot(store).rows(sql, RESPONSES_TABLE)[0]["n"])
    file_counts, byte_counts = zip(
        files_and_bytes_before, _count_files_and_bytes(store, tables), strict=True
    )
    return UpkeepReport(file_counts, byte_counts, removed_row_count, host_count, tuple(busy_tables))


def _remove_expired_runs(store: ArchiveStore) -> None:
    """Remove the rows of unfinished runs (calls of `Archive.add`) that wrote nothing for a day."""
    run_log = read_run_log(store)
    expired_runs = sorted(run_log.expired_runs(datetime.now(UTC)))
    for run_name in expired_runs:
        if run_name not in run_log.removing_runs:
            # From now on the run cannot be committed.
            log_run_state(store, run_name, "removing")
    if expired_runs:
        _delete_rows(store, sql_in("run", expired_runs))
    for run_name in expired_runs:
        log_run_state(store, run_name, "removed")


def _compact_table(store: ArchiveStore, name: str, table: Any, keep_hours: float) -> None:
    sizes_by_month = group_values(
        (file_row.get("partition.month"), file_row["size_bytes"])
        for file_row in store.data_files(name, table)
    )
    with store.convert_errors(name):
        for month, sizes in sizes_by_month.items():
            partition_filters = None if month is None else [("month", "=", month)]
            if len(sizes) > 1 and (month is None or sum(sizes) > _MAX_SORTED_BYTES):
                table.optimize.compact(partition_filters, writer_properties=writer_properties())
            elif len(sizes) > 1:
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
    conditions = [] if hosts is None else [sql_in("host", hosts)]
    if before is not None:
        conditions += [f"month <= '{before:%Y-%m}'", f"fetched_at < {_moment_sql(before)}"]
    report = compact(
        store, keep_hours=0, removed_row_count=_delete_rows(store, " AND ".join(conditions), before)
    )
    # On an object store this may take very long: there, Delta removes old commits after 30 days.
    for name in data_table_names(store) if store.is_local else ():
        table = store.open_table(name)
        if table is None:
            continue
        # Old commits name hosts in their statistics.
        retention_text = table.metadata().configuration.get(_RETENTION_PROPERTY, "interval 30 days")
        with store.convert_errors(name):
            table.alter.set_table_properties({_RETENTION_PROPERTY: "interval 0 seconds"})
            table.create_checkpoint()
            table.cleanup_metadata()
            table.alter.set_table_properties({_RETENTION_PROPERTY: retention_text})
    replace_checksums(store, open_all_tables(store))
    return report


def _moment_sql(moment: datetime) -> str:
    """Return a datetime as SQL text in the syntax that deltalake understands."""
    arrow_type = "'Timestamp(Microsecond, Some(\"UTC\"))'"
    return f"arrow_cast('{moment.isoformat()}', {arrow_type})"


def _delete_rows(store: ArchiveStore, condition: str, cutoff: datetime | None = None) -> int:
    """Delete rows that meet an SQL condition from all tables, and return their number.

    ``cutoff`` is a moment if the condition selects only responses fetched before it, else None. If
    a later response shares the body of a deleted one, the body is moved to the later response.
    """
    return sum(
        retry(lambda name=name: _delete_table_rows(store, name, condition, cutoff))  # type: ignore[misc]
        for name in data_table_names(store)
    )


def _delete_table_rows(
    store: ArchiveStore, name: str, condition: str, cutoff: datetime | None
) -> int:
    """Delete rows that meet an SQL condition from the table ``name``, and return their number.

    ``cutoff`` is a moment if the condition selects only responses fetched before it, else None. If
    a later response shares the body of a deleted one, the body is moved to the later response.
    """
    table = store.open_table(name)
    if table is None:
        return 0
    schema = pa.schema(table.schema().to_arrow())
    new_rows = schema.empty_table()
    # Equal bodies are stored once: later rows may need the body of a deleted row.
    if name == RESPONSES_TABLE and cutoff is not None:
        begun_runs = read_run_log(store).begun_runs
        snapshot = Snapshot(store, begun_runs, {RESPONSES_TABLE: table})
        rows_with_bodies = snapshot.query(
            _BODYLESS_RESPONSES_SQL.format(before=quote_value(cutoff)), RESPONSES_TABLE
        )
        new_rows = rows_with_bodies.select(schema.names).cast(schema)
        if new_rows.num_rows:
            hash_sql = sql_in("sha256", {*new_rows["sha256"].to_pylist()})
            condition = f"(({condition}) OR ({hash_sql} AND fetched_at >= {_moment_sql(cutoff)}))"

    def count_rows() -> int:
        return sum(file_row["num_records"] for file_row in store.data_files(name, table))

    row_count_before = count_rows()
    # Not DeltaTable.delete: the files that it writes have view types, which pyarrow cannot filter.
    with store.convert_errors(name):
        import_deltalake().write_deltalake(
            table,
            new_rows,
            mode="overwrite",
            predicate=condition,
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


def _count_files_and_bytes(store: ArchiveStore, tables: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of data files of Delta tables, and their total size in bytes."""
    file_rows = [
        file_row for name, table in tables.items() for file_row in store.data_files(name, table)
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


def verify(store: ArchiveStore, options: ReadingOptions, *, replay: bool) -> ArchiveCheck:
    """Compare all files and responses with their checksums, and count the rows of tables.

    If ``replay`` is true, also make the tables again from the responses and compare every row.
    """
    checksums = Checksums(store, ignores_cache=True)
    problems = [
        (CHECKSUMS_FOLDER, f"the file {name} is not what was written")
        for name in checksums.damaged_files
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
        for name in stored_tables(store).keys() - table_names.keys():
            table_names[name] = None
            problems += [(name, problem) for problem in checksums.find_problems(name)]
        unhashed_runs = snapshot.run_log.committed_runs - checksums.run_names
        if unhashed_runs:
            problem = (
                f"those of {counted(len(unhashed_runs), 'run')} are gone; "
                "compact() records files as they are"
            )
            problems.append((CHECKSUMS_FOLDER, problem))
        if snapshot.run_log.rebuilding_runs:
            problems.append((RUNS_TABLE, "a rebuild was interrupted; run archive.rebuild() again"))
    if not problems and snapshot.has_table(RESPONSES_TABLE):
        try:
            response_count, problems = _check_responses(snapshot)
            problems = problems or [*_compare_row_counts(snapshot)]
            if replay and not problems:
                problems = _replay_responses(snapshot, options)
        except ArchiveError as error:
            problems.append(("archive", error.message))
    return ArchiveCheck(
        store.root, response_count, len(table_names) - 2, tuple(problems), checksums.unchecked_count
    )


def _check_responses(snapshot: Snapshot) -> tuple[int, list[TableProblem]]:
    """Return the number of responses, and a problem for each damaged body or duplicate response."""
    response_count = 0
    problems = []
    for group in response_groups(snapshot):
        response_count += len(group)
        for response in group:
            try:
                response.payload()
            except ArchiveError as error:
                problems.append((RESPONSES_TABLE, error.message))
    duplicates = snapshot.rows(
        f"SELECT host, section, scope, fetched_at, count(*) AS n FROM responses WHERE {USABLE_SQL} "
        "GROUP BY host, section, scope, fetched_at, sha256 HAVING n > 1",
        RESPONSES_TABLE,
    )
    for duplicate in duplicates:
        *response_key, row_count = map(str, duplicate.values())
        problems.append(
            (RESPONSES_TABLE, f"{' '.join(response_key)}: it is there {row_count} times")
        )
    return response_count, problems


def _compare_row_counts(snapshot: Snapshot) -> Iterator[TableProblem]:
    """Count the rows that each response has in each table; yield a problem for each wrong number.

    The table ``frames`` records the right numbers.
    """
    response_key = ", ".join(_RESPONSE_KEY_COLUMNS)
    same_response_sql = " AND ".join(
        f"f.{column} IS NOT DISTINCT FROM t.{column}" for column in _RESPONSE_KEY_COLUMNS
    )
    table_items = stored_tables(snapshot.store).items() if snapshot.has_table(FRAMES_TABLE) else ()
    for name, section_and_table in table_items:
        count_differences = snapshot.rows(
            f"WITH f AS (SELECT {response_key}, sum(rows) AS n FROM frames WHERE rows > 0 AND "
            'section = $1 AND "table" = $2 GROUP BY ALL), '
            f"t AS (SELECT {response_key}, count(*) AS n FROM stored GROUP BY ALL) "
            "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
            f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same_response_sql} "
            f"WHERE f.n IS DISTINCT FROM t.n LIMIT {_MAX_LISTED_PROBLEMS}",
            FRAMES_TABLE,
            parameters=[*section_and_table],
            stored=name,
        )
        for row in count_differences:
            yield name, f"{row['host']}: {row['there']} rows, its responses gave {row['wanted']}"


def _replay_responses(snapshot: Snapshot, options: ReadingOptions) -> list[TableProblem]:
    """Convert the responses to tables again; return a problem for each table that differs."""
    problems: list[TableProblem] = []
    buffer = TableBuffer()
    for archived_response, derived_response in derive_tables(response_groups(snapshot), options):
        if derived_response.error is None:
            buffer.add(archived_response, derived_response)
        if len(buffer) > _RESPONSES_PER_BATCH:
            problems += _find_different_tables(snapshot, buffer)
            buffer = TableBuffer()
    return [*problems, *_find_different_tables(snapshot, buffer)]


def _find_different_tables(snapshot: Snapshot, buffer: TableBuffer) -> Iterator[TableProblem]:
    """Yield a problem for each stored table that lacks any of the rows in ``buffer``."""
    for name in buffer.table_by_path:
        derived_rows = buffer.table_rows(name, load_stored_table(snapshot.store, name).schema())
        if derived_rows is None:
            continue
        columns_sql = ", ".join(map(quote_name, derived_rows.column_names))
        sql = (
            f"SELECT host FROM (SELECT {columns_sql} FROM derived EXCEPT ALL "
            f"SELECT {columns_sql} FROM stored SEMI JOIN derived USING (run, host))"
        )
        hosts = snapshot.query(sql, stored=name, derived=derived_rows)["host"].to_pylist()
        if hosts:
            host_names = ", ".join(sorted({*hosts})[:3])
            yield name, f"{host_names}: {len(hosts)} rows are others; rebuild()"


def derive_tables(
    groups: Iterable[Sequence[ArchivedResponse]], options: ReadingOptions
) -> Iterator[tuple[ArchivedResponse, DerivedResponse]]:
    """Convert stored responses to tables; yield pairs of a response and its tables."""
    for group in groups:
        responses = []
        payloads = []
        for response in group:
            try:
                payloads.append(response.payload())
                responses.append(response)
            except ArchiveError as error:
                yield response, DerivedResponse(response.section, error=error)
        yield from zip(responses, derive_responses(payloads, options), strict=True)


# -- rebuild -----------------------------------------------------------------------------------


def rebuild(
    store: ArchiveStore, options: ReadingOptions, progress: bool | None
) -> dict[str, AAToolkitError]:
    """Convert all responses to tables again, and replace the old rows.

    Returns the errors of responses that could not be converted, by the name of the response.
    """
    run_log_before = read_run_log(store)
    run_name = new_run_name()
    log_run_state(store, run_name, "rebuilding")
    problems: dict[str, AAToolkitError] = {}
    tables: dict[str, StoredTable] = {}
    new_files: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory(prefix="aatoolkit-") as folder:
        buffer = TableBuffer()

        def write_buffer() -> None:
            tables.update(buffer.table_by_path)
            rows_of_tables = [
                (path, buffer.table_rows(path, table.schema()))
                for path, table in buffer.table_by_path.items()
            ]
            for path, new_rows in (*rows_of_tables, *buffer.statement_tables()):
                if new_rows is not None and new_rows.num_rows:
                    file_paths = new_files.setdefault(path, [])
                    file_paths.append(Path(folder, f"{len(new_files)}-{len(file_paths)}.parquet"))
                    pq.write_table(new_rows, file_paths[-1], compression="zstd")

        groups = progress_bar(response_groups(Snapshot(store)), progress, total=0, unit="host")
        for response, derived_response in derive_tables(groups, options):
            if derived_response.error is not None:
                problems[response.name] = derived_response.error
                continue
            buffer.add(response, derived_response)
            if buffer.byte_count > _MAX_BUFFER_BYTES or len(buffer) >= _RESPONSES_PER_BATCH:
                write_buffer()
                buffer = TableBuffer()
        write_buffer()
        if run_name not in read_run_log(store).rebuilding_runs:
            raise ArchiveConflict(
                "the tables were made anew by another process meanwhile; nothing is left to do",
                path=store.root,
            )
        _replace_tables(store, tables, new_files)
    for finished_run_name in (*sorted(run_log_before.rebuilding_runs), run_name):
        log_run_state(store, finished_run_name, "rebuilt")
    archive_tables = open_all_tables(store)
    replace_checksums(
        store, archive_tables, new_tables={*archive_tables} - {RESPONSES_TABLE, RUNS_TABLE}
    )
    return problems


def _replace_tables(
    store: ArchiveStore, tables: Mapping[str, StoredTable], new_files: Mapping[str, Sequence[Path]]
) -> None:
    """Replace the rows of all tables that were made from responses.

    ``tables`` has the declaration of each table, by the path of its Delta table. ``new_files`` has
    the Parquet files with the new rows, by the same path.
    """
    old_tables = stored_tables(store)
    changes: list[ChangeRow] = []
    for path, table in tables.items():
        with contextlib.suppress(ArchiveError):  # damaged metadata is replaced
            changes += (
                _list_declaration_changes(load_stored_table(store, path), table)
                if path in old_tables
                else ()
            )
        record_new_tables(store, [table])
        configuration = table.table_properties()
        delta_table = store.open_or_create(path, table.schema(), configuration=configuration)
        _overwrite_rows(store, path, delta_table, table.schema(), new_files.get(path, ()))
        with store.convert_errors(path):
            delta_table.update_incremental()
            delta_table.alter.set_table_properties(configuration, raise_if_not_exists=False)
    for path, (section, table_name) in old_tables.items():
        if path in tables:
            continue
        changes.append((section, table_name, None, "no longer declared", None, None))
        delta_table = store.open_table(path)
        if delta_table is not None:
            with store.convert_errors(path):
                delta_table.delete()
    for path, schema in STATEMENT_SCHEMAS.items():
        _overwrite_rows(
            store, path, store.open_or_create(path, schema), schema, new_files.get(path, ())
        )
    append_changes(store, changes)


def _overwrite_rows(
    store: ArchiveStore, name: str, delta_table: Any, schema: pa.Schema, files: Sequence[Path]
) -> None:
    """Replace all rows of a Delta table by the rows in Parquet files.

    ``schema`` is the new schema of the table. Error messages call the table ``name``.
    """
    with store.convert_errors(name):
        new_rows = schema.empty_table()
        if files:
            new_rows = ds.dataset([*map(str, files)], schema=schema).scanner().to_reader()
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
    for difference, before, after in declaration_differences(old_table.table, new_table.table):
        column, _, changed_property = difference.partition(": ")
        yield *section_and_table, column, f"changed {changed_property or difference}", before, after
    for name in new_table.columns.keys() - old_table.columns.keys():
        yield *section_and_table, name, "new column", None, new_table.columns[name].dtype
    for name in old_table.columns.keys() - new_table.columns.keys():
        yield *section_and_table, name, "no longer declared", old_table.columns[name].dtype, None
