"""Choose a kind of picture, put its panels together, and draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like, to_hex

from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import rows, tables, times
from aatoolkit.display.plot.axes import Picture, draw, draw_on, is_dark_paper
from aatoolkit.display.plot.data import APART, Options, PlotData, plot_data
from aatoolkit.display.plot.spec import Panel, Spec, sharing
from aatoolkit.display.plot.style import (
    Palette,
    capitalized,
    humanize,
    joined_reasons,
    source_line,
)
from aatoolkit.errors import ArgumentError, AvailabilityError, unknown
from aatoolkit.frame.groupby import find
from aatoolkit.metadata.attrs import has_metadata
from aatoolkit.metadata.recorded import attach_changed
from aatoolkit.sections.aggregation import COUNT, FRACTION, RANK, SCORE

KINDS: Mapping[str, Callable[[PlotData, Options], Panel | None]] = {
    **{kind: partial(tables.result, kind) for kind in tables.RESULTS},
    "stages": tables.stages,
    "funnel": tables.funnel,
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

_MOST_PANELS = 12
_OF_THE_FRAME = ("figures", "funnel", "verdicts", "empty", "table")
"""The kinds that are chosen by the frame alone."""
_HEADINGS = {FRACTION: "Rates", SCORE: "Scores", RANK: "Positions (lower is better)",
             COUNT: "Counts"}  # fmt: skip
"""What changes in a unit are called."""


def plot(
    frame: pd.DataFrame, kind: str | None, x: str | None, y: str | Iterable[str] | None,
    color: str | None, top: int | None, ax: Axes | None, title: str | None = None,
    figsize: tuple[float, float] | None = None, palette: str | Iterable[str] | None = None,
    facet: str | None = None, theme: str = "auto",
) -> Axes:  # fmt: skip
    """Draw a frame; see ``df.aa.plot``."""
    data = plot_data(frame)
    ys = (y,) if isinstance(y, str) else tuple(y or ())
    colours = [palette] if isinstance(palette, str) else [*(palette or ())]
    find(data.frame, [*filter(None, (x, color, facet)), *ys])
    wordy = [f"{n}: it holds no numbers but {data.frame[n].dtype}" for n in ys
             if data.kinds[n] != "number"]  # fmt: skip
    if kind is not None and kind not in KINDS:
        raise ArgumentError(unknown("kind", kind, KINDS), argument="kind")
    if theme not in themes.THEMES:
        raise ArgumentError(unknown("theme", theme, themes.THEMES), argument="theme")
    for name, is_wrong, why in (
        ("top", top is not None and top < 1, f"top={top!r} is no whole number from 1"),
        ("palette", not all(map(is_color_like, colours)), f"palette={palette!r} is no colour or "
         "list of colours, such as '#0072b2'"),
        ("figsize", figsize and not (len(figsize) == 2 and all(0 < s <= 200 for s in figsize)),
         f"figsize={figsize!r} is not a width and a height in inches"),
        ("ax", ax is not None and (figsize or facet or theme != "auto"), "figsize=, facet= and "
         "theme= are of a whole figure, and ax= is one axes: leave them out"),
        ("y", wordy, f"these columns cannot be drawn: {'; '.join(wordy)}"),
        ("x", x in data.numbers, f"x={x!r} holds numbers, and marks stand for names or times; two "
         "numbers against each other are frame.plot.scatter(x, y)"),
        ("facet", facet and facet in (x, color, *ys), f"facet={facet!r} is drawn already as x, y "
         "or color"),
    ):  # fmt: skip
        if is_wrong:
            raise ArgumentError(why, argument=name)
    options = Options(kind, x, ys, color, top, tuple(map(to_hex, colours)))
    theme = themes.current() if theme == "auto" and ax is None else theme
    is_dark = theme == "dark" if theme != "auto" else is_dark_paper(ax)
    by = [facet] if facet else _default_panels(data, options) if ax is None else []
    _check_hosts(data)
    spec = _spec_of(data, options, by)
    spec = replace(spec, title=visible(title)) if title else spec
    if ax is None:
        return draw(spec, figsize, Palette(is_dark, options.palette))
    ink = to_hex(mpl.rcParams["text.color"])
    draw_on(ax, spec, Palette(is_dark, options.palette, ink=ink, muted=ink))
    return ax


def picture_of(frame: pd.DataFrame, width: float) -> Picture | None:
    """Draw a frame in a width in points; None if there is nothing to draw."""
    spec = _spec_of(plot_data(frame), Options(), [])
    return None if spec.kind in ("empty", "table") else draw(spec, None, Palette(), width)


# --- the whole picture ------------------------------------------------------------------------


def _spec_of(data: PlotData, options: Options, by: Sequence[str]) -> Spec:
    """The whole picture of a frame as a value, with a panel for each level of some columns."""
    if not by or not len(data):
        panel = _chosen(data, options)
        return _spec(panel.title, panel.headline, [panel], data, panel.finding)
    combined = [*zip(*map(data.labels, by), strict=True)]
    words, levels = np.array([", ".join(row) for row in combined], object), {}
    for level, row in zip(words, combined, strict=True):
        levels[level] = ", ".join(
            f"last {word} days" if column == "days"
            else _HEADINGS.get(word, word) if column in (*APART, "unit")
            else f"{humanize(column)}: {word}"
            for column, word in zip(by, row, strict=True)
        )  # fmt: skip
    if options.color:
        options = replace(options, levels=tuple(dict.fromkeys(data.labels(options.color))))
    shown = [*levels][:_MOST_PANELS]
    parts = [_part(data, by, words == level) for level in shown]
    model = _chosen(parts[0], options)
    fixed = options if model.kind in _OF_THE_FRAME else replace(options, kind=model.kind)
    panels = sharing([_chosen(part, fixed) for part in parts])
    drawn = {
        level: replace(panel.drawn, facet=" and ".join(by), level=level)
        for level, panel in zip(shown, panels, strict=True)
    }
    legend = dict.fromkeys(entry for panel in panels for entry in panel.legend)
    panels = [
        replace(panel, heading=levels[level], drawn=replace(drawn[level], panels=drawn), legend=(),
                finding=f"{level}: {panel.finding}")
        for level, panel in zip(shown, panels, strict=True)
    ]  # fmt: skip
    what = " and ".join("window" if name == "days" else humanize(name) for name in by)
    title = capitalized(f"{model.title.partition(', the first')[0]} and {what}")
    title += f", {len(shown)} of {len(levels)}" if len(levels) > len(shown) else ""
    spec = _spec(title, "", panels, data, "; ".join(panel.finding for panel in panels))
    return replace(spec, across=1 if model.is_wide else min(2, len(shown)), legend=(*legend,))


def _spec(title: str, headline: str, panels: Sequence[Panel], data: PlotData, finding: str) -> Spec:
    """A picture: its title says the result where there is one, and the line below it what it is."""
    model = next((panel for panel in panels if panel.kind != "empty"), panels[0])
    missing = _missing(model, model.data if len(panels) == 1 else data)
    subtitle = ". ".join(filter(None, [title if headline else "", model.how]))
    caption = [source_line(data.metadata.sources), *filter(None, [model.n]), *missing]
    return Spec(visible(headline or title), tuple(panels), visible(f"{title}: {finding}"),
                visible(subtitle), tuple(map(visible, caption)))  # fmt: skip


def _chosen(data: PlotData, options: Options) -> Panel:
    """Plan the first kind of picture that fits, or the one given as ``kind``."""
    if not len(data):
        return tables.empty(data)
    kinds = KINDS.values() if options.kind is None else [KINDS[options.kind]]
    panel = next(filter(None, (plan(data, options) for plan in kinds)), None)
    if panel is None and options.kind:
        raise AvailabilityError(
            f"these columns do not fit a picture of kind {options.kind!r}; choose others "
            "with x, y and color, or leave kind out",
            columns={},
        )
    return panel or tables.empty(data)


def _missing(panel: Panel, data: PlotData) -> list[str]:
    """What of the drawn columns is missing, in a few words."""
    names = [name for name in panel.drawn.columns if name in data.metadata.columns]
    if names and not data.is_known:
        return ["availability unknown, as the frame has no metadata"]
    state = data.state(names)
    if not names or state.status == Status.AVAILABLE:
        return []
    reasons = dict.fromkeys(data.metadata.columns[n].availability.reason or "" for n in names)
    short = {Status.PARTIAL: "measured in part", Status.UNKNOWN: "availability unknown"}
    words = short.get(state.status, str(state.status).replace("_", " "))
    return [words, *filter(None, [joined_reasons(reasons).rstrip(".")])]


# --- panels -----------------------------------------------------------------------------------


def _default_panels(data: PlotData, options: Options) -> list[str]:
    """The columns of several hosts, windows, or units of changes, which have panels."""
    if tables.is_comparison(data) and not options.is_chosen:
        return ["unit"] if "unit" in data.kinds and data.varies("unit") else []
    chosen = (options.x, options.color, *options.y)
    apart = [n for n in APART if n in data.keys and n not in chosen and data.varies(n)]
    others = [key for key in data.keys if key not in (*apart, *data.times)]
    if "host" in apart and data.times and not others and not options.x:
        apart.remove("host")  # hosts are lines
    return apart


def _check_hosts(data: PlotData) -> None:
    """Refuse rows of several hosts that share a key and that no column tells apart."""
    hosts = dict.fromkeys(source.host for source in data.metadata.sources if source.host)
    if len(hosts) < 2 or "host" in data.kinds or not data.keys or data.metadata.key:
        return
    if data.frame.duplicated(data.keys).any():
        raise AvailabilityError(
            f"rows of {', '.join(hosts)} have the same {' and '.join(data.keys)}, and no column "
            "tells the hosts apart; add df.aa.with_context() to each before aa.concat",
            columns={},
        )


def _part(data: PlotData, by: Sequence[str], mask: np.ndarray) -> PlotData:
    """The rows of a panel, keyed without the columns of the panels."""
    part = data.only(mask)
    metadata = replace(part.metadata, key=tuple(n for n in data.metadata.key if n not in by))
    # What was stated of the rows of a host or a window names it: that column stays.
    stays = [*by] == ["unit"] or (data.is_known and {*by} <= {*APART})
    frame = part.frame if stays else part.frame.drop(columns=[*by])
    if has_metadata(frame):
        # The rows were checked before they were numbered anew.
        attach_changed(frame, metadata, part.frame)
    return PlotData(frame, metadata)
