"""One table of a snapshot: its rows, its history, and what its answers say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from aatoolkit.archive import tables as declared
from aatoolkit.archive.frames import AnswerStates, source_of
from aatoolkit.archive.history import history_sql
from aatoolkit.archive.schema import StoredTable
from aatoolkit.archive.selection import Selection
from aatoolkit.archive.snapshot import Snapshot, identifier, run
from aatoolkit.errors import ArchiveError, ScopeError, did_you_mean, near_matches
from aatoolkit.scope import FILTERS, Scope

_ROWS = "rows of the table"
"""The view of a table's rows, whatever the table is called."""


class TableReader:
    """One table of a snapshot, as rows of a selection.

    Parameters
    ----------
    snapshot
        The archive as it is seen.
    section, table
        The table; the section's main table if None.
    """

    def __init__(self, snapshot: Snapshot, section: str, table: str | None) -> None:
        self.snapshot = snapshot
        self.path = self._find(section, table)
        found = declared.load(snapshot.store, self.path)
        if found is None:
            raise ArchiveError(f"the table {self.path} of the archive is missing; try rebuild()")
        self.stored: StoredTable = found[1]

    def _find(self, section: str, table: str | None) -> str:
        there = declared.stored_tables(self.snapshot.store)
        sections = list(dict.fromkeys(name for name, _ in there.values()))
        wanted = section if section in sections else str(section).replace("-", "_")
        if wanted not in sections:
            near = near_matches(str(section), sections)
            hint = did_you_mean(near, f"there are {', '.join(sections) or 'none yet'}")
            raise ScopeError(
                f"the archive has no section {section!r}; {hint}",
                parameter="section",
                unknown=(str(section),),
                suggestions=near,
            )
        names = {name: path for path, (owner, name) in there.items() if owner == wanted}
        if table is None:
            return next(iter(names.values()))
        if table not in names:
            near = near_matches(str(table), names)
            hint = did_you_mean(near, f"it has {', '.join(names)}")
            raise ScopeError(
                f"{wanted} has no table {table!r} in the archive; {hint}",
                parameter="table",
                unknown=(str(table),),
                suggestions=near,
            )
        return names[table]

    def rows(self, selection: Selection) -> pa.Table:
        """The rows of a selection, ordered by host, time and key."""
        order = ["host", "fetched_at", "days", *self.stored.key, "_row"]
        with self.connected() as connection:
            return self._run(
                connection,
                f"SELECT * FROM {identifier(_ROWS)} WHERE {selection.where()} "
                f"ORDER BY {', '.join(map(identifier, order))}",
            )

    def history(self, selection: Selection, *, withdrawn: bool) -> pa.Table:
        """The history of a dated table."""
        sql = history_sql(self.stored, _ROWS, selection.where(), withdrawn=withdrawn)
        with self.connected("frames") as connection:
            return self._run(connection, sql)

    def connected(self, *others: str) -> Any:
        """A connection with a view of the table's rows, and of others."""
        views = {_ROWS: self.path, **{name: name for name in others}}
        return self.snapshot.connect(views)

    def _run(self, connection: Any, sql: str) -> pa.Table:
        with self.snapshot.store.errors(self.path):
            found = run(connection, sql)
        return _typed(found, self.stored)

    def answers(self, selection: Selection) -> tuple[list[AnswerStates], int]:
        """The availability that the answers state for the table, and the number that failed."""
        section, table = self.stored.section, self.stored.table.name
        with self.snapshot.connect({"frames": "frames", "answers": "answers"}) as connection:
            states = run(
                connection,
                f'SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND '
                f"{selection.where()} ORDER BY fetched_at, host, days",
                [section, table],
            ).to_pylist()
            facts = run(
                connection,
                "SELECT run, host, section, scope, fetched_at, url, sha256, stale, window_start, "
                f"window_end, error FROM answers WHERE section = $1 AND "
                f"{selection.where(answers=True)}",
                [section],
            ).to_pylist()
        sources = {
            (row["run"], row["host"], row["scope"], row["fetched_at"]): source_of(row)
            for row in facts
            if row["error"] is None
        }
        found = []
        for row in states:
            place = (row["run"], row["host"], _scope_of(row), row["fetched_at"])
            if place in sources:
                found.append(
                    AnswerStates(row["host"], row["fetched_at"], row["states"], sources[place])
                )
        done = {(r["host"], r["scope"], r["fetched_at"].date()) for r in facts if not r["error"]}
        failed = {(r["host"], r["scope"], r["fetched_at"].date()) for r in facts if r["error"]}
        return found, len(failed - done)


def _typed(found: pa.Table, table: StoredTable) -> pa.Table:
    """A result with the types that the table's columns have; instants in microseconds."""
    kinds = {field.name: field.type for field in table.schema()}
    moment = pa.timestamp("us", tz="UTC")
    fields = [
        pa.field(f.name, kinds.get(f.name, moment if pa.types.is_timestamp(f.type) else f.type))
        for f in found.schema
    ]
    return found.cast(pa.schema(fields))


def _scope_of(row: Mapping[str, Any]) -> str:
    filters = {name: (row[f"filter_{name}"] or "").split(",") for name in FILTERS}
    chosen = {name: [v for v in values if v] for name, values in filters.items()}
    return Scope(days=row["days"], **chosen).to_query()
