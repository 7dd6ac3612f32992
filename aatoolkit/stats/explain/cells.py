"""Frames that are made again, each of whose cells can be explained.

In reading order: `View`, what plain pandas left of a frame; `Result`, the result of a verb, with a
function for each verb that takes cells over; `AggregateCells`; `ArchivedCells`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

import numpy as np
import pandas as pd

from aatoolkit._util.text import counted
from aatoolkit.frame.aggregate import PlannedCells, planned_of
from aatoolkit.frame.aggregation_plan import Plan
from aatoolkit.frame.cell_status import cells_of, is_status_column
from aatoolkit.frame.groupby import as_floats, flattened
from aatoolkit.frame.merge import columns_after
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import load_rows, load_values
from aatoolkit.stats.explain.explanation import (
    Explanation,
    in_words,
    matching,
    plain,
    same,
    sum_in_words,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, TrailEnd


class Replayed(Protocol):
    """A replayed frame that can explain its cells."""

    frame: pd.DataFrame
    metadata: FrameMetadata

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column, or index level, in a row, by position."""


def described(frame: pd.DataFrame, metadata: FrameMetadata, at: int, column: str) -> Explanation:
    """Explain a cell by the metadata of its frame, without how it was made."""
    of = metadata.columns.get(column)
    what = None if of is None else declared(of)
    row = pd.DataFrame(frame).iloc[[at]]  # without attrs, which it would copy
    cells = None if of is None else cells_of(row, column, metadata)
    return Explanation(
        plain(row[column].iloc[0]),
        column,
        {name: plain(row[name].iloc[0]) for name in metadata.key if name in row.columns},
        unit=what.unit if what else None,
        meaning=(what.doc or None) if what else None,
        availability=str(cells.states[int(cells.codes[0])]) if cells else None,
    )


class View:
    """A replayed frame with plain pandas steps: rows taken, columns dropped or set, an index.

    Parameters
    ----------
    base : Replayed or None
        What it was made of; None where that is not known.
    changes : mapping
        The changes that a recipe records.
    foreign : str
        Why it is not known.

    Raises
    ------
    TrailEnd
        If it is not known which rows were taken.
    """

    frame: pd.DataFrame
    metadata: FrameMetadata

    def __init__(
        self, base: Replayed | None, changes: Mapping[str, Any], foreign: str = ""
    ) -> None:
        self._base, self._foreign = base, foreign
        self._unknown = changes.get("unknown", ())
        if "lost" in changes or (base is None and self._unknown):
            raise TrailEnd(changes.get("lost", f"{foreign}; it is too large to be carried along"))
        self.set = {name: load_values(body) for name, body in changes.get("values", {}).items()}
        if base is None:
            frame = pd.DataFrame(index=range(changes.get("size", 0)))
        else:
            frame = flattened(base.frame)
        if isinstance(base, View):
            # Between two views the metadata was attached anew, of the rows as they were then.
            frame = attach(frame.copy(deep=False), base.metadata)
        self._rows = np.arange(len(frame))
        if "rows" in changes:
            self._rows = load_rows(changes["rows"])
            frame = frame.iloc[self._rows]
        index, kept = changes.get("index"), changes.get("columns", frame.columns)
        if index == "range":
            frame = frame.reset_index(drop=True)
        frame = frame[[n for n in kept if n in frame.columns and n not in self._unknown]]
        if self.set:
            frame = frame.assign(
                **{n: cells.set_axis(frame.index) for n, cells in self.set.items()}
            )
        if isinstance(index, list) and any(index):
            frame = frame.set_index([name for name in index if name])
        self.frame, self.metadata = frame, metadata_of(frame)

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        if column not in self.set and column not in self._unknown and self._base is not None:
            return self._base.explain(int(self._rows[at]), column)
        cell = described(flattened(self.frame), self.metadata, at, column)
        why = self._foreign or f"{column} was set by a plain pandas step"
        return Explanation(cell.value, column, cell.row, end=why)


class Result:
    """The replayed result of a verb.

    Parameters
    ----------
    verb : str
        Its name.
    frame : pandas.DataFrame
        The result.
    inputs : sequence of Replayed
        The frames that went into it.
    arguments : mapping
        Its arguments.
    """

    def __init__(
        self,
        verb: str,
        frame: pd.DataFrame,
        inputs: Sequence[Replayed],
        arguments: Mapping[str, Any],
    ) -> None:
        self.verb, self.frame, self.inputs, self.arguments = verb, frame, inputs, arguments
        self.metadata = metadata_of(frame, levels=True)
        self.flat = flattened(frame)

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        return CELLS_OF[self.verb](self, at, column)

    @cached_property
    def first(self) -> pd.DataFrame:
        """The first frame that went into it, with the levels of its index as columns."""
        return flattened(self.inputs[0].frame)

    @cached_property
    def sides(self) -> list[tuple[str, Replayed, pd.Series, dict[str, str]]]:
        """Both sides of a merge: name, frame, the row behind each result row, its column names."""
        options = {n: v for n, v in self.arguments.items() if n not in ("left", "right")}
        left, right = (replayed.frame for replayed in self.inputs)
        merged = left.assign(_left=range(len(left))).merge(
            right.assign(_right=range(len(right))), **options
        )
        names = [
            {new: old for old, new in reversed(after.items())}
            for after in columns_after(left, right, options)
        ]
        rows = (merged["_left"], merged["_right"])
        return [*zip(("left", "right"), self.inputs, rows, names, strict=True)]

    def described(self, at: int, column: str, *notes: str, **facts: Any) -> Explanation:
        """Explain a cell by its metadata, without how it was made."""
        cell = described(self.flat, self.metadata, at, column)
        return replace(cell, operation=self.verb, notes=notes, **facts)

    def taken(self, cell: Explanation, at: int, column: str, note: str) -> Explanation:
        """Explain a cell by that of an input of which it is a copy."""
        row = self.described(at, column).row or cell.row
        renamed = (f"{column} was {cell.column} before",) if column != cell.column else ()
        return replace(cell, column=column, row=row, notes=(*cell.notes, note, *renamed))


def _renamed(result: Result, at: int, column: str) -> Explanation:
    names = {new: old for old, new in result.arguments["names"].items()}
    cell = result.inputs[0].explain(at, names.get(column, column))
    return result.taken(cell, at, column, "by rename")


def _beside(result: Result, at: int, column: str) -> Explanation:
    """Explain a cell that the verb left as it was, or is in a row or column that it added."""
    is_added = at >= len(result.first)
    if column in result.first.columns and not is_added:
        return result.inputs[0].explain(at, column)
    cell = result.described(at, column, _ADDED[is_added or result.verb])
    is_lacking = is_added and cell.value is None and not is_status_column(result.frame, column)
    return replace(cell, missing="no response has this row") if is_lacking else cell


_ADDED = {
    "with_context": "from the request that was sent, or the window it is of",
    "with_constant": "the same in all rows of its frame",
    "complete": "by complete: the row was reported",
    True: "by complete: this row was added, as no response has one for it",
}


def _stacked(result: Result, at: int, column: str) -> Explanation:
    ends = np.cumsum([len(replayed.frame) for replayed in result.inputs])
    number = int(np.searchsorted(ends, at, side="right"))
    replayed = result.inputs[number]
    source_row = at - int(ends[number] - len(replayed.frame))
    note = f"by concat: row {source_row + 1} of frame {number + 1} of {len(result.inputs)}"
    if column in flattened(replayed.frame).columns:
        return result.taken(replayed.explain(source_row, column), at, column, note)
    if column in result.frame.columns:
        return result.described(at, column, note, missing="its frame has no such column")
    return result.described(at, column, note, end="it is a label that concat was given")


def _merged(result: Result, at: int, column: str) -> Explanation:
    lacking = [side for side, _, rows, _ in result.sides if pd.isna(rows.iloc[at])]
    sides = [side for side in result.sides if column in side[-1]]
    for side, replayed, rows, names in sides:
        if side not in lacking:
            source_row = int(rows.iloc[at])
            note = f"by merge: from the {side} frame, its row {source_row + 1}"
            note += "; the other side has no match" * bool(lacking)
            return result.taken(replayed.explain(source_row, names[column]), at, column, note)
    if sides:
        why = f"no row of the {sides[0][0]} frame matches this one"
        return result.described(at, column, missing=why)
    return result.described(at, column, "by merge: which of the sides has the row")


def _long(result: Result, at: int, column: str) -> Explanation:
    source_row = at % max(len(result.first), 1)
    measure = str(result.frame["variable"].iloc[at])
    note = f"by to_long: {measure} in row {source_row + 1}"
    if column == "value":
        cell = result.taken(result.inputs[0].explain(source_row, measure), at, column, note)
        return replace(cell, column=f"value of {measure}")
    if column in ("variable", "unit") or is_status_column(result.frame, column):
        return result.described(at, column, note)
    old = column if column in result.first.columns else column.removesuffix("_")
    return result.taken(result.inputs[0].explain(source_row, old), at, column, note)


def _answers(result: Result, at: int, column: str) -> Explanation:
    """Explain a cell of ``answers``: the rows of chats, mentions and citations behind it."""
    chats, mentions, citations = result.inputs
    brand, chat = result.arguments.get("brand"), result.frame["chat_id"].iloc[at]
    replayed, name, missing = {
        "date": (chats, "ran_at", ""),
        "cited": (citations, "domain_type", "nothing says of any citation whose page it is"),
    }.get(column, (mentions, "brand" if brand else "own", "it does not mention the brand"))

    def rows_of(replayed: Replayed) -> Any:
        return np.flatnonzero(replayed.frame["chat_id"].eq(chat).fillna(False).to_numpy(bool))

    (row,), rows = rows_of(chats).tolist(), rows_of(replayed)
    if column in chats.frame.columns:
        return result.taken(chats.explain(row, column), at, column, "of the answer")
    cell = result.described(at, column)
    if column == "brand":
        return replace(cell, formula="the brand that was asked for, else the own ones")
    if column == "position":
        named = replayed.frame[name].eq(brand or True).fillna(False)
        if named.iloc[rows].any():
            rows, name = rows[named.iloc[rows].to_numpy(bool)], column
    children = tuple(replayed.explain(int(position), name) for position in rows)
    is_missing = cell.value is None
    return replace(
        cell,
        formula=None if is_missing else f"by {name}, of {len(rows)} rows",
        missing=missing if is_missing else None,
        rows=len(rows),
        children=children or (chats.explain(row, "chat_id"),),
    )


CELLS_OF: dict[str, Callable[[Result, int, str], Explanation]] = {
    "merge": _merged,
    "concat": _stacked,
    "rename": _renamed,
    "to_long": _long,
    "answers": _answers,
    **dict.fromkeys(("adopt", "complete", "with_context", "with_constant"), _beside),
}
"""By verb: what explains a column in the row at a position of its result."""


def side_of(
    plan: Plan, frame: pd.DataFrame, which: int, rows: Sequence[int], explain: Any, name: str = ""
) -> Explanation:
    """The numerator (0) or denominator (1) of what a rule adds up over rows, with their cells."""
    columns, rule = plan.parts, plan.rule
    if which and not rule.over and not rule.by:
        words = f"{counted(len(rows), 'row')} with {columns[0]}"
        cells = explain(columns[0], rows)
        return Explanation(
            len(rows), name or "rows", operation="count", formula=words, children=cells
        )
    column = columns[which]
    numbers = as_floats(frame[column])[rows]
    children = explain(column, rows)
    if rule.by and not which:
        children = tuple(
            Explanation(
                value.value * weight.value,
                f"{columns[0]} × {columns[1]}",
                value.row,
                operation="product",
                formula=f"{in_words(value.value)} × {in_words(weight.value)}",
                children=(value, weight),
            )
            for value, weight in zip(children, explain(columns[1], rows), strict=False)
        )
        numbers = numbers * as_floats(frame[columns[1]])[rows]
        column = " × ".join(columns)
    values = [int(value) if value.is_integer() else value for value in numbers.tolist()]
    total = float(np.sum(numbers))
    return Explanation(
        int(total) if total.is_integer() else total,
        name or f"sum of {column}",
        operation="sum",
        formula=f"sum of {column} = {sum_in_words(values)}",
        rows=len(rows),
        children=children,
    )


_WORDS = {"min": "the smallest", "max": "the largest", "first": "the first", "last": "the last"}


class AggregateCells(Result):
    """Cells that are aggregates of the rows of their groups."""

    @cached_property
    def _planned(self) -> dict[str, PlannedCells]:
        names = ("by", "columns", "rules", "observed")
        options = {name: self.arguments.get(name) for name in names}
        return {cells.plan.column: cells for cells in planned_of(self.first, **options)}

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        groups = next(iter(self._planned.values())).groups
        cell, rows = self.described(at, column), np.flatnonzero(groups.ids == at)
        if column in groups.keys.columns:
            note = f"the {len(rows)} rows of the group have it in common"
            return replace(cell, rows=len(rows), notes=(note,))
        if column in self._planned:
            return self._aggregate(cell, at, self._planned[column], rows)
        measure = next((name for name in self._planned if column.startswith(f"{name}_")), None)
        if measure is not None:
            inner = self.explain(at, measure)
            return replace(cell, rows=len(rows), children=(inner,), notes=(f"of {measure}",))
        last = self._cells(column, rows[-1:])
        return replace(cell, rows=len(rows), children=last, notes=("of the rows of its group",))

    def _cells(self, column: str, rows: Any) -> tuple[Explanation, ...]:
        return tuple(self.inputs[0].explain(int(row), column) for row in rows)

    def _aggregate(
        self, cell: Explanation, at: int, planned: PlannedCells, rows: Any
    ) -> Explanation:
        """Explain a number by its formula with the numbers in it, and the rows left out."""
        plan, cells, rule = planned.plan, planned.cells, planned.plan.rule
        used, left = rows[cells.has_number[rows]].tolist(), rows[~cells.has_number[rows]].tolist()
        count = counted(len(used), "row")
        if rule.rule == "sum":
            above = side_of(plan, self.first, 0, used, self._cells)
            formula = f"sum over {count}: {str(above.formula).partition(' = ')[2]}"
            children = above.children
        elif rule.rule in ("mean", "ratio"):
            responses, below_rows = "", used
            if plan.wholes is not None:
                groups, firsts = plan.wholes.kept(cells.has_number, planned.groups)
                below_rows = firsts[groups == at].tolist()
                responses = f" over {len(below_rows)} responses"
            children = (
                side_of(plan, self.first, 0, used, self._cells),
                side_of(plan, self.first, 1, below_rows, self._cells),
            )
            names, values = (
                " / ".join(str(part) for part in parts)
                for parts in zip(*((c.column, in_words(c.value)) for c in children), strict=True)
            )
            formula = f"{names}{responses} over {count} = {values}"
        else:
            formula = f"{_WORDS.get(rule.rule, rule.rule)} of {count}"
            children = self._cells(plan.parts[0], used)
        reasons = pd.Series(
            [str(cells.states[int(cells.codes[row])]) for row in left], dtype=object
        )
        if rule.over:
            is_zero = (as_floats(self.first[plan.parts[1]]) == 0) & cells.applicable
            reasons[is_zero[left]] = f"{plan.parts[1]} is 0, and it is " + reasons
        states = Counter(reasons)
        notes = [f"{counted(many, 'row')} left out: {why}" for why, many in states.items()]
        notes += [rule.why] if rule.why else []
        missing = None
        if cell.value is None:
            missing = "no row is in this group"
            if left:
                missing = f"{len(left)} of its {len(rows)} rows have no number "
                missing += f"({'; '.join(states)})"
                missing += "; skip_missing=True leaves them out" * bool(used)
            elif used:
                missing = "its denominator is 0, and there is no rate of nothing"
            children = (*children, *self._cells(plan.parts[0], left))
        if isinstance(self.inputs[0], View):
            by = {*map(str, planned.groups.keys.columns)} & {*self.inputs[0].set}
            notes += [f"grouped by {name}, which a plain pandas step set" for name in sorted(by)]
        return replace(
            cell,
            formula=None if missing and (left or not used) else formula,
            rows=len(used),
            children=children,
            missing=missing,
            notes=tuple(notes),
        )


_MAX_TRIED = 50
"""The most responses in which the value of a history is looked for."""


class ArchivedCells(Result):
    """Cells of archived rows: each is found in the response that its row names.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame, read again.
    sources : sequence of Source
        The responses it was read from.
    finder : ResponseFinder
        Finds them.
    """

    def __init__(
        self, frame: pd.DataFrame, sources: Sequence[Source], finder: ResponseFinder
    ) -> None:
        super().__init__("read", frame, [], {})
        self._sources, self._finder = sources, finder

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        of = self.metadata.columns[column].of
        if of is None:
            return self.described(at, column, "from the responses in which the row was seen")
        cell, why = self.described(at, column), "the archive names no response for this row"
        table, _, name = of.rpartition(":")[2].partition(".")
        for source in islice(self._responses(at), _MAX_TRIED):
            try:
                response = self._finder.find(source)
            except TrailEnd as end:
                why = str(end)
                continue
            if table not in response.tables:
                continue
            cells = TableCells(response, table)
            rows = self._rows_like(at, table, cells)
            if len(rows) == 1 and same(cells.frame[name].iloc[rows[0]], cell.value):
                return self.taken(cells.explain(rows[0], name), at, column, "kept in the archive")
            why = f"no response at hand has {in_words(cell.value)} in this row"
        return replace(cell, end=why)

    def _responses(self, at: int) -> Any:
        """Yield the responses that a row may be of, the newest first."""
        row = {str(name): plain(value) for name, value in self.frame.iloc[at].items()}
        exact = str(row.get("fetched_at"))[:19]
        last, days = str(row.get("fetched_at") or row["last_seen"])[:19], f"days={row.get('days')}"
        for source in sorted(self._sources, key=lambda s: s.fetched_at or "", reverse=True):
            moment = (source.fetched_at or "")[:19]
            is_its = "fetched_at" not in row or (
                moment == exact and days in ("days=None", *(source.scope or days).split("&"))
            )
            if source.host == row["host"] and moment <= last and is_its:
                yield source

    def _rows_like(self, at: int, table: str, cells: TableCells) -> list[int]:
        """The rows of a response's table that have the key of a row of the frame."""
        names = {
            (what.of or "").rpartition(":")[2]: name for name, what in self.metadata.columns.items()
        }
        mask = np.ones(len(cells.frame), bool)
        for name in cells.metadata.key:
            name_here = names.get(f"{table}.{name}")
            if name_here is None:
                return []
            mask &= matching(cells.frame[name], self.frame[name_here].iloc[at])
        return np.flatnonzero(mask).tolist()
