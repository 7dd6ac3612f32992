"""`Listing`: a DataFrame of sentences that is shown whole; `FileList`: paths that are counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from aatoolkit._util.html_table import table_html
from aatoolkit._util.terminal import terminal_width, wrap_cell
from aatoolkit._util.text import joined, markup, name_parts, visible

_ROWS = 200
"""How many rows are shown."""

_OPEN = 20
"""So many rows are folded open."""

_GAP = 2
_NARROW = 12
"""Below this many characters a column of sentences cannot be read."""

_SENTENCE = 24
"""Below this many characters a column of sentences, which are longer than `_PHRASE`, is tiring."""

_PHRASE = 40

_WORD = 34
"""Longer words are broken, where there is no room."""

_MIDNIGHT = " 00:00:00"

_SHORT = 24
"""Names that are not longer are not broken."""


class FileList(list[Path]):
    """The files that were written: a list that prints how many there are, and where.

    Examples
    --------
    >>> FileList([Path("acme/gaps/gap_domains.parquet"), Path("acme/urls/cited_urls.parquet")])
    <2 files in acme>
    """

    def __repr__(self) -> str:
        if not self:
            return "<no files>"
        place = os.path.commonpath([path.parent for path in self])
        return f"<{len(self):,} file{'s' * (len(self) != 1)} in {visible(place or '.')}>"


class Listing(pd.DataFrame):
    """A DataFrame that describes others: few rows, words in them, and no cell is cut.

    It is a `pandas.DataFrame` in all it does. In a terminal long sentences are wrapped within
    their column, in a notebook the page wraps them; pandas would show ``...`` instead. Columns
    without any value are named below the table.

    Examples
    --------
    >>> Listing({"status": ["partial"], "reason": ["This engine has not run yet."]})
       status   reason
    0  partial  This engine has not run yet.
    """

    _metadata = ["folded_by", "fold_words"]  # noqa: RUF012 - pandas reads it from the class
    folded_by: str | None = None
    fold_words: tuple[str, str | None] = ("row", None)

    @property
    def _constructor(self) -> type[Listing]:
        return Listing

    def fold_by(self, column: str, noun: str = "row", words: str | None = None) -> Listing:
        """Return the same rows, folded by the values of a column where they are many.

        Parameters
        ----------
        column : str
            A notebook shows a fold for each of its values; so does a terminal, a line each, where
            there are more rows than pandas shows (``display.max_rows``).
        noun : str, default 'row'
            What a row is.
        words : str, optional
            The column whose first words are counted beside each fold.
        """
        folded = self.copy(deep=False)
        object.__setattr__(folded, "folded_by", column)
        object.__setattr__(folded, "fold_words", (noun, words))
        return folded

    def __repr__(self) -> str:
        if self.empty:
            return repr(pd.DataFrame(self))
        if self._is_folded and len(self) > (pd.get_option("display.max_rows") or len(self)):
            return self._folded()
        shown, blank = _without_blanks(self)
        heads, rows = _cells(shown)
        numbers = _numbers(shown)
        blocks = (
            "\n".join(_lines(heads, rows, part, widths, numbers))
            for part, widths in _blocks(heads, rows, shown.index.nlevels, terminal_width())
        )
        notes = [note for note in (self._more(), _blank_note(blank)) if note]
        return "\n".join(["\n\n".join(blocks), *notes])

    def _repr_html_(self) -> str:
        if not self._is_folded:
            return _page(self, self._more())
        is_open = " open" if len(self) <= _OPEN else ""
        parts = [
            f"<details{is_open}><summary><code>{markup(str(value))}</code> "
            f"{markup(count)}</summary>"
            f"{_page(part, '', index=0)}"
            "</details>"
            for value, part, count in self._parts(_ROWS)
        ]
        return f'<div class="tex2jax_ignore">{"".join(parts)}{self._more()}</div>'

    @property
    def _is_folded(self) -> bool:
        names = [*self.columns, *self.index.names]
        return self.folded_by is not None and names.count(self.folded_by) == 1 and not self.empty

    def _parts(self, most: int) -> Iterable[tuple[Any, pd.DataFrame, str]]:
        """Each value that is folded by, its rows, and how many of what they are."""
        noun, words = self.fold_words
        rows = self.head(most)
        for value, part in rows.groupby(str(self.folded_by), sort=False, dropna=False):
            count = f"{len(part):,} {noun}{'s' if len(part) > 1 else ''}"
            if [*part.columns].count(words) == 1:
                found = Counter(part[words].map(_first_words))
                count += ": " + ", ".join(f"{n:,} {word}" for word, n in found.items())
            at_index = self.folded_by in part.index.names
            part = part.reset_index(drop=not at_index).drop(columns=str(self.folded_by))
            yield value, part, count

    def folds(self) -> list[str]:
        """Format a line for each value that it is folded by, with how many rows it has."""
        found = [(cell_text(value), count) for value, _, count in self._parts(len(self))]
        width = max((len(value) for value, _ in found), default=0)
        return [f"{value:{width}}  {count}" for value, count in found]

    def _folded(self) -> str:
        """The folds, and how one is opened."""
        first, *_ = next(iter(self._parts(1)))
        query = f".query({f'{self.folded_by} == {first!r}'!r})"
        return "\n".join(
            [*self.folds(), f"{len(self):,} {self.fold_words[0]}s; those of one: {query}"]
        )

    def _more(self) -> str:
        return f"… {len(self) - _ROWS:,} more rows" if len(self) > _ROWS else ""


def _first_words(text: Any) -> str:
    """What a sentence begins with: ``partial`` of ``partial (not run): because``."""
    return cell_text(text).partition(":")[0].partition(" (")[0]


def _without_blanks(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns that hold a value, and the names of the others; all, if none does."""
    held = frame.notna().any().to_numpy()
    if held.all() or not held.any():
        return frame, []
    return frame.loc[:, held], [visible(str(name)) for name in frame.columns[~held]]


def _blank_note(names: Sequence[str]) -> str:
    return f"no value in: {', '.join(names)}" if names else ""


def _numbers(frame: pd.DataFrame) -> set[int]:
    """The places of columns of numbers, after those of the index."""
    return {
        frame.index.nlevels + at
        for at in range(frame.shape[1])
        if pd.api.types.is_numeric_dtype(frame.dtypes.iloc[at])
        and not pd.api.types.is_bool_dtype(frame.dtypes.iloc[at])
    }


def _page(frame: pd.DataFrame, more: str, index: int | None = None) -> str:
    """A frame as HTML, with a note on what it leaves out; `index`: how many of its levels."""
    shown, blank = _without_blanks(frame)
    levels = shown.index.nlevels
    heads, rows = _cells(shown)
    kept = levels if index is None else index
    table = table_html(
        heads[levels - kept :],
        [row[levels - kept :] for row in rows],
        numbers={at - levels + kept for at in _numbers(shown)},
        labels=kept,
    )
    notes = "".join(f"<p>{markup(note)}</p>" for note in (more, _blank_note(blank)) if note)
    return f'<div class="tex2jax_ignore">{table}{notes}</div>'


def _cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The heads of index and columns, and the cells as text that is safe to show."""
    shown = frame.head(_ROWS)
    names = ["" if name is None else str(name) for name in shown.index.names]
    heads = [visible(name) for name in (*names, *map(str, shown.columns))]
    columns: list[Iterable[Any]] = [*map(shown.index.get_level_values, range(len(names)))]
    columns += [shown.iloc[:, at] for at in range(shown.shape[1])]
    texts = [_texts(pd.Series(column)) for column in columns]
    return heads, [list(row) for row in zip(*texts, strict=True)]


def _texts(values: pd.Series) -> list[str]:
    """The cells of a column as text; moments that are all days are written as such."""
    texts = [cell_text(value) for value in values]
    days = pd.api.types.is_datetime64_any_dtype(values.dtype)
    if days and all(text.endswith(_MIDNIGHT) or text == "<NA>" for text in texts):
        return [text.removesuffix(_MIDNIGHT) for text in texts]
    return texts


def cell_text(value: Any) -> str:
    """A cell on one line, safe to show."""
    missing = pd.api.types.is_scalar(value) and pd.isna(value)
    if missing:
        return "<NA>"
    return joined(visible(str(value)).replace("\\n", " "))


def _blocks(
    heads: Sequence[str], rows: Sequence[Sequence[str]], levels: int, width: int
) -> Iterable[tuple[list[int], list[int]]]:
    """The columns that stand beside each other, block by block, with the width of each."""
    natural = [max(len(head), *(len(row[at]) for row in rows)) for at, head in enumerate(heads)]
    least = [
        min(
            size,
            max(
                len(head),
                _SENTENCE if size > _PHRASE else _NARROW,
                *(_longest_word(row[at], at < levels) for row in rows),
            ),
        )
        for at, (size, head) in enumerate(zip(natural, heads, strict=True))
    ]
    index = list(range(levels))
    rest = list(range(levels, len(heads)))
    while True:
        part = list(index)
        while rest and (
            len(part) == len(index)
            or sum(least[at] + _GAP for at in [*part, rest[0]]) - _GAP <= width
        ):
            part.append(rest.pop(0))
        yield part, _widths([natural[at] for at in part], [least[at] for at in part], width)
        if not rest:
            return


def _longest_word(text: str, is_label: bool) -> int:
    words = text.split() if is_label else [part for word in text.split() for part in _long(word)]
    return min(_WORD, max(map(len, words), default=0))


def _long(word: str) -> list[str]:
    return name_parts(word) if len(word) > _SHORT else [word]


def _widths(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths between the least and the natural ones; the widest give way first."""
    room = max(width - _GAP * (len(natural) - 1), sum(least))
    cap = max(natural, default=0)
    while cap > 1 and sum(_within(natural, least, cap)) > room:
        cap -= 1
    return _within(natural, least, cap)


def _within(natural: Sequence[int], least: Sequence[int], cap: int) -> list[int]:
    return [max(low, min(size, cap)) for size, low in zip(natural, least, strict=True)]


def _lines(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    part: Sequence[int],
    widths: Sequence[int],
    numbers: set[int],
) -> Iterable[str]:
    for row in (heads, *rows):
        wrapped = [wrap_cell(row[at], size) for at, size in zip(part, widths, strict=True)]
        for line in range(max(map(len, wrapped))):
            cells = (
                f"{cell[line] if line < len(cell) else '':{'>' if at in numbers else '<'}{size}}"
                for cell, size, at in zip(wrapped, widths, part, strict=True)
            )
            yield (" " * _GAP).join(cells).rstrip()
