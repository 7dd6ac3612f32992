"""Places to Arrow tables: columns, their names, and the plan that `unshred` goes by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree import names
from aatoolkit.jsontree.chunks import Piece, count, filled, joined, laid_out
from aatoolkit.jsontree.grouping import Rows
from aatoolkit.jsontree.nodes import (
    ARROW,
    BIG,
    INTEGER,
    NUMBER,
    Child,
    Place,
    Record,
)

PLAN = b"aatoolkit.shred"
"""The key of the plan in a table's schema metadata."""

VERSION = 1
KINDS = ["missing", "null", "object", "array", "entries", *sorted(ARROW)]
"""What a kind column may say; where row numbers stand for values, also whose rows they are."""

_EXACT = 2**53


def assemble(document: Place) -> dict[str, pa.Table]:
    """The tables of a document, the document's own first."""
    return dict(_tables(document))


def _tables(document: Place) -> Iterator[tuple[str, pa.Table]]:
    waiting = [(names.DOCUMENT, Child(place=document, size=1))]
    while waiting:
        name, child = waiting.pop()
        builder = _Builder(name, child)
        yield names.short(name), builder.table()
        waiting += reversed(builder.below)


class _Builder:
    """Builds one table."""

    def __init__(self, name: str, child: Child) -> None:
        self.name = name
        self.child = child
        self.columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        self.below: list[tuple[str, Child]] = []

    def table(self) -> pa.Table:
        if self.child.parents:
            self.columns[names.PARENT] = pa.chunked_array(self.child.parents)
            self.columns[names.PLACE] = pa.chunked_array(self.child.positions)
        if self.child.keys:
            self.columns[names.KEY] = pa.chunked_array(self.child.keys)
        plan = {
            "version": VERSION,
            "table": self.name,
            "rows": self.child.size,
            "cell": self._cell(self.child.place, "", [range(self.child.size)]),
        }
        text = json.dumps(plan, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return pa.table(self.columns).replace_schema_metadata({PLAN: text.encode()})

    def _cell(self, place: Place, label: str, enclosing: list[Rows]) -> dict[str, Any]:
        """The columns of a place; returns its plan."""
        label_or_value = label or names.VALUE
        cell: dict[str, Any] = {}
        rest = self._rest(place, enclosing)
        if len(rest) > 1:
            cell["kind"] = label_or_value + names.KIND
            self.columns[cell["kind"]] = self._kinds(place, enclosing)
        elif rest:
            cell["rest"] = rest[0]
        scalars = self._scalars(place, cell)
        for kind, pieces in scalars.items():
            column = label_or_value if len(scalars) == 1 else f"{label_or_value}@{kind}"
            cell.setdefault("scalars", {})[kind] = column
            self.columns[column] = laid_out(pieces, _arrow(kind), self.child.size)
        if rest == ["null"] and not (scalars or place.items or place.entries):
            self.columns[label_or_value] = pa.nulls(self.child.size)
        for sign, child in ((names.ITEMS, place.items), (names.ENTRIES, place.entries)):
            if child is not None:
                cell[sign] = self._child(child, label, sign)
        if place.record is not None:
            cell["fields"] = {
                key: self._cell(inner, names.field(label, key), place.record.rows)
                for key, inner in sorted(place.record.fields.items())
            }
        return cell

    def _rest(self, place: Place, enclosing: list[Rows]) -> list[str]:
        """What a row may be in which no column of the place has a value."""
        there = count(place.rows)
        objects = count(place.record.rows) if place.record else 0
        counts = {
            "missing": count(enclosing) - there,
            "null": place.null_count,
            "object": objects,
        }
        return [kind for kind, count in counts.items() if count]

    def _scalars(self, place: Place, cell: dict[str, Any]) -> dict[str, list[Piece]]:
        """The scalars by kind; integers among floats if that loses nothing."""
        found = dict(sorted(place.scalars.items()))
        if INTEGER in found and NUMBER in found and BIG not in found and _one_column(found):
            pieces = map(filled, found.pop(INTEGER) + found[NUMBER])
            found[NUMBER] = [(array.cast(ARROW[NUMBER]), rows) for array, rows in pieces]
            cell["whole"] = INTEGER
        return found

    def _child(self, child: Child, label: str, sign: str) -> dict[str, str]:
        column = (label or names.VALUE) + sign
        self.columns[column] = laid_out(child.lengths, pa.int32(), self.child.size)
        name = names.table(self.name, label, sign)
        self.below.append((name, child))
        return {"column": column, "table": name}

    def _kinds(self, place: Place, enclosing: list[Rows]) -> pa.DictionaryArray:
        """For each row what the place is there, in a word."""
        words = [*KINDS, *sorted(place.scalars.keys() - ARROW.keys())]
        codes = np.full(self.child.size, -1, np.int16)
        codes[joined(enclosing)] = words.index("missing")
        codes[joined(place.rows)] = words.index("null")
        for kind, pieces in place.scalars.items():
            for array, rows in pieces:
                codes[filled((array, rows))[1]] = words.index(kind)
        containers = (place.record, place.items, place.entries)
        for kind, container in zip(("object", "array", "entries"), containers, strict=True):
            if isinstance(container, Record):
                codes[joined(container.rows)] = words.index(kind)
            elif container is not None:
                codes[joined([rows for _, rows in container.lengths])] = words.index(kind)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)


def _arrow(kind: str) -> pa.DataType:
    return ARROW.get(kind, pa.int64())


def _one_column(scalars: dict[str, list[Piece]]) -> bool:
    """Whether floats could hold the integers beside them, and be told from them."""
    for array, _ in scalars[INTEGER]:
        ends = pc.min_max(array).as_py()
        if ends["min"] < -_EXACT or ends["max"] > _EXACT:
            return False
    floats = (array.drop_null().to_numpy() for array, _ in scalars[NUMBER])
    return not any((array == np.floor(array)).any() for array in floats)
