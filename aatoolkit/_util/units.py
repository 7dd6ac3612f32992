"""The units of numbers: the range of possible values, and how the unit is written.

A unit is written alike in the code book, in Parquet and in pictures. A column may also have a unit
that is not listed here; then only its name is known.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """The properties of a unit of numbers.

    Parameters
    ----------
    words
        The unit in a column header, after the column's name: "" for nothing, None for the name of
        the unit.
    least, most
        The smallest and the largest possible value.
    short
        The text that is written after a number, such as ``" ms"``.
    """

    words: str | None = None
    least: float | None = None
    most: float | None = None
    short: str = ""


UNITS: dict[str, Unit] = {}
"""Every unit of which something is known, by its name."""


# fmt: off
def _unit(name: str, words: str | None = None, **properties: object) -> str:
    """Add a unit to `UNITS`, and return its name."""
    UNITS[name] = Unit(words, **properties)  # type: ignore[arg-type]
    return name


COUNT = _unit("count", "", least=0)
FRACTION = _unit("fraction 0-1", "", least=0, most=1)
FRACTION_CHANGE = _unit("absolute pp as fraction", "percentage points")
FRACTION_OF_BEFORE = _unit("fraction of before", "of before")
PROBABILITY = _unit("probability 0-1", "0 to 1", least=0, most=1)
SCORE = _unit("score 0-100", "0 to 100")
RANK = _unit("rank", "1 is first")
REQUESTS = _unit("HTTP requests", "requests")
HTTP_STATUS = _unit("HTTP status", "")
CHECKS = "checks"
CHARACTERS = "characters"
BYTES = _unit("bytes", "", short=" bytes")
SECONDS = _unit("seconds", "", short=" s")
MILLISECONDS = _unit("milliseconds", "", short=" ms")
DAYS = "days"
SEARCHES = "searches/month"
CURRENCY = "currency"
ISO_4217 = "ISO 4217"
PER_UNIT = "per `unit`"
"""The unit of numbers whose column ``unit`` gives that of each row."""
