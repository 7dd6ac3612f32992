"""``Dataset.compare``: the changes of mention rate, average position and share of voice."""

# Services name these columns differently. They are found by their standard names or by the counts
# that they are computed from.

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.grouping import group_values
from aatoolkit._util.lexicon import tokens, words_of
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.frame.merge import rename, sources_of
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.sections.aggregation import FRACTION, NONE, RANK, ratio
from aatoolkit.sections.column import Column
from aatoolkit.stats.compare import (
    INDEPENDENT_DESIGN_EFFECT,
    ComparedRow,
    compare_measure,
    comparison_result,
    name_frames,
)
from aatoolkit.stats.estimate import Change, check_level
from aatoolkit.stats.sums import PROMPT_COLUMN, WINDOW_NAMES, rule_and_columns, split_off_period
from aatoolkit.stats.trace import name_traced_variables, record_statistic, trace_copy

MENTION_RATE = "mention_rate"
AVG_POSITION = "average_position"
SHARE_OF_VOICE = "share_of_voice"
_MEASURE_BY_UNIT = {FRACTION: MENTION_RATE, RANK: AVG_POSITION, "position": AVG_POSITION}
"""The names of measures that are computed from mentions, by unit."""

_GROUP_COLUMNS = ("engine", "topic", "brand")  # standard names of columns to group by
_QUESTIONS_JSON = json.loads(Path(__file__).with_suffix(".json").read_bytes())
_TABLE_SPEC_BY_ROLE: dict[str, tuple[str, list[str], list[str]]] = _QUESTIONS_JSON["roles"]
"""For each role of a table: its section, the columns that it must have, and its required key."""


class ComparisonQuestion(NamedTuple):
    """One comparison in `Dataset.compare`: the column, the table and the groups to compare."""

    subject: str  # what is compared, such as "engine"
    measure: str  # the column to compare
    role: str  # which table has it: a key of `_TABLE_SPEC_BY_ROLE`
    by: str | None = None  # the column of groups
    cluster: str | None = None  # the column of clusters, such as prompts
    is_total: bool = False
    """Whether the measure is a total of the window, without numbers by prompt."""


_PLANNED_QUESTIONS, _OTHER_QUESTIONS = (
    [ComparisonQuestion(**row) for row in _QUESTIONS_JSON[kind]] for kind in ("planned", "others")
)
"""The planned comparison with its substitute, and the other questions in order."""

_KEY_FIGURE_QUESTION = ComparisonQuestion("key figure", "value", "figures", "metric")

TableByRole = Mapping[str, pd.DataFrame]  # by window and role, such as "now.engines"


def compare_datasets(
    current_dataset: Mapping[str, Any], earlier_dataset: Mapping[str, Any] | None, level: float
) -> pd.DataFrame:
    """Compare the main measures (e.g. mention rate) of two datasets; see ``Dataset.compare``."""
    check_level(level)
    table_by_role = {
        f"{window_name}.{role}": frame
        for window_name, dataset in zip(
            WINDOW_NAMES, (current_dataset, earlier_dataset or {}), strict=True
        )
        for role in _TABLE_SPEC_BY_ROLE
        for frame in _find_tables_of_role(dataset, role)[:1]
    }
    return compare_tables(
        [*table_by_role.values()], [*table_by_role], earlier_dataset is not None, level
    )


def _find_tables_of_role(dataset: Mapping[str, Any], role: str) -> list[pd.DataFrame]:
    """Return the tables of a dataset that have the columns and the key that a role needs.

    A role is a purpose of tables in the comparison, such as ``engines``.
    """
    section_name, required_columns, required_key_columns = _TABLE_SPEC_BY_ROLE[role]
    if section_name not in dataset:
        return []
    section_tables = dataset[section_name]
    main_table = section_tables.main if section_name == "prompts" else None
    if role == "prompts":
        return [_rename_to_standard_names(section_tables.main)]
    return [
        frame
        for frame in (
            _rename_to_standard_names(section_tables[table_name])
            for table_name in section_tables
            if section_tables[table_name] is not main_table
        )
        if {*required_columns} <= {*frame.columns}
        and tuple(required_key_columns) in ((), metadata_of(frame).key)
    ]


def _rename_to_standard_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose known columns have their standard names, such as ``mention_rate``."""
    metadata = metadata_of(frame)
    column_names_by_standard_name = group_values(
        (_standard_name(column_name, metadata.declaration_of(column_name)), column_name)
        for column_name in metadata.columns
    )
    standard_name_by_column = {
        column_names[0]: standard_name
        for standard_name, column_names in column_names_by_standard_name.items()
        if len(column_names) == 1 and standard_name not in frame.columns
    }
    return rename(frame, columns=standard_name_by_column) if standard_name_by_column else frame


def _standard_name(column_name: str, column: Column) -> str:
    """Return the standard name of a known column, such as ``mention_rate``; else its own name."""
    rule = column.aggregate
    stem, total_stem = (
        split_off_period(count_name)[1]
        for count_name in rule.over or rule.counts or (rule.by or "", "")
    )
    if stem == ("mention",) and "mention" not in total_stem and column.unit in _MEASURE_BY_UNIT:
        return _MEASURE_BY_UNIT[column.unit]
    name_words = {*tokens(column_name)} - words_of("labelling")
    return next(
        (
            group_column
            for group_column in _GROUP_COLUMNS
            if name_words and name_words <= words_of(group_column)
        ),
        column_name,
    )


@record_statistic("headline", "frames")
def compare_tables(
    frames: Sequence[pd.DataFrame], names: Sequence[str], has_before: bool, level: float
) -> pd.DataFrame:
    """Return the comparison of the main measures as a frame, from tables that were already read.

    ``names`` has a name per frame, such as ``now.engines``. If ``has_before`` is False, each table
    is compared with its own columns about the previous period.
    """
    table_by_role = dict(zip(names, frames, strict=True))
    sources_of_frames = [
        sources_of(
            metadata_of(frame)
            for table_name, frame in table_by_role.items()
            if table_name.startswith(f"{window_name}.")
        )
        for window_name in WINDOW_NAMES[: 1 + has_before]
    ]
    _, frame_names = name_frames(
        [()] * len(sources_of_frames), sources_of_frames, ("host",), ("subject", "name")
    )
    planned_comparison = ComparedRow(measure=MENTION_RATE, key=("all prompts", None), unit=FRACTION)
    design_effect = INDEPENDENT_DESIGN_EFFECT

    def comparisons_for(question: ComparisonQuestion) -> list[ComparedRow] | str:
        return _compare_for_question(
            table_by_role, question, has_before, level, design_effect, frame_names
        )

    for question in _PLANNED_QUESTIONS:
        comparisons = comparisons_for(question)
        if isinstance(comparisons, list):
            planned_comparison = comparisons[0]
            design_effect = design_effect_of(planned_comparison.change)
            break
        planned_comparison = replace(
            planned_comparison, untested_reason=planned_comparison.untested_reason or comparisons
        )
    compared_rows = [replace(planned_comparison, is_planned=True)]
    for question in _OTHER_QUESTIONS:
        if any(
            (compared_row.key[0], compared_row.measure) == (question.subject, question.measure)
            for compared_row in compared_rows
        ):
            continue
        comparisons = comparisons_for(question)
        if isinstance(comparisons, list):
            for compared_row in comparisons:
                if (
                    question.is_total
                    and compared_rows[0].untested_reason
                    and not compared_row.untested_reason
                ):
                    # The test of a total takes from the planned one how much prompts differ.
                    untested_reason = (
                        f"nothing says how prompts differ: {compared_rows[0].untested_reason}"
                    )
                    compared_row = replace(compared_row, untested_reason=untested_reason, method="")
                compared_rows.append(compared_row)
    # A brand's mention rate with the values of the planned comparison would only repeat it.
    planned_change = planned_comparison.change
    compared_rows = [
        compared_row
        for compared_row in compared_rows
        if (compared_row.key[0], compared_row.measure) != ("brand", MENTION_RATE)
        or compared_row.change.value_after != planned_change.value_after
        or compared_row.change.value_before != planned_change.value_before
    ]
    key_figure_rows = comparisons_for(_KEY_FIGURE_QUESTION)
    if isinstance(key_figure_rows, list):
        compared_rows += _make_untested_key_figures(key_figure_rows, compared_rows)
    metadata_of_frames = [metadata_of(frame) for frame in frames] or [FrameMetadata()]
    return comparison_result(
        compared_rows, ("subject", "name"), metadata_of_frames, "holm", level, frame_names
    )


def _compare_for_question(
    table_by_role: TableByRole,
    question: ComparisonQuestion,
    has_earlier_tables: bool,
    confidence_level: float,
    design_effect: tuple[Any, Any],
    frame_names: Sequence[str],
) -> list[ComparedRow] | str:
    """Return the comparisons for a `ComparisonQuestion`, or the reason why there are none.

    For example, the question "by engine" gives one comparison per engine.
    """
    subject, measure, role, by, cluster, is_total = question
    section_name = _TABLE_SPEC_BY_ROLE[role][0]
    frames = []
    for window_index, window_name in enumerate(WINDOW_NAMES[: 1 + has_earlier_tables]):
        frame = table_by_role.get(f"{window_name}.{role}")
        if frame is None or (by and by not in frame.columns):
            return (
                f"{frame_names[window_index]}: the section {section_name} was not read, "
                "or has no such table"
            )
        frames.append(frame)
    frames = _select_own_brands(table_by_role, frames) if role == "voices" else frames
    current_frame = frames[0]
    baseline_frame = frames[1] if has_earlier_tables else None
    if cluster and not has_earlier_tables:
        return f"{frame_names[1]}: the section {section_name} gives no window before this one"
    prompts_table = table_by_role.get("now.prompts", current_frame)
    prompt_column = PROMPT_COLUMN
    rules = {}
    if PROMPT_COLUMN not in current_frame.columns and len(metadata_of(prompts_table).key) == 1:
        (prompt_column,) = metadata_of(prompts_table).key
    if section_name == "prompts":
        # The table by engine may count without giving the rate of it, which is that of the prompts.
        rule_table = current_frame if measure in current_frame.columns else prompts_table
        rule = (
            rule_and_columns(metadata_of(rule_table), measure)[0]
            if measure in rule_table.columns
            else NONE
        )
        if rule.rule not in ("ratio", "mean"):
            return f"the section {section_name} has no {measure} with its counts"
        if rule.over and role == "prompt_engines":
            measure = rule.over[0]
            rules = {rule.over[0]: ratio(*rule.over)}
    try:
        compared_rows = [
            *compare_measure(
                current_frame, baseline_frame, measure, (by,) if by else (), None, cluster,
                confidence_level, rules, frame_names,
                design_effect if is_total else INDEPENDENT_DESIGN_EFFECT, prompt_column,
            )
        ]  # fmt: skip
    except (AvailabilityError, ItemNotFound) as error:
        return f"the section {section_name} cannot be compared: {error}"
    return [
        replace(
            compared_row,
            measure=question.measure,
            key=(subject, compared_row.key[0] if by else None),
            unit=FRACTION if rules else compared_row.unit,
        )
        for compared_row in compared_rows
    ]


def _select_own_brands(
    table_by_role: TableByRole, frames: Sequence[pd.DataFrame]
) -> list[pd.DataFrame]:
    """Select from each frame the rows of the project's own brands, if all frames have the brand."""
    brand_sets = [{*frame["brand"]} for frame in frames]
    for window_name in WINDOW_NAMES[: len(frames)]:
        leaders_table = table_by_role.get(
            f"{window_name}.leaders", pd.DataFrame({"brand": [], "own": []})
        )
        brand_sets.append(
            {*leaders_table.loc[leaders_table["own"].fillna(False).astype(bool), "brand"]}
        )
    row_positions_of_frames = [
        np.flatnonzero(frame["brand"].isin(set.intersection(*brand_sets))) for frame in frames
    ]
    return [
        trace_copy(frame.iloc[row_positions], frame, row_positions=row_positions)
        for frame, row_positions in zip(frames, row_positions_of_frames, strict=True)
    ]


def design_effect_of(change: Change) -> tuple[Any, Any]:
    """Return the design effect of a change between two rates, and its degrees of freedom.

    The design effect is the variance of the change, divided by the variance that independent
    answers would have.
    """
    # The variance of the change, divided by that of as many independent answers; at least 1.
    sizes = change.size_before, change.size_after
    pooled = (change.value_before * sizes[0] + change.value_after * sizes[1]) / (
        sizes[0] + sizes[1]
    )
    simple = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    ratio_to_simple = np.maximum(change.error**2 / np.maximum(simple, 1e-300), 1.0)
    deff = np.where(simple > 0, ratio_to_simple, 1.0)
    name_traced_variables()
    return deff, change.df


def _make_untested_key_figures(
    key_figure_rows: Sequence[ComparedRow], compared_rows: Sequence[ComparedRow]
) -> list[ComparedRow]:
    """Return a comparison without a test for each key figure that ``compared_rows`` lacks."""
    compared_measures = {
        row.measure
        for row in compared_rows
        if (row.key[1] is None or row.measure == SHARE_OF_VOICE) and np.isfinite(row.change.value)
    }
    # The number of answers is no result, and the score repeats the rate, times 100.
    compared_measures |= {
        "answer_count",
        *(["visibility_score"] if MENTION_RATE in compared_measures else []),
    }
    untested_rows = []
    for row in key_figure_rows:
        metric = "_".join(tokens(str(row.key[1])))
        if metric not in compared_measures:
            untested_reason = (
                row.untested_reason or f"the service gives no counts of {metric} by prompt"
            )
            unit = FRACTION if row.is_rate else None
            row_key = (row.key[0], metric)
            untested_rows.append(
                replace(
                    row,
                    measure=metric,
                    key=row_key,
                    unit=unit,
                    untested_reason=untested_reason,
                    method="",
                    notes=(),
                )
            )
    return untested_rows
