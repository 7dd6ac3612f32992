"""A picture as a value: panels of marks on two scales, with title, notes and finding.

A kind of picture makes a `Panel`; `layout` gives it a place in points; ``axes`` and
``interactive`` draw both. Tips, explanations, the finding and the rows read the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.drawn import Drawn, Place
from aatoolkit.display.plot.style import INK, MUTED, Style

PITCH = 21.0
"""The height of a row in points."""


@dataclass(frozen=True)
class Name:
    """The name of a row or column, and whose it is: ``own``, ``competitor`` or nobody's."""

    text: str
    of: str = ""

    @property
    def shown(self) -> str:
        """The name as it is written."""
        return f"{self.text} ({self.of})" if self.of else self.text


@dataclass(frozen=True)
class Scale:
    """What lies along one direction of a panel.

    Parameters
    ----------
    low, high : float
        The ends; ``high`` is below ``low`` where numbers run backwards, such as ranks.
    kind : str
        ``number``, ``time`` in days, ``names`` at 0, 1, 2 …, or ``none`` without ticks.
    unit : str, optional
        The unit of numbers.
    label : str
        What the numbers are, where the title does not say it.
    names : tuple of Name
        The names of rows or columns.
    is_whole : bool
        Whether ticks are whole numbers.
    days : tuple of float
        The times, where each has a tick of its own.
    is_above : bool
        Whether names stand above the panel, at the left of their column.
    """

    low: float = 0.0
    high: float = 1.0
    kind: str = "number"
    unit: str | None = None
    label: str = ""
    names: tuple[Name, ...] = ()
    is_whole: bool = False
    days: tuple[float, ...] = ()
    is_above: bool = False

    def within(self, values: Any) -> Numbers:
        """Values, the infinite ones at the ends."""
        low, high = sorted((self.low, self.high))
        values = np.asarray(values, np.float64)
        return np.where(np.isposinf(values), high, np.where(np.isneginf(values), low, values))

    def share(self, value: float) -> float:
        """Where a value is, from 0 at the low end to 1 at the high one."""
        return (value - self.low) / ((self.high - self.low) or 1.0)


def rows_of(names: Sequence[Name]) -> Scale:
    """A scale of rows, the first one on top."""
    return Scale(len(names) - 0.5, -0.5, "names", names=tuple(names))


@dataclass(frozen=True)
class Mark:
    """Marks of one look.

    Parameters
    ----------
    kind : str
        ``boxes`` from ``x`` to ``to``, centred at ``y``; ``spans``, lines from ``x`` to ``to``;
        ``ticks``, short lines across a row; ``rules`` from end to end at ``x``; ``dots``;
        ``line``; ``band`` from ``y`` to ``to``; ``cells`` with ``values``; ``words``.
    x, y, to : array of float
        Where they are; infinite is the end of the scale, NaN is a gap.
    style : Style
        Colour, symbol, dash and look.
    size : float
        The height of boxes and ticks in rows; the size of dots, or the width of lines, in points.
    words : sequence of str
        The text of each, of words and cells.
    tips : callable, optional
        Gives what is said of each where the mouse is on it.
    places : sequence of Place, optional
        The row, or the values that name it, behind each.
    values : array of float, optional
        The numbers of cells.
    bounds : tuple of float
        The numbers at the ends of the colours of cells.
    shift : tuple of float
        How far words are from their place, in points.
    align : str
        Which side of words is at their place.
    has_paper : bool
        Whether words have the paper's colour behind them.
    has_caps : bool
        Whether spans have caps.
    """

    kind: str
    x: Numbers
    y: Numbers
    style: Style = INK
    to: Numbers | None = None
    size: float = 0.7
    words: Sequence[str] = ()
    tips: Callable[[], Sequence[str]] | None = None
    places: Sequence[Place | None] | None = None
    values: Numbers | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    shift: tuple[float, float] = (5.0, 0.0)
    align: str = "left"
    has_paper: bool = False
    has_caps: bool = False

    def __len__(self) -> int:
        return len(self.x)

    def strokes(self, panel: Panel) -> tuple[Numbers, Numbers]:
        """The lines of spans, ticks and rules, broken by NaN."""
        gap = np.full(len(self), np.nan)
        low, high = np.full_like(gap, panel.y.low), np.full_like(gap, panel.y.high)
        if self.kind == "line":
            return self.x, self.y
        if self.kind == "spans" and self.to is not None:
            xs, ys = [self.x, self.to, gap], [self.y, self.y, gap]
            for x in (self.x, self.to) if self.has_caps else ():
                xs, ys = [*xs, x, x, gap], [*ys, self.y - 0.13, self.y + 0.13, gap]
        else:
            ends = (self.y - self.size / 2, self.y + self.size / 2)
            low, high = ends if self.kind == "ticks" else (low, high)
            xs, ys = [self.x, self.x, gap], [low, high, gap]
        return np.transpose(xs).ravel(), np.transpose(ys).ravel()

    def corners(self, panel: Panel) -> tuple[Numbers, Numbers, Numbers, float]:
        """The starts, ends and middles of boxes, and their height."""
        starts, ends = (panel.x.within(part) for part in (self.x, self.to))
        if not np.isinf(self.size):
            return starts, ends, self.y, self.size
        middle = np.full(len(self), (panel.y.low + panel.y.high) / 2)
        return starts, ends, middle, abs(panel.y.high - panel.y.low)


def no_tip(row: int) -> str:
    """Say nothing of a mark."""
    del row
    return ""


@dataclass(frozen=True)
class RowMarks:
    """Makes marks of rows, each from an array with a number for every row.

    Parameters
    ----------
    tip : callable
        Gives what is said of a row where the mouse is on its mark.
    column : str, optional
        The column behind the marks, where it is not the first that is drawn.
    """

    tip: Callable[[int], str] = no_tip
    column: str | None = None

    def mark(
        self, kind: str, mask: npt.ArrayLike, x: npt.ArrayLike, style: Style, **more: Any
    ) -> Mark:
        """Marks at numbers of the rows of a mask."""
        rows = np.flatnonzero(mask).tolist()
        whole = np.shape(mask)
        if "to" in more:
            more["to"] = np.broadcast_to(some(more["to"]), whole)[rows]
        if "words" in more:
            more["words"] = [more["words"][row] for row in rows]
        elif self.tip is not no_tip:
            more["tips"] = lambda: [self.tip(row) for row in rows]
        if kind in ("boxes", "dots"):
            more.setdefault("places", [(row, self.column) for row in rows])
        return Mark(kind, np.broadcast_to(some(x), whole)[rows], some(rows), style, **more)

    def boxes(
        self, mask: npt.ArrayLike, end: npt.ArrayLike, style: Style, start: npt.ArrayLike = 0.0,
        size: float = 0.68, **more: Any,
    ) -> Mark:  # fmt: skip
        """Boxes from a start to an end."""
        return self.mark("boxes", mask, start, style, to=end, size=size, **more)

    def dots(
        self, x: npt.ArrayLike, style: Style, size: float = 7.0, mask: npt.ArrayLike | None = None
    ) -> Mark:
        """Dots at numbers, where there are some."""
        there = ~np.isnan(some(x))
        return self.mark("dots", there if mask is None else there & mask, x, style, size=size)

    def spans(
        self, low: npt.ArrayLike, high: npt.ArrayLike, style: Style = INK, size: float = 1.1,
        mask: npt.ArrayLike | None = None, *, has_caps: bool = False,
    ) -> Mark:  # fmt: skip
        """Lines from one end to the other, where there are both."""
        there = ~np.isnan(some(low) + some(high))
        mask = there if mask is None else there & mask
        return self.mark("spans", mask, low, style, to=high, size=size, has_caps=has_caps)

    def words(
        self, mask: npt.ArrayLike, x: npt.ArrayLike, words: Sequence[str], shift: float = 5.0,
        **more: Any,
    ) -> Mark:  # fmt: skip
        """Words beside a place."""
        return self.mark("words", mask, x, INK, words=words, shift=(shift, 0.0), **more)

    def across(self, mask: npt.ArrayLike, style: Style) -> Mark:
        """Boxes from end to end."""
        return self.boxes(mask, np.inf, style, -np.inf)


def rule(x: npt.ArrayLike, style: Style = MUTED, size: float = 0.9) -> Mark:
    """Lines from end to end at numbers."""
    return Mark("rules", some(x), some(x), style, size=size)


@dataclass(frozen=True)
class WordColumn:
    """Words beside the rows, under a heading."""

    words: Sequence[str]
    heading: str = ""
    align: str = "left"
    is_bold: bool = False
    is_muted: bool = False


@dataclass(frozen=True)
class Panel:
    """Marks on two scales, and what they say.

    Parameters
    ----------
    kind : str
        The kind of picture.
    data : PlotData
        The rows that are drawn, with their metadata.
    drawn : Drawn
        The rows and columns behind the marks.
    title : str
        What it shows.
    finding : str
        The main result in words.
    x, y : Scale
        What lies along it.
    marks : sequence of Mark
        What is drawn, in this order.
    notes : sequence of str
        What a reader has to know.
    legend : sequence of (str, Mark)
        What the looks stand for.
    columns : sequence of WordColumn
        Words at the right of the rows.
    height : float
        The height of the area of marks in points, where there is room.
    shared : str
        The scale that all panels of a picture have alike: ``x``, ``y`` or none.
    is_wide : bool
        Whether it takes the whole width beside no other panel.
    heading : str
        What a panel of several stands for.
    ramp : bool
        Whether the colours of cells are shown along a bar.
    """

    kind: str
    data: PlotData
    drawn: Drawn
    title: str
    finding: str
    x: Scale
    y: Scale
    marks: Sequence[Mark]
    notes: Sequence[str] = ()
    legend: Sequence[tuple[str, Mark]] = ()
    columns: Sequence[WordColumn] = ()
    height: float = 180.0
    shared: str = ""
    is_wide: bool = False
    heading: str = ""
    ramp: str = ""
    colour: str | None = None

    @property
    def has_rows(self) -> bool:
        """Whether it has rows, each with a name."""
        return self.y.kind == "names"

    def place_at(self, x: float, y: float) -> Place | None:
        """The row behind the mark that is nearest to a point; None if there is none."""
        best: tuple[tuple[float, float], Place] | None = None
        for mark in self.marks:
            for at, place in enumerate(mark.places or ()):
                if place is None:
                    continue
                start, high = float(mark.x[at]), float(mark.y[at])
                end = start if mark.to is None or mark.kind == "band" else float(mark.to[at])
                low, end = min(start, end), max(start, end)
                across = max(low - x, x - end, 0.0)
                up = abs(y - high) if high == high else np.inf
                if self.has_rows and (up > 0.5 or (mark.kind == "cells" and across > 0.5)):
                    continue
                away = (up, across) if self.has_rows else (across, up)
                if self.x.kind == "number" and not self.has_rows:
                    spans = self.x.high - self.x.low or 1.0, self.y.high - self.y.low or 1.0
                    away = (float(np.hypot(across / spans[0], up / spans[1])), 0.0)
                if best is None or away < best[0]:
                    best = away, place
        return best[1] if best else None


@dataclass(frozen=True)
class Spec:
    """A whole picture.

    Parameters
    ----------
    title : str
        Its title.
    panels : tuple of Panel
        Its panels, row by row.
    finding : str
        The main result in words: the alternative text.
    notes : tuple of str
        The caption, one sentence each; the last one is the source.
    across : int
        As many panels side by side.
    """

    title: str
    panels: tuple[Panel, ...]
    finding: str
    notes: tuple[str, ...] = ()
    across: int = 1
    legend: tuple[tuple[str, Mark], ...] = field(default=())

    @property
    def kind(self) -> str:
        """The kind of the first panel that has one."""
        return next((p.kind for p in self.panels if p.kind != "empty"), self.panels[0].kind)


def sharing(panels: Sequence[Panel]) -> list[Panel]:
    """Panels on one scale."""
    filled = [panel for panel in panels if panel.kind != "empty"]
    if not filled:
        return list(panels)
    axis = filled[0].shared
    changed = []
    for panel in panels:
        if panel.kind != "empty" and axis:
            scales: list[Scale] = [getattr(each, axis) for each in filled]
            falls = scales[0].low > scales[0].high
            ends = (max, min) if falls else (min, max)
            low, high = ends[0](s.low for s in scales), ends[1](s.high for s in scales)
            shared = replace(getattr(panel, axis), low=low, high=high)
            panel = replace(panel, x=shared) if axis == "x" else replace(panel, y=shared)
        changed.append(panel)
    return changed


def some(values: npt.ArrayLike) -> Numbers:
    """Values as numbers of a mark."""
    return np.atleast_1d(np.asarray(values, np.float64))
