"""Tables as text of a given width and as HTML: the one way in which they are shown.

`Shown` is a DataFrame that a verb returns with a `ShowAs`: which columns say how, and so come where
there is room, which one is the verdict, and what is to be remarked below. A listing has no such
columns: each of its cells is shown whole.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import alike
from aatoolkit._util.text import counted, joined, markup, name_parts, terminal_width, visible
from aatoolkit._util.text import wrap_cell as wrapped

_ROWS, _LISTED = 60, 200
"""How many rows of numbers are shown, and of a listing."""

_PAGE = 110
"""How many characters of a table are in sight in a notebook, beside each other."""

_GAP = 2
_NARROW, _SENTENCE, _PHRASE, _WORD, _NAME = 12, 24, 40, 34, 24
"""The least width of a column of words, and of one of sentences, which are longer than a phrase;
the longest word that is not broken, and the longest name."""

_NAMED = 12
"""How many columns that say how numbers were made are named."""

_TEXT = 150
"""Longer cells are texts, which take twice the width on a page."""

_MIDNIGHT = " 00:00:00"

Marks = dict[str, np.ndarray]
"""The rows of a column whose numbers are followed by an asterisk, by the column's name."""

Remarks = Callable[[pd.DataFrame, Collection[str]], tuple[Marks, list[str]]]
"""From a frame and the names that are in sight to marks of cells and sentences below the table."""


@dataclass(frozen=True)
class ShowAs:
    """What the verb that makes a frame says of how it is shown.

    Parameters
    ----------
    details
        The columns that say how a number was made, which are shown where there is room; None for a
        listing, whose columns are all shown.
    verdict
        The column of sentences that ends a row.
    order
        The columns that the rows are sorted by, which stay in sight.
    remarks
        Says what stands below the table.
    fold
        A column by whose values many rows are folded, what a row is, and the column whose first
        words are counted beside each fold.
    """

    details: tuple[str, ...] | None = None
    verdict: str = ""
    order: tuple[str, ...] = ()
    remarks: Remarks | None = None
    fold: tuple[str, str, str | None] = ("", "row", None)


class Shown(pd.DataFrame):
    """A DataFrame that shows what matters of each row, with no cell cut.

    It is a `pandas.DataFrame` in all it does, and is one after a pickle. In a terminal sentences
    are wrapped within their column, in a notebook the page wraps them.

    Examples
    --------
    >>> Shown({"status": ["partial"], "reason": ["This engine has not run yet."]})
       status   reason
    0  partial  This engine has not run yet.
    """

    _metadata = ["view"]  # noqa: RUF012 - pandas reads it from the class
    view: ShowAs = ShowAs()

    @property
    def _constructor(self) -> type[Shown]:
        return Shown

    def __reduce__(self) -> Any:
        return pd.DataFrame, (), self.__getstate__()

    def with_view(self, view: ShowAs) -> Shown:
        """Return the same rows, shown in another way."""
        result = self.copy(deep=False)
        object.__setattr__(result, "view", view)
        return result

    def fold_by(self, column: str, noun: str = "row", words: str | None = None) -> Shown:
        """Return the same rows, folded by the values of a column where they are many."""
        return self.with_view(replace(self.view, fold=(column, noun, words)))

    def sort_values(self, by: Any, **options: Any) -> Any:
        """Sort the rows; see `pandas.DataFrame.sort_values`."""
        result = super().sort_values(by, **options)
        names = tuple(map(str, by if isinstance(by, list | tuple) else [by]))
        target = self if result is None else result
        object.__setattr__(target, "view", replace(self.view, order=names))
        return result

    def __repr__(self) -> str:
        return as_text(self, self.view)

    def _repr_html_(self) -> str | None:
        return as_html(self, self.view)


def as_text(frame: pd.DataFrame, view: ShowAs, width: int = 0) -> str:
    """Format a frame for a terminal, or within another width."""
    width = width or terminal_width()
    names = [*map(str, frame.columns)]
    if not len(frame) or len({*names}) < len(names) or not names:
        return repr(pd.DataFrame(frame))
    if view.details is None:
        if _is_folded(frame, view) and len(frame) > (pd.get_option("display.max_rows") or 10**9):
            return _folded_text(frame, view)
        held = _held(frame)
        columns = _columns(frame.loc[:, held], _LISTED)
        blocks = [*_blocks(columns, frame.index.nlevels, width)]
        notes = [_more(frame, _LISTED), _blank(frame, held)]
        return "\n".join(["\n\n".join(map("\n".join, blocks)), *filter(None, notes)])
    marks, _ = _remarks(frame, view, names)
    if not marks and _fits_pandas(frame, width):
        return "\n\n".join([repr(pd.DataFrame(frame)), *_remarks(frame, view, names)[1]])
    chosen = _choose(frame, view, marks, width)
    lines = [*chosen.constant, *next(iter(_blocks(chosen.columns, 1, width, is_one=True)))]
    notes = [*chosen.notes, *_left_out(chosen.rest, view)]
    return "\n".join([*lines, *(line for note in notes for line in wrapped(note, width))])


def _left_out(names: Sequence[str], view: ShowAs) -> list[str]:
    """Name the columns that are not shown; many that say how numbers were made are counted."""
    details = [name for name in names if name in (view.details or ())]
    others = [name for name in names if name not in details]
    if len(details) > _NAMED:
        others.append(f"{len(details)} columns that say how the numbers were made")
    else:
        others += details
    return [f"not shown: {', '.join(others)}"] if others else []


def as_html(frame: pd.DataFrame, view: ShowAs) -> str | None:
    """Format a frame for a notebook."""
    names = [*map(str, frame.columns)]
    if not len(frame) or len({*names}) < len(names):
        page: str | None = pd.DataFrame(frame)._repr_html_()  # type: ignore[operator]
        return page
    if view.details is None:
        return _page(frame, _more(frame, _LISTED))
    chosen = _choose(frame, view, _remarks(frame, view, names)[0], _PAGE)
    notes = "".join(f"<p>{markup_long(note)}</p>" for note in chosen.notes)
    above = "".join(f"<p>{markup(line)}</p>" for line in chosen.constant)
    table = _table(chosen.columns, 1)
    whole = _table(_columns(frame, _ROWS), 1) if chosen.rest else ""
    rest = fold(f"all {len(names)} columns", whole) if whole else ""
    return block(f"{above}{table}{notes}{rest}")


def block(content: str) -> str:
    """A part of a page in which TeX is not looked for."""
    return f'<div class="tex2jax_ignore">{content}</div>'


def fold(title: str, content: str) -> str:
    """A part of a page that opens at its title; both are HTML."""
    return f"<details><summary>{title}</summary>{content}</details>"


def markup_long(text: str) -> str:
    """Text of any length as HTML."""
    return html.escape(visible(text))


# -- which columns -----------------------------------------------------------------------------


class _Column(NamedTuple):
    """A column as texts."""

    name: str
    cells: list[str]
    is_number: bool

    @property
    def natural(self) -> int:
        return max(map(len, (self.name, *self.cells)))

    def least(self, is_label: bool = False) -> int:
        """The width below which it cannot be read."""
        if self.is_number:
            return self.natural
        words = (word for cell in self.cells for word in cell.split())
        parts = (
            part
            for word in words
            for part in (name_parts(word) if len(word) > _NAME and not is_label else [word])
        )
        longest = min(_WORD, max(map(len, parts), default=0))
        low = _SENTENCE if self.natural > _PHRASE else _NARROW
        return min(self.natural, max(len(self.name), low, longest))


class _Choice(NamedTuple):
    """What of a frame is shown: lines above, columns, notes below, and the names left out."""

    constant: list[str]
    columns: list[_Column]
    notes: list[str]
    rest: list[str]


def _choose(frame: pd.DataFrame, view: ShowAs, marks: Marks, width: int) -> _Choice:
    """Choose the columns that fit: those sorted by, the verdict, and of the others the first."""
    rows = frame.head(_ROWS)
    index, *columns = _columns(rows, _ROWS, marks, flat=True)
    by_name = {column.name: column for column in columns}
    names = dict(zip(map(visible, map(str, frame.columns)), by_name, strict=True))
    verdict, details = visible(view.verdict), {*map(visible, view.details or ())}
    order = [visible(name) for name in view.order if visible(name) in names]
    ranked = [name for name in names if name not in details and name != verdict]
    room = width - index.natural
    must = [*dict.fromkeys([*order, *([verdict] if verdict in names else [])])]
    constant: list[str] = []
    if sum(by_name[name].natural + _GAP for name in {*ranked, *must}) > room:
        keys = [name for name in ranked if not by_name[name].is_number and name not in must]
        constant = [name for name in keys if len({*by_name[name].cells}) == 1 and len(rows) > 1]
        constant = constant[: len(keys) - 1] if len(constant) == len(keys) else constant
    kept = list(must)
    room -= sum(by_name[name].least() + _GAP for name in kept)
    full = False
    for name in [*(n for n in ranked if n not in constant), *(n for n in names if n in details)]:
        is_blank = name in details and {*by_name[name].cells} == {"<NA>"}
        if name in kept or is_blank or (full and name not in details):
            continue
        size = by_name[name].least() + _GAP
        if size > room and kept:
            full = True
            continue
        kept.append(name)
        room -= size
    shown = sorted(kept, key=lambda name: (name == verdict, [*names].index(name)))
    seen = {*shown, *constant}
    _, notes = _remarks(frame, view, seen)
    more = _more(frame, _ROWS)
    return _Choice(
        [f"{name}: {by_name[name].cells[0]}" for name in constant],
        [index, *(by_name[name] for name in shown)],
        [more, *notes] if more else notes,
        [name for name in names if name not in seen],
    )


def _remarks(frame: pd.DataFrame, view: ShowAs, names: Collection[str]) -> tuple[Marks, list[str]]:
    return view.remarks(frame, names) if view.remarks else ({}, [])


def _fits_pandas(frame: pd.DataFrame, width: int) -> bool:
    """Whether pandas shows all columns side by side, and no cell cut."""
    limit = pd.get_option("display.max_rows") or len(frame)
    most = pd.get_option("display.max_columns")
    if len(frame) > limit or (most and frame.shape[1] > most):
        return False
    longest = pd.get_option("display.max_colwidth") or 10**6
    if any(len(cell) >= longest for column in _columns(frame, _ROWS) for cell in column.cells):
        return False
    # pandas keeps a character free.
    return max(map(len, frame.to_string().splitlines())) < width


def _held(frame: pd.DataFrame) -> np.ndarray:
    """The columns that hold a value; all, if none does."""
    held = frame.notna().any().to_numpy()
    return held if held.any() else ~held


def _blank(frame: pd.DataFrame, held: np.ndarray) -> str:
    names = [visible(str(name)) for name in frame.columns[~held]]
    return f"no value in: {', '.join(names)}" if names else ""


def _more(frame: pd.DataFrame, most: int) -> str:
    return f"… {len(frame) - most:,} more rows" if len(frame) > most else ""


# -- cells as text -----------------------------------------------------------------------------


def _columns(
    frame: pd.DataFrame, most: int, marks: Marks | None = None, *, flat: bool = False
) -> list[_Column]:
    """The levels of the index, or all of it in one column, and the columns, as texts."""
    rows = frame.head(most)
    if flat:
        labels = [_Column("", [cell_text(label) for label in rows.index], False)]
    else:
        names = ["" if name is None else str(name) for name in rows.index.names]
        labels = [
            _column(name, pd.Series(rows.index.get_level_values(at)), False)
            for at, name in enumerate(names)
        ]
    is_mixed = "unit" in rows and rows["unit"].nunique(dropna=False) > 1
    columns = [
        _column(str(name), rows.iloc[:, at], is_mixed) for at, name in enumerate(rows.columns)
    ]
    for at, column in enumerate(columns):
        if marks and column.name in marks:
            stars = ("*" if mark else " " for mark in marks[column.name])
            cells = [f"{cell}{star}" for cell, star in zip(column.cells, stars, strict=False)]
            columns[at] = column._replace(cells=cells)
    return [*labels, *columns]


def _column(name: str, values: pd.Series, is_mixed: bool) -> _Column:
    """A column as texts: numbers with as many digits as each other, days without midnight."""
    kind = values.dtype
    is_number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    if is_number and pd.api.types.is_float_dtype(kind):
        return _Column(
            visible(name),
            alike(values.to_numpy(np.float64, na_value=np.nan).tolist(), is_mixed=is_mixed),
            True,
        )
    cells = [cell_text(value) for value in values]
    if pd.api.types.is_datetime64_any_dtype(kind) and all(
        cell.endswith(_MIDNIGHT) or cell == "<NA>" for cell in cells
    ):
        cells = [cell.removesuffix(_MIDNIGHT) for cell in cells]
    return _Column(visible(name), cells, is_number)


def cell_text(value: Any) -> str:
    """A cell on one line, safe to show."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "<NA>"
    return joined(visible(str(value)).replace("\\n", " "))


# -- lines -------------------------------------------------------------------------------------


def _blocks(
    columns: Sequence[_Column], levels: int, width: int, *, is_one: bool = False
) -> Iterable[list[str]]:
    """The lines of the columns that stand beside each other, block by block."""
    labels, rest = [*columns[:levels]], [*columns[levels:]]
    least = {column.name: column.least() for column in rest}
    while True:
        part = list(labels)
        room = width - sum(column.least(is_label=True) + _GAP for column in labels) + _GAP
        while rest and (is_one or len(part) == levels or least[rest[0].name] + _GAP <= room):
            room -= least[rest[0].name] + _GAP
            part.append(rest.pop(0))
        lows = [column.least(is_label=at < levels) for at, column in enumerate(part)]
        yield [*_lines(part, _widths([column.natural for column in part], lows, width))]
        if not rest:
            return


def _widths(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths between the least and the natural ones; the widest give way first."""
    room = max(width - _GAP * (len(natural) - 1), sum(least))

    def within(cap: int) -> list[int]:
        return [max(low, min(size, cap)) for size, low in zip(natural, least, strict=True)]

    cap = max(natural, default=0)
    while cap > 1 and sum(within(cap)) > room:
        cap -= 1
    return within(cap)


def _lines(columns: Sequence[_Column], widths: Sequence[int]) -> Iterable[str]:
    heads = [column.name for column in columns]
    for row in (heads, *zip(*(column.cells for column in columns), strict=True)):
        cells = [wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            parts = (
                f"{cell[line] if line < len(cell) else '':{'>' if column.is_number else '<'}{size}}"
                for cell, size, column in zip(cells, widths, columns, strict=True)
            )
            yield (" " * _GAP).join(parts).rstrip()


# -- folds -------------------------------------------------------------------------------------


def _is_folded(frame: pd.DataFrame, view: ShowAs) -> bool:
    names = [*frame.columns, *frame.index.names]
    return bool(view.fold[0]) and names.count(view.fold[0]) == 1 and not frame.empty


def _parts(frame: pd.DataFrame, view: ShowAs) -> Iterable[tuple[Any, str]]:
    """Each value that is folded by, and how many rows of what it has."""
    column, noun, words = view.fold
    for value, part in frame.groupby(column, sort=False, dropna=False):
        count = counted(len(part), noun)
        if [*part.columns].count(words) == 1:
            firsts = Counter(
                cell_text(text).partition(":")[0].partition(" (")[0] for text in part[words]
            )
            count += ": " + ", ".join(f"{number:,} {word}" for word, number in firsts.items())
        yield value, count


def _folded_text(frame: pd.DataFrame, view: ShowAs) -> str:
    """A line for each value that is folded by, with how many rows it has, and how one is opened."""
    column, noun, _ = view.fold
    parts = [(value, cell_text(value), count) for value, count in _parts(frame, view)]
    width = max(len(text) for _, text, _ in parts)
    lines = [f"{text:{width}}  {count}" for _, text, count in parts]
    query = f".query({f'{column} == {parts[0][0]!r}'!r})"
    return "\n".join([*lines, f"{counted(len(frame), noun)}; those of one: {query}"])


# -- HTML --------------------------------------------------------------------------------------


def _page(frame: pd.DataFrame, more: str) -> str:
    """A listing as HTML, with notes on what it leaves out."""
    held = _held(frame)
    table = _table(_columns(frame.loc[:, held], _LISTED), frame.index.nlevels)
    notes = "".join(f"<p>{markup(note)}</p>" for note in (more, _blank(frame, held)) if note)
    return block(table + notes)


def _table(columns: Sequence[_Column], labels: int) -> str:
    return table_html(
        [column.name for column in columns],
        [*zip(*(column.cells for column in columns), strict=True)],
        numbers={at for at, column in enumerate(columns) if column.is_number},
        labels=labels,
    )


def table_html(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    numbers: Collection[int] = (),
    codes: Collection[int] = (),
    labels: int = 0,
) -> str:
    """Format texts as a table of HTML.

    Numbers are on the right, all else on the left; columns of sentences keep a width in which they
    can be read, and long names are broken where their parts meet.

    Parameters
    ----------
    heads : sequence of str
        The header; empty for none.
    rows : sequence of sequence of str
        The cells, as text.
    caption : str, default ''
        What the table holds.
    numbers, codes : collection of int, optional
        The columns of numbers, and those of names that are set as code.
    labels : int, default 0
        How many leading columns name their row.

    Examples
    --------
    >>> table_html(["n"], [["<1>"]], numbers=[0])
    ... # doctest: +NORMALIZE_WHITESPACE
    '<table class="dataframe tex2jax_ignore"><thead><tr><th scope="col"
    style="text-align:right;vertical-align:top">n</th></tr></thead><tbody><tr><td
    style="text-align:right;vertical-align:top">&lt;1&gt;</td></tr></tbody></table>'
    """
    width = len(heads or (rows[0] if rows else ()))
    longest = [max((len(row[at]) for row in rows), default=0) for at in range(width)]

    def cell(tag: str, at: int, text: str, of: str = "") -> str:
        style = f"text-align:{'right' if at in numbers else 'left'};vertical-align:top"
        if of == "col" and longest[at] > _NAME:
            style += f";min-width:{12 if longest[at] <= _TEXT else 24}em"
        scope = f' scope="{of}"' if of else ""
        content = _broken(visible(text))
        content = f"<code>{content}</code>" if at in codes and of != "col" else content
        return f'<{tag}{scope} style="{style}">{content}</{tag}>'

    head = "".join(cell("th", at, text, "col") for at, text in enumerate(heads))
    lines = (
        "".join(
            cell("th", at, text, "row") if at < labels else cell("td", at, text)
            for at, text in enumerate(row)
        )
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f'<caption style="text-align:left">{markup_long(caption)}</caption>' if caption else ""
    thead = f"<thead><tr>{head}</tr></thead>" if heads else ""
    return f'<table class="dataframe tex2jax_ignore">{title}{thead}<tbody>{body}</tbody></table>'


def _broken(text: str) -> str:
    """A text as HTML whose long names may be broken where their parts meet."""
    words = (
        "<wbr>".join(map(html.escape, name_parts(word))) if len(word) > _NAME else html.escape(word)
        for word in text.split(" ")
    )
    return " ".join(words)


def row_ranges(index: pd.Index, chosen: np.ndarray) -> str:
    """Name the chosen rows, neighbours together; how many they are where labels are no numbers.

    Examples
    --------
    >>> row_ranges(pd.RangeIndex(6), np.array([True, False, True, True, True, False]))
    'rows 0, 2-4'
    >>> row_ranges(pd.Index(["a", "b"]), np.array([True, False]))
    '1 row'
    """
    places = np.flatnonzero(chosen)
    runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
    if not index.equals(pd.RangeIndex(len(index))) or len(runs) > 8:
        return counted(len(places), "row")
    names = (f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return f"row{'s' * (len(places) != 1)} {', '.join(names)}"
