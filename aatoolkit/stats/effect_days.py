"""The days of ``aa.stats.effect``: that of the action, and those of the answers."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd

from aatoolkit._util.text import iso_hint, parse_moment
from aatoolkit.errors import ArgumentError


def dated_by(flat: pd.DataFrame, date: str) -> pd.DataFrame:
    """The frame with whole days in the column of days."""
    days = pd.to_datetime(flat[date])
    if days.dt.tz is not None:
        days = days.dt.tz_localize(None)
    return flat.assign(**{date: days.dt.normalize()})


def day_of(on: object) -> pd.Timestamp:
    """The day of an action.

    Raises
    ------
    ArgumentError
        If it is none, or written in a way that can be read as another day.
    """
    given = parse_moment(on) if isinstance(on, str) else on
    if not isinstance(given, date | np.datetime64) or pd.isna(given):
        raise ArgumentError(f"on={on!r} is no day in ISO 8601; {iso_hint(on)}", argument="on")
    return pd.Timestamp(given).tz_localize(None).normalize()


def outside(day: pd.Timestamp, stamps: pd.Series) -> list[str]:
    """Say that the day of an action is not among the days of a frame, if it is not."""
    first, last = stamps.min(), stamps.max()
    if pd.isna(first) or first <= day <= last:
        return []
    return [f"{day:%Y-%m-%d} is outside the days of the frame, {first:%Y-%m-%d} to {last:%Y-%m-%d}"]
