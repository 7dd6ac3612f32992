"""Where everything of a picture is, in points from its upper left corner, before it is drawn.

Text is measured, so that labels neither meet nor are cut. Where there is no room, what yields is,
in this order: the subtitle, the size of text, the share of labels, the caption, columns of words,
every second label.
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
from aatoolkit.display.plot.spec import Legend, Mark, Panel, Scale, Spec
from aatoolkit.sections.aggregation import RANK

WIDTH = 547.0
"""The usual width of a picture in points."""

_MARGIN, _GAP, _LINE = 9.0, 14.0, 1.32
_LEAST_PLOT = 70.0


class Text(NamedTuple):
    """A text in its place: the upper left corner, or the upper right one."""

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


class WordPlace(NamedTuple):
    """The word of a mark as it fits, the side that is at its place, and how far it is from it."""

    text: str
    align: str = "center"
    right: float = 0.0
    up: float = 0.0


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
    words: tuple[tuple[WordPlace, ...], ...]


@dataclass(frozen=True)
class Placement:
    """A picture's size, and all places in it; its first text is the title."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    texts: tuple[Text, ...]
    caption: str
    size: float
    """The size of small text: captions, legends, words."""


class _Ease(NamedTuple):
    """What yields where there is little room."""

    subtitle: int = 2
    text: float = 1.0
    labels: float = 0.42
    has_caption: bool = True


_EASES = (
    _Ease(),
    _Ease(1),
    _Ease(1, 0.88, 0.38),
    _Ease(0, 0.82, 0.36),
    _Ease(0, 0.75, 0.34, has_caption=False),
    _Ease(0, 0.6, 0.3, has_caption=False),
)


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Placement:
    """Place a picture in a width, and a height if there is one."""
    for ease in _EASES:
        layout, fits = _attempt(spec, width, height, ease)
        if fits:
            break
    return layout


def _attempt(spec: Spec, width: float, height: float | None, ease: _Ease) -> tuple[Placement, bool]:
    is_small = width <= 330 or (height or 999) <= 200
    large = (9.5 if is_small else 12.0) * max(ease.text, 0.8)
    size, small = 9.0 * ease.text, 8.0 * ease.text
    room = width - 2 * _MARGIN
    title = wrapped(spec.title, room, large, 2 if ease.text == 1 else 1, is_bold=True)
    texts = [Text(_MARGIN, _MARGIN, title, large, "ink", True)]
    top = _MARGIN + _high(title, large)
    if spec.subtitle and ease.subtitle:
        words = wrapped(spec.subtitle, room, small, ease.subtitle)
        texts.append(Text(_MARGIN, top + 2, words, small, "muted"))
        top += 2 + _high(words, small)
    top += 7
    legend, high = _flow(spec.legend, _MARGIN, top, room, small)
    texts += legend
    top += high
    caption = _caption(spec.caption, room, small) if ease.has_caption else ""
    below = _high(caption, small) + (8 if caption else 2) + 5
    across = spec.across
    cell = (room - (across - 1) * _GAP) / across
    frames = [_Frame(panel, cell, size, small, ease) for panel in spec.panels]
    if across > 1:
        # Panels below each other begin at one place.
        for at, frame in enumerate(frames):
            frame.left = max(other.left for other in frames[at % across :: across])
    grid = [frames[at : at + across] for at in range(0, len(frames), across)]
    above = [max(frame.above for frame in row) for row in grid]
    under = [max(frame.under for frame in row) for row in grid]
    natural = [max(frame.natural for frame in row) for row in grid]
    fixed = top + below + (len(grid) - 1) * _GAP + sum(above) + sum(under)
    ratio = 1.0 if height is None else max(height - fixed, 12.0 * len(grid)) / sum(natural)
    whole = fixed + sum(natural) if height is None else height
    boxes, fits, y = [], True, top
    for row, over, foot, high in zip(grid, above, under, natural, strict=True):
        for at, frame in enumerate(row):
            # Rows are of one height in all panels beside each other.
            own = frame.natural if frame.panel.has_rows else high
            box = frame.boxed(_MARGIN + at * (cell + _GAP), y, over, own * ratio)
            boxes.append(box)
            fits &= frame.fits(box)
        y += over + high * ratio + foot + _GAP
    texts.append(Text(_MARGIN, whole - below + 8, caption, small, "muted"))
    layout = Placement(width, whole, tuple(boxes), tuple(texts), caption, small)
    return layout, fits or height is None


def _caption(parts: Sequence[str], room: float, size: float) -> str:
    """As many parts of the caption as have room in one line, the first ones first."""
    line = fitted(parts[0], room, size) if parts else ""
    for part in parts[1:]:
        longer = f"{line} · {part}"
        line = longer if width_of(longer, size) <= room else line
    return line


def _high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LINE if text else 0.0


def _flow(legend: Legend, x: float, y: float, room: float, size: float) -> tuple[list[Text], float]:
    """A legend from left to right, in as many lines as it takes; and how high it is."""
    texts: list[Text] = []
    left = 0.0
    top = y
    for words, style, kind in legend:
        glyph = style.glyph(kind)
        sign = width_of(glyph, size * 1.1) + (4 if words else 0)
        words = fitted(words, room - sign, size)
        wide = sign + width_of(words, size)
        if left and left + wide > room:
            left, top = 0.0, top + size * 1.55
        texts.append(Text(x + left, top - size * 0.05, glyph, size * 1.1, style.key))
        texts.append(Text(x + left + sign, top, words, size))
        left += wide + (12 if words else 0)
    return texts, top - y + size * 1.55 + 3 if legend else 0.0


class _Frame:
    """What stands around the marks of a panel, in a cell of some width."""

    def __init__(self, panel: Panel, cell: float, size: float, small: float, ease: _Ease) -> None:
        self.panel, self._cell, self._size, self._small = panel, cell, size, small
        beside = [
            12 + max([width_of(word, size, column.is_bold) for word in column.words]
                     + [width_of(column.heading, small)])
            for column in panel.beside
        ]  # fmt: skip
        # Beside words alone the names of rows have all the room that the words leave.
        share = cell * ease.labels if panel.marks else max(cell - sum(beside) - 8, cell * 0.4)
        self._rows = self._row_labels(share)
        self.natural = panel.height * (1.0 if ease.text == 1 else 0.9)
        self._y_ticks = number_ticks(panel.y, 5) if panel.y.kind == "number" else ()
        labels = [width_of(tick.text, size, tick.is_bold) for tick in (*self._rows, *self._y_ticks)]
        self.left = max(labels) + 8 if max(labels, default=0.0) else 4.0
        heading = fitted(panel.heading, cell, size * 1.1, is_bold=True) if panel.heading else ""
        self._above = [Text(0, 0, heading, size * 1.1, "ink", True)]
        y = _high(heading, size * 1.1) + (3 if heading else 0)
        # Names at the ends of lines need room; else they are a legend.
        self._is_direct = cell > 230 and len(panel.labels) * small * 1.2 < self.natural
        named = (
            [] if self._is_direct else [(word, style, "dots") for _, word, style in panel.labels]
        )
        legend, high = _flow([*named, *panel.legend], 0, y, cell, small)
        self._above += legend
        y += high
        if panel.y.kind == "number" and panel.y.label:
            self._above.append(Text(0, y, fitted(panel.y.label, cell, small), small, "muted"))
            y += size * 1.6
        heads = any(column.heading for column in panel.beside) or panel.x.is_above
        self.above = y + (size * 1.7 if heads else 0.0) + 2
        self._beside = self._fitted(beside)
        self._width()

    def _row_labels(self, room: float) -> tuple[Tick, ...]:
        ticks = []
        for at, name in enumerate(self.panel.y.names if self.panel.has_rows else ()):
            ending = f" ({name.of})" if name.of else ""
            is_bold = name.of == "own"
            left = room - width_of(ending, self._size, is_bold)
            ticks.append(Tick(at, fitted(name.text, left, self._size, is_bold) + ending, is_bold))
        return tuple(ticks)

    def _fitted(self, sized: list[float]) -> list[tuple[float, tuple[str, ...], str]]:
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
            for wide, column in zip(sized, self.panel.beside, strict=False)
        ]

    def _width(self) -> None:
        """The width of the marks: what labels, columns and words at their right leave."""
        panel, small = self.panel, self._small
        room = self._cell - self.left - sum(wide for wide, _, _ in self._beside)
        if self._is_direct and panel.labels:
            self._labels = [fitted(word, self._cell * 0.3, small) for _, word, _ in panel.labels]
            room -= max(width_of(word, small, True) for word in self._labels) + 9
        self.room = room
        least = 0.35 * room
        fits = room - (2 if self._beside or panel.x.kind in ("none", "names") else 9)
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
        self._corner = f"{moment(panel.x.days[-1]):%Y}" if panel.x.days else ""
        under += size * 1.5 if panel.x.label or self._corner else 0
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
        texts = [text._replace(x=x + text.x, y=y + text.y) for text in self._above]
        foot = top + height + self.under - size * 1.35
        if panel.x.label:
            label = fitted(panel.x.label, self._cell - self.left, small)
            texts.append(Text(left, foot, label, small, "muted"))
        texts.append(Text(left + width, foot, self._corner, small, "muted", align="right"))
        at = left + width + (10 if width else 0)
        pitch = height / abs(panel.y.high - panel.y.low)
        every = max(1, math.ceil(size * 1.05 / pitch)) if panel.has_rows else 1
        for column, (wide, listed, heading) in zip(panel.beside, self._beside, strict=False):
            edge = at + (wide - 8 if column.align == "right" else 0)
            texts.append(Text(edge, top - size * 1.6, heading, small, "muted", align=column.align))
            colour = "muted" if column.is_muted else "ink"
            for row in range(0, len(listed), every):
                middle = top + (row + 0.5) * pitch - size * 0.6
                texts.append(
                    Text(edge, middle, listed[row], size, colour, column.is_bold, column.align)
                )
            at += wide
        if self._is_direct:
            texts += self._direct(left + width + 6, top, height)
        words = tuple(self._words(mark, width, height) for mark in panel.marks)
        return Box(
            left, top, max(width, 1.0), height, self._x_ticks, self._rows[::every] or self._y_ticks,
            size, self._is_turned, tuple(texts), words,
        )  # fmt: skip

    def _direct(self, x: float, top: float, height: float) -> list[Text]:
        """The names of lines at their ends, moved apart where they would meet."""
        small, labels = self._small, self.panel.labels
        pitch = small * 1.2
        order = sorted(range(len(labels)), key=lambda row: -self.panel.y.share(labels[row][0]))
        ys = [
            top + (1 - self.panel.y.share(labels[row][0])) * height - small * 0.6 for row in order
        ]
        for at in range(1, len(ys)):
            ys[at] = max(ys[at], ys[at - 1] + pitch)
        lowest = top + height - small
        for at in reversed(range(len(ys))):
            ys[at] = min(ys[at], lowest - (len(ys) - 1 - at) * pitch)
        return [
            Text(x, y, self._labels[row], small, labels[row][2].key, "(own)" in labels[row][1])
            for y, row in zip(ys, order, strict=True)
        ]

    def _words(self, mark: Mark, width: float, height: float) -> tuple[WordPlace, ...]:
        """The words of a mark, without their middles where they would be cut."""
        if mark.align == "free":
            return self._free(mark, width, height)
        if mark.kind != "words":
            return tuple(map(WordPlace, mark.words))
        words = []
        for x, word in zip(mark.x, mark.words, strict=True):
            share = self.panel.x.share(float(x)) if np.isfinite(x) else 0.0
            right = self.room - width * share - mark.shift[0] + 1
            if self.panel.x.kind == "names":
                # Words end before the next column begins; too little is worse than nothing.
                pitch = max(width / max(len(self.panel.x.names), 1), 1.0)
                right = pitch * (1 - (float(x) % 1 if x < np.inf else 0.0)) - mark.shift[0] - 4
                word = word if min(width_of(word, self._small), 30) <= right else ""
            room = right if mark.align == "left" else self._cell
            words.append(WordPlace(fitted(word, room, self._small), mark.align, *mark.shift))
        return tuple(words)

    def _free(self, mark: Mark, width: float, height: float) -> tuple[WordPlace, ...]:
        """Words beside points, at the corner that is free; none where no corner is."""
        panel, small = self.panel, self._small
        points = [
            (width * panel.x.share(float(x)), height * panel.y.share(float(y)))
            for other in panel.marks
            for x, y in zip(other.x, other.y, strict=True)
            if other.kind == "dots"
        ]
        taken = [(x - 4.0, y - 4.0, x + 4.0, y + 4.0) for x, y in points]
        words = []
        for x, y, text in zip(mark.x, mark.y, mark.words, strict=True):
            word = WordPlace("")
            text = fitted(text, min(150.0, width * 0.5), small)
            wide = width_of(text, small)
            at, over = width * panel.x.share(float(x)), height * panel.y.share(float(y))
            for right, up in ((7, 6), (-7, 6), (7, -7), (-7, -7)):
                left, middle = at + right - (wide if right < 0 else 0), over + up
                box = (left, middle - small * 0.7, left + wide, middle + small * 0.7)
                is_free = not any(
                    box[0] < c and box[2] > a and box[1] < d and box[3] > b for a, b, c, d in taken
                )
                if is_free and left >= 0 and box[2] <= width and 0 <= middle <= height:
                    taken.append(box)
                    word = WordPlace(text, "right" if right < 0 else "left", right, up)
                    break
            words.append(word)
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
