"""Convert the marks of matplotlib axes to traces of plotly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from aatoolkit.display.plot.canvas import figure_of
from aatoolkit.display.plot.plotly_text import (
    DPI,
    add_paper_text,
    broken,
    dash_of,
    hex_of,
    rgba,
    size_of,
    words_of,
)
from aatoolkit.display.plot.tips import tips_of

_PATTERNS = {"/": "/", "\\": "\\", "|": "|", "x": "x", "-": "-", "+": "+", ".": "."}
_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    ".": "circle",
    "|": "line-ns-open",
    "_": "line-ew-open",
    "x": "x-thin-open",
}


class Panel:
    """The marks of some axes, converted to traces."""

    def __init__(self, figure: go.Figure, axes: Axes, number: str, place: Any) -> None:
        self.figure, self.axes, self.number, self.place = figure, axes, number, place
        self.on = {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": False}

    def add(self, scales: Sequence[Axes]) -> None:
        """Add axes, marks and text."""
        place = self.place
        across = self._axis("x") | {"domain": [place.x0, place.x1], "anchor": f"y{self.number}"}
        up = self._axis("y") | {"domain": [place.y0, place.y1], "anchor": f"x{self.number}"}
        self.figure.update_layout({f"xaxis{self.number}": across, f"yaxis{self.number}": up})
        for collection in self.axes.collections:
            if isinstance(collection, QuadMesh):
                self._mesh(collection, scales)
        self._rectangles([patch for patch in self.axes.patches if patch.get_visible()])
        for collection in self.axes.collections:
            if isinstance(collection, LineCollection):
                self._segments(collection)
            elif not isinstance(collection, QuadMesh):
                self._areas(collection)
        for line in self.axes.lines:
            self._line(line)
        for text in self.axes.texts:
            self._text(text)
        axes = (self.axes.xaxis, self.axes.yaxis)
        words = [text for axis in axes for text in (axis.label, axis.get_offset_text())]
        add_paper_text(self.figure, figure_of(self.axes), words)

    def _axis(self, name: str) -> dict[str, Any]:
        axis = self.axes.xaxis if name == "x" else self.axes.yaxis
        limits = self.axes.get_xlim() if name == "x" else self.axes.get_ylim()
        low, high = min(limits), max(limits)
        ticks = [
            (float(at), label)
            for at, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
            if low - 1e-9 <= at <= high + 1e-9 and self.axes.axison
        ]
        grid = next(iter(axis.get_gridlines()), None)
        spine = self.axes.spines["bottom" if name == "x" else "left"]
        look = ticks[0][1] if ticks else None
        return {
            "range": list(map(float, limits)),
            "tickmode": "array",
            "tickvals": [at for at, _ in ticks],
            "ticktext": [words_of(label) for _, label in ticks],
            "tickfont": {"size": size_of(look), "color": hex_of(look)} if look else None,
            "tickangle": -float(look.get_rotation()) if look and name == "x" else 0,
            "showgrid": bool(grid is not None and grid.get_visible() and self.axes.axison),
            "gridcolor": to_hex(grid.get_color()) if grid is not None else None,
            "showline": bool(spine.get_visible() and self.axes.axison),
            "linecolor": to_hex(spine.get_edgecolor()),
            "zeroline": False,
            "ticks": "",
            "visible": bool(self.axes.axison),
            "side": ("top" if axis.get_ticks_position() == "top" else "bottom")
            if name == "x"
            else "left",
        }

    def _data(self, points: Any, transform: Any) -> np.ndarray:
        """Convert points to the coordinates of the axes."""
        given: np.ndarray = np.asarray(points, np.float64)
        if transform == self.axes.transData:
            return given
        found: np.ndarray = self.axes.transData.inverted().transform(transform.transform(given))
        return found

    def _rectangles(self, patches: Sequence[Patch]) -> None:
        """Add all rectangles as one trace of bars, each with its own colour and hatch."""
        if not patches:
            return
        boxes = []
        for patch in patches:
            corners = self._data(patch.get_path().vertices, patch.get_transform())
            boxes.append((*corners.min(axis=0), *corners.max(axis=0)))
        x0, y0, x1, y1 = np.array(boxes).T
        tips = [
            "\n".join(tips_of(patch)) or self._row_words((y0[at] + y1[at]) / 2)
            for at, patch in enumerate(patches)
        ]
        styles: dict[tuple[Any, ...], list[int]] = {}
        for at, patch in enumerate(patches):
            look = (patch.get_facecolor(), patch.get_edgecolor(), patch.get_hatch() or "")
            styles.setdefault((*look, float(patch.get_linewidth())), []).append(at)
        for (face, edge, hatch, width), rows in styles.items():
            hover = _hover([tips[at] for at in rows])
            self.figure.add_bar(
                orientation="h",
                base=x0[rows].tolist(),
                x=(x1 - x0)[rows].tolist(),
                y=((y0 + y1) / 2)[rows].tolist(),
                width=(y1 - y0)[rows].tolist(),
                marker={
                    "color": rgba(face),
                    "line": {"color": rgba(edge), "width": width},
                    "pattern": {
                        "shape": _PATTERNS.get(hatch[:1], ""),
                        "fillmode": "overlay",
                        "fgcolor": rgba(edge),
                        "fgopacity": 1,
                        "size": 6,
                        "solidity": 0.25,
                    },
                },
                **hover,
                **self.on,
            )

    def _mesh(self, mesh: QuadMesh, scales: Sequence[Axes]) -> None:
        values = np.ma.filled(np.ma.asarray(mesh.get_array(), np.float64), np.nan)
        corners = np.asarray(mesh.get_coordinates(), np.float64)
        across, up = corners[0, :, 0], corners[:, 0, 1]
        least, most = mesh.get_clim()
        colours = [to_hex(mesh.get_cmap()(at)) for at in np.linspace(0, 1, 17)]
        tips = np.array(tips_of(mesh) or [""] * values.size, object).reshape(values.shape)
        bar = None
        # A scale of which the best is the least stands on its head; plotly's cannot.
        turned = bool(scales) and scales[0].yaxis_inverted()
        sign = -1 if turned else 1
        if scales:
            place = scales[0].get_position()
            ticks = scales[0].yaxis
            bar = {
                "x": place.x0,
                "xanchor": "left",
                "y": place.y0,
                "yanchor": "bottom",
                "len": place.height,
                "thickness": 8,
                "xpad": 0,
                "ypad": 0,
                "outlinewidth": 0,
                "tickvals": [sign * float(at) for at in ticks.get_ticklocs()],
                "ticktext": [words_of(label) for label in ticks.get_ticklabels()],
                "tickfont": {"size": 10, "color": hex_of(ticks.get_ticklabels()[0])},
            }
        self.figure.add_heatmap(
            x=((across[1:] + across[:-1]) / 2).tolist(),
            y=((up[1:] + up[:-1]) / 2).tolist(),
            z=[[None if np.isnan(each) else sign * float(each) for each in row] for row in values],
            customdata=[[broken(words) for words in row] for row in tips],
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale=[[at / 16, colour] for at, colour in enumerate(colours[::sign])],
            zmin=min(sign * least, sign * most),
            zmax=max(sign * least, sign * most),
            xgap=1,
            ygap=1,
            showscale=bar is not None,
            colorbar=bar,
            xaxis=self.on["xaxis"],
            yaxis=self.on["yaxis"],
        )

    def _segments(self, lines: LineCollection) -> None:
        points: list[Any] = []
        for segment in lines.get_segments():
            points += [*self._data(segment, lines.get_transform()), (None, None)]
        if not points:
            return
        colour = rgba(next(iter(lines.get_edgecolor()), (0, 0, 0, 1)))
        self.figure.add_scatter(
            x=[_plain(x) for x, _ in points],
            y=[_plain(y) for _, y in points],
            mode="lines",
            line={"color": colour, "width": float(np.ravel(lines.get_linewidth())[0]) * 1.3},
            hoverinfo="skip",
            **self.on,
        )

    def _areas(self, areas: Collection) -> None:
        face = next(iter(areas.get_facecolor()), None)
        if face is None:
            return
        for path in areas.get_paths():
            # A band in pieces is one path of several closed outlines.
            for outline in path.to_polygons(closed_only=False):
                points = self._data(outline, areas.get_transform())
                self.figure.add_scatter(
                    x=points[:, 0].tolist(),
                    y=points[:, 1].tolist(),
                    mode="lines",
                    fill="toself",
                    fillcolor=rgba(face),
                    line={"width": 0},
                    hoverinfo="skip",
                    **self.on,
                )

    def _line(self, line: Line2D) -> None:
        points = self._data(np.column_stack(line.get_data()), line.get_transform())
        marker, style = str(line.get_marker()), line.get_linestyle()
        has_marker = marker in _MARKERS
        has_line = style not in ("None", "", " ") and len(points) > 1
        if not (has_line or has_marker):
            return
        words = tips_of(line)
        tips = words if len(words) == len(points) else []
        tips = tips or [self._row_words(float(y)) for _, y in points]
        face = line.get_markerfacecolor()
        hollow = isinstance(face, str) and face == "none"
        self.figure.add_scatter(
            x=[_plain(x) for x in points[:, 0]],
            y=[_plain(y) for y in points[:, 1]],
            mode="+".join([*(["lines"] * has_line), *(["markers"] * has_marker)]),
            line={
                "color": to_hex(line.get_color()),
                "width": float(line.get_linewidth()) * 1.3,
                "dash": dash_of(line),
            },
            marker={
                "symbol": _MARKERS.get(marker, "circle") + ("-open" if hollow else ""),
                "size": float(line.get_markersize()) * (0.65 if marker == "." else 1.3),
                "color": to_hex(line.get_markeredgecolor() if hollow else face)
                if has_marker
                else None,
                "line": {
                    "width": max(float(line.get_markeredgewidth()), 0.5),
                    "color": to_hex(line.get_markeredgecolor()),
                },
            },
            connectgaps=False,
            cliponaxis=bool(line.get_clip_on()),
            **_hover(tips),
            **self.on,
        )

    def _row_words(self, y: float) -> str:
        """The label and numbers in the row of a mark."""
        labels = self.axes.get_yticklabels()
        rows = {
            round(float(where)): label.get_text()
            for where, label in zip(self.axes.get_yticks(), labels, strict=False)
        }
        row = round(y)
        if abs(y - row) > 0.3 or not rows.get(row) or self.axes.yaxis.get_major_formatter() is None:
            return ""
        here = [text.get_text() for text in self.axes.texts if abs(_anchor(text)[1] - row) < 0.3]
        return "\n".join([rows[row], *here])

    def _text(self, text: Text) -> None:
        if not text.get_text().strip():
            return
        position = self._data([_anchor(text)], _anchor_transform(text, self.axes))[0]
        shift = (0.0, 0.0)
        if isinstance(text, Annotation) and text.anncoords == "offset points":
            shift = tuple(float(each) * DPI / 72 for each in text.xyann)  # type: ignore[assignment]
        box = text.get_bbox_patch()
        filled = box is not None and to_rgba(box.get_facecolor())[3] > 0
        self.figure.add_annotation(
            x=float(position[0]),
            y=float(position[1]),
            xref=self.on["xaxis"],
            yref=self.on["yaxis"],
            xshift=shift[0],
            yshift=shift[1],
            text=words_of(text),
            showarrow=False,
            xanchor=text.get_horizontalalignment(),
            yanchor={"center": "middle", "baseline": "bottom"}.get(
                text.get_verticalalignment(), text.get_verticalalignment()
            ),
            align=text.get_horizontalalignment(),
            borderpad=0,
            bgcolor=rgba(box.get_facecolor()) if box is not None and filled else None,
            font={"size": size_of(text), "color": hex_of(text)},
        )


def _anchor(text: Text) -> tuple[float, float]:
    x, y = text.xy if isinstance(text, Annotation) else text.get_position()
    return float(x), float(y)


def _anchor_transform(text: Text, axes: Axes) -> Any:
    return axes.transData if isinstance(text, Annotation) else text.get_transform()


def _hover(tips: Sequence[str]) -> dict[str, Any]:
    if not any(tips):
        return {"hoverinfo": "skip"}
    words = [broken(each) for each in tips]
    return {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>"}


def _plain(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
