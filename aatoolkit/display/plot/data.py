"""`PlotData`: a frame with the role of each column, and what other tables say of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit.availability import Availability, combine
from aatoolkit.display.plot.labels import humanize
from aatoolkit.display.plot.style import BLANK
from aatoolkit.frame.cell_status import COVERAGE, Cells, cells_of, is_status_column
from aatoolkit.frame.duplicates import is_joined, once
from aatoolkit.frame.groupby import flattened
from aatoolkit.metadata.arrow_schema import declared, declared_key
from aatoolkit.metadata.attrs import (
    FrameMetadata,
    HeldResponse,
    has_metadata,
    metadata_of,
    over_rows,
    stored_of,
)  # fmt: skip
from aatoolkit.metadata.recorded import attach_changed
from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    FRACTION_CHANGE,
    RANK,
    REQUESTS,
    SCORE,
    Aggregation,
)  # fmt: skip
from aatoolkit.sections.section import Column

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

CONTEXT = ("days", "window_start", "window_end", "fetched_at")
"""Columns that say of which answer a row is, and nothing of what was answered."""

APART = ("host", "days")
"""The columns that distinguish hosts and windows, which are never added up."""

TITLES = ("title", "prompt", "text", "label", "name")
"""The columns that name a row for people."""

_PREFERRED_UNITS = (SCORE, COUNT, REQUESTS, "checks", "answers", "citations per retrieval")
_UNITS = {
    "fraction": FRACTION, "rate": FRACTION, "share": FRACTION, "voice": FRACTION, "score": SCORE,
    "rank": RANK, "position": RANK, "count": COUNT,
}  # fmt: skip
"""Units by name, and by the last word of metric names."""
_AXIS = {SCORE: "0 to 100", RANK: "1 is best", FRACTION_CHANGE: "percentage points"}


@dataclass(frozen=True)
class Options:
    """The options of ``df.aa.plot``; None means the default.

    ``levels`` are the series of all panels, in the order of their styles.
    """

    kind: str | None = None
    x: str | None = None
    y: tuple[str, ...] = ()
    color: str | None = None
    top: int | None = None
    palette: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def is_chosen(self) -> bool:
        """Whether columns were chosen."""
        return bool(self.x or self.y or self.color)


def kind_of(values: pd.Series) -> str:
    """What a column holds: ``number``, ``time``, ``flag``, ``list`` or ``word``."""
    dtype: Any = values.dtype
    types = pd.api.types
    if isinstance(dtype, pd.ArrowDtype):
        arrow = dtype.pyarrow_dtype
        if pa.types.is_nested(arrow):
            return "list"
        if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow):
            return "time"
    if types.is_object_dtype(dtype):
        is_list = values.map(lambda value: isinstance(value, tuple) or not types.is_hashable(value))
        return "list" if is_list.any() else "word"
    if types.is_bool_dtype(dtype):
        return "flag"
    if types.is_datetime64_any_dtype(dtype):
        return "time"
    is_number = types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
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
    """A frame with plain, unique column names, its index as columns, and its metadata."""

    frame: pd.DataFrame
    metadata: FrameMetadata

    def __len__(self) -> int:
        return len(self.frame)

    # --- columns

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each column: ``number``, ``time``, ``flag``, ``list`` or ``word``."""
        return {str(name): kind_of(values) for name, values in self.frame.items()}

    def of_kind(self, *kinds: str) -> list[str]:
        """The columns of some kinds, in their order."""
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def is_category(self, name: str) -> bool:
        """Whether a column has declared categories."""
        return isinstance(self.frame[name].dtype, pd.CategoricalDtype)

    @property
    def is_known(self) -> bool:
        """Whether the frame has metadata."""
        return bool(self.metadata.sources or self.table)

    @property
    def table(self) -> str:
        """The table of most of the columns that belong to one; empty if none does."""
        tables = [
            e.table for e in self.metadata.columns.values() if e.of and not is_joined(e.table)
        ]
        return max(tables, key=tables.count, default="")

    @property
    def table_words(self) -> str:
        """The table in words; of a result of statistics, what was computed."""
        table = re.sub(r"^statistics:(.*)_[0-9a-f]{8}$", r"\1", self.table)
        return humanize(re.sub(r"^[^:]*#[0-9a-f]+:", "", table))

    @cached_property
    def keys(self) -> list[str]:
        """The key columns; without a key, the first time, else the first word."""
        if self.metadata.key:
            named = [name for name in self.metadata.key if name in self.kinds]
            # Of an archive's rows the context is part of the key, and often the same in all.
            context = [n for n in named if n in (*CONTEXT, *APART) or n.startswith("filter_")]
            return [n for n in named if n not in context or self.varies(n)] or named
        # Rows of several answers have no key of their own, but that of their table for labels.
        of_table = declared_key(self.table) or ()
        if of_table and {*of_table} <= {*self.kinds}:
            # These columns alone distinguish rows of several hosts or windows.
            apart = [name for name in APART if name in self.kinds and name not in of_table]
            return [*filter(self.varies, apart), *of_table]
        times = [name for name in self.of_kind("time") if name not in CONTEXT]
        return (times or self.of_kind("word") or self.of_kind("time"))[:1]

    def varies(self, name: str) -> bool:
        """Whether a column has several values."""
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
        return rule if {*_parts(rule)} <= {*self.kinds} else None

    def parts(self, name: str) -> tuple[str, ...]:
        """The columns that the aggregation rule of a column needs."""
        return _parts(self.rule(name))

    def unit_column(self, name: str) -> str | None:
        """The column that holds the unit or metric of a column for each row."""
        column = self.column(name)
        named = column.unit_by if column else None
        return named if named in self.kinds else None

    def of_one_metric(self, name: str) -> PlotData:
        """The rows of the most frequent metric of a column that holds several."""
        per = self.unit_column(name)
        if per is None or not len(self):
            return self
        words = pd.Series(self.text(per))
        return self.only((words == str(words.mode()[0])).to_numpy())

    def unit(self, name: str) -> str | None:
        """The unit of a column, if it is the same in all rows."""
        column = self.column(name)
        if self.unit_column(name) is None:
            return column.unit if column else None
        units = {*self.units(name)}
        return units.pop() if len(units) == 1 else None

    def units(self, name: str) -> list[str | None]:
        """The unit of a column in each row."""
        per, column = self.unit_column(name), self.column(name)
        if per is None:
            return [self.unit(name)] * len(self)
        by_entry = dict(column.units) if column else {}
        last = re.compile(r"_|(?=[A-Z])")
        return [by_entry.get(w) or _UNITS.get(last.split(w)[-1].lower()) for w in self.text(per)]

    @cached_property
    def measures(self) -> list[str]:
        """The numeric columns, the most informative first.

        A rate that can be recomputed comes before a score, a count, another fraction, and
        undeclared numbers.
        """
        sizes = {self.sample(name) for name in self.numbers if self.unit_column(name)}
        weights = {
            name: weight
            for name in self.numbers
            if (weight := self._weight(name)) is not None
            and (name not in sizes or self.column(name) is None)
        }
        return sorted(weights, key=lambda name: (not self.frame[name].notna().any(), weights[name]))

    @property
    def numbers(self) -> list[str]:
        """The numeric columns that are neither keys nor notes on another column."""
        return [
            name
            for name in self.of_kind("number")
            if name not in (*self.keys, *CONTEXT)
            and not name.endswith(COVERAGE)
            and not is_status_column(self.frame, name)
        ]

    def _weight(self, name: str) -> int | None:
        rule, unit, column = self.rule(name), self.unit(name), self.column(name)
        if column is None or (unit is None and "#" in self.table):
            return 4  # of a draft units are not known
        if unit == FRACTION and rule and rule.over and not rule.why:
            return 0
        if unit == SCORE:
            return 1
        if rule and rule.rule == "sum" and unit in _PREFERRED_UNITS:
            return 2
        return {FRACTION: 3, FRACTION_CHANGE: 5}.get(unit or "")

    def sample(self, name: str) -> str | None:
        """The column with the sample size of a column."""
        rule = self.rule(name)
        if rule and (rule.over or rule.by):
            return rule.over[1] if rule.over else rule.by
        sizes = [f"{name.rpartition('_')[0]}_n", "denominator", "sample_count", "answer_count"]
        return next((size for size in sizes if size in self.kinds and size != name), None)

    def axis_label(self, name: str) -> str:
        """The label of a numeric axis."""
        unit, label = self.unit(name), humanize(name)
        if unit in (None, FRACTION, COUNT) or self.unit_column(name):
            return label
        if unit not in _AXIS and (unit in label or label in unit):
            return max(label, unit, key=len)
        return f"{label} ({_AXIS.get(unit, unit)})"

    # --- cells

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
        values: Numbers = self.frame[name].to_numpy(np.float64, na_value=np.nan)
        return np.where(self.cells(name).given & np.isfinite(values), values, np.nan)

    def is_count(self, name: str) -> bool:
        """Whether all measured numbers of a column are whole, and none is a rate or a score."""
        values = self.values(name)
        values = values[~np.isnan(values)]
        is_whole = bool(len(values)) and bool((values == np.floor(values)).all())
        return is_whole and self.unit(name) not in (FRACTION, SCORE)

    def text(self, name: str) -> list[str]:
        """Convert a column to text; missing values are marked."""
        values = self.frame[name]
        if self.kinds[name] == "time":
            values = self.moments(name)
            is_day = bool((values.dropna() == values.dropna().dt.normalize()).all())
            values = values.dt.strftime("%Y-%m-%d" if is_day else "%Y-%m-%d %H:%M")
        return [
            BLANK if lacks else str(value)
            for value, lacks in zip(values, values.isna(), strict=True)
        ]

    def labels(self, name: str) -> list[str]:
        """A column as text for people: metrics in words, and what identifiers stand for."""
        words = self.text(name)
        if name == "metric":
            return [humanize(word) if word.isidentifier() else word for word in words]
        if name == "url":
            return [re.sub(r"^https?://", "", word) for word in words]
        titles = _titles_in(self.frame).get(name, {}) if name.endswith("_id") else {}
        return [titles.get(word, word) for word in words]

    def moments(self, name: str) -> pd.Series:
        """Convert a column to times in UTC, without a time zone."""
        values = self.frame[name]
        if isinstance(values.dtype, pd.ArrowDtype):
            values = pd.Series(pd.array(values).astype("datetime64[us]"), index=values.index)
        return values.dt.tz_convert(None) if values.dt.tz is not None else values

    def days(self, name: str) -> Numbers:
        """A column of times as days since 1970; NaN for missing ones."""
        return days_of(self.moments(name))

    def time_noun(self, name: str) -> str:
        """Name the step of a time column: ``day``, ``week``, ``hour``, else the column's name."""
        steps = np.diff(np.unique(self.days(name)[~np.isnan(self.days(name))]))
        step = round(float(steps.min()), 6) if len(steps) else 0.0
        noun = {1.0: "day", 7.0: "week", round(1 / 24, 6): "hour"}.get(step, name)
        return "month" if 28 <= step <= 31 else noun

    # --- rows

    def is_bare_key(self, name: str) -> bool:
        """Whether a column holds identifiers, and nothing says what they stand for."""
        return name.endswith("_id") and self.labels(name) == self.text(name)

    @cached_property
    def label_column(self) -> str | None:
        """The column that labels a row for people."""
        key = next((name for name in reversed(self.keys) if name not in self.times), None)
        if key is None or not (key == "id" or key.endswith("_id")):
            return key
        words = [n for n in self.of_kind("word") if n != "id" and not n.endswith("_id")]
        titles = [name for name in TITLES if name in words]
        return next(iter((*titles, *words)), key)

    def row_noun(self, name: str) -> str:
        """The noun for rows: ``action`` for a ``title`` next to ``action_id``."""
        key = next((key for key in reversed(self.keys) if key.endswith("_id")), None)
        return key.removesuffix("_id") if key and name == self.label_column else name

    @property
    def row_name(self) -> str:
        """The name of a single row: the values of its key, or the title that it has for it."""
        key = self.metadata.key or declared_key(self.table) or (() if self.is_known else self.keys)
        names = [n for n in key if n in self.kinds and not n.startswith("filter_")]
        title = self.label_column if names[-1:] == self.keys[-1:] else None
        words = [self.labels(title if title and n.endswith("_id") else n)[0] for n in names]
        return ", ".join(words)

    def course(self, label: str) -> Numbers:
        """The numbers of a metric by day, from another table of the answer; empty without one."""
        name = label.lower().replace(" ", "_")
        courses = (told.courses.get(name) for _, told in _told(self.frame))
        return next((course for course in courses if course is not None), np.empty(0))

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
        mask: Mask = np.zeros(len(self), bool)
        if "domain_type" in self.kinds and {"source_domain", "url"} & self.kinds.keys():
            mask = np.array(self.text("domain_type"), object) == kind
            if side:
                return mask
        for name in (*_BRANDS, *_SITES):
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
        owners = _owners_in(self.frame)
        sides = [owners.get((host or "", column), _NOBODY)[side] for host in self._hosts]
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

    def only(self, rows: Mask) -> PlotData:
        """Select some of the rows."""
        frame = self.frame.loc[rows]
        columns = over_rows(frame, self.metadata.columns)
        return PlotData(frame, replace(self.metadata, columns=columns))

    def state(self, names: Iterable[str]) -> Availability:
        """Combine the availability of columns."""
        return combine(self.metadata.columns[name].availability for name in names)


def _parts(rule: Aggregation | None) -> tuple[str, ...]:
    return (*(rule.over or ()), *((rule.by,) if rule.by else ())) if rule else ()


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


# --- what other tables of the same answer say -------------------------------------------------

_BRANDS, _SITES = ("brand", "advertiser"), ("source_domain", "url")
"""The columns that name a brand or its advertiser, and those that name a site or a page."""
_LARGEST = 1 << 22
"""The largest answer, in bytes, that is read again for the sake of a mark."""

Sides = tuple[frozenset[str], frozenset[str]]
"""The own names and those of competitors."""
_NOBODY: Sides = (frozenset(), frozenset())


class _Told(NamedTuple):
    """What the tables of an answer tell: whose names are, what identifiers stand for, courses."""

    sides: dict[str, Sides]
    titles: dict[str, dict[str, str]]
    courses: dict[str, Numbers]


_TOLD: WeakKeyDictionary[HeldResponse, _Told] = WeakKeyDictionary()


def _told(frame: pd.DataFrame) -> Iterator[tuple[str, _Told]]:
    """Yield the host of each answer at hand that a frame was read from, and what it tells."""
    for answer in stored_of(frame)[1]:
        if answer not in _TOLD:
            is_small = answer.body is not None and len(answer.body) <= _LARGEST
            tables: Mapping[str, pd.DataFrame] = (answer.tables() if is_small else None) or {}
            told = _TOLD[answer] = _Told({}, {}, {})
            for table in tables.values():
                _learn(table, told)
        yield answer.source.host or "", _TOLD[answer]


def _learn(table: pd.DataFrame, told: _Told) -> None:
    """Add what a table tells."""
    first = str(table.columns[0]) if len(table.columns) else ""
    if first and kind_of(table[first]) == "time" and table[first].is_unique:
        for name, values in table.select_dtypes("number").items():
            told.courses.setdefault(str(name), values.to_numpy(np.float64, na_value=np.nan))
    title = next((title for title in TITLES if title in table), None)
    if first.endswith("_id") and title and table[first].is_unique:
        named = table[[first, title]].dropna().astype(str)
        told.titles.setdefault(first, {}).update(named.itertuples(index=False, name=None))
    for name in (*_BRANDS, *_SITES):
        by = "own" if name in _BRANDS else "domain_type"
        if name not in table or by not in table:
            continue
        kinds = table[by].astype("string").str.lower()
        own, rivals = (
            frozenset(table[name][kinds.isin(words).fillna(False)].dropna().astype(str))
            for words in (("true", "owned"), ("competitor",))
        )
        of = told.sides.get(name, _NOBODY)
        told.sides[name] = (of[0] | own, of[1] | rivals)


def _owners_in(frame: pd.DataFrame) -> dict[tuple[str, str], Sides]:
    """The names of the own brand or sites of each host by column, and those of competitors."""
    owners: dict[tuple[str, str], Sides] = {}
    for host, told in _told(frame):
        for name, (own, rivals) in told.sides.items():
            of = owners.get((host, name), _NOBODY)
            owners[host, name] = (of[0] | own, of[1] | rivals)
    return {key: (own - rivals, rivals - own) for key, (own, rivals) in owners.items()}


def _titles_in(frame: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What identifiers stand for in other tables of the answers, such as the prompt of its id."""
    titles: dict[str, dict[str, str]] = {}
    for _, told in _told(frame):
        for name, texts in told.titles.items():
            titles.setdefault(name, {}).update(texts)
    return titles
