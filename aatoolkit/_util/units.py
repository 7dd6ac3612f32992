"""The units of numbers, and how numbers in a unit are written as text."""

from __future__ import annotations

from dataclasses import dataclass

from aatoolkit._util.data import load_constants


@dataclass(frozen=True)
class Unit:
    """How a unit of numbers is written, and which names of metrics imply it.

    Parameters
    ----------
    words
        The text for the unit in a column header, such as ``0 to 1``; None to use its name.
    short
        The text after a number, such as ``" ms"``.
    metrics
        Words, separated by spaces. A metric, i.e. a measured number, whose name ends in one of them
        has this unit.
    """

    words: str | None = None
    short: str = ""
    metrics: str = ""


UNITS = {name: Unit(**properties) for name, properties in load_constants("units").items()}
"""The units with known properties, as a dict from the unit's name to a `Unit`."""

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
