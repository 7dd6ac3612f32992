"""Ranked bars: a number for each of many, the own brand marked, how sure each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import axis, number, spoken, title
from aatoolkit.display.plot.options import Asked
from aatoolkit.display.plot.reduce import reduced
from aatoolkit.display.plot.roles import Numbers, Sheet
from aatoolkit.display.plot.style import INK, MISSING, MUTED, OWN, REST, looks
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK
from aatoolkit.stats import interval


@dataclass(frozen=True)
class Bars:
    """One bar a row, the largest first; what was not measured comes last, hatched."""

    sheet: Sheet
    x: str
    y: str
    by: str | None
    left_out: int

    @property
    def height(self) -> float:
        """Inches."""
        return 1.7 + 0.29 * max(len(self.sheet), 3)

    @property
    def title(self) -> str:
        """What is drawn."""
        most = f", the first {len(self.sheet)} of {len(self.sheet) + self.left_out}"
        said = title(f"{spoken(self.y)} by {spoken(self.sheet.entity(self.x))}")
        return said + (most if self.left_out else "")

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return (self.y,)

    @property
    def values(self) -> Numbers:
        """The length of each bar."""
        return self.sheet.values(self.y)

    @property
    def finding(self) -> str:
        """What the picture shows, in words."""
        values, labels, unit = self.values, self.sheet.text(self.x), self.sheet.unit(self.y)
        there = np.flatnonzero(~np.isnan(values))
        if not len(there):
            return "none of them was measured"
        first, last = there[0], there[-1]
        said = f"{labels[first]} {number(values[first], unit)}"
        if last != first:
            said += f", down to {labels[last]} {number(values[last], unit)}"
        own = [at for at in there if self.sheet.own()[at] and at not in (first, last)]
        if own:
            said += f"; own brand {labels[own[0]]} {number(values[own[0]], unit)}"
        missing = len(values) - len(there)
        return said + (f"; {missing} not measured" if missing else "")

    def draw(self, axes: Axes) -> list[str]:
        """Draw the bars; the notes that go with them."""
        values, unit = self.values, self.sheet.unit(self.y)
        low, high = interval_of(self.sheet, self.y)
        sure = ~np.isnan(low + high + values)
        self._bars(axes)
        rows = np.flatnonzero(sure)
        axes.hlines(rows, low[sure], high[sure], color=INK, linewidth=1.1)
        for ends in (low[sure], high[sure]):
            axes.plot(ends, rows, "|", color=INK, markersize=6)
        ends = np.where(sure, high, np.fmax(np.nan_to_num(values), 0))
        reach = float(ends.max()) or 1.0
        axes.set_xlim(min(float(np.nanmin([*values, 0])) * 1.05, 0), reach * 1.02)
        if np.isnan(values).all():
            axes.set_xticks([])
        for row, sample in enumerate(self._samples()):
            self._words(axes, row, float(ends[row]), reach, sample)
        canvas.frame(axes, "x")
        canvas.row_labels(axes, self.sheet.text(self.x), self.sheet.own().tolist())
        canvas.label_axes(axes, axis(self.sheet, self.y))
        axes.xaxis.set_major_formatter(lambda value, _: number(value, unit))
        return ["Whiskers: 95% interval of the rate."] if sure.any() else []

    def _bars(self, axes: Axes) -> None:
        own, levels = self.sheet.own(), self.sheet.text(self.by) if self.by else []
        look = looks(levels)
        for row, value in enumerate(self.values):
            mark = look[levels[row]] if levels else OWN if own[row] or not own.any() else REST
            width = 0 if np.isnan(value) else value
            face: dict[str, Any] = {"color": mark.colour, "hatch": mark.hatch, "edgecolor": MUTED}
            axes.barh(row, width, height=0.68, linewidth=0.6, **face)
        if look:
            marks = look.values()
            handles = [Patch(fc=mark.colour, hatch=mark.hatch, ec=MUTED) for mark in marks]
            canvas.legend(axes, handles, [spoken(level) for level in look])

    def _words(self, axes: Axes, row: int, end: float, reach: float, sample: float) -> None:
        value, box = self.values[row], None
        if np.isnan(value):
            axes.barh(row, reach, height=0.68, **MISSING)
            words, end = why_missing(self.sheet, self.y, row), 0.0
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
        else:
            n = "" if np.isnan(sample) else f"  (n={number(sample)})"
            words = number(value, self.sheet.unit(self.y)) + n
        text = canvas.plain(fontsize=8, color=INK if box else canvas.ink(axes), bbox=box)
        axes.annotate(
            words, (end, row), xytext=(5, 0), textcoords="offset points", va="center", **text
        )

    def _samples(self) -> Numbers:
        name = self.sheet.sample(self.y)
        if name is None or self.sheet.unit(self.y) != FRACTION:
            return np.full(len(self.sheet), np.nan)
        return self.sheet.values(name)


def plan(sheet: Sheet, asked: Asked) -> Bars | None:
    """Bars of the best number, or of the one asked for, by what names a row."""
    x = asked.x or sheet.naming or next(iter(sheet.of_kind("word")), None)
    y = next(iter(asked.y or [n for n in sheet.measures if n != x]), None)
    if x is None or y is None or sheet.kinds[y] != "number" or sheet.kinds[x] == "list":
        return None
    if asked.x:
        sheet = reduced(sheet, [x, *([asked.by] if asked.by else [])], [y])
    per = sheet.varies_with(y)
    if per:
        words = pd.Series(sheet.text(per))
        sheet = sheet.only((words == words.mode()[0]).to_numpy())
    values = sheet.values(y)
    down = values if sheet.unit(y) == RANK else -values
    order = np.argsort(np.where(np.isnan(down), np.inf, down), kind="stable")
    top = asked.top or 15
    missing = int(np.isnan(values).sum())
    kept = order[: len(order) - missing][: max(top - min(missing, 3), 1)]
    shown = [*kept, *order[len(order) - missing :]][:top]
    rows = Sheet(sheet.frame.iloc[shown].reset_index(drop=True), sheet.known)
    return Bars(rows, x, y, asked.by, len(sheet) - len(shown))


def interval_of(sheet: Sheet, y: str) -> tuple[Numbers, Numbers]:
    """The declared interval's ends, or those of Wilson's; NaN where there is none."""
    nothing = np.full(len(sheet), np.nan)
    named = tuple(f"{y}_{end}" for end in ("low", "high"))
    if all(name in sheet.kinds for name in named):
        return sheet.values(named[0]), sheet.values(named[1])
    rule = sheet.rule(y)
    if rule is None or rule.over is None or rule.why:
        return nothing, nothing
    try:
        found = interval.interval(sheet.frame, y, 0.95)
    except AvailabilityError:
        return nothing, nothing
    low, high = (found[name].to_numpy(np.float64, na_value=np.nan) for name in found)
    return low, high


def why_missing(sheet: Sheet, name: str, row: int) -> str:
    """Why a cell has no number, in a word or two."""
    cells = sheet.cells(name)
    state = cells.states[int(cells.codes[row])]
    words = {"not_applicable": "does not apply", "unknown": "no value given"}
    return words.get(str(state.status), "not measured")
