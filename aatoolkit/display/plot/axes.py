"""Draw a picture with matplotlib: `Picture`, axes that display themselves, or axes of one's own."""

from __future__ import annotations

import base64
import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure

from aatoolkit.display.plot.layout import WIDTH, Layout, Text, families, place
from aatoolkit.display.plot.spec import Mark, Panel, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette, luminance
from aatoolkit.errors import ArgumentError
from aatoolkit.stats.explain import Explanation

_HATCHES = {HATCHED: "////", DOTTED: "...."}


class Picture(Axes):
    """Axes that display themselves in a notebook, without pyplot.

    Attributes
    ----------
    kind : str
        The kind of picture.
    finding : str
        The main result in words: the alternative text.
    data : pandas.DataFrame
        The rows that are drawn, after they were chosen, ordered and aggregated.
    spec : Spec
        The whole picture as a value.
    panel : Panel
        What it shows.
    """

    name = "aatoolkit"
    spec: Spec | None = None
    panel: Panel | None = None
    palette = Palette()
    kind = ""
    finding = ""
    data = pd.DataFrame()

    def explain(
        self, mark: Any = None, column: str | None = None, *, within: Any = None
    ) -> Explanation:
        """Explain what a bar, a point, a cell or the end of a whisker shows.

        Parameters
        ----------
        mark : str, mapping, date, int or pair of float, optional
            The mark: what it is named, such as ``"chatgpt"`` or a day; the values of columns,
            such as ``{"date": "2026-11-15", "engine": "chatgpt"}``; its row in ``data``; or where
            it is on the axes, as ``(event.xdata, event.ydata)`` of a click. By default the first
            that is missing, or the first of all.
        column : str, optional
            Which of its numbers; by default the first that is drawn. The ends of whiskers and
            bands end in ``_low`` and ``_high``.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            As for ``df.aa.explain``.

        Returns
        -------
        Explanation
            As of ``df.aa.explain``.

        Raises
        ------
        ArgumentError
            If nothing is known to be drawn at a point, or nothing is drawn.
        ItemNotFound
            If there is no such mark, or several.
        ColumnNotFound
            If there is no such column.
        """
        if self.panel is None:
            raise ArgumentError("no mark of this picture is known", argument="mark")
        return self.panel.explain(mark, column, within=within)

    def svg(self, salt: str) -> str:
        """The picture as SVG with text as text; the same salt gives the same SVG."""
        buffer, figure = io.StringIO(), figure_of(self)
        before = figure.canvas
        try:
            with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
                FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
        finally:
            figure.set_canvas(before)
        return buffer.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        figure, buffer = figure_of(self), io.BytesIO()
        figure.savefig(buffer, format="png", dpi=144)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        image = base64.b64encode(buffer.getvalue()).decode()
        alt = {"width": width, "height": height, "alt": self.finding}
        return {"image/png": image, "text/plain": str(self)}, {"image/png": alt}

    def __repr__(self) -> str:
        return f"<Picture: {self.finding}>" if self.finding else super().__repr__()

    __str__ = __repr__


def figure_of(axes: Axes) -> Figure:
    """Return the figure of axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def is_dark_paper(ax: Axes | None) -> bool:
    """Whether axes, or else matplotlib's own style, have dark paper."""
    paper = mpl.rcParams["figure.facecolor"] if ax is None else ax.get_facecolor()
    if ax is not None and not to_rgba(paper)[3]:
        paper = figure_of(ax).get_facecolor()
    return luminance(to_hex(paper)) < 0.2


def draw(
    spec: Spec, size: tuple[float, float] | None, palette: Palette, width: float = WIDTH
) -> Picture:
    """Draw a picture on a figure of its own, which pyplot does not manage."""
    layout = place(spec, size[0] * 72, size[1] * 72) if size else place(spec, width)
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), axes_class=Picture)
    assert isinstance(axes, Picture)
    axes.set_facecolor(palette["paper"])
    drawing = _Drawing(axes, spec, layout, palette)
    # A title and a caption are the figure's own, for those who look for them there.
    for write, text in ((figure.suptitle, layout.title), (figure.supxlabel, layout.caption)):
        x, y, look = drawing.look(text)
        write(text.text, x=x, y=y, **look)
    return axes


def draw_on(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture on axes of one's own, within their box."""
    box = axes.get_position()
    wide, high = figure_of(axes).get_size_inches() * 72
    layout = place(spec, box.width * wide, box.height * high)
    drawing = _Drawing(axes, spec, layout, palette, (box.x0 * wide, (1 - box.y1) * high))
    for text in (layout.title, layout.caption):
        drawing.write(text)
    axes.explain = spec.panel.explain  # type: ignore[attr-defined]


class _Drawing:
    """The drawing of a picture that begins at an origin of its figure, in points."""

    def __init__(
        self, axes: Axes, spec: Spec, layout: Layout, palette: Palette,
        origin: tuple[float, float] = (0.0, 0.0),
    ) -> None:  # fmt: skip
        self._axes, self._layout, self._palette, self._origin = axes, layout, palette, origin
        self._panel, self._sides = spec.panel, figure_of(axes).get_size_inches() * 72
        for name, value in {
            "spec": spec, "panel": spec.panel, "palette": palette, "kind": spec.panel.kind,
            "finding": spec.finding, "data": spec.panel.drawn.frame,
        }.items():  # fmt: skip
            setattr(axes, name, value)
        wide, high = self._sides
        corner = self._at(layout.left, layout.top + layout.high)
        axes.set_position((*corner, layout.wide / wide, layout.high / high))
        self._scales()
        for mark in spec.panel.marks:
            if mark.kind != "words":
                getattr(self, f"_{mark.kind}")(mark, mark.style, palette[mark.style.key])
        for text in layout.texts:
            self.write(text)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the picture as parts of the figure."""
        wide, high = self._sides
        return (self._origin[0] + x) / wide, 1 - (self._origin[1] + y) / high

    def look(self, text: Text) -> tuple[float, float, dict[str, Any]]:
        """Where a text is, by its baseline if it has one line alone, and how it looks."""
        is_one = "\n" not in text.text
        return *self._at(text.x, text.y + 0.95 * text.size * is_one), {
            "parse_math": False, "usetex": False, "fontfamily": [*families()],
            "fontsize": text.size, "color": self._palette[text.colour], "ha": text.align,
            "va": "baseline" if is_one else "top", "linespacing": 1.3,
            "fontweight": "bold" if text.is_bold else "normal",
        }  # fmt: skip

    def write(self, text: Text) -> None:
        """Write a text at its place in the figure, or beside a mark."""
        x, y, look = self.look(text)
        if text.at is None:
            self._axes.text(x, y, text.text, transform=figure_of(self._axes).transFigure, **look)
            return
        if text.has_paper:
            look["bbox"] = {"facecolor": self._palette["paper"], "edgecolor": "none", "pad": 1.0}
        self._axes.annotate(
            text.text, text.at, xytext=(text.x, 0), textcoords="offset points",
            annotation_clip=False, zorder=4, **look | {"va": "center"},
        )  # fmt: skip

    def _scales(self) -> None:
        axes, panel, layout, palette = self._axes, self._panel, self._layout, self._palette
        axes.set_xlim(panel.x.low, panel.x.high)
        axes.set_ylim(panel.y.low, panel.y.high)
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, pad=4)
        for axis, scale, ticks in (
            (axes.xaxis, panel.x, layout.x_ticks),
            (axes.yaxis, panel.y, layout.y_ticks),
        ):
            axis.set_ticks([tick.at for tick in ticks])
            labels = axis.set_ticklabels([tick.text for tick in ticks])
            for label, tick in zip(labels, ticks, strict=True):
                *_, look = self.look(Text(0, 0, tick.text, layout.size, is_bold=tick.is_bold))
                label.set(**{k: v for k, v in look.items() if k not in ("ha", "va")})
                if axis is axes.xaxis and layout.is_turned:
                    label.set(rotation=35, ha="right", rotation_mode="anchor")
            if scale.kind == "number":
                axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")

    def _boxes(self, mark: Mark, style: Any, _: str) -> None:
        starts, ends, middles, high = mark.corners(self._panel, self._layout.high)
        face, edge, width = self._palette.box(style)
        self._axes.barh(
            middles, ends - starts, left=starts, height=high, facecolor=face, edgecolor=edge,
            linewidth=width, hatch=_HATCHES.get(style.look, ""), zorder=1.5,
        )  # fmt: skip

    def _line(self, mark: Mark, style: Any, colour: str) -> None:
        has_points = bool(mark.places)
        self._axes.plot(
            self._panel.x.within(mark.x), self._panel.y.within(mark.y), color=colour, zorder=2.4,
            linestyle=(0, style.dash) if style.dash else "-", linewidth=mark.size,
            marker=style.symbol if has_points and len(mark) <= 100 else "", markersize=4,
            clip_on=not has_points, solid_capstyle="butt",
        )  # fmt: skip

    def _dots(self, mark: Mark, style: Any, colour: str) -> None:
        is_hollow, paper = style.look == "hollow", self._palette["paper"]
        self._axes.plot(
            mark.x, mark.y, linestyle="", clip_on=False, zorder=3, marker=style.symbol,
            markersize=mark.size, markeredgecolor=colour if is_hollow else paper,
            markerfacecolor=paper if is_hollow else colour,
            markeredgewidth=1.4 if is_hollow else 0.5,
        )  # fmt: skip

    def _band(self, mark: Mark, _: Any, colour: str) -> None:
        assert mark.to is not None
        self._axes.fill_between(mark.x, mark.y, mark.to, color=colour, alpha=0.16, linewidth=0)

    def _cells(self, mark: Mark, *_: Any) -> None:
        assert mark.strength is not None
        columns, rows = len(self._panel.x.names), len(self._panel.y.names)
        self._axes.pcolormesh(
            np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5,
            np.ma.masked_invalid(mark.strength.reshape(rows, columns)), vmin=0.0, vmax=1.0,
            cmap=LinearSegmentedColormap.from_list("ramp", self._palette.ramp),
            edgecolors=self._palette["paper"], linewidth=0.5 if columns <= 60 else 0,
        )  # fmt: skip
