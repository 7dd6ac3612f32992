"""Frames that are made again, each of whose cells can be explained.

In reading order: `View`, what plain pandas left of a frame; `Result`, the result of a verb, with a
function for each verb that takes cells over; `AggregateCells`; `ArchivedCells`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from aatoolkit.frame.aggregate import cells_of_plan, coverage_of, with_flags
from aatoolkit.frame.aggregation_plan import Plan, plan
from aatoolkit.frame.cell_status import CAUSE, COVERAGE, REASON, ROW, Cells, is_status_column
from aatoolkit.frame.groupby import Groups, flattened, group, part_periods
from aatoolkit.frame.merge import columns_after
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import load_rows, load_values
from aatoolkit.stats.explain.explanation import (
    Explanation,
    matching,
    plain,
    same,
    shown,
    sum_in_words,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, TrailEnd


class Made(Protocol):
    """A replayed frame that can explain its cells."""

    frame: pd.DataFrame
    metadata: FrameMetadata

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column, or index level, in a row, by position."""


class View:
    """A replayed frame with plain pandas steps: rows taken, columns dropped or set, an index.

    Parameters
    ----------
    base : Made or None
        What it was made of; None where that is not known.
    changes : mapping
        The changes that a recipe records.
    foreign : str or None
        Why it is not known.

    Raises
    ------
    TrailEnd
        If it is not known which rows were taken.
    """

    metadata: FrameMetadata

    def __init__(
        self, base: Made | None, changes: Mapping[str, Any], foreign: str | None = None
    ) -> None:
        if "lost" in changes:
            raise TrailEnd(changes["lost"])
        if base is None and changes.get("unknown"):
            raise TrailEnd(f"{foreign}; it is too large to be carried along")
        self._base, self._foreign = base, foreign
        self._set = {name: load_values(body) for name, body in changes.get("values", {}).items()}
        self._unknown = {*changes.get("unknown", ())}
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
        self.frame = self._changed(frame, changes)
        self.metadata = metadata_of(self.frame)

    def _changed(self, frame: pd.DataFrame, changes: Mapping[str, Any]) -> pd.DataFrame:
        index, kept = changes.get("index"), changes.get("columns")
        if index == "range":
            frame = frame.reset_index(drop=True)
        if kept is not None:
            frame = frame[[name for name in kept if name in frame.columns]]
        frame = frame.drop(columns=[name for name in self._unknown if name in frame.columns])
        columns = {name: values.set_axis(frame.index) for name, values in self._set.items()}
        frame = frame.assign(**columns) if columns else frame
        if isinstance(index, list) and any(index):
            frame = frame.set_index([name for name in index if name])
        return frame

    def has_set(self, column: str) -> bool:
        """Whether plain pandas set a column, whose values the recipe holds."""
        return column in self._set

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        if column not in self._set and column not in self._unknown and self._base is not None:
            return self._base.explain(int(self._rows[at]), column)
        value = plain(self._set[column].iloc[at]) if column in self._set else None
        why = self._foreign or f"{column} was set by a plain pandas step"
        return Explanation(value, column, row_of(self.metadata, self.frame, at), end=why)


Explains = Callable[["Result", int, str], Explanation]
"""Explains a column in the row at a position of the result of a verb."""


class Result:
    """The replayed result of a verb.

    Parameters
    ----------
    verb : str
        Its name.
    frame : pandas.DataFrame
        The result.
    inputs : sequence of Made
        The frames that went into it.
    arguments : mapping
        Its arguments.
    explains : callable, optional
        Explains its cells.
    """

    def __init__(
        self,
        verb: str,
        frame: pd.DataFrame,
        inputs: Sequence[Made],
        arguments: Mapping[str, Any],
        explains: Explains | None = None,
    ) -> None:
        self.verb, self.frame, self.inputs, self.arguments = verb, frame, inputs, arguments
        self.metadata = metadata_of(frame, levels=True)
        self._explains = explains
        self.shared: dict[Any, Any] = {}
        """What the explanations of several cells share."""

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        if self._explains is None:
            raise TrailEnd(f"{self.verb} does not say how it was made")
        return self._explains(self, at, column)

    @cached_property
    def flat(self) -> pd.DataFrame:
        """The result, with the levels of its index as columns."""
        return flattened(self.frame)

    @cached_property
    def first(self) -> pd.DataFrame:
        """The first frame that went into it, with the levels of its index as columns."""
        return flattened(self.inputs[0].frame)

    def described(self, at: int, column: str, *notes: str, **more: Any) -> Explanation:
        """Explain a cell by its metadata, without how it was made."""
        metadata = self.metadata.columns.get(column)
        what = None if metadata is None else declared(metadata)
        return Explanation(
            plain(self.flat[column].iloc[at]),
            column,
            row_of(self.metadata, self.frame, at),
            unit=what.unit if what else None,
            meaning=(what.doc or None) if what else None,
            operation=self.verb,
            availability=str(metadata.availability) if metadata else None,
            notes=notes,
            **more,
        )

    def taken(
        self, side: int, there: int, at: int, column: str, note: str, of: str = ""
    ) -> Explanation:
        """Explain a cell that the verb took over from a row of an input unchanged."""
        return self.passed(self.inputs[side].explain(there, of or column), at, column, note)

    def passed(self, cell: Explanation, at: int, column: str, note: str) -> Explanation:
        """Explain a cell by that of which it is a copy."""
        row = row_of(self.metadata, self.frame, at) or cell.row
        renamed = (f"{column} was {cell.column} before",) if column != cell.column else ()
        return replace(cell, column=column, row=row, notes=(*cell.notes, note, *renamed))


def row_of(metadata: FrameMetadata, frame: pd.DataFrame, at: int) -> dict[str, Any]:
    """The values of the key in a row."""
    flat = flattened(frame)
    return {name: plain(flat[name].iloc[at]) for name in metadata.key if name in flat.columns}


def renamed_cells(result: Result, at: int, column: str) -> Explanation:
    names = {new: old for old, new in result.arguments["names"].items()}
    return result.taken(0, at, at, column, "by rename", names.get(column, column))


def beside_cells(note: str, result: Result, at: int, column: str) -> Explanation:
    if column in result.first.columns:
        return result.inputs[0].explain(at, column)
    return result.described(at, column, note)


def stacked_cells(result: Result, at: int, column: str) -> Explanation:
    ends = np.cumsum([len(made.frame) for made in result.inputs])
    number = int(np.searchsorted(ends, at, side="right"))
    frame = result.inputs[number].frame
    there = at - int(ends[number] - len(frame))
    note = f"by concat: row {there + 1} of frame {number + 1} of {len(result.inputs)}"
    if column in flattened(frame).columns:
        return result.taken(number, there, at, column, note)
    cell = result.described(at, column, note)
    if column in result.frame.columns:
        return replace(cell, missing="its frame has no such column")
    return replace(cell, end="it is a label that concat was given")


_SIDES = ("left", "right")


def merged_cells(result: Result, at: int, column: str) -> Explanation:
    if not result.shared:
        options = {k: v for k, v in result.arguments.items() if k not in _SIDES}
        left, right = (made.frame for made in result.inputs)
        whole = left.assign(_row_of_left=range(len(left))).merge(
            right.assign(_row_of_right=range(len(right))), **options
        )
        result.shared["rows"] = [whole[f"_row_of_{side}"] for side in _SIDES]
        result.shared["names"] = [
            {new: old for old, new in reversed(names.items())}
            for names in columns_after(left, right, options)
        ]
    rows = [rows.iloc[at] for rows in result.shared["rows"]]
    names = result.shared["names"]
    sides = [side for side in (0, 1) if column in names[side]]
    for side in sides:
        if not pd.isna(rows[side]):
            there = int(rows[side])
            note = f"by merge: from the {_SIDES[side]} frame, its row {there + 1}"
            note += "; the other side has no match" * bool(pd.isna(rows[1 - side]))
            return result.taken(side, there, at, column, note, names[side][column])
    if sides:
        why = f"no row of the {_SIDES[sides[0]]} frame matches this one"
        return result.described(at, column, missing=why)
    return result.described(at, column, "by merge: which of the sides has the row")


def completed_cells(result: Result, at: int, column: str) -> Explanation:
    is_reported = at < len(result.first)
    if is_reported and column in result.first.columns:
        return result.inputs[0].explain(at, column)
    if is_reported:
        return result.described(at, column, "by complete: the row was reported")
    note = "by complete: this row was added, as no response has one for it"
    cell = result.described(at, column, note)
    if cell.value is None and not is_status_column(result.frame, column):
        cell = replace(cell, missing="no response has this row")
    return cell


def long_cells(result: Result, at: int, column: str) -> Explanation:
    there = at % max(len(result.first), 1)
    measure = str(result.frame["variable"].iloc[at])
    if column == "value":
        note = f"by to_long: {measure} in row {there + 1}"
        cell = result.taken(0, there, at, column, note, measure)
        return replace(cell, column=f"value of {measure}")
    if column in ("variable", "unit") or is_status_column(result.frame, column):
        note = f"by to_long: what is known of {measure} in row {there + 1}"
        return result.described(at, column, note)
    old = column if column in result.first.columns else column.removesuffix("_")
    return result.taken(0, there, at, column, "by to_long", old)


def answers_cells(result: Result, at: int, column: str) -> Explanation:
    """One row an answer: what it mentions and cites, of the rows about it."""
    whole, mentions, citations = result.inputs
    brand, chat = result.arguments.get("brand"), result.frame["chat_id"].iloc[at]

    def rows_of(made: Made) -> Any:
        return np.flatnonzero(made.frame["chat_id"].eq(chat).fillna(False).to_numpy(bool))

    row = int(rows_of(whole)[0])
    if column in whole.frame.columns:
        return result.taken(0, row, at, column, "of the answer")
    cell = result.described(at, column)
    if column == "brand":
        return replace(cell, formula="the brand that was asked for, else the own ones")
    if column == "date":
        day = whole.explain(row, "ran_at")
        return replace(cell, formula="the day of ran_at", rows=1, children=(day,))
    made, name, missing = mentions, "own" if brand is None else "brand", None
    words = f"whether it mentions {brand or 'an own brand'}"
    rows = rows_of(made := citations if column == "cited" else mentions)
    if column == "cited":
        name, words = "domain_type", "whether one of its citations is of an own page"
    elif column == "position":
        words = "the smallest position of its mentions"
        is_named = made.frame["own"] if brand is None else made.frame["brand"].eq(brand)
        named = rows[is_named.fillna(False).to_numpy(bool)[rows]]
        rows, name = (named, column) if len(named) else (rows, name)
    if cell.value is None:
        missing = "it does not mention the brand"
        if column == "cited":
            missing = "nothing says of any citation whose page it is"
    children = tuple(made.explain(int(there), name) for there in rows)
    if not children:
        children = (whole.explain(row, "chat_id"),)
        place = children[0].place
        if place is not None and isinstance(made, TableCells):
            # In place of rows about the answer its response holds an empty list.
            place = made.list_in(place.path.rpartition(".")[0])
            children = (
                replace(
                    children[0],
                    value=0,
                    column=f"rows of {made.name}",
                    meaning=None,
                    operation="rows",
                    place=place,
                ),
            )
    return replace(
        cell,
        formula=None if missing else f"{words}, of {len(rows)} rows",
        missing=missing,
        rows=len(rows),
        children=children,
    )


def side_of(
    plan: Plan, frame: pd.DataFrame, which: int, rows: Sequence[int], explain: Any, name: str = ""
) -> Explanation:
    """The numerator (0) or denominator (1) of what a rule adds up over rows, with their cells."""
    columns, rule = plan.parts, plan.rule
    if which and not rule.over and not rule.by:
        words = f"{len(rows)} row{'s' * (len(rows) != 1)} with {columns[0]}"
        cells = explain(columns[0], rows)
        return Explanation(
            len(rows), name or "rows", operation="count", formula=words, children=cells
        )
    column = columns[which] if rule.over or which else columns[0]
    values = [plain(frame[column].iloc[at]) for at in rows]
    numbers = [float(value) if isinstance(value, bool) else value for value in values]
    children = explain(column, rows)
    if rule.by and not which:
        children = tuple(
            Explanation(
                value.value * weight.value,
                f"{columns[0]} × {columns[1]}",
                value.row,
                operation="product",
                formula=f"{shown(value.value)} × {shown(weight.value)}",
                children=(value, weight),
            )
            for value, weight in zip(children, explain(columns[1], rows), strict=False)
        )
        weights = frame[columns[1]].to_numpy(np.float64, na_value=np.nan)[rows]
        numbers = (np.array(numbers, float) * weights).tolist()
        column = " × ".join(columns)
    total = float(np.sum(np.array(numbers, float)))
    return Explanation(
        int(total) if total.is_integer() else total,
        name or f"sum of {column}",
        operation="sum",
        formula=f"sum of {column} = {sum_in_words(numbers)}",
        rows=len(rows),
        children=children,
    )


_WORDS = {"min": "the smallest", "max": "the largest", "first": "the first", "last": "the last"}


class AggregateCells(Result):
    """Cells that are aggregates of the rows of their groups."""

    @cached_property
    def _metadata(self) -> FrameMetadata:
        return metadata_of(self.first)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the rows."""
        return group(self.first, self.arguments.get("by"), self.arguments.get("observed", True))

    @cached_property
    def _plans(self) -> dict[str, tuple[Plan, Cells]]:
        rules = self.arguments.get("rules") or {}
        columns = self.arguments.get("columns")
        rules = with_flags(self.first, self._metadata, columns, rules)
        planned = plan(self.first, self._metadata, self.groups, columns, rules, shares=True)
        return {
            part.column: (part, cells_of_plan(part, self.first, self._metadata, self.groups))
            for part in planned
        }

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in the row at a position."""
        cell = self.described(at, column)
        rows = np.flatnonzero(self.groups.ids == at)
        if column in self.groups.keys.columns:
            note = f"the {len(rows)} rows of the group have it in common"
            return replace(cell, rows=len(rows), notes=(note,))
        if column in self._plans:
            return self._aggregate(cell, at, *self._plans[column], rows)
        endings = (COVERAGE, f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", f"_{ROW}")
        ending = next((e for e in endings if column.removesuffix(e) in self._plans), None)
        if ending is None:
            last = tuple(self.inputs[0].explain(int(row), column) for row in rows[-1:])
            notes = ("of the rows of its group",)
            return replace(cell, rows=len(rows), children=last, notes=notes)
        measure = column.removesuffix(ending)
        planned, states = self._plans[measure]
        inner = self._aggregate(self.described(at, measure), at, planned, states, rows)
        if ending != COVERAGE:
            return replace(cell, rows=len(rows), children=(inner,), notes=(f"of {measure}",))
        covered = float(coverage_of(planned, self.first, states, self.groups)[at])
        could = int(self.groups.count(states.applicable)[at])
        formula = f"{covered:g} rows used of {could} to which {measure} applies"
        period = part_periods(self.first, self.arguments.get("by"), self.groups, self._metadata)[at]
        if period is not None:
            formula = f"({formula}) × ({period})"
        return replace(cell, rows=len(rows), formula=formula, children=(inner,))

    def _aggregate(
        self, cell: Explanation, at: int, planned: Plan, cells: Cells, rows: Any
    ) -> Explanation:
        is_used = cells.given[rows]
        used, left = rows[is_used].tolist(), rows[~is_used].tolist()
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
        if cell.value is None:
            formula = formula if used and not left else None
            missing = _why_missing(used, left, states)
            children = (*children, *self._cells(planned.parts[0], left))
        notes += [
            f"grouped by {name}, which a plain pandas step set"
            for name in map(str, self.groups.keys.columns)
            if isinstance(self.inputs[0], View) and self.inputs[0].has_set(name)
        ]
        return replace(
            cell,
            formula=formula,
            rows=len(used),
            children=children,
            missing=missing,
            notes=(*cell.notes, *notes),
        )

    def _cells(self, column: str, rows: Sequence[int]) -> tuple[Explanation, ...]:
        return tuple(self.inputs[0].explain(row, column) for row in rows)

    def _formula(
        self, planned: Plan, rows: list[int], wholes: list[int]
    ) -> tuple[str | None, tuple[Explanation, ...]]:
        """The formula with its numbers, and what it was made of."""
        rule = planned.rule
        count = f"{len(rows)} row{'s' * (len(rows) != 1)}"
        if rule.rule not in ("sum", "mean", "ratio"):
            return f"{_WORDS.get(rule.rule, rule.rule)} of {count}", self._cells(
                planned.parts[0], rows
            )
        above = side_of(planned, self.first, 0, rows, self._cells)
        if rule.rule == "sum":
            numbers = str(above.formula).partition(" = ")[2]
            return f"sum over {count}: {numbers}", above.children
        below = side_of(planned, self.first, 1, wholes, self._cells)
        responses = f" over {len(wholes)} responses" if planned.wholes is not None else ""
        words = f"{above.column} / {below.column}{responses} over {count}"
        return f"{words} = {shown(above.value)} / {shown(below.value)}", (above, below)


def _why_missing(used: list[int], left: list[int], states: Counter[str]) -> str:
    if not used and not left:
        return "no row is in this group"
    if used and not left:
        return "its denominator is 0, and a rate of 0 answers does not exist"
    why = "; ".join(states)
    if not used:
        return f"none of its {len(left)} rows has a number: {why}"
    count = f"{len(left)} of its {len(used) + len(left)} rows"
    return f"{count} have no number ({why}); skip_missing=True leaves them out"


_HISTORY = ("first_seen", "last_seen", "last_changed", "revisions")
_MOST_TRIED = 50
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
        found = self.described(at, column)
        of = self.metadata.columns[column].of
        if of is None:
            is_history = column in _HISTORY
            note = "from the fetches in which the row was seen" if is_history else "of its response"
            return replace(found, notes=(note,))
        table, _, name = of.rpartition(":")[2].partition(".")
        tried = 0
        why = "the archive names no response for this row"
        for source in self._responses(at):
            tried += 1
            if tried > _MOST_TRIED:
                why = f"the value is in none of the {_MOST_TRIED} newest responses about the row"
                break
            try:
                response = self._finder.find(source)
            except TrailEnd as end:
                why = str(end)
                continue
            if table not in response.tables:
                continue
            cells = TableCells(response, table)
            there = self._row(at, table, cells)
            if there is not None and same(cells.frame[name].iloc[there], found.value):
                return self.passed(cells.explain(there, name), at, column, "kept in the archive")
            why = f"no response at hand has {shown(found.value)} in this row"
        return replace(found, end=why)

    def _responses(self, at: int) -> Iterator[Source]:
        """Yield the responses that a row may be of, the newest first."""
        row = self.frame.iloc[at]
        names = [name for name in CONTEXT if name in self.frame.columns]
        last = plain(row["fetched_at"] if "fetched_at" in names else row["last_seen"])
        last = str(last)[:19]
        for source in sorted(self._sources, key=lambda each: each.fetched_at or "", reverse=True):
            moment = (source.fetched_at or "")[:19]
            if source.host != plain(row["host"]) or moment > last:
                continue
            if "fetched_at" in names and (moment != last or not _has_scope(source, row)):
                continue
            yield source

    def _row(self, at: int, table: str, cells: TableCells) -> int | None:
        """Find the row of a response's table that is a row of the frame."""
        names = {
            (what.of or "").rpartition(":")[2]: name for name, what in self.metadata.columns.items()
        }
        key = [name for name in cells.metadata.key if f"{table}.{name}" in names]
        if not key or len(key) < len(cells.metadata.key):
            return None
        mask = None
        for name in key:
            given = plain(self.frame[names[f"{table}.{name}"]].iloc[at])
            here = matching(cells.frame[name], given)
            mask = here if mask is None else mask & here
        if mask is None or mask.sum() != 1:
            return None
        return int(mask.argmax())


def _has_scope(source: Source, row: pd.Series) -> bool:
    days = plain(row.get("days"))
    return source.scope is None or days is None or f"days={days}" in source.scope.split("&")
