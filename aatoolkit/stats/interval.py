"""Confidence intervals: ``df.aa.interval``, and those that pictures and tables show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.aggregation_plan import counts_of, plan
from aatoolkit.frame.cell_status import cells_of as states_of
from aatoolkit.frame.cell_status import together
from aatoolkit.frame.groupby import By, Groups, find
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import PER_UNIT, Aggregation
from aatoolkit.stats.estimate import LEAST_CLUSTERS, Estimate, check_level, estimate, wilson
from aatoolkit.stats.results import amount, refusal, result
from aatoolkit.stats.sums import PROMPT, ClusterSums, Rules, cluster_sums, without_counts
from aatoolkit.stats.trace import (
    Numbers,
    cells_of,
    kept,
    name_all,
    normal_quantile,
    plain_value,
    reordered,
    setting,
)

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
        rows = _of_rows(frame, column, level, rules)
        return _beside(frame, rows, column, level) if join else rows
    panel = panel or "sampled"
    if panel not in PANELS:
        raise ArgumentError(f"panel={panel!r} is none of {', '.join(PANELS)}")
    sums = cluster_sums(frame, column, by, cluster, rules)
    y, n = sums.of()
    sure = setting("level", level)
    made = estimate(sums.many, y, n, sure, panel, sums.squares_of(), sums.is_rate)
    why = [_why_not(sums, made, at, cluster, panel) for at in range(len(sums.groups))]
    if why and all(why) and any("cannot say how" in reason for reason in why if reason):
        raise refusal(column, "interval", str(why[0]))
    described = _described(sums, made, why, column, level, cluster, panel)
    if not join:
        return described
    names = [str(name) for name in described.columns if str(name).startswith(f"{column}_")]
    _check_free(frame, names)
    reordered(sums.groups.ids)
    rows = described[names].take(sums.groups.ids).set_axis(frame.index)
    return _with_columns(frame, rows, described)


def _why_not(sums: ClusterSums, made: Estimate, group: int, cluster: str, panel: str) -> str | None:
    """Return the reason why a group has no interval; None if it has one."""
    if not sums.given[group]:
        state = sums.states[group]
        return str(state) if state.status != Status.AVAILABLE else "no answers"
    k = int(plain_value(made.clusters)[group])
    if panel == "sampled" and k < LEAST_CLUSTERS:
        return (
            f"{k} different values of {cluster} cannot say how much such values differ, which "
            f"takes {LEAST_CLUSTERS}; panel='fixed' is about these alone, and without cluster "
            "the interval takes every answer for independent"
        )
    if np.isfinite(plain_value(made.low)[group]):
        return None
    if panel == "fixed":
        return f"one number for each value of {cluster} cannot say how much answers to one differ"
    return f"{k} values of {cluster} that do not differ are too few to estimate an error"


def _described(
    sums: ClusterSums,
    made: Estimate,
    why: list[str | None],
    column: str,
    level: float,
    cluster: str,
    panel: str,
) -> pd.DataFrame:
    """One row a group."""
    keys, is_rate = sums.groups.keys.reset_index(drop=True), sums.is_rate
    lows, highs = (plain_value(end).tolist() for end in (made.low, made.high))
    verdicts = [
        f"cannot say: {reason}"
        if reason
        else f"{100 * level:g} % interval: {amount(low, is_rate)} to {amount(high, is_rate)}"
        for low, high, reason in zip(lows, highs, why, strict=True)
    ]
    taken = {str(name): sums.metadata.columns[str(name)] for name in keys.columns}
    return result(
        "interval",
        {
            **{name: keys[name] for name in keys.columns},
            column: made.value,
            f"{column}_low": made.low,
            f"{column}_high": made.high,
            f"{column}_deff": made.deff,
            f"{column}_clusters": made.clusters,
            f"{column}_n": made.size,
            f"{column}_method": [_method(is_rate, level, cluster, panel)] * len(keys),
            f"{column}_verdict": verdicts,
        },
        taken,
        sums.metadata.sources,
        combine(sums.states),
        key=tuple(taken),
        unit=sums.unit,
        level=level,
        x=column,
        cluster=cluster,
        doc=sums.column.doc if sums.column and sums.column.doc else f"{column}.",
    )


def _method(is_rate: bool, level: float, cluster: str, panel: str) -> str:
    if panel == "fixed":
        how = "Wilson interval" if is_rate else "t interval"
        return f"{how}, {level:.0%}, for these values of {cluster} (strata)"
    how = "Wilson interval on the effective sample size" if is_rate else "t interval"
    return f"{how}, {level:.0%}, for values of {cluster} like these (clusters)"


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
    metadata, added = metadata_of(frame), metadata_of(described)
    columns = {**metadata.columns, **{name: added.columns[name] for name in map(str, rows.columns)}}
    return attach(whole, replace(metadata, columns=columns))


def _of_rows(frame: pd.DataFrame, column: str, level: float, rules: Rules | None) -> pd.DataFrame:
    """Wilson's score interval of each row."""
    metadata = metadata_of(frame)
    parts = parts_of_rows(frame, column, rules)
    cells = together(*(states_of(frame, part, metadata) for part in parts))
    every = np.arange(len(frame))
    hits, trials = (
        cells_of(name, frame, part, every)
        for name, part in zip(("hits", "trials"), parts, strict=True)
    )
    counts = [plain_value(part) for part in (hits, trials)]
    counted = cells.given & (counts[1] > 0) & _are_fractions(frame, metadata, column)
    use = counted & (counts[0] >= 0) & (counts[0] <= counts[1])
    if counted.any() and not use.any():
        raise refusal(column, "interval", "its numerator is no part of its denominator")
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, q = hits / trials, normal_quantile((1 + setting("level", level)) / 2)
        name_all(rate=rate, q=q)
        low, high = (np.where(use, bound, np.nan) for bound in wilson(rate, trials, q))
    columns = kept({f"{column}_low": low, f"{column}_high": high})
    arrays = {name: pd.array(values, dtype="Float64") for name, values in columns.items()}
    return pd.DataFrame(arrays, index=frame.index)


def parts_of_rows(frame: pd.DataFrame, column: str, rules: Rules | None) -> tuple[str, str]:
    """The columns with the numerator and the denominator of a rate in each row.

    Raises
    ------
    AvailabilityError
        If it has none.
    """
    find(frame, [column])
    metadata = metadata_of(frame)
    parts = counts_of(metadata, column) if column not in (rules or {}) else None
    if parts is None:
        what = declared(metadata.columns[column]) if column not in (rules or {}) else None
        if what is not None and what.aggregate.rule == "none" and what.aggregate.why:
            raise refusal(column, "interval", what.aggregate.why)
        # Each row stands alone, so that nothing is added up over any dimension.
        rows = Groups(np.arange(len(frame)), pd.DataFrame(index=range(len(frame))))
        (planned,) = plan(frame, metadata, rows, column, rules or {})
        if planned.rule.over is None:
            raise refusal(column, "interval", _no_counts(planned.rule, metadata, column))
        return planned.rule.over
    return parts


def _no_counts(rule: Aggregation, metadata: FrameMetadata, column: str) -> str:
    """Return the reason why a column without numerator and denominator has no interval by row."""
    lacking = without_counts(rule, metadata, column)
    if rule.rule != "mean":
        return lacking
    return f"{lacking}; of a mean, rows of one answer each give the spread, with cluster="


def _are_fractions(
    frame: pd.DataFrame, metadata: FrameMetadata, column: str
) -> npt.NDArray[np.bool_]:
    """The rows whose value is a fraction: all, unless a column gives the unit of each row."""
    what = declared(metadata.columns[column])
    if what is None or what.unit != PER_UNIT:
        return np.ones(len(frame), bool)
    table = metadata.columns[column].table
    units = [name for name, of in metadata.columns.items() if of.of == f"{table}.unit"]
    if not units:
        raise refusal(column, "interval", "it needs the unit of each row")
    return (frame[units[0]].astype("string") == "fraction").fillna(False).to_numpy(bool)


def _beside(frame: pd.DataFrame, rows: pd.DataFrame, column: str, level: float) -> pd.DataFrame:
    """The frame with the interval of each row beside it."""
    _check_free(frame, [*rows.columns])
    sources = metadata_of(frame).sources
    described = result("beside", {**rows}, None, sources, level=level, x=column)
    return _with_columns(frame, rows, described)


OVER_PROMPTS = (
    f"95% interval for prompts like these, Wilson's with their design effect; none with fewer "
    f"than {LEAST_CLUSTERS} prompts"
)
OF_ONE = "Wilson's 95% interval, which takes the answers to one prompt for independent"
OF_PARTS = "Wilson's 95% interval, which takes what is counted for independent"
OF_ANSWERS = "Wilson's 95% interval, which takes answers for independent"
DECLARED = "the interval of the rate, as the table has it"


@dataclass(frozen=True)
class Bounds:
    """The interval of each row of a frame.

    Parameters
    ----------
    low, high : array of float
        Its ends, NaN where there is none.
    method : str
        Which interval it is, in words; empty where there is none.
    result : pandas.DataFrame, optional
        The intervals as they were computed, beside the columns that name the rows.
    is_over_prompts : bool
        Whether it is clustered: answers to one prompt resemble each other.
    """

    low: Numbers
    high: Numbers
    method: str = ""
    result: pd.DataFrame | None = None
    is_over_prompts: bool = False


def bounds(
    frame: pd.DataFrame,
    column: str,
    rows: pd.DataFrame | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
) -> Bounds:
    """Return the interval of each row of a frame: what a whisker beside its number shows.

    The one that the frame has (``x_low``, ``x_high``); else, where prompts are known, that over
    prompts; else Wilson's, which takes answers for independent and says so.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a mark.
    column : str
        The number of the marks.
    rows : pandas.DataFrame, optional
        The rows that the marks were made of, or another table that counts the same by prompt:
        where its prompts do not add up to the marks' numbers, these have Wilson's interval.
    by : sequence of str
        The columns that tell the marks apart, in both frames; none if there is one mark.
    level : float
        The confidence level.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> data = aa.demo().read_all(sections=["overview", "prompts"], progress=False)
    >>> engines = data["overview"]["overview_engines"]
    >>> drawn = bounds(engines, "mention_rate", data["prompts"]["prompt_engines"], ["engine"])
    >>> drawn.is_over_prompts, drawn.method.split(",")[0]
    (True, '95% interval for prompts like these')
    """
    ends = [f"{column}_low", f"{column}_high"]
    if all(name in frame.columns for name in ends):
        method = frame.get(f"{column}_method")
        words = str(method.iloc[0]) if method is not None and len(frame) else DECLARED
        return Bounds(*_ends(frame, column), words)
    keys = list(dict.fromkeys(by))
    try:
        if rows is not None and PROMPT in rows.columns and PROMPT not in keys:
            clustered = _over_prompts(frame, column, rows, keys, level)
            if clustered is not None:
                return clustered
        single = interval(frame, column, level, join=True)
    except AvailabilityError:
        nothing = np.full(len(frame), np.nan)
        return Bounds(nothing, nothing)
    return Bounds(*_ends(single, column), _of_independent(frame, column), single)


def _over_prompts(
    frame: pd.DataFrame, column: str, rows: pd.DataFrame, keys: list[str], level: float
) -> Bounds | None:
    """The intervals over prompts; None where the prompts do not add up to the marks."""
    pooled = interval(rows, column, level, by=keys or None, cluster=PROMPT)
    places = {tuple(row): at for at, row in enumerate(_marks(pooled, keys))}
    place = np.array([places.get(tuple(row), -1) for row in _marks(frame, keys)], np.int64)
    value, mark = (part[column].to_numpy(np.float64, na_value=np.nan) for part in (pooled, frame))
    is_same = (place >= 0) & np.isclose(value[place], mark, rtol=1e-6, atol=1e-12)
    if (np.isfinite(mark) & ~is_same).any():  # one picture has one kind of interval
        return None
    low, high = (np.where(is_same, end[place], np.nan) for end in _ends(pooled, column))
    return Bounds(low, high, OVER_PROMPTS, pooled, is_over_prompts=True)


def _of_independent(frame: pd.DataFrame, column: str) -> str:
    """Which interval that of single rows is: of answers to one prompt, of answers, of others."""
    metadata = metadata_of(frame)
    if PROMPT in metadata.key:
        return OF_ONE
    declaration = declared(metadata.columns[column])
    rule = declaration.aggregate if declaration else None
    parts = (rule.over or rule.counts) if rule else None
    return OF_ANSWERS if parts and parts[1].endswith("answer_count") else OF_PARTS


def _ends(frame: pd.DataFrame, column: str) -> tuple[Numbers, Numbers]:
    low, high = (
        frame[f"{column}_{end}"].to_numpy(np.float64, na_value=np.nan) for end in ("low", "high")
    )
    return low, high


def _marks(frame: pd.DataFrame, keys: list[str]) -> list[list[object]]:
    """The key of each row; a missing part is equal to another one."""
    values = frame[keys].astype(object)
    marks: list[list[object]] = values.where(values.notna(), None).to_numpy().tolist()
    return marks if keys else [[]] * len(frame)
