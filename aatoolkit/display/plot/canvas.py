"""Axes with title, notes and legend, and text that is safe to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import matplotlib.dates as mdates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, Locator, MaxNLocator

from aatoolkit.display.plot.fonts import families, literal_text, safe_text, wrap
from aatoolkit.display.plot.labels import format_tick
from aatoolkit.display.plot.picture import Picture as Picture
from aatoolkit.display.plot.picture import figure_of as figure_of
from aatoolkit.display.plot.style import GRID, INK, MUTED, PAPER, UNMEASURED_FILL
from aatoolkit.display.plot.theme import auto_is_dark

WIDTH = 7.6
"""The default width in inches."""

_SMALL = 8
_LEGEND_COLUMNS = 5
_LINE = _SMALL * 1.35 / 72


def new_figure(figsize: tuple[float, float]) -> Figure:
    """Make a figure that pyplot does not manage."""
    figure = Figure(figsize=figsize, facecolor=PAPER)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.08)
    return figure


def add_picture(figure: Figure, place: tuple[Any, ...], dark: bool = False) -> Picture:
    """Add axes to a figure, in some place of it."""
    axes = figure.add_subplot(*place, axes_class=Picture)
    assert isinstance(axes, Picture)
    axes.set_facecolor(PAPER)
    axes.dark = dark
    return axes


def new_axes(figsize: tuple[float, float], dark: bool = False) -> Picture:
    """Make axes on a new figure, which pyplot does not manage."""
    return add_picture(new_figure(figsize), (1, 1, 1), dark)


def is_on_dark(axes: Axes) -> bool:
    """Whether axes have a dark background."""
    return axes.dark if isinstance(axes, Picture) else auto_is_dark("auto", axes)


def number_axis(along: Axis, unit: str | None, most: float = np.inf) -> None:
    """Label an axis with numbers in their unit, up to the largest that means something."""
    along.set_major_formatter(
        lambda value, _: format_tick(value, unit) if value <= most + 1e-9 else ""
    )


def text_colour(axes: Axes) -> str:
    """The colour of text; on the user's own axes the colour set in matplotlib."""
    return INK if isinstance(axes, Picture) else str(mpl.rcParams["text.color"])


def muted_colour(axes: Axes) -> str:
    """The colour of secondary text."""
    return MUTED if isinstance(axes, Picture) else str(mpl.rcParams["text.color"])


def row_note(
    axes: Axes, words: str, end: float, row: int, *, gap: int = 5, **properties: Any
) -> None:
    """Write some words after the end of what is drawn in a row."""
    text = literal_text(**{"fontsize": 8, "color": text_colour(axes), **properties})
    axes.annotate(
        words, (end, row), xytext=(gap, 0), textcoords="offset points", va="center", **text
    )


def empty_row(axes: Axes, row: int, fill: Mapping[str, Any]) -> Patch:
    """Fill a row that has no number, over the whole width whatever the limits become."""
    across = axes.get_yaxis_transform()
    return axes.add_patch(Rectangle((0, row - 0.34), 1, 0.68, transform=across, **fill))


def add_title_and_notes(axes: Axes, title: str, notes: list[str], *, grow: bool = False) -> None:
    """Add the title above and the notes below; many notes make the figure higher."""
    if not isinstance(axes, Picture):
        # The legend is between the axes and the title.
        box = axes.get_legend()
        words = [text.get_text() for text in box.get_texts()] if box else []
        rows = -(-len(words) // _legend_columns(axes, words)) if words else 0
        pad = 6 + rows * _SMALL * 1.7
        wide = _wide(axes)
        heading = wrap(title, max(int(wide / 6.2), 16))
        axes.set_title(heading, loc="left", pad=pad, **literal_text(fontsize=11))
        below = "\n".join(wrap(note, max(int(wide / (_SMALL * 0.56)), 24)) for note in notes)
        # The year stands below the days, at the right.
        is_dated = isinstance(axes.xaxis.get_major_formatter(), mdates.ConciseDateFormatter)
        below = f"{axes.get_xlabel()}\n{below}".strip("\n") if not is_dated else f"\n{below}"
        if axes.axison:
            axes.set_xlabel(below, **literal_text(fontsize=_SMALL, loc="left"))
        else:
            look = literal_text(fontsize=_SMALL, color=text_colour(axes))
            axes.text(0, -0.02, below, transform=axes.transAxes, va="top", **look)
        share = 0.8 if len(figure_of(axes).axes) > 1 else 1.0
        _fit_rows(axes, figure_of(axes).get_figheight() * axes.get_position().height * 72 * share)
        return
    add_figure_title(figure_of(axes), title, notes, grow)


def _fit_rows(axes: Axes, high: float) -> None:
    """Make the text of rows smaller where the rows are lower than it."""
    labels = axes.get_yticklabels()
    is_of_rows = isinstance(axes.yaxis.get_major_locator(), FixedLocator) and axes.axison
    if len(labels) < 2 or not is_of_rows:
        return
    size = max(high / len(labels) * 0.8, 3.5)
    for text in (*labels, *axes.texts):
        text.set_fontsize(min(float(text.get_fontsize()), size))


def add_figure_title(figure: Figure, title: str, notes: list[str], grow: bool) -> None:
    """Add the title above all axes of a figure, and the notes below."""
    size, large = float(_SMALL), 12.0 if grow or figure.get_figwidth() > 5 else 9.5
    below = _notes(figure, notes, size)
    if grow:
        figure.set_figheight(figure.get_figheight() + max(below.count("\n") - 2, 0) * _LINE)
    elif (below.count("\n") + 1) * _LINE > 0.28 * figure.get_figheight():
        # A size that was chosen stays: the notes are smaller, and cover nothing.
        size = 5.5
        below = _notes(figure, notes, size)
    figure.suptitle(
        wrap(title, int(figure.get_figwidth() * 72 / (large * 0.645))),
        **literal_text(x=0.012, ha="left", fontsize=large, fontweight="bold", color=INK),
    )
    for box in figure.legends:
        # Both are at the bottom: the legend is above the notes.
        taken = ((below.count("\n") + 1) * _LINE + 0.1) / figure.get_figheight()
        box.set_bbox_to_anchor((0, taken, 1, 1))
    figure.supxlabel(
        below, **literal_text(x=0.012, ha="left", fontsize=size, color=MUTED, linespacing=1.35)
    )
    if not grow:
        if figure.get_figheight() < 2.6:
            for axes in figure.axes:
                axes.tick_params(labelsize=7)
                axes.xaxis.label.set_fontsize(7)
        figure.draw_without_rendering()
        for axes in figure.axes:
            _fit_rows(axes, axes.get_window_extent().height * 72 / figure.dpi)


def _notes(figure: Figure, notes: list[str], size: float) -> str:
    """The notes, wrapped to the width of a figure."""
    room = int(figure.get_figwidth() * 72 / (size * 0.6))
    return "\n".join(wrap(note, room) for note in notes)


def style_axes(axes: Axes, grid: str) -> None:
    """Remove the box, and add a faint grid in one direction."""
    axes.spines[["top", "right"]].set_visible(False)
    faint = GRID if isinstance(axes, Picture) else text_colour(axes)
    axes.spines[["left", "bottom"]].set_color(faint)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(colors=text_colour(axes), labelsize=9, length=0)
    axes.tick_params(axis="x", pad=6)


def label_axes(axes: Axes, x: str = "", y: str = "") -> None:
    """Label the axes."""
    axes.set_xlabel(safe_text(x, 70), **literal_text(color=muted_colour(axes), fontsize=9))
    axes.set_ylabel(safe_text(y, 50), **literal_text(color=muted_colour(axes), fontsize=9))


def row_labels(
    axes: Axes, labels: list[str], own: list[bool], share: float = 0.44, rivals: Any = ()
) -> None:
    """Label the rows, the own brand in bold and marked as own; elided where there is no room.

    Labels have at most a share of the width of the figure, or of that of a panel.
    """
    figure = figure_of(axes)
    wide = figure.get_figwidth() / _columns(axes) * 72
    most = max(int(wide * share / (9 * 0.56)), 14)
    marks = [" (competitor)" if rival else "" for rival in rivals] or [""] * len(labels)
    axes.set_yticks(range(len(labels)))
    shown = [
        f"{safe_text(label, most)}{' (own)' if mine else mark}"
        for label, mine, mark in zip(labels, own, marks, strict=True)
    ]
    texts = axes.set_yticklabels(shown, **literal_text(fontsize=9, color=text_colour(axes)))
    for text, mine in zip(texts, own, strict=True):
        text.set_fontweight("bold" if mine else "normal")
    axes.set_ylim(len(labels) - 0.4, -0.6)


def _columns(axes: Axes) -> int:
    """Count the panels that stand side by side in the figure."""
    grid = axes.get_subplotspec()
    return 1 if grid is None else int(grid.get_gridspec().ncols)


def date_axis(axes: Axes, most: int, moments: pd.DatetimeIndex | None = None) -> None:
    """Label the horizontal axis with dates, at most so many; a day always has its month.

    A few days have a label each: between them there is no time of day.
    """
    locator: Locator = mdates.AutoDateLocator(minticks=3, maxticks=most)
    if moments is not None and len(moments) < most and bool((moments == moments.normalize()).all()):
        locator = FixedLocator(list(mdates.date2num(moments)))
    day, minute = "%d %b", "%H:%M"
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        mdates.ConciseDateFormatter(
            locator,
            formats=["%Y", "%b", day, minute, minute, "%S.%f"],
            zero_formats=["", "%Y", day, day, minute, minute],
            offset_formats=["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d %H:%M"],
        )
    )
    axes.xaxis.get_offset_text().set(size=8, color=muted_colour(axes))


def year_below(axes: Axes, year: int) -> None:
    """Write the last year below the right end of an axis of days."""
    axes.set_xlabel(f"{year}", loc="right", **literal_text(fontsize=8, color=muted_colour(axes)))


def integer_axis(along: Axis) -> None:
    """Put ticks at whole numbers only."""
    along.set_major_locator(MaxNLocator("auto", integer=True))


def rank_axis(along: Axis, most: float) -> None:
    """Put ticks at whole ranks, of which the first is always one."""
    found = [float(at) for at in MaxNLocator("auto", integer=True).tick_values(1, most)]
    step = found[1] - found[0] if len(found) > 1 else 1.0
    along.set_ticks([1.0, *(at for at in found if 1 + step / 2 < at <= most)])


def legend(axes: Axes, handles: list[Any], words: list[str]) -> None:
    """Add a legend above the data."""
    box = axes.legend(
        handles,
        [safe_text(word, 30) for word in words],
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=_legend_columns(axes, words),
        frameon=False,
        fontsize=_SMALL,
        borderaxespad=0.2,
        handlelength=2.2,
        columnspacing=1.2,
    )
    _plain(box, text_colour(axes))


def _wide(axes: Axes) -> float:
    """The width of axes in points, before the layout is known, which leaves less to several."""
    share = 0.8 if _columns(axes) > 1 else 1.0
    return figure_of(axes).get_figwidth() * axes.get_position().width * 72 * share


def _legend_columns(axes: Axes, words: list[str]) -> int:
    """As many columns of a legend as fit above axes."""
    most = min(len(words), _LEGEND_COLUMNS)
    if isinstance(axes, Picture):
        return most
    each = max(map(len, words)) * _SMALL * 0.56 + 4.2 * _SMALL
    return max(min(most, int(_wide(axes) / each)), 1)


def _plain(box: Legend, colour: str = INK) -> None:
    """Set the text of a legend literally, without mathematics."""
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_fontfamily(list(families()))
        text.set_color(colour)


def taken_legend(axes: Axes) -> dict[str, Any]:
    """Remove the legend of a panel, and return its handles by their words."""
    box = axes.get_legend()
    if box is None:
        return {}
    words = [text.get_text() for text in box.get_texts()]
    found = dict(zip(words, box.legend_handles, strict=True))
    box.remove()
    return found


def figure_legend(figure: Figure, handles: Mapping[str, Any]) -> None:
    """Add one legend for all panels, in the last row of the figure."""
    if not handles:
        return
    box = figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower left",
        ncols=min(len(handles), _LEGEND_COLUMNS + 2),
        frameon=False,
        fontsize=_SMALL,
    )
    _plain(box)


def panel_title(axes: Axes, words: str) -> None:
    """Write what a panel stands for above it."""
    axes.set_title(
        safe_text(words, 48), loc="left", **literal_text(fontsize=10, color=text_colour(axes))
    )


def missing_patch() -> Patch:
    """Make the legend handle of values that were not measured."""
    return Patch(**UNMEASURED_FILL)
