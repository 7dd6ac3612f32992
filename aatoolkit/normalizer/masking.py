"""Masking: numbers that an answer denies are shown as missing, and kept in ``extra``.

A number beside ``hasData: false`` is no measurement, and least of all where it is 0. What is
known about a value is what the narrowest statement about it states: its own row or cell, else its
engine, else its field, else the section. What was thin, late or cut short is partial and keeps
its numbers; keys, positions and sizes of samples are no measurements and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.availability import Availability
from aatoolkit.availability.detect import Signal, is_size
from aatoolkit.jsontree.paths import Field, format_json_path, parse_path
from aatoolkit.metadata.attrs import EMPTY
from aatoolkit.normalizer.column_availability import INFERRED, reach, stated, target_steps
from aatoolkit.sections.section import Column, Table

Mask = npt.NDArray[np.bool_]

EngineRows = tuple[Mask, bool]
"""Rows of an engine, and whether their numbers are denied."""

WHY = "denied"
"""The reason in ``extra`` for a number that an answer denies."""


def mask_denied(
    array: pa.Array,
    engine_rows: Callable[[], list[EngineRows]],
    table: Table,
    column: Column,
    signals: list[Signal],
    path: Callable[[int], str],
) -> tuple[pa.Array, list[int]]:
    """Mask the numbers of a measure that an answer denies; return the rows concerned.

    Parameters
    ----------
    array
        The column's values.
    engine_rows
        What gives `rows_by_engine` of the table, which all its columns share.
    table, column
        What is declared.
    signals
        What the answer states about its availability.
    path
        The JSON path of the value in a row.
    """
    if array.null_count == len(array):
        return array, []
    given = array.is_valid().to_numpy(zero_copy_only=False)
    denied = np.full(len(array), stated(column, signals).status in EMPTY)
    for there, is_denied in engine_rows():
        denied[there] = is_denied
    states = {
        format_json_path(target_steps(signal.target)): signal.availability
        for signal in signals
        if signal.scope in ("row", "field")
        and signal.target
        and reach(signal.target, column.pattern) == "some"
    }
    if states:
        _by_row(denied, np.flatnonzero(given), states, path)
    rows = np.flatnonzero(denied & given)
    if len(rows):
        array = pc.if_else(pa.array(denied), pa.scalar(None, array.type), array)
    return array, rows.tolist()


def denies_any(signals: Iterable[Signal]) -> bool:
    """Whether an answer denies any numbers; scope options never do."""
    return any(_denies(signal) and signal.rule != INFERRED for signal in signals)


def _denies(signal: Signal) -> bool:
    return signal.availability.status in EMPTY


def is_measure(table: Table, column: Column) -> bool:
    """Whether a column holds measured numbers, and not keys, labels or sample sizes."""
    if column.name in table.key or column.is_label or column.dtype not in ("Int64", "Float64"):
        return False
    names = [step.name for step in parse_path(column.pattern) if isinstance(step, Field)]
    return not is_size(names[-1] if names else "")


def rows_by_engine(engines: pa.Array | None, signals: Iterable[Signal]) -> list[EngineRows]:
    """The rows of each engine of which an answer states something, and whether it denies them.

    Scope options never deny a number.

    Parameters
    ----------
    engines
        The engine of each row; None where the table has no column of that name. A row of several
        engines is no row of one.
    signals
        What the answer states.
    """
    if engines is None or pa.types.is_list(engines.type):
        return []
    return [
        (
            pc.fill_null(pc.equal(engines, signal.target), False).to_numpy(zero_copy_only=False),
            _denies(signal),
        )
        for signal in signals
        if signal.scope == "engine" and signal.rule != INFERRED
    ]


def _by_row(
    denied: Mask,
    rows: npt.NDArray[np.intp],
    states: Mapping[str, Availability],
    path: Callable[[int], str],
) -> None:
    for row in rows.tolist():
        found = narrowest_path(path(row), states)
        if found:
            denied[row] = states[found].status in EMPTY


def narrowest_path(path: str, states: Mapping[str, Availability]) -> str:
    """The narrowest path at or above a JSON path that has a statement; empty if none has.

    Examples
    --------
    >>> narrowest_path("$.points[0].rate", {"$.points[0]": Availability()})
    '$.points[0]'
    """
    while path and path not in states:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path
