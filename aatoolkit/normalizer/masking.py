"""Masking: numbers that an answer denies are shown as missing, and kept in ``extra``.

A number beside ``hasData: false`` is no measurement, and least of all where it is 0. What is
known about a value is what the narrowest statement about it states: its own row or cell, else its
engine, else its field, else the section. What was thin, late or cut short is partial and keeps
its numbers; keys, positions and sizes of samples are no measurements and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.availability import Availability
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.paths import format_json_path
from aatoolkit.metadata.attrs import EMPTY
from aatoolkit.normalizer.column_availability import INFERRED, reach, stated, target_steps
from aatoolkit.sections.section import Column

Mask = npt.NDArray[np.bool_]

WHY = "denied"
"""The reason in ``extra`` for a number that an answer denies."""


class Denials:
    """What an answer denies of the numbers of one table.

    Parameters
    ----------
    signals : list of Signal
        What the answer states about its availability.
    size : int
        The number of rows.
    engines : pyarrow.Array or None
        The engine of each row; None where the table has no such column. A row of several
        engines is no row of one.
    """

    def __init__(self, signals: list[Signal], size: int, engines: pa.Array | None) -> None:
        self._signals, self._size = signals, size
        self._engines = None if engines is None or pa.types.is_list(engines.type) else engines
        self._are_narrow = any(signal.scope in ("row", "field") for signal in signals)
        self._masks: dict[bool, Mask] = {}

    def rows(
        self, column: Column, array: pa.Array, path: Callable[[int], str | None]
    ) -> Mask | None:
        """The rows whose number is denied, if any; ``path`` gives the JSON path in a row."""
        if array.null_count == len(array):
            return None
        is_empty = stated(column, self._signals).status in EMPTY if self._are_narrow else self._all
        denied = self._mask(is_empty)
        states = states_of_rows(column, self._signals) if self._are_narrow else {}
        if states:
            denied = denied.copy()
            for row in np.flatnonzero(array.is_valid()).tolist():
                place = narrowest_path(path(row), states)
                if place:
                    denied[row] = states[place].status in EMPTY
        if not denied.any():
            return None
        denied = denied & array.is_valid().to_numpy(zero_copy_only=False)
        return denied if denied.any() else None

    @cached_property
    def _all(self) -> bool:
        """Whether the section as a whole is denied."""
        return stated(None, self._signals).status in EMPTY

    def _mask(self, is_empty: bool) -> Mask:
        """The rows denied by their engine, or with all others."""
        if is_empty not in self._masks:
            mask = np.full(self._size, is_empty)
            for signal in self._signals if self._engines is not None else ():
                if signal.scope == "engine" and signal.rule != INFERRED:
                    rows = pc.fill_null(pc.equal(self._engines, signal.target), False)
                    mask[rows.to_numpy(zero_copy_only=False)] = denies(signal)
            self._masks[is_empty] = mask
        return self._masks[is_empty]


def denies(signal: Signal) -> bool:
    """Whether a statement denies the numbers it is about."""
    return signal.availability.status in EMPTY


def denies_any(signals: Iterable[Signal]) -> bool:
    """Whether an answer denies any numbers; scope options never do."""
    return any(denies(signal) and signal.rule != INFERRED for signal in signals)


def states_of_rows(column: Column, signals: Iterable[Signal]) -> dict[str, Availability]:
    """What is stated of single rows of a column, by their JSON path."""
    return {
        format_json_path(target_steps(signal.target)): signal.availability
        for signal in signals
        if signal.scope in ("row", "field")
        and signal.target
        and reach(signal.target, column.pattern) == "some"
    }


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
