"""The Delta schemas of declared tables: context columns first, the declaration as a property.

Every table begins with the columns of `CONTEXT_FIELDS`, such as ``host``. The declaration of a
table (units, aggregation rules, key, descriptions) is stored in the properties of its Delta table,
and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.archive.store import MOMENT, RUNS, RUNS_SCHEMA, ArchiveStore
from aatoolkit.errors import ArchiveError
from aatoolkit.jsontree.coerce import ARROW
from aatoolkit.normalizer.column_availability import SIGNAL
from aatoolkit.scope import FILTERS
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import remember
from aatoolkit.sections.section import Column, Table

DECLARATION = "aatoolkit.declaration"
SECTION = "aatoolkit.section"
PREFIX = "aatoolkit.prefix"

FILTER_COLUMNS = tuple(f"filter_{name}" for name in FILTERS)
CONTEXT_FIELDS = pa.schema(
    {
        "month": "string",
        "host": "string",
        "days": "int64",
        "window_start": "date32",
        "window_end": "date32",
        **dict.fromkeys(FILTER_COLUMNS, "string"),
        "fetched_at": MOMENT,
        "run": "string",
        "sha256": "string",
    }
)
"""The columns that say where and when rows were read; ``month`` is that of ``fetched_at``."""

FRAMES = "frames"
_TEXT_FIELDS = dict.fromkeys(("section", "table", "states"), "string")
_SIGNAL_FIELDS = dict.fromkeys(("section", *SIGNAL), "string")
STATEMENT_SCHEMAS = {
    FRAMES: pa.schema({**_TEXT_FIELDS, "is_whole": "bool", "rows": "int64"}),
    "availability": pa.schema({**_SIGNAL_FIELDS, "sample_size": "int64", "as_of": MOMENT}),
}
STATEMENT_TABLES = {
    name: pa.schema([*CONTEXT_FIELDS, *own]) for name, own in STATEMENT_SCHEMAS.items()
}
"""The schemas of ``frames`` (column metadata and sizes of tables) and ``availability``."""

CHANGES = "changes"
_CHANGE_COLUMNS = ("section", "table", "column", "change", "before", "after")
CHANGES_SCHEMA = pa.schema({"at": MOMENT, **dict.fromkeys(_CHANGE_COLUMNS, "string")})

RESPONSES = "responses"
_RESPONSE_FIELDS = {
    "section": "string",
    "scope": "string",
    "status": "int64",
    "size": "int64",
    "stale": "bool",
    "url": "string",
    "headers": "string",
    "error": "string",
    "has_body": "bool",
    "body": "binary",
}
OWN_SCHEMAS = {
    RUNS: RUNS_SCHEMA,
    RESPONSES: pa.schema([*CONTEXT_FIELDS, *pa.schema(_RESPONSE_FIELDS)]),
    **STATEMENT_TABLES,
    CHANGES: CHANGES_SCHEMA,
}
"""The schemas of the tables that no section declares. In older archives they have fewer columns."""

HISTORY_COLUMNS = ("first_seen", "last_seen", "last_changed", "revisions")
"""The columns that a history has in addition to those of its table."""

CONTEXT = frozenset(CONTEXT_FIELDS.names)

_FOLDER_NAME = re.compile(r"\w(?:[\w .-]*[\w-])?")
_MAX_FOLDER_BYTES = 200
"""The longest name of a folder, in bytes; file systems allow 255."""

ROW_COLUMN = Column(
    "_row", "Int64", "The row's place in its response, where its key is not unique."
)


@dataclass(frozen=True)
class StoredTable:
    """A table of an archive: its declaration, and the stored names of its columns.

    Parameters
    ----------
    section : str
        The section.
    table : Table
        The declaration: the columns, their meaning, and which of them are the key.
    prefix : str
        The prefix of the table's name in metadata; empty for tables of the default profile.
    """

    section: str
    table: Table
    prefix: str = ""

    @property
    def name(self) -> str:
        """The path of the Delta table, such as ``tables/ranking/ranking_history``."""
        return path_of(self.section, self.table.name)

    @property
    def columns(self) -> dict[str, Column]:
        """Maps the name of each declared column in the archive to its declaration."""
        return {self.stored_name(column.name): column for column in self.table.columns}

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns, by their names in the archive."""
        return tuple(map(self.stored_name, self.table.key))

    def stored_name(self, name: str) -> str:
        """Return the name of a column in the archive: ``name``, with "_" appended if reserved.

        Reserved are the names of the columns that the archive itself adds to the table, such as
        ``host`` and, in histories, ``revisions``; also with "_" after them.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> table = StoredTable("ranking", aa.sections.table("ranking_history"))
        >>> [table.stored_name(name) for name in ("brand", "host", "host_", "revisions")]
        ['brand', 'host_', 'host__', 'revisions_']
        """
        reserved_names = CONTEXT.union(HISTORY_COLUMNS if self._moment else ())
        return f"{name}_" if name.rstrip("_").lower() in reserved_names else name

    @cached_property
    def _moment(self) -> str | None:
        """The declared name of the key column that holds days or timestamps; None without one."""
        dtypes = {name: self.table[name].dtype for name in self.table.key}
        return next(
            (name for name, dtype in dtypes.items() if dtype in ("date", "timestamp")), None
        )

    @property
    def moment(self) -> str | None:
        """The name in the archive of the key column with days or timestamps; None without one."""
        return self._moment and self.stored_name(self._moment)

    def schema(self) -> pa.Schema:
        """Return the Arrow schema of the table, context columns included."""
        types = {name: ARROW[column.dtype] for name, column in self.columns.items()}
        return pa.schema([*CONTEXT_FIELDS, *pa.schema({**types, "_row": "int64"})])

    def configuration(self) -> dict[str, str]:
        """Return the declaration as a dict of texts, for the properties of a Delta table."""
        return {
            SECTION: self.section,
            PREFIX: self.prefix,
            DECLARATION: json_text(dump_table(self.table)),
        }

    @classmethod
    def load(cls, configuration: Mapping[str, str], path: str) -> StoredTable:
        """Return the declared table that the properties of a Delta table describe.

        Raises
        ------
        ArchiveError
            If the metadata is damaged.
        """
        try:
            declaration = load_table(json.loads(configuration[DECLARATION]))
            stored_table = cls(configuration[SECTION], declaration, configuration[PREFIX])
        except (KeyError, ValueError, TypeError):
            raise ArchiveError(
                f"the metadata of {path} is damaged; archive.rebuild() makes the tables anew from "
                "the responses",
                path=path,
            ) from None
        if stored_table.prefix:
            remember(stored_table.prefix + declaration.name, declaration)
        return stored_table


def path_of(section: str, table: str) -> str:
    """Return the path of a table, relative to the archive.

    Examples
    --------
    >>> path_of("ranking", "ranking_history"), path_of("ads", "cost/day")
    ('tables/ranking/ranking_history', 'tables/ads/cost-day-e1170b2eb66d')
    """
    return f"tables/{_folder_name(section)}/{_folder_name(table)}"


def _folder_name(name: str) -> str:
    """Return ``name`` if it can name a folder; else its first letters and digits, and a hash."""
    if _FOLDER_NAME.fullmatch(name) and len(name.encode()) <= _MAX_FOLDER_BYTES:
        return name
    stem = re.sub(r"[^\w-]+", "-", name)[:40].strip("-")
    return f"{stem}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def fit_to_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return ``table`` converted to ``schema``; columns missing in the table are filled with nulls.

    Raises
    ------
    ArchiveError
        If a column is not in the schema, or has values that the schema's type cannot represent.
    """
    unknown_columns = [name for name in table.column_names if name not in schema.names]
    problem = f"there is no column {', '.join(unknown_columns)}" if unknown_columns else ""
    columns = []
    for field in schema if not unknown_columns else ():
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table[field.name]
        if pa.types.is_dictionary(column.type):
            column = pc.cast(column, column.type.value_type)
        is_text = column.type in (pa.string(), pa.large_string(), pa.null())
        try:
            if pa.types.is_string(field.type) and not is_text:
                raise ValueError("it is not text")
            columns.append(column.cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            problem = f"{field.name} holds {column.type}, not {field.type}: {error}"
            break
    if problem:
        raise ArchiveError(f"{problem}; archive.rebuild() makes the tables anew")
    return pa.table(columns, schema=schema)


# -- the tables of an archive ------------------------------------------------------------------

Change = tuple[str, str, str | None, str, str | None, str | None]
"""Section, table, column, change, before, after."""

_NEW_TABLE = "new table"


def stored_tables(store: ArchiveStore) -> dict[str, tuple[str, str]]:
    """Map the path of each declared table to its section and name; a section's main table is first.

    The tables are found in the table ``changes``, as an object store has no folders to list.
    """
    rows = [row for row in store.rows_of(CHANGES) or [] if row["change"] == _NEW_TABLE]
    rows.sort(key=lambda row: (row["section"], row["at"]))
    return {path_of(row["section"], row["table"]): (row["section"], row["table"]) for row in rows}


def load_stored_table(store: ArchiveStore, path: str) -> StoredTable:
    """Return the declared table that is stored at ``path``, read from its Delta properties.

    Raises
    ------
    ArchiveError
        If the table is missing, or its metadata is damaged.
    """
    table = store.peek(path)
    if table is None:
        raise ArchiveError(f"the table {path} of the archive is missing; try rebuild()")
    return StoredTable.load(table.metadata().configuration, path)


def record_new_tables(store: ArchiveStore, tables: Iterable[StoredTable]) -> None:
    """Add a row to the table ``changes`` for each of ``tables`` that the archive does not list yet.

    Call this before such a table is created: `stored_tables` lists tables by these rows.
    """
    existing_tables = stored_tables(store)
    new_tables = [table for table in tables if table.name not in existing_tables]
    add_changes(
        store,
        [(table.section, table.table.name, None, _NEW_TABLE, None, None) for table in new_tables],
    )


def create_or_extend(store: ArchiveStore, declared_table: StoredTable) -> Any:
    """Return the Delta table for a declared table; create it, or add new columns, if necessary.

    Raises
    ------
    ArchiveError
        If new rows cannot share the table with the old ones, as a dtype, unit, aggregation rule or
        the key differs.
    """
    declaration, configuration = declared_table.table, declared_table.configuration()
    delta_table = store.open(declared_table.name)
    if delta_table is None:
        schema = declared_table.schema()
        return store.create(declared_table.name, schema, configuration=configuration)
    old_table = StoredTable.load(delta_table.metadata().configuration, declared_table.name)
    problems = [
        f"{declaration.name}.{difference}: {before} -> {after}"
        for difference, before, after in differences(old_table.table, declaration)
    ]
    if problems:
        raise ArchiveError(
            f"the declaration of {declaration.name} has changed ({'; '.join(problems[:3])}), and "
            "its rows cannot stand beside the old ones; archive.rebuild() makes the tables anew "
            "from the responses",
            path=store.root,
            problems=tuple(problems),
        )
    stored_names = {field.name for field in delta_table.schema().fields}
    if {
        *declared_table.schema().names
    } <= stored_names and old_table.prefix == declared_table.prefix:
        return delta_table
    new_columns = declared_table.columns.keys() - stored_names
    old_columns = (
        column for column in old_table.table.columns if column.name not in declaration.names
    )
    extended_table = replace(
        declared_table, table=replace(declaration, columns=(*declaration.columns, *old_columns))
    )
    delta_table = store.create(declared_table.name, declared_table.schema())
    with store.errors(declared_table.name):
        delta_table.alter.set_table_properties(
            extended_table.configuration(), raise_if_not_exists=False
        )
    section_and_table = (declared_table.section, declaration.name)
    add_changes(
        store,
        [
            (*section_and_table, name, "new column", None, column.dtype)
            for name, column in declared_table.columns.items()
            if name in new_columns
        ],
    )
    return store.open(declared_table.name)


def differences(old_table: Table, new_table: Table) -> list[tuple[str, str, str]]:
    """Return the differences of two declarations that prevent their rows from sharing a table.

    Each difference is a tuple: what differs (such as ``rate: unit``), the old and the new value.
    """

    def properties_of(column: Column) -> dict[str, str]:
        return {
            "dtype": column.dtype,
            "unit": str(column.unit),
            "units": str(dict(column.units) or None),
            "aggregation": str(column.aggregate),
        }

    old_properties = {
        column.name: properties_of(column) for column in (*old_table.columns, ROW_COLUMN)
    }
    comparisons = [("key", ", ".join(old_table.key), ", ".join(new_table.key))]
    for column in new_table.columns:
        old_column_properties = old_properties.get(column.name, {})
        comparisons += [
            (f"{column.name}: {name}", old_column_properties.get(name, value), value)
            for name, value in properties_of(column).items()
        ]
    return [comparison for comparison in comparisons if comparison[1] != comparison[2]]


def add_changes(store: ArchiveStore, changes: Iterable[Change]) -> None:
    """Append rows about changed declarations to the archive's table ``changes``."""
    now = datetime.now(UTC)
    rows = [
        {
            "at": now + timedelta(microseconds=position),
            **dict(zip(_CHANGE_COLUMNS, change, strict=True)),
        }
        for position, change in enumerate(changes)
    ]
    if rows:
        table = store.create(CHANGES, CHANGES_SCHEMA)
        store.append(table, pa.Table.from_pylist(rows, schema=CHANGES_SCHEMA))
