"""Column metadata: the statements of an answer about all rows of a column, and about some.

A statement about an engine, the days after a day, or single rows is kept with the conditions
that pick its rows, so that it holds after a filter. Where a table lacks the column to pick them
by, its numbers sum over them: then all are partial, with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

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
from aatoolkit.availability.detect import Signal
from aatoolkit.availability.subject import as_text
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata
from aatoolkit.normalizer.column_availability import (
    INFERRED,
    is_unmeasured,
    of_engine,
    reach,
    stated,
    with_rows,
)
from aatoolkit.normalizer.masking import narrowest_path, states_of_rows
from aatoolkit.sections.section import Column, Table

Mask = npt.NDArray[np.bool_]
Describe = Callable[[Column, bool, bool, Callable[[int], str | None]], ColumnMetadata]

_MOST_ROWS = 500
"""More rows than this are not named one by one: their statements become the column's."""

_MEASURED = Availability(Status.AVAILABLE)


def describer(
    table: Table, before: str, signals: list[Signal], arrays: Mapping[str, pa.Array]
) -> Describe:
    """Return a function that makes the metadata of a table's columns.

    Parameters
    ----------
    table
        The declared table.
    before
        What its name is prefixed by in metadata.
    signals
        What the answer states.
    arrays
        The table's columns, of which those of its key, of engines and of days pick rows.

    Returns
    -------
    callable
        Takes the column, whether its field is absent, whether it holds any value, and what
        gives the JSON path of its value in a row.
    """
    explicit = [signal for signal in signals if signal.rule != INFERRED]
    if all(signal.scope == "section" and not signal.rows for signal in explicit):
        known: dict[tuple[bool, bool], Availability] = {}

        def described(column: Column, absent: bool, measured: bool, _: object) -> ColumnMetadata:
            found = known.get((absent, measured))
            if found is None:
                found = _plain(table.columns[0], explicit, absent, measured)
                known[absent, measured] = found
            return ColumnMetadata(f"{before}{table.name}.{column.name}", found)

        return described
    return _Describer(table, before, explicit, arrays).describe


def _plain(column: Column, signals: list[Signal], absent: bool, measured: bool) -> Availability:
    if absent and not is_unmeasured(signals):
        return Availability(Status.UNKNOWN, Cause.ABSENT)
    return _with_values(stated(column, signals), measured)


def _with_values(state: Availability, measured: bool) -> Availability:
    """Turn a state of no value into ``partial`` where the column has values."""
    return combine([state, _MEASURED]) if measured and state.status in EMPTY else state


class _Describer:
    """Makes the metadata of the columns of one table."""

    def __init__(
        self, table: Table, before: str, signals: list[Signal], arrays: Mapping[str, pa.Array]
    ) -> None:
        self._table = table
        self._name = f"{before}{table.name}"
        self._signals = signals
        self._arrays = arrays
        self._size = max(map(len, arrays.values()), default=0)
        days = (
            column.name
            for column in table.columns
            if column.name in table.key and column.dtype in ("date", "timestamp")
        )
        # A row of several engines is no row of one: its numbers sum over them.
        one_engine = any(c.name == "engine" and c.dtype != "list<string>" for c in table.columns)
        self._dimensions = {"engine": "engine" if one_engine else None}
        self._dimensions["date"] = next(days, None)
        self._masks: dict[Condition, Mask] = {}

    def describe(
        self, column: Column, absent: bool, measured: bool, path: Callable[[int], str | None]
    ) -> ColumnMetadata:
        """The metadata of one column."""
        of = f"{self._name}.{column.name}"
        if column.name in self._table.key or (absent and not is_unmeasured(self._signals)):
            return ColumnMetadata(of, _plain(column, self._signals, absent, measured))
        base = stated(column, self._signals)
        statements, beyond = self._conditional(column)
        rows, joined = self._of_rows(column, path)
        if base.status not in EMPTY and _is_number(column):
            base = with_rows(base, beyond)
        base = with_rows(base, joined)
        statements += rows
        if statements and base == UNKNOWN and measured:
            base = _MEASURED
        base = _with_values(base, measured)
        overall = self._overall(base, statements)
        return ColumnMetadata(of, overall, tuple(statements), base if statements else None)

    def _conditional(self, column: Column) -> tuple[list[Statement], list[Availability]]:
        """Statements about engines and days; and the states of those whose rows are summed."""
        statements: list[Statement] = []
        beyond: list[Availability] = []
        for signal in self._signals:
            if not signal.rows or not _concerns(signal, column):
                continue
            state = of_engine(signal) if signal.scope == "engine" else signal.availability
            conditions = self._resolved(signal.rows)
            if conditions is not None:
                statements.append(Statement(state, conditions))
            elif state.status not in (Status.AVAILABLE, Status.UNKNOWN):
                beyond.append(replace(state, status=Status.PARTIAL))
        return statements, list(dict.fromkeys(beyond))

    def _resolved(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
        """Rewrite conditions to the table's own columns; None where it lacks one."""
        found = []
        for condition in conditions:
            name = self._dimensions.get(condition.column, condition.column)
            if name is None or name not in self._arrays:
                return None
            found.append(replace(condition, column=name))
        return tuple(found)

    def _of_rows(
        self, column: Column, path: Callable[[int], str | None]
    ) -> tuple[list[Statement], list[Availability]]:
        """Statements about single rows, by their keys; or the states, where no key picks them."""
        states = states_of_rows(column, self._signals)
        if not states:
            return [], []
        rows: dict[Availability, list[int]] = {}
        for row in range(self._size):
            found = narrowest_path(path(row), states)
            if found:
                rows.setdefault(states[found], []).append(row)
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
        key = [name for name in self._table.key if name in self._arrays]
        keys = {name: self._arrays[name].take(pa.array(rows)).to_pylist() for name in key}
        if not key or any(None in values for values in keys.values()):
            return None
        for name, values in keys.items():
            distinct = tuple(dict.fromkeys(map(as_text, values)))
            condition = Condition(name, "in", distinct)
            if len(distinct) <= _MOST_ROWS and (self._mask(condition) == mask).all():
                return [(condition,)]
        if len(rows) > _MOST_ROWS:
            return None
        named = [
            tuple(Condition(name, "in", (as_text(keys[name][at]),)) for name in key)
            for at in range(len(rows))
        ]
        picked = np.zeros(self._size, bool)
        for conditions in named:
            picked |= self._match(conditions)
        return named if (picked == mask).all() else None

    def _mask(self, condition: Condition) -> Mask:
        """Mask of the rows that match a condition, evaluated on distinct values only."""
        if condition not in self._masks:
            array = self._arrays[condition.column]
            distinct = pc.unique(array)
            matching = distinct.filter(
                pa.array(condition.matches(distinct.to_pylist()), pa.bool_())
            )
            if pa.types.is_dictionary(array.type):
                array, matching = array.cast(pa.string()), matching.cast(pa.string())
            found = pc.is_in(array, value_set=matching)
            self._masks[condition] = np.asarray(found.to_numpy(zero_copy_only=False), bool)
        return self._masks[condition]

    def _match(self, conditions: tuple[Condition, ...]) -> Mask:
        matching = np.ones(self._size, bool)
        for condition in conditions:
            matching &= self._mask(condition)
        return matching

    def _overall(self, base: Availability, statements: list[Statement]) -> Availability:
        """The status of the whole column: that of all its rows combined."""
        if not statements or not self._size:
            return base
        masks = [self._match(each.rows) for each in statements]
        parts = [
            each.availability for each, mask in zip(statements, masks, strict=True) if mask.any()
        ]
        if not np.logical_or.reduce(masks).all():
            parts.insert(0, base)
        return combine(parts) if len(parts) > 1 else parts[0]


def _is_number(column: Column) -> bool:
    return column.dtype in ("Int64", "Float64") and not column.is_label


def _concerns(signal: Signal, column: Column) -> bool:
    """Whether a statement about some rows concerns a column at all."""
    if signal.scope == "field":
        return reach(signal.target or "", column.pattern) == "all"
    return signal.scope in ("engine", "section")
