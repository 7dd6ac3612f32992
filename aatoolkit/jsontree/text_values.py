"""Parse single texts: amounts, durations, flags, days; None for texts that are none."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

_SHORT = re.compile(r"\s*#?([+\-−]?)(\d+(?:\.\d+)?)\s?([kKmMbB])\s*")
_TIMES = {"k": 10**3, "m": 10**6, "b": 10**9}
_TRUE = frozenset(("true", "yes", "y", "on", "1", "t"))
_FALSE = frozenset(("false", "no", "n", "off", "0", "f"))
_SPACES = r"[' \u00a0\u2009\u202f]"
_AMOUNT = (
    r"(\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.(?:\d\d?|\d{4,}))?"
    r"|\d{1,3}(?:[.' \u00a0\u2009\u202f]\d{3})*,\d{2}|\d+,\d{2})"
)
_SIGN, _UNIT = r"([+\-−]?)", r"([^\d\s.,+\-−]{1,4})?"
_MONEY = re.compile(rf"\s*{_SIGN}\s*{_UNIT}\s*{_SIGN}\s*{_AMOUNT}\s*{_UNIT}\s*")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")
_ISO_DURATION = re.compile(
    r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)")
_SECONDS = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds", "millisecond"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_WEEK = re.compile(r"(\d{4})-?W(\d{2})")
_MONTH = re.compile(r"([12]\d{3})-(?:(0[1-9]|1[0-2])|Q([1-4]))")
_ORDERED_DAY = re.compile(r"([0-9]{1,2})([/.\-])([0-9]{1,2})\2([0-9]{4})")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})|(\d{1,2})\.?\s+([A-Za-z]{3,9})\.?")


def short_number(text: str) -> float | None:
    """Parse a number with k, M or B for thousands, millions or billions."""
    found = _SHORT.fullmatch(text)
    if found is None:
        return None
    number = float(found[2]) * _TIMES[found[3].lower()]
    return -number if found[1] in ("-", "−") else number


def flag(text: str) -> bool | None:
    """Parse a boolean in a word."""
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def money(text: str) -> float | None:
    """Parse the amount of a price; None where it may be read in two ways."""
    found = _MONEY.fullmatch(text)
    if found is None or (found[1] and found[3]):
        return None
    digits = re.sub(_SPACES, "", found[4])
    if re.fullmatch(r"[\d.]*,\d{2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    amount = float(digits.replace(",", ""))
    return -amount if (found[1] or found[3]) in ("-", "−") else amount


def currency(text: str) -> str | None:
    """Parse the currency sign or code of a price."""
    found = _MONEY.fullmatch(text)
    return None if found is None else found[2] or found[5]


def duration(text: str) -> float | None:
    """Parse a duration, in seconds."""
    word = text.strip().lower()
    if (clock := _CLOCK.fullmatch(word)) is not None:
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])
    if word.startswith("p") and (iso := _ISO_DURATION.fullmatch(word.upper())) is not None:
        parts = zip(iso.groups(), (604800, 86400, 3600, 60, 1), strict=True)
        given = [float(part) * seconds for part, seconds in parts if part is not None]
        return sum(given) if given else None
    total, at = 0.0, 0
    while (part := _PART.match(word, at)) is not None and part[2] in _SECONDS:
        seconds = _SECONDS[part[2]]
        worth = float(part[1]) * seconds if seconds >= 1 else float(part[1]) / 1000
        total, at = total + worth, part.end()
    return total if at and not word[at:].strip() else None


def compact_day(text: str, year: Any) -> date | None:
    """Parse a day of eight digits."""
    return date(int(text[:4]), int(text[4:6]), int(text[6:])) if _digits(text, 8) else None


def _digits(text: str, count: int) -> bool:
    return len(text) == count and text.isascii() and text.isdigit()


def day_first(text: str, year: Any) -> date | None:
    """Parse a day written as day, month, year, with one sign between them.

    Examples
    --------
    >>> day_first("24/10/2026", None), day_first("3.11.2026", None)
    (datetime.date(2026, 10, 24), datetime.date(2026, 11, 3))
    """
    found = _ORDERED_DAY.fullmatch(text.strip())
    return None if found is None else date(int(found[4]), int(found[3]), int(found[1]))


def month_first(text: str, year: Any) -> date | None:
    """Parse a day written as month, day, year, with one sign between them."""
    found = _ORDERED_DAY.fullmatch(text.strip())
    return None if found is None else date(int(found[4]), int(found[1]), int(found[3]))


def iso_week(text: str, year: Any) -> date | None:
    """Parse an ISO week to its Monday."""
    found = _WEEK.fullmatch(text)
    return None if found is None else date.fromisocalendar(int(found[1]), int(found[2]), 1)


def month_day(text: str, year: Any) -> date | None:
    """Parse a day without a year: in the year given, or the latest not after a day given."""
    found = _MONTH_DAY.fullmatch(text.strip())
    month = _MONTHS.get((found[1] or found[4])[:3].lower()) if found else None
    if found is None or month is None or year is None:
        return None
    day = int(found[2] or found[3])
    last = str(year)[:10]
    if _digits(last, 4):
        return date(int(last), month, day)
    latest = date.fromisoformat(last)
    try:
        this = date(latest.year, month, day)
    except ValueError:  # 29 February
        return date(latest.year - 1, month, day)
    return this if this <= latest else date(latest.year - 1, month, day)


def month_day_year(text: str, year: Any) -> date | None:
    """Parse a day with its month's name and its year.

    Examples
    --------
    >>> month_day_year("Nov 3, 2026", None), month_day_year("3 November 2026", None)
    (datetime.date(2026, 11, 3), datetime.date(2026, 11, 3))
    """
    rest, _, last = text.strip().rpartition(" ")
    return month_day(rest.rstrip(","), last) if _digits(last, 4) else None


def iso_month(text: str, year: Any) -> date | None:
    """Parse a month, or a quarter, to its first day.

    Examples
    --------
    >>> iso_month("2026-11", None), iso_month("2026-Q3", None), iso_month("2026-13", None)
    (datetime.date(2026, 11, 1), datetime.date(2026, 7, 1), None)
    """
    found = _MONTH.fullmatch(text.strip())
    if found is None:
        return None
    return date(int(found[1]), int(found[2]) if found[2] else 3 * int(found[3]) - 2, 1)


def utc_instant(text: str, year: Any) -> datetime | None:
    """Parse an instant; without a zone it is in UTC."""
    if len(text) < 16 or text[10] not in "T " or not text[:4].isdigit():
        return None
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
