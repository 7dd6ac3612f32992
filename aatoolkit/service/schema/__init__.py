"""The tables of a store of observations: what was asked, answered, cited, fetched, visited.

A store is a folder with one Parquet file a table, named after the table. Every table
but ``bots`` carries ``host``, the project it belongs to. Only ``projects`` is
required; a table that is absent means that nothing of its kind was observed, and the
sections that need it say so in their availability instead of reporting zeros.

A column is *required* (present and without nulls), or optional: it may be missing from
the file, and a null in it means *not known*, never zero.

Instants are UTC. ``text`` is UTF-8. ``words`` is a list of text.

In reading order: ``table`` is how a table is declared; ``projects``, ``answers``, ``commerce``,
``site`` and ``work`` declare them.
"""

from __future__ import annotations

from aatoolkit.service.schema import answers, commerce, projects, site, work
from aatoolkit.service.schema.table import KINDS, StoreColumn, StoreTable

__all__ = ["KINDS", "TABLES", "StoreColumn", "StoreTable"]

TABLES: dict[str, StoreTable] = {
    table.name: table for room in (projects, answers, commerce, site, work) for table in room.TABLES
}
"""Every table of a store by name, in an order in which each refers only to earlier ones."""
