"""Confidence intervals: ``df.aa.interval``, of single rows and over clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.aggregation_plan import counts_of, plan
from aatoolkit.frame.cell_status import cells_of, together
from aatoolkit.frame.groupby import By, Groups, find
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, PER_UNIT, Aggregation
from aatoolkit.stats.cluster_sums import (
    ClusterSums,
    Rules,
    cluster_sums,
    whole_state,
    without_counts,
)
from aatoolkit.stats.estimate import LEAST_CLUSTERS, Estimate, fixed, of_groups, sampled, wilson
from aatoolkit.stats.results import amount, numbers, result, words
from aatoolkit.stats.trace import One, named, normal_quantile, setting

PANELS = ("sampled", "fixed")


@recorded("interval", "frame")
def interval(
    frame: pd.DataFrame,
    column: str,
    level: float = 0.95,
    *,
    by: By = None,
    cluster: str | None = None,
    panel: str | None = None,
    join: bool = False,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """The interval of a rate or mean; see ``df.aa.interval``."""
    check_level(level)
    if cluster is None:
        if by is not None or panel is not None:
            raise ArgumentError("by= and panel= need cluster=, such as cluster='prompt_id'")
        found = _of_rows(frame, column, level, rules)
        return _beside(frame, found, column, level) if join else found
    panel = panel or "sampled"
    if panel not in PANELS:
        raise ArgumentError(f"panel={panel!r} is none of {', '.join(PANELS)}")
    sums = cluster_sums(frame, column, by, cluster, rules)
    estimates = of_groups(sums, level, panel)
    why = [_why_not(sums, estimates, at, cluster, panel) for at in range(len(sums.groups))]
    if why and all(why) and any("cannot say how" in each for each in why if each):
        raise AvailabilityError(f"{column} has no interval: {why[0]}", columns={column: why[0]})
    described = _described(sums, estimates, why, column, level, cluster, panel)
    if join:
        return _joined(frame, sums, described, column)
    return described


def check_level(level: float) -> None:
    """Refuse a confidence level that is none.

    Raises
    ------
    ArgumentError
        If it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ArgumentError(f"level={level!r} is not between 0 and 1")


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `interval`, traced."""
    given = cells.arguments
    column, cluster, level = given["column"], given.get("cluster"), given.get("level", 0.95)
    level = setting("level", level)
    if cluster is None:
        parts = parts_of_rows(cells.inputs[0].frame, column, given.get("rules"))
        y, n = (
            cells.cell(name, 0, at, part)
            for name, part in zip(("hits", "trials"), parts, strict=True)
        )
        row = named(Rate(y / n, normal_quantile((1 + level) / 2)))
        low, high = wilson(row.rate, n, row.q)
        return {f"{column}_low": low, f"{column}_high": high}
    sums = cells.sums(0, column, given.get("by"), cluster, given.get("rules"))
    names = [str(name) for name in sums.sums.groups.keys.columns]
    group = sums.sums.groups.ids[at] if given.get("join") else sums.group(cells.key(at, names))
    pairs = [*sums.pairs(int(group)).values()]
    y, n = sums.y(pairs), sums.n(pairs)
    if given.get("panel") == "fixed":
        squares = sums.squares(pairs)
        made = fixed(One, y, n, level, is_rate=sums.is_rate, squares=squares)
    else:
        made = sampled(One, y, n, level, is_rate=sums.is_rate)
    return {
        column: made.value,
        **{f"{column}_{end}": getattr(made, end) for end in ("low", "high", "deff", "clusters")},
        f"{column}_n": made.size,
    }


@dataclass(frozen=True)
class Rate:
    """A rate of one row, and the quantile of its interval."""

    rate: Any
    q: Any


def _why_not(
    sums: ClusterSums, estimates: Estimate, group: int, cluster: str, panel: str
) -> str | None:
    """Return the reason why a group has no interval; None if it has one."""
    if not sums.given[group]:
        state = sums.states[group]
        return str(state) if state.status != Status.AVAILABLE else "no answers"
    k = int(estimates.clusters[group])
    if panel == "sampled" and k < LEAST_CLUSTERS:
        return (
            f"{k} different values of {cluster} cannot say how much such values differ, which "
            f"takes {LEAST_CLUSTERS}; panel='fixed' is about these alone, and without cluster "
            "the interval takes every answer for independent"
        )
    if np.isnan(estimates.low[group]):
        return (
            f"one number for each value of {cluster} cannot say how much answers to one differ"
            if panel == "fixed"
            else f"{k} values of {cluster} that do not differ are too few to estimate an error"
        )
    return None


def _described(
    sums: ClusterSums,
    estimates: Estimate,
    why: list[str | None],
    column: str,
    level: float,
    cluster: str,
    panel: str,
) -> pd.DataFrame:
    """One row a group, with what each column says."""
    keys = sums.groups.keys.reset_index(drop=True)
    unit, is_rate = sums.unit, sums.is_proportion
    method = _method(is_rate, level, cluster, panel)
    verdicts = [
        f"cannot say: {reason}"
        if reason
        else f"{100 * level:g} % interval: {amount(low, is_rate)} to {amount(high, is_rate)}"
        for low, high, reason in zip(
            estimates.low.tolist(), estimates.high.tolist(), why, strict=True
        )
    ]
    new = {
        column: numbers(estimates.value),
        f"{column}_low": numbers(estimates.low),
        f"{column}_high": numbers(estimates.high),
        f"{column}_n": numbers(estimates.size),
        f"{column}_deff": numbers(estimates.deff),
        f"{column}_clusters": numbers(estimates.clusters, "Int64"),
        f"{column}_method": words([method] * len(keys)),
        f"{column}_verdict": words(verdicts),
    }
    which = f"{level:.0%} interval"
    doc = sums.column.doc if sums.column and sums.column.doc else f"{column}."
    meanings = {
        column: (f"{doc} Over all rows of the group.", unit),
        f"{column}_low": (f"Lower end of its {which}.", unit),
        f"{column}_high": (f"Upper end of its {which}.", unit),
        f"{column}_n": ("What it is a share or mean of: its sample size.", COUNT),
        f"{column}_deff": (
            "Design effect: its variance, over that of as many independent answers.",
            "ratio",
        ),
        f"{column}_clusters": (f"Different values of {cluster}.", COUNT),
        f"{column}_method": ("How the interval was computed.", None),
        f"{column}_verdict": ("The interval in words, or why there is none.", None),
    }
    taken = {str(name): sums.known.columns[str(name)] for name in keys.columns}
    return result(
        pd.DataFrame({**{name: keys[name] for name in keys.columns}, **new}),
        "interval",
        meanings,
        taken,
        sums.known.sources,
        whole_state(sums.states),
        key=tuple(taken),
    )


def _method(is_rate: bool, level: float, cluster: str, panel: str) -> str:
    if panel == "fixed":
        how = "Wilson interval" if is_rate else "t interval"
        return f"{how}, {level:.0%}, for these values of {cluster} (strata)"
    how = "Wilson interval on the effective sample size" if is_rate else "t interval"
    return f"{how}, {level:.0%}, for values of {cluster} like these (clusters)"


def _joined(
    frame: pd.DataFrame, sums: ClusterSums, described: pd.DataFrame, column: str
) -> pd.DataFrame:
    """The rows of the frame with the interval of their group."""
    names = [str(name) for name in described.columns if str(name).startswith(f"{column}_")]
    _check_free(frame, names)
    rows = described[names].take(sums.groups.ids).set_axis(frame.index)
    return _with_columns(frame, rows, described)


def _check_free(frame: pd.DataFrame, names: list[str]) -> None:
    taken = [name for name in names if name in frame.columns]
    if taken:
        raise AvailabilityError(
            f"the frame already has {', '.join(taken)}; rename it first",
            columns=dict.fromkeys(taken, "is there already"),
        )


def _with_columns(frame: pd.DataFrame, rows: pd.DataFrame, described: pd.DataFrame) -> pd.DataFrame:
    """The frame with further columns beside its own, and the metadata of both."""
    whole = pd.concat([frame, rows], axis=1)
    known, added = metadata_of(frame), metadata_of(described)
    columns = {**known.columns, **{name: added.columns[name] for name in map(str, rows.columns)}}
    return attach(whole, replace(known, columns=columns))


def _of_rows(frame: pd.DataFrame, column: str, level: float, rules: Rules | None) -> pd.DataFrame:
    """Wilson's score interval of each row."""
    known = metadata_of(frame)
    parts = parts_of_rows(frame, column, rules)
    cells = together(*(cells_of(frame, part, known) for part in parts))
    hits, trials = (frame[part].to_numpy(np.float64, na_value=np.nan) for part in parts)
    counted = cells.given & (trials > 0) & _are_fractions(frame, known, column)
    use = counted & (hits >= 0) & (hits <= trials)
    if counted.any() and not use.any():
        raise _refused(column, "its numerator is no part of its denominator")
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = wilson(hits / trials, trials, normal_quantile((1 + level) / 2))
    return pd.DataFrame(
        {
            f"{column}_{end}": pd.array(np.where(use, bound, np.nan), dtype="Float64")
            for end, bound in zip(("low", "high"), bounds, strict=True)
        },
        index=frame.index,
    )


def parts_of_rows(frame: pd.DataFrame, column: str, rules: Rules | None) -> tuple[str, str]:
    """The columns with the numerator and the denominator of a rate in each row.

    Raises
    ------
    AvailabilityError
        If it has none.
    """
    find(frame, [column])
    known = metadata_of(frame)
    parts = counts_of(known, column) if column not in (rules or {}) else None
    if parts is None:
        what = declared(known.columns[column]) if column not in (rules or {}) else None
        if what is not None and what.aggregate.rule == "none" and what.aggregate.why:
            raise _refused(column, what.aggregate.why)
        # Each row stands alone, so that nothing is added up over any dimension.
        rows = Groups(np.arange(len(frame)), pd.DataFrame(index=range(len(frame))))
        (planned,) = plan(frame, known, rows, column, rules or {})
        if planned.rule.over is None:
            raise _refused(column, _no_counts(planned.rule, known, column))
        return planned.rule.over
    return parts


def _no_counts(rule: Aggregation, known: FrameMetadata, column: str) -> str:
    """Return the reason why a column without numerator and denominator has no interval by row."""
    lacking = without_counts(rule, known, column)
    if rule.rule != "mean":
        return lacking
    return f"{lacking}; of a mean, rows of one answer each give the spread, with cluster="


def _are_fractions(frame: pd.DataFrame, known: FrameMetadata, column: str) -> npt.NDArray[np.bool_]:
    """The rows whose value is a fraction: all, unless a column gives the unit of each row."""
    what = declared(known.columns[column])
    if what is None or what.unit != PER_UNIT:
        return np.ones(len(frame), bool)
    table = known.columns[column].table
    units = [name for name, of in known.columns.items() if of.of == f"{table}.unit"]
    if not units:
        raise _refused(column, "it needs the unit of each row")
    return (frame[units[0]].astype("string") == "fraction").fillna(False).to_numpy(bool)


def _beside(frame: pd.DataFrame, found: pd.DataFrame, column: str, level: float) -> pd.DataFrame:
    """The frame with the interval of each row beside it."""
    _check_free(frame, [*found.columns])
    unit = "fraction 0-1"
    meanings = {
        name: (f"{end} end of its {level:.0%} Wilson interval; answers as independent.", unit)
        for name, end in zip(found.columns, ("Lower", "Upper"), strict=True)
    }
    described = result(found.copy(), "interval", meanings, {}, metadata_of(frame).sources)
    return _with_columns(frame, found, described)


def _refused(column: str, why: str) -> AvailabilityError:
    return AvailabilityError(f"{column} has no interval: {why}", columns={column: why})
