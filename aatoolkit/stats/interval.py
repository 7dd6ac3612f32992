"""Confidence intervals: ``df.aa.interval``, and those that pictures and tables show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.cell_status import cells_of as states_of
from aatoolkit.frame.cell_status import together
from aatoolkit.frame.groupby import By, find
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import PER_UNIT, Aggregation
from aatoolkit.stats.estimate import LEAST_CLUSTERS, check_level, estimate, wilson
from aatoolkit.stats.results import amount, refusal, result
from aatoolkit.stats.sums import PROMPT, Rules, cluster_sums, rule_of, without_counts
from aatoolkit.stats.trace import (
    Numbers,
    cells_of,
    kept,
    name_all,
    normal_quantile,
    plain_value,
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
    rules: Rules | None = None,
) -> pd.DataFrame:
    """The interval of a rate or mean; see ``df.aa.interval``."""
    check_level(level)
    if cluster is None:
        if by is not None or panel is not None:
            raise ArgumentError("by= and panel= need cluster=, such as cluster='prompt_id'")
        return _of_rows(frame, column, level, rules or {})
    panel = panel or "sampled"
    if panel not in PANELS:
        raise ArgumentError(f"panel={panel!r} is none of {', '.join(PANELS)}")
    sums = cluster_sums(frame, column, by, cluster, rules)
    (y, n), is_rate = sums.of(), sums.is_rate
    if panel == "fixed" and not is_rate:
        raise refusal(column, "interval of fixed values", "it is no rate; leave panel= out")
    sure = setting("level", level)
    of_groups = estimate(sums.many, y, n, sure, panel, is_rate)
    lows, highs, sizes = map(plain_value, (of_groups.low, of_groups.high, of_groups.clusters))
    reasons, verdicts = [], []
    for at, (low, high, k) in enumerate(zip(lows, highs, sizes, strict=True)):
        state, why = sums.states[at], ""
        if not sums.used[at]:
            why = str(state) if state.status != Status.AVAILABLE else "no answers"
        elif panel == "sampled" and k < LEAST_CLUSTERS:
            why = (
                f"{k:g} different values of {cluster} cannot say how much such values differ, "
                f"which takes {LEAST_CLUSTERS}; panel='fixed' is about these alone, and without "
                "cluster the interval takes every answer for independent"
            )
        elif not np.isfinite(low):
            why = f"{k:g} values of {cluster} that do not differ are too few to estimate an error"
            alone = f"one number for each value of {cluster} cannot say how much answers differ"
            why = alone if panel == "fixed" else why
        reasons.append(why)
        span = f"{amount(low, is_rate)} to {amount(high, is_rate)}"
        verdicts.append(f"cannot say: {why}" if why else f"{100 * level:g} % interval: {span}")
    if all(reasons) and any("cannot say how" in why for why in reasons):
        raise refusal(column, "interval", reasons[0])
    how = "Wilson interval" if is_rate else "t interval"
    about = f"for these values of {cluster} (strata)"
    if panel == "sampled":
        how += " on the effective sample size" if is_rate else ""
        about = f"for values of {cluster} like these (clusters)"
    keys = sums.groups.keys.reset_index(drop=True)
    names = [str(name) for name in keys.columns]
    return result(
        "interval",
        {
            **{name: keys[name] for name in keys.columns},
            column: of_groups.value,
            f"{column}_low": of_groups.low,
            f"{column}_high": of_groups.high,
            f"{column}_deff": of_groups.deff,
            f"{column}_clusters": of_groups.clusters,
            f"{column}_n": of_groups.size,
            f"{column}_method": f"{how}, {level:.0%}, {about}",
            f"{column}_verdict": verdicts,
        },
        {name: sums.metadata.columns[name] for name in names},
        sums.metadata.sources,
        combine(sums.states),
        key=names,
        unit=sums.unit,
        level=level,
        x=column,
        cluster=cluster,
        doc=sums.column.doc if sums.column and sums.column.doc else f"{column}.",
    )


def _of_rows(frame: pd.DataFrame, column: str, level: float, rules: Rules) -> pd.DataFrame:
    """Wilson's score interval of each row."""
    find(frame, [column])
    metadata = metadata_of(frame)
    rule, parts = rule_of(metadata, column)
    stated = rules.get(column)
    if isinstance(stated, Aggregation):
        rule, parts = stated, stated.over or ("",)
    if not all(parts):
        counts = [name for name in rule.over or rule.counts or () if name not in frame.columns]
        why = f"it needs {', '.join(counts)}"
        if not counts:
            why = rule.why if rule.rule == "none" and rule.why else ""
        raise refusal(column, "interval", why or without_counts(rule, metadata, column))
    cells = together(*(states_of(frame, part, metadata) for part in parts))
    hits, trials = (
        cells_of(name, frame, part, np.arange(len(frame)))
        for name, part in zip(("hits", "trials"), parts, strict=True)
    )
    above, below = plain_value(hits), plain_value(trials)
    counted = cells.given & (below > 0)
    what = declared(metadata.columns[column])
    if what is not None and what.unit == PER_UNIT:  # only of rows whose value is a fraction
        unit = f"{metadata.columns[column].table}.unit"
        units = [name for name, of in metadata.columns.items() if of.of == unit]
        if not units:
            raise refusal(column, "interval", "it needs the unit of each row")
        counted &= frame[units[0]].eq("fraction").fillna(False).to_numpy(bool)
    use = counted & (above >= 0) & (above <= below)
    if counted.any() and not use.any():
        raise refusal(column, "interval", "its numerator is no part of its denominator")
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, q = hits / trials, normal_quantile((1 + setting("level", level)) / 2)
        name_all(rate=rate, q=q)
        low, high = (np.where(use, bound, np.nan) for bound in wilson(rate, trials, q))
    columns = kept({f"{column}_low": low, f"{column}_high": high})
    arrays = {name: pd.array(values, dtype="Float64") for name, values in columns.items()}
    return pd.DataFrame(arrays, index=frame.index)


# --- beside the numbers of pictures and tables ------------------------------------------------

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
    """

    low: Numbers
    high: Numbers
    method: str = ""
    result: pd.DataFrame | None = None


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
    >>> drawn.method.split(",")[0]
    '95% interval for prompts like these'
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
        single = interval(frame, column, level)
    except AvailabilityError:
        nothing = np.full(len(frame), np.nan)
        return Bounds(nothing, nothing)
    metadata = metadata_of(frame)
    of_answers = rule_of(metadata, column)[1][-1].endswith("answer_count")
    which = OF_ANSWERS if of_answers else OF_PARTS
    return Bounds(*_ends(single, column), OF_ONE if PROMPT in metadata.key else which, single)


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
    return Bounds(low, high, OVER_PROMPTS, pooled)


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
