"""Choose a kind of picture, and draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from aatoolkit._util.text import combined_reason, visible
from aatoolkit.availability import Status
from aatoolkit.display import theme as themes
from aatoolkit.display.plot import rows, tables, times
from aatoolkit.display.plot.axes import Picture, draw, draw_on, is_dark_paper
from aatoolkit.display.plot.data import Options, PlotData, plot_data
from aatoolkit.display.plot.spec import Spec
from aatoolkit.display.plot.style import Palette, source_facts
from aatoolkit.errors import ArgumentError, AvailabilityError, unknown
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.groupby import by_period, find

KINDS: Mapping[str, Callable[[PlotData, Options], Spec | None]] = {
    **{kind: partial(tables.result, kind) for kind in tables.RESULTS},
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
    """Draw a frame; see ``df.aa.plot``."""
    data = plot_data(frame)
    ys = (y,) if isinstance(y, str) else tuple(y or ())
    find(data.frame, [*filter(None, (x, color)), *ys])
    wordy = [f"{n} holds no numbers but {data.frame[n].dtype}" for n in ys
             if data.kinds[n] != "number"]  # fmt: skip
    for name, is_wrong, why in (
        ("kind", kind and kind not in KINDS, unknown("kind", kind, KINDS)),
        ("theme", theme not in themes.THEMES, unknown("theme", theme, themes.THEMES)),
        ("top", top is not None and top < 1, f"top={top!r} is no whole number from 1"),
        ("ax", ax is not None and (figsize or theme != "auto"), "figsize= and theme= are of a "
         "whole figure, and ax= is one axes: leave them out"),
        ("y", wordy, f"these columns cannot be drawn: {'; '.join(wordy)}"),
    ):  # fmt: skip
        if is_wrong:
            raise ArgumentError(why, argument=name)
    if freq is not None:  # with what intervals are computed from, hosts and windows apart
        columns = [*dict.fromkeys(part for name in ys for part in (name, *data.parts(name)))]
        keys = by_period(frame, [*filter(None, [color]), *data.apart(color)], freq)
        data = plot_data(aggregate(frame, keys, columns or None, False, {}, True))
    theme = themes.current() if theme == "auto" and ax is None else theme
    is_dark = theme == "dark" if theme != "auto" else is_dark_paper(ax)
    spec = _spec_of(data, Options(kind, x, ys, color, top))
    if title:
        how = ". ".join(filter(None, [spec.title, spec.how]))
        spec = replace(spec, title=visible(title), headline="", how=how)
    if ax is None:
        return draw(spec, figsize, Palette(is_dark))
    ink = to_hex(mpl.rcParams["text.color"])
    draw_on(ax, spec, Palette(is_dark, ink=ink, muted=ink))
    return ax


def picture_of(frame: pd.DataFrame, width: float) -> Picture | None:
    """Draw a frame in a width in points; None if there is nothing to draw."""
    spec = _spec_of(plot_data(frame), Options())
    return None if spec.kind in ("empty", "table") else draw(spec, None, Palette(), width)


def _spec_of(data: PlotData, options: Options) -> Spec:
    """A picture: its title says the result where there is one, and the line below it what it is."""
    _check_hosts(data)
    kinds = KINDS.values() if options.kind is None else [KINDS[options.kind]]
    plans = (plan(data, options) for plan in kinds if len(data))
    spec = next(filter(None, plans), None)
    if spec is None and options.kind and len(data):
        raise AvailabilityError(
            f"these columns do not fit a picture of kind {options.kind!r}; choose others "
            "with x, y and color, or leave kind out",
            columns={},
        )
    spec = spec or tables.empty(data)
    source, missing = source_facts(data.metadata.sources), _missing(spec)
    caption = [*source[:3], spec.n, *missing[:1], *source[3:], *missing[1:]]
    return replace(
        spec, title=visible(spec.title), headline=visible(spec.headline), how=visible(spec.how),
        finding=visible(f"{spec.title}: {spec.finding}"),
        caption=[*map(visible, filter(None, caption))],
    )  # fmt: skip


def _missing(spec: Spec) -> list[str]:
    """What of the drawn columns is missing, in a few words."""
    data = spec.data
    names = [name for name in spec.drawn.columns if name in data.metadata.columns]
    if names and not data.is_known:
        return ["availability unknown, as the frame has no metadata"]
    state = data.state(names)
    if not names or state.status == Status.AVAILABLE:
        return []
    reason = combined_reason(data.metadata.columns[n].availability.reason for n in names)
    short = {Status.PARTIAL: "measured in part", Status.UNKNOWN: "availability unknown"}
    words = short.get(state.status, str(state.status).replace("_", " "))
    return [words, *filter(None, [(reason or "").rstrip(".")])]


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
