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
        How a column header names the unit, after the column's name; "" if it does not, None if by
        the unit's own name.
    least, most
        The smallest and the largest possible value.
    short
        The suffix of a number, such as ``" ms"``.
    """

    words: str | None = None
    least: float | None = None
    most: float | None = None
    short: str = ""


UNITS: dict[str, Unit] = {}
"""The units with known properties, by name."""


# fmt: off
def _add_unit(name: str, words: str | None = None, **properties: object) -> str:
    """Add a unit to `UNITS`, and return its name."""
    UNITS[name] = Unit(words, **properties)  # type: ignore[arg-type]
    return name


COUNT = _add_unit("count", "", least=0)
FRACTION = _add_unit("fraction 0-1", "", least=0, most=1)
FRACTION_CHANGE = _add_unit("absolute pp as fraction", "percentage points")
FRACTION_OF_BEFORE = _add_unit("fraction of before", "of before")
PROBABILITY = _add_unit("probability 0-1", "0 to 1", least=0, most=1)
SCORE = _add_unit("score 0-100", "0 to 100")
RANK = _add_unit("rank", "1 is first")
REQUESTS = _add_unit("HTTP requests", "requests")
HTTP_STATUS = _add_unit("HTTP status", "")
CHECKS = "checks"
CHARACTERS = "characters"
BYTES = _add_unit("bytes", "", short=" bytes")
SECONDS = _add_unit("seconds", "", short=" s")
MILLISECONDS = _add_unit("milliseconds", "", short=" ms")
DAYS = "days"
SEARCHES = "searches/month"
CURRENCY = "currency"
ISO_4217 = "ISO 4217"
PER_UNIT = "per `unit`"
"""The unit of a column of numbers if another column, ``unit``, has the unit of each row."""
