"""Where everything of a picture is, in points from its upper left corner, before it is drawn.

Text is measured, so that labels neither meet nor are cut. Where there is no room, what yields is,
in this order: the subtitle, the size of text, the share of labels, the caption, columns of words,
every second label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags

from aatoolkit._util.numbers import tick
from aatoolkit._util.text import visible
from aatoolkit.display.plot.spec import Legend, Mark, Panel, Scale, Spec
from aatoolkit.sections.aggregation import RANK

# --- text: safe to draw, and how wide it is ---------------------------------------------------

_FALLBACKS = (
    "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC",
    "Source Han Sans", "WenQuanYi Zen Hei", "IPAGothic", "NanumGothic", "Droid Sans Fallback",
    "PingFang SC", "Malgun Gothic", "Noto Sans Arabic", "Noto Sans Hebrew", "Hiragino Sans",
    "Yu Gothic", "Microsoft YaHei", "Segoe UI Symbol", "Arial Unicode MS",
)  # fmt: skip
"""Fonts for scripts that the default fonts lack, if installed."""
_ROOM, _LONGEST = 1.03, 600
"""What is added to widths for kerning and rounding; the longest text that is measured."""


def families() -> tuple[str, ...]:
    """The fonts of text: the usual ones, then those installed that have other scripts."""
    return (*mpl.rcParams["font.family"], *_installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    installed = {*font_manager.fontManager.get_font_names()}
    return tuple(name for name in _FALLBACKS if name in installed)


@lru_cache(maxsize=8)
def _fonts(names: tuple[str, ...], is_bold: bool) -> tuple[FT2Font, ...]:
    """Fonts of our own: drawing resizes those of matplotlib."""
    weight = "bold" if is_bold else "normal"
    fonts = (font_manager.FontProperties(family=[name], weight=weight) for name in names)
    return tuple(FT2Font(font_manager.findfont(font)) for font in fonts)


@lru_cache(maxsize=4096)
def _advance(char: str, is_bold: bool, names: tuple[str, ...]) -> float:
    """The width of a letter, of a size of 1; 0 if no font has it."""
    for font in _fonts(names, is_bold):
        if font.get_char_index(ord(char)):
            glyph = font.load_char(ord(char), flags=LoadFlags.NO_SCALE)
            return float(glyph.horiAdvance) / float(font.units_per_EM) or 0.01
    return 0.0


def _safe(text: str) -> str:
    """Text that can be drawn: nothing invisible, and a box for characters that no font has."""
    names = families()
    return "".join(
        char
        if char == "\n" or (_advance(char, False, names) and _advance(char, True, names))
        else "□"
        for char in visible(text)
    )


def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """The width of a line of text in points."""
    names = families()
    return size * _ROOM * sum(_advance(char, is_bold, names) for char in text)


def fitted(text: str, width: float, size: float, is_bold: bool = False) -> str:
    """Safe text, without its middle where it is wider than some points."""
    text = _safe(text[:_LONGEST])
    if not text or width_of(text, size, is_bold) <= width:
        return text
    for kept in range(max(int(len(text) * width / width_of(text, size, is_bold)), 2), 2, -1):
        elided = f"{text[: kept - kept // 2 - 1]}…{text[-(kept // 2) :]}"
        if width_of(elided, size, is_bold) <= width:
            return elided
    return f"{text[:1]}…"


def _wrapped(text: str, width: float, size: float, most: int, is_bold: bool = False) -> str:
    """Safe text in lines of some points at most; what is beyond the most lines is left out."""
    lines = [""]
    for word in text.split():
        word = fitted(word, width, size, is_bold)
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, is_bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        last = lines[most - 1]
        while " " in last and width_of(f"{last} …", size, is_bold) > width:
            last = last.rpartition(" ")[0]
        lines[most - 1] = f"{last} …"
    return "\n".join(lines[:most])


# --- places -----------------------------------------------------------------------------------

WIDTH = 547.0
"""The usual width of a picture in points."""

_MARGIN, _GAP, _LINE = 9.0, 14.0, 1.32


class Text(NamedTuple):
    """A text at its upper left corner, or its upper right one.

    With ``at`` it is beside a point of its panel: so far right of it, at the height of its middle.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str = "ink"
    is_bold: bool = False
    align: str = "left"
    at: tuple[float, float] | None = None
    has_paper: bool = False


class Tick(NamedTuple):
    """A label of a scale."""

    at: float
    text: str
    is_bold: bool = False


@dataclass(frozen=True)
class Box:
    """The area of a panel's marks, its labels, and the words in it and around it."""

    left: float
    top: float
    width: float
    height: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    size: float
    is_turned: bool
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Placement:
    """A picture's size, and all places in it; its first text is the title, its last the caption."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    texts: tuple[Text, ...]


_EASES = (
    (2, 1.0, 0.42, True), (1, 1.0, 0.42, True), (1, 0.88, 0.38, True), (0, 0.82, 0.36, True),
    (0, 0.75, 0.34, False), (0, 0.6, 0.3, False),
)  # fmt: skip
"""What yields: lines of the subtitle, the size of text, the share of labels, the caption."""


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Placement:
    """Place a picture in a width, and a height if there is one."""
    # On a large figure, which is looked at from afar, text is larger.
    large = max(1.0, min(width / 720, (height or 0) / 430, 1.6))
    for lines, scale, share, has_caption in ((2, large, 0.42, True), *_EASES):
        layout, fits = _attempt(spec, width, height, lines, scale, share, has_caption)
        if fits:
            break
    return layout


def _attempt(
    spec: Spec, width: float, height: float | None, lines: int, scale: float, share: float,
    has_caption: bool,
) -> tuple[Placement, bool]:  # fmt: skip
    is_small = width <= 330 or (height or 999) <= 200
    large, small = (9.5 if is_small else 12.0) * max(scale, 0.8), 8.0 * scale
    room = width - 2 * _MARGIN
    title = _wrapped(spec.title, room, large, 2 if scale >= 1 else 1, True)
    texts = [Text(_MARGIN, _MARGIN, title, large, "ink", True)]
    top = _MARGIN + _high(title, large)
    if spec.subtitle and lines:
        words = _wrapped(spec.subtitle, room, small, lines)
        texts.append(Text(_MARGIN, top + 2, words, small, "muted"))
        top += 2 + _high(words, small)
    legend, high = _flow(spec.legend, _MARGIN, top + 7, room, small)
    texts, top = [*texts, *legend], top + 7 + high
    caption = ""
    for part in spec.caption if has_caption else ():
        longer = f"{caption} · {part}" if caption else fitted(part, room, small)
        caption = longer if width_of(longer, small) <= room else caption
    below = _high(caption, small) + (8 if caption else 2) + 5
    across = spec.across
    cell = (room - (across - 1) * _GAP) / across
    frames = [_Frame(panel, cell, scale, share) for panel in spec.panels]
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
    tall = height or fixed + sum(natural)
    ratio = max(tall - fixed, 12.0 * len(grid)) / sum(natural)
    boxes, fits, y = [], True, top
    for row, over, foot, high in zip(grid, above, under, natural, strict=True):
        for at, frame in enumerate(row):
            # Rows are of one height in all panels beside each other.
            own = (frame.natural if frame.panel.has_rows else high) * ratio
            boxes.append(frame.boxed(_MARGIN + at * (cell + _GAP), y, over, own))
            fits &= frame.fits(own)
        y += over + high * ratio + foot + _GAP
    texts.append(Text(_MARGIN, tall - below + 8, caption, small, "muted"))
    return Placement(width, tall, (*boxes,), (*texts,)), fits or not height


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

    def __init__(self, panel: Panel, cell: float, scale: float, share: float) -> None:
        self.panel, self._cell = panel, cell
        self._size, self._small = size, small = 9.0 * scale, 8.0 * scale
        self.natural = panel.height * (1.0 if scale >= 1 else 0.9)
        sized = [
            12 + max(width_of(column.heading, small),
                     *(width_of(word, size, column.is_bold) for word in column.words))
            for column in panel.beside
        ]  # fmt: skip
        # Beside words alone the names of rows have all the room that the words leave.
        labels = cell * share if panel.marks else max(cell - sum(sized) - 8, cell * 0.4)
        self._y_ticks = _named(panel.y, labels, size) or number_ticks(panel.y, 5)
        widest = max((width_of(t.text, size, t.is_bold) for t in self._y_ticks), default=0.0)
        self.left = widest + 8 if widest else 4.0
        heading = fitted(panel.heading, cell, size * 1.1, True)
        self._above = [Text(0, 0, heading, size * 1.1, "ink", True)]
        y = _high(heading, size * 1.1) + (3 if heading else 0)
        # Names at the ends of lines need room; else they are a legend.
        is_direct = cell > 230 and len(panel.labels) * small * 1.2 < self.natural
        self._labels = panel.labels if is_direct else ()
        named = () if is_direct else [(word, style, "dots") for _, word, style in panel.labels]
        legend, high = _flow([*named, *panel.legend], 0, y, cell, small)
        self._above, y = [*self._above, *legend], y + high
        if panel.y.kind == "number" and panel.y.label:
            self._above.append(Text(0, y, fitted(panel.y.label, cell, small), small, "muted"))
            y += size * 1.6
        self.above = y + size * 1.7 * any(column.heading for column in panel.beside) + 2
        # The columns of words that fit: the widest yield.
        room = (cell - self.left) * (0.66 if panel.marks else 1.0)
        while (surplus := sum(sized) - room) > 0 and sized:
            if max(sized) > 110:
                sized[sized.index(max(sized))] = max(max(sized) - surplus, 110)
            else:
                sized.pop()
        self._beside = sized
        self._fit()

    def _fit(self) -> None:
        """The width of the marks: what labels, columns and words at their right leave."""
        panel, size, small = self.panel, self._size, self._small
        room = self._cell - self.left - sum(self._beside)
        self._ends = [fitted(word, self._cell * 0.3, small) for _, word, _ in self._labels]
        room -= max((width_of(word, small, True) + 9 for word in self._ends), default=0.0)
        fits = room - (2 if self._beside or panel.x.kind in ("none", "names") else 9)
        for mark in panel.marks if not panel.x.names else ():
            for x, word in zip(mark.x, mark.words, strict=False):
                share = panel.x.share(float(x)) if math.isfinite(x) else 0.0
                if mark.shift and share > 0.02:
                    fits = min(fits, (room - mark.shift - width_of(word, small)) / share)
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
        longest = max((width_of(t.text, size, t.is_bold) for t in self._x_ticks), default=0.0)
        self.under = (longest * 0.58 * self._is_turned + size + 7) * bool(self._x_ticks)
        self._corner = f"{_moment(panel.x.days[-1]):%Y}" if panel.x.days else ""
        self.under += size * 1.5 if panel.x.label or self._corner else 0

    def fits(self, height: float) -> bool:
        """Whether rows are as high as their text, and marks have room."""
        if self.panel.has_rows:
            return height >= abs(self.panel.y.high - self.panel.y.low) * self._size * 1.12
        return height >= min(70.0, self.panel.height * 0.6)

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
        for column, wide in zip(panel.beside, self._beside, strict=False):
            edge, side = at + (wide - 8) * (column.align == "right"), column.align
            heading = fitted(column.heading, wide - 8, small)
            texts.append(Text(edge, top - size * 1.6, heading, small, "muted", align=side))
            look = ("muted" if column.is_muted else "ink", column.is_bold, side)
            texts += [
                Text(edge, top + (row + 0.5) * pitch - size * 0.6,
                     fitted(column.words[row], wide - 8, size, column.is_bold), size, *look)
                for row in range(0, len(column.words), every)
            ]  # fmt: skip
            at += wide
        texts += self._direct(left + width + 6, top, height)
        for mark in panel.marks:
            texts += self._words(mark, width, height)
        return Box(left, top, max(width, 1.0), height, self._x_ticks, self._y_ticks[::every], size,
                   self._is_turned, tuple(text for text in texts if text.text))  # fmt: skip

    def _direct(self, x: float, top: float, height: float) -> Iterator[Text]:
        """The names of lines at their ends, moved apart where they would meet."""
        small, scale, labels = self._small, self.panel.y, self._labels
        pitch, y = small * 1.2, -math.inf
        order = sorted(range(len(labels)), key=lambda row: -scale.share(labels[row][0]))
        for left, row in zip(range(len(order), 0, -1), order, strict=True):
            value, name, style = labels[row]
            y = max(top + (1 - scale.share(value)) * height - small * 0.6, y + pitch)
            y = min(y, top + height - small - (left - 1) * pitch)
            yield Text(x, y, self._ends[row], small, style.key, name.endswith("(own)"))

    def _words(self, mark: Mark, width: float, height: float) -> Iterator[Text]:
        """The words of a mark, without their middles where they would be cut."""
        small, scale = self._small, self.panel.x
        if mark.strength is not None and height / len(self.panel.y.names) < small * 1.1:
            return  # numbers in cells that are lower than a line would meet
        columns = max(len(scale.names), 1)
        for at, word in enumerate(mark.words):
            x = float(scale.within(mark.x[at])[0])
            colour = mark.style.key if mark.strength is None else f"on/{mark.strength[at]}"
            if mark.shift:
                right = self.room - width * scale.share(x) - mark.shift + 1
                if scale.names:
                    # Words end before the next column begins; too little is worse than nothing.
                    right = width / columns * (1 - x % 1) - mark.shift - 4
                    word = word if min(width_of(word, small), 30) <= right else ""
                word = fitted(word, right, small)
            elif mark.strength is None:
                word = fitted(word, self._cell, small)
            yield Text(mark.shift, 0, word, small, colour, False,
                       "left" if mark.shift else "center", (x, float(mark.y[at])),
                       mark.has_paper)  # fmt: skip


# --- labels of scales -------------------------------------------------------------------------


def _named(scale: Scale, room: float, size: float, every: int = 1) -> tuple[Tick, ...]:
    """The names of a scale as they fit; whose one is stays."""
    ticks = []
    for at in range(0, len(scale.names), every):
        text, is_own = scale.names[at]
        ending = " (own)" * is_own
        text = fitted(text, room - width_of(ending, size, is_own), size, is_own)
        ticks.append(Tick(at, text + ending, is_own))
    return tuple(ticks) if any(tick.text for tick in ticks) else ()


def _x_ticks(scale: Scale, width: float, size: float) -> tuple[tuple[Tick, ...], bool]:
    """The labels below a panel, and whether they are turned."""
    if scale.kind == "none":
        return (), False
    if scale.kind == "names":
        # As many names of columns as have room, turned where they are long.
        names, pitch = scale.names, width / max(len(scale.names), 1)
        longest = max((width_of(name.text, size, name.is_own) for name in names), default=0.0)
        if longest + 2 <= pitch - 3:
            return _named(scale, pitch - 3, size), False
        is_turned = not scale.days
        every = math.ceil((size * 1.25 if is_turned else longest + 9) / pitch)
        return _named(scale, 84 if is_turned else longest + 9, size, max(every, 1)), is_turned
    for most in (9, 7, 6, 5, 4, 3, 2):
        ticks = _time_ticks(scale, most) if scale.kind == "time" else number_ticks(scale, most)
        ends = sorted((width * scale.share(t.at), width_of(t.text, size) / 2 + 4) for t in ticks)
        if all(a + half <= b - other for (a, half), (b, other) in pairwise(ends)):
            return ticks, False
    return ticks[:1], False


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
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [at * step for at in range(first, last + 1)]
    if is_rank:
        values = [1.0, *(value for value in values if value > 1 + step / 2)]
    return tuple(Tick(value, tick(value, scale.unit)) for value in values)


_STEPS = (
    *((f"{hours}h", hours / 24) for hours in (1, 2, 3, 6, 12)),
    *((f"{days}D", days) for days in (1, 2, 4, 7, 14)),
    *((f"{months}MS", months * 30.5) for months in (1, 2, 3, 6)),
    *((f"{years}YS", years * 365.2) for years in (1, 2, 5, 10)),
)
"""The steps between times, and how many days they have."""


def _moment(days: float) -> pd.Timestamp:
    return (pd.Timestamp(0) + pd.Timedelta(days=days)).round("min")


def _time_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Round hours, days, months or years, at most so many; a day always has its month."""
    low, high = sorted((scale.low, scale.high))
    freq = next((freq for freq, days in _STEPS if (high - low) / days <= most), _STEPS[-1][0])
    is_long = freq.endswith("S")
    moments: Sequence[pd.Timestamp] = [*map(_moment, scale.days)]
    if is_long or len(moments) >= most:
        first = _moment(low).ceil("D" if is_long else freq)
        moments = [*pd.date_range(first, _moment(high), freq=freq)]
    return tuple(
        Tick((when - pd.Timestamp(0)) / pd.Timedelta("1D"), f"{when:{form}}")
        for when in moments
        for form in [
            ("%Y" if when.month == 1 else "%b") if is_long
            else "%d %b" if when == when.normalize() else "%H:%M"
        ]
    )  # fmt: skip
