"""Stacked bars: shares of a whole, or counts of rows by category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import capitalized, format_number, humanize, table_words
from aatoolkit.display.plot.marks import Marks, Place
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    NO_VALUE,
    NOT_MEASURED,
    fill_of,
    why_missing,
    whys_missing,
)
from aatoolkit.display.plot.roles import BLANK, Numbers, PlotData
from aatoolkit.display.plot.style import MUTED, REST_LEVEL, SERIES, styles_for
from aatoolkit.display.plot.tips import set_tips
from aatoolkit.sections.aggregation import FRACTION

_LACKING = (NOT_MEASURED, NO_VALUE)
"""The levels of rows without a value."""
_FEW_ROWS = 20
"""As few rows are read more easily in a table than as counts of them."""


@dataclass(frozen=True)
class Stacks:
    """One bar per row of ``parts``, a segment for each of its columns."""

    data: PlotData
    drawn: tuple[str, ...]
    what: str
    parts: pd.DataFrame
    own: tuple[bool, ...]
    samples: tuple[float, ...]
    unit: str | None
    along: str
    left_out: int
    label: str = ""
    why: tuple[str, ...] = ()
    """Why a row has no shares; empty where it has some."""

    @property
    def height(self) -> float:
        """The height in inches."""
        return 2.0 + 0.3 * max(len(self.parts), 3)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.parts)} of {len(self.parts) + self.left_out}"
        return capitalized(self.what) + (most if self.left_out else "")

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = []
        at = self.own.index(True) if any(self.own) else 0
        for row in dict.fromkeys((0, at)):
            pieces = self.parts.iloc[row]
            words = [
                f"{name} {format_number(float(value), self.unit)}"
                for name, value in pieces.items()
                if value > 0
            ]
            label = f"{self.parts.index[row]}{' (own)' if self.own[row] else ''}"
            texts.append(f"{label}: {', '.join(words) or self.why[row]}")
        return "; ".join(texts)

    def marks(self) -> Marks:
        """Return the rows and columns that the segments were drawn from."""
        names = tuple(dict.fromkeys(each for each in (self.label, *self.data.keys) if each))
        is_count = self.unit is None
        return Marks(self.data.frame, self.drawn, names, at=self._mark_at, counts=is_count)

    def _mark_at(self, x: float, y: float) -> Place | None:
        """The segment at a point."""
        row = round(y)
        if not 0 <= row < len(self.parts):
            return None
        ends = np.nancumsum(self.parts.iloc[row].to_numpy(np.float64))
        segment = min(int(np.searchsorted(ends, x)), len(ends) - 1)
        named: dict[str, object] = {self.label: self.parts.index[row]}
        if self.unit is not None:
            return named, self.drawn[segment]
        if len(self.drawn) > 1:
            level = str(self.parts.columns[segment])
            named[self.drawn[1]] = BLANK if level in _LACKING else level
        return named, None

    def draw(self, axes: Axes) -> list[str]:
        """Draw the stacks and return the notes."""
        styles = styles_for(map(str, self.parts.columns))
        values = self.parts.to_numpy(np.float64)
        lacking = np.isnan(values).all(axis=1)
        reach = float(np.nansum(values, axis=1).max()) or 1.0
        left = np.zeros(len(values))
        for at, name in enumerate(self.parts.columns):
            style, piece = styles[str(name)], values[:, at]
            wide = np.where(np.isnan(piece), 0, piece)
            rows = np.flatnonzero(wide > 0)
            face: dict[str, Any] = {
                "facecolor": style.colour,
                "hatch": style.hatch,
                "edgecolor": "white",
            }
            if name in _LACKING:
                face = {**fill_of(str(name))}
            bars = axes.barh(
                rows, wide[rows], left=left[rows], height=0.7, **{**face, "linewidth": 0.8}
            )
            self._set_tips(bars, rows, str(name), piece)
            left = left + wide
        for row, sample in enumerate(self.samples):
            words = "" if np.isnan(sample) else ("n=" if self.unit else "") + format_number(sample)
            if lacking[row]:
                words = self.why[row]
                axes.barh(row, reach, height=0.7, **fill_of(words))
            end = reach if self.unit == FRACTION else left[row]
            canvas.row_note(axes, words, end, row)
        axes.set_xlim(0, reach * (1 if self.unit == FRACTION else 1.02))
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, [str(name) for name in self.parts.index], list(self.own))
        canvas.label_axes(axes, self.along)
        if self.unit is None:
            canvas.integer_axis(axes.xaxis)
        canvas.number_axis(axes.xaxis, self.unit)
        pieces = [str(name) for name in self.parts.columns]
        if len(pieces) > 1:
            handles = [
                Patch(**fill_of(w))
                if w in _LACKING
                else Patch(fc=styles[w].colour, hatch=styles[w].hatch, ec=MUTED)
                for w in pieces
            ]
            canvas.legend(axes, handles, list(map(humanize, pieces)))
        return []

    def _set_tips(
        self, bars: Sequence[Artist], rows: npt.NDArray[np.intp], name: str, piece: Numbers
    ) -> None:
        """Set the words of each segment: its row, its share or count, and of how many."""
        for bar, row in zip(bars, rows, strict=True):
            number = format_number(float(piece[row]), self.unit)
            lines = [str(self.parts.index[row]), f"{humanize(name)}: {number}"]
            if not np.isnan(self.samples[row]):
                lines.append(f"of {format_number(self.samples[row])}")
            set_tips(bar, partial(list, ["\n".join(lines)]))


def shares(data: PlotData, options: PlotOptions) -> Stacks | None:
    """Plan columns that are shares of a whole: named ``*_share``, with sum 1 in each row."""
    x = options.x or data.label_column
    names = list(options.y) or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(names) < 2 or data.frame.duplicated([x]).any():
        return None
    values = np.column_stack([data.values(name) for name in names])
    whole = values.sum(axis=1)
    if not np.allclose(whole[~np.isnan(whole)], 1, atol=0.01) or np.isnan(whole).all():
        return None
    sample = data.sample(names[0])
    n = data.values(sample) if sample else np.full(len(data), np.nan)
    order = np.argsort(np.where(np.isnan(n), np.inf, -n), kind="stable")[: options.top or 15]
    parts = pd.DataFrame(
        values[order],
        columns=[name.removesuffix("_share") for name in names],
        index=[data.text(x)[at] for at in order],
    )
    own = tuple(data.own()[order].tolist())
    what = f"Shares by {humanize(x)}: {', '.join(parts.columns)}"
    lacking = np.asarray(np.isnan(values[order]).all(axis=1))
    why = [
        why_missing(data, names[0], int(at)) if gone else ""
        for at, gone in zip(order, lacking, strict=True)
    ]
    return Stacks(
        data,
        tuple(names),
        what,
        parts,
        own,
        tuple(n[order].tolist()),
        FRACTION,
        f"share; n: {humanize(sample)}" if sample else "share",
        len(data) - len(order),
        x,
        tuple(why),
    )


def counts(data: PlotData, options: PlotOptions) -> Stacks | None:
    """Plan counts of rows by one column, segmented by another."""
    if options.y or not len(data):
        return None
    x = options.x or _label_column(data, ())
    if x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.by or (None if options.x else _label_column(data, (x,)))
    if not (options.kind or options.x or by) and data.known.key and len(data) <= _FEW_ROWS:
        return None
    rows = pd.DataFrame({"x": _levels(data, x), "by": _segments(data, by) if by else "rows"})
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    if not (options.kind or options.x) and _says_nothing(table):
        return None
    order = table.sum(axis=1).sort_values(ascending=False, kind="stable").index
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    no = f"not {humanize(by)}" if by and data.kinds[by] == "flag" else None
    levels.sort(key=lambda level: (level in _LACKING, level == NO_VALUE, level == no))
    table = table.loc[order, pd.Index(levels, dtype=table.columns.dtype)]
    if len(levels) > len(SERIES):
        rest = table.iloc[:, len(SERIES) - 1 :].sum(axis=1)
        table = table.iloc[:, : len(SERIES) - 1].assign(**{REST_LEVEL: rest})
    kept = table.head(options.top or 12)
    own = {name for name, mine in zip(rows["x"], data.own(), strict=True) if mine}
    mine = tuple(name in own and x in ("brand", "advertiser") for name in kept.index)
    things = "rows" if data.table.startswith("statistics:") else table_words(data) or "rows"
    what = f"number of {things} by {humanize(x)}" + (f" and {humanize(by)}" if by else "")
    return Stacks(
        data,
        (x, *([by] if by else [])),
        what,
        kept.astype(np.float64),
        mine,
        tuple(kept.sum(axis=1).astype(float)),
        None,
        f"rows ({len(data):,} in all)",
        len(table) - len(kept),
        x,
    )


def _says_nothing(table: pd.DataFrame) -> bool:
    """Whether all bars are of one length, and each of one colour."""
    one_length = len(table) > 1 and table.sum(axis=1).nunique() == 1
    return one_length and bool((table > 0).sum(axis=1).eq(1).all())


def _levels(data: PlotData, name: str) -> list[str]:
    """The levels of a column as words: a flag by its name."""
    words = data.text(name)
    if data.kinds[name] != "flag":
        return words
    yes, no = humanize(name), f"not {humanize(name)}"
    return [{"True": yes, "true": yes, "False": no, "false": no}.get(w, w) for w in words]


def _segments(data: PlotData, name: str) -> list[str]:
    """The levels of a column; those of rows without a value say whether it was measured."""
    levels, lacking = _levels(data, name), np.flatnonzero(data.frame[name].isna().to_numpy(bool))
    for row, why in zip(lacking, whys_missing(data, name, lacking.tolist()), strict=True):
        levels[row] = NOT_MEASURED if why == NOT_MEASURED else NO_VALUE
    return levels


def _label_column(data: PlotData, but: tuple[str, ...]) -> str | None:
    """The column that groups the rows best: the engine, else a category."""
    categories = [
        name
        for name, dtype in data.frame.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and data.frame[name].nunique() > 1
    ]
    flags = [name for name in data.of_kind("flag") if data.frame[name].nunique() > 1]
    words = [n for n in data.of_kind("word") if 1 < data.frame[n].nunique() <= 12]
    if but:
        # Segments are what is found of each row, not another part of its key.
        # Whose a row is, its mark says.
        given = [name for name in (*categories, *flags) if name not in (*but, "own")]
        found = [name for name in given if name not in data.keys] or given
        return str(found[0]) if found else None
    engine = ["engine"] if "engine" in data.kinds else []
    brands = [name for name in ("brand",) if name in words]
    flags = [name for name in flags if name != "own"]
    for name in map(str, (*engine, *brands, *categories, *flags, *words)):
        if name not in (data.keys if len(data.keys) == 1 else ()):
            return name
    return None
