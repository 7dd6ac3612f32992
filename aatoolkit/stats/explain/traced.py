"""Results of statistics: each number with the formula that computed it, down to the rows.

The statistic runs once more on traced numbers, whose leaves are explanations of cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import AAToolkitError
from aatoolkit.frame.groupby import By, flattened
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.stats.cluster_sums import Rules, cluster_sums
from aatoolkit.stats.compare import previous_names, previous_window
from aatoolkit.stats.explain.explanation import Explanation, plain, shown, sum_in_words
from aatoolkit.stats.explain.results import Made, Result
from aatoolkit.stats.trace import (
    DRAWN,
    LEAF,
    SETTING,
    STACKED,
    TAKEN,
    TOTAL,
    Traced,
    numbers_of,
    parts_of,
    words_of,
)

_MOST_ROWS = 1500
"""The most rows of one side that are explained one by one."""

Trace = Callable[["TracedCells", int], "dict[str, Any]"]
"""Runs a statistic on traced numbers for a row of its result; the numbers by column."""


class TracedCells(Result):
    """Cells that a statistic computed.

    Parameters
    ----------
    verb, frame, inputs, arguments
        As of `Result`.
    trace : callable
        Runs the statistic on traced numbers.
    """

    def __init__(self, *arguments: Any, trace: Trace) -> None:
        super().__init__(*arguments)
        self._trace = trace

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        first = flattened(self.inputs[0].frame)
        if self.arguments.get("join") and column in first.columns:
            return self.inputs[0].explain(at, column)
        found = self.described(at, column)
        verdict, why = self.text(at, "verdict"), self.text(at, "why")
        notes = [f"{name}: {self.text(at, name)}" for name in ("method", "verdict")]
        notes = [note for note in notes if not note.endswith(": None")]
        if column == "verdict":
            notes = notes[:1]
        node = None if found.value is None else self._number(at, column)
        if node is None:
            missing = (
                (why or verdict or "it could not be computed") if found.value is None else None
            )
            return replace(found, missing=missing, notes=(*found.notes, *notes))
        whole = node if isinstance(node, Explanation) else Unfolding().number(node)
        end = whole.end
        numbers = all(isinstance(each.value, int | float) for each in (found, whole))
        if numbers and not math.isclose(found.value, whole.value, rel_tol=1e-7, abs_tol=1e-12):
            end = f"the formula comes to {shown(whole.value)}, and not to this value"
        return replace(
            found,
            formula=whole.formula,
            rows=whole.rows,
            place=whole.place,
            answer=whole.answer,
            notes=(*found.notes, *whole.notes, *notes),
            children=whole.children,
            end=end,
        )

    def _number(self, at: int, column: str) -> Traced | Explanation | None:
        """The traced number of a column; None where it has no formula."""
        try:
            return self._trace(self, at).get(column)
        except (AAToolkitError, ArithmeticError, LookupError):
            return None

    def number(self, at: int, name: str) -> float:
        """A number of a row, NaN where it is missing."""
        value = plain(self.flat[name].iloc[at])
        return math.nan if value is None else float(value)

    def key(self, at: int, names: Iterable[str]) -> list[Any]:
        """The values of some columns in a row."""
        return [plain(self.flat[name].iloc[at]) for name in names]

    def text(self, at: int, name: str) -> str | None:
        """A column of words beside the numbers."""
        names = [str(each) for each in self.flat.columns]
        names = [each for each in names if each == name or each.endswith(f"_{name}")]
        value = plain(self.flat[names[0]].iloc[at]) if names else None
        return None if value is None else str(value)

    def tests(self, rows: Iterable[int] | None = None) -> dict[int, float]:
        """The p-values of the rows that have one."""
        chosen = range(len(self.flat)) if rows is None else rows
        values = {row: self.number(row, "p") for row in chosen}
        return {row: p for row, p in values.items() if math.isfinite(p)}

    def sums(
        self,
        made: Made | int,
        column: str,
        by: By,
        cluster: str | None,
        rules: Rules | None = None,
        frame: pd.DataFrame | None = None,
        *,
        counts: bool = False,
    ) -> TracedSums:
        """The sums of a column of an input by group and cluster, as traced leaves."""
        source = self.inputs[made] if isinstance(made, int) else made
        key = (id(source), column, str(by), cluster)
        if key not in self.shared:
            self.shared[key] = TracedSums(source, column, by, cluster, rules, frame, counts=counts)
        found: TracedSums = self.shared[key]
        return found

    def selected(self, made: Made, rows: Any, before: Any = None) -> Made:
        """Some rows of an input, all by default; of the window before if it is to be found."""
        key = (id(made), None if rows is None else tuple(map(int, rows)), bool(before))
        if key not in self.shared:
            source: Made = made if rows is None else Picked(made, [*map(int, rows)])
            self.shared[key] = PreviousWindow(source) if before else source
        found: Made = self.shared[key]
        return found

    def facts(
        self,
        name: str,
        values: Any,
        rows: Sequence[Sequence[int]],
        columns: Sequence[str],
        words: Callable[[int], str],
        row: Callable[[int], dict[str, Any]],
        made: Made | int = 0,
    ) -> Traced:
        """Known numbers as a traced vector, each with the rows of an input that it is about."""
        source = self.inputs[made] if isinstance(made, int) else made

        def explained(place: int) -> Explanation:
            cells = tuple(source.explain(int(at), c) for at in rows[place] for c in columns)
            return Explanation(
                plain(values[place]),
                name,
                row(place),
                operation=DRAWN,
                formula=words(place),
                rows=len(rows[place]),
                children=cells,
            )

        return Traced(np.asarray(values, np.float64), LEAF, name=name, cells=explained)

    def place_of(self, node: Traced) -> Callable[[int], Explanation]:
        """What explains the elements of a vector of known numbers: settings."""
        return lambda at: Explanation(plain(node.value[at]), node.name, operation=SETTING)

    def cell(self, name: str, made: Made | int, at: int, column: str) -> Traced:
        """A cell of an input as a traced leaf."""
        source = self.inputs[made] if isinstance(made, int) else made
        cell = source.explain(at, column)
        part = Explanation(
            cell.value, name, cell.row, operation="sum", formula=column, rows=1, children=(cell,)
        )
        return Traced(float(cell.value), LEAF, name=name, cells=lambda _: part)

    def column(self, name: str, made: Made | int, rows: Sequence[int], column: str) -> Traced:
        """Some cells of a column of an input as a traced vector, one each row."""
        source = self.inputs[made] if isinstance(made, int) else made
        values = flattened(source.frame)[column].to_numpy(np.float64, na_value=np.nan)[rows]

        def explained(place: int) -> Explanation:
            cell = source.explain(int(rows[place]), column)
            return Explanation(
                cell.value, name, cell.row, operation="sum", formula=column, children=(cell,)
            )

        return Traced(values, LEAF, name=name, cells=explained)


class Unfolding:
    """Unfolds a traced number into an explanation; what stands in it already is named only."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int | None]] = set()

    def number(self, node: Traced, place: int | None = None) -> Explanation:
        """Explain a number, or the element of a vector at a place."""
        if not node.is_vector:
            place = None
        value = node.value if place is None else node.value[place]
        value = plain(value)
        if node.op == SETTING:
            return Explanation(value, node.name, operation=SETTING)
        if node.op == LEAF and node.cells is not None:
            leaf: Explanation = node.cells(place or 0)
            if leaf.operation == SETTING:
                return leaf
        row = _row(node, place) if place is not None else {}
        if (id(node), place) in self._seen:
            return Explanation(value, node.name, row, operation="above")
        self._seen.add((id(node), place))
        if node.op == LEAF:
            return replace(leaf, column=node.name)
        children = tuple(self._parts(node, place))
        rows = sum(child.rows or 1 for child in children) or None
        if node.op == DRAWN:
            return Explanation(
                value, node.name, operation=DRAWN, formula=node.words, rows=rows, children=children
            )
        numbers = numbers_of(node, place)
        if node.op == TOTAL and node.args[0].name:
            numbers = sum_in_words([float(f"{v:.12g}") for v in node.args[0].value]) or "0"
        formula = f"{words_of(node, place)} = {numbers}"
        return Explanation(
            value,
            node.name,
            row,
            operation="formula",
            formula=formula,
            rows=rows,
            children=children,
        )

    def _parts(self, node: Traced, place: int | None) -> Iterable[Explanation]:
        for part, at in parts_of(node, place):
            if part.is_vector and at is None:
                yield from (self.number(part, each) for each in range(len(part.value)))
            else:
                yield self.number(part, at)


def _row(node: Traced, place: int) -> dict[str, Any]:
    """What identifies an element of a vector: the row of its first leaf."""
    if node.op == LEAF and node.cells is not None:
        return dict(node.cells(place).row)
    if node.op == STACKED:
        rows = [_row(node.args[0], int(at)) for at in np.flatnonzero(node.index == place)[:1]]
        return {name: value for row in rows for name, value in row.items() if name != "day"}
    if node.op == TAKEN:
        place = int(node.index[place])
    vectors = (arg for arg in node.args if isinstance(arg, Traced) and arg.is_vector)
    return next((_row(arg, place) for arg in vectors), {})


class TracedSums:
    """The sums of a column by group and cluster, each explained by the cells in it.

    Parameters
    ----------
    made : Made
        The frame, made again.
    measure, by, cluster, rules
        As of `cluster_sums`.
    frame : pandas.DataFrame, optional
        The frame with further columns.
    counts : bool
        As of `cluster_sums`.
    """

    def __init__(
        self,
        made: Made,
        measure: str,
        by: By,
        cluster: str | None,
        rules: Rules | None = None,
        frame: pd.DataFrame | None = None,
        *,
        counts: bool = False,
    ) -> None:
        self._made, self._cluster = made, cluster
        self.sums = cluster_sums(
            made.frame if frame is None else frame, measure, by, cluster, rules, counts=counts
        )
        self._left = _MOST_ROWS
        self._known: dict[Any, Explanation] = {}
        keys = self.sums.groups.keys
        listed = keys.astype(object).where(keys.notna(), None)
        self._groups = {
            tuple(map(plain, row)): at
            for at, row in enumerate(listed.itertuples(index=False, name=None))
        }

    @property
    def is_rate(self) -> bool:
        """Whether every row counts some of a number."""
        return self.sums.is_rate

    @property
    def is_count(self) -> bool:
        """Whether it adds up a count."""
        return self.sums.is_count

    @property
    def of_rows(self) -> bool:
        """Whether it is a mean over rows."""
        return self.sums.of_rows

    @property
    def is_by_day(self) -> bool:
        """Whether clusters are days."""
        return self.sums.is_by_day

    def group(self, key: Sequence[Any]) -> int:
        """The number of a group."""
        return self._groups[tuple(map(plain, key))]

    def pairs(self, group: int) -> dict[Any, int]:
        """By cluster, the number of its pair with a group."""
        there = np.flatnonzero(self.sums.group == group)
        return {plain(self.sums.labels[self.sums.cluster[at]]): int(at) for at in there}

    def y(self, pairs: Iterable[int], name: str = "y") -> Traced:
        """The numerators of some pairs."""
        return self._vector(self.sums.y, name, pairs, 0)

    def n(self, pairs: Iterable[int], name: str = "n") -> Traced:
        """The denominators of some pairs."""
        return self._vector(self.sums.n, name, pairs, 1)

    def of(self, pairs: Iterable[int], end: str = "") -> tuple[Traced, Traced]:
        """The numerators and denominators of some pairs."""
        chosen = [*pairs]
        return self.y(chosen, f"y{end}"), self.n(chosen, f"n{end}")

    def squares_of(self, pairs: Iterable[int]) -> Traced:
        """The sums of squares over the rows of some pairs."""
        chosen = [*pairs]

        def explained(place: int) -> Explanation:
            count = int((self.sums.pair == chosen[place]).sum())
            words = f"the sum of squares over {count} rows"
            value = float(self.sums.squares[chosen[place]])
            row = self._row(chosen[place])
            return Explanation(value, "squares", row, operation="squares", formula=words)

        return Traced(self.sums.squares[chosen], LEAF, name="squares", cells=explained)

    def labelled(self, name: str, pairs: Iterable[int], values: Any) -> Traced:
        """A known number of each of some pairs, such as its day."""
        chosen = [*pairs]

        def explained(place: int) -> Explanation:
            row = {**self._row(chosen[place]), name: plain(values[place])}
            return Explanation(plain(values[place]), name, row, operation=SETTING)

        return Traced(values, LEAF, name=name, cells=explained)

    def _vector(self, values: Any, name: str, pairs: Iterable[int], which: int) -> Traced:
        chosen = [*pairs]
        return Traced(
            values[chosen], LEAF, name=name, cells=lambda at: self._sum(name, chosen[at], which)
        )

    def _row(self, pair: int) -> dict[str, Any]:
        if self._cluster:
            return {self._cluster: plain(self.sums.labels[self.sums.cluster[pair]])}
        keys = self.sums.groups.keys.iloc[self.sums.group[pair]]
        return {str(name): plain(value) for name, value in keys.items()}

    def _sum(self, name: str, pair: int, which: int) -> Explanation:
        """The numerator (0) or denominator (1) of a pair."""
        if (name, pair, which) not in self._known:
            rows = self.sums.rows[np.flatnonzero(self.sums.pair == pair)].tolist()
            self._known[name, pair, which] = self._added(name, rows, which, self._row(pair))
        return self._known[name, pair, which]

    def _added(self, name: str, rows: list[int], which: int, row: dict[str, Any]) -> Explanation:
        plan = self.sums.plan
        if plan.rule.rule == "sum" and which:
            return Explanation(1, name, row, operation="count", formula="one day", rows=len(rows))
        if plan.rule.by and not which:
            parts = [self._cells(part, rows) for part in plan.parts]
            products = tuple(
                Explanation(
                    value.value * weight.value,
                    "product",
                    value.row,
                    operation="product",
                    formula="value × weight",
                    children=(value, weight),
                )
                for value, weight in zip(*parts, strict=True)
            )
            total = math.fsum(product.value for product in products)
            words = f"sum of {' × '.join(plan.parts)}"
            return Explanation(
                total, name, row, operation="sum", formula=words, rows=len(rows), children=products
            )
        if which and not plan.rule.over and not plan.rule.by:
            words = f"{len(rows)} row{'s' * (len(rows) != 1)} with {plan.parts[0]}"
            return Explanation(
                len(rows),
                name,
                row,
                operation="count",
                formula=words,
                children=self._cells(plan.parts[0], rows),
                end=self._end,
            )
        column = plan.parts[which] if plan.rule.over or which else plan.parts[0]
        values = [plain(self.sums.frame[column].iloc[at]) for at in rows]
        numbers = [float(value) if isinstance(value, bool) else value for value in values]
        total = float(np.sum(np.array(numbers, float)))
        return Explanation(
            int(total) if total.is_integer() else total,
            name,
            row,
            operation="sum",
            formula=f"sum of {column} = {sum_in_words(numbers)}",
            rows=len(rows),
            children=self._cells(column, rows),
            end=self._end,
        )

    @property
    def _end(self) -> str | None:
        return "these are too many rows to list them all here" if self._left < 0 else None

    def _cells(self, column: str, rows: Sequence[int]) -> tuple[Explanation, ...]:
        """The cells of rows, none where they are too many."""
        self._left -= sum((column, at) not in self._known for at in rows)
        if self._left < 0:
            return ()
        for at in rows:
            if (column, at) not in self._known:
                self._known[column, at] = self._made.explain(at, column)
        return tuple(self._known[column, at] for at in rows)


class Picked:
    """Some rows of a frame that was made again.

    Parameters
    ----------
    base : Made
        The frame.
    rows : list of int
        The positions of the rows.
    """

    def __init__(self, base: Made, rows: list[int]) -> None:
        self._base, self._rows = base, rows
        self.frame = base.frame.iloc[rows]
        self.known = base.known

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        return self._base.explain(self._rows[at], column)


class PreviousWindow:
    """Rows of a frame as they were in the window before, as far as its answer says.

    Parameters
    ----------
    base : Made
        The frame.
    """

    def __init__(self, base: Made) -> None:
        self._names = {of: name for name, of in previous_names(base.frame).items()}
        self._base = base
        self.frame = previous_window(base.frame, [*self._names][:1])
        self.known = metadata_of(self.frame)

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        return self._base.explain(at, self._names.get(column, column))
