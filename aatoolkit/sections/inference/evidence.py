"""Test which columns of numbers are sums, ratios or means of other columns.

A test passes only if it holds on all rows, within the rounding error of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit.sections.inference.draft_tables import DraftColumn, DraftTable, RowPositions
from aatoolkit.sections.inference.field_formats import FloatArray
from aatoolkit.sections.inference.words import to_singular

MIN_DISTINCT_ROWS = 5
"""How many different rows must agree to prove that a column is a sum or ratio."""

_MIN_ROWS_OF_SMALL_COUNTS = 20
"""How many different rows must agree to prove a ratio of counts that are at most 3."""

_MIN_ENGINE_ROWS = 3
"""How many rows must agree to prove how numbers of single engines combine."""

_MIN_LARGE_TOTAL = 50
"""A total from which on few rows prove a sum, because they would not reach it by chance."""

_MAX_SIBLING_COLUMNS = 7
_MAX_CHANCE = 1e-4
"""The maximum probability that a result came about by chance."""

_TOLERANCE = 1e-9
"""The maximum difference of numbers that are taken for equal."""


def gather_arithmetic_evidence(tables: list[DraftTable], engine_count: int) -> None:
    """Test which columns are sums, ratios or means of others; store the results in the columns.

    Parameters
    ----------
    tables : list of DraftTable
        The tables. The first rows come from one response for all engines. The other rows come from
        responses for one engine each.
    engine_count : int
        The number of responses for single engines.
    """
    for table in tables:
        _record_ratios(table)
        _record_sibling_columns(table)
        if engine_count > 1:
            _add_engine_evidence(table, engine_count)
    for table in tables:
        if table.steps:
            _record_sums(table, tables)


# --- sums ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class PossibleTotals:
    """Numbers that may be the sums of groups of rows.

    Attributes
    ----------
    group_by_row : array of int
        For each row of the table that is summed, the position of its group.
    totals_by_group : array of float
        For each group, the number that may be its sum.
    description : str
        A description of the sums and of the groups, for messages: ``facts.total in responses``.
    row_key_names : set of str
        The names of the columns that identify a row within its group.
    column : DraftColumn, optional
        The column with the possible sums, if they are in a column.
    """

    group_by_row: RowPositions
    totals_by_group: FloatArray
    description: str
    row_key_names: set[str]
    column: DraftColumn | None = None


def _record_sums(table: DraftTable, tables: list[DraftTable]) -> None:
    """Find, for each column of a table, numbers in the responses that are sums of its values.

    Notes on these numbers are stored in the ``arithmetic`` of the column.
    """
    summable_columns = [column for column in table.columns if column.may_be_summed]
    for column in summable_columns if table.data_row_mask.any() else ():
        for possible_totals in chain(
            _find_enclosing_totals(table), _find_other_totals(column, tables)
        ):
            if not _adds_up_to(column, possible_totals):
                continue
            column.arithmetic.sum_notes.append(f"its rows sum to {possible_totals.description}")
            column.arithmetic.summable_key_names |= possible_totals.row_key_names
            if possible_totals.column is not None:
                column.arithmetic.total_columns.append(possible_totals.column)
                note = f"the rows of {table.name} sum to it"
                possible_totals.column.arithmetic.sum_notes.append(note)


def _find_enclosing_totals(table: DraftTable) -> Iterator[PossibleTotals]:
    """Yield the numbers next to a nested table that may be the sums of its rows.

    An example is ``total`` in ``{"total": 5, "rows": [{"n": 2}, {"n": 3}]}``.
    """
    for ancestor, enclosing_positions in [*table.iter_with_ancestors()][1:]:
        key_paths = {ancestor[name].path for name in ancestor.key}
        row_key_names = {name for name in table.key if table[name].path not in key_paths}
        groups_text = "rows" if ancestor.steps else "responses"
        for column in ancestor.columns:
            if column.may_be_summed:
                description = f"{ancestor.name}.{column.name} in {groups_text}"
                yield PossibleTotals(
                    enclosing_positions, column.numbers, description, row_key_names, column
                )


def _find_other_totals(column: DraftColumn, tables: list[DraftTable]) -> Iterator[PossibleTotals]:
    """Yield numbers that may be sums of a column: from a row such as ``All``, or other tables."""
    table = column.draft_table
    response_positions = column.draft_table.response_positions
    key_names = {*table.key}
    if len(table.total_row_positions):
        totals_by_response = np.full(table.response_count, np.nan)
        totals_by_response[response_positions[table.total_row_positions]] = column.numbers[
            table.total_row_positions
        ]
        yield PossibleTotals(
            response_positions, totals_by_response, "their total in responses", key_names
        )
    sums = _sum_by_response(column)
    for other_table in tables if not table.is_nested and len(np.unique(sums[sums > 0])) > 1 else ():
        if (
            other_table.steps
            and not other_table.is_nested
            and other_table is not table
            and not {*other_table.key} & key_names
            and column.name in other_table.column_names
            and other_table[column.name].may_be_summed
        ):
            other_sums = _sum_by_response(other_table[column.name])
            if np.array_equal(other_sums > 0, sums > 0):
                description = f"those of {other_table.name} in responses"
                yield PossibleTotals(response_positions, other_sums, description, key_names)


def _sum_by_response(column: DraftColumn) -> FloatArray:
    """Return an array with the sum of a column for each response, without rows of totals."""
    table = column.draft_table
    counted_row_mask = table.data_row_mask & ~np.isnan(column.numbers)
    response_positions = table.response_positions[counted_row_mask]
    sums = np.bincount(response_positions, column.numbers[counted_row_mask], table.response_count)
    return sums.astype(np.float64)


def _adds_up_to(column: DraftColumn, possible_totals: PossibleTotals) -> bool:
    """Return whether the values of a column in each group of rows sum to the total of the group.

    The result is True only if there are so many groups, or such large totals, that chance is
    unlikely.
    """
    counted_row_mask = column.draft_table.data_row_mask & ~np.isnan(column.numbers)
    group_count = len(possible_totals.totals_by_group)
    group_by_row = possible_totals.group_by_row[counted_row_mask]
    numbers = column.numbers[counted_row_mask]
    sums = np.bincount(group_by_row, numbers, group_count)
    nonzero_row_counts = np.bincount(group_by_row, numbers != 0, group_count)
    tested_group_mask = ~np.isnan(possible_totals.totals_by_group) & (nonzero_row_counts > 0)
    tolerance = column.rounding_error * np.maximum(nonzero_row_counts, 1) + _TOLERANCE
    sum_errors = np.abs(sums - possible_totals.totals_by_group)
    if (
        not tested_group_mask.any()
        or (sum_errors[tested_group_mask] > tolerance[tested_group_mask]).any()
    ):
        return False
    # A single part equals its total whatever the rule is.
    several_rows_mask = tested_group_mask & (nonzero_row_counts >= 2)
    is_large_total = (
        np.nanmax(possible_totals.totals_by_group) >= _MIN_LARGE_TOTAL
        and nonzero_row_counts[several_rows_mask].sum() >= 3
    )
    has_many_groups = several_rows_mask.sum() >= MIN_DISTINCT_ROWS
    return bool(
        is_large_total
        or (
            has_many_groups
            and len(np.unique(possible_totals.totals_by_group[tested_group_mask])) >= 3
        )
    )


# --- ratios -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operand:
    """Counts that may be the numerator or the denominator of a ratio, one for each row.

    Attributes
    ----------
    name : str
        The name of the column with the counts, or ``sum of`` and such a name.
    numbers : array of float
        The counts.
    is_in_table : bool
        Whether the counts are a column of the same table.
    """

    name: str
    numbers: FloatArray
    is_in_table: bool


@dataclass(frozen=True)
class Ratio:
    """A ratio of two counts that equals the values of a column on every row.

    Attributes
    ----------
    numerator : Operand or None
        The upper count; None if the response has no such column, but the numbers of the column
        times the lower count are whole numbers on all rows.
    denominator : Operand
        The lower count.
    percent_factor : float
        The factor that the ratio is multiplied by: 100 for percent, else 1.
    row_count : int
        The number of distinct rows for which it was tested.
    """

    numerator: Operand | None
    denominator: Operand
    percent_factor: float
    row_count: int

    def __str__(self) -> str:
        return f"{' / '.join(self.operand_names)}{' × 100' if self.percent_factor == 100 else ''}"

    @property
    def operand_names(self) -> tuple[str, str]:
        """The names of the numerator and the denominator."""
        return self.numerator.name if self.numerator else "", self.denominator.name


def _record_ratios(table: DraftTable) -> None:
    """Find, for each column of a table, ratios of two counts that equal its values on every row.

    The ratios are stored in the ``arithmetic`` of the column.
    """
    operands = list(_find_operands(table))
    for column in table.columns:
        field_format = column.format
        name_meaning = column.name_meaning
        name_kind = name_meaning.kind
        arithmetic = column.arithmetic
        # A whole percentage is too coarse: it is left to experiments.
        if not (field_format.is_number and column.is_row_field and field_format.max_decimals):
            continue
        numbers = np.where(table.data_row_mask, column.numbers, np.nan)
        is_mean = name_kind in ("position", "rank") or (
            name_kind != "share" and name_meaning.is_mean
        )
        if not is_mean and (name_kind in words_of("not_rate_kind") or np.nanmin(numbers) < 0):
            continue
        is_percent = field_format.has_percent_sign or np.nanmax(numbers) > 1.5
        percent_factors = [1.0] if is_mean else [100.0] if is_percent else [1.0, 100.0]
        ratios = [
            ratio
            for percent_factor in percent_factors
            for ratio in _find_ratios(column, numbers, percent_factor, operands)
        ]
        arithmetic.matching_ratios = (
            [] if is_mean else [ratio for ratio in ratios if ratio.numerator is not None]
        )
        for ratio in arithmetic.matching_ratios:
            numerator = ratio.numerator
            if numerator.is_in_table and ratio.denominator.name == f"sum of {numerator.name}":
                count_arithmetic = table[numerator.name].arithmetic
                count_arithmetic.sum_notes.append(f"{column.name} is its share of its sum")
                count_arithmetic.summable_key_names |= {*table.key}
        is_share = name_kind == "share" and not name_meaning.has_word_of("point")
        if not arithmetic.matching_ratios and (is_mean or is_share):
            arithmetic.row_count_by_denominator = {
                ratio.denominator.name: ratio.row_count
                for ratio in ratios
                if ratio.numerator is None
            }


def _find_operands(table: DraftTable) -> Iterator[Operand]:
    """Yield counts that may be the numerator or the denominator of ratios in a table.

    The counts are columns of the table, columns of the tables in whose rows it is nested, and sums
    of its columns.
    """
    earlier_sums: list[FloatArray] = []
    for ancestor, ancestor_positions in table.iter_with_ancestors():
        for column in ancestor.columns:
            if not column.may_be_counts:
                continue
            is_in_table = ancestor is table
            operand_name = column.name if is_in_table else f"{ancestor.name}.{column.name}"
            yield Operand(operand_name, column.numbers[ancestor_positions], is_in_table)
            sums = _sum_by_response(column)[table.response_positions]
            is_new_sum = not any(np.array_equal(sums, earlier_sum) for earlier_sum in earlier_sums)
            if is_in_table and table.steps and is_new_sum:
                earlier_sums.append(sums)
                yield Operand(f"sum of {column.name}", sums, False)


def _find_ratios(
    column: DraftColumn, numbers: FloatArray, percent_factor: float, operands: list[Operand]
) -> Iterator[Ratio]:
    """Yield the ratios of two counts that equal the numbers of a column on all rows.

    Parameters
    ----------
    column : DraftColumn
        The column.
    numbers : array of float
        Its numbers, NaN if missing.
    percent_factor : float
        100 if the numbers are in percent, else 1.
    operands : list of Operand
        The counts that may be the numerator or the denominator. If a number times a denominator is
        whole on all rows, it may be the denominator of a numerator that is not in the table.
    """
    rounding_error = (column.rounding_error + _TOLERANCE) / percent_factor
    rates = numbers / percent_factor
    for denominator in operands:
        denominator_counts = denominator.numbers
        rate_row_mask = ~np.isnan(rates) & (denominator_counts > 0)
        for numerator in operands if rate_row_mask.any() else ():
            numerator_counts = numerator.numbers
            wrong_row_mask = (
                np.abs(rates * denominator_counts - numerator_counts)
                > rounding_error * denominator_counts
            )
            is_no_numerator = numerator is denominator or numerator.name.startswith("sum of ")
            if is_no_numerator or wrong_row_mask[rate_row_mask].any():
                continue
            # Rates of 0 and counts that are equal prove nothing.
            proof_row_mask = (
                rate_row_mask
                & (rates != 0)
                & (numerator_counts != denominator_counts)
                & ~np.isnan(numerator_counts)
            )
            if not proof_row_mask.any():
                continue
            row_count = _find_distinct_rows(
                proof_row_mask, rates, numerator_counts, denominator_counts
            ).shape[1]
            has_small_counts = numerator_counts[proof_row_mask].max(initial=0) <= 3
            numerator_word = to_singular(numerator.name.removesuffix("_count").rpartition(".")[2])
            # A name such as ``citation_rate`` is evidence, too: a row less proves the ratio.
            is_named_after_numerator = numerator_word in column.name and rounding_error < 0.001
            if row_count >= (
                _MIN_ROWS_OF_SMALL_COUNTS
                if has_small_counts
                else MIN_DISTINCT_ROWS - is_named_after_numerator
            ):
                yield Ratio(numerator, denominator, percent_factor, row_count)
        distinct_rates, distinct_totals = _find_distinct_rows(
            rate_row_mask & (rates != 0), rates, denominator_counts
        )
        numerator_counts = distinct_rates * distinct_totals
        count_errors = rounding_error * distinct_totals
        may_be_whole = (
            np.floor(numerator_counts + count_errors) >= np.ceil(numerator_counts - count_errors)
        ).all()
        chance_probability = np.prod(np.clip(2 * count_errors, 0.0, 1.0))
        if (
            may_be_whole
            and len(numerator_counts) >= MIN_DISTINCT_ROWS
            and chance_probability <= _MAX_CHANCE
        ):
            yield Ratio(None, denominator, percent_factor, len(numerator_counts))


def _find_distinct_rows(row_mask: Any, *columns: FloatArray) -> FloatArray:
    """Return the distinct rows of some columns, as an array with one row for each column."""
    return np.unique(np.stack(columns)[:, row_mask], axis=1)


def _record_sibling_columns(table: DraftTable) -> None:
    """Find columns of a table that together sum to 1 or 100 on every row.

    The columns must come from fields of one object, such as ``tones.positive`` and
    ``tones.negative``. The names of all are stored in the ``arithmetic`` of each column.
    """
    columns_by_object: dict[str, list[DraftColumn]] = {}
    for column in table.columns:
        is_number_field = column.format.is_number and column.is_row_field
        if (
            is_number_field
            and column.source[0] not in ".$"
            and column.name_meaning.kind in ("share", "score", "count", "")
        ):
            columns_by_object.setdefault(column.source.rpartition(".")[0], []).append(column)
    for columns in columns_by_object.values():
        group_sizes = range(min(len(columns), _MAX_SIBLING_COLUMNS), 1, -1)
        column_groups = chain.from_iterable(
            combinations(columns[:_MAX_SIBLING_COLUMNS], group_size) for group_size in group_sizes
        )
        sibling_columns = next(filter(_find_common_sum, column_groups), ())
        for column in sibling_columns:
            column.arithmetic.sibling_names = tuple(
                sibling_column.name for sibling_column in sibling_columns
            )
            column.arithmetic.sibling_sum = _find_common_sum(sibling_columns)


def _find_common_sum(columns: tuple[DraftColumn, ...]) -> float:
    """Return 1 or 100, if the columns together sum to this number on every row; else return 0."""
    numbers_by_column = np.stack([column.numbers for column in columns])
    numbers_by_column = numbers_by_column[:, ~np.isnan(numbers_by_column).any(axis=0)]
    if np.unique(numbers_by_column, axis=1).shape[1] < MIN_DISTINCT_ROWS:
        return 0.0
    tolerance = sum(0.5 * 10.0**-column.format.max_decimals for column in columns) + _TOLERANCE
    sums = numbers_by_column.sum(axis=0)
    matching_totals = (
        total
        for total in (1.0, 100.0)
        if tolerance < total / 20 and (np.abs(sums - total) <= tolerance).all()
    )
    return next(matching_totals, 0.0)


# --- experiments --------------------------------------------------------------------------------


@dataclass(eq=False)
class MatchedRows:
    """Rows with the same key, from the responses for all engines (AI assistants) and for one each.

    Attributes
    ----------
    all_engines_rows : array of int
        The positions of the rows from the response for all engines.
    one_engine_rows : array of int
        For each of these rows, the position of the row from each response for a single engine;
        -1 if the response has no such row.
    """

    all_engines_rows: RowPositions
    one_engine_rows: Any

    def take_one_engine_numbers(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers for single engines: a row for each row for all engines, with NaN."""
        return np.where(self.one_engine_rows < 0, np.nan, numbers[self.one_engine_rows])


def _match_engine_rows(table: DraftTable, engine_count: int) -> MatchedRows | None:
    """Match the rows for single engines (AI assistants) with those for all engines, by key.

    Returns
    -------
    MatchedRows or None
        The rows; None if the table has no key by which rows can be compared, or no rows of engines.
    """
    # Another response may have another row at the same position.
    has_position_key = any("#" in table[name].source for name in table.key)
    if has_position_key or (table.steps and not table.key):
        return None
    position_by_key, *other_positions_by_key = [
        {
            repr([table[name].values[row_position] for name in table.key]): row_position
            for row_position in table.rows_of_response(response_position).tolist()
        }
        for response_position in range(1 + engine_count)
    ]
    engine_positions_by_key = [*filter(None, other_positions_by_key)]
    one_engine_rows = [
        [
            engine_position_by_key.get(row_key, -1)
            for engine_position_by_key in engine_positions_by_key
        ]
        for row_key in position_by_key
    ]
    return (
        MatchedRows(
            np.array([*position_by_key.values()], np.intp), np.array(one_engine_rows, np.intp)
        )
        if position_by_key and engine_positions_by_key
        else None
    )


def _add_engine_evidence(table: DraftTable, engine_count: int) -> None:
    """Test whether numbers for single engines sum to, or average to, those for all engines.

    An engine is an AI assistant. The results are stored in the columns of the table.
    """
    number_columns = [
        column for column in table.columns if column.format.is_number and column.is_row_field
    ]
    matched_rows = _match_engine_rows(table, engine_count) if number_columns else None
    if matched_rows is None:
        return
    weight_columns = []
    for column in number_columns:
        arithmetic = column.arithmetic
        arithmetic.engine_sum_outcome, arithmetic.tested_row_count = _compare_with_sums(
            column, matched_rows
        )
        if arithmetic.engine_sum_outcome == "adds" and column.may_be_counts:
            weight_columns.append(column)
    for column in number_columns:
        name_meaning = column.name_meaning
        is_count = name_meaning.kind == "count" and not (
            name_meaning.is_mean or column.arithmetic.sibling_names
        )
        is_unweighted = name_meaning.kind in words_of("unweighted_kind")
        if column in weight_columns or is_count or is_unweighted:
            continue
        rounding_error = 0.5 * 10.0**-column.format.max_decimals + _TOLERANCE
        for weight_column in weight_columns:
            row_count = _count_rows_of_weighted_mean(
                column.numbers, weight_column.numbers, matched_rows, rounding_error
            )
            if row_count:
                column.arithmetic.row_count_by_weight[weight_column.name] = row_count


def _compare_with_sums(column: DraftColumn, matched_rows: MatchedRows) -> tuple[str, int]:
    """Test whether the numbers for single engines (AI assistants) sum to those for all engines.

    Returns
    -------
    outcome : str
        ``adds`` if they do; ``distinct`` if the sum is too large, as for counts of distinct
        visitors; ``differs`` if neither; "" if there are too few rows.
    row_count : int
        The number of rows that were compared.
    """
    all_engines_numbers = column.numbers[matched_rows.all_engines_rows]
    one_engine_numbers = matched_rows.take_one_engine_numbers(column.numbers)
    comparable_row_mask = ~np.isnan(all_engines_numbers) & ~np.isnan(one_engine_numbers).any(axis=1)
    if not comparable_row_mask.any():
        return "", 0
    all_engines_numbers, one_engine_numbers = (
        all_engines_numbers[comparable_row_mask],
        one_engine_numbers[comparable_row_mask],
    )
    sums = one_engine_numbers.sum(axis=1)
    several_engines_mask = (one_engine_numbers > 0).sum(axis=1) >= 2
    row_count = int(several_engines_mask.sum())
    tolerance = column.rounding_error * (one_engine_numbers.shape[1] + 1) + _TOLERANCE
    if (np.abs(sums - all_engines_numbers) <= tolerance).all():
        has_enough_rows = (
            row_count >= _MIN_ENGINE_ROWS
            and len(np.unique(all_engines_numbers[several_engines_mask])) >= 2
        )
        return ("adds" if has_enough_rows else ""), row_count
    if (
        (one_engine_numbers == all_engines_numbers[:, np.newaxis]) | (one_engine_numbers == 0)
    ).all():
        return "", row_count  # the filter changed no number that is there
    between_row_mask = (all_engines_numbers <= sums + tolerance) & (
        all_engines_numbers >= one_engine_numbers.max(axis=1) - tolerance
    )
    if between_row_mask.all():
        return ("distinct" if row_count else ""), row_count
    return "differs", row_count


def _count_rows_of_weighted_mean(
    rates: FloatArray, weights: FloatArray, matched_rows: MatchedRows, rounding_error: float
) -> int:
    """Test whether rates for all AI engines are weighted means of the rates for single engines.

    Parameters
    ----------
    rates : array of float
        The rates, one for each row; of single engines and of all engines.
    weights : array of float
        The possible weights.
    matched_rows : MatchedRows
        The pairs of rows for single engines and for all engines.
    rounding_error : float
        The largest rounding error of the rates.

    Returns
    -------
    int
        The number of rows on which the rates are weighted means; 0 if any row contradicts.
    """
    all_engines_rates = rates[matched_rows.all_engines_rows]
    one_engine_weights = np.nan_to_num(matched_rows.take_one_engine_numbers(weights))
    positive_weight_mask = one_engine_weights > 0
    one_engine_rates = np.where(
        positive_weight_mask, matched_rows.take_one_engine_numbers(rates), 0.0
    )
    total_weights = one_engine_weights.sum(axis=1)
    engine_counts = positive_weight_mask.sum(axis=1)
    # Where the weights add up, no part is missing.
    weight_errors = np.abs(total_weights - weights[matched_rows.all_engines_rows])
    tested_row_mask = (weight_errors <= _TOLERANCE) & (engine_counts >= 2)
    tested_row_mask &= ~np.isnan(all_engines_rates + one_engine_rates.sum(axis=1))

    def are_equal(sums: FloatArray, divisors: FloatArray) -> Any:
        """Return whether the means equal the rates, for each tested row."""
        means = sums[tested_row_mask] / divisors[tested_row_mask]
        return np.abs(means - all_engines_rates[tested_row_mask]) <= 2 * rounding_error

    weighted_mean_mask = are_equal(
        (one_engine_rates * one_engine_weights).sum(axis=1), total_weights
    )
    plain_mean_mask = are_equal(one_engine_rates.sum(axis=1), engine_counts)
    # Where any weights would do, none are proved.
    is_weighting_proved = weighted_mean_mask.all() and (~plain_mean_mask).sum() >= _MIN_ENGINE_ROWS
    return int(tested_row_mask.sum()) if is_weighting_proved else 0
