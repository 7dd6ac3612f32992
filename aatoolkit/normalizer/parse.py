"""Parse values that are not plain JSON of their dtype: numbers and dates in text, scales, …

How a column declares that it is written (`aatoolkit.sections.Column`: ``parse``, ``scale``,
``missing``) is applied here to all values at one node at once. Nothing is converted that could be
another thing; what does not fit is named, and stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import ColumnChunk, concat_rows, without_nulls
from aatoolkit.jsontree.coerce import ARROW, Array, column, rows_of_other_kinds
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.kinds import BOOLEAN, INTEGER, NUMBER, STRING
from aatoolkit.jsontree.nodes import Node
from aatoolkit.jsontree.text_values import (
    compact_day,
    currency,
    day_first,
    duration,
    flag,
    iso_week,
    money,
    month_day,
    month_first,
    short_number,
    utc_instant,
)
from aatoolkit.sections.column import Reading

_GROUPS = r"[,' \x{00A0}\x{2009}\x{202F}\x{2019}]"
_NUMBER = rf"^\s*#?[+\-\x{{2212}}]?(?:\d{{1,3}}(?:{_GROUPS}\d{{3}})+|\d+)(?:\.\d+)?\s*%?\s*$"
_POINTS = r"[.' \x{00A0}\x{2009}\x{202F}\x{2019}]"
_COMMA = rf"^\s*[+\-\x{{2212}}]?(?:\d{{1,3}}(?:{_POINTS}\d{{3}})+|\d+)(?:,\d+)?\s*%?\s*$"
_NOISE = r"[#+%\s,'\x{00A0}\x{2009}\x{202F}\x{2019}]"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANTS = (_EPOCH - datetime(1, 1, 1, tzinfo=UTC)).total_seconds()


class Parsed(NamedTuple):
    """The values of a column at one node, and the rows of those that are none.

    Attributes
    ----------
    array : Array
        The values, null where there is none.
    odd, missing : RowIndex
        The rows whose value does not fit, and those whose value means that there is none.
    """

    array: Array
    odd: RowIndex
    missing: RowIndex


def read_as(node: Node | None, reading: Reading, size: int, year: Any = None) -> Parsed:
    """Parse all values at a node as a column reads them.

    Parameters
    ----------
    node : Node or None
        What is in the answer.
    reading : Reading
        How the column is written.
    size : int
        The number of rows.
    year : optional
        For ``month day``: the year, or a day not before any of the column's.

    Examples
    --------
    >>> from aatoolkit.jsontree.coerce import node_of
    >>> values = ["1,204", "34.5%", "—", "many", None, 7]
    >>> found = read_as(node_of(values), Reading("Float64", "number", missing=("—",)), 6)
    >>> found.array.to_pylist(), found.odd.tolist(), found.missing.tolist()
    ([1204.0, 34.5, None, None, None, 7.0], [3], [2])
    """
    nowhere = np.empty(0, np.int64)
    if node is None or not node.rows:
        return Parsed(column(None, reading.dtype, size)[0], nowhere, nowhere)
    missing = _missing(node, reading.missing)
    if reading.parse is None:
        array, odd = column(node, reading.dtype, size)
    else:
        array, odd = _parsed(node, reading, size, year)
    if len(missing):
        array, odd = _without(array, missing), np.setdiff1d(odd, missing)
    if reading.scale is not None:
        array = _scaled(array, reading.scale)
    return Parsed(array, odd, missing)


def _parsed(node: Node, reading: Reading, size: int, year: Any) -> tuple[Array, RowIndex]:
    kind = _arrow(reading.dtype)
    read = _READERS[reading.parse or ""]
    chunks, fitting = [], []
    for name, pieces in node.scalars.items():
        for array, rows in map(without_nulls, pieces):
            values = read(name, array, reading.dtype, year)
            good = np.asarray(values.is_valid())
            chunks.append((values.drop_null().cast(kind), rows[good]))
            fitting.append(rows[good])
    there = rows_of_other_kinds(node, frozenset())
    odd = np.setdiff1d(concat_rows(there), concat_rows(fitting)) if there else np.empty(0, np.int64)
    return _in_rows(chunks, kind, size), odd


def _in_rows(chunks: list[ColumnChunk], kind: pa.DataType, size: int) -> pa.Array:
    """Place values in their rows, with null in all others."""
    if not chunks:
        return pa.nulls(size, kind)
    index = np.full(size, -1, np.int64)
    rows = concat_rows([there for _, there in chunks])
    index[rows] = np.arange(len(rows))
    return pa.concat_arrays([array for array, _ in chunks]).take(pa.array(index, mask=index < 0))


def _arrow(dtype: str) -> pa.DataType:
    return pa.string() if dtype == "category" else ARROW[dtype]


def _missing(node: Node, marks: Iterable[Any]) -> RowIndex:
    """The rows whose value is one of those declared to mean missing."""
    texts = [mark for mark in marks if isinstance(mark, str)]
    flags = [mark for mark in marks if isinstance(mark, bool)]
    numbers = [mark for mark in marks if isinstance(mark, int | float)]
    numbers = [mark for mark in numbers if not isinstance(mark, bool)]
    wanted: dict[str, pa.Array] = {}
    if texts:
        wanted[STRING] = pa.array(texts, pa.string())
    if flags:
        wanted[BOOLEAN] = pa.array(flags, pa.bool_())
    if numbers:
        wanted[NUMBER] = pa.array([float(mark) for mark in numbers], pa.float64())
        whole = [int(mark) for mark in numbers if float(mark).is_integer()]
        wanted[INTEGER] = pa.array([n for n in whole if -(2**63) <= n < 2**63], pa.int64())
    found = [
        rows[pc.is_in(array, wanted[kind]).to_numpy(zero_copy_only=False)]
        for kind, pieces in node.scalars.items()
        if kind in wanted
        for array, rows in map(without_nulls, pieces)
    ]
    return np.unique(concat_rows(found)) if found else np.empty(0, np.int64)


def _without(array: Array, rows: RowIndex) -> Array:
    mask = np.zeros(len(array), np.bool_)
    mask[rows] = True
    return pc.if_else(pa.array(mask), pa.scalar(None, array.type), array)


def _scaled(array: Array, scale: float) -> Array:
    """Multiply numbers by a scale; divide where that is exact: 34.5 percent are 0.345."""
    inverse = 1 / scale
    if scale < 1 and abs(inverse - round(inverse)) < 1e-9 * inverse:
        return pc.divide(array, pa.scalar(float(round(inverse))))
    return pc.multiply(array, pa.scalar(float(scale)))


_Reader = Callable[[str, pa.Array, str, Any], pa.Array]


def _number(pattern: str, noise: str, decimal: str) -> _Reader:
    """Return a parser of numbers in text that needs no loop, except for short forms."""

    def read(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
        if kind in (INTEGER, NUMBER):
            return _plain_number(kind, array, dtype)
        if kind != STRING:
            return pa.nulls(len(array), ARROW[dtype])
        fits = pc.match_substring_regex(array, pattern)
        text = pc.replace_substring_regex(pc.if_else(fits, array, None), noise, "")
        text = pc.replace_substring(text, "−", "-")
        text = text if decimal == "." else pc.replace_substring(text, decimal, ".")
        values = text.cast(pa.float64())
        if decimal == "." and not pc.all(fits).as_py():
            rest = _each(pc.if_else(fits, None, array), pa.float64(), short_number)
            values = pc.coalesce(values, rest)
        if dtype == "Int64":
            # Through text where it has no point, for floats do not hold every integer.
            whole = pc.match_substring_regex(text, r"^-?\d{1,18}$")
            exact = pc.if_else(whole, text, None).cast(pa.int64())
            return pc.coalesce(exact, _whole(values))
        return values

    return read


def _plain_number(kind: str, array: pa.Array, dtype: str) -> pa.Array:
    if dtype == "Int64":
        return array if kind == INTEGER else _whole(array)
    if kind == NUMBER:
        return array
    exact = pc.less_equal(pc.abs_checked(pc.if_else(pc.equal(array, -(2**63)), 0, array)), 2**53)
    return pc.if_else(exact, array, None).cast(pa.float64(), safe=False)


def _whole(values: pa.Array) -> pa.Array:
    """Cast floats to whole numbers; null where one is not whole."""
    fits = pc.and_(pc.equal(values, pc.floor(values)), pc.less_equal(pc.abs(values), 2.0**53))
    return pc.if_else(fits, values, None).cast(pa.int64(), safe=False)


def _each(values: pa.Array, kind: pa.DataType, parse: Callable[[Any], Any]) -> pa.Array:
    """Apply a function to each distinct value; None and errors become null."""
    coded = values.dictionary_encode()
    found = []
    for value in coded.dictionary.to_pylist():
        try:
            found.append(parse(value))
        except (ValueError, OverflowError):
            found.append(None)
    return pa.array(found, kind).take(coded.indices)


def _of_text(parse: Callable[[str], Any], *, numbers: bool = False) -> _Reader:
    """Return a parser that calls a function once per distinct text; numbers stay if allowed."""

    def read(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
        target = _arrow(dtype)
        if numbers and kind in (INTEGER, NUMBER):
            return _plain_number(kind, array, dtype)
        if kind != STRING:
            return pa.nulls(len(array), target)
        return _each(array, target, parse)

    return read


def _booleans(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
    if kind == BOOLEAN:
        return array
    if kind == INTEGER:
        return pc.if_else(pc.is_in(array, pa.array([0, 1])), array, None).cast(pa.bool_())
    if kind != STRING:
        return pa.nulls(len(array), pa.bool_())
    return _each(array, pa.bool_(), flag)


def _moment(parse: Callable[[Any, Any], date | datetime | None]) -> _Reader:
    """Return a parser of days or instants that calls a function once per distinct value."""

    def read(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
        if kind not in (STRING, INTEGER):
            return pa.nulls(len(array), ARROW[dtype])

        def one(value: Any) -> Any:
            found = parse(str(value), year)
            if found is None:
                return None
            if dtype == "date":
                return found.date() if isinstance(found, datetime) else found
            return found if isinstance(found, datetime) else _midnight(found)

        return _each(array, ARROW[dtype], one)

    return read


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _epoch(per_second: int) -> _Reader:
    def read(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
        if kind == STRING:
            fits = pc.match_substring_regex(array, r"^-?\d{1,15}$")
            array = pc.if_else(fits, array, None).cast(pa.int64())
        elif kind == NUMBER:
            array = _whole(array) if dtype == "date" or per_second == 1000 else array
        elif kind != INTEGER:
            return pa.nulls(len(array), ARROW[dtype])
        # What a float cannot hold exactly is centuries beyond the last moment there is.
        micros = pc.multiply(array.cast(pa.float64(), safe=False), pa.scalar(1e6 / per_second))
        known = pc.and_(pc.greater_equal(micros, -_INSTANTS * 1e6), pc.less(micros, 253402300800e6))
        whole = pc.if_else(known, pc.round(micros), None).cast(pa.int64())
        moments = whole.cast(pa.timestamp("us", tz="UTC"))
        return moments if dtype == "timestamp" else moments.cast(pa.date32(), safe=False)

    return read


_READERS: dict[str, _Reader] = {
    "number": _number(_NUMBER, _NOISE, "."),
    "decimal comma": _number(_COMMA, r"[#+%\s.'\x{00A0}\x{2009}\x{202F}\x{2019}]", ","),
    "money": _of_text(money, numbers=True),
    "currency": _of_text(currency),
    "duration": _of_text(duration, numbers=True),
    "boolean": _booleans,
    "YYYYMMDD": _moment(compact_day),
    "DD/MM/YYYY": _moment(day_first),
    "MM/DD/YYYY": _moment(month_first),
    "iso week": _moment(iso_week),
    "month day": _moment(month_day),
    "utc": _moment(utc_instant),
    "epoch s": _epoch(1),
    "epoch ms": _epoch(1000),
}
"""How the values of one kind are read, by the word of ``parse``."""
