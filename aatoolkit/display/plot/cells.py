"""Rows and columns of numbers: heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, tick
from aatoolkit.display.plot.data import PlotData, days_of, is_category, moments_between
from aatoolkit.display.plot.drawn import Drawn
from aatoolkit.display.plot.labels import axis_label, capitalized, first_of, humanize
from aatoolkit.display.plot.measured import (
    DOES_NOT_APPLY,
    INFINITE,
    NOT_GIVEN,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    one_row_per_mark,
    style_without,
    whiskers,
    whys_missing,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.rows import describe_mark
from aatoolkit.display.plot.spec import PITCH, Legend, Mark, Name, Panel, Scale, rows_of
from aatoolkit.display.plot.style import MUTED, Style
from aatoolkit.sections.aggregation import RANK

_SIGNS = {NOT_LISTED: "·", NOTHING: "–", NOT_MENTIONED: "○", DOES_NOT_APPLY: "×", INFINITE: "∞"}
"""The signs of cells without a number that are not hatched."""
_MOST_COLUMNS = 20
_WRITTEN = 90
"""The most cells that are annotated with their number."""


def heatmap(data: PlotData, options: PlotOptions) -> Panel | None:
    """Cells of the most informative number, by the last two columns of the key."""
    if options.x and not options.color and not options.kind:
        return None
    y = next(iter(options.y or [*data.measures, *_placed(data)]), None)
    times = data.times[:1]
    named = [name for name in data.keys if data.kinds[name] in ("word", "flag")]
    keys = [*named[-(2 - len(times)) :], *times]
    x = options.x or next((name for name in reversed(keys) if name != options.color), None)
    by = options.color or next((name for name in keys if name != x), None)
    if y is None or x is None or by is None or x == by or y in (x, by):
        return None
    # What each x has only one of tells bars apart; it makes no rows of cells.
    if not options.kind and data.frame.groupby(x, observed=True)[by].nunique().le(1).all():
        return None
    per, only = data.unit_column(y), None
    if per and len(data):
        words = pd.Series(data.text(per))
        only = str(words.mode()[0])
        data = data.only((words == only).to_numpy())
    if not options.kind and not options.x and not _adds(data, y, len(data.keys)):
        return None
    given, data = data, one_row_per_mark(data, [by, x], [y])
    return _Cells(data, given, x, y, by, only, options).panel() if len(data) else None


def _placed(data: PlotData) -> list[str]:
    """The numbers that do not fit bars but fit cells: positions, and metrics by name."""
    return [n for n in data.numbers if data.unit(n) == RANK or data.unit_column(n)]


def _adds(data: PlotData, y: str, keys: int) -> bool:
    """Whether a number can be shown by two columns of the key without a third."""
    rule = data.rule(y)
    if rule is not None and rule.rule == "sum":
        return keys >= 2
    return keys == 2 and (y in _placed(data) or data.column(y) is None)


class _Cells:
    """A table of numbers, darker for larger values, or for better positions."""

    def __init__(
        self, data: PlotData, given: PlotData, x: str, y: str, by: str, only: str | None,
        options: PlotOptions,
    ) -> None:  # fmt: skip
        self._data, self._given, self._options = data, given, options
        self._x, self._y, self._by, self._only = x, y, by, only
        self._is_time, self._is_rank = data.kinds[x] == "time", data.unit(y) == RANK
        across = data.moments(x) if self._is_time else pd.Series(data.text(x))
        places = pd.DataFrame({"by": data.text(by), "x": across, "row": range(len(data))})
        places = places.dropna(subset="x").pivot(index="by", columns="x", values="row")
        values = np.append(data.values(y), np.nan)
        table = pd.DataFrame(
            values[places.fillna(-1).to_numpy(np.int64)], places.index, places.columns
        )
        ranked = self._ranked(table)
        kept = ranked[: options.top or 15]
        self._left_out, self._columns_left_out = len(table) - len(kept), 0
        columns: list[Any] = list(table.columns)
        if self._is_time:
            columns = list(moments_between(across))
        elif is_category(data, x):
            listed = [str(category) for category in data.frame[x].cat.categories]
            columns.sort(key=lambda c: listed.index(c) if c in listed else len(listed))
        else:
            columns = self._ranked(table.loc[ranked].T)[:_MOST_COLUMNS]
            self._columns_left_out = len(table.columns) - len(columns)
        self._index, self._columns = kept, columns
        self._values = table.reindex(index=kept, columns=columns).to_numpy(np.float64)
        self._rows = places.reindex(index=kept, columns=columns).fillna(-1).to_numpy(np.int64)
        self._called = {name: dict(zip(data.text(name), data.labels(name), strict=True))
                        for name in (x, by)}  # fmt: skip

    def _ranked(self, table: pd.DataFrame) -> list[Any]:
        """Rows by the best mean position, else the largest sum or mean."""
        rule = self._data.rule(self._y)
        # Of counts the whole is compared: a mean is of the listed cells alone.
        adds = rule is not None and rule.rule == "sum"
        means = table.sum(axis=1, min_count=1) if adds else table.mean(axis=1)
        order = means.sort_values(ascending=self._is_rank, kind="stable", na_position="last")
        return list(order.index)

    def _whys(self) -> np.ndarray:
        """Why each cell has no number; empty where it has one."""
        whys = np.full(self._rows.shape, "", object)
        whys[self._rows < 0] = NOT_LISTED
        # At a time that no row has, nothing was measured.
        whys[:, (self._rows < 0).all(axis=0)] = NOT_MEASURED
        lacking = (self._rows >= 0) & np.isnan(self._values)
        whys[lacking] = whys_missing(self._data, self._y, self._rows[lacking].tolist())
        return whys

    def panel(self) -> Panel:
        """The panel of the cells."""
        data, y, whys, values = self._data, self._y, self._whys(), self._values
        unit, (rows, columns) = data.unit(y), values.shape
        is_written = values.size <= _WRITTEN and columns <= 12
        what = humanize(self._only or y)
        label = what if self._only else axis_label(data, y)
        across = data.time_noun(self._x) if self._is_time else self._x.removesuffix("_id")
        title = f"{what} by {humanize(self._by)} and {humanize(across)}"
        reasons = sorted({*whys[whys != ""]}, key=lambda word: (word != NOT_MEASURED, word))
        best, finding = self._finding(unit, whys, reasons)
        notes = []
        if self._columns_left_out:
            of = f"{columns} of {columns + self._columns_left_out}"
            notes.append(f"{of} columns ({humanize(self._x)}) are drawn, those with most.")
        how = "Stronger is better" if self._is_rank else ""
        if is_written and label != what:
            how = f"Numbers: {label}. {how}".strip()
        low, high = self._bounds()
        strength = (values - low) / (high - low)
        strength = 1 - strength if self._is_rank else strength
        return Panel(
            "heatmap", data, Drawn(data.frame, (y,), (self._by, self._x)),
            capitalized(title) + first_of(rows, self._left_out), finding,
            Scale(-0.5, columns - 0.5, "names", unit, names=self._column_names(),
                  days=self._days()),
            rows_of(self._row_names()),
            [self._filled(strength, unit, whys, is_written), *self._missing(whys, reasons)],
            headline=capitalized(best), how=how, notes=notes, height=PITCH * rows,
            legend=[*([] if is_written else self._ramp(low, high, unit)),
                    *((why, style_without(why), _SIGNS.get(why, "boxes")) for why in reasons)],
        )  # fmt: skip

    def _bounds(self) -> tuple[float, float]:
        """The numbers at the ends of the colours."""
        there = self._values[~np.isnan(self._values)]
        least = float(there.min()) if len(there) and (self._is_rank or there.min() < 0) else 0.0
        most = float(there.max()) if len(there) else 1.0
        return least, most if most > least else least + 1

    def _ramp(self, low: float, high: float, unit: str | None) -> Legend:
        """What the colours stand for, from end to end."""
        ends = {0.0: tick(low, unit), 1.0: tick(high, unit)}
        return [
            (ends.get(share, ""), Style(f"ramp/{1 - share if self._is_rank else share}"), "boxes")
            for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]

    def _filled(
        self, strength: np.ndarray, unit: str | None, whys: np.ndarray, is_written: bool
    ) -> Mark:
        flat = self._values.ravel()
        words = numbers(flat, unit) if is_written else [""] * len(flat)

        def tips() -> list[str]:
            ends = whiskers(self._data, self._y, self._given, [self._by, self._x])
            said = []
            for at, row in enumerate(self._rows.ravel().tolist()):
                cell = self._cell(*divmod(at, len(self._columns)))
                low, high = float(ends.low[row]), float(ends.high[row])
                if row >= 0:
                    cell = describe_mark(self._data, self._y, row, cell, low, high)
                said.append(f"{cell}\n{whys.ravel()[at]}" if np.isnan(flat[at]) else cell)
            return said

        rows, columns = np.indices(self._values.shape).reshape(2, -1).astype(float)
        return Mark(
            "cells", columns, rows, strength=strength.ravel(), tips=tips,
            words=["" if np.isnan(n) else w for n, w in zip(flat, words, strict=True)],
            places=[(int(row), None) if row >= 0 else None for row in self._rows.ravel()],
        )  # fmt: skip

    def _missing(self, whys: np.ndarray, reasons: list[str]) -> list[Mark]:
        """The cells without a number: hatched, or with the sign of the reason."""
        marks = []
        for why in reasons:
            y, x = (part.astype(float) for part in np.nonzero(whys == why))
            if why in (NOT_MEASURED, NOT_GIVEN):
                marks.append(Mark("boxes", x - 0.5, y, style_without(why), to=x + 0.5, size=1.0))
            else:
                signs = [_SIGNS[why]] * len(x)
                marks.append(Mark("words", x, y, MUTED, words=signs, shift=(0, 0), align="center"))
        return marks

    def _cell(self, row: int, column: int) -> str:
        name = self._columns[column]
        across = time_words(name) if self._is_time else self._called[self._x].get(name, name)
        return f"{self._called[self._by][str(self._index[row])]}, {across}"

    def _days(self) -> tuple[float, ...]:
        return tuple(days_of(pd.DatetimeIndex(self._columns)).tolist()) if self._is_time else ()

    def _row_names(self) -> list[Name]:
        names = pd.Series(self._data.text(self._by))
        own, rivals = (
            pd.Series(side).groupby(names).all() for side in (self._data.own(), self._data.rivals())
        )
        return [
            Name(self._called[self._by][name],
                 "own" if own[name] else "competitor" if rivals[name] else "")
            for name in map(str, self._index)
        ]  # fmt: skip

    def _column_names(self) -> tuple[Name, ...]:
        if self._is_time:
            days = pd.DatetimeIndex(self._columns)
            form = "%d %b" if (days == days.normalize()).all() else "%d %b %H:%M"
            return tuple(Name(f"{day:{form}}") for day in days)
        own = pd.Series(self._data.own()).groupby(self._data.text(self._x)).all()
        called = self._called[self._x]
        return tuple(Name(called.get(n, n), "own" if own.get(n) else "") for n in self._columns)

    def _finding(self, unit: str | None, whys: np.ndarray, reasons: list[str]) -> tuple[str, str]:
        """The best cell in words, and with it how many have no number, and why."""
        values = self._values
        if np.isnan(values).all():
            return "", "none of it was measured"
        at = np.nanargmin(values) if self._is_rank else np.nanargmax(values)
        row, column = divmod(int(at), values.shape[1])
        best = f"{'best' if self._is_rank else 'most'} at {self._cell(row, column)}: "
        best += number(float(values[row, column]), unit)
        lacking = [f"{int((whys == why).sum())} of {values.size} cells {why}" for why in reasons]
        return best, "; ".join([best, *lacking])


def time_words(moment: pd.Timestamp) -> str:
    """A day, or a minute."""
    is_day = moment == moment.normalize()
    return f"{moment:%Y-%m-%d}" if is_day else f"{moment:%Y-%m-%d %H:%M}"
