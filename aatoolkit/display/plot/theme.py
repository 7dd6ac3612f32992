"""Dark pictures and the user's colours: each colour of a picture has its counterpart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from aatoolkit.display.plot.style import (
    EVEN,
    GRID,
    INK,
    MUTED,
    PAPER,
    REST,
    RIVAL,
    SERIES,
    UNMEASURED_FILL,
)

_LIGHTER = ("#2f80c8", "#f0813a", "#33c29a", "#b98acb", "#e6edf3", "#8cc8f0")

DARK: Mapping[str, str] = {
    INK: "#e6edf3",
    MUTED: "#9da7b1",
    GRID: "#30363d",
    PAPER: "#0d1117",
    UNMEASURED_FILL["facecolor"]: "#161b22",
    UNMEASURED_FILL["edgecolor"]: "#8b949e",
    REST.colour: "#66727e",
    RIVAL.colour: "#8796a3",
    EVEN.colour: "#4d5761",
    **{style.colour: light for style, light in zip(SERIES, _LIGHTER, strict=True)},
}
"""The colour on dark paper of each colour on light paper."""


def is_dark(colour: Any) -> bool:
    """Whether a background is dark."""
    red, green, blue = to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4


def auto_is_dark(theme: str, ax: Axes | None) -> bool:
    """Whether to draw for a dark background: that of the axes, or that of matplotlib's style."""
    if theme != "auto":
        return theme == "dark"
    if ax is None:
        return is_dark(mpl.rcParams["figure.facecolor"])
    paper = ax.get_facecolor()
    figure = ax.get_figure(root=True)
    return is_dark(paper if to_rgba(paper)[3] or figure is None else figure.get_facecolor())


def recolour(figure: Figure | Axes, dark: bool, colours: Sequence[str]) -> None:
    """Replace the colours of a drawn figure, or of all that is drawn in some axes."""
    table = dict(DARK) if dark else {}
    table |= {style.colour: colour for style, colour in zip(SERIES, colours, strict=False)}
    if not table:
        return
    for artist in figure.findobj(include_self=isinstance(figure, Figure)):
        if artist is not getattr(figure, "patch", None) or isinstance(figure, Figure):
            _recolour(artist, table)


def _recolour(artist: Artist, table: Mapping[str, str]) -> None:
    def changed(colour: Any) -> Any:
        alpha = to_rgba(colour)[3]
        found = table.get(to_hex(colour)) if alpha else None
        return colour if found is None else to_rgba(found, alpha)

    if isinstance(artist, Text):
        if to_hex(artist.get_color()) != PAPER:  # on axes of a dark style text is white
            artist.set_color(changed(artist.get_color()))
        box = artist.get_bbox_patch()
        if box is not None:
            _recolour(box, table)
    elif isinstance(artist, Line2D):
        for part in ("color", "markerfacecolor", "markeredgecolor"):
            value = getattr(artist, f"get_{part}")()
            if not (isinstance(value, str) and value in ("auto", "none")):
                getattr(artist, f"set_{part}")(changed(value))
    elif isinstance(artist, Patch):
        hatch = artist.get_hatch()
        face, edge = changed(artist.get_facecolor()), changed(artist.get_edgecolor())
        artist.set_facecolor(face)
        artist.set_edgecolor(edge)
        artist.set_hatch(hatch)
    elif isinstance(artist, Collection) and artist.get_array() is None:
        artist.set_facecolor([changed(each) for each in artist.get_facecolor()])
        artist.set_edgecolor([changed(each) for each in artist.get_edgecolor()])
