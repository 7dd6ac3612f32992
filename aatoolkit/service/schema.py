"""The tables of a store of observations: prompts, answers, citations, crawler requests, visits.

A store is a folder with one Parquet file per table. Only the table ``projects`` is required. A
missing table means that its data were not observed. Every table but ``bots`` has a column ``host``.

Optional columns may be missing, and may have nulls. A null means *not known*, never zero.

``schema.txt``, next to this file, lists the tables and columns. The kind ``instant`` is a timestamp
in UTC, ``flag`` a boolean, ``text`` a text, and ``words`` a list of texts.
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
"""The kinds of columns, and the Arrow type of each."""

_TABLE_LINE = re.compile(r"(\w+)\((.*?)\): (.*)")
_COLUMN_LINE = re.compile(r"  (\w+)(!?): (\w+)(?: \[(.*?)\])? ?(.*)")
_PARENT_LINE = re.compile(r"  -> (\w+)\((.*)\)")


@dataclass(frozen=True)
class StoreColumn:
    """A column of a table, as in ``schema.txt``.

    ``values`` are the allowed values; if it is empty, all are allowed.
    """

    name: str
    is_required: bool
    kind: str
    values: tuple[str, ...]
    doc: str

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type of the column's values."""
        return KINDS[self.kind]


@dataclass
class StoreTable:
    """A table of a store: its key, its columns, and the tables that it refers to.

    ``parents`` are foreign keys: tuples of another table, and the columns that refer to it.
    """

    name: str
    key: tuple[str, ...]
    doc: str
    columns: list[StoreColumn] = field(default_factory=list)
    parents: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema of the table."""
        return pa.schema(
            [
                pa.field(column.name, column.arrow_type, not column.is_required)
                for column in self.columns
            ]
        )


SCHEMA = Path(__file__).with_suffix(".txt").read_text("utf-8")
"""The text that describes all tables."""


def _parse_tables() -> Iterator[StoreTable]:
    """Yield the tables in ``schema.txt``."""
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


TABLES = {table.name: table for table in _parse_tables()}
"""All tables of a store, by name; each refers only to tables before it."""
