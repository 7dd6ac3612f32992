"""Estimate rates and means over clusters: value, variance and interval of each group.

The arithmetic of ``df.aa.interval`` and ``df.aa.compare``, on plain arrays. With Σy and Σn of
each cluster *i* of *k*:

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

from dataclasses import dataclass
from typing import Any

import numpy as np

from aatoolkit.stats.cluster_sums import ClusterSums, Numbers
from aatoolkit.stats.distributions import t_quantiles

LEAST_CLUSTERS = 5
"""Fewer clusters say too little about how clusters differ."""

_ROUNDING = 1e-12
"""A standard error below this part of what it is the error of is one of rounding."""


def varies(variance: Any, value: Any) -> Any:
    """Whether a variance is more than that of rounding, for values of such a size.

    Where nothing differs between clusters, that is too little to go by, and no certainty.

    Examples
    --------
    >>> varies(1e-4, 0.4), varies(1e-34, 0.4), varies(float("nan"), 0.4)
    (True, False, False)
    """
    return variance > (_ROUNDING * value) ** 2


@dataclass(frozen=True)
class Estimates:
    """The estimates of groups; NaN where there is none."""

    value: Numbers
    variance: Numbers
    low: Numbers
    high: Numbers
    n: Numbers
    deff: Numbers
    clusters: Numbers
    df: Numbers


def wilson(rate: Numbers, size: Numbers, quantile: Numbers | float) -> tuple[Numbers, Numbers]:
    """Compute Wilson's score interval (1927) of rates, for given sample sizes.

    Examples
    --------
    >>> low, high = wilson(np.array([0.5]), np.array([100.0]), 1.959963984540054)
    >>> low.round(4).item(), high.round(4).item()
    (0.4038, 0.5962)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = quantile * quantile / size
        centre = (rate + spread / 2) / (1 + spread)
        half = np.sqrt(rate * (1 - rate) * spread + spread * spread / 4) / (1 + spread)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def sampled(sums: ClusterSums, level: float) -> Estimates:
    """Estimate with clusters as a sample: their differences are part of the error."""
    value, n, k = _values(sums)
    residual = sums.y - value[sums.group] * sums.n
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = k / (k - 1) * sums.added(residual**2) / n**2
        simple = value * (1 - value) / n
        deff = np.where(simple > 0, variance / simple, np.nan) if sums.is_proportion else _none(n)
        df = n**2 / sums.added(sums.n**2) - 1
        if sums.is_proportion:
            df = np.minimum(df, _carriers(sums, residual**2))
            df = np.minimum(df, _carriers(sums, sums.y))
            df = np.minimum(df, _carriers(sums, sums.n - sums.y))
            size = np.where(varies(variance, value), value * (1 - value) / variance, df + 1)
    df = np.where(np.isfinite(df), np.maximum(df, 1), 1.0)
    quantile = t_quantiles((1 + level) / 2, df)
    if sums.is_proportion:
        low, high = wilson(value, size, quantile)
    else:
        low, high = _around(value, variance, quantile)
    usable = k >= LEAST_CLUSTERS
    low, high = (np.where(usable, each, np.nan) for each in (low, high))
    return Estimates(value, variance, low, high, n, deff, k, df)


def fixed(sums: ClusterSums, level: float) -> Estimates:
    """Estimate with clusters as the population: only answers within one are a sample (strata).

    The variance is Σ(nᵢ/Σn)²·vᵢ. For rates vᵢ is p̃(1-p̃)/nᵢ, where p̃ is the cluster's rate
    with one answer at the overall rate added: without it a prompt that was always, or never,
    answered with the brand would be taken for certain.
    """
    value, n, k = _values(sums)
    overall, at = value[sums.group], sums.group
    with np.errstate(divide="ignore", invalid="ignore"):
        if sums.is_proportion:
            shrunk = (sums.y + overall) / (sums.n + 1)
            within = shrunk * (1 - shrunk) / sums.n
        else:
            mean = sums.y / sums.n
            spread = (sums.squares - sums.n * mean**2) / (sums.n - 1)
            pooled = sums.added(np.where(sums.n > 1, spread * (sums.n - 1), 0.0)) / (n - k)
            within = np.where(sums.n > 1, spread, pooled[at]) / sums.n
        variance = sums.added((sums.n / n[at]) ** 2 * within)
        simple = value * (1 - value) / n
        deff = np.where(simple > 0, variance / simple, np.nan) if sums.is_proportion else _none(n)
        size = np.where(variance > 0, value * (1 - value) / variance, n)
    df = np.maximum(n - k, 1.0)
    quantile = t_quantiles((1 + level) / 2, np.where(np.isfinite(df), df, 1.0))
    if sums.is_proportion:
        low, high = wilson(value, size, quantile)
    else:
        low, high = _around(value, variance, quantile)
    usable = n > k
    low, high = (np.where(usable, each, np.nan) for each in (low, high))
    return Estimates(value, variance, low, high, n, deff, k, df)


def _values(sums: ClusterSums) -> tuple[Numbers, Numbers, Numbers]:
    """Compute the estimate, Σn and the number of clusters of each group."""
    n, k = sums.added(sums.n), sums.added(np.ones(len(sums.n)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums.added(sums.y) / n, n, k


def _carriers(sums: ClusterSums, part: Numbers) -> Numbers:
    """Compute the effective number of clusters that carry a sum; infinite where it is 0."""
    whole = sums.added(part)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Numbers = np.where(whole > 0, whole**2 / sums.added(part**2), np.inf)
    return found


def _around(value: Numbers, variance: Numbers, quantile: Numbers) -> tuple[Numbers, Numbers]:
    half = quantile * np.sqrt(variance)
    # No variation at all between clusters is too little to go by, not certainty.
    half = np.where(varies(variance, value), half, np.nan)
    return value - half, value + half


def _none(like: Numbers) -> Numbers:
    return np.full(len(like), np.nan)
