"""``df.aa.compare`` and ``df.aa.decompose``: whether two frames differ, and in what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.groupby import By, flattened, group
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.cluster_sums import ClusterSums, Rules, cluster_sums
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
    varies,
)
from aatoolkit.stats.results import (
    MEASURED,
    amount,
    check_level,
    points,
    reranked,
    result,
    verdict_of,
)
from aatoolkit.stats.sides import (
    WINDOWS,
    names_of,
    overlapping,
    pairing,
    rules_of,
    side_names,
)
from aatoolkit.stats.trace import (
    One,
    Traced,
    cells_of,
    derived,
    name_all,
    named,
    normal_quantile,
    number,
    setting,
    take,
    two_sided,
    under,
)

_NAN = float("nan")
INDEPENDENT: tuple[Any, Any] = (1.0, math.inf)
"""The design effect of answers that are independent, and its degrees of freedom."""

_ADJUSTED_BY = {
    "holm": "Holm's method",
    "bh": "Benjamini and Hochberg's method",
    None: "nothing",
}
_ORDER = {"up": 0, "down": 0, "no evidence": 1, "cannot say": 2}


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
    def p(self) -> Any:
        """The p-value; NaN where nothing can be said."""
        return _NAN if self.why else self.change.p


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
    keys = names_of(by)
    how = pairing(now, before, keys, pair, cluster)
    measures = [columns] if isinstance(columns, str) else list(columns)
    rows = [
        row
        for measure in measures
        for row in compared(now, before, measure, keys, *how, level, rules)
    ]
    metadata = [metadata_of(flattened(frame)) for frame in (now, before)]
    return comparison(rows, keys, metadata, correct, level, side_names(metadata[:1], metadata[1:]))


def compared(
    now: pd.DataFrame,
    before: pd.DataFrame,
    measure: str,
    by: Sequence[str],
    pair: str | None,
    cluster: str | None,
    level: float,
    rules: Rules | None = None,
    design: tuple[Any, Any] = INDEPENDENT,
) -> Iterator[ComparedRow]:
    """The comparisons of one measure, a group each, not yet corrected."""
    frames = (now, before)
    try:
        sides = [
            cluster_sums(frame, measure, by, pair or cluster, own, counts=bool(pair or cluster))
            for frame, own in zip(frames, rules_of(frames, measure, rules), strict=True)
        ]
    except AvailabilityError as error:
        rows = [_single_rows(frame, measure, by) for frame in frames]
        if None in rows:
            raise
        why = overlapping(now, before, measure)
        why = why or f"nothing says how it varies: {(error.columns or {}).get(measure, error)}"
        yield from _of_single_rows(frames, rows, measure, by, level, why)
        return
    names = side_names(*([metadata_of(frame, levels=True)] for frame in frames))
    unit, is_rate = sides[0].unit or sides[1].unit, all(side.is_rate for side in sides)
    refused = overlapping(now, before, measure)
    for key in dict.fromkeys([*sides[0].keys, *sides[1].keys]):
        groups = [side.keys.get(key) for side in sides]
        lacking, notes = _limits(sides, groups, names)
        row = ComparedRow(measure, key, NOTHING, unit, is_rate, "", lacking, notes)
        if None not in groups:
            with np.errstate(divide="ignore", invalid="ignore"):
                change, method, why, moved = _tested(sides, groups, pair, cluster, level, design)
            why = refused or lacking or why
            row = replace(row, change=change, method=method, why=why, notes=(*moved, *notes))
        yield row


def _single_rows(
    frame: pd.DataFrame, measure: str, by: Sequence[str]
) -> dict[tuple[Any, ...], int] | None:
    """The row of each group; None where one has several, or the measure was lost."""
    flat = flattened(frame)
    groups = group(flat, [*by], True)
    if metadata_of(flat).is_lost(measure) or len(np.unique(groups.ids)) < len(flat):
        return None
    keys = [*groups.keys.itertuples(index=False, name=None)]
    return {keys[number] if by else (): at for at, number in enumerate(groups.ids)}


def _of_single_rows(
    frames: Sequence[pd.DataFrame],
    rows: Sequence[Any],
    measure: str,
    by: Sequence[str],
    level: float,
    why: str,
) -> Iterator[ComparedRow]:
    """The comparisons of rows that do not add up, such as key figures: each by itself.

    Where its own counts say how it varies it is tested, else its values are shown.
    """
    for key in dict.fromkeys([*rows[0], *rows[1]]):
        places = [part.get(key) for part in rows]
        if by and None not in places:
            two = [
                derived(frame.iloc[[at]], frame, rows=[at])
                for frame, at in zip(frames, places, strict=True)
            ]
            for row in compared(two[0], two[1], measure, (), None, None, level):
                yield replace(row, key=key)
            continue
        after, before = (
            _NAN if at is None else take(cells_of(name, flattened(frame), measure, [at]), 0)
            for name, frame, at in zip(("after", "before"), frames, places, strict=True)
        )
        change = replace(NOTHING, after=after, before=before, change=after - before)
        units = row_units(frames[0], metadata_of(frames[0]), measure)
        unit = None if units is None or not len(units) else str(units.iloc[0])
        yield ComparedRow(measure, key, change, unit, unit == "fraction", why=why)


def _tested(
    sides: Sequence[ClusterSums],
    groups: Sequence[Any],
    pair: str | None,
    cluster: str | None,
    level: float,
    design: tuple[Any, Any],
) -> tuple[Change, str, str, tuple[str, ...]]:
    """The change of a group, how it was tested, why it cannot be judged, and notes."""
    pairs = [side.pairs(group) for side, group in zip(sides, groups, strict=True)]
    notes: tuple[str, ...] = ()
    is_rate, is_by_day = all(side.is_rate for side in sides), False
    if pair:
        common = [name for name in pairs[0] if name in pairs[1]]
        entered, left = (len(part) - len(common) for part in pairs)
        if entered or left:
            notes = (
                f"the set of {pair} changed ({entered} entered, {left} left): "
                f"compared are the {len(common)} on both sides",
            )
        if not common:
            return replace(NOTHING, clusters=0), "", f"no {pair} is on both sides", notes
        pairs = [{name: part[name] for name in common} for part in pairs]
    elif not all(pairs):
        return NOTHING, "", "no answers on one side or both", ()
    elif cluster and sides[0].is_by_day:
        is_by_day, pairs = True, [dict(sorted(part.items())) for part in pairs]
    least, sure = min(map(len, pairs)), setting("level", level)
    (y1, n1), (y0, n0) = (
        side.of(part.values(), end) for side, part, end in zip(sides, pairs, "10", strict=True)
    )
    if pair:
        if sides[0].is_count:
            change = changed_counts(y1, y0, sure)
        else:
            change = changed(y1, n1, y0, n0, sure, is_rate=is_rate)
        method = f"paired by {pair}, linearised, {_freedom(change)}"
        return change, method, _why_not(change, least, pair), notes
    if cluster:
        factors = [long_run_factor(y, n) if is_by_day else 1.0 for y, n in ((y1, n1), (y0, n0))]
        samples = sample_of(y1, n1, "1", factors[0]), sample_of(y0, n0, "0", factors[1])
        change = changed_samples(*samples, sure)
        name, alike = ("days", ", long-run variance") if is_by_day else (cluster, "")
        method = f"two samples of {name}, linearised{alike}, {_freedom(change, 'Welch')}"
        return change, method, _why_not(change, least, name), ()
    if is_rate:
        change = changed_totals(y1, n1, y0, n0, sure, *design)
        method = "Newcombe's interval and z test; takes answers for independent"
        if design is not INDEPENDENT:
            deff, df = map(number, design)
            method = (
                f"Newcombe's interval and t test of {df:.3g} degrees of freedom, with the "
                f"design effect of the own mention rate over prompts ({deff:.3g})"
            )
        return change, method, "", ()
    if not sides[0].of_rows:
        samples = sample_of(y1, n1, "1"), sample_of(y0, n0, "0")
        why = "nothing says how it differs between answers; name what repeats: cluster="
        return changed_samples(*samples, sure), "", why, ()
    squares = [side.squares_of(part.values()) for side, part in zip(sides, pairs, strict=True)]
    means = answers_of(y1, n1, squares[0], "1"), answers_of(y0, n0, squares[1], "0")
    change = replace(changed_samples(*means, sure), clusters=_NAN)
    size = int(min(number(change.size_after), number(change.size_before)))
    method = "Welch's t; takes answers for independent"
    return change, method, _why_not(change, size, "answers", 2), ()


def _freedom(change: Change, whose: str = "") -> str:
    name = f"{whose}'s t" if whose else "t"
    return f"{name} of {number(change.df):.3g} degrees of freedom"


def _why_not(change: Change, k: int, name: str, least: int = LEAST_CLUSTERS) -> str:
    """Why a change has no interval and p-value: too few clusters, or no variance."""
    if k < least:
        return f"{k} {name} on one side or both; at least {least} are needed to test a change"
    largest = max(abs(number(change.before)), abs(number(change.after)))
    if not varies(number(change.error) ** 2, largest):
        return f"nothing differs between {k} {name}, too few to estimate an error"
    return ""


def _limits(
    sides: Sequence[ClusterSums], groups: Sequence[int | None], names: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Why there is nothing to compare, and which sides were measured in part only."""
    lacking = ""
    in_part: dict[str, list[str]] = {}
    for side, at, name in zip(sides, groups, names, strict=True):
        if at is None or not side.given[at]:
            lacking = lacking or f"{name}: {'no row' if at is None else side.states[at]}"
        elif side.states[at].status == Status.PARTIAL:
            in_part.setdefault(str(side.states[at]), []).append(name)
    return lacking, tuple(f"{' and '.join(part)}: {state}" for state, part in in_part.items())


def sides_of(names: tuple[str, str]) -> tuple[str, str, str]:
    """The columns of both values, by the names of the sides, and of what the baseline is of."""
    return ("after", "before", "n_before") if names == WINDOWS else (*names, "n_baseline")


def comparison(
    rows: Sequence[ComparedRow],
    keys: Sequence[str],
    metadata: Sequence[FrameMetadata],
    correct: str | None,
    level: float,
    names: tuple[str, str] = WINDOWS,
    *,
    is_ranked: bool = False,
) -> pd.DataFrame:
    """The frame of some comparisons: corrected over all of them, with their verdicts.

    Ranked, the planned one comes first, then what changed for certain, by its size.
    """
    in_family = [row.p if not row.is_planned else _NAN for row in rows]
    family = sum(math.isfinite(number(p)) for p in in_family)
    lines = []
    for row, p in zip(rows, adjusted(in_family, correct), strict=True):
        tests = 1 if row.is_planned or not correct else max(family, 1)
        lines.append(_line(row, row.p if row.is_planned else p, tests, family, level, names))
    columns = lines or [_line(ComparedRow("", (), NOTHING, None, True), _NAN, 1, 0, level, names)]
    values = {name: [line[name] for line in lines] for name in columns[0]}
    if not any(row.is_planned for row in rows):
        del values["family"]
    measures, units = {row.measure for row in rows}, {row.unit for row in rows}
    states = [
        column.availability
        for known in metadata
        for name, column in known.columns.items()
        if name in measures
    ]
    side, baseline, n_baseline = sides_of(names)
    this, that = ("this frame", "the other frame") if names == WINDOWS else names
    hosts = {} if names == WINDOWS else dict(zip(("host", "baseline_host"), names, strict=True))
    frame = result(
        "compare",
        {
            "measure": values.pop("measure"),
            **{name: _key([row.key[at] for row in rows]) for at, name in enumerate(keys)},
            **{name: [host] * len(rows) for name, host in hosts.items()},
            **values,
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
    if not is_ranked:
        return frame
    size = -frame["change"].abs().to_numpy(np.float64, na_value=0.0)
    others = np.array([not row.is_planned for row in rows], bool)
    return reranked(frame, np.lexsort((size, frame["verdict"].map(_ORDER).to_numpy(), others)))


def _line(
    row: ComparedRow, p: Any, tests: int, family: int, level: float, names: tuple[str, str]
) -> dict[str, Any]:
    """The columns of a comparison, after its key."""
    change = row.change
    is_tested = math.isfinite(number(row.p))
    low, high = (_NAN if row.why else end for end in (change.low, change.high))
    side, baseline, n_baseline = sides_of(names)
    least: Any = _NAN
    if is_tested:
        sure, many = setting("level", level), setting("tests", tests)
        least = detectable(change.error, change.df, sure, many, change.unequal)
        room = max(number(change.before), 1 - number(change.before)) if row.is_rate else math.inf
        least = least if number(least) <= room else _NAN
    verdict = verdict_of(number(p), number(change.change), level)
    stands = "planned: it stands alone" if row.is_planned else f"one of a family of {family}"
    p = under("p_adjusted", p)
    return {
        "measure": row.measure,
        baseline: change.before,
        side: change.after,
        "change": change.change,
        "low": low,
        "high": high,
        "p": row.p,
        "p_adjusted": p,
        n_baseline: change.size_before,
        "n": change.size_after,
        "clusters": change.clusters,
        "detectable": least,
        "unit": row.unit,
        "verdict": _judged(verdict, p, level),
        "why": _why(row, verdict, number(least), level, names),
        "method": row.method,
        "family": stands if is_tested else None,
    }


def _judged(verdict: str, p: Any, level: float) -> Any:
    """A verdict with the comparison of the p-value that it rests on, where that is traced."""
    if not isinstance(p, Traced):
        return verdict
    threshold = 1 - setting("level", level)
    name_all(threshold=threshold)
    decided = p < threshold if p.value < threshold.value else p >= threshold
    decided.value = verdict
    return decided


def _key(values: Sequence[object]) -> pd.Series:
    column = pd.Series(list(values), dtype=object)
    is_text = all(isinstance(value, str) or value is None for value in values)
    return column.astype("string") if is_text else column.infer_objects()


def _why(row: ComparedRow, verdict: str, least: float, level: float, names: tuple[str, str]) -> str:
    change, is_rate = row.change, row.is_rate
    if verdict == "cannot say":
        return "; ".join(dict.fromkeys([row.why or "it cannot be computed", *row.notes]))
    low, high = (points(number(end), is_rate) for end in (change.low, change.high))
    after, before = (amount(number(end), is_rate) for end in (change.after, change.before))
    word, moved = "change", f"{before} to {after}"
    if names != WINDOWS:
        word, moved = "difference", f"{names[0]} {after}, {names[1]} {before}"
    which = f"{100 * level:g} % interval of the {word}, for this row alone"
    reasons = [f"{moved}; {which}: {low} to {high}"]
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
    is_rate = all(side.is_rate for side in sides)
    lacking = [name for side, name in zip(sides, WINDOWS, strict=True) if not side.n.sum() > 0]
    empty = f"{lacking[0]}: nothing was measured" if lacking else ""
    why = overlapping(now, before, column) or empty
    pairs = [side.pairs(0) for side in sides]
    common = [name for name in pairs[0] if name in pairs[1]]
    both = [
        part
        for side, own, end in zip(sides, pairs, "10", strict=True)
        for part in side.of([own[name] for name in common], end)
    ]
    entered, left = (
        side.of([pair for name, pair in own.items() if name not in common], end)
        for side, own, end in zip(sides, pairs, ("_in", "_out"), strict=True)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        made = decomposed(both, entered, left, is_rate=is_rate)
        half = normal_quantile((1 + setting("level", level)) / 2) * made.error
        tests = [made.rate - half, made.rate + half, two_sided(made.rate / made.error, math.inf)]
    low, high, p = (_NAN if why else value for value in tests)
    effects = [_NAN if empty else getattr(made, part) for part in PARTS]
    verdict = verdict_of(number(p), number(effects[0]), level)
    k, came, gone = One.count(both[1]), One.count(entered[1]), One.count(left[1])
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
            "n": [made.n] * 5,
            "clusters": [k, k, came, gone, k + came + gone],
            "verdict": [verdict, *["bookkeeping"] * 4],
            "why": [
                f"the {by} on both sides: {verdict}" + (f" ({why})" if why else ""),
                f"the same {by}, asked more or less often: what was asked, not what was answered",
                f"{number(came):g} {by} were not there before",
                f"{number(gone):g} {by} are no longer there",
                why if empty else f"{points(number(made.total), is_rate)} in all",
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
