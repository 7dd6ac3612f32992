"""What an answer states of its columns, and of some of their rows.

A statement about an engine, the days after a day, or single rows is kept with the conditions
that pick its rows, so that it holds after a filter. Where a table lacks the column to pick them
by, its numbers sum over them: then all are partial, with the same words.

Numbers that an answer denies are shown as missing: a number beside ``hasData: false`` is no
measurement, and least of all where it is 0. What is known about a value is what the narrowest
statement about it states: its own row or cell, else its engine, else its field, else the section.
What was thin, late or cut short is partial and keeps its numbers; keys, positions and sizes of
samples are no measurements and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.availability import (
    UNKNOWN,
    Availability,
    Cause,
    Condition,
    Statement,
    Status,
    combine,
)
from aatoolkit.availability.detect import Detection, Hint, Signal
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
from aatoolkit.normalizer.walk import text_frame
from aatoolkit.sections.section import ENVELOPE, Column, Section, Table

if TYPE_CHECKING:
    import pandas as pd

Mask = npt.NDArray[np.bool_]
PathOf = Callable[[int], str | None]
"""Gives the JSON path of a column's value in a row."""

INFERRED = "options"
"""The rule of scope options, whose signals are listed and change nothing that an answer gives."""

WHY = "denied"
"""The reason in ``extra`` for a number that an answer denies."""

_MOST_ROWS = 500
"""More rows than this are not named one by one: their statements become the column's."""

_MEASURED = Availability(Status.AVAILABLE)
_ABSENT = Availability(Status.UNKNOWN, Cause.ABSENT)


class TableStatements:
    """What an answer states of the columns of one table.

    Parameters
    ----------
    table
        The declared table.
    signals
        What the answer states.
    arrays
        The table's columns, of which those of its key, of engines and of days pick rows.
    size
        How many rows it has.
    """

    def __init__(
        self, table: Table, signals: Iterable[Signal], arrays: Mapping[str, pa.Array], size: int
    ) -> None:
        self._table, self._arrays, self._size = table, arrays, size
        self._signals = [signal for signal in signals if signal.rule != INFERRED]
        self._are_of_section = all(
            signal.scope == "section" and not signal.rows for signal in self._signals
        )
        self._masks: dict[Condition, Mask] = {}
        self._simple: dict[tuple[bool, bool], Availability] = {}
        self._denied: dict[bool, Mask | None] = {}

    @cached_property
    def _dimensions(self) -> dict[str, str | None]:
        """The columns by which statements pick rows: of engines, and of days."""
        # A row of several engines is no row of one: its numbers sum over them.
        columns = self._table.columns
        is_single = any(c.name == "engine" and c.dtype != "list<string>" for c in columns)
        days = (
            column.name
            for column in columns
            if column.name in self._table.key and column.dtype in ("date", "timestamp")
        )
        return {"engine": "engine" if is_single else None, "date": next(days, None)}

    def describe(
        self, column: Column, name: str, absent: bool, measured: bool, path: PathOf
    ) -> ColumnMetadata:
        """The metadata of one column.

        Parameters
        ----------
        column, name
            The declared column, and its name in metadata.
        absent, measured
            Whether the answer lacks its field; whether it holds any value.
        path
            Gives the JSON path of its value in a row.
        """
        if self._are_of_section:
            state = self._simple.get((absent, measured))
            if state is None:
                state = _alone(column, self._signals, absent, measured)
                self._simple[absent, measured] = state
            return ColumnMetadata(name, state)
        if column.name in self._table.key or (absent and not is_unmeasured(self._signals)):
            return ColumnMetadata(name, _alone(column, self._signals, absent, measured))
        base = stated(column, self._signals)
        statements, beyond = self._conditional(column)
        rows, joined = self._of_rows(column, path)
        if base.status not in EMPTY and _is_number(column):
            base = _with_rows(base, beyond)
        base = _with_rows(base, joined)
        statements += rows
        if statements and base == UNKNOWN and measured:
            base = _MEASURED
        base = _with_values(base, measured)
        overall = self._overall(base, statements)
        return ColumnMetadata(name, overall, tuple(statements), base if statements else None)

    def denied(self, column: Column, array: pa.Array, path: PathOf) -> Mask | None:
        """The rows whose number is denied, if any."""
        state = stated(column, self._signals) if self._are_narrow else self._whole
        denied, states = self._denied_together(state.status in EMPTY), self._states(column)
        if (denied is None and not states) or array.null_count == len(array):
            return None
        is_valid: Mask = array.is_valid().to_numpy(zero_copy_only=False)
        denied = np.zeros(self._size, bool) if denied is None else denied & is_valid
        for row in np.flatnonzero(is_valid).tolist() if states else ():
            place = narrowest_path(path(row), states)
            if place:
                denied[row] = states[place].status in EMPTY
        return denied if denied.any() else None

    @cached_property
    def _are_narrow(self) -> bool:
        return any(signal.scope in ("row", "field") for signal in self._signals)

    @cached_property
    def _whole(self) -> Availability:
        return section_state(self._signals) or UNKNOWN

    def _denied_together(self, is_empty: bool) -> Mask | None:
        """The rows denied by their engine, or with all others, if any are."""
        if is_empty not in self._denied:
            denied = np.full(self._size, is_empty)
            engines = self._arrays.get("engine") if self._dimensions["engine"] else None
            for signal in self._signals if engines is not None else ():
                if signal.scope == "engine":
                    rows = pc.fill_null(pc.equal(engines, signal.target), False)
                    denied[rows.to_numpy(zero_copy_only=False)] = denies(signal)
            self._denied[is_empty] = denied if denied.any() else None
        return self._denied[is_empty]

    def _states(self, column: Column) -> dict[str, Availability]:
        """What is stated of single rows of a column, by their JSON path."""
        if not self._are_narrow:
            return {}
        return {
            format_json_path(target_steps(signal.target or "")): signal.availability
            for signal in _of_some(column, self._signals)
        }

    def _conditional(self, column: Column) -> tuple[list[Statement], list[Availability]]:
        """Statements about engines and days; and the states of those whose rows are summed."""
        statements: list[Statement] = []
        beyond: list[Availability] = []
        for signal in self._signals:
            concerns = signal.scope in ("engine", "section") or (
                signal.scope == "field" and reach(signal.target or "", column.pattern) == "all"
            )
            if not signal.rows or not concerns:
                continue
            state = signal.availability
            if signal.scope == "engine":
                state = replace(state, reason=f"{signal.target}: {state.reason or state}")
            conditions = self._resolved(signal.rows)
            if conditions is not None:
                statements.append(Statement(state, conditions))
            elif state.status not in (Status.AVAILABLE, Status.UNKNOWN):
                beyond.append(replace(state, status=Status.PARTIAL))
        return statements, list(dict.fromkeys(beyond))

    def _resolved(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
        """Rewrite conditions to the table's own columns; None where it lacks one."""
        resolved = []
        for condition in conditions:
            name = self._dimensions.get(condition.column, condition.column)
            if name is None or name not in self._arrays:
                return None
            resolved.append(replace(condition, column=name))
        return tuple(resolved)

    def _of_rows(self, column: Column, path: PathOf) -> tuple[list[Statement], list[Availability]]:
        """Statements about single rows, by their keys; or the states, where no key picks them."""
        states = self._states(column)
        rows: dict[Availability, list[int]] = {}
        for row in range(self._size) if states else ():
            place = narrowest_path(path(row), states)
            if place:
                rows.setdefault(states[place], []).append(row)
        statements: list[Statement] = []
        for state, listed in rows.items():
            named = self._by_key(listed)
            if named is None:
                return [], list(dict.fromkeys(states.values()))
            statements += [Statement(state, conditions) for conditions in named]
        return statements, []

    def _by_key(self, rows: list[int]) -> list[tuple[Condition, ...]] | None:
        """Conditions on the key that pick just these rows; None where there are none."""
        mask = np.zeros(self._size, bool)
        mask[rows] = True
        names = [name for name in self._table.key if name in self._arrays]
        keys = {name: self._arrays[name].take(pa.array(rows)).to_pylist() for name in names}
        if not names or any(None in values for values in keys.values()):
            return None
        for name, values in keys.items():
            distinct = tuple(dict.fromkeys(map(as_text, values)))
            condition = Condition(name, "in", distinct)
            if len(distinct) <= _MOST_ROWS and (self._match((condition,)) == mask).all():
                return [(condition,)]
        if len(rows) > _MOST_ROWS:
            return None
        named = [
            tuple(Condition(name, "in", (as_text(keys[name][at]),)) for name in names)
            for at in range(len(rows))
        ]
        picked = np.logical_or.reduce([*map(self._match, named)])
        return named if (picked == mask).all() else None

    def _match(self, conditions: Sequence[Condition]) -> Mask:
        """Mask of the rows that match conditions, evaluated on distinct values only."""
        matching = np.ones(self._size, bool)
        for condition in conditions:
            if condition not in self._masks:
                array = self._arrays[condition.column]
                distinct = pc.unique(array)
                held = pa.array(condition.matches(distinct.to_pylist()), pa.bool_())
                wanted = distinct.filter(held)
                if pa.types.is_dictionary(array.type):
                    array, wanted = array.cast(pa.string()), wanted.cast(pa.string())
                found = pc.is_in(array, value_set=wanted)
                self._masks[condition] = found.to_numpy(zero_copy_only=False).astype(bool)
            matching &= self._masks[condition]
        return matching

    def _overall(self, base: Availability, statements: list[Statement]) -> Availability:
        """The status of the whole column: that of all its rows combined."""
        if not statements or not self._size:
            return base
        masks = [self._match(statement.rows) for statement in statements]
        pairs = zip(statements, masks, strict=True)
        parts = [statement.availability for statement, mask in pairs if mask.any()]
        if not np.logical_or.reduce(masks).all():
            parts.insert(0, base)
        return combine(parts) if len(parts) > 1 else parts[0]


def _alone(column: Column, signals: list[Signal], absent: bool, measured: bool) -> Availability:
    """The availability of a column without its rows."""
    if absent and not is_unmeasured(signals):
        return _ABSENT
    return _with_values(stated(column, signals), measured)


def _with_values(state: Availability, measured: bool) -> Availability:
    """Turn a state of no value into ``partial`` where the column has values."""
    return combine([state, _MEASURED]) if measured and state.status in EMPTY else state


def _with_rows(state: Availability, rows: Sequence[Availability]) -> Availability:
    """Combine a column's state with those of its rows; an unknown state yields to theirs."""
    if not rows:
        return state
    return combine(rows if state == UNKNOWN else [state, *rows])


def _is_number(column: Column) -> bool:
    return column.dtype in ("Int64", "Float64") and not column.is_label


def _of_some(column: Column, signals: Iterable[Signal]) -> list[Signal]:
    """The statements about single rows of a column, or single entries of its table."""
    return [
        signal
        for signal in signals
        if signal.scope in ("row", "field")
        and signal.target
        and reach(signal.target, column.pattern) == "some"
    ]


def state_of(
    table: Table, column: Column, signals: list[Signal], absent: bool, measured: bool
) -> Availability:
    """The availability of a column: its narrowest statement, combined with those of its rows.

    Parameters
    ----------
    table, column
        The declared column.
    signals
        What the answer states about its availability.
    absent
        Whether the answer lacks the column's field.
    measured
        Whether the column holds any value: then it is not wholly unmeasured, whatever is stated.
    """
    if absent and not is_unmeasured(signals):
        return _ABSENT
    state = stated(column, signals)
    if column.name not in table.key:
        rows = [signal.availability for signal in _of_some(column, signals)]
        state = _with_rows(state, [*dict.fromkeys(rows)])
    return _with_values(state, measured)


def section_state(signals: Iterable[Signal]) -> Availability | None:
    """Availability of the section as a whole; that of the transport alone if there is one.

    Statements of one weight are combined. Those about some rows only are not among them.
    """
    whole = [signal for signal in signals if signal.scope == "section" and not signal.rows]
    transport = [signal.availability for signal in whole if signal.rule == "transport"]
    first = transport or [signal.availability for signal in whole]
    return combine(first) if len(first) > 1 else next(iter(first), None)


def is_unmeasured(signals: list[Signal]) -> bool:
    """Whether the section as a whole could not be measured."""
    state = section_state(signals)
    return state is not None and state.status in EMPTY


def is_silent(section: Section, document: object, signals: Iterable[Signal]) -> bool:
    """Whether an answer is the reason why there is none: it is an error, or has no body of its own.

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


def stated(column: Column, signals: list[Signal]) -> Availability:
    """The narrowest statement about a whole column; that of the section if there is none."""
    reaches = [
        (len(target_steps(signal.target or "")), signal.availability)
        for signal in signals
        if signal.scope == "field"
        and not signal.rows
        and reach(signal.target or "", column.pattern) == "all"
    ]
    narrowest = max((length for length, _ in reaches), default=0)
    states = [state for length, state in reaches if length == narrowest]
    if states:
        return combine(states) if len(states) > 1 else states[0]
    return section_state(signals) or UNKNOWN


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
    some = False
    for step, every in zip(steps, column, strict=False):
        if step == every:
            continue
        of_array = isinstance(every, Each) and isinstance(step, Position)
        of_object = isinstance(every, Entries) and isinstance(step, Field)
        if not (of_array or of_object):
            return None
        some = True
    return "some" if some else "all"


def in_words(metadata: FrameMetadata, signals: list[Signal]) -> str:
    """The availability of a table in words: of all its columns but the key."""
    columns = metadata.columns
    states = [column.availability for name, column in columns.items() if name not in metadata.key]
    states = states or [column.availability for column in columns.values()]
    whole = combine({id(state): state for state in states}.values())  # most columns share theirs
    section = section_state(signals)
    return str(section if section is not None and section.status == whole.status else whole)


def hint_table(detection: Detection, watched: Callable[[], Iterable[Hint]]) -> pd.DataFrame:
    """Build a frame of hints, values that may be about availability, one row each."""
    hints = {hint.path: hint for hint in (*watched(), *detection.hints)}.values()
    return text_frame(("path", "value", "why"), [(h.path, h.value, h.why) for h in hints])


def signal_table(signals: list[Signal]) -> pd.DataFrame:
    """Build a frame of statements, one row each; one row ``unknown`` if there are none."""
    import pandas as pd

    listed = signals or [Signal("section", None, UNKNOWN, None, None, "", "nothing found")]
    states = [signal.availability for signal in listed]
    frame = text_frame(
        ("target", "rows", "cause", "reason", "evidence", "rule", "raw"),
        [
            (
                signal.target,
                " and ".join(map(str, signal.rows)) or None,
                state.cause and str(state.cause),
                state.reason,
                signal.path,
                signal.rule,
                signal.raw,
            )
            for signal, state in zip(listed, states, strict=True)
        ],
    )
    sizes, _ = coerce_values([signal.sample_size for signal in listed], "Int64")
    moments, _ = coerce_values([signal.as_of for signal in listed], "timestamp")
    scopes = ["section", "field", "row", "engine"]
    frame.insert(0, "scope", pd.Series(pd.Categorical([each.scope for each in listed], scopes)))
    words = [str(state.status) for state in states]
    statuses = pd.Categorical(words, [str(status) for status in Status])
    frame.insert(3, "status", pd.Series(statuses))
    frame.insert(6, "sample_size", pd.array(sizes.to_pylist(), dtype="Int64"))
    frame.insert(7, "as_of", moments.to_pandas())
    return frame
