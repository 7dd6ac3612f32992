"""Find how values are to be read: numbers in text, dates, flags in words, sentinels.

A reading says how to declare a column, and what was set aside as missing. Nothing is read as a
number that is an identifier, and a sentinel is one only where it breaks the range of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.jsontree.text_values import (
    compact_day,
    currency,
    day_first,
    duration,
    iso_month,
    iso_week,
    money,
    month_day,
    month_day_year,
    month_first,
    utc_instant,
)
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.words import is_flag_name, is_id_name, is_time_name, meaning

Numbers = np.ndarray[Any, np.dtype[np.float64]]

_FEWEST_DAYS, _FEWEST_HOURS = 5, 3
_SENTINELS = (999, 9999, 99999, 999999, -999, -9999, -99)
_SPACE = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"#?\s?[+\-\u2212±]?\s?(?:\d{{1,3}}(?:[,{_SPACE}'’]\d{{3}})+|\d+)(?:\.\d+)?"
    r"\s?(?:%|[kKM](?!\w))?",
    re.S,
)
_COMMA = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?\s?%?")
_POINTS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
_ONE_COMMA = re.compile(r"[+\-\u2212]?\d{1,3},\d{3}")
_SIGN = re.compile(r"[$€£¥₹₩₽₺₪₫₴₦฿]|[A-Z]{3}|kr\.?|zł|Kč|Ft")
_SMALL = ("position", "rank", "share", "score", "probability", "milliseconds", "seconds")
_YES_NO = {*["yes", "no", "true", "false", "y", "n", "on", "off"]}


@dataclass(frozen=True)
class FieldReading:
    """How a column's values are read, and the numbers that this gives.

    Attributes
    ----------
    dtype, parse, missing, year
        In the words of `Column`.
    evidence : str
        What was seen.
    percent, ordinal : bool
        Whether the texts carry a per cent sign, or are places, such as ``#3``.
    decimals : int
        The most decimals of a number.
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
    numbers: Numbers = field(default_factory=lambda: np.empty(0))

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype in ("Int64", "Float64")

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts as they are."""
        return self.dtype == "string" and self.parse is None


def read_values(values: Sequence[Any], name: str, *, label: bool = False) -> FieldReading:
    """Find how to read the values of a column, by the values first and the name second.

    Parameters
    ----------
    values : sequence
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
    there = [value for value in values if value is not MISSING and value is not None]
    kinds = {*map(type, there)}
    if not kinds:
        empty = np.full(len(values), np.nan)
        return FieldReading(_dtype_of(name), evidence="no value in any answer", numbers=empty)
    if kinds in ({list}, {bool}):
        return FieldReading("boolean" if kinds == {bool} else "list<string>", evidence="JSON's own")
    if not kinds <= {str, int, float}:
        return FieldReading("string", evidence="values of several kinds")
    words = {value: value.strip() for value in there if type(value) is str}
    lacking = lexicon("nothing") | {""}
    nothing = tuple(sorted(word for word in words if words[word].lower() in lacking))
    rest = [words[word] for word in words if word not in nothing]
    numbers = [value for value in there if type(value) is not str]
    if rest and not numbers:
        return _text(values, rest, name, nothing)
    if rest and not all(map(_NUMBER.fullmatch, rest)):
        return FieldReading("string", evidence="values of several kinds")
    if rest:
        return _parsed(values, rest, "number", parse_number, nothing)
    if numbers:
        return _number(values, numbers, name, nothing)
    return FieldReading("string", None, nothing, "no value in any answer")


def _dtype_of(name: str) -> str:
    """The dtype of a column without any value, by its name."""
    kind = meaning(name).kind
    if is_flag_name(name):
        return "boolean"
    if kind in ("count", "rank", "milliseconds", "bytes"):
        return "Int64"
    return "Float64" if kind in ("share", "score", "position", "money", "change") else "string"


# --- numbers ------------------------------------------------------------------------------------


def _number(
    values: Sequence[Any], there: list[Any], name: str, nothing: tuple[str, ...]
) -> FieldReading:
    distinct = {*there}
    is_whole = {*map(type, there)} == {int} or all(float(value).is_integer() for value in distinct)
    if distinct <= {0, 1} and is_flag_name(name) and is_whole:
        return FieldReading("boolean", "boolean", evidence="0 and 1 under the name of a flag")
    missing = _sentinels(distinct, name)
    kept = [value for value in there if value not in missing]
    is_moment = meaning(name).kind in ("", "time", "id", "rank") or is_time_name(name)
    # Hours to the millisecond are no numbers of anything else.
    is_moment |= len(distinct) >= _FEWEST_HOURS and all(n % 3_600_000 == 0 for n in kept)
    moment = _moment({*kept}, is_time_name(name)) if is_whole and kept and is_moment else None
    if moment is not None:
        return replace(moment, missing=(*missing, *nothing))
    evidence = f"{len(kept)} numbers from {min(kept):g} to {max(kept):g}" if kept else "numbers"
    if missing:
        evidence += f"; {', '.join(map(str, missing))} breaks the range of the rest"
    numbers = _floats(values, missing, lambda one: None if type(one) is str else float(one))
    dtype = "Int64" if all(type(value) is int for value in kept) else "Float64"
    decimals = 0 if dtype == "Int64" else max(map(_decimals, {*kept}), default=0)
    missing = (*missing, *nothing)
    return FieldReading(dtype, None, missing, evidence, decimals=decimals, numbers=numbers)


def _sentinels(distinct: set[Any], name: str) -> tuple[Any, ...]:
    """Find numbers that stand for missing: they are outside the range of the rest."""
    negative = {value for value in distinct if value < 0}
    is_signed = meaning(name).kind in ("change", "score") or "net" in name
    if len(negative) == 1 < len(distinct) and negative <= {-1, -99, -999, -9999} and not is_signed:
        return tuple(negative)
    for value in distinct.intersection(_SENTINELS):
        rest = [abs(other) for other in distinct if other != value]
        if len(rest) >= 3 and abs(value) >= 10 * max(rest):
            return (value,)
    return ()


def _moment(distinct: set[Any], named: bool) -> FieldReading | None:
    """Detect days or instants written as whole numbers."""
    low, high = min(distinct), max(distinct)
    if low >= 1_000_000_000_000 and high < 2_200_000_000_000:
        return FieldReading("timestamp", "epoch ms", evidence="milliseconds since 1970")
    # Of numbers in this range one in thirty is a day by chance.
    is_many = named or len(distinct) >= _FEWEST_DAYS
    if is_many and low >= 19_000_101 and high <= 21_001_231:
        is_day = all(_reads(compact_day, str(int(value))) for value in distinct)
        return FieldReading("date", "YYYYMMDD", evidence="days as YYYYMMDD") if is_day else None
    is_hourly = len(distinct) >= _FEWEST_HOURS and all(value % 3600 == 0 for value in distinct)
    if (named or is_hourly) and low >= 900_000_000 and high < 2_200_000_000:
        return FieldReading("timestamp", "epoch s", evidence="seconds since 1970")
    if named and low >= 14_610 and high < 25_568:
        return FieldReading("date", "epoch days", evidence="days since 1970")
    return None


def _decimals(value: Any) -> int:
    text = repr(value)
    is_whole = type(value) is int or "e" in text or text.endswith(".0")
    return 0 if is_whole else len(text.partition(".")[2])


def _floats(
    values: Sequence[Any], missing: Iterable[Any], number: Callable[[Any], float | None]
) -> Numbers:
    if not missing and {*map(type, values)} <= {int, float}:
        return np.fromiter(values, np.float64, len(values))
    numbers, known = np.full(len(values), np.nan), {*missing, None}
    for at, value in enumerate(values):
        if value is not MISSING and value not in known:
            parsed = number(value)
            numbers[at] = np.nan if parsed is None else parsed
    return numbers


# --- texts --------------------------------------------------------------------------------------

Form = tuple[str, str | None, Callable[[str], Any], str]
"""A way to write values: dtype, parse, what reads a text, and what is said of it."""


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) else None


def _zoned(text: str) -> Any:
    return utc_instant(text, None) if re.search(r"(?:Z|[+-]\d{2}:?\d{2})$", text) else None


def _utc(text: str) -> Any:
    return utc_instant(re.sub(r"\s?(?:UTC|GMT)$", "", text), None)


def _digits(form: str) -> Callable[[str], Any]:
    return re.compile(form).fullmatch


def _priced(text: str) -> float | None:
    return money(text) if _SIGN.fullmatch(currency(text) or "") else None


# fmt: off
_MOMENTS: tuple[Form, ...] = (
    ("date", None, _day, "days as YYYY-MM-DD"),
    ("timestamp", None, _zoned, "instants"),
    ("timestamp", "utc", _utc, "instants, no zone"),
    ("date", "iso week", lambda text: iso_week(text, None), "ISO weeks, read as their Monday"),
    ("date", "iso month", lambda text: iso_month(text, None), "months, read as their first day"),
    ("date", "DD/MM/YYYY", lambda text: day_first(text, None), "days, day first"),
    ("date", "MM/DD/YYYY", lambda text: month_first(text, None), "days, month first"),
    ("date", "month day year", lambda text: month_day_year(text, None), "days, month in words"),
)
_NAMED_MOMENTS: tuple[Form, ...] = (
    ("date", "YYYYMMDD", lambda text: compact_day(text, None), "days as YYYYMMDD"),
    ("timestamp", "epoch ms", _digits(r"1\d{12}"), "milliseconds since 1970"),
    ("timestamp", "epoch s", _digits(r"1\d{9}(?:\.0*)?"), "seconds since 1970"),
    ("date", "epoch days", _digits(r"1[5-9]\d{3}|2[0-4]\d{3}"), "days since 1970"),
)
_AMOUNTS: tuple[Form, ...] = (
    ("Float64", "money", _priced, "amounts with a currency"),
    ("Float64", "duration", duration, "durations in words"),
)
# fmt: on


def _reads(read: Callable[..., Any], *texts: Any) -> bool:
    """Whether a function reads all of some texts."""
    try:
        return all(
            (read(text) if read is not compact_day else read(text, None)) is not None
            for text in texts
        )
    except (ValueError, OverflowError):
        return False


def _text(
    values: Sequence[Any], words: list[str], name: str, nothing: tuple[str, ...]
) -> FieldReading:
    forms = [*_MOMENTS, *(_NAMED_MOMENTS if is_time_name(name) else ())]
    fits = [form for form in forms if _reads(form[2], *words)]
    order = {form[1] for form in fits}
    if fits and not order >= {"DD/MM/YYYY", "MM/DD/YYYY"}:
        dtype, parse, _, evidence = fits[0]
        return FieldReading(dtype, parse, nothing, evidence)
    low = {word.lower() for word in words}
    is_named = is_flag_name(name)
    if (low <= _YES_NO and (len(low) == 2 or is_named)) or (low <= {"0", "1"} and is_named):
        return FieldReading("boolean", "boolean", nothing, "yes and no in words")
    empty = tuple(word for word in nothing if word == "")
    if fits:
        return FieldReading("string", None, empty, "text; may be days, day or month first")
    if not is_id_name(name) and not any(re.fullmatch(r"0\d+", word) for word in words):
        mark = decimal_mark(words, name)
        if mark is None:
            evidence = f"text; may be numbers, such as {words[0]!r}, in two ways"
            return FieldReading("string", None, empty, evidence)
        if mark == "." and all(map(_NUMBER.fullmatch, words)):
            return _parsed(values, words, "number", parse_number, nothing)
        if all(map(_COMMA.fullmatch, words)):
            return _parsed(values, words, "decimal comma", _decimal_comma, nothing)
        for _, parse, read, evidence in _AMOUNTS:
            if parse and _reads(read, *words):
                found = _parsed(values, words, parse, read, nothing)
                return replace(found, dtype="Float64", evidence=evidence)
        readers = (_NUMBER.fullmatch, _COMMA.fullmatch, _priced)
        numbers = [word for word in words if any(_reads(read, word) for read in readers)]
        if 2 * len(numbers) >= len(words):
            some = "some " * (len(numbers) < len(words))
            evidence = f"text; {some}may be numbers, such as {numbers[0]!r}"
            return FieldReading("string", None, empty, evidence)
    return FieldReading("string", None, empty, f"text, {len(words)} different")


def _parsed(
    values: Sequence[Any],
    words: list[str],
    parse: str,
    read: Callable[[str], float | None],
    nothing: tuple[str, ...],
) -> FieldReading:
    def number(value: Any) -> float | None:
        return read(value) if type(value) is str else float(value)

    numbers = _floats(values, nothing, number)
    known = numbers[~np.isnan(numbers)]
    mark = "," if parse == "decimal comma" else "."
    found = [re.search(rf"{re.escape(mark)}(\d+)\s?\D*$", word) for word in words]
    decimals = max(len(match[1]) if match else 0 for match in found)
    is_percent = all("%" in word for word in words)
    is_whole = decimals == 0 and bool((known == np.floor(known)).all()) and not is_percent
    evidence = f"numbers in text, such as {words[0]!r}"
    if nothing:
        evidence += f"; {', '.join(map(repr, nothing))} for none"
    return FieldReading(
        "Int64" if is_whole else "Float64",
        parse,
        nothing,
        evidence,
        is_percent,
        all(word.startswith("#") for word in words),
        decimals,
        numbers=numbers,
    )


def decimal_mark(words: list[str], name: str) -> str | None:
    """Detect the decimal mark of numbers in text, ``.`` or ``,``; None if ambiguous.

    A point before three digits may stand between thousands, and so may a comma. What else is in
    the column tells, or its name: counts have no decimals, and places are not in the thousands.

    Examples
    --------
    >>> decimal_mark(["1.204", "987"], "citation_count"), decimal_mark(["1.204", "2.31"], "depth")
    (',', '.')
    >>> decimal_mark(["1,204", "2,310"], "mean_position"), decimal_mark(["1,204", "7"], "hits")
    (',', '.')
    """
    named = meaning(name)
    is_small = named.kind in _SMALL
    points = [word for word in words if "." in word]
    commas = [word for word in words if "," in word]
    if points and not commas and all(map(_POINTS.fullmatch, points)):
        is_counted = named.kind in ("count", "bytes") and not named.mean
        if is_counted or any(word.count(".") > 1 for word in points):
            return ","
        # Thousands are written alike: where one has no point, points are decimal ones.
        is_plain = any(word.isdigit() and len(word) > 3 for word in words)
        return "." if is_small or named.mean or is_plain else None
    if commas and not points and is_small and all(map(_ONE_COMMA.fullmatch, words)):
        return ","
    return "."


def parse_number(value: str) -> float | None:
    """Parse a number in text; None if it is none.

    Examples
    --------
    >>> parse_number("11 735"), parse_number("34.5%"), parse_number("−5"), parse_number("#3")
    (11735.0, 34.5, -5.0, 3.0)
    """
    text = value.strip()
    if not _NUMBER.fullmatch(text):
        return None
    factor = {"k": 1e3, "K": 1e3, "M": 1e6}.get(text[-1], 1.0)
    digits = re.sub(rf"[#±,%kKM{_SPACE}'’]", "", text).replace("\u2212", "-")
    return float(digits) * factor


def _decimal_comma(value: str) -> float | None:
    return parse_number(value.replace(".", "").replace(",", "."))


# --- what stands beside -------------------------------------------------------------------------


def as_month_days(values: Iterable[Any], reading: FieldReading, year: str) -> FieldReading:
    """Read texts as days without a year where all are such, and the answer has the year.

    Examples
    --------
    >>> as_month_days(["Nov 3", "Nov 4"], FieldReading("string"), "$.to").parse
    'month day'
    """
    words = [v for v in values if v is not MISSING and v is not None and v not in reading.missing]
    if not words or not _reads(lambda word: month_day(word, "2024"), *words):
        return reading
    evidence = f"days without a year, which {year} has"
    return replace(reading, dtype="date", parse="month day", year=year, evidence=evidence)
