"""Aggregate rows by the rule that each column's declaration gives, such as a sum or a mean.

By default, a group's sum is missing if any of its numbers is missing. A group without numbers also
gives a missing sum, not 0 as in pandas. The metadata of the result has the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.show import show_as
from aatoolkit._util.text import combine_reasons
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.frame.aggregation_plan import ColumnPlan, Rules, plan_columns
from aatoolkit.frame.cell_status import (
    COVERAGE_SUFFIX,
    MEASURED_COLUMN,
    NO_ROW_AVAILABILITY,
    NO_VALUE_AVAILABILITY,
    STATUS_NAME,
    CellStatuses,
    IntArray,
    Mask,
    combine_cells,
    display_options_of,
    row_statements,
    status_columns,
    statuses_of,
)
from aatoolkit.frame.duplicates import SEVERAL_GROUPS_PLACEHOLDER, Duplicates
from aatoolkit.frame.groupby import (
    By,
    FloatArray,
    Groups,
    as_floats,
    find_partial_periods,
    flatten_index,
    float_sum_by_group,
    group_rows,
    numbers_to_nullable,
    pick_by_group,
    sum_by_group,
)
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import record_call_as
from aatoolkit.scope import FILTERS

ZERO_DENOMINATOR_REASON = "the denominator is 0"
"""The reason why a rate does not apply."""

_ZERO_DENOMINATOR_AVAILABILITY = Availability(Status.NOT_APPLICABLE, None, ZERO_DENOMINATOR_REASON)
_NO_ROWS_AVAILABILITY = Availability(Status.NOT_APPLICABLE, None, "no rows")


@dataclass(frozen=True)
class PlannedCells:
    """One column of a grouped frame, with the plan (rule and needed columns) to aggregate it."""

    plan: ColumnPlan
    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups

    @cached_property
    def cells(self) -> CellStatuses:
        """The status of each row's cell: whether it has a number that is aggregated, or why not."""
        return cells_of_plan(self.plan, self.frame, self.metadata, self.groups)

    @cached_property
    def expected_row_counts(self) -> IntArray:
        """An array with the number of rows in each group that should have a number."""
        response_totals = self.plan.response_totals
        return self.groups.count(self.cells.is_applicable) + (
            0 if response_totals is None else response_totals.absent_response_counts
        )

    @cached_property
    def covered_row_counts(self) -> FloatArray:
        """An array with the number of rows in each group that have a number.

        A row that was itself aggregated from measured and missing rows counts as a fraction.
        """
        coverage_column = f"{self.plan.column}{COVERAGE_SUFFIX}"
        row_weights = np.ones(len(self.frame))
        # A row that was itself aggregated counts by its coverage, such as half a row.
        if coverage_column in self.frame.columns:
            row_weights = np.nan_to_num(as_floats(self.frame[coverage_column]), nan=1.0)
        return float_sum_by_group(row_weights, self.cells.has_number, self.groups)

    @cached_property
    def absence_reasons(self) -> list[Availability]:
        """The reasons why rows are missing in the frame, e.g. as a host is not connected."""
        if self.groups.constant_keys & {"host", *CONTEXT_COLUMNS, *FILTERS}:
            return []  # they would be groups of their own
        metadata_by_column = self.metadata.columns
        return [
            *dict.fromkeys(
                availability
                for name in self.plan.inputs
                for availability in metadata_by_column[name].absence_reasons
            )
        ]

    def aggregate_by_group(self) -> tuple[pd.Series, Mask]:
        """Return each group's aggregate, and a boolean mask of groups whose denominator is 0."""
        plan = self.plan
        groups = self.groups
        has_number = self.cells.has_number
        rule = plan.rule
        column_values = self.frame[plan.inputs[0]]
        is_undefined = np.zeros(len(groups), bool)
        if rule.rule == "sum":
            return sum_by_group(column_values, has_number, groups, plan.column), is_undefined
        if rule.rule == "count":
            return numbers_to_nullable(groups.count(has_number), column_values), is_undefined
        if rule.rule not in ("mean", "ratio"):
            return pick_by_group(column_values, has_number, groups, rule.rule), is_undefined
        column_floats = as_floats(column_values)
        weights = (
            as_floats(self.frame[plan.inputs[1]])
            if plan.inputs[1:]
            else np.ones(len(column_floats))
        )
        numerators = float_sum_by_group(
            column_floats if rule.over else column_floats * weights, has_number, groups
        )
        denominators = float_sum_by_group(weights, has_number, groups)
        if plan.response_totals is not None:
            denominators = plan.response_totals.sum_by_group(weights, has_number, groups)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = numbers_to_nullable(numerators / denominators, column_values)
        return ratios, (groups.count(has_number) > 0) & (denominators == 0)


def plan_cells(
    frame: pd.DataFrame,
    by: By,
    columns: str | Iterable[str] | None,
    rules: Rules | None,
    observed: bool | None,
) -> list[PlannedCells]:
    """Group a frame, and return the `PlannedCells` (cells and rule) of each of ``columns``."""
    metadata = metadata_of(frame)
    groups = group_rows(frame, by, observed is not False)
    return [
        PlannedCells(column_plan, frame, metadata, groups)
        for column_plan in plan_columns(
            frame, metadata, groups, columns, rules or {}, with_shares=True
        )
    ]


@record_call_as("aggregate", "frame")
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
    planned_cells_of_columns = plan_cells(flat_frame, by, columns, rules, observed)
    metadata = planned_cells_of_columns[0].metadata
    groups = planned_cells_of_columns[0].groups
    partial_periods = find_partial_periods(flat_frame, by, groups, metadata)
    repeated_tables = {
        metadata.columns[planned_cells.plan.column].table
        for planned_cells in planned_cells_of_columns
    } & {*metadata.repeated_tables}
    # A row of such a table may count in several groups.
    duplicates = Duplicates(flat_frame, metadata, groups)
    tables_across_groups = tuple(
        table
        for table in sorted(repeated_tables)
        if len(groups) > 1 and duplicates.is_in_several_groups(table)
    )
    result_columns: dict[Any, pd.Series] = dict(groups.keys.items())
    new_metadata_by_column = {
        str(column_name): metadata.columns[str(column_name)] for column_name in result_columns
    }
    for planned_cells in planned_cells_of_columns:
        aggregate_values, availability, extra_columns = _aggregate_column(
            planned_cells, partial_periods, skip_missing, status or bool(partial_periods)
        )
        column_name = planned_cells.plan.column
        source_column = metadata.columns[column_name]
        kind_column = planned_cells.plan.rule.within
        if kind_column and kind_column not in result_columns:
            has_value = (
                flat_frame[column_name].notna() & flat_frame[kind_column].notna()
            ).to_numpy(bool)
            result_columns[kind_column] = pick_by_group(
                flat_frame[kind_column], has_value, groups, "last"
            )
            new_metadata_by_column[kind_column] = metadata.columns[kind_column]
        declared_name = planned_cells.plan.declared_name or (
            source_column.declared_name if source_column.table in tables_across_groups else None
        )
        aggregate_metadata = ColumnMetadata(
            declared_name, availability, caution=planned_cells.plan.caution
        )
        if (status_column := f"{column_name}_{STATUS_NAME}") in extra_columns:
            status_frame = pd.DataFrame(extra_columns).filter(like=f"_{STATUS_NAME}")
            key_metadata = FrameMetadata(new_metadata_by_column)
            statements = tuple(
                row_statements(status_frame, status_column, groups.keys, key_metadata)
            )
            has_missing = status_frame[status_column].isna().any()  # of a number nothing is stated
            default_availability = Availability() if has_missing else statements[0].availability
            aggregate_metadata = replace(
                aggregate_metadata, statements=statements, rest_availability=default_availability
            )
        absence_reasons = () if planned_cells.absence_reasons else source_column.absence_reasons
        new_metadata_by_column |= {
            column_name: aggregate_metadata.with_absences(*absence_reasons),
            **dict.fromkeys(extra_columns, MEASURED_COLUMN),
        }
        result_columns |= {column_name: aggregate_values, **extra_columns}
    key_columns = tuple(str(column_name) for column_name in groups.keys.columns)
    result_frame = pd.DataFrame(result_columns, index=groups.keys.index)
    result_frame = show_as(result_frame, display_options_of(result_frame))
    key_by_table = dict.fromkeys(
        sorted(
            {column_metadata.table for column_metadata in new_metadata_by_column.values()} - {""}
        ),
        key_columns,
    )
    key_by_table |= dict.fromkeys(tables_across_groups, (SEVERAL_GROUPS_PLACEHOLDER,))
    return attach(
        result_frame,
        FrameMetadata(
            new_metadata_by_column,
            key_columns,
            metadata.sources,
            key_by_table,
            tables_across_groups,
        ),
    )


def _aggregate_column(
    planned_cells: PlannedCells,
    partial_periods: Mapping[int, tuple[float, str]],
    skip_missing: bool,
    has_statuses: bool,
) -> tuple[pd.Series, Availability, dict[str, pd.Series]]:
    """Aggregate one column; return the values, their availability, and further result columns.

    The availability is that of the whole column: a status such as "partial", with its reason. The
    further columns, a dict by name, describe the values; an example is ``sales_coverage``.
    ``partial_periods`` maps the number of a group (a week or month with missing days) to the
    fraction of its days that the data have, and a text. With ``has_statuses``, columns with the
    status of each group are returned even if all groups have the same status.
    """
    plan = planned_cells.plan
    groups = planned_cells.groups
    cells = planned_cells.cells
    used_row_counts = groups.count(cells.has_number)
    expected_row_counts = planned_cells.expected_row_counts
    response_totals = plan.response_totals
    is_complete = (expected_row_counts > 0) & (used_row_counts == expected_row_counts)
    has_quotient_rule = plan.rule.rule in ("ratio", "mean")
    has_number = used_row_counts > 0 if skip_missing or has_quotient_rule else is_complete
    if response_totals is not None and not skip_missing:
        has_number = has_number & (response_totals.absent_response_counts == 0)
    aggregate_values, is_undefined = planned_cells.aggregate_by_group()
    has_number = has_number & ~is_undefined
    availability_codes, availabilities = groups.combine_availability(cells)
    # A group without a used row is unavailable, even where other cells are partial.
    unused_availabilities = [
        replace(availability, status=Status.UNAVAILABLE)
        if availability.status == Status.PARTIAL
        else availability
        for availability in availabilities
    ]
    availability_codes = np.where(
        used_row_counts > 0, availability_codes, availability_codes + len(availabilities)
    )
    availabilities = [*availabilities, *unused_availabilities]
    # Further reasons for single groups: rows without a value, absent rows, partial periods.
    code_by_new_availability: dict[Availability, int] = {}
    lacks_value_by_group = np.array(
        [availability.reason == NO_VALUE_AVAILABILITY.reason for availability in availabilities],
        bool,
    )[availability_codes]
    has_further_reason = (
        lacks_value_by_group
        if response_totals is None
        else lacks_value_by_group | (response_totals.absent_response_counts > 0)
    )
    has_further_reason = has_further_reason | bool(planned_cells.absence_reasons)
    availability_count = len(availabilities)
    for group_position in sorted({*np.flatnonzero(has_further_reason).tolist(), *partial_periods}):
        availability = availabilities[availability_codes[group_position]]
        if lacks_value_by_group[group_position]:
            missing_count = int(
                expected_row_counts[group_position] - used_row_counts[group_position]
            )
            expected_row_count = int(expected_row_counts[group_position])
            verb = "has" if missing_count == 1 else "have"
            missing_reason = f"{missing_count:,} of {expected_row_count:,} rows {verb} no value"
            availability = replace(
                availability,
                reason=missing_reason
                if missing_count < expected_row_count
                else "no row has a value",
            )
        added_availabilities = [*planned_cells.absence_reasons]
        if response_totals is not None and response_totals.absent_response_counts[group_position]:
            absent_count = response_totals.absent_response_counts[group_position]
            response_count = response_totals.response_counts[group_position]
            missing_reason = f"{absent_count} of {response_count} responses have no row of it"
            added_availabilities.append(Availability(Status.UNKNOWN, Cause.NO_ROW, missing_reason))
        availability = combine([availability, *added_availabilities])
        is_unknown = availability.status == Status.UNKNOWN and not has_number[group_position]
        if (
            group_position in partial_periods
            and availability.status not in EMPTY
            and not is_unknown
        ):
            combined_reason = combine_reasons(
                (availability.reason, partial_periods[group_position][1])
            )
            availability = replace(availability, status=Status.PARTIAL, reason=combined_reason)
        availability_codes[group_position] = code_by_new_availability.setdefault(
            availability, availability_count + len(code_by_new_availability)
        )
    availabilities += code_by_new_availability
    # After them come their partial versions, then two for groups without a number.
    input_availability = combine(
        planned_cells.metadata.columns[input_column].availability for input_column in plan.inputs
    )
    no_rows_availability = (
        _NO_ROWS_AVAILABILITY
        if input_availability.status == Status.AVAILABLE
        else input_availability
    )
    empty_group_availability = (
        no_rows_availability
        if groups.keys.columns.empty or input_availability.status in EMPTY
        else NO_ROW_AVAILABILITY
    )
    availability_codes = np.where(
        has_number & ~is_complete, availability_codes + len(availabilities), availability_codes
    )
    has_zero_denominator = (
        is_undefined & (groups.count(cells.is_complete) == expected_row_counts) & is_complete
    )
    availability_codes = np.where(has_zero_denominator, 2 * len(availabilities), availability_codes)
    availability_codes = np.where(groups.sizes > 0, availability_codes, 2 * len(availabilities) + 1)
    partial_availabilities = [
        replace(availability, status=Status.PARTIAL) for availability in availabilities
    ]
    all_availabilities = [
        *availabilities,
        *partial_availabilities,
        _ZERO_DENOMINATOR_AVAILABILITY,
        empty_group_availability,
    ]
    # The reason of a partial number also names what does not apply to rows beside the others.
    for code, cell_availability in enumerate(cells.availabilities):
        if cell_availability.status == Status.NOT_APPLICABLE and cell_availability.cause:
            for affected_group in np.flatnonzero(groups.count(cells.codes == code)):
                availability = all_availabilities[availability_codes[affected_group]]
                if availability.status == Status.PARTIAL:
                    availability_codes[affected_group] = len(all_availabilities)
                    combined_reason = combine_reasons(
                        (availability.reason, cell_availability.reason)
                    )
                    all_availabilities.append(replace(availability, reason=combined_reason))
    coverages = np.divide(
        planned_cells.covered_row_counts,
        expected_row_counts,
        out=np.full(len(groups), np.nan),
        where=expected_row_counts > 0,
    )
    for group_position, (day_fraction, _) in partial_periods.items():
        coverages[group_position] *= day_fraction
    used_availabilities = dict.fromkeys(
        all_availabilities[code] for code in np.unique(availability_codes).tolist()
    )
    availability = combine(used_availabilities) if used_availabilities else no_rows_availability
    aggregate_values = aggregate_values.where(has_number)
    coverage = pd.Series(pd.array(coverages, dtype="Float64"))
    has_number = aggregate_values.notna().to_numpy(bool)
    is_partial = skip_missing or bool((coverage[has_number] < 1).any())
    extra_columns = {f"{plan.column}{COVERAGE_SUFFIX}": coverage} if is_partial else {}
    if len(used_availabilities) < 2 and not has_statuses:
        return aggregate_values, availability, extra_columns
    status_frame = status_columns(
        all_availabilities, availability_codes, f"{plan.column}_{STATUS_NAME}"
    )
    is_unknown_group = CellStatuses(all_availabilities, availability_codes, has_number).has_status(
        Status.UNKNOWN
    )
    status_frame[has_number & is_unknown_group] = None
    if has_statuses or (not is_unknown_group.all() and len(status_frame.drop_duplicates()) > 1):
        extra_columns |= {str(column): status_frame[column] for column in status_frame}
    return aggregate_values, availability, extra_columns


def cells_of_plan(
    column_plan: ColumnPlan, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups
) -> CellStatuses:
    """Return the statuses of a planned column: which rows have a number to aggregate, or why not.

    Rows that must not be counted, e.g. because they repeat other rows, have the status "not
    applicable".
    """

    def is_zero(column_name: str, row_mask: Mask) -> Mask:
        column_floats = as_floats(frame[column_name])
        # A zero that may be no measurement counts as nothing only beside other numbers.
        row_mask = (
            row_mask
            | cells.has_status(Status.UNKNOWN)
            & (groups.count(column_floats > 0) > 0)[groups.row_codes]
        )
        is_zero_number: Mask = row_mask & (column_floats == 0)
        return is_zero_number

    rule = column_plan.rule
    cells = reduce(
        combine_cells, (statuses_of(frame, name, metadata) for name in column_plan.inputs)
    )
    # In a group without any number, a missing number of which the response says why keeps that.
    is_group_with_numbers = (groups.count(cells.has_number) > 0)[groups.row_codes]
    is_unexplained = ~cells.has_number & (is_group_with_numbers | ~cells.has_status(*EMPTY))
    is_unreported = cells.is_unreported
    if is_unreported.any():
        # An unreported row says nothing about reported rows; it counts only in a group without
        # any of these.
        cells = cells.exclude(
            is_unreported & (groups.count(~is_unreported) > 0)[groups.row_codes], "no row"
        )
    if column_plan.is_repeated_row is not None:
        cells = cells.exclude(column_plan.is_repeated_row, "counted once")
    for total_column in column_plan.denominator_columns:
        total_cells = statuses_of(frame, total_column, metadata)
        is_zero_total = is_zero(
            total_column, total_cells.has_number if rule.rule == "sum" else total_cells.is_complete
        )
        cells = cells.exclude(is_zero_total & is_unexplained, ZERO_DENOMINATOR_REASON)
    if rule.among and rule.among[0] in frame.columns:
        kind_column, *counted_kinds = rule.among
        has_kind = statuses_of(frame, kind_column, metadata).has_number
        is_unlisted = (
            has_kind & ~frame[kind_column].isin(counted_kinds).to_numpy(bool)
            if counted_kinds
            else None
        )
        is_uncounted = is_zero(kind_column, has_kind) if is_unlisted is None else is_unlisted
        cells = cells.exclude(is_uncounted & is_unexplained, "nothing to count")
    if rule.over:
        numerator, denominator = rule.over
        is_zero_total = is_zero(denominator, statuses_of(frame, denominator, metadata).is_complete)
        return cells.exclude(
            is_zero_total & ~(np.abs(as_floats(frame[numerator])) > 0), ZERO_DENOMINATOR_REASON
        )
    if rule.by:
        is_uncounted = is_zero(rule.by, statuses_of(frame, rule.by, metadata).is_complete)
        return cells.exclude(is_uncounted, "zero weight")
    if rule.rule in ("first", "last"):
        group_by_row = pd.Series(
            groups.row_codes[cells.is_applicable], np.flatnonzero(cells.is_applicable)
        )
        is_picked_row = np.zeros(len(frame), bool)
        is_picked_row[group_by_row.index[~group_by_row.duplicated(keep=rule.rule)]] = True  # type: ignore[arg-type]
        return cells.exclude(~is_picked_row, "another row is taken")
    return cells
