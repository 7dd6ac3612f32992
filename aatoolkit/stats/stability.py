"""Agreement of repeats, and the sample sizes it implies: ``aa.stats.samples``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import LEAST_CLUSTERS, NAN, check_level, estimate
from aatoolkit.stats.results import percent, refusal, result
from aatoolkit.stats.sums import cluster_sums
from aatoolkit.stats.trace import (
    Integers,
    Many,
    Numbers,
    One,
    Weighted,
    drawn,
    name_all,
    normal_quantile,
    number,
    plain_value,
    setting,
    t_quantile,
    take,
)


@recorded("stability", "frame")
def stability(
    frame: pd.DataFrame, column: str, by: Sequence[str] | str, level: float
) -> pd.DataFrame:
    """Agreement between repeats; see ``df.aa.stability``."""
    check_level(level)
    names = [by] if isinstance(by, str) else list(by)
    sums = cluster_sums(frame, column, names, None)
    if not sums.is_rate:
        raise refusal(column, "agreement", "it is no column of true and false, and no rate")
    y, n = map(sums.many.total, sums.of())
    often = np.flatnonzero(plain_value(n) >= 2)
    y, n = take(y, often), take(n, often)
    name_all(y=y, n=n)
    codes, labels = pd.factorize(sums.groups.keys[names[0]].iloc[often])
    many = Many(codes, len(labels), lambda at: {names[0]: labels[at]})
    pairs = (y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))
    name_all(pairs=pairs)
    agree, combinations = many.total(pairs), many.count(pairs)
    name_all(agree=agree, combinations=combinations)
    sure = setting("level", level)
    agreement = estimate(One, agree, combinations, sure, "sampled", is_rate=True)
    icc = _icc(y, n, One)
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
        {
            "agreement": [agreement.value],
            "agreement_low": [agreement.low],
            "agreement_high": [agreement.high],
            "icc": [icc],
            "icc_low": [icc_low],
            "icc_high": [icc_high],
            "n": [One.total(n)],
            "cells": [One.count(n)],
            "clusters": [agreement.clusters],
            "verdict": verdict,
            "method": f"pairs of repeats within {' × '.join(names)}, clustered by {names[0]}; of "
            "the correlation the jackknife on Fisher's scale",
        },
        None,
        sums.metadata.sources,
        sums.metadata.columns[column].availability if len(sums.states) != 1 else sums.states[0],
        level=level,
        by=names[0],
    )


def _icc(y: Any, n: Any, g: Any) -> Any:
    """The analysis-of-variance estimator (Ridout, Demétrio & Firth, *Biometrics* 55, 1999)."""
    k, size = g.count(n), g.total(n)
    name_all(size=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = g.total(y) / size
        name_all(mean=mean)
        between = (g.total(n * (y / n) ** 2) - size * mean**2) / (k - 1)
        within = g.total(n * (y / n) * (1 - y / n)) / (size - k)
        common = (size - g.total(n**2) / size) / (k - 1)
        name_all(between=between, within=within, common=common)
        return (between - within) / (between + (common - 1) * within)


def _icc_ends(y: Numbers, n: Numbers, clusters: Integers, level: float) -> list[float]:
    """The interval of the correlation ρ, by jackknife over clusters.

    On the scale of ½·log((1+(m-1)ρ)/(1-ρ)) for m answers to a combination (Fisher 1925, §38), on
    which it varies alike everywhere, with Student's t; percentiles of resampled clusters are too
    short.
    """
    size = max(float((n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)), 1.5)
    left_out = np.where(np.arange(clusters.max() + 1)[:, None] == clusters, 0.0, 1.0)
    weights = np.concatenate([np.ones((1, len(n))), left_out])
    icc = _icc(y, n, Weighted(weights))
    with np.errstate(divide="ignore", invalid="ignore"):
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
    answers times √icc. This is for the level over prompts like these; changes compare each prompt
    with itself and need their own calculation. ``answers.aa.stability(by=["prompt_id"])`` estimates
    the correlation: of answers to one prompt, whatever the engine. Try both ends of its interval.

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
        One row a number of runs: ``runs``, ``prompts`` (the least that suffice, 5 at least),
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
        verdict = f"{prompts:,} prompts × {count:,} runs give ±{100 * half:.1f} points"
        rows.append((count, prompts, prompts * count, deff, half, verdict))
    names = ("runs", "prompts", "answers", "deff", "margin", "verdict")
    return result("samples", dict(zip(names, zip(*rows, strict=True), strict=True)), key=("runs",))
