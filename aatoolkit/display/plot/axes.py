"""Draw a picture with matplotlib: `Picture`, axes that display themselves, or axes of one's own."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure

from aatoolkit.display.plot.fonts import literal_text
from aatoolkit.display.plot.layout import WIDTH, Box, Placement, Text, place
from aatoolkit.display.plot.spec import Mark, Panel, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette, luminance
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.stats.explain import Explanation

_DPI = 144
_HATCHES = {HATCHED: "////", DOTTED: "...."}

WIDE = 1.35
"""How much wider a picture of panels beside each other is."""


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
        What these axes show of it.
    """

    name = "aatoolkit"
    spec: Spec | None = None
    panel: Panel | None = None
    palette: Palette = Palette.of(is_dark=False)

    @property
    def kind(self) -> str:
        """The kind of picture."""
        return self.panel.kind if self.panel else ""

    @property
    def finding(self) -> str:
        """The main result in words; of the first panel of several, that of all."""
        if self.spec is None or self.panel is None:
            return ""
        return self.spec.finding if self.panel is self.spec.panels[0] else self.panel.finding

    @property
    def data(self) -> pd.DataFrame:
        """The rows that are drawn."""
        return self.panel.drawn.frame if self.panel else pd.DataFrame()

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
        figure.savefig(buffer, format="png", dpi=_DPI)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        shown = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": str(self)}
        return shown, {"image/png": {"width": width, "height": height, "alt": self.finding}}

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
    wide = (WIDE if spec.across > 1 else 1.0) * width
    layout = place(spec, size[0] * 72, size[1] * 72) if size else place(spec, wide)
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    panels = []
    for panel, box in zip(spec.panels, layout.boxes, strict=True):
        axes = figure.add_axes((0, 0, 1, 1), axes_class=Picture)
        assert isinstance(axes, Picture)
        axes.spec, axes.panel, axes.palette = spec, panel, palette
        axes.set_facecolor(palette["paper"])
        _Drawing(axes, panel, box, layout, palette, (0.0, 0.0)).draw()
        panels.append(axes)
    for at, text in enumerate(layout.texts):
        y, look = _look(text, palette)
        x, y = text.x / layout.width, 1 - y / layout.height
        # A title and a caption are the figure's own, for those who look for them there.
        if at == 0:
            figure.suptitle(text.text, x=x, y=y, **look)
        elif at == len(layout.texts) - 1:
            figure.supxlabel(text.text, x=x, y=y, **look)
        else:
            figure.text(x, y, text.text, **look)
    return panels[0]


def draw_on(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture of one panel on axes of one's own, in all of the room that they have."""
    left, bottom, right, top = _cell(axes)
    wide, high = (float(side) * 72 for side in figure_of(axes).get_size_inches())
    layout = place(spec, (right - left) * wide, (top - bottom) * high)
    (panel,), (box,) = spec.panels, layout.boxes
    drawing = _Drawing(axes, panel, box, layout, palette, (left * wide, (1 - top) * high))
    drawing.draw()
    title = layout.texts[0]
    y, look = _look(title, palette)
    axes.set_title(
        title.text, loc="left", pad=0, **look, x=(title.x - box.left) / box.width,
        y=1 + (box.top - y) / box.height,
    )  # fmt: skip
    for text in layout.texts[1:]:
        drawing.write(text)
    for name, value in (
        ("spec", spec), ("panel", panel), ("kind", panel.kind), ("finding", spec.finding),
        ("data", panel.drawn.frame), ("explain", panel.explain),
    ):  # fmt: skip
        setattr(axes, name, value)


def _cell(axes: Axes) -> tuple[float, float, float, float]:
    """The part of a figure that belongs to axes: their cell of a grid, with its margins."""
    spec, box = axes.get_subplotspec(), axes.get_position()
    grid = spec.get_gridspec() if spec else None
    if spec is None or grid is None or hasattr(grid, "_subplot_spec"):
        return box.x0, box.y0, box.x1, box.y1
    high = 0.93 if figure_of(axes).get_suptitle() else 1.0
    shares = []
    for count, ratios, span in (
        (grid.ncols, grid.get_width_ratios(), spec.colspan),
        (grid.nrows, grid.get_height_ratios(), spec.rowspan),
    ):
        ends = np.cumsum([0.0, *np.broadcast_to(ratios or 1.0, count)])
        shares.append((ends[[span.start, span.stop]] / ends[-1]).tolist())
    (left, right), (above, below) = shares
    return left, high * (1 - below), right, high * (1 - above)


class _Drawing:
    """The drawing of one panel, whose picture begins at an origin of the figure, in points."""

    def __init__(
        self, axes: Axes, panel: Panel, box: Box, layout: Placement, palette: Palette,
        origin: tuple[float, float],
    ) -> None:  # fmt: skip
        self._axes, self._panel, self._box, self._palette = axes, panel, box, palette
        self._size, self._origin = layout.size, origin
        self._sides = [float(side) * 72 for side in figure_of(axes).get_size_inches()]

    def _at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the picture as parts of the figure."""
        wide, high = self._sides
        return (self._origin[0] + x) / wide, 1 - (self._origin[1] + y) / high

    def draw(self) -> None:
        """Draw scales, marks and words."""
        axes, panel, box = self._axes, self._panel, self._box
        wide, high = self._sides
        axes.set_position(
            (*self._at(box.left, box.top + box.height), box.width / wide, box.height / high)
        )
        axes.set_xlim(panel.x.low, panel.x.high)
        axes.set_ylim(panel.y.low, panel.y.high)
        self._scales()
        for mark, words in zip(panel.marks, box.words, strict=True):
            if mark.kind != "words":
                getattr(self, f"_{mark.kind}")(mark)
            for at, word in enumerate(words):
                if word.text:
                    self._word(mark, at, word)
        for text in box.texts:
            self.write(text)

    def write(self, text: Text) -> None:
        """Write a text at its place in the figure."""
        if text.text:
            y, look = _look(text, self._palette)
            self._axes.text(*self._at(text.x, y), text.text,
                            transform=figure_of(self._axes).transFigure, **look)  # fmt: skip

    def _scales(self) -> None:
        axes, panel, box, palette = self._axes, self._panel, self._box, self._palette
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, pad=4)
        axes.tick_params(axis="x", pad=6)
        if panel.x.is_above:
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
        for axis, scale, ticks in (
            (axes.xaxis, panel.x, box.x_ticks),
            (axes.yaxis, panel.y, box.y_ticks),
        ):
            axis.set_ticks([tick.at for tick in ticks])
            look = literal_text(fontsize=box.size, color=palette["ink"])
            labels = axis.set_ticklabels([tick.text for tick in ticks], **look)
            for label, tick in zip(labels, ticks, strict=True):
                label.set_fontweight("bold" if tick.is_bold else "normal")
                if axis is axes.xaxis and box.is_turned:
                    label.set(rotation=35, ha="right", rotation_mode="anchor")
                elif axis is axes.xaxis and scale.is_above:
                    label.set_horizontalalignment("left")
            if scale.kind == "number":
                axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")

    def _boxes(self, mark: Mark) -> None:
        starts, ends, middles, high = mark.corners(self._panel, self._box.height)
        face, edge, width = self._palette.box(mark.style)
        self._axes.barh(
            middles, ends - starts, left=starts, height=high, facecolor=face, edgecolor=edge,
            linewidth=width, hatch=_HATCHES.get(mark.style.look, ""), zorder=1.5,
        )  # fmt: skip

    def _line(self, mark: Mark) -> None:
        style, has_points = mark.style, bool(mark.places)
        self._axes.plot(
            self._panel.x.within(mark.x), self._panel.y.within(mark.y),
            linestyle=(0, style.dash) if style.dash else "-", linewidth=mark.size,
            marker=style.symbol if has_points and len(mark) <= 100 else "", markersize=4,
            color=self._palette[style.key], clip_on=not has_points, solid_capstyle="butt",
            zorder=2.4,
        )  # fmt: skip

    def _dots(self, mark: Mark) -> None:
        style, colour, paper = mark.style, self._palette[mark.style.key], self._palette["paper"]
        is_hollow = style.look in ("hollow", "ring")
        self._axes.plot(
            mark.x, mark.y, linestyle="", clip_on=False, zorder=3, marker=style.symbol,
            markersize=mark.size, color=colour, markeredgecolor=colour if is_hollow else paper,
            markerfacecolor={"ring": "none", "hollow": paper}.get(style.look, colour),
            markeredgewidth=1.4 if is_hollow else 0.5,
        )  # fmt: skip

    def _band(self, mark: Mark) -> None:
        assert mark.to is not None
        colour = self._palette[mark.style.colour]
        self._axes.fill_between(mark.x, mark.y, mark.to, color=colour, alpha=0.16, linewidth=0)

    def _cells(self, mark: Mark) -> None:
        assert mark.strength is not None
        columns, rows = len(self._panel.x.names), len(self._panel.y.names)
        self._axes.pcolormesh(
            np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5,
            np.ma.masked_invalid(mark.strength.reshape(rows, columns)), vmin=0.0, vmax=1.0,
            cmap=LinearSegmentedColormap.from_list("ramp", self._palette.ramp),
            edgecolors=self._palette["paper"], linewidth=0.5 if columns <= 60 else 0,
        )  # fmt: skip

    def _word(self, mark: Mark, at: int, word: Any) -> None:
        """A word beside or in a mark."""
        palette, x = self._palette, self._panel.x.within(mark.x)
        look = literal_text(
            fontsize=self._size, color=palette.word(mark.style, mark.strength, at), ha=word.align,
            va="center",
        )  # fmt: skip
        if mark.has_paper:
            look["bbox"] = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 1.0}
        self._axes.annotate(
            word.text, (x[at], mark.y[at]), xytext=(word.right, word.up),
            textcoords="offset points", annotation_clip=False, zorder=4, **look,
        )  # fmt: skip


def _look(text: Text, palette: Palette) -> tuple[float, dict[str, Any]]:
    """Where a text is, by its baseline if it has one line alone, and how it looks."""
    is_one = "\n" not in text.text
    return text.y + 0.95 * text.size * is_one, literal_text(
        fontsize=text.size, color=palette[text.colour], ha=text.align, linespacing=1.3,
        va="baseline" if is_one else "top", fontweight="bold" if text.is_bold else "normal",
    )  # fmt: skip
