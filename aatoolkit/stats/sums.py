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
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import Plan, ResponseTotals, columns_of, plan
from aatoolkit.frame.duplicates import response_scope
from aatoolkit.frame.groupby import By, Groups, as_floats, check_columns, flattened, group, keys_of
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
from aatoolkit.stats.results import refusal
from aatoolkit.stats.trace import GroupSums, Integers, Numbers, Row, leaf, trace_frame

Rules = Mapping[str, Aggregation | str]

PROMPT = "prompt_id"
WINDOWS = ("now", "before")
"""The names of the two sides of a change, unless they are named by their hosts."""


@dataclass(frozen=True)
class ClusterSums:
    """The numerators and denominators of one column, summed by group and by cluster.

    A cluster is a set of similar rows, such as the answers to one prompt.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    labels: pd.Index  # of the clusters, such as prompt ids with their hosts
    cluster_column: str | None
    # The next four have an element per pair of group and cluster, in the order of the groups.
    group: Integers  # its position in `groups`
    cluster: Integers  # its position in `labels`
    y: Numbers
    n: Numbers
    is_rate: bool
    used_rows: Integers  # by group, the number of rows with a number
    states: list[Availability]  # by group
    rows: Integers  # the positions of the rows with a number
    pair: Integers  # for each of these rows, its position in `y` and `n`
    plan: Plan

    @property
    def column(self) -> Column:
        """The column's declaration, with dtype, unit and aggregation rule; None if it has none."""
        return self.metadata.declaration_of(self.plan.column)

    @property
    def unit(self) -> str | None:
        """The unit of the column."""
        return self.column.unit or (FRACTION if self.is_rate else None)

    @property
    def is_count(self) -> bool:
        """Whether the column is a count, which has no denominator."""
        return self.plan.rule.rule == "sum"

    @cached_property
    def keys(self) -> dict[tuple[Any, ...], int]:
        """A dict from the key of each group to its position."""
        rows = self.groups.keys.astype(object).where(self.groups.keys.notna(), None)
        return {
            tuple(row): position
            for position, row in enumerate(rows.itertuples(index=False, name=None))
        }

    def row(self, pair: int) -> Row:
        """Return the cluster at a position as a dict, such as ``{"prompt_id": "p1"}``.

        ``pair`` is the position in ``y`` and ``n``, which have an element per pair of group and
        cluster. Without clusters, the result is the key of the group.
        """
        if self.cluster_column:
            row = self.rows[np.argmax(self.pair == pair)]
            return {self.cluster_column: self.frame[self.cluster_column].iloc[row]}
        return self.group_row(self.group[pair])

    def group_row(self, group: int) -> Row:
        """Return the key of a group as a dict from column to value."""
        return {str(name): value for name, value in self.groups.keys.iloc[group].items()}

    @property
    def by_group(self) -> GroupSums:
        """An object whose methods sum numbers over the clusters, such as prompts, of each group."""
        return GroupSums(self.group, len(self.groups), self.group_row)

    def pairs(self, group: int) -> dict[Any, int]:
        """Return a dict from each cluster of a group to its position in ``y`` and ``n``.

        Clusters are given by their labels, such as prompt ids; ``group`` is the number of the
        group.
        """
        start, end = np.searchsorted(self.group, [group, group + 1]).tolist()
        labels = self.labels[self.cluster[start:end]].tolist()
        return dict(zip(labels, range(start, end), strict=True))

    def parts(self, pairs: Iterable[int] | None = None, suffix: str = "") -> tuple[Any, Any]:
        """Return the numerators and the denominators of clusters as two arrays of equal length.

        ``pairs`` are the positions of the clusters to take, by default all. ``suffix`` is added to
        the names ``y`` and ``n`` that the arrays have in formulas.
        """
        positions = np.arange(len(self.y)) if pairs is None else np.array([*pairs], np.int64)

        def traced_part(values: Numbers, name: str, is_denominator: bool) -> Any:
            return leaf(
                name,
                values[positions],
                lambda tracer, position: tracer.total(
                    self, name, int(positions[position]), is_denominator
                ),
            )

        return traced_part(self.y, f"y{suffix}", False), traced_part(self.n, f"n{suffix}", True)


def pairs_of_both(sides: Sequence[Mapping[Any, int]]) -> list[list[int]]:
    """Return two lists: the positions, in each frame, of the clusters that both frames have.

    Each of ``sides`` maps the clusters of one frame, such as prompts, to their positions.
    """
    return [[pairs[label] for label in sides[0] if label in sides[1]] for pairs in sides]


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
    flat_frame = trace_frame(flattened(frame), frame)
    metadata = metadata_of(flat_frame)
    check_columns(flat_frame, [column, *([cluster] if cluster else [])])
    groups, rules = group(flat_frame, by, True), rules or {}
    is_flag = pd.api.types.is_bool_dtype(flat_frame[column].dtype)
    # A share of what one answer can hold several of does not vary as a rate of answers does.
    declared_rule, parts = rule_of(metadata, column)
    is_uncombined = declared_rule.rule == "none"
    if is_uncombined and not declared_rule.within and all(parts) and (groups.sizes <= 1).all():
        rules = {column: ratio(*parts), **rules}
    (column_plan,) = plan(flat_frame, metadata, groups, column, rules, shares=is_uncombined)
    rule, response_totals = column_plan.rule, column_plan.response_totals
    is_count = allow_counts and rule.rule == "sum" and not (rule.counts and cluster is None)
    if rule.rule not in ("ratio", "mean") and not is_count:
        declaration, reason = metadata.declaration_of(column), without_counts(rule)
        if declaration.aggregate.counts:
            advice = f"df.aa.interval({declaration.name!r}) gives that of each row"
            reason = f"{SEVERAL} between answers; {advice}"
        raise refusal(column, "interval", reason)
    cells = cells_of_plan(column_plan, flat_frame, metadata, groups)
    values = [as_floats(flat_frame[part]) for part in column_plan.parts]
    y, n = values[0], values[1] if len(values) > 1 else np.ones(len(flat_frame))
    if rule.over is None:
        y = y * n
    is_used, is_rate = cells.has_number & (n > 0) & np.isfinite(y), is_flag and not is_count
    if rule.over is not None:
        is_possible = (y >= 0) & (y <= n)
        is_rate = bool(is_possible[is_used].mean() >= 0.5) if is_used.any() else True
        # A row with more hits than trials is left out; the other rows are still those of a rate.
        is_used = is_used & is_possible if is_rate else is_used
    codes, labels = np.arange(len(flat_frame)) * (not is_count), pd.Index(range(len(flat_frame)))
    if cluster is not None:
        codes, cluster_names = pd.factorize(clusters_of(flat_frame, cluster))
        labels = pd.Index(cluster_names)
        refuse_missing(cluster, (codes < 0) & is_used)
    cluster_count = max(len(labels), 1)
    pair_ids = groups.ids * cluster_count + codes
    if is_count:  # a sum is left out if the count of one of its rows is missing
        is_used = is_used & ~np.isin(pair_ids, pair_ids[cells.applicable & ~is_used])
    if response_totals is not None:
        is_used = is_used & (response_totals.lacking_count == 0)[groups.ids]
    used_ids, positions = np.unique(pair_ids[is_used], return_inverse=True)
    numerators, denominators = (
        np.bincount(positions, part[is_used], len(used_ids)).astype(np.float64) for part in (y, n)
    )
    group_of_pair, cluster_of_pair = np.divmod(used_ids, cluster_count)
    return ClusterSums(
        flat_frame,
        metadata,
        groups,
        labels,
        cluster,
        group_of_pair,
        cluster_of_pair,
        numerators,
        np.ones(len(used_ids)) if is_count else denominators,
        is_rate,
        groups.count(is_used),
        _group_states(cells, groups, is_used, response_totals),
        np.flatnonzero(is_used),
        positions,
        column_plan,
    )


def clusters_of(frame: pd.DataFrame, column: str, prompt: str = PROMPT) -> pd.Series:
    """Return a column of clusters. Ids of prompts, which are per host, get the host of their row.

    ``prompt`` is the column with the ids of prompts. Without a column ``host``, the host is that of
    the responses; rows of several hosts then have no prompt in common with another frame.

    Examples
    --------
    >>> frame = pd.DataFrame({"host": ["a.example", "b.example"], "prompt_id": ["p1", "p1"]})
    >>> clusters_of(frame, "prompt_id").tolist()
    ['a.example p1', 'b.example p1']
    """
    if column != prompt:
        return frame[column]
    hosts: Any = {source.host or "" for source in metadata_of(frame).sources}
    hosts = hosts.pop() if len(hosts) == 1 else str(id(frame)) if hosts else ""
    if host_column(frame):
        hosts = frame["host"].astype("string").fillna("")
    clusters: pd.Series = hosts + " " + frame[column].astype("string")
    return clusters.str.lstrip()


def host_column(frame: pd.DataFrame) -> list[str]:
    """Return ``["host"]`` if a frame has a column with the host of each row's response; else []."""
    has_host = "host" in frame.columns and not metadata_of(frame).columns["host"].declared_name
    return ["host"] if has_host else []


def refuse_missing(column: str, is_missing: Any) -> None:
    """Raise `AvailabilityError` if a row with a number has no value in ``column``.

    ``is_missing`` is a boolean mask of such rows.
    """
    if count := int(is_missing.sum()):
        reason = f"{count} rows with a value have no {column}; drop them, or name another column"
        raise AvailabilityError(
            f"the rows cannot be grouped by {column}: {reason}", columns={column: reason}
        )


def _group_states(
    cells: Any, groups: Groups, is_used: Any, totals: ResponseTotals | None
) -> list[Availability]:
    """Return the availability of each group: a status that says whether its numbers were measured.

    ``is_used`` is a boolean mask of the rows with a number.
    """
    state_codes, states = groups.combined(cells)
    used_rows, expected_rows = groups.count(is_used), groups.count(cells.applicable)
    group_states = []
    for i, code in enumerate(state_codes.tolist()):
        state = states[code]
        if 0 < used_rows[i] < expected_rows[i]:
            state = replace(state, status=Status.PARTIAL)
        elif totals is not None and totals.lacking_count[i]:
            reason = f"{totals.lacking_count[i]} of {totals.count[i]} responses have no row of it"
            state = Availability(Status.UNAVAILABLE, Cause.NO_ROW, reason)
        elif not used_rows[i] and state.status == Status.AVAILABLE:
            state = Availability(Status.UNAVAILABLE, state.cause, "no answers")
        group_states.append(state)
    return group_states


SEVERAL = "one answer can hold several of what it is a share of, so nothing says how it varies"


def without_counts(rule: Aggregation) -> str:
    """Return an error message: an aggregation rule, such as a sum, has no numerator."""
    return f"its rule ({rule}) has no numerator and denominator"


# --- both sides -------------------------------------------------------------------------------

_IGNORED_WORDS = frozenset(("count", "number", "num", "total", "after", "now", "current"))


def stem_of(name: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a column name is about the previous period, and the main words of the name.

    Examples
    --------
    >>> stem_of("citations_previous"), stem_of("citation_count")
    ((True, ('citation',)), (False, ('citation',)))
    """
    previous_words, name_words = words_of("previous"), tokens(name)
    ignored_words = previous_words | _IGNORED_WORDS
    return not previous_words.isdisjoint(name_words), tuple(
        word.removesuffix("s") for word in name_words if word not in ignored_words
    )


def previous_names(frame: pd.DataFrame) -> dict[str, str]:
    """Return a dict from each column about the previous period to its current counterpart.

    Examples
    --------
    >>> columns = ["citation_count", "citations_previous", "value", "previous", "previous_rank"]
    >>> previous_names(pd.DataFrame(columns=columns))
    {'citations_previous': 'citation_count', 'previous': 'value'}
    >>> previous_names(pd.DataFrame(columns=["before_mention_rate", "after_mention_rate"]))
    {'before_mention_rate': 'after_mention_rate'}
    """
    columns = metadata_of(frame).columns
    meanings = {
        name: (columns[name].declared_name or name).rpartition(".")[2]
        for name in map(str, frame.columns)
    }
    stems = {name: stem_of(meaning) for name, meaning in meanings.items()}
    names_by_stem = {stem: name for name, (is_previous, stem) in stems.items() if not is_previous}
    names_by_meaning = {meaning: name for name, meaning in meanings.items()}
    now_names = {}
    for name, (is_previous, stem) in stems.items():
        measure = names_by_stem.get(stem or ("value",))
        same_name_column = names_by_meaning.get(meanings[name].removeprefix("previous_"), name)
        measure = measure if same_name_column == name else same_name_column
        if is_previous and measure is not None:
            now_names[name] = measure
    return now_names


def window_before(
    now: pd.DataFrame, before: pd.DataFrame | None, measure: str, rules: Rules | None
) -> tuple[pd.DataFrame, Rules | None, str]:
    """Return the frame to compare ``now`` with, its rules, and why they cannot be compared, or "".

    If ``before`` is None, this frame is made of the columns of ``now`` that are about the previous
    period, such as ``previous_rank``. The rules are aggregation rules by column.
    """
    flat_frame = flattened(now)
    check_columns(flat_frame, [measure])
    if before is not None:
        return before, rules, why_overlapping(now, before, measure)
    metadata, now_names = metadata_of(flat_frame), previous_names(flat_frame)
    rule, count_columns = rule_of(metadata, measure)
    window_rules = dict(rules or {})
    has_measure = measure in now_names.values()
    if not has_measure and not {*count_columns} <= {*now_names.values()} - {""}:
        alternatives = f", or one of {', '.join(now_names.values())}" if now_names else ""
        raise ItemNotFound(
            f"nothing here says what {measure} was in the window before; compare with an earlier "
            f"window{alternatives}",
            columns={f"previous_{measure}": "there is no such column"},
        )
    kept_names = [
        name
        for name in flat_frame.columns
        if name not in now_names
        and name not in now_names.values()
        and (name in metadata.key or not pd.api.types.is_numeric_dtype(flat_frame[name].dtype))
    ]
    window = rename(flat_frame[[*kept_names, *now_names]], columns=now_names)
    if not has_measure:
        metadata_before = metadata_of(window)
        window[measure] = window[count_columns[0]] / window[count_columns[1]]
        state = combine([metadata_before.columns[name].availability for name in count_columns])
        column = ColumnMetadata(metadata.columns[measure].declared_name, state)
        window = attach(
            window, replace(metadata_before, columns={**metadata_before.columns, measure: column})
        )
        window_rules.setdefault(measure, ratio(*count_columns))
    elif rule.rule == "sum" and rule.counts is None:
        window_rules.setdefault(measure, rule)
    old_names = {measure_name: name for name, measure_name in now_names.items()}
    return trace_frame(window, now, names=old_names), window_rules, ""


def rule_of(metadata: FrameMetadata, measure: str) -> tuple[Aggregation, tuple[str, ...]]:
    """Return a column's aggregation rule, and the columns of its numerator and denominator.

    The second result is ``("",)`` if the frame lacks one of these columns.
    """
    rule, table = metadata.declaration_of(measure).aggregate, metadata.columns[measure].table
    names = columns_of(metadata, table)
    count_columns = tuple(
        names.get(count_name, [""])[-1] for count_name in rule.over or rule.counts or ()
    )
    return rule, count_columns if count_columns and all(count_columns) else ("",)


def grouping_columns(by: By) -> list[str]:
    """Return ``by`` as a list of column names."""
    groupers = keys_of(by)
    names = [name for name in groupers if isinstance(name, str)]
    if len(names) < len(groupers):
        raise ArgumentError("by= takes names of columns here; put bins into a column first")
    return names


def pairing(
    now: pd.DataFrame,
    before: pd.DataFrame,
    by: Sequence[str],
    pair: str | None,
    cluster: str | None,
    prompt: str,
) -> tuple[str | None, str | None]:
    """Return the column of paired clusters and the column of unpaired ones; at least one is None.

    A cluster is a set of similar rows, such as the answers to one prompt. ``pair`` and ``cluster``
    are the user's arguments. By default, the prompts in the column ``prompt`` are paired if both
    frames have some in common.
    """
    # By default prompts: pairs if the frames share prompts, else clusters.
    frames, column = [flattened(frame) for frame in (now, before)], pair or cluster
    for frame in frames:
        check_columns(frame, [column] if column else [])
    if column or prompt in by or not all(prompt in frame.columns for frame in frames):
        return pair, cluster
    prompts = [{*clusters_of(frame, prompt, prompt).dropna()} for frame in frames]
    return (prompt, None) if prompts[0] & prompts[1] else (None, prompt)


def why_overlapping(now: pd.DataFrame, before: pd.DataFrame, measure: str) -> str:
    """Return a text that two frames contain the same answers, and which; "" if they do not."""
    sides = [metadata_of(frame, with_levels=True) for frame in (now, before)]
    # Where all rows have the same denominator, as in a table of brands, they are different rates
    # of the same answers.
    denominator = sides[0].declaration_of(rule_of(sides[0], measure)[1][-1])
    is_same_in_rows = denominator is not UNDECLARED and denominator.aggregate.rule == "none"
    overlaps = [
        (response_scope(source), response_scope(other_source))
        for source, other_source in product(*(side.sources for side in sides))
        if source.section == other_source.section
        and not response_scope(source).is_disjoint(response_scope(other_source))
    ]
    brand_filters = {side.filters[[*FILTERS].index("brand")] for pair in overlaps for side in pair}
    key = [*sides[0].key]
    if overlaps and key and [*sides[1].key] == key:
        table_key = {*declared_key(sides[0].columns[measure].table)}
        # Where a filter chose the brand, rows of other brands are of the same answers.
        is_brand_filtered = (
            len(brand_filters) > 1 and sides[0].declaration_of(measure) is not UNDECLARED
        )
        filter_keys = {"brand", "filter_brand"} - table_key if is_brand_filtered else set()
        skipped_keys = filter_keys | (table_key if is_same_in_rows else set())
        key = [name for name in key if name not in skipped_keys]
        key_rows = [flattened(frame)[key].drop_duplicates() for frame in (now, before)]
        overlaps = overlaps if not key or len(key_rows[0].merge(key_rows[1], on=key)) else []
    if not overlaps:
        return ""
    scope, other_scope = overlaps[0]
    reason = (
        f"both hold {other_scope}"
        if other_scope == scope
        else f"the windows overlap ({other_scope}, and {scope})"
    )
    remedy = "read windows that do not overlap, or compare one of them with 'previous'"
    is_same_window = scope.start == other_scope.start and scope.end == other_scope.end
    if is_same_window and (is_same_in_rows or len(brand_filters) > 1):
        remedy = "compare aa.stats.answers of both, which are paired by prompt"
    return f"{reason}: the same answers are on both sides; {remedy}"
