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

from aatoolkit._util.lexicon import tokens, words_of
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.frame.merge import rename, sources_of
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.sections.aggregation import FRACTION, NONE, RANK, ratio
from aatoolkit.sections.column import Column
from aatoolkit.stats.compare import (
    INDEPENDENT,
    ComparedRow,
    compare_measure,
    comparison_result,
    name_sides,
)
from aatoolkit.stats.estimate import Change, check_level
from aatoolkit.stats.sums import PROMPT, WINDOWS, rule_of, stem_of
from aatoolkit.stats.trace import name_variables, statistic, trace_frame

RATE, POSITION, VOICE = "mention_rate", "average_position", "share_of_voice"
_MEASURES = {FRACTION: RATE, RANK: POSITION, "position": POSITION}
"""The names of measures that are computed from mentions, by unit."""

_GROUPS = ("engine", "topic", "brand")
_DATA = json.loads(Path(__file__).with_suffix(".json").read_bytes())
_ROLES: dict[str, tuple[str, list[str], list[str]]] = _DATA["roles"]
"""For each role of a table: its section, the columns that it must have, and its required key."""


class HeadlineQuestion(NamedTuple):
    """One comparison in `Dataset.compare`: the column, the table and the groups to compare."""

    subject: str
    measure: str
    role: str
    by: str | None = None
    cluster: str | None = None
    is_total: bool = False
    """Whether the measure is a total of the window, without numbers by prompt."""


_PLANNED_QUESTIONS, _QUESTIONS = (
    [HeadlineQuestion(**row) for row in _DATA[kind]] for kind in ("planned", "others")
)
"""The planned comparison with its substitute, and the other questions in order."""

_KEY_FIGURES = HeadlineQuestion("key figure", "value", "figures", "metric")

Tables = Mapping[str, pd.DataFrame]


def headline(
    now: Mapping[str, Any], before: Mapping[str, Any] | None, level: float
) -> pd.DataFrame:
    """Compare the main measures (e.g. mention rate) of two datasets; see ``Dataset.compare``."""
    check_level(level)
    tables = {
        f"{side}.{role}": frame
        for side, data in zip(WINDOWS, (now, before or {}), strict=True)
        for role in _ROLES
        for frame in _tables_of_role(data, role)[:1]
    }
    return headline_of([*tables.values()], [*tables], before is not None, level)


def _tables_of_role(data: Mapping[str, Any], role: str) -> list[pd.DataFrame]:
    """Return the tables of a dataset that have the columns and the key that a role needs.

    A role is a purpose of tables in the comparison, such as ``engines``.
    """
    # By section, columns and key.
    section, required_columns, required_key = _ROLES[role]
    if section not in data:
        return []
    tables = data[section]
    main_table = tables.main if section == "prompts" else None
    if role == "prompts":
        return [_rename_to_standard(tables.main)]
    return [
        frame
        for frame in (
            _rename_to_standard(tables[name]) for name in tables if tables[name] is not main_table
        )
        if {*required_columns} <= {*frame.columns}
        and tuple(required_key) in ((), metadata_of(frame).key)
    ]


def _rename_to_standard(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose known columns have their standard names, such as ``mention_rate``."""
    names_by_standard: dict[str, list[str]] = {}
    metadata = metadata_of(frame)
    for name in metadata.columns:
        standard_name = _standard_name(name, metadata.declaration_of(name))
        names_by_standard.setdefault(standard_name, []).append(name)
    standard_names = {
        originals[0]: name
        for name, originals in names_by_standard.items()
        if len(originals) == 1 and name not in frame.columns
    }
    return rename(frame, columns=standard_names) if standard_names else frame


def _standard_name(name: str, column: Column) -> str:
    """Return the standard name of a known column, such as ``mention_rate``; else ``name``."""
    rule = column.aggregate
    stem, total_stem = (
        stem_of(count_name)[1] for count_name in rule.over or rule.counts or (rule.by or "", "")
    )
    if stem == ("mention",) and "mention" not in total_stem and column.unit in _MEASURES:
        return _MEASURES[column.unit]
    name_words = {*tokens(name)} - words_of("labelling")
    return next((group for group in _GROUPS if name_words and name_words <= words_of(group)), name)


@statistic("headline", "frames")
def headline_of(
    frames: Sequence[pd.DataFrame], names: Sequence[str], has_before: bool, level: float
) -> pd.DataFrame:
    """Return the comparison of the main measures as a frame, from tables that were already read.

    ``names`` has a name per frame, such as ``now.engines``. If ``has_before`` is False, each table
    is compared with its own columns about the previous period.
    """
    tables = dict(zip(names, frames, strict=True))
    sources = [
        sources_of(
            metadata_of(frame) for name, frame in tables.items() if name.startswith(f"{side}.")
        )
        for side in WINDOWS[: 1 + has_before]
    ]
    _, names_of_sides = name_sides([()] * len(sources), sources, ("host",), ("subject", "name"))
    planned_row = ComparedRow(measure=RATE, key=("all prompts", None), unit=FRACTION)
    effect_and_df = INDEPENDENT

    def answer(question: HeadlineQuestion) -> list[ComparedRow] | str:
        return _answer_question(tables, question, has_before, level, effect_and_df, names_of_sides)

    for question in _PLANNED_QUESTIONS:
        comparisons = answer(question)
        if isinstance(comparisons, list):
            planned_row = comparisons[0]
            effect_and_df = design_of(planned_row.change)
            break
        planned_row = replace(planned_row, why=planned_row.why or comparisons)
    rows = [replace(planned_row, is_planned=True)]
    for question in _QUESTIONS:
        if any((row.key[0], row.measure) == (question.subject, question.measure) for row in rows):
            continue
        comparisons = answer(question)
        if isinstance(comparisons, list):
            for row in comparisons:
                if question.is_total and rows[0].why and not row.why:
                    # The test of a total takes from the planned one how much prompts differ.
                    why = f"nothing says how prompts differ: {rows[0].why}"
                    row = replace(row, why=why, method="")
                rows.append(row)
    # A brand's mention rate with the values of the planned comparison would only repeat it.
    planned_change = planned_row.change
    rows = [
        row
        for row in rows
        if (row.key[0], row.measure) != ("brand", RATE)
        or row.change.after != planned_change.after
        or row.change.before != planned_change.before
    ]
    figures = answer(_KEY_FIGURES)
    if isinstance(figures, list):
        rows += _figures_not_compared(figures, rows)
    metadata = [metadata_of(frame) for frame in frames] or [FrameMetadata()]
    return comparison_result(rows, ("subject", "name"), metadata, "holm", level, names_of_sides)


def _answer_question(
    tables: Tables,
    question: HeadlineQuestion,
    has_before: bool,
    level: float,
    effect_and_df: tuple[Any, Any],
    names: Sequence[str],
) -> list[ComparedRow] | str:
    """Return the comparisons for a `HeadlineQuestion`, or the reason why there are none.

    For example, the question "by engine" gives one comparison per engine.
    """
    subject, measure, role, by, cluster, is_total = question
    section = _ROLES[role][0]
    frames = []
    for index, side in enumerate(WINDOWS[: 1 + has_before]):
        frame = tables.get(f"{side}.{role}")
        if frame is None or (by and by not in frame.columns):
            return f"{names[index]}: the section {section} was not read, or has no such table"
        frames.append(frame)
    frames = _select_own_brands(tables, frames) if role == "voices" else frames
    now, before = frames[0], frames[1] if has_before else None
    if cluster and not has_before:
        return f"{names[1]}: the section {section} gives no window before this one"
    prompts_table, prompt_column, rules = tables.get("now.prompts", now), PROMPT, {}
    if PROMPT not in now.columns and len(metadata_of(prompts_table).key) == 1:
        (prompt_column,) = metadata_of(prompts_table).key
    if section == "prompts":
        # The table by engine may count without giving the rate of it, which is that of the prompts.
        table = now if measure in now.columns else prompts_table
        rule = rule_of(metadata_of(table), measure)[0] if measure in table.columns else NONE
        if rule.rule not in ("ratio", "mean"):
            return f"the section {section} has no {measure} with its counts"
        if rule.over and role == "prompt_engines":
            measure, rules = rule.over[0], {rule.over[0]: ratio(*rule.over)}
    try:
        rows = [
            *compare_measure(
                now, before, measure, (by,) if by else (), None, cluster, level, rules, names,
                effect_and_df if is_total else INDEPENDENT, prompt_column,
            )
        ]  # fmt: skip
    except (AvailabilityError, ItemNotFound) as error:
        return f"the section {section} cannot be compared: {error}"
    keys = [(subject, row.key[0] if by else None) for row in rows]
    return [
        replace(row, measure=question.measure, key=key, unit=FRACTION if rules else row.unit)
        for row, key in zip(rows, keys, strict=True)
    ]


def _select_own_brands(tables: Tables, frames: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return the rows of each frame about own brands which all frames contain."""
    brand_sets = [{*frame["brand"]} for frame in frames]
    for side in WINDOWS[: len(frames)]:
        leaders = tables.get(f"{side}.leaders", pd.DataFrame({"brand": [], "own": []}))
        brand_sets.append({*leaders.loc[leaders["own"].fillna(False).astype(bool), "brand"]})
    positions = [
        np.flatnonzero(frame["brand"].isin(set.intersection(*brand_sets))) for frame in frames
    ]
    return [
        trace_frame(frame.iloc[rows], frame, rows=rows)
        for frame, rows in zip(frames, positions, strict=True)
    ]


def design_of(change: Change) -> tuple[Any, Any]:
    """Return the design effect of a change between two rates, and its degrees of freedom.

    The design effect is the variance of the change, divided by the variance that independent
    answers would have.
    """
    # The variance of the change, divided by that of as many independent answers; at least 1.
    sizes = change.size_before, change.size_after
    pooled = (change.before * sizes[0] + change.after * sizes[1]) / (sizes[0] + sizes[1])
    simple = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    ratio_to_simple = np.maximum(change.error**2 / np.maximum(simple, 1e-300), 1.0)
    deff = np.where(simple > 0, ratio_to_simple, 1.0)
    name_variables()
    return deff, change.df


def _figures_not_compared(
    figures: Sequence[ComparedRow], rows: Sequence[ComparedRow]
) -> list[ComparedRow]:
    """Return a row without a test for each key figure that ``rows`` does not compare yet."""
    compared = {
        row.measure
        for row in rows
        if (row.key[1] is None or row.measure == VOICE) and np.isfinite(row.change.change)
    }
    # The number of answers is no result, and the score repeats the rate, times 100.
    compared |= {"answer_count", *(["visibility_score"] if RATE in compared else [])}
    comparisons = []
    for row in figures:
        metric = "_".join(tokens(str(row.key[1])))
        if metric not in compared:
            reason = row.why or f"the service gives no counts of {metric} by prompt"
            unit = FRACTION if row.is_rate else None
            figure = replace(row, measure=metric, key=(row.key[0], metric), unit=unit)
            comparisons.append(replace(figure, why=reason, method="", notes=()))
    return comparisons
