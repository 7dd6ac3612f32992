"""Aggregate rows by each column's declared rule; what was not measured stays missing.

A cell that holds a value is used, and a partial one makes its group partial. A sum has a number
only if every cell to which the column applies holds one, unless missing cells are skipped; a
ratio or a mean is computed over the rows whose parts are there, and says which share of the
rows that is. Sums of nothing do not exist here: a group without a number is missing, with the
reason, where pandas would say 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.show import Shown
from aatoolkit._util.text import combined_reason
from aatoolkit.availability import AbsentRows, Availability, Cause, Status, combine, join
from aatoolkit.frame.aggregation_plan import Plan, Rules, plan
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
from aatoolkit.frame.statements import in_groups, of_groups, row_statements
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
    metadata = metadata_of(flat)
    refuse_measures(by, metadata)
    groups = group(flat, by, observed)
    rules = with_flags(flat, metadata, columns, rules)
    plans = plan(flat, metadata, groups, columns, rules, shares=True)
    parts = part_periods(flat, by, groups, metadata)
    several: tuple[str, ...] = ()
    tables = {metadata.columns[planned.described].table for planned in plans} & {*metadata.repeated}
    if len(groups) > 1 and tables:  # a row of such a table may count in several groups
        several = tuple(sorted(filter(Duplicates(flat, metadata, groups).is_in_several, tables)))
    kept: dict[Any, pd.Series] = {name: groups.keys[name] for name in groups.keys.columns}
    described = {str(name): metadata.columns[str(name)] for name in kept}
    for planned in plans:
        outcome = _with_parts(_outcome(planned, flat, metadata, groups, skip_missing), parts)
        within, name, own = planned.rule.within, planned.column, metadata.columns[planned.described]
        if within and within not in kept:
            use = (flat[name].notna() & flat[within].notna()).to_numpy(bool)
            kept[within] = chosen(flat[within], use, groups, "last")
            described[within] = metadata.columns[within]
        kept[name] = outcome.values
        of = planned.of or (own.of if own.table in several else None)
        beside = _beside(name, outcome, skip_missing, status or any(parts))
        whole = ColumnMetadata(of, outcome.whole, caution=planned.caution)
        if (stated := f"{name}_{ROW}") in beside:
            statuses = pd.DataFrame({part: beside[part] for part in beside if ROW in part})
            statements = tuple(row_statements(statuses, stated))
            is_silent = statuses[stated].isna().any()  # of a number nothing is stated
            otherwise = Availability() if is_silent else statements[0].availability
            whole = replace(whole, statements=statements, otherwise=otherwise)
        described[name] = whole.lacking(*outcome.absent)
        kept |= beside
        described |= dict.fromkeys(beside, _MEASURED)
    key = tuple(str(name) for name in groups.keys.columns)
    result = Shown(kept, index=groups.keys.index)
    result = result.with_view(view_of(result))
    tables = {column.table for column in described.values()} - {""}
    grains = dict.fromkeys(sorted(tables), key) | dict.fromkeys(several, (IN_SEVERAL,))
    return attach(result, FrameMetadata(described, key, metadata.sources, grains, several))


def _outcome(
    planned: Plan, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups, skip_missing: bool
) -> _Outcome:
    cells, wholes = cells_of_plan(planned, frame, metadata, groups), planned.wholes
    given, expected = groups.count(cells.given), groups.count(cells.applicable)
    if wholes is not None:
        expected = expected + wholes.lacking
    full = (expected > 0) & (given == expected)
    shown = given > 0 if skip_missing or planned.rule.rule in _OVER_MEASURED else full
    if wholes is not None and not skip_missing:
        shown = shown & (wholes.lacking == 0)
    values, undefined = _values(planned, frame, cells, groups)
    own = combine(metadata.columns[part].availability for part in planned.parts)
    nothing = _NO_ROWS if own.status == Status.AVAILABLE else own
    empty = nothing if groups.keys.columns.empty or own.status in EMPTY else _NO_ROW
    codes, states = groups.combined(cells)
    silent = np.array([state.reason == NO_VALUE.reason for state in states])[codes]
    counts = {
        at: _counted(states[codes[at]], int(expected[at] - given[at]), int(expected[at]))
        for at in np.flatnonzero(silent).tolist()
    }
    states, codes = _replaced(states, codes, counts)
    stated = dict.fromkeys(rows for part in planned.parts for rows in metadata.columns[part].absent)
    absent = [*of_groups(stated, metadata, groups)]
    states, codes = in_groups(states, codes, absent)
    if wholes is not None:
        lost = {
            at: f"{wholes.lacking[at]} of {wholes.total[at]} responses have no row of it"
            for at in np.flatnonzero(wholes.lacking).tolist()
        }
        unsure = {at: Availability(Status.UNKNOWN, Cause.NO_ROW, why) for at, why in lost.items()}
        changed = {at: combine([states[codes[at]], state]) for at, state in unsure.items()}
        states, codes = _replaced(states, codes, changed)
    # After the states as they are come the same of groups in part, then two of none.
    codes = np.where(shown & ~undefined & ~full, codes + len(states), codes)
    is_nothing = undefined & (groups.count(cells.whole) == expected) & full
    codes = np.where(is_nothing, 2 * len(states), codes)
    codes = np.where(groups.sizes > 0, codes, 2 * len(states) + 1)
    partial = [replace(state, status=Status.PARTIAL) for state in states]
    every = [*states, *partial, _ZERO, empty]
    used = [every[code] for code in distinct_codes(codes, len(every))[0].tolist()]
    covered = coverage_of(planned, frame, cells, groups)
    share = np.divide(covered, expected, out=np.full(len(groups), np.nan), where=expected > 0)
    lacking = [rows.availability for rows, concerned, _ in absent if concerned.any()]
    return _Outcome(
        values.where(shown & ~undefined),
        every,
        codes,
        _over_all(used, cells, empty, lacking) if len(groups) else nothing,
        pd.Series(pd.array(share, dtype="Float64")),
        tuple(rows for rows, _, by_value in absent if by_value),
    )


def _replaced(
    states: Sequence[Availability], codes: Codes, changed: Mapping[int, Availability]
) -> tuple[list[Availability], Codes]:
    """The states and their codes, with other states of some groups."""
    codes, numbers = codes.copy(), dict[Availability, int]()
    for at, state in changed.items():
        codes[at] = numbers.setdefault(state, len(states) + len(numbers))
    return [*states, *numbers], codes


def coverage_of(
    planned: Plan, frame: pd.DataFrame, cells: Cells, groups: Groups
) -> npt.NDArray[np.float64]:
    """By group the rows that were used; one that is an aggregate itself counts as it is covered."""
    name = f"{planned.column}{COVERAGE}"
    if name not in frame.columns or not pd.api.types.is_float_dtype(frame[name].dtype):
        return groups.count(cells.given).astype(np.float64)
    return added(np.nan_to_num(as_floats(frame[name]), nan=1.0), cells.given, groups)


def _counted(state: Availability, few: int, many: int) -> Availability:
    """Return a status with the number of rows without a value for its reason, if that is all."""
    if state.reason != NO_VALUE.reason:
        return state
    rows = f"{few:,} of {many:,} row{'s' * (many != 1)}"
    return replace(state, reason=f"{rows} {'has' if few == 1 else 'have'} no value")


def with_flags(
    frame: pd.DataFrame, metadata: FrameMetadata, columns: str | Iterable[str] | None, rules: Rules
) -> Rules:
    """The rules; a column of flags that is asked for by name is the share of rows that have it."""
    names = [columns] if isinstance(columns, str) else [*(columns or ())]
    flags = {
        name: "mean"
        for name in names
        if name in metadata.columns
        and not metadata.columns[name].of
        and not metadata.is_lost(name)
        and pd.api.types.is_bool_dtype(frame[name].dtype)
    }
    return {**flags, **rules}


def _with_parts(outcome: _Outcome, parts: Sequence[PartPeriod | None]) -> _Outcome:
    """The outcome with the groups partial whose period is not whole, such as a week of 3 days.

    Their coverage is that of the whole period, of which the days that lack have no row.
    """
    if not any(parts):
        return outcome
    there, changed = outcome.values.notna().to_numpy(bool), {}
    for at, part in enumerate(parts):
        state = outcome.states[outcome.codes[at]]
        is_unknown = state.status == Status.UNKNOWN and not there[at]
        if part and state.status not in EMPTY and not is_unknown:
            reason = combined_reason((state.reason, str(part)))
            changed[at] = replace(state, status=Status.PARTIAL, reason=reason)
    states, codes = _replaced(outcome.states, outcome.codes, changed)
    coverage = outcome.coverage * [part.share if part else 1.0 for part in parts]
    return replace(outcome, states=states, codes=codes, coverage=coverage)


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
    codes = distinct_codes(cells.codes, len(cells.states))[0].tolist()
    silent = np.array([state.reason == NO_VALUE.reason for state in cells.states])[cells.codes]
    few, many = int(silent.sum()), int(cells.applicable.sum())
    seen = [_counted(cells.states[code], few, many) for code in codes]
    empties = (state for state in used if state is empty)
    return replace(combine([*seen, *lacking, *empties]), status=status)


def cells_of_plan(
    planned: Plan, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups
) -> Cells:
    """The availability of the cells that a column is computed from."""

    def is_zero(name: str, rows: Mask) -> Mask:
        zero: Mask = rows & (as_floats(frame[name]) == 0)
        return zero

    rule = planned.rule
    cells = reduce(together, (cells_of(frame, part, metadata) for part in planned.parts))
    cells = _reported(cells, groups)
    if planned.repeats is not None:
        cells = cells.without(planned.repeats, "counted once")
    for trials in planned.trials:
        none = is_zero(trials, cells_of(frame, trials, metadata).given)
        cells = cells.without(none & ~cells.given, ZERO)
    if rule.among and rule.among[0] in frame.columns:
        among, *kinds = rule.among
        stated = cells_of(frame, among, metadata).given
        other = stated & ~frame[among].isin(kinds).to_numpy(bool) if kinds else None
        nothing = is_zero(among, stated) if other is None else other
        cells = cells.without(nothing & ~cells.given, "nothing to count")
    if rule.over:
        above, below = rule.over
        counted = is_zero(below, cells_of(frame, below, metadata).whole)
        return cells.without(counted & ~(np.abs(as_floats(frame[above])) > 0), ZERO)
    if rule.by:
        nothing = is_zero(rule.by, cells_of(frame, rule.by, metadata).whole)
        return cells.without(nothing, "zero weight")
    if rule.rule in ("first", "last"):
        order = slice(None) if rule.rule == "last" else slice(None, None, -1)
        turned = Groups(groups.ids[order], groups.keys)
        return cells.without(~turned.last(cells.applicable[order])[order], "another row is taken")
    return cells


def _values(
    planned: Plan, frame: pd.DataFrame, cells: Cells, groups: Groups
) -> tuple[pd.Series, Mask]:
    """Compute each group's number from the rows that have one, and where it is undefined."""
    parts = [frame[part] for part in planned.parts]
    rule, use = planned.rule, cells.given
    undefined = np.zeros(len(groups), bool)
    if rule.rule == "sum":
        return sums(parts[0], use, groups, planned.column), undefined
    if rule.rule == "count":
        return like(pd.Series(pd.array(groups.count(use), "Int64")), parts[0]), undefined
    if rule.rule not in ("mean", "ratio"):
        return chosen(parts[0], use, groups, rule.rule), undefined
    numbers = [*map(as_floats, parts)]
    weights = numbers[1] if rule.over or rule.by else np.ones(len(frame))
    above = added(numbers[0] if rule.over else numbers[0] * weights, use, groups)
    below = added(weights, use, groups)
    if planned.wholes is not None:
        below = planned.wholes.sums(weights, use, groups.ids)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = like(pd.Series(pd.array(above / below, dtype="Float64")), parts[0])
    return quotient, (groups.count(use) > 0) & (below == 0)


def _beside(
    name: str, outcome: _Outcome, skip_missing: bool, is_stated: bool
) -> dict[str, pd.Series]:
    """Build the columns beside a result: its coverage, and its status where groups differ.

    A number that leaves out rows, or days of its period, says so unasked.
    """
    there = outcome.values.notna().to_numpy(bool)
    in_part = bool((outcome.coverage[there] < 1).any())
    beside = {f"{name}{COVERAGE}": outcome.coverage} if skip_missing or in_part else {}
    if len(distinct_codes(outcome.codes, len(outcome.states))[0]) < 2 and not is_stated:
        return beside
    groups = Cells(outcome.states, outcome.codes, there)
    states = status_columns(outcome.states, outcome.codes, f"{name}_{ROW}")
    states[there & groups.having(Status.UNKNOWN)] = None
    words = states.iloc[:, 0]
    is_known = words.notna() & (words != str(Status.UNKNOWN))
    if is_stated or (is_known.any() and len(states.drop_duplicates()) > 1):
        beside |= {str(column): states[column] for column in states}
    return beside
