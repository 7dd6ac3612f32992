"""Heat map: a number for each pair of values of two columns, unmeasured pairs hatched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import axis_label, capitalized, format_number, humanize
from aatoolkit.display.plot.lines import moments_between
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import MISSING
from aatoolkit.sections.aggregation import RANK

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
    left_out: int
    only: str | None

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
        return capitalized(f"{what} by {humanize(self.by)} and {humanize(self.x)}{most}")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        values, unit = self.cells.to_numpy(np.float64), self.data.unit(self.y)
        missing = int(np.isnan(values).sum())
        if missing == values.size:
            return "none of it was measured"
        best = np.nanargmin(values) if unit == RANK else np.nanargmax(values)
        row, column = divmod(int(best), values.shape[1])
        text = f"{'best' if unit == RANK else 'most'} at {self.cells.index[row]}, "
        most = format_number(float(values[row, column]), unit)
        text += f"{_column(self.cells.columns[column])}: {most}"
        return text + (f"; {missing} of {self.cells.size} cells not measured" if missing else "")

    def draw(self, axes: Axes) -> list[str]:
        """Draw the cells and return the notes."""
        unit, values = self.data.unit(self.y), self.cells.to_numpy(np.float64)
        rows, columns = values.shape
        axes.add_patch(Rectangle((-0.5, -0.5), columns, rows, **MISSING))
        palette = colormaps["Blues_r" if unit == RANK else "Blues"]
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
            edgecolors="white",
            linewidth=0.5 if columns <= 60 else 0,
        )
        if values.size <= _WRITTEN and columns <= 12:
            _write(axes, mesh, values, unit)
        else:
            bar = canvas.figure_of(axes).colorbar(mesh, ax=axes, pad=0.01, aspect=25)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0, labelsize=8, colors=canvas.text_colour(axes))
            bar.ax.yaxis.set_major_formatter(lambda value, _: format_number(value, unit))
            if unit == RANK:
                bar.ax.invert_yaxis()
        canvas.style_axes(axes, "both")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        canvas.row_labels(axes, list(map(str, self.cells.index)), list(self.own), 30)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_xlim(-0.5, columns - 0.5)
        _name_columns(axes, list(self.cells.columns))
        canvas.label_axes(axes)
        missing = np.isnan(values).any()
        if missing:
            canvas.legend(axes, [canvas.missing_patch()], ["not measured"])
        return [f"Numbers: {axis_label(self.data, self.y)}."] if not self.only else []


def plan(data: PlotData, options: PlotOptions) -> Heatmap | None:
    """Cells of the most informative number, by the last two columns of the key, time across."""
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
    mine = pd.Series(data.own()).groupby(data.text(by)).all()
    own = {*mine.index[mine]}
    across = data.moments(x) if data.kinds[x] == "time" else pd.Series(data.text(x))
    cells = pd.DataFrame({"by": data.text(by), "x": across, "y": data.values(y)})
    table = cells.dropna(subset="x").pivot(index="by", columns="x", values="y")
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
    return Heatmap(
        data, x, y, by, kept, tuple(n in own for n in kept.index), len(table) - len(kept), only
    )


def _placed(data: PlotData) -> list[str]:
    """Numbers that do not fit bars but fit cells: positions, and metrics by name."""
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
            **canvas.literal_text(fontsize=8, color="#000000" if light > 0.18 else "#fefefe"),
        )


def _name_columns(axes: Axes, columns: list[object]) -> None:
    every = max(1, -(-len(columns) // 12))
    words = [_column(name) for name in columns]
    if isinstance(columns[0], pd.Timestamp):
        words = [word[5:] if word[:4] == words[0][:4] else word for word in words]
    places = list(range(0, len(columns), every))
    long = max((len(words[at]) for at in places), default=0) * len(places) > 90
    axes.set_xticks(places)
    axes.set_xticklabels(
        [canvas.safe_text(words[at], 22) for at in places],
        **canvas.literal_text(
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
