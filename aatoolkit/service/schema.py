"""The tables of a store of observations: prompts, answers, citations, crawler requests, visits.

A store is a folder with one Parquet file per table, named after the table. Every table but ``bots``
has a column ``host``, the project that the row belongs to. Only the table ``projects`` is required.
If another table is missing, nothing of its kind was observed; the sections that need it say so in
their availability instead of reporting zeros.

A *required* column is present and has no nulls. An optional column may be missing from the file,
and a null in it means *not known*, never zero.

Instants are UTC. ``text`` is UTF-8. ``words`` is a list of text. The tables are declared in
``schema.txt`` beside this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

KINDS: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "instant": pa.timestamp("us", tz="UTC"),
    "day": pa.date32(),
    "words": pa.list_(pa.string()),
}
"""The kinds of columns, and the Arrow type that each kind has in memory."""

_TABLE_LINE = re.compile(r"(\w+)\((.*?)\): (.*)")
_COLUMN_LINE = re.compile(r"  (\w+)(!?): (\w+)(?: \[(.*?)\])? ?(.*)")
_PARENT_LINE = re.compile(r"  -> (\w+)\((.*)\)")


@dataclass(frozen=True)
class StoreColumn:
    """One declared column of a table of a store."""

    name: str
    is_required: bool
    kind: str
    values: tuple[str, ...]
    doc: str

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the column's values."""
        return KINDS[self.kind]


@dataclass
class StoreTable:
    """One declared table of a store: its key, its columns and the tables that it refers to."""

    name: str
    key: tuple[str, ...]
    doc: str
    columns: list[StoreColumn] = field(default_factory=list)
    parents: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of the table."""
        return pa.schema(
            [pa.field(column.name, column.type, not column.is_required) for column in self.columns]
        )


SCHEMA = Path(__file__).with_suffix(".txt").read_text("utf-8")
"""The declaration of all tables, for people; its first lines say how it is to be read."""


def _read_tables() -> Iterator[StoreTable]:
    """Yield the tables that ``schema.txt`` declares."""
    for block in SCHEMA.split("\n\n")[1:]:
        first_line, *lines = block.splitlines()
        name, key, doc = _TABLE_LINE.fullmatch(first_line).groups()  # type: ignore[union-attr]
        table = StoreTable(name, tuple(key.split()), doc)
        for line in lines:
            if parent := _PARENT_LINE.fullmatch(line):
                table.parents.append((parent[1], tuple(parent[2].split())))
            elif column := _COLUMN_LINE.fullmatch(line):
                values = tuple((column[4] or "").split("/")) if column[4] else ()
                table.columns.append(
                    StoreColumn(column[1], column[2] == "!", column[3], values, column[5])
                )
        yield table


TABLES: dict[str, StoreTable] = {table.name: table for table in _read_tables()}
"""Every table of a store by name, in an order in which each refers only to earlier ones."""
