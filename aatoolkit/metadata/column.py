"""The metadata of one column, and of one answer that a frame was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aatoolkit.availability import UNKNOWN, Availability, Status, combine
from aatoolkit.availability.subject import AbsentRows, Condition, Statement


@dataclass(frozen=True)
class Source:
    """An answer that a frame was read from; its window's days where the answer gives them."""

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
    absent : tuple of AbsentRows
        What is stated of rows that the frame lacks, which is part of ``availability``.
    caution : str, optional
        Why its numbers are approximate.
    """

    of: str | None = None
    availability: Availability = UNKNOWN
    statements: tuple[Statement, ...] = ()
    otherwise: Availability | None = field(default=None, compare=False)
    absent: tuple[AbsentRows, ...] = ()
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
        """Return the column with some of its rows in a state, not known which."""
        return replace(
            self,
            availability=combine([self.availability, availability]),
            otherwise=combine([self.elsewhere, availability]),
        )

    def renamed(self, names: Mapping[str, str]) -> ColumnMetadata:
        """Return the column with other names of columns in its conditions."""

        def anew(rows: Condition) -> Condition:
            return replace(rows, column=names.get(rows.column, rows.column))

        return replace(
            self,
            statements=tuple(
                replace(each, rows=tuple(map(anew, each.rows))) for each in self.statements
            ),
            absent=tuple(replace(each, rows=each.rows and anew(each.rows)) for each in self.absent),
        )

    def lacking(self, *absent: AbsentRows) -> ColumnMetadata:
        """Return the column of a frame that lacks some rows, of which something is stated."""
        new = tuple(dict.fromkeys((*self.absent, *absent)))
        whole = combine([self.availability, *(each.availability for each in absent)])
        return replace(self, availability=whole, otherwise=self.elsewhere, absent=new)

    def within(self, *conditions: Condition) -> tuple[Statement, ...]:
        """Return the column's statements, limited to the rows that match some conditions."""
        return (
            Statement(self.elsewhere, conditions),
            *(Statement(each.availability, (*each.rows, *conditions)) for each in self.statements),
        )


EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
"""The statuses of columns that hold no value."""

NOTHING = ColumnMetadata()
"""The metadata of a column that has none."""
