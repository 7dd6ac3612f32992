"""Rebuild the tables from the stored responses, after a declaration or a profile changed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit.archive import tables as declared
from aatoolkit.archive.archived import RESPONSES, ArchivedResponse, groups_of
from aatoolkit.archive.checksums import note_all
from aatoolkit.archive.derive import BESIDE, TableBuffer, derive_stored
from aatoolkit.archive.runs import RUNS, log, new_run, read_runs
from aatoolkit.archive.schema import StoredTable, bare, fitted, united
from aatoolkit.archive.snapshot import Snapshot
from aatoolkit.archive.store import ArchiveStore, engine
from aatoolkit.archive.upkeep import all_tables
from aatoolkit.client.concurrency import progress_bar
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.sections import Profile

_SPOOL_BYTES = 1 << 27


def rebuild(
    store: ArchiveStore, profile: Profile | None, max_nodes: int, progress: bool | None
) -> dict[str, AAToolkitError]:
    """Replace the rows of every table by those derived of the responses today.

    Each table changes in one commit. Until all have, nothing can be added; a rebuild that was
    interrupted is done again, and so ended. Returns the responses that give no tables, and why.
    """
    before, exists = read_runs(store)
    if not exists:
        raise ArchiveError(f"there is no archive at {store.root} yet", path=store.root)
    name = new_run()
    log(store, name, "rebuilding", note={})
    problems: dict[str, AAToolkitError] = {}
    with tempfile.TemporaryDirectory(prefix="aatoolkit-") as folder:
        spool = _Spool(Path(folder))
        watched = progress_bar(groups_of(Snapshot(store)), progress, total=0, unit="host")
        for response, found in derive_stored(watched, profile, max_nodes):
            if found.error is not None:
                problems[response.name] = found.error
            else:
                spool.add(response, found)
        spool.flush()
        if name not in read_runs(store)[0].rebuilding:
            raise ArchiveConflict(
                "the tables were made anew by another process meanwhile; nothing is left to do",
                path=store.root,
            )
        _replace(store, spool)
    for each in (*sorted(before.rebuilding), name):
        log(store, each, "rebuilt", note={})
    whole = all_tables(store)
    note_all(store, whole, anew={*whole} - {RESPONSES, RUNS})
    return problems


class _Spool:
    """Rows of all tables in temporary files, until every response has been read."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._buffer, self._count = folder, TableBuffer(), 0
        self.tables: dict[str, StoredTable] = {}
        self.files: dict[str, list[Path]] = {}

    def add(self, response: ArchivedResponse, found: Any) -> None:
        self._buffer.add(response, found)
        if self._buffer.size > _SPOOL_BYTES or len(self._buffer) >= 5000:
            self.flush()

    def flush(self) -> None:
        buffer, self._buffer = self._buffer, TableBuffer()
        for name, table in buffer.declared.items():
            known = self.tables.get(name)
            self.tables[name] = table if known is None else united(known, table)
        declared = {name: table.schema() for name, table in buffer.declared.items()}
        tables = [(name, buffer.rows(name, schema)) for name, schema in declared.items()]
        for name, rows in (*tables, *buffer.beside()):
            if rows is None:
                continue
            path = self._folder / f"{self._count}.parquet"
            self._count += 1
            pq.write_table(rows, path, compression="zstd")
            self.files.setdefault(name, []).append(path)

    def reader(self, name: str, schema: pa.Schema) -> pa.RecordBatchReader:
        """The rows of a table as a stream, in its schema."""

        def batches() -> Iterable[pa.RecordBatch]:
            for path in self.files.get(name, []):
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=65_536):
                        rows = pa.Table.from_batches([batch])
                        yield from fitted(rows, schema, as_text=True).to_batches()

        return pa.RecordBatchReader.from_batches(bare(schema), batches())


def _replace(store: ArchiveStore, spool: _Spool) -> None:
    """Replace the rows that are there, table by table."""
    there = declared.stored_tables(store)
    changes: list[declared.Change] = []
    for name, table in spool.tables.items():
        found = declared.load_quietly(store, name) if name in there else None
        if found is not None:
            changes += _changes(found, table)
        elif name not in there:
            declared.prepare(store, [table])
        delta = store.create(
            name,
            table.schema(),
            description=table.table.doc,
            configuration=table.configuration(),
        )
        _overwrite(store, delta, spool.reader(name, table.schema()), table.schema(), name)
        with store.errors(name):
            delta.update_incremental()
            delta.alter.set_table_properties(table.configuration(), raise_if_not_exists=False)
    for name, (section, short) in there.items():
        if name not in spool.tables:
            delta = store.open(name)
            if delta is not None:
                with store.errors(name):
                    delta.delete()
            changes.append((section, short, None, "no longer declared", None, None))
    for name, schema in BESIDE.items():
        delta = store.create(name, schema)
        _overwrite(store, delta, spool.reader(name, schema), schema, name)
    declared.record(store, changes)


def _overwrite(
    store: ArchiveStore, delta: Any, rows: pa.RecordBatchReader, schema: pa.Schema, name: str
) -> None:
    deltalake = engine()
    # A stream without rows commits nothing, and would leave the old ones.
    first = next((batch for batch in rows if batch.num_rows), None)
    same = pa.schema(delta.schema().to_arrow()).equals(schema, check_metadata=True)
    with store.errors(name):
        if first is None:
            delta.delete()
            if same:
                return
        whole = schema.empty_table().to_batches() if first is None else [first]

        def all_rows() -> Iterable[pa.RecordBatch]:
            for batch in whole:
                yield batch.cast(schema)
            for batch in rows if first is not None else ():
                yield batch.cast(schema)

        deltalake.write_deltalake(
            delta,
            pa.RecordBatchReader.from_batches(schema, all_rows()),
            mode="overwrite",
            schema_mode="overwrite",
            writer_properties=deltalake.WriterProperties(compression="ZSTD", compression_level=6),
        )


def _changes(old: StoredTable, new: StoredTable) -> list[declared.Change]:
    place = (new.section, new.table.name)
    found: list[declared.Change] = [
        (*place, what.partition(":")[0], f"changed {what.partition(': ')[2] or what}", a, b)
        for what, a, b in declared.differences(old.table, new.table)
    ]
    found += [
        (*place, name, "new column", None, column.dtype)
        for name, column in new.columns.items()
        if name not in old.columns
    ]
    found += [
        (*place, name, "no longer declared", column.dtype, None)
        for name, column in old.columns.items()
        if name not in new.columns
    ]
    return found
