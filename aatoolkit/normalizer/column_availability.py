"""What a response states of its columns, and of some of their rows.

A statement about an engine, the days after a day, or single rows is kept with the conditions
that pick its rows, so that it holds after a filter. Where a table lacks the column to pick them
by, its numbers sum over them: then all are partial, with the same words.

Numbers that a response denies are shown as missing: a number beside ``hasData: false`` is no
measurement, and least of all where it is 0. What is known about a value is what the narrowest
statement about it states: its own row or cell, else its engine, else its field, else the section.
What was thin, late or cut short is partial and keeps its numbers; keys, positions and sizes of
samples are no measurements and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from aatoolkit._util.dtypes import NUMBERS
from aatoolkit.availability import (
    UNKNOWN,
    Availability,
    Cause,
    Condition,
    Statement,
    Status,
    combine,
)
from aatoolkit.availability.detect import Signal
from aatoolkit.availability.subject import as_text
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Position,
    Step,
    format_json_path,
    parse_path,
)
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata
from aatoolkit.metadata.column import RowStatus
from aatoolkit.normalizer.rows import TablePlan, listing
from aatoolkit.sections.section import ENVELOPE, Column, Section

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
PathOf = Callable[[int], str | None]
"""Gives the JSON path of a column's value in a row."""

INFERRED = "options"
"""The rule of scope options, whose signals are listed and change nothing that a response gives."""

WHY = "denied"
"""The reason in ``extra`` for a number that a response denies."""

_MOST_ROWS = 500
"""More rows than this are not named: their statements become the column's."""

_MEASURED = Availability(Status.AVAILABLE)
_ABSENT = Availability(Status.UNKNOWN, Cause.ABSENT)


SIGNAL = ("scope", "target", "rows", "status", "cause", "reason", "sample_size", "as_of",
          "evidence", "rule", "raw")  # fmt: skip


class TableStatements:
    """What a response states of the columns of one table.

    Parameters
    ----------
    plan
        The declared table.
    signals
        What the response states.
    array
        Gives the table's columns, of which those of its key, of engines and of days pick rows.
    size
        How many rows it has.
    """

    def __init__(
        self,
        plan: TablePlan,
        signals: Iterable[Signal],
        array: Callable[[str], pa.Array],
        size: int,
    ) -> None:
        self._table, self._dimensions = plan.table, plan.dimensions
        self._size = size
        self._list = cache(lambda name: array(name).to_pylist())
        self._signals = [signal for signal in signals if signal.rule != INFERRED]
        self._narrow = [signal for signal in self._signals if signal.scope in ("field", "row")]
        self._of_section = section_state(self._signals) or UNKNOWN

    def describe(
        self, column: Column, name: str, absent: bool, measured: bool, path: PathOf
    ) -> ColumnMetadata:
        """The metadata of one column.

        Parameters
        ----------
        column, name
            The declared column, and its name in metadata.
        absent, measured
            Whether the response lacks its field; whether it holds any value.
        path
            Gives the JSON path of its value in a row.
        """
        if absent and self._of_section.status not in EMPTY:
            return ColumnMetadata(name, _ABSENT)
        base = self._stated(column)
        statements: list[Statement] = []
        if column.name not in self._table.key:
            statements, beyond = self._conditional(column)
            rows, joined = self._of_rows(column, path)
            statements += rows
            if base.status not in EMPTY and column.dtype in NUMBERS and not column.is_label:
                base = _with_rows(base, beyond)
            base = _with_rows(base, joined)
            if statements and base == UNKNOWN and measured:
                base = _MEASURED
        if measured and base.status in EMPTY:
            base = combine([base, _MEASURED])
        conditions = {rows.column for statement in statements for rows in statement.rows}
        values = {name: np.array(self._list(name), object) for name in conditions}
        states, _ = RowStatus(values, self._size, values).states(base, statements)
        return ColumnMetadata(name, combine(states), tuple(statements), base)

    def denied(self, column: Column, is_valid: Mask, path: PathOf) -> Mask:
        """The rows whose number is denied."""
        states = self._states(column)
        denied: Mask = is_valid & self._by_engine(self._stated(column).status in EMPTY)
        for row in np.flatnonzero(is_valid).tolist() if states else ():
            place = narrowest_path(path(row), states)
            if place:
                denied[row] = states[place].status in EMPTY
        return denied

    @property
    def denies_some(self) -> bool:
        """Whether any number is denied, as far as can be told without looking at columns."""
        if not any(map(denies, self._signals)):
            return False
        is_empty = self._of_section.status in EMPTY
        return any(map(denies, self._narrow)) or bool(self._by_engine(is_empty).any())

    @cached_property
    def _engines(self) -> dict[Any, bool]:
        """Whether the numbers of engines are denied, where rows are of one."""
        signals = self._signals if self._dimensions["engine"] else ()
        return {signal.target: denies(signal) for signal in signals if signal.scope == "engine"}

    def _by_engine(self, is_empty: bool) -> Mask:
        """Whether each row's engine denies it; ``is_empty`` for engines without a statement."""
        if not self._engines:
            return np.full(self._size, is_empty)
        return np.array([self._engines.get(name, is_empty) for name in self._list("engine")], bool)

    def _states(self, column: Column) -> dict[str, Availability]:
        """What is stated of single rows of a column, by their JSON path."""
        return {
            format_json_path(target_steps(signal.target or "")): signal.availability
            for signal in self._narrow
            if reach(signal.target or "", column.pattern) == "some"
        }

    def _stated(self, column: Column) -> Availability:
        """The narrowest statement about a whole column; that of the section if there is none."""
        states: dict[int, list[Availability]] = {}
        for signal in self._narrow:
            target = signal.target or ""
            is_whole = signal.scope == "field" and not signal.rows
            if is_whole and reach(target, column.pattern) == "all":
                states.setdefault(len(target_steps(target)), []).append(signal.availability)
        return combine(states[max(states)]) if states else self._of_section

    def _conditional(self, column: Column) -> tuple[list[Statement], list[Availability]]:
        """Statements about engines and days; and the states of those whose rows are summed."""
        statements = []
        beyond = []
        for signal in self._signals:
            concerns = signal.scope in ("engine", "section") or (
                signal.scope == "field" and reach(signal.target or "", column.pattern) == "all"
            )
            if not signal.rows or not concerns:
                continue
            state = signal.availability
            if signal.scope == "engine":
                state = replace(state, reason=f"{signal.target}: {state.reason or state}")
            names = [self._dimensions.get(r.column, r.column) or "" for r in signal.rows]
            if {*names} <= {*self._table.names}:
                pairs = zip(signal.rows, names, strict=True)
                conditions = (replace(condition, column=name) for condition, name in pairs)
                statements.append(Statement(state, tuple(conditions)))
            elif state.status not in (Status.AVAILABLE, Status.UNKNOWN):
                beyond.append(replace(state, status=Status.PARTIAL))
        return statements, list(dict.fromkeys(beyond))

    def _of_rows(self, column: Column, path: PathOf) -> tuple[list[Statement], list[Availability]]:
        """Statements about single rows, by their keys; or the states, where no key picks them."""
        states = self._states(column)
        rows: dict[Availability, list[int]] = {}
        for row in range(self._size) if states else ():
            place = narrowest_path(path(row), states)
            if place:
                rows.setdefault(states[place], []).append(row)
        picked = {state: self._by_key(numbers) for state, numbers in rows.items()}
        if not all(picked.values()):
            return [], list(dict.fromkeys(states.values()))
        return [Statement(state, rows) for state, by in picked.items() for rows in by], []

    def _by_key(self, rows: list[int]) -> list[tuple[Condition, ...]]:
        """Conditions on the key that pick just these rows; none where there are none."""
        names = self._table.key
        texts = [[None if v is None else as_text(v) for v in self._list(name)] for name in names]
        keys = [*zip(*texts, strict=True)]
        if len(rows) > _MOST_ROWS or not keys or any(None in keys[row] for row in rows):
            return []
        for name, values in zip(names, texts, strict=True):
            wanted = dict.fromkeys(values[row] for row in rows)
            if [row for row, value in enumerate(values) if value in wanted] == rows:
                return [(Condition(name, "in", tuple(wanted)),)]  # type: ignore[arg-type]
        chosen = dict.fromkeys(keys[row] for row in rows)
        if [row for row, key in enumerate(keys) if key in chosen] != rows:
            return []
        return [
            tuple(Condition(name, "in", (text,)) for name, text in zip(names, key, strict=True))
            for key in chosen
        ]


def _with_rows(state: Availability, rows: Sequence[Availability]) -> Availability:
    """Combine a column's state with those of its rows; an unknown state yields to theirs."""
    return combine(rows if rows and state == UNKNOWN else [state, *rows])


def section_state(signals: Iterable[Signal]) -> Availability | None:
    """Availability of the section as a whole; that of the transport alone if there is one.

    Statements of one weight are combined. Those about some rows only are not among them.
    """
    of_section = [signal for signal in signals if signal.scope == "section" and not signal.rows]
    first = [signal for signal in of_section if signal.rule == "transport"] or of_section
    return combine(signal.availability for signal in first) if first else None


def is_silent(section: Section, document: object, signals: Iterable[Signal]) -> bool:
    """Whether a response says why it has no tables: it is an error, or has no body of its own.

    Then its tables are empty with that reason, and that it lacks their fields is no drift.
    """
    if not any(
        signal.scope == "section" and signal.rule in ("transport", "error") and denies(signal)
        for signal in signals
    ):
        return False
    first = [parse_path(column.pattern)[:1] for table in section for column in table.columns]
    names = {step.name for steps in first for step in steps if isinstance(step, Field)}
    return not isinstance(document, Mapping) or names.isdisjoint(document.keys() - {*ENVELOPE})


def denies(signal: Signal) -> bool:
    """Whether a statement denies the numbers it is about; scope options never do."""
    return signal.availability.status in EMPTY and signal.rule != INFERRED


def narrowest_path(path: str | None, states: Mapping[str, Availability]) -> str | None:
    """The narrowest path at or above a JSON path that has a statement; None or empty if none has.

    Examples
    --------
    >>> narrowest_path("$.points[0].rate", {"$.points[0]": Availability()})
    '$.points[0]'
    """
    while path and path not in states:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path


@lru_cache(maxsize=4096)
def target_steps(target: str) -> tuple[Step, ...]:
    """Parse the target of a signal; what is no path is the name of a field.

    Examples
    --------
    >>> target_steps("rates[0]"), target_steps("rates[")
    ((Field(name='rates'), Position(number=0)), (Field(name='rates['),))
    """
    try:
        return parse_path(target)
    except ValueError:
        return (Field(target),)


@lru_cache(maxsize=4096)
def reach(target: str, pattern: str) -> str | None:
    """Return ``all`` or ``some``, by how much of a column a target covers; None for nothing.

    A bare name is about every field of that name and what it encloses.
    """
    steps, column = target_steps(target), parse_path(pattern)
    if len(steps) == 1 and isinstance(steps[0], Field) and steps[0] in column:
        return "all"
    if not steps or len(steps) > len(column):
        return None
    is_partial = False
    for step, column_step in zip(steps, column, strict=False):
        if step == column_step:
            continue
        of_array = isinstance(column_step, Each) and isinstance(step, Position)
        of_object = isinstance(column_step, Entries) and isinstance(step, Field)
        if not (of_array or of_object):
            return None
        is_partial = True
    return "some" if is_partial else "all"


def in_words(metadata: FrameMetadata, signals: list[Signal]) -> str:
    """The availability of a table in words: of all its columns but the key."""
    columns = metadata.columns
    states = [column.availability for name, column in columns.items() if name not in metadata.key]
    states = states or [column.availability for column in columns.values()]
    overall = combine(dict.fromkeys(states))  # most columns share theirs
    section = section_state(signals)
    is_said = section is not None and section.reason and section.status == overall.status
    return str(section if is_said else overall)


def signal_table(signals: list[Signal]) -> pd.DataFrame:
    """Build a frame of statements, one row each; one row ``unknown`` if there are none."""
    signals = signals or [Signal("section", None, UNKNOWN, None, None, "", "nothing found")]
    return listing(
        SIGNAL,
        signal_rows(signals),
        scope=pd.CategoricalDtype(["section", "field", "row", "engine"]),
        status=pd.CategoricalDtype([*map(str, Status)]),
        sample_size="Int64",
        as_of="datetime64[us, UTC]",
    )


def signal_rows(signals: Sequence[Signal]) -> list[tuple[Any, ...]]:
    """Statements as rows of the columns of `SIGNAL`."""
    sizes, _ = coerce_values([signal.sample_size for signal in signals], "Int64")
    moments, _ = coerce_values([signal.as_of for signal in signals], "timestamp")
    return [
        (
            *(signal.scope, signal.target, " and ".join(map(str, signal.rows)) or None),
            *(fact and str(fact) for fact in (state.status, state.cause, state.reason)),
            *(sample_size, as_of, signal.path, signal.rule, signal.raw),
        )
        for signal, sample_size, as_of in zip(
            signals, sizes.to_pylist(), moments.to_pylist(), strict=True
        )
        for state in [signal.availability]
    ]
