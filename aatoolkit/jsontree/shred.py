"""Convert any JSON document to Arrow tables and back, without loss or any declaration.

The layout of the tables is a contract.

**Tables.** The document is the one row of the table ``$``. An array becomes a table of its own, a
row for each element, named after its path: ``chats[]``, ``chats[].citations[]``, ``matrix[][]``.
An object whose keys are data becomes one too, a row for each entry: ``byDay{}``. Which objects
these are is decided in `aatoolkit.jsontree.layout`; the others are columns.

**Columns** of tables other than ``$``, first: ``_parent``, the number of the row above it in the
table above, from 0; ``_pos``, the place in the array or object, from 0; ``_key``, the key of an
entry. Then those of the row itself, named by the path from the row, and sorted by it:

=================  =============================================================================
``engine``         the field's numbers, text or booleans, where it has one kind of them
``answer.text``    a field of an object in a field
``x@string`` …     one column a kind, where it has several: ``@boolean``, ``@integer``,
                   ``@number`` (floats), ``@string``, ``@big`` (integers beyond 64 bits, as text)
``chats[]``        how many elements the array has; they are in the table of that name
``byDay{}``        how many entries the object has; they are in the table of that name
``x@kind``         what the field is in a row: ``missing``, ``null``, ``object``, or ``array``,
                   ``entries`` or a kind of scalar. It is there only where rows without a value
                   are not all of one kind; else the kind is in the plan.
``_value…``        the same of the row itself, where it is no object
=================  =============================================================================

Integers and floats share a column of floats where no float is a whole number and no integer
beyond 2**53: then the two can be distinguished. Text that looks like dates stays text.

**Names** depend on the fields and their kinds, never on the order of rows. In them ``.`` ``[``
``{`` ``@`` ``%`` ``/`` and the like are written ``%2E`` and so on, so that no key looks like a
path or a column of ours, and names can be file names; long table names end in a hash.

**The plan**, JSON in the metadata of each table's schema under ``aatoolkit.shred``, holds the
true keys and what each column is. It is all that `unshred` goes by, with the columns it names,
and Parquet keeps it.

>>> tables = shred('{"host": "a.example", "chats": [{"id": 1, "tags": ["x"]}, {"id": null}]}')
>>> {name: table.column_names for name, table in tables.items()}
{'$': ['chats[]', 'host'],
 'chats[]': ['_parent', '_pos', 'id', 'tags[]'],
 'chats[].tags[]': ['_parent', '_pos', '_value']}
>>> tables["chats[]"].to_pylist()
[{'_parent': 0, '_pos': 0, 'id': 1, 'tags[]': 1},
 {'_parent': 0, '_pos': 1, 'id': None, 'tags[]': None}]
>>> unshred(tables)
{'chats': [{'id': 1, 'tags': ['x']}, {'id': None}], 'host': 'a.example'}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.errors import MetadataError, PayloadError
from aatoolkit.jsontree.decode import EXACT_FLOAT, decode, gc_paused
from aatoolkit.jsontree.layout import MAX_NODES, Census, are_keyed, regular
from aatoolkit.jsontree.vectors import MISSING

__all__ = ["shred", "unshred"]

DOCUMENT = "$"
"""The table of the document itself."""

PARENT, PLACE, KEY, VALUE = "_parent", "_pos", "_key", "_value"
ITEMS, ENTRIES, KIND = "[]", "{}", "@kind"
INTEGER, BIG, NUMBER, STRING, BOOLEAN = "integer", "big", "number", "string", "boolean"
PLAN = b"aatoolkit.shred"
"""The key of the plan in a table's schema metadata."""

VERSION = 1
_LONGEST = 160
_OURS = frozenset((PARENT, PLACE, KEY, VALUE))
_SPECIAL = re.compile(r'[\x00-\x1f\x7f%.\[\]{}@~/\\:*?"<>|]')
_ARROW = {
    INTEGER: pa.int64(),
    BIG: pa.string(),
    NUMBER: pa.float64(),
    STRING: pa.string(),
    BOOLEAN: pa.bool_(),
}
"""The Arrow type of each kind; integers beyond 64 bits are decimal text."""

_KINDS = ["missing", "null", "object", "array", "entries", *sorted(_ARROW)]
"""The values of a kind column."""

_KIND_OF = {int: INTEGER, float: NUMBER, str: STRING, bool: BOOLEAN, type(None): "null"}
_KIND_OF |= {dict: "object", list: "array"}
_Rows = np.ndarray[tuple[int], np.dtype[np.int64]]
_Cell = dict[str, Any]


@gc_paused()
def shred(answer: bytes | str | Any, *, max_nodes: int = MAX_NODES) -> dict[str, pa.Table]:
    """Convert a JSON document to Arrow tables, from which `unshred` rebuilds it.

    Parameters
    ----------
    answer : bytes, str or object
        The document, as JSON in bytes or text; or a JSON value that is neither.
    max_nodes : int
        How many different paths the document may have.

    Returns
    -------
    dict of str to pyarrow.Table
        The document's own table, ``$``, first; those below it follow.

    Raises
    ------
    DecodeError
        If it is not one JSON document.
    PayloadError
        If an object is no JSON value; `PayloadError` if it has more paths than are allowed.

    Examples
    --------
    >>> tables = shred({"rows": [{"n": 1}, {"n": None}, {}]})
    >>> {name: table.num_rows for name, table in tables.items()}
    {'$': 1, 'rows[]': 3}
    """
    census = Census(max_nodes)
    waiting = [_Table(DOCUMENT, [decode(answer)], census)]
    tables: dict[str, pa.Table] = {}
    while waiting:
        table = waiting.pop()
        tables[_short(table.name)] = table.arrow()
        waiting += reversed(table.below)
    return tables


class _Table:
    """One table: its rows, and the tables below it."""

    def __init__(self, name: str, values: list[Any], census: Census) -> None:
        self.name, self.values, self.census = name, values, census
        self.size = len(values)
        self.columns: dict[str, pa.Array] = {}
        self.below: list[_Table] = []

    def arrow(self) -> pa.Table:
        every = np.arange(self.size)
        plan = {
            "version": VERSION,
            "table": self.name,
            "rows": self.size,
            "cell": self._cell(self.values, every, "", every),
        }
        text = json.dumps(plan, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return pa.table(self.columns).replace_schema_metadata({PLAN: text.encode()})

    def _cell(self, values: Sequence[Any], rows: _Rows, label: str, around: _Rows) -> _Cell:
        """Add the columns of values in some rows; return the plan: which column holds which kind.

        They are in objects that are in the rows ``around``.
        """
        self.census.add(1)
        column, cell = label or VALUE, _Cell()
        kinds = _by_kind(values, rows)
        rest = ["missing"] * (len(rows) < len(around))
        rest += [kind for kind in ("null", "object") if kind in kinds]
        if len(rest) > 1:
            cell["kind"] = column + KIND
            codes = np.full(self.size, -1, np.int16)
            codes[around] = 0
            for kind, (_, there) in kinds.items():
                codes[there] = _KINDS.index(kind)
            numbers = pa.array(codes, mask=codes < 0 if len(around) < self.size else None)
            kind_array = pa.DictionaryArray.from_arrays(numbers, pa.array(_KINDS), safe=False)
            self.columns[cell["kind"]] = kind_array
        elif rest:
            cell["rest"] = rest[0]
        scalars = {kind: kinds[kind] for kind in sorted(kinds) if kind in _ARROW}
        if {INTEGER, NUMBER} <= scalars.keys() and BIG not in scalars:
            (whole, ats), (floats, at) = scalars[INTEGER], scalars[NUMBER]
            is_exact = min(whole) >= -EXACT_FLOAT and max(whole) <= EXACT_FLOAT
            if is_exact and not any(map(float.is_integer, floats)):
                del scalars[INTEGER]
                scalars[NUMBER] = [*map(float, whole), *floats], np.concatenate((ats, at))
                cell["whole"] = INTEGER
        for kind, (held, there) in scalars.items():
            name = column if len(scalars) == 1 else f"{column}@{kind}"
            cell.setdefault("scalars", {})[kind] = name
            self.columns[name] = self._column(held, there, _ARROW[kind])
        if rest == ["null"] and not scalars and not {"array", "entries"} & kinds.keys():
            self.columns[column] = pa.nulls(self.size)
        for kind, sign in (("array", ITEMS), ("entries", ENTRIES)):
            if kind in kinds:
                cell[sign] = self._child(*kinds[kind], label, sign)
        if "object" in kinds:
            objects, there = kinds["object"]
            fields = _fields(objects, there)
            cell["fields"] = {
                key: self._cell(*fields[key], _field(label, key), there) for key in sorted(fields)
            }
        return cell

    def _column(self, values: Sequence[Any], rows: _Rows, kind: pa.DataType) -> pa.Array:
        if len(rows) == self.size and (rows[1:] > rows[:-1]).all():
            return pa.array(values, kind)
        column = np.full(self.size, None, object)
        column[rows] = _objects(values)
        return pa.array(column, kind)

    def _child(
        self, containers: Sequence[Any], rows: _Rows, label: str, sign: str
    ) -> dict[str, str]:
        """Open the table of the elements of arrays, or of the entries of objects."""
        column = (label or VALUE) + sign
        lengths = np.fromiter(map(len, containers), np.int32, len(containers))
        self.columns[column] = self._column(lengths.tolist(), rows, pa.int32())
        above = "" if self.name == DOCUMENT else self.name
        name = f"{above}.{label}{sign}" if above and label else f"{above}{label}{sign}"
        lists = containers if sign == ITEMS else map(dict.values, containers)
        child = _Table(name, [*chain.from_iterable(lists)], self.census)
        starts = (lengths.cumsum() - lengths).repeat(lengths)
        child.columns[PARENT] = pa.array(rows.repeat(lengths))
        child.columns[PLACE] = pa.array(np.arange(child.size, dtype=np.int32) - starts, pa.int32())
        if sign == ENTRIES:
            child.columns[KEY] = pa.array([*chain.from_iterable(containers)], pa.string())
        self.below.append(child)
        return {"column": column, "table": name}


def _by_kind(values: Sequence[Any], rows: _Rows) -> dict[str, tuple[Sequence[Any], _Rows]]:
    """Group values by their kind, each with its rows."""
    types = [*map(type, values)]
    distinct = {*types}
    kinds: dict[str, tuple[Sequence[Any], _Rows]] = {}
    for kind in distinct:
        part, there = values, rows
        if len(distinct) > 1:
            part = [value for value in values if type(value) is kind]
            there = rows[np.fromiter((other is kind for other in types), bool, len(types))]
        if kind is int and not -(2**63) <= min(part) <= max(part) < 2**63:
            fits = np.fromiter((-(2**63) <= value < 2**63 for value in part), bool, len(part))
            big = [str(value) for value, fit in zip(part, fits, strict=True) if not fit]
            kinds[BIG] = big, there[~fits]
            part = [value for value, fit in zip(part, fits, strict=True) if fit]
            there = there[fits]
        name = "entries" if kind is dict and are_keyed(part) else _KIND_OF[kind]
        if len(part):
            kinds[name] = part, there
    return kinds


def _fields(
    objects: Sequence[dict[str, Any]], rows: _Rows
) -> dict[str, tuple[Sequence[Any], _Rows]]:
    """Group the values of objects by their keys, each with its rows."""
    columns = regular(objects)
    if columns:
        return {key: (column, rows) for key, column in columns.items()}
    found: dict[str, tuple[list[Any], list[int]]] = {}
    for row, value in zip(rows.tolist(), objects, strict=True):
        for key, inner in value.items():
            if key not in found:
                found[key] = [], []
            found[key][0].append(inner)
            found[key][1].append(row)
    return {key: (values, np.array(at, np.int64)) for key, (values, at) in found.items()}


def _field(record: str, key: str) -> str:
    """The name of a field of an object; characters with a meaning in names become ``%2E``."""
    step = _SPECIAL.sub(lambda sign: f"%{ord(sign[0]):02X}", key) or "%"
    step = f"%5F{key[1:]}" if key in _OURS else step
    return f"{record}.{step}" if record else step


def _short(name: str) -> str:
    """A table's name; a long one is truncated, with a hash of the whole at its end."""
    if len(name.encode()) <= _LONGEST:
        return name
    return f"{name[:32]}~{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}"


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
    >>> unshred(shred('{"chats": [{"id": 1}, {}], "total": null}'))
    {'chats': [{'id': 1}, {}], 'total': None}
    """
    rebuilder = _Rebuilder(tables)
    try:
        (value,) = rebuilder.values(DOCUMENT)
        return value
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, PayloadError):
            raise
        problem = f"{type(error).__name__}: {error}"
    raise _broken(f"the tables do not fit their plans ({problem})")


class _Rebuilder:
    """The tables of a document, by their whole names, with their plans."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        planned = [(_plan(name, table), table) for name, table in tables.items()]
        self.tables = {plan["table"]: table for plan, table in planned}
        self.plans = {plan["table"]: plan for plan, _ in planned}

    def values(self, name: str) -> list[Any]:
        """Rebuild the JSON value of each row of a table."""
        if name not in self.tables:
            raise _broken(f"the table {_short(name)} is missing")
        rows = self.plans[name]["rows"]
        if self.tables[name].num_columns and self.tables[name].num_rows != rows:
            raise _broken(f"the table {_short(name)} had {rows} rows")
        return self._cell(name, self.plans[name]["cell"], rows)

    def _cell(self, name: str, cell: _Cell, rows: int) -> list[Any]:
        """Rebuild the values of a column group; `MISSING` where a row has none."""
        parts = [self._scalars(name, cell, *pair) for pair in cell.get("scalars", {}).items()]
        parts += [self._below(name, cell[sign], sign) for sign in (ITEMS, ENTRIES) if sign in cell]
        kinds = np.array(self._column(name, cell["kind"]).to_pylist()) if "kind" in cell else None
        if kinds is None and len(parts) == 1 and parts[0][0].all():
            return parts[0][1]
        found = np.full(rows, MISSING if cell.get("rest") == "missing" else None, object)
        if kinds is not None:
            found[kinds == "missing"] = MISSING
        for valid, values in parts:
            found[valid] = _objects(values)[valid]
        if "fields" in cell:
            at = np.ones(rows, bool) if kinds is None else kinds == "object"
            for valid, _ in parts:
                at &= ~valid
            found[at] = _objects(self._records(name, cell["fields"], rows))[at]
        return found.tolist()

    def _scalars(self, name: str, cell: _Cell, kind: str, column: str) -> tuple[Any, list[Any]]:
        array = self._column(name, column)
        values = array.to_pylist()
        if kind == BIG:
            values = [None if value is None else int(value) for value in values]
        if kind == NUMBER and cell.get("whole") == INTEGER:
            values = [int(v) if v is not None and v.is_integer() else v for v in values]
        return _valid(array), values

    def _below(self, name: str, below: dict[str, str], sign: str) -> tuple[Any, list[Any]]:
        """Rebuild the arrays of a column group, or the objects that became rows."""
        lengths, child = self._column(name, below["column"]), below["table"]
        values = self.values(child)
        sizes = lengths.fill_null(0).to_numpy()
        if int(sizes.sum()) != self.plans[child]["rows"]:
            problem = "does not have the rows that its parent refers to"
            raise _broken(f"the table {_short(child)} {problem}")
        parents = self._column(child, PARENT).to_numpy()
        if not np.array_equal(parents, np.repeat(np.arange(len(sizes)), sizes)):
            raise _broken(f"the rows of the table {_short(child)} are not in their order")
        ends = np.cumsum(sizes)
        bounds = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
        if sign == ITEMS:
            return _valid(lengths), [values[start:end] for start, end in bounds]
        keys = self._column(child, KEY).to_pylist()
        objects = [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in bounds]
        return _valid(lengths), objects

    def _records(self, name: str, fields: dict[str, _Cell], rows: int) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = [{} for _ in range(rows)]
        for key, cell in fields.items():
            for record, value in zip(records, self._cell(name, cell, rows), strict=True):
                if value is not MISSING:
                    record[key] = value
        return records

    def _column(self, name: str, column: str) -> pa.ChunkedArray:
        try:
            return self.tables[name].column(column)
        except KeyError:
            raise _broken(f"the table {_short(name)} lacks its column {column}") from None


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


def _objects(values: Sequence[Any]) -> Any:
    return np.fromiter(values, object, len(values))
