"""Find the units of numbers: by names and ranges, and by the identities that they satisfy."""

from __future__ import annotations

from math import inf

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
from aatoolkit.sections.inference.relations import (
    LIKELY,
    OPEN,
    PROVED,
    ColumnFinding,
    Finding,
    Relation,
)

POSITION, SIGNED = "position", "fraction -1 to 1"
_SILENT = "its name and its values do not show the unit"
_FEW, _SIZE = 3, 10.0

# kind of name, words of it, whether whole (None: either), least, most, unit, factor; in a unit that
# its name states (cents, ppm) the factor is the name's. The first that fits holds.
# fmt: off
_NAMED: tuple[tuple[str, str, bool | None, float, float, str | None, float], ...] = (
    ("share", "factor", None, -inf, inf, FRACTION, 1),
    ("change", "factor", None, -inf, inf, FRACTION_CHANGE, 1),
    ("money", "factor", None, -inf, inf, CURRENCY, 1),
    ("count", "", True, 0, inf, COUNT, 1), ("count", "mean", None, 0, inf, COUNT, 1),
    # All of them at most 1 under a name that says per cent: neither is sure.
    ("share", "coarse", None, -1, 1, None, 1),
    ("share", "", None, 0, 1, FRACTION, 1), ("share", "", None, -1, 1, SIGNED, 1),
    ("share", "", None, 0, 100.5, FRACTION, 0.01), ("share", "", None, -100, 100.5, SIGNED, 0.01),
    ("change", "fine points", None, -1, 1, FRACTION_CHANGE, 1),
    ("change", "points", None, -inf, inf, FRACTION_CHANGE, 0.01),
    ("change", "percent", None, -inf, inf, FRACTION_CHANGE, 0.01),
    ("change", "places", None, -inf, inf, "places", 1),
    ("change", "counted", True, -inf, inf, COUNT, 1),
    ("change", "", None, -1, 1, "fraction change", 1),
    ("position", "", None, 0, inf, POSITION, 1),
    ("rank", "", True, 0, inf, RANK, 1), ("rank", "", False, 0, inf, POSITION, 1),
    ("probability", "", None, 0, 1, PROBABILITY, 1),
    ("score", "", False, 0, 1, "score 0-1", 1), ("score", "", False, -1, 1, "score -1 to 1", 1),
    ("score", "", None, 0, 10, "score", 1), ("score", "", None, 0, 100, SCORE, 1),
    ("score", "", None, -inf, inf, "score", 1),
    ("status", "", True, 100, 599, HTTP_STATUS, 1), ("money", "", None, -inf, inf, CURRENCY, 1),
    ("milliseconds", "", None, 0, inf, MILLISECONDS, 1), ("seconds", "", None, 0, inf, SECONDS, 1),
    ("bytes", "", None, 0, inf, BYTES, 1),
    ("kilobytes", "", None, 0, inf, "kilobytes", 1),
    ("megabytes", "", None, 0, inf, "megabytes", 1),
    ("gigabytes", "", None, 0, inf, "gigabytes", 1),
)
# fmt: on


def settle_units(relations: list[Relation]) -> None:
    """Find the unit of each number, and the factor that it is multiplied by."""
    measures = [[c for c in one.columns if c.is_measure] for one in relations]
    for columns in measures:
        for column in columns:
            column.unit, column.scale = _unit_of(column)
        _likely_counts(columns)
    for columns in measures:
        for column in columns:
            # What sums to another column is in its unit.
            totals = [one for one in column.seen.equals if one.unit.value and one.scale == 1.0]
            is_one = len({one.unit.value for one in totals}) == 1
            if column.unit.confidence == OPEN and is_one:
                reason = f"that of {totals[0].table}.{totals[0].name}, to which its rows sum"
                column.unit = Finding(totals[0].unit.value, LIKELY, reason)


def _unit_of(column: ColumnFinding) -> tuple[Finding[str], float]:
    reading, seen, named = column.reading, column.seen, column.meaning
    known = column.numbers[~np.isnan(column.numbers)]
    shown = [ratio for ratio in seen.ratios if ratio.numerator is not None]
    if reading.parse in ("money", "duration"):
        unit = CURRENCY if reading.parse == "money" else SECONDS
        return Finding(unit, PROVED, reading.evidence), 1.0
    if shown and named.kind not in ("position", "rank", "score", "change"):
        reason = f"{shown[0]} on {shown[0].rows} rows"
        return Finding(FRACTION, PROVED, reason), 0.01 if shown[0].factor == 100 else 1.0
    if seen.siblings:
        reason = f"{' + '.join(seen.siblings)} = {seen.whole:g} on every row"
        return Finding(FRACTION, PROVED, reason), 1.0 / seen.whole
    if reading.ordinal:
        return Finding(RANK, LIKELY, "a number sign in the text"), 1.0
    if not len(known):
        return Finding(None, OPEN, "no number in any response"), 1.0
    low, high = float(known.min()), float(known.max())
    if reading.percent:
        unit = SIGNED if low < 0 else FRACTION
        unit = FRACTION_CHANGE if named.kind == "change" else unit
        return Finding(unit, PROVED, "a per cent sign in the text"), 0.01
    words = {
        "": True,
        "factor": named.factor != 1.0,
        "mean": named.mean,
        "coarse": named.percent and reading.decimals < 3,
        "fine points": named.points and reading.decimals > 2,
        "points": named.points,
        "percent": named.percent,
        "places": named.places,
        "counted": named.counted,
    }
    for kind, word, whole, least, most, named_unit, factor in _NAMED:
        is_kind = kind == named.kind and words[word] and whole in (None, reading.dtype == "Int64")
        if is_kind and least <= low and high <= most:
            reason = f"the name, and values from {low:g} to {high:g}"
            if named_unit is None:
                return Finding(None, OPEN, "per cent by its name, a fraction by its range"), 1.0
            return Finding(named_unit, LIKELY, reason), named.factor if word == "factor" else factor
    return Finding(None, OPEN, _SILENT), 1.0


def _likely_counts(columns: list[ColumnFinding]) -> None:
    """Find counts by other columns: whole numbers that add up, and what sums to counts.

    Amounts in cents, bytes and milliseconds are whole numbers that add up, too. What adds up
    counts things where it is a part of a proved fraction, or of the size of another count.
    """
    made = {
        operand.name
        for column in columns
        for ratio in column.seen.ratios
        for operand in (ratio.numerator, ratio.denominator)
        if operand is not None and operand.own and len(column.seen.ratios) == 1
    }
    waiting = [c for c in columns if c.unit.evidence == _SILENT and c.reading.dtype == "Int64"]
    for column in [*waiting, *waiting]:
        near = _of_one_size(column, columns) if column.seen.adds else ""
        if column.unit.confidence == OPEN and column.seen.adds and (near or column.name in made):
            reason = f"of the size of {near}" if near else "a part of a proved fraction"
            column.unit = Finding(COUNT, LIKELY, f"whole numbers that add up, {reason}")


def _of_one_size(column: ColumnFinding, columns: list[ColumnFinding]) -> str:
    """The name of a count whose values are of similar size in all rows; empty if none."""
    for other in columns:
        both = (column.numbers > 0) & (other.numbers > 0)
        if other is not column and other.unit.value == COUNT and both.sum() >= _FEW:
            times = column.numbers[both] / other.numbers[both]
            if times.min() >= 1 / _SIZE and times.max() <= _SIZE:
                return other.name
    return ""
