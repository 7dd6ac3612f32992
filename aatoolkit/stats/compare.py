"""``df.aa.compare`` and ``df.aa.decompose``: whether two frames differ, and in what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.frame.duplicates import answer_of
from aatoolkit.frame.groupby import By, find, flattened
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.cluster_sums import Rules, cluster_sums
from aatoolkit.stats.estimate import (
    CORRECTIONS,
    LEAST_CLUSTERS,
    NOTHING,
    Change,
    adjusted,
    answers_of,
    changed,
    changed_counts,
    changed_samples,
    changed_totals,
    detectable,
    long_run_factor,
    sample_of,
    traced_adjusted,
    varies,
)
from aatoolkit.stats.results import MEASURED, amount, check_level, points, result, verdict_of
from aatoolkit.stats.trace import (
    One,
    name_all,
    named,
    normal_quantile,
    plain_value,
    same,
    setting,
    two_sided,
)

PROMPT = "prompt_id"
WINDOWS = ("now", "before")
"""What the two sides are called, unless each is of a host of its own."""

_NAN = float("nan")
_INDEPENDENT: tuple[Any, Any] = (1.0, math.inf)
"""The design effect of answers that are independent, and its degrees of freedom."""

_ADJUSTED_BY = {
    "holm": "Holm's method",
    "bh": "Benjamini and Hochberg's method",
    None: "nothing",
}


@dataclass(frozen=True)
class ComparedRow:
    """One comparison: a measure of one group.

    Parameters
    ----------
    measure : str
        What is compared.
    key : tuple
        The group.
    change : Change
        The change.
    unit : str or None
        The unit of the values.
    is_rate : bool
        Whether both sides are rates.
    method : str
        How the change was tested.
    why : str
        Why nothing can be said of it.
    notes : tuple of str
        What limits it.
    is_planned : bool
        Whether it stands alone, and is no part of the family that p-values are adjusted over.
    """

    measure: str
    key: tuple[Any, ...]
    change: Change
    unit: str | None
    is_rate: bool
    method: str = ""
    why: str = ""
    notes: tuple[str, ...] = ()
    is_planned: bool = False

    @property
    def p(self) -> float:
        """The p-value; NaN where nothing can be said."""
        return _NAN if self.why else float(self.change.p)


@recorded("compare", "now", "before")
def compare(
    now: pd.DataFrame,
    before: pd.DataFrame,
    columns: str | Sequence[str],
    by: By = None,
    *,
    pair: str | None = None,
    cluster: str | None = None,
    correct: str | None = "holm",
    level: float = 0.95,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Compare a measure of two frames; see ``df.aa.compare``."""
    check_level(level)
    if correct not in CORRECTIONS:
        raise ArgumentError(f"correct={correct!r} is none of {', '.join(map(repr, CORRECTIONS))}")
    if pair and cluster and pair != cluster:
        raise ArgumentError("give pair= or cluster=: prompts are paired, or they are not")
    measures = [columns] if isinstance(columns, str) else list(columns)
    keys = names_of(by)
    how = pairing(now, before, keys, pair, cluster)
    rows = [
        row
        for measure in measures
        for row in compared(now, before, measure, keys, *how, level, rules)
    ]
    metadata = [metadata_of(flattened(frame)) for frame in (now, before)]
    names = side_names(metadata[:1], metadata[1:])
    return comparison(rows, keys, metadata, correct, level, names)


def compared(
    now: pd.DataFrame,
    before: pd.DataFrame,
    measure: str,
    by: Sequence[str],
    pair: str | None,
    cluster: str | None,
    level: float,
    rules: Rules | None = None,
    design: tuple[Any, Any] = _INDEPENDENT,
) -> Iterator[ComparedRow]:
    """The comparisons of one measure, a group each, not yet corrected."""
    sides = [
        cluster_sums(frame, measure, by, pair or cluster, own, counts=bool(pair or cluster))
        for frame, own in zip((now, before), _rules_of((now, before), measure, rules), strict=True)
    ]
    names = side_names(*([metadata_of(frame, levels=True)] for frame in (now, before)))
    unit, is_rate = sides[0].unit or sides[1].unit, all(side.is_rate for side in sides)
    refused = overlapping(now, before, measure)
    for key in dict.fromkeys([*sides[0].keys, *sides[1].keys]):
        groups = [side.keys.get(key) for side in sides]
        lacking = _unmeasured(sides, groups, names)
        notes = _notes(sides, groups, names)
        if None in groups:
            yield ComparedRow(measure, key, NOTHING, unit, is_rate, "", lacking, notes)
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            change, method, why, moved = _tested(sides, groups, pair, cluster, level, design)
        why = refused or lacking or why
        yield ComparedRow(measure, key, change, unit, is_rate, method, why, (*moved, *notes))


def _rules_of(
    frames: Sequence[pd.DataFrame], measure: str, rules: Rules | None
) -> tuple[Rules | None, Rules | None]:
    """The rules of both sides: the window before adds up as the column does of which it is.

    A count and the same count of the window before may be declared with different rules, where the
    answers that the profile was drafted from proved more of one than of the other.
    """
    now, before = (metadata_of(frame, levels=True) for frame in frames)
    if measure in (rules or {}) or not _is_previous(_of(now, measure), _of(before, measure)):
        return rules, rules
    column = declared(now.columns[measure])
    if column is None or column.aggregate.rule != "sum":
        return rules, rules
    return rules, {**(rules or {}), measure: column.aggregate}


def _tested(
    sides: Sequence[Any],
    groups: Sequence[Any],
    pair: str | None,
    cluster: str | None,
    level: float,
    design: tuple[Any, Any],
) -> tuple[Change, str, str, tuple[str, ...]]:
    """The change of a group, how it was tested, why it cannot be judged, and notes."""
    pairs = [side.pairs(group) for side, group in zip(sides, groups, strict=True)]
    change = change_of(sides, groups, pair, cluster, level, design)
    sizes, df = [len(part) for part in pairs], float(plain_value(change.df))
    if pair:
        k = len(pairs[0].keys() & pairs[1].keys())
        entered, left = (size - k for size in sizes)
        notes: tuple[str, ...] = ()
        if entered or left:
            notes = (
                f"the set of {pair} changed ({entered} entered, {left} left): "
                f"compared are the {k} on both sides",
            )
        if not k:
            return replace(change, clusters=0), "", f"no {pair} is on both sides", notes
        method = f"paired by {pair}, linearised, t of {df:.3g} degrees of freedom"
        return change, method, _why_not(change, k, pair), notes
    if not min(sizes):
        return NOTHING, "", "no answers on one side or both", ()
    if cluster:
        name, alike = ("days", ", long-run variance") if sides[0].is_by_day else (cluster, "")
        freedom = f"Welch's t of {df:.3g} degrees of freedom"
        method = f"two samples of {name}, linearised{alike}, {freedom}"
        return change, method, _why_not(change, min(sizes), name), ()
    if not sides[0].of_rows and not all(side.is_rate for side in sides):
        why = "nothing says how it differs between answers; name what repeats: cluster="
        return change, "", why, ()
    if not all(side.is_rate for side in sides):
        size = int(min(change.size_after, change.size_before))
        return (
            change,
            "Welch's t; takes answers for independent",
            _why_not(change, size, "answers", 2),
            (),
        )
    method = "Newcombe's interval and z test; takes answers for independent"
    if design != _INDEPENDENT:
        method = (
            f"Newcombe's interval and t test of {design[1]:.3g} degrees of freedom, with the "
            f"design effect of the own mention rate over prompts ({design[0]:.3g})"
        )
    return change, method, "", ()


def _why_not(change: Change, k: int, name: str, least: int = LEAST_CLUSTERS) -> str:
    """Why a change has no interval and p-value: too few clusters, or no variance."""
    if k < least:
        return f"{k} {name} on one side or both; at least {least} are needed to test a change"
    if not varies(float(change.error) ** 2, max(abs(change.before), abs(change.after))):
        return f"nothing differs between {k} {name}, too few to estimate an error"
    return ""


def change_of(
    sides: Sequence[Any],
    groups: Sequence[Any],
    pair: str | None,
    cluster: str | None,
    level: Any,
    design: tuple[Any, Any] = _INDEPENDENT,
) -> Change:
    """The change of a group, plain or traced, from the sums of both sides."""
    pairs = [side.pairs(group) for side, group in zip(sides, groups, strict=True)]
    is_by_day = bool(cluster and not pair and sides[0].is_by_day)
    if pair:
        common = [name for name in pairs[0] if name in pairs[1]]
        pairs = [{name: part[name] for name in common} for part in pairs]
    elif is_by_day:
        pairs = [dict(sorted(part.items())) for part in pairs]
    (y1, n1), (y0, n0) = (
        side.of(part.values(), end) for side, part, end in zip(sides, pairs, "10", strict=True)
    )
    is_rate = all(side.is_rate for side in sides)
    if pair and sides[0].is_count:
        return changed_counts(y1, y0, level)
    if pair:
        return changed(y1, n1, y0, n0, level, is_rate=is_rate)
    if cluster or not (is_rate or sides[0].of_rows):
        factors = [long_run_factor(y, n) if is_by_day else 1.0 for y, n in ((y1, n1), (y0, n0))]
        samples = sample_of(y1, n1, "1", factors[0]), sample_of(y0, n0, "0", factors[1])
        return changed_samples(*samples, level)
    if is_rate:
        return changed_totals(y1, n1, y0, n0, level, *design)
    squares = [side.squares_of(part.values()) for side, part in zip(sides, pairs, strict=True)]
    means = answers_of(y1, n1, squares[0], "1"), answers_of(y0, n0, squares[1], "0")
    return replace(changed_samples(*means, level), clusters=_NAN)


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `compare`, traced."""
    given = cells.arguments
    keys, level = names_of(given.get("by")), setting("level", given.get("level", 0.95))
    now, before = (made.frame for made in cells.inputs)
    how = pairing(now, before, keys, given.get("pair"), given.get("cluster"))

    def change(row: int) -> Change:
        measure, rules = cells.text(row, "measure"), given.get("rules")
        sides = [
            cells.sums(side, measure, keys, how[0] or how[1], own, counts=True)
            for side, own in enumerate(_rules_of((now, before), measure, rules))
        ]
        groups = [side.group(cells.key(row, keys)) for side in sides]
        return change_of(sides, groups, *how, level)

    return traced_columns(cells, at, change, cells.tests(), given.get("correct", "holm"))


def traced_columns(
    cells: Any,
    at: int,
    change: Callable[[int], Change],
    tests: Mapping[int, float],
    correct: str | None,
) -> dict[str, Any]:
    """The columns of a comparison, traced; a row that is in no family stands alone."""

    def change_at(row: int) -> Change:
        if ("change", row) not in cells.shared:
            cells.shared["change", row] = change(row)
        made: Change = cells.shared["change", row]
        return made

    made, level = change_at(at), setting("level", cells.arguments.get("level", 0.95))
    columns = _values_of(made, names_of_sides(cells.flat))
    if not np.isfinite(cells.number(at, "p")):
        return columns
    is_alone = at not in tests
    family = 1 if is_alone or not correct else max(len(tests), 1)
    columns["detectable"] = detectable(
        made.error, made.df, level, setting("tests", family), made.unequal
    )
    adjusted_p = made.p
    if not is_alone:
        adjusted_p = traced_adjusted(at, tests, correct, lambda row: change_at(row).p)
    p, threshold = same("p_adjusted", adjusted_p), 1 - level
    name_all(threshold=threshold)
    columns["p_adjusted"] = p
    verdict = p < threshold if p.value < threshold.value else p >= threshold
    verdict.value = cells.text(at, "verdict")
    return columns | {"verdict": verdict}


def names_of_sides(frame: pd.DataFrame) -> tuple[str, str]:
    """What the sides of a comparison are called."""
    if "before" in frame.columns:
        return WINDOWS
    return str(frame["host"].iloc[0]), str(frame["baseline_host"].iloc[0])


def sides_of(names: tuple[str, str]) -> tuple[str, str, str]:
    """The columns of both values, by the names of the sides, and of what the baseline is of."""
    return ("after", "before", "n_before") if names == WINDOWS else (*names, "n_baseline")


def _values_of(change: Change, names: tuple[str, str]) -> dict[str, Any]:
    """The columns of a comparison that are numbers of the change itself."""
    side, baseline, n_baseline = sides_of(names)
    columns = {baseline: change.before, side: change.after, "change": change.change}
    columns |= {name: getattr(change, name) for name in ("low", "high", "p")}
    return columns | {
        n_baseline: change.size_before,
        "n": change.size_after,
        "clusters": change.clusters,
    }


def comparison(
    rows: Sequence[ComparedRow],
    keys: Sequence[str],
    metadata: Sequence[FrameMetadata],
    correct: str | None,
    level: float,
    names: tuple[str, str] = WINDOWS,
) -> pd.DataFrame:
    """The frame of some comparisons: corrected over all of them, with their verdicts."""
    p = np.array([row.p for row in rows], np.float64)
    planned = np.array([row.is_planned for row in rows], bool)
    corrected = np.where(planned, p, adjusted(np.where(planned, np.nan, p), correct))
    family = int(np.isfinite(p[~planned]).sum())
    tests = np.where(planned, 1, max(family, 1) if correct else 1).tolist()
    shown = [_detectable(row, level, many) for row, many in zip(rows, tests, strict=True)]
    verdicts = [
        verdict_of(value, float(row.change.change), level)
        for row, value in zip(rows, corrected.tolist(), strict=True)
    ]
    side, baseline, n_baseline = sides_of(names)
    hosts = {} if names == WINDOWS else dict(zip(("host", "baseline_host"), names, strict=True))
    parts = [_values_of(row.change, names) for row in rows]
    values = {name: [part[name] for part in parts] for name in _values_of(NOTHING, names)}
    for name in ("low", "high", "p"):
        values[name] = [
            _NAN if row.why else value for row, value in zip(rows, values[name], strict=True)
        ]
    reasons = [
        _why(row, verdict, least, level, names)
        for row, verdict, least in zip(rows, verdicts, shown, strict=True)
    ]
    families = [
        None
        if not np.isfinite(value)
        else "planned: it stands alone"
        if is_planned
        else f"one of a family of {family}"
        for is_planned, value in zip(planned.tolist(), p.tolist(), strict=True)
    ]
    tail = {name: values.pop(name) for name in (n_baseline, "n", "clusters")}
    measures = {row.measure for row in rows}
    states = [
        column.availability
        for known in metadata
        for name, column in known.columns.items()
        if name in measures
    ]
    units = {row.unit for row in rows}
    windows = ("this frame", "the other frame")
    this, that = windows if names == WINDOWS else names
    return result(
        "compare",
        {
            "measure": [row.measure for row in rows],
            **{name: _key([row.key[at] for row in rows]) for at, name in enumerate(keys)},
            **{name: [host] * len(rows) for name, host in hosts.items()},
            **values,
            "p_adjusted": corrected,
            **tail,
            "detectable": shown,
            "unit": [row.unit for row in rows],
            "verdict": verdicts,
            "why": reasons,
            "method": [row.method for row in rows],
            **({"family": families} if planned.any() else {}),
        },
        {name: metadata[0].columns[name] for name in keys if name in metadata[0].columns},
        [source for known in metadata for source in known.sources],
        combine(states) if states else MEASURED,
        key=("measure", *keys),
        unit=units.pop() if len(units) == 1 else None,
        level=level,
        side=side,
        baseline=baseline,
        n_baseline=n_baseline,
        this=this,
        that=that,
        how=_ADJUSTED_BY[correct],
        less="After less before." if names == WINDOWS else f"{this} less {that}.",
    )


def _detectable(row: ComparedRow, level: float, tests: int) -> float:
    """The change that would have shown; NaN where there is no test, or it is beyond the scale."""
    if not np.isfinite(row.p):
        return _NAN
    change = row.change
    least = float(detectable(change.error, change.df, level, tests, change.unequal))
    room = max(float(change.before), 1 - float(change.before)) if row.is_rate else math.inf
    return least if least <= room else _NAN


def _unmeasured(sides: Sequence[Any], groups: Sequence[int | None], names: Sequence[str]) -> str:
    """Return the reason why there is nothing to compare: a side without a number."""
    for side, group, word in zip(sides, groups, names, strict=True):
        if group is None:
            return f"{word}: no row"
        if not side.given[group]:
            return f"{word}: {side.states[group]}"
    return ""


def _notes(
    sides: Sequence[Any], groups: Sequence[int | None], names: Sequence[str]
) -> tuple[str, ...]:
    """Return the sides that were measured in part only, and the reasons."""
    words: dict[str, list[str]] = {}
    for side, group, word in zip(sides, groups, names, strict=True):
        if group is not None and side.states[group].status == Status.PARTIAL:
            words.setdefault(str(side.states[group]), []).append(word)
    return tuple(f"{' and '.join(sides)}: {state}" for state, sides in words.items())


def _key(values: Sequence[object]) -> pd.Series:
    column = pd.Series(list(values), dtype=object)
    is_text = all(isinstance(value, str) or value is None for value in values)
    return column.astype("string") if is_text else column.infer_objects()


def _why(row: ComparedRow, verdict: str, least: float, level: float, names: tuple[str, str]) -> str:
    change, is_rate = row.change, row.is_rate
    if verdict == "cannot say":
        return "; ".join(dict.fromkeys([row.why or "it cannot be computed", *row.notes]))
    spread = f"{points(change.low, is_rate)} to {points(change.high, is_rate)}"
    word = "change" if names == WINDOWS else "difference"
    after, before = amount(change.after, is_rate), amount(change.before, is_rate)
    moved = f"{before} to {after}"
    if names != WINDOWS:
        moved = f"{names[0]} {after}, {names[1]} {before}"
    which = f"{100 * level:g} % interval of the {word}, for this row alone"
    reasons = [f"{moved}; {which}: {spread}"]
    if verdict == "no evidence":
        what = f"a {word} of {points(least, is_rate).lstrip('+')}"
        what = f"no possible {word}" if math.isnan(least) else what
        reasons.append(f"{what} would have shown in 4 of 5 such samples")
    return "; ".join(dict.fromkeys([*reasons, *row.notes]))


PARTS = ("rate", "mix", "entered", "left", "total")


@recorded("decompose", "now", "before")
def decompose(
    now: pd.DataFrame,
    before: pd.DataFrame,
    column: str,
    by: str,
    *,
    level: float = 0.95,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Decompose the change of a rate or mean; see ``df.aa.decompose``."""
    check_level(level)
    sides = [cluster_sums(frame, column, None, by, rules) for frame in (now, before)]
    is_rate, empty = all(side.is_rate for side in sides), ""
    for side, word in zip(sides, WINDOWS, strict=True):
        if not empty and not side.n.sum() > 0:
            empty = f"{word}: nothing was measured"
    why = overlapping(now, before, column) or empty
    with np.errstate(divide="ignore", invalid="ignore"):
        values, counts = _parts_of(sides, level, is_rate=is_rate)
    effects = [_NAN if empty else float(values[part]) for part in PARTS]
    low, high, p = (_NAN if why else float(values[name]) for name in ("low", "high", "p"))
    verdict = verdict_of(p, effects[0], level)
    in_all = points(effects[4], is_rate) if np.isfinite(effects[4]) else None
    blank = [_NAN] * 4
    metadata = [metadata_of(frame) for frame in (now, before)]
    states = [known.columns[column].availability for known in metadata if column in known.columns]
    return result(
        "decompose",
        {
            "part": PARTS,
            "effect": effects,
            "low": [low, *blank],
            "high": [high, *blank],
            "p": [p, *blank],
            "n": sides[0].n.sum() + sides[1].n.sum(),
            "clusters": [counts[part] for part in PARTS],
            "verdict": [verdict, *["bookkeeping"] * 4],
            "why": [
                f"the {by} on both sides: {verdict}" + (f" ({why})" if why else ""),
                f"the same {by}, asked more or less often: what was asked, not what was answered",
                f"{int(counts['entered'])} {by} were not there before",
                f"{int(counts['left'])} {by} are no longer there",
                f"{in_all} in all" if in_all else why,
            ],
            "method": "Kitagawa 1955, centred; the rate effect with a z interval (strata)",
        },
        None,
        [source for known in metadata for source in known.sources],
        combine(states) if states else MEASURED,
        key=("part",),
        unit=sides[0].unit,
        level=level,
        column=column,
        by=by,
    )


def _parts_of(
    sides: Sequence[Any], level: Any, *, is_rate: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts of a change, plain or traced, with the interval of the rates; and their counts."""
    now, before = (side.pairs(0) for side in sides)
    common = [name for name in now if name in before]
    new = [pair for name, pair in now.items() if name not in before]
    old = [pair for name, pair in before.items() if name not in now]
    both = (
        *sides[0].of([now[name] for name in common], "1"),
        *sides[1].of([before[name] for name in common], "0"),
    )
    entered, left = sides[0].of(new, "_in"), sides[1].of(old, "_out")
    made = decomposed(both, entered, left, is_rate=is_rate)
    values = {part: getattr(made, part) for part in PARTS} | {"n": made.n}
    half = normal_quantile((1 + level) / 2) * made.error
    values |= {"low": made.rate - half, "high": made.rate + half}
    values["p"] = two_sided(made.rate / made.error, math.inf)
    of_both = One.count(both[1])
    counts = {"rate": of_both, "mix": of_both}
    counts |= {"entered": One.count(entered[1]), "left": One.count(left[1])}
    return values, counts | {"total": of_both + counts["entered"] + counts["left"]}


@dataclass(frozen=True)
class Decomposed:
    """The parts of a change, and the standard error of that of the rates.

    In formulas ``term``, ``mixed``, ``came`` and ``gone`` are what each stratum contributes to each
    part, ``square`` its part of the variance.
    """

    rate: Any
    mix: Any
    entered: Any
    left: Any
    total: Any
    error: Any
    n: Any


def decomposed(
    both: Sequence[Any], entered: Sequence[Any], left: Sequence[Any], *, is_rate: bool
) -> Decomposed:
    """Decompose a change, of Σy and Σn after and before of strata on both sides, and of others."""
    (y1, n1, y0, n0), (y_in, n_in), (y_out, n_out) = both, entered, left
    size1, size0 = One.total(n1) + One.total(n_in), One.total(n0) + One.total(n_out)
    name_all(size1=size1, size0=size0)
    total1 = (One.total(y1) + One.total(y_in)) / size1
    total0 = (One.total(y0) + One.total(y_out)) / size0
    name_all(total1=total1, total0=total0)
    middle = (total1 + total0) / 2
    weight = (n1 / size1 + n0 / size0) / 2
    name_all(middle=middle, weight=weight)
    term = weight * (y1 / n1 - y0 / n0)
    mixed = ((y1 / n1 + y0 / n0) / 2 - middle) * (n1 / size1 - n0 / size0)
    came = n_in / size1 * (y_in / n_in - middle)
    gone = n_out / size0 * (y_out / n_out - middle)
    name_all(term=term, mixed=mixed, came=came, gone=gone)
    error = size1 * _NAN
    if is_rate:
        p1, p0 = (y1 + total1) / (n1 + 1), (y0 + total0) / (n0 + 1)
        name_all(p1=p1, p0=p0)
        square = weight**2 * (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)
        name_all(square=square)
        error = np.sqrt(One.total(square))
    parts = (One.total(term), One.total(mixed), One.total(came), 0 - One.total(gone))
    return named(Decomposed(*parts, total1 - total0, error, size1 + size0))


def traced_parts(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `decompose`, traced."""
    given, part = cells.arguments, PARTS[at]
    rules = given.get("rules")
    sides = [cells.sums(side, given["column"], None, given["by"], rules) for side in (0, 1)]
    level = setting("level", given.get("level", 0.95))
    values, counts = _parts_of(sides, level, is_rate=all(side.is_rate for side in sides))
    columns = {"effect": values[part], "clusters": counts[part]}
    names = ("n", "low", "high", "p") if part == "rate" else ("n",)
    return columns | {name: values[name] for name in names}


_BEFORE = frozenset(("previous", "prev", "prior", "before", "last"))
_COUNTING = frozenset(("count", "number", "num", "total"))
"""Words of names that say of which window a number is, and that it is a count."""


def _stem(name: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a name says that it is of the window before, and what it says beside."""
    words = name.lower().split("_")
    rest = tuple(w.removesuffix("s") for w in words if w not in _BEFORE and w not in _COUNTING)
    return len({*words} & _BEFORE) > 0, rest


def previous_names(frame: pd.DataFrame) -> dict[str, str]:
    """The columns that hold the window before, and the column of which each does.

    Examples
    --------
    >>> columns = ["citation_count", "citations_previous", "value", "previous", "previous_rank"]
    >>> previous_names(pd.DataFrame(columns=columns))
    {'citations_previous': 'citation_count', 'previous': 'value'}
    """
    names = [str(name) for name in frame.columns]
    now = {stem: name for name in names for is_before, stem in [_stem(name)] if not is_before}
    value = now.get(("value",))
    pairs = {}
    for name in names:
        is_before, stem = _stem(name)
        measure = now.get(stem) if stem else value
        exact = name.removeprefix("previous_")
        if is_before and measure is not None:
            pairs[name] = exact if exact in names and exact != name else measure
    return pairs


def previous_window(
    frame: pd.DataFrame, measures: Iterable[str], before: str = "previous"
) -> pd.DataFrame:
    """The rows of a frame as they were in the window before, as far as its answer says.

    Raises
    ------
    ArgumentError
        If it is another word than ``previous``.
    ItemNotFound
        If the answer does not give one of the measures for the window before.
    """
    if before != "previous":
        raise ArgumentError(
            f"baseline={before!r} is no frame; give one, or baseline='previous' for the window "
            "before, where the frame's own columns give it",
            argument="baseline",
        )
    flat = flattened(frame)
    measures = [*measures]
    find(flat, measures)
    names = previous_names(flat)
    lacking = [name for name in measures if name not in names.values()]
    if lacking:
        raise ItemNotFound(
            f"there is no previous_{lacking[0]} in this frame, so it does not say what was "
            "before; compare with a frame of an earlier window"
            + (f", or one of {', '.join(names.values())}" if names else ""),
            columns={f"previous_{name}": "there is no such column" for name in lacking},
        )
    known = metadata_of(flat)
    rest = [
        name
        for name in flat.columns
        if name not in names
        and name not in names.values()
        and (name in known.key or not pd.api.types.is_numeric_dtype(flat[name].dtype))
    ]
    return rename(flat[[*rest, *names]], columns=names)


def _of(known: FrameMetadata, name: str) -> str | None:
    return known.columns[name].of if name in known.columns else None


def _is_previous(now: str | None, before: str | None) -> bool:
    """Whether a declared column holds the window before of another one, in the same table."""
    tables = [(of or "").rpartition(".")[0] for of in (now, before)]
    if not now or not before or tables[0] != tables[1]:
        return False
    (is_before, stem), (is_now_before, own) = (_stem(of.rpartition(".")[2]) for of in (before, now))
    return is_before and not is_now_before and stem in ((), own)


def names_of(by: By) -> list[str]:
    """The columns that groups are named by.

    Raises
    ------
    ArgumentError
        If one is no name of a column.
    """
    listed = [by] if isinstance(by, str | pd.Grouper) else list(by or ())
    names = [name for name in listed if isinstance(name, str)]
    if len(names) < len(listed):
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
    given = pair or cluster
    for frame in (now, before):
        find(flattened(frame), [given] if given else [])
    both = [flattened(frame) for frame in (now, before)]
    if given or by in keys or not all(by in frame.columns for frame in both):
        return pair, cluster
    hosts = [{source.host for source in metadata_of(each).sources} - {None} for each in both]
    if all(hosts) and not hosts[0] & hosts[1]:
        return None, by  # an id names another prompt at another host
    shared = {*both[0][by].dropna()} & {*both[1][by].dropna()}
    return (by, None) if shared else (None, by)


def side_names(now: Iterable[FrameMetadata], before: Iterable[FrameMetadata]) -> tuple[str, str]:
    """Return what the sides are called: their hosts, if each has one of its own; else windows."""
    one, two = (
        {source.host for known in side for source in known.sources} for side in (now, before)
    )
    if len(one) == len(two) == 1 and one != two and None not in one | two:
        return str(one.pop()), str(two.pop())
    return WINDOWS


def overlapping(now: pd.DataFrame, before: pd.DataFrame, measure: str) -> str | None:
    """Return why two frames cannot be compared: they share answers; None if they share none."""
    knowns = [metadata_of(frame, levels=True) for frame in (now, before)]
    if _is_previous(*(_of(known, measure) for known in knowns)):
        return None
    pairs = product(knowns[0].sources, knowns[1].sources)
    meeting = [
        (answer_of(one), answer_of(two))
        for one, two in pairs
        if one.section == two.section and not answer_of(one).is_disjoint(answer_of(two))
    ]
    if not meeting or _have_other_rows(now, before, knowns):
        return None
    one, two = meeting[0]
    reasons = f"the windows overlap ({two}, and {one})" if one != two else f"both hold {one}"
    return f"{reasons}: the same answers are on both sides; read windows that do not overlap"


def _have_other_rows(
    now: pd.DataFrame, before: pd.DataFrame, knowns: Sequence[FrameMetadata]
) -> bool:
    """Whether no row of one frame is in the other, by the key of both."""
    key = [*knowns[0].key]
    if not key or [*knowns[1].key] != key:
        return False
    one, two = (flattened(frame)[key].drop_duplicates() for frame in (now, before))
    return not len(one.merge(two, on=key))
