"""Facets: one panel for each value of a column, on one scale and with one legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.canvas import Picture
from aatoolkit.display.plot.effects import is_comparison, unit_words, units_apart
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.plot.marks import Marks, marks_of
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import APART, PlotData
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import has_metadata
from aatoolkit.metadata.recorded import attach_changed

MOST = 12
"""As many panels at most."""

_SHARED = {"line": "y", "bars": "x", "gap": "x", "counts": "x"}
"""The axis of numbers, by kind: the same in all panels, so that they can be compared."""

_ONE_BELOW_THE_OTHER = ("comparison", "ranks", "overlap", "effect", "stages", "figures", "verdicts")
"""The kinds that take the whole width."""

_ROWS = ("bars", "gap", "counts", "shares")
"""The kinds with a row for each item."""

Choose = Callable[[PlotData, PlotOptions], tuple[str, Any]]


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


def panels_by(data: PlotData, columns: Sequence[str]) -> Panels:
    """A panel for each combination of the values of some columns."""
    texts = [data.text(name) for name in columns]
    levels = tuple(", ".join(row) for row in zip(*texts, strict=True))
    headings = {
        level: ", ".join(map(_heading, columns, row))
        for level, row in zip(levels, zip(*texts, strict=True), strict=True)
    }
    if len(columns) == 1 and columns[0] not in APART:
        headings = {level: f"{humanize(columns[0])}: {word}" for level, word in headings.items()}
    what = " and ".join("window" if name == "days" else humanize(name) for name in columns)
    stays = data.is_known and {*columns} <= {*APART}
    return Panels(tuple(columns), levels, headings, what, stays)


def _heading(column: str, word: str) -> str:
    return f"last {word} days" if column == "days" else word


def default_panels(data: PlotData, options: PlotOptions) -> Panels | None:
    """The panels of several hosts, windows, or units of changes; None if one is enough."""
    if is_comparison(data, options):
        units = units_apart(data)
        if len({*units}) < 2:
            return None
        headings = {unit: unit_words(data, unit) for unit in units}
        return Panels(("unit",), tuple(units), headings, "", stays=True)
    apart = [
        name
        for name in APART
        if name in data.keys
        and name not in (options.x, options.by, *options.y)
        and data.frame[name].nunique() > 1
    ]
    others = [key for key in data.keys if key not in (*apart, *data.times)]
    if "host" in apart and data.times and not others and not options.x:
        apart.remove("host")  # hosts are lines
    return panels_by(data, apart) if apart and len(data) else None


def check_hosts(data: PlotData) -> None:
    """Refuse rows of several hosts that share a key and that no column tells apart.

    Raises
    ------
    AvailabilityError
        If there are some: a picture would add up what belongs to different projects.
    """
    hosts = dict.fromkeys(source.host for source in data.known.sources if source.host)
    if len(hosts) < 2 or "host" in data.kinds or not data.keys or data.known.key:
        return
    if data.frame.duplicated(data.keys).any():
        raise AvailabilityError(
            f"rows of {', '.join(hosts)} have the same {' and '.join(data.keys)}, and no column "
            "tells the hosts apart; add df.aa.with_context() to each before aa.concat",
            columns={},
        )


def draw_facets(
    data: PlotData,
    options: PlotOptions,
    by: Panels,
    choose: Choose,
    size: tuple[float, float] | None,
    dark: bool,
) -> tuple[Picture, Any, list[str]]:
    """Draw the panels; return the first of them, its picture, and the notes of all."""
    words = np.array(by.levels)
    levels = list(dict.fromkeys(by.levels))[:MOST]
    if options.by:
        options = replace(options, levels=tuple(dict.fromkeys(data.text(options.by))))
    parts = [_part(data, by, words == level) for level in levels]
    first = next((part for part in parts if len(part)), parts[0])
    kind, _ = choose(first, options)
    fixed = replace(options, kind=kind) if kind != "empty" and not _own_kind(kind) else options
    chosen = [choose(part, fixed) for part in parts]
    across = 1 if kind in _ONE_BELOW_THE_OTHER else min(2, len(levels))
    heights = [picture.height for _, picture in chosen]
    tallest = [max(heights[at : at + across]) for at in range(0, len(levels), across)]
    wide = canvas.WIDTH * (1.35 if across > 1 else 1.0)
    figure = canvas.new_figure(size or (wide, 1.1 + sum(tallest) * 0.82))
    grid = figure.add_gridspec(len(tallest), across, height_ratios=tallest)
    panels: list[Picture] = []
    notes: dict[str, list[str]] = {}
    handles: dict[str, Any] = {}
    of_level: dict[str, Marks] = {}
    for at, (level, (name, picture)) in enumerate(zip(levels, chosen, strict=True)):
        axes = canvas.add_picture(figure, (grid[divmod(at, across)],), dark)
        named = by.headings[level].removeprefix(f"{humanize(by.name)}: ")
        for note in picture.draw(axes):
            notes.setdefault(note, []).append(named)
        canvas.panel_title(axes, by.headings[level])
        handles |= canvas.taken_legend(axes)
        axes.kind, axes.finding = name, f"{named}: {picture.finding}"
        if name != "empty":
            of_level[level] = replace(marks_of(picture), facet=by.name, level=level)
        panels.append(axes)
    for level, panel in zip(levels, panels, strict=True):
        if level in of_level:
            panel.marks = replace(of_level[level], panels=of_level)
    if kind in _SHARED:
        _share(panels, _SHARED[kind])
    if kind in _ROWS and len(panels) > 1:
        _share_rows(panels)
    canvas.figure_legend(figure, handles)
    drawn = next(picture for name, picture in chosen if name == kind)
    first_words = drawn.title.partition(", the first")[0]
    title = capitalized(_by(first_words, by.what)) if by.what else "Changes by measure"
    left = len(set(words)) - len(levels)
    if left:
        title += f", {len(levels)} of {len(levels) + left}"
    panels[0].kind = kind
    panels[0].finding = f"{title}: " + "; ".join(panel.finding for panel in panels)
    one = kind in _SHARED and len(levels) > 1
    scale = ["The panels have one scale."] if one else []
    if kind == "comparison" and len(levels) > 1:
        scale = ["Each panel has a scale of its own."]
    lines = [
        note if len(of) == len(levels) else f"{', '.join(of)}: {note}" for note, of in notes.items()
    ]
    return panels[0], Titled(drawn, title, data), [*lines, *scale]


class Titled:
    """A picture with another title, and the data of all panels."""

    def __init__(self, picture: Any, title: str, data: PlotData) -> None:
        self.data, self.drawn, self.title = data, picture.drawn, title


def _by(title: str, what: str) -> str:
    """A title with what the panels are by: "by day, host and window"."""
    start, by, end = title.rpartition(" by ")
    if not by:
        return f"{title} by {what}"
    *others, last = [*end.split(" and "), *what.split(" and ")]
    return f"{start} by {', '.join(others)} and {last}"


def _part(data: PlotData, by: Panels, rows: Any) -> PlotData:
    """The rows of a panel, keyed without the columns of the panels."""
    part = data.only(rows)
    key = tuple(name for name in data.known.key if name not in by.columns)
    # What was stated of the rows of a host or a window names it: that column stays.
    gone = [] if by.stays else list(by.columns)
    frame, known = part.frame.drop(columns=gone), replace(part.known, key=key)
    if has_metadata(frame):
        # The rows were checked before they were numbered anew.
        attach_changed(frame, known, part.frame)
    return PlotData(frame, known)


def _own_kind(kind: str) -> bool:
    """Whether a kind is chosen by the frame alone."""
    return kind in ("figures", "funnel", "verdicts")


def _share(panels: list[Picture], axis: str) -> None:
    """Set the limits of all panels to hold what each of them shows."""
    measured = [panel for panel in panels if panel.kind != "empty"]
    limits = [getattr(panel, f"get_{axis}lim")() for panel in measured]
    starts, ends = zip(*limits, strict=True)
    falls = starts[0] > ends[0]
    shared = (max(starts), min(ends)) if falls else (min(starts), max(ends))
    for panel in measured:
        _set(panel, axis, shared)


def _share_rows(panels: list[Picture]) -> None:
    """Give the rows of all panels one height."""
    measured = [panel for panel in panels if panel.kind != "empty"]
    lowest = max(panel.get_ylim()[0] for panel in measured)
    for panel in measured:
        panel.set_ylim(lowest, panel.get_ylim()[1])


def _set(panel: Axes, axis: str, limits: tuple[float, float]) -> None:
    (panel.set_ylim if axis == "y" else panel.set_xlim)(*limits)
