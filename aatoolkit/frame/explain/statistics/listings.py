"""Cells of `df.aa.rank` and `df.aa.concentration`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.statistics.cells import StatisticsCells, drawn
from aatoolkit.frame.explain.statistics.formula import above, computed, renamed, setting
from aatoolkit.frame.explain.statistics.side import Side
from aatoolkit.frame.explain.text import plain
from aatoolkit.frame.groupby import flattened
from aatoolkit.stats.concentration import LEAST, MEASURES, Spread, counted
from aatoolkit.stats.rank import DRAWS, RankedMembers, members_of, separations


class RankCells(StatisticsCells):
    """Ranks with their confidence sets."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a ranking, with its formula."""
        member = self._member(at)
        if column == "value":
            return self._value(member)
        if column == "n":
            return self._size(member)
        if column == "clusters":
            cluster = str(self.arguments["cluster"])
            first = self.inputs[0]
            values = flattened(first.frame)[cluster]
            rows = np.flatnonzero((values.notna() & ~values.duplicated()).to_numpy()).tolist()
            return Explanation(
                len(self._members.influence),
                "clusters",
                operation="count",
                formula=f"different values of {cluster}, the first row of each",
                children=tuple(first.explain(each, cluster) for each in rows),
            )
        if column == "rank":
            return self._rank(member)
        if column in ("rank_low", "rank_high"):
            return self._end(member, column)
        return None

    @cached_property
    def _members(self) -> RankedMembers:
        given = self.arguments
        column, by, cluster = (str(given[name]) for name in ("column", "by", "cluster"))
        return members_of(self.inputs[0].frame, column, by, cluster, given.get("rules"))

    @cached_property
    def _side(self) -> Side | None:
        if self._members.sums is None:
            return None
        given = self.arguments
        column, by, cluster = (str(given[name]) for name in ("column", "by", "cluster"))
        return Side(self.inputs[0], column, by, cluster, given.get("rules"))

    def _member(self, at: int) -> int:
        name = plain(self.flat[str(self.arguments["by"])].iloc[at])
        return [*map(plain, self._members.names)].index(name)

    def _row(self, member: int) -> dict[str, Any]:
        return {str(self.arguments["by"]): plain(self._members.names.iloc[member])}

    def _value(self, member: int) -> Explanation:
        if self._side is None:
            return self._size(member)
        if member not in self.known_parts:
            self.known_parts[member] = self._ratio(self._side, member)
        found: Explanation = self.known_parts[member]
        return found

    def _ratio(self, side: Side, member: int) -> Explanation:
        pairs = side.pairs(member).values()
        y, n = [side.y("y", pair) for pair in pairs], [side.n("n", pair) for pair in pairs]
        return computed("value", "sum(y) / sum(n)", *y, *n, row=self._row(member))

    def _size(self, member: int) -> Explanation:
        """Explain the sample size of a member's value."""
        if self._side is not None:
            pairs = self._side.pairs(member).values()
            return computed("n", "sum(n)", *(self._side.n("n", pair) for pair in pairs))
        column = str(self.arguments["column"])
        rows = np.flatnonzero(self._members.use & (self._members.ids == member))
        return self._total(column, rows.tolist(), self._row(member))

    def _total(self, column: str, rows: list[int], row: dict[str, Any]) -> Explanation:
        return total_of(self, "value", column, rows, row)

    def _others(self, member: int) -> list[int]:
        there = np.flatnonzero(self._members.measured)
        return [int(each) for each in there if each != member]

    def _rank(self, member: int) -> Explanation:
        own = self._members.oriented[member]
        better = [one for one in self._others(member) if self._members.oriented[one] > own]
        values = [renamed(self._value(one), "better") for one in better]
        value = renamed(self._value(member), "own")
        if not values:
            return computed("rank", "1", value).with_notes("no member has a better value")
        return computed("rank", "1 + len(better)", *values, value)

    def _end(self, member: int, column: str) -> Explanation:
        """The best or worst rank: of those members that are shown to be better, or worse."""
        distance, critical = self._separations
        is_low = column == "rank_low"
        name = "better" if is_low else "worse"
        away = distance[:, member] if is_low else distance[member]
        others = [one for one in self._others(member) if away[one] > critical]
        limit = drawn(
            "critical",
            critical,
            f"the quantile of the largest of all distances in {DRAWS} draws of normal multipliers "
            f"of {self.arguments['cluster']} (seed 0), widened by Student's t",
        )
        listed = []
        for one in others:
            own = (
                above(renamed(self._value(each), word))
                for each, word in ((one, "its"), (member, "own"))
            )
            gap = abs(self._members.value[one] - self._members.value[member])
            error = drawn(
                "error",
                float(gap / away[one]),
                "the standard error of the difference, over clusters",
            )
            listed.append(computed(name, "abs(its - own) / error", *own, error, row=self._row(one)))
        values = [renamed(self._value(one), "its") for one in others]
        given = (*listed, *values, renamed(self._value(member), "own"), limit)
        many = int(self._members.measured.sum())
        count = f"len({name})" if listed else "0"
        members = setting("members", many)
        found = (
            computed(column, f"1 + {count}", *given)
            if is_low
            else computed(column, f"members - {count}", members, *given)
        )
        words = f"{len(listed)} are {name} by more than {critical:.4g} standard errors"
        return found.with_notes(words)

    @cached_property
    def _separations(self) -> tuple[Any, float]:
        return separations(self._members, float(self.arguments.get("level", 0.95)))


def total_of(
    cells: StatisticsCells, name: str, column: str, rows: list[int], row: dict[str, Any]
) -> Explanation:
    """The sum of a column over rows of the first input."""
    listed = [cells.inputs[0].explain(at, column) for at in rows]
    parts = [
        Explanation(one.value, "c", one.row, operation="sum", formula=column, children=(one,))
        for one in listed
    ]
    if not parts:
        return Explanation(0, name, row, operation="count", formula="the sum of nothing: 0")
    return computed(name, "sum(c)", *parts, row=row)


class ConcentrationCells(StatisticsCells):
    """Explanations of ``df.aa.concentration``, cell by cell."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a concentration, with its formula."""
        rows, cells = self._rows(at), self._cells(at)
        if column == "n":
            return computed("n", "sum(c)", *cells)
        if column == "members":
            return computed("members", "len(c)", *cells)
        if column == "depth":
            words = "as many as the smallest group has, so that groups can be compared"
            if self._depth is None:
                return computed("depth", "sum(c)", *cells)
            sizes = (
                computed("size", "sum(c)", *self._cells(each)) for each in range(len(self.flat))
            )
            smallest = min(
                (one for one in sizes if one.value >= LEAST), key=lambda one: float(one.value)
            )
            return computed("depth", "size", smallest).with_notes(words)
        name, _, end = (
            column.rpartition("_") if column.endswith(("_low", "_high")) else (column, "", "")
        )
        if name not in MEASURES:
            return None
        point = self._point(name, cells)
        if not end:
            return point
        spread = self._spread(at, rows)
        which = spread.shifts[name][("low", "high").index(end)]
        shift = drawn("shift", which, spread.words)
        least, most = spread.limits[name]
        limits = (setting("least", least), setting("most", most))
        return computed(
            column, "max(least, min(most, point + shift))", renamed(point, "point"), shift, *limits
        )

    @cached_property
    def _counted(self) -> Any:
        given = self.arguments
        return counted(
            self.inputs[0].frame, str(given["column"]), given.get("by"), bool(given.get("rarefy"))
        )

    @property
    def _depth(self) -> int | None:
        found: int | None = self._counted.depth
        return found

    def _rows(self, at: int) -> list[int]:
        found: list[int] = np.flatnonzero(
            self._counted.given & (self._counted.groups.ids == at)
        ).tolist()
        return found

    def _cells(self, at: int) -> list[Explanation]:
        if at not in self.known_parts:
            column = str(self.arguments["column"])
            found = total_of(self, "n", column, self._rows(at), {})
            self.known_parts[at] = [each for each in found.children if each.value]
        listed: list[Explanation] = self.known_parts[at]
        return listed

    def _spread(self, at: int, rows: list[int]) -> Spread:
        counts = self._counted.values[rows]
        given = self.arguments
        return Spread.of(
            counts, int(given.get("top", 10)), self._depth, float(given.get("level", 0.95))
        )

    def _point(self, name: str, cells: list[Explanation]) -> Explanation:
        size = computed("n", "sum(c)", *cells)
        if self._depth is not None and self._depth < size.value:
            counts = np.array([each.value for each in cells], np.float64)
            given = self.arguments
            spread = Spread.of(
                counts, int(given.get("top", 10)), self._depth, float(given.get("level", 0.95))
            )
            value, words = spread.points[name], spread.point_words
            return Explanation(value, name, operation="drawn", formula=words, children=(size,))
        refs = [above(each) for each in cells]
        if name in ("hhi", "effective"):
            index = computed("hhi", "(sum(c ** 2) - n) / (n * (n - 1))", *refs, size)
            return index if name == "hhi" else computed("effective", "1 / hhi", index)
        ordered = sorted(refs, key=lambda each: each.value)
        if name == "top_share":
            top = int(self.arguments.get("top", 10))
            largest = [renamed(each, "c") for each in ordered[-top:]]
            part = computed("largest", "sum(c)", *largest)
            return computed("top_share", "largest / n", part, size)
        ranked = [
            computed("ranked", "rank * c", setting("rank", rank), each, row=each.row)
            for rank, each in enumerate(ordered, 1)
        ]
        members = computed("members", "len(ranked)", *map(above, ranked))
        return computed(
            "gini", "(2 * sum(ranked) / n - (members + 1)) / members", *ranked, size, members
        )
