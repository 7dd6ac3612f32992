"""Ranks with their confidence sets: ``df.aa.rank``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.groupby import find, flattened, group
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, RANK
from aatoolkit.stats.cluster_sums import Numbers, Rules, cluster_sums, with_flags
from aatoolkit.stats.distributions import normal_quantile, t_quantile
from aatoolkit.stats.estimate import LEAST_CLUSTERS
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, result, words

_DRAWS = 999
MOST_MEMBERS = 500


@recorded("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Ranks with their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    flat = flattened(frame)
    find(flat, [column, by, cluster])
    known = metadata_of(flat)
    groups = group(flat, by, True)
    rules = with_flags(flat, column, rules or {})
    (planned,) = plan(flat, known, groups, column, rules)
    names = groups.keys[by]
    if len(names) > MOST_MEMBERS:
        why = f"{len(names):,} members; {MOST_MEMBERS} are the most: choose them before looking"
        raise AvailabilityError(f"{column} has no ranks: {why}", columns={column: why})
    lower_first = False
    if planned.rule.rule == "sum":
        cells = cells_of_plan(planned, flat, known, groups)
        codes, labels = pd.factorize(flat[cluster])
        use = cells.given & (codes >= 0)
        table = np.zeros((len(labels), len(names)))
        np.add.at(
            table,
            (codes[use], groups.ids[use]),
            flat[column].to_numpy(np.float64, na_value=0.0)[use],
        )
        there = groups.count(use) > 0
        value = np.where(there, table.sum(axis=0), np.nan)
        influence = table - table.mean(axis=0)
        size = np.where(there, table.sum(axis=0), 0.0)
    else:
        sums = cluster_sums(frame, column, by, cluster, rules)
        y, n = np.zeros((2, len(sums.labels), len(names)))
        y[sums.cluster, sums.group], n[sums.cluster, sums.group] = sums.y, sums.n
        size = n.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = y.sum(axis=0) / size
            influence = np.nan_to_num((y - value * n) / size)
        lower_first = sums.unit == RANK
    k = len(influence)
    if k < LEAST_CLUSTERS:
        why = f"{k} different values of {cluster}; it takes {LEAST_CLUSTERS}"
        raise AvailabilityError(f"{column} has no ranks: {why}", columns={column: why})
    oriented = -value if lower_first else value
    measured = np.isfinite(oriented)
    above, below = _beaten(np.where(measured, oriented, 0.0), influence, measured, level)
    j = int(measured.sum())
    places = pd.Series(np.where(measured, -oriented, np.nan)).rank(method="min")
    low, high = 1.0 + above, j - below.astype(np.float64)
    low[~measured], high[~measured] = np.nan, np.nan
    verdicts = [
        f"cannot say: {sums_state}"
        if not is_there
        else f"rank {int(a)} of {j}"
        if a == b
        else f"rank {int(a)} to {int(b)} of {j}"
        for is_there, a, b, sums_state in zip(
            measured, low, high, ["not measured"] * len(names), strict=True
        )
    ]
    what = declared(known.columns[column])
    found = pd.DataFrame(
        {
            by: names,
            "value": numbers(value),
            "rank": numbers(places, "Int64"),
            "rank_low": numbers(low, "Int64"),
            "rank_high": numbers(high, "Int64"),
            "n": numbers(size),
            "clusters": numbers([k] * len(names), "Int64"),
            "verdict": words(verdicts),
            "method": words(
                [f"simultaneous pairwise differences over {cluster}, multiplier bootstrap"]
                * len(names)
            ),
        }
    )
    order = np.argsort(places.to_numpy(np.float64), kind="stable")
    which = f"of the set of ranks that hold together with {level:.0%}"
    return result(
        found.iloc[order].reset_index(drop=True),
        "rank",
        {
            "value": (f"{column} of the member.", what.unit if what else None),
            "rank": ("Its rank in this sample; lower is better.", RANK),
            "rank_low": (f"The best {which}.", RANK),
            "rank_high": (f"The worst {which}.", RANK),
            "n": ("What it rests on: its count, or its sample size.", COUNT),
            "clusters": (f"Different values of {cluster}.", COUNT),
            "verdict": ("The ranks in words.", None),
            "method": ("How they were found.", None),
        },
        {by: known.columns[by]},
        known.sources,
        known.columns[column].availability,
        key=(by,),
    )


def _beaten(
    value: Numbers, influence: Numbers, measured: Numbers, level: float
) -> tuple[Numbers, Numbers]:
    """How many members each is shown to be below, and shown to be above."""
    k, members = influence.shape
    rng = np.random.default_rng(0)
    signs = rng.standard_normal((_DRAWS, k))
    drawn = signs @ influence
    cross = influence.T @ influence
    squares = np.diag(cross)
    error = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * cross, 0) * k / (k - 1))
    tiny = 1e-12 * max(float(error.max(initial=0.0)), 1e-300)
    tested = (error > tiny) & measured[:, None] & measured[None, :]
    safe = np.where(tested, error, np.inf)
    largest = np.zeros(_DRAWS)
    for at in range(members):
        largest = np.maximum(largest, (np.abs(drawn[:, [at]] - drawn) / safe[at]).max(axis=1))
    upper = (1 + level) / 2
    # The quantile is that of normal differences; few clusters make it one of Student's t.
    critical = (
        float(np.quantile(largest, level)) * t_quantile(upper, k - 1) / normal_quantile(upper)
    )
    better = (value[:, None] - value[None, :]) / safe > critical
    return better.sum(axis=0).astype(np.float64), better.sum(axis=1).astype(np.float64)
