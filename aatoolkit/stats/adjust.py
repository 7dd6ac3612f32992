"""Adjust p-values for the number of tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.trace import setting

CORRECTIONS = ("holm", "bh", None)


def traced_adjusted(
    row: int, tests: Mapping[int, float], correct: str | None, traced: Callable[[int], Any]
) -> Any:
    """The adjusted p-value of a row, traced.

    Parameters
    ----------
    row : int
        The row.
    tests : mapping of int to float
        The p-values, by row.
    correct : {"holm", "bh", None}
        How they are adjusted.
    traced : callable
        Gives the traced p-value of a row: that of the row that decides.
    """
    if correct is None:
        return traced(row)
    order = sorted(tests, key=lambda other: tests[other])
    place, many = order.index(row), len(order)
    factors = [many - rank if correct == "holm" else many / (rank + 1) for rank in range(many)]
    among = range(place + 1) if correct == "holm" else range(place, many)
    choose = max if correct == "holm" else min
    best = choose(among, key=lambda rank: factors[rank] * tests[order[rank]])
    count, rank = setting("tests", many), setting("rank", best + 1)
    factor = count - rank + 1 if correct == "holm" else count / rank
    return np.minimum(factor * traced(order[best]), 1.0)


def adjusted(p: Numbers, correct: str | None) -> Numbers:
    """Adjust p-values over all that are not missing.

    Parameters
    ----------
    p : array of float
        The p-values; NaN where there is none.
    correct : {"holm", "bh", None}
        Holm's step-down method, which bounds the probability of any false alarm (*Scandinavian
        Journal of Statistics* 6, 1979), or Benjamini and Hochberg's, which bounds the expected
        share of false ones among the alarms (*JRSS B* 57, 1995).

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.04, np.nan, 0.03]), "holm").round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    found = p.copy()
    there = np.flatnonzero(np.isfinite(p))
    if correct is None or not len(there):
        return found
    order = there[np.argsort(p[there], kind="stable")]
    count = len(order)
    if correct == "holm":
        steps = np.maximum.accumulate(p[order] * (count - np.arange(count)))
    else:
        scaled = p[order] * count / np.arange(1, count + 1)
        steps = np.minimum.accumulate(scaled[::-1])[::-1]
    found[order] = np.minimum(steps, 1.0)
    return found
