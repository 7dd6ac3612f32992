"""Estimate rates, means and their changes over clusters; adjust p-values for their number.

The arithmetic of ``df.aa.interval`` and ``compare``, functions of one group (see ``trace``). With
Σy and Σn of each cluster *i* of *k*:

    ŷ = Σyᵢ / Σnᵢ,     V = k/(k-1) · Σ(yᵢ - ŷnᵢ)² / (Σnᵢ)²,     deff = V / (ŷ(1-ŷ)/Σnᵢ)

(the linearised variance of a ratio: Kish, *Survey Sampling*, 1965). The interval of a rate is
Wilson's on the effective sample size Σn/deff (Kott & Carr, *Journal of Official Statistics* 13,
1997; compared with others, and recommended, by Franco, Little, Louis & Slud, *Journal of Survey
Statistics and Methodology* 7, 2019, who also find it too narrow where clusters are few and the
quantile is the normal one;
Korn & Graubard, *Survey Methodology* 24, 1998, do the same with Clopper and Pearson's), with a
quantile of Student's t.

Its degrees of freedom are k-1 at most. With k-1 throughout, the coverage of 95 % intervals falls
to 82 % where rates are near 0 or runs very unequal, as then few clusters carry the result. So they
are the smallest of the effective numbers (Σx)²/Σx² of clusters that carry the answers (x = n; less
1), the variance (x = (y - ŷn)², Satterthwaite's approximation), the hits (x = y) and the misses
(x = n - y): Carter, Schnepel & Steigerwald, "Asymptotic behavior of a t-test robust to cluster
heterogeneity", *Review of Economics and Statistics* 99, 2017. The last three are our own use of it,
checked by simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.trace import (
    One,
    Traced,
    call,
    name_all,
    named,
    normal_quantile,
    plain_value,
    setting,
    t_quantile,
    t_quantiles,
    two_sided,
)

CORRECTIONS = ("holm", "bh", None)
POWER = 0.8
_NO_END = 1e-3
_NAN = float("nan")
LEAST_CLUSTERS = 5
"""Fewer clusters say too little about how clusters differ."""

_ROUNDING = 1e-12
"""A standard error below this part of what it is the error of is one of rounding."""


def varies(variance: Any, value: Any) -> Any:
    """Whether a variance is more than that of rounding, for values of such a size.

    Where nothing differs between clusters, that is too little for an error, and no certainty.

    Examples
    --------
    >>> varies(1e-4, 0.4), varies(1e-34, 0.4), varies(float("nan"), 0.4)
    (True, False, False)
    """
    return variance > (_ROUNDING * value) ** 2


@dataclass(frozen=True)
class Estimate:
    """The estimate of a group, or of each of many; NaN where there is none.

    In formulas ``z`` are the residuals of clusters, ``misses`` what they miss, ``answers`` the
    effective sample size, ``q`` the quantile; of strata ``within`` the variance of each, ``p`` its
    rate with one answer at the overall rate added.
    """

    value: Any
    size: Any
    clusters: Any
    variance: Any
    deff: Any
    df: Any
    q: Any
    low: Any
    high: Any


def wilson(rate: Any, size: Any, quantile: Any) -> tuple[Any, Any]:
    """Compute Wilson's score interval (1927) of rates, for given sample sizes.

    Examples
    --------
    >>> low, high = wilson(np.array([0.5]), np.array([100.0]), 1.959963984540054)
    >>> low.round(4).item(), high.round(4).item()
    (0.4038, 0.5962)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = 1 + quantile**2 / size
        centre = (rate + quantile**2 / size / 2) / whole
        half = np.sqrt(rate * (1 - rate) * (quantile**2 / size) + (quantile**2 / size) ** 2 / 4)
        return np.maximum(centre - half / whole, 0.0), np.minimum(centre + half / whole, 1.0)


def sampled(g: Any, y: Any, n: Any, level: Any, *, is_rate: bool) -> Estimate:
    """Estimate with clusters as a sample: their differences are part of the error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size, k = g.total(n), g.count(n)
        value = g.total(y) / size
        name_all(value=value)
        z = y - g.each(value) * n
        name_all(z=z)
        variance = k / (k - 1) * g.total(z**2) / size**2
        misses, answers, deff = n - y, None, size * np.nan
        name_all(misses=misses)
        df = size**2 / g.total(n**2) - 1
        if is_rate:
            for part in (z**2, y, misses):
                df = np.minimum(df, _carriers(g, part))
            answers = np.where(varies(variance, value), value * (1 - value) / variance, df + 1)
            deff = np.where(
                value * (1 - value) > 0, variance / (value * (1 - value) / size), np.nan
            )
        df = np.where(np.isfinite(df), np.maximum(df, 1.0), 1.0)
        q = call(t_quantiles, (1 + level) / 2, df)
        ends = wilson(value, answers, q) if is_rate else _around(value, variance, q)
        low, high = (np.where(k >= LEAST_CLUSTERS, end, np.nan) for end in ends)
    name_all(answers=answers)
    return named(Estimate(value, size, k, variance, deff, df, q, low, high))


def fixed(g: Any, y: Any, n: Any, level: Any, *, is_rate: bool, squares: Any) -> Estimate:
    """Estimate with clusters as the population: only answers within one are a sample (strata).

    The variance is Σ(nᵢ/Σn)²·vᵢ. For rates vᵢ is p̃(1-p̃)/nᵢ, where p̃ is the cluster's rate
    with one answer at the overall rate added: without it a prompt that was always, or never,
    answered with the brand would be taken for certain.
    """
    answers = None
    with np.errstate(divide="ignore", invalid="ignore"):
        size, k = g.total(n), g.count(n)
        value = g.total(y) / size
        name_all(value=value)
        if is_rate:
            p = (y + g.each(value)) / (n + 1)
            name_all(p=p)
            within = p * (1 - p) / n
        else:
            spread = (squares - n * (y / n) ** 2) / (n - 1)
            name_all(spread=spread)
            weighted = np.where(n > 1, spread * (n - 1), 0.0)
            name_all(weighted=weighted)
            pooled = g.total(weighted) / (size - k)
            name_all(pooled=pooled)
            within = np.where(n > 1, spread, g.each(pooled)) / n
        name_all(within=within, size=size)
        variance = g.total((n / g.each(size)) ** 2 * within)
        deff = size * np.nan
        if is_rate:
            answers = np.where(variance > 0, value * (1 - value) / variance, size)
            deff = np.where(
                value * (1 - value) > 0, variance / (value * (1 - value) / size), np.nan
            )
        df = np.maximum(size - k, 1.0)
        q = call(t_quantiles, (1 + level) / 2, np.where(np.isfinite(df), df, 1.0))
        ends = wilson(value, answers, q) if is_rate else _around(value, variance, q)
        low, high = (np.where(size > k, end, np.nan) for end in ends)
    name_all(answers=answers)
    return named(Estimate(value, size, k, variance, deff, df, q, low, high))


def estimate(
    g: Any, y: Any, n: Any, level: Any, panel: str, squares: Any, is_rate: bool
) -> Estimate:
    """Estimate with clusters as a sample, or as the population (``panel="fixed"``)."""
    if panel == "sampled":
        return sampled(g, y, n, level, is_rate=is_rate)
    return fixed(g, y, n, level, is_rate=is_rate, squares=squares)


def _carriers(g: Any, part: Any) -> Any:
    """Compute the effective number of clusters that carry a sum; infinite where it is 0."""
    whole = g.total(part)
    return np.where(whole > 0, whole**2 / g.total(part**2), np.inf)


def _around(value: Any, variance: Any, quantile: Any) -> tuple[Any, Any]:
    # No variation at all between clusters is too little to estimate an error, not certainty.
    half = np.where(varies(variance, value), quantile * np.sqrt(variance), np.nan)
    return value - half, value + half


@dataclass(frozen=True)
class Change:
    """A change, and what it is computed from; the names are those of the formulas.

    ``error`` is the standard error of the change, ``unequal`` how unequally clusters would move; in
    formulas ``z`` are the residuals of clusters, ``m`` their sizes; of totals ``answers1`` and
    ``answers0`` the effective sample sizes, ``q`` the quantile, ``pooled_error`` that of the test.
    """

    after: Any
    before: Any
    change: Any
    size_after: Any
    size_before: Any
    clusters: Any
    error: Any
    df: Any
    low: Any
    high: Any
    p: Any
    unequal: Any = 0.0


NOTHING = Change(*[_NAN] * 11)


@dataclass(frozen=True)
class Sample:
    """The rate or mean of one side over clusters, its variance and degrees of freedom."""

    value: Any
    size: Any
    z: Any
    variance: Any
    df: Any
    clusters: Any


def changed(y1: Any, n1: Any, y0: Any, n0: Any, level: Any, *, is_rate: bool = False) -> Change:
    """A change over clusters that both sides have.

    With R = Σy/Σn on each side, zᵢ = (yᵢ - Rnᵢ)/Σn of the one side less that of the other, and
    V = k/(k-1)·Σzᵢ²: the linearised variance of a difference of ratios on one sample of
    clusters (Kish 1965, 14.4), with Student's t. Its degrees of freedom are those of `freedom`.
    """
    sizes = (One.total(n1), One.total(n0))
    after, before = One.total(y1) / sizes[0], One.total(y0) / sizes[1]
    name_all(after=after, before=before, size_after=sizes[0], size_before=sizes[1])
    z = (y1 - after * n1) / sizes[0] - (y0 - before * n0) / sizes[1]
    m = n1 + n0
    name_all(z=z, m=m)
    k = One.count(n1)
    error = np.sqrt(k / (k - 1) * One.total(z**2))
    unequal = _unequal(y1 + y0, m, k) if is_rate else 0.0
    return tested(after, before, error, freedom(m, z), level, sizes, k, unequal=unequal)


def _unequal(y: Any, m: Any, k: Any) -> Any:
    """The standard error that a change of 1 has because clusters do not move alike.

    A rate near 0 or 1 moves less than one of a half: by p(1-p), if all log odds move alike.
    """
    room = m * (y / m) * (1 - y / m)
    name_all(room=room)
    whole, size = One.total(room), One.total(m)
    name_all(whole=whole, size=size)
    share = room / np.where(whole > 0, whole, 1.0) - m / size
    name_all(share=share)
    return np.where(whole > 0, np.sqrt(k / (k - 1) * One.total(share**2)), 0.0)


def changed_counts(y1: Any, y0: Any, level: Any) -> Change:
    """A change of a count, over clusters that both sides have: as if each were one answer."""
    after, before = One.total(y1), One.total(y0)
    moved = y1 - y0
    name_all(after=after, before=before, moved=moved)
    k = One.count(moved)
    z = moved - One.total(moved) / k
    name_all(z=z)
    error = np.sqrt(k / (k - 1) * One.total(z**2))
    df = np.maximum(np.minimum(freedom(z * 0 + 1, z), k - 1), 1.0)
    return tested(after, before, error, df, level, (k * _NAN, k * _NAN), k)


def changed_samples(one: Sample, two: Sample, level: Any) -> Change:
    """A change between two samples of clusters: two ratio estimators, Welch's t."""
    variance = one.variance + two.variance
    spread = one.variance**2 / one.df + two.variance**2 / two.df
    df = np.maximum(np.where(spread > 0, variance**2 / spread, np.minimum(one.df, two.df)), 1.0)
    sizes = (one.size, two.size)
    return tested(
        one.value, two.value, np.sqrt(variance), df, level, sizes, one.clusters + two.clusters
    )


def sample_of(y: Any, n: Any, suffix: str, factor: float = 1.0) -> Sample:
    """The rate or mean of a sample of clusters: ratio estimator, linearised variance."""
    size = One.total(n)
    value = One.total(y) / size
    words = ("after", "size_after") if suffix == "1" else ("before", "size_before")
    name_all(**dict(zip(words, (value, size), strict=True)))
    z = (y - value * n) / size
    name_all(**{f"z{suffix}": z})
    k = One.count(n)
    variance = k / (k - 1) * One.total(z**2) * factor
    return named(Sample(value, size, z, variance, freedom(n, z), k), suffix)


def answers_of(y: Any, n: Any, squares: Any, suffix: str) -> Sample:
    """The mean of answers that are taken for independent, from the squares of each."""
    size = One.total(n)
    value = One.total(y) / size
    words = ("after", "size_after") if suffix == "1" else ("before", "size_before")
    name_all(**dict(zip(words, (value, size), strict=True)))
    variance = (One.total(squares) - size * value**2) / (size - 1) / size
    return named(Sample(value, size, None, variance, size - 1, size), suffix)


def changed_totals(y1: Any, n1: Any, y0: Any, n0: Any, level: Any, deff: Any, df: Any) -> Change:
    """A change of rates of answers that are independent but for a design effect.

    Newcombe's interval (*Statistics in Medicine* 17, 1998, method 10) and the test of two
    proportions with their pooled variance. With a design effect the sample sizes are divided by
    it (Kish 1965), and where it was estimated with ``df`` degrees of freedom Student's t has these.
    """
    sizes = (One.total(n1), One.total(n0))
    after, before = One.total(y1) / sizes[0], One.total(y0) / sizes[1]
    a, b = sizes[0] / deff, sizes[1] / deff
    q = t_quantile((1 + level) / 2, df)
    name_all(after=after, before=before, size_after=sizes[0], size_before=sizes[1])
    name_all(answers1=a, answers0=b, q=q)
    (l1, h1), (l0, h0) = wilson(after, a, q), wilson(before, b, q)
    name_all(after_low=l1, after_high=h1, before_low=l0, before_high=h0)
    pooled = (after * a + before * b) / (a + b)
    name_all(pooled=pooled)
    test = np.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
    change = after - before
    name_all(change=change, pooled_error=test)
    low = change - np.sqrt((after - l1) ** 2 + (before - h0) ** 2)
    high = change + np.sqrt((after - h1) ** 2 + (before - l0) ** 2)
    # At 0 and 1 the variance is 0, and the interval still says what could be seen.
    name_all(low=low, high=high)
    error = np.maximum(test, (high - low) / (2 * q))
    p = two_sided(change / test, df) if plain_value(test) > 0 else change * 0 + 1.0
    return named(Change(after, before, change, *sizes, sizes[0] * _NAN, error, df, low, high, p))


def tested(
    after: Any,
    before: Any,
    error: Any,
    df: Any,
    level: Any,
    sizes: tuple[Any, Any],
    clusters: Any,
    **more: Any,
) -> Change:
    """A change with its interval and p-value, by Student's t."""
    change = after - before
    name_all(change=change, error=error, df=df)
    half = t_quantile((1 + level) / 2, df) * error
    p = two_sided(change / error, df)
    ends = (change - half, change + half)
    return named(Change(after, before, change, *sizes, clusters, error, df, *ends, p, **more))


def detectable(error: Any, df: Any, level: Any, tests: Any, unequal: Any = 0.0) -> Any:
    """The change that 80 % of such samples would show.

    The noncentrality at which Student's t has this power (by the normal approximation of Johnson
    and Welch, *Biometrika* 31, 1940), times the standard error. Of few clusters half of all
    standard errors are below √(median of χ²/df) of the true one, by which it is divided
    (√``typical``³, by Wilson and Hilferty); and a change d that clusters do not share alike adds
    (d·``unequal``)² to the variance: where clusters are so few or unlike that this grows as fast
    as the change, none would show, and the result is beyond any scale.
    """
    t = t_quantile(1 - (1 - level) / tests / 2, df)
    distance = t * (1 - 1 / (4 * df)) + normal_quantile(POWER) * np.sqrt(1 + t**2 / (2 * df))
    name_all(t=t, distance=distance)
    typical = 1 - 2 / (9 * df)
    alike = np.maximum(1 - (distance * unequal) ** 2, _NO_END)
    name_all(typical=typical, alike=alike)
    return distance * error / (typical * np.sqrt(typical * alike))


def freedom(m: Any, z: Any) -> Any:
    """Compute the degrees of freedom of a variance over clusters, at least 1.

    The effective number (Σx)²/Σx² of clusters that carry the answers, less 1, or the variance
    (x = z²; Satterthwaite), whichever is smaller. With k-1, a test at 5 % raises up to 11 %
    false alarms where runs are very unequal; with this, 5 % at most.
    """
    fourth = One.total(z**4)
    with np.errstate(divide="ignore", invalid="ignore"):
        carry = One.total(m) ** 2 / One.total(m**2) - 1
        of_variance = np.where(fourth > 0, One.total(z**2) ** 2 / _not_zero(fourth), carry)
        return np.maximum(np.minimum(carry, of_variance), 1.0)


def _not_zero(value: Any) -> Any:
    return value if isinstance(value, Traced) or value > 0 else _NAN


def long_run_factor(y: Any, n: Any) -> float:
    """How much more the sum of a series varies than that of independent days, 1 at least."""
    y, n = plain_value(y), plain_value(n)
    residual = y - n * (y.sum() / n.sum())
    return max(float(long_run(residual[None])[0]), 1.0)


def long_run(residual: Numbers) -> Numbers:
    """How much more sums vary than those of independent days, of series: 1 + 2Σ(1-l/(L+1))·r_l.

    With the autocorrelations r of residuals in their order (Newey & West, *Econometrica* 55, 1987).
    """
    days = residual.shape[1]
    whole = np.maximum((residual**2).sum(1), 1e-300)
    lags = max(round(1.5 * days ** (1 / 3)), 2)
    factor = np.ones(len(residual))
    for lag in range(1, lags + 1) if days > lags else ():
        alike = (residual[:, :-lag] * residual[:, lag:]).sum(1) / whole
        factor += 2 * (1 - lag / (lags + 1)) * alike
    return factor


def adjusted(p: Sequence[Any], correct: str | None) -> list[Any]:
    """Adjust p-values over all that are not missing.

    Parameters
    ----------
    p : sequence of float
        The p-values; NaN where there is none.
    correct : {"holm", "bh", None}
        Holm's step-down method, which bounds the probability of any false alarm (*Scandinavian
        Journal of Statistics* 6, 1979), or Benjamini and Hochberg's, which bounds the expected
        share of false ones among the alarms (*JRSS B* 57, 1995).

    Examples
    --------
    >>> np.round(adjusted([0.01, 0.04, float("nan"), 0.03], "holm"), 3)
    array([0.03, 0.06,  nan, 0.06])
    """
    values = np.array([plain_value(value) for value in p], np.float64)
    order = np.flatnonzero(np.isfinite(values))
    order = order[np.argsort(values[order], kind="stable")]
    corrected, many = [*p], len(order)
    best: Any = None
    if correct is None or not many:
        return corrected
    # Holm's method takes the largest from the smallest p-value on, the other one from the largest.
    places = range(1, many + 1) if correct == "holm" else range(many, 0, -1)
    for place in places:
        rank, tests = setting("rank", place), setting("tests", many)
        value = p[order[place - 1]]
        scaled = value * (tests - rank + 1) if correct == "holm" else value * tests / rank
        is_next = best is None or (
            plain_value(scaled) > plain_value(best)
            if correct == "holm"
            else plain_value(scaled) < plain_value(best)
        )
        best = scaled if is_next else best
        corrected[order[place - 1]] = np.minimum(best, 1.0)
    return corrected
