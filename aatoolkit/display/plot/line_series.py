"""One line of a chart over time: its values, interval and gaps at each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.display.plot.tips import describe_mark
from aatoolkit.display.plot.whiskers import Whiskers
from aatoolkit.frame.periods import is_part_period


@dataclass(frozen=True)
class LineSeries:
    """One line: its name, and its values and interval at each time."""

    name: str
    values: Numbers
    low: Numbers
    high: Numbers
    which: str
    tips: Callable[[], Sequence[str]]
    """The words of each time, for the interactive form."""
    part: npt.NDArray[np.bool_]
    """The times whose period is not whole, such as a week of three days."""
    own: bool
    infinite: npt.NDArray[np.bool_]
    """The times whose number is measured, and cannot be drawn."""

    @property
    def is_measured(self) -> bool:
        """Whether there is a number at any time."""
        return not np.isnan(self.values).all()


def line_series(
    data: PlotData,
    y: str,
    rows: pd.DataFrame,
    moments: pd.DatetimeIndex,
    name: str,
    ends: Whiskers,
    *,
    own: bool = False,
) -> LineSeries:
    """Make the line of some rows, with a place for each time."""
    frame = pd.DataFrame(
        {"values": data.values(y), "low": ends.low, "high": ends.high}, index=pd.Index(rows["at"])
    )
    first = frame.index.notna() & ~frame.index.duplicated()
    places = pd.Series(np.arange(len(frame)), index=frame.index)[first]

    def tips() -> list[str]:
        """The words of each time."""
        words = []
        for moment in moments:
            day = (
                f"{moment:%Y-%m-%d}" if moment == moment.normalize() else f"{moment:%Y-%m-%d %H:%M}"
            )
            label, row = f"{name}, {day}".strip(", "), places.get(moment)
            if row is None:
                words.append(f"{label}\nno row")
                continue
            interval = float(ends.low[row]), float(ends.high[row])
            words.append(describe_mark(data, y, int(row), label, interval))
        return words

    frame = frame[first].reindex(moments)
    values, low, high = (frame[part].to_numpy(np.float64) for part in frame)
    cells = data.cells(y)
    parts = np.array([is_part_period(state.reason) for state in cells.states], bool)[cells.codes]
    part, infinite = (
        pd.Series(mask, index=pd.Index(rows["at"]))[first].reindex(moments, fill_value=False)
        for mask in (parts, data.infinite(y))
    )
    masks = part.to_numpy(bool), infinite.to_numpy(bool)
    return LineSeries(name, values, low, high, ends.which, tips, masks[0], own, masks[1])


def moments_between(moments: pd.Series) -> pd.DatetimeIndex:
    """All times from the first to the last, at the smallest step between two of them."""
    found = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(found) < 3:
        return found
    step = (found[1:] - found[:-1]).min()
    whole = pd.date_range(found[0], found[-1], freq=step)
    return whole if found.isin(whole).all() and len(whole) <= 50 * len(found) else found
