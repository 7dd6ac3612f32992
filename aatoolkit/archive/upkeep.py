"""Keep an archive small and fast, and forget: sweep dead runs, compact, vacuum, remove."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from aatoolkit.archive import tables as declared
from aatoolkit.archive.answers import ANSWERS
from aatoolkit.archive.checksums import note_all
from aatoolkit.archive.runs import RUNS, log, new_run, read_runs
from aatoolkit.archive.schema import among, bare
from aatoolkit.archive.snapshot import Snapshot, in_list
from aatoolkit.archive.statement_tables import BESIDE
from aatoolkit.archive.store import TRIES, ArchiveStore, engine, wait
from aatoolkit.errors import ArchiveConflict, ArchiveError

LARGE = 1 << 30
"""A month of a table that is larger is not sorted anew; its files are only joined."""

_ORPHANS = 24 * 7
"""How old, in hours, a file must be that no commit names before it is removed."""

_QUESTION = ("host", "section", "scope", "sha256")


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
    """The tables that have rows of hosts: the answers, the declared tables and those beside."""
    return [ANSWERS, *declared.stored_tables(store), *BESIDE]


def all_tables(store: ArchiveStore) -> dict[str, Any | None]:
    """Every table of an archive, open, by name."""
    names = (*names_of(store), RUNS, declared.CATALOG, declared.CHANGES)
    return {name: store.open(name) for name in names}


def compact(store: ArchiveStore, *, keep_hours: float, rows: int = 0) -> UpkeepReport:
    """Sweep dead runs, join small files, sort by host, and remove files no reader needs."""
    if not isinstance(keep_hours, int | float) or not 0 <= keep_hours < math.inf:
        raise ArchiveError(f"keep_hours={keep_hours!r} is no number of hours, 0 or more")
    before = _measured(store)
    _sweep(store)
    busy = []
    for name in names_of(store):
        try:
            _compact(store, name, keep_hours)
        except ArchiveConflict:
            busy.append(name)
    for name in (RUNS, declared.CATALOG, declared.CHANGES):
        table = store.open(name)
        if table is not None and len(table.file_uris()) > 1:
            try:
                with store.errors(name):
                    table.optimize.compact(writer_properties=_written())
                    _vacuum(table, keep_hours)
            except ArchiveConflict:
                busy.append(name)
    note_all(store, all_tables(store))
    after = _measured(store)
    return UpkeepReport(
        (before[0], after[0]), (before[1], after[1]), rows, _hosts(store), tuple(busy)
    )


def _sweep(store: ArchiveStore) -> None:
    """Remove the rows of dead runs, which cannot be committed after that."""
    runs, _ = read_runs(store)
    dead = runs.dead(datetime.now(UTC))
    if not dead:
        return
    for run in sorted(dead - runs.removing):
        log(store, run, "removing", note={})
    _delete(store, in_list("run", sorted(dead)))
    for run in sorted(dead):
        log(store, run, "removed", note={})


def _compact(store: ArchiveStore, name: str, keep_hours: float) -> None:
    table = store.open(name)
    if table is None:
        return
    # Read after the table: every run with rows in it is known by now.
    runs, _ = read_runs(store)
    live = runs.unfinished
    with store.errors(name):
        actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    touched = set()
    for row in actions:
        month = str(row["partition.month"])
        files[month] += 1
        sizes[month] += row["size_bytes"] or 0
        low, high = row.get("min.run"), row.get("max.run")
        if any(low is None or high is None or low <= run <= high for run in live):
            touched.add(month)
    with store.errors(name):
        for month in sorted(files):
            # Rows of an unfinished run stay in files of their own, so that readers can pass over.
            if files[month] > 1 and month not in touched:
                only = [("month", "=", month)]
                if sizes[month] > LARGE:
                    table.optimize.compact(only, writer_properties=_written())
                else:
                    table.optimize.z_order(["host"], only, writer_properties=_written())
        _vacuum(table, keep_hours)


def _vacuum(table: Any, keep_hours: float) -> None:
    options = {"dry_run": False, "enforce_retention_duration": False}
    hours = math.ceil(keep_hours)
    table.vacuum(hours, **options)
    table.vacuum(max(hours, _ORPHANS), full=True, **options)


def _written() -> Any:
    return engine().WriterProperties(compression="ZSTD", compression_level=6)


def forget(
    store: ArchiveStore, hosts: Sequence[str] | None, before: datetime | None
) -> UpkeepReport:
    """Remove the answers of hosts, or those fetched before a moment, with all that is of them."""
    if hosts is None and before is None:
        raise ArchiveError("say what to forget: hosts, or what was fetched before a moment")
    # Which hosts is not written down: they are to be forgotten.
    condition = {"hosts": None if hosts is None else len(hosts), "before": before and f"{before}"}
    # From here on no run that began before can be committed: it may refer to what goes.
    log(store, new_run(), "forgotten", note=condition)
    parts = []
    if hosts is not None:
        parts.append(in_list("host", hosts) if hosts else "false")
    if before is not None:
        parts.append(f"month <= '{before:%Y-%m}'")
        parts.append(f"fetched_at < {_literal(before)}")
    removed = _delete(store, " AND ".join(parts), before)
    report = compact(store, keep_hours=0, rows=removed)
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
    removed = 0
    for name in names_of(store):
        for tried in range(TRIES):
            try:
                removed += _delete_from(store, name, condition, before)
                break
            except ArchiveConflict:
                if tried == TRIES - 1:
                    raise
            wait(tried)
    return removed


def _delete_from(store: ArchiveStore, name: str, condition: str, before: datetime | None) -> int:
    """Remove rows in one commit; the bodies that others refer to stay with the first of those."""
    table = store.open(name)
    if table is None:
        return 0
    rows = None
    if name == ANSWERS and before is not None:
        shared, rows = _heirs(store, table, before)
        if shared:
            later = f"{in_list('sha256', shared)} AND fetched_at >= {_literal(before)}"
            condition = f"(({condition}) OR ({later}))"
    there = _rows(table)
    schema = bare(pa.schema(table.schema().to_arrow()))
    # Not DeltaTable.delete: the files that it writes have view types, which pyarrow cannot filter.
    with store.errors(name):
        engine().write_deltalake(
            table,
            schema.empty_table() if rows is None else rows,
            mode="overwrite",
            predicate=condition,
            writer_properties=_written(),
        )
        table.update_incremental()
    return there - _rows(table)


def _rows(table: Any) -> int:
    return sum(pa.table(table.get_add_actions(flatten=True))["num_records"].to_pylist())


def _heirs(store: ArchiveStore, table: Any, before: datetime) -> tuple[list[str], pa.Table | None]:
    """The hashes of bodies to move to later rows, as their first row is removed; and those rows."""
    dataset = store.dataset(ANSWERS, table)
    columns = [*_QUESTION, "fetched_at", "has_body"]
    with store.errors(ANSWERS):
        rows = dataset.to_table(columns=columns).to_pylist()
    going = {_place(row) for row in rows if row["fetched_at"] < before and row["has_body"]}
    later = [row for row in rows if row["fetched_at"] >= before and row["sha256"] is not None]
    lost = {_place(row) for row in later} & going - {_place(r) for r in later if r["has_body"]}
    shared = sorted({place[-1] for place in lost})
    if not shared:
        return [], None
    with store.errors(ANSWERS):
        whole = dataset.to_table(filter=among("sha256", shared))
    listed = sorted(whole.to_pylist(), key=lambda row: row["fetched_at"])
    bodies = {_place(row): row["body"] for row in listed if row["has_body"]}
    kept = []
    for row in listed:
        if row["fetched_at"] < before:
            continue
        place = _place(row)
        if place in lost:
            lost.discard(place)
            row |= {"body": bodies[place], "has_body": True}
        kept.append(row)
    return shared, pa.Table.from_pylist(kept, schema=bare(whole.schema))


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _QUESTION)


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
    files = size = 0
    own: Iterable[str] = (*names_of(store), RUNS, declared.CATALOG, declared.CHANGES)
    for name in own:
        table = store.open(name)
        if table is not None:
            rows = pa.table(table.get_add_actions(flatten=True))
            files += rows.num_rows
            size += sum(rows["size_bytes"].to_pylist())
    return files, size


def _hosts(store: ArchiveStore) -> int:
    snapshot = Snapshot(store)
    if snapshot.files(ANSWERS).table is None:
        return 0
    return len(set(snapshot.to_arrow(ANSWERS, ["host"])["host"].to_pylist()))
