"""Choose the kind of picture (chart) for a DataFrame, and draw it with matplotlib.

The result is a `Picture`: matplotlib axes that a notebook displays. You can also draw on your own
axes.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping, Sequence
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

from aatoolkit._util.text import Names, drop_inner_stops
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import rows, tables, times
from aatoolkit.display.plot.data import PlotData, PlotOptions, aggregate_by_mark, to_plot_data
from aatoolkit.display.plot.layout import MARGIN, Layout, PlacedText, compute_layout, font_families
from aatoolkit.display.plot.spec import Mark, Spec
from aatoolkit.display.plot.style import (
    HATCH_BY_FILL,
    WORDS_BY_STATUS,
    Palette,
    compute_luminance,
    describe_scope,
    describe_sources,
    humanize_identifiers,
)
from aatoolkit.errors import ArgumentError, AvailabilityError, unknown
from aatoolkit.frame.groupby import check_columns, flatten_names, group_rows, period_groupers
from aatoolkit.stats.explain import Explainer

SPEC_FUNCTION_BY_KIND: Mapping[str, Callable[..., Spec | None]] = {
    **{kind: partial(tables.make_result_spec, kind) for kind in tables.RESULT_PLOT_BY_KIND},
    "changes": tables.make_changes_spec,
    "stages": tables.make_stages_spec,
    "figures": tables.make_figures_spec,
    "metrics": tables.make_metrics_spec,
    "line": times.make_lines_spec,
    "heatmap": times.make_heatmap_spec,
    "gap": rows.make_gap_spec,
    "shares": rows.make_shares_spec,
    "bars": rows.make_bars_spec,
    "verdicts": tables.make_states_spec,
    "counts": rows.make_counts_spec,
}
"""The function that makes the `Spec` (chart description) of each kind of picture, or returns None.

By default the functions are called in this order, until one returns a `Spec`.
"""


def plot(
    frame: pd.DataFrame, kind: str | None, x: str | None, y: Names | None,
    color: str | None, freq: str | None, top: int | None, ax: Axes | None, title: str | None = None,
    figsize: tuple[float, float] | None = None, theme: str = "auto",
) -> Axes:  # fmt: skip
    """Draw a DataFrame and return the matplotlib axes; ``df.aa.plot`` documents the arguments."""
    frame, rate_column = _restore_rate_rows(frame)
    data = to_plot_data(frame)
    kind = kind or (rate_column and "bars")
    y_columns = flatten_names([y or rate_column or ()])
    check_columns(data.frame, [*filter(None, (x, color)), *y_columns])
    dtype_problems = [f"{name} holds no numbers but {data.frame[name].dtype}" for name in y_columns
                      if data.kind_by_column[name] not in ("number", "code")]  # fmt: skip
    for argument, is_invalid, message in (
        ("kind", kind and kind not in SPEC_FUNCTION_BY_KIND,
         unknown("kind", kind, SPEC_FUNCTION_BY_KIND)),
        ("top", top is not None and top < 1, f"top={top!r} is no whole number from 1"),
        ("ax", ax is not None and (figsize or theme != "auto"), "figsize= and theme= are of a "
         "whole figure, and ax= is one axes: leave them out"),
        ("y", dtype_problems, f"these columns cannot be drawn: {'; '.join(dtype_problems)}"),
    ):  # fmt: skip
        if is_invalid:
            raise ArgumentError(message, argument=argument)
    theme = theme if ax else themes.resolve_theme(theme)
    background = ax.get_facecolor() if ax else mpl.rcParams["figure.facecolor"]
    is_dark = theme == "dark" or (theme == "auto" and compute_luminance(to_hex(background)) < 0.2)
    size_in_points = (
        (figsize[0] * 72, figsize[1] * 72) if figsize else _measure_axes_box(ax)[2:] if ax else None
    )
    options = PlotOptions(
        kind, x, y_columns, color, top, size_in_points[1] if size_in_points else np.inf
    )
    if freq is not None:
        data, options = _group_by_period(data, options, freq)
    spec = _choose_spec(data, options)
    for height_share in (0.8, 0.6, 0.4):
        if size_in_points is None:
            break
        layout = compute_layout(spec, *size_in_points)
        # With fewer rows, each name has room for several lines; `top` rows rather have short names.
        if layout.has_enough_height and (top or not layout.has_shortened_names):
            break
        spec = _choose_spec(data, replace(options, height=height_share * options.height))
    if title:
        reading_note = f"{spec.title_with_extent}. {spec.reading_note}".strip(". ")
        spec = replace(spec, title=title, headline="", reading_note=reading_note)
    if ax is None:
        return draw(spec, size_in_points or (), Palette(is_dark))
    text_colour = to_hex(mpl.rcParams["text.color"])
    draw_on_axes(ax, spec, Palette(is_dark, ink=text_colour, muted=text_colour))
    return ax


def _restore_rate_rows(frame: pd.DataFrame) -> tuple[pd.DataFrame, str | None]:
    """For a result of ``df.aa.interval``, return the rows it was computed from, and their rate.

    Such a frame has the columns ``x_low`` and ``x_high`` for a rate ``x``. These are added to the
    rows, and the name ``x`` is returned, too. Any other frame is returned unchanged, with None.
    """
    rate_name = str(next(iter(frame), ""))[:-4]
    if [*frame] == [f"{rate_name}_low", f"{rate_name}_high"] and frame.index.is_unique:
        for replay_input in getattr(Explainer()._try_replay(frame), "inputs", ()):
            return replay_input.frame.loc[frame.index].assign(**frame), rate_name
    return frame, None


def create_picture(data: PlotData, width: float) -> Picture | None:
    """Return a `Picture` of a frame for a report, ``width`` points wide.

    The result is None if no kind of picture fits the frame, so that only a table could be drawn.
    """
    spec = _choose_spec(data, PlotOptions(top=6))
    # The report itself says where numbers are from, what was not measured, and has sample sizes.
    spec = replace(
        spec,
        caption=[spec.sample_note],
        marks=[
            replace(mark, texts=[mark_text.partition("  (n=")[0] for mark_text in mark.texts])
            for mark in spec.marks
        ],
    )
    return None if spec.kind in ("empty", "table") else draw(spec, (width,), Palette())


def _choose_spec(data: PlotData, options: PlotOptions) -> Spec:
    """Return the `Spec` (chart description) of the first kind of picture that fits the data.

    If ``options`` has a kind, only this kind is tried. Rows that are totals of others are left out.
    """
    _check_distinct_hosts(data)
    is_not_total = ~data.total_mask()
    if not is_not_total.all():
        data = data.rows_at(np.flatnonzero(is_not_total))
    kinds = [options.kind] if options.kind else SPEC_FUNCTION_BY_KIND
    spec = None
    for kind in kinds if len(data) else ():
        try:
            spec = spec or SPEC_FUNCTION_BY_KIND[kind](data, options)
        except AvailabilityError:  # rows that share a mark and cannot be aggregated
            if options.kind or options.is_chosen:
                raise
    if spec is None and options.kind and len(data):
        raise AvailabilityError(
            f"these columns do not fit a picture of kind {options.kind!r}; choose others "
            "with x, y and color, or leave kind out"
        )
    spec = spec or tables.make_plain_table_spec(data, options)
    host, *section_and_time = describe_sources(data.metadata.sources)
    window_texts = {describe_scope(source.scope) for source in data.metadata.sources}
    window_text = window_texts.pop() if len(window_texts) == 1 else ""
    if len(data.metadata.sources) == 1 and all(data.window):
        first_day, last_day = map(pd.Timestamp, data.window)
        window_text = re.sub(
            r"^last \d+ days|^(?=, |$)", f"{first_day:%d %b} to {last_day:%d %b %Y}", window_text
        )
    return replace(
        spec, window_text=window_text,
        caption=[*filter(None, [host, "without the total" if data.unfiltered_data else "",
                                spec.sample_note, *_list_missing_notes(spec),
                                *section_and_time])],
    )  # fmt: skip


def _group_by_period(
    data: PlotData, options: PlotOptions, freq: str
) -> tuple[PlotData, PlotOptions]:
    """Return the data and options for a picture by period, such as weeks.

    Numbers are aggregated to one row per period. If rows are events, each row gets the period that
    it is in, so that the picture can count the rows. ``freq`` is the pandas alias of the period,
    such as ``W``.
    """
    (period,) = period_groupers(data.frame, [], freq)
    period_column = str(period.key)  # type: ignore[union-attr]
    # Periods are along x; each value of the column given as x has its own mark in each period.
    color_columns = [
        name for name in (options.x, options.color) if name not in (None, period_column)
    ] or data.varying_host_and_days()
    if options.kind == "heatmap" and not color_columns:
        color_columns = [name for name in data.key_columns if name != period_column][-1:]
    if color_columns[1:]:
        raise ArgumentError("freq= draws periods along x: leave out x=", argument="x")
    columns = options.y or data.number_columns
    rows_are_events = not (options.y or options.kind or period_column in data.key_columns)
    options = replace(options, x=period_column, color=color_columns[0] if color_columns else None)
    if columns and options.kind != "counts" and not rows_are_events:
        return aggregate_by_mark(
            data, [period_column, *data.varying_host_and_days(), *color_columns], columns, freq
        ), options
    groups = group_rows(data.frame, [period], True)
    period_frame = data.frame.assign(
        **{period_column: groups.keys[period_column].array[groups.row_codes]}
    )
    return replace(data, frame=period_frame), replace(options, kind=options.kind or "counts")


def _list_missing_notes(spec: Spec) -> list[str]:
    """Return phrases for the caption that say why drawn columns were not or only partly measured.

    The list is empty if all of the drawn columns were measured.
    """
    data = spec.data
    drawn_columns = [name for name in spec.columns if name in data.metadata.columns]
    if drawn_columns and not data.has_metadata:
        return ["availability unknown, as the frame has no metadata"]
    availability = data.combine_availability(drawn_columns)
    if not drawn_columns or availability.status == Status.AVAILABLE:
        return []
    reasons = humanize_identifiers(drop_inner_stops(availability.reason or "").rstrip(".")).split(
        "; "
    )
    return [WORDS_BY_STATUS[availability.status], *reasons]


def _check_distinct_hosts(data: PlotData) -> None:
    """Raise `AvailabilityError` if rows of several hosts cannot be told apart by any column."""
    hosts = dict.fromkeys(source.host for source in data.metadata.sources if source.host)
    if len(hosts) < 2 or "host" in data.kind_by_column or not data.key_columns or data.metadata.key:
        return
    if data.frame.duplicated(data.key_columns).any():
        raise AvailabilityError(
            f"rows of {', '.join(hosts)} have the same {' and '.join(data.key_columns)}, and no "
            "column tells the hosts apart; add df.aa.with_context() to each before aa.concat"
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
    explain : method
        Explains where the number of a bar, point or cell comes from, as `Spec.explain` describes.
    """

    name = "aatoolkit"
    spec: Spec

    def svg(self) -> str:
        """Return the picture as SVG text, in which text can be selected.

        The same picture always gives the same SVG.
        """
        buffer = io.StringIO()
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": self.name}):
            get_figure(self).savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, Any]]:
        figure = get_figure(self)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=144)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        png_base64 = base64.b64encode(buffer.getvalue()).decode()
        image_metadata = {"width": width, "height": height, "alt": self.finding}
        return {"image/png": png_base64, "text/plain": str(self)}, {"image/png": image_metadata}

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a Picture has no {name!r}: .figure.savefig(path) saves it")

    def __repr__(self) -> str:
        return f"<Picture: {self.finding}>"

    __str__ = __repr__


def get_figure(axes: Axes) -> Figure:
    """Return the matplotlib figure that axes belong to."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def draw(spec: Spec, size_in_points: Sequence[float], palette: Palette) -> Picture:
    """Draw a picture on a new figure, and return its axes.

    ``size_in_points`` is the width and height. By default the picture has the usual width, and is
    as high as it needs.
    """
    layout = compute_layout(spec, *size_in_points)
    figure = Figure((layout.width / 72, layout.height / 72), facecolor=palette["paper"])
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), axes_class=Picture)
    assert isinstance(axes, Picture)
    axes.set_facecolor(palette["paper"])
    _draw_contents(axes, spec, layout, palette)
    # Title and caption are also matplotlib's own, so that users find them in the figure.
    for add_figure_text, placed_text in (
        (figure.suptitle, layout.title),
        (figure.supxlabel, layout.caption),
    ):
        add_figure_text(placed_text.text, x=placed_text.x / layout.width,
                        y=1 - _compute_baseline(placed_text) / layout.height,
                        **_text_options(placed_text, palette))  # fmt: skip
    return axes


def draw_on_axes(axes: Axes, spec: Spec, palette: Palette) -> None:
    """Draw a picture (`Spec`) on existing axes, in the part of the figure that they cover."""
    *corner_position, width, height = _measure_axes_box(axes)
    layout = compute_layout(spec, width, height)
    layout.texts.extend([layout.title, layout.caption])
    _draw_contents(axes, spec, layout, palette, corner_position)


def _measure_axes_box(axes: Axes) -> list[float]:
    """Return the left edge, top edge, width and height of axes in their figure, in points.

    The left and top edges are counted from the upper left corner of the figure.
    """
    box = axes.get_position()
    figure_size = get_figure(axes).get_size_inches() * 72
    return [*(figure_size * (box.x0, 1 - box.y1)), *(figure_size * (box.width, box.height))]


def _compute_baseline(placed_text: PlacedText) -> float:
    """Return the vertical position at which matplotlib draws a text, in points from the top.

    This is the baseline of a text of one line, and the top of a text of several lines.
    """
    return placed_text.y + 0.95 * placed_text.font_size * ("\n" not in placed_text.text)


def _text_options(placed_text: PlacedText, palette: Palette) -> dict[str, Any]:
    """Return matplotlib's keyword arguments for a text: size, weight, colour and font."""
    return {
        "parse_math": False, "usetex": False, "fontfamily": [*font_families()],
        "fontsize": placed_text.font_size,
        "color": palette[placed_text.colour], "ha": placed_text.align, "linespacing": 1.15,
        "va": "top" if "\n" in placed_text.text else "baseline",
        "fontweight": "bold" if placed_text.is_bold else "normal",
    }  # fmt: skip


def _draw_contents(
    axes: Axes, spec: Spec, layout: Layout, palette: Palette,
    picture_corner: Sequence[float] = (0.0, 0.0),
) -> None:  # fmt: skip
    """Draw the scales, marks and texts of a picture.

    ``picture_corner`` is the upper left corner of the picture: its distances from the left and from
    the top of the figure, in points.
    """
    figure = get_figure(axes)
    figure_width, figure_height = figure.get_size_inches() * 72
    left_offset, top_offset = picture_corner
    vars(axes).update(spec=spec, explain=spec.explain, layout=layout, palette=palette,
                      kind=spec.kind, finding=spec.finding, data=spec.data.frame)  # fmt: skip
    axes.set_position(
        (
            (left_offset + layout.marks_left) / figure_width,
            1 - (top_offset + layout.marks_top + layout.marks_height) / figure_height,
            layout.marks_width / figure_width,
            layout.marks_height / figure_height,
        )
    )
    axes.set(xlim=(spec.x.low, spec.x.high), ylim=(spec.y.low, spec.y.high))
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, pad=6)  # dots at 0 do not touch names
    for matplotlib_axis, scale, ticks in (
        (axes.xaxis, spec.x, layout.x_ticks),
        (axes.yaxis, spec.y, layout.y_ticks),
    ):
        matplotlib_axis.set_ticks([tick.position for tick in ticks], [tick.text for tick in ticks])
        for tick_label, tick in zip(matplotlib_axis.get_ticklabels(), ticks, strict=True):
            text_options = _text_options(
                PlacedText(0, 0, tick.text, layout.font_size, is_bold=tick.is_bold), palette
            )
            del text_options["ha"], text_options["va"]
            if matplotlib_axis is axes.xaxis and layout.has_rotated_labels:
                text_options |= {"rotation": 35, "ha": "right", "va": "top",
                                 "rotation_mode": "anchor"}  # fmt: skip
            tick_label.set(**text_options)
        if scale.kind == "number":
            matplotlib_axis.grid(visible=True, color=palette["grid"], linewidth=0.8, linestyle="-")
        matplotlib_axis.label.set(fontsize=7.2, color=palette["muted"])
    # Titles that users give to the axes later have the room above the caption, and the margin.
    label_offset = layout.marks_top + layout.marks_height + 8 - layout.caption.y
    axes.xaxis.set_label_coords(0.5, label_offset / layout.marks_height)
    axes.yaxis.set_label_coords(
        (MARGIN - layout.marks_left - 0.5) / max(layout.marks_width, 1), 0.5
    )
    for mark in spec.marks:
        _draw_mark(axes, mark, spec, layout, palette)
    separator_start, separator_end = (
        (left_offset + x) / figure_width for x in (MARGIN, layout.width - MARGIN)
    )
    axes.hlines([1 - (top_offset + separator_position) / figure_height
                 for separator_position in layout.separator_positions],
                separator_start, separator_end, palette["grid"],
                linewidth=0.8, zorder=0, clip_on=False,
                transform=figure.transFigure)  # fmt: skip
    for placed_text in layout.texts:
        text_options = _text_options(placed_text, palette)
        if placed_text.anchor_point is None:
            axes.text((left_offset + placed_text.x) / figure_width,
                      1 - (top_offset + _compute_baseline(placed_text)) / figure_height,
                      placed_text.text, transform=figure.transFigure,
                      **text_options)  # fmt: skip
            continue
        if "/" not in placed_text.colour:  # words on cells have no background of their own
            text_options["bbox"] = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 1.0}
        axes.annotate(placed_text.text, placed_text.anchor_point, xytext=(placed_text.x, 0),
                      textcoords="offset points", annotation_clip=False, zorder=4,
                      **text_options | {"va": "center"})  # fmt: skip


def _draw_mark(axes: Axes, mark: Mark, spec: Spec, layout: Layout, palette: Palette) -> None:
    """Draw one set of marks (boxes, a line, dots or a band), without the texts of the picture."""
    style = mark.style
    colour = palette[style.colour_key]
    fill_colour, edge_colour, edge_width = palette.mark_colours(style, mark.colour_strength)
    has_points = bool(mark.tooltips)
    if mark.kind == "boxes":
        box_starts, box_ends, box_middles, box_height = mark.rectangle_bounds(spec)
        hatch_pattern = HATCH_BY_FILL.get(style.fill, "")
        fill_colours = [fill_colour] if isinstance(fill_colour, str) else fill_colour
        # Rectangles are faster than bars: matplotlib computes limits for each bar.
        for box_start, box_end, box_bottom, box_colour in zip(
            box_starts, box_ends, box_middles - box_height / 2, cycle(fill_colours)
        ):
            axes.add_artist(Rectangle((box_start, box_bottom), box_end - box_start, box_height,
                                      facecolor=box_colour, hatch=hatch_pattern,
                                      edgecolor=edge_colour, linewidth=edge_width,
                                      zorder=1.5))  # fmt: skip
    elif mark.kind == "line":
        axes.plot(
            spec.x.clip(mark.x), spec.y.clip(mark.y), color=colour, zorder=2.4,
            linestyle=(0, style.dash) if style.dash else "-",
            linewidth=mark.size * layout.text_scale,
            marker=style.symbol if has_points else "o" * (spec.kind == "figures"),
            # A number between two gaps is a dot as thick as the line.
            markersize=min(4, 160 / (len(mark) + 1)) if has_points else mark.size,
            clip_on=not has_points, solid_capstyle="butt",
        )  # fmt: skip
    elif mark.kind == "dots":
        axes.plot(
            mark.x, mark.y, linestyle="", clip_on=False, zorder=3, marker=style.symbol,
            markersize=mark.size * layout.text_scale, markeredgewidth=edge_width,
            markeredgecolor=edge_colour, markerfacecolor=fill_colour,
        )  # fmt: skip
    elif mark.ends is not None:  # a band
        axes.fill_between(mark.x, mark.y, mark.ends, color=colour, alpha=0.16, linewidth=0)
