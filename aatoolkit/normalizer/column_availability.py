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
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
PathOf = Callable[[int], str | None]
"""Gives the JSON path of a column's value in a row."""

INFERRED = "options"
"""The rule of scope options, whose signals are listed and change nothing that an answer gives."""

WHY = "denied"
"""The reason in ``extra`` for a number that an answer denies."""

_MOST_ROWS = 500
"""More rows than this are not named: their statements become the column's."""

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
    array
        Gives the table's columns, of which those of its key, of engines and of days pick rows.
    size
        How many rows it has.
    """

    def __init__(
        self, table: Table, signals: Iterable[Signal], array: Callable[[str], pa.Array], size: int
    ) -> None:
        self._table, self._array, self._size = table, array, size
        self._signals = [signal for signal in signals if signal.rule != INFERRED]
        self._values: dict[str, list[Any]] = {}
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
        if absent and not is_unmeasured(self._signals):
            return ColumnMetadata(name, _ABSENT)
        base = stated(column, self._signals)
        if column.name in self._table.key:
            return ColumnMetadata(name, _with_values(base, measured))
        statements, beyond = self._conditional(column)
        rows, joined = self._of_rows(column, path)
        if (
            base.status not in EMPTY
            and column.dtype in ("Int64", "Float64")
            and not column.is_label
        ):
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
        narrow = any(signal.scope in ("field", "row") for signal in self._signals)
        state = stated(column, self._signals) if narrow else self._whole
        together = self._together(state.status in EMPTY)
        states = self._states(column) if narrow else {}
        if not states and together is None:
            return None
        is_valid: Mask = array.is_valid().to_numpy(zero_copy_only=False)
        denied = is_valid & (False if together is None else together)
        for row in np.flatnonzero(is_valid).tolist() if states else ():
            place = narrowest_path(path(row), states)
            if place:
                denied[row] = states[place].status in EMPTY
        return denied if denied.any() else None

    @cached_property
    def _whole(self) -> Availability:
        return section_state(self._signals) or UNKNOWN

    def _together(self, is_empty: bool) -> Mask | None:
        """The rows denied by their engine, or with all others, if any are."""
        if is_empty not in self._denied:
            denied = np.full(self._size, is_empty)
            for signal in self._signals if self._dimensions["engine"] else ():
                if signal.scope == "engine":
                    engine = Condition("engine", "in", (signal.target or "",))
                    denied[self._match((engine,))] = denies(signal)
            self._denied[is_empty] = denied if denied.any() else None
        return self._denied[is_empty]

    def _states(self, column: Column) -> dict[str, Availability]:
        """What is stated of single rows of a column, by their JSON path."""
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
            names = [self._dimensions.get(rows.column, rows.column) or "" for rows in signal.rows]
            if all(name in self._table.names for name in names):
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
        statements = [
            Statement(state, conditions)
            for state, numbers in rows.items()
            for conditions in self._by_key(numbers)
        ]
        is_named = all(map(self._by_key, rows.values()))
        return (statements, []) if is_named else ([], list(dict.fromkeys(states.values())))

    def _by_key(self, rows: list[int]) -> list[tuple[Condition, ...]]:
        """Conditions on the key that pick just these rows; none where there are none."""
        mask = np.zeros(self._size, bool)
        mask[rows] = True
        names = [name for name in self._table.key if name in self._table.names]
        keys = {name: [self._list(name)[row] for row in rows] for name in names}
        if len(rows) > _MOST_ROWS or any(None in values for values in keys.values()):
            return []
        texts = {name: [*map(as_text, values)] for name, values in keys.items()}
        listed: list[list[tuple[Condition, ...]]] = [
            [(Condition(name, "in", tuple(dict.fromkeys(texts[name]))),)] for name in names
        ]
        listed.append(
            [
                tuple(Condition(name, "in", (text,)) for name, text in zip(names, row, strict=True))
                for row in zip(*texts.values(), strict=True)
            ]
        )
        for conditions in listed:
            masks = [*map(self._match, conditions)]
            if masks and (np.logical_or.reduce(masks) == mask).all():
                return conditions
        return []

    def _list(self, name: str) -> list[Any]:
        if name not in self._values:
            self._values[name] = self._array(name).to_pylist()
        return self._values[name]

    def _match(self, conditions: Sequence[Condition]) -> Mask:
        """Mask of the rows that match conditions."""
        matching = np.ones(self._size, bool)
        for condition in conditions:
            values = self._list(condition.column)
            distinct = [*dict.fromkeys(values)]
            is_met = dict(zip(distinct, condition.matches(distinct), strict=True))
            matching &= np.array([is_met[value] for value in values], bool)
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
        return _combined(parts)


def _combined(states: Iterable[Availability]) -> Availability:
    """Combine states; one alone stays as it is."""
    listed = [*states]
    return combine(listed) if len(listed) > 1 else listed[0]


def _with_values(state: Availability, measured: bool) -> Availability:
    """Turn a state of no value into ``partial`` where the column has values."""
    return combine([state, _MEASURED]) if measured and state.status in EMPTY else state


def _with_rows(state: Availability, rows: Sequence[Availability]) -> Availability:
    """Combine a column's state with those of its rows; an unknown state yields to theirs."""
    if not rows:
        return state
    return combine(rows if state == UNKNOWN else [state, *rows])


def _of_some(column: Column, signals: Iterable[Signal]) -> list[Signal]:
    """The statements about single rows of a column, or single entries of its table."""
    return [
        signal
        for signal in signals
        if signal.scope in ("row", "field") and reach(signal.target or "", column.pattern) == "some"
    ]


def section_state(signals: Iterable[Signal]) -> Availability | None:
    """Availability of the section as a whole; that of the transport alone if there is one.

    Statements of one weight are combined. Those about some rows only are not among them.
    """
    whole = [signal for signal in signals if signal.scope == "section" and not signal.rows]
    first = [signal for signal in whole if signal.rule == "transport"] or whole
    return _combined(signal.availability for signal in first) if first else None


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
    if reaches:
        narrowest = max(length for length, _ in reaches)
        return _combined(state for length, state in reaches if length == narrowest)
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
    rows = [
        (
            signal.target,
            " and ".join(map(str, signal.rows)) or None,
            signal.availability.cause and str(signal.availability.cause),
            signal.availability.reason,
            signal.path,
            signal.rule,
            signal.raw,
        )
        for signal in listed
    ]
    frame = text_frame(("target", "rows", "cause", "reason", "evidence", "rule", "raw"), rows)
    sizes, _ = coerce_values([signal.sample_size for signal in listed], "Int64")
    moments, _ = coerce_values([signal.as_of for signal in listed], "timestamp")
    scopes = pd.Categorical(
        [signal.scope for signal in listed], ["section", "field", "row", "engine"]
    )
    statuses = pd.Categorical(
        [str(signal.availability.status) for signal in listed], [*map(str, Status)]
    )
    frame.insert(0, "scope", pd.Series(scopes))
    frame.insert(3, "status", pd.Series(statuses))
    frame.insert(6, "sample_size", pd.array(sizes.to_pylist(), dtype="Int64"))
    frame.insert(7, "as_of", moments.to_pandas())
    return frame
