"""Line chart over time; lines break where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.dates as mdates
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aatoolkit.display.plot import canvas, heatmap
from aatoolkit.display.plot.labels import axis_label, capitalized, format_number, humanize
from aatoolkit.display.plot.line_series import LineSeries, line_series, moments_between
from aatoolkit.display.plot.marks import Marks, Place, row_with
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.display.plot.style import PAPER, SERIES, UNMEASURED_FILL, SeriesStyle
from aatoolkit.display.plot.tips import set_tips
from aatoolkit.display.plot.whiskers import Whiskers, whiskers
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK

MOST_LINES = 4
"""The most lines that are easily distinguished; more series make a heat map."""


@dataclass(frozen=True)
class Lines:
    """Numbers over time, one line per series."""

    data: PlotData
    x: str
    drawn: tuple[str, ...]
    by: str | None
    left_out: int
    moments: pd.DatetimeIndex
    series: tuple[LineSeries, ...]
    levels: tuple[str, ...] = ()
    bounds: pd.DataFrame | None = None

    height = 3.7

    @property
    def y(self) -> str:
        """The number, or the first of several."""
        return self.drawn[0]

    @property
    def title(self) -> str:
        """The title."""
        noun = humanize(self.data.time_noun(self.x))
        title = capitalized(f"{', '.join(map(humanize, self.drawn))} by {noun}")
        if self.by:
            title += f" and {humanize(self.by)}"
        if self.left_out:
            title += f", {len(self.series)} of {len(self.series) + self.left_out}"
        return title

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        unit = self.data.unit(self.y)
        texts = []
        for line in self.series:
            there = np.flatnonzero(~np.isnan(line.values))
            if not len(there):
                texts.append(f"{line.name or humanize(self.y)} was not measured")
                continue
            first, last = line.values[there[0]], line.values[there[-1]]
            low, high = np.nanmin(line.values), np.nanmax(line.values)
            texts.append(
                f"{line.name} from {format_number(first, unit)} to {format_number(last, unit)},"
                f" between {format_number(low, unit)} and {format_number(high, unit)}".strip()
            )
        gaps = int(self._gaps().sum())
        return "; ".join(texts) + (
            f"; {gaps} of {len(self.moments)} times not measured" if gaps else ""
        )

    def _gaps(self) -> npt.NDArray[np.bool_]:
        """Mask of the times at which nothing was measured."""
        measured = np.zeros(len(self.moments), bool)
        for line in self.series:
            measured |= ~np.isnan(line.values) | line.infinite
        return ~measured

    def marks(self) -> Marks:
        """Return the rows and columns that the points were drawn from."""
        names = (self.x, *([self.by] if self.by else []))
        return Marks(self.data.frame, self.drawn, names, self.bounds, self._mark_at)

    def _mark_at(self, x: float, y: float) -> Place | None:
        """The point of the nearest time, on the line that is nearest there."""
        time = int(np.abs(mdates.date2num(self.moments) - x).argmin())
        away = [abs(line.values[time] - y) for line in self.series]
        if all(np.isnan(away)):
            away = [0.0]
        line = int(np.nanargmin(away))
        when = (self.data.moments(self.x).tolist(), self.moments[time])
        if self.by:
            return row_with(when, (self.data.text(self.by), self.series[line].name))
        found = row_with(when)
        return found and (found[0], self.drawn[line])

    def draw(self, axes: Axes) -> list[str]:
        """Draw the lines and return the notes."""
        unit, at = self.data.unit(self.y), mdates.date2num(self.moments)
        step = float(np.min(np.diff(at))) if len(at) > 1 else 1.0
        gaps = self._gaps()
        for first, last in _runs(gaps):
            axes.axvspan(at[first] - step / 2, at[last] + step / 2, **UNMEASURED_FILL)
        styles = self._styles()
        for line, style in zip(self.series, styles, strict=True):
            self._line(axes, at, line, style)
        axes.set_xlim(at[0] - step / 2, at[-1] + step / 2)
        self._scale(axes, unit)
        canvas.date_axis(axes, 8, self.moments)
        if all(self.data.is_count(name) for name in self.drawn):
            canvas.integer_axis(axes.yaxis)
        canvas.number_axis(axes.yaxis, unit)
        canvas.style_axes(axes, "y")
        canvas.label_axes(axes, y=axis_label(self.data, self.y) if len(self.drawn) == 1 else "")
        handles, words = list[Any](), list[str]()
        for line, style in zip(self.series, styles, strict=True):
            if line.is_measured and len(self.series) > 1:
                handles.append(_handle(style))
                words.append(line.name + (" (own)" if line.own else ""))
        if any(line.part[~np.isnan(line.values)].any() for line in self.series):
            handles.append(_handle(styles[0], mfc=PAPER, ls=""))
            words.append("part of the period")
        if gaps.any():
            handles.append(canvas.missing_patch())
            words.append("not measured")
        if handles:
            canvas.legend(axes, handles, words)
        notes = [self._samples()] if self._samples() else []
        lacking = [line.name for line in self.series if not line.is_measured]
        if lacking and len(self.series) > 1:
            notes.append(f"Without a number: {', '.join(lacking)}.")
        if any((~np.isnan(line.low)).any() for line in self.series):
            which = next(line.which for line in self.series if line.which)
            notes.append(f"Band: {which}.")
        infinite = sum(int(line.infinite.sum()) for line in self.series)
        if infinite:
            notes.append(f"Infinite, and therefore not drawn: {infinite} of the numbers.")
        return notes

    def _styles(self) -> list[SeriesStyle]:
        """The style of each line, the same one in each panel."""
        names = [*self.levels, *(line.name for line in self.series)]
        places = [names.index(line.name) for line in self.series] if self.levels else range(99)
        return [SERIES[at % len(SERIES)] for at, _ in zip(places, self.series, strict=False)]

    def _line(self, axes: Axes, at: Numbers, line: LineSeries, style: SeriesStyle) -> None:
        # A marker at 0 or 100% is drawn whole, over the edge of the axes.
        look: dict[str, Any] = {"color": style.colour, "markersize": 4, "clip_on": False}
        (drawn,) = axes.plot(
            at,
            line.values,
            linestyle=style.dash,
            linewidth=1.8 if len(at) <= 150 else 1.0,
            marker=style.marker if len(at) <= 100 else "",
            **look,
        )
        set_tips(drawn, line.tips)
        gone = np.isnan(np.concatenate([[np.nan], line.values, [np.nan]]))
        alone = ~gone[1:-1] & gone[:-2] & gone[2:] & (len(at) > 100)
        hollow: dict[str, Any] = {**look, "mfc": PAPER, "mew": 1.2}
        for which, marks in ((alone, look), (line.part, hollow)):
            if (which & ~gone[1:-1]).any():
                axes.plot(at[which], line.values[which], style.marker, **marks)
        axes.fill_between(at, line.low, line.high, color=style.colour, alpha=0.16, linewidth=0)

    def _scale(self, axes: Axes, unit: str | None) -> None:
        values = np.concatenate([np.append(c.values, [c.low, c.high]) for c in self.series])
        if np.isnan(values).all():
            axes.set_ylim(0, 1)
            axes.set_yticks([])
            return
        if unit == RANK:
            axes.set_ylim(float(np.nanmax(values)) + 0.5, 0.5)
            return
        least, most = float(min(np.nanmin(values), 0)), float(np.nanmax(values)) or 1.0
        most = min(most * 1.08, 1.0) if unit == FRACTION and most <= 1 else most * 1.08
        axes.set_ylim(least * 1.08, most)

    def _samples(self) -> str:
        name = self.data.sample(self.y)
        if name is None or self.data.unit(self.y) != FRACTION or self.data.unit_column(self.y):
            return ""
        found = self.data.values(name)
        found = found[found > 0]
        if not len(found):
            return ""
        each = "–".join(dict.fromkeys(format_number(float(n)) for n in (found.min(), found.max())))
        # One answer may stand in several series: only those of one are added up.
        whole = "" if self.by else f", {format_number(float(found.sum()))} in all"
        return f"Sample ({humanize(name)}): {each} each{whole}."


def plan(data: PlotData, options: PlotOptions) -> Lines | None:
    """Plan lines of the most informative number along the time in the key."""
    x = options.x or next(iter(data.times), None)
    if x is None or data.kinds[x] != "time":
        return None
    others = [name for name in data.keys if name not in (*data.times, x)]
    by = options.by or (others[0] if len(others) == 1 and not options.x else None)
    ys = options.y or tuple([*data.measures, *data.numbers][:1])
    if not ys or (by and len(ys) > 1) or len({data.unit(name) for name in ys}) > 1:
        return None
    given, marks = data, [x, *([by] if by else [])]
    names = data.text(by) if by else [""] * len(data)
    levels = list(dict.fromkeys(names))
    wanted = bool(options.kind or options.by)
    most = options.top or (len(SERIES) if wanted else MOST_LINES)
    if len(levels) > most and not wanted and heatmap.plan(data, options):
        return None
    if options.x or options.by or data.frame.duplicated(marks).any():
        # Rows of one time are never drawn as one of them.
        try:
            data = one_row_per_mark(data, marks, list(ys))
        except AvailabilityError:
            if options.x or wanted:
                raise
            return None
        names = data.text(by) if by else [""] * len(data)
    ends = {name: whiskers(data, name, given, marks) for name in ys[: len(SERIES)]}
    rows = pd.DataFrame({"at": data.moments(x), "name": names})
    moments = moments_between(rows["at"])
    if not len(moments):
        return None
    if by:
        series = _of_series(data, ys[0], rows, moments, min(most, len(SERIES)), ends[ys[0]])
    else:
        series = [
            line_series(data, name, rows, moments, humanize(name), ends[name])
            for name in ys[: len(SERIES)]
        ]
    left_out = (len(levels) if by else len(ys)) - len(series)
    return Lines(
        data, x, ys, by, left_out, moments, tuple(series), options.levels, ends[ys[0]].bounds
    )


def _of_series(
    data: PlotData,
    y: str,
    rows: pd.DataFrame,
    moments: pd.DatetimeIndex,
    most: int,
    ends: Whiskers,
) -> list[LineSeries]:
    """Select the most important series: the own brand, then those with the largest mean."""
    weights = pd.DataFrame({"name": rows["name"], "n": data.values(y), "own": data.own()})
    mean = weights.groupby("name", sort=False)["n"].mean()
    ranked = mean.sort_values(ascending=data.unit(y) == RANK, kind="stable", na_position="last")
    own = weights.loc[weights["own"], "name"].unique().tolist()
    chosen = list(dict.fromkeys([*own, *ranked.index]))[:most]
    return [
        line_series(
            data.only(here),
            y,
            rows[here],
            moments,
            name,
            Whiskers(ends.low[here], ends.high[here], ends.which),
            own=name in own,
        )
        for name in chosen
        if (here := (rows["name"] == name).to_numpy()).any()
    ]


def _handle(style: SeriesStyle, **more: Any) -> Line2D:
    """The handle of a line in the legend."""
    look: dict[str, Any] = {"ls": style.dash, "marker": style.marker, "ms": 4, **more}
    return Line2D([], [], color=style.colour, **look)


def _runs(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last index of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
