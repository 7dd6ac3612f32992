"""Validate one table against the schema of the store, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.types as pt

from aatoolkit.service.schema import TABLES, StoreColumn, StoreTable

if TYPE_CHECKING:
    import pandas as pd

    Tabular: TypeAlias = pa.Table | pd.DataFrame

_ADVICE = (
    "Rows are counted from 0. `aatoolkit serve --describe` documents every"
    " table and column: mend the tables and give them again."
)
_UTC_ADVICE = "say which zone they are in, and UTC is made of it: nothing is assumed"


class StoreError(Exception):
    """A store, or a table meant for one, is not as the schema says.

    Parameters
    ----------
    problems
        Every problem found, each naming the table and the column it is in.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        listed = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{count} with the store:{listed}\n{_ADVICE}")


class _ColumnError(Exception):
    """One column is not valid; the message says why."""


def conform(name: str, table: Tabular) -> pa.Table:
    """Validate one table and convert it to the columns, order and types of the store.

    Optional columns that are absent are added as nulls, and instants of other zones are
    converted to UTC. Whatever cannot be converted without loss is refused.

    Parameters
    ----------
    name
        The table's name in the store.
    table
        An Arrow table, or a DataFrame, in which NaN and NaT count as null.

    Raises
    ------
    StoreError
        With every problem of the table at once.
    """
    if name not in TABLES:
        raise StoreError([f"{name}: the store has no such table{_near(name, TABLES)}"])
    declared = TABLES[name]
    problems = _unwanted(declared, table)
    columns: dict[str, pa.ChunkedArray] = {}
    for column in declared.columns:
        try:
            columns[column.name] = _checked(column, table)
        except _ColumnError as problem:
            problems.append(f"{name}.{column.name}: {problem}")
    problems += _repeated(declared, columns)
    if problems:
        raise StoreError(problems)
    return pa.table(list(columns.values()), schema=declared.arrow)


def _names(table: Tabular) -> list[str]:
    names = table.column_names if isinstance(table, pa.Table) else table.columns
    return [str(name) for name in names]


def _near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, list(known), 1)
    return f"; perhaps {found[0]!r} is meant" if found else ""


def _unwanted(declared: StoreTable, table: Tabular) -> list[str]:
    known = [column.name for column in declared.columns]
    names = _names(table)
    problems = [
        f"{declared.name}.{name}: the table has no such column{_near(name, known)}"
        for name in dict.fromkeys(names)
        if name not in known
    ]
    return problems + [
        f"{declared.name}.{name}: the column is there {names.count(name)} times"
        for name in known
        if names.count(name) > 1
    ]


def _checked(column: StoreColumn, table: Tabular) -> pa.ChunkedArray:
    """Convert and validate one column; an optional one that is absent is all null."""
    import pyarrow.compute as pc

    if column.name not in _names(table):
        if column.required:
            raise _ColumnError("the required column is missing")
        return pa.chunked_array([pa.nulls(len(table), column.type)])
    values = _converted(column, _values(column, table))
    if column.required and values.null_count:
        raise _ColumnError(f"null in a required column, first in row {_first(values.is_null())}")
    if column.kind == "number":
        _refuse(pc.invert(pc.is_finite(values)), values, "is not a finite number")
    if column.kind == "words" and pc.list_flatten(values).null_count:
        raise _ColumnError("null among its words")
    if column.values:
        _check_values(column, values)
    return values


def _values(column: StoreColumn, table: Tabular) -> pa.ChunkedArray:
    if isinstance(table, pa.Table):
        return table.column(_names(table).index(column.name))
    position = _names(table).index(column.name)
    try:
        values = pa.array(table.iloc[:, position], from_pandas=True)
    except pa.ArrowException as error:
        raise _ColumnError(f"values of several types where {column.kind} is needed") from error
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def _is_text(kind: pa.DataType) -> bool:
    if pt.is_dictionary(kind):
        kind = kind.value_type
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


_ACCEPTED: Mapping[str, Callable[[pa.DataType], bool]] = {
    "text": _is_text,
    "integer": _is_number,
    "number": _is_number,
    "flag": pt.is_boolean,
    "instant": pt.is_timestamp,
    "day": lambda kind: pt.is_date(kind) or (pt.is_timestamp(kind) and kind.tz is None),
    "words": lambda kind: (
        (pt.is_list(kind) or pt.is_large_list(kind))
        and (_is_text(kind.value_type) or pt.is_null(kind.value_type))
    ),
}
"""Which Arrow types may be converted to each kind, if every value survives it."""


def _converted(column: StoreColumn, values: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    kind = values.type
    if kind == column.type:
        return values
    if values.null_count == len(values):
        return pa.chunked_array([pa.nulls(len(values), column.type)])
    if not _ACCEPTED[column.kind](kind):
        raise _ColumnError(f"{kind} where {column.kind} is needed{_example(values)}")
    if column.kind == "instant" and pt.is_timestamp(kind) and kind.tz is None:
        raise _ColumnError(f"instants without a zone; {_UTC_ADVICE}{_example(values)}")
    if column.kind == "day" and pt.is_timestamp(kind):
        midnight = pc.equal(pc.floor_temporal(values, unit="day"), values)
        _refuse(pc.invert(midnight), values, "is not a whole day")
    try:
        return pc.cast(values, column.type)
    except pa.ArrowInvalid as error:
        row = _first_unsafe(values, column.type)
        raise _ColumnError(
            f"{values[row].as_py()!r} in row {row} does not fit {column.kind} without loss"
        ) from error


def _first_unsafe(values: pa.ChunkedArray, kind: pa.DataType) -> int:
    """Find the first row that does not convert, by bisection."""
    import pyarrow.compute as pc

    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            pc.cast(values.slice(low, middle - low), kind)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _check_values(column: StoreColumn, values: pa.ChunkedArray) -> None:
    """Raise if a value, or a word of a list, is not one of those allowed."""
    import pyarrow.compute as pc

    words = column.kind == "words"
    single = pc.list_flatten(values) if words else values
    # pa.array would import pandas, which a service has no other use for.
    known = reduce(pc.or_, (pc.equal(single, value) for value in column.values))
    row = _first(pc.and_(pc.invert(known), single.is_valid()))
    if row is not None:
        value = single[row].as_py()
        place = pc.list_parent_indices(values)[row] if words else row
        raise _ColumnError(
            f"{value!r} in row {place} is none of {', '.join(column.values)}"
            f"{_near(value, column.values)}"
        )


def _refuse(wrong: pa.ChunkedArray, values: pa.ChunkedArray, what: str) -> None:
    row = _first(wrong)
    if row is not None:
        raise _ColumnError(f"{values[row].as_py()!r} in row {row} {what}")


def _first(flags: pa.ChunkedArray) -> int | None:
    import pyarrow.compute as pc

    row = pc.index(flags, pa.scalar(True)).as_py()
    return None if row < 0 else int(row)


def _example(values: pa.ChunkedArray) -> str:
    row = _first(values.is_valid())
    return "" if row is None else f", as {values[row].as_py()!r} in row {row}"


def _is_unique(columns: list[pa.ChunkedArray]) -> bool:
    """Whether the rows of some columns are surely distinct; group_by would import pandas."""
    import pyarrow.compute as pc

    codes, known = pa.scalar(0, pa.int64()), 1
    for column in columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        known *= max(1, len(encoded.dictionary))
        if known >= 2**63:
            return False
        indices = encoded.indices.cast(pa.int64())
        codes = pc.add(pc.multiply(codes, len(encoded.dictionary)), indices)
    return bool(pc.count_distinct(codes).as_py() == len(columns[0]))


def _repeated(declared: StoreTable, columns: Mapping[str, pa.ChunkedArray]) -> list[str]:
    """List the problem of a key that several rows have, if there is one."""
    import pyarrow.compute as pc

    key = list(declared.key)
    if not key or not columns.keys() >= set(key):
        return []
    if _is_unique([columns[name] for name in key]):
        return []
    keys = pa.table({name: columns[name] for name in key})
    counted = keys.group_by(key).aggregate([([], "count_all")])
    repeated = counted.filter(pc.greater(counted["count_all"], 1))
    if not len(repeated):
        return []
    example: dict[str, Any] = repeated.slice(0, 1).to_pylist()[0]
    times = example.pop("count_all")
    shown = ", ".join(f"{name}={value!r}" for name, value in example.items())
    return [f"{declared.name}.{'+'.join(key)}: the key {shown} is there {times} times"]
