"""Draw a picture with matplotlib: `Picture`, axes that display themselves, or axes of one's own."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure

from aatoolkit._util.attributes import missing_attribute
from aatoolkit.display.plot.fonts import literal_text
from aatoolkit.display.plot.layout import WIDTH, Box, Placement, Text, WordPlace, place
from aatoolkit.display.plot.spec import Mark, Panel, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette, luminance
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.stats.explain import Explanation

_DPI = 144
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
        return self.panel.drawn.explain(mark, column, within, self.panel.place_at)

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
        figure = figure_of(self)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        shown = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": str(self)}
        return shown, {"image/png": {"width": width, "height": height, "alt": self.finding}}

    if not TYPE_CHECKING:  # type checkers go by what is declared

        def __getattr__(self, name: str) -> Any:
            if name in ("save", "savefig", "write_image"):
                hint = "save its figure: picture.figure.savefig('picture.png')"
                raise AttributeError(f"a picture has no {name!r}; {hint}")
            raise missing_attribute("a picture", name, dir(type(self)))

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
    if ax is None:
        paper = mpl.rcParams["figure.facecolor"]
    else:
        paper = ax.get_facecolor()
        paper = paper if to_rgba(paper)[3] else figure_of(ax).get_facecolor()
    return luminance(to_hex(paper)) < 0.2


def draw(spec: Spec, size: tuple[float, float] | None, palette: Palette) -> Picture:
    """Draw a picture on a figure of its own, which pyplot does not manage."""
    wide = (WIDE if spec.across > 1 else 1.0) * WIDTH
    layout = place(spec, size[0] * 72, size[1] * 72) if size else place(spec, wide)
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    origin = (0.0, 0.0, layout.width, layout.height)
    panels = []
    for panel, box in zip(spec.panels, layout.boxes, strict=True):
        axes = figure.add_axes(_rectangle(box, origin), axes_class=Picture)
        assert isinstance(axes, Picture)
        axes.spec, axes.panel, axes.palette = spec, panel, palette
        axes.set_facecolor(palette["paper"])
        _Drawing(axes, panel, box, layout.size, palette, origin).draw()
        panels.append(axes)
    for text, name in zip(layout.texts, _named(layout), strict=True):
        at = _where(text, origin)
        # A title and a caption are the figure's own, for those who look for them there.
        add = getattr(figure, name or "text")
        add(**({"t": text.text} if name else {"s": text.text}), x=at[0], y=at[1],
            **_look(text, palette))  # fmt: skip
    return panels[0]


WIDE = 1.35
"""How much wider a picture of panels beside each other is."""


def _named(layout: Placement) -> list[str]:
    others = len(layout.texts) - 2
    return ["suptitle", *[""] * others, "supxlabel"]


def _rectangle(
    box: Box, origin: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """A box as parts of the figure, from its lower left corner."""
    x, y, wide, high = origin
    bottom = 1 - (y + box.top + box.height) / high
    return (x + box.left) / wide, bottom, box.width / wide, box.height / high


def draw_on(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture of one panel on axes of one's own, in all of the room that they have."""
    left, bottom, right, top = _cell(axes)
    wide, high = (float(side) * 72 for side in figure_of(axes).get_size_inches())
    layout = place(spec, (right - left) * wide, (top - bottom) * high)
    (panel,), (box,) = spec.panels, layout.boxes
    origin = (left * wide, (1 - top) * high, wide, high)
    axes.set_position(_rectangle(box, origin))
    _Drawing(axes, panel, box, layout.size, palette, origin).draw()
    title = layout.texts[0]
    place_of: dict[str, Any] = {
        "x": (title.x - box.left) / box.width,
        "y": 1 + (box.top - title.y) / box.height,
    }
    axes.set_title(title.text, loc="left", pad=0, **place_of, **_look(title, palette))
    for text in layout.texts[1:]:
        _put(axes, text, origin, palette)
    for name, value in (
        ("spec", spec), ("panel", panel), ("kind", panel.kind), ("finding", spec.finding),
        ("data", panel.drawn.frame),
    ):  # fmt: skip
        setattr(axes, name, value)

    def explain(mark: Any = None, column: str | None = None, *, within: Any = None) -> Explanation:
        """Explain a mark; see `Picture.explain`."""
        return panel.drawn.explain(mark, column, within, panel.place_at)

    axes.explain = explain  # type: ignore[attr-defined]


def _cell(axes: Axes) -> tuple[float, float, float, float]:
    """The part of a figure that belongs to axes: their cell of a grid, with its margins."""
    grid = axes.get_subplotspec()
    box = axes.get_position()
    if grid is None:
        return box.x0, box.y0, box.x1, box.y1
    whole = grid.get_gridspec()
    parts = []
    shape = (whole.ncols, whole.get_width_ratios()), (whole.nrows, whole.get_height_ratios())
    for (count, ratios), span in zip(shape, (grid.colspan, grid.rowspan), strict=True):
        shares = np.concatenate([[0.0], np.cumsum(ratios or [1] * count)])
        parts.append((shares[span.start] / shares[-1], shares[span.stop] / shares[-1]))
    (left, right), (above, below) = parts
    # A grid within a grid has the room of its cell.
    outer = getattr(whole, "_subplot_spec", None)
    x0, y0, x1, y1 = 0.0, 0.0, 1.0, 1.0
    if outer is not None:
        bounds = outer.get_position(figure_of(axes))
        x0, y0, x1, y1 = bounds.x0, bounds.y0, bounds.x1, bounds.y1
    elif figure_of(axes).get_suptitle():
        y1 = 0.93
    return (
        x0 + left * (x1 - x0),
        y1 - below * (y1 - y0),
        x0 + right * (x1 - x0),
        y1 - above * (y1 - y0),
    )


class _Drawing:
    """The drawing of one panel."""

    def __init__(
        self, axes: Axes, panel: Panel, box: Box, size: float, palette: Palette,
        origin: tuple[float, float, float, float],
    ) -> None:  # fmt: skip
        self._axes, self._panel, self._box = axes, panel, box
        self._size, self._palette, self._origin = size, palette, origin

    def draw(self) -> None:
        """Draw scales, marks and words."""
        axes, panel, box = self._axes, self._panel, self._box
        axes.set_xlim(panel.x.low, panel.x.high)
        axes.set_ylim(panel.y.low, panel.y.high)
        self._scales()
        for mark, words in zip(panel.marks, box.words, strict=True):
            getattr(self, f"_{mark.kind}")(mark)
            self._words_of(mark, words)
        for text in box.texts:
            _put(axes, text, self._origin, self._palette)

    def _scales(self) -> None:
        axes, panel, box, palette = self._axes, self._panel, self._box, self._palette
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, pad=4)
        axes.tick_params(axis="x", pad=6)
        for axis, scale, ticks in (
            (axes.xaxis, panel.x, box.x_ticks),
            (axes.yaxis, panel.y, box.y_ticks),
        ):
            axis.set_ticks([tick.at for tick in ticks])
            look = literal_text(fontsize=box.size, color=palette["ink"])
            labels = axis.set_ticklabels([tick.text for tick in ticks], **look)
            for label, tick in zip(labels, ticks, strict=True):
                label.set_fontweight("bold" if tick.is_bold else "normal")
            if scale.kind == "number":
                axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")
        if panel.x.is_above:
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
        for label in axes.get_xticklabels():
            if box.is_turned:
                label.set(rotation=35, ha="right", rotation_mode="anchor")
            elif panel.x.is_above:
                label.set_horizontalalignment("left")

    def _boxes(self, mark: Mark) -> None:
        starts, ends, middles, high = mark.corners(self._panel)
        face, edge, width = self._palette.box(mark.style)
        self._axes.barh(
            middles, ends - starts, left=starts, height=high, facecolor=face, edgecolor=edge,
            linewidth=width, hatch=_HATCHES.get(mark.style.look, ""), zorder=1.5,
        )  # fmt: skip

    def _line(self, mark: Mark) -> None:
        style, has_points = mark.style, bool(mark.places)
        self._axes.plot(
            self._panel.x.within(mark.x),
            self._panel.y.within(mark.y),
            linestyle=(0, style.dash) if style.dash else "-",
            linewidth=mark.size,
            marker=style.symbol if has_points and len(mark) <= 100 else "",
            markersize=4,
            color=self._palette[style.key],
            clip_on=not has_points,
            solid_capstyle="butt",
            zorder=2.4,
        )

    def _dots(self, mark: Mark) -> None:
        style, colour = mark.style, self._palette[mark.style.key]
        is_hollow = style.look in ("hollow", "ring")
        face = {"ring": "none", "hollow": self._palette["paper"]}.get(style.look, colour)
        self._axes.plot(
            mark.x, mark.y, linestyle="", clip_on=False, zorder=3, marker=style.symbol,
            markersize=mark.size, markerfacecolor=face, color=colour,
            markeredgecolor=colour if is_hollow else self._palette["paper"],
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
            np.arange(columns + 1) - 0.5,
            np.arange(rows + 1) - 0.5,
            np.ma.masked_invalid(mark.strength.reshape(rows, columns)),
            cmap=LinearSegmentedColormap.from_list("ramp", self._palette.ramp),
            vmin=0.0,
            vmax=1.0,
            edgecolors=self._palette["paper"],
            linewidth=0.5 if columns <= 60 else 0,
        )

    def _words(self, mark: Mark) -> None:
        """Words alone have no marks."""

    def _words_of(self, mark: Mark, words: Sequence[WordPlace]) -> None:
        """The words beside or in marks."""
        palette, x, y = self._palette, self._panel.x.within(mark.x), mark.y
        for at, word in enumerate(words):
            if not word.text:
                continue
            colour = palette[mark.style.key]
            if mark.strength is not None:
                colour = cell_ink(palette, float(mark.strength[at]))
            look = literal_text(fontsize=self._size, color=colour, ha=word.align, va="center")
            if mark.has_paper:
                look["bbox"] = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 1.0}
            self._axes.annotate(
                word.text, (x[at], y[at]), xytext=(word.right, word.up),
                textcoords="offset points", annotation_clip=False, zorder=4, **look,
            )  # fmt: skip


def cell_ink(palette: Palette, strength: float) -> str:
    """The colour of text on a cell: black on light ones and white on dark ones."""
    return "#000000" if luminance(palette[f"ramp/{strength}"]) > 0.18 else "#fefefe"


def _look(text: Text, palette: Palette) -> dict[str, Any]:
    """How a text looks, whose place is its upper corner."""
    return literal_text(
        fontsize=text.size, color=palette[text.colour], ha=text.align, va="top", linespacing=1.3,
        fontweight="bold" if text.is_bold else "normal",
    )  # fmt: skip


def _where(text: Text, origin: tuple[float, float, float, float]) -> tuple[float, float]:
    x, y, wide, high = origin
    return (x + text.x) / wide, 1 - (y + text.y) / high


def _put(
    axes: Axes, text: Text, origin: tuple[float, float, float, float], palette: Palette
) -> None:
    """Write a text at its place in the figure."""
    if text.text:
        axes.text(*_where(text, origin), text.text, transform=figure_of(axes).transFigure,
                  **_look(text, palette))  # fmt: skip
