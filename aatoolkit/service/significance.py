"""Confidence intervals and significance tests for two samples of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, fsum, sqrt

_Z95 = 1.959963984540054
_NOTHING = 1e-24
"""A variance that is that of rounding."""


def clustered_interval(prompts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the 95 % interval of a proportion, clustered by prompt.

    Wilson's interval on the effective sample size, with the linearised variance over prompts and
    Student's t.

    Kott, P. S. and Carr, D. A. (1997), Journal of Official Statistics 13; compared with others by
    Franco, C., Little, R., Louis, T. and Slud, E. (2019), Journal of Survey Statistics and
    Methodology 7.
    """
    count, trials = len(prompts), sum(size for _, size in prompts)
    rate = sum(hits for hits, _ in prompts) / trials
    variance = fsum((hits - rate * size) ** 2 for hits, size in prompts) / trials**2
    variance *= count / (count - 1)
    # No difference between prompts is no certainty: they are then as many observations.
    size = rate * (1 - rate) / variance if variance > _NOTHING else float(count)
    n, quantile = min(size, float(trials)), _t95(count - 1)
    spread = 1 + quantile**2 / n
    centre = (rate + quantile**2 / (2 * n)) / spread
    half = quantile / spread * sqrt(rate * (1 - rate) / n + quantile**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def _t95(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, to 0.3 % from 4 degrees of freedom.

    Abramowitz, M. and Stegun, I. A. (1964): Handbook of Mathematical Functions, 26.7.5.
    """
    z = _Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def windows_differ(prompts: Iterable[Sequence[float]]) -> float:
    """Compute the two-sided p-value that a mean is the same in two windows.

    Answers to one prompt resemble each other, so that a prompt counts as one observation: each
    is a tuple of the total and the size in the first window, and those in the second. The
    statistic is the score of a generalised estimating equation with independent answers, over
    its cluster-robust deviation; it cannot exceed the root of the number of prompts, so that a
    few prompts never show much.

    Rotnitzky, A. and Jewell, N. P. (1990): Hypothesis testing of regression parameters in
    semiparametric generalized linear models for cluster correlated data. Biometrika 77, 485-497.
    """
    rows = [*prompts]
    sizes = sum(row[1] for row in rows), sum(row[3] for row in rows)
    if not all(sizes):
        return 1.0
    mean = sum(row[0] + row[2] for row in rows) / sum(sizes)
    scores = [
        (later - mean * after) / sizes[1] - (earlier - mean * before) / sizes[0]
        for earlier, before, later, after in rows
    ]
    variance = fsum(score**2 for score in scores)
    return erfc(abs(fsum(scores)) / sqrt(2 * variance)) if variance > _NOTHING else 1.0


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the false discovery rate, by Benjamini and Hochberg.

    Benjamini, Y. and Hochberg, Y. (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300.
    """
    results, minimum = [1.0] * len(p_values), 1.0
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank in range(len(ranked), 0, -1):
        index = ranked[rank - 1]
        minimum = min(minimum, p_values[index] * len(ranked) / rank)
        results[index] = minimum
    return results
