"""Student's t and the normal distribution, to double precision, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

_NORMAL = NormalDist()
_STEPS = 500
_TINY = 1e-300
_EPSILON = 1e-16


def t_quantiles(probability: float, df: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute t quantiles for many degrees of freedom, rounded down to a tenth: never too narrow.

    Examples
    --------
    >>> t_quantiles(0.975, np.array([4.0, 4.09])).round(3).tolist()
    [2.776, 2.776]
    """
    steps = np.where(df < 200, np.floor(df * 10 + 1e-9) / 10, np.floor(df))
    distinct, codes = np.unique(steps, return_inverse=True)
    found = np.array([t_quantile(probability, each) for each in distinct.tolist()], np.float64)
    quantiles: npt.NDArray[np.float64] = found[codes]
    return quantiles


def normal_quantile(probability: float) -> float:
    """Compute the quantile of the standard normal distribution.

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return _NORMAL.inv_cdf(probability)


def t_survival(t: float, df: float) -> float:
    """Compute the probability of a value beyond ``t``, for Student's t.

    The regularised incomplete beta function, by its continued fraction (Numerical Recipes,
    3rd edition, 6.4).

    Examples
    --------
    >>> round(t_survival(2.0, 5), 6)
    0.05097
    """
    if math.isinf(df):
        return 0.5 * math.erfc(t / math.sqrt(2))
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    tail = 0.5 * _beta_fraction(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))
    return tail if t >= 0 else 1 - tail


def two_sided(t: float, df: float) -> float:
    """Compute the two-sided p-value of a t statistic.

    Examples
    --------
    >>> round(two_sided(-2.0, 5), 6)
    0.101939
    """
    return min(2 * t_survival(abs(t), df), 1.0)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Compute the quantile of Student's t.

    Examples
    --------
    >>> round(t_quantile(0.975, 4), 6), round(t_quantile(0.975, float("inf")), 6)
    (2.776445, 1.959964)
    """
    if math.isinf(df):
        return normal_quantile(probability)
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    wanted, low, high = 1 - probability, 0.0, 1.0
    while t_survival(high, df) > wanted:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_survival(middle, df) > wanted else (low, middle)
    return (low + high) / 2


def _beta_fraction(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x, where ``rest`` is 1 - x and b is 1/2."""
    if x <= 0 or rest <= 0:
        return float(x > 0)
    # Of x and 1 - x each has its digits where it is small, and may be 1 where the other is.
    log_x = math.log(x) if x < rest else math.log1p(-rest)
    front = math.exp(_log_gamma_ratio(a) - math.lgamma(b) + a * log_x + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _lentz(a, b, x) / a
    return 1 - front * _lentz(b, a, rest) / b


def _log_gamma_ratio(a: float) -> float:
    """log Γ(a + 1/2) / Γ(a), without the difference of two large logarithms."""
    if a < 25:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    series = -1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)
    return 0.5 * math.log(a) + series


def _lentz(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _away(1 + term * d), _away(1 + term / c)
            found *= d * c
        if abs(d * c - 1) < _EPSILON:
            break
    return found


def _away(value: float) -> float:
    """Replace a number near 0 by a tiny one, to divide by it."""
    return value if abs(value) > _TINY else _TINY
