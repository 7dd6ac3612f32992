"""Tables of a notebook: the one place that writes them."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

from aatoolkit._util.text import name_parts, visible

_LONG = 24
"""Names that are longer may be broken, and columns of what is longer keep a width to be read."""

_TEXT = 150
"""Longer cells are texts, which take twice that width."""


def table_html(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    numbers: Collection[int] = (),
    codes: Collection[int] = (),
    labels: int = 0,
    unbroken: int = 0,
    below: Sequence[str] = (),
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
    unbroken : int, default 0
        Cells of so many characters, or fewer, are not wrapped.
    below : sequence of str, optional
        A sentence below each row.

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
        if unbroken and len(text) <= unbroken:
            style += ";white-space:nowrap"
        if of == "col" and longest[at] > _LONG:
            style += f";min-width:{12 if longest[at] <= _TEXT else 24}em"
        scope = f' scope="{of}"' if of else ""
        shown = _broken(visible(text))
        shown = f"<code>{shown}</code>" if at in codes and of != "col" else shown
        return f'<{tag}{scope} style="{style}">{shown}</{tag}>'

    head = "".join(cell("th", at, text, "col") for at, text in enumerate(heads))
    lines = []
    for number, row in enumerate(rows):
        cells = (
            cell("th", at, text, "row") if at < labels else cell("td", at, text)
            for at, text in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
        if below:
            style = 'style="text-align:left;white-space:normal"'
            words = f'<td colspan="{width - 1}" {style}>{html.escape(visible(below[number]))}</td>'
            lines.append(f"<tr><td></td>{words}</tr>")
    title = (
        f'<caption style="text-align:left">{html.escape(visible(caption))}</caption>'
        if caption
        else ""
    )
    thead = f"<thead><tr>{head}</tr></thead>" if heads else ""
    body = f"<tbody>{''.join(lines)}</tbody>"
    return f'<table class="dataframe tex2jax_ignore">{title}{thead}{body}</table>'


def _broken(text: str) -> str:
    """A text as HTML whose long names may be broken where their parts meet."""
    if len(text) <= _LONG:
        return html.escape(text)
    words = (
        "<wbr>".join(map(html.escape, name_parts(word))) if len(word) > _LONG else html.escape(word)
        for word in text.split(" ")
    )
    return " ".join(words)
