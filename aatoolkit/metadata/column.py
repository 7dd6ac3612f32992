"""`ColumnMetadata` of one column, `Source` of one response, and `RowStatus` of the rows of a frame.

A statement with conditions (`aatoolkit.availability.subject`) decides the status of the rows that
meet the conditions; the other rows have the status of the column. If several statements are about a
row, the narrower counts: a statement is ignored if another has all its conditions and more. The
rest are combined. If the column of a condition is gone, the statement may be about any row, so it
is combined with the status that each row has otherwise.
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
    """A response that a frame was read from.

    ``window_start`` and ``window_end`` are the first and last day that the response covers, as
    texts; None if the response does not say.
    """

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
        The declared column, as ``table.column``. After a merge, the table may be one that stands
        for the merged frame and that no section declares.
    availability : Availability
        Whether the column could be measured, in the rows that the frame has and those in
        ``absent``.
    statements : tuple of Statement
        The statements about some rows of the column: the rows that meet conditions.
    other_rows : Availability, optional
        The availability of the rows that no statement is about; ``availability`` if None.
    absent : tuple of Availability
        The availability of rows that the frame lacks, such as those of a host whose response has no
        rows. A sum over the column lacks these rows, so ``availability`` includes them.
    caution : str, optional
        Why the numbers of the column are approximate.
    """

    of: str | None = None
    availability: Availability = UNKNOWN
    statements: tuple[Statement, ...] = ()
    other_rows: Availability | None = field(default=None, compare=False)
    absent: tuple[Availability, ...] = ()
    caution: str | None = None

    @property
    def table(self) -> str:
        """The name of the table that declares the column; empty if none does."""
        return (self.of or "").partition(".")[0]

    @property
    def elsewhere(self) -> Availability:
        """The availability of those rows of the frame that none of ``statements`` is about."""
        return self.availability if self.other_rows is None else self.other_rows

    def combined_with(self, availability: Availability) -> ColumnMetadata:
        """Return the metadata combined with an availability that any row of the column may have.

        Both the availability of the column and that of its ``other_rows`` are combined with
        ``availability``.
        """
        return replace(
            self,
            availability=combine([self.availability, availability]),
            other_rows=combine([self.elsewhere, availability]),
        )

    def renamed(self, names: Mapping[str, str]) -> ColumnMetadata:
        """Return the metadata with columns renamed in the conditions of its statements.

        ``names`` maps old names to new names.
        """

        def rename(condition: Condition) -> Condition:
            return replace(condition, column=names.get(condition.column, condition.column))

        statements = (
            replace(statement, rows=tuple(map(rename, statement.rows)))
            for statement in self.statements
        )
        return replace(self, statements=tuple(statements))

    def with_absences(self, *absent: Availability) -> ColumnMetadata:
        """Return the metadata with ``absent`` added: the availability of rows not in the frame."""
        all_absent = tuple(dict.fromkeys((*self.absent, *absent)))
        state = combine([self.availability, *absent])
        return replace(self, availability=state, other_rows=self.elsewhere, absent=all_absent)

    def statements_within(self, *conditions: Condition) -> tuple[Statement, ...]:
        """Return the column's statements, limited to the rows that meet all ``conditions``.

        A first statement is added, with the availability of the rows that meet ``conditions`` and
        that no other statement is about.
        """
        return (
            Statement(self.elsewhere, conditions),
            *(
                Statement(statement.availability, (*statement.rows, *conditions))
                for statement in self.statements
            ),
        )


NOTHING = ColumnMetadata()
"""Empty metadata, for a column that has no metadata."""


class RowStatus:
    """The availability of each row of a frame, computed from `Statement` objects with conditions.

    Parameters
    ----------
    arrays : mapping of str to array
        Maps the name of each column of the frame to its values.
    row_count : int
        The number of rows of the frame.
    trusted_columns : collection of str
        The columns whose values may decide which rows a statement concerns.
    """

    def __init__(
        self, arrays: Mapping[str, Any], row_count: int, trusted_columns: Collection[str]
    ) -> None:
        self._arrays, self._row_count = arrays, row_count
        self._usable_columns = {*arrays} & {*trusted_columns}
        self._masks: dict[Condition, Mask] = {}
        self._states: dict[Any, tuple[list[Availability], Codes]] = {}

    def states(
        self, other_rows: Availability, statements: Sequence[Statement]
    ) -> tuple[list[Availability], Codes]:
        """Return the availability of each row, as a list of availabilities and positions in it.

        For each row, the array of positions has the position of the row's availability in the list.
        ``other_rows`` is the availability of the rows that no statement is about.
        """
        if not self._row_count or not statements:
            return [other_rows], np.zeros(self._row_count, np.int64)
        cache_key = (other_rows, tuple(statements))
        if cache_key not in self._states:
            match_matrix = np.column_stack(
                [self._mask_matches(statement) for statement in statements]
            )
            packed_rows = np.packbits(match_matrix, axis=1)
            _, first_rows, state_codes = np.unique(
                packed_rows, axis=0, return_index=True, return_inverse=True
            )
            positions_by_state = [np.flatnonzero(match_matrix[row]).tolist() for row in first_rows]
            states = [
                self._combine_matches(other_rows, [statements[position] for position in positions])
                for positions in positions_by_state
            ]
            self._states[cache_key] = states, state_codes.reshape(-1).astype(np.int64)
        return self._states[cache_key]

    def recompute(self, column: ColumnMetadata) -> ColumnMetadata:
        """Return the metadata of a column with its availability computed for the frame's rows.

        This is combined with the availability of rows that the frame lacks, in ``column.absent``.
        """
        state = combine(self.states(column.elsewhere, column.statements)[0])
        return replace(
            column, availability=combine([state, *column.absent]), other_rows=column.elsewhere
        )

    def _mask_matches(self, statement: Statement) -> Mask:
        """Return the mask of the rows that meet the conditions of a statement.

        All rows meet a condition on a column that is missing or not trusted.
        """
        mask = np.ones(self._row_count, bool)
        for condition in statement.rows:
            if condition.column not in self._usable_columns:
                continue
            if condition not in self._masks:  # evaluated on distinct values only
                value_codes, distinct_values = pd.factorize(self._arrays[condition.column])
                matches = condition.matches(pd.Series(distinct_values).astype(object).tolist())
                self._masks[condition] = np.array([*matches, False], bool)[value_codes]
            mask &= self._masks[condition]
        return mask

    def _combine_matches(
        self, other_rows: Availability, statements: Sequence[Statement]
    ) -> Availability:
        """Return the availability of a row to which ``statements`` apply."""
        certain_statements, possible_states = [], []
        for statement in statements:
            if {condition.column for condition in statement.rows} <= self._usable_columns:
                certain_statements.append(statement)
            else:
                possible_states.append(statement.availability)
        condition_sets = [{*statement.rows} for statement in certain_statements]
        narrowest_states = [
            statement.availability
            for statement, conditions in zip(certain_statements, condition_sets, strict=True)
            if not any(conditions < other_conditions for other_conditions in condition_sets)
        ]
        return combine([*(narrowest_states or [other_rows]), *possible_states])


def dump_state(availability: Availability) -> tuple[str | None, ...]:
    """Return the status, cause and reason of an availability, each as text or None."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_state(state: Sequence[Any]) -> Availability:
    """Return the availability that `dump_state` converted to ``state``."""
    status, cause, reason = state
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


StatementFields = tuple[tuple[Statement, ...], Availability, tuple[Availability, ...]]
"""The statements of a column, the availability of its other rows, and that of absent rows."""


def dump_statements(columns: Mapping[str, ColumnMetadata]) -> dict[str, Any]:
    """Return a dict from the name of each column to its statements, as JSON values.

    Each column has a list of three: a list of statements, each with an availability and the
    conditions on the rows concerned; the availability of all other rows of the frame; and a list of
    the availabilities of rows that are absent from the frame. Columns that have neither statements
    nor absent rows are left out.
    """
    return {
        name: _dump((column.statements, column.elsewhere, column.absent))
        for name, column in columns.items()
        if column.statements or column.absent
    }


def _dump(value: Any) -> Any:
    """Convert a statement, condition or availability, or a tuple of them, to nested lists."""
    if isinstance(value, Availability):
        return dump_state(value)
    if isinstance(value, tuple):
        return [*map(_dump, value)]
    return [*map(_dump, vars(value).values())] if hasattr(value, "__dict__") else value


def load_statements(body: Mapping[str, Any]) -> dict[str, StatementFields]:
    """Parse the result of `dump_statements`.

    Return a dict from the name of each column to a tuple of three: the column's statements, the
    availability of all other rows of the frame, and the availabilities of absent rows.
    """

    def load_condition(body: Sequence[Any]) -> Condition:
        column, operator, values = body
        return Condition(column, operator, tuple(values))

    return {
        name: (
            tuple(
                Statement(load_state(state), tuple(map(load_condition, condition_items)))
                for state, condition_items in statements
            ),
            load_state(elsewhere),
            tuple(map(load_state, absent)),
        )
        for name, (statements, elsewhere, absent) in body.items()
    }
