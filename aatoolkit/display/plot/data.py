"""`PlotData`: a frame with the role of each column: label, number, time, flag."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit.availability import Availability, combine
from aatoolkit.display.plot.owners import BRANDS, SITES, TITLES, Sides, owners_in, titles_in
from aatoolkit.display.plot.style import BLANK
from aatoolkit.frame.cell_status import COVERAGE, Cells, cells_of, is_status_column
from aatoolkit.frame.duplicates import once
from aatoolkit.frame.groupby import flattened
from aatoolkit.frame.merge import is_joined
from aatoolkit.metadata.arrow_schema import declared, declared_key
from aatoolkit.metadata.attrs import (
    FrameMetadata,
    has_metadata,
    metadata_of,
    over_rows,
)
from aatoolkit.metadata.recorded import attach_changed
from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    FRACTION_CHANGE,
    RANK,
    REQUESTS,
    SCORE,
    Aggregation,
)
from aatoolkit.sections.section import Column

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

CONTEXT = ("days", "window_start", "window_end", "fetched_at")
"""Columns that say of which answer a row is, and nothing of what was answered."""

APART = ("host", "days")
"""The columns that distinguish hosts and windows, which are never added up."""

_PREFERRED_UNITS = (
    FRACTION,
    SCORE,
    COUNT,
    REQUESTS,
    "checks",
    "answers",
    "citations per retrieval",
)

_UNITS = {
    "fraction": FRACTION,
    "rate": FRACTION,
    "share": FRACTION,
    "voice": FRACTION,
    "score": SCORE,
    "rank": RANK,
    "position": RANK,
    "count": COUNT,
}
"""Units by name, and by the last word of metric names."""


def unit_of_metric(word: str) -> str | None:
    """The unit of a metric name such as ``mentionRate``, or of ``fraction`` itself."""
    return _UNITS.get(re.split(r"_|(?=[A-Z])", word)[-1].lower())


def metric_words(word: str) -> str:
    """A metric's name such as ``mentionRate`` in words; other texts as they are."""
    if not word.isidentifier():
        return word
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", word).lower()


def _is_list(value: object) -> bool:
    return isinstance(value, tuple) or not pd.api.types.is_hashable(value)


def kind_of(values: pd.Series) -> str:
    """What a column holds: ``number``, ``time``, ``flag``, ``list`` or ``word``."""
    dtype: Any = values.dtype
    if pd.api.types.is_object_dtype(dtype) and values.map(_is_list).any():
        return "list"
    if isinstance(dtype, pd.ArrowDtype):
        arrow = dtype.pyarrow_dtype
        if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_struct(arrow):
            return "list"
        if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow):
            return "time"
    if pd.api.types.is_bool_dtype(dtype):
        return "flag"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "time"
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    return "number" if is_number else "word"


def days_of(moments: pd.DatetimeIndex | pd.Series) -> Numbers:
    """Moments as days since 1970, as matplotlib counts them; NaN for missing ones."""
    days = (pd.DatetimeIndex(moments) - pd.Timestamp(0)) / pd.Timedelta("1D")
    return np.asarray(days, np.float64)


def moments_between(moments: pd.Series) -> pd.DatetimeIndex:
    """All times from the first to the last, at the smallest step between two of them."""
    times = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(times) < 3:
        return times
    whole = pd.date_range(times[0], times[-1], freq=min(b - a for a, b in pairwise(times)))
    return whole if times.isin(whole).all() and len(whole) <= 50 * len(times) else times


@dataclass(frozen=True, eq=False)
class PlotData:
    """A frame with plain column names, and its metadata.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame; index levels are columns, and column names are unique.
    metadata : FrameMetadata
        Its metadata.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each column: ``number``, ``time``, ``flag``, ``list`` or ``word``."""
        return {str(name): kind_of(values) for name, values in self.frame.items()}

    def of_kind(self, *kinds: str) -> list[str]:
        """The columns of some kinds, in their order."""
        return [name for name, kind in self.kinds.items() if kind in kinds]

    @property
    def is_known(self) -> bool:
        """Whether the frame has metadata."""
        return bool(self.metadata.sources or self.table)

    @cached_property
    def keys(self) -> list[str]:
        """The key columns; without a key, the first time, else the first word."""
        if self.metadata.key:
            named = [name for name in self.metadata.key if name in self.kinds]
            # Of an archive's rows the context is part of the key, and often the same in all.
            varied = [name for name in named if not _is_context(name) or self._varies(name)]
            return varied or named
        # Rows of several answers have no key of their own, but that of their table for labels.
        of_table = declared_key(self.table) or ()
        if of_table and all(name in self.kinds for name in of_table):
            # These columns alone distinguish rows of several hosts or windows.
            apart = [name for name in APART if name in self.kinds and name not in of_table]
            return [*filter(self._varies, apart), *of_table]
        times = [name for name in self.of_kind("time") if name not in CONTEXT]
        return (times or self.of_kind("word") or self.of_kind("time"))[:1]

    def _varies(self, name: str) -> bool:
        return int(self.frame[name].nunique(dropna=False)) > 1

    @property
    def times(self) -> list[str]:
        """The time columns of the key."""
        return [name for name in self.keys if self.kinds[name] == "time"]

    def column(self, name: str) -> Column | None:
        """The declaration of a column."""
        return declared(self.metadata.columns[name])

    def rule(self, name: str) -> Aggregation | None:
        """The aggregation rule of a column, if the columns it needs are present."""
        column = self.column(name)
        rule = column.aggregate if column else None
        return rule if all(part in self.kinds for part in _parts(rule)) else None

    def parts(self, name: str) -> tuple[str, ...]:
        """The columns that the aggregation rule of a column needs."""
        return _parts(self.rule(name))

    def unit_column(self, name: str) -> str | None:
        """The column that holds the unit or metric of a column for each row."""
        column = self.column(name)
        named = column.unit_by if column else None
        return named if named in self.kinds else None

    def of_one_metric(self, name: str) -> tuple[PlotData, str]:
        """The rows of the most frequent metric of a column that holds several, and its name."""
        per = self.unit_column(name)
        if per is None or not len(self):
            return self, ""
        words = pd.Series(self.text(per))
        metric = str(words.mode()[0])
        return self.only((words == metric).to_numpy()), metric

    def unit(self, name: str) -> str | None:
        """The unit of a column, if it is the same in all rows."""
        column, per = self.column(name), self.unit_column(name)
        if per is None:
            return column.unit if column else None
        units = {*self.units(name)}
        return units.pop() if len(units) == 1 else None

    def units(self, name: str) -> list[str | None]:
        """The unit of a column in each row."""
        per = self.unit_column(name)
        if per is None:
            return [self.unit(name)] * len(self)
        column = self.column(name)
        by_entry = dict(column.units) if column else {}
        return [by_entry.get(word) or unit_of_metric(word) for word in self.text(per)]

    @cached_property
    def measures(self) -> list[str]:
        """The numeric columns, the most informative first.

        A rate that can be recomputed comes before a score, a count, another fraction, and
        undeclared numbers.
        """
        sizes = {self.sample(name) for name in self.numbers if self.unit_column(name)}
        listed = [
            name
            for name in self.numbers
            if self._weight(name) is not None and (name not in sizes or self.column(name) is None)
        ]
        return sorted(listed, key=lambda name: self._weight(name) or 0)

    @property
    def numbers(self) -> list[str]:
        """The numeric columns that are neither keys nor notes on another column."""
        statuses = [name for name in self.kinds if is_status_column(self.frame, name)]
        return [
            name
            for name in self.of_kind("number")
            if name not in (*self.keys, *statuses, *CONTEXT) and not name.endswith(COVERAGE)
        ]

    def _weight(self, name: str) -> int | None:
        rule, unit, column = self.rule(name), self.unit(name), self.column(name)
        if column is None:
            return 4
        if unit == FRACTION and rule and rule.over and not rule.why:
            return 0
        if unit == SCORE:
            return 1
        if rule and rule.rule == "sum" and unit in _PREFERRED_UNITS and unit != FRACTION:
            return 2
        return {FRACTION: 3, FRACTION_CHANGE: 5}.get(unit or "")

    def sample(self, name: str) -> str | None:
        """The column with the sample size of a column."""
        rule = self.rule(name)
        if rule and (rule.over or rule.by):
            return rule.over[1] if rule.over else rule.by
        stem = name.rpartition("_")[0]
        named = [f"{stem}_n", "denominator", "sample_count", "answer_count"]
        return next((each for each in named if each in self.kinds and each != name), None)

    def cells(self, name: str) -> Cells:
        """The availability of the cells of a column."""
        if name not in self._cells:
            self._cells[name] = cells_of(self.frame, name, self.metadata)
        return self._cells[name]

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        return {}

    def values(self, name: str) -> Numbers:
        """The measured numbers of a column; the others are NaN, never 0."""
        found = self.frame[name].to_numpy(np.float64, na_value=np.nan)
        return np.where(self.cells(name).given & np.isfinite(found), found, np.nan)

    def infinite(self, name: str) -> Mask:
        """Mask of the numbers that were measured, and are infinite."""
        if self.kinds[name] != "number":
            return np.zeros(len(self), bool)
        found = self.frame[name].to_numpy(np.float64, na_value=np.nan)
        infinite: Mask = self.cells(name).given & np.isinf(found)
        return infinite

    def is_count(self, name: str) -> bool:
        """Whether all measured numbers of a column are whole, and none is a rate or a score."""
        found = self.values(name)
        found = found[~np.isnan(found)]
        fraction = self.unit(name) in (FRACTION, SCORE)
        return bool(len(found)) and not fraction and bool((found == np.floor(found)).all())

    def text(self, name: str) -> list[str]:
        """Convert a column to text; missing values are marked."""
        values = self.frame[name]
        if self.kinds[name] == "time":
            values = self.moments(name)
            whole = bool((values.dropna() == values.dropna().dt.normalize()).all())
            values = values.dt.strftime("%Y-%m-%d" if whole else "%Y-%m-%d %H:%M")
        missing = values.isna()
        return [
            BLANK if absent else str(value) for value, absent in zip(values, missing, strict=True)
        ]

    def labels(self, name: str) -> list[str]:
        """A column as text for people: metrics in words, and what identifiers stand for."""
        words = self.text(name)
        if name == "metric":
            return [metric_words(word) for word in words]
        titles = self._titles.get(name, {}) if name.endswith("_id") else {}
        titled = [titles.get(word, word) for word in words]
        return titled if len({*titled}) == len({*words}) else words

    @cached_property
    def _titles(self) -> dict[str, dict[str, str]]:
        return titles_in(self.frame)

    def moments(self, name: str) -> pd.Series:
        """Convert a column to times in UTC, without a time zone."""
        values = self.frame[name]
        if isinstance(values.dtype, pd.ArrowDtype):
            values = pd.Series(pd.array(values).astype("datetime64[us]"), index=values.index)
        return values.dt.tz_convert(None) if values.dt.tz is not None else values

    def days(self, name: str) -> Numbers:
        """A column of times as days since 1970; NaN for missing ones."""
        return days_of(self.moments(name))

    def is_bare_key(self, name: str) -> bool:
        """Whether a column holds identifiers, and nothing says what they stand for."""
        return name.endswith("_id") and self.labels(name) == self.text(name)

    def row_noun(self, name: str) -> str:
        """The noun for rows: ``action`` for a ``title`` next to ``action_id``."""
        key = next((key for key in reversed(self.keys) if key.endswith("_id")), None)
        return key.removesuffix("_id") if key and name == self.label_column else name

    @property
    def table(self) -> str:
        """The table of most of the columns that belong to one; empty if none does."""
        tables = [
            e.table for e in self.metadata.columns.values() if e.of and not is_joined(e.table)
        ]
        return max(tables, key=tables.count, default="")

    @cached_property
    def label_column(self) -> str | None:
        """The column that labels a row for people."""
        key = next((name for name in reversed(self.keys) if name not in self.times), None)
        if key is None or not (key == "id" or key.endswith("_id")):
            return key
        words = [n for n in self.of_kind("word") if n != "id" and not n.endswith("_id")]
        named = [name for name in TITLES if name in words]
        return next(iter((*named, *words)), key)

    def time_noun(self, name: str) -> str:
        """Name the step of a time column: ``day``, ``week``, ``hour``, else the column's name."""
        found = pd.DatetimeIndex(self.moments(name).dropna().unique()).sort_values()
        if len(found) < 2:
            return name
        step = (found[1:] - found[:-1]).min()
        fixed = {"1D": "day", "7D": "week", "1h": "hour", "14D": "two weeks"}
        nouns = {pd.Timedelta(span): noun for span, noun in fixed.items()}
        if pd.Timedelta("28D") <= step <= pd.Timedelta("31D"):
            return "month"
        return nouns.get(step, name)

    def own(self) -> Mask:
        """Mask of the rows of the project itself: its brand, its domain, its pages."""
        if self.kinds.get("own") == "flag":
            return self.frame["own"].fillna(False).to_numpy(bool)
        mine = self._of_side(0, "owned")
        for name in {"source_domain", "url"} & {*self.keys}:
            sites = [urlsplit(t).hostname if "//" in t else t for t in self.text(name)]
            mine |= np.array([a == b for a, b in zip(sites, self._hosts, strict=True)], bool)
        # Where all rows are own, as in a crawl of the own pages, none needs a mark.
        return np.zeros(len(self), bool) if mine.all() else mine

    def rivals(self) -> Mask:
        """Mask of the rows that the service classifies as a competitor's."""
        return self._of_side(1, "competitor")

    def _of_side(self, side: int, kind: str) -> Mask:
        """Mask of the rows of one side, by their type or by other tables of the answer."""
        are_sites = {"source_domain", "url"} & self.kinds.keys()
        if "domain_type" in self.kinds and are_sites:
            mask: Mask = np.array(self.text("domain_type"), object) == kind
            if side:
                return mask
        else:
            mask = np.zeros(len(self), bool)
        for name in (*BRANDS, *SITES):
            if self.kinds.get(name) == "word":
                mask = mask | self._named(side, name, self.text(name))
        if {"subject", "name"} <= self.kinds.keys():
            # A row about a brand has its name beside the word brand.
            for subject in {*self.text("subject")}:
                about = np.array(self.text("subject"), object) == subject
                mask = mask | about & self._named(side, subject, self.text("name"))
        return mask

    def _named(self, side: int, column: str, words: list[str]) -> Mask:
        """Mask of the rows whose word names the own side (0) or a competitor (1) of its host."""
        owners = owners_in(self.frame)
        none: Sides = (frozenset(), frozenset())
        sides = [owners.get(host or "", {}).get(column, none)[side] for host in self._hosts]
        return np.array([word in names for word, names in zip(words, sides, strict=True)], bool)

    @cached_property
    def _hosts(self) -> list[str | None]:
        """The host whose answer each row is of: what is own to one is another's competitor."""
        if self.kinds.get("host") == "word":
            return [*self.text("host")]
        hosts = {source.host for source in self.metadata.sources if source.host}
        return [hosts.pop() if len(hosts) == 1 else None] * len(self)

    def sorted_by(self, order: npt.NDArray[np.intp] | list[int]) -> PlotData:
        """Rows at some positions, in their order, numbered anew."""
        return PlotData(self.frame.iloc[order].reset_index(drop=True), self.metadata)

    def first(self, most: int) -> PlotData:
        """The first rows."""
        return self.sorted_by([*range(min(most, len(self)))])

    def best_first(self, name: str) -> npt.NDArray[np.intp]:
        """The positions of rows, the largest number or the best rank first, the missing last."""
        values = self.values(name)
        down = values if self.unit(name) == RANK else -values
        return np.argsort(np.where(np.isnan(down), np.inf, down), kind="stable")

    def state(self, names: Iterable[str]) -> Availability:
        """Combine the availability of columns."""
        return combine(self.metadata.columns[name].availability for name in names)

    def only(self, rows: Mask) -> PlotData:
        """Select some of the rows."""
        frame = self.frame.loc[rows]
        return PlotData(
            frame, replace(self.metadata, columns=over_rows(frame, self.metadata.columns))
        )


def _parts(rule: Aggregation | None) -> tuple[str, ...]:
    return (*(rule.over or ()), *((rule.by,) if rule.by else ())) if rule else ()


def _is_context(name: str) -> bool:
    return name in (*CONTEXT, *APART) or name.startswith("filter_")


def is_category(data: PlotData, name: str) -> bool:
    """Whether a column has declared categories."""
    return isinstance(data.frame[name].dtype, pd.CategoricalDtype)


def plot_data(frame: pd.DataFrame, *, traced: bool = True) -> PlotData:
    """Prepare a frame for plotting; without ``traced`` its rows do not keep how they were made."""
    flat = flattened(frame).copy(deep=False)
    flat.columns = pd.Index([str(name) for name in flat.columns])
    if has_metadata(flat):
        flat = once(flat)
    metadata = metadata_of(flat)
    rows = flat.loc[:, ~flat.columns.duplicated(keep=False)].reset_index(drop=True)
    if traced and has_metadata(rows):
        # The rows are checked; numbered anew they would seem to be others.
        attach_changed(rows, metadata, flat)
    return PlotData(rows, metadata)
