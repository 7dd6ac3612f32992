"""Aggregate rows by each column's declared rule; what was not measured stays missing.

A cell that holds a value is used, and a partial one makes its group partial. A sum has a number
only if every cell to which the column applies holds one, unless missing cells are skipped; a
ratio or a mean is computed over the rows whose parts are there, and says which share of the
rows that is. Sums of nothing do not exist here: a group without a number is missing, with the
reason, where pandas would say 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.show import show_as
from aatoolkit._util.text import combined_reason
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.frame.aggregation_plan import Plan, Rules, plan
from aatoolkit.frame.cell_status import (
    COVERAGE,
    MEASURED,
    NO_ROW,
    NO_VALUE,
    ROW,
    Cells,
    Codes,
    Mask,
    cells_of,
    row_statements,
    status_columns,
    together,
    view_of,
)
from aatoolkit.frame.duplicates import IN_SEVERAL, Duplicates
from aatoolkit.frame.groupby import (
    By,
    Floats,
    Groups,
    added,
    as_floats,
    chosen,
    flattened,
    group,
    like,
    part_periods,
    sums,
)
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.scope import FILTERS

ZERO = "the denominator is 0"
"""Why a rate of nothing does not apply."""

_ZERO = Availability(Status.NOT_APPLICABLE, None, ZERO)
_NO_ROWS = Availability(Status.NOT_APPLICABLE, None, "no rows")


@dataclass(frozen=True)
class PlannedCells:
    """A plan, the cells that it is computed from, and the groups that their rows become."""

    plan: Plan
    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups

    @cached_property
    def cells(self) -> Cells:
        """The availability of the rows."""
        return cells_of_plan(self.plan, self.frame, self.metadata, self.groups)

    @cached_property
    def expected(self) -> Codes:
        """The number of rows of each group that could have a number."""
        wholes = self.plan.wholes
        return self.groups.count(self.cells.applicable) + (0 if wholes is None else wholes.lacking)

    @cached_property
    def covered(self) -> Floats:
        """The number of rows used of each group; an aggregated row counts by its coverage."""
        name, share = f"{self.plan.column}{COVERAGE}", np.ones(len(self.frame))
        if name in self.frame.columns:
            share = np.nan_to_num(as_floats(self.frame[name]), nan=1.0)
        return added(share, self.cells.has_number, self.groups)

    @cached_property
    def absent(self) -> list[Availability]:
        """The availability of rows that the frame, and so its groups, do not contain."""
        if self.groups.by_value & {"host", *CONTEXT, *FILTERS}:
            return []  # they would be groups of their own
        columns = self.metadata.columns
        return [*dict.fromkeys(state for n in self.plan.parts for state in columns[n].absent)]

    def values(self) -> tuple[pd.Series, Mask]:
        """Each group's number from the rows that have one, and where it is undefined."""
        plan, groups, use = self.plan, self.groups, self.cells.has_number
        rule, first = plan.rule, self.frame[plan.parts[0]]
        undefined = np.zeros(len(groups), bool)
        if rule.rule == "sum":
            return sums(first, use, groups, plan.column), undefined
        if rule.rule == "count":
            return like(groups.count(use), first), undefined
        if rule.rule not in ("mean", "ratio"):
            return chosen(first, use, groups, rule.rule), undefined
        numbers = as_floats(first)
        weights = as_floats(self.frame[plan.parts[1]]) if plan.parts[1:] else np.ones(len(numbers))
        above = added(numbers if rule.over else numbers * weights, use, groups)
        below = added(weights, use, groups)
        if plan.wholes is not None:
            below = plan.wholes.sums(weights, use, groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = like(above / below, first)
        return quotient, (groups.count(use) > 0) & (below == 0)


def planned_of(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    rules: Rules | None,
    observed: bool | None,
) -> list[PlannedCells]:
    """The plans of the columns of a frame, and the cells that each is computed from."""
    metadata = metadata_of(frame)
    groups = group(frame, by, observed is not False)
    plans = plan(frame, metadata, groups, columns, rules or {}, shares=True)
    return [PlannedCells(planned, frame, metadata, groups) for planned in plans]


@recorded("aggregate", "frame")
def aggregate(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    skip_missing: bool,
    rules: Rules,
    observed: bool,
    status: bool = False,
) -> pd.DataFrame:
    """Aggregate a frame; see ``df.aa.aggregate``."""
    flat = flattened(frame)
    plans = planned_of(flat, by, columns, rules, observed)
    metadata, groups = plans[0].metadata, plans[0].groups
    parts = part_periods(flat, by, groups, metadata)
    tables = {metadata.columns[it.plan.described].table for it in plans} & {*metadata.repeated}
    several: tuple[str, ...] = ()
    if len(groups) > 1 and tables:  # a row of such a table may count in several groups
        several = tuple(sorted(filter(Duplicates(flat, metadata, groups).is_in_several, tables)))
    kept: dict[Any, pd.Series] = {name: groups.keys[name] for name in groups.keys.columns}
    described = {str(name): metadata.columns[str(name)] for name in kept}
    for planned in plans:
        values, state, beside = _outcome(planned, parts, skip_missing, status or bool(parts))
        name, source_column = planned.plan.column, metadata.columns[planned.plan.described]
        within = planned.plan.rule.within
        if within and within not in kept:
            use = (flat[name].notna() & flat[within].notna()).to_numpy(bool)
            kept[within] = chosen(flat[within], use, groups, "last")
            described[within] = metadata.columns[within]
        of = planned.plan.of or (source_column.of if source_column.table in several else None)
        column = ColumnMetadata(of, state, caution=planned.plan.caution)
        if (stated := f"{name}_{ROW}") in beside:
            statuses = pd.DataFrame({part: beside[part] for part in beside if ROW in part})
            own_keys = FrameMetadata(described)
            statements = tuple(row_statements(statuses, stated, groups.keys, own_keys))
            is_silent = statuses[stated].isna().any()  # of a number nothing is stated
            otherwise = Availability() if is_silent else statements[0].availability
            column = replace(column, statements=statements, otherwise=otherwise)
        absent = () if planned.absent else source_column.absent
        described |= {name: column.lacking(*absent), **dict.fromkeys(beside, MEASURED)}
        kept |= {name: values, **beside}
    key = tuple(str(name) for name in groups.keys.columns)
    result = pd.DataFrame(kept, index=groups.keys.index)
    result = show_as(result, view_of(result))
    grains = dict.fromkeys(sorted({column.table for column in described.values()} - {""}), key)
    grains |= dict.fromkeys(several, (IN_SEVERAL,))
    return attach(result, FrameMetadata(described, key, metadata.sources, grains, several))


def _outcome(
    planned: PlannedCells,
    parts: Mapping[int, tuple[float, str]],
    skip_missing: bool,
    is_stated: bool,
) -> tuple[pd.Series, Availability, dict[str, pd.Series]]:
    """Build one column of the result, its overall availability, and its companion columns.

    These are its coverage, and its status where groups differ. A number that leaves out rows, or
    days of its period, says so unasked.
    """
    plan, groups, cells = planned.plan, planned.groups, planned.cells
    used_rows, expected, wholes = groups.count(cells.has_number), planned.expected, plan.wholes
    full = (expected > 0) & (used_rows == expected)
    is_pooled = plan.rule.rule in ("ratio", "mean")
    has_number = used_rows > 0 if skip_missing or is_pooled else full
    if wholes is not None and not skip_missing:
        has_number = has_number & (wholes.lacking == 0)
    values, undefined = planned.values()
    has_number = has_number & ~undefined
    codes, states = groups.combined(cells)
    # Where a part was measured and the group has no value, it is of the other part.
    bare = [
        replace(s, status=Status.UNAVAILABLE) if s.status == Status.PARTIAL else s for s in states
    ]
    codes, states = np.where(used_rows > 0, codes, codes + len(states)), [*states, *bare]
    # What more is known of single groups: rows without a value, absent rows, part periods.
    numbers: dict[Availability, int] = {}
    silent = np.array([state.reason == NO_VALUE.reason for state in states], bool)[codes]
    odd = silent if wholes is None else silent | (wholes.lacking > 0)
    odd = odd | bool(planned.absent)
    first = len(states)
    for at in sorted({*np.flatnonzero(odd).tolist(), *parts}):
        state = states[codes[at]]
        if silent[at]:
            few, many = int(expected[at] - used_rows[at]), int(expected[at])
            why = f"{few:,} of {many:,} rows {'has' if few == 1 else 'have'} no value"
            state = replace(state, reason=why if few < many else "no row has a value")
        more = [*planned.absent]
        if wholes is not None and wholes.lacking[at]:
            why = f"{wholes.lacking[at]} of {wholes.total[at]} responses have no row of it"
            more.append(Availability(Status.UNKNOWN, Cause.NO_ROW, why))
        state = combine([state, *more])
        is_unknown = state.status == Status.UNKNOWN and not has_number[at]
        if at in parts and state.status not in EMPTY and not is_unknown:
            reason = combined_reason((state.reason, parts[at][1]))
            state = replace(state, status=Status.PARTIAL, reason=reason)
        codes[at] = numbers.setdefault(state, first + len(numbers))
    states += numbers
    # After the states as they are come the same of groups in part, then two of none.
    part_state = combine(planned.metadata.columns[part].availability for part in plan.parts)
    nothing = _NO_ROWS if part_state.status == Status.AVAILABLE else part_state
    empty = nothing if groups.keys.columns.empty or part_state.status in EMPTY else NO_ROW
    codes = np.where(has_number & ~full, codes + len(states), codes)
    is_nothing = undefined & (groups.count(cells.complete) == expected) & full
    codes = np.where(is_nothing, 2 * len(states), codes)
    codes = np.where(groups.sizes > 0, codes, 2 * len(states) + 1)
    partial = [replace(state, status=Status.PARTIAL) for state in states]
    all_states = [*states, *partial, _ZERO, empty]
    share = np.divide(
        planned.covered, expected, out=np.full(len(groups), np.nan), where=expected > 0
    )
    for at, (period, _) in parts.items():
        share[at] *= period
    used = [all_states[code] for code in np.unique(codes).tolist()]
    state = combine(used) if used else nothing
    values, coverage = values.where(has_number), pd.Series(pd.array(share, dtype="Float64"))
    has_number = values.notna().to_numpy(bool)
    in_part = skip_missing or bool((coverage[has_number] < 1).any())
    beside = {f"{plan.column}{COVERAGE}": coverage} if in_part else {}
    if len(used) < 2 and not is_stated:
        return values, state, beside
    statuses = status_columns(all_states, codes, f"{plan.column}_{ROW}")
    mask = Cells(all_states, codes, has_number).having(Status.UNKNOWN)
    statuses[has_number & mask] = None
    if is_stated or (not mask.all() and len(statuses.drop_duplicates()) > 1):
        beside |= {str(column): statuses[column] for column in statuses}
    return values, state, beside


def cells_of_plan(
    planned: Plan, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups
) -> Cells:
    """The availability of the cells that a column is computed from."""

    def is_zero(name: str, rows: Mask) -> Mask:
        zero: Mask = rows & (as_floats(frame[name]) == 0)
        return zero

    rule = planned.rule
    cells = reduce(together, (cells_of(frame, part, metadata) for part in planned.parts))
    unreported = cells.unreported
    if unreported.any():
        # That a combination has no row says nothing of those that have; in a group without any
        # other row it is all there is.
        cells = cells.without(unreported & (groups.count(~unreported) > 0)[groups.ids], "no row")
    if planned.repeats is not None:
        cells = cells.without(planned.repeats, "counted once")
    for trials in planned.trials:
        counted = cells_of(frame, trials, metadata)
        none = is_zero(trials, counted.has_number if rule.rule == "sum" else counted.complete)
        cells = cells.without(none & ~cells.has_number, ZERO)
    if rule.among and rule.among[0] in frame.columns:
        kind_column, *kinds = rule.among
        stated = cells_of(frame, kind_column, metadata).has_number
        other = stated & ~frame[kind_column].isin(kinds).to_numpy(bool) if kinds else None
        nothing = is_zero(kind_column, stated) if other is None else other
        cells = cells.without(nothing & ~cells.has_number, "nothing to count")
    if rule.over:
        above, below = rule.over
        none = is_zero(below, cells_of(frame, below, metadata).complete)
        return cells.without(none & ~(np.abs(as_floats(frame[above])) > 0), ZERO)
    if rule.by:
        nothing = is_zero(rule.by, cells_of(frame, rule.by, metadata).complete)
        return cells.without(nothing, "zero weight")
    if rule.rule in ("first", "last"):
        rows = pd.Series(groups.ids[cells.applicable], np.flatnonzero(cells.applicable))
        taken = np.zeros(len(frame), bool)
        taken[rows.index[~rows.duplicated(keep=rule.rule)]] = True  # type: ignore[arg-type]
        return cells.without(~taken, "another row is taken")
    return cells
