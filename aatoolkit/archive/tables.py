"""The declared tables of an archive: made where missing, extended where declarations grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from aatoolkit.archive.schema import (
    DECLARATION,
    MOMENT,
    PREFIX,
    ROW,
    StoredTable,
    field_of,
    meaning,
    path_of,
    united,
)
from aatoolkit.archive.store import TRIES, ArchiveStore, engine, wait
from aatoolkit.errors import ArchiveConflict, ArchiveError
from aatoolkit.sections import Section
from aatoolkit.sections.section import Table

CHANGES = "changes"

_CHANGE = ("section", "table", "column", "change", "before", "after")
CHANGES_SCHEMA = pa.schema(
    [pa.field("at", MOMENT), *(pa.field(name, pa.string()) for name in _CHANGE)]
)

Change = tuple[str, str, str | None, str, str | None, str | None]
"""Section, table, column, change, before, after."""

NEW = "new table"


def stored_tables(store: ArchiveStore) -> dict[str, tuple[str, str]]:
    """The declared tables that an archive has: section and table by path, main tables first.

    They are those that ``changes`` calls new: an object store has no folders to look for.
    """
    rows = [row for row in store.rows_of(CHANGES) or [] if row["change"] == NEW]
    rows.sort(key=lambda row: (row["section"], row["at"]))
    return {path_of(row["section"], row["table"]): (row["section"], row["table"]) for row in rows}


def load(store: ArchiveStore, path: str) -> tuple[Any, StoredTable] | None:
    """A table and its declaration; None if there is none."""
    table = store.open(path)
    if table is None:
        return None
    return table, StoredTable.load(table.metadata().configuration, path)


def prepare(store: ArchiveStore, wanted: Iterable[StoredTable]) -> None:
    """Enter tables into the list of changes before they are created."""
    there = stored_tables(store)
    new = [table for table in wanted if table.name not in there]
    record(store, [(table.section, table.table.name, None, NEW, None, None) for table in new])


def load_quietly(store: ArchiveStore, path: str) -> StoredTable | None:
    """The declaration of a table; None where there is none, or it is damaged."""
    try:
        found = load(store, path)
    except ArchiveError:
        return None
    return None if found is None else found[1]


def ensure(store: ArchiveStore, wanted: StoredTable) -> Any:
    """The Delta table for a declared table, with all its columns.

    Raises
    ------
    ArchiveError
        If its rows could not stand beside those that are there: another dtype, unit, rule or key.
    """
    for tried in range(TRIES):
        try:
            return _ensured(store, wanted)
        except ArchiveConflict:
            if tried == TRIES - 1:
                raise
        wait(tried)
    raise AssertionError("unreachable")


def _ensured(store: ArchiveStore, wanted: StoredTable) -> Any:
    found = load(store, wanted.name)
    if found is None:
        return store.create(
            wanted.name,
            wanted.schema(),
            description=wanted.table.doc,
            configuration=wanted.configuration(),
        )
    table, old = found
    if wanted.is_draft:
        # Drafts differ from response to response; what is there may hold the rows of this one too.
        wanted = united(old, wanted)
    problems = differences(old.table, wanted.table)
    if problems:
        raise changed(store, wanted, problems)
    names = {field.name for field in table.schema().fields}
    new = {name: column for name, column in wanted.columns.items() if name not in names}
    grown = united(old, wanted).table
    if new:
        fields = engine().Schema.from_arrow(
            pa.schema([field_of(name, column) for name, column in new.items()])
        )
        with store.errors(wanted.name):
            table.alter.add_columns(fields.fields)
    if new or (old.prefix != wanted.prefix and not wanted.is_draft):
        facts = replace(wanted, table=grown).configuration()
        settings = {DECLARATION: facts[DECLARATION], PREFIX: facts[PREFIX]}
        with store.errors(wanted.name):
            table.alter.set_table_properties(settings, raise_if_not_exists=False)
    if new:
        record(
            store,
            [
                (wanted.section, wanted.table.name, name, "new column", None, column.dtype)
                for name, column in new.items()
            ],
        )
    return store.open(wanted.name) if new else table


def differences(old: Table, new: Table) -> list[tuple[str, str, str]]:
    """List how two declarations differ such that their rows cannot share a table."""
    found = []
    if tuple(old.key) != tuple(new.key):
        found.append(("key", ", ".join(old.key), ", ".join(new.key)))
    known = {column.name: column for column in (*old.columns, ROW)}
    for column in new.columns:
        if column.name in known:
            before, after = meaning(known[column.name]), meaning(column)
            found += [
                (f"{column.name}: {name}", str(before[name]), str(after[name]))
                for name in before
                if before[name] != after[name]
            ]
    return found


def check(store: ArchiveStore, sections: Iterable[Section]) -> None:
    """Raise if new rows could not be stored beside those there, as declarations differ.

    Raises
    ------
    ArchiveError
        If there are some; it names them.
    """
    there = stored_tables(store)
    for section in sections:
        for table in section:
            wanted = StoredTable(section.name, table)
            if wanted.name in there:
                found = load(store, wanted.name)
                problems = differences(found[1].table, table) if found is not None else []
                if problems:
                    raise changed(store, wanted, problems)


def changed(
    store: ArchiveStore, wanted: StoredTable, problems: list[tuple[str, str, str]]
) -> ArchiveError:
    """The error for a declaration that does not fit the rows that are there."""
    differences = tuple(f"{wanted.table.name}.{what}: {a} -> {b}" for what, a, b in problems)
    return ArchiveError(
        f"the declaration of {wanted.table.name} has changed ({'; '.join(differences[:3])}), and "
        "its rows cannot stand beside the old ones; archive.rebuild() makes the tables anew from "
        "the responses",
        path=store.root,
        problems=differences,
    )


def record(store: ArchiveStore, changes: Iterable[Change]) -> None:
    """Append changes of declarations to the table ``changes``, one a microsecond."""
    now = datetime.now(UTC)
    rows = [
        {"at": now + timedelta(microseconds=at), **dict(zip(_CHANGE, change, strict=True))}
        for at, change in enumerate(changes)
    ]
    if rows:
        table = store.create(CHANGES, CHANGES_SCHEMA, partitioned=False, description="changes")
        store.append(table, pa.Table.from_pylist(rows, schema=CHANGES_SCHEMA))
