"""Compute the layout of a picture: all positions, in points from its upper left corner.

Texts are measured, so that labels neither overlap nor are cut. If there is not enough room, parts
are left out or made smaller, in this order: the subtitle, the size of text, the last parts of the
caption, columns of words, the middle of names, every second name below the marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise, zip_longest
from operator import itemgetter
from typing import NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.ticker import MaxNLocator

from aatoolkit._util.numbers import tick
from aatoolkit._util.text import capitalized, visible
from aatoolkit.display.plot.spec import Mark, Scale, Spec, WordColumn
from aatoolkit.display.plot.style import Style
from aatoolkit.sections.aggregation import RANK

# --- text: safe to draw, and how wide it is ---------------------------------------------------

_FALLBACKS = """\
Noto Sans, Noto Sans CJK JP, Noto Sans CJK SC, Noto Sans JP, Noto Sans SC, Source Han Sans, \
WenQuanYi Zen Hei, IPAGothic, NanumGothic, Droid Sans Fallback, PingFang SC, Malgun Gothic, \
Noto Sans Arabic, Noto Sans Hebrew, Hiragino Sans, Yu Gothic, Microsoft YaHei, Segoe UI Symbol, \
Arial Unicode MS"""
"""Fonts for scripts that the default fonts lack, if installed."""
_ROOM, _LONGEST = 1.03, 600
"""The factor of widths for kerning and rounding; how many letters of a text are measured."""


def families() -> tuple[str, ...]:
    """Return the names of the font families to draw with, the preferred one first."""
    return (*mpl.rcParams["font.family"], *_installed_fallbacks())


@lru_cache(maxsize=1)
def _installed_fallbacks() -> tuple[str, ...]:
    installed = {*font_manager.fontManager.get_font_names()}
    return tuple(name for name in _FALLBACKS.split(", ") if name in installed)


@lru_cache(maxsize=8)
def _fonts(names: tuple[str, ...], is_bold: bool) -> tuple[FT2Font, ...]:
    """Return new font objects to measure letters; matplotlib resizes its own when it draws."""
    weight = "bold" if is_bold else "normal"
    fonts = (font_manager.FontProperties(family=[name], weight=weight) for name in names)
    return tuple(FT2Font(font_manager.findfont(font)) for font in fonts)


@lru_cache(maxsize=4096)
def _advance(char: str, is_bold: bool, names: tuple[str, ...]) -> float:
    """Return the width of a letter at font size 1, or 0 if no font has the letter."""
    for font in _fonts(names, is_bold):
        if font.get_char_index(ord(char)):
            glyph = font.load_char(ord(char), flags=LoadFlags.NO_SCALE)
            return float(glyph.horiAdvance) / float(font.units_per_EM) or 0.01
    return 0.0


def _drawable(text: str) -> str:
    """Return a text in which a box replaces each character that no font has."""
    names = families()
    return "".join(
        char
        if char == "\n" or (_advance(char, False, names) and _advance(char, True, names))
        else "□"
        for char in visible(text).replace("…", "...")  # an ellipsis says that a text is cut
    )


def width_of(text: str, size: float, is_bold: bool = False) -> float:
    """Return the width in points of the longest line of a text."""
    names, lines = families(), text.split("\n")
    return size * _ROOM * max(sum(_advance(c, is_bold, names) for c in line) for line in lines)


def fitted(text: str, width: float, size: float, is_bold: bool = False) -> str:
    """Return a text, shortened to ``width`` points by an ellipsis in the middle."""
    text = _drawable(text[:_LONGEST])
    if not text or width_of(text, size, is_bold) <= width:
        return text
    for length in range(max(int(len(text) * width / width_of(text, size, is_bold)), 2), 2, -1):
        shortened = f"{text[: length - length // 2 - 1]}…{text[-(length // 2) :]}"
        if width_of(shortened, size, is_bold) <= width:
            return shortened
    return f"{text[:1]}…"


def _wrap(text: str, width: float, size: float, max_lines: int, is_bold: bool = False) -> str:
    """Return a text wrapped to at most ``max_lines`` lines of ``width`` points."""
    lines, fragments = [""], []
    for word in re.findall(r"\S+\s*", text[:_LONGEST]):
        is_wide = width_of(word.rstrip(), size, is_bold) > width
        fragments += re.findall("[^/.?&=_-]*[/.?&=_-]*", word) if is_wide else [word]
    for i, fragment in enumerate(fragments):
        if width_of((lines[-1] + fragment).rstrip(), size, is_bold) > width and lines[-1]:
            if len(lines) == max_lines:
                lines[-1] += "".join(fragments[i:])
                break
            lines.append("")
        lines[-1] += fragment
    return "\n".join(fitted(line.rstrip(), width, size, is_bold) for line in lines)


def _clauses(text: str, width: float, size: float, max_lines: int, is_bold: bool = False) -> str:
    """Return a text wrapped to at most ``max_lines`` lines; clauses that do not fit are cut."""
    wrapped = _wrap(text, width, size, max_lines, is_bold)
    shorter = re.sub("[,.] [^,.]*$", "", text[:_LONGEST])
    is_whole = "…" not in wrapped or shorter == text
    return wrapped if is_whole else _clauses(shorter, width, size, max_lines, is_bold)


# --- places -----------------------------------------------------------------------------------

WIDTH = 547.0
"""The usual width of a picture in points."""

MARGIN, _LINE = 9.0, 1.32
_SIZE, _SMALL = 9.0, 8.0
"""The size of text, and of small text such as the caption."""


class Text(NamedTuple):
    """A text to draw, with its position and size in points.

    ``x`` and ``y`` are its upper left corner, or its upper right corner if ``align`` is "right". If
    ``at`` is given, a point on the scales, the text begins ``x`` points right of this point.
    """

    x: float
    y: float
    text: str
    size: float
    colour: str = "ink"
    is_bold: bool = False
    align: str = "left"
    at: tuple[float, float] | None = None


class Tick(NamedTuple):
    """A tick label, at the position ``at`` on a scale."""

    at: float
    text: str
    is_bold: bool = False


class Layout(NamedTuple):
    """The positions of all parts of a picture, in points: the area of marks, ticks and texts.

    ``is_cut`` says whether names are shortened or would overlap.
    """

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
    rules: Sequence[float]
    is_cut: bool

    @property
    def zoom(self) -> float:
        """The factor by which lines and dots are scaled; text is scaled by the same factor."""
        return self.size / 9.0


def _title_and_subtitle(spec: Spec, width: float, size: float) -> tuple[str, str]:
    """Return the title in up to two lines of a width, and the subtitle."""
    for headline in (spec.headline, spec.headline.partition("; ")[0]):
        wrapped = _wrap(headline, width, size, 2, True)
        if wrapped and "…" not in wrapped:
            return wrapped, f"{spec.whole_title}, {spec.window}".removesuffix(", ")
    # A headline that would be cut says less than the title.
    return _clauses(spec.whole_title, width, size, 2, True), capitalized(spec.window)


def _legend(
    entries: Iterable[tuple[str, Style, str]], width: float, size: float, top: float
) -> Iterator[Text]:
    """Yield two texts for each entry of a legend, from ``top`` down: its symbol and its words."""
    x = 0.0
    for label, style, kind in entries:
        glyph = style.glyph(kind)
        sign_width = width_of(glyph, size * 1.1) + 4
        label = fitted(label, width - sign_width, size)
        entry_width = sign_width + width_of(label, size)
        if x and x + entry_width > width:
            x, top = 0.0, top + size * 1.55
        yield Text(MARGIN + x, top - size * 0.05, glyph, size * 1.1, style.key)
        yield Text(MARGIN + x + sign_width, top, label, size)
        x += entry_width + 12


class _Column(NamedTuple):
    """A column of words, with the width of its symbols and its total width, in points."""

    column: WordColumn
    sign_width: float
    width: float


def _fitting_columns(spec: Spec, is_table: bool, room: float, scale: float) -> list[_Column]:
    """Return the columns of words beside the marks that fit into ``room`` points."""
    names, columns = spec.y.names, [*spec.beside]
    has_names, size, small_size = any(name.text for name in names), _SIZE * scale, _SMALL * scale
    if is_table and has_names:
        columns.insert(0, WordColumn([name.full for name in names]))
    sign_widths = [(width_of("● ", small_size) + 1) * bool(column.signs) for column in columns]
    widths = [
        14 + max(width_of(column.heading, small_size),
                 sign_width + max(width_of(word, size, column.is_bold) for word in column.words))
        for column, sign_width in zip(columns, sign_widths, strict=True)
    ]  # fmt: skip
    room *= 1.0 if is_table else 0.66 if spec.x.kind == "number" else 0.8
    # If room is short, the last columns go first. Of rows without a name, those columns stay that
    # tell them apart, and words rather than numbers; bold columns stay longest.
    order = sorted(range(len(columns)), key=lambda i: (
        not columns[i].is_bold, i > 0, not has_names and columns[i].align == "right",
        has_names or (-len({*columns[i].words}), -widths[i]), i))  # fmt: skip

    def free_width(max_width: float) -> float:
        return room - sum(min(widths[i], max_width) for i in order)

    while free_width(min(110.0, room / 2.1 if is_table else room)) < 0:
        order.pop()
    widest = max((widths[i] for i in order), default=0.0)
    while free_width(widest) < 0:
        widest *= 0.97
    extra = min(free_width(widest) / max(len(order), 1), 4 * size) * is_table
    return [_Column(columns[i], sign_widths[i], min(widths[i], widest) + extra)
            for i in sorted(order)]  # fmt: skip


def _column_texts(
    columns: Sequence[_Column], cells: Sequence[Sequence[str]], layout: Layout
) -> Iterator[Text]:
    """Yield headings, symbols and texts of columns of words; ``cells`` are the wrapped texts."""
    size, small_size = layout.size, layout.size * _SMALL / _SIZE
    left = layout.left + layout.wide + 10 * bool(layout.wide)
    for (column, sign_width, width), texts in zip(columns, cells, strict=True):
        edge, align = left + (width - 10) * (column.align == "right"), column.align
        heading = fitted(column.heading, width - 10, small_size)
        yield Text(edge, layout.top - size * 1.7, heading, small_size, "muted", align=align)
        for row, text in enumerate(texts):
            middle = layout.top + (row + 0.5) * layout.high / len(texts)
            for style in filter(None, column.signs[row : row + 1]):
                glyph = style.glyph("dots")
                yield Text(edge, middle - small_size * 0.66, glyph, small_size * 1.1, style.key)
            y = middle - _height_of(text, size) / 2 + size * 0.06
            yield Text(edge + sign_width, y, text, size, "ink", column.is_bold, align)
        left += width


def _line_names(
    labels: Iterable[tuple[float, str, Style]], scale: Scale, layout: Layout
) -> Iterator[Text]:
    """Yield the name of each line as a text at its right end, shifted so that none overlap."""
    size, y = layout.size * _SMALL / _SIZE, -math.inf
    lines = sorted(labels, key=lambda label: -scale.share(label[0]))
    for count_below, (value, name, style) in zip(reversed(range(len(lines))), lines, strict=True):
        preferred = layout.top + (1 - scale.share(value)) * layout.high - size * 0.6
        lowest = layout.top + layout.high - size - count_below * size * 1.2
        y, is_own = min(max(preferred, y + size * 1.2), lowest), name.endswith("(own)")
        yield Text(layout.left + layout.wide + 6, y, name, size, style.key, is_own)


def _try_layout(
    spec: Spec, width: float, height: float | None, lines: int, scale: float
) -> tuple[Layout, bool]:
    """Return a layout whose text is scaled by ``scale``, and whether everything fits."""
    size = _SIZE * scale
    small = _SMALL * scale
    inner = width - 2 * MARGIN
    names, is_table = spec.y.names, bool(spec.y.names) and not spec.marks
    # Above: title, subtitle, legend, and the label of numbers. Names at the ends of lines need
    # room; else they are a legend.
    title_size = (9.5 if width <= 330 or (height or 999) <= 200 else 12.0) * scale
    headline, subtitle = _title_and_subtitle(spec, inner, title_size)
    title = Text(MARGIN, MARGIN, headline, title_size, "ink", True)
    top = MARGIN + _height_of(headline, title_size)
    how_to_read = f"{subtitle}. {spec.how}".strip(". ") * bool(lines)
    how_to_read = _clauses(how_to_read, inner, small, lines)
    how_to_read *= "…" not in how_to_read
    texts = [Text(MARGIN, top + 2, how_to_read, small, "muted")]
    top += (2 + _height_of(how_to_read, small)) * bool(how_to_read) + 7
    is_direct = inner > 230 and len(spec.labels) * small * 1.2 < spec.height
    labels = [(value, fitted(word, inner * 0.3, small), style)
              for value, word, style in spec.labels if is_direct]  # fmt: skip
    entries = [*((word, style, "dots") for _, word, style in spec.labels if not is_direct),
               *spec.legend]  # fmt: skip
    texts += _legend(entries, inner, small, top)
    top = texts[-1].y + small * 1.55 + 3 if entries else top
    texts.append(Text(MARGIN, top, fitted(spec.y.label, inner, small), small, "muted"))
    has_headings = any(column.heading for column in spec.beside)
    top += size * (1.6 * bool(spec.y.label) + 1.7 * has_headings) + 2
    # Left: names of rows, in several lines where rows are high, or round numbers. Without either,
    # there is still room for the first number below the marks.
    row_height = (height - top - 5 * size) / len(names) if height and names else math.inf
    row_lines = int(max(min(row_height / size / 1.25, 8 if height else 5), 1))
    # Beside names, marks and the numbers at their ends need room.
    widest = max((width_of(word, small) for mark in spec.marks for word in mark.words), default=0.0)
    names_width = min(inner * 0.45, 0.75 * inner - widest)
    row_names = [
        _wrap(name.full, names_width, size, row_lines, name.is_own)
        for name in names
        if not is_table
    ]
    y_ticks = tuple(
        Tick(at, text, names[at].is_own) for at, text in enumerate(row_names) if text
    ) or number_ticks(spec.y, 5)
    has_numbers = spec.x.kind not in ("none", "names")
    left = (
        max(
            (width_of(t.text, size, t.is_bold) for t in y_ticks),
            default=16.0 if has_numbers or spec.x.days else -8.0,
        )
        + MARGIN
        + 8
    )
    # Right: columns of words or names of lines, and the numbers at the ends of marks.
    right = inner + MARGIN - left
    columns = _fitting_columns(spec, is_table, max(right, 1.0), scale)
    right -= sum(column.width for column in columns)
    right -= max((width_of(word, small, True) + 9 for _, word, _ in labels), default=0.0)
    fitting = min((
        (right - mark.shift - width_of(word, small)) / share
        for mark in spec.marks if mark.shift and not spec.x.names
        for at, word in zip(mark.x, mark.words, strict=False)
        for share in [spec.x.share(float(at))] if 0.02 < share < math.inf
    ), default=right)  # fmt: skip
    fitting = min(fitting, right - (9 if has_numbers and not columns else 2))
    marks_width = max(fitting, 0.35 * right, 1.0) * bool(spec.marks)
    # Below: the names of columns or round numbers, the label, and the caption.
    # Turned names end below their column; their beginnings are below the names of rows.
    x_ticks, is_turned = _x_ticks(
        spec.x, marks_width, size, min(size * 16, (height or 999) * 0.45, left * 1.15)
    )
    longest = max((width_of(t.text, size, t.is_bold) for t in x_ticks), default=0.0)
    labels_height = (
        longest * 0.58 * is_turned
        + max((_height_of(t.text, size) for t in x_ticks), default=-5)
        + 5
    )
    labels_height += size * 1.5 * bool(spec.x.label)
    # The caption is not enlarged, because reasons would then not fit.
    caption, note_size = "", min(small, max(_SMALL, width / 70))
    # The caption says first how many rows and columns are left out, and what the subtitle did not.
    above = f"{headline} {how_to_read}".replace("\n", " ")
    column_count = len(spec.beside) + (is_table and names[0].text != "")
    lacks_columns = len(columns) < column_count
    notes = (
        spec.extent * (spec.extent not in above),
        f"{len(columns)} of {column_count} columns" * lacks_columns,
        spec.window * (spec.window not in above), *spec.caption,
    )  # fmt: skip
    for text in filter(None, notes):
        longer = f"{caption} · {text}" if caption else fitted(text, inner, note_size)
        caption = longer if width_of(longer, note_size) <= inner else caption
    height_below = labels_height + _height_of(caption, note_size) + (8 if caption else 2) + 5
    # Rows are as high as their words, or as a picture of a given height allows.
    cells = [[_wrap(word, room - 10 - sign, size, row_lines, column.is_bold)
              for word in column.words]
             for column, sign, room in columns]  # fmt: skip
    rows = zip_longest([t.text for t in y_ticks], *cells, fillvalue="")
    line_counts = [1 + max(text.count("\n") for text in texts_of_row) for texts_of_row in rows]
    most_lines = max(line_counts, default=1)
    total_height = height or top + spec.height * (0.6 + 0.4 * most_lines) + height_below
    marks_height = max(total_height - top - height_below, 12.0)
    if spec.x.kind == "none" and names:
        # A few rows of words stay together.
        marks_height = min(marks_height, max(1.8 * scale, most_lines * size / 15) * spec.height)
    label = fitted(spec.x.label, inner + MARGIN - left, small)
    texts.append(
        Text(left, top + marks_height + labels_height - size * 1.35, label, small, "muted")
    )
    rules = [top + row * marks_height / len(names) for row in range(len(names) + 1) if has_headings]
    caption_text = Text(
        MARGIN, total_height - height_below + labels_height + 8, caption, note_size, "muted"
    )
    least = min(70.0, spec.height * 0.6)
    if names:
        least = len(names) * size * max(1.5 * has_headings, 1.12 + 0.2 * lines, 1.16 * most_lines)
    has_height = not height or marks_height >= least
    drawn = [tick.text for tick in (*x_ticks, *y_ticks)]
    drawn += chain(*cells) if is_table and len(names) > 1 else ()
    is_cut = any("…" in text for text in drawn) or not has_height or (lacks_columns and scale > 1)
    layout = Layout(width, total_height, left, top, marks_width, marks_height, x_ticks, y_ticks,
                    size, is_turned, title, caption_text, texts, rules, is_cut)  # fmt: skip
    texts += chain(_column_texts(columns, cells, layout), _line_names(labels, spec.y, layout),
                   *(_mark_texts(mark, spec, layout, inner, right)
                     for mark in spec.marks))  # fmt: skip
    return layout, has_height and (not spec.marks or fitting >= 0.35 * right)


def _mark_texts(
    mark: Mark, spec: Spec, layout: Layout, inner: float, right: float
) -> Iterator[Text]:
    """Yield the texts of a mark (bars, dots or lines), shortened to fit."""
    size, scale, strength = layout.size * _SMALL / _SIZE, spec.x, mark.strength
    if strength is not None:
        widest = max((width_of(word, size) for word in mark.words), default=0.0)
        if layout.high / len(spec.y.names) < size * 1.1 or layout.wide / len(scale.names) < widest:
            return  # in smaller cells, numbers would touch
    for i, word in enumerate(mark.words):
        x = float(scale.within(mark.x[i])[0])
        colour = mark.style.key if strength is None else f"on/{strength[i]}"
        room = right - layout.wide * scale.share(x) - mark.shift + 1
        if strength is None:
            word = _wrap(word, room if mark.shift else inner, size, 1 if mark.shift else 4)
        if word:
            yield Text(mark.shift, 0, word, size, colour, False,
                       "left" if mark.shift else "center", (x, float(mark.y[i])))  # fmt: skip


def place(spec: Spec, width: float = WIDTH, height: float | None = None) -> Layout:
    """Compute the layout of a picture, ``width`` points wide and ``height`` points high."""
    # Text is larger on a large figure, because readers look at it from afar.
    largest = max(1.0, min(width / 720, (height or 0) / 430, 1.6))
    layouts = []
    # Each layout has fewer lines of the subtitle, or a smaller scale of text.
    for lines, scale in ((2, largest), (2, 1.0), (1, 1.0), (1, 0.82), (0, 0.82)):
        layout, has_room = _try_layout(spec, width, height, lines, scale)
        # Smaller text is better than names that are cut or turned, as long as it can be read.
        faults = scale * (not has_room), layout.is_cut and scale > 0.85, layout.is_turned
        layouts.append((faults, layout))
        if not any(faults):
            break
    return min(layouts, key=itemgetter(0))[1]


def _height_of(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LINE if text else 0.0


# --- labels of scales -------------------------------------------------------------------------


def _x_ticks(
    scale: Scale, width: float, size: float, max_width: float
) -> tuple[tuple[Tick, ...], bool]:
    """Return the tick labels below the area of marks, and whether they are rotated."""
    if scale.kind == "names" and not scale.days:
        # As many names of columns as have room; long names have two lines, or are turned.
        names, pitch = scale.names, width / max(len(scale.names), 1)
        labels = [_wrap(name.full, pitch - 6, size, 3, name.is_own) for name in names]
        is_turned, step = any("…" in label for label in labels), 1
        if is_turned:
            # Turned lines are closer to each other than columns are.
            step = math.ceil(2 * size / pitch)
            max_lines = int(max(min(pitch / size / 2, 3), 1))
            labels = [_wrap(name.full, max_width, size, max_lines, name.is_own) for name in names]
        ticks = tuple(Tick(at, text, names[at].is_own) for at, text in enumerate(labels))
        return ticks[::step], is_turned
    for max_ticks in range(9, 1, -1):
        ticks = _time_ticks(scale, max_ticks) if scale.days else number_ticks(scale, max_ticks)
        min_distance = max((width_of(t.text, size) for t in ticks), default=0.0) + 8
        positions = sorted(width * scale.share(t.at) for t in ticks)
        if all(right - left >= min_distance for left, right in pairwise(positions)):
            return ticks, False
    return ticks[:1], False


def number_ticks(scale: Scale, max_ticks: int) -> tuple[Tick, ...]:
    """Return about ``max_ticks`` ticks at round numbers; a scale of ranks begins at 1."""
    if scale.kind != "number":
        return ()
    (low, high), is_rank = sorted((scale.low, scale.high)), scale.unit == RANK
    locator = MaxNLocator(max_ticks, steps=[1, 2, 2.5, 5, 10], integer=scale.is_whole or is_rank)
    slack = (high - low) * 1e-6
    values = [float(n) for n in locator.tick_values(low, high) if low - slack <= n <= high + slack]
    if is_rank:
        values = [1.0, *(value for value in values if value > 1.5)]
    return tuple(Tick(value, tick(value, scale.unit)) for value in values)


def _time_ticks(scale: Scale, max_ticks: int) -> tuple[Tick, ...]:
    """Return at most ``max_ticks`` ticks at evenly spaced times, labelled by month, day or hour."""
    positions = scale.days if scale.kind == "time" else range(len(scale.days))
    moments = [(pd.Timestamp(0) + pd.Timedelta(days=day)).round("min") for day in scale.days]
    is_long = scale.days[-1] - scale.days[0] > 300
    # Hours are written only where several are on one day.
    is_daily = len({moment.date() for moment in moments}) == len(moments)
    return tuple(
        Tick(position, f"{moment:{pattern}}")
        for position, moment in [*zip(positions, moments, strict=True)][
            :: math.ceil(len(moments) / max_ticks)]
        for pattern in [
            "%b %Y" if is_long else "%d %b" if is_daily or moment == moment.normalize() else "%H:%M"
        ]
    )  # fmt: skip
