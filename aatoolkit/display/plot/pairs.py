"""The gap chart: two numbers of one unit for each row, and the way from one to the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.bars import why_missing
from aatoolkit.display.plot.labels import change, number, spoken, title
from aatoolkit.display.plot.options import Asked
from aatoolkit.display.plot.roles import Sheet
from aatoolkit.display.plot.style import MISSING, MUTED, OWN, SERIES
from aatoolkit.sections.aggregation import FRACTION, RANK

_PREFIXES = (("leader_", "own_"), ("before_", "after_"), ("previous_", ""), ("other_", "ai_"))
"""How columns are named that are two sides of one thing, the one to compare with first."""


@dataclass(frozen=True)
class Pairs:
    """One row a pair, the widest gap first."""

    sheet: Sheet
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
        """Inches."""
        return 1.9 + 0.32 * max(len(self.sheet), 3)

    @property
    def title(self) -> str:
        """What is drawn."""
        most = f", the first {len(self.sheet)} of {len(self.sheet) + self.left_out}"
        said = (
            f"{spoken(self.second)} and {spoken(self.first)} by {spoken(self.sheet.entity(self.x))}"
        )
        return title(said) + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """What the picture shows, in words."""
        second, first = (self.sheet.values(name) for name in self.drawn)
        unit = self.sheet.unit(self.first)
        whole = np.flatnonzero(~np.isnan(second - first))
        if not len(whole):
            return "no row has both"
        at = whole[0]
        label = self.sheet.text(self.x)[at]
        a, b = float(first[at]), float(second[at])
        return (
            f"the widest gap is {label}: {spoken(self.second)} {number(b, unit)} "
            f"beside {number(a, unit)} ({change(a, b, unit)})"
        )

    def draw(self, axes: Axes) -> list[str]:
        """Draw the pairs; the notes that go with them."""
        sheet, unit = self.sheet, self.sheet.unit(self.first)
        second, first = (sheet.values(name) for name in self.drawn)
        everything = np.concatenate([first, second])
        most = 1.0 if np.isnan(everything).all() else float(np.nanmax(everything)) or 1.0
        rows = range(len(sheet))
        axes.hlines(rows, first, second, color=MUTED, linewidth=2, zorder=2)
        marks = ((second, OWN, "o"), (first, SERIES[1], "s"))
        for values, mark, marker in marks:
            axes.plot(values, rows, marker, color=mark.colour, ms=8, zorder=3)
        samples = sheet.sample(self.second)
        n = sheet.values(samples) if samples and unit == FRACTION else np.full(len(rows), np.nan)
        for row in rows:
            if np.isnan(first[row]) and np.isnan(second[row]):
                axes.barh(row, most, height=0.6, **MISSING)
                words, where = why_missing(sheet, self.second, row), 0.0
            else:
                moved = change(first[row], second[row], unit)
                one = "one side only" if np.isnan(first[row] + second[row]) else moved
                words = one + ("" if np.isnan(n[row]) else f"  (n={number(n[row])})")
                where = float(np.nanmax([first[row], second[row]]))
            axes.annotate(
                words,
                (where, row),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                **canvas.plain(fontsize=8, color=canvas.ink(axes)),
            )
        axes.set_xlim(most * 1.03 if unit == RANK else 0, 0.9 if unit == RANK else most * 1.03)
        canvas.frame(axes, "x")
        canvas.row_labels(axes, sheet.text(self.x), sheet.own().tolist())
        canvas.label_axes(axes)
        axes.xaxis.set_major_formatter(lambda value, _: number(value, unit))
        handles = [Line2D([], [], color=m.colour, marker=k, ls="", ms=7) for _, m, k in marks]
        canvas.legend(axes, handles, [spoken(name) for name in self.drawn])
        return []


def plan(sheet: Sheet, asked: Asked) -> Pairs | None:
    """Two columns named as the two sides of one thing, or the two asked for."""
    x = asked.x or sheet.naming
    found = asked.y if len(asked.y) == 2 else pair_of(sheet, ranks=asked.kind is not None)
    if x is None or found is None or (asked.y and len(asked.y) != 2):
        return None
    first, second = found
    if sheet.frame.duplicated([x]).any():
        return None
    gap = np.abs(sheet.values(second) - sheet.values(first))
    order = np.argsort(np.where(np.isnan(gap), np.inf, -gap), kind="stable")[: asked.top or 15]
    rows = Sheet(sheet.frame.iloc[order].reset_index(drop=True), sheet.known)
    return Pairs(rows, x, first, second, len(sheet) - len(rows))


def pair_of(sheet: Sheet, *, ranks: bool) -> tuple[str, str] | None:
    """The first two columns that are sides of one thing, in one unit."""
    for name in sheet.numbers:
        for one, other in _PREFIXES:
            first = name
            second = other + name.removeprefix(one)
            if not name.startswith(one) or second not in sheet.numbers:
                continue
            unit = sheet.unit(first)
            if unit is not None and unit == sheet.unit(second) and (ranks or unit == FRACTION):
                return first, second
    return None
