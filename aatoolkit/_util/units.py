"""The units of numbers: for each, the range of possible values and the text formats."""

from __future__ import annotations

from dataclasses import dataclass

from aatoolkit._util.data import constants


@dataclass(frozen=True)
class Unit:
    """The properties of a unit of numbers.

    Parameters
    ----------
    words
        The text for the unit in a column header, such as ``0 to 1``; None to use its name.
    short
        The suffix of a number, such as ``" ms"``.
    metrics
        The last words of metric names, such as ``rate``, that imply this unit.
    """

    words: str | None = None
    short: str = ""
    metrics: str = ""


UNITS = {name: Unit(**properties) for name, properties in constants("units").items()}
"""The units with known properties, by name."""

COUNT = "count"
FRACTION = "fraction 0-1"
FRACTION_CHANGE = "absolute pp as fraction"
FRACTION_OF_BEFORE = "fraction of before"
PROBABILITY = "probability 0-1"
SCORE = "score 0-100"
RANK = "rank"
REQUESTS = "HTTP requests"
HTTP_STATUS = "HTTP status"
CHECKS = "checks"
CHARACTERS = "characters"
BYTES = "bytes"
SECONDS = "seconds"
MILLISECONDS = "milliseconds"
DAYS = "days"
SEARCHES = "searches/month"
CURRENCY = "currency"
ISO_4217 = "ISO 4217"
PER_UNIT = "per `unit`"
"""The unit of a numeric column if the column ``unit`` has the unit of each row."""
