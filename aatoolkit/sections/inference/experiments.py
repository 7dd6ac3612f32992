"""Experiments: compare filtered answers with the whole, by engine and by day.

Additive counts add up exactly over the parts, distinct counts lie between the largest part and
the sum, and rates lie between the rates of the parts. A part that equals the whole was not
filtered, and tests nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aatoolkit.sections.inference.identities import Numbers
from aatoolkit.sections.inference.relations import Relation

_FEWEST = 3
_SLACK = 1e-9


@dataclass(frozen=True)
class Split:
    """Answers that divide another one among them.

    Attributes
    ----------
    dimension : str
        The filter they differ in, such as ``engine``.
    whole : int
        The number of the whole answer.
    parts : tuple of int
        The numbers of the answers of the parts.
    """

    dimension: str
    whole: int
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Aligned:
    """The rows of a whole and of its parts, matched by their keys.

    Attributes
    ----------
    whole : array of int
        Rows of the whole.
    parts : array of int
        For each part and each of those rows, its row in the part; -1 where it has none.
    cut : bool
        Whether rows may be missing from a part because its list was cut.
    full : array of bool
        For each part, whether its list is as long as they get, and so may have been cut.
    """

    whole: Any
    parts: Any
    cut: bool
    full: Any = None


@dataclass(frozen=True)
class Verdict:
    """The outcome of an experiment for one column.

    Attributes
    ----------
    outcome : str
        ``adds``, ``distinct`` (more than the largest part and less than the sum), ``between``,
        ``least``, ``most``, ``differs`` or ``untested``.
    dimension : str
        The dimension it was tested over.
    rows : int
        The rows with two or more parts that were not zero.
    """

    outcome: str
    dimension: str
    rows: int = 0


def align(relation: Relation, split: Split) -> Aligned | None:
    """Align the rows of a whole with those of its parts by key; None where they cannot match."""
    if len(relation.steps) and not relation.key:
        return None
    if any("#" in relation[name].source for name in relation.key):
        # Another answer may have another row in the same place.
        return None
    columns = [relation[name].values for name in relation.key]
    keys = list(zip(*columns, strict=True)) if columns else [()] * len(relation)
    whole = relation.rows_of(split.whole)
    if not len(whole):
        return None
    maps = []
    for part in split.parts:
        rows = relation.rows_of(part)
        maps.append({repr(keys[at]): int(at) for at in rows.tolist()})
    found = np.array(
        [[held.get(repr(keys[at]), -1) for at in whole.tolist()] for held in maps], np.intp
    ).reshape(len(maps), len(whole))
    lengths = [len(held) for held in maps]
    known = {repr(keys[at]) for at in whole.tolist()}
    # A list as long in the parts as in the whole, or with rows the whole lacks, was cut short.
    cut = any(set(held) - known for held in maps) or max(lengths) >= len(whole) > 2
    longest = max(len(whole), *lengths)
    return Aligned(whole, found, cut, np.array([len(held) >= longest for held in maps]))


def is_ignored(numbers: Sequence[Numbers], aligned: Aligned) -> bool:
    """Whether no part differs from the whole in any column: the filter had no effect."""
    for column in numbers:
        whole = column[aligned.whole]
        for rows in aligned.parts:
            there = rows >= 0
            if not there.all() or not np.array_equal(
                column[rows[there]], whole[there], equal_nan=True
            ):
                return False
    return True


def additivity(numbers: Numbers, aligned: Aligned, dimension: str, half: float = 0.0) -> Verdict:
    """Test whether a column adds up over the parts."""
    verdict = _additivity(numbers, aligned, dimension, half)
    if verdict.outcome in ("differs", "between") and not aligned.cut:
        # Parts may leave out rows below some threshold: try those that all of them have.
        strict = _additivity(numbers, replace(aligned, cut=True, full=None), dimension, half)
        return strict if strict.outcome in ("adds", "distinct") else verdict
    return verdict


def _additivity(numbers: Numbers, aligned: Aligned, dimension: str, half: float) -> Verdict:
    whole, parts, used = _matched(numbers, aligned)
    if not len(whole):
        return Verdict("untested", dimension)
    usable = (parts > 0).sum(axis=0) >= 2
    count = int(usable.sum())
    sums = parts.sum(axis=0)
    slack = half * (used + 1) + _SLACK
    exact = np.abs(sums - whole) <= slack
    if exact.all():
        different = len(np.unique(whole[usable]))
        return Verdict(
            "adds" if count >= _FEWEST and different >= 2 else "untested", dimension, count
        )
    if ((parts == whole) | (parts == 0)).all():  # the filter changed no number that is there
        return Verdict("untested", dimension, count)
    extreme = _extreme(whole, parts, aligned, numbers)
    if extreme:
        return Verdict(extreme, dimension, count)
    largest = parts.max(axis=0)
    if (whole <= sums + slack).all() and (whole >= largest - slack).all():
        return Verdict("distinct" if count else "untested", dimension, count)
    low = parts.min(axis=0)
    if (whole >= low - slack).all() and (whole <= largest + slack).all():
        return Verdict("between", dimension, count)
    return Verdict("differs", dimension, count)


def _extreme(whole: Numbers, parts: Numbers, aligned: Aligned, numbers: Numbers) -> str:
    """Name the extreme of the parts that the whole equals: least or most; empty if neither."""
    held = _taken(numbers, aligned.parts)
    known = (~np.isnan(held)).sum(axis=0) >= 2
    known &= ~np.isnan(numbers[aligned.whole])
    if known.sum() < _FEWEST:
        return ""
    held, all_of = held[:, known], numbers[aligned.whole][known]
    low, high = np.nanmin(held, axis=0), np.nanmax(held, axis=0)
    if ((high - low) > _SLACK).sum() < _FEWEST:
        return ""
    if (np.abs(all_of - low) <= _SLACK).all():
        return "least"
    return "most" if (np.abs(all_of - high) <= _SLACK).all() else ""


def pooling_weights(
    numbers: Numbers, decimals: int, weights: Mapping[str, Numbers], aligned: Aligned
) -> dict[str, int]:
    """Find the counts that weight the parts' rates to the whole's, and the number of rows.

    Parameters
    ----------
    numbers : array of float
        The rates, as printed.
    decimals : int
        The decimals they are printed with.
    weights : mapping of str to array of float
        Counts that may weight them.
    aligned : Aligned
        The rows of the whole and the parts.
    """
    half = 0.5 * 10.0**-decimals + _SLACK
    found: dict[str, int] = {}
    rates = _taken(numbers, aligned.parts)
    whole = numbers[aligned.whole]
    for name, count in weights.items():
        held = _taken(count, aligned.parts)
        total = count[aligned.whole]
        missing = np.isnan(held)
        there = np.where(missing, 0.0, held)
        known = ((there == 0) | ~np.isnan(rates)).all(axis=0)
        # The weight itself adds up, so that no part is lacking.
        known &= np.abs(there.sum(axis=0) - total) <= _SLACK
        known &= ~np.isnan(whole) & ((there > 0).sum(axis=0) >= 2)
        if known.sum() < _FEWEST:
            continue
        used = np.where(there > 0, rates, 0.0)[:, known]
        by = there[:, known]
        pooled = (used * by).sum(axis=0) / by.sum(axis=0)
        spread = _spread(rates[:, known], by)
        if (np.abs(pooled - whole[known]) <= 2 * half).all() and (
            spread > 4 * half
        ).sum() >= _FEWEST:
            found[name] = int(known.sum())
    return found


def _spread(rates: Any, by: Any) -> Numbers:
    """The range of the parts' rates that have weight, per row."""
    high = np.where(by > 0, rates, -np.inf).max(axis=0)
    low = np.where(by > 0, rates, np.inf).min(axis=0)
    found: Numbers = high - low
    return found


def _matched(numbers: Numbers, aligned: Aligned) -> tuple[Numbers, Numbers, Any]:
    """The values of the whole and of the parts on rows where all of them are known."""
    whole = numbers[aligned.whole]
    parts = _taken(numbers, aligned.parts)
    absent = aligned.parts < 0
    if aligned.cut:
        # A list that is shorter than others was not cut: what it lacks is not there.
        lacking = absent if aligned.full is None else absent & aligned.full[:, None]
        known = ~lacking.any(axis=0) & (absent | ~np.isnan(parts)).all(axis=0)
        known &= ~absent.all(axis=0)
    else:
        # A part without the row has none of it; one with the row and no value is not known.
        known = (absent | ~np.isnan(parts)).all(axis=0) & ~absent.all(axis=0)
    known &= ~np.isnan(whole)
    values = np.where(absent, 0.0, parts)[:, known]
    return whole[known], values, (~absent[:, known]).sum(axis=0)


def _taken(numbers: Numbers, rows: Any) -> Numbers:
    found: Numbers = np.where(rows >= 0, numbers[np.maximum(rows, 0)], np.nan)
    return found
