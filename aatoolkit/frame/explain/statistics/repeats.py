"""Cells of `df.aa.stability` and `df.aa.changes`."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells, drawn
from aatoolkit.frame.explain.statistics.formula import above, computed
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.explain.text import plain
from aatoolkit.stats.stability import RESAMPLES

_BETWEEN = "(sum(square) - sum(n) * mean ** 2) / (len(n) - 1)"
_WITHIN = "sum(spread) / (sum(n) - len(n))"
_COMMON = "(sum(n) - sum(n ** 2) / sum(n)) / (len(n) - 1)"


class StabilityCells(StatisticsCells):
    """Explanations of ``df.aa.stability``, cell by cell."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of an agreement, with its formula."""
        del at  # there is one row
        y, n = self._parts_of
        if column == "n":
            return computed("n", "sum(n)", *n)
        if column == "cells":
            return computed("cells", "len(n)", *n)
        if column == "clusters":
            first = next(iter(self._names))
            labels = {str(each.row.get(first)) for each in n}
            words = f"different values of {first} among the combinations"
            return Explanation(
                len(labels), "clusters", operation="count", formula=words, children=(*n,)
            )
        if column == "agreement":
            return computed("agreement", "mean(pairs)", *self._pairs, *y, *n)
        if column == "icc":
            return self._icc
        if column.endswith(("_low", "_high")):
            end = (1 - float(self.arguments.get("level", 0.95))) / 2
            end = end if column.endswith("_low") else 1 - end
            words = (
                f"the {100 * end:g} % quantile of {column.partition('_')[0]} in {RESAMPLES} "
                f"samples of {next(iter(self._names))} drawn with repeats (seed 0)"
            )
            if column.startswith("icc"):
                first = next(iter(self._names))
                words = f"the end of the interval by jackknife over {first}, on Fisher's scale"
            value = float(self.flat[column].iloc[0])
            return drawn(column, value, words, *y, *n)
        return None

    @property
    def _names(self) -> list[str]:
        by = self.arguments["by"]
        return [by] if isinstance(by, str) else [*by]

    @cached_property
    def _parts_of(self) -> tuple[list[Explanation], list[Explanation]]:
        """The sums of each combination that was asked twice or more."""
        side = Side(self.inputs[0], str(self.arguments["column"]), self._names, None, None)
        sums, keys = side.sums, side.sums.groups.keys
        sizes = sums.added(sums.n)
        found: tuple[list[Explanation], list[Explanation]] = ([], [])
        for number in np.flatnonzero(sizes >= 2).tolist():
            row = {str(name): plain(keys[name].iloc[number]) for name in keys.columns}
            pairs = np.flatnonzero(sums.group == number)
            rows = sums.rows[np.isin(sums.pair, pairs)].tolist()
            over = sums.plan.rule.over
            column = over[0] if over else sums.plan.parts[0]
            found[0].append(side.total("y", column, rows, row))
            if over:
                found[1].append(side.total("n", over[1], rows, row))
            else:
                found[1].append(side.count("n", column, rows, row))
        return found

    @cached_property
    def _pairs(self) -> list[Explanation]:
        whole = "(y * (y - 1) + (n - y) * (n - y - 1)) / (n * (n - 1))"
        return [
            computed("pairs", whole, above(y), above(n), row=y.row)
            for y, n in zip(*self._parts_of, strict=True)
        ]

    @cached_property
    def _icc(self) -> Explanation:
        y, n = self._parts_of
        refs = [above(each) for each in n]
        mean = computed("mean", "sum(y) / sum(n)", *y, *n)
        squares, spreads = (
            [
                computed(name, whole, above(one), above(many), row=one.row)
                for one, many in zip(y, n, strict=True)
            ]
            for name, whole in (
                ("square", "n * (y / n) ** 2"),
                ("spread", "n * (y / n) * (1 - y / n)"),
            )
        )
        between = computed("between", _BETWEEN, *squares, *refs, mean)
        within = computed("within", _WITHIN, *spreads, *refs)
        common = computed("common", _COMMON, *refs)
        whole = "(between - within) / (between + (common - 1) * within)"
        return computed("icc", whole, between, within, common)


class ChangesCells(StatisticsCells):
    """The days on which a rate changed."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a change point, with its formula."""
        if column == "clusters":
            days = [n for _, n in self._days.values()]
            return computed("clusters", "len(n)", *days)
        if column == "p":
            words = (
                "the share of this series and those of its days shuffled in blocks (seed 0) that "
                "gain as much from a change"
            )
            parts = [each for pair in self._days.values() for each in pair]
            return drawn("p", self.number(at, "p"), words, *parts)
        first, day, last = (self._day(at, name) for name in ("from_day", "day", "to_day"))
        there = {when: pair for when, pair in self._days.items() if first <= when <= last}
        early = [pair for when, pair in there.items() if not day or when < day]
        late = [pair for when, pair in there.items() if not day or when >= day]
        before, after = (
            computed(name, "sum(y) / sum(n)", *(y for y, _ in part), *(n for _, n in part))
            for name, part in (("before", early), ("after", late))
        )
        if column in ("before", "after"):
            return before if column == "before" else after
        if column == "change":
            return computed("change", "after - before", after, before)
        if column == "n":
            return computed("n", "sum(n)", *(n for _, n in (early + late if day else early)))
        return None

    def _day(self, at: int, name: str) -> str:
        return str(plain(self.flat[name].iloc[at]) or "")

    @cached_property
    def _days(self) -> dict[str, tuple[Explanation, Explanation]]:
        """By day, in their order, what was counted and of how many."""
        given = self.arguments
        column, date = str(given["column"]), str(given["date"])
        side = Side(self.inputs[0], column, None, date, given.get("rules"))
        pairs = {str(plain(pd.Timestamp(day))): at for day, at in side.pairs(0).items()}
        return {day: (side.y("y", pairs[day]), side.n("n", pairs[day])) for day in sorted(pairs)}
