"""Draw a picture with plotly: the same marks in the same places, with words on hovering."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from matplotlib.axes import Axes

from aatoolkit.display.plot.axes import Picture, figure_of
from aatoolkit.display.plot.layout import Box, Placement, Text, WordPlace, place
from aatoolkit.display.plot.spec import Mark, Panel, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette

_MIME_TYPE = "application/vnd.plotly.v1+json"
_BY_MIME_TYPE = (None, "", "browser", "plotly_mimetype", "plotly_mimetype+notebook")
"""Renderers of plotly for which the type of the data is enough."""

_SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
    "P": "cross",
}  # fmt: skip
_PATTERNS = {HATCHED: "/", DOTTED: "."}
_PIXELS = 4 / 3
"""Pixels a point."""

_FONT = "DejaVu Sans, Verdana, 'Noto Sans', sans-serif"
_TOOLS = 26.0
"""The room of the tool bar above the title, in points."""


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


def interactive_form(picture: Axes) -> InteractivePicture:
    """Draw a picture, with all its panels, as a figure of plotly."""
    assert isinstance(picture, Picture)
    assert picture.spec is not None
    width, height = (float(side) * 72 for side in figure_of(picture).get_size_inches())
    figure = _Figure(picture.spec, place(picture.spec, width, height), picture.palette).drawn()
    figure._picture = picture
    return figure


class _Figure:
    """The drawing of one picture."""

    def __init__(self, spec: Spec, layout: Placement, palette: Palette) -> None:
        self._spec, self._layout, self._palette = spec, layout, palette
        self._high = layout.height + _TOOLS
        self._traces: list[Any] = []
        self._notes: list[dict[str, Any]] = []
        self._scales: dict[str, Any] = {}
        self._axes: dict[str, str] = {}

    def drawn(self) -> InteractivePicture:
        """Draw all panels, with title and caption."""
        layout, palette, is_line = self._layout, self._palette, self._spec.kind == "line"
        for number, (panel, box) in enumerate(zip(self._spec.panels, layout.boxes, strict=True)):
            self._panel(panel, box, str(number + 1) if number else "")
        for text in layout.texts:
            self._write(text)
        figure = InteractivePicture(self._traces)
        figure.update_layout(
            template=go.layout.Template(),
            width=round(layout.width * _PIXELS),
            height=round(self._high * _PIXELS),
            margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
            paper_bgcolor=palette["paper"],
            plot_bgcolor=palette["paper"],
            font={"family": _FONT, "size": 12},
            hovermode="x unified" if is_line else "closest",
            barmode="overlay",
            bargap=0,
            hoverlabel={"align": "left", "bgcolor": palette["paper"],
                        "font": {"family": _FONT, "size": 12, "color": palette["ink"]}},
            modebar={"bgcolor": "rgba(0,0,0,0)", "color": palette["muted"]},
            meta={"kind": self._spec.kind, "finding": self._spec.finding},
            showlegend=False,
            annotations=self._notes,
            **self._scales,
        )  # fmt: skip
        return figure

    def _panel(self, panel: Panel, box: Box, name: str) -> None:
        wide = self._layout.width
        x = box.left / wide, (box.left + box.width) / wide
        y = tuple(1 - (box.top + _TOOLS + part) / self._high for part in (box.height, 0))
        for along, scale, ticks, ends in (
            ("x", panel.x, box.x_ticks, x),
            ("y", panel.y, box.y_ticks, y),
        ):
            self._scales[f"{along}axis{name}"] = {
                "anchor": ("y" if along == "x" else "x") + name,
                "domain": [max(ends[0], 0.0), min(ends[1], 1.0)],
                "range": [scale.low, scale.high],
                "tickvals": [tick.at for tick in ticks],
                "ticktext": [_bold(tick.text, tick.is_bold) for tick in ticks],
                "tickfont": {"size": box.size * _PIXELS, "color": self._palette["ink"]},
                "tickangle": -35 if along == "x" and box.is_turned else 0,
                "side": "top" if along == "x" and scale.is_above else None,
                "showgrid": scale.kind == "number",
                "gridcolor": self._palette["grid"],
                "zeroline": False,
                "ticklabelstandoff": 3,
                "fixedrange": scale.kind == "none",
            }
        self._axes, self._box = {"xaxis": f"x{name}", "yaxis": f"y{name}"}, box
        for mark, words in zip(panel.marks, box.words, strict=True):
            if len(mark) and mark.kind != "words":
                getattr(self, f"_{mark.kind}")(mark, panel)
            self._words_of(mark, panel, words)
        for text in box.texts:
            self._write(text)

    def _add(self, trace: type, mark: Mark, **look: Any) -> None:
        """Add a trace, whose marks say their words where the mouse is on them."""
        tips = [_plain(tip) for tip in mark.tips()] if mark.tips else []
        hover: dict[str, Any] = {"hoverinfo": "skip"}
        if tips:
            hover = {"customdata": tips, "hovertemplate": "%{customdata}<extra></extra>"}
        self._traces.append(trace(**{**hover, **look}, **self._axes))

    def _boxes(self, mark: Mark, panel: Panel) -> None:
        starts, ends, middles, high = mark.corners(panel, self._box.height)
        face, edge, width = self._palette.box(mark.style)
        look: dict[str, Any] = {"color": face, "line": {"color": edge, "width": width * _PIXELS}}
        if mark.style.look in _PATTERNS:
            look["pattern"] = {
                "shape": _PATTERNS[mark.style.look], "fgcolor": edge, "bgcolor": face, "size": 6,
                "solidity": 0.25,
            }  # fmt: skip
        self._add(
            go.Bar, mark, orientation="h", x=(ends - starts).tolist(), y=middles.tolist(),
            base=starts.tolist(), width=high, marker=look,
        )  # fmt: skip

    def _line(self, mark: Mark, panel: Panel) -> None:
        style, colour = mark.style, self._palette[mark.style.key]
        has_points = bool(mark.places) and len(mark) <= 100
        self._add(
            go.Scatter, mark, x=_listed(panel.x.within(mark.x)), y=_listed(panel.y.within(mark.y)),
            connectgaps=False, mode="lines+markers" if has_points else "lines",
            line={"color": colour, "width": mark.size * _PIXELS,
                  "dash": ",".join(f"{part * 2:g}px" for part in style.dash) or "solid"},
            marker={"symbol": _SYMBOLS.get(style.symbol), "size": 5, "color": colour},
            cliponaxis=not mark.places,
        )  # fmt: skip

    def _dots(self, mark: Mark, panel: Panel) -> None:
        del panel
        style, colour, paper = mark.style, self._palette[mark.style.key], self._palette["paper"]
        is_hollow = style.look in ("hollow", "ring")
        self._add(
            go.Scatter, mark, x=_listed(mark.x), y=_listed(mark.y), mode="markers",
            cliponaxis=False,
            marker={
                "symbol": _SYMBOLS[style.symbol] + ("-open" if style.look == "ring" else ""),
                "size": mark.size * _PIXELS, "color": paper if style.look == "hollow" else colour,
                "line": {"color": colour if is_hollow else paper,
                         "width": 1.6 if is_hollow else 0.7},
            },
        )  # fmt: skip

    def _band(self, mark: Mark, panel: Panel) -> None:
        del panel
        assert mark.to is not None
        there = ~np.isnan(mark.y + mark.to)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(np.int8)))
        colour = self._palette[mark.style.colour]
        fill = f"rgba({','.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))},0.16)"
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            part = slice(first, last)
            self._add(
                go.Scatter, mark, x=[*mark.x[part], *mark.x[part][::-1]],
                y=[*mark.to[part], *mark.y[part][::-1]], mode="lines", line={"width": 0},
                fill="toself", fillcolor=fill,
            )  # fmt: skip

    def _cells(self, mark: Mark, panel: Panel) -> None:
        assert mark.strength is not None
        shape, ramp = (len(panel.y.names), len(panel.x.names)), self._palette.ramp
        tips = [_plain(tip) for tip in mark.tips()] if mark.tips else []
        self._add(
            go.Heatmap, mark, z=[_listed(row) for row in mark.strength.reshape(shape)],
            x=list(range(shape[1])), y=list(range(shape[0])), zmin=0, zmax=1, showscale=False,
            colorscale=[[at / (len(ramp) - 1), colour] for at, colour in enumerate(ramp)],
            xgap=1, ygap=1, hoverongaps=True,
            customdata=np.array(tips, object).reshape(shape).tolist(),
        )  # fmt: skip

    def _words_of(self, mark: Mark, panel: Panel, words: Sequence[WordPlace]) -> None:
        paper: dict[str, Any] = {}
        if mark.has_paper:
            paper["bgcolor"] = self._palette["paper"]
        for at, (x, y, word) in enumerate(zip(panel.x.within(mark.x), mark.y, words, strict=False)):
            if not word.text:
                continue
            colour = self._palette.word(mark.style, mark.strength, at)
            self._note(
                word.text, self._layout.size, colour, x=float(x), y=float(y), align="left",
                xref=self._axes["xaxis"], yref=self._axes["yaxis"], xanchor=word.align,
                xshift=word.right * _PIXELS, yshift=word.up * _PIXELS, **paper,
            )  # fmt: skip

    def _write(self, text: Text) -> None:
        """Write a text at its place in the picture."""
        self._note(
            text.text, text.size, self._palette[text.colour], is_bold=text.is_bold,
            x=text.x / self._layout.width, y=1 - (text.y + _TOOLS - 2) / self._high, xref="paper",
            yref="paper", xanchor=text.align, yanchor="top", align=text.align,
        )  # fmt: skip

    def _note(
        self, words: str, size: float, colour: str, *, is_bold: bool = False, **place_of: Any
    ) -> None:
        if words.strip():
            font = {"size": size * _PIXELS, "color": colour}
            note = {"text": _bold(words, is_bold), "showarrow": False, "borderpad": 0, "font": font}
            self._notes.append(note | place_of)


def _listed(values: Any) -> list[float | None]:
    return [None if value != value else float(value) for value in values]


def _plain(words: str) -> str:
    """Text without markup or formulas, its lines broken."""
    return html.escape(words, quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _bold(words: str, is_bold: bool) -> str:
    return f"<b>{_plain(words)}</b>" if is_bold and words else _plain(words)
