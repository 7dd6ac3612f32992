"""Pictures over time: lines, with gaps where nothing was measured, and heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers
from aatoolkit._util.text import humanize, join_some
from aatoolkit.display.plot.data import (
    HOST_AND_DAYS_COLUMNS,
    MIN_SAMPLE_SIZE,
    NO_VALUE_GIVEN,
    NOT_LISTED,
    NOT_MEASURED,
    Mask,
    Numbers,
    PlotData,
    PlotOptions,
    aggregate_by_mark,
    compute_intervals,
    fill_time_gaps,
    find_missing_reasons,
    to_epoch_days,
)
from aatoolkit.display.plot.rows import (
    choose_missing_style,
    describe_method,
    format_sample_range,
    make_scale,
    make_tooltips,
)
from aatoolkit.display.plot.spec import ROW_HEIGHT, DisplayName, Mark, Scale, Spec
from aatoolkit.display.plot.style import (
    GREY_STYLES,
    OWN_STYLE,
    SERIES_STYLES,
    Style,
    choose_styles,
    describe_extent,
)
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.interval import Bounds

_MAX_LINES = 4
"""The maximum number of lines that are easily distinguished; more series make a heat map."""

PARTIAL_PERIOD_TEXT = "part of the period"
"""What a legend calls numbers that cover only some days of a period, such as a week."""
_LONG_PERIOD_DAYS = 21
"""A rate with few answers per day is drawn by week if there are at least this many days."""


class _PivotTable(NamedTuple):
    """A pivot table of numbers (``values``), with the keys that label its rows and columns.

    ``row_positions`` has for each cell the position of its row in the data, or -1 if no row of the
    data belongs to the cell. ``uncut_shape`` is the number of rows and of columns before some were
    left out.
    """

    row_positions: np.ndarray
    values: Numbers
    row_keys: list[Any]
    column_keys: list[Any]
    uncut_shape: tuple[int, ...]


def _make_pivot_table(
    data: PlotData, x: str, y: str, by: str | None, max_rows: int, max_columns: int
) -> _PivotTable:
    """Return a pivot table of ``y``, with the values of ``by`` as rows and of ``x`` as columns.

    ``x``, ``y`` and ``by`` are names of columns of the data.

    Only the best rows and columns are kept, and come first. Times and categories stay in their own
    order, and no time is left out.
    """
    is_time = data.kind_by_column[x] == "time"
    is_rank = data.unit(y) == RANK
    x_values = data.moments(x) if is_time else pd.Series(data.column_texts(x))
    row_labels = data.row_labels(by, x, row_texts=data.column_texts(by)) if by else ""
    position_table = pd.DataFrame({"by": row_labels, "x": x_values, "row": range(len(data))})
    position_table = position_table.dropna(subset="x").drop_duplicates(["by", "x"])
    pivoted_positions = position_table.pivot(index="by", columns="x", values="row")
    y_values = np.append(data.values(y), np.nan)
    # Rates with small samples are mostly chance, and are ranked last.
    ranked_values = np.where([*data.small_sample_mask(y), False], np.nan, y_values)

    def rank_labels(row_positions: pd.DataFrame) -> list[Any]:
        """Return the row labels of a pivot table, the row with the best numbers first.

        ``row_positions`` is the pivot table; its cells are positions of rows of the data. The best
        numbers are the highest sum or mean of ``y``, but the lowest if ``y`` is a rank.
        """
        # Counts are compared by sums, because a mean leaves out cells without a row.
        values = pd.DataFrame(
            ranked_values[row_positions.fillna(-1).to_numpy(np.int64)], row_positions.index
        )
        row_scores = values.sum(axis=1, min_count=1) if data.is_additive(y) else values.mean(axis=1)
        return [*row_scores.sort_values(ascending=is_rank, kind="stable", na_position="last").index]

    row_keys = rank_labels(pivoted_positions)[:max_rows]
    if is_time:
        column_keys = [*fill_time_gaps(x_values)]
    elif data.is_category(x):
        category_names = [*map(str, data.frame[x].cat.categories)]
        column_keys = sorted(
            pivoted_positions, key=lambda column: [*category_names, column].index(column)
        )
    elif data.kind_by_column[x] in ("number", "code"):
        column_keys = sorted(map(str, pivoted_positions), key=float)[:max_columns]
    else:
        column_keys = rank_labels(pivoted_positions.loc[row_keys].T)[:max_columns]
    row_positions = (
        pivoted_positions.reindex(index=row_keys, columns=column_keys).fillna(-1).to_numpy(np.int64)
    )
    return _PivotTable(
        row_positions,
        y_values[row_positions],
        row_keys,
        column_keys,
        pivoted_positions.shape,
    )


def _make_key_names(
    data: PlotData, name: str | None, keys: Sequence[Any], *excluded_columns: str | None
) -> list[DisplayName]:
    """Return a `DisplayName` for each of ``keys``, which are values of the column ``name``."""
    if name is None or data.kind_by_column[name] == "time":  # times have ticks instead of names
        return [DisplayName("")] * len(keys)
    key_by_row = data.row_labels(name, *excluded_columns, row_texts=data.column_texts(name))
    label_by_key = dict(zip(key_by_row, data.row_labels(name, *excluded_columns), strict=True))
    is_own_by_key = pd.Series(data.own_mask(name)).groupby(key_by_row).all()
    return [DisplayName(label_by_key.get(key, key), bool(is_own_by_key.get(key))) for key in keys]


def _format_time(moment: pd.Timestamp) -> str:
    """Return a time as text: its date, and its hour and minute unless it is midnight."""
    return str(moment).removesuffix(" 00:00:00")[:16]


def _make_time_label(data: PlotData, x: str, moments: Sequence[pd.Timestamp]) -> str:
    """Return the label of a time axis, such as ``2025–2026``.

    It has the years, unless the ticks show them, and a note if periods are labelled by their last
    day. ``x`` is the column of times.
    """
    last_day_note = f", {data.time_noun(x)}s by their last day" * data.has_last_day_labels
    if moments[-1] - moments[0] > pd.Timedelta(days=300):
        return last_day_note[2:].capitalize()  # the ticks show the years
    time_format = "%Y" if all(moment == moment.normalize() for moment in moments) else "%d %b %Y"
    first_and_last = dict.fromkeys(f"{moments[i]:{time_format}}" for i in (0, -1))
    return "–".join(first_and_last) + last_day_note


# --- lines ------------------------------------------------------------------------------------


class _ChartLine(NamedTuple):
    """A line of a line chart: the numbers of a column over time.

    ``row_positions`` has for each time the position of its row in the data, or -1 if there is no
    such row. ``intervals`` has the confidence intervals of all rows of the data.
    """

    name: DisplayName
    column: str
    row_positions: np.ndarray
    values: Numbers
    intervals: Bounds
    style: Style = OWN_STYLE


def make_lines_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a line chart of the most informative numeric column; None if the data do not fit.

    Data with more series than can be told apart as lines become a heat map.
    """
    x = options.x or next(iter(data.time_keys), None)
    is_requested = options.kind or options.color
    if (
        x is None
        or data.kind_by_column[x] != "time"
        or not (is_requested or options.x or data.has_several_values(x))
    ):
        return None
    other_key_columns = [name for name in data.key_columns if name not in (*data.time_keys, x)]
    by = options.color or (
        other_key_columns[0] if len(other_key_columns) == 1 and not options.x else None
    )
    columns = options.y or [*data.measure_columns, *data.number_columns][:1]
    if not columns or (by and len(columns) > 1) or len({data.unit(name) for name in columns}) > 1:
        return None
    ungrouped_data = data
    mark_columns = [x, *filter(None, [by])]
    y = columns[0]
    default_max_lines = len(SERIES_STYLES) if is_requested else _MAX_LINES
    max_lines = min(options.top or default_max_lines, default_max_lines)
    if data.varying_host_and_days(by):
        return None  # hosts and windows are never added up
    # Rows with the same time are aggregated; never is one of them drawn for all.
    freq = "W" * (not options.x and _is_noisy(data, x, y, mark_columns))
    # Of many days not even three lines can be told apart.
    max_legible_lines = 2 if data.frame[x].nunique() > _LONG_PERIOD_DAYS else max_lines
    has_too_many_lines = by and data.frame[by].nunique() > max_legible_lines
    if has_too_many_lines and not (is_requested or freq):
        return make_heatmap_spec(data, replace(options, kind="heatmap", y=columns[:1]))
    data = aggregate_by_mark(data, mark_columns, columns, freq)
    if data.frame[x].isna().all():
        return None
    pivot_tables = [_make_pivot_table(data, x, name, by, len(data), 0) for name in columns]
    intervals = [compute_intervals(data, name, ungrouped_data, mark_columns) for name in columns]
    drawn_lines = [
        _ChartLine(
            name if by else DisplayName(humanize(column)),
            column,
            row_positions,
            line_values,
            bounds,
        )
        for column, pivot_table, bounds in zip(columns, pivot_tables, intervals, strict=True)
        for name, row_positions, line_values in zip(
            _make_key_names(data, by, pivot_table.row_keys, x),
            pivot_table.row_positions,
            pivot_table.values,
            strict=True,
        )
    ]
    # A series that was never measured has no line: the caption names it.
    is_unmeasured = np.array([*find_missing_reasons(data, y), NOT_MEASURED]) == NOT_MEASURED
    unmeasured_names = [
        line.name.text for line in drawn_lines if by and is_unmeasured[line.row_positions].all()
    ]
    line_count = len(drawn_lines) - len(unmeasured_names) if by else len(columns)
    times = pivot_tables[0].column_keys
    x_days = to_epoch_days(times)
    if data.has_last_day_labels and data.window[1]:  # the last week ends with the window
        x_days = np.minimum(x_days, to_epoch_days([data.window[1]]))
    drawn_lines = sorted(drawn_lines, key=lambda line: not line.name.is_own)[:max_lines]
    style_by_name = choose_styles(
        (line.name.text for line in drawn_lines), as_engines=data.has_engines(by)
    )
    if drawn_lines and drawn_lines[0].name.is_own:  # beside an own brand, the others are grey
        style_by_name = dict(zip(style_by_name, GREY_STYLES, strict=False))
    drawn_lines = [
        line._replace(style=OWN_STYLE if line.name.is_own else style_by_name[line.name.text])
        for line in drawn_lines
    ]
    unit = data.unit(y)
    time_noun = data.time_noun(x)
    min_time_step = float(min(np.diff(x_days), default=1.0))
    is_gap = np.isnan([line.values for line in drawn_lines]).all(axis=0)
    marks = []
    partial_dots = []
    legend = []
    drawn_values = [np.empty(0)]
    if is_gap.any():
        reason = NOT_MEASURED if data.has_metadata else NO_VALUE_GIVEN
        marks.append(Mark("boxes", x_days[is_gap] - min_time_step / 2, 0 * x_days[is_gap],
                          choose_missing_style(reason),
                          ends=x_days[is_gap] + min_time_step / 2, size=np.inf))  # fmt: skip
        legend.append((reason, choose_missing_style(reason), "boxes"))
    measured_lines = [line for line in drawn_lines if not np.isnan(line.values).all()]
    # A single line has a band, or that of the own brand. Several bands would hide each other.
    line_with_band = next(
        (line for line in measured_lines[:1]
         if line.intervals.method and (line.name.is_own or not measured_lines[1:])), None
    )  # fmt: skip
    for line in drawn_lines:
        drawn_values.append(line.values)
        if line is line_with_band:
            band_low, band_high = (
                np.append(interval_ends, np.nan)[line.row_positions]
                for interval_ends in (line.intervals.low, line.intervals.high)
            )
            drawn_values += band_low, band_high
            marks.append(Mark("band", x_days, band_low, line.style, ends=band_high))
        tooltip_names = [DisplayName(f"{line.name.text}, {_format_time(moment)}".removeprefix(", "))
                 for moment in times]  # fmt: skip
        tooltips = make_tooltips(
            data, line.column, tooltip_names, line.intervals, line.row_positions
        )
        line_width = 1.0 if len(x_days) > 150 else 2.4 if line.name.is_own else 1.8
        marks.append(
            Mark("line", x_days, line.values, line.style, size=line_width, tooltips=tooltips)
        )
        is_partial = np.append(data.partial_mask(line.column, x), False)[line.row_positions]
        partial_dots += _make_partial_dots(is_partial, x_days, line.values, line.style)
    title = data.make_title(", ".join(map(data.measure_name, columns)), time_noun, by)
    y_scale = make_scale(np.concatenate(drawn_values), unit, 1.08,
                      is_whole=all(map(data.is_count, columns)),
                      label=data.axis_label(y) * (len(columns) == 1))  # fmt: skip
    if unit == RANK:
        y_scale = replace(y_scale, low=y_scale.high / 1.08 + 0.5, high=0.5)
    # Only series with a number at the last time, the best first.
    lines_with_last_value = sorted(
        (line for line in measured_lines if not np.isnan(line.values[-1])),
        key=lambda line: line.values[-1], reverse=unit != RANK,
    )  # fmt: skip
    ranking_text = join_some(
        [f"{line.name.text} {number(line.values[-1], unit)}" for line in lines_with_last_value]
    )
    is_last_partial = any(x_days[-1] in mark.x for mark in partial_dots)
    reading_note = ""
    half_widths = (intervals[0].high - intervals[0].low) / 2
    if line_with_band:
        band_subject = f" of {line_with_band.name.text}" * bool(measured_lines[1:])
        reading_note = f"Band{band_subject}: {describe_method(line_with_band.intervals)}"
    elif np.isfinite(half_widths).any():
        method = describe_method(intervals[0])
        reading_note = f"Up to ±{number(np.nanmax(half_widths), unit)}: {method}"
    unmeasured_note = f"{join_some(unmeasured_names)}: {NOT_MEASURED} · " * bool(unmeasured_names)
    return Spec(
        "line", data, columns, title,
        Scale(float(x_days[0]) - min_time_step / 2, float(x_days[-1]) + min_time_step / 2, "time",
              label=_make_time_label(data, x, times), tick_days=x_days.tolist()), y_scale,
        [*marks, *partial_dots],
        headline=f"Last {time_noun}{', in part' * is_last_partial}: {ranking_text}" if ranking_text
        else "",
        extent_text=describe_extent(len(drawn_lines), line_count),
        sample_note=f"{unmeasured_note}{format_sample_range(data, y)}".strip(" ·"),
        reading_note=reading_note,
        legend=[*((PARTIAL_PERIOD_TEXT, mark.style, "dots") for mark in partial_dots[:1]), *legend],
        height=175.0, mark_columns=mark_columns, interval_frame=intervals[0].result,
        line_labels=[(float(line.values[np.isfinite(line.values)][-1]), line.name.full_text,
                      line.style) for line in measured_lines if drawn_lines[1:]],
    )  # fmt: skip


def _is_noisy(data: PlotData, x: str, y: str, mark_columns: list[str]) -> bool:
    """Return whether a rate has so few answers per day that it should be drawn by week."""
    if not data.is_rate(y) or data.time_noun(x) != "day":
        return False
    sample_sizes = data.values(data.aggregation_columns(y)[-1])
    # One day in ten is enough to make a zigzag of a line.
    return (
        bool(pd.Series(sample_sizes[sample_sizes > 0]).quantile(0.1) < MIN_SAMPLE_SIZE)
        and len(fill_time_gaps(data.moments(x))) >= _LONG_PERIOD_DAYS
        and not data.frame.duplicated(mark_columns).any()
    )


def _make_partial_dots(
    is_partial: Mask, x_positions: Numbers, y_positions: Numbers, style: Style
) -> list[Mark]:
    """Return hollow dots for numbers that cover only some days of a period, such as a week.

    The list has one `Mark` with all dots, or is empty. ``is_partial`` is a boolean mask of the
    numbers; ``x_positions`` and ``y_positions`` say where they are drawn.
    """
    hollow_style = replace(style, fill="hollow")
    dots = Mark("dots", x_positions[is_partial], y_positions[is_partial], hollow_style, size=4.5)
    return [dots] * bool(is_partial.any())


# --- heat maps --------------------------------------------------------------------------------

_MAX_HEATMAP_COLUMNS = 12
"""The maximum number of columns of a heat map, unless they are times.

With more columns, its cells have no numbers.
"""


def make_heatmap_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a heat map of a numeric column by two other columns; None if no columns fit.

    By default the most informative numeric column is drawn.
    """
    if options.x and not options.color and not options.kind:
        return None
    # Named metrics and positions fit cells, but not bars.
    metrics = filter(data.unit_column, data.number_columns)
    ranks = [name for name in data.number_columns if data.unit(name) == RANK]
    y = next(iter(options.y or [*metrics, *data.measure_columns, *ranks]), None)
    time_keys = data.time_keys[:1]
    word_keys = [name for name in data.key_columns if data.kind_by_column[name] != "time"]
    key_pair = [*word_keys[-(2 - len(time_keys)) :], *time_keys]
    x = options.x or next((name for name in reversed(key_pair) if name != options.color), None)
    by = options.color or next((name for name in key_pair if name != x), None)
    if x and by and not (time_keys or options.is_chosen):
        # Long names have more room as names of rows.
        x_name_length, by_name_length = (
            max(map(len, data.labels(name)), default=0) for name in (x, by)
        )
        if by in HOST_AND_DAYS_COLUMNS or (
            x_name_length > max(by_name_length, 18) and not data.varying_host_and_days()
        ):
            x, by = by, x
    if x is None or y is None or len({x, by, y}) < 3 or data.kind_by_column.get(by or "") == "time":
        return None
    if not options.kind:
        if by is None:
            return None
        has_two_keys = len(data.key_columns) == 2 + len(data.varying_host_and_days(x, by))
        # Numbers that cannot be aggregated to one per bar have a cell each.
        has_one_value_per_cell = options.x or (
            data.key_columns[1:]
            if data.is_additive(y)
            else has_two_keys and ("#" in data.table_name or not data.is_rate(y))
        )
        # Rows with the same name cannot be told apart.
        has_ambiguous_names = any(data.has_untitled_ids(name)
                          or len({*data.labels(name)}) < len({*data.column_texts(name)})
                          for name in (x, by))  # fmt: skip
        if has_ambiguous_names or not data.has_several_values(x) or not has_one_value_per_cell:
            return None
    if data.has_mixed_units(y):
        return None
    ungrouped_data = data
    mark_columns = [*data.varying_host_and_days(x, by), *filter(None, [by]), x]
    data = aggregate_by_mark(ungrouped_data, mark_columns, [y])
    pivot_table = _make_pivot_table(data, x, y, by,
                                    options.max_rows(24 if mark_columns[2:] else 15),
                                    options.max_rows(_MAX_HEATMAP_COLUMNS))  # fmt: skip
    if not (options.kind or time_keys) and 2 * len(data) < 3 * max(pivot_table.uncut_shape):
        return None  # most rows or columns have a single cell: bars say the same
    intervals = compute_intervals(data, y, ungrouped_data, mark_columns)
    return _pivot_to_heatmap(data, pivot_table, x, y, by, intervals)


def _pivot_to_heatmap(
    data: PlotData, pivot_table: _PivotTable, x: str, y: str, by: str | None, intervals: Bounds
) -> Spec:
    """Return the `Spec` (chart description) of a heat map.

    The colour of a cell is stronger for a larger number or a better rank. The values of the column
    ``x`` are the columns of the heat map, those of ``by`` its rows, and those of ``y`` its numbers.
    """
    unit = data.unit(y)
    is_time = data.kind_by_column[x] == "time"
    row_positions = pivot_table.row_positions
    cell_values = pivot_table.values
    columns = pivot_table.column_keys
    is_rank = unit == RANK
    measure_name = data.measure_name(y)
    # At a time without any row, nothing was measured.
    absent_row_reasons = np.where(
        (row_positions < 0).all(axis=0) & is_time, NOT_MEASURED, NOT_LISTED
    )
    reasons = np.where(
        row_positions < 0,
        absent_row_reasons,
        np.array([*find_missing_reasons(data, y), ""], object)[row_positions],
    )
    writes_numbers = len(columns) <= _MAX_HEATMAP_COLUMNS
    number_mask = writes_numbers & np.isfinite(cell_values).ravel()
    cell_texts = np.where(number_mask, numbers(cell_values.flat, unit), "").tolist()
    # The colours are those of rates that can be compared; a few others have their number only.
    is_small_sample = np.append(data.small_sample_mask(y), False)[row_positions]
    if 2 * is_small_sample.sum() < np.isfinite(cell_values).sum():
        reasons[is_small_sample] = f"without colour: n below {MIN_SAMPLE_SIZE}"
        cell_values = np.where(is_small_sample, np.nan, cell_values)
    present_values = cell_values[~np.isnan(cell_values)]
    lowest = float(min(present_values, default=0.0) if is_rank else present_values.min(initial=0.0))
    highest = float(present_values.max(initial=lowest + 1e-9))
    colour_strengths = (cell_values - lowest) / (highest - lowest)
    colour_strengths = np.nan_to_num(1 - colour_strengths if is_rank else colour_strengths).ravel()
    column_names = _make_key_names(data, x, columns, *HOST_AND_DAYS_COLUMNS)
    row_names = _make_key_names(data, by, pivot_table.row_keys, x)
    headings = [*map(_format_time, columns)] if is_time else [name.text for name in column_names]
    cell_names = [
        f"{row_name.text}, {heading}".removeprefix(", ")
        for row_name in row_names
        for heading in headings
    ]
    tooltip_names = [DisplayName(name if row >= 0 else f"{name}\n{reason}") for name, reason, row in
                  zip(cell_names, reasons.flat, row_positions.flat, strict=True)]  # fmt: skip
    y_positions, x_positions = np.indices(cell_values.shape).reshape(2, -1).astype(float)
    legend = [
        (reason, choose_missing_style(reason), "boxes")
        for reason in sorted(np.unique(reasons[reasons != ""]), key=NOT_MEASURED.__ne__)
    ]
    tooltips = np.array(
        make_tooltips(data, y, tooltip_names, intervals, row_positions.flat), object
    )
    marks = []
    for reason, style, _ in (("", OWN_STYLE, ""), *legend):
        reason_mask = reasons.ravel() == reason
        marks.append(Mark(
            "boxes", x_positions[reason_mask] - 0.5, y_positions[reason_mask], style,
            ends=x_positions[reason_mask] + 0.5, size=1.0,
            tooltips=[*tooltips[reason_mask]],
            colour_strength=None if reason else colour_strengths[reason_mask],
        ))  # fmt: skip
    marks.append(Mark("words", x_positions, y_positions, texts=cell_texts,
                      colour_strength=colour_strengths, text_offset=0.0))  # fmt: skip
    if is_time:
        is_partial = np.append(data.partial_mask(y, x), False)[row_positions].ravel()
        marks += _make_partial_dots(is_partial, x_positions - 0.4, y_positions, GREY_STYLES[0])
        legend += [
            (PARTIAL_PERIOD_TEXT, mark.style, "dots") for mark in marks if mark.kind == "dots"
        ]
    if not writes_numbers:
        legend = [(f"{measure_name} {number(value, unit)}", Style(f"ramp/{float(colour_strength)}"),
                   "boxes")
                  for value, colour_strength in ((lowest, is_rank),
                                            (highest, not is_rank))] + legend  # fmt: skip
    return Spec(
        "heatmap", data, (y,),
        data.make_title(measure_name, by, data.row_noun(x)),
        Scale(-0.5, len(columns) - 0.5, "names", category_names=column_names,
              label=_make_time_label(data, x, columns) if is_time else "",
              tick_days=to_epoch_days(columns).tolist() if is_time else ()),
        Scale(len(row_names) - 0.5, -0.5, "names", category_names=row_names), marks,
        reading_note="Stronger is better" * is_rank,
        height=ROW_HEIGHT * len(row_names), legend=legend,
        mark_columns=[*filter(None, [by]), x, *data.varying_host_and_days(x, by)],
        extent_text=", ".join([describe_extent(len(row_names), pivot_table.uncut_shape[0]),
                               describe_extent(len(columns), pivot_table.uncut_shape[1],
                                   " columns")]).strip(", "),
    )  # fmt: skip
