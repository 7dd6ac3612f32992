"""Declared tables as Delta schemas: context columns first, the declaration stored once.

Every table has the columns of `CONTEXT_FIELDS` before its own. What its columns mean (unit, rule,
key, words) stands in the metadata of the table and its fields, and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.archive.store import ArchiveStore, again, engine
from aatoolkit.errors import ArchiveError
from aatoolkit.normalizer.draft import OWNER as DRAFT
from aatoolkit.scope import FILTERS
from aatoolkit.sections import Section
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import remember
from aatoolkit.sections.section import Column, Table

DECLARATION = "aatoolkit.declaration"
SECTION = "aatoolkit.section"
PREFIX = "aatoolkit.prefix"

MOMENT = pa.timestamp("us", tz="UTC")

CONTEXT_FIELDS = (
    pa.field("month", pa.string()),
    pa.field("host", pa.string()),
    pa.field("days", pa.int64()),
    pa.field("window_start", pa.date32()),
    pa.field("window_end", pa.date32()),
    *(pa.field(f"filter_{name}", pa.string()) for name in FILTERS),
    pa.field("fetched_at", MOMENT),
    pa.field("run", pa.string()),
    pa.field("sha256", pa.string()),
)
"""Where and when the rows of every table were read; ``month`` is that of ``fetched_at``."""

ADDED = ("first_seen", "last_seen", "last_changed", "revisions")
"""The columns that a history has beside those of its table."""

CONTEXT = frozenset(field.name for field in CONTEXT_FIELDS)

_FOLDER = re.compile(r"\w(?:[\w .-]*[\w-])?")
_LONGEST_FOLDER = 200
"""The longest name of a folder, in bytes; file systems allow 255."""

_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "category": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": MOMENT,
    "list<string>": pa.list_(pa.string()),
}

ROW = Column("_row", "Int64", "The row's place in its response, where its key is not unique.")


@dataclass(frozen=True)
class StoredTable:
    """A table of an archive: its declaration, and the names that its columns have here.

    Parameters
    ----------
    section : str
        The section.
    table : Table
        The declaration.
    prefix : str
        What the table's name begins with in metadata, where its profile is not the default one.
    """

    section: str
    table: Table
    prefix: str = ""

    @property
    def name(self) -> str:
        """The name of the Delta table."""
        return path_of(self.section, self.table.name)

    @property
    def is_draft(self) -> bool:
        """Whether its declaration was drafted from the response, which another may differ from."""
        return self.prefix.startswith(f"{DRAFT}#")

    @property
    def columns(self) -> dict[str, Column]:
        """The declared columns by the names that they have here."""
        return {self.stored(column.name): column for column in self.table.columns}

    @property
    def key(self) -> tuple[str, ...]:
        """The declared key, by the names that its columns have here."""
        return tuple(map(self.stored, self.table.key))

    def stored(self, name: str) -> str:
        """The name that a declared column has here: another where the context or a history has it.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> table = StoredTable("ranking", aa.sections.table("ranking_history"))
        >>> [table.stored(name) for name in ("brand", "host", "host_", "revisions")]
        ['brand', 'host_', 'host__', 'revisions_']
        """
        plain = name.rstrip("_").lower()
        is_taken = plain in CONTEXT or (plain in ADDED and any(self._moments()))
        return f"{name}_" if is_taken else name

    def _moments(self) -> Iterator[str]:
        """Yield the declared columns of the key that hold a day or a moment."""
        return (name for name in self.table.key if self.table[name].dtype in ("date", "timestamp"))

    @property
    def moment(self) -> str | None:
        """The column of the key that holds a row's day or moment; None if there is none."""
        return next(map(self.stored, self._moments()), None)

    def schema(self) -> pa.Schema:
        """The schema that the table is created with."""
        own = [field_of(name, column) for name, column in self.columns.items()]
        if "_row" not in self.columns:
            own.append(field_of("_row", ROW))
        return pa.schema([*CONTEXT_FIELDS, *own])

    def configuration(self) -> dict[str, str]:
        """The declaration as properties of the Delta table, which `load` reads."""
        return {
            SECTION: self.section,
            PREFIX: self.prefix,
            DECLARATION: json_text(dump_table(self.table)),
        }

    @classmethod
    def load(cls, configuration: Mapping[str, str], path: str = "") -> StoredTable:
        """The table that metadata describes; its columns are found under their names.

        Raises
        ------
        ArchiveError
            If the metadata is damaged.
        """
        try:
            declared = load_table(json.loads(configuration[DECLARATION]))
            stored = cls(configuration[SECTION], declared, configuration[PREFIX])
        except (KeyError, ValueError, TypeError):
            stored = None
        if stored is None:
            raise ArchiveError(
                f"the metadata of {path or 'a table'} is damaged; archive.rebuild() makes the "
                "tables anew from the responses",
                path=path,
            )
        if stored.prefix:
            remember(stored.prefix + declared.name, declared)
        return stored


def path_of(section: str, table: str) -> str:
    """The path of a table below the archive's root.

    Examples
    --------
    >>> path_of("ranking", "ranking_history"), path_of("ads", "cost/day")
    ('tables/ranking/ranking_history', 'tables/ads/cost-day-e1170b2eb66d')
    """
    return f"tables/{_folder(section)}/{_folder(table)}"


def _folder(name: str) -> str:
    """The name of a folder: of a name that no file system could hold, its letters and its hash."""
    if _FOLDER.fullmatch(name) and len(name.encode()) <= _LONGEST_FOLDER:
        return name
    words = re.sub(r"[^\w-]+", "-", name)[:40].strip("-")
    return f"{words}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def field_of(name: str, column: Column) -> pa.Field:
    """A column as a field, with its unit, rule and meaning as metadata."""
    facts = {
        "comment": " · ".join(part for part in (column.doc, column.unit) if part),
        "aa.unit": column.unit,
        "aa.aggregation": str(column.aggregate),
        "aa.dtype": column.dtype,
    }
    known = {key: fact for key, fact in facts.items() if fact}
    return pa.field(name, _TYPES[column.dtype], metadata=known)


def bare(schema: pa.Schema) -> pa.Schema:
    """Remove the metadata from a schema, which every data file would repeat."""
    return pa.schema([pa.field(field.name, field.type) for field in schema])


_WIDER = {
    frozenset({"Int64", "Float64"}): "Float64",
    frozenset({"date", "timestamp"}): "timestamp",
    frozenset({"category", "string"}): "string",
}
"""The dtype that holds the values of two; any other two are held as text."""


def united(one: StoredTable, two: StoredTable) -> StoredTable:
    """Merge two declarations of a table: it has the columns of both, each wide enough.

    What identifies the rows of each identifies them together; where one has no key, both have none.
    """
    if one.table == two.table:
        return two
    older, newer = (two, one) if two.is_draft and not one.is_draft else (one, two)
    facts, other = dump_table(newer.table), dump_table(older.table)
    columns = {column["name"]: dict(column) for column in facts["columns"]}
    for column in other["columns"]:
        known = columns.setdefault(column["name"], dict(column))
        if known["dtype"] != column["dtype"]:
            both = frozenset({known["dtype"], column["dtype"]})
            known["dtype"] = _WIDER.get(both, "string")
    facts["columns"] = [*columns.values()]
    keys = (older.table.key, newer.table.key)
    facts["key"] = [*dict.fromkeys((*keys[0], *keys[1]))] if all(keys) else []
    return replace(newer, table=load_table(json.loads(json.dumps(facts))))


def fitted(table: pa.Table, schema: pa.Schema, *, as_text: bool = False) -> pa.Table:
    """Conform a table to the columns of a schema; missing ones are null.

    With ``as_text`` any column becomes text where the schema says text: drafts of responses differ.

    Raises
    ------
    ArchiveError
        If a column holds what the schema's type cannot hold exactly, or is not in the schema.
    """
    odd = [name for name in table.column_names if name not in schema.names]
    if odd:
        raise ArchiveError(f"there is no column {', '.join(odd)}; archive.rebuild() adds it")
    columns, problem = [], ""
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table[field.name]
        try:
            columns.append(_cast(column, field.type, as_text))
        except (pa.ArrowException, ValueError) as error:
            problem = f"{field.name} holds {column.type}, not {field.type}: {error}"
            break
    if problem:
        raise ArchiveError(f"{problem}; archive.rebuild() makes the tables anew")
    return pa.table(columns, schema=bare(schema))


def _cast(column: pa.ChunkedArray, kind: pa.DataType, as_text: bool) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if as_text and pa.types.is_string(kind) and pa.types.is_list(column.type):
        words = [None if v is None else ", ".join(map(str, v)) for v in column.to_pylist()]
        return pa.chunked_array([pa.array(words, kind)])
    is_text = column.type in (pa.string(), pa.large_string(), pa.null())
    if pa.types.is_string(kind) and not (is_text or as_text):
        raise ValueError("it is not text")
    return column.cast(kind)


# -- the tables of an archive ------------------------------------------------------------------

CHANGES = "changes"
_CHANGE = ("section", "table", "column", "change", "before", "after")
CHANGES_SCHEMA = pa.schema(
    [pa.field("at", MOMENT), *(pa.field(name, pa.string()) for name in _CHANGE)]
)

Change = tuple[str, str, str | None, str, str | None, str | None]
"""Section, table, column, change, before, after."""

_NEW = "new table"


def stored_tables(store: ArchiveStore) -> dict[str, tuple[str, str]]:
    """The declared tables that an archive has: section and table by path, main tables first.

    They are those that ``changes`` calls new: an object store has no folders to look for.
    """
    rows = [row for row in store.rows_of(CHANGES) or [] if row["change"] == _NEW]
    rows.sort(key=lambda row: (row["section"], row["at"]))
    return {path_of(row["section"], row["table"]): (row["section"], row["table"]) for row in rows}


def declaration_of(store: ArchiveStore, path: str) -> StoredTable:
    """The declaration of a table.

    Raises
    ------
    ArchiveError
        If the table is missing, or its metadata is damaged.
    """
    table = store.peek(path)
    if table is None:
        raise ArchiveError(f"the table {path} of the archive is missing; try rebuild()")
    return StoredTable.load(table.metadata().configuration, path)


def prepare(store: ArchiveStore, tables: Iterable[StoredTable]) -> None:
    """Enter tables into the list of changes before they are created."""
    there = stored_tables(store)
    new = [table for table in tables if table.name not in there]
    record(store, [(table.section, table.table.name, None, _NEW, None, None) for table in new])


def ensure(store: ArchiveStore, wanted: StoredTable) -> Any:
    """The Delta table for a declared table, with all its columns.

    Raises
    ------
    ArchiveError
        If its rows could not stand beside those that are there: another dtype, unit, rule or key.
    """
    return again(lambda: _ensured(store, wanted))


def _ensured(store: ArchiveStore, wanted: StoredTable) -> Any:
    table = store.open(wanted.name)
    if table is None:
        doc, facts = wanted.table.doc, wanted.configuration()
        return store.create(wanted.name, wanted.schema(), description=doc, configuration=facts)
    old = StoredTable.load(table.metadata().configuration, wanted.name)
    if wanted.is_draft:
        # Drafts differ from response to response; the table may hold the rows of this one too.
        wanted = united(old, wanted)
    _refuse(store, wanted, old.table)
    names = {field.name for field in table.schema().fields}
    new = {name: column for name, column in wanted.columns.items() if name not in names}
    if new:
        schema = pa.schema([field_of(name, column) for name, column in new.items()])
        with store.errors(wanted.name):
            table.alter.add_columns(engine().Schema.from_arrow(schema).fields)
    if new or (old.prefix != wanted.prefix and not wanted.is_draft):
        facts = replace(wanted, table=united(old, wanted).table).configuration()
        with store.errors(wanted.name):
            table.alter.set_table_properties(facts, raise_if_not_exists=False)
    place = (wanted.section, wanted.table.name)
    added = [(*place, name, "new column", None, column.dtype) for name, column in new.items()]
    record(store, added)
    return store.open(wanted.name) if new else table


def check(store: ArchiveStore, sections: Iterable[Section]) -> None:
    """Raise ArchiveError if new rows could not be stored beside those that are there."""
    there = stored_tables(store)
    for section in sections:
        for table in section:
            wanted = StoredTable(section.name, table)
            if wanted.name in there and store.peek(wanted.name) is not None:
                _refuse(store, wanted, declaration_of(store, wanted.name).table)


def _refuse(store: ArchiveStore, wanted: StoredTable, old: Table) -> None:
    """Raise if the rows of a declaration cannot stand beside those that are there."""
    name = wanted.table.name
    found = tuple(f"{name}.{what}: {a} -> {b}" for what, a, b in differences(old, wanted.table))
    if found:
        raise ArchiveError(
            f"the declaration of {name} has changed ({'; '.join(found[:3])}), and its rows cannot "
            "stand beside the old ones; archive.rebuild() makes the tables anew from the responses",
            path=store.root,
            problems=found,
        )


def differences(old: Table, new: Table) -> list[tuple[str, str, str]]:
    """List how two declarations differ such that their rows cannot share a table."""

    def meaning(column: Column) -> dict[str, str]:
        units = dict(column.units) or None
        facts = {"dtype": column.dtype, "unit": column.unit, "units": units}
        return {name: str(fact) for name, fact in facts.items()} | {
            "aggregation": str(column.aggregate)
        }

    found = []
    if tuple(old.key) != tuple(new.key):
        found.append(("key", ", ".join(old.key), ", ".join(new.key)))
    columns = {column.name: meaning(column) for column in (*old.columns, ROW)}
    for column in new.columns:
        after = meaning(column)
        before = columns.get(column.name, after)
        found += [
            (f"{column.name}: {name}", before[name], after[name])
            for name in after
            if before[name] != after[name]
        ]
    return found


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
