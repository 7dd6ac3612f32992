"""Record which table cell has which value of a response, to rebuild the response later.

The record is a table with one row per value: its JSON path, and the cell with the value. A value
such as null, which is in no cell or only in a changed form, is stored in the record itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from aatoolkit.errors import MetadataError, PayloadError
from aatoolkit.jsontree.coerce import ARROW, coerce_values
from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, leaf_values, parse_path
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

_ZONE = re.compile(r"(Z|[+-][0-9]{2}:?[0-9]{2})$")
_FULL, _INTEGER, _NUMBER = "T26Z", "integer", "number"
_NAMES = "string", "Int64", "Float64", "boolean", "date", "timestamp", "list<string>"
_WRITTEN = [ARROW[name] for name in _NAMES]
"""The Arrow types whose cells `_write_cells` can write; values of other types are kept as text."""

_Cell = tuple[str, str, int, str]
"""The table, column and row of a cell, and the format of its value (`_find_format`)."""

_TEXT, _WORD = pa.string(), pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema(
    {"path": _TEXT, "table": _WORD, "column": _WORD, "row": pa.int64()}
    | {"format": _WORD, "text": _TEXT}
)


def provenance(
    document: Vector, tables: Sequence[BuiltTable], extra_paths: Collection[str]
) -> dict[str, pa.Table]:
    """Return a dict with the key ``values``: an Arrow table with one row per value of a response.

    Its columns are the JSON path, the cell that has the value (table, column, row and format), and
    the value as JSON text if no cell has it. Values at ``extra_paths`` are left out, because the
    caller stores them.
    """
    columns = [
        (table, column)
        for table in tables
        for column in table.table.columns
        if not column.is_label and column.reading is None and ARROW[column.dtype] in _WRITTEN
    ]
    cells: dict[str, _Cell] = {}
    # Fields of the row itself come first, before those of enclosing records.
    for table, column in sorted(columns, key=lambda pair: (pair[1].source or "")[0] in "^$"):
        for path, cell in _find_unchanged_cells(table, column):
            cells.setdefault(path, cell)
    rows = [
        (path, *cells.get(path, (None,) * 4), None if path in cells else text)
        for path, text in leaf_values(document.values[0], "$", cells)
        # The values in extra_paths are in the frame ``extra``.
        if path in cells or path not in extra_paths
    ]
    values = zip(*rows, strict=True) if rows else [()] * len(_SCHEMA)
    return {"values": pa.table([*map(list, values)], schema=_SCHEMA)}


def _find_unchanged_cells(table: BuiltTable, column: Column) -> Iterator[tuple[str, _Cell]]:
    """Yield the JSON path and the cell of each value that a column has without any conversion."""
    vector, index = table.rows.values_of(column.source or "")
    is_unchanged = np.asarray(coerce_values(vector.values, column.dtype)[0].is_valid())
    rows = np.flatnonzero((index >= 0) & np.asarray(table.array(column.name).is_valid()))
    paths, values = vector.paths, vector.values
    for row, source_row in zip(rows.tolist(), index[rows].tolist(), strict=True):
        if is_unchanged[source_row]:
            value_format = _find_format(values[source_row], column.dtype)
            yield paths[source_row], (table.table.name, column.name, row, value_format)


def _find_format(value: Any, dtype: str) -> str:
    """Return how a value is written in JSON: ``integer`` or ``number``; for a timestamp a code.

    The code has the separator, the length without time zone, and the time zone, such as ``T16Z``
    for ``2026-11-20T06:10Z``. It is empty for values of other dtypes.
    """
    if dtype in ("Int64", "Float64"):
        return _INTEGER if type(value) is int else _NUMBER
    if dtype != "timestamp":
        return ""
    zone = _ZONE.search(value)
    assert zone is not None
    # The separator of date and time, the length without time zone, and the time zone.
    return f"{value[10]}{zone.start()}{zone[0]}"


def rebuild(
    tables: Mapping[str, pd.DataFrame], extra: pd.DataFrame, provenance: Mapping[str, pa.Table]
) -> Any:
    """Rebuild the JSON value of a response from its tables.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The tables by name.
    extra : pandas.DataFrame
        The values that no column has, with the columns ``path`` and ``value``.
    provenance : mapping of str to pyarrow.Table
        The result of `provenance`.

    Returns
    -------
    object
        The response as a JSON value.
    """
    try:
        columns = provenance["values"].select(_SCHEMA.names).to_pydict().values()
    except (KeyError, AttributeError):
        raise MetadataError("the provenance of the tables is missing; write them again") from None
    response = [None]
    write_cells = cache(partial(_write_cells, tables))
    for path, table, column, row, value_format, text in zip(*columns, strict=True):
        if text is None:
            cells = write_cells(table, column, value_format)
            if row >= len(cells):
                raise PayloadError(f"the table {table} has lost rows")
            _set_value(response, path, cells[row])
        else:
            _set_value(response, path, json.loads(text))
    for path, text in zip(extra["path"], extra["value"], strict=True):
        if not path.endswith(KEY_SIGN):
            _set_value(response, path, json.loads(text))
    return response[0]


def _write_cells(
    tables: Mapping[str, pd.DataFrame], table: str, column: str, value_format: str
) -> list[Any]:
    """Return the cells of a column as JSON values, in the format that the response had."""
    if table not in tables or column not in tables[table]:
        raise PayloadError(f"the column {column} of the table {table} is missing")
    values = pa.array(tables[table][column], from_pandas=True)
    write_value: Callable[[Any], Any] = lambda value: value  # noqa: E731
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values, write_value = (
            values.cast(pa.timestamp("us", "UTC")),
            partial(_format_moment, value_format),
        )
    elif pa.types.is_temporal(values.type):
        values, write_value = values.cast(pa.date32()), str
    elif value_format == _INTEGER:
        write_value = lambda value: int(value) if value == int(value) else value  # noqa: E731
    elif value_format == _NUMBER:
        write_value = float
    return [None if value is None else write_value(value) for value in values.to_pylist()]


def _format_moment(time_format: str, moment: datetime) -> str:
    """Return a timestamp as text in the format of the response, such as ``2026-11-20T06:10Z``.

    ``time_format`` is the result of `_find_format`.
    """
    zone = time_format[3:]
    local_moment = moment.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo)
    text = local_moment.isoformat(time_format[0], "microseconds")[: int(time_format[1:3])] + zone
    return text if datetime.fromisoformat(text) == moment else _format_moment(_FULL, moment)


def _set_value(response: Any, path: str, value: Any) -> None:
    """Set the value at a JSON path in place, and create missing objects and arrays on the path."""
    steps: list[Any] = [0]
    for path_step in parse_path(path):
        if not isinstance(path_step, Field | Position):
            raise PayloadError(f"{path} is not the path of one value")
        steps.append(path_step.name if isinstance(path_step, Field) else path_step.number)
    for step, next_step in pairwise([*steps, None]):
        if isinstance(response, list):
            response.extend([None] * (step + 1 - len(response)))
        child = response.get(step) if isinstance(response, dict) else response[step]
        if next_step is None:
            child = response[step] = value
        elif not isinstance(child, list if isinstance(next_step, int) else dict):
            child = response[step] = [] if isinstance(next_step, int) else {}
        response = child
