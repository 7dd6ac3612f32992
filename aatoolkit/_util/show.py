"""Format tables as text of a given width, and as HTML.

A `Frame` is a DataFrame with display options (`DisplayOptions`). If the option ``details`` is None,
all columns are shown and no cell is truncated; such a table is called a listing.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import format_equal_digits
from aatoolkit._util.text import (
    counted,
    drop_inner_stops,
    join_some,
    split_long_name,
    terminal_width,
    visible,
    wrap_cell,
)

_MAX_TABLE_ROWS = 60
_MAX_LISTING_ROWS = 200
"""The maximum number of rows shown, of tables and of listings."""

_PAGE_WIDTH = 110
"""The width of a table in a notebook, in characters."""

# The number of spaces between two columns.
_COLUMN_GAP = 2

_MIN_WORDS_WIDTH = 12
_MIN_SENTENCE_WIDTH = 24
_MAX_PHRASE_LENGTH = 40
_MAX_WORD_LENGTH = 34
_MAX_NAME_LENGTH = 24
"""Widths in characters: the minimum of a column of words and of sentences, and the longest phrase,
word and name that is not broken.
"""

_MAX_HIDDEN_NAMES = 12
"""The maximum number of hidden columns that are named."""

_LONG_CELL_LENGTH = 150
"""The length from which a cell makes its column twice as wide in a notebook."""

_MIDNIGHT_SUFFIX = " 00:00:00"

STAR = "*"
"""The asterisk after a number that was measured only in part; a remark explains it."""

CellMarks = dict[str, np.ndarray]
"""Maps the name of a column to a boolean mask of the rows whose number gets an asterisk."""

RemarkFunction = Callable[[pd.DataFrame, Collection[str]], tuple[CellMarks, list[str]]]
"""The type of functions that return which numbers of a DataFrame get an asterisk, and sentences to
print below the table. The second argument has the names of the columns that are shown.
"""


def _no_remarks(_: pd.DataFrame, __: Collection[str]) -> tuple[CellMarks, list[str]]:
    """Return an empty dict and an empty list, for tables without asterisks and remarks."""
    return {}, []


@dataclass(frozen=True)
class DisplayOptions:
    """Display options of a table: which columns are shown, and the remarks below the table.

    Parameters
    ----------
    details
        The names of the columns that are shown only if there is room for them; None to show all
        columns.
    verdict
        The column that holds verdicts as text; it is shown last.
    order
        The names of the columns that the rows are sorted by; they are always shown.
    remarks
        A function that returns which numbers get an asterisk, and the sentences below the table.
    if_empty
        What is shown instead of a table without rows; by default pandas' own text.
    """

    details: tuple[str, ...] | None = None
    verdict: str = ""
    order: tuple[str, ...] = ()
    remarks: RemarkFunction = _no_remarks
    if_empty: str = ""


class LazyAttr:
    """The base class of values in ``DataFrame.attrs`` that are replaced by ``text`` when read."""

    text: Any


class Frame(pd.DataFrame):
    """A DataFrame with display options; otherwise it behaves as a `pandas.DataFrame`.

    A merge keeps the ``attrs`` if only one of the two frames has ``attrs``.

    Examples
    --------
    >>> left = Frame({"k": [1]})
    >>> left.attrs["title"] = "Domains"
    >>> left.merge(pd.DataFrame({"k": [1], "n": [2]})).attrs
    {'title': 'Domains'}
    """

    _metadata = ["view"]  # noqa: RUF012 - pandas reads it from the class
    view: DisplayOptions | None = None

    @property
    def attrs(self) -> dict[Any, Any]:
        """The attributes, as in pandas."""
        for name, value in self._attrs.items():
            if isinstance(value, LazyAttr):
                self._attrs[name] = value.text
        return self._attrs

    @attrs.setter
    def attrs(self, value: Any) -> None:
        self._attrs = dict(value)

    @property
    def _constructor(self) -> type[Frame]:
        return Frame

    def _constructor_from_mgr(self, mgr: Any, axes: Any) -> Frame:
        # pandas would copy every column's block once more
        frame = pd.DataFrame._from_mgr(mgr, axes)  # type: ignore[attr-defined]
        frame.__class__ = Frame
        return frame  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return pd.DataFrame, (), self.__getstate__()

    def __finalize__(self, other: Any, method: str | None = None, **options: Any) -> Self:
        finalize = super().__finalize__  # type: ignore[misc]  # which has no stub
        finalize(other, method, **options)
        merged_frames = (other.left, other.right) if method == "merge" else ()
        frames_with_attrs = [frame for frame in merged_frames if frame.attrs]
        if len(frames_with_attrs) == 1:
            finalize(frames_with_attrs[0])
        return self

    def sort_values(self, by: Any, **options: Any) -> Any:
        """Sort the rows as in pandas; a printed result always shows the columns ``by``."""
        sorted_frame_or_none = super().sort_values(by, **options)
        if self.view is not None:
            sorted_column_names = tuple(map(str, by if isinstance(by, list | tuple) else [by]))
            sorted_frame = self if sorted_frame_or_none is None else sorted_frame_or_none
            object.__setattr__(sorted_frame, "view", replace(self.view, order=sorted_column_names))
        return sorted_frame_or_none

    def __repr__(self) -> str:
        return super().__repr__() if self.view is None else as_text(self, self.view)

    def _repr_html_(self) -> str | None:
        if self.view is None:
            return super()._repr_html_()  # type: ignore[misc,no-any-return]
        return as_html(self, self.view)


def show_as(data: Any, view: DisplayOptions = DisplayOptions(), **options: Any) -> Frame:
    """Create a DataFrame with display options; by default, all columns are shown in full.

    Examples
    --------
    >>> show_as({"status": ["partial"], "reason": ["This engine has not run yet."]})
       status   reason
    0  partial  This engine has not run yet.
    """
    frame = Frame(data, **options)
    object.__setattr__(frame, "view", view)
    return frame


def as_text(frame: pd.DataFrame, options: DisplayOptions) -> str:
    """Format a table as text for a terminal; ``options`` has the display options."""
    if options.if_empty and frame.empty:
        return options.if_empty
    width = terminal_width()
    pandas_text = repr(pd.DataFrame(frame))
    if _uses_pandas_format(frame):
        return pandas_text
    if options.details is None:
        shown_columns, note_texts = _format_compact_table(frame)
        return "\n".join(
            [
                "\n\n".join(_split_into_blocks(shown_columns, frame.index.nlevels, width)),
                *note_texts,
            ]
        )
    asterisk_masks, note_texts = options.remarks(frame, [*map(str, frame.columns)])
    # pandas keeps a character free.
    fits_width = max(map(len, pandas_text.split("\n"))) < width and "\\\n" not in pandas_text
    if (
        fits_width
        and not asterisk_masks
        and ".." not in pandas_text
        and len(frame) <= _MAX_TABLE_ROWS
    ):
        return "\n\n".join([pandas_text, *note_texts])
    shown_columns, note_texts, hidden_names = _select_columns(frame, options, width)
    if hidden_names:
        note_texts.append(f"not shown: {join_some(hidden_names, _MAX_HIDDEN_NAMES)}")
    note_lines = (line for note in note_texts for line in wrap_cell(note, width))
    return "\n".join([_align_columns(shown_columns, width), *note_lines])


def as_html(frame: pd.DataFrame, options: DisplayOptions) -> str | None:
    """Format a table as HTML for a notebook; return None if pandas is set to show no HTML."""
    if options.if_empty and frame.empty:
        return wrap_html(f"<p>{escape_long(options.if_empty)}</p>")
    if _uses_pandas_format(frame):
        pandas_html: str | None = pd.DataFrame(frame)._repr_html_()  # type: ignore[operator]
        return pandas_html
    hidden_names: list[str] = []
    if options.details is None:
        shown_columns, note_texts = _format_compact_table(frame)
        row_header_count = frame.index.nlevels
    else:
        shown_columns, note_texts, hidden_names = _select_columns(frame, options, _PAGE_WIDTH)
        row_header_count = 1
    table_html = _columns_to_html(shown_columns, row_header_count)
    footer_html = "".join(f"<p>{escape_long(note)}</p>" for note in note_texts)
    if hidden_names:
        all_columns = _format_columns(frame.head(_MAX_TABLE_ROWS), {})
        footer_html += fold_html(
            f"all {frame.shape[1]} columns", _columns_to_html(all_columns, frame.index.nlevels)
        )
    return wrap_html(table_html + footer_html)


def _uses_pandas_format(frame: pd.DataFrame) -> bool:
    """Return whether a table is empty or has duplicate column names, so that pandas formats it."""
    return frame.empty or not frame.columns.is_unique


def wrap_html(content: str) -> str:
    """Wrap HTML in a ``div`` that MathJax ignores."""
    return f'<div class="tex2jax_ignore">{content}</div>'


def fold_html(title: str, content: str, attribute: str = "") -> str:
    """Return an HTML element that shows its title; a click on the title shows the content."""
    return f"<details{attribute}><summary>{title}</summary>{content}</details>"


def escape_long(text: str) -> str:
    """Escape a text as HTML without truncation."""
    return html.escape(visible(text))


# -- which columns -----------------------------------------------------------------------------


class _Column(NamedTuple):
    """A column of a table to print: its name, and its cells as text."""

    name: str
    cells: list[str]
    is_number: bool

    @property
    def natural_width(self) -> int:
        """The width in characters if no cell is wrapped."""
        return max(map(len, (self.name, *self.cells)))

    @property
    def min_width(self) -> int:
        """The smallest width in characters at which the column is readable."""
        if self.is_number:
            return self.natural_width
        words = [word for cell in self.cells for word in cell.split()]
        word_parts = [word_part for word in words for word_part in _split_name(word)]
        text_width = (
            _MIN_SENTENCE_WIDTH if self.natural_width > _MAX_PHRASE_LENGTH else _MIN_WORDS_WIDTH
        )
        max_part_width = min(_MAX_WORD_LENGTH, max(map(len, word_parts), default=0))
        return min(self.natural_width, max(len(self.name), text_width, max_part_width))


def _format_compact_table(frame: pd.DataFrame) -> tuple[list[_Column], list[str]]:
    """Format a table as a listing: all of its columns that have values, as text.

    Returns the columns, and notes to print below the table: on hidden rows, and on columns without
    values.
    """
    has_values = frame.notna().any().to_numpy()
    has_values = has_values if has_values.any() else ~has_values
    empty_column_names = [visible(str(name)) for name in frame.columns[~has_values]]
    note_texts = _make_hidden_row_notes(frame, _MAX_LISTING_ROWS) + (
        [f"no value in: {', '.join(empty_column_names)}"] if empty_column_names else []
    )
    return _format_columns(frame.loc[:, has_values].head(_MAX_LISTING_ROWS), {}), note_texts


def _select_columns(
    frame: pd.DataFrame, options: DisplayOptions, width: int
) -> tuple[list[_Column], list[str], list[str]]:
    """Select the columns of a table that fit in a width, and format them as text.

    Returns
    -------
    tuple of (list, list of str, list of str)
        The columns, notes to print below the table, and the names of hidden columns.
    """
    shown_rows = frame.head(_MAX_TABLE_ROWS)
    detail_column_names = options.details or ()
    column_names = [*map(str, frame.columns)]
    asterisk_masks, _ = options.remarks(frame, column_names)
    index_column = _Column(
        "", [format_cell_text(label) for label in shown_rows.index], is_number=False
    )
    column_by_name = dict(
        zip(
            column_names,
            _format_columns(shown_rows, asterisk_masks)[shown_rows.index.nlevels :],
            strict=True,
        )
    )
    required_names = [
        name for name in column_names if name in options.order or name == options.verdict
    ]
    optional_names = sorted(
        (name for name in column_names if name not in required_names),
        key=detail_column_names.__contains__,
    )
    note_by_column = {
        name: f"{visible(name)}: {column_by_name[name].cells[0]}"
        for name in optional_names
        if name not in detail_column_names
        and not column_by_name[name].is_number
        and len({*column_by_name[name].cells}) == 1 < len(shown_rows)
    }
    remaining_width = width - index_column.natural_width
    shown_names = [*required_names]
    remaining_width -= sum(column_by_name[name].min_width + _COLUMN_GAP for name in required_names)
    for name in optional_names:
        min_width = column_by_name[name].min_width + _COLUMN_GAP
        is_blank = name in detail_column_names and {*column_by_name[name].cells} == {"<NA>"}
        if (
            not is_blank
            and name not in note_by_column
            and (min_width <= remaining_width or not shown_names)
        ):
            shown_names.append(name)
            remaining_width -= min_width
    # Half of an interval is worse than none.
    shown_names = [
        name for name in shown_names if name[-3:] != "low" or f"{name[:-3]}high" in {*shown_names}
    ]
    ordered_names = sorted(
        shown_names, key=lambda name: (name == options.verdict, column_names.index(name))
    )
    note_texts = [
        *_make_hidden_row_notes(frame, _MAX_TABLE_ROWS),
        *note_by_column.values(),
        *options.remarks(frame, shown_names)[1],
    ]
    hidden_names = [
        visible(name) for name in column_names if name not in (*shown_names, *note_by_column)
    ]
    return (
        [index_column, *(column_by_name[name] for name in ordered_names)],
        note_texts,
        hidden_names,
    )


def _make_hidden_row_notes(frame: pd.DataFrame, max_rows: int) -> list[str]:
    """Return a list with a note such as ``… 5 more rows``; empty if all rows are shown."""
    return [f"… {len(frame) - max_rows:,} more rows"] if len(frame) > max_rows else []


# -- cells as text -----------------------------------------------------------------------------


def _format_columns(shown_rows: pd.DataFrame, asterisk_masks: CellMarks) -> list[_Column]:
    """Format the index and the columns of a table as text.

    ``asterisk_masks`` has, by column, a boolean mask of the numbers that get an asterisk.
    """
    has_mixed_units = "unit" in shown_rows and shown_rows["unit"].nunique(dropna=False) > 1
    index_columns = [
        _format_column(
            "" if name is None else str(name),
            pd.Series(shown_rows.index.get_level_values(position)),
        )
        for position, name in enumerate(shown_rows.index.names)
    ]
    formatted_columns = []
    for position, name in enumerate(map(str, shown_rows.columns)):
        column = _format_column(name, shown_rows.iloc[:, position], has_mixed_units)
        if name in asterisk_masks:
            asterisks = (
                STAR if has_asterisk else " " * len(STAR) for has_asterisk in asterisk_masks[name]
            )
            marked_cells = [
                f"{cell}{star}" for cell, star in zip(column.cells, asterisks, strict=False)
            ]
            column = column._replace(cells=marked_cells)
        formatted_columns.append(column)
    return [*index_columns, *formatted_columns]


def _format_column(name: str, values: pd.Series, has_mixed_units: bool = False) -> _Column:
    """Format a column as text: floats with equal decimals, days without ``00:00:00``."""
    dtype = values.dtype
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    if pd.api.types.is_float_dtype(dtype):
        float_values = values.to_numpy(np.float64, na_value=np.nan).tolist()
        return _Column(
            visible(name),
            format_equal_digits(float_values, has_mixed_units=has_mixed_units),
            is_number,
        )
    cell_texts = [format_cell_text(value) for value in values]
    if pd.api.types.is_datetime64_any_dtype(dtype) and all(
        cell.endswith(_MIDNIGHT_SUFFIX) or cell == "<NA>" for cell in cell_texts
    ):
        cell_texts = [cell.removesuffix(_MIDNIGHT_SUFFIX) for cell in cell_texts]
    return _Column(visible(name), cell_texts, is_number)


def format_cell_text(value: Any) -> str:
    """Return the value of a cell as one line of printable text."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "<NA>"
    return drop_inner_stops(visible(str(value)).replace("\\n", " "))


def _split_name(word: str) -> list[str]:
    """Split a long word into parts after which a line may break; a short word is not split."""
    return split_long_name(word) if len(word) > _MAX_NAME_LENGTH else [word]


# -- lines -------------------------------------------------------------------------------------


def _split_into_blocks(
    columns: Sequence[_Column], index_column_count: int, width: int
) -> list[str]:
    """Split a wide table into blocks of text that are at most ``width`` characters wide.

    Each block has some of the columns, and begins with the columns of the index. There are
    ``index_column_count`` of these, and they come first in ``columns``.
    """
    index_columns = [*columns[:index_column_count]]
    column_blocks = [[*columns[:index_column_count]]]
    for column in columns[index_column_count:]:
        extended_block = [*column_blocks[-1], column]
        block_width = sum(column.min_width + _COLUMN_GAP for column in extended_block) - _COLUMN_GAP
        if block_width > width and len(extended_block) > index_column_count + 1:
            column_blocks.append([*index_columns, column])
        else:
            column_blocks[-1] = extended_block
    return [_align_columns(columns_of_block, width) for columns_of_block in column_blocks]


def _align_columns(columns: Sequence[_Column], width: int) -> str:
    """Return columns side by side as text of at most ``width`` characters, with wrapped cells."""
    min_widths = [column.min_width for column in columns]
    natural_widths = [column.natural_width for column in columns]
    available_width = max(width - _COLUMN_GAP * (len(columns) - 1), sum(min_widths))
    max_width = max(natural_widths)
    while (
        max_width > 1
        and sum(
            map(max, min_widths, (min(column_width, max_width) for column_width in natural_widths))
        )
        > available_width
    ):
        max_width -= 1
    column_widths = [
        max(min_width, min(natural_width, max_width))
        for min_width, natural_width in zip(min_widths, natural_widths, strict=True)
    ]
    header_texts = [column.name for column in columns]
    text_lines = []
    for row_texts in (header_texts, *zip(*(column.cells for column in columns), strict=True)):
        wrapped_cells = [
            wrap_cell(cell, column_width)
            for cell, column_width in zip(row_texts, column_widths, strict=True)
        ]
        for line_number in range(max(map(len, wrapped_cells))):
            cell_lines = (
                cell[line_number] if line_number < len(cell) else "" for cell in wrapped_cells
            )
            cell_texts = (
                f"{cell_line:{'>' if column.is_number else '<'}{column_width}}"
                for cell_line, column_width, column in zip(
                    cell_lines, column_widths, columns, strict=True
                )
            )
            text_lines.append((" " * _COLUMN_GAP).join(cell_texts).rstrip())
    return "\n".join(text_lines)


# -- HTML --------------------------------------------------------------------------------------


def _columns_to_html(columns: Sequence[_Column], row_header_count: int) -> str:
    """Format columns as an HTML table; the first ``row_header_count`` columns are row headers."""
    return make_table_html(
        [column.name for column in columns],
        [*zip(*(column.cells for column in columns), strict=True)],
        number_columns={position for position, column in enumerate(columns) if column.is_number},
        row_header_count=row_header_count,
    )


def make_table_html(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    number_columns: Collection[int] = (),
    code_columns: Collection[int] = (),
    row_header_count: int = 0,
) -> str:
    """Return an HTML table of texts.

    Parameters
    ----------
    headers : sequence of str
        The column headers; empty for no header row.
    rows : sequence of sequence of str
        The cells, as text.
    caption : str, default ''
        The caption of the table.
    number_columns, code_columns : collection of int, optional
        The positions of the columns with numbers, and of the columns formatted as code.
    row_header_count : int, default 0
        The number of leading columns that are row headers.

    Examples
    --------
    >>> make_table_html(["n"], [["<1>"]], number_columns=[0])
    ... # doctest: +NORMALIZE_WHITESPACE
    '<table class="dataframe tex2jax_ignore"><thead><tr><th scope="col"
    style="text-align:right;vertical-align:top">n</th></tr></thead><tbody><tr><td
    style="text-align:right;vertical-align:top">&lt;1&gt;</td></tr></tbody></table>'
    """

    def format_cell(position: int, cell_text: str, scope: str = "") -> str:
        css_text = (
            f"text-align:{'right' if position in number_columns else 'left'};vertical-align:top"
        )
        max_length = max((len(row[position]) for row in rows), default=0) if scope == "col" else 0
        if max_length > _MAX_NAME_LENGTH:
            css_text += f";min-width:{12 if max_length <= _LONG_CELL_LENGTH else 24}em"
        shown_words = visible(cell_text).split(" ")
        cell_html = " ".join(
            "<wbr>".join(map(html.escape, _split_name(word))) for word in shown_words
        )
        if position in code_columns and scope != "col":
            cell_html = f"<code>{cell_html}</code>"
        html_tag, scope_attribute = ("th", f' scope="{scope}"') if scope else ("td", "")
        return f'<{html_tag}{scope_attribute} style="{css_text}">{cell_html}</{html_tag}>'

    def format_row(row: Sequence[str]) -> str:
        return "".join(
            format_cell(position, cell, "row" * (position < row_header_count))
            for position, cell in enumerate(row)
        )

    header_html = "".join(
        format_cell(position, text, "col") for position, text in enumerate(headers)
    )
    body_html = "".join(f"<tr>{format_row(row)}</tr>" for row in rows)
    caption_html = (
        f'<caption style="text-align:left">{escape_long(caption)}</caption>' if caption else ""
    )
    thead_html = f"<thead><tr>{header_html}</tr></thead>" if headers else ""
    table_html = f"{caption_html}{thead_html}<tbody>{body_html}</tbody>"
    return f'<table class="dataframe tex2jax_ignore">{table_html}</table>'


def format_row_numbers(index: pd.Index, row_mask: np.ndarray) -> str:
    """Return a text that names the rows in a boolean mask, such as ``rows 0, 2-4`` or ``1 row``.

    Examples
    --------
    >>> format_row_numbers(pd.RangeIndex(6), np.array([True, False, True, True, True, False]))
    'rows 0, 2-4'
    >>> format_row_numbers(pd.Index(["a", "b"]), np.array([True, False]))
    '1 row'
    """
    positions = np.flatnonzero(row_mask)
    consecutive_position_groups = np.split(positions, np.flatnonzero(np.diff(positions) != 1) + 1)
    if not index.equals(pd.RangeIndex(len(index))) or len(consecutive_position_groups) > 8:
        return counted(len(positions), "row")
    range_texts = (
        f"{position_group[0]}-{position_group[-1]}"
        if len(position_group) > 1
        else f"{position_group[0]}"
        for position_group in consecutive_position_groups
    )
    return f"row{'s' * (len(positions) != 1)} {', '.join(range_texts)}"
