"""Facets: one panel for each value of a column, on one scale and with one legend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.canvas import Picture
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.plot.marks import Marks, marks_of
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.attrs import has_metadata
from aatoolkit.metadata.recorded import attach_changed

MOST = 12
"""As many panels at most."""

_SHARED = {"line": "y", "bars": "x", "gap": "x", "counts": "x"}
"""The axis of numbers, by kind: the same in all panels, so that they can be compared."""

_CONTEXT = ("host", "days")
"""The columns that tell hosts and windows apart, which have panels by default."""

_SIDE_BY_SIDE = {"line": 2, "scatter": 2}

Choose = Callable[[PlotData, PlotOptions], tuple[str, Any]]


def context_column(data: PlotData, options: PlotOptions) -> str | None:
    """The column that tells several hosts or windows apart, unless the picture does so already."""
    for name in _CONTEXT:
        if name not in data.keys or name in (options.x, options.by) or not len(data):
            continue
        others = [key for key in data.keys if key != name and key not in data.times]
        by_line = name == "host" and data.times and not others and not options.x
        if data.frame[name].nunique() > 1 and not by_line:
            return name
    return None


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
    facet: str,
    choose: Choose,
    size: tuple[float, float] | None,
    dark: bool,
) -> tuple[Picture, Any, list[str]]:
    """Draw the panels; return the first of them, its picture, and the notes of all."""
    words = np.array(data.text(facet))
    levels = list(dict.fromkeys(words))[:MOST]
    if options.by:
        options = replace(options, levels=tuple(dict.fromkeys(data.text(options.by))))
    parts = [_part(data, facet, words == level) for level in levels]
    first = next((part for part in parts if len(part)), parts[0])
    kind, _ = choose(first, options)
    fixed = replace(options, kind=kind) if kind != "empty" and not _own_kind(kind) else options
    chosen = [choose(part, fixed) for part in parts]
    across = min(_SIDE_BY_SIDE.get(kind, 2), len(levels))
    rows = -(-len(levels) // across)
    tallest = max(picture.height for _, picture in chosen)
    figure = canvas.new_figure(size or (canvas.WIDTH * 1.35, 1.1 + rows * tallest * 0.82))
    panels: list[Picture] = []
    notes: dict[str, list[str]] = {}
    handles: dict[str, Any] = {}
    of_level: dict[str, Marks] = {}
    for at, (level, (name, picture)) in enumerate(zip(levels, chosen, strict=True), start=1):
        axes = canvas.add_picture(figure, (rows, across, at), dark)
        for note in picture.draw(axes):
            notes.setdefault(note, []).append(level)
        shown = "(none)" if level == "(missing)" else level
        canvas.panel_title(axes, f"{humanize(facet)}: {shown}")
        handles |= canvas.taken_legend(axes)
        axes.kind, axes.finding = name, f"{level}: {picture.finding}"
        if name != "empty":
            of_level[level] = replace(marks_of(picture), facet=facet, level=level)
        panels.append(axes)
    for level, panel in zip(levels, panels, strict=True):
        if level in of_level:
            panel.marks = replace(of_level[level], panels=of_level)
    if kind in _SHARED:
        _share(panels, _SHARED[kind])
    canvas.figure_legend(figure, handles)
    drawn = next(picture for name, picture in chosen if name == kind)
    first_words = drawn.title.partition(", the first")[0]
    title = capitalized(
        f"{first_words} {'and' if ' by ' in first_words else 'by'} {humanize(facet)}"
    )
    left = len(set(words)) - len(levels)
    if left:
        title += f", {len(levels)} of {len(levels) + left}"
    panels[0].kind = kind
    panels[0].finding = f"{title}: " + "; ".join(panel.finding for panel in panels)
    scale = ["The panels have one scale."] if kind in _SHARED and len(levels) > 1 else []
    lines = [
        note if len(of) == len(levels) else f"{', '.join(of)}: {note}" for note, of in notes.items()
    ]
    return panels[0], Titled(drawn, title, data), [*lines, *scale]


class Titled:
    """A picture with another title, and the data of all panels."""

    def __init__(self, picture: Any, title: str, data: PlotData) -> None:
        self.data, self.drawn, self.title = data, picture.drawn, title


def _part(data: PlotData, facet: str, rows: Any) -> PlotData:
    """The rows of a panel, keyed without the column of the panels."""
    part = data.only(rows)
    key = tuple(name for name in data.known.key if name != facet)
    # What was stated of the rows of a host or a window names it: that column stays.
    gone = [] if facet in _CONTEXT and data.is_known else [facet]
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


def _set(panel: Axes, axis: str, limits: tuple[float, float]) -> None:
    (panel.set_ylim if axis == "y" else panel.set_xlim)(*limits)
