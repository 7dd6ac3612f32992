"""Text of a heat map: the numbers in its cells and the names of its columns."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import format_numbers


def write_numbers(axes: Axes, mesh: object, values: np.ndarray, unit: str | None) -> None:
    """Annotate the cells, in black on light ones and white on dark ones."""
    colours = mesh.to_rgba(values)  # type: ignore[attr-defined]
    words = np.array(format_numbers(values.ravel(), unit), object).reshape(values.shape)
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = colours[row, column]
        light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        axes.text(
            column,
            row,
            str(words[row, column]),
            ha="center",
            va="center",
            **fonts.literal_text(fontsize=8, color="#000000" if light > 0.18 else "#fefefe"),
        )


def name_columns(axes: Axes, columns: list[object], own: Collection[object] = ()) -> None:
    """Name as many of the columns as there is room for, own ones in bold."""
    wide = canvas.figure_of(axes).get_figwidth() * axes.get_position().width
    words = [column_name(name) + (" (own)" if name in own else "") for name in columns]
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
    texts = axes.set_xticklabels(
        [fonts.safe_text(words[at], 22) for at in places],
        **fonts.literal_text(
            fontsize=8,
            rotation=30 if long else 0,
            ha="right" if long else "center",
            rotation_mode="anchor",
            color=canvas.text_colour(axes),
        ),
    )
    for text, at in zip(texts, places, strict=True):
        text.set_fontweight("bold" if columns[at] in own else "normal")


def column_name(name: object) -> str:
    """A column as text: a day, a minute, or its name."""
    if isinstance(name, pd.Timestamp):
        return f"{name:%Y-%m-%d}" if name == name.normalize() else f"{name:%Y-%m-%d %H:%M}"
    return str(name)
