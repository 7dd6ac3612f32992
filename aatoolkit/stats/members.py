"""Ranks of brands or other members, the concentration of a count, and the overlap of lists.

A member is a value of the column to compare, such as one brand or one engine.
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
from aatoolkit.frame.aggregation_plan import plan_columns
from aatoolkit.frame.groupby import as_floats, check_columns, flatten_index, group_rows
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.sections.aggregation import RANK, SUM
from aatoolkit.stats.estimate import (
    MIN_CLUSTERS,
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
from aatoolkit.stats.results import CANNOT_SAY, make_result, percent, refusal
from aatoolkit.stats.sums import (
    PROMPT_COLUMN,
    ClusterSums,
    Rules,
    cluster_sums,
    clusters_of,
    grouping_columns,
    refuse_missing,
)
from aatoolkit.stats.trace import (
    Integers,
    Numbers,
    Row,
    as_float,
    column_values,
    count_of,
    name_traced,
    name_traced_variables,
    normal_quantile,
    plain_value,
    random_number,
    setting,
    statistic,
    t_quantiles,
    take,
    total_of,
    trace_frame,
    traced_to_rows,
    two_sided,
)

BOOTSTRAP_DRAWS = 999  # the number of random samples in the multiplier bootstrap
MAX_MEMBERS = 500  # the maximum number of ranked members


@statistic("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Compute ranks and their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    flat_frame = flatten_index(frame)
    check_columns(flat_frame, [column, by])
    if cluster == PROMPT_COLUMN and cluster not in flat_frame.columns:
        why = (
            f"a rank compares {by} over prompts, and this frame has no {PROMPT_COLUMN}: it takes "
            f"one row for each prompt and {by}, as project.read('prompts', split='engine') for "
            "engines or project.read('ranking')['ranking_prompts'] for brands; where other things "
            "repeat, cluster= names them"
        )
        raise ItemNotFound(f"{column} has no ranks: {why}", columns={cluster: why})
    sums = cluster_sums(frame, column, by, cluster, rules, allow_counts=True)
    members = sums.groups.keys[by].reset_index(drop=True)
    if len(members) > MAX_MEMBERS:
        why = f"{len(members):,} members; {MAX_MEMBERS} are the most: choose them before looking"
        raise refusal(column, "ranks", why)
    contributions = _contributions(sums)
    if len(contributions) < MIN_CLUSTERS:
        why = f"{len(contributions)} different values of {cluster}; it takes {MIN_CLUSTERS}"
        raise refusal(column, "ranks", why)
    y, n = sums.y_and_n()
    group_sums = sums.group_sums
    size = group_sums.total(y if sums.is_count else n)
    denominators = group_sums.total(sums.n)
    square_sums = group_sums.total(sums.n**2)
    value = np.where(
        denominators > 0, size if sums.is_count else group_sums.total(y) / size, np.nan
    )
    name_traced_variables()
    plain_values = plain_value(value)
    # Where one cluster has most answers, the variance of a rate cannot be estimated.
    is_ranked = np.isfinite(plain_values) & (sums.is_count | (denominators**2 >= 2 * square_sums))
    signed_values = -plain_values if sums.unit == RANK and not sums.is_count else plain_values
    sort_values = np.where(is_ranked, signed_values, -np.inf)
    scaled_differences, critical_p = _scaled_differences_and_p(
        contributions, np.where(is_ranked, signed_values, 0.0), is_ranked, level
    )
    rank_count = int(is_ranked.sum())

    def as_traced_ranks(name: str, ranks: Numbers, method: str) -> Any:
        return random_number(name, np.where(is_ranked, ranks, np.nan), method, value)

    method = (
        "a difference whose p-value, by Student's t with its own degrees of freedom, is below "
        f"{critical_p:.3g}: that of the largest of all in {BOOTSTRAP_DRAWS} draws of normal "
        f"multipliers of {cluster} (seed 0)"
    )
    is_better = scaled_differences > 1
    low = as_traced_ranks(
        "rank_low", 1 + is_better.sum(axis=0), f"1 + members that are better by {method}"
    )
    high = as_traced_ranks(
        "rank_high", rank_count - is_better.sum(axis=1), f"{rank_count} - those worse by {method}"
    )
    sample_ranks = 1 + (sort_values > signed_values[:, None]).sum(axis=1)
    verdicts = []
    reason = f"it has no number, or one {cluster} has most of its answers"
    for best, worst in zip(plain_value(low), plain_value(high), strict=True):
        rank_text = f"rank {best:g}{'' if best == worst else f' to {worst:g}'} of {rank_count}"
        verdicts.append(rank_text if np.isfinite(best) else f"{CANNOT_SAY}: {reason}")
    clusters = count_of(take(n, np.unique(sums.cluster_ids, return_index=True)[1]))
    return make_result(
        "rank",
        {
            by: members,
            "value": value,
            "rank": as_traced_ranks("rank", sample_ranks, "1 + members with a better value"),
            "rank_low": low,
            "rank_high": high,
            "n": size,
            "clusters": clusters,
            "verdict": verdicts,
            "method": f"simultaneous pairwise differences over {cluster}, multiplier bootstrap",
        },
        [sums.metadata],
        sums.metadata.columns[column].availability,
        key_columns=(by,),
        unit=sums.column.unit,
        level=level,
        row_order=np.argsort(-sort_values, kind="stable"),
        column=column,
        cluster=cluster,
    )


def _contributions(sums: ClusterSums) -> Numbers:
    """Return how much each cluster (e.g. prompt) changes the estimate of each member (e.g. brand).

    The result is a matrix with a row per cluster and a column per member; each column has mean 0.
    """
    # The variances of the differences between members are computed from it; the columns have mean
    # 0.
    y, n = np.zeros((2, len(sums.cluster_labels), len(sums.groups)))
    y[sums.cluster_ids, sums.group_ids] = sums.y
    n[sums.cluster_ids, sums.group_ids] = sums.n
    has_answers = n.any(axis=1)  # clusters without any number are left out
    y = y[has_answers]
    n = n[has_answers]
    if sums.is_count:
        return y - y.mean(axis=0) if len(y) else y
    size = n.sum(axis=0)
    return np.nan_to_num((y - y.sum(axis=0) / size * n) / size)  # type: ignore[no-any-return]


def _scaled_differences_and_p(
    contributions: Numbers, values: Numbers, is_ranked: Any, level: float
) -> tuple[Numbers, float]:
    """Return the matrix of differences between members, each divided by its critical value.

    A scaled difference above 1 is significant. ``contributions`` has a row per cluster, such as a
    prompt, and a column per member, such as a brand. The second result is the critical p-value.
    """
    # The critical p-value allows for all pairs: it is that of the largest standardised difference
    # in a multiplier bootstrap over clusters. Each difference is tested by Student's t with the
    # degrees of freedom of its own variance (Satterthwaite), which a few clusters may dominate.
    # With k-1 degrees of freedom for all (k clusters), the confidence sets of ten tied members over
    # 8 to 20 prompts would have a coverage of only 84 to 88 %.
    k, member_count = contributions.shape
    draws = np.random.default_rng(0).standard_normal((BOOTSTRAP_DRAWS, k)) @ contributions
    # The sums over clusters of the second and fourth powers of all pairs' differences.
    squared_contributions = contributions**2
    cube_products = (contributions**3).T @ contributions
    square_sums = squared_contributions.sum(axis=0)
    fourth_power_sums = (squared_contributions**2).sum(axis=0)
    square_distances = square_sums[:, None] + square_sums - 2 * (contributions.T @ contributions)
    fourth_powers = (
        fourth_power_sums[:, None]
        + fourth_power_sums
        - 4 * (cube_products + cube_products.T)
        + 6 * (squared_contributions.T @ squared_contributions)
    )
    standard_errors = np.sqrt(np.maximum(square_distances, 0) * k / (k - 1))
    min_standard_error = 1e-12 * max(float(standard_errors.max(initial=0.0)), 1e-300)
    is_tested = (standard_errors > min_standard_error) & is_ranked[:, None] & is_ranked
    finite_errors = np.where(is_tested, standard_errors, np.inf)
    largest_differences = np.zeros(BOOTSTRAP_DRAWS)
    for member in range(member_count):
        largest_differences = np.maximum(
            largest_differences,
            (np.abs(draws[:, [member]] - draws) / finite_errors[member]).max(axis=1),
        )
    critical_p = two_sided(float(np.quantile(largest_differences, level)), math.inf)
    df = np.where(is_tested & (fourth_powers > 0), square_distances**2 / fourth_powers, k - 1)
    critical_values = t_quantiles(1 - critical_p / 2, np.clip(df, 1, k - 1).ravel()).reshape(
        df.shape
    )
    return (values[:, None] - values) / finite_errors / critical_values, critical_p


# --- concentration ----------------------------------------------------------------------------

MIN_TOTAL = 20
_MAX_TOTAL = 2**53
"""The smallest and the largest total whose concentration is estimated."""

_RESAMPLES = 499
_MAX_HALVES = 49
_MAX_CELLS = 500_000
"""The number of bootstrap samples; the maximum numbers of random halves and of their cells."""


@statistic("concentration", "frame")
def concentration(
    frame: pd.DataFrame, column: str, by: str | Sequence[str] | None, *, top: int, level: float
) -> pd.DataFrame:
    """Compute how much of a count falls on its largest members, with confidence intervals.

    The result has a row for each group of ``by``; see ``df.aa.concentration``.
    """
    check_level(level)
    if top < 1:
        raise ArgumentError(f"top={top!r} is no whole number from 1")
    by_columns = grouping_columns(by)
    flat_frame = trace_frame(flatten_index(frame), frame)
    metadata = metadata_of(flat_frame)
    groups = group_rows(flat_frame, by_columns, True)
    is_undeclared = not (metadata.has_valid_metadata(column) or metadata.has_lost_values(column))
    (count_plan,) = plan_columns(
        flat_frame, metadata, groups, column, {column: SUM} if is_undeclared else {}
    )
    if count_plan.rule.rule != "sum":
        raise refusal(column, "concentration", f"its rule ({count_plan.rule}) is no sum of counts")
    cell_statuses = cells_of_plan(count_plan, flat_frame, metadata, groups)
    row_counts = as_floats(flat_frame[column])
    is_counted = cell_statuses.has_number & (row_counts > 0)
    if (row_counts[is_counted] % 1 != 0).any():
        reason = "it holds fractions; name the count behind it"
        raise refusal(column, "concentration", reason)
    availability_code_by_group, distinct_availabilities = groups.combine_availability(cell_statuses)
    rows = []
    for group_position, availability_code in enumerate(availability_code_by_group.tolist()):
        counts = column_values(
            "c",
            flat_frame,
            column,
            np.flatnonzero(is_counted & (groups.row_codes == group_position)),
        )
        n = total_of(counts)
        members = count_of(counts)
        name_traced_variables()
        row = {"n": n, "members": members}
        if MIN_TOTAL <= n <= _MAX_TOTAL:
            row |= _concentration_of(counts, n, top, level)
            effective, low, high = (row[f"effective{suffix}"] for suffix in _INTERVAL_SUFFIXES)
            interval_text = f"{low:.1f} or more" if np.isinf(high) else f"{low:.1f} to {high:.1f}"
            row["verdict"] = f"as concentrated as {effective:.1f} equal ones ({interval_text})"
        else:
            availability = distinct_availabilities[availability_code]
            note = f" ({availability})" if availability.status != Status.AVAILABLE else ""
            row["verdict"] = f"{CANNOT_SAY}: {n:g} in all, and it takes at least {MIN_TOTAL}{note}"
        rows.append(row)
    column_names = [
        f"{name}{suffix}"
        for name in ("hhi", "effective", "top_share")
        for suffix in _INTERVAL_SUFFIXES
    ]
    return make_result(
        "concentration",
        {
            **groups.keys.reset_index(drop=True),
            **{
                name: [row.get(name, NAN) for row in rows]
                for name in (*column_names, "n", "members", "verdict")
            },
            "method": "multinomial bootstrap, basic interval",
        },
        [metadata],
        combine(
            distinct_availabilities[int(availability_code)]
            for availability_code in availability_code_by_group
        ),
        key_columns=tuple(by_columns),
        level=level,
        column=column,
        top=top,
    )


# Suffixes of the result columns of one index: its value, and both ends of its interval.
_INTERVAL_SUFFIXES = ("", "_low", "_high")


def _concentration_of(c: Any, n: Any, top: int, level: float) -> Row:
    """Return the concentration indices of counts, with intervals, as a dict by result column.

    ``c`` has the count of each member, ``n`` is their sum. ``top`` is the number of largest members
    whose share is computed.
    """
    counts = plain_value(c)
    size = int(as_float(n))
    largest = take(c, np.argsort(counts, kind="stable")[-top:])
    hhi = (total_of(c**2) - n) / (n * (n - 1))
    top_share = total_of(largest) / n
    name_traced_variables()
    rng = np.random.default_rng(0)
    member_shares = counts / size
    resampled_counts = (
        np.sort(rng.multinomial(size, member_shares)).astype(np.float64) for _ in range(_RESAMPLES)
    )
    resampled_sums = np.array(
        [
            ((sampled_counts**2).sum(), sampled_counts[-top:].sum())
            for sampled_counts in resampled_counts
        ]
    )
    resampled_indices = (resampled_sums - [size, 0]) / [size * (size - 1), size]
    tail_levels = [(1 - level) / 2, (1 + level) / 2]
    shifts = np.quantile(resampled_indices - resampled_indices.mean(axis=0), tail_levels, axis=0)
    shift_description = (
        f"the quantile of {_RESAMPLES} multinomial samples of {size:,} (seed 0), less their mean"
    )
    lowest_shift = _top_share_lower_bound(counts, top, rng, level) - as_float(top_share)
    shifts[0, 1] = min(lowest_shift, shifts[0, 1])
    row = {"hhi": hhi, "top_share": top_share}
    for index_position, (name, value) in enumerate([*row.items()]):
        for suffix, shift in zip(
            _INTERVAL_SUFFIXES[1:], shifts[:, index_position].tolist(), strict=True
        ):
            shifted_value = value + random_number("shift", shift, shift_description)
            row[f"{name}{suffix}"] = np.maximum(
                np.minimum(shifted_value, setting("most", 1.0)), 0.0
            )
    name_traced(**row)
    # The effective number is 1 over the index, and its bounds are 1 over those of the index.
    suffixes_and_defaults = zip(
        _INTERVAL_SUFFIXES, ("", "_high", "_low"), (NAN, NAN, math.inf), strict=True
    )
    for suffix, hhi_suffix, bound_if_not_positive in suffixes_and_defaults:
        hhi_bound = row[f"hhi{hhi_suffix}"]
        row[f"effective{suffix}"] = 1 / hhi_bound if hhi_bound > 0 else bound_if_not_positive
    return row


def _top_share_lower_bound(
    counts: Numbers, top: int, rng: np.random.Generator, level: float
) -> float:
    """Return the lower bound of the share of the ``top`` largest members in the total."""
    # In a sample the largest members are partly the largest by chance. So they are found in a
    # random half of the sample, and their share is taken in the other half. This is repeated for
    # many halves.
    repeat_count = min(max(_MAX_CELLS // (8 * len(counts)), 20), _MAX_HALVES)
    half_counts = rng.binomial(counts.astype(np.int64), 0.5, (repeat_count, len(counts)))
    other_half_counts = counts - half_counts
    leading_positions = np.argsort(-half_counts, axis=1, kind="stable")[:, :top]
    mean_share = np.nanmean(
        np.take_along_axis(other_half_counts, leading_positions, 1).sum(1)
        / other_half_counts.sum(1)
    )
    return float(wilson(mean_share, counts.sum(), normal_quantile((1 + level) / 2))[0])


# --- overlap ----------------------------------------------------------------------------------

MAX_REPEATS = 20
"""The maximum number of answers of one engine to one prompt that are compared."""

MAX_BETWEEN = 40  # the maximum number of values, such as engines, to compare with each other


@statistic("overlap", "frame")
def overlap(
    frame: pd.DataFrame, column: str, between: str, cluster: str, *, repeat: str, level: float
) -> pd.DataFrame:
    """Compute the overlap of lists between engines; see ``df.aa.overlap``."""
    check_level(level)
    flat_frame = flatten_index(frame)
    check_columns(flat_frame, [column])
    missing_columns = [
        name for name in (between, cluster, repeat) if name not in flat_frame.columns
    ]
    if missing_columns:
        reason = (
            f"there is no {' and no '.join(missing_columns)} in this frame: {between} names "
            f"what is compared (between=), and {repeat} the answer (repeat=) to a {cluster} "
            "(cluster=); take them from the table of the answers, as by df.aa.merge(chats, "
            "on='chat_id')"
        )
        raise ItemNotFound(
            f"{column} has no overlap: {reason}", columns=dict.fromkeys(missing_columns, reason)
        )
    metadata = metadata_of(flat_frame)
    availability = metadata.columns[column].availability
    clusters_by_column = {name: clusters_of(flat_frame, name, name) for name in (cluster, repeat)}
    flat_frame = trace_frame(flat_frame.assign(**clusters_by_column), frame)
    rows = _compare_answers(flat_frame, column, between, cluster, repeat, level)
    if availability.status not in (Status.AVAILABLE, Status.UNKNOWN):
        rows = [row | {"why": f"{row['why']}; {availability}"} for row in rows]
    return make_result(
        "overlap",
        rows,
        [metadata],
        availability,
        key_columns=(between, f"other_{between}"),
        level=level,
        between=between,
        by=cluster,
    )


def _compare_answers(
    flat_frame: pd.DataFrame, column: str, between: str, cluster: str, repeat: str, level: float
) -> list[Row]:
    """Compute the overlap of answers for each pair of members: two values of ``between``.

    Returns a row of the result per pair, as a dict by column.
    """
    encoded_answers, members, prompts = _encode_answers(
        flat_frame, column, between, cluster, repeat
    )
    if len(members) > MAX_BETWEEN:
        reason = f"{len(members)} different ones; {MAX_BETWEEN} are the most: choose some first"
        raise refusal(between, "overlap", reason)
    jaccard = np.full((len(prompts), len(members), len(members)), np.nan)
    answer_counts = np.zeros((len(prompts), len(members)))
    for prompt_position, (_, rows_of_prompt) in enumerate(encoded_answers.groupby(cluster)):
        jaccard[prompt_position], answer_counts[prompt_position] = _overlap_of_prompt(
            rows_of_prompt[repeat], rows_of_prompt[between], rows_of_prompt[column], len(members)
        )
    confidence = setting("level", level)
    comparisons = []
    rows = []

    def traced_by_prompt(name: str, values: Any, mask: Any, noun: str, pair: Any) -> Any:
        """Return the values of the prompts in ``mask``, linked to their rows for explanations."""
        prompt_positions = np.flatnonzero(mask)

        def origin_of(position: int) -> Any:
            prompt = prompts[prompt_positions[position]]
            is_used = flat_frame[between].astype(str).isin(pair) & flat_frame[column].notna()
            is_used &= flat_frame[cluster].eq(prompt).fillna(False)
            rows = np.flatnonzero(is_used.to_numpy(bool))
            return rows, f"{noun}, of {len(rows)} rows of {column}", {cluster: prompt}

        return traced_to_rows(name, values[prompt_positions], flat_frame, (column,), origin_of)

    for a, b in combinations(range(len(members)), 2):
        pair = members[a], members[b]
        overlaps = jaccard[:, a, b]
        own_overlaps = (jaccard[:, a, a] + jaccard[:, b, b]) / 2
        has_both = np.isfinite(overlaps)
        has_repeats = has_both & np.isfinite(own_overlaps)
        jaccard_indices = traced_by_prompt(
            "j", overlaps, has_both, "mean Jaccard index of pairs of answers", pair
        )
        overlap_mean = mean_over_prompts(jaccard_indices, confidence, "jaccard")
        repeat_indices = traced_by_prompt(
            "own", own_overlaps, has_repeats, "mean Jaccard index of repeats", pair
        )
        ceiling = mean_over_prompts(repeat_indices, confidence, "ceiling")
        differences = take(jaccard_indices, np.flatnonzero(has_repeats[has_both])) - repeat_indices
        name_traced(g=differences)
        gap = mean_over_prompts(differences, confidence, "gap")
        answers_of_both = traced_by_prompt(
            "answers", answer_counts[:, a] + answer_counts[:, b], has_both, "answers of both", pair
        )
        rows.append(
            {
                between: members[a],
                f"other_{between}": members[b],
                "jaccard": overlap_mean.change,
                "jaccard_low": np.maximum(overlap_mean.low, 0.0),
                "jaccard_high": np.minimum(overlap_mean.high, 1.0),
                "ceiling": ceiling.change,
                "gap": gap.change,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "clusters": overlap_mean.clusters,
                "n": total_of(answers_of_both),
            }
        )
        k = gap.clusters
        reason = f"its {k:g} {cluster} all say the same, and are too few to estimate an error"
        if k < MIN_CLUSTERS:
            reason = f"{k:g} {cluster} have two answers of each {between}; it takes {MIN_CLUSTERS}"
        if not has_both.any():
            reason = f"no {cluster} has answers of both"
        text = f"{percent(gap.change + ceiling.change)} in common, where repeats of one have "
        text += percent(ceiling.change)
        comparisons.append(
            Comparison(
                change=gap,
                change_text=text,
                why="" if np.isfinite(gap.p) else reason,
                verdict_words=("more alike", "less alike"),
            )
        )
    method = f"mean over {cluster} of pairs of answers, Student's t, Holm's method"
    return [
        {**judgement, **row, "method": method}
        for row, judgement in zip(rows, judge(comparisons, level, noun="gap"), strict=True)
    ]


def mean_over_prompts(values: Any, level: Any, name: str) -> Change:
    """Return the mean over prompts as a `Change`, with its interval and p-value by Student's t.

    ``values`` has a number per prompt. ``name`` is the name of the mean in formulas.
    """
    sample = estimate_sample(values, values * 0 + 1, name)
    plain_values = plain_value(values)
    error = np.sqrt(sample.variance)
    cluster_count = sample.clusters
    if len(plain_values) < MIN_CLUSTERS or not varies(error, np.abs(plain_values).max()):
        return Change(sample.value, clusters=cluster_count)
    return change_by_student_t(
        sample.value, error, cluster_count - 1, level, clusters=cluster_count
    )


def _encode_answers(
    flat_frame: pd.DataFrame, column: str, between: str, cluster: str, repeat: str
) -> tuple[pd.DataFrame, list[str], list[Any]]:
    """Encode the columns of a frame of answers as integers.

    Returns the encoded frame, the names of the members (the values to compare, such as engines),
    and the prompts.
    """
    rows = flat_frame.loc[flat_frame[column].notna(), [cluster, between, repeat, column]]
    for name in (between, cluster, repeat):
        refuse_missing(name, rows[name].isna())
    encoded_answers = pd.DataFrame({name: pd.factorize(rows[name])[0] for name in rows.columns})
    encoded_answers[between], members = pd.factorize(rows[between].astype(str), sort=True)
    for name in (between, cluster):
        if (encoded_answers.groupby(repeat)[name].nunique() > 1).any():
            reason = f"one value of {repeat} has several of {name}: it names no single answer"
            raise AvailabilityError(f"{repeat} names no answer: {reason}", columns={repeat: reason})
    return encoded_answers.drop_duplicates([repeat, column]), [*members], [*rows[cluster].unique()]


def _overlap_of_prompt(
    answers: pd.Series, members: pd.Series, values: pd.Series, member_count: int
) -> tuple[Numbers, Integers]:
    """Return the mean Jaccard index of each pair of members, and each member's number of answers.

    ``answers``, ``members`` and ``values`` have an entry per row of one prompt: the code of its
    answer, of its member (e.g. an engine), and of its value (e.g. a domain).
    """
    _, first_rows, row_positions = np.unique(answers, return_index=True, return_inverse=True)
    distinct_values, column_positions = np.unique(values, return_inverse=True)
    has_value = np.zeros(
        (len(first_rows), len(distinct_values)), np.float32
    )  # holds whole numbers exactly
    has_value[row_positions, column_positions] = 1.0
    sampled_answers = []
    member_of_answer = members.to_numpy()[first_rows]
    for member_code in range(member_count):  # all answers, or so many of a member, evenly spaced
        answer_positions = np.flatnonzero(member_of_answer == member_code)
        spaced_positions = np.linspace(
            0, len(answer_positions) - 1, min(len(answer_positions), MAX_REPEATS)
        )
        sampled_answers += answer_positions[spaced_positions.round().astype(np.int64)].tolist()
    has_value = has_value[sampled_answers]
    member_of_answer = member_of_answer[sampled_answers]
    shared_counts = (has_value @ has_value.T).astype(np.float64)
    value_counts = has_value.sum(axis=1, dtype=np.float64)
    jaccard = shared_counts / (value_counts[:, None] + value_counts - shared_counts)
    np.fill_diagonal(jaccard, 0.0)  # an answer is no repeat of itself
    is_of_member = np.eye(member_count)[member_of_answer]
    answer_counts = is_of_member.sum(axis=0)
    pair_counts = np.outer(answer_counts, answer_counts) - np.diag(answer_counts)
    return np.where(
        pair_counts > 0, is_of_member.T @ jaccard @ is_of_member / pair_counts, np.nan
    ), answer_counts
