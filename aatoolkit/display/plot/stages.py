"""Funnel of many rows: a bar for each stage of pages, days or platforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import capitalized, format_number
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import INK, MUTED, SERIES, UNMEASURED_FILL

_STAGES = ("crawled", "cited", "visited", "converted")
_WIDTH = 0.78
"""The longest bar of a stage; each stage has a width of 1."""


@dataclass(frozen=True)
class Stages:
    """One row a page, day or platform, and one column of bars a stage."""

    data: PlotData
    left_out: int

    drawn = _STAGES

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.3 * max(len(self.data), 3)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.data)} of {len(self.data) + self.left_out}"
        return "From crawled to converted" + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = []
        for row, label in enumerate(self.data.text(self.data.keys[0])[:5]):
            numbers = [self._words(name, row) for name in _STAGES]
            texts.append(f"{label}: {', '.join(numbers)}")
        return "; ".join(texts)

    def _words(self, name: str, row: int) -> str:
        value = float(self.data.values(name)[row])
        return f"{name} {'not measured' if np.isnan(value) else format_number(value)}"

    def draw(self, axes: Axes) -> list[str]:
        """Draw the bars and return the notes."""
        missing = False
        for at, (name, style) in enumerate(zip(_STAGES, SERIES, strict=False)):
            values = self.data.values(name)
            most = 1.0 if np.isnan(values).all() else float(np.nanmax(values)) or 1.0
            axes.axvline(at, color=canvas.muted_colour(axes), linewidth=0.6)
            for row, value in enumerate(values):
                if np.isnan(value):
                    missing = True
                    axes.barh(row, _WIDTH, left=at, height=0.66, **UNMEASURED_FILL)
                    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
                    words = "not measured" if self._is_whole(name) else "no number"
                    canvas.row_note(axes, words, at, row, gap=4, fontsize=7, color=INK, bbox=box)
                    continue
                width = _WIDTH * value / most
                face: dict[str, Any] = {
                    "color": style.colour,
                    "hatch": style.hatch,
                    "edgecolor": MUTED,
                }
                axes.barh(row, width, left=at, height=0.66, linewidth=0.5, **face)
                canvas.row_note(axes, format_number(value), at + width, row, gap=3, fontsize=8)
        axes.set_xlim(0, len(_STAGES))
        canvas.style_axes(axes, "y")
        axes.grid(visible=False)
        axes.set_xticks(range(len(_STAGES)))
        units = [self.data.unit(name) or "" for name in _STAGES]
        labels = [f"{capitalized(n)}\n({u})" for n, u in zip(_STAGES, units, strict=True)]
        texts = axes.set_xticklabels(labels, **fonts.literal_text(fontsize=9))
        for text in texts:
            text.set_horizontalalignment("left")
        rows = self.data.text(self.data.keys[0])
        canvas.row_labels(axes, rows, [False] * len(rows))
        canvas.label_axes(axes)
        scale = (
            "Each stage has a scale of its own: requests, answers and visits are not of one kind."
        )
        method = capitalized(self.data.text("method")[0])
        return [scale + (" Hatched: no number, which is not 0." if missing else ""), f"{method}."]

    def _is_whole(self, name: str) -> bool:
        """Whether nothing of a stage was measured."""
        return bool(np.isnan(self.data.values(name)).all())


def plan(data: PlotData, options: PlotOptions) -> Stages | None:
    """Plan the stages of a funnel; None for other frames."""
    if options.x or options.y or options.by or not data.table.startswith("statistics:funnel"):
        return None
    if not all(name in data.kinds for name in (*_STAGES, "method")) or not data.keys:
        return None
    most = options.top or (31 if data.times else 15)
    rows = PlotData(data.frame.head(most).reset_index(drop=True), data.known)
    return Stages(rows, len(data) - len(rows))
