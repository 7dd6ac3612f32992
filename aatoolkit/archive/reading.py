"""One table of a snapshot: its rows, its history, and what its responses say of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from aatoolkit.archive import tables as declared
from aatoolkit.archive.archived import USABLE
from aatoolkit.archive.frames import ResponseStates, source_of
from aatoolkit.archive.schema import CONTEXT_FIELDS, StoredTable
from aatoolkit.archive.snapshot import Selection, Snapshot, identifier, quoted, run
from aatoolkit.errors import ArchiveError, ScopeError, did_you_mean, near_matches
from aatoolkit.scope import FILTERS

_FILTERS = tuple(f"filter_{name}" for name in FILTERS)
_PLACE = ("run", "section", "sha256", "fetched_at", "host", "days", *_FILTERS)
"""The columns by which what a response states finds the response."""

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
            raise _unknown("the archive", "section", str(section), sections)
        names = {name: path for path, (owner, name) in there.items() if owner == wanted}
        if table is not None and table not in names:
            raise _unknown(f"{wanted} in the archive", "table", str(table), [*names])
        return names[table or next(iter(names))]

    def rows(self, selection: Selection) -> pa.Table:
        """The rows of a selection, ordered by host, time and key."""
        order = ["host", "fetched_at", "days", *self.stored.key, "_row"]
        with self.connected() as connection:
            return self._run(
                connection,
                f"SELECT * FROM {identifier(_ROWS)} WHERE {selection.where} "
                f"ORDER BY {', '.join(map(identifier, order))}",
            )

    def history(self, selection: Selection, *, withdrawn: bool) -> pa.Table:
        """The history of a dated table."""
        sql = history_sql(self.stored, _ROWS, selection.where, withdrawn=withdrawn)
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

    def responses(self, selection: Selection) -> tuple[list[ResponseStates], int]:
        """The availability that the responses state for the table, and the number that failed."""
        same = " AND ".join(f"f.{name} IS NOT DISTINCT FROM a.{name}" for name in _PLACE)
        with self.connected("frames", "responses") as connection:
            stated = run(
                connection,
                "SELECT a.* EXCLUDE (body), f.states FROM "
                f'(SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND {selection.where}) '
                f"f JOIN (SELECT * FROM responses WHERE {USABLE}) a ON {same} "
                "ORDER BY a.fetched_at, a.host, a.days",
                [self.stored.section, self.stored.table.name],
            ).to_pylist()
            failed = run(
                connection,
                "SELECT count(*) AS n FROM (SELECT bool_and(error IS NOT NULL) AS failed "
                f"FROM responses WHERE section = $1 AND {selection.where} "
                "GROUP BY host, scope, fetched_at::DATE) WHERE failed",
                [self.stored.section],
            ).to_pylist()
        responses = [
            ResponseStates(row["host"], row["fetched_at"], row["states"], source_of(row))
            for row in stated
        ]
        return responses, int(failed[0]["n"])


def _typed(found: pa.Table, table: StoredTable) -> pa.Table:
    """A result with the types that the table's columns have; instants in microseconds."""
    kinds = {field.name: field.type for field in table.schema()}
    moment = pa.timestamp("us", tz="UTC")
    fields = [
        pa.field(f.name, kinds.get(f.name, moment if pa.types.is_timestamp(f.type) else f.type))
        for f in found.schema
    ]
    return found.cast(pa.schema(fields))


def _unknown(place: str, kind: str, name: str, known: list[str]) -> ScopeError:
    near = near_matches(name, known)
    hint = did_you_mean(near, f"there are {', '.join(known) or 'none yet'}")
    return ScopeError(
        f"there is no {kind} {name!r} in {place}; {hint}",
        parameter=kind,
        unknown=(name,),
        suggestions=near,
    )


# -- history -----------------------------------------------------------------------------------


def identity_of(table: StoredTable) -> list[str]:
    """The columns that identify a row of a dated table: filters included, the window not."""
    return ["host", *_FILTERS, *table.key, "_row"]


def history_sql(table: StoredTable, view: str, where: str, *, withdrawn: bool) -> str:
    """The SQL query for the history of a dated table.

    Parameters
    ----------
    table
        The declaration; its key has a day or a moment.
    view
        The name of the view of its rows; ``frames`` is another.
    where
        The condition on rows.
    withdrawn
        Whether rows are kept that a newer response about their day no longer has.
    """
    key = identity_of(table)
    values = [name for name in table.columns if name not in key]
    columns = [*key, *values]
    taken = {name.lower() for name in (*columns, *(field.name for field in CONTEXT_FIELDS))}
    known, packed, place, last_of_all, nth, before, is_change, revised, changed_at, covered = (
        _unused(name, taken) for name in _OWN
    )
    over = ", ".join(map(identifier, key))
    packing = f"row({', '.join(map(identifier, values))})" if values else "row(1)"
    any_known = " OR ".join(f"{identifier(name)} IS NOT NULL" for name in values) or "true"
    listed = ", ".join(map(identifier, columns))
    same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM f.{name}" for name in ("host", *_FILTERS))
    day = f"CAST(f.{identifier(str(table.moment))} AS DATE)"
    keep = "" if withdrawn else f"WHERE {covered} IS NULL OR {covered} <= {last_of_all}"
    order = ", ".join(map(identifier, (*key[:1], str(table.moment), *key[1:])))
    return f"""
    WITH found AS (
        SELECT {listed}, fetched_at, days, ({any_known}) AS {known}, {packing} AS {packed}
        FROM {identifier(view)} WHERE {where}
    ), numbered AS (
        SELECT *,
            row_number() OVER (
                PARTITION BY {over} ORDER BY {known} DESC, fetched_at DESC, days DESC) AS {place},
            min(fetched_at) OVER (PARTITION BY {over}) AS first_seen,
            max(fetched_at) OVER (PARTITION BY {over}) AS {last_of_all},
            row_number() OVER (PARTITION BY {over}, {known} ORDER BY fetched_at, days) AS {nth},
            lag({packed}) OVER (PARTITION BY {over}, {known} ORDER BY fetched_at, days) AS {before}
        FROM found
    ), changed AS (
        SELECT *, {known} AND {nth} > 1 AND {packed} IS DISTINCT FROM {before} AS {is_change}
        FROM numbered
    ), counted AS (
        SELECT *,
            sum({is_change}::BIGINT) OVER (PARTITION BY {over}) AS {revised},
            max(CASE WHEN {is_change} THEN fetched_at END) OVER (PARTITION BY {over})
                AS {changed_at}
        FROM changed
    ), f AS (SELECT * FROM counted WHERE {place} = 1
    ), covering AS (
        SELECT * FROM frames
        WHERE "table" = {quoted(table.table.name)} AND section = {quoted(table.section)}
        AND states LIKE '{{"states":[[["available",%' AND states NOT LIKE '%"statements":%'
        AND {where}
    ), judged AS (
        SELECT f.*, (
            SELECT max(c.fetched_at) FROM covering c
            WHERE {same} AND {day} BETWEEN c.window_start AND c.window_end
        ) AS {covered} FROM f
    )
    SELECT {listed}, first_seen, fetched_at AS last_seen,
        coalesce({changed_at}, first_seen) AS last_changed,
        CAST({revised} AS BIGINT) AS revisions
    FROM judged {keep} ORDER BY {order}
    """


_OWN: tuple[str, ...] = (
    *("known", "packed", "place", "last_of_all", "nth"),
    *("before", "is_change", "revised", "changed_at", "covered"),
)


def _unused(name: str, taken: Collection[str]) -> str:
    """A name for a column of the query alone, which no column of the table has."""
    while name in taken:
        name += "_"
    return identifier(name)
