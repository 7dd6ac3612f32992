"""Find how values are to be read: numbers in text, dates, flags in words, sentinels.

A reading says how to declare a column, and what was set aside as missing. It holds if the parser of
that declaration reads every value. Nothing is read as a number that is an identifier, and a
sentinel is one only where it breaks the range of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from aatoolkit._util.dtypes import Reading
from aatoolkit._util.lexicon import ends, rows_of
from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.jsontree.coerce import LONGEST, currency, read_as
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.words import is_flag_name, is_id_name, is_time_name, meaning

Numbers = np.ndarray[Any, np.dtype[np.float64]]

SILENT = "no value in any response"
_POINTS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
_ONE_COMMA = re.compile(r"[+\-\u2212]?\d{1,3},\d{3}")
_SIGN = re.compile(r"[$€£¥₹₩₽₺₪₫₴₦฿]|[A-Z]{3}|kr\.?|zł|Kč|Ft")
_SMALL = ("position", "rank", "share", "score", "probability", "milliseconds", "seconds")

Moment = tuple[str, str | None, str, bool, str]
_MOMENTS: list[Moment] = [
    (dtype, None if parse == "-" else parse, form, named == "yes", evidence)
    for dtype, parse, named, evidence, form in rows_of(Path(__file__).with_name("moments.txt"))
]
"""The dtype, parse and form of moments, whether only under the name of a time, and in words."""


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


def read_values(values: Sequence[Any], name: str) -> FieldReading:
    """Find how to read the values of a column, by the values first and the name second.

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
    present = [value for value in values if value is not MISSING and value is not None]
    kinds = {*map(type, present)}
    if not kinds:
        return FieldReading("string", evidence=SILENT)
    if kinds in ({list}, {bool}):
        return FieldReading("boolean" if kinds == {bool} else "list<string>", evidence="JSON's own")
    if kinds == {dict}:
        both = _floats(_parsed(values, "Float64", "parts", ()))
        return FieldReading("Float64", "parts", evidence="two parts", decimals=9, numbers=both)
    is_plain = kinds <= {str, int, float, bool}
    several = FieldReading(
        "string", "any" if is_plain else None, evidence="values of several kinds"
    )
    if not kinds <= {str, int, float}:
        return several
    words = {value: value.strip() for value in present if type(value) is str}
    lacking = lexicon("nothing") | {""}
    nothing = tuple(sorted(word for word in words if words[word].lower() in lacking))
    texts = [text for word, text in words.items() if word not in nothing]
    numbers = [value for value in present if type(value) is not str]
    if texts and numbers:
        return _in_text(values, texts, "number", nothing) or several
    if texts:
        return _of_texts(values, texts, name, nothing)
    if numbers:
        return _of_numbers(values, numbers, name, nothing)
    return FieldReading("string", missing=nothing, evidence=SILENT)


def _parsed(values: Sequence[Any], dtype: str, parse: str | None, missing: Any) -> Any:
    """The values as a column reads them; None if it cannot read them all."""
    parsed = read_as(values, Reading(dtype, parse, None, None, missing))
    return None if parsed.invalid else parsed.array


# --- numbers ------------------------------------------------------------------------------------


def _of_numbers(
    values: Sequence[Any], there: list[Any], name: str, nothing: tuple[str, ...]
) -> FieldReading:
    distinct = {*there}
    if distinct <= {0, 1} and is_flag_name(name):
        return FieldReading("boolean", "boolean", evidence="0 and 1 under the name of a flag")
    is_signed = meaning(name).kind in ("change", "score") or "net" in name
    negative = {value for value in distinct if value < 0}
    odd = (-1,) if negative == {-1} != distinct and not is_signed else ()
    missing, kept = (*odd, *nothing), distinct.difference(odd)
    moment = _moment(kept, name)
    if moment is not None:
        return replace(moment, missing=missing)
    evidence = f"{len(there)} numbers from {min(kept):g} to {max(kept):g}"
    evidence += f"; {odd[0]} breaks the range of the rest" if odd else ""
    dtype = "Int64" if all(type(value) is int for value in kept) else "Float64"
    decimals = 0 if dtype == "Int64" else max(map(_decimals, kept))
    numbers = _floats(read_as(values, Reading(dtype, None, None, None, missing)).array)
    return FieldReading(dtype, None, missing, evidence, decimals=decimals, numbers=numbers)


def _moment(distinct: set[Any], name: str) -> FieldReading | None:
    """Detect days or instants written as whole numbers, by their range, steps and name."""
    is_named = is_time_name(name)
    is_whole = all(float(value).is_integer() for value in distinct)
    # Hours to the second or millisecond are no numbers of anything else.
    steps = [unit for unit in (3_600_000, 3600) if all(value % unit == 0 for value in distinct)]
    is_hourly = len(distinct) >= 3 and bool(steps)
    is_plain = is_named or is_hourly or meaning(name).kind in ("", "time", "id", "rank")
    if not (is_whole and is_plain):
        return None
    # Of numbers that may be days one in thirty is one by chance.
    fits = {"YYYYMMDD": len(distinct) >= 5, "epoch ms": True, "epoch s": is_hourly}
    texts = [str(int(value)) for value in distinct]
    for moment in _MOMENTS:
        if moment[3] and (is_named or fits.get(str(moment[1]))):
            reading = _as_moment(texts, texts, moment, ())
            if reading is not None:
                return reading
    return None


def _as_moment(
    values: Sequence[Any], texts: list[str], moment: Moment, missing: tuple[str, ...]
) -> FieldReading | None:
    """Read values as days or instants in one form; None if some do not fit it."""
    dtype, parse, form, _, evidence = moment
    is_form = all(re.fullmatch(form, text, re.S) for text in texts)
    if not is_form or _parsed(values, dtype, parse, missing) is None:
        return None
    return FieldReading(dtype, parse, missing, evidence)


def _decimals(value: Any) -> int:
    text = repr(value)
    is_whole = type(value) is int or "e" in text or text.endswith(".0")
    return 0 if is_whole else len(text.partition(".")[2])


def _floats(array: Any) -> Numbers:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)


# --- texts --------------------------------------------------------------------------------------


def _of_texts(
    values: Sequence[Any], texts: list[str], name: str, nothing: tuple[str, ...]
) -> FieldReading:
    empty = tuple(word for word in nothing if word == "")
    as_text = FieldReading("string", None, empty, f"text, {len(texts)} different")
    if any(len(text) > LONGEST for text in texts):
        return as_text
    moments = [moment for moment in _MOMENTS if not moment[3] or is_time_name(name)]
    readings = (_as_moment(values, texts, moment, nothing) for moment in moments)
    fits = [reading for reading in readings if reading is not None]
    if {"DD/MM/YYYY", "MM/DD/YYYY"} <= {fit.parse for fit in fits}:
        return replace(as_text, evidence="text; may be days, day or month first")
    if fits:
        return fits[0]
    low, is_flag = {text.lower() for text in texts}, is_flag_name(name)
    is_pair = len(low) == 2 and not low & {"0", "1"}
    if (is_pair or is_flag) and _parsed(values, "boolean", "boolean", nothing) is not None:
        return FieldReading("boolean", "boolean", nothing, "yes and no in words")
    is_id = is_id_name(name) or (texts[0][:1] == "#" and ends(name, "naming"))
    if is_id or any(re.fullmatch(r"0\d+", text) for text in texts):
        return as_text
    ways = _ways(texts, name)
    if not ways:
        evidence = f"text; may be numbers, such as {texts[0]!r}, in two ways"
        return replace(as_text, evidence=evidence)
    priced = [text for text in texts if _SIGN.fullmatch(currency(text) or "")]
    for parse in [*ways, *["money"] * (priced == texts)]:
        reading = _in_text(values, texts, parse, nothing)
        if reading is not None:
            return reading
    numbers = [text for text in texts if text in priced or any(
        _in_text([text], [text], way, ()) for way in ways)]  # fmt: skip
    if 2 * len(numbers) >= len(texts):
        some = "some " * (len(numbers) < len(texts))
        evidence = f"text; {some}may be numbers, such as {numbers[0]!r}"
        return replace(as_text, evidence=evidence)
    return as_text


def _ways(texts: list[str], name: str) -> list[str]:
    """The ways in which numbers in text may be meant; none if that is ambiguous.

    A point before three digits may stand between thousands, and so may a comma. What else is in
    the column tells, or its name: counts have no decimals, and places are not in the thousands.
    """
    named = meaning(name)
    is_small = named.kind in _SMALL or named.mean
    points, both = [text for text in texts if "." in text], ["number", "decimal comma", "duration"]
    if points and not any("," in text for text in texts) and all(map(_POINTS.fullmatch, points)):
        is_counted = named.kind in ("count", "bytes") and not named.mean
        if is_counted or any(text.count(".") > 1 for text in points):
            return both[1:]
        # Thousands are written alike: where one has no point, points are decimal ones.
        is_plain = any(text.isdigit() and len(text) > 3 for text in texts)
        return both if is_small or is_plain else []
    return both[is_small and all(map(_ONE_COMMA.fullmatch, texts)) :]


def _in_text(
    values: Sequence[Any], texts: list[str], parse: str, nothing: tuple[str, ...]
) -> FieldReading | None:
    """Read numbers in text; None if some texts are not numbers."""
    mark = {"number": "[.]", "decimal comma": ","}.get(parse, "[.,]")
    matches = filter(None, (re.search(rf"{mark}(\d+)\s?\D*$", text) for text in texts))
    decimals = max((len(match[1]) for match in matches), default=0)
    is_percent = all("%" in text for text in texts)
    is_whole = parse in ("number", "decimal comma") and not is_percent and not decimals
    for dtype in ("Int64", "Float64") if is_whole else ("Float64",):
        array = _parsed(values, dtype, parse, nothing)
        if array is not None:
            evidence = f"numbers in text, such as {texts[0]!r}"
            is_ordinal = all(text.startswith("#") for text in texts)
            return FieldReading(
                dtype, parse, nothing, evidence, is_percent, is_ordinal, decimals,
                numbers=_floats(array),
            )  # fmt: skip
    return None


# --- what stands beside -------------------------------------------------------------------------


def as_month_days(values: Iterable[Any], reading: FieldReading, year: str) -> FieldReading:
    """Read texts as days without a year where all are such, and the response has the year.

    Examples
    --------
    >>> as_month_days(["Nov 3", "Nov 4"], FieldReading("string"), "$.to").parse
    'month day'
    """
    texts = [v for v in values if v is not MISSING and v is not None and v not in reading.missing]
    way = Reading("date", "month day", None, None, ())
    if (
        not texts
        or not all(type(text) is str for text in texts)
        or read_as(texts, way, "2024").invalid
    ):
        return reading
    evidence = f"days without a year, which {year} has"
    return replace(reading, dtype="date", parse="month day", year=year, evidence=evidence)
