"""Choose the kind of picture ("picture") for a frame, and draw it with matplotlib.

The result is a `Picture`: matplotlib axes that a notebook displays. You can also draw on your own
axes.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from aatoolkit._util.text import joined
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import rows, tables, times
from aatoolkit.display.plot.data import Options, PlotData, one_row_per_mark, plot_data
from aatoolkit.display.plot.layout import MARGIN, WIDTH, Layout, Text, families, place
from aatoolkit.display.plot.spec import Mark, Spec
from aatoolkit.display.plot.style import (
    HATCHES,
    STATUS_WORDS,
    Palette,
    describe_scope,
    in_words,
    luminance,
    source_phrases,
)
from aatoolkit.errors import ArgumentError, AvailabilityError, unknown
from aatoolkit.frame.groupby import check_columns, flatten_names, group, period_groupers
from aatoolkit.stats.explain import Explainer, Explanation

KINDS: Mapping[str, Callable[..., Spec | None]] = {
    **{kind: partial(tables.result, kind) for kind in tables.RESULTS},
    "stages": tables.stages,
    "figures": tables.figures,
    "line": times.lines,
    "heatmap": times.heatmap,
    "gap": rows.gap,
    "shares": rows.shares,
    "bars": rows.bars,
    "verdicts": tables.states,
    "counts": rows.counts,
}
"""The kinds of pictures, in the order in which they are tried."""


def plot(
    frame: pd.DataFrame, kind: str | None, x: str | None, y: str | Iterable[str] | None,
    color: str | None, freq: str | None, top: int | None, ax: Axes | None, title: str | None = None,
    figsize: tuple[float, float] | None = None, theme: str = "auto",
) -> Axes:  # fmt: skip
    """Draw a frame and return the axes; see ``df.aa.plot``."""
    frame, rate = _with_rate(frame)
    data, kind = plot_data(frame), kind or (rate and "bars")
    y_columns = flatten_names([y or rate or ()])
    check_columns(data.frame, [*filter(None, (x, color)), *y_columns])
    not_numeric = [f"{n} holds no numbers but {data.frame[n].dtype}" for n in y_columns
                   if data.kinds[n] not in ("number", "code")]  # fmt: skip
    for name, is_wrong, message in (
        ("kind", kind and kind not in KINDS, unknown("kind", kind, KINDS)),
        ("top", top is not None and top < 1, f"top={top!r} is no whole number from 1"),
        ("ax", ax is not None and (figsize or theme != "auto"), "figsize= and theme= are of a "
         "whole figure, and ax= is one axes: leave them out"),
        ("y", not_numeric, f"these columns cannot be drawn: {'; '.join(not_numeric)}"),
    ):  # fmt: skip
        if is_wrong:
            raise ArgumentError(message, argument=name)
    theme = theme if ax else themes.current(theme)
    is_dark = theme == "dark" if theme != "auto" else is_dark_paper(ax)
    size = (figsize[0] * 72, figsize[1] * 72) if figsize else _box_in_points(ax)[2:] if ax else None
    options = Options(kind, x, y_columns, color, top, size[1] if size else np.inf)
    if freq is not None:
        data, options = _by_period(data, options, freq)
    spec = _spec_of(data, options)
    for height_share in (0.8, 0.6, 0.4):
        if size is None or not place(spec, *size).is_cut:
            break
        # With fewer rows, each name has room for several lines.
        spec = _spec_of(data, replace(options, height=height_share * options.height))
    if title:
        how = f"{spec.whole_title}. {spec.how}".strip(". ")
        spec = replace(spec, title=title, headline="", how=how)
    if ax is None:
        return draw(spec, size, Palette(is_dark))
    ink = to_hex(mpl.rcParams["text.color"])
    draw_on(ax, spec, Palette(is_dark, ink=ink, muted=ink))
    return ax


def _with_rate(frame: pd.DataFrame) -> tuple[pd.DataFrame, str | None]:
    """Return a frame of interval ends joined with the rows that they were computed from.

    The second result is the name of the rate. Any other frame is returned unchanged, with None.
    """
    rate = str(next(iter(frame), ""))[:-4]
    if [*frame] == [f"{rate}_low", f"{rate}_high"] and frame.index.is_unique:
        for source in getattr(Explainer()._try_replay(frame), "inputs", ()):
            return source.frame.loc[frame.index].assign(**frame), rate
    return frame, None


def picture_of(data: PlotData, width: float) -> Picture | None:
    """Draw a frame for a report, ``width`` points wide; return None if only a table fits it."""
    spec = _spec_of(data, Options(top=8))
    # The report itself says where numbers are from, and what was not measured.
    spec = replace(spec, caption=[spec.n])
    return None if spec.kind in ("empty", "table") else draw(spec, None, Palette(), width)


def _spec_of(data: PlotData, options: Options) -> Spec:
    """Return the `Spec` (chart description) of the first kind of picture that fits the data."""
    _check_hosts(data)
    is_part = ~data.are_totals()
    if not is_part.all():
        data = data.rows_at(np.flatnonzero(is_part))
    plans = KINDS.values() if options.kind is None else [KINDS[options.kind]]
    spec = None
    for plan in plans if len(data) else ():
        try:
            spec = spec or plan(data, options)
        except AvailabilityError:  # rows that share a mark and cannot be aggregated
            if options.kind or options.is_chosen:
                raise
    if spec is None and options.kind and len(data):
        raise AvailabilityError(
            f"these columns do not fit a picture of kind {options.kind!r}; choose others "
            "with x, y and color, or leave kind out"
        )
    spec = spec or tables.empty(data, options)
    (host, *source), missing = source_phrases(data.metadata.sources), _missing_notes(spec)
    windows = {describe_scope(source.scope) for source in data.metadata.sources}
    window = windows.pop() if len(windows) == 1 else ""
    if len(data.metadata.sources) == 1 and all(data.window):
        start, end = map(pd.Timestamp, data.window)
        window = re.sub(r"^last \d+ days|^(?=, |$)", f"{start:%d %b} to {end:%d %b %Y}", window)
    return replace(
        spec, window=window,
        caption=[*filter(None, [host, "without the total" if data.whole else "", spec.n, *missing,
                                *source])],
    )  # fmt: skip


def _by_period(data: PlotData, options: Options, freq: str) -> tuple[PlotData, Options]:
    """Prepare the data for a picture by period, such as weeks: return grouped data and new options.

    Numbers are aggregated by period. Rows that are events are counted by period.
    """
    (period,) = period_groupers(data.frame, [], freq)
    period_column = str(period.key)  # type: ignore[union-attr]
    # Periods are along x; each value of the column given as x has its own mark in each period.
    color_columns = [
        n for n in (options.x, options.color) if n not in (None, period_column)
    ] or data.varying_context()
    if options.kind == "heatmap":
        color_columns = color_columns or [name for name in data.keys if name != period_column][-1:]
    if color_columns[1:]:
        raise ArgumentError("freq= draws periods along x: leave out x=", argument="x")
    columns = options.y or data.numbers
    are_events = not (options.y or options.kind or period_column in data.keys)
    options = replace(options, x=period_column, color=color_columns[0] if color_columns else None)
    if columns and options.kind != "counts" and not are_events:
        return one_row_per_mark(
            data, [period_column, *data.varying_context(), *color_columns], columns, freq
        ), options
    groups = group(data.frame, [period], True)
    frame = data.frame.assign(**{period_column: groups.keys[period_column].array[groups.of_row]})
    return replace(data, frame=frame), replace(options, kind=options.kind or "counts")


def _missing_notes(spec: Spec) -> list[str]:
    """Return phrases for the caption: whether the drawn columns were measured, or why not."""
    data = spec.data
    names = [name for name in spec.columns if name in data.metadata.columns]
    if names and not data.is_known:
        return ["availability unknown, as the frame has no metadata"]
    availability = data.combined_availability(names)
    if not names or availability.status == Status.AVAILABLE:
        return []
    reasons = in_words(joined(availability.reason or "").rstrip(".")).split("; ")
    return [STATUS_WORDS[availability.status], *reasons]


def _check_hosts(data: PlotData) -> None:
    """Raise `AvailabilityError` if no column tells which host each row is about."""
    hosts = dict.fromkeys(source.host for source in data.metadata.sources if source.host)
    if len(hosts) < 2 or "host" in data.kinds or not data.keys or data.metadata.key:
        return
    if data.frame.duplicated(data.keys).any():
        raise AvailabilityError(
            f"rows of {', '.join(hosts)} have the same {' and '.join(data.keys)}, and no column "
            "tells the hosts apart; add df.aa.with_context() to each before aa.concat"
        )


# --- with matplotlib ----------------------------------------------------------------------------


class Picture(Axes):
    """Matplotlib axes with a picture, which a notebook displays without pyplot.

    Attributes
    ----------
    kind : str
        The kind of picture.
    finding : str
        The main result in words, for use as alternative text.
    data : pandas.DataFrame
        The rows that are drawn, after selecting, sorting and aggregating.
    spec : Spec
        The marks, scales and texts of the picture.
    """

    name = "aatoolkit"
    spec: Spec

    def explain(
        self, mark: Any = None, column: str | None = None, *, within: Any = None
    ) -> Explanation:
        """Explain where the number of a bar, point or cell comes from.

        Parameters
        ----------
        mark : str, mapping, date or int, optional
            The name of the mark, such as ``"chatgpt"`` or a day. Or a mapping from columns to
            values, such as ``{"date": "2026-11-15", "engine": "chatgpt"}``. Or the position of its
            row in ``data``. By default the first mark without a number, else the first mark.
        column : str, optional
            The column of the number; by default the main column of the picture. For the ends of an
            interval, add ``_low`` or ``_high`` to its name.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            Where to look for the API responses, besides memory.

        Returns
        -------
        Explanation
            The same tree as from ``df.aa.explain``.

        Raises
        ------
        ArgumentError
            If nothing is drawn. If the marks count rows and ``mark`` is left out.
        ItemNotFound
            If there is no such column. If there is no such mark, or several.
        """
        return self.spec.explain(mark, column, within=within)

    def svg(self) -> str:
        """Return the picture as SVG text, in which text can be selected.

        The same picture always gives the same SVG.
        """
        buffer = io.StringIO()
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": self.name}):
            figure_of(self).savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        figure, buffer = figure_of(self), io.BytesIO()
        figure.savefig(buffer, format="png", dpi=144)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        image = base64.b64encode(buffer.getvalue()).decode()
        image_metadata = {"width": width, "height": height, "alt": self.finding}
        return {"image/png": image, "text/plain": str(self)}, {"image/png": image_metadata}

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a Picture has no {name!r}: .figure.savefig(path) saves it")

    def __repr__(self) -> str:
        return f"<Picture: {self.finding}>"

    __str__ = __repr__


def figure_of(axes: Axes) -> Figure:
    """Return the matplotlib figure that axes belong to."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def is_dark_paper(ax: Axes | None) -> bool:
    """Return whether the background of ``ax``, or of new figures, is dark."""
    paper = ax.get_facecolor() if ax else mpl.rcParams["figure.facecolor"]
    return luminance(to_hex(paper)) < 0.2


def draw(
    spec: Spec, size: Sequence[float] | None, palette: Palette, width: float = WIDTH
) -> Picture:
    """Draw a picture on a new figure, and return its axes."""
    layout = place(spec, *(size or (width,)))
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), axes_class=Picture)
    assert isinstance(axes, Picture)
    axes.set_facecolor(palette["paper"])
    _draw_contents(axes, spec, layout, palette)
    # Title and caption are also matplotlib's own, so that users find them in the figure.
    for add_text, text in ((figure.suptitle, layout.title), (figure.supxlabel, layout.caption)):
        x, y = text.x / layout.width, 1 - _baseline(text) / layout.height
        add_text(text.text, x=x, y=y, **_text_options(text, palette))
    return axes


def draw_on(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture (`Spec`) on existing axes, within their box."""
    *corner, width, height = _box_in_points(axes)
    layout = place(spec, width, height)
    layout.texts.extend([layout.title, layout.caption])
    _draw_contents(axes, spec, layout, palette, corner)
    axes.explain = spec.explain  # type: ignore[attr-defined]


def _box_in_points(axes: Axes) -> list[float]:
    """Return a list of the left, top, width and height of axes, in points."""
    box, size = axes.get_position(), figure_of(axes).get_size_inches() * 72
    return [*(size * (box.x0, 1 - box.y1)), *(size * (box.width, box.height))]


def _baseline(text: Text) -> float:
    return text.y + 0.95 * text.size * ("\n" not in text.text)


def _text_options(text: Text, palette: Palette) -> dict[str, Any]:
    """Return matplotlib's keyword arguments for a text: size, weight, colour and font."""
    return {
        "parse_math": False, "usetex": False, "fontfamily": [*families()], "fontsize": text.size,
        "color": palette[text.colour], "ha": text.align, "linespacing": 1.15,
        "va": "top" if "\n" in text.text else "baseline",
        "fontweight": "bold" if text.is_bold else "normal",
    }  # fmt: skip


def _draw_contents(
    axes: Axes, spec: Spec, layout: Layout, palette: Palette,
    origin: Sequence[float] = (0.0, 0.0),
) -> None:  # fmt: skip
    """Draw the scales, marks and texts of a picture; ``origin`` is its upper left corner."""
    (width, height), (left, top) = figure_of(axes).get_size_inches() * 72, origin
    vars(axes).update(spec=spec, layout=layout, palette=palette, kind=spec.kind,
                      finding=spec.finding, data=spec.data.frame)  # fmt: skip
    corner = (left + layout.left) / width, 1 - (top + layout.top + layout.high) / height
    axes.set_position((*corner, layout.wide / width, layout.high / height))
    axes.set(xlim=(spec.x.low, spec.x.high), ylim=(spec.y.low, spec.y.high))
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, pad=4)
    for axis, scale, ticks in (
        (axes.xaxis, spec.x, layout.x_ticks),
        (axes.yaxis, spec.y, layout.y_ticks),
    ):
        axis.set_ticks([tick.at for tick in ticks], [tick.text for tick in ticks])
        for label, tick in zip(axis.get_ticklabels(), ticks, strict=True):
            look = _text_options(Text(0, 0, tick.text, layout.size, is_bold=tick.is_bold), palette)
            del look["ha"], look["va"]
            if axis is axes.xaxis and layout.is_turned:
                look |= {"rotation": 35, "ha": "right", "va": "top", "rotation_mode": "anchor"}
            label.set(**look)
        if scale.kind == "number":
            axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")
        axis.label.set(fontsize=7.2, color=palette["muted"])
    # Titles that users give to the axes later have the room above the caption, and the margin.
    below = layout.top + layout.high + 8 - layout.caption.y
    axes.xaxis.set_label_coords(0.5, below / layout.high)
    axes.yaxis.set_label_coords((MARGIN - layout.left - 0.5) / max(layout.wide, 1), 0.5)
    for mark in spec.marks:
        _draw_mark(axes, mark, spec, layout, palette)
    start, end = ((left + x) / width for x in (MARGIN, layout.width - MARGIN))
    axes.hlines([1 - (top + rule) / height for rule in layout.rules], start, end, palette["grid"],
                linewidth=0.8, zorder=0, clip_on=False,
                transform=figure_of(axes).transFigure)  # fmt: skip
    for text in layout.texts:
        look = _text_options(text, palette)
        if text.at is None:
            x, y = (left + text.x) / width, 1 - (top + _baseline(text)) / height
            axes.text(x, y, text.text, transform=figure_of(axes).transFigure, **look)
            continue
        if "/" not in text.colour:  # words on cells have no background of their own
            look["bbox"] = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 1.0}
        axes.annotate(text.text, text.at, xytext=(text.x, 0), textcoords="offset points",
                      annotation_clip=False, zorder=4, **look | {"va": "center"})  # fmt: skip


def _draw_mark(axes: Axes, mark: Mark, spec: Spec, layout: Layout, palette: Palette) -> None:
    style, colour, paper = mark.style, palette[mark.style.key], palette["paper"]
    is_hollow, has_points = style.look == "hollow", bool(mark.tips)
    if mark.kind == "boxes":
        starts, ends, middles, tall = mark.corners(spec, layout.high)
        face, edge, width = palette.boxes(mark.style, mark.strength)
        hatch, faces = HATCHES.get(style.look, ""), [face] if isinstance(face, str) else face
        # Rectangles are faster than bars: matplotlib computes limits for each bar.
        for left, right, y, fill in zip(starts, ends, middles - tall / 2, cycle(faces)):
            axes.add_artist(Rectangle((left, y), right - left, tall, facecolor=fill, hatch=hatch,
                                      edgecolor=edge, linewidth=width, zorder=1.5))  # fmt: skip
    elif mark.kind == "line":
        axes.plot(
            spec.x.within(mark.x), spec.y.within(mark.y), color=colour, zorder=2.4,
            linestyle=(0, style.dash) if style.dash else "-", linewidth=mark.size * layout.zoom,
            marker=style.symbol if has_points else "", markersize=min(4, 160 / (len(mark) + 1)),
            clip_on=not has_points, solid_capstyle="butt",
        )  # fmt: skip
    elif mark.kind == "dots":
        axes.plot(
            mark.x, mark.y, linestyle="", clip_on=False, zorder=3, marker=style.symbol,
            markersize=mark.size * layout.zoom, markeredgecolor=colour if is_hollow else paper,
            markerfacecolor=paper if is_hollow else colour,
            markeredgewidth=1.4 if is_hollow else 0.5,
        )  # fmt: skip
    elif mark.to is not None:  # a band
        axes.fill_between(mark.x, mark.y, mark.to, color=colour, alpha=0.16, linewidth=0)
