"""``df.aa.compare`` tests whether frames differ; ``df.aa.decompose`` splits a change."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound, unknown
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.groupby import By, flattened
from aatoolkit.metadata.attrs import UNDECLARED, FrameMetadata, Source, metadata_of
from aatoolkit.scope import FILTERS
from aatoolkit.sections.aggregation import FRACTION
from aatoolkit.stats.estimate import (
    CORRECTIONS,
    MIN_CLUSTERS,
    NAN,
    UNKNOWN_CHANGE,
    Change,
    Comparison,
    check_level,
    estimate_sample,
    judge,
    paired_change,
    paired_count_change,
    two_rate_change,
    two_sample_change,
    varies,
    verdict_of,
)
from aatoolkit.stats.results import (
    CANNOT_SAY,
    MEASURED,
    NO_EVIDENCE,
    TABLES,
    amount,
    points,
    result,
)
from aatoolkit.stats.sums import (
    PROMPT,
    SEVERAL,
    WINDOWS,
    ClusterSums,
    Rules,
    cluster_sums,
    grouping_columns,
    pairing,
    pairs_of_both,
    rule_of,
    window_before,
)
from aatoolkit.stats.trace import (
    column_values,
    count_of,
    name_variables,
    named,
    number,
    plain_value,
    quantile_of,
    setting,
    statistic,
    take,
    total_of,
    trace_frame,
    two_sided,
)

INDEPENDENT: tuple[Any, Any] = (1.0, math.inf)
"""The design effect of independent answers, and its degrees of freedom."""

_NO_COUNTS_REASON = "nothing says how it varies: the service gives no counts of it by prompt"


@dataclass(frozen=True, kw_only=True)
class ComparedRow(Comparison):
    """The comparison of one column in one group, from which a row of the result is made."""

    measure: str
    key: tuple[Any, ...]
    unit: str | None
    notes: tuple[str, ...] = ()  # appended to `why`


@statistic("compare", "now", "before")
def compare(
    now: pd.DataFrame,
    before: pd.DataFrame | None,
    columns: str | Sequence[str],
    by: By = None,
    *,
    pair: str | None = None,
    cluster: str | None = None,
    correct: str | None = "holm",
    level: float = LEVEL,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Compare columns with another frame or with the previous period; see ``df.aa.compare``."""
    check_level(level)
    if correct not in CORRECTIONS:
        raise ArgumentError(f"correct={correct!r} is none of {', '.join(map(repr, CORRECTIONS))}")
    if pair and cluster and pair != cluster:
        raise ArgumentError("give pair= or cluster=: prompts are paired, or they are not")
    measures = [columns] if isinstance(columns, str) else list(columns)
    keys = grouping_columns(by)
    frames = [flattened(frame) for frame in (now, before) if frame is not None]
    metadata = [*map(metadata_of, frames)]
    if not (keys or pair or cluster):
        unpooled = {_unpooled_key(metadata[0], measure) for measure in measures}
        keys = [*unpooled] if len(unpooled) == 1 and "" not in unpooled and len(now) > 1 else []
    candidates = ("host", *metadata[0].key, *FILTERS)
    sources = [side_metadata.sources for side_metadata in metadata]
    naming_column, names = name_sides(frames, sources, candidates, keys)
    rows = [
        row
        for measure in measures
        for row in compare_measure(now, before, measure, keys, pair, cluster, level, rules, names)
    ]
    return comparison_result(rows, keys, metadata, correct, level, names, naming_column)


def name_sides(
    frames: Sequence[Any],
    sources: Sequence[Iterable[Source]],
    candidates: Iterable[str],
    by: Sequence[str],
) -> tuple[str, tuple[str, str]]:
    """Return the first candidate that has one value on each of two sides, and the two values.

    For example ``("brand", ("A", "B"))``, if each frame is about one brand. The values name the
    sides in the result. ``sources`` are asked for what is no column. Columns in ``by`` are not
    considered.
    """
    reserved_names = {*by, *(name for name, *_ in TABLES["compare"])}
    source_fields = [
        [vars(source) | dict(parse_qsl(source.scope or "")) for source in side_sources]
        for side_sources in sources
    ]
    for name in candidates:
        name_sets = [
            {value for value in frame[name].dropna() if isinstance(value, str)}
            if name in frame
            else {fields.get(name) for fields in side_fields}
            for frame, side_fields in zip(frames, source_fields, strict=True)
        ]
        if [*map(len, name_sets)] == [1, 1] and name_sets[0] != name_sets[1]:
            (own_name,), (other_name,) = name_sets
            is_unreserved = not {name, own_name, other_name} & reserved_names
            if is_unreserved and isinstance(own_name, str) and isinstance(other_name, str):
                return name, (own_name, other_name)
    return "host", WINDOWS


def compare_measure(
    now: pd.DataFrame,
    before: pd.DataFrame | None,
    measure: str,
    by: Sequence[str],
    pair: str | None,
    cluster: str | None,
    level: float,
    rules: Rules | None,
    names: Sequence[str],
    effect_and_df: tuple[Any, Any] = INDEPENDENT,
    prompt_column: str = PROMPT,
) -> Iterator[ComparedRow]:
    """Yield the comparison of one column in each group, with unadjusted p-values.

    ``pair`` is the column of clusters (such as prompts) that are compared with themselves,
    ``cluster`` the column of clusters that are not. ``names`` are the names of the two frames.
    ``effect_and_df`` is a design effect with its degrees of freedom, for rates without clusters.
    ``prompt_column`` has the ids of prompts.
    """
    before, before_rules, refusal = window_before(now, before, measure, rules)
    pair, cluster = pairing(now, before, by, pair, cluster, prompt_column)
    cluster_of_sums, frames = pair or cluster, [now, before]
    try:
        sides = [
            cluster_sums(frame, measure, by, cluster_of_sums, rule, allow_counts=True)
            for frame, rule in zip(frames, (rules, before_rules), strict=True)
        ]
    except AvailabilityError as error:
        yield from _compare_rows(frames, measure, by, refusal, error)
        return
    unit, is_rate = sides[0].unit or sides[1].unit, all(side.is_rate for side in sides)
    for key in dict.fromkeys([*sides[0].keys, *sides[1].keys]):
        group_positions = [side.keys.get(key) for side in sides]
        limitation, notes = _limitations(sides, group_positions, names)
        row = ComparedRow(
            measure=measure, key=key, unit=unit, is_rate=is_rate, why=limitation, notes=notes
        )
        if None not in group_positions:
            change, method, reason, group_notes = _compare_group(
                sides, group_positions, pair, cluster, level, effect_and_df
            )
            reason = refusal or limitation or reason
            if is_rate and max(-change.low, change.high) > 1:
                # No rate changes by more than 100 points.
                low, high = np.maximum(change.low, -1.0), np.minimum(change.high, 1.0)
                change = named(replace(change, low=low, high=high))
            row = replace(
                row, change=change, method=method, why=reason, notes=(*group_notes, *notes)
            )
        yield row


def _unpooled_key(metadata: FrameMetadata, measure: str) -> str:
    """Return the key column whose values must stay separate, such as ``metric``; else ""."""
    if metadata.declaration_of(measure) is UNDECLARED:
        return ""
    rule = rule_of(metadata, measure)[0]
    is_keyed = len(metadata.key) == 1 and (rule.rule == "none" or rule.counts is not None)
    return metadata.key[0] if is_keyed else ""


def _compare_rows(
    frames: Sequence[pd.DataFrame],
    measure: str,
    by: Sequence[str],
    refusal: str,
    error: AvailabilityError,
) -> Iterator[ComparedRow]:
    """Yield the differences of single rows, without a test, for a column without counts.

    ``error`` says why the column has no counts; it is raised if a group has several rows.
    ``refusal`` is the reason why the frames cannot be compared, or "".
    """
    flat_frames = [trace_frame(flattened(frame), frame) for frame in frames]
    position_maps = []
    units: dict[Any, Any] = {}
    for flat in flat_frames:
        metadata = metadata_of(flat)
        keys = [*zip(*(flat[name] for name in by), strict=True)] if by else [()] * len(flat)
        if len({*keys}) < len(keys) or measure not in flat or metadata.has_lost_values(measure):
            raise error
        position_maps.append({key: i for i, key in enumerate(keys)})
        measure_units = row_units(flat, metadata, measure)
        if measure_units is None:
            measure_units = flat.get("unit", pd.Series([None] * len(flat)))
        unit_texts = measure_units.where(measure_units.notna(), "").astype(str)
        units = {**dict(zip(keys, unit_texts, strict=True)), **units}
    reason = (error.columns or {}).get(measure, "")
    for key, unit in units.items():
        after, before = (
            take(column_values(name, flat, measure, [positions[key]]), 0)
            if key in positions
            else NAN
            for name, flat, positions in zip(
                ("after", "before"), flat_frames, position_maps, strict=True
            )
        )
        yield ComparedRow(
            measure=measure,
            key=key,
            change=Change(after - before, after=after, before=before),
            unit=FRACTION if unit == "fraction" else unit or None,
            is_rate=unit in ("fraction", FRACTION),
            why=refusal or (reason if reason.startswith(SEVERAL) else _NO_COUNTS_REASON),
        )


# --- tests -------------------------------------------------------------------------


def _compare_group(
    sides: Sequence[ClusterSums],
    positions: Sequence[Any],
    pair: str | None,
    cluster: str | None,
    level: float,
    effect_and_df: tuple[Any, Any],
) -> tuple[Change, str, str, tuple[str, ...]]:
    """Compare one group; return its change, the method, why there is no verdict (or ""), and notes.

    ``sides`` are the counts of the two frames, ``positions`` the position of the group in each. The
    other arguments are as for `compare_measure`.
    """
    pairs = [side.pairs(group) for side, group in zip(sides, positions, strict=True)]
    notes: tuple[str, ...] = ()
    is_rate, is_by_day = all(side.is_rate for side in sides), False
    if pair:
        used_pairs = pairs_of_both(pairs)
        shared_count = len(used_pairs[0])
        entered_count, left_count = (len(side_pairs) - shared_count for side_pairs in pairs)
        if entered_count or left_count:
            notes = (
                f"the set of {pair} changed ({entered_count} entered, {left_count} left): "
                f"compared are the {shared_count} on both sides",
            )
        if not shared_count:
            return replace(UNKNOWN_CHANGE, clusters=0), "", f"no {pair} is on both sides", notes
    elif not all(pairs):
        return UNKNOWN_CHANGE, "", "no answers on one side or both", ()
    else:
        is_by_day = pd.api.types.is_datetime64_any_dtype(sides[0].labels.dtype)
        used_pairs = [
            [side_pairs[label] for label in (sorted(side_pairs) if is_by_day else side_pairs)]
            for side_pairs in pairs
        ]
        shared_count = min(map(len, used_pairs))
    confidence = setting("level", level)
    (y1, n1), (y0, n0) = (
        side.parts(side_pairs, suffix)
        for side, side_pairs, suffix in zip(sides, used_pairs, "10", strict=True)
    )
    is_count = sides[0].is_count
    if pair:
        method = f"paired by {pair}, linearised"
        if is_count:
            change = paired_count_change(y1, y0, confidence)
            method += f"; takes each {pair} for independent"
        else:
            change = paired_change(y1, n1, y0, n0, confidence, is_rate=is_rate)
        return change, method, _why_untested(change, shared_count, f"values of {pair}"), notes
    if is_count and not cluster:
        after, before = total_of(y1), total_of(y0)
        name_variables()
        return Change(after - before, after=after, before=before), "", _NO_COUNTS_REASON, ()
    if is_rate and not cluster:
        change = two_rate_change(y1, n1, y0, n0, confidence, *effect_and_df)
        method = "Newcombe's interval and z test; takes answers for independent"
        if effect_and_df is not INDEPENDENT:
            method = (
                "Newcombe's interval and t test, with the design effect of the own mention rate "
                f"over prompts ({effect_and_df[0]:.3g})"
            )
        return change, method, "", ()
    after = estimate_sample(y1, n1, "after", is_by_day)
    before = estimate_sample(y0, n0, "before", is_by_day)
    if not cluster:  # each answer by itself
        after, before = (replace(side, df=side.size - 1, clusters=NAN) for side in (after, before))
    change = two_sample_change(after, before, confidence)
    if cluster:
        # Neighbouring days may be alike.
        label, note = ("days", ", long-run variance") if is_by_day else (cluster, "")
        method = f"two samples of {label}, linearised{note}, Welch"
        noun = label if is_by_day else f"values of {cluster}"
        return change, method, _why_untested(change, shared_count, noun), ()
    if sides[0].plan.rule.over or sides[0].plan.rule.by:  # no mean of single rows
        return change, "", "nothing says how it differs between answers; name what repeats", ()
    smaller_size = int(min(number(change.size_after), number(change.size_before)))
    method = "Welch's t; takes answers for independent"
    return change, method, _why_untested(change, smaller_size, "answers", 2), ()


def _why_untested(change: Change, count: int, name: str, min_count: int = MIN_CLUSTERS) -> str:
    """Return the reason why a change has no p-value; "" if it has one.

    ``count`` is the number of clusters (such as prompts) in the smaller frame, and ``name`` the
    word for them.
    """
    if count < min_count:
        return f"one side or both have only {count} {name}; it takes {min_count} to test a change"
    if not np.isfinite(change.error):
        return f"the numbers of {count} {name} are too large to compute an error"
    if np.isnan(change.df):
        return f"one of {count} {name} has most answers, and says too little of others"
    if not varies(change.error, max(abs(change.before), abs(change.after))):
        return f"{count} {name} all changed alike, and are too few to estimate an error"
    return ""


def _limitations(
    sides: Sequence[ClusterSums], positions: Sequence[int | None], names: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return why a group cannot be compared (or ""), and notes on partly measured frames.

    ``positions`` has the group's position in each of the two frames, or None. ``names`` are the
    names of the frames.
    """
    reason = ""
    names_by_state: dict[str, list[str]] = {}
    for side, position, name in zip(sides, positions, names, strict=True):
        if position is None or not side.used_rows[position]:
            reason = reason or f"{name}: {'no row' if position is None else side.states[position]}"
        elif side.states[position].status == Status.PARTIAL:
            names_by_state.setdefault(str(side.states[position]), []).append(name)
    return reason, tuple(
        f"{' and '.join(partial_names)}: {state}" for state, partial_names in names_by_state.items()
    )


# --- results -------------------------------------------------------------------------

_VERDICT_ORDER = {NO_EVIDENCE: 1, CANNOT_SAY: 2}


def comparison_result(
    rows: Sequence[ComparedRow],
    keys: Sequence[str],
    metadata: Sequence[FrameMetadata],
    correct: str | None,
    level: float,
    names: tuple[str, str],
    naming_column: str = "host",
) -> pd.DataFrame:
    """Return the result of comparisons as a frame, with adjusted p-values and verdicts.

    ``keys`` are the grouping columns, and ``correct`` is the method that adjusts p-values.
    ``names`` are the names of the two frames, and ``naming_column`` is the result column for them,
    such as ``host``.
    """
    are_windows = names == WINDOWS
    after_key, before_key, n_key = (
        ("after", "before", "n_before") if are_windows else (*names, "n_baseline")
    )
    judged_rows = []
    for row in rows:
        before, after = (
            amount(value, row.is_rate) for value in (row.change.before, row.change.after)
        )
        text = f"{before} to {after}" if are_windows else f"{names[0]} {after}, {names[1]} {before}"
        judged_rows.append(replace(row, text=text))
    judgements = judge(judged_rows, level, correct, "change" if are_windows else "difference")
    are_tested = [bool(np.isfinite(judgement["p"])) for judgement in judgements]
    are_planned = [row.is_planned for row in rows]
    family_text = f"one of a family of {sum(map(operator.gt, are_tested, are_planned))}"
    result_rows = []
    for row, judgement, is_tested in zip(rows, judgements, are_tested, strict=True):
        change = row.change
        cells = {"measure": row.measure, **dict(zip(keys, row.key, strict=True)), **judgement}
        cells |= {after_key: change.after, before_key: change.before, n_key: change.size_before}
        cells["why"] = "; ".join(dict.fromkeys([cells["why"], *row.notes]))
        cells["unit"] = row.unit
        if any(are_planned):
            text = "planned: it stands alone" if row.is_planned else family_text
            cells["family"] = text if is_tested else None
        if not are_windows:
            cells |= {naming_column: names[0], f"baseline_{naming_column}": names[1]}
        result_rows.append(cells)

    def sort_key(i: int) -> tuple[Any, ...]:
        row = result_rows[i]
        change_size = np.nan_to_num(abs(number(row["change"])))
        return not are_planned[i], _VERDICT_ORDER.get(plain_value(row["verdict"]), 0), -change_size

    order = sorted(range(len(rows)), key=sort_key) if any(are_planned) else None
    units, measures = {row.unit for row in rows}, {row.measure for row in rows}
    states = [
        column.availability
        for frame_metadata in metadata
        for name, column in frame_metadata.columns.items()
        if name in measures
    ]
    now_name, before_name = ("this frame", "the other frame") if are_windows else names
    return result(
        "compare",
        result_rows,
        metadata,
        combine(states) if states else MEASURED,
        key=("measure", *keys),
        unit=units.pop() if len(units) == 1 else None,
        level=level,
        order=order,
        kind=naming_column,
        side=after_key,
        baseline=before_key,
        n_baseline=n_key,
        now_name=now_name,
        before_name=before_name,
        how=f"{CORRECTIONS[correct]} method",
        less="The value after minus the one before."
        if are_windows
        else f"{now_name} minus {before_name}.",
    )


# --- decomposition ----------------------------------------------------------------------------


@statistic("decompose", "now", "before")
def decompose(
    now: pd.DataFrame,
    before: pd.DataFrame | None,
    column: str,
    by: str,
    *,
    level: float = LEVEL,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Decompose the change of a rate or mean; see ``df.aa.decompose``."""
    check_level(level)
    column_names = flattened(now).columns
    if by not in [*column_names]:
        problem = unknown("column", by, column_names)
        raise ItemNotFound(f"{problem}; name the one to decompose over by by=", key=by)
    before, before_rules, refusal = window_before(now, before, column, rules)
    sides = [
        cluster_sums(frame, column, None, by, rule)
        for frame, rule in ((now, rules), (before, before_rules))
    ]
    empty_sides = [name for side, name in zip(sides, WINDOWS, strict=True) if not side.n.sum() > 0]
    empty_reason = f"{empty_sides[0]}: nothing was measured" if empty_sides else ""
    reason = refusal or empty_reason
    pairs_on_both_sides = pairs_of_both([side.pairs(0) for side in sides])
    (y1, n1), (y0, n0), (all_y1, all_n1), (all_y0, all_n0) = (
        side.parts(pairs, suffix)
        for side, pairs, suffix in zip(
            sides * 2, [*pairs_on_both_sides, None, None], ("1", "0", "_all1", "_all0"), strict=True
        )
    )
    is_rate, error = all(side.is_rate for side in sides), NAN
    size1, size0 = total_of(all_n1), total_of(all_n0)
    total1, total0 = total_of(all_y1) / size1, total_of(all_y0) / size0
    middle, weight = (total1 + total0) / 2, (n1 / size1 + n0 / size0) / 2
    term = weight * (y1 / n1 - y0 / n0)
    rate, total = total_of(term), total1 - total0
    # What entered or left contributes its distance from the middle; the rest is the mix.
    entered, left = (
        (total_of(y) - total_of(common_y) - middle * (size - total_of(common_n))) / size
        for y, common_y, size, common_n in ((all_y1, y1, size1, n1), (all_y0, y0, size0, n0))
    )
    if is_rate:
        p1, p0 = (y1 + total1) / (n1 + 1), (y0 + total0) / (n0 + 1)
        square = weight**2 * (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)
        error = np.sqrt(total_of(square))
    effects = [rate, total - rate - entered + left, entered, 0 - left, total]
    name_variables()
    half_width = quantile_of(level) * error
    bounds_and_p = [rate - half_width, rate + half_width, two_sided(rate / error, math.inf)]
    low, high, p = ([NAN if reason else value, *[NAN] * 4] for value in bounds_and_p)
    effects = [NAN] * 5 if empty_reason else effects
    verdict = verdict_of(p[0], effects[0], level)
    k = count_of(n1)
    entered_count, left_count = count_of(all_n1) - k, count_of(all_n0) - k
    metadata = [side.metadata for side in sides]
    return result(
        "decompose",
        {
            "part": ("rate", "mix", "entered", "left", "total"),
            "effect": effects,
            "low": low,
            "high": high,
            "p": p,
            "n": size1 + size0,
            "clusters": [k, k, entered_count, left_count, k + entered_count + left_count],
            "verdict": [verdict, *["bookkeeping"] * 4],
            "why": [
                f"the {by} on both sides: {verdict}" + (f" ({reason})" if reason else ""),
                f"the same {by}, asked more or less often: what was asked, not what was answered",
                f"{entered_count:g} {by} were not there before",
                f"{left_count:g} {by} are no longer there",
                reason if empty_reason else f"{points(total, is_rate)} in all",
            ],
            "method": "Kitagawa 1955, centred; the rate effect with a z interval (strata)",
        },
        metadata,
        combine([side_metadata.columns[column].availability for side_metadata in metadata]),
        key=("part",),
        unit=sides[0].unit,
        level=level,
        column=column,
        by=by,
    )
