"""`PlotData`: a frame with the role of each column, also after plain pandas steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, combine
from aatoolkit.display.plot.kinds import kind_of, metric_words, unit_of_metric
from aatoolkit.display.plot.owners import BRANDS, SITES, owners_in
from aatoolkit.frame.cell_status import COVERAGE, Cells, cells_of, is_status_column
from aatoolkit.frame.groupby import flattened
from aatoolkit.frame.joined_tables import is_joined
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
    REQUESTS,
    SCORE,
    Aggregation,
)
from aatoolkit.sections.section import Column

Numbers = npt.NDArray[np.float64]

CONTEXT = ("days", "window_start", "window_end", "fetched_at")
"""Columns that say of which answer a row is, and nothing of what was answered."""

APART = ("host", "days")
"""The columns that distinguish hosts and windows, which are never added up."""

_NAMES = ("title", "prompt", "text", "label", "name")
_PREFERRED_UNITS = (
    FRACTION,
    SCORE,
    COUNT,
    REQUESTS,
    "checks",
    "answers",
    "citations per retrieval",
)

BLANK = "(none)"
"""What pictures and reports write where a row has no value, such as a prompt without a topic."""


@dataclass(frozen=True, eq=False)
class PlotData:
    """A frame with plain column names, and its metadata.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame; index levels are columns, and column names are unique.
    known : FrameMetadata
        Its metadata.
    """

    frame: pd.DataFrame
    known: FrameMetadata

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
        return bool(self.known.sources or self.table)

    @cached_property
    def keys(self) -> list[str]:
        """The key columns; without a key, the first time, else the first word."""
        if self.known.key:
            named = [name for name in self.known.key if name in self.kinds]
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
        return declared(self.known.columns[name])

    def rule(self, name: str) -> Aggregation | None:
        """The aggregation rule of a column, if the columns it needs are present."""
        column = self.column(name)
        rule = column.aggregate if column else None
        parts = (*(rule.over or ()), *((rule.by,) if rule.by else ())) if rule else ()
        return rule if all(part in self.kinds for part in parts) else None

    def unit_column(self, name: str) -> str | None:
        """The column that holds the unit or metric of a column for each row."""
        column = self.column(name)
        named = column.unit_by if column else None
        return named if named in self.kinds else None

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
            self._cells[name] = cells_of(self.frame, name, self.known)
        return self._cells[name]

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        return {}

    def values(self, name: str) -> Numbers:
        """The measured numbers of a column; the others are NaN, never 0."""
        found = self.frame[name].to_numpy(np.float64, na_value=np.nan)
        return np.where(self.cells(name).given & np.isfinite(found), found, np.nan)

    def infinite(self, name: str) -> npt.NDArray[np.bool_]:
        """Mask of the numbers that were measured, and are infinite."""
        if self.kinds[name] != "number":
            return np.zeros(len(self), bool)
        found = self.frame[name].to_numpy(np.float64, na_value=np.nan)
        infinite: npt.NDArray[np.bool_] = self.cells(name).given & np.isinf(found)
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
        """A column as text for people: names of metrics are words."""
        words = self.text(name)
        return [metric_words(word) for word in words] if name == "metric" else words

    def moments(self, name: str) -> pd.Series:
        """Convert a column to times in UTC, without a time zone."""
        values = self.frame[name]
        if isinstance(values.dtype, pd.ArrowDtype):
            values = pd.Series(pd.array(values).astype("datetime64[us]"), index=values.index)
        return values.dt.tz_convert(None) if values.dt.tz is not None else values

    def row_noun(self, name: str) -> str:
        """The noun for rows: ``action`` for a ``title`` next to ``action_id``."""
        key = next((key for key in reversed(self.keys) if key.endswith("_id")), None)
        return key.removesuffix("_id") if key and name == self.label_column else name

    @property
    def table(self) -> str:
        """The table of most of the columns that belong to one; empty if none does."""
        tables = [e.table for e in self.known.columns.values() if e.of and not is_joined(e.table)]
        return max(tables, key=tables.count, default="")

    @cached_property
    def label_column(self) -> str | None:
        """The column that labels a row for people."""
        key = next((name for name in reversed(self.keys) if name not in self.times), None)
        if key is None or not key.endswith("_id"):
            return key
        words = [name for name in self.of_kind("word") if not name.endswith("_id")]
        named = [name for name in _NAMES if name in words]
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

    def own(self) -> npt.NDArray[np.bool_]:
        """Mask of the rows of the project itself: its brand, its domain, its pages."""
        if self.kinds.get("own") == "flag":
            return self.frame["own"].fillna(False).to_numpy(bool)
        mine = np.zeros(len(self), bool)
        if self._are_sites:
            mine |= np.array(self.text("domain_type")) == "owned"
        hosts = {source.host for source in self.known.sources if source.host}
        for name in ("source_domain", "url"):
            if name in self.keys and hosts:
                sites = [urlsplit(t).hostname if "//" in t else t for t in self.text(name)]
                mine |= np.array([site in hosts for site in sites], bool)
        mine |= self._named(0)
        # Where all rows are own, as in a crawl of the own pages, none needs a mark.
        return np.zeros(len(self), bool) if mine.all() else mine

    def rivals(self) -> npt.NDArray[np.bool_]:
        """Mask of the rows that the service classifies as a competitor's."""
        if not self._are_sites:
            return self._named(1)
        return np.array([word == "competitor" for word in self.text("domain_type")], bool)

    @cached_property
    def owners(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """The own names by column, and those of competitors."""
        return owners_in(self.frame)

    def _named(self, side: int) -> npt.NDArray[np.bool_]:
        """Mask of the rows named own (0) or a competitor's (1) in other tables of the answer."""
        found = np.zeros(len(self), bool)
        for name in (*BRANDS, *SITES):
            if self.kinds.get(name) == "word" and name in self.owners:
                names = self.owners[name][side]
                found |= np.array([word in names for word in self.text(name)], bool)
        return found

    @property
    def _are_sites(self) -> bool:
        """Whether rows are of sites or pages, and say of what type."""
        return "domain_type" in self.kinds and not {"source_domain", "url"}.isdisjoint(self.kinds)

    def state(self, names: Iterable[str]) -> Availability:
        """Combine the availability of columns."""
        return combine(self.known.columns[name].availability for name in names)

    def only(self, rows: npt.NDArray[np.bool_]) -> PlotData:
        """Select some of the rows."""
        frame = self.frame.loc[rows]
        return PlotData(frame, replace(self.known, columns=over_rows(frame, self.known.columns)))


def _is_context(name: str) -> bool:
    return name in (*CONTEXT, *APART) or name.startswith("filter_")


def plot_data(frame: pd.DataFrame, *, traced: bool = True) -> PlotData:
    """Prepare a frame for plotting; without ``traced`` its rows do not keep how they were made."""
    flat = flattened(frame).copy(deep=False)
    flat.columns = pd.Index([str(name) for name in flat.columns])
    known = metadata_of(flat)
    rows = flat.loc[:, ~flat.columns.duplicated(keep=False)].reset_index(drop=True)
    if traced and has_metadata(rows):
        # The rows are checked; numbered anew they would seem to be others.
        attach_changed(rows, known, flat)
    return PlotData(rows, known)
