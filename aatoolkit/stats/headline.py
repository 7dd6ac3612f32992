"""Changes between two datasets: the headline measures, each paired by prompt where it can be.

What is asked for is found by what columns mean, not by which service named them: a measure by its
standard name, its parts by its rule, prompts by the key of the section ``prompts``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.lexicon import tokens, words
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.sections.aggregation import FRACTION, NONE, RANK, ratio
from aatoolkit.sections.column import Column
from aatoolkit.stats.compare import INDEPENDENT, ComparedRow, compare_measure, comparison_result
from aatoolkit.stats.estimate import Change, check_level
from aatoolkit.stats.sums import PROMPT, WINDOWS, rule_of, side_names, stem_of
from aatoolkit.stats.trace import name_all, number, statistic, trace_frame

RATE, POSITION, VOICE = "mention_rate", "average_position", "share_of_voice"
_MEASURES = {FRACTION: RATE, RANK: POSITION, "position": POSITION}
"""What is made of the mentions, by its unit."""

_GROUPS = ("engine", "topic", "brand")
_ROLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "figures": ("overview", ("metric", "value"), ()),
    "trend": ("overview", ("date", RATE), ("date",)),
    "engines": ("overview", ("engine", RATE), ("engine",)),
    "brands": ("overview", ("brand", RATE), ("brand",)),
    "leaders": ("ranking", ("brand", "own"), ()),
    "voices": ("ranking", (PROMPT, "brand", VOICE), ()),
    "prompts": ("prompts", (), ()),
    "prompt_engines": ("prompts", ("engine", PROMPT), ()),
}
"""What a table is here: its section, the columns that tell it, and its key where that matters."""


class Asked(NamedTuple):
    """A measure that is compared: what it is about, its table, and the column of its groups."""

    subject: str
    measure: str
    role: str
    by: str | None = None
    cluster: str | None = None
    is_total: bool = False
    """Whether it counts whole windows, so that their variance is that of answers times the design
    effect of the change within prompts."""


_PLANNED = (
    Asked("all prompts", RATE, "prompts"),
    Asked("all answers", RATE, "trend", cluster="date"),
)
_QUESTIONS = (
    *_PLANNED,
    Asked("all prompts", POSITION, "prompts"),
    Asked("topic", RATE, "prompts", "topic"),
    Asked("engine", RATE, "prompt_engines", "engine"),
    Asked("engine", RATE, "engines", "engine", is_total=True),
    Asked("brand", VOICE, "voices", "brand"),
    Asked("brand", RATE, "brands", "brand", is_total=True),
)
"""What is compared, in order: the planned comparison, or the other in its place; then the rest."""

_FIGURES = Asked("key figure", "value", "figures", "metric")

Tables = Mapping[str, pd.DataFrame]


def headline(now: Mapping[str, Any], other: Mapping[str, Any] | None, level: float) -> pd.DataFrame:
    """Compare the headline measures; see ``Dataset.compare``."""
    check_level(level)
    tables = {
        f"{word}.{role}": frame
        for word, data in zip(WINDOWS, (now, other or {}), strict=True)
        for role in _ROLES
        for frame in _tables(data, role)[:1]
    }
    return headline_of([*tables.values()], [*tables], other is not None, level)


def _tables(data: Mapping[str, Any], role: str) -> list[pd.DataFrame]:
    """The tables of a dataset that have a role in the comparison."""
    section, columns, key = _ROLES[role]
    if section not in data:
        return []
    tables = data[section]
    main = tables.main if section == "prompts" else None
    if role == "prompts":
        return [_named(tables.main)]
    return [
        frame
        for frame in (_named(tables[name]) for name in tables if tables[name] is not main)
        if {*columns} <= {*frame.columns} and key in ((), metadata_of(frame).key)
    ]


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename columns of a frame to this module's names, where rules and words identify them."""
    columns: dict[str, list[str]] = {}
    for name, column in metadata_of(frame).columns.items():
        columns.setdefault(_meaning(name, declared(column)), []).append(name)
    names = {
        of[0]: name for name, of in columns.items() if len(of) == 1 and name not in frame.columns
    }
    return rename(frame, columns=names) if names else frame


def _meaning(name: str, column: Column | None) -> str:
    """This module's name of a column, by its counts or as the name of a group."""
    rule = column.aggregate if column else NONE
    of, total = (stem_of(part)[1] for part in rule.over or rule.counts or (rule.by or "", ""))
    if column and of == ("mention",) and "mention" not in total and column.unit in _MEASURES:
        return _MEASURES[column.unit]
    parts = {*tokens(name)} - words("labelling")
    return next((group for group in _GROUPS if parts and parts <= words(group)), name)


@statistic("headline", "frames")
def headline_of(
    frames: Sequence[pd.DataFrame], names: Sequence[str], is_two: bool, level: float
) -> pd.DataFrame:
    """The comparison, of the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    sides = [
        [metadata_of(frame) for name, frame in tables.items() if name.startswith(f"{word}.")]
        for word in (WINDOWS if is_two else WINDOWS[:1] * 2)
    ]
    sides_of = side_names(*sides)
    rows: list[ComparedRow] = []
    reasons, design = [], INDEPENDENT
    for question in _QUESTIONS:
        if any((row.key[0], row.measure) == (question.subject, question.measure) for row in rows):
            continue
        is_planned = question in _PLANNED
        if is_planned and rows:
            continue
        answers = _answered(tables, question, is_two, level, design, sides_of)
        if is_planned and isinstance(answers, list):
            rows, design = [replace(answers[0], is_planned=True)], design_of(answers[0].change)
        elif isinstance(answers, list):
            rows += [_as_total(row, rows) if question.is_total else row for row in answers]
        else:
            reasons.append(answers)
        if question == _PLANNED[-1] and not rows:
            key, why = ("all prompts", None), reasons[0]
            rows = [ComparedRow(measure=RATE, key=key, unit=FRACTION, why=why, is_planned=True)]
    rows = [row for row in rows if not _is_repeated(row, rows[0])]
    rows += _figures(tables, is_two, rows, level, sides_of)
    metadata = [metadata_of(frame) for frame in frames] or [FrameMetadata()]
    return comparison_result(
        rows, ("subject", "name"), metadata, "holm", level, sides_of, is_ranked=True
    )


def _answered(
    tables: Tables,
    question: Asked,
    is_two: bool,
    level: float,
    design: tuple[Any, Any],
    names: Sequence[str],
) -> list[ComparedRow] | str:
    """The comparisons of a question, or why there are none."""
    subject, measure, role, by, cluster, is_total = question
    section = _ROLES[role][0]
    frames = []
    for place, word in enumerate(WINDOWS[: 1 + is_two]):
        frame = tables.get(f"{word}.{role}")
        if frame is None or (by and by not in frame.columns):
            return f"{names[place]}: the section {section} was not read, or has no such table"
        frames.append(frame)
    frames = _own(tables, frames) if role == "voices" else frames
    now, before = frames[0], frames[1] if is_two else None
    if cluster and not is_two:
        return f"{names[1]}: the section {section} gives no window before this one"
    main, prompt, rules = tables.get("now.prompts", now), PROMPT, {}
    if PROMPT not in now.columns and len(metadata_of(main).key) == 1:
        (prompt,) = metadata_of(main).key
    if section == "prompts":
        # The table by engine may count without giving the rate of it, which is that of the prompts.
        of = now if measure in now.columns else main
        rule = rule_of(metadata_of(of), measure)[0] if measure in of.columns else NONE
        if rule.rule not in ("ratio", "mean"):
            return f"the section {section} has no {measure} with its counts"
        if rule.over and role == "prompt_engines":
            measure, rules = rule.over[0], {rule.over[0]: ratio(*rule.over)}
    try:
        rows = [
            *compare_measure(
                now, before, measure, (by,) if by else (), None, cluster, level, rules,
                design if is_total else INDEPENDENT, prompt, names,
            )
        ]  # fmt: skip
    except (AvailabilityError, ItemNotFound) as error:
        return f"the section {section} cannot be compared: {error}"
    key = [(subject, row.key[0] if by else None) for row in rows]
    return [
        replace(row, measure=question.measure, key=key, unit=FRACTION if rules else row.unit)
        for row, key in zip(rows, key, strict=True)
    ]


def _own(tables: Tables, frames: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """The rows of the own brands that all sides have."""
    brands = [{*frame["brand"]} for frame in frames]
    for word in WINDOWS[: len(frames)]:
        leaders = tables.get(f"{word}.leaders", pd.DataFrame({"brand": [], "own": []}))
        brands.append({*leaders.loc[leaders["own"].fillna(False).astype(bool), "brand"]})
    places = [np.flatnonzero(frame["brand"].isin(set.intersection(*brands))) for frame in frames]
    return [
        trace_frame(frame.iloc[rows], frame, rows=rows)
        for frame, rows in zip(frames, places, strict=True)
    ]


def _as_total(row: ComparedRow, rows: Sequence[ComparedRow]) -> ComparedRow:
    """A total's comparison; refused where nothing says how prompts differ."""
    if not rows[0].why or row.why:
        return row
    return replace(row, why=f"nothing says how prompts differ: {rows[0].why}", method="")


def _is_repeated(row: ComparedRow, planned: ComparedRow) -> bool:
    """Whether a row of one brand counts what the planned comparison counts already."""
    return (row.key[0], row.measure) == ("brand", RATE) and all(
        number(getattr(row.change, end)) == number(getattr(planned.change, end))
        for end in ("after", "before")
    )


def design_of(change: Change) -> tuple[Any, Any]:
    """The design effect of a change, 1 at least, and its degrees of freedom."""
    sizes = change.size_before, change.size_after
    pooled = (change.before * sizes[0] + change.after * sizes[1]) / (sizes[0] + sizes[1])
    simple = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    ratio_of = np.maximum(change.error**2 / np.maximum(simple, 1e-300), 1.0)
    deff = np.where(simple > 0, ratio_of, 1.0)
    name_all(pooled=pooled, simple=simple, deff=deff)
    return deff, change.df


def _figures(
    tables: Tables, is_two: bool, rows: Sequence[ComparedRow], level: float, names: Sequence[str]
) -> list[ComparedRow]:
    """The key figures that no other row gives, with their values and no test."""
    compared_rows = _answered(tables, _FIGURES, is_two, level, INDEPENDENT, names)
    if isinstance(compared_rows, str):
        return []
    metrics = {
        row.measure
        for row in rows
        if (row.key[1] is None or row.measure == VOICE) and math.isfinite(number(row.change.change))
    }
    # How much was asked, and what another row says of 100.
    metrics |= {"answer_count", *(["visibility_score"] if RATE in metrics else [])}
    figures = []
    for row in compared_rows:
        name = "_".join(tokens(str(row.key[1])))
        if name not in metrics:
            why = row.why or f"the service gives no counts of {name} by prompt"
            unit = FRACTION if row.is_rate else None
            figure = replace(row, measure=name, key=(row.key[0], name), unit=unit)
            figures.append(replace(figure, why=why, method="", notes=()))
    return figures
