"""Confidence intervals and significance tests for two samples of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, fsum, sqrt

_Z95 = 1.959963984540054
_NOTHING = 1e-24
"""A variance that is that of rounding."""


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion.

    Wilson, E. B. (1927): Probable inference, the law of succession, and statistical
    inference. Journal of the American Statistical Association 22, 209-212.
    """
    rate = successes / trials
    spread = 1 + _Z95**2 / trials
    centre = (rate + _Z95**2 / (2 * trials)) / spread
    half = _Z95 / spread * sqrt(rate * (1 - rate) / trials + _Z95**2 / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def proportions_differ(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The two-sided p-value of the z test that two proportions are equal.

    Each is a pair of successes and trials; the variance is that of the pooled proportion.
    """
    (successes, trials), (others, other_trials) = first, second
    pooled = (successes + others) / (trials + other_trials)
    variance = pooled * (1 - pooled) * (1 / trials + 1 / other_trials)
    return _two_sided(others / other_trials - successes / trials, variance)


def rates_differ(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The two-sided p-value of the z test that two counts have equal rates per exposure.

    Each is a pair of a count, taken as Poisson, and its exposure.
    """
    (count, exposure), (other, other_exposure) = first, second
    pooled = (count + other) / (exposure + other_exposure)
    variance = pooled / exposure + pooled / other_exposure
    return _two_sided(other / other_exposure - count / exposure, variance)


def windows_differ(prompts: Iterable[tuple[float, int, float, int]]) -> float:
    """The two-sided p-value of the test that a mean is the same in two windows.

    Answers to one prompt resemble each other, so that a prompt counts as one observation: each
    is a tuple of the total and the size in the first window, and those in the second. The
    statistic is the score of a generalised estimating equation with independent answers, over
    its cluster-robust deviation; it cannot exceed the root of the number of prompts, so that a
    few prompts never show much.

    Rotnitzky, A. and Jewell, N. P. (1990): Hypothesis testing of regression parameters in
    semiparametric generalized linear models for cluster correlated data. Biometrika 77, 485-497.
    """
    listed = [*prompts]
    sizes = sum(row[1] for row in listed), sum(row[3] for row in listed)
    if not all(sizes):
        return 1.0
    mean = sum(row[0] + row[2] for row in listed) / sum(sizes)
    scores = [
        (later - mean * after) / sizes[1] - (earlier - mean * before) / sizes[0]
        for earlier, before, later, after in listed
    ]
    variance = fsum(score**2 for score in scores)
    return _two_sided(fsum(scores), variance) if variance > _NOTHING else 1.0


def adjusted(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for their number: those up to q have a false discovery rate of q.

    Benjamini, Y. and Hochberg, Y. (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300.
    """
    found, least = [1.0] * len(p_values), 1.0
    ranked = sorted(range(len(p_values)), key=lambda at: p_values[at])
    for rank in range(len(ranked), 0, -1):
        at = ranked[rank - 1]
        least = min(least, p_values[at] * len(ranked) / rank)
        found[at] = least
    return found


def _two_sided(difference: float, variance: float) -> float:
    if variance <= 0:
        return 0.0 if difference else 1.0
    return erfc(abs(difference) / sqrt(2 * variance))
