"""The interactive form of a picture: each mark of the drawn one, with words on hovering.

The picture is drawn once, by matplotlib; its marks are read back and given to plotly. So both
forms have the same numbers, intervals, hatches and captions, and each new kind of picture has both.
"""

from __future__ import annotations

import html
import json
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aatoolkit.display.plot.canvas import Picture, figure_of
from aatoolkit.display.plot.plotly_panel import Panel
from aatoolkit.display.plot.plotly_text import DPI, add_paper_text, dash_of, rgba
from aatoolkit.display.plot.style import PAPER
from aatoolkit.display.plot.theme import DARK
from aatoolkit.errors import ConfigurationError

_MIME_TYPE = "application/vnd.plotly.v1+json"
_BY_MIME_TYPE = (None, "", "browser", "plotly_mimetype", "plotly_mimetype+notebook")
"""Renderers of plotly for which the type of the data is enough."""

_LETTERS = {
    "o": "●",
    ".": "•",
    "s": "■",
    "^": "▲",
    "D": "◆",
    "v": "▼",
    "P": "✚",
    "_": "–",
    "x": "×",
    "None": "",
    "": "",
}
_HOLLOW_LETTERS = {**_LETTERS, "o": "○", "s": "□", "^": "△", "D": "◇", "v": "▽"}
"""The markers of the legend as letters, filled and hollow."""

_PAPERS = (PAPER, DARK[PAPER])
"""The faces of hollow markers."""

_FONT = "DejaVu Sans, Verdana, 'Noto Sans', sans-serif"


class InteractivePicture(go.Figure):  # type: ignore[misc]
    """A figure of plotly that keeps the drawn picture for where nothing shows figures of plotly.

    An exported notebook shows the drawn one, a terminal what it shows in words. Colab and others
    that plotly knows by their environment get what plotly makes for them.
    """

    _picture: Picture | None = None

    def _ipython_display_(self) -> None:
        if pio.renderers.default not in _BY_MIME_TYPE:
            super()._ipython_display_()
            return
        raise NotImplementedError  # IPython goes on with the bundle

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None, **_: object
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        still, metadata = self._picture._repr_mimebundle_() if self._picture else ({}, {})
        # Numbers as arrays of bytes are unknown to older front ends; JSON is known to all.
        shown = {_MIME_TYPE: json.loads(self.to_json()), **still}
        return {**shown, "text/plain": repr(self)}, metadata

    def __repr__(self) -> str:
        return f"<InteractivePicture: {(self.layout.meta or {}).get('finding', '')}>"


def check_axes(ax: object | None) -> None:
    """Raise for axes of matplotlib, which the interactive form cannot use.

    Raises
    ------
    ConfigurationError
        If axes are given, which an interactive picture cannot be drawn on.
    """
    if ax is not None:
        raise ConfigurationError(
            "interactive=True draws a figure of its own; leave out ax=", setting="interactive"
        )


def interactive_form(picture: Axes) -> InteractivePicture:
    """Convert a drawn picture, with all its panels, to its interactive form."""
    assert isinstance(picture, Picture)
    drawn = figure_of(picture)
    drawn.set_dpi(DPI)
    drawn.draw_without_rendering()
    figure = InteractivePicture()
    figure._picture = picture
    bars = {axes: axes.get_position() for axes in drawn.axes}
    wide, high = (float(side) * DPI for side in drawn.get_size_inches())
    paper = to_hex(drawn.get_facecolor())
    figure.update_layout(
        template=go.layout.Template(),
        width=round(wide),
        height=round(high),
        margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
        paper_bgcolor=paper,
        plot_bgcolor=paper,
        font={"family": _FONT, "size": 12},
        hovermode="closest",
        barmode="overlay",
        bargap=0,
        hoverlabel={"align": "left", "font": {"family": _FONT, "size": 12}},
        meta={"kind": picture.kind, "finding": picture.finding},
        showlegend=False,
    )
    panels = [axes for axes in drawn.axes if not hasattr(axes, "_colorbar")]
    scales = [axes for axes in drawn.axes if hasattr(axes, "_colorbar")]
    for at, axes in enumerate(panels, start=1):
        Panel(figure, axes, "" if at == 1 else str(at), bars[axes]).add(scales)
        add_paper_text(figure, drawn, [axes.title, axes._left_title, axes._right_title])  # type: ignore[attr-defined]
        _add_legend(figure, drawn, axes.get_legend())
    add_paper_text(figure, drawn, [drawn._suptitle, drawn._supxlabel])  # type: ignore[attr-defined]
    add_paper_text(figure, drawn, [scale.yaxis.label for scale in scales])
    for legend in drawn.legends:
        _add_legend(figure, drawn, legend)
    return figure


def _add_legend(figure: go.Figure, drawn: Figure, legend: Any) -> None:
    """Add the legend, with entries placed as in the picture."""
    if legend is None:
        return
    wide, high = (float(side) * DPI for side in drawn.get_size_inches())
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        box = text.get_window_extent()
        add_paper_text(figure, drawn, [text])
        middle = (box.y0 + box.y1) / 2 / high
        start, end = (box.x0 - 24) / wide, (box.x0 - 6) / wide
        shape: dict[str, Any] = {"xref": "paper", "yref": "paper"}
        centre: dict[str, Any] = {**shape, "xanchor": "center", "yanchor": "middle"}
        if isinstance(handle, Line2D):
            marker, face = str(handle.get_marker()), handle.get_markerfacecolor()
            hollow = str(face) == "none" or to_hex(face) in _PAPERS
            if handle.get_linestyle() not in ("None", "", " "):
                stroke = {"color": to_hex(handle.get_color()), "width": 2, "dash": dash_of(handle)}
                figure.add_shape(
                    type="line", x0=start, x1=end, y0=middle, y1=middle, line=stroke, **shape
                )
            figure.add_annotation(
                x=(start + end) / 2,
                y=middle,
                text=(_HOLLOW_LETTERS if hollow else _LETTERS).get(marker, "·"),
                showarrow=False,
                borderpad=0,
                font={"size": 12, "color": to_hex(handle.get_markeredgecolor())},
                **centre,
            )
        elif isinstance(handle, Patch):
            half = 5 / high
            # Shapes have no hatch: a patch of the legend is hatched by letters like those drawn.
            figure.add_shape(
                type="rect",
                x0=start,
                x1=end,
                y0=middle - half,
                y1=middle + half,
                fillcolor=rgba(handle.get_facecolor()),
                line={"color": rgba(handle.get_edgecolor()), "width": 0.8},
                **shape,
            )
            hatch = (handle.get_hatch() or "")[:1]
            if hatch:
                figure.add_annotation(
                    x=(start + end) / 2,
                    y=middle,
                    text=html.escape(hatch * 3),
                    showarrow=False,
                    borderpad=0,
                    font={"size": 10, "color": rgba(handle.get_edgecolor())},
                    **centre,
                )
