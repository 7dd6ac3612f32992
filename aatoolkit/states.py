"""What is known of columns: what an answer says of itself, brought to each of its columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status, combine
from aatoolkit.metadata import FrameMetadata
from aatoolkit.recognise import Signal
from aatoolkit.section import Column, Table
from aatoolkit.typed import typed

if TYPE_CHECKING:
    import pandas as pd

_EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)


def state_of(
    table: Table, column: Column, signals: list[Signal], absent: bool, measured: bool
) -> Availability:
    """What is known of a column: the narrowest signal, joined with those of its engines.

    Parameters
    ----------
    table, column
        The declared column.
    signals
        What the answer says of itself.
    absent
        Whether the answer lacks the column's field.
    measured
        Whether the column holds any value: then it is not wholly unmeasured, whatever is said.
    """
    if absent and not _unmeasured(signals):
        return Availability(Status.UNKNOWN, Cause.ABSENT)
    telling = [signal for signal in signals if _tells(signal, column)]
    state = max(telling, key=_narrowness).availability if telling else UNKNOWN
    engines = [_of_engine(signal) for signal in signals if signal.scope == "engine"]
    if engines and "engine" in table.names and column.name not in table.key:
        state = combine([state, *engines])
    if measured and state.status in _EMPTY:
        return combine([state, Availability(Status.AVAILABLE)])
    return state


def _of_engine(signal: Signal) -> Availability:
    """What an answer says of one engine, with the engine's id before the service's words."""
    said = signal.availability.reason or str(signal.availability)
    return replace(signal.availability, reason=f"{signal.target}: {said}")


def _unmeasured(signals: list[Signal]) -> bool:
    return any(
        signal.scope == "section" and signal.availability.status in _EMPTY for signal in signals
    )


def _tells(signal: Signal, column: Column) -> bool:
    """Whether a signal is about a column: about its section, its field or what encloses it."""
    target = signal.target or ""
    enclosing = tuple(f"{target}{step}" for step in (".", "[", "{"))
    return signal.scope == "section" or (
        signal.scope == "field"
        and (column.pattern == target or column.pattern.startswith(enclosing))
    )


def _narrowness(signal: Signal) -> int:
    return len(signal.target or "")


def in_words(known: FrameMetadata, signals: list[Signal]) -> str:
    """The availability of a table in words: of all its columns but the key."""
    states = [
        column.availability for name, column in known.columns.items() if name not in known.key
    ]
    whole = combine(states or [column.availability for column in known.columns.values()])
    section = [signal.availability for signal in signals if signal.scope == "section"]
    if section and section[0].status == whole.status:
        return str(section[0])
    return str(whole)


def signal_table(signals: list[Signal]) -> pd.DataFrame:
    """What an answer says of itself, one row a statement; where it says nothing, ``unknown``."""
    import pandas as pd

    statuses = pd.CategoricalDtype([str(status) for status in Status])
    said = signals or [Signal("section", None, UNKNOWN, None, None, "", "nothing found")]
    sizes, _ = typed([signal.sample_size for signal in said], "Int64")
    moments, _ = typed([signal.as_of for signal in said], "timestamp")
    return pd.DataFrame(
        {
            "scope": pd.Categorical(
                [signal.scope for signal in said], ["section", "field", "engine"]
            ),
            "target": pd.array([signal.target for signal in said], dtype="string"),
            "status": pd.Categorical(
                [str(signal.availability.status) for signal in said], dtype=statuses
            ),
            "cause": pd.array(
                [signal.availability.cause and str(signal.availability.cause) for signal in said],
                dtype="string",
            ),
            "reason": pd.array([signal.availability.reason for signal in said], dtype="string"),
            "sample_size": pd.array(sizes.to_pylist(), dtype="Int64"),
            "as_of": moments.to_pandas(),
            "evidence": pd.array([signal.path for signal in said], dtype="string"),
            "rule": pd.array([signal.rule for signal in said], dtype="string"),
        }
    )
