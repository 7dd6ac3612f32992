"""Provenance: where the cells of declared tables were in their answer, to rebuild it.

Each leaf of the answer that is not in ``extra`` has a row: its path with the cell that holds it
and how it was written, or, where no cell can give it back, as for null and for what a column
reads otherwise than it is written, its JSON text. `rebuild` puts cells and ``extra`` together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from aatoolkit.errors import MetadataError, PayloadError
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, leaves, parse_path
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

_STYLE = re.compile(
    r"[0-9-]{10}(?P<between>[T ])[0-9]{2}:[0-9]{2}"
    r"(?P<seconds>:[0-9]{2})?(?P<fraction>[.][0-9]+)?(?P<zone>.*)"
)
_FULL, _INTEGER, _NUMBER = "T|3|7|Z", "integer", "number"
_Cell = tuple[str, str, int, str]
"""The table, the column and the row of a cell, and how its value was written."""

_SCHEMA = pa.schema(
    {"path": pa.string(), "table": pa.dictionary(pa.int32(), pa.string())}
    | {"column": pa.dictionary(pa.int32(), pa.string()), "row": pa.int64()}
    | {"format": pa.dictionary(pa.int32(), pa.string()), "text": pa.string()}
)


def provenance(
    document: Vector, tables: Sequence[BuiltTable], extra: Collection[str]
) -> dict[str, pa.Table]:
    """Record where the values of an answer are that are not in ``extra``, by their paths."""
    cells: dict[str, _Cell] = {}
    for around in (False, True):  # first from the row itself, then from around it
        for table in tables:
            for column in table.table.columns:
                source = column.source or ""
                is_label = source.lstrip("^")[:1] in ("#", "@")
                if (source[0] in "^$") == around and not is_label:
                    for path, cell in _cells_of(table, column):
                        cells.setdefault(path, cell)
    rows: list[tuple[Any, ...]] = []
    for path, text in leaves(document.values[0], "$", cells):
        if path in cells:
            rows.append((path, *cells[path], None))
        elif path not in extra:
            rows.append((path, None, None, None, None, text))
    columns = zip(*rows, strict=True) if rows else [()] * len(_SCHEMA)
    return {"values": pa.table([*map(list, columns)], schema=_SCHEMA)}


def _cells_of(table: BuiltTable, column: Column) -> Iterator[tuple[str, _Cell]]:
    """Yield the values that a column took as they are, by their paths."""
    rows, valid = table.rows, np.asarray(table.arrow[column.name].is_valid())
    if column.reading is not None:
        return
    place, index = rows.find(column.source or "")
    there = np.arange(len(place)) if index is None else index
    fits = np.asarray(coerce_values(place.values, column.dtype)[0].is_valid())
    chosen = np.flatnonzero((there >= 0) & valid)
    chosen = chosen[fits[there[chosen]]]
    paths, values = place.paths, place.values
    for row, origin in zip(chosen.tolist(), there[chosen].tolist(), strict=True):
        style = _value_format(values[origin], column.dtype)
        yield paths[origin], (rows.table.name, column.name, row, style)


def _value_format(value: Any, dtype: str) -> str:
    """The format in which a value of a dtype is written."""
    if dtype in ("Int64", "Float64"):
        return _INTEGER if type(value) is int else _NUMBER
    return _style(value) if dtype == "timestamp" else ""


@lru_cache(maxsize=4096)
def _style(text: str) -> str:
    """The format of an instant: the separator, the length of the rest, and the zone."""
    parts = _STYLE.fullmatch(text)
    assert parts is not None
    lengths = (len(parts[name] or "") for name in ("seconds", "fraction"))
    return "|".join((parts["between"], *map(str, lengths), parts["zone"]))


def rebuild(
    tables: Mapping[str, pd.DataFrame], extra: pd.DataFrame, provenance: Mapping[str, pa.Table]
) -> Any:
    """Rebuild the answer, as a JSON value, from the tables that `normalize` made.

    Values are taken from the columns and from ``extra`` as they are now; the provenance records
    where each belongs, and how it was written. Keys of objects may come in another order.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The tables of the section, all rows in their order; also those read back from Parquet.
    extra : pandas.DataFrame
        What no column took: ``path`` and ``value``.
    provenance : mapping of str to pyarrow.Table
        Where every value was.

    Raises
    ------
    PayloadError
        If a table or column is missing, or has other rows than the answer gave it.
    MetadataError
        If the provenance is none.
    """
    try:
        places = provenance["values"].select(_SCHEMA.names).to_pydict().values()
    except (KeyError, AttributeError):
        raise MetadataError("the provenance of the tables is missing: write them again") from None
    answer: list[Any] = [None]
    values: dict[tuple[str, str, str], list[Any]] = {}
    for path, table, column, row, style, text in zip(*places, strict=True):
        if text is None:
            if (table, column, style) not in values:
                values[table, column, style] = _cells(tables, table, column, style)
            cells = values[table, column, style]
            if row >= len(cells):
                problem = f"the table {table} has lost rows"
                raise PayloadError(problem, problems=[problem])
            _put(answer, path, cells[row])
        else:
            _put(answer, path, json.loads(text))
    for path, text in zip(extra["path"], extra["value"], strict=True):
        if not path.endswith(KEY_SIGN):
            _put(answer, path, json.loads(text))
    return answer[0]


def _cells(tables: Mapping[str, pd.DataFrame], table: str, column: str, style: str) -> list[Any]:
    """The cells of a column as JSON values."""
    try:
        cells = tables[table][column]
    except KeyError:
        problem = f"the column {column} of the table {table} is missing"
    else:
        return format_values(pa.array(cells, from_pandas=True), style)
    raise PayloadError(problem, problems=[problem])


def _put(answer: Any, path: str, value: Any) -> None:
    """Put a value in its place; objects and arrays on the way are made where there is none.

    Values may come in any order: elements before the one that is put are null until theirs comes.
    """
    steps: list[Any] = [0]
    for part in parse_path(path):
        if not isinstance(part, Field | Position):
            raise PayloadError(f"{path} is no path of one value", problems=[path])
        steps.append(part.name if isinstance(part, Field) else part.number)
    for step, further in pairwise([*steps, None]):
        if isinstance(answer, list):
            answer.extend([None] * (step + 1 - len(answer)))
        below = answer.get(step) if isinstance(answer, dict) else answer[step]
        if further is None:
            below = answer[step] = value
        elif not isinstance(below, list if isinstance(further, int) else dict):
            below = answer[step] = [] if isinstance(further, int) else {}
        answer = below


def format_values(values: pa.Array, value_format: str) -> list[Any]:
    """Format the values of a column as JSON values, as they were written in the answer.

    Examples
    --------
    >>> noon = pa.array(["2026-11-20T12:00:00Z"]).cast(pa.timestamp("us", tz="UTC"))
    >>> format_values(noon, " |3|4|+01:30")
    ['2026-11-20 13:30:00.000+01:30']
    >>> format_values(pa.array([5.0, 0.5, None]), "integer")
    [5, 0.5, None]
    """
    write: Callable[[Any], Any] | None = None
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values, write = values.cast(pa.timestamp("us", "UTC")), partial(_written, value_format)
    elif pa.types.is_temporal(values.type):
        values, write = values.cast(pa.date32()), str
    elif value_format == _INTEGER and pa.types.is_floating(values.type):
        write = _whole
    elif value_format == _NUMBER and pa.types.is_integer(values.type):
        write = float
    cells: list[Any] = values.to_pylist()
    return [v if v is None else write(v) for v in cells] if write else cells


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


def _written(style: str, moment: datetime) -> str:
    """Write an instant in a style; in full where that has no room for what it is now."""
    between, seconds, fraction, zone = style.split("|")
    offset = timedelta()
    if zone not in ("", "Z"):
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        offset = -offset if zone[0] == "-" else offset
    text = moment.astimezone(timezone(offset)).isoformat(between, "microseconds")
    text = text[:16] + text[16 : 16 + int(seconds)] + text[19 : 19 + int(fraction)]
    if datetime.fromisoformat(text).replace(tzinfo=timezone(offset)) != moment:
        return _written(_FULL, moment.astimezone(UTC))
    return text + zone
