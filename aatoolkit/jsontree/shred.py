"""Convert any JSON document to Arrow tables and back, without loss or a declaration.

Other programs can rely on the layout of the tables, which is described here.

**Tables.** The document is the only row of the table ``$``. Arrays become a table with one row per
element, named after their path: ``chats[]``, ``chats[].citations[]``, ``matrix[][]``. Objects whose
keys are data, such as dates, become a table with one row per entry: ``byDay{}``. The fields of
other objects become columns.

**Columns.** All tables except ``$`` begin with these columns:

- ``_parent``: the position, from 0, of the row in the parent table that contains this row
- ``_pos``: the position in the array or object, from 0
- ``_key``: the key, for entries of objects

The columns of the row itself follow, sorted by name:

=================  =============================================================================
``engine``         the numbers, text or booleans of a field that has values of only one kind
``response.text``    a field of an object in a field
``x@string`` …     one column per kind, for a field with several kinds: ``@boolean``, ``@integer``,
                   ``@number`` (floats), ``@string``, ``@big`` (integers beyond 64 bits, as text)
``chats[]``        the number of elements of the array; the elements are in the table ``chats[]``
``byDay{}``        the number of entries of the object; the entries are in the table ``byDay{}``
``x@kind``         the kind of the field in each row: ``missing``, ``null``, ``object``, ``array``,
                   ``entries`` or a kind of scalar. The column is left out if all rows without a
                   value are of the same kind.
``_value…``        the same columns for the row itself, if it is not an object
=================  =============================================================================

Integers and floats are in one column of floats if it remains clear which of them were integers.
Text that looks like dates stays text.

**Names** of tables and columns never depend on the order of rows. Special characters in a key are
written as ``%2E`` and so on. Names are therefore unique, and valid names of files. Long names of
tables end in a hash.

**The plan** of each table is JSON in the metadata of its schema, under ``aatoolkit.shred``. It has
the original keys and the meaning of each column. `unshred` reads the plan; Parquet keeps it.

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
from typing import Any

import pyarrow as pa

from aatoolkit._util.text import canonical_json
from aatoolkit.errors import MetadataError, PayloadError
from aatoolkit.jsontree.decode import MAX_EXACT_FLOAT, decode, gc_paused
from aatoolkit.jsontree.layout import MAX_NODES, StructureCounter, are_keys_data
from aatoolkit.jsontree.vectors import MISSING, Missing, Vector

ROOT_TABLE_NAME = "$"
"""The name of the table of the document itself."""

PARENT_COLUMN = "_parent"
POSITION_COLUMN = "_pos"
KEY_COLUMN = "_key"
VALUE_COLUMN = "_value"
ITEMS_SUFFIX = "[]"
ENTRIES_SUFFIX = "{}"
KIND_SUFFIX = "@kind"
INTEGER_KIND = "integer"
BIG_INTEGER_KIND = "big"
NUMBER_KIND = "number"
STRING_KIND = "string"
BOOLEAN_KIND = "boolean"
PLAN_METADATA_KEY = b"aatoolkit.shred"
"""The key of the plan in the metadata of a table's schema."""

_MAX_NAME_BYTES = 160
_SPECIAL_CHARACTER_PATTERN = re.compile(r'[\x00-\x1f\x7f%.\[\]{}@~/\\:*?"<>|]')
_ARROW_TYPE_BY_KIND = {
    INTEGER_KIND: pa.int64(),
    BIG_INTEGER_KIND: pa.string(),
    NUMBER_KIND: pa.float64(),
    STRING_KIND: pa.string(),
    BOOLEAN_KIND: pa.bool_(),
}
"""The Arrow types by kind of scalar; integers beyond 64 bits are decimal text."""

_KINDS_WITHOUT_COLUMN = ("missing", "null", "object")
"""The kinds of values for which there is no column of values."""

_KIND_BY_TYPE = {
    int: INTEGER_KIND,
    float: NUMBER_KIND,
    str: STRING_KIND,
    bool: BOOLEAN_KIND,
    type(None): "null",
}
_KIND_BY_TYPE |= {dict: "object", list: "array", Missing: "missing"}
# The plan of a table or field. It says which columns have which values of the document, so that
# the document can be restored from the columns.
_Plan = dict[str, Any]


@gc_paused()
def shred(response: bytes | str | Any, *, max_nodes: int = MAX_NODES) -> dict[str, pa.Table]:
    """Convert a JSON document to Arrow tables; `unshred` converts them back.

    Parameters
    ----------
    response : bytes, str or object
        The document: JSON in bytes or text, or a decoded JSON value.
    max_nodes : int
        The maximum number of distinct JSON paths in the document.

    Returns
    -------
    dict of str to pyarrow.Table
        The tables by name. The first is ``$``, the document itself. The tables of its arrays
        follow.

    Raises
    ------
    DecodeError
        If ``response`` is not one JSON document.
    PayloadError
        If a Python object is not a JSON value, or the document has too many paths.

    Examples
    --------
    >>> tables = shred({"rows": [{"n": 1}, {"n": None}, {}]})
    >>> {name: table.num_rows for name, table in tables.items()}
    {'$': 1, 'rows[]': 3}
    """
    counter = StructureCounter(max_nodes)
    pending_tables = [_PendingTable(ROOT_TABLE_NAME, [decode(response)])]
    table_by_name = {}
    while pending_tables:
        pending_table = pending_tables.pop()
        cell_plan = pending_table.add_field(pending_table.values, "", counter)
        table_plan = {
            "table": pending_table.name,
            "rows": len(pending_table.values),
            "cell": cell_plan,
        }
        plan_json = canonical_json(table_plan).encode()
        arrow_table = pa.table(pending_table.columns).replace_schema_metadata(
            {PLAN_METADATA_KEY: plan_json}
        )
        table_by_name[_shorten_name(pending_table.name)] = arrow_table
        pending_tables += reversed(pending_table.children)
    return table_by_name


class _PendingTable:
    """A table under construction: its name, rows, columns, and the tables of nested arrays."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        self.values = values
        self.columns: dict[str, pa.Array] = {}
        self.children: list[_PendingTable] = []

    def add_field(self, values: Sequence[Any], field_path: str, counter: StructureCounter) -> _Plan:
        """Add the columns of a field to the table; return the plan by which `unshred` restores it.

        ``values`` has one value of the field per row. ``field_path`` is the path from the row to
        the field, such as ``response.text``. ``counter`` limits the number of paths.
        """
        counter.count_path(values, set(), 0)
        column_name = field_path or VALUE_COLUMN
        field_plan = _Plan()
        value_kinds = [*map(_KIND_BY_TYPE.__getitem__, map(type, values))]
        distinct_kinds = {*value_kinds}
        if INTEGER_KIND in distinct_kinds:
            integers = [value for value in values if type(value) is int]
            if not -(2**63) <= min(integers) <= max(integers) < 2**63:
                values = [*values]
                for row_number, value in enumerate(values):
                    if type(value) is int and not -(2**63) <= value < 2**63:
                        values[row_number] = str(value)
                        value_kinds[row_number] = BIG_INTEGER_KIND
            elif NUMBER_KIND in distinct_kinds and _remain_distinct_as_floats(values):
                value_kinds = [
                    NUMBER_KIND if kind == INTEGER_KIND else kind for kind in value_kinds
                ]
                field_plan["whole"] = True
        objects = [value for value in values if type(value) is dict]
        if objects and are_keys_data(objects):
            value_kinds = ["entries" if kind == "object" else kind for kind in value_kinds]
        distinct_kinds = {*value_kinds}

        def select_kind(kind: str) -> Sequence[Any]:
            if distinct_kinds == {kind}:
                return values
            return [
                value if value_kind == kind else None
                for value, value_kind in zip(values, value_kinds, strict=True)
            ]

        kinds_without_column = [kind for kind in _KINDS_WITHOUT_COLUMN if kind in distinct_kinds]
        if len(kinds_without_column) > 1:
            field_plan["kind"] = column_name + KIND_SUFFIX
            self.columns[column_name + KIND_SUFFIX] = pa.array(value_kinds).dictionary_encode()
        elif kinds_without_column:
            field_plan["bare"] = kinds_without_column[0]
        scalar_kinds = sorted(distinct_kinds & _ARROW_TYPE_BY_KIND.keys())
        field_plan["scalars"] = {
            kind: column_name if len(scalar_kinds) == 1 else f"{column_name}@{kind}"
            for kind in scalar_kinds
        }
        for kind, scalar_column_name in field_plan["scalars"].items():
            self.columns[scalar_column_name] = pa.array(
                select_kind(kind), _ARROW_TYPE_BY_KIND[kind]
            )
        if distinct_kinds == {"null"} or (distinct_kinds == {"null", "missing"} and field_path):
            self.columns[column_name] = pa.nulls(len(values))
        for kind, column_suffix in (("array", ITEMS_SUFFIX), ("entries", ENTRIES_SUFFIX)):
            if kind in distinct_kinds:
                self.columns[column_name + column_suffix] = self._add_child(
                    select_kind(kind), field_path, column_suffix
                )
                field_plan[column_suffix] = [column_name + column_suffix, self.children[-1].name]
        if "object" in distinct_kinds:
            vector = Vector(values)
            field_plan["fields"] = {
                field_name: self.add_field(
                    vector.field(field_name).values,
                    _make_column_name(field_path, field_name),
                    counter,
                )
                for field_name in sorted(vector.list_fields())
            }
        return field_plan

    def _add_child(
        self, containers: Sequence[Any], field_path: str, column_suffix: str
    ) -> pa.Array:
        """Add a nested table for a field of arrays or objects: one row for each of their items.

        ``containers`` has one array or object, or None, per row of this table. ``column_suffix`` is
        ``[]`` for arrays and ``{}`` for objects. Return a column for this table: the number of
        items in each row.
        """
        parent_name = "" if self.name == ROOT_TABLE_NAME else self.name
        child_name = (
            f"{parent_name}{'.' if parent_name and field_path else ''}{field_path}{column_suffix}"
        )
        vector = Vector(containers)
        item_vector = vector.elements() if column_suffix == ITEMS_SUFFIX else vector.entries()
        child_table = _PendingTable(child_name, item_vector.values)
        child_table.columns[PARENT_COLUMN] = pa.array(item_vector.level.parent_positions)
        child_table.columns[POSITION_COLUMN] = pa.array(
            item_vector.level.item_positions, pa.int32()
        )
        if column_suffix == ENTRIES_SUFFIX:
            child_table.columns[KEY_COLUMN] = pa.array(item_vector.level.keys, pa.string())
        self.children.append(child_table)
        return pa.array(
            [None if container is None else len(container) for container in containers], pa.int32()
        )


def _remain_distinct_as_floats(values: Sequence[Any]) -> bool:
    """Return whether integers and floats remain distinct if they are stored as floats.

    That is so if no float is a whole number, and no integer is too large.
    """
    return all(
        not value.is_integer() if type(value) is float else abs(value) <= MAX_EXACT_FLOAT
        for value in values
        if type(value) in (int, float)
    )


def _make_column_name(object_path: str, key: str) -> str:
    """Return the column name of a field: its path, with special characters escaped as ``%2E``.

    ``object_path`` is the path of the object that has the field, and ``key`` the key of the field.
    """
    escaped_key = _SPECIAL_CHARACTER_PATTERN.sub(lambda match: f"%{ord(match[0]):02X}", key) or "%"
    escaped_key = (
        f"%5F{key[1:]}"
        if key in (PARENT_COLUMN, POSITION_COLUMN, KEY_COLUMN, VALUE_COLUMN)
        else escaped_key
    )
    return f"{object_path}.{escaped_key}" if object_path else escaped_key


def _shorten_name(name: str) -> str:
    """Return the name of a table; a long name is replaced by its beginning and a hash."""
    if len(name.encode()) <= _MAX_NAME_BYTES:
        return name
    return f"{name[:32]}~{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}"


def unshred(tables: Mapping[str, pa.Table]) -> Any:
    """Convert the tables that `shred` returned back to the JSON value.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
        All tables of the document, with their rows in the original order. They may have been read
        from Parquet files.

    Returns
    -------
    object
        The decoded document: a dict, list or scalar.

    Raises
    ------
    MetadataError
        If a table lacks the metadata from `shred`.
    PayloadError
        If a table, column or row is missing.

    Examples
    --------
    >>> unshred(shred('{"chats": [{"id": 1}, {}], "total": null}'))
    {'chats': [{'id': 1}, {}], 'total': None}
    """
    table_and_plan_by_name = {}
    for shown_name, table in tables.items():
        try:
            table_plan = json.loads(table.schema.metadata[PLAN_METADATA_KEY])
            table_and_plan_by_name[table_plan["table"]] = table, table_plan
        except (AttributeError, KeyError, TypeError, ValueError):
            raise MetadataError(
                f"the table {shown_name} has no plan that can be read; give unshred the tables "
                "that shred made, with the metadata of their schemas"
            ) from None
    try:
        (document,) = _read_values(table_and_plan_by_name, ROOT_TABLE_NAME)
        return document
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        problem_text = f"the tables do not fit their plans ({type(error).__name__}: {error})"
    raise PayloadError(
        f"{problem_text}; give unshred all tables that shred made, as they were",
        problems=[f"{problem_text} @ $"],
    )


def _read_values(
    table_and_plan_by_name: dict[str, tuple[pa.Table, _Plan]], table_name: str
) -> list[Any]:
    """Restore the JSON values of the rows of a table, as a list.

    ``table_and_plan_by_name`` has the tables of the document by name, with their plans.
    """
    if table_name not in table_and_plan_by_name:
        raise ValueError(f"the table {_shorten_name(table_name)} is missing")
    table, table_plan = table_and_plan_by_name[table_name]
    if table.num_columns and table.num_rows != table_plan["rows"]:
        raise ValueError(f"the table {_shorten_name(table_name)} had {table_plan['rows']} rows")

    def read_cell_values(cell_plan: _Plan) -> list[Any]:
        value_kinds = [cell_plan.get("bare", "null")] * table_plan["rows"]
        if "kind" in cell_plan:
            value_kinds = table.column(cell_plan["kind"]).to_pylist()
        cell_values: list[Any] = [MISSING if kind == "missing" else None for kind in value_kinds]
        for kind, column_name in cell_plan["scalars"].items():
            for row_number, value in enumerate(table.column(column_name).to_pylist()):
                if value is not None:
                    is_integer = kind == NUMBER_KIND and "whole" in cell_plan and value.is_integer()
                    cell_values[row_number] = (
                        int(value) if kind == BIG_INTEGER_KIND or is_integer else value
                    )
        for column_suffix in (ITEMS_SUFFIX, ENTRIES_SUFFIX):
            if column_suffix in cell_plan:
                column_name, child_name = cell_plan[column_suffix]
                item_counts = table.column(column_name).to_pylist()
                child_values = _read_values(table_and_plan_by_name, child_name)
                child_table = table_and_plan_by_name[child_name][0]
                expected_parent_numbers = [
                    row_number
                    for row_number, item_count in enumerate(item_counts)
                    for _ in range(item_count or 0)
                ]
                if child_table.column(PARENT_COLUMN).to_pylist() != expected_parent_numbers:
                    raise ValueError(f"rows of the table {_shorten_name(child_name)} are missing")
                if column_suffix == ENTRIES_SUFFIX:
                    child_values = [
                        *zip(child_table.column(KEY_COLUMN).to_pylist(), child_values, strict=True)
                    ]
                first_item_position = 0
                for row_number, item_count in enumerate(item_counts):
                    if item_count is not None:
                        row_items = child_values[
                            first_item_position : first_item_position + item_count
                        ]
                        cell_values[row_number] = (
                            row_items if column_suffix == ITEMS_SUFFIX else dict(row_items)
                        )
                        first_item_position += item_count
        if "fields" in cell_plan:
            object_row_numbers = [
                row_number
                for row_number, kind in enumerate(value_kinds)
                if kind == "object" and cell_values[row_number] is None
            ]
            for row_number in object_row_numbers:
                cell_values[row_number] = {}
            for key, field_plan in cell_plan["fields"].items():
                child_values = read_cell_values(field_plan)
                for row_number in object_row_numbers:
                    if child_values[row_number] is not MISSING:
                        cell_values[row_number][key] = child_values[row_number]
        return cell_values

    return read_cell_values(table_plan["cell"])
