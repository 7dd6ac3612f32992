"""Guess the units of columns, and ways to aggregate them, from their names and numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from aatoolkit._util.lexicon import read_text_table, words_of
from aatoolkit._util.text import join_some
from aatoolkit.sections import (
    COUNT,
    CURRENCY,
    FRACTION,
    MAX,
    MIN,
    NONE,
    NOT_ADDITIVE,
    Aggregation,
    ratio,
    refused,
    weighted,
)
from aatoolkit.sections.inference.draft_tables import (
    LIKELY,
    OPEN,
    PROVED,
    DraftColumn,
    DraftTable,
    Guess,
)
from aatoolkit.sections.inference.evidence import MIN_DISTINCT_ROWS
from aatoolkit.sections.inference.words import split_name

POSITION_UNIT = "position"
SIGNED_FRACTION_UNIT = "fraction -1 to 1"
_NO_UNIT_REASON = "its name and its values do not show the unit"
_MIN_COMPARED_ROWS = 3
_MAX_QUOTIENT = 10.0

_UNIT_CONDITIONS = [
    (
        *(kind.strip("-"), word.strip("-"), {"yes": True, "no": False}.get(is_whole)),
        *(float(minimum), float(maximum), None if unit == "-" else unit, float(factor)),
    )
    for kind, word, is_whole, minimum, maximum, unit, factor in read_text_table(
        Path(__file__).with_name("units.txt")
    )
]
"""The conditions for units: kind and word of the name, whether whole, range, unit, factor."""


def set_units(tables: list[DraftTable]) -> None:
    """Set the unit of each column of numbers, and the factor that converts the values to this unit.

    For cents, for example, the unit is ``currency`` and the factor 0.01.
    """
    measure_columns_by_table = [
        [column for column in table.columns if column.is_measure] for table in tables
    ]
    for columns in measure_columns_by_table:
        for column in columns:
            column.unit, column.scale_factor = _find_unit(column)
        _set_likely_counts(columns)
    for columns in measure_columns_by_table:
        for column in columns:
            # A column that sums to another one has its unit.
            total_columns = [
                total_column
                for total_column in column.arithmetic.total_columns
                if total_column.unit.value and total_column.scale_factor == 1.0
            ]
            have_same_unit = len({total_column.unit.value for total_column in total_columns}) == 1
            if column.unit.confidence == OPEN and have_same_unit:
                total_column = total_columns[0]
                reason = f"that of {total_column.table}.{total_column.name}, to which its rows sum"
                column.unit = Guess(total_column.unit.value, LIKELY, reason)


def _find_unit(column: DraftColumn) -> tuple[Guess[str], float]:
    """Return the unit of a column of numbers, and the factor that converts the values to this unit.

    Returns
    -------
    Guess
        The unit, such as ``count``, with its confidence and reason.
    float
        The factor: 0.01 for percent and cents, in most other cases 1.
    """
    arithmetic = column.arithmetic
    unit_guess, scale_factor = _find_named_unit(column)
    if unit_guess.confidence == PROVED:
        return unit_guess, scale_factor
    # A text such as "€12.50" beside 1250 shows that the number is in cents.
    for price_column in column.draft_table.columns:
        if (
            price_column.format.parse == "money"
            and len({*column.numbers[column.numbers > 0]}) >= MIN_DISTINCT_ROWS
            and np.allclose(column.numbers / 100, price_column.numbers, 0.0, 1e-6, equal_nan=True)
        ):
            reason = f"{price_column.name} is a hundredth of the number on every row"
            return Guess(CURRENCY, PROVED, reason), 0.01
    amount_path = re.sub(r"\.(units|nanos)$", "", column.source)
    has_nanos = f"{amount_path}.nanos" in (
        other_column.source for other_column in column.draft_table.columns
    )
    if has_nanos and (currency_column := find_currency_column(column)):
        reason = f"{currency_column} states its currency"
        return Guess(CURRENCY, LIKELY, reason), 1e-9 if column.source.endswith(".nanos") else 1.0
    if arithmetic.matching_ratios and column.name_meaning.kind not in words_of("not_share_kind"):
        first_ratio = arithmetic.matching_ratios[0]
        reason = f"{first_ratio} on {first_ratio.row_count} rows"
        return Guess(FRACTION, PROVED, reason), 1.0 / first_ratio.percent_factor
    if arithmetic.sibling_names:
        reason = f"{' + '.join(arithmetic.sibling_names)} = {arithmetic.sibling_sum:g} on every row"
        return Guess(FRACTION, PROVED, reason), 1.0 / arithmetic.sibling_sum
    return unit_guess, scale_factor


def _find_named_unit(column: DraftColumn) -> tuple[Guess[str], float]:
    """Return the unit that the name and the range of numbers suggest, or signs in their text.

    Signs such as ``$`` prove it. The factor converts the numbers to this unit.
    """
    field_format = column.format
    name_meaning = column.name_meaning
    decimals = field_format.max_decimals
    numbers = column.numbers[~np.isnan(column.numbers)]
    if not len(numbers):
        return Guess(None, OPEN, "no number in any response"), 1.0
    lowest_number = float(numbers.min())
    highest_number = float(numbers.max())
    is_shown_by_text = {
        "currency sign": field_format.parse == "money",
        "unit of time": field_format.parse == "duration",
        "per cent sign": field_format.has_percent_sign,
    }
    is_met_by_condition = {
        "number sign": field_format.is_ordinal,
        "coarse percent": name_meaning.has_word_of("percent") and decimals < 3,
        "fine point": name_meaning.has_word_of("point") and decimals > 2,
        **is_shown_by_text,
    }
    for (
        required_kind,
        condition,
        is_whole,
        min_value,
        max_value,
        unit,
        scale_factor,
    ) in _UNIT_CONDITIONS:
        is_kind_matching = (
            required_kind in ("", name_meaning.kind)
            and (
                is_met_by_condition[condition]
                if condition in is_met_by_condition
                else all(map(name_meaning.has_word_of, condition.split()))
            )
            and is_whole in (None, field_format.dtype == "Int64")
        )
        if is_kind_matching and min_value <= lowest_number and highest_number <= max_value:
            if unit is None:
                return Guess(None, OPEN, "per cent by its name, a fraction by its range"), 1.0
            if condition in is_shown_by_text:
                return Guess(unit, PROVED, f"a {condition} in the text"), scale_factor
            reason = f"the name, and values from {lowest_number:g} to {highest_number:g}"
            return Guess(unit, LIKELY, reason), scale_factor
    return Guess(None, OPEN, _NO_UNIT_REASON), 1.0


def _set_likely_counts(columns: list[DraftColumn]) -> None:
    """Set the unit ``count`` for columns without a unit whose whole numbers are likely counts.

    Numbers are likely counts if they add up to totals in the responses, and if they are part of a
    ratio or about as large as the numbers of another column of counts.
    """
    # Whole numbers that add up may still be cents, bytes or milliseconds.
    ratio_operand_names = {
        operand.name
        for column in columns
        for matching_ratio in column.arithmetic.matching_ratios
        for operand in (matching_ratio.numerator, matching_ratio.denominator)
        if operand.is_in_table and len(column.arithmetic.matching_ratios) == 1
    }
    undecided_columns = [
        column
        for column in columns
        if column.unit.reason == _NO_UNIT_REASON
        and column.format.dtype == "Int64"
        and column.arithmetic.is_additive
    ]
    for column in [*undecided_columns, *undecided_columns]:
        count_name = _find_similar_count_name(column, columns)
        is_count = count_name or column.name in ratio_operand_names
        if column.unit.confidence == OPEN and is_count:
            reason = f"of the size of {count_name}" if count_name else "a part of a proved fraction"
            column.unit = Guess(COUNT, LIKELY, f"whole numbers that add up, {reason}")


def _find_similar_count_name(column: DraftColumn, columns: list[DraftColumn]) -> str:
    """Return the name of another column of counts with numbers of similar size, or ""."""
    for other_column in columns:
        both_positive_mask = (column.numbers > 0) & (other_column.numbers > 0)
        if (
            other_column is not column
            and other_column.unit.value == COUNT
            and both_positive_mask.sum() >= _MIN_COMPARED_ROWS
        ):
            quotients = (
                column.numbers[both_positive_mask] / other_column.numbers[both_positive_mask]
            )
            if quotients.min() >= 1 / _MAX_QUOTIENT and quotients.max() <= _MAX_QUOTIENT:
                return other_column.name
    return ""


# --- rules --------------------------------------------------------------------------------------

AggregationGuess = Guess[Aggregation]


def set_aggregation(column: DraftColumn) -> None:
    """Set how to aggregate a column, such as by a sum. If it is already set, do nothing."""
    name_words = {*split_name(column.name)}
    if column.is_key or column.is_label or column.aggregation.value is not None:
        return
    if column.format.is_number:
        column.aggregation = _find_number_aggregation(column, name_words)
    elif column.dtype in ("date", "timestamp"):
        aggregations_and_lexicon_keys = ((MIN, "earliest"), (MAX, "latest_word"))
        aggregation = next(
            (
                aggregation
                for aggregation, lexicon_key in aggregations_and_lexicon_keys
                if name_words & words_of(lexicon_key)
            ),
            None,
        )
        column.aggregation = (
            Guess(aggregation, LIKELY, "name") if aggregation else Guess(NONE, PROVED)
        )


def _find_number_aggregation(column: DraftColumn, name_words: set[str]) -> AggregationGuess:
    """Return how to aggregate a column of numbers.

    Parameters
    ----------
    column : DraftColumn
        The column.
    name_words : set of str
        The words in its name, such as ``{"mention", "rate"}``.
    """
    name_meaning = column.name_meaning
    arithmetic = column.arithmetic
    name_kind = "share" if arithmetic.sibling_names else name_meaning.kind
    engine_test_note = f"over engine on {arithmetic.tested_row_count} rows"
    metric_column = next(
        (name for name in column.draft_table.key if words_of("metric") & {*split_name(name)}), None
    )
    # A value beside the name of a metric is of that metric.
    if metric_column and name_words <= words_of("value", "value_word"):
        refusal_reason = f"rows are different measures: choose one {metric_column}"
        return Guess(Aggregation("none", within=metric_column, why=refusal_reason), LIKELY, "name")
    reasons_and_refused = (
        ("medians do not combine", name_words & words_of("median")),
        (f"the {name_kind} of rows does not combine", name_kind in words_of("not_combined_kind")),
        ("a change is taken anew from the sums", name_kind == "change"),
    )
    for refusal_reason, is_refused in reasons_and_refused:
        if is_refused:
            return Guess(refused(refusal_reason), LIKELY, "name")
    mean_guess = _find_mean_aggregation(column, name_kind == "share", name_words)
    if name_kind in words_of("weighted_kind") or name_meaning.is_mean:
        return mean_guess
    # Distinct things of several rows may still add up over the rows of one response.
    is_sum_disproved = (
        arithmetic.tested_row_count >= 2 and not arithmetic.sum_notes
    ) or not column.draft_table.key
    if arithmetic.engine_sum_outcome == "distinct" and is_sum_disproved:
        return Guess(NOT_ADDITIVE, PROVED, f"less than the sum of the parts {engine_test_note}")
    if name_words & words_of("distinct"):
        return Guess(NOT_ADDITIVE, LIKELY, "name")
    if arithmetic.is_additive:
        currency_column = find_currency_column(column) if column.unit.value == CURRENCY else None
        sum_aggregation = Aggregation(
            "sum", within=currency_column, across=_find_across_columns(column)
        )
        reasons = [f"adds up {engine_test_note}"] if arithmetic.engine_sum_outcome == "adds" else []
        return Guess(
            sum_aggregation, PROVED, "; ".join(dict.fromkeys([*reasons, *arithmetic.sum_notes]))
        )
    if mean_guess.value is not None:
        return mean_guess
    engine_sum_outcome = arithmetic.engine_sum_outcome
    reason = f"{engine_sum_outcome} {engine_test_note}" if engine_sum_outcome else ""
    return Guess(None, OPEN, reason or "nothing shows whether its rows add up")


def _find_across_columns(column: DraftColumn) -> tuple[str, ...]:
    """Return the names of columns over which a column may be summed; an empty tuple means all."""
    key_column_names = column.draft_table.key
    engine_column_names = {"engine"} if column.arithmetic.engine_sum_outcome == "adds" else set()
    summable_column_names = column.arithmetic.summable_key_names | engine_column_names
    # A sum over the rows of a response is none over engines where the test over engines failed.
    if {*key_column_names} <= summable_column_names and (
        engine_column_names or not key_column_names or not column.arithmetic.engine_sum_outcome
    ):
        return ()
    return (
        *sorted(engine_column_names - {*key_column_names}),
        *(name for name in key_column_names if name in summable_column_names),
    )


def find_currency_column(column: DraftColumn) -> str | None:
    """Return the name of the column that states the currency of the amounts, or None."""
    object_path = column.source.rpartition(".")[0]
    currency_column_names = (
        currency_column.name
        for currency_column in column.draft_table.columns
        if "currency" in split_name(currency_column.name)
        and {currency_column.source, currency_column.source.rpartition(".")[0]}
        & {column.source, object_path}
    )
    return next(currency_column_names, None)


def _find_mean_aggregation(
    column: DraftColumn, is_share: bool, name_words: set[str]
) -> AggregationGuess:
    """Return how to aggregate a rate or a mean: by a ratio of two columns, or a weighted mean.

    Parameters
    ----------
    column : DraftColumn
        The column with the rates or means.
    is_share : bool
        Whether its name suggests a share, such as ``mention_rate``.
    name_words : set of str
        The words in its name.
    """
    arithmetic = column.arithmetic
    if arithmetic.matching_ratios:
        return _find_ratio_aggregation(column)
    row_counts_by_name = (arithmetic.row_count_by_denominator, arithmetic.row_count_by_weight)
    weight_name_sets = [*map(set, filter(None, row_counts_by_name))]
    weight_names = set.intersection(*weight_name_sets) if weight_name_sets else set()
    if weight_names and name_words & words_of("picked"):
        return Guess(None, OPEN, "each row may speak of another: it is that of one picked out")
    if not weight_names:
        if column.draft_table.data_row_mask.sum() < MIN_DISTINCT_ROWS:
            return Guess(None, OPEN, "too few rows to prove which counts it is made of")
        return Guess(None, OPEN, "the counts that it is made of are not in the response")
    if len(weight_names) > 1:
        return Guess(
            None, OPEN, f"a mean with weights from one of {join_some(sorted(weight_names))}"
        )
    (weight_name,) = weight_names
    if "." in weight_name or weight_name.startswith("sum of "):
        return Guess(None, OPEN, f"a mean over {weight_name}, which is no column of this table")
    reasons = [
        f"{claim_text} {weight_name} on {row_count_by_name[weight_name]} rows"
        for claim_text, row_count_by_name in (
            ("a whole number over", arithmetic.row_count_by_denominator),
            ("the engines pool to the whole by", arithmetic.row_count_by_weight),
        )
        if weight_name in row_count_by_name
    ]
    mean_aggregation = weighted(weight_name, why="a ratio" if is_share else None)
    return Guess(mean_aggregation, PROVED, "; ".join(reasons))


def _find_ratio_aggregation(column: DraftColumn) -> AggregationGuess:
    """Return how to aggregate a column that equals a ratio of two columns."""
    matching_ratios = column.arithmetic.matching_ratios
    # Ratios were tested before scaling, so the scales must not change them.
    scale_factor_by_name = {
        other_column.name: other_column.scale_factor for other_column in column.draft_table.columns
    }
    table_ratios = [
        possible_ratio
        for possible_ratio in matching_ratios
        if {*possible_ratio.operand_names} <= scale_factor_by_name.keys()
        and len({scale_factor_by_name[name] for name in possible_ratio.operand_names}) == 1
        and possible_ratio.percent_factor * column.scale_factor == 1
    ]
    operand_name_pairs = {possible_ratio.operand_names for possible_ratio in matching_ratios}
    if len(operand_name_pairs) == len(table_ratios) == 1:
        (table_ratio,) = table_ratios
        reason = f"{table_ratio} on {table_ratio.row_count} rows, no other pair of counts"
        return Guess(ratio(*table_ratio.operand_names), PROVED, reason)
    # Several totals fit: whichever is the denominator, the ratio must be computed again.
    first_ratio = matching_ratios[0]
    has_one_numerator = len({numerator_name for numerator_name, _ in operand_name_pairs}) == 1 and (
        len(operand_name_pairs) == 1 or not table_ratios
    )
    if has_one_numerator and first_ratio.numerator.is_in_table:
        refusal_reason = "a ratio: divide {} by {} anew".format(*first_ratio.operand_names)
        return Guess(
            refused(refusal_reason), PROVED, f"{first_ratio} on {first_ratio.row_count} rows"
        )
    ratios_text = join_some([*dict.fromkeys(map(str, matching_ratios))])
    return Guess(None, OPEN, f"one of {ratios_text}, not all columns of this table")
