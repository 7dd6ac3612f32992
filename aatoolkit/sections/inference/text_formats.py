"""Formats of numbers, days, amounts, durations and flags in text, and words for missing."""

from __future__ import annotations

import re
from typing import Any

from aatoolkit.jsontree.text_values import duration, iso_week, money
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.words import is_flag_name, is_time_name, meaning

_MISSING_WORDS = frozenset(
    {
        "",
        "-",
        "–",
        "—",
        "n/a",
        "na",
        "n.a.",
        "null",
        "none",
        "nan",
        "nil",
        "?",
        "unknown",
        "--",
        "…",
    }
)
"""Texts that a draft reads as missing among values, in small letters. Why a number is missing is in
``availability/detect/placeholders.py``; a declaration lists its own in ``Column.missing``."""
_SPACE = " \u00a0\u2009\u202f"
_GROUPED = rf"\d{{1,3}}(?:[,{_SPACE}'’]\d{{3}})+"
NUMBER = re.compile(
    rf"#?\s?[+\-\u2212±]?\s?(?:{_GROUPED}|\d+)(?:\.\d+)?\s?(?:%|[kKM](?!\w))?", re.S
)
DECIMAL_COMMA = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+\s?%?")
MONEY = re.compile(
    rf"(?:[$€£¥]|[A-Z]{{3}}\s)\s?-?(?:{_GROUPED}|\d+)(?:\.\d+)?|"
    rf"-?(?:{_GROUPED}|\d+)(?:\.\d+)?\s?(?:[$€£¥]|\s[A-Z]{{3}}|[A-Z]{{3}})"
)
DURATION = re.compile(
    r"P(?:\d+D)?T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?|\d{1,3}:\d{2}:\d{2}|"
    r"(?:\d+(?:\.\d+)?\s?(?:ms|min|h|m|s)\s?)+",
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")
_UTC = re.compile(r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?)\s?(?:UTC|GMT)")
COMPACT = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
POINTS = re.compile(r"[+\-\u2212]?[1-9]\d{0,2}(?:\.\d{3})+")
_SMALL = ("position", "rank", "share", "score", "probability", "milliseconds", "seconds")
_ONE_COMMA = re.compile(r"[+\-\u2212]?\d{1,3},\d{3}")
_WEEK = re.compile(r"\d{4}-?W\d{2}")
_MONTH_DAY = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}", re.I
)
_YES_NO = frozenset({"yes", "no", "true", "false", "y", "n", "on", "off"})
_FLAGS = _YES_NO | {"0", "1"}


def is_nothing(word: str) -> bool:
    """Whether a word stands for a missing value."""
    return word.strip().lower() in _MISSING_WORDS


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
    counted = named.kind in ("count", "bytes") and not named.mean
    small = named.kind in _SMALL
    points = [word for word in words if "." in word]
    commas = [word for word in words if "," in word]
    if points and not commas and all(POINTS.fullmatch(word) for word in points):
        if counted or any(word.count(".") > 1 for word in points):
            return ","
        # Thousands are written alike: where one has no point, points are decimal ones.
        plain = any(word.isdigit() and len(word) > 3 for word in words)
        return "." if small or named.mean or plain else None
    if commas and not points and small and all(_ONE_COMMA.fullmatch(word) for word in words):
        return ","
    return "."


def is_month_day(values: list[Any]) -> bool:
    """Whether all texts are days without a year, and there is one.

    Examples
    --------
    >>> is_month_day(["Nov 3", "Nov 4"]), is_month_day(["May"])
    (True, False)
    """
    there = [one for one in values if one is not MISSING and one is not None]
    return bool(there) and all(
        isinstance(one, str) and _MONTH_DAY.fullmatch(one.strip()) for one in there
    )


def parse_number(value: Any) -> float | None:
    """Parse a number in text; None if it is none.

    Examples
    --------
    >>> parse_number("11 735"), parse_number("34.5%"), parse_number("−5"), parse_number("#3")
    (11735.0, 34.5, -5.0, 3.0)
    """
    if type(value) in (int, float):
        return float(value)
    if not isinstance(value, str) or not NUMBER.fullmatch(value.strip()):
        return None
    text = value.strip().lstrip("#").replace("\u2212", "-").lstrip("±").strip()
    factor = 1.0
    if text[-1] in "kK":
        text, factor = text[:-1], 1e3
    elif text[-1] == "M":
        text, factor = text[:-1], 1e6
    text = re.sub(rf"[,{_SPACE}'’%]", "", text)
    return float(text) * factor


def day_texts(words: list[str], name: str) -> tuple[str, str | None, str] | None:
    """Detect how texts write days or instants: dtype, parser and words; None if they do not."""
    if all(_DAY.fullmatch(word) for word in words):
        return "date", None, "days as YYYY-MM-DD"
    if all(map(_INSTANT.fullmatch, words)):
        named = all(zone and zone[1] for zone in map(_INSTANT.fullmatch, words))
        return "timestamp", None if named else "utc", "instants" + ("" if named else ", no zone")
    if all(_WEEK.fullmatch(word) and _is_week(word) for word in words):
        return "date", "iso week", "ISO weeks, read as their Monday"
    if all(_UTC.fullmatch(word) for word in words):
        return "timestamp", "utc", "instants in UTC"
    if is_time_name(name) and all(COMPACT.fullmatch(word) for word in words):
        return "date", "YYYYMMDD", "days as YYYYMMDD"
    if is_time_name(name) and all(re.fullmatch(r"1\d{12}", word) for word in words):
        return "timestamp", "epoch ms", "milliseconds since 1970"
    if is_time_name(name) and all(re.fullmatch(r"1\d{9}", word) for word in words):
        return "timestamp", "epoch s", "seconds since 1970"
    return None


def _is_week(word: str) -> bool:
    try:
        return iso_week(word, None) is not None
    except ValueError:
        return False


def flag_texts(words: list[str], name: str) -> tuple[str, str | None, str] | None:
    """Detect how texts write yes and no: dtype, parser and words; None if they do not."""
    if not all(word.lower() in _FLAGS for word in words):
        return None
    low = {word.lower() for word in words}
    if low <= _YES_NO and (len(low) == 2 or is_flag_name(name)):
        return "boolean", "boolean", "yes and no in words"
    if low <= {"0", "1"} and is_flag_name(name):
        return "boolean", "boolean", "0 and 1 under the name of a flag"
    return None


def amount(value: Any) -> float | None:
    """Parse an amount in text, with or without a currency; None if it is none."""
    return money(value) if isinstance(value, str) and not is_nothing(value) else None


def seconds(value: Any) -> float | None:
    """Parse a duration in text, as seconds; None if it is none."""
    return duration(value) if isinstance(value, str) and not is_nothing(value) else None


def decimal_comma(value: Any) -> float | None:
    """Parse a number with a decimal comma."""
    if type(value) in (int, float):
        return float(value)
    if not isinstance(value, str) or is_nothing(value):
        return None
    return parse_number(value.strip().replace(".", "").replace(",", "."))


def text_decimals(text: str, mark: str) -> int:
    """Count the decimals of a number in text."""
    found = re.search(rf"{re.escape(mark)}(\d+)\s?\D*$", text.strip())
    return len(found[1]) if found else 0
