"""Find how values are to be parsed: numbers in text, dates, flags in words, sentinels.

A reading says how to declare a column, and what was set aside as missing. Nothing is read as a
number that is an identifier, and a sentinel is one only where it breaks the range of the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from aatoolkit.jsontree.text_values import money
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.text_formats import (
    COMPACT,
    DECIMAL_COMMA,
    DURATION,
    MONEY,
    NUMBER,
    POINTS,
    amount,
    day_texts,
    decimal_comma,
    decimal_mark,
    flag_texts,
    is_nothing,
    may_be,
    parse_number,
    seconds,
    text_decimals,
)
from aatoolkit.sections.inference.words import is_flag_name, is_id_name, is_time_name, meaning

_LEAST_DAYS = 5
_LEAST_HOURS = 3
_BIG_SENTINELS = (999, 9999, 99999, 999999, -999, -9999, -99)


@dataclass(frozen=True)
class FieldReading:
    """The parser of a column's values, and the numbers that it gives.

    Attributes
    ----------
    dtype : str
        The dtype of the column.
    parse : str or None
        How text becomes such values, in the words of `Column.parse`.
    missing : tuple
        Values that stand for a missing one.
    evidence : str
        What was seen.
    percent : bool
        Whether the texts carry a per cent sign.
    ordinal : bool
        Whether the texts are places, such as ``#3``.
    decimals : int
        The most decimals of a number.
    year : str or None
        Where the answer says the year of days that have none.
    numbers : array of float
        The numbers, NaN where there is none; empty for other dtypes.
    """

    dtype: str
    parse: str | None = None
    missing: tuple[Any, ...] = ()
    evidence: str = ""
    percent: bool = False
    ordinal: bool = False
    decimals: int = 0
    year: str | None = None
    numbers: np.ndarray[Any, np.dtype[np.float64]] = field(default_factory=lambda: np.empty(0))

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype in ("Int64", "Float64")


def read_values(values: list[Any], name: str, label: bool = False) -> FieldReading:
    """Find how to parse the values of a column, by the values first and the name second.

    Parameters
    ----------
    values : list
        JSON values, `MISSING` where there is none.
    name : str
        The column's name.
    label : bool
        Whether the values are keys of a map or labels of an axis, which are text.

    Examples
    --------
    >>> one = read_values(["1,204", "n/a", "17"], "hits")
    >>> one.dtype, one.parse, one.missing
    ('Int64', 'number', ('n/a',))
    >>> read_values([4, -1, 7, 9, 12], "position").missing
    (-1,)
    >>> read_values(["20261103", "20261104"], "lastSeen").parse
    'YYYYMMDD'
    """
    there = [one for one in values if one is not MISSING and one is not None]
    kinds = set(map(type, there))
    if not kinds:
        dtype = _dtype_by_name(name)
        return FieldReading(
            dtype, evidence="no value in any answer", numbers=np.full(len(values), np.nan)
        )
    if kinds in ({list}, {bool}):
        is_list = kinds == {list}
        return FieldReading("list<string>" if is_list else "boolean", evidence="JSON's own type")
    if kinds <= {int, float}:
        return _number(values, there, name)
    if kinds == {str}:
        return _text(values, there, name)
    if kinds <= {str, int, float}:
        words = {one for one in there if type(one) is str}
        if all(map(is_nothing, words)):
            rest = [one for one in values if type(one) is not str]
            found = _number(rest, [one for one in there if type(one) is not str], name)
            kept = (*found.missing, *sorted(words))
            numbers = _floats(values, lambda one: None if type(one) is str else one, kept)
            return replace(found, missing=kept, numbers=numbers)
        if all(NUMBER.fullmatch(word.strip()) or is_nothing(word) for word in words):
            return _parsed(values, there, "number", parse_number)
    return FieldReading("string", evidence="values of several kinds")


def _number(values: list[Any], there: list[Any], name: str) -> FieldReading:
    whole = all(type(one) is int or float(one).is_integer() for one in there)
    distinct = set(there)
    if distinct <= {0, 1} and is_flag_name(name) and whole:
        return FieldReading("boolean", "boolean", evidence="0 and 1 under the name of a flag")
    missing = _sentinels(there, name)
    days = distinct - {*missing}
    is_moment = meaning(name).kind in ("", "time", "id", "rank") or is_time_name(name)
    if whole and days and is_moment:
        moment = _moment(days, is_time_name(name))
        if moment is not None:
            return replace(moment, missing=missing)
    kept = [one for one in there if one not in missing]
    decimals = max((_decimals(one) for one in kept), default=0)
    integers = all(type(one) is int for one in kept)
    evidence = f"{len(kept)} numbers from {min(kept):g} to {max(kept):g}" if kept else "numbers"
    if missing:
        evidence += f"; {', '.join(map(str, missing))} breaks the range of the rest"
    numbers = _floats(values, float, missing)
    dtype = "Int64" if integers else "Float64"
    return FieldReading(dtype, None, missing, evidence, decimals=decimals, numbers=numbers)


def _moment(distinct: set[Any], named: bool) -> FieldReading | None:
    """Detect days or instants written as whole numbers."""
    low, high = min(distinct), max(distinct)
    if low >= 1_000_000_000_000 and high < 2_200_000_000_000:
        return FieldReading("timestamp", "epoch ms", evidence="milliseconds since 1970")
    # Of numbers in this range one in thirty is a day by chance.
    if (named or len(distinct) >= _LEAST_DAYS) and low >= 19_000_101 and high <= 21_001_231:
        days = all(COMPACT.fullmatch(str(int(one))) for one in distinct)
        return FieldReading("date", "YYYYMMDD", evidence="days as YYYYMMDD") if days else None
    hours = len(distinct) >= _LEAST_HOURS and all(one % 3600 == 0 for one in distinct)
    if (named or hours) and low >= 900_000_000 and high < 2_200_000_000:
        return FieldReading("timestamp", "epoch s", evidence="seconds since 1970")
    return None


def _sentinels(there: list[Any], name: str) -> tuple[Any, ...]:
    """Find numbers that stand for missing: they are outside the range of the rest."""
    kind = meaning(name).kind
    distinct = set(there)
    negative = {one for one in distinct if one < 0}
    if kind not in ("change", "score") and "net" not in name:
        if negative == {-1} and len(distinct) > 1:
            return (-1,)
        if len(negative) == 1 and negative <= {-99, -999, -9999} and len(distinct) > 1:
            return tuple(negative)
    for one in _BIG_SENTINELS:
        rest = [abs(each) for each in distinct if each != one]
        if one in distinct and len(rest) >= 3 and abs(one) >= 10 * max(rest):
            return (one,)
    return ()


def _text(values: list[Any], there: list[str], name: str) -> FieldReading:
    counts = Counter(there)
    nothing = set(filter(is_nothing, counts))
    empty = tuple(sorted(nothing))
    rest = [word.strip() for word in counts if word not in nothing]
    if not rest:
        return FieldReading("string", None, empty, "no value in any answer")
    for words in (day_texts(rest, name), flag_texts(rest, name)):
        if words is not None:
            dtype, parse, evidence = words
            return FieldReading(dtype, parse, empty, evidence)
    if not is_id_name(name) and not any(re.fullmatch(r"0\d+", word) for word in rest):
        mark = decimal_mark(rest, name)
        if mark is None:
            evidence = f"numbers such as {rest[0]!r} may be read in two ways"
            return FieldReading("string", None, empty if "" in empty else (), evidence)
        if mark == "." and all(NUMBER.fullmatch(word) for word in rest):
            return _parsed(values, there, "number", parse_number, empty)
        if all(
            DECIMAL_COMMA.fullmatch(word) or POINTS.fullmatch(word) or word.isdigit()
            for word in rest
        ):
            return _parsed(values, there, "decimal comma", decimal_comma, empty)
        if all(MONEY.fullmatch(word) and money(word) is not None for word in rest):
            found = _parsed(values, there, "money", amount, empty)
            return replace(found, dtype="Float64", evidence="amounts with a currency")
        if all(DURATION.fullmatch(word) and word not in ("P", "PT") for word in rest):
            found = _parsed(values, there, "duration", seconds, empty)
            return replace(found, dtype="Float64", evidence="durations in words")
    evidence = f"text, {len(counts)} different"
    if not is_id_name(name):
        evidence = may_be(rest) or evidence
    return FieldReading("string", None, ("",) if "" in empty else (), evidence)


def _parsed(
    values: list[Any], there: list[Any], parse: str, number: Any, empty: tuple[Any, ...] = ()
) -> FieldReading:
    texts = [one for one in there if type(one) is str and not is_nothing(one)]
    empty = empty or tuple(sorted({one for one in there if type(one) is str and is_nothing(one)}))
    percent = bool(texts) and all("%" in one for one in texts)
    numbers = _floats(values, number, ())
    kept = numbers[~np.isnan(numbers)]
    mark = "," if parse == "decimal comma" else "."
    decimals = max((text_decimals(one, mark) for one in texts), default=0)
    whole = decimals == 0 and bool((kept == np.floor(kept)).all()) if len(kept) else True
    evidence = f"numbers in text, such as {texts[0]!r}" if texts else "numbers in text"
    if empty:
        evidence += f"; {', '.join(map(repr, empty))} for none"
    return FieldReading(
        "Int64" if whole and not percent else "Float64",
        parse,
        empty,
        evidence,
        percent,
        bool(texts) and all(one.strip().startswith("#") for one in texts),
        decimals,
        numbers=numbers,
    )


def _floats(values: list[Any], number: Any, missing: tuple[Any, ...]) -> Any:
    if not missing and number is float and set(map(type, values)) <= {int, float}:
        return np.fromiter(values, np.float64, len(values))
    found = np.full(len(values), np.nan)
    for at, one in enumerate(values):
        if one is not MISSING and one is not None and one not in missing:
            value = number(one)
            found[at] = np.nan if value is None else value
    return found


def _dtype_by_name(name: str) -> str:
    """The dtype of a column without any value."""
    kind = "flag" if is_flag_name(name) else meaning(name).kind
    if kind in ("flag", "count", "rank", "milliseconds", "bytes"):
        return "boolean" if kind == "flag" else "Int64"
    return "Float64" if kind in ("share", "score", "position", "money", "change") else "string"


def _decimals(value: Any) -> int:
    if type(value) is int:
        return 0
    text = repr(float(value))
    return len(text.partition(".")[2]) if "e" not in text and not text.endswith(".0") else 0
