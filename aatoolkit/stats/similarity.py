"""Similarity of lists: the Jaccard index and rank-biased overlap of all pairs of answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from aatoolkit.errors import AvailabilityError
from aatoolkit.stats.cluster_sums import Integers, Numbers

MOST_REPEATS = 20
"""How many answers of one engine to one prompt are compared at most."""


@dataclass(frozen=True)
class AnswerLists:
    """The lists of answers as codes: one row per answer and value, each value once."""

    prompt: Integers
    member: Integers
    answer: Integers
    value: Integers
    members: list[str]


def answer_lists(
    flat: pd.DataFrame, column: str, between: str, by: str, repeat: str, order: str | None
) -> AnswerLists:
    """Collect the lists of all answers."""
    value = pd.factorize(flat[column])[0]
    there = value >= 0
    value = value[there]
    place = (
        flat[order].to_numpy(np.float64, na_value=np.nan)[there] if order else np.zeros(len(value))
    )
    codes = {}
    for name in (between, by, repeat):
        codes[name], levels = pd.factorize(flat[name][there])
        _check(name, int((codes[name] < 0).sum()), "names no list", "drop them first")
        if name == between:
            names = [str(level) for level in levels]
    if order:
        _check(order, int(np.isnan(place).sum()), "orders no list", "or leave order out")
    answer = codes[repeat]
    for name in (between, by):
        first = np.zeros(int(answer.max(initial=-1)) + 1, np.int64)
        first[answer[::-1]] = codes[name][::-1]
        if (first[answer] != codes[name]).any():
            why = f"one value of {repeat} has several of {name}: it names no single answer"
            raise AvailabilityError(f"{repeat} names no answer: {why}", columns={repeat: why})
    rank = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    member = rank[codes[between]] if len(names) else codes[between]
    rows = np.lexsort((place, answer, codes[by]))
    pair = answer[rows] * (int(value.max(initial=-1)) + 1) + value[rows]
    rows = rows[np.sort(np.unique(pair, return_index=True)[1])]
    prompts, own, answers, values = (
        each[rows].astype(np.int64) for each in (codes[by], member, answer, value)
    )
    return AnswerLists(prompts, own, answers, values, sorted(names))


def _check(name: str, lacking: int, what: str, remedy: str) -> None:
    if lacking:
        why = f"{lacking} rows have none; {remedy}"
        raise AvailabilityError(f"{name} {what}: {why}", columns={name: why})


def mean_overlaps(
    lists: AnswerLists, members: int, p: float, depth: int, is_ordered: bool
) -> tuple[Numbers, Numbers, Integers]:
    """Compute mean Jaccard and rank-biased overlap of answers, by prompt and pair of members.

    On the diagonal are the pairs of different answers of one member.
    """
    prompts = int(lists.prompt.max(initial=-1)) + 1
    jaccard, biased = np.full((2, prompts, members, members), np.nan)
    answers = np.zeros((prompts, members), np.int64)
    bounds = np.searchsorted(lists.prompt, np.arange(prompts + 1))
    for at in range(prompts):
        part = slice(int(bounds[at]), int(bounds[at + 1]))
        jaccard[at], biased[at], answers[at] = _of_prompt(
            lists.answer[part],
            lists.member[part],
            lists.value[part],
            p,
            depth,
            members,
            is_ordered,
        )
    return jaccard, biased, answers


def _of_prompt(
    answer: Integers,
    member: Integers,
    value: Integers,
    p: float,
    depth: int,
    members: int,
    is_ordered: bool,
) -> tuple[Numbers, Numbers, Integers]:
    """The means over pairs of answers to one prompt."""
    _, first, rows, length = np.unique(
        answer, return_index=True, return_inverse=True, return_counts=True
    )
    whose = member[first]
    kept = _evenly(whose, members)
    rows_kept = np.full(len(first), -1)
    rows_kept[kept] = np.arange(len(kept))
    use = rows_kept[rows] >= 0
    # The rows of an answer stand together, in their order.
    starts = np.concatenate([[0], np.cumsum(length)[:-1]])
    place = np.arange(len(answer)) - starts[rows] + 1
    rows, value, place = (
        rows_kept[rows][use],
        np.unique(value[use], return_inverse=True)[1],
        place[use],
    )
    whose, length = whose[kept], length[kept].astype(np.float64)
    width = int(value.max()) + 1
    there = np.zeros((len(kept), width), np.float32)  # holds whole numbers exactly
    there[rows, value] = 1.0
    both = (there @ there.T).astype(np.float64)
    jaccard = both / (length[:, None] + length[None, :] - both)
    counts = np.bincount(whose, minlength=members)
    groups = np.zeros((len(kept), members))
    groups[np.arange(len(kept)), whose] = 1.0
    pairs = np.outer(counts, counts) - np.diag(counts)

    def mean(of_pairs: Numbers) -> Numbers:
        np.fill_diagonal(of_pairs, 0.0)  # an answer is no repeat of itself
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Numbers = np.where(pairs > 0, groups.T @ of_pairs @ groups / pairs, np.nan)
        return found

    biased = np.full((members, members), np.nan)
    if is_ordered:
        biased = mean(rank_biased(rows, value, place, np.minimum(length, depth), width, p))
    return mean(jaccard), biased, counts


def _evenly(whose: Integers, members: int) -> Integers:
    """Select the answers to compare: all, or so many per member, evenly spaced."""
    kept = []
    for member in range(members):
        its = np.flatnonzero(whose == member)
        if len(its) > MOST_REPEATS:
            its = its[np.linspace(0, len(its) - 1, MOST_REPEATS).round().astype(np.int64)]
        kept.append(its)
    return np.sort(np.concatenate(kept))


def rank_biased(
    rows: Integers, value: Integers, place: Integers, length: Numbers, width: int, p: float
) -> Numbers:
    """Compute the extrapolated rank-biased overlap of all pairs of lists.

    Equation 32 of Webber, Moffat & Zobel, "A similarity measure for indefinite rankings", *ACM
    Transactions on Information Systems* 28, 2010: for lists of lengths s ≤ l with X_d common
    members among the first d,

        (1-p)/p · (Σ_{d≤l} X_d/d·pᵈ + Σ_{s<d≤l} X_s(d-s)/(sd)·pᵈ) + ((X_l-X_s)/l + X_s/s)·pˡ

    Parameters
    ----------
    rows, value, place : array of int
        The list of each entry, what it is, and its place from 1.
    length : array of float
        The length of each list, after it was cut.
    width : int
        How many different values there are.
    p : float
        The persistence.

    Examples
    --------
    >>> rows, value, place = (np.array(each) for each in ([0, 0, 1, 1], [0, 1, 1, 0], [1, 2, 1, 2]))
    >>> found = rank_biased(rows, value, place, np.array([2.0, 2.0]), 2, 0.9)
    >>> found.round(3).tolist()
    [[1.0, 0.9], [0.9, 1.0]]
    """
    s, at_most = np.minimum.outer(length, length), np.maximum.outer(length, length)
    there, shortest = np.zeros((width, len(length))), int(length.min())
    common, total, at_short = np.zeros((3, len(length), len(length)))
    for d in range(1, int(length.max()) + 1):
        here = place == d
        new, which = rows[here], value[here]
        there[which, new] = 1.0
        # What comes in at this depth is common where the other list has it by now.
        common[new] += there[which]
        common[:, new] += there[which].T
        common[np.ix_(new, new)] -= which[:, None] == which[None, :]
        weight = p**d / d
        if d <= shortest:
            total += common * weight
            if d == shortest:
                at_short = common.copy()
            continue
        longer = s < d
        late = longer & (d <= at_most)
        total += np.where(late, at_short * (d - s) / s * weight, 0.0)
        at_short = np.where(longer, at_short, common)
        total += common * np.where(d <= at_most, weight, 0.0)
    at_long = common
    rest = ((at_long - at_short) / at_most + at_short / s) * p**at_most
    whole: Numbers = (1 - p) / p * total + rest
    return whole
