"""One side of a statistic: the rows that it was computed from, their sums by group and cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.statistics.formula import computed
from aatoolkit.frame.explain.text import plain, sum_in_words
from aatoolkit.frame.groupby import By
from aatoolkit.stats.cluster_sums import Rules, cluster_sums

_MOST_ROWS = 1500
"""The most rows of one side that are explained one by one."""


class Side:
    """The rows of a frame that was made again, added up by group and cluster.

    Parameters
    ----------
    made : Made
        The frame.
    measure : str
        What is added up.
    by : str, Grouper or list of these, or None
        The groups.
    cluster : str or None
        What repeats; None if each row is its own.
    rules : mapping, optional
        As for ``df.aa.aggregate``.
    frame : pandas.DataFrame, optional
        The frame with further columns.
    """

    def __init__(
        self,
        made: Made,
        measure: str,
        by: By,
        cluster: str | None,
        rules: Rules | None,
        frame: pd.DataFrame | None = None,
    ) -> None:
        self.made, self.measure, self.cluster = made, measure, cluster
        self.sums = cluster_sums(
            made.frame if frame is None else frame, measure, by, cluster, rules
        )
        self._left = _MOST_ROWS
        self._known: dict[tuple[str, int], Explanation] = {}
        keys = self.sums.groups.keys
        listed = keys.astype(object).where(keys.notna(), None)
        self._groups = {
            tuple(map(plain, row)): at
            for at, row in enumerate(listed.itertuples(index=False, name=None))
        }

    def group(self, key: Sequence[Any]) -> int | None:
        """The number of a group; None if there is no such group."""
        return self._groups.get(tuple(map(plain, key)))

    def pairs(self, group: int) -> dict[Any, int]:
        """By cluster, the number of its pair with a group."""
        there = np.flatnonzero(self.sums.group == group)
        return {plain(self.sums.labels[self.sums.cluster[at]]): int(at) for at in there}

    def y(self, name: str, pair: int) -> Explanation:
        """The numerator in the rows of a group and cluster."""
        return self._sum(name, pair, 0)

    def n(self, name: str, pair: int) -> Explanation:
        """The denominator in the same rows."""
        return self._sum(name, pair, 1)

    def _sum(self, name: str, pair: int, which: int) -> Explanation:
        rows = np.flatnonzero(self.sums.pair == pair)
        rows = self.sums.rows[rows]
        label = self.sums.labels[self.sums.cluster[pair]]
        row = {self.cluster: plain(label)} if self.cluster else {}
        plan = self.sums.plan
        if plan.rule.over:
            return self.total(name, plan.parts[which], rows.tolist(), row)
        if plan.rule.by and which:
            return self.total(name, plan.parts[1], rows.tolist(), row)
        if plan.rule.by:
            parts = [
                computed(
                    "product",
                    "value * weight",
                    self._cell("value", plan.parts[0], at),
                    self._cell("weight", plan.parts[1], at),
                )
                for at in rows.tolist()
            ]
            return computed(name, "sum(product)", *parts, row=row)
        if which:
            return self.count(name, plan.parts[0], rows.tolist(), row)
        return self.total(name, plan.parts[0], rows.tolist(), row)

    def count(
        self, name: str, column: str, rows: Sequence[int], row: dict[str, Any]
    ) -> Explanation:
        """Explain the number of rows that have a number in a column."""
        words = f"{len(rows)} row{'s' * (len(rows) != 1)} with {column}"
        cells, end = self._cells(column, rows)
        return Explanation(
            len(rows), name, row, operation="count", formula=words, children=cells, end=end
        )

    def _cells(
        self, column: str, rows: Sequence[int]
    ) -> tuple[tuple[Explanation, ...], str | None]:
        """The cells of rows, and why they are not listed if they are not."""
        self._left -= sum((column, at) not in self._known for at in rows)
        if self._left < 0:
            return (), "these are too many rows to list them all here"
        for at in rows:
            if (column, at) not in self._known:
                self._known[column, at] = self.made.explain(at, column)
        return tuple(self._known[column, at] for at in rows), None

    def total(
        self, name: str, column: str, rows: Iterable[int], row: dict[str, Any] | None = None
    ) -> Explanation:
        """The sum of a column over rows."""
        given = [*rows]
        values = [plain(self.sums.frame[column].iloc[at]) for at in given]
        numbers = [float(value) if isinstance(value, bool) else value for value in values]
        value = float(np.sum(np.array(numbers, float)))
        cells, end = self._cells(column, given)
        return Explanation(
            int(value) if value.is_integer() else value,
            name,
            row or {},
            operation="sum",
            formula=f"sum of {column} = {sum_in_words(numbers)}",
            rows=len(given),
            children=cells,
            end=end,
        )

    def _cell(self, name: str, column: str, at: int) -> Explanation:
        cell = self.made.explain(at, column)
        return Explanation(
            cell.value, name, cell.row, operation="sum", formula=column, children=(cell,)
        )
