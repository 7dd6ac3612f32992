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
from aatoolkit.jsontree.coerce import ARROW_TYPE_BY_DTYPE, coerce_values
from aatoolkit.jsontree.paths import (
    KEY_MARKER,
    Field,
    Position,
    list_leaf_paths_and_texts,
    parse_path,
)
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

_TIME_ZONE_PATTERN = re.compile(r"(Z|[+-][0-9]{2}:?[0-9]{2})$")
_FULL_TIME_FORMAT = "T26Z"
_INTEGER_FORMAT = "integer"
_NUMBER_FORMAT = "number"
_CELL_DTYPES = "string", "Int64", "Float64", "boolean", "date", "timestamp", "list<string>"
_CELL_ARROW_TYPES = [ARROW_TYPE_BY_DTYPE[name] for name in _CELL_DTYPES]
"""The Arrow types of columns whose cells `_format_cells` can convert back to JSON values; values of
other types are kept as text.
"""

_Cell = tuple[str, str, int, str]
"""The names of a cell's table and column, its row number, and the format of its value in JSON, as
`_find_value_format` returns it.
"""

_TEXT_TYPE = pa.string()
_DICTIONARY_TYPE = pa.dictionary(pa.int32(), pa.string())
_PROVENANCE_SCHEMA = pa.schema(
    {"path": _TEXT_TYPE, "table": _DICTIONARY_TYPE, "column": _DICTIONARY_TYPE, "row": pa.int64()}
    | {"format": _DICTIONARY_TYPE, "text": _TEXT_TYPE}
)


def record_provenance(
    document_vector: Vector, built_tables: Sequence[BuiltTable], extra_paths: Collection[str]
) -> dict[str, pa.Table]:
    """Record which table cell has each value of a response, as a dict with one Arrow table.

    The table, under the key ``values``, has a row per value. The columns are the JSON path of the
    value, the cell that has the value (table, column, row and format), and the value as JSON text
    if no cell has it. Values at ``extra_paths`` are left out, because the caller stores them.
    """
    tables_and_columns = [
        (built_table, column)
        for built_table in built_tables
        for column in built_table.table.columns
        if not column.is_label
        and column.reading is None
        and ARROW_TYPE_BY_DTYPE[column.dtype] in _CELL_ARROW_TYPES
    ]
    cell_by_path: dict[str, _Cell] = {}
    # Fields of the row itself come first, before those of enclosing records.
    for built_table, column in sorted(
        tables_and_columns,
        key=lambda table_and_column: (table_and_column[1].source or "")[0] in "^$",
    ):
        for path, cell in _find_unchanged_cells(built_table, column):
            cell_by_path.setdefault(path, cell)
    provenance_rows = [
        (path, *cell_by_path.get(path, (None,) * 4), None if path in cell_by_path else value_json)
        for path, value_json in list_leaf_paths_and_texts(
            document_vector.values[0], "$", cell_by_path
        )
        # The values in extra_paths are in the frame ``extra``.
        if path in cell_by_path or path not in extra_paths
    ]
    column_values = (
        zip(*provenance_rows, strict=True) if provenance_rows else [()] * len(_PROVENANCE_SCHEMA)
    )
    return {"values": pa.table([*map(list, column_values)], schema=_PROVENANCE_SCHEMA)}


def _find_unchanged_cells(built_table: BuiltTable, column: Column) -> Iterator[tuple[str, _Cell]]:
    """Yield a tuple of JSON path and cell for each value that a column has without conversion."""
    vector, row_index = built_table.table_rows.get_values(column.source or "")
    is_unchanged = np.asarray(coerce_values(vector.values, column.dtype)[0].is_valid())
    row_numbers = np.flatnonzero(
        (row_index >= 0) & np.asarray(built_table.get_array(column.name).is_valid())
    )
    value_paths = vector.paths
    values = vector.values
    for row_number, vector_position in zip(
        row_numbers.tolist(), row_index[row_numbers].tolist(), strict=True
    ):
        if is_unchanged[vector_position]:
            value_format = _find_value_format(values[vector_position], column.dtype)
            yield (
                value_paths[vector_position],
                (built_table.table.name, column.name, row_number, value_format),
            )


def _find_value_format(value: Any, dtype: str) -> str:
    """Return the notation of a value in a response, so that it can be written back unchanged.

    The result is ``integer`` or ``number`` for a number. For a timestamp such as
    ``2026-11-20T06:10Z`` it is ``T16Z``: the separator of date and time, the length without the
    time zone, and the time zone. It is empty for values of other dtypes.
    """
    if dtype in ("Int64", "Float64"):
        return _INTEGER_FORMAT if type(value) is int else _NUMBER_FORMAT
    if dtype != "timestamp":
        return ""
    zone_match = _TIME_ZONE_PATTERN.search(value)
    assert zone_match is not None
    # The separator of date and time, the length without time zone, and the time zone.
    return f"{value[10]}{zone_match.start()}{zone_match[0]}"


def rebuild_response(
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
        The result of `record_provenance`.

    Returns
    -------
    object
        The response as a JSON value.
    """
    try:
        provenance_columns = (
            provenance["values"].select(_PROVENANCE_SCHEMA.names).to_pydict().values()
        )
    except (KeyError, AttributeError):
        raise MetadataError("the provenance of the tables is missing; write them again") from None
    response_holder = [None]
    format_cells = cache(partial(_format_cells, tables))
    for path, table_name, column_name, row_number, value_format, value_json in zip(
        *provenance_columns, strict=True
    ):
        if value_json is None:
            cell_values = format_cells(table_name, column_name, value_format)
            if row_number >= len(cell_values):
                raise PayloadError(f"the table {table_name} has lost rows")
            _set_value(response_holder, path, cell_values[row_number])
        else:
            _set_value(response_holder, path, json.loads(value_json))
    for path, value_json in zip(extra["path"], extra["value"], strict=True):
        if not path.endswith(KEY_MARKER):
            _set_value(response_holder, path, json.loads(value_json))
    return response_holder[0]


def _format_cells(
    tables: Mapping[str, pd.DataFrame], table_name: str, column_name: str, value_format: str
) -> list[Any]:
    """Return the cells of a column as JSON values, in the format that they had in the response.

    ``value_format`` is a result of `_find_value_format`.
    """
    if table_name not in tables or column_name not in tables[table_name]:
        raise PayloadError(f"the column {column_name} of the table {table_name} is missing")
    column_values = pa.array(tables[table_name][column_name], from_pandas=True)
    format_value: Callable[[Any], Any] = lambda value: value  # noqa: E731
    if pa.types.is_timestamp(column_values.type) and column_values.type.tz is not None:
        column_values = column_values.cast(pa.timestamp("us", "UTC"))
        format_value = partial(_format_timestamp, value_format)
    elif pa.types.is_temporal(column_values.type):
        column_values = column_values.cast(pa.date32())
        format_value = str
    elif value_format == _INTEGER_FORMAT:
        format_value = lambda value: int(value) if value == int(value) else value  # noqa: E731
    elif value_format == _NUMBER_FORMAT:
        format_value = float
    return [None if value is None else format_value(value) for value in column_values.to_pylist()]


def _format_timestamp(time_format: str, timestamp: datetime) -> str:
    """Return a timestamp as text in the format of the response, such as ``2026-11-20T06:10Z``.

    ``time_format`` is the result of `_find_value_format`.
    """
    zone = time_format[3:]
    local_time = timestamp.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo)
    text = local_time.isoformat(time_format[0], "microseconds")[: int(time_format[1:3])] + zone
    return (
        text
        if datetime.fromisoformat(text) == timestamp
        else _format_timestamp(_FULL_TIME_FORMAT, timestamp)
    )


def _set_value(container: Any, path: str, value: Any) -> None:
    """Set the value at a JSON path of a response; create missing objects and arrays on the path.

    ``container`` is a list whose only element is the response; it is changed in place.
    """
    steps: list[Any] = [0]
    for path_step in parse_path(path):
        if not isinstance(path_step, Field | Position):
            raise PayloadError(f"{path} is not the path of one value")
        steps.append(path_step.name if isinstance(path_step, Field) else path_step.index)
    for step, next_step in pairwise([*steps, None]):
        if isinstance(container, list):
            container.extend([None] * (step + 1 - len(container)))
        next_container = container.get(step) if isinstance(container, dict) else container[step]
        if next_step is None:
            next_container = container[step] = value
        elif not isinstance(next_container, list if isinstance(next_step, int) else dict):
            next_container = container[step] = [] if isinstance(next_step, int) else {}
        container = next_container
