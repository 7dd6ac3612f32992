"""Verdicts: a few rows of states, verdicts or flags in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import fill_of, why_missing
from aatoolkit.display.plot.roles import CONTEXT, PlotData
from aatoolkit.display.plot.style import (
    INK,
    MUTED,
    OWN,
    REST,
    SeriesStyle,
    styles_for,
)

_ROWS, _COLUMNS = 15, 4
_TONES = ("allowed", "blocked")
"""Two levels by which `styles_for` knows that levels are good and bad ones."""


@dataclass(frozen=True)
class Verdicts:
    """One row an item, and one word for each of its states."""

    data: PlotData
    x: str
    drawn: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.7 + 0.3 * max(len(self.data), 2)

    @property
    def title(self) -> str:
        """The title."""
        names = ", ".join(humanize(name) for name in self.drawn)
        return capitalized(f"{names} by {humanize(self.data.row_noun(self.x))}")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = []
        for row, label in enumerate(self.data.text(self.x)):
            words = ", ".join(f"{humanize(n)} {self._word(n, row)[0]}" for n in self.drawn)
            texts.append(f"{label}: {words}")
        more = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
        return "; ".join(texts[:8]) + more

    def _word(self, name: str, row: int) -> tuple[str, SeriesStyle | None]:
        """The word of a cell and its style; the style is None if there is no value."""
        if pd.isna(self.data.frame[name].iloc[row]):
            return why_missing(self.data, name, row), None
        if self.data.kinds[name] == "flag":
            return ("yes", OWN) if self.data.frame[name].iloc[row] else ("no", REST)
        levels = self.data.text(name)
        if self.data.kinds[name] == "time":
            return levels[row], REST
        return humanize(levels[row]), styles_for([*dict.fromkeys(levels), *_TONES])[levels[row]]

    def draw(self, axes: Axes) -> list[str]:
        """Draw the words and return the notes."""
        canvas.style_axes(axes, "y")
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        wide = 0.022 * len(self.drawn)
        for at, name in enumerate(self.drawn):
            for row in range(len(self.data)):
                words, style = self._word(name, row)
                if style is None:
                    axes.add_patch(Rectangle((at, row - 0.3), 0.9, 0.6, **fill_of(words)))
                    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
                    canvas.row_note(axes, words, at, row, fontsize=8, color=INK, bbox=box)
                    continue
                square = Rectangle((at, row - 0.24), wide, 0.48, linewidth=0.6)
                square.set(facecolor=style.colour, hatch=style.hatch, edgecolor=MUTED)
                axes.add_patch(square)
                canvas.row_note(axes, fonts.safe_text(words, 30), at + wide, row, fontsize=9)
        axes.set_xlim(-0.02, len(self.drawn))
        axes.set_xticks(np.arange(len(self.drawn)))
        axes.xaxis.tick_top()
        names = [fonts.safe_text(capitalized(humanize(name)), 24) for name in self.drawn]
        texts = axes.set_xticklabels(names, **fonts.literal_text(fontsize=9))
        for text in texts:
            text.set_horizontalalignment("left")
        canvas.row_labels(axes, self.data.text(self.x), self.data.own().tolist())
        canvas.label_axes(axes)
        return []


def plan(data: PlotData, options: PlotOptions) -> Verdicts | None:
    """Plan the states of a few rows with one key and no number to compare."""
    x = options.x or data.label_column
    if x is None or options.by or options.y or not len(data):
        return None
    if not options.kind and (len(data) > _ROWS or len(data.known.key) != 1 or data.measures):
        return None
    if data.frame.duplicated([x]).any():
        return None
    states = [
        name
        for name in data.kinds
        if name not in (x, *data.keys)
        and (data.kinds[name] == "flag" or isinstance(data.frame[name].dtype, pd.CategoricalDtype))
    ]
    if len(data) == 1 and states:
        states += [n for n in data.of_kind("time") if n not in (*data.keys, *CONTEXT)]
    if not states:
        return None
    rows = PlotData(data.frame.head(options.top or _ROWS).reset_index(drop=True), data.known)
    return Verdicts(rows, x, tuple(states[:_COLUMNS]))
