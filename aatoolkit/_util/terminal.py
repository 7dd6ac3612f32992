"""The terminal: how wide text is, and lines that are wrapped within it."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import Any

from aatoolkit._util.text import name_parts

_DEFAULT = 80
_COLUMNS = re.compile(r"\S {2,}(?=\S)")


def terminal_width() -> int:
    """The width to print in: that of pandas where one is set, or of the terminal, or 80.

    Examples
    --------
    >>> import pandas as pd
    >>> with pd.option_context("display.width", 120):
    ...     terminal_width()
    120
    """
    pandas = sys.modules.get("pandas")  # declarations are printed without it
    width: int | None = pandas.get_option("display.width") if pandas else None
    if width and width != _DEFAULT:  # pandas has 80 where nobody set it
        return width
    return shutil.get_terminal_size((_DEFAULT, 24)).columns


def wrap_cell(text: str, width: int) -> list[str]:
    """Wrap a text; names that are too long are broken where their parts meet.

    Examples
    --------
    >>> wrap_cell("see source_domains.retrieved_answer_count", 24)
    ['see source_domains.', 'retrieved_answer_count']
    """
    pieces: list[str] = []
    for word in text.split(" "):
        line = ""
        for part in name_parts(word) if len(word) > width else [word]:
            if line and len(line) + len(part) > width:
                pieces.append(line)
                line = ""
            line += part
        pieces.append(line)
    return textwrap.wrap(" ".join(pieces), width, break_on_hyphens=False) or [""]


def wrap_lines(text: str, width: int | None = None) -> str:
    r"""Wrap each line that is too long; it goes on below its last column, or its beginning.

    Examples
    --------
    >>> print(wrap_lines("a table\n  name  partial: no engine has run yet", 24))
    a table
      name  partial: no engine
            has run yet
    """
    room = width or terminal_width()
    return "\n".join(_wrapped(line, room) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = len(line) - len(line.lstrip()) + 2
    columns = [found.end() for found in _COLUMNS.finditer(line) if found.end() <= width // 2]
    start = columns[-1] if columns else indent
    rest = textwrap.wrap(
        line[start:] if columns else line.strip(),
        width - start,
        break_on_hyphens=False,
        initial_indent="" if columns else " " * (indent - 2),
    )
    lead = line[:start] if columns else ""
    return f"\n{' ' * start}".join([lead + rest[0], *rest[1:]])


def wrapped_in_ipython(thing: Any, printer: Any, cycle: bool) -> None:
    """Print within the terminal's width: the method ``_repr_pretty_`` of what has long lines."""
    printer.text(wrap_lines(repr(thing)))
