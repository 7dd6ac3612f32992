"""Rows in columns on standard output; on a terminal, what fits."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from aatoolkit._util.text import visible


def grid(heads: Iterable[str], rows: Iterable[Iterable[Any]], *, fits: bool = False) -> None:
    """Print rows in columns; on a terminal, the last column is cut to its width.

    With ``fits``, a terminal gets the rows and whole columns that it has room for, and a note of
    what was left out; a file or a pipe gets everything.
    """
    text = [[*map(str, heads)], *([_cell(value) for value in row] for row in rows)]
    if fits and sys.stdout.isatty():
        _screenful(text)
        return
    widths = [max(map(len, column)) for column in zip(*text, strict=True)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in text:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = line.rstrip()
        print(line if room is None or len(line) <= room else line[: room - 1] + "…")


def _screenful(text: Sequence[Sequence[str]]) -> None:
    """Print the first rows and columns that a terminal has room for, and note what it has not."""
    room, height = shutil.get_terminal_size()
    listed = [
        [each if _width(each) <= _WIDEST else each[: _WIDEST - 1] + "…" for each in row]
        for row in text[: max(height - 4, 2)]
    ]
    widths = [max(map(_width, column)) for column in zip(*listed, strict=True)]
    count = max(1, sum(end <= room + 2 for end in accumulate(width + 2 for width in widths)))
    for row in listed:
        cells = zip(row[:count], widths, strict=False)
        print("  ".join(cell + " " * (width - _width(cell)) for cell, width in cells).rstrip())
    parts = (len(listed) - 1, len(text) - 1, "rows"), (count, len(widths), "columns")
    left_out = [f"{shown} of {there} {what}" for shown, there, what in parts if shown < there]
    if left_out:
        print(f"{' and '.join(left_out)} fit here; --out FILE or a pipe has all", file=sys.stderr)


_WIDEST = 32
"""The width of the widest column on a terminal."""


def _width(text: str) -> int:
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
