"""`PlotData`, a frame prepared for plotting, and the reasons why values are missing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import capitalized, humanize
from aatoolkit._util.units import UNITS
from aatoolkit.availability import Availability, Status, combine
from aatoolkit.display.plot.style import BLANK, Texts, are_states
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.cell_status import COVERAGE_END, Cells, cells_of, is_status_column
from aatoolkit.frame.duplicates import is_joined, without_repeated_rows
from aatoolkit.frame.groupby import as_floats, flatten_index, period_groupers, to_naive_times
from aatoolkit.metadata.arrow_schema import declaration_of
from aatoolkit.metadata.attrs import (
    FrameMetadata,
    HeldResponse,
    attached_metadata,
    declared_key,
    has_metadata,
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
from aatoolkit.stats.interval import Bounds, bounds

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NAMES = json.loads(Path(__file__).with_name("names.json").read_bytes())
"""The names of columns that mean something to a picture; and the ``kinds`` of columns by the kind
of their dtype (all other dtypes hold words or lists), and by how many digits times have,
their ``notations``: the dtype and the arguments for `pandas.to_datetime`."""

CONTEXT = NAMES["context"]
"""The columns that say which response a row is from; they hold no results."""

APART = ("host", "days")
"""The columns for the host and the window; rows that differ in them are never added up."""

TITLES = NAMES["titles"]
"""The names of columns that hold a readable name of the row, the English ones first."""

FEW = 10
"""The rate of fewer cases than this is mostly chance."""

_ID = ("_id", "_key", "sku", "cursor")
"""The endings of the names of columns that hold identifiers."""

_CODED = re.compile("[A-Za-z]+[-_][A-Za-z0-9-]+")
"""Matches identifiers, such as ``brd_X8m8`` or ``AC-1022``; of names too, but not of addresses."""
_MOMENT = re.compile(r"(1[2-9]|2[01])\d{8}(\d{3})?|(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")
"""Matches Unix times in seconds or milliseconds, and days in the form YYYYMMDD."""
_UNITS = {word: unit for unit, facts in UNITS.items() for word in facts.metrics.split()}
"""The unit of a metric by the last word of its name, such as ``rate``."""
_SITE = re.compile(r"^(?:https?://)?(?:www\.)?([^/]+)")
"""Matches the domain at the beginning of an address."""
_CODE = re.compile("[a-z]+(_[a-z0-9]+)*|[A-Z]+(_[A-Z0-9]+)*")
_LEVEL = re.compile("[a-z]{2,}([A-Z][a-z]+)+|[a-z0-9]+(_[a-z0-9]+)*|[A-Z0-9]+(_[A-Z0-9]+)+")
_CODE_NAME = re.compile("(^|_)(id|sku|http|status|statut|code|year)(_|$)")
"""Matches names of identifiers, codes and years: numbers that nobody counts, adds or compares."""
_ABOUT = re.compile(f"({COVERAGE_END}|_low|_high)$")
"""Matches the names of columns that are about another column."""
_TOTAL = re.compile(r"(?i)\W*(all|total|overall|sum|gesamt|summe|todos|tous|totale)\b.*")
"""Matches names of rows that may add up the others, such as ``(all pages)``."""
_BARE = re.compile("value|(by|per)_.*|(dai|week|month)ly")
"""Matches names that say nothing without their table, such as ``value`` or ``daily``."""
_AXIS = {SCORE: "0 to 100", RANK: "1 is best", FRACTION_CHANGE: "percentage points"}


@dataclass(frozen=True)
class Options:
    """The arguments of ``df.aa.plot`` that choose what to draw; None means the default.

    ``height`` is the available height in points.
    """

    kind: str | None = None
    x: str | None = None
    y: Texts = ()
    color: str | None = None
    top: int | None = None
    height: float = np.inf

    def max_rows(self, default: int) -> int:
        """Return the number of rows to draw: ``top`` or ``default``, limited by the height."""
        pitch = 8 if self.top else 15
        return int(max(min(self.top or default, (self.height - 60) / pitch), min(self.top or 2, 2)))

    @property
    def is_chosen(self) -> bool:
        """Whether the user gave ``x``, ``y`` or ``color``."""
        return bool(self.x or self.y or self.color)


def _all_match(pattern: re.Pattern[str], values: pd.Series) -> bool:
    present_values = values.array.dropna()
    return len(present_values) > 0 and all(map(pattern.fullmatch, map(str, present_values)))


def _kind_of(values: pd.Series) -> str:
    types = pd.api.types
    if types.is_object_dtype(values.dtype) and values.map(types.is_list_like).any():
        return "list"
    return str(NAMES["kinds"].get(values.dtype.kind, "word"))


def days_of(moments: Any) -> Numbers:
    """Return times as days since 1970, as matplotlib counts them; NaN for missing times."""
    days = (pd.DatetimeIndex(moments) - pd.Timestamp(0)) / pd.Timedelta("1D")
    return np.asarray(days, np.float64)


def shares_of_range(values: Numbers) -> Numbers:
    """Return numbers linearly scaled, so that the smallest is 0 and the largest is 1."""
    finite = values[~np.isnan(values)]
    return (values - finite.min()) / (np.ptp(finite) or 1.0) if finite.size > 1 else finite[:0]


def filled_times(moments: pd.Series) -> pd.DatetimeIndex:
    """Return the distinct times, sorted; in regular times, such as days, gaps are filled."""
    times = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(times) < 3:
        return times
    # If most steps are longer than the smallest, the times are not regular.
    full = pd.date_range(times[0], times[-1], freq=min(b - a for a, b in pairwise(times)))
    return full if times.isin(full).all() and len(full) < 2 * len(times) else times


_Function = TypeVar("_Function", bound=Callable[..., Any])


def per_column(function: _Function) -> _Function:
    """Decorate a function of a `PlotData` and a column, so that its result is cached by column."""

    @wraps(function)
    def computed(data: PlotData, name: str) -> Any:
        results = vars(data).setdefault(f"_{function.__name__}", {})
        if name not in results:
            results[name] = function(data, name)
        return results[name]

    return cast(_Function, computed)


@dataclass(frozen=True, eq=False)
class PlotData:
    """A frame prepared for plotting, with its metadata and the API responses it was read from.

    For a selection of rows, ``whole`` is the data that they were selected from, and ``positions``
    are their positions in it. ``is_by_last_day`` says whether periods, such as weeks, are labelled
    by their last day.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata
    responses: tuple[HeldResponse, ...] = ()
    whole: PlotData | None = None
    positions: slice | None = None
    is_by_last_day: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    # --- columns

    @cached_property
    def series(self) -> dict[str, pd.Series]:
        """A dict of the columns by name, as Series without ``attrs``, which would slow pandas."""
        return {str(name): values for name, values in pd.DataFrame(self.frame).items()}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """A dict from column name to kind: ``number``, ``time``, ``flag``, ``list`` or ``word``.

        Whole numbers that are no measures, such as an HTTP status, are of the kind ``code``.
        """
        return {name: self._kind(name, values) for name, values in self.series.items()}

    def _kind(self, name: str, values: pd.Series) -> str:
        kind = _kind_of(values)
        if kind == "number" and _CODE_NAME.search(name) and not _unit_of(self.column(name)):
            return kind if np.nansum(as_floats(values) % 1) else "code"
        return kind

    def of_kind(self, kind: str) -> list[str]:
        """Return the names of all columns of a kind, such as ``number``, in order."""
        return [name for name in self.kinds if self.kinds[name] == kind]

    def is_category(self, name: str) -> bool:
        """Return whether a column is categorical."""
        return isinstance(self.frame[name].dtype, pd.CategoricalDtype)

    def has_states(self, name: str) -> bool:
        """Return whether a column's texts are states, such as ``passed`` or ``unknown``."""
        levels = {*self.texts(name)} - {BLANK} if self.kinds[name] == "word" else ()
        return bool(levels) and are_states(levels)

    def has_engines(self, name: str | None) -> bool:
        """Return whether a column names engines (AI assistants), which have their own colours."""
        return (name or "").endswith("engine")

    @property
    def is_known(self) -> bool:
        """Whether the frame has metadata."""
        return bool(self.metadata.sources or self.table)

    @property
    def table(self) -> str:
        """The name of the table that most columns come from; empty if it is not known."""
        columns = self.metadata.columns.values()
        tables = [
            column.table
            for column in columns
            if column.declared_name and not is_joined(column.table)
        ]
        return max(tables, key=tables.count, default="")

    @property
    def is_result(self) -> bool:
        """Whether the frame is the result of a statistic, such as ``df.aa.compare``."""
        return self.table.startswith("statistics:")

    @property
    def table_words(self) -> str:
        """The name of the frame's table, or of the statistic that computed it, in plain words."""
        table = re.sub("^statistics:|^[^:]*#[0-9a-f]+:|_[0-9a-f]{8}$", "", self.table)
        # Tables of a drafted section begin with the name of the section.
        return humanize(re.sub(r"^([a-z]+)s_(?=\1_)(?!\1_by_)", "", table))

    @cached_property
    def keys(self) -> list[str]:
        """The key columns; without a key, columns of times or words that can label the rows."""
        names = [name for name in self.metadata.key if name in self.kinds]
        key = declared_key(self.table)
        if not names and key and {*key} <= {*self.kinds}:
            # Rows of several responses have no key; the key of their table labels them.
            names = [n for n in dict.fromkeys((*APART, *key)) if n in self.kinds]
        if names:
            return [*filter(self.varies, names)] or names
        main_times = [name for name in self.of_kind("time") if name not in CONTEXT]
        word_columns = sorted(self.of_kind("word"), key=lambda name: not self.frame[name].is_unique)
        if main_times and not self.frame[main_times[0]].is_unique:
            return [main_times[0], *word_columns[:1]]
        return (main_times or word_columns)[:1]

    def varies(self, name: str) -> bool:
        """Return whether a column has several distinct values."""
        return int(self.series[name].nunique(dropna=False)) > 1

    @property
    def time_keys(self) -> list[str]:
        """The names of the key columns that hold times."""
        return [name for name in self.keys if self.kinds[name] == "time"]

    def is_repeated(self, name: str) -> bool:
        """Return whether a merge repeated the rows of the table that a column comes from."""
        return self.metadata.columns[name].table in self.metadata.repeated_tables

    def column(self, name: str) -> Column | None:
        """Return the declaration of a column (unit, meaning and aggregation rule), or None."""
        return declaration_of(self.metadata.columns[name])

    def rule(self, name: str) -> Aggregation:
        """Return a column's aggregation rule; ``NONE`` if it has none or lacks columns for it."""
        column = self.column(name)
        rule = column.aggregate if column else NONE
        return rule if {*_rule_columns(rule)} <= {*self.kinds} else NONE

    def rule_columns(self, name: str) -> tuple[str, ...]:
        """Return the columns that a column's aggregation rule reads, e.g. two counts."""
        return _rule_columns(self.rule(name))

    def is_rate(self, name: str) -> bool:
        """Return whether a column is a rate that can be recomputed from counts."""
        rule = self.rule(name)
        return bool(rule.over and not rule.why)

    def is_additive(self, name: str) -> bool:
        """Return whether the aggregation rule of a column is a sum."""
        return self.rule(name).rule == "sum"

    def unit_column(self, name: str) -> str | None:
        """Return the name of the column with each row's unit or metric; None if there is none."""
        column = self.column(name)
        suffix = (column.unit_by if column.unit else "unit") if column else None
        candidates = suffix, f"{name.partition('_')[0]}_{suffix}"  # such as control_metric
        return next((name for name in candidates if name in self.kinds), None)

    def is_mixed(self, name: str) -> bool:
        """Return whether a column has different units in different rows."""
        return len({*self.units(name)} - {BLANK}) > 1

    def unit(self, name: str) -> str | None:
        """Return the unit of a column if it is the same in all rows; else None."""
        units = {*self.units(name)} - {BLANK}
        return units.pop() if len(units) == 1 else None

    def units(self, name: str) -> list[str | None]:
        """Return a list with the unit of each row of a column."""
        unit_column, column = self.unit_column(name), self.column(name)
        unit = _unit_of(column)
        if "currency" in (unit or ""):
            # The unit of price_amount is in price_currency, if there are several currencies.
            for money in (f"{name.rpartition('_')[0]}_currency", *self.kinds):
                if money.endswith("currency") and money in self.kinds:
                    return [*self.texts(money)]
        if unit_column is None or column is None:
            unit = RANK if _UNITS.get(unit or name.rpartition("_")[2]) == RANK else unit
            return [unit] * max(len(self), 1)
        known_units, separator = UNITS.keys() | column.units, re.compile(r"_|(?=[A-Z])")
        units = [
            column.units.get(word, word) if word in known_units
            else _UNITS.get(separator.split(word)[-1].lower()) for word in self.texts(unit_column)
        ]  # fmt: skip
        # The change of a rate is in percentage points.
        is_change = name.endswith("change")
        return [FRACTION_CHANGE if is_change and unit == FRACTION else unit for unit in units]

    @cached_property
    def measures(self) -> list[str]:
        """The names of numeric columns to draw, the most informative first (rates, scores …)."""
        names = sorted(filter(self._measure_rank, self.numbers), key=self._measure_rank)
        return [name for name in names if self.frame[name].nunique() > 1] or names

    @property
    def numbers(self) -> list[str]:
        """The names of numeric columns, except keys and columns such as ``x_low`` about ``x``."""
        return [
            name
            for name in self.of_kind("number")
            if name not in (*self.keys, *CONTEXT, "_row")
            and not _ABOUT.search(name)
            and not is_status_column(self.frame, name)
        ]

    @per_column
    def _measure_rank(self, name: str) -> int:
        """Return how informative a numeric column is: 1 (most) to 6; 0 if it is not to be drawn."""
        unit = self.unit(name)
        if self.column(name) is None or (unit is None and "#" in self.table):
            return 5  # the units of a drafted section are not known
        if unit == FRACTION and self.is_rate(name):
            return 1
        is_sum = self.is_additive(name) and unit in (SCORE, COUNT, REQUESTS)
        # A drafted rate seldom has a rule, and says more than the counts beside it.
        rate = 4 - 2 * ("#" in self.table and not self.keys[1:])
        return 3 if is_sum else {SCORE: 2, FRACTION: rate, FRACTION_CHANGE: 6}.get(unit or "", 0)

    def sample_column(self, name: str) -> str | None:
        """Return the name of the column with the sample sizes of ``name``, or None."""
        if parts := self.rule_columns(name):
            return parts[-1]
        candidates = [f"{name.rpartition('_')[0]}_n", "denominator", "sample_count", "answer_count"]
        return next((size for size in candidates if size in self.kinds and size != name), None)

    def rate_sample(self, name: str) -> str | None:
        """Return the name of the column with the sample sizes of a rate or mean, or None."""
        return self.sample_column(name) if self.unit(name) in (FRACTION, RANK, SCORE) else None

    def stands_out(self, name: str, best: Mask, ends: Bounds) -> bool:
        """Return whether the best numbers of a column exceed all others by more than chance.

        ``best`` is a boolean mask of the best rows. ``ends`` are the confidence intervals of all
        rows.
        """
        other = ~best & ~np.isnan(self.values(name))
        lowest, highest = ends.low[best].min(initial=np.inf), ends.high[other].max(initial=-np.inf)
        is_sample = self.sample_column(name) or not np.isnan(ends.low).all()
        return self.is_additive(name) or not is_sample or bool(lowest > highest)

    def axis_label(self, name: str) -> str:
        """Return the axis label of a column with its unit; "" if the tick labels show the unit."""
        unit = self.unit(name)
        return f"{humanize(name)} ({_AXIS[unit]})" if unit in _AXIS else ""

    # --- cells

    @per_column
    def cells(self, name: str) -> Cells:
        """Return the status of each cell of a column, i.e. whether it was measured."""
        return cells_of(self.frame, name, self.metadata)

    @per_column
    def values(self, name: str) -> Numbers:
        """Return the numbers of a column as floats, with NaN where nothing was measured."""
        values = as_floats(self.series[name])
        return np.where(self.cells(name).has_number & np.isfinite(values), values, np.nan)

    def is_count(self, name: str) -> bool:
        """Return whether all numbers of a column are integers that are neither rates nor scores."""
        return not np.nansum(self.values(name) % 1) and self.unit(name) not in (FRACTION, SCORE)

    @per_column
    def texts(self, name: str) -> Texts:
        """Return a column as a list of texts, with ``(none)`` for missing values."""
        values = self.series[name]
        if self.kinds[name] == "time":
            values = self.moments(name)
            is_day = bool((values.dropna() == values.dropna().dt.normalize()).all())
            values = values.dt.strftime("%Y-%m-%d" if is_day else "%Y-%m-%d %H:%M")
        if self.kinds[name] == "code":
            values = values.astype("Int64")  # 404, also if missing values made it 404.0
        return [*values.astype(object).where(values.notna(), BLANK).map(str)]

    @per_column
    def labels(self, name: str) -> Texts:
        """Return a column as readable texts: codes as words, titles instead of identifiers."""
        texts, titles = self.texts(name), dict[str, str]()
        for _, facts in self.facts_by_host:
            titles = facts.titles | titles
        is_id = name.endswith(_ID) or titles.keys() & {*texts}
        is_code = (
            not is_id
            and all(map(_CODE.fullmatch, texts))
            and any("_" in text or text[5:].isupper() for text in texts)
        )
        has_codes = name == "metric" or self.has_states(name) or is_code
        if has_codes or self.is_category(name):
            # Values with other capitals, such as US or eBay, are names.
            return [humanize(text.lower() if text.isupper() else text).replace(" ids", "s")
                    if has_codes or _LEVEL.fullmatch(text) else text for text in texts]  # fmt: skip
        return [titles.get(text) or re.sub(r"^https?://", "", text) for text in texts]

    def varying_context(self, *excluded: str | None) -> list[str]:
        """Return the names among ``host`` and ``days`` whose column has several values.

        Names in ``excluded`` are left out.
        """
        return [n for n in APART if n in self.kinds and n not in excluded and self.varies(n)]

    def has_one_row_per(self, name: str) -> bool:
        """Return whether each value of a column has one row only, per host and number of days."""
        return not self.frame.duplicated([name, *self.varying_context(name)]).any()

    def row_labels(self, name: str, *excluded: str | None, texts: Texts | None = None) -> list[str]:
        """Return a label for each row from a column, with host and days added if these vary.

        ``texts`` are used instead of the texts of the column.
        """
        columns = [[f"last {text} days" if n == "days" else text for text in self.texts(n)]
                   for n in self.varying_context(name, *excluded)]  # fmt: skip
        label_parts = zip(*columns, self.labels(name) if texts is None else texts, strict=True)
        return [" · ".join(dict.fromkeys(parts)) for parts in label_parts]

    def moments(self, name: str) -> pd.Series:
        """Return a column as times in UTC, without a time zone."""
        return to_naive_times(self.series[name])

    def time_noun(self, name: str) -> str:
        """Return a noun for the time step of a column, such as ``day``; ``time`` if unknown."""
        step_hours = round(24 * min(np.diff(np.unique(days_of(self.moments(name)))), default=0.0))
        nouns = {1: "hour", 24: "day", 168: "week", 8760: "year"}
        return nouns.get(step_hours, "month" if 672 <= step_hours <= 744 else "time")

    # --- rows

    def is_bare_key(self, name: str) -> bool:
        """Return whether a column holds identifiers for which no titles are known."""
        return f"_{name}".endswith(_ID) and self.labels(name) == self.texts(name)

    @cached_property
    def label_column(self) -> str | None:
        """The name of the column that names each row most readably, or None."""
        key = next((name for name in reversed(self.keys) if name not in self.time_keys), None)
        if key is None or not f"_{key}".endswith(_ID):
            return key
        word_columns = [n for n in self.of_kind("word") if not f"_{n}".endswith(_ID)]
        stem = key.removesuffix("_id")
        title_columns = [
            name for n in TITLES for name in (n, f"{stem}_{n}") if name in word_columns
        ]
        # A value that several rows have cannot name a row.
        distinct = [
            name for name in word_columns if name in self.keys or self.frame[name].is_unique
        ]
        return next(iter((*title_columns, *distinct)), key)

    def measure(self, name: str) -> str:
        """Return the name of a column's numbers in words.

        A name without meaning, such as ``daily``, is replaced by what is counted: by its unit.
        """
        if not self.table or not _BARE.fullmatch(name):
            return humanize(name)
        return "count" if self.unit(name) == COUNT else "value"

    def title(self, what: str, *by: str | None) -> str:
        """Return a title such as "Mention rate by engine"; ``what`` is the part before "by"."""
        nouns = [humanize(name.removesuffix("_id").removeprefix("is_")) for name in by if name]
        # Numbers without a name of their own have that of their table.
        table = f"{self.table_words}: " * (what in ("count", "value"))
        return capitalized(f"{table}{what} by {' and '.join(nouns)}")

    def row_noun(self, name: str) -> str:
        """Return a noun for the values of a column, such as ``action`` or ``day``."""
        if self.kinds[name] == "time":
            return self.time_noun(name)
        if name != self.label_column or name in self.keys:
            return name
        title = self.table_words.removesuffix("s") * (name in TITLES[:6])
        id_nouns = (key.removesuffix("_id") for key in reversed(self.keys) if key.endswith("_id"))
        return next(id_nouns, title or name)

    def constants(self) -> dict[str, str]:
        """A dict of the key columns that have the same value in all rows, each with its label."""
        key = self.metadata.key or declared_key(self.table) or ()
        names = [name for name in key if name in self.kinds and not self.varies(name)]
        return {name: self.labels(name)[0] for name in names}

    def daily_values(self, name: str) -> Numbers:
        """Return the daily values of a metric from any table of the response; empty if none."""
        values_by_host = [facts.daily_values for _, facts in self.facts_by_host]
        return next((values[name] for values in values_by_host if name in values), np.empty(0))

    @cached_property
    def facts_by_host(self) -> list[tuple[str, ResponseFacts]]:
        """Pairs of a host and the `ResponseFacts` of a response of it.

        The first pair has the host "" and the titles in this frame.
        """
        facts = ResponseFacts()
        facts.add_table(self.frame)
        neighbours = (
            neighbour
            for response in self.responses
            for neighbour in getattr(response, "beside", ())
        )
        return [
            ("", ResponseFacts(titles=facts.titles)),
            *(
                (response.source.host or "", _facts_of(response))
                for response in dict.fromkeys((*self.responses, *neighbours))
            ),
        ]

    @cached_property
    def window(self) -> tuple[str, str]:
        """The first and the last measured day in ISO 8601; "" for a day that is not known."""
        sources = self.metadata.sources
        dated = [(source.window_start or "", source.window_end or "") for source in sources]
        dated += [_facts_of(response).window for response in self.responses]
        if not any(all(days) for days in dated):
            # Other sections of the host may say what the window is.
            dated += filter(all, (facts.window for _, facts in self.facts_by_host))
        start = max((first for first, _ in dated), default="")
        end = min((last for _, last in dated if last), default="")
        return (start, end) if start <= (end or start) else ("", "")

    def is_part(self, name: str, x: str) -> Mask:
        """Return a boolean mask of a column's numbers that cover only some days of their period."""
        moments, (start, end) = self.moments(x), self.window
        step = pd.Timedelta(days=min(np.diff(np.unique(days_of(moments))), default=1.0) - 1)
        first = moments - step if self.is_by_last_day else moments
        is_cut = first < pd.Timestamp(start or 0)
        is_cut |= (first + step).dt.normalize() > pd.Timestamp(end or "2262")
        if name + COVERAGE_END in self.kinds:
            is_cut |= self.values(name + COVERAGE_END) < 1
        return is_cut.to_numpy(bool) & ~np.isnan(self.values(name))

    def are_totals(self) -> Mask:
        """Return a boolean mask of the rows that add up the others, such as ``(all pages)``."""
        are_totals = np.zeros(len(self), bool)
        for name in self.keys:
            is_named = np.array([*map(_TOTAL.fullmatch, self.texts(name))], bool)
            for values in map(self.values, self.numbers):
                parts = values[~is_named]
                is_sum = np.isclose(np.nansum(values[is_named]), np.nansum(parts))
                if is_sum and np.isfinite(parts).sum() > 1:
                    are_totals |= is_named
        return are_totals

    def is_own(self, name: str) -> Mask:
        """Return a boolean mask of the rows in which a column names the own brand, site or page."""
        if self.whole:
            return self.whole.is_own(name)[self.positions]
        is_own = np.zeros(len(self), bool)
        if name in APART:
            return is_own
        for named, owner_column in _owner_columns(self.frame):
            if named == name:
                is_own |= _are_own(self.frame[owner_column])
        sites = pd.Series(self.texts(name), dtype=object).str.extract(_SITE, expand=False)
        for host, facts in self.facts_by_host:
            # An own brand of one host is a competitor of another.
            is_of_host = self.series["host"].isin([host]) if host and "host" in self.kinds else True
            is_own |= (sites.isin({*facts.own, host}) & is_of_host).to_numpy(bool)
        # If all rows are own, as in a crawl of the own pages, none needs a mark.
        return is_own & ~is_own.all()

    def rows_at(self, positions: Any) -> PlotData:
        """Return the data of the rows at these positions, in this order, numbered from 0."""
        frame = self.frame.iloc[positions].reset_index(drop=True)
        return replace(self, frame=frame, whole=self, positions=positions)

    def first(self, max_rows: int) -> PlotData:
        """Return the data with at most its first ``max_rows`` rows."""
        return self.rows_at(slice(max_rows))

    def shown_slice(self, x: str, max_rows: int) -> slice:
        """Return the slice of rows to draw: the last rows if ``x`` is a time, else the first."""
        return slice(-max_rows, None) if self.kinds[x] == "time" else slice(max_rows)

    def best_first(self, name: str, x: str = "") -> npt.NDArray[np.intp]:
        """Return the positions of the rows, sorted by time or from the best number to the worst.

        Rates with small samples come after the others, and rows without a number last.
        """
        if self.kinds.get(x) == "time":
            return np.argsort(self.moments(x), kind="stable")
        values = self.values(name)
        sort_keys = values if self.unit(name) == RANK else -values
        return np.lexsort([sort_keys, self.has_few(name), np.isnan(values)])

    def has_few(self, name: str) -> Mask:
        """Return a boolean mask of the rates whose sample is too small to compare them."""
        sample = self.rate_sample(name)
        few = self.values(sample or name) < FEW
        return few & bool(sample) & ~np.isnan(self.values(name))

    def combined_availability(self, columns: Iterable[str]) -> Availability:
        """Return the combined availability (status and reason) of several columns."""
        return combine(self.metadata.columns[name].availability for name in columns)

    @property
    def overall_availability(self) -> Availability:
        """The combined availability (status and reason) of all columns except the keys."""
        columns = self.metadata.columns
        return self.combined_availability(
            [name for name in columns if name not in self.keys] or columns
        )


def _unit_of(column: Column | None) -> str | None:
    return column.unit if column else None


def _rule_columns(rule: Aggregation) -> tuple[str, ...]:
    return (*(rule.over or ()), *filter(None, [rule.by]))


def plot_data(frame: pd.DataFrame) -> PlotData:
    """Prepare a frame for plotting; its index levels become columns."""
    with cache_checks():
        flat = flatten_index(frame)
        metadata = metadata_of(flat)
        if metadata.repeated_tables:
            flat = without_repeated_rows(flat)
            metadata = metadata_of(flat)
        rows = pd.DataFrame(flat)  # without attrs, which each of its columns would copy
        rows.columns = pd.Index([str(name) for name in rows.columns])
        rows = rows.loc[:, ~rows.columns.duplicated(keep=False)].reset_index(drop=True)
        for name in map(str, rows):
            if not (_unit_of(declaration_of(metadata.columns[name])) or _CODE_NAME.search(name)):
                rows[name] = _times_from_digits(rows[name])
        if has_metadata(flat):
            # The rows are checked already; with new numbers they would seem to be changed.
            attach_keeping_recipe(rows, metadata, flat)
    return PlotData(rows, metadata, attached_metadata(flat)[1])


def _times_from_digits(values: pd.Series) -> pd.Series:
    """Return a column of Unix times, or of days such as 20261115, as times; others unchanged."""
    if not _all_match(_MOMENT, values):
        return values
    dtype, notation = NAMES["notations"][str(len(str(values.dropna().iloc[0])))]
    times = pd.to_datetime(values.astype("string").astype(dtype), errors="coerce", **notation)
    return times if times.notna().equals(values.notna()) else values


# --- what other tables of the same answer say -------------------------------------------------

_LARGEST = 1 << 22
"""The maximum size in bytes of a response that is read again for titles and own brands."""


@dataclass
class ResponseFacts:
    """Facts collected from all tables of a response: own names, titles, daily values and days.

    - ``own``: the names of the project's own brands and sites.
    - ``titles``: the title of each identifier.
    - ``daily_values``: the numbers of daily tables by column.
    - ``days``: the dates in tables of one row, by column.
    """

    own: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    daily_values: dict[str, Numbers] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)

    @property
    def window(self) -> tuple[str, str]:
        """The first and the last day that the response covers; "" for a day that is not known."""
        starts, ends = (
            [day for name, day in self.days.items() if re.search(f"(^|_)({endings})$", name)]
            for endings in ("from|start", "to|until|end|as_of")
        )
        return max(starts, default=""), min(ends, default="")

    def add_table(self, table: pd.DataFrame) -> None:
        """Collect the facts of one table: titles, daily values and days."""
        table = pd.DataFrame(table)  # without attrs, which each of its columns would copy
        columns, own_rows = [*map(str, table.columns)], table
        if "brand" in table:
            own_rows = table[table["brand"].isin(self.own)]
        if len(table) == 1:
            days = table.select_dtypes("datetime").iloc[0].dropna()
            self.days |= {str(name): str(day)[:10] for name, day in days.items()}
        times = [n for n in columns[: 1 + ("brand" in table)] if _kind_of(table[n]) == "time"]
        if times and len(own_rows) and own_rows[times[0]].is_unique:
            for name, values in own_rows.select_dtypes("number").items():
                self.daily_values.setdefault(str(name), as_floats(values))
        ids = [
            name
            for name in columns
            if name.endswith(_ID) or _all_match(_CODED, table[name].head(9))
        ]
        main_id = next((name for name in ids if table[name].is_unique), "")
        for id_column in ids:
            stem = id_column.removesuffix("_id")
            titles = TITLES if id_column == main_id else ()
            candidates = (stem, *(f"{stem}_{name}" for name in TITLES), *titles)
            for title in [n for n in candidates if n in table and n not in ids][:1]:
                pairs = table[[id_column, title]].dropna().astype(str)
                self.titles.update(pairs.itertuples(index=False, name=None))
        for name, owner_column in _owner_columns(table):
            self.own |= {*table[name][_are_own(table[owner_column])].dropna().astype(str)}


_OWNERS = NAMES["owners"]
"""The endings of columns that say what is own, and of those whose names it is said of."""

OWNER_COLUMNS = _OWNERS[0][0]
"""The columns that say whether a brand is the own one."""


def _owner_columns(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return pairs of a column, such as a brand, and a column that says whether it is own."""

    def ending(words: Texts) -> list[str]:
        return [n for word in words for n in map(str, table) if f"_{n}".endswith(f"_{word}")]

    return [(named, owner_column) for owners, names in _OWNERS for named in ending(names)[:1]
            for owner_column in ending(owners)]  # fmt: skip


def _are_own(values: pd.Series) -> Mask:
    texts = values.astype("string").str.lower()
    return texts.isin(["true", "own", "owned", "us"]).to_numpy(bool)


_FACTS: WeakKeyDictionary[HeldResponse, ResponseFacts] = WeakKeyDictionary()


def _facts_of(response: HeldResponse) -> ResponseFacts:
    """Return the `ResponseFacts` of a response, from a cache if its tables were read before."""
    if response not in _FACTS:
        facts = _FACTS[response] = ResponseFacts()
        is_small = response.body is not None and len(response.body) <= _LARGEST
        for table in ((response.tables() if is_small else None) or {}).values():
            facts.add_table(table)
    return _FACTS[response]


# --- one row per mark -------------------------------------------------------------------------


def one_row_per_mark(data: PlotData, by: Texts, columns: Texts, freq: str = "") -> PlotData:
    """Aggregate the data to one row per combination of the columns ``by``.

    Each row becomes a mark of the picture, such as a bar or a dot. ``freq`` is the period of times,
    such as "W".
    """
    by = list(dict.fromkeys(by))
    if not freq and not data.frame.duplicated(by).any():
        return data
    # A group that was measured in part has the value of its measured rows.
    names = [*by, *columns, *(needed for name in columns for needed in data.rule_columns(name))]
    # Which rows were not measured is stated by other columns, such as the engine of a label.
    names += (
        condition.column
        for name in columns
        for statement in data.metadata.columns[name].statements
        for condition in statement.rows
    )
    selected = data.frame[[name for name in dict.fromkeys(names) if name in data.kinds]]
    grouping = period_groupers(selected, by, freq) if freq else by
    grouped = plot_data(aggregate(selected, grouping, None, True, {}, True))
    # Weeks, and periods such as "ME", are named by their last day.
    return replace(grouped, is_by_last_day=getattr(grouping[0], "closed", "") == "right")


def whiskers(data: PlotData, y: str, rows: PlotData | None = None, by: Texts = ()) -> Bounds:
    """Return the confidence interval of the column ``y`` in each row, for error bars.

    If ``data`` was aggregated, ``rows`` is the data before, and ``by`` the grouping columns.
    """
    unaggregated = None if rows in (None, data, data.whole) else rows.frame
    return bounds(data.frame, y, unaggregated, by)


# --- why there is no number -------------------------------------------------------------------

NOT_MEASURED, NOT_GIVEN = "not measured", "no value given"
NO_METADATA, NOT_LISTED, DOES_NOT_APPLY = "nothing to count", "not listed", "does not apply"

_NOTHING_REASONS = ("the denominator is 0", "zero weight", "nothing to count")
"""The reasons that an aggregation gives where the denominator is 0."""


def missing_reasons(data: PlotData, name: str) -> list[str]:
    """Return for each row the reason why a column has no value, e.g. "not measured"; else ""."""
    is_number = data.kinds[name] == "number"
    missing = np.isnan(data.values(name)) if is_number else data.frame[name].isna().to_numpy(bool)
    size, cells, has_no_sample = data.sample_column(name) or "", data.cells(name), ~missing
    if data.kinds.get(size) == "number":  # a size that may not be measured says nothing
        has_no_sample = (data.values(size) == 0) & ~data.cells(size).has_any(Status.UNKNOWN)

    def reason(row: int, unit: str | None) -> str:
        state = cells.states[int(cells.state_codes[row])]
        status = state.status
        if status == Status.NOT_APPLICABLE:
            return NO_METADATA if state.reason in _NOTHING_REASONS else DOES_NOT_APPLY
        if status == Status.UNAVAILABLE:
            return NOT_MEASURED
        if has_no_sample[row] and unit in (FRACTION, RANK, SCORE):
            return NO_METADATA
        return NOT_MEASURED if status == Status.PARTIAL else NOT_GIVEN

    return [reason(row, unit) if missing[row] else "" for row, unit in enumerate(data.units(name))]
