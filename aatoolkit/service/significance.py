"""Confidence intervals and significance tests for two samples of answers."""

from __future__ import annotations

from math import erfc, sqrt

_Z95 = 1.959963984540054


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


def means_differ(first: tuple[float, float, int], second: tuple[float, float, int]) -> float:
    """The two-sided p-value of the z test that two means are equal.

    Each is a triple of a mean, a sample variance and a sample size.
    """
    (mean, variance, size), (other, other_variance, other_size) = first, second
    return _two_sided(other - mean, variance / size + other_variance / other_size)


def _two_sided(difference: float, variance: float) -> float:
    if variance <= 0:
        return 0.0 if difference else 1.0
    return erfc(abs(difference) / sqrt(2 * variance))
