"""Declarations of store tables, and the notation in which they are written."""

from __future__ import annotations

from dataclasses import dataclass

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
"""The kinds of column, and the Arrow type each is kept as."""


@dataclass(frozen=True)
class StoreColumn:
    """One column of a store table."""

    name: str
    kind: str
    doc: str
    required: bool = False
    values: tuple[str, ...] = ()

    @property
    def type(self) -> pa.DataType:
        """The Arrow type the column is kept as."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class StoreTable:
    """One table of a store: its key, its columns and the tables it points to."""

    name: str
    doc: str
    key: tuple[str, ...]
    columns: tuple[StoreColumn, ...]
    refers: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema the table is kept as."""
        return pa.schema([pa.field(c.name, c.type, nullable=not c.required) for c in self.columns])


def _column(text: str) -> StoreColumn:
    """Parse a column written as ``name!: kind [a/b/c] description``; ``!`` marks a required one."""
    head, _, rest = text.partition(":")
    rest = rest.strip()
    kind, _, doc = rest.partition(" ")
    values: tuple[str, ...] = ()
    if doc.startswith("["):
        listed, _, doc = doc[1:].partition("]")
        values = tuple(listed.split("/"))
    return StoreColumn(head.rstrip("!"), kind, doc.strip(), head.endswith("!"), values)


def table(
    name: str,
    doc: str,
    key: str,
    *columns: str,
    refers: tuple[tuple[tuple[str, ...], str], ...] = (),
) -> StoreTable:
    """Declare a table, its columns written as ``name!: kind [a/b/c] description``."""
    return StoreTable(name, doc, tuple(key.split()), tuple(map(_column, columns)), refers)


HOST = "host!: text the project's domain"
CHAT = "chat_id!: text the answer it was seen in"
TO_ANSWER = ((("host", "chat_id"), "answers"),)
TO_PROMPT = ((("host", "prompt_id"), "prompts"),)
TO_PROJECT = ((("host",), "projects"),)
