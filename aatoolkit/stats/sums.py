"""Sum numerators and denominators by group and by cluster, also for the two frames of a comparison.

A cluster is a set of similar rows, such as the answers to one prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.lexicon import tokens, words_of
from aatoolkit._util.text import counted
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import (
    ColumnPlan,
    ResponseTotals,
    Rules as Rules,
    names_by_declared_name,
    plan_columns,
)
from aatoolkit.frame.duplicates import response_scope
from aatoolkit.frame.groupby import (
    By,
    Groups,
    as_floats,
    check_columns,
    flatten_index,
    group_rows,
    groupers_of,
)
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.attrs import (
    UNDECLARED,
    ColumnMetadata,
    FrameMetadata,
    attach,
    declared_key,
    metadata_of,
)
from aatoolkit.scope import FILTERS
from aatoolkit.sections.aggregation import FRACTION, Aggregation, ratio
from aatoolkit.sections.column import Column
from aatoolkit.stats.results import refusal_error
from aatoolkit.stats.trace import FloatArray, GroupSums, IntArray, RowDict, trace_copy, trace_inputs

PROMPT_COLUMN = "prompt_id"  # the usual name of the column with the ids of prompts
WINDOW_NAMES = ("now", "before")
"""The names of the two compared frames, unless their hosts, brands or filters name them."""


@dataclass(frozen=True)
class ClusterSums:
    """The numerators and denominators of one column, summed by group and by cluster.

    A cluster is a set of similar rows, such as the answers to one prompt.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    cluster_labels: pd.Index  # a label per cluster, such as the host and id of a prompt
    cluster_column: str | None  # the column of clusters; None if there are no clusters
    # The next four have an element per pair of group and cluster, in the order of the groups.
    group_ids: IntArray  # the position of the group in `groups`
    cluster_ids: IntArray  # the position of the cluster in `cluster_labels`
    y: FloatArray  # numerators
    n: FloatArray  # denominators
    is_rate: bool  # whether the column is a rate between 0 and 1
    used_row_counts: IntArray  # by group, the number of rows with a number
    availabilities: list[Availability]  # by group, whether its numbers were measured
    row_positions: IntArray  # the positions of the rows with a number
    sum_position_of_row: IntArray  # for each of these rows, the position of its pair in `y` and `n`
    plan: ColumnPlan  # the rule by which the column is aggregated

    @property
    def column(self) -> Column:
        """The declaration of the column, with its dtype, unit and aggregation rule."""
        return self.metadata.declaration_of(self.plan.column)

    @property
    def unit(self) -> str | None:
        """The unit of the column; None if it is not known."""
        return self.column.unit or (FRACTION if self.is_rate else None)

    @property
    def is_count(self) -> bool:
        """Whether the column is a count, which has no denominator."""
        return self.plan.rule.rule == "sum"

    @cached_property
    def position_by_key(self) -> dict[tuple[Any, ...], int]:
        """A dict from the key of each group to its position."""
        key_rows = self.groups.keys.astype(object).where(self.groups.keys.notna(), None)
        return {
            key: position
            for position, key in enumerate(key_rows.itertuples(index=False, name=None))
        }

    def cluster_of_sum(self, sum_position: int) -> RowDict:
        """Return the cluster at a position as a dict, such as ``{"prompt_id": "p1"}``.

        ``sum_position`` is a position in ``y`` and ``n``, which have an element per pair of group
        and cluster. Without clusters, the result is the key of the group.
        """
        if self.cluster_column:
            row_position = self.row_positions[np.argmax(self.sum_position_of_row == sum_position)]
            return {self.cluster_column: self.frame[self.cluster_column].iloc[row_position]}
        return self.key_of_group(self.group_ids[sum_position])

    def key_of_group(self, group_position: int) -> RowDict:
        """Return the key of a group as a dict from column to value."""
        return {str(name): value for name, value in self.groups.keys.iloc[group_position].items()}

    @property
    def group_sums(self) -> GroupSums:
        """An object that takes one number per cluster (such as a prompt).

        It returns the sum of these numbers for each group.
        """
        return GroupSums(self.group_ids, len(self.groups), self.key_of_group)

    def position_by_cluster(self, group_position: int) -> dict[Any, int]:
        """Return a dict from each cluster of a group to its position in ``y`` and ``n``.

        The keys of the dict are the labels of the clusters, such as prompt ids. ``group_position``
        is the position of the group in ``groups``.
        """
        first_position, end_position = np.searchsorted(
            self.group_ids, [group_position, group_position + 1]
        ).tolist()
        cluster_labels = self.cluster_labels[self.cluster_ids[first_position:end_position]].tolist()
        return dict(zip(cluster_labels, range(first_position, end_position), strict=True))

    def y_and_n(
        self, sum_positions: Iterable[int] | None = None, suffix: str = ""
    ) -> tuple[Any, Any]:
        """Return the numerators and the denominators of clusters as two arrays of equal length.

        ``sum_positions`` are the positions of the clusters to take, by default all. ``suffix`` is
        added to the names ``y`` and ``n`` that the arrays have in formulas.
        """
        positions = (
            np.arange(len(self.y))
            if sum_positions is None
            else np.array([*sum_positions], np.int64)
        )

        def trace_values(cluster_values: FloatArray, name: str, is_denominator: bool) -> Any:
            return trace_inputs(
                name,
                cluster_values[positions],
                lambda tracer, position: tracer.explain_total(
                    self, name, int(positions[position]), is_denominator
                ),
            )

        return trace_values(self.y, f"y{suffix}", False), trace_values(self.n, f"n{suffix}", True)


def shared_cluster_positions(
    position_by_cluster_of_frames: Sequence[Mapping[Any, int]],
) -> list[list[int]]:
    """Return the positions of the clusters that both of two frames have, as a list per frame.

    Each of ``position_by_cluster_of_frames`` maps the clusters of one frame (such as prompts) to
    positions.
    """
    return [
        [
            position_by_cluster[cluster_label]
            for cluster_label in position_by_cluster_of_frames[0]
            if cluster_label in position_by_cluster_of_frames[1]
        ]
        for position_by_cluster in position_by_cluster_of_frames
    ]


def cluster_sums(
    frame: pd.DataFrame,
    column: str,
    by: By,
    cluster: str | None,
    rules: Rules | None = None,
    *,
    allow_counts: bool = False,
) -> ClusterSums:
    """Sum a column's numerators and denominators by group and by cluster, such as prompt.

    Without ``cluster``, each row is its own cluster. With ``allow_counts``, the column may be a
    count, which has no denominator.
    """
    flat_frame = trace_copy(flatten_index(frame), frame)
    metadata = metadata_of(flat_frame)
    check_columns(flat_frame, [column, *([cluster] if cluster else [])])
    groups = group_rows(flat_frame, by, True)
    rules = rules or {}
    is_boolean = pd.api.types.is_bool_dtype(flat_frame[column].dtype)
    # A share of what one answer can hold several of does not vary as a rate of answers does.
    column_rule, count_column_names = rule_and_columns(metadata, column)
    has_none_rule = column_rule.rule == "none"
    if (
        has_none_rule
        and not column_rule.within
        and all(count_column_names)
        and (groups.sizes <= 1).all()
    ):
        rules = {column: ratio(*count_column_names), **rules}
    (column_plan,) = plan_columns(
        flat_frame, metadata, groups, column, rules, with_shares=has_none_rule
    )
    rule = column_plan.rule
    response_totals = column_plan.response_totals
    is_count = allow_counts and rule.rule == "sum" and not (rule.counts and cluster is None)
    if rule.rule not in ("ratio", "mean") and not is_count:
        declaration = metadata.declaration_of(column)
        reason = no_counts_text(rule)
        if declaration.aggregate.counts:
            advice = f"df.aa.interval({declaration.name!r}) gives that of each row"
            reason = f"{SHARE_REASON} between answers; {advice}"
        raise refusal_error(column, "interval", reason)
    cell_statuses = cells_of_plan(column_plan, flat_frame, metadata, groups)
    input_arrays = [as_floats(flat_frame[name]) for name in column_plan.inputs]
    y = input_arrays[0]
    n = input_arrays[1] if len(input_arrays) > 1 else np.ones(len(flat_frame))
    if rule.over is None:
        y = y * n
    is_used = cell_statuses.has_number & (n > 0) & np.isfinite(y)
    is_rate = is_boolean and not is_count
    if rule.over is not None:
        is_valid_rate = (y >= 0) & (y <= n)
        is_rate = bool(is_valid_rate[is_used].mean() >= 0.5) if is_used.any() else True
        # A row with more hits than trials is left out; the other rows are still those of a rate.
        is_used = is_used & is_valid_rate if is_rate else is_used
    cluster_id_of_row = np.arange(len(flat_frame)) * (not is_count)
    cluster_labels = pd.Index(range(len(flat_frame)))
    if cluster is not None:
        cluster_id_of_row, distinct_clusters = pd.factorize(row_clusters(flat_frame, cluster))
        cluster_labels = pd.Index(distinct_clusters)
        refuse_missing_keys(cluster, (cluster_id_of_row < 0) & is_used)
    cluster_count = max(len(cluster_labels), 1)
    sum_id_of_row = groups.row_codes * cluster_count + cluster_id_of_row
    if is_count:  # a sum is left out if the count of one of its rows is missing
        is_used = is_used & ~np.isin(
            sum_id_of_row, sum_id_of_row[cell_statuses.is_applicable & ~is_used]
        )
    if response_totals is not None:
        is_used = is_used & (response_totals.absent_response_counts == 0)[groups.row_codes]
    used_sum_ids, sum_position_of_row = np.unique(sum_id_of_row[is_used], return_inverse=True)
    numerators, denominators = (
        np.bincount(sum_position_of_row, row_values[is_used], len(used_sum_ids)).astype(np.float64)
        for row_values in (y, n)
    )
    group_id_of_sum, cluster_id_of_sum = np.divmod(used_sum_ids, cluster_count)
    return ClusterSums(
        flat_frame,
        metadata,
        groups,
        cluster_labels,
        cluster,
        group_id_of_sum,
        cluster_id_of_sum,
        numerators,
        np.ones(len(used_sum_ids)) if is_count else denominators,
        is_rate,
        groups.count(is_used),
        _availabilities_of_groups(cell_statuses, groups, is_used, response_totals),
        np.flatnonzero(is_used),
        sum_position_of_row,
        column_plan,
    )


def row_clusters(frame: pd.DataFrame, column: str, prompt_column: str = PROMPT_COLUMN) -> pd.Series:
    """Return the cluster of each row, from the column of clusters ``column``.

    If it is ``prompt_column``, the ids of prompts get their host as a prefix, which tells apart
    prompts of two hosts with the same id. Without a column ``host``, the host is that of the
    responses. If these are of several hosts, no prompt is the same as in another frame.

    Examples
    --------
    >>> frame = pd.DataFrame({"host": ["a.example", "b.example"], "prompt_id": ["p1", "p1"]})
    >>> row_clusters(frame, "prompt_id").tolist()
    ['a.example p1', 'b.example p1']
    """
    if column != prompt_column:
        return frame[column]
    hosts: Any = {source.host or "" for source in metadata_of(frame).sources}
    hosts = hosts.pop() if len(hosts) == 1 else str(id(frame)) if hosts else ""
    if host_columns(frame):
        hosts = frame["host"].astype("string").fillna("")
    host_prompt_ids: pd.Series = hosts + " " + frame[column].astype("string")
    return host_prompt_ids.str.lstrip()


def host_columns(frame: pd.DataFrame) -> list[str]:
    """Return ``["host"]`` if a frame has a column with the host of each row's response; else []."""
    has_host = "host" in frame.columns and not metadata_of(frame).columns["host"].declared_name
    return ["host"] if has_host else []


def refuse_missing_keys(column: str, is_missing: Any) -> None:
    """Raise `AvailabilityError` if a row cannot be grouped, as it has no value in ``column``.

    ``is_missing`` is a boolean mask: True for each row that has a number to use, but no value in
    the grouping column ``column``.
    """
    if missing_count := int(is_missing.sum()):
        rows_text = counted(missing_count, "row")
        reason = f"no {column} in {rows_text} with a value; drop them, or name another column"
        raise AvailabilityError(
            f"the rows cannot be grouped by {column}: {reason}", columns={column: reason}
        )


def _availabilities_of_groups(
    cell_statuses: Any, groups: Groups, is_used: Any, response_totals: ResponseTotals | None
) -> list[Availability]:
    """Return a list with the availability of each group: were its numbers measured, or why not.

    ``is_used`` is a boolean mask of the rows with a number. ``response_totals`` has the number of
    responses without a row, for each group.
    """
    availability_code_by_group, distinct_availabilities = groups.combine_availability(cell_statuses)
    used_row_counts = groups.count(is_used)
    expected_row_counts = groups.count(cell_statuses.is_applicable)
    group_availabilities = []
    for group_position, availability_code in enumerate(availability_code_by_group.tolist()):
        availability = distinct_availabilities[availability_code]
        if 0 < used_row_counts[group_position] < expected_row_counts[group_position]:
            availability = replace(availability, status=Status.PARTIAL)
        elif response_totals is not None and response_totals.absent_response_counts[group_position]:
            absent_count = response_totals.absent_response_counts[group_position]
            response_count = response_totals.response_counts[group_position]
            reason = f"{absent_count} of {response_count} responses have no row of it"
            availability = Availability(Status.UNAVAILABLE, Cause.NO_ROW, reason)
        elif not used_row_counts[group_position] and availability.status == Status.AVAILABLE:
            availability = Availability(Status.UNAVAILABLE, availability.cause, "no answers")
        group_availabilities.append(availability)
    return group_availabilities


SHARE_REASON = "one answer can hold several of what it is a share of, so nothing says how it varies"


def no_counts_text(rule: Aggregation) -> str:
    """Return the error message for a rule without numerator and denominator, such as a sum."""
    return f"its rule ({rule}) has no numerator and denominator"


# --- both sides -------------------------------------------------------------------------------

_IGNORED_NAME_WORDS = frozenset(("count", "number", "num", "total", "after", "now", "current"))


def split_off_period(column_name: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a column is about the previous period, and the main words of its name.

    Examples
    --------
    >>> split_off_period("citations_previous"), split_off_period("citation_count")
    ((True, ('citation',)), (False, ('citation',)))
    """
    previous_words = words_of("previous")
    name_words = tokens(column_name)
    ignored_words = previous_words | _IGNORED_NAME_WORDS
    return not previous_words.isdisjoint(name_words), tuple(
        word.removesuffix("s") for word in name_words if word not in ignored_words
    )


def match_previous_columns(frame: pd.DataFrame) -> dict[str, str]:
    """Return a dict from each column about the previous period to its current counterpart.

    Examples
    --------
    >>> columns = ["citation_count", "citations_previous", "value", "previous", "previous_rank"]
    >>> match_previous_columns(pd.DataFrame(columns=columns))
    {'citations_previous': 'citation_count', 'previous': 'value'}
    >>> names = ["before_mention_rate", "after_mention_rate"]
    >>> match_previous_columns(pd.DataFrame(columns=names))
    {'before_mention_rate': 'after_mention_rate'}
    """
    metadata_by_column = metadata_of(frame).columns
    declared_name_by_name = {
        name: (metadata_by_column[name].declared_name or name).rpartition(".")[2]
        for name in map(str, frame.columns)
    }
    period_and_stem_by_name = {
        name: split_off_period(declared_name)
        for name, declared_name in declared_name_by_name.items()
    }
    name_by_stem = {
        stem: name
        for name, (is_previous_period, stem) in period_and_stem_by_name.items()
        if not is_previous_period
    }
    name_by_declared_name = {
        declared_name: name for name, declared_name in declared_name_by_name.items()
    }
    name_by_previous_name = {}
    for name, (is_previous_period, stem) in period_and_stem_by_name.items():
        current_name = name_by_stem.get(stem or ("value",))
        unprefixed_name = name_by_declared_name.get(
            declared_name_by_name[name].removeprefix("previous_"), name
        )
        current_name = current_name if unprefixed_name == name else unprefixed_name
        if is_previous_period and current_name is not None:
            name_by_previous_name[name] = current_name
    return name_by_previous_name


def resolve_baseline_frame(
    current_frame: pd.DataFrame,
    baseline_frame: pd.DataFrame | None,
    measure: str,
    rules: Rules | None,
) -> tuple[pd.DataFrame, Rules | None, str]:
    """Return the frame to compare ``current_frame`` with, and its aggregation rules by column.

    The third result is the reason why the frames cannot be compared, or "". If ``baseline_frame``
    is None, the frame is made of the columns of ``current_frame`` about the previous period, such
    as ``previous_rank``.
    """
    flat_frame = flatten_index(current_frame)
    check_columns(flat_frame, [measure])
    if baseline_frame is not None:
        return baseline_frame, rules, overlap_reason(current_frame, baseline_frame, measure)
    metadata = metadata_of(flat_frame)
    current_name_by_previous = match_previous_columns(flat_frame)
    rule, count_column_names = rule_and_columns(metadata, measure)
    baseline_rules = dict(rules or {})
    has_previous_measure = measure in current_name_by_previous.values()
    if not has_previous_measure and not {*count_column_names} <= {
        *current_name_by_previous.values()
    } - {""}:
        alternatives_text = (
            f", or one of {', '.join(current_name_by_previous.values())}"
            if current_name_by_previous
            else ""
        )
        raise ItemNotFound(
            f"nothing here says what {measure} was in the window before; compare with an earlier "
            f"window{alternatives_text}",
            columns={f"previous_{measure}": "there is no such column"},
        )
    shared_column_names = [
        name
        for name in flat_frame.columns
        if name not in current_name_by_previous
        and name not in current_name_by_previous.values()
        and (name in metadata.key or not pd.api.types.is_numeric_dtype(flat_frame[name].dtype))
    ]
    previous_frame = rename(
        flat_frame[[*shared_column_names, *current_name_by_previous]],
        columns=current_name_by_previous,
    )
    if not has_previous_measure:
        previous_metadata = metadata_of(previous_frame)
        previous_frame[measure] = (
            previous_frame[count_column_names[0]] / previous_frame[count_column_names[1]]
        )
        availability = combine(
            [previous_metadata.columns[name].availability for name in count_column_names]
        )
        measure_metadata = ColumnMetadata(metadata.columns[measure].declared_name, availability)
        previous_frame = attach(
            previous_frame,
            replace(
                previous_metadata, columns={**previous_metadata.columns, measure: measure_metadata}
            ),
        )
        baseline_rules.setdefault(measure, ratio(*count_column_names))
    elif rule.rule == "sum" and rule.counts is None:
        baseline_rules.setdefault(measure, rule)
    previous_name_by_current = {
        measure_name: name for name, measure_name in current_name_by_previous.items()
    }
    return (
        trace_copy(previous_frame, current_frame, source_name_by_column=previous_name_by_current),
        baseline_rules,
        "",
    )


def rule_and_columns(metadata: FrameMetadata, measure: str) -> tuple[Aggregation, tuple[str, ...]]:
    """Return a column's aggregation rule, and the columns of its numerator and denominator.

    The second result is ``("",)`` if the frame lacks one of these columns.
    """
    rule = metadata.declaration_of(measure).aggregate
    table_name = metadata.columns[measure].table
    columns_by_declared_name = names_by_declared_name(metadata, table_name)
    count_column_names = tuple(
        columns_by_declared_name.get(count_name, [""])[-1]
        for count_name in rule.over or rule.counts or ()
    )
    return rule, count_column_names if count_column_names and all(count_column_names) else ("",)


def grouping_columns(by: By) -> list[str]:
    """Return ``by`` as a list of column names."""
    groupers = groupers_of(by)
    column_names = [name for name in groupers if isinstance(name, str)]
    if len(column_names) < len(groupers):
        raise ArgumentError("by= takes names of columns here; put bins into a column first")
    return column_names


def choose_cluster_columns(
    current_frame: pd.DataFrame,
    baseline_frame: pd.DataFrame,
    by: Sequence[str],
    pair_by: str | None,
    cluster: str | None,
    prompt_column: str,
) -> tuple[str | None, str | None]:
    """Return the column of paired clusters and the column of unpaired ones; at least one is None.

    A cluster is a set of similar rows, such as the answers to one prompt. ``pair_by`` and
    ``cluster`` are the user's arguments. By default, the prompts in the column ``prompt_column``
    are paired if both frames have some in common.
    """
    # By default prompts: pairs if the frames share prompts, else clusters.
    flat_frames = [flatten_index(frame) for frame in (current_frame, baseline_frame)]
    cluster_column = pair_by or cluster
    for frame in flat_frames:
        check_columns(frame, [cluster_column] if cluster_column else [])
    if (
        cluster_column
        or prompt_column in by
        or not all(prompt_column in frame.columns for frame in flat_frames)
    ):
        return pair_by, cluster
    prompt_sets = [
        {*row_clusters(frame, prompt_column, prompt_column).dropna()} for frame in flat_frames
    ]
    return (prompt_column, None) if prompt_sets[0] & prompt_sets[1] else (None, prompt_column)


def overlap_reason(current_frame: pd.DataFrame, baseline_frame: pd.DataFrame, measure: str) -> str:
    """Return "" unless two frames contain the same answers, else why they cannot be compared."""
    metadata_of_frames = [
        metadata_of(frame, with_index_levels=True) for frame in (current_frame, baseline_frame)
    ]
    # Where all rows have the same denominator, as in a table of brands, they are different rates
    # of the same answers.
    denominator_declaration = metadata_of_frames[0].declaration_of(
        rule_and_columns(metadata_of_frames[0], measure)[1][-1]
    )
    has_common_total = (
        denominator_declaration is not UNDECLARED
        and denominator_declaration.aggregate.rule == "none"
    )
    scope_pairs = [
        (response_scope(source), response_scope(other_source))
        for source, other_source in product(*(metadata.sources for metadata in metadata_of_frames))
        if source.section == other_source.section
        and not response_scope(source).is_disjoint(response_scope(other_source))
    ]
    brand_filter_values = {
        scope.filters[[*FILTERS].index("brand")]
        for scope_pair in scope_pairs
        for scope in scope_pair
    }
    key_columns = [*metadata_of_frames[0].key]
    if scope_pairs and key_columns and [*metadata_of_frames[1].key] == key_columns:
        measure_key_columns = {*declared_key(metadata_of_frames[0].columns[measure].table)}
        # Where a filter chose the brand, rows of other brands are of the same answers.
        is_brand_filtered = (
            len(brand_filter_values) > 1
            and metadata_of_frames[0].declaration_of(measure) is not UNDECLARED
        )
        filter_columns = (
            {"brand", "filter_brand"} - measure_key_columns if is_brand_filtered else set()
        )
        ignored_columns = filter_columns | (measure_key_columns if has_common_total else set())
        key_columns = [name for name in key_columns if name not in ignored_columns]
        keys_of_frames = [
            flatten_index(frame)[key_columns].drop_duplicates()
            for frame in (current_frame, baseline_frame)
        ]
        scope_pairs = (
            scope_pairs
            if not key_columns or len(keys_of_frames[0].merge(keys_of_frames[1], on=key_columns))
            else []
        )
    if not scope_pairs:
        return ""
    scope, other_scope = scope_pairs[0]
    overlap_text = (
        f"both hold {other_scope}"
        if other_scope == scope
        else f"the windows overlap ({other_scope}, and {scope})"
    )
    remedy_text = "read windows that do not overlap, or compare one of them with 'previous'"
    is_same_window = scope.since == other_scope.since and scope.until == other_scope.until
    if is_same_window and (has_common_total or len(brand_filter_values) > 1):
        remedy_text = "compare aa.stats.answers of both, which are paired by prompt"
    return f"{overlap_text}: the same answers are on both sides; {remedy_text}"
