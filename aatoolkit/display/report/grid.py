"""Frames as HTML tables: the first rows, each cell in its unit, each number with its evidence."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from aatoolkit._util.numbers import number
from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.style import DARK, LIGHT
from aatoolkit.display.report.outline import title_of
from aatoolkit.display.report.wording import RowNames, column_title, plain, unit_words, value_words

_PAPER = ("ink", "muted", "grid", "paper", "lack", "hatch")
"""The colours that follow the theme of the page."""
_DASH = '<td class="missing"><span aria-label="missing">–</span></td>'
_MANY = 4  # columns that do not fit a phone


class NumberLinks(Protocol):
    """Makes of the numbers of a table links to their evidence, which links back to their rows."""

    def link(self, row: int, column: str, label: str, shown: str) -> str:
        """A number as HTML, by the position of its row, its column and the row's name."""

    def anchor(self, row: int) -> str:
        """The anchor of a row; empty if it has none."""


def grid(caption: str, heads: Sequence[str], rows: Iterable[str]) -> str:
    """A table of rows under their heads; wide ones scroll, also by keyboard."""
    head = "".join(element("th", text(name), scope="col") for name in heads)
    body = (element("tr", row) for row in rows)
    return _framed(caption, text(caption, 400), head, body, len(heads))


def table_of(
    data: PlotData,
    name: str,
    most: int,
    names: RowNames,
    columns: Sequence[str],
    links: NumberLinks,
) -> str:
    """The first rows of a table under plain heads.

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
    links
        Makes of the numbers links to their evidence.
    """
    listed = [column for column in columns if column in data.kinds] or _without_surplus(data)
    first, part = listed[0] if listed else "", PlotData(data.frame.head(most), data.metadata)
    labels = [f"row {at}" for at in range(1, len(part) + 1)]
    cells = []
    if data.kinds.get(first) in ("word", "time"):
        labels, listed = names.texts(part, first), listed[1:]
        cells = [[element("th", text(label), scope="row") for label in labels]]
    cells += [_cells(part, column, names, labels, links) for column in listed]
    of = f"first {len(part):,} of {len(data):,} rows" if len(part) < len(data) else "all rows"
    heads = [*([first] if len(cells) > len(listed) else []), *listed]
    body = [
        element("tr", "".join(row), **({"id": anchor} if anchor else {}))
        for at, row in enumerate(zip(*cells, strict=True))
        for anchor in [links.anchor(at)]
    ]
    return _framed(title_of(name), f"<b>{text(title_of(name))}</b> ({of})",
                   "".join(_head(data, head) for head in heads), body, len(heads))  # fmt: skip


def bars(data: PlotData, name: str, column: str, names: RowNames) -> str:
    """The rows with the most of a column, as bars beside their names; empty without any."""
    values, units = data.values(column), data.units(column)
    order = (-np.nan_to_num(values, nan=-np.inf)).argsort(kind="stable").tolist()
    order = [at for at in order[:_BARS] if values[at] > 0]
    if not order:
        return ""
    head = data.label_column or next(iter(data.kinds))
    labels, most = names.texts(data, head), values[order[0]]
    rows = "".join(
        element("dt", text(labels[at], 80))
        + element(
            "dd",
            f'<i style="width:{70 * values[at] / most:.0f}%"></i>'
            + text(number(float(values[at]), units[at])),
        )
        for at in order
    )
    which = f", the first {len(order)} of {len(data):,}" if len(data) > len(order) else ""
    title = f"{title_of(name)} by {column_title(column).lower()}{which}"
    return element("figure", element("dl", rows, "bars") + element("figcaption", text(title)))


_BARS = 6
"""How many rows are drawn as bars."""


def _without_surplus(data: PlotData) -> list[str]:
    """All columns but identifiers beside which a name stands, the row's name first."""
    label = data.label_column
    own = next((key for key in data.keys if key.endswith("_id")), None) if label else None
    others = [name for name in data.kinds if name != own or name == label]
    return [label, *(name for name in others if name != label)] if label in others else others


def _framed(name: str, caption: str, head: str, rows: Iterable[str], columns: int) -> str:
    body = "\n".join(rows)
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
    return element(
        "div",
        f"{table}\n<tbody>{body}</tbody></table>",
        "wide many" if columns > _MANY else "wide",
        role="region",
        tabindex="0",
        **{"aria-label": name[:80]},
    )


def _head(data: PlotData, name: str) -> str:
    column, unit = data.column(name), unit_words(data.unit(name))
    doc = {"title": plain(column.doc)} if column and column.doc else {}
    small = element("small", text(unit, 40)) if unit else ""
    kind = "number" if data.kinds[name] == "number" else ""
    return element("th", f"{text(column_title(name), 60)}{small}", kind, scope="col", **doc)


def _cells(
    data: PlotData, name: str, names: RowNames, labels: Sequence[str], links: NumberLinks
) -> list[str]:
    kind, lacking, frame = data.kinds[name], data.frame[name].isna(), data.frame
    if kind == "number":
        values = frame[name].to_numpy(float, na_value=float("nan"))
        cells = zip(labels, values.tolist(), data.units(name), lacking, strict=True)
        return [
            element("td", links.link(at, name, label, "–" if lacks else number(value, unit)),
                    "number")
            for at, (label, value, unit, lacks) in enumerate(cells)
        ]  # fmt: skip
    if kind == "flag":
        words = ["yes" if value else "no" for value in frame[name].fillna(False)]
    elif kind == "list":
        words = [
            ", ".join(value_words(str(part)) for part in value)
            if isinstance(value, Iterable) and not isinstance(value, str)
            else str(value)
            for value in frame[name]
        ]
    else:
        words = data.text(name) if kind == "time" else names.texts(data, name)
    return [
        _DASH if lacks else element("td", text(word), "time" * (kind == "time"))
        for word, lacks in zip(words, lacking, strict=True)
    ]


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
    shown = visible(str(words))
    cut = f"{shown[: most - 1]}…" if len(shown) > most else shown
    escaped = html.escape(cut)
    return f"<bdi>{escaped}</bdi>" if _RIGHT_TO_LEFT.search(cut) else escaped


def element(name: str, inside: str, kind: str = "", **attributes: object) -> str:
    """An element around HTML.

    Examples
    --------
    >>> element("td", "1", "number", colspan=2)
    '<td class="number" colspan="2">1</td>'
    """
    given = {"class": kind} if kind else {}
    listed = {**given, **attributes}
    written = "".join(f' {key}="{html.escape(str(value))}"' for key, value in listed.items())
    return f"<{name}{written}>{inside}</{name}>"


def fold(head: str, inside: str, kind: str = "") -> str:
    """A part of a page that opens at its head; both are HTML."""
    return element("details", f"<summary>{head}</summary>{inside}", kind)


def image(svg: str, alt: str) -> str:
    """A picture as an image, in which nothing runs, with the colours of the reader's setting."""
    for name, colour in LIGHT.items():
        if name in _PAPER:
            svg = svg.replace(colour, f"var(--{name})")
    light, dark = (
        ";".join(f"--{name}:{colours[name]}" for name in _PAPER) for colours in (LIGHT, DARK)
    )
    themes = f"svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
    start = svg.index(">", svg.index("<svg")) + 1
    svg = f"{svg[svg.index('<svg') : start]}<style>{themes}</style>{svg[start:]}"
    source = " ".join(svg.replace("%", "%25").replace("#", "%23").split())
    return f'<img alt="{text(alt, 700)}" src="data:image/svg+xml,{html.escape(source)}">'


def slug(name: str, at: int) -> str:
    """A name for an anchor; the number keeps it unique.

    Examples
    --------
    >>> slug("a b", 3)
    's3-a-b'
    """
    return f"s{at}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')[:40]}"
