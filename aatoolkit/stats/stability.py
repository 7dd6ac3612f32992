"""Agreement of repeats, and the sample sizes it implies: ``aa.stats.samples``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import LEAST_CLUSTERS, check_level
from aatoolkit.stats.results import percent, refusal, result
from aatoolkit.stats.sums import cluster_sums
from aatoolkit.stats.trace import (
    Integers,
    Numbers,
    One,
    Weighted,
    drawn,
    name_all,
    normal_quantile,
    number,
    plain_value,
    t_quantile,
    take,
)

RESAMPLES = 999


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
    clusters = pd.factorize(sums.groups.keys[names[0]].iloc[often])[0]
    agreement, icc = _agreement(y, n, One), _icc(y, n, One)
    icc = icc if len(often) > 1 and np.isfinite(number(icc)) else math.nan
    many = One.count(take(n, np.sort(np.unique(clusters, return_index=True)[1])))
    ends = [math.nan] * 4
    if number(many) >= LEAST_CLUSTERS:
        plain = plain_value(y), plain_value(n), clusters, level
        ends = [*_bootstrap(*plain), *_icc_ends(*plain)]
    low, high = (percent(end) for end in ends[:2])
    verdict = f"two answers agree in {percent(number(agreement))} of pairs ({low} to {high})"
    if not len(often):
        verdict = "cannot say: no combination was asked twice"
    elif number(many) < LEAST_CLUSTERS:
        takes = f"an interval takes {LEAST_CLUSTERS}"
        verdict = f"cannot say: {number(many):g} {names[0]} were asked again; {takes}"
    words = [
        f"the {share:g} % quantile of it in {RESAMPLES} samples of {names[0]} (seed 0)"
        for share in (50 * (1 - level), 50 * (1 + level))
    ]
    words += [
        f"the {end} end by jackknife over {names[0]}, on Fisher's scale"
        for end in ("lower", "upper")
    ]
    columns = ("agreement_low", "agreement_high", "icc_low", "icc_high")
    drawings = {
        name: drawn(name, end, how, y, n)
        for name, end, how in zip(columns, ends, words, strict=True)
    }
    state = metadata_of(frame).columns[column].availability
    return result(
        "stability",
        {
            "agreement": [agreement],
            "agreement_low": [drawings["agreement_low"]],
            "agreement_high": [drawings["agreement_high"]],
            "icc": [icc],
            "icc_low": [drawings["icc_low"]],
            "icc_high": [drawings["icc_high"]],
            "n": [One.total(n)],
            "cells": [One.count(n)],
            "clusters": [many],
            "verdict": verdict,
            "method": f"pairs of repeats within {' × '.join(names)}; bootstrap of {names[0]}, "
            "of the correlation the jackknife on Fisher's scale",
        },
        None,
        sums.metadata.sources,
        sums.states[0] if len(sums.states) == 1 else state,
        level=level,
        by=names[0],
    )


def _agreement(y: Any, n: Any, g: Any) -> Any:
    """Pairs of repeats that agree, mean over combinations."""
    pairs = (y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))
    name_all(pairs=pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return g.total(pairs) / g.count(pairs)


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


def _bootstrap(y: Numbers, n: Numbers, clusters: Integers, level: float) -> list[float]:
    """Percentile intervals from resampled clusters (Davison & Hinkley 1997, 3.8)."""
    rng = np.random.default_rng(0)
    many = int(clusters.max()) + 1
    draws = rng.multinomial(many, np.full(many, 1 / many), size=RESAMPLES).astype(np.float64)
    weights = draws[:, clusters]
    ends = [(1 - level) / 2, (1 + level) / 2]
    return [float(value) for value in np.nanquantile(_agreement(y, n, Weighted(weights)), ends)]


def _icc_ends(y: Numbers, n: Numbers, clusters: Integers, level: float) -> list[float]:
    """The interval of the correlation ρ, by jackknife over clusters.

    On the scale of ½·log((1+(m-1)ρ)/(1-ρ)) for m answers to a combination (Fisher 1925, §38), on
    which it varies alike everywhere, with Student's t; percentiles of resampled clusters are too
    short.
    """
    many = int(clusters.max()) + 1
    size = max(float((n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)), 1.5)
    left_out = np.where(np.arange(many)[:, None] == clusters[None, :], 0.0, 1.0)
    whole = float(_fisher(_icc(y, n, One), size))
    parts = _fisher(_icc(y, n, Weighted(left_out)), size)
    parts = parts[np.isfinite(parts)]
    k = len(parts)
    if k < LEAST_CLUSTERS or not np.isfinite(whole):
        return [float("nan")] * 2
    error = math.sqrt((k - 1) / k * float(((parts - parts.mean()) ** 2).sum()))
    half = t_quantile((1 + level) / 2, k - 1) * error
    odds = [math.exp(min(2 * (whole + sign * half), 700)) for sign in (-1, 1)]
    return [(odd - 1) / (odd + size - 1) for odd in odds]


def _fisher(icc: Any, size: float) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.5 * np.log((1 + (size - 1) * icc) / (1 - icc))


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
    listed = [runs] if isinstance(runs, int) else list(runs)
    if not 0 < rate < 1 or not 0 < margin < 1 or not 0 <= icc <= 1:
        raise ArgumentError("rate and margin are between 0 and 1, icc from 0 to 1")
    if not listed or min(listed) < 1:
        raise ArgumentError("runs are whole numbers from 1")
    rows = []
    for count in listed:
        deff = 1 + (count - 1) * icc
        single = math.sqrt(rate * (1 - rate) * deff / count)
        z = normal_quantile((1 + level) / 2)
        prompts = max(LEAST_CLUSTERS, math.ceil((z * single / margin) ** 2))
        while _half(single, prompts, level) > margin:  # Student's t takes a few more
            prompts += 1
        half = _half(single, prompts, level)
        verdict = f"{prompts:,} prompts × {count:,} runs give ±{100 * half:.1f} points"
        rows.append((count, prompts, prompts * count, deff, half, verdict))
    names = ("runs", "prompts", "answers", "deff", "margin", "verdict")
    return result("samples", dict(zip(names, zip(*rows, strict=True), strict=True)), key=("runs",))


def _half(single: float, prompts: int, level: float) -> float:
    return float(t_quantile((1 + level) / 2, prompts - 1)) * single / math.sqrt(prompts)
