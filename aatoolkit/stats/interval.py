"""How sure a rate is: ``df.aa.interval``, and the intervals that pictures and tables show.

Also agreement of repeats, and the sample sizes it implies: ``aa.stats.samples``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.cell_status import cells_of, together
from aatoolkit.frame.groupby import By, as_floats, find
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.sections.aggregation import PER_UNIT, Aggregation
from aatoolkit.stats.estimate import LEAST_CLUSTERS, NAN, check_level, estimate, wilson
from aatoolkit.stats.results import amount, percent, refusal, result
from aatoolkit.stats.sums import PROMPT, Rules, cluster_sums, rule_of, without_counts
from aatoolkit.stats.trace import (
    GroupSums,
    Integers,
    Numbers,
    SingleGroup,
    column_values,
    count_of,
    drawn,
    name_all,
    normal_quantile,
    number,
    plain_columns,
    plain_value,
    setting,
    statistic,
    t_quantile,
    take,
    total_of,
)

PANELS = ("sampled", "fixed")


@statistic("interval", "frame")
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
    (y, n), is_rate = sums.parts(), sums.is_rate
    if panel == "fixed" and not is_rate:
        raise refusal(column, "interval of fixed values", "it is no rate; leave panel= out")
    confidence = setting("level", level)
    of_groups = estimate(sums.by_group, y, n, confidence, panel, is_rate)
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
            why = (
                f"{k:g} values of {cluster} that do not differ, are too large, or of which one has "
                "most answers, cannot say how much such values differ"
            )
            if panel == "fixed":
                why = f"one number for each value of {cluster} cannot say how much answers differ"
        reasons.append(why)
        span = f"{amount(low, is_rate)} to {amount(high, is_rate)}"
        verdicts.append(f"cannot say: {why}" if why else f"{100 * level:g} % interval: {span}")
    if all(reasons) and sums.used.any():
        raise refusal(column, "interval", reasons[int(sums.used.argmax())])
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
            **keys,
            column: of_groups.value,
            f"{column}_low": of_groups.low,
            f"{column}_high": of_groups.high,
            f"{column}_deff": of_groups.deff,
            f"{column}_clusters": of_groups.clusters,
            f"{column}_n": of_groups.size,
            f"{column}_method": f"{how}, {level:.0%}, {about}",
            f"{column}_verdict": verdicts,
        },
        [sums.metadata],
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
        counts = rule.over or rule.counts or ()
        lacking = ", ".join(name for name in counts if name not in frame.columns)
        why = f"it needs {lacking or ', '.join(counts)} as read" if counts else rule.why
        raise refusal(column, "interval", why or without_counts(rule))
    cells = together(*(cells_of(frame, part, metadata) for part in parts))
    hits, trials = (
        column_values(name, frame, part, np.arange(len(frame)))
        for name, part in zip(("hits", "trials"), parts, strict=True)
    )
    above, below = plain_value(hits), plain_value(trials)
    counted = cells.has_number & (below > 0)
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
    rate, q = hits / trials, normal_quantile((1 + setting("level", level)) / 2)
    name_all(rate=rate, q=q)
    low, high = (np.where(use, bound, np.nan) for bound in wilson(rate, trials, q))
    columns = plain_columns({f"{column}_low": low, f"{column}_high": high})
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
) -> Bounds:
    """Return the interval of each row of a frame: what a whisker beside its number shows.

    The one that the frame has (``x_low``, ``x_high``); else, where prompts are known, that over
    prompts; else Wilson's, which takes answers for independent and says so.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per mark.
    column : str
        The number of the marks.
    rows : pandas.DataFrame, optional
        The rows that the marks were made of, or another table that counts the same by prompt:
        where its prompts do not add up to the marks' numbers, these have Wilson's interval.
    by : sequence of str
        The columns that tell the marks apart, in both frames; none if there is one mark.

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
            clustered = _over_prompts(frame, column, rows, keys)
            if clustered is not None:
                return clustered
        single = interval(frame, column)
    except AvailabilityError:
        nothing = np.full(len(frame), np.nan)
        return Bounds(nothing, nothing)
    metadata = metadata_of(frame)
    is_of_answers = rule_of(metadata, column)[1][-1].endswith("answer_count")
    words = OF_ANSWERS if is_of_answers else OF_PARTS
    return Bounds(*_ends(single, column), OF_ONE if PROMPT in metadata.key else words, single)


def _over_prompts(
    frame: pd.DataFrame, column: str, rows: pd.DataFrame, keys: list[str]
) -> Bounds | None:
    """The intervals over prompts; None where their pooled values differ from the frame's."""
    pooled = interval(rows, column, by=keys or None, cluster=PROMPT)
    beside = frame[keys].merge(pooled, how="left" if keys else "cross", on=keys or None)
    value, mark = as_floats(beside[column]), as_floats(frame[column])
    is_same = np.isclose(value, mark, rtol=1e-6, atol=1e-12)
    if (np.isfinite(mark) & ~is_same).any():  # one picture has one kind of interval
        return None
    low, high = (np.where(is_same, end, np.nan) for end in _ends(beside, column))
    return Bounds(low, high, OVER_PROMPTS, pooled)


def _ends(frame: pd.DataFrame, column: str) -> tuple[Numbers, Numbers]:
    return as_floats(frame[f"{column}_low"]), as_floats(frame[f"{column}_high"])


# --- agreement --------------------------------------------------------------------------------


@statistic("stability", "frame")
def stability(
    frame: pd.DataFrame, column: str, by: Sequence[str] | str, level: float
) -> pd.DataFrame:
    """Agreement between repeats; see ``df.aa.stability``."""
    check_level(level)
    names = [by] if isinstance(by, str) else list(by)
    sums = cluster_sums(frame, column, names, None)
    if not sums.is_rate:
        raise refusal(column, "agreement", "it is no column of true and false, and no rate")
    y, n = map(sums.by_group.total, sums.parts())
    often = np.flatnonzero(plain_value(n) >= 2)
    y, n = take(y, often), take(n, often)
    codes, labels = pd.factorize(sums.groups.keys[names[0]].iloc[often])
    many = GroupSums(codes, len(labels), lambda at: {names[0]: labels[at]})
    pairs = (y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))
    agree, combinations = many.total(pairs), many.count(pairs)
    name_all(y=y, n=n, pairs=pairs, agree=agree, combinations=combinations)
    confidence = setting("level", level)
    agreement = estimate(SingleGroup, agree, combinations, confidence, "sampled", is_rate=True)
    icc = _icc(y, n)
    icc = icc if len(often) > 1 and np.isfinite(number(icc)) else NAN
    low, high = (percent(number(end)) for end in (agreement.low, agreement.high))
    verdict = f"two answers agree in {percent(number(agreement.value))} of pairs ({low} to {high})"
    ends = [NAN] * 2
    if not len(often):
        verdict = "cannot say: no combination was asked twice"
    elif len(labels) < LEAST_CLUSTERS:
        few = f"{len(labels)} {names[0]} were asked again; an interval takes {LEAST_CLUSTERS}"
        verdict = f"cannot say: {few}"
    else:
        ends = _icc_ends(plain_value(y), plain_value(n), codes, level)
    icc_low, icc_high = (
        drawn(f"icc_{name}", end, f"the {name} end by jackknife, on Fisher's scale", y, n)
        for name, end in zip(("low", "high"), ends, strict=True)
    )
    return result(
        "stability",
        [
            {
                "agreement": agreement.value,
                "agreement_low": agreement.low,
                "agreement_high": agreement.high,
                "icc": icc,
                "icc_low": icc_low,
                "icc_high": icc_high,
                "n": total_of(n),
                "cells": count_of(n),
                "clusters": agreement.clusters,
                "verdict": verdict,
                "method": f"pairs of repeats within {' × '.join(names)}, clustered by {names[0]}; "
                "of the correlation the jackknife on Fisher's scale",
            }
        ],
        [sums.metadata],
        sums.metadata.columns[column].availability if len(sums.states) != 1 else sums.states[0],
        level=level,
        by=names[0],
    )


def _icc(y: Any, n: Any) -> Any:
    """The analysis-of-variance estimator (Ridout, Demétrio & Firth, *Biometrics* 55, 1999)."""
    k, size = count_of(n), total_of(n)
    mean = total_of(y) / size
    between = (total_of(n * (y / n) ** 2) - size * mean**2) / (k - 1)
    within = total_of(n * (y / n) * (1 - y / n)) / (size - k)
    common = (size - total_of(n**2) / size) / (k - 1)
    name_all(size=size, mean=mean, between=between, within=within, common=common)
    return (between - within) / (between + (common - 1) * within)


def _icc_ends(y: Numbers, n: Numbers, clusters: Integers, level: float) -> list[float]:
    """The interval of the correlation ρ, by jackknife over clusters.

    On the scale of ½·log((1+(m-1)ρ)/(1-ρ)) for m answers to a combination (Fisher 1925, §38), on
    which it varies alike everywhere, with Student's t; percentiles of resampled clusters are too
    short.
    """
    size = max(float((n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)), 1.5)
    left_out = (clusters != cluster for cluster in range(clusters.max() + 1))
    icc = np.array([_icc(y, n), *(_icc(y[rest], n[rest]) for rest in left_out)])
    of_all, *others = 0.5 * np.log((1 + (size - 1) * icc) / (1 - icc))
    parts = np.array(others)[np.isfinite(others)]
    k = len(parts)
    if k < LEAST_CLUSTERS or not np.isfinite(of_all):
        return [NAN] * 2
    error = math.sqrt((k - 1) / k * float(((parts - parts.mean()) ** 2).sum()))
    half = t_quantile((1 + level) / 2, k - 1) * error
    odds = [math.exp(min(2 * (of_all + sign * half), 700)) for sign in (-1, 1)]
    return [(odd - 1) / (odd + size - 1) for odd in odds]


def samples(
    rate: float,
    margin: float,
    icc: float = 0.3,
    runs: int | Iterable[int] = (1, 2, 3, 5, 10, 20, 30),
    level: float = 0.95,
) -> pd.DataFrame:
    """Compute the number of prompts that a margin of error takes, for some numbers of runs of each.

    With deff = 1 + (runs-1)·icc (Kish, *Survey Sampling*, 1965), k prompts of so many runs
    give the half width t·√(rate(1-rate)·deff/(k·runs)), where t has k-1 degrees of freedom. More
    runs of the same prompts help less and less: the half width never falls below that of k
    answers times √icc. This is for the level over prompts like these; for changes, which compare
    each prompt with itself, see ``df.aa.compare``. ``answers.aa.stability(by=["prompt_id"])``
    estimates the correlation: of answers to one prompt, whatever the engine. Try both ends of its
    interval.

    Do not use it for rates near 0 or 1 with few expected hits (k·runs·rate below 10), for
    which no half width of this form holds.

    Parameters
    ----------
    rate : float
        The rate expected, between 0 and 1.
    margin : float
        The half width wanted, as a fraction: 0.05 for 5 percentage points.
    icc : float
        The intra-class correlation of answers to one prompt, from 0 to 1.
    runs : int or iterable of int
        How often each prompt is asked.
    level : float
        The confidence level.

    Returns
    -------
    pandas.DataFrame
        One row per number of runs: ``runs``, ``prompts`` (the least that suffice, 5 at least),
        ``answers``, ``deff``, ``margin`` (what they give) and ``verdict``.

    Raises
    ------
    ArgumentError
        If a number is out of range.

    Examples
    --------
    >>> samples(0.3, 0.1, icc=0.3, runs=[1, 10])[["runs", "prompts", "answers"]]
       runs  prompts  answers
    0     1       84       84
    1    10       33      330
    """
    check_level(level)
    counts = [runs] if isinstance(runs, int) else list(runs)
    if not 0 < rate < 1 or not 0 < margin < 1 or not 0 <= icc <= 1:
        raise ArgumentError("rate and margin are between 0 and 1, icc from 0 to 1")
    if not counts or min(counts) < 1:
        raise ArgumentError("runs are whole numbers from 1")
    rows = []
    for count in counts:
        deff = 1 + (count - 1) * icc
        single = math.sqrt(rate * (1 - rate) * deff / count)
        z = normal_quantile((1 + level) / 2)
        prompts, half = max(LEAST_CLUSTERS, math.ceil((z * single / margin) ** 2)) - 1, math.inf
        while half > margin:  # Student's t takes a few more
            prompts += 1
            half = float(t_quantile((1 + level) / 2, prompts - 1)) * single / math.sqrt(prompts)
        row = {"runs": count, "prompts": prompts, "answers": prompts * count}
        verdict = f"{prompts:,} prompts × {count:,} runs give ±{100 * half:.1f} points"
        rows.append(row | {"deff": deff, "margin": half, "verdict": verdict})
    return result("samples", rows, key=("runs",))
