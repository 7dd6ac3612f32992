"""Scatter: two numbers a row, one across and one up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import (
    axis_label,
    capitalized,
    elide_middle,
    format_number,
    humanize,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.display.plot.style import OWN, SERIES, SeriesStyle, few_levels, styles_for
from aatoolkit.display.plot.tips import describe_mark, set_tips
from aatoolkit.sections.aggregation import FRACTION, RANK

_NAMED, _ALL_NAMED = 6, 12
"""How many of the points furthest out are named, and as how few all are, where there is room."""

_CORNERS = ((6, 5), (-6, 5), (6, -11), (-6, -11))
"""Where a name is put beside its point, in the order in which room is looked for; in points."""


@dataclass(frozen=True)
class Scatter:
    """One point a row; rows without both numbers are counted in the notes."""

    data: PlotData
    x: str
    y: str
    by: str | None
    levels: tuple[str, ...]
    left_out: int

    height = 4.2

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return (self.y, self.x)

    @property
    def title(self) -> str:
        """The title."""
        title = f"{humanize(self.y)} against {humanize(self.x)}"
        return capitalized(title + (f", by {humanize(self.by)}" if self.by else ""))

    @property
    def _there(self) -> np.ndarray:
        """Mask of the rows that have both numbers."""
        found: np.ndarray = ~np.isnan(self.data.values(self.x) + self.data.values(self.y))
        return found

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        there = np.flatnonzero(self._there)
        if not len(there):
            return "no row has both numbers"
        top = there[np.argmax(self.data.values(self.y)[there])]
        words = " and ".join(
            f"{humanize(name)} {format_number(self.data.values(name)[top], self.data.unit(name))}"
            for name in (self.y, self.x)
        )
        without = len(self.data) - len(there)
        ending = f"; {without} rows lack one of the two" if without else ""
        return f"{len(there)} points; the highest is {self.labels[top]} with {words}{ending}"

    @property
    def labels(self) -> list[str]:
        """The name of each point."""
        name = self.data.label_column
        return self.data.text(name) if name else [f"row {at}" for at in range(len(self.data))]

    def draw(self, axes: Axes) -> list[str]:
        """Draw the points and return the notes."""
        across, up, there = self.data.values(self.x), self.data.values(self.y), self._there
        words = [""] * len(up)
        if self.by:
            words = few_levels(self.data.text(self.by), self.levels, there)
        shown = [word for word, is_there in zip(words, there, strict=True) if is_there]
        styles = self._styles(shown or [""])
        for level, style in styles.items():
            rows = there & (np.array(words) == level)
            face: dict[str, Any] = {"color": style.colour, "mec": "white", "mew": 0.5}
            (points,) = axes.plot(across[rows], up[rows], style.marker, ms=7, clip_on=False, **face)
            set_tips(points, partial(self._tips, np.flatnonzero(rows)))
        own = there & self.data.own()
        axes.plot(across[own], up[own], "o", ms=12, mfc="none", mec=OWN.colour, mew=1.6)
        for axis, name, values in ((axes.xaxis, self.x, across), (axes.yaxis, self.y, up)):
            self._scale(axes, name, values[there], is_x=axis is axes.xaxis)
            if self.data.is_count(name):
                canvas.integer_axis(axis)
            canvas.number_axis(axis, self.data.unit(name))
        self._name(axes, across, up, there)
        canvas.style_axes(axes, "both")
        canvas.label_axes(axes, axis_label(self.data, self.x), axis_label(self.data, self.y))
        if self.by:
            handles = [
                Line2D([], [], color=style.colour, marker=style.marker, ls="", ms=6)
                for style in styles.values()
            ]
            canvas.legend(axes, handles, [humanize(level) for level in styles])
        notes = ["Ringed: own."] if own.any() else []
        without = int((~there).sum())
        lacking = f"{without} of {len(there)} rows lack one of the two numbers and are not drawn."
        return [*notes, *([lacking] if without else [])]

    def _tips(self, rows: np.ndarray) -> list[str]:
        """The words of some points: both numbers, and how they are known."""
        labels, unit = self.labels, self.data.unit(self.x)
        values = self.data.values(self.x)
        return [
            describe_mark(self.data, self.y, int(row), labels[row])
            + f"\n{humanize(self.x)}: {format_number(float(values[row]), unit)}"
            for row in rows
        ]

    def _styles(self, words: list[str]) -> dict[str, SeriesStyle]:
        """The style of each level; those beyond the styles there are share one."""
        if not self.by:
            return {"": SERIES[0]}
        return styles_for(dict.fromkeys([*self.levels, *words]))

    def _scale(self, axes: Axes, name: str, values: Numbers, *, is_x: bool) -> None:
        """Set the axes: from 0, or from the best place, with a little room at the far end."""
        most = float(values.max()) if len(values) else 1.0
        least = min(float(values.min()), 0.0) if len(values) else 0.0
        if self.data.unit(name) == RANK:
            limits = (most + 0.5, 0.5)
        else:
            far = most + 0.06 * ((most - least) or 1.0)
            whole = self.data.unit(name) == FRACTION and most <= 1
            limits = (least, min(far, 1.0) if whole else far)
        (axes.set_xlim if is_x else axes.set_ylim)(*limits)

    def _name(self, axes: Axes, across: Numbers, up: Numbers, there: np.ndarray) -> None:
        """Name the points that are furthest out, and those of the own brand."""
        rows = np.flatnonzero(there)
        if not len(rows):
            return
        spread = [values[rows] / (np.ptp(values[rows]) or 1.0) for values in (across, up)]
        far = np.hypot(*(part - np.median(part) for part in spread))
        order = rows[np.argsort(-far, kind="stable")]
        own = rows[self.data.own()[rows]]
        chosen = order if len(order) <= _ALL_NAMED else order[:_NAMED]
        points = _in_points(axes, across[rows], up[rows])
        places = dict(zip(rows.tolist(), points, strict=True))
        taken = [(x - 4.0, y - 4.0, x + 4.0, y + 4.0) for x, y in points]
        for at in dict.fromkeys([*own.tolist(), *chosen.tolist()]):
            words = fonts.safe_text(elide_middle(self.labels[at], 28))
            corner = _free_corner(axes, places[at], 8 * 0.58 * len(words), taken)
            if corner is None:
                continue
            axes.annotate(
                words,
                (across[at], up[at]),
                xytext=corner,
                textcoords="offset points",
                ha="right" if corner[0] < 0 else "left",
                **fonts.literal_text(fontsize=8, color=canvas.text_colour(axes)),
            )


def _in_points(axes: Axes, across: Numbers, up: Numbers) -> list[tuple[float, float]]:
    """Where values are on the axes, in points from their lower left corner."""
    wide, high = _size(axes)
    (left, right), (low, top) = axes.get_xlim(), axes.get_ylim()
    xs, ys = (across - left) / (right - left) * wide, (up - low) / (top - low) * high
    return list(zip(xs.tolist(), ys.tolist(), strict=True))


def _size(axes: Axes) -> tuple[float, float]:
    """The size of axes in points, before the layout is known."""
    figure, box = canvas.figure_of(axes), axes.get_position()
    return figure.get_figwidth() * box.width * 72, figure.get_figheight() * box.height * 72


def _free_corner(
    axes: Axes,
    place: tuple[float, float],
    wide: float,
    taken: list[tuple[float, float, float, float]],
) -> tuple[int, int] | None:
    """The first corner of a point in which a name has room, which is then taken; else None."""
    for x, y in _CORNERS:
        left = place[0] + x - (wide if x < 0 else 0)
        box = (left, place[1] + y, left + wide, place[1] + y + 9)
        meets = any(box[0] < c and box[2] > a and box[1] < d and box[3] > b for a, b, c, d in taken)
        if box[0] >= 0 and box[2] <= _size(axes)[0] and not meets:
            taken.append(box)
            return x, y
    return None


def plan(data: PlotData, options: PlotOptions) -> Scatter | None:
    """Plan points of one number given as ``x`` and another as ``y``; else None."""
    x = options.x if options.x and data.kinds[options.x] == "number" else None
    others = options.y or tuple(name for name in data.measures if name != x)
    if x is None or not others or len(options.y) > 1 or others[0] == x:
        return None
    values = data.values(others[0])
    order = np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")[: options.top]
    rows = PlotData(data.frame.iloc[order].reset_index(drop=True), data.known)
    return Scatter(rows, x, others[0], options.by, options.levels, len(data) - len(rows))
