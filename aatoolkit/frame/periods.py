"""Weeks, months and other periods: which column is the time, and which periods are not whole."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError
from aatoolkit.frame.groupby import By, Groups, flattened, numpy_times
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of, stored_of
from aatoolkit.metadata.recipe import DO


def by_period(frame: pd.DataFrame, by: By, freq: str) -> list[str | pd.Grouper]:
    """Return the keys to group by, with the periods of the frame's column of times first.

    Raises
    ------
    ArgumentError
        If pandas knows no such frequency, or the column of times is not plain.
    """
    if not isinstance(freq, str):
        raise ArgumentError(
            f"freq={freq!r} is no text; it takes offset aliases of pandas, such as 'W' or 'MS'",
            argument="freq",
        )
    listed = [by] if isinstance(by, str | pd.Grouper) else [*(by or ())]
    if any(isinstance(each, pd.Grouper) for each in listed):
        raise ArgumentError("give freq=, or a pandas.Grouper in by=, not both", argument="freq")
    flat = flattened(frame)
    name = _time_of(flat, metadata_of(flat))
    grouper = None
    with suppress(ValueError, Warning), warnings.catch_warnings():
        warnings.simplefilter("error")  # what pandas deprecates it will not know
        grouper = pd.Grouper(key=name, freq=freq)
    if grouper is None:
        raise ArgumentError(
            f"freq={freq!r} is no frequency that pandas knows; it takes offset aliases, such as "
            "'W' (weeks that end on Sunday), 'W-SAT', '7D', 'MS' (months by their first day), "
            "'ME' (by their last), 'QS' or 'YS'",
            argument="freq",
        )
    return [grouper, *(each for each in listed if each != name)]


def _time_of(frame: pd.DataFrame, known: FrameMetadata) -> str:
    """The one column of times; one of the key before all others."""
    times = [
        str(name)
        for name, kind in frame.dtypes.items()
        if pd.api.types.is_datetime64_any_dtype(kind) and not frame.columns.duplicated().any()
    ]
    found = [name for name in times if name in known.key] or times
    if len(found) != 1:
        there = f"there are {', '.join(found)}" if found else "there is no column of days or times"
        raise ArgumentError(
            f"freq= needs one column of times, and {there}; name it: "
            f"by=pandas.Grouper(key={found[0] if found else 'column'!r}, freq=…)",
            argument="freq",
        )
    return found[0]


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
    frame: pd.DataFrame, by: By, groups: Groups, known: FrameMetadata
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
    is_keyed = bool(known.key) and {*known.key} <= named
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
    found: pd.Series = plain.dt.normalize()
    return found


def _days_of(days: pd.Series, groups: Groups) -> Sequence[int]:
    """Count the different days of each group."""
    pairs = pd.DataFrame({"group": groups.ids, "day": days.to_numpy()}).drop_duplicates()
    found: Sequence[int] = np.bincount(pairs["group"], minlength=len(groups)).tolist()
    return found
