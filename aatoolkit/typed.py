"""JSON values as typed Arrow arrays, exactly: what does not fit is named, never bent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from aatoolkit.vectors import MISSING

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "list<string>": pa.list_(pa.string()),
}
"""The Arrow type of each declared dtype."""

_EXACT = 2**53
_DAY = re.compile(r"(?!0000)\d{4}-\d{2}-\d{2}", re.ASCII)
_INSTANT = re.compile(
    r"(?!0000)\d{4}-\d{2}-\d{2}[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.]\d{1,6})?)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)",
    re.ASCII,
)


def typed(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """An Arrow array of a declared dtype, and the rows whose value does not fit it.

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
    >>> array, odd = typed([1, None, "2", True], "Int64")
    >>> array.to_pylist(), odd
    ([1, None, None, None], [2, 3])
    """
    fits, convert = _READERS[dtype]
    kinds = set(map(type, values))
    clean = list(values)
    if type(MISSING) in kinds:
        kinds = kinds - {type(MISSING)} | {_NONE}
        clean = [None if value is MISSING else value for value in values]
    if kinds <= _PLAIN[dtype]:
        with suppress(pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
            return convert(clean), []
    odd = [row for row, value in enumerate(clean) if not (value is None or fits(value))]
    for row in odd:
        clean[row] = None
    return convert(clean), odd


def _is_text(value: Any) -> bool:
    if type(value) is not str:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_integer(value: Any) -> bool:
    if type(value) is float:
        return value.is_integer() and abs(value) <= _EXACT
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= _EXACT)


def _is_day(value: Any) -> bool:
    if not (type(value) is str and _DAY.fullmatch(value)):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_instant(value: Any) -> bool:
    if not (type(value) is str and _INSTANT.fullmatch(value)):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_words(value: Any) -> bool:
    return type(value) is list and all(item is None or _is_text(item) for item in value)


def _days(values: list[Any]) -> pa.Array:
    if all(value is None or _DAY.fullmatch(value) for value in set(values)):
        return pa.array(values, pa.string()).cast(pa.date32())
    raise pa.ArrowInvalid("not all are days")


def _instants(values: list[Any]) -> pa.Array:
    if all(value is None or _INSTANT.fullmatch(value) for value in set(values)):
        return pa.array(values, pa.string()).cast(ARROW["timestamp"])
    raise pa.ArrowInvalid("not all are instants")


def _numbers(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.float64())


def _integers(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.int64())


_Reader = tuple[Callable[[Any], bool], Callable[[list[Any]], pa.Array]]
_NONE = type(None)
_READERS: dict[str, _Reader] = {
    "string": (_is_text, lambda values: pa.array(values, pa.string())),
    "category": (_is_text, lambda values: pa.array(values, pa.string())),
    "Int64": (_is_integer, _integers),
    "Float64": (_is_number, _numbers),
    "boolean": (lambda value: type(value) is bool, lambda values: pa.array(values, pa.bool_())),
    "date": (_is_day, _days),
    "timestamp": (_is_instant, _instants),
    "list<string>": (_is_words, lambda values: pa.array(values, ARROW["list<string>"])),
}
_PLAIN: dict[str, set[type]] = {
    "string": {str, _NONE},
    "category": {str, _NONE},
    "Int64": {int, _NONE},
    "Float64": {float, int, _NONE},
    "boolean": {bool, _NONE},
    "date": {str, _NONE},
    "timestamp": {str, _NONE},
    "list<string>": set(),
}
