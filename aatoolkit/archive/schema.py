"""The columns of an archive's Delta tables.

Every table begins with columns such as ``host``. The properties of the Delta table store the
table's declaration: the columns with their units and descriptions, and the key.
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

from aatoolkit._util.text import to_json_text
from aatoolkit.archive.store import MOMENT_TYPE, RUNS_SCHEMA, RUNS_TABLE, ArchiveStore
from aatoolkit.errors import ArchiveError
from aatoolkit.jsontree.coerce import ARROW_TYPE_BY_DTYPE
from aatoolkit.normalizer.column_availability import SIGNAL_COLUMNS
from aatoolkit.scope import FILTERS
from aatoolkit.sections.profile_json import dump_table, load_table
from aatoolkit.sections.registry import register_table
from aatoolkit.sections.section import Column, Table

# Properties of a Delta table, in which its declaration is stored.
DECLARATION_PROPERTY = "aatoolkit.declaration"
SECTION_PROPERTY = "aatoolkit.section"
TABLE_PREFIX_PROPERTY = "aatoolkit.prefix"

FILTER_COLUMNS = tuple(f"filter_{name}" for name in FILTERS)
CONTEXT_SCHEMA = pa.schema(
    {
        "month": "string",
        "host": "string",
        "days": "int64",
        "window_start": "date32",
        "window_end": "date32",
        **dict.fromkeys(FILTER_COLUMNS, "string"),
        "fetched_at": MOMENT_TYPE,
        "run": "string",
        "sha256": "string",
    }
)
"""The columns with which tables begin; they say from which response a row comes."""

FRAMES_TABLE = "frames"
_FRAME_TEXT_FIELDS = dict.fromkeys(("section", "table", "states"), "string")
_SIGNAL_FIELDS = dict.fromkeys(("section", *SIGNAL_COLUMNS), "string")
STATEMENT_ROW_SCHEMAS = {
    FRAMES_TABLE: pa.schema({**_FRAME_TEXT_FIELDS, "is_whole": "bool", "rows": "int64"}),
    "availability": pa.schema({**_SIGNAL_FIELDS, "sample_size": "int64", "as_of": MOMENT_TYPE}),
}
STATEMENT_SCHEMAS = {
    name: pa.schema([*CONTEXT_SCHEMA, *own]) for name, own in STATEMENT_ROW_SCHEMAS.items()
}
"""The schemas of the tables ``frames`` and ``availability``, by name.

`STATEMENT_ROW_SCHEMAS` has the same schemas without the columns of `CONTEXT_SCHEMA`.
"""

CHANGES_TABLE = "changes"
_CHANGE_COLUMNS = ("section", "table", "column", "change", "before", "after")
CHANGES_SCHEMA = pa.schema({"at": MOMENT_TYPE, **dict.fromkeys(_CHANGE_COLUMNS, "string")})

RESPONSES_TABLE = "responses"
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
SYSTEM_SCHEMAS = {
    RUNS_TABLE: RUNS_SCHEMA,
    RESPONSES_TABLE: pa.schema([*CONTEXT_SCHEMA, *pa.schema(_RESPONSE_FIELDS)]),
    **STATEMENT_SCHEMAS,
    CHANGES_TABLE: CHANGES_SCHEMA,
}
"""The schemas of the tables that every archive has, whatever the service, by name."""

HISTORY_COLUMNS = ("first_seen", "last_seen", "last_changed", "revisions")
"""The columns that `Archive.history` adds to a table."""

CONTEXT_COLUMNS = frozenset(CONTEXT_SCHEMA.names)
"""The names of the columns with which tables begin."""

_FOLDER_NAME_PATTERN = re.compile(r"\w(?:[\w .-]*[\w-])?")
_MAX_FOLDER_NAME_BYTES = 200
"""The length in bytes of the longest name of a folder; file systems allow 255."""

ROW_NUMBER_COLUMN = Column(
    "_row", "Int64", "The row's place in its response, where its key is not unique."
)


@dataclass(frozen=True)
class StoredTable:
    """The declaration of a table (columns and key), with the column names used in an archive.

    ``prefix`` precedes the table's name in the metadata of DataFrames. It is empty for the tables
    that this package declares.
    """

    section: str
    table: Table
    prefix: str = ""

    @property
    def path(self) -> str:
        """The path of the Delta table, such as ``tables/ranking/ranking_history``."""
        return make_table_path(self.section, self.table.name)

    @property
    def columns(self) -> dict[str, Column]:
        """A dict from each column name in the archive to the declaration of the column."""
        return {self.stored_name(column.name): column for column in self.table.columns}

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row, by their names in the archive."""
        return tuple(map(self.stored_name, self.table.key))

    def stored_name(self, name: str) -> str:
        """Return the name that the column declared as ``name`` has in the archive.

        The archive's own columns, such as ``host``, have the same names in all tables. A declared
        column of such a name gets an underscore.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> table = StoredTable("ranking", aa.sections.table("ranking_history"))
        >>> [table.stored_name(name) for name in ("brand", "host", "host_", "revisions")]
        ['brand', 'host_', 'host__', 'revisions_']
        """
        reserved_names = CONTEXT_COLUMNS.union(HISTORY_COLUMNS if self._time_column else ())
        return f"{name}_" if name.rstrip("_").lower() in reserved_names else name

    @cached_property
    def _time_column(self) -> str | None:
        """The declared name of the first key column of days or timestamps, or None."""
        dtype_by_name = {
            column_name: self.table[column_name].dtype for column_name in self.table.key
        }
        return next(
            (
                column_name
                for column_name, dtype in dtype_by_name.items()
                if dtype in ("date", "timestamp")
            ),
            None,
        )

    @property
    def time_column(self) -> str | None:
        """The name in the archive of the first key column with days or timestamps.

        It is None if the key has no such column.
        """
        return self._time_column and self.stored_name(self._time_column)

    def schema(self) -> pa.Schema:
        """Return the Arrow schema of the table."""
        type_by_name = {
            column_name: ARROW_TYPE_BY_DTYPE[column.dtype]
            for column_name, column in self.columns.items()
        }
        return pa.schema([*CONTEXT_SCHEMA, *pa.schema({**type_by_name, "_row": "int64"})])

    def table_properties(self) -> dict[str, str]:
        """Return the declaration as a dict of strings, to store in the Delta table's properties."""
        return {
            SECTION_PROPERTY: self.section,
            TABLE_PREFIX_PROPERTY: self.prefix,
            DECLARATION_PROPERTY: to_json_text(dump_table(self.table)),
        }

    @classmethod
    def load(cls, table_properties: Mapping[str, str], table_path: str) -> StoredTable:
        """Read the declaration of a table from the properties of its Delta table.

        ``table_properties`` are the properties. If they are damaged, the error message names the
        table by ``table_path``.
        """
        try:
            table_declaration = load_table(json.loads(table_properties[DECLARATION_PROPERTY]))
            stored_table = cls(
                table_properties[SECTION_PROPERTY],
                table_declaration,
                table_properties[TABLE_PREFIX_PROPERTY],
            )
        except (KeyError, ValueError, TypeError):
            raise ArchiveError(
                f"the metadata of {table_path} is damaged; archive.rebuild() makes the tables anew "
                "from the responses",
                path=table_path,
            ) from None
        if stored_table.prefix:
            register_table(stored_table.prefix + table_declaration.name, table_declaration)
        return stored_table


def make_table_path(section_name: str, table_name: str) -> str:
    """Return the path of a table's folder, relative to the folder of the archive.

    Examples
    --------
    >>> make_table_path("ranking", "ranking_history"), make_table_path("ads", "cost/day")
    ('tables/ranking/ranking_history', 'tables/ads/cost-day-e1170b2eb66d')
    """
    return f"tables/{_make_folder_name(section_name)}/{_make_folder_name(table_name)}"


def _make_folder_name(name: str) -> str:
    """Return ``name`` if a folder can have this name; else a shortened name with a hash."""
    if _FOLDER_NAME_PATTERN.fullmatch(name) and len(name.encode()) <= _MAX_FOLDER_NAME_BYTES:
        return name
    readable_prefix = re.sub(r"[^\w-]+", "-", name)[:40].strip("-")
    return f"{readable_prefix}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def fit_to_schema(arrow_table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Convert the columns of an Arrow table to those of ``schema``; missing ones become nulls.

    Raises `ArchiveError` if the table has columns that the schema lacks, or values of another type.
    """
    unknown_column_names = [name for name in arrow_table.column_names if name not in schema.names]
    if unknown_column_names:
        raise ArchiveError(
            f"there is no column {', '.join(unknown_column_names)}; {_REBUILD_ADVICE}"
        )
    for field in schema:
        if field.name not in arrow_table.column_names:
            arrow_table = arrow_table.append_column(
                field, pa.nulls(arrow_table.num_rows, field.type)
            )
    try:
        return arrow_table.select(schema.names).cast(schema)
    except (pa.ArrowException, ValueError) as error:
        raise ArchiveError(f"its values do not fit: {error}; {_REBUILD_ADVICE}") from None


_REBUILD_ADVICE = "archive.rebuild() makes the tables anew"


# -- the tables of an archive ------------------------------------------------------------------

ChangeRow = tuple[str, str, str | None, str, str | None, str | None]
"""A row of the table ``changes``: section, table, column, kind of change, before, after."""

_NEW_TABLE_CHANGE = "new table"


def list_stored_tables(store: ArchiveStore) -> dict[str, tuple[str, str]]:
    """List the tables that were made from responses.

    The result is a dict from the path of a table to its section and name.
    """
    # An object store has no folders to list.
    new_table_rows = [
        new_table_row
        for new_table_row in store.read_rows(CHANGES_TABLE) or []
        if new_table_row["change"] == _NEW_TABLE_CHANGE
    ]
    new_table_rows.sort(key=lambda new_table_row: (new_table_row["section"], new_table_row["at"]))
    return {
        make_table_path(new_table_row["section"], new_table_row["table"]): (
            new_table_row["section"],
            new_table_row["table"],
        )
        for new_table_row in new_table_rows
    }


def load_stored_table(store: ArchiveStore, table_path: str) -> StoredTable:
    """Read the declaration of the table at a path of the archive."""
    delta_table = store.cached_table(table_path)
    if delta_table is None:
        raise ArchiveError(f"the table {table_path} of the archive is missing; try rebuild()")
    return StoredTable.load(delta_table.metadata().configuration, table_path)


def record_new_tables(store: ArchiveStore, tables: Iterable[StoredTable]) -> None:
    """Add a row to the table ``changes`` for each table that is new in the archive."""
    existing_names_by_path = list_stored_tables(store)
    new_tables = [table for table in tables if table.path not in existing_names_by_path]
    append_changes(
        store,
        [
            (table.section, table.table.name, None, _NEW_TABLE_CHANGE, None, None)
            for table in new_tables
        ],
    )


def create_or_extend_table(store: ArchiveStore, declared_table: StoredTable) -> Any:
    """Return the Delta table of a declared table; create it, or add missing columns, if needed.

    Raises `ArchiveError` if the stored columns have other dtypes or units than the declared ones.
    """
    table_declaration = declared_table.table
    table_properties = declared_table.table_properties()
    delta_table = store.open_table(declared_table.path)
    if delta_table is None:
        schema = declared_table.schema()
        return store.open_or_create(declared_table.path, schema, table_properties=table_properties)
    old_table = StoredTable.load(delta_table.metadata().configuration, declared_table.path)
    difference_texts = [
        f"{table_declaration.name}.{difference}: {old_value} -> {new_value}"
        for difference, old_value, new_value in list_declaration_differences(
            old_table.table, table_declaration
        )
    ]
    if difference_texts:
        raise ArchiveError(
            f"the declaration of {table_declaration.name} has changed "
            f"({'; '.join(difference_texts[:3])}), and its rows cannot stand beside the old "
            "ones; archive.rebuild() makes the tables anew from the responses",
            path=store.root,
            problems=tuple(difference_texts),
        )
    stored_column_names = {field.name for field in delta_table.schema().fields}
    if {
        *declared_table.schema().names
    } <= stored_column_names and old_table.prefix == declared_table.prefix:
        return delta_table
    new_column_names = declared_table.columns.keys() - stored_column_names
    undeclared_columns = (
        column for column in old_table.table.columns if column.name not in table_declaration.names
    )
    extended_table = replace(
        declared_table,
        table=replace(table_declaration, columns=(*table_declaration.columns, *undeclared_columns)),
    )
    delta_table = store.open_or_create(declared_table.path, declared_table.schema())
    with store.convert_errors(declared_table.path):
        delta_table.alter.set_table_properties(
            extended_table.table_properties(), raise_if_not_exists=False
        )
    section_and_table = (declared_table.section, table_declaration.name)
    append_changes(
        store,
        [
            (*section_and_table, column_name, "new column", None, column.dtype)
            for column_name, column in declared_table.columns.items()
            if column_name in new_column_names
        ],
    )
    return store.open_table(declared_table.path)


def list_declaration_differences(old_table: Table, new_table: Table) -> list[tuple[str, str, str]]:
    """Return how two declarations of a table differ in key, dtypes, units and aggregation rules.

    Each difference is a tuple: what differs (such as ``rate: unit``), the old value, the new value.
    """

    def dump_properties(column: Column) -> dict[str, str]:
        return {
            "dtype": column.dtype,
            "unit": str(column.unit),
            "units": str(dict(column.units) or None),
            "aggregation": str(column.aggregate),
        }

    old_properties_by_column = {
        column.name: dump_properties(column) for column in (*old_table.columns, ROW_NUMBER_COLUMN)
    }
    property_comparisons = [("key", ", ".join(old_table.key), ", ".join(new_table.key))]
    for column in new_table.columns:
        old_column_properties = old_properties_by_column.get(column.name, {})
        property_comparisons += [
            (
                f"{column.name}: {property_name}",
                old_column_properties.get(property_name, new_value),
                new_value,
            )
            for property_name, new_value in dump_properties(column).items()
        ]
    return [comparison for comparison in property_comparisons if comparison[1] != comparison[2]]


def append_changes(store: ArchiveStore, change_rows: Iterable[ChangeRow]) -> None:
    """Append rows to the table ``changes``, which lists new and changed columns."""
    logged_at = datetime.now(UTC)
    row_dicts = [
        {
            "at": logged_at + timedelta(microseconds=row_position),
            **dict(zip(_CHANGE_COLUMNS, change_row, strict=True)),
        }
        for row_position, change_row in enumerate(change_rows)
    ]
    if row_dicts:
        delta_table = store.open_or_create(CHANGES_TABLE, CHANGES_SCHEMA)
        store.append_rows(delta_table, pa.Table.from_pylist(row_dicts, schema=CHANGES_SCHEMA))
