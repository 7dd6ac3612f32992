"""Adjust p-values for the number of tests."""

from __future__ import annotations

import numpy as np

from aatoolkit.stats.cluster_sums import Numbers

CORRECTIONS = ("holm", "bh", None)


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
