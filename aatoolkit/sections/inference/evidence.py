"""Gather the evidence of a section: identities, sums and experiments, column by column.

Everything is a group of rows beside a total: the rows of a response beside its totals, of a list
beside the record around it, of the parts of a response beside the whole. An identity is tested on
all rows at once, within the rounding of what is printed; one that holds may still be chance, or one
of several that these rows cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aatoolkit.sections.inference.readings import Numbers
from aatoolkit.sections.inference.relations import ColumnFinding, Places, Relation
from aatoolkit.sections.inference.words import singular

FEWEST = 5
"""Fewer different rows than this may satisfy an identity by chance; ``_SMALL`` of tiny counts."""

_SMALL, _PARTS, _LARGE, _RESPONSES, _MOST_SIBLINGS = 20, 3, 50, 64, 7
_CHANCE, _SLACK = 1e-4, 1e-9


def gather(relations: list[Relation], parts: int) -> None:
    """Gather the evidence of identities and experiments for the columns of a section.

    Parameters
    ----------
    relations : list of Relation
        The tables, with their keys and readings; their columns take the evidence.
    parts : int
        How many responses after the first one divide it among them.
    """
    for relation in relations:
        _find_ratios(relation)
        _find_siblings(relation)
        if parts > 1:
            _experiment(relation, parts)
    for relation in relations:
        if relation.steps:
            _find_sums(relation, relations)


# --- sums ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Totals:
    """Rows in groups, and one number per group that they may sum to.

    Attributes
    ----------
    place : array of int
        The group of each row.
    numbers : array of float
        The totals, by group.
    label, where : str
        The totals, and what a group is, in words.
    over : set of str
        The columns of the key that are summed over.
    target : ColumnFinding, optional
        The column of the totals.
    """

    place: Places
    numbers: Numbers
    label: str
    where: str
    over: set[str]
    target: ColumnFinding | None = None


def _find_sums(relation: Relation, relations: list[Relation]) -> None:
    """Record the totals that the rows of each column sum to."""
    totals = [*_totals_around(relation)]
    for column in relation.columns if relation.kept.any() else ():
        if not column.may_add:
            continue
        for total in [*totals, *_totals_of(column, relations)]:
            if not _sums_to(column, total):
                continue
            column.seen.sums.append(f"its rows sum to {total.label} in {total.where}")
            column.seen.across |= total.over
            if total.target is not None:
                column.seen.equals.append(total.target)
                total.target.seen.sums.append(f"the rows of {relation.name} sum to it")


def _totals_around(relation: Relation) -> Iterator[Totals]:
    """Yield the counts of the rows that enclose these."""
    for other, place in [*relation.chain()][1:]:
        paths = {other[name].path for name in other.key}
        over = {name for name in relation.key if relation[name].path not in paths}
        where = "rows" if other.steps else "responses"
        for column in other.columns:
            if column.may_add:
                label = f"{other.name}.{column.name}"
                yield Totals(place, column.numbers, label, where, over, column)


def _totals_of(column: ColumnFinding, relations: list[Relation]) -> Iterator[Totals]:
    """Yield the row labelled as the total, and sums of the same count in other tables."""
    relation, place = column.relation, column.relation.response
    key = {*relation.key}
    if len(relation.omitted):
        total = np.full(int(place.max()) + 1, np.nan)
        total[place[relation.omitted]] = column.numbers[relation.omitted]
        yield Totals(place, total, "their total", "responses", key)
    sums = _by_response(column)
    is_nested = any(other.steps for other, _ in [*relation.chain()][1:])
    for other in relations if not is_nested and len(np.unique(sums[sums > 0])) > 1 else ():
        is_top = other.parent is None or not other.parent.steps
        is_apart = other.steps and is_top and other is not relation and not {*other.key} & key
        if is_apart and column.name in other.names and other[column.name].may_add:
            beside = _by_response(other[column.name])
            if np.array_equal(beside > 0, sums > 0):
                yield Totals(place, beside, f"those of {other.name}", "responses", key)


def _by_response(column: ColumnFinding) -> Numbers:
    keep = column.relation.kept & ~np.isnan(column.numbers)
    place = column.relation.response[keep]
    sums = np.bincount(place, column.numbers[keep], _size(column.relation))
    return sums.astype(np.float64)


def _size(relation: Relation) -> int:
    """A number of responses that few are asked for, or more where a relation has rows of more."""
    return max(_RESPONSES, int(relation.response.max(initial=0)) + 1)


def _sums_to(column: ColumnFinding, total: Totals) -> bool:
    """Whether rows sum to totals so often, or to totals so large, that it is no coincidence."""
    keep, size = column.relation.kept & ~np.isnan(column.numbers), len(total.numbers)
    place, numbers = total.place[keep], column.numbers[keep]
    sums = np.bincount(place, numbers, minlength=size)[:size]
    parts = np.bincount(place, numbers != 0, minlength=size)[:size]
    is_known = ~np.isnan(total.numbers) & (parts > 0)
    slack = column.half * np.maximum(parts, 1) + _SLACK
    if not is_known.any() or (np.abs(sums - total.numbers)[is_known] > slack[is_known]).any():
        return False
    # A single part equals its total whatever the rule is.
    several = is_known & (parts >= 2)
    is_large = np.nanmax(total.numbers) >= _LARGE and parts[several].sum() >= 3
    is_often = several.sum() >= FEWEST and len(np.unique(total.numbers[is_known])) >= 3
    return bool(is_often or is_large)


# --- ratios -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operand:
    """A column of counts aligned to the rows of a relation, its own or another's."""

    name: str
    numbers: Numbers
    own: bool


@dataclass(frozen=True)
class Ratio:
    """A ratio that holds on every row.

    Attributes
    ----------
    numerator, denominator : Operand
        What is divided, and by what.
    factor : float
        100 for per cent, else 1.
    rows : int
        The different rows, without zeros, that it held on.
    """

    numerator: Operand
    denominator: Operand
    factor: float
    rows: int

    def __str__(self) -> str:
        return f"{' / '.join(self.over)}{' × 100' if self.factor == 100 else ''}"

    @property
    def over(self) -> tuple[str, str]:
        """The names of what is divided, and by what."""
        return self.numerator.name, self.denominator.name


def _find_ratios(relation: Relation) -> None:
    counts = list(_operands(relation))
    for column in relation.columns:
        reading, named, seen = column.reading, column.meaning, column.seen
        # A whole percentage is too coarse: it is left to experiments.
        if not (reading.is_number and column.is_own and reading.decimals):
            continue
        numbers = np.where(relation.kept, column.numbers, np.nan)
        half, largest, least = column.half + _SLACK, np.nanmax(numbers), np.nanmin(numbers)
        is_share = named.kind not in ("position", "rank", "milliseconds", "seconds", "money")
        factors = [100.0] if reading.percent or largest > 1.5 else [1.0, 100.0]
        for factor in factors if is_share and least >= 0 else ():
            ratios = [*_ratios(numbers, half, factor, counts, column.name)]
            seen.ratios += ratios
            for ratio in ratios:
                above = ratio.numerator
                if above.own and ratio.denominator.name == f"sum of {above.name}":
                    relation[above.name].seen.sums.append(f"{column.name} is its share of its sum")
                    relation[above.name].seen.across |= {*relation.key}
            if not ratios and named.kind == "share" and not named.points:
                seen.wholes |= _whole_numerators(numbers, half, factor, counts)
        if named.kind in ("position", "rank") or named.mean:
            seen.wholes |= _whole_numerators(numbers, half, 1.0, counts)


def _operands(relation: Relation) -> Iterator[Operand]:
    """Yield counts that a ratio may be made of: the rows' own, enclosing ones, and sums."""
    seen: list[Numbers] = []
    for other, places in relation.chain():
        for column in other.columns:
            if not column.may_be_counted:
                continue
            is_own = other is relation
            name = column.name if is_own else f"{other.name}.{column.name}"
            yield Operand(name, column.numbers[places], is_own)
            sums = _by_response(column)[relation.response]
            is_new = not any(np.array_equal(sums, numbers, equal_nan=True) for numbers in seen)
            if is_own and relation.steps and is_new:
                seen.append(sums)
                yield Operand(f"sum of {column.name}", sums, False)


def _ratios(
    numbers: Numbers, half: float, factor: float, counts: list[Operand], name: str
) -> Iterator[Ratio]:
    """Yield the ratios of two counts that equal numbers on all rows, within their rounding.

    A column that names its numerator is proof on a row less.
    """
    for below in counts:
        usable = ~np.isnan(numbers) & (below.numbers > 0)
        for above in counts if usable.any() else ():
            if above is below or above.name.startswith("sum of "):
                continue
            rows = usable & ~np.isnan(above.numbers)
            with np.errstate(divide="ignore", invalid="ignore"):
                error = np.abs(factor * above.numbers / below.numbers - numbers)
            if (error[rows] > half).any():
                continue
            # What has a count and no rate, or a rate and no count, is no row to test on.
            rows &= (numbers != 0) & (above.numbers != below.numbers)
            stack = np.stack([numbers, above.numbers, below.numbers])[:, rows]
            count = np.unique(stack, axis=1).shape[1] if rows.any() else 0
            is_small = count and above.numbers[rows].max() <= 3
            stem = singular(above.name.removesuffix("_count").rpartition(".")[2])
            is_named = stem in name and half < 0.001
            if count >= (_SMALL if is_small else FEWEST - is_named):
                yield Ratio(above, below, factor, count)


def _whole_numerators(
    numbers: Numbers, half: float, factor: float, counts: list[Operand]
) -> dict[str, int]:
    """Find denominators by which the numbers become whole on every row, and on how many.

    It proves rates whose numerator is not shown, and the weights of means of whole numbers.
    """
    wholes = {}
    for below in counts:
        rows = ~np.isnan(numbers) & (below.numbers > 0) & (numbers != 0)
        pairs = np.unique(np.stack([numbers[rows], below.numbers[rows]]), axis=1)
        low, high = (pairs[0] - half) * pairs[1] / factor, (pairs[0] + half) * pairs[1] / factor
        chance = float(np.prod(np.clip(high - low, 0.0, 1.0)))
        is_whole = (np.floor(high) >= np.ceil(low)).all()
        if is_whole and pairs.shape[1] >= FEWEST and chance <= _CHANCE:
            wholes[below.name] = pairs.shape[1]
    return wholes


def _find_siblings(relation: Relation) -> None:
    """Record columns of one object that sum to one whole, 1 or 100, on every row."""
    objects: dict[str, list[ColumnFinding]] = {}
    for column in relation.columns:
        fits = column.reading.is_number and column.is_own and column.source[0] not in ".$"
        if fits and column.meaning.kind in ("share", "score", "count", ""):
            objects.setdefault(column.source.rpartition(".")[0], []).append(column)
    for columns in objects.values():
        columns = columns[:_MOST_SIBLINGS]
        groups = (group for n in range(len(columns), 1, -1) for group in combinations(columns, n))
        wholes = ((group, _total(group)) for group in groups)
        group, total = next((result for result in wholes if result[1]), ((), 0.0))
        for column in group:
            column.seen.siblings, column.seen.siblings_sum = tuple(c.name for c in group), total


def _total(columns: tuple[ColumnFinding, ...]) -> float:
    """What columns sum to on every row, 1 or 100; 0 if neither."""
    rows = np.stack([column.numbers for column in columns])
    rows = rows[:, ~np.isnan(rows).any(axis=0)]
    if np.unique(rows, axis=1).shape[1] < FEWEST:
        return 0.0
    slack = sum(0.5 * 10.0**-column.reading.decimals for column in columns) + _SLACK
    sums = rows.sum(axis=0)
    fits = (w for w in (1.0, 100.0) if slack < w / 20 and (np.abs(sums - w) <= slack).all())
    return next(fits, 0.0)


# --- experiments --------------------------------------------------------------------------------


@dataclass(eq=False)
class Parts:
    """The rows of the parts of a response, each with the row of the whole that it is a part of.

    Attributes
    ----------
    rows, place : array of int
        Rows of the parts, and the row of the whole of each.
    shared : array of bool
        The rows of the whole that all parts with rows have: others may be left out, or cut off.
    """

    rows: Places
    place: Places
    shared: Any


def _find_parts(relation: Relation, count: int) -> Parts | None:
    """Match the rows of a response with those of its parts by key; None where they cannot match."""
    # Another response may have another row in the same place.
    is_placed = any("#" in relation[name].source for name in relation.key)
    if is_placed or (relation.steps and not relation.key):
        return None
    columns = [relation[name].values for name in relation.key]
    keys = [repr(key) for key in zip(*columns, strict=True)] or [""] * len(relation)
    rows = {keys[row]: row for row in relation.rows_of(0).tolist()}
    parts = [*filter(len, (relation.rows_of(1 + n) for n in range(count)))]
    pairs = [(row, rows[keys[row]]) for part in parts for row in part if keys[row] in rows]
    part_rows, place = np.array(pairs, np.intp).reshape(-1, 2).T
    return Parts(part_rows, place, np.bincount(place, minlength=len(relation)) == len(parts))


def _experiment(relation: Relation, count: int) -> None:
    """Record what narrowing to single engines shows: which counts add up, what weights rates."""
    measures = [c for c in relation.columns if c.reading.is_number and c.is_own]
    parts = _find_parts(relation, count) if measures else None
    if parts is None:
        return
    weights = []
    for column in measures:
        column.seen.outcome, column.seen.tested = _additivity(column, parts)
        if column.seen.outcome == "adds" and column.may_be_counted:
            weights.append(column)
    for column in (column for column in measures if column not in weights):
        named = column.meaning
        is_count = named.kind == "count" and not named.mean and not column.seen.siblings
        if is_count or named.kind in ("rank", "change", "probability", "money"):
            continue
        half = 0.5 * 10.0**-column.reading.decimals + _SLACK
        for weight in weights:
            rows = _pooled(column.numbers, weight.numbers, parts, half)
            if rows:
                column.seen.weights[weight.name] = rows


def _additivity(column: ColumnFinding, parts: Parts) -> tuple[str, int]:
    """Test whether a column adds up over the parts; return the outcome, and on how many rows.

    Additive counts add up exactly, and distinct counts lie between the largest part and the sum.
    A part that equals the whole was not filtered, and tests nothing.
    """
    numbers, place = column.numbers, parts.place
    part, size = numbers[parts.rows], len(numbers)
    sums = np.bincount(place, np.nan_to_num(part), size)
    several = np.bincount(place, part > 0, size) >= 2
    is_known = parts.shared & ~np.isnan(numbers) & (np.bincount(place, np.isnan(part), size) == 0)
    count, used = int((several & is_known).sum()), np.bincount(place, minlength=size)
    slack = column.half * (used + 1) + _SLACK
    if not is_known.any():
        return "", 0
    if (np.abs(sums - numbers) <= slack)[is_known].all():
        is_tested = count >= _PARTS and len(np.unique(numbers[several & is_known])) >= 2
        return ("adds" if is_tested else ""), count
    if ((part == numbers[place]) | (part == 0))[is_known[place]].all():
        return "", count  # the filter changed no number that is there
    high = _range(part, place, size)[1]
    if ((numbers <= sums + slack) & (numbers >= high - slack))[is_known].all():
        return ("distinct" if count else ""), count
    return "differs", count


def _range(numbers: Numbers, place: Places, size: int) -> tuple[Numbers, Numbers]:
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.fmin.at(low, place, numbers)
    np.fmax.at(high, place, numbers)
    return low, high


def _pooled(numbers: Numbers, weight: Numbers, parts: Parts, half: float) -> int:
    """Count the rows where parts' rates, weighted by a count, give the whole's; 0 if not all."""
    rates, place, size = numbers[parts.rows], parts.place, len(numbers)
    by = np.nan_to_num(weight[parts.rows])
    total = np.bincount(place, by, size)
    is_known = np.bincount(place, (by > 0) & np.isnan(rates), size) == 0
    # The weight itself adds up, so that no part is lacking.
    is_known &= (np.abs(total - weight) <= _SLACK) & ~np.isnan(numbers)
    is_known &= np.bincount(place, by > 0, size) >= 2
    if is_known.sum() < _PARTS:
        return 0
    sums = np.bincount(place, np.nan_to_num(rates) * by, size)[is_known]
    is_met = (np.abs(sums / total[is_known] - numbers[is_known]) <= 2 * half).all()
    low, high = _range(rates[by > 0], place[by > 0], size)
    is_spread = ((high - low)[is_known] > 4 * half).sum() >= _PARTS
    return int(is_known.sum()) if is_met and is_spread else 0
