"""Cells of `df.aa.interval`: of single rows, and of groups over clusters."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from aatoolkit.frame.aggregation_plan import counts_of, plan
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.formula import (
    above,
    computed,
    setting,
    wilson_end,
)
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.groupby import group
from aatoolkit.metadata.attrs import metadata_of

_ENDS = {"low": "-", "high": "+"}
_COUNTED = "sum({0}) ** 2 / sum({0} ** 2)"


class IntervalCells(StatisticsCells):
    """Intervals of single rows, and of groups over clusters."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of an interval, with its formula."""
        measure = str(self.arguments["column"])
        ending = column.removeprefix(measure).removeprefix("_")
        if self.arguments.get("cluster") is None:
            return self._of_row(at, measure, ending)
        if not column.startswith(measure) or ending in ("method", "verdict"):
            return None
        if self.arguments.get("join"):
            group_of = int(self._side.sums.groups.ids[at])
        else:
            keys = [str(name) for name in self._side.sums.groups.keys.columns]
            found = self._side.group([self.flat[name].iloc[at] for name in keys])
            if found is None:
                return None
            group_of = found
        made: Estimate = self.known_parts.setdefault(
            group_of,
            Estimate(
                self._side,
                group_of,
                float(self.arguments.get("level", 0.95)),
                is_fixed=self.arguments.get("panel") == "fixed",
            ),
        )
        return made.explained(ending)

    @cached_property
    def _side(self) -> Side:
        given = self.arguments
        by, cluster, rules = (given.get(name) for name in ("by", "cluster", "rules"))
        return Side(self.inputs[0], str(given["column"]), by, cluster, rules)

    def _of_row(self, at: int, measure: str, ending: str) -> Explanation | None:
        """Wilson's score interval of one row."""
        if ending not in _ENDS:
            return None
        frame, rules = self.inputs[0].frame, self.arguments.get("rules") or {}
        known = metadata_of(frame)
        parts = counts_of(known, measure) if measure not in rules else None
        if parts is None:
            (planned,) = plan(frame, known, group(frame, None, True), measure, rules)
            parts = planned.rule.over
        if parts is None:
            return None
        hits, trials = (
            _named(self.inputs[0].explain(at, part), name)
            for part, name in zip(parts, ("hits", "trials"), strict=True)
        )
        rate = computed("rate", "hits / trials", hits, above(trials))
        level = setting("level", self.arguments.get("level", 0.95))
        q = computed("q", "normal_quantile((1 + level) / 2)", level)
        return wilson_end(ending, rate, trials, q)


def _named(cell: Explanation, name: str) -> Explanation:
    return Explanation(
        cell.value, name, cell.row, operation="sum", formula=cell.column, rows=1, children=(cell,)
    )


class Estimate:
    """The estimate of one group: its value, variance, design effect and interval.

    Parameters
    ----------
    side : Side
        The rows, added up by cluster.
    number : int
        The group.
    level : float
        The confidence level.
    is_fixed : bool
        Whether the clusters are all there are, and no sample.
    """

    def __init__(self, side: Side, number: int, level: float, *, is_fixed: bool = False) -> None:
        self._side = side
        pairs = side.pairs(number).values()
        self._y = [side.y("y", pair) for pair in pairs]
        self._n = [side.n("n", pair) for pair in pairs]
        self._level, self._is_fixed = setting("level", level), is_fixed
        self._is_rate = side.sums.is_proportion
        self._pairs = [*pairs]

    def explained(self, ending: str) -> Explanation | None:
        """The number of a column, by its ending; the value itself has none."""
        names = {"": "value", "n": "size", "deff": "deff", "clusters": "clusters"}
        names |= {"low": "low", "high": "high"}
        if ending not in names:
            return None
        found: Explanation = getattr(self, names[ending])
        return found

    @cached_property
    def value(self) -> Explanation:
        """The rate or mean."""
        return computed("value", "sum(y) / sum(n)", *self._y, *self._n)

    @cached_property
    def size(self) -> Explanation:
        """Explain the sample size."""
        return computed("size", "sum(n)", *self._n)

    @cached_property
    def clusters(self) -> Explanation:
        """Explain the number of clusters."""
        return computed("clusters", "len(n)", *self._n)

    @cached_property
    def variance(self) -> Explanation:
        """The variance of the value."""
        return self._strata if self._is_fixed else self._linearised

    @cached_property
    def _linearised(self) -> Explanation:
        residuals = [
            computed("z", "y - value * n", *self._of(at), row=one.row)
            for at, one in enumerate(self._y)
        ]
        whole = "len(z) / (len(z) - 1) * sum(z ** 2) / size ** 2"
        return computed("variance", whole, *residuals, above(self.size))

    def _of(self, at: int) -> tuple[Explanation, ...]:
        return above(self._y[at]), above(self._n[at]), above(self.value)

    @cached_property
    def _strata(self) -> Explanation:
        """The variance where only answers to each cluster are a sample."""
        terms = []
        squares = self._squares
        for at, one in enumerate(self._y):
            y, n, value = self._of(at)
            if self._is_rate:
                shrunk = computed("p", "(y + value) / (n + 1)", y, n, value)
                within = computed("within", "p * (1 - p) / n", shrunk, n)
            elif n.value > 1:
                spread = "(squares - n * (y / n) ** 2) / (n - 1) / n"
                within = computed("within", spread, squares[at], y, n)
            else:
                within = computed("within", "pooled / n", above(self._pooled), n)
            size = above(self.size)
            terms.append(computed("term", "(n / size) ** 2 * within", n, size, within, row=one.row))
        pooled = () if self._is_rate else (self._pooled,)
        return computed("variance", "sum(term)", *terms, *pooled)

    @cached_property
    def _squares(self) -> list[Explanation]:
        if self._is_rate:
            return []
        found = []
        for at, pair in enumerate(self._pairs):
            rows = self._side.sums.rows[self._side.sums.pair == pair]
            values = self._side.sums.frame[self._side.measure].to_numpy(np.float64, na_value=0.0)
            value = float((values[rows] ** 2).sum())
            words = f"the sum of squares over {len(rows)} rows"
            row = self._y[at].row
            found.append(Explanation(value, "squares", row, operation="squares", formula=words))
        return found

    @cached_property
    def _pooled(self) -> Explanation:
        spreads = [
            computed("spread", "squares - n * (y / n) ** 2", squares, *self._of(at)[:2])
            for at, squares in enumerate(self._squares)
            if self._n[at].value > 1
        ]
        many = [above(n) for n in self._n]
        return computed("pooled", "sum(spread) / (sum(n) - len(n))", *spreads, *many)

    @cached_property
    def deff(self) -> Explanation:
        """The design effect."""
        parts = (self.value, self.size, self.variance)
        return computed("deff", "variance / (value * (1 - value) / size)", *parts)

    @cached_property
    def _effective(self) -> Explanation:
        """The effective sample size of a rate."""
        if self.variance.value > 0:
            whole = "value * (1 - value) / variance"
            return computed("answers", whole, above(self.value), self.variance)
        if self._is_fixed:
            return computed("answers", "size", above(self.size))
        return computed("answers", "df + 1", above(self.df))

    @cached_property
    def df(self) -> Explanation:
        """The degrees of freedom."""
        if self._is_fixed:
            return computed("df", "max(1, sum(n) - len(n))", *map(above, self._n))
        ys, ns = [above(each) for each in self._y], [above(each) for each in self._n]
        parts = [*ns]
        counted = [f"{_COUNTED.format('n')} - 1"]
        if self._is_rate:
            misses = [
                computed("misses", "n - y", n, y, row=y.row) for y, n in zip(ys, ns, strict=True)
            ]
            squares = [
                computed("square", "(y - value * n) ** 2", *self._of(at), row=one.row)
                for at, one in enumerate(self._y)
            ]
            for name, listed in (("square", squares), ("y", ys), ("misses", misses)):
                if sum(each.value for each in listed) > 0:
                    counted.append(_COUNTED.format(name))
                    parts += listed
        least = f"min({', '.join(counted)})" if len(counted) > 1 else counted[0]
        return computed("df", f"max(1, {least})", *parts)

    @cached_property
    def low(self) -> Explanation:
        """The lower end of the interval."""
        return self._end("low")

    @cached_property
    def high(self) -> Explanation:
        """The upper end of the interval."""
        return self._end("high")

    def _end(self, name: str) -> Explanation:
        # The quantile is that of fewer degrees of freedom, in steps: never too narrow.
        used = "floor(df * 10 + 1e-9) / 10" if self.df.value < 200 else "floor(df)"
        q = computed("q", f"t_quantile((1 + level) / 2, {used})", self._level, self.df)
        if self._is_rate:
            found = wilson_end(name, self.value, self._effective, q)
            return replace(found, children=(*found.children, self.size))
        whole = f"value {_ENDS[name]} q * sqrt(variance)"
        return computed(name, whole, self.value, q, self.variance, self.size)
