"""Formats of numbers, days, amounts, durations and flags in text, and words for missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aatoolkit.jsontree.text_values import day_first, duration, iso_week, money, month_first
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
``availability/detect/words.py``; a declaration lists its own in ``Column.missing``."""
_SPACE = " \u00a0\u2009\u202f"
_GROUPED = rf"\d{{1,3}}(?:[,{_SPACE}'’]\d{{3}})+"
NUMBER = re.compile(
    rf"#?\s?[+\-\u2212±]?\s?(?:{_GROUPED}|\d+)(?:\.\d+)?\s?(?:%|[kKM](?!\w))?", re.S
)
DECIMAL_COMMA = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+\s?%?")
_AMOUNT = rf"(?:(?:{_GROUPED}|\d+)(?:\.\d+)?|(?:\d{{1,3}}(?:[.{_SPACE}'’]\d{{3}})*|\d+),\d{{2}})"
MONEY = re.compile(
    rf"-?(?:[$€£¥₹₩₽₺₪₫₴₦฿]|[A-Z]{{3}}\s)\s?-?{_AMOUNT}|"
    rf"-?{_AMOUNT}\s?(?:[$€£¥₹₩₽₺₪₫₴₦฿]|[A-Z]{{3}}|kr\.?|zł|Kč|Ft)"
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
    order = day_order(words)
    if order in ("DD/MM/YYYY", "MM/DD/YYYY"):
        return "date", order, f"days as {order}, as a number above 12 shows"
    if all(_UTC.fullmatch(word) for word in words):
        return "timestamp", "utc", "instants in UTC"
    if is_time_name(name) and all(COMPACT.fullmatch(word) for word in words):
        return "date", "YYYYMMDD", "days as YYYYMMDD"
    if is_time_name(name) and all(re.fullmatch(r"1\d{12}", word) for word in words):
        return "timestamp", "epoch ms", "milliseconds since 1970"
    if is_time_name(name) and all(re.fullmatch(r"1\d{9}", word) for word in words):
        return "timestamp", "epoch s", "seconds since 1970"
    return None


def day_order(words: list[str]) -> str | None:
    """Detect whether days are written day or month first; None if they are no such days.

    Where no number is above 12, and both may be, it is ``either``.

    Examples
    --------
    >>> day_order(["24/10/2026", "3/11/2026"]), day_order(["3.11.2026"]), day_order(["31/31/2026"])
    ('DD/MM/YYYY', 'either', None)
    """
    kept = [
        order
        for order, parse in (("DD/MM/YYYY", day_first), ("MM/DD/YYYY", month_first))
        if all(_is_day(word, parse) for word in words)
    ]
    return "either" if len(kept) == 2 else next(iter(kept), None)


def may_be(words: list[str]) -> str:
    """Describe what texts may be that are read as text; empty if nothing else.

    Examples
    --------
    >>> may_be(["03/04/2026", "5.6.2026"])
    'text; may be days, day or month first'
    >>> may_be(["15,5 %", "s/d"]), may_be(["plain", "words", "3"])
    ("text; some may be numbers, such as '15,5 %'", '')
    """
    if day_order(words):
        return "text; may be days, day or month first"
    forms = (NUMBER, DECIMAL_COMMA, MONEY)
    found = [word for word in words if any(form.fullmatch(word) for form in forms)]
    if 2 * len(found) < len(words):
        return ""
    return f"text; {'some ' * (len(found) < len(words))}may be numbers, such as {found[0]!r}"


def _is_day(word: str, parse: Callable[[str, Any], Any]) -> bool:
    try:
        return parse(word, None) is not None
    except ValueError:
        return False


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
