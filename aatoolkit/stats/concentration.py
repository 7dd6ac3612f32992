"""Concentration of counts over their members: ``df.aa.concentration``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Status, combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.aggregate import cells_of_plan
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.cell_status import Cells
from aatoolkit.frame.groupby import Groups, find, flattened, group
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, FRACTION
from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.difference import name_all
from aatoolkit.stats.distributions import normal_quantile, t_quantile
from aatoolkit.stats.estimate import wilson
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.results import numbers, result, words
from aatoolkit.stats.sides import names_of
from aatoolkit.stats.trace import One, Traced, drawn, named, setting, take

_RESAMPLES = 499
_CELLS = 500_000
_LEAST_RESAMPLES = 49
_LEAST_DRAWS = 20
_FEW_RESAMPLES = 200
LEAST = 20
MEASURES = ("hhi", "effective", "top_share", "gini")


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
    known, groups, cells = base.known, base.groups, base.cells
    depth, values, given = base.depth, base.values, base.given
    codes, states = groups.combined(cells)
    counts = [values[given & (groups.ids == at)] for at in range(len(groups))]
    sizes = [int(each.sum()) for each in counts]
    rows = []
    for at, each in enumerate(counts):
        if sizes[at] < LEAST:
            state = states[int(codes[at])]
            state_text = f" ({state})" if state.status != Status.AVAILABLE else ""
            text = f"cannot say: {sizes[at]} in all, and it takes {LEAST}{state_text}"
            rows.append(([np.nan] * 12, text))
            continue
        rows.append((_measured(each, top, depth, level), ""))
    numbers_of = np.array([row[0] for row in rows], np.float64).reshape(len(rows), 12)
    verdicts = [
        text or f"as concentrated as {row[3]:.1f} equal ones ({_span(row[4], row[5])})"
        for row, text in rows
    ]
    names = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
    at_depth = f", rarefied to {depth:,}" if depth else ""
    frame_of = pd.DataFrame(
        {
            **{str(name): groups.keys[name].reset_index(drop=True) for name in groups.keys.columns},
            **{name: numbers(numbers_of[:, at]) for at, name in enumerate(names)},
            "n": numbers(sizes, "Int64"),
            "members": numbers((len(each) for each in counts), "Int64"),
            "depth": numbers((depth or size for size in sizes), "Int64"),
            "verdict": words(verdicts),
            "method": words([f"multinomial bootstrap, basic interval{at_depth}"] * len(rows)),
        }
    )
    docs = {
        "hhi": ("Herfindahl index: the sum of squared shares, unbiased.", FRACTION),
        "effective": ("Effective number: 1 over the index, as many equal ones.", COUNT),
        "top_share": (f"Share of the largest {top}.", FRACTION),
        "gini": ("Gini coefficient over those that occur at all.", FRACTION),
    }
    ends = {
        "": "",
        "_low": f"Lower end of the {level:.0%} interval: ",
        "_high": f"Upper end of the {level:.0%} interval: ",
    }
    meanings: dict[str, tuple[str, str | None]] = {
        f"{name}{end}": (f"{text}{doc}", unit)
        for name, (doc, unit) in docs.items()
        for end, text in ends.items()
    }
    meanings |= {
        "n": (f"{column} in all.", COUNT),
        "members": ("Different ones that occur.", COUNT),
        "depth": ("How many were drawn for the measures, so that groups can be compared.", COUNT),
        "verdict": ("The effective number in words, or why there is none.", None),
        "method": ("How it was computed.", None),
    }
    taken = {str(name): known.columns[str(name)] for name in groups.keys.columns}
    return result(
        frame_of,
        "concentration",
        meanings,
        taken,
        known.sources,
        combine(states[int(code)] for code in codes),
        key=tuple(taken),
    )


def _span(low: float, high: float) -> str:
    return f"{low:.1f} or more" if math.isinf(high) else f"{low:.1f} to {high:.1f}"


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
        why = f"its rule ({planned.rule}) is no sum of counts"
        raise AvailabilityError(f"{column} has no concentration: {why}", columns={column: why})
    cells = cells_of_plan(planned, flat, known, groups)
    values = flat[column].to_numpy(np.float64, na_value=np.nan)
    given = cells.given & (values > 0)
    if (values[given] % 1 != 0).any():
        why = "it holds fractions; name the count behind it"
        raise AvailabilityError(f"{column} has no concentration: {why}", columns={column: why})
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


def _measured(counts: Numbers, top: int, depth: int | None, level: float) -> list[float]:
    """Each measure with its interval; the order of `MEASURES`."""
    spread = Spread.of(counts, top, depth, level)
    listed: list[float] = []
    for name, (least, most) in spread.limits.items():
        point = spread.points[name]
        ends = (float(np.clip(point + shift, least, most)) for shift in spread.shifts[name])
        listed += [point, *ends]
    return listed


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


def traced(cells: Any, at: int) -> dict[str, Any]:
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
