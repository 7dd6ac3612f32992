"""Confidence intervals for frames and plots, agreement of repeated answers, and sample sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit.availability import combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.aggregation_plan import names_by_declared_name
from aatoolkit.frame.cell_status import combine_cells, statuses_of
from aatoolkit.frame.groupby import By, as_floats, check_columns, flatten_index
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.sections.aggregation import PER_UNIT, Aggregation
from aatoolkit.stats.estimate import MIN_CLUSTERS, NAN, check_level, estimate, wilson_interval
from aatoolkit.stats.results import (
    CANNOT_SAY,
    equal_text_mask,
    format_amount,
    format_percent,
    make_result,
    refusal_error,
)
from aatoolkit.stats.sums import (
    PROMPT_COLUMN,
    Rules,
    cluster_sums,
    host_columns,
    no_counts_text,
    row_clusters,
    rule_and_columns,
)
from aatoolkit.stats.trace import (
    FloatArray,
    GroupSums,
    IntArray,
    SingleGroup,
    column_values,
    confidence_quantile,
    count_of,
    name_traced_variables,
    record_statistic,
    t_quantile,
    take,
    total_of,
    trace_random_number,
    trace_setting,
    untrace,
    untrace_columns,
)

PANEL_KINDS = ("sampled", "fixed")  # the clusters are a sample of a larger set, or the whole set


@record_statistic("interval", "frame")
def interval(
    frame: pd.DataFrame,
    column: str,
    level: float = LEVEL,
    *,
    by: By = None,
    cluster: str | None = None,
    panel: str | None = None,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Compute confidence intervals of a rate or mean; see ``df.aa.interval``."""
    check_level(level)
    if cluster is None:
        if by is not None or panel is not None:
            raise ArgumentError("by= and panel= need cluster=, such as cluster='prompt_id'")
        return _row_intervals(frame, column, level, rules or {})
    panel = panel or "sampled"
    if panel not in PANEL_KINDS:
        raise ArgumentError(f"panel={panel!r} is none of {', '.join(PANEL_KINDS)}")
    sums = cluster_sums(frame, column, by, cluster, rules)
    y, n = sums.y_and_n()
    is_rate = sums.is_rate
    if panel == "fixed" and not is_rate:
        raise refusal_error(column, "interval of fixed values", "it is no rate; leave panel= out")
    traced_level = trace_setting("level", level)
    estimates = estimate(sums.group_sums, y, n, traced_level, panel, is_rate)
    lows, highs, cluster_counts = map(
        untrace, (estimates.low, estimates.high, estimates.cluster_count)
    )
    reasons = []
    verdicts = []
    for group_position, (low, high, cluster_count) in enumerate(
        zip(lows, highs, cluster_counts, strict=True)
    ):
        reason = ""
        if not sums.used_row_counts[group_position]:
            reason = str(sums.availabilities[group_position])
        elif panel == "sampled" and cluster_count < MIN_CLUSTERS:
            reason = (
                f"there are only {cluster_count:g} of the {MIN_CLUSTERS} different values of "
                f"{cluster} that it takes to say how much such values differ; panel='fixed' is "
                "about these alone, and "
                "without cluster the interval takes every answer for independent"
            )
        elif not np.isfinite(low):
            reason = (
                f"{cluster_count:g} values of {cluster} that do not differ, are too large, or of "
                "which one has most answers, cannot say how much such values differ"
            )
            if panel == "fixed":
                reason = (
                    f"one number for each value of {cluster} cannot say how much answers differ"
                )
        reasons.append(reason)
        verdicts.append(
            f"{CANNOT_SAY}: {reason}"
            if reason
            else f"{100 * level:g} % interval: {format_amount(low, is_rate)} to "
            f"{format_amount(high, is_rate)}"
        )
    if all(reasons) and sums.used_row_counts.any():
        raise refusal_error(column, "interval", reasons[int(sums.used_row_counts.argmax())])
    interval_method = "Wilson interval" if is_rate else "t interval"
    population_text = f"for these values of {cluster} (strata)"
    if panel == "sampled":
        interval_method += " on the effective sample size" if is_rate else ""
        population_text = f"clustered by {cluster}"
    group_keys = sums.groups.keys.reset_index(drop=True)
    return make_result(
        "interval",
        {
            **group_keys,
            column: estimates.value,
            f"{column}_low": estimates.low,
            f"{column}_high": estimates.high,
            f"{column}_deff": estimates.deff,
            f"{column}_clusters": estimates.cluster_count,
            f"{column}_n": estimates.sample_size,
            f"{column}_method": f"{interval_method}, {level:.0%}, {population_text}",
            f"{column}_verdict": verdicts,
        },
        [sums.metadata],
        combine(sums.availabilities),
        key_columns=[*map(str, group_keys.columns)],
        unit=sums.unit,
        level=level,
        x=column,
        cluster=cluster,
        doc=sums.column.doc or f"{column}.",
    )


def _row_intervals(
    frame: pd.DataFrame, column: str, confidence_level: float, rules: Rules
) -> pd.DataFrame:
    """Return Wilson's score interval of a rate in each row, as a frame of lower and upper ends."""
    check_columns(frame, [column])
    metadata = metadata_of(frame)
    rule, count_column_names = rule_and_columns(metadata, column)
    user_rule = rules.get(column)
    if isinstance(user_rule, Aggregation):
        rule = user_rule
        count_column_names = user_rule.over or ("",)
    if not all(count_column_names):
        declared_count_names = rule.over or rule.counts or ()
        missing_text = ", ".join(name for name in declared_count_names if name not in frame.columns)
        needed_text = missing_text or ", ".join(declared_count_names)
        column_names = [column, *declared_count_names]
        reason = f"it needs {needed_text} as read, or aggregated by columns={column_names}"
        reason = (reason if declared_count_names else rule.why) or no_counts_text(rule)
        raise refusal_error(column, "interval", reason)
    cell_statuses = combine_cells(
        *(statuses_of(frame, count_column, metadata) for count_column in count_column_names)
    )
    hits, trials = (
        column_values(name, frame, count_column, np.arange(len(frame)))
        for name, count_column in zip(("hits", "trials"), count_column_names, strict=True)
    )
    numerators = untrace(hits)
    denominators = untrace(trials)
    has_counts = cell_statuses.has_number & (denominators > 0)
    if metadata.declaration_of(column).unit == PER_UNIT:  # of rows that are fractions
        unit_column_names = names_by_declared_name(metadata, metadata.columns[column].table).get(
            "unit"
        )
        if not unit_column_names:
            raise refusal_error(column, "interval", "it needs the unit of each row")
        has_counts &= equal_text_mask(frame[unit_column_names[0]], "fraction")
    is_valid = has_counts & (numerators >= 0) & (numerators <= denominators)
    if has_counts.any() and not is_valid.any():
        raise refusal_error(column, "interval", "its numerator is no part of its denominator")
    rate = hits / trials
    q = confidence_quantile(confidence_level)
    name_traced_variables()
    low, high = (np.where(is_valid, bound, np.nan) for bound in wilson_interval(rate, trials, q))
    interval_columns = untrace_columns({f"{column}_low": low, f"{column}_high": high})
    array_by_column = {
        name: pd.array(bound_values, dtype="Float64")
        for name, bound_values in interval_columns.items()
    }
    return pd.DataFrame(array_by_column, index=frame.index)


# --- beside the numbers of pictures and tables ------------------------------------------------

OVER_PROMPTS_METHOD = (
    f"{LEVEL:.0%} interval for prompts like these, Wilson's with their design effect; none with "
    f"fewer than {MIN_CLUSTERS} prompts"
)
ONE_PROMPT_METHOD = (
    f"Wilson's {LEVEL:.0%} interval, which takes the answers to one prompt for independent"
)
COUNTS_METHOD = f"Wilson's {LEVEL:.0%} interval, which takes what is counted for independent"
ANSWERS_METHOD = f"Wilson's {LEVEL:.0%} interval, which takes answers for independent"
TABLE_METHOD = "the interval of the rate, as the table has it"


@dataclass(frozen=True)
class Bounds:
    """The confidence interval of each row: arrays of both ends, and the method in words.

    ``result`` is the result of `interval` that the ends come from, if there is one.
    """

    low: FloatArray
    high: FloatArray
    method: str = ""
    result: pd.DataFrame | None = None


def confidence_bounds(
    frame: pd.DataFrame,
    column: str,
    prompt_rows: pd.DataFrame | None = None,
    by: Sequence[str] = (),
) -> Bounds:
    """Return the confidence interval of each row of a frame, for error bars.

    ``prompt_rows`` is an optional frame with a row per prompt, whose sums by group are the rows of
    ``frame``. With it, the intervals account for the correlation of answers to one prompt. ``by``
    are the columns of both frames that tell the groups apart. The result is a `Bounds`: the arrays
    ``low`` and ``high``, and the ``method`` as text.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> engines = aa.demo().read("overview")["overview_engines"]
    >>> confidence_bounds(engines, "mention_rate").method
    "Wilson's 95% interval, which takes answers for independent"
    """
    bound_column_names = [f"{column}_low", f"{column}_high"]
    if all(name in frame.columns for name in bound_column_names):
        method_column = frame.get(f"{column}_method")
        method = (
            str(method_column.iloc[0]) if method_column is not None and len(frame) else TABLE_METHOD
        )
        return Bounds(*_read_bounds(frame, column), method)
    key_columns = list(dict.fromkeys(by))
    try:
        if (
            prompt_rows is not None
            and PROMPT_COLUMN in prompt_rows.columns
            and PROMPT_COLUMN not in key_columns
        ):
            prompt_bounds = _prompt_bounds(frame, column, prompt_rows, key_columns)
            if prompt_bounds is not None:
                return prompt_bounds
        interval_frame = interval(frame, column)
    except AvailabilityError:
        nan_bounds = np.full(len(frame), np.nan)
        return Bounds(nan_bounds, nan_bounds)
    metadata = metadata_of(frame)
    if PROMPT_COLUMN in metadata.key:
        method = ONE_PROMPT_METHOD
    else:
        is_answer_rate = rule_and_columns(metadata, column)[1][-1].endswith("answer_count")
        method = ANSWERS_METHOD if is_answer_rate else COUNTS_METHOD
    return Bounds(*_read_bounds(interval_frame, column), method, interval_frame)


def _prompt_bounds(
    frame: pd.DataFrame, column: str, prompt_rows: pd.DataFrame, by: list[str]
) -> Bounds | None:
    """Return confidence intervals that account for the correlation of answers to one prompt.

    The result is None if the counts in ``prompt_rows`` do not add up to the counts in ``frame``.
    """
    interval_frame = interval(prompt_rows, column, by=by or None, cluster=PROMPT_COLUMN)
    merged_frame = frame[by].merge(interval_frame, how="left" if by else "cross", on=by or None)
    pooled_values = as_floats(merged_frame[column])
    frame_values = as_floats(frame[column])
    is_pooled_equal = np.isclose(pooled_values, frame_values, rtol=1e-6, atol=1e-12)
    if (np.isfinite(frame_values) & ~is_pooled_equal).any():  # one picture has one kind of interval
        return None
    low, high = (
        np.where(is_pooled_equal, bound, np.nan) for bound in _read_bounds(merged_frame, column)
    )
    return Bounds(low, high, OVER_PROMPTS_METHOD, interval_frame)


def _read_bounds(frame: pd.DataFrame, column: str) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper ends of a column's intervals as two arrays.

    The ends are in the columns beside it whose names end in ``_low`` and ``_high``.
    """
    return as_floats(frame[f"{column}_low"]), as_floats(frame[f"{column}_high"])


# --- agreement --------------------------------------------------------------------------------


@record_statistic("stability", "frame")
def stability(
    frame: pd.DataFrame, column: str, by: Sequence[str] | str, level: float
) -> pd.DataFrame:
    """Return the agreement between repeated answers as a frame; see ``df.aa.stability``."""
    check_level(level)
    by_columns = [by] if isinstance(by, str) else list(by)
    by_columns += host_columns(flatten_index(frame)) * (PROMPT_COLUMN in by_columns)
    sums = cluster_sums(frame, column, by_columns, None)
    if not sums.is_rate:
        raise refusal_error(column, "agreement", "it is no column of true and false, and no rate")
    y, n = map(sums.group_sums.total, sums.y_and_n())
    repeated_group_positions = np.flatnonzero(untrace(n) >= 2)
    y = take(y, repeated_group_positions)
    n = take(n, repeated_group_positions)
    repeated_group_keys = sums.groups.keys.iloc[repeated_group_positions]
    cluster_of_group, cluster_labels = pd.factorize(
        row_clusters(repeated_group_keys, by_columns[0])
    )
    sums_by_cluster = GroupSums(
        cluster_of_group,
        len(cluster_labels),
        lambda cluster_index: {by_columns[0]: cluster_labels[cluster_index]},
    )
    pairs = (y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))
    agree = sums_by_cluster.total(pairs)
    combinations = sums_by_cluster.count(pairs)
    name_traced_variables()
    traced_level = trace_setting("level", level)
    agreement = estimate(SingleGroup, agree, combinations, traced_level, "sampled", is_rate=True)
    icc = _intra_class_correlation(y, n)
    icc = icc if len(repeated_group_positions) > 1 and np.isfinite(icc) else NAN
    verdict = (
        f"two answers agree in {format_percent(agreement.value)} of pairs "
        f"({format_percent(agreement.low)} to {format_percent(agreement.high)})"
    )
    icc_bounds = [NAN] * 2
    if not len(repeated_group_positions):
        verdict = f"{CANNOT_SAY}: no combination was asked twice"
    elif len(cluster_labels) < MIN_CLUSTERS:
        verdict = (
            f"{CANNOT_SAY}: {len(cluster_labels)} {by_columns[0]} were asked again; an interval "
            f"takes {MIN_CLUSTERS}"
        )
    else:
        icc_bounds = _correlation_interval(untrace(y), untrace(n), cluster_of_group, level)
    icc_low, icc_high = (
        trace_random_number(
            f"icc_{end_name}", bound, f"the {end_name} end by jackknife, on Fisher's scale", y, n
        )
        for end_name, bound in zip(("low", "high"), icc_bounds, strict=True)
    )
    return make_result(
        "stability",
        [
            {
                "agreement": agreement.value,
                "agreement_low": agreement.low,
                "agreement_high": agreement.high,
                "icc": icc,
                "icc_low": icc_low,
                "icc_high": icc_high,
                "n": total_of(n),
                "cells": count_of(n),
                "clusters": agreement.cluster_count,
                "verdict": verdict,
                "method": f"pairs of repeats within {' × '.join(by_columns)}, clustered by "
                f"{by_columns[0]}; of the correlation the jackknife on Fisher's scale",
            }
        ],
        [sums.metadata],
        sums.metadata.columns[column].availability
        if len(sums.availabilities) != 1
        else sums.availabilities[0],
        level=level,
        by=by_columns[0],
    )


def _intra_class_correlation(y: Any, n: Any) -> Any:
    """Return the intra-class correlation of repeated answers, e.g. to one prompt by one engine.

    ``y`` has the numerator (e.g. mentions) of each combination of prompt and engine, ``n`` the
    number of answers.
    """
    # The estimator is by analysis of variance (Ridout, Demétrio & Firth, *Biometrics* 55, 1999).
    k = count_of(n)
    size = total_of(n)
    mean = total_of(y) / size
    between = (total_of(n * (y / n) ** 2) - size * mean**2) / (k - 1)
    within = total_of(n * (y / n) * (1 - y / n)) / (size - k)
    common = (size - total_of(n**2) / size) / (k - 1)
    name_traced_variables()
    return (between - within) / (between + (common - 1) * within)


def _correlation_interval(
    y: FloatArray, n: FloatArray, cluster_of_combination: IntArray, confidence_level: float
) -> list[float]:
    """Return both ends of the jackknife interval of the intra-class correlation.

    ``y`` has the numerator (e.g. mentions) of each combination of prompt and engine, ``n`` the
    number of answers, ``cluster_of_combination`` the index of its prompt.
    """
    # The jackknife leaves out each cluster in turn. It works on the scale of
    # ½·log((1+(m-1)ρ)/(1-ρ)), for the correlation ρ and m answers to a combination (Fisher 1925,
    # §38), with Student's t: on this scale the standard error does not depend on ρ. A bootstrap
    # over clusters would be too narrow.
    combination_size = max(float((n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)), 1.5)
    masks_without_cluster = (
        cluster_of_combination != cluster for cluster in range(cluster_of_combination.max() + 1)
    )
    iccs = np.array(
        [
            _intra_class_correlation(y, n),
            *(_intra_class_correlation(y[mask], n[mask]) for mask in masks_without_cluster),
        ]
    )
    scaled_icc, *scaled_jackknife_iccs = 0.5 * np.log(
        (1 + (combination_size - 1) * iccs) / (1 - iccs)
    )
    scaled_estimates = np.array(scaled_jackknife_iccs)[np.isfinite(scaled_jackknife_iccs)]
    estimate_count = len(scaled_estimates)
    if estimate_count < MIN_CLUSTERS or not np.isfinite(scaled_icc):
        return [NAN] * 2
    standard_error = math.sqrt(
        (estimate_count - 1)
        / estimate_count
        * float(((scaled_estimates - scaled_estimates.mean()) ** 2).sum())
    )
    half_width = t_quantile((1 + confidence_level) / 2, estimate_count - 1) * standard_error
    variance_ratios = [math.exp(min(2 * (scaled_icc + sign * half_width), 700)) for sign in (-1, 1)]
    return [(ratio - 1) / (ratio + combination_size - 1) for ratio in variance_ratios]


def samples(
    rate: float,
    margin: float | None = None,
    icc: float = 0.3,
    runs: int | Iterable[int] = (1, 2, 3, 5, 10, 20, 30),
    level: float = LEVEL,
    *,
    answers: int | None = None,
) -> pd.DataFrame:
    """Compute the number of prompts for a margin of error, or the margin for a number of answers.

    Give either ``margin``, the margin of error to reach, or ``answers``, as many as can be paid.

    The design effect, i.e. the loss by similar answers to one prompt, is deff = 1 + (runs-1)·icc
    (Kish, *Survey Sampling*, 1965). The half width of the interval from k prompts is
    t·√(rate(1-rate)·deff/(k·runs)), where t has k-1 degrees of freedom. More runs of the same
    prompts help less and less: the half width never falls below √icc times that of k independent
    answers.

    The result holds for a rate over prompts like these. Changes compare each prompt with itself:
    see ``df.aa.compare``. ``answers.aa.stability(by=["prompt_id"])`` estimates the correlation
    ``icc`` with an interval; try both of its ends.

    Do not use it for rates near 0 or 1 if fewer than 10 hits (k·runs·rate) are expected.

    Parameters
    ----------
    rate : float
        The expected rate, between 0 and 1.
    margin : float
        The desired half width, as a fraction: 0.05 for 5 percentage points.
    icc : float
        The intra-class correlation of answers to one prompt, from 0 to 1.
    runs : int or iterable of int
        How often each prompt is asked.
    level : float
        The confidence level.
    answers : int, optional
        The number of answers to spread over prompts. Numbers of runs that leave fewer than 5
        prompts are left out.

    Returns
    -------
    pandas.DataFrame
        One row per number of runs: ``runs``, ``prompts`` (the smallest sufficient number, at least
        5), ``answers``, ``deff``, ``margin`` (the half width with this many prompts) and
        ``verdict``.

    Raises
    ------
    ArgumentError
        If a number is out of range, or ``margin`` and ``answers`` are both given or both left out.

    Examples
    --------
    >>> samples(0.3, 0.1, icc=0.3, runs=[1, 10])[["runs", "prompts", "answers"]]
       runs  prompts  answers
    0     1       84       84
    1    10       33      330
    >>> samples(0.3, answers=330, icc=0.3, runs=[1, 10])["margin"].round(3).tolist()
    [0.05, 0.099]
    """
    check_level(level)
    run_counts = [runs] if isinstance(runs, int) else list(runs)
    if (margin is None) == (answers is None):
        raise ArgumentError("give either margin or answers")
    if not 0 < rate < 1 or not (margin is None or 0 < margin < 1) or not 0 <= icc <= 1:
        raise ArgumentError("rate and margin are between 0 and 1, icc from 0 to 1")
    if answers is not None:
        run_counts = [run_count for run_count in run_counts if run_count <= answers / MIN_CLUSTERS]
    if not run_counts or min(run_counts) < 1:
        raise ArgumentError(f"runs are whole numbers from 1, for {MIN_CLUSTERS} prompts or more")
    result_rows = []
    max_half_width = margin or math.inf
    for run_count in run_counts:
        deff = 1 + (run_count - 1) * icc
        prompt_standard_deviation = math.sqrt(rate * (1 - rate) * deff / run_count)
        z = confidence_quantile(level)
        k = max(MIN_CLUSTERS, math.ceil((z * prompt_standard_deviation / max_half_width) ** 2)) - 1
        if answers is not None:
            k = answers // run_count - 1
        half_width = math.nan
        while not half_width <= max_half_width:  # Student's t takes a few more
            k += 1
            half_width = (
                float(t_quantile((1 + level) / 2, k - 1)) * prompt_standard_deviation / math.sqrt(k)
            )
        verdict = f"{k:,} prompts × {run_count:,} runs give ±{100 * half_width:.1f} points"
        result_rows.append(
            {
                "runs": run_count,
                "prompts": k,
                "answers": k * run_count,
                "deff": deff,
                "margin": half_width,
                "verdict": verdict,
            }
        )
    return make_result("samples", result_rows, key_columns=("runs",))
