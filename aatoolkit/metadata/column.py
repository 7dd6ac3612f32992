"""`ColumnMetadata` of one column, `Source` of one response, and `RowStatus` of rows.

An `Availability` says whether data were measured, and why not. A `Statement` is the availability of
some rows, such as those of one engine. If several statements apply to a row, the one with the most
conditions is used. A row without a statement has the availability of its column.
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
    """The response that a DataFrame was read from: its host, filters, URL, time and so on.

    ``section`` is the kind of response, such as ``domains``. ``scope`` has the filters as a query
    string, such as ``days=30``. ``window_start`` and ``window_end`` are the first and last day of
    the data.
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
    """The metadata of a column: the name of its declaration, and whether it could be measured.

    Attributes
    ----------
    of : str or None
        The declared column, as ``table.column``.
    availability : Availability
        Whether the column could be measured.
    statements : tuple of Statement
        Whether some of its rows could be measured, such as those of one engine.
    other_rows : Availability or None
        Whether the other rows could be measured; None for the same as ``availability``.
    absent : tuple of Availability
        Why rows are missing in the DataFrame.
    caution : str or None
        Why the numbers are approximate.
    """

    of: str | None = None  # the declared column, as table.column
    availability: Availability = UNKNOWN
    statements: tuple[Statement, ...] = ()  # about certain rows, such as those of one engine
    other_rows: Availability | None = field(default=None, compare=False)  # rows without a statement
    absent: tuple[Availability, ...] = ()  # why rows are not in the frame at all
    caution: str | None = None  # why the numbers are approximate

    @property
    def table(self) -> str:
        """The name of the table that declares the column; empty if there is none."""
        return (self.of or "").partition(".")[0]

    @property
    def elsewhere(self) -> Availability:
        """The availability of the rows to which none of the ``statements`` applies."""
        return self.availability if self.other_rows is None else self.other_rows

    def combined_with(self, availability: Availability) -> ColumnMetadata:
        """Return a copy whose availability is combined with another one, which any row may have."""
        return replace(
            self,
            availability=combine([self.availability, availability]),
            other_rows=combine([self.elsewhere, availability]),
        )

    def renamed(self, names: Mapping[str, str]) -> ColumnMetadata:
        """Return a copy in which the columns named in its statements are renamed.

        ``names`` maps old to new names.
        """

        def rename(condition: Condition) -> Condition:
            return replace(condition, column=names.get(condition.column, condition.column))

        statements = (
            replace(statement, rows=tuple(map(rename, statement.rows)))
            for statement in self.statements
        )
        return replace(self, statements=tuple(statements))

    def with_absences(self, *absent: Availability) -> ColumnMetadata:
        """Return a copy with further reasons why rows are missing in the DataFrame."""
        all_absent = tuple(dict.fromkeys((*self.absent, *absent)))
        state = combine([self.availability, *absent])
        return replace(self, availability=state, other_rows=self.elsewhere, absent=all_absent)

    def statements_within(self, *conditions: Condition) -> tuple[Statement, ...]:
        """Return statements on the availability of the rows that meet some conditions."""
        return (
            # The rows that no other statement is about.
            Statement(self.elsewhere, conditions),
            *(
                Statement(statement.availability, (*statement.rows, *conditions))
                for statement in self.statements
            ),
        )


NOTHING = ColumnMetadata()
"""The metadata of a column without metadata."""


def with_failures(
    columns: Mapping[str, ColumnMetadata], failed_count: int, read_count: int
) -> dict[str, ColumnMetadata]:
    """Return the metadata of columns, changed to say that some requests failed.

    ``failed_count`` and ``read_count`` are the numbers of failed and successful requests.
    """
    reason = f"{failed_count} of {failed_count + read_count} responses failed"
    failure = Availability(Status.UNAVAILABLE, Cause.FAILED, reason)
    return {name: column.with_absences(failure) for name, column in columns.items()}


class RowStatus:
    """Finds the availability of each row of a DataFrame, from statements about some rows.

    ``trusted_columns`` are the columns with unchanged values. Only they are used to identify rows.
    """

    def __init__(
        self, arrays: Mapping[str, Any], row_count: int, trusted_columns: Collection[str]
    ) -> None:
        self._arrays, self._row_count = arrays, row_count
        # Only columns with unchanged values can show which rows a statement is about.
        self._usable_columns = {*arrays} & {*trusted_columns}
        self._masks: dict[Condition, Mask] = {}
        self._states: dict[Any, tuple[list[Availability], Codes]] = {}

    def states(
        self, other_rows: Availability, statements: Sequence[Statement]
    ) -> tuple[list[Availability], Codes]:
        """Return a list of distinct availabilities, and for each row a position in this list.

        ``other_rows`` is the availability of rows to which none of the statements applies.
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
        """Return a column's metadata, with its availability recomputed for the DataFrame's rows."""
        state = combine(self.states(column.elsewhere, column.statements)[0])
        return replace(
            column, availability=combine([state, *column.absent]), other_rows=column.elsewhere
        )

    def _mask_matches(self, statement: Statement) -> Mask:
        """Return a boolean mask of the rows to which a statement may apply."""
        mask = np.ones(self._row_count, bool)
        for condition in statement.rows:
            # Without this column, the statement may be about any row.
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
        """Return the availability of a row, from all statements that may apply to it.

        A statement is ignored if another one has the same conditions and further ones.
        """
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
            # A statement with further conditions is narrower and counts instead.
            if not any(conditions < other_conditions for other_conditions in condition_sets)
        ]
        return combine([*(narrowest_states or [other_rows]), *possible_states])


def dump_state(availability: Availability) -> tuple[str | None, ...]:
    """Return a tuple of the status, cause and reason of an availability, as text or None."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_state(state: Sequence[Any]) -> Availability:
    """Create an `Availability` from a tuple returned by `dump_state`."""
    status, cause, reason = state
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


StatementFields = tuple[tuple[Statement, ...], Availability, tuple[Availability, ...]]
"""The statements of a column, the availability of other rows, and that of rows not in the frame."""


def dump_statements(columns: Mapping[str, ColumnMetadata]) -> dict[str, Any]:
    """Convert the statements of columns, on the availability of their rows, to JSON values.

    The result is a dict by column name. Columns without statements are left out.
    """
    return {
        name: _dump((column.statements, column.elsewhere, column.absent))
        for name, column in columns.items()
        if column.statements or column.absent
    }


def _dump(value: Any) -> Any:
    """Convert a statement, condition or availability to nested lists."""
    if isinstance(value, Availability):
        return dump_state(value)
    if isinstance(value, tuple):
        return [*map(_dump, value)]
    return [*map(_dump, vars(value).values())] if hasattr(value, "__dict__") else value


def load_statements(body: Mapping[str, Any]) -> dict[str, StatementFields]:
    """Read statements on the availability of rows from a dict returned by `dump_statements`."""
    return {
        name: (
            tuple(
                Statement(
                    load_state(state),
                    tuple(
                        Condition(column, operator, tuple(values))
                        for column, operator, values in conditions
                    ),
                )
                for state, conditions in statements
            ),
            load_state(elsewhere),
            tuple(map(load_state, absent)),
        )
        for name, (statements, elsewhere, absent) in body.items()
    }
