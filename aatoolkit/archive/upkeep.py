"""Keep an archive small and fast, and forget: sweep dead runs, compact, vacuum, remove."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from aatoolkit.archive.checksums import note_all
from aatoolkit.archive.derive import BESIDE
from aatoolkit.archive.responses import RESPONSES, SCHEMA
from aatoolkit.archive.runs import RUNS, log, new_run, read_runs
from aatoolkit.archive.schema import CHANGES, bare, stored_tables
from aatoolkit.archive.snapshot import Snapshot, in_list, quoted
from aatoolkit.archive.store import ArchiveStore, again, engine, written
from aatoolkit.errors import ArchiveConflict, ArchiveError

LARGE = 1 << 30
"""A month of a table that is larger is not sorted anew; its files are only joined."""

_ORPHANS = 24 * 7
"""How old, in hours, a file must be that no commit names before it is removed."""


@dataclass(frozen=True)
class UpkeepReport:
    """The result of compacting or forgetting: files and bytes before and after, rows removed.

    Attributes
    ----------
    files, bytes : tuple of int
        The data files and their bytes, before and after.
    rows : int
        The rows that were removed.
    hosts : int
        The hosts that are left.
    busy : tuple of str
        The tables that another process was writing to, and that were left as they are.
    """

    files: tuple[int, int]
    bytes: tuple[int, int]
    rows: int
    hosts: int
    busy: tuple[str, ...] = ()

    def __repr__(self) -> str:
        removed = f"{self.rows:,} rows removed, " if self.rows else ""
        busy = f", {len(self.busy)} tables were busy" if self.busy else ""
        return (
            f"<UpkeepReport: {removed}{self.files[0]:,} files of {self.bytes[0]:,} bytes are now "
            f"{self.files[1]:,} of {self.bytes[1]:,}; {self.hosts} hosts{busy}>"
        )


def names_of(store: ArchiveStore) -> list[str]:
    """The tables that have rows of hosts: the responses, the declared tables and those beside."""
    return [RESPONSES, *stored_tables(store), *BESIDE]


def all_tables(store: ArchiveStore) -> dict[str, Any]:
    """Every table of an archive that there is, open, by name."""
    tables = {name: store.open(name) for name in (*names_of(store), RUNS, CHANGES)}
    return {name: table for name, table in tables.items() if table is not None}


def compact(store: ArchiveStore, *, keep_hours: float, rows: int = 0) -> UpkeepReport:
    """Sweep dead runs, join small files, sort by host, and remove files no reader needs."""
    if not isinstance(keep_hours, int | float) or not 0 <= keep_hours < math.inf:
        raise ArchiveError(f"keep_hours={keep_hours!r} is not a number of hours from 0")
    before = _measured(store)
    _sweep(store)
    busy = []
    for name, table in all_tables(store).items():
        try:
            _compact(store, name, table, keep_hours)
        except ArchiveConflict:
            busy.append(name)
    note_all(store, all_tables(store))
    after = _measured(store)
    hosts = 0
    if store.peek(RESPONSES) is not None:
        sql = "SELECT count(DISTINCT host) AS n FROM responses"
        hosts = int(Snapshot(store).rows(sql, RESPONSES)[0]["n"])
    files, sizes = zip(before, after, strict=True)
    return UpkeepReport(files, sizes, rows, hosts, tuple(busy))


def _sweep(store: ArchiveStore) -> None:
    """Remove the rows of dead runs, which cannot be committed after that."""
    runs, _ = read_runs(store)
    dead = sorted(runs.dead(datetime.now(UTC)))
    for run in dead:
        if run not in runs.removing:
            log(store, run, "removing", note={})
    if dead:
        _delete(store, in_list("run", dead))
    for run in dead:
        log(store, run, "removed", note={})


def _compact(store: ArchiveStore, name: str, table: Any, keep_hours: float) -> None:
    # Read after the table: every run with rows in it is known by now.
    live = read_runs(store)[0].unfinished if name not in (RUNS, CHANGES) else frozenset()
    files: Counter[str | None] = Counter()
    sizes: Counter[str | None] = Counter()
    touched = set()
    for row in store.actions(name, table):
        month = row.get("partition.month")
        files[month] += 1
        sizes[month] += row["size_bytes"] or 0
        low, high = row.get("min.run"), row.get("max.run")
        if any(low is None or high is None or low <= run <= high for run in live):
            touched.add(month)
    with store.errors(name):
        for month, count in files.items():
            # Rows of an unfinished run stay in files of their own, so that readers can pass over.
            if count < 2 or month in touched:
                continue
            only = None if month is None else [("month", "=", month)]
            if month is None or sizes[month] > LARGE:
                table.optimize.compact(only, writer_properties=written())
            else:
                table.optimize.z_order(["host"], only, writer_properties=written())
        options = {"dry_run": False, "enforce_retention_duration": False}
        hours = math.ceil(keep_hours)
        table.vacuum(hours, **options)
        table.vacuum(max(hours, _ORPHANS), full=True, **options)


def forget(
    store: ArchiveStore, hosts: Sequence[str] | None, before: datetime | None
) -> UpkeepReport:
    """Remove the responses of hosts, or those fetched before a moment, with all that is of them."""
    if hosts is None and before is None:
        raise ArchiveError("say what to forget: hosts, or what was fetched before a moment")
    # Which hosts is not written down: they are to be forgotten.
    condition = {"hosts": None if hosts is None else len(hosts), "before": before and f"{before}"}
    # From here on no run that began before can be committed: it may refer to what goes.
    log(store, new_run(), "forgotten", note=condition)
    parts = [] if hosts is None else [in_list("host", hosts)]
    if before is not None:
        parts += [f"month <= '{before:%Y-%m}'", f"fetched_at < {_literal(before)}"]
    report = compact(store, keep_hours=0, rows=_delete(store, " AND ".join(parts), before))
    # On an object store this takes minutes and may not end; there Delta's retention removes them.
    for name in names_of(store) if store.is_local else ():
        _drop_log(store, name)
    note_all(store, all_tables(store))
    return report


def _literal(moment: datetime) -> str:
    kind = "'Timestamp(Microsecond, Some(\"UTC\"))'"
    return f"arrow_cast('{moment.isoformat()}', {kind})"


def _delete(store: ArchiveStore, condition: str, before: datetime | None = None) -> int:
    """Remove rows from all tables, table by table; returns how many."""
    return sum(
        again(lambda name=name: _delete_from(store, name, condition, before))  # type: ignore[misc]
        for name in names_of(store)
    )


def _delete_from(store: ArchiveStore, name: str, condition: str, before: datetime | None) -> int:
    """Remove rows in one commit; the bodies that others refer to stay with the first of those."""
    table = store.open(name)
    if table is None:
        return 0
    columns = bare(pa.schema(table.schema().to_arrow()))
    rows = columns.empty_table()
    if name == RESPONSES and before is not None:
        begun = read_runs(store)[0].begun
        rows = _heirs(Snapshot(store, begun, {RESPONSES: table}), quoted(before)).cast(columns)
        if rows.num_rows:
            later = in_list("sha256", {*rows["sha256"].to_pylist()})
            condition = f"(({condition}) OR ({later} AND fetched_at >= {_literal(before)}))"

    def count() -> int:
        return sum(row["num_records"] for row in store.actions(name, table))

    there = count()
    # Not DeltaTable.delete: the files that it writes have view types, which pyarrow cannot filter.
    with store.errors(name):
        engine().write_deltalake(
            table, rows, mode="overwrite", predicate=condition, writer_properties=written()
        )
        table.update_incremental()
    return there - count()


def _heirs(snapshot: Snapshot, before: str) -> pa.Table:
    """The later rows with the hashes of bodies whose row is removed; the first has the body now."""
    names = ", ".join(SCHEMA.names)
    return snapshot.query(
        f"""
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
        SELECT {names} FROM heirs
        """,
        RESPONSES,
    )


def _drop_log(store: ArchiveStore, name: str) -> None:
    """Remove old commits of a table, which name hosts in their statistics."""
    table = store.open(name)
    if table is None:
        return
    kept = table.metadata().configuration.get(_RETENTION, "interval 30 days")
    with store.errors(name):
        table.alter.set_table_properties({_RETENTION: "interval 0 seconds"})
        table.create_checkpoint()
        table.cleanup_metadata()
        table.alter.set_table_properties({_RETENTION: kept})


_RETENTION = "delta.logRetentionDuration"


def _measured(store: ArchiveStore) -> tuple[int, int]:
    """Count the data files of all tables, and their bytes."""
    rows = [row for name, table in all_tables(store).items() for row in store.actions(name, table)]
    return len(rows), sum(row["size_bytes"] or 0 for row in rows)
