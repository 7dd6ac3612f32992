"""Pictures with named rows, which have one or more marks each: bars, gaps, shares and counts.

The function of a kind of picture, such as `make_bars_spec`, chooses rows and columns of the data,
and creates a `Cell` for each box or dot. `make_row_spec` makes the `Spec` (chart description) from
the cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, signed
from aatoolkit._util.text import capitalize, humanize
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import (
    COLUMN_CONVENTIONS,
    DOES_NOT_APPLY,
    MIN_SAMPLE_SIZE,
    NO_VALUE_GIVEN,
    NOT_MEASURED,
    Numbers,
    PlotData,
    PlotOptions,
    aggregate_by_mark,
    compute_intervals,
    find_missing_reasons,
)
from aatoolkit.display.plot.spec import (
    ROW_HEIGHT,
    DisplayName,
    Mark,
    Scale,
    Spec,
    make_line_segments,
    to_floats,
)
from aatoolkit.display.plot.style import (
    INK_STYLE,
    MUTED_STYLE,
    NEUTRAL_STYLE,
    NO_NUMBER_STYLE,
    NO_VALUE_STYLE,
    NO_VALUE_TEXT,
    OWN_STYLE,
    UNMEASURED_STYLE,
    WORDS_BY_STATUS,
    Style,
    Texts,
    are_states,
    choose_styles,
    describe_extent,
    humanize_identifiers,
)
from aatoolkit.sections.aggregation import COUNT, FRACTION, RANK
from aatoolkit.stats.interval import Bounds

# --- the constructor --------------------------------------------------------------------------

NAN = float("nan")
INFINITY = float("inf")


class Cell(NamedTuple):
    """A mark in one row of a picture: a box from ``box_start`` to ``x``, or a dot at ``x``.

    - ``row``: the position of the row, 0 for the topmost row.
    - ``low``, ``high``: the ends of the confidence interval, or NaN.
    - ``text``: the text beside the mark. It stands at ``text_x``, by default at the end of the
      mark.
    - ``missing_reason``: why the mark has no number; "" if it has one.
    - ``mark_kind``: ``boxes`` or ``dots``.
    """

    row: int
    x: float
    style: Style = OWN_STYLE
    box_start: float = 0.0
    low: float = NAN
    high: float = NAN
    text: str = ""
    missing_reason: str = ""
    tooltip: str = ""
    mark_kind: str = "boxes"
    text_x: float = NAN


def make_row_spec(
    kind: str, data: PlotData, title: str, row_names: Sequence[DisplayName], cells: Iterable[Cell],
    x: Scale,
    columns: Texts, *, total_rows: int, extra_marks: Sequence[Mark] = (), mark_columns: Texts = (),
    **spec_options: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of a picture with one row per name.

    ``cells`` are the boxes and dots that are drawn in the rows, and ``x`` is their scale.
    ``total_rows`` is the number of rows before some were left out. ``extra_marks`` are drawn over
    the cells. ``spec_options`` are other fields of the `Spec`.
    """
    drawn_cells = [
        Cell(cell.row, INFINITY, choose_missing_style(cell.missing_reason), -INFINITY, NAN, NAN,
             cell.missing_reason, tooltip=cell.tooltip, text_x=-INFINITY)
        if cell.missing_reason else cell
        for cell in cells
    ]  # fmt: skip
    table = pd.DataFrame(drawn_cells, columns=Cell._fields)
    marks = []
    for _, group in table.groupby(["mark_kind", "style"], sort=False):
        mark_kind, style = group[["mark_kind", "style"]].iloc[0]
        is_dot_mark = mark_kind == "dots"
        # Lines are drawn over boxes, but below dots.
        line_styles = [(style, 2.0)] if is_dot_mark else [(INK_STYLE, 1.1), (Style("paper"), 3.0)]
        mark_layers = [
            make_line_segments(group["low"], group["high"], group["row"], group["row"], *line_style)
            for line_style in line_styles
            if group["low"].notna().any()
        ]
        group = group[group["x"].notna()]
        mark_ends = to_floats(group["x"])
        mark_layers.append(Mark(
            mark_kind, mark_ends if is_dot_mark else to_floats(group["box_start"]),
            to_floats(group["row"]), style,
            ends=None if is_dot_mark else mark_ends, size=8.0 if is_dot_mark else 0.66,
            tooltips=[*group["tooltip"]],
        ))  # fmt: skip
        marks += mark_layers if is_dot_mark else mark_layers[::-1]
    if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high):
        marks.append(make_line_segments(0, 0, -INFINITY, INFINITY, MUTED_STYLE, 0.9))
    table = table[table["text"] != ""]
    if len(table):
        text_x = table["text_x"].fillna(table[["x", "box_start", "high"]].max(axis=1))
        marks.append(
            Mark("words", to_floats(text_x), to_floats(table["row"]), texts=[*table["text"]])
        )
    is_time = bool(mark_columns) and data.kind_by_column[mark_columns[0]] == "time"
    return Spec(
        kind, data, columns, title, x,
        Scale(len(row_names) - 0.5, -0.5, "names", category_names=row_names),
        [*marks, *extra_marks], height=ROW_HEIGHT * len(row_names), mark_columns=mark_columns,
        extent_text=describe_extent(len(row_names), total_rows,
                                    row_selection="last" if is_time else "first"),
        **spec_options,
    )  # fmt: skip


def choose_missing_style(reason: str) -> Style:
    """Return the style of a mark that has no number, by the reason why it has none.

    For example, what was not measured is hatched.
    """
    return {NOT_MEASURED: UNMEASURED_STYLE, NO_VALUE_GIVEN: NO_VALUE_STYLE}.get(
        reason, NO_NUMBER_STYLE
    )


def make_row_names(data: PlotData, x: str, labels: Iterable[str] = ()) -> list[DisplayName]:
    """Return a `DisplayName` for each row: its label, and whether it is an own brand or site.

    ``labels`` are the labels to use; by default those of the column ``x``.
    """
    return [*map(DisplayName, labels or data.row_labels(x), data.own_mask(x).tolist())]


def make_scale(
    values: Numbers, unit: str | None, upper_end_factor: float = 1.02, **scale_options: Any
) -> Scale:
    """Return a scale of numbers that includes 0 and all of ``values``.

    ``upper_end_factor`` is the upper end of the scale as a multiple of the largest number: with
    1.02, the scale ends 2 % above it. ``scale_options`` are other fields of the `Scale`.
    """
    finite_values = values[np.isfinite(values)]
    highest = finite_values.max(initial=0.0)
    lowest = finite_values.min(initial=0.0)
    highest = highest or (-lowest / 20 if lowest else 1.0)
    return Scale(lowest * 1.05, highest * upper_end_factor,
                 "number" if len(finite_values) else "none", unit, **scale_options)  # fmt: skip


def make_tooltips(
    data: PlotData, column: str, row_names: Iterable[DisplayName], bounds: Bounds | None = None,
    row_positions: Iterable[int] | None = None,
) -> list[str]:  # fmt: skip
    """Return a tooltip for each of ``row_names``: number, interval, counts and availability.

    The number is that of ``column``. ``row_positions`` has for each name the position of its row in
    the data, or -1 if there is no such row; by default the names are those of all rows, in order.
    """
    units = data.units(column)
    values = zip(find_missing_reasons(data, column), data.values(column), units, strict=True)
    lines = [[f"{humanize(column)}: {missing_reason or number(value, unit)}"
              for missing_reason, value, unit in values]]  # fmt: skip
    if bounds:
        intervals = zip(bounds.low, bounds.high, units, strict=True)
        lines.append([
            f"interval: {number(low, unit)} to {number(high, unit)}" if high >= low else ""
            for low, high, unit in intervals
        ])  # fmt: skip
    for sample_name in dict.fromkeys(
        [*data.aggregation_columns(column), data.sample_column(column)]
    ):
        if sample_name and sample_name != column:
            lines.append([
                f"{humanize(sample_name)}: "
                f"{number(sample_size) if sample_size == sample_size else NOT_MEASURED}"
                for sample_size in data.values(sample_name)
            ])  # fmt: skip
    statuses = data.cell_statuses(column)
    status_texts = [
        f"{WORDS_BY_STATUS[availability.status]}: {availability.reason or ''}".removesuffix(": ")
        for availability in statuses.availabilities
    ]
    lines.append([status_texts[code] for code in statuses.codes])
    row_texts = ["\n".join(filter(None, row_lines)) for row_lines in zip(*lines, strict=True)]
    row_texts.append("")  # at position -1
    return [
        f"{row_name.full_text}\n{row_texts[position]}".rstrip("\n")
        for position, row_name in zip(
            range(len(data)) if row_positions is None else row_positions, row_names, strict=True
        )
    ]


def describe_method(bounds: Bounds) -> str:
    """Return the method of confidence intervals in a few words, for the subtitle of a picture."""
    return humanize_identifiers(bounds.method.partition(";")[0]).removeprefix("Wilson's ")


def sample_size_texts(data: PlotData, size_column: str | None) -> list[str]:
    """Return the sample size of each row as text, such as ``n=20``; "" where it is not known.

    ``size_column`` is the column of sample sizes; if it is None, none is known.
    """
    sample_sizes = data.values(size_column).tolist() if size_column else [NAN] * len(data)
    return [
        "" if sample_size != sample_size else f"n={number(sample_size)}"
        for sample_size in sample_sizes
    ]


def format_sample_range(data: PlotData, y: str) -> str:
    """Return the range of a rate's sample sizes as text, such as ``answer count 20–30``.

    ``y`` is the column of the rate; the text is "" if it has no column of sample sizes.
    """
    size_column = data.rate_sample_column(y)
    if size_column is None:
        return ""
    sizes = sorted(size for size in data.values(size_column) if size > 0)
    range_text = "–".join(dict.fromkeys(map(number, sizes[:1] + sizes[-1:])))
    return f"{humanize(size_column)} {range_text}" * bool(sizes)


def _bar_labels(number_texts: Texts, data: PlotData, y: str) -> Texts:
    """Return the texts beside bars: ``number_texts``, with the sample size of each row in brackets.

    ``y`` is the column of the numbers. If all rows have the same sample size, or none has one, the
    sizes are left out.
    """
    sample_texts = sample_size_texts(data, data.rate_sample_column(y))
    if len({*sample_texts}) == 1:
        return number_texts
    return [
        bar_label.removesuffix("  ()")
        for bar_label in map("{}  ({})".format, number_texts, sample_texts)
    ]


# --- bars and gaps ----------------------------------------------------------------------------


def find_column_pairs(data: PlotData) -> Iterator[tuple[str, str]]:
    """Yield pairs of names of numeric columns that belong together, such as before and after.

    Such names differ only in how they begin, for example ``previous_visits`` and ``visits``. The
    first of a pair is the column to compare with.
    """
    for name in data.number_columns:
        for prefix, paired_prefix in COLUMN_CONVENTIONS["pairs"]:
            paired_name = paired_prefix + name.removeprefix(prefix)
            if name.startswith(prefix) and paired_name in data.number_columns:
                yield name, paired_name


def make_bars_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a bar chart with one bar per row; None if bars cannot show the data."""
    x = options.x or data.label_column
    if x is None or options.color:
        return None
    columns = options.y or data.measure_columns
    naming_columns = [x]
    if not columns and data.key_columns:
        # Counts that nothing shows how to add up have a bar each, named by all of the key.
        columns = [name for name in data.number_columns
                   if data.unit(name) == COUNT and data.frame[name].nunique() > 1]  # fmt: skip
        naming_columns = data.key_columns
        x = next(filter(data.has_competitors, naming_columns), x)
    y = next((name for name in columns if name != x or options.y), None)
    if y is None or data.kind_by_column[x] == "list" or data.has_mixed_units(y) or (
        any(data.kind_by_column[name] == "number" or data.has_untitled_ids(name)
            for name in naming_columns)
        and not (options.x or options.kind)
    ):  # fmt: skip
        return None  # several units have no common scale; positions and identifiers say nothing
    drawn_rows = data
    mark_columns = [x, *data.varying_host_and_days(x)]
    # A ranking of brands has one bar per brand, not one per row.
    if naming_columns[1:]:
        mark_columns = naming_columns
    elif options.x or (x in data.key_columns and data.key_columns[1:]):
        # The mean of rows needs their key; by default, such rows are counted instead.
        drawn_rows = aggregate_by_mark(
            data, mark_columns, [y, *data.metadata.key * options.is_chosen]
        )
    elif data.is_repeated(y):
        drawn_rows = aggregate_by_mark(data, [*mark_columns, *data.key_columns], [y])
    is_time = drawn_rows.kind_by_column[x] == "time"
    row_count = len(drawn_rows)
    drawn_rows = drawn_rows.rows_at(
        drawn_rows.sorted_positions(y, x)[drawn_rows.shown_slice(x, options.max_rows(15))]
    )
    bounds = compute_intervals(drawn_rows, y, data, mark_columns)
    unit = drawn_rows.unit(y)
    bar_values = drawn_rows.values(y)
    key_texts = zip(*map(drawn_rows.labels, naming_columns), strict=True)
    row_names = make_row_names(
        drawn_rows, x, [*map(" · ".join, key_texts)] * bool(naming_columns[1:])
    )
    measure_name = data.measure_name(y)
    reasons = find_missing_reasons(drawn_rows, y)
    number_texts = numbers(bar_values, unit)
    # Rows with the same name cannot be told apart, and equal bars, or none, say nothing.
    if not (options.is_chosen or options.kind) and (
        len({*row_names}) < len(row_names)
        or (len({*number_texts, *reasons}) <= 2 <= len(row_names) and NOT_MEASURED not in reasons)
    ):
        return None
    engine_styles = (
        choose_styles(drawn_rows.labels(x), as_engines=True) if drawn_rows.has_engines(x) else {}
    )
    bar_styles = [
        engine_styles.get(row_text)
        or (NEUTRAL_STYLE if data.has_competitors(x) and not name.is_own else OWN_STYLE)
        for name, row_text in zip(row_names, drawn_rows.labels(x), strict=True)
    ]
    scale = make_scale(np.concatenate([bar_values, bounds.high]), unit,
                       label=drawn_rows.axis_label(y),
                       is_whole=drawn_rows.is_count(y))  # fmt: skip
    has_intervals = not np.isnan(bounds.low).all()
    bar_texts = _bar_labels(number_texts, drawn_rows, y)
    # Beside the end of a line, a number would seem to be that of the end.
    number_text_x = scale.high if has_intervals else NAN
    cells = [
        Cell(row, value, style, 0.0, *interval_and_texts)._replace(text_x=number_text_x)
        for row, (value, style, *interval_and_texts) in enumerate(zip(
            bar_values, bar_styles, bounds.low, bounds.high, bar_texts, reasons,
            make_tooltips(drawn_rows, y, row_names, bounds), strict=True,
        ))
    ]  # fmt: skip
    headline = leader_headline(row_names, bar_values, unit, measure_name)
    # Sums, and numbers without a sample, have no sampling error; others must lead by more.
    if (has_intervals or drawn_rows.sample_column(y)) and not data.is_additive(y):
        headline *= bool(
            bounds.low[0] > bounds.high[1:][~np.isnan(bar_values[1:])].max(initial=-np.inf)
        )
    headline *= not is_time
    reading_note = f"Lines: {describe_method(bounds)}" if has_intervals else ""
    is_small_sample = drawn_rows.small_sample_mask(y)
    if not is_time and is_small_sample.any() and not is_small_sample.all():
        reading_note = f"{reading_note}. Last: n below {MIN_SAMPLE_SIZE}".strip(". ")
    return make_row_spec(
        "bars", drawn_rows,
        data.make_title(measure_name, *map(drawn_rows.row_noun, naming_columns)), row_names,
        cells, scale, [y],
        total_rows=row_count, headline=headline, mark_columns=mark_columns,
        interval_frame=bounds.result, reading_note=reading_note,
        sample_note=format_sample_range(drawn_rows, y),
    )  # fmt: skip


def leader_headline(
    row_names: Sequence[DisplayName], values: Numbers, unit: str | None, measure_name: str
) -> str:
    """Return a headline such as "Highest mention rate: Globex, 40%; Acme 30%".

    It names the best brand, and then the project's own brand; if the own brand is the best, then
    its best competitor. ``row_names`` and ``values`` have all brands, the best first. The result is
    "" if ``measure_name`` is "", or if there is no single best brand.
    """
    if not measure_name or (values == values[0]).sum() > 1 or np.isfinite(values[:2]).sum() < 2:
        return ""
    superlative = (
        "best"
        if unit == RANK
        else "most"
        if measure_name.endswith("s") and unit != FRACTION
        else "highest"
    )
    comparison_texts = [f"; {name.text} {number(float(value), unit)}"
                        for name, value in zip(row_names, values, strict=True)
                        if name.is_own != row_names[0].is_own and value == value]  # fmt: skip
    return (
        f"{capitalize(superlative)} {measure_name}: {row_names[0].text}, "
        f"{number(values[0], unit)}{''.join(comparison_texts[:1])}"
    )


_EARLIER_STYLE = Style("rest", "D")
"""The style of earlier numbers and those of others, beside dots of the later or own numbers."""


def make_gap_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a picture with two dots per row, such as before and after; None if no columns fit."""
    # For single prompts the largest change is mostly chance.
    is_by_prompt = "prompt_id" in data.key_columns and not options.kind
    usable_pairs = (column_pair for column_pair in find_column_pairs(data)
                    if {*map(data.unit, column_pair)} == {FRACTION}
                    and not (is_by_prompt and column_pair[0].startswith("previous_")))  # fmt: skip
    x = options.x or data.label_column
    column_pair = options.y or next(usable_pairs, ())
    if x is None or len(column_pair) != 2 or not data.has_one_row_per(x):
        return None
    earlier_column, later_column = column_pair
    # A picture of gaps has the widest gap first; a picture of changes the largest number.
    is_time = data.kind_by_column[x] == "time"
    is_sorted_by_gap = not (is_time or earlier_column.startswith(("previous", "before")))
    negative_gaps = -np.abs(data.values(later_column) - data.values(earlier_column))
    row_order = (
        np.argsort(negative_gaps, kind="stable")
        if is_sorted_by_gap
        else data.sorted_positions(later_column, x)
    )
    drawn_rows = data.rows_at(row_order[data.shown_slice(x, options.max_rows(15))])
    unit = drawn_rows.unit(later_column)
    earlier_values = drawn_rows.values(earlier_column)
    later_values = drawn_rows.values(later_column)
    row_names = make_row_names(drawn_rows, x)
    reasons = find_missing_reasons(drawn_rows, later_column)
    tooltip_lists = [make_tooltips(drawn_rows, name, row_names) for name in column_pair]
    own_row_positions = [row for row, name in enumerate(row_names) if name.is_own]
    later_mark_styles = [
        OWN_STYLE if name.is_own or not own_row_positions else MUTED_STYLE for name in row_names
    ]
    change_texts = [
        signed(value, unit) if value == value else "only one measured"
        for value in later_values - earlier_values
    ]
    cells = []
    change_labels = _bar_labels(change_texts, drawn_rows, later_column)
    for row, (earlier_value, later_value, change_label) in enumerate(
        zip(earlier_values, later_values, change_labels, strict=True)
    ):
        reason = reasons[row] * bool(earlier_value != earlier_value and later_value != later_value)
        cells += [
            Cell(row, earlier_value, _EARLIER_STYLE, 0.0, earlier_value, later_value, "", "",
                 tooltip_lists[0][row], "dots"),
            Cell(row, later_value, later_mark_styles[row], 0.0, NAN, NAN, change_label, reason,
                 tooltip_lists[1][row],
                 "dots",
                 text_x=float(np.fmax(earlier_value, later_value))),
        ]  # fmt: skip
    later_name = humanize(later_column)
    earlier_name = humanize(earlier_column)
    headline = ""
    # The headline is about the widest gap, or about the own brand.
    for row in [0] if is_sorted_by_gap else own_row_positions[:1]:
        if np.isfinite(later_values[row] - earlier_values[row]):
            headline = (
                f"{row_names[row].text}: {later_name} "
                f"{number(later_values[row], unit)}, {earlier_name} "
                f"{number(earlier_values[row], unit)} ({change_texts[row]})"
            )
    title = data.make_title(f"{later_name} and {earlier_name}", data.row_noun(x))
    scale = make_scale(np.concatenate([earlier_values, later_values]), unit, 1.03)
    return make_row_spec(
        "gap", drawn_rows, title, row_names, cells, scale, (later_column, earlier_column),
        total_rows=len(data),
        legend=[(later_name, MUTED_STYLE if own_row_positions else OWN_STYLE, "dots"),
                (earlier_name, _EARLIER_STYLE, "dots")],
        headline=headline, mark_columns=[x, *data.varying_host_and_days(x)],
        sample_note=format_sample_range(drawn_rows, later_column),
    )  # fmt: skip


# --- parts of a whole -------------------------------------------------------------------------

_SEGMENTS_WITHOUT_VALUE = (NOT_MEASURED, NO_VALUE_GIVEN, DOES_NOT_APPLY)
"""The names of the segments of stacked bars that count rows without a value."""
_SUBJECT_COLUMNS = COLUMN_CONVENTIONS["subjects"]
"""The columns by whose values rows are counted first."""
_MAX_COUNTS = 12
"""The maximum number of bars that count rows."""
_MAX_TABLE_ROWS = 20
"""With at most this many rows, a table is easier to read than a picture of counts."""


def make_shares_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a chart of stacked bars, one per row, with the columns ``*_share`` as segments.

    Returns None if there are no such columns, or they do not add up to 1.
    """
    x = options.x or data.label_column
    columns = options.y or [
        column
        for column in data.number_columns
        if column.endswith("_share") and data.unit(column) == FRACTION
    ]
    if x is None or len(columns) < 2 or not data.has_one_row_per(x):
        return None
    sample_column = data.sample_column(columns[0])
    row_order = data.sorted_positions(sample_column or columns[0], x)
    drawn_rows = data.rows_at(row_order[data.shown_slice(x, options.max_rows(15))])
    share_table = pd.DataFrame(
        {name.removesuffix("_share"): drawn_rows.values(name) for name in columns}
    )
    share_sums = share_table.sum(axis=1, skipna=False)
    if share_sums.isna().all() or not np.allclose(share_sums.dropna(), 1, atol=0.01):
        return None
    row_names = make_row_names(drawn_rows, x)
    return _make_stacked_bars(
        "shares", drawn_rows, columns, [x, *data.varying_host_and_days(x)],
        f"Shares by {humanize(data.row_noun(x))}: {', '.join(map(str, share_table))}",
        share_table, row_names, sample_size_texts(drawn_rows, sample_column), FRACTION,
        find_missing_reasons(drawn_rows, columns[0]),
        sample_note=format_sample_range(drawn_rows, columns[0]),
        total_rows=len(data),
    )  # fmt: skip


def _make_stacked_bars(
    kind: str, data: PlotData, columns: Texts, mark_columns: Texts, title: str,
    segment_table: pd.DataFrame, row_names: Sequence[DisplayName], row_total_texts: Texts,
    unit: str | None, reasons: Texts, **spec_options: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of stacked bars: one bar per row of ``segment_table``.

    The columns of ``segment_table`` are the segments. ``row_total_texts`` are written at the ends
    of the bars. ``reasons`` has for each row the reason why it has no bar, or "". ``spec_options``
    are other fields of the `Spec`.
    """
    segment_names = [*map(str, segment_table.columns)]
    segment_sizes = np.nan_to_num(segment_table.to_numpy(np.float64))
    styles = choose_styles(segment_names, as_engines=data.has_engines(columns[-1]))
    styles |= {
        segment_name: choose_missing_style(segment_name)
        for segment_name in segment_names
        if segment_name in _SEGMENTS_WITHOUT_VALUE
    }
    highlights_own = len(segment_names) == 1 and any(name.is_own for name in row_names)
    cells = []
    for row, (name, missing_reason, total_text, row_sizes) in enumerate(
        zip(row_names, reasons, row_total_texts, segment_sizes, strict=True)
    ):
        segment_ends = row_sizes.cumsum()
        cells += [
            Cell(row, segment_end,
                 NEUTRAL_STYLE if highlights_own and not name.is_own else styles[segment_name],
                 segment_end - segment_size,
                 text=total_text if segment_end == segment_ends[-1] else "",
                 tooltip=f"{name.full_text}\n{segment_name} {number(segment_size, unit)}"
                 f"\nof {total_text}")
            for segment_name, segment_size, segment_end in zip(
                segment_names, row_sizes, segment_ends, strict=True) if segment_size > 0
        ] or [Cell(row, NAN, missing_reason=missing_reason,
                   tooltip=f"{name.full_text}\n{missing_reason}")]  # fmt: skip
    has_several_segments = (segment_sizes > 0).sum(axis=1).max(initial=0) > 1
    scale = make_scale(segment_sizes.sum(axis=1), unit, is_whole=unit is None)
    return make_row_spec(
        kind, data, title, row_names, cells, scale, columns, mark_columns=mark_columns,
        legend=[(humanize(segment_name), styles[segment_name], "boxes")
                for segment_name in segment_names if has_several_segments], **spec_options,
    )  # fmt: skip


def make_counts_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a bar chart of the number of rows by the values of one column.

    Bars may be split into segments by the values of another column. Returns None if no column
    fits.
    """
    x = options.x or _grouping_column(data)
    if options.y or x is None or data.kind_by_column[x] in ("list", "number"):
        return None
    by = options.color or (None if options.x else _grouping_column(data, x))
    if by and not options.color and data.frame.groupby(x)[by].nunique().max() < 2:
        by = None  # in one colour each, bars need no second one
    is_requested = options.kind or options.x
    is_small_table = data.metadata.key and len(data) <= _MAX_TABLE_ROWS and not by
    # What a row of a drafted table is, is not known, but who it is about.
    is_drafted = "#" in data.table_name
    if not is_requested and (
        is_small_table or (is_drafted and x not in (*_SUBJECT_COLUMNS, *data.key_columns))
    ):
        return None
    columns = [*data.varying_host_and_days(x, by), x, *filter(None, [by])]
    # Rows that a merge repeated must not be counted.
    if any(map(data.is_repeated, columns)):
        return None
    row_labels = data.row_labels(x, by, row_texts=_texts_or_reasons(data, x))
    labels_and_segments = pd.DataFrame({"x": row_labels, "by": (
        _texts_or_reasons(data, by) if by else row_labels if data.has_engines(x) else "rows"
    )})  # fmt: skip
    count_table = labels_and_segments.value_counts(sort=False).unstack(fill_value=0)
    totals = count_table.sum(axis=1)
    if totals.nlargest(_MAX_COUNTS).nunique() == 1 and not (by or is_requested):
        return None  # bars of equal length say nothing
    # Segments such as "own" come before "not own"; rows without a value are last.
    segment_names = sorted(
        map(str, count_table),
        key=lambda segment_name: (
            segment_name in _SEGMENTS_WITHOUT_VALUE,
            segment_name.startswith(("not ", "without ")),
            -count_table[segment_name].sum(),
        ),
    )
    row_order = np.lexsort([-count_table[segment_names[0]], -totals])
    count_table = (
        count_table.sort_index()
        if data.kind_by_column[x] == "time"
        else count_table.iloc[row_order]
    )
    shown_counts = count_table[segment_names][data.shown_slice(x, options.max_rows(_MAX_COUNTS))]
    own_row_labels = {*labels_and_segments["x"][data.own_mask(x)]}
    row_noun = data.table_words or "rows"
    shown_totals = shown_counts.sum(axis=1).to_numpy(np.float64)
    row_names = [
        DisplayName(row_label, row_label in own_row_labels) for row_label in shown_counts.index
    ]
    headline = ""
    is_by_flag = data.kind_by_column.get(by or "") == "flag"
    if is_by_flag or (by and are_states(segment_names)):
        count_texts = (
            f"{int(count_table[segment_name].sum()):,} {humanize(str(segment_name))}"
            for segment_name in segment_names
        )
        headline = f"{capitalize(row_noun)}: {', '.join(count_texts)}"
    elif not (
        # In a sample the order is another.
        is_drafted or data.kind_by_column[x] == "time"
        or data.combine_availability(columns).status == Status.PARTIAL
        or row_names[0].text == NO_VALUE_TEXT
    ):  # fmt: skip
        headline = leader_headline(row_names, shown_totals, None, row_noun)
    return _make_stacked_bars(
        "counts", data, columns, [x],
        data.make_title(f"number of {row_noun}", data.row_noun(x), None if is_by_flag else by),
        shown_counts, row_names, numbers(shown_totals),
        None, [""] * len(shown_counts), sample_note=f"n = {len(data):,} {row_noun}",
        headline=headline, total_rows=len(count_table),
    )  # fmt: skip


def _texts_or_reasons(data: PlotData, name: str) -> list[str]:
    """Return the value of a column in each row as words.

    A missing value is "not measured" or "no value given".
    """
    row_texts = data.labels(name)
    if data.kind_by_column[name] == "flag":
        noun = re.sub("^has ", "with ", humanize(name.removeprefix("is_")))
        text_by_flag = {"true": noun, "false": f"not {noun}".replace("not with", "without")}
        row_texts = [text_by_flag.get(row_text.lower(), row_text) for row_text in row_texts]
    reasons = find_missing_reasons(data, name)
    return [reason or row_text for reason, row_text in zip(reasons, row_texts, strict=True)]


def _grouping_column(data: PlotData, excluded_column: str = "") -> str | None:
    """Return the best column by which to group and count rows, such as the engine, or None.

    With ``excluded_column``, the column of the bars, the result is another one for their segments.
    """
    candidates = [
        name for name, column_kind in data.kind_by_column.items()
        if column_kind in ("word", "flag") and name not in ("own", excluded_column)
        and not data.has_untitled_ids(name)
        and 1 < data.frame[name].nunique() <= max(_MAX_COUNTS, len(data) // 5)
    ]  # fmt: skip
    category_columns = [
        name for name in candidates if data.kind_by_column[name] == "flag" or data.is_category(name)
    ]
    if excluded_column:
        # Segments are by measured categories rather than key columns, and never by "own".
        return next(iter(sorted(category_columns, key=data.key_columns.__contains__)), None)
    # Engines and brands come first, then categories, and those of the key before others.
    candidates.sort(
        key=lambda name: (
            name not in _SUBJECT_COLUMNS,
            name not in category_columns,
            name not in data.key_columns,
        )
    )
    return next((name for name in candidates if data.key_columns != [name]), None)
