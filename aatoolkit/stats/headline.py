"""Changes between two datasets: the headline measures, each paired by prompt where it can be.

What is asked for is found by what columns mean, not by which service named them: a measure by its
standard name, its parts by its rule, prompts by the key of the section ``prompts``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.frame.cell_status import cells_of as states_of
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import FRACTION, Aggregation, ratio
from aatoolkit.stats.cluster_sums import Rules
from aatoolkit.stats.compare import INDEPENDENT, ComparedRow, compared, comparison
from aatoolkit.stats.estimate import NOTHING, Change
from aatoolkit.stats.results import check_level
from aatoolkit.stats.sides import (
    PROMPT,
    WINDOWS,
    pairing,
    previous_names,
    previous_window,
    side_names,
)
from aatoolkit.stats.trace import cells_of, derived, name_all, number, take

RATE, POSITION, VOICE = "mention_rate", "average_position", "share_of_voice"
DATE = "date"
_COUNTS = ("mention_count", "answer_count")
_VISIBILITY = "visibility_score"
_UNKNOWN = "nothing says how prompts differ: "
_ROLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "figures": ("overview", ("metric", "value"), ()),
    "trend": ("overview", (DATE, RATE), (DATE,)),
    "engines": ("overview", ("engine", RATE), ("engine",)),
    "brands": ("overview", ("brand", RATE), ("brand",)),
    "leaders": ("ranking", ("brand", "own"), ()),
    "voices": ("ranking", (PROMPT, "brand", VOICE), ()),
    "prompts": ("prompts", (), ()),
    "prompt_engines": ("prompts", ("engine", PROMPT), ()),
}
"""What a table is here: its section, the columns that tell it, and its key where that matters."""

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Contrast:
    """A measure that is compared, for each of some groups.

    Parameters
    ----------
    subject, measure : str
        What it is about, and what is compared.
    parts : pair of pandas.DataFrame
        The rows of this side and of the other.
    by : tuple of str
        The column that names the groups; empty if there is one.
    pair, cluster : str, optional
        What is paired, or repeats.
    rules : mapping
        The rule of the measure, where its column does not declare it.
    is_total : bool
        Whether it counts whole windows, so that their variance is that of answers times the
        design effect of the change within prompts.
    column : str
        The column that the rule is of, where the measure has none of its own.
    """

    subject: str
    measure: str
    parts: tuple[pd.DataFrame, pd.DataFrame]
    by: tuple[str, ...] = ()
    pair: str | None = None
    cluster: str | None = None
    rules: Rules = field(default_factory=dict)
    is_total: bool = False
    column: str = ""

    @property
    def is_planned(self) -> bool:
        """Whether it is the one comparison that was planned."""
        return not self.by and self.measure == RATE

    def paired(self, prompt: str = PROMPT) -> Contrast:
        """The same, paired by prompt, or of two samples of prompts."""
        pair, cluster = pairing(*self.parts, self.by, by=prompt)
        return replace(self, pair=pair, cluster=cluster)

    def rows(self, level: float, design: tuple[Any, Any], unknown: str) -> Iterator[ComparedRow]:
        """The comparisons, a group each; of totals with the design effect of prompts."""
        column, how = self.column or self.measure, design if self.is_total else INDEPENDENT
        pair, rules = (self.pair, self.cluster), self.rules
        for row in compared(*self.parts, column, self.by, *pair, level, rules, how):
            if self.is_total and unknown and math.isfinite(number(row.p)):
                row = replace(row, why=unknown, method="")
            yield replace(
                row,
                measure=self.measure,
                key=(self.subject, row.key[0] if self.by else None),
                unit=FRACTION if self.column else row.unit,
                is_planned=self.is_planned,
            )


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
    """The tables of a dataset that are something here."""
    section, columns, key = _ROLES[role]
    if section not in data:
        return []
    tables = data[section]
    if role == "prompts":
        return [tables.main]
    return [
        frame
        for frame in (tables[name] for name in tables)
        if {*columns} <= {*frame.columns}
        and not (role == "prompt_engines" and frame is tables.main)
        and key in ((), metadata_of(frame).key)
    ]


@recorded("headline", "frames")
def headline_of(
    frames: Sequence[pd.DataFrame], names: Sequence[str], is_two: bool, level: float
) -> pd.DataFrame:
    """The comparison, of the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    sides = [
        [metadata_of(frame) for name, frame in tables.items() if name.startswith(f"{word}.")]
        for word in (WINDOWS if is_two else WINDOWS[:1] * 2)
    ]
    words = side_names(*sides)
    rows: list[ComparedRow] = []
    design, unknown = INDEPENDENT, f"{_UNKNOWN}there are no counts by prompt"
    for question in _questions(tables, is_two, words):
        if isinstance(question, Contrast):
            made = [*question.rows(level, design, unknown)]
            design = design_of(made[0].change) if question.is_planned else design
        else:
            made = [question]
        if question.is_planned:
            unknown = f"{_UNKNOWN}{made[0].why}" if made[0].why else ""
        rows += [row for row in made if not _is_repeated(row, rows)]
    figures = [*_figures(tables, is_two, rows)]
    own = [figure.change for figure in figures if figure.measure == RATE]
    rows = [
        replace(row, change=own[0])
        if own and row.is_planned and not math.isfinite(number(row.change.change))
        else row
        for row in rows
    ]
    rows += [figure for figure in figures if figure.measure != RATE]
    metadata = [metadata_of(frame) for frame in frames] or [FrameMetadata()]
    return comparison(rows, ("subject", "name"), metadata, "holm", level, words, is_ranked=True)


def _questions(
    tables: Tables, is_two: bool, words: Sequence[str]
) -> Iterator[Contrast | ComparedRow]:
    """What is compared, in order: the planned comparison first; a row where it cannot be."""
    yield from _of_prompts(tables, is_two, words)
    yield from _of_engines(tables, is_two, words)
    yield from _of_voices(tables, is_two)
    parts = _parts(tables, "brands", is_two, _COUNTS)
    if not isinstance(parts, str) and _have(parts, _COUNTS):
        yield Contrast(
            "brand",
            RATE,
            parts,
            ("brand",),
            is_total=True,
            column=_COUNTS[0],
            rules={_COUNTS[0]: ratio(*_COUNTS)},
        )


def _parts(
    tables: Tables, role: str, is_two: bool, measures: Sequence[str], rows: Any = None
) -> tuple[pd.DataFrame, pd.DataFrame] | str:
    """Both sides of a table, or why there are not two; ``rows`` selects some of each."""
    frames = []
    for side, word in enumerate(WINDOWS):
        frame = tables.get(f"{word if is_two else WINDOWS[0]}.{role}")
        if frame is None:
            return f"{{{word}}}: the section {_ROLES[role][0]} was not read, or has no such table"
        if rows is not None:
            chosen = np.flatnonzero(rows(frame))
            frame = derived(frame.iloc[chosen], frame, rows=chosen)
        if side and not is_two:
            wanted = [name for name in measures if name in frame.columns][:1]
            if not wanted or wanted[0] not in previous_names(frame).values():
                return f"{{before}}: the section {_ROLES[role][0]} gives no window before this one"
            frame = previous_window(frame, wanted)
        frames.append(frame)
    return frames[0], frames[1]


def _have(parts: Sequence[pd.DataFrame], columns: Sequence[str]) -> bool:
    return all({*columns} <= {*part.columns} for part in parts)


def _rule(frame: pd.DataFrame, measure: str) -> Aggregation | None:
    what = declared(metadata_of(frame).columns[measure]) if measure in frame.columns else None
    rule = what.aggregate if what is not None else None
    return rule if rule is not None and rule.rule in ("ratio", "mean") else None


def _of_prompts(
    tables: Tables, is_two: bool, words: Sequence[str]
) -> Iterator[Contrast | ComparedRow]:
    """The rate and the position over all prompts, and the rate by topic."""
    parts = _parts(tables, "prompts", is_two, [RATE])
    main = tables.get("now.prompts")
    if not isinstance(parts, str) and (main is None or _rule(main, RATE) is None):
        parts = f"the section prompts has no {RATE} with its counts"
    if main is None or isinstance(parts, str):
        days = _parts(tables, "trend", is_two, [RATE])
        if is_two and not isinstance(days, str):
            yield Contrast("all answers", RATE, days, cluster=DATE)
        else:
            yield _lacking("all prompts", str(parts), words, is_planned=True)
        return
    key = metadata_of(main).key
    prompt = PROMPT if PROMPT in main.columns or len(key) != 1 else str(key[0])
    whole = Contrast("all prompts", RATE, parts).paired(prompt)
    yield whole
    places = _parts(tables, "prompts", is_two, [POSITION])
    if not isinstance(places, str) and _rule(main, POSITION):
        yield replace(whole, measure=POSITION, parts=places)
    if _have(parts, ["topic"]):
        yield replace(whole, subject="topic", by=("topic",))


def _of_engines(
    tables: Tables, is_two: bool, words: Sequence[str]
) -> Iterator[Contrast | ComparedRow]:
    """The rate by engine: paired by prompt where it is counted by prompt, else of totals."""
    parts = _parts(tables, "prompt_engines", is_two, _COUNTS)
    if not isinstance(parts, str):
        here = tables["now.prompt_engines"]
        # The table may count without giving the rate of it, which is that of the prompts.
        rule = _rule(here, RATE) or _rule(tables.get("now.prompts", here), RATE)
        over = (rule.over if rule else None) or ()
        if over and _have(parts, over):
            question = Contrast("engine", RATE, parts, ("engine",)).paired()
            yield replace(question, column=over[0], rules={over[0]: ratio(*over)})
            return
    totals = _parts(tables, "engines", is_two, [RATE])
    if not isinstance(totals, str):
        yield Contrast("engine", RATE, totals, ("engine",), is_total=True)
    elif is_two:
        yield _lacking("engine", totals, words)


def _of_voices(tables: Tables, is_two: bool) -> Iterator[Contrast]:
    """The share of voice of the own brands, by prompt."""
    own = []
    for word in WINDOWS if is_two else WINDOWS[:1]:
        leaders, voices = (tables.get(f"{word}.{role}") for role in ("leaders", "voices"))
        if leaders is None or voices is None:
            return
        names = {*leaders.loc[leaders["own"].fillna(False).astype(bool), "brand"]}
        own.append(names & {*voices["brand"]})
    both = set.intersection(*own)
    parts = _parts(tables, "voices", is_two, [VOICE], lambda frame: frame["brand"].isin(both))
    if both and not isinstance(parts, str):
        yield Contrast("brand", VOICE, parts, ("brand",)).paired()


def _lacking(
    subject: str, why: str, words: Sequence[str], *, is_planned: bool = False
) -> ComparedRow:
    why = why.format(now=words[0], before=words[1])
    row = ComparedRow(RATE, (subject, None), NOTHING, FRACTION, True, why=why)
    return replace(row, is_planned=is_planned)


def _is_repeated(row: ComparedRow, rows: Sequence[ComparedRow]) -> bool:
    """Whether a row of one brand counts what the planned comparison counts already."""
    return (row.key[0], row.measure) == ("brand", RATE) and any(
        other.is_planned
        and number(row.change.after) == number(other.change.after)
        and number(row.change.before) == number(other.change.before)
        for other in rows
    )


def design_of(change: Change) -> tuple[Any, Any]:
    """By how much a change varies more than of independent answers, 1 at least; its freedom."""
    sizes = change.size_before, change.size_after
    pooled = (change.before * sizes[0] + change.after * sizes[1]) / (sizes[0] + sizes[1])
    name_all(pooled=pooled)
    simple = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    name_all(simple=simple)
    ratio_of = np.maximum(change.error**2 / np.maximum(simple, 1e-300), 1.0)
    deff = np.where(simple > 0, ratio_of, 1.0)
    name_all(deff=deff)
    return deff, change.df


def _figures(tables: Tables, is_two: bool, rows: Sequence[ComparedRow]) -> Iterator[ComparedRow]:
    """The key figures that no other row gives, with their values and no test."""
    now = tables.get("now.figures")
    if now is None:
        return
    earlier = _values(tables.get("before.figures"), "value", "before") if is_two else _previous(now)
    there = {
        row.measure
        for row in rows
        if (row.key[1] is None or row.measure == VOICE) and math.isfinite(number(row.change.change))
    }
    for place, (metric, value) in enumerate(_values(now, "value", "after").items()):
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", metric).lower()
        name = re.sub(r"[^a-z0-9]+", "_", name)
        if name == "answer_count" or name in there or (name == _VISIBILITY and RATE in there):
            continue  # how much was asked, or what another row says, the latter of 100
        before = earlier.get(metric, math.nan)
        change = replace(NOTHING, before=before, after=value, change=value - before)
        why = f"the service gives no counts of {name} by prompt that say how it varies"
        if not math.isfinite(number(change.change)):
            why = f"before: no number{'' if is_two else _state(now, place)}"
        is_rate = "unit" in now.columns and str(now["unit"].iloc[place]) == "fraction"
        unit = FRACTION if is_rate else None
        yield ComparedRow(name, ("key figure", name), change, unit, is_rate, "", why)


def _values(frame: pd.DataFrame | None, column: str, name: str) -> dict[str, Any]:
    """The key figures of a column, by their metric."""
    if frame is None:
        return {}
    metrics = [*map(str, frame["metric"])]
    values = cells_of(name, frame, column, np.arange(len(frame)))
    return {metric: take(values, at) for at, metric in enumerate(metrics)}


def _previous(frame: pd.DataFrame) -> dict[str, Any]:
    """The values of the window before, as the table gives them: themselves, or the change."""
    names = {measure: name for name, measure in previous_names(frame).items()}
    if "value" in names:
        return _values(frame, names["value"], "before")
    if "change" not in frame.columns:
        return {}
    changes = _values(frame, "change", "moved")
    return {name: value - changes[name] for name, value in _values(frame, "value", "value").items()}


def _state(frame: pd.DataFrame, place: int) -> str:
    for name, measure in previous_names(frame).items():
        if measure == "value":
            cells = states_of(frame, name, metadata_of(frame))
            state = cells.states[int(cells.codes[place])]
            return "" if state.status == Status.AVAILABLE else f" ({state})"
    return ""
