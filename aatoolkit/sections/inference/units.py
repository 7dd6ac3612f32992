"""Find the units of numbers: by names and ranges, and by the identities that they satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
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
    Aggregation,
    refused,
)
from aatoolkit.sections.inference.evidence import FEWEST
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import (
    LIKELY,
    OPEN,
    PROVED,
    ColumnFinding,
    Finding,
    Relation,
)
from aatoolkit.sections.inference.words import (
    METRICS,
    PARTICIPLES,
    UNITS,
    VALUES,
    Meaning,
    is_measure_name,
    tokens,
)

POSITION, SIGNED, PERCENT = "position", "fraction -1 to 1", "percent 0-100"
_SILENT = "its name and its values do not show the unit"
_FEW, _SIZE, _SLACK, _MOST, _METRICS = 3, 10.0, 1e-9, 24, 60
_UNIT_FIELDS = ("unit", "units", "format", "value_type", "type")

# kind of name, whether whole (None: either), least, most, unit, factor; the first that fits holds
# fmt: off
_NAMED: tuple[tuple[str, bool | None, float, float, str, float], ...] = (
    ("share", None, 0, 1, FRACTION, 1), ("share", None, -1, 1, SIGNED, 1),
    ("share", None, 0, 100.5, FRACTION, 0.01), ("share", None, -100, 100.5, SIGNED, 0.01),
    ("position", None, 0, inf, POSITION, 1),
    ("rank", True, 0, inf, RANK, 1), ("rank", False, 0, inf, POSITION, 1),
    ("probability", None, 0, 1, PROBABILITY, 1),
    ("score", False, 0, 1, "score 0-1", 1), ("score", False, -1, 1, "score -1 to 1", 1),
    ("score", None, 0, 10, "score", 1), ("score", None, 0, 100, SCORE, 1),
    ("score", None, -inf, inf, "score", 1),
    ("status", True, 100, 599, HTTP_STATUS, 1), ("money", None, -inf, inf, CURRENCY, 1),
    ("milliseconds", None, 0, inf, MILLISECONDS, 1), ("seconds", None, 0, inf, SECONDS, 1),
    ("bytes", None, 0, inf, BYTES, 1),
    ("kilobytes", None, 0, inf, "kilobytes", 1), ("megabytes", None, 0, inf, "megabytes", 1),
    ("gigabytes", None, 0, inf, "gigabytes", 1),
)
# fmt: on


def settle_units(relations: list[Relation]) -> None:
    """Find the unit of each number, and the factor that it is multiplied by."""
    measures = {one: [c for c in one.columns if c.is_measure] for one in relations}
    for columns in measures.values():
        for column in columns:
            column.unit, column.scale = _unit_of(column)
        _likely_counts(columns)
    for relation, columns in measures.items():
        for column in columns:
            # What sums to another column is in its unit.
            totals = [one for one in column.seen.equals if one.unit.value is not None]
            units = {one.unit.value for one in totals if one.scale == 1.0}
            if column.unit.confidence == OPEN and column.scale == 1.0 and len(units) == 1:
                reason = f"that of {totals[0].table}.{totals[0].name}, to which its rows sum"
                column.unit = Finding(totals[0].unit.value, LIKELY, reason)
        _differences(columns[:_MOST])
        _by_metric(relation, columns)


def _unit_of(column: ColumnFinding) -> tuple[Finding[str], float]:
    reading, seen, named = column.reading, column.seen, column.meaning
    known = column.numbers[~np.isnan(column.numbers)]
    if reading.parse in ("money", "duration"):
        unit = CURRENCY if reading.parse == "money" else SECONDS
        return Finding(unit, PROVED, reading.evidence), 1.0
    shown = [ratio for ratio in seen.ratios if ratio.numerator is not None]
    if shown and named.kind not in ("position", "rank", "score", "change"):
        reason = f"{shown[0]} on {shown[0].rows} rows"
        return Finding(FRACTION, PROVED, reason), 0.01 if shown[0].factor == 100 else 1.0
    if seen.siblings:
        reason = f"{' + '.join(seen.siblings)} = {seen.whole:g} on every row"
        return Finding(FRACTION, PROVED, reason), 1.0 / seen.whole
    if reading.ordinal:
        return Finding(RANK, LIKELY, "a number sign in the text"), 1.0
    if reading.percent:
        unit = FRACTION_CHANGE if named.kind == "change" else FRACTION
        unit = SIGNED if unit == FRACTION and known.min() < 0 else unit
        return Finding(unit, PROVED, "a per cent sign in the text"), 0.01
    if not len(known):
        return Finding(None, OPEN, "no number in any answer"), 1.0
    return _named(named, float(known.min()), float(known.max()), reading)


def _named(
    named: Meaning, low: float, high: float, reading: FieldReading
) -> tuple[Finding[str], float]:
    """The unit by a name, where the range of the values agrees."""
    is_whole, open_ = reading.dtype == "Int64", (Finding[str](None, OPEN, _SILENT), 1.0)
    span = f"the name, and values from {low:g} to {high:g}"
    if named.factor != 1.0 and named.kind in ("share", "change", "money"):
        unit = {"share": FRACTION, "change": FRACTION_CHANGE}.get(named.kind, CURRENCY)
        return Finding(unit, LIKELY, span), named.factor
    if named.kind == "count":
        fits = low >= 0 and (is_whole or named.mean)
        return (Finding(COUNT, LIKELY, span), 1.0) if fits else open_
    is_coarse = named.percent and reading.decimals < 3
    if named.kind == "share" and is_coarse and low >= -1 and high <= 1:
        # All of them at most 1 under a name that says per cent: neither is sure.
        return Finding(None, OPEN, "per cent by its name, a fraction by its range"), 1.0
    if named.kind == "change":
        return _change(named, low, high, span, reading) or open_
    for kind, whole, least, most, unit, factor in _NAMED:
        if kind == named.kind and whole in (None, is_whole) and least <= low and high <= most:
            reason = f"{span}: per cent" if factor == 0.01 else span
            return Finding(unit, LIKELY, reason), float(factor)
    return open_


def _change(
    named: Meaning, low: float, high: float, span: str, reading: FieldReading
) -> tuple[Finding[str], float] | None:
    size = max(abs(low), abs(high))
    if named.points or named.percent:
        is_points = named.points and size <= 1 and reading.decimals > 2
        words = "percentage points" if named.points else "per cent"
        return Finding(FRACTION_CHANGE, LIKELY, f"{span}: {words}"), 1.0 if is_points else 0.01
    if named.places:
        return Finding("places", LIKELY, f"{span}: a change of places"), 1.0
    if reading.dtype == "Int64" and named.counted:
        return Finding(COUNT, LIKELY, f"{span}: a change of counts"), 1.0
    return (Finding("fraction change", LIKELY, span), 1.0) if size <= 1 else None


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
        if other is column or other.unit.value != COUNT or other.scale != 1.0 or both.sum() < _FEW:
            continue
        times = column.numbers[both] / other.numbers[both]
        if times.max() <= _SIZE and times.min() >= 1 / _SIZE:
            return other.name
    return ""


# --- differences --------------------------------------------------------------------------------


def _differences(columns: list[ColumnFinding]) -> None:
    """Give a change the unit of the columns whose difference it is, if one pair fits all rows."""
    for column in columns:
        if column.meaning.kind != "change":
            continue
        fits = [pair for pair in _pairs(column, columns) if _is_difference(column, *pair)]
        if len(fits) != 1:
            continue
        now, before, factor = fits[0]
        reason = f"{now.name} - {before.name}{' × 100' if factor == 100 else ''} on every row"
        if now.unit.value in (FRACTION, COUNT):
            unit = FRACTION_CHANGE if now.unit.value == FRACTION else COUNT
            column.unit = Finding(unit, PROVED, reason)
            column.scale = 0.01 if factor == 100 else now.scale
        why = f"{now.name} less {before.name}: combine these and subtract anew"
        column.rule = Finding(refused(why), PROVED, reason)


def _pairs(
    column: ColumnFinding, columns: list[ColumnFinding]
) -> Iterator[tuple[ColumnFinding, ColumnFinding, int]]:
    """Yield pairs of one unit whose difference a change may be, with its factor."""
    others = [one for one in columns if one is not column and one.unit.value is not None]
    for now, before in permutations(others, 2):
        if (now.unit.value, now.scale) == (before.unit.value, before.scale):
            yield now, before, 1
            if now.unit.value == FRACTION and now.scale == 1.0:
                yield now, before, 100


def _is_difference(
    change: ColumnFinding, now: ColumnFinding, before: ColumnFinding, factor: int
) -> bool:
    error = factor * (now.numbers - before.numbers) - change.numbers
    known = ~np.isnan(error)
    half = (now.half + before.half) * factor + change.half
    different = np.unique(change.numbers[known & (change.numbers != 0)])
    if len(different) < FEWEST or float(np.ptp(different)) < 8 * half:
        return False
    return bool((np.abs(error[known]) <= half + _SLACK).all())


# --- rows that are metrics ----------------------------------------------------------------------


def _by_metric(relation: Relation, columns: list[ColumnFinding]) -> None:
    """Give a value column one unit per metric, where rows are metrics."""
    metric, units = _metrics(relation)
    for column in columns if metric else ():
        if _is_value_name(column.name):
            evidence = f"each {metric} has a unit of its own"
            column.units, column.scale = units, 1.0
            column.unit = Finding(f"per `{metric}`", LIKELY, evidence)
            why = f"rows are different measures: choose one {metric}"
            column.rule = Finding(Aggregation("none", why=why), LIKELY, evidence)


def _is_value_name(name: str) -> bool:
    """Whether a name, such as ``value``, is only meaningful beside a metric's name."""
    return set(tokens(name)) <= VALUES


def _metrics(relation: Relation) -> tuple[str, dict[str, str]]:
    """The column that names the metric of each row, empty without one, and the metrics' units."""
    values = [c for c in relation.columns if c.reading.is_number and not c.label]
    for column in relation.columns:
        if not column.reading.is_text or column.name in ("unit", "units", "type"):
            continue
        words = list(dict.fromkeys(one for one in column.values if isinstance(one, str)))
        named = bool(METRICS & set(tokens(column.name)))
        is_key = column.is_key and not set(words) & PARTICIPLES
        # What only reads like a metric is a title where the numbers have names of their own.
        is_bare = any(_is_value_name(one.name) for one in values)
        if not _FEW <= len(words) <= _METRICS or not (named or (is_key and is_bare)):
            continue
        if sum(map(is_measure_name, words)) >= (0.3 if named else 0.6) * len(words):
            units = {word: _unit_of_metric(column, word, values) for word in words}
            return column.name, {word: unit for word, unit in units.items() if unit}
    return "", {}


def _unit_of_metric(metric: ColumnFinding, word: str, values: list[ColumnFinding]) -> str | None:
    """The unit of one metric: by the service's own word for it, or by its name and values."""
    rows = [row for row, value in enumerate(metric.values) if value == word]
    for column in metric.relation.columns:
        unit = UNITS.get(str(column.values[rows[0]]).strip().lower())
        if column.name in _UNIT_FIELDS and unit is not None:
            return unit
    if not values:
        return None
    reading = values[0].reading
    part = replace(reading, dtype=reading.dtype, decimals=4, numbers=reading.numbers[rows])
    one = ColumnFinding(word, word, word, [], reading=part, relation=metric.relation)
    found, scale = _unit_of(one)
    return PERCENT if scale == 0.01 and found.value else found.value
