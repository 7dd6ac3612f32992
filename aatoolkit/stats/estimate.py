"""Estimate rates, means and their changes over clusters, and adjust p-values.

A cluster is a set of similar answers, such as the answers to one prompt. With the numerators yᵢ and
the denominators nᵢ of the *k* clusters of a group:

    ŷ = Σyᵢ / Σnᵢ,     V = k/(k-1) · Σ(yᵢ - ŷnᵢ)² / (Σnᵢ)²,     deff = V / (ŷ(1-ŷ)/Σnᵢ)

V is the linearised variance of a ratio (Kish, *Survey Sampling*, 1965). The interval of a rate is
Wilson's, with the effective sample size Σn/deff and Student's t.
"""

# Sources: Kott & Carr (*Journal of Official Statistics* 13, 1997) for this interval. Franco,
# Little, Louis & Slud (*Journal of Survey Statistics and Methodology* 7, 2019) recommend it among
# others, but find it too narrow with few clusters and a normal quantile. Korn & Graubard (*Survey
# Methodology* 24, 1998) use the effective sample size in Clopper and Pearson's interval.
#
# Degrees of freedom: k-1 at most. With k-1 throughout, the coverage of 95 % intervals falls to 82 %
# if rates are near 0 or clusters have very unequal numbers of runs, as few clusters then carry the
# result. So they are the smallest of four effective numbers of clusters, each (Σx)²/Σx²: by answers
# (x = n; less 1), by variance (x = (y - ŷn)², Satterthwaite's approximation), by hits (x = y) and
# by misses (x = n - y): Carter, Schnepel & Steigerwald, "Asymptotic behavior of a t-test robust to
# cluster heterogeneity", *Review of Economics and Statistics* 99, 2017. The use of the last three
# is our own, checked by simulation.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aatoolkit.errors import ArgumentError
from aatoolkit.stats.results import CANNOT_SAY, CHANGE_WORDS, NO_EVIDENCE, format_points
from aatoolkit.stats.trace import (
    FloatArray,
    RowDict,
    TracedValue,
    as_float,
    count_of,
    name_traced_fields,
    name_traced_values,
    name_traced_variables,
    normal_quantile,
    t_quantile,
    t_quantiles,
    total_of,
    trace_alias,
    trace_setting,
    two_sided,
    untrace,
)

# By value of the argument ``correct``: the method that adjusts p-values.
METHOD_NAME_BY_CORRECTION = {"holm": "Holm's", "bh": "Benjamini and Hochberg's", None: "no"}
TEST_POWER = 0.8  # of the test, for the detectable change
NAN = float("nan")
MIN_CLUSTERS = 5
"""The minimum number of clusters for an estimate of their variance.

The docstrings of `treatment` and ``df.aa`` name it, too.
"""

_ROUNDING_TOLERANCE = 1e-12
"""A standard error below this fraction of its estimate is a rounding error."""

_MIN_HOMOGENEITY = 1e-3  # keeps a divisor above 0


def check_level(level: float) -> None:
    """Raise `ArgumentError` unless a confidence level is between 0 and 1."""
    if not 0 < level < 1:
        raise ArgumentError(f"level={level!r} is not between 0 and 1")


def has_variation(standard_error: Any, value: Any) -> Any:
    """Return whether a standard error is finite and larger than the rounding error of ``value``.

    Examples
    --------
    >>> has_variation(1e-2, 0.4), has_variation(1e-17, 0.4), has_variation(math.inf, 0.4)
    (True, False, False)
    """
    # Clusters that do not differ at all give a standard error of 0. That does not make the value
    # certain: there is too little to estimate an error from.
    return (standard_error > _ROUNDING_TOLERANCE * abs(value)) & (standard_error < math.inf)


# --- rates and means --------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """The estimated rate or mean of one group; with several groups, the fields are arrays.

    ``sample_size`` is the sum of denominators. ``low`` and ``high`` are the ends of the confidence
    interval.
    """

    value: Any
    sample_size: Any
    cluster_count: Any
    variance: Any
    deff: Any  # design effect
    df: Any  # degrees of freedom
    q: Any  # quantile of Student's t
    low: Any
    high: Any


def wilson_interval(rate: Any, size: Any, quantile: Any) -> tuple[Any, Any]:
    """Return the lower and the upper end of Wilson's score interval (1927) of rates.

    Examples
    --------
    >>> low, high = wilson_interval(np.array([0.5]), np.array([100.0]), 1.959963984540054)
    >>> low.round(4).item(), high.round(4).item()
    (0.4038, 0.5962)
    """
    z2_over_n = quantile**2 / size
    centre_numerator = rate + z2_over_n / 2
    divisor = 1 + z2_over_n
    half_width = np.sqrt(rate * (1 - rate) * z2_over_n + z2_over_n**2 / 4)
    return (
        np.maximum(centre_numerator / divisor - half_width / divisor, 0.0),
        np.minimum(centre_numerator / divisor + half_width / divisor, 1.0),
    )


def estimate(
    group_sums: Any, y: Any, n: Any, confidence_level: Any, panel_kind: str, is_rate: bool
) -> Estimate:
    """Estimate the rate or mean of each group, with its interval, from clusters such as prompts.

    ``y`` and ``n`` have the numerator and denominator of each cluster. ``panel_kind`` is "sampled"
    if the clusters are a sample of a larger set, and "fixed" if they are the whole set.
    """
    size = group_sums.total(n)
    clusters = group_sums.count(n)
    value = group_sums.total(y) / size
    if panel_kind == "sampled":
        z = y - group_sums.broadcast(value) * n
        name_traced_variables()
        variance = clusters / (clusters - 1) * group_sums.total(z**2) / size**2
        df = size**2 / group_sums.total(n**2) - 1
        has_enough_data = df >= 1
        for cluster_contributions in (z**2, y, n - y) if is_rate else ():
            contribution_sums = group_sums.total(cluster_contributions)
            effective_count = np.where(
                contribution_sums > 0,
                contribution_sums**2 / group_sums.total(cluster_contributions**2),
                np.inf,
            )
            df = np.minimum(df, effective_count)
        default_size = df + 1
        has_enough_data = has_enough_data & (clusters >= MIN_CLUSTERS)
    else:
        # Clusters are strata: the variance is Σ(nᵢ/Σn)²·p(1-p)/nᵢ, with one answer at the overall
        # rate added. Without it, a prompt whose answers all mention the brand would have none.
        p = (y + group_sums.broadcast(value)) / (n + 1)
        within = p * (1 - p) / n
        name_traced_variables()
        variance = group_sums.total((n / group_sums.broadcast(size)) ** 2 * within)
        df = size - clusters
        default_size = size
        has_enough_data = size > clusters
    df = np.where(np.isfinite(df), np.maximum(df, 1.0), 1.0)
    q = t_quantiles((1 + confidence_level) / 2, df)
    unit_variance = value * (1 - value)
    deff = size * NAN
    if is_rate:
        effective_size = np.where(
            has_variation(np.sqrt(variance), value), unit_variance / variance, default_size
        )
        name_traced_values(answers=effective_size)
        deff = np.where(unit_variance > 0, variance / (unit_variance / size), np.nan)
        interval_bounds = wilson_interval(value, effective_size, q)
    else:
        # No variation at all between clusters is too little to estimate an error.
        half_width = np.where(
            has_variation(np.sqrt(variance), value), q * np.sqrt(variance), np.nan
        )
        interval_bounds = value - half_width, value + half_width
    low, high = (np.where(has_enough_data, bound, np.nan) for bound in interval_bounds)
    return name_traced_fields(Estimate(value, size, clusters, variance, deff, df, q, low, high))


# --- changes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A change with its standard error, interval and p-value."""

    value: Any = NAN
    error: Any = NAN
    df: Any = NAN
    low: Any = NAN
    high: Any = NAN
    p: Any = NAN
    value_after: Any = NAN
    value_before: Any = NAN
    size_after: Any = NAN
    size_before: Any = NAN
    clusters: Any = NAN
    jackknife: Any = NAN  # the standard error, by leaving out each cluster in turn
    # How much clusters differ in their changes: a change d adds (d·heterogeneity)² to the variance.
    heterogeneity: Any = 0.0


UNKNOWN_CHANGE = Change()


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A change between two samples, its method, and what `judge_comparisons` needs."""

    change: Change = UNKNOWN_CHANGE
    change_text: str = ""  # the change in words
    method: str = ""
    untested_reason: str = ""  # why the verdict is "cannot say"
    is_rate: bool = True
    is_planned: bool = False  # in advance: its p-value is not adjusted
    verdict_words: tuple[str, str] = CHANGE_WORDS


@dataclass(frozen=True)
class Sample:
    """The rate or mean of one sample of clusters such as prompts, with its variance."""

    value: Any = NAN
    size: Any = NAN
    variance: Any = NAN
    df: Any = NAN
    clusters: Any = 0
    jackknife: Any = NAN
    z: Any = None  # the residual of each cluster
    leave_one_out: Any = None  # for each cluster, the value less the value without it


def change_by_student_t(
    change: Any, error: Any, df: Any, confidence_level: Any, **change_fields: Any
) -> Change:
    """Return a `Change` with an interval and a p-value by Student's t.

    ``error`` is the standard error of the change, and ``df`` its degrees of freedom.
    ``change_fields`` are additional fields of `Change`.
    """
    name_traced_variables()
    half_width = t_quantile((1 + confidence_level) / 2, df) * error
    p = two_sided(change / error, df)
    change_fields = {"jackknife": error, **change_fields}
    return name_traced_fields(
        Change(change, error, df, change - half_width, change + half_width, p, **change_fields)
    )


def _change_between(
    after: Sample,
    before: Sample,
    standard_error: Any,
    df: Any,
    confidence_level: Any,
    **change_fields: Any,
) -> Change:
    """Return the change from ``before`` to ``after``, with interval and p-value by Student's t.

    ``standard_error`` is the standard error of the change, and ``df`` its degrees of freedom.
    """
    return change_by_student_t(
        after.value - before.value,
        standard_error,
        df,
        confidence_level,
        value_after=after.value,
        value_before=before.value,
        size_after=after.size,
        size_before=before.size,
        **change_fields,
    )


def _rate_and_size(y: Any, n: Any, rate_name: str) -> tuple[Any, Any]:
    """Return the rate or mean Σy/Σn and the sample size Σn of clusters such as prompts."""
    size = total_of(n)
    value = total_of(y) / size
    name_traced_values(**{rate_name: value, f"size_{rate_name}": size})
    return value, size


def _linearised_and_jackknife_variance(
    k: Any, residuals: Any, leave_one_out_differences: Any
) -> tuple[Any, Any]:
    """Return the linearised and the jackknife variance of an estimate over clusters.

    ``residuals`` has the residual of each cluster. ``leave_one_out_differences`` has for each
    cluster the estimate minus the estimate without this cluster.
    """
    return k / (k - 1) * total_of(residuals**2), (k - 1) / k * total_of(
        leave_one_out_differences**2
    )


def paired_change(
    y1: Any, n1: Any, y0: Any, n0: Any, confidence_level: Any, *, is_rate: bool = False
) -> Change:
    """Compute the change of a rate or mean from the clusters that both samples share.

    A cluster is a set of similar answers, such as those to one prompt. ``y1`` and ``n1`` have the
    numerator and denominator of each cluster after the change, ``y0`` and ``n0`` those before.
    """
    # On each side, R = Σy/Σn, and a cluster i has the residual (yᵢ - Rnᵢ)/Σn. With the differences
    # zᵢ of these residuals between the two sides, the variance is V = k/(k-1)·Σzᵢ²: the linearised
    # variance of a difference of ratios on one sample of clusters (Kish 1965, 14.4).
    after = estimate_sample(y1, n1, "after")
    before = estimate_sample(y0, n0, "before")
    z = after.z - before.z
    leave_one_out = after.leave_one_out - before.leave_one_out
    m = n1 + n0
    clusters = count_of(n1)
    name_traced_variables()
    error, jackknife = map(np.sqrt, _linearised_and_jackknife_variance(clusters, z, leave_one_out))
    heterogeneity: Any = 0.0
    if is_rate:
        # A rate near 0 or 1 changes less than one of a half: by p(1-p), if all log odds change
        # alike. This is the standard error that a change of 1 has because clusters do not.
        y = y1 + y0
        binomial_variance = m * (y / m) * (1 - y / m)
        total = total_of(binomial_variance)
        share = binomial_variance / np.where(total > 0, total, 1.0) - m / total_of(m)
        name_traced_variables()
        heterogeneity_variance = clusters / (clusters - 1) * total_of(share**2)
        heterogeneity = np.where(total > 0, np.sqrt(heterogeneity_variance), 0.0)
    return _change_between(
        after,
        before,
        error,
        degrees_of_freedom(m, z),
        confidence_level,
        clusters=clusters,
        jackknife=jackknife,
        heterogeneity=heterogeneity,
    )


def paired_count_change(y1: Any, y0: Any, confidence_level: Any) -> Change:
    """Compute the change of a count from the clusters (such as prompts) that both samples share.

    ``y1`` has the count of each cluster after the change, ``y0`` the count before.
    """
    # It is the mean change per cluster times the number of clusters.
    differences = y1 - y0
    name_traced_variables()
    diff_sample = estimate_sample(differences, differences * 0 + 1, "mean")
    error = diff_sample.clusters * np.sqrt(diff_sample.variance)
    k = diff_sample.clusters
    after = total_of(y1)
    before = total_of(y0)
    name_traced_variables()
    return change_by_student_t(
        after - before,
        error,
        diff_sample.df,
        confidence_level,
        value_after=after,
        value_before=before,
        clusters=k,
    )


def estimate_sample(y: Any, n: Any, sample_name: str, is_time_series: bool = False) -> Sample:
    """Estimate the rate or mean Σy/Σn of a sample of clusters such as prompts.

    ``sample_name`` names the sample in formulas, such as "after". ``is_time_series`` says that the
    clusters are successive days, which may be autocorrelated.
    """
    value, size = _rate_and_size(y, n, sample_name)
    k = count_of(n)
    residuals = y - value * n
    z = residuals / size
    leave_one_out = residuals / (size - n)
    variance, jackknife = _linearised_and_jackknife_variance(k, z, leave_one_out)
    if is_time_series:
        variance_factor = max(long_run_variance_factor(untrace(z)[None]).item(), 1.0)
        variance = variance * variance_factor
        jackknife = jackknife * variance_factor
    df = degrees_of_freedom(n, z)
    return name_traced_fields(
        Sample(value, size, variance, df, k, jackknife, z, leave_one_out), f"_{sample_name}"
    )


def two_sample_change(after: Sample, before: Sample, confidence_level: Any) -> Change:
    """Compute the change between two independent samples of clusters, with Welch's t test."""
    variance = after.variance + before.variance
    welch_denominator = after.variance**2 / after.df + before.variance**2 / before.df
    smaller_df = np.minimum(after.df, before.df)
    df = np.maximum(
        np.where(welch_denominator > 0, variance**2 / welch_denominator, smaller_df), 1.0
    )
    return _change_between(
        after,
        before,
        np.sqrt(variance),
        df,
        confidence_level,
        clusters=after.clusters + before.clusters,
        jackknife=np.sqrt(after.jackknife + before.jackknife),
    )


def two_rate_change(
    y1: Any, n1: Any, y0: Any, n0: Any, confidence_level: Any, deff: Any, df: Any
) -> Change:
    """Compute the change between two rates from their counts, with Newcombe's interval.

    ``y1/n1`` is the rate after, ``y0/n0`` the rate before. ``deff`` is a design effect that divides
    the sample sizes, ``df`` its degrees of freedom.
    """
    # Newcombe, *Statistics in Medicine* 17, 1998, method 10; the test is that of two proportions
    # with their pooled variance, by Student's t. On the design effect: Kish 1965.
    after, size1 = _rate_and_size(y1, n1, "after")
    before, size0 = _rate_and_size(y0, n0, "before")
    answers1 = size1 / deff
    answers0 = size0 / deff
    q = t_quantile((1 + confidence_level) / 2, df)
    after_low, after_high = wilson_interval(after, answers1, q)
    before_low, before_high = wilson_interval(before, answers0, q)
    pooled = (after * answers1 + before * answers0) / (answers1 + answers0)
    pooled_error = np.sqrt(pooled * (1 - pooled) * (1 / answers1 + 1 / answers0))
    change = after - before
    low = change - np.sqrt((after - after_low) ** 2 + (before - before_high) ** 2)
    high = change + np.sqrt((after - after_high) ** 2 + (before - before_low) ** 2)
    name_traced_variables()
    # At 0 and 1 the variance is 0, and the interval still says what could be seen.
    error = np.maximum(pooled_error, (high - low) / (2 * q))
    p = two_sided(change / pooled_error, df) if pooled_error > 0 else change * 0 + 1.0
    return name_traced_fields(
        Change(change, error, df, low, high, p, after, before, size1, size0, jackknife=error)
    )


def degrees_of_freedom(sizes: Any, residuals: Any) -> Any:
    """Return the degrees of freedom of a variance estimated from clusters such as prompts.

    ``sizes`` has the number of answers of each cluster, ``residuals`` its residual. The result is
    NaN if a single cluster has most of the answers.
    """
    # The smaller of two effective numbers of clusters, each (Σx)²/Σx²: by answers (x is the size),
    # less 1, and by variance (x is the squared residual; Satterthwaite). If clusters have very
    # unequal numbers of runs, a test at 5 % raises up to 11 % false alarms with k-1 degrees of
    # freedom, and 5 % at most with these. If one cluster has most of the answers, its residual is
    # near 0, and with 1 degree of freedom a test would raise up to 92 % false alarms: hence NaN.
    fourth_power_sum = total_of(residuals**4)
    answer_df = total_of(sizes) ** 2 / total_of(sizes**2) - 1
    satterthwaite_df = np.where(
        fourth_power_sum > 0, total_of(residuals**2) ** 2 / fourth_power_sum, answer_df
    )
    return np.where(answer_df < 1, np.nan, np.maximum(np.minimum(answer_df, satterthwaite_df), 1.0))


def long_run_variance_factor(residuals: FloatArray) -> FloatArray:
    """Return the factor by which autocorrelation raises the variance of each daily series.

    Each row of ``residuals`` is a series of days. The result is an array with an element per row.
    """
    # It is 1 + 2Σ(1-l/(L+1))·r_l, where r_l is the autocorrelation at lag l, and L the largest lag
    # (Newey & West, *Econometrica* 55, 1987).
    day_count = residuals.shape[1]
    sum_of_squares = np.maximum((residuals**2).sum(1), 1e-300)
    max_lag = max(round(1.5 * day_count ** (1 / 3)), 2)
    variance_factors = np.ones(len(residuals))
    for lag in range(1, max_lag + 1) if day_count > max_lag else ():
        autocorrelation = (residuals[:, :-lag] * residuals[:, lag:]).sum(1) / sum_of_squares
        variance_factors += 2 * (1 - lag / (max_lag + 1)) * autocorrelation
    return variance_factors


# --- what a change is worth -------------------------------------------------------------------


def detectable_change(
    standard_error: Any, df: Any, confidence_level: Any, test_count: Any, heterogeneity: Any
) -> Any:
    """Return the smallest change that a test finds in 80 % of samples of this size.

    ``standard_error`` is the jackknife standard error of the change, ``df`` its degrees of freedom,
    and ``test_count`` the number of tests that p-values are corrected for. ``heterogeneity``
    measures how much the change differs between clusters.
    """
    # The result is k times ``standard_error``, the jackknife's standard error (Efron & Stein,
    # *Annals of Statistics* 9, 1981); the linearised one is too small if cluster sizes differ. If
    # the standard error were known, k would be ``distance``: the noncentrality at which Student's t
    # has a power of 80 %, by the normal approximation of Johnson & Welch (*Biometrika* 31, 1940).
    # As the next sample estimates its own standard error, k is larger, such that
    #
    #   P((Z + k·S₁)/S₂ > t) = 0.8,     Z normal, S₁² and S₂² of χ²/df, all independent.
    #
    # About, k = distance/typical⁴ with typical = 1 - 2/(9·df). Its error is at most 4 % from 3
    # degrees of freedom on (levels 0.9 to 0.9999), and larger below. A change d that clusters do
    # not share alike adds (d·``heterogeneity``)² to the variance. If there are so few clusters that
    # the standard error grows as fast as the change, the result is larger than any possible change.
    #
    # Simulations (rates of 0.35 to 0.5, correlation 0 to 0.5) tested how often a sample shows a
    # change of the size that was computed from it. With 12 clusters or more, whose sizes are alike
    # or differ by a factor of up to 1.6, 79 to 89 % of the samples show it, also if clusters are
    # drawn anew on either side; with a correlation of 0.1, 6 clusters suffice. If sizes differ by a
    # factor of up to 2.7, only 70 to 82 % show it, as few clusters then carry both errors; a change
    # of the median computed size is shown by 82 to 91 % (12 to 60 clusters). With 5 to 8 uneven
    # clusters, the result is larger than any possible change for half of the samples or more, and
    # some 70 % of the others show their change.
    t = t_quantile(1 - (1 - confidence_level) / test_count / 2, df)
    distance = t * (1 - 1 / (4 * df)) + normal_quantile(TEST_POWER) * np.sqrt(1 + t**2 / (2 * df))
    typical = 1 - 2 / (9 * df)
    homogeneity = np.maximum(1 - (distance * heterogeneity) ** 2, _MIN_HOMOGENEITY)
    name_traced_variables()
    return distance * standard_error / (typical**4 * np.sqrt(homogeneity))


def adjust_p_values(p_values: Sequence[Any], method: str | None) -> list[Any]:
    """Return p-values adjusted for the number of tests, by the method "holm", "bh" or None.

    Examples
    --------
    >>> np.round(adjust_p_values([0.01, 0.04, float("nan"), 0.03], "holm"), 3)
    array([0.03, 0.06,  nan, 0.06])
    """
    # Holm's method bounds the probability of any false alarm (*Scandinavian Journal of Statistics*
    # 6, 1979). Benjamini and Hochberg's bounds the expected share of false alarms among all alarms
    # (*JRSS B* 57, 1995).
    float_p_values = np.array([as_float(p_value) for p_value in p_values], np.float64)
    positions_by_p = np.argsort(float_p_values, kind="stable")[
        : int(np.isfinite(float_p_values).sum())
    ].tolist()
    adjusted_p_values = [*p_values]
    last_scaled_p = None
    is_holm = method == "holm"
    test_count = trace_setting("tests", len(positions_by_p))
    # Holm's method takes the largest from the smallest p-value on, the other one from the largest.
    ranks_and_positions = [*enumerate(positions_by_p, 1)] if method else []
    for rank_number, position in ranks_and_positions if is_holm else reversed(ranks_and_positions):
        rank = trace_setting("rank", rank_number)
        scaled_p = (
            p_values[position] * (test_count - rank + 1)
            if is_holm
            else p_values[position] * test_count / rank
        )
        if last_scaled_p is None or bool(scaled_p > last_scaled_p) == is_holm:
            last_scaled_p = scaled_p
        adjusted_p_values[position] = np.minimum(last_scaled_p, 1.0)
    return adjusted_p_values


def verdict_of(
    p: Any, change: Any, confidence_level: float, verdict_words: Sequence[str] = CHANGE_WORDS
) -> str:
    """Return the verdict on a change: "up", "down", "no evidence" or "cannot say".

    A missing p-value ``p`` gives "cannot say". ``verdict_words`` are the words to use for "up" and
    "down".
    """
    if not np.isfinite(p):
        return CANNOT_SAY
    if p >= 1 - confidence_level or change == 0:
        return NO_EVIDENCE
    return verdict_words[0] if change > 0 else verdict_words[1]


def judge_comparisons(
    comparisons: Sequence[Comparison],
    confidence_level: float,
    correction: str | None = "holm",
    change_noun: str = "change",
) -> list[RowDict]:
    """Return a row of the result per comparison, as a dict: p-values, interval, verdict and so on.

    ``correction`` is the method that adjusts p-values: "holm", "bh" or None. ``change_noun`` is the
    word for a change in the texts.
    """
    traced_level = trace_setting("level", confidence_level)
    threshold = 1 - traced_level
    name_traced_variables()
    p_values = [
        NAN if comparison.untested_reason else comparison.change.p for comparison in comparisons
    ]
    unplanned_p_values = [
        NAN if comparison.is_planned else p
        for comparison, p in zip(comparisons, p_values, strict=True)
    ]
    unplanned_test_count = max(sum(math.isfinite(as_float(p)) for p in unplanned_p_values), 1)
    judgements = []
    for comparison, unadjusted_p, adjusted_p in zip(
        comparisons, p_values, adjust_p_values(unplanned_p_values, correction), strict=True
    ):
        change = comparison.change
        is_rate = comparison.is_rate
        known_detectable_size = NAN
        p = unadjusted_p if comparison.is_planned else adjusted_p
        baseline_value = change.value_before
        # A rate moves to 0 or 1 at most.
        max_change = (
            max(baseline_value, 1 - baseline_value)
            if is_rate and np.isfinite(baseline_value)
            else math.inf
        )
        if np.isfinite(p):
            test_count = trace_setting(
                "tests", unplanned_test_count if correction and not comparison.is_planned else 1
            )
            detectable_size = detectable_change(
                change.jackknife, change.df, traced_level, test_count, change.heterogeneity
            )
            known_detectable_size = detectable_size if detectable_size <= max_change else NAN
        p = trace_alias("p_adjusted", p)
        verdict = verdict_of(p, change.value, confidence_level, comparison.verdict_words)
        low, high = (
            NAN if comparison.untested_reason else bound for bound in (change.low, change.high)
        )
        verdict_reason = (
            f"{comparison.change_text}; {100 * confidence_level:g} % interval of the "
            f"{change_noun}, for this row alone: "
            f"{format_points(low, is_rate)} to {format_points(high, is_rate)}"
        )
        if verdict == CANNOT_SAY:
            verdict_reason = comparison.untested_reason or "it cannot be computed"
        elif verdict == NO_EVIDENCE:
            detectable_phrase = f"no {change_noun} of any size is found"
            if np.isfinite(known_detectable_size):
                size_text = format_points(known_detectable_size, is_rate).lstrip("+")
                detectable_phrase = f"a {change_noun} of {size_text} would be found"
            verdict_reason += f"; {detectable_phrase} by 4 of 5 such samples"
            verdict_reason += f", with p corrected for {test_count:g} tests" * bool(test_count > 1)
        if verdict != CANNOT_SAY and (assumption_text := comparison.method.partition("; ")[2]):
            verdict_reason += f"; {assumption_text}"
        if isinstance(p, TracedValue):
            traced_verdict = p < threshold if p.value < threshold.value else p >= threshold
            traced_verdict.value = verdict
            verdict = traced_verdict
        method_text = comparison.method
        df = change.df
        if method_text and np.isfinite(df):
            method_text += f", t of {df:.3g} degrees of freedom"
        judgements.append(
            {
                "change": change.value,
                "n": change.size_after,
                "clusters": change.clusters,
                "low": low,
                "high": high,
                "p": unadjusted_p,
                "p_adjusted": p,
                "detectable": known_detectable_size,
                "verdict": verdict,
                "why": verdict_reason,
                "method": method_text,
            }
        )
    return judgements
