"""``df.aa.decompose``: split a change into rates, mix, and what entered or left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status, combine
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, PROBABILITY
from aatoolkit.stats.cluster_sums import Numbers, Rules, cluster_sums
from aatoolkit.stats.difference import name_all
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, points, result, words
from aatoolkit.stats.sides import overlapping
from aatoolkit.stats.trace import One, named, normal_quantile, plain_value, setting, two_sided

_NAN = float("nan")
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
    effects, error = [_NAN] * 5, _NAN
    if not _empty(n1, n0):
        strata = (y1[both], n1[both], y0[both], n0[both])
        others = ((y1[entered], n1[entered]), (y0[left], n0[left]))
        made = decomposed(strata, *others, is_rate=is_rate)
        effects, error = [float(getattr(made, part)) for part in PARTS], float(made.error)
    half = normal_quantile((1 + level) / 2) * error
    p = two_sided(effects[0] / error, math.inf) if error > 0 else _NAN
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
    error = _NAN
    if is_rate and np.size(plain_value(n1)):
        p1, p0 = (y1 + total1) / (n1 + 1), (y0 + total0) / (n0 + 1)
        name_all(p1=p1, p0=p0)
        square = weight**2 * (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)
        name_all(square=square)
        error = np.sqrt(One.total(square))
    parts = (One.total(term), One.total(mixed), One.total(came), 0 - One.total(gone))
    return named(Decomposed(*parts, total1 - total0, error, size1 + size0))


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `decompose`, traced."""
    given = cells.arguments
    sides = [
        cells.sums(side, given["column"], None, given["by"], given.get("rules")) for side in (0, 1)
    ]
    now, before = (side.pairs(0) for side in sides)
    common = [name for name in now if name in before]
    y1, n1 = (getattr(sides[0], f)([now[x] for x in common], f"{f}1") for f in "yn")
    y0, n0 = (getattr(sides[1], f)([before[x] for x in common], f"{f}0") for f in "yn")
    new = [pair for name, pair in now.items() if name not in before]
    old = [pair for name, pair in before.items() if name not in now]
    entered = [getattr(sides[0], f)(new, f"{f}_in") for f in "yn"]
    left = [getattr(sides[1], f)(old, f"{f}_out") for f in "yn"]
    is_rate = all(side.is_rate for side in sides)
    made = decomposed((y1, n1, y0, n0), entered, left, is_rate=is_rate)
    part = PARTS[at]
    counts = {"entered": One.count(entered[1]), "left": One.count(left[1])}
    both = One.count(n1)
    counts |= {"rate": both, "mix": both, "total": both + counts["entered"] + counts["left"]}
    columns = {"effect": getattr(made, part), "n": made.n, "clusters": counts[part]}
    if part == "rate" and is_rate:
        level = setting("level", given.get("level", 0.95))
        half = normal_quantile((1 + level) / 2) * made.error
        columns |= {"low": made.rate - half, "high": made.rate + half}
        columns["p"] = two_sided(made.rate / made.error, math.inf)
    return columns
