"""A heat map: a number for each pair of two things, unmeasured pairs hatched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import axis, number, spoken, title
from aatoolkit.display.plot.lines import moments_between
from aatoolkit.display.plot.options import Asked
from aatoolkit.display.plot.reduce import reduced
from aatoolkit.display.plot.roles import Sheet
from aatoolkit.display.plot.style import MISSING
from aatoolkit.sections.aggregation import RANK

_WRITTEN = 90
"""Up to this many cells have their number written in them."""


@dataclass(frozen=True)
class Heatmap:
    """Rows and columns of numbers, darker for more, or for better places."""

    sheet: Sheet
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
        """Inches."""
        return 1.9 + 0.3 * max(len(self.cells), 3)

    @property
    def title(self) -> str:
        """What is drawn."""
        what = spoken(self.only or self.y)
        most = (
            f", the first {len(self.cells)} of {len(self.cells) + self.left_out}"
            if self.left_out
            else ""
        )
        return title(f"{what} by {spoken(self.by)} and {spoken(self.x)}{most}")

    @property
    def finding(self) -> str:
        """What the picture shows, in words."""
        values, unit = self.cells.to_numpy(np.float64), self.sheet.unit(self.y)
        missing = int(np.isnan(values).sum())
        if missing == values.size:
            return "none of it was measured"
        best = np.nanargmin(values) if unit == RANK else np.nanargmax(values)
        row, column = divmod(int(best), values.shape[1])
        said = f"{'best' if unit == RANK else 'most'} at {self.cells.index[row]}, "
        said += f"{_column(self.cells.columns[column])}: {number(float(values[row, column]), unit)}"
        return said + (f"; {missing} of {self.cells.size} cells not measured" if missing else "")

    def draw(self, axes: Axes) -> list[str]:
        """Draw the cells; the notes that go with them."""
        unit, values = self.sheet.unit(self.y), self.cells.to_numpy(np.float64)
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
            bar.ax.tick_params(length=0, labelsize=8, colors=canvas.ink(axes))
            bar.ax.yaxis.set_major_formatter(lambda value, _: number(value, unit))
            if unit == RANK:
                bar.ax.invert_yaxis()
        canvas.frame(axes, "both")
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
        return [f"Numbers: {axis(self.sheet, self.y)}."] if not self.only else []


def plan(sheet: Sheet, asked: Asked) -> Heatmap | None:
    """Cells of the best number, by the last two columns of the key, time across."""
    if asked.x and not asked.by and not asked.kind:
        return None
    y = next(iter(asked.y or [*sheet.measures, *_placed(sheet)]), None)
    times = sheet.times[:1]
    named = [name for name in sheet.keys if sheet.kinds[name] in ("word", "flag")]
    keys = [*named[-(2 - len(times)) :], *times]
    x = asked.x or next((name for name in reversed(keys) if name != asked.by), None)
    by = asked.by or next((name for name in keys if name != x), None)
    if y is None or x is None or by is None or x == by or y in (x, by):
        return None
    per, only = sheet.varies_with(y), None
    if per and len(sheet):
        words = pd.Series(sheet.text(per))
        only = str(words.mode()[0])
        sheet = sheet.only((words == only).to_numpy())
    if not asked.kind and not asked.x and not _adds(sheet, y, len(sheet.keys)):
        return None
    sheet = reduced(sheet, [by, x], [y])
    if not len(sheet):
        return None
    mine = pd.Series(sheet.own()).groupby(sheet.text(by)).all()
    own = {*mine.index[mine]}
    across = sheet.moments(x) if sheet.kinds[x] == "time" else pd.Series(sheet.text(x))
    cells = pd.DataFrame({"by": sheet.text(by), "x": across, "y": sheet.values(y)})
    table = cells.dropna(subset="x").pivot(index="by", columns="x", values="y")
    is_rank = sheet.unit(y) == RANK
    mean = table.mean(axis=1).sort_values(ascending=is_rank, kind="stable", na_position="last")
    table = table.loc[mean.index]
    if sheet.kinds[x] == "time":
        table = table.reindex(columns=moments_between(across))
    elif isinstance(sheet.frame[x].dtype, pd.CategoricalDtype):
        listed = [str(c) for c in sheet.frame[x].cat.categories]
        table = table[sorted(table.columns, key=lambda c: listed.index(c) if c in listed else 99)]
    else:
        table = table[table.mean().sort_values(ascending=is_rank, kind="stable").index[:20]]
    top = asked.top or 15
    kept = table.head(top)
    return Heatmap(
        sheet, x, y, by, kept, tuple(n in own for n in kept.index), len(table) - len(kept), only
    )


def _placed(sheet: Sheet) -> list[str]:
    """Numbers that make no bars, and tell something as cells: places, and metrics by name."""
    return [n for n in sheet.numbers if sheet.unit(n) == RANK or sheet.varies_with(n)]


def _adds(sheet: Sheet, y: str, keys: int) -> bool:
    """Whether a number can stand in two columns of the key without a third."""
    rule = sheet.rule(y)
    if rule is not None and rule.rule == "sum":
        return keys >= 2
    return keys == 2 and (y in _placed(sheet) or sheet.column(y) is None)


def _write(axes: Axes, mesh: object, values: np.ndarray, unit: str | None) -> None:
    """The numbers in their cells, in black on light ones and white on dark ones."""
    colours = mesh.to_rgba(values)  # type: ignore[attr-defined]
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = colours[row, column]
        light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        axes.text(
            column,
            row,
            number(float(value), unit),
            ha="center",
            va="center",
            **canvas.plain(fontsize=8, color="#000000" if light > 0.18 else "#fefefe"),
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
        [canvas.safe(words[at], 22) for at in places],
        **canvas.plain(
            fontsize=8,
            rotation=30 if long else 0,
            ha="right" if long else "center",
            rotation_mode="anchor",
            color=canvas.ink(axes),
        ),
    )


def _column(name: object) -> str:
    if isinstance(name, pd.Timestamp):
        return f"{name:%Y-%m-%d}" if name == name.normalize() else f"{name:%Y-%m-%d %H:%M}"
    return str(name)
