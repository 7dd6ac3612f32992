"""Numerators and denominators by group and cluster: of one frame, and of both sides of a change.

The window before is also what a frame's own columns say of it, such as ``previous_rank``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.lexicon import tokens, words
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import Plan, Wholes, plan
from aatoolkit.frame.duplicates import extent_of
from aatoolkit.frame.groupby import By, Groups, as_floats, find, flattened, group
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.sections.aggregation import FRACTION, NONE, Aggregation, ratio
from aatoolkit.sections.column import Column
from aatoolkit.stats.results import refusal
from aatoolkit.stats.trace import GroupSums, Integers, Numbers, leaf, trace_frame

Rules = Mapping[str, Aggregation | str]

PROMPT = "prompt_id"
WINDOWS = ("now", "before")
"""What the two sides are called, unless each is of a host of its own."""


@dataclass(frozen=True)
class ClusterSums:
    """The sums Σy and Σn of one column, a row for each group and cluster that has any.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame, with named index levels as columns.
    metadata : FrameMetadata
        Its metadata.
    groups : Groups
        The groups, and which of them each row of the frame is in.
    labels : pandas.Index
        The clusters, such as prompts.
    by_cluster : str or None
        The column of the clusters.
    group, cluster : array of int
        The group and the cluster of each pair.
    y, n : array of float
        Σy and Σn of each pair.
    is_rate : bool
        Whether every row counts ``y`` of ``n``.
    used : array of int
        The rows with a number, by group.
    states : list of Availability
        What is known of the column in each group.
    rows, pair : array of int
        The positions of the rows with a number, and the pair that each is in.
    plan : Plan
        The rule of the column, and the columns that it is computed from.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata
    groups: Groups
    labels: pd.Index
    by_cluster: str | None
    group: Integers
    cluster: Integers
    y: Numbers
    n: Numbers
    is_rate: bool
    used: Integers
    states: list[Availability]
    rows: Integers
    pair: Integers
    plan: Plan

    @property
    def column(self) -> Column | None:
        """The declaration of the column."""
        return declared(self.metadata.columns[self.plan.column])

    @property
    def unit(self) -> str | None:
        """The declared unit; a share of rows is a fraction."""
        unit = self.column.unit if self.column else None
        return unit or (FRACTION if self.is_rate else None)

    @property
    def is_count(self) -> bool:
        """Whether it adds up a count, of which Σn says nothing."""
        return self.plan.rule.rule == "sum"

    @property
    def of_rows(self) -> bool:
        """Whether it is a mean over rows, each with the weight 1."""
        return self.plan.rule.over is None and self.plan.rule.by is None

    @cached_property
    def keys(self) -> dict[tuple[Any, ...], int]:
        """The number of the group by key; missing parts of keys are equal."""
        rows = self.groups.keys.astype(object).where(self.groups.keys.notna(), None)
        return {tuple(row): at for at, row in enumerate(rows.itertuples(index=False, name=None))}

    def row(self, pair: int) -> dict[str, Any]:
        """What identifies a pair: its cluster, or without clusters its group."""
        if self.by_cluster:
            return {self.by_cluster: self.labels[self.cluster[pair]]}
        return self.group_row(self.group[pair])

    def group_row(self, group: int) -> dict[str, Any]:
        """What identifies a group."""
        return {str(name): value for name, value in self.groups.keys.iloc[group].items()}

    @property
    def many(self) -> GroupSums:
        """What adds up over the clusters of each group."""
        return GroupSums(self.group, len(self.groups), self.group_row)

    def pairs(self, group: int) -> dict[Any, int]:
        """The number of the pair of a group with each of its clusters."""
        # The pairs are in the order of their groups.
        start, end = np.searchsorted(self.group, [group, group + 1]).tolist()
        names = self.labels[self.cluster[start:end]].tolist()
        return dict(zip(names, range(start, end), strict=True))

    def of(self, pairs: Iterable[int] | None = None, end: str = "") -> tuple[Any, Any]:
        """Σy and Σn of some pairs, or of all; what is traced is named after the end."""
        chosen = np.arange(len(self.y)) if pairs is None else np.array([*pairs], np.int64)

        def of(values: Numbers, name: str, which: int) -> Any:
            part = values[chosen]
            return leaf(name, part, lambda it, at: it.total(self, name, int(chosen[at]), which))

        return of(self.y, f"y{end}", 0), of(self.n, f"n{end}", 1)


def common(pairs: Sequence[Mapping[Any, int]]) -> list[list[int]]:
    """Keep, of two sides' pairs by cluster, the clusters that both have."""
    return [[part[name] for name in pairs[0] if name in pairs[1]] for part in pairs]


def cluster_sums(
    frame: pd.DataFrame,
    column: str,
    by: By,
    cluster: str | None,
    rules: Rules | None = None,
    *,
    counts: bool = False,
) -> ClusterSums:
    """Add up a column by group and cluster; without a cluster each row is its own.

    With ``counts`` it may be a count: Σy is then that of a cluster in a group, or without a cluster
    of the group, and Σn is 1. What has a row without its count is left out, since its sum is not
    known.

    Raises
    ------
    AvailabilityError
        If there is no such column, it is no rate or mean, or the cluster of a row is missing.
    """
    flat = trace_frame(flattened(frame), frame)
    metadata = metadata_of(flat)
    find(flat, [column, *([cluster] if cluster else [])])
    groups, rules = group(flat, by, True), rules or {}
    is_flag = pd.api.types.is_bool_dtype(flat[column].dtype)
    # A share of what one answer can hold several of does not vary as a rate of answers does.
    of_column, parts = rule_of(metadata, column)
    is_apart = of_column.rule == "none"
    if is_apart and not of_column.within and all(parts) and (groups.sizes <= 1).all():
        rules = {column: ratio(*parts), **rules}
    (planned,) = plan(flat, metadata, groups, column, rules, shares=is_apart)
    rule, wholes = planned.rule, planned.wholes
    is_count = counts and rule.rule == "sum" and not (rule.counts and cluster is None)
    if rule.rule not in ("ratio", "mean") and not is_count:
        raise refusal(column, "interval", _not_pooled(rule, metadata, column))
    cells = cells_of_plan(planned, flat, metadata, groups)
    values = [as_floats(flat[part]) for part in planned.parts]
    y, n = values[0], values[1] if len(values) > 1 else np.ones(len(flat))
    if rule.over is None:
        y = y * n
    use, is_rate = cells.has_number & (n > 0) & np.isfinite(y), is_flag and not is_count
    if rule.over is not None:
        possible = (y >= 0) & (y <= n)
        is_rate = bool(possible[use].mean() >= 0.5) if use.any() else True
        # One impossible row of a proportion is that row's problem, not the frame's.
        use = use & possible if is_rate else use
    codes, labels = np.arange(len(flat)) * (not is_count), pd.Index(range(len(flat)))
    if cluster is not None:
        codes, names = pd.factorize(flat[cluster])
        labels = pd.Index(names)
        refuse_missing(cluster, (codes < 0) & use)
    kinds = max(len(labels), 1)
    pair = groups.ids * kinds + codes
    if is_count:
        use = use & ~np.isin(pair, pair[cells.applicable & ~use])
    if wholes is not None:
        use = use & (wholes.lacking == 0)[groups.ids]
    pairs, place = np.unique(pair[use], return_inverse=True)
    totals, sizes = (
        np.bincount(place, part[use], len(pairs)).astype(np.float64) for part in (y, n)
    )
    of_group, of_cluster = np.divmod(pairs, kinds)
    return ClusterSums(
        flat,
        metadata,
        groups,
        labels,
        cluster,
        of_group,
        of_cluster,
        totals,
        np.ones(len(pairs)) if is_count else sizes,
        is_rate,
        groups.count(use),
        _states(cells, groups, use, wholes),
        np.flatnonzero(use),
        place,
        planned,
    )


def refuse_missing(column: str, is_missing: Any) -> None:
    """Refuse rows that lack what they are grouped by.

    Raises
    ------
    AvailabilityError
        If there is one.
    """
    if lacking := int(is_missing.sum()):
        why = f"{lacking} rows with a value have no {column}; drop them, or name another column"
        raise AvailabilityError(
            f"the rows cannot be grouped by {column}: {why}", columns={column: why}
        )


def _states(cells: Any, groups: Groups, use: Any, wholes: Wholes | None) -> list[Availability]:
    """The availability of each group: partial where some of its rows have no number."""
    codes, states = groups.combined(cells)
    used, expected = groups.count(use), groups.count(cells.applicable)
    group_states = []
    for number, code in enumerate(codes.tolist()):
        state = states[code]
        if 0 < used[number] < expected[number]:
            state = replace(state, status=Status.PARTIAL)
        elif wholes is not None and wholes.lacking[number]:
            why = f"{wholes.lacking[number]} of {wholes.total[number]} responses have no row of it"
            state = Availability(Status.UNAVAILABLE, Cause.NO_ROW, why)
        elif not used[number] and state.status == Status.AVAILABLE:
            state = Availability(Status.UNAVAILABLE, state.cause, "no answers")
        group_states.append(state)
    return group_states


SEVERAL = "one answer can hold several of what it is a share of, so nothing says how it varies"


def without_counts(rule: Aggregation) -> str:
    """Return the reason why a column has no interval."""
    return f"its rule ({rule}) has no numerator and denominator"


def _not_pooled(rule: Aggregation, metadata: FrameMetadata, name: str) -> str:
    """Return the reason why the rows of a column cannot be pooled."""
    column = declared(metadata.columns[name])
    if column is None or column.aggregate.counts is None:
        return without_counts(rule)
    return f"{SEVERAL} between answers; df.aa.interval({column.name!r}) gives that of each row"


# --- both sides -------------------------------------------------------------------------------

_COUNTING = frozenset(("count", "number", "num", "total"))
_NOW = frozenset(("after", "now", "current"))


def stem_of(name: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a name means the window before, and its other words.

    Examples
    --------
    >>> stem_of("citations_previous"), stem_of("citation_count")
    ((True, ('citation',)), (False, ('citation',)))
    """
    before, parts = words("previous"), tokens(name)
    ignored = before | _COUNTING | _NOW
    return not before.isdisjoint(parts), tuple(
        part.removesuffix("s") for part in parts if part not in ignored
    )


def previous_names(frame: pd.DataFrame) -> dict[str, str]:
    """The columns that hold values of the window before, and the column that each is of.

    They are known by the words of their declared names, in any language of the lexicon.

    Examples
    --------
    >>> columns = ["citation_count", "citations_previous", "value", "previous", "previous_rank"]
    >>> previous_names(pd.DataFrame(columns=columns))
    {'citations_previous': 'citation_count', 'previous': 'value'}
    >>> previous_names(pd.DataFrame(columns=["before_mention_rate", "after_mention_rate"]))
    {'before_mention_rate': 'after_mention_rate'}
    """
    metadata = metadata_of(frame)
    names = {
        str(name): ((metadata.columns[name].of if name in metadata.columns else None) or str(name))
        .rpartition(".")[2]
        for name in frame.columns
    }  # fmt: skip
    stems = {name: stem_of(meaning) for name, meaning in names.items()}
    now = {stem: name for name, (is_before, stem) in stems.items() if not is_before}
    exact = {meaning: name for name, meaning in names.items()}
    pairs = {}
    for name, (is_before, stem) in stems.items():
        measure = now.get(stem or ("value",))
        other = exact.get(names[name].removeprefix("previous_"), name)
        measure = measure if other == name else other
        if is_before and measure is not None:
            pairs[name] = measure
    return pairs


def window_before(
    now: pd.DataFrame, before: pd.DataFrame | None, measure: str, rules: Rules | None
) -> tuple[pd.DataFrame, Rules | None, str]:
    """The other side of a comparison, its rules, and why the two cannot be compared."""
    if before is not None:
        return before, rules, overlapping(now, before)
    return *previous_window(now, measure, rules), ""


def previous_window(
    frame: pd.DataFrame, measure: str, rules: Rules | None = None
) -> tuple[pd.DataFrame, Rules]:
    """The rows of a frame as they were in the window before, and the rules of that window.

    It adds up as the columns do of which it is: a count and the same count of the window before may
    be declared with different rules, where the responses that the profile was drafted from proved
    more of one than of the other; and a rate may have its counts of before alone.

    Raises
    ------
    ItemNotFound
        If the response does not give the measure, nor its counts, for the window before.
    """
    flat = flattened(frame)
    find(flat, [measure])
    metadata, names = metadata_of(flat), previous_names(flat)
    rule, parts = rule_of(metadata, measure)
    own_rules = dict(rules or {})
    is_there = measure in names.values()
    if not is_there and not {*parts} <= {*names.values()} - {""}:
        also = f", or one of {', '.join(names.values())}" if names else ""
        raise ItemNotFound(
            f"nothing here says what {measure} was in the window before; compare with an earlier "
            f"window{also}",
            columns={f"previous_{measure}": "there is no such column"},
        )
    rest = [
        name
        for name in flat.columns
        if name not in names
        and name not in names.values()
        and (name in metadata.key or not pd.api.types.is_numeric_dtype(flat[name].dtype))
    ]
    window = rename(flat[[*rest, *names]], columns=names)
    if not is_there:
        of_window = metadata_of(window)
        window[measure] = window[parts[0]] / window[parts[1]]
        state = combine([of_window.columns[part].availability for part in parts])
        column = ColumnMetadata(metadata.columns[measure].of, state)
        window = attach(window, replace(of_window, columns={**of_window.columns, measure: column}))
        own_rules.setdefault(measure, ratio(*parts))
    elif rule.rule == "sum" and rule.counts is None:
        own_rules.setdefault(measure, rule)
    return trace_frame(window, frame, names={of: name for name, of in names.items()}), own_rules


def rule_of(metadata: FrameMetadata, measure: str) -> tuple[Aggregation, tuple[str, ...]]:
    """The declared rule of a column, and its counts' names in the frame, ``("",)`` without."""
    column, table = declared(metadata.columns[measure]), metadata.columns[measure].table
    rule = column.aggregate if column else NONE
    columns = {what.of: name for name, what in metadata.columns.items()}
    parts = tuple(columns.get(f"{table}.{part}", "") for part in rule.over or rule.counts or ())
    return rule, parts if parts and all(parts) else ("",)


def names_of(by: By) -> list[str]:
    """The columns that groups are named by.

    Raises
    ------
    ArgumentError
        If one is no name of a column.
    """
    columns = [by] if isinstance(by, str | pd.Grouper) else list(by or ())
    names = [name for name in columns if isinstance(name, str)]
    if len(names) < len(columns):
        raise ArgumentError("by= takes names of columns here; put bins into a column first")
    return names


def pairing(
    now: pd.DataFrame,
    before: pd.DataFrame,
    keys: Sequence[str],
    pair: str | None = None,
    cluster: str | None = None,
    by: str = PROMPT,
) -> tuple[str | None, str | None]:
    """Return the columns that pair and cluster rows: prompts, where both frames name them."""
    frames, stated = [flattened(frame) for frame in (now, before)], pair or cluster
    for frame in frames:
        find(frame, [stated] if stated else [])
    if stated or by in keys or not all(by in frame.columns for frame in frames):
        return pair, cluster
    hosts = [{source.host for source in metadata_of(frame).sources} - {None} for frame in frames]
    if all(hosts) and not hosts[0] & hosts[1]:
        return None, by  # an id names another prompt at another host
    shared = {*frames[0][by].dropna()} & {*frames[1][by].dropna()}
    return (by, None) if shared else (None, by)


def side_names(now: Iterable[FrameMetadata], before: Iterable[FrameMetadata]) -> tuple[str, str]:
    """Return what the sides are called: their hosts, if each has one of its own; else windows."""
    hosts, others = (
        {source.host for metadata in side for source in metadata.sources} for side in (now, before)
    )
    if len(hosts) == len(others) == 1 and hosts != others and None not in hosts | others:
        return str(hosts.pop()), str(others.pop())
    return WINDOWS


def overlapping(now: pd.DataFrame, before: pd.DataFrame) -> str:
    """Return why two frames cannot be compared: they share answers; nothing if they share none."""
    sides = [metadata_of(frame, levels=True) for frame in (now, before)]
    meeting = [
        (extent_of(source), extent_of(other))
        for source, other in product(*(side.sources for side in sides))
        if source.section == other.section and not extent_of(source).is_disjoint(extent_of(other))
    ]
    key = [*sides[0].key]
    if meeting and key and [*sides[1].key] == key:
        rows = [flattened(frame)[key].drop_duplicates() for frame in (now, before)]
        meeting = meeting if len(rows[0].merge(rows[1], on=key)) else []
    if not meeting:
        return ""
    now_asked, asked = meeting[0]
    reasons = f"the windows overlap ({asked}, and {now_asked})"
    reasons = f"both hold {asked}" if asked == now_asked else reasons
    return f"{reasons}: the same answers are on both sides; read windows that do not overlap"
