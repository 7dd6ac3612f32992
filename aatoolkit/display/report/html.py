"""Functions that return HTML: elements, tables with links, small line charts and images."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aatoolkit._util.text import clipped, split_long_name
from aatoolkit.display.plot.data import Numbers, PlotData, rescale_to_unit_range
from aatoolkit.display.plot.style import LIGHT_COLOURS, make_column_title
from aatoolkit.display.plot.tables import choose_table_columns, format_cells
from aatoolkit.display.report.style import COLOURS

if TYPE_CHECKING:
    from aatoolkit.display.report.evidence import TableEvidence

_MAX_PHONE_COLUMNS = 4
"""The maximum number of columns of a table that fit the screen of a phone."""
_MAX_COLUMNS = 7
"""The maximum number of columns of a table that fit the page."""
_CHART_WIDTH = 120
_CHART_HEIGHT = 28
"""The width and height of the line chart on the card of a key figure, in units of SVG."""
_FONT_FAMILY_PATTERN = re.compile(r"(?<=px;) font-family:[^;\"]*;")
_FONT_CSS = "font-family:DejaVu Sans,Verdana,sans-serif"
"""The CSS of the font of a picture.

It is stated once, for `_FONT_FAMILY_PATTERN` removes the font from each text of the SVG.
"""


def escape(text: object, max_length: int = 160) -> str:
    r"""Return untrusted text as HTML: escaped, and cut after ``max_length`` characters.

    Examples
    --------
    >>> escape("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    return html.escape(clipped(str(text), max_length))


def _with_line_break_points(text: str) -> str:
    """Return a text as HTML in which lines may break after the dots and slashes of an address."""
    return "<wbr>".join(map(escape, split_long_name(text))) if len(text) <= 160 else escape(text)


def format_attribute(name: str, value: str) -> str:
    """Return an attribute of an HTML element after a space; "" if its ``value`` is "".

    Examples
    --------
    >>> format_attribute("class", "number"), format_attribute("id", "")
    (' class="number"', '')
    """
    return f' {name}="{html.escape(value)}"' if value else ""


def render_bullet_list(html_items: Sequence[str]) -> str:
    """Return a bullet list as HTML, or "" without items; each item is HTML."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in html_items)}</ul>" if html_items else ""


def render_scrolling_table(
    caption_html: str, plain_caption: str, header_cells: Sequence[str], row_htmls: Iterable[str]
) -> str:
    """Return an HTML table that scrolls sideways.

    ``caption_html``, ``header_cells`` and ``row_htmls`` are HTML: the caption, the ``th`` elements
    and the ``tr`` elements. ``plain_caption`` is the caption as text, for screen readers.
    """
    body_html = "\n".join(row_htmls)
    table_html = (
        f"<table><caption>{caption_html}</caption><thead><tr>{''.join(header_cells)}</tr></thead>\n"
        f"<tbody>{body_html}</tbody></table>"
    )
    css_class = "wide many" if len(header_cells) > _MAX_PHONE_COLUMNS else "wide"
    aria_label = format_attribute("aria-label", plain_caption[:80])
    return f'<div class="{css_class}" role="region" tabindex="0"{aria_label}>{table_html}</div>'


def render_linked_table(evidence: TableEvidence, data: PlotData, columns: Sequence[str]) -> str:
    """Return an HTML table of the first rows, whose numbers link to their explanations.

    Only the rows in ``evidence`` are shown; the explanations of their numbers are added to it.
    ``data`` has all rows, for the choice of columns. ``columns`` are the names of the columns that
    a report prefers to show.
    """
    shown_data = evidence.data
    title = evidence.title
    shown_columns = _choose_columns(data, shown_data, columns)
    has_labels = data.kind_by_column[shown_columns[0]] in ("word", "time")
    row_labels = (
        format_cells(shown_data, shown_columns[0])
        if has_labels
        else [f"row {position}" for position in range(1, len(shown_data) + 1)]
    )
    cells_by_column = [
        _render_cells(shown_data, column, row_labels, evidence)
        for column in shown_columns[has_labels:]
    ]
    if has_labels:
        cells_by_column.insert(
            0,
            [f'<th scope="row">{_with_line_break_points(label)}</th>' for label in row_labels],
        )
    row_htmls = (
        f"<tr{format_attribute('id', evidence.get_row_anchor(position))}>{''.join(row_cells)}</tr>"
        for position, row_cells in enumerate(zip(*cells_by_column, strict=True))
    )
    extent_text = (
        f"first {len(shown_data):,} of {len(data):,} rows"
        if len(shown_data) < len(data)
        else "all rows"
    )
    caption = f"<b>{escape(title)}</b> ({extent_text})"
    header_cells = [
        f'<th class="{data.kind_by_column[name]}" scope="col">'
        f"{escape(make_column_title(name), 60)}</th>"
        for name in shown_columns
    ]
    return render_scrolling_table(caption, title, header_cells, row_htmls)


def _choose_columns(
    all_data: PlotData, shown_data: PlotData, preferred_columns: Sequence[str]
) -> list[str]:
    """Return the names of the columns to show: first the column that names the rows, if any.

    ``all_data`` has every row of the table, and ``shown_data`` only the rows in the report.
    ``preferred_columns`` follow, as far as the table has them. If it lacks half of them or more,
    the most informative columns are shown instead.
    """
    label_column = all_data.label_column
    shown_columns = [name for name in preferred_columns if name in all_data.kind_by_column]
    if 2 * len(shown_columns) <= len(preferred_columns):
        shown_columns = [
            name
            for name in choose_table_columns(shown_data, max_columns=_MAX_COLUMNS)
            if not shown_data.has_untitled_ids(name)
        ]
    # The name of a row is not repeated.
    row_labels = format_cells(shown_data, label_column) if label_column else ()
    return [
        *filter(None, [label_column]),
        *(name for name in shown_columns if format_cells(shown_data, name) != row_labels),
    ]


def _render_cells(
    data: PlotData, name: str, row_labels: Sequence[str], evidence: TableEvidence
) -> list[str]:
    """Return the ``td`` elements of a column as HTML; numbers link to their explanations.

    ``row_labels`` are the names of the rows.
    """
    column_kind = data.kind_by_column[name]
    missing_mask = data.frame[name].isna()
    value_texts = format_cells(data, name)
    if column_kind in ("number", "code"):
        return [
            f'<td class="number">{evidence.add_link(row, name, row_label, cell_text)}</td>'
            for row, (row_label, cell_text) in enumerate(zip(row_labels, value_texts, strict=True))
        ]
    return [
        '<td class="missing"><span aria-label="missing">–</span></td>'
        if is_cell_missing
        else f'<td class="{column_kind}">{_with_line_break_points(cell_text)}</td>'
        for cell_text, is_cell_missing in zip(value_texts, missing_mask, strict=True)
    ]


def render_sparkline(daily_values: Numbers) -> str:
    """Return a small line chart as SVG, with gaps at missing numbers; "" if all are missing."""
    y_positions = 2 + (_CHART_HEIGHT - 4) * (1 - rescale_to_unit_range(daily_values))
    svg_path = ""
    path_command = "M"
    for x, y in zip(np.linspace(2, _CHART_WIDTH - 2, len(y_positions)), y_positions, strict=True):
        svg_path += "" if np.isnan(y) else f"{path_command}{x:.0f} {y:.0f}h0"
        path_command = "M" if np.isnan(y) else "L"
    if not svg_path:
        return ""
    svg_line = (
        f'<path d="{svg_path}" fill="none" stroke="var(--link)" stroke-width="1.5" '
        'stroke-linecap="round"/>'
    )
    return f'<svg viewBox="0 0 {_CHART_WIDTH} {_CHART_HEIGHT}" aria-hidden="true">{svg_line}</svg>'


def render_image(svg: str, alt: str) -> str:
    """Return an SVG image as an HTML element, with colours for light and dark screens.

    ``alt`` is the alternative text.
    """
    # The colours of the page follow its theme; they are repeated, for an image does not see them.
    for name, colour in LIGHT_COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    css = f"svg {{ {_FONT_CSS} }} {COLOURS.replace(':root', 'svg')}"
    opening_tag, _, svg_content = svg[svg.index("<svg") :].partition(">")
    svg = f"{opening_tag}><style>{css}</style>{svg_content}"
    data_uri = " ".join(
        _FONT_FAMILY_PATTERN.sub("", svg).replace("%", "%25").replace("#", "%23").split()
    )
    data_uri = data_uri.replace("&", "&amp;").replace("'", "&#x27;")
    return f"<img alt=\"{escape(alt, 700)}\" src='data:image/svg+xml,{data_uri}'>"
