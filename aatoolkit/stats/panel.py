"""Difference in differences within prompts, and its checks on the days before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.difference import freedom, name_all
from aatoolkit.stats.estimate import LEAST_CLUSTERS, varies
from aatoolkit.stats.trace import Many, One, plain_value, t_quantile, take, two_sided

_NAN = float("nan")
_PLACEBOS = 3
_LEAST_DAYS = 4
"""As many days before the action are needed for the checks."""

WORDS = ("treated", "control")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PromptDays:
    """The sums Σy and Σn by prompt and day: one entry per pair with answers."""

    prompt: Integers
    day: Any
    y: Any
    n: Any
    prompts: int

    def only(self, rows: Mask) -> PromptDays:
        """Select some of the entries."""
        at = np.flatnonzero(rows)
        day, y, n = (take(values, at) for values in (self.day, self.y, self.n))
        return PromptDays(self.prompt[rows], day, y, n, self.prompts)

    @property
    def days(self) -> Numbers:
        """The day of each entry, from that of the action."""
        days: Numbers = plain_value(self.day)
        return days

    def of(self, values: Any, rows: Mask | None = None) -> Any:
        """Sum values by prompt, over some of the entries."""
        if rows is None:
            return Many(self.prompt, self.prompts).total(values)
        return Many(self.prompt[rows], self.prompts).total(take(values, np.flatnonzero(rows)))


@dataclass(frozen=True)
class GroupChange:
    """The mean change within the prompts of a group, and its variance.

    In formulas ``z`` are the residuals of prompts, and ``m`` their weights.
    """

    before: Any = _NAN
    after: Any = _NAN
    variance: Any = _NAN
    df: Any = _NAN
    k: Any = 0
    n: Any = 0.0


@dataclass(frozen=True)
class DoubleDifference:
    """A difference in differences; without error where a group has too few prompts."""

    kind: str
    on: pd.Timestamp | None
    treated: GroupChange
    control: GroupChange
    level: float
    value: Any
    error: Any
    df: Any
    low: Any
    high: Any
    p: Any


def double_difference(
    kind: str, on: pd.Timestamp | None, groups: Sequence[GroupChange], level: Any
) -> DoubleDifference:
    """Compute the difference of two changes, with Welch's degrees of freedom."""
    treated, control = groups
    for word, side in zip(WORDS, groups, strict=True):
        name_all(**{f"{word}_{end}": getattr(side, end) for end in ("before", "after")})
        name_all(**{f"v_{word}": side.variance, f"df_{word}": side.df})
        name_all(**{f"k_{word}": side.k, f"n_{word}": side.n})
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (treated.after - treated.before) - (control.after - control.before)
        variance = treated.variance + control.variance
        spread = treated.variance**2 / treated.df + control.variance**2 / control.df
        df: Any = np.where(
            spread > 0, np.maximum(variance**2 / np.maximum(spread, 1e-300), 1.0), 1.0
        )
        error = np.sqrt(variance)
        name_all(change=value, error=error, df=df)
        ends = [plain_value(end) for side in groups for end in (side.before, side.after)]
        enough = min(int(plain_value(side.k)) for side in groups) >= LEAST_CLUSTERS
        if not (enough and varies(plain_value(variance), np.max(np.abs(ends)))):
            nothing = dict.fromkeys(("error", "low", "high", "p"), _NAN)
            df = float(plain_value(df))
            return DoubleDifference(kind, on, treated, control, level, value, df=df, **nothing)
        half = t_quantile((1 + level) / 2, df) * error
        p = two_sided(value / error, df)
    low, high = value - half, value + half
    return DoubleDifference(kind, on, treated, control, level, value, error, df, low, high, p)


def change_within(panel: PromptDays, at: float, word: str = "group") -> GroupChange:
    """Compute the mean change within prompts that have answers before and after a day."""
    late = panel.days >= at
    sums = [panel.of(values, rows) for rows in (late, ~late) for values in (panel.y, panel.n)]
    both = np.flatnonzero((plain_value(sums[1]) > 0) & (plain_value(sums[3]) > 0))
    k = len(both)
    if not k:
        return GroupChange()
    y1, n1, y0, n0 = (take(values, both) for values in sums)
    name_all(y1=y1, n1=n1, y0=y0, n0=n0)
    weight = n1 * n0 / (n1 + n0)
    name_all(m=weight)
    whole = One.total(weight)
    name_all(whole=whole)
    # What is shown as before and after is the mean with the same weights.
    before, after = (One.total(weight * y / n) / whole for y, n in ((y0, n0), (y1, n1)))
    name_all(**{f"{word}_before": before, f"{word}_after": after})
    z = weight * (y1 / n1 - y0 / n0 - (after - before)) / whole
    name_all(z=z)
    return _group(before, after, z, weight, One.count(weight), One.total(n1) + One.total(n0))


def _group(before: Any, after: Any, z: Any, m: Any, k: Any, n: Any) -> GroupChange:
    variance = k / (k - 1) * One.total(z**2) if plain_value(k) > 1 else _NAN
    return GroupChange(before, after, variance, freedom(m, z), k, n)


def checks(
    panels: Sequence[PromptDays], day: pd.Timestamp, level: Any, span: Any = None
) -> list[DoubleDifference]:
    """Compute the pre-trend and the placebo effects, from the days before alone."""
    early = [panel.only(panel.days < 0) for panel in panels]
    there = np.unique(np.concatenate([panel.days for panel in early]))
    if len(there) < _LEAST_DAYS:
        return []
    late = np.unique(np.concatenate([panel.days[panel.days >= 0] for panel in panels]))
    length = float(late.mean() - there.mean()) if len(late) else _NAN
    length = length if span is None else span(length)
    trend = [slope_within([side], length, word) for side, word in zip(early, WORDS, strict=True)]
    made = [double_difference("pre-trend", None, trend, level)]
    middle = len(there) // 2
    places = sorted({middle} if len(there) < 16 else {len(there) // 4, middle, 3 * len(there) // 4})
    for place in places[:_PLACEBOS]:
        at = float(there[place])
        groups = [change_within(*side) for side in zip(early, (at, at), WORDS, strict=True)]
        made.append(double_difference("placebo", day + pd.Timedelta(days=at), groups, level))
    return made


def _about_middle(panel: PromptDays) -> tuple[Any, Any, Any, Any]:
    """Sum by prompt the squares and products of days about their middle; Σn and Σy."""
    size, total = panel.of(panel.n), panel.of(panel.y)
    name_all(size=size, total=total)
    middle = panel.of(panel.n * panel.day) / size
    name_all(middle=middle)
    off = panel.day - take(middle, panel.prompt)
    name_all(off=off)
    return panel.of(panel.n * off**2), panel.of(off * panel.y), size, total


def own_trend(panels: Sequence[PromptDays], day: pd.Timestamp, level: Any) -> DoubleDifference:
    """Compute what the difference of trends within both periods comes to between their middles."""
    days = np.unique(np.concatenate([panel.days for panel in panels]))
    span = float(days[days >= 0].mean() - days[days < 0].mean())
    periods = [(panel.only(panel.days < 0), panel.only(panel.days >= 0)) for panel in panels]
    return double_difference("trend", day, [slope_within(side, span) for side in periods], level)


def slope_within(panels: Sequence[PromptDays], span: Any, word: str = "group") -> GroupChange:
    """Compute the linear trend within prompts, over so many days.

    Of several panels of the same prompts, such as two periods, it is the trend within each.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = [_about_middle(panel) for panel in panels]
        spread, moved, size, total = (reduce(add, parts) for parts in zip(*sums, strict=True))
        name_all(spread=spread, move=moved)
        used = np.flatnonzero(plain_value(spread) > 0)
        if not len(used):
            return GroupChange()
        m, moved = take(spread, used), take(moved, used)
        name_all(m=m, moved=moved)
        whole = One.total(m)
        slope = One.total(moved) / whole
        there = np.flatnonzero(plain_value(size) > 0)
        total, size = take(total, there), take(size, there)
        name_all(y=total, n=size)
        start = One.total(total) / One.total(size)
        name_all(**{"whole": whole, "slope": slope, f"{word}_before": start})
        z = (moved - slope * m) / whole * span
        name_all(z=z)
    return _group(start, start + slope * span, z, m, One.count(m), One.total(size))
