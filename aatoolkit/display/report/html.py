"""HTML: elements, tables of numbers with their evidence, bars, lines and pictures."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aatoolkit._util.numbers import number
from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.style import DARK, LIGHT, first_of
from aatoolkit.display.plot.tables import cell_texts
from aatoolkit.display.report.words import (
    RowNames,
    column_title,
    plain,
    title_of,
    unit_words,
)

if TYPE_CHECKING:
    from aatoolkit.display.report.evidence import TableEvidence

_PAPER = ("ink", "muted", "grid", "paper", "lack", "hatch")
"""The colours that follow the theme of the page."""
_DASH = '<td class="missing"><span aria-label="missing">–</span></td>'
_MANY, _BARS = 4, 6
"""The columns that fit a phone, and the rows that are drawn as bars."""
_WIDE, _HIGH = 120, 28
"""The size of a line on a card."""
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters of scripts that are written from right to left."""


def text(words: object, most: int = 160) -> str:
    r"""Untrusted text, escaped, shortened, and isolated from the direction of its surroundings.

    Examples
    --------
    >>> text("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    safe = visible(str(words))
    cut = f"{safe[: most - 1]}…" if len(safe) > most else safe
    escaped = html.escape(cut)
    return f"<bdi>{escaped}</bdi>" if _RIGHT_TO_LEFT.search(cut) else escaped


def element(name: str, inside: str, kind: str = "", **attributes: object) -> str:
    """An element around HTML; attributes without a value are left out.

    Examples
    --------
    >>> element("td", "1", "number", colspan=2)
    '<td class="number" colspan="2">1</td>'
    """
    pairs = {"class": kind, **attributes}.items()
    written = "".join(f' {key}="{html.escape(str(value))}"' for key, value in pairs if value != "")
    return f"<{name}{written}>{inside}</{name}>"


def fold(head: str, inside: str, kind: str = "") -> str:
    """A part of a page that opens at its head; both are HTML."""
    return element("details", f"<summary>{head}</summary>{inside}", kind)


def bullets(items: Sequence[str], head: str = "") -> str:
    """A list of HTML, folded below a head where it has one; empty without items."""
    if not items:
        return ""
    rows = element("ul", "".join(element("li", item) for item in items))
    return fold(f"{head} ({len(items)})", rows) if head else rows


def grid(caption: str, name: str, heads: Iterable[str], rows: Iterable[str], width: int) -> str:
    """A table of HTML that scrolls, also by keyboard, where it is wide."""
    body = "\n".join(rows)
    table = (
        f"<table><caption>{caption}</caption><thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>{body}</tbody></table>"
    )
    kind = "wide many" if width > _MANY else "wide"
    label = {"aria-label": name[:80]}
    return element("div", table, kind, role="region", tabindex="0", **label)


def table_of(
    data: PlotData,
    name: str,
    most: int,
    names: RowNames,
    columns: Sequence[str],
    evidence: TableEvidence,
) -> str:
    """The first rows of a table under plain heads, each number a link to its evidence.

    Parameters
    ----------
    data
        The table.
    name
        Its name.
    most
        The most rows that are shown.
    names
        The names of rows that it refers to.
    columns
        The columns to show, as far as they are there; all of them if there are none.
    evidence
        Collects where the numbers come from.
    """
    heads = [column for column in columns if column in data.kinds] or _without_surplus(data)
    part = replace(data, frame=data.frame.head(most))
    labels = [f"row {at}" for at in range(1, len(part) + 1)]
    has_labels = bool(heads) and data.kinds[heads[0]] in ("word", "time")
    if has_labels:
        labels = names.texts(part, heads[0])
    cells = [_cells(part, column, names, labels, evidence) for column in heads[has_labels:]]
    if has_labels:
        cells = [[element("th", text(label), scope="row") for label in labels], *cells]
    rows = (
        element("tr", "".join(row), id=evidence.anchor(at))
        for at, row in enumerate(zip(*cells, strict=True))
    )
    of = f"first {len(part):,} of {len(data):,} rows" if len(part) < len(data) else "all rows"
    caption = f"<b>{text(title_of(name))}</b> ({of})"
    return grid(caption, title_of(name), (_head(data, head) for head in heads), rows, len(heads))


def _without_surplus(data: PlotData) -> list[str]:
    """The columns to show: the row's name first, no identifiers where it has one."""
    label = data.label_column
    id_column = next((key for key in data.keys if key.endswith("_id")), None) if label else None
    return sorted(
        (name for name in data.kinds if name != id_column or name == label),
        key=lambda name: name != label,
    )


def _head(data: PlotData, name: str) -> str:
    column, unit = data.column(name), unit_words(data.unit(name))
    doc = {"title": plain(column.doc)} if column and column.doc else {}
    small = element("small", text(unit, 40)) if unit else ""
    kind = "number" if data.kinds[name] == "number" else ""
    return element("th", f"{text(column_title(name), 60)}{small}", kind, scope="col", **doc)


def _cells(
    data: PlotData, name: str, names: RowNames, labels: Sequence[str], evidence: TableEvidence
) -> list[str]:
    kind, lacking = data.kinds[name], data.frame[name].isna()
    words = names.texts(data, name) if kind == "word" else cell_texts(data, name)
    if kind == "number":
        return [
            element("td", evidence.link(at, name, label, word), "number")
            for at, (label, word) in enumerate(zip(labels, words, strict=True))
        ]
    return [
        _DASH if lacks else element("td", text(word), "time" * (kind == "time"))
        for word, lacks in zip(words, lacking, strict=True)
    ]


def bars(data: PlotData, name: str, column: str, names: RowNames) -> str:
    """The rows with the most of a column, as bars beside their names; empty without any."""
    values, units = data.values(column), data.units(column)
    order = (-np.nan_to_num(values, nan=-np.inf)).argsort(kind="stable").tolist()
    order = [at for at in order[:_BARS] if values[at] > 0]
    if not order:
        return ""
    labels = names.texts(data, data.label_column or next(iter(data.kinds)))
    rows = "".join(
        f'<dt>{text(labels[at], 80)}</dt><dd><i style="width:'
        f'{70 * values[at] / values[order[0]]:.0f}%"></i>'
        f"{text(number(float(values[at]), units[at]))}</dd>"
        for at in order
    )
    title = f"{title_of(name)} by {column_title(column).lower()}" + first_of(len(order), len(data))
    return element("figure", element("dl", rows, "bars") + element("figcaption", text(title)))


def spark(values: Numbers) -> str:
    """A line of a few numbers, which breaks where there is none."""
    if (~np.isnan(values)).sum() < 2:
        return ""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    steps = np.linspace(2, _WIDE - 2, len(values))
    heights = 2 + (_HIGH - 4) * (1 - (values - low) / ((high - low) or 1.0))
    path, pen = "", "M"
    for x, y in zip(steps, heights, strict=True):
        path += "" if np.isnan(y) else f"{pen}{x:.0f} {y:.0f}"
        pen = "M" if np.isnan(y) else "L"
    line = f'<path d="{path}" fill="none" stroke="var(--link)" stroke-width="1.5"/>'
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">{line}</svg>'


def image(svg: str, alt: str) -> str:
    """A picture as an image, in which nothing runs, with the colours of the reader's setting."""
    for name in _PAPER:
        svg = svg.replace(LIGHT[name], f"var(--{name})")
    light, dark = (
        ";".join(f"--{name}:{colours[name]}" for name in _PAPER) for colours in (LIGHT, DARK)
    )
    themes = f"svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    start = svg.index(">", svg.index("<svg")) + 1
    svg = f"{svg[svg.index('<svg') : start]}<style>{themes}</style>{svg[start:]}"
    source = " ".join(svg.replace("%", "%25").replace("#", "%23").split())
    return f'<img alt="{text(alt, 700)}" src="data:image/svg+xml,{html.escape(source)}">'
