"""Cells of aggregates: the rows that entered, those that did not, and the formula with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from aatoolkit.frame.aggregate import cells_of_plan, coverage_of, with_flags
from aatoolkit.frame.aggregation_plan import Plan, plan
from aatoolkit.frame.cell_status import CAUSE, COVERAGE, REASON, ROW, Cells
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Result, View, row_of
from aatoolkit.frame.explain.passing import positions
from aatoolkit.frame.explain.text import plain, shown, sum_in_words
from aatoolkit.frame.groupby import Groups, flattened, group
from aatoolkit.frame.periods import PartPeriod, part_periods
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of

_WORDS = {"min": "the smallest", "max": "the largest", "first": "the first", "last": "the last"}


class AggregateCells(Result):
    """Cells that are aggregates of the rows of their groups."""

    @cached_property
    def _flat(self) -> pd.DataFrame:
        return flattened(self.inputs[0].frame)

    @cached_property
    def _metadata(self) -> FrameMetadata:
        return metadata_of(self._flat)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the rows."""
        return group(self._flat, self.arguments.get("by"), self.arguments.get("observed", True))

    @cached_property
    def _parts(self) -> list[PartPeriod | None]:
        return part_periods(self._flat, self.arguments.get("by"), self.groups, self._metadata)

    @cached_property
    def _plans(self) -> dict[str, Plan]:
        rules = self.arguments.get("rules") or {}
        columns = self.arguments.get("columns")
        rules = with_flags(self._flat, self._metadata, columns, rules)
        planned = plan(self._flat, self._metadata, self.groups, columns, rules, shares=True)
        return {each.column: each for each in planned}

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        found = self.described(at, column)
        rows = positions(self.groups.ids == at)
        if column in self.groups.keys.columns:
            note = f"the {len(rows)} rows of the group have it in common"
            return replace(found, rows=len(rows), notes=(note,))
        if column in self._plans:
            return self._aggregate(found, at, self._plans[column], rows)
        measure, ending = _beside(column, self._plans)
        if measure is None:
            each = [self.inputs[0].explain(row, column) for row in rows[-1:]]
            words = "of the rows of its group"
            return replace(found, rows=len(rows), children=(*each,), notes=(words,))
        inner = self._aggregate(self.described(at, measure), at, self._plans[measure], rows)
        if ending == COVERAGE:
            used, could = self._counts(at, self._plans[measure])
            formula = f"{shown(used)} rows used of {could} to which {measure} applies"
            part = self._parts[at]
            if part is not None:
                formula = f"({formula}) × ({part})"
            return replace(found, rows=len(rows), formula=formula, children=(inner,))
        return replace(found, rows=len(rows), children=(inner,), notes=(f"of {measure}",))

    def _cells(self, planned: Plan) -> Cells:
        if planned.column not in self._known_cells:
            self._known_cells[planned.column] = cells_of_plan(
                planned, self._flat, self._metadata, self.groups
            )
        return self._known_cells[planned.column]

    @cached_property
    def _known_cells(self) -> dict[str, Cells]:
        return {}

    def _counts(self, at: int, planned: Plan) -> tuple[float, int]:
        cells = self._cells(planned)
        covered = float(coverage_of(planned, self._flat, cells, self.groups)[at])
        used = int(covered) if covered.is_integer() else covered
        return used, int(self.groups.count(cells.applicable)[at])

    def _aggregate(
        self, found: Explanation, at: int, planned: Plan, rows: list[int]
    ) -> Explanation:
        cells = self._cells(planned)
        used = [row for row in rows if cells.given[row]]
        left = [row for row in rows if not cells.given[row]]
        states = Counter(str(cells.states[int(cells.codes[row])]) for row in left)
        notes = [
            f"{count} row{'s' * (count > 1)} left out: {state}" for state, count in states.items()
        ]
        if planned.rule.why:
            notes.append(planned.rule.why)
        wholes = used
        if planned.wholes is not None:
            groups, firsts = planned.wholes.kept(cells.given, self.groups.ids)
            wholes = firsts[groups == at].tolist()
        formula, children = self._formula(planned, used, wholes)
        missing = None
        if found.value is None:
            formula = formula if used and not left else None
            missing = _why_missing(planned, used, left, states)
            children = (*children, *self._each(planned.parts[0], left))
        notes += [
            f"grouped by {name}, which a plain pandas step set"
            for name in map(str, self.groups.keys.columns)
            if isinstance(self.inputs[0], View) and self.inputs[0].has_set(name)
        ]
        return replace(
            found,
            formula=formula,
            rows=len(used),
            children=children,
            missing=missing,
            notes=(*found.notes, *notes),
        )

    def _each(self, part: str, rows: Sequence[int]) -> tuple[Explanation, ...]:
        return tuple(self.inputs[0].explain(row, part) for row in rows)

    def _numbers(self, part: str, rows: Sequence[int]) -> list[object]:
        return [plain(self._flat[part].iloc[row]) for row in rows]

    def _formula(
        self, planned: Plan, rows: list[int], wholes: list[int]
    ) -> tuple[str | None, tuple[Explanation, ...]]:
        """The formula with its numbers, and what it was made of."""
        rule, parts = planned.rule, planned.parts
        n = f"{len(rows)} row{'s' * (len(rows) != 1)}"
        if rule.rule == "sum":
            values = self._numbers(parts[0], rows)
            return f"sum over {n}: {sum_in_words(values)}", self._each(parts[0], rows)
        if rule.over:
            above, below = self._sum(parts[0], rows), self._sum(parts[1], wholes)
            answers = f" over {len(wholes)} answers" if planned.wholes is not None else ""
            words = f"sum of {parts[0]} / sum of {parts[1]}{answers} over {n}"
            return f"{words} = {shown(above.value)} / {shown(below.value)}", (above, below)
        if rule.by:
            return self._weighted(parts[0], parts[1], rows)
        values = self._numbers(parts[0], rows)
        if rule.rule == "mean":
            return f"mean over {n}: ({sum_in_words(values)}) / {len(rows)}", self._each(
                parts[0], rows
            )
        return f"{_WORDS.get(rule.rule, rule.rule)} of {n}", self._each(parts[0], rows)

    def _sum(self, part: str, rows: list[int]) -> Explanation:
        """The sum of one column over rows, as a part of a formula."""
        values = self._numbers(part, rows)
        return Explanation(
            _total(values),
            f"sum of {part}",
            operation="sum",
            formula=sum_in_words(values),
            rows=len(rows),
            children=self._each(part, rows),
        )

    def _weighted(
        self, part: str, weight: str, rows: list[int]
    ) -> tuple[str, tuple[Explanation, ...]]:
        values, weights = self._numbers(part, rows), self._numbers(weight, rows)
        products = [_product(*pair) for pair in zip(values, weights, strict=True)]
        above, below = _total(products), _total(weights)
        children = tuple(
            Explanation(
                product,
                f"{part} times {weight}",
                row_of(self._metadata, self._flat, row),
                operation="product",
                formula=f"{shown(value)} × {shown(by)}",
                children=(*self._each(part, [row]), *self._each(weight, [row])),
            )
            for product, value, by, row in zip(products, values, weights, rows, strict=True)
        )
        words = f"sum of {part} × {weight} / sum of {weight} over {len(rows)} rows"
        return f"{words} = {shown(above)} / {shown(below)}", children


def _beside(column: str, plans: dict[str, Plan]) -> tuple[str | None, str]:
    """The measure that a column describes, and how."""
    for ending in (COVERAGE, f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", f"_{ROW}"):
        if column.endswith(ending) and column.removesuffix(ending) in plans:
            return column.removesuffix(ending), ending
    return None, ""


def _why_missing(planned: Plan, used: list[int], left: list[int], states: Counter[str]) -> str:
    if not used and not left:
        return "no row is in this group"
    if used and not left:
        return "its denominator is 0, and there is no rate of nothing"
    why = "; ".join(states)
    if not used:
        return f"none of its {len(left)} rows has a number: {why}"
    count = f"{len(left)} of its {len(used) + len(left)} rows"
    return f"{count} have no number ({why}); skip_missing=True leaves them out"


def _total(values: Sequence[object]) -> float | int:
    numbers = [value for value in values if isinstance(value, int | float)]
    whole = all(isinstance(value, int) for value in numbers)
    return sum(numbers) if whole else float(np.sum(np.array(numbers, float)))


def _product(value: object, weight: object) -> float | int | None:
    if isinstance(value, int | float) and isinstance(weight, int | float):
        return value * weight
    return None
