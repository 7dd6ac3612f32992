"""Cells of statistics: their formulas, and what they were computed from, on each side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import AAToolkitError
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.explain.aggregates import AggregateCells
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made, Result
from aatoolkit.frame.explain.rows import matching, same
from aatoolkit.frame.explain.text import plain, shown
from aatoolkit.frame.groupby import flattened

_SIDES = {"now": ("after", "now"), "before": ("before",)}
_MOST_ROWS = 500
"""The most rows of one side that are explained one by one."""


class StatisticsCells(Result):
    """Cells that a statistic was computed from the rows of a group, on one side or two."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        first = flattened(self.inputs[0].frame)
        if self.arguments.get("join") and column in first.columns:
            return self.inputs[0].explain(at, column)
        found = self.described(at, column)
        method, verdict = self.text(at, "method"), self.text(at, "verdict")
        notes = [f"method: {method}"] if method else []
        notes += [f"verdict: {verdict}"] if verdict and column != "verdict" else []
        whole = None if found.value is None else self._formula(at, column)
        if whole is not None:
            return self._with_formula(found, whole, notes)
        why = self.text(at, "why")
        missing = (why or verdict or "it could not be computed") if found.value is None else None
        children = (*self._parts(at, column),)
        return replace(
            found,
            formula=None if found.value is None else self._in_words(),
            rows=sum(child.rows or 1 for child in children) or None,
            missing=missing,
            notes=(*found.notes, *notes),
            children=children,
        )

    def _formula(self, at: int, column: str) -> Explanation | None:
        """The formula of a number; None where its parts do not give one."""
        try:
            return self.formula(at, column)
        except (AAToolkitError, ArithmeticError, LookupError, TypeError, ValueError):
            return None

    def formula(self, at: int, column: str) -> Explanation | None:
        """A number with its formula, and the numbers in it; None where the rows have to do."""
        return None

    def _with_formula(
        self, found: Explanation, whole: Explanation, notes: Sequence[str]
    ) -> Explanation:
        """A cell with the formula that was found for it; one that gives another value is named."""
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

    @cached_property
    def flat(self) -> pd.DataFrame:
        """The result, with the levels of its index as columns."""
        return flattened(self.frame)

    def number(self, at: int, name: str) -> float:
        """A number of a row, NaN where it is missing."""
        value = plain(self.flat[name].iloc[at])
        return math.nan if value is None else float(value)

    def side(self, name: str) -> Made:
        """The frame that was given for an argument."""
        names = [
            each for each in ("now", "before", "frame", "series", "rows") if each in self.arguments
        ]
        return self.inputs[names.index(name)]

    @cached_property
    def known_parts(self) -> dict[Any, Any]:
        """Return the parts that the formulas of several cells share."""
        return {}

    def text(self, at: int, name: str) -> str | None:
        """A column of words beside the numbers."""
        names = [str(each) for each in self.flat.columns]
        names = [each for each in names if each == name or each.endswith(f"_{name}")]
        value = plain(self.flat[names[0]].iloc[at]) if names else None
        return None if value is None else str(value)

    def _in_words(self) -> str:
        settings = {
            name: given
            for name, given in self.arguments.items()
            if isinstance(given, str | int | float) and name not in ("join",)
        }
        words = ", ".join(f"{name}={given!r}" for name, given in settings.items())
        return f"{self.verb}({words}) over the rows below"

    def _parts(self, at: int, column: str) -> Iterator[Explanation]:
        """Return the parts of a cell: the aggregate of each side, or its rows."""
        names = [name for name in ("now", "before", "frame") if name in self.arguments]
        for name, made in zip(names, self.inputs, strict=False):
            one_side = "before" in names and column in ("before", "after")
            if one_side and column not in _SIDES[name]:
                continue
            yield from self._rows_of_side(at, name, made)

    def _rows_of_side(self, at: int, name: str, made: Made) -> Iterator[Explanation]:
        flat, measure = self.flat, self.measure(at)
        label = {"now": "after", "before": "before"}.get(name, measure)
        inside = flattened(made.frame)
        rows = self._group_rows(at, flat, inside)
        if self.arguments.get("cluster") is None and self.verb == "interval":
            rows = [at]
        if measure not in inside.columns:
            yield Explanation(None, label, end=f"the {name} frame has no column {measure}")
            return
        whole = self._aggregated(made, rows, measure)
        if whole is not None:
            shown_value = plain(flat[label].iloc[at]) if label in flat.columns else whole.value
            note: tuple[str, ...] = ()
            if not same(shown_value, whole.value):
                note = (
                    f"{self.verb} uses {shown(shown_value)}, as it leaves out rows that have no "
                    "counterpart, or weights them otherwise",
                )
            yield replace(whole, column=label, notes=(*whole.notes, *note))
            return
        kept = rows[:_MOST_ROWS]
        yield Explanation(
            None,
            label,
            operation="rows",
            rows=len(rows),
            notes=(
                f"{len(rows)} rows",
                *((f"{len(kept)} of them shown",) * (len(kept) < len(rows))),
            ),
            children=tuple(made.explain(row, measure) for row in kept),
        )

    def measure(self, at: int) -> str:
        """The column that a row is about."""
        flat = self.flat
        given = self.arguments.get("columns", self.arguments.get("column"))
        if isinstance(given, list):
            return str(flat["measure"].iloc[at]) if "measure" in flat.columns else str(given[0])
        return str(given)

    @cached_property
    def _keys(self) -> list[str]:
        by = self.arguments.get("by")
        listed = [by] if isinstance(by, str) else [*(by or ())]
        names = [name for name in listed if isinstance(name, str)]
        return [name for name in names if name in flattened(self.frame).columns]

    def _group_rows(self, at: int, flat: pd.DataFrame, inside: pd.DataFrame) -> list[int]:
        """The rows of an input that the row was computed from: those of its group."""
        mask = np.ones(len(inside), bool)
        for name in self._keys:
            if name in inside.columns:
                mask &= matching(inside[name], plain(flat[name].iloc[at]))
        found: list[int] = np.flatnonzero(mask).tolist()
        return found

    def _aggregated(self, made: Made, rows: list[int], measure: str) -> Explanation | None:
        """The rows of a side as one number, by the measure's own rule; None where it has none."""
        part = PickedRows(made, rows)
        rules = self.arguments.get("rules") or {}
        given = {"by": None, "columns": measure, "rules": rules, "observed": True}
        try:
            whole = aggregate(part.frame, skip_missing=False, **given)  # type: ignore[arg-type]
            return AggregateCells("aggregate", whole, [part], given).explain(0, measure)
        except (AAToolkitError, LookupError):
            return None


def drawn(name: str, value: float, words: str, *parts: Explanation) -> Explanation:
    """A number that comes from random draws, whose seed the words give."""
    return Explanation(value, name, operation="drawn", formula=words, children=parts)


class PickedRows:
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
