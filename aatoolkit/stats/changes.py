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
    name_all,
    number,
    plain_value,
    statistic,
    take,
    total_of,
)

RATES, COUNTS, MEANS = "binomial", "Poisson", "normal"
_WORDS = {RATES: "rate", COUNTS: "count", MEANS: "mean"}
MOST_DAYS = 1_100
_SHUFFLED = (
    "the share of this series and those of its days shuffled in blocks (seed 0) that "
    "gain as much from a change"
)
_LEAST_DAYS = 20
_SEGMENT = 5
_PERMUTATIONS = 499
_TINY = 1e-9
_LEAST_SPREAD = 0.3
_CLEAR = 0.0045
"""A p-value that a series of days which are merely alike hardly ever has."""
_SHORT, _SHORT_P, _SHORT_LIKENESS = 150, 0.015, -0.05
"""Fewer days hide that they are alike: it takes a lower p-value, and less likeness."""


@statistic("changes", "frame")
def changes(
    frame: pd.DataFrame, column: str, date: str, level: float, rules: Rules | None = None
) -> pd.DataFrame:
    """Detect the days on which a level changed; see ``df.aa.changes``."""
    check_level(level)
    sums = cluster_sums(frame, column, None, date, rules, counts=True)
    order = np.argsort(sums.labels[sums.cluster])
    days, (y, n) = sums.labels[sums.cluster][order], sums.parts(order)
    if len(days) > MOST_DAYS:
        why = f"{len(days):,} days; {MOST_DAYS:,} are the most: aggregate to weeks first"
        raise refusal(column, "changes", why)
    kind = COUNTS if sums.is_count else RATES if sums.is_rate else MEANS
    size = total_of(n)
    row: dict[str, Any] = {}
    if len(days):
        row |= {"from_day": days.min(), "to_day": days.max()}
    rows = [row]
    if len(days) < _LEAST_DAYS:
        row["why"] = f"{len(days)} days with answers, and at least {_LEAST_DAYS} are needed"
    elif not np.isfinite((plain_value(y) ** 2).sum()):
        row["why"] = "its numbers are too large to compute with"
    else:
        plain = plain_value(y), plain_value(n)
        if kind == MEANS:  # about 0, with a variance of 1
            centred = plain[0] - plain[1] * (plain[0].sum() / plain[1].sum())
            scale = np.sqrt(max(float((centred**2 / plain[1]).mean()), _TINY))
            plain = centred / scale, plain[1]
        starts, p_value, spread = _segments(*plain, level, kind)
        p = drawn("p", p_value, _SHUFFLED, y, n)
        before = total_of(y) / size
        name_all(before=before)
        row |= {"p": p, "before": before, "after": alias("after", before)}
        row["why"] = _unclear(*plain, p_value, kind) if starts else ""
        if starts and not row["why"]:
            bounds = [0, *starts, len(days)]
            rows = []
            for low, start, high in zip(bounds, starts, bounds[2:], strict=False):
                step = _step(y, n, low, start, high, kind == RATES)
                first, last = _day_interval(*plain, low, high, spread, level, kind)
                places = (start, first, last, low, high - 1)
                names = ("day", "first_day", "last_day", "from_day", "to_day")
                rows.append(step | {"p": p} | dict(zip(names, days[[*places]], strict=True)))
        elif not row["why"]:
            fits = f"one {_WORDS[kind]} of {amount(number(before), kind == RATES)} fits all"
            row["why"] = f"{fits} {len(days)} days; small changes would not show"
            row["verdict"] = "no evidence"
    method = f"{kind} likelihood, exact segmentation, days shuffled in blocks"
    common: dict[str, Any] = {name: np.nan for name, *_ in TABLES["changes"]}
    common |= {"n": size, "verdict": "cannot say", "clusters": count_of(n), "method": method}
    return result(
        "changes",
        [common | row for row in rows],
        [sums.metadata],
        sums.states[0],
        unit=sums.unit,
        level=level,
        average={RATES: "The rate", COUNTS: "The count a day", MEANS: "The mean"}[kind],
        what="Days" if kind == COUNTS else "Answers",
    )


def _step(y: Any, n: Any, low: int, start: int, high: int, is_rate: bool) -> dict[str, Any]:
    """A change with the levels before and after it."""
    spans = [np.arange(low, start), np.arange(start, high)]
    (y0, y1), (n0, n1) = ([take(part, span) for span in spans] for part in (y, n))
    before, after = total_of(y0) / total_of(n0), total_of(y1) / total_of(n1)
    name_all(y0=y0, n0=n0, y1=y1, n1=n1, before=before, after=after)
    change = after - before
    moved = f"{amount(number(before), is_rate)} to {amount(number(after), is_rate)}"
    return {
        "before": before,
        "after": after,
        "change": change,
        "n": total_of(n0) + total_of(n1),
        "verdict": "up" if number(change) > 0 else "down",
        "why": f"{moved}, {points(number(change), is_rate)}",
    }


def _cost(y: Numbers, n: Numbers, kind: str) -> Numbers:
    """Compute twice the negative log likelihood of one level, from sums of hits and trials."""
    miss = n - y
    if kind == MEANS:
        return -np.where(n > 0, y**2 / n, 0.0)
    likelihood = np.where(y > 0, y * np.log(y / n), 0.0)
    if kind == RATES:
        likelihood = likelihood + np.where(miss > 0, miss * np.log(miss / n), 0.0)
    return -2 * likelihood


def _split(y: Numbers, n: Numbers, at: Integers, kind: str) -> tuple[Numbers, Integers]:
    """Find the best split of either part of each series: its gain in likelihood, and its day.

    The parts are those before and from a day; from day 0 it is the whole series.
    """
    rows, days = np.arange(len(y)), y.shape[1]
    sum_y, sum_n = (np.pad(np.cumsum(part, axis=1), ((0, 0), (1, 0))) for part in (y, n))
    place = np.arange(days + 1)[None, :]
    is_late = place >= at[:, None]
    left, right = np.where(is_late, at[:, None], 0), np.where(is_late, days, at[:, None])
    (left_y, left_n), (right_y, right_n) = (
        [np.take_along_axis(sums, ends, axis=1) for sums in (sum_y, sum_n)]
        for ends in (left, right)
    )
    left_cost = _cost(sum_y - left_y, sum_n - left_n, kind)
    parts = left_cost + _cost(right_y - sum_y, right_n - sum_n, kind)
    gains = _cost(right_y - left_y, right_n - left_n, kind) - parts
    gains[(place - left < _SEGMENT) | (right - place < _SEGMENT)] = 0.0
    best = gains.argmax(axis=1)
    return gains[rows, best], best


def _split_rates(y: Numbers, n: Numbers, *starts: Integers) -> Numbers:
    """Compute the rate of each day between some splits of each series."""
    segment = sum(np.arange(y.shape[1]) >= at[:, None] for at in starts)
    rate = np.zeros_like(y)
    for part in range(len(starts) + 1):
        inside = segment == part
        sums = [np.where(inside, values, 0.0).sum(1, keepdims=True) for values in (y, n)]
        rate = np.where(inside, sums[0] / sums[1], rate)
    return rate


def _best(y: Numbers, n: Numbers, kind: str) -> list[tuple[Numbers, Numbers]]:
    """Compute the gains of the best split and of the best two, and each day's level."""
    gain, at = _split(y, n, np.zeros(len(y), np.int64), kind)
    more, second = _split(y, n, at, kind)
    two = _split_rates(y, n, at, np.where(more > 0, second, at))
    return [(gain, _split_rates(y, n, at)), (gain + more, two)]


def _unclear(y: Numbers, n: Numbers, p: float, kind: str) -> str:
    """Why changes may be chance among days that are alike; empty where they are not."""
    if p <= _CLEAR:
        return ""
    # The autocorrelation of neighbouring days about the best two steps.
    days, ((_, levels),) = len(y), _best(y[None], n[None], kind)[1:]
    residual = ((y - n * levels[0]) / np.sqrt(n)).ravel()
    residual = residual - residual.mean()
    alike = float((residual[1:] * residual[:-1]).sum() / max((residual**2).sum(), _TINY))
    # Of independent days the autocorrelation about the best steps is some -0.1 ± 1/√days.
    if alike > 1.65 / np.sqrt(days) - 0.1:
        return (
            f"neighbouring days are alike (autocorrelation {alike:.2f} about the best steps), and "
            "such days take steps by themselves"
        )
    if days < _SHORT and (p > _SHORT_P or alike > _SHORT_LIKENESS):
        return (
            f"{days} days are too few to tell a step of this size from neighbouring days that are "
            f"alike, as such days take steps by themselves; it takes {_SHORT} days, or a clearer "
            "step"
        )
    return ""


def _spread(y: Numbers, n: Numbers, rate: Numbers, kind: str) -> Numbers:
    """Estimate the long-run dispersion of each series' days, relative to independent answers.

    Pearson's dispersion about the rates, times 1 + 2Σ(1-l/(L+1))·r_l with the autocorrelations r
    of the residuals (Newey & West, *Econometrica* 55, 1987): what makes neighbouring days alike
    makes flat series look as if they had changed.
    """
    residual = y - n * rate
    squares = np.maximum((residual**2).sum(1), _TINY)
    variance = {RATES: rate * (1 - rate), COUNTS: rate, MEANS: np.ones_like(rate)}[kind]
    expected = np.maximum((n * variance).sum(1), _TINY)
    dispersion: Numbers = np.maximum(squares / expected, _LEAST_SPREAD)
    return np.maximum(long_run_factor(residual), _LEAST_SPREAD) * dispersion


@lru_cache(maxsize=4)
def _shuffled(days: int) -> Integers:
    """Permute the days in blocks, so that most neighbours stay neighbours."""
    rng = np.random.default_rng(0)
    length = max(2, round(days ** (1 / 3)))
    order = np.empty((_PERMUTATIONS, days), np.int64)
    for row in order:
        begins = int(rng.integers(length))
        blocks = np.array_split(np.roll(np.arange(days), -begins), np.arange(length, days, length))
        mixed = np.concatenate([blocks[block] for block in rng.permutation(len(blocks))])
        row[:] = np.roll(mixed, int(rng.integers(days)))
    return order


def _segments(y: Numbers, n: Numbers, level: float, kind: str) -> tuple[list[int], float, float]:
    """Find the starts of new segments, the p-value of no change, and the dispersion of days.

    What the best split gains, and what the best two gain, is divided by the long-run variance of
    days about them, and compared with the same of the days in shuffled blocks; the quantile of
    one split, times the variance that is left, is what one segment more must gain. The best of so
    many segments are found exactly (Auger & Lawrence, *Bulletin of Mathematical Biology* 51, 1989).
    Where neither one split nor two gain as much, there is no change.
    """
    order = _shuffled(len(y))
    hits, sizes = (np.concatenate([part[None], part[order]]) for part in (y, n))
    first, both = (
        gain / _spread(hits, sizes, levels, kind) for gain, levels in _best(hits, sizes, kind)
    )
    # The place of each series among all, by one split and by two; the better of both counts.
    above = [(gains >= gains[:, None] - 1e-9).sum(axis=1) for gains in (first, both)]
    best_rank = np.minimum(*above)
    p = int((best_rank <= best_rank[0]).sum()) / len(best_rank)
    if p > 1 - level:
        return [], p, 1.0
    quantile = float(np.quantile(first[1:], level))
    least = 2 if above[1][0] < above[0][0] else 1
    starts: list[int] = []
    cost, spread = float(_cost(y.sum(), n.sum(), kind)), 1.0
    for more, less in _segmentations(y, n, kind):
        bounds = [0, *more, len(y)]
        levels = np.repeat(
            [y[a:b].sum() / n[a:b].sum() for a, b in pairwise(bounds)], np.diff(bounds)
        )
        about = float(_spread(y[None], n[None], levels[None], kind)[0])
        # The first are those that were tested; a further one holds against what is left.
        if len(starts) >= least and cost - less < quantile * about:
            break
        starts, cost, spread = more, less, about
    return starts, p, spread


def _segmentations(y: Numbers, n: Numbers, kind: str) -> Iterator[tuple[list[int], float]]:
    """Yield the best segmentations into two segments, three and so on: starts and cost."""
    sum_y, sum_n = (np.concatenate([[0.0], np.cumsum(part)]) for part in (y, n))
    days, place = len(y), np.arange(len(y) + 1)
    costs = _cost(sum_y - sum_y[:, None], sum_n - sum_n[:, None], kind)  # from a day to a day
    costs[place - place[:, None] < _SEGMENT] = np.inf
    best, origins = costs[0], []
    for _ in range(2, days // _SEGMENT + 1):
        totals = best[:, None] + costs
        best = totals.min(axis=0)
        origins.append(totals.argmin(axis=0))
        begins, end = [], days
        for layer in reversed(origins):
            end = int(layer[end])
            begins.append(end)
        yield begins[::-1], float(best[days])


def _day_interval(
    y: Numbers, n: Numbers, low: int, high: int, spread: float, level: float, kind: str
) -> tuple[int, int]:
    """Compute the credible interval of the day of a change between two others, by a flat prior.

    The likelihood is flattened by how much more days vary than independent answers do. How often
    the set covers the day is checked roughly.
    """
    y, n = y[low:high], n[low:high]
    head_y, head_n = np.cumsum(y)[:-1], np.cumsum(n)[:-1]
    cost = _cost(head_y, head_n, kind) + _cost(y.sum() - head_y, n.sum() - head_n, kind)
    least = _TINY if kind == MEANS else 1.0
    weight = np.exp(-(cost - cost.min()) / (2 * max(spread, least)))
    order = np.argsort(-weight, kind="stable")
    chosen = order[: int(np.searchsorted(np.cumsum(weight[order]) / weight.sum(), level)) + 1]
    return low + int(chosen.min()) + 1, low + int(chosen.max()) + 1
