"""Find how to parse the values of a column, such as numbers, days or booleans in text.

>>> read_values(["1,204", "n/a", "17"], "hits").parse
'number'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.lexicon import ends_with_word_of, has_word_of, read_text_table, words_of
from aatoolkit.jsontree.coerce import CURRENCY_SIGNS, LONGEST, currency, read_as
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.words import is_flag_name, is_id_name, is_time_name, meaning_of

Numbers = np.ndarray[Any, np.dtype[np.float64]]

NO_VALUE = "no value in any response"
_GROUPS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
_THOUSANDS_BY_COMMA = re.compile(r"[+\-\u2212]?\d{1,3},\d{3}")
_CURRENCY = re.compile(rf"[{CURRENCY_SIGNS}]|[A-Z]{{3}}|kr\.?|zł|Kč|Ft")
_SMALL_KINDS = ("position", "rank", "share", "score", "probability", "milliseconds", "seconds")

TimeFormat = tuple[str, str | None, str, bool, str]
_TIME_FORMATS: list[TimeFormat] = [
    (dtype, None if parse == "-" else parse, form, named == "yes", evidence)
    for dtype, parse, named, evidence, form in read_text_table(
        Path(__file__).with_name("time_notations.txt")
    )
]
"""The notations of dates and times that are tried: dtype, ``parse``, regular expression, whether
the column's name must announce a time, and a description.
"""


@dataclass(frozen=True)
class FieldReading:
    """How to parse the values of a column, and the parsed numbers.

    Attributes
    ----------
    dtype : str
        The dtype of the column, such as ``Int64``.
    parse, missing, year
        The notation, the values that mean a missing value, and the path to the year; as in
        `Column`.
    evidence : str
        The reason, as text for people, such as ``numbers in text, such as '1,204'``.
    percent, ordinal : bool
        Whether the texts have a percent sign, and whether they are ranks such as ``#3``.
    decimals : int
        The maximum number of digits after the decimal point.
    numbers : array of float
        The parsed numbers, one for each row; NaN for rows without a number. Empty if the column
        holds no numbers.
    """

    dtype: str
    parse: str | None = None
    missing: tuple[Any, ...] = ()
    evidence: str = ""
    percent: bool = False
    ordinal: bool = False
    decimals: int = 0
    year: str | None = None
    numbers: Numbers = field(default_factory=lambda: np.empty(0))

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype in ("Int64", "Float64")

    @property
    def is_text(self) -> bool:
        """Whether the column has texts that are not converted."""
        return self.dtype == "string" and self.parse is None


def read_values(values: Sequence[Any], name: str) -> FieldReading:
    """Find how to parse the values of a column, from the values and the column's name.

    Parameters
    ----------
    values : sequence
        The values as in the JSON, one for each row; `MISSING` where the field is absent.
    name : str
        The name of the column.

    Returns
    -------
    FieldReading
        The dtype, the notation, and the parsed numbers.

    Examples
    --------
    >>> reading = read_values(["1,204", "n/a", "17"], "hits")
    >>> reading.dtype, reading.parse, reading.missing
    ('Int64', 'number', ('n/a',))
    >>> read_values([4, -1, 7, 9, 12], "position").missing
    (-1,)
    >>> read_values(["20261103", "20261104"], "lastSeen").parse
    'YYYYMMDD'
    """
    present_values = [value for value in values if value is not MISSING and value is not None]
    value_types = {*map(type, present_values)}
    if not value_types:
        return FieldReading("string", evidence=NO_VALUE)
    if value_types in ({list}, {bool}):
        return FieldReading(
            "boolean" if value_types == {bool} else "list<string>", evidence="JSON's own"
        )
    if value_types == {dict}:
        if "year" in present_values[0]:
            return FieldReading("date", "parts", evidence="year, month and day")
        quotients = _to_floats(_parse_all(values, "Float64", "parts", ()))
        return FieldReading("Float64", "parts", evidence="two parts", decimals=9, numbers=quotients)
    are_scalars = value_types <= {str, int, float, bool}
    mixed_reading = FieldReading(
        "string", "any" if are_scalars else None, evidence="values of several kinds"
    )
    if not value_types <= {str, int, float}:
        return mixed_reading
    stripped_texts = {value: value.strip() for value in present_values if type(value) is str}
    missing_lexicon = words_of("nothing") | {""}
    missing_words = tuple(
        sorted(word for word in stripped_texts if stripped_texts[word].lower() in missing_lexicon)
    )
    texts = [text for word, text in stripped_texts.items() if word not in missing_words]
    numbers = [value for value in present_values if type(value) is not str]
    if texts and numbers:
        return _read_numbers_in_text(values, texts, "number", missing_words) or mixed_reading
    if texts:
        return _read_texts(values, texts, name, missing_words)
    if numbers:
        return _read_numbers(values, numbers, name, missing_words)
    return FieldReading("string", missing=missing_words, evidence=NO_VALUE)


def _parse_all(values: Sequence[Any], dtype: str, parse: str | None, missing_values: Any) -> Any:
    """Parse values; return an Arrow array, or None if a value does not fit the notation.

    The arguments ``dtype``, ``parse`` (the notation) and ``missing_values`` are as in `Column`.
    """
    parsed = read_as(values, Reading(dtype, parse, missing=missing_values))
    return None if parsed.invalid else parsed.array


# --- numbers ------------------------------------------------------------------------------------


def _read_numbers(
    values: Sequence[Any], present_numbers: list[Any], name: str, missing_words: tuple[str, ...]
) -> FieldReading:
    """Find how to parse JSON numbers: as numbers, days, instants or booleans.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    present_numbers : list
        The numbers among them.
    name : str
        The name of the column.
    missing_words : tuple of str
        The texts among the values, which mean missing values.
    """
    distinct_numbers = {*present_numbers}
    if distinct_numbers <= {0, 1} and is_flag_name(name):
        return FieldReading("boolean", "boolean", evidence="0 and 1 under the name of a flag")
    is_signed = meaning_of(name).kind in ("change", "score") or "net" in name
    negative_numbers = {value for value in distinct_numbers if value < 0}
    sentinels = (-1,) if negative_numbers == {-1} != distinct_numbers and not is_signed else ()
    missing_values = (*sentinels, *missing_words)
    regular_numbers = distinct_numbers.difference(sentinels)
    time_reading = _read_times(regular_numbers, name)
    if time_reading is not None:
        return replace(time_reading, missing=missing_values)
    evidence = (
        f"{len(present_numbers)} numbers from {min(regular_numbers):g} to {max(regular_numbers):g}"
    )
    evidence += f"; {sentinels[0]} breaks the range of the rest" if sentinels else ""
    dtype = "Int64" if all(type(value) is int for value in regular_numbers) else "Float64"
    decimals = 0 if dtype == "Int64" else max(map(_count_decimals, regular_numbers))
    numbers = _to_floats(read_as(values, Reading(dtype, missing=missing_values)).array)
    return FieldReading(dtype, None, missing_values, evidence, decimals=decimals, numbers=numbers)


def _read_times(numbers: set[Any], name: str) -> FieldReading | None:
    """Find how to parse whole numbers that are days or instants; return None for other numbers."""
    has_time_name = is_time_name(name)
    is_whole = all(float(value).is_integer() for value in numbers)
    # Hours to the second or millisecond are no numbers of anything else.
    is_hourly = len(numbers) >= 3 and all(value % 3600 == 0 for value in numbers)
    may_be_time = has_time_name or is_hourly or meaning_of(name).kind in ("", "time", "id", "rank")
    if not (is_whole and may_be_time):
        return None
    # One in thirty numbers of that range is a day by chance.
    likely_by_parse = {
        "YYYYMMDD": len(numbers) >= 5,
        "epoch ms": True,
        "epoch s": is_hourly or has_word_of(name, "time"),
    }
    texts = [str(int(value)) for value in numbers]
    for time_format in _TIME_FORMATS:
        if time_format[3] and (has_time_name or likely_by_parse.get(str(time_format[1]))):
            reading = _read_in_format(texts, texts, time_format, ())
            if reading is not None:
                seconds = {"epoch s": 1, "epoch ms": 1000}.get(str(reading.parse), 0) * 86_400
                are_days = seconds and len(numbers) >= 3 and not any(n % seconds for n in numbers)
                return replace(reading, dtype="date") if are_days else reading
    return None


def _read_in_format(
    values: Sequence[Any], texts: list[str], time_format: TimeFormat, missing_words: tuple[str, ...]
) -> FieldReading | None:
    """Try to parse values as days or instants in one notation; return None if they do not fit.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The values that are not missing, as text.
    time_format : tuple
        The notation, one of `_TIME_FORMATS`.
    missing_words : tuple of str
        The texts that mean missing values.
    """
    dtype, parse, pattern, _, evidence = time_format
    is_matching = all(re.fullmatch(pattern, text, re.S) for text in texts)
    if not is_matching or _parse_all(values, dtype, parse, missing_words) is None:
        return None
    return FieldReading(dtype, parse, missing_words, evidence)


def _count_decimals(value: Any) -> int:
    """Return the number of digits that a number has after the decimal point.

    Examples
    --------
    >>> _count_decimals(0.25), _count_decimals(3.0), _count_decimals(3)
    (2, 0, 0)
    """
    text = repr(value)
    is_whole = type(value) is int or "e" in text or text.endswith(".0")
    return 0 if is_whole else len(text.partition(".")[2])


def _to_floats(array: Any) -> Numbers:
    """Convert an Arrow array of numbers to a NumPy array of floats, with NaN for null."""
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)


# --- texts --------------------------------------------------------------------------------------


def _read_texts(
    values: Sequence[Any], texts: list[str], name: str, missing_words: tuple[str, ...]
) -> FieldReading:
    """Find how to parse texts: as days, instants, booleans, numbers, money, or not at all.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The texts among them that do not mean a missing value.
    name : str
        The name of the column.
    missing_words : tuple of str
        The texts that mean missing values.
    """
    missing_values = tuple(word for word in missing_words if word == "")
    text_reading = FieldReading("string", None, missing_values, f"text, {len(texts)} different")
    if any(len(text) > LONGEST for text in texts):
        return text_reading
    readings = (
        _read_in_format(values, texts, time_format, missing_words)
        for time_format in _TIME_FORMATS
        if not time_format[3] or is_time_name(name)
    )
    fitting_readings = [reading for reading in readings if reading is not None]
    if {"DD/MM/YYYY", "MM/DD/YYYY"} <= {reading.parse for reading in fitting_readings}:
        return replace(text_reading, evidence="text; may be days, day or month first")
    if fitting_readings:
        return fitting_readings[0]
    lower_texts, is_flag = {text.lower() for text in texts}, is_flag_name(name)
    has_two_values = len(lower_texts) == 2 and not lower_texts & {"0", "1"}
    if (has_two_values or is_flag) and _parse_all(
        values, "boolean", "boolean", missing_words
    ) is not None:
        return FieldReading("boolean", "boolean", missing_words, "yes and no in words")
    is_id = is_id_name(name) or (texts[0][:1] == "#" and ends_with_word_of(name, "naming"))
    if is_id or any(re.fullmatch(r"0\d+", text) for text in texts):
        return text_reading
    parses = _find_possible_parses(texts, name)
    if not parses:
        evidence = f"text; may be numbers, such as {texts[0]!r}, in two ways"
        return replace(text_reading, evidence=evidence)
    # In ``ACC-313`` the letters are no currency.
    price_texts = [
        text
        for text in texts
        if _CURRENCY.fullmatch(currency(text) or "") and not re.fullmatch(r"[A-Z]{3}-\d+", text)
    ]
    for parse in [*parses, *["money"] * (price_texts == texts)]:
        reading = _read_numbers_in_text(values, texts, parse, missing_words)
        if reading is not None:
            return reading
    number_texts = [text for text in texts if text in price_texts or any(
        _read_numbers_in_text([text], [text], parse, ()) for parse in parses)]  # fmt: skip
    if 2 * len(number_texts) >= len(texts):
        quantifier = "some " * (len(number_texts) < len(texts))
        evidence = f"text; {quantifier}may be numbers, such as {number_texts[0]!r}"
        return replace(text_reading, evidence=evidence)
    return text_reading


def _find_possible_parses(texts: list[str], name: str) -> list[str]:
    """Return the notations of numbers to try on texts, as values of `Column.parse`.

    The list is empty if texts such as ``1.204`` could be read in two notations.
    """
    name_meaning = meaning_of(name)
    has_small_numbers = name_meaning.kind in _SMALL_KINDS or name_meaning.mean
    parses = ["number", "decimal comma", "duration"]
    dotted_texts = [text for text in texts if "." in text]
    if (
        dotted_texts
        and not any("," in text for text in texts)
        and all(map(_GROUPS.fullmatch, dotted_texts))
    ):
        is_counted = name_meaning.kind in ("count", "bytes") and not name_meaning.mean
        if is_counted or any(text.count(".") > 1 for text in dotted_texts):
            return parses[1:]
        # If a number above 999 has no point, points are decimal signs.
        has_plain_thousands = any(text.isdigit() and len(text) > 3 for text in texts)
        return parses if has_small_numbers or has_plain_thousands else []
    return parses[has_small_numbers and all(map(_THOUSANDS_BY_COMMA.fullmatch, texts)) :]


def _read_numbers_in_text(
    values: Sequence[Any], texts: list[str], parse: str, missing_words: tuple[str, ...]
) -> FieldReading | None:
    """Try to parse texts as numbers in a notation; return None if one of them is no number.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The texts among them that do not mean a missing value.
    parse : str
        The notation, such as ``decimal comma``.
    missing_words : tuple of str
        The texts that mean missing values.
    """
    decimal_mark = {"number": "[.]", "decimal comma": ","}.get(parse, "[.,]")
    matches = filter(None, (re.search(rf"{decimal_mark}(\d+)\s?\D*$", text) for text in texts))
    decimals = max((len(match[1]) for match in matches), default=0)
    is_percent = all("%" in text for text in texts)
    is_whole = parse in ("number", "decimal comma") and not is_percent and not decimals
    for dtype in ("Int64", "Float64") if is_whole else ("Float64",):
        array = _parse_all(values, dtype, parse, missing_words)
        if array is not None:
            evidence = f"numbers in text, such as {texts[0]!r}"
            is_ordinal = all(text.startswith("#") for text in texts)
            return FieldReading(
                dtype, parse, missing_words, evidence, is_percent, is_ordinal, decimals,
                numbers=_to_floats(array),
            )  # fmt: skip
    return None


# --- days without a year ------------------------------------------------------------------------


def read_as_month_days(
    values: Iterable[Any], reading: FieldReading, year_path: str
) -> FieldReading:
    """Parse a column as days without a year, such as ``Nov 3``, if all its texts are such days.

    Parameters
    ----------
    values : iterable
        The values, one for each row.
    reading : FieldReading
        How to parse them otherwise.
    year_path : str
        The path to the year in the response, such as ``$.window.end``.

    Returns
    -------
    FieldReading
        How to parse the days, or ``reading``.

    Examples
    --------
    >>> read_as_month_days(["Nov 3", "Nov 4"], FieldReading("string"), "$.to").parse
    'month day'
    """
    texts = [
        value
        for value in values
        if value is not MISSING and value is not None and value not in reading.missing
    ]
    if (
        not texts
        or not all(type(text) is str for text in texts)
        or read_as(texts, Reading("date", "month day"), "2024").invalid
    ):
        return reading
    evidence = f"days without a year, which {year_path} has"
    return replace(reading, dtype="date", parse="month day", year=year_path, evidence=evidence)
