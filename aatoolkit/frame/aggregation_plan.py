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
from aatoolkit.errors import ArgumentError, AvailabilityError, warn
from aatoolkit.frame.cell_status import Codes, Mask, is_status_column
from aatoolkit.frame.duplicates import (
    Duplicates,
    Refused,
    check_repeats,
    suggested_rule,
    why_no_rule,
)
from aatoolkit.frame.groupby import Floats, Groups, as_floats, check_columns, names_of
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import UNDECLARED, FrameMetadata
from aatoolkit.sections.aggregation import FRACTION, ISO_4217, NONE, RANK, Aggregation, as_rule

Rules = Mapping[str, Aggregation | str]

_NUMBER_RULES = ("sum", "mean", "ratio")
_NO_RULES = ("none", "key")
_ROW_RULES = ("first", "last", "mean")
_MAX_PAIRS = 1_000_000


@dataclass(frozen=True)
class ResponseTotals:
    """The denominators of a share whose rows come from several responses of the service.

    For example, a brand's share of all mentions is divided by the number of all mentions in each
    response. Each such total must be added once, even if several rows repeat it.
    """

    responses: Codes  # for each row of the frame, the number of its response
    groups: Codes  # with rows: pairs of a group and a row whose total it adds
    rows: Codes
    lacking_count: Codes  # for each group, the responses without a row in it
    count: Codes  # for each group, all responses

    def used_pairs(self, used_rows: Mask, groups: Groups) -> tuple[Codes, Codes]:
        """Return the totals to add in each group, as two integer arrays of the same length.

        The first has the number of a group; the second has the position of a row whose total is
        added to that group. ``used_rows`` is a boolean mask of the rows that have a number.
        """
        response_count = int(self.responses.max(initial=0)) + 1
        unused_pairs = groups.ids[~used_rows] * response_count + self.responses[~used_rows]
        is_used = ~np.isin(self.groups * response_count + self.responses[self.rows], unused_pairs)
        return self.groups[is_used], self.rows[is_used]

    def sums(self, values: Floats, used_rows: Mask, groups: Groups) -> Floats:
        """Return the denominator of each group: the sum of the totals of its responses."""
        ids, rows = self.used_pairs(used_rows, groups)
        return np.bincount(ids, values[rows], minlength=len(groups)).astype(np.float64)


@dataclass(frozen=True)
class Plan:
    """How one column is aggregated: its rule, such as "sum", and the columns that it needs."""

    column: str
    rule: Aggregation
    of: str | None = None  # the declared column, as table.column, if its declared rule is used
    trials: tuple[str, ...] = ()  # denominators; rows with a 0 in one of them do not count
    # the rows that repeat others and do not count
    repeats: Mask | None = field(default=None, compare=False)
    caution: str | None = None  # why the result is only approximate
    response_totals: ResponseTotals | None = field(default=None, compare=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns that the aggregate is computed from, e.g. the two counts of a rate."""
        weight = (self.rule.by,) if self.rule.by else ()
        return self.rule.over or (self.column, *weight)


def plan(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    groups: Groups,
    columns: str | Iterable[str] | None,
    rules: Rules,
    *,
    shares: bool = False,
) -> list[Plan]:
    """Return for each of ``columns`` the rule to aggregate it and the columns that this needs.

    ``columns`` defaults to all columns that have a rule. ``rules`` maps columns to rules that the
    user gave. If ``shares`` is True, shares over several responses are computed from their counts.
    If a named column cannot be aggregated, the function raises `AvailabilityError`. Columns that
    were not named are left out with a warning.
    """
    if isinstance(columns, Mapping):
        raise ArgumentError("columns are names; how they are aggregated is said by rules={…}")
    given_columns = names_of([columns or ()])
    names = given_columns or [
        name
        for name in map(str, frame.columns)
        if name not in groups.keys.columns and not is_status_column(frame, name)
    ]
    check_columns(frame, [*rules, *names])
    planner = _Planner(frame, metadata, groups, shares)
    plans: list[Plan] = []
    refusals = {}
    for name in names:
        try:
            plans.append(planner.plan(name, rules, is_requested=bool(given_columns)))
        except Refused as refusal:
            refusals[name] = str(refusal)
    refused_columns = {
        name: why for name, why in refusals.items() if name in (*given_columns, *rules)
    }
    if refused_columns or not plans:
        names_by_reason: dict[str, list[str]] = {}
        for name, why in (refused_columns or refusals).items():
            names_by_reason.setdefault(why, []).append(name)
        reasons = "; ".join(f"{', '.join(names)}: {why}" for why, names in names_by_reason.items())
        raise AvailabilityError(
            f"these columns cannot be aggregated: {reasons or 'there are none'}",
            columns=refused_columns or refusals,
        )
    # Warn of columns that have a rule but cannot be aggregated by it.
    omissions = [f"{name}: {why}" for name, why in refusals.items() if _has_rule(metadata, name)]
    if omissions:
        warn(f"left out: {'; '.join(omissions)}")
    return plans


def _has_rule(metadata: FrameMetadata, name: str) -> bool:
    """Return whether a column is declared with a rule that combines rows, such as "sum"."""
    return metadata.declaration_of(name).aggregate.rule not in _NO_RULES


def columns_of(metadata: FrameMetadata, table: str) -> dict[str, list[str]]:
    """Return a dict from each declared column of a table to its names in the frame.

    A merge may have renamed or duplicated the column.
    """
    names_by_declared: dict[str, list[str]] = {}
    for name, column in metadata.columns.items():
        if column.declared_name and column.table == table:
            names_by_declared.setdefault(column.declared_name.partition(".")[2], []).append(name)
    return names_by_declared


@dataclass
class _Planner:
    """Finds for each column of a grouped frame the rule to aggregate it."""

    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    shares: bool

    @cached_property
    def duplicates(self) -> Duplicates:
        """An object that finds the rows which a sum would count twice."""
        return Duplicates(self.frame, self.metadata, self.groups)

    def plan(self, name: str, rules: Rules, *, is_requested: bool) -> Plan:
        """Return the `Plan` (rule and needed columns) of one column; raise `Refused` if none fits.

        ``rules`` maps columns to rules that the user gave. ``is_requested`` says whether the user
        named this column.
        """
        if name in self.groups.keys.columns:
            raise Refused("the rows are grouped by it")
        given_rule, is_flag = rules.get(name), self.frame[name].dtype.kind == "b"
        is_unchanged = not (_has_rule(self.metadata, name) or self.metadata.has_lost_values(name))
        if given_rule is None and is_requested and is_flag and is_unchanged:
            given_rule = "mean"
        column_plan = None
        if given_rule is not None:
            rule = as_rule(given_rule)
            if isinstance(given_rule, str):  # money stays in its currency
                rule = replace(rule, within=self.metadata.declaration_of(name).aggregate.within)
            column_plan = Plan(name, rule)
        elif self.shares and len(self.metadata.sources) > 1:
            column_plan = self._share_plan(name)
        if column_plan is None:
            column_plan = self._plan_of_one_kind(
                resolve(self.frame, self.metadata, name), is_requested
            )
            if approximation := _approximation(self.frame, column_plan):
                warn(f"{name} is {approximation}")
                rule = Aggregation("mean", by=column_plan.rule.otherwise)
                column_plan = replace(column_plan, rule=rule, caution=approximation)
        if column_plan.response_totals is None:
            self._check(column_plan)
        else:
            self._check_across(column_plan)
        if rules.get(name) == "sum" and not self.metadata.columns[name].table:
            check_repeats(self.frame, self.groups, name)
        # A mask of the rows that repeat other rows and must not count.
        table = self.metadata.columns[column_plan.column].table
        if column_plan.rule.rule not in (*_NUMBER_RULES, "count") or not table:
            return column_plan
        return replace(column_plan, repeats=self.duplicates.repeats_of(table, column_plan.parts))

    def _check(self, plan: Plan) -> None:
        """Raise `Refused` if a plan does not fit the rows, e.g. if a group mixes currencies."""
        frame, name, rule = self.frame, plan.column, plan.rule
        if rule.rule in _NO_RULES:
            hint = "" if rule.why else _rule_hint(frame, self.metadata, rule, name)
            number_keys = self.groups.keys.select_dtypes("number").columns
            if rule.rule == "key" and len(number_keys):
                hint += f"; {number_keys[0]} is a number: are the two arguments swapped?"
            reason = rule.why or f"its rule does not combine rows{hint}"
            if rule.within in frame.columns and frame[rule.within].nunique() > 1:
                first_kind = frame[rule.within].dropna().iloc[0]
                reason += f"; take the rows of one {rule.within}, such as {first_kind!r}"
            raise Refused(reason)
        needed_columns = [*plan.parts, *((rule.within,) if rule.within else ())]
        missing_columns = [
            column.rpartition(".")[2] for column in needed_columns if column not in frame.columns
        ]
        if changed_columns := [
            column for column in missing_columns if self.metadata.has_lost_values(column)
        ]:
            raise Refused(_overwritten_reason(changed_columns))
        if missing_columns:
            raise Refused(f"its rule ({rule}) needs {', '.join(missing_columns)}")
        types = pd.api.types
        for column in plan.parts if rule.rule in _NUMBER_RULES else ():
            dtype = frame[column].dtype
            is_number = types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
            if not is_number and not frame[column].isna().all():
                raise Refused(f"{column} holds {dtype}, not numbers")
        dtype = frame[name].dtype
        if (
            rule.rule in ("min", "max")
            and isinstance(dtype, pd.CategoricalDtype)
            and not dtype.ordered
        ):
            raise Refused("its levels have no order")
        units = row_units(frame, self.metadata, name)
        if units is not None and self._is_mixed(name, units):
            unit_names = ", ".join(sorted({*map(str, units[frame[name].notna()])})[:3])
            raise Refused(
                f"a group mixes units ({unit_names}); choose one metric, or add it to by="
            )
        if rule.within and rule.within not in self.groups.keys.columns:
            kinds = frame[rule.within].astype("string")
            if self.metadata.declaration_of(rule.within).unit == ISO_4217:
                kinds = kinds.str.strip().str.upper()
            if self._is_mixed(name, kinds):
                reason = f"a group holds more than one {rule.within}; add {rule.within!r} to by="
                raise Refused(reason)
        if plan.of:
            self._check_across(plan)

    def _is_mixed(self, name: str, kinds: pd.Series) -> bool:
        """Return whether one group has values of a column that must not be combined.

        ``kinds`` has an entry per row, such as the currency of the amount. Values of different
        kinds must not be combined.
        """
        has_value = self.frame[name].notna().to_numpy(bool)
        kinds, ids = kinds[has_value], self.groups.ids[has_value]
        has_several_kinds = kinds.groupby(ids).nunique(dropna=False) > 1
        return bool((has_several_kinds | (kinds.isna().groupby(ids).sum() > 1)).any())

    def _check_across(self, plan: Plan) -> None:
        """Raise `Refused` if a sum might count an answer twice, e.g. once for each brand in it."""
        table, column = (plan.of or "").partition(".")[0], plan.column
        added_keys = {column: plan.rule.across}
        for part in plan.parts:  # a mean counts twice what its weight counts twice
            if part != column:
                added_keys[part] = self.metadata.declaration_of(part).aggregate.across
        table_key, names = sections.table(table).key, columns_of(self.metadata, table)
        key_values = {key: self.frame[names[key][-1]].array for key in table_key if key in names}
        positions: Any = np.arange(len(self.frame))
        unlisted_keys = [(part, key) for key in dict.fromkeys([*table_key, "engine"])
                   for part in added_keys
                   if added_keys[part] and key not in added_keys[part]]  # fmt: skip
        for part, key in unlisted_keys:
            if key in table_key:
                alike, summed_values = {}, key_values.get(key, positions)
            else:  # the same key in several responses
                scopes, responses = self.duplicates.scopes(table)
                if len(scopes) < 2:
                    continue
                alike, summed_values = key_values, positions if responses is None else responses
            rows = pd.DataFrame({**alike, "_group": self.groups.ids, "_added": summed_values})
            if rows.drop_duplicates().drop(columns="_added").duplicated().any():
                rule = plan.rule
                remedy = "'sum'" if rule.rule == "sum" else f"aa.sections.{rule!r}"
                raise Refused(
                    f"{'it' if part == column else part} adds over {', '.join(added_keys[part])}, "
                    f"and nothing shows that it adds over {key}; if it does, "
                    f"aggregate with rules={{{column!r}: {remedy}}}"
                )

    def _plan_of_one_kind(self, plan: Plan, is_requested: bool) -> Plan:
        """Return the plan for a column of several measures, if all rows are of one measure.

        For example, rows can be aggregated if ``metric`` is "mentionRate" in all of them. Otherwise
        ``plan`` is returned unchanged.
        """
        rule, frame = plan.rule, self.frame
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
        value, numerator, denominator = (
            as_floats(frame[part]) for part in (plan.column, *rule.counts)
        )
        if not np.allclose(value * denominator, numerator, rtol=1e-3, equal_nan=True):
            return plan  # a score of 0 to 100, say
        return replace(plan, rule=Aggregation("ratio", over=rule.counts, within=rule.within))

    def _share_plan(self, name: str) -> Plan | None:
        """Return the plan to compute a share over responses: summed counts divided by totals.

        The result is None if the column is no share, or its totals are not known.
        """
        frame = self.frame
        metadata = self.metadata
        groups = self.groups
        rule, table = metadata.declaration_of(name).aggregate, metadata.columns[name].table
        if rule.counts is None or rule.rule not in ("sum", "none"):
            return None
        names = columns_of(metadata, table)
        if not {*rule.counts} <= {*names}:
            return None
        numerator, denominator = (names[part][-1] for part in rule.counts)
        outer_keys = [part for part in metadata.key if metadata.columns[part].table != table]
        outer_keys += [part for part in CONTEXT if metadata.has_valid_metadata(part)]
        outer_keys = [*dict.fromkeys(part for part in outer_keys if part in frame.columns)]
        grouped_keys = [part for part in groups.keys.columns if part in outer_keys]
        key = [names.get(part, [""])[-1] for part in sections.table(table).key]
        # Rows of a rate overlap unless they are of one thing, such as one brand.
        has_one_key = bool(key) and all(map(metadata.has_valid_metadata, key))
        if has_one_key:
            group_ids = frame[key].assign(_group=groups.ids).drop_duplicates()["_group"]
            has_one_key = not group_ids.duplicated().any()
        if (
            not outer_keys
            or not {*grouped_keys} <= groups.by_value
            or (rule.rule != "sum" and not has_one_key)
        ):
            return None
        codes: Any = frame.groupby(outer_keys, dropna=False, sort=False).ngroup().to_numpy(np.int64)
        counts = pd.DataFrame({n: as_floats(frame[n]) for n in (numerator, denominator)}).groupby(
            codes
        )
        if (counts[denominator].nunique(dropna=False) != 1).any():
            return None
        _, first_rows = np.unique(codes, return_index=True)
        if len(groups) * len(first_rows) > _MAX_PAIRS:
            return None
        key_rows = groups.keys[grouped_keys].assign(_group=np.arange(len(groups)))
        responses = frame[grouped_keys].iloc[first_rows].assign(_row=first_rows)
        pairs = key_rows.merge(
            responses, how="inner" if grouped_keys else "cross", on=grouped_keys or None
        )
        group, rows = (pairs[part].to_numpy(np.int64) for part in ("_group", "_row"))
        has_row = np.isin(
            group * len(first_rows) + codes[rows], groups.ids * len(first_rows) + codes
        )
        # A response whose counts add up to its total has no further rows.
        is_share = any(
            column.aggregate.rule == "sum" and column.aggregate.counts == rule.counts
            for column in sections.table(table).columns
        )
        is_whole = counts[numerator].sum(min_count=1) == counts[denominator].first()
        is_certain = has_row | (is_share & is_whole.to_numpy(bool)[codes[rows]])
        response_totals = ResponseTotals(
            codes,
            group[is_certain],
            rows[is_certain],
            np.bincount(group[~is_certain], minlength=len(groups)),
            np.bincount(group, minlength=len(groups)),
        )
        ratio = Aggregation(
            "ratio", over=(numerator, denominator), why="each response's whole counts once"
        )
        return Plan(
            name, ratio, metadata.columns[name].declared_name, response_totals=response_totals
        )


def _rule_hint(frame: pd.DataFrame, metadata: FrameMetadata, rule: Aggregation, name: str) -> str:
    """Return the last part of an error message, which suggests a rule; "" for no suggestion.

    For example, ``; for the best: rules={'rank': 'min'}``.
    """
    if rule.rule == "key":
        return f"; to count them: rules={{{name!r}: 'count'}}"
    if frame[name].dtype.kind not in "iuf":
        return ""
    if metadata.declaration_of(name).unit == RANK:
        return f"; for the best: rules={{{name!r}: 'min'}}"
    rules = suggested_rule(frame, metadata, name)
    condition = "weighted by its counts" if "weighted" in rules else "if you know that they add up"
    return f"; {condition}: {rules}"


def _approximation(frame: pd.DataFrame, plan: Plan) -> str | None:
    """Return the reason why a plan gives only an approximate aggregate; None if it is exact."""
    # Approximate: the counts that should weight the column are missing, so another column does.
    weight = plan.rule.otherwise
    missing_counts = [
        part
        for part in plan.parts
        if part != plan.column and (part not in frame.columns or frame[part].isna().all())
    ]
    if not missing_counts or weight not in frame.columns or frame[plan.column].isna().all():
        return None
    names = [part.rpartition(".")[2] for part in missing_counts]
    if changed_counts := [
        name for name in names if name not in missing_counts and name in frame.columns
    ]:
        raise Refused(_overwritten_reason(changed_counts))
    verb = "are" if len(names) > 1 else "is"
    return f"approximate: weighted by {weight}, as {' and '.join(names)} {verb} not reported"


def _overwritten_reason(names: list[str]) -> str:
    """Return an error message: the user overwrote ``names``, columns which an aggregation needs."""
    was = "it was" if len(names) == 1 else "they were"
    return f"its rule needs {' and '.join(names)} as read, and {was} overwritten"


def caution(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> str | None:
    """Return why a column's aggregate would be only approximate; None if it would be exact."""
    reason = metadata.columns[name].caution
    if reason or not metadata.declaration_of(name).aggregate.otherwise:
        return reason
    try:
        return _approximation(frame, resolve(frame, metadata, name))
    except Refused as refusal:
        return str(refusal)


def resolve(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> Plan:
    """Return the `Plan` to aggregate a column by its declared rule; raise `Refused` without one.

    The plan names columns as they are named in this frame, e.g. after a merge.
    """
    column, declared_name = metadata.declaration_of(name), metadata.columns[name].declared_name
    if column is UNDECLARED or declared_name is None:
        raise Refused(why_no_rule(frame, metadata, name))
    table, _, column_name = declared_name.partition(".")
    rule, names = column.aggregate, columns_of(metadata, table)
    if rule.rule == "sum" and column.unit == FRACTION and len(metadata.sources) > 1:
        raise Refused(rule.why or "shares of different wholes do not add")
    if rule.rule in _ROW_RULES and not rule.by:
        grain = {f"{table}.{name}" for name in sections.table(table).key}
        if not grain <= {metadata.columns[name].declared_name for name in metadata.key}:
            raise Refused(f"the {rule.rule} of rows that are no longer those of {table}")

    def local_name(part: Any) -> Any:
        if part is None or not isinstance(part, str):
            return part and tuple(map(local_name, part))
        candidates = names.get(part, [part if part not in metadata.columns else f"{table}.{part}"])
        if len(candidates) > 1:
            raise Refused(f"its rule needs one {part}, and there are {' and '.join(candidates)}")
        return candidates[0]

    parts = {
        part: local_name(getattr(rule, part))
        for part in ("by", "within", "otherwise", "over", "counts")
    }
    among = (local_name(rule.among[0]), *rule.among[1:]) if rule.among else ()
    # The totals that its parts are counted among; of a count also the denominators of its ratios.
    columns = sections.table(table).columns
    declared_totals = [
        declaration.aggregate.among
        for declaration in columns
        if declaration.name in (*(rule.over or ()), rule.by)
    ]
    if rule.rule == "sum":
        declared_totals += [
            over[1:]
            for declaration in columns
            if (over := declaration.aggregate.over) and over[0] == column_name
        ]
    denominators = chain.from_iterable(
        names.get(total[0], ()) for total in declared_totals if len(total) == 1
    )
    return Plan(
        name, replace(rule, among=among, **parts), declared_name, tuple(dict.fromkeys(denominators))
    )


def row_units(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> pd.Series | None:
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
    column = metadata.declaration_of(name)
    unit_by = column.unit_by
    if unit_by not in frame.columns or not (column.units or unit_by == "unit"):
        return None
    unit_texts = frame[unit_by].astype("string")
    return unit_texts.map(dict(column.units)).astype("string").fillna(unit_texts)


def common_unit(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> str | None:
    """Return the unit that all rows of a column state, e.g. a currency; None if they differ."""
    units = row_units(frame, metadata, name)
    if units is None or units.isna().any() or units.nunique() != 1:
        return None
    return str(units.iloc[0])
