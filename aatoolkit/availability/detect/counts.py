"""Availability told by numbers: how many of how many, and how much is missing.

Numbers are metrics nearly everywhere, so they are believed only under a key that is about data:
``dataCoverage``, ``sampling``, ``_shards``, ``suppressedRows``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect.vocabulary import tokens

_PART = {
    *("observed", "sampled", "collected", "successful", "received", "measured", "processed"),
    *("actual", "read", "completed", "answered", "reporting", "reported", "captured", "present"),
    *("loaded", "returned", "used", "seen"),
}
_WHOLE = {
    *("expected", "total", "required", "planned", "requested", "scheduled", "possible", "all"),
    *("space", "population", "eligible", "target", "overall"),
}
_FAILED = {"failed", "missing", "lost", "dropped", "errored", "unavailable", "absent"}
_FORM = {"count", "counts", "size", "number", "num", "n", "of", "samples", "sample"}
_ABOUT = {
    *("sampling", "sample", "sampled", "shards", "clusters", "partitions", "collection"),
    *("completeness", "measurement", "ingestion"),
}
_DATA = {"data", "dataset", "observations", "observation", "runs", "answers", "meta", "info"}
_WITHOUT = {"suppression", "truncation", "redaction", "omission", "thresholding"}

_LOST = (
    "missing|incomplete|unavailable|suppressed|dropped|omitted|skipped|failed|lost|delayed|partial"
    "|unmeasured|uncollected|redacted|withheld|truncated|thresholded"
)
_UNITS = (
    "rows?|records?|days?|dates?|hours?|weeks?|months?|periods?|intervals?|samples?|observations?"
    "|measurements?|points?|shards?|partitions?|runs?|buckets?"
)
_LOSS = re.compile(
    rf"({_LOST}) (data )?({_UNITS})|({_UNITS}) ({_LOST})"
    r"|(data|collection|collector|ingestion|measurement|tracking|coverage|observation|reporting"
    r"|sampling|dataset) "
    r"(gaps?|holes?|outages?|losses|interruptions?)"
)
_SINCE = re.compile(
    r"(first |last )?"
    r"(incomplete|partial|provisional|preliminary|unfinali[sz]ed|unsettled) "
    r"(date|day|hour|week|month|period|since|from|after|as of|until|through)"
)
_RATE = re.compile(r"(data )?sampl(e|ing) (rate|ratio|fraction|percent|percentage|share)")


def coverage(key: str, value: Mapping[str, Any], *, listed: bool = False) -> Availability | None:
    """What an object under a key says by a part and a whole: ``{"observed": 22, "expected": 30}``.

    ``listed`` tells that the object is the entry of a list that is about availability.

    Examples
    --------
    >>> coverage("_shards", {"total": 5, "failed": 2}).status
    <Status.PARTIAL: 'partial'>
    >>> coverage("brandCoverage", {"observed": 12, "total": 40})
    """
    about = {*tokens(key)}
    if about <= _WITHOUT and any((_number(item) or 0) > 0 for item in value.values()):
        return Availability(Status.PARTIAL)
    covers = "coverage" in about and about & _DATA
    if not listed and not ((about & _ABOUT or covers) and about <= _ABOUT | _DATA | {"coverage"}):
        return None
    if any(loss(f"{key} {name}", item) or loss(name, item) for name, item in value.items()):
        return Availability(Status.PARTIAL)
    parts, wholes = _numbers(value, _PART), _numbers(value, _WHOLE)
    sizes = _numbers(value, {"size", "n", "count"}) if about & {"sample", "sampling"} else {}
    plain = {of: part for of in wholes if of and (part := _plain(value, of)) is not None}
    parts = {**sizes, **plain, **parts}
    for of, part in parts.items():
        whole = wholes.get(of, wholes.get((), next(iter(wholes.values()), None)))
        if whole is not None and 0 <= part <= whole and whole > 0:
            return Availability(_status(part, whole))
    if wholes and any(lost > 0 for lost in _numbers(value, _FAILED).values()):
        return Availability(Status.PARTIAL)
    return None


def _plain(value: Mapping[str, Any], of: tuple[str, ...]) -> float | None:
    """The number that bears a name alone, beside that of which it is a part: ``runs``."""
    return next((_number(item) for name, item in value.items() if tokens(name) == of), None)


def is_data(key: str) -> bool:
    """Whether a key names observations, which within metadata are counted for their own sake."""
    return {*tokens(key)} <= _DATA


def _status(part: float, whole: float) -> Status:
    if part == whole:
        return Status.AVAILABLE
    return Status.PARTIAL if part else Status.UNAVAILABLE


def _numbers(value: Mapping[str, Any], words: set[str]) -> dict[tuple[str, ...], float]:
    """The numbers whose names hold one of some words, by the rest of the name."""
    found: dict[tuple[str, ...], float] = {}
    for name, item in value.items():
        parts = tokens(name)
        number = _number(item)
        if number is not None and {*parts} & words:
            found.setdefault(tuple(p for p in parts if p not in words | _FORM), number)
    return found


def _number(item: Any) -> float | None:
    if type(item) in (int, float):
        return float(item)
    return float(item) if isinstance(item, str) and re.fullmatch(r"\d{1,15}", item) else None


def loss(key: str, value: Any) -> Availability | None:
    """What a count, list or moment under a key says is missing of the whole.

    Examples
    --------
    >>> loss("suppressedRows", 3).status, loss("first_incomplete_date", "2026-11-18").status
    (<Status.PARTIAL: 'partial'>, <Status.PARTIAL: 'partial'>)
    >>> loss("missingPages", ["/pricing"]), loss("suppressedRows", 0)
    (None, None)
    """
    text = " ".join(tokens(key))
    number = value if type(value) in (int, float) else 0
    some = number > 0 or (isinstance(value, list) and len(value) > 0)
    sampled = _RATE.fullmatch(text) and 0 < number < (100 if "percent" in text else 1)
    lost = some and _LOSS.fullmatch(text.removesuffix(" count"))
    begun = isinstance(value, str) and value != "" and _SINCE.fullmatch(text)
    return Availability(Status.PARTIAL) if sampled or lost or begun else None
