"""Changes between two datasets: the headline measures, compared in one family of tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.frame.cell_status import cells_of
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import FRACTION, ratio
from aatoolkit.stats.cluster_sums import ClusterSums, cluster_sums
from aatoolkit.stats.compare import ComparedRow, compared, comparison
from aatoolkit.stats.difference import NOTHING, Difference, independent
from aatoolkit.stats.estimate import sampled
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.sides import PROMPT, pairing, previous_window, side_names

MAIN = "main"
_TABLES = (
    ("overview", MAIN),
    ("overview", "overview_kpis"),
    ("overview", "overview_engines"),
    ("overview", "overview_top_brands"),
    ("prompts", MAIN),
    ("ranking", MAIN),
    ("ranking", "ranking_prompts"),
)
"""What is compared: the tables of each side."""

_KEY = ("subject", "name")
RATES = {"mention_rate": ratio("mention_count", "answer_count")}
RATE = "mentionRate"
SHARES = {"shareOfVoice": "mentions", "citationShare": "citations"}
"""Key figures that count some of the mentions or citations, whose design effect is not known."""

_RANKING = "ranking"
_BY_PROMPT = "ranking_prompts"
_VOICE = "shareOfVoice"
_ORDER = {"up": 0, "down": 0, "no evidence": 1, "cannot say": 2}


@dataclass(frozen=True)
class Design:
    """Design effect of clustering by prompt, and its degrees of freedom."""

    deff: float = 1.0
    df: float = math.inf
    why: str | None = None
    """Why it is not known."""


@dataclass(frozen=True)
class _Side:
    """A table of one of the datasets, if it has it."""

    table: pd.DataFrame | None
    why: str | None = None


def headline(now: Mapping[str, Any], other: Mapping[str, Any] | None, level: float) -> pd.DataFrame:
    """Compare the headline measures; see ``Dataset.compare``."""
    check_level(level)
    names, frames = [], []
    for word, data in (("now", now), ("before", other or {})):
        for section, table in _TABLES:
            if section in data and (table == MAIN or table in data[section]):
                tables = data[section]
                names.append(f"{word}.{section}.{table}")
                frames.append(tables.main if table == MAIN else tables[table])
    return headline_of(frames, names, other is not None, level)


def sides_of(
    frames: Sequence[Any], names: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Frames by side, section and table."""
    found: dict[str, dict[str, dict[str, Any]]] = {"now": {}, "before": {}}
    for name, frame in zip(names, frames, strict=True):
        side, section, table = name.split(".")
        found[side].setdefault(section, {})[table] = frame
    return found["now"], found["before"]


@recorded("headline", "frames")
def headline_of(
    frames: Sequence[pd.DataFrame], names: Sequence[str], is_two: bool, level: float
) -> pd.DataFrame:
    """The comparison, of the tables that were read."""
    now, before = sides_of(frames, names)
    known = [
        [
            metadata_of(each[name][MAIN])
            for name in ("overview", "prompts", _RANKING)
            if name in each
        ]
        for each in (now, before)
    ]
    sides = side_names(*known)
    rows = [*(_two(now, before, level, sides) if is_two else _previous(now, level))]
    knowns = [*known[0], *known[1]] or [FrameMetadata()]
    frame = comparison(rows, _KEY, knowns, "holm", level, sides)
    order = frame["verdict"].map(_ORDER).to_numpy(np.int64)
    size = -frame["change"].abs().to_numpy(np.float64, na_value=0.0)
    return _sorted(frame, np.lexsort((size, order)))


def _sorted(frame: pd.DataFrame, order: Any) -> pd.DataFrame:
    return attach(frame.take(order).reset_index(drop=True), metadata_of(frame))


def _table(data: Mapping[str, Any], section: str, name: str, word: str) -> _Side:
    if section not in data:
        return _Side(None, f"{word}: the section {section} was not read")
    if name not in data[section]:
        return _Side(None, f"{word}: the section {section} has no table {name}")
    return _Side(data[section][name])


def _two(
    now: Mapping[str, Any], other: Mapping[str, Any], level: float, names: Sequence[str]
) -> Iterator[ComparedRow]:
    """Two datasets: by prompt, and totals with the design effect of prompts."""
    datasets = [*zip((now, other), names, strict=True)]
    prompts = [_table(data, "prompts", MAIN, word) for data, word in datasets]
    both = [side.table for side in prompts if side.table is not None]
    if len(both) == 2:
        pairs = (*pairing(both[0], both[1], []), level)
        found = [*compared(both[0], both[1], "mention_rate", ["topic"], *pairs)]
        whole = [*compared(both[0], both[1], "mention_rate", [], *pairs)]
        whole += compared(both[0], both[1], "average_position", [], *pairs)
        yield from (replace(row, key=("all prompts", None)) for row in whole)
        yield from (replace(row, key=("topic", row.key[0])) for row in found)
        design = compared_design(whole[0].difference)
    else:
        yield _lacking("mention_rate", "all prompts", prompts)
        reasons = "; ".join(side.why for side in prompts if side.why)
        design = Design(why=f"nothing says how prompts differ: {reasons}")
    yield from _two_voices(now, other, level)
    for subject, table in (("engine", "overview_engines"), ("brand", "overview_top_brands")):
        sides = [_table(data, "overview", table, word) for data, word in datasets]
        tables = [side.table for side in sides if side.table is not None]
        if len(tables) < 2:
            yield _lacking("mention_rate", subject, sides)
            continue
        first, second = (without_previous(each) for each in tables)
        how = (level, RATES, design.deff, design.df)
        rows = compared(first, second, "mention_rate", [subject], None, None, *how)
        for row in rows:
            difference = _with(design, row.difference)
            yield replace(row, key=(subject, row.key[0]), difference=difference)


def _two_voices(
    now: Mapping[str, Any], other: Mapping[str, Any], level: float
) -> Iterator[ComparedRow]:
    """The share of voice of the own brands in two datasets, where prompts say how it differs."""
    if _has_voices(now) and _has_voices(other):
        one, two = own_brands(now), own_brands(other)
        one, two = one[one["brand"].isin(two["brand"])], two[two["brand"].isin(one["brand"])]
        if len(one):
            yield from _voices(one, two, level)


def _has_voices(data: Mapping[str, Any]) -> bool:
    return _RANKING in data and _BY_PROMPT in data[_RANKING]


def own_brands(data: Mapping[str, Any]) -> pd.DataFrame:
    """Mentions by prompt of the brands that are the project's own."""
    tables = data[_RANKING]
    leaders: pd.DataFrame = tables[MAIN]
    by_prompt: pd.DataFrame = tables[_BY_PROMPT]
    own = leaders.loc[leaders["own"].fillna(False).astype(bool), "brand"]
    return by_prompt[by_prompt["brand"].isin(own)]


def _voices(now: pd.DataFrame, before: pd.DataFrame, level: float) -> Iterator[ComparedRow]:
    pairs = pairing(now, before, ["brand"])
    for row in compared(now, before, "share_of_voice", ["brand"], *pairs, level):
        yield replace(row, key=("brand", row.key[0]))


def _own_voice(now: Mapping[str, Any], level: float) -> ComparedRow | None:
    """The share of voice of the own brand against the window before, if there is one own brand."""
    own = own_brands(now) if _has_voices(now) else None
    if own is None or own["brand"].nunique() != 1:
        return None
    (row,) = _voices(own, previous_window(own, ["share_of_voice"]), level)
    return row


def _with(design: Design, difference: Difference) -> Difference:
    """A change of totals, refused where the design effect of prompts is not known."""
    if not design.why or not np.isfinite(difference.p):
        return difference
    return replace(difference, why=design.why, method="").refused()


def without_previous(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without what it says of the window before."""
    return frame.loc[:, [name for name in frame.columns if not name.startswith("previous_")]]


def _lacking(measure: str, subject: str, sides: list[_Side]) -> ComparedRow:
    why = "; ".join(side.why for side in sides if side.why)
    return ComparedRow(measure, (subject, None), replace(NOTHING, why=why), FRACTION, True, ())


def compared_design(found: Difference) -> Design:
    """Return the design effect of the change, which is 1 at least, and its degrees of freedom."""
    if not np.isfinite(found.error):
        return Design(why=f"nothing says how prompts differ: {found.why}")
    pooled = (found.before * found.n_before + found.after * found.n) / (found.n_before + found.n)
    simple = pooled * (1 - pooled) * (1 / found.n_before + 1 / found.n)
    return Design(max(found.error**2 / simple, 1.0) if simple > 0 else 1.0, found.df)


def _previous(now: Mapping[str, Any], level: float) -> Iterator[ComparedRow]:
    """The window before, as the answer reports it: totals without prompts.

    The variance is that of independent answers times the design effect of the own mention rate
    over the prompts of this window. For that rate this is more than the truth where both windows
    asked the same prompts; for other brands it may be too little.
    """
    side = _table(now, "overview", "overview_kpis", "now")
    if side.table is None:
        yield _lacking("mention_rate", "key figure", [side])
        return
    design = _design_effect(now)
    voice = _own_voice(now, level)
    for place, record in enumerate(side.table.to_dict("records")):
        if record["metric"] == "answerCount":
            continue  # how much was asked, not what came of it
        row = _key_figure(side.table, place, record, design, level)
        if row.measure == _VOICE and voice is None and _RANKING not in now:
            why = f"{row.difference.why}; those of the section {_RANKING}, which was not read, do"
            row = replace(row, difference=replace(row.difference, why=why))
        elif row.measure == _VOICE and voice and _is_same(row.difference, voice.difference):
            row, voice = replace(row, difference=voice.difference, notes=voice.notes), None
        yield row
    if voice:
        yield voice
    brands = now["overview"].get("overview_top_brands", pd.DataFrame())
    names = ("mention_count", "answer_count", "previous_mention_count", "previous_answer_count")
    if all(name in brands.columns for name in names):
        for record in brands.to_dict("records"):
            counts = [_number(record[name]) for name in names]
            difference = _of_counts(counts, design, level)
            yield ComparedRow(
                "mention_rate", ("brand", record["brand"]), difference, FRACTION, True, ()
            )


def _is_same(one: Difference, two: Difference) -> bool:
    """Whether two counts of a change count the same: the figure's is over the paired prompts."""
    pairs = ((one.before, two.before), (one.after, two.after))
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def _design_effect(now: Mapping[str, Any]) -> Design:
    """The design effect of prompts in this window, or why it is not known."""
    if "prompts" not in now:
        return Design(why="the section prompts was not read, so nothing says how prompts differ")
    sums: ClusterSums = cluster_sums(now["prompts"][MAIN], "mention_rate", None, PROMPT)
    estimates = sampled(sums, 0.95)
    deff = float(estimates.deff[0])
    if not np.isfinite(deff) or np.isnan(estimates.low[0]):
        return Design(why="too few prompts were asked to say how they differ")
    return Design(max(deff, 1.0), float(estimates.df[0]))


def _key_figure(
    table: pd.DataFrame,
    place: int,
    record: Mapping[Any, Any],
    design: Design,
    level: float,
) -> ComparedRow:
    metric = str(record["metric"])
    parts = ("numerator", "denominator", "previous_numerator", "previous_denominator")
    unit = {"fraction": FRACTION}.get(str(record.get("unit")))
    if metric in (RATE, *SHARES) and all(part in record for part in parts):
        if metric in SHARES:
            why = f"nothing says how {SHARES[metric]} vary between prompts"
            design = replace(design, why=why)
        difference = _of_counts([_number(record[part]) for part in parts], design, level)
    else:
        values = [_number(record.get(name)) for name in ("previous_value", "value")]
        why = "the answer has no counts that say how it varies between answers"
        difference = replace(NOTHING, before=values[0], after=values[1], why=why)
    if not np.isfinite(difference.change):
        cells = cells_of(table, "previous_value", metadata_of(table))
        state = cells.states[int(cells.codes[place])]
        suffix = "" if state.status == Status.AVAILABLE else f" ({state})"
        difference = replace(difference, why=f"before: no number{suffix}").refused()
    is_rate = metric in (RATE, *SHARES)
    return ComparedRow(metric, ("key figure", metric), difference, unit, is_rate, ())


def _of_counts(counts: list[float], design: Design, level: float) -> Difference:
    y1, n1, y0, n0 = counts
    if not all(np.isfinite(counts)) or min(n1, n0) <= 0:
        return replace(NOTHING, why="one of the windows has no counts")
    whole = np.array([0])
    parts = [(whole, np.array([y]), np.array([n])) for y, n in ((y1, n1), (y0, n0))]
    return _with(design, independent(parts, [whole, whole], True, level, design.deff, design.df))


def _number(value: object) -> float:
    return float("nan") if value is None or value is pd.NA else float(value)  # type: ignore[arg-type]
