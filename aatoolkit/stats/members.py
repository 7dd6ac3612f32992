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

from aatoolkit._util.text import counted
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
    has_variation,
    judge_comparisons,
    wilson_interval,
)
from aatoolkit.stats.results import CANNOT_SAY, format_percent, make_result, refusal_error
from aatoolkit.stats.sums import (
    PROMPT_COLUMN,
    ClusterSums,
    Rules,
    cluster_sums,
    grouping_columns,
    refuse_missing_keys,
    row_clusters,
)
from aatoolkit.stats.trace import (
    FloatArray,
    IntArray,
    RowDict,
    as_float,
    column_values,
    count_of,
    name_traced_values,
    name_traced_variables,
    normal_quantile,
    record_statistic,
    t_quantiles,
    take,
    total_of,
    trace_copy,
    trace_random_number,
    trace_setting,
    trace_to_rows,
    two_sided,
    untrace,
)

BOOTSTRAP_DRAWS = 999  # the number of random samples in the multiplier bootstrap
MAX_MEMBERS = 500  # the maximum number of ranked members


@record_statistic("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Compute ranks and their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    flat_frame = flatten_index(frame)
    check_columns(flat_frame, [column, by])
    if cluster == PROMPT_COLUMN and cluster not in flat_frame.columns:
        reason = (
            f"a rank compares {by} over prompts, and this frame has no {PROMPT_COLUMN}: it takes "
            f"one row for each prompt and {by}, as project.read('prompts', split='engine') for "
            "engines or project.read('ranking')['ranking_prompts'] for brands; where other things "
            "repeat, cluster= names them"
        )
        raise ItemNotFound(f"{column} has no ranks: {reason}", columns={cluster: reason})
    sums = cluster_sums(frame, column, by, cluster, rules, allow_counts=True)
    member_labels = sums.groups.keys[by].reset_index(drop=True)
    if len(member_labels) > MAX_MEMBERS:
        reason = (
            f"{len(member_labels):,} members; {MAX_MEMBERS} are the most: choose them before "
            "looking"
        )
        raise refusal_error(column, "ranks", reason)
    influences = _cluster_influences(sums)
    if len(influences) < MIN_CLUSTERS:
        reason = f"only {len(influences)} of the {MIN_CLUSTERS} values of {cluster} that it takes"
        raise refusal_error(column, "ranks", reason)
    y, n = sums.y_and_n()
    group_sums = sums.group_sums
    size = group_sums.total(y if sums.is_count else n)
    denominators = group_sums.total(sums.n)
    square_sums = group_sums.total(sums.n**2)
    value = np.where(
        denominators > 0, size if sums.is_count else group_sums.total(y) / size, np.nan
    )
    name_traced_variables()
    plain_values = untrace(value)
    # Where one cluster has most answers, the variance of a rate cannot be estimated.
    is_ranked = np.isfinite(plain_values) & (sums.is_count | (denominators**2 >= 2 * square_sums))
    signed_values = -plain_values if sums.unit == RANK and not sums.is_count else plain_values
    sort_values = np.where(is_ranked, signed_values, -np.inf)
    scaled_differences, critical_p_value = _scaled_differences_and_critical_p(
        influences, np.where(is_ranked, signed_values, 0.0), is_ranked, level
    )
    rank_count = int(is_ranked.sum())

    def trace_ranks(name: str, ranks: FloatArray, method_text: str) -> Any:
        return trace_random_number(name, np.where(is_ranked, ranks, np.nan), method_text, value)

    significance_text = (
        "a difference whose p-value, by Student's t with its own degrees of freedom, is below "
        f"{critical_p_value:.3g}: that of the largest of all in {BOOTSTRAP_DRAWS} draws of normal "
        f"multipliers of {cluster} (seed 0)"
    )
    is_significant = scaled_differences > 1
    low = trace_ranks(
        "rank_low",
        1 + is_significant.sum(axis=0),
        f"1 + members that are better by {significance_text}",
    )
    high = trace_ranks(
        "rank_high",
        rank_count - is_significant.sum(axis=1),
        f"{rank_count} - those worse by {significance_text}",
    )
    sample_ranks = 1 + (sort_values > signed_values[:, None]).sum(axis=1)
    verdicts = []
    reason = f"it has no number, or one {cluster} has most of its answers"
    for best_rank, worst_rank in zip(untrace(low), untrace(high), strict=True):
        range_end = "" if best_rank == worst_rank else f" to {worst_rank:g}"
        rank_text = f"rank {best_rank:g}{range_end} of {rank_count}"
        verdicts.append(rank_text if np.isfinite(best_rank) else f"{CANNOT_SAY}: {reason}")
    cluster_count = count_of(take(n, np.unique(sums.cluster_ids, return_index=True)[1]))
    return make_result(
        "rank",
        {
            by: member_labels,
            "value": value,
            "rank": trace_ranks("rank", sample_ranks, "1 + members with a better value"),
            "rank_low": low,
            "rank_high": high,
            "n": size,
            "clusters": cluster_count,
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


def _cluster_influences(sums: ClusterSums) -> FloatArray:
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


def _scaled_differences_and_critical_p(
    influences: FloatArray, member_values: FloatArray, is_ranked: Any, confidence_level: float
) -> tuple[FloatArray, float]:
    """Return the matrix of differences between members, each divided by its critical value.

    A scaled difference above 1 is significant. ``influences`` has a row per cluster, such as a
    prompt, and a column per member, such as a brand. The second result is the critical p-value.
    """
    # The critical p-value allows for all pairs: it is that of the largest standardised difference
    # in a multiplier bootstrap over clusters. Each difference is tested by Student's t with the
    # degrees of freedom of its own variance (Satterthwaite), which a few clusters may dominate.
    # With k-1 degrees of freedom for all (k clusters), the confidence sets of ten tied members over
    # 8 to 20 prompts would have a coverage of only 84 to 88 %.
    cluster_count, member_count = influences.shape
    draws = np.random.default_rng(0).standard_normal((BOOTSTRAP_DRAWS, cluster_count)) @ influences
    # The sums over clusters of the second and fourth powers of all pairs' differences.
    squared_influences = influences**2
    cube_cross_products = (influences**3).T @ influences
    square_sums = squared_influences.sum(axis=0)
    fourth_power_sums = (squared_influences**2).sum(axis=0)
    squared_distances = square_sums[:, None] + square_sums - 2 * (influences.T @ influences)
    fourth_powers = (
        fourth_power_sums[:, None]
        + fourth_power_sums
        - 4 * (cube_cross_products + cube_cross_products.T)
        + 6 * (squared_influences.T @ squared_influences)
    )
    standard_errors = np.sqrt(
        np.maximum(squared_distances, 0) * cluster_count / (cluster_count - 1)
    )
    min_standard_error = 1e-12 * max(float(standard_errors.max(initial=0.0)), 1e-300)
    is_tested_pair = (standard_errors > min_standard_error) & is_ranked[:, None] & is_ranked
    finite_errors = np.where(is_tested_pair, standard_errors, np.inf)
    largest_differences = np.zeros(BOOTSTRAP_DRAWS)
    for member in range(member_count):
        largest_differences = np.maximum(
            largest_differences,
            (np.abs(draws[:, [member]] - draws) / finite_errors[member]).max(axis=1),
        )
    critical_p_value = two_sided(
        float(np.quantile(largest_differences, confidence_level)), math.inf
    )
    df = np.where(
        is_tested_pair & (fourth_powers > 0),
        squared_distances**2 / fourth_powers,
        cluster_count - 1,
    )
    critical_values = t_quantiles(
        1 - critical_p_value / 2, np.clip(df, 1, cluster_count - 1).ravel()
    ).reshape(df.shape)
    return (
        member_values[:, None] - member_values
    ) / finite_errors / critical_values, critical_p_value


# --- concentration ----------------------------------------------------------------------------

MIN_COUNT = 20
_MAX_COUNT = 2**53
"""The smallest and the largest total whose concentration is estimated."""

_DRAW_COUNT = 499
_MAX_HALF_SPLITS = 49
_MAX_CELLS = 500_000
"""The number of bootstrap samples; the maximum numbers of random halves and of their cells."""


@record_statistic("concentration", "frame")
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
    flat_frame = trace_copy(flatten_index(frame), frame)
    metadata = metadata_of(flat_frame)
    groups = group_rows(flat_frame, by_columns, True)
    is_undeclared = not (metadata.has_valid_metadata(column) or metadata.has_lost_values(column))
    (count_plan,) = plan_columns(
        flat_frame, metadata, groups, column, {column: SUM} if is_undeclared else {}
    )
    if count_plan.rule.rule != "sum":
        raise refusal_error(
            column, "concentration", f"its rule ({count_plan.rule}) is no sum of counts"
        )
    cell_statuses = cells_of_plan(count_plan, flat_frame, metadata, groups)
    count_of_row = as_floats(flat_frame[column])
    is_counted = cell_statuses.has_number & (count_of_row > 0)
    if (count_of_row[is_counted] % 1 != 0).any():
        reason = "it holds fractions; name the count behind it"
        raise refusal_error(column, "concentration", reason)
    availability_code_by_group, distinct_availabilities = groups.combine_availability(cell_statuses)
    result_rows = []
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
        result_row = {"n": n, "members": members}
        if MIN_COUNT <= n <= _MAX_COUNT:
            result_row |= _concentration_of(counts, n, top, level)
            effective, low, high = (
                result_row[f"effective{suffix}"] for suffix in _INTERVAL_SUFFIXES
            )
            interval_text = f"{low:.1f} or more" if np.isinf(high) else f"{low:.1f} to {high:.1f}"
            result_row["verdict"] = (
                f"as concentrated as {effective:.1f} equal ones ({interval_text})"
            )
        else:
            availability = distinct_availabilities[availability_code]
            note = f" ({availability})" if availability.status != Status.AVAILABLE else ""
            result_row["verdict"] = (
                f"{CANNOT_SAY}: {n:g} in all, and it takes at least {MIN_COUNT}{note}"
            )
        result_rows.append(result_row)
    index_column_names = [
        f"{name}{suffix}"
        for name in ("hhi", "effective", "top_share")
        for suffix in _INTERVAL_SUFFIXES
    ]
    return make_result(
        "concentration",
        {
            **groups.keys.reset_index(drop=True),
            **{
                name: [result_row.get(name, NAN) for result_row in result_rows]
                for name in (*index_column_names, "n", "members", "verdict")
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


def _concentration_of(
    traced_counts: Any, n: Any, top_count: int, confidence_level: float
) -> RowDict:
    """Return the concentration indices of counts, with intervals, as a dict by result column.

    ``traced_counts`` has the count of each member, ``n`` is their sum. ``top_count`` is the number
    of largest members whose share is computed.
    """
    counts = untrace(traced_counts)
    total = int(as_float(n))
    largest = take(traced_counts, np.argsort(counts, kind="stable")[-top_count:])
    hhi = (total_of(traced_counts**2) - n) / (n * (n - 1))
    top_share = total_of(largest) / n
    name_traced_variables()
    rng = np.random.default_rng(0)
    member_shares = counts / total
    resampled_counts = (
        np.sort(rng.multinomial(total, member_shares)).astype(np.float64)
        for _ in range(_DRAW_COUNT)
    )
    resampled_sums = np.array(
        [
            ((sampled_counts**2).sum(), sampled_counts[-top_count:].sum())
            for sampled_counts in resampled_counts
        ]
    )
    resampled_indices = (resampled_sums - [total, 0]) / [total * (total - 1), total]
    tail_levels = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    bootstrap_deviations = np.quantile(
        resampled_indices - resampled_indices.mean(axis=0), tail_levels, axis=0
    )
    deviation_description = (
        f"the quantile of {_DRAW_COUNT} multinomial samples of {total:,} (seed 0), less their mean"
    )
    lowest_deviation = _top_share_lower_bound(counts, top_count, rng, confidence_level) - as_float(
        top_share
    )
    bootstrap_deviations[0, 1] = min(lowest_deviation, bootstrap_deviations[0, 1])
    result_row = {"hhi": hhi, "top_share": top_share}
    for index_position, (name, index_value) in enumerate([*result_row.items()]):
        for suffix, deviation in zip(
            _INTERVAL_SUFFIXES[1:], bootstrap_deviations[:, index_position].tolist(), strict=True
        ):
            unclipped_bound = index_value + trace_random_number(
                "shift", deviation, deviation_description
            )
            result_row[f"{name}{suffix}"] = np.maximum(
                np.minimum(unclipped_bound, trace_setting("most", 1.0)), 0.0
            )
    name_traced_values(**result_row)
    # The effective number is 1 over the index, and its bounds are 1 over those of the index.
    suffixes_and_defaults = zip(
        _INTERVAL_SUFFIXES, ("", "_high", "_low"), (NAN, NAN, math.inf), strict=True
    )
    for suffix, hhi_suffix, default_bound in suffixes_and_defaults:
        hhi_bound = result_row[f"hhi{hhi_suffix}"]
        result_row[f"effective{suffix}"] = 1 / hhi_bound if hhi_bound > 0 else default_bound
    return result_row


def _top_share_lower_bound(
    member_counts: FloatArray, top_count: int, rng: np.random.Generator, confidence_level: float
) -> float:
    """Return the lower bound of the share of the ``top_count`` largest members in the total."""
    # In a sample the largest members are partly the largest by chance. So they are found in a
    # random half of the sample, and their share is taken in the other half. This is repeated for
    # many halves.
    split_count = min(max(_MAX_CELLS // (8 * len(member_counts)), 20), _MAX_HALF_SPLITS)
    first_half_counts = rng.binomial(
        member_counts.astype(np.int64), 0.5, (split_count, len(member_counts))
    )
    second_half_counts = member_counts - first_half_counts
    leading_positions = np.argsort(-first_half_counts, axis=1, kind="stable")[:, :top_count]
    mean_share = np.nanmean(
        np.take_along_axis(second_half_counts, leading_positions, 1).sum(1)
        / second_half_counts.sum(1)
    )
    return float(
        wilson_interval(
            mean_share, member_counts.sum(), normal_quantile((1 + confidence_level) / 2)
        )[0]
    )


# --- overlap ----------------------------------------------------------------------------------

MAX_REPEATS = 20
"""The maximum number of answers of one engine to one prompt that are compared."""

MAX_COMPARED = 40  # the maximum number of members, such as engines, to compare with each other


@record_statistic("overlap", "frame")
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
    clusters_by_column = {name: row_clusters(flat_frame, name, name) for name in (cluster, repeat)}
    flat_frame = trace_copy(flat_frame.assign(**clusters_by_column), frame)
    result_rows = _compare_answers(flat_frame, column, between, cluster, repeat, level)
    if availability.status not in (Status.AVAILABLE, Status.UNKNOWN):
        result_rows = [
            result_row | {"why": f"{result_row['why']}; {availability}"}
            for result_row in result_rows
        ]
    return make_result(
        "overlap",
        result_rows,
        [metadata],
        availability,
        key_columns=(between, f"other_{between}"),
        level=level,
        between=between,
        by=cluster,
    )


def _compare_answers(
    flat_frame: pd.DataFrame,
    column: str,
    member_column: str,
    cluster: str,
    id_column: str,
    confidence_level: float,
) -> list[RowDict]:
    """Compute the overlap of answers for each pair of members: two values of ``member_column``.

    Returns a row of the result per pair, as a dict by column.
    """
    answer_codes, members, prompts = _encode_answers(
        flat_frame, column, member_column, cluster, id_column
    )
    if len(members) > MAX_COMPARED:
        untested_reason = (
            f"{len(members)} different ones; {MAX_COMPARED} are the most: choose some first"
        )
        raise refusal_error(member_column, "overlap", untested_reason)
    jaccard_by_prompt = np.full((len(prompts), len(members), len(members)), np.nan)
    answer_counts = np.zeros((len(prompts), len(members)))
    for prompt_position, (_, prompt_rows) in enumerate(answer_codes.groupby(cluster)):
        jaccard_by_prompt[prompt_position], answer_counts[prompt_position] = _overlap_of_prompt(
            prompt_rows[id_column], prompt_rows[member_column], prompt_rows[column], len(members)
        )
    traced_level = trace_setting("level", confidence_level)
    comparisons = []
    result_rows = []

    def trace_by_prompt(
        name: str, prompt_values: Any, prompt_mask: Any, value_description: str, member_pair: Any
    ) -> Any:
        """Return the values of the prompts in ``prompt_mask``, for explanations linked to rows."""
        prompt_positions = np.flatnonzero(prompt_mask)

        def find_source_rows(position: int) -> Any:
            prompt = prompts[prompt_positions[position]]
            is_used = (
                flat_frame[member_column].astype(str).isin(member_pair) & flat_frame[column].notna()
            )
            is_used &= flat_frame[cluster].eq(prompt).fillna(False)
            row_positions = np.flatnonzero(is_used.to_numpy(bool))
            return (
                row_positions,
                f"{value_description}, of {counted(len(row_positions), 'row')} of {column}",
                {cluster: prompt},
            )

        return trace_to_rows(
            name, prompt_values[prompt_positions], flat_frame, (column,), find_source_rows
        )

    for first_index, second_index in combinations(range(len(members)), 2):
        member_pair = members[first_index], members[second_index]
        pair_overlaps = jaccard_by_prompt[:, first_index, second_index]
        repeat_overlaps = (
            jaccard_by_prompt[:, first_index, first_index]
            + jaccard_by_prompt[:, second_index, second_index]
        ) / 2
        has_pair = np.isfinite(pair_overlaps)
        has_repeats = has_pair & np.isfinite(repeat_overlaps)
        jaccard_indices = trace_by_prompt(
            "j", pair_overlaps, has_pair, "mean Jaccard index of pairs of answers", member_pair
        )
        overlap_mean = estimate_prompt_mean(jaccard_indices, traced_level, "jaccard")
        repeat_indices = trace_by_prompt(
            "own", repeat_overlaps, has_repeats, "mean Jaccard index of repeats", member_pair
        )
        repeat_mean = estimate_prompt_mean(repeat_indices, traced_level, "ceiling")
        differences = take(jaccard_indices, np.flatnonzero(has_repeats[has_pair])) - repeat_indices
        name_traced_values(g=differences)
        gap_mean = estimate_prompt_mean(differences, traced_level, "gap")
        answers_of_pair = trace_by_prompt(
            "answers",
            answer_counts[:, first_index] + answer_counts[:, second_index],
            has_pair,
            "answers of both",
            member_pair,
        )
        result_rows.append(
            {
                member_column: members[first_index],
                f"other_{member_column}": members[second_index],
                "jaccard": overlap_mean.value,
                "jaccard_low": np.maximum(overlap_mean.low, 0.0),
                "jaccard_high": np.minimum(overlap_mean.high, 1.0),
                "ceiling": repeat_mean.value,
                "gap": gap_mean.value,
                "gap_low": gap_mean.low,
                "gap_high": gap_mean.high,
                "clusters": overlap_mean.clusters,
                "n": total_of(answers_of_pair),
            }
        )
        gap_prompt_count = gap_mean.clusters
        untested_reason = (
            f"its {gap_prompt_count:g} {cluster} all say the same, and are too few to estimate an "
            "error"
        )
        if gap_prompt_count < MIN_CLUSTERS:
            untested_reason = (
                f"{gap_prompt_count:g} {cluster} have two answers of each {member_column}; it "
                f"takes {MIN_CLUSTERS}"
            )
        if not has_pair.any():
            untested_reason = f"no {cluster} has answers of both"
        overlap_text = f"{format_percent(gap_mean.value + repeat_mean.value)} in common, where "
        overlap_text += f"repeats of one have {format_percent(repeat_mean.value)}"
        comparisons.append(
            Comparison(
                change=gap_mean,
                change_text=overlap_text,
                untested_reason="" if np.isfinite(gap_mean.p) else untested_reason,
                verdict_words=("more alike", "less alike"),
            )
        )
    method = f"mean over {cluster} of pairs of answers, Student's t, Holm's method"
    return [
        {**judgement, **result_row, "method": method}
        for result_row, judgement in zip(
            result_rows,
            judge_comparisons(comparisons, confidence_level, change_noun="gap"),
            strict=True,
        )
    ]


def estimate_prompt_mean(prompt_values: Any, confidence_level: Any, mean_name: str) -> Change:
    """Return the mean of one number per prompt, with its interval and p-value by Student's t.

    The p-value tests whether the mean is 0. The result is a `Change`, as this class has the fields
    of an estimate with an interval and a test; its ``value`` is the mean. ``mean_name`` is the name
    of the mean in formulas.
    """
    sample = estimate_sample(prompt_values, prompt_values * 0 + 1, mean_name)
    plain_values = untrace(prompt_values)
    standard_error = np.sqrt(sample.variance)
    cluster_count = sample.clusters
    if len(plain_values) < MIN_CLUSTERS or not has_variation(
        standard_error, np.abs(plain_values).max()
    ):
        return Change(sample.value, clusters=cluster_count)
    return change_by_student_t(
        sample.value, standard_error, cluster_count - 1, confidence_level, clusters=cluster_count
    )


def _encode_answers(
    flat_frame: pd.DataFrame, column: str, member_column: str, cluster: str, id_column: str
) -> tuple[pd.DataFrame, list[str], list[Any]]:
    """Encode the columns of a frame of answers as integers.

    Returns the encoded frame, the names of the members (the values to compare, such as engines),
    and the prompts.
    """
    rows_with_value = flat_frame.loc[
        flat_frame[column].notna(), [cluster, member_column, id_column, column]
    ]
    for name in (member_column, cluster, id_column):
        refuse_missing_keys(name, rows_with_value[name].isna())
    answer_codes = pd.DataFrame(
        {name: pd.factorize(rows_with_value[name])[0] for name in rows_with_value.columns}
    )
    answer_codes[member_column], member_names = pd.factorize(
        rows_with_value[member_column].astype(str), sort=True
    )
    for name in (member_column, cluster):
        if (answer_codes.groupby(id_column)[name].nunique() > 1).any():
            reason = f"one value of {id_column} has several of {name}: it names no single answer"
            raise AvailabilityError(
                f"{id_column} names no answer: {reason}", columns={id_column: reason}
            )
    return (
        answer_codes.drop_duplicates([id_column, column]),
        [*member_names],
        [*rows_with_value[cluster].unique()],
    )


def _overlap_of_prompt(
    answer_codes: pd.Series, member_codes: pd.Series, value_codes: pd.Series, member_count: int
) -> tuple[FloatArray, IntArray]:
    """Return the mean Jaccard index of each pair of members, and each member's number of answers.

    ``answer_codes``, ``member_codes`` and ``value_codes`` have an entry per row of one prompt: the
    code of its answer, of its member (e.g. an engine), and of its value (e.g. a domain).
    """
    _, first_row_positions, row_positions = np.unique(
        answer_codes, return_index=True, return_inverse=True
    )
    distinct_values, column_positions = np.unique(value_codes, return_inverse=True)
    has_value = np.zeros(
        (len(first_row_positions), len(distinct_values)), np.float32
    )  # holds whole numbers exactly
    has_value[row_positions, column_positions] = 1.0
    sampled_answer_positions = []
    member_of_answer = member_codes.to_numpy()[first_row_positions]
    for member_code in range(member_count):  # all answers, or so many of a member, evenly spaced
        answer_positions = np.flatnonzero(member_of_answer == member_code)
        evenly_spaced_positions = np.linspace(
            0, len(answer_positions) - 1, min(len(answer_positions), MAX_REPEATS)
        )
        sampled_answer_positions += answer_positions[
            evenly_spaced_positions.round().astype(np.int64)
        ].tolist()
    has_value = has_value[sampled_answer_positions]
    member_of_answer = member_of_answer[sampled_answer_positions]
    shared_counts = (has_value @ has_value.T).astype(np.float64)
    listed_value_counts = has_value.sum(axis=1, dtype=np.float64)
    jaccard_indices = shared_counts / (
        listed_value_counts[:, None] + listed_value_counts - shared_counts
    )
    np.fill_diagonal(jaccard_indices, 0.0)  # an answer is no repeat of itself
    is_of_member = np.eye(member_count)[member_of_answer]
    answer_counts = is_of_member.sum(axis=0)
    pair_counts = np.outer(answer_counts, answer_counts) - np.diag(answer_counts)
    return np.where(
        pair_counts > 0, is_of_member.T @ jaccard_indices @ is_of_member / pair_counts, np.nan
    ), answer_counts
