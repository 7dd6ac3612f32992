"""``df.aa.decompose``: split a change into rates, mix, and what entered or left."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status, combine
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, PROBABILITY
from aatoolkit.stats.cluster_sums import Numbers, Rules, cluster_sums
from aatoolkit.stats.distributions import normal_quantile, two_sided
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, points, result, words
from aatoolkit.stats.sides import overlapping

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
    after, earlier = (
        pd.DataFrame({"y": side.y, "n": side.n}, index=side.labels[side.cluster]) for side in sides
    )
    whole = after.add_suffix("1").join(earlier.add_suffix("0"), how="outer")
    y1, n1, y0, n0 = (whole[name].to_numpy(np.float64) for name in ("y1", "n1", "y0", "n0"))
    both, entered, left = ~np.isnan(n1 + n0), np.isnan(n0), np.isnan(n1)
    why = overlapping(now, before, column) or _empty(n1, n0)
    is_rate = all(side.is_proportion for side in sides)
    effects, error = (
        _effects(y1, n1, y0, n0, is_rate) if not _empty(n1, n0) else ([np.nan] * 5, np.nan)
    )
    half = normal_quantile((1 + level) / 2) * error
    p = two_sided(effects[0] / error, math.inf) if error > 0 else float("nan")
    counts = [both.sum(), both.sum(), entered.sum(), left.sum(), len(whole)]
    rate = (
        "cannot say"
        if why or not np.isfinite(p)
        else "no evidence"
        if p >= 1 - level
        else "up"
        if effects[0] > 0
        else "down"
    )
    texts = [
        f"the {by} on both sides: {rate}" + (f" ({why})" if why else ""),
        f"the same {by}, asked more or less often: what was asked, not what was answered",
        f"{counts[2]} {by} were not there before",
        f"{counts[3]} {by} are no longer there",
        f"{points(effects[4], is_rate)} in all" if np.isfinite(effects[4]) else why or "",
    ]
    blank = [float("nan")] * 4
    ends = [float("nan")] * 2 if why else [effects[0] - half, effects[0] + half]
    frame = pd.DataFrame(
        {
            "part": words(PARTS),
            "effect": numbers(effects),
            "low": numbers([ends[0], *blank]),
            "high": numbers([ends[1], *blank]),
            "p": numbers([float("nan") if why else p, *blank]),
            "n": numbers([np.nansum(n1) + np.nansum(n0)] * 5),
            "clusters": numbers(counts, "Int64"),
            "verdict": words([rate, *["bookkeeping"] * 4]),
            "why": words(texts),
            "method": words(
                ["Kitagawa 1955, centred; the rate effect with a z interval (strata)"] * 5
            ),
        }
    )
    unit = sides[0].unit
    change = "absolute pp as fraction" if unit == "fraction 0-1" else unit
    knowns = [metadata_of(each) for each in (now, before)]
    states = [known.columns[column].availability for known in knowns if column in known.columns]
    return result(
        frame,
        "decompose",
        {
            "part": ("The part of the change.", None),
            "effect": (
                f"Its contribution to the change of {column}; the parts add up to the total.",
                change,
            ),
            "low": (f"Lower end of its {level:.0%} interval, for these {by}.", change),
            "high": (f"Upper end of its {level:.0%} interval, for these {by}.", change),
            "p": ("Two-sided p-value of no effect.", PROBABILITY),
            "n": ("Sample sizes of both sides together.", COUNT),
            "clusters": (f"Different values of {by} that it is about.", COUNT),
            "verdict": (
                "What can be said of the rate; the others are bookkeeping, without error.",
                None,
            ),
            "why": ("The part in words.", None),
            "method": ("How it was computed.", None),
        },
        {},
        [source for known in knowns for source in known.sources],
        combine(states) if states else Availability(Status.AVAILABLE),
        key=("part",),
    )


def _empty(n1: Numbers, n0: Numbers) -> str | None:
    for n, word in ((n1, "now"), (n0, "before")):
        if not np.nansum(n) > 0:
            return f"{word}: nothing was measured"
    return None


def _effects(
    y1: Numbers,
    n1: Numbers,
    y0: Numbers,
    n0: Numbers,
    is_rate: bool,
) -> tuple[list[float], float]:
    """Compute the parts of a change and the standard error of the first."""
    size1, size0 = math.fsum(n1[~np.isnan(n1)]), math.fsum(n0[~np.isnan(n0)])
    total1, total0 = math.fsum(y1[~np.isnan(y1)]) / size1, math.fsum(y0[~np.isnan(y0)]) / size0
    middle = (total1 + total0) / 2
    w1, w0, r1, r0 = n1 / size1, n0 / size0, y1 / n1, y0 / n0
    both, entered, left = ~np.isnan(n1 + n0), np.isnan(n0), np.isnan(n1)
    weight = (w1 + w0) / 2
    rate = math.fsum((weight * (r1 - r0))[both])
    mix = math.fsum((((r1 + r0) / 2 - middle) * (w1 - w0))[both])
    came = math.fsum((w1 * (r1 - middle))[entered])
    gone = 0.0 - math.fsum((w0 * (r0 - middle))[left])
    error = float("nan")
    if is_rate and both.any():
        parts = [((y + total) / (n + 1), n) for y, n, total in ((y1, n1, total1), (y0, n0, total0))]
        spread = sum(p * (1 - p) / n for p, n in parts)
        error = math.sqrt(math.fsum((weight**2 * spread)[both]))
    return [rate, mix, came, gone, total1 - total0], error
