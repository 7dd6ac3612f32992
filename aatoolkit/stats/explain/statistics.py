"""Results of statistics: each number with the formula that computed it, down to the rows.

The statistic runs once more, and a `Tracer` gives it traced numbers whose leaves are cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.frame.groupby import flattened
from aatoolkit.stats.explain.cells import Made, Result, side_of
from aatoolkit.stats.explain.explanation import Explanation, plain, shown, sum_in_words
from aatoolkit.stats.sums import ClusterSums
from aatoolkit.stats.trace import (
    DRAWN,
    LEAF,
    SETTING,
    STACKED,
    TAKEN,
    TOTAL,
    TRACER,
    Traced,
    numbers_of,
    parts_of,
    plain_value,
    words_of,
)

_MOST_CELLS = 5000
"""The most cells below the numbers of one result that are explained one by one."""

_TOO_MANY = "these are too many rows to list them all here"


class Tracer:
    """What a statistic that runs to be explained takes its numbers from, and leaves them with.

    Parameters
    ----------
    inputs : iterable of Made
        The frames that the statistic is given.
    """

    def __init__(self, inputs: Iterable[Made]) -> None:
        self._frames = {id(made.frame): (made.frame, made.explain) for made in inputs}
        self._cells: dict[Any, Explanation] = {}
        self._numbers: Mapping[str, Any] = {}
        self._order: Any = None

    def __enter__(self) -> Tracer:
        self._token = TRACER.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        TRACER.reset(self._token)

    def derive(
        self, frame: pd.DataFrame, of: pd.DataFrame, rows: Any, names: Mapping[str, str]
    ) -> None:
        """Explain the cells of a frame by those of another."""
        explain = self._frames[id(of)][1]

        def explained(at: int, column: str) -> Explanation:
            return explain(at if rows is None else int(rows[at]), names.get(column, column))

        if frame is not of:
            self._frames[id(frame)] = frame, explained

    def keep(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of the result as plain numbers; the traced ones are kept."""
        columns = [part for column in values.values() for part in _listed(column)]
        if any(isinstance(part, Traced) for part in columns):
            self._numbers, self._order = dict(values), None
        return {
            name: [plain_value(value) for value in column]
            if isinstance(column, list | tuple)
            else plain_value(column)
            for name, column in values.items()
        }

    def reorder(self, rows: Any) -> None:
        """The rows of the result are these of those that were kept."""
        self._order = rows if self._order is None else self._order[rows]

    def number(self, at: int, column: str) -> Explanation | None:
        """Explain the number of a column in a row of the result; None where nothing was kept."""
        node, place = self._numbers.get(column), int(at if self._order is None else self._order[at])
        if isinstance(node, list | tuple):
            node = node[place]
        return Unfolding().number(node, place) if isinstance(node, Traced) else None

    def cell(self, name: str, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain a number that is a cell."""
        return self.rows(name, None, frame, [int(at)], [column], column)

    def rows(
        self,
        name: str,
        value: Any,
        frame: pd.DataFrame,
        rows: Sequence[int],
        columns: Sequence[str],
        words: str,
        row: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Explain a number that some cells give; without a value that of the only one."""
        explain = self._explain(frame)
        cells = tuple(cell for at in rows for column in columns for cell in explain(column, [at]))
        if value is None:
            (cell,) = cells
            value, row = cell.value, cell.row
        return Explanation(
            plain(value),
            name,
            {key: plain(part) for key, part in (row or {}).items()},
            operation=DRAWN,
            formula=words,
            rows=len(rows),
            children=cells,
        )

    def setting(self, name: str, value: Any, row: Mapping[str, Any]) -> Explanation:
        """Explain a number that is no result of any: an argument, the day of a row."""
        row = {key: plain(part) for key, part in row.items()}
        return Explanation(plain(value), name, row, operation=SETTING)

    def squares(self, sums: ClusterSums, pair: int) -> Explanation:
        """Explain the sum of squares of a pair."""
        words = f"the sum of squares over {int((sums.pair == pair).sum())} rows"
        row = {name: plain(value) for name, value in sums.row(pair).items()}
        value = float(sums.squares[pair])
        return Explanation(value, "squares", row, operation="squares", formula=words)

    def total(self, sums: ClusterSums, name: str, pair: int, which: int) -> Explanation:
        """Explain the numerator (0) or denominator (1) of a pair."""
        key = (id(sums), name, pair, which)
        if key not in self._cells:
            rows = sums.rows[np.flatnonzero(sums.pair == pair)].tolist()
            explain = self._explain(sums.frame)
            if sums.is_count and which:
                words, cells = f"one {sums.by_cluster}", explain(sums.plan.parts[0], rows)
                part = Explanation(1, name, operation="count", formula=words, children=cells)
            else:
                part = side_of(sums.plan, sums.frame, which, rows, explain, name)
            part = replace(part, end=_TOO_MANY if rows and not part.children else None)
            row = {key: plain(value) for key, value in sums.row(pair).items()}
            self._cells[key] = replace(part, row=row)
        return self._cells[key]

    def _explain(self, frame: pd.DataFrame) -> Callable[..., tuple[Explanation, ...]]:
        """What explains the cells of a column in some rows; none of too many."""
        explain = self._frames[id(frame)][1]

        def explained(column: str, rows: Iterable[int]) -> tuple[Explanation, ...]:
            keys = [(id(frame), column, int(at)) for at in rows]
            new = [key for key in keys if key not in self._cells]
            if len(self._cells) + len(new) > _MOST_CELLS:
                return ()
            self._cells |= {key: explain(key[2], column) for key in new}
            return tuple(self._cells[key] for key in keys)

        return explained


def _listed(column: Any) -> Sequence[Any]:
    return column if isinstance(column, list | tuple) else [column]


class StatisticCells(Result):
    """Cells that a statistic computed, with what it recorded while it ran again.

    Parameters
    ----------
    verb, frame, inputs, arguments
        As of `Result`.
    tracer : Tracer
        What was recorded.
    """

    def __init__(self, *arguments: Any, tracer: Tracer) -> None:
        super().__init__(*arguments)
        self._tracer = tracer

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        first = self.inputs[0]
        if self.arguments.get("join") and column in flattened(first.frame).columns:
            return first.explain(at, column)
        cell = self.described(at, column)
        words = {name: self._text(at, name) for name in ("method", "verdict", "why")}
        notes = [
            f"{name}: {words[name]}" for name in ("method", "verdict") if words[name] is not None
        ]
        if column == "verdict":
            notes = notes[:1]
        whole = None if cell.value is None else self._tracer.number(at, column)
        if whole is None:
            missing = None
            if cell.value is None:
                missing = words["why"] or words["verdict"] or "it could not be computed"
            return replace(cell, missing=missing, notes=(*cell.notes, *notes))
        end = whole.end
        numbers = all(isinstance(part.value, int | float) for part in (cell, whole))
        if numbers and not math.isclose(cell.value, whole.value, rel_tol=1e-7, abs_tol=1e-12):
            end = f"the formula comes to {shown(whole.value)}, and not to this value"
        return replace(
            whole,
            value=cell.value,
            column=column,
            row=cell.row,
            unit=cell.unit,
            meaning=cell.meaning,
            operation=cell.operation,
            availability=cell.availability,
            notes=(*whole.notes, *notes),
            end=end,
        )

    def _text(self, at: int, name: str) -> str | None:
        """A column of words beside the numbers."""
        names = [str(column) for column in self.flat.columns]
        names = [column for column in names if column == name or column.endswith(f"_{name}")]
        value = plain(self.flat[names[0]].iloc[at]) if names else None
        return None if value is None else str(value)


class Unfolding:
    """Unfolds a traced number into an explanation; what stands in it already is named only."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int | None]] = set()

    def number(self, node: Traced, place: int | None = None) -> Explanation:
        """Explain a number, or the element of a vector at a place."""
        if not node.is_vector:
            place = None
        value = plain(node.value if place is None else node.value[place])
        if node.op == SETTING:
            return Explanation(value, node.name, operation=SETTING)
        leaf: Explanation | None = None
        if node.op == LEAF and node.cells is not None:
            leaf = node.cells(place or 0)
        if leaf is not None and leaf.operation == SETTING:
            return leaf
        row = _row(node, place) if place is not None else {}
        if (id(node), place) in self._seen:
            return Explanation(value, node.name, row, operation="above")
        self._seen.add((id(node), place))
        if leaf is not None:
            return replace(leaf, column=node.name)
        children = tuple(self._parts(node, place))
        rows = sum(child.rows or 1 for child in children) or None
        formula = node.words
        if node.op != DRAWN:
            numbers = numbers_of(node, place)
            if node.op == TOTAL and node.args[0].name:
                numbers = sum_in_words([float(f"{v:.12g}") for v in node.args[0].value]) or "0"
            formula = f"{words_of(node, place)} = {numbers}"
        return Explanation(
            value,
            node.name,
            row,
            operation=DRAWN if node.op == DRAWN else "formula",
            formula=formula,
            rows=rows,
            children=children,
        )

    def _parts(self, node: Traced, place: int | None) -> Iterable[Explanation]:
        for part, at in parts_of(node, place):
            if part.is_vector and at is None:
                yield from (self.number(part, element) for element in range(len(part.value)))
            else:
                yield self.number(part, at)


def _row(node: Traced, place: int) -> dict[str, Any]:
    """What identifies an element of a vector: its group, or the row of its first leaf."""
    if node.op == LEAF:
        return {} if node.cells is None else dict(node.cells(place).row)
    if node.cells is not None:
        return {name: plain(value) for name, value in node.cells(place).items()}
    if node.op == STACKED:
        rows = [_row(node.args[0], int(at)) for at in np.flatnonzero(node.index == place)[:1]]
        return {name: value for row in rows for name, value in row.items() if name != "day"}
    if node.op == TAKEN:
        place = int(node.index[place])
    vectors = (arg for arg in node.args if isinstance(arg, Traced) and arg.is_vector)
    return next((_row(arg, place) for arg in vectors), {})
