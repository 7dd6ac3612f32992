"""Convert JSON values to typed Arrow arrays, exactly; what does not fit is reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from math import copysign
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.decode import EXACT_FLOAT, is_unicode
from aatoolkit.jsontree.vectors import MISSING, Missing

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

Array: TypeAlias = "pa.Array | pa.ChunkedArray"
"""A column in one piece or in several."""

_YEAR = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DAY = re.compile(rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}")
_INSTANT = re.compile(
    rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
    r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ONE, _MICROSECOND = date(1970, 1, 1).toordinal(), timedelta(microseconds=1)
_NULL = type(None)


def coerce_values(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """Convert values to an Arrow array of a dtype; return it and the rows that do not fit.

    Nothing is converted that could be another thing: a boolean is no number, a number in
    quotes is text, an instant without a zone is no instant. Such a value is null in the
    array. Null and missing values are null and fit.

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
    return to_array(values, set(map(type, values)), dtype)


def to_array(
    values: Sequence[Any], kinds: Collection[type], dtype: str
) -> tuple[pa.Array, list[int]]:
    """Convert values of some types; see `coerce_values`."""
    if Missing in kinds:
        values = [None if value is MISSING else value for value in values]
        kinds = {*kinds} - {Missing} | {_NULL}
    plain, read = _DTYPES[dtype]
    odd: list[int] = []
    strange = {*kinds} - plain
    if strange:
        values = list(values)
        for row in _rows_of(values, strange):
            try:
                values[row] = read(values[row])
            except (ValueError, OverflowError):
                values[row] = None
                odd.append(row)
    try:
        if dtype in _TIMES:
            numbers = _TIMES[dtype]
            return pa.array([numbers[value] for value in values], ARROW[dtype]), odd
        if dtype != "list<string>" or _is_text(chain.from_iterable(filter(None, values))):
            return pa.array(values, ARROW[dtype]), odd
    except (ValueError, OverflowError):
        pass
    rows: list[Any] = []
    for row, value in enumerate(values):
        try:
            rows.append(None if value is None else read(value))
        except (ValueError, OverflowError):
            rows.append(None)
            odd.append(row)
    return pa.array(rows, ARROW[dtype]), sorted(odd)


def _rows_of(values: Sequence[Any], kinds: set[type]) -> list[int]:
    """The rows whose value is of one of some types."""
    flags = np.fromiter(map(kinds.__contains__, map(type, values)), bool, len(values))
    rows: list[int] = np.flatnonzero(flags).tolist()
    return rows


def _is_text(values: Any) -> bool:
    return set(map(type, values)) <= {str, _NULL}


class _Memo(dict[Any, Any]):
    """Texts as the numbers that Arrow holds of them; a text that is none raises."""

    def __init__(self, read: Callable[[str], int]) -> None:
        super().__init__({None: None})
        self._read = read

    def __missing__(self, text: str) -> int:
        number = self._read(text)
        if len(self) < 1 << 14:
            self[text] = number
        return number


def day_number(day: date) -> int:
    """The number that Arrow holds of a day."""
    return day.toordinal() - _DAY_ONE


def instant_number(instant: datetime) -> int:
    """The number that Arrow holds of an instant."""
    return (instant - _EPOCH) // _MICROSECOND


def _day(text: str) -> int:
    if not _DAY.fullmatch(text):
        raise ValueError
    return day_number(date.fromisoformat(text))


def _instant(text: str) -> int:
    if not _INSTANT.fullmatch(text):
        raise ValueError
    return instant_number(datetime.fromisoformat(text))


_TIMES = {"date": _Memo(_day), "timestamp": _Memo(_instant)}


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if type(value) is not str or not is_unicode(value):
        raise ValueError
    return value


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


def _time(dtype: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        return _TIMES[dtype][_text(value)]

    return read


_DTYPES: dict[str, tuple[frozenset[type], Callable[[Any], Any]]] = {
    "string": (frozenset((str, _NULL)), _text),
    "category": (frozenset((str, _NULL)), _text),
    "Int64": (frozenset((int, _NULL)), whole_number),
    "Float64": (frozenset((float, int, _NULL)), real_number),
    "boolean": (frozenset((bool, _NULL)), _flag),
    "date": (frozenset((str, _NULL)), _time("date")),
    "timestamp": (frozenset((str, _NULL)), _time("timestamp")),
    "list<string>": (frozenset((list, _NULL)), _texts),
}
"""The types of values that Arrow reads as a dtype, and how single values are read."""
