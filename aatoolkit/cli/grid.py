"""Rows in columns: all of them in a file or a pipe, what fits on a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from aatoolkit._util.text import visible
from aatoolkit.cli.streams import note

_WIDEST = 32
"""The width of the widest column on a terminal."""


def grid(heads: Iterable[str], rows: Iterable[Iterable[Any]], *, fits: bool = False) -> None:
    """Print rows in columns; on a terminal, the last column is cut to its width.

    With ``fits``, a terminal gets the rows and whole columns that it has room for, and a note of
    what was left out; a file or a pipe gets everything.
    """
    text = [[*map(str, heads)], *([_cell(value) for value in row] for row in rows)]
    if fits and sys.stdout.isatty():
        _screenful(text)
        return
    widths = [max(map(width_of, column)) for column in zip(*text, strict=True)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in text:
        line = _line(row, widths)
        print(line if room is None else _cut(line, room))


def _screenful(text: Sequence[Sequence[str]]) -> None:
    """Print the first rows and columns that a terminal has room for, and note what it has not."""
    room, height = shutil.get_terminal_size()
    listed = [[_cut(each, _WIDEST) for each in row] for row in text[: max(height - 4, 2)]]
    widths = [max(map(width_of, column)) for column in zip(*listed, strict=True)]
    count = max(1, sum(end <= room + 2 for end in accumulate(width + 2 for width in widths)))
    for row in listed:
        print(_cut(_line(row[:count], widths), room))
    parts = (len(listed) - 1, len(text) - 1, "rows"), (count, len(widths), "columns")
    left_out = [f"{shown} of {there} {what}" for shown, there, what in parts if shown < there]
    if left_out:
        note(f"{' and '.join(left_out)} fit here; --out FILE or a pipe has all")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells in columns of these widths."""
    padded = (
        cell + " " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=False)
    )
    return "  ".join(padded).rstrip()


def _cut(text: str, room: int) -> str:
    """The text, cut where a terminal has no more room for it."""
    if width_of(text) <= room:
        return text
    ends = accumulate(map(width_of, text))
    return text[: sum(end < room for end in ends)] + "…"


def width_of(text: str) -> int:
    """The columns of a terminal that a text takes: letters of East Asia take two each."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def _cell(value: Any) -> str:
    from pandas import isna
    from pandas.api.types import is_scalar

    if not is_scalar(value):
        return ", ".join(map(_cell, value))
    if isna(value):
        return ""
    if getattr(value, "hour", None) == 0 and getattr(value, "tzinfo", None) is None:
        return f"{value:%Y-%m-%d}"
    return visible(f"{value:.4g}" if isinstance(value, float) else str(value))
