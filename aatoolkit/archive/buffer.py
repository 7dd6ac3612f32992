"""Rows of many answers in memory, until they are written."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.archive.answers import StoredAnswer, context_table
from aatoolkit.archive.derive import DerivedAnswer
from aatoolkit.archive.schema import StoredTable, bare, text_of, united
from aatoolkit.archive.statement_tables import BESIDE, COLUMNS, Rows
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.sections.section import Column


class TableBuffer:
    """Rows of many answers, gathered until they are written."""

    def __init__(self) -> None:
        self._answers: list[StoredAnswer] = []
        self._tables: dict[str, list[tuple[pa.Table, int]]] = {}
        self._beside: dict[str, tuple[Rows, list[int]]] = {}
        self.declared: dict[str, StoredTable] = {}
        self.drafted: set[str] = set()
        self.size = 0

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, answer: StoredAnswer, derived: DerivedAnswer) -> None:
        """Take the rows of one answer."""
        at = len(self._answers)
        self._answers.append(replace(answer, body=None))  # bodies are stored by now
        for name, rows in derived.beside.items():
            found, places = self._beside.setdefault(name, ([], []))
            found += rows
            places += [at] * len(rows)
        section = derived.section
        for table in section.tables if section is not None else ():
            kept = StoredTable(section.name, table, derived.prefix)  # type: ignore[union-attr]
            known = self.declared.get(kept.name)
            self.declared[kept.name] = kept if known is None else united(known, kept)
            if kept.is_draft:
                self.drafted.add(kept.name)
            if table.name in derived.tables:
                arrow = derived.tables[table.name]
                self._tables.setdefault(kept.name, []).append((arrow, at))
                self.size += arrow.nbytes

    def tables(self) -> Iterable[tuple[str, pa.Table]]:
        """The rows of each declared table, with their context."""
        contexts = context_table(self._answers)
        for name, parts in self._tables.items():
            sizes = [part.num_rows for part, _ in parts]
            places = pa.array(np.repeat([at for _, at in parts], sizes))
            whole = _stacked([part for part, _ in parts], self.declared[name])
            context = contexts.take(places)
            stored = self.declared[name].stored
            columns = {stored(own): whole[own] for own in whole.column_names}
            yield name, pa.table({**{n: context[n] for n in context.column_names}, **columns})

    def beside(self) -> Iterable[tuple[str, pa.Table]]:
        """The rows of the tables beside the declared ones."""
        contexts = context_table(self._answers)
        for name, (rows, places) in self._beside.items():
            if not rows:
                continue
            context = contexts.take(pa.array(places, pa.int64()))
            columns = {
                column: _column([row[at] for row in rows], kind)
                for at, (column, kind) in enumerate(COLUMNS[name])
            }
            table = pa.table({**{n: context[n] for n in context.column_names}, **columns})
            yield name, table.cast(bare(BESIDE[name]))


def _column(values: list[Any], kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return pa.array(values, kind)
    dtype = "Int64" if pa.types.is_integer(kind) else "timestamp"
    return coerce_values(values, dtype)[0]


def _stacked(parts: Sequence[pa.Table], declared: StoredTable) -> pa.Table:
    """Tables on each other; categories as text, so that each may have levels of its own.

    Drafts of answers may give a column different types: it has the one that holds them all.
    """
    plain = [_plain(part) for part in parts]
    if all(part.schema.equals(plain[0].schema) for part in plain):
        return pa.concat_tables(plain)
    types: dict[str, set[pa.DataType]] = {}
    for part in plain:
        for field in part.schema:
            types.setdefault(field.name, set()).add(field.type)
    uneven = {name for name, found in types.items() if len(found - {pa.null()}) > 1}
    texts = {n for n in uneven if n in declared.table.names and _is_text(declared.table[n])}
    with contextlib.suppress(pa.ArrowException):
        fit = [_with_text(part, texts) for part in plain]
        return pa.concat_tables(fit, promote_options="permissive")
    return pa.concat_tables([_with_text(part, uneven) for part in plain], promote_options="default")


def _is_text(column: Column) -> bool:
    return column.dtype in ("string", "category")


def _with_text(table: pa.Table, names: Collection[str]) -> pa.Table:
    """A table with some of its columns as text."""
    for at, name in enumerate(table.column_names):
        if name in names:
            table = table.set_column(at, name, text_of(table[name]))
    return table


def _plain(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(f.name, f.type.value_type) if pa.types.is_dictionary(f.type) else f
        for f in table.schema
    ]
    schema = pa.schema(fields)
    return table if schema.equals(table.schema) else table.cast(schema)
