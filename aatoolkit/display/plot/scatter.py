"""Scatter: two numbers a row, one across and one up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aatoolkit._util.numbers import number
from aatoolkit.display.plot.data import Mask, Numbers, PlotData
from aatoolkit.display.plot.drawn import drawn_of
from aatoolkit.display.plot.labels import axis_label, capitalized, humanize
from aatoolkit.display.plot.measured import each_once
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.rows import describe_mark
from aatoolkit.display.plot.spec import Mark, Panel, Scale
from aatoolkit.display.plot.style import OWN, SERIES, few_levels, styles_for
from aatoolkit.sections.aggregation import FRACTION, RANK

_NAMED, _ALL_NAMED = 6, 12
"""How many of the points furthest out are named, and as how few all are, where there is room."""


def scatter(data: PlotData, options: PlotOptions) -> Panel | None:
    """Points of one number given as ``x`` and another as ``y``; else None."""
    x = options.x if options.x and data.kinds[options.x] == "number" else None
    others = options.y or tuple(name for name in data.measures if name != x)
    if x is None or not others or len(options.y) > 1 or others[0] == x:
        return None
    y = others[0]
    data = each_once(data, [*data.keys, *filter(None, [data.label_column])], [x, y])
    values = data.values(y)
    order = np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")
    rows = data.sorted_by(order[: options.top])
    across, up = rows.values(x), rows.values(y)
    there = ~np.isnan(across + up)
    by, label = options.color, rows.label_column
    labels = rows.labels(label) if label else [f"row {row}" for row in range(len(rows))]
    words = few_levels(rows.text(by), options.levels, there) if by else [""] * len(rows)
    shown = [word for word, is_there in zip(words, there, strict=True) if is_there]
    levels = dict.fromkeys([*options.levels, *shown])
    styles = styles_for(levels, fixed=not options.palette) if by else {"": SERIES[0]}
    marks = []
    for level, style in styles.items():
        at = np.flatnonzero(there & (np.array(words, object) == level)).tolist()
        tips = [
            describe_mark(rows, y, row, labels[row])
            + f"\n{humanize(x)}: {number(float(across[row]), rows.unit(x))}"
            for row in at
        ]
        places = [(row, None) for row in at]
        marks.append(Mark("dots", across[at], up[at], style, size=7, tips=tips.copy, places=places))
    own = there & rows.own()
    if own.any():
        marks.append(Mark("dots", across[own], up[own], replace(OWN, look="ring"), size=12))
    marks.append(_named(labels, across, up, there, own))
    without = int((~there).sum())
    title = f"{humanize(y)} against {humanize(x)}" + (f", by {humanize(by)}" if by else "")
    return Panel(
        "scatter", rows, drawn_of(rows, (y, x)), capitalized(title),
        _finding(rows, x, y, labels, there), _scale(rows, x, across[there]),
        _scale(rows, y, up[there]), marks,
        how="Ringed: own" if own.any() else "",
        notes=[f"{without} of {len(rows)} rows lack one of the two numbers."][: without > 0],
        legend=[(humanize(level), style, "dots") for level, style in styles.items() if by],
        height=230.0,
    )  # fmt: skip


def _finding(rows: PlotData, x: str, y: str, labels: list[str], there: Mask) -> str:
    points = np.flatnonzero(there)
    if not len(points):
        return "no row has both numbers"
    top = points[np.argmax(rows.values(y)[points])]
    words = " and ".join(
        f"{humanize(name)} {number(rows.values(name)[top], rows.unit(name))}" for name in (y, x)
    )
    without = len(rows) - len(points)
    ending = f"; {without} rows lack one of the two" if without else ""
    return f"{len(points)} points; the highest is {labels[top]} with {words}{ending}"


def _scale(rows: PlotData, name: str, values: Numbers) -> Scale:
    """A scale from 0, or from the best rank, with a little room at the far end."""
    unit, label = rows.unit(name), axis_label(rows, name)
    most = float(values.max()) if len(values) else 1.0
    least = min(float(values.min()), 0.0) if len(values) else 0.0
    if unit == RANK:
        return Scale(most + 0.5, 0.5, unit=unit, label=label)
    far = most + 0.06 * ((most - least) or 1.0)
    is_share = unit == FRACTION and most <= 1
    far = min(far, 1.0) if is_share else far
    return Scale(least, far, unit=unit, label=label, is_whole=rows.is_count(name))


def _named(labels: list[str], across: Numbers, up: Numbers, there: Mask, own: Mask) -> Mark:
    """The names of own points and of those furthest out; the layout drops those without room."""
    rows = np.flatnonzero(there)
    spread = [values[rows] / (np.ptp(values[rows]) or 1.0) for values in (across, up) if len(rows)]
    far = np.hypot(*(part - np.median(part) for part in spread)) if len(rows) else rows
    order = rows[np.argsort(-far, kind="stable")]
    chosen = order if len(order) <= _ALL_NAMED else order[:_NAMED]
    named = list(dict.fromkeys([*np.flatnonzero(own).tolist(), *chosen.tolist()]))
    words = [labels[row] for row in named]
    return Mark("words", across[named], up[named], words=words, align="free", shift=(7, 6))
