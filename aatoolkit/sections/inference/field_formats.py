"""Find how to parse the values of a column, such as numbers, days or booleans in text.

>>> find_field_format(["1,204", "n/a", "17"], "hits").parse
'number'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.lexicon import ends_with_word_of, has_word_of, read_text_table, words_of
from aatoolkit.jsontree.coerce import (
    CURRENCY_SIGNS,
    MAX_PARSED_LENGTH,
    parse_currency,
    parse_values,
)
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.words import (
    classify_name,
    is_flag_name,
    is_id_name,
    is_time_name,
)

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

NO_VALUE_REASON = "no value in any response"
_TRIAL_YEAR = "2024"
"""The year for days without one, such as ``Nov 3``, if they are parsed as a test."""

_DOT_GROUPS_PATTERN = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
_COMMA_THOUSANDS_PATTERN = re.compile(r"[+\-\u2212]?\d{1,3},\d{3}")
_CURRENCY_SIGN_PATTERN = re.compile(rf"[{CURRENCY_SIGNS}]|[A-Z]{{3}}|kr\.?|zł|Kč|Ft")

_UNITS_PER_DAY_BY_PARSE = {"epoch s": 86_400, "epoch ms": 86_400_000}

TimeFormat = tuple[str, str | None, str, bool, str]
_TIME_FORMATS: list[TimeFormat] = [
    (dtype, None if parse == "-" else parse, form, named == "yes", evidence)
    for dtype, parse, named, evidence, form in read_text_table(
        Path(__file__).with_name("time_notations.txt")
    )
]
"""The notations of dates and times that are tried, in this order.

Each is a tuple: dtype; notation, as `Column.parse`; regular expression; whether the notation is
tried only if the name of the column suggests a time; description.
"""


@dataclass(frozen=True)
class FieldFormat:
    """The dtype and notation of the values of a column, and the parsed numbers.

    Attributes
    ----------
    dtype : str
        The dtype of the column, such as ``Int64``.
    parse, missing, year
        The notation, the values that mean a missing value, and the path to the year of days such as
        ``Nov 3``; as in `Column`.
    reason : str
        Why the values are parsed so, as text for people, such as ``text, 3 different``.
    has_percent_sign, is_ordinal : bool
        Whether the texts have a percent sign, and whether they are ranks such as ``#3``.
    max_decimals : int
        The maximum number of digits after the decimal point.
    numbers : array of float
        The parsed numbers, one for each row; NaN for rows without a number. Empty if the column
        holds no numbers.
    """

    dtype: str
    parse: str | None = None
    missing: tuple[Any, ...] = ()
    reason: str = ""
    has_percent_sign: bool = False
    is_ordinal: bool = False
    max_decimals: int = 0
    year: str | None = None
    numbers: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype in ("Int64", "Float64")

    @property
    def is_text(self) -> bool:
        """Whether the column has texts that are kept as text, and not parsed."""
        return self.dtype == "string" and self.parse is None


def find_field_format(values: Sequence[Any], name: str) -> FieldFormat:
    """Find how to parse the values of a column, from the values and the column's name.

    Parameters
    ----------
    values : sequence
        The values as in the JSON, one for each row; `MISSING` where the field is absent.
    name : str
        The name of the column.

    Returns
    -------
    FieldFormat
        The dtype, the notation, and the parsed numbers.

    Examples
    --------
    >>> hits_format = find_field_format(["1,204", "n/a", "17"], "hits")
    >>> hits_format.dtype, hits_format.parse, hits_format.missing
    ('Int64', 'number', ('n/a',))
    >>> find_field_format([4, -1, 7, 9, 12], "position").missing
    (-1,)
    >>> find_field_format(["20261103", "20261104"], "lastSeen").parse
    'YYYYMMDD'
    """
    present_values = [value for value in values if value is not MISSING and value is not None]
    value_types = {*map(type, present_values)}
    if not value_types:
        return FieldFormat("string", reason=NO_VALUE_REASON)
    if value_types == {list} and _parse_all(values, "date", "parts", ()) is not None:
        return FieldFormat("date", "parts", reason="year, month and day in a list")
    if value_types in ({list}, {bool}):
        return FieldFormat(
            "boolean" if value_types == {bool} else "list<string>", reason="JSON's own"
        )
    if value_types == {dict}:
        if "year" in present_values[0]:
            return FieldFormat("date", "parts", reason="year, month and day")
        fraction_values = _to_floats(_parse_all(values, "Float64", "parts", ()))
        return FieldFormat(
            "Float64", "parts", reason="two parts", max_decimals=9, numbers=fraction_values
        )
    are_all_scalars = value_types <= {str, int, float, bool}
    mixed_values_format = FieldFormat(
        "string", "any" if are_all_scalars else None, reason="values of several kinds"
    )
    if not value_types <= {str, int, float}:
        return mixed_values_format
    stripped_text_by_text = {value: value.strip() for value in present_values if type(value) is str}
    lower_null_words = words_of("nothing") | {""}
    null_words = (
        *sorted(
            word
            for word in stripped_text_by_text
            if stripped_text_by_text[word].lower() in lower_null_words
        ),
    )
    texts = [text for word, text in stripped_text_by_text.items() if word not in null_words]
    numbers = [value for value in present_values if type(value) is not str]
    if texts and numbers:
        return _try_number_format(values, texts, "number", null_words) or mixed_values_format
    if texts:
        return _find_text_format(values, texts, name, null_words)
    if numbers:
        return _find_number_format(values, numbers, name, null_words)
    return FieldFormat("string", missing=null_words, reason=NO_VALUE_REASON)


def _parse_all(values: Sequence[Any], dtype: str, parse: str | None, missing_values: Any) -> Any:
    """Parse values; return an Arrow array, or None if a value does not fit the notation.

    The arguments ``dtype``, ``parse`` (the notation) and ``missing_values`` are as in `Column`.
    """
    reading = Reading(dtype, parse, missing=missing_values)
    parsed_values = parse_values(values, reading, _TRIAL_YEAR)
    return None if parsed_values.invalid_positions else parsed_values.array


# --- numbers ------------------------------------------------------------------------------------


def _find_number_format(
    values: Sequence[Any], present_numbers: list[Any], name: str, null_words: tuple[str, ...]
) -> FieldFormat:
    """Find how to parse JSON numbers: as numbers, days, instants or booleans.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    present_numbers : list
        The numbers among them.
    name : str
        The name of the column.
    null_words : tuple of str
        The texts among the values, which mean missing values.
    """
    distinct_numbers = {*present_numbers}
    if distinct_numbers <= {0, 1} and is_flag_name(name):
        return FieldFormat("boolean", "boolean", reason="0 and 1 under the name of a flag")
    may_be_negative = classify_name(name).kind in ("change", "score")
    negative_numbers = {value for value in distinct_numbers if value < 0}
    missing_numbers = (
        (-1,) if negative_numbers == {-1} != distinct_numbers and not may_be_negative else ()
    )
    missing_values = (*missing_numbers, *null_words)
    regular_numbers = distinct_numbers.difference(missing_numbers)
    epoch_format = _find_time_format(regular_numbers, name)
    if epoch_format is not None:
        return replace(epoch_format, missing=missing_values)
    reason = (
        f"{len(present_numbers)} numbers from {min(regular_numbers):g} to {max(regular_numbers):g}"
    )
    reason += f"; {missing_numbers[0]} breaks the range of the rest" if missing_numbers else ""
    dtype = "Int64" if all(type(value) is int for value in regular_numbers) else "Float64"
    max_decimals = max(map(_count_decimals, regular_numbers))
    numbers = _to_floats(parse_values(values, Reading(dtype, missing=missing_values)).array)
    return FieldFormat(
        dtype, None, missing_values, reason, max_decimals=max_decimals, numbers=numbers
    )


def _find_time_format(numbers: set[Any], name: str) -> FieldFormat | None:
    """Find how to parse whole numbers that are days or instants; return None for other numbers."""
    has_time_name = is_time_name(name)
    are_whole_numbers = all(float(value).is_integer() for value in numbers)
    # Hours to the second or millisecond are no numbers of anything else.
    are_full_hours = len(numbers) >= 3 and all(value % 3600 == 0 for value in numbers)
    may_be_time = (
        has_time_name or are_full_hours or classify_name(name).kind in ("", "time", "id", "rank")
    )
    if not (are_whole_numbers and may_be_time):
        return None
    # One in thirty numbers of that range is a day by chance.
    is_likely_by_parse = {
        "YYYYMMDD": len(numbers) >= 5,
        "epoch ms": True,
        "epoch s": are_full_hours or has_word_of(name, "time"),
    }
    texts = [str(int(value)) for value in numbers]
    for time_format in _TIME_FORMATS:
        if time_format[3] and (has_time_name or is_likely_by_parse.get(str(time_format[1]))):
            field_format = _try_time_format(texts, texts, time_format, ())
            if field_format is not None:
                units_per_day = _UNITS_PER_DAY_BY_PARSE.get(str(field_format.parse), np.inf)
                are_days = len(numbers) >= 3 and not any(value % units_per_day for value in numbers)
                return replace(field_format, dtype="date") if are_days else field_format
    return None


def _try_time_format(
    values: Sequence[Any], texts: list[str], time_format: TimeFormat, null_words: tuple[str, ...]
) -> FieldFormat | None:
    """Try to parse values as days or instants in one notation; return None if they do not fit.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The values that are not missing, as text.
    time_format : tuple
        The notation, one of `_TIME_FORMATS`.
    null_words : tuple of str
        The texts that mean missing values.
    """
    dtype, parse, pattern, _, reason = time_format
    do_texts_match = all(re.fullmatch(pattern, text, re.S) for text in texts)
    if not do_texts_match or _parse_all(values, dtype, parse, null_words) is None:
        return None
    return FieldFormat(dtype, parse, null_words, reason)


def _count_decimals(value: Any) -> int:
    """Return the number of digits that a number has after the decimal point.

    Examples
    --------
    >>> _count_decimals(0.25), _count_decimals(3.0), _count_decimals(3)
    (2, 0, 0)
    """
    return len(repr(value).removesuffix(".0").partition(".")[2])


def _to_floats(array: Any) -> FloatArray:
    """Convert an Arrow array of numbers to a NumPy array of floats, with NaN for null."""
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)


# --- texts --------------------------------------------------------------------------------------


def _find_text_format(
    values: Sequence[Any], texts: list[str], name: str, null_words: tuple[str, ...]
) -> FieldFormat:
    """Find how to parse texts: as days, instants, booleans, numbers, money, or not at all.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The texts among them that do not mean a missing value.
    name : str
        The name of the column.
    null_words : tuple of str
        The texts that mean missing values.
    """
    missing_values = tuple(word for word in null_words if word == "")
    text_format = FieldFormat("string", None, missing_values, f"text, {len(texts)} different")
    if any(len(text) > MAX_PARSED_LENGTH for text in texts):
        return text_format
    time_formats = [
        field_format
        for time_format in _TIME_FORMATS
        if (not time_format[3] or is_time_name(name))
        and (field_format := _try_time_format(values, texts, time_format, null_words))
    ]
    if {"DD/MM/YYYY", "MM/DD/YYYY"} <= {time_format.parse for time_format in time_formats}:
        return replace(text_format, reason="text; may be days, day or month first")
    if time_formats:
        return time_formats[0]
    lower_texts = {text.lower() for text in texts}
    is_flag_column = is_flag_name(name)
    has_two_values = len(lower_texts) == 2 and not lower_texts & {"0", "1"}
    if (has_two_values or is_flag_column) and _parse_all(
        values, "boolean", "boolean", null_words
    ) is not None:
        return FieldFormat("boolean", "boolean", null_words, "yes and no in words")
    is_id_column = is_id_name(name) or (texts[0][:1] == "#" and ends_with_word_of(name, "naming"))
    if is_id_column or any(re.fullmatch(r"0\d+", text) for text in texts):
        return text_format
    notations = _find_possible_notations(texts, name)
    if not notations:
        reason = f"text; may be numbers, such as {texts[0]!r}, in two ways"
        return replace(text_format, reason=reason)
    # In ``ACC-313`` the letters are no currency.
    price_texts = [
        text
        for text in texts
        if _CURRENCY_SIGN_PATTERN.fullmatch(parse_currency(text) or "")
        and not re.fullmatch(r"[A-Z]{3}-\d+", text)
    ]
    for notation in [*notations, *["money"] * (price_texts == texts)]:
        field_format = _try_number_format(values, texts, notation, null_words)
        if field_format is not None:
            return field_format
    number_texts = [text for text in texts if text in price_texts or any(
        _try_number_format([text], [text], notation, ()) for notation in notations)]  # fmt: skip
    if 2 * len(number_texts) >= len(texts):
        reason = f"text; some may be numbers, such as {number_texts[0]!r}"
        return replace(text_format, reason=reason)
    return text_format


def _find_possible_notations(texts: list[str], name: str) -> list[str]:
    """Return the notations of numbers to try on texts, as values of `Column.parse`.

    The list is empty if texts such as ``1.204`` could be read in two notations.
    """
    name_meaning = classify_name(name)
    has_small_numbers = name_meaning.kind in words_of("small_kind") or name_meaning.is_mean
    notations = ["number", "decimal comma", "duration"]
    dotted_texts = [text for text in texts if "." in text]
    if (
        dotted_texts
        and not any("," in text for text in texts)
        and all(map(_DOT_GROUPS_PATTERN.fullmatch, dotted_texts))
    ):
        is_count_or_bytes = name_meaning.kind in ("count", "bytes") and not name_meaning.is_mean
        if is_count_or_bytes or any(text.count(".") > 1 for text in dotted_texts):
            return notations[1:]
        # If a number above 999 has no point, points are decimal signs.
        has_plain_thousands = any(text.isdigit() and len(text) > 3 for text in texts)
        return notations if has_small_numbers or has_plain_thousands else []
    return notations[has_small_numbers and all(map(_COMMA_THOUSANDS_PATTERN.fullmatch, texts)) :]


def _try_number_format(
    values: Sequence[Any], texts: list[str], parse: str, null_words: tuple[str, ...]
) -> FieldFormat | None:
    """Try to parse texts as numbers in a notation; return None if one of them is no number.

    Parameters
    ----------
    values : sequence
        The values, one for each row.
    texts : list of str
        The texts among them that do not mean a missing value.
    parse : str
        The notation, such as ``decimal comma``.
    null_words : tuple of str
        The texts that mean missing values.
    """
    decimal_mark = {"number": "[.]", "decimal comma": ","}.get(parse, "[.,]")
    number_matches = filter(
        None, (re.search(rf"{decimal_mark}(\d+)\s?\D*$", text) for text in texts)
    )
    max_decimals = max((len(match[1]) for match in number_matches), default=0)
    is_percent = all("%" in text for text in texts)
    are_whole_numbers = parse in ("number", "decimal comma") and not is_percent and not max_decimals
    for dtype in ("Int64", "Float64") if are_whole_numbers else ("Float64",):
        parsed_numbers = _parse_all(values, dtype, parse, null_words)
        if parsed_numbers is not None:
            reason = f"numbers in text, such as {texts[0]!r}"
            is_ordinal = all(text.startswith("#") for text in texts)
            return FieldFormat(
                dtype, parse, null_words, reason, is_percent, is_ordinal, max_decimals,
                numbers=_to_floats(parsed_numbers),
            )  # fmt: skip
    return None
