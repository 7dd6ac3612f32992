"""Members beside each other: their ranks (``df.aa.rank``), and how few have most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.groupby import find, flattened, group
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.cluster_sums import Numbers, Rules, cluster_sums
from aatoolkit.stats.estimate import LEAST_CLUSTERS, wilson
from aatoolkit.stats.results import check_level, refusal, reranked, result
from aatoolkit.stats.sides import PROMPT, names_of
from aatoolkit.stats.trace import (
    One,
    Traced,
    cells_of,
    derived,
    drawn,
    leaf,
    name_all,
    named,
    normal_quantile,
    number,
    plain_value,
    setting,
    t_quantile,
    t_quantiles,
    t_survival,
    take,
)

DRAWS = 999
MOST_MEMBERS = 500
_RESAMPLES = 499
_CELLS = 500_000
_LEAST_RESAMPLES = 49
_LEAST_DRAWS = 20
_FEW_RESAMPLES = 200
LEAST = 20
MEASURES = ("hhi", "effective", "top_share", "gini")
_LIMITS = {"hhi": (0.0, 1.0), "effective": (1.0, math.inf)} | dict.fromkeys(
    ("top_share", "gini"), (0.0, 1.0)
)


@recorded("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Ranks with their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    flat = flattened(frame)
    find(flat, [column, by])
    if cluster == PROMPT and cluster not in flat.columns:
        why = (
            f"a rank compares {by} over prompts, and this frame has no {PROMPT}: it takes one row "
            f"for each prompt and {by}, as project.read('prompts', split='engine') for engines; "
            "where other things repeat, cluster= names them"
        )
        raise ItemNotFound(f"{column} has no ranks: {why}", columns={cluster: why})
    sums = cluster_sums(frame, column, by, cluster, rules, counts=True)
    names = sums.groups.keys[by].reset_index(drop=True)
    if len(names) > MOST_MEMBERS:
        why = f"{len(names):,} members; {MOST_MEMBERS} are the most: choose them before looking"
        raise refusal(column, "ranks", why)
    k, influence = _influence(sums)
    if k < LEAST_CLUSTERS:
        raise refusal(column, "ranks", f"{k} different values of {cluster}; it takes 5")
    (y, n), g = sums.of(), sums.many
    with np.errstate(divide="ignore", invalid="ignore"):
        size = g.total(y if sums.is_count else n)
        is_there = plain_value(g.total(n)) > 0
        value = np.where(is_there, size if sums.is_count else g.total(y) / size, np.nan)
    name_all(value=value)
    measured = np.isfinite(plain_value(value))
    is_rank = sums.unit == RANK and not sums.is_count
    oriented = -plain_value(value) if is_rank else plain_value(value)
    reach, p = _separations(influence, np.where(measured, oriented, 0.0), measured, level)
    places = pd.Series(np.where(measured, -oriented, np.nan)).rank(method="min")
    better = np.where(measured, oriented, -np.inf)
    quantile = (
        "a difference whose p-value, by Student's t with its own degrees of freedom, is below "
        f"{p:.3g}: that of the largest of all in {DRAWS} draws of normal multipliers of {cluster} "
        "(seed 0)"
    )
    many = int(measured.sum())
    columns: dict[str, list[Any]] = {name: [] for name in ("rank", "rank_low", "rank_high")}
    verdicts = []
    for member in range(len(names)):
        for name, others, start, sign, how in (
            ("rank", better > oriented[member], 1, 1, "with a better value"),
            ("rank_low", reach[:, member] > 1, 1, 1, f"that are better by {quantile}"),
            ("rank_high", reach[member] > 1, many, -1, f"that are worse by {quantile}"),
        ):
            there = np.flatnonzero(others)
            words = f"{start} {'+' if sign > 0 else '-'} {len(there)} members {how}"
            its: Any = (member, *there) if isinstance(value, Traced) else ()
            end = drawn(name, start + sign * len(there), words, *(take(value, at) for at in its))
            columns[name].append(end if measured[member] else math.nan)
        low, high = (number(columns[name][-1]) for name in ("rank_low", "rank_high"))
        place = f"rank {low:g}{'' if low == high else f' to {high:g}'} of {many}"
        verdicts.append(place if measured[member] else "cannot say: not measured")
    metadata = sums.metadata
    ranked = result(
        "rank",
        {
            by: names,
            "value": value,
            **columns,
            "n": size,
            "clusters": [One.count(take(n, np.unique(sums.cluster, return_index=True)[1]))]
            * len(names),
            "verdict": verdicts,
            "method": [f"simultaneous pairwise differences over {cluster}, multiplier bootstrap"]
            * len(names),
        },
        {by: metadata.columns[by]},
        metadata.sources,
        metadata.columns[column].availability,
        key=(by,),
        unit=sums.column.unit if sums.column else None,
        level=level,
        column=column,
        cluster=cluster,
    )
    return reranked(ranked, np.argsort(places.to_numpy(np.float64), kind="stable"))


def _influence(sums: Any) -> tuple[int, Numbers]:
    """The number of clusters, and what each adds to the value of each member: a row each."""
    y, n = np.zeros((2, len(sums.labels), len(sums.groups)))
    y[sums.cluster, sums.group], n[sums.cluster, sums.group] = sums.y, sums.n
    is_there = n.any(axis=1)  # what was not measured for anybody is no cluster
    y, n = y[is_there], n[is_there]
    if sums.is_count:
        return len(y), y - y.mean(axis=0) if len(y) else y
    with np.errstate(divide="ignore", invalid="ignore"):
        size = n.sum(axis=0)
        return len(y), np.nan_to_num((y - y.sum(axis=0) / size * n) / size)


def _separations(
    influence: Numbers, value: Numbers, measured: npt.NDArray[np.bool_], level: float
) -> tuple[Numbers, float]:
    """How far each member is better than each other, 1 where it is enough; and a probability.

    It is that of the largest of all standardised differences, in draws of normal multipliers of
    clusters. A difference is enough where Student's t, with the difference's own degrees of
    freedom, is as improbable: those of its variance (Satterthwaite), since of few clusters fewer
    still carry it. With k-1 for all, sets of 8 to 20 prompts and ten ties hold in 84 to 88 %.
    """
    k, many = influence.shape
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((DRAWS, k)) @ influence
    squares, spread = _moments(influence)
    error = np.sqrt(np.maximum(squares, 0) * k / (k - 1))
    tiny = 1e-12 * max(float(error.max(initial=0.0)), 1e-300)
    tested = (error > tiny) & measured[:, None] & measured[None, :]
    safe = np.where(tested, error, np.inf)
    largest = np.zeros(DRAWS)
    for at in range(many):
        largest = np.maximum(largest, (np.abs(draws[:, [at]] - draws) / safe[at]).max(axis=1))
    tail = t_survival(float(np.quantile(largest, level)), math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(tested & (spread > 0), squares**2 / spread, k - 1)
    critical = t_quantiles(1 - tail, np.clip(df, 1, k - 1).ravel()).reshape(df.shape)
    return (value[:, None] - value[None, :]) / safe / critical, 2 * tail


def _moments(influence: Numbers) -> tuple[Numbers, Numbers]:
    """The sums over clusters of the second and fourth powers of all pairs' differences."""
    one, two, three = influence, influence**2, influence**3
    second, fourth = two.sum(axis=0), (two**2).sum(axis=0)
    middle = three.T @ one
    squares = second[:, None] + second[None, :] - 2 * (one.T @ one)
    spread = fourth[:, None] + fourth[None, :] - 4 * (middle + middle.T) + 6 * (two.T @ two)
    return squares, spread


@recorded("concentration", "frame")
def concentration(
    frame: pd.DataFrame,
    column: str,
    by: str | Sequence[str] | None,
    *,
    top: int,
    rarefy: bool,
    level: float,
) -> pd.DataFrame:
    """Compute the concentration of a count; see ``df.aa.concentration``."""
    check_level(level)
    if top < 1:
        raise ArgumentError(f"top={top!r} is no whole number from 1")
    keys = names_of(by)
    flat = derived(flattened(frame), frame)
    metadata = metadata_of(flat)
    find(flat, [column, *keys])
    groups = group(flat, keys, True)
    is_own = not (metadata.holds(column) or metadata.is_lost(column))
    (planned,) = plan(flat, metadata, groups, column, {column: "sum"} if is_own else {})
    if planned.rule.rule != "sum":
        raise refusal(column, "concentration", f"its rule ({planned.rule}) is no sum of counts")
    cells = cells_of_plan(planned, flat, metadata, groups)
    values = flat[column].to_numpy(np.float64, na_value=np.nan)
    use = cells.given & (values > 0)
    if (values[use] % 1 != 0).any():
        why = "it holds fractions; name the count behind it"
        raise refusal(column, "concentration", why)
    counts = [
        cells_of("c", flat, column, np.flatnonzero(use & (groups.ids == at)))
        for at in range(len(groups))
    ]
    sizes, members = [One.total(part) for part in counts], [One.count(part) for part in counts]
    for n, m in zip(sizes, members, strict=True):
        name_all(n=n, members=m)
    usable = [size for size in sizes if number(size) >= LEAST]
    depth = min(usable, key=number) if rarefy and len(usable) > 1 else None
    codes, states = groups.combined(cells)
    names = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
    rows, verdicts = [], []
    for part, size, m, code in zip(counts, sizes, members, codes.tolist(), strict=True):
        state = states[code]
        if number(size) >= LEAST:
            row = _measured(part, size, m, top, depth, level)
            effective, low, high = (number(row[f"effective{end}"]) for end in ("", "_low", "_high"))
            span = f"{low:.1f} or more" if math.isinf(high) else f"{low:.1f} to {high:.1f}"
            verdict = f"as concentrated as {effective:.1f} equal ones ({span})"
        else:
            row = dict.fromkeys(names, np.nan)
            reason = f" ({state})" if state.status != Status.AVAILABLE else ""
            verdict = f"cannot say: {number(size):g} in all, and it takes {LEAST}{reason}"
        rows.append(row)
        verdicts.append(verdict)
    key_rows = groups.keys.reset_index(drop=True)
    taken = {str(name): metadata.columns[str(name)] for name in key_rows.columns}
    at_depth = f", rarefied to {number(depth):,.0f}" if depth is not None else ""
    return result(
        "concentration",
        {
            **{str(name): key_rows[name] for name in key_rows.columns},
            **{name: [row[name] for row in rows] for name in names},
            "n": sizes,
            "members": members,
            "depth": sizes if depth is None else [depth] * len(rows),
            "verdict": verdicts,
            "method": [f"multinomial bootstrap, basic interval{at_depth}"] * len(rows),
        },
        taken,
        metadata.sources,
        combine(states[int(code)] for code in codes),
        key=tuple(taken),
        level=level,
        column=column,
        top=top,
    )


@dataclass(frozen=True)
class Measured:
    """The measures of some counts."""

    hhi: Any
    effective: Any
    top_share: Any
    gini: Any


def measured(n: Any, squares: Any, largest: Any, ranked: Any, members: Any) -> Measured:
    """The measures, of Σc, Σc², the sum of the largest few, Σrank·c and how many occur."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hhi = (squares - n) / (n * (n - 1))
        gini = (2 * ranked / n - (members + 1)) / members
        return named(Measured(hhi, np.where(hhi > 0, 1 / hhi, np.nan), largest / n, gini))


def _measured(c: Any, n: Any, members: Any, top: int, depth: Any, level: float) -> dict[str, Any]:
    """Each measure with its interval, of counts or of draws of so many of them (seed 0)."""
    counts, size = plain_value(c), int(number(n))
    order = np.argsort(counts, kind="stable")
    ordered, largest = take(c, order), take(c, order[-top:])
    rank = leaf(
        "rank", np.arange(1.0, len(order) + 1), lambda it, at: it.setting("rank", at + 1, {})
    )
    name_all(ordered=ordered, largest=largest)
    sums = One.total(c**2), One.total(largest), One.total(rank * ordered)
    made = measured(n, *sums, members)
    points = {name: getattr(made, name) for name in MEASURES}
    rng = np.random.default_rng(0)
    times = min(max(_CELLS // max(len(counts), 1), _LEAST_RESAMPLES), _RESAMPLES)
    many = size if depth is None else int(number(depth))
    if many < size:
        # The mean over draws settles sooner than how much they vary.
        few = min(times, max(_CELLS // (4 * len(counts)), _LEAST_DRAWS))
        whole = counts.astype(np.int64)
        draws = rng.multivariate_hypergeometric(whole, many, size=few, method="marginals")
        means = np.nanmean(_all(draws.astype(np.float64), top), axis=0)
        words = f"the mean over {few} draws of {many:,} of {size:,} (seed 0)"
        points = {
            name: drawn(name, float(mean), words, n)
            for name, mean in zip(MEASURES, means, strict=True)
        }
    shifts, words = _shifts(counts, top, many, times, level, rng, points)
    row = dict(points)
    for name, (least, most) in _LIMITS.items():
        for end, shift in zip(("low", "high"), shifts[name], strict=True):
            moved = points[name] + drawn("shift", shift, words)
            within = np.minimum(moved, setting("most", most))
            row[f"{name}_{end}"] = np.maximum(within, setting("least", least))
    return row


def _shifts(
    counts: Numbers,
    top: int,
    many: int,
    times: int,
    level: float,
    rng: np.random.Generator,
    points: dict[str, Any],
) -> tuple[dict[str, tuple[float, float]], str]:
    """What the ends of each interval add to the measure, and how that was drawn."""
    draws = rng.multinomial(many, counts / counts.sum(), size=times).astype(np.float64)
    values = _all(draws, top)
    words = f"{times} multinomial samples of {many:,} (seed 0)"
    if times < _FEW_RESAMPLES:
        # Too few for quantiles, enough for how much they vary.
        half = t_quantile((1 + level) / 2, times - 1) * np.nanstd(values, axis=0, ddof=1)
        spread = np.stack([-half, half])
        words = f"Student's t times the standard deviation of {words}"
    else:
        tails = [(1 - level) / 2, (1 + level) / 2]
        spread = np.nanquantile(values - np.nanmean(values, axis=0), tails, axis=0)
        words = f"the quantile of {words}, less their mean"
    shifts = {
        name: (float(low), float(high)) for name, low, high in zip(MEASURES, *spread, strict=True)
    }
    # The effective number is 1 over the index, and so are its ends.
    most, least = (max(number(points["hhi"]) + shift, 0.0) for shift in shifts["hhi"])
    ends = (1 / end if end > 0 else math.inf for end in (least, most))
    low, high = (end - number(points["effective"]) for end in ends)
    shifts["effective"] = (low, high)
    lowest = _least_top(counts, top, rng, level) - number(points["top_share"])
    shifts["top_share"] = (min(lowest, shifts["top_share"][0]), shifts["top_share"][1])
    return shifts, words


def _least_top(counts: Numbers, top: int, rng: np.random.Generator, level: float) -> float:
    """The lower end of the share of the largest few.

    Those that lead in a sample have luck among their merits, the more of it the more they tie. So
    the leaders of one half are counted in the other half, where luck is gone, over many halves.
    """
    whole = counts.astype(np.int64)
    size = int(whole.sum())
    times = min(max(_CELLS // (8 * max(len(counts), 1)), _LEAST_DRAWS), _LEAST_RESAMPLES)
    halves = rng.multivariate_hypergeometric(whole, size // 2, size=times, method="marginals")
    others = whole - halves
    leaders = np.argsort(-halves, axis=1, kind="stable")[:, :top]
    share = float((np.take_along_axis(others, leaders, 1).sum(1) / others.sum(1)).mean())
    low, _ = wilson(np.array([share]), np.array([size]), normal_quantile((1 + level) / 2))
    return float(low[0])


def _all(counts: Numbers, top: int) -> Numbers:
    """The measures of many samples: one a row."""
    ordered = np.sort(counts, axis=1)
    there = ordered > 0
    sums = [counts, counts**2, ordered[:, -top:], np.cumsum(there, axis=1) * there * ordered]
    n, squares, largest, ranked = (each.sum(axis=1) for each in sums)
    made = measured(n, squares, largest, ranked, np.maximum(there.sum(axis=1), 1))
    return np.column_stack([getattr(made, name) for name in MEASURES])
