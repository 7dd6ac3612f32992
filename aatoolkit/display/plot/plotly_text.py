"""Convert text, colours and dashes of matplotlib to those of plotly."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

DPI = 100
"""Pixels an inch."""


def add_paper_text(figure: go.Figure, drawn: Figure, texts: Sequence[Text | None]) -> None:
    """Add text that keeps its place in the picture: titles, labels of axes, notes."""
    wide, high = (float(side) * DPI for side in drawn.get_size_inches())
    for text in texts:
        if text is None or not text.get_text().strip() or not text.get_visible():
            continue
        box = text.get_window_extent()
        turned = text.get_rotation() != 0
        figure.add_annotation(
            x=((box.x0 + box.x1) / 2 if turned else box.x0) / wide,
            y=(box.y0 + box.y1) / 2 / high,
            xref="paper",
            yref="paper",
            xanchor="center" if turned else "left",
            yanchor="middle",
            align="left",
            textangle=-float(text.get_rotation()),
            text=words_of(text),
            showarrow=False,
            borderpad=0,
            font={"size": size_of(text), "color": hex_of(text)},
        )


def dash_of(line: Line2D) -> str:
    """Convert the dash of a line to lengths in pixels."""
    _, lengths = line._unscaled_dash_pattern  # type: ignore[attr-defined]
    if not lengths:
        return "solid"
    return ",".join(f"{float(each) * float(line.get_linewidth()) * 1.3:g}px" for each in lengths)


def rgba(colour: Any) -> str:
    """Convert a colour of matplotlib for plotly."""
    red, green, blue, alpha = to_rgba(colour)
    return f"rgba({round(255 * red)},{round(255 * green)},{round(255 * blue)},{alpha:.3g})"


def hex_of(text: Text) -> str:
    """The colour of some text."""
    return to_hex(text.get_color())


def size_of(text: Text) -> float:
    """The size of some text in pixels."""
    return float(text.get_fontsize()) * DPI / 72 * 0.97


def words_of(text: Text) -> str:
    """Escape text so that plotly shows it as it is: no markup, no formulas."""
    shown = broken(text.get_text())
    return f"<b>{shown}</b>" if text.get_fontweight() in ("bold", 700) and shown else shown


def broken(words: str) -> str:
    """Text without markup or formulas, its lines broken."""
    return html.escape(words, quote=False).replace("$", "&#36;").replace("\n", "<br>")
