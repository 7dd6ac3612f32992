"""Guess the units of columns, and ways to aggregate them, from their names and numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aatoolkit._util.lexicon import read_text_table, words_of
from aatoolkit._util.text import some_of
from aatoolkit.sections import (
    COUNT,
    CURRENCY,
    FRACTION,
    FRACTION_CHANGE,
    MAX,
    MIN,
    NONE,
    NOT_ADDITIVE,
    RANK,
    SECONDS,
    Aggregation,
    ratio,
    refused,
    weighted,
)
from aatoolkit.sections.inference.evidence import MIN_DISTINCT_ROWS
from aatoolkit.sections.inference.findings import (
    LIKELY,
    OPEN,
    PROVED,
    ColumnFinding,
    Finding,
    Relation,
)
from aatoolkit.sections.inference.words import tokens

POSITION, SIGNED = "position", "fraction -1 to 1"
_NO_UNIT_SHOWN = "its name and its values do not show the unit"
_MIN_ROWS, _MAX_QUOTIENT = 3, 10.0

_UNITS_BY_NAME = [
    (
        *(kind, word.strip("-"), {"yes": True, "no": False}.get(is_whole)),
        *(float(minimum), float(maximum), None if unit == "-" else unit, float(factor)),
    )
    for kind, word, is_whole, minimum, maximum, unit, factor in read_text_table(
        Path(__file__).with_name("units.txt")
    )
]


def set_units(relations: list[Relation]) -> None:
    """Set the unit of each column of numbers, and the factor that converts the values to this unit.

    For cents, for example, the unit is ``currency`` and the factor 0.01.
    """
    measures_by_table = [
        [column for column in relation.columns if column.is_measure] for relation in relations
    ]
    for columns in measures_by_table:
        for column in columns:
            column.unit, column.scale = _find_unit(column)
        _set_likely_counts(columns)
    for columns in measures_by_table:
        for column in columns:
            # A column that sums to another one has its unit.
            totals = [
                total
                for total in column.facts.total_columns
                if total.unit.value and total.scale == 1.0
            ]
            is_same_unit = len({total.unit.value for total in totals}) == 1
            if column.unit.confidence == OPEN and is_same_unit:
                evidence = f"that of {totals[0].table}.{totals[0].name}, to which its rows sum"
                column.unit = Finding(totals[0].unit.value, LIKELY, evidence)


def _find_unit(column: ColumnFinding) -> tuple[Finding[str], float]:
    """Return the unit of a column of numbers, and the factor that converts the values to this unit.

    Returns
    -------
    Finding
        The unit, such as ``count``, with its confidence and reason.
    float
        The factor: 0.01 for percent and cents, in most other cases 1.
    """
    number_format, evidence, name_meaning = column.reading, column.facts, column.meaning
    numbers = column.numbers[~np.isnan(column.numbers)]
    if number_format.parse in ("money", "duration"):
        unit = CURRENCY if number_format.parse == "money" else SECONDS
        return Finding(unit, PROVED, number_format.evidence), 1.0
    if evidence.ratios and name_meaning.kind not in ("position", "rank", "score", "change"):
        first_ratio = evidence.ratios[0]
        reason = f"{first_ratio} on {first_ratio.row_count} rows"
        return Finding(FRACTION, PROVED, reason), 0.01 if first_ratio.factor == 100 else 1.0
    if evidence.siblings:
        reason = f"{' + '.join(evidence.siblings)} = {evidence.siblings_sum:g} on every row"
        return Finding(FRACTION, PROVED, reason), 1.0 / evidence.siblings_sum
    if number_format.ordinal:
        return Finding(RANK, LIKELY, "a number sign in the text"), 1.0
    if not len(numbers):
        return Finding(None, OPEN, "no number in any response"), 1.0
    lowest, highest = float(numbers.min()), float(numbers.max())
    if number_format.percent:
        unit = SIGNED if lowest < 0 else FRACTION
        unit = FRACTION_CHANGE if name_meaning.kind == "change" else unit
        return Finding(unit, PROVED, "a per cent sign in the text"), 0.01
    conditions = {
        "": True,
        "factor": name_meaning.factor != 1.0,
        "mean": name_meaning.mean,
        "coarse": name_meaning.percent and number_format.decimals < 3,
        "fine points": name_meaning.points and number_format.decimals > 2,
        "points": name_meaning.points,
        "percent": name_meaning.percent,
        "places": name_meaning.places,
        "counted": name_meaning.has_counted_noun,
    }
    for kind, condition, is_whole, min_value, max_value, named_unit, factor in _UNITS_BY_NAME:
        is_match = (
            kind == name_meaning.kind
            and conditions[condition]
            and is_whole in (None, number_format.dtype == "Int64")
        )
        if is_match and min_value <= lowest and highest <= max_value:
            reason = f"the name, and values from {lowest:g} to {highest:g}"
            if named_unit is None:
                return Finding(None, OPEN, "per cent by its name, a fraction by its range"), 1.0
            return Finding(
                named_unit, LIKELY, reason
            ), name_meaning.factor if condition == "factor" else factor
    return Finding(None, OPEN, _NO_UNIT_SHOWN), 1.0


def _set_likely_counts(columns: list[ColumnFinding]) -> None:
    """Set the unit ``count`` for columns without a unit whose whole numbers are likely counts.

    That is likely if the numbers can be summed. They must also be part of a ratio, or about as
    large as the numbers of another count.
    """
    # Whole numbers that add up may still be cents, bytes or milliseconds.
    fraction_part_names = {
        operand.name
        for column in columns
        for ratio in column.facts.ratios
        for operand in (ratio.numerator, ratio.denominator)
        if operand.is_own and len(column.facts.ratios) == 1
    }
    undecided_columns = [
        column
        for column in columns
        if column.unit.evidence == _NO_UNIT_SHOWN
        and column.reading.dtype == "Int64"
        and column.facts.is_additive
    ]
    for column in [*undecided_columns, *undecided_columns]:
        count = _find_similar_count(column, columns)
        is_count = count or column.name in fraction_part_names
        if column.unit.confidence == OPEN and is_count:
            reason = f"of the size of {count}" if count else "a part of a proved fraction"
            column.unit = Finding(COUNT, LIKELY, f"whole numbers that add up, {reason}")


def _find_similar_count(column: ColumnFinding, columns: list[ColumnFinding]) -> str:
    """Return the name of another column of counts with numbers of similar size, or ""."""
    for other in columns:
        is_positive = (column.numbers > 0) & (other.numbers > 0)
        if other is not column and other.unit.value == COUNT and is_positive.sum() >= _MIN_ROWS:
            quotients = column.numbers[is_positive] / other.numbers[is_positive]
            if quotients.min() >= 1 / _MAX_QUOTIENT and quotients.max() <= _MAX_QUOTIENT:
                return other.name
    return ""


# --- rules --------------------------------------------------------------------------------------

RuleFinding = Finding[Aggregation]

_WEIGHTED_KINDS = ("share", "position", "score", "milliseconds", "seconds")


def set_rule(column: ColumnFinding) -> None:
    """Set how to aggregate a column, such as by a sum. If it is already set, do nothing."""
    words = {*tokens(column.name)}
    if column.is_key or column.is_label or column.rule.value is not None:
        return
    if column.reading.is_number:
        column.rule = _find_rule_of_number(column, words)
    elif column.dtype in ("date", "timestamp"):
        rule_concepts = ((MIN, "earliest"), (MAX, "latest_word"))
        rule = next((rule for rule, concept in rule_concepts if words & words_of(concept)), None)
        column.rule = Finding(rule, LIKELY, "name") if rule else Finding(NONE, PROVED)


def _find_rule_of_number(column: ColumnFinding, words: set[str]) -> RuleFinding:
    """Return how to aggregate a column of numbers.

    Parameters
    ----------
    column : ColumnFinding
        The column.
    words : set of str
        The words in its name, such as ``{"mention", "rate"}``.
    """
    name_meaning, evidence = column.meaning, column.facts
    kind = "share" if evidence.siblings else name_meaning.kind
    test_note = f"over engine on {evidence.tested_rows} rows"
    metric = next(
        (name for name in column.relation.key if words_of("metric") & {*tokens(name)}), None
    )
    # A value beside the name of a metric is of that metric.
    if metric and words <= words_of("value", "value_word"):
        why = f"rows are different measures: choose one {metric}"
        return Finding(Aggregation("none", within=metric, why=why), LIKELY, "name")
    refusals = (
        ("medians do not combine", words & words_of("median")),
        (f"a {kind} of rows does not combine", kind in ("rank", "probability", "id", "status")),
        ("a change is taken anew from the sums", kind == "change"),
    )
    for why, is_refused in refusals:
        if is_refused:
            return Finding(refused(why), LIKELY, "name")
    weighted_rule = _find_weighted_rule(column, kind == "share", words)
    if kind in _WEIGHTED_KINDS or name_meaning.mean:
        return weighted_rule
    # Distinct things of several rows may still add up over the rows of one response.
    is_refuted = (evidence.tested_rows >= 2 and not evidence.sum_notes) or not column.relation.key
    if evidence.engine_outcome == "distinct" and is_refuted:
        return Finding(NOT_ADDITIVE, PROVED, f"less than the sum of the parts {test_note}")
    if words & words_of("distinct"):
        return Finding(NOT_ADDITIVE, LIKELY, "name")
    if evidence.is_additive:
        sum_rule = Aggregation(
            "sum", within=_find_currency_column(column), across=_find_across(column)
        )
        reasons = [f"adds up {test_note}"] if evidence.engine_outcome == "adds" else []
        return Finding(sum_rule, PROVED, "; ".join(dict.fromkeys([*reasons, *evidence.sum_notes])))
    if weighted_rule.value is not None:
        return weighted_rule
    reason = f"{evidence.engine_outcome} {test_note}" if evidence.engine_outcome else ""
    return Finding(None, OPEN, reason or "nothing shows whether its rows add up")


def _find_across(column: ColumnFinding) -> tuple[str, ...]:
    """Return the names of the columns over which a column may be summed; () means all."""
    key, engines = (
        column.relation.key,
        {"engine"} if column.facts.engine_outcome == "adds" else set(),
    )
    proved_columns = column.facts.across | engines
    # A sum over the rows of a response is none over engines where the test over engines failed.
    if {*key} <= proved_columns and (engines or not key or not column.facts.engine_outcome):
        return ()
    return (*sorted(engines - {*key}), *(name for name in key if name in proved_columns))


def _find_currency_column(column: ColumnFinding) -> str | None:
    """Return the name of the column with the currency of a column of amounts, or None."""
    if column.unit.value != "currency":
        return None
    object_source = column.source.rpartition(".")[0]
    names = (
        currency_column.name
        for currency_column in column.relation.columns
        if "currency" in tokens(currency_column.name)
        and {currency_column.source, currency_column.source.rpartition(".")[0]}
        & {column.source, object_source}
    )
    return next(names, None)


def _find_weighted_rule(column: ColumnFinding, is_share: bool, words: set[str]) -> RuleFinding:
    """Return how to aggregate a rate or a mean: by a ratio of two columns, or a weighted mean.

    Parameters
    ----------
    column : ColumnFinding
        The column with the rates or means.
    is_share : bool
        Whether its name suggests a share, such as ``mention_rate``.
    words : set of str
        The words in its name.
    """
    evidence = column.facts
    if evidence.ratios:
        denominators = {candidate.operand_names[1] for candidate in evidence.ratios}
        return _find_ratio_rule(column, _find_possible_denominators(column, denominators))
    candidates = _find_possible_denominators(column)
    if candidates and words & words_of("picked"):
        return Finding(None, OPEN, "each row may speak of another: it is that of one picked out")
    if not candidates:
        if column.relation.kept_mask.sum() < MIN_DISTINCT_ROWS:
            return Finding(None, OPEN, "too few rows to prove which counts it is made of")
        return Finding(None, OPEN, "the counts that it is made of are not in the response")
    if len(candidates) > 1:
        return Finding(None, OPEN, f"a mean with weights from one of {some_of(sorted(candidates))}")
    (weight,) = candidates
    if "." in weight or weight.startswith("sum of "):
        return Finding(None, OPEN, f"a mean over {weight}, which is no column of this table")
    reasons = [
        f"{claim} {weight} on {row_counts[weight]} rows"
        for claim, row_counts in (
            ("a whole number over", evidence.denominators),
            ("the engines pool to the whole by", evidence.weights),
        )
        if weight in row_counts
    ]
    mean_rule = weighted(weight, why="a ratio" if is_share else None)
    return Finding(mean_rule, PROVED, "; ".join(reasons))


def _find_ratio_rule(column: ColumnFinding, denominators: set[str]) -> RuleFinding:
    """Return how to aggregate a column that equals a ratio of two columns.

    Parameters
    ----------
    column : ColumnFinding
        The column with the ratios.
    denominators : set of str
        The names of the counts that may be the denominator.
    """
    ratios = column.facts.ratios
    # Ratios were tested before scaling, so the scales must not change them.
    scales = {other.name: other.scale for other in column.relation.columns}
    own_ratios = [
        candidate
        for candidate in ratios
        if {*candidate.operand_names} <= scales.keys()
        and len({scales[name] for name in candidate.operand_names}) == 1
        and candidate.factor * column.scale == 1
    ]
    count_pairs = {candidate.operand_names for candidate in ratios}
    fitting_ratios = (
        own_ratios
        if len(count_pairs) == 1
        else [candidate for candidate in own_ratios if {candidate.operand_names[1]} == denominators]
    )
    if len(fitting_ratios) == 1:
        proof = "no other pair of counts" if len(count_pairs) == 1 else "the engines pool by it"
        return Finding(
            ratio(*fitting_ratios[0].operand_names),
            PROVED,
            f"{fitting_ratios[0]} on {fitting_ratios[0].row_count} rows, {proof}",
        )
    # Several totals fit: whichever is the denominator, the ratio must be computed again.
    first_ratio = ratios[0]
    is_of_total = len({count for count, _ in count_pairs}) == 1 and (
        len(count_pairs) == 1 or not own_ratios
    )
    if is_of_total and first_ratio.numerator.is_own:
        why = "a ratio: divide {} by {} anew".format(*first_ratio.operand_names)
        return Finding(refused(why), PROVED, f"{first_ratio} on {first_ratio.row_count} rows")
    ratio_texts = some_of([*dict.fromkeys(map(str, ratios))])
    return Finding(None, OPEN, f"one of {ratio_texts}, not all columns of this table")


def _find_possible_denominators(column: ColumnFinding, *name_sets: set[str]) -> set[str]:
    """Return the names of the counts that may be the denominator or the weight of a column.

    If ``name_sets`` are given, the names must be in all of these sets.
    """
    candidate_sets = [
        *name_sets,
        *filter(None, ({*column.facts.denominators}, {*column.facts.weights})),
    ]
    return set.intersection(*candidate_sets) if candidate_sets else set()
