"""Where everything of a picture is, in points from its upper left corner, before it is drawn.

Text is measured, so that labels neither meet nor are cut. Where there is no room, what yields is,
in this order: the subtitle, the size of text, the share of labels, the caption, columns of words,
every second label.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.ticker import MaxNLocator

from aatoolkit._util.numbers import tick
from aatoolkit._util.text import visible
from aatoolkit.display.plot.spec import Mark, Scale, Spec
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
    """Safe text in lines of some points at most; its last clauses yield, then its middle."""
    lines = [""]
    for word in text.split():
        word = fitted(word, width, size, is_bold)
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, is_bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        shorter = re.sub("[,.] [^,.]*$", "", text[:_LONGEST])
        if shorter != text:
            return _wrapped(shorter, width, size, most, is_bold)
        lines[most - 1 :] = [fitted(" ".join(lines[most - 1 :]), width, size, is_bold)]
    return "\n".join(lines[:most])


# --- places -----------------------------------------------------------------------------------

WIDTH = 547.0
"""The usual width of a picture in points."""

_MARGIN, _LINE = 9.0, 1.32


class Text(NamedTuple):
    """A text at its upper left corner, or its upper right one.

    With ``at`` it is beside a point of the panel: so far right of it, at the height of its middle.
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


class Layout(NamedTuple):
    """A picture laid out: its size, the area of its marks, and all texts that have room."""

    spec: Spec
    width: float
    height: float
    left: float
    top: float
    wide: float
    high: float
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    size: float
    is_turned: bool
    title: Text
    caption: Text
    texts: list[Text]

    @property
    def zoom(self) -> float:
        """The factor by which lines and dots grow or shrink, like the text."""
        return self.size / 9.0


def _attempt(
    spec: Spec, width: float, height: float | None, lines: int, scale: float, share: float,
    has_caption: bool,
) -> tuple[Layout, bool]:  # fmt: skip
    """Place a picture, and say whether it has room.

    What yields: lines of the subtitle, the size of text, the share of labels, the caption.
    """
    size, small, cell = 9.0 * scale, 8.0 * scale, width - 2 * _MARGIN
    texts: list[Text] = []
    # Above: title, subtitle, legend, and the label of numbers.
    large = (9.5 if width <= 330 or (height or 999) <= 200 else 12.0) * max(scale, 0.8)
    most, how = 2 if scale >= 1 else 1, f"{spec.title}. {spec.how}".removesuffix(". ")
    words = _wrapped(spec.headline, cell, large, most, True)
    if not words or words.replace("\n", " ") != _safe(spec.headline):
        # A result that would be cut says less than what is shown.
        words = _wrapped(spec.title, cell, large, 2 if scale > 0.6 else 1, True)
        how = spec.how
    title, top = Text(_MARGIN, _MARGIN, words, large, "ink", True), _MARGIN + _high(words, large)
    how = _wrapped(how, cell, small, lines)
    if how and "…" not in how:
        texts.append(Text(_MARGIN, top + 2, how, small, "muted"))
        top += 2 + _high(how, small)
    # Names at the ends of lines need room; else they are a legend.
    is_direct = cell > 230 and len(spec.labels) * small * 1.2 < spec.height
    labels = spec.labels if is_direct else ()
    named = [] if is_direct else [(word, style, "dots") for _, word, style in spec.labels]
    x, top = 0.0, top + 7
    for words, style, kind in (legend := [*named, *spec.legend]):
        glyph = style.glyph(kind)
        sign = width_of(glyph, small * 1.1) + (4 if words else 0)
        words = fitted(words, cell - sign, small)
        wide = sign + width_of(words, small)
        if x and x + wide > cell:
            x, top = 0.0, top + small * 1.55
        texts.append(Text(_MARGIN + x, top - small * 0.05, glyph, small * 1.1, style.key))
        texts.append(Text(_MARGIN + x + sign, top, words, small))
        x += wide + (12 if words else 0)
    top += (small * 1.55 + 3) * bool(legend)
    if spec.y.kind == "number" and spec.y.label:
        texts.append(Text(_MARGIN, top, fitted(spec.y.label, cell, small), small, "muted"))
        top += size * 1.6
    top += size * 1.7 * any(column.heading for column in spec.beside) + 2
    # Left: names of rows; beside words alone they have all the room that the words leave.
    sized = [
        12 + max(width_of(column.heading, small),
                 *(width_of(word, size, column.is_bold) for word in column.words))
        for column in spec.beside
    ]  # fmt: skip
    room = cell * share if spec.marks else max(cell - sum(sized) - 8, cell * 0.4)
    y_ticks = _named(spec.y, room, size) or number_ticks(spec.y, 5)
    # Without names of rows, round numbers below begin inside of the picture.
    none = -4.0 if spec.x.kind in ("none", "names") else 16.0
    left = max((width_of(t.text, size, t.is_bold) for t in y_ticks), default=none) + _MARGIN + 8
    # Right: the columns of words that fit, of which the widest yield, then the last but bold
    # ones; or the names of lines.
    room = max(cell + _MARGIN - left, 1.0) * (0.66 if spec.marks else 1.0)
    least = 110.0 if spec.marks else min(110.0, room / 2.1)
    columns = [*spec.beside]
    while sum(min(wide, least) for wide in sized) > room:
        last = max(range(len(sized)), key=lambda at: (not columns[at].is_bold, at))
        del columns[last], sized[last]
    widest = max(sized, default=0.0)
    while sum(min(wide, widest) for wide in sized) > room:
        widest *= 0.97
    sized = [min(wide, widest) for wide in sized]
    right = cell + _MARGIN - left - sum(sized)
    ends = [fitted(word, cell * 0.3, small) for _, word, _ in labels]
    right -= max((width_of(word, small, True) + 9 for word in ends), default=0.0)
    fits = right - (2 if sized or spec.x.kind in ("none", "names") else 9)
    for mark in spec.marks if not spec.x.names else ():
        for at, word in zip(mark.x, mark.words, strict=False):
            part = spec.x.share(float(at)) if math.isfinite(at) else 0.0
            if mark.shift and part > 0.02:
                fits = min(fits, (right - mark.shift - width_of(word, small)) / part)
    wide = max(fits, 0.35 * right, 1.0) * bool(spec.marks)
    if spec.x.kind == "none" and spec.x.names:
        spec = _columns_with_room(spec, wide, small)
    # Below: the names of columns or round numbers, the label, and the caption.
    x_ticks, is_turned = _x_ticks(spec.x, wide, size)
    if is_turned:
        # Turned names end below their column, and begin inside of the picture.
        reach = (left - _MARGIN + wide * spec.x.share(t.at) for t in x_ticks)
        x_ticks = tuple(
            t._replace(text=fitted(t.text, room / 0.82, size, t.is_bold))
            for t, room in zip(x_ticks, reach, strict=True)
        )
    longest = max((width_of(t.text, size, t.is_bold) for t in x_ticks), default=0.0)
    under = (longest * 0.58 * is_turned + size + 7) * bool(x_ticks)
    under += size * 1.5 * bool(spec.x.label)
    caption = ""
    for text in spec.caption if has_caption else ():
        longer = f"{caption} · {text}" if caption else fitted(text, cell, small)
        caption = longer if width_of(longer, small) <= cell else caption
    below = under + _high(caption, small) + (8 if caption else 2) + 5
    tall = height or top + spec.height + below
    high = max(tall - top - below, 12.0)
    if spec.x.kind == "none" and spec.has_rows:
        high = min(high, 1.8 * scale * spec.height)  # a few rows of words stay together
    label = fitted(spec.x.label, cell + _MARGIN - left, small)
    texts.append(Text(left, top + high + under - size * 1.35, label, small, "muted"))
    # In all: names of rows and words beside them as far as they have room.
    pitch, at = high / abs(spec.y.high - spec.y.low), left + wide + 10 * bool(wide)
    every = max(1, math.ceil(size * 1.05 / pitch)) if spec.has_rows else 1
    for column, room in zip(columns, sized, strict=True):
        edge = at + (room - 8) * (column.align == "right")
        heading = fitted(column.heading, room - 8, small)
        texts.append(Text(edge, top - size * 1.6, heading, small, "muted", align=column.align))
        look = ("muted" if column.is_muted else "ink", column.is_bold, column.align)
        texts += [
            Text(edge, top + (row + 0.5) * pitch - size * 0.6,
                 fitted(column.words[row], room - 8, size, column.is_bold), size, *look)
            for row in range(0, len(column.words), every)
        ]  # fmt: skip
        at += room
    # The names of lines at their ends, moved apart where they would meet.
    order, y = sorted(range(len(labels)), key=lambda row: -spec.y.share(labels[row][0])), -math.inf
    for after, row in zip(reversed(range(len(order))), order, strict=True):
        value, name, style = labels[row]
        y = max(top + (1 - spec.y.share(value)) * high - small * 0.6, y + small * 1.2)
        y = min(y, top + high - small - after * small * 1.2)
        is_own = name.endswith("(own)")
        texts.append(Text(left + wide + 6, y, ends[row], small, style.key, is_own))
    for mark in spec.marks:
        texts += _words(mark, spec, small, (cell, right, wide, high), every)
    texts = [text for text in texts if text.text]
    ending = Text(_MARGIN, tall - below + under + 8, caption, small, "muted")
    least = min(70.0, spec.height * 0.6)
    if spec.has_rows:
        least = abs(spec.y.high - spec.y.low) * size * (1.12 + 0.2 * lines)
    layout = Layout(spec, width, tall, left, top, wide, high, x_ticks, y_ticks[::every], size,
                    is_turned, title, ending, texts)  # fmt: skip
    return layout, (not height or high >= least) and (not spec.marks or fits >= 0.35 * right)


def _words(
    mark: Mark, spec: Spec, small: float, room_of: tuple[float, float, float, float], every: int
) -> Iterator[Text]:
    """The words of a mark in every so many rows, without their middles where they would be cut."""
    (cell, right, wide, high), scale, strength = room_of, spec.x, mark.strength
    if strength is not None:
        most = max((width_of(word, small) for word in mark.words), default=0.0)
        if high / len(spec.y.names) < small * 1.1 or wide / len(scale.names) < most:
            return  # numbers in cells that are lower or narrower than these would meet
    shift = mark.shift if strength is None else 0.0
    for at, word in enumerate(mark.words):
        x = float(scale.within(mark.x[at])[0])
        if math.isnan(x) or int(max(mark.y[at], 0)) % every:
            continue
        colour = mark.style.key if strength is None else f"on/{strength[at]}"
        room = right - wide * scale.share(x) - shift + 1
        if scale.names and shift:
            room = wide / len(scale.names) * (1 - x % 1) - shift - 4
        if strength is None:
            word = fitted(word, room if shift else cell, small)
        yield Text(shift, 0, word, small, colour, False, "left" if shift else "center",
                   (x, float(mark.y[at])), mark.has_paper)  # fmt: skip


def _columns_with_room(spec: Spec, wide: float, small: float) -> Spec:
    """Drop the last columns of words that have no room in the panel."""
    count = min(len(spec.x.names), max(1, int(wide / small / 11)))
    marks = [replace(mark, x=np.where(mark.x < count, mark.x, np.nan)) for mark in spec.marks]
    return replace(spec, marks=marks, x=replace(spec.x, high=count, names=spec.x.names[:count]))


_EASES = (
    (2, 1.0, 0.42, True), (1, 1.0, 0.42, True), (1, 0.88, 0.38, True), (0, 0.82, 0.36, True),
    (0, 0.75, 0.34, False), (0, 0.6, 0.3, False),
)  # fmt: skip


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Layout:
    """Place a picture in a width, and a height if there is one."""
    # On a large figure, which is looked at from afar, text is larger.
    large = max(1.0, min(width / 720, (height or 0) / 430, 1.6))
    for ease in ((2, large, 0.42, True), *_EASES):
        layout, fits = _attempt(spec, width, height, *ease)
        if fits:
            break
    return layout


def _high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LINE if text else 0.0


# --- labels of scales -------------------------------------------------------------------------


def _named(scale: Scale, room: float, size: float, every: int = 1) -> tuple[Tick, ...]:
    """Ticks with a scale's names, cut to the room; the ending "(own)" is never cut."""
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
        if longest + 5 <= pitch:
            return _named(scale, pitch - 3, size), False
        is_turned = not scale.days
        every = math.ceil((size * 1.25 if is_turned else longest + 9) / pitch)
        return _named(scale, size * 9.3 if is_turned else longest + 9, size, every), is_turned
    for most in (9, 7, 6, 5, 4, 3, 2):
        ticks = _time_ticks(scale, most) if scale.kind == "time" else number_ticks(scale, most)
        ends = sorted((width * scale.share(t.at), width_of(t.text, size) / 2 + 4) for t in ticks)
        if all(a + half <= b - other for (a, half), (b, other) in pairwise(ends)):
            return ticks, False
    return ticks[:1], False


def number_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Ticks at round numbers between the ends; for ranks whole numbers and the first rank."""
    if scale.kind != "number":
        return ()
    (low, high), is_rank = sorted((scale.low, scale.high)), scale.unit == RANK and scale.low > 0
    steps = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=scale.is_whole or is_rank)
    room = (high - low) * 1e-6
    values = [float(n) for n in steps.tick_values(low, high) if low - room <= n <= high + room]
    if is_rank:
        values = [1.0, *(value for value in values if value > 1.5)]
    return tuple(Tick(value, tick(value, scale.unit)) for value in values)


_STEPS = (
    *((f"{hours}h", hours / 24) for hours in (1, 2, 3, 6, 12)),
    *((f"{days}D", days) for days in (1, 2, 4, 7, 14)),
    *((f"{months}MS", months * 30.5) for months in (1, 2, 3, 6)),
    *((f"{years}YS", years * 365.2) for years in (1, 2, 5, 10)),
)
"""The steps between times, and how many days they have."""


def _time_ticks(scale: Scale, most: int) -> tuple[Tick, ...]:
    """Ticks at round hours, days, months or years; a day always has its month."""

    def moment(days: float) -> pd.Timestamp:
        return (pd.Timestamp(0) + pd.Timedelta(days=days)).round("min")

    days = scale.high - scale.low
    freq = next((freq for freq, step in _STEPS if days / step <= most), _STEPS[-1][0])
    is_long = freq.endswith("S")
    moments = [*map(moment, scale.days)]
    if is_long or len(moments) >= most:
        # Steps of days begin at the first mark, so that those of weeks are at marks too.
        start = moments[0] if freq.endswith("D") else moment(scale.low)
        first = start.ceil(freq if freq.endswith("h") else "D")
        moments = [*pd.date_range(first, moment(scale.high), freq=freq)]
    return tuple(
        Tick((when - pd.Timestamp(0)) / pd.Timedelta("1D"), f"{when:{form}}")
        for when in moments
        for form in [
            ("%Y" if when.month == 1 else "%b") if is_long
            else "%d %b" if when == when.normalize() else "%H:%M"
        ]
    )  # fmt: skip
