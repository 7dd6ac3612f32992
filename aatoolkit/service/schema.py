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

ARROW_TYPE_BY_KIND: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "instant": pa.timestamp("us", tz="UTC"),
    "day": pa.date32(),
    "words": pa.list_(pa.string()),
}
"""The kinds of columns in ``schema.txt``, with their Arrow types."""

_TABLE_LINE_PATTERN = re.compile(r"(\w+)\((.*?)\): (.*)")
_COLUMN_LINE_PATTERN = re.compile(r"  (\w+)(!?): (\w+)(?: \[(.*?)\])? ?(.*)")
_PARENT_LINE_PATTERN = re.compile(r"  -> (\w+)\((.*)\)")


@dataclass(frozen=True)
class StoreColumn:
    """A column of a table, as declared in ``schema.txt``.

    ``kind`` is the kind of its values, such as ``text``. ``values`` are the allowed values; if the
    tuple is empty, all values are allowed.
    """

    name: str
    is_required: bool
    kind: str
    values: tuple[str, ...]
    doc: str

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type of the column's values."""
        return ARROW_TYPE_BY_KIND[self.kind]


@dataclass
class StoreTable:
    """A table of a store: its key columns, all its columns, and the tables that it refers to.

    ``parents`` are the foreign keys, as tuples: the name of another table, and the names of the
    columns that refer to it.
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
    for table_text in SCHEMA.split("\n\n")[1:]:
        first_line, *column_lines = table_text.splitlines()
        table_name, key_text, table_doc = _TABLE_LINE_PATTERN.fullmatch(first_line).groups()  # type: ignore[union-attr]
        table = StoreTable(table_name, tuple(key_text.split()), table_doc)
        for column_line in column_lines:
            if parent_match := _PARENT_LINE_PATTERN.fullmatch(column_line):
                table.parents.append((parent_match[1], tuple(parent_match[2].split())))
            elif column_match := _COLUMN_LINE_PATTERN.fullmatch(column_line):
                column_name, required_mark, kind, values_text, column_doc = column_match.groups()
                allowed_values = tuple(values_text.split("/")) if values_text else ()
                table.columns.append(
                    StoreColumn(column_name, required_mark == "!", kind, allowed_values, column_doc)
                )
        yield table


TABLES = {table.name: table for table in _parse_tables()}
"""The tables that a store may have, by name; a table refers only to tables before it."""
