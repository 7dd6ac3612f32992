"""Time spans: when something began and ended, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.dates as mdates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import CONTEXT, PlotData
from aatoolkit.display.plot.style import INK, SERIES

_ENDS = (("_start", "_end"), ("first_", "last_"), ("created_at", "updated_at"))


@dataclass(frozen=True)
class Spans:
    """One row per item, a bar for each time span, a diamond for a single time."""

    data: PlotData
    x: str
    stretches: tuple[tuple[str, str], ...]
    moment: str | None
    verdict: str | None
    left_out: int

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        ends = tuple(name for pair in self.stretches for name in pair)
        return (*ends, *((self.moment,) if self.moment else ()))

    @property
    def height(self) -> float:
        """The height in inches."""
        return 2.0 + 0.42 * max(len(self.data), 2)

    @property
    def title(self) -> str:
        """The title."""
        names = [self._named(pair) for pair in self.stretches]
        return capitalized(f"{' and '.join(names)} by {humanize(self.data.row_noun(self.x))}")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        labels = self.data.text(self.x)
        at = self.moment or self.stretches[0][0]
        texts = [f"{label}: {when}" for label, when in zip(labels, self.data.text(at), strict=True)]
        if self.verdict:
            verdicts = map(humanize, self.data.text(self.verdict))
            texts = [f"{each}, {word}" for each, word in zip(texts, verdicts, strict=True)]
        return "; ".join(texts[:5])

    def draw(self, axes: Axes) -> list[str]:
        """Draw the stretches and return the notes."""
        rows = np.arange(len(self.data))
        handles: list[Any] = []
        for (start, end), style in zip(self.stretches, SERIES, strict=False):
            low, high = (_numbers(self.data, name) for name in (start, end))
            there = ~np.isnan(high - low)
            styles: dict[str, Any] = {
                "facecolor": style.colour,
                "hatch": style.hatch,
                "edgecolor": "white",
            }
            # The last day belongs to the span.
            width = (high - low + 1)[there]
            axes.barh(rows[there], width, left=low[there], height=0.42, linewidth=0.6, **styles)
            handles.append(Patch(**styles))
        words = [self._named(pair) for pair in self.stretches]
        if self.moment:
            moments = _numbers(self.data, self.moment)
            axes.plot(moments + 0.5, rows, "D", color=INK, mec="white", ms=8, zorder=4)
            handles.append(Line2D([], [], color=INK, marker="D", ls="", ms=6))
            words.append(humanize(self.moment))
        last = np.nanmax(
            [np.append(_numbers(self.data, name), -np.inf) for name in self.drawn], axis=0
        )
        if self.verdict:
            for row, word in enumerate(self.data.text(self.verdict)):
                words_of_row = fonts.safe_text(humanize(word), 30)
                canvas.row_note(axes, words_of_row, last[row] + 1, row, gap=6, fontsize=9)
        canvas.date_axis(axes, 7)
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, self.data.text(self.x), self.data.own().tolist())
        canvas.label_axes(axes)
        canvas.legend(axes, handles, words)
        return []

    @staticmethod
    def _named(pair: tuple[str, str]) -> str:
        start = pair[0]
        return humanize(start.removesuffix("_start"))


def plan(data: PlotData, options: PlotOptions) -> Spans | None:
    """Plan pairs of start and end times, with a single time next to them."""
    times = [name for name in data.of_kind("time") if options.kind or name not in CONTEXT]
    x = options.x or data.label_column
    pairs = tuple(
        (name, other)
        for name in times
        for one, two in _ENDS
        if one in name and (other := name.replace(one, two)) in times and other != name
    )
    if x is None or not pairs or options.y or not len(data):
        return None
    if len(data) == 1 and not options.kind and not any(p[0].endswith("_start") for p in pairs):
        return None
    if all(data.frame[name].isna().all() for pair in pairs for name in pair):
        return None
    ends = {name for pair in pairs for name in pair}
    moment = next((name for name in times if name not in ends), None)
    verdict = next((name for name in ("verdict", "state") if name in data.kinds), None)
    order = data.moments(pairs[0][0]).argsort(kind="stable")[: options.top or 12]
    rows = PlotData(data.frame.iloc[order].reset_index(drop=True), data.known)
    return Spans(rows, x, pairs, moment, verdict, len(data) - len(rows))


def _numbers(data: PlotData, name: str) -> np.ndarray:
    moments = data.moments(name)
    found = np.full(len(moments), np.nan)
    there = moments.notna().to_numpy()
    found[there] = mdates.date2num(pd.DatetimeIndex(moments[there]))
    return found
