"""Aggregate rows by each column's declared rule; what was not measured stays missing.

A cell that holds a value is used, and a partial one makes its group partial. A sum has a number
only if every cell to which the column applies holds one, unless missing cells are skipped; a
ratio or a mean is computed over the rows whose parts are there, and says which share of the
rows that is. Sums of nothing do not exist here: a group without a number is missing, with the
reason, where pandas would say 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit._util.text import combined_reason
from aatoolkit.availability import AbsentRows, Availability, Cause, Status, combine, join
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.absent_rows import in_groups, of_groups
from aatoolkit.frame.aggregation_plan import Plan, Rules, plan
from aatoolkit.frame.cell_status import (
    CAUSE,
    COVERAGE,
    REASON,
    ROW,
    STATUSES,
    Cells,
    Codes,
    Mask,
    cells_of,
    distinct_codes,
    together,
)
from aatoolkit.frame.group_statements import with_statements
from aatoolkit.frame.groupby import By, Groups, flattened, group, refuse_measures
from aatoolkit.frame.periods import part_periods
from aatoolkit.frame.wide import WideFrame
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded

_NO_ROW = Availability(Status.UNKNOWN, Cause.NO_ROW)
_NO_ROWS = Availability(Status.NOT_APPLICABLE, None, "no rows")
_ZERO = Availability(Status.NOT_APPLICABLE, None, "zero_denominator")
_OVER_MEASURED = ("ratio", "mean")
"""The rules that are computed over the rows that were measured, whether or not all were."""

_MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))


@dataclass(frozen=True)
class _Outcome:
    """One column of the result: its values, the availability of each and of all, its coverage."""

    values: pd.Series
    states: list[Availability]
    codes: Codes
    whole: Availability
    coverage: pd.Series
    absent: tuple[AbsentRows, ...] = ()


@recorded("aggregate", "frame")
def aggregate(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    skip_missing: bool,
    rules: Rules,
    observed: bool,
) -> pd.DataFrame:
    """Aggregate a frame; see ``df.aa.aggregate``."""
    flat = flattened(frame)
    known = metadata_of(flat)
    refuse_measures(by, known)
    groups = group(flat, by, observed)
    plans = plan(flat, known, groups, columns, rules)
    parts = part_periods(flat, by, groups, known)
    outcomes = [
        _with_parts(_outcome(each, flat, known, groups, skip_missing), parts) for each in plans
    ]
    kept: dict[Any, pd.Series] = {name: groups.keys[name] for name in groups.keys.columns}
    described = {str(name): known.columns[str(name)] for name in kept}
    keys = groups.keys[[name for name in kept if known.holds(str(name))]]
    for each, outcome in zip(plans, outcomes, strict=True):
        within = each.rule.within
        if within and within not in kept:
            kept[within] = _last(flat[within], flat[each.column].notna().to_numpy(bool), groups)
            described[within] = known.columns[within]
        kept[each.column] = outcome.values
        whole = ColumnMetadata(each.of, outcome.whole)
        whole = with_statements(whole, keys, outcome.states, outcome.codes)
        described[each.column] = whole.lacking(*outcome.absent)
        for name, values in _beside(each.column, outcome, each.rule.rule, skip_missing).items():
            kept[name], described[name] = values, _MEASURED
    key = tuple(str(name) for name in groups.keys.columns)
    result = WideFrame(kept, index=groups.keys.index)
    tables = {(column.of or "").partition(".")[0] for column in described.values()} - {""}
    grains = dict.fromkeys(sorted(tables), key)
    return attach(result, FrameMetadata(described, key, known.sources, grains))


def _outcome(
    each: Plan, frame: pd.DataFrame, known: FrameMetadata, groups: Groups, skip_missing: bool
) -> _Outcome:
    cells = cells_of_plan(each, frame, known, groups)
    given, expected = groups.count(cells.given), groups.count(cells.applicable)
    full = (expected > 0) & (given == expected)
    shown = given > 0 if skip_missing or each.rule.rule in _OVER_MEASURED else full
    values, undefined = _values(each, frame, cells, groups)
    own = combine(known.columns[part].availability for part in each.parts)
    nothing = _NO_ROWS if own.status == Status.AVAILABLE else own
    empty = nothing if groups.keys.columns.empty or own.status in EMPTY else _NO_ROW
    codes, states = groups.combined(cells)
    absent = [*of_groups(_absent(each, known), known, groups)]
    states, codes = in_groups(states, codes, absent)
    lacking = [rows.availability for rows, concerned, _ in absent if concerned.any()]
    codes = np.where(shown & ~undefined & ~full, codes + len(states), codes)
    codes = np.where(
        undefined & (groups.count(cells.whole) == expected) & full, 2 * len(states), codes
    )
    codes = np.where(groups.sizes > 0, codes, 2 * len(states) + 1)
    in_part = [replace(state, status=Status.PARTIAL) for state in states]
    every = [*states, *in_part, _ZERO, empty]
    used = [every[code] for code in distinct_codes(codes, len(every))[0].tolist()]
    share = np.divide(given, expected, out=np.full(len(groups), np.nan), where=expected > 0)
    return _Outcome(
        values.where(shown & ~undefined),
        every,
        codes,
        _over_all(used, cells, empty, lacking) if len(groups) else nothing,
        pd.Series(pd.array(share, dtype="Float64")),
        tuple(rows for rows, _, by_value in absent if by_value),
    )


def _absent(each: Plan, known: FrameMetadata) -> Iterable[AbsentRows]:
    """What is stated of the rows that lack in the columns that one is computed from."""
    return dict.fromkeys(rows for part in each.parts for rows in known.columns[part].absent)


def _with_parts(outcome: _Outcome, parts: Sequence[str]) -> _Outcome:
    """The outcome with the groups partial whose period is not whole, such as a week of 3 days."""
    if not any(parts):
        return outcome
    states, codes = list(outcome.states), outcome.codes.copy()
    there = outcome.values.notna().to_numpy(bool)
    for at, words in enumerate(parts):
        state = states[codes[at]]
        unknown = state.status == Status.UNKNOWN and not there[at]
        if words and state.status not in EMPTY and not unknown:
            reason = combined_reason((state.reason, words))
            codes[at] = len(states)
            states.append(replace(state, status=Status.PARTIAL, reason=reason))
    words = f"in part: {'; '.join(dict.fromkeys(filter(None, parts)))}"
    whole = outcome.whole
    if whole.status in (Status.AVAILABLE, Status.PARTIAL):
        whole = combine([whole, Availability(Status.PARTIAL, None, words)])
    else:
        whole = replace(whole, reason=combined_reason((whole.reason, words)))
    return replace(outcome, states=states, codes=codes, whole=whole)


def _reported(cells: Cells, groups: Groups) -> Cells:
    """Leave out rows that nobody reported, in groups that have others.

    That a combination has no row says nothing of those that have: their sum stays what it was
    before the gap was made explicit. In a group without any other row it is all there is.
    """
    lacking = cells.unreported
    if not lacking.any():
        return cells
    return cells.without(lacking & (groups.count(~lacking) > 0)[groups.ids], "no row")


def _over_all(
    used: list[Availability], cells: Cells, empty: Availability, lacking: list[Availability]
) -> Availability:
    """Combine the availability of a column over all groups."""
    status = reduce(join, (state.status for state in used), Status.NOT_APPLICABLE)
    if status == Status.NOT_APPLICABLE:
        return combine(used)
    there = distinct_codes(cells.codes, len(cells.states))[0]
    seen = [cells.states[code] for code in there.tolist()]
    empties = (each for each in used if each is empty)
    return replace(combine([*seen, *lacking, *empties]), status=status)


def cells_of_plan(each: Plan, frame: pd.DataFrame, known: FrameMetadata, groups: Groups) -> Cells:
    """The availability of the cells that a column is computed from."""
    cells = reduce(together, (cells_of(frame, part, known) for part in each.parts))
    if each.repeats is not None:
        cells = cells.without(each.repeats, "counted once")
    cells = _reported(cells, groups)
    for trials in each.trials:
        none = cells_of(frame, trials, known).given & (_float(frame[trials]) == 0)
        cells = cells.without(none & ~cells.given, "zero_denominator")
    if each.rule.among and each.rule.among[0] in frame.columns:
        nothing = _nothing_to_count(frame, each.rule.among, known)
        cells = cells.without(nothing & ~cells.given, "nothing to count")
    if each.rule.over:
        above, below = (_float(frame[part]) for part in each.rule.over)
        counted = cells_of(frame, each.rule.over[1], known).whole
        return cells.without(counted & (below == 0) & ~(np.abs(above) > 0), "zero_denominator")
    if each.rule.by:
        weight = cells_of(frame, each.rule.by, known)
        nothing = weight.whole & (_float(frame[each.rule.by]) == 0)
        return cells.without(nothing, "zero weight")
    if each.rule.rule in ("first", "last"):
        order = slice(None) if each.rule.rule == "last" else slice(None, None, -1)
        turned = Groups(groups.ids[order], groups.keys)
        return cells.without(~turned.last(cells.applicable[order])[order], "another row is taken")
    return cells


def _nothing_to_count(frame: pd.DataFrame, among: tuple[str, ...], known: FrameMetadata) -> Mask:
    """The rows that are known to have nothing of what a column counts."""
    stated: Mask = cells_of(frame, among[0], known).given
    if len(among) > 1:
        stated = stated & ~frame[among[0]].isin(among[1:]).to_numpy(bool)
    else:
        stated = stated & (_float(frame[among[0]]) == 0)
    return stated


def _values(
    each: Plan, frame: pd.DataFrame, cells: Cells, groups: Groups
) -> tuple[pd.Series, Mask]:
    """Compute each group's number from the rows that have one, and where it is undefined."""
    parts = [frame[part] for part in each.parts]
    rule, use = each.rule, cells.given
    undefined = np.zeros(len(groups), bool)
    if rule.rule == "sum":
        return _sum(parts[0], use, groups, each.column), undefined
    if rule.rule not in ("mean", "ratio"):
        return _chosen(parts[0], use, groups, rule.rule), undefined
    if rule.over:
        above, below = (_added(_float(part), use, groups) for part in parts)
    elif rule.by:
        weight = _float(parts[1])
        above = _added(_float(parts[0]) * weight, use, groups)
        below = _added(weight, use, groups)
    else:
        above = _added(_float(parts[0]), use, groups)
        below = groups.count(use).astype(float)
    undefined = (groups.count(use) > 0) & (below == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
    return _like(pd.Series(pd.array(found, dtype="Float64")), parts[0]), undefined


def _float(values: pd.Series) -> npt.NDArray[np.float64]:
    return values.to_numpy(np.float64, na_value=np.nan)


def _added(values: npt.NDArray[np.float64], use: Mask, groups: Groups) -> npt.NDArray[np.float64]:
    return np.bincount(groups.ids[use], values[use], minlength=len(groups)).astype(np.float64)


def _sum(values: pd.Series, use: Mask, groups: Groups, name: str) -> pd.Series:
    if pd.api.types.is_integer_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        whole = pd.array(_whole_sums(values[use], groups.ids[use], len(groups), name), "Int64")
        return _like(pd.Series(whole), values)
    added = _added(_float(values), use, groups)
    return _like(pd.Series(pd.array(added, dtype="Float64")), values)


def _whole_sums(values: pd.Series, ids: Codes, groups: int, name: str) -> npt.NDArray[np.int64]:
    """Sum integers exactly, halves apart, so that nothing overflows."""
    if len(values) and int(values.max()) >= 2**63:
        raise _overflow(name)
    exact = values.to_numpy(np.int64)
    high, low = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    np.add.at(high, ids, exact >> 32)
    np.add.at(low, ids, exact & 0xFFFFFFFF)
    high += low >> 32
    if ((high < -(2**31)) | (high >= 2**31)).any():
        raise _overflow(name)
    return (high << 32) | (low & 0xFFFFFFFF)


def _overflow(name: str) -> AvailabilityError:
    why = "a sum is too large for a 64-bit integer"
    return AvailabilityError(f"{name}: {why}; convert it to Float64 first", columns={name: why})


def _chosen(values: pd.Series, use: Mask, groups: Groups, rule: str) -> pd.Series:
    """The smallest, largest, first or last value of each group, of the same dtype."""
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iub":
        values = values.convert_dtypes()
    grouped = values[use].groupby(groups.ids[use])
    found: pd.Series = grouped.agg(rule)
    return found.reindex(range(len(groups)))


def _last(values: pd.Series, use: Mask, groups: Groups) -> pd.Series:
    return _chosen(values, use & values.notna().to_numpy(bool), groups, "last")


def _like(result: pd.Series, values: pd.Series) -> pd.Series:
    """Cast a result to an Arrow dtype where the column has one."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = pa.int64() if pd.api.types.is_integer_dtype(result.dtype) else pa.float64()
        return result.astype(pd.ArrowDtype(kind))
    return result


def _beside(name: str, outcome: _Outcome, rule: str, skip_missing: bool) -> dict[str, pd.Series]:
    """Build the columns beside a result: its coverage, and its status where groups differ.

    A ratio or mean that leaves out rows says so unasked.
    """
    shown = outcome.values.notna()
    in_part = rule in _OVER_MEASURED and bool((outcome.coverage[shown] < 1).any())
    beside = {f"{name}{COVERAGE}": outcome.coverage} if skip_missing or in_part else {}
    if len(distinct_codes(outcome.codes, len(outcome.states))[0]) < 2:
        return beside
    groups = Cells(outcome.states, outcome.codes, outcome.values.notna().to_numpy(bool))
    unstated = groups.given & groups.having(Status.UNKNOWN)
    states = pd.DataFrame(
        {
            "": [str(state.status) for state in outcome.states],
            CAUSE: [state.cause for state in outcome.states],
            REASON: [state.reason for state in outcome.states],
        },
        dtype="string",
    )
    states = states.take(outcome.codes).reset_index(drop=True)
    states[unstated] = pd.NA
    is_known = states[""].notna() & (states[""] != str(Status.UNKNOWN))
    if is_known.any() and len(states.drop_duplicates()) > 1:
        beside[f"{name}_{ROW}"] = states[""].astype(STATUSES)
        beside |= {f"{name}_{ROW}{part}": states[part] for part in (CAUSE, REASON)}
    return beside
