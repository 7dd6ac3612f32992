"""Groups of rows, of weeks and months too: which group each is in, and what is known of each."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit.availability import Availability, combine
from aatoolkit.errors import (
    ArgumentError,
    AvailabilityError,
    ItemNotFound,
    unknown,
)
from aatoolkit.frame.cell_status import Cells, Codes, Mask, distinct_codes
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, FrameMetadata, metadata_of, stored_of
from aatoolkit.metadata.recipe import DO
from aatoolkit.sections.aggregation import FRACTION

By = str | pd.Grouper | Sequence[str | pd.Grouper] | None


@dataclass(frozen=True)
class Groups:
    """The groups of a frame's rows.

    Parameters
    ----------
    ids : array of int
        For each row, its group.
    keys : pandas.DataFrame
        One row a group: the values of the columns that it was grouped by.
    by_value : frozenset of str
        The columns of which each group has one value, which is not so of bins.
    """

    ids: Codes
    keys: pd.DataFrame
    by_value: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.ids, minlength=len(self))

    def count(self, rows: Mask) -> npt.NDArray[np.int64]:
        """Count the given rows in each group."""
        return self.sizes if rows.all() else np.bincount(self.ids[rows], minlength=len(self))

    def last(self, rows: Mask) -> Mask:
        """The last of some rows in each group."""
        at = np.full(len(self), -1, np.int64)
        places = np.flatnonzero(rows)
        at[self.ids[places]] = places
        chosen = np.zeros(len(self.ids), bool)
        chosen[at[at >= 0]] = True
        return chosen

    def combined(self, cells: Cells) -> tuple[Codes, list[Availability]]:
        """The combined availability of each group's cells, as states and codes of them."""
        kinds = max(len(cells.states), 1)
        pairs, _ = distinct_codes(self.ids * kinds + cells.codes, len(self) * kinds)
        group, code = np.divmod(pairs, kinds)
        if np.array_equal(group, np.arange(len(self))):  # cells of one kind in every group
            used, alone = distinct_codes(code, kinds)
            return alone, [combine([cells.states[each]]) for each in used.tolist()]
        bounds = np.searchsorted(group, np.arange(len(self) + 1)).tolist()
        listed = code.tolist()
        kinds_of: dict[tuple[int, ...], int] = {}
        codes = [
            kinds_of.setdefault(tuple(listed[start:end]), len(kinds_of))
            for start, end in pairwise(bounds)
        ]
        states = [combine(cells.states[member] for member in members) for members in kinds_of]
        return np.array(codes, np.int64), states


def group(frame: pd.DataFrame, by: By, observed: bool) -> Groups:
    """The groups of a frame's rows; a missing key is a group of its own.

    Raises
    ------
    AvailabilityError
        If there is no such column, its values are lists, or rows have no place among the bins
        of a `pandas.Grouper`.
    """
    listed = [by] if isinstance(by, str | pd.Grouper) else list(by or ())
    find(frame, [name for name in listed if isinstance(name, str)])
    if not listed:
        return Groups(np.zeros(len(frame), np.int64), pd.DataFrame(index=range(1)))
    problem = ""
    try:
        plain = _plain_times(frame, listed)
        grouped = plain.groupby(list(dict.fromkeys(listed)), dropna=False, observed=observed)
        sizes, ids = grouped.size(), grouped.ngroup()
    except (LookupError, NotImplementedError, TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise AvailabilityError(
            f"the rows cannot be grouped by {', '.join(map(str, listed))}: {problem}",
            columns={str(name): "its values cannot be grouped by" for name in listed},
        )
    keys = sizes.index.to_frame(index=False)
    for name in keys.columns:
        if name in frame.columns and isinstance(frame[name].dtype, pd.ArrowDtype):
            keys[name] = keys[name].astype(frame[name].dtype)
    if ids.isna().any():
        raise AvailabilityError(
            f"{int(ids.isna().sum())} rows have no value to bin by; drop or fill them first",
            columns={str(name): "has missing values" for name in keys.columns},
        )
    # pandas numbers groups with or without the empty ones between, by what they are made of.
    _, rank = np.unique(ids.to_numpy(), return_inverse=True)
    places = np.flatnonzero(sizes.to_numpy() > 0)
    return Groups(places[rank], keys, frozenset(name for name in listed if isinstance(name, str)))


def refuse_measures(by: By, metadata: FrameMetadata) -> None:
    """Raise if rows would be grouped by equal values of a rate or mean.

    Raises
    ------
    ArgumentError
        If a column to group by is one.
    """
    for name in [by] if isinstance(by, str) else by if isinstance(by, list | tuple) else ():
        what = declared(metadata.columns.get(name, NOTHING)) if isinstance(name, str) else None
        if what is not None and (what.aggregate.rule in ("ratio", "mean") or what.unit == FRACTION):
            raise ArgumentError(
                f"by={name!r} is a measure, and rows of equal values are no group; to compute it "
                f"write columns={name!r}, and by= what the groups are; for classes of it cut it "
                "first: df.assign(level=pd.cut(...))",
                argument="by",
            )


def _plain_times(frame: pd.DataFrame, by: Sequence[str | pd.Grouper]) -> pd.DataFrame:
    """The frame with times that pandas can bin: those of numpy in place of Arrow's."""
    names = [each.key for each in by if isinstance(each, pd.Grouper) and each.key in frame.columns]
    plain = {
        str(name): numpy_times(frame[name])
        for name in names
        if isinstance(frame[name].dtype, pd.ArrowDtype)
        and pd.api.types.is_datetime64_any_dtype(frame[name].dtype)
    }
    return frame.assign(**plain) if plain else frame


def numpy_times(values: pd.Series) -> pd.Series:
    """Days or times with numpy's dtype, or pandas' with their zone."""
    kind = values.dtype
    zone = getattr(kind.pyarrow_dtype, "tz", None) if isinstance(kind, pd.ArrowDtype) else None
    if not isinstance(kind, pd.ArrowDtype):
        return values
    return values.astype(pd.DatetimeTZDtype("us", zone) if zone else "datetime64[us]")


def flattened(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with the named levels of its index as columns."""
    named = [name for name in frame.index.names if name not in (None, *frame.columns)]
    return frame.reset_index(named) if named else frame


def find(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise if a name is no column of a frame, or that of several.

    Raises
    ------
    ItemNotFound
        If one is; its reason holds near matches.
    """
    there = [name for name in frame.columns if isinstance(name, str)]
    wrong = {
        name: unknown("column", name, there)
        if name not in there
        else f"several columns are called {name!r}"
        for name in names
        if there.count(name) != 1
    }
    if wrong:
        raise ItemNotFound("; ".join(wrong.values()), columns=wrong)


def as_floats(values: pd.Series) -> npt.NDArray[np.float64]:
    """Values as floats; missing ones are NaN."""
    return values.to_numpy(np.float64, na_value=np.nan)


def added(values: npt.NDArray[np.float64], use: Mask, groups: Groups) -> npt.NDArray[np.float64]:
    """The sum of some rows of each group, as a float."""
    return np.bincount(groups.ids[use], values[use], minlength=len(groups)).astype(np.float64)


def sums(values: pd.Series, use: Mask, groups: Groups, name: str) -> pd.Series:
    """The sum of some rows of each group; integers and flags add exactly."""
    if pd.api.types.is_integer_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        whole = pd.array(_whole_sums(values[use], groups.ids[use], len(groups), name), "Int64")
        return like(pd.Series(whole), values)
    total = pd.array(added(as_floats(values), use, groups), dtype="Float64")
    return like(pd.Series(total), values)


def _whole_sums(values: pd.Series, ids: Codes, groups: int, name: str) -> npt.NDArray[np.int64]:
    """Sum integers exactly; a sum that wraps on the way is right at the end if it fits."""
    rough = np.bincount(ids, as_floats(values), minlength=groups)
    if (np.abs(rough) >= 2**63).any() or (len(values) and int(values.max()) >= 2**63):
        why = "a sum is too large for a 64-bit integer"
        raise AvailabilityError(f"{name}: {why}; convert it to Float64 first", columns={name: why})
    total = np.zeros(groups, np.int64)
    np.add.at(total, ids, values.to_numpy(np.int64))
    return total


def chosen(values: pd.Series, use: Mask, groups: Groups, rule: str) -> pd.Series:
    """The smallest, largest, first or last value of each group, of the same dtype."""
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iub":
        values = values.convert_dtypes()
    grouped = values[use].groupby(groups.ids[use])
    result: pd.Series = grouped.agg(rule)
    return result.reindex(range(len(groups)))


def like(result: pd.Series, values: pd.Series) -> pd.Series:
    """Cast a result to an Arrow dtype where the column has one."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = pa.int64() if pd.api.types.is_integer_dtype(result.dtype) else pa.float64()
        return result.astype(pd.ArrowDtype(kind))
    return result


def names_of(columns: Iterable[str | Iterable[str]]) -> tuple[str, ...]:
    """The names among arguments, each of which is a name or a list of them.

    Examples
    --------
    >>> names_of(("hits", ["answers", "rate"]))
    ('hits', 'answers', 'rate')
    """
    lists = ([column] if isinstance(column, str) else column for column in columns)
    return tuple(name for names in lists for name in names)


def by_period(frame: pd.DataFrame, by: By, freq: str) -> list[str | pd.Grouper]:
    """Return the keys to group by, with the periods of the frame's column of times first.

    Raises
    ------
    ArgumentError
        If pandas knows no such frequency, or the column of times is not plain.
    """
    flat = flattened(frame)
    name = _time_of(flat, metadata_of(flat))
    listed = [by] if isinstance(by, str | pd.Grouper) else [*(by or ())]
    if not all(isinstance(key, str) for key in listed):
        raise ArgumentError("give freq=, or a pandas.Grouper in by=, not both", argument="freq")
    grouper = None
    with suppress(ValueError, TypeError, Warning), warnings.catch_warnings():
        warnings.simplefilter("error")  # what pandas deprecates it will not know
        grouper = pd.Grouper(key=name, freq=freq)
    if grouper is None or grouper.freq is None:
        raise ArgumentError(
            f"freq={freq!r} is no frequency that pandas knows; it takes offset aliases, such as "
            "'W' (weeks that end on Sunday), 'W-SAT', '7D', 'MS' (months by their first day), "
            "'ME' (by their last), 'QS' or 'YS'",
            argument="freq",
        )
    return [grouper, *(key for key in listed if key != name)]


def _time_of(frame: pd.DataFrame, metadata: FrameMetadata) -> str:
    """The one column of times; one of the key before all others."""
    times = [
        str(name)
        for name, kind in frame.dtypes.items()
        if pd.api.types.is_datetime64_any_dtype(kind) and not frame.columns.duplicated().any()
    ]
    times = [name for name in times if name in metadata.key] or times
    if len(times) != 1:
        raise ArgumentError(
            f"freq= needs one column of times, and there are {', '.join(times) or 'none'}; name "
            f"it: by=pandas.Grouper(key={times[0] if times else 'column'!r}, freq=…)",
            argument="freq",
        )
    return times[0]


@dataclass(frozen=True)
class PartPeriod:
    """A period of which not all rows are there: how many are, and of how many.

    Parameters
    ----------
    there, size : int
        How many days (or weeks, or months) there are, and how many the period has.
    unit : str
        What they are.
    start, end : pandas.Timestamp
        The first and the last day of the period.

    Examples
    --------
    >>> days = pd.Timestamp("2026-10-01"), pd.Timestamp("2026-10-31")
    >>> part = PartPeriod(9, 31, "days", *days)
    >>> str(part), round(part.share, 2)
    ('9 of the 31 days from 2026-10-01 to 2026-10-31', 0.29)
    """

    there: int
    size: int
    unit: str
    start: pd.Timestamp
    end: pd.Timestamp

    def __str__(self) -> str:
        period = f"from {self.start.date()} to {self.end.date()}"
        return f"{self.there} of the {self.size} {self.unit} {period}"

    @property
    def share(self) -> float:
        """The share of the period that is there."""
        return self.there / self.size


def part_periods(
    frame: pd.DataFrame, by: By, groups: Groups, metadata: FrameMetadata
) -> list[PartPeriod | None]:
    """For each group the part of its period that is there; None where it is whole, or is none.

    Where the key of the frame is the time and what is grouped by, each day of a group has a row,
    and days without one are missing from it; where the rows are weeks or months, those are
    counted. Otherwise only the first and the last day of the frame say where it begins and ends.
    """
    listed = [by] if isinstance(by, str | pd.Grouper) else [*(by or ())]
    groupers = [each for each in listed if isinstance(each, pd.Grouper) and each.freq is not None]
    parts: list[PartPeriod | None] = [None] * len(groups)
    if len(groupers) != 1 or groupers[0].key not in frame.columns or not len(frame):
        return parts
    (grouper,) = groupers
    days = _days(frame[grouper.key])
    labels = _days(groups.keys[grouper.key])
    if days is None or labels is None or days.isna().any():
        return parts
    closed = grouper.closed  # type: ignore[attr-defined]
    named = {each for each in listed if isinstance(each, str)} | {grouper.key}
    is_keyed = bool(metadata.key) and {*metadata.key} <= named
    first, last = days.min(), days.max()
    present = _days_of(days, groups) if is_keyed else [0] * len(groups)
    periods = [_bounds(label, grouper.freq, closed) for label in labels]
    step = _step(frame, str(grouper.key)) if is_keyed else None
    for at, (start, end) in enumerate(periods):
        if not groups.sizes[at]:
            continue
        size = (end - start).days + 1 if step is None else _count(first, step, start, end)
        inside = (min(last, end) - max(first, start)).days + 1
        there = present[at] if is_keyed else inside
        if there < size:
            unit = "days" if step is None else _UNITS.get(step.freqstr[0], "periods")
            parts[at] = PartPeriod(there, size, unit, start, end)
    return parts


_UNITS = {"D": "days", "W": "weeks", "M": "months", "Q": "quarters", "Y": "years"}


def _count(label: pd.Timestamp, step: Any, start: pd.Timestamp, end: pd.Timestamp) -> int:
    """Count the labels from one day to another of which one label is known."""
    while label > start:
        label -= step
    return int((pd.date_range(label, max(label, end), freq=step) >= start).sum())


def _step(frame: pd.DataFrame, key: str) -> Any:
    """The frequency by which a frame was aggregated; None where it was not, or by days or less."""
    recipe = stored_of(frame)[0].recipe
    if recipe is None or recipe[:2] != [DO, "aggregate"]:
        return None
    by = recipe[2].get("by")
    for part in by if isinstance(by, list) else [by]:
        grouper = part.get("grouper") if isinstance(part, dict) else None
        if grouper and grouper["key"] == key:
            step = pd.tseries.frequencies.to_offset(grouper["freq"])
            day = pd.Timestamp("2026-01-01")  # a month and a year begin
            return step if day + 2 * step > day + pd.Timedelta(days=2) else None
    return None


def is_part_period(reason: str | None) -> bool:
    """Whether a reason is that of a `PartPeriod`.

    Examples
    --------
    >>> is_part_period("3 of the 7 days from 2026-11-16 to 2026-11-22")
    True
    """
    return reason is not None and _PART.search(reason) is not None


_PART = re.compile(r"\b\d+ of the \d+ [a-z]+ from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d")


def _bounds(label: pd.Timestamp, offset: Any, closed: str) -> tuple[pd.Timestamp, pd.Timestamp]:
    """The first and the last day of a period."""
    day = pd.Timedelta(days=1)
    return (label - offset + day, label) if closed == "right" else (label, label + offset - day)


def _days(values: pd.Series) -> pd.Series | None:
    """Times as days without a zone; None if they are none."""
    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        return None
    plain = numpy_times(values)
    if plain.dt.tz is not None:
        plain = plain.dt.tz_convert("UTC").dt.tz_localize(None)
    days: pd.Series = plain.dt.normalize()
    return days


def _days_of(days: pd.Series, groups: Groups) -> Sequence[int]:
    """Count the different days of each group."""
    pairs = pd.DataFrame({"group": groups.ids, "day": days.to_numpy()}).drop_duplicates()
    counts: Sequence[int] = np.bincount(pairs["group"], minlength=len(groups)).tolist()
    return counts
