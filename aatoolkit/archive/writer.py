"""Write one run: responses first, tables next, the row in ``runs`` last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from aatoolkit.archive import tables as declared
from aatoolkit.archive.archived import (
    RESPONSES,
    SCHEMA,
    USABLE,
    ArchivedResponse,
    Identity,
    ResponseIndex,
    groups_of,
    to_arrow,
)
from aatoolkit.archive.checksums import note
from aatoolkit.archive.derive import BESIDE, DerivedResponse, TableBuffer
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
    """Other runs that were committed meanwhile may hold the same responses."""

    def __init__(self, runs: frozenset[str]) -> None:
        super().__init__()
        self.runs = runs


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
        self.store, self.index, self._derive = store, index, derive
        self.run = new_run()
        self.problems: dict[str, AAToolkitError] = {}
        self.responses = self.failed = 0
        # What was committed since the index was read may hold the same responses.
        self._seen, self._began = index.runs, RunLog([])
        self._has_begun = False
        self._buffer = TableBuffer()
        self._tables: dict[str, Any] = {}

    def _begin(self) -> None:
        """Append ``begun`` to the log of runs, before the first row is written."""
        if not self._has_begun:
            log(self.store, self.run, "begun", check=self._look)
            self._has_begun = True

    def _look(self, runs: RunLog) -> None:
        if runs.rebuilding:
            raise ArchiveError(
                "the tables are being made anew, or that was interrupted; wait, or run "
                "archive.rebuild() again",
                path=self.store.root,
            )
        self._began = runs

    def put(self, responses: Iterable[ArchivedResponse]) -> list[ArchivedResponse]:
        """Store responses in one commit; returns those that were not there already."""
        fresh = [
            replace(response, run=self.run)
            for response in responses
            if not self.index.has(response)
        ]
        rows = []
        for response in fresh:
            known = response.error is None and self.index.has_body(response)
            rows.append(replace(response, body=None) if known else response)
            self.index.add(rows[-1])
        if rows:
            self._begin()
            self.store.append(self._table(RESPONSES, SCHEMA), to_arrow(rows))
        self.responses += sum(response.error is None for response in rows)
        self.failed += sum(response.error is not None for response in rows)
        return fresh

    def take(
        self, responses: Sequence[ArchivedResponse], derived: Sequence[DerivedResponse]
    ) -> None:
        """Buffer the derived rows of stored responses; many of them are written at once."""
        for response, found in zip(responses, derived, strict=True):
            if found.error is None:
                self._buffer.add(response, found)
        if self._buffer.size > FLUSH_BYTES or len(self._buffer) > FLUSH_RESPONSES:
            self.flush()
            log(self.store, self.run, "alive")

    def flush(self) -> None:
        """Write the buffered rows; nobody sees them before the run is committed."""
        buffer, self._buffer = self._buffer, TableBuffer()
        declared.prepare(
            self.store, (t for name, t in buffer.declared.items() if name not in self._tables)
        )
        left_out: set[tuple[str, str]] = set()
        for name, stored in buffer.declared.items():
            try:
                table = self._tables.get(name)
                names = set() if table is None else {f.name for f in table.schema().fields}
                if table is None or not {*stored.columns} <= names:
                    table = self._tables[name] = declared.ensure(self.store, stored)
                rows = buffer.rows(name, pa.schema(table.schema().to_arrow()))
            except ArchiveConflict:
                raise
            except ArchiveError as error:
                self.problems[name] = error
                left_out.add((stored.section, stored.table.name))
                continue
            if rows is not None:
                self.store.append(table, rows)
        for name, rows in buffer.beside():
            self.store.append(self._table(name, BESIDE[name]), _without(rows, left_out))

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
        changes = self.store.peek(declared.CHANGES)
        note(self.store, {**self._tables, declared.CHANGES: changes}, [self.run])
        doubled: frozenset[str] | None = None
        try:
            log(
                self.store,
                self.run,
                "committed",
                responses=self.responses,
                failed=self.failed,
                check=self._check,
            )
            note(self.store, {RUNS: self.store.peek(RUNS)})
            return self.run
        except _Doubled as found:
            doubled = found.runs
        return self._again(doubled)

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
            mine = self._identities(frozenset({self.run}))
            if mine & self._identities(new):
                raise _Doubled(new)
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

    def _again(self, others: frozenset[str]) -> str | None:
        """Write the run again under another name, without what others have committed."""
        doubled = self._identities(others)
        old = self.run
        self.run, self.index = new_run(), ResponseIndex(self.store)
        self._seen = self.index.runs
        snapshot = Snapshot(self.store, self._seen.committed | {old})
        self.responses = self.failed = 0
        self._has_begun = False
        for group in groups_of(snapshot, in_list("run", [old])):
            left = [response for response in group if response.identity not in doubled]
            fresh = self.put(left)
            usable = [response for response in fresh if response.error is None]
            self.take(usable, self._derive(usable))
        return self.commit()

    def _table(self, name: str, schema: pa.Schema) -> Any:
        if name not in self._tables:
            self._tables[name] = self.store.create(name, schema)
        return self._tables[name]


def _without(rows: pa.Table, left_out: set[tuple[str, str]]) -> pa.Table:
    """The statement rows without those of tables that could not be written."""
    if not left_out or "table" not in rows.column_names:
        return rows
    keep = [
        (section, table) not in left_out
        for section, table in zip(
            rows["section"].to_pylist(), rows["table"].to_pylist(), strict=True
        )
    ]
    return rows.filter(pa.array(keep))
