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

from aatoolkit._util.show import Shown
from aatoolkit._util.text import combined_reason
from aatoolkit.availability import AbsentRows, Availability, Cause, Status, combine, join
from aatoolkit.frame.aggregation_plan import Plan, Rules, Wholes, plan
from aatoolkit.frame.cell_status import (
    COVERAGE,
    NO_VALUE,
    ROW,
    Cells,
    Codes,
    Mask,
    cells_of,
    distinct_codes,
    status_columns,
    together,
)
from aatoolkit.frame.duplicates import IN_SEVERAL, Duplicates
from aatoolkit.frame.groupby import (
    By,
    Groups,
    PartPeriod,
    added,
    as_floats,
    chosen,
    flattened,
    group,
    like,
    part_periods,
    refuse_measures,
    sums,
)
from aatoolkit.frame.statements import in_groups, of_groups, with_statements
from aatoolkit.frame.views import view_of
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded

_NO_ROW = Availability(Status.UNKNOWN, Cause.NO_ROW)
_NO_ROWS = Availability(Status.NOT_APPLICABLE, None, "no rows")
ZERO = "the denominator is 0"
"""Why a rate of nothing does not apply."""

_ZERO = Availability(Status.NOT_APPLICABLE, None, ZERO)
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
    status: bool = False,
) -> pd.DataFrame:
    """Aggregate a frame; see ``df.aa.aggregate``."""
    flat = flattened(frame)
    known = metadata_of(flat)
    refuse_measures(by, known)
    groups = group(flat, by, observed)
    rules = with_flags(flat, known, columns, rules)
    plans = plan(flat, known, groups, columns, rules, shares=True)
    parts = part_periods(flat, by, groups, known)
    several = _in_several(plans, flat, known, groups)
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
        own = known.columns[each.described]
        whole = ColumnMetadata(each.of or (own.of if own.table in several else None), outcome.whole)
        whole = with_statements(whole, keys, outcome.states, outcome.codes)
        described[each.column] = replace(whole.lacking(*outcome.absent), caution=each.caution)
        is_stated = status or any(parts)
        for name, values in _beside(each.column, outcome, skip_missing, is_stated).items():
            kept[name], described[name] = values, _MEASURED
    key = tuple(str(name) for name in groups.keys.columns)
    result = Shown(kept, index=groups.keys.index)
    result = result.with_view(view_of(result))
    tables = {column.table for column in described.values()} - {""}
    grains = dict.fromkeys(sorted(tables), key) | dict.fromkeys(several, (IN_SEVERAL,))
    return attach(result, FrameMetadata(described, key, known.sources, grains, several))


def _in_several(
    plans: Sequence[Plan], frame: pd.DataFrame, known: FrameMetadata, groups: Groups
) -> tuple[str, ...]:
    """The tables of which a row counts in several groups, so that the groups do not add."""
    tables = {known.columns[each.described].table for each in plans} & {*known.repeated}
    if not tables or len(groups) < 2:
        return ()
    duplicates = Duplicates(frame, known, groups)
    return tuple(sorted(filter(duplicates.is_in_several, tables)))


def _outcome(
    each: Plan, frame: pd.DataFrame, known: FrameMetadata, groups: Groups, skip_missing: bool
) -> _Outcome:
    cells = cells_of_plan(each, frame, known, groups)
    given, expected = groups.count(cells.given), groups.count(cells.applicable)
    if each.wholes is not None:
        expected = expected + each.wholes.lacking
    full = (expected > 0) & (given == expected)
    shown = given > 0 if skip_missing or each.rule.rule in _OVER_MEASURED else full
    if each.wholes is not None and not skip_missing:
        shown = shown & (each.wholes.lacking == 0)
    values, undefined = _values(each, frame, cells, groups)
    own = combine(known.columns[part].availability for part in each.parts)
    nothing = _NO_ROWS if own.status == Status.AVAILABLE else own
    empty = nothing if groups.keys.columns.empty or own.status in EMPTY else _NO_ROW
    codes, states = _with_counts(*groups.combined(cells), expected - given, expected)
    absent = [*of_groups(_absent(each, known), known, groups)]
    states, codes = in_groups(states, codes, absent)
    if each.wholes is not None:
        codes, states = _without_answers(codes, states, each.wholes)
    lacking = [rows.availability for rows, concerned, _ in absent if concerned.any()]
    codes = np.where(shown & ~undefined & ~full, codes + len(states), codes)
    codes = np.where(
        undefined & (groups.count(cells.whole) == expected) & full, 2 * len(states), codes
    )
    codes = np.where(groups.sizes > 0, codes, 2 * len(states) + 1)
    partial = [replace(state, status=Status.PARTIAL) for state in states]
    every = [*states, *partial, _ZERO, empty]
    used = [every[code] for code in distinct_codes(codes, len(every))[0].tolist()]
    covered = coverage_of(each, frame, cells, groups)
    share = np.divide(covered, expected, out=np.full(len(groups), np.nan), where=expected > 0)
    return _Outcome(
        values.where(shown & ~undefined),
        every,
        codes,
        _over_all(used, cells, empty, lacking) if len(groups) else nothing,
        pd.Series(pd.array(share, dtype="Float64")),
        tuple(rows for rows, _, by_value in absent if by_value),
    )


def coverage_of(
    each: Plan, frame: pd.DataFrame, cells: Cells, groups: Groups
) -> npt.NDArray[np.float64]:
    """By group the rows that were used; one that is an aggregate itself counts as it is covered."""
    name = f"{each.column}{COVERAGE}"
    if name not in frame.columns or not pd.api.types.is_float_dtype(frame[name].dtype):
        return groups.count(cells.given).astype(np.float64)
    return added(np.nan_to_num(as_floats(frame[name]), nan=1.0), cells.given, groups)


def _with_counts(
    codes: Codes, states: list[Availability], missing: Codes, expected: Codes
) -> tuple[Codes, list[Availability]]:
    """Say of how many of a group's rows no value is given, where nothing else is known of it."""
    silent = [state.reason == NO_VALUE.reason for state in states]
    if not any(silent):
        return codes, states
    states, codes = [*states], codes.copy()
    at = np.flatnonzero(np.array(silent)[codes])
    kinds = np.stack([codes[at], missing[at], expected[at]])
    each, inverse = np.unique(kinds, axis=1, return_inverse=True)
    codes[at] = len(states) + inverse
    states += [_counted(states[code], few, many) for code, few, many in each.T.tolist()]
    return codes, states


def _counted(state: Availability, few: int, many: int) -> Availability:
    """Return a status with the number of rows without a value for its reason, if that is all."""
    if state.reason != NO_VALUE.reason:
        return state
    rows = f"{few:,} of {many:,} row{'s' * (many != 1)}"
    return replace(state, reason=f"{rows} {'has' if few == 1 else 'have'} no value")


def _without_answers(
    codes: Codes, states: list[Availability], wholes: Wholes
) -> tuple[Codes, list[Availability]]:
    """Say in how many answers a group has no row, where that need not mean that there is none."""
    states, codes = [*states], codes.copy()
    for at in np.flatnonzero(wholes.lacking):
        words = f"{wholes.lacking[at]} of {wholes.total[at]} answers have no row of it"
        lacking = Availability(Status.UNKNOWN, Cause.NO_ROW, words)
        states.append(combine([states[codes[at]], lacking]))
        codes[at] = len(states) - 1
    return codes, states


def with_flags(
    frame: pd.DataFrame, known: FrameMetadata, columns: str | Iterable[str] | None, rules: Rules
) -> Rules:
    """The rules; a column of flags that is asked for by name is the share of rows that have it."""
    names = [columns] if isinstance(columns, str) else [*(columns or ())]
    flags = {
        name: "mean"
        for name in names
        if name in known.columns
        and not known.columns[name].of
        and not known.is_lost(name)
        and pd.api.types.is_bool_dtype(frame[name].dtype)
    }
    return {**flags, **rules}


def _absent(each: Plan, known: FrameMetadata) -> Iterable[AbsentRows]:
    """What is stated of the rows that lack in the columns that one is computed from."""
    return dict.fromkeys(rows for part in each.parts for rows in known.columns[part].absent)


def _with_parts(outcome: _Outcome, parts: Sequence[PartPeriod | None]) -> _Outcome:
    """The outcome with the groups partial whose period is not whole, such as a week of 3 days.

    Their coverage is that of the whole period, of which the days that lack have no row.
    """
    if not any(parts):
        return outcome
    states, codes = list(outcome.states), outcome.codes.copy()
    there = outcome.values.notna().to_numpy(bool)
    for at, part in enumerate(parts):
        state = states[codes[at]]
        unknown = state.status == Status.UNKNOWN and not there[at]
        if part and state.status not in EMPTY and not unknown:
            reason = combined_reason((state.reason, str(part)))
            codes[at] = len(states)
            states.append(replace(state, status=Status.PARTIAL, reason=reason))
    words = f"in part: {'; '.join(dict.fromkeys(str(part) for part in parts if part))}"
    whole = outcome.whole
    if whole.status in (Status.AVAILABLE, Status.PARTIAL):
        whole = combine([whole, Availability(Status.PARTIAL, None, words)])
    else:
        whole = replace(whole, reason=combined_reason((whole.reason, words)))
    coverage = outcome.coverage * [part.share if part else 1.0 for part in parts]
    return replace(outcome, states=states, codes=codes, whole=whole, coverage=coverage)


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
    silent = [state.reason == NO_VALUE.reason for state in cells.states]
    if any(silent):
        few, many = int(np.array(silent)[cells.codes].sum()), int(cells.applicable.sum())
        seen = [_counted(state, few, many) for state in seen]
    empties = (each for each in used if each is empty)
    return replace(combine([*seen, *lacking, *empties]), status=status)


def cells_of_plan(each: Plan, frame: pd.DataFrame, known: FrameMetadata, groups: Groups) -> Cells:
    """The availability of the cells that a column is computed from."""
    cells = reduce(together, (cells_of(frame, part, known) for part in each.parts))
    cells = _reported(cells, groups)
    if each.repeats is not None:
        cells = cells.without(each.repeats, "counted once")
    for trials in each.trials:
        none = cells_of(frame, trials, known).given & (as_floats(frame[trials]) == 0)
        cells = cells.without(none & ~cells.given, ZERO)
    if each.rule.among and each.rule.among[0] in frame.columns:
        nothing = _nothing_to_count(frame, each.rule.among, known)
        cells = cells.without(nothing & ~cells.given, "nothing to count")
    if each.rule.over:
        above, below = (as_floats(frame[part]) for part in each.rule.over)
        counted = cells_of(frame, each.rule.over[1], known).whole
        return cells.without(counted & (below == 0) & ~(np.abs(above) > 0), ZERO)
    if each.rule.by:
        weight = cells_of(frame, each.rule.by, known)
        nothing = weight.whole & (as_floats(frame[each.rule.by]) == 0)
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
        stated = stated & (as_floats(frame[among[0]]) == 0)
    return stated


def _values(
    each: Plan, frame: pd.DataFrame, cells: Cells, groups: Groups
) -> tuple[pd.Series, Mask]:
    """Compute each group's number from the rows that have one, and where it is undefined."""
    parts = [frame[part] for part in each.parts]
    rule, use = each.rule, cells.given
    undefined = np.zeros(len(groups), bool)
    if rule.rule == "sum":
        return sums(parts[0], use, groups, each.column), undefined
    if rule.rule == "count":
        return like(pd.Series(pd.array(groups.count(use), "Int64")), parts[0]), undefined
    if rule.rule not in ("mean", "ratio"):
        return chosen(parts[0], use, groups, rule.rule), undefined
    if rule.over:
        above, below = (added(as_floats(part), use, groups) for part in parts)
        if each.wholes is not None:
            below = each.wholes.sums(as_floats(parts[1]), use, groups.ids)
    elif rule.by:
        weight = as_floats(parts[1])
        above = added(as_floats(parts[0]) * weight, use, groups)
        below = added(weight, use, groups)
    else:
        above = added(as_floats(parts[0]), use, groups)
        below = groups.count(use).astype(float)
    undefined = (groups.count(use) > 0) & (below == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
    return like(pd.Series(pd.array(found, dtype="Float64")), parts[0]), undefined


def _last(values: pd.Series, use: Mask, groups: Groups) -> pd.Series:
    return chosen(values, use & values.notna().to_numpy(bool), groups, "last")


def _beside(
    name: str, outcome: _Outcome, skip_missing: bool, is_stated: bool
) -> dict[str, pd.Series]:
    """Build the columns beside a result: its coverage, and its status where groups differ.

    A number that leaves out rows, or days of its period, says so unasked.
    """
    shown = outcome.values.notna()
    in_part = bool((outcome.coverage[shown] < 1).any())
    beside = {f"{name}{COVERAGE}": outcome.coverage} if skip_missing or in_part else {}
    is_one = len(distinct_codes(outcome.codes, len(outcome.states))[0]) < 2
    if is_one and not is_stated:
        return beside
    groups = Cells(outcome.states, outcome.codes, outcome.values.notna().to_numpy(bool))
    unstated = groups.given & groups.having(Status.UNKNOWN)
    states = status_columns(outcome.states, outcome.codes, f"{name}_{ROW}")
    states[unstated] = None
    words = states.iloc[:, 0]
    is_known = words.notna() & (words != str(Status.UNKNOWN))
    if is_stated or (is_known.any() and len(states.drop_duplicates()) > 1):
        beside |= {str(column): states[column] for column in states}
    return beside
