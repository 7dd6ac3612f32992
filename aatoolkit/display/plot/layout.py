"""Compute the layout of a picture: all positions, in points from its upper left corner.

Texts are measured, so that labels neither overlap nor are cut. If there is not enough room, parts
are left out or made smaller, in this order: the subtitle, the size of text, the last parts of the
caption, columns of words, the middle of names, every second name below the marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.ticker import MaxNLocator

from aatoolkit._util.numbers import format_tick
from aatoolkit._util.text import capitalize, visible
from aatoolkit.display.plot.spec import Mark, Scale, Spec, TextColumn, to_floats
from aatoolkit.display.plot.style import Style
from aatoolkit.sections.aggregation import RANK

# --- text: safe to draw, and how wide it is ---------------------------------------------------

_FALLBACK_FONTS = """\
Noto Sans, Noto Sans CJK JP, Noto Sans CJK SC, Noto Sans JP, Noto Sans SC, Source Han Sans, \
WenQuanYi Zen Hei, IPAGothic, NanumGothic, Droid Sans Fallback, PingFang SC, Malgun Gothic, \
Noto Sans Arabic, Noto Sans Hebrew, Hiragino Sans, Yu Gothic, Microsoft YaHei, Segoe UI Symbol, \
Arial Unicode MS"""
"""The names of fonts for scripts that the default fonts lack; they are used if installed."""
_MEASURED_WIDTH_FACTOR = 1.03
"""The factor by which measured widths are enlarged, to allow for kerning and rounding."""
_MAX_TEXT_LENGTH = 600
"""The maximum number of letters of a text; the others are cut off before it is measured."""


def font_families() -> tuple[str, ...]:
    """Return the names of the font families to draw with, the preferred one first."""
    return (*mpl.rcParams["font.family"], *_find_fallback_fonts())


@lru_cache(maxsize=1)
def _find_fallback_fonts() -> tuple[str, ...]:
    """Return the names of those fallback fonts that are installed."""
    installed_fonts = {*font_manager.fontManager.get_font_names()}
    return tuple(name for name in _FALLBACK_FONTS.split(", ") if name in installed_fonts)


@lru_cache(maxsize=8)
def _fonts_to_measure(font_names: tuple[str, ...], is_bold: bool) -> tuple[FT2Font, ...]:
    """Return the fonts with the names ``font_names``, to measure letters.

    The font objects are new, because matplotlib resizes its own when it draws.
    """
    weight = "bold" if is_bold else "normal"
    fonts = (font_manager.FontProperties(family=[name], weight=weight) for name in font_names)
    return tuple(FT2Font(font_manager.findfont(font)) for font in fonts)


@lru_cache(maxsize=4096)
def _letter_width(letter: str, is_bold: bool, font_names: tuple[str, ...]) -> float:
    """Return the width of a letter at font size 1, or 0 if none of the fonts has the letter."""
    for font in _fonts_to_measure(font_names, is_bold):
        if font.get_char_index(ord(letter)):
            glyph = font.load_char(ord(letter), flags=LoadFlags.NO_SCALE)
            return float(glyph.horiAdvance) / float(font.units_per_EM) or 0.01
    return 0.0


def _with_drawable_letters(text: str) -> str:
    """Replace each character of a text that no font has by a box."""
    font_names = font_families()
    return "".join(
        letter
        if letter == "\n"
        or (_letter_width(letter, False, font_names) and _letter_width(letter, True, font_names))
        else "□"
        for letter in visible(text).replace("…", "...")  # an ellipsis says that a text is cut
    )


def measure_width(text: str, font_size: float, is_bold: bool = False) -> float:
    """Return the width in points of the longest line of a text."""
    font_names = font_families()
    lines = text.split("\n")
    return (
        font_size
        * _MEASURED_WIDTH_FACTOR
        * max(sum(_letter_width(letter, is_bold, font_names) for letter in line) for line in lines)
    )


def shorten(text: str, width: float, font_size: float, is_bold: bool = False) -> str:
    """Shorten a text to ``width`` points; an ellipsis replaces letters in its middle.

    Letters that no font has become boxes.
    """
    text = _with_drawable_letters(text[:_MAX_TEXT_LENGTH])
    if not text or measure_width(text, font_size, is_bold) <= width:
        return text
    for length in range(
        max(int(len(text) * width / measure_width(text, font_size, is_bold)), 2), 2, -1
    ):
        short_text = f"{text[: length - length // 2 - 1]}…{text[-(length // 2) :]}"
        if measure_width(short_text, font_size, is_bold) <= width:
            return short_text
    return f"{text[:1]}…"


def _wrap_text(
    text: str, width: float, font_size: float, max_lines: int, is_bold: bool = False
) -> str:
    """Return a text wrapped to at most ``max_lines`` lines of ``width`` points.

    If the text is longer, its last line has an ellipsis. Long words may break after marks such as
    ``/`` and ``-``.
    """
    lines = [""]
    breakable_parts = []
    for word in re.findall(r"\S+(?: pp\S*)?\s*", text[:_MAX_TEXT_LENGTH]):
        is_wide = measure_width(word.rstrip(), font_size, is_bold) > width
        breakable_parts += re.findall("[^/.?&=_-]*[/.?&=_-]*", word) if is_wide else [word]
    for i, breakable_part in enumerate(breakable_parts):
        if (
            measure_width((lines[-1] + breakable_part).rstrip(), font_size, is_bold) > width
            and lines[-1]
        ):
            if len(lines) == max_lines:
                lines[-1] += "".join(breakable_parts[i:])
                break
            lines.append("")
        lines[-1] += breakable_part
    return "\n".join(shorten(line.rstrip(), width, font_size, is_bold) for line in lines)


def _drop_last_clauses(
    text: str, width: float, font_size: float, max_lines: int, is_bold: bool = False
) -> str:
    """Return a text wrapped to at most ``max_lines`` lines; the last clauses are cut if need be.

    A clause begins after a comma or a full stop.
    """
    wrapped_text = _wrap_text(text, width, font_size, max_lines, is_bold)
    shorter_text = re.sub("[,.] [^,.]*$", "", text[:_MAX_TEXT_LENGTH])
    if "…" not in wrapped_text or shorter_text == text:
        return wrapped_text
    return _drop_last_clauses(shorter_text, width, font_size, max_lines, is_bold)


# --- places -----------------------------------------------------------------------------------

PICTURE_WIDTH = 547.0
"""The usual width of a picture in points."""

MARGIN = 9.0
"""The width in points of the empty margin around a picture."""
_LINE_HEIGHT = 1.32
"""The height of a line of text, divided by its font size."""
_FONT_SIZE = 9.0
_SMALL_FONT_SIZE = 8.0
"""The font sizes of text, and of small text such as the caption, in points."""


class PlacedText(NamedTuple):
    """A text to draw, with its position and font size in points.

    ``x`` and ``y`` are the distances of its upper left corner from the left and the top of the
    picture; if ``align`` is "right", they are those of its upper right corner. If there is an
    ``anchor_point``, which is in units of the scales, the text begins ``x`` points right of it.
    """

    x: float
    y: float
    text: str
    font_size: float
    colour: str = "ink"
    is_bold: bool = False
    align: str = "left"
    anchor_point: tuple[float, float] | None = None


class Tick(NamedTuple):
    """A tick label; ``position`` is in units of the scale."""

    position: float
    text: str
    is_bold: bool = False


class Layout(NamedTuple):
    """The positions of all parts of a picture, in points from its upper left corner.

    - ``marks_left``, ``marks_top``, ``marks_width``, ``marks_height``: the area of the marks.
    - ``font_size``: the size of text; small text is smaller in proportion.
    - ``has_rotated_labels``: whether the labels below the area of marks are rotated.
    - ``separator_positions``: the distances of horizontal lines from the top.
    - ``has_shortened_names``: whether names are shortened.
    - ``has_enough_height``: whether rows do not overlap.
    """

    width: float
    height: float
    marks_left: float
    marks_top: float
    marks_width: float
    marks_height: float
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    font_size: float
    has_rotated_labels: bool
    title: PlacedText
    caption: PlacedText
    texts: list[PlacedText]
    separator_positions: Sequence[float]
    has_shortened_names: bool
    has_enough_height: bool

    @property
    def text_scale(self) -> float:
        """The factor by which text, lines and dots are larger than usual."""
        return self.font_size / 9.0


def _fit_title(spec: Spec, width: float, font_size: float) -> tuple[str, str]:
    """Return the title, in up to two lines that are ``width`` points wide, and what goes below it.

    The title is the headline if the picture has one that fits.
    """
    for headline in (spec.headline, spec.headline.partition("; ")[0]):
        wrapped_headline = _wrap_text(headline, width, font_size, 2, True)
        if wrapped_headline and "…" not in wrapped_headline:
            return wrapped_headline, spec.title_with_extent
    # A headline that would be cut says less than the title.
    return _drop_last_clauses(spec.title_with_extent, width, font_size, 2, True), ""


def _fit_subtitle(
    spec: Spec, subtitle: str, width: float, font_size: float, max_lines: int
) -> str:  # fmt: skip
    """Return the subtitle in up to ``max_lines`` lines, with the note on how to read the picture.

    If room is short, the days, which the caption can say, go before the first clause of the note.
    """
    if not max_lines:
        return ""
    for window_part, note_part in (
        (spec.window_text, spec.reading_note), ("", spec.reading_note), (spec.window_text, "")
    ):  # fmt: skip
        words = capitalize(f"{subtitle}, {window_part}".strip(", "))
        text = _drop_last_clauses(f"{words}. {note_part}".strip(". "), width, font_size, max_lines)
        if "…" not in text and re.split("[,.] ", note_part)[0] in text.replace("\n", " "):
            return text
    return ""


def _place_legend(
    entries: Iterable[tuple[str, Style, str]], width: float, font_size: float, line_top: float
) -> Iterator[PlacedText]:
    """Yield two texts for each entry of a legend: its symbol, and its label.

    ``entries`` have the label, the style and the kind of mark. ``line_top`` is the position of the
    first line of the legend in points from the top.
    """
    entry_x = 0.0
    for label, style, mark_kind in entries:
        glyph = style.glyph(mark_kind)
        symbol_width = measure_width(glyph, font_size * 1.1) + 4
        label = shorten(label, width - symbol_width, font_size)
        entry_width = symbol_width + measure_width(label, font_size)
        if entry_x and entry_x + entry_width > width:
            entry_x = 0.0
            line_top += font_size * 1.55
        yield PlacedText(
            MARGIN + entry_x, line_top - font_size * 0.05, glyph, font_size * 1.1, style.colour_key
        )
        yield PlacedText(MARGIN + entry_x + symbol_width, line_top, label, font_size)
        entry_x += entry_width + 12


class _MeasuredColumn(NamedTuple):
    """A column of texts, with the width of its symbols and its total width, in points."""

    column: TextColumn
    symbol_width: float
    width: float


def _choose_fitting_columns(
    spec: Spec, is_table: bool, available_width: float, text_scale: float
) -> list[_MeasuredColumn]:
    """Return the columns of texts beside the marks, as far as ``available_width`` has room."""
    row_names = spec.y.category_names
    columns = [*spec.text_columns]
    has_names = any(name.text for name in row_names)
    font_size = _FONT_SIZE * text_scale
    small_font_size = _SMALL_FONT_SIZE * text_scale
    if is_table and has_names:
        columns.insert(0, TextColumn([name.full_text for name in row_names]))
    symbol_widths = [
        (measure_width("● ", small_font_size) + 1) * bool(column.symbol_styles)
        for column in columns
    ]
    available_width *= 1.0 if is_table else 0.66 if spec.x.kind == "number" else 0.8
    # A heading has several lines if its column is narrow.
    column_widths = [
        14 + max(measure_width(column.heading.replace(" ", "\n"), small_font_size),
                 symbol_width + max(measure_width(cell_text, font_size, column.is_bold)
                                    for cell_text in column.texts))
        for column, symbol_width in zip(columns, symbol_widths, strict=True)
    ]  # fmt: skip
    # If room is short, the last columns go first. Of rows without a name, those columns stay that
    # tell them apart, and words rather than numbers; bold columns stay longest.
    kept_indices = sorted(range(len(columns)), key=lambda i: (
        not columns[i].is_bold, i > 0, not has_names and columns[i].align == "right",
        has_names or (-len({*columns[i].texts} - {"–"}), -column_widths[i]), i))  # fmt: skip

    def free_width(max_width: float) -> float:
        return available_width - sum(min(column_widths[i], max_width) for i in kept_indices)

    while free_width(min(110.0, available_width / 2.1 if is_table else available_width)) < 0:
        kept_indices.pop()
    width_limit = max((column_widths[i] for i in kept_indices), default=0.0)
    while free_width(width_limit) < 0:
        width_limit *= 0.97
    extra_width = min(free_width(width_limit) / max(len(kept_indices), 1), 4 * font_size) * is_table
    measured_columns = []
    for i in sorted(kept_indices):
        width = min(column_widths[i], width_limit) + extra_width
        column = replace(
            columns[i], heading=_wrap_text(columns[i].heading, width - 10, small_font_size, 4)
        )
        measured_columns.append(_MeasuredColumn(column, symbol_widths[i], width))
    return measured_columns


def _place_column_texts(
    columns: Sequence[_MeasuredColumn], cells: Sequence[Sequence[str]], layout: Layout
) -> Iterator[PlacedText]:
    """Yield the texts of the columns beside bars or points: their headings, symbols and cells.

    ``cells`` has, for each column, the wrapped text of each row.
    """
    font_size = layout.font_size
    small_font_size = layout.font_size * _SMALL_FONT_SIZE / _FONT_SIZE
    column_left = layout.marks_left + layout.marks_width + 10 * bool(layout.marks_width)
    for (column, symbol_width, column_width), cell_texts in zip(columns, cells, strict=True):
        align = column.align
        x = column_left + (column_width - 10) * (align == "right")
        heading = column.heading
        heading_y = layout.marks_top - _measure_height(heading, small_font_size) - font_size * 0.5
        yield PlacedText(x, heading_y, heading, small_font_size, "muted", align=align)
        for row, cell_text in enumerate(cell_texts):
            row_y = layout.marks_top + (row + 0.5) * layout.marks_height / len(cell_texts)
            for style in filter(None, column.symbol_styles[row : row + 1]):
                glyph = style.glyph("dots")
                yield PlacedText(
                    x,
                    row_y - small_font_size * 0.66,
                    glyph,
                    small_font_size * 1.1,
                    style.colour_key,
                )
            y = row_y - _measure_height(cell_text, font_size) / 2 + font_size * 0.06
            yield PlacedText(
                x + symbol_width, y, cell_text, font_size, "ink", column.is_bold, align
            )
        column_left += column_width


def _place_line_names(
    line_labels: Iterable[tuple[float, str, Style]], scale: Scale, layout: Layout
) -> Iterator[PlacedText]:
    """Yield the name of each line of a line chart, to the right of the end of the line.

    ``line_labels`` have the value at the end of the line, the name and the style. Names are shifted
    up or down so that none overlap.
    """
    font_size = layout.font_size * _SMALL_FONT_SIZE / _FONT_SIZE
    y = -math.inf
    sorted_labels = sorted(line_labels, key=lambda label: -scale.to_fraction(label[0]))
    for line_count_below, (value, name, style) in zip(
        reversed(range(len(sorted_labels))), sorted_labels, strict=True
    ):
        marks_bottom = layout.marks_top + layout.marks_height
        best_y = marks_bottom - scale.to_fraction(value) * layout.marks_height - font_size * 0.6
        max_y = marks_bottom - font_size - line_count_below * font_size * 1.2
        y = min(max(best_y, y + font_size * 1.2), max_y)
        yield PlacedText(
            layout.marks_left + layout.marks_width + 6,
            y,
            name,
            font_size,
            style.colour_key,
            name.endswith("(own)"),
        )


def _try_layout(
    spec: Spec,
    width: float,
    height: float | None,
    max_subtitle_lines: int,
    text_scale: float,
    max_caption_lines: int = 1,
) -> tuple[Layout, bool]:
    """Return a layout whose text is scaled by ``text_scale``, and whether everything fits."""
    font_size = _FONT_SIZE * text_scale
    small_font_size = _SMALL_FONT_SIZE * text_scale
    inner_width = width - 2 * MARGIN
    row_names = spec.y.category_names
    is_table = bool(spec.y.category_names) and not spec.marks
    # Above: title, subtitle, legend, and the label of numbers. Names at the ends of lines need
    # room; else they are a legend.
    title_font_size = (9.5 if width <= 330 or (height or 999) <= 200 else 12.0) * text_scale
    headline, subtitle = _fit_title(spec, inner_width, title_font_size)
    title = PlacedText(MARGIN, MARGIN, headline, title_font_size, "ink", True)
    marks_top = MARGIN + _measure_height(headline, title_font_size)
    full_subtitle = _fit_subtitle(
        spec, subtitle, inner_width, small_font_size, max_subtitle_lines
    )  # fmt: skip
    texts = [PlacedText(MARGIN, marks_top + 2, full_subtitle, small_font_size, "muted")]
    marks_top += (2 + _measure_height(full_subtitle, small_font_size)) * bool(full_subtitle) + 7
    has_line_names = (
        inner_width > 230 and len(spec.line_labels) * small_font_size * 1.2 < spec.height
    )
    line_labels = [(value, shorten(line_name, inner_width * 0.3, small_font_size), style)
                   for value, line_name, style in spec.line_labels
                   if has_line_names]  # fmt: skip
    legend_entries = [*((line_name, style, "dots") for _, line_name, style in spec.line_labels
                        if not has_line_names), *spec.legend]  # fmt: skip
    texts += _place_legend(legend_entries, inner_width, small_font_size, marks_top)
    marks_top = texts[-1].y + small_font_size * 1.55 + 3 if legend_entries else marks_top
    texts.append(
        PlacedText(
            MARGIN,
            marks_top,
            shorten(spec.y.label, inner_width, small_font_size),
            small_font_size,
            "muted",
        )
    )
    has_headings = any(column.heading for column in spec.text_columns)
    marks_top += font_size * (1.6 * bool(spec.y.label) + 0.5 * has_headings) + 2
    # Left: names of rows, in several lines where rows are high, or round numbers. Without either,
    # there is still room for the first number below the marks.
    row_height = (
        (height - marks_top - 5 * font_size) / len(row_names) if height and row_names else math.inf
    )
    max_line_count = 8 if height else 3
    max_row_lines = int(max(min(row_height / font_size / 1.25, max_line_count), 1))
    # Beside names, marks and the numbers at their ends need room.
    max_text_width = max(
        (measure_width(text, small_font_size) for mark in spec.marks for text in mark.texts),
        default=0.0,
    )
    names_width = max(
        inner_width * 0.3, min(inner_width * 0.45, 0.7 * inner_width - max_text_width)
    )
    wrapped_row_names = [
        _wrap_text(name.full_text, names_width, font_size, max_row_lines, name.is_own)
        for name in row_names
        if not is_table
    ]
    y_ticks = tuple(
        Tick(position, row_name, row_names[position].is_own)
        for position, row_name in enumerate(wrapped_row_names)
        if row_name
    ) or make_number_ticks(spec.y, 5)
    has_numbers = spec.x.kind not in ("none", "names")
    marks_left = (
        max(
            (measure_width(tick.text, font_size, tick.is_bold) for tick in y_ticks),
            default=16.0 if has_numbers or spec.x.tick_days else -8.0,
        )
        + MARGIN
        + 11
    )
    # Right: columns of words or names of lines, and the numbers at the ends of marks.
    width_right_of_names = inner_width + MARGIN - marks_left
    columns = _choose_fitting_columns(spec, is_table, max(width_right_of_names, 1.0), text_scale)
    width_right_of_names -= sum(column.width for column in columns)
    heading_heights = (
        _measure_height(column.heading, small_font_size) for column, _, _ in columns
    )  # fmt: skip
    marks_top += max(heading_heights, default=0.0)
    width_right_of_names -= max(
        (measure_width(name, small_font_size, True) + 9 for _, name, _ in line_labels), default=0.0
    )
    max_marks_width = min([
        width_right_of_names - (9 if has_numbers and not columns else 2),
        *((width_right_of_names - mark.text_offset - measure_width(mark_text, small_font_size))
          / x_fraction
          for mark in spec.marks if mark.text_offset and not spec.x.category_names
          for position, mark_text in zip(mark.x, mark.texts, strict=False)
          for x_fraction in [spec.x.to_fraction(float(position))] if 0.02 < x_fraction < math.inf),
    ])  # fmt: skip
    marks_width = max(max_marks_width, 0.35 * width_right_of_names, 1.0) * bool(spec.marks)
    # Below: the names of columns or round numbers, the label, and the caption.
    # Rotated names end below their column; their beginnings are below the names of rows.
    x_ticks, has_rotated_labels = _make_x_ticks(
        spec.x, marks_width, font_size, min(font_size * 16, (height or 999) * 0.45,
                                            marks_left * 1.15)
    )  # fmt: skip
    longest_label = max(
        (measure_width(tick.text, font_size, tick.is_bold) for tick in x_ticks), default=0.0
    )
    labels_height = (
        longest_label * 0.58 * has_rotated_labels
        + max((_measure_height(tick.text, font_size) for tick in x_ticks), default=-5)
        + font_size * 1.5 * bool(spec.x.label)
        + 5
    )
    # The caption is not enlarged, because reasons would then not fit.
    caption_lines = [""]
    caption_font_size = min(small_font_size, max(_SMALL_FONT_SIZE, width / 70))
    # The caption says first how many rows and columns are left out, and what the subtitle did not.
    text_above = f"{headline} {full_subtitle}".replace("\n", " ")
    column_count = len(spec.text_columns) + (is_table and row_names[0].text != "")
    has_dropped_columns = len(columns) < column_count
    caption_notes = (
        spec.extent_text * (spec.extent_text not in text_above),
        f"{len(columns)} of {column_count} columns" * has_dropped_columns,
        spec.window_text * (spec.window_text not in text_above), *spec.caption,
    )  # fmt: skip
    for note_text in filter(None, caption_notes):
        if not caption_lines[0]:
            note_text = shorten(note_text, inner_width, caption_font_size)
        longer_line = f"{caption_lines[-1]} · {note_text}".removeprefix(" · ")
        if measure_width(longer_line, caption_font_size) <= inner_width:
            caption_lines[-1] = longer_line
        elif (
            len(caption_lines) < max_caption_lines
            and measure_width(note_text, caption_font_size) <= inner_width
        ):
            caption_lines.append(note_text)
    caption = "\n".join(caption_lines)
    height_below = (
        labels_height + _measure_height(caption, caption_font_size) + (8 if caption else 2) + 5
    )
    # Rows are as high as their words, or as a picture of a given height allows.
    wrapped_cells = [[_wrap_text(cell_text, column_width - 10 - symbol_width, font_size,
                                 max_row_lines, column.is_bold)
                      for cell_text in column.texts]
                     for column, symbol_width, column_width in columns]  # fmt: skip
    row_texts = chain([tick.text for tick in y_ticks], *wrapped_cells)
    max_line_count = 1 + max((row_text.count("\n") for row_text in row_texts), default=0)
    total_height = height or marks_top + spec.height * (0.6 + 0.4 * max_line_count) + height_below
    marks_height = max(total_height - marks_top - height_below, 12.0)
    if row_names:
        # A few rows stay together, and the picture ends below them.
        marks_height = min(
            marks_height, max(1.8 * text_scale, max_line_count * font_size / 15) * spec.height
        )
        total_height = marks_top + marks_height + height_below
    axis_label = shorten(spec.x.label, inner_width + MARGIN - marks_left, small_font_size)
    texts.append(PlacedText(marks_left, marks_top + marks_height + labels_height - font_size * 1.35,
                            axis_label, small_font_size, "muted"))  # fmt: skip
    separator_positions = [
        marks_top + row * marks_height / len(row_names)
        for row in range(len(row_names) + 1)
        if has_headings
    ]
    caption_text = PlacedText(
        MARGIN, total_height - height_below + labels_height + 8, caption, caption_font_size, "muted"
    )
    min_marks_height = min(70.0, spec.height * 0.6)
    if row_names:
        min_marks_height = (
            len(row_names)
            * font_size
            * max(1.5 * has_headings, 1.12 + 0.2 * max_subtitle_lines, 1.16 * max_line_count)
        )
    has_enough_height = not height or marks_height >= min_marks_height
    drawn_texts = [tick.text for tick in (*x_ticks, *y_ticks)]
    drawn_texts += chain(*wrapped_cells) if is_table and len(row_names) > 1 else ()
    has_shortened_names = any("…" in text for text in drawn_texts) or (
        has_dropped_columns and text_scale > 0.85
    )
    layout = Layout(width, total_height, marks_left, marks_top, marks_width, marks_height, x_ticks,
                    y_ticks,
                    font_size, has_rotated_labels, title, caption_text, texts, separator_positions,
                    has_shortened_names, has_enough_height)  # fmt: skip
    texts += chain(_place_column_texts(columns, wrapped_cells, layout),
                   _place_line_names(line_labels, spec.y, layout),
                   *(_place_mark_texts(mark, spec, layout, inner_width, width_right_of_names)
                     for mark in spec.marks))  # fmt: skip
    return layout, has_enough_height and (
        not spec.marks or max_marks_width >= 0.35 * width_right_of_names
    )


def _place_mark_texts(
    mark: Mark, spec: Spec, layout: Layout, inner_width: float, width_right_of_names: float
) -> Iterator[PlacedText]:
    """Yield the texts of a mark, such as the numbers beside bars, shortened to fit.

    ``inner_width`` is the width of the picture without margins. ``width_right_of_names`` is the
    room for marks and their texts. Both are in points.
    """
    font_size = layout.font_size * _SMALL_FONT_SIZE / _FONT_SIZE
    x_scale = spec.x
    colour_strengths = mark.colour_strength
    if colour_strengths is not None:
        max_text_width = max(
            (measure_width(mark_text, font_size) for mark_text in mark.texts), default=0.0
        )
        if (
            layout.marks_height / len(spec.y.category_names) < font_size * 1.1
            or layout.marks_width / len(x_scale.category_names) < max_text_width
        ):
            return  # in smaller cells, numbers would touch
    for position, mark_text in enumerate(mark.texts):
        x_position = float(x_scale.clip(mark.x[position])[0])
        colour = mark.style.colour_key
        free_width = (
            width_right_of_names
            - layout.marks_width * x_scale.to_fraction(x_position)
            - mark.text_offset
            + 1
        )
        if colour_strengths is None:
            mark_text = _wrap_text(mark_text, free_width if mark.text_offset else inner_width,
                                   font_size, 1 if mark.text_offset else 4)  # fmt: skip
        else:
            colour = f"on/{colour_strengths[position]}"
        if mark_text:
            yield PlacedText(mark.text_offset, 0, mark_text, font_size, colour, False,
                             "left" if mark.text_offset else "center",
                             (x_position, float(mark.y[position])))  # fmt: skip


def compute_layout(spec: Spec, width: float = PICTURE_WIDTH, height: float | None = None) -> Layout:
    """Compute the layout of a picture that is ``width`` points wide and ``height`` points high.

    If ``height`` is None, the picture is as high as it needs.
    """
    # Text is larger on a large figure, because readers look at it from afar.
    max_text_scale = max(1.0, min(width / 720, (height or 0) / 430, 1.6))
    # Each layout has fewer lines of the subtitle or caption, or a smaller scale of text.
    layout_settings = (
        (2, max_text_scale), (2, 1.0), (1, 1.0), (1, 0.82, 2), (1, 0.82), (0, 0.82)
    )  # fmt: skip
    candidate_layouts = []
    for settings in layout_settings[3 * ((height or 999) <= 200) :]:
        text_scale = settings[1]
        layout, fits_completely = _try_layout(spec, width, height, *settings)
        # Smaller text is better than names that are cut or rotated, as long as it can be read.
        cuts_large_names = layout.has_shortened_names and text_scale > 0.85
        faults = text_scale * (not fits_completely), cuts_large_names, layout.has_rotated_labels
        candidate_layouts.append((faults, layout))
        if not any(faults):
            break
    return min(candidate_layouts, key=itemgetter(0))[1]


def _measure_height(text: str, font_size: float) -> float:
    """Return the height in points of a text, which may have several lines; 0 for ""."""
    return (text.count("\n") + 1) * font_size * _LINE_HEIGHT if text else 0.0


# --- labels of scales -------------------------------------------------------------------------


def _make_x_ticks(
    scale: Scale, marks_width: float, font_size: float, max_label_width: float
) -> tuple[tuple[Tick, ...], bool]:
    """Return the tick labels below the area of marks, and whether they are rotated.

    ``marks_width`` is the width of this area, and ``max_label_width`` the maximum length of a
    rotated label, both in points.
    """
    if scale.kind == "names" and not scale.tick_days:
        # As many names of columns as have room; long names have two lines, or are rotated.
        column_names = scale.category_names
        column_width = marks_width / max(len(scale.category_names), 1)
        labels = [
            _wrap_text(name.full_text, column_width - 6, font_size, 3, name.is_own)
            for name in column_names
        ]
        has_rotated_labels = any("…" in label for label in labels)
        label_step = 1
        if has_rotated_labels:
            # Rotated lines are closer to each other than columns are.
            label_step = math.ceil(2 * font_size / column_width)
            max_lines = int(max(min(column_width / font_size / 2, 3), 1))
            labels = [
                _wrap_text(name.full_text, max_label_width, font_size, max_lines, name.is_own)
                for name in column_names
            ]
        ticks = tuple(
            Tick(position, tick_text, column_names[position].is_own)
            for position, tick_text in enumerate(labels)
        )
        return ticks[::label_step], has_rotated_labels
    make_ticks = _make_time_ticks if scale.tick_days else make_number_ticks
    for max_ticks in range(9, 1, -1):
        ticks = make_ticks(scale, max_ticks)
        min_distance = max((measure_width(tick.text, font_size) for tick in ticks), default=0.0) + 8
        positions = sorted(marks_width * scale.to_fraction(tick.position) for tick in ticks)
        if all(right_x - left_x >= min_distance for left_x, right_x in pairwise(positions)):
            return ticks, False
    return ticks[:1], False


def make_number_ticks(scale: Scale, max_ticks: int) -> tuple[Tick, ...]:
    """Return about ``max_ticks`` ticks at round numbers; a scale of ranks begins at 1."""
    if scale.kind != "number":
        return ()
    low, high = sorted((scale.low, scale.high))
    is_rank = scale.unit == RANK
    locator = MaxNLocator(max_ticks, steps=[1, 2, 2.5, 5, 10], integer=scale.is_whole or is_rank)
    tolerance = (high - low) * 1e-6
    tick_values = to_floats(locator.tick_values(low, high))
    tick_values = tick_values[(tick_values >= low - tolerance) & (tick_values <= high + tolerance)]
    if is_rank:
        tick_values = to_floats([1.0, *tick_values[tick_values > 1.5]])
    return tuple(Tick(float(value), format_tick(float(value), scale.unit)) for value in tick_values)


def _make_time_ticks(scale: Scale, max_ticks: int) -> tuple[Tick, ...]:
    """Return at most ``max_ticks`` ticks at evenly spaced times, labelled by month, day or hour."""
    positions = scale.tick_days if scale.kind == "time" else range(len(scale.tick_days))
    tick_times = pd.to_datetime(scale.tick_days, unit="D").round("min")
    is_long_period = scale.tick_days[-1] - scale.tick_days[0] > 300
    # Hours are written only where several are on one day.
    is_daily = tick_times.normalize().is_unique
    return tuple(
        Tick(position, f"{tick_time:{time_format}}")
        for position, tick_time in [*zip(positions, tick_times, strict=True)][
            :: math.ceil(len(tick_times) / max_ticks)]
        for time_format in [
            "%b %Y" if is_long_period else "%d %b" if is_daily or tick_time == tick_time.normalize()
            else "%H:%M"
        ]
    )  # fmt: skip
