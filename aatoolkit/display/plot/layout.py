"""Where everything of a picture is, in points from its upper left corner, before it is drawn.

Text is measured, so that labels neither meet nor are cut. Where there is no room, what yields is,
in this order: notes, the size of text, the share of labels, columns of words, every second label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aatoolkit._util.numbers import tick
from aatoolkit.display.plot.fonts import fitted, width_of, wrapped
from aatoolkit.display.plot.spec import Mark, Panel, Scale, Spec
from aatoolkit.sections.aggregation import RANK

WIDTH = 547.0
"""The usual width of a picture in points."""

_MARGIN, _GAP, _LINE = 9.0, 14.0, 1.32
_LEAST_PLOT = 70.0


class Text(NamedTuple):
    """A text in its place: the upper left corner, or the upper middle or right one."""

    x: float
    y: float
    text: str
    size: float
    colour: str = "ink"
    is_bold: bool = False
    align: str = "left"


class Tick(NamedTuple):
    """A label of a scale."""

    at: float
    text: str
    is_bold: bool = False


@dataclass(frozen=True)
class Box:
    """The area of a panel's marks, its labels, and the words of its marks as they fit."""

    left: float
    top: float
    width: float
    height: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    size: float
    is_turned: bool
    texts: tuple[Text, ...]
    words: tuple[tuple[str, ...], ...]
    legend: tuple[float, float, tuple[str, ...], int] | None
    """Its upper left corner, its words and its columns."""
    ramp: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Placement:
    """A picture's size, and all places in it."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    texts: tuple[Text, ...]
    legend: tuple[float, float, tuple[str, ...], int] | None
    notes: str
    title: str
    size: float
    """The size of small text: notes, legends, words."""


class _Ease(NamedTuple):
    """What yields where there is little room."""

    notes: int | None = None
    text: float = 1.0
    labels: float = 0.42


_EASES = (
    _Ease(),
    _Ease(3),
    _Ease(1),
    _Ease(1, 0.88, 0.36),
    _Ease(1, 0.75, 0.32),
    _Ease(0, 0.75, 0.28),
    _Ease(0, 0.6, 0.28),
)


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Placement:
    """Place a picture in a width, and a height if there is one."""
    for ease in _EASES:
        layout, fits = _attempt(spec, width, height, ease)
        if fits:
            break
    return layout


def _attempt(spec: Spec, width: float, height: float | None, ease: _Ease) -> tuple[Placement, bool]:
    large, size, small = (
        (12.0 if width > 330 and (height or 999) > 200 else 9.5) * max(ease.text, 0.8),
        9.0 * ease.text,
        8.0 * ease.text,
    )
    room = width - 2 * _MARGIN
    title = wrapped(spec.title, room, large, 2, is_bold=True)
    notes = _notes(spec.notes, room, small, ease.notes)
    top = _MARGIN + _high(title, large) + 7
    below = _high(notes, small) + (8 if notes else 2) + 5
    shared = tuple(fitted(words, room, small) for words, _ in spec.legend)
    columns = _legend_columns(shared, room, small)
    legend_high = math.ceil(len(shared) / columns) * small * 1.55 + 6 if shared else 0.0
    across = spec.across
    cell = (room - (across - 1) * _GAP) / across
    frames = [_Frame(panel, cell, size, small, ease) for panel in spec.panels]
    if across > 1:
        # Panels below each other begin at one place.
        for at, frame in enumerate(frames):
            frame.left = max(other.left for other in frames[at % across :: across])
    grid = [frames[at : at + across] for at in range(0, len(frames), across)]
    fixed = top + below + legend_high + (len(grid) - 1) * _GAP
    above = [max(frame.above for frame in row) for row in grid]
    under = [max(frame.under for frame in row) for row in grid]
    natural = [max(frame.natural for frame in row) for row in grid]
    ratio = 1.0
    if height is not None:
        left = height - fixed - sum(above) - sum(under)
        ratio = max(left, 12.0 * len(grid)) / sum(natural)
    whole = height if height is not None else fixed + sum(above) + sum(under) + sum(natural)
    boxes, fits, y = [], True, top
    for row, over, foot, high in zip(grid, above, under, natural, strict=True):
        for at, frame in enumerate(row):
            # Rows are of one height in all panels beside each other.
            own = frame.natural if frame.panel.has_rows else high
            box = frame.boxed(_MARGIN + at * (cell + _GAP), y, over, own * ratio)
            boxes.append(box)
            fits &= frame.fits(box)
        y += over + high * ratio + foot + _GAP
    texts = (Text(_MARGIN, _MARGIN, title, large, "ink", True),)
    legend = None
    if shared:
        legend = (_MARGIN, whole - below - legend_high, shared, columns)
    layout = Placement(width, whole, tuple(boxes), texts, legend, notes, title, small)
    return layout, fits or height is None


def _notes(notes: Sequence[str], room: float, size: float, most: int | None) -> str:
    """The caption; where there is little room the source alone, or nothing."""
    if most is None:
        return "\n".join(wrapped(note, room, size) for note in notes)
    lines = [wrapped(note, room, size, 1) for note in notes]
    return "\n".join([*lines[: max(most - 1, 0)], *lines[-1:]]) if most else ""


def _high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LINE if text else 0.0


def _legend_columns(words: Sequence[str], room: float, size: float) -> int:
    """As many columns as fit beside each other."""
    if not words:
        return 1
    wide = max(width_of(word, size) for word in words) + size * 4.4
    return max(min(int(room / wide), len(words), 7), 1)


class _Frame:
    """What stands around the marks of a panel, in a cell of some width."""

    def __init__(self, panel: Panel, cell: float, size: float, small: float, ease: _Ease) -> None:
        self.panel, self._cell, self._size, self._small = panel, cell, size, small
        columns = self._column_widths()
        # Beside words alone the names of rows have all the room that the words leave.
        share = cell * ease.labels if panel.marks else max(cell - sum(columns) - 8, cell * 0.4)
        self._rows = self._row_labels(share)
        self.natural = panel.height * (1.0 if ease.text == 1 else 0.9)
        self._y_ticks = number_ticks(panel.y, 5) if panel.y.kind == "number" else ()
        labels = [width_of(tick.text, size, tick.is_bold) for tick in (*self._rows, *self._y_ticks)]
        self.left = max(labels, default=0.0) + 8 if labels else 4.0
        self._heading = (
            fitted(panel.heading, cell, size * 1.1, is_bold=True) if panel.heading else ""
        )
        words = tuple(fitted(word, cell * 0.8, small) for word, _ in panel.legend)
        self._legend, self._legend_columns = words, _legend_columns(words, cell, small)
        high = math.ceil(len(words) / self._legend_columns) * small * 1.55 if words else 0.0
        heads = any(column.heading for column in panel.columns) or panel.x.is_above
        self._head = size * 1.7 if heads else 0.0
        self._y_label = panel.y.label if panel.y.kind == "number" else ""
        self._legend_top = _high(self._heading, size * 1.1) + (3 if self._heading else 0)
        self._label_top = self._legend_top + high + (4 if words else 0)
        self.above = self._label_top + (size * 1.6 if self._y_label else 0) + self._head + 2
        # Before the width of the marks is known, the labels below are.
        self._columns = self._fitted_columns(columns)
        self._width()

    def _row_labels(self, room: float) -> tuple[Tick, ...]:
        if not self.panel.has_rows:
            return ()
        ticks = []
        for at, name in enumerate(self.panel.y.names):
            ending = f" ({name.of})" if name.of else ""
            is_bold = name.of == "own"
            left = room - width_of(ending, self._size, is_bold)
            ticks.append(Tick(at, fitted(name.text, left, self._size, is_bold) + ending, is_bold))
        return tuple(ticks)

    def _column_widths(self) -> list[float]:
        sized = []
        for column in self.panel.columns:
            wide = max(
                [width_of(word, self._size, column.is_bold) for word in column.words]
                + [width_of(column.heading, self._small)]
            )
            sized.append(wide + 12)
        return sized

    def _fitted_columns(self, sized: list[float]) -> list[tuple[float, tuple[str, ...], str]]:
        """The columns of words that fit, each with its width, its words and its heading."""
        room = (self._cell - self.left) * (0.66 if self.panel.marks else 1.0)
        while sum(sized) > room and sized:
            widest = max(sized)
            surplus = sum(sized) - room
            if widest > 110:
                sized[sized.index(widest)] = max(widest - surplus, 110)
            else:
                sized.pop()
        return [
            (
                wide,
                tuple(fitted(word, wide - 8, self._size, column.is_bold) for word in column.words),
                fitted(column.heading, wide - 8, self._small),
            )
            for wide, column in zip(sized, self.panel.columns, strict=False)
        ]

    def _width(self) -> None:
        """The width of the marks: what labels, columns and words at their right leave."""
        panel, small = self.panel, self._small
        room = self._cell - self.left - sum(wide for wide, _, _ in self._columns)
        room -= 52 if panel.ramp else 0
        self.room = room
        least = 0.35 * room
        fits = room - (2 if self._columns or panel.x.kind in ("none", "names") else 9)
        for mark in panel.marks:
            if mark.kind != "words" or mark.align != "left" or panel.x.kind == "names":
                continue
            for x, word in zip(mark.x, mark.words, strict=True):
                share = panel.x.share(float(x)) if np.isfinite(x) else 0.0
                if share > 0.02:
                    fits = min(fits, (room - mark.shift[0] - width_of(word, small)) / share)
        self.width = 0.0 if panel.x.kind == "none" and not panel.marks else max(fits, least)
        self._x_ticks, self._is_turned = _x_ticks(panel.x, self.width, self._size)
        size, under = self._size, 0.0
        if self._is_turned:
            # Turned names end below their column, and begin inside of the cell.
            rooms = [self.left + self.width * panel.x.share(one.at) for one in self._x_ticks]
            self._x_ticks = tuple(
                one._replace(text=fitted(one.text, room / 0.82, size, one.is_bold))
                for one, room in zip(self._x_ticks, rooms, strict=True)
            )
        if self._x_ticks and not panel.x.is_above:
            long = max(width_of(tick.text, size, tick.is_bold) for tick in self._x_ticks)
            under += (long * 0.58 + size if self._is_turned else size) + 7
        under += size * 1.5 if panel.x.label or _corner(panel.x) else 0
        self.under = under

    def fits(self, box: Box) -> bool:
        """Whether rows are as high as their text, and marks have room."""
        if self.panel.has_rows:
            rows = abs(self.panel.y.high - self.panel.y.low)
            return box.height >= rows * self._size * 1.12
        return box.height >= min(_LEAST_PLOT, self.panel.height * 0.6)

    def boxed(self, x: float, y: float, above: float, height: float) -> Box:
        """Place it with its upper left corner at a point."""
        panel, size, small = self.panel, self._size, self._small
        # The marks may have become narrower by a label of another panel.
        width = min(self.width, self.room)
        left, top = x + self.left, y + above
        texts = []
        if self._heading:
            texts.append(Text(x, y, self._heading, size * 1.1, "ink", True))
        if self._y_label:
            label = fitted(self._y_label, self._cell, small)
            texts.append(Text(x, y + self._label_top, label, small, "muted"))
        if panel.x.label:
            label = fitted(panel.x.label, self._cell, small)
            foot = top + height + self.under - size * 1.35
            texts.append(Text(left, foot, label, small, "muted"))
        corner = _corner(panel.x)
        if corner:
            foot = top + height + self.under - size * 1.35
            texts.append(Text(left + width, foot, corner, small, "muted", align="right"))
        at = left + width + (10 if width else 0)
        pitch = height / abs(panel.y.high - panel.y.low)
        for column, (wide, words, heading) in zip(panel.columns, self._columns, strict=False):
            edge = at + (wide - 8 if column.align == "right" else 0)
            if heading:
                texts.append(
                    Text(edge, top - size * 1.6, heading, small, "muted", align=column.align)
                )
            colour = "muted" if column.is_muted else "ink"
            for row, word in enumerate(words):
                middle = top + (row + 0.5) * pitch - size * 0.6
                texts.append(Text(edge, middle, word, size, colour, column.is_bold, column.align))
            at += wide
        legend = (x, y + self._legend_top, self._legend, self._legend_columns)
        ramp = (left + width + 8, top, 9.0, height) if panel.ramp else None
        every = max(1, math.ceil(size * 1.05 / pitch)) if panel.has_rows else 1
        return Box(
            left,
            top,
            max(width, 1.0),
            height,
            self._x_ticks,
            self._rows[::every] or self._y_ticks,
            size,
            self._is_turned,
            tuple(texts),
            tuple(self._words(mark, width) for mark in panel.marks),
            legend if self._legend else None,
            ramp,
        )

    def _words(self, mark: Mark, width: float) -> tuple[str, ...]:
        """The words of a mark, without their middles where they would be cut."""
        if mark.kind != "words":
            return tuple(mark.words)
        words = []
        for x, word in zip(mark.x, mark.words, strict=True):
            share = self.panel.x.share(float(x)) if np.isfinite(x) else 0.0
            right = self.room - width * share - mark.shift[0] + 1
            if self.panel.x.kind == "names":
                right = width / max(len(self.panel.x.names), 1) - mark.shift[0] - 14
            room = {"left": right, "right": width * share}.get(mark.align, self._cell)
            words.append(fitted(word, room, self._small))
        return tuple(words)


def _x_ticks(scale: Scale, width: float, size: float) -> tuple[tuple[Tick, ...], bool]:
    """The labels below a panel, and whether they are turned."""
    if scale.kind == "none":
        return (), False
    if scale.kind == "names":
        return _column_names(scale, width, size)
    for most in (9, 7, 6, 5, 4, 3, 2):
        ticks = _time_ticks(scale, most) if scale.kind == "time" else number_ticks(scale, most)
        ends = [(width * scale.share(one.at), width_of(one.text, size) / 2 + 4) for one in ticks]
        ends.sort()
        if all(a + half <= b - other for (a, half), (b, other) in pairwise(ends)):
            return ticks, False
    return ticks[:1], False


def _column_names(scale: Scale, width: float, size: float) -> tuple[tuple[Tick, ...], bool]:
    """The names of columns: as many as have room, turned where they are long."""
    names = scale.names
    pitch = width / max(len(names), 1)
    widths = [width_of(name.shown, size, name.of == "own") for name in names]
    longest = max(widths, default=0.0)
    if scale.is_above or longest + 5 <= pitch:
        room = pitch - 5
    elif scale.days:
        every = math.ceil((longest + 9) / pitch)
        return tuple(Tick(at, names[at].shown) for at in range(0, len(names), every)), False
    else:
        every = max(1, math.ceil(size * 1.25 / pitch))
        return tuple(
            Tick(at, fitted(names[at].shown, 84, size), names[at].of == "own")
            for at in range(0, len(names), every)
        ), True
    return tuple(
        Tick(at, fitted(name.shown, room, size, name.of == "own"), name.of == "own")
        for at, name in enumerate(names)
    ), False


def number_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Round numbers between the ends; of ranks the first one, and whole ones."""
    if scale.kind != "number":
        return ()
    low, high = sorted((scale.low, scale.high))
    span = (high - low) or 1.0
    raw = span / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= raw * 0.999)
    is_rank = scale.unit == RANK and low > 0
    if scale.is_whole or is_rank:
        step = max(1.0, float(math.ceil(step)))
    start = math.ceil(low / step - 1e-9)
    found = [step * at for at in range(start, math.floor(high / step + 1e-9) + 1)]
    if is_rank:
        found = [1.0, *(value for value in found if value > 1 + step / 2)]
    return tuple(Tick(value, tick(value, scale.unit)) for value in found)


_STEPS = (1, 2, 3, 6, 12)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(days: float) -> datetime:
    """A number of days as a moment."""
    return _EPOCH + timedelta(days=days)


def _time_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Round hours, days, months or years, at most so many; a day always has its month."""
    low, high = sorted((scale.low, scale.high))
    if 0 < len(scale.days) < most and all(float(day).is_integer() for day in scale.days):
        return tuple(Tick(day, f"{moment(day):%d %b}") for day in scale.days)
    span = high - low
    for hours in _STEPS:
        if span * 24 / hours <= most and hours < 24:
            found = _multiples(low, high, hours / 24)
            return tuple(Tick(at, _hour(moment(at))) for at in found)
    for step in (1, 2, 4, 7, 14):
        if span / step <= most:
            return tuple(Tick(at, f"{moment(at):%d %b}") for at in _multiples(low, high, step))
    first, last = moment(low), moment(high)
    months = [(y, m) for y in range(first.year, last.year + 1) for m in range(1, 13)]
    for step in (1, 2, 3, 6, 12, 24, 60, 120):
        chosen = [datetime(y, m, 1, tzinfo=UTC) for y, m in months if (12 * y + m - 1) % step == 0]
        chosen = [when for when in chosen if first <= when <= last]
        if len(chosen) <= most:
            break
    return tuple(
        Tick((when - _EPOCH) / timedelta(days=1), f"{when:%Y}" if when.month == 1 else f"{when:%b}")
        for when in chosen
    )


def _multiples(low: float, high: float, step: float) -> list[float]:
    start = math.ceil(low / step - 1e-9)
    return [at * step for at in range(start, math.floor(high / step + 1e-9) + 1)]


def _hour(when: datetime) -> str:
    when = when + timedelta(seconds=30)
    return f"{when:%d %b}" if when.hour == 0 else f"{when:%H:%M}"


def _corner(scale: Scale) -> str:
    """The year of days, below the right end."""
    return f"{moment(scale.days[-1]):%Y}" if scale.days else ""
