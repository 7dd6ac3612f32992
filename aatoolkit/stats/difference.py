"""Test a change between two samples: paired by cluster, of two sets of clusters, of answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.estimate import LEAST_CLUSTERS, varies, wilson
from aatoolkit.stats.trace import (
    One,
    Traced,
    named,
    normal_quantile,
    plain_value,
    t_quantile,
    two_sided,
)

POWER = 0.8
_NO_END = 1e-3
_NAN = float("nan")
Part = tuple[Integers, Numbers, Numbers]
"""Of one side: the clusters, Σy and Σn of each."""


@dataclass(frozen=True)
class Change:
    """A change, and what it is computed from; the names are those of the formulas.

    ``z`` are the residuals of clusters, ``m`` their sizes, ``error`` the standard error of the
    change, ``unequal`` how unequally clusters would move; of totals ``answers1`` and ``answers0``
    are the effective sample sizes, ``q`` is the quantile and ``pooled_error`` the error of the
    test.
    """

    after: Any
    before: Any
    change: Any
    size_after: Any
    size_before: Any
    clusters: Any
    error: Any
    df: Any
    low: Any = None
    high: Any = None
    p: Any = None
    z: Any = None
    m: Any = None
    answers1: Any = None
    answers0: Any = None
    q: Any = None
    pooled: Any = None
    pooled_error: Any = None
    unequal: Any = 0.0


@dataclass(frozen=True)
class Sample:
    """The rate or mean of one side over clusters, its variance and degrees of freedom."""

    value: Any
    size: Any
    z: Any
    variance: Any
    df: Any
    clusters: Any


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
    unequal: float = 0.0
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
    return tested(after, before, error, freedom(m, z), level, sizes, k, z=z, m=m, unequal=unequal)


def _unequal(y: Any, m: Any, k: Any) -> Any:
    """The standard error that a change of 1 has because clusters do not move alike.

    A rate near 0 or 1 moves less than one of a half: by p(1-p), if all log odds move alike.
    """
    room = m * (y / m) * (1 - y / m)
    name_all(room=room)
    whole = One.total(room)
    share = room / np.where(whole > 0, whole, 1.0) - m / One.total(m)
    name_all(share=share)
    return np.where(whole > 0, np.sqrt(k / (k - 1) * One.total(share**2)), 0.0)


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
    made = Change(after, before, change, *sizes, sizes[0] * _NAN, error, df, low, high, p)
    return named(replace(made, answers1=a, answers0=b, q=q, pooled=pooled, pooled_error=test))


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
    made = Change(after, before, change, *sizes, clusters, error, df, *ends, p, **more)
    return named(made)


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
    if not np.size(plain_value(m)):
        return 1.0
    fourth = One.total(z**4)
    with np.errstate(divide="ignore", invalid="ignore"):
        carry = One.total(m) ** 2 / One.total(m**2) - 1
        of_variance = np.where(fourth > 0, One.total(z**2) ** 2 / _not_zero(fourth), carry)
        return np.maximum(np.minimum(carry, of_variance), 1.0)


def _not_zero(value: Any) -> Any:
    return value if isinstance(value, Traced) or value > 0 else _NAN


def name_all(**values: Any) -> None:
    """Name traced numbers, so that formulas refer to them by name."""
    for name, value in values.items():
        if isinstance(value, Traced) and not value.name:
            value.name = name


def _difference(made: Change, method: str) -> Difference:
    """The plain numbers of a change."""
    names = {field.name for field in fields(Difference)}
    numbers = {name: float(getattr(made, name)) for name in vars(made).keys() & names}
    return Difference(
        **numbers | {"n": float(made.size_after), "n_before": float(made.size_before)},  # type: ignore[arg-type]
        method=method,
    )


def paired(
    parts: Sequence[Part],
    labels: Sequence[pd.Index],
    name: str,
    level: float,
    *,
    is_rate: bool = False,
) -> tuple[Difference, tuple[str, ...]]:
    """Test the change over the clusters that both sides have; return notes on the others too."""
    (codes, y1, n1), (others, y0, n0) = parts
    places = labels[1][others].get_indexer(labels[0][codes])
    common = places >= 0
    entered, left = int((~common).sum()), len(others) - int(common.sum())
    y1, n1 = y1[common], n1[common]
    y0, n0 = y0[places[common]], n0[places[common]]
    k = len(y1)
    moved: tuple[str, ...] = ()
    if entered or left:
        moved = (
            f"the set of {name} changed ({entered} entered, {left} left): "
            f"compared are the {k} on both sides",
        )
    if not k:
        return replace(NOTHING, why=f"no {name} is on both sides", clusters=0.0), moved
    with np.errstate(divide="ignore", invalid="ignore"):
        made = changed(y1, n1, y0, n0, level, is_rate=is_rate) if k > 1 else _single(y1, n1, y0, n0)
    method = f"paired by {name}, linearised, t of {float(made.df):.3g} degrees of freedom"
    return _judged(_difference(made, method), k, name), moved


def _single(y1: Numbers, n1: Numbers, y0: Numbers, n0: Numbers) -> Change:
    """The values of one cluster, which say nothing of how clusters differ."""
    after, before = (float(y.sum() / n.sum()) for y, n in ((y1, n1), (y0, n0)))
    sizes = (float(n1.sum()), float(n0.sum()))
    return Change(after, before, after - before, *sizes, 1, _NAN, 1.0, _NAN, _NAN, _NAN)


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
    factors = [long_run_factor(y, n) if in_order else 1.0 for _, y, n in parts]
    k1, k0 = (len(n) for _, _, n in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        if min(k1, k0) > 1:
            one, two = (
                sample_of(y, n, suffix, factor)
                for (_, y, n), suffix, factor in zip(parts, "10", factors, strict=True)
            )
            made = changed_samples(one, two, level)
        else:
            made = replace(_single(*parts[0][1:], *parts[1][1:]), clusters=k1 + k0)
    alike = ", long-run variance" if in_order else ""
    freedoms = f"Welch's t of {float(made.df):.3g} degrees of freedom"
    method = f"two samples of {name}, linearised{alike}, {freedoms}"
    return _judged(_difference(made, method), min(k1, k0), name, least)


def long_run_factor(y: Any, n: Any) -> float:
    """How much more a sum varies than independent days would, 1 at least: 1 + 2Σ(1-l/(L+1))·r_l.

    With the autocorrelations r of residuals in their order (Newey & West, *Econometrica* 55, 1987).
    """
    y, n = plain_value(y), plain_value(n)
    residual = y - n * (y.sum() / n.sum())
    whole = float((residual**2).sum())
    lags = max(round(1.5 * len(residual) ** (1 / 3)), 2)
    factor = 1.0
    if whole > 0 and len(residual) > lags:
        for lag in range(1, lags + 1):
            alike = float((residual[:-lag] * residual[lag:]).sum()) / whole
            factor += 2 * (1 - lag / (lags + 1)) * alike
    return max(factor, 1.0)


def independent(
    parts: Sequence[Part],
    squares: Sequence[Numbers],
    is_rate: bool,
    level: float,
    deff: float = 1.0,
    df: float = math.inf,
) -> Difference:
    """Test the change between two samples of answers that are taken for independent.

    Rates by Newcombe's interval and the z test of two proportions, means by Welch's t.
    """
    (_, y1, n1), (_, y0, n0) = parts
    a, b = float(n1.sum()), float(n0.sum())
    if not min(a, b) > 0:
        return replace(NOTHING, why="no answers on one side or both")
    with np.errstate(divide="ignore", invalid="ignore"):
        if not is_rate:
            if min(a, b) > 1:
                samples = (answers_of(y1, n1, squares[0], "1"), answers_of(y0, n0, squares[1], "0"))
                made = replace(changed_samples(*samples, level), clusters=_NAN)
            else:
                made = replace(_single(y1, n1, y0, n0), clusters=_NAN)
            whole = _difference(made, "Welch's t; takes answers for independent")
            return _judged(whole, int(min(a, b)), "answers", 2)
        made = changed_totals(y1, n1, y0, n0, level, deff, df)
    method = "Newcombe's interval and z test; takes answers for independent"
    if deff != 1 or not math.isinf(df):
        method = (
            f"Newcombe's interval and t test of {df:.3g} degrees of freedom, with the design "
            f"effect of the own mention rate over prompts ({deff:.3g})"
        )
    return _difference(made, method)


def _judged(whole: Difference, k: int, name: str, least: int = LEAST_CLUSTERS) -> Difference:
    """The difference, without interval and p-value where there are too few clusters."""
    if k < least:
        why = f"{k} {name} on one side or both; at least {least} are needed to test a change"
        return replace(whole, why=why).refused()
    if not varies(whole.error**2, max(abs(whole.before), abs(whole.after))):
        why = f"nothing differs between {k} {name}, too few to estimate an error"
        return replace(whole, why=why).refused()
    return whole
