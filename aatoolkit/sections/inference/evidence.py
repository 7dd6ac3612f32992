"""Gather the evidence of a section: identities, sums and experiments, column by column.

Everything is a group of rows beside a total: the rows of an answer beside its totals, of a list
beside the record around it, of one table beside another's by its key, of the parts of an answer
beside the whole. An identity is tested on all rows at once, within the rounding of what is
printed; one that holds may still be chance, or one of several that these rows cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aatoolkit.sections.inference.relations import ColumnFinding, Numbers, Places, Relation
from aatoolkit.sections.inference.words import singular, tokens

FEWEST = 5
"""Fewer different rows than this may satisfy an identity by chance; ``_SMALL`` of tiny counts."""

_SMALL, _PARTS, _LARGE, _ANSWERS = 20, 3, 50, 64
_CHANCE, _NARROW, _SLACK = 1e-4, 0.02, 1e-9
_MOST_SIBLINGS = 7
_NONE: Numbers = np.empty(0)
_NEVER_PARTS = ("share", "position", "rank", "score", "probability", "id", "time", "status")


def gather(relations: list[Relation], parts: int) -> None:
    """Gather the evidence of identities and experiments for the columns of a section.

    Parameters
    ----------
    relations : list of Relation
        The tables, with their keys and readings; their columns take the evidence.
    parts : int
        How many answers after the first one divide it among them.
    """
    for relation in relations:
        _ratios(relation)
        _siblings(relation)
        if parts > 1:
            _experiment(relation, parts)
    for group in _groups(relations):
        _sums(group)


# --- sums ---------------------------------------------------------------------------------------

Total = tuple[ColumnFinding | None, str, Numbers]
"""A column of totals, its name for people, and one number a group."""


@dataclass(eq=False)
class RowGroups:
    """Rows in groups, and the totals that they may sum to.

    Attributes
    ----------
    relation : Relation
        The rows.
    place : array of int
        The group of each row; -1 for none.
    totals : callable
        The totals that a column may sum to.
    over : set of str
        The columns of the key that are summed over.
    where : str
        What a group is, in words: answers, or rows.
    is_joined : bool
        Whether groups are found by a key elsewhere: one large one proves nothing then.
    """

    relation: Relation
    place: Places
    totals: Callable[[ColumnFinding], Iterable[Total]]
    over: set[str]
    where: str = "rows"
    is_joined: bool = False


def _groups(relations: list[Relation]) -> Iterator[RowGroups]:
    for relation in relations:
        if not relation.steps:
            continue
        key = set(relation.key)
        enclosing = [*relation.chain()][1:]
        for other, places in enclosing:
            paths = {other[name].path for name in other.key}
            own = {
                name for name in key if name not in other.key and relation[name].path not in paths
            }
            where = "rows" if other.steps else "answers"
            yield RowGroups(
                relation, places, _columns_of(other), own if other.steps else key, where
            )
        for other in relations:
            joined = None if any(other is one for one, _ in enclosing) else _joined(relation, other)
            if joined is not None:
                yield RowGroups(
                    relation, joined[1], _columns_of(other), key - {joined[0]}, "rows", True
                )
        if len(relation.omitted):
            yield RowGroups(relation, relation.response, _total_rows, key, "answers")
        if not any(other.steps for other, _ in enclosing):
            yield RowGroups(
                relation, relation.response, _equal_sums(relation, relations), key, "answers"
            )


def _columns_of(relation: Relation) -> Callable[[ColumnFinding], list[Total]]:
    totals: list[Total] = [
        (column, f"{relation.name}.{column.name}", column.numbers)
        for column in relation.columns
        if column.may_add
    ]
    return lambda column: totals


def _total_rows(column: ColumnFinding) -> list[Total]:
    """The number of the row among a column's own that says that it is the total."""
    relation = column.relation
    total = np.full(int(relation.response.max()) + 1, np.nan)
    total[relation.response[relation.omitted]] = column.numbers[relation.omitted]
    return [(None, "their total", total)]


def _equal_sums(
    relation: Relation, relations: list[Relation]
) -> Callable[[ColumnFinding], Iterator[Total]]:
    """The sums of columns of the same name in tables that share no key."""

    def totals(column: ColumnFinding) -> Iterator[Total]:
        sums = _by_answer(column)
        is_steady = len(np.unique(sums[sums > 0])) < 2
        for other in relations:
            is_apart = other.steps and not {*other.key} & {*relation.key} and other is not relation
            nested = other.parent is not None and other.parent.steps
            if is_steady or not is_apart or nested or column.name not in other.names:
                continue
            beside = _by_answer(other[column.name]) if other[column.name].may_add else -sums
            if np.array_equal(beside > 0, sums > 0):
                yield None, f"those of {other.name}", beside

    return totals


def _by_answer(column: ColumnFinding) -> Numbers:
    keep = column.relation.kept & ~np.isnan(column.numbers)
    answer = column.relation.response[keep]
    return np.bincount(answer, column.numbers[keep], _ANSWERS).astype(np.float64)


def _joined(relation: Relation, other: Relation) -> tuple[str, Places] | None:
    """The part of a key that is the key of another table, and each row's row there."""
    if len(other.key) != 1 or len(relation.key) < 2:
        return None
    kept = other.kept
    rows = {
        (answer, value): at
        for at, (answer, value) in enumerate(
            zip(other.response.tolist(), other[other.key[0]].values, strict=True)
        )
        if isinstance(value, str) and kept[at]
    }
    for name in relation.key:
        pairs = list(zip(relation.response.tolist(), relation[name].values, strict=True))
        if pairs and all(isinstance(value, str) and (at, value) in rows for at, value in pairs):
            return name, np.array([rows[pair] for pair in pairs], np.intp)
    return None


def _sums(group: RowGroups) -> None:
    """Record the totals that the rows of each column sum to."""
    relation = group.relation
    for column in relation.columns:
        if not column.may_add:
            continue
        keep = relation.kept & ~np.isnan(column.numbers)
        for target, label, total in group.totals(column):
            met = _fits(column.numbers, keep, group.place, total, column.half)
            if met is None or not is_proof(*met, is_joined=group.is_joined):
                continue
            alike = target is None or target.meaning.kind == column.meaning.kind
            if not alike and group.where == "answers" and met[2] < 10 * _LARGE:
                continue
            column.seen.sums.append(f"its rows sum to {label} in {met[0]} {group.where}")
            column.seen.across |= group.over
            if target is not None:
                column.seen.equals.append(target)
                if not group.is_joined:
                    target.seen.sums.append(f"the rows of {relation.name} sum to it")


def _fits(
    numbers: Numbers, keep: Any, place: Places, total: Numbers, half: float
) -> tuple[int, int, float, int] | None:
    """How many groups and rows of several parts sum to their totals, and their sizes; or None."""
    if not keep.any() or not len(total):
        return None
    sums = np.bincount(place[keep], numbers[keep], minlength=len(total))[: len(total)]
    parts = np.bincount(place[keep], numbers[keep] != 0, minlength=len(total))[: len(total)]
    known = ~np.isnan(total) & (parts > 0)
    slack = half * np.maximum(parts, 1) + _SLACK
    if not known.any() or (np.abs(sums - total)[known] > slack[known]).any():
        return None
    # A single part equals its total whatever the rule is.
    usable = known & (parts >= 2)
    largest = float(np.nanmax(total))
    distinct = len(np.unique(total[~np.isnan(total)]))
    return int(usable.sum()), int(parts[usable].sum()), largest, distinct


def is_proof(groups: int, rows: int, largest: float, distinct: int, *, is_joined: bool) -> bool:
    """Whether sums that equal totals are too many, or too large, to be chance.

    Examples
    --------
    >>> is_proof(1, 4, 28, 1, is_joined=False), is_proof(1, 4, 280, 1, is_joined=False)
    (False, True)
    >>> is_proof(6, 20, 9, 4, is_joined=True)
    True
    """
    if groups >= FEWEST and distinct >= 3:
        return True
    return groups >= 1 and rows >= 3 and largest >= _LARGE and not is_joined


# --- ratios -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operand:
    """A column of counts as seen from the rows of a relation; its own, or one of another."""

    name: str
    numbers: Numbers
    own: bool


@dataclass(frozen=True)
class Ratio:
    """A ratio that holds on every row; without a numerator, its being whole is the evidence.

    Attributes
    ----------
    numerator, denominator : Operand
        What is divided, and by what.
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


def _ratios(relation: Relation) -> None:
    counts = list(_operands(relation))
    for column in relation.columns:
        reading, named = column.reading, column.meaning
        is_made = reading.dtype == "Float64" or reading.percent or named.kind == "share"
        numbers = np.where(relation.kept, column.numbers, np.nan) if reading.is_number else _NONE
        known = numbers[~np.isnan(numbers)]
        # A whole percentage is too coarse: it is left to experiments.
        if not is_made or not column.is_own or not len(known) or not reading.decimals:
            continue
        half, seen = column.half + _SLACK, column.seen
        is_share = named.kind not in ("position", "rank", "milliseconds", "seconds", "money")
        factors = [100.0] if reading.percent or known.max() > 1.5 else [1.0, 100.0]
        for factor in factors if is_share and known.min() >= 0 else ():
            made = [*ratios(numbers, half, factor, counts, column.name)]
            seen.ratios += made
            for ratio in made:
                count = ratio.numerator
                if count and count.own and ratio.denominator.name == f"sum of {count.name}":
                    relation[count.name].seen.sums.append(f"{column.name} is its share of its sum")
                    relation[count.name].seen.across |= {*relation.key}
            if not made and named.kind == "share" and not named.points:
                seen.unseen += shares_of_unseen(numbers, half, factor, counts, relation.response)
                seen.wholes += whole_numerators(numbers, half, factor, counts)
        if named.kind in ("position", "rank") or named.mean:
            seen.wholes += whole_numerators(numbers, half, 1.0, counts)


def _operands(relation: Relation) -> Iterator[Operand]:
    """Yield the counts that rows may be made of: their own, enclosing ones, and sums."""
    seen: list[Numbers] = []
    for other, places in relation.chain():
        for column in other.columns:
            if not column.may_be_counted:
                continue
            numbers, is_own = column.numbers[places], other is relation
            name = column.name if is_own else f"{other.name}.{column.name}"
            yield Operand(name, numbers, is_own)
            if is_own and relation.steps:
                sums = _by_answer(column)[relation.response]
                if not any(np.array_equal(sums, one, equal_nan=True) for one in seen):
                    seen.append(sums)
                    yield Operand(f"sum of {column.name}", sums, False)


def ratios(
    numbers: Numbers, half: float, factor: float, counts: list[Operand], name: str = ""
) -> Iterator[Ratio]:
    """Yield the ratios of two counts that equal numbers on all rows.

    Parameters
    ----------
    numbers : array of float
        The numbers, as printed; NaN where there is none.
    half : float
        Half a unit of their last decimal.
    factor : float
        100 for per cent, else 1.
    counts : list of Operand
        The counts to try as numerator and denominator.
    name : str
        The column's name: one that names its numerator is proof on a row less.
    """
    for below in counts:
        usable = ~np.isnan(numbers) & (below.numbers > 0)
        for above in counts if usable.any() else ():
            if above is below or above.name.startswith("sum of "):
                continue
            rows = usable & ~np.isnan(above.numbers)
            with np.errstate(divide="ignore", invalid="ignore"):
                error = np.abs(factor * above.numbers / below.numbers - numbers)
            if not rows.any() or (error[rows] > half).any():
                continue
            # What has a count and no rate, or a rate and no count, is no row to test on.
            rows &= (numbers != 0) & (above.numbers != below.numbers)
            count = _distinct(numbers, above.numbers, below.numbers, rows=rows)
            is_small = not rows.any() or above.numbers[rows].max() <= 3
            stem = singular(above.name.removesuffix("_count").rpartition(".")[2])
            is_named = stem in name and half < 0.001
            if count >= (_SMALL if is_small else FEWEST - is_named):
                yield Ratio(above, below, factor, count)


def shares_of_unseen(
    numbers: Numbers, half: float, factor: float, counts: list[Operand], answer: Places
) -> Iterator[Ratio]:
    """Yield counts of which the numbers are shares of a total that no answer shows.

    The numbers fix the total within their rounding, and every row must fix the same one.
    """
    for above in counts:
        rows = ~np.isnan(numbers) & ~np.isnan(above.numbers) & above.own
        if not rows.any():
            continue
        r, k, at = numbers[rows], above.numbers[rows], answer[rows]
        with np.errstate(divide="ignore"):
            low = factor * k / (r + half)
            high = np.where(r > half, factor * k / np.maximum(r - half, _SLACK), np.inf)
        least, most, largest = (
            np.zeros(at.max() + 1),
            np.full(at.max() + 1, np.inf),
            np.zeros(at.max() + 1),
        )
        np.maximum.at(least, at, low)
        np.minimum.at(most, at, high)
        np.maximum.at(largest, at, k)
        there = np.unique(at)
        least, most, largest = least[there], most[there], largest[there]
        pairs = np.unique(np.stack([at, r, k])[:, r > 0], axis=1)
        free = pairs.shape[1] - len(np.unique(pairs[0]))
        spread = float(np.ptp(r))
        is_one = (np.floor(most) >= np.maximum(np.ceil(least), largest)).all()
        is_known = bool((most - least <= _NARROW * most).any())
        is_wide = free >= FEWEST and len(np.unique(pairs[2])) >= FEWEST and spread > 0
        if is_one and is_known and is_wide and min(1.0, 2 * half / spread) ** free <= _CHANCE**2:
            total = Operand("a total that the rows do not show", most, False)
            yield Ratio(above, total, factor, int(pairs.shape[1]))


def whole_numerators(
    numbers: Numbers, half: float, factor: float, counts: list[Operand]
) -> Iterator[Ratio]:
    """Yield denominators by which the numbers become whole on every row.

    It proves rates whose numerator is not shown, and the weights of means of whole numbers.
    """
    for below in counts:
        rows = ~np.isnan(numbers) & (below.numbers > 0) & (numbers != 0)
        if rows.sum() < FEWEST:
            continue
        pairs = np.unique(np.stack([numbers[rows], below.numbers[rows]]), axis=1)
        low, high = (pairs[0] - half) * pairs[1] / factor, (pairs[0] + half) * pairs[1] / factor
        chance = float(np.prod(np.clip(high - low, 0.0, 1.0)))
        is_whole = (np.floor(high) >= np.ceil(low)).all()
        if is_whole and pairs.shape[1] >= FEWEST and chance <= _CHANCE:
            yield Ratio(None, below, factor, int(pairs.shape[1]))


def _distinct(*columns: Numbers, rows: Any) -> int:
    return int(np.unique(np.stack(columns)[:, rows], axis=1).shape[1]) if rows.any() else 0


def _siblings(relation: Relation) -> None:
    """Record columns of one object that sum to one whole, 1 or 100, on every row."""
    objects: dict[str, list[ColumnFinding]] = {}
    for column in relation.columns:
        fits = column.reading.is_number and column.is_own and column.source[0] not in ".$"
        fits = fits and column.meaning.kind in ("share", "score", "count", "")
        if fits and not np.isnan(column.numbers).all():
            objects.setdefault(column.source.rpartition(".")[0], []).append(column)
    for columns in objects.values():
        columns = columns[:_MOST_SIBLINGS]
        groups = (group for n in range(len(columns), 1, -1) for group in combinations(columns, n))
        chosen, whole = next(
            filter(lambda one: one[1], ((g, _whole(g)) for g in groups)), ((), 0.0)
        )
        for column in chosen:
            column.seen.siblings, column.seen.whole = tuple(c.name for c in chosen), whole


def _whole(columns: tuple[ColumnFinding, ...]) -> float:
    """What columns sum to on every row, 1 or 100; 0 if neither."""
    held = np.stack([column.numbers for column in columns])
    known = held[:, ~np.isnan(held).any(axis=0)]
    if np.unique(known, axis=1).shape[1] < FEWEST:
        return 0.0
    slack = sum(0.5 * 10.0**-column.reading.decimals for column in columns) + _SLACK
    sums = known.sum(axis=0)
    fits = (w for w in (1.0, 100.0) if slack < w / 20 and (np.abs(sums - w) <= slack).all())
    return next(fits, 0.0)


# --- experiments --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """The outcome of narrowing an answer to single engines, for one column.

    Attributes
    ----------
    outcome : str
        ``adds``, ``distinct`` (more than the largest part and less than the sum), ``between``,
        ``least``, ``most``, ``differs`` or ``untested``.
    rows : int
        The rows with two or more parts that were not zero.
    """

    outcome: str
    rows: int = 0


@dataclass(eq=False)
class Parts:
    """The rows of the parts of an answer, each with the row of the whole that it is a part of.

    Attributes
    ----------
    rows, place : array of int
        Rows of the parts, and the row of the whole of each.
    held : array of bool
        For each part and row, whether the part has that row of the whole.
    known : list of array of bool
        Rows of the whole of which all parts are known: first as far as lists that were cut tell,
        then only those that all parts have, for parts may leave out rows below some threshold.
    """

    rows: Places
    place: Places
    held: Any
    known: list[Any]

    def is_ignored(self, columns: Iterable[ColumnFinding]) -> bool:
        """Whether no part differs from the whole in any column: the filter had no effect."""
        return all(
            np.array_equal(column.numbers[self.rows], column.numbers[self.place], equal_nan=True)
            for column in columns
        ) and bool(self.held.all(axis=0)[self.held.any(axis=0)].all())


def find_parts(relation: Relation, count: int) -> Parts | None:
    """Match the rows of an answer with those of its parts by key; None where they cannot match."""
    # Another answer may have another row in the same place.
    is_placed = any("#" in relation[name].source for name in relation.key)
    if is_placed or (relation.steps and not relation.key):
        return None
    columns = [relation[name].values for name in relation.key]
    keys = [repr(key) for key in zip(*columns, strict=True)] if columns else [""] * len(relation)
    whole = {keys[row]: row for row in relation.rows_of(0).tolist()}
    if not whole:
        return None
    held, lengths, pairs, foreign = np.zeros((count, len(relation)), bool), [], [], False
    for part in range(count):
        rows = {keys[row]: row for row in relation.rows_of(part + 1).tolist()}
        lengths.append(len(rows))
        foreign |= not rows.keys() <= whole.keys()
        pairs += [(row, whole[key]) for key, row in rows.items() if key in whole]
        held[part, [whole[key] for key in rows if key in whole]] = True
    most = max(lengths)
    if relation.steps and most > 3 and held.sum() < 0.3 * most * count:
        return None
    # A list as long in the parts as in the whole, or with rows the whole lacks, was cut short;
    # one that is shorter than others was not: what it lacks is not there.
    is_cut = foreign or most >= len(whole) > 2
    full = np.array(lengths) >= max(len(whole), most)
    known = [held.any(axis=0) & ~(is_cut & ~held & full[:, None]).any(axis=0)]
    known += [] if is_cut else [held.all(axis=0)]
    matched = np.array(pairs, np.intp).reshape(-1, 2)
    return Parts(matched[:, 0], matched[:, 1], held, known)


def _experiment(relation: Relation, count: int) -> None:
    measures = [c for c in relation.columns if c.reading.is_number and c.is_own]
    parts = find_parts(relation, count) if measures else None
    if parts is None or parts.is_ignored(measures):
        return
    weights = []
    for column in measures:
        verdict = additivity(column.numbers, parts, column.half)
        if verdict.outcome == "adds" and column.meaning.kind in _NEVER_PARTS:
            verdict = Verdict("untested")
        column.seen.verdict = verdict
        if verdict.outcome == "adds" and column.may_be_counted:
            weights.append(column)
    for column in (column for column in measures if column not in weights):
        named = column.meaning
        is_count = named.kind == "count" and not named.mean and not column.seen.siblings
        is_picked = bool({*tokens(column.name)[:1]} & {"best", "lowest", "median"})
        if is_picked or is_count or named.kind in ("rank", "change", "probability", "money"):
            continue
        half = 0.5 * 10.0**-column.reading.decimals
        for weight in weights:
            rows = pooled(column.numbers, weight.numbers, parts, half + _SLACK)
            if rows:
                column.seen.weights[weight.name] = rows


def additivity(numbers: Numbers, parts: Parts, half: float = 0.0) -> Verdict:
    """Test whether a column adds up over the parts.

    Additive counts add up exactly, distinct counts lie between the largest part and the sum, and
    rates lie between the rates of the parts. A part that equals the whole was not filtered, and
    tests nothing.
    """
    verdict = _outcome(numbers, parts, parts.known[0], half)
    if verdict.outcome in ("differs", "between") and len(parts.known) > 1:
        strict = _outcome(numbers, parts, parts.known[1], half)
        return strict if strict.outcome in ("adds", "distinct") else verdict
    return verdict


def _outcome(numbers: Numbers, parts: Parts, mask: Any, half: float) -> Verdict:
    held, place, size = numbers[parts.rows], parts.place, len(numbers)
    used = np.bincount(place, minlength=size)
    sums = np.bincount(place, np.nan_to_num(held), size)
    several = np.bincount(place, held > 0, size) >= 2
    low, high = _range(held, place, size)
    known = mask & ~np.isnan(numbers) & (np.bincount(place, np.isnan(held), size) == 0)
    if not known.any():
        return Verdict("untested")
    count, slack = int((several & known).sum()), half * (used + 1) + _SLACK
    if (np.abs(sums - numbers) <= slack)[known].all():
        different = len(np.unique(numbers[several & known]))
        return Verdict("adds" if count >= _PARTS and different >= 2 else "untested", count)
    if ((held == numbers[place]) | (held == 0))[known[place]].all():
        return Verdict("untested", count)  # the filter changed no number that is there
    extreme = _extreme(numbers, held, place, low, high)
    if extreme:
        return Verdict(extreme, count)
    # A part without the row has none of it.
    low = np.where(used < len(parts.held), np.minimum(low, 0), low)
    if ((numbers <= sums + slack) & (numbers >= high - slack))[known].all():
        return Verdict("distinct" if count else "untested", count)
    is_between = ((numbers >= low - slack) & (numbers <= high + slack))[known].all()
    return Verdict("between" if is_between else "differs", count)


def _range(held: Numbers, place: Places, size: int) -> tuple[Numbers, Numbers]:
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.fmin.at(low, place, held)
    np.fmax.at(high, place, held)
    return low, high


def _extreme(numbers: Numbers, held: Numbers, place: Places, low: Numbers, high: Numbers) -> str:
    """Name the extreme of the parts that the whole equals: least or most; empty if neither."""
    known = (np.bincount(place, ~np.isnan(held), len(numbers)) >= 2) & ~np.isnan(numbers)
    if (high[known] - low[known] > _SLACK).sum() < _PARTS:
        return ""
    if (np.abs(numbers - low)[known] <= _SLACK).all():
        return "least"
    return "most" if (np.abs(numbers - high)[known] <= _SLACK).all() else ""


def pooled(numbers: Numbers, weight: Numbers, parts: Parts, half: float) -> int:
    """Count the rows on which a count weights the parts' rates to the whole's; 0 if it does not."""
    rates, by, place, size = numbers[parts.rows], weight[parts.rows], parts.place, len(numbers)
    by = np.nan_to_num(by)
    total = np.bincount(place, by, size)
    known = np.bincount(place, (by > 0) & np.isnan(rates), size) == 0
    # The weight itself adds up, so that no part is lacking.
    known &= (np.abs(total - weight) <= _SLACK) & ~np.isnan(numbers)
    known &= np.bincount(place, by > 0, size) >= 2
    if known.sum() < _PARTS:
        return 0
    sums = np.bincount(place, np.nan_to_num(rates) * by, size)[known]
    is_met = (np.abs(sums / total[known] - numbers[known]) <= 2 * half).all()
    low, high = _range(rates[by > 0], place[by > 0], size)
    is_spread = ((high - low)[known] > 4 * half).sum() >= _PARTS
    return int(known.sum()) if is_met and is_spread else 0
