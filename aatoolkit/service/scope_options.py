"""Scope options: the values that each filter may take for a project."""

from __future__ import annotations

from typing import Any

import duckdb

from aatoolkit.service.database import Derived
from aatoolkit.service.question import DAYS

_ENGINES = """
SELECT engine AS id, label, configured,
  last_run_day AS "lastRunDay"
FROM store.engines LEFT JOIN derived.engine_runs USING (host, engine)
WHERE host = $host ORDER BY engine
"""

_LABELS = """
SELECT {label}, count(*) AS count FROM store.prompts
WHERE host = $host GROUP BY {label} ORDER BY {label} IS NULL, count DESC, {label}
"""

_BRANDS = """
SELECT brand AS name, tracked, own FROM store.brands
WHERE host = $host ORDER BY own DESC NULLS LAST, tracked DESC, brand
"""

_OWN_TERMS = "SELECT term FROM store.own_terms WHERE host = $host ORDER BY term"


def scope_options(
    connection: duckdb.DuckDBPyConnection, derived: Derived, host: str
) -> dict[str, Any]:
    """Compute the scope options of a project.

    Topics and categories are counted over all its prompts, also those no longer asked;
    prompts without a topic are counted under ``None``. A brand of which it is not known
    whether it is the project's own has no ``own``.

    Parameters
    ----------
    connection
        A connection to the store's database, whose tables are in the schema ``store``.
    derived
        The tables computed once for the store.
    host
        The project.

    Raises
    ------
    LookupError
        The store has no project of this host.
    """
    with connection.cursor() as cursor:
        if not _rows(cursor, "SELECT host FROM store.projects WHERE host = $host", host):
            raise LookupError(host)
        derived.require(_ENGINES)
        return {
            "engines": _rows(cursor, _ENGINES, host),
            "topics": _rows(cursor, _LABELS.format(label="topic"), host),
            "categories": _rows(cursor, _LABELS.format(label="category"), host),
            "brands": [_brand(row) for row in _rows(cursor, _BRANDS, host)],
            "ownTerms": [row["term"] for row in _rows(cursor, _OWN_TERMS, host)],
            "days": list(DAYS),
        }


def _rows(cursor: duckdb.DuckDBPyConnection, sql: str, host: str) -> list[dict[str, Any]]:
    cursor.execute(sql, {"host": host})
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _brand(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "own" or value is not None}
