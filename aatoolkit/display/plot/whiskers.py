"""Intervals of marks: over prompts where they are known, and their description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION
from aatoolkit.stats import interval
from aatoolkit.stats.estimate import LEAST_CLUSTERS, wilson
from aatoolkit.stats.sides import PROMPT

_LEVEL = 0.95
_OVER_PROMPTS = (
    f"95% interval for prompts like these, Wilson's with their design effect; none with fewer "
    f"than {LEAST_CLUSTERS} prompts"
)
_OF_ONE = "Wilson's 95% interval, which takes the answers to one prompt for independent"
_OF_PARTS = "Wilson's 95% interval, which takes what is counted for independent"
_QUANTILE = NormalDist().inv_cdf((1 + _LEVEL) / 2)
_OF_ANSWERS = "Wilson's 95% interval, which takes answers for independent"


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
    nothing = np.full(len(data), np.nan)
    named = tuple(f"{y}_{end}" for end in ("low", "high"))
    if all(name in data.kinds for name in named):
        method = f"{y}_method"
        which = "the interval of the rate, as the table has it"
        if method in data.kinds and len(data):
            which = data.text(method)[0]
        return Whiskers(data.values(named[0]), data.values(named[1]), which)
    rule = data.rule(y)
    if rule is None or rule.over is None or rule.why:
        return Whiskers(nothing, nothing, "")
    try:
        if rows is not None and len(rows) > len(data) and PROMPT in rows.kinds:
            return _over_prompts(data, y, rows, by)
        found = interval.interval(data.frame, y, _LEVEL, join=True)
    except AvailabilityError:
        return Whiskers(nothing, nothing, "")
    low, high = _ends(found, y)
    of_answers = _OF_ANSWERS if rule.over[1].endswith("answer_count") else _OF_PARTS
    return Whiskers(low, high, _OF_ONE if PROMPT in data.keys else of_answers, found)


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
    return Whiskers(low, high, _OF_PARTS)


def _over_prompts(data: PlotData, y: str, rows: PlotData, by: Sequence[str]) -> Whiskers:
    """Compute the interval of each mark over the prompts of its rows."""
    if PROMPT in by:
        found = interval.interval(data.frame, y, _LEVEL, join=True)
        return Whiskers(*_ends(found, y), _OF_ONE, found)
    keys = list(dict.fromkeys(by))
    pooled = interval.interval(rows.frame, y, _LEVEL, by=keys, cluster=PROMPT)
    places = {tuple(row): at for at, row in enumerate(_marks(pooled, keys))}
    at = np.array([places.get(tuple(row), -1) for row in _marks(data.frame, keys)], np.int64)
    low, high = (np.where(at >= 0, each[at], np.nan) for each in _ends(pooled, y))
    return Whiskers(low, high, _OVER_PROMPTS, pooled)


def _ends(found: pd.DataFrame, y: str) -> tuple[Numbers, Numbers]:
    """The ends of intervals."""
    low, high = (
        found[f"{y}_{end}"].to_numpy(np.float64, na_value=np.nan) for end in ("low", "high")
    )
    return low, high


def _marks(frame: pd.DataFrame, keys: Sequence[str]) -> list[list[object]]:
    """The key of each row; a missing part is equal to another one."""
    found = frame[list(keys)].astype(object)
    rows: list[list[object]] = found.where(found.notna(), None).to_numpy().tolist()
    return rows
