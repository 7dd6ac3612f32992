"""Pictures in the form of tables: key figures, funnels, states, statistics and texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.numbers import number, signed
from aatoolkit._util.text import capitalize, counted, drop_inner_stops, humanize, join_some
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import (
    HOST_AND_DAYS_COLUMNS,
    NO_VALUE_GIVEN,
    OWNER_COLUMNS,
    REQUEST_COLUMNS,
    PlotData,
    PlotOptions,
    cached_by_column,
    compute_intervals,
    find_missing_reasons,
    rescale_to_unit_range,
    to_epoch_days,
    to_plot_data,
)
from aatoolkit.display.plot.rows import (
    INFINITY,
    NAN,
    Cell,
    choose_missing_style,
    find_column_pairs,
    make_row_names,
    make_row_spec,
    make_scale,
    sample_size_texts,
)
from aatoolkit.display.plot.spec import (
    NO_SCALE,
    DisplayName,
    Mark,
    Scale,
    Spec,
    TextColumn,
    make_line_segments,
    to_floats,
)
from aatoolkit.display.plot.style import (
    BAD_STYLE,
    GOOD_STYLE,
    INK_STYLE,
    NEUTRAL_STYLE,
    NO_NUMBER_STYLE,
    NO_VALUE_TEXT,
    OWN_STYLE,
    UNMEASURED_STYLE,
    WORDS_BY_STATUS,
    Style,
    Texts,
    choose_styles,
    describe_extent,
    humanize_identifiers,
    make_column_title,
)
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, RANK, SCORE
from aatoolkit.stats.explain import Explainer
from aatoolkit.stats.results import CANNOT_SAY, CHANGE_WORDS, NO_EVIDENCE, UP

# --- key figures ------------------------------------------------------------------------------

_SCORE_SUFFIX = " (0 to 100)"
_METRIC_PATTERN = re.compile(r"(?i)\b(metric|kpi|measure|indicator|key figure|card)s?\b")
"""Matches names of tables and of columns whose rows are different measures."""


class KeyFigureCard(NamedTuple):
    """The texts of a key figure: its label, value, change, interval and sample size.

    If the value is a state, such as ``passed``, a symbol in ``symbol_style`` is drawn before it.
    """

    label: str
    value: str
    change_text: str = ""
    interval: str = ""
    sample_size: str = ""
    symbol_style: Style | None = None

    @property
    def measure(self) -> str:
        """The name of the measure as a column would have it, such as ``share_of_voice``."""
        return self.label.partition(" (")[0].lower().replace(" ", "_")


def make_figures_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a picture with one row of texts per key figure; None if the data have no key figures.

    If the frame has a single row, each of its columns is a key figure; else each of its rows is.
    """
    has_single_row = len(data) == 1 and not options.x
    cards, columns = (_make_row_cards if has_single_row else make_key_figure_cards)(data, options)
    if not cards:
        return None
    if data.overall_availability.status == Status.UNAVAILABLE:
        return make_plain_table_spec(data.first_rows(0), options)
    drawn_cards = cards[: options.max_rows(_MAX_ROWS)]
    title = capitalize(data.table_words or ", ".join(map(humanize, columns)))
    constant_text = ", ".join(data.label_by_constant_key().values())
    state_column = "" if has_single_row else next(filter(data.has_states, data.kind_by_column), "")
    # Changes in percentage points are changes of rates.
    card_texts = [f"{label} {value} ({change_text})"
                  for label, value, change_text, *_ in drawn_cards
                  if change_text.endswith("pp")]  # fmt: skip
    headline = _count_states(data, state_column) if state_column else ", ".join(card_texts[:2])
    if constant_text:
        title = f"{constant_text}: {title}"
    card_labels, *texts_by_column, symbol_styles = zip(*drawn_cards, strict=True)
    sparklines = []
    # The daily values are those of the whole; parts of it have no line.
    for row, card in enumerate(
        drawn_cards if data.key_columns == ["metric"] and not constant_text else ()
    ):
        # A line of a few numbers in the row, which breaks where there is none.
        y_positions = row + 0.3 - 0.6 * rescale_to_unit_range(data.daily_values(card.measure))
        if y_positions.size and not np.isnan(data.values(columns[0])[row]):
            sparklines.append(
                Mark("line", np.linspace(0, 1, len(y_positions)), y_positions, OWN_STYLE, size=1.2)
            )
    reading_note = "Lines: by day. " * bool(sparklines)
    if any(texts_by_column[2]):
        reading_note += "Intervals: as if counts were independent"
    align = "right" if {*columns} <= {*data.number_columns} else "left"
    text_columns = [
        TextColumn(column_texts, heading, align, heading == "Value",
                   symbol_styles if any(symbol_styles) and heading == "Value" else ())
        for heading, column_texts in zip(
            ("Value", "Change", f"{LEVEL:.0%} interval", "Sample"), texts_by_column, strict=True
        )
        if any(column_texts)
    ]  # fmt: skip
    if state_column:
        text_columns.insert(1, _make_text_column(data.first_rows(len(drawn_cards)), state_column))
    return make_row_spec(
        "figures" if {*columns} & {*data.number_columns} else "table", data, title,
        [*map(DisplayName, card_labels)], (), NO_SCALE, columns, total_rows=len(cards),
        text_columns=text_columns,
        extra_marks=sparklines, headline=headline, reading_note=reading_note.removesuffix(". "),
    )  # fmt: skip


def _make_cards(
    data: PlotData, labels: Texts, column: str, earlier_column: str = ""
) -> list[KeyFigureCard]:
    """Return a `KeyFigureCard` for each row, with the value in a column.

    ``labels`` are the labels of the cards. If ``earlier_column`` is given, a card also has the
    change from the value in this column.
    """
    bounds = compute_intervals(data, column)
    return [
        KeyFigureCard(
            f"{label} (1 is best)" if unit == RANK else label,
            missing_reason or number(value, unit),
            signed(value - earlier_value, unit) if value + earlier_value == value + earlier_value
            else "",
            f"{number(low, unit)} to {number(high, unit)}" if low + high == low + high else "",
            sample_text * (unit in (FRACTION, RANK, SCORE)),
        )
        for label, value, earlier_value, unit, sample_text, missing_reason, low, high in zip(
            labels, data.values(column),
            data.values(earlier_column) if earlier_column else to_floats([NAN] * len(data)),
            data.units(column), sample_size_texts(data, data.sample_column(column)),
            find_missing_reasons(data, column), bounds.low, bounds.high, strict=True,
        )
    ]  # fmt: skip


def _make_row_cards(data: PlotData, options: PlotOptions) -> tuple[list[KeyFigureCard], Texts]:
    """Convert a frame with a single row to one `KeyFigureCard` per column.

    Returns the cards, and the names of their columns. Columns that say only where the row is from
    have no card.
    """
    excluded_columns = (*data.label_by_constant_key(), *REQUEST_COLUMNS, *OWNER_COLUMNS)
    # States first, then numbers.
    sorted_columns = sorted(
        data.kind_by_column,
        key=lambda name: (not data.has_states(name), data.kind_by_column[name] != "number"),
    )
    # Words are left out where there are none; a number says why it is missing.
    columns = options.y or [
        name for name in sorted_columns
        if name not in excluded_columns and not _MACHINE_COLUMN_PATTERN.search(name)
        and (data.kind_by_column[name] == "number"
             or data.column_texts(name)[0] not in (NO_VALUE_TEXT, "", "[]", "()"))
    ]  # fmt: skip
    cards = []
    for name in columns:
        text_column = _make_text_column(data, name)
        if data.kind_by_column[name] != "number":
            cards.append(KeyFigureCard(text_column.heading, text_column.texts[0],
                                       symbol_style=next(iter(text_column.symbol_styles), None))
                         )  # fmt: skip
            continue
        label = f"{text_column.heading}{_SCORE_SUFFIX * (data.unit(name) == SCORE)}"
        cards += _make_cards(data, [label], name)
    return cards, columns


def make_key_figure_cards(
    data: PlotData, options: PlotOptions
) -> tuple[list[KeyFigureCard], Texts]:
    """Convert each row to a `KeyFigureCard`, if the rows are different metrics.

    Returns the cards, and the names of the columns that they show, the main one first. If the rows
    are no metrics, there are no cards.
    """
    x = options.x or data.label_column
    columns = options.y
    if not columns:
        # The number and the earlier number; metrics without an earlier number have only theirs.
        single_columns = [
            name for name in data.number_columns if data.unit_column(name) and "control" not in name
        ][:1]
        columns = next(find_column_pairs(data), single_columns)
    if x is None or len(columns) not in (1, 2) or (options.y and not options.kind):
        return [], ()
    value_column = columns[-1]
    has_measures = _METRIC_PATTERN.search(f"{data.table_words} {humanize(x)}") or options.kind
    if not (has_measures or data.unit_column(value_column)) or not data.has_one_row_per(x):
        return [], ()
    card_labels = [*map(capitalize, data.row_labels(x))]
    if "metric" in data.kind_by_column and x != "metric":
        card_labels = [*map("{} · {}".format, card_labels, data.labels("metric"))]
    return _make_cards(data, card_labels, value_column, *columns[:-1]), columns[::-1]


def make_metrics_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a table with a row per thing, such as a page, and a column per metric of it.

    Returns None if the rows are no values of metrics in several units.
    """
    keys = data.metadata.key
    columns = [name for name in data.kind_by_column if name not in (*keys, "unit")]
    if len(keys) != 2 or len(columns) != 1 or options.is_chosen:
        return None
    (thing, metric), (value,) = keys, columns
    if not (_METRIC_PATTERN.search(metric) and data.has_mixed_units(value)):
        return None
    texts = data.labels(value)
    amounts = pd.to_numeric(pd.Series(texts), errors="coerce")
    cells = [{"true": True, "false": False}.get(text, text) if amount != amount
             else number(amount, unit)
             for text, amount, unit in zip(texts, amounts, data.units(value),
                                           strict=True)]  # fmt: skip
    frame = data.frame.assign(cell=cells).pivot_table(
        "cell", thing, metric, aggfunc="first", sort=False
    )
    frame = frame.convert_dtypes().rename(columns=lambda name: name.replace(".", " "))
    spec = _make_table_spec("metrics", to_plot_data(frame), options, [*frame], thing)
    return replace(spec, data=data, columns=[value], title=data.make_title(data.table_words, thing))


# --- tables of states and of text -------------------------------------------------------------

_MACHINE_COLUMN_PATTERN = re.compile("(^|_)(cursor|links|href)(_|$)|_currency$")
"""Matches names of columns for programs, such as the link to the next page, and of currencies.

Amounts are written with their currency.
"""
_MAX_ROWS = 15
_MAX_COLUMNS = 4
"""The maximum numbers of rows and columns of a table."""


def make_states_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a table of rows with their states, such as ``passed``, and a symbol for each state.

    Returns None if no column has states.
    """
    x = options.x or data.label_column
    if x is None or options.color or options.y or not data.has_one_row_per(x):
        return None
    if not options.kind and (
        len(data) > _MAX_ROWS or data.measure_columns
        or data.has_untitled_ids(x) or data.frame[x].isna().any()
    ):  # fmt: skip
        return None
    columns = choose_table_columns(data, x)
    if not (columns and _has_symbols(data, columns[0])):
        return None
    return _make_table_spec("verdicts", data, options, columns, x, _count_states(data, columns[0]))


def _has_symbols(data: PlotData, name: str) -> bool:
    """Return whether a column is drawn with symbols, because it holds states, or true and false.

    A column that says which brands are own has no symbols.
    """
    # Own brands and sites are marked by their names.
    return name not in OWNER_COLUMNS and (
        data.kind_by_column[name] == "flag" or data.has_states(name)
    )


def choose_table_columns(
    data: PlotData, x: str | None = None, max_columns: int = _MAX_COLUMNS
) -> list[str]:
    """Return the names of at most ``max_columns`` columns to show in a table.

    ``x`` is the column that names the rows, if there is one: it is left out, and columns of states
    come first.
    """
    excluded_columns = (
        *REQUEST_COLUMNS,
        *((x, *HOST_AND_DAYS_COLUMNS, *data.key_columns) if x else ()),
    )
    columns = [
        name for name, kind in data.kind_by_column.items()
        if name not in excluded_columns and not _MACHINE_COLUMN_PATTERN.search(name)
        and (kind == "number" or data.frame[name].notna().any())
    ]  # fmt: skip
    # Constants and identifiers without a title come last, and of equal columns one is enough: that
    # of the most informative measure.
    first_rows = data.first_rows(99)
    columns.sort(key=lambda name: (
        bool(x) and not _has_symbols(data, name), len({*format_cells(first_rows, name)}) < 2,
        first_rows.has_untitled_ids(name), name in OWNER_COLUMNS,
        [*data.measure_columns, name].index(name),
    ))  # fmt: skip
    name_by_cells = {tuple(format_cells(first_rows, name)): name for name in columns[::-1]}
    columns = [*name_by_cells.values()][::-1]
    number_columns = [name for name in columns if data.kind_by_column[name] == "number"]
    other_columns = [name for name in columns if name not in number_columns]
    other_columns = other_columns[: max_columns - min(len(number_columns), max_columns // 2)]
    # Rows that have the same words are told apart by their key.
    are_rows_alike = not x and first_rows.frame[other_columns].astype(str).duplicated().any()
    keys = [name for name in columns if are_rows_alike and name in data.key_columns]
    return [*dict.fromkeys(keys + other_columns + number_columns)][:max_columns]


def _count_states(data: PlotData, name: str) -> str:
    """Return how many rows have each state, such as "Result: 5 passed, 2 failed"."""
    texts = (
        f"{count} {state}"
        for state, count in Counter(_make_text_column(data, name).texts).most_common(4)
    )
    return f"{make_column_title(name)}: {', '.join(texts)}"


def make_stages_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a table of the stages of a funnel; None if the frame is no such result."""
    if options.is_chosen or not data.table_name.startswith("statistics:funnel"):
        return None
    columns = [name for name in data.number_columns if name != "n"]
    return _make_table_spec("stages", data, options, columns, data.key_columns[0])


def _make_table_spec(
    kind: str, data: PlotData, options: PlotOptions, columns: Texts, x: str | None = None,
    headline: str = "",
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of a table with the first rows of ``columns``.

    ``x`` is the column that names the rows; without it, the rows have no names.
    """
    max_rows = options.max_rows(_MAX_ROWS)
    drawn_rows = data.first_rows(max_rows)
    text_columns = [_make_text_column(drawn_rows, name) for name in columns]
    if not x and columns[1:]:  # words of the row above are not repeated
        row_texts = pd.Series(text_columns[0].texts)
        text_columns[0] = replace(
            text_columns[0], texts=[*row_texts.where(row_texts != row_texts.shift(), "")]
        )
    row_names = make_row_names(drawn_rows, x) if x else [DisplayName("")] * len(drawn_rows)
    title = data.table_words or ", ".join(map(humanize, columns)) or "no columns"
    if x:
        title += f" by {humanize(data.row_noun(x))}"
    spec = make_row_spec(
        kind, drawn_rows, capitalize(title), row_names, (), NO_SCALE, columns, total_rows=0,
        headline=headline, text_columns=text_columns,
    )  # fmt: skip
    return replace(spec, extent_text=describe_extent(len(drawn_rows), len(data)))


def _make_text_column(data: PlotData, name: str) -> TextColumn:
    """Return a column of the data as texts, with a coloured symbol before each state."""
    row_texts = data.column_texts(name)
    reasons = find_missing_reasons(data, name)
    shown_texts = format_cells(data, name)
    style_by_text = choose_styles(row_texts, as_states=True) if data.has_states(name) else {}
    if data.kind_by_column[name] == "flag":
        style_by_text = {"True": OWN_STYLE, "False": NEUTRAL_STYLE}
    symbol_styles = [None if reason == NO_VALUE_GIVEN else choose_missing_style(reason) if reason
                     else style_by_text.get(row_text)
                     for reason, row_text in zip(reasons, row_texts,
                                                 strict=True)] if style_by_text else ()  # fmt: skip
    shown_texts = [(reason if symbol_styles else "–") if reason else shown_text
                   for reason, shown_text in zip(reasons, shown_texts, strict=True)]  # fmt: skip
    return TextColumn(shown_texts, make_column_title(name),
                      "right" if data.kind_by_column[name] == "number" else "left",
                      symbol_styles=symbol_styles)  # fmt: skip


def make_plain_table_spec(data: PlotData, options: PlotOptions) -> Spec:
    """Return a table of the first rows as text; if the frame has no rows, a note says why."""
    if len(data):
        return _make_table_spec(
            "table", data, options, choose_table_columns(data) or [*data.kind_by_column]
        )
    status = data.overall_availability.status
    reason = humanize_identifiers(drop_inner_stops(data.overall_availability.reason or ""))
    rows_note = ", with no rows" if status != Status.UNAVAILABLE else ""

    message = f"{WORDS_BY_STATUS[status]}{rows_note}. {reason}".strip()
    style = UNMEASURED_STYLE if status in (Status.PARTIAL, Status.UNAVAILABLE) else NO_NUMBER_STYLE
    infinite_x = to_floats(INFINITY)
    middle = to_floats(0.5)
    marks = [
        Mark("boxes", -infinite_x, middle, style, ends=infinite_x, size=INFINITY),
        Mark("words", middle, middle, texts=[capitalize(message)], text_offset=0),
    ]
    return Spec(
        "empty",
        data,
        (),
        capitalize(data.table_words) or "No rows",
        NO_SCALE,
        NO_SCALE,
        marks,
        height=90.0,
    )


@cached_by_column
def format_cells(data: PlotData, name: str) -> Texts:
    """Return the values of a column as a list of short texts."""
    if data.kind_by_column[name] == "number":
        return [*map(number, data.values(name), data.units(name))]
    cell_texts = data.labels(name)
    if data.kind_by_column[name] == "flag":
        cell_texts = [
            {"True": "yes", "False": "no"}.get(cell_text, cell_text) for cell_text in cell_texts
        ]
    elif data.kind_by_column[name] == "list":
        # Commas would not tell apart sentences.
        cell_texts = [join_some([*map(str, value)], 6, " · ")
                      if np.iterable(value) and not isinstance(value, str) else str(value)
                      for value in data.series_by_column[name]]  # fmt: skip
    return cell_texts


# --- results of statistics --------------------------------------------------------------------


_DEFAULT_ENTRY, *_OTHER_ENTRIES = json.loads(
    Path(__file__).with_name("results.json").read_bytes()
).items()
RESULT_PLOT_BY_KIND = {
    kind: SimpleNamespace(**_DEFAULT_ENTRY[1] | entry) for kind, entry in _OTHER_ENTRIES
}
"""How the result of a statistic is drawn, by kind of picture.

A picture has for each row of the result a dot for a number, its interval, and a text. The first
entry of ``results.json`` has the defaults of these settings:

- ``verb``: how the name of the result's table begins; empty if any name will do.
- ``value``, ``low``, ``high``: the columns with the number and the ends of its interval.
- ``tick``: the column of numbers that are drawn as short strokes; empty for none.
- ``title``, ``axis``: the template of the title, and the label of the axis of numbers.
- ``how``: the caption, which says what the symbols in the picture mean.
- ``words``: a format string for the text beside a row; its fields are columns.
- ``names``, ``join``: the columns that name a row (by default the key), and the separator
  between their values.
- ``nothing``: the name of a row in which the columns ``names`` are empty.
- ``colour``: which rows are coloured: ``all``, only the ``certain`` ones (``low`` equals
  ``high``), or each by its ``verdict``.
- ``is_change``: whether the numbers are changes, which are written with their sign.
- ``has_lead``: whether the text of the first row is the headline.
- ``needs``: the columns that the frame must have.
- ``is_comparison``: whether the rows are several comparisons, perhaps in several units.
"""


_STYLE_BY_VERDICT = {
    UP: GOOD_STYLE,
    NO_EVIDENCE: NEUTRAL_STYLE,
    CANNOT_SAY: NEUTRAL_STYLE,
    "no interval": NEUTRAL_STYLE,
}
"""The style of verdicts, where a result is coloured by verdict; all others have `BAD_STYLE`."""


def make_result_spec(kind: str, data: PlotData, options: PlotOptions) -> Spec | None:
    """Return the `Spec` (chart description) of the result of a statistic, such as a comparison.

    It is drawn as `RESULT_PLOT_BY_KIND` declares for this kind of picture. Returns None if the
    frame is no result of this kind.
    """
    settings = RESULT_PLOT_BY_KIND[kind]
    is_result_of_kind = (
        data.table_name.startswith(settings.verb)
        and {*settings.needs} <= data.kind_by_column.keys()
    )
    if options.is_chosen or not is_result_of_kind:
        return None
    unit = data.unit(settings.value)
    undrawn_count = len(data)
    if "unit" in data.kind_by_column and settings.is_comparison:
        # Changes in several units have no scale in common.
        row_units = np.array(data.column_texts("unit"), object)
        unit = Counter(row_units).most_common(1)[0][0]
        data = data.rows_at(np.flatnonzero(row_units == unit))
    undrawn_count -= len(data)
    drawn_rows = data.first_rows(options.max_rows(20))
    texts_by_column = {name: format_cells(drawn_rows, name) for name in drawn_rows.kind_by_column}
    for name in {"measure", "name"} & texts_by_column.keys():
        texts_by_column[name] = [*map(humanize_identifiers, texts_by_column[name])]
    verdicts = texts_by_column.get("verdict") or ["no interval"] * len(drawn_rows)
    is_undecided = np.array(verdicts) == CANNOT_SAY
    estimates, interval_lows, interval_highs, tick_values = (
        np.where(is_undecided, NAN, drawn_rows.values(name) if name else NAN)
        for name in (settings.value, settings.low, settings.high, settings.tick)
    )  # fmt: skip
    if settings.is_change:
        texts_by_column[settings.value] = [signed(estimate, unit) for estimate in estimates]
    key_columns = [
        name
        for name in drawn_rows.metadata.key or drawn_rows.key_columns[:2]
        if name in drawn_rows.kind_by_column and name != "verdict"
    ]
    naming_columns = [*filter(drawn_rows.has_several_values, key_columns)] or key_columns
    name_parts = zip(
        *(texts_by_column[name] for name in settings.names or naming_columns), strict=True
    )
    # A row without a name is about all prompts, or is the group without a topic, "(none)".
    row_labels = [
        settings.join.join(
            name_part for name_part in dict.fromkeys(row_name_parts) if name_part != NO_VALUE_TEXT
            or not (settings.names or "all prompts" in row_name_parts)
        ) or settings.nothing
        for row_name_parts in name_parts
    ]  # fmt: skip
    row_labels = row_labels or [settings.nothing] * len(drawn_rows)
    cells = []
    row_texts = []
    for row, verdict in enumerate(verdicts):
        estimate_and_interval = estimates[row], interval_lows[row], interval_highs[row]
        row_text = settings.words.format(
            **{name: column[row] for name, column in texts_by_column.items()}
        )
        style = (
            _STYLE_BY_VERDICT.get(verdict, BAD_STYLE) if settings.colour == "verdict" else OWN_STYLE
        )
        if unit == RANK and settings.is_change and verdict in CHANGE_WORDS:
            # A higher position is worse.
            style = BAD_STYLE if verdict == UP else GOOD_STYLE
        if settings.colour == "certain" and estimate_and_interval[1] != estimate_and_interval[2]:
            style = NEUTRAL_STYLE
        reason = "" if np.isfinite(estimate_and_interval).any() else verdict.partition(" (")[0]
        row_texts.append(row_text * (not reason))
        cells.append(Cell(row, estimate_and_interval[0], style, 0.0, *estimate_and_interval[1:],
                          mark_kind="dots", missing_reason=reason,
                          tooltip=f"{row_labels[row]}\n{reason or row_text}"))  # fmt: skip
    headline = f"{row_labels[0]}: {row_texts[0] or cells[0].missing_reason}".replace("  ", ", ")
    headline *= settings.has_lead or len(drawn_rows) == 1
    headline = capitalize(headline) if settings.names or "measure" in texts_by_column else headline
    if settings.is_comparison and len(drawn_rows) > 1:
        change_count = sum(verdict in CHANGE_WORDS for verdict in verdicts)
        headline = f"{change_count} of {len(drawn_rows)}" if change_count else "Nothing is"
        headline += " shown to have changed"
        headline = "It cannot be said what changed" if is_undecided.all() else headline
    elif not (settings.names or key_columns or settings.has_lead) and "verdict" in texts_by_column:
        headline = capitalize(verdicts[0].partition(" (")[0])
    measure_names = {*texts_by_column.get("measure", ())}
    grouping_names = [humanize(name) for name in naming_columns if name != "measure"]
    picture_title = settings.title.format(
        by=f" by {' and '.join(grouping_names)}" * bool(grouping_names),
        measure=measure_names.pop() if len(measure_names) == 1 else "measures",
    )  # fmt: skip
    row_positions = np.arange(len(drawn_rows))
    axis_label = settings.axis + ", lower is better" * (unit == RANK and settings.is_change)
    x_scale = make_scale(
        np.concatenate([estimates, interval_lows, interval_highs, tick_values]),
        {FRACTION: FRACTION_CHANGE, RANK: None}.get(unit or "", unit) if settings.is_change
        else unit,
        1.04, label=axis_label, is_whole=unit == RANK,
    )  # fmt: skip
    low_declaration = data.column(settings.low or settings.value)
    confidence_level_match = re.search(r"\d+%", low_declaration.doc if low_declaration else "")
    assumption_match = re.search(
        "takes .+? for independent", "; ".join(texts_by_column.get("method", ()))
    )
    return make_row_spec(
        kind, drawn_rows, picture_title,
        make_row_names(drawn_rows, [*drawn_rows.kind_by_column, *naming_columns][-1], row_labels),
        cells, x_scale,
        [settings.value], total_rows=len(data),
        headline=headline,
        # Where room is short, the verdict goes before the number.
        text_columns=[*map(TextColumn, zip(*(text.partition("  ")[::2] for text in row_texts),
                                           strict=True))],
        extra_marks=[make_line_segments(tick_values, tick_values, row_positions - 0.28,
                                        row_positions + 0.28, INK_STYLE, 1.6)],
        reading_note=settings.how.format(
            level=f"{confidence_level_match[0]} " if confidence_level_match else "")
        + (f". The test {assumption_match[0]}" if assumption_match else ""),
        sample_note=f"not drawn, in other units: {counted(undrawn_count, 'change')}"
        * bool(undrawn_count),
    )  # fmt: skip


def make_changes_spec(data: PlotData, options: PlotOptions) -> Spec | None:
    """Return a chart of the levels between changes; None if the frame is no such result."""
    spec = make_result_spec("changes", data, options)
    if spec is None or np.isnan(data.values("before")).all():
        return spec
    frame = data.frame
    level_boundaries = to_epoch_days(
        pd.concat([frame["from_day"][:1], frame["day"].dropna(), frame["to_day"][-1:]])
    )
    levels = np.append(data.values("before")[0], data.values("after"))[: len(level_boundaries) - 1]
    uncertainty_boxes = Mark(
        "boxes", to_epoch_days(frame["first_day"]), data.values("after"), Style("grid"),
        ends=to_epoch_days(frame["last_day"]), size=INFINITY,
        tooltips=[f"level, {tooltip}" for mark in spec.marks for tooltip in mark.tooltips],
    )  # fmt: skip
    replay: Any = Explainer()._try_replay(frame)
    dots = [
        Mark("dots", to_epoch_days(daily_data.moments(replay.arguments["date"])),
             daily_data.values(replay.arguments["column"]), Style("rest"), size=4.0)
        for source in getattr(replay, "inputs", ())
        for daily_data in [to_plot_data(source.frame)]
    ]  # fmt: skip
    return replace(
        spec, text_columns=(), height=150.0,
        x=Scale(level_boundaries[0], level_boundaries[-1], "time",
                tick_days=[*np.arange(level_boundaries[0], level_boundaries[-1] + 1)]),
        y=make_scale(np.concatenate([levels, *(mark.y for mark in dots)]), data.unit("after"), 1.1),
        marks=[uncertainty_boxes, *dots,
               make_line_segments(level_boundaries[:-1], level_boundaries[1:], levels, levels,
                                  OWN_STYLE, 2.4)],
    )  # fmt: skip
