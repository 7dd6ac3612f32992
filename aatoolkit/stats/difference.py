"""Test a change between two samples: paired by cluster, of two sets of clusters, of answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.distributions import t_quantile, two_sided
from aatoolkit.stats.estimate import LEAST_CLUSTERS, varies, wilson

_NAN = float("nan")
Part = tuple[Integers, Numbers, Numbers]
"""Of one side: the clusters, Σy and Σn of each."""


@dataclass(frozen=True)
class Difference:
    """A change with its interval and test; NaN where they cannot be computed."""

    before: float = _NAN
    after: float = _NAN
    error: float = _NAN
    df: float = _NAN
    low: float = _NAN
    high: float = _NAN
    p: float = _NAN
    n_before: float = _NAN
    n: float = _NAN
    clusters: float = _NAN
    method: str = ""
    why: str = ""

    @property
    def change(self) -> float:
        """The change: after less before."""
        return self.after - self.before

    def refused(self) -> Difference:
        """Return the same values without interval, error and p-value."""
        return replace(self, low=_NAN, high=_NAN, p=_NAN, error=_NAN)


NOTHING = Difference()


def paired(
    parts: Sequence[Part], labels: Sequence[pd.Index], name: str, level: float
) -> tuple[Difference, tuple[str, ...]]:
    """Test the change over the clusters that both sides have; return notes on the others too.

    With R = Σy/Σn on each side, zᵢ = (yᵢ - Rnᵢ)/Σn of the one side less that of the other, and
    V = k/(k-1)·Σzᵢ²: the linearised variance of a difference of ratios on one sample of
    clusters (Kish 1965, 14.4), with Student's t. Its degrees of freedom are those of `freedom`.
    """
    (codes, y1, n1), (others, y0, n0) = parts
    found = labels[1][others].get_indexer(labels[0][codes])
    common = found >= 0
    entered, left = int((~common).sum()), len(others) - int(common.sum())
    y1, n1 = y1[common], n1[common]
    y0, n0 = y0[found[common]], n0[found[common]]
    k = len(y1)
    moved: tuple[str, ...] = ()
    if entered or left:
        moved = (
            f"the set of {name} changed ({entered} entered, {left} left): "
            f"compared are the {k} on both sides",
        )
    if not k:
        return replace(NOTHING, why=f"no {name} is on both sides", clusters=0.0), moved
    r1, r0 = y1.sum() / n1.sum(), y0.sum() / n0.sum()
    z = (y1 - r1 * n1) / n1.sum() - (y0 - r0 * n0) / n0.sum()
    size = n1 + n0
    df = freedom(size, z)
    method = f"paired by {name}, linearised, t of {df:.3g} degrees of freedom"
    whole = Difference(r0, r1, n_before=n0.sum(), n=n1.sum(), clusters=k, method=method)
    variance = k / (k - 1) * float((z**2).sum()) if k > 1 else _NAN
    return _tested(whole, variance, df, k, name, level), moved


def freedom(size: Numbers, residual: Numbers) -> float:
    """Compute the degrees of freedom of a variance over clusters, at least 1.

    The effective number (Σx)²/Σx² of clusters that carry the answers, less 1, or the variance
    (x = z²; Satterthwaite), whichever is smaller. With k-1, a test at 5 % raises up to 11 %
    false alarms where runs are very unequal; with this, 5 % at most.
    """
    if not len(size):
        return 1.0
    carry = float(size.sum()) ** 2 / float((size**2).sum()) - 1
    squares = residual**2
    if float((squares**2).sum()) > 0:
        carry = min(carry, float(squares.sum()) ** 2 / float((squares**2).sum()))
    return max(carry, 1.0)


def unpaired(
    parts: Sequence[Part],
    name: str,
    level: float,
    least: int = LEAST_CLUSTERS,
    *,
    in_order: bool = False,
) -> Difference:
    """Test the change between two samples of clusters: two ratio estimators, Welch's t.

    Clusters ``in_order`` are days, of which neighbours may be alike: the variance is then their
    long-run variance, where that is larger.
    """
    if not all(len(n) for _, _, n in parts):
        return replace(NOTHING, why="no answers on one side or both")
    estimates = []
    for _, y, n in parts:
        k = len(y)
        ratio = y.sum() / n.sum()
        residual = (y - ratio * n) / n.sum()
        variance = k / (k - 1) * float((residual**2).sum()) if k > 1 else _NAN
        if in_order:
            variance *= max(1.0, long_run_factor(residual))
        df = freedom(n, residual)
        estimates.append((ratio, variance, df, float(n.sum()), k))
    (r1, v1, f1, n1, k1), (r0, v0, f0, n0, k0) = estimates
    spread = v1**2 / f1 + v0**2 / f0
    df = (v1 + v0) ** 2 / spread if spread > 0 else min(f1, f0)
    alike = ", long-run variance" if in_order else ""
    method = f"two samples of {name}, linearised{alike}, Welch's t of {df:.3g} degrees of freedom"
    whole = Difference(r0, r1, n_before=n0, n=n1, clusters=k1 + k0, method=method)
    return _tested(whole, v1 + v0, df, min(k1, k0), name, level, least)


def long_run_factor(residual: Numbers) -> float:
    """How much more a sum varies than independent days would: 1 + 2Σ(1-l/(L+1))·r_l.

    With the autocorrelations r of residuals in their order (Newey & West, *Econometrica* 55, 1987).
    """
    whole = float((residual**2).sum())
    lags = max(round(1.5 * len(residual) ** (1 / 3)), 2)
    if not whole > 0 or len(residual) <= lags:
        return 1.0
    factor = 1.0
    for lag in range(1, lags + 1):
        alike = float((residual[:-lag] * residual[lag:]).sum()) / whole
        factor += 2 * (1 - lag / (lags + 1)) * alike
    return factor


def independent(
    parts: Sequence[Part],
    squares: Sequence[Numbers],
    is_rate: bool,
    level: float,
    deff: float = 1.0,
    df: float = math.inf,
) -> Difference:
    """Test the change between two samples of answers that are taken for independent.

    Rates: Newcombe's interval (*Statistics in Medicine* 17, 1998, method 10) and the test of
    two proportions with their pooled variance. Means: Welch's t. With a design effect ``deff``
    the sample sizes of rates are divided by it (Kish 1965), and where it was estimated with
    ``df`` degrees of freedom Student's t has these.
    """
    (_, y1, n1), (_, y0, n0) = parts
    a, b = float(n1.sum()), float(n0.sum())
    if not min(a, b) > 0:
        return replace(NOTHING, why="no answers on one side or both")
    r1, r0 = float(y1.sum()) / a, float(y0.sum()) / b
    whole = Difference(r0, r1, n_before=b, n=a, clusters=_NAN)
    if not is_rate:
        v1, v0 = (
            (float(s.sum()) - n * r * r) / (n - 1) / n if n > 1 else _NAN
            for s, n, r in zip(squares, (a, b), (r1, r0), strict=True)
        )
        spread = v1**2 / (a - 1) + v0**2 / (b - 1) if min(a, b) > 1 else _NAN
        welch = (v1 + v0) ** 2 / spread if spread > 0 else _NAN
        described = replace(whole, method="Welch's t; takes answers for independent")
        return _tested(described, v1 + v0, welch, int(min(a, b)), "answers", level, 2)
    z = t_quantile((1 + level) / 2, df)
    a, b = a / deff, b / deff
    ((l1, l0), (h1, h0)) = wilson(np.array([r1, r0]), np.array([a, b]), z)
    pooled = (r1 * a + r0 * b) / (a + b)
    error = math.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
    change = r1 - r0
    low = change - math.sqrt((r1 - l1) ** 2 + (h0 - r0) ** 2)
    high = change + math.sqrt((h1 - r1) ** 2 + (r0 - l0) ** 2)
    return replace(
        whole,
        # At 0 and 1 the variance is 0, and the interval still says what could be seen.
        error=max(error, (high - low) / (2 * z)),
        df=df,
        low=low,
        high=high,
        p=two_sided(change / error, df) if error > 0 else 1.0,
        method="Newcombe's interval and z test; takes answers for independent"
        if deff == 1 and math.isinf(df)
        else f"Newcombe's interval and t test of {df:.3g} degrees of freedom, with the design "
        f"effect of the own mention rate over prompts ({deff:.3g})",
    )


def _tested(
    whole: Difference,
    variance: float,
    df: float,
    k: int,
    name: str,
    level: float,
    least: int = LEAST_CLUSTERS,
) -> Difference:
    """Add interval and p-value to a difference, if there are enough clusters."""
    if k < least:
        why = f"{k} {name} on one side or both; it takes {least} to say how much they differ"
        return replace(whole, why=why)
    if not varies(variance, max(abs(whole.before), abs(whole.after))):
        return replace(
            whole, why=f"nothing differs between {k} {name}, which is too little to go by"
        )
    error = math.sqrt(variance)
    df = max(df, 1.0)
    half = t_quantile((1 + level) / 2, df) * error
    change = whole.change
    return replace(
        whole,
        error=error,
        df=df,
        low=change - half,
        high=change + half,
        p=two_sided(change / error, df),
    )
