"""Convert JSON values to typed Arrow arrays, exactly; what does not fit is reported.

Nothing is converted that could be another thing: a boolean is no number, a number in quotes is
text, an instant without a zone is no instant. Where a column declares that it is written
otherwise (`aatoolkit.sections.Column`: ``parse``, ``scale``, ``missing``), it is read so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import partial
from itertools import chain
from math import copysign
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pyarrow as pa

from aatoolkit.jsontree.decode import EXACT_FLOAT, is_unicode
from aatoolkit.jsontree.text_values import (
    compact_day,
    currency,
    day_first,
    duration,
    flag,
    iso_month,
    iso_week,
    money,
    month_day,
    month_day_year,
    month_first,
    short_number,
    utc_instant,
)
from aatoolkit.jsontree.vectors import MISSING

if TYPE_CHECKING:
    from aatoolkit.sections.column import Reading

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "category": pa.string(),
    "list<string>": pa.list_(pa.string()),
}
"""The Arrow type of each declared dtype; categories are text until their levels are known."""

POOL = pa.system_memory_pool()
"""Where columns are made: Arrow's own allocator keeps the buffers that a column outgrew."""

Array: TypeAlias = "pa.Array | pa.ChunkedArray"
"""A column in one piece or in several."""

_YEAR = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DAY = re.compile(rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}")
_INSTANT = re.compile(
    rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
    r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
)
_SPACES = "' \u00a0\u2009\u202f\u2019"
_POINT = re.compile(
    rf"\s*#?[+\-\u2212]?(?:[0-9]{{1,3}}(?:[,{_SPACES}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?\s*%?\s*"
)
_COMMA = re.compile(
    rf"\s*[+\-\u2212]?(?:[0-9]{{1,3}}(?:[.{_SPACES}][0-9]{{3}})+|[0-9]+)(?:,[0-9]+)?\s*%?\s*"
)
_SIGNS = str.maketrans({"\u2212": "-", **dict.fromkeys("#+%\t\n\r\f\v" + _SPACES)})
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_NULL = type(None)


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
    odd: Sequence[int] = ()
    missing: Sequence[int] = ()


def coerce_values(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """Convert values to an Arrow array of a dtype; return it and the rows that do not fit.

    Such a value is null in the array. Null and missing values are null and fit.

    Parameters
    ----------
    values : sequence
        JSON values, with `MISSING` where there is none.
    dtype : str
        A dtype of `ARROW`; a ``category`` comes back as plain text.

    Examples
    --------
    >>> array, odd = coerce_values([1, None, "2", True], "Int64")
    >>> array.to_pylist(), odd
    ([1, None, None, None], [2, 3])
    """
    parsed = read_as(values, _Plain(dtype))
    return parsed.array, [*parsed.odd]


def exact_array(values: Iterable[Any], kinds: set[type], dtype: str) -> pa.Array:
    """Convert values to an Arrow array of a dtype.

    Parameters
    ----------
    values : iterable
        JSON values; null where there is none.
    kinds : set of type
        The types of the values, or more.
    dtype : str
        A dtype of `ARROW`.

    Raises
    ------
    ValueError, OverflowError
        If one is not just what the dtype holds.
    """
    if not kinds <= _EXACT[dtype]:
        raise ValueError
    if dtype in _TIMES:
        return _array(map(_TIMES[dtype].__getitem__, values), dtype)
    if dtype == "list<string>":
        values = list(values)
        if not {*map(type, chain.from_iterable(filter(None, values)))} <= {str, _NULL}:
            raise ValueError
    return _array(values, dtype)


def _array(values: Iterable[Any], dtype: str) -> pa.Array:
    return pa.array(values, ARROW[dtype], memory_pool=POOL)


def read_as(values: Sequence[Any], reading: Reading | _Plain, year: Any = None) -> Parsed:
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
    >>> from aatoolkit.sections.column import Reading
    >>> values = ["1,204", "34.5%", "—", "many", None, 7]
    >>> parsed = read_as(values, Reading("Float64", "number", missing=("—",)))
    >>> parsed.array.to_pylist(), parsed.odd, parsed.missing
    ([1204.0, 34.5, None, None, None, 7.0], [3], [2])
    """
    dtype, scale = reading.dtype, reading.scale
    marks = {_identity(mark) for mark in reading.missing}
    missing = (
        [row for row, value in enumerate(values) if _identity(value) in marks] if marks else []
    )
    rows = [None if value is MISSING else value for value in values]
    for row in missing:
        rows[row] = None
    odd: list[int] = []
    if reading.parse is None:
        exact = _EXACT[dtype]
        strange = [row for row, value in enumerate(rows) if type(value) not in exact]
        odd += _read_rows(rows, strange, _READ[dtype])
        try:
            return Parsed(_scaled(exact_array(rows, exact, dtype), scale), odd, missing)
        except (ValueError, OverflowError):
            read = _READ[dtype]
    else:
        read = partial(_PARSERS[reading.parse], dtype, year)
    odd += _read_rows(rows, range(len(rows)), read)
    return Parsed(_scaled(_array(rows, dtype), scale), sorted(odd), missing)


def _read_rows(rows: list[Any], numbers: Iterable[int], read: Callable[[Any], Any]) -> list[int]:
    """Read the values in some rows one by one, equal texts once; return the rows that are odd."""
    memo: dict[str, Any] = {}
    odd: list[int] = []
    for row in numbers:
        value = rows[row]
        if value is None:
            continue
        is_text = type(value) is str
        if is_text and value in memo:
            result = memo[value]
        else:
            try:
                result = read(value)
            except (ValueError, OverflowError):
                result = None
            if is_text:
                memo[value] = result
        rows[row] = result
        if result is None:
            odd.append(row)
    return odd


class _Plain(NamedTuple):
    """The reading of values that are plain JSON of a dtype."""

    dtype: str
    parse: None = None
    scale: None = None
    missing: tuple[()] = ()


def _identity(value: Any) -> Any:
    """What tells values apart: numbers by their value, and no boolean is a number."""
    if isinstance(value, dict | list):
        return None
    number = float(value) if type(value) is int and abs(value) < 2**63 else value
    return number, type(value) is bool


def _scaled(array: pa.Array, scale: float | None) -> pa.Array:
    """Multiply numbers by a scale; divide where that is exact: 34.5 percent are 0.345."""
    if scale is None:
        return array
    import pyarrow.compute as pc

    inverse = 1 / scale
    if scale < 1 and abs(inverse - round(inverse)) < 1e-9 * inverse:
        return pc.divide(array, float(round(inverse)))
    return pc.multiply(array, float(scale))


class _Memo(dict[Any, Any]):
    """Texts as the numbers that Arrow holds of them; a text that is none raises."""

    def __init__(self, form: re.Pattern[str], read: Callable[[str], int]) -> None:
        super().__init__({None: None})
        self._form, self._read = form, read

    def __missing__(self, text: str) -> int:
        if not self._form.fullmatch(text):
            raise ValueError
        number = self._read(text)
        if len(self) < 1 << 14:
            self[text] = number
        return number


def day_number(day: date) -> int:
    """The number that Arrow holds of a day."""
    return day.toordinal() - date(1970, 1, 1).toordinal()


def instant_number(instant: datetime) -> int:
    """The number that Arrow holds of an instant."""
    return (instant - _EPOCH) // _MICROSECOND


_TIMES = {
    "date": _Memo(_DAY, lambda text: day_number(date.fromisoformat(text))),
    "timestamp": _Memo(_INSTANT, lambda text: instant_number(datetime.fromisoformat(text))),
}


def _text(value: Any) -> str:
    if type(value) is not str or not is_unicode(value):
        raise ValueError
    return value


def _flag(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _texts(value: Any) -> Any:
    if type(value) is not list:
        raise ValueError
    return [None if text is None else _text(text) for text in value]


def whole_number(value: Any) -> int:
    """A whole number of 64 bits; also one that is written as a float, where that is exact."""
    if type(value) is float and value.is_integer() and abs(value) <= EXACT_FLOAT:
        value = int(value) if value or copysign(1, value) > 0 else None  # no integer is -0.0
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError
    return value


def real_number(value: Any) -> float:
    """A float, or a whole number that a float can hold."""
    if type(value) is float or (type(value) is int and abs(value) <= EXACT_FLOAT):
        return float(value)
    raise ValueError


_EXACT: dict[str, set[type]] = {
    **{dtype: {str, _NULL} for dtype in ("string", "category", "date", "timestamp")},
    "Int64": {int, _NULL},
    "Float64": {float, int, _NULL},
    "boolean": {bool, _NULL},
    "list<string>": {list, _NULL},
}
"""The types of values that Arrow reads as a dtype."""

_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("string", "category"), _text),
    "Int64": whole_number,
    "Float64": real_number,
    "boolean": _flag,
    "date": lambda value: _TIMES["date"][_text(value)],
    "timestamp": lambda value: _TIMES["timestamp"][_text(value)],
    "list<string>": _texts,
}
"""How a single value is read as a dtype."""


_LATEST = instant_number(datetime.max.replace(tzinfo=UTC))
_EARLIEST = instant_number(datetime.min.replace(tzinfo=UTC))


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


def _of_text(parse: Callable[[str], Any], dtype: str, _: Any, value: Any) -> Any:
    """Read a text by a function; numbers are what they are, where numbers are read."""
    if type(value) is str:
        return parse(value)
    return _plain(dtype, value) if dtype == "Float64" else None


def _of_any(dtype: str, _: Any, value: Any) -> str | None:
    """The text of a text, a number or a flag."""
    if type(value) in (int, float, bool):
        return json.dumps(value)
    return value if type(value) is str else None


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
        value = (
            int(value.partition(".")[0]) if re.fullmatch(r"-?[0-9]{1,15}(?:\.0*)?", value) else None
        )
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
    "money": partial(_of_text, money),
    "currency": partial(_of_text, currency),
    "any": _of_any,
    "duration": partial(_of_text, duration),
    "boolean": _boolean,
    "YYYYMMDD": partial(_moment, compact_day),
    "DD/MM/YYYY": partial(_moment, day_first),
    "MM/DD/YYYY": partial(_moment, month_first),
    "iso week": partial(_moment, iso_week),
    "iso month": partial(_moment, iso_month),
    "month day": partial(_moment, month_day),
    "month day year": partial(_moment, month_day_year),
    "utc": partial(_moment, utc_instant),
    "epoch s": partial(_epoch, 1),
    "epoch ms": partial(_epoch, 1000),
    "epoch days": partial(_epoch, Fraction(1, 86400)),
}
"""How one value is read, given its dtype and year, by the word of ``parse``."""
