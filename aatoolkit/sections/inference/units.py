"""Find the units of numbers: by names and ranges, and by identities they satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aatoolkit.sections import (
    BYTES,
    COUNT,
    CURRENCY,
    FRACTION,
    FRACTION_CHANGE,
    HTTP_STATUS,
    MILLISECONDS,
    PROBABILITY,
    RANK,
    SCORE,
    SECONDS,
)
from aatoolkit.sections.inference.findings import LIKELY, OPEN, PROVED, ColumnFinding, Finding
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.rules import Evidence
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import Meaning, meaning, tokens

POSITION = "position"
_SILENT = "neither name nor identity says what it is"
_FEW, _SIZE = 3, 10.0
_LARGER = {"kb": "kilobytes", "mb": "megabytes", "gb": "gigabytes"}
_BLAND = words_of(
    """
    value values data n amount number count total current now point points y
    """
)
_UNIT_WORDS = {
    "count": COUNT, "counts": COUNT, "number": COUNT, "n": COUNT, "integer": COUNT, "int": COUNT,
    "fraction": FRACTION, "ratio": FRACTION, "share": FRACTION, "rate": FRACTION,
    "percent": "percent 0-100", "percentage": "percent 0-100", "%": "percent 0-100",
    "pct": "percent 0-100", "ms": MILLISECONDS, "milliseconds": MILLISECONDS, "s": SECONDS,
    "seconds": SECONDS, "bytes": BYTES, "position": POSITION, "rank": RANK, "score": SCORE,
    "probability": PROBABILITY,
}  # fmt: skip


def specific_name(name: str, path: str) -> str:
    """The most specific name: the field's, with its parent's before it if it is generic.

    Examples
    --------
    >>> specific_name("value", "trend.visibility.value")
    'visibility_value'
    >>> specific_name("citations", "rows[].citations")
    'citations'
    """
    words = tokens(name)
    if words and not set(words) <= _BLAND:
        return name
    above = [part for part in path.replace("{}", "").replace("[]", "").split(".")[:-1] if part]
    return f"{above[-1]}_{name}" if above else name


def find_unit(
    name: str, path: str, reading: FieldReading, evidence: Evidence
) -> tuple[Finding[str], float]:
    """Find the unit of a numeric column, and the factor that its values are multiplied by.

    Parameters
    ----------
    name, path : str
        The column and where its values are.
    reading : FieldReading
        How its values are read.
    evidence : Evidence
        What was seen of it: ratios of counts, shares of one whole, sums.
    """
    numbers = reading.numbers[~np.isnan(reading.numbers)] if reading.is_number else np.empty(0)
    meant = meaning(specific_name(name, path))
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    if reading.parse == "money":
        return Finding(CURRENCY, PROVED, "amounts with a currency"), 1.0
    if reading.parse == "duration":
        return Finding(SECONDS, PROVED, "durations in words"), 1.0
    shares = [ratio for ratio in evidence.ratios if ratio.numerator is not None]
    if shares and meant.kind not in ("position", "rank", "score", "change"):
        factor = 0.01 if shares[0].factor == 100 else 1.0
        return Finding(FRACTION, PROVED, f"{shares[0]} on {shares[0].rows} different rows"), factor
    if evidence.siblings:
        reason = f"{' + '.join(evidence.siblings)} = {evidence.whole:g} on every row"
        return Finding(FRACTION, PROVED, reason), 1.0 / evidence.whole
    if reading.ordinal:
        return Finding(RANK, LIKELY, "a number sign in the text"), 1.0
    if reading.percent:
        unit = FRACTION if low >= 0 else "fraction -1 to 1"
        if meant.kind == "change":
            unit = FRACTION_CHANGE
        return Finding(unit, PROVED, "a per cent sign in the text"), 0.01
    if not len(numbers):
        return Finding(None, OPEN, "no number in any answer"), 1.0
    last = tokens(name)[-1:]
    if last and last[0] in _LARGER and low >= 0:
        # A thousand or 1,024 bytes: nobody knows, so nothing is multiplied.
        return Finding(_LARGER[last[0]], LIKELY, "the name"), 1.0
    named = _named(meant, low, high, reading)
    if named is not None:
        return named
    return Finding(None, OPEN, _SILENT), 1.0


def likely_counts(
    columns: list[ColumnFinding],
    readings: Mapping[str, FieldReading],
    evidence: Mapping[str, Evidence],
) -> None:
    """Find counts by other columns: whole numbers that add up, and what sums to counts.

    Amounts in cents, bytes and milliseconds are whole numbers that add up, too. What adds up
    counts things where it is a part of a proved fraction, or of the size of another count.
    """
    made = {
        each.name
        for column in columns
        for one in evidence[column.name].ratios
        for each in (one.numerator, one.denominator)
        if each is not None and each.own and len(evidence[column.name].ratios) == 1
    }
    changed = True
    while changed:
        changed = False
        for column in columns:
            seen, reading = evidence[column.name], readings[column.name]
            is_open = column.unit.confidence == OPEN and column.unit.evidence == _SILENT
            if not is_open or reading.dtype != "Int64" or not seen.adds:
                continue
            near = _of_one_size(column.name, columns, readings)
            if column.name in made or near:
                reason = f"of the size of {near}" if near else "a part of a proved fraction"
                column.unit = Finding(COUNT, LIKELY, f"whole numbers that add up, {reason}")
                changed = True


def _of_one_size(
    name: str, columns: list[ColumnFinding], readings: Mapping[str, FieldReading]
) -> str:
    """The name of a count whose values are of similar size in all rows; empty if none."""
    numbers = readings[name].numbers
    for other in columns:
        if other.name == name or other.unit.value != COUNT or other.scale != 1.0:
            continue
        beside = readings[other.name].numbers
        if not readings[other.name].is_number or len(beside) != len(numbers):
            continue
        both = (numbers > 0) & (beside > 0)
        if both.sum() >= _FEW:
            times = numbers[both] / beside[both]
            if times.max() <= _SIZE and times.min() >= 1 / _SIZE:
                return other.name
    return ""


def unit_of_word(word: Any) -> str | None:
    """The unit that a service's own word stands for; None if unknown.

    Examples
    --------
    >>> unit_of_word("percent"), unit_of_word("furlong") is None
    ('percent 0-100', True)
    """
    return _UNIT_WORDS.get(str(word).strip().lower())


def _named(
    meant: Meaning, low: float, high: float, reading: FieldReading
) -> tuple[Finding[str], float] | None:
    """The unit by the name, where the range of the values agrees; None where not."""
    kind, whole = meant.kind, reading.dtype == "Int64"
    span = f"the name, and values from {low:g} to {high:g}"
    if kind == "count" and low >= 0 and (whole or meant.mean):
        return Finding(COUNT, LIKELY, span), 1.0
    if kind == "share":
        return _share(meant, low, high, span, reading)
    if kind == "change":
        return _change(meant, low, high, span, reading)
    if kind == "position" and low >= 0:
        return Finding(POSITION, LIKELY, span), 1.0
    if kind == "rank" and low >= 0 and whole:
        return Finding(RANK, LIKELY, span), 1.0
    if kind == "rank" and low >= 0:
        return Finding(POSITION, LIKELY, span), 1.0
    if kind == "probability" and low >= 0 and high <= 1:
        return Finding(PROBABILITY, LIKELY, span), 1.0
    if kind == "score":
        if low >= -1 and high <= 1 and not whole:
            unit = "score -1 to 1" if low < 0 else "score 0-1"
            return Finding(unit, LIKELY, span), 1.0
        if low >= 0 and high <= 100:
            return Finding(SCORE if high > 10 else "score", LIKELY, span), 1.0
        return Finding("score", LIKELY, span), 1.0
    if kind == "status" and whole and low >= 100 and high < 600:
        return Finding(HTTP_STATUS, LIKELY, span), 1.0
    if kind == "money":
        return Finding(CURRENCY, LIKELY, span), meant.hundredths
    units = {"milliseconds": MILLISECONDS, "seconds": SECONDS, "bytes": BYTES}
    if kind in units and low >= 0:
        return Finding(units[kind], LIKELY, span), 1.0
    return None


def _share(
    meant: Meaning, low: float, high: float, span: str, reading: FieldReading
) -> tuple[Finding[str], float] | None:
    if low < -100 or high > 100.5:
        return None
    signed = "fraction -1 to 1" if low < 0 else FRACTION
    if high <= 1.0 and low >= -1.0 and not (meant.percent and reading.decimals <= 1):
        # All of them at most 1 under a name that says per cent: neither is sure.
        if meant.percent and reading.decimals < 3:
            return Finding(None, OPEN, "per cent by its name, a fraction by its range"), 1.0
        return Finding(signed, LIKELY, span), 1.0
    if high > 1.0 or low < -1.0:
        return Finding(signed, LIKELY, f"{span}: per cent"), 0.01
    return None


def _change(
    meant: Meaning, low: float, high: float, span: str, reading: FieldReading
) -> tuple[Finding[str], float] | None:
    if meant.points:
        scale = 0.01 if max(abs(low), abs(high)) > 1 or reading.decimals <= 2 else 1.0
        return Finding(FRACTION_CHANGE, LIKELY, f"{span}: percentage points"), scale
    if meant.percent:
        return Finding(FRACTION_CHANGE, LIKELY, f"{span}: per cent"), 0.01
    if meant.places:
        return Finding("places", LIKELY, f"{span}: a change of places"), 1.0
    if reading.dtype == "Int64" and meant.counted:
        return Finding(COUNT, LIKELY, f"{span}: a change of counts"), 1.0
    if low >= -1 and high <= 1:
        return Finding("fraction change", LIKELY, span), 1.0
    return None
