"""Comparisons: ``df.aa.compare``, two frames of one kind, such as two windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, Status, combine
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.groupby import By, flattened
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, PROBABILITY
from aatoolkit.stats.adjust import CORRECTIONS, adjusted, traced_adjusted
from aatoolkit.stats.cluster_sums import ClusterSums, Numbers, Rules, cluster_sums
from aatoolkit.stats.difference import (
    NOTHING,
    POWER,
    Change,
    Difference,
    Part,
    answers_of,
    changed,
    changed_samples,
    changed_totals,
    detectable,
    independent,
    long_run_factor,
    name_all,
    paired,
    sample_of,
    unpaired,
)
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import amount, numbers, points, result, words
from aatoolkit.stats.sides import WINDOWS, names_of, overlapping, pairing, side_names
from aatoolkit.stats.trace import same, setting

HOSTS = ("host", "baseline_host")
"""The columns that name the hosts of the two sides, where each has its own."""

VERDICTS = ("up", "down", "no evidence", "cannot say")


@dataclass(frozen=True)
class ComparedRow:
    """One comparison: a measure of one group."""

    measure: str
    key: tuple[Any, ...]
    difference: Difference
    unit: str | None
    is_rate: bool
    notes: tuple[str, ...]
    is_planned: bool = False
    """Whether it stands alone, and is no part of the family that p-values are adjusted over."""


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
    pair, cluster = pairing(now, before, keys, pair, cluster)
    rows: list[ComparedRow] = []
    for measure in measures:
        rows += compared(now, before, measure, keys, pair, cluster, level, rules)
    knowns = [metadata_of(flattened(each)) for each in (now, before)]
    names = side_names(knowns[:1], knowns[1:])
    return comparison(rows, keys, knowns, correct, level, names)


def compared(
    now: pd.DataFrame,
    before: pd.DataFrame,
    measure: str,
    by: Sequence[str],
    pair: str | None,
    cluster: str | None,
    level: float,
    rules: Rules | None = None,
    deff: float = 1.0,
    df: float = math.inf,
) -> Iterable[ComparedRow]:
    """The comparisons of one measure, a group each, not yet corrected."""
    sides = [cluster_sums(each, measure, by, pair or cluster, rules) for each in (now, before)]
    overlap = overlapping(now, before, measure)
    names = side_names(*([metadata_of(each, levels=True)] for each in (now, before)))
    places = [_places(side) for side in sides]
    is_rate = all(side.is_proportion for side in sides)
    for key in dict.fromkeys([*places[0], *places[1]]):
        at = [place.get(key) for place in places]
        why = overlap or _unmeasured(sides, at, names)
        notes = _notes(sides, at, names)
        difference = NOTHING
        if at[0] is not None and at[1] is not None:
            parts = [
                side.of(group) for side, group in zip(sides, at, strict=True) if group is not None
            ]
            if pair:
                labels = [side.labels for side in sides]
                difference, moved = paired(parts, labels, pair, level, is_rate=is_rate)
                notes = (*moved, *notes)
            elif cluster:
                is_day = pd.api.types.is_datetime64_any_dtype(sides[0].labels.dtype)
                if is_day:
                    parts = [_in_order(side, part) for side, part in zip(sides, parts, strict=True)]
                difference = unpaired(parts, "days" if is_day else cluster, level, in_order=is_day)
            elif is_rate or sides[0].of_rows:
                squares = [
                    side.squares[side.group == group] for side, group in zip(sides, at, strict=True)
                ]
                difference = independent(parts, squares, is_rate, level, deff, df)
            else:
                difference = replace(
                    unpaired(parts, "", level, least=2),
                    why="nothing says how it differs between answers; name what repeats: cluster=",
                ).refused()
        if why:
            difference = replace(difference, why=why).refused()
        yield ComparedRow(measure, key, difference, sides[0].unit or sides[1].unit, is_rate, notes)


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `compare`, traced."""
    given = cells.arguments
    keys = names_of(given.get("by"))
    now, before = (made.frame for made in cells.inputs)
    pair, cluster = pairing(now, before, keys, given.get("pair"), given.get("cluster"))

    def change(row: int) -> Change:
        measure, rules = cells.text(row, "measure"), given.get("rules")
        sides = [cells.sums(side, measure, keys, pair or cluster, rules) for side in (0, 1)]
        return traced_change(sides, cells.key(row, keys), pair, cluster, given.get("level", 0.95))

    tests = {row: cells.number(row, "p") for row in range(len(cells.flat))}
    tests = {row: p for row, p in tests.items() if np.isfinite(p)}
    return traced_columns(cells, at, change, tests, given.get("correct", "holm"))


def traced_change(
    sides: Sequence[Any],
    key: Sequence[Any],
    pair: str | None,
    cluster: str | None,
    level: float,
    design: tuple[Any, Any] = (1.0, math.inf),
) -> Change:
    """The change of a group, traced, from the sums of both sides."""
    pairs = [side.pairs(side.group(key)) for side in sides]
    if pair:
        common = [name for name in pairs[0] if name in pairs[1]]
        pairs = [{name: each[name] for name in common} for each in pairs]
    elif cluster and pd.api.types.is_datetime64_any_dtype(sides[0].sums.labels.dtype):
        pairs = [dict(sorted(each.items())) for each in pairs]
    parts = [
        (side.y(each.values(), f"y{end}"), side.n(each.values(), f"n{end}"))
        for side, each, end in zip(sides, pairs, "10", strict=True)
    ]
    of_level = setting("level", level)
    if pair:
        is_rate = all(side.is_rate for side in sides)
        return changed(*parts[0], *parts[1], of_level, is_rate=is_rate)
    if cluster:
        is_day = pd.api.types.is_datetime64_any_dtype(sides[0].sums.labels.dtype)
        factors = [long_run_factor(*part) if is_day else 1.0 for part in parts]
        samples = [
            sample_of(*part, end, factor)
            for part, end, factor in zip(parts, "10", factors, strict=True)
        ]
        return changed_samples(samples[0], samples[1], of_level)
    if all(side.is_rate for side in sides):
        return changed_totals(*parts[0], *parts[1], of_level, *design)
    means = [
        answers_of(*part, side.squares(each.values()), end)
        for part, side, each, end in zip(parts, sides, pairs, "10", strict=True)
    ]
    return changed_samples(means[0], means[1], of_level)


def traced_columns(
    cells: Any,
    at: int,
    change: Callable[[int], Change],
    tests: Mapping[int, float],
    correct: str | None,
) -> dict[str, Any]:
    """The columns of a comparison, traced; a row that is in no family stands alone."""

    def change_of(row: int) -> Change:
        if ("change", row) not in cells.shared:
            cells.shared["change", row] = change(row)
        found: Change = cells.shared["change", row]
        return found

    made, level = change_of(at), setting("level", cells.arguments.get("level", 0.95))
    names = ("change", "low", "high", "p", "clusters")
    columns = {name: getattr(made, name) for name in names}
    columns |= {"n": made.size_after, n_baseline_of(cells.flat): made.size_before}
    columns |= ends_of(cells.flat, made.after, made.before)
    if not np.isfinite(cells.number(at, "p")):
        return columns
    is_alone = at not in tests
    family = 1 if is_alone or not correct else max(len(tests), 1)
    columns["detectable"] = detectable(
        made.error, made.df, level, setting("tests", family), made.unequal
    )
    if is_alone:
        adjusted_p = made.p
    else:
        adjusted_p = traced_adjusted(at, tests, correct, lambda row: change_of(row).p)
    p, threshold = same("p_adjusted", adjusted_p), 1 - level
    name_all(threshold=threshold)
    columns["p_adjusted"] = p
    verdict = p < threshold if p.value < threshold.value else p >= threshold
    verdict.value = cells.text(at, "verdict")
    columns["verdict"] = verdict
    return columns


def ends_of(frame: pd.DataFrame, this: Any, baseline: Any) -> dict[str, Any]:
    """The values of both sides, by the columns of a comparison that hold them."""
    names = ("after", "before")
    if "before" not in frame.columns:
        names = (str(frame[HOSTS[0]].iloc[0]), str(frame[HOSTS[1]].iloc[0]))
    return dict(zip(names, (this, baseline), strict=True))


def n_baseline_of(frame: pd.DataFrame) -> str:
    """The column of what the baseline is a share or mean of."""
    return "n_before" if "before" in frame.columns else "n_baseline"


def _in_order(side: ClusterSums, part: Part) -> Part:
    """The clusters of a side in the order of their labels."""
    order = np.argsort(side.labels[part[0]].to_numpy(), kind="stable")
    return part[0][order], part[1][order], part[2][order]


def _places(side: ClusterSums) -> dict[tuple[Any, ...], int]:
    """The group of each key; a missing part of a key is equal to another one."""
    rows = side.groups.keys.astype(object).where(side.groups.keys.notna(), None)
    return {tuple(row): at for at, row in enumerate(rows.itertuples(index=False, name=None))}


def _unmeasured(
    sides: Sequence[ClusterSums], at: Sequence[int | None], names: Sequence[str]
) -> str | None:
    """Return the reason why there is nothing to compare: a side without a number."""
    for side, group, word in zip(sides, at, names, strict=True):
        if group is None:
            return f"{word}: no row"
        if not side.given[group]:
            return f"{word}: {side.states[group]}"
    return None


def _notes(
    sides: Sequence[ClusterSums], at: Sequence[int | None], names: Sequence[str]
) -> tuple[str, ...]:
    """Return the sides that were measured in part only, and the reasons."""
    words_of: dict[str, list[str]] = {}
    for side, group, word in zip(sides, at, names, strict=True):
        if group is not None and side.states[group].status == Status.PARTIAL:
            words_of.setdefault(str(side.states[group]), []).append(word)
    return tuple(f"{' and '.join(named)}: {state}" for state, named in words_of.items())


def comparison(
    rows: Sequence[ComparedRow],
    keys: Sequence[str],
    knowns: Sequence[FrameMetadata],
    correct: str | None,
    level: float,
    names: tuple[str, str] = WINDOWS,
) -> pd.DataFrame:
    """The frame of some comparisons: corrected over all of them, with their verdicts."""
    found = [row.difference for row in rows]
    p = np.array([each.p for each in found], np.float64)
    planned = np.array([row.is_planned for row in rows], bool)
    corrected = np.where(planned, p, adjusted(np.where(planned, np.nan, p), correct))
    family = int(np.isfinite(p[~planned]).sum())
    tests = np.where(planned, 1, max(family, 1) if correct else 1)
    shown = [
        _possible(float(detectable(each.error, each.df, level, many, each.unequal)), row)
        if np.isfinite(each.p)
        else float("nan")
        for row, each, many in zip(rows, found, tests.tolist(), strict=True)
    ]
    verdicts = [
        "cannot say"
        if not np.isfinite(p_adjusted)
        else "no evidence"
        if p_adjusted >= 1 - level or each.change == 0
        else "up"
        if each.change > 0
        else "down"
        for each, p_adjusted in zip(found, corrected.tolist(), strict=True)
    ]
    ends, n_baseline = _sides(names)
    frame = pd.DataFrame(
        {
            "measure": words(row.measure for row in rows),
            **{name: _key([row.key[at] for row in rows]) for at, name in enumerate(keys)},
            **_hosts(names, len(rows)),
            ends[1]: numbers(each.before for each in found),
            ends[0]: numbers(each.after for each in found),
            "change": numbers(each.change for each in found),
            "low": numbers(each.low for each in found),
            "high": numbers(each.high for each in found),
            "p": numbers(p),
            "p_adjusted": numbers(corrected),
            n_baseline: numbers(each.n_before for each in found),
            "n": numbers(each.n for each in found),
            "clusters": numbers((each.clusters for each in found), "Int64"),
            "detectable": numbers(shown),
            "unit": words(row.unit for row in rows),
            "verdict": words(verdicts),
            "why": words(
                _why(row, verdict, seen, level, names)
                for row, verdict, seen in zip(rows, verdicts, shown, strict=True)
            ),
            "method": words(each.method for each in found),
            **({"family": words(_families(planned, p))} if planned.any() else {}),
        }
    )
    units = {row.unit for row in rows}
    unit = units.pop() if len(units) == 1 else None
    taken = {name: knowns[0].columns[name] for name in keys if name in knowns[0].columns}
    states = [
        column.availability
        for known in knowns
        for name, column in known.columns.items()
        if name in {row.measure for row in rows}
    ]
    return result(
        frame,
        "compare",
        {
            name: meaning
            for name, meaning in meanings(unit, level, correct, names).items()
            if name in frame.columns
        },
        taken,
        [source for known in knowns for source in known.sources],
        combine(states) if states else Availability(Status.AVAILABLE),
        key=("measure", *keys),
    )


def _possible(change: float, row: ComparedRow) -> float:
    """A change, nothing where it would end beyond 0 or 1."""
    before = row.difference.before
    return math.nan if row.is_rate and change > max(before, 1 - before) else change


def _sides(names: tuple[str, str]) -> tuple[tuple[str, str], str]:
    """The columns of both values, by the names of the sides, and of what the baseline is of."""
    return (("after", "before"), "n_before") if names == WINDOWS else (names, "n_baseline")


def _hosts(names: tuple[str, str], size: int) -> dict[str, pd.Series]:
    """The columns that name the hosts, where hosts are compared and not windows."""
    if names == WINDOWS:
        return {}
    return {name: words([host] * size) for name, host in zip(HOSTS, names, strict=True)}


def meanings(
    unit: str | None, level: float, correct: str | None, names: tuple[str, str] = WINDOWS
) -> dict[str, tuple[str, str | None]]:
    """Return the meaning and the unit of each column of a comparison."""
    change = "absolute pp as fraction" if unit == "fraction 0-1" else unit
    how = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method", None: "nothing"}
    sides, hosts = ("this frame", "the other frame"), {}
    if names != WINDOWS:
        sides = names
        docs = ("The host that is compared.", "The host that it is compared with.")
        hosts = {name: (doc, None) for name, doc in zip(HOSTS, docs, strict=True)}
    ends, n_baseline = _sides(names)
    less = "After less before." if names == WINDOWS else f"{names[0]} less {names[1]}."
    return {
        "measure": ("What is compared.", None),
        **hosts,
        ends[1]: (f"Its value in {sides[1]}, over what is compared.", unit),
        ends[0]: (f"Its value in {sides[0]}, over what is compared.", unit),
        "change": (less, change),
        "low": (
            f"Lower end of the {level:.0%} interval of the change, for this row alone.",
            change,
        ),
        "high": (
            f"Upper end of the {level:.0%} interval of the change, for this row alone.",
            change,
        ),
        "p": ("Two-sided p-value of no change, for this row alone.", PROBABILITY),
        "p_adjusted": (f"The p-value, adjusted by {how[correct]} over all rows.", PROBABILITY),
        n_baseline: (f"What the value of {sides[1]} is a share or mean of.", COUNT),
        "n": (f"What the value of {sides[0]} is a share or mean of.", COUNT),
        "clusters": ("Prompts, or other clusters, that are compared.", COUNT),
        "detectable": (
            f"The smallest change that such a sample shows in {POWER:.0%} of cases; missing where "
            "no possible one would.",
            change,
        ),
        "unit": ("The unit of the values.", None),
        "verdict": (f"One of {', '.join(VERDICTS)}.", None),
        "why": ("What the verdict rests on, or why there is none.", None),
        "method": ("How the interval and the p-value were computed.", None),
        "family": ("Which tests its p-value is adjusted over: itself, if it was planned.", None),
    }


def _families(planned: npt.NDArray[np.bool_], p: Numbers) -> list[str | None]:
    """Which tests each p-value is adjusted over."""
    family = int(np.isfinite(p[~planned]).sum())
    return [
        None
        if not np.isfinite(value)
        else "planned: it stands alone"
        if is_planned
        else f"one of a family of {family}"
        for is_planned, value in zip(planned.tolist(), p.tolist(), strict=True)
    ]


def _key(values: Sequence[object]) -> pd.Series:
    kept = pd.Series(list(values), dtype=object)
    return (
        kept.astype("string")
        if all(isinstance(v, str) or v is None for v in values)
        else kept.infer_objects()
    )


def _why(row: ComparedRow, verdict: str, seen: float, level: float, names: tuple[str, str]) -> str:
    difference, is_rate = row.difference, row.is_rate
    reasons = []
    if verdict == "cannot say":
        reasons.append(difference.why or "it cannot be computed")
    else:
        spread = f"{points(difference.low, is_rate)} to {points(difference.high, is_rate)}"
        change = "change" if names == WINDOWS else "difference"
        which = f"{100 * level:g} % interval of the {change}, for this row alone"
        after, before = amount(difference.after, is_rate), amount(difference.before, is_rate)
        moved = f"{before} to {after}"
        if names != WINDOWS:
            moved = f"{names[0]} {after}, {names[1]} {before}"
        reasons.append(f"{moved}; {which}: {spread}")
        if verdict == "no evidence":
            shown = f"a {change} of {points(seen, is_rate).lstrip('+')}"
            what = f"no possible {change}" if math.isnan(seen) else shown
            reasons.append(f"{what} would have shown in 4 of 5 such samples")
    return "; ".join(dict.fromkeys([*reasons, *row.notes]))
