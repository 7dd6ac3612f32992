"""Difference in differences within prompts, and its checks on the days before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.stats.cluster_sums import Integers, Numbers
from aatoolkit.stats.difference import freedom
from aatoolkit.stats.distributions import t_quantile, two_sided
from aatoolkit.stats.estimate import LEAST_CLUSTERS, varies

_POWER = 0.8
_NAN = float("nan")
_PLACEBOS = 3
_LEAST_DAYS = 4
"""As many days before the action are needed for the checks."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PromptDays:
    """The sums Σy and Σn by prompt and day: one entry per pair with answers."""

    prompt: Integers
    day: Numbers
    y: Numbers
    n: Numbers
    prompts: int

    def only(self, rows: Mask) -> PromptDays:
        """Select some of the entries."""
        return PromptDays(
            self.prompt[rows], self.day[rows], self.y[rows], self.n[rows], self.prompts
        )

    def of(self, values: Numbers) -> Numbers:
        """Sum values by prompt."""
        return np.bincount(self.prompt, values, minlength=self.prompts).astype(np.float64)


@dataclass(frozen=True)
class GroupChange:
    """The mean change within the prompts of a group, and its variance."""

    before: float = _NAN
    after: float = _NAN
    variance: float = _NAN
    df: float = _NAN
    k: int = 0
    n: float = 0.0

    @property
    def change(self) -> float:
        """The change: after less before."""
        return self.after - self.before


@dataclass(frozen=True)
class DoubleDifference:
    """A difference in differences."""

    kind: str
    on: pd.Timestamp | None
    treated: GroupChange
    control: GroupChange
    level: float

    @property
    def value(self) -> float:
        """The change of the treated less that of the control."""
        return self.treated.change - self.control.change

    @property
    def error(self) -> float:
        """The standard error; NaN where a group has too few prompts."""
        enough = min(self.treated.k, self.control.k) >= LEAST_CLUSTERS
        variance = self.treated.variance + self.control.variance
        sides = (self.treated, self.control)
        size = max(abs(value) for side in sides for value in (side.before, side.after))
        return math.sqrt(variance) if enough and varies(variance, size) else _NAN

    @property
    def df(self) -> float:
        """Welch's degrees of freedom."""
        parts = [(side.variance, side.df) for side in (self.treated, self.control)]
        spread = sum(v**2 / df for v, df in parts)
        return max(sum(v for v, _ in parts) ** 2 / spread, 1.0) if spread > 0 else 1.0

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return t_quantile((1 + self.level) / 2, self.df) * self.error if self.error > 0 else _NAN

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        return two_sided(self.value / self.error, self.df) if self.error > 0 else _NAN

    def detectable(self, tests: int = 1) -> float:
        """The change that 80 % of such samples would show, as one of so many tests."""
        if not self.error > 0:
            return _NAN
        tail = (1 - self.level) / tests / 2
        return (t_quantile(1 - tail, self.df) + t_quantile(_POWER, self.df)) * self.error


def double_difference(
    kind: str, on: pd.Timestamp, panels: Sequence[PromptDays], at: float, level: float
) -> DoubleDifference:
    """Compute the difference in differences of treated and control prompts at a day."""
    sides = [_change(panel, at) for panel in panels]
    return DoubleDifference(kind, on, sides[0], sides[1], level)


def _change(panel: PromptDays, at: float) -> GroupChange:
    """Compute the mean change within prompts that have answers before and after a day."""
    late = panel.day >= at
    y1, n1, y0, n0 = (
        panel.of(np.where(rows, values, 0.0))
        for rows in (late, ~late)
        for values in (panel.y, panel.n)
    )
    both = (n1 > 0) & (n0 > 0)
    y1, n1, y0, n0 = (each[both] for each in (y1, n1, y0, n0))
    k = len(n1)
    if not k:
        return GroupChange()
    weight = n1 * n0 / (n1 + n0)
    change = y1 / n1 - y0 / n0
    mean = float((weight * change).sum() / weight.sum())
    # What is shown as before and after is the mean with the same weights.
    before = float((weight * y0 / n0).sum() / weight.sum())
    score = weight * (change - mean) / weight.sum()
    variance = k / (k - 1) * float((score**2).sum()) if k > 1 else _NAN
    size = float(n1.sum() + n0.sum())
    return GroupChange(before, before + mean, variance, freedom(weight, score), k, size)


def checks(panels: Sequence[PromptDays], day: pd.Timestamp, level: float) -> list[DoubleDifference]:
    """Compute the pre-trend and the placebo effects, from the days before alone."""
    early = [panel.only(panel.day < 0) for panel in panels]
    there = np.unique(np.concatenate([panel.day for panel in early]))
    if len(there) < _LEAST_DAYS:
        return []
    late = np.unique(np.concatenate([panel.day[panel.day >= 0] for panel in panels]))
    span = float(late.mean() - there.mean()) if len(late) else _NAN
    sides = [_slope(panel, span) for panel in early]
    found = [DoubleDifference("pre-trend", None, sides[0], sides[1], level)]
    middle = len(there) // 2
    places = sorted({middle} if len(there) < 16 else {len(there) // 4, middle, 3 * len(there) // 4})
    for place in places[:_PLACEBOS]:
        at = float(there[place])
        found.append(double_difference("placebo", day + pd.Timedelta(days=at), early, at, level))
    return found


def _slope(panel: PromptDays, span: float) -> GroupChange:
    """Compute the linear trend within prompts, over so many days."""
    size, total = panel.of(panel.n), panel.of(panel.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (panel.of(panel.n * panel.day) / size)[panel.prompt]
        rate = (total / size)[panel.prompt]
    off = panel.day - middle
    per_prompt = panel.of(panel.n * off**2)
    used = per_prompt > 0
    k, whole = int(used.sum()), float(per_prompt.sum())
    if not k:
        return GroupChange()
    slope = float((off * panel.y).sum()) / whole
    score = panel.of(off * (panel.y - panel.n * (rate + slope * off)))[used] / whole
    variance = k / (k - 1) * float((score**2).sum()) if k > 1 else _NAN
    df = freedom(per_prompt[used], score)
    start = float(total.sum() / size.sum())
    return GroupChange(start, start + slope * span, variance * span**2, df, k, float(size.sum()))
