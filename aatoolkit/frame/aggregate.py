"""Aggregate rows by the rule that each column's declaration gives, such as a sum or a mean.

By default, a group's sum is missing if any of its numbers is missing. A group without numbers also
gives a missing sum, not 0 as in pandas. The metadata of the result has the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import pandas as pd

from aatoolkit._util.show import show_as
from aatoolkit._util.text import combined_reason
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.frame.aggregation_plan import Plan, Rules, plan_columns
from aatoolkit.frame.cell_status import (
    COVERAGE_END,
    MEASURED,
    NO_ROW,
    NO_VALUE,
    STATUS,
    Cells,
    Codes,
    Mask,
    cells_of,
    combine_cells,
    display_options_of,
    row_statements,
    status_columns,
)
from aatoolkit.frame.duplicates import IN_SEVERAL_GROUPS, Duplicates
from aatoolkit.frame.groupby import (
    By,
    Floats,
    Groups,
    as_floats,
    find_partial_periods,
    flatten_index,
    float_sum_by_group,
    group,
    numbers_to_nullable,
    pick_by_group,
    sum_by_group,
)
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import record_as
from aatoolkit.scope import FILTERS

ZERO_REASON = "the denominator is 0"
"""The reason why a rate does not apply."""

_ZERO_AVAILABILITY = Availability(Status.NOT_APPLICABLE, None, ZERO_REASON)
_NO_ROWS_AVAILABILITY = Availability(Status.NOT_APPLICABLE, None, "no rows")


@dataclass(frozen=True)
class PlannedCells:
    """One column of a grouped frame, with the `Plan` (rule and needed columns) to aggregate it."""

    plan: Plan
    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups

    @cached_property
    def cells(self) -> Cells:
        """The status of each row's cell: whether it has a number that is aggregated, or why not."""
        return cells_of_plan(self.plan, self.frame, self.metadata, self.groups)

    @cached_property
    def expected_row_counts(self) -> Codes:
        """An array with the number of rows in each group that should have a number."""
        response_totals = self.plan.response_totals
        return self.groups.count(self.cells.is_applicable) + (
            0 if response_totals is None else response_totals.absent_counts
        )

    @cached_property
    def covered_row_counts(self) -> Floats:
        """An array with the number of rows in each group that have a number.

        A row that was itself aggregated from measured and missing rows counts as a fraction.
        """
        coverage_name = f"{self.plan.column}{COVERAGE_END}"
        row_share = np.ones(len(self.frame))
        # A row that was itself aggregated counts by its coverage, such as half a row.
        if coverage_name in self.frame.columns:
            row_share = np.nan_to_num(as_floats(self.frame[coverage_name]), nan=1.0)
        return float_sum_by_group(row_share, self.cells.has_number, self.groups)

    @cached_property
    def absent_availabilities(self) -> list[Availability]:
        """Availabilities that say why rows are not in the frame, e.g. for an unconnected host."""
        if self.groups.exact_keys & {"host", *CONTEXT, *FILTERS}:
            return []  # they would be groups of their own
        columns = self.metadata.columns
        return [
            *dict.fromkeys(
                state for name in self.plan.inputs for state in columns[name].absence_reasons
            )
        ]

    def values(self) -> tuple[pd.Series, Mask]:
        """Return each group's aggregate, and a boolean mask of groups whose denominator is 0."""
        plan = self.plan
        groups = self.groups
        has_number = self.cells.has_number
        rule = plan.rule
        values = self.frame[plan.inputs[0]]
        is_undefined = np.zeros(len(groups), bool)
        if rule.rule == "sum":
            return sum_by_group(values, has_number, groups, plan.column), is_undefined
        if rule.rule == "count":
            return numbers_to_nullable(groups.count(has_number), values), is_undefined
        if rule.rule not in ("mean", "ratio"):
            return pick_by_group(values, has_number, groups, rule.rule), is_undefined
        floats = as_floats(values)
        weights = as_floats(self.frame[plan.inputs[1]]) if plan.inputs[1:] else np.ones(len(floats))
        numerators = float_sum_by_group(
            floats if rule.over else floats * weights, has_number, groups
        )
        denominators = float_sum_by_group(weights, has_number, groups)
        if plan.response_totals is not None:
            denominators = plan.response_totals.sum_by_group(weights, has_number, groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = numbers_to_nullable(numerators / denominators, values)
        return quotients, (groups.count(has_number) > 0) & (denominators == 0)


def plan_cells(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    rules: Rules | None,
    observed: bool | None,
) -> list[PlannedCells]:
    """Group a frame, and return the `PlannedCells` (cells and rule) of each of ``columns``."""
    metadata = metadata_of(frame)
    groups = group(frame, by, observed is not False)
    return [
        PlannedCells(column_plan, frame, metadata, groups)
        for column_plan in plan_columns(
            frame, metadata, groups, columns, rules or {}, with_shares=True
        )
    ]


@record_as("aggregate", "frame")
def aggregate(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    skip_missing: bool,
    rules: Rules,
    observed: bool,
    status: bool = False,
) -> pd.DataFrame:
    """Return one row per group, with each column aggregated; see ``df.aa.aggregate``."""
    flat_frame = flatten_index(frame)
    plans = plan_cells(flat_frame, by, columns, rules, observed)
    metadata = plans[0].metadata
    groups = plans[0].groups
    partial_periods = find_partial_periods(flat_frame, by, groups, metadata)
    joined_tables = {
        metadata.columns[planned_cells.plan.column].table for planned_cells in plans
    } & {*metadata.repeated_tables}
    tables_across_groups: tuple[str, ...] = ()
    if len(groups) > 1 and joined_tables:  # a row of such a table may count in several groups
        tables_across_groups = tuple(
            sorted(
                filter(Duplicates(flat_frame, metadata, groups).is_in_several_groups, joined_tables)
            )
        )
    result_columns = {name: groups.keys[name] for name in groups.keys.columns}
    new_columns = {str(name): metadata.columns[str(name)] for name in result_columns}
    for planned_cells in plans:
        values, availability, extras = _aggregate_column(
            planned_cells, partial_periods, skip_missing, status or bool(partial_periods)
        )
        name = planned_cells.plan.column
        source_column = metadata.columns[planned_cells.plan.column]
        kind_column = planned_cells.plan.rule.within
        if kind_column and kind_column not in result_columns:
            has_value = (flat_frame[name].notna() & flat_frame[kind_column].notna()).to_numpy(bool)
            result_columns[kind_column] = pick_by_group(
                flat_frame[kind_column], has_value, groups, "last"
            )
            new_columns[kind_column] = metadata.columns[kind_column]
        declared_name = planned_cells.plan.declared_name or (
            source_column.declared_name if source_column.table in tables_across_groups else None
        )
        column = ColumnMetadata(declared_name, availability, caution=planned_cells.plan.caution)
        if (status_column := f"{name}_{STATUS}") in extras:
            statuses = pd.DataFrame(
                {extra_name: extras[extra_name] for extra_name in extras if STATUS in extra_name}
            )
            key_metadata = FrameMetadata(new_columns)
            statements = tuple(row_statements(statuses, status_column, groups.keys, key_metadata))
            has_missing = statuses[status_column].isna().any()  # of a number nothing is stated
            other_state = Availability() if has_missing else statements[0].availability
            column = replace(column, statements=statements, rest_availability=other_state)
        absent_states = () if planned_cells.absent_availabilities else source_column.absence_reasons
        new_columns |= {
            name: column.with_absences(*absent_states),
            **dict.fromkeys(extras, MEASURED),
        }
        result_columns |= {name: values, **extras}
    key = tuple(str(name) for name in groups.keys.columns)
    result = pd.DataFrame(result_columns, index=groups.keys.index)
    result = show_as(result, display_options_of(result))
    table_keys = dict.fromkeys(
        sorted({column.table for column in new_columns.values()} - {""}), key
    )
    table_keys |= dict.fromkeys(tables_across_groups, (IN_SEVERAL_GROUPS,))
    return attach(
        result, FrameMetadata(new_columns, key, metadata.sources, table_keys, tables_across_groups)
    )


def _aggregate_column(
    planned: PlannedCells,
    partial_periods: Mapping[int, tuple[float, str]],
    skip_missing: bool,
    has_statuses: bool,
) -> tuple[pd.Series, Availability, dict[str, pd.Series]]:
    """Aggregate one column; return the values, their availability, and further result columns.

    The availability is that of the whole column: a status such as "partial", with its reason. The
    further columns describe the values, such as ``sales_coverage``; the dict has them by name.
    ``partial_periods`` maps the position of each week or month with missing days to the fraction of
    its days that the data have, and a text. ``has_statuses`` says whether columns with each group's
    status are returned even if all groups have the same.
    """
    plan = planned.plan
    groups = planned.groups
    cells = planned.cells
    used_rows = groups.count(cells.has_number)
    expected_rows = planned.expected_row_counts
    totals = plan.response_totals
    is_complete = (expected_rows > 0) & (used_rows == expected_rows)
    is_pooled = plan.rule.rule in ("ratio", "mean")
    has_number = used_rows > 0 if skip_missing or is_pooled else is_complete
    if totals is not None and not skip_missing:
        has_number = has_number & (totals.absent_counts == 0)
    values, is_undefined = planned.values()
    has_number = has_number & ~is_undefined
    codes, states = groups.combine_availability(cells)
    # A group without a used row is unavailable, even where other cells are partial.
    unused_states = [
        replace(state, status=Status.UNAVAILABLE) if state.status == Status.PARTIAL else state
        for state in states
    ]
    codes = np.where(used_rows > 0, codes, codes + len(states))
    states = [*states, *unused_states]
    # Further reasons for single groups: rows without a value, absent rows, partial periods.
    code_by_new_state: dict[Availability, int] = {}
    has_no_value = np.array([state.reason == NO_VALUE.reason for state in states], bool)[codes]
    has_own_reason = has_no_value if totals is None else has_no_value | (totals.absent_counts > 0)
    has_own_reason = has_own_reason | bool(planned.absent_availabilities)
    state_count = len(states)
    for i in sorted({*np.flatnonzero(has_own_reason).tolist(), *partial_periods}):
        state = states[codes[i]]
        if has_no_value[i]:
            missing = int(expected_rows[i] - used_rows[i])
            row_count = int(expected_rows[i])
            why = f"{missing:,} of {row_count:,} rows {'has' if missing == 1 else 'have'} no value"
            state = replace(state, reason=why if missing < row_count else "no row has a value")
        added_states = [*planned.absent_availabilities]
        if totals is not None and totals.absent_counts[i]:
            why = f"{totals.absent_counts[i]} of {totals.counts[i]} responses have no row of it"
            added_states.append(Availability(Status.UNKNOWN, Cause.NO_ROW, why))
        state = combine([state, *added_states])
        is_unknown = state.status == Status.UNKNOWN and not has_number[i]
        if i in partial_periods and state.status not in EMPTY and not is_unknown:
            reason = combined_reason((state.reason, partial_periods[i][1]))
            state = replace(state, status=Status.PARTIAL, reason=reason)
        codes[i] = code_by_new_state.setdefault(state, state_count + len(code_by_new_state))
    states += code_by_new_state
    # After the states come their partial versions, then two for groups without a number.
    input_state = combine(
        planned.metadata.columns[input_column].availability for input_column in plan.inputs
    )
    no_rows_state = _NO_ROWS_AVAILABILITY if input_state.status == Status.AVAILABLE else input_state
    empty_state = (
        no_rows_state if groups.keys.columns.empty or input_state.status in EMPTY else NO_ROW
    )
    codes = np.where(has_number & ~is_complete, codes + len(states), codes)
    is_zero_ratio = is_undefined & (groups.count(cells.is_complete) == expected_rows) & is_complete
    codes = np.where(is_zero_ratio, 2 * len(states), codes)
    codes = np.where(groups.sizes > 0, codes, 2 * len(states) + 1)
    partial_states = [replace(state, status=Status.PARTIAL) for state in states]
    all_states = [*states, *partial_states, _ZERO_AVAILABILITY, empty_state]
    # The reason of a partial number also names what does not apply to rows beside the others.
    for code, cell_state in enumerate(cells.states):
        if cell_state.status == Status.NOT_APPLICABLE and cell_state.cause:
            for affected_group in np.flatnonzero(groups.count(cells.state_codes == code)):
                state = all_states[codes[affected_group]]
                if state.status == Status.PARTIAL:
                    codes[affected_group] = len(all_states)
                    reason = combined_reason((state.reason, cell_state.reason))
                    all_states.append(replace(state, reason=reason))
    coverages = np.divide(
        planned.covered_row_counts,
        expected_rows,
        out=np.full(len(groups), np.nan),
        where=expected_rows > 0,
    )
    for i, (period_share, _) in partial_periods.items():
        coverages[i] *= period_share
    used_states = dict.fromkeys(all_states[code] for code in np.unique(codes).tolist())
    state = combine(used_states) if used_states else no_rows_state
    values = values.where(has_number)
    coverage = pd.Series(pd.array(coverages, dtype="Float64"))
    has_number = values.notna().to_numpy(bool)
    is_partial = skip_missing or bool((coverage[has_number] < 1).any())
    extra_columns = {f"{plan.column}{COVERAGE_END}": coverage} if is_partial else {}
    if len(used_states) < 2 and not has_statuses:
        return values, state, extra_columns
    statuses = status_columns(all_states, codes, f"{plan.column}_{STATUS}")
    is_unknown_group = Cells(all_states, codes, has_number).has_any(Status.UNKNOWN)
    statuses[has_number & is_unknown_group] = None
    if has_statuses or (not is_unknown_group.all() and len(statuses.drop_duplicates()) > 1):
        extra_columns |= {str(column): statuses[column] for column in statuses}
    return values, state, extra_columns


def cells_of_plan(
    column_plan: Plan, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups
) -> Cells:
    """Return as `Cells` for each row whether it has a number to aggregate by a `Plan`, or why not.

    Rows that must not be counted, e.g. because they repeat other rows, have the status "not
    applicable".
    """

    def is_zero(name: str, rows: Mask) -> Mask:
        values = as_floats(frame[name])
        # A zero that may be no measurement counts as nothing only beside other numbers.
        rows = rows | cells.has_any(Status.UNKNOWN) & (groups.count(values > 0) > 0)[groups.of_row]
        is_zero_number: Mask = rows & (values == 0)
        return is_zero_number

    rule = column_plan.rule
    cells = reduce(combine_cells, (cells_of(frame, name, metadata) for name in column_plan.inputs))
    # In a group without any number, a missing number of which the response says why keeps that.
    has_numbers = (groups.count(cells.has_number) > 0)[groups.of_row]
    is_unexplained = ~cells.has_number & (has_numbers | ~cells.has_any(*EMPTY))
    is_unreported = cells.is_unreported
    if is_unreported.any():
        # An unreported row says nothing about reported rows; it counts only in a group without
        # any of these.
        cells = cells.without(
            is_unreported & (groups.count(~is_unreported) > 0)[groups.of_row], "no row"
        )
    if column_plan.is_repeat is not None:
        cells = cells.without(column_plan.is_repeat, "counted once")
    for total_column in column_plan.denominator_columns:
        total_cells = cells_of(frame, total_column, metadata)
        is_zero_total = is_zero(
            total_column, total_cells.has_number if rule.rule == "sum" else total_cells.is_complete
        )
        cells = cells.without(is_zero_total & is_unexplained, ZERO_REASON)
    if rule.among and rule.among[0] in frame.columns:
        kind_column, *kinds = rule.among
        has_kind = cells_of(frame, kind_column, metadata).has_number
        is_other_kind = has_kind & ~frame[kind_column].isin(kinds).to_numpy(bool) if kinds else None
        is_uncounted = is_zero(kind_column, has_kind) if is_other_kind is None else is_other_kind
        cells = cells.without(is_uncounted & is_unexplained, "nothing to count")
    if rule.over:
        numerator, denominator = rule.over
        is_zero_total = is_zero(denominator, cells_of(frame, denominator, metadata).is_complete)
        return cells.without(
            is_zero_total & ~(np.abs(as_floats(frame[numerator])) > 0), ZERO_REASON
        )
    if rule.by:
        is_uncounted = is_zero(rule.by, cells_of(frame, rule.by, metadata).is_complete)
        return cells.without(is_uncounted, "zero weight")
    if rule.rule in ("first", "last"):
        row_groups = pd.Series(
            groups.of_row[cells.is_applicable], np.flatnonzero(cells.is_applicable)
        )
        is_picked = np.zeros(len(frame), bool)
        is_picked[row_groups.index[~row_groups.duplicated(keep=rule.rule)]] = True  # type: ignore[arg-type]
        return cells.without(~is_picked, "another row is taken")
    return cells
