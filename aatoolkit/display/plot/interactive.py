"""Draw a picture with plotly: the marks are placed as with matplotlib, and have tooltips."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio

from aatoolkit.display.plot.draw import Picture
from aatoolkit.display.plot.layout import MARGIN, Layout, PlacedText
from aatoolkit.display.plot.spec import Mark, Spec
from aatoolkit.display.plot.style import (
    HATCH_BY_FILL,
    PLOTLY_LAYOUT,
    PLOTLY_NAME_BY_SYMBOL,
    PLOTLY_RULE,
    Palette,
)

_PIXELS_PER_POINT = 4 / 3
"""The number of CSS pixels in a point."""
_TOOL_BAR_HEIGHT = 26.0
"""The height of the tool bar above the title, in points."""


class InteractivePicture(go.Figure):  # type: ignore[misc]
    """A plotly figure that notebooks also get as a static image, if they cannot show plotly."""

    _picture: Picture | None = None

    def _ipython_display_(self) -> None:
        if "plotly_mimetype" not in (pio.renderers.default or "plotly_mimetype"):
            super()._ipython_display_()
            return
        raise NotImplementedError  # IPython then uses _repr_mimebundle_

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        static_images, metadata = self._picture._repr_mimebundle_() if self._picture else ({}, {})
        # Numbers as arrays of bytes are unknown to older front ends; JSON is known to all.
        plotly_data = {"application/vnd.plotly.v1+json": json.loads(self.to_json())}
        return {**plotly_data, **static_images, "text/plain": repr(self)}, metadata

    def __repr__(self) -> str:
        return f"<InteractivePicture: {(self.layout.meta or {}).get('finding', '')}>"


def to_interactive(picture: Any) -> InteractivePicture:
    """Return a plotly figure with the same marks and texts as a `Picture` (matplotlib axes)."""
    spec = picture.spec
    layout = picture.layout
    palette = picture.palette
    figure_height = layout.height + _TOOL_BAR_HEIGHT
    traces = []
    for mark in filter(len, spec.marks):
        # In a line chart the mouse shows all series at once, each in one line of text.
        line_separator = ", " if spec.kind == "line" else "\n"
        tooltips = [
            _to_plotly_text(tooltip.replace("\n", line_separator)) for tooltip in mark.tooltips
        ]
        for trace_class, trace_options in _make_traces(mark, spec, layout, palette):
            traces.append(
                trace_class(
                    hoverinfo="text" if tooltips else "skip", hovertext=tooltips, **trace_options
                )
            )
    marks_bottom = figure_height - layout.marks_top - _TOOL_BAR_HEIGHT - layout.marks_height
    axis_layouts = {
        f"{axis_name}axis": {
            "domain": np.clip(
                [area_start / picture_length, (area_start + plot_length) / picture_length], 0, 1
            ).tolist(),
            "range": [scale.low, scale.high],
            "tickvals": [tick.position for tick in ticks],
            "ticktext": [_to_plotly_text(tick.text, tick.is_bold) for tick in ticks],
            "tickfont_size": layout.font_size * _PIXELS_PER_POINT,
            "tickangle": -35 if axis_name == "x" and layout.has_rotated_labels else 0,
            "unifiedhovertitle_text": scale.label or " ",
            "showgrid": scale.kind == "number",
            "gridcolor": palette["grid"],
            "zeroline": False,
        }
        for axis_name, scale, ticks, area_start, plot_length, picture_length in (
            ("x", spec.x, layout.x_ticks, layout.marks_left, layout.marks_width, layout.width),
            ("y", spec.y, layout.y_ticks, marks_bottom, layout.marks_height, figure_height),
        )
    }
    figure = InteractivePicture(traces)
    figure.update_layout(
        template=go.layout.Template(),
        width=round(layout.width * _PIXELS_PER_POINT),
        height=round(figure_height * _PIXELS_PER_POINT),
        paper_bgcolor=palette["paper"],
        plot_bgcolor=palette["paper"],
        font_color=palette["ink"],
        hovermode="x unified" if spec.kind == "line" else "closest",
        hoverlabel_bgcolor=palette["paper"],
        meta={"kind": spec.kind, "finding": spec.finding},
        shapes=[
            {
                "x0": MARGIN / layout.width,
                "x1": 1 - MARGIN / layout.width,
                "y0": separator_y,
                "y1": separator_y,
                "line_color": palette["grid"],
            }
            | PLOTLY_RULE
            for separator_y in (
                1 - (separator_position + _TOOL_BAR_HEIGHT) / figure_height
                for separator_position in layout.separator_positions
            )
        ],
        annotations=[
            _make_annotation(placed_text, layout, palette)
            for placed_text in (layout.title, *layout.texts, layout.caption)
            if placed_text.text
        ],
        **axis_layouts | PLOTLY_LAYOUT,
    )
    figure._picture = picture
    return figure


def _make_traces(
    mark: Mark, spec: Spec, layout: Layout, palette: Palette
) -> Iterator[tuple[type, dict[str, Any]]]:
    """Yield the plotly traces that draw a `Mark`: the class of each trace and its arguments.

    The arguments are a dict of keyword arguments for the class. A mark of texts has no trace.
    """
    style = mark.style
    colour = palette[style.colour_key]
    fill_colour, edge_colour, edge_width = palette.mark_colours(style, mark.colour_strength)
    x = spec.x.clip(mark.x)
    y = spec.y.clip(mark.y)
    symbol = PLOTLY_NAME_BY_SYMBOL.get(style.symbol)
    pixels_per_point = _PIXELS_PER_POINT * layout.text_scale
    if mark.kind == "boxes":
        box_starts, box_ends, box_middles, box_height = mark.rectangle_bounds(spec)
        yield go.Bar, {
            "orientation": "h", "x": box_ends - box_starts, "y": box_middles, "base": box_starts,
            "width": box_height,
            "marker_color": fill_colour, "marker_line_color": edge_colour,
            "marker_line_width": edge_width,
            "marker_pattern_shape": HATCH_BY_FILL.get(style.fill, "")[:1],
            "marker_pattern_fgcolor": edge_colour,
        }  # fmt: skip
    elif mark.kind == "line":
        dash_pattern = ",".join(f"{dash_length * 2:g}px" for dash_length in style.dash) or "solid"
        yield go.Scatter, {
            "x": x, "y": y, "connectgaps": False, "cliponaxis": not mark.tooltips,
            "mode": "lines+markers" if mark.tooltips else "lines",
            "line_color": colour, "line_width": mark.size * pixels_per_point,
            "line_dash": dash_pattern,
            "marker_symbol": symbol, "marker_size": 6 if len(mark) <= 100 else 2,
        }  # fmt: skip
    elif mark.kind == "dots":
        yield go.Scatter, {
            "x": x, "y": y, "mode": "markers", "cliponaxis": False, "marker_color": fill_colour,
            "marker_symbol": symbol, "marker_size": mark.size * pixels_per_point,
            "marker_line_color": edge_colour, "marker_line_width": edge_width,
        }  # fmt: skip
    elif mark.ends is not None:  # a band
        band_colour = f"{colour}29"  # an opacity of 16 %
        is_gap = np.isnan(mark.y + mark.ends)
        for segment_positions in np.split(
            np.arange(len(mark)), np.flatnonzero(np.diff(is_gap)) + 1
        ):
            if not is_gap[segment_positions[0]]:
                yield go.Scatter, {
                    "x": [*x[segment_positions], *x[segment_positions][::-1]],
                    "y": [*mark.ends[segment_positions], *y[segment_positions][::-1]],
                    "mode": "lines", "line_width": 0, "fill": "toself", "fillcolor": band_colour,
                }  # fmt: skip


def _make_annotation(placed_text: PlacedText, layout: Layout, palette: Palette) -> dict[str, Any]:
    """Return the dict of a plotly annotation that shows a text of the picture at its position."""
    position_options = {"x": placed_text.x / layout.width, "xref": "paper", "yref": "paper",
                        "y": 1 - (placed_text.y + _TOOL_BAR_HEIGHT - 2)
                        / (layout.height + _TOOL_BAR_HEIGHT), "yanchor": "top"}  # fmt: skip
    if placed_text.anchor_point is not None:
        position_options = {
            "x": placed_text.anchor_point[0],
            "y": placed_text.anchor_point[1],
            "xshift": placed_text.x * _PIXELS_PER_POINT,
        }
        if "/" not in placed_text.colour:
            position_options["bgcolor"] = palette["paper"]
    return position_options | {
        "text": _to_plotly_text(placed_text.text, placed_text.is_bold), "showarrow": False,
        "font_size": placed_text.font_size * _PIXELS_PER_POINT,
        "align": placed_text.align, "font_color": palette[placed_text.colour],
        "xanchor": placed_text.align
    }  # fmt: skip


def _to_plotly_text(text: str, is_bold: bool = False) -> str:
    """Return a text as markup for plotly: HTML is escaped, and a line break becomes ``<br>``."""
    text = html.escape(text, quote=False).replace("$", "&#36;").replace("\n", "<br>")
    return f"<b>{text}</b>" if is_bold and text else text
