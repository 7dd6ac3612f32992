"""Along time: lines that break where nothing was measured; and rows and columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, tick
from aatoolkit.display.plot.data import (
    DOES_NOT_APPLY,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    Mask,
    Numbers,
    Options,
    PlotData,
    days_of,
    moments_between,
    one_row_per_mark,
    whiskers,
    whys_missing,
)
from aatoolkit.display.plot.rows import style_without, tips_of
from aatoolkit.display.plot.spec import PITCH, Mark, Name, Panel, Scale, drawn_of
from aatoolkit.display.plot.style import (
    MUTED,
    OWN,
    SERIES,
    UNMEASURED,
    Style,
    capitalized,
    first_of,
    humanize,
    in_words,
    styles_for,
)
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.groupby import is_part_period
from aatoolkit.sections.aggregation import FRACTION, RANK
from aatoolkit.stats.interval import Bounds

# --- lines ------------------------------------------------------------------------------------

_MOST_LINES = 4
"""The most lines that are easily distinguished; more series make a heat map."""

_NOISY, _DAYS = 10, 21
"""Days of fewer answers than these are shown by week, if there are as many days."""


class _Line(NamedTuple):
    """One series: the row of each time or -1, its numbers there, and how it looks."""

    name: str
    column: str
    rows: np.ndarray
    ends: Bounds
    values: Numbers
    style: Style = OWN
    is_own: bool = False

    def at(self, values: Numbers) -> Numbers:
        """Numbers of rows at the times of the line."""
        return np.where(self.rows >= 0, values[self.rows], np.nan)


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
    if data.apart(by):
        return None  # hosts and windows are never added up
    every, marks, y = data, [x, *filter(None, [by])], ys[0]
    is_wanted = bool(options.kind or options.color)
    most = options.top or (len(SERIES) if is_wanted else _MOST_LINES)
    if by and data.frame[by].nunique() > most and not is_wanted and heatmap(data, options):
        return None
    try:
        # Rows of one time are never drawn as one of them.
        is_noisy = not options.x and _is_noisy(data, x, y, marks)
        data = one_row_per_mark(data, marks, ys, freq="W" if is_noisy else "")
    except AvailabilityError:
        if options.x or is_wanted:
            raise
        return None
    moments = moments_between(data.moments(x))
    if not len(moments):
        return None
    if by:
        words, labels = np.array(data.text(by), object), data.labels(by)
        order, own = _most_important(data, words, y)
        total, ends = len(order), whiskers(data, y, every, marks)
        named = [(labels[int(np.argmax(words == n))], y, words == n, ends, n in own)
                 for n in order[: min(most, len(SERIES))]]  # fmt: skip
    else:
        total, everywhere = len(ys), np.ones(len(data), bool)
        named = [(humanize(name), name, everywhere, whiskers(data, name, every, marks), False)
                 for name in ys[: len(SERIES)]]  # fmt: skip
    series = []
    for name, column, mask, ends, is_own in named:
        times = pd.Series(np.flatnonzero(mask), index=pd.Index(data.moments(x)[mask]))
        times = times[times.index.notna() & ~times.index.duplicated()]
        rows = times.reindex(moments, fill_value=-1).to_numpy(np.int64)
        values = np.where(rows >= 0, data.values(column)[rows], np.nan)
        series.append(_Line(name, column, rows, ends, values, is_own=is_own))
    return _lines(data, marks, ys, moments, _styled(series), total)


def _is_noisy(data: PlotData, x: str, y: str, marks: Sequence[str]) -> bool:
    """Whether the days of a rate have too few answers to be looked at one by one."""
    sample = data.sample(y)
    if sample is None or not data.is_rate(y) or data.time_noun(x) != "day":
        return False
    sizes, days = data.values(sample), data.frame[x].nunique()
    is_small = bool((sizes > 0).any()) and float(np.median(sizes[sizes > 0])) < _NOISY
    return is_small and days >= _DAYS and not data.frame.duplicated([*marks]).any()


def _most_important(data: PlotData, words: np.ndarray, y: str) -> tuple[list[str], set[str]]:
    """Order series: the own brand, then those with the largest mean; return also the own ones."""
    mean = pd.Series(data.values(y)).groupby(words, sort=False).mean()
    ranked = mean.sort_values(ascending=data.unit(y) == RANK, kind="stable", na_position="last")
    own = dict.fromkeys(words[data.own()])
    return [*dict.fromkeys([*own, *ranked.index])], {*own}


def _styled(series: list[_Line]) -> list[_Line]:
    """Series in styles: beside an own one the others are grey."""
    names = [line.name for line in series]
    styles = styles_for(names)
    if len({*names}) == 1:
        styles = dict.fromkeys(names, OWN)
    if any(line.is_own for line in series):
        others = [line.name for line in series if not line.is_own]
        greys = (replace(style, colour="rest") for style in SERIES[1:] * 2)
        styles = dict.fromkeys(names, OWN) | dict(zip(others, greys, strict=False))
    return [line._replace(style=styles[line.name]) for line in series]


def _lines(
    data: PlotData, by: Sequence[str], ys: Sequence[str],
    moments: pd.DatetimeIndex, series: Sequence[_Line], total: int,
) -> Panel:  # fmt: skip
    x, y, unit, at = by[0], ys[0], data.unit(ys[0]), days_of(moments)
    noun, step = humanize(data.time_noun(x)), float(min(np.diff(at), default=1.0))
    gaps = ~np.logical_or.reduce([~np.isnan(line.values) for line in series])
    marks, legend, texts, reached = [], [], [], [np.zeros(1)]
    if gaps.any():
        starts = np.flatnonzero(np.diff(gaps, prepend=False) & gaps)
        ends = np.flatnonzero(np.diff(gaps, append=False) & gaps)
        marks.append(Mark("boxes", at[starts] - step / 2, 0 * at[starts], UNMEASURED,
                          to=at[ends] + step / 2, size=np.inf))  # fmt: skip
        legend.append(("not measured", UNMEASURED, "boxes"))
        texts.append(f"{int(gaps.sum())} of {len(moments)} times not measured")
    measured = [line for line in series if not np.isnan(line.values).all()]
    banded = next((line for line in measured if line.is_own), next(iter(measured), None))
    has_band = banded is not None and bool(banded.ends.method)
    days = [*map(time_words, moments)]
    for line in series:
        bottom, top = line.at(line.ends.low), line.at(line.ends.high)
        reached += [n[~np.isnan(n)] for n in (line.values, bottom, top)]
        if line is banded and has_band:
            marks.append(Mark("band", at, bottom, line.style, to=top))
        marks += _marks_of_line(data, line, at, days)
    if any(mark.style.look == "hollow" for mark in marks):
        legend.insert(0, ("part of the period", replace(series[0].style, look="hollow"), "dots"))
    title = capitalized(f"{', '.join(map(humanize, ys))} by {noun}")
    title += "".join(f" and {humanize(name)}" for name in by[1:])
    title += f", {len(series)} of {total}" if total > len(series) else ""
    label = data.axis_label(y) if len(ys) == 1 else ""
    values = np.concatenate(reached)
    low, high = float(values.min()) * 1.08, float(values.max()) or 1.0
    if unit == RANK:
        low, high = high + 0.5, 0.5
    else:
        high = min(high * 1.08, 1.0) if unit == FRACTION and high <= 1 else high * 1.08
    of = f" of {banded.name}" if banded and len(series) > 1 else ""
    return Panel(
        "line", data, drawn_of(data, ys, *by, bounds=series[0].ends.result), title,
        "; ".join([*(_course(line, unit, humanize(y)) for line in series), *texts]),
        Scale(float(at[0]) - step / 2, float(at[-1]) + step / 2, "time", label=f"{moments[-1]:%Y}",
              days=tuple(at.tolist())),
        Scale(low, high, "number" if measured else "none", unit,
              "" if label.lower() in title.lower() else label,
              is_whole=all(map(data.is_count, ys))),
        marks, headline=_headline(measured, unit, noun), n=_sample(data, y, len(by) > 1),
        how=f"Band{of}: {in_words(banded.ends.method)}" if banded and has_band else "",
        legend=legend, height=175.0,
        labels=[(_last(line), line.name + " (own)" * line.is_own, line.style)
                for line in measured if len(series) > 1],
    )  # fmt: skip


def _last(line: _Line) -> float:
    return float(line.values[~np.isnan(line.values)][-1])


def _headline(series: Sequence[_Line], unit: str | None, noun: str) -> str:
    """Where the lines are at their ends."""
    order = sorted(series, key=lambda line: -_last(line))
    ends = [f"{line.name} {number(_last(line), unit)}" for line in order[:3]]
    return f"In the last {noun}: {', '.join(ends)}" if ends else ""


def _marks_of_line(data: PlotData, line: _Line, at: Numbers, days: Sequence[str]) -> list[Mark]:
    names = [", ".join(filter(None, [line.name, day])) for day in days]
    labels = dict(zip(line.rows.tolist(), names, strict=True))
    tips = tips_of(data, line.column, [labels.get(r, "") for r in range(len(data))], line.ends)
    rows, size = line.rows.tolist(), 2.4 if line.is_own else 1.8
    marks = [Mark(
        "line", at, line.values, line.style, size=size if len(at) <= 150 else 1.0,
        places=[(row, line.column) if row >= 0 else None for row in rows],
        tips=[tips[row] if row >= 0 else name for row, name in zip(rows, names, strict=True)],
    )]  # fmt: skip
    # Parts of a period are hollow.
    part: Mask = np.array([
        value == value and is_part_period(data.state_of(line.column, row).reason)
        for row, value in zip(rows, line.values, strict=True)
    ])  # fmt: skip
    if part.any():
        style = replace(line.style, look="hollow")
        marks.append(Mark("dots", at[part], line.values[part], style, size=4.5))
    return marks


def _course(line: _Line, unit: str | None, what: str) -> str:
    there = line.values[~np.isnan(line.values)]
    if not len(there):
        return f"{line.name or what} was not measured"
    ends = (there[0], there[-1], there.min(), there.max())
    first, last, low, high = (number(float(n), unit) for n in ends)
    return f"{line.name} from {first} to {last}, between {low} and {high}".strip()


def _sample(data: PlotData, y: str, is_split: bool) -> str:
    """The sample of the points of a rate, in a few words."""
    name = data.sample(y)
    sizes = data.values(name) if name and data.unit(y) == FRACTION else np.empty(0)
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return ""
    ends = "–".join(dict.fromkeys(number(float(n)) for n in (sizes.min(), sizes.max())))
    # One answer may stand in several series: only those of one are added up.
    return f"n = {ends} each" + ("" if is_split else f", {number(float(sizes.sum()))} in all")


def time_words(moment: pd.Timestamp) -> str:
    """A day, or a minute."""
    return f"{moment:%Y-%m-%d}" if moment == moment.normalize() else f"{moment:%Y-%m-%d %H:%M}"


# --- heat maps --------------------------------------------------------------------------------

_SIGNS = {NOT_LISTED: "·", NOTHING: "–", NOT_MENTIONED: "○", DOES_NOT_APPLY: "×"}
"""The signs of cells without a number that are not hatched."""
_MOST_COLUMNS, _WRITTEN = 20, 90
"""The most columns that are no times, and the most cells that have their number in them."""


def heatmap(data: PlotData, options: Options) -> Panel | None:
    """Cells of the most informative number, by the last two columns of the key."""
    if options.x and not options.color and not options.kind:
        return None
    # Positions, and metrics by name, do not fit bars but fit cells.
    placed = [n for n in data.numbers if data.unit(n) == RANK or data.unit_column(n)]
    y = next(iter(options.y or [*data.measures, *placed]), None)
    times = data.times[:1]
    words = [name for name in data.keys if data.kinds[name] in ("word", "flag")]
    keys = [*words[-(2 - len(times)) :], *times]
    x = options.x or next((name for name in reversed(keys) if name != options.color), None)
    by = options.color or next((name for name in keys if name != x), None)
    if y is None or x is None or by is None or len({x, by, y}) < 3 or data.apart(x, by):
        return None
    if not options.kind:
        # What each x has only one of tells bars apart; it makes no rows of cells.
        is_flat = data.frame.groupby(x, observed=True)[by].nunique().le(1).all()
        is_complete = len(data.keys) == 2 and (y in placed or data.column(y) is None)
        fits = options.x or (len(data.keys) > 1 if data.adds(y) else is_complete)
        if data.is_bare_key(x) or data.is_bare_key(by) or is_flat or not fits:
            return None
    every = data.of_one_metric(y)
    if not len(every):
        return None
    per = data.unit_column(y)
    what = humanize(every.text(per)[0] if per else y)
    return _cells(one_row_per_mark(every, [by, x], [y]), every, x, y, by, what, options)


def _cells(
    data: PlotData, every: PlotData, x: str, y: str, by: str, what: str, options: Options
) -> Panel:
    """A table of numbers, darker for larger values, or for better positions."""
    unit, is_time = data.unit(y), data.kinds[x] == "time"
    is_rank = unit == RANK
    across = data.moments(x) if is_time else pd.Series(data.text(x))
    places = pd.DataFrame({"by": data.text(by), "x": across, "row": range(len(data))})
    places = places.dropna(subset="x").pivot(index="by", columns="x", values="row")
    numbers_ = np.append(data.values(y), np.nan)
    table = places.fillna(-1).astype("int64").map(lambda row: numbers_[row])

    def ranked(table: pd.DataFrame) -> list[Any]:
        # Of counts all are compared: a mean is of the listed cells alone.
        means = table.sum(axis=1, min_count=1) if data.adds(y) else table.mean(axis=1)
        return [*means.sort_values(ascending=is_rank, kind="stable", na_position="last").index]

    index, columns = ranked(table)[: options.top or 15], [*table.columns]
    if is_time:
        columns = [*moments_between(across)]
    elif data.is_category(x):
        levels = [*map(str, data.frame[x].cat.categories)]
        columns.sort(key=lambda c: levels.index(c) if c in levels else len(levels))
    else:
        columns = ranked(table.T)[:_MOST_COLUMNS]
    rows = places.reindex(index=index, columns=columns).fillna(-1).to_numpy(np.int64)
    values, lost = numbers_[rows], 0 if is_time else len(table.columns) - len(columns)
    # At a time that no row has, nothing was measured.
    nowhere = np.where((rows < 0).all(axis=0), NOT_MEASURED, NOT_LISTED)
    whys = np.where(rows < 0, nowhere, np.array([*whys_missing(data, y), ""], object)[rows])
    reasons = sorted({*whys[whys != ""]}, key=lambda word: (word != NOT_MEASURED, word))
    there = values[~np.isnan(values)]
    low = float(there.min()) if len(there) and (is_rank or there.min() < 0) else 0.0
    high = float(there.max()) if len(there) and there.max() > low else low + 1
    strength = (values - low) / (high - low)
    strength = 1 - strength if is_rank else strength
    names_x, names_y = _names(data, x, columns), _names(data, by, index)
    named = [f"{row.text}, {time_words(c) if is_time else name.text}" for row in names_y
             for c, name in zip(columns, names_x, strict=True)]  # fmt: skip

    labels = dict(zip(rows.flat, named, strict=True))
    tips = tips_of(data, y, [labels.get(row, "") for row in range(len(data))],
                   whiskers(data, y, every, [by, x]))  # fmt: skip
    is_written = values.size <= _WRITTEN and len(columns) <= 12
    pairs = zip(numbers(values.flat, unit), values.flat, strict=True)
    words = [word if n == n else "" for word, n in pairs]
    down, right = np.indices(values.shape).reshape(2, -1).astype(float)
    marks = [Mark(
        "cells", right, down, strength=strength.ravel(),
        tips=[tips[row] if row >= 0 else f"{name}\n{why}"
              for row, name, why in zip(rows.flat, named, whys.flat, strict=True)],
        words=words if is_written else [""] * values.size,
        places=[(row, None) if row >= 0 else None for row in rows.flat],
    )]  # fmt: skip
    legend = [(why, style_without(why), _SIGNS.get(why, "boxes")) for why in reasons]
    for why in reasons:
        here = whys.ravel() == why
        marks.append(
            Mark("words", right[here], down[here], MUTED, words=[_SIGNS[why]] * here.sum(), shift=0)
            if why in _SIGNS
            else Mark("boxes", right[here] - 0.5, down[here], style_without(why),
                      to=right[here] + 0.5, size=1.0)
        )  # fmt: skip
    if not is_written:
        legend = [
            ({0: tick(low, unit), 4: tick(high, unit)}.get(part, ""),
             Style(f"ramp/{1 - part / 4 if is_rank else part / 4}"), "boxes")
            for part in range(5)
        ] + legend  # fmt: skip
    best, finding = "", "none of it was measured"
    if len(there):
        at = int(np.nanargmin(values) if is_rank else np.nanargmax(values))
        best = f"{'best' if is_rank else 'highest'} {what}: {named[at]}, "
        best += number(float(values.flat[at]), unit)
        lacking = [f"{int((whys == why).sum())} of {values.size} cells {why}" for why in reasons]
        finding = "; ".join([best, *lacking])
    noun = data.time_noun(x) if is_time else x.removesuffix("_id")
    return Panel(
        "heatmap", data, drawn_of(data, (y,), by, x),
        capitalized(f"{what} by {humanize(by.removesuffix('_id'))} and {humanize(noun)}")
        + first_of(len(index), len(table)), finding,
        Scale(-0.5, len(columns) - 0.5, "names", unit, names=tuple(names_x),
              label=f"{columns[-1]:%Y}" if is_time else "",
              days=tuple(days_of(pd.DatetimeIndex(columns)).tolist()) if is_time else ()),
        Scale(len(index) - 0.5, -0.5, "names", names=tuple(names_y)), marks,
        headline=capitalized(best), how="Stronger is better" * is_rank,
        height=PITCH * len(index), legend=legend,
        n=f"{len(columns)} of {len(table.columns)} columns are drawn, those with most" * bool(lost),
    )  # fmt: skip


def _names(data: PlotData, name: str, keys: Sequence[Any]) -> list[Name]:
    """The names of rows or columns, and whether they are own."""
    if data.kinds[name] == "time":
        is_day = all(moment == moment.normalize() for moment in keys)
        return [Name(f"{moment:{'%d %b' if is_day else '%d %b %H:%M'}}") for moment in keys]
    words = data.text(name)
    texts, own = dict(zip(words, data.labels(name), strict=True)), pd.Series(data.own())
    is_own = own.groupby(words).all()
    return [Name(texts.get(key, key), bool(is_own.get(key))) for key in keys]
