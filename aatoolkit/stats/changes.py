"""When a rate changed: ``df.aa.changes``, change points of a series of days."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import COUNT, PROBABILITY
from aatoolkit.stats.cluster_sums import Numbers, Rules, cluster_sums
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, percent, points, result, words

MOST_DAYS = 1_100
_LEAST_DAYS = 20
_SEGMENT = 5
_PERMUTATIONS = 999


def changes(
    frame: pd.DataFrame, column: str, date: str, level: float, rules: Rules | None = None
) -> pd.DataFrame:
    """The days on which a rate changed; see ``df.aa.changes``."""
    check_level(level)
    sums = cluster_sums(frame, column, None, date, rules)
    if not sums.is_proportion:
        why = "change points are of rates, which count some of a number"
        raise AvailabilityError(f"{column} has no change points: {why}", columns={column: why})
    order = np.argsort(sums.labels[sums.cluster])
    days = sums.labels[sums.cluster][order]
    y, n = sums.y[order], sums.n[order]
    if len(days) > MOST_DAYS:
        why = f"{len(days):,} days; {MOST_DAYS:,} are the most: aggregate to weeks first"
        raise AvailabilityError(f"{column}: {why}", columns={column: why})
    unit = sums.unit
    rows: list[tuple[Any, ...]]
    if len(days) < _LEAST_DAYS:
        why = f"cannot say: {len(days)} days with answers, and it takes {_LEAST_DAYS}"
        rows = [(None, None, None, np.nan, np.nan, np.nan, np.nan, n.sum(), "cannot say", why)]
    else:
        found, p = _segments(y, n, level)
        rows = _described(days, y, n, found, p, level)
    table = pd.DataFrame(
        {
            "day": pd.Series([row[0] for row in rows], dtype="datetime64[us]"),
            "first_day": pd.Series([row[1] for row in rows], dtype="datetime64[us]"),
            "last_day": pd.Series([row[2] for row in rows], dtype="datetime64[us]"),
            "before": numbers(row[3] for row in rows),
            "after": numbers(row[4] for row in rows),
            "change": numbers(row[5] for row in rows),
            "p": numbers(row[6] for row in rows),
            "n": numbers(row[7] for row in rows),
            "clusters": numbers([len(days)] * len(rows), "Int64"),
            "verdict": words(row[8] for row in rows),
            "why": words(row[9] for row in rows),
            "method": words(
                ["binomial likelihood, exact segmentation, permutation of days"] * len(rows)
            ),
        }
    )
    change = "absolute pp as fraction" if unit == "fraction 0-1" else unit
    return result(
        table,
        "changes",
        {
            "day": ("The first day of the new rate.", None),
            "first_day": (f"The earliest day of its {level:.0%} interval.", None),
            "last_day": (f"The latest day of its {level:.0%} interval.", None),
            "before": ("The rate from the change before, or the beginning.", unit),
            "after": ("The rate until the next change, or the end.", unit),
            "change": ("After less before.", change),
            "p": ("P-value of no change in the whole series, by permutation.", PROBABILITY),
            "n": ("Answers on both sides.", COUNT),
            "clusters": ("Days with answers; days without are no part of it.", COUNT),
            "verdict": ("up, down, no evidence, or cannot say.", None),
            "why": ("The verdict in words.", None),
            "method": ("How the days were found.", None),
        },
        {},
        sums.known.sources,
        sums.states[0],
    )


def _cost(y: Numbers, n: Numbers) -> Numbers:
    """Twice the negative log likelihood of one rate, of sums of hits and trials."""
    miss = n - y
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(y > 0, y * np.log(y / n), 0.0)
        misses = np.where(miss > 0, miss * np.log(miss / n), 0.0)
    found: Numbers = -2 * (hits + misses)
    return found


def _gains(y: Numbers, n: Numbers) -> Numbers:
    """The most that one change gains, of many series at once: one a row."""
    head_y, head_n = (np.cumsum(each, axis=1)[:, _SEGMENT - 1 : -_SEGMENT] for each in (y, n))
    all_y, all_n = y.sum(1, keepdims=True), n.sum(1, keepdims=True)
    split = _cost(head_y, head_n) + _cost(all_y - head_y, all_n - head_n)
    gains: Numbers = (_cost(all_y, all_n) - split).max(axis=1)
    return gains


def _segments(y: Numbers, n: Numbers, level: float) -> tuple[list[int], float]:
    """The starts of new segments, and the p-value of none.

    The penalty of a change is the quantile of what the best split gains when the days are
    shuffled, which keeps how much days vary. The best segmentation under it is found exactly
    (Jackson et al., *IEEE Signal Processing Letters* 12, 2005). Where the best split alone does
    not gain as much, there is no change.
    """
    rng = np.random.default_rng(0)
    shuffled = np.array([rng.permutation(len(y)) for _ in range(_PERMUTATIONS)])
    null = _gains(y[shuffled], n[shuffled])
    own = float(_gains(y[None], n[None])[0])
    p = (1 + int((null >= own - 1e-9).sum())) / (1 + _PERMUTATIONS)
    if p > 1 - level:
        return [], p
    penalty = float(np.quantile(null, level))
    sum_y, sum_n = (np.concatenate([[0.0], np.cumsum(each)]) for each in (y, n))
    best, origin = np.full(len(y) + 1, np.inf), np.zeros(len(y) + 1, np.int64)
    best[0] = -penalty
    for end in range(_SEGMENT, len(y) + 1):
        starts = np.arange(0, end - _SEGMENT + 1)
        cost = (
            best[starts] + penalty + _cost(sum_y[end] - sum_y[starts], sum_n[end] - sum_n[starts])
        )
        origin[end] = starts[int(np.argmin(cost))]
        best[end] = cost.min()
    found, end = [], len(y)
    while end > 0:
        end = int(origin[end])
        found.append(end)
    return sorted(found)[1:], p


def _described(
    days: pd.Index, y: Numbers, n: Numbers, starts: list[int], p: float, level: float
) -> list[tuple[Any, ...]]:
    size = float(n.sum())
    if not starts:
        rate = float(y.sum()) / size
        why = f"one rate of {percent(rate)} fits all {len(days)} days; small changes would not show"
        return [(None, None, None, rate, rate, np.nan, p, size, "no evidence", why)]
    rows: list[tuple[Any, ...]] = []
    bounds = [0, *starts, len(y)]
    for at, start in enumerate(starts):
        low, high = bounds[at], bounds[at + 2]
        first, last = _day_interval(y[low:high], n[low:high], start - low, level)
        r0 = float(y[low:start].sum() / n[low:start].sum())
        r1 = float(y[start:high].sum() / n[start:high].sum())
        why = f"{percent(r0)} to {percent(r1)}, {points(r1 - r0, True)}"
        rows.append(
            (
                days[start],
                days[low + first],
                days[low + last],
                r0,
                r1,
                r1 - r0,
                p,
                float(n[low:high].sum()),
                "up" if r1 > r0 else "down",
                why,
            )
        )
    return rows


def _day_interval(y: Numbers, n: Numbers, best: int, level: float) -> tuple[int, int]:
    """The days that hold the change with so much of the likelihood, flat prior over days.

    The likelihood is flattened by how much more days vary than independent answers do.
    """
    head_y, head_n = np.cumsum(y)[:-1], np.cumsum(n)[:-1]
    cost = _cost(head_y, head_n) + _cost(y.sum() - head_y, n.sum() - head_n)
    rate = np.where(
        np.arange(len(y)) < best, y[:best].sum() / n[:best].sum(), y[best:].sum() / n[best:].sum()
    )
    spread = n * rate * (1 - rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = np.where(spread > 0, (y - n * rate) ** 2 / spread, 0.0)
    dispersion = max(float(pearson.sum()) / max(len(y) - 2, 1), 1.0)
    weight = np.exp(-(cost - cost.min()) / (2 * dispersion))
    order = np.argsort(-weight, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(weight[order]) / weight.sum(), level)) + 1]
    return int(kept.min()) + 1, int(kept.max()) + 1
