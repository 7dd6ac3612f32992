"""Values that are not plain JSON of their dtype: numbers and dates in text, sentinels, scales.

What a column says of how it is written (`aatoolkit.sections.Column`: ``parse``, ``scale``,
``missing``) is applied here to all values at one node at once. Nothing is converted that could be
another thing; what does not fit is named, and stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import compact, concat_rows, scatter_chunks
from aatoolkit.jsontree.coerce import ARROW, Array, column, rows_of_other_kinds
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.nodes import BOOLEAN, INTEGER, NUMBER, STRING, Node
from aatoolkit.sections.column import Reading

_GROUPS = r"[,' \x{00A0}\x{2009}\x{202F}\x{2019}]"
_NUMBER = rf"^\s*#?[+\-\x{{2212}}]?(?:\d{{1,3}}(?:{_GROUPS}\d{{3}})+|\d+)(?:\.\d+)?\s*%?\s*$"
_COMMA = r"^\s*[+\-\x{2212}]?(?:\d{1,3}(?:[.' \x{00A0}\x{2009}\x{202F}\x{2019}]\d{3})+|\d+)(?:,\d+)?\s*%?\s*$"
_NOISE = r"[#+%\s,'\x{00A0}\x{2009}\x{202F}\x{2019}]"
_SHORT = re.compile(r"\s*#?([+\-−]?)(\d+(?:\.\d+)?)\s?([kKmMbB])\s*")
_TIMES = {"k": 10**3, "m": 10**6, "b": 10**9}
_TRUE = frozenset(("true", "yes", "y", "on", "1", "t"))
_FALSE = frozenset(("false", "no", "n", "off", "0", "f"))
_MONEY = re.compile(
    r"\s*([+\-−]?)\s*([^\d\s.,+\-−]{1,4})?\s*([+\-−]?)\s*"
    r"(\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\d{1,3}(?:\.\d{3})*,\d{2}|\d+,\d{2})"
    r"\s*([^\d\s.,+\-−]{1,4})?\s*"
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")
_ISO_DURATION = re.compile(
    r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)")
_SECONDS = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds", "millisecond"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_WEEK = re.compile(r"(\d{4})-?W(\d{2})")
_MONTHS = {
    name: number + 1
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())
}
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})|(\d{1,2})\.?\s+([A-Za-z]{3,9})\.?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANTS = (_EPOCH - datetime(1, 1, 1, tzinfo=UTC)).total_seconds()


@dataclass(frozen=True)
class Parsed:
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
    """All values at a node as a column reads them, in a table of so many rows.

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
        for array, rows in map(compact, pieces):
            values = read(name, array, reading.dtype, year)
            good = np.asarray(values.is_valid())
            chunks.append((values.drop_null().cast(kind), rows[good]))
            fitting.append(rows[good])
    there = rows_of_other_kinds(node, frozenset())
    odd = np.setdiff1d(concat_rows(there), concat_rows(fitting)) if there else np.empty(0, np.int64)
    return (scatter_chunks(chunks, kind, size) if chunks else pa.nulls(size, kind)), odd


def _arrow(dtype: str) -> pa.DataType:
    return pa.string() if dtype == "category" else ARROW[dtype]


def _missing(node: Node, marks: Iterable[Any]) -> RowIndex:
    """The rows whose value is one of those that mean that there is none."""
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
        for array, rows in map(compact, pieces)
    ]
    return np.unique(concat_rows(found)) if found else np.empty(0, np.int64)


def _without(array: Array, rows: RowIndex) -> Array:
    mask = np.zeros(len(array), np.bool_)
    mask[rows] = True
    return pc.if_else(pa.array(mask), pa.scalar(None, array.type), array)


def _scaled(array: Array, scale: float) -> Array:
    """Numbers times a scale; divided where that is exact: 34.5 percent are 0.345, no more."""
    inverse = 1 / scale
    if scale < 1 and abs(inverse - round(inverse)) < 1e-9 * inverse:
        return pc.divide(array, pa.scalar(float(round(inverse))))
    return pc.multiply(array, pa.scalar(float(scale)))


_Reader = Callable[[str, pa.Array, str, Any], pa.Array]


def _number(pattern: str, noise: str, decimal: str) -> _Reader:
    """Numbers in text, without a loop over them; the few that are short forms one by one."""

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
            rest = _each(pc.if_else(fits, None, array), pa.float64(), _short)
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
    """Floats that are whole numbers as such; null where one is not."""
    fits = pc.and_(pc.equal(values, pc.floor(values)), pc.less_equal(pc.abs(values), 2.0**53))
    return pc.if_else(fits, values, None).cast(pa.int64(), safe=False)


def _short(text: str) -> float | None:
    found = _SHORT.fullmatch(text)
    if found is None:
        return None
    number = float(found[2]) * _TIMES[found[3].lower()]
    return -number if found[1] in ("-", "−") else number


def _each(values: pa.Array, kind: pa.DataType, parse: Callable[[Any], Any]) -> pa.Array:
    """Each different value through a function, which gives None for what does not fit."""
    coded = values.dictionary_encode()
    found = []
    for value in coded.dictionary.to_pylist():
        try:
            found.append(parse(value))
        except (ValueError, OverflowError):
            found.append(None)
    return pa.array(found, kind).take(coded.indices)


def _of_text(parse: Callable[[str], Any], *, numbers: bool = False) -> _Reader:
    """A reader of text, each different one through a function; numbers as they are written."""

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
    return _each(array, pa.bool_(), _flag)


def _flag(text: str) -> bool | None:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _money(text: str) -> float | None:
    found = _MONEY.fullmatch(text)
    if found is None or (found[1] and found[3]):
        return None
    digits = re.sub(r"[' \u00a0\u2009\u202f]", "", found[4])
    if re.fullmatch(r"[\d.]*,\d{2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    amount = float(digits.replace(",", ""))
    return -amount if (found[1] or found[3]) in ("-", "−") else amount


def _currency(text: str) -> str | None:
    found = _MONEY.fullmatch(text)
    return None if found is None else found[2] or found[5]


def _duration(text: str) -> float | None:
    word = text.strip().lower()
    if (clock := _CLOCK.fullmatch(word)) is not None:
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])
    if word.startswith("p") and (iso := _ISO_DURATION.fullmatch(word.upper())) is not None:
        parts = zip(iso.groups(), (604800, 86400, 3600, 60, 1), strict=True)
        given = [float(part) * seconds for part, seconds in parts if part is not None]
        return sum(given) if given else None
    total, at = 0.0, 0
    while (part := _PART.match(word, at)) is not None and part[2] in _SECONDS:
        total, at = total + float(part[1]) * _SECONDS[part[2]], part.end()
    return total if at and not word[at:].strip() else None


def _moment(parse: Callable[[Any, Any], date | datetime | None]) -> _Reader:
    """A reader of days or instants, each different one through a function."""

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


def _compact_day(text: str, year: Any) -> date | None:
    return date(int(text[:4]), int(text[4:6]), int(text[6:])) if _digits(text, 8) else None


def _digits(text: str, count: int) -> bool:
    return len(text) == count and text.isascii() and text.isdigit()


def _iso_week(text: str, year: Any) -> date | None:
    found = _WEEK.fullmatch(text)
    return None if found is None else date.fromisocalendar(int(found[1]), int(found[2]), 1)


def _month_day(text: str, year: Any) -> date | None:
    found = _MONTH_DAY.fullmatch(text.strip())
    month = _MONTHS.get((found[1] or found[4])[:3].lower()) if found else None
    if found is None or month is None or year is None:
        return None
    day = int(found[2] or found[3])
    last = str(year)[:10]
    if _digits(last, 4):
        return date(int(last), month, day)
    latest = date.fromisoformat(last)
    try:
        this = date(latest.year, month, day)
    except ValueError:  # 29 February
        return date(latest.year - 1, month, day)
    return this if this <= latest else date(latest.year - 1, month, day)


def _utc(text: str, year: Any) -> datetime | None:
    if len(text) < 16 or text[10] not in "T " or not text[:4].isdigit():
        return None
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def _epoch(per_second: int) -> _Reader:
    def read(kind: str, array: pa.Array, dtype: str, year: Any) -> pa.Array:
        if kind == STRING:
            fits = pc.match_substring_regex(array, r"^-?\d{1,15}$")
            array = pc.if_else(fits, array, None).cast(pa.int64())
        elif kind == NUMBER:
            array = _whole(array) if dtype == "date" or per_second == 1000 else array
        elif kind != INTEGER:
            return pa.nulls(len(array), ARROW[dtype])
        micros = pc.multiply(array.cast(pa.float64()), pa.scalar(1e6 / per_second))
        known = pc.and_(pc.greater_equal(micros, -_INSTANTS * 1e6), pc.less(micros, 253402300800e6))
        whole = pc.if_else(known, pc.round(micros), None).cast(pa.int64())
        moments = whole.cast(pa.timestamp("us", tz="UTC"))
        return moments if dtype == "timestamp" else moments.cast(pa.date32(), safe=False)

    return read


_READERS: dict[str, _Reader] = {
    "number": _number(_NUMBER, _NOISE, "."),
    "decimal comma": _number(_COMMA, r"[#+%\s.'\x{00A0}\x{2009}\x{202F}\x{2019}]", ","),
    "money": _of_text(_money, numbers=True),
    "currency": _of_text(_currency),
    "duration": _of_text(_duration, numbers=True),
    "boolean": _booleans,
    "YYYYMMDD": _moment(_compact_day),
    "iso week": _moment(_iso_week),
    "month day": _moment(_month_day),
    "utc": _moment(_utc),
    "epoch s": _epoch(1),
    "epoch ms": _epoch(1000),
}
"""How the values of one kind are read, by the word of ``parse``."""
