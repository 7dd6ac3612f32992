"""Rows and columns: heat maps, states in words, and a few rows of text as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import count, number, numbers
from aatoolkit.availability import Availability, Status
from aatoolkit.display.plot.data import CONTEXT, PlotData
from aatoolkit.display.plot.drawn import Drawn, drawn_of
from aatoolkit.display.plot.labels import (
    axis_label,
    capitalized,
    first_of,
    humanize,
    joined_reasons,
    table_words,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    DOES_NOT_APPLY,
    INFINITE,
    NOT_GIVEN,
    NOT_LISTED,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    style_without,
    why_missing,
    whys_missing,
)
from aatoolkit.display.plot.reduce import one_row_per_mark
from aatoolkit.display.plot.rows import describe_mark, key, names_of
from aatoolkit.display.plot.spec import (
    PITCH,
    Mark,
    Name,
    Panel,
    RowMarks,
    Scale,
    WordColumn,
    rows_of,
    some,
)
from aatoolkit.display.plot.style import (
    BLANK,
    EVEN,
    NO_NUMBER,
    NO_VALUE,
    OWN,
    REST,
    UNMEASURED,
    Style,
    styles_for,
)
from aatoolkit.display.plot.whiskers import whiskers
from aatoolkit.sections.aggregation import RANK

_SIGNS = {NOT_LISTED: ".", NOTHING: "_", NOT_MENTIONED: "o", DOES_NOT_APPLY: "x", INFINITE: "^"}
"""The signs of cells without a number that are not hatched."""
_MOST_COLUMNS = 20
_WRITTEN = 90
"""The most cells that are annotated with their number."""
_STATE_ROWS, _STATE_COLUMNS = 15, 4
_TEXT_ROWS, _TEXT_COLUMNS, _LONGEST = 8, 3, 160


def heatmap(data: PlotData, options: PlotOptions) -> Panel | None:
    """Cells of the most informative number, by the last two columns of the key."""
    if options.x and not options.by and not options.kind:
        return None
    y = next(iter(options.y or [*data.measures, *_placed(data)]), None)
    times = data.times[:1]
    named = [name for name in data.keys if data.kinds[name] in ("word", "flag")]
    keys = [*named[-(2 - len(times)) :], *times]
    x = options.x or next((name for name in reversed(keys) if name != options.by), None)
    by = options.by or next((name for name in keys if name != x), None)
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
    rows, data = data, one_row_per_mark(data, [by, x], [y])
    if not len(data):
        return None
    return _Cells(data, rows, x, y, by, only, options).panel()


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
        self, data: PlotData, rows: PlotData, x: str, y: str, by: str, only: str | None,
        options: PlotOptions,
    ) -> None:  # fmt: skip
        self._data, self._rows, self._options = data, rows, options
        self._x, self._y, self._by, self._only = x, y, by, only
        self._is_time = data.kinds[x] == "time"
        self._across = data.moments(x) if self._is_time else pd.Series(data.text(x))
        places = pd.DataFrame({"by": data.text(by), "x": self._across, "row": range(len(data))})
        self._places = places.dropna(subset="x").pivot(index="by", columns="x", values="row")
        self._order()

    def _order(self) -> None:
        """Order rows by the best mean position, else the largest sum or mean; columns too."""
        data, places = self._data, self._places
        values = np.append(data.values(self._y), np.nan)
        table = pd.DataFrame(
            values[places.fillna(-1).to_numpy(np.int64)], places.index, places.columns
        )
        rule = data.rule(self._y)
        # Of counts the whole is compared: a mean is of the listed cells alone.
        adds = rule is not None and rule.rule == "sum"
        self._is_rank = data.unit(self._y) == RANK
        kept = self._ranked(table, adds)[: self._options.top or 15]
        self.left_out, self.columns_left_out = len(table) - len(kept), 0
        columns: Any = list(table.columns)
        if self._is_time:
            from aatoolkit.display.plot.times import moments_between

            columns = moments_between(self._across)
        elif isinstance(data.frame[self._x].dtype, pd.CategoricalDtype):
            listed = [str(c) for c in data.frame[self._x].cat.categories]
            columns.sort(key=lambda c: listed.index(c) if c in listed else 99)
        else:
            columns = self._ranked(table.loc[self._ranked(table, adds)].T, adds)[:_MOST_COLUMNS]
            self.columns_left_out = len(table.columns) - len(columns)
        self.cells = table.reindex(index=kept, columns=columns)
        self.rows = places.reindex(index=kept, columns=columns).fillna(-1).to_numpy(np.int64)

    def _ranked(self, table: pd.DataFrame, adds: bool) -> list[Any]:
        means = table.sum(axis=1, min_count=1) if adds else table.mean(axis=1)
        order = means.sort_values(ascending=self._is_rank, kind="stable", na_position="last")
        return list(order.index)

    def _whys(self) -> np.ndarray:
        """Why each cell has no number; empty where it has one."""
        whys = np.full(self.rows.shape, "", object)
        whys[self.rows < 0] = NOT_LISTED
        # At a time that no row has, nothing was measured.
        whys[:, (self.rows < 0).all(axis=0)] = NOT_MEASURED
        lacking = np.argwhere((self.rows >= 0) & np.isnan(self.cells.to_numpy(np.float64)))
        found = whys_missing(self._data, self._y, [int(self.rows[r, c]) for r, c in lacking])
        for (row, column), why in zip(lacking, found, strict=True):
            whys[row, column] = why
        return whys

    def panel(self) -> Panel:
        """The panel of the cells."""
        data, y, whys = self._data, self._y, self._whys()
        unit, values = data.unit(y), self.cells.to_numpy(np.float64)
        is_written = values.size <= _WRITTEN and values.shape[1] <= 12
        label = axis_label(data, y)
        if self._only:
            label = humanize(self._only) + (" (lower is better)" if self._is_rank else "")
        what = humanize(self._only or y)
        across = data.time_noun(self._x) if self._is_time else self._x
        title = f"{what} by {humanize(self._by)} and {humanize(across)}"
        reasons = sorted({*whys[whys != ""]}, key=lambda word: (word != NOT_MEASURED, word))
        missing = [self._missing(word, np.argwhere(whys == word)) for word in reasons]
        notes = []
        better = "Stronger is better." if self._is_rank else ""
        if is_written and label != what:
            notes = [f"Numbers: {label}. {better}".strip()]
        elif better:
            notes = [better]
        if self.columns_left_out:
            shown = values.shape[1]
            of = f"{shown} of {shown + self.columns_left_out}"
            notes.append(f"{of} columns ({humanize(self._x)}) are drawn, those with most.")
        return Panel(
            "heatmap",
            data,
            Drawn(data.frame, (y,), (self._by, self._x)),
            capitalized(title) + first_of(len(self.cells), self.left_out),
            self._finding(values, unit, whys, reasons),
            Scale(
                -0.5,
                values.shape[1] - 0.5,
                "names",
                unit,
                names=self._column_names(),
                days=self._days(),
            ),
            rows_of(self._row_names()),
            [self._filled(values, unit, is_written), *missing],
            notes,
            [
                (word, key(mark.style, mark.kind))
                for word, mark in zip(reasons, missing, strict=True)
            ],
            height=PITCH * len(self.cells),
            ramp="" if is_written else label,
            colour=next(iter(self._options.colours), None),
        )

    def _filled(self, values: np.ndarray, unit: str | None, is_written: bool) -> Mark:
        there = values[~np.isnan(values)]
        least = float(there.min()) if len(there) and (self._is_rank or there.min() < 0) else 0.0
        most = float(there.max()) if len(there) else 1.0
        rows, columns = np.indices(values.shape)
        flat = values.ravel()
        words = numbers(flat, unit) if is_written else [""] * len(flat)
        return Mark(
            "cells",
            columns.ravel().astype(float),
            rows.ravel().astype(float),
            values=flat,
            words=["" if np.isnan(n) else w for n, w in zip(flat, words, strict=True)],
            bounds=(least, most if most > least else least + 1),
            tips=self._tips,
            places=[(int(row), None) if row >= 0 else None for row in self.rows.ravel()],
        )

    def _missing(self, why: str, places: np.ndarray) -> Mark:
        """The cells without a number for one reason."""
        tips = [f"{self._cell(row, column)}\n{why}" for row, column in places]
        x, y = places[:, 1].astype(float), places[:, 0].astype(float)
        if why in (NOT_MEASURED, NOT_GIVEN):
            style = style_without(why)
            return Mark("boxes", x - 0.5, y, style, to=x + 0.5, size=1.0, tips=tips.copy)
        look = "ring" if _SIGNS[why] == "o" else "solid"
        size = 4 if len(self.cells.columns) <= 40 else 1.5
        style = Style("muted", _SIGNS[why], look=look)
        return Mark("dots", x, y, style, size=size, tips=tips.copy)

    def _tips(self) -> list[str]:
        """The words of each cell, row by row."""
        ends = whiskers(self._data, self._y, self._rows, [self._by, self._x])
        return [
            describe_mark(
                self._data, self._y, row, self._cell(*divmod(at, self.rows.shape[1])),
                (float(ends.low[row]), float(ends.high[row])),
            )
            if row >= 0
            else ""
            for at, row in enumerate(self.rows.ravel().tolist())
        ]  # fmt: skip

    def _cell(self, row: int, column: int) -> str:
        column_name = self._called(self._x).get(self.cells.columns[column])
        called = self._called(self._by)[str(self.cells.index[row])]
        return f"{called}, {column_name or _name(self.cells.columns[column])}"

    def _days(self) -> tuple[float, ...]:
        if not self._is_time:
            return ()
        columns = pd.DatetimeIndex(self.cells.columns)
        return tuple(((columns - pd.Timestamp(0)) / pd.Timedelta("1D")).tolist())

    def _row_names(self) -> list[Name]:
        data, by = self._data, pd.Series(self._data.text(self._by))
        own, rivals = (
            {*all_of.index[all_of]}
            for side in (data.own(), data.rivals())
            for all_of in [pd.Series(side).groupby(by).all()]
        )
        called = self._called(self._by)
        return [
            Name(called[name], "own" if name in own else "competitor" if name in rivals else "")
            for name in map(str, self.cells.index)
        ]

    def _column_names(self) -> tuple[Name, ...]:
        columns = list(self.cells.columns)
        if self._is_time:
            days = pd.DatetimeIndex(columns)
            form = "%d %b" if (days == days.normalize()).all() else "%d %b %H:%M"
            return tuple(Name(f"{day:{form}}") for day in days)
        own = pd.Series(self._data.own()).groupby(self._data.text(self._x)).all()
        called = self._called(self._x)
        return tuple(Name(called.get(n, n), "own" if own.get(n) else "") for n in columns)

    def _called(self, name: str) -> dict[str, str]:
        """What the values of a column are called."""
        return dict(zip(self._data.text(name), self._data.labels(name), strict=True))

    def _finding(
        self, values: np.ndarray, unit: str | None, whys: np.ndarray, reasons: Sequence[str]
    ) -> str:
        if np.isnan(values).all():
            return "none of it was measured"
        best = np.nanargmin(values) if self._is_rank else np.nanargmax(values)
        row, column = divmod(int(best), values.shape[1])
        text = f"{'best' if self._is_rank else 'most'} at {self._cell(row, column)}: "
        text += number(float(values[row, column]), unit)
        for word in reasons:
            text += f"; {int((whys == word).sum())} of {values.size} cells {word}"
        return text


def _name(value: object) -> str:
    """The name of a column of cells: a day, a minute, or its name."""
    if isinstance(value, pd.Timestamp):
        is_day = value == value.normalize()
        return f"{value:%Y-%m-%d}" if is_day else f"{value:%Y-%m-%d %H:%M}"
    return str(value)


def verdicts(data: PlotData, options: PlotOptions) -> Panel | None:
    """The states of a few rows with one key and no number to compare."""
    x = options.x or data.label_column
    if x is None or options.by or options.y or not len(data):
        return None
    is_large = len(data) > _STATE_ROWS or len(data.metadata.key) != 1 or data.measures
    if (not options.kind and is_large) or data.frame.duplicated([x]).any():
        return None
    states = [
        name
        for name in data.kinds
        if name not in (x, *data.keys)
        and (data.kinds[name] == "flag" or isinstance(data.frame[name].dtype, pd.CategoricalDtype))
    ]
    if len(data) == 1 and states:
        states += [n for n in data.of_kind("time") if n not in (*data.keys, *CONTEXT)]
    if not states:
        return None
    rows = data.sorted_by([*range(min(options.top or _STATE_ROWS, len(data)))])
    states, labels = states[:_STATE_COLUMNS], rows.text(x)
    marks: list[Mark] = []
    words = {name: _states(rows, name) for name in states}
    for column, name in enumerate(states):
        said, styles = zip(*words[name], strict=True)
        of = RowMarks(
            lambda row, name=name, said=said: f"{labels[row]}\n{humanize(name)}: {said[row]}",  # type: ignore[misc]
            name,
        )
        for style in dict.fromkeys(styles):
            mask = np.array([each == style for each in styles], bool)
            is_none = style in (UNMEASURED, NO_VALUE, NO_NUMBER)
            at = np.full(len(rows), column + (0.0 if is_none else 0.03))
            marks.append(
                of.boxes(mask, column + 0.05, style, column, 0.5)
                if is_none
                else of.dots(at, style, 9, mask)
            )
        marks.append(of.words(np.ones(len(rows), bool), column + 0.05, said, 6))
    few = len(states) < 3 or not table_words(rows)
    titled = ", ".join(map(humanize, states)) if few else table_words(rows)
    texts = [
        f"{label}: " + ", ".join(f"{humanize(name)} {words[name][row][0]}" for name in states)
        for row, label in enumerate(labels)
    ]
    more = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
    heads = [Name(capitalized(humanize(name))) for name in states]
    return Panel(
        "verdicts",
        rows,
        drawn_of(rows, states),
        capitalized(f"{titled} by {humanize(rows.row_noun(x))}"),
        "; ".join(texts[:8]) + more,
        Scale(-0.02, len(states), "names", names=tuple(heads), is_above=True),
        rows_of(names_of(rows, labels)),
        marks,
        height=PITCH * len(rows),
        is_wide=True,
    )


def _states(rows: PlotData, name: str) -> list[tuple[str, Style]]:
    """The word of each cell, and its style by what it means."""
    lacking = rows.frame[name].isna().to_numpy(bool)
    if rows.kinds[name] == "flag":
        values = rows.frame[name].fillna(False).to_numpy(bool)
        words = [("yes", OWN) if value else ("no", REST) for value in values]
    elif rows.kinds[name] == "time":
        words = [(text, EVEN) for text in rows.text(name)]
    else:
        levels = rows.text(name)
        styles = styles_for(levels, states=True)
        words = [(humanize(level), styles[level]) for level in levels]
    for row in np.flatnonzero(lacking):
        why = why_missing(rows, name, int(row))
        words[row] = why, style_without(why)
    return words


def empty(data: PlotData) -> Panel:
    """A few rows of text as they are, or why there are none; hatched where nothing was measured."""
    title = capitalized(table_words(data)) or "A frame"
    if len(data):
        return _texts(data, title)
    states = [name for name in data.metadata.columns if name not in data.keys]
    state = data.state(states or data.metadata.columns)
    state = replace(state, reason=joined_reasons([state.reason or ""]) or None)
    styles = {Status.AVAILABLE: NO_NUMBER, Status.UNKNOWN: NO_VALUE}
    finding = _why_empty(state)
    return Panel(
        "empty", data, drawn_of(data, ()), title, finding, Scale(kind="none"), Scale(kind="none"),
        notice(finding, styles.get(state.status, UNMEASURED)), height=90.0, is_wide=True,
    )  # fmt: skip


def notice(words: str, style: Style) -> list[Mark]:
    """Words in the middle of a panel without marks."""
    none, middle = some(np.inf), some(0.5)
    return [
        Mark("boxes", -none, middle, style, to=none, size=np.inf),
        Mark("words", middle, middle, words=[words], align="center", shift=(0, 0), has_paper=True),
    ]


def _why_empty(state: Availability) -> str:
    words = {
        Status.AVAILABLE: "Measured, with no rows.",
        Status.UNKNOWN: "No rows; the reason is not known.",
        Status.PARTIAL: f"No rows. What was read was measured in part: {state.reason}",
    }
    return words.get(state.status) or f"Not measured. {capitalized(str(state))}"


def _texts(data: PlotData, title: str) -> Panel:
    """The first rows of what is no number to compare, under the names of the columns."""
    rows = data.sorted_by([*range(min(len(data), _TEXT_ROWS))])
    shown = [name for name in data.kinds if name not in (*CONTEXT, "host")]
    # Text first, and identifiers last.
    shown.sort(key=lambda name: (name.endswith("_id"), not _is_text(data, name)))
    shown = shown[:_TEXT_COLUMNS]
    of = count(len(data), "row") + f" and {count(data.frame.shape[1], 'column')}"
    return Panel(
        "table",
        rows,
        drawn_of(rows, shown),
        title + first_of(len(rows), len(data) - len(rows)),
        f"a table of {of}, with nothing to compare",
        Scale(kind="none"),
        rows_of([Name("")] * len(rows)),
        (),
        columns=[WordColumn(_cell_texts(rows, n), capitalized(humanize(n))) for n in shown],
        height=PITCH * len(rows),
        is_wide=True,
    )


def _is_text(data: PlotData, name: str) -> bool:
    return data.kinds[name] in ("word", "list")


def _cell_texts(data: PlotData, name: str) -> list[str]:
    """The cells of a column as short texts."""
    if data.kinds[name] == "number":
        values, units = data.values(name), data.units(name)
        return [number(float(n), unit) for n, unit in zip(values, units, strict=True)]
    if data.kinds[name] != "list":
        return [text[:_LONGEST] for text in data.labels(name)]
    return [
        ", ".join(map(str, value))[:_LONGEST]
        if isinstance(value, list | tuple | np.ndarray)
        else BLANK
        for value in data.frame[name]
    ]
