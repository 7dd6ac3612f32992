"""Where everything of a picture is, in points from its upper left corner, before it is drawn.

Text is measured, so that labels neither meet nor are cut. Where there is no room, what yields is,
in this order: the subtitle, the size of text, the share of labels, the caption, columns of words,
every second label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

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
    size: float
    """The size of small text: captions, legends, words."""


class _Ease(NamedTuple):
    """What yields where there is little room."""

    subtitle: int = 2
    text: float = 1.0
    labels: float = 0.42
    has_caption: bool = True


_EASES = (
    _Ease(), _Ease(1), _Ease(1, 0.88, 0.38), _Ease(0, 0.82, 0.36),
    _Ease(0, 0.75, 0.34, has_caption=False), _Ease(0, 0.6, 0.3, has_caption=False),
)  # fmt: skip


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Placement:
    """Place a picture in a width, and a height if there is one."""
    # On a large figure, which is looked at from afar, text is larger.
    large = min(width / 720, (height or 0) / 430, 1.6)
    for ease in (_Ease(text=large), *_EASES) if large > 1 else _EASES:
        layout, fits = _attempt(spec, width, height, ease)
        if fits:
            break
    return layout


def _attempt(spec: Spec, width: float, height: float | None, ease: _Ease) -> tuple[Placement, bool]:
    is_small = width <= 330 or (height or 999) <= 200
    large = (9.5 if is_small else 12.0) * max(ease.text, 0.8)
    size, small, room = 9.0 * ease.text, 8.0 * ease.text, width - 2 * _MARGIN
    title = wrapped(spec.title, room, large, 2 if ease.text >= 1 else 1, is_bold=True)
    texts = [Text(_MARGIN, _MARGIN, title, large, "ink", True)]
    top = _MARGIN + _high(title, large)
    if spec.subtitle and ease.subtitle:
        words = wrapped(spec.subtitle, room, small, ease.subtitle)
        texts.append(Text(_MARGIN, top + 2, words, small, "muted"))
        top += 2 + _high(words, small)
    legend, high = _flow(spec.legend, _MARGIN, top + 7, room, small)
    texts, top = [*texts, *legend], top + 7 + high
    caption = ""
    for part in spec.caption if ease.has_caption else ():
        longer = f"{caption} · {part}" if caption else fitted(part, room, small)
        caption = longer if width_of(longer, small) <= room else caption
    below = _high(caption, small) + (8 if caption else 2) + 5
    across = spec.across
    cell = (room - (across - 1) * _GAP) / across
    frames = [_Frame(panel, cell, size, small, ease) for panel in spec.panels]
    for column in range(across if across > 1 else 0):
        # Panels below each other begin at one place.
        left = max(frame.left for frame in frames[column::across])
        for frame in frames[column::across]:
            frame.left = left
    grid = [frames[at : at + across] for at in range(0, len(frames), across)]
    above, under, natural = (
        [max(getattr(frame, side) for frame in row) for row in grid]
        for side in ("above", "under", "natural")
    )
    fixed = top + below + (len(grid) - 1) * _GAP + sum(above) + sum(under)
    whole = height or fixed + sum(natural)
    ratio = max(whole - fixed, 12.0 * len(grid)) / sum(natural)
    boxes, fits, y = [], True, top
    for row, over, foot, high in zip(grid, above, under, natural, strict=True):
        for at, frame in enumerate(row):
            # Rows are of one height in all panels beside each other.
            own = frame.natural if frame.panel.has_rows else high
            boxes.append(frame.boxed(_MARGIN + at * (cell + _GAP), y, over, own * ratio))
            fits &= frame.fits(own * ratio)
        y += over + high * ratio + foot + _GAP
    texts.append(Text(_MARGIN, whole - below + 8, caption, small, "muted"))
    return Placement(width, whole, (*boxes,), (*texts,), small), fits or not height


def _high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LINE if text else 0.0


def _flow(legend: Legend, x: float, y: float, room: float, size: float) -> tuple[list[Text], float]:
    """A legend from left to right, in as many lines as it takes; and how high it is."""
    texts: list[Text] = []
    left, top = 0.0, y
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
        self.natural = panel.height * (1.0 if ease.text >= 1 else 0.9)
        beside = [
            12 + max(width_of(column.heading, small),
                     *(width_of(word, size, column.is_bold) for word in column.words))
            for column in panel.beside
        ]  # fmt: skip
        # Beside words alone the names of rows have all the room that the words leave.
        share = cell * ease.labels if panel.marks else max(cell - sum(beside) - 8, cell * 0.4)
        self._y_ticks = (
            tuple(_named(at, name.text, name.of, share, size)
                  for at, name in enumerate(panel.y.names))
            if panel.has_rows else number_ticks(panel.y, 5)
        )  # fmt: skip
        widest = max((width_of(t.text, size, t.is_bold) for t in self._y_ticks), default=0.0)
        self.left = widest + 8 if widest else 4.0
        heading = fitted(panel.heading, cell, size * 1.1, is_bold=True)
        self._above = [Text(0, 0, heading, size * 1.1, "ink", True)]
        y = _high(heading, size * 1.1) + (3 if heading else 0)
        # Names at the ends of lines need room; else they are a legend.
        self._is_direct = cell > 230 and len(panel.labels) * small * 1.2 < self.natural
        labels = [(word, style, "dots") for _, word, style in panel.labels]
        legend, high = _flow([*([] if self._is_direct else labels), *panel.legend], 0, y, cell,
                             small)  # fmt: skip
        self._above, y = [*self._above, *legend], y + high
        if panel.y.kind == "number" and panel.y.label:
            self._above.append(Text(0, y, fitted(panel.y.label, cell, small), small, "muted"))
            y += size * 1.6
        heads = any(column.heading for column in panel.beside) or panel.x.is_above
        self.above = y + (size * 1.7 if heads else 0.0) + 2
        self._beside = self._fitted(beside)
        self._width()

    def _fitted(self, sized: list[float]) -> list[tuple[float, tuple[str, ...], str]]:
        """The columns of words that fit, each with its width, its words and its heading."""
        room = (self._cell - self.left) * (0.66 if self.panel.marks else 1.0)
        while (surplus := sum(sized) - room) > 0 and sized:
            widest = max(sized)
            if widest > 110:
                sized[sized.index(widest)] = max(widest - surplus, 110)
            else:
                sized.pop()
        return [
            (wide, tuple(fitted(w, wide - 8, self._size, column.is_bold) for w in column.words),
             fitted(column.heading, wide - 8, self._small))
            for wide, column in zip(sized, self.panel.beside, strict=False)
        ]  # fmt: skip

    def _width(self) -> None:
        """The width of the marks: what labels, columns and words at their right leave."""
        panel, size, small = self.panel, self._size, self._small
        room = self._cell - self.left - sum(wide for wide, _, _ in self._beside)
        if self._is_direct and panel.labels:
            self._labels = [fitted(word, self._cell * 0.3, small) for _, word, _ in panel.labels]
            room -= max(width_of(word, small, True) for word in self._labels) + 9
        fits = room - (2 if self._beside or panel.x.kind in ("none", "names") else 9)
        for mark in panel.marks:
            for x, word in zip(mark.x, mark.words, strict=False):
                share = panel.x.share(float(x)) if math.isfinite(x) else 0.0
                is_right = mark.kind == "words" and mark.align == "left" and share > 0.02
                if is_right and panel.x.kind != "names":
                    fits = min(fits, (room - mark.shift[0] - width_of(word, small)) / share)
        self.room, self.width = room, max(fits, 0.35 * room) * bool(panel.marks)
        self._x_ticks, self._is_turned = _x_ticks(panel.x, self.width, size)
        if self._is_turned:
            # Turned names end below their column, and begin inside of the cell.
            self._x_ticks = tuple(
                t._replace(text=fitted(
                    t.text, (self.left + self.width * panel.x.share(t.at)) / 0.82, size, t.is_bold
                ))
                for t in self._x_ticks
            )  # fmt: skip
        self.under = 0.0
        if self._x_ticks and not panel.x.is_above:
            longest = max(width_of(t.text, size, t.is_bold) for t in self._x_ticks)
            self.under = (longest * 0.58 + size if self._is_turned else size) + 7
        self._corner = f"{moment(panel.x.days[-1]):%Y}" if panel.x.days else ""
        self.under += size * 1.5 if panel.x.label or self._corner else 0

    def fits(self, height: float) -> bool:
        """Whether rows are as high as their text, and marks have room."""
        if self.panel.has_rows:
            return height >= abs(self.panel.y.high - self.panel.y.low) * self._size * 1.12
        return height >= min(_LEAST_PLOT, self.panel.height * 0.6)

    def boxed(self, x: float, y: float, above: float, height: float) -> Box:
        """Place it with its upper left corner at a point."""
        panel, size, small = self.panel, self._size, self._small
        # The marks may have become narrower by a label of another panel.
        width, left, top = min(self.width, self.room), x + self.left, y + above
        texts = [text._replace(x=x + text.x, y=y + text.y) for text in self._above]
        foot = top + height + self.under - size * 1.35
        label = fitted(panel.x.label, self._cell - self.left, small)
        texts.append(Text(left, foot, label, small, "muted"))
        texts.append(Text(left + width, foot, self._corner, small, "muted", align="right"))
        at = left + width + (10 if width else 0)
        pitch = height / abs(panel.y.high - panel.y.low)
        every = max(1, math.ceil(size * 1.05 / pitch)) if panel.has_rows else 1
        for column, (wide, words, heading) in zip(panel.beside, self._beside, strict=False):
            edge = at + (wide - 8 if column.align == "right" else 0)
            texts.append(Text(edge, top - size * 1.6, heading, small, "muted", align=column.align))
            colour = "muted" if column.is_muted else "ink"
            texts += [
                Text(edge, top + (row + 0.5) * pitch - size * 0.6, words[row], size, colour,
                     column.is_bold, column.align)
                for row in range(0, len(words), every)
            ]  # fmt: skip
            at += wide
        if self._is_direct:
            texts += self._direct(left + width + 6, top, height)
        words_of = tuple(tuple(self._words(mark, width, height)) for mark in panel.marks)
        return Box(left, top, max(width, 1.0), height, self._x_ticks, self._y_ticks[::every], size,
                   self._is_turned, tuple(texts), words_of)  # fmt: skip

    def _direct(self, x: float, top: float, height: float) -> Iterator[Text]:
        """The names of lines at their ends, moved apart where they would meet."""
        small, labels, scale = self._small, self.panel.labels, self.panel.y
        pitch, lowest = small * 1.2, top + height - small
        order = sorted(range(len(labels)), key=lambda row: -scale.share(labels[row][0]))
        ys = [top + (1 - scale.share(labels[row][0])) * height - small * 0.6 for row in order]
        for at in range(1, len(ys)):
            ys[at] = max(ys[at], ys[at - 1] + pitch)
        for at, row in enumerate(order):
            y = min(ys[at], lowest - (len(ys) - 1 - at) * pitch)
            _, name, style = labels[row]
            yield Text(x, y, self._labels[row], small, style.key, name.endswith("(own)"))

    def _words(self, mark: Mark, width: float, height: float) -> Iterator[WordPlace]:
        """The words of a mark, without their middles where they would be cut."""
        small, scale = self._small, self.panel.x
        if mark.kind != "words":
            # Numbers in cells that are lower than a line would meet.
            is_low = height / max(len(self.panel.y.names), 1) < small * 1.1
            yield from (WordPlace("" if is_low else word) for word in mark.words)
        else:
            for x, word in zip(mark.x, mark.words, strict=True):
                share = scale.share(float(x)) if math.isfinite(x) else 0.0
                right = self.room - width * share - mark.shift[0] + 1
                if scale.kind == "names":
                    # Words end before the next column begins; too little is worse than nothing.
                    part = float(x) % 1 if math.isfinite(x) else 0.0
                    right = width / max(len(scale.names), 1) * (1 - part) - mark.shift[0] - 4
                    word = word if min(width_of(word, small), 30) <= right else ""
                room = right if mark.align == "left" else self._cell
                yield WordPlace(fitted(word, room, small), mark.align, *mark.shift)


# --- labels of scales -------------------------------------------------------------------------


def _named(at: int, text: str, of: str, room: float, size: float) -> Tick:
    """A name as it fits; whose it is stays."""
    ending, is_bold = f" ({of})" if of else "", of == "own"
    room -= width_of(ending, size, is_bold)
    return Tick(at, fitted(text, room, size, is_bold) + ending, is_bold)


def _x_ticks(scale: Scale, width: float, size: float) -> tuple[tuple[Tick, ...], bool]:
    """The labels below a panel, and whether they are turned."""
    if scale.kind == "none":
        return (), False
    if scale.kind == "names":
        return _column_names(scale, width, size)
    for most in (9, 7, 6, 5, 4, 3, 2):
        ticks = _time_ticks(scale, most) if scale.kind == "time" else number_ticks(scale, most)
        ends = sorted((width * scale.share(t.at), width_of(t.text, size) / 2 + 4) for t in ticks)
        if all(a + half <= b - other for (a, half), (b, other) in pairwise(ends)):
            return ticks, False
    return ticks[:1], False


def _column_names(scale: Scale, width: float, size: float) -> tuple[tuple[Tick, ...], bool]:
    """The names of columns: as many as have room, turned where they are long."""
    names, pitch = scale.names, width / max(len(scale.names), 1)
    longest = max((width_of(n.shown, size, n.of == "own") for n in names), default=0.0)
    every, room, is_turned = 1, pitch - 5, False
    if not scale.is_above and longest > room:
        is_turned = not scale.days
        every = max(1, math.ceil((size * 1.25 if is_turned else longest + 9) / pitch))
        room = 84 if is_turned else longest
    return tuple(
        _named(at, names[at].text, names[at].of, room, size) for at in range(0, len(names), every)
    ), is_turned


def number_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Round numbers between the ends; of ranks the first one, and whole ones."""
    if scale.kind != "number":
        return ()
    low, high = sorted((scale.low, scale.high))
    raw = ((high - low) or 1.0) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= raw * 0.999)
    is_rank = scale.unit == RANK and low > 0
    step = max(1.0, math.ceil(step)) if scale.is_whole or is_rank else step
    values = _multiples(low, high, step)
    if is_rank:
        values = [1.0, *(value for value in values if value > 1 + step / 2)]
    return tuple(Tick(value, tick(value, scale.unit)) for value in values)


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [at * step for at in range(first, last + 1)]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(days: float) -> datetime:
    """A number of days as a moment, whole minutes."""
    when = _EPOCH + timedelta(days=days, seconds=30)
    return when.replace(second=0, microsecond=0)


def _time_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Round hours, days, months or years, at most so many; a day always has its month."""
    low, high = sorted((scale.low, scale.high))
    days: Sequence[float] = scale.days
    if not 0 < len(days) < most or not all(float(day).is_integer() for day in days):
        steps = (*(hours / 24 for hours in (1, 2, 3, 6, 12)), 1, 2, 4, 7, 14)
        step = next((step for step in steps if (high - low) / step <= most), 0)
        days = _multiples(low, high, step) if step else ()
    if days:
        return tuple(
            Tick(day, f"{moment(day):%d %b}" if round(day * 1440) % 1440 == 0
                 else f"{moment(day):%H:%M}") for day in days
        )  # fmt: skip
    first, last = moment(low), moment(high)
    months = [datetime(y, m, 1, tzinfo=UTC)
              for y in range(first.year, last.year + 1) for m in range(1, 13)]  # fmt: skip
    for step in (1, 2, 3, 6, 12, 24, 60, 120):
        chosen = [when for when in months if (12 * when.year + when.month - 1) % step == 0
                  and first <= when <= last]  # fmt: skip
        if len(chosen) <= most:
            break
    return tuple(
        Tick((when - _EPOCH) / timedelta(days=1), f"{when:%Y}" if when.month == 1 else f"{when:%b}")
        for when in chosen
    )
