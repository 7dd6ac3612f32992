"""Numerators and denominators of a rate or mean, summed by group and cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, Status
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import Plan, plan
from aatoolkit.frame.cell_status import Cells
from aatoolkit.frame.groupby import By, Groups, find, flattened, group
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.sections.aggregation import FRACTION, Aggregation
from aatoolkit.sections.column import Column
from aatoolkit.stats.results import refusal
from aatoolkit.stats.trace import Many, leaf

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rules = Mapping[str, Aggregation | str]

_POOLED = ("ratio", "mean")


@dataclass(frozen=True)
class ClusterSums:
    """The sums Σy and Σn of one column, a row for each group and cluster that has any.

    Parameters
    ----------
    of_frame : pandas.DataFrame
        The frame as it was given.
    frame : pandas.DataFrame
        The same with named index levels as columns.
    metadata : FrameMetadata
        Its metadata.
    groups : Groups
        The groups, and which of them each row of the frame is in.
    labels : pandas.Index
        The clusters, such as prompts.
    by_cluster : str or None
        The column of the clusters.
    group, cluster : array of int
        The group and the cluster of each pair.
    y, n, squares : array of float
        Σy, Σn and, for means of rows, Σy² of each pair.
    is_rate : bool
        Whether every row counts ``y`` of ``n``.
    of_rows : bool
        Whether it is a mean over rows, each with the weight 1.
    given : array of int
        The rows with a number, by group.
    states : list of Availability
        What is known of the column in each group.
    column : Column or None
        The declaration of the column.
    rows, pair : array of int
        The positions of the rows with a number, and the pair that each is in.
    plan : Plan
        The rule of the column, and the columns that it is computed from.
    """

    of_frame: pd.DataFrame
    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    labels: pd.Index
    by_cluster: str | None
    group: Integers
    cluster: Integers
    y: Numbers
    n: Numbers
    squares: Numbers
    is_rate: bool
    of_rows: bool
    given: Integers
    states: list[Availability]
    column: Column | None
    rows: Integers
    pair: Integers
    plan: Plan

    @cached_property
    def unit(self) -> str | None:
        """The declared unit; a share of rows is a fraction."""
        if self.column and self.column.unit:
            return self.column.unit
        return FRACTION if self.is_rate else None

    @property
    def is_count(self) -> bool:
        """Whether it adds up a count, of which Σn says nothing."""
        return self.plan.rule.rule == "sum"

    @property
    def is_by_day(self) -> bool:
        """Whether clusters are days, of which neighbours may be alike."""
        return pd.api.types.is_datetime64_any_dtype(self.labels.dtype)

    @cached_property
    def keys(self) -> dict[tuple[Any, ...], int]:
        """The group of each key; a missing part of a key is equal to another one."""
        rows = self.groups.keys.astype(object).where(self.groups.keys.notna(), None)
        return {tuple(row): at for at, row in enumerate(rows.itertuples(index=False, name=None))}

    def row(self, pair: int) -> dict[str, Any]:
        """What identifies a pair: its cluster, or without clusters its group."""
        if self.by_cluster:
            return {self.by_cluster: self.labels[self.cluster[pair]]}
        return self.group_row(self.group[pair])

    def group_row(self, group: int) -> dict[str, Any]:
        """What identifies a group."""
        return {str(name): value for name, value in self.groups.keys.iloc[group].items()}

    @property
    def many(self) -> Many:
        """What adds up over the clusters of each group."""
        return Many(self.group, len(self.groups), self.group_row)

    def pairs(self, group: int) -> dict[Any, int]:
        """By cluster, the number of its pair with a group."""
        # The pairs are in the order of their groups.
        start, end = np.searchsorted(self.group, [group, group + 1]).tolist()
        names = self.labels[self.cluster[start:end]].tolist()
        return dict(zip(names, range(start, end), strict=True))

    def of(self, pairs: Iterable[int] | None = None, end: str = "") -> tuple[Any, Any]:
        """Σy and Σn of some pairs, or of all; what is traced is named after the end."""
        chosen = np.arange(len(self.y)) if pairs is None else np.array([*pairs], np.int64)

        def of(values: Numbers, name: str, which: int) -> Any:
            part = values[chosen]
            return leaf(name, part, lambda it, at: it.total(self, name, int(chosen[at]), which))

        return of(self.y, f"y{end}", 0), of(self.n, f"n{end}", 1)

    def squares_of(self, pairs: Iterable[int] | None = None) -> Any:
        """Σy² of some pairs, or of all."""
        chosen = np.arange(len(self.y)) if pairs is None else np.array([*pairs], np.int64)
        values = self.squares[chosen]
        return leaf("squares", values, lambda it, at: it.squares(self, int(chosen[at])))


def cluster_sums(
    frame: pd.DataFrame,
    column: str,
    by: By,
    cluster: str | None,
    rules: Rules | None = None,
    *,
    counts: bool = False,
) -> ClusterSums:
    """Add up a column by group and cluster; without a cluster each row is its own.

    With ``counts`` it may be a count: Σy is then that of a cluster in a group, and Σn is 1. What
    has a row without its count is left out, since its sum is not known.

    Raises
    ------
    AvailabilityError
        If there is no such column, it is no rate or mean, or the cluster of a row is missing.
    """
    flat = flattened(frame)
    metadata = metadata_of(flat)
    find(flat, [column, *([cluster] if cluster else [])])
    groups = group(flat, by, True)
    rules = with_flags(flat, metadata, column, rules or {})
    (planned,) = plan(flat, metadata, groups, column, rules)
    is_count = counts and planned.rule.rule == "sum"
    if planned.rule.rule not in _POOLED and not is_count:
        raise refusal(column, "interval", _not_pooled(planned.rule, metadata, column))
    cells = cells_of_plan(planned, flat, metadata, groups)
    y, n = _parts(planned, flat)
    given = cells.given & (n > 0) & np.isfinite(y)
    if planned.rule.over is not None:
        possible = (y >= 0) & (y <= n)
        whole = bool(possible[given].mean() >= 0.5) if given.any() else True
        # One impossible row of a proportion is that row's problem, not the frame's.
        given = given & possible if whole else given
    else:
        whole = not is_count and _is_flag(flat[column])
    codes, labels = _clusters(flat, cluster, given)
    pair = groups.ids * max(len(labels), 1) + codes
    if is_count:
        given = given & ~np.isin(pair, pair[cells.applicable & ~given])
    pairs, at = np.unique(pair[given], return_inverse=True)

    def added(values: Numbers) -> Numbers:
        return np.bincount(at, values, minlength=len(pairs)).astype(np.float64)

    group_of, cluster_of = np.divmod(pairs, max(len(labels), 1))
    return ClusterSums(
        frame,
        flat,
        metadata,
        groups,
        labels,
        cluster,
        group_of,
        cluster_of,
        added(y[given]),
        np.ones(len(pairs)) if is_count else added(n[given]),
        added(y[given] ** 2),
        whole,
        planned.rule.over is None and planned.rule.by is None,
        groups.count(given),
        _states(cells, groups, given),
        declared(metadata.columns[column]),
        np.flatnonzero(given),
        at,
        planned,
    )


def without_counts(rule: Aggregation, metadata: FrameMetadata, name: str) -> str:
    """Return the reason why a column has no interval, and which rates are made of it."""
    table, _, counted = (metadata.columns[name].of or "").partition(".")
    rates = [
        here
        for here, column in ((here, declared(what)) for here, what in metadata.columns.items())
        if column is not None
        and (metadata.columns[here].of or "").startswith(f"{table}.")
        and (column.aggregate.over or column.aggregate.counts or ("",))[0] == counted
    ]
    hint = f"; its rates have: {', '.join(rates)}" if rates and counted else ""
    if rule.rule == "sum" and len(metadata.key) == 1:
        hint += (
            f"; two windows of it are compared by what it is counted of: pair={metadata.key[0]!r}"
        )
    return f"its rule ({rule}) names no numerator and denominator{hint}"


def _not_pooled(rule: Aggregation, frame: FrameMetadata, name: str) -> str:
    """Return the reason why the rows of a column cannot be pooled."""
    column = declared(frame.columns[name])
    if column is None or column.aggregate.counts is None:
        return without_counts(rule, frame, name)
    parts = " of ".join(column.aggregate.counts)
    return (
        f"it is a share ({parts}) of which one answer can hold several, so nothing says how it "
        f"differs between answers; df.aa.interval({column.name!r}) gives that of each row"
    )


def with_flags(frame: pd.DataFrame, metadata: FrameMetadata, column: str, rules: Rules) -> Rules:
    """The rules; a column of true and false has the share of true rows as its rate."""
    if column in rules or metadata.is_lost(column) or not _is_flag(frame[column]):
        return rules
    return {**rules, column: "mean"}


def _is_flag(values: pd.Series) -> bool:
    return bool(pd.api.types.is_bool_dtype(values.dtype))


def _parts(planned: Plan, frame: pd.DataFrame) -> tuple[Numbers, Numbers]:
    """The numerator and the denominator of each row."""
    values = [frame[part].to_numpy(np.float64, na_value=np.nan) for part in planned.parts]
    if planned.rule.over:
        return values[0], values[1]
    if planned.rule.by:
        return values[0] * values[1], values[1]
    return values[0], np.ones(len(frame))


def _clusters(
    frame: pd.DataFrame, cluster: str | None, given: npt.NDArray[np.bool_]
) -> tuple[Integers, pd.Index]:
    if cluster is None:
        return np.arange(len(frame), dtype=np.int64), pd.RangeIndex(len(frame))
    codes, labels = pd.factorize(frame[cluster])
    lacking = int(((codes < 0) & given).sum())
    if lacking:
        why = f"{lacking} rows with a number have none; drop them, or name another cluster"
        raise AvailabilityError(f"{cluster} names no cluster: {why}", columns={cluster: why})
    return codes.astype(np.int64), pd.Index(labels)


def _states(cells: Cells, groups: Groups, given: npt.NDArray[np.bool_]) -> list[Availability]:
    """The availability of each group: partial where some of its rows have no number."""
    codes, states = groups.combined(cells)
    used, expected = groups.count(given), groups.count(cells.applicable)
    found = []
    for number, code in enumerate(codes.tolist()):
        state = states[code]
        if 0 < used[number] < expected[number]:
            state = replace(state, status=Status.PARTIAL)
        elif not used[number] and state.status == Status.AVAILABLE:
            state = Availability(Status.UNAVAILABLE, state.cause, "no answers")
        found.append(state)
    return found
