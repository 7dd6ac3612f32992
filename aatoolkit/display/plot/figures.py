"""Key figures: numbers of several units, each with its previous value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aatoolkit._util.numbers import number, signed
from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.drawn import drawn_of
from aatoolkit.display.plot.labels import (
    capitalized,
    first_of,
    humanize,
    in_words,
    row_name,
    table_words,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import why_missing
from aatoolkit.display.plot.rows import without_number
from aatoolkit.display.plot.spec import PITCH, Name, Panel, RowMarks, Scale, WordColumn, rows_of
from aatoolkit.display.plot.style import BLANK, INK, OWN, Style
from aatoolkit.display.plot.whiskers import Whiskers, ends_of_figures, whiskers
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

_SIDES = (("previous_value", "value"), ("before", "after"), ("before_value", "after_value"))
_OF_RESULTS = ("low", "high", "p", "n", "clusters")
"""Of a result of statistics: what describes its numbers and is none of its own."""
_WHOLE = {FRACTION: 1.0, SCORE: 100.0}


@dataclass(frozen=True)
class Figure:
    """One number: its value, previous value, unit, sample size and interval."""

    label: str
    value: float
    before: float
    unit: str | None
    sample: float
    why: str
    low: float
    high: float
    metric: str = ""
    """What the number is of, where the label does not say it."""

    def share(self, value: float) -> float:
        """A value as a part of its whole; NaN if it has none."""
        share = value / _WHOLE.get(self.unit or "", np.nan)
        return share if 0 <= share <= 1 else np.nan

    @property
    def moved(self) -> str:
        """The change, or the interval of a number that is no part of a whole."""
        if not np.isnan(self.before + self.value):
            return signed(self.value - self.before, self.unit)
        return self.interval

    @property
    def interval(self) -> str:
        """The interval of a number that is no part of a whole."""
        if np.isnan(self.low + self.high) or not np.isnan(self.share(self.value)):
            return ""
        return f"{number(self.low, self.unit)} to {number(self.high, self.unit)}"

    @property
    def finding(self) -> str:
        """It in words."""
        text = self.why if np.isnan(self.value) else number(self.value, self.unit)
        if not np.isnan(self.before + self.value):
            text += f" (before {number(self.before, self.unit)})"
        label = f"{self.label}: {self.metric}" if self.metric else self.label
        return f"{label} {text}" + (f" ({self.interval})" if self.interval else "")


def plan(data: PlotData, options: PlotOptions) -> Panel | None:
    """The numbers of a single row, or of rows whose numbers differ in unit."""
    is_row = len(data) == 1 and not options.x
    return _of_row(data, options) if is_row else _of_rows(data, options)


def _panel(
    data: PlotData,
    columns: Sequence[str],
    what: str,
    figures: Sequence[Figure],
    most: int,
    which: str,
    notes: Sequence[str] = (),
) -> Panel:
    shown = figures[:most]
    value, before, low, high = (
        np.array([each.share(getattr(each, part)) for each in shown])
        for part in ("value", "before", "low", "high")
    )
    is_part, whys = ~np.isnan(value), [each.why if np.isnan(each.value) else "" for each in shown]
    rows = RowMarks(lambda row: shown[row].finding)
    marks = [
        rows.boxes(is_part, 1.0, Style("muted", look="hollow"), size=0.34, places=None),
        rows.boxes(is_part, value, OWN, size=0.34),
        *without_number(rows, whys),
        RowMarks().spans(np.where(is_part, low, np.nan), high, has_caps=True),
        RowMarks().mark("ticks", ~np.isnan(before), before, INK, size=0.62),
    ]
    has_track = bool(is_part.any()) or any(whys)
    moved = [each.moved for each in shown]
    sizes = ["" if np.isnan(each.sample) else f"n={number(each.sample)}" for each in shown]
    is_change = any(not np.isnan(each.before) for each in shown)
    metrics = [each.metric for each in shown]
    beside = [WordColumn(metrics, is_muted=True)] if any(metrics) else []
    beside += [
        WordColumn(
            ["" if np.isnan(each.value) else number(each.value, each.unit) for each in shown],
            "value" if any(moved) or any(sizes) else "", "right", is_bold=True,
        )
    ]  # fmt: skip
    if any(moved):
        beside.append(WordColumn(moved, "change" if is_change else "interval"))
    if any(sizes):
        beside.append(WordColumn(sizes, "sample", "right", is_muted=True))
    listed = ["Thick tick: the previous value."] if (~np.isnan(before)).any() else []
    is_drawn = not np.isnan(low + value).all()
    if which and (is_drawn or any(each.interval for each in shown)):
        listed.append(f"{'Whiskers' if is_drawn else 'Interval'}: {which}.")
    names = [Name(f"{f.label} (lower is better)" if f.unit == RANK else f.label) for f in shown]
    return Panel(
        "figures",
        data,
        drawn_of(data, columns),
        what + first_of(len(shown), len(figures) - len(shown)),
        "; ".join(each.finding for each in shown),
        Scale(0.0, 1.0, "none"),
        rows_of(names),
        marks if has_track else (),
        [*listed, *notes],
        columns=beside,
        height=PITCH * 1.15 * len(shown),
        is_wide=True,
    )


def _of_row(data: PlotData, options: PlotOptions) -> Panel | None:
    is_result = data.table.startswith("statistics:") and not options.y
    names = [n for n in options.y or data.numbers if not (is_result and n in _OF_RESULTS)]
    if not names:
        return None
    ends = {name: whiskers(data, name) for name in names}
    if is_result and {"low", "high"} <= data.kinds.keys():
        # They stand behind the number whose ends they are.
        of = [name for name in data.kinds if name in (*names, "low")]
        doc = data.column("low")
        which = doc.doc.rstrip(".").partition("its ")[2] if doc else "its interval"
        ends[of[of.index("low") - 1]] = Whiskers(data.values("low"), data.values("high"), which)
    figures = [
        Figure(
            capitalized(humanize(name)),
            float(data.values(name)[0]),
            np.nan,
            data.unit(name),
            float(data.values(n)[0]) if (n := data.sample(name)) and data.rule(name) else np.nan,
            why_missing(data, name, 0),
            float(ends[name].low[0]),
            float(ends[name].high[0]),
        )
        for name in names
    ]
    what = capitalized(table_words(data) or "figures")
    what = f"{row}: {what}" if (row := row_name(data)) else what
    more = [data.text(name)[0] for name in ("why", "method") if is_result and name in data.kinds]
    notes = [f"{capitalized(in_words(each))}." for each in more if each != BLANK]
    which = _which([ends[name] for name in names])
    return _panel(data, names, what, figures, options.top or 12, which, notes)


def _which(ends: list[Whiskers]) -> str:
    """The interval of the first number that has one."""
    return in_words(next((e.which for e in ends if not np.isnan(e.low + e.high).all()), ""))


def _of_rows(data: PlotData, options: PlotOptions) -> Panel | None:
    x = options.x or data.label_column
    sides = options.y if len(options.y) in (1, 2) else _sides(data)
    if x is None or sides is None or (options.y and not options.kind):
        return None
    now = sides[-1]
    if data.unit_column(now) is None and not options.kind:
        return None
    none = np.full(len(data), np.nan)
    sample = data.sample(now)
    labels, metrics = data.labels(x), [""] * len(data)
    if x == "metric":
        labels = [*map(capitalized, labels)]
    elif "metric" in data.kinds:
        metrics = [*map(humanize, data.text("metric"))]
    ends = ends_of_figures(data, now)
    figures = [
        Figure(
            label, float(value), float(before), unit, float(n),
            why_missing(data, now, row) if np.isnan(value) else "",
            float(ends.low[row]), float(ends.high[row]), metrics[row],
        )
        for row, (label, value, before, unit, n) in enumerate(
            zip(
                labels,
                data.values(now),
                data.values(sides[0]) if len(sides) == 2 else none,
                data.units(now),
                data.values(sample) if sample else none,
                strict=True,
            )
        )
    ]  # fmt: skip
    what = capitalized(table_words(data) or f"{humanize(now)} by {humanize(x)}")
    columns = tuple(reversed(sides))
    return _panel(data, columns, what, figures, options.top or 12, _which([ends]))


def _sides(data: PlotData) -> tuple[str, ...] | None:
    """The columns of the number and the one before; of metrics without one, the number alone."""
    sides = next((s for s in _SIDES if all(name in data.numbers for name in s)), None)
    if sides is None and "metric" in data.kinds and "value" in data.numbers:
        return ("value",) if data.frame["metric"].is_unique else None
    return sides
