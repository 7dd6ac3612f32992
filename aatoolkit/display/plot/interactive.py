"""Draw a picture with plotly: the same marks in the same places, with words on hovering."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from matplotlib.axes import Axes

from aatoolkit._util.numbers import tick
from aatoolkit.display.plot.axes import Picture, cell_ink, figure_of
from aatoolkit.display.plot.layout import Box, Placement, Text, number_ticks, place
from aatoolkit.display.plot.spec import Mark, Panel, Scale, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette, Style
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.aggregation import RANK

_MIME_TYPE = "application/vnd.plotly.v1+json"
_BY_MIME_TYPE = (None, "", "browser", "plotly_mimetype", "plotly_mimetype+notebook")
"""Renderers of plotly for which the type of the data is enough."""

_SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
    "P": "cross", ".": "circle", "_": "line-ew", "x": "x-thin",
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


def check_axes(ax: object | None) -> None:
    """Raise for axes of matplotlib, which the interactive form cannot use.

    Raises
    ------
    ArgumentError
        If axes are given, which an interactive picture cannot be drawn on.
    """
    if ax is not None:
        raise ArgumentError(
            "interactive=True draws a figure of its own; leave out ax=", argument="interactive"
        )


def interactive_form(picture: Axes) -> InteractivePicture:
    """Draw a picture, with all its panels, as a figure of plotly."""
    assert isinstance(picture, Picture)
    assert picture.spec is not None
    width, height = (float(side) * 72 for side in figure_of(picture).get_size_inches())
    figure = _Figure(picture.spec, place(picture.spec, width, height), picture.palette).drawn()
    figure._picture = picture
    return figure


class _Place(NamedTuple):
    """A mark, and where it is drawn."""

    mark: Mark
    words: Sequence[str]
    panel: Panel
    axes: dict[str, str]
    box: Box


class _Figure:
    """The drawing of one picture."""

    def __init__(self, spec: Spec, layout: Placement, palette: Palette) -> None:
        self._spec, self._layout, self._palette = spec, layout, palette
        self._high = layout.height + _TOOLS
        self._traces: list[Any] = []
        self._notes: list[dict[str, Any]] = []
        self._legends: dict[str, Any] = {}
        self._axes: dict[str, Any] = {}

    def drawn(self) -> InteractivePicture:
        """Draw all panels, with title, notes and legends."""
        layout, palette = self._layout, self._palette
        for number, (panel, box) in enumerate(zip(self._spec.panels, layout.boxes, strict=True)):
            self._panel(panel, box, str(number + 1) if number else "")
            if box.legend:
                self._legend(panel.legend, box.legend)
        if layout.legend:
            self._legend(self._spec.legend, layout.legend)
        for text in layout.texts:
            self._write(text)
        below = layout.height - 6 - (layout.notes.count("\n") + 1) * layout.size * 1.32
        self._write(Text(9, below, layout.notes, layout.size, "muted"))
        figure = InteractivePicture(self._traces)
        figure.update_layout(
            template=go.layout.Template(),
            width=round(layout.width * _PIXELS),
            height=round(self._high * _PIXELS),
            margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
            paper_bgcolor=palette["paper"],
            plot_bgcolor=palette["paper"],
            font={"family": _FONT, "size": 12},
            hovermode="x" if self._spec.kind == "line" else "closest",
            barmode="overlay",
            bargap=0,
            hoverlabel={"align": "left", "font": {"family": _FONT, "size": 12}},
            modebar={"bgcolor": "rgba(0,0,0,0)", "color": palette["muted"]},
            meta={"kind": self._spec.kind, "finding": self._spec.finding},
            showlegend=bool(self._legends),
            annotations=self._notes,
            **self._axes,
            **self._legends,
        )
        return figure

    def _panel(self, panel: Panel, box: Box, name: str) -> None:
        wide = self._layout.width
        x0, x1 = box.left / wide, (box.left + box.width) / wide
        y0, y1 = (1 - (box.top + _TOOLS + part) / self._high for part in (box.height, 0))
        for along, scale, ticks, domain in (
            ("x", panel.x, box.x_ticks, (x0, x1)),
            ("y", panel.y, box.y_ticks, (y0, y1)),
        ):
            is_number = scale.kind == "number"
            self._axes[f"{along}axis{name}"] = {
                "anchor": ("y" if along == "x" else "x") + name,
                "domain": [max(domain[0], 0.0), min(domain[1], 1.0)],
                "range": [scale.low, scale.high],
                "tickvals": [one.at for one in ticks],
                "ticktext": [_bold(one.text, one.is_bold) for one in ticks],
                "tickfont": {"size": box.size * _PIXELS, "color": self._palette["ink"]},
                "tickangle": -35 if along == "x" and box.is_turned else 0,
                "side": "top" if along == "x" and scale.is_above else None,
                "showgrid": is_number,
                "gridcolor": self._palette["grid"],
                "zeroline": False,
                "ticklabelstandoff": 3,
                "fixedrange": scale.kind == "none",
            }
        axes = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        for mark, words in zip(panel.marks, box.words, strict=True):
            if len(mark):
                getattr(self, f"_{mark.kind}")(_Place(mark, words, panel, axes, box))
        for text in box.texts:
            self._write(text)

    def _add(self, trace: type, at: _Place, **look: Any) -> None:
        """Add a trace, whose marks say their words where the mouse is on them."""
        mark, axes = at.mark, at.axes
        tips = [_plain(tip) for tip in mark.tips()] if mark.tips else []
        hover: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False}
        if tips:
            hover |= {
                "hoverinfo": None,
                "customdata": tips,
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        self._traces.append(trace(**hover, **axes, **look))

    def _boxes(self, at: _Place) -> None:
        starts, ends, middles, high = at.mark.corners(at.panel)
        self._add(
            go.Bar, at, orientation="h", x=(ends - starts).tolist(), y=middles.tolist(),
            base=starts.tolist(), width=high, marker=self._filled(at.mark.style),
        )  # fmt: skip

    def _filled(self, style: Style) -> dict[str, Any]:
        face, edge, width = self._palette.box(style)
        look: dict[str, Any] = {"color": face, "line": {"color": edge, "width": width * _PIXELS}}
        if style.look in _PATTERNS:
            look["pattern"] = {
                "shape": _PATTERNS[style.look], "fgcolor": edge, "bgcolor": face, "size": 6,
                "solidity": 0.25,
            }  # fmt: skip
        return look

    def _line(self, at: _Place) -> None:
        mark, (xs, ys) = at.mark, at.mark.strokes(at.panel)
        is_line, colour = mark.kind == "line", self._palette[mark.style.colour]
        width = 1.6 if mark.kind == "ticks" else mark.size
        self._add(
            go.Scatter, at, x=_listed(xs), y=_listed(ys), connectgaps=False,
            mode="lines+markers" if is_line and len(mark) <= 100 else "lines",
            line={"color": colour, "width": width * _PIXELS, "dash": _dash(mark.style)},
            marker={"symbol": _SYMBOLS[mark.style.symbol], "size": 5, "color": colour},
            cliponaxis=not is_line,
        )  # fmt: skip

    _spans = _ticks = _rules = _line

    def _dots(self, at: _Place) -> None:
        look, mark = self._marker(at.mark.style, at.mark.size), at.mark
        self._add(
            go.Scatter, at, x=_listed(mark.x), y=_listed(mark.y), mode="markers", marker=look,
            cliponaxis=False,
        )  # fmt: skip

    def _marker(self, style: Style, size: float) -> dict[str, Any]:
        is_hollow = style.look in ("hollow", "ring")
        colour = self._palette[style.colour]
        symbol = _SYMBOLS.get(style.symbol, "circle")
        edge = {"color": colour if is_hollow or symbol.endswith(("-ew", "-thin"))
                else self._palette["paper"], "width": 1.6 if is_hollow else 0.7}  # fmt: skip
        return {
            "symbol": symbol + ("-open" if style.look == "ring" else ""),
            "size": size * _PIXELS * (0.6 if style.symbol == "." else 1.0),
            "color": self._palette["paper"] if style.look == "hollow" else colour,
            "line": edge,
        }

    def _band(self, at: _Place) -> None:
        mark = at.mark
        assert mark.to is not None
        there = ~np.isnan(mark.y + mark.to)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(np.int8)))
        colour = self._palette[mark.style.colour]
        fill = f"rgba({','.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))},0.16)"
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            part = slice(first, last)
            self._add(
                go.Scatter, at,
                x=[*mark.x[part], *mark.x[part][::-1]], y=[*mark.to[part], *mark.y[part][::-1]],
                mode="lines", line={"width": 0}, fill="toself", fillcolor=fill,
            )  # fmt: skip

    def _cells(self, at: _Place) -> None:
        mark, panel, axes, box = at.mark, at.panel, at.axes, at.box
        assert mark.values is not None
        columns, rows = len(panel.x.names), len(panel.y.names)
        ramp = self._palette.ramp(panel.x.unit == RANK, panel.colour)
        low, most = mark.bounds
        is_rank = panel.x.unit == RANK
        # The best rank is on top of the scale.
        sign = -1 if is_rank else 1
        values = (sign * mark.values).reshape(rows, columns)
        ends = (-most, -low) if is_rank else (low, most)
        tips = [_plain(tip) for tip in mark.tips()] if mark.tips else [""] * mark.values.size
        trace: dict[str, Any] = {"showscale": False}
        if box.ramp:
            left, top, width, height = box.ramp
            ticks = number_ticks(Scale(low, most, unit=panel.x.unit), 5)
            trace["colorbar"] = {
                "x": left / self._layout.width, "xanchor": "left", "thickness": width * _PIXELS,
                "y": 1 - (top + _TOOLS + height / 2) / self._high, "len": height * _PIXELS,
                "lenmode": "pixels", "tickvals": [sign * one.at for one in ticks],
                "ticktext": [tick(one.at, panel.x.unit) for one in ticks], "outlinewidth": 0,
                "tickfont": {"color": self._palette["ink"], "size": 11}, "xpad": 0, "ypad": 0,
            }  # fmt: skip
            trace["showscale"] = True
            label = Text(left + 44, top - 14, panel.ramp, self._layout.size, "muted", align="right")
            self._write(label)
        shares = np.linspace(0, 1, len(ramp))
        colours = ramp[::-1] if is_rank else ramp
        self._traces.append(
            go.Heatmap(
                z=[[None if n != n else float(n) for n in row] for row in values],
                x=list(range(columns)), y=list(range(rows)), zmin=ends[0], zmax=ends[1],
                colorscale=[[float(at), c] for at, c in zip(shares, colours, strict=True)],
                xgap=1, ygap=1, hoverongaps=False,
                customdata=np.array(tips, object).reshape(rows, columns).tolist(),
                hovertemplate="%{customdata}<extra></extra>", **trace, **axes,
            )
        )  # fmt: skip
        for x, y, value, word in zip(mark.x, mark.y, mark.values, at.words, strict=False):
            if word:
                ink = cell_ink(ramp, (value - low) / (most - low))
                self._note(x, y, word, ink, axes, xanchor="center")

    def _words(self, at: _Place) -> None:
        mark, panel, axes = at.mark, at.panel, at.axes
        paper = {"bgcolor": self._palette["paper"]} if mark.has_paper else {}
        colour = self._palette[mark.style.colour]
        for x, y, word in zip(panel.x.within(mark.x), mark.y, at.words, strict=True):
            self._note(
                x, y, word, colour, axes, xanchor=mark.align, xshift=mark.shift[0] * _PIXELS,
                yshift=mark.shift[1] * _PIXELS, **paper,
            )  # fmt: skip

    def _note(
        self, x: float, y: float, word: str, colour: str, axes: dict[str, str], **more: Any
    ) -> None:
        self._notes.append(
            {
                "x": float(x), "y": float(y), "xref": axes["xaxis"], "yref": axes["yaxis"],
                "text": _plain(word), "showarrow": False, "borderpad": 0, "align": "left",
                "font": {"size": self._layout.size * _PIXELS, "color": colour}, **more,
            }
        )  # fmt: skip

    def _write(self, text: Text) -> None:
        """Write a text at its place in the picture."""
        if not text.text.strip():
            return
        self._notes.append(
            {
                "x": text.x / self._layout.width, "y": 1 - (text.y + _TOOLS - 2) / self._high,
                "xref": "paper", "yref": "paper", "xanchor": text.align, "yanchor": "top",
                "align": text.align, "text": _bold(text.text, text.is_bold), "showarrow": False,
                "borderpad": 0,
                "font": {"size": text.size * _PIXELS, "color": self._palette[text.colour]},
            }
        )  # fmt: skip

    def _legend(
        self, keys: Sequence[tuple[str, Mark]], place_of: tuple[float, float, tuple[str, ...], int]
    ) -> None:
        """Add a legend: traces without marks, whose looks it shows."""
        left, top, words, _ = place_of
        name = f"legend{len(self._legends) + 1}" if self._legends else "legend"
        self._legends[name] = {
            "x": left / self._layout.width, "y": 1 - (top + _TOOLS - 3) / self._high,
            "xanchor": "left", "yanchor": "top", "orientation": "h", "itemclick": False,
            "itemdoubleclick": False, "bgcolor": "rgba(0,0,0,0)",
            "font": {"size": self._layout.size * _PIXELS, "color": self._palette["ink"]},
        }  # fmt: skip
        for (_, mark), word in zip(keys, words, strict=True):
            shown: dict[str, Any] = {"name": _plain(word), "legend": name, "showlegend": True}
            if mark.kind in ("boxes", "band"):
                self._traces.append(
                    go.Bar(x=[None], y=[None], marker=self._filled(mark.style), **shown)
                )
                continue
            colour = self._palette[mark.style.colour]
            modes = {"dots": "markers", "rules": "lines"}
            self._traces.append(
                go.Scatter(
                    x=[None], y=[None], mode=modes.get(mark.kind, "lines+markers"),
                    marker=self._marker(mark.style, 6),
                    line={"color": colour, "width": 2, "dash": _dash(mark.style)}, **shown,
                )
            )  # fmt: skip


def _dash(style: Style) -> str:
    return ",".join(f"{length * 2:g}px" for length in style.dash) or "solid"


def _listed(values: Any) -> list[float | None]:
    return [None if value != value else float(value) for value in values]


def _plain(words: str) -> str:
    """Text without markup or formulas, its lines broken."""
    return html.escape(words, quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _bold(words: str, is_bold: bool) -> str:
    return f"<b>{_plain(words)}</b>" if is_bold and words else _plain(words)
