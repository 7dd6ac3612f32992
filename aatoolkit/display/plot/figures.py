"""Key figures: numbers of several units, each with its previous value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import (
    capitalized,
    format_change,
    format_number,
    humanize,
    table_words,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import fill_of, why_missing
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import INK, MUTED, OWN
from aatoolkit.display.plot.whiskers import Whiskers, ends_of_figures, whiskers
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

_SIDES = (("previous_value", "value"), ("before", "after"), ("before_value", "after_value"))
_WHOLE = {FRACTION: 1.0, SCORE: 100.0}
_TRACK, _VALUE, _MOVED, _SAMPLE = (0.46, 0.68), 0.77, 0.80, 1.0
"""Horizontal positions, as fractions of the width."""


@dataclass(frozen=True)
class KeyFigure:
    """One number: value, previous value, unit and sample size."""

    label: str
    value: float
    before: float
    unit: str | None
    sample: float
    why: str
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True)
class KeyFigures:
    """A few numbers, one per line."""

    data: PlotData
    drawn: tuple[str, ...]
    what: str
    figures: tuple[KeyFigure, ...]
    left_out: int
    which: str = ""

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.2 + 0.34 * max(len(self.figures), 2)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.figures)} of {len(self.figures) + self.left_out}"
        return capitalized(self.what) + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = []
        for each in self.figures:
            text = each.why if np.isnan(each.value) else format_number(each.value, each.unit)
            if not np.isnan(each.before + each.value):
                text += f" (before {format_number(each.before, each.unit)})"
            texts.append(f"{each.label} {text}")
        return "; ".join(texts)

    def draw(self, axes: Axes) -> list[str]:
        """Draw the numbers and return the notes."""
        axes.set_xlim(0, 1)
        axes.set_ylim(len(self.figures) - 0.4, -0.9)
        axes.set_axis_off()
        moved = any(not np.isnan(each.before) for each in self.figures)
        if moved:
            _write(axes, _MOVED, -0.72, "change", "left", size=8, grey=True)
        if any(not np.isnan(each.sample) for each in self.figures):
            _write(axes, _SAMPLE, -0.72, "sample", "right", size=8, grey=True)
        for row, each in enumerate(self.figures):
            self._draw(axes, row, each)
        notes = ["Thick tick: the previous value."] if moved and self._scaled() else []
        return [*notes, *([f"Whiskers: {self.which}."] if self.which else [])]

    def _tracks(self) -> bool:
        """Whether any number is drawn on a track, or hatched there."""
        return any(_fits(each.value, each.unit) or np.isnan(each.value) for each in self.figures)

    def _scaled(self) -> bool:
        return any(_fits(each.before, each.unit) for each in self.figures)

    def _draw(self, axes: Axes, row: int, each: KeyFigure) -> None:
        room = _TRACK[0] if self._tracks() else _VALUE - 0.1
        wide = canvas.figure_of(axes).get_figwidth() * axes.get_position().width * 72
        label = capitalized(each.label) + (" (lower is better)" if each.unit == RANK else "")
        label = fonts.safe_text(label, max(int(wide * room / (9.5 * 0.56)), 16))
        _write(axes, 0, row, label, "left", size=9.5)
        start, end = _TRACK
        whole = _WHOLE.get(each.unit or "")
        if np.isnan(each.value):
            fill = fill_of(each.why)
            axes.add_patch(Rectangle((start, row - 0.2), _VALUE - start, 0.4, **fill))
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            _write(axes, _VALUE - 0.01, row, each.why, "right", size=8.5, bbox=box)
        else:
            if whole and _fits(each.value, each.unit):
                width = end - start
                track: dict[str, Any] = {"edgecolor": MUTED, "linewidth": 0.6}
                axes.add_patch(Rectangle((start, row - 0.16), width, 0.32, fc="none", **track))
                axes.add_patch(
                    Rectangle(
                        (start, row - 0.16),
                        width * each.value / whole,
                        0.32,
                        fc=OWN.colour,
                        **track,
                    )
                )
                if not np.isnan(each.low + each.high):
                    low, high = (
                        start + width * max(min(end, whole), 0) / whole
                        for end in (each.low, each.high)
                    )
                    axes.hlines(row, low, high, color=INK, linewidth=1.1)
                    axes.plot([low, high], [row, row], "|", color=INK, markersize=6)
                if _fits(each.before, each.unit):
                    at = start + width * each.before / whole
                    axes.plot([at, at], [row - 0.3, row + 0.3], color=INK, linewidth=2)
            _write(axes, _VALUE, row, format_number(each.value, each.unit), "right", weight="bold")
            if not np.isnan(each.before):
                way = format_change(each.before, each.value, each.unit)
                _write(axes, _MOVED, row, way, "left", size=9)
        if not np.isnan(each.sample):
            sample = f"n={format_number(each.sample)}"
            _write(axes, _SAMPLE, row, sample, "right", size=9, grey=True)


def plan(data: PlotData, options: PlotOptions) -> KeyFigures | None:
    """Plan the numbers of a single row, or of rows whose numbers differ in unit."""
    if len(data) == 1 and not options.x:
        return _of_row(data, options)
    return _of_rows(data, options)


def _of_row(data: PlotData, options: PlotOptions) -> KeyFigures | None:
    names = list(options.y) or data.numbers
    if not names:
        return None
    samples = {name: data.sample(name) for name in names}
    ends = {name: whiskers(data, name) for name in names}
    figures = [
        KeyFigure(
            humanize(name),
            float(data.values(name)[0]),
            np.nan,
            data.unit(name),
            float(data.values(n)[0]) if (n := samples[name]) and data.rule(name) else np.nan,
            why_missing(data, name, 0),
            float(ends[name].low[0]),
            float(ends[name].high[0]),
        )
        for name in names
    ]
    shown = figures[: options.top or 12]
    what = table_words(data) or "figures"
    which = _which([ends[name] for name in names])
    return KeyFigures(data, tuple(names), what, tuple(shown), len(figures) - len(shown), which)


def _which(ends: list[Whiskers]) -> str:
    """The interval of the first number that has one."""
    return next((e.which for e in ends if not np.isnan(e.low + e.high).all()), "")


def _of_rows(data: PlotData, options: PlotOptions) -> KeyFigures | None:
    x = options.x or data.label_column
    sides = options.y if len(options.y) in (1, 2) else _sides(data)
    if x is None or sides is None or (options.y and not options.kind):
        return None
    now = sides[-1]
    if data.unit_column(now) is None and not options.kind:
        return None
    values = data.values(now)
    before = data.values(sides[0]) if len(sides) == 2 else np.full(len(data), np.nan)
    name = data.sample(now)
    samples = data.values(name) if name else np.full(len(data), np.nan)
    labels = _labels(data, x)
    ends = ends_of_figures(data, now)
    figures = [
        KeyFigure(
            label,
            float(value),
            float(was),
            unit,
            float(n),
            why_missing(data, now, row) if np.isnan(value) else "",
            float(ends.low[row]),
            float(ends.high[row]),
        )
        for row, (label, value, was, unit, n) in enumerate(
            zip(labels, values, before, data.units(now), samples, strict=True)
        )
    ]
    shown = figures[: options.top or 12]
    what = table_words(data) or f"{humanize(now)} by {humanize(x)}"
    drawn, left_out = tuple(reversed(sides)), len(figures) - len(shown)
    return KeyFigures(data, drawn, what, tuple(shown), left_out, _which([ends]))


def _labels(data: PlotData, x: str) -> list[str]:
    """The label of each row; with the metric if the labels are not unique."""
    words = data.text(x)
    labels = [humanize(word) if word.isidentifier() and x == "metric" else word for word in words]
    if len({*labels}) < len(labels) and "metric" in data.kinds and x != "metric":
        return [f"{a}: {humanize(b)}" for a, b in zip(labels, data.text("metric"), strict=True)]
    return labels


def _sides(data: PlotData) -> tuple[str, str] | None:
    return next((s for s in _SIDES if all(name in data.numbers for name in s)), None)


def _fits(value: float, unit: str | None) -> bool:
    whole = _WHOLE.get(unit or "")
    return whole is not None and not np.isnan(value) and 0 <= value <= whole


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    align: str,
    *,
    size: float = 10,
    weight: str = "normal",
    grey: bool = False,
    bbox: dict[str, object] | None = None,
) -> None:
    colour = canvas.muted_colour(axes) if grey else canvas.text_colour(axes)
    axes.text(
        x,
        y,
        text,
        va="center",
        ha=align,
        **fonts.literal_text(fontsize=size, fontweight=weight, color=colour, bbox=bbox),
    )
