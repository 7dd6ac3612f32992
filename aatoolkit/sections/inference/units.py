"""Find the units and rules of columns: by names and ranges, and by the evidence gathered.

A unit is applied where it is likely, a rule only where evidence proves it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aatoolkit._util.lexicon import rows_of
from aatoolkit._util.lexicon import words as lexicon
from aatoolkit._util.text import some_of
from aatoolkit.sections import (
    COUNT,
    CURRENCY,
    FRACTION,
    FRACTION_CHANGE,
    MAX,
    MIN,
    NONE,
    RANK,
    SECONDS,
    Aggregation,
    ratio,
    refused,
    weighted,
)
from aatoolkit.sections.inference.relations import (
    LIKELY,
    OPEN,
    PROVED,
    ColumnFinding,
    Finding,
    Relation,
)
from aatoolkit.sections.inference.words import tokens

POSITION, SIGNED = "position", "fraction -1 to 1"
_SILENT = "its name and its values do not show the unit"
_FEW, _SIZE = 3, 10.0

_NAMED = [
    (
        *(kind, word.strip("-"), {"yes": True, "no": False}.get(whole)),
        *(float(least), float(most), None if unit == "-" else unit, float(factor)),
    )
    for kind, word, whole, least, most, unit, factor in rows_of(
        Path(__file__).with_name("units.txt")
    )
]


def settle_units(relations: list[Relation]) -> None:
    """Find the unit of each number, and the factor that it is multiplied by."""
    measures = [[c for c in other.columns if c.is_measure] for other in relations]
    for columns in measures:
        for column in columns:
            column.unit, column.scale = _unit_of(column)
        _likely_counts(columns)
    for columns in measures:
        for column in columns:
            # What sums to another column is in its unit.
            totals = [
                other for other in column.seen.equals if other.unit.value and other.scale == 1.0
            ]
            is_one = len({other.unit.value for other in totals}) == 1
            if column.unit.confidence == OPEN and is_one:
                reason = f"that of {totals[0].table}.{totals[0].name}, to which its rows sum"
                column.unit = Finding(totals[0].unit.value, LIKELY, reason)


def _unit_of(column: ColumnFinding) -> tuple[Finding[str], float]:
    reading, seen, named = column.reading, column.seen, column.meaning
    numbers = column.numbers[~np.isnan(column.numbers)]
    if reading.parse in ("money", "duration"):
        unit = CURRENCY if reading.parse == "money" else SECONDS
        return Finding(unit, PROVED, reading.evidence), 1.0
    if seen.ratios and named.kind not in ("position", "rank", "score", "change"):
        first = seen.ratios[0]
        reason = f"{first} on {first.rows} rows"
        return Finding(FRACTION, PROVED, reason), 0.01 if first.factor == 100 else 1.0
    if seen.siblings:
        reason = f"{' + '.join(seen.siblings)} = {seen.siblings_sum:g} on every row"
        return Finding(FRACTION, PROVED, reason), 1.0 / seen.siblings_sum
    if reading.ordinal:
        return Finding(RANK, LIKELY, "a number sign in the text"), 1.0
    if not len(numbers):
        return Finding(None, OPEN, "no number in any response"), 1.0
    low, high = float(numbers.min()), float(numbers.max())
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
    for kind, word, is_whole, least, most, named_unit, factor in _NAMED:
        is_kind = (
            kind == named.kind and words[word] and is_whole in (None, reading.dtype == "Int64")
        )
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
    names = {
        operand.name
        for column in columns
        for ratio in column.seen.ratios
        for operand in (ratio.numerator, ratio.denominator)
        if operand.own and len(column.seen.ratios) == 1
    }
    waiting = [c for c in columns if c.unit.evidence == _SILENT and c.reading.dtype == "Int64"]
    for column in [*waiting, *waiting]:
        like = _of_one_size(column, columns) if column.seen.adds else ""
        if column.unit.confidence == OPEN and column.seen.adds and (like or column.name in names):
            reason = f"of the size of {like}" if like else "a part of a proved fraction"
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


# --- rules --------------------------------------------------------------------------------------

Rule = Finding[Aggregation]

_OVERLAP = refused("distinct things: the parts overlap")
_POOLED = ("share", "position", "score", "milliseconds", "seconds")


def settle_rule(column: ColumnFinding) -> None:
    """Find how rows of a column combine, unless its unit has settled that."""
    words = {*tokens(column.name)}
    if column.is_key or column.label or column.rule.value is not None:
        return
    if column.reading.is_number:
        column.rule = _of_number(column, words)
    elif column.dtype in ("date", "timestamp"):
        moments = ((MIN, "earliest"), (MAX, "latest_word"))
        rule = next((rule for rule, concept in moments if words & lexicon(concept)), None)
        column.rule = Finding(rule, LIKELY, "name") if rule else Finding(NONE, PROVED)


def _of_number(column: ColumnFinding, words: set[str]) -> Rule:
    named, seen = column.meaning, column.seen
    kind = "share" if seen.siblings else named.kind
    tested = f"over engine on {seen.tested} rows"
    metrics = (name for name in column.relation.key if lexicon("metric") & {*tokens(name)})
    metric = next(metrics, None)
    # Such words mean something only beside the name of a metric.
    if metric and words <= lexicon("value", "value_word"):
        why = f"rows are different measures: choose one {metric}"
        return Finding(Aggregation("none", within=metric, why=why), LIKELY, "name")
    refusals = (
        ("medians do not combine", words & lexicon("median")),
        (f"a {kind} of rows does not combine", kind in ("rank", "probability", "id", "status")),
        ("a change is taken anew from the sums", kind == "change"),
    )
    for why, fits in refusals:
        if fits:
            return Finding(refused(why), LIKELY, "name")
    pooled = _pooled(column, kind == "share", words)
    if kind in _POOLED or named.mean:
        return pooled
    if seen.outcome == "distinct" and seen.tested >= 2 and not seen.sums:
        return Finding(_OVERLAP, PROVED, f"less than the sum of the parts {tested}")
    if words & lexicon("distinct"):
        return Finding(_OVERLAP, LIKELY, "name")
    if seen.adds:
        total = Aggregation("sum", within=_currency(column), across=_across(column))
        reasons = [f"adds up {tested}"] if seen.outcome == "adds" else []
        return Finding(total, PROVED, "; ".join(dict.fromkeys([*reasons, *seen.sums])))
    if pooled.value is not None:
        return pooled
    reason = f"{seen.outcome} {tested}" if seen.outcome else ""
    return Finding(None, OPEN, reason or "nothing shows whether its rows add up")


def _across(column: ColumnFinding) -> tuple[str, ...]:
    """The dimensions that a sum is limited to; empty where it holds over all rows."""
    key, engines = column.relation.key, {"engine"} if column.seen.outcome == "adds" else set()
    proved = column.seen.across | engines
    if {*key} <= proved:
        return ()
    return (*sorted(engines - {*key}), *(name for name in key if name in proved))


def _currency(column: ColumnFinding) -> str | None:
    """The column that holds the currency of an amount: beside it, or from its signs."""
    if column.unit.value != "currency":
        return None
    beside = column.source.rpartition(".")[0]
    names = (
        other.name
        for other in column.relation.columns
        if "currency" in tokens(other.name)
        and {other.source, other.source.rpartition(".")[0]} & {column.source, beside}
    )
    return next(names, None)


def _pooled(column: ColumnFinding, is_share: bool, words: set[str]) -> Rule:
    """The ratio or weighted mean that the evidence leaves, if it leaves exactly one."""
    seen = column.seen
    if seen.ratios:
        below = {candidate.over[1] for candidate in seen.ratios}
        return _ratio(column, _agreed(column, below))
    left = _agreed(column)
    if left and words & lexicon("picked"):
        return Finding(None, OPEN, "each row may speak of another: it is that of one picked out")
    if not left:
        return Finding(None, OPEN, "the counts that it is made of are not in the response")
    if len(left) > 1:
        return Finding(None, OPEN, f"a mean with weights from one of {some_of(sorted(left))}")
    (by,) = left
    if "." in by or by.startswith("sum of "):
        return Finding(None, OPEN, f"a mean over {by}, which is no column of this table")
    reasons = [
        f"{what} {by} on {rows[by]} rows"
        for what, rows in (
            ("a whole number over", seen.wholes),
            ("the engines pool to the whole by", seen.weights),
        )
        if by in rows
    ]
    mean = Aggregation("mean", by=by, why="a ratio") if is_share else weighted(by)
    return Finding(mean, PROVED, "; ".join(reasons))


def _ratio(column: ColumnFinding, agreed: set[str]) -> Rule:
    """The ratio of two columns; of several that fit, the one that the other evidence leaves.

    It holds of the numbers as written, so the two columns must have one scale, and the ratio none
    of its own.
    """
    ratios, scales = column.seen.ratios, {c.name: c.scale for c in column.relation.columns}
    own_ratios = [
        candidate
        for candidate in ratios
        if {*candidate.over} <= scales.keys()
        and len({scales[name] for name in candidate.over}) == 1
        and candidate.factor * column.scale == 1
    ]
    pairs = {candidate.over for candidate in ratios}
    left = (
        own_ratios
        if len(pairs) == 1
        else [candidate for candidate in own_ratios if {candidate.over[1]} == agreed]
    )
    if len(left) == 1:
        rival = "no other pair of counts" if len(pairs) == 1 else "the engines pool by it"
        return Finding(ratio(*left[0].over), PROVED, f"{left[0]} on {left[0].rows} rows, {rival}")
    # Several totals of the same rows: whichever it is, the parts are divided anew.
    first = ratios[0]
    is_of_total = len({above for above, _ in pairs}) == 1 and (len(pairs) == 1 or not own_ratios)
    if is_of_total and first.numerator.own:
        why = "ratio of {} over {}: add and divide anew".format(*first.over)
        return Finding(refused(why), PROVED, f"{first} on {first.rows} rows")
    names = some_of([*dict.fromkeys(map(str, ratios))])
    return Finding(None, OPEN, f"one of {names}, not all columns of this table")


def _agreed(column: ColumnFinding, *kinds: set[str]) -> set[str]:
    """The denominators that all kinds of evidence leave possible."""
    left = [*kinds, *filter(None, ({*column.seen.wholes}, {*column.seen.weights}))]
    return set.intersection(*left) if left else set()
