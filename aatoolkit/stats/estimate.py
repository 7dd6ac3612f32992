"""Estimate rates and means over clusters: value, variance and interval of each group.

The arithmetic of ``df.aa.interval``, a function of one group (see ``trace``). With Σy and Σn of
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

from aatoolkit.stats.cluster_sums import ClusterSums
from aatoolkit.stats.distributions import t_quantiles
from aatoolkit.stats.trace import Many, Traced, call, named

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

    The names of its fields are those of the formulas: ``z`` the residuals of clusters, ``misses``
    what they miss, ``answers`` the effective sample size, ``q`` the quantile; of strata ``within``
    the variance of each, ``p`` its rate with one answer at the overall rate added.
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
    z: Any = None
    misses: Any = None
    answers: Any = None
    p: Any = None
    within: Any = None
    spread: Any = None
    weighted: Any = None
    pooled: Any = None


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
        value = _named("value", g.total(y) / size)
        z = _named("z", y - g.each(value) * n)
        variance = k / (k - 1) * g.total(z**2) / size**2
        misses, answers, deff = _named("misses", n - y), None, size * np.nan
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
    return named(Estimate(value, size, k, variance, deff, df, q, low, high, z, misses, answers))


def fixed(g: Any, y: Any, n: Any, level: Any, *, is_rate: bool, squares: Any) -> Estimate:
    """Estimate with clusters as the population: only answers within one are a sample (strata).

    The variance is Σ(nᵢ/Σn)²·vᵢ. For rates vᵢ is p̃(1-p̃)/nᵢ, where p̃ is the cluster's rate
    with one answer at the overall rate added: without it a prompt that was always, or never,
    answered with the brand would be taken for certain.
    """
    p = spread = weighted = pooled = answers = None
    with np.errstate(divide="ignore", invalid="ignore"):
        size, k = g.total(n), g.count(n)
        value = _named("value", g.total(y) / size)
        if is_rate:
            p = _named("p", (y + g.each(value)) / (n + 1))
            within = p * (1 - p) / n
        else:
            spread = _named("spread", (squares - n * (y / n) ** 2) / (n - 1))
            weighted = _named("weighted", np.where(n > 1, spread * (n - 1), 0.0))
            pooled = _named("pooled", g.total(weighted) / (size - k))
            within = np.where(n > 1, spread, g.each(pooled)) / n
        within = _named("within", within)
        variance = g.total((n / g.each(_named("size", size))) ** 2 * within)
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
    rest = (None, None, answers, p, within, spread, weighted, pooled)
    return named(Estimate(value, size, k, variance, deff, df, q, low, high, *rest))


def of_groups(sums: ClusterSums, level: float, panel: str = "sampled") -> Estimate:
    """The estimates of all groups."""
    g = Many(sums.group, len(sums.groups))
    is_rate = sums.is_proportion
    if panel == "sampled":
        return sampled(g, sums.y, sums.n, level, is_rate=is_rate)
    return fixed(g, sums.y, sums.n, level, is_rate=is_rate, squares=sums.squares)


def _named(name: str, value: Any) -> Any:
    """Name a number that a vector is computed from, so that each element names it."""
    if isinstance(value, Traced):
        value.name = name
    return value


def _carriers(g: Any, part: Any) -> Any:
    """Compute the effective number of clusters that carry a sum; infinite where it is 0."""
    whole = g.total(part)
    return np.where(whole > 0, whole**2 / g.total(part**2), np.inf)


def _around(value: Any, variance: Any, quantile: Any) -> tuple[Any, Any]:
    # No variation at all between clusters is too little to estimate an error, not certainty.
    half = np.where(varies(variance, value), quantile * np.sqrt(variance), np.nan)
    return value - half, value + half
