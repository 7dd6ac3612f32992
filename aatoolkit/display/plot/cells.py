"""Rows and columns of numbers: heat maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, tick
from aatoolkit.display.plot.data import Numbers, Options, PlotData, days_of, moments_between
from aatoolkit.display.plot.labels import capitalized, first_of, humanize
from aatoolkit.display.plot.measured import (
    DOES_NOT_APPLY,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    one_row_per_mark,
    style_without,
    whiskers,
    whys_missing,
)  # fmt: skip
from aatoolkit.display.plot.rows import describe_mark
from aatoolkit.display.plot.spec import (
    PITCH,
    Drawn,
    Mark,
    Name,
    Panel,
    Place,
    Scale,
    rows_of,
)  # fmt: skip
from aatoolkit.display.plot.style import MUTED, Style
from aatoolkit.sections.aggregation import RANK

_SIGNS = {NOT_LISTED: "·", NOTHING: "–", NOT_MENTIONED: "○", DOES_NOT_APPLY: "×"}
"""The signs of cells without a number that are not hatched."""
_MOST_COLUMNS = 20
_WRITTEN = 90
"""The most cells that are annotated with their number."""


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
    if y is None or x is None or by is None or x == by or y in (x, by):
        return None
    if not options.kind:
        if data.is_bare_key(x) or data.is_bare_key(by):
            return None
        # What each x has only one of tells bars apart; it makes no rows of cells.
        if data.frame.groupby(x, observed=True)[by].nunique().le(1).all():
            return None
        rule = data.rule(y)
        adds = rule is not None and rule.rule == "sum"
        is_whole = len(data.keys) == 2 and (y in placed or data.column(y) is None)
        if not options.x and not (adds and len(data.keys) > 1) and (adds or not is_whole):
            return None
    per, given = data.unit_column(y), data.of_one_metric(y)
    what = humanize(given.text(per)[0] if per and len(given) else y)
    data = one_row_per_mark(given, [by, x], [y])
    return _cells(data, given, x, y, by, what, options) if len(data) else None


@dataclass(frozen=True)
class _Table:
    """Which row each cell is of, or -1, and its number; what rows and columns are called."""

    rows: np.ndarray
    values: Numbers
    index: list[str]
    columns: list[str]
    moments: pd.DatetimeIndex | None
    left_out: int
    columns_left_out: int

    def name(self, at: int) -> str:
        """What a cell is called."""
        row, column = divmod(at, len(self.columns))
        return f"{self.index[row]}, {self.columns[column]}"


def _table(data: PlotData, x: str, y: str, by: str, top: int | None) -> tuple[_Table, Any, Any]:
    """The table of a number by two columns, the largest rows first; and its keys."""
    is_time, rule = data.kinds[x] == "time", data.rule(y)
    across = data.moments(x) if is_time else pd.Series(data.text(x))
    places = pd.DataFrame({"by": data.text(by), "x": across, "row": range(len(data))})
    places = places.dropna(subset="x").pivot(index="by", columns="x", values="row")
    values = np.append(data.values(y), np.nan)[places.fillna(-1).to_numpy(np.int64)]
    table = pd.DataFrame(values, places.index, places.columns)

    def ranked(table: pd.DataFrame) -> list[Any]:
        # Of counts the whole is compared: a mean is of the listed cells alone.
        adds = rule is not None and rule.rule == "sum"
        means = table.sum(axis=1, min_count=1) if adds else table.mean(axis=1)
        up = data.unit(y) == RANK
        return [*means.sort_values(ascending=up, kind="stable", na_position="last").index]

    kept = ranked(table)[: top or 15]
    moments, columns = moments_between(across) if is_time else None, [*table.columns]
    if moments is not None:
        columns = [*moments]
    elif data.is_category(x):
        listed = [str(category) for category in data.frame[x].cat.categories]
        columns.sort(key=lambda c: listed.index(c) if c in listed else len(listed))
    else:
        columns = ranked(table.T)[:_MOST_COLUMNS]
    rows = places.reindex(index=kept, columns=columns).fillna(-1).to_numpy(np.int64)
    called = {name: dict(zip(data.text(name), data.labels(name), strict=True)) for name in (x, by)}
    cells = _Table(
        rows, table.reindex(index=kept, columns=columns).to_numpy(np.float64),
        [called[by][name] for name in kept],
        [time_words(c) if moments is not None else called[x].get(c, c) for c in columns], moments,
        len(table) - len(kept), 0 if is_time else len(table.columns) - len(columns),
    )  # fmt: skip
    return cells, kept, columns


def _cells(
    data: PlotData, given: PlotData, x: str, y: str, by: str, what: str, options: Options
) -> Panel:
    """A table of numbers, darker for larger values, or for better positions."""
    table, kept, across = _table(data, x, y, by, options.top)
    values, unit, (rows, columns) = table.values, data.unit(y), table.values.shape
    is_rank, is_written = unit == RANK, values.size <= _WRITTEN and columns <= 12
    whys = _whys(data, y, table)
    reasons = sorted({*whys[whys != ""]}, key=lambda word: (word != NOT_MEASURED, word))
    there = values[~np.isnan(values)]
    low = float(there.min()) if len(there) and (is_rank or there.min() < 0) else 0.0
    high = float(there.max()) if len(there) and there.max() > low else low + 1
    strength = (values - low) / (high - low)
    strength = 1 - strength if is_rank else strength
    marks = [_filled(data, given, [by, x], y, table, strength, whys, is_written, unit)]
    legend = [(why, style_without(why), _SIGNS.get(why, "boxes")) for why in reasons]
    for why in reasons:
        down, right = (part.astype(float) for part in np.nonzero(whys == why))
        if why in _SIGNS:
            signs = [_SIGNS[why]] * len(down)
            marks.append(Mark("words", right, down, MUTED, words=signs, shift=(0, 0),
                              align="center"))  # fmt: skip
        else:
            marks.append(Mark("boxes", right - 0.5, down, style_without(why), to=right + 0.5,
                              size=1.0))  # fmt: skip
    if not is_written:
        legend = [
            ({0.0: tick(low, unit), 1.0: tick(high, unit)}.get(share, ""),
             Style(f"ramp/{1 - share if is_rank else share}"), "boxes")
            for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ] + legend  # fmt: skip
    left_out = f"{columns} of {columns + table.columns_left_out} columns are drawn, those with most"
    best, finding = "", "none of it was measured"
    if len(there):
        at = int(np.nanargmin(values) if is_rank else np.nanargmax(values))
        best = f"{'best' if is_rank else 'highest'} {what}: {table.name(at)}, "
        best += number(float(values.flat[at]), unit)
        lacking = [f"{int((whys == why).sum())} of {values.size} cells {why}" for why in reasons]
        finding = "; ".join([best, *lacking])
    noun = data.time_noun(x) if table.moments is not None else x.removesuffix("_id")
    title = f"{what} by {humanize(by.removesuffix('_id'))} and {humanize(noun)}"
    return Panel(
        "heatmap", data, Drawn(data.frame, (y,), (by, x)),
        capitalized(title) + first_of(rows, rows + table.left_out), finding,
        Scale(-0.5, columns - 0.5, "names", unit, names=_names(data, x, across, table.columns),
              days=() if table.moments is None else tuple(days_of(table.moments).tolist())),
        rows_of(_names(data, by, kept, table.index)), marks, headline=capitalized(best),
        how="Stronger is better" if is_rank else "", height=PITCH * rows, legend=legend,
        n=left_out if table.columns_left_out else "",
    )  # fmt: skip


def _whys(data: PlotData, y: str, table: _Table) -> np.ndarray:
    """Why each cell has no number; empty where it has one."""
    whys = np.full(table.rows.shape, "", object)
    whys[table.rows < 0] = NOT_LISTED
    # At a time that no row has, nothing was measured.
    whys[:, (table.rows < 0).all(axis=0)] = NOT_MEASURED
    lacking = (table.rows >= 0) & np.isnan(table.values)
    whys[lacking] = whys_missing(data, y, table.rows[lacking].tolist())
    return whys


def _filled(
    data: PlotData, given: PlotData, by: list[str], y: str, table: _Table, strength: np.ndarray,
    whys: np.ndarray, is_written: bool, unit: str | None,
) -> Mark:  # fmt: skip
    flat = table.values.ravel()
    places: list[Place | None] = [(row, None) if row >= 0 else None for row in table.rows.flat]

    def tips() -> list[str]:
        ends = whiskers(data, y, given, by)
        tips = []
        for at, row in enumerate(table.rows.ravel().tolist()):
            tip = table.name(at)
            if row >= 0:
                tip = describe_mark(data, y, row, tip, float(ends.low[row]), float(ends.high[row]))
            tips.append(f"{tip}\n{whys.flat[at]}" if np.isnan(flat[at]) else tip)
        return tips

    words = numbers(flat, unit) if is_written else [""] * len(flat)
    rows, columns = np.indices(table.values.shape).reshape(2, -1).astype(float)
    return Mark(
        "cells", columns, rows, strength=strength.ravel(), tips=tips, places=places,
        words=["" if n != n else word for n, word in zip(flat, words, strict=True)],
    )  # fmt: skip


def _names(data: PlotData, name: str, keys: list[Any], texts: list[str]) -> tuple[Name, ...]:
    """The names of rows or columns, and whose they are."""
    if data.kinds[name] == "time":
        days = pd.DatetimeIndex(keys)
        form = "%d %b" if (days == days.normalize()).all() else "%d %b %H:%M"
        return tuple(Name(f"{day:{form}}") for day in days)
    words = pd.Series(data.text(name))
    own, rivals = (pd.Series(side).groupby(words).all() for side in (data.own(), data.rivals()))
    return tuple(
        Name(text, "own" if own.get(key) else "competitor" if rivals.get(key) else "")
        for key, text in zip(keys, texts, strict=True)
    )


def time_words(moment: pd.Timestamp) -> str:
    """A day, or a minute."""
    is_day = moment == moment.normalize()
    return f"{moment:%Y-%m-%d}" if is_day else f"{moment:%Y-%m-%d %H:%M}"
