"""Members beside each other: ranks (``df.aa.rank``), how few have most, and overlap of lists.

The overlap of the lists of two engines stands beside that of repeats (``df.aa.overlap``): the
Jaccard index of all pairs of answers, in means over prompts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.groupby import as_floats, find, flattened, group
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.estimate import (
    JUDGED,
    LEAST_CLUSTERS,
    NAN,
    Change,
    Comparison,
    change_by_student_t,
    check_level,
    estimate_sample,
    judge,
    varies,
    wilson,
)
from aatoolkit.stats.results import percent, refusal, reranked, result
from aatoolkit.stats.sums import (
    PROMPT,
    ClusterSums,
    Rules,
    cluster_sums,
    grouping_columns,
    refuse_missing,
)
from aatoolkit.stats.trace import (
    Integers,
    Numbers,
    column_values,
    count_of,
    drawn,
    leaf,
    name_all,
    normal_quantile,
    number,
    plain_value,
    setting,
    statistic,
    t_quantiles,
    take,
    total_of,
    trace_frame,
    two_sided,
)

DRAWS = 999
MOST_MEMBERS = 500


@statistic("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Ranks with their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    flat = flattened(frame)
    find(flat, [column, by])
    if cluster == PROMPT and cluster not in flat.columns:
        why = (
            f"a rank compares {by} over prompts, and this frame has no {PROMPT}: it takes one row "
            f"for each prompt and {by}, as project.read('prompts', split='engine') for engines; "
            "where other things repeat, cluster= names them"
        )
        raise ItemNotFound(f"{column} has no ranks: {why}", columns={cluster: why})
    sums = cluster_sums(frame, column, by, cluster, rules, counts=True)
    names = sums.groups.keys[by].reset_index(drop=True)
    if len(names) > MOST_MEMBERS:
        why = f"{len(names):,} members; {MOST_MEMBERS} are the most: choose them before looking"
        raise refusal(column, "ranks", why)
    influence = _influence(sums)
    if len(influence) < LEAST_CLUSTERS:
        why = f"{len(influence)} different values of {cluster}; it takes {LEAST_CLUSTERS}"
        raise refusal(column, "ranks", why)
    (y, n), g = sums.parts(), sums.by_group
    size = g.total(y if sums.is_count else n)
    is_there = plain_value(g.total(n)) > 0
    value = np.where(is_there, size if sums.is_count else g.total(y) / size, np.nan)
    name_all(value=value)
    plain = plain_value(value)
    sizes, squares = (plain_value(g.total(part)) for part in (n, n**2))
    # Of rates that one cluster carries nothing says how they vary.
    measured = np.isfinite(plain) & (sums.is_count | (sizes**2 >= 2 * squares))
    oriented = -plain if sums.unit == RANK and not sums.is_count else plain
    better = np.where(measured, oriented, -np.inf)
    reach, p = _separations(influence, np.where(measured, oriented, 0.0), measured, level)
    many = int(measured.sum())

    def place(name: str, ranks: Numbers, how: str) -> Any:
        return drawn(name, np.where(measured, ranks, np.nan), how, value)

    how = (
        "a difference whose p-value, by Student's t with its own degrees of freedom, is below "
        f"{p:.3g}: that of the largest of all in {DRAWS} draws of normal multipliers of {cluster} "
        "(seed 0)"
    )
    is_better = reach > 1
    low = place("rank_low", 1 + is_better.sum(axis=0), f"1 + members that are better by {how}")
    high = place("rank_high", many - is_better.sum(axis=1), f"{many} - those worse by {how}")
    in_sample = 1 + (better > oriented[:, None]).sum(axis=1)
    verdicts, lacking = [], f"it has no number, or one {cluster} has most of its answers"
    for first, last in zip(plain_value(low), plain_value(high), strict=True):
        words = f"rank {first:g}{'' if first == last else f' to {last:g}'} of {many}"
        verdicts.append(words if np.isfinite(first) else "cannot say: " + lacking)
    clusters = count_of(take(n, np.unique(sums.cluster, return_index=True)[1]))
    ranked = result(
        "rank",
        {
            by: names,
            "value": value,
            "rank": place("rank", in_sample, "1 + members with a better value"),
            "rank_low": low,
            "rank_high": high,
            "n": size,
            "clusters": clusters,
            "verdict": verdicts,
            "method": f"simultaneous pairwise differences over {cluster}, multiplier bootstrap",
        },
        [sums.metadata],
        sums.metadata.columns[column].availability,
        key=(by,),
        unit=sums.column.unit if sums.column else None,
        level=level,
        column=column,
        cluster=cluster,
    )
    return reranked(ranked, np.argsort(-better, kind="stable"))


def _influence(sums: ClusterSums) -> Numbers:
    """What each cluster adds to the value of each member: a row each."""
    y, n = np.zeros((2, len(sums.labels), len(sums.groups)))
    y[sums.cluster, sums.group], n[sums.cluster, sums.group] = sums.y, sums.n
    is_there = n.any(axis=1)  # what was not measured for anybody is no cluster
    y, n = y[is_there], n[is_there]
    if sums.is_count:
        return y - y.mean(axis=0) if len(y) else y
    size = n.sum(axis=0)
    residuals: Numbers = np.nan_to_num((y - y.sum(axis=0) / size * n) / size)
    return residuals


def _separations(
    influence: Numbers, value: Numbers, measured: Any, level: float
) -> tuple[Numbers, float]:
    """By how much each member leads each other, scaled so that 1 is significant; a p-value.

    The p-value is of the largest standardised difference, in draws of normal multipliers of
    clusters. A difference is significant where Student's t, with the difference's own degrees of
    freedom, is as improbable: those of its variance (Satterthwaite), since of few clusters fewer
    still carry it. With k-1 for all, sets of 8 to 20 prompts and ten ties hold in 84 to 88 %.
    """
    k, many = influence.shape
    draws = np.random.default_rng(0).standard_normal((DRAWS, k)) @ influence
    # The sums over clusters of the second and fourth powers of all pairs' differences.
    two, middle = influence**2, (influence**3).T @ influence
    second, fourth = two.sum(axis=0), (two**2).sum(axis=0)
    squares = second[:, None] + second - 2 * (influence.T @ influence)
    spread = fourth[:, None] + fourth - 4 * (middle + middle.T) + 6 * (two.T @ two)
    error = np.sqrt(np.maximum(squares, 0) * k / (k - 1))
    tiny = 1e-12 * max(float(error.max(initial=0.0)), 1e-300)
    tested = (error > tiny) & measured[:, None] & measured
    safe = np.where(tested, error, np.inf)
    largest = np.zeros(DRAWS)
    for at in range(many):
        largest = np.maximum(largest, (np.abs(draws[:, [at]] - draws) / safe[at]).max(axis=1))
    p = two_sided(float(np.quantile(largest, level)), math.inf)
    df = np.where(tested & (spread > 0), squares**2 / spread, k - 1)
    critical = t_quantiles(1 - p / 2, np.clip(df, 1, k - 1).ravel()).reshape(df.shape)
    return (value[:, None] - value) / safe / critical, p


# --- concentration ----------------------------------------------------------------------------

LEAST, _MOST_COUNTED = 20, 2**53
"""Fewer citations say nothing of how concentrated they are, and more are no exact numbers."""

_RESAMPLES, _MOST_HALVES, _CELLS = 499, 49, 500_000
"""How many samples are drawn, and how many halves, so that these come to so many numbers."""


@statistic("concentration", "frame")
def concentration(
    frame: pd.DataFrame, column: str, by: str | Sequence[str] | None, *, top: int, level: float
) -> pd.DataFrame:
    """Compute the concentration of a count; see ``df.aa.concentration``."""
    check_level(level)
    if top < 1:
        raise ArgumentError(f"top={top!r} is no whole number from 1")
    keys = grouping_columns(by)
    flat = trace_frame(flattened(frame), frame)
    metadata = metadata_of(flat)
    find(flat, [column, *keys])
    groups = group(flat, keys, True)
    is_own = not (metadata.holds(column) or metadata.is_lost(column))
    (planned,) = plan(flat, metadata, groups, column, {column: "sum"} if is_own else {})
    if planned.rule.rule != "sum":
        raise refusal(column, "concentration", f"its rule ({planned.rule}) is no sum of counts")
    cells = cells_of_plan(planned, flat, metadata, groups)
    values = as_floats(flat[column])
    use = cells.has_number & (values > 0)
    if (values[use] % 1 != 0).any():
        why = "it holds fractions; name the count behind it"
        raise refusal(column, "concentration", why)
    codes, states = groups.combined(cells)
    rows = []
    for at, code in enumerate(codes.tolist()):
        counts = column_values("c", flat, column, np.flatnonzero(use & (groups.ids == at)))
        n, members = total_of(counts), count_of(counts)
        name_all(n=n, members=members)
        row = {"n": n, "members": members}
        if LEAST <= number(n) <= _MOST_COUNTED:
            row |= _measured(counts, n, top, level)
            effective, low, high = (number(row[f"effective{end}"]) for end in ("", "_low", "_high"))
            span = f"{low:.1f} or more" if math.isinf(high) else f"{low:.1f} to {high:.1f}"
            row["verdict"] = f"as concentrated as {effective:.1f} equal ones ({span})"
        else:
            state = states[code]
            reason = f" ({state})" if state.status != Status.AVAILABLE else ""
            row["verdict"] = (
                f"cannot say: {number(n):g} in all, and it takes {LEAST} to 2⁵³{reason}"
            )
        rows.append(row)
    names = [f"{name}{end}" for name in ("hhi", "effective", "top_share") for end in _ENDS]
    columns = {
        name: [row.get(name, NAN) for row in rows] for name in (*names, "n", "members", "verdict")
    }
    return result(
        "concentration",
        {**groups.keys.reset_index(drop=True), **columns}
        | {"method": "multinomial bootstrap, basic interval"},
        [metadata],
        combine(states[int(code)] for code in codes),
        key=tuple(keys),
        level=level,
        column=column,
        top=top,
    )


_ENDS = ("", "_low", "_high")


def _measured(c: Any, n: Any, top: int, level: float) -> dict[str, Any]:
    """Each measure with its interval, from multinomial samples (seed 0)."""
    counts, size = plain_value(c), int(number(n))
    largest = take(c, np.argsort(counts, kind="stable")[-top:])
    name_all(largest=largest)
    hhi, top_share = (total_of(c**2) - n) / (n * (n - 1)), total_of(largest) / n
    name_all(hhi=hhi, top_share=top_share)
    rng = np.random.default_rng(0)
    shares = counts / size
    draws = (np.sort(rng.multinomial(size, shares)).astype(np.float64) for _ in range(_RESAMPLES))
    sums = np.array([((draw**2).sum(), draw[-top:].sum()) for draw in draws])
    values = (sums - [size, 0]) / [size * (size - 1), size]
    tails = [(1 - level) / 2, (1 + level) / 2]
    shifts = np.quantile(values - values.mean(axis=0), tails, axis=0)
    words = (
        f"the quantile of {_RESAMPLES} multinomial samples of {size:,} (seed 0), less their mean"
    )
    lowest = _least_top(counts, top, rng, level) - number(top_share)
    shifts[0, 1] = min(lowest, shifts[0, 1])
    row = {"hhi": hhi, "top_share": top_share}
    for at, (name, value) in enumerate([*row.items()]):
        for end, shift in zip(_ENDS[1:], shifts[:, at].tolist(), strict=True):
            moved = value + drawn("shift", shift, words)
            row[f"{name}{end}"] = np.maximum(np.minimum(moved, setting("most", 1.0)), 0.0)
    name_all(**row)
    # The effective number is 1 over the index, and so are its ends.
    pairs = zip(_ENDS, ("", "_high", "_low"), (NAN, NAN, math.inf), strict=True)
    for end, of, without in pairs:
        index = row[f"hhi{of}"]
        row[f"effective{end}"] = 1 / index if number(index) > 0 else without
    return row


def _least_top(counts: Numbers, top: int, rng: np.random.Generator, level: float) -> float:
    """The lower end of the share of the largest few.

    Those that lead in a sample have luck among their merits, the more of it the more they tie. So
    the leaders of one half are counted in the other half, where luck is gone, over many halves.
    """
    times = min(max(_CELLS // (8 * len(counts)), 20), _MOST_HALVES)
    halves = rng.binomial(counts.astype(np.int64), 0.5, (times, len(counts)))
    others = counts - halves
    leaders = np.argsort(-halves, axis=1, kind="stable")[:, :top]
    share = np.nanmean(np.take_along_axis(others, leaders, 1).sum(1) / others.sum(1))
    return float(wilson(share, counts.sum(), normal_quantile((1 + level) / 2))[0])


# --- overlap ----------------------------------------------------------------------------------

MOST_REPEATS = 20
"""How many answers of one engine to one prompt are compared at most."""

MOST_LISTS = 40


@statistic("overlap", "frame")
def overlap(
    frame: pd.DataFrame, column: str, between: str, cluster: str, *, repeat: str, level: float
) -> pd.DataFrame:
    """Overlap of the lists of two engines; see ``df.aa.overlap``."""
    check_level(level)
    flat = trace_frame(flattened(frame), frame)
    find(flat, [column])
    lacking = [name for name in (between, cluster, repeat) if name not in flat.columns]
    if lacking and (between in lacking or repeat not in lacking):
        why = (
            f"there is no {' and no '.join(lacking)} in this frame: {between} names what is "
            f"compared (between=), and {repeat} the answer (repeat=) to a {cluster} (cluster=) "
            "where single answers are compared; one list of each is enough, such as "
            "project.read('urls', split='engine').main.aa.overlap('url')"
        )
        raise ItemNotFound(f"{column} has no overlap: {why}", columns=dict.fromkeys(lacking, why))
    metadata = metadata_of(flat)
    state = metadata.columns[column].availability
    rows: Any
    if lacking:
        rows = _of_sets(flat, column, between)
    else:
        rows = _of_answers(flat, column, between, cluster, repeat, level)
        if state.status not in (Status.AVAILABLE, Status.UNKNOWN):
            rows = [row | {"why": f"{row['why']}; {state}"} for row in rows]
    return result(
        "overlap",
        rows,
        [metadata],
        state,
        key=(between, f"other_{between}"),
        level=level,
        between=between,
        by=column if lacking else cluster,
    )


def _of_sets(flat: pd.DataFrame, column: str, between: str) -> dict[str, Any]:
    """Overlap where each member has one list: without repeats there is no interval."""
    is_present = flat[[column, between]].notna().all(axis=1)
    rows = flat[is_present].groupby(between, observed=True)[column].unique()
    sets = {str(name): {*values} for name, values in rows.items()}
    pairs = [*combinations(sorted(sets), 2)]

    def counted(name: str, kind: Any) -> Any:
        members = [kind(sets[a], sets[b]) for a, b in pairs]

        def part(tracer: Any, at: int) -> Any:
            about = flat[between].astype(str).isin(pairs[at]) & flat[column].isin(members[at])
            positions = np.flatnonzero(about.to_numpy(bool))
            words = f"different values of {column} in {len(positions)} rows"
            return tracer.rows(name, len(members[at]), flat, positions, (column,), words)

        return leaf(name, np.array([len(part) for part in members], np.float64), part)

    shared, different = counted("shared", set.__and__), counted("different", set.__or__)
    counts = zip(plain_value(shared), plain_value(different), strict=True)
    return {
        between: [a for a, _ in pairs],
        f"other_{between}": [b for _, b in pairs],
        "jaccard": shared / different,
        **dict.fromkeys(("jaccard_low", "jaccard_high", "ceiling"), NAN),
        "shared": shared,
        "different": different,
        "verdict": [f"{common:,.0f} of {total:,.0f} in common" for common, total in counts],
        "method": f"sets of {column}, a list each: no interval",
    }


def _of_answers(
    flat: pd.DataFrame, column: str, between: str, cluster: str, repeat: str, level: float
) -> list[dict[str, Any]]:
    """The overlap of two members, that of repeated answers, and the difference, over prompts."""
    codes, members, prompts = _lists(flat, column, between, cluster, repeat)
    if len(members) > MOST_LISTS:
        why = f"{len(members)} different ones; {MOST_LISTS} are the most: choose some first"
        raise refusal(between, "overlap", why)
    means = np.full((len(prompts), len(members), len(members)), np.nan)
    answers = np.zeros((len(prompts), len(members)))
    for at, (_, part) in enumerate(codes.groupby(cluster)):
        means[at], answers[at] = _of_prompt(part[repeat], part[between], part[column], len(members))
    confidence, gaps = setting("level", level), []
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(members)), 2):

        def over_prompts(
            name: str, values: Any, mask: Any, what: str, pair: Any = (members[a], members[b])
        ) -> Any:
            """Trace the prompts' values that a mask picks to the rows about them."""
            chosen = np.flatnonzero(mask)

            def part(tracer: Any, place: int) -> Any:
                prompt = prompts[chosen[place]]
                about = flat[between].astype(str).isin(pair) & flat[column].notna()
                about &= flat[cluster].eq(prompt).fillna(False)
                positions = np.flatnonzero(about.to_numpy(bool))
                words = f"{what}, of {len(positions)} rows of {column}"
                value = values[chosen[place]]
                return tracer.rows(
                    name, value, flat, positions, (column,), words, {cluster: prompt}
                )

            return leaf(name, values[chosen], part)

        alike, within = means[:, a, b], (means[:, a, a] + means[:, b, b]) / 2
        is_there = np.isfinite(alike)
        is_both, word = is_there & np.isfinite(within), "mean Jaccard index of pairs of answers"
        between_both = over_prompts("j", alike, is_there, word)
        mean = mean_of(between_both, confidence, "jaccard")
        repeats = over_prompts("own", within, is_both, "mean Jaccard index of repeats")
        ceiling = mean_of(repeats, confidence, "ceiling")
        differences = take(between_both, np.flatnonzero(is_both[is_there])) - repeats
        name_all(g=differences)
        gap = mean_of(differences, confidence, "gap")
        asked = over_prompts("answers", answers[:, a] + answers[:, b], is_there, "answers of both")
        rows.append(
            {
                between: members[a],
                f"other_{between}": members[b],
                "jaccard": mean.change,
                "jaccard_low": np.maximum(mean.low, 0.0),
                "jaccard_high": np.minimum(mean.high, 1.0),
                "ceiling": ceiling.change,
                "gap": gap.change,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "clusters": mean.clusters,
                "n": total_of(asked),
            }
        )
        k = number(gap.clusters)
        why = f"its {k:g} {cluster} all say the same, and are too few to estimate an error"
        if k < LEAST_CLUSTERS:
            why = f"{k:g} {cluster} have two answers of each {between}; it takes {LEAST_CLUSTERS}"
        if not is_there.any():
            why = f"no {cluster} has answers of both"
        shares = percent(number(gap.change) + number(ceiling.change)), number(ceiling.change)
        text = f"{shares[0]} in common, where repeats of one have {percent(shares[1])}"
        why = "" if np.isfinite(number(gap.p)) else why
        words = ("more alike", "less alike")
        gaps.append(Comparison(change=gap, text=text, why=why, words=words))
    for row, judgement in zip(rows, judge(gaps, level, noun="gap"), strict=True):
        row |= {name: judgement[name] for name in JUDGED[5:]}
        row["method"] = f"mean over {cluster} of pairs of answers, Student's t, Holm's method"
    return rows


def mean_of(values: Any, level: Any, name: str) -> Change:
    """The mean over prompts with Student's t of k-1 degrees of freedom."""
    sample, plain = estimate_sample(values, values * 0 + 1, name), plain_value(values)
    error, k = np.sqrt(sample.variance), sample.clusters
    if len(plain) < LEAST_CLUSTERS or not varies(number(error), np.abs(plain).max()):
        return Change(sample.value, clusters=k)
    return change_by_student_t(sample.value, error, k - 1, level, clusters=k)


def _lists(
    flat: pd.DataFrame, column: str, between: str, cluster: str, repeat: str
) -> tuple[pd.DataFrame, list[str], list[Any]]:
    """The lists of all answers as codes, each value once in an answer; the members and prompts."""
    rows = flat.loc[flat[column].notna(), [cluster, between, repeat, column]]
    for name in (between, cluster, repeat):
        refuse_missing(name, rows[name].isna())
    codes = pd.DataFrame({name: pd.factorize(rows[name])[0] for name in rows.columns})
    codes[between], members = pd.factorize(rows[between].astype(str), sort=True)
    for name in (between, cluster):
        if (codes.groupby(repeat)[name].nunique() > 1).any():
            why = f"one value of {repeat} has several of {name}: it names no single answer"
            raise AvailabilityError(f"{repeat} names no answer: {why}", columns={repeat: why})
    return codes.drop_duplicates([repeat, column]), [*members], [*rows[cluster].unique()]


def _of_prompt(
    answer: pd.Series, member: pd.Series, value: pd.Series, members: int
) -> tuple[Numbers, Integers]:
    """The means over pairs of answers to one prompt; on the diagonal of answers of one member."""
    _, first, rows = np.unique(answer, return_index=True, return_inverse=True)
    values, columns = np.unique(value, return_inverse=True)
    has = np.zeros((len(first), len(values)), np.float32)  # holds whole numbers exactly
    has[rows, columns] = 1.0
    chosen = []
    whose = member.to_numpy()[first]
    for number_of in range(members):  # all answers, or so many of a member, evenly spaced
        positions = np.flatnonzero(whose == number_of)
        evenly = np.linspace(0, len(positions) - 1, min(len(positions), MOST_REPEATS))
        chosen += positions[evenly.round().astype(np.int64)].tolist()
    has, whose = has[chosen], whose[chosen]
    shared, size = (has @ has.T).astype(np.float64), has.sum(axis=1, dtype=np.float64)
    jaccard = shared / (size[:, None] + size - shared)
    np.fill_diagonal(jaccard, 0.0)  # an answer is no repeat of itself
    groups = np.eye(members)[whose]
    counts = groups.sum(axis=0)
    pairs = np.outer(counts, counts) - np.diag(counts)
    return np.where(pairs > 0, groups.T @ jaccard @ groups / pairs, np.nan), counts
