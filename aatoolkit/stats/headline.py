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
from aatoolkit.frame.cell_status import cells_of
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import FRACTION, Aggregation, ratio
from aatoolkit.stats.cluster_sums import Rules
from aatoolkit.stats.compare import (
    PROMPT,
    WINDOWS,
    ComparedRow,
    change_of,
    compared,
    comparison,
    names_of_sides,
    pairing,
    previous_names,
    previous_window,
    side_names,
    sides_of,
    traced_columns,
)
from aatoolkit.stats.estimate import NOTHING, Change
from aatoolkit.stats.results import check_level
from aatoolkit.stats.trace import name_all, setting

RATE, POSITION, VOICE = "mention_rate", "average_position", "share_of_voice"
DATE = "date"
_COUNTS = ("mention_count", "answer_count")
_ORDER = {"up": 0, "down": 0, "no evidence": 1, "cannot say": 2}
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


@dataclass(frozen=True)
class Part:
    """One side of a question: a frame, which of its rows, and of which window.

    Parameters
    ----------
    frame : pandas.DataFrame
        A table of a dataset.
    role : str
        The dataset and what the table is here, such as ``now.prompts``.
    rows : array of int, optional
        The rows that are meant; all by default.
    measures : tuple of str
        What of the window before is meant, as this table gives it; empty for this window.
    """

    frame: pd.DataFrame
    role: str
    rows: Any = None
    measures: tuple[str, ...] = ()

    @property
    def selected(self) -> pd.DataFrame:
        """The rows, as they are compared."""
        frame = self.frame if self.rows is None else self.frame.iloc[self.rows]
        return previous_window(frame, self.measures) if self.measures else frame


@dataclass(frozen=True)
class Contrast:
    """A measure that is compared, for each of some groups.

    Parameters
    ----------
    subject, measure : str
        What it is about, and what is compared.
    parts : tuple of Part
        This side and the other.
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
    parts: tuple[Part, Part]
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

    def rows(self, level: float, design: tuple[Any, Any], unknown: str) -> Iterator[ComparedRow]:
        """The comparisons, a group each; of totals with the design effect of prompts."""
        now, before = (part.selected for part in self.parts)
        how = (self.pair, self.cluster, level, self.rules)
        more = (design,) if self.is_total else ()
        for row in compared(now, before, self.column or self.measure, self.by, *how, *more):
            if self.is_total and unknown and np.isfinite(row.p):
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
    others = [tables[name] for name in tables]
    return [
        frame
        for frame in others
        if all(column in frame.columns for column in columns)
        and not (role == "prompt_engines" and frame is tables.main)
        and key in ((), metadata_of(frame).key)
    ]


@recorded("headline", "frames")
def headline_of(
    frames: Sequence[pd.DataFrame], names: Sequence[str], is_two: bool, level: float
) -> pd.DataFrame:
    """The comparison, of the tables that were read."""
    tables = dict(zip(names, frames, strict=True))
    words = _words(tables, is_two)
    rows: list[ComparedRow] = []
    design, unknown = (1.0, math.inf), f"{_UNKNOWN}there are no counts by prompt"
    for question in questions(tables, is_two, words):
        if isinstance(question, ComparedRow):
            rows.append(question)
            unknown = f"{_UNKNOWN}{question.why}" if question.is_planned else unknown
            continue
        made = [*question.rows(level, design, unknown)]
        if question.is_planned:
            change, why = made[0].change, made[0].why
            design, unknown = design_of(change), f"{_UNKNOWN}{why}" if why else ""
        rows += [row for row in made if not _is_repeated(row, rows)]
    figures = [*_figures(tables, is_two, rows)]
    rows = [_with_figure(row, figures) for row in rows]
    rows += [row for row in figures if row.measure != RATE]
    metadata = [metadata_of(frame) for frame in frames] or [FrameMetadata()]
    frame = comparison(rows, ("subject", "name"), metadata, "holm", level, words)
    order = frame["verdict"].map(_ORDER).to_numpy(np.int64)
    planned = np.array([not row.is_planned for row in rows], bool)
    size = -frame["change"].abs().to_numpy(np.float64, na_value=0.0)
    place = np.lexsort((size, order, planned))
    return attach(frame.take(place).reset_index(drop=True), metadata_of(frame))


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of ``Dataset.compare``, traced."""
    given = cells.arguments
    if "asked" not in cells.shared:
        frames = [made.frame for made in cells.inputs]
        tables = dict(zip(given["names"], frames, strict=True))
        cells.shared["asked"] = {
            (question.subject, question.measure): question
            for question in questions(tables, bool(given["is_two"]))
            if isinstance(question, Contrast)
        }
    asked: dict[tuple[str | None, str | None], Contrast] = cells.shared["asked"]

    def contrast(row: int) -> Contrast | None:
        return asked.get((cells.text(row, "subject"), cells.text(row, "measure")))

    def change(row: int) -> Change:
        question = contrast(row)
        if question is None:
            raise LookupError(row)
        key = cells.key(row, ["name"]) if question.by else []
        return _traced_change(cells, question, key, asked.get(("all prompts", RATE)))

    if contrast(at) is None:
        return _traced_figure(cells, at)
    tests = {
        row: p
        for row, p in cells.tests().items()
        if not (cells.text(row, "family") or "").startswith("planned")
    }
    return traced_columns(cells, at, change, tests, "holm")


def _traced_change(
    cells: Any, question: Contrast, key: Sequence[Any], whole: Contrast | None
) -> Change:
    names, level = cells.arguments["names"], setting("level", cells.arguments.get("level", 0.95))
    column, cluster = question.column or question.measure, question.pair or question.cluster
    sides = []
    for part in question.parts:
        made = cells.inputs[names.index(part.role)]
        source = cells.selected(made, part.rows, part.measures and previous_window)
        sides.append(
            cells.sums(source, column, [*question.by], cluster, question.rules, counts=True)
        )
    design: tuple[Any, Any] = (1.0, math.inf)
    if question.is_total and whole is not None:
        if "design" not in cells.shared:
            cells.shared["design"] = design_of(_traced_change(cells, whole, [], None))
        design = cells.shared["design"]
    groups = [side.group(key) for side in sides]
    return change_of(sides, groups, question.pair, question.cluster, level, design)


def _traced_figure(cells: Any, at: int) -> dict[str, Any]:
    """A key figure of which nothing is counted: its values, as the service gives them."""
    names, is_two = cells.arguments["names"], bool(cells.arguments["is_two"])
    tables = [names.index("now.figures")]
    tables.append(names.index("before.figures") if is_two else tables[0])
    columns = ["value", "value"]
    if not is_two:
        earlier = previous_names(cells.inputs[tables[1]].frame)
        columns[1] = next(name for name, of in earlier.items() if of == "value")
    ends = {}
    sides = sides_of(names_of_sides(cells.flat))
    for name, table, column in zip(sides, tables, columns, strict=False):
        metrics = [measure_name(str(metric)) for metric in cells.inputs[table].frame["metric"]]
        row = metrics.index(cells.text(at, "measure"))
        ends[name] = cells.cell(name, table, row, column)
    now, before = ends.values()
    return ends | {"change": now - before}


def _words(tables: Mapping[str, pd.DataFrame], is_two: bool) -> tuple[str, str]:
    """What the two sides are called."""
    of = [
        [metadata_of(frame) for name, frame in tables.items() if name.startswith(f"{word}.")]
        for word in WINDOWS
    ]
    return side_names(of[0], of[1] if is_two else of[0])


def questions(
    tables: Mapping[str, pd.DataFrame], is_two: bool, words: Sequence[str] = WINDOWS
) -> Iterator[Contrast | ComparedRow]:
    """What is compared, in order: the planned comparison first; a row where it cannot be."""
    yield from _of_prompts(tables, is_two, words)
    yield from _of_engines(tables, is_two, words)
    yield from _of_voices(tables, is_two)
    parts = _parts(tables, "brands", is_two, _COUNTS)
    if not isinstance(parts, str) and _have(parts, _COUNTS):
        total = Contrast("brand", RATE, parts, ("brand",), is_total=True)
        yield replace(total, column=_COUNTS[0], rules={_COUNTS[0]: ratio(*_COUNTS)})


def _have(parts: Sequence[Part], columns: Sequence[str]) -> bool:
    return all(name in part.selected.columns for part in parts for name in columns)


def _parts(
    tables: Mapping[str, pd.DataFrame], role: str, is_two: bool, measures: Sequence[str]
) -> tuple[Part, Part] | str:
    """Both sides of a table, or why there are not two."""
    now = tables.get(f"now.{role}")
    if now is None:
        return f"{{now}}: the section {_ROLES[role][0]} was not read, or has no such table"
    part = Part(now, f"now.{role}")
    if not is_two:
        wanted = tuple(name for name in measures if name in now.columns)
        there = {*previous_names(now).values()}
        if not wanted or any(name not in there for name in wanted[:1]):
            return f"{{before}}: the section {_ROLES[role][0]} gives no window before this one"
        return part, Part(now, f"now.{role}", measures=wanted[:1])
    before = tables.get(f"before.{role}")
    if before is None:
        return f"{{before}}: the section {_ROLES[role][0]} was not read, or has no such table"
    return part, Part(before, f"before.{role}")


def _rule(frame: pd.DataFrame, measure: str) -> Aggregation | None:
    what = declared(metadata_of(frame).columns[measure]) if measure in frame.columns else None
    rule = what.aggregate if what is not None else None
    return rule if rule is not None and rule.rule in ("ratio", "mean") else None


def _of_prompts(
    tables: Mapping[str, pd.DataFrame], is_two: bool, words: Sequence[str]
) -> Iterator[Contrast | ComparedRow]:
    """The rate and the position over all prompts, and the rate by topic."""
    parts = _parts(tables, "prompts", is_two, [RATE])
    if not isinstance(parts, str) and any(_rule(part.frame, RATE) is None for part in parts):
        parts = f"the section prompts has no {RATE} with its counts"
    if isinstance(parts, str):
        days = _parts(tables, "trend", is_two, [RATE])
        if is_two and not isinstance(days, str):
            yield Contrast("all answers", RATE, days, cluster=DATE)
            return
        yield _lacking(RATE, "all prompts", parts, words, is_planned=True)
        return
    whole = _paired(Contrast("all prompts", RATE, parts), _prompt(parts[0].frame))
    yield whole
    places = _parts(tables, "prompts", is_two, [POSITION])
    if not isinstance(places, str) and all(_rule(part.frame, POSITION) for part in places):
        yield replace(whole, measure=POSITION, parts=places)
    if all("topic" in part.frame.columns for part in parts):
        yield replace(whole, subject="topic", by=("topic",))


def _paired(question: Contrast, prompt: str = PROMPT) -> Contrast:
    """The question, paired by prompt, or of two samples of prompts."""
    now, before = (part.selected for part in question.parts)
    pair, cluster = pairing(now, before, question.by, by=prompt)
    return replace(question, pair=pair, cluster=cluster)


def _prompt(frame: pd.DataFrame) -> str:
    """The column that names the prompts of the section's main table."""
    key = metadata_of(frame).key
    return PROMPT if PROMPT in frame.columns or len(key) != 1 else str(key[0])


def _of_engines(
    tables: Mapping[str, pd.DataFrame], is_two: bool, words: Sequence[str]
) -> Iterator[Contrast | ComparedRow]:
    """The rate by engine: paired by prompt where it is counted by prompt, else of totals."""
    parts = _parts(tables, "prompt_engines", is_two, _COUNTS)
    if not isinstance(parts, str):
        main = tables.get("now.prompts", parts[0].frame)
        rule = _rule(parts[0].frame, RATE) or _rule(main, RATE)
        over = (rule.over if rule else None) or ()
        if over and _have(parts, over):
            # The table may count without giving the rate of it, which is that of the prompts.
            question = _paired(Contrast("engine", RATE, parts, ("engine",)))
            yield replace(question, column=over[0], rules={over[0]: ratio(*over)})
            return
    totals = _parts(tables, "engines", is_two, [RATE])
    if not isinstance(totals, str):
        yield Contrast("engine", RATE, totals, ("engine",), is_total=True)
    elif is_two:
        yield _lacking(RATE, "engine", totals, words)


def _of_voices(tables: Mapping[str, pd.DataFrame], is_two: bool) -> Iterator[Contrast]:
    """The share of voice of the own brands, by prompt."""
    parts = _parts(tables, "voices", is_two, [VOICE])
    if isinstance(parts, str):
        return
    chosen = []
    for part in parts:
        leaders = tables.get(f"{part.role.split('.')[0]}.leaders")
        if leaders is None:
            return
        own = leaders.loc[leaders["own"].fillna(False).astype(bool), "brand"]
        chosen.append(part.frame["brand"].isin(own))
    names = [{*part.frame.loc[mask, "brand"]} for part, mask in zip(parts, chosen, strict=True)]
    both = names[0] & names[1]
    one, two = (
        replace(part, rows=np.flatnonzero((mask & part.frame["brand"].isin(both)).to_numpy(bool)))
        for part, mask in zip(parts, chosen, strict=True)
    )
    if both:
        yield _paired(Contrast("brand", VOICE, (one, two), ("brand",)))


def _lacking(
    measure: str, subject: str, why: str, words: Sequence[str], *, is_planned: bool = False
) -> ComparedRow:
    reason = why.format(now=words[0], before=words[1])
    key = (subject, None)
    return ComparedRow(measure, key, NOTHING, FRACTION, True, "", reason, (), is_planned)


def _is_repeated(row: ComparedRow, rows: Sequence[ComparedRow]) -> bool:
    """Whether a row of one brand counts what the planned comparison counts already."""
    if row.key[0] != "brand" or row.measure != RATE:
        return False
    return any(
        other.is_planned
        and row.change.after == other.change.after
        and row.change.before == other.change.before
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


def _figures(
    tables: Mapping[str, pd.DataFrame], is_two: bool, rows: Sequence[ComparedRow]
) -> Iterator[ComparedRow]:
    """The key figures that no other row gives, with their values and no test."""
    now = tables.get("now.figures")
    if now is None:
        return
    before = tables.get("before.figures") if is_two else None
    earlier = dict(_values(before, "value")) if before is not None else {}
    if not is_two:
        earlier = dict(_previous_figures(now))
    given = {
        row.measure
        for row in rows
        if (row.key[1] is None or row.measure == VOICE) and np.isfinite(row.change.change)
    }
    for place, (metric, value) in enumerate(_values(now, "value")):
        name = measure_name(metric)
        if name == "answer_count" or name in given or (name == _VISIBILITY and RATE in given):
            continue  # how much was asked, or what another row says, the latter of 100
        ends = {"before": earlier.get(metric, math.nan), "after": value}
        change = replace(NOTHING, change=value - ends["before"], **ends)
        why = f"the service gives no counts of {name} by prompt that say how it varies"
        if not np.isfinite(change.change):
            why = f"before: no number{_state(now, place, is_two)}"
        is_rate = "unit" in now.columns and str(now["unit"].iloc[place]) == "fraction"
        unit = FRACTION if is_rate else None
        yield ComparedRow(name, ("key figure", name), change, unit, is_rate, "", why)


def _with_figure(row: ComparedRow, figures: Sequence[ComparedRow]) -> ComparedRow:
    """The planned comparison with the values of the key figure, where nothing else gives them."""
    if not row.is_planned or np.isfinite(row.change.change):
        return row
    ends = [figure.change for figure in figures if figure.measure == row.measure]
    return replace(row, change=ends[0]) if ends else row


def measure_name(metric: str) -> str:
    """The name of a key figure, spelled as columns are.

    Examples
    --------
    >>> measure_name("shareOfVoice"), measure_name("visibility-score")
    ('share_of_voice', 'visibility_score')
    """
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", metric).lower())


def _values(frame: pd.DataFrame, column: str) -> Iterator[tuple[str, float]]:
    values = frame[column].to_numpy(np.float64, na_value=np.nan)
    yield from zip(map(str, frame["metric"]), values.tolist(), strict=True)


def _previous_figures(frame: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """The values of the window before, as the table gives them: themselves, or the change."""
    names = {measure: name for name, measure in previous_names(frame).items()}
    if "value" in names:
        yield from _values(frame, names["value"])
    elif "change" in frame.columns:
        pairs = zip(_values(frame, "value"), _values(frame, "change"), strict=True)
        yield from ((metric, value - change) for (metric, value), (_, change) in pairs)


def _state(frame: pd.DataFrame, place: int, is_two: bool) -> str:
    names = [name for name, measure in previous_names(frame).items() if measure == "value"]
    if is_two or not names:
        return ""
    cells = cells_of(frame, names[0], metadata_of(frame))
    state = cells.states[int(cells.codes[place])]
    return "" if state.status == Status.AVAILABLE else f" ({state})"
