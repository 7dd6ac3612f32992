"""``df.aa.changes``: the days on which a rate, count or mean changed, as change points."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.stats.estimate import check_level, long_run_factor
from aatoolkit.stats.results import TABLES, amount, points, refusal, result
from aatoolkit.stats.sums import Rules, cluster_sums
from aatoolkit.stats.trace import (
    Integers,
    Numbers,
    alias,
    count_of,
    drawn,
    name_variables,
    plain_value,
    statistic,
    take,
    total_of,
)

RATES, COUNTS, MEANS = "binomial", "Poisson", "normal"
_WORDS = {RATES: "rate", COUNTS: "count", MEANS: "mean"}
MAX_DAYS = 1_100
_P_TEXT = (
    "the share of this series and those of its days shuffled in blocks (seed 0) that "
    "gain as much from a change"
)
_MIN_DAYS = 20
_MIN_SEGMENT = 5
_PERMUTATIONS = 499
_EPSILON = 1e-9
_MIN_DISPERSION = 0.3
_CERTAIN_P = 0.0045
"""Autocorrelation of days alone hardly ever gives a p-value as low as this."""
_SHORT_SERIES, _SHORT_P, _SHORT_AUTOCORRELATION = 150, 0.015, -0.05
"""In series with fewer days, p-value and autocorrelation must be below the other two numbers."""


@statistic("changes", "frame")
def changes(
    frame: pd.DataFrame, column: str, date: str, level: float, rules: Rules | None = None
) -> pd.DataFrame:
    """Detect the days on which a series changed its level; see ``df.aa.changes``."""
    check_level(level)
    sums = cluster_sums(frame, column, None, date, rules, counts=True)
    order = np.argsort(sums.labels[sums.cluster])
    days, (y, n) = sums.labels[sums.cluster][order], sums.parts(order)
    if len(days) > MAX_DAYS:
        reason = f"{len(days):,} days; {MAX_DAYS:,} are the most: aggregate to weeks first"
        raise refusal(column, "changes", reason)
    kind = COUNTS if sums.is_count else RATES if sums.is_rate else MEANS
    size = total_of(n)
    row: dict[str, Any] = {}
    if len(days):
        row |= {"from_day": days.min(), "to_day": days.max()}
    rows = [row]
    if len(days) < _MIN_DAYS:
        row["why"] = f"{len(days)} days with answers, and at least {_MIN_DAYS} are needed"
    elif not np.isfinite((plain_value(y) ** 2).sum()):
        row["why"] = "its numbers are too large to compute with"
    else:
        y_and_n = plain_value(y), plain_value(n)
        if kind == MEANS:  # about 0, with a variance of 1
            centred_y = y_and_n[0] - y_and_n[1] * (y_and_n[0].sum() / y_and_n[1].sum())
            scale = np.sqrt(max(float((centred_y**2 / y_and_n[1]).mean()), _EPSILON))
            y_and_n = centred_y / scale, y_and_n[1]
        starts, p_value, dispersion = _change_points(*y_and_n, level, kind)
        p = drawn("p", p_value, _P_TEXT, y, n)
        before = total_of(y) / size
        name_variables()
        row |= {"p": p, "before": before, "after": alias("after", before)}
        row["why"] = _reason_of_doubt(*y_and_n, p_value, kind) if starts else ""
        if starts and not row["why"]:
            bounds = [0, *starts, len(days)]
            rows = []
            for low, start, high in zip(bounds, starts, bounds[2:], strict=False):
                new_row = _change_row(y, n, low, start, high, kind == RATES) | {"p": p}
                first_day, last_day = _day_interval(*y_and_n, low, high, dispersion, level, kind)
                positions = (start, first_day, last_day, low, high - 1)
                names = ("day", "first_day", "last_day", "from_day", "to_day")
                rows.append(new_row | dict(zip(names, days[[*positions]], strict=True)))
        elif not row["why"]:
            fit_text = f"one {_WORDS[kind]} of {amount(before, kind == RATES)} fits all"
            row["why"] = f"{fit_text} {len(days)} days; small changes would not show"
            row["verdict"] = "no evidence"
    method = f"{kind} likelihood, exact segmentation, days shuffled in blocks"
    defaults: dict[str, Any] = {name: np.nan for name, *_ in TABLES["changes"]}
    defaults |= {"n": size, "verdict": "cannot say", "clusters": count_of(n), "method": method}
    return result(
        "changes",
        [defaults | row for row in rows],
        [sums.metadata],
        sums.states[0],
        unit=sums.unit,
        level=level,
        average={RATES: "The rate", COUNTS: "The count a day", MEANS: "The mean"}[kind],
        what="Days" if kind == COUNTS else "Answers",
    )


def _change_row(y: Any, n: Any, low: int, start: int, high: int, is_rate: bool) -> dict[str, Any]:
    """Return the columns of one change: the levels before and after it, and ``up`` or ``down``.

    The level before is that of the days from ``low`` until the day before ``start``; the level
    after is that of the days from ``start`` until the day before ``high``.
    """
    spans = [np.arange(low, start), np.arange(start, high)]
    (y0, y1), (n0, n1) = ([take(part, span) for span in spans] for part in (y, n))
    before, after = total_of(y0) / total_of(n0), total_of(y1) / total_of(n1)
    name_variables()
    change = after - before
    movement = f"{amount(before, is_rate)} to {amount(after, is_rate)}"
    return {
        "before": before,
        "after": after,
        "change": change,
        "n": total_of(n0) + total_of(n1),
        "verdict": "up" if change > 0 else "down",
        "why": f"{movement}, {points(change, is_rate)}",
    }


def _cost(y: Numbers, n: Numbers, kind: str) -> Numbers:
    """Return -2 log likelihood of segments that each have one level, up to a constant.

    ``y`` and ``n`` are the sums of numerators and denominators in each segment. ``kind`` is the
    distribution, such as ``binomial``.
    """
    miss_count = n - y
    if kind == MEANS:
        return -np.where(n > 0, y**2 / n, 0.0)
    likelihood = np.where(y > 0, y * np.log(y / n), 0.0)
    if kind == RATES:
        likelihood = likelihood + np.where(miss_count > 0, miss_count * np.log(miss_count / n), 0.0)
    return -2 * likelihood


def _split(y: Numbers, n: Numbers, start: Integers, kind: str) -> tuple[Numbers, Integers]:
    """Return how much the best further split of each series improves its fit, and the day of it.

    The rows of ``y`` and ``n`` are series, the columns are days. A series is already split in two
    at its ``start`` (0 for a series in one piece), and the new split may be in either of the two
    segments. The improvement is the decrease of -2 log likelihood.
    """
    rows, day_count = np.arange(len(y)), y.shape[1]
    sum_y, sum_n = (np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0))) for values in (y, n))
    day = np.arange(day_count + 1)[None, :]
    is_late = day >= start[:, None]
    left_ends = np.where(is_late, start[:, None], 0)
    right_ends = np.where(is_late, day_count, start[:, None])
    (left_y, left_n), (right_y, right_n) = (
        [np.take_along_axis(sums, ends, axis=1) for sums in (sum_y, sum_n)]
        for ends in (left_ends, right_ends)
    )
    left_cost = _cost(sum_y - left_y, sum_n - left_n, kind)
    split_cost = left_cost + _cost(right_y - sum_y, right_n - sum_n, kind)
    gains = _cost(right_y - left_y, right_n - left_n, kind) - split_cost
    gains[(day - left_ends < _MIN_SEGMENT) | (right_ends - day < _MIN_SEGMENT)] = 0.0
    best_day = gains.argmax(axis=1)
    return gains[rows, best_day], best_day


def _levels_between(y: Numbers, n: Numbers, *starts: Integers) -> Numbers:
    """Return the level of each day: the mean of the segment that the day is in.

    The rows of ``y`` and ``n`` are series, the columns are days. Each of ``starts`` has, by series,
    the first day of a further segment.
    """
    segment_numbers = sum(np.arange(y.shape[1]) >= start[:, None] for start in starts)
    levels = np.zeros_like(y)
    for segment_number in range(len(starts) + 1):
        is_inside = segment_numbers == segment_number
        sums = [np.where(is_inside, values, 0.0).sum(1, keepdims=True) for values in (y, n)]
        levels = np.where(is_inside, sums[0] / sums[1], levels)
    return levels


def _best_splits(y: Numbers, n: Numbers, kind: str) -> list[tuple[Numbers, Numbers]]:
    """Return two pairs: for the best split of each series in two segments, and in three.

    A pair has the decrease of -2 log likelihood and the level of each day. The third segment is
    made by splitting one of the first two.
    """
    first_gain, first_day = _split(y, n, np.zeros(len(y), np.int64), kind)
    second_gain, second_day = _split(y, n, first_day, kind)
    two_levels = _levels_between(y, n, first_day, np.where(second_gain > 0, second_day, first_day))
    return [(first_gain, _levels_between(y, n, first_day)), (first_gain + second_gain, two_levels)]


def _reason_of_doubt(y: Numbers, n: Numbers, p: float, kind: str) -> str:
    """Return why the changes found may be mere autocorrelation of days; "" if that is unlikely.

    ``y`` and ``n`` are the numerator and the denominator of each day, ``p`` is the p-value of no
    change, and ``kind`` says whether the series has rates, counts or means.
    """
    if p <= _CERTAIN_P:
        return ""
    # The autocorrelation of residuals about the levels of the best two splits.
    days, ((_, levels),) = len(y), _best_splits(y[None], n[None], kind)[1:]
    residual = ((y - n * levels[0]) / np.sqrt(n)).ravel()
    residual = residual - residual.mean()
    autocorrelation = float(
        (residual[1:] * residual[:-1]).sum() / max((residual**2).sum(), _EPSILON)
    )
    # Of independent days this autocorrelation is about -0.1 ± 1/√days.
    if autocorrelation > 1.65 / np.sqrt(days) - 0.1:
        return (
            f"neighbouring days are alike (autocorrelation {autocorrelation:.2f} about the best "
            "steps), and such days take steps by themselves"
        )
    if days < _SHORT_SERIES and (p > _SHORT_P or autocorrelation > _SHORT_AUTOCORRELATION):
        return (
            f"{days} days are too few to tell a step of this size from neighbouring days that are "
            f"alike, as such days take steps by themselves; it takes {_SHORT_SERIES} days, or a "
            "clearer step"
        )
    return ""


def _dispersion(y: Numbers, n: Numbers, levels: Numbers, kind: str) -> Numbers:
    """Return how much larger the long-run variance of each series is than with independent answers.

    It is Pearson's dispersion about ``levels``, times 1 + 2Σ(1-l/(L+1))·r_l, where r_l is the
    autocorrelation of the residuals at lag l, up to a lag L (Newey & West, *Econometrica* 55,
    1987). This factor is needed because a flat series whose neighbouring days are alike looks as if
    it had changed.
    """
    residual = y - n * levels
    squares = np.maximum((residual**2).sum(1), _EPSILON)
    variance = {RATES: levels * (1 - levels), COUNTS: levels, MEANS: np.ones_like(levels)}[kind]
    expected_squares = np.maximum((n * variance).sum(1), _EPSILON)
    dispersion: Numbers = np.maximum(squares / expected_squares, _MIN_DISPERSION)
    return np.maximum(long_run_factor(residual), _MIN_DISPERSION) * dispersion


@lru_cache(maxsize=4)
def _shuffled_days(day_count: int) -> Integers:
    """Return permutations of the days, one per row; neighbouring days move together in blocks."""
    rng = np.random.default_rng(0)
    block_length = max(2, round(day_count ** (1 / 3)))
    order = np.empty((_PERMUTATIONS, day_count), np.int64)
    for permutation in order:
        offset = int(rng.integers(block_length))
        blocks = np.array_split(
            np.roll(np.arange(day_count), -offset), np.arange(block_length, day_count, block_length)
        )
        shuffled_days = np.concatenate([blocks[block] for block in rng.permutation(len(blocks))])
        permutation[:] = np.roll(shuffled_days, int(rng.integers(day_count)))
    return order


def _change_points(
    y: Numbers, n: Numbers, level: float, kind: str
) -> tuple[list[int], float, float]:
    """Return the first day of each new segment, the p-value of "no change", and the dispersion.

    Two statistics are computed: the gain in likelihood of the best split in two segments, and in
    three, each divided by the long-run dispersion of the days about these segments. Each is ranked
    among the same statistics of series whose days are shuffled in blocks. The better of the two
    ranks gives the p-value. If it is significant, further segments are accepted as long as each
    gains enough: more than the remaining dispersion times the ``level`` quantile of the first
    statistic over the shuffled series. For each number of segments, the best segmentation is found
    exactly (Auger & Lawrence, *Bulletin of Mathematical Biology* 51, 1989).
    """
    order = _shuffled_days(len(y))
    numerators, denominators = (np.concatenate([values[None], values[order]]) for values in (y, n))
    one_split, two_splits = (
        gain / _dispersion(numerators, denominators, levels, kind)
        for gain, levels in _best_splits(numerators, denominators, kind)
    )
    # The rank of each series among all, by one split and by two; the better rank counts.
    ranks = [(gains >= gains[:, None] - 1e-9).sum(axis=1) for gains in (one_split, two_splits)]
    best_rank = np.minimum(*ranks)
    p = int((best_rank <= best_rank[0]).sum()) / len(best_rank)
    if p > 1 - level:
        return [], p, 1.0
    quantile = float(np.quantile(one_split[1:], level))
    tested_splits = 2 if ranks[1][0] < ranks[0][0] else 1
    starts: list[int] = []
    cost, dispersion = float(_cost(y.sum(), n.sum(), kind)), 1.0
    for new_starts, new_cost in _segmentations(y, n, kind):
        bounds = [0, *new_starts, len(y)]
        levels = np.repeat(
            [y[start:end].sum() / n[start:end].sum() for start, end in pairwise(bounds)],
            np.diff(bounds),
        )
        new_dispersion = float(_dispersion(y[None], n[None], levels[None], kind)[0])
        # The first segments were tested; a further one must gain more than the quantile.
        if len(starts) >= tested_splits and cost - new_cost < quantile * new_dispersion:
            break
        starts, cost, dispersion = new_starts, new_cost, new_dispersion
    return starts, p, dispersion


def _segmentations(y: Numbers, n: Numbers, kind: str) -> Iterator[tuple[list[int], float]]:
    """Yield the best segmentation in two segments, then in three, and so on: first days and cost.

    The first days are those of all segments but the first. The cost is -2 log likelihood.
    """
    sum_y, sum_n = (np.concatenate([[0.0], np.cumsum(values)]) for values in (y, n))
    day_count, days = len(y), np.arange(len(y) + 1)
    costs = _cost(sum_y - sum_y[:, None], sum_n - sum_n[:, None], kind)  # from a day to a day
    costs[days - days[:, None] < _MIN_SEGMENT] = np.inf
    best_cost, origins = costs[0], []
    for _ in range(2, day_count // _MIN_SEGMENT + 1):
        total_costs = best_cost[:, None] + costs
        best_cost = total_costs.min(axis=0)
        origins.append(total_costs.argmin(axis=0))
        starts, end = [], day_count
        for origin in reversed(origins):
            end = int(origin[end])
            starts.append(end)
        yield starts[::-1], float(best_cost[day_count])


def _day_interval(
    y: Numbers, n: Numbers, low: int, high: int, dispersion: float, level: float, kind: str
) -> tuple[int, int]:
    """Return the first and the last day of the credible interval of a day of change.

    The prior is flat. ``low`` is the day of the change before (or 0), ``high`` that of the change
    after (or the number of days). The log likelihood is divided by ``dispersion``, as days differ
    more than independent answers would. The coverage of the interval was checked only roughly.
    """
    y, n = y[low:high], n[low:high]
    head_y, head_n = np.cumsum(y)[:-1], np.cumsum(n)[:-1]
    cost = _cost(head_y, head_n, kind) + _cost(y.sum() - head_y, n.sum() - head_n, kind)
    min_dispersion = _EPSILON if kind == MEANS else 1.0
    weight = np.exp(-(cost - cost.min()) / (2 * max(dispersion, min_dispersion)))
    days_by_weight = np.argsort(-weight, kind="stable")
    days = days_by_weight[
        : int(np.searchsorted(np.cumsum(weight[days_by_weight]) / weight.sum(), level)) + 1
    ]
    return low + int(days.min()) + 1, low + int(days.max()) + 1
