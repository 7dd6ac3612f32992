"""The numbers behind marks: one row a mark, its interval, and why a mark has no number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.display.plot.data import Mask, Numbers, PlotData, plot_data
from aatoolkit.display.plot.style import NO_NUMBER, NO_VALUE, UNMEASURED, Style
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.cell_status import COVERAGE
from aatoolkit.frame.duplicates import Duplicates, Refused
from aatoolkit.frame.groupby import by_period, group
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE
from aatoolkit.stats.estimate import wilson
from aatoolkit.stats.interval import OF_PARTS, bounds

# --- one row a mark ---------------------------------------------------------------------------

_MARKS = ("own", "domain_type")
"""Columns by which own rows and those of competitors are marked."""


def one_row_per_mark(
    data: PlotData, by: Sequence[str], columns: Sequence[str], freq: str = ""
) -> PlotData:
    """Aggregate to one row for each combination of the columns that position a mark.

    Counts are added, rates are recomputed. A partly measured group has the value of its measured
    part, and the picture notes it; an unmeasured one stays missing. With ``freq`` the times are
    those of its periods.

    Raises
    ------
    AvailabilityError
        If a column has no aggregation rule.
    """
    by = list(dict.fromkeys(by))
    if not freq and not data.frame.duplicated(by).any():
        return data
    groups = data.frame.groupby(by, dropna=False, observed=True)
    by += [
        name
        for name in _MARKS
        if name in data.kinds and name not in by and groups[name].nunique(False).eq(1).all()
    ]
    kept = data.frame[
        [*by, *dict.fromkeys([*columns, *(p for name in columns for p in data.parts(name))])]
    ]
    try:
        keys = by_period(kept, by, freq) if freq else by
        return plot_data(aggregate(kept, keys, None, True, {}, True))
    except AvailabilityError as error:
        refused = error
    raise AvailabilityError(
        f"several rows share a mark by {', '.join(by)}, and they do not combine: {refused}; "
        "aggregate them first, or draw by a column that distinguishes them",
        columns=refused.columns,
    )


def each_once(data: PlotData, by: Sequence[str], columns: Sequence[str]) -> PlotData:
    """The rows that marks by some columns are of, those that a join repeated once.

    Raises
    ------
    AvailabilityError
        If no column tells which of the rows of a mark are the same.
    """
    tables = {name: data.metadata.columns[name].table for name in columns}
    if not {*tables.values()} <= {*data.metadata.repeated}:
        return data
    groups = group(data.frame, list(dict.fromkeys(by)), True)
    repeats = np.ones(len(data), bool)
    for name, table in tables.items():
        refused = ""
        try:
            again = Duplicates(data.frame, data.metadata, groups).of(table, [name])
        except Refused as error:
            refused = str(error)
        if refused:
            why = f"{name} would be drawn more than once: {refused}"
            raise AvailabilityError(why, columns={name: refused})
        repeats &= np.zeros(len(data), bool) if again is None else again
    return data.only(~repeats) if repeats.any() else data


# --- intervals --------------------------------------------------------------------------------

_LEVEL = 0.95
_QUANTILE = NormalDist().inv_cdf((1 + _LEVEL) / 2)


@dataclass(frozen=True)
class Whiskers:
    """The bounds of each row, NaN where there are none, and which interval they are."""

    low: Numbers
    high: Numbers
    which: str = ""
    bounds: pd.DataFrame | None = None
    """The interval of each mark as it was computed, beside the columns that name the mark."""

    @property
    def there(self) -> bool:
        """Whether any row has an interval."""
        return not bool(np.isnan(self.low + self.high).all())


def whiskers(
    data: PlotData, y: str, rows: PlotData | None = None, by: Sequence[str] = ()
) -> Whiskers:
    """The declared interval of a number, else that over prompts, else Wilson's.

    ``data`` has one row a mark; ``rows`` are those that the marks were aggregated from, and ``by``
    the columns that position a mark.
    """
    rule = data.rule(y)
    is_declared = {f"{y}_low", f"{y}_high"} <= data.kinds.keys()
    if not is_declared and (rule is None or rule.over is None or rule.why):
        nothing = np.full(len(data), np.nan)
        return Whiskers(nothing, nothing)
    many = rows.frame if rows is not None and len(rows) > len(data) else None
    computed = bounds(data.frame, y, many, by, _LEVEL)
    return Whiskers(computed.low, computed.high, computed.method, computed.result)


def ends_of_parts(data: PlotData, y: str) -> Whiskers:
    """Wilson's interval of rates whose numerator and denominator stand beside them; else NaN."""
    low, high = np.full(len(data), np.nan), np.full(len(data), np.nan)
    if {"numerator", "denominator"} <= data.kinds.keys():
        hits, of, values = (data.values(name) for name in ("numerator", "denominator", y))
        with np.errstate(divide="ignore", invalid="ignore"):
            fits = (hits >= 0) & (hits <= of) & (of > 0) & np.isclose(hits / of, values)
        fits &= np.array([unit == FRACTION for unit in data.units(y)])
        low[fits], high[fits] = wilson(hits[fits] / of[fits], of[fits], _QUANTILE)
    return Whiskers(low, high, OF_PARTS)


# --- why there is no number -------------------------------------------------------------------

NOT_MEASURED, NOT_GIVEN = "not measured", "no value given"
NOT_MENTIONED, NOTHING = "not mentioned", "nothing to count"
NOT_LISTED, DOES_NOT_APPLY = "not listed", "does not apply"

WITHOUT = {
    NOT_MEASURED: "not measured",
    NOT_MENTIONED: "not mentioned",
    NOTHING: "with nothing to count",
    DOES_NOT_APPLY: "to which it does not apply",
}
"""Of rows without a number the reasons, as they are counted in words."""

_NOTHING_REASONS = ("the denominator is 0", "zero weight", "nothing to count")
"""The reasons that an aggregation gives where there was nothing to divide by."""
_OF_MENTIONS = ("mention_count", "position_count", "scored_count", "labelled_count")
"""The counts of what only a mention has: a place, a tone."""


def style_without(reason: str) -> Style:
    """The style of what has no number, by the reason: hatched if it was not measured."""
    return {NOT_MEASURED: UNMEASURED, NOT_GIVEN: NO_VALUE}.get(reason, NO_NUMBER)


def whys_missing(data: PlotData, name: str, rows: Iterable[int] | None = None) -> list[str]:
    """Say in a few words why cells of a column have no number; by default of all, empty for those.

    What was not measured differs from what was, and had nothing to be counted of, and from
    places and tones of a brand that was not mentioned.
    """
    if rows is None:
        missing = np.flatnonzero(np.isnan(data.values(name))).tolist()
        whys = dict(zip(missing, whys_missing(data, name, missing), strict=True))
        return [whys.get(row, "") for row in range(len(data))]
    cells, units, counted = data.cells(name), data.units(name), data.sample(name)
    before = "previous_" if name.startswith("previous_") else ""
    is_tone = (counted or "").removeprefix(before) in _OF_MENTIONS
    uncovered, none = _zeros(data, f"{name}{COVERAGE}"), _zeros(data, counted)
    unmentioned = _zeros(data, f"{before}mention_count")
    if not before and data.kinds.get("mentioned") == "flag":
        unmentioned = ~data.frame["mentioned"].fillna(True).to_numpy(bool)

    def why(row: int) -> str:
        state = cells.states[int(cells.codes[row])]
        if state.status == Status.NOT_APPLICABLE:
            return NOTHING if state.reason in _NOTHING_REASONS else DOES_NOT_APPLY
        if state.status == Status.UNAVAILABLE or uncovered[row]:
            return NOT_MEASURED
        if unmentioned[row] and (is_tone or units[row] == RANK):
            return NOT_MENTIONED
        if none[row] and units[row] in (FRACTION, RANK, SCORE):
            return NOTHING
        return NOT_MEASURED if state.status == Status.PARTIAL else NOT_GIVEN

    return [*map(why, rows)]


def _zeros(data: PlotData, name: str | None) -> Mask:
    """Mask of the rows in which a count is 0."""
    if name is None or data.kinds.get(name) != "number":
        return np.zeros(len(data), bool)
    return (data.frame[name] == 0).fillna(False).to_numpy(bool)
