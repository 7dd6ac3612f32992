"""`Listing`: a DataFrame of sentences that is shown whole; `FileList`: paths that are counted."""

from __future__ import annotations

import html
import os
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from aatoolkit._util.text import visible

_ROWS = 200
"""How many rows are shown."""

_GAP = 2
_NARROW = 12
"""Below this many characters a column of sentences cannot be read."""

_WORD = 34
"""Longer words are broken, where there is no room."""


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
    their column, in a notebook the page wraps them; pandas would show ``...`` instead.

    Examples
    --------
    >>> Listing({"status": ["partial"], "reason": ["This engine has not run yet."]})
       status   reason
    0  partial  This engine has not run yet.
    """

    _metadata = ["folded_by"]  # noqa: RUF012 - pandas reads it from the class
    folded_by: str | None = None

    @property
    def _constructor(self) -> type[Listing]:
        return Listing

    def fold_by(self, column: str) -> Listing:
        """Return the same rows, folded in notebooks by the values of a column."""
        folded = self.copy(deep=False)
        object.__setattr__(folded, "folded_by", column)
        return folded

    def __repr__(self) -> str:
        if self.empty:
            return repr(pd.DataFrame(self))
        heads, rows = _cells(self)
        numbers = {
            self.index.nlevels + at
            for at in range(self.shape[1])
            if pd.api.types.is_numeric_dtype(self.dtypes.iloc[at])
        }
        width = pd.get_option("display.width") or 80
        width = shutil.get_terminal_size((width, 24)).columns
        blocks = (
            "\n".join(_lines(heads, rows, part, widths, numbers))
            for part, widths in _blocks(heads, rows, self.index.nlevels, width)
        )
        return "\n\n".join(blocks) + self._more()

    def _repr_html_(self) -> str:
        folded_by = self.folded_by
        if folded_by is None or folded_by not in self.columns or self.empty:
            heads, rows = _cells(self)
            return f'<div class="tex2jax_ignore">{table_html(heads, rows)}{self._more()}</div>'
        parts = []
        for value, part in self.head(_ROWS).groupby(folded_by, sort=False, dropna=False):
            heads, rows = _cells(part.drop(columns=folded_by).reset_index(drop=True))
            count = f"{len(part):,} row{'s' if len(part) > 1 else ''}"
            parts.append(
                f"<details><summary><code>{html.escape(str(value))}</code> {count}</summary>"
                f"{table_html(heads[1:], [row[1:] for row in rows])}</details>"
            )
        return f'<div class="tex2jax_ignore">{"".join(parts)}{self._more()}</div>'

    def _more(self) -> str:
        return f"\n… {len(self) - _ROWS:,} more rows" if len(self) > _ROWS else ""


def _cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The heads of index and columns, and the cells as text that is safe to show."""
    shown = frame.head(_ROWS)
    names = ["" if name is None else str(name) for name in shown.index.names]
    heads = [visible(name) for name in (*names, *map(str, shown.columns))]
    columns: list[Iterable[Any]] = [*map(shown.index.get_level_values, range(len(names)))]
    columns += [shown.iloc[:, at] for at in range(shown.shape[1])]
    texts = [[cell_text(value) for value in column] for column in columns]
    return heads, [list(row) for row in zip(*texts, strict=True)]


def cell_text(value: Any) -> str:
    """A cell on one line, safe to show."""
    missing = pd.api.types.is_scalar(value) and pd.isna(value)
    return "<NA>" if missing else visible(str(value)).replace("\\n", " ")


def _blocks(
    heads: Sequence[str], rows: Sequence[Sequence[str]], levels: int, width: int
) -> Iterable[tuple[list[int], list[int]]]:
    """The columns that stand beside each other, block by block, with the width of each."""
    natural = [max(len(head), *(len(row[at]) for row in rows)) for at, head in enumerate(heads)]
    least = [
        min(size, max(len(head), _NARROW, *(_longest_word(row[at]) for row in rows)))
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


def _longest_word(text: str) -> int:
    return min(_WORD, max(map(len, text.split()), default=0))


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
        wrapped = [
            textwrap.wrap(row[at], size, break_on_hyphens=False) or [""]
            for at, size in zip(part, widths, strict=True)
        ]
        for line in range(max(map(len, wrapped))):
            cells = (
                f"{cell[line] if line < len(cell) else '':{'>' if at in numbers else '<'}{size}}"
                for cell, size, at in zip(wrapped, widths, part, strict=True)
            )
            yield (" " * _GAP).join(cells).rstrip()


def table_html(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts as HTML, whose cells wrap."""
    style = ' style="text-align:left;white-space:normal"'
    head = "".join(f"<th{style}>{html.escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td{style}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
