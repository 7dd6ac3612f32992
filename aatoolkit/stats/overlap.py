"""Overlap of the lists of two engines, beside that of repeats: ``df.aa.overlap``.

The Jaccard index and rank-biased overlap of all pairs of answers, in means over prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.estimate import LEAST_CLUSTERS, adjusted, detectable, varies
from aatoolkit.stats.results import check_level, percent, points, refusal, result, verdict_of
from aatoolkit.stats.trace import (
    One,
    derived,
    leaf,
    name_all,
    number,
    plain_value,
    setting,
    t_quantile,
    two_sided,
    under,
)

MOST_REPEATS = 20
"""How many answers of one engine to one prompt are compared at most."""

MOST_MEMBERS = 40
_NAN = float("nan")


@dataclass(frozen=True)
class PromptMean:
    """The mean over prompts, with Student's t; NaN where there is no interval."""

    value: Any
    k: Any
    error: Any = _NAN
    low: Any = _NAN
    high: Any = _NAN
    p: Any = _NAN


@recorded("overlap", "frame")
def overlap(
    frame: pd.DataFrame,
    column: str,
    between: str,
    by: str,
    *,
    repeat: str,
    order: str | None,
    p: float,
    depth: int,
    level: float,
) -> pd.DataFrame:
    """Overlap of the lists of two engines; see ``df.aa.overlap``."""
    check_level(level)
    if not 0 < p < 1:
        raise ArgumentError(f"p={p!r} is not between 0 and 1")
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ArgumentError(f"depth={depth!r} is no whole number from 1")
    flat = derived(flattened(frame), frame)
    find(flat, [column, *([order] if order else [])])
    if repeat not in flat.columns and between in flat.columns and order is None:
        return _of_sets(flat, column, between)
    lacking = [name for name in (between, by, repeat) if name not in flat.columns]
    if lacking:
        why = (
            f"there is no {' and no '.join(lacking)} in this frame: {between} names what is "
            f"compared (between=); with {repeat} for the answer (repeat=) and {by} for what was "
            "asked (by=) lists of single answers are compared, else one list of each, such as "
            "project.read('urls', split='engine').main.aa.overlap('url')"
        )
        raise ItemNotFound(f"{column} has no overlap: {why}", columns=dict.fromkeys(lacking, why))
    metadata = metadata_of(flat)
    lists = answer_lists(flat, column, between, by, repeat, order)
    members = lists.members
    if len(members) > MOST_MEMBERS:
        why = f"{len(members)} different ones; {MOST_MEMBERS} are the most: choose some first"
        raise refusal(between, "overlap", why)
    means = mean_overlaps(lists, len(members), p, depth, order is not None)
    pairs = [*combinations(range(len(members)), 2)]
    rows, sure = [], setting("level", level)
    for a, b in pairs:

        def of_prompts(name: str, values: Any, mask: Any, what: str, a: int = a, b: int = b) -> Any:
            """The values of the prompts that have one; each is of the rows about it."""
            chosen = np.flatnonzero(mask)

            def part(tracer: Any, place: int) -> Any:
                prompt = lists.prompts[chosen[place]]
                about = flat[between].astype(str).isin([members[a], members[b]])
                about &= flat[by].eq(prompt).fillna(False) & flat[column].notna()
                its = np.flatnonzero(about.to_numpy(bool))
                words = f"{what}, of {len(its)} rows of {column}"
                value = values[chosen[place]]
                return tracer.rows(name, value, flat, its, (column,), words, {by: prompt})

            return leaf(name, values[chosen], part)

        rows.append(_pair(*means, (a, b), sure, of_prompts))
    tests = [row["p"] for row in rows]
    family = setting("tests", max(sum(np.isfinite(number(test)) for test in tests), 1))
    for row, value in zip(rows, adjusted(tests, "holm"), strict=True):
        gap = row.pop("of_gap")
        least = _NAN
        if number(gap.error) > 0:
            least = detectable(gap.error, gap.k - 1, sure, family)
        words = ("more alike", "less alike")
        verdict = verdict_of(number(value), number(gap.value), level, words)
        row |= {"p_adjusted": under("p_adjusted", value), "detectable": least, "verdict": verdict}
        row["why"] = _why(row, number(gap.k), between, by, level)
    state = metadata.columns[column].availability
    limits = f"; {state}" if state.status not in (Status.AVAILABLE, Status.UNKNOWN) else ""
    ordered = f"; rank-biased overlap extrapolated, p = {p:g}, depth {depth}" if order else ""
    other = f"other_{between}"
    names = [*rows[0]] if rows else []
    return result(
        "overlap",
        {
            between: [members[a] for a, _ in pairs],
            other: [members[b] for _, b in pairs],
            **{name: [row[name] for row in rows] for name in names},
            "why": [row["why"] + limits for row in rows],
            "method": [f"mean over {by} of pairs of answers, Student's t, Holm's method{ordered}"]
            * len(rows),
        },
        None,
        metadata.sources,
        state,
        key=(between, other),
        level=level,
        between=between,
        by=by,
        p=p,
        depth=depth,
    )


def _of_sets(flat: pd.DataFrame, column: str, between: str) -> pd.DataFrame:
    """What two members have in common, where each has one list: no repeat, and so no interval."""
    there = flat[[column, between]].notna().all(axis=1)
    rows = flat[there].groupby(between, observed=True)[column].unique()
    sets = {str(name): {*values} for name, values in rows.items()}
    pairs = [*combinations(sorted(sets), 2)]
    both, either = (
        [kind(sets[a], sets[b]) for a, b in pairs] for kind in (set.__and__, set.__or__)
    )

    def counted(name: str, members: list[set[Any]]) -> Any:
        def part(tracer: Any, at: int) -> Any:
            about = flat[between].astype(str).isin(pairs[at]) & flat[column].isin(members[at])
            its = np.flatnonzero(about.to_numpy(bool))
            words = f"different values of {column} in {len(its)} rows"
            return tracer.rows(name, len(members[at]), flat, its, (column,), words)

        return leaf(name, np.array([len(part) for part in members], np.float64), part)

    shared, different = counted("shared", both), counted("different", either)
    metadata = metadata_of(flat)
    other = f"other_{between}"
    return result(
        "overlap",
        {
            between: [a for a, _ in pairs],
            other: [b for _, b in pairs],
            "jaccard": shared / different,
            **dict.fromkeys(("jaccard_low", "jaccard_high", "ceiling"), [_NAN] * len(pairs)),
            "shared": shared,
            "different": different,
            "verdict": [
                f"{len(one):,} of {len(two):,} in common"
                for one, two in zip(both, either, strict=True)
            ],
            "method": [f"sets of {column}, one list of each {between}: no interval"] * len(pairs),
        },
        None,
        metadata.sources,
        metadata.columns[column].availability,
        key=(between, other),
        between=between,
        by=column,
        p=0.9,
        depth=10,
    )


def _pair(
    jaccard: Numbers,
    biased: Numbers,
    answers: Integers,
    pair: tuple[int, int],
    level: Any,
    of_prompts: Any,
) -> dict[str, Any]:
    """Two members: their overlap, that of repeats, and the difference."""
    a, b = pair
    columns: dict[str, Any] = {}
    is_there = np.isfinite(jaccard[:, a, b])
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, index, means in (
            ("jaccard", "Jaccard index", jaccard),
            ("rbo", "rank-biased overlap", biased),
        ):
            values, word = means[:, a, b], f"mean {index} of pairs of answers"
            own = (means[:, a, a] + means[:, b, b]) / 2
            both = is_there & np.isfinite(own)
            mean = mean_of(of_prompts(name[0], values, np.isfinite(values), word), level, name)
            repeats = of_prompts("own", own, both, f"mean {index} of repeats")
            ceiling = mean_of(repeats, level, "ceiling")
            ends = np.maximum(mean.low, 0.0), np.minimum(mean.high, 1.0)
            columns |= {name: mean.value, f"{name}_low": ends[0], f"{name}_high": ends[1]}
            if name == "rbo":
                columns["rbo_ceiling"] = ceiling.value
                continue
            columns |= {"ceiling": ceiling.value, "clusters": mean.k}
            differences = of_prompts("between", values, both, word) - repeats
            name_all(g=differences)
            gap = mean_of(differences, level, "gap")
    many = answers[:, list(pair)].sum(axis=1).astype(float)
    size = One.total(of_prompts("answers", many, is_there, "answers of both"))
    columns |= {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high, "p": gap.p}
    return columns | {"n": size, "of_gap": gap}


def mean_of(values: Any, level: Any, name: str = "mean") -> PromptMean:
    """The mean over prompts with Student's t of k-1 degrees of freedom."""
    k = One.count(values)
    many = int(plain_value(k))
    if not many:
        return PromptMean(_NAN, k)
    mean = One.total(values) / k
    name_all(**{name: mean})
    if many < LEAST_CLUSTERS:
        return PromptMean(mean, k)
    error = np.sqrt(One.total((values - mean) ** 2) / (k - 1) / k)
    largest = float(np.abs(plain_value(values)).max())
    if not varies(float(plain_value(error)) ** 2, largest):
        return PromptMean(mean, k)
    df = k - 1
    name_all(error=error, df=df)
    half = t_quantile((1 + level) / 2, df) * error
    return PromptMean(mean, k, error, mean - half, mean + half, two_sided(mean / error, df))


def _why(row: dict[str, Any], k: float, between: str, by: str, level: float) -> str:
    if row["verdict"] == "cannot say":
        if not number(row["clusters"]):
            return f"no {by} has answers of both"
        if k < LEAST_CLUSTERS:
            return (
                f"{k:g} {by} have two answers of each {between}, which the ceiling "
                f"takes; it takes {LEAST_CLUSTERS}"
            )
        return f"nothing differs between {k:g} {by}, too few to estimate an error"
    gap, ceiling = number(row["gap"]), number(row["ceiling"])
    low, high = (points(number(row[name]), True) for name in ("gap_low", "gap_high"))
    why = (
        f"{percent(gap + ceiling)} in common, where repeats of one have {percent(ceiling)}; "
        f"{100 * level:g} % interval of the gap, for this row alone: {low} to {high}"
    )
    if row["verdict"] == "no evidence":
        least = points(number(row["detectable"]), True).lstrip("+")
        why += f"; a gap of {least} would have shown in 4 of 5 such samples"
    return why


@dataclass(frozen=True)
class AnswerLists:
    """The lists of answers as codes: one row per answer and value, each value once."""

    prompt: Integers
    member: Integers
    answer: Integers
    value: Integers
    members: list[str]
    prompts: list[Any]


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
        elif name == by:
            asked = [*levels]
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
        part[rows].astype(np.int64) for part in (codes[by], member, answer, value)
    )
    return AnswerLists(prompts, own, answers, values, sorted(names), asked)


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
