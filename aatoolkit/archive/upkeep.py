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

from aatoolkit._util.text import counted, visible
from aatoolkit.archive.responses import USABLE, ArchivedResponse, read_groups
from aatoolkit.archive.schema import (
    FILTER_COLUMNS,
    FRAMES,
    OWN_SCHEMAS,
    RESPONSES,
    STATEMENT_TABLES,
    Change,
    StoredTable,
    add_changes,
    differences,
    load_stored_table,
    record_new_tables,
    stored_tables,
)
from aatoolkit.archive.snapshot import Snapshot, identifier, literal, sql_in
from aatoolkit.archive.store import (
    CHECKSUMS,
    RUNS,
    ArchiveStore,
    Checksums,
    engine,
    log,
    new_run,
    read_runs,
    replace_checksums,
    retry,
    write_options,
)
from aatoolkit.archive.writing import DerivedResponse, TableBuffer, derive
from aatoolkit.client.reading import ReadingOptions, progress_bar
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError

# -- compact and forget -------------------------------------------------------------------------

_LARGE_BYTES = 1 << 30
"""The largest size at which the files of a month are sorted when they are joined."""

_ORPHAN_HOURS = 24 * 7
"""The age in hours at which a file that belongs to no table is removed."""

_RETENTION_KEY = "delta.logRetentionDuration"


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
        busy_note = f", {len(self.busy)} tables were busy" if self.busy else ""
        return (
            f"<UpkeepReport: {counted(self.rows, 'row')} removed, {self.files[0]:,} files of "
            f"{self.bytes[0]:,} bytes are now {self.files[1]:,} of {self.bytes[1]:,}; "
            f"{counted(self.hosts, 'host')} left{busy_note}>"
        )


def data_table_names(store: ArchiveStore) -> list[str]:
    """Return a list of the table ``responses`` and all tables that were made from responses."""
    return [RESPONSES, *stored_tables(store), *STATEMENT_TABLES]


def all_tables(store: ArchiveStore) -> dict[str, Any]:
    """Open all tables of an archive, and return them as a dict by name."""
    tables = {name: store.open(name) for name in (*stored_tables(store), *OWN_SCHEMAS)}
    return {name: table for name, table in tables.items() if table is not None}


def compact(store: ArchiveStore, *, keep_hours: float, removed_rows: int = 0) -> UpkeepReport:
    """Join small files and delete files older than ``keep_hours``; return a report.

    Rows of interrupted calls are removed too. ``removed_rows`` is a number to be put into the
    report.
    """
    counts_before = _count_files(store, all_tables(store))
    _remove_dead_runs(store)
    busy_tables = []
    for name, table in all_tables(store).items():
        try:
            _compact(store, name, table, keep_hours)
        except ArchiveConflict:
            busy_tables.append(name)
    tables = all_tables(store)
    replace_checksums(store, tables)
    host_count = 0
    if store.peek(RESPONSES) is not None:
        sql = "SELECT count(DISTINCT host) AS n FROM responses"
        host_count = int(Snapshot(store).rows(sql, RESPONSES)[0]["n"])
    files, sizes = zip(counts_before, _count_files(store, tables), strict=True)
    return UpkeepReport(files, sizes, removed_rows, host_count, tuple(busy_tables))


def _remove_dead_runs(store: ArchiveStore) -> None:
    """Remove the rows of unfinished runs (calls of `Archive.add`) that wrote nothing for a day."""
    runs = read_runs(store)
    dead_runs = sorted(runs.dead(datetime.now(UTC)))
    for run in dead_runs:
        if run not in runs.removing:
            # From now on the run cannot be committed.
            log(store, run, "removing")
    if dead_runs:
        _delete(store, sql_in("run", dead_runs))
    for run in dead_runs:
        log(store, run, "removed")


def _compact(store: ArchiveStore, name: str, table: Any, keep_hours: float) -> None:
    sizes_by_month: dict[str | None, list[int]] = {}
    for row in store.actions(name, table):
        sizes_by_month.setdefault(row.get("partition.month"), []).append(row["size_bytes"])
    with store.errors(name):
        for month, sizes in sizes_by_month.items():
            partition_filters = None if month is None else [("month", "=", month)]
            if len(sizes) > 1 and (month is None or sum(sizes) > _LARGE_BYTES):
                table.optimize.compact(partition_filters, writer_properties=write_options())
            elif len(sizes) > 1:
                table.optimize.z_order(
                    ["host"], partition_filters, writer_properties=write_options()
                )
        vacuum_options = {"dry_run": False, "enforce_retention_duration": False}
        hours = math.ceil(keep_hours)
        table.vacuum(hours, **vacuum_options)
        table.vacuum(max(hours, _ORPHAN_HOURS), full=True, **vacuum_options)


def forget(
    store: ArchiveStore, hosts: Sequence[str] | None, before: datetime | None
) -> UpkeepReport:
    """Delete the responses of some hosts fetched before a moment, and the rows made from them.

    If ``hosts`` is None, all hosts are meant; if ``before`` is None, all times.
    """
    if hosts is None and before is None:
        raise ArchiveError("say what to forget: hosts, or what was fetched before a moment")
    # From here on no run that began before can be committed: it may refer to deleted bodies.
    log(store, new_run(), "forgotten")
    conditions = [] if hosts is None else [sql_in("host", hosts)]
    if before is not None:
        conditions += [f"month <= '{before:%Y-%m}'", f"fetched_at < {_cast_moment(before)}"]
    report = compact(
        store, keep_hours=0, removed_rows=_delete(store, " AND ".join(conditions), before)
    )
    # On an object store this may take very long: there, Delta removes old commits after 30 days.
    for name in data_table_names(store) if store.is_local else ():
        table = store.open(name)
        if table is None:
            continue
        # Old commits name hosts in their statistics.
        retention = table.metadata().configuration.get(_RETENTION_KEY, "interval 30 days")
        with store.errors(name):
            table.alter.set_table_properties({_RETENTION_KEY: "interval 0 seconds"})
            table.create_checkpoint()
            table.cleanup_metadata()
            table.alter.set_table_properties({_RETENTION_KEY: retention})
    replace_checksums(store, all_tables(store))
    return report


def _cast_moment(moment: datetime) -> str:
    """Return a datetime as SQL text in the syntax that deltalake understands."""
    arrow_type = "'Timestamp(Microsecond, Some(\"UTC\"))'"
    return f"arrow_cast('{moment.isoformat()}', {arrow_type})"


def _delete(store: ArchiveStore, condition: str, before: datetime | None = None) -> int:
    """Delete rows that meet an SQL condition from all tables, and return their number."""
    return sum(
        retry(lambda name=name: _delete_from(store, name, condition, before))  # type: ignore[misc]
        for name in data_table_names(store)
    )


def _delete_from(store: ArchiveStore, name: str, condition: str, before: datetime | None) -> int:
    """Delete rows that meet an SQL condition from one table, and return their number."""
    table = store.open(name)
    if table is None:
        return 0
    schema = pa.schema(table.schema().to_arrow())
    new_rows = schema.empty_table()
    # Equal bodies are stored once: later rows may need the body of a deleted row.
    if name == RESPONSES and before is not None:
        begun_runs = read_runs(store).begun
        snapshot = Snapshot(store, begun_runs, {RESPONSES: table})
        moved_rows = snapshot.query(_MOVED_BODIES_SQL.format(before=literal(before)), RESPONSES)
        new_rows = moved_rows.select(schema.names).cast(schema)
        if new_rows.num_rows:
            same_body = sql_in("sha256", {*new_rows["sha256"].to_pylist()})
            condition = f"(({condition}) OR ({same_body} AND fetched_at >= {_cast_moment(before)}))"

    def count_rows() -> int:
        return sum(row["num_records"] for row in store.actions(name, table))

    count_before = count_rows()
    # Not DeltaTable.delete: the files that it writes have view types, which pyarrow cannot filter.
    with store.errors(name):
        engine().write_deltalake(
            table,
            new_rows,
            mode="overwrite",
            predicate=condition,
            writer_properties=write_options(),
        )
        table.update_incremental()
    return count_before - count_rows()


_MOVED_BODIES_SQL = """
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
"""Selects responses since a moment whose bodies only older rows store, with these bodies."""


def _count_files(store: ArchiveStore, tables: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of data files, and their total size in bytes."""
    rows = [row for name, table in tables.items() for row in store.actions(name, table)]
    return len(rows), sum(row["size_bytes"] for row in rows)


_RESPONSE_KEY = ("run", "host", "days", *FILTER_COLUMNS, "fetched_at")
_MAX_LISTED = 20
_BATCH_SIZE = 2000
_SPOOL_BYTES = 1 << 27

Problem = tuple[str, str]
"""The name of a table, and what is wrong with it."""

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
    problems: tuple[Problem, ...]
    unchecked: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        state = "all as stored" if self.ok else counted(len(self.problems), "problem")
        if self.unchecked:
            state += f"; {self.unchecked:,} files have no checksum, which compact() records"
        checked_counts = f"{counted(self.responses, 'response')}, {counted(self.tables, 'table')}"
        lines = [f"<ArchiveCheck: {checked_counts}: {state}>"]
        lines += [visible(f"  {name}: {problem}") for name, problem in self.problems[:_MAX_LISTED]]
        return "\n".join(lines)


def verify(store: ArchiveStore, options: ReadingOptions, *, replay: bool) -> ArchiveCheck:
    """Compare all files and responses with their checksums, and count the rows of tables.

    With ``replay``, make the tables again from the responses and compare every row.
    """
    checksums = Checksums(store, ignores_cache=True)
    problems = [
        (CHECKSUMS, f"the file {name} is not what was written") for name in checksums.damaged
    ]
    # Files are compared before any is read as a table: reading a damaged file would fail.
    table_names = dict.fromkeys((*OWN_SCHEMAS, *checksums.files))
    problems += [(name, problem) for name in table_names for problem in checksums.problems(name)]
    response_count = 0
    if not problems:
        snapshot = Snapshot(store)
        if not snapshot.runs.exists:
            raise ArchiveError(
                f"there is no archive at {store.root} yet; add responses first", path=store.root
            )
        for name in stored_tables(store).keys() - table_names.keys():
            table_names[name] = None
            problems += [(name, problem) for problem in checksums.problems(name)]
        missing_runs = snapshot.runs.committed - checksums.runs
        if missing_runs:
            problem = (
                f"those of {len(missing_runs)} runs are gone; compact() records files as they are"
            )
            problems.append((CHECKSUMS, problem))
        if snapshot.runs.rebuilding:
            problems.append((RUNS, "a rebuild was interrupted; run archive.rebuild() again"))
    if not problems and snapshot.has(RESPONSES):
        try:
            response_count, problems = _check_responses(snapshot)
            problems = problems or [*_compare_counts(snapshot)]
            if replay and not problems:
                problems = _replay(snapshot, options)
        except ArchiveError as error:
            problems.append(("archive", error.message))
    return ArchiveCheck(
        store.root, response_count, len(table_names) - 2, tuple(problems), checksums.unchecked
    )


def _check_responses(snapshot: Snapshot) -> tuple[int, list[Problem]]:
    """Return the number of responses, and a list of problems: damaged bodies and duplicates."""
    response_count, problems = 0, []
    for group in read_groups(snapshot):
        response_count += len(group)
        for response in group:
            try:
                response.payload()
            except ArchiveError as error:
                problems.append((RESPONSES, error.message))
    duplicates = snapshot.rows(
        f"SELECT host, section, scope, fetched_at, count(*) AS n FROM responses WHERE {USABLE} "
        "GROUP BY host, section, scope, fetched_at, sha256 HAVING n > 1",
        RESPONSES,
    )
    for duplicate in duplicates:
        *response_key, row_count = map(str, duplicate.values())
        problems.append((RESPONSES, f"{' '.join(response_key)}: it is there {row_count} times"))
    return response_count, problems


def _compare_counts(snapshot: Snapshot) -> Iterator[Problem]:
    """Count the rows of each table and host; yield a problem for each number that is wrong."""
    response_key = ", ".join(_RESPONSE_KEY)
    same_response_sql = " AND ".join(
        f"f.{column} IS NOT DISTINCT FROM t.{column}" for column in _RESPONSE_KEY
    )
    tables = stored_tables(snapshot.store).items() if snapshot.has(FRAMES) else ()
    for name, section_and_table in tables:
        rows = snapshot.rows(
            f"WITH f AS (SELECT {response_key}, sum(rows) AS n FROM frames WHERE rows > 0 AND "
            'section = $1 AND "table" = $2 GROUP BY ALL), '
            f"t AS (SELECT {response_key}, count(*) AS n FROM stored GROUP BY ALL) "
            "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
            f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same_response_sql} "
            f"WHERE f.n IS DISTINCT FROM t.n LIMIT {_MAX_LISTED}",
            FRAMES,
            values=[*section_and_table],
            stored=name,
        )
        for row in rows:
            yield name, f"{row['host']}: {row['there']} rows, its responses gave {row['wanted']}"


def _replay(snapshot: Snapshot, options: ReadingOptions) -> list[Problem]:
    """Convert the responses to tables again, and return a problem for each difference found."""
    problems: list[Problem] = []
    buffer = TableBuffer()
    for archived_response, derived_response in derive_stored(read_groups(snapshot), options):
        if derived_response.error is None:
            buffer.add(archived_response, derived_response)
        if len(buffer) > _BATCH_SIZE:
            problems += _differences(snapshot, buffer)
            buffer = TableBuffer()
    return [*problems, *_differences(snapshot, buffer)]


def _differences(snapshot: Snapshot, buffer: TableBuffer) -> Iterator[Problem]:
    """Yield a problem for each stored table that lacks any of the rows in ``buffer``."""
    for name in buffer.declared_tables:
        derived_rows = buffer.rows(name, load_stored_table(snapshot.store, name).schema())
        if derived_rows is None:
            continue
        columns = ", ".join(map(identifier, derived_rows.column_names))
        sql = (
            f"SELECT host FROM (SELECT {columns} FROM derived EXCEPT ALL "
            f"SELECT {columns} FROM stored SEMI JOIN derived USING (run, host))"
        )
        hosts = snapshot.query(sql, stored=name, derived=derived_rows)["host"].to_pylist()
        if hosts:
            host_names = ", ".join(sorted({*hosts})[:3])
            yield name, f"{host_names}: {len(hosts)} rows are others; rebuild()"


def derive_stored(
    groups: Iterable[Sequence[ArchivedResponse]], options: ReadingOptions
) -> Iterator[tuple[ArchivedResponse, DerivedResponse]]:
    """Convert stored responses to tables; yield pairs of a response and its tables."""
    for group in groups:
        responses, payloads = [], []
        for response in group:
            try:
                payloads.append(response.payload())
                responses.append(response)
            except ArchiveError as error:
                yield response, DerivedResponse(response.section, error=error)
        yield from zip(responses, derive(payloads, options), strict=True)


# -- rebuild -----------------------------------------------------------------------------------


def rebuild(
    store: ArchiveStore, options: ReadingOptions, progress: bool | None
) -> dict[str, AAToolkitError]:
    """Convert all responses to tables again, and replace the old rows.

    Returns the errors of responses that could not be converted, by the name of the response.
    """
    runs_before = read_runs(store)
    name = new_run()
    log(store, name, "rebuilding")
    problems: dict[str, AAToolkitError] = {}
    tables: dict[str, StoredTable] = {}
    files: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory(prefix="aatoolkit-") as folder:
        buffer = TableBuffer()

        def spool() -> None:
            tables.update(buffer.declared_tables)
            named_rows = [
                (name, buffer.rows(name, table.schema()))
                for name, table in buffer.declared_tables.items()
            ]
            for name, new_rows in (*named_rows, *buffer.statement_tables()):
                if new_rows is not None and new_rows.num_rows:
                    paths = files.setdefault(name, [])
                    paths.append(Path(folder, f"{len(files)}-{len(paths)}.parquet"))
                    pq.write_table(new_rows, paths[-1], compression="zstd")

        groups = progress_bar(read_groups(Snapshot(store)), progress, total=0, unit="host")
        for response, derived_response in derive_stored(groups, options):
            if derived_response.error is not None:
                problems[response.name] = derived_response.error
                continue
            buffer.add(response, derived_response)
            if buffer.size > _SPOOL_BYTES or len(buffer) >= _BATCH_SIZE:
                spool()
                buffer = TableBuffer()
        spool()
        if name not in read_runs(store).rebuilding:
            raise ArchiveConflict(
                "the tables were made anew by another process meanwhile; nothing is left to do",
                path=store.root,
            )
        _replace(store, tables, files)
    for run in (*sorted(runs_before.rebuilding), name):
        log(store, run, "rebuilt")
    archive_tables = all_tables(store)
    replace_checksums(store, archive_tables, new_tables={*archive_tables} - {RESPONSES, RUNS})
    return problems


def _replace(
    store: ArchiveStore, tables: Mapping[str, StoredTable], files: Mapping[str, Sequence[Path]]
) -> None:
    """Replace the rows of each table by the rows in its files."""
    old_tables = stored_tables(store)
    changes: list[Change] = []
    for name, table in tables.items():
        with contextlib.suppress(ArchiveError):  # damaged metadata is replaced
            changes += _changes(load_stored_table(store, name), table) if name in old_tables else ()
        record_new_tables(store, [table])
        configuration = table.configuration()
        delta_table = store.create(name, table.schema(), configuration=configuration)
        _overwrite(store, name, delta_table, table.schema(), files.get(name, ()))
        with store.errors(name):
            delta_table.update_incremental()
            delta_table.alter.set_table_properties(configuration, raise_if_not_exists=False)
    for name, (section, table_name) in old_tables.items():
        if name in tables:
            continue
        changes.append((section, table_name, None, "no longer declared", None, None))
        delta_table = store.open(name)
        if delta_table is not None:
            with store.errors(name):
                delta_table.delete()
    for name, schema in STATEMENT_TABLES.items():
        _overwrite(store, name, store.create(name, schema), schema, files.get(name, ()))
    add_changes(store, changes)


def _overwrite(
    store: ArchiveStore, name: str, delta_table: Any, schema: pa.Schema, files: Sequence[Path]
) -> None:
    """Replace all rows of a table by the rows in Parquet files."""
    with store.errors(name):
        rows = schema.empty_table()
        if files:
            rows = ds.dataset([*map(str, files)], schema=schema).scanner().to_reader()
        else:
            delta_table.delete()  # writing no rows would leave the old ones
        engine().write_deltalake(
            delta_table,
            rows,
            mode="overwrite",
            schema_mode="overwrite",
            writer_properties=write_options(),
        )


def _changes(old_table: StoredTable, new_table: StoredTable) -> Iterator[Change]:
    """Compare two declarations of a table; yield a row of ``changes`` per difference."""
    section_and_table = new_table.section, new_table.table.name
    for difference, before, after in differences(old_table.table, new_table.table):
        column, _, aspect = difference.partition(": ")
        yield *section_and_table, column, f"changed {aspect or difference}", before, after
    for name in new_table.columns.keys() - old_table.columns.keys():
        yield *section_and_table, name, "new column", None, new_table.columns[name].dtype
    for name in old_table.columns.keys() - new_table.columns.keys():
        yield *section_and_table, name, "no longer declared", old_table.columns[name].dtype, None
