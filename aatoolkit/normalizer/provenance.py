"""Provenance: where the cells of declared tables were in their answer, to rebuild it.

It is the answer as `aatoolkit.jsontree.shred` lays it out, with all its arrays, objects and
nulls; but instead of each value that a column took there is the number of the row that has it
now, in a column named by a `CellSource`. The values themselves are in the columns and in
``extra`` alone, and `rebuild` puts the three together again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, parse_path
from aatoolkit.jsontree.shred import INTEGER, NUMBER, Keyed, Reference, restore, tables_of
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.field_map import FieldNode, field_map
from aatoolkit.sections.section import Column, Section

if TYPE_CHECKING:
    import pandas as pd

_STYLE = re.compile(
    r"[0-9-]{10}(?P<between>[T ])[0-9]{2}:[0-9]{2}"
    r"(?P<seconds>:[0-9]{2})?(?P<fraction>[.][0-9]+)?(?P<zone>.*)"
)
_FULL = "T|3|7|Z"
_Taken = dict[Vector, list[Any]]


class CellSource(NamedTuple):
    """The column that holds a value, and how the value was written."""

    table: str
    column: str
    value_format: str


def provenance(
    document: Vector, section: Section, built: Sequence[BuiltTable]
) -> dict[str, pa.Table]:
    """Record where the values of an answer are, as tables like those of ``shred``."""
    taken: _Taken = {}
    for around in (False, True):  # first from the row itself, then from around it
        for table in built:
            for column in table.rows.table.columns:
                is_around = (column.source or "")[0] in "^$"
                if is_around if around else (column.source or "")[0] not in "^$#@":
                    _take(taken, table, column)
    return tables_of(_shadow(document, field_map(section), taken)[0], 2**31)


def _take(taken: _Taken, table: BuiltTable, column: Column) -> None:
    """Note for the values that a column took which row of it has each."""
    rows, valid = table.rows, np.asarray(table.arrow[column.name].is_valid())
    name, is_plain = rows.table.name, rows.plan.readings[column.name] is None
    for (place, index), here in zip(rows.find(column.source or ""), rows.numbers, strict=True):
        there = np.arange(place.level.size) if index is None else index
        fits = np.asarray(rows.read(column, place).array.is_valid())
        chosen = np.flatnonzero((there >= 0) & valid[here])
        chosen = chosen[fits[there[chosen]]]
        values = taken.setdefault(place, [MISSING] * len(place.values))
        for row, origin in zip(here[chosen].tolist(), there[chosen].tolist(), strict=True):
            if values[origin] is MISSING:
                value = place.values[origin]
                if is_plain:
                    value = _reference(name, column.name, _value_format(value, column.dtype))(row)
                values[origin] = value


@lru_cache(maxsize=4096)
def _reference(table: str, column: str, value_format: str) -> type[Reference]:
    """The class of references to a column, whose name is the text of their `CellSource`."""
    source = json.dumps(CellSource(table, column, value_format), ensure_ascii=False)
    return type(source, (Reference,), {})


def _value_format(value: Any, dtype: str) -> str:
    """The format in which a value of a dtype is written."""
    if dtype in ("Int64", "Float64"):
        return INTEGER if type(value) is int else NUMBER
    return _style(value) if dtype == "timestamp" else ""


@lru_cache(maxsize=4096)
def _style(text: str) -> str:
    """The format of an instant: the separator, the length of the rest, and the zone."""
    parts = _STYLE.fullmatch(text)
    assert parts is not None
    lengths = (len(parts[name] or "") for name in ("seconds", "fraction"))
    return "|".join((parts["between"], *map(str, lengths), parts["zone"]))


def _shadow(place: Vector, declared: FieldNode, taken: _Taken) -> list[Any]:
    """The values at a place, with references for what columns took and null for what is extra."""
    values: list[Any] = [value if value is MISSING else None for value in place.values]
    for row, value in enumerate(taken.get(place, ())):
        if value is not MISSING:
            values[row] = value
    for kind, inner in ((list, declared.each), (dict, declared.entries)):
        if inner is not None and kind in place.kinds:
            below = place.each() if kind is list else place.entries()
            shadows, start = _shadow(below, inner, taken), 0
            for row, (value, length) in enumerate(
                zip(place.values, below.level.lengths, strict=True)
            ):
                if type(value) is kind and values[row] is None:
                    held = shadows[start : start + length]
                    values[row] = held if kind is list else Keyed(zip(value, held, strict=True))
                start += length
    if declared.fields and declared.entries is None and dict in place.kinds:
        fields = {
            name: _shadow(place.field(name), inner, taken)
            for name, inner in declared.fields.items()
        }
        for row, value in enumerate(place.values):
            if type(value) is dict and values[row] is None:
                values[row] = {key: fields[key][row] for key in value if key in fields}
    return values


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
    answer = [restore(provenance, partial(_cells, tables))]
    for path, value in zip(extra["path"], extra["value"], strict=True):
        if not path.endswith(KEY_SIGN):
            _put(answer, [0, *_steps(path)], json.loads(value))
    return answer[0]


def _cells(tables: Mapping[str, pd.DataFrame], text: str) -> list[Any]:
    """The cells of a column as JSON values, by the text of their `CellSource`."""
    source = CellSource(*json.loads(text))
    try:
        cells = tables[source.table][source.column]
    except KeyError:
        problem = f"the column {source.column} of the table {source.table} is missing"
    else:
        return format_values(pa.array(cells, from_pandas=True), source.value_format)
    raise PayloadError(problem, problems=[problem])


def _steps(path: str) -> Iterator[str | int]:
    """Yield the keys and positions that a concrete path goes through."""
    for step in parse_path(path):
        if isinstance(step, Position):
            yield step.number
        elif isinstance(step, Field):
            yield step.name
        else:
            raise PayloadError(f"{path} in extra is no path of one value", problems=[path])


def _put(answer: Any, steps: list[Any], value: Any) -> None:
    """Put a value in its place; objects and arrays on the way are made where there is none.

    Values may come in any order: elements before the one that is put are null until theirs comes.
    """
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
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return _moments(values, value_format)
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.date32())
    if not pa.types.is_list(kind) and not pa.types.is_primitive(kind):
        values = values.cast(pa.string())
    if pa.types.is_date(values.type):
        values = values.cast(pa.string())
    found: list[Any] = values.to_pylist()
    if value_format == INTEGER and pa.types.is_floating(kind):
        return [int(v) if v is not None and v.is_integer() else v for v in found]
    if value_format == NUMBER and pa.types.is_integer(kind):
        return [v if v is None else float(v) for v in found]
    return found


def _moments(values: pa.Array, style: str) -> list[Any]:
    instants = values.cast(pa.timestamp("us", tz="UTC"))
    texts = _format_moments(instants, style)
    exact = pc.fill_null(pc.equal(texts.cast(instants.type), instants), True)
    if not pc.all(exact).as_py():
        # Changed since: the way it was written has no room for what it is now.
        texts = pc.if_else(exact, texts, _format_moments(instants, _FULL))
    found: list[Any] = texts.to_pylist()
    return found


def _format_moments(instants: pa.Array, style: str) -> pa.Array:
    between, seconds, fraction, zone = style.split("|")
    offset = timedelta()
    if zone not in ("", "Z"):
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        offset = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    local = pc.add(instants.cast(pa.timestamp("us")), pa.scalar(offset, pa.duration("us")))
    text = local.cast(pa.string())
    part = pc.utf8_slice_codeunits
    return pc.binary_join_element_wise(
        part(text, 0, 10),
        between,
        part(text, 11, 16),
        part(text, 16, 16 + int(seconds)),
        part(text, 19, 19 + int(fraction)),
        zone,
        "",
    )
