"""Intervals of marks: over prompts where they are known, and their description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.sections.aggregation import FRACTION
from aatoolkit.stats.bounds import OF_PARTS, bounds
from aatoolkit.stats.estimate import wilson

_LEVEL = 0.95
_QUANTILE = NormalDist().inv_cdf((1 + _LEVEL) / 2)


@dataclass(frozen=True)
class Whiskers:
    """The bounds of each row, NaN where there are none, and which interval they are."""

    low: Numbers
    high: Numbers
    which: str
    bounds: pd.DataFrame | None = None
    """The interval of each mark as it was computed, beside the columns that name the mark."""


def whiskers(
    data: PlotData, y: str, rows: PlotData | None = None, by: Sequence[str] = ()
) -> Whiskers:
    """Return the declared interval of a number, else that over prompts, else Wilson's.

    Parameters
    ----------
    data : PlotData
        One row a mark.
    y : str
        The number.
    rows : PlotData, optional
        The rows that the marks were aggregated from.
    by : sequence of str
        The columns that position a mark.
    """
    rule = data.rule(y)
    is_declared = all(f"{y}_{end}" in data.kinds for end in ("low", "high"))
    if not is_declared and (rule is None or rule.over is None or rule.why):
        nothing = np.full(len(data), np.nan)
        return Whiskers(nothing, nothing, "")
    many = rows is not None and len(rows) > len(data)
    found = bounds(data.frame, y, rows.frame if many and rows is not None else None, by, _LEVEL)
    return Whiskers(found.low, found.high, found.method, found.result)


def ends_of_figures(data: PlotData, y: str) -> Whiskers:
    """The interval of each of a few numbers of several units.

    The declared one if the table has it, else Wilson's of a rate whose numerator and denominator
    stand beside it; NaN for other units.
    """
    nothing = np.full(len(data), np.nan)
    stem = y.removesuffix("_value")
    named = tuple(f"{stem}_ci_{end}" for end in ("low", "high"))
    if all(name in data.kinds for name in named):
        low, high = (data.values(name) for name in named)
        return Whiskers(low, high, "the interval of the table")
    parts = ("numerator", "denominator")
    if any(name not in data.kinds for name in parts):
        return Whiskers(nothing, nothing, "")
    hits, of = (data.values(name) for name in parts)
    values = data.values(y)
    rate = np.array([unit == FRACTION for unit in data.units(y)])
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = rate & (of > 0) & (hits >= 0) & (hits <= of) & np.isclose(hits / of, values)
    low, high = nothing.copy(), nothing.copy()
    if fits.any():
        low[fits], high[fits] = wilson(hits[fits] / of[fits], of[fits], _QUANTILE)
    return Whiskers(low, high, OF_PARTS)
