"""HTML: elements, tables whose numbers link to their evidence, small line charts and pictures."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import Numbers, PlotData, shares_of_range
from aatoolkit.display.plot.style import DARK, LIGHT, column_title
from aatoolkit.display.plot.tables import cell_texts
from aatoolkit.display.report.words import unit_words

if TYPE_CHECKING:
    from aatoolkit.display.report.evidence import TableEvidence

_PAPER = ("ink", "muted", "grid", "paper", "lack", "hatch")
"""The colours that follow the theme of the page."""
_DASH = '<td class="missing"><span aria-label="missing">–</span></td>'
_MANY, _MOST = 4, 7
"""The columns that fit a phone, and a page."""
_WIDE, _HIGH = 120, 28
"""The size of a line on a card."""
_FAMILY = re.compile(r"(?<=px;) font-family:[^;\"]*;")
_FONT = "font-family:DejaVu Sans,Verdana,sans-serif"
"""The font of each text of a picture, and how it is written once: fonts of measured widths."""


def text(words: object, most: int = 160) -> str:
    r"""Return untrusted text as HTML: escaped, and cut to at most ``most`` characters.

    Examples
    --------
    >>> text("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    safe = visible(str(words))
    cut = f"{safe[: most - 1]}…" if len(safe) > most else safe
    return html.escape(cut)


def attribute(name: str, value: str) -> str:
    """Return an attribute of an HTML element, with a space before it; "" if ``value`` is empty.

    Examples
    --------
    >>> attribute("class", "number"), attribute("id", "")
    (' class="number"', '')
    """
    return f' {name}="{html.escape(value)}"' if value else ""


def fold(head: str, inside: str, kind: str = "") -> str:
    """Return a foldable HTML element: a click on ``head`` shows ``inside``; both are HTML."""
    return f"<details{attribute('class', kind)}><summary>{head}</summary>{inside}</details>"


def bullets(items: Sequence[str]) -> str:
    """Return a bullet list of HTML items; empty without items."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def grid(caption: str, name: str, heads: Sequence[str], rows: Iterable[str]) -> str:
    """Return an HTML table; if it is wide, it can be scrolled, also by keyboard.

    ``caption`` is HTML; ``name`` is text for screen readers. ``heads`` are the ``<th>`` elements of
    the columns, ``rows`` the ``<tr>`` elements.
    """
    body = "\n".join(rows)
    table = (
        f"<table><caption>{caption}</caption><thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>{body}</tbody></table>"
    )
    kind = "wide many" if len(heads) > _MANY else "wide"
    label = attribute("aria-label", name[:80])
    return f'<div class="{kind}" role="region" tabindex="0"{label}>{table}</div>'


def table_of(evidence: TableEvidence, data: PlotData, columns: Sequence[str]) -> str:
    """Return an HTML table of the first rows, with readable heads; numbers link to their evidence.

    Parameters
    ----------
    evidence
        The rows to show. The evidence of their numbers is added to it.
    data
        All rows of the table.
    columns
        The columns to show. If at most half of them exist, other columns are chosen.
    """
    part, title = evidence.data, evidence.title
    heads = _heads(data, columns)
    labels = [f"row {at}" for at in range(1, len(part) + 1)]
    has_labels = data.kinds[heads[0]] in ("word", "time")
    if has_labels:
        labels = cell_texts(part, heads[0])
    cells = [_cells(part, column, labels, evidence) for column in heads[has_labels:]]
    if has_labels:
        cells = [[f'<th scope="row">{text(label)}</th>' for label in labels], *cells]
    rows = (
        f"<tr{attribute('id', evidence.anchor(at))}>{''.join(row)}</tr>"
        for at, row in enumerate(zip(*cells, strict=True))
    )
    of = f"first {len(part):,} of {len(data):,} rows" if len(part) < len(data) else "all rows"
    caption = f"<b>{text(title)}</b> ({of})"
    return grid(caption, title, [_head(data, head) for head in heads], rows)


def _heads(data: PlotData, columns: Sequence[str]) -> list[str]:
    """Return the names of the columns to show: the column that labels rows, then the others."""
    label, heads = data.label_column, [name for name in columns if name in data.kinds]
    if 2 * len(heads) <= len(columns):
        hidden = ["_row", *(key for key in data.keys if f"_{key}".endswith("_id") and key != label)]
        heads = [name for name in data.kinds if name not in hidden]
        best = [*dict.fromkeys([*data.keys, *data.measures[:_MANY], *heads])][:_MOST]
        heads = [name for name in heads if name in best]
    return [*dict.fromkeys([*filter(None, [label]), *heads])]


def _head(data: PlotData, name: str) -> str:
    unit = unit_words(data.unit(name))
    is_named = unit.rpartition(" ")[2].rstrip("s") in name  # such as requests
    small = f"<small>{text(unit, 40)}</small>" if unit and not is_named else ""
    head = f"{text(column_title(name), 60)}{small}"
    return f'<th class="{data.kinds[name]}" scope="col">{head}</th>'


def _cells(data: PlotData, name: str, labels: Sequence[str], evidence: TableEvidence) -> list[str]:
    kind, lacking = data.kinds[name], data.frame[name].isna()
    words = cell_texts(data, name)
    if kind == "number":
        return [
            f'<td class="number">{evidence.link(at, name, label, word)}</td>'
            for at, (label, word) in enumerate(zip(labels, words, strict=True))
        ]
    return [
        _DASH if lacks else f'<td class="{kind}">{text(word)}</td>'
        for word, lacks in zip(words, lacking, strict=True)
    ]


def spark(values: Numbers) -> str:
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
    """Return an SVG picture as an HTML image with the alternative text ``alt``.

    Its colours follow the light or dark theme of the reader's screen.
    """
    for name in _PAPER:
        svg = svg.replace(LIGHT[name], f"var(--{name})")
    light, dark = (
        ";".join(f"--{name}:{colours[name]}" for name in _PAPER) for colours in (LIGHT, DARK)
    )
    themes = f"svg{{{light};{_FONT}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    start, _, rest = svg[svg.index("<svg") :].partition(">")
    svg = f"{start}><style>{themes}</style>{rest}"
    source = " ".join(_FAMILY.sub("", svg).replace("%", "%25").replace("#", "%23").split())
    source = source.replace("&", "&amp;").replace("'", "&#x27;")
    return f"<img alt=\"{text(alt, 700)}\" src='data:image/svg+xml,{source}'>"
