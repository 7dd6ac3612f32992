"""Test which columns of numbers are sums, ratios or means of other columns.

A test passes only if it holds on all rows, within the rounding error of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aatoolkit.sections.inference.findings import ColumnFinding, Relation, RowPositions
from aatoolkit.sections.inference.readings import Numbers
from aatoolkit.sections.inference.words import singular

MIN_DISTINCT_ROWS = 5
"""How many different rows must agree to prove that a column is a sum or ratio."""

_MIN_SMALL_ROWS, _MIN_ROWS, _LARGE, _MIN_LENGTH, _MAX_SIBLINGS = 20, 3, 50, 64, 7
_MAX_CHANCE, _TOLERANCE = 1e-4, 1e-9


def gather_evidence(relations: list[Relation], engine_count: int) -> None:
    """Test which columns are sums, ratios or means of others; store the results in the columns.

    Parameters
    ----------
    relations : list of Relation
        The tables. The first rows come from one response for all engines. The other rows come from
        responses for one engine each.
    engine_count : int
        The number of responses for single engines.
    """
    for relation in relations:
        _record_ratios(relation)
        _record_siblings(relation)
        if engine_count > 1:
            _add_engine_evidence(relation, engine_count)
    for relation in relations:
        if relation.steps:
            _record_sums(relation, relations)


# --- sums ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Totals:
    """Numbers that may be the sums of groups of rows.

    Attributes
    ----------
    groups : array of int
        For each row, the position of its group.
    numbers : array of float
        For each group, the number that may be its sum.
    label, where : str
        Descriptions of the sums and of the groups, for messages: ``facts.total``, ``responses``.
    summed_over : set of str
        The names of the columns that identify a row within its group.
    target : ColumnFinding, optional
        The column with the possible sums, if they are in a column.
    """

    groups: RowPositions
    numbers: Numbers
    label: str
    where: str
    summed_over: set[str]
    target: ColumnFinding | None = None


def _record_sums(relation: Relation, relations: list[Relation]) -> None:
    """Find numbers that equal sums of each column's rows; store them in the column."""
    enclosing_totals = [*_find_totals_in_enclosing_rows(relation)]
    for column in relation.columns if relation.kept_mask.any() else ():
        if not column.may_be_summed:
            continue
        for totals in [*enclosing_totals, *_find_other_totals(column, relations)]:
            if not _adds_up_to(column, totals):
                continue
            column.facts.sum_notes.append(f"its rows sum to {totals.label} in {totals.where}")
            column.facts.across |= totals.summed_over
            if totals.target is not None:
                column.facts.total_columns.append(totals.target)
                totals.target.facts.sum_notes.append(f"the rows of {relation.name} sum to it")


def _find_totals_in_enclosing_rows(relation: Relation) -> Iterator[Totals]:
    """Yield the numbers next to a nested table that may be the sums of its rows.

    In ``{"total": 5, "rows": [{"n": 2}, {"n": 3}]}`` it is the ``total``.
    """
    for ancestor, groups in [*relation.with_ancestors()][1:]:
        paths = {ancestor[name].path for name in ancestor.key}
        summed_over = {name for name in relation.key if relation[name].path not in paths}
        where = "rows" if ancestor.steps else "responses"
        for column in ancestor.columns:
            if column.may_be_summed:
                label = f"{ancestor.name}.{column.name}"
                yield Totals(groups, column.numbers, label, where, summed_over, column)


def _find_other_totals(column: ColumnFinding, relations: list[Relation]) -> Iterator[Totals]:
    """Yield numbers that may be sums of a column, from rows such as ``All`` or other tables."""
    relation, responses = column.relation, column.relation.response_positions
    key = {*relation.key}
    if len(relation.total_rows):
        totals_by_response = np.full(int(responses.max()) + 1, np.nan)
        totals_by_response[responses[relation.total_rows]] = column.numbers[relation.total_rows]
        yield Totals(responses, totals_by_response, "their total", "responses", key)
    sums = _sums_by_response(column)
    is_nested = any(neighbour.steps for neighbour, _ in [*relation.with_ancestors()][1:])
    for neighbour in relations if not is_nested and len(np.unique(sums[sums > 0])) > 1 else ():
        is_top_level = neighbour.parent is None or not neighbour.parent.steps
        if (
            neighbour.steps
            and is_top_level
            and neighbour is not relation
            and not {*neighbour.key} & key
            and column.name in neighbour.column_names
            and neighbour[column.name].may_be_summed
        ):
            other_sums = _sums_by_response(neighbour[column.name])
            if np.array_equal(other_sums > 0, sums > 0):
                yield Totals(responses, other_sums, f"those of {neighbour.name}", "responses", key)


def _sums_by_response(column: ColumnFinding) -> Numbers:
    """Return an array with the sum of a column for each response, without rows of totals."""
    is_counted = column.relation.kept_mask & ~np.isnan(column.numbers)
    responses = column.relation.response_positions
    size = max(_MIN_LENGTH, int(responses.max(initial=0)) + 1)
    sums = np.bincount(responses[is_counted], column.numbers[is_counted], size)
    return sums.astype(np.float64)


def _adds_up_to(column: ColumnFinding, totals: Totals) -> bool:
    """Return whether the rows of each group sum to its total.

    The result is True only if there are so many groups, or such large totals, that chance is
    unlikely.
    """
    is_counted, size = (column.relation.kept_mask & ~np.isnan(column.numbers), len(totals.numbers))
    groups, numbers = totals.groups[is_counted], column.numbers[is_counted]
    sums = np.bincount(groups, numbers, minlength=size)[:size]
    part_counts = np.bincount(groups, numbers != 0, minlength=size)[:size]
    is_known = ~np.isnan(totals.numbers) & (part_counts > 0)
    tolerance = column.half_unit * np.maximum(part_counts, 1) + _TOLERANCE
    if not is_known.any() or (np.abs(sums - totals.numbers)[is_known] > tolerance[is_known]).any():
        return False
    # A single part equals its total whatever the rule is.
    has_several_parts = is_known & (part_counts >= 2)
    is_large = np.nanmax(totals.numbers) >= _LARGE and part_counts[has_several_parts].sum() >= 3
    has_many_groups = has_several_parts.sum() >= MIN_DISTINCT_ROWS
    return bool(is_large or (has_many_groups and len(np.unique(totals.numbers[is_known])) >= 3))


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
    is_own : bool
        Whether the counts are a column of the same table.
    """

    name: str
    numbers: Numbers
    is_own: bool


@dataclass(frozen=True)
class Ratio:
    """A ratio of two counts that equals the values of a column on every row.

    Attributes
    ----------
    numerator, denominator : Operand
        The two counts.
    factor : float
        The factor that the ratio is multiplied by: 100 for percent, else 1.
    row_count : int
        The number of distinct rows for which it was tested.
    """

    numerator: Operand
    denominator: Operand
    factor: float
    row_count: int

    def __str__(self) -> str:
        return f"{' / '.join(self.operand_names)}{' × 100' if self.factor == 100 else ''}"

    @property
    def operand_names(self) -> tuple[str, str]:
        """The names of the numerator and the denominator."""
        return self.numerator.name, self.denominator.name


def _record_ratios(relation: Relation) -> None:
    """Find ratios of two counts that equal a column on every row; store them in the column."""
    operands = list(_find_operands(relation))
    for column in relation.columns:
        reading, name_meaning, evidence = column.reading, column.meaning, column.facts
        # A whole percentage is too coarse: it is left to experiments.
        if not (reading.is_number and column.is_own and reading.decimals):
            continue
        numbers = np.where(relation.kept_mask, column.numbers, np.nan)
        half_unit = column.half_unit + _TOLERANCE
        largest, smallest = np.nanmax(numbers), np.nanmin(numbers)
        is_share = name_meaning.kind not in ("position", "rank", "milliseconds", "seconds", "money")
        factors = [100.0] if reading.percent or largest > 1.5 else [1.0, 100.0]
        for factor in factors if is_share and smallest >= 0 else ():
            ratios = [*_find_exact_ratios(numbers, half_unit, factor, operands, column.name)]
            evidence.ratios += ratios
            for ratio in ratios:
                numerator = ratio.numerator
                if numerator.is_own and ratio.denominator.name == f"sum of {numerator.name}":
                    count_evidence = relation[numerator.name].facts
                    count_evidence.sum_notes.append(f"{column.name} is its share of its sum")
                    count_evidence.across |= {*relation.key}
            if not ratios and name_meaning.kind == "share" and not name_meaning.points:
                evidence.denominators |= _find_denominators(numbers, half_unit, factor, operands)
        if name_meaning.kind in ("position", "rank") or name_meaning.mean:
            evidence.denominators |= _find_denominators(numbers, half_unit, 1.0, operands)


def _find_operands(relation: Relation) -> Iterator[Operand]:
    """Yield the counts of a table, and sums of them, that may be part of a ratio."""
    earlier_sums: list[Numbers] = []
    for ancestor, ancestor_rows in relation.with_ancestors():
        for column in ancestor.columns:
            if not column.may_be_counts:
                continue
            is_own = ancestor is relation
            name = column.name if is_own else f"{ancestor.name}.{column.name}"
            yield Operand(name, column.numbers[ancestor_rows], is_own)
            sums = _sums_by_response(column)[relation.response_positions]
            is_new = not any(np.array_equal(sums, earlier_sum) for earlier_sum in earlier_sums)
            if is_own and relation.steps and is_new:
                earlier_sums.append(sums)
                yield Operand(f"sum of {column.name}", sums, False)


def _find_exact_ratios(
    numbers: Numbers, half_unit: float, factor: float, operands: list[Operand], name: str
) -> Iterator[Ratio]:
    """Yield the ratios of two counts that equal the numbers of a column on all rows.

    Parameters
    ----------
    numbers : array of float
        The numbers of the column, NaN if missing.
    half_unit : float
        The largest rounding error of the numbers.
    factor : float
        100 if the numbers are in percent, else 1.
    operands : list of Operand
        The counts that may be the numerator or the denominator.
    name : str
        The name of the column.
    """
    for denominator in operands:
        has_denominator = ~np.isnan(numbers) & (denominator.numbers > 0)
        for numerator in operands if has_denominator.any() else ():
            if numerator is denominator or numerator.name.startswith("sum of "):
                continue
            has_both = has_denominator & ~np.isnan(numerator.numbers)
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = np.abs(factor * numerator.numbers / denominator.numbers - numbers)
            if (errors[has_both] > half_unit).any():
                continue
            # Rates of 0 and counts that are equal prove nothing.
            has_both &= (numbers != 0) & (numerator.numbers != denominator.numbers)
            triples = np.stack([numbers, numerator.numbers, denominator.numbers])[:, has_both]
            row_count = np.unique(triples, axis=1).shape[1] if has_both.any() else 0
            has_small_counts = row_count and numerator.numbers[has_both].max() <= 3
            stem = singular(numerator.name.removesuffix("_count").rpartition(".")[2])
            # A name such as ``citation_rate`` is evidence, too: a row less proves the ratio.
            is_in_name = stem in name and half_unit < 0.001
            if row_count >= (
                _MIN_SMALL_ROWS if has_small_counts else MIN_DISTINCT_ROWS - is_in_name
            ):
                yield Ratio(numerator, denominator, factor, row_count)


def _find_denominators(
    numbers: Numbers, half_unit: float, factor: float, denominators: list[Operand]
) -> dict[str, int]:
    """Find the counts that may be the denominator of a rate whose numerator is not in the table.

    The rate times the denominator must be a whole number on every row.

    Parameters
    ----------
    numbers : array of float
        The rates, NaN if missing.
    half_unit : float
        The largest rounding error of the rates.
    factor : float
        100 if the rates are in percent, else 1.
    denominators : list of Operand
        The counts to try.

    Returns
    -------
    dict of str to int
        Maps the name of each possible denominator to the number of distinct rows tested.
    """
    row_counts = {}
    for denominator in denominators:
        is_usable = ~np.isnan(numbers) & (denominator.numbers > 0) & (numbers != 0)
        pairs = np.unique(np.stack([numbers[is_usable], denominator.numbers[is_usable]]), axis=1)
        min_numerators = (pairs[0] - half_unit) * pairs[1] / factor
        max_numerators = (pairs[0] + half_unit) * pairs[1] / factor
        probability = float(np.prod(np.clip(max_numerators - min_numerators, 0.0, 1.0)))
        may_be_whole = (np.floor(max_numerators) >= np.ceil(min_numerators)).all()
        if may_be_whole and pairs.shape[1] >= MIN_DISTINCT_ROWS and probability <= _MAX_CHANCE:
            row_counts[denominator.name] = pairs.shape[1]
    return row_counts


def _record_siblings(relation: Relation) -> None:
    """Find columns that together sum to 1 or 100 on every row; store this in the columns.

    The columns must come from fields of one object.
    """
    columns_by_object: dict[str, list[ColumnFinding]] = {}
    for column in relation.columns:
        is_candidate = column.reading.is_number and column.is_own and column.source[0] not in ".$"
        if is_candidate and column.meaning.kind in ("share", "score", "count", ""):
            columns_by_object.setdefault(column.source.rpartition(".")[0], []).append(column)
    for columns in columns_by_object.values():
        columns = columns[:_MAX_SIBLINGS]
        groups = (
            group for size in range(len(columns), 1, -1) for group in combinations(columns, size)
        )
        groups_and_sums = ((group, _find_common_sum(group)) for group in groups)
        group, common_sum = next((pair for pair in groups_and_sums if pair[1]), ((), 0.0))
        for column in group:
            column.facts.siblings = tuple(sibling.name for sibling in group)
            column.facts.siblings_sum = common_sum


def _find_common_sum(columns: tuple[ColumnFinding, ...]) -> float:
    """Return 1 or 100 if some columns together sum to this number on every row; else 0."""
    numbers_by_column = np.stack([column.numbers for column in columns])
    numbers_by_column = numbers_by_column[:, ~np.isnan(numbers_by_column).any(axis=0)]
    if np.unique(numbers_by_column, axis=1).shape[1] < MIN_DISTINCT_ROWS:
        return 0.0
    tolerance = sum(0.5 * 10.0**-column.reading.decimals for column in columns) + _TOLERANCE
    sums = numbers_by_column.sum(axis=0)
    fitting_totals = (
        total
        for total in (1.0, 100.0)
        if tolerance < total / 20 and (np.abs(sums - total) <= tolerance).all()
    )
    return next(fitting_totals, 0.0)


# --- experiments --------------------------------------------------------------------------------


@dataclass(eq=False)
class MatchedRows:
    """Pairs of rows with the same key, from responses for one and for all engines (AI assistants).

    Attributes
    ----------
    engine_rows : array of int
        The position of the first row of each pair, from a response for one engine.
    whole_rows : array of int
        The position of the second row of each pair, from the response for all engines.
    is_complete : array of bool
        For each row of the table, whether all responses for single engines have a row with its key.
    """

    engine_rows: RowPositions
    whole_rows: RowPositions
    is_complete: Any


def _match_engine_rows(relation: Relation, engine_count: int) -> MatchedRows | None:
    """Pair the rows for single engines (AI assistants) with those for all engines, by key.

    Returns
    -------
    MatchedRows or None
        The pairs; None if the table has no key by which rows can be compared.
    """
    # Another response may have another row at the same position.
    has_position_key = any("#" in relation[name].source for name in relation.key)
    if has_position_key or (relation.steps and not relation.key):
        return None
    key_columns = [relation[name].values for name in relation.key]
    keys = [repr(key) for key in zip(*key_columns, strict=True)] or [""] * len(relation)
    row_by_key = {keys[row]: row for row in relation.rows_in_response(0).tolist()}
    rows_by_response = [
        *filter(len, (relation.rows_in_response(1 + i) for i in range(engine_count)))
    ]
    row_pairs = [
        (row, row_by_key[keys[row]])
        for response_rows in rows_by_response
        for row in response_rows
        if keys[row] in row_by_key
    ]
    engine_rows, whole_rows = np.array(row_pairs, np.intp).reshape(-1, 2).T
    return MatchedRows(
        engine_rows,
        whole_rows,
        np.bincount(whole_rows, minlength=len(relation)) == len(rows_by_response),
    )


def _add_engine_evidence(relation: Relation, engine_count: int) -> None:
    """Test whether numbers for single engines sum to, or average to, those for all engines.

    An engine is an AI assistant. The results are stored in the columns of the table.
    """
    measures = [column for column in relation.columns if column.reading.is_number and column.is_own]
    matches = _match_engine_rows(relation, engine_count) if measures else None
    if matches is None:
        return
    weight_columns = []
    for column in measures:
        column.facts.engine_outcome, column.facts.tested_rows = _compare_with_sums(column, matches)
        if column.facts.engine_outcome == "adds" and column.may_be_counts:
            weight_columns.append(column)
    for column in measures:
        name_meaning = column.meaning
        is_count = name_meaning.kind == "count" and not (name_meaning.mean or column.facts.siblings)
        is_unweighted = name_meaning.kind in ("rank", "change", "probability", "money")
        if column in weight_columns or is_count or is_unweighted:
            continue
        half_unit = 0.5 * 10.0**-column.reading.decimals + _TOLERANCE
        for weight_column in weight_columns:
            row_count = _count_pooled_rows(
                column.numbers, weight_column.numbers, matches, half_unit
            )
            if row_count:
                column.facts.weights[weight_column.name] = row_count


def _compare_with_sums(column: ColumnFinding, matches: MatchedRows) -> tuple[str, int]:
    """Test whether the numbers for single engines (AI assistants) sum to those for all engines.

    Returns
    -------
    outcome : str
        ``adds`` if they do; ``distinct`` if the sum is too large, as for counts of distinct
        visitors; ``differs`` if neither; "" if there are too few rows.
    row_count : int
        The number of rows that were compared.
    """
    numbers, whole_rows = column.numbers, matches.whole_rows
    part_numbers, size = numbers[matches.engine_rows], len(numbers)
    sums = np.bincount(whole_rows, np.nan_to_num(part_numbers), size)
    is_shared = np.bincount(whole_rows, part_numbers > 0, size) >= 2
    is_known = np.bincount(whole_rows, np.isnan(part_numbers), size) == 0
    is_known &= matches.is_complete & ~np.isnan(numbers)
    row_count = int((is_shared & is_known).sum())
    part_counts = np.bincount(whole_rows, minlength=size)
    tolerance = column.half_unit * (part_counts + 1) + _TOLERANCE
    if not is_known.any():
        return "", 0
    if (np.abs(sums - numbers) <= tolerance)[is_known].all():
        is_tested = row_count >= _MIN_ROWS and len(np.unique(numbers[is_shared & is_known])) >= 2
        return ("adds" if is_tested else ""), row_count
    if ((part_numbers == numbers[whole_rows]) | (part_numbers == 0))[is_known[whole_rows]].all():
        return "", row_count  # the filter changed no number that is there
    largest_parts = _group_ranges(part_numbers, whole_rows, size)[1]
    if ((numbers <= sums + tolerance) & (numbers >= largest_parts - tolerance))[is_known].all():
        return ("distinct" if row_count else ""), row_count
    return "differs", row_count


def _group_ranges(numbers: Numbers, groups: RowPositions, size: int) -> tuple[Numbers, Numbers]:
    """Return two arrays: the lowest and the highest number of each group.

    Parameters
    ----------
    numbers : array of float
        The numbers.
    groups : array of int
        For each number, the position of its group.
    size : int
        The number of groups.
    """
    minima, maxima = np.full(size, np.inf), np.full(size, -np.inf)
    np.fmin.at(minima, groups, numbers)
    np.fmax.at(maxima, groups, numbers)
    return minima, maxima


def _count_pooled_rows(
    numbers: Numbers, weights: Numbers, matches: MatchedRows, half_unit: float
) -> int:
    """Test whether rates for all AI engines are weighted means of the rates for single engines.

    Parameters
    ----------
    numbers : array of float
        The rates.
    weights : array of float
        The possible weights.
    matches : MatchedRows
        The pairs of rows for single engines and for all engines.
    half_unit : float
        The largest rounding error of the rates.

    Returns
    -------
    int
        The number of rows on which they are weighted means; 0 if any row contradicts.
    """
    rates, whole_rows, size = (numbers[matches.engine_rows], matches.whole_rows, len(numbers))
    part_weights = np.nan_to_num(weights[matches.engine_rows])
    total_weights = np.bincount(whole_rows, part_weights, size)
    is_known = np.bincount(whole_rows, (part_weights > 0) & np.isnan(rates), size) == 0
    # Where the weights add up, no part is missing.
    is_known &= (np.abs(total_weights - weights) <= _TOLERANCE) & ~np.isnan(numbers)
    is_known &= np.bincount(whole_rows, part_weights > 0, size) >= 2
    if is_known.sum() < _MIN_ROWS:
        return 0
    sums = np.bincount(whole_rows, np.nan_to_num(rates) * part_weights, size)[is_known]
    is_pooled = (np.abs(sums / total_weights[is_known] - numbers[is_known]) <= 2 * half_unit).all()
    minima, maxima = _group_ranges(rates[part_weights > 0], whole_rows[part_weights > 0], size)
    has_spread = ((maxima - minima)[is_known] > 4 * half_unit).sum() >= _MIN_ROWS
    # Where any weights would do, none are proved.
    plain_sums = np.bincount(whole_rows, np.nan_to_num(rates) * (part_weights > 0), size)[is_known]
    counts = np.bincount(whole_rows, part_weights > 0, size)[is_known]
    has_spread &= (np.abs(plain_sums / counts - numbers[is_known]) > 2 * half_unit).any()
    return int(is_known.sum()) if is_pooled and has_spread else 0
