"""Choose a kind of picture, put its panels together, and draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like, to_hex, to_rgba

from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import cells, results, rows, times
from aatoolkit.display.plot.axes import Picture, draw, draw_on, is_dark_paper
from aatoolkit.display.plot.data import APART, Mask, Options, PlotData, plot_data
from aatoolkit.display.plot.labels import (
    capitalized,
    humanize,
    joined_reasons,
    source_line,
)  # fmt: skip
from aatoolkit.display.plot.spec import Panel, Spec, sharing
from aatoolkit.display.plot.style import Palette
from aatoolkit.errors import ArgumentError, AvailabilityError, unknown
from aatoolkit.frame.groupby import find
from aatoolkit.metadata.attrs import has_metadata
from aatoolkit.metadata.recorded import attach_changed

KINDS: Mapping[str, Callable[[PlotData, Options], Panel | None]] = {
    "comparison": results.comparison,
    **{kind: partial(results.result, kind) for kind in results.RESULTS},
    "stages": rows.stages,
    "funnel": rows.funnel,
    "figures": rows.figures,
    "line": times.lines,
    "heatmap": cells.heatmap,
    "gap": rows.gap,
    "shares": rows.shares,
    "bars": rows.bars,
    "verdicts": rows.states,
    "counts": rows.counts,
}
"""The kinds of pictures, in the order in which they are tried."""

_WITHOUT_PICTURE = ("empty", "table")
_MOST_PANELS = 12
_OF_THE_FRAME = ("figures", "funnel", "verdicts", *_WITHOUT_PICTURE)
"""The kinds that are chosen by the frame alone."""
_LARGEST = 200.0
"""The longest side of a figure, in inches."""


def plot(
    frame: pd.DataFrame, kind: str | None, x: str | None, y: str | Iterable[str] | None,
    color: str | None, top: int | None, ax: Axes | None, title: str | None = None,
    figsize: tuple[float, float] | None = None, palette: str | Iterable[str] | None = None,
    facet: str | None = None, theme: str = "auto",
) -> Axes:  # fmt: skip
    """Draw a frame; see ``df.aa.plot``."""
    data = plot_data(frame)
    _check(kind, top, ax, figsize, theme, facet)
    colours = [palette] if isinstance(palette, str) else [*(palette or ())]
    if not all(map(is_color_like, colours)):
        raise ArgumentError(f"palette={palette!r} is no colour or list of colours, such as "
                            "'#0072b2'", argument="palette")  # fmt: skip
    ys = (y,) if isinstance(y, str) else tuple(y or ())
    find(data.frame, [*filter(None, (x, color, facet)), *ys])
    wordy = [f"{n}: it holds no numbers but {data.frame[n].dtype}" for n in ys
             if data.kinds[n] != "number"]  # fmt: skip
    if wordy:
        raise ArgumentError(f"these columns cannot be drawn: {'; '.join(wordy)}", argument="y")
    if x in data.numbers:
        raise ArgumentError(
            f"x={x!r} holds numbers, and marks stand for names or times; two numbers against each "
            "other are frame.plot.scatter(x, y)",
            argument="x",
        )
    if facet in (x, color, *ys) and facet:
        why = f"facet={facet!r} is drawn already as x, y or color"
        raise ArgumentError(why, argument="facet")
    options = Options(kind, x, ys, color, top, tuple(map(to_hex, colours)))
    theme = themes.current() if theme == "auto" and ax is None else theme
    is_dark = theme == "dark" if theme != "auto" else is_dark_paper(ax)
    by = _panels_by(data, [facet]) if facet else None
    by = by or (_default_panels(data, options) if ax is None else None)
    _check_hosts(data)
    spec = spec_of(data, options, by)
    spec = replace(spec, title=visible(title)) if title else spec
    if ax is None:
        return draw(spec, figsize, Palette.of(is_dark, options.palette))
    ink, paper = to_hex(mpl.rcParams["text.color"]), to_rgba(ax.get_facecolor())
    others = {"paper": to_hex(paper)} if paper[3] else {}
    draw_on(ax, spec, Palette.of(is_dark, options.palette, ink=ink, muted=ink, **others))
    return ax


def _check(
    kind: str | None, top: int | None, ax: Axes | None, figsize: tuple[float, float] | None,
    theme: str, facet: str | None,
) -> None:  # fmt: skip
    """Refuse arguments that would be of no avail."""
    if kind is not None and kind not in KINDS:
        raise ArgumentError(unknown("kind", kind, KINDS), argument="kind")
    if top is not None and top < 1:
        raise ArgumentError(f"top={top!r} is no whole number from 1", argument="top")
    if theme not in themes.THEMES:
        raise ArgumentError(unknown("theme", theme, themes.THEMES), argument="theme")
    if figsize is not None and not (len(figsize) == 2 and all(0 < s <= _LARGEST for s in figsize)):
        why = f"figsize={figsize!r} is not a width and a height in inches"
        raise ArgumentError(why, argument="figsize")
    for name, value in (("figsize", figsize), ("facet", facet), ("theme", theme != "auto")):
        if ax is not None and value:
            why = f"{name}= is of a whole figure, and ax= is one axes: leave one of them out"
            raise ArgumentError(why, argument=name)


def picture_of(frame: pd.DataFrame, width: float) -> Picture | None:
    """Draw a frame in a width in points; None if there is nothing to draw."""
    spec = spec_of(plot_data(frame), Options(), None)
    if spec.kind in _WITHOUT_PICTURE:
        return None
    return draw(spec, None, Palette.of(is_dark=False), width)


# --- the whole picture ------------------------------------------------------------------------


def spec_of(data: PlotData, options: Options, by: Panels | None) -> Spec:
    """The whole picture of a frame as a value, with a panel for each level of some columns."""
    if by is None or not len(data):
        panel = _chosen(data, options)
        return _spec(panel.title, panel.headline, [panel], data, panel.finding)
    levels = list(dict.fromkeys(by.levels))
    shown, words = levels[:_MOST_PANELS], np.array(by.levels, object)
    if options.color:
        options = replace(options, levels=tuple(dict.fromkeys(data.labels(options.color))))
    parts = [_part(data, by, words == level) for level in shown]
    first = _chosen(parts[0], options)
    fixed = options if first.kind in _OF_THE_FRAME else replace(options, kind=first.kind)
    panels = sharing([_chosen(part, fixed) for part in parts])
    of_level = {
        level: replace(panel.drawn, facet=" and ".join(by.columns), level=level)
        for level, panel in zip(shown, panels, strict=True)
        if panel.kind != "empty"
    }
    for at, (level, panel) in enumerate(zip(shown, panels, strict=True)):
        drawn = replace(of_level[level], panels=of_level) if level in of_level else panel.drawn
        panels[at] = replace(panel, heading=by.headings[level], drawn=drawn,
                             finding=f"{level}: {panel.finding}")  # fmt: skip
    legend = dict.fromkeys(entry for panel in panels for entry in panel.legend)
    panels = [replace(panel, legend=()) for panel in panels]
    model = next(panel for panel in panels if panel.kind == first.kind)
    title = _titled(model.title.partition(", the first")[0], by.what)
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
        return rows.empty(data)
    kinds = KINDS.values() if options.kind is None else [KINDS[options.kind]]
    panel = next(filter(None, (plan(data, options) for plan in kinds)), None)
    if panel is None and options.kind:
        raise AvailabilityError(
            f"these columns do not fit a picture of kind {options.kind!r}; choose others "
            "with x, y and color, or leave kind out",
            columns={},
        )
    return panel or rows.empty(data)


def _missing(panel: Panel, data: PlotData) -> list[str]:
    """What of the drawn columns is missing, in a few words."""
    names = [name for name in panel.drawn.columns if name in data.metadata.columns]
    if not names:
        return []
    if not data.is_known:
        return ["availability unknown, as the frame has no metadata"]
    state = data.state(names)
    if state.status == Status.AVAILABLE:
        return []
    reasons = dict.fromkeys(data.metadata.columns[n].availability.reason or "" for n in names)
    short = {Status.PARTIAL: "measured in part", Status.UNKNOWN: "availability unknown"}
    words = short.get(state.status, str(state.status).replace("_", " "))
    return [words, *filter(None, [joined_reasons(reasons).rstrip(".")])]


# --- panels -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Panels:
    """What has panels: the columns, the level of each row, and the words of the levels.

    ``what`` is what the panels are by, for the title; it is empty if the title says so already.
    """

    columns: tuple[str, ...]
    levels: tuple[str, ...]
    headings: Mapping[str, str]
    what: str = ""
    stays: bool = True
    """Whether the columns stay in the rows of each panel."""


def _panels_by(data: PlotData, columns: Sequence[str]) -> Panels:
    """A panel for each combination of the values of some columns."""
    combined = list(zip(*(data.labels(name) for name in columns), strict=True))
    levels = tuple(", ".join(row) for row in combined)
    headings = {
        level: ", ".join(
            f"last {word} days" if column == "days"
            else word if column in APART or len(columns) > 1
            else f"{humanize(column)}: {word}"
            for column, word in zip(columns, row, strict=True)
        )
        for level, row in zip(levels, combined, strict=True)
    }  # fmt: skip
    what = " and ".join("window" if name == "days" else humanize(name) for name in columns)
    return Panels(tuple(columns), levels, headings, what, data.is_known and {*columns} <= {*APART})


def _default_panels(data: PlotData, options: Options) -> Panels | None:
    """The panels of several hosts, windows, or units of changes."""
    if results.is_comparison(data, options):
        units = results.units_apart(data)
        headings = {unit: results.unit_words(data, unit) for unit in units}
        return Panels(("unit",), tuple(units), headings) if len(headings) > 1 else None
    chosen = (options.x, options.color, *options.y)
    apart = [n for n in APART if n in data.keys and n not in chosen and data.varies(n)]
    others = [key for key in data.keys if key not in (*apart, *data.times)]
    if "host" in apart and data.times and not others and not options.x:
        apart.remove("host")  # hosts are lines
    return _panels_by(data, apart) if apart and len(data) else None


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


def _titled(title: str, what: str) -> str:
    """A title with what the panels are by: "by day, host and window"."""
    if not what:
        return "Changes by measure"
    start, by, end = title.rpartition(" by ")
    if not by:
        return capitalized(f"{title} by {what}")
    *others, last = [*end.split(" and "), *what.split(" and ")]
    return capitalized(f"{start} by {', '.join(others)} and {last}")


def _part(data: PlotData, by: Panels, mask: Mask) -> PlotData:
    """The rows of a panel, keyed without the columns of the panels."""
    part = data.only(mask)
    key = tuple(name for name in data.metadata.key if name not in by.columns)
    # What was stated of the rows of a host or a window names it: that column stays.
    gone = [] if by.stays else list(by.columns)
    frame, metadata = part.frame.drop(columns=gone), replace(part.metadata, key=key)
    if has_metadata(frame):
        # The rows were checked before they were numbered anew.
        attach_changed(frame, metadata, part.frame)
    return PlotData(frame, metadata)
