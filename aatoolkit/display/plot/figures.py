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
    in_words,
    row_name,
    table_words,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import fill_of, why_missing
from aatoolkit.display.plot.roles import BLANK, PlotData
from aatoolkit.display.plot.style import INK, MUTED, OWN
from aatoolkit.display.plot.whiskers import Whiskers, ends_of_figures, whiskers
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

_SIDES = (("previous_value", "value"), ("before", "after"), ("before_value", "after_value"))
_OF_RESULTS = ("low", "high", "p", "n", "clusters")
"""Of a result of statistics: what describes its numbers and is none of its own."""
_WHOLE = {FRACTION: 1.0, SCORE: 100.0}
_SAMPLE = 1.0


@dataclass(frozen=True)
class FigureColumns:
    """Where the columns stand, as fractions of the width."""

    track: tuple[float, float]
    value: float
    moved: float
    size: float

    @classmethod
    def of(cls, axes: Axes) -> FigureColumns:
        """The columns that fit some axes: in narrow ones there is no room for tracks."""
        figure = canvas.figure_of(axes)
        # The only axes of a figure take all of it once it is laid out.
        share = axes.get_position().width if len(figure.axes) > 1 else 0.97
        wide = figure.get_figwidth() * share * 72
        if wide >= 330:
            return cls((0.46, 0.68), 0.77, 0.80, 9.5)
        # What a layout leaves is less.
        return cls((0.46, 0.46), 0.6, 0.63, 8 if wide > 260 else 7)

    @property
    def has_track(self) -> bool:
        """Whether numbers are drawn as parts of a whole."""
        return self.track[0] < self.track[1]


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
    of: str = ""
    """What the number is of, where the label does not say it."""

    @property
    def is_on_track(self) -> bool:
        """Whether the number is drawn as a part of a whole."""
        return _fits(self.value, self.unit)

    @property
    def interval(self) -> str:
        """The interval in words, of a number that is not drawn as a part of a whole."""
        if self.is_on_track or np.isnan(self.low + self.high):
            return ""
        return f"{format_number(self.low, self.unit)} to {format_number(self.high, self.unit)}"


@dataclass(frozen=True)
class KeyFigures:
    """A few numbers, one per line."""

    data: PlotData
    drawn: tuple[str, ...]
    what: str
    figures: tuple[KeyFigure, ...]
    left_out: int
    which: str = ""
    more: tuple[str, ...] = ()
    """More notes."""

    @property
    def height(self) -> float:
        """The height in inches."""
        step = 0.46 if any(each.of for each in self.figures) else 0.34
        return 1.2 + step * max(len(self.figures), 2)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.figures)} of {len(self.figures) + self.left_out}"
        return self.what + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = []
        for each in self.figures:
            text = each.why if np.isnan(each.value) else format_number(each.value, each.unit)
            if not np.isnan(each.before + each.value):
                text += f" (before {format_number(each.before, each.unit)})"
            text += f" ({each.interval})" if each.interval else ""
            texts.append(f"{each.label}{': ' if each.of else ''}{each.of} {text}")
        return "; ".join(texts)

    def draw(self, axes: Axes) -> list[str]:
        """Draw the numbers and return the notes."""
        axes.set_xlim(0, 1)
        axes.set_ylim(len(self.figures) - 0.4, -0.9)
        axes.set_axis_off()
        columns = FigureColumns.of(axes)
        moved = any(not np.isnan(each.before) for each in self.figures)
        if moved or any(each.interval for each in self.figures):
            word = "change" if moved else "interval"
            _write(axes, columns.moved, -0.72, word, "left", size=columns.size - 1.5, grey=True)
        if any(not np.isnan(each.sample) for each in self.figures):
            _write(axes, _SAMPLE, -0.72, "sample", "right", size=columns.size - 1.5, grey=True)
        for row, each in enumerate(self.figures):
            self._draw(axes, columns, row, each)
        ticks = moved and self._scaled() and columns.has_track
        notes = ["Thick tick: the previous value."] if ticks else []
        drawn = any(each.is_on_track and not np.isnan(each.low) for each in self.figures)
        words = "Whiskers" if drawn else "Interval"
        is_drawn = self.which and (columns.has_track or not drawn)
        return [*notes, *([f"{words}: {self.which}."] if is_drawn else []), *self.more]

    def _tracks(self) -> bool:
        """Whether any number is drawn on a track, or hatched there."""
        return any(_fits(each.value, each.unit) or np.isnan(each.value) for each in self.figures)

    def _scaled(self) -> bool:
        return any(_fits(each.before, each.unit) for each in self.figures)

    def _draw(self, axes: Axes, columns: FigureColumns, row: int, each: KeyFigure) -> None:
        room = columns.track[0] if self._tracks() else columns.value - 0.1
        room *= 1 if columns.has_track else 0.8
        figure = canvas.figure_of(axes)
        # The only axes of a figure take all of it once it is laid out.
        share = axes.get_position().width if len(figure.axes) > 1 else 0.97
        wide = figure.get_figwidth() * share * 72
        better = " (lower is better)" if each.unit == RANK else ""
        label = each.label + ("" if each.of else better)
        label = fonts.safe_text(label, max(int(wide * room / (columns.size * 0.56)), 12))
        _write(axes, 0, row - (0.18 if each.of else 0), label, "left", size=columns.size)
        if each.of:
            _write(axes, 0, row + 0.22, each.of + better, "left", size=8, grey=True)
        start, end = columns.track
        whole = _WHOLE.get(each.unit or "")
        if np.isnan(each.value):
            fill = fill_of(each.why)
            axes.add_patch(Rectangle((start, row - 0.2), columns.value - start, 0.4, **fill))
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            size = columns.size - 1
            _write(axes, columns.value - 0.01, row, each.why, "right", size=size, bbox=box)
        else:
            if whole and columns.has_track and _fits(each.value, each.unit):
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
            number = format_number(each.value, each.unit)
            look: dict[str, Any] = {"size": columns.size + 0.5, "weight": "bold"}
            _write(axes, columns.value, row, number, "right", **look)
            if not np.isnan(each.before):
                way = format_change(each.before, each.value, each.unit)
                _write(axes, columns.moved, row, way, "left", size=columns.size - 0.5)
            elif each.interval:
                words = each.interval
                _write(axes, columns.moved, row, words, "left", size=columns.size - 0.5)
        if not np.isnan(each.sample):
            sample = f"n={format_number(each.sample)}"
            _write(axes, _SAMPLE, row, sample, "right", size=columns.size - 0.5, grey=True)


def plan(data: PlotData, options: PlotOptions) -> KeyFigures | None:
    """Plan the numbers of a single row, or of rows whose numbers differ in unit."""
    if len(data) == 1 and not options.x:
        return _of_row(data, options)
    return _of_rows(data, options)


def _of_row(data: PlotData, options: PlotOptions) -> KeyFigures | None:
    is_result = data.table.startswith("statistics:") and not options.y
    names = [n for n in options.y or data.numbers if not (is_result and n in _OF_RESULTS)]
    if not names:
        return None
    samples = {name: data.sample(name) for name in names}
    ends = {name: whiskers(data, name) for name in names}
    if is_result and {"low", "high"} <= data.kinds.keys():
        # They stand behind the number whose ends they are.
        of = [name for name in data.kinds if name in (*names, "low")]
        doc = data.column("low")
        which = doc.doc.rstrip(".").partition("its ")[2] if doc else "its interval"
        ends[of[of.index("low") - 1]] = Whiskers(data.values("low"), data.values("high"), which)
    figures = [
        KeyFigure(
            capitalized(humanize(name)),
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
    what = capitalized(table_words(data) or "figures")
    what = f"{row}: {what}" if (row := row_name(data)) else what
    which = _which([ends[name] for name in names])
    more = [data.text(name)[0] for name in ("why", "method") if is_result and name in data.kinds]
    notes = tuple(f"{capitalized(in_words(each))}." for each in more if each != BLANK)
    left_out = len(figures) - len(shown)
    return KeyFigures(data, tuple(names), what, tuple(shown), left_out, which, notes)


def _which(ends: list[Whiskers]) -> str:
    """The interval of the first number that has one."""
    which = next((e.which for e in ends if not np.isnan(e.low + e.high).all()), "")
    return in_words(which)


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
    labels, metrics = data.labels(x), [""] * len(data)
    if x == "metric":
        labels = list(map(capitalized, labels))
    elif "metric" in data.kinds:
        metrics = [humanize(word) for word in data.text("metric")]
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
            of,
        )
        for row, (label, of, value, was, unit, n) in enumerate(
            zip(labels, metrics, values, before, data.units(now), samples, strict=True)
        )
    ]
    shown = figures[: options.top or 12]
    what = capitalized(table_words(data) or f"{humanize(now)} by {humanize(x)}")
    drawn, left_out = tuple(reversed(sides)), len(figures) - len(shown)
    return KeyFigures(data, drawn, what, tuple(shown), left_out, _which([ends]))


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
