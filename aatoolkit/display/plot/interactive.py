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
from aatoolkit.display.plot.layout import MARGIN, Layout, Text
from aatoolkit.display.plot.spec import Mark, Spec
from aatoolkit.display.plot.style import HATCHES, PLOTLY_SYMBOLS, Palette

_PIXELS = 4 / 3
"""Pixels per point."""
_FONT = "DejaVu Sans, Verdana, 'Noto Sans', sans-serif"
_TOOLS = 26.0
"""The height of the tool bar above the title, in points."""


class InteractivePicture(go.Figure):  # type: ignore[misc]
    """A plotly figure with a static image of itself, for programs that cannot show plotly."""

    _picture: Picture | None = None

    def _ipython_display_(self) -> None:
        if "plotly_mimetype" not in (pio.renderers.default or "plotly_mimetype"):
            super()._ipython_display_()
            return
        raise NotImplementedError  # IPython then uses _repr_mimebundle_

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, **_: object
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        still, metadata = self._picture._repr_mimebundle_() if self._picture else ({}, {})
        # Numbers as arrays of bytes are unknown to older front ends; JSON is known to all.
        figure = {"application/vnd.plotly.v1+json": json.loads(self.to_json())}
        return {**figure, **still, "text/plain": repr(self)}, metadata

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a picture has no {name!r}: .write_html(path) saves it")

    def __repr__(self) -> str:
        return f"<InteractivePicture: {(self.layout.meta or {}).get('finding', '')}>"


def interactive_form(picture: Any) -> InteractivePicture:
    """Convert a `Picture` (matplotlib axes) to a plotly figure with the same marks and texts."""
    spec, layout, palette = picture.spec, picture.layout, picture.palette
    height = layout.height + _TOOLS
    traces = []
    for mark in spec.marks:
        # In a line chart the mouse shows all series at once, each in one line of text.
        separator = ", " if spec.kind == "line" else "\n"
        tips = [_plotly_text(tip.replace("\n", separator)) for tip in mark.tips]
        for trace, properties in _traces(mark, spec, layout, palette) if len(mark) else ():
            with_tips = {"customdata": tips, "hovertemplate": "%{customdata}<extra></extra>"}
            hover = with_tips if tips else {"hoverinfo": "skip"}
            traces.append(trace(**hover, **properties))
    bottom = height - layout.top - _TOOLS - layout.high
    axes = {
        f"{axis}axis": {
            "domain": np.clip([start / total, (start + length) / total], 0, 1).tolist(),
            "range": [scale.low, scale.high],
            "tickvals": [tick.at for tick in ticks],
            "ticktext": [_plotly_text(tick.text, tick.is_bold) for tick in ticks],
            "tickfont_size": layout.size * _PIXELS,
            "tickangle": -35 if axis == "x" and layout.is_turned else 0,
            "unifiedhovertitle_text": scale.label or " ",
            "showgrid": scale.kind == "number",
            "gridcolor": palette["grid"],
            "zeroline": False,
        }
        for axis, scale, ticks, start, length, total in (
            ("x", spec.x, layout.x_ticks, layout.left, layout.wide, layout.width),
            ("y", spec.y, layout.y_ticks, bottom, layout.high, height),
        )
    }
    texts = [text for text in (layout.title, *layout.texts, layout.caption) if text.text]
    line = {"x0": MARGIN / layout.width, "x1": 1 - MARGIN / layout.width,
            "line_color": palette["grid"], "line_width": 1}  # fmt: skip
    figure = InteractivePicture(traces)
    figure.update_layout(
        template=go.layout.Template(),
        width=round(layout.width * _PIXELS),
        height=round(height * _PIXELS),
        margin=dict.fromkeys("lrtb", 0),
        paper_bgcolor=palette["paper"],
        plot_bgcolor=palette["paper"],
        font_family=_FONT,
        font_color=palette["ink"],
        hovermode="x unified" if spec.kind == "line" else "closest",
        barmode="overlay",
        hoverlabel_bgcolor=palette["paper"],
        meta={"kind": spec.kind, "finding": spec.finding},
        showlegend=False,
        shapes=[
            {"type": "line", "xref": "paper", "yref": "paper", "y0": y, "y1": y, **line}
            for y in (1 - (rule + _TOOLS) / height for rule in layout.rules)
        ],
        annotations=[_annotation(text, layout, palette) for text in texts],
        **axes,
    )
    figure._picture = picture
    return figure


def _traces(
    mark: Mark, spec: Spec, layout: Layout, palette: Palette
) -> Iterator[tuple[type, dict[str, Any]]]:
    """Yield the plotly traces that draw a mark, each as a class and its keyword arguments."""
    style, colour, paper = mark.style, palette[mark.style.key], palette["paper"]
    x, y = spec.x.within(mark.x), spec.y.within(mark.y)
    symbol, is_hollow = PLOTLY_SYMBOLS.get(style.symbol), style.look == "hollow"
    pixels = _PIXELS * layout.zoom
    if mark.kind == "boxes":
        starts, ends, middles, height = mark.corners(spec, layout.high)
        face, edge, width = palette.boxes(style, mark.strength)
        yield go.Bar, {
            "orientation": "h", "x": ends - starts, "y": middles, "base": starts, "width": height,
            "marker_color": face, "marker_line_color": edge, "marker_line_width": width,
            "marker_pattern_shape": HATCHES.get(style.look, "")[:1], "marker_pattern_fgcolor": edge,
        }  # fmt: skip
    elif mark.kind == "line":
        dash = ",".join(f"{part * 2:g}px" for part in style.dash) or "solid"
        yield go.Scatter, {
            "x": x, "y": y, "connectgaps": False, "cliponaxis": not mark.tips,
            "mode": "lines+markers" if mark.tips else "lines",
            "line_color": colour, "line_width": mark.size * pixels, "line_dash": dash,
            "marker_symbol": symbol, "marker_size": 6 if len(mark) <= 100 else 2,
        }  # fmt: skip
    elif mark.kind == "dots":
        fill, edge, width = (paper, colour, 1.6) if is_hollow else (colour, paper, 0.7)
        yield go.Scatter, {
            "x": x, "y": y, "mode": "markers", "cliponaxis": False, "marker_color": fill,
            "marker_symbol": symbol, "marker_size": mark.size * pixels,
            "marker_line_color": edge, "marker_line_width": width,
        }  # fmt: skip
    elif mark.to is not None:  # a band
        fill = f"{colour}29"  # an opacity of 16 %
        is_gap = np.isnan(mark.y + mark.to)
        for part in np.split(np.arange(len(mark)), np.flatnonzero(np.diff(is_gap)) + 1):
            if not is_gap[part[0]]:
                yield go.Scatter, {
                    "x": [*x[part], *x[part][::-1]], "y": [*mark.to[part], *y[part][::-1]],
                    "mode": "lines", "line_width": 0, "fill": "toself", "fillcolor": fill,
                }  # fmt: skip


def _annotation(text: Text, layout: Layout, palette: Palette) -> dict[str, Any]:
    """Return a text of the picture as the dict of a plotly annotation at the same position."""
    place = {"x": text.x / layout.width, "xref": "paper", "yref": "paper", "yanchor": "top",
             "y": 1 - (text.y + _TOOLS - 2) / (layout.height + _TOOLS)}  # fmt: skip
    if text.at is not None:
        place = {"x": text.at[0], "y": text.at[1], "xshift": text.x * _PIXELS}
        if "/" not in text.colour:
            place["bgcolor"] = palette["paper"]
    return place | {"text": _plotly_text(text.text, text.is_bold), "showarrow": False,
                    "borderpad": 0, "font_size": text.size * _PIXELS, "align": text.align,
                    "font_color": palette[text.colour], "xanchor": text.align}  # fmt: skip


def _plotly_text(text: str, is_bold: bool = False) -> str:
    """Return a text escaped for plotly, so that it is not taken for HTML, with its line breaks."""
    text = html.escape(text, quote=False).replace("$", "&#36;").replace("\n", "<br>")
    return f"<b>{text}</b>" if is_bold and text else text
