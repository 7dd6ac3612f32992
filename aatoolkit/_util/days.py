"""Days and moments that people write, read in one way: ISO 8601, and nothing that is ambiguous."""

from __future__ import annotations

import re
from datetime import date, datetime

_PARTS = re.compile(r"\s*(\d{1,4})[./\-\s](\d{1,2})[./\-\s](\d{1,4})\.?\s*")


def parse_moment(text: str) -> date | datetime | None:
    """Parse a day or a moment in ISO 8601; None for any other text.

    Examples
    --------
    >>> parse_moment("2026-11-05"), parse_moment("05.11.2026")
    (datetime.date(2026, 11, 5), None)
    """
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def iso_hint(text: object) -> str:
    """Say how a day that was written otherwise is written, in each way that it can be read.

    Examples
    --------
    >>> iso_hint("05.11.2026")
    'write 2026-11-05 for 5 November, or 2026-05-11 for 11 May'
    >>> iso_hint("31/12/2026")
    'write 2026-12-31'
    >>> iso_hint("soon")
    'write it as 2026-11-05'
    """
    parts = _PARTS.fullmatch(text) if isinstance(text, str) else None
    found = {}
    if parts is not None:
        one, two, three = map(int, parts.groups())
        for year, month, day in ((three, two, one), (three, one, two), (one, two, three)):
            if year >= 1000:
                try:
                    moment = date(year, month, day)
                except ValueError:
                    continue
                found[moment.isoformat()] = f"{moment.day} {moment:%B}"
    if not found:
        return "write it as 2026-11-05"
    if len(found) == 1:
        return f"write {next(iter(found))}"
    return "write " + ", or ".join(f"{text} for {words}" for text, words in found.items())
