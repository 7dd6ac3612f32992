"""Verbs that take cells over as they are: merge, concat, rename, adopt, complete, to_long …."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from aatoolkit.frame.cell_status import is_status_column
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Result
from aatoolkit.frame.groupby import flattened
from aatoolkit.frame.merge import columns_after

_LEFT, _RIGHT = "_aatoolkit_left", "_aatoolkit_right"


class SameCells(Result):
    """Cells of a verb that changes no cell: `adopt`."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        return self.inputs[0].explain(at, column)


class RenamedCells(Result):
    """Cells under new names."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        names = {new: old for old, new in self.arguments["names"].items()}
        old = names.get(column, column)
        return self.passed(self.inputs[0].explain(at, old), at, column, "by rename")


class ContextCells(Result):
    """Cells beside columns that say where rows come from."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        before = flattened(self.inputs[0].frame)
        if column in before.columns:
            return self.inputs[0].explain(at, column)
        found = self.described(at, column)
        if self.verb == "with_constant":
            return replace(found, notes=("the same in all rows of its frame",))
        return replace(found, notes=("from the request that was sent, or the window it answers",))


class ConcatCells(Result):
    """Cells of frames one after the other."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        ends = np.cumsum([len(each.frame) for each in self.inputs])
        number = int(np.searchsorted(ends, at, side="right"))
        there = at - int(ends[number] - len(self.inputs[number].frame))
        of = f"by concat: row {there + 1} of frame {number + 1} of {len(self.inputs)}"
        if column not in flattened(self.inputs[number].frame).columns:
            found = self.described(at, column)
            if column in self.frame.columns:
                return replace(found, missing="its frame has no such column", notes=(of,))
            return replace(found, notes=(of,), end="it is a label that concat was given")
        return self.passed(self.inputs[number].explain(there, column), at, column, of)


class MergeCells(Result):
    """Cells of two frames side by side."""

    @cached_property
    def _numbered(self) -> pd.DataFrame:
        left, right = (
            each.frame.assign(**{name: range(len(each.frame))})
            for each, name in zip(self.inputs, (_LEFT, _RIGHT), strict=True)
        )
        options = {k: v for k, v in self.arguments.items() if k not in ("left", "right")}
        return left.merge(right, **options)

    @cached_property
    def _names(self) -> list[dict[str, list[str]]]:
        """For each side, by name in the result, its columns of that name."""
        options = {k: v for k, v in self.arguments.items() if k not in ("left", "right")}
        found: list[dict[str, list[str]]] = []
        for names in columns_after(self.inputs[0].frame, self.inputs[1].frame, options):
            by_new: dict[str, list[str]] = {}
            for old, new in names.items():
                by_new.setdefault(new, []).append(old)
            found.append(by_new)
        return found

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        rows = [self._numbered[name].iloc[at] for name in (_LEFT, _RIGHT)]
        sides = [side for side in (0, 1) if column in self._names[side]]
        for side in sides:
            if not pd.isna(rows[side]):
                word = ("left", "right")[side]
                there = int(rows[side])
                other = "" if not pd.isna(rows[1 - side]) else "; the other side has no match"
                note = f"by merge: from the {word} frame, its row {there + 1}{other}"
                found = self.inputs[side].explain(there, self._names[side][column][0])
                return self.passed(found, at, column, note)
        found = self.described(at, column)
        if sides:
            word = ("left", "right")[sides[0]]
            return replace(found, missing=f"no row of the {word} frame matches this one")
        return replace(found, notes=("by merge: which of the sides has the row",))


class CompleteCells(Result):
    """Cells of rows that were reported, and rows that were added because they were not."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        before = flattened(self.inputs[0].frame)
        if at < len(before) and column in before.columns:
            return self.inputs[0].explain(at, column)
        found = self.described(at, column)
        if at < len(before):
            return replace(found, notes=("by complete: the row was reported",))
        note = "by complete: this row was added, as no answer has one for it"
        if found.value is None and not is_status_column(self.frame, column):
            return replace(found, missing="no answer has this row", notes=(note,))
        return replace(found, notes=(note,))


class LongCells(Result):
    """Cells one below the other."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        before = flattened(self.inputs[0].frame)
        there = at % max(len(before), 1)
        measure = str(self.frame["variable"].iloc[at])
        if column == "value":
            note = f"by to_long: {measure} in row {there + 1}"
            found = self.inputs[0].explain(there, measure)
            return replace(self.passed(found, at, column, note), column=f"value of {measure}")
        if column in ("variable", "unit") or is_status_column(self.frame, column):
            note = f"by to_long: what is known of {measure} in row {there + 1}"
            return replace(self.described(at, column), notes=(note,))
        old = column if column in before.columns else column.removesuffix("_")
        return self.passed(self.inputs[0].explain(there, old), at, column, "by to_long")


def positions(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[int]:
    """The positions where a mask is true."""
    found: list[int] = np.flatnonzero(mask).tolist()
    return found
