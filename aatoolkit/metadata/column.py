"""Metadata of columns: what a column is, and whether it and each of its rows could be measured.

`ColumnMetadata` describes a column. It has an `Availability`, which says whether the column was
measured, and if not, why. It may also have `Statement` objects: each has conditions that select
some rows, such as those of one engine, and the `Availability` of these rows. `RowAvailability`
finds the `Availability` of each row: that of the statement that applies to the row, or that of the
column if none applies. If several apply, those with fewer conditions than another are ignored.
`Source` describes the response that the data came from.
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
AvailabilityPositions = npt.NDArray[np.int64]


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
    declared_name : str or None
        The declared column, as ``table.column``.
    availability : Availability
        Whether the column could be measured.
    statements : tuple of Statement
        Whether certain rows could be measured, such as those of one engine.
    rest_availability : Availability or None
        Whether the rows without a statement could be measured. None means that it was not stated:
        then it is the same as ``availability``.
    absence_reasons : tuple of Availability
        Why some rows are not in the DataFrame at all.
    caution : str or None
        Why the numbers are approximate.
    """

    declared_name: str | None = None  # the declared column, as table.column
    availability: Availability = UNKNOWN
    statements: tuple[Statement, ...] = ()  # about certain rows, such as those of one engine
    # of the rows without a statement
    rest_availability: Availability | None = field(default=None, compare=False)
    absence_reasons: tuple[Availability, ...] = ()  # why rows are not in the frame at all
    caution: str | None = None  # why the numbers are approximate

    @property
    def table(self) -> str:
        """The name of the table that declares the column; empty if there is none."""
        return (self.declared_name or "").partition(".")[0]

    @property
    def default_availability(self) -> Availability:
        """The availability of the rows to which none of the ``statements`` applies."""
        return self.availability if self.rest_availability is None else self.rest_availability

    def combined_with(self, availability: Availability) -> ColumnMetadata:
        """Return a copy for a column in some rows of which ``availability`` applies.

        Which rows these are is unknown, so every row gets the combination of its old availability
        and ``availability``.
        """
        return replace(
            self,
            availability=combine([self.availability, availability]),
            rest_availability=combine([self.default_availability, availability]),
        )

    def renamed(self, new_name_by_old: Mapping[str, str]) -> ColumnMetadata:
        """Return a copy for a DataFrame whose columns were renamed.

        The statements of the copy name the columns by their new names. ``new_name_by_old`` maps old
        names to new ones.
        """

        def rename_column(condition: Condition) -> Condition:
            return replace(
                condition, column=new_name_by_old.get(condition.column, condition.column)
            )

        statements = (
            replace(statement, rows=tuple(map(rename_column, statement.rows)))
            for statement in self.statements
        )
        return replace(self, statements=tuple(statements))

    def with_absences(self, *absence_reasons: Availability) -> ColumnMetadata:
        """Return a copy with further reasons why rows are missing in the DataFrame."""
        all_reasons = tuple(dict.fromkeys((*self.absence_reasons, *absence_reasons)))
        availability = combine([self.availability, *absence_reasons])
        return replace(
            self,
            availability=availability,
            rest_availability=self.default_availability,
            absence_reasons=all_reasons,
        )

    def statements_within(self, *conditions: Condition) -> tuple[Statement, ...]:
        """Return the statements of this column, limited to the rows that meet ``conditions``.

        The first one is for the rows to which none of the other statements applies.
        """
        return (
            # The rows that no other statement is about.
            Statement(self.default_availability, conditions),
            *(
                Statement(statement.availability, (*statement.rows, *conditions))
                for statement in self.statements
            ),
        )


NO_METADATA = ColumnMetadata()
"""What stands for the metadata of a column that has none: its availability is unknown."""


def with_failed_responses(
    metadata_by_column: Mapping[str, ColumnMetadata], failed_count: int, read_count: int
) -> dict[str, ColumnMetadata]:
    """Return the metadata of columns, with a note that failed requests left rows missing.

    ``failed_count`` and ``read_count`` are the numbers of failed and successful requests.
    """
    reason = f"{failed_count} of {failed_count + read_count} responses failed"
    failure_availability = Availability(Status.UNAVAILABLE, Cause.FAILED, reason)
    return {
        name: column.with_absences(failure_availability)
        for name, column in metadata_by_column.items()
    }


class RowAvailability:
    """Finds the availability of each row of a DataFrame, from statements about certain rows.

    ``array_by_column`` has the values of each column. Only the columns in ``unchanged_columns``
    are used to find the rows that a statement is about.
    """

    def __init__(
        self, array_by_column: Mapping[str, Any], row_count: int, unchanged_columns: Collection[str]
    ) -> None:
        self._array_by_column = array_by_column
        self._row_count = row_count
        # Only columns with unchanged values can show which rows a statement is about.
        self._usable_columns = {*array_by_column} & {*unchanged_columns}
        self._mask_by_condition: dict[Condition, Mask] = {}
        self._cached_results: dict[Any, tuple[list[Availability], AvailabilityPositions]] = {}

    def distinct_availabilities(
        self, default_availability: Availability, statements: Sequence[Statement]
    ) -> tuple[list[Availability], AvailabilityPositions]:
        """Return the distinct availabilities of the rows, and for each row a position among them.

        ``statements`` are those of one column. ``default_availability`` is the availability of the
        rows to which none of them applies.
        """
        if not self._row_count or not statements:
            return [default_availability], np.zeros(self._row_count, np.int64)
        cache_key = (default_availability, tuple(statements))
        if cache_key not in self._cached_results:
            match_matrix = np.column_stack(
                [self._make_match_mask(statement) for statement in statements]
            )
            packed_match_matrix = np.packbits(match_matrix, axis=1)
            _, first_row_positions, availability_positions = np.unique(
                packed_match_matrix, axis=0, return_index=True, return_inverse=True
            )
            statement_position_lists = [
                np.flatnonzero(match_matrix[row_position]).tolist()
                for row_position in first_row_positions
            ]
            availabilities = [
                self._combine_matches(
                    default_availability, [statements[position] for position in statement_positions]
                )
                for statement_positions in statement_position_lists
            ]
            self._cached_results[cache_key] = (
                availabilities,
                availability_positions.reshape(-1).astype(np.int64),
            )
        return self._cached_results[cache_key]

    def recompute_availability(self, column: ColumnMetadata) -> ColumnMetadata:
        """Return a column's metadata, with its availability recomputed for the DataFrame's rows."""
        availability = combine(
            self.distinct_availabilities(column.default_availability, column.statements)[0]
        )
        return replace(
            column,
            availability=combine([availability, *column.absence_reasons]),
            rest_availability=column.default_availability,
        )

    def _make_match_mask(self, statement: Statement) -> Mask:
        """Return a boolean mask of the rows that a statement may be about.

        A condition on a column whose values were changed is ignored.
        """
        row_mask = np.ones(self._row_count, bool)
        for condition in statement.rows:
            # Without this column, the statement may be about any row.
            if condition.column not in self._usable_columns:
                continue
            if condition not in self._mask_by_condition:  # evaluated on distinct values only
                value_codes, distinct_values = pd.factorize(self._array_by_column[condition.column])
                match_flags = condition.matches(pd.Series(distinct_values).astype(object).tolist())
                self._mask_by_condition[condition] = np.array([*match_flags, False], bool)[
                    value_codes
                ]
            row_mask &= self._mask_by_condition[condition]
        return row_mask

    def _combine_matches(
        self, default_availability: Availability, statements: Sequence[Statement]
    ) -> Availability:
        """Return the availability of a row, from all statements that may apply to it.

        ``default_availability`` is the availability if no statement certainly applies. A statement
        is ignored if another one has the same conditions and further ones.
        """
        certain_statements = []
        possible_availabilities = []
        for statement in statements:
            if {condition.column for condition in statement.rows} <= self._usable_columns:
                certain_statements.append(statement)
            else:
                possible_availabilities.append(statement.availability)
        condition_sets = [{*statement.rows} for statement in certain_statements]
        narrowest_availabilities = [
            statement.availability
            for statement, conditions in zip(certain_statements, condition_sets, strict=True)
            # A statement with further conditions is narrower and counts instead.
            if not any(conditions < other_conditions for other_conditions in condition_sets)
        ]
        return combine(
            [*(narrowest_availabilities or [default_availability]), *possible_availabilities]
        )


def dump_availability(availability: Availability) -> tuple[str | None, ...]:
    """Return a tuple of the status, cause and reason of an availability, as text or None."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_availability(availability_fields: Sequence[Any]) -> Availability:
    """Create an `Availability` from a tuple that `dump_availability` returned."""
    status, cause, reason = availability_fields
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


StatementFields = tuple[tuple[Statement, ...], Availability, tuple[Availability, ...]]
"""A column's statements, the availability of its other rows, and why rows are not in the frame."""


def dump_statements(metadata_by_column: Mapping[str, ColumnMetadata]) -> dict[str, Any]:
    """Convert to JSON values what the metadata of columns states about certain rows.

    The result is a dict from column name to nested lists of `StatementFields`. Columns of which all
    rows have the same availability are left out.
    """
    return {
        name: _to_nested_lists(
            (column.statements, column.default_availability, column.absence_reasons)
        )
        for name, column in metadata_by_column.items()
        if column.statements or column.absence_reasons
    }


def _to_nested_lists(value: Any) -> Any:
    """Convert a statement, condition or availability, or a tuple of them, to nested lists."""
    if isinstance(value, Availability):
        return dump_availability(value)
    if isinstance(value, tuple):
        return [*map(_to_nested_lists, value)]
    return [*map(_to_nested_lists, vars(value).values())] if hasattr(value, "__dict__") else value


def load_statements(dumped_statements: Mapping[str, Any]) -> dict[str, StatementFields]:
    """Parse the dict that `dump_statements` returned.

    The result is a dict from column name to a tuple: the statements (the availability of some rows,
    selected by their keys), the availability of all other rows, and why rows are absent.
    """
    return {
        name: (
            tuple(
                Statement(
                    load_availability(availability_fields),
                    tuple(
                        Condition(column, operator, tuple(condition_values))
                        for column, operator, condition_values in conditions
                    ),
                )
                for availability_fields, conditions in statements
            ),
            load_availability(default_availability),
            tuple(map(load_availability, absence_reasons)),
        )
        for name, (statements, default_availability, absence_reasons) in dumped_statements.items()
    }
