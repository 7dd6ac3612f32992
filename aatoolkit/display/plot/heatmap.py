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
from aatoolkit.display.plot.cell_text import column_name, name_columns, write_numbers
from aatoolkit.display.plot.labels import axis_label, capitalized, format_number, humanize
from aatoolkit.display.plot.line_series import moments_between
from aatoolkit.display.plot.marks import Marks, Place, row_with
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    DOES_NOT_APPLY,
    INFINITE,
    NO_VALUE,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    fill_of,
    whys_missing,
)
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import PAPER
from aatoolkit.display.plot.theme import DARK
from aatoolkit.display.plot.tips import describe_mark, set_tips
from aatoolkit.display.plot.whiskers import whiskers
from aatoolkit.sections.aggregation import RANK

_FILLS = {word: fill_of(word) for word in (NOT_MEASURED, NO_VALUE)}
_MARKERS = {NOT_LISTED: ".", NOTHING: "_", NOT_MENTIONED: "o", DOES_NOT_APPLY: "x", INFINITE: "^"}
"""Of the cells without a number: those that are hatched, and those that have a sign."""
_MOST_COLUMNS = 20
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
    own_columns: frozenset[str] = frozenset()
    columns_left_out: int = 0

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
        text += f"{column_name(self.cells.columns[column])}: {most}"
        for word in self._reasons():
            text += f"; {int((self.why == word).sum().sum())} of {values.size} cells {word}"
        return text

    def _cell(self, row: int, column: int) -> str:
        return f"{self.cells.index[row]}, {column_name(self.cells.columns[column])}"

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
        written = values.size <= _WRITTEN and columns <= 12
        if written:
            write_numbers(axes, mesh, values, unit)
        else:
            bar = canvas.figure_of(axes).colorbar(mesh, ax=axes, pad=0.01, aspect=25)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0, labelsize=8, colors=canvas.text_colour(axes))
            canvas.number_axis(bar.ax.yaxis, unit)
            look = fonts.literal_text(color=canvas.muted_colour(axes), fontsize=9)
            bar.ax.set_ylabel(fonts.safe_text(self._numbers, 50), **look)
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
        name_columns(axes, list(self.cells.columns), self.own_columns)
        if handles:
            canvas.legend(axes, list(handles.values()), list(handles))
        better = f" {self._better(canvas.is_on_dark(axes))}" if unit == RANK else ""
        more = []
        if self.columns_left_out:
            part = f"{columns} of {columns + self.columns_left_out}"
            more = [f"{part} columns ({humanize(self.x)}) are drawn, those with most."]
        # The title says what the numbers are; their unit stands here, or on the scale.
        if written and self._numbers != humanize(self.only or self.y):
            return [f"Numbers: {self._numbers}.{better}", *more]
        return [*([better.strip()] if better else []), *more]

    @property
    def _numbers(self) -> str:
        """What the numbers are, with their unit."""
        if not self.only:
            return axis_label(self.data, self.y)
        is_rank = self.data.unit(self.y) == RANK
        return humanize(self.only) + (" (lower is better)" if is_rank else "")

    @staticmethod
    def _better(dark: bool) -> str:
        return "Brighter is better." if dark else "Darker is better."

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
            marker, style = (
                _MARKERS[word],
                {
                    "color": canvas.muted_colour(axes),
                    "ls": "",
                    "ms": 4 if len(self.cells.columns) <= 40 else 1.5,
                },
            )
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
    # Of counts the whole is compared: a mean is of the listed cells alone.
    rule = data.rule(y)
    adds = rule is not None and rule.rule == "sum"
    table = table.loc[_ranked(table, is_rank, adds)]
    unshown = 0
    if data.kinds[x] == "time":
        table = table.reindex(columns=moments_between(across))
    elif isinstance(data.frame[x].dtype, pd.CategoricalDtype):
        listed = [str(c) for c in data.frame[x].cat.categories]
        table = table[sorted(table.columns, key=lambda c: listed.index(c) if c in listed else 99)]
    else:
        unshown = max(len(table.columns) - _MOST_COLUMNS, 0)
        table = table[_ranked(table.T, is_rank, adds)[:_MOST_COLUMNS]]
    top = options.top or 15
    kept = table.head(top)
    reasons = reasons.reindex(index=kept.index, columns=kept.columns).astype(object)
    # At a time that no row has, nothing was measured; else a row is not listed.
    reasons.loc[:, reasons.isna().all()] = NOT_MEASURED
    reasons = reasons.fillna(NOT_LISTED)
    mine, theirs = (tuple(name in side for name in kept.index) for side in (own, rivals))
    own_columns = pd.Series(data.own()).groupby(data.text(x)).all()
    return Heatmap(
        data,
        x,
        y,
        by,
        kept,
        mine,
        theirs,
        len(table) - len(kept),
        only,
        reasons,
        next(iter(options.colours), None),
        frozenset(map(str, own_columns.index[own_columns])),
        unshown,
    )


def _ranked(table: pd.DataFrame, is_rank: bool, adds: bool) -> list[Any]:
    """The rows in their order: the best mean position, else the largest sum or mean."""
    found = table.sum(axis=1, min_count=1) if adds else table.mean(axis=1)
    return list(found.sort_values(ascending=is_rank, kind="stable", na_position="last").index)


def _placed(data: PlotData) -> list[str]:
    """The numbers that do not fit bars but fit cells: positions, and metrics by name."""
    return [n for n in data.numbers if data.unit(n) == RANK or data.unit_column(n)]


def _adds(data: PlotData, y: str, keys: int) -> bool:
    """Whether a number can be shown by two columns of the key without a third."""
    rule = data.rule(y)
    if rule is not None and rule.rule == "sum":
        return keys >= 2
    return keys == 2 and (y in _placed(data) or data.column(y) is None)
