"""Parse values that are not plain JSON of their dtype: numbers and dates in text, scales, …

How a column declares that it is written (`aatoolkit.sections.Column`: ``parse``, ``scale``,
``missing``) is applied here, once to each distinct value. Nothing is converted that could be
another thing; what does not fit is named, and stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from aatoolkit.jsontree.coerce import (
    ARROW,
    day_number,
    instant_number,
    real_number,
    to_array,
    whole_number,
)
from aatoolkit.jsontree.text_values import (
    compact_day,
    currency,
    day_first,
    duration,
    flag,
    iso_week,
    money,
    month_day,
    month_day_year,
    month_first,
    short_number,
    utc_instant,
)
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.column import Reading

_SPACES = "' \u00a0\u2009\u202f\u2019"
_POINT = re.compile(
    rf"\s*#?[+\-\u2212]?(?:[0-9]{{1,3}}(?:[,{_SPACES}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?\s*%?\s*"
)
_COMMA = re.compile(
    rf"\s*[+\-\u2212]?(?:[0-9]{{1,3}}(?:[.{_SPACES}][0-9]{{3}})+|[0-9]+)(?:,[0-9]+)?\s*%?\s*"
)
_SIGNS = str.maketrans({"\u2212": "-", **dict.fromkeys("#+%\t\n\r\f\v" + _SPACES)})
_LATEST = instant_number(datetime.max.replace(tzinfo=UTC))
_EARLIEST = instant_number(datetime.min.replace(tzinfo=UTC))


class Parsed(NamedTuple):
    """The values of a column at one place, and the rows of those that are none.

    Attributes
    ----------
    array : pyarrow.Array
        The values, null where there is none.
    odd, missing : list of int
        The rows whose value does not fit, and those whose value means that there is none.
    """

    array: pa.Array
    odd: Sequence[int]
    missing: Sequence[int]


def read_as(values: Sequence[Any], reading: Reading, year: Any = None) -> Parsed:
    """Parse all values at a place as a column reads them.

    Parameters
    ----------
    values : sequence
        What is in the answer, with `MISSING` where there is nothing.
    reading : Reading
        How the column is written.
    year : optional
        For ``month day``: the year, or a day not before any of the column's.

    Examples
    --------
    >>> values = ["1,204", "34.5%", "—", "many", None, 7]
    >>> parsed = read_as(values, Reading("Float64", "number", missing=("—",)))
    >>> parsed.array.to_pylist(), parsed.odd, parsed.missing
    ([1204.0, 34.5, None, None, None, 7.0], [3], [2])
    """
    missing: list[int] = []
    if reading.missing:
        marks = {_identity(mark) for mark in reading.missing}
        missing = [row for row, value in enumerate(values) if _identity(value) in marks]
        values = list(values)
        for row in missing:
            values[row] = None
    if reading.parse is None:
        array, odd = to_array(values, set(map(type, values)), reading.dtype)
    else:
        array, odd = _parsed(values, partial(_PARSERS[reading.parse], reading.dtype, year), reading)
    if reading.scale is not None:
        array = _scaled(array, reading.scale)
    return Parsed(array, odd, missing)


def _identity(value: Any) -> Any:
    """What tells values apart: numbers by their value, and no boolean is a number."""
    if isinstance(value, dict | list):
        return None
    return (
        float(value) if type(value) is int and abs(value) < 2**63 else value,
        type(value) is bool,
    )


def _parsed(
    values: Sequence[Any], parse: Callable[[Any], Any], reading: Reading
) -> tuple[pa.Array, list[int]]:
    memo: dict[Any, Any] = {}
    rows: list[Any] = []
    odd: list[int] = []
    for row, value in enumerate(values):
        if value is None or value is MISSING:
            rows.append(None)
            continue
        key = (value.__class__, value) if type(value) not in (dict, list) else None
        if key not in memo:
            try:
                memo[key] = None if key is None else parse(value)
            except (ValueError, OverflowError):
                memo[key] = None
        rows.append(memo[key])
        if memo[key] is None:
            odd.append(row)
    return pa.array(rows, ARROW[reading.dtype]), odd


def _scaled(array: pa.Array, scale: float) -> pa.Array:
    """Multiply numbers by a scale; divide where that is exact: 34.5 percent are 0.345."""
    import pyarrow.compute as pc

    inverse = 1 / scale
    if scale < 1 and abs(inverse - round(inverse)) < 1e-9 * inverse:
        return pc.divide(array, pa.scalar(float(round(inverse))))
    return pc.multiply(array, pa.scalar(float(scale)))


def _plain(dtype: str, value: Any) -> Any:
    if dtype == "Float64":
        return real_number(value)
    return whole_number(value + 0.0 if type(value) is float else value)


def _number(form: re.Pattern[str], decimal: str, dtype: str, _: Any, value: Any) -> Any:
    if type(value) is not str:
        return _plain(dtype, value)
    if not form.fullmatch(value):
        short = short_number(value) if decimal == "." else None
        return None if short is None else _plain(dtype, short)
    text = value.translate(_SIGNS).replace("," if decimal == "." else ".", "").replace(",", ".")
    if dtype == "Int64" and "." not in text:
        return whole_number(int(text))
    return _plain(dtype, float(text))


def _text(parse: Callable[[str], Any], dtype: str, _: Any, value: Any) -> Any:
    """Read a text by a function; numbers are what they are, where numbers are read."""
    if type(value) is str:
        return parse(value)
    return _plain(dtype, value) if dtype == "Float64" else None


def _boolean(dtype: str, _: Any, value: Any) -> bool | None:
    if type(value) is str:
        return flag(value)
    return bool(value) if type(value) is bool or (type(value) is int and value in (0, 1)) else None


def _moment(
    parse: Callable[[str, Any], date | datetime | None], dtype: str, year: Any, value: Any
) -> int | None:
    moment = parse(str(value), year) if type(value) in (str, int) else None
    if moment is None:
        return None
    if dtype == "date":
        return day_number(moment)
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return instant_number(moment)


def _epoch(per_second: int | Fraction, dtype: str, _: Any, value: Any) -> int | None:
    if type(value) is str:
        value = int(value) if re.fullmatch(r"-?[0-9]{1,15}", value) else None
    elif type(value) is float and (dtype == "date" or per_second == 1000):
        value = whole_number(value)
    if type(value) not in (int, float):
        return None
    micros: int = round(value * (1_000_000 // per_second))
    if not _EARLIEST <= micros <= _LATEST:
        return None
    return micros if dtype == "timestamp" else micros // 86_400_000_000


_PARSERS: dict[str, Callable[[str, Any, Any], Any]] = {
    "number": partial(_number, _POINT, "."),
    "decimal comma": partial(_number, _COMMA, ","),
    "money": partial(_text, money),
    "currency": partial(_text, currency),
    "duration": partial(_text, duration),
    "boolean": _boolean,
    "YYYYMMDD": partial(_moment, compact_day),
    "DD/MM/YYYY": partial(_moment, day_first),
    "MM/DD/YYYY": partial(_moment, month_first),
    "iso week": partial(_moment, iso_week),
    "month day": partial(_moment, month_day),
    "month day year": partial(_moment, month_day_year),
    "utc": partial(_moment, utc_instant),
    "epoch s": partial(_epoch, 1),
    "epoch ms": partial(_epoch, 1000),
    "epoch days": partial(_epoch, Fraction(1, 86400)),
}
"""How one value is read, given its dtype and year, by the word of ``parse``."""
