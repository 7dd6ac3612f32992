"""Functions that return HTML: elements, tables with links, small line charts and images."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aatoolkit._util.text import name_parts, visible
from aatoolkit.display.plot.data import Numbers, PlotData, shares_of_range
from aatoolkit.display.plot.style import LIGHT, column_title
from aatoolkit.display.plot.tables import cell_texts, table_columns
from aatoolkit.display.report.style import STYLE

if TYPE_CHECKING:
    from aatoolkit.display.report.evidence import TableEvidence

_MANY, _MOST = 4, 7
"""How many columns fit a phone, and a page."""
_WIDE, _HIGH = 120, 28
"""The width and height of a line chart on a card."""
_FAMILY = re.compile(r"(?<=px;) font-family:[^;\"]*;")
_FONT = "font-family:DejaVu Sans,Verdana,sans-serif"
"""Matches the font of each text of a picture; and the font that the picture has instead, once."""


def escape(text: object, max_length: int = 160) -> str:
    r"""Return untrusted text as HTML: escaped, and cut to at most ``max_length`` characters.

    Examples
    --------
    >>> escape("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    shown = visible(str(text))
    shortened = f"{shown[: max_length - 1]}…" if len(shown) > max_length else shown
    return html.escape(shortened)


def _breakable(text: str) -> str:
    """Return a text as HTML in which lines may break after the dots and slashes of an address."""
    return "<wbr>".join(map(escape, name_parts(text))) if len(text) <= 160 else escape(text)


def attribute(name: str, value: str) -> str:
    """Return an attribute of an HTML element, with a space before it; "" if ``value`` is empty.

    Examples
    --------
    >>> attribute("class", "number"), attribute("id", "")
    (' class="number"', '')
    """
    return f' {name}="{html.escape(value)}"' if value else ""


def fold(head: str, inside: str, css_class: str = "") -> str:
    """Return a collapsible HTML element: a click on ``head`` shows ``inside``; both are HTML."""
    return f"<details{attribute('class', css_class)}><summary>{head}</summary>{inside}</details>"


def bullets(items: Sequence[str]) -> str:
    """Return HTML items as a bullet list, or "" if there are none."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def grid(caption: str, name: str, header_cells: Sequence[str], rows: Iterable[str]) -> str:
    """Return an HTML table that scrolls sideways; ``name`` is its label for screen readers."""
    body = "\n".join(rows)
    table = (
        f"<table><caption>{caption}</caption><thead><tr>{''.join(header_cells)}</tr></thead>\n"
        f"<tbody>{body}</tbody></table>"
    )
    css_class = "wide many" if len(header_cells) > _MANY else "wide"
    label = attribute("aria-label", name[:80])
    return f'<div class="{css_class}" role="region" tabindex="0"{label}>{table}</div>'


def table_of(evidence: TableEvidence, data: PlotData, columns: Sequence[str]) -> str:
    """Return an HTML table of the first rows, whose numbers link to their explanations.

    ``data`` has all rows; ``evidence`` has the rows to show and collects the explanations.
    """
    shown, title = evidence.data, evidence.title
    shown_columns = _columns_to_show(data, shown, columns)
    labels = [f"row {at}" for at in range(1, len(shown) + 1)]
    has_labels = data.kinds[shown_columns[0]] in ("word", "time")
    if has_labels:
        labels = [*cell_texts(shown, shown_columns[0])]
    cells = [_cells(shown, column, labels, evidence) for column in shown_columns[has_labels:]]
    if has_labels:
        cells = [[f'<th scope="row">{_breakable(label)}</th>' for label in labels], *cells]
    rows = (
        f"<tr{attribute('id', evidence.anchor(at))}>{''.join(row)}</tr>"
        for at, row in enumerate(zip(*cells, strict=True))
    )
    extent = f"first {len(shown):,} of {len(data):,} rows" if len(shown) < len(data) else "all rows"
    caption = f"<b>{escape(title)}</b> ({extent})"
    header_cells = [
        f'<th class="{data.kinds[name]}" scope="col">{escape(column_title(name), 60)}</th>'
        for name in shown_columns
    ]
    return grid(caption, title, header_cells, rows)


def _columns_to_show(data: PlotData, rows: PlotData, columns: Sequence[str]) -> list[str]:
    """Return the names of the columns to show: the column that labels rows, then the others."""
    label, shown = data.label_column, [name for name in columns if name in data.kinds]
    if 2 * len(shown) <= len(columns):
        shown = [n for n in table_columns(rows, most=_MOST) if not rows.is_bare_key(n)]
    # The name of a row is not repeated.
    names = cell_texts(rows, label) if label else ()
    return [*filter(None, [label]), *(n for n in shown if cell_texts(rows, n) != names)]


def _cells(data: PlotData, name: str, labels: Sequence[str], evidence: TableEvidence) -> list[str]:
    kind, is_missing = data.kinds[name], data.frame[name].isna()
    texts = cell_texts(data, name)
    if kind in ("number", "code"):
        return [
            f'<td class="number">{evidence.add_link(row, name, label, text)}</td>'
            for row, (label, text) in enumerate(zip(labels, texts, strict=True))
        ]
    return [
        '<td class="missing"><span aria-label="missing">–</span></td>'
        if lacks
        else f'<td class="{kind}">{_breakable(text)}</td>'
        for text, lacks in zip(texts, is_missing, strict=True)
    ]


def sparkline(values: Numbers) -> str:
    """Return a small line chart as SVG, with gaps at missing numbers."""
    heights = 2 + (_HIGH - 4) * (1 - shares_of_range(values))
    path, pen = "", "M"
    for x, y in zip(np.linspace(2, _WIDE - 2, len(heights)), heights, strict=True):
        path += "" if np.isnan(y) else f"{pen}{x:.0f} {y:.0f}"
        pen = "M" if np.isnan(y) else "L"
    if not path:
        return ""
    line = f'<path d="{path}" fill="none" stroke="var(--link)" stroke-width="1.5"/>'
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">{line}</svg>'


def image(svg: str, alt: str) -> str:
    """Return an SVG image as an HTML element, with colours for light and dark screens.

    ``alt`` is the alternative text.
    """
    # The colours of the page follow its theme; they are repeated, for an image does not see them.
    for name, colour in LIGHT.items():
        svg = svg.replace(colour, f"var(--{name})") if f"--{name}:" in STYLE else svg
    colours = STYLE.partition("*")[0].replace(":root", "svg")
    css = f"svg {{ {_FONT} }} {colours}"
    start, _, content = svg[svg.index("<svg") :].partition(">")
    svg = f"{start}><style>{css}</style>{content}"
    source = " ".join(_FAMILY.sub("", svg).replace("%", "%25").replace("#", "%23").split())
    source = source.replace("&", "&amp;").replace("'", "&#x27;")
    return f"<img alt=\"{escape(alt, 700)}\" src='data:image/svg+xml,{source}'>"
