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
from aatoolkit.frame.groupby import Groups, PartPeriod, flattened, group, part_periods
from aatoolkit.frame.merge import columns_after
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import load_rows, load_values
from aatoolkit.stats.explain.answers import AnswerFinder, TableCells, TrailEnd
from aatoolkit.stats.explain.explanation import (
    Explanation,
    matching,
    plain,
    same,
    shown,
    sum_in_words,
)


class Made(Protocol):
    """A replayed frame that can explain its cells."""

    frame: pd.DataFrame
    known: FrameMetadata

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

    known: FrameMetadata

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
        frame = (
            pd.DataFrame(index=range(changes.get("size", 0)))
            if base is None
            else flattened(base.frame)
        )
        if isinstance(base, View):
            # Between two views the metadata was attached anew, of the rows as they were then.
            frame = attach(frame.copy(deep=False), base.known)
        self._rows = np.arange(len(frame))
        if "rows" in changes:
            self._rows = load_rows(changes["rows"])
            frame = frame.iloc[self._rows]
        self.frame = self._changed(frame, changes)
        self.known = metadata_of(self.frame)

    def _changed(self, frame: pd.DataFrame, changes: Mapping[str, Any]) -> pd.DataFrame:
        index = changes.get("index")
        if index == "range":
            frame = frame.reset_index(drop=True)
        kept = changes.get("columns")
        if kept is not None:
            frame = frame[[name for name in kept if name in frame.columns]]
        frame = frame.drop(columns=[name for name in self._unknown if name in frame.columns])
        if self._set:
            frame = frame.assign(
                **{name: values.set_axis(frame.index) for name, values in self._set.items()}
            )
        if isinstance(index, list) and any(index):
            frame = frame.set_index([name for name in index if name])
        return frame

    def has_set(self, column: str) -> bool:
        """Whether plain pandas set a column, whose values the recipe holds."""
        return column in self._set

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        if column in self._set or column in self._unknown or self._base is None:
            why = self._foreign or f"{column} was set by a plain pandas step"
            found = self._set.get(column)
            value = None if found is None else plain(found.iloc[at])
            return Explanation(value, column, row_of(self.known, self.frame, at), end=why)
        return self._base.explain(int(self._rows[at]), column)


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
        self.known = metadata_of(frame, levels=True)
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

    def described(self, at: int, column: str) -> Explanation:
        """Explain a cell by its metadata, without how it was made."""
        metadata = self.known.columns.get(column)
        what = None if metadata is None else declared(metadata)
        return Explanation(
            plain(self.flat[column].iloc[at]),
            column,
            row_of(self.known, self.frame, at),
            unit=what.unit if what else None,
            meaning=(what.doc or None) if what else None,
            operation=self.verb,
            availability=str(metadata.availability) if metadata else None,
        )

    def taken(
        self, side: int, there: int, at: int, column: str, note: str, of: str = ""
    ) -> Explanation:
        """Explain a cell that the verb took over from a row of an input unchanged."""
        return self.passed(self.inputs[side].explain(there, of or column), at, column, note)

    def passed(self, found: Explanation, at: int, column: str, note: str) -> Explanation:
        """Explain a cell by that of which it is a copy."""
        row = row_of(self.known, self.frame, at) or found.row
        renamed = (f"{column} was {found.column} before",) if column != found.column else ()
        return replace(found, column=column, row=row, notes=(*found.notes, note, *renamed))


def row_of(known: FrameMetadata, frame: pd.DataFrame, at: int) -> dict[str, Any]:
    """The values of the key in a row."""
    flat = flattened(frame)
    return {name: plain(flat[name].iloc[at]) for name in known.key if name in flat.columns}


def same_cells(result: Result, at: int, column: str) -> Explanation:
    return result.inputs[0].explain(at, column)


def renamed_cells(result: Result, at: int, column: str) -> Explanation:
    names = {new: old for old, new in result.arguments["names"].items()}
    return result.taken(0, at, at, column, "by rename", names.get(column, column))


def beside_cells(note: str, result: Result, at: int, column: str) -> Explanation:
    if column in flattened(result.inputs[0].frame).columns:
        return result.inputs[0].explain(at, column)
    return replace(result.described(at, column), notes=(note,))


def stacked_cells(result: Result, at: int, column: str) -> Explanation:
    ends = np.cumsum([len(made.frame) for made in result.inputs])
    number = int(np.searchsorted(ends, at, side="right"))
    frame = result.inputs[number].frame
    there = at - int(ends[number] - len(frame))
    of = f"by concat: row {there + 1} of frame {number + 1} of {len(result.inputs)}"
    if column in flattened(frame).columns:
        return result.taken(number, there, at, column, of)
    found = replace(result.described(at, column), notes=(of,))
    if column in result.frame.columns:
        return replace(found, missing="its frame has no such column")
    return replace(found, end="it is a label that concat was given")


def merged_cells(result: Result, at: int, column: str) -> Explanation:
    if not result.shared:
        options = {k: v for k, v in result.arguments.items() if k not in ("left", "right")}
        left, right = (made.frame for made in result.inputs)
        numbered = [
            frame.assign(**{side: range(len(frame))})
            for frame, side in ((left, "_aatoolkit_left"), (right, "_aatoolkit_right"))
        ]
        whole = numbered[0].merge(numbered[1], **options)
        result.shared["rows"] = [whole[f"_aatoolkit_{side}"] for side in ("left", "right")]
        result.shared["names"] = [
            {new: old for old, new in reversed(names.items())}
            for names in columns_after(left, right, options)
        ]
    rows = [rows.iloc[at] for rows in result.shared["rows"]]
    names = result.shared["names"]
    sides = [side for side in (0, 1) if column in names[side]]
    for side in sides:
        if not pd.isna(rows[side]):
            there, other = int(rows[side]), pd.isna(rows[1 - side])
            note = f"by merge: from the {_SIDES[side]} frame, its row {there + 1}"
            note += "; the other side has no match" * bool(other)
            return result.taken(side, there, at, column, note, names[side][column])
    found = result.described(at, column)
    if sides:
        return replace(found, missing=f"no row of the {_SIDES[sides[0]]} frame matches this one")
    return replace(found, notes=("by merge: which of the sides has the row",))


_SIDES = ("left", "right")


def completed_cells(result: Result, at: int, column: str) -> Explanation:
    before = flattened(result.inputs[0].frame)
    if at < len(before) and column in before.columns:
        return result.inputs[0].explain(at, column)
    found = result.described(at, column)
    if at < len(before):
        return found.with_notes("by complete: the row was reported")
    if found.value is None and not is_status_column(result.frame, column):
        found = replace(found, missing="no answer has this row")
    return found.with_notes("by complete: this row was added, as no answer has one for it")


def long_cells(result: Result, at: int, column: str) -> Explanation:
    before = flattened(result.inputs[0].frame)
    there = at % max(len(before), 1)
    measure = str(result.frame["variable"].iloc[at])
    if column == "value":
        note = f"by to_long: {measure} in row {there + 1}"
        found = result.taken(0, there, at, column, note, measure)
        return replace(found, column=f"value of {measure}")
    if column in ("variable", "unit") or is_status_column(result.frame, column):
        note = f"by to_long: what is known of {measure} in row {there + 1}"
        return result.described(at, column).with_notes(note)
    old = column if column in before.columns else column.removesuffix("_")
    return result.taken(0, there, at, column, "by to_long", old)


def answers_cells(result: Result, at: int, column: str) -> Explanation:
    """One row an answer: what it mentions and cites, of the rows about it."""
    if not result.shared:
        result.shared |= {
            side: {plain(chat): rows for chat, rows in chats.indices.items()}
            for side, made in enumerate(result.inputs)
            for chats in [made.frame.groupby("chat_id")]
        }
    chat = plain(result.frame["chat_id"].iloc[at])
    whole, mentions, citations = result.inputs
    row = int(result.shared[0][chat][0])
    if column in whole.frame.columns:
        return result.taken(0, row, at, column, "of the answer")
    found = result.described(at, column)
    if column == "brand":
        return replace(found, formula="the brand that was asked for, else the own ones")
    if column == "date":
        day = whole.explain(row, "ran_at")
        return replace(found, formula="the day of ran_at", rows=1, children=(day,))
    made, field = (citations, "domain_type") if column == "cited" else (mentions, "brand")
    rows = result.shared[2 if column == "cited" else 1].get(chat, np.zeros(0, np.intp))
    brand = result.arguments.get("brand")
    if column == "cited":
        words = "whether one of its citations is of an own page: domain_type is owned"
    elif brand is None:
        field, words = "own", "whether one of the brands it mentions is an own one"
    else:
        words = f"whether it mentions {brand}"
    if column == "position" and len(rows):
        own = made.frame["own"].fillna(False).to_numpy(bool)
        named = own if brand is None else made.frame["brand"].eq(brand).to_numpy(bool)
        words = "the smallest position of its mentions"
        if named[rows].any():
            rows, field = rows[named[rows]], "position"
    missing = None
    if found.value is None:
        missing = (
            "nothing says of any citation whose page it is"
            if column == "cited"
            else "it does not mention the brand"
        )
    return replace(
        found,
        formula=f"{words}, of {len(rows)} rows" if missing is None else None,
        missing=missing,
        rows=len(rows),
        children=tuple(made.explain(int(each), field) for each in rows)
        or (_no_rows(whole.explain(row, "chat_id"), made),),
    )


def _no_rows(chat: Explanation, made: Made) -> Explanation:
    """What the answer holds in place of the rows about a chat: an empty list, or none."""
    if chat.place is None or not isinstance(made, TableCells):
        return chat
    place = made.list_in(chat.place.path.rpartition(".")[0])
    name = f"rows of {made.name}"
    return replace(chat, value=0, column=name, meaning=None, operation="rows", place=place)


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
        rows = np.flatnonzero(self.groups.ids == at).tolist()
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
        return "its denominator is 0, and a rate of 0 answers does not exist"
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


_HISTORY = ("first_seen", "last_seen", "last_changed", "revisions")
_MOST_TRIED = 50
"""The most answers in which the value of a history is looked for."""


class ArchivedCells(Result):
    """Cells of archived rows: each is found in the answer that its row names.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame, read again.
    sources : sequence of Source
        The answers it was read from.
    finder : AnswerFinder
        Finds them.
    """

    def __init__(
        self, frame: pd.DataFrame, sources: Sequence[Source], finder: AnswerFinder
    ) -> None:
        super().__init__("read", frame, [], {})
        self._sources, self._finder = sources, finder

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        found = self.described(at, column)
        of = self.known.columns[column].of
        if of is None:
            is_history = column in _HISTORY
            note = "from the fetches in which the row was seen" if is_history else "of its answer"
            return replace(found, notes=(note,))
        table, _, name = of.rpartition(":")[2].partition(".")
        tried = 0
        why = "the archive names no answer for this row"
        for source in self._answers(at):
            tried += 1
            if tried > _MOST_TRIED:
                why = f"the value is in none of the {_MOST_TRIED} newest answers about the row"
                break
            try:
                answer = self._finder.find(source)
            except TrailEnd as end:
                why = str(end)
                continue
            if table not in answer.tables:
                continue
            cells = TableCells(answer, table)
            there = self._row(at, table, cells)
            if there is not None and same(cells.frame[name].iloc[there], found.value):
                return self.passed(cells.explain(there, name), at, column, "kept in the archive")
            why = f"no answer at hand has {shown(found.value)} in this row"
        return replace(found, end=why)

    def _answers(self, at: int) -> Iterator[Source]:
        """Yield the answers that a row may be of, the newest first."""
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
        """Find the row of an answer's table that is a row of the frame."""
        names = {
            (what.of or "").rpartition(":")[2]: name for name, what in self.known.columns.items()
        }
        key = [name for name in cells.known.key if f"{table}.{name}" in names]
        if not key or len(key) < len(cells.known.key):
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
