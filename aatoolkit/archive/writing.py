"""Write one run: responses first, tables next, the row in ``runs`` last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from aatoolkit.archive import schema
from aatoolkit.archive.checksums import note
from aatoolkit.archive.derive import BESIDE, DerivedResponse, TableBuffer
from aatoolkit.archive.responses import (
    RESPONSES,
    SCHEMA,
    USABLE,
    ArchivedResponse,
    Identity,
    ResponseIndex,
    groups_of,
    to_arrow,
)
from aatoolkit.archive.runs import RUNS, RunLog, log, new_run
from aatoolkit.archive.snapshot import Snapshot, in_list
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError

FLUSH_BYTES = 1 << 27
"""The size of rows in memory at which they are written."""

FLUSH_RESPONSES = 6_000
"""The number of responses whose rows are in memory at most."""

Derive = Callable[[Sequence[ArchivedResponse]], list[DerivedResponse]]


class _Doubled(Exception):
    """Other runs that were committed meanwhile hold some of the same responses."""

    def __init__(self, identities: set[Identity]) -> None:
        super().__init__()
        self.identities = identities


class RunWriter:
    """One run of an archive, from ``begun`` to ``committed``; none if nothing of it is new.

    Parameters
    ----------
    store
        The archive.
    index
        The responses that are there.
    derive
        What makes tables of responses, for a run that has to be written again.
    """

    def __init__(self, store: ArchiveStore, index: ResponseIndex, derive: Derive) -> None:
        self.store, self._derive = store, derive
        self.problems: dict[str, AAToolkitError] = {}
        self._buffer = TableBuffer()
        self._tables: dict[str, Any] = {}
        self._restart(index)

    def _restart(self, index: ResponseIndex) -> None:
        self.run, self.index = new_run(), index
        self.responses = self.failed = 0
        # What was committed since the index was read may hold the same responses.
        self._seen, self._began = index.runs, RunLog([])
        self._has_begun = False

    def put(self, responses: Iterable[ArchivedResponse]) -> list[ArchivedResponse]:
        """Store responses in one commit; returns those that were not there already."""
        fresh = [replace(row, run=self.run) for row in responses if not self.index.has(row)]
        rows = []
        for row in fresh:
            is_kept = row.error is None and self.index.has_body(row)
            rows.append(replace(row, body=None) if is_kept else row)
            self.index.add(rows[-1])
        if rows and not self._has_begun:
            log(self.store, self.run, "begun", check=self._look)
            self._has_begun = True
        if rows:
            self.store.append(self._table(RESPONSES, SCHEMA), to_arrow(rows))
        failed = sum(row.error is not None for row in rows)
        self.failed += failed
        self.responses += len(rows) - failed
        return fresh

    def _look(self, runs: RunLog) -> None:
        if runs.rebuilding:
            raise ArchiveError(
                "the tables are being made anew, or that was interrupted; wait, or run "
                "archive.rebuild() again",
                path=self.store.root,
            )
        self._began = runs

    def take(self, pairs: Iterable[tuple[ArchivedResponse, DerivedResponse]]) -> None:
        """Buffer the derived rows of stored responses; many of them are written at once."""
        for response, tables in pairs:
            if tables.error is None:
                self._buffer.add(response, tables)
            else:
                self.problems[response.name] = tables.error
        if self._buffer.size > FLUSH_BYTES or len(self._buffer) > FLUSH_RESPONSES:
            self.flush()
            log(self.store, self.run, "alive")

    def flush(self) -> None:
        """Write the buffered rows; nobody sees them before the run is committed."""
        buffer, self._buffer = self._buffer, TableBuffer()
        new = (table for name, table in buffer.declared.items() if name not in self._tables)
        schema.prepare(self.store, new)
        left_out: list[str] = []
        for name, stored in buffer.declared.items():
            try:
                table = self._tables.get(name)
                names = set() if table is None else {f.name for f in table.schema().fields}
                if table is None or not {*stored.columns} <= names:
                    table = self._tables[name] = schema.ensure(self.store, stored)
                rows = buffer.rows(name, pa.schema(table.schema().to_arrow()))
            except ArchiveConflict:
                raise
            except ArchiveError as error:
                self.problems[name] = error
                left_out.append(f"{stored.section}.{stored.table.name}")
                continue
            if rows is not None:
                self.store.append(table, rows)
        for name, rows in buffer.beside():
            if left_out and "table" in rows.column_names:
                pairs = zip(rows["section"].to_pylist(), rows["table"].to_pylist(), strict=True)
                rows = rows.filter(pa.array([".".join(pair) not in left_out for pair in pairs]))
            self.store.append(self._table(name, BESIDE[name]), rows)

    def commit(self) -> str | None:
        """Make the run visible, whole; returns its name, or None if nothing of it was new.

        Raises
        ------
        ArchiveConflict
            If what it refers to was removed meanwhile; adding again continues.
        """
        if not self._has_begun:
            return None
        self.flush()
        changes = self.store.peek(schema.CHANGES)
        note(self.store, {**self._tables, schema.CHANGES: changes}, [self.run])
        doubled: set[Identity] = set()
        try:
            log(
                self.store,
                self.run,
                "committed",
                check=self._check,
                responses=self.responses,
                failed=self.failed,
            )
        except _Doubled as error:
            doubled = error.identities
        if not doubled:
            note(self.store, {RUNS: self.store.peek(RUNS)})
            return self.run
        # Written again under another name, without what others have committed.
        old = self.run
        self._restart(ResponseIndex(self.store))
        snapshot = Snapshot(self.store, self._seen.committed | {old})
        for group in groups_of(snapshot, in_list("run", [old])):
            fresh = self.put(row for row in group if row.identity not in doubled)
            usable = [row for row in fresh if row.error is None]
            self.take(zip(usable, self._derive(usable), strict=True))
        return self.commit()

    def _check(self, runs: RunLog) -> None:
        """Raise unless the run may be committed after what was committed before it."""
        if self.run in runs.removing:
            raise ArchiveConflict(
                "this run gave no sign for so long that it was taken for dead and removed; add "
                "again",
                path=self.store.root,
            )
        before = {(row["run"], row["state"]) for row in self._began.rows}
        after = {row["state"] for row in runs.rows if (row["run"], row["state"]) not in before}
        if after & {"forgotten", "rebuilding", "rebuilt"}:
            raise ArchiveConflict(
                "responses were removed from the archive, or its tables made anew, while others "
                "were added to it; add again, which continues where this ended",
                path=self.store.root,
            )
        new = runs.committed - self._seen.committed
        if new:
            theirs = self._identities(new)
            if theirs & self._identities(frozenset({self.run})):
                raise _Doubled(theirs)
            self._seen = runs

    def _identities(self, runs: frozenset[str]) -> set[Identity]:
        """The identities of the responses of some runs."""
        snapshot = Snapshot(self.store, runs)
        if not snapshot.has(RESPONSES):
            return set()
        rows = snapshot.rows(
            "SELECT host, section, scope, fetched_at, sha256 FROM responses "
            f"WHERE {USABLE} AND {in_list('run', runs)}",
            RESPONSES,
        )
        return {tuple(row.values()) for row in rows}

    def _table(self, name: str, columns: pa.Schema) -> Any:
        if name not in self._tables:
            self._tables[name] = self.store.create(name, columns)
        return self._tables[name]
