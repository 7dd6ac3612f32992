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
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aatoolkit._util.attributes import missing_attribute
from aatoolkit.display.plot.fonts import families, literal_text
from aatoolkit.display.plot.layout import Box, Placement, Text, number_ticks, place
from aatoolkit.display.plot.spec import Mark, Panel, Scale, Spec
from aatoolkit.display.plot.style import DOTTED, HATCHED, Palette, Style, along, luminance
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.aggregation import RANK

if TYPE_CHECKING:
    from aatoolkit.frame.explain import Explanation

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
        ItemNotFound
            If there is no such column.
        """
        if self.panel is None:
            raise ArgumentError("nothing is drawn here that is known", argument="mark")
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
    layout = place(spec, size[0] * 72, size[1] * 72) if size else place(spec, _wide(spec))
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    panels = []
    for panel, box in zip(spec.panels, layout.boxes, strict=True):
        axes = figure.add_axes(_rectangle(box, layout), axes_class=Picture)
        assert isinstance(axes, Picture)
        axes.spec, axes.panel, axes.palette = spec, panel, palette
        axes.set_facecolor(palette["paper"])
        _Drawing(axes, panel, box, layout, palette).draw()
        panels.append(axes)
    figure.suptitle(
        layout.title,
        va="top",
        **_literal(layout.texts[0].size, palette["ink"], x=9 / layout.width, ha="left"),
        y=1 - 9 / layout.height,
        fontweight="bold",
    )
    figure.supxlabel(
        layout.notes,
        x=9 / layout.width,
        y=6 / layout.height,
        va="bottom",
        linespacing=1.3,
        **_literal(layout.size, palette["muted"], ha="left"),
    )
    if layout.legend:
        _legend(figure, spec.legend, layout.legend, layout, palette)
    return panels[0]


def _rectangle(box: Box, layout: Placement) -> tuple[float, float, float, float]:
    """A box as parts of the figure, from its lower left corner."""
    bottom = 1 - (box.top + box.height) / layout.height
    return (
        box.left / layout.width,
        bottom,
        box.width / layout.width,
        box.height / layout.height,
    )


def _wide(spec: Spec) -> float:
    return 547.0 * (1.35 if spec.across > 1 else 1.0)


def draw_on(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture of one panel on axes of one's own, in all of the room that they have."""
    figure = figure_of(axes)
    left, bottom, right, top = _cell(axes)
    wide, high = (float(side) * 72 for side in figure.get_size_inches())
    layout = place(spec, (right - left) * wide, (top - bottom) * high)
    (panel,), (box,) = spec.panels, layout.boxes
    x, y = left * wide, (1 - top) * high
    axes.set_position(
        (
            (x + box.left) / wide,
            1 - (y + box.top + box.height) / high,
            box.width / wide,
            box.height / high,
        )
    )
    _Drawing(axes, panel, box, layout, palette, (x, y, wide, high)).draw()
    axes.set_title(
        layout.title,
        loc="left",
        y=1 + (box.top - 9) / box.height,
        pad=0,
        va="top",
        **_literal(layout.texts[0].size, palette["ink"], x=(9 - box.left) / box.width),
    )
    note = Text(9, layout.height - 6, layout.notes, layout.size, "muted")
    _put(axes, note, (x, y, wide, high), palette, va="bottom")
    for name, value in (
        ("spec", spec),
        ("panel", panel),
        ("kind", panel.kind),
        ("finding", spec.finding),
        ("data", panel.drawn.frame),
    ):
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
        self,
        axes: Axes,
        panel: Panel,
        box: Box,
        layout: Placement,
        palette: Palette,
        origin: tuple[float, float, float, float] | None = None,
    ) -> None:
        self._axes, self._panel, self._box = axes, panel, box
        self._layout, self._palette = layout, palette
        self._origin = origin or (0.0, 0.0, layout.width, layout.height)

    def draw(self) -> None:
        """Draw scales, marks, words and legend."""
        axes, panel, box = self._axes, self._panel, self._box
        axes.set_xlim(panel.x.low, panel.x.high)
        axes.set_ylim(panel.y.low, panel.y.high)
        self._scales()
        for mark, words in zip(panel.marks, box.words, strict=True):
            getattr(self, f"_{mark.kind}")(mark, words)
        for text in box.texts:
            _put(axes, text, self._origin, self._palette)
        if box.legend:
            _legend(axes, panel.legend, box.legend, self._layout, self._palette, self._origin)
        if box.ramp:
            self._ramp()

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
            axis.set_ticks([one.at for one in ticks])
            labels = axis.set_ticklabels(
                [one.text for one in ticks], **_literal(box.size, palette["ink"])
            )
            for label, one in zip(labels, ticks, strict=True):
                label.set_fontweight("bold" if one.is_bold else "normal")
            if scale.kind == "number":
                axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")
        if box.is_turned:
            for label in axes.get_xticklabels():
                label.set(rotation=35, ha="right", rotation_mode="anchor")
        if panel.x.is_above:
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("left")

    def _boxes(self, mark: Mark, words: Sequence[str]) -> None:
        starts, ends, middles, high = mark.corners(self._panel)
        face, edge, width = self._palette.box(mark.style)
        self._axes.barh(
            middles,
            ends - starts,
            left=starts,
            height=high,
            facecolor=face,
            edgecolor=edge,
            linewidth=width,
            hatch=_HATCHES.get(mark.style.look, ""),
            zorder=1.5,
        )

    def _line(self, mark: Mark, words: Sequence[str]) -> None:
        is_line = mark.kind == "line"
        self._axes.plot(
            *mark.strokes(self._panel),
            linestyle=_dash(mark.style),
            linewidth=1.6 if mark.kind == "ticks" else mark.size,
            marker=mark.style.symbol if is_line and len(mark) <= 100 else "",
            markersize=4,
            color=self._palette[mark.style.colour],
            clip_on=not is_line,
            solid_capstyle="butt",
            zorder=2.4,
        )

    _spans = _ticks = _rules = _line

    def _dots(self, mark: Mark, words: Sequence[str]) -> None:
        look = _marker(mark.style, self._palette, mark.size)
        self._axes.plot(mark.x, mark.y, linestyle="", clip_on=False, zorder=3, **look)

    def _band(self, mark: Mark, words: Sequence[str]) -> None:
        assert mark.to is not None
        colour = self._palette[mark.style.colour]
        self._axes.fill_between(mark.x, mark.y, mark.to, color=colour, alpha=0.16, linewidth=0)

    def _cells(self, mark: Mark, words: Sequence[str]) -> None:
        assert mark.values is not None
        ramp = self._palette.ramp(self._panel.x.unit == RANK, self._panel.colour)
        columns, rows = len(self._panel.x.names), len(self._panel.y.names)
        grid = mark.values.reshape(rows, columns)
        low, high = mark.bounds
        self._mesh = self._axes.pcolormesh(
            np.arange(columns + 1) - 0.5,
            np.arange(rows + 1) - 0.5,
            np.ma.masked_invalid(grid),
            cmap=LinearSegmentedColormap.from_list("ramp", ramp),
            vmin=low,
            vmax=high,
            edgecolors=self._palette["paper"],
            linewidth=0.5 if columns <= 60 else 0,
        )
        for x, y, value, word in zip(mark.x, mark.y, mark.values, words, strict=False):
            if word:
                colour = cell_ink(ramp, (value - low) / (high - low))
                look = _literal(self._layout.size, colour, ha="center", va="center")
                self._axes.text(x, y, word, **look)

    def _words(self, mark: Mark, words: Sequence[str]) -> None:
        palette = self._palette
        look = _literal(self._layout.size, palette[mark.style.colour], ha=mark.align, va="center")
        if mark.has_paper:
            look["bbox"] = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 1.0}
        for x, y, word in zip(self._panel.x.within(mark.x), mark.y, words, strict=True):
            if word:
                offset: dict[str, Any] = {"xytext": mark.shift, "textcoords": "offset points"}
                self._axes.annotate(word, (x, y), annotation_clip=False, zorder=4, **offset, **look)

    def _ramp(self) -> None:
        assert self._box.ramp is not None
        left, top, width, height = self._box.ramp
        x, y, wide, high = self._origin
        unit, figure = self._panel.x.unit, figure_of(self._axes)
        bar = figure.add_axes(
            ((x + left) / wide, 1 - (y + top + height) / high, width / wide, height / high)
        )
        figure.colorbar(self._mesh, cax=bar).outline.set_visible(False)
        ticks = number_ticks(Scale(*self._mesh.get_clim(), unit=unit), 5)
        look = _literal(self._layout.size, self._palette["ink"])
        bar.set_yticks([one.at for one in ticks], [one.text for one in ticks], **look)
        bar.tick_params(length=0, pad=3)
        bar.set_label(self._panel.ramp)
        if unit == RANK:
            bar.invert_yaxis()


def cell_ink(ramp: Sequence[str], share: float) -> str:
    """The colour of text on a cell: black on light ones and white on dark ones."""
    return "#000000" if luminance(along(ramp, share)) > 0.18 else "#fefefe"


def _dash(style: Style) -> Any:
    return (0, style.dash) if style.dash else "-"


def _marker(style: Style, palette: Palette, size: float) -> dict[str, Any]:
    colour = palette[style.colour]
    hollow = style.look in ("hollow", "ring")
    face = "none" if style.look == "ring" else palette["paper"] if hollow else colour
    edge = 1.4 if hollow else 0.5
    return {
        "marker": style.symbol,
        "markersize": size,
        "markerfacecolor": face,
        "markeredgecolor": colour if hollow or style.symbol in "|_x." else palette["paper"],
        "markeredgewidth": edge,
        "color": colour,
    }


def _literal(size: float, colour: str, **more: Any) -> dict[str, Any]:
    return literal_text(fontsize=size, color=colour, **more)


def _put(
    axes: Axes,
    text: Text,
    origin: tuple[float, float, float, float],
    palette: Palette,
    va: str = "baseline",
) -> None:
    """Write a text at its place in the figure."""
    x, y, wide, high = origin
    axes.text(
        (x + text.x) / wide,
        1 - (y + text.y + (0.95 * text.size if va == "baseline" else 0)) / high,
        text.text,
        transform=figure_of(axes).transFigure,
        va=va,
        linespacing=1.3,
        **_literal(text.size, palette[text.colour], ha=text.align),
        fontweight="bold" if text.is_bold else "normal",
    )


def _legend(
    owner: Axes | Figure,
    keys: Sequence[tuple[str, Mark]],
    place: tuple[float, float, tuple[str, ...], int],
    layout: Placement,
    palette: Palette,
    origin: tuple[float, float, float, float] | None = None,
) -> None:
    """Add a legend with its upper left corner at a place of the figure."""
    left, top, words, columns = place
    x, y, wide, high = origin or (0.0, 0.0, layout.width, layout.height)
    figure = owner if isinstance(owner, Figure) else figure_of(owner)
    # Row by row: matplotlib fills a legend column by column.
    order = [at for column in range(columns) for at in range(column, len(words), columns)]
    box = owner.legend(
        [_handle(keys[at][1], palette) for at in order],
        [words[at] for at in order],
        loc="upper left",
        bbox_to_anchor=((x + left) / wide, 1 - (y + top) / high),
        bbox_transform=figure.transFigure,
        ncols=columns,
        frameon=False,
        fontsize=layout.size,
        borderaxespad=0,
        borderpad=0,
        handlelength=2.0,
        columnspacing=1.4,
        labelspacing=0.35,
    )
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_fontfamily(list(families()))
        text.set_color(palette["ink"])


def _handle(mark: Mark, palette: Palette) -> Patch | Line2D:
    if mark.kind in ("boxes", "band"):
        face, edge, width = palette.box(mark.style)
        hatch = _HATCHES.get(mark.style.look, "")
        alpha = 0.16 if mark.kind == "band" else None
        return Patch(facecolor=face, edgecolor=edge, linewidth=width, hatch=hatch, alpha=alpha)
    look = _marker(mark.style, palette, 6 if mark.kind == "dots" else 4)
    if mark.kind in ("line", "rules"):
        look |= {"linestyle": _dash(mark.style), "linewidth": 1.8}
        look["marker"] = mark.style.symbol if mark.kind == "line" else ""
    else:
        look["linestyle"] = ""
    return Line2D([], [], **look)
