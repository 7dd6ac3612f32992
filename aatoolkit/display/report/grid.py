"""Frames as HTML tables: the first rows, each cell in its unit."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aatoolkit import sections
from aatoolkit.display.plot.labels import format_number
from aatoolkit.display.plot.roles import PlotData, plot_data
from aatoolkit.display.report.markup import element, text
from aatoolkit.errors import ScopeError

_DASH = '<td class="missing"><span aria-label="missing">–</span></td>'


def grid(caption: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table of rows under their heads; wide ones scroll, also by keyboard."""
    head = "".join(element("th", text(name), scope="col") for name in heads)
    return _framed(caption, text(caption, 400), head, rows)


def table_of(name: str, frame: pd.DataFrame, most: int) -> str:
    """The first rows of a table, with the meaning of its columns."""
    data = plot_data(frame)
    shown = PlotData(data.frame.head(most), data.known)
    heads = "".join(_head(data, column) for column in data.kinds)
    columns = [_cells(shown, column) for column in data.kinds]
    try:
        doc = sections.table(data.table or name).doc
    except ScopeError:
        doc = ""
    of = f"first {len(shown):,} of {len(data):,} rows" if len(shown) < len(data) else "all rows"
    caption = f"<code>{text(name)}</code> {text(doc)} Shown: {of}."
    return _framed(name, caption, heads, ("".join(row) for row in zip(*columns, strict=True)))


def _framed(name: str, caption: str, head: str, rows: Iterable[str]) -> str:
    body = "\n".join(element("tr", row) for row in rows)
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
    return element(
        "div",
        f"{table}\n<tbody>{body}</tbody></table>",
        "wide",
        role="region",
        tabindex="0",
        **{"aria-label": name[:80]},
    )


def _head(data: PlotData, name: str) -> str:
    column, unit = data.column(name), data.unit(name)
    doc = {"title": column.doc} if column and column.doc else {}
    small = element("small", text(unit, 40)) if unit else ""
    return element("th", f"{text(name, 60)}{small}", scope="col", **doc)


def _cells(data: PlotData, name: str) -> list[str]:
    kind = data.kinds[name]
    missing = data.frame[name].isna()
    if kind == "number":
        values = data.frame[name].to_numpy(float, na_value=float("nan"))
        units = data.units(name)
        shown = [
            element("td", text(format_number(float(value), unit)), "number")
            for value, unit in zip(values, units, strict=True)
        ]
    elif kind == "list":
        shown = [_listed(value) for value in data.frame[name]]
    else:
        styles = "time" if kind == "time" else ""
        shown = [element("td", text(word), styles) for word in data.text(name)]
    return [_DASH if lacks else cell for cell, lacks in zip(shown, missing, strict=True)]


def _listed(value: object) -> str:
    words = value if isinstance(value, str) or not hasattr(value, "__iter__") else None
    return element("td", text(words if words is not None else ", ".join(map(str, value))))  # type: ignore[call-overload]
