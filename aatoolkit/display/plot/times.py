"""Along time: lines that break where nothing was measured, and changes as steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number
from aatoolkit.display.plot import cells
from aatoolkit.display.plot.data import Mask, Numbers, Options, PlotData, days_of, moments_between
from aatoolkit.display.plot.labels import capitalized, humanize, in_words
from aatoolkit.display.plot.measured import Whiskers, one_row_per_mark, whiskers
from aatoolkit.display.plot.rows import describe_mark
from aatoolkit.display.plot.spec import (
    Drawn,
    Mark,
    Panel,
    Place,
    Scale,
)  # fmt: skip
from aatoolkit.display.plot.style import (
    OWN,
    SERIES,
    UNMEASURED,
    Style,
    styles_for,
)  # fmt: skip
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.groupby import is_part_period
from aatoolkit.sections.aggregation import FRACTION, RANK

MOST_LINES = 4
"""The most lines that are easily distinguished; more series make a heat map."""

_NOISY, _DAYS = 10, 21
"""Days of fewer answers than these are shown by week, if there are as many days."""


@dataclass(frozen=True)
class _Line:
    """One series: the row of each time or -1, and its numbers there."""

    name: str
    column: str
    rows: np.ndarray
    values: Numbers
    low: Numbers
    high: Numbers
    part: Mask
    is_own: bool

    @property
    def there(self) -> Numbers:
        """Its numbers."""
        return self.values[~np.isnan(self.values)]

    @property
    def last(self) -> float:
        """Its last number."""
        return float(self.there[-1]) if len(self.there) else np.nan


def _line(
    data: PlotData, mask: Mask, moments: pd.DatetimeIndex, x: str, ends: Whiskers, name: str,
    column: str, is_own: bool = False,
) -> _Line:  # fmt: skip
    """The line of some rows, with a place for each time."""
    times = pd.Series(np.flatnonzero(mask), index=pd.Index(data.moments(x)[mask]))
    times = times[times.index.notna() & ~times.index.duplicated()]
    rows = times.reindex(moments, fill_value=-1).to_numpy(np.int64)
    there = rows >= 0
    values, low, high = (
        np.where(there, n[rows], np.nan) for n in (data.values(column), ends.low, ends.high)
    )
    states = data.cells(column)
    parts = np.array([is_part_period(s.reason) for s in states.states], bool)[states.codes]
    return _Line(name, column, rows, values, low, high, there & parts[rows], is_own)


def lines(data: PlotData, options: Options) -> Panel | None:
    """Lines of the most informative number along the time in the key."""
    x = options.x or next(iter(data.times), None)
    if x is None or data.kinds[x] != "time":
        return None
    others = [name for name in data.keys if name not in (*data.times, x)]
    by = options.color or (others[0] if len(others) == 1 and not options.x else None)
    ys = options.y or tuple([*data.measures, *data.numbers][:1])
    if not ys or (by and len(ys) > 1) or len({data.unit(name) for name in ys}) > 1:
        return None
    given, marks = data, [x, *filter(None, [by])]
    levels = list(dict.fromkeys(data.text(by))) if by else []
    wanted = bool(options.kind or options.color)
    most = options.top or (len(SERIES) if wanted else MOST_LINES)
    if len(levels) > most and not wanted and cells.heatmap(data, options):
        return None
    is_noisy = not options.x and _is_noisy(data, x, ys[0], marks)
    try:
        # Rows of one time are never drawn as one of them.
        data = one_row_per_mark(data, marks, ys, freq="W" if is_noisy else "")
    except AvailabilityError:
        if options.x or wanted:
            raise
        return None
    moments = moments_between(data.moments(x))
    if not len(moments):
        return None
    ends = {name: whiskers(data, name, given, marks) for name in ys}
    whole = np.ones(len(data), bool)
    series = [_line(data, whole, moments, x, ends[n], humanize(n), n) for n in ys[: len(SERIES)]]
    total = len(ys)
    if by:
        chosen, own = _most_important(data, by, ys[0], min(most, len(SERIES)))
        words, labels = np.array(data.text(by), object), data.labels(by)
        series, total = [], len(levels)
        for name in chosen:
            mask = words == name
            label = labels[int(np.argmax(mask))]
            series.append(
                _line(data, mask, moments, x, ends[ys[0]], label, ys[0], is_own=name in own)
            )
    return _panel(data, x, ys, by, options, moments, series, ends[ys[0]], total)


def _is_noisy(data: PlotData, x: str, y: str, marks: Sequence[str]) -> bool:
    """Whether the days of a rate have too few answers to be looked at one by one."""
    sample, rule = data.sample(y), data.rule(y)
    if sample is None or rule is None or not rule.over or rule.why or data.time_noun(x) != "day":
        return False
    sizes, days = data.values(sample), data.frame[x].nunique()
    is_small = bool((sizes > 0).any()) and float(np.median(sizes[sizes > 0])) < _NOISY
    return is_small and days >= _DAYS and not data.frame.duplicated([*marks]).any()


def _most_important(data: PlotData, by: str, y: str, most: int) -> tuple[list[str], set[str]]:
    """Select series: the own brand, then those with the largest mean; return also the own ones."""
    rows = pd.DataFrame({"name": data.text(by), "n": data.values(y), "own": data.own()})
    mean = rows.groupby("name", sort=False)["n"].mean()
    ranked = mean.sort_values(ascending=data.unit(y) == RANK, kind="stable", na_position="last")
    own = rows.loc[rows["own"], "name"].unique().tolist()
    return list(dict.fromkeys([*own, *ranked.index]))[:most], {*own}


def _panel(
    data: PlotData, x: str, ys: Sequence[str], by: str | None, options: Options,
    moments: pd.DatetimeIndex, series: Sequence[_Line], ends: Whiskers, total: int,
) -> Panel:  # fmt: skip
    unit, at, noun = data.unit(ys[0]), days_of(moments), humanize(data.time_noun(x))
    step = float(np.min(np.diff(at))) if len(at) > 1 else 1.0
    gaps = ~np.logical_or.reduce([~np.isnan(line.values) for line in series])
    styles = _styles(series, options)
    marks = [_gaps(at, gaps, step)] if gaps.any() else []
    measured = [line for line in series if len(line.there)]
    banded = next((line for line in measured if line.is_own), next(iter(measured), None))
    has_band = banded is not None and not bool(np.isnan(banded.low).all())
    for line, style in zip(series, styles, strict=True):
        if line is banded and has_band:
            marks.append(Mark("band", at, line.low, style, to=line.high))
        marks += _marks_of_line(data, line, style, at, moments)
    legend: list[tuple[str, Style, str]] = []
    if any(line.part[~np.isnan(line.values)].any() for line in series):
        legend.append(("part of the period", replace(styles[0], look="hollow"), "dots"))
    if gaps.any():
        legend.append(("not measured", UNMEASURED, "boxes"))
    title = capitalized(f"{', '.join(map(humanize, ys))} by {noun}")
    title += f" and {humanize(by)}" if by else ""
    title += f", {len(series)} of {total}" if total > len(series) else ""
    label = data.axis_label(ys[0]) if len(ys) == 1 else ""
    texts = [_finding_of_line(line, unit, humanize(ys[0])) for line in series]
    texts += [f"{int(gaps.sum())} of {len(moments)} times not measured"] if gaps.any() else []
    low, high = _y_ends(series, unit)
    of = f" of {banded.name}" if banded is not None and len(series) > 1 else ""
    return Panel(
        "line", data, Drawn(data.frame, tuple(ys), (x, *filter(None, [by])), ends.bounds),
        title, "; ".join(texts),
        Scale(at[0] - step / 2, at[-1] + step / 2, "time", days=tuple(at.tolist())),
        Scale(low, high, "number" if measured else "none", unit,
              "" if label.lower() in title.lower() else label,
              is_whole=all(data.is_count(name) for name in ys)),
        marks, headline=_headline(series, unit, noun), n=_sample(data, ys[0], by),
        how=f"Band{of}: {in_words(ends.which)}" * has_band,
        legend=legend, height=175.0, shared="y",
        labels=[(line.last, line.name + " (own)" * line.is_own, style)
                for line, style in zip(series, styles, strict=True)
                if len(series) > 1 and len(line.there)],
    )  # fmt: skip


def _styles(series: Sequence[_Line], options: Options) -> list[Style]:
    """The style of each line, the same one in each panel: beside an own one the others are grey."""
    if any(line.is_own for line in series) and not options.palette:
        others = iter([replace(style, colour="rest") for style in SERIES[1:]] * len(series))
        return [OWN if line.is_own else next(others) for line in series]
    names = [*options.levels, *(line.name for line in series)]
    styles = styles_for(names, fixed=not options.palette)
    return [styles[line.name] for line in series] if len({*names}) > 1 else [OWN] * len(series)


def _headline(series: Sequence[_Line], unit: str | None, noun: str) -> str:
    """Where the lines are at their ends."""
    if len(series) == 1:
        there, name = series[0].there, capitalized(series[0].name or "it")
        if len(there) < 2:
            return ""
        low, high, last = (number(float(n), unit) for n in (there.min(), there.max(), there[-1]))
        return f"{name} {last} in the last {noun}, {low} to {high} overall"
    order = sorted((line for line in series if len(line.there)), key=lambda line: -line.last)
    ends = [f"{line.name} {number(line.last, unit)}" for line in order[:3]]
    return f"In the last {noun}: {', '.join(ends)}" if ends else ""


def _gaps(at: Numbers, gaps: Mask, step: float) -> Mark:
    """The times at which nothing was measured."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gaps, [False]]).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    end = at[last] + step / 2
    return Mark("boxes", at[first] - step / 2, 0 * end, UNMEASURED, to=end, size=np.inf)


def _marks_of_line(
    data: PlotData, line: _Line, style: Style, at: Numbers, moments: pd.DatetimeIndex
) -> list[Mark]:
    def tip(moment: pd.Timestamp, row: int, low: float, high: float) -> str:
        label = f"{line.name}, {cells.time_words(moment)}".strip(", ")
        return describe_mark(data, line.column, row, label, low, high) if row >= 0 else label

    places: list[Place | None] = [
        (int(row), line.column) if row >= 0 else None for row in line.rows
    ]
    width = (2.4 if line.is_own else 1.8) if len(at) <= 150 else 1.0
    marks = [Mark(
        "line", at, line.values, style, size=width, places=places,
        tips=lambda: [*map(tip, moments, line.rows.tolist(), line.low, line.high)],
    )]  # fmt: skip
    gone = np.isnan(np.concatenate([[np.nan], line.values, [np.nan]]))
    alone = gone[:-2] & gone[2:] & (len(at) > 100)
    for mask, look in ((alone, style), (line.part, replace(style, look="hollow"))):
        there = mask & ~gone[1:-1]
        if there.any():
            marks.append(Mark("dots", at[there], line.values[there], look, size=4.5))
    return marks


def _finding_of_line(line: _Line, unit: str | None, what: str) -> str:
    there = line.there
    if not len(there):
        return f"{line.name or what} was not measured"
    first, last, low, high = (
        number(float(n), unit) for n in (there[0], there[-1], there.min(), there.max())
    )
    return f"{line.name} from {first} to {last}, between {low} and {high}".strip()


def _y_ends(series: Sequence[_Line], unit: str | None) -> tuple[float, float]:
    values = np.concatenate([n for line in series for n in (line.values, line.low, line.high)])
    if np.isnan(values).all():
        return 0.0, 1.0
    least, most = float(min(np.nanmin(values), 0)), float(np.nanmax(values)) or 1.0
    if unit == RANK:
        return most + 0.5, 0.5
    most = min(most * 1.08, 1.0) if unit == FRACTION and most <= 1 else most * 1.08
    return least * 1.08, most


def _sample(data: PlotData, y: str, by: str | None) -> str:
    """The sample of the points of a rate, in a few words."""
    name = data.sample(y)
    sizes = data.values(name) if name and data.unit(y) == FRACTION else np.empty(0)
    sizes = sizes[sizes > 0]
    if not len(sizes) or data.unit_column(y):
        return ""
    ends = "–".join(dict.fromkeys(number(float(n)) for n in (sizes.min(), sizes.max())))
    # One answer may stand in several series: only those of one are added up.
    return f"n = {ends} each" + ("" if by else f", {number(float(sizes.sum()))} in all")
