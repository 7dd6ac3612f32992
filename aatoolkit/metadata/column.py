"""The metadata of one column, and of one response that a frame was read from; the status of rows.

A statement with conditions (`aatoolkit.availability.subject`) decides the status of the rows
that match it; the other rows have the status of the column. Of two statements about a row the
narrower one counts, and equal ones are combined. Where the column of a condition is gone, any
row may be meant: then the statement is combined with what else is known of each row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition, Statement

Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """A response that a frame was read from; its window's days where the response gives them."""

    host: str | None = None
    section: str | None = None
    scope: str | None = None
    url: str | None = None
    fetched_at: str | None = None
    sha256: str | None = None
    stale: bool = False
    window_start: str | None = None
    window_end: str | None = None


@dataclass(frozen=True)
class ColumnMetadata:
    """The metadata of one column.

    Parameters
    ----------
    of : str, optional
        The declared column it is: ``table.column``. After a merge also the column of a frame
        that nobody declared, as a table of its own.
    availability : Availability
        Whether it could be measured, in the rows that the frame has.
    statements : tuple of Statement
        What is stated of some of its rows only, those that match conditions.
    otherwise : Availability, optional
        The availability of rows that no statement is about; ``availability`` if None.
    absent : tuple of Availability
        What is stated of rows that the frame lacks, such as those of a host whose response has
        none. It is part of ``availability``, and concerns totals, but no row that is there.
    caution : str, optional
        Why its numbers are approximate.
    """

    of: str | None = None
    availability: Availability = UNKNOWN
    statements: tuple[Statement, ...] = ()
    otherwise: Availability | None = field(default=None, compare=False)
    absent: tuple[Availability, ...] = ()
    caution: str | None = None

    @property
    def table(self) -> str:
        """The table of the column that it is; empty if there is none."""
        return (self.of or "").partition(".")[0]

    @property
    def elsewhere(self) -> Availability:
        """The availability of rows that no statement is about."""
        return self.availability if self.otherwise is None else self.otherwise

    def combined(self, availability: Availability) -> ColumnMetadata:
        """Return the column with an availability of some rows, not known which, combined in."""
        return replace(
            self,
            availability=combine([self.availability, availability]),
            otherwise=combine([self.elsewhere, availability]),
        )

    def renamed(self, names: Mapping[str, str]) -> ColumnMetadata:
        """Return the column with other names of columns in its conditions."""

        def anew(rows: Condition) -> Condition:
            return replace(rows, column=names.get(rows.column, rows.column))

        statements = (replace(it, rows=tuple(map(anew, it.rows))) for it in self.statements)
        return replace(self, statements=tuple(statements))

    def lacking(self, *absent: Availability) -> ColumnMetadata:
        """Return the column with the availability of rows that the frame does not contain."""
        new = tuple(dict.fromkeys((*self.absent, *absent)))
        total = combine([self.availability, *absent])
        return replace(self, availability=total, otherwise=self.elsewhere, absent=new)

    def within(self, *conditions: Condition) -> tuple[Statement, ...]:
        """Return the column's statements, limited to the rows that match some conditions."""
        return (
            Statement(self.elsewhere, conditions),
            *(Statement(it.availability, (*it.rows, *conditions)) for it in self.statements),
        )


NOTHING = ColumnMetadata()
"""The metadata of a column that has none."""


class RowStatus:
    """The availability of the rows of one frame, computed from statements.

    Parameters
    ----------
    arrays : mapping of str to array
        The frame's columns.
    rows : int
        How many rows it has.
    trusted : collection of str
        The columns whose values may decide which rows a statement concerns.
    """

    def __init__(self, arrays: Mapping[str, Any], rows: int, trusted: Collection[str]) -> None:
        self._arrays, self._rows = arrays, rows
        self._here = {*arrays} & {*trusted}
        self._masks: dict[Condition, Mask] = {}
        self._states: dict[Any, tuple[list[Availability], Codes]] = {}

    def states(
        self, otherwise: Availability, statements: Sequence[Statement]
    ) -> tuple[list[Availability], Codes]:
        """The distinct states of the rows, and for each row the number of its state."""
        if not self._rows or not statements:
            return [otherwise], np.zeros(self._rows, np.int64)
        stated = (otherwise, tuple(statements))
        if stated not in self._states:
            matches = np.column_stack([self._match(statement) for statement in statements])
            packed = np.packbits(matches, axis=1)
            _, first, codes = np.unique(packed, axis=0, return_index=True, return_inverse=True)
            kinds = [np.flatnonzero(matches[row]).tolist() for row in first]
            states = [self._state(otherwise, [statements[at] for at in kind]) for kind in kinds]
            self._states[stated] = states, codes.reshape(-1).astype(np.int64)
        return self._states[stated]

    def over(self, column: ColumnMetadata) -> ColumnMetadata:
        """The metadata of a column over the frame's rows."""
        state = combine(self.states(column.elsewhere, column.statements)[0])
        return replace(
            column, availability=combine([state, *column.absent]), otherwise=column.elsewhere
        )

    def _match(self, statement: Statement) -> Mask:
        """Mask of the rows that a statement concerns, or may concern."""
        mask = np.ones(self._rows, bool)
        for condition in statement.rows:
            if condition.column not in self._here:
                continue
            if condition not in self._masks:  # evaluated on distinct values only
                codes, distinct = pd.factorize(self._arrays[condition.column])
                matches = condition.matches(pd.Series(distinct).astype(object).tolist())
                self._masks[condition] = np.array([*matches, False], bool)[codes]
            mask &= self._masks[condition]
        return mask

    def _state(self, otherwise: Availability, matching: Sequence[Statement]) -> Availability:
        """The status of a row from the statements that match it."""
        columns = [{condition.column for condition in statement.rows} for statement in matching]
        is_sure = [names <= self._here for names in columns]
        sets = [{*s.rows} for s, sure in zip(matching, is_sure, strict=True) if sure]
        narrow, possible = [], []
        for statement, sure in zip(matching, is_sure, strict=True):
            if not sure:
                possible.append(statement.availability)
            elif not any({*statement.rows} < other for other in sets):
                narrow.append(statement.availability)
        return combine([*(narrow or [otherwise]), *possible])


def dump_state(availability: Availability) -> tuple[str | None, ...]:
    """Convert an availability to status, cause and reason."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_state(state: Sequence[Any]) -> Availability:
    """Build an availability from status, cause and reason."""
    status, cause, reason = state
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


Stated = tuple[tuple[Statement, ...], Availability, tuple[Availability, ...]]
"""Of a column its statements, the status of other rows, and what is stated of absent ones."""


def dump_statements(columns: Mapping[str, ColumnMetadata]) -> dict[str, Any]:
    """Serialize statements about rows, the status of other rows, and that of absent rows."""
    return {
        name: _dump((column.statements, column.elsewhere, column.absent))
        for name, column in columns.items()
        if column.statements or column.absent
    }


def _dump(value: Any) -> Any:
    if isinstance(value, Availability):
        return dump_state(value)
    if isinstance(value, tuple):
        return [*map(_dump, value)]
    return [*map(_dump, vars(value).values())] if hasattr(value, "__dict__") else value


def load_statements(body: Mapping[str, Any]) -> dict[str, Stated]:
    """Parse statements about rows, by column."""

    def rows(body: Sequence[Any]) -> Condition:
        column, op, values = body
        return Condition(column, op, tuple(values))

    return {
        name: (
            tuple(Statement(load_state(of), tuple(map(rows, items))) for of, items in statements),
            load_state(elsewhere),
            tuple(map(load_state, absent)),
        )
        for name, (statements, elsewhere, absent) in body.items()
    }
