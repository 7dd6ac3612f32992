"""`PlotData`, a DataFrame prepared for plotting, and the reasons why values are missing."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import capitalize, humanize
from aatoolkit._util.units import UNITS
from aatoolkit.availability import Availability, Status, combine
from aatoolkit.display.plot.style import NO_VALUE_TEXT, Texts, are_states, find_engine_style
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.cell_status import COVERAGE_SUFFIX, CellStatuses, is_status_column, statuses_of
from aatoolkit.frame.duplicates import drop_repeated_rows, is_joined_table
from aatoolkit.frame.groupby import as_floats, flatten_index, period_groupers, to_naive_times
from aatoolkit.metadata.arrow_schema import declaration_of
from aatoolkit.metadata.attrs import (
    FrameMetadata,
    HeldResponse,
    declared_key,
    has_metadata,
    metadata_and_responses,
    metadata_of,
)  # fmt: skip
from aatoolkit.metadata.recorded import attach_keeping_recipe, cache_checks
from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    FRACTION_CHANGE,
    NONE,
    RANK,
    REQUESTS,
    SCORE,
    Aggregation,
)  # fmt: skip
from aatoolkit.sections.section import Column
from aatoolkit.stats.interval import Bounds, confidence_bounds

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

COLUMN_CONVENTIONS = json.loads(Path(__file__).with_name("names.json").read_bytes())
"""What pictures know about columns. Most entries are names of columns with a fixed meaning.

The entry ``kinds`` has the kind of a column by the ``kind`` of its dtype (columns of all other
dtypes hold words or lists). The entry ``steps`` has the fewest and the most hours between times
that are, for example, weeks.
"""

REQUEST_COLUMNS = COLUMN_CONVENTIONS["context"]
"""The columns that say for which days and when a row was requested; they hold no results."""

HOST_AND_DAYS_COLUMNS = ("host", "days")
"""The columns for the host and the number of days of a request; never add up rows across them."""

TITLE_COLUMNS = COLUMN_CONVENTIONS["titles"]
"""The names of columns that hold a readable title of the row; the English names come first."""

MIN_SAMPLE_SIZE = 10
"""A rate that is computed from fewer cases, such as answers, is mostly chance."""

_ID_ENDINGS = tuple(COLUMN_CONVENTIONS["ids"])
"""The endings of the names of columns that hold identifiers."""

_ID_VALUE_PATTERN = re.compile("[A-Za-z]+[-_][A-Za-z0-9-]+")
"""Matches identifiers, such as ``brd_X8m8`` or ``AC-1022``.

Hyphenated names, such as ``Coca-Cola``, also match, but URLs do not.
"""
_UNIT_BY_WORD = {word: unit for unit, facts in UNITS.items() for word in facts.metrics.split()}
"""The unit of a metric, by the last word of the metric's name, such as ``rate``."""
_DOMAIN_PATTERN = re.compile(r"^(?:https?://)?(?:www\.)?([^/]+)")
"""Matches the beginning of a URL; group 1 is the domain without ``www.``."""
_CODE_WORD_PATTERN = re.compile("(?!.*[0-9]{3})([a-z]+(_[a-z0-9]+)*|[A-Z]+(_[A-Z0-9]+)*)")
"""Matches code words, such as ``not_started`` or ``BLOCKED``."""
_CATEGORY_CODE_PATTERN = re.compile(
    "[a-z]{2,}([A-Z][a-z]+)+|[a-z0-9]+(_[a-z0-9]+)*|[A-Z0-9]+(_[A-Z0-9]+)+"
)
"""Matches code words among categories, such as ``notStarted``; not names such as ``US``."""
_ID_COLUMN_PATTERN = re.compile("(^|_)(ids?|sku|http|status|statut|code|year)(_|$)")
"""Matches names of identifiers, codes and years: numbers that nobody counts, adds or compares."""
_DESCRIBING_COLUMN_PATTERN = re.compile(f"({COVERAGE_SUFFIX}|_low|_high)$")
"""Matches names of columns that only describe another column, such as ``x_low`` for ``x``."""
_TOTAL_NAME_PATTERN = re.compile(
    r"(?i)\W*(all|total|overall|sum|gesamt|summe|todos|tous|totale)\b.*"
)
"""Matches names of rows that may be totals of the other rows, such as ``(all pages)``."""
_VAGUE_NAME_PATTERN = re.compile("value|(by|per)_.*|(dai|week|month)ly")
"""Matches names of columns that do not say what is measured, such as ``value`` or ``daily``."""
_NOTE_BY_UNIT = COLUMN_CONVENTIONS["notes"]
"""What the label of an axis says about its numbers, by their unit."""


@dataclass(frozen=True)
class PlotOptions:
    """The arguments of ``df.aa.plot`` that choose what to draw; None means the default.

    ``height``, the available height in points, limits the number of rows.
    """

    kind: str | None = None
    x: str | None = None
    y: Texts = ()
    color: str | None = None
    top: int | None = None
    height: float = np.inf

    def max_rows(self, default: int) -> int:
        """Return the maximum number of rows to draw.

        It is ``top`` or else ``default``, but not more rows than fit the height.
        """
        return int(min(self.top or default, max((self.height - 60) / (8 if self.top else 15), 2)))

    @property
    def is_chosen(self) -> bool:
        """Whether the user gave ``x``, ``y`` or ``color``."""
        return bool(self.x or self.y or self.color)


def _all_match(pattern: re.Pattern[str], values: pd.Series) -> bool:
    """Return whether all present values match a pattern as a whole; False if there are none."""
    present_values = values.array.dropna()
    return len(present_values) > 0 and all(map(pattern.fullmatch, map(str, present_values)))


def _classify_column(values: pd.Series) -> str:
    """Return the kind of a column: ``number``, ``time``, ``flag`` (bool), ``list`` or ``word``."""
    pandas_types = pd.api.types
    if pandas_types.is_object_dtype(values.dtype) and values.map(pandas_types.is_list_like).any():
        return "list"
    return str(COLUMN_CONVENTIONS["kinds"].get(values.dtype.kind, "word"))


def to_epoch_days(moments: Any) -> Numbers:
    """Return times as days since 1970, as matplotlib counts them; NaN for missing times."""
    days = (pd.DatetimeIndex(moments) - pd.Timestamp(0)) / pd.Timedelta("1D")
    return np.asarray(days, np.float64)


def rescale_to_unit_range(values: Numbers) -> Numbers:
    """Return numbers linearly scaled, so that the smallest is 0 and the largest is 1.

    NaN stays NaN. The result is empty if there are fewer than two numbers.
    """
    if np.isfinite(values).sum() < 2:
        return values[:0]
    lowest = np.nanmin(values)
    return (values - lowest) / (np.nanmax(values) - lowest or 1.0)


def fill_time_gaps(moments: pd.Series) -> pd.DatetimeIndex:
    """Return the distinct times, sorted, with gaps filled.

    If most times are equally far apart, such as a day, the missing times in between are added.
    """
    times = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(times) < 3:
        return times
    # If most steps are longer than the smallest, the times are not regular.
    regular_times = pd.date_range(times[0], times[-1], freq=times.diff().min())
    is_regular = times.isin(regular_times).all() and len(regular_times) < 2 * len(times)
    return regular_times if is_regular else times


_Result = TypeVar("_Result")


def cached_by_column(
    function: Callable[[PlotData, str], _Result],
) -> Callable[[PlotData, str], _Result]:
    """Decorate a function of a `PlotData` and a column name, so that its results are cached.

    The results are stored in the `PlotData`, by function and column name.
    """

    @wraps(function)
    def cached_function(data: PlotData, name: str) -> _Result:
        result_by_column = vars(data).setdefault(f"_{function.__name__}", {})
        if name not in result_by_column:
            result_by_column[name] = function(data, name)
        return result_by_column[name]  # type: ignore[no-any-return]

    return cached_function


@dataclass(frozen=True, eq=False)
class PlotData:
    """A DataFrame prepared for plotting, with its metadata and the API responses it was read from.

    If ``frame`` has only selected rows, ``unfiltered_data`` is the data from which they were
    selected, and ``positions_in_unfiltered`` are their positions there. ``has_last_day_labels``
    says whether periods, such as weeks, are labelled by their last day. Most methods take the name
    of a column.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata
    responses: tuple[HeldResponse, ...] = ()
    unfiltered_data: PlotData | None = None
    positions_in_unfiltered: slice | None = None
    has_last_day_labels: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    # --- columns

    @cached_property
    def series_by_column(self) -> dict[str, pd.Series]:
        """A dict from column name to Series, without ``attrs``, which would slow pandas."""
        return {str(name): values for name, values in pd.DataFrame(self.frame).items()}

    @cached_property
    def kind_by_column(self) -> dict[str, str]:
        """A dict from column name to ``number``, ``code``, ``time``, ``flag``, ``list``, ``word``.

        A ``flag`` is true or false. Whole numbers that nobody would add or compare, such as an HTTP
        status, are of the kind ``code``.
        """
        kind_by_column = {}
        for name, values in self.series_by_column.items():
            kind = _classify_column(values)
            is_id = _ID_COLUMN_PATTERN.search(name) and not getattr(self.column(name), "unit", None)
            if kind == "number" and is_id and not np.nansum(as_floats(values) % 1):
                kind = "code"
            kind_by_column[name] = kind
        return kind_by_column

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the names of all columns of a kind, such as ``number``, in order."""
        return [name for name in self.kind_by_column if self.kind_by_column[name] == kind]

    def is_category(self, name: str) -> bool:
        """Return whether a column is categorical."""
        return isinstance(self.frame[name].dtype, pd.CategoricalDtype)

    def has_states(self, name: str) -> bool:
        """Return whether at least half of a column's values are states, such as ``passed``."""
        return self.kind_by_column[name] == "word" and are_states(
            {*self.column_texts(name)} - {NO_VALUE_TEXT}
        )

    def has_engines(self, name: str | None) -> bool:
        """Return whether a column holds engines (AI assistants), which have fixed colours."""
        if not name or name.endswith("engine"):
            return bool(name)
        texts = self.column_texts(name)[:99]
        return 2 * len([*filter(find_engine_style, texts)]) > len(texts)

    @property
    def has_metadata(self) -> bool:
        """Whether it is known from which API response or table the frame comes."""
        return bool(self.metadata.sources or self.table_name)

    @property
    def table_name(self) -> str:
        """The name of the API table that most columns come from; "" if it is not known."""
        columns = self.metadata.columns.values()
        table_names = [
            column.table
            for column in columns
            if column.declared_name and not is_joined_table(column.table)
        ]
        return max(table_names, key=table_names.count, default="")

    @property
    def table_words(self) -> str:
        """The name of the frame's table, or of the statistic that computed it, in plain words."""
        table_name = re.sub("^statistics:|^[^:]*#[0-9a-f]+:|_[0-9a-f]{8}$", "", self.table_name)
        # Tables of a drafted section begin with the name of the section.
        return humanize(re.sub(r"^([a-z]+)s_(?=\1_)(?!\1_by_)", "", table_name))

    @cached_property
    def key_columns(self) -> list[str]:
        """The names of the key columns, without those that have the same value in all rows.

        If the frame has no key, columns of times or words that can label the rows are returned.
        """
        key_names = [name for name in self.metadata.key if name in self.kind_by_column]
        declared_names = declared_key(self.table_name)
        if not key_names and declared_names and {*declared_names} <= {*self.kind_by_column}:
            # Rows of several responses have no key; the key of their table labels them.
            key_names = [
                name
                for name in dict.fromkeys((*HOST_AND_DAYS_COLUMNS, *declared_names))
                if name in self.kind_by_column
            ]
        # Positions name no rows.
        if not {*key_names} <= {*self.columns_of_kind("number")}:
            return [*filter(self.has_several_values, key_names)] or key_names
        time_columns = [
            name for name in self.columns_of_kind("time") if name not in REQUEST_COLUMNS
        ]
        word_columns = sorted(
            self.columns_of_kind("word"), key=lambda name: not self.frame[name].is_unique
        )
        if time_columns and not self.frame[time_columns[0]].is_unique:
            return [time_columns[0], *word_columns[:1]]
        return (time_columns or word_columns)[:1]

    def has_several_values(self, name: str) -> bool:
        """Return whether a column has several distinct values."""
        return int(self.series_by_column[name].nunique(dropna=False)) > 1

    @property
    def time_keys(self) -> list[str]:
        """The names of the key columns that hold times."""
        return [name for name in self.key_columns if self.kind_by_column[name] == "time"]

    def is_repeated(self, name: str) -> bool:
        """Return whether a column comes from a table whose rows were repeated by a merge."""
        return self.metadata.columns[name].table in self.metadata.repeated_tables

    def column(self, name: str) -> Column | None:
        """Return the declaration of a column (unit, meaning and aggregation rule), or None."""
        return declaration_of(self.metadata.columns[name])

    def aggregation_rule(self, name: str) -> Aggregation:
        """Return a column's aggregation rule.

        It is ``NONE`` if the column has no rule, or the frame lacks a column that the rule needs.
        """
        column = self.column(name)
        rule = column.aggregate if column else NONE
        return rule if {*_aggregation_columns(rule)} <= {*self.kind_by_column} else NONE

    def aggregation_columns(self, name: str) -> tuple[str, ...]:
        """Return the names of the columns that a column's aggregation rule needs."""
        return _aggregation_columns(self.aggregation_rule(name))

    def is_rate(self, name: str) -> bool:
        """Return whether a column is a rate whose aggregate can be computed from counts."""
        rule = self.aggregation_rule(name)
        return bool(rule.over and not rule.why)

    def is_additive(self, name: str) -> bool:
        """Return whether the aggregation rule of a column is a sum."""
        return self.aggregation_rule(name).rule == "sum"

    def unit_column(self, name: str) -> str | None:
        """Return the name of the column that says which unit the column ``name`` has in each row.

        It holds units, such as ``count``, or names of metrics, each of which has a unit. The result
        is None if there is no such column.
        """
        column = self.column(name)
        unit_name = (column.unit_by if column.unit else "unit") if column else None
        return unit_name if unit_name in self.kind_by_column else None

    def has_mixed_units(self, name: str) -> bool:
        """Return whether a column has different units in different rows."""
        return len({*self.units(name)} - {NO_VALUE_TEXT}) > 1

    def unit(self, name: str) -> str | None:
        """Return the unit of a column if it is the same in all rows; else None."""
        units = {*self.units(name)} - {NO_VALUE_TEXT}
        return units.pop() if len(units) == 1 else None

    def units(self, name: str) -> list[str | None]:
        """Return the unit of a column's number in each row; None where it is unknown."""
        unit_column = self.unit_column(name)
        column = self.column(name)
        unit = column.unit if column else None
        if "currency" in (unit or ""):
            # The unit of price_amount is in price_currency, if there are several currencies.
            for currency_column in (f"{name.rpartition('_')[0]}_currency", *self.kind_by_column):
                if currency_column.endswith("currency") and currency_column in self.kind_by_column:
                    return [*self.column_texts(currency_column)]
        if unit_column is None or column is None:
            unit = RANK if _UNIT_BY_WORD.get(unit or name.rpartition("_")[2]) == RANK else unit
            return [unit] * max(len(self), 1)
        known_unit_texts = UNITS.keys() | column.units
        word_boundary_pattern = re.compile(r"_|(?=[A-Z])")
        units = [
            column.units.get(unit_text, unit_text) if unit_text in known_unit_texts
            else _UNIT_BY_WORD.get(word_boundary_pattern.split(unit_text)[-1].lower())
            for unit_text in self.column_texts(unit_column)
        ]  # fmt: skip
        # The change of a rate is in percentage points.
        is_change = name.endswith("change")
        return [FRACTION_CHANGE if is_change and unit == FRACTION else unit for unit in units]

    @cached_property
    def measure_columns(self) -> list[str]:
        """The names of numeric columns to draw, the most informative first (rates, scores …).

        Columns with the same number in all rows are left out, unless all are such columns.
        """
        ranked_names = sorted(
            filter(self._measure_priority, self.number_columns), key=self._measure_priority
        )
        return [name for name in ranked_names if self.frame[name].nunique() > 1] or ranked_names

    @property
    def number_columns(self) -> list[str]:
        """The names of numeric columns, without keys and columns that describe another column.

        For example, ``x_low`` describes ``x``.
        """
        return [
            name
            for name in self.columns_of_kind("number")
            if name not in (*self.key_columns, *REQUEST_COLUMNS)
            and not _DESCRIBING_COLUMN_PATTERN.search(name)
            and not is_status_column(self.frame, name)
        ]

    @cached_by_column
    def _measure_priority(self, name: str) -> int:
        """Return how informative a numeric column is, from 1 (most) to 6.

        The result is 0 if the column is not to be drawn by default.
        """
        unit = self.unit(name)
        if self.column(name) is None or (unit is None and "#" in self.table_name):
            return 5  # the units of a drafted section are not known
        if unit == FRACTION and self.is_rate(name):
            return 1
        is_additive_count = self.is_additive(name) and unit in (SCORE, COUNT, REQUESTS)
        # A drafted rate seldom has a rule, and says more than the counts beside it.
        is_drafted = "#" in self.table_name
        priority_by_unit = {SCORE: 2, FRACTION: 4 - 2 * is_drafted, FRACTION_CHANGE: 6}
        return 3 if is_additive_count else priority_by_unit.get(unit or "", 0)

    def sample_column(self, name: str) -> str | None:
        """Return the name of the column with the sample sizes of the column ``name``, or None.

        A sample size is, for example, the number of answers from which a rate was computed.
        """
        if rule_columns := self.aggregation_columns(name):
            return rule_columns[-1]
        candidates = [f"{name.rpartition('_')[0]}_n", "denominator", "sample_count", "answer_count"]
        return next(
            (
                candidate
                for candidate in candidates
                if candidate in self.kind_by_column and candidate != name
            ),
            None,
        )

    def rate_sample_column(self, name: str) -> str | None:
        """Return the name of the column with the sample sizes of a rate, mean rank or score.

        For other columns, and without such a column, the result is None. In a drafted table a count
        that only stands beside a rate may be of something else.
        """
        is_uncertain_sample = "#" in self.table_name and not self.aggregation_columns(name)
        has_sample = self.unit(name) in (FRACTION, RANK, SCORE) and not is_uncertain_sample
        return self.sample_column(name) if has_sample else None

    def axis_label(self, name: str) -> str:
        """Return the axis label of a column, such as "Score (0 to 100)".

        The result is "" if the tick labels alone show the unit.
        """
        unit = self.unit(name)
        return f"{humanize(name)} ({_NOTE_BY_UNIT[unit]})" if unit in _NOTE_BY_UNIT else ""

    # --- cells

    @cached_by_column
    def cell_statuses(self, name: str) -> CellStatuses:
        """Return whether each cell of a column was measured, and if not, why."""
        return statuses_of(self.frame, name, self.metadata)

    @cached_by_column
    def values(self, name: str) -> Numbers:
        """Return the numbers of a column as floats, with NaN for each cell that has no number."""
        values = as_floats(self.series_by_column[name])
        return np.where(self.cell_statuses(name).has_number & np.isfinite(values), values, np.nan)

    def is_count(self, name: str) -> bool:
        """Return whether all numbers of a column are integers, but its unit is no rate or score."""
        return not np.nansum(self.values(name) % 1) and self.unit(name) not in (FRACTION, SCORE)

    @cached_by_column
    def column_texts(self, name: str) -> Texts:
        """Return the values of a column as texts, with ``(none)`` for missing values.

        Codes that begin with the name of the column, such as ``STATE_PARTIAL``, lose it.
        """
        values = self.series_by_column[name]
        if self.kind_by_column[name] == "time":
            values = self.moments(name)
            has_only_days = bool((values.dropna() == values.dropna().dt.normalize()).all())
            values = values.dt.strftime("%Y-%m-%d" if has_only_days else "%Y-%m-%d %H:%M")
        if self.kind_by_column[name] == "code":
            values = values.astype("Int64")  # 404, also if missing values made it 404.0
        values = values.astype(object).where(values.notna(), NO_VALUE_TEXT)
        return [*values.map(str).str.removeprefix(f"{name.upper()}_")]

    @cached_by_column
    def labels(self, name: str) -> Texts:
        """Return the values of a column as readable texts.

        Code words, such as ``not_started``, become plain words. Identifiers are replaced by the
        titles that any table of the response has for them.
        """
        cell_texts = self.column_texts(name)
        title_by_id = dict[str, str]()
        for _, response_details in self.details_with_host:
            title_by_id = response_details.title_by_id | title_by_id
        is_id = name.endswith(_ID_ENDINGS) or title_by_id.keys() & {*cell_texts}
        is_code = (
            not is_id
            and all(map(_CODE_WORD_PATTERN.fullmatch, cell_texts))
            and any("_" in cell_text or cell_text[5:].isupper() for cell_text in cell_texts)
        )
        has_codes = name == "metric" or self.has_states(name) or is_code
        if has_codes or self.is_category(name):
            # Values with other capitals, such as US or eBay, are names.
            return [
                humanize(cell_text.lower() if cell_text.isupper() else cell_text)
                .replace(" ids", "s")
                if has_codes or _CATEGORY_CODE_PATTERN.fullmatch(cell_text) else cell_text
                for cell_text in cell_texts
            ]  # fmt: skip
        return [
            title_by_id.get(cell_text) or re.sub(r"^https?://", "", cell_text)
            for cell_text in cell_texts
        ]

    def varying_host_and_days(self, *excluded_columns: str | None) -> list[str]:
        """Return those of the columns ``host`` and ``days`` that have several values in the frame.

        Columns in ``excluded_columns`` are left out.
        """
        return [
            name
            for name in HOST_AND_DAYS_COLUMNS
            if name in self.kind_by_column
            and name not in excluded_columns
            and self.kind_by_column[name] != "time"  # days, but not the number of days
            and self.has_several_values(name)
        ]

    def has_one_row_per(self, name: str) -> bool:
        """Return whether each value of a column has one row only, per host and number of days."""
        return not self.frame.duplicated([name, *self.varying_host_and_days(name)]).any()

    def row_labels(
        self, name: str, *excluded_columns: str | None, row_texts: Texts | None = None
    ) -> list[str]:
        """Return a label for each row: the text of a column, after the host and days if these vary.

        ``row_texts``, one for each row, replace those of the column. The columns ``host`` and
        ``days`` are not used if they are in ``excluded_columns``.
        """
        context_texts = [
            [
                f"last {cell_text} days" if context_name == "days" else cell_text
                for cell_text in self.column_texts(context_name)
            ]
            for context_name in self.varying_host_and_days(name, *excluded_columns)
        ]
        parts_by_row = zip(
            *context_texts, self.labels(name) if row_texts is None else row_texts, strict=True
        )
        return [" · ".join(dict.fromkeys(label_parts)) for label_parts in parts_by_row]

    def moments(self, name: str) -> pd.Series:
        """Return a column as times in UTC, without a time zone."""
        return to_naive_times(self.series_by_column[name])

    def time_noun(self, name: str) -> str:
        """Return a noun for the smallest step between the times of a column, such as ``day``.

        If there is no noun for the step, the result is ``time``.
        """
        min_step_hours = round(
            24 * min(np.diff(np.unique(to_epoch_days(self.moments(name)))), default=0.0)
        )
        nouns = COLUMN_CONVENTIONS["steps"].items()
        return next((noun for noun, (low, high) in nouns if low <= min_step_hours <= high), "time")

    # --- rows

    def has_untitled_ids(self, name: str) -> bool:
        """Return whether a column holds identifiers for which no titles are known."""
        return f"_{name}".endswith(_ID_ENDINGS) and self.labels(name) == self.column_texts(name)

    @cached_property
    def label_column(self) -> str | None:
        """The name of the column whose values are the most readable names of the rows, or None."""
        key_column = next(
            (name for name in reversed(self.key_columns) if name not in self.time_keys), None
        )
        if key_column is None or not f"_{key_column}".endswith(_ID_ENDINGS):
            return key_column
        word_columns = [
            name for name in self.columns_of_kind("word") if not f"_{name}".endswith(_ID_ENDINGS)
        ]
        key_stem = key_column.removesuffix("_id")
        title_columns = [
            name
            for title_column in TITLE_COLUMNS
            for name in (title_column, f"{key_stem}_{title_column}")
            if name in word_columns
        ]
        # A value that several rows have cannot name a row.
        naming_columns = [
            name for name in word_columns if name in self.key_columns or self.frame[name].is_unique
        ]
        return next(iter((*title_columns, *naming_columns)), key_column)

    def measure_name(self, name: str) -> str:
        """Return what a column measures, in words, such as "mention rate".

        If the name of the column does not say it, as ``daily``, the result is "count" or "value".
        """
        if not self.table_name or not _VAGUE_NAME_PATTERN.fullmatch(name):
            return humanize(name)
        return "count" if self.unit(name) == COUNT else "value"

    def make_title(self, title_subject: str, *grouping_columns: str | None) -> str:
        """Return a title such as "Mention rate by engine".

        ``title_subject`` is the part before "by". ``grouping_columns`` are the names of columns;
        None is left out.
        """
        column_nouns = [
            humanize(name.removesuffix("_id").removeprefix("is_"))
            for name in grouping_columns
            if name
        ]
        # Numbers without a name of their own have that of their table.
        table_prefix = f"{self.table_words}: " * (title_subject in ("count", "value"))
        return capitalize(f"{table_prefix}{title_subject} by {' and '.join(column_nouns)}")

    def row_noun(self, name: str) -> str:
        """Return a noun for what a row is, such as ``action``, if the column ``name`` names it."""
        if self.kind_by_column[name] == "time":
            return self.time_noun(name)
        table_noun = self.table_words.removesuffix("s")
        if name == "id":
            return table_noun.rpartition(" ")[2]
        if name != self.label_column or name in self.key_columns:
            return name
        id_nouns = (
            key.removesuffix("_id") for key in reversed(self.key_columns) if key.endswith("_id")
        )
        return next(id_nouns, table_noun or name)

    def label_by_constant_key(self) -> dict[str, str]:
        """Return the key columns that have the same value in all rows, as a dict.

        It maps the name of the column to the value as readable text.
        """
        key_names = self.metadata.key or declared_key(self.table_name) or ()
        return {
            name: self.labels(name)[0]
            for name in key_names
            if self.kind_by_column.get(name, "number") != "number"  # positions name nothing
            and not self.has_several_values(name)
        }

    def daily_values(self, name: str) -> Numbers:
        """Return the daily numbers of the metric ``name``, from any table of the responses.

        The result is empty if no table has daily numbers of it.
        """
        daily_tables = [
            response_details.values_by_column for _, response_details in self.details_with_host
        ]
        return next((values[name] for values in daily_tables if name in values), np.empty(0))

    @cached_property
    def details_with_host(self) -> list[tuple[str, ResponseDetails]]:
        """Pairs of a host and the `ResponseDetails` (own names, titles, days) of a response.

        The first pair has the host "" and only titles, which are those in this frame. The other
        pairs are for the frame's responses, and for the responses read together with these.
        """
        frame_details = ResponseDetails()
        frame_details.add_table((self.unfiltered_data or self).frame)
        other_responses = (
            other_response
            for response in self.responses
            for other_response in getattr(response, "related_responses", ())
        )
        return [
            ("", ResponseDetails(title_by_id=frame_details.title_by_id)),
            *(
                (response.source.host or "", _read_response_details(response))
                for response in dict.fromkeys((*self.responses, *other_responses))
            ),
        ]

    @cached_property
    def window(self) -> tuple[str, str]:
        """The first and the last day that all responses cover, in ISO 8601; "" if not known."""
        sources = self.metadata.sources
        windows = [(source.window_start or "", source.window_end or "") for source in sources]
        windows += [_read_response_details(response).window for response in self.responses]
        if not any(map(all, windows)):
            # Other sections of the host may say what the window is.
            windows += filter(
                all, (response_details.window for _, response_details in self.details_with_host)
            )
        start_day = max((first_day for first_day, _ in windows), default="")
        end_day = min((last_day for _, last_day in windows if last_day), default="")
        return (start_day, end_day) if start_day <= (end_day or start_day) else ("", "")

    def partial_mask(self, name: str, x: str) -> Mask:
        """Return a boolean mask of a column's numbers that cover only some days of their period.

        ``x`` is the column of periods, such as weeks.
        """
        period_times = self.moments(x)
        window_start, window_end = self.window
        period_duration = pd.Timedelta(
            days=min(np.diff(np.unique(to_epoch_days(period_times))), default=1.0) - 1
        )
        period_starts = period_times - period_duration if self.has_last_day_labels else period_times
        is_incomplete = period_starts < pd.Timestamp(window_start or 0)
        is_incomplete |= (period_starts + period_duration).dt.normalize() > pd.Timestamp(
            window_end or "2262"
        )
        if name + COVERAGE_SUFFIX in self.kind_by_column:
            is_incomplete |= self.values(name + COVERAGE_SUFFIX) < 1
        return is_incomplete.to_numpy(bool) & ~np.isnan(self.values(name))

    def total_mask(self) -> Mask:
        """Return a boolean mask of the rows that are totals of others, such as ``(all pages)``."""
        is_total_row = np.zeros(len(self), bool)
        for name in self.key_columns:
            has_total_name = np.array(
                [*map(_TOTAL_NAME_PATTERN.fullmatch, self.column_texts(name))], bool
            )
            for column_values in map(self.values, self.number_columns):
                other_values = column_values[~has_total_name]
                is_sum_of_others = np.isclose(
                    np.nansum(column_values[has_total_name]), np.nansum(other_values)
                )
                if is_sum_of_others and np.isfinite(other_values).sum() > 1:
                    is_total_row |= has_total_name
        return is_total_row

    def own_mask(self, name: str) -> Mask:
        """Return a boolean mask of the rows in which a column names an own brand, site or page.

        If all rows are own, the mask is False everywhere: there is nothing to highlight.
        """
        if self.unfiltered_data:
            return self.unfiltered_data.own_mask(name)[self.positions_in_unfiltered]
        # If all rows are own, as in a crawl of the own pages, none needs a mark.
        return self._is_own(name) & ~self._is_own(name).all()

    def has_competitors(self, name: str) -> bool:
        """Return whether a column names brands, sites or pages of which some are not own."""
        if self.unfiltered_data:
            return self.unfiltered_data.has_competitors(name)
        has_host = any(host for host, _ in self.details_with_host)
        names_owners = name.endswith(("brand", "domain", *["url"] * has_host))
        # A path without a domain is of the own site.
        is_own_path = pd.Series(self.column_texts(name)).str.startswith("/")
        return bool(self.own_mask(name).any()) or (
            names_owners and not (self._is_own(name) | is_own_path).all()
        )

    @cached_by_column
    def _is_own(self, name: str) -> Mask:
        """Return a boolean mask of the rows in which a column names something own."""
        is_own_row = np.zeros(len(self), bool)
        if name in HOST_AND_DAYS_COLUMNS:
            return is_own_row
        is_labelled_brand = name == self.label_column != "brand" and self.has_one_row_per(name)
        if is_labelled_brand and "brand" in self.kind_by_column:
            is_own_row |= self._is_own("brand")
        for name_column, owner_column in _owner_columns(self.frame):
            if name_column == name:
                is_own_row |= _own_mask(self.frame[owner_column])
        domains = pd.Series(self.labels(name), dtype=object).str.extract(
            _DOMAIN_PATTERN, expand=False
        )
        for host, host_details in self.details_with_host:
            # An own brand of one host is a competitor of another.
            belongs_to_host = (
                self.series_by_column["host"].isin([host])
                if host and "host" in self.kind_by_column
                else True
            )
            is_host = domains.isin({*host_details.own_brands_and_sites, host})
            # Without a host there is no subdomain: no domain ends with a slash.
            is_subdomain = domains.str.endswith(f".{host or '/'}", na=False)
            is_own_row |= ((is_host | is_subdomain) & belongs_to_host).to_numpy(bool)
        return is_own_row

    def rows_at(self, positions: Any) -> PlotData:
        """Return the data of the rows at ``positions``, in this order."""
        return replace(
            self,
            frame=self.frame.iloc[positions].reset_index(drop=True),
            unfiltered_data=self,
            positions_in_unfiltered=positions,
        )

    def first_rows(self, max_rows: int) -> PlotData:
        """Return the data with at most its first ``max_rows`` rows."""
        return self.rows_at(slice(max_rows))

    def shown_slice(self, x: str, max_rows: int) -> slice:
        """Return the slice of rows to draw: the last rows if ``x`` is a time, else the first."""
        return slice(-max_rows, None) if self.kind_by_column[x] == "time" else slice(max_rows)

    def sorted_positions(self, name: str, x: str) -> npt.NDArray[np.intp]:
        """Return the positions of the rows, sorted by time or from the best number to the worst.

        Rates with small samples come after the others, and rows without a number last.
        """
        if self.kind_by_column[x] == "time":
            return np.argsort(self.moments(x), kind="stable")
        values = self.values(name)
        sort_keys = values if self.unit(name) == RANK else -values
        return np.lexsort([sort_keys, self.small_sample_mask(name), np.isnan(values)])

    def small_sample_mask(self, name: str) -> Mask:
        """Return a boolean mask of a column's rates, mean ranks or scores that have a small sample.

        A sample smaller than `MIN_SAMPLE_SIZE` is too small to compare its rate with others.
        """
        sample_column = self.rate_sample_column(name)
        is_small = self.values(sample_column or name) < MIN_SAMPLE_SIZE
        return is_small & bool(sample_column) & ~np.isnan(self.values(name))

    def combine_availability(self, columns: Iterable[str]) -> Availability:
        """Return the combined availability (status and reason) of several columns."""
        return combine(self.metadata.columns[name].availability for name in columns)

    @property
    def overall_availability(self) -> Availability:
        """The combined availability (status and reason) of all columns except the keys."""
        columns = self.metadata.columns
        return self.combine_availability(
            [name for name in columns if name not in self.key_columns] or columns
        )


def _aggregation_columns(rule: Aggregation) -> tuple[str, ...]:
    """Return the columns that an aggregation rule needs: the counts of a ratio, or the weights."""
    return (*(rule.over or ()), *filter(None, [rule.by]))


def to_plot_data(frame: pd.DataFrame) -> PlotData:
    """Return a frame prepared for plotting, as `PlotData`.

    Its index levels become columns. Rows that a merge repeated occur once.
    """
    with cache_checks():
        flat_frame = flatten_index(frame)
        metadata = metadata_of(flat_frame)
        if metadata.repeated_tables:
            flat_frame = drop_repeated_rows(flat_frame)
            metadata = metadata_of(flat_frame)
        rows = pd.DataFrame(flat_frame)  # without attrs, which each of its columns would copy
        rows.columns = pd.Index([str(name) for name in rows.columns])
        rows = rows.loc[:, ~rows.columns.duplicated(keep=False)].reset_index(drop=True)
        if has_metadata(flat_frame):
            # The rows are checked already; without repeated ones they would seem to be changed.
            attach_keeping_recipe(rows, metadata, flat_frame)
    return PlotData(rows, metadata, metadata_and_responses(flat_frame)[1])


# --- what other tables of the same answer say -------------------------------------------------

_MAX_BODY_BYTES = 1 << 22
"""The maximum size in bytes of a response that is read again for titles and own brands."""


@dataclass
class ResponseDetails:
    """Names, titles and days from all tables of a response, for pictures of any of these tables.

    - ``own_brands_and_sites``: the names of the project's own brands and sites.
    - ``title_by_id``: the readable title of each identifier.
    - ``values_by_column``: the numbers of tables with one row per day, by column.
    - ``day_by_column``: the dates in tables with a single row, by column.
    """

    own_brands_and_sites: set[str] = field(default_factory=set)
    title_by_id: dict[str, str] = field(default_factory=dict)
    values_by_column: dict[str, Numbers] = field(default_factory=dict)
    day_by_column: dict[str, str] = field(default_factory=dict)

    @property
    def window(self) -> tuple[str, str]:
        """The first and the last day that the response covers; "" for a day that is not known."""
        days = self.day_by_column
        start_days = [days[name] for name in days if re.search("(^|_)(from|start)$", name)]
        end_days = [days[name] for name in days if re.search("(^|_)(to|until|end|as_of)$", name)]
        return max(start_days, default=""), min(end_days, default="")

    def add_table(self, table: pd.DataFrame) -> None:
        """Add what one table of the response says to the attributes of this object.

        That is: the window, which a table of a single row states; the daily numbers, if the table
        has one row per day; the readable titles of identifiers; and the names of the project's own
        brands and sites.
        """
        table = pd.DataFrame(table)  # without attrs, which each of its columns would copy
        columns = [*map(str, table.columns)]
        own_rows = table
        if "brand" in table:
            own_rows = table[table["brand"].isin(self.own_brands_and_sites)]
        if len(table) == 1:
            day_values = table.select_dtypes("datetime").iloc[0].dropna()
            self.day_by_column |= {str(name): str(day)[:10] for name, day in day_values.items()}
        # In a table of days, the day is the first column, or the second beside a brand.
        time_columns = [
            name
            for name in columns[: 1 + ("brand" in table)]
            if _classify_column(table[name]) == "time"
        ]
        if time_columns and len(own_rows) and own_rows[time_columns[0]].is_unique:
            for name, daily_values in own_rows.select_dtypes("number").items():
                self.values_by_column.setdefault(str(name), as_floats(daily_values))
        id_columns = [
            name
            for name in columns
            if (name.endswith(_ID_ENDINGS) or _all_match(_ID_VALUE_PATTERN, table[name].head(9)))
            and "cursor" not in name
        ]
        row_id_column = next((name for name in id_columns if table[name].is_unique), "")
        for id_column in id_columns:
            id_column_stem = id_column.removesuffix("_id")
            titles = TITLE_COLUMNS if id_column == row_id_column else ()
            # The title of action_id is in action, action_title or, if it is the row's, in title.
            title_candidates = [
                id_column_stem,
                *(f"{id_column_stem}_{name}" for name in TITLE_COLUMNS),
                *titles,
            ]
            title_columns = [
                title_candidate
                for title_candidate in title_candidates
                if title_candidate in table
                and title_candidate not in id_columns
                # What several identifiers share is no title of any of them.
                and (table[title_candidate].nunique() > 1 or table[id_column].nunique() < 2)
            ]
            if title_columns:
                id_title_pairs = table[[id_column, title_columns[0]]].dropna().astype(str)
                self.title_by_id.update(id_title_pairs.itertuples(index=False, name=None))
        for name, owner_column in _owner_columns(table):
            self.own_brands_and_sites |= {
                *table[name][_own_mask(table[owner_column])].dropna().astype(str)
            }


_OWNER_AND_NAME_ENDINGS = COLUMN_CONVENTIONS["owners"]
"""Pairs of endings of column names.

Columns with the first endings say whether a row is about an own brand or site. Columns with the
second endings have the name of that brand or site.
"""

OWNER_COLUMNS = _OWNER_AND_NAME_ENDINGS[0][0]
"""The columns that say whether the brand of a row is the project's own brand."""


def _owner_columns(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of columns: one names a brand or site, the other says whether it is own."""

    def columns_ending_in(suffixes: Texts) -> list[str]:
        return [
            column
            for suffix in suffixes
            for column in map(str, table)
            if f"_{column}".endswith(f"_{suffix}")
        ]

    return [(name_column, owner_column)
            for owner_endings, name_endings in _OWNER_AND_NAME_ENDINGS
            for name_column in columns_ending_in(name_endings)[:1]
            for owner_column in columns_ending_in(owner_endings)]  # fmt: skip


def _own_mask(owner_values: pd.Series) -> Mask:
    """Return a boolean mask of the values that mean "own brand or site", such as ``owned``."""
    lower_case_texts = owner_values.astype("string").str.lower()
    return lower_case_texts.isin(["true", "own", "owned", "us"]).to_numpy(bool)


_DETAILS_BY_RESPONSE: WeakKeyDictionary[HeldResponse, ResponseDetails] = WeakKeyDictionary()


def _read_response_details(response: HeldResponse) -> ResponseDetails:
    """Return the `ResponseDetails` of a response: own brands, titles and days.

    They are cached, and empty if the response is too large or not in memory.
    """
    if response not in _DETAILS_BY_RESPONSE:
        response_details = _DETAILS_BY_RESPONSE[response] = ResponseDetails()
        is_small = response.body is not None and len(response.body) <= _MAX_BODY_BYTES
        for table in ((response.load_tables() if is_small else None) or {}).values():
            response_details.add_table(table)
    return _DETAILS_BY_RESPONSE[response]


# --- one row per mark -------------------------------------------------------------------------


def aggregate_by_mark(
    data: PlotData, grouping_columns: Texts, columns: Texts, freq: str = ""
) -> PlotData:
    """Return the data aggregated to one row per combination of values of the grouping columns.

    Each row becomes a mark of the picture, such as a bar or a dot. ``columns`` are the columns to
    aggregate. With ``freq``, a pandas alias such as "W", times are grouped by period.
    """
    grouping_columns = list(dict.fromkeys(grouping_columns))
    if not freq and not data.frame.duplicated(grouping_columns).any():
        return data
    # A group that was measured in part has the value of its measured rows.
    needed_columns = [
        *grouping_columns,
        *columns,
        *(rule_column for name in columns for rule_column in data.aggregation_columns(name)),
    ]
    # Which rows were not measured is stated by other columns, such as the engine of a label.
    needed_columns += (
        condition.column
        for name in columns
        for statement in data.metadata.columns[name].statements
        for condition in statement.rows
    )
    selected_columns = data.frame[
        [name for name in dict.fromkeys(needed_columns) if name in data.kind_by_column]
    ]
    groupers = (
        period_groupers(selected_columns, grouping_columns, freq) if freq else grouping_columns
    )
    with warnings.catch_warnings():
        # The title names the column that is drawn; that others do not fit says nothing about it.
        warnings.filterwarnings("ignore", "left out")
        grouped_data = to_plot_data(aggregate(selected_columns, groupers, None, True, {}, True))
    if not freq and columns[0] not in grouped_data.kind_by_column:
        raise AvailabilityError(
            f"nothing shows how {columns[0]} is aggregated; use df.aa.aggregate with rules= first"
        )
    # Weeks, and periods such as "ME", are named by their last day.
    return replace(grouped_data, has_last_day_labels=getattr(groupers[0], "closed", "") == "right")


def compute_intervals(
    data: PlotData, y: str, rows: PlotData | None = None, by: Texts = ()
) -> Bounds:
    """Return the confidence interval of the column ``y`` in each row, for error bars.

    If ``data`` was aggregated, ``rows`` is the data before aggregation, and ``by`` are the columns
    by which it was grouped.
    """
    unaggregated_frame = None if rows in (None, data, data.unfiltered_data) else rows.frame
    return confidence_bounds(data.frame, y, unaggregated_frame, by)


# --- why there is no number -------------------------------------------------------------------

NOT_MEASURED = "not measured"
NO_VALUE_GIVEN = "no value given"
NOTHING_TO_COUNT = "nothing to count"
NOT_LISTED = "not listed"
DOES_NOT_APPLY = "does not apply"

_ZERO_DENOMINATOR_REASONS = ("the denominator is 0", "zero weight", "nothing to count")
"""The reasons that an aggregate without a value has if its denominator is 0."""


def find_missing_reasons(data: PlotData, name: str) -> list[str]:
    """Return why a column has no value, for each row; "" for a row with a value.

    A reason is a constant of this module, such as `NOT_MEASURED`.
    """
    is_missing = (
        np.isnan(data.values(name))
        if data.kind_by_column[name] == "number"
        else data.frame[name].isna().to_numpy(bool)
    )
    sample_name = data.sample_column(name) or ""
    cell_statuses = data.cell_statuses(name)
    has_no_sample = ~is_missing
    if data.kind_by_column.get(sample_name) == "number":
        # A size that may not be measured says nothing.
        has_no_sample = (data.values(sample_name) == 0) & ~data.cell_statuses(
            sample_name
        ).has_status(Status.UNKNOWN)

    def row_reason(row: int, unit: str | None) -> str:
        availability = cell_statuses.availabilities[int(cell_statuses.codes[row])]
        status = availability.status
        if status == Status.NOT_APPLICABLE:
            return (
                NOTHING_TO_COUNT
                if availability.reason in _ZERO_DENOMINATOR_REASONS
                else DOES_NOT_APPLY
            )
        if status == Status.UNAVAILABLE:
            return NOT_MEASURED
        if has_no_sample[row] and unit in (FRACTION, RANK, SCORE):
            return NOTHING_TO_COUNT
        return NOT_MEASURED if status == Status.PARTIAL else NO_VALUE_GIVEN

    return [
        row_reason(row, unit) if is_missing[row] else ""
        for row, unit in enumerate(data.units(name))
    ]
