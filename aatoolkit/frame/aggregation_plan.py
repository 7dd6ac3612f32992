"""Find the rule by which each column of a frame is aggregated, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit import sections
from aatoolkit._util.grouping import group_values
from aatoolkit.errors import ArgumentError, AvailabilityError, warn
from aatoolkit.frame.cell_status import IntArray, Mask, is_status_column
from aatoolkit.frame.duplicates import (
    AggregationRefused,
    Duplicates,
    check_repeated_values,
    missing_rule_reason,
    suggest_rule,
)
from aatoolkit.frame.groupby import FloatArray, Groups, as_floats, check_columns, flatten_names
from aatoolkit.frame.reshape import CONTEXT_COLUMNS
from aatoolkit.metadata.attrs import UNDECLARED, FrameMetadata
from aatoolkit.sections.aggregation import (
    CURRENCY,
    FRACTION,
    ISO_4217,
    NONE,
    RANK,
    Aggregation,
    as_rule,
)

Rules = Mapping[str, Aggregation | str]  # aggregation rules by column

_NUMERIC_RULES = ("sum", "mean", "ratio")  # compute with numbers
_NON_COMBINING_RULES = ("none", "key")  # do not combine rows
_ROW_DEPENDENT_RULES = ("first", "last", "mean")  # depend on which rows there are
_MAX_GROUP_ROW_PAIRS = 1_000_000


@dataclass(frozen=True)
class ResponseTotals:
    """The denominators of a share whose rows come from several responses of the service.

    For example, a brand's share of all mentions is divided by the number of all mentions in each
    response. Each such total must be added once, even if several rows repeat it.
    """

    response_of_row: IntArray  # for each row of the frame, the number of its response
    # Pairs of a group and a row whose total is added to the group, as two arrays.
    group_of_total: IntArray
    row_of_total: IntArray
    absent_response_counts: IntArray  # for each group, the number of responses without a row in it
    response_counts: IntArray  # for each group, the number of responses

    def find_used_totals(self, has_number: Mask, groups: Groups) -> tuple[IntArray, IntArray]:
        """Find the totals to add up in each group; return pairs of a group and a row as two arrays.

        The first array has the number of a group, the second the position of a row whose total is
        added up in that group. ``has_number`` is a boolean mask of the rows that have a number.
        """
        response_count = int(self.response_of_row.max(initial=0)) + 1
        unused_total_ids = (
            groups.row_codes[~has_number] * response_count + self.response_of_row[~has_number]
        )
        is_used_total = ~np.isin(
            self.group_of_total * response_count + self.response_of_row[self.row_of_total],
            unused_total_ids,
        )
        return self.group_of_total[is_used_total], self.row_of_total[is_used_total]

    def sum_by_group(
        self, total_of_row: FloatArray, has_number: Mask, groups: Groups
    ) -> FloatArray:
        """Return each group's denominator; ``total_of_row`` has the total of the row's response."""
        group_of_total, row_of_total = self.find_used_totals(has_number, groups)
        return np.bincount(
            group_of_total, total_of_row[row_of_total], minlength=len(groups)
        ).astype(np.float64)


@dataclass(frozen=True)
class ColumnPlan:
    """How one column is aggregated: its rule, such as "sum", and the columns that it needs."""

    column: str
    rule: Aggregation
    # The declared column, as ``table.column``, if the rule is the declared one.
    declared_name: str | None = None
    # Columns of denominators: a row with a 0 in one of them does not count.
    denominator_columns: tuple[str, ...] = ()
    # A boolean mask of the rows that repeat other rows and do not count.
    is_repeated_row: Mask | None = field(default=None, compare=False)
    caution: str | None = None  # why the result is only approximate
    response_totals: ResponseTotals | None = field(default=None, compare=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that the aggregate is computed from, e.g. the two counts of a rate."""
        weight = (self.rule.by,) if self.rule.by else ()
        return self.rule.over or (self.column, *weight)


def plan_columns(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    groups: Groups,
    columns: str | Iterable[str] | None,
    rules: Rules,
    *,
    with_shares: bool = False,
) -> list[ColumnPlan]:
    """Return the plan to aggregate each of ``columns``: its rule, and the columns this needs.

    ``rules`` maps columns to rules that the user gave. If ``with_shares`` is True, a share whose
    rows come from several responses is computed from its counts. ``columns`` defaults to all
    columns that have a rule; those that cannot be aggregated are then left out, with a warning. If
    a column that the user named cannot be aggregated, the function raises `AvailabilityError`.
    """
    if isinstance(columns, Mapping):
        raise ArgumentError("columns are names; how they are aggregated is said by rules={…}")
    requested_columns = flatten_names([columns or ()])
    column_names = requested_columns or [
        column_name
        for column_name in map(str, frame.columns)
        if column_name not in groups.keys.columns and not is_status_column(frame, column_name)
    ]
    check_columns(frame, [*rules, *column_names])
    planner = _Planner(frame, metadata, groups, with_shares)
    plans: list[ColumnPlan] = []
    reason_by_column = {}
    for column_name in column_names:
        try:
            plans.append(planner.plan(column_name, rules, is_requested=bool(requested_columns)))
        except AggregationRefused as refusal:
            reason_by_column[column_name] = str(refusal)
    reason_by_requested_column = {
        column_name: reason
        for column_name, reason in reason_by_column.items()
        if column_name in (*requested_columns, *rules)
    }
    if reason_by_requested_column or not plans:
        names_by_reason = group_values(
            (reason, column_name)
            for column_name, reason in (reason_by_requested_column or reason_by_column).items()
        )
        reasons_text = "; ".join(
            f"{', '.join(column_names)}: {reason}"
            for reason, column_names in names_by_reason.items()
        )
        raise AvailabilityError(
            f"these columns cannot be aggregated: {reasons_text or 'there are none'}",
            columns=reason_by_requested_column or reason_by_column,
        )
    # Warn of columns that have a rule but cannot be aggregated by it.
    omission_reasons = [
        f"{column_name}: {reason}"
        for column_name, reason in reason_by_column.items()
        if _has_rule(metadata, column_name)
    ]
    if omission_reasons:
        warn(f"left out: {'; '.join(omission_reasons)}")
    return plans


def _has_rule(metadata: FrameMetadata, column_name: str) -> bool:
    """Return whether a column is declared with a rule that combines rows, such as "sum"."""
    return metadata.declaration_of(column_name).aggregate.rule not in _NON_COMBINING_RULES


def names_by_declared_name(metadata: FrameMetadata, table_name: str) -> dict[str, list[str]]:
    """Return a dict from the declared name of each column of a table to its names in the frame.

    There may be other or several names in the frame, as a merge can rename or repeat a column.
    """
    return group_values(
        (column.declared_name.partition(".")[2], name)
        for name, column in metadata.columns.items()
        if column.declared_name and column.table == table_name
    )


@dataclass
class _Planner:
    """Finds for each column of a grouped frame the rule to aggregate it."""

    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    with_shares: bool

    @cached_property
    def duplicates(self) -> Duplicates:
        """An object that finds the rows which a sum would count twice."""
        return Duplicates(self.frame, self.metadata, self.groups)

    def plan(self, column_name: str, rules: Rules, *, is_requested: bool) -> ColumnPlan:
        """Return the `ColumnPlan` (rule and needed columns) of one column.

        ``rules`` maps columns to rules that the user gave. ``is_requested`` says whether the user
        named this column. `AggregationRefused` is raised if no rule fits.
        """
        if column_name in self.groups.keys.columns:
            raise AggregationRefused("the rows are grouped by it")
        user_rule = rules.get(column_name)
        is_boolean = self.frame[column_name].dtype.kind == "b"
        has_no_rule = not (
            _has_rule(self.metadata, column_name) or self.metadata.has_lost_values(column_name)
        )
        if user_rule is None and is_requested and is_boolean and has_no_rule:
            user_rule = "mean"
        column_plan = None
        if user_rule is not None:
            rule = as_rule(user_rule)
            if isinstance(user_rule, str):  # money stays in its currency
                declaration = self.metadata.declaration_of(column_name)
                currency_columns = (
                    self.frame.filter(regex="currency$") if declaration.unit == CURRENCY else ()
                )
                kind_column = declaration.aggregate.within or min(
                    map(str, currency_columns), default=None
                )
                rule = replace(rule, within=kind_column)
            column_plan = ColumnPlan(column_name, rule)
        elif self.with_shares and len(self.metadata.sources) > 1:
            column_plan = self._plan_share(column_name)
        if column_plan is None:
            column_plan = self._plan_single_measure(
                plan_declared_rule(self.frame, self.metadata, column_name), is_requested
            )
            if caution := _approximation_reason(self.frame, column_plan):
                warn(f"{column_name} is {caution}")
                rule = Aggregation("mean", by=column_plan.rule.otherwise)
                column_plan = replace(column_plan, rule=rule, caution=caution)
        if column_plan.response_totals is None:
            self._check_rows(column_plan)
        else:
            self._check_for_double_counts(column_plan)
        if rules.get(column_name) == "sum" and not self.metadata.columns[column_name].table:
            check_repeated_values(self.frame, self.groups, column_name)
        # A mask of the rows that repeat other rows and must not count.
        table_name = self.metadata.columns[column_plan.column].table
        if column_plan.rule.rule not in (*_NUMERIC_RULES, "count") or not table_name:
            return column_plan
        return replace(
            column_plan,
            is_repeated_row=self.duplicates.find_repeated_rows(table_name, column_plan.inputs),
        )

    def _check_rows(self, plan: ColumnPlan) -> None:
        """Raise `AggregationRefused` if a plan does not fit the rows.

        For example, the rows of one group must not have amounts in several currencies.
        """
        frame = self.frame
        column_name = plan.column
        rule = plan.rule
        if rule.rule in _NON_COMBINING_RULES:
            hint_text = "" if rule.why else _rule_hint(frame, self.metadata, rule, column_name)
            numeric_keys = self.groups.keys.select_dtypes("number").columns
            if rule.rule == "key" and len(numeric_keys):
                hint_text += f"; {numeric_keys[0]} is a number: are the two arguments swapped?"
            refusal_reason = rule.why or f"its rule does not combine rows{hint_text}"
            if rule.within in frame.columns and frame[rule.within].nunique() > 1:
                example_value = frame[rule.within].dropna().iloc[0]
                refusal_reason += f"; take the rows of one {rule.within}, such as {example_value!r}"
            raise AggregationRefused(refusal_reason)
        needed_columns = [*plan.inputs, *((rule.within,) if rule.within else ())]
        missing_columns = [
            column.rpartition(".")[2] for column in needed_columns if column not in frame.columns
        ]
        if overwritten_columns := [
            column for column in missing_columns if self.metadata.has_lost_values(column)
        ]:
            raise AggregationRefused(_overwrite_reason(overwritten_columns))
        if missing_columns:
            raise AggregationRefused(f"its rule ({rule}) needs {', '.join(missing_columns)}")
        pandas_type_checks = pd.api.types
        for column in plan.inputs if rule.rule in _NUMERIC_RULES else ():
            dtype = frame[column].dtype
            is_numeric = pandas_type_checks.is_numeric_dtype(
                dtype
            ) and not pandas_type_checks.is_complex_dtype(dtype)
            if not is_numeric and not frame[column].isna().all():
                raise AggregationRefused(f"{column} holds {dtype}, not numbers")
        dtype = frame[column_name].dtype
        if (
            rule.rule in ("min", "max")
            and isinstance(dtype, pd.CategoricalDtype)
            and not dtype.ordered
        ):
            raise AggregationRefused("its levels have no order")
        unit_of_row = row_units(frame, self.metadata, column_name)
        if unit_of_row is not None and self._has_mixed_groups(column_name, unit_of_row):
            unit_names = ", ".join(sorted({*map(str, unit_of_row[frame[column_name].notna()])})[:3])
            raise AggregationRefused(
                f"a group mixes units ({unit_names}); choose one metric, or add it to by="
            )
        if rule.within and rule.within not in self.groups.keys.columns:
            kind_of_row = frame[rule.within].astype("string")
            if self.metadata.declaration_of(rule.within).unit == ISO_4217:
                kind_of_row = kind_of_row.str.strip().str.upper()
            if self._has_mixed_groups(column_name, kind_of_row):
                refusal_reason = (
                    f"a group holds more than one {rule.within}; add {rule.within!r} to by="
                )
                raise AggregationRefused(refusal_reason)
        if plan.declared_name:
            self._check_for_double_counts(plan)

    def _has_mixed_groups(self, column_name: str, kind_of_row: pd.Series) -> bool:
        """Return whether any group has values of different kinds, e.g. amounts in two currencies.

        Such values must not be combined. ``kind_of_row`` has the kind of each row's value in the
        column ``column_name``.
        """
        has_value = self.frame[column_name].notna().to_numpy(bool)
        kind_of_row = kind_of_row[has_value]
        group_of_row = self.groups.row_codes[has_value]
        has_several_kinds = kind_of_row.groupby(group_of_row).nunique(dropna=False) > 1
        return bool(
            (has_several_kinds | (kind_of_row.isna().groupby(group_of_row).sum() > 1)).any()
        )

    def _check_for_double_counts(self, plan: ColumnPlan) -> None:
        """Raise `AggregationRefused` if a sum might count the same answers twice.

        For example, an answer that names two brands has a row for each of them.
        """
        table_name = (plan.declared_name or "").partition(".")[0]
        column = plan.column
        additive_keys_by_column = {column: plan.rule.across}
        for input_column in plan.inputs:  # a mean counts twice what its weight counts twice
            if input_column != column:
                additive_keys_by_column[input_column] = self.metadata.declaration_of(
                    input_column
                ).aggregate.across
        table_key = sections.table(table_name).key
        frame_names_by_declared = names_by_declared_name(self.metadata, table_name)
        array_by_key = {
            key: self.frame[frame_names_by_declared[key][-1]].array
            for key in table_key
            if key in frame_names_by_declared
        }
        row_positions = np.arange(len(self.frame))
        inputs_and_nonadditive_keys = [
            (input_column, key)
            for key in dict.fromkeys([*table_key, "engine"])
            for input_column, additive_keys in additive_keys_by_column.items()
            if additive_keys and key not in additive_keys
        ]
        for input_column, key in inputs_and_nonadditive_keys:
            if key in table_key:
                shared_key_arrays = {}
                key_values = array_by_key.get(key, row_positions)
            else:  # the same key in several responses
                response_scopes, scope_of_row = self.duplicates.scopes_and_positions(table_name)
                if len(response_scopes) < 2:
                    continue
                shared_key_arrays = array_by_key
                key_values = row_positions if scope_of_row is None else scope_of_row
            key_rows = pd.DataFrame(
                {**shared_key_arrays, "_group": self.groups.row_codes, "_added": key_values}
            )
            if key_rows.drop_duplicates().drop(columns="_added").duplicated().any():
                plan_rule = plan.rule
                remedy = "'sum'" if plan_rule.rule == "sum" else f"aa.sections.{plan_rule!r}"
                added_name = "it" if input_column == column else input_column
                keys_text = ", ".join(additive_keys_by_column[input_column])
                raise AggregationRefused(
                    f"{added_name} adds over {keys_text}, and nothing shows that it adds over "
                    f"{key}; if it does, aggregate with rules={{{column!r}: {remedy}}}, or declare "
                    "it in the profile"
                )

    def _plan_single_measure(self, plan: ColumnPlan, is_requested: bool) -> ColumnPlan:
        """Return a plan for a column that can hold several measures, if all rows hold the same one.

        For example, a column ``value`` can be aggregated if the column ``metric`` is "mentionRate"
        in all rows. Otherwise ``plan`` is returned unchanged.
        """
        rule = plan.rule
        frame = self.frame
        if rule.rule != "none" or not {rule.within, *(rule.counts or ())} <= {*frame.columns}:
            return plan
        if is_requested and (self.groups.sizes <= 1).all():
            return replace(plan, rule=Aggregation("first"))
        if frame[rule.within].nunique(dropna=False) != 1:
            return plan
        if not rule.counts and not rule.otherwise:
            return replace(plan, rule=NONE)
        if not rule.counts:
            return replace(plan, rule=Aggregation("mean", by=rule.otherwise, within=rule.within))
        column_floats, numerators, denominators = (
            as_floats(frame[name]) for name in (plan.column, *rule.counts)
        )
        if not np.allclose(column_floats * denominators, numerators, rtol=1e-3, equal_nan=True):
            return plan  # a score of 0 to 100, say
        return replace(plan, rule=Aggregation("ratio", over=rule.counts, within=rule.within))

    def _plan_share(self, column_name: str) -> ColumnPlan | None:
        """Return the plan to compute a share from several responses: summed counts over totals.

        The result is None if the column is no share, or if the totals of the responses (the
        denominators) are not known.
        """
        frame = self.frame
        metadata = self.metadata
        groups = self.groups
        rule = metadata.declaration_of(column_name).aggregate
        table_name = metadata.columns[column_name].table
        if rule.counts is None or rule.rule not in ("sum", "none"):
            return None
        frame_names_by_declared = names_by_declared_name(metadata, table_name)
        if not {*rule.counts} <= {*frame_names_by_declared}:
            return None
        numerator, denominator = (
            frame_names_by_declared[count_name][-1] for count_name in rule.counts
        )
        response_keys = [key for key in metadata.key if metadata.columns[key].table != table_name]
        response_keys += [key for key in CONTEXT_COLUMNS if metadata.has_valid_metadata(key)]
        response_keys = [*dict.fromkeys(key for key in response_keys if key in frame.columns)]
        grouped_keys = [key for key in groups.keys.columns if key in response_keys]
        table_key_columns = [
            frame_names_by_declared.get(key, [""])[-1] for key in sections.table(table_name).key
        ]
        # Rows of a rate overlap unless they are of one thing, such as one brand.
        has_one_key = bool(table_key_columns) and all(
            map(metadata.has_valid_metadata, table_key_columns)
        )
        if has_one_key:
            group_of_key = (
                frame[table_key_columns].assign(_group=groups.row_codes).drop_duplicates()["_group"]
            )
            has_one_key = not group_of_key.duplicated().any()
        if (
            not response_keys
            or not {*grouped_keys} <= groups.constant_keys
            or (rule.rule != "sum" and not has_one_key)
        ):
            return None
        response_of_row: Any = (
            frame.groupby(response_keys, dropna=False, sort=False).ngroup().to_numpy(np.int64)
        )
        counts_by_response = pd.DataFrame(
            {
                count_column: as_floats(frame[count_column])
                for count_column in (numerator, denominator)
            }
        ).groupby(response_of_row)
        if (counts_by_response[denominator].nunique(dropna=False) != 1).any():
            return None
        _, first_row_positions = np.unique(response_of_row, return_index=True)
        if len(groups) * len(first_row_positions) > _MAX_GROUP_ROW_PAIRS:
            return None
        group_keys = groups.keys[grouped_keys].assign(_group=np.arange(len(groups)))
        first_row_keys = (
            frame[grouped_keys].iloc[first_row_positions].assign(_row=first_row_positions)
        )
        group_row_pairs = group_keys.merge(
            first_row_keys, how="inner" if grouped_keys else "cross", on=grouped_keys or None
        )
        group_ids, row_positions = (
            group_row_pairs[column_name].to_numpy(np.int64) for column_name in ("_group", "_row")
        )
        has_row_in_group = np.isin(
            group_ids * len(first_row_positions) + response_of_row[row_positions],
            groups.row_codes * len(first_row_positions) + response_of_row,
        )
        # A response whose counts add up to its total has no further rows.
        has_share_column = any(
            column.aggregate.rule == "sum" and column.aggregate.counts == rule.counts
            for column in sections.table(table_name).columns
        )
        is_whole_response = (
            counts_by_response[numerator].sum(min_count=1)
            == counts_by_response[denominator].first()
        )
        is_valid_total = has_row_in_group | (
            has_share_column & is_whole_response.to_numpy(bool)[response_of_row[row_positions]]
        )
        response_totals = ResponseTotals(
            response_of_row,
            group_ids[is_valid_total],
            row_positions[is_valid_total],
            np.bincount(group_ids[~is_valid_total], minlength=len(groups)),
            np.bincount(group_ids, minlength=len(groups)),
        )
        ratio_rule = Aggregation(
            "ratio", over=(numerator, denominator), why="each response's whole counts once"
        )
        return ColumnPlan(
            column_name,
            ratio_rule,
            metadata.columns[column_name].declared_name,
            response_totals=response_totals,
        )


def _rule_hint(
    frame: pd.DataFrame, metadata: FrameMetadata, rule: Aggregation, column_name: str
) -> str:
    """Return the end of an error message that suggests an aggregation rule; "" if none is known.

    For example, ``; for the best: rules={'rank': 'min'}``.
    """
    if rule.rule == "key":
        return f"; to count them: rules={{{column_name!r}: 'count'}}"
    if frame[column_name].dtype.kind not in "iuf":
        return ""
    if metadata.declaration_of(column_name).unit == RANK:
        return f"; for the best: rules={{{column_name!r}: 'min'}}"
    rules_text = suggest_rule(frame, metadata, column_name)
    condition = (
        "weighted by its counts" if "weighted" in rules_text else "if you know that they add up"
    )
    return f"; {condition}: {rules_text}"


def _approximation_reason(frame: pd.DataFrame, plan: ColumnPlan) -> str | None:
    """Return the reason why a plan gives only an approximate aggregate; None if it is exact."""
    # Approximate: the counts that should weight the column are missing, so another column does.
    weight_column = plan.rule.otherwise
    missing_count_columns = [
        column
        for column in plan.inputs
        if column != plan.column and (column not in frame.columns or frame[column].isna().all())
    ]
    if (
        not missing_count_columns
        or weight_column not in frame.columns
        or frame[plan.column].isna().all()
    ):
        return None
    missing_count_names = [column.rpartition(".")[2] for column in missing_count_columns]
    if overwritten_count_names := [
        name
        for name in missing_count_names
        if name not in missing_count_columns and name in frame.columns
    ]:
        raise AggregationRefused(_overwrite_reason(overwritten_count_names))
    verb = "are" if len(missing_count_names) > 1 else "is"
    names_text = " and ".join(missing_count_names)
    return f"approximate: weighted by {weight_column}, as {names_text} {verb} not reported"


def _overwrite_reason(column_names: list[str]) -> str:
    """Return the error message that the user overwrote columns that a rule needs."""
    verb_phrase = "it was" if len(column_names) == 1 else "they were"
    return f"its rule needs {' and '.join(column_names)} as read, and {verb_phrase} overwritten"


def approximation_reason(
    frame: pd.DataFrame, metadata: FrameMetadata, column_name: str
) -> str | None:
    """Return why a column's aggregate would be only approximate; None if it would be exact."""
    reason = metadata.columns[column_name].caution
    if reason or not metadata.declaration_of(column_name).aggregate.otherwise:
        return reason
    try:
        return _approximation_reason(frame, plan_declared_rule(frame, metadata, column_name))
    except AggregationRefused as refusal:
        return str(refusal)


def plan_declared_rule(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> ColumnPlan:
    """Return the `ColumnPlan` to aggregate a column by the rule that its table declares.

    The plan names columns as they are named in this frame, e.g. after a merge. A column without a
    declared rule raises `AggregationRefused`.
    """
    column = metadata.declaration_of(name)
    declared_name = metadata.columns[name].declared_name
    if column is UNDECLARED or declared_name is None:
        raise AggregationRefused(missing_rule_reason(frame, metadata, name))
    table_name, _, column_name = declared_name.partition(".")
    rule = column.aggregate
    frame_names_by_declared = names_by_declared_name(metadata, table_name)
    if rule.rule == "sum" and column.unit == FRACTION and len(metadata.sources) > 1:
        raise AggregationRefused(rule.why or "shares of different wholes do not add")
    if rule.rule in _ROW_DEPENDENT_RULES and not rule.by:
        table_key = {f"{table_name}.{name}" for name in sections.table(table_name).key}
        if not table_key <= {metadata.columns[name].declared_name for name in metadata.key}:
            raise AggregationRefused(
                f"the {rule.rule} of rows that are no longer those of {table_name}"
            )

    def name_in_frame(name: Any) -> Any:
        if name is None or not isinstance(name, str):
            return name and tuple(map(name_in_frame, name))
        names_in_frame = frame_names_by_declared.get(
            name, [name if name not in metadata.columns else f"{table_name}.{name}"]
        )
        if len(names_in_frame) > 1:
            raise AggregationRefused(
                f"its rule needs one {name}, and there are {' and '.join(names_in_frame)}"
            )
        return names_in_frame[0]

    rule_fields = {
        attribute: name_in_frame(getattr(rule, attribute))
        for attribute in ("by", "within", "otherwise", "over", "counts")
    }
    among = (name_in_frame(rule.among[0]), *rule.among[1:]) if rule.among else ()
    # The totals that its parts are counted among; of a count also the denominators of its ratios.
    declared_columns = sections.table(table_name).columns
    declared_total_columns = [
        declaration.aggregate.among
        for declaration in declared_columns
        if declaration.name in (*(rule.over or ()), rule.by)
    ]
    if rule.rule == "sum":
        declared_total_columns += [
            ratio_columns[1:]
            for declaration in declared_columns
            if (ratio_columns := declaration.aggregate.over) and ratio_columns[0] == column_name
        ]
    total_names = chain.from_iterable(
        frame_names_by_declared.get(total_columns[0], ())
        for total_columns in declared_total_columns
        if len(total_columns) == 1
    )
    return ColumnPlan(
        name,
        replace(rule, among=among, **rule_fields),
        declared_name,
        tuple(dict.fromkeys(total_names)),
    )


def row_units(frame: pd.DataFrame, metadata: FrameMetadata, column_name: str) -> pd.Series | None:
    """Return a Series with the unit of each row of a column; None if all have the declared unit.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> from aatoolkit.metadata.attrs import metadata_of
    >>> value = aa.Column("value", "Int64", unit="per `metric`", units={"ttfb": "milliseconds"})
    >>> columns = (aa.Column("metric", "string"), value)
    >>> table = aa.Table("t", "Metrics.", aa.sections.records("rows"), "metric", columns)
    >>> rows = [{"metric": "ttfb", "value": 58}, {"metric": "size", "value": 9}]
    >>> frame = aa.normalize(aa.Section("mine", "Mine.", table), {"rows": rows}).main
    >>> row_units(frame, metadata_of(frame), "value").tolist()
    ['milliseconds', 'size']
    """
    declaration = metadata.declaration_of(column_name)
    unit_column = declaration.unit_by
    if unit_column not in frame.columns or not (declaration.units or unit_column == "unit"):
        return None
    unit_texts = frame[unit_column].astype("string")
    return unit_texts.map(dict(declaration.units)).astype("string").fillna(unit_texts)


def common_unit(frame: pd.DataFrame, metadata: FrameMetadata, column_name: str) -> str | None:
    """Return the unit that all rows of a column have, e.g. a currency; None if rows differ."""
    unit_of_row = row_units(frame, metadata, column_name)
    if unit_of_row is None or unit_of_row.isna().any() or unit_of_row.nunique() != 1:
        return None
    return str(unit_of_row.iloc[0])
