"""Pictures over time: lines, with gaps where nothing was measured, and heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers
from aatoolkit._util.text import humanize, some_of
from aatoolkit.display.plot.data import (
    APART,
    FEW,
    NOT_GIVEN,
    NOT_LISTED,
    NOT_MEASURED,
    Numbers,
    Options,
    PlotData,
    days_of,
    filled_times,
    missing_reasons,
    one_row_per_mark,
    whiskers,
)
from aatoolkit.display.plot.rows import (
    interval_words,
    leader_headline,
    missing_style,
    quoted,
    sample_range,
    scale_for,
    tips_of,
)
from aatoolkit.display.plot.spec import PITCH, Mark, Name, Scale, Spec
from aatoolkit.display.plot.style import GREYS, OWN, SERIES, Style, first_of, styles_for
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.interval import Bounds

_MOST_LINES = 4
"""The most lines that are easily distinguished; more series make a heat map."""

PART = "part of the period"
_DAYS = 21
"""A rate is drawn by week if days have fewer answers than this, and there are this many days."""


class _Table(NamedTuple):
    """A pivot table of numbers, with the labels of its rows (``keys``) and columns.

    ``rows`` has for each cell the position of its row in the data, or -1 if there is none.
    ``total`` is the shape before rows and columns were left out.
    """

    rows: np.ndarray
    values: Numbers
    keys: list[Any]
    columns: list[Any]
    total: tuple[int, ...]


def _pivot(
    data: PlotData, x: str, y: str, by: str | None, max_rows: int, max_columns: int
) -> _Table:
    """Return a pivot table of ``y`` with the values of ``by`` as rows and of ``x`` as columns.

    The best rows and columns come first; times stay in order.
    """
    is_time, is_rank = data.kinds[x] == "time", data.unit(y) == RANK
    x_values = data.moments(x) if is_time else pd.Series(data.texts(x))
    labels = data.row_labels(by, x, texts=data.texts(by)) if by else ""
    positions = pd.DataFrame({"by": labels, "x": x_values, "row": range(len(data))})
    positions = positions.dropna(subset="x").drop_duplicates(["by", "x"])
    table = positions.pivot(index="by", columns="x", values="row")
    y_values = np.append(data.values(y), np.nan)

    def ranked(rows: pd.DataFrame) -> list[Any]:
        # Counts are compared by sums, because a mean leaves out cells without a row.
        values = pd.DataFrame(y_values[rows.fillna(-1).to_numpy(np.int64)], rows.index)
        scores = values.sum(axis=1, min_count=1) if data.is_additive(y) else values.mean(axis=1)
        return [*scores.sort_values(ascending=is_rank, kind="stable", na_position="last").index]

    keys, columns = ranked(table)[:max_rows], [*table.columns]
    if by and data.varying_context(by, x):  # rows of one host or window stand together
        keys.sort(key=lambda key: key.partition(" · ")[0])
    if is_time:
        columns = [*filled_times(x_values)]
    elif data.is_category(x):
        levels = [*map(str, data.frame[x].cat.categories)]
        columns.sort(key=lambda c: levels.index(c) if c in levels else len(levels))
    else:
        columns = ranked(table.loc[keys].T)[:max_columns]
    rows = table.reindex(index=keys, columns=columns).fillna(-1).to_numpy(np.int64)
    return _Table(rows, y_values[rows], keys, columns, table.shape)


def _key_names(
    data: PlotData, name: str | None, keys: Sequence[Any], *excluded: str | None
) -> list[Name]:
    """Return a `Name` for each of ``keys``, which are values of the column ``name``."""
    if name is None or data.kinds[name] == "time":  # times have ticks instead of names
        return [Name("")] * len(keys)
    keys_of_rows = data.row_labels(name, *excluded, texts=data.texts(name))
    labels = dict(zip(keys_of_rows, data.row_labels(name, *excluded), strict=True))
    own_keys = pd.Series(data.is_own(name)).groupby(keys_of_rows).all()
    return [Name(labels.get(key, key), bool(own_keys.get(key))) for key in keys]


def _time_text(moment: pd.Timestamp) -> str:
    return str(moment).removesuffix(" 00:00:00")[:16]


def _time_label(data: PlotData, x: str, moments: Sequence[pd.Timestamp]) -> str:
    """Return the label of a time axis: years, such as ``2025–2026``, and what its days are."""
    note = f", {data.time_noun(x)}s by their last day" * data.is_by_last_day
    if moments[-1] - moments[0] > pd.Timedelta(days=300):
        return note[2:].capitalize()  # the ticks show the years
    pattern = "%Y" if all(moment == moment.normalize() for moment in moments) else "%d %b %Y"
    years = dict.fromkeys(f"{moment:{pattern}}" for moment in (moments[0], moments[-1]))
    return "–".join(years) + note


# --- lines ------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A series of numbers over time, with its style.

    ``rows`` has for each time the position of its row in the data, or -1 if there is no such row.
    """

    name: Name
    column: str
    rows: np.ndarray
    values: Numbers
    ends: Bounds
    style: Style = OWN


def lines(data: PlotData, options: Options) -> Spec | None:
    """Return a line chart of the most informative numeric column; None if the data do not fit."""
    x = options.x or next(iter(data.time_keys), None)
    is_chosen = options.kind or options.color
    if x is None or data.kinds[x] != "time" or not (is_chosen or options.x or data.varies(x)):
        return None
    other_keys = [name for name in data.keys if name not in (*data.time_keys, x)]
    by = options.color or (other_keys[0] if len(other_keys) == 1 and not options.x else None)
    columns = options.y or [*data.measures, *data.numbers][:1]
    if not columns or (by and len(columns) > 1) or len({data.unit(name) for name in columns}) > 1:
        return None
    ungrouped, mark_columns, y = data, [x, *filter(None, [by])], columns[0]
    limit = len(SERIES) if is_chosen else _MOST_LINES
    max_lines = min(options.top or limit, limit)
    if data.varying_context(by):
        return None  # hosts and windows are never added up
    # Rows with the same time are aggregated; never is one of them drawn for all.
    freq = "W" * (not options.x and _is_noisy(data, x, y, mark_columns))
    # Of many days not even three lines can be told apart.
    max_names = 2 if data.frame[x].nunique() > _DAYS else max_lines
    is_many = by and data.frame[by].nunique() > max_names
    if is_many and not (is_chosen or freq):
        return heatmap(data, replace(options, kind="heatmap", y=columns[:1]))
    data = one_row_per_mark(data, mark_columns, columns, freq)
    if data.frame[x].isna().all():
        return None
    tables = [_pivot(data, x, name, by, len(data), 0) for name in columns[: len(SERIES)]]
    intervals = [whiskers(data, name, ungrouped, mark_columns) for name in columns]
    series = [
        _Line(name if by else Name(humanize(column)), column, rows, values, bounds)
        for column, table, bounds in zip(columns, tables, intervals, strict=False)
        for name, rows, values in zip(
            _key_names(data, by, table.keys, x), table.rows, table.values, strict=True
        )
    ]
    # A series that was never measured has no line: the caption names it.
    is_missing = np.array([*missing_reasons(data, y), NOT_MEASURED]) == NOT_MEASURED
    unmeasured = [line.name.text for line in series if by and is_missing[line.rows].all()]
    total = len(series) - len(unmeasured) if by else len(columns)
    x_days = days_of(tables[0].columns)
    if data.is_by_last_day and data.window[1]:  # the last week ends with the window
        x_days = np.minimum(x_days, days_of([data.window[1]]))
    series = sorted(series, key=lambda line: not line.name.is_own)[:max_lines]
    styles = styles_for((line.name.text for line in series), engines=data.has_engines(by))
    if series and series[0].name.is_own:  # beside an own brand, the others are grey
        styles = dict(zip(styles, GREYS, strict=False))
    series = [
        line._replace(style=OWN if line.name.is_own else styles[line.name.text]) for line in series
    ]
    unit, noun, moments = data.unit(y), humanize(data.time_noun(x)), tables[0].columns
    step = float(min(np.diff(x_days), default=1.0))
    gaps = np.isnan([line.values for line in series]).all(axis=0)
    marks, parts, legend, drawn = [], [], [], [np.empty(0)]
    if gaps.any():
        reason = NOT_MEASURED if data.is_known else NOT_GIVEN
        marks.append(Mark("boxes", x_days[gaps] - step / 2, 0 * x_days[gaps], missing_style(reason),
                          to=x_days[gaps] + step / 2, size=np.inf))  # fmt: skip
        legend.append((reason, missing_style(reason), "boxes"))
    measured = [line for line in series if not np.isnan(line.values).all()]
    # Only the first line has a band: that of the own brand.
    banded = next((line for line in measured[:1] if line.ends.method), None)
    for line in series:
        drawn.append(line.values)
        if line is banded:
            ends = line.ends.low, line.ends.high
            low, high = (np.append(end, np.nan)[line.rows] for end in ends)
            drawn += low, high
            marks.append(Mark("band", x_days, low, line.style, to=high))
        names = [Name(f"{line.name.text}, {_time_text(moment)}".removeprefix(", "))
                 for moment in moments]  # fmt: skip
        tips = tips_of(data, line.column, names, line.ends, line.rows)
        size = 1.0 if len(x_days) > 150 else 2.4 if line.name.is_own else 1.8
        marks.append(Mark("line", x_days, line.values, line.style, size=size, tips=tips))
        parts += _part_marks(data, line.column, x, line.rows, x_days, line.values, line.style)
    title = data.title(", ".join(map(data.measure, columns)), noun, by)
    scale = scale_for(np.concatenate(drawn), unit, 1.08, is_whole=all(map(data.is_count, columns)),
                      label=data.axis_label(y) * (len(columns) == 1))  # fmt: skip
    if unit == RANK:
        scale = replace(scale, low=scale.high / 1.08 + 0.5, high=0.5)
    # Only series with a number at the last time, the best first.
    last = [line for line in measured if not np.isnan(line.values[-1])]
    last.sort(key=lambda line: line.values[-1], reverse=unit != RANK)
    last_text = some_of([f"{line.name.text} {number(line.values[-1], unit)}" for line in last])
    is_last_cut = any(x_days[-1] in mark.x for mark in parts)
    subject = f" of {banded.name.text}" if banded and series[1:] else ""
    missing_note = f"{some_of(unmeasured)}: {NOT_MEASURED} · " if unmeasured else ""
    return Spec(
        "line", data, columns, title,
        Scale(float(x_days[0]) - step / 2, float(x_days[-1]) + step / 2, "time",
              label=_time_label(data, x, moments), days=x_days.tolist()), scale,
        [*marks, *parts],
        headline=f"Last {noun}{', in part' * is_last_cut}: {last_text}" if last_text else "",
        extent=first_of(len(series), total),
        n=f"{missing_note}{sample_range(data, y)}".strip(" ·"),
        how=f"Band{subject}: {interval_words(banded.ends)}" if banded else "",
        legend=[*((PART, mark.style, "dots") for mark in parts[:1]), *legend],
        height=175.0, by=mark_columns, bounds=intervals[0].result,
        labels=[(float(line.values[~np.isnan(line.values)][-1]),
                 f"{line.name.full} {sample_range(data, y, line.rows)}".rstrip(),
                 line.style) for line in measured if series[1:]],
    )  # fmt: skip


def _is_noisy(data: PlotData, x: str, y: str, mark_columns: list[str]) -> bool:
    """Return whether a rate has so few answers per day that it should be drawn by week."""
    if not data.is_rate(y) or data.time_noun(x) != "day":
        return False
    sizes = data.values(data.rule_columns(y)[-1])
    # One day in ten is enough to make a zigzag of a line.
    is_small = bool(pd.Series(sizes[sizes > 0]).quantile(0.1) < FEW)
    is_long = len(filled_times(data.moments(x))) >= _DAYS
    return is_small and is_long and not data.frame.duplicated(mark_columns).any()


def _part_marks(
    data: PlotData, name: str, x: str, rows: np.ndarray, at: Numbers, y: Numbers, style: Style
) -> list[Mark]:
    """Return hollow dots for numbers that cover only some days of a period, such as a week."""
    mask = np.append(data.is_part(name, x), False)[rows]
    dots = Mark("dots", at[mask], y[mask], replace(style, look="hollow"), size=4.5)
    return [dots] * bool(mask.any())


# --- heat maps --------------------------------------------------------------------------------

_MOST_COLUMNS, _WRITTEN = 12, 200
"""The maximum number of columns other than times, and of cells with a number written in them."""


def heatmap(data: PlotData, options: Options) -> Spec | None:
    """Return a heat map of the most informative numeric column by two others; None if none fit."""
    if options.x and not options.color and not options.kind:
        return None
    # Named metrics and positions fit cells, but not bars.
    ranks_and_metrics = [n for n in data.numbers if data.unit(n) == RANK or data.unit_column(n)]
    with_unit_column = [*filter(data.unit_column, ranks_and_metrics)]
    y = next(iter(options.y or [*with_unit_column, *data.measures, *ranks_and_metrics]), None)
    times = data.time_keys[:1]
    word_keys = [name for name in data.keys if data.kinds[name] != "time"]
    keys = [*word_keys[-(2 - len(times)) :], *times]
    x = options.x or next((name for name in reversed(keys) if name != options.color), None)
    by = options.color or next((name for name in keys if name != x), None)
    if x and by and not (times or options.is_chosen):
        # Long names have more room as names of rows.
        across, down = (max(map(len, data.labels(name)), default=0) for name in (x, by))
        if by in APART or (across > max(down, 18) and not data.varying_context()):
            x, by = by, x
    if x is None or y is None or len({x, by, y}) < 3 or data.kinds.get(by or "") == "time":
        return None
    if not options.kind:
        if by is None:
            return None
        is_pair = len(data.keys) == 2 + len(data.varying_context(x, by))
        # Numbers that cannot be aggregated to one per bar have a cell each.
        is_complete = is_pair and (y in ranks_and_metrics or data.rule(y).rule == "none")
        fits = options.x or (data.keys[1:] if data.is_additive(y) else is_complete)
        # Rows with the same name cannot be told apart.
        is_nameless = any(data.is_bare_key(n) or len({*data.labels(n)}) < len({*data.texts(n)})
                          for n in (x, by))  # fmt: skip
        if is_nameless or not data.varies(x) or not fits:
            return None
    if data.is_mixed(y):
        return None
    ungrouped, mark_columns = data, [*data.varying_context(x, by), *filter(None, [by]), x]
    data = one_row_per_mark(ungrouped, mark_columns, [y])
    table = _pivot(data, x, y, by, options.max_rows(24 if mark_columns[2:] else 15),
                   options.max_rows(_MOST_COLUMNS))  # fmt: skip
    if not (options.kind or times) and ((table.rows >= 0).sum(axis=1) < 2).all():
        return None  # bars say the same
    return _heatmap(data, table, x, y, by, whiskers(data, y, ungrouped, mark_columns))


def _heatmap(data: PlotData, table: _Table, x: str, y: str, by: str | None, ends: Bounds) -> Spec:
    """Return the `Spec` (chart description) of a heat map.

    Its cells are darker for larger numbers or better ranks.
    """
    unit, is_time, rows, values = data.unit(y), data.kinds[x] == "time", table.rows, table.values
    columns, is_rank, what = table.columns, unit == RANK, data.measure(y)
    if data.unit_column(y) == "metric" and not data.varies("metric"):
        what = data.labels("metric")[0]
    # At a time without any row, nothing was measured.
    absent = np.where((rows < 0).all(axis=0) & is_time, NOT_MEASURED, NOT_LISTED)
    reasons = np.where(rows < 0, absent, np.array([*missing_reasons(data, y), ""], object)[rows])
    has_numbers = values.size <= _WRITTEN and len(columns) <= 12
    shows_number = has_numbers & np.isfinite(values).ravel()
    words = np.where(shows_number, numbers(values.flat, unit), "").tolist()
    # The colours are those of rates that can be compared; a few others have their number only.
    is_few = np.append(data.has_few(y), False)[rows]
    if 2 * is_few.sum() < np.isfinite(values).sum():
        reasons[is_few] = f"n below {FEW}"
        values = np.where(is_few, np.nan, values)
    finite = values[~np.isnan(values)]
    low = float(min(finite, default=0.0) if is_rank else finite.min(initial=0.0))
    high = float(finite.max(initial=low + 1e-9))
    strength = (values - low) / (high - low)
    strength = np.nan_to_num(1 - strength if is_rank else strength).ravel()
    names_x, names_y = _key_names(data, x, columns, *APART), _key_names(data, by, table.keys, x)
    headings = [_time_text(column) if is_time
                else f"{humanize(x)} {name.text}" if name.text[:1].isdigit() else name.text
                for column, name in zip(columns, names_x, strict=True)]  # fmt: skip
    cell_names = [f"{row.text}, {head}".removeprefix(", ") for row in names_y for head in headings]
    tip_labels = [Name(name if row >= 0 else f"{name}\n{reason}") for name, reason, row in
                  zip(cell_names, reasons.flat, rows.flat, strict=True)]  # fmt: skip
    cell_y, cell_x = np.indices(values.shape).reshape(2, -1).astype(float)
    legend = [(reason, missing_style(reason), "boxes")
              for reason in sorted({*reasons[reasons != ""]}, key=NOT_MEASURED.__ne__)]  # fmt: skip
    tips, marks = np.array(tips_of(data, y, tip_labels, ends, rows.flat), object), []
    for reason, style, _ in (("", OWN, ""), *legend):
        mask = reasons.ravel() == reason
        marks.append(Mark(
            "boxes", cell_x[mask] - 0.5, cell_y[mask], style, to=cell_x[mask] + 0.5, size=1.0,
            tips=[*tips[mask]], strength=None if reason else strength[mask],
        ))  # fmt: skip
    marks.append(Mark("words", cell_x, cell_y, words=words, strength=strength, shift=0.0))
    if is_time:
        marks += _part_marks(data, y, x, rows.ravel(), cell_x - 0.4, cell_y, GREYS[0])
        legend += [(PART, mark.style, "dots") for mark in marks if mark.kind == "dots"]
    if not has_numbers:
        legend = [(f"{what} {number(n, unit)}", Style(f"ramp/{float(share)}"), "boxes")
                  for n, share in ((low, is_rank), (high, not is_rank))] + legend  # fmt: skip
    best_two = np.argsort(-strength, kind="stable")[:2]
    best = values.flat[best_two]
    best_names = [
        Name(f"{quoted(names_y[row].text)} with {quoted(headings[column])}")
        for row, column in np.transpose(divmod(best_two, len(columns)))
    ]
    # The best of many days is mostly chance.
    headline = leader_headline(best_names, best, unit, what) * (not is_time)
    headline *= data.stands_out(y, data.values(y) == best[0], ends)
    return Spec(
        "heatmap", data, (y,),
        data.title(what, by, data.row_noun(x)),
        Scale(-0.5, len(columns) - 0.5, "names", names=names_x,
              label=_time_label(data, x, columns) if is_time else "",
              days=days_of(columns).tolist() if is_time else ()),
        Scale(len(names_y) - 0.5, -0.5, "names", names=names_y), marks,
        headline=headline, how="Stronger is better" * is_rank,
        height=PITCH * len(names_y), legend=legend,
        by=[*filter(None, [by]), x, *data.varying_context(x, by)],
        extent=", ".join([first_of(len(names_y), table.total[0]),
                          first_of(len(columns), table.total[1], " columns")]).strip(", "),
    )  # fmt: skip
