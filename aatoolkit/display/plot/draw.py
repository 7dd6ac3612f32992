"""Choose a kind of picture, put its panels together, and draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba

from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import cells, fonts, results, rows, scatter, times
from aatoolkit.display.plot.axes import Picture, draw, draw_on, is_dark_paper
from aatoolkit.display.plot.data import APART, Mask, PlotData, plot_data
from aatoolkit.display.plot.labels import (
    capitalized,
    caption_source,
    humanize,
    joined_reasons,
    plain_doc,
    source_line,
)
from aatoolkit.display.plot.options import PlotOptions, check_figsize, check_theme, validate
from aatoolkit.display.plot.spec import Panel, Spec, sharing
from aatoolkit.display.plot.style import Palette, Style
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.groupby import find
from aatoolkit.metadata.attrs import has_metadata
from aatoolkit.metadata.recorded import attach_changed

KINDS: Mapping[str, Callable[[PlotData, PlotOptions], Panel | None]] = {
    "comparison": results.comparison,
    "waterfall": results.waterfall,
    **{kind: partial(results.result, kind) for kind in results.RESULTS},
    "interval": results.interval,
    "changes": times.changes,
    "stages": rows.stages,
    "funnel": rows.funnel,
    "scatter": scatter.scatter,
    "figures": rows.figures,
    "line": times.lines,
    "heatmap": cells.heatmap,
    "gap": rows.gap,
    "shares": rows.shares,
    "bars": rows.bars,
    "spans": rows.time_spans,
    "verdicts": rows.states,
    "counts": rows.counts,
}
"""The kinds of pictures, in the order in which they are tried."""

_WITHOUT_PICTURE = ("empty", "table")
_MOST_PANELS = 12
_OF_THE_FRAME = ("figures", "funnel", "verdicts", *_WITHOUT_PICTURE)
"""The kinds that are chosen by the frame alone."""


def plot(
    frame: pd.DataFrame,
    kind: str | None,
    x: str | None,
    y: str | Iterable[str] | None,
    color: str | None,
    top: int | None,
    ax: Axes | None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    palette: str | Iterable[str] | None = None,
    facet: str | None = None,
    theme: str = "auto",
) -> Axes:
    """Draw a frame; see ``df.aa.plot``."""
    if ax is not None and not isinstance(ax, Axes):
        raise ArgumentError(f"ax={ax!r} is no matplotlib Axes", argument="ax")
    data = plot_data(frame)
    options = validate(data, KINDS, kind, x, y, color, top, palette)
    size = check_figsize(figsize, ax)
    is_dark = _is_dark(check_theme(theme, ax), ax)
    _check_hosts(data)
    with fonts.warned_of_fonts():
        spec = spec_of(data, options, _panels(data, options, facet, ax))
        spec = replace(spec, title=visible(title)) if title else spec
        if ax is None:
            return draw(spec, size, Palette.of(is_dark, options.palette))
        ink = to_hex(mpl.rcParams["text.color"])
        paper = to_rgba(ax.get_facecolor())
        others = {"paper": to_hex(paper)} if paper[3] else {}
        draw_on(ax, spec, Palette.of(is_dark, options.palette, ink=ink, muted=ink, **others))
    return ax


def picture_of(frame: pd.DataFrame, kinds: Iterable[str] = ()) -> Picture | None:
    """Draw a frame; None if there is nothing to draw, or its picture is of another kind."""
    spec = spec_of(plot_data(frame), PlotOptions(), None)
    if spec.kind in _WITHOUT_PICTURE or spec.kind not in (kinds or KINDS):
        return None
    return draw(spec, None, Palette.of(is_dark=False))


def _is_dark(theme: str, ax: Axes | None) -> bool:
    """Whether to draw on dark paper: as asked for, as set, or as matplotlib's style is."""
    theme = themes.current() if theme == "auto" and ax is None else theme
    return theme == "dark" if theme != "auto" else is_dark_paper(ax)


# --- the whole picture ------------------------------------------------------------------------


def spec_of(data: PlotData, options: PlotOptions, by: Panels | None) -> Spec:
    """The whole picture of a frame as a value, with a panel for each level of some columns."""
    if by is None or not len(data):
        panel = _chosen(data, options)
        return _spec(panel.title, panel.headline, [panel], data, panel.notes, panel.finding)
    levels = list(dict.fromkeys(by.levels))
    shown, words = levels[:_MOST_PANELS], np.array(by.levels, object)
    if options.color:
        options = replace(options, levels=tuple(dict.fromkeys(data.labels(options.color))))
    parts = [_part(data, by, words == level) for level in shown]
    first = _chosen(next((part for part in parts if len(part)), parts[0]), options)
    fixed = options if first.kind in _OF_THE_FRAME else replace(options, kind=first.kind)
    panels = sharing([_chosen(part, fixed) for part in parts])
    of_level = {
        level: replace(panel.drawn, facet=by.name, level=level)
        for level, panel in zip(shown, panels, strict=True)
        if panel.kind != "empty"
    }
    legend: dict[tuple[str, Style, str], None] = {}
    notes_of: dict[str, list[str]] = {}
    for at, (level, panel) in enumerate(zip(shown, panels, strict=True)):
        named = by.headings[level].removeprefix(f"{humanize(by.name)}: ")
        for note in panel.notes:
            notes_of.setdefault(note, []).append(named)
        legend |= dict.fromkeys(panel.legend)
        drawn = replace(of_level[level], panels=of_level) if level in of_level else panel.drawn
        panels[at] = replace(
            panel, heading=by.headings[level], finding=f"{named}: {panel.finding}", legend=(),
            drawn=drawn,
        )  # fmt: skip
    model = next(panel for panel in panels if panel.kind == first.kind)
    title = _titled(model.title.partition(", the first")[0], by.what)
    if len(levels) > len(shown):
        title += f", {len(shown)} of {len(levels)}"
    notes = [
        note if len(of) == len(shown) else f"{', '.join(of)}: {note}"
        for note, of in notes_of.items()
    ]
    if len(shown) > 1 and (model.shared or model.kind == "comparison"):
        own = "Each panel has a scale of its own."
        notes.append("The panels have one scale." if model.shared else own)
    finding = "; ".join(panel.finding for panel in panels)
    spec = _spec(title, "", panels, data, notes, finding)
    across = 1 if model.is_wide else min(2, len(shown))
    return replace(spec, across=across, legend=tuple(legend))


def _spec(
    title: str, headline: str, panels: Sequence[Panel], data: PlotData, notes: Iterable[str],
    finding: str,
) -> Spec:  # fmt: skip
    """A picture: its title says the result where there is one, and the line below it what it is."""
    model = next((panel for panel in panels if panel.kind != "empty"), panels[0])
    about, missing = _about(model, model.data if len(panels) == 1 else data)
    sources = data.metadata.sources
    how = model.how[:1].upper() + model.how[1:]
    subtitle = ". ".join(filter(None, [title if headline else "", how.rstrip(".")]))
    caption = [caption_source(sources), *filter(None, [model.n]), *missing]
    return Spec(
        visible(headline or title), tuple(panels), visible(f"{title}: {finding}"),
        visible(subtitle), (*about, *filter(None, [how]), *notes, source_line(sources)),
        tuple(map(visible, caption)),
    )  # fmt: skip


def _chosen(data: PlotData, options: PlotOptions) -> Panel:
    """Plan the first kind of picture that fits, or the one given as ``kind``."""
    if not len(data):
        return rows.empty(data)
    if options.kind is not None:
        panel = KINDS[options.kind](data, options)
        if panel is None:
            raise AvailabilityError(
                f"these columns do not fit a picture of kind {options.kind!r}; choose others "
                "with x, y and color, or leave kind out",
                columns={},
            )
        return panel
    planned = (plan(data, options) for plan in KINDS.values())
    return next((panel for panel in planned if panel is not None), None) or rows.empty(data)


def _about(panel: Panel, data: PlotData) -> tuple[list[str], list[str]]:
    """What the drawn columns mean, and what of them is missing, in sentences and in short."""
    names = [name for name in panel.drawn.columns if name in data.metadata.columns]
    if not names:
        return [], []
    time = next(iter(data.times), None)
    noun = data.time_noun(time) if time else None
    noun = None if noun == time else noun
    # Counts of rows need no description of the column that groups them.
    numbers = [name for name in names if data.kinds.get(name) == "number"]
    numbers = numbers if len(numbers) <= 2 else []
    hosts = {source.host for source in data.metadata.sources if source.host}
    compared = {"baseline_host", "part"} & data.kinds.keys()
    mixed = len(hosts) > 1 and "host" not in data.kinds and not compared
    docs = ["Rows of several hosts, which no column tells apart."] if mixed else []
    # Of a column of several metrics the description says nothing of the one that is drawn.
    said = {
        name: plain_doc(column.doc, noun)
        for name in numbers
        if (column := data.column(name)) and not data.unit_column(name)
    }
    several = len(numbers) > 1
    docs += [f"{capitalized(humanize(n))}: {doc}" if several else doc for n, doc in said.items()]
    if not data.is_known:
        unknown = "Availability: unknown, as the frame has no metadata."
        return [*docs, unknown], ["availability unknown, as the frame has no metadata"]
    state = data.state(names)
    if state.status == Status.AVAILABLE:
        return docs, []
    reasons = dict.fromkeys(data.metadata.columns[n].availability.reason or "" for n in names)
    state = replace(state, reason=joined_reasons(reasons) or None)
    short = {Status.PARTIAL: "measured in part", Status.UNKNOWN: "availability unknown"}
    missing = [short.get(state.status, str(state.status).replace("_", " "))]
    missing += [state.reason.rstrip(".")] if state.reason else []
    return [*docs, f"Availability: {state}"], missing


# --- panels -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Panels:
    """What has panels: the columns, the level of each row, and the words of the levels."""

    columns: tuple[str, ...]
    levels: tuple[str, ...]
    headings: Mapping[str, str]
    what: str
    """What the panels are by, for the title; empty if it says so already."""
    stays: bool
    """Whether the columns stay in the rows of each panel."""

    @property
    def name(self) -> str:
        """The name of the columns."""
        return " and ".join(self.columns)


def _panels(
    data: PlotData, options: PlotOptions, facet: str | None, ax: Axes | None
) -> Panels | None:
    """The panels by a column that was chosen, or by hosts and windows; None if one is enough."""
    if facet is None:
        return _default_panels(data, options) if ax is None else None
    if ax is not None:
        raise ArgumentError("facet= draws several axes, and ax= is one", argument="facet")
    find(data.frame, [facet])
    if facet in (options.x, options.color, *options.y):
        why = f"facet={facet!r} is drawn already as x, y or color"
        raise ArgumentError(why, argument="facet")
    return _panels_by(data, [facet])


def _panels_by(data: PlotData, columns: Sequence[str]) -> Panels:
    """A panel for each combination of the values of some columns."""
    combined = list(zip(*(data.labels(name) for name in columns), strict=True))
    levels = tuple(", ".join(row) for row in combined)
    headings = {
        level: ", ".join(
            f"last {word} days" if column == "days" else word
            for column, word in zip(columns, row, strict=True)
        )
        for level, row in zip(levels, combined, strict=True)
    }
    if len(columns) == 1 and columns[0] not in APART:
        headings = {level: f"{humanize(columns[0])}: {word}" for level, word in headings.items()}
    what = " and ".join("window" if name == "days" else humanize(name) for name in columns)
    stays = data.is_known and {*columns} <= {*APART}
    return Panels(tuple(columns), levels, headings, what, stays)


def _default_panels(data: PlotData, options: PlotOptions) -> Panels | None:
    """The panels of several hosts, windows, or units of changes."""
    if results.is_comparison(data, options):
        units = results.units_apart(data)
        headings = {unit: results.unit_words(data, unit) for unit in units}
        return (
            Panels(("unit",), tuple(units), headings, "", stays=True) if len(headings) > 1 else None
        )
    apart = [
        name
        for name in APART
        if name in data.keys
        and name not in (options.x, options.color, *options.y)
        and data.frame[name].nunique() > 1
    ]
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
