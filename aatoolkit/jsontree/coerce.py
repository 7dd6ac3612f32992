"""Convert JSON values to typed Arrow arrays, and report the values that do not fit the dtype.

There is no implicit conversion: a boolean is no number, a number in quotes is a text, and a
timestamp needs a time zone. A column can declare another notation, such as ``1,204`` for a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import partial
from itertools import chain
from math import copysign
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.lexicon import meaning_by_word
from aatoolkit.jsontree.decode import MAX_EXACT_FLOAT, is_utf8_encodable
from aatoolkit.jsontree.vectors import MISSING, Missing

if TYPE_CHECKING:
    from aatoolkit.sections.column import Column

ARROW_TYPE_BY_DTYPE: dict[str, pa.DataType] = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "category": pa.string(),
    "list<string>": pa.list_(pa.string()),
}
"""The Arrow types by dtype; categories are text until their levels are known."""

_MEMORY_TYPE_BY_DTYPE = {**ARROW_TYPE_BY_DTYPE, "string": pa.large_string()}
"""The Arrow types in memory, by dtype; text has the type that pandas uses."""

MEMORY_POOL = pa.system_memory_pool()
"""The Arrow memory pool for columns; the default pool does not free the buffers of growing columns.
"""

_NULL_TYPE = type(None)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_MICROSECOND = timedelta(microseconds=1)
_YEAR_PATTERN = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DATE_PATTERN = rf"{_YEAR_PATTERN}-[0-9]{{2}}-[0-9]{{2}}"
_TIMESTAMP_PATTERN = (
    rf"{_DATE_PATTERN}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{{1,6}})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
)


class ParsedColumn(NamedTuple):
    """A column as an Arrow array, with the positions of invalid and of missing values.

    Attributes
    ----------
    array : pyarrow.Array
        The values; null if a value is missing or invalid.
    invalid_positions : sequence of int
        The positions of values that do not fit the dtype.
    missing_positions : sequence of int
        The positions of values that mean a missing value, such as ``—``.
    """

    array: pa.Array  # null for values that are missing or do not fit
    invalid_positions: Sequence[int] = ()
    missing_positions: Sequence[int] = ()


def coerce_values(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """Convert JSON values to an Arrow array; values that do not fit the dtype become null.

    The second result is a list of the positions of these values.

    Examples
    --------
    >>> array, invalid = coerce_values([1, None, "2", True], "Int64")
    >>> array.to_pylist(), invalid
    ([1, None, None, None], [2, 3])
    """
    parsed_column = parse_values(values, Reading(dtype))
    return parsed_column.array.cast(ARROW_TYPE_BY_DTYPE[dtype]), [*parsed_column.invalid_positions]


def make_exact_array(values: Iterable[Any], value_types: set[type], dtype: str) -> pa.Array:
    """Convert JSON values to an Arrow array; raise ValueError if any value does not fit the dtype.

    ``value_types`` is the set of the Python types of the values.
    """
    if not value_types <= _EXACT_TYPES_BY_DTYPE[dtype]:
        raise ValueError
    if dtype in _TIME_CACHE_BY_DTYPE:
        return _make_array(map(_TIME_CACHE_BY_DTYPE[dtype].__getitem__, values), dtype)
    if Missing in value_types:
        values = [None if value is MISSING else value for value in values]
    if dtype == "list<string>":
        values = list(values)
        if not {*map(type, chain.from_iterable(filter(None, values)))} <= {str, _NULL_TYPE}:
            raise ValueError
    return _make_array(values, dtype)


def _make_array(values: Iterable[Any], dtype: str) -> pa.Array:
    """Convert values that fit a dtype to an Arrow array."""
    return pa.array(values, _MEMORY_TYPE_BY_DTYPE[dtype], memory_pool=MEMORY_POOL)


def parse_values(
    values: Sequence[Any], reading: Reading | Column, year_or_day: Any = None
) -> ParsedColumn:
    """Parse the values of a column in its declared notation, such as ``1,204`` for a number.

    ``reading`` has the dtype and the notation. ``year_or_day`` is needed for days that are written
    without a year: it is the year of all of them, or the latest day that they can be.

    Examples
    --------
    >>> values = ["1,204", "34.5%", "—", "many", None, 7]
    >>> parsed = parse_values(values, Reading("Float64", "number", missing=("—",)))
    >>> parsed.array.to_pylist(), parsed.invalid_positions, parsed.missing_positions
    ([1204.0, 34.5, None, None, None, 7.0], [3], [2])
    """
    dtype = reading.dtype
    convert_value = _CONVERTER_BY_DTYPE[reading.dtype]
    missing_value_keys = {*map(hashable_key, reading.missing)}
    missing_positions = [
        position
        for position, value in enumerate(values if missing_value_keys else ())
        if hashable_key(value) in missing_value_keys
    ]
    parsed_values = [None if value is MISSING else value for value in values]
    for position in missing_positions:
        parsed_values[position] = None
    invalid_positions = []
    if reading.parse is None:
        exact_types = _EXACT_TYPES_BY_DTYPE[dtype]
        invalid_positions = _parse_values_in_place(
            parsed_values,
            [
                position
                for position, value in enumerate(parsed_values)
                if type(value) not in exact_types
            ],
            convert_value,
        )
        with suppress(ValueError, OverflowError):
            return ParsedColumn(
                _multiply(make_exact_array(parsed_values, set(), dtype), reading.scale),
                invalid_positions,
                missing_positions,
            )
    else:
        parse_value = partial(_PARSER_BY_NOTATION[reading.parse], dtype, year_or_day)
        convert_value = (
            parse_value if reading.parse == "any" else partial(_parse_if_short, parse_value)
        )
    invalid_positions += _parse_values_in_place(
        parsed_values, range(len(parsed_values)), convert_value
    )
    return ParsedColumn(
        _multiply(_make_array(parsed_values, dtype), reading.scale),
        sorted(invalid_positions),
        missing_positions,
    )


def _parse_values_in_place(
    values: list[Any], positions: Iterable[int], convert_value: Callable[[Any], Any]
) -> list[int]:
    """Convert the values at some positions of a list in place, by the function ``convert_value``.

    Return the positions of the values that the function cannot convert; these become None.
    """
    parsed_value_by_text: dict[str, Any] = {}
    invalid_positions = []
    for position in positions:
        value = values[position]
        if value is None:
            continue
        if type(value) is str and value in parsed_value_by_text:
            parsed_value = parsed_value_by_text[value]
        else:
            try:
                parsed_value = convert_value(value)
            except (ValueError, OverflowError, TypeError):
                parsed_value = None
            if type(value) is str:
                parsed_value_by_text[value] = parsed_value
        values[position] = None if parsed_value is MISSING else parsed_value
        if parsed_value is None:
            invalid_positions.append(position)
    return invalid_positions


def _parse_if_short(parse_value: Callable[[Any], Any], value: Any) -> Any:
    """Return the result of ``parse_value`` for a value; None for a text of over 100 characters."""
    return None if type(value) is str and len(value) > MAX_PARSED_LENGTH else parse_value(value)


def hashable_key(value: Any) -> Any:
    """Return a key by which a JSON scalar can be compared and looked up in a set.

    In contrast to Python's values, the keys of True and 1 differ. The key is None for an object or
    array.
    """
    return None if isinstance(value, dict | list) else (value, type(value) is bool)


def _multiply(array: pa.Array, factor: float | None) -> pa.Array:
    """Multiply the numbers of an Arrow array by a factor, such as 0.01 for percent.

    The factor None returns the array unchanged.
    """
    if factor is None:
        return array
    import pyarrow.compute as pc

    inverse_factor = 1 / factor
    # Dividing by 100 is rounded correctly, multiplying by 0.01 is not.
    if factor < 1 and abs(inverse_factor - round(inverse_factor)) < 1e-9 * inverse_factor:
        return pc.divide(array, float(round(inverse_factor)))
    return pc.multiply(array, float(factor))


# --- plain JSON ------------------------------------------------------------------------------


class _TimeCache(dict[Any, Any]):
    """A cached dict from the text of a day or timestamp to the integer by which Arrow stores it.

    ``pattern`` is a regular expression for valid texts, and ``parse`` converts a text.
    """

    def __init__(self, pattern: str, parse: Callable[[str], int]) -> None:
        super().__init__({None: None, MISSING: None})
        self._pattern = re.compile(pattern)
        self._parse = parse

    def __missing__(self, text: str) -> int:
        if not self._pattern.fullmatch(text):
            raise ValueError
        epoch_number = self._parse(text)
        if len(self) < 1 << 14:
            self[text] = epoch_number
        return epoch_number


def _to_epoch_days(day: date) -> int:
    """Return the number of days since 1970-01-01, by which Arrow stores a date."""
    return day.toordinal() - date(1970, 1, 1).toordinal()


def _to_epoch_microseconds(timestamp: datetime) -> int:
    """Return the number of microseconds since 1970, by which Arrow stores a timestamp."""
    return (timestamp - _EPOCH) // _ONE_MICROSECOND


_TIME_CACHE_BY_DTYPE = {
    "date": _TimeCache(_DATE_PATTERN, lambda text: _to_epoch_days(date.fromisoformat(text))),
    "timestamp": _TimeCache(
        _TIMESTAMP_PATTERN, lambda text: _to_epoch_microseconds(datetime.fromisoformat(text))
    ),
}


def _check_text(value: Any) -> str:
    """Return a text unchanged; raise ValueError for another value or invalid Unicode."""
    if type(value) is not str or not is_utf8_encodable(value):
        raise ValueError
    return value


def _check_texts(value: Any) -> Any:
    """Return a list of texts and nulls unchanged; raise ValueError for any other value."""
    if type(value) is not list:
        raise ValueError
    return [None if text is None else _check_text(text) for text in value]


def _to_exact_integer(value: Any) -> int:
    """Return a whole number as an int; raise ValueError for any other value."""
    if type(value) is float and value.is_integer() and abs(value) <= MAX_EXACT_FLOAT:
        value = int(value) if value or copysign(1, value) > 0 else None  # no integer is -0.0
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError
    return value


def _to_exact_float(value: Any) -> float:
    """Return a number as a float; raise ValueError if a float cannot hold it exactly."""
    if type(value) is float or (type(value) is int and abs(value) <= MAX_EXACT_FLOAT):
        return float(value)
    raise ValueError


_NON_TEXT_TYPES_BY_DTYPE: dict[str, set[type]] = {
    "Int64": {int},
    "Float64": {float, int},
    "boolean": {bool},
    "list<string>": {list},
}
_EXACT_TYPES_BY_DTYPE = {
    dtype: {*_NON_TEXT_TYPES_BY_DTYPE.get(dtype, {str}), _NULL_TYPE, Missing}
    for dtype in ARROW_TYPE_BY_DTYPE
}
"""Maps each dtype to the Python types that Arrow converts to the dtype without changing values."""

_CONVERTER_BY_DTYPE: dict[str, Callable[[Any], Any]] = {
    "string": _check_text,
    "category": _check_text,
    "Int64": _to_exact_integer,
    "Float64": _to_exact_float,
    "boolean": lambda value: value if type(value) is bool else None,
    "date": lambda value: _TIME_CACHE_BY_DTYPE["date"][_check_text(value)],
    "timestamp": lambda value: _TIME_CACHE_BY_DTYPE["timestamp"][_check_text(value)],
    "list<string>": _check_texts,
}
"""Maps each dtype to a function that converts a value. The function returns None or raises an error
if the value does not fit the dtype.
"""

# --- other notations --------------------------------------------------------------------------

_THOUSANDS_SPACES = "' \u00a0\u2009\u202f\u2019"
_DIGITS_PATTERN = (
    r"\s*#?[+\-\u2212]?(?:[0-9]{{1,3}}(?:[{0}" + _THOUSANDS_SPACES + r"][0-9]{{3}})+|[0-9]+)"
)
MAX_PARSED_LENGTH = 100
"""The maximum length of a text that is parsed, in characters."""
_PATTERN_BY_DECIMAL_MARK = {
    ".": re.compile(_DIGITS_PATTERN.format(",") + r"(?:\.[0-9]+)?\s*%?\s*"),
    ",": re.compile(_DIGITS_PATTERN.format(".") + r"(?:,[0-9]+)?\s*%?\s*"),
}
_NUMBER_CLEANUP_TABLE = str.maketrans(
    {"\u2212": "-", **dict.fromkeys("#+%\t\n\r\f\v" + _THOUSANDS_SPACES)}
)
_ABBREVIATED_NUMBER_PATTERN = re.compile(r"\s*#?([+\-\u2212]?\d+(?:\.\d+)?)\s?([kKmMbB])\s*")
_FACTOR_BY_NUMBER_SUFFIX = {"k": 10**3, "m": 10**6, "b": 10**9}
_BOOL_BY_TEXT = {
    **dict.fromkeys(("true", "yes", "y", "on", "1", "t"), True),
    **dict.fromkeys(("false", "no", "n", "off", "0", "f"), False),
}
_AMOUNT_PATTERN = (
    r"(\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.(?:\d\d?|\d{4,}))?"
    r"|\d{1,3}(?:[.' \u00a0\u2009\u202f]\d{3})*,\d{2}|\d+,\d{2})"
)
_SIGN_PATTERN = r"([+\-\u2212]?)"
_UNIT_PATTERN = r"([^\d\s.,+\-\u2212]{1,4})?"
CURRENCY_SIGNS = "$€£¥₹₩₽₺₪₫₴₦฿"
"""The signs of currencies that are recognized, such as in ``€ 5``."""
_MONEY_PATTERN = re.compile(
    rf"\s*{_SIGN_PATTERN}\s*{_UNIT_PATTERN}\s*{_SIGN_PATTERN}\s*{_AMOUNT_PATTERN}\s*{_UNIT_PATTERN}\s*"
)
_CLOCK_TIME_PATTERN = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")
_ISO_DURATION_PATTERN = re.compile(
    r"p((?:\d+w)?(?:\d+d)?)(?:t((?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?s)?))?"
)
_DURATION_PATTERN = re.compile(r"(?:\s*\d+(?:\.\d+)?\s*[a-z]+)+\s*")
_DURATION_PART_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_SECONDS_BY_UNIT = {unit: float(seconds) for unit, seconds in meaning_by_word("seconds_of").items()}


def _to_number(dtype: str, value: Any) -> Any:
    """Convert a number to a float for the dtype ``Float64``, or to an int for ``Int64``.

    Raise ValueError if that is not exact.
    """
    if dtype == "Float64":
        return _to_exact_float(value)
    return _to_exact_integer(value + 0.0 if type(value) is float else value)


def _parse_number(decimal_mark: str, dtype: str, _year: Any, value: Any) -> Any:
    """Return the number in a text such as ``1,204``, ``34.5%`` or ``1.2k``; else None."""
    if type(value) is not str:
        return _to_number(dtype, value)
    match = _ABBREVIATED_NUMBER_PATTERN.fullmatch(value) if decimal_mark == "." else None
    if match is not None:
        return _to_number(
            dtype,
            float(match[1].translate(_NUMBER_CLEANUP_TABLE))
            * _FACTOR_BY_NUMBER_SUFFIX[match[2].lower()],
        )
    if not _PATTERN_BY_DECIMAL_MARK[decimal_mark].fullmatch(value):
        return None
    number_text = (
        value.translate(_NUMBER_CLEANUP_TABLE)
        .replace(",."[decimal_mark == ","], "")
        .replace(",", ".")
    )
    return (
        _to_exact_integer(int(number_text))
        if dtype == "Int64" and "." not in number_text
        else _to_number(dtype, float(number_text))
    )


def _parse_if_text(parse_text: Callable[[str], Any], dtype: str, _year: Any, value: Any) -> Any:
    """Return the result of the function ``parse_text`` for a text.

    Another value is not parsed: a number is returned if the dtype is ``Float64``, else None.
    """
    if type(value) is str:
        return parse_text(value)
    return _to_number(dtype, value) if dtype == "Float64" else None


def _parse_money(text: str) -> float | None:
    """Return the amount in a price such as ``€ 1,204.50``; None if it is ambiguous or no price."""
    match = _MONEY_PATTERN.fullmatch(text)
    if match is None or (match[1] and match[3]):
        return None
    amount_text = match[4].translate(_NUMBER_CLEANUP_TABLE)
    if re.fullmatch(r"[\d.]*,\d{2}", amount_text):
        amount_text = amount_text.replace(".", "").replace(",", ".")
    amount = float(amount_text.replace(",", ""))
    return -amount if (match[1] or match[3]) in ("-", "\u2212") else amount


def parse_currency(text: str) -> str | None:
    """Return the currency in a price, such as ``EUR`` in ``12 EUR``; None if there is none."""
    match = _MONEY_PATTERN.fullmatch(text)
    return None if match is None else match[2] or match[5]


def _parse_duration(text: str) -> float | None:
    """Return a duration such as ``1m 30s`` in seconds; None for other texts."""
    lower_text = text.strip().lower()
    clock_match = _CLOCK_TIME_PATTERN.fullmatch(lower_text)
    iso_match = _ISO_DURATION_PATTERN.fullmatch(lower_text)
    if clock_match is not None:
        return int(clock_match[1] or 0) * 3600 + int(clock_match[2]) * 60 + float(clock_match[3])
    if iso_match is not None:
        lower_text = iso_match[1] + (iso_match[2] or "")
    numbers_and_unit_names = (
        _DURATION_PART_PATTERN.findall(lower_text)
        if _DURATION_PATTERN.fullmatch(lower_text)
        else []
    )
    if (
        not numbers_and_unit_names
        or not {unit for _, unit in numbers_and_unit_names} <= _SECONDS_BY_UNIT.keys()
    ):
        return None
    numbers_and_seconds = (
        (float(number), _SECONDS_BY_UNIT[unit]) for number, unit in numbers_and_unit_names
    )
    return sum(
        number * seconds if seconds >= 1 else number / 1000
        for number, seconds in numbers_and_seconds
    )


def _parse_as_text(dtype: str, _year: Any, value: Any) -> str | None:
    """Return a number or boolean as JSON text, and a text unchanged; None for other values."""
    if type(value) in (int, float, bool):
        return json.dumps(value)
    return value if type(value) is str else None


def _parse_parts(dtype: str, year: Any, value: Any) -> Any:
    """Return the value that an object gives in parts, such as 0.25 for ``{"num": 1, "den": 4}``.

    The object has a numerator and a denominator, units and nanounits, or the parts of a day. A day
    may also be a list such as ``[2026, 11, 20]``.
    """
    if type(value) is list:
        is_day = [*map(type, value)] == [int] * 3 and 1900 <= value[0] <= 2100
        return _to_epoch_days(date(*value)) if is_day and dtype == "date" else None
    if type(value) is not dict:
        return None
    number_by_name = {
        name: _parse_number(".", dtype, year, part_value)
        for name, part_value in value.items()
        if part_value is not None
    }
    match number_by_name:
        case {"year": year, "month": month, "day": day} if dtype == "date":
            return _to_epoch_days(date(int(year), int(month), int(day)))
        case {"num": num, "den": den} | {"numerator": num, "denominator": den}:
            return num / den if den else MISSING
        # Such as {"units": 1, "nanos": 5}.
        case {"units": _} | {"nanos": _}:
            return number_by_name.get("units", 0) + number_by_name.get("nanos", 0) / 10**9
    return MISSING


def _parse_boolean(dtype: str, _year: Any, value: Any) -> bool | None:
    """Return the boolean that a text such as ``yes``, or 0 or 1, means; None for other values."""
    if type(value) is str:
        return _BOOL_BY_TEXT.get(value.strip().lower())
    return bool(value) if type(value) in (bool, int) and value in (0, 1) else None


_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_DAY_PATTERN = (
    r"(?:(?P<first>\d\d?)\.?[\s-]+)?(?P<name>[A-Za-z]{3,9})\.?(?:\s+(?P<day>\d\d?))?"
)
_PATTERN_BY_DATE_FORMAT = {
    "YYYYMMDD": r"(?P<year>\d{4})(?:(?=\d{4}(?:00)?$)|[/.年])"
    r"(?P<month>\d\d?)[/.月]?(?P<day>\d\d?)(?:日|00)?",
    "DD/MM/YYYY": r"(?P<day>\d\d?)([/.\-])(?P<month>\d\d?)\2(?P<year>\d{4})",
    "MM/DD/YYYY": r"(?P<month>\d\d?)([/.\-])(?P<day>\d\d?)\2(?P<year>\d{4})",
    "zoned day": r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:Z|[+-]\d\d:?\d\d)",
    "iso week": r"(?P<year>\d{4})-?W(?P<week>\d\d)",
    "iso month": r"(?P<year>[12]\d{3})-(?:(?P<month>\d\d)|Q(?P<quarter>[1-4]))",
    "month day": _MONTH_DAY_PATTERN,
    "month day year": _MONTH_DAY_PATTERN + r",?[\s-]+(?P<year>\d{4})",
}
"""Regular expressions for days, by notation; weeks, months and quarters mean their first day."""


def _parse_day(
    day_pattern: re.Pattern[str], dtype: str, year_or_day: Any, value: Any
) -> int | None:
    """Return a day as the integer by which Arrow stores it; None if the value is no day.

    For the dtype ``timestamp``, the result stands for midnight. ``day_pattern`` is one of
    `_PATTERN_BY_DATE_FORMAT`. If the day is written without its year, ``year_or_day`` is the year,
    or the latest day that it can be.
    """
    match = day_pattern.fullmatch(str(value).strip()) if type(value) in (str, int) else None
    if match is None:
        return None
    date_parts = match.groupdict()
    if "name" in date_parts:
        month_name = date_parts["name"][:3].lower()
        if month_name not in _MONTH_NAMES or bool(date_parts["first"]) == bool(date_parts["day"]):
            return None
        date_parts["month"] = _MONTH_NAMES.index(month_name) + 1
        date_parts["day"] = date_parts["first"] or date_parts["day"]
    if date_parts.get("quarter"):
        date_parts["month"] = 3 * int(date_parts["quarter"]) - 2
    month = int(date_parts.get("month", 1))
    day_of_month = int(date_parts.get("day", 1))
    if "week" in date_parts:
        parsed_day = date.fromisocalendar(int(date_parts["year"]), int(date_parts["week"]), 1)
    elif "year" in date_parts:
        parsed_day = date(int(date_parts["year"]), month, day_of_month)
    elif year_or_day is None:
        return None
    else:  # in that year, or the last time before that day
        latest_day = date.fromisoformat(
            f"{year_or_day}-12-31" if len(str(year_or_day)) == 4 else str(year_or_day)[:10]
        )
        is_after_latest = (month, day_of_month) > (latest_day.month, latest_day.day)
        parsed_day = date(latest_day.year - is_after_latest, month, day_of_month)
    return _to_epoch_days(parsed_day) * (1 if dtype == "date" else 86_400_000_000)


def _parse_utc_timestamp(dtype: str, _year: Any, value: Any) -> int | None:
    """Return a timestamp as the integer by which Arrow stores it; the default time zone is UTC."""
    if type(value) is not str or len(value) < 16 or value[10] not in "T ":
        return None
    timestamp = datetime.fromisoformat(value)
    timestamp = (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).astimezone(UTC)
    return _to_epoch_days(timestamp) if dtype == "date" else _to_epoch_microseconds(timestamp)


_EPOCH_TEXT_PATTERN = re.compile(
    r"(?:/Date\()?(-?[0-9]{1,20}(\.[0-9]*)?((?<=[0-9])E[0-9])?)(?:[+-][0-9]{4})?(?:\)/)?", re.I
)


def _parse_epoch(
    units_per_second: int | Fraction, dtype: str, _year: Any, value: Any
) -> int | None:
    """Return a Unix time as the integer by which Arrow stores it; None for other values.

    ``units_per_second`` is the number of the time's units in a second: 1000 for milliseconds.
    """
    if type(value) is str:
        match = _EPOCH_TEXT_PATTERN.fullmatch(value)
        value = (
            None if match is None else float(match[1]) if match[2] or match[3] else int(match[1])
        )
    elif type(value) is float and (dtype == "date" or units_per_second == 1000):
        value = _to_exact_integer(value)
    if type(value) not in (int, float):
        return None
    microseconds: int = round(value * Fraction(1_000_000) / units_per_second)
    _EPOCH + microseconds * _ONE_MICROSECOND  # raises where there is no such moment
    return microseconds if dtype == "timestamp" else microseconds // 86_400_000_000


_PARSER_BY_NOTATION: dict[str, Callable[[str, Any, Any], Any]] = {
    "number": partial(_parse_number, "."),
    "decimal comma": partial(_parse_number, ","),
    "money": partial(_parse_if_text, _parse_money),
    "currency": partial(_parse_if_text, parse_currency),
    "any": _parse_as_text,
    "duration": partial(_parse_if_text, _parse_duration),
    "parts": _parse_parts,
    "boolean": _parse_boolean,
    **{
        notation: partial(_parse_day, re.compile(regex, re.ASCII))
        for notation, regex in _PATTERN_BY_DATE_FORMAT.items()
    },
    "utc": _parse_utc_timestamp,
    "epoch s": partial(_parse_epoch, 1),
    "epoch ms": partial(_parse_epoch, 1000),
    "epoch ns": partial(_parse_epoch, 10**9),
    "epoch days": partial(_parse_epoch, Fraction(1, 86400)),
}
"""Maps each notation to the function that parses a value. Its arguments are the dtype, the year (or
a day in it) and the value.
"""
