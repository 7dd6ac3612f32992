"""Pictures as SVG, with text as text."""

from __future__ import annotations

import io

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG

from aatoolkit.display.plot.canvas import Picture, figure_of


def svg_of(picture: Picture, salt: str) -> str:
    """Render as SVG with text as text; the same picture and salt give the same SVG."""
    buffer, figure = io.StringIO(), figure_of(picture)
    before, layout = figure.canvas, figure.get_layout_engine()
    # `savefig` draws twice, once for the layout alone.
    canvas = FigureCanvasSVG(figure)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        if layout is not None:
            layout.execute(figure)
        figure.set_layout_engine("none")
        try:
            canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
        finally:
            figure.set_layout_engine(layout)
            figure.set_canvas(before)
    return buffer.getvalue()
