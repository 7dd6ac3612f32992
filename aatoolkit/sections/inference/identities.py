"""Identities within answers: ratios, sums of rows and of children, shares of a whole.

An identity is tested on all rows at once, within the rounding of what is printed. One that holds
may still be chance, or one of several that cannot be distinguished on these rows; what follows
from it says how many different rows it held on and which rivals survived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.vocabulary import singular

Numbers = np.ndarray[Any, np.dtype[np.float64]]

FEWEST_ROWS = 5
"""Fewer different rows than this may satisfy an identity by chance."""

FEWEST_SMALL = 20
"""The same where all counts are 3 or less."""

_CHANCE = 1e-4
_NARROW = 0.02
_SLACK = 1e-9
_TOTAL_ROWS, _TOTAL_SIZE, _MOST_SIBLINGS = 3, 50, 7


@dataclass(frozen=True)
class Operand:
    """A column of counts as seen from the rows of a relation.

    Attributes
    ----------
    name : str
        The column's name; for one of another relation, ``relation.column``.
    numbers : array of float
        One value a row.
    own : bool
        Whether it is a column of the relation itself.
    """

    name: str
    numbers: Numbers
    own: bool


@dataclass(frozen=True)
class Ratio:
    """A ratio that holds on every row.

    Attributes
    ----------
    numerator : Operand or None
        None where it is not shown, and its being a whole number on every row is the evidence.
    denominator : Operand
        What it is divided by.
    factor : float
        100 for per cent, else 1.
    rows : int
        The different rows, without zeros, that it held on.
    """

    numerator: Operand | None
    denominator: Operand
    factor: float
    rows: int

    def __str__(self) -> str:
        above = self.numerator.name if self.numerator else "a whole number"
        return f"{above} / {self.denominator.name}{' × 100' if self.factor == 100 else ''}"


def stem(name: str) -> str:
    """The noun that a count's name counts: ``conversion`` of ``conversion_count``."""
    return singular(name.removesuffix("_count").rpartition(".")[2])


def is_count(reading: FieldReading) -> bool:
    """Whether a column holds whole numbers that may be counts."""
    if reading.dtype != "Int64" or reading.parse not in (None, "number"):
        return False
    numbers = reading.numbers
    return bool(len(numbers)) and not bool((numbers < 0).any())


def operands(
    relation: Relation, readings: Mapping[Relation, Mapping[str, FieldReading]]
) -> Iterator[Operand]:
    """Yield the counts that rows may be made of: their own, enclosing ones, and sums."""
    seen: list[Numbers] = []
    for other, places in relation.chain():
        for column in other.columns:
            reading = readings[other].get(column.name)
            if reading is None or not is_count(reading) or not column.is_own:
                continue
            own = other is relation
            numbers = reading.numbers[places]
            yield Operand(column.name if own else f"{other.name}.{column.name}", numbers, own)
            if own and len(relation.steps):
                sums = _sums(numbers, relation)
                if not any(np.array_equal(sums, one, equal_nan=True) for one in seen):
                    seen.append(sums)
                    yield Operand(f"sum of {column.name}", sums, False)


def ratios(
    numbers: Numbers, decimals: int, factor: float, counts: list[Operand], name: str = ""
) -> list[Ratio]:
    """Find the ratios of two counts that equal these numbers on all rows.

    Parameters
    ----------
    numbers : array of float
        The numbers, as printed; NaN where there is none.
    decimals : int
        The decimals they are printed with.
    factor : float
        100 for per cent, else 1.
    counts : list of Operand
        The counts to try as numerator and denominator.
    name : str
        The column's name: one that names its numerator is proof on a row less.
    """
    half = 0.5 * 10.0**-decimals + _SLACK
    found: list[Ratio] = []
    for below in counts:
        usable = ~np.isnan(numbers) & (below.numbers > 0)
        if not usable.any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            for above in counts:
                if above is below or above.name.startswith("sum of "):
                    continue
                rows = usable & ~np.isnan(above.numbers)
                error = np.abs(factor * above.numbers / below.numbers - numbers)
                if not rows.any() or (error[rows] > half).any():
                    continue
                # What has a count and no rate, or a rate and no count, is no row to test on.
                count, small = _evidence(numbers, above.numbers, below.numbers, rows)
                named = stem(above.name) in name and decimals >= 3
                if count >= (FEWEST_SMALL if small else FEWEST_ROWS - named):
                    found.append(Ratio(above, below, factor, count))
    return found


def shares_of_unseen(
    numbers: Numbers, decimals: int, factor: float, counts: list[Operand], relation: Relation
) -> list[Ratio]:
    """Find counts of which the numbers are shares of a total that no answer shows.

    The numbers fix the total within their rounding, and every row must fix the same one.
    """
    half = 0.5 * 10.0**-decimals + _SLACK
    found: list[Ratio] = []
    for above in counts:
        rows = ~np.isnan(numbers) & ~np.isnan(above.numbers) & above.own
        if not rows.any():
            continue
        r, k, at = numbers[rows], above.numbers[rows], relation.answer[rows]
        with np.errstate(divide="ignore"):
            low = factor * k / (r + half)
            high = np.where(r > half, factor * k / np.maximum(r - half, _SLACK), np.inf)
        size = int(at.max()) + 1
        least, most, largest = np.zeros(size), np.full(size, np.inf), np.zeros(size)
        np.maximum.at(least, at, low)
        np.minimum.at(most, at, high)
        np.maximum.at(largest, at, k)
        there = np.unique(at)
        least, most, largest = least[there], most[there], largest[there]
        if (np.floor(most) < np.maximum(np.ceil(least), largest)).any():
            continue
        pairs = np.unique(np.stack([at, r, k])[:, r > 0], axis=1)
        spread = float(np.ptp(r)) if len(r) else 0.0
        free = pairs.shape[1] - len(np.unique(pairs[0]))
        known = bool((most - least <= _NARROW * most).any())
        if free < FEWEST_ROWS or len(np.unique(pairs[2])) < FEWEST_ROWS or not known:
            continue
        if spread and min(1.0, 2 * half / spread) ** free <= _CHANCE**2:
            total = Operand("a total that the rows do not show", most, False)
            found.append(Ratio(above, total, factor, int(pairs.shape[1])))
    return found


def whole_numerators(
    numbers: Numbers, decimals: int, factor: float, counts: list[Operand]
) -> list[Ratio]:
    """Find denominators by which the numbers become whole on every row.

    It proves rates whose numerator is not shown, and the weights of means of whole numbers.
    """
    half = 0.5 * 10.0**-decimals + _SLACK
    found: list[Ratio] = []
    for below in counts:
        rows = ~np.isnan(numbers) & (below.numbers > 0) & (numbers != 0)
        if rows.sum() < FEWEST_ROWS:
            continue
        pairs = np.unique(np.stack([numbers[rows], below.numbers[rows]]), axis=1)
        low = (pairs[0] - half) * pairs[1] / factor
        high = (pairs[0] + half) * pairs[1] / factor
        if (np.floor(high) < np.ceil(low)).any():
            continue
        chance = float(np.prod(np.clip(high - low, 0.0, 1.0)))
        if pairs.shape[1] >= FEWEST_ROWS and chance <= _CHANCE:
            found.append(Ratio(None, below, factor, int(pairs.shape[1])))
    return found


def row_sums(
    numbers: Numbers, relation: Relation, places: Any, totals: Mapping[str, Numbers], half: float
) -> list[tuple[str, int, int]]:
    """Find totals that the sum of rows equals in every group: an answer, or a parent row.

    Parameters
    ----------
    numbers : array of float
        One value a row of the relation.
    relation : Relation
        The rows; those left out as totals do not count.
    places : array of int
        The group of each row.
    totals : mapping of str to array of float
        One value a group, by name.
    half : float
        Half a unit of the last decimal of what is summed.

    Returns
    -------
    list of (str, int, int)
        The total's name, the groups it held in, and the rows that took part.
    """
    keep = ~np.isnan(numbers)
    keep[relation.omitted] = False
    size = max((len(one) for one in totals.values()), default=0)
    if not keep.any() or not size:
        return []
    sums = np.bincount(places[keep], numbers[keep], minlength=size)
    parts = np.bincount(places[keep], numbers[keep] != 0, minlength=size)
    slack = half * np.maximum(parts, 1) + _SLACK
    found: list[tuple[str, int, int]] = []
    for name, total in totals.items():
        known = ~np.isnan(total) & (parts > 0)
        if not known.any() or (np.abs(sums - total)[known] > slack[known]).any():
            continue
        # A single part equals its total whatever the rule is.
        usable = known & (parts >= 2)
        found.append((name, int(usable.sum()), int(parts[usable].sum())))
    return found


def is_proved_sum(groups: int, rows: int, smallest: float, distinct: int) -> bool:
    """Whether sums that equal totals are too many to be chance.

    Parameters
    ----------
    groups, rows : int
        The groups with two parts or more, and the parts in them.
    smallest : float
        The largest total met.
    distinct : int
        How many different totals were met.
    """
    if groups >= FEWEST_ROWS and distinct >= 3:
        return True
    return groups >= 1 and rows >= _TOTAL_ROWS and smallest >= _TOTAL_SIZE


def sibling_shares(columns: Mapping[str, tuple[Numbers, int]]) -> tuple[tuple[str, ...], float]:
    """Find columns that sum to 1 or 100 on every row; return them and the sum.

    Parameters
    ----------
    columns : mapping of str to (array of float, int)
        The numbers of columns of one object, and their decimals.
    """
    names = [name for name, (numbers, _) in columns.items() if not np.isnan(numbers).all()]
    for count in range(min(len(names), _MOST_SIBLINGS), 1, -1):
        for chosen in combinations(names[:_MOST_SIBLINGS], count):
            held = np.stack([columns[name][0] for name in chosen])
            known = ~np.isnan(held).any(axis=0)
            if len(np.unique(held[:, known], axis=1).T) < FEWEST_ROWS:
                continue
            slack = sum(0.5 * 10.0 ** -columns[name][1] for name in chosen) + _SLACK
            for whole in (1.0, 100.0):
                if (
                    np.abs(held[:, known].sum(axis=0) - whole) <= slack
                ).all() and slack < whole / 20:
                    return chosen, whole
    return (), 0.0


def _sums(numbers: Numbers, relation: Relation) -> Numbers:
    """For each row, the sum over the rows of its answer, without those that are totals."""
    parts: Numbers = np.nan_to_num(numbers)
    parts[relation.omitted] = 0.0
    sums: Any = np.bincount(relation.answer, parts)
    result: Numbers = sums[relation.answer]
    return result


def _evidence(numbers: Numbers, above: Numbers, below: Numbers, rows: Any) -> tuple[int, bool]:
    """Count different rows without zeros; return also whether the counts are tiny."""
    usable = rows & (numbers != 0) & (above != below)
    if not usable.any():
        return 0, True
    triples = np.unique(np.stack([numbers[usable], above[usable], below[usable]]), axis=1)
    return int(triples.shape[1]), bool(above[usable].max() <= 3)
