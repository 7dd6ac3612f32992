"""Overlap of the lists of two engines, beside that of repeats: ``df.aa.overlap``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, FRACTION, PROBABILITY
from aatoolkit.stats.adjust import adjusted, traced_adjusted
from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.difference import detectable, name_all
from aatoolkit.stats.estimate import LEAST_CLUSTERS, varies
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, percent, points, result, words
from aatoolkit.stats.similarity import answer_lists, mean_overlaps
from aatoolkit.stats.trace import One, plain_value, setting, t_quantile, two_sided

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
    flat = flattened(frame)
    find(flat, [column, *([order] if order else [])])
    lacking = [name for name in (between, by, repeat) if name not in flat.columns]
    if lacking:
        why = (
            "it compares the lists of single answers, one row for each entry, and this frame has "
            f"no {' and no '.join(lacking)}: {repeat} names the answer (repeat=), {between} what "
            f"is compared (between=), {by} what is asked (by=); such as "
            "chats['chat_citations'].aa.merge(chats['chats'][['chat_id', 'prompt_id', 'engine']], "
            "on='chat_id')"
        )
        raise ItemNotFound(f"{column} has no overlap: {why}", columns=dict.fromkeys(lacking, why))
    known = metadata_of(flat)
    state = known.columns[column].availability
    lists = answer_lists(flat, column, between, by, repeat, order)
    members = lists.members
    if len(members) > MOST_MEMBERS:
        why = f"{len(members)} different ones; {MOST_MEMBERS} are the most: choose some first"
        raise AvailabilityError(f"{between} has no overlap: {why}", columns={between: why})
    jaccard, biased, answers = mean_overlaps(lists, len(members), p, depth, order is not None)
    rows = []
    for a, b in combinations(range(len(members)), 2):
        rows.append(_pair(jaccard, biased, answers, a, b, level))
    return _described(rows, members, between, by, (p, depth, level), order, state, known.sources)


def mean_of(values: Any, level: Any, name: str = "mean") -> PromptMean:
    """The mean over prompts with Student's t of k-1 degrees of freedom."""
    k = One.count(values)
    many = int(plain_value(k))
    if not many:
        return PromptMean(_NAN, 0)
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


def _mean(values: Numbers, level: float) -> PromptMean:
    """The mean of the prompts that have a value."""
    return mean_of(values[np.isfinite(values)], level)


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `overlap`, traced."""
    given = cells.arguments
    column, between, by, repeat = (given[name] for name in ("column", "between", "by", "repeat"))
    flat = flattened(cells.inputs[0].frame)
    if "lists" not in cells.shared:
        lists = answer_lists(flat, column, between, by, repeat, given.get("order"))
        how = (float(given["p"]), int(given["depth"]), given.get("order") is not None)
        there = flat[column].notna().to_numpy()
        prompts = [*pd.factorize(flat[by][there])[1]]
        means = mean_overlaps(lists, len(lists.members), *how)
        cells.shared["lists"] = lists, means, prompts, there
    lists, (jaccard, biased, answers), prompts, there = cells.shared["lists"]
    pair = [
        lists.members.index(str(cells.text(at, name))) for name in (between, f"other_{between}")
    ]
    a, b = pair
    of_pair = there & flat[between].astype(str).isin([lists.members[x] for x in pair]).to_numpy()

    def leaf(name: str, values: Any, mask: Any, what: str) -> Any:
        chosen = np.flatnonzero(mask)
        rows = [
            np.flatnonzero(of_pair & flat[by].eq(prompts[x]).fillna(False).to_numpy(bool))
            for x in chosen
        ]
        text = f"{what}, of {{}} rows of {column}"
        return cells.facts(
            name,
            values[chosen],
            rows,
            (column,),
            lambda place: text.format(len(rows[place])),
            lambda place: {by: prompts[chosen[place]]},
        )

    level = setting("level", given["level"])
    is_there, index = np.isfinite(jaccard[:, a, b]), "mean Jaccard index of pairs of answers"
    own = (jaccard[:, a, a] + jaccard[:, b, b]) / 2
    both = is_there & np.isfinite(own)
    j = mean_of(leaf("j", jaccard[:, a, b], is_there, index), level, "jaccard")
    repeats = leaf("own", own, both, "mean Jaccard index of repeats")
    g = leaf("between", jaccard[:, a, b], both, index) - repeats
    name_all(g=g)
    gap, ceiling = mean_of(g, level, "gap"), mean_of(repeats, level, "ceiling")
    tests = {row: cells.number(row, "p") for row in range(len(cells.flat))}
    tests = {row: p for row, p in tests.items() if np.isfinite(p)}
    columns = {"jaccard": j.value, "ceiling": ceiling.value, "gap": gap.value, "clusters": j.k}
    columns |= {"gap_low": gap.low, "gap_high": gap.high, "p": gap.p}
    columns |= _clipped("jaccard", j)
    if at in tests:
        many = setting("tests", max(len(tests), 1))
        columns["detectable"] = detectable(gap.error, gap.k - 1, level, many)
        columns["p_adjusted"] = traced_adjusted(
            at, tests, "holm", lambda row: gap.p if row == at else traced(cells, row)["p"]
        )
    if given.get("order") is not None:
        word = "mean rank-biased overlap of pairs of answers"
        r = mean_of(leaf("r", biased[:, a, b], np.isfinite(biased[:, a, b]), word), level, "rbo")
        again = (biased[:, a, a] + biased[:, b, b]) / 2
        mask = is_there & np.isfinite(again)
        repeated = leaf("own", again, mask, "mean rank-biased overlap of repeats")
        columns |= {"rbo": r.value, "rbo_ceiling": mean_of(repeated, level, "ceiling").value}
        columns |= _clipped("rbo", r)
    many_answers = answers[:, pair].sum(axis=1).astype(float)
    columns["n"] = One.total(leaf("answers", many_answers, is_there, f"values of {repeat}"))
    return columns


def _clipped(name: str, mean: PromptMean) -> dict[str, Any]:
    """The ends of the interval of an overlap, which is a fraction."""
    low, high = np.maximum(mean.low, 0.0), np.minimum(mean.high, 1.0)
    return {f"{name}_low": low, f"{name}_high": high}


@dataclass(frozen=True)
class _Pair:
    """Two members: their overlap, that of repeats on the same prompts, and the difference."""

    members: tuple[int, int]
    jaccard: PromptMean
    ceiling: PromptMean
    gap: PromptMean
    biased: PromptMean
    biased_ceiling: PromptMean
    n: int


def _pair(
    jaccard: Numbers,
    biased: Numbers,
    answers: Integers,
    a: int,
    b: int,
    level: float,
) -> _Pair:
    between, own = jaccard[:, a, b], (jaccard[:, a, a] + jaccard[:, b, b]) / 2
    there = np.isfinite(between)
    used = there & np.isfinite(own)
    repeats = (biased[:, a, a] + biased[:, b, b]) / 2
    return _Pair(
        (a, b),
        _mean(between, level),
        _mean(own[used], level),
        _mean((between - own)[used], level),
        _mean(biased[:, a, b], level),
        _mean(repeats[there], level),
        int(answers[there][:, [a, b]].sum()),
    )


def _described(
    pairs: list[_Pair],
    members: list[str],
    between: str,
    by: str,
    how: tuple[float, int, float],
    order: str | None,
    state: Availability,
    sources: tuple[object, ...],
) -> pd.DataFrame:
    """One row a pair, with what each column says."""
    p, depth, level = how
    tests = np.array([pair.gap.p for pair in pairs], np.float64)
    corrected = adjusted(tests, "holm")
    family = max(int(np.isfinite(tests).sum()), 1)
    seen = [
        detectable(pair.gap.error, pair.gap.k - 1, level, family) if pair.gap.error > 0 else _NAN
        for pair in pairs
    ]
    verdicts = [
        "cannot say"
        if not np.isfinite(each)
        else "no evidence"
        if each >= 1 - level
        else "less alike"
        if pair.gap.value < 0
        else "more alike"
        for pair, each in zip(pairs, corrected.tolist(), strict=True)
    ]
    ordered = f"; rank-biased overlap extrapolated, p = {p:g}, depth {depth}" if order else ""
    method = f"mean over {by} of pairs of answers, Student's t, Holm's method{ordered}"
    other = f"other_{between}"
    found = pd.DataFrame(
        {
            between: words(str(members[pair.members[0]]) for pair in pairs),
            other: words(str(members[pair.members[1]]) for pair in pairs),
            "jaccard": numbers(pair.jaccard.value for pair in pairs),
            "jaccard_low": numbers(max(pair.jaccard.low, 0.0) for pair in pairs),
            "jaccard_high": numbers(min(pair.jaccard.high, 1.0) for pair in pairs),
            "ceiling": numbers(pair.ceiling.value for pair in pairs),
            "gap": numbers(pair.gap.value for pair in pairs),
            "gap_low": numbers(pair.gap.low for pair in pairs),
            "gap_high": numbers(pair.gap.high for pair in pairs),
            "p": numbers(tests),
            "p_adjusted": numbers(corrected),
            "detectable": numbers(seen),
            "rbo": numbers(pair.biased.value for pair in pairs),
            "rbo_low": numbers(max(pair.biased.low, 0.0) for pair in pairs),
            "rbo_high": numbers(min(pair.biased.high, 1.0) for pair in pairs),
            "rbo_ceiling": numbers(pair.biased_ceiling.value for pair in pairs),
            "n": numbers((pair.n for pair in pairs), "Int64"),
            "clusters": numbers((pair.jaccard.k for pair in pairs), "Int64"),
            "verdict": words(verdicts),
            "why": words(
                _why(pair, verdict, between, by, least, level, state)
                for pair, verdict, least in zip(pairs, verdicts, seen, strict=True)
            ),
            "method": words([method] * len(pairs)),
        }
    )
    which = f"{level:.0%} interval"
    change = "absolute pp as fraction"
    biased = f"rank-biased overlap (p = {p:g}, depth {depth})"
    docs: dict[str, tuple[str, str | None]] = {
        between: (f"One {between}.", None),
        other: (f"The {between} that it is compared with.", None),
        "jaccard": ("Jaccard index of an answer of one and one of the other, mean.", FRACTION),
        "jaccard_low": (f"Lower end of its {which}, over {by}.", FRACTION),
        "jaccard_high": (f"Upper end of its {which}, over {by}.", FRACTION),
        "ceiling": (
            f"The same between two answers of one {between}, mean of both, where both repeat.",
            FRACTION,
        ),
        "gap": ("The index less its ceiling, where both repeat.", change),
        "gap_low": (f"Lower end of its {which}.", change),
        "gap_high": (f"Upper end of its {which}.", change),
        "p": ("Two-sided p-value of no gap.", PROBABILITY),
        "p_adjusted": ("The p-value, adjusted by Holm's method over all rows.", PROBABILITY),
        "detectable": ("The smallest gap that such a sample shows in 80% of cases.", change),
        "rbo": (f"Mean {biased} of an answer of one and one of the other.", FRACTION),
        "rbo_low": (f"Lower end of its {which}, over {by}.", FRACTION),
        "rbo_high": (f"Upper end of its {which}, over {by}.", FRACTION),
        "rbo_ceiling": (f"The same between two answers of one {between}.", FRACTION),
        "n": ("Answers that are compared.", COUNT),
        "clusters": (f"Different values of {by} that both have answers to.", COUNT),
        "verdict": ("less alike or more alike than repeats, no evidence, or cannot say.", None),
        "why": ("What the verdict rests on, or why there is none.", None),
        "method": ("How it was computed.", None),
    }
    return result(found, "overlap", docs, {}, sources, state, key=(between, other))  # type: ignore[arg-type]


def _why(
    pair: _Pair,
    verdict: str,
    between: str,
    by: str,
    seen: float,
    level: float,
    state: Availability,
) -> str:
    limits = f"; {state}" if state.status not in (Status.AVAILABLE, Status.UNKNOWN) else ""
    if verdict == "cannot say":
        if not pair.jaccard.k:
            return f"no {by} has answers of both{limits}"
        if pair.gap.k < LEAST_CLUSTERS:
            return (
                f"{pair.gap.k} {by} have two answers of each {between}, which the ceiling "
                f"takes; it takes {LEAST_CLUSTERS}{limits}"
            )
        return f"nothing differs between {pair.gap.k} {by}, too few to estimate an error{limits}"
    common = (
        f"{percent(pair.gap.value + pair.ceiling.value)} in common, where repeats of one have "
        f"{percent(pair.ceiling.value)}; {100 * level:g} % interval of the gap, for this row "
        f"alone: {points(pair.gap.low, True)} to {points(pair.gap.high, True)}"
    )
    if verdict == "no evidence":
        shown = points(seen, True).lstrip("+")
        common += f"; a gap of {shown} would have shown in 4 of 5 such samples"
    return common + limits
