"""Availability of each column, from the statements detected in an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status, combine
from aatoolkit.availability.detect import Detection, Hint, Signal
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.paths import Each, Entries, Field, Position, Step, parse_path
from aatoolkit.metadata.attrs import EMPTY, FrameMetadata
from aatoolkit.sections.section import ENVELOPE, Column, Section, Table

if TYPE_CHECKING:
    import pandas as pd

INFERRED = "options"
"""The rule of scope options, whose signals are listed and change nothing that an answer gives."""


def state_of(
    table: Table,
    column: Column,
    signals: list[Signal],
    absent: bool,
    measured: bool,
) -> Availability:
    """The availability of a column: its narrowest statement, combined with its rows and engines.

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
        return Availability(Status.UNKNOWN, Cause.ABSENT)
    state = stated(column, signals)
    if column.name not in table.key:
        state = with_rows(state, [*_of_rows(column, signals)])
        engines = [
            of_engine(signal)
            for signal in signals
            if signal.scope == "engine" and signal.rule != INFERRED
        ]
        if "engine" in table.names:
            state = with_rows(state, engines)
    if measured and state.status in EMPTY:
        return combine([state, Availability(Status.AVAILABLE)])
    return state


def section_state(signals: Iterable[Signal]) -> Availability | None:
    """Availability of the section as a whole; that of the transport alone if there is one.

    Statements of one weight are combined. Those about some rows only are not among them.
    """
    whole = [signal for signal in signals if signal.scope == "section" and not signal.rows]
    transport = [signal.availability for signal in whole if signal.rule == "transport"]
    first = transport or [signal.availability for signal in whole]
    return combine(first) if len(first) > 1 else next(iter(first), None)


def is_silent(section: Section, document: object, signals: Iterable[Signal]) -> bool:
    """Whether an answer is the reason why there is none: it is an error, or has no body of its own.

    Then its tables are empty with that reason, and that it lacks their fields is no drift.
    """
    if not any(
        signal.scope == "section"
        and signal.rule in ("transport", "error")
        and signal.availability.status in EMPTY
        for signal in signals
    ):
        return False
    given = document if isinstance(document, Mapping) else {}
    own = (parse_path(column.pattern)[:1] for table in section for column in table.columns)
    names = {step.name for first in own for step in first if isinstance(step, Field)}
    return not any(name in given and name not in ENVELOPE for name in names)


def stated(column: Column | None, signals: list[Signal]) -> Availability:
    """The narrowest statement about a whole column; that of the section if there is none."""
    reaches = [
        (len(target_steps(signal.target or "")), signal.availability)
        for signal in signals
        if signal.scope == "field"
        and not signal.rows
        and column is not None
        and reach(signal.target or "", column.pattern) == "all"
    ]
    narrowest = max((length for length, _ in reaches), default=0)
    states = [state for length, state in reaches if length == narrowest]
    if states:
        return combine(states) if len(states) > 1 else states[0]
    return section_state(signals) or UNKNOWN


def _of_rows(column: Column, signals: Iterable[Signal]) -> dict[Availability, None]:
    """Statements about single rows of a column, or single entries of its table."""
    return dict.fromkeys(
        signal.availability
        for signal in signals
        if signal.scope in ("row", "field")
        and signal.target
        and reach(signal.target, column.pattern) == "some"
    )


def with_rows(state: Availability, rows: list[Availability]) -> Availability:
    """Combine a column's state with those of its rows; an unknown state yields to theirs."""
    if not rows:
        return state
    return combine(rows if state == UNKNOWN else [state, *rows])


def of_engine(signal: Signal) -> Availability:
    """Availability of one engine, with the engine's id before the service's words."""
    reason = signal.availability.reason or str(signal.availability)
    return replace(signal.availability, reason=f"{signal.target}: {reason}")


def is_unmeasured(signals: list[Signal]) -> bool:
    """Whether the section as a whole could not be measured."""
    state = section_state(signals)
    return state is not None and state.status in EMPTY


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


def in_words(known: FrameMetadata, signals: list[Signal]) -> str:
    """The availability of a table in words: of all its columns but the key."""
    states = [
        column.availability for name, column in known.columns.items() if name not in known.key
    ]
    states = states or [column.availability for column in known.columns.values()]
    whole = combine({id(state): state for state in states}.values())  # most columns share theirs
    section = section_state(signals)
    return str(section if section is not None and section.status == whole.status else whole)


def hint_table(detection: Detection, watched: Callable[[], Iterable[Hint]]) -> pd.DataFrame:
    """Build a frame of hints, values that may be about availability, one row each."""
    import pandas as pd

    found = {hint.path: hint for hint in (*watched(), *detection.hints)}
    return pd.DataFrame(
        {
            name: pd.array([getattr(hint, name) for hint in found.values()], dtype="string")
            for name in ("path", "value", "why")
        }
    )


def signal_table(signals: list[Signal]) -> pd.DataFrame:
    """Build a frame of statements, one row each; one row ``unknown`` if there are none."""
    import pandas as pd

    statuses = pd.CategoricalDtype([str(status) for status in Status])
    listed = signals or [Signal("section", None, UNKNOWN, None, None, "", "nothing found")]
    sizes, _ = coerce_values([signal.sample_size for signal in listed], "Int64")
    moments, _ = coerce_values([signal.as_of for signal in listed], "timestamp")

    def words(values: Iterable[str | None]) -> pd.api.extensions.ExtensionArray:
        return pd.array(list(values), dtype="string")

    return pd.DataFrame(
        {
            "scope": pd.Categorical(
                [signal.scope for signal in listed], ["section", "field", "row", "engine"]
            ),
            "target": words(signal.target for signal in listed),
            "rows": words(" and ".join(map(str, signal.rows)) or None for signal in listed),
            "status": pd.Categorical(
                [str(signal.availability.status) for signal in listed], dtype=statuses
            ),
            "cause": words(
                signal.availability.cause and str(signal.availability.cause) for signal in listed
            ),
            "reason": words(signal.availability.reason for signal in listed),
            "sample_size": pd.array(sizes.to_pylist(), dtype="Int64"),
            "as_of": moments.to_pandas(),
            "evidence": words(signal.path for signal in listed),
            "rule": words(signal.rule for signal in listed),
            "raw": words(signal.raw for signal in listed),
        }
    )
