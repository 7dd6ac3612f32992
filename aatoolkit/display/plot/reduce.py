"""Aggregate rows that share a mark of a picture, by their declared rules."""

from __future__ import annotations

import numpy as np

from aatoolkit.display.plot.data import PlotData, plot_data
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.duplicates import DoubleCount, Duplicates
from aatoolkit.frame.groupby import group


def one_row_per_mark(data: PlotData, by: list[str], columns: list[str]) -> PlotData:
    """Aggregate to one row for each combination of the columns that position a mark.

    Rows that share a mark are aggregated: counts are added, rates are recomputed. A partly
    measured group has the value of its measured part, and the picture notes it; an unmeasured
    one stays missing.

    Raises
    ------
    AvailabilityError
        If a column has no aggregation rule.
    """
    by = list(dict.fromkeys(by))
    if not data.frame.duplicated(by).any():
        return data
    by = [*by, *(name for name in _MARKS if _follows(data, name, by))]
    parts = [part for name in columns for part in _parts(data, name)]
    kept = [*by, *dict.fromkeys([*columns, *parts])]
    try:
        return plot_data(aggregate(data.frame[kept], by, None, True, {}, True))
    except AvailabilityError as error:
        refused = error
    raise AvailabilityError(
        f"several rows share a mark by {', '.join(by)}, and they do not combine: {refused}; "
        "aggregate them first, or draw by a column that distinguishes them",
        columns=refused.columns,
    )


def each_once(data: PlotData, by: list[str], columns: list[str]) -> PlotData:
    """The rows that marks by some columns are of, those that a join repeated once.

    Raises
    ------
    AvailabilityError
        If no column tells which of the rows of a mark are the same.
    """
    groups = group(data.frame, list(dict.fromkeys(by)), True)
    repeats = np.ones(len(data), bool)
    for name in columns:
        table = data.metadata.columns[name].table
        if table not in data.metadata.repeated:
            return data
        refused = ""
        try:
            again = Duplicates(data.frame, data.metadata, groups).of(table, [name])
        except DoubleCount as error:
            refused = str(error)
        if refused:
            why = f"{name} would be drawn several times for once: {refused}"
            raise AvailabilityError(why, columns={name: refused})
        repeats &= np.zeros(len(data), bool) if again is None else again
    return data.only(~repeats) if repeats.any() else data


_MARKS = ("own", "domain_type")
"""Columns by which own rows and those of competitors are marked."""


def _follows(data: PlotData, name: str, by: list[str]) -> bool:
    """Whether a column has one value for each combination of others."""
    if name not in data.kinds or name in by:
        return False
    groups = data.frame.groupby(by, dropna=False, observed=True)[name]
    return bool((groups.nunique(dropna=False) == 1).all())


def _parts(data: PlotData, name: str) -> tuple[str, ...]:
    """The columns that an aggregation rule needs."""
    rule = data.rule(name)
    return (*(rule.over or ()), *((rule.by,) if rule.by else ())) if rule else ()
