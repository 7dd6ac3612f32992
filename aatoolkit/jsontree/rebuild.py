"""Rebuild the JSON value that tables were made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, Final

import numpy as np
import pyarrow as pa

from aatoolkit.errors import MetadataError, PayloadError
from aatoolkit.jsontree import names
from aatoolkit.jsontree.assemble import PLAN, VERSION
from aatoolkit.jsontree.kinds import ARROW, BIG, INTEGER, NUMBER

_MISSING: Final = object()
_Cell = dict[str, Any]


def unshred(tables: Mapping[str, pa.Table]) -> Any:
    """Rebuild the JSON value from the tables that `shred` made.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
        All tables of the document, as they came or read back from Parquet, rows in their order.

    Raises
    ------
    MetadataError
        If a table has no plan, or one of a later version.
    PayloadError
        If a table, column or row is missing or not as planned.

    Examples
    --------
    >>> from aatoolkit.jsontree.arrow_tables import shred
    >>> unshred(shred('{"chats": [{"id": 1}, {}], "total": null}'))
    {'chats': [{'id': 1}, {}], 'total': None}
    """
    return restore(tables, _no_cells)


def restore(tables: Mapping[str, pa.Table], cells: Callable[[str], list[Any]]) -> Any:
    """Rebuild a JSON value where tables hold row numbers of other tables in place of values.

    What is no kind of scalar is looked up in ``cells``: all values that such numbers refer to.
    """
    rebuilder = _Rebuilder(tables, cells)
    try:
        return rebuilder.document()
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, PayloadError):
            raise
        problem = f"{type(error).__name__}: {error}"
    raise _broken(f"the tables do not fit their plans ({problem})")


class _Rebuilder:
    def __init__(self, tables: Mapping[str, pa.Table], cells: Callable[[str], list[Any]]) -> None:
        self.cells = cells
        self.plans = {name: _plan(name, table) for name, table in tables.items()}
        self.tables = {self.plans[name]["table"]: table for name, table in tables.items()}
        self.plans = {plan["table"]: plan for plan in self.plans.values()}

    def document(self) -> Any:
        (value,) = self._values(names.DOCUMENT)
        return value

    def _values(self, name: str) -> list[Any]:
        """Rebuild the JSON value of each row of a table."""
        if name not in self.tables:
            raise _broken(f"the table {names.short(name)} is missing")
        rows = self.plans[name]["rows"]
        if self.tables[name].num_columns and self.tables[name].num_rows != rows:
            raise _broken(f"the table {names.short(name)} had {rows} rows")
        return self._cell(name, self.plans[name]["cell"], rows)

    def _cell(self, name: str, cell: _Cell, rows: int) -> list[Any]:
        """Rebuild the values of a column group; `_MISSING` where a row has none."""
        parts = self._scalars(name, cell)
        for sign in (names.ITEMS, names.ENTRIES):
            if sign in cell:
                parts.append(self._below(name, cell[sign], sign))
        kinds = np.array(self._column(name, cell["kind"]).to_pylist()) if "kind" in cell else None
        if kinds is None and len(parts) == 1 and parts[0][0].all():
            return parts[0][1]
        found = np.full(rows, _MISSING if cell.get("rest") == "missing" else None, object)
        if kinds is not None:
            found[kinds == "missing"] = _MISSING
        for valid, values in parts:
            found[valid] = _objects(values)[valid]
        if "fields" in cell:
            at = np.ones(rows, bool) if kinds is None else kinds == "object"
            for valid, _ in parts:
                at &= ~valid
            found[at] = _objects(self._records(name, cell["fields"], rows))[at]
        return found.tolist()

    def _scalars(self, name: str, cell: _Cell) -> list[tuple[Any, list[Any]]]:
        found = []
        for kind, column in cell.get("scalars", {}).items():
            array = self._column(name, column)
            values = array.to_pylist()
            if kind not in ARROW:
                held = self.cells(kind)
                values = [None if row is None else held[row] for row in values]
            if kind == BIG:
                values = [None if value is None else int(value) for value in values]
            if kind == NUMBER and cell.get("whole") == INTEGER:
                values = [int(v) if v is not None and v.is_integer() else v for v in values]
            found.append((_valid(array), values))
        return found

    def _below(self, name: str, below: dict[str, str], sign: str) -> tuple[Any, list[Any]]:
        """Rebuild the arrays of a column group, or the objects that became rows."""
        lengths, child = self._column(name, below["column"]), below["table"]
        values = self._values(child)
        sizes = lengths.fill_null(0).to_numpy()
        ends = np.cumsum(sizes)
        self._check(child, sizes)
        bounds = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
        if sign == names.ITEMS:
            return _valid(lengths), [values[start:end] for start, end in bounds]
        keys = self._column(child, names.KEY).to_pylist()
        objects = [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in bounds]
        return _valid(lengths), objects

    def _records(self, name: str, fields: dict[str, _Cell], rows: int) -> list[dict[str, Any]]:
        columns = [self._cell(name, cell, rows) for cell in fields.values()]
        if not columns:
            return [{} for _ in range(rows)]
        pairs = map(zip, repeat(list(fields)), zip(*columns, strict=True))
        return [{key: value for key, value in row if value is not _MISSING} for row in pairs]

    def _column(self, name: str, column: str) -> pa.ChunkedArray:
        try:
            return self.tables[name].column(column)
        except KeyError:
            raise _broken(f"the table {names.short(name)} lacks its column {column}") from None

    def _check(self, child: str, sizes: Any) -> None:
        """Raise unless the rows of a table are those that their parents refer to."""
        if int(sizes.sum()) != self.plans[child]["rows"]:
            raise _broken(
                f"the table {names.short(child)} does not have the rows that its parent refers to"
            )
        parents = self._column(child, names.PARENT).to_numpy()
        if not np.array_equal(parents, np.repeat(np.arange(len(sizes)), sizes)):
            raise _broken(f"the rows of the table {names.short(child)} are not in their order")


def _no_cells(kind: str) -> list[Any]:
    raise _broken(f"there is no kind of scalar {kind!r}")


def _plan(name: str, table: pa.Table) -> dict[str, Any]:
    if not hasattr(table, "schema"):
        raise MetadataError(f"the table {name} is a {type(table).__name__}; give Arrow tables")
    text = (table.schema.metadata or {}).get(PLAN)
    remedy = "give unshred the tables that shred made, with the metadata of their schemas"
    if text is None:
        raise MetadataError(f"the table {name} has no plan; {remedy}")
    try:
        plan: dict[str, Any] = json.loads(text)
        version = plan["version"]
    except (ValueError, KeyError, TypeError):
        raise MetadataError(f"the plan of the table {name} cannot be read; {remedy}") from None
    if version != VERSION:
        raise MetadataError(
            f"the table {name} was made by a later version of aatoolkit; install that",
            version=str(version),
        )
    return plan


def _broken(problem: str) -> PayloadError:
    return PayloadError(
        f"{problem}; give unshred all tables that shred made, as they were",
        problems=[f"{problem} @ $"],
    )


def _valid(array: pa.ChunkedArray) -> Any:
    return array.is_valid().to_numpy()


def _objects(values: list[Any]) -> Any:
    return np.fromiter(values, object, len(values))
