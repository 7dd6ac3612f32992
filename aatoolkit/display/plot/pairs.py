"""Gap chart: two numbers of one unit per row, and the difference between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import capitalized, format_change, format_number, humanize
from aatoolkit.display.plot.marks import Marks, of_rows
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import fill_of, why_missing
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import MUTED, OWN, SERIES
from aatoolkit.sections.aggregation import FRACTION, RANK

_PREFIXES = (("leader_", "own_"), ("before_", "after_"), ("previous_", ""), ("other_", "ai_"))
"""Prefixes of column pairs to compare, the reference first."""


@dataclass(frozen=True)
class Pairs:
    """One pair per row, the widest gap first."""

    data: PlotData
    x: str
    first: str
    second: str
    left_out: int

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return (self.second, self.first)

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.32 * max(len(self.data), 3)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.data)} of {len(self.data) + self.left_out}"
        by = humanize(self.data.row_noun(self.x))
        title = f"{humanize(self.second)} and {humanize(self.first)} by {by}"
        return capitalized(title) + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        second, first = (self.data.values(name) for name in self.drawn)
        unit = self.data.unit(self.first)
        whole = np.flatnonzero(~np.isnan(second - first))
        if not len(whole):
            return "no row has both numbers"
        at = whole[0]
        label = self.data.text(self.x)[at]
        a, b = float(first[at]), float(second[at])
        return (
            f"the widest gap is {label}: {humanize(self.second)} {format_number(b, unit)} "
            f"beside {format_number(a, unit)} ({format_change(a, b, unit)})"
        )

    def marks(self) -> Marks:
        """Return the rows and columns that the pairs were drawn from."""
        names = tuple(dict.fromkeys((self.x, *self.data.keys)))
        return Marks(self.data.frame, self.drawn, names, at=of_rows(len(self.data)))

    def draw(self, axes: Axes) -> list[str]:
        """Draw the pairs and return the notes."""
        data, unit = self.data, self.data.unit(self.first)
        second, first = (data.values(name) for name in self.drawn)
        everything = np.concatenate([first, second])
        most = 1.0 if np.isnan(everything).all() else float(np.nanmax(everything)) or 1.0
        rows = range(len(data))
        both = np.flatnonzero(~np.isnan(first + second))
        axes.hlines(both, first[both], second[both], color=MUTED, linewidth=2, zorder=2)
        styles = ((second, OWN, "o"), (first, SERIES[1], "s"))
        for values, style, marker in reversed(styles):
            # The first is upon the second, which is larger: both are seen where they are equal.
            size = 7 if marker == "o" else 9.5
            axes.plot(values, rows, marker, color=style.colour, ms=size, zorder=3, clip_on=False)
        samples = data.sample(self.second)
        n = data.values(samples) if samples and unit == FRACTION else np.full(len(rows), np.nan)
        for row in rows:
            if np.isnan(first[row]) and np.isnan(second[row]):
                words, where = why_missing(data, self.second, row), 0.0
                canvas.empty_row(axes, row, fill_of(words))
            else:
                moved = format_change(first[row], second[row], unit)
                one = "only one measured" if np.isnan(first[row] + second[row]) else moved
                words = one + ("" if np.isnan(n[row]) else f"  (n={format_number(n[row])})")
                where = float(np.nanmax([first[row], second[row]]))
            canvas.row_note(axes, words, where, row, gap=9)
        # A marker at 0 does not cover the name of its row.
        start = min(0.0, float(np.nanmin([*everything, 0]))) - most * 0.025
        axes.set_xlim(most * 1.03 if unit == RANK else start, 0.9 if unit == RANK else most * 1.03)
        canvas.style_axes(axes, "x")
        rivals = data.rivals().tolist()
        canvas.row_labels(axes, data.text(self.x), data.own().tolist(), rivals=rivals)
        canvas.label_axes(axes)
        canvas.number_axis(axes.xaxis, unit)
        handles = [Line2D([], [], color=m.colour, marker=k, ls="", ms=7) for _, m, k in styles]
        canvas.legend(axes, handles, [humanize(name) for name in self.drawn])
        return []


def plan(data: PlotData, options: PlotOptions) -> Pairs | None:
    """Plan two columns with paired names, or the two given as ``y``."""
    x = options.x or data.label_column
    found = options.y if len(options.y) == 2 else pair_of(data, ranks=options.kind is not None)
    if x is None or found is None or (options.y and len(options.y) != 2):
        return None
    first, second = found
    if data.frame.duplicated([x]).any():
        return None
    gap = np.abs(data.values(second) - data.values(first))
    order = np.argsort(np.where(np.isnan(gap), np.inf, -gap), kind="stable")[: options.top or 15]
    rows = PlotData(data.frame.iloc[order].reset_index(drop=True), data.known)
    return Pairs(rows, x, first, second, len(data) - len(rows))


def pair_of(data: PlotData, *, ranks: bool) -> tuple[str, str] | None:
    """Find the first two columns with paired names and the same unit."""
    for name in data.numbers:
        for one, other in _PREFIXES:
            first = name
            second = other + name.removeprefix(one)
            if not name.startswith(one) or second not in data.numbers:
                continue
            if one == "previous_" and "prompt_id" in data.keys and not ranks:
                continue  # between single prompts the widest change is mostly chance
            unit = data.unit(first)
            if unit is not None and unit == data.unit(second) and (ranks or unit == FRACTION):
                return first, second
    return None
