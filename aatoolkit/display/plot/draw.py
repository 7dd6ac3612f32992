"""Choose a kind of picture and draw it, with its title, notes and source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

import pandas as pd
from matplotlib.axes import Axes

from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.display.plot import (
    bars,
    canvas,
    effects,
    estimates,
    figures,
    fonts,
    funnel,
    heatmap,
    lines,
    pairs,
    scatter,
    spans,
    stacks,
    stages,
    steps,
    verdicts,
)
from aatoolkit.display.plot.empty import EmptyPlot
from aatoolkit.display.plot.facets import (
    Panels,
    check_hosts,
    default_panels,
    draw_facets,
    panels_by,
)
from aatoolkit.display.plot.labels import (
    capitalized,
    humanize,
    joined_reasons,
    plain_doc,
    source_line,
)
from aatoolkit.display.plot.marks import marks_of
from aatoolkit.display.plot.options import (
    PlotOptions,
    check_colours,
    check_figsize,
    check_theme,
    validate,
)
from aatoolkit.display.plot.roles import PlotData, plot_data
from aatoolkit.display.plot.theme import auto_is_dark, recolour
from aatoolkit.errors import AvailabilityError, ConfigurationError
from aatoolkit.frame.groupby import find


class Drawable(Protocol):
    """A planned picture: ``draw`` draws it and returns its notes."""

    @property
    def data(self) -> PlotData:
        """The rows that are drawn."""

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn, the one that matters most first."""

    @property
    def height(self) -> float:
        """The height in inches."""

    @property
    def title(self) -> str:
        """The title."""

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""

    def draw(self, axes: Axes, /) -> list[str]:
        """Draw it and return the notes."""


KINDS: dict[str, Callable[[PlotData, PlotOptions], Drawable | None]] = {
    "comparison": effects.comparison,
    "waterfall": effects.waterfall,
    "ranks": estimates.ranks,
    "overlap": estimates.overlaps,
    "effect": estimates.effects,
    "stability": estimates.agreement,
    "concentration": estimates.concentration,
    "samples": estimates.needed,
    "interval": estimates.intervals,
    "changes": steps.plan,
    "stages": stages.plan,
    "funnel": funnel.plan,
    "scatter": scatter.plan,
    "figures": figures.plan,
    "line": lines.plan,
    "heatmap": heatmap.plan,
    "gap": pairs.plan,
    "shares": stacks.shares,
    "bars": bars.plan,
    "spans": spans.plan,
    "verdicts": verdicts.plan,
    "counts": stacks.counts,
}
"""The kinds of pictures, in the order in which they are tried."""


def plot(
    frame: pd.DataFrame,
    kind: str | None,
    x: str | None,
    y: str | Iterable[str] | None,
    by: str | None,
    top: int | None,
    ax: Axes | None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    color: str | Iterable[str] | None = None,
    facet: str | None = None,
    theme: str = "auto",
) -> Axes:
    """Draw a frame; see ``df.aa.plot``."""
    if ax is not None and not isinstance(ax, Axes):
        raise ConfigurationError(f"ax={ax!r} is no matplotlib Axes", setting="ax")
    data = plot_data(frame)
    options = validate(data, KINDS, kind, x, y, by, top)
    colours, size = check_colours(color), check_figsize(figsize, ax)
    dark = auto_is_dark(check_theme(theme, ax), ax)
    check_hosts(data)
    options = replace(options, colours=colours)
    panels = None
    if facet is not None:
        panels = _panels(data, options, facet, ax)
    elif ax is None:
        panels = default_panels(data, options)
    with fonts.warned_of_fonts():
        if panels is not None:
            return _draw_facets(data, options, panels, title, size, dark)
        name, chosen = _chosen(data, options)
        small = (canvas.WIDTH, chosen.height)
        axes = canvas.new_axes(size or small, dark) if ax is None else ax
        _draw(axes, name, chosen, title, grow=size is None)
        recolour(canvas.figure_of(axes) if ax is None else axes, dark, colours)
    return axes


def _panels(data: PlotData, options: PlotOptions, facet: str, ax: Axes | None) -> Panels:
    """The panels by a column that was chosen."""
    if ax is not None:
        raise ConfigurationError("facet= draws several axes, and ax= is one", setting="facet")
    find(data.frame, [facet])
    if facet in (options.x, options.by, *options.y):
        raise ConfigurationError(f"facet={facet!r} is drawn already as x, y or by", setting="facet")
    return panels_by(data, [facet])


def _draw_facets(
    data: PlotData,
    options: PlotOptions,
    panels: Panels,
    title: str | None,
    size: tuple[float, float] | None,
    dark: bool,
) -> Axes:
    if not len(data):
        name, chosen = _chosen(data, options)
        axes = canvas.new_axes(size or (canvas.WIDTH, chosen.height), dark)
        _draw(axes, name, chosen, title, grow=size is None)
    else:
        axes, drawn, notes = draw_facets(data, options, panels, _chosen, size, dark)
        lines = [*_about(drawn), *notes, source_line(data.known.sources)]
        canvas.add_figure_title(canvas.figure_of(axes), title or drawn.title, lines, size is None)
    recolour(canvas.figure_of(axes), dark, options.colours)
    return axes


def picture_of(frame: pd.DataFrame, kinds: Iterable[str] = ()) -> canvas.Picture | None:
    """Draw a frame; None if there is nothing to draw, or its picture is of another kind."""
    name, chosen = _chosen(plot_data(frame), PlotOptions())
    if name == "empty" or name not in (kinds or KINDS):
        return None
    axes = canvas.new_axes((canvas.WIDTH, chosen.height))
    _draw(axes, name, chosen)
    return axes


def _draw(
    axes: Axes, name: str, chosen: Drawable, title: str | None = None, *, grow: bool = True
) -> None:
    lines = [*_about(chosen), *chosen.draw(axes), source_line(chosen.data.known.sources)]
    canvas.add_title_and_notes(axes, title or chosen.title, lines, grow=grow)
    if isinstance(axes, canvas.Picture):
        axes.kind = name
        axes.marks = marks_of(chosen)
        axes.finding = visible(f"{chosen.title}: {chosen.finding}")
    elif name != "empty":
        # The axes are the user's own, of a class without it.
        axes.explain = marks_of(chosen).explain  # type: ignore[attr-defined]


def _chosen(data: PlotData, options: PlotOptions) -> tuple[str, Drawable]:
    """Choose the first kind of picture that fits, or the one given as ``kind``."""
    if not len(data):
        return "empty", EmptyPlot(data)
    if options.kind is not None:
        found = KINDS[options.kind](data, options)
        if found is None:
            raise AvailabilityError(
                f"these columns do not fit a picture of kind {options.kind!r}; choose others "
                "with x, y and by, or leave kind out",
                columns={},
            )
        return options.kind, found
    for name, plan in KINDS.items():
        found = plan(data, options)
        if found is not None:
            return name, found
    return "empty", EmptyPlot(data)


def _about(chosen: Drawable) -> list[str]:
    """Write notes on the meaning and the availability of the drawn column."""
    data = chosen.data
    names = [name for name in chosen.drawn if name in data.known.columns]
    if not names:
        return []
    time = next(iter(data.times), None)
    noun = data.time_noun(time) if time else None
    noun = None if noun == time else noun
    # Counts of rows need no description of the column that groups them.
    numbers = [name for name in names if data.kinds[name] == "number"]
    numbers = numbers if len(numbers) <= 2 else []
    hosts = dict.fromkeys(source.host for source in data.known.sources if source.host)
    compared = {"before_host", "part"} & data.kinds.keys()
    mixed = len(hosts) > 1 and "host" not in data.kinds and not compared
    docs = ["Rows of several hosts, which no column tells apart."] if mixed else []
    # Of a column of several metrics the description says nothing of the one that is drawn.
    found = {
        name: plain_doc(column.doc, noun)
        for name in numbers
        if (column := data.column(name)) and not data.unit_column(name)
    }
    several = len(numbers) > 1
    docs += [f"{capitalized(humanize(n))}: {doc}" if several else doc for n, doc in found.items()]
    if not data.is_known:
        return [*docs, "Availability: unknown, as the frame has no metadata."]
    state = data.state(names)
    reasons = dict.fromkeys(data.known.columns[name].availability.reason or "" for name in names)
    state = replace(state, reason=joined_reasons(reasons) or None)
    return [*docs, *([] if state.status == Status.AVAILABLE else [f"Availability: {state}"])]
