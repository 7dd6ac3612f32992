"""``df.aa.changes``: find the days on which a daily rate, count or mean shifted its level."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.stats.estimate import check_level, long_run_variance_factor
from aatoolkit.stats.results import (
    CANNOT_SAY,
    DOWN,
    NO_EVIDENCE,
    RESULT_COLUMNS_BY_STATISTIC,
    UP,
    format_amount,
    format_points,
    make_result,
)
from aatoolkit.stats.sums import Rules, cluster_sums
from aatoolkit.stats.trace import (
    FloatArray,
    IntArray,
    RowDict,
    count_of,
    name_traced_variables,
    record_statistic,
    take,
    total_of,
    trace_alias,
    trace_random_number,
    untrace,
)

# The distributions of daily rates, counts and means.
BINOMIAL = "binomial"
POISSON = "Poisson"
NORMAL = "normal"
_NOUN_BY_DISTRIBUTION = {BINOMIAL: "rate", POISSON: "count", NORMAL: "mean"}
_P_VALUE_DESCRIPTION = (
    "the share of this series and those of its days shuffled in blocks (seed 0) that "
    "gain as much from a change"
)
_MIN_DAYS = 20  # the minimum number of days with answers
_MIN_SEGMENT_DAYS = 5  # the minimum number of days between two changes
_PERMUTATION_COUNT = 499  # the number of shuffled series that the series is compared with
_MIN_DIVISOR = 1e-9  # keeps divisors above 0
_MIN_DISPERSION = 0.3  # the smallest variance, relative to that of independent answers
_MAX_CERTAIN_P = 0.0045
"""Up to this p-value, a change is believed: autocorrelated days hardly ever give a lower one."""
_SHORT_SERIES_DAYS = 150
_SHORT_SERIES_MAX_P = 0.015
_SHORT_SERIES_MAX_AUTOCORRELATION = -0.05
"""In a series of fewer days than the first number, a change is believed only if its p-value and the
autocorrelation of the days are below the other two numbers.
"""


@record_statistic("changes", "frame")
def changes(
    frame: pd.DataFrame, column: str, date: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Detect the days on which a daily series shifted to another level; see ``df.aa.changes``."""
    check_level(level)
    daily_sums = cluster_sums(frame, column, None, date, rules, allow_counts=True)
    date_sort_order = np.argsort(daily_sums.cluster_labels[daily_sums.cluster_ids])
    sorted_days = daily_sums.cluster_labels[daily_sums.cluster_ids][date_sort_order]
    y, n = daily_sums.y_and_n(date_sort_order)
    distribution = POISSON if daily_sums.is_count else BINOMIAL if daily_sums.is_rate else NORMAL
    size = total_of(n)
    unchanged_row: RowDict = {}
    if len(sorted_days):
        unchanged_row |= {"from_day": sorted_days.min(), "to_day": sorted_days.max()}
    result_rows = [unchanged_row]
    if len(sorted_days) < _MIN_DAYS:
        unchanged_row["why"] = (
            f"only {len(sorted_days)} of the {_MIN_DAYS} days with answers that it takes"
        )
    elif not np.isfinite((untrace(y) ** 2).sum()):
        unchanged_row["why"] = "its numbers are too large to compute with"
    else:
        y_and_n = untrace(y), untrace(n)
        if distribution == NORMAL:  # about 0, with a variance of 1
            centred_y = y_and_n[0] - y_and_n[1] * (y_and_n[0].sum() / y_and_n[1].sum())
            daily_std = np.sqrt(max(float((centred_y**2 / y_and_n[1]).mean()), _MIN_DIVISOR))
            y_and_n = centred_y / daily_std, y_and_n[1]
        change_points, p_value, dispersion = _find_change_points(*y_and_n, level, distribution)
        p = trace_random_number("p", p_value, _P_VALUE_DESCRIPTION, y, n)
        before = total_of(y) / size
        name_traced_variables()
        unchanged_row |= {"p": p, "before": before, "after": trace_alias("after", before)}
        unchanged_row["why"] = (
            _reason_to_doubt(*y_and_n, p_value, distribution) if change_points else ""
        )
        if change_points and not unchanged_row["why"]:
            segment_bounds = [0, *change_points, len(sorted_days)]
            result_rows = []
            for segment_start, change_point, segment_end in zip(
                segment_bounds, change_points, segment_bounds[2:], strict=False
            ):
                change_row = _make_change_row(
                    y, n, segment_start, change_point, segment_end, distribution == BINOMIAL
                ) | {"p": p}
                first_day, last_day = _day_interval(
                    *y_and_n, segment_start, segment_end, dispersion, level, distribution
                )
                column_day_pairs = zip(
                    ("day", "first_day", "last_day", "from_day", "to_day"),
                    sorted_days[
                        [change_point, first_day, last_day, segment_start, segment_end - 1]
                    ],
                    strict=True,
                )
                result_rows.append(change_row | dict(column_day_pairs))
        elif not unchanged_row["why"]:
            unchanged_row["why"] = (
                f"one {_NOUN_BY_DISTRIBUTION[distribution]} of "
                f"{format_amount(before, distribution == BINOMIAL)} fits all {len(sorted_days)} "
                "days; small changes would not show"
            )
            unchanged_row["verdict"] = NO_EVIDENCE
    method = f"{distribution} likelihood, exact segmentation, days shuffled in blocks"
    default_row: RowDict = dict.fromkeys(
        (name for name, *_ in RESULT_COLUMNS_BY_STATISTIC["changes"]), np.nan
    )
    default_row |= {"n": size, "verdict": CANNOT_SAY, "clusters": count_of(n), "method": method}
    return make_result(
        "changes",
        [default_row | result_row for result_row in result_rows],
        [daily_sums.metadata],
        daily_sums.availabilities[0],
        unit=daily_sums.unit,
        level=level,
        average=f"The {_NOUN_BY_DISTRIBUTION[distribution]}" + " a day" * daily_sums.is_count,
        what="Days" if distribution == POISSON else "Answers",
    )


def _make_change_row(
    y: Any, n: Any, segment_start: int, change_point: int, segment_end: int, is_rate: bool
) -> RowDict:
    """Return one row of the result, as a dict by column, for one change point of a daily series.

    The old level holds from the day ``segment_start`` on, the new level from ``change_point`` to
    the day before ``segment_end``; all three are positions of days. ``y`` and ``n`` have the
    numerator and denominator of each day.
    """
    segments = [np.arange(segment_start, change_point), np.arange(change_point, segment_end)]
    (y0, y1), (n0, n1) = ([take(y_or_n, segment) for segment in segments] for y_or_n in (y, n))
    before = total_of(y0) / total_of(n0)
    after = total_of(y1) / total_of(n1)
    name_traced_variables()
    change = after - before
    return {
        "before": before,
        "after": after,
        "change": change,
        "n": total_of(n0) + total_of(n1),
        "verdict": UP if change > 0 else DOWN,
        "why": f"{format_amount(before, is_rate)} to {format_amount(after, is_rate)}, "
        f"{format_points(change, is_rate)}",
    }


def _deviance(y: FloatArray, n: FloatArray, distribution: str) -> FloatArray:
    """Return -2 log likelihood (up to a constant) of segments of days, each with a constant level.

    ``y`` and ``n`` are the sums of numerators and denominators over each segment.
    ``distribution`` is "binomial", "Poisson" or "normal".
    """
    miss_count = n - y
    if distribution == NORMAL:
        return -np.where(n > 0, y**2 / n, 0.0)
    log_likelihood = np.where(y > 0, y * np.log(y / n), 0.0)
    if distribution == BINOMIAL:
        log_likelihood = log_likelihood + np.where(
            miss_count > 0, miss_count * np.log(miss_count / n), 0.0
        )
    return -2 * log_likelihood


def _find_best_split(
    y: FloatArray, n: FloatArray, split_days: IntArray, distribution: str
) -> tuple[FloatArray, IntArray]:
    """Find for each daily series the best additional split, i.e. that with the highest likelihood.

    Each row of ``y`` and ``n`` is a series with an element per day. ``split_days`` has for each
    series the day at which it is already split, or 0 if it is not.
    Returns two arrays with an element per series: the decrease of -2 log likelihood by the new
    split, and the first day after it.
    """
    day_count = y.shape[1]
    cumulative_y, cumulative_n = (
        np.pad(np.cumsum(y_or_n, axis=1), ((0, 0), (1, 0))) for y_or_n in (y, n)
    )
    split_positions = np.arange(day_count + 1)[None, :]
    is_after_split = split_positions >= split_days[:, None]
    segment_starts = np.where(is_after_split, split_days[:, None], 0)
    segment_ends = np.where(is_after_split, day_count, split_days[:, None])
    (left_y, left_n), (right_y, right_n) = (
        [
            np.take_along_axis(cumulative_sums, edge_positions, axis=1)
            for cumulative_sums in (cumulative_y, cumulative_n)
        ]
        for edge_positions in (segment_starts, segment_ends)
    )
    left_deviances = _deviance(cumulative_y - left_y, cumulative_n - left_n, distribution)
    split_deviances = left_deviances + _deviance(
        right_y - cumulative_y, right_n - cumulative_n, distribution
    )
    gains = _deviance(right_y - left_y, right_n - left_n, distribution) - split_deviances
    gains[
        (split_positions - segment_starts < _MIN_SEGMENT_DAYS)
        | (segment_ends - split_positions < _MIN_SEGMENT_DAYS)
    ] = 0.0
    best_split_days = gains.argmax(axis=1)
    return gains[np.arange(len(y)), best_split_days], best_split_days


def _segment_means_by_day(y: FloatArray, n: FloatArray, *segment_starts: IntArray) -> FloatArray:
    """Return for each day of each series (row) the mean of the segment that the day is in.

    Each of ``segment_starts`` is an array with the first day of a segment of each series; the first
    segment, which starts at day 0, is left out.
    """
    segment_numbers = sum(
        np.arange(y.shape[1]) >= segment_start[:, None] for segment_start in segment_starts
    )
    segment_means = np.zeros_like(y)
    for segment_number in range(len(segment_starts) + 1):
        is_in_segment = segment_numbers == segment_number
        segment_sums = [
            np.where(is_in_segment, y_or_n, 0.0).sum(1, keepdims=True) for y_or_n in (y, n)
        ]
        segment_means = np.where(is_in_segment, segment_sums[0] / segment_sums[1], segment_means)
    return segment_means


def _find_best_splits(
    y: FloatArray, n: FloatArray, distribution: str
) -> list[tuple[FloatArray, FloatArray]]:
    """Split each daily series into two segments, and then one of these again.

    ``y`` and ``n`` have the numerators and denominators, in a row per series and a column per day.
    Each split is the one with the highest likelihood. The result has a pair of arrays for two
    segments, and one for three: the decrease of -2 log likelihood of each series by its splits; and
    the level of each day of each series, i.e. the mean of its segment.
    """
    first_split_gains, first_split_days = _find_best_split(
        y, n, np.zeros(len(y), np.int64), distribution
    )
    second_split_gains, second_split_days = _find_best_split(y, n, first_split_days, distribution)
    segment_means = _segment_means_by_day(
        y,
        n,
        first_split_days,
        np.where(second_split_gains > 0, second_split_days, first_split_days),
    )
    return [
        (first_split_gains, _segment_means_by_day(y, n, first_split_days)),
        (first_split_gains + second_split_gains, segment_means),
    ]


def _reason_to_doubt(y: FloatArray, n: FloatArray, p: float, distribution: str) -> str:
    """Return why autocorrelation of the days may explain a change point; "" if it does not.

    ``y`` and ``n`` have the numerator and denominator of each day, ``p`` is the p-value.
    """
    if p <= _MAX_CERTAIN_P:
        return ""
    # The autocorrelation of residuals about the levels of the best two splits.
    day_count = len(y)
    ((_, segment_means),) = _find_best_splits(y[None], n[None], distribution)[1:]
    residuals = ((y - n * segment_means[0]) / np.sqrt(n)).ravel()
    residuals = residuals - residuals.mean()
    autocorrelation = float(
        (residuals[1:] * residuals[:-1]).sum() / max((residuals**2).sum(), _MIN_DIVISOR)
    )
    # Of independent days this autocorrelation is about -0.1 ± 1/√days.
    if autocorrelation > 1.65 / np.sqrt(day_count) - 0.1:
        return (
            f"neighbouring days are alike (autocorrelation {autocorrelation:.2f} about the best "
            "steps), and such days take steps by themselves"
        )
    if day_count < _SHORT_SERIES_DAYS and (
        p > _SHORT_SERIES_MAX_P or autocorrelation > _SHORT_SERIES_MAX_AUTOCORRELATION
    ):
        return (
            f"{day_count} days are too few to tell a step of this size from neighbouring days that "
            "are alike, as such days take steps by themselves; it takes "
            f"{_SHORT_SERIES_DAYS} days, or a clearer step"
        )
    return ""


def _dispersion(
    y: FloatArray, n: FloatArray, expected_values: FloatArray, distribution: str
) -> FloatArray:
    """Return each series' long-run variance, divided by the variance of independent answers.

    ``y`` and ``n`` have the numerators and denominators, in a row per series and a column per day.
    ``expected_values``, of the same shape, has the value that is expected on each day, such as the
    mean of its segment. ``distribution`` is that of the answers: `BINOMIAL`, `POISSON` or `NORMAL`.
    """
    # Pearson's dispersion about ``expected_values``, times 1 + 2Σ(1-l/(L+1))·r_l, where r_l is the
    # autocorrelation of the residuals at lag l, up to a lag L (Newey & West, *Econometrica* 55,
    # 1987). Without this factor, a flat series whose neighbouring days are alike looks as if it had
    # changed.
    residuals = y - n * expected_values
    sum_of_squares = np.maximum((residuals**2).sum(1), _MIN_DIVISOR)
    variance = {
        BINOMIAL: expected_values * (1 - expected_values),
        POISSON: expected_values,
        NORMAL: np.ones_like(expected_values),
    }[distribution]
    expected_sum_of_squares = np.maximum((n * variance).sum(1), _MIN_DIVISOR)
    dispersion: FloatArray = np.maximum(sum_of_squares / expected_sum_of_squares, _MIN_DISPERSION)
    return np.maximum(long_run_variance_factor(residuals), _MIN_DISPERSION) * dispersion


@lru_cache(maxsize=4)
def _shuffle_days(day_count: int) -> IntArray:
    """Return permutations of the days, one per row, which move blocks of neighbouring days."""
    rng = np.random.default_rng(0)
    block_length = max(2, round(day_count ** (1 / 3)))
    permutations = np.empty((_PERMUTATION_COUNT, day_count), np.int64)
    for permutation in permutations:
        offset = int(rng.integers(block_length))
        day_blocks = np.array_split(
            np.roll(np.arange(day_count), -offset), np.arange(block_length, day_count, block_length)
        )
        shuffled_days = np.concatenate(
            [day_blocks[block_number] for block_number in rng.permutation(len(day_blocks))]
        )
        permutation[:] = np.roll(shuffled_days, int(rng.integers(day_count)))
    return permutations


def _find_change_points(
    y: FloatArray, n: FloatArray, confidence_level: float, distribution: str
) -> tuple[list[int], float, float]:
    """Return the first day of each new segment, the p-value of "no change", and the dispersion.

    ``y`` and ``n`` have the numerator and denominator of each day. The dispersion is the variance
    of the daily values, divided by the variance that independent answers would have.
    """
    # Two statistics are computed: the gain in likelihood of the best split in two segments, and in
    # three, each divided by the long-run dispersion of the days. Each is ranked among the same
    # statistics of series whose days are shuffled in blocks. The better rank gives the p-value. If
    # it is significant, further segments are accepted as long as each gains more than the remaining
    # dispersion times a quantile of the first statistic over the shuffled series: the quantile at
    # ``confidence_level``.
    permutations = _shuffle_days(len(y))
    series_y, series_n = (np.concatenate([y_or_n[None], y_or_n[permutations]]) for y_or_n in (y, n))
    one_split_gains, two_split_gains = (
        split_gains / _dispersion(series_y, series_n, segment_means, distribution)
        for split_gains, segment_means in _find_best_splits(series_y, series_n, distribution)
    )
    # The rank of each series among all, by one split and by two; the better rank counts.
    ranks_by_split_count = [
        (gains >= gains[:, None] - 1e-9).sum(axis=1) for gains in (one_split_gains, two_split_gains)
    ]
    series_ranks = np.minimum(*ranks_by_split_count)
    p = int((series_ranks <= series_ranks[0]).sum()) / len(series_ranks)
    if p > 1 - confidence_level:
        return [], p, 1.0
    gain_quantile = float(np.quantile(one_split_gains[1:], confidence_level))
    tested_split_count = 2 if ranks_by_split_count[1][0] < ranks_by_split_count[0][0] else 1
    change_points: list[int] = []
    deviance = float(_deviance(y.sum(), n.sum(), distribution))
    dispersion = 1.0
    for new_change_points, new_deviance in _iterate_segmentations(y, n, distribution):
        segment_bounds = [0, *new_change_points, len(y)]
        segment_means = np.repeat(
            [
                y[segment_start:segment_end].sum() / n[segment_start:segment_end].sum()
                for segment_start, segment_end in pairwise(segment_bounds)
            ],
            np.diff(segment_bounds),
        )
        new_dispersion = float(_dispersion(y[None], n[None], segment_means[None], distribution)[0])
        # The first segments were tested; a further one must gain more than the quantile.
        if (
            len(change_points) >= tested_split_count
            and deviance - new_deviance < gain_quantile * new_dispersion
        ):
            break
        change_points = new_change_points
        deviance = new_deviance
        dispersion = new_dispersion
    return change_points, p, dispersion


def _iterate_segmentations(
    y: FloatArray, n: FloatArray, distribution: str
) -> Iterator[tuple[list[int], float]]:
    """Yield the best segmentation of a daily series into two segments, into three, and so on.

    A segmentation is a pair: the positions of the first days of all segments but the first, and
    -2 log likelihood.
    """
    # It is exact (Auger & Lawrence, *Bulletin of Mathematical Biology* 51, 1989).
    cumulative_y, cumulative_n = (np.concatenate([[0.0], np.cumsum(y_or_n)]) for y_or_n in (y, n))
    day_count = len(y)
    day_positions = np.arange(len(y) + 1)
    deviances = _deviance(
        cumulative_y - cumulative_y[:, None], cumulative_n - cumulative_n[:, None], distribution
    )  # from a day to a day
    deviances[day_positions - day_positions[:, None] < _MIN_SEGMENT_DAYS] = np.inf
    best_deviances = deviances[0]
    last_segment_starts_by_count = []
    for _ in range(2, day_count // _MIN_SEGMENT_DAYS + 1):
        total_deviances = best_deviances[:, None] + deviances
        best_deviances = total_deviances.min(axis=0)
        last_segment_starts_by_count.append(total_deviances.argmin(axis=0))
        segment_starts = []
        segment_end = day_count
        for last_segment_starts in reversed(last_segment_starts_by_count):
            segment_end = int(last_segment_starts[segment_end])
            segment_starts.append(segment_end)
        yield segment_starts[::-1], float(best_deviances[day_count])


def _day_interval(
    y: FloatArray,
    n: FloatArray,
    segment_start: int,
    segment_end: int,
    dispersion: float,
    confidence_level: float,
    distribution: str,
) -> tuple[int, int]:
    """Return the first and the last day of a credible interval for the day of a change point.

    The change point is between the days ``segment_start`` (inclusive) and ``segment_end``
    (exclusive), both as positions. ``dispersion`` is the variance of the daily values, divided by
    the variance that independent answers would have.
    """
    # With a flat prior. The log likelihood is divided by ``dispersion``, as days differ more than
    # independent answers would. The coverage was checked only roughly.
    y = y[segment_start:segment_end]
    n = n[segment_start:segment_end]
    left_y = np.cumsum(y)[:-1]
    left_n = np.cumsum(n)[:-1]
    deviances = _deviance(left_y, left_n, distribution) + _deviance(
        y.sum() - left_y, n.sum() - left_n, distribution
    )
    min_dispersion = _MIN_DIVISOR if distribution == NORMAL else 1.0
    posterior_weights = np.exp(
        -(deviances - deviances.min()) / (2 * max(dispersion, min_dispersion))
    )
    ranked_days = np.argsort(-posterior_weights, kind="stable")
    likely_days = ranked_days[
        : int(
            np.searchsorted(
                np.cumsum(posterior_weights[ranked_days]) / posterior_weights.sum(),
                confidence_level,
            )
        )
        + 1
    ]
    return segment_start + int(likely_days.min()) + 1, segment_start + int(likely_days.max()) + 1
