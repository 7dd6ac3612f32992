"""Cells of ``Dataset.funnel``: the rows that each stage was added up from."""

from __future__ import annotations

from functools import cached_property

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.statistics.cells import StatisticsCells
from aatoolkit.frame.explain.statistics.formula import computed, setting, wilson_end
from aatoolkit.stats.funnel_stages import COMPLETE, STAGES, StageRows, rows_of_stages


class FunnelCells(StatisticsCells):
    """The stages from crawled to converted, one row a path, day or platform."""

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number of a funnel, with its formula."""
        if column in STAGES:
            return self._stage(at, column)
        if column == "n":
            return computed("n", self._visits, self._stage(at, self._visits))
        if column == "crawl_to_refer":
            parts = (self._stage(at, "crawled"), self._stage(at, "visited"))
            return computed(column, "crawled / visited", *parts)
        if not column.startswith("conversion_rate"):
            return None
        visited = self._stage(at, self._visits)
        rate = computed(
            "rate", f"converted / {self._visits}", self._stage(at, "converted"), visited
        )
        if column == "conversion_rate":
            return rate
        level = setting("level", self.arguments.get("level", 0.95))
        q = computed("q", "normal_quantile((1 + level) / 2)", level)
        return wilson_end(column, rate, visited, q)

    @cached_property
    def _rows(self) -> dict[str, list[StageRows]]:
        given = self.arguments
        frames = [each.frame for each in self.inputs]
        return rows_of_stages(frames, given["names"], given.get("by"))

    @cached_property
    def _visits(self) -> str:
        """The visits that conversions are of: those of complete days, where they are counted."""
        counted = (
            rows
            for rows in self._rows[COMPLETE]
            if self.inputs[rows.frame].frame[rows.column].notna().any()
        )
        return COMPLETE if next(counted, None) else "visited"

    def _stage(self, at: int, name: str) -> Explanation:
        """Explain the count of one stage for the key of a row."""
        key = self.flat[self.flat.columns[0]].iloc[at]
        for rows in self._rows[name]:
            there = rows.places(key)
            if len(there):
                return self._added(name, self.inputs[rows.frame], rows.column, there.tolist())
        return Explanation(self.value(at, name), name, end="no row is of it")

    def _added(self, name: str, made: Made, column: str, places: list[int]) -> Explanation:
        parts = []
        for at in places:
            cell = made.explain(at, column)
            parts.append(
                Explanation(
                    cell.value, "c", cell.row, operation="sum", formula=column, children=(cell,)
                )
            )
        return computed(name, "sum(c)", *parts)
