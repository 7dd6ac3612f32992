"""Members beside each other: their ranks (``df.aa.rank``), and how few have most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.cell_status import Cells
from aatoolkit.frame.groupby import Groups, find, flattened, group
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.cluster_sums import ClusterSums, Numbers, Rules, cluster_sums
from aatoolkit.stats.compare import PROMPT, names_of
from aatoolkit.stats.estimate import LEAST_CLUSTERS, wilson
from aatoolkit.stats.results import check_level, refusal, result
from aatoolkit.stats.trace import (
    One,
    Traced,
    drawn,
    name_all,
    named,
    normal_quantile,
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


@recorded("rank", "frame")
def rank(
    frame: pd.DataFrame, column: str, by: str, cluster: str, level: float, rules: Rules | None
) -> pd.DataFrame:
    """Ranks with their confidence sets; see ``df.aa.rank``."""
    check_level(level)
    members = members_of(frame, column, by, cluster, rules)
    k, measured = len(members.influence), members.measured
    if k < LEAST_CLUSTERS:
        raise refusal(column, "ranks", f"{k} different values of {cluster}; it takes 5")
    reach, _ = separations(members, level)
    above, below = ((reach > 1).sum(axis=axis).astype(np.float64) for axis in (0, 1))
    many = int(measured.sum())
    places = pd.Series(np.where(measured, -members.oriented, np.nan)).rank(method="min")
    low, high = (np.where(measured, end, np.nan) for end in (1.0 + above, many - below))
    verdicts = [
        "cannot say: not measured"
        if np.isnan(best)
        else f"rank {best:g}{'' if best == worst else f' to {worst:g}'} of {many}"
        for best, worst in zip(low.tolist(), high.tolist(), strict=True)
    ]
    order = np.argsort(places.to_numpy(np.float64), kind="stable")
    values = {
        by: members.names,
        "value": members.value,
        "rank": places,
        "rank_low": low,
        "rank_high": high,
        "n": members.size,
        "clusters": [k] * len(low),
        "verdict": verdicts,
    }
    how = f"simultaneous pairwise differences over {cluster}, multiplier bootstrap"
    known = members.sums.known
    return result(
        "rank",
        {name: pd.Series(part).iloc[order].reset_index(drop=True) for name, part in values.items()}
        | {"method": [how] * len(low)},
        {by: known.columns[by]},
        known.sources,
        known.columns[column].availability,
        key=(by,),
        unit=members.sums.column.unit if members.sums.column else None,
        level=level,
        column=column,
        cluster=cluster,
    )


def traced_rank(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `rank`, traced."""
    given = cells.arguments
    column, by, cluster = (given[name] for name in ("column", "by", "cluster"))
    source, rules = cells.inputs[0], given.get("rules")
    if "members" not in cells.shared:
        ranked = members_of(source.frame, column, by, cluster, rules)
        cells.shared["members"] = ranked, separations(ranked, float(given.get("level", 0.95)))
    members, (reach, p) = cells.shared["members"]
    sums = cells.sums(0, column, by, cluster, rules, counts=True)
    names = members.names.astype(object).where(members.names.notna(), None).tolist()
    member = names.index(cells.text(at, by))

    def size_and_value(place: int, name: str) -> tuple[Any, Any]:
        y, n = sums.of([*sums.pairs(place).values()])
        size = One.total(y if sums.is_count else n)
        value = size if sums.is_count else One.total(y) / size
        name_all(**{name: value})
        return size, value

    size, own = size_and_value(member, "own")
    measured, oriented = members.measured, members.oriented
    many = int(measured.sum())
    quantile = (
        "a difference whose p-value, by Student's t with its own degrees of freedom, is below "
        f"{p:.3g}: that of the largest of all in {DRAWS} draws of normal multipliers of {cluster} "
        "(seed 0)"
    )
    columns = {"value": own, "n": size}
    for name, others, start, sign, how in (
        ("rank", oriented > oriented[member], 1, 1, "with a better value"),
        ("rank_low", reach[:, member] > 1, 1, 1, f"that are better by {quantile}"),
        ("rank_high", reach[member] > 1, many, -1, f"that are worse by {quantile}"),
    ):
        places = np.flatnonzero(measured & others).tolist()
        words = f"{start} {'+' if sign > 0 else '-'} {len(places)} members {how}"
        its = [size_and_value(place, "its")[1] for place in places]
        columns[name] = drawn(name, float(start + sign * len(places)), words, own, *its)
    frame = flattened(source.frame)[cluster]
    rows = np.flatnonzero((frame.notna() & ~frame.duplicated()).to_numpy())
    first = f"different values of {cluster}, the first row of each"
    count = [len(members.influence)]
    counted = cells.facts("clusters", count, [rows], (cluster,), lambda _: first, lambda _: {})
    return columns | {"clusters": One.total(counted)}


@dataclass(frozen=True)
class RankedMembers:
    """The members that are ranked: the value of each, and the influence of each cluster on it.

    Parameters
    ----------
    names : pandas.Series
        The members.
    value, size : array of float
        Their values, and what these rest on; NaN where nothing was measured.
    influence : array of float
        For each cluster a row: what it adds to the value of each member.
    sums : ClusterSums
        The sums that they are made of.
    """

    names: pd.Series
    value: Numbers
    size: Numbers
    influence: Numbers
    sums: ClusterSums

    @property
    def oriented(self) -> Numbers:
        """The values such that a larger one is better."""
        is_rank = self.sums.unit == RANK and not self.sums.is_count
        return -self.value if is_rank else self.value

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """The members that have a value."""
        return np.isfinite(self.value)


def members_of(
    frame: pd.DataFrame, column: str, by: str, cluster: str, rules: Rules | None
) -> RankedMembers:
    """The members that are ranked.

    Raises
    ------
    AvailabilityError
        If there are too many.
    ItemNotFound
        If the frame lacks one of the columns.
    """
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
    y, n = np.zeros((2, len(sums.labels), len(names)))
    y[sums.cluster, sums.group], n[sums.cluster, sums.group] = sums.y, sums.n
    is_there = n.any(axis=1)  # what was not measured for anybody is no cluster
    y, n = y[is_there], n[is_there]
    if sums.is_count:
        size, value = y.sum(axis=0), np.where(n.any(axis=0), y.sum(axis=0), np.nan)
        return RankedMembers(names, value, size, y - y.mean(axis=0) if len(y) else y, sums)
    size = n.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = y.sum(axis=0) / size
        influence = np.nan_to_num((y - value * n) / size)
    return RankedMembers(names, value, size, influence, sums)


def separations(members: RankedMembers, level: float) -> tuple[Numbers, float]:
    """How far each member is better than each other, 1 where it is enough; and a probability.

    It is that of the largest of all standardised differences, in draws of normal multipliers of
    clusters. A difference is enough where Student's t, with the difference's own degrees of
    freedom, is as improbable: those of its variance (Satterthwaite), since of few clusters fewer
    still carry it. With k-1 for all, sets of 8 to 20 prompts and ten ties hold in 84 to 88 %.
    """
    influence, measured = members.influence, members.measured
    value = np.where(measured, members.oriented, 0.0)
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
    base = counted(frame, column, by, rarefy)
    codes, states = base.groups.combined(base.cells)
    counts = [base.values[base.given & (base.groups.ids == at)] for at in range(len(base.groups))]
    sizes = [int(part.sum()) for part in counts]
    names = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
    rows, verdicts = [], []
    for part, size, code in zip(counts, sizes, codes.tolist(), strict=True):
        row, state = dict.fromkeys(names, np.nan), states[code]
        reason = f" ({state})" if state.status != Status.AVAILABLE else ""
        verdict = f"cannot say: {size} in all, and it takes {LEAST}{reason}"
        if size >= LEAST:
            row = _measured(part, top, base.depth, level)
            low, high = row["effective_low"], row["effective_high"]
            span = f"{low:.1f} or more" if math.isinf(high) else f"{low:.1f} to {high:.1f}"
            verdict = f"as concentrated as {row['effective']:.1f} equal ones ({span})"
        rows.append(row)
        verdicts.append(verdict)
    keys = base.groups.keys.reset_index(drop=True)
    taken = {str(name): base.known.columns[str(name)] for name in keys.columns}
    at_depth = f", rarefied to {base.depth:,}" if base.depth else ""
    return result(
        "concentration",
        {
            **{str(name): keys[name] for name in keys.columns},
            **{name: [row[name] for row in rows] for name in names},
            "n": sizes,
            "members": [len(part) for part in counts],
            "depth": [base.depth or size for size in sizes],
            "verdict": verdicts,
            "method": [f"multinomial bootstrap, basic interval{at_depth}"] * len(rows),
        },
        taken,
        base.known.sources,
        combine(states[int(code)] for code in codes),
        key=tuple(taken),
        level=level,
        column=column,
        top=top,
    )


@dataclass(frozen=True)
class CountedRows:
    """The counts whose concentration is measured.

    Parameters
    ----------
    flat : pandas.DataFrame
        The frame, with the levels of its index as columns.
    known : FrameMetadata
        Its metadata.
    groups : Groups
        The group of each row.
    cells : Cells
        Which rows hold a number, and why others do not.
    values : array of float
        The counts.
    given : array of bool
        The rows that count.
    depth : int or None
        How many are drawn of each group; None for all.
    """

    flat: pd.DataFrame
    known: FrameMetadata
    groups: Groups
    cells: Cells
    values: Numbers
    given: npt.NDArray[np.bool_]
    depth: int | None


def counted(
    frame: pd.DataFrame, column: str, by: str | Sequence[str] | None, rarefy: bool
) -> CountedRows:
    """The counts whose concentration is measured.

    Raises
    ------
    AvailabilityError
        If the column is no count.
    """
    keys = names_of(by)
    flat = flattened(frame)
    known = metadata_of(flat)
    find(flat, [column, *keys])
    groups = group(flat, keys, True)
    is_own = not (known.holds(column) or known.is_lost(column))
    (planned,) = plan(flat, known, groups, column, {column: "sum"} if is_own else {})
    if planned.rule.rule != "sum":
        raise refusal(column, "concentration", f"its rule ({planned.rule}) is no sum of counts")
    cells = cells_of_plan(planned, flat, known, groups)
    values = flat[column].to_numpy(np.float64, na_value=np.nan)
    given = cells.given & (values > 0)
    if (values[given] % 1 != 0).any():
        why = "it holds fractions; name the count behind it"
        raise refusal(column, "concentration", why)
    sizes = [int(values[given & (groups.ids == at)].sum()) for at in range(len(groups))]
    usable = [size for size in sizes if size >= LEAST]
    depth = min(usable) if rarefy and len(usable) > 1 else None
    return CountedRows(flat, known, groups, cells, values, given, depth)


@dataclass(frozen=True)
class Spread:
    """The measures of some counts, and how far the ends of their intervals are from them.

    Parameters
    ----------
    points : mapping of str to float
        Each measure.
    shifts : mapping of str to pair of float
        What the ends of its interval add to it.
    words, point_words : str
        How the shifts were drawn, and the measures where they were.
    """

    points: Mapping[str, float]
    shifts: Mapping[str, tuple[float, float]]
    words: str
    point_words: str

    limits = {"hhi": (0.0, 1.0), "effective": (1.0, math.inf)} | dict.fromkeys(
        ("top_share", "gini"), (0.0, 1.0)
    )

    @classmethod
    def of(cls, counts: Numbers, top: int, depth: int | None, level: float) -> Spread:
        """The measures of some counts, drawn with the seed 0."""
        rng = np.random.default_rng(0)
        size = int(counts.sum())
        times = min(max(_CELLS // max(len(counts), 1), _LEAST_RESAMPLES), _RESAMPLES)
        point_words = ""
        if depth is None or depth >= size:
            point = _all(counts[None, :], top)[0]
        else:
            whole = counts.astype(np.int64)
            # The mean over draws settles sooner than how much they vary.
            few = min(times, max(_CELLS // (4 * len(counts)), _LEAST_DRAWS))
            drawn = rng.multivariate_hypergeometric(whole, depth, size=few, method="marginals")
            point = np.nanmean(_all(drawn.astype(np.float64), top), axis=0)
            point_words = f"the mean over {few} draws of {depth:,} of {size:,} (seed 0)"
        draws = rng.multinomial(depth or size, counts / size, size=times).astype(np.float64)
        found = _all(draws, top)
        sample = f"{times} multinomial samples of {depth or size:,} (seed 0)"
        if times < _FEW_RESAMPLES:
            # Too few for quantiles, enough for how much they vary.
            half = t_quantile((1 + level) / 2, times - 1) * np.nanstd(found, axis=0, ddof=1)
            spread = np.stack([-half, half])
            words_of = f"Student's t times the standard deviation of {sample}"
        else:
            tails = [(1 - level) / 2, (1 + level) / 2]
            spread = np.nanquantile(found - np.nanmean(found, axis=0), tails, axis=0)
            words_of = f"the quantile of {sample}, less their mean"
        points = dict(zip(MEASURES, point.tolist(), strict=True))
        shifts = {
            name: (float(spread[0][at]), float(spread[1][at])) for at, name in enumerate(MEASURES)
        }
        # The effective number is 1 over the index, and so are its ends.
        most, least = (max(points["hhi"] + shift, 0.0) for shift in shifts["hhi"])
        ends = (1 / end if end > 0 else math.inf for end in (least, most))
        low, high = (end - points["effective"] for end in ends)
        shifts["effective"] = (low, high)
        lowest = _least_top(counts, top, rng, level) - points["top_share"]
        shifts["top_share"] = (min(lowest, shifts["top_share"][0]), shifts["top_share"][1])
        return cls(points, shifts, words_of, point_words)


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


def _measured(counts: Numbers, top: int, depth: int | None, level: float) -> dict[str, float]:
    """Each measure with its interval."""
    spread = Spread.of(counts, top, depth, level)
    row = {}
    for name, (least, most) in spread.limits.items():
        row[name] = spread.points[name]
        for end, shift in zip(("low", "high"), spread.shifts[name], strict=True):
            row[f"{name}_{end}"] = float(np.clip(row[name] + shift, least, most))
    return row


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


def _all(counts: Numbers, top: int) -> Numbers:
    """The measures of many samples: one a row."""
    ordered = np.sort(counts, axis=1)
    there = ordered > 0
    sums = [counts, counts**2, ordered[:, -top:], np.cumsum(there, axis=1) * there * ordered]
    n, squares, largest, ranked = (each.sum(axis=1) for each in sums)
    made = measured(n, squares, largest, ranked, np.maximum(there.sum(axis=1), 1))
    return np.column_stack([getattr(made, name) for name in MEASURES])


def traced_concentration(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `concentration`, traced."""
    given = cells.arguments
    column, top = given["column"], int(given.get("top", 5))
    base = cells.shared.setdefault(
        "base",
        counted(cells.inputs[0].frame, column, given.get("by"), bool(given.get("rarefy", True))),
    )

    def counts(group: int) -> Any:
        rows = np.flatnonzero(base.given & (base.groups.ids == group))
        return cells.column("c", 0, rows, column)

    c = counts(at)
    n, members = One.total(c), One.count(c)
    name_all(n=n, members=members)
    columns = {"n": n, "members": members, "depth": n}
    if base.depth is not None:
        sizes = [One.total(counts(group)) for group in range(len(base.groups))]
        columns["depth"] = min((x for x in sizes if x.value >= LEAST), key=lambda x: float(x.value))
    order = np.argsort(c.value, kind="stable")
    ordered = take(c, order)
    rank = Traced(np.arange(1.0, len(order) + 1), name="rank")
    rank.cells = cells.place_of(rank)
    largest = take(c, order[-top:])
    name_all(largest=largest, ordered=ordered)
    made = measured(n, One.total(c**2), One.total(largest), One.total(rank * ordered), members)
    spread = Spread.of(c.value, top, base.depth, float(given.get("level", 0.95)))
    for name in MEASURES:
        point = getattr(made, name)
        if spread.point_words:
            point = drawn(name, spread.points[name], spread.point_words, n)
        columns[name] = point
        least, most = (
            setting(word, end)
            for word, end in zip(("least", "most"), spread.limits[name], strict=True)
        )
        for end, shift in zip(("low", "high"), spread.shifts[name], strict=True):
            moved = drawn("shift", shift, spread.words)
            columns[f"{name}_{end}"] = np.maximum(np.minimum(point + moved, most), least)
    return columns
