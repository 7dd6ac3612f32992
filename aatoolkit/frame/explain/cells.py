"""Explain cells of an answer: path and bytes, statements, why a value is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aatoolkit.availability.detect import Signal
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.cell_status import Cells, cells_of
from aatoolkit.frame.explain.evidence import ReadAnswer
from aatoolkit.frame.explain.explanation import Explanation, StatedAvailability, ValuePlace
from aatoolkit.frame.explain.text import plain, shown
from aatoolkit.jsontree.paths import KEY_SIGN, Field, format_json_path
from aatoolkit.metadata.attrs import FrameMetadata
from aatoolkit.normalizer.column_availability import INFERRED, reach, target_steps
from aatoolkit.normalizer.masking import WHY, narrowest_path
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.sections.section import Column

_KEPT = {
    WHY: "the answer holds {text} here, and states that it was not measured",
    "wrong type": "the answer holds {text} here, which is no {dtype}; it is kept in tables.extra",
    "missing": "the answer holds {text} here, which is declared to mean that there is no value",
    "new level": "the answer holds {text} here, which is no declared level; it is in tables.extra",
    "null key": "the answer holds {text} here",
}
"""Why a value that the answer holds is not in its column."""


_OF_STATE = re.compile(r"(?:^|_)(?:state|status|reason|cause|why|because)(?:_|$)", re.IGNORECASE)
"""Names of columns whose words may say why another column has no value."""


class TableCells:
    """The cells of one table of one answer.

    Parameters
    ----------
    answer : ReadAnswer
        The answer.
    name : str
        The table's name.
    frame : pandas.DataFrame
        The table.
    known : FrameMetadata
        Its metadata.
    """

    def __init__(
        self, answer: ReadAnswer, name: str, frame: pd.DataFrame, known: FrameMetadata
    ) -> None:
        self.answer, self.name, self.frame, self.known = answer, name, frame, known
        self._rows = answer.tables._parts.rows[name]
        self._paths: dict[str, Callable[[int], str | None]] = {}
        self._cells: dict[str, Cells] = {}
        self._units: dict[str, pd.Series | None] = {}
        self._arrays: dict[str, Any] = {}
        self._keys: tuple[str, ...] | None = None
        self._stated: dict[str, list[tuple[Signal, str]]] = {}

    def value(self, at: int, column: str) -> Any:
        """The value of a column in a row, by position; None where it is missing."""
        if column not in self._arrays:
            self._arrays[column] = self.frame[column].array
        return plain(self._arrays[column][at])

    def explain(self, at: int, column: str, *, parts: bool = True) -> Explanation:
        """Explain the value of a column in a row, by position."""
        value = self.value(at, column)
        declared = self._declared(column)
        place = None if declared is None else self._place(at, declared)
        is_missing = value is None
        state = self._state(at, column)
        formula, children = (None, ()) if not parts else self._rate(at, column)
        return Explanation(
            value,
            column,
            self.row(at),
            unit=self._unit(at, column, declared),
            meaning=declared.doc if declared and declared.doc else None,
            operation="read",
            formula=formula,
            place=place,
            answer=self.answer.cited,
            availability=state,
            statements=(*self._statements(at, column, declared, place),),
            missing=self._why_missing(at, column, declared, place, state) if is_missing else None,
            notes=(*self._notes(declared, place, value),),
            children=children,
        )

    def about(self, found: Explanation) -> Explanation:
        """Add to an explanation what the answer states of the whole column."""
        declared = self._declared(found.column)
        return replace(
            found,
            meaning=declared.doc if declared and declared.doc else None,
            answer=self.answer.cited,
            statements=(*self._statements(None, found.column, declared, None),),
        )

    def row(self, at: int) -> dict[str, Any]:
        """The values of the key in a row."""
        if self._keys is None:
            named = (*self.known.key, "_row")
            self._keys = tuple(name for name in named if name in self.frame.columns)
        return {name: self.value(at, name) for name in self._keys}

    def path(self, at: int, column: Column) -> str | None:
        """The JSON path of a value; None where no record of the answer encloses it."""
        if column.name not in self._paths:
            self._paths[column.name] = self._rows.path_in(column)
        return self._paths[column.name](at)

    def list_in(self, record: str) -> ValuePlace:
        """The place of the list that holds the rows of the table within another record."""
        inner = [step for step in self._rows.table.rows.steps[:-1] if isinstance(step, Field)]
        return self._place_at(f"{record}{format_json_path(inner[-1:]).removeprefix('$')}")

    def _declared(self, column: str) -> Column | None:
        try:
            return self._rows.table[column]
        except KeyError:
            return None

    def _place(self, at: int, column: Column) -> ValuePlace | None:
        path = self.path(at, column)
        if path is None:
            return None
        if (column.source or "").lstrip("^")[:1] == "#":
            return ValuePlace(path)
        return self._place_at(path)

    def _place_at(self, path: str) -> ValuePlace:
        span = self.answer.span(path)
        if span is None:
            return ValuePlace(path)
        return ValuePlace(path, *span, self.answer.body[slice(*span)].decode(errors="replace"))

    def _state(self, at: int, column: str) -> str:
        if column not in self._cells:
            self._cells[column] = cells_of(self.frame, column, self.known)
        cells = self._cells[column]
        return str(cells.states[int(cells.codes[at])])

    def _unit(self, at: int, column: str, declared: Column | None) -> str | None:
        if column not in self._units:
            self._units[column] = row_units(self.frame, self.known, column)
        units = self._units[column]
        if units is not None:
            return str(units.iloc[at])
        unit = None if declared is None else declared.unit
        if unit and unit.startswith("per `") and unit.strip("per `") in self.frame.columns:
            return shown(self.value(at, unit[5:-1]))
        return unit

    def _rate(self, at: int, column: str) -> tuple[str | None, tuple[Explanation, ...]]:
        """Explain a rate by its numerator and denominator, if the row has both and they agree."""
        declared = self._declared(column)
        over = None if declared is None else _counts_of(declared.aggregate)
        if over is None or not {*over} <= {*self.frame.columns}:
            return None, ()
        above, below = (self.value(at, part) for part in over)
        value = self.value(at, column)
        parts = tuple(self.explain(at, part, parts=False) for part in over)
        numbers = all(isinstance(each, int | float) for each in (above, below))
        if numbers and below == 0:
            return f"{over[0]} / {over[1]} = {above} / 0: there is no rate of nothing", parts
        if not numbers or not isinstance(value, int | float):
            return None, ()
        computed = above / below
        if abs(computed - value) > 1e-9 * max(abs(value), 1e-3) and round(computed, 6) != value:
            return None, ()
        return f"{over[0]} / {over[1]} = {above} / {below}, as the answer gives it", parts

    def _statements(
        self, at: int | None, column: str, declared: Column | None, place: ValuePlace | None
    ) -> Iterator[StatedAvailability]:
        for signal, reached in self._about(column, declared):
            if self._concerns(signal, reached, at, place):
                state = signal.availability
                yield StatedAvailability(
                    str(state.status),
                    state.cause and str(state.cause),
                    state.reason,
                    signal.target,
                    " and ".join(map(str, signal.rows)) or None,
                    signal.path,
                    signal.rule,
                    signal.raw,
                    signal.sample_size,
                    signal.as_of,
                )

    def _about(self, column: str, declared: Column | None) -> list[tuple[Signal, str]]:
        """The statements about a column, and whether about all of it or some."""
        if column not in self._stated:
            self._stated[column] = [
                (signal, reached)
                for signal in self.answer.tables._parts.signals
                if declared is not None and signal.rule != INFERRED
                for reached in [_reach(signal, declared)]
                if reached is not None
            ]
        return self._stated[column]

    def _concerns(
        self, signal: Signal, reached: str, at: int | None, place: ValuePlace | None
    ) -> bool:
        """Whether a statement about a column is about a cell of it."""
        for condition in signal.rows:
            if at is None or condition.column not in self.frame.columns:
                continue  # any row may be meant
            if not condition.matches([self.value(at, condition.column)])[0]:
                return False
        if reached == "some":
            target = format_json_path(target_steps(signal.target or ""))
            return place is not None and bool(
                narrowest_path(place.path, {target: signal.availability})
            )
        return True

    def _why_missing(
        self,
        at: int,
        column: str,
        declared: Column | None,
        place: ValuePlace | None,
        state: str,
    ) -> str:
        """Explain why a cell has no value, by what the answer holds in its place."""
        stated = "" if state.startswith(("available", "unknown")) else f"; it is {state}"
        words = self._words_of_row(at, column)
        stated += f"; {words}" if words and words.split(" is ", 1)[1] not in stated else ""
        over = None if declared is None else _counts_of(declared.aggregate)
        if over and over[1] in self.frame.columns and self.value(at, over[1]) == 0:
            stated += f"; {over[1]} is 0, and there is no rate of nothing"
        if declared is None:
            return f"it is no column of the table {self.name}{stated}"
        if place is None:
            return f"no record of the answer holds this field for the row{stated}"
        held = self.answer.extra.get(place.path)
        if held is not None and place.text is not None:
            words = _KEPT.get(held[1], "the answer holds {text} here, which was not taken")
            return words.format(text=shown(place.text), dtype=declared.dtype) + stated
        if place.text == "null":
            return f"the answer holds null here{stated}"
        if place.text is not None:
            return (
                f"the answer holds {shown(place.text)} here, which is no {declared.dtype}{stated}"
            )
        return f"the answer has no such key here{stated}"

    def _words_of_row(self, at: int, column: str) -> str:
        """What the row's own state or reason says, if rows with a value never say it."""
        if column not in self.frame.columns:
            return ""
        lacking = self.frame[column].isna()
        for name in self.frame.columns:
            if name == column or not _OF_STATE.search(name):
                continue
            words = self.value(at, name)
            if isinstance(words, str) and not self.frame.loc[~lacking, name].eq(words).any():
                return f"its {name} is {shown(words)}"
        return ""

    def _notes(
        self, declared: Column | None, place: ValuePlace | None, value: Any
    ) -> Iterator[str]:
        if declared is None:
            return
        if declared.name == "_row" or (declared.source or "").lstrip("^")[:1] == "#":
            yield "counted from its place in the array"
        elif place is not None and place.path.endswith(KEY_SIGN):
            yield "it is the key of an object"
        elif place is not None and place.text is None and plain(value) is not None:
            yield "the value is not in the answer as such: it was asked for, or stands for null"
        if declared.reading is not None and place is not None and place.text is not None:
            scale = f", times {declared.scale:g}" if declared.scale is not None else ""
            yield f"read as {declared.parse or declared.dtype}{scale}"


def _reach(signal: Signal, declared: Column) -> str | None:
    """Whether a statement covers all of a column, or some of it; None for nothing."""
    if signal.scope in ("section", "engine"):
        return "all"
    return reach(signal.target or "", declared.pattern)


def _counts_of(rule: Aggregation) -> tuple[str, str] | None:
    """The numerator and denominator of a rate, where its rule names them."""
    return rule.over or rule.counts


def key_of(frame: pd.DataFrame, key: Sequence[str], at: int) -> Mapping[str, Any]:
    """The values that identify a row."""
    return {name: plain(frame[name].iloc[at]) for name in key if name in frame.columns}
