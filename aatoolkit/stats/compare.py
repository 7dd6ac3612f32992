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
from aatoolkit.errors import ArgumentError, AvailabilityError, item_not_found
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.groupby import By, flatten_index
from aatoolkit.metadata.attrs import UNDECLARED, FrameMetadata, Source, metadata_of
from aatoolkit.scope import FILTERS
from aatoolkit.sections.aggregation import FRACTION, as_rule
from aatoolkit.stats.estimate import (
    METHOD_NAME_BY_CORRECTION,
    MIN_CLUSTERS,
    NAN,
    UNKNOWN_CHANGE,
    Change,
    Comparison,
    check_level,
    estimate_sample,
    has_variation,
    judge_comparisons,
    paired_change,
    paired_count_change,
    two_rate_change,
    two_sample_change,
    verdict_of,
)
from aatoolkit.stats.results import (
    CANNOT_SAY,
    MEASURED_AVAILABILITY,
    NO_EVIDENCE,
    RESULT_COLUMNS_BY_STATISTIC,
    format_amount,
    format_points,
    make_result,
)
from aatoolkit.stats.sums import (
    PROMPT_COLUMN,
    SHARE_REASON,
    WINDOW_NAMES,
    ClusterSums,
    Rules,
    choose_cluster_columns,
    cluster_sums,
    grouping_columns,
    resolve_baseline_frame,
    rule_and_columns,
    shared_cluster_positions,
)
from aatoolkit.stats.trace import (
    as_float,
    column_values,
    confidence_quantile,
    count_of,
    name_traced_fields,
    name_traced_variables,
    record_statistic,
    take,
    total_of,
    trace_copy,
    trace_setting,
    two_sided,
    untrace,
)

INDEPENDENT_DESIGN_EFFECT: tuple[Any, Any] = (1.0, math.inf)
"""The design effect of independent answers, and its degrees of freedom."""

_NO_COUNTS_REASON = "nothing says how it varies: the service gives no counts of it by prompt"


@dataclass(frozen=True, kw_only=True)
class ComparedRow(Comparison):
    """The comparison of one column in one group, from which a row of the result is made."""

    measure: str  # the compared column
    key: tuple[Any, ...]  # the values that identify the group
    unit: str | None
    notes: tuple[str, ...] = ()  # appended to `why`


@record_statistic("compare", "now", "before")
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
    if correct not in METHOD_NAME_BY_CORRECTION:
        raise ArgumentError(
            f"correct={correct!r} is none of {', '.join(map(repr, METHOD_NAME_BY_CORRECTION))}"
        )
    if pair and cluster and pair != cluster:
        raise ArgumentError("give pair= or cluster=: prompts are paired, or they are not")
    measures = [columns] if isinstance(columns, str) else list(columns)
    key_columns = grouping_columns(by)
    flat_frames = [flatten_index(frame) for frame in (now, before) if frame is not None]
    metadata_of_frames = [*map(metadata_of, flat_frames)]
    if not (key_columns or pair or cluster):
        unpooled_key_columns = {
            _find_unpooled_key(metadata_of_frames[0], measure) for measure in measures
        }
        if len(unpooled_key_columns) == 1 and "" not in unpooled_key_columns and len(now) > 1:
            key_columns = [*unpooled_key_columns]
    naming_candidates = ("host", *metadata_of_frames[0].key, *FILTERS)
    sources_of_frames = [metadata.sources for metadata in metadata_of_frames]
    naming_column, frame_names = name_frames(
        flat_frames, sources_of_frames, naming_candidates, key_columns
    )
    compared_rows = [
        compared_row
        for measure in measures
        for compared_row in compare_measure(
            now, before, measure, key_columns, pair, cluster, level, rules, frame_names
        )
    ]
    return comparison_result(
        compared_rows, key_columns, metadata_of_frames, correct, level, frame_names, naming_column
    )


def name_frames(
    frames: Sequence[Any],
    sources_of_frames: Sequence[Iterable[Source]],
    candidate_columns: Iterable[str],
    by: Sequence[str],
) -> tuple[str, tuple[str, str]]:
    """Find names for two frames: a column with one value in each frame, and these two values.

    For example, the result is ``("brand", ("A", "B"))`` if each frame is about one brand. It is the
    first of ``candidate_columns`` that fits and is not in ``by``. A candidate that is no column of
    a frame is looked up in ``sources_of_frames``, the requests that each frame was read by. If none
    fits, the result is ``("host", ("now", "before"))``.
    """
    reserved_names = {*by, *(column for column, *_ in RESULT_COLUMNS_BY_STATISTIC["compare"])}
    source_fields_of_frames = [
        [vars(source) | dict(parse_qsl(source.scope or "")) for source in sources]
        for sources in sources_of_frames
    ]
    for column in candidate_columns:
        distinct_value_sets = [
            {value for value in frame[column].dropna() if isinstance(value, str)}
            if column in frame
            else {
                source_fields_by_name.get(column) for source_fields_by_name in frame_source_fields
            }
            for frame, frame_source_fields in zip(frames, source_fields_of_frames, strict=True)
        ]
        if [*map(len, distinct_value_sets)] == [1, 1] and distinct_value_sets[
            0
        ] != distinct_value_sets[1]:
            (current_name,), (baseline_name,) = distinct_value_sets
            has_unreserved_names = not {column, current_name, baseline_name} & reserved_names
            if (
                has_unreserved_names
                and isinstance(current_name, str)
                and isinstance(baseline_name, str)
            ):
                return column, (current_name, baseline_name)
    return "host", WINDOW_NAMES


def compare_measure(
    current_frame: pd.DataFrame,
    baseline_frame: pd.DataFrame | None,
    measure: str,
    by: Sequence[str],
    pair_by: str | None,
    cluster: str | None,
    confidence_level: float,
    rules: Rules | None,
    frame_names: Sequence[str],
    design_effect: tuple[Any, Any] = INDEPENDENT_DESIGN_EFFECT,
    prompt_column: str = PROMPT_COLUMN,
) -> Iterator[ComparedRow]:
    """Yield the comparison of one column in each group, with unadjusted p-values.

    ``pair_by`` is the column of clusters (such as prompts) that are compared with themselves,
    ``cluster`` the column of clusters that are not. ``frame_names`` are the names of the two
    frames. ``design_effect`` is a design effect with its degrees of freedom, for rates without
    clusters. ``prompt_column`` has the ids of prompts.
    """
    baseline_frame, baseline_rules, refusal_reason = resolve_baseline_frame(
        current_frame, baseline_frame, measure, rules
    )
    pair_by, cluster = choose_cluster_columns(
        current_frame, baseline_frame, by, pair_by, cluster, prompt_column
    )
    rule = as_rule(
        (rules or {}).get(measure, metadata_of(current_frame).declaration_of(measure).aggregate)
    )
    if not (pair_by or cluster) and rule.rule != "sum":
        cluster = _find_day_key(current_frame, baseline_frame, by)
    summed_cluster_column = pair_by or cluster
    frames = [current_frame, baseline_frame]
    try:
        sums_of_frames = [
            cluster_sums(frame, measure, by, summed_cluster_column, frame_rules, allow_counts=True)
            for frame, frame_rules in zip(frames, (rules, baseline_rules), strict=True)
        ]
    except AvailabilityError as error:
        yield from _iterate_untested_differences(frames, measure, by, refusal_reason, error)
        return
    unit = sums_of_frames[0].unit or sums_of_frames[1].unit
    is_rate = all(sums.is_rate for sums in sums_of_frames)
    for group_key in dict.fromkeys(
        [*sums_of_frames[0].position_by_key, *sums_of_frames[1].position_by_key]
    ):
        group_positions = [sums.position_by_key.get(group_key) for sums in sums_of_frames]
        limitation_text, notes = _limitation_text_and_notes(
            sums_of_frames, group_positions, frame_names
        )
        compared_row = ComparedRow(
            measure=measure,
            key=group_key,
            unit=unit,
            is_rate=is_rate,
            untested_reason=limitation_text,
            notes=notes,
        )
        if None not in group_positions:
            change, method, untested_reason, group_notes = _compare_group(
                sums_of_frames, group_positions, pair_by, cluster, confidence_level, design_effect
            )
            untested_reason = refusal_reason or limitation_text or untested_reason
            if is_rate and max(-change.low, change.high) > 1:
                # No rate changes by more than 100 points.
                low = np.maximum(change.low, -1.0)
                high = np.minimum(change.high, 1.0)
                change = name_traced_fields(replace(change, low=low, high=high))
            compared_row = replace(
                compared_row,
                change=change,
                method=method,
                untested_reason=untested_reason,
                notes=(*group_notes, *notes),
            )
        yield compared_row


def _find_day_key(
    current_frame: pd.DataFrame, baseline_frame: pd.DataFrame, by: Sequence[str]
) -> str | None:
    """Return the key column of days that a rate of two frames is clustered by; None without one."""
    current_flat_frame, baseline_flat_frame = map(flatten_index, (current_frame, baseline_frame))
    return next(
        (
            name
            for name in metadata_of(current_flat_frame).key
            if name in baseline_flat_frame
            and name not in by
            and pd.api.types.is_datetime64_any_dtype(current_flat_frame[name].dtype)
        ),
        None,
    )


def _find_unpooled_key(metadata: FrameMetadata, measure: str) -> str:
    """Return the key column by which rows must stay separate, such as ``metric``; "" if none."""
    if metadata.declaration_of(measure) is UNDECLARED:
        return ""
    rule = rule_and_columns(metadata, measure)[0]
    has_unpooled_key = len(metadata.key) == 1 and (rule.rule == "none" or rule.counts is not None)
    return metadata.key[0] if has_unpooled_key else ""


def _iterate_untested_differences(
    frames: Sequence[pd.DataFrame],
    measure: str,
    by: Sequence[str],
    refusal_reason: str,
    availability_error: AvailabilityError,
) -> Iterator[ComparedRow]:
    """Yield the difference of each group without a test, for a column without counts.

    Each group must be a single row of each frame; otherwise ``availability_error`` is raised, which
    says why the column has no counts. ``refusal_reason`` is the reason why the frames cannot be
    compared, or "".
    """
    flat_frames = [trace_copy(flatten_index(frame), frame) for frame in frames]
    position_by_key_of_frames = []
    unit_by_key: dict[Any, Any] = {}
    for frame in flat_frames:
        metadata = metadata_of(frame)
        row_keys = [*zip(*(frame[name] for name in by), strict=True)] if by else [()] * len(frame)
        if (
            len({*row_keys}) < len(row_keys)
            or measure not in frame
            or metadata.has_lost_values(measure)
        ):
            raise availability_error
        position_by_key_of_frames.append({key: position for position, key in enumerate(row_keys)})
        unit_of_row = row_units(frame, metadata, measure)
        if unit_of_row is None:
            unit_of_row = frame.get("unit", pd.Series([None] * len(frame)))
        unit_text_of_row = unit_of_row.where(unit_of_row.notna(), "").astype(str)
        unit_by_key = {**dict(zip(row_keys, unit_text_of_row, strict=True)), **unit_by_key}
    no_counts_reason = (availability_error.columns or {}).get(measure, "")
    for key, unit in unit_by_key.items():
        value_after, value_before = (
            take(column_values(name, frame, measure, [position_by_key[key]]), 0)
            if key in position_by_key
            else NAN
            for name, frame, position_by_key in zip(
                ("after", "before"), flat_frames, position_by_key_of_frames, strict=True
            )
        )
        yield ComparedRow(
            measure=measure,
            key=key,
            change=Change(
                value_after - value_before, value_after=value_after, value_before=value_before
            ),
            unit=FRACTION if unit == "fraction" else unit or None,
            is_rate=unit in ("fraction", FRACTION),
            untested_reason=refusal_reason
            or (
                no_counts_reason if no_counts_reason.startswith(SHARE_REASON) else _NO_COUNTS_REASON
            ),
        )


# --- tests -------------------------------------------------------------------------


def _compare_group(
    sums_of_frames: Sequence[ClusterSums],
    group_positions: Sequence[Any],
    pair_by: str | None,
    cluster: str | None,
    confidence_level: float,
    design_effect: tuple[Any, Any],
) -> tuple[Change, str, str, tuple[str, ...]]:
    """Compare one group of rows between both frames.

    Return the change, the method, the reason why there is no verdict (or ""), and notes.
    ``sums_of_frames`` has the counts of both frames, and ``group_positions`` the position of the
    group in each of the two. The other arguments are as for `compare_measure`.
    """
    position_by_cluster_of_frames = [
        sums.position_by_cluster(group_position)
        for sums, group_position in zip(sums_of_frames, group_positions, strict=True)
    ]
    notes: tuple[str, ...] = ()
    is_rate = all(sums.is_rate for sums in sums_of_frames)
    is_time_series = False
    if pair_by:
        used_sum_positions = shared_cluster_positions(position_by_cluster_of_frames)
        cluster_count = len(used_sum_positions[0])
        added_count, removed_count = (
            len(position_by_cluster) - cluster_count
            for position_by_cluster in position_by_cluster_of_frames
        )
        if added_count or removed_count:
            notes = (
                f"the set of {pair_by} changed ({added_count} entered, {removed_count} left): "
                f"compared are the {cluster_count} on both sides",
            )
        if not cluster_count:
            return replace(UNKNOWN_CHANGE, clusters=0), "", f"no {pair_by} is on both sides", notes
    elif not all(position_by_cluster_of_frames):
        return UNKNOWN_CHANGE, "", "no answers on one side or both", ()
    else:
        is_time_series = pd.api.types.is_datetime64_any_dtype(
            sums_of_frames[0].cluster_labels.dtype
        )
        used_sum_positions = [
            [
                position_by_cluster[cluster_label]
                for cluster_label in (
                    sorted(position_by_cluster) if is_time_series else position_by_cluster
                )
            ]
            for position_by_cluster in position_by_cluster_of_frames
        ]
        cluster_count = min(map(len, used_sum_positions))
    traced_level = trace_setting("level", confidence_level)
    (y1, n1), (y0, n0) = (
        sums.y_and_n(sum_positions, suffix)
        for sums, sum_positions, suffix in zip(
            sums_of_frames, used_sum_positions, "10", strict=True
        )
    )
    is_count = sums_of_frames[0].is_count
    if pair_by:
        method = f"paired by {pair_by}, linearised"
        if is_count:
            change = paired_count_change(y1, y0, traced_level)
            method += f"; takes each {pair_by} for independent"
        else:
            change = paired_change(y1, n1, y0, n0, traced_level, is_rate=is_rate)
        return change, method, _no_test_reason(change, cluster_count, f"values of {pair_by}"), notes
    if is_count and not cluster:
        after = total_of(y1)
        before = total_of(y0)
        name_traced_variables()
        return (
            Change(after - before, value_after=after, value_before=before),
            "",
            _NO_COUNTS_REASON,
            (),
        )
    if is_rate and not cluster:
        change = two_rate_change(y1, n1, y0, n0, traced_level, *design_effect)
        method = "Newcombe's interval and z test; takes answers for independent"
        if design_effect is not INDEPENDENT_DESIGN_EFFECT:
            method = (
                "Newcombe's interval and t test, with the design effect of the own mention rate "
                f"over prompts ({design_effect[0]:.3g})"
            )
        return change, method, "", ()
    sample_after = estimate_sample(y1, n1, "after", is_time_series)
    sample_before = estimate_sample(y0, n0, "before", is_time_series)
    if not cluster:  # each answer by itself
        sample_after, sample_before = (
            replace(sample, df=sample.size - 1, clusters=NAN)
            for sample in (sample_after, sample_before)
        )
    change = two_sample_change(sample_after, sample_before, traced_level)
    if cluster:
        # Neighbouring days may be alike.
        method_note = ", long-run variance" if is_time_series else ""
        method = f"two samples of {cluster}, linearised{method_note}, Welch"
        return change, method, _no_test_reason(change, cluster_count, f"values of {cluster}"), ()
    if sums_of_frames[0].plan.rule.over or sums_of_frames[0].plan.rule.by:  # no mean of single rows
        return change, "", "nothing says how it differs between answers; name what repeats", ()
    smaller_sample_size = int(min(as_float(change.size_after), as_float(change.size_before)))
    method = "Welch's t; takes answers for independent"
    return change, method, _no_test_reason(change, smaller_sample_size, "answers", 2), ()


def _no_test_reason(
    change: Change, unit_count: int, unit_noun: str, min_count: int = MIN_CLUSTERS
) -> str:
    """Return the reason why a change has no p-value; "" if it has one.

    ``unit_count`` is the number of clusters (such as prompts) in the smaller frame, and
    ``unit_noun`` the word for them.
    """
    if unit_count < min_count:
        return (
            f"one side or both have only {unit_count} of the {min_count} {unit_noun} that a test "
            "takes"
        )
    if not np.isfinite(change.error):
        return f"the numbers of {unit_count} {unit_noun} are too large to compute an error"
    if np.isnan(change.df):
        return f"one of {unit_count} {unit_noun} has most answers, and says too little of others"
    if not has_variation(change.error, max(abs(change.value_before), abs(change.value_after))):
        return f"{unit_count} {unit_noun} all changed alike, and are too few to estimate an error"
    return ""


def _limitation_text_and_notes(
    sums_of_frames: Sequence[ClusterSums],
    group_positions: Sequence[int | None],
    frame_names: Sequence[str],
) -> tuple[str, tuple[str, ...]]:
    """Return why a group cannot be compared (or ""), and notes on frames that were partly measured.

    ``group_positions`` has the number of the group in each of the two frames, or None if a frame
    lacks the group. ``frame_names`` are the names of the frames.
    """
    limitation_text = ""
    frame_names_by_availability: dict[str, list[str]] = {}
    for sums, group_position, frame_name in zip(
        sums_of_frames, group_positions, frame_names, strict=True
    ):
        if group_position is None or not sums.used_row_counts[group_position]:
            missing_text = (
                "no row" if group_position is None else sums.availabilities[group_position]
            )
            limitation_text = limitation_text or f"{frame_name}: {missing_text}"
        elif sums.availabilities[group_position].status == Status.PARTIAL:
            frame_names_by_availability.setdefault(
                str(sums.availabilities[group_position]), []
            ).append(frame_name)
    return limitation_text, tuple(
        f"{' and '.join(partial_frame_names)}: {availability_text}"
        for availability_text, partial_frame_names in frame_names_by_availability.items()
    )


# --- results -------------------------------------------------------------------------

_VERDICT_RANKS = {NO_EVIDENCE: 1, CANNOT_SAY: 2}  # the order of rows; up and down come first


def comparison_result(
    compared_rows: Sequence[ComparedRow],
    key_columns: Sequence[str],
    metadata_of_frames: Sequence[FrameMetadata],
    correction: str | None,
    confidence_level: float,
    frame_names: tuple[str, str],
    naming_column: str = "host",
) -> pd.DataFrame:
    """Return the result of comparisons as a frame, with adjusted p-values and verdicts.

    ``key_columns`` are the grouping columns, and ``correction`` is the method that adjusts
    p-values. ``frame_names`` are the names of the two frames, and ``naming_column`` is the result
    column for them, such as ``host``.
    """
    is_by_window = frame_names == WINDOW_NAMES
    after_column, before_column, n_column = (
        ("after", "before", "n_before") if is_by_window else (*frame_names, "n_baseline")
    )
    rows_with_text = []
    for compared_row in compared_rows:
        before, after = (
            format_amount(value, compared_row.is_rate)
            for value in (compared_row.change.value_before, compared_row.change.value_after)
        )
        change_text = (
            f"{before} to {after}"
            if is_by_window
            else f"{frame_names[0]} {after}, {frame_names[1]} {before}"
        )
        rows_with_text.append(replace(compared_row, change_text=change_text))
    judgements = judge_comparisons(
        rows_with_text, confidence_level, correction, "change" if is_by_window else "difference"
    )
    tested_flags = [bool(np.isfinite(judgement["p"])) for judgement in judgements]
    planned_flags = [compared_row.is_planned for compared_row in compared_rows]
    family_size_text = f"one of a family of {sum(map(operator.gt, tested_flags, planned_flags))}"
    result_rows = []
    for compared_row, judgement, is_tested in zip(
        compared_rows, judgements, tested_flags, strict=True
    ):
        change = compared_row.change
        result_row = {
            "measure": compared_row.measure,
            **dict(zip(key_columns, compared_row.key, strict=True)),
            **judgement,
        }
        result_row |= {
            after_column: change.value_after,
            before_column: change.value_before,
            n_column: change.size_before,
        }
        result_row["why"] = "; ".join(dict.fromkeys([result_row["why"], *compared_row.notes]))
        result_row["unit"] = compared_row.unit
        if any(planned_flags):
            family_text = (
                "planned: it stands alone" if compared_row.is_planned else family_size_text
            )
            result_row["family"] = family_text if is_tested else None
        if not is_by_window:
            result_row |= {
                naming_column: frame_names[0],
                f"baseline_{naming_column}": frame_names[1],
            }
        result_rows.append(result_row)

    def sort_key(row_index: int) -> tuple[Any, ...]:
        sorted_row = result_rows[row_index]
        change_size = np.nan_to_num(abs(as_float(sorted_row["change"])))
        return (
            not planned_flags[row_index],
            _VERDICT_RANKS.get(untrace(sorted_row["verdict"]), 0),
            -change_size,
        )

    row_order = sorted(range(len(compared_rows)), key=sort_key) if any(planned_flags) else None
    distinct_units = {compared_row.unit for compared_row in compared_rows}
    measures = {compared_row.measure for compared_row in compared_rows}
    availabilities = [
        column.availability
        for metadata in metadata_of_frames
        for column_name, column in metadata.columns.items()
        if column_name in measures
    ]
    current_name, baseline_name = ("this frame", "the other frame") if is_by_window else frame_names
    return make_result(
        "compare",
        result_rows,
        metadata_of_frames,
        combine(availabilities) if availabilities else MEASURED_AVAILABILITY,
        key_columns=("measure", *key_columns),
        unit=distinct_units.pop() if len(distinct_units) == 1 else None,
        level=confidence_level,
        row_order=row_order,
        kind=naming_column,
        side=after_column,
        baseline=before_column,
        n_baseline=n_column,
        now_name=current_name,
        before_name=baseline_name,
        how=f"{METHOD_NAME_BY_CORRECTION[correction]} method",
        less="The value after minus the one before."
        if is_by_window
        else f"{current_name} minus {baseline_name}.",
    )


# --- decomposition ----------------------------------------------------------------------------


@record_statistic("decompose", "now", "before")
def decompose(
    now: pd.DataFrame,
    before: pd.DataFrame | None,
    column: str,
    by: str,
    *,
    level: float = LEVEL,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Split the change of a rate or mean into the parts rate, mix, entered and left.

    ``by`` has the column of the prompts; see ``df.aa.decompose``.
    """
    check_level(level)
    column_names = flatten_index(now).columns
    if by not in [*column_names]:
        hint = "; name the one to decompose over by by="
        raise item_not_found("column", by, column_names, hint)
    before, baseline_rules, refusal_reason = resolve_baseline_frame(now, before, column, rules)
    sums_of_frames = [
        cluster_sums(frame, column, None, by, frame_rules)
        for frame, frame_rules in ((now, rules), (before, baseline_rules))
    ]
    empty_frame_names = [
        frame_name
        for sums, frame_name in zip(sums_of_frames, WINDOW_NAMES, strict=True)
        if not sums.n.sum() > 0
    ]
    empty_reason = f"{empty_frame_names[0]}: nothing was measured" if empty_frame_names else ""
    untested_reason = refusal_reason or empty_reason
    used_positions = shared_cluster_positions(
        [sums.position_by_cluster(0) for sums in sums_of_frames]
    )
    (y1, n1), (y0, n0), (all_y1, all_n1), (all_y0, all_n0) = (
        sums.y_and_n(positions, suffix)
        for sums, positions, suffix in zip(
            sums_of_frames * 2,
            [*used_positions, None, None],
            ("1", "0", "_all1", "_all0"),
            strict=True,
        )
    )
    is_rate = all(sums.is_rate for sums in sums_of_frames)
    error = NAN
    size1 = total_of(all_n1)
    size0 = total_of(all_n0)
    total1 = total_of(all_y1) / size1
    total0 = total_of(all_y0) / size0
    middle = (total1 + total0) / 2
    weight = (n1 / size1 + n0 / size0) / 2
    term = weight * (y1 / n1 - y0 / n0)
    rate = total_of(term)
    total = total1 - total0
    # What entered or left contributes its distance from the middle; the rest is the mix.
    entered, left = (
        (total_of(y) - total_of(common_y) - middle * (sample_size - total_of(common_n)))
        / sample_size
        for y, common_y, sample_size, common_n in ((all_y1, y1, size1, n1), (all_y0, y0, size0, n0))
    )
    if is_rate:
        p1 = (y1 + total1) / (n1 + 1)
        p0 = (y0 + total0) / (n0 + 1)
        square = weight**2 * (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)
        error = np.sqrt(total_of(square))
    effects = [rate, total - rate - entered + left, entered, 0 - left, total]
    name_traced_variables()
    half_width = confidence_quantile(level) * error
    bounds_and_p = [rate - half_width, rate + half_width, two_sided(rate / error, math.inf)]
    low, high, p = ([NAN if untested_reason else value, *[NAN] * 4] for value in bounds_and_p)
    effects = [NAN] * 5 if empty_reason else effects
    verdict = verdict_of(p[0], effects[0], level)
    k = count_of(n1)
    added_count = count_of(all_n1) - k
    removed_count = count_of(all_n0) - k
    metadata_of_frames = [sums.metadata for sums in sums_of_frames]
    return make_result(
        "decompose",
        {
            "part": ("rate", "mix", "entered", "left", "total"),
            "effect": effects,
            "low": low,
            "high": high,
            "p": p,
            "n": size1 + size0,
            "clusters": [k, k, added_count, removed_count, k + added_count + removed_count],
            "verdict": [verdict, *["bookkeeping"] * 4],
            "why": [
                f"the {by} on both sides: {verdict}"
                + (f" ({untested_reason})" if untested_reason else ""),
                f"the same {by}, asked more or less often: what was asked, not what was answered",
                f"{added_count:g} {by} were not there before",
                f"{removed_count:g} {by} are no longer there",
                untested_reason if empty_reason else f"{format_points(total, is_rate)} in all",
            ],
            "method": "Kitagawa 1955, centred; the rate effect with a z interval (strata)",
        },
        metadata_of_frames,
        combine([metadata.columns[column].availability for metadata in metadata_of_frames]),
        key_columns=("part",),
        unit=sums_of_frames[0].unit,
        level=level,
        column=column,
        by=by,
    )
