"""History: one row a key and day, the newest known value, and when and how often it changed."""

from __future__ import annotations

from collections.abc import Collection

from aatoolkit.archive.schema import CONTEXT_FIELDS, StoredTable
from aatoolkit.archive.snapshot import identifier, quoted
from aatoolkit.scope import FILTERS

_FILTERS = tuple(f"filter_{name}" for name in FILTERS)


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
        Whether rows are kept that a newer answer about their day no longer has.
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
