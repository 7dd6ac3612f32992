"""Heat map: a number for each pair of values of two columns, unmeasured pairs hatched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import axis_label, capitalized, format_number, humanize
from aatoolkit.display.plot.lines import moments_between
from aatoolkit.display.plot.marks import Marks, Place, row_with
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    DOES_NOT_APPLY,
    NO_VALUE,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    whys_missing,
)
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import NO_VALUE_FILL, PAPER, UNMEASURED_FILL
from aatoolkit.display.plot.theme import DARK
from aatoolkit.display.plot.tips import describe_mark, set_tips
from aatoolkit.display.plot.whiskers import whiskers
from aatoolkit.sections.aggregation import RANK

_FILLS = {NOT_MEASURED: UNMEASURED_FILL, NO_VALUE: NO_VALUE_FILL}
_MARKERS = {NOT_LISTED: ".", NOTHING: "_", NOT_MENTIONED: "o", DOES_NOT_APPLY: "x"}
"""Of the cells without a number: those that are hatched, and those that have a sign."""
_WRITTEN = 90
"""The most cells that are annotated with their number."""


@dataclass(frozen=True)
class Heatmap:
    """Rows and columns of numbers, darker for larger values, or for better positions."""

    data: PlotData
    x: str
    y: str
    by: str
    cells: pd.DataFrame
    own: tuple[bool, ...]
    rivals: tuple[bool, ...]
    left_out: int
    only: str | None
    why: pd.DataFrame
    """Why each cell has no number; empty where it has one."""
    colour: str | None = None

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return (self.y,)

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.3 * max(len(self.cells), 3)

    @property
    def title(self) -> str:
        """The title."""
        what = humanize(self.only or self.y)
        most = (
            f", the first {len(self.cells)} of {len(self.cells) + self.left_out}"
            if self.left_out
            else ""
        )
        across = self.data.time_noun(self.x) if self.data.kinds[self.x] == "time" else self.x
        return capitalized(f"{what} by {humanize(self.by)} and {humanize(across)}{most}")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        values, unit = self.cells.to_numpy(np.float64), self.data.unit(self.y)
        if np.isnan(values).all():
            return "none of it was measured"
        best = np.nanargmin(values) if unit == RANK else np.nanargmax(values)
        row, column = divmod(int(best), values.shape[1])
        text = f"{'best' if unit == RANK else 'most'} at {self.cells.index[row]}, "
        most = format_number(float(values[row, column]), unit)
        text += f"{_column(self.cells.columns[column])}: {most}"
        for word in self._reasons():
            text += f"; {int((self.why == word).sum().sum())} of {values.size} cells {word}"
        return text

    def _cell(self, row: int, column: int) -> str:
        return f"{self.cells.index[row]}, {_column(self.cells.columns[column])}"

    def _tips(self) -> list[str]:
        """The words of each cell, row by row."""
        data = self.data
        across = list(data.moments(self.x)) if data.kinds[self.x] == "time" else data.text(self.x)
        places = {pair: at for at, pair in enumerate(zip(data.text(self.by), across, strict=True))}
        ends = whiskers(data, self.y)
        words = []
        for (row, column), value in np.ndenumerate(self.cells.to_numpy(np.float64)):
            at = places.get((str(self.cells.index[row]), self.cells.columns[column]))
            if at is None or np.isnan(value):
                words.append("")
                continue
            interval = float(ends.low[at]), float(ends.high[at])
            words.append(describe_mark(data, self.y, at, self._cell(row, column), interval))
        return words

    def _reasons(self) -> list[str]:
        """The reasons for which cells have no number, those not measured first."""
        found = {str(word) for word in self.why.to_numpy().ravel() if word}
        return sorted(found, key=lambda word: (word != NOT_MEASURED, word))

    def marks(self) -> Marks:
        """Return the rows and columns that the cells were drawn from."""
        return Marks(self.data.frame, self.drawn, (self.by, self.x), at=self._mark_at)

    def _mark_at(self, x: float, y: float) -> Place | None:
        """The cell at a point."""
        row, column = round(y), round(x)
        if not (0 <= row < len(self.cells) and 0 <= column < len(self.cells.columns)):
            return None
        is_time = self.data.kinds[self.x] == "time"
        across = self.data.moments(self.x).tolist() if is_time else self.data.text(self.x)
        named = (self.data.text(self.by), self.cells.index[row])
        return row_with(named, (across, self.cells.columns[column]))

    def draw(self, axes: Axes) -> list[str]:
        """Draw the cells and return the notes."""
        unit, values = self.data.unit(self.y), self.cells.to_numpy(np.float64)
        rows, columns = values.shape
        palette = self._palette(canvas.is_on_dark(axes), unit == RANK)
        shown = np.ma.masked_invalid(values)
        least = float(shown.min()) if shown.count() and (unit == RANK or shown.min() < 0) else 0.0
        most = float(shown.max()) if shown.count() else 1.0
        mesh = axes.pcolormesh(
            np.arange(columns + 1) - 0.5,
            np.arange(rows + 1) - 0.5,
            shown,
            cmap=palette,
            vmin=least,
            vmax=most if most > least else least + 1,
            edgecolors=PAPER if not canvas.is_on_dark(axes) else DARK[PAPER],
            linewidth=0.5 if columns <= 60 else 0,
        )
        set_tips(mesh, self._tips)
        handles = self._mark_missing(axes)
        if values.size <= _WRITTEN and columns <= 12:
            _write(axes, mesh, values, unit)
        else:
            bar = canvas.figure_of(axes).colorbar(mesh, ax=axes, pad=0.01, aspect=25)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0, labelsize=8, colors=canvas.text_colour(axes))
            canvas.number_axis(bar.ax.yaxis, unit)
            if unit == RANK:
                bar.ax.invert_yaxis()
        canvas.style_axes(axes, "both")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        names = list(map(str, self.cells.index))
        canvas.row_labels(axes, names, list(self.own), 0.34, self.rivals)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_xlim(-0.5, columns - 0.5)
        canvas.label_axes(axes)
        _name_columns(axes, list(self.cells.columns))
        if handles:
            canvas.legend(axes, list(handles.values()), list(handles))
        better = " Darker is better." if unit == RANK else ""
        if self.only:
            which = humanize(self.only) + (", lower is better" if unit == RANK else "")
            return [f"Numbers: {which}.{better}"]
        return [f"Numbers: {axis_label(self.data, self.y)}.{better}"]

    def _palette(self, dark: bool, is_rank: bool) -> Colormap:
        """From the paper's colour to a strong one; the strong one is the best position."""
        if not dark and self.colour is None:
            return colormaps["Blues_r" if is_rank else "Blues"]
        ends = ["#161f2b", "#1d5f94", "#8cc8f0"] if dark else ["#f4f6f8", "#08306b"]
        if self.colour:
            ends = [ends[0], self.colour]
        return LinearSegmentedColormap.from_list("paper", ends[::-1] if is_rank else ends)

    def _mark_missing(self, axes: Axes) -> dict[str, Any]:
        """Hatch what was not measured, mark what has no row, and return the legend."""
        reasons = self.why.to_numpy()
        handles: dict[str, Any] = {}
        for word in self._reasons():
            places = np.argwhere(reasons == word)
            if word in _FILLS:
                for row, column in places:
                    patch = axes.add_patch(
                        Rectangle((column - 0.5, row - 0.5), 1, 1, **_FILLS[word])
                    )
                    words = f"{self._cell(row, column)}\n{word}"
                    set_tips(patch, partial(list, [words]))
                handles[word] = Patch(**_FILLS[word])
                continue
            marker, style = _MARKERS[word], {"color": canvas.muted_colour(axes), "ls": "", "ms": 4}
            look: dict[str, Any] = style | ({"mfc": "none"} if marker == "o" else {})
            (marks,) = axes.plot(places[:, 1], places[:, 0], marker, **look)
            tips = [f"{self._cell(row, column)}\n{word}" for row, column in places]
            set_tips(marks, partial(list, tips))
            handles[word] = Line2D([], [], marker=marker, **look)
        return handles


def plan(data: PlotData, options: PlotOptions) -> Heatmap | None:
    """Plan cells of the most informative number, by the last two columns of the key."""
    if options.x and not options.by and not options.kind:
        return None
    y = next(iter(options.y or [*data.measures, *_placed(data)]), None)
    times = data.times[:1]
    named = [name for name in data.keys if data.kinds[name] in ("word", "flag")]
    keys = [*named[-(2 - len(times)) :], *times]
    x = options.x or next((name for name in reversed(keys) if name != options.by), None)
    by = options.by or next((name for name in keys if name != x), None)
    if y is None or x is None or by is None or x == by or y in (x, by):
        return None
    # What each x has only one of tells bars apart; it makes no rows of cells.
    if not options.kind and data.frame.groupby(x, observed=True)[by].nunique().le(1).all():
        return None
    per, only = data.unit_column(y), None
    if per and len(data):
        words = pd.Series(data.text(per))
        only = str(words.mode()[0])
        data = data.only((words == only).to_numpy())
    if not options.kind and not options.x and not _adds(data, y, len(data.keys)):
        return None
    data = one_row_per_mark(data, [by, x], [y])
    if not len(data):
        return None
    own, rivals = (
        {*marked.index[marked]}
        for side in (data.own(), data.rivals())
        for marked in [pd.Series(side).groupby(data.text(by)).all()]
    )
    across = data.moments(x) if data.kinds[x] == "time" else pd.Series(data.text(x))
    values = data.values(y)
    why, lacking = np.full(len(values), "", object), np.flatnonzero(np.isnan(values))
    why[lacking] = whys_missing(data, y, lacking.tolist())
    cells = pd.DataFrame({"by": data.text(by), "x": across, "y": values, "why": why})
    cells = cells.dropna(subset="x")
    table = cells.pivot(index="by", columns="x", values="y")
    reasons = cells.pivot(index="by", columns="x", values="why")
    is_rank = data.unit(y) == RANK
    mean = table.mean(axis=1).sort_values(ascending=is_rank, kind="stable", na_position="last")
    table = table.loc[mean.index]
    if data.kinds[x] == "time":
        table = table.reindex(columns=moments_between(across))
    elif isinstance(data.frame[x].dtype, pd.CategoricalDtype):
        listed = [str(c) for c in data.frame[x].cat.categories]
        table = table[sorted(table.columns, key=lambda c: listed.index(c) if c in listed else 99)]
    else:
        table = table[table.mean().sort_values(ascending=is_rank, kind="stable").index[:20]]
    top = options.top or 15
    kept = table.head(top)
    reasons = reasons.reindex(index=kept.index, columns=kept.columns).astype(object)
    # At a time that no row has, nothing was measured; else a row is not listed.
    reasons.loc[:, reasons.isna().all()] = NOT_MEASURED
    reasons = reasons.fillna(NOT_LISTED)
    mine, theirs = (tuple(name in side for name in kept.index) for side in (own, rivals))
    colour = next(iter(options.colours), None)
    return Heatmap(
        data, x, y, by, kept, mine, theirs, len(table) - len(kept), only, reasons, colour
    )


def _placed(data: PlotData) -> list[str]:
    """The numbers that do not fit bars but fit cells: positions, and metrics by name."""
    return [n for n in data.numbers if data.unit(n) == RANK or data.unit_column(n)]


def _adds(data: PlotData, y: str, keys: int) -> bool:
    """Whether a number can be shown by two columns of the key without a third."""
    rule = data.rule(y)
    if rule is not None and rule.rule == "sum":
        return keys >= 2
    return keys == 2 and (y in _placed(data) or data.column(y) is None)


def _write(axes: Axes, mesh: object, values: np.ndarray, unit: str | None) -> None:
    """Annotate the cells, in black on light ones and white on dark ones."""
    colours = mesh.to_rgba(values)  # type: ignore[attr-defined]
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = colours[row, column]
        light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        axes.text(
            column,
            row,
            format_number(float(value), unit),
            ha="center",
            va="center",
            **fonts.literal_text(fontsize=8, color="#000000" if light > 0.18 else "#fefefe"),
        )


def _name_columns(axes: Axes, columns: list[object]) -> None:
    wide = canvas.figure_of(axes).get_figwidth() * axes.get_position().width
    words = [_column(name) for name in columns]
    if isinstance(columns[0], pd.Timestamp):
        days = [name for name in columns if isinstance(name, pd.Timestamp)]
        form = "%d %b" if days == [day.normalize() for day in days] else "%d %b %H:%M"
        words = [f"{day:{form}}" for day in days]
        canvas.year_below(axes, days[-1].year)
    fits = int(wide * 2.1)
    if isinstance(columns[0], pd.Timestamp):
        # Days are not turned: there are as many as have room beside the names of the rows.
        names = max((len(text.get_text()) for text in axes.get_yticklabels()), default=0)
        fits = int((wide / 0.775 - names * 9 * 0.56 / 72 - 0.6) / (0.093 * len(words[0])))
    every = max(1, -(-len(columns) // max(fits, 2)))
    places = list(range(0, len(columns), every))
    long = max((len(words[at]) for at in places), default=0) * len(places) > 90
    axes.set_xticks(places)
    axes.set_xticklabels(
        [fonts.safe_text(words[at], 22) for at in places],
        **fonts.literal_text(
            fontsize=8,
            rotation=30 if long else 0,
            ha="right" if long else "center",
            rotation_mode="anchor",
            color=canvas.text_colour(axes),
        ),
    )


def _column(name: object) -> str:
    if isinstance(name, pd.Timestamp):
        return f"{name:%Y-%m-%d}" if name == name.normalize() else f"{name:%Y-%m-%d %H:%M}"
    return str(name)
