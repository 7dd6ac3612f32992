"""Confidence intervals and significance tests for two samples of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, fsum, sqrt

_MIN_VARIANCE = 1e-24
"""The smallest variance that counts; one below is a rounding error of zero."""


def clustered_interval(successes_and_sizes: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the bounds of a 95 % confidence interval of the share of answers with some property.

    ``successes_and_sizes`` has a tuple for each prompt: the number of answers with the property,
    and the number of all answers. Answers to the same prompt may be correlated. The method is
    Wilson's interval with the effective sample size, and with a quantile of Student's t.

    Kott, P. S. and Carr, D. A. (1997), Journal of Official Statistics 13; compared with others by
    Franco, C., Little, R., Louis, T. and Slud, E. (2019), Journal of Survey Statistics and
    Methodology 7.
    """
    prompt_count = len(successes_and_sizes)
    answer_count = sum(prompt_answer_count for _, prompt_answer_count in successes_and_sizes)
    rate = sum(successes for successes, _ in successes_and_sizes) / answer_count
    variance = (
        fsum(
            (successes - rate * prompt_answer_count) ** 2
            for successes, prompt_answer_count in successes_and_sizes
        )
        / answer_count**2
    )
    variance *= prompt_count / (prompt_count - 1)
    # If prompts do not differ, each of them counts as one observation.
    effective_sample_size = (
        rate * (1 - rate) / variance if variance > _MIN_VARIANCE else float(prompt_count)
    )
    sample_size = min(effective_sample_size, float(answer_count))
    quantile = _t_quantile(prompt_count - 1)
    wilson_divisor = 1 + quantile**2 / sample_size
    centre = (rate + quantile**2 / (2 * sample_size)) / wilson_divisor
    half_width = (
        quantile
        / wilson_divisor
        * sqrt(rate * (1 - rate) / sample_size + quantile**2 / (4 * sample_size**2))
    )
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def _t_quantile(degrees_of_freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution.

    From 4 degrees of freedom on, the error is at most 0.3 %.

    Abramowitz, M. and Stegun, I. A. (1964): Handbook of Mathematical Functions, 26.7.5.
    """
    z = 1.959963984540054
    series_terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + fsum(
        term / float(degrees_of_freedom) ** power for power, term in enumerate(series_terms, 1)
    )


def p_value_of_change(prompt_totals: Iterable[Sequence[float]]) -> float:
    """Test whether a mean is the same in two windows, and return the two-sided p-value.

    ``prompt_totals`` has four numbers for each prompt: the sum of the values in the first window,
    the number of answers in it, and the same two numbers for the second window. The test is a score
    test of a generalised estimating equation, with a variance that is robust to clusters (prompts).
    If a window has no answers, the result is 1.

    Rotnitzky, A. and Jewell, N. P. (1990): Hypothesis testing of regression parameters in
    semiparametric generalized linear models for cluster correlated data. Biometrika 77, 485-497.
    """
    prompt_rows = [*prompt_totals]
    window_sizes = sum(row[1] for row in prompt_rows), sum(row[3] for row in prompt_rows)
    if not all(window_sizes):
        return 1.0
    mean = sum(row[0] + row[2] for row in prompt_rows) / sum(window_sizes)
    prompt_scores = [
        (second_total - mean * second_sample_size) / window_sizes[1]
        - (first_total - mean * first_sample_size) / window_sizes[0]
        for first_total, first_sample_size, second_total, second_sample_size in prompt_rows
    ]
    variance = fsum(score**2 for score in prompt_scores)
    return erfc(abs(fsum(prompt_scores)) / sqrt(2 * variance)) if variance > _MIN_VARIANCE else 1.0


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the false discovery rate, in the order of the argument.

    Benjamini, Y. and Hochberg, Y. (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300.
    """
    adjusted_p_values = [1.0] * len(p_values)
    running_minimum = 1.0
    sorted_indices = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank in range(len(sorted_indices), 0, -1):
        index = sorted_indices[rank - 1]
        running_minimum = min(running_minimum, p_values[index] * len(sorted_indices) / rank)
        adjusted_p_values[index] = running_minimum
    return adjusted_p_values
