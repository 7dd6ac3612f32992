"""Along time: lines that break where nothing was measured, changes as steps, and spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number
from aatoolkit.display.plot import cells
from aatoolkit.display.plot.data import CONTEXT, Mask, Numbers, PlotData
from aatoolkit.display.plot.drawn import Drawn, Place, drawn_of
from aatoolkit.display.plot.labels import axis_label, capitalized, first_of, humanize
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.rows import describe_mark, key, names_of
from aatoolkit.display.plot.spec import PITCH, Mark, Panel, RowMarks, Scale, rows_of, rule, some
from aatoolkit.display.plot.style import BLANK, OWN, SERIES, UNMEASURED, Style
from aatoolkit.display.plot.whiskers import Whiskers, whiskers
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.periods import is_part_period
from aatoolkit.sections.aggregation import FRACTION, RANK

MOST_LINES = 4
"""The most lines that are easily distinguished; more series make a heat map."""

_STEPS = ("day", "first_day", "last_day", "before", "after", "from_day", "to_day")
_ENDS = (("_start", "_end"), ("first_", "last_"), ("created_at", "updated_at"))


def days_of(moments: pd.DatetimeIndex | pd.Series) -> Numbers:
    """Moments as days since 1970, as matplotlib counts them; NaN for missing ones."""
    days = (pd.DatetimeIndex(moments) - pd.Timestamp(0)) / pd.Timedelta("1D")
    return np.asarray(days, np.float64)


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
    infinite: Mask
    is_own: bool

    @property
    def is_measured(self) -> bool:
        """Whether there is a number at any time."""
        return not np.isnan(self.values).all()


def _line(
    data: PlotData, rows: Mask, moments: pd.DatetimeIndex, x: str, ends: Whiskers, name: str,
    column: str, *, is_own: bool,
) -> _Line:  # fmt: skip
    """The line of some rows, with a place for each time."""
    times = pd.Series(np.flatnonzero(rows), index=pd.Index(data.moments(x)[rows]))
    times = times[times.index.notna() & ~times.index.duplicated()]
    places = times.reindex(moments, fill_value=-1).to_numpy(np.int64)
    there = places >= 0

    def taken(values: Numbers) -> Numbers:
        return np.where(there, values[places], np.nan)

    states = data.cells(column)
    parts = np.array([is_part_period(s.reason) for s in states.states], bool)[states.codes]
    return _Line(
        name, column, places, taken(data.values(column)), taken(ends.low), taken(ends.high),
        there & parts[places], there & data.infinite(column)[places], is_own,
    )  # fmt: skip


def lines(data: PlotData, options: PlotOptions) -> Panel | None:
    """Lines of the most informative number along the time in the key."""
    x = options.x or next(iter(data.times), None)
    if x is None or data.kinds[x] != "time":
        return None
    others = [name for name in data.keys if name not in (*data.times, x)]
    by = options.by or (others[0] if len(others) == 1 and not options.x else None)
    ys = options.y or tuple([*data.measures, *data.numbers][:1])
    if not ys or (by and len(ys) > 1) or len({data.unit(name) for name in ys}) > 1:
        return None
    given, marks = data, [x, *([by] if by else [])]
    levels = list(dict.fromkeys(data.text(by))) if by else [""]
    wanted = bool(options.kind or options.by)
    most = options.top or (len(SERIES) if wanted else MOST_LINES)
    if len(levels) > most and not wanted and cells.heatmap(data, options):
        return None
    if options.x or options.by or data.frame.duplicated(marks).any():
        # Rows of one time are never drawn as one of them.
        try:
            data = one_row_per_mark(data, marks, list(ys))
        except AvailabilityError:
            if options.x or wanted:
                raise
            return None
    moments = moments_between(data.moments(x))
    if not len(moments):
        return None
    ys, left_out = ys[: len(SERIES)], len(ys) - len(SERIES)
    ends = {name: whiskers(data, name, given, marks) for name in ys}
    if by:
        chosen, own = _most_important(data, by, ys[0], min(most, len(SERIES)))
        names = np.array(data.text(by), object)
        series = [
            _line(data, names == name, moments, x, ends[ys[0]], name, ys[0], is_own=name in own)
            for name in chosen
        ]
        left_out = len(levels) - len(chosen)
    else:
        whole = np.ones(len(data), bool)
        series = [
            _line(data, whole, moments, x, ends[name], humanize(name), name, is_own=False)
            for name in ys
        ]
    return _panel_of_lines(data, x, ys, by, options, moments, series, ends[ys[0]], left_out)


def _most_important(data: PlotData, by: str, y: str, most: int) -> tuple[list[str], set[str]]:
    """Select series: the own brand, then those with the largest mean; return also the own ones."""
    rows = pd.DataFrame({"name": data.text(by), "n": data.values(y), "own": data.own()})
    mean = rows.groupby("name", sort=False)["n"].mean()
    ranked = mean.sort_values(ascending=data.unit(y) == RANK, kind="stable", na_position="last")
    own = rows.loc[rows["own"], "name"].unique().tolist()
    return list(dict.fromkeys([*own, *ranked.index]))[:most], {*own}


def _panel_of_lines(
    data: PlotData, x: str, ys: Sequence[str], by: str | None, options: PlotOptions,
    moments: pd.DatetimeIndex, series: Sequence[_Line], ends: Whiskers, left_out: int,
) -> Panel:  # fmt: skip
    unit, at = data.unit(ys[0]), days_of(moments)
    step = float(np.min(np.diff(at))) if len(at) > 1 else 1.0
    gaps = ~np.logical_or.reduce([~np.isnan(line.values) | line.infinite for line in series])
    styles = [SERIES[place % len(SERIES)] for place in _places(series, options.levels)]
    marks = [_gaps(at, gaps, step)] if gaps.any() else []
    legend = []
    banded = next((line for line in series if line.is_own and line.is_measured), None)
    banded = banded or next((line for line in series if line.is_measured), None)
    for line, style in zip(series, styles, strict=True):
        if line is banded and not np.isnan(line.low).all():
            marks.append(Mark("band", at, line.low, style, to=line.high))
        marks += _marks_of_line(data, line, style, at, moments)
        if line.is_measured and len(series) > 1:
            legend.append((line.name + (" (own)" if line.is_own else ""), key(style, "line")))
    if any(line.part[~np.isnan(line.values)].any() for line in series):
        legend.append(("part of the period", key(replace(styles[0], look="hollow"), "dots")))
    if gaps.any():
        legend.append(("not measured", key(UNMEASURED)))
    noun = humanize(data.time_noun(x))
    title = capitalized(f"{', '.join(map(humanize, ys))} by {noun}")
    title += f" and {humanize(by)}" if by else ""
    title += f", {len(series)} of {len(series) + left_out}" if left_out > 0 else ""
    label = axis_label(data, ys[0]) if len(ys) == 1 else ""
    texts = [_finding_of_line(line, unit, humanize(ys[0])) for line in series]
    if gaps.any():
        texts.append(f"{int(gaps.sum())} of {len(moments)} times not measured")
    low, high = _y_ends(series, unit)
    is_none = all(not line.is_measured for line in series)
    return Panel(
        "line",
        data,
        Drawn(data.frame, tuple(ys), (x, *([by] if by else [])), ends.bounds),
        title,
        "; ".join(texts),
        Scale(at[0] - step / 2, at[-1] + step / 2, "time", days=tuple(at.tolist())),
        Scale(
            low,
            high,
            "none" if is_none else "number",
            unit,
            "" if label.lower() in title.lower() else label,
            is_whole=all(data.is_count(name) for name in ys),
        ),
        marks,
        _notes_of_lines(data, ys, by, series, banded, ends),
        legend,
        height=175.0,
        shared="y",
    )


def _places(series: Sequence[_Line], levels: Sequence[str]) -> list[int]:
    """The place of each line among the styles, the same one in each panel."""
    names = [*levels, *(line.name for line in series)]
    return [names.index(line.name) if levels else at for at, line in enumerate(series)]


def _gaps(at: Numbers, gaps: Mask, step: float) -> Mark:
    """The times at which nothing was measured."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], gaps, [False]]).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    middle = np.zeros(len(first))
    return Mark(
        "boxes", at[first] - step / 2, middle, UNMEASURED, to=at[last] + step / 2, size=np.inf
    )


def _marks_of_line(
    data: PlotData, line: _Line, style: Style, at: Numbers, moments: pd.DatetimeIndex
) -> list[Mark]:
    def tips() -> list[str]:
        words = []
        for moment, row, low, high in zip(moments, line.rows, line.low, line.high, strict=True):
            is_day = moment == moment.normalize()
            day = f"{moment:%Y-%m-%d}" if is_day else f"{moment:%Y-%m-%d %H:%M}"
            label = f"{line.name}, {day}".strip(", ")
            words.append(
                f"{label}\nno row"
                if row < 0
                else describe_mark(data, line.column, int(row), label, (float(low), float(high)))
            )
        return words

    places: list[Place | None] = [
        (int(row), line.column) if row >= 0 else None for row in line.rows
    ]
    width = 1.8 if len(at) <= 150 else 1.0
    marks = [Mark("line", at, line.values, style, size=width, tips=tips, places=places)]
    gone = np.isnan(np.concatenate([[np.nan], line.values, [np.nan]]))
    alone = ~gone[1:-1] & gone[:-2] & gone[2:] & (len(at) > 100)
    for mask, look in ((alone, style), (line.part, replace(style, look="hollow"))):
        there = mask & ~gone[1:-1]
        if there.any():
            marks.append(Mark("dots", at[there], line.values[there], look, size=4))
    return marks


def _finding_of_line(line: _Line, unit: str | None, what: str) -> str:
    there = line.values[~np.isnan(line.values)]
    if not len(there):
        return f"{line.name or what} was not measured"
    first, last, low, high = (
        number(float(n), unit) for n in (there[0], there[-1], there.min(), there.max())
    )
    return f"{line.name} from {first} to {last}, between {low} and {high}".strip()


def _y_ends(series: Sequence[_Line], unit: str | None) -> tuple[float, float]:
    values = np.concatenate([np.concatenate([s.values, s.low, s.high]) for s in series])
    if np.isnan(values).all():
        return 0.0, 1.0
    least, most = float(min(np.nanmin(values), 0)), float(np.nanmax(values)) or 1.0
    if unit == RANK:
        return most + 0.5, 0.5
    most = min(most * 1.08, 1.0) if unit == FRACTION and most <= 1 else most * 1.08
    return least * 1.08, most


def _notes_of_lines(
    data: PlotData, ys: Sequence[str], by: str | None, series: Sequence[_Line],
    banded: _Line | None, ends: Whiskers,
) -> list[str]:  # fmt: skip
    notes = []
    name = data.sample(ys[0])
    if name and data.unit(ys[0]) == FRACTION and not data.unit_column(ys[0]):
        sizes = data.values(name)
        sizes = sizes[sizes > 0]
        if len(sizes):
            least = "–".join(dict.fromkeys(number(float(n)) for n in (sizes.min(), sizes.max())))
            # One answer may stand in several series: only those of one are added up.
            whole = "" if by else f", {number(float(sizes.sum()))} in all"
            notes.append(f"Sample ({humanize(name)}): {least} each{whole}.")
    lacking = [line.name for line in series if not line.is_measured]
    if lacking and len(series) > 1:
        notes.append(f"Without a number: {', '.join(lacking)}.")
    if banded is not None and not np.isnan(banded.low).all():
        of = f" of {banded.name}" if len(series) > 1 else ""
        notes.append(f"Band{of}: {ends.which}.")
    infinite = sum(int(line.infinite.sum()) for line in series)
    if infinite:
        notes.append(f"Infinite, and therefore not drawn: {infinite} of the numbers.")
    return notes


def moments_between(moments: pd.Series) -> pd.DatetimeIndex:
    """All times from the first to the last, at the smallest step between two of them."""
    times = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(times) < 3:
        return times
    step = (times[1:] - times[:-1]).min()
    whole = pd.date_range(times[0], times[-1], freq=step)
    return whole if times.isin(whole).all() and len(whole) <= 50 * len(times) else times


def changes(data: PlotData, options: PlotOptions) -> Panel | None:
    """The rate of each stretch of days, with the days that hold each change."""
    if options.x or options.y or options.by or not data.table.startswith("statistics:changes"):
        return None
    if not all(name in data.kinds for name in _STEPS):
        return None
    unit, texts = data.unit("after"), {n: data.text(n) for n in ("day", "verdict", "why", "method")}
    day, first, last, start, end = (
        days_of(data.moments(n)) for n in ("day", "first_day", "last_day", "from_day", "to_day")
    )
    before, after = data.values("before"), data.values("after")
    is_changed = ~np.isnan(day)
    finding = "; ".join(
        f"{verdict} on {when}, {why}" if when != BLANK else f"{verdict}: {why}"
        for when, verdict, why in zip(texts["day"], texts["verdict"], texts["why"], strict=True)
    )
    method = f"{capitalized(texts['method'][0])}."
    is_none = np.isnan(start).all() or np.isnan(before).all()
    marks: list[Mark] = []
    legend: list[tuple[str, Mark]] = []
    notes = [method] if is_none else ["Line: the rate of a stretch of days.", method]
    x, y, turned = Scale(kind="none"), Scale(kind="none"), Style("orange", dash=(4, 2))
    if is_none:
        marks = cells.notice(texts["why"][0], UNMEASURED)
    else:
        # The last stretch ends with the series.
        lefts, rights = [*start, day[-1]], [*np.where(is_changed, day, end), end[-1]]
        count = len(start) + bool(is_changed[-1])
        left, right, rates = (some(n)[:count] for n in (lefts, rights, [*before, after[-1]]))
        most = float(np.nanmax([before, after]))
        most = min(most * 1.35, 1.08) if unit == FRACTION else most * 1.35 or 1.0
        ends = some([most, most])
        words = [number(rate, unit) for rate in rates]
        marks = [
            *(
                Mark("band", some([a, b]), 0 * ends, turned, to=ends)
                for a, b in zip(first[is_changed], last[is_changed], strict=True)
            ),
            rule(day[is_changed], turned, 1.4),
            Mark("spans", left, rates, OWN, to=right, size=2.6),
            Mark("words", (left + right) / 2, rates, words=words, align="center", shift=(0, 8)),
        ]
        x = _days(float(np.nanmin(start)), float(np.nanmax(end)))
        y = Scale(0.0, most, unit=unit, label=axis_label(data, "after").replace("after", "rate"))
    if is_changed.any():
        column = data.column("first_day")
        level = column.doc.split(" interval")[0].rsplit(" ", 1)[-1] if column else "the level"
        legend = [
            ("most likely day", key(turned, "rules")),
            (f"days that hold it with {level}", key(turned, "band")),
        ]
    return Panel(
        "changes", data, drawn_of(data, ("after",)),
        "When the rate changed" if is_changed.any() else "No change is shown",
        finding, x, y, marks, notes, legend, height=160.0,
    )  # fmt: skip


def _days(first: float, last: float) -> Scale:
    """A scale of days."""
    return Scale(first, last, "time", days=tuple(np.arange(np.floor(first), last).tolist()))


def spans(data: PlotData, options: PlotOptions) -> Panel | None:
    """Pairs of start and end times, with a single time next to them."""
    times = [name for name in data.of_kind("time") if options.kind or name not in CONTEXT]
    x = options.x or data.label_column
    pairs = [
        (name, other)
        for name in times
        for one, two in _ENDS
        if one in name and (other := name.replace(one, two)) in times and other != name
    ]
    if x is None or not pairs or options.y or not len(data):
        return None
    if len(data) == 1 and not options.kind and not any(p[0].endswith("_start") for p in pairs):
        return None
    if all(data.frame[name].isna().all() for pair in pairs for name in pair):
        return None
    ends = [name for pair in pairs for name in pair]
    moment = next((name for name in times if name not in ends), None)
    verdict = next((name for name in ("verdict", "state") if name in data.kinds), None)
    order = data.moments(pairs[0][0]).argsort(kind="stable").tolist()
    rows = data.sorted_by(order[: options.top or 12])
    drawn, labels = (*ends, *([moment] if moment else [])), rows.text(x)
    named = [humanize(pair[0].removesuffix("_start")) for pair in pairs]
    everything = np.array([days_of(rows.moments(name)) for name in drawn])
    right = np.nanmax(np.vstack([everything, np.full(len(rows), -np.inf)]), axis=0) + 1
    marks, legend = [], []
    for (start, end), style, name in zip(pairs, SERIES, named, strict=False):
        low, high = days_of(rows.moments(start)), days_of(rows.moments(end))
        of = RowMarks(lambda row, name=name: f"{labels[row]}\n{name}", start)  # type: ignore[misc]
        # The last day belongs to the span.
        marks.append(of.boxes(~np.isnan(high - low), high + 1, style, low, 0.42))
        legend.append((name, key(style)))
    if moment:
        look = Style("ink", "D")
        marks.append(RowMarks().dots(days_of(rows.moments(moment)) + 0.5, look, 8))
        legend.append((humanize(moment), key(look, "dots")))
    texts = [f"{a}: {b}" for a, b in zip(labels, rows.text(moment or pairs[0][0]), strict=True)]
    if verdict:
        words = [*map(humanize, rows.text(verdict))]
        marks.append(RowMarks().words(np.isfinite(right), right, words))
        texts = [f"{text}, {word}" for text, word in zip(texts, words, strict=True)]
    finite = everything[np.isfinite(everything)]
    days = (float(finite.min()), float(finite.max()))
    return Panel(
        "spans",
        rows,
        drawn_of(rows, drawn, x),
        capitalized(f"{' and '.join(named)} by {humanize(rows.row_noun(x))}")
        + first_of(len(rows), len(data) - len(rows)),
        "; ".join(texts[:5]),
        _days(days[0], days[1] + 1),
        rows_of(names_of(rows, labels)),
        marks,
        legend=legend,
        height=PITCH * 1.3 * len(rows),
    )
