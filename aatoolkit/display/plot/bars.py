"""Ranked bars: one number per row, with its interval, and the own brand highlighted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import (
    axis_label,
    capitalized,
    format_number,
    format_numbers,
    humanize,
    in_words,
)
from aatoolkit.display.plot.marks import Marks, of_rows
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    DOES_NOT_APPLY,
    INFINITE,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    fill_of,
    why_missing,
    whys_missing,
)
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.display.plot.style import (
    INK,
    MUTED,
    OWN,
    REST,
    RIVAL,
    few_levels,
    styles_for,
)
from aatoolkit.display.plot.tips import describe_mark, set_tips
from aatoolkit.display.plot.whiskers import Whiskers, whiskers
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK

_MOST_LACKING = 3
"""How many rows without a number are shown beside as many others as there is room for."""

_WITHOUT = {
    NOT_MEASURED: "not measured",
    NOT_MENTIONED: "not mentioned",
    NOTHING: "with nothing to count",
    DOES_NOT_APPLY: "to which it does not apply",
    INFINITE: "infinite, and not drawn",
}
"""Of rows without a number the reasons, as they are counted in words."""


@dataclass(frozen=True)
class Bars:
    """One bar per row, the largest first; unmeasured rows come last, hatched."""

    data: PlotData
    x: str
    y: str
    by: str | None
    left_out: int
    zeros: int
    missing: tuple[str, ...]
    ends: Whiskers
    levels: tuple[str, ...] = ()
    in_other_units: int = 0

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.7 + 0.29 * max(len(self.data), 3)

    @property
    def title(self) -> str:
        """The title."""
        measured = int((~np.isnan(self.values)).sum())
        most = f", the first {measured} of {measured + self.left_out + self.zeros}"
        title = capitalized(f"{humanize(self.y)} by {humanize(self.data.row_noun(self.x))}")
        return title + (most if self.left_out + self.zeros else "")

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return (self.y,)

    @property
    def values(self) -> Numbers:
        """The length of each bar."""
        return self.data.values(self.y)

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        values, labels, unit = self.values, self.data.labels(self.x), self.data.unit(self.y)
        there = np.flatnonzero(~np.isnan(values))
        lacking = "; ".join(
            f"{self.missing.count(words)} {shown}"
            for words, shown in _WITHOUT.items()
            if words in self.missing
        )
        if not len(there):
            alike = {*self.missing} <= {NOT_MEASURED}
            return "none of them was measured" if alike else f"none has a number: {lacking}"
        first, last = there[0], there[-1]
        text = f"{labels[first]} {format_number(values[first], unit)}"
        if last != first:
            text += f", down to {labels[last]} {format_number(values[last], unit)}"
        own = [at for at in there if self.data.own()[at] and at not in (first, last)]
        if own:
            text += f"; own brand {labels[own[0]]} {format_number(values[own[0]], unit)}"
        text += f"; {self.zeros} others are 0" if self.zeros else ""
        return text + (f"; {lacking}" if lacking else "")

    def marks(self) -> Marks:
        """Return the rows and columns that the bars were drawn from."""
        labels = (self.x, *([self.by] if self.by else []), *self.data.keys)
        names = tuple(dict.fromkeys(labels))
        return Marks(self.data.frame, self.drawn, names, self.ends.bounds, of_rows(len(self.data)))

    def draw(self, axes: Axes) -> list[str]:
        """Draw the bars and return the notes."""
        values, unit = self.values, self.data.unit(self.y)
        texts = format_numbers(values, unit)
        low, high = self.ends.low, self.ends.high
        sure = ~np.isnan(low + high + values)
        self._bars(axes)
        rows = np.flatnonzero(sure)
        axes.hlines(rows, low[sure], high[sure], color=INK, linewidth=1.1)
        for ends in (low[sure], high[sure]):
            axes.plot(ends, rows, "|", color=INK, markersize=6)
        ends = np.where(sure, high, np.fmax(np.nan_to_num(values), 0))
        least = float(np.nanmin([*values, 0]))
        reach = float(ends.max()) or (-least / 20 if least < 0 else 1.0)
        axes.set_xlim(least * 1.05, reach * 1.02)
        if np.isnan(values).all():
            axes.set_xticks([])
        for row, sample in enumerate(self._samples()):
            self._words(axes, row, float(ends[row]), texts[row], sample)
        if least < 0:
            axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        canvas.style_axes(axes, "x")
        labels, rivals = self.data.labels(self.x), self.data.rivals().tolist()
        canvas.row_labels(axes, labels, self.data.own().tolist(), rivals=rivals)
        canvas.label_axes(axes, axis_label(self.data, self.y))
        if self.data.is_count(self.y) and not np.isnan(values).all():
            canvas.integer_axis(axes.xaxis)
        canvas.number_axis(axes.xaxis, unit)
        notes = [f"Whiskers: {in_words(self.ends.which)}."] if sure.any() else []
        if self.zeros:
            notes.append(f"{self.zeros} others are 0.")
        if self.in_other_units:
            notes.append(f"{self.in_other_units} rows are in other units, and not drawn.")
        return notes

    def _bars(self, axes: Axes) -> None:
        own, levels = self.data.own(), []
        if self.by:
            levels = few_levels(self.data.text(self.by), self.levels)
        styles = styles_for([*few_levels(self.levels), *levels] if self.levels else levels)
        rivals = self.data.rivals()
        for row, value in enumerate(self.values):
            plain = RIVAL if rivals[row] else REST if own.any() or rivals.any() else OWN
            style = styles[levels[row]] if levels else OWN if own[row] else plain
            if np.isnan(value):
                continue
            face: dict[str, Any] = {"color": style.colour, "hatch": style.hatch, "edgecolor": MUTED}
            (bar,) = axes.barh(row, value, height=0.68, linewidth=0.6, **face)
            set_tips(bar, partial(self._tip, row))
        if styles:
            looks = styles.values()
            handles = [Patch(fc=style.colour, hatch=style.hatch, ec=MUTED) for style in looks]
            canvas.legend(axes, handles, [humanize(level) for level in styles])

    def _words(self, axes: Axes, row: int, end: float, number: str, sample: float) -> None:
        value, box = self.values[row], None
        if np.isnan(value):
            words, end = why_missing(self.data, self.y, row), 0.0
            bar = canvas.empty_row(axes, row, fill_of(words))
            set_tips(bar, partial(self._tip, row))
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
        else:
            n = "" if np.isnan(sample) else f"  (n={format_number(sample)})"
            words = number + n
        colour = INK if box else canvas.text_colour(axes)
        canvas.row_note(axes, words, end, row, color=colour, bbox=box)

    def _tip(self, row: int) -> list[str]:
        ends = float(self.ends.low[row]), float(self.ends.high[row])
        return [describe_mark(self.data, self.y, row, self.data.text(self.x)[row], ends)]

    def _samples(self) -> Numbers:
        name = self.data.sample(self.y)
        if name is None or self.data.unit(self.y) != FRACTION:
            return np.full(len(self.data), np.nan)
        return self.data.values(name)


def plan(data: PlotData, options: PlotOptions) -> Bars | None:
    """Plan bars of the most informative number, or of ``y``, by the label column."""
    x = options.x or data.label_column or next(iter(data.of_kind("word")), None)
    # A column that says of each row which metric it holds is the number, if there is one.
    measures = [*(n for n in data.numbers if options.kind and data.unit_column(n)), *data.measures]
    y = next(iter(options.y or [n for n in measures if n != x]), None)
    if x is None or y is None or data.kinds[y] != "number" or data.kinds[x] == "list":
        return None
    rows, marks = data, [x, *([options.by] if options.by else [])]
    if options.x:
        data = one_row_per_mark(data, marks, [y])
    elif x in data.keys and len(data.keys) > 1 and not data.unit_column(y):
        # Many rows of one brand are no ranking of brands; what each brand has is.
        try:
            data = one_row_per_mark(data, marks, [y])
        except AvailabilityError:
            return None
    per, listed = data.unit_column(y), len(data)
    if per:
        words = pd.Series(data.text(per))
        data = data.only((words == words.mode()[0]).to_numpy())
    values = data.values(y)
    down = values if data.unit(y) == RANK else -values
    order = np.argsort(np.where(np.isnan(down), np.inf, down), kind="stable")
    top = options.top or 15
    missing = int(np.isnan(values).sum())
    measured = len(order) - missing
    kept, zeros = order[:measured][:top], 0
    above = int((values > 0).sum())
    if 0 < above < len(kept) - _MOST_LACKING and measured > top and not (values < 0).any():
        kept, zeros = kept[: above + _MOST_LACKING], measured - above - _MOST_LACKING
    # A few unmeasured rows are shown after the largest; the finding counts the others.
    shown = [*kept, *order[measured:][: max(top - len(kept), _MOST_LACKING)]]
    drawn = PlotData(data.frame.iloc[shown].reset_index(drop=True), data.known)
    ends = whiskers(drawn, y, rows if options.x else None, marks)
    left_out = measured - len(kept) - zeros
    why = whys_missing(data, y, order[measured:].tolist())
    lacking = tuple(words if words in _WITHOUT else NOT_MEASURED for words in why)
    others = listed - len(data)
    return Bars(drawn, x, y, options.by, left_out, zeros, lacking, ends, options.levels, others)
