"""The metadata of one column, and of one answer that a frame was read from; the status of rows.

A statement with conditions (`aatoolkit.availability.subject`) decides the status of the rows
that match it; the other rows have the status of the column. Of two statements about a row the
narrower one counts, and equal ones are combined. Where the column of a condition is gone, any
row may be meant: then the statement is combined with what else is known of each row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status, combine
from aatoolkit.availability.subject import AbsentRows, Condition, Statement, as_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Codes = npt.NDArray[np.int64]


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
        self._arrays = arrays
        self._rows = rows
        self._trusted = trusted
        self._masks: dict[Condition, Mask] = {}
        self._overall: dict[tuple[Availability, tuple[Statement, ...]], Availability] = {}

    def states(
        self, otherwise: Availability, statements: Sequence[Statement]
    ) -> tuple[list[Availability], Codes]:
        """The distinct states of the rows, and for each row the number of its state."""
        import numpy as np

        if not self._rows or not statements:
            return [otherwise], np.zeros(self._rows, np.int64)
        matches = np.column_stack([self._match(statement) for statement in statements])
        packed = np.packbits(matches, axis=1)
        _, first, codes = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        states = [_state(otherwise, statements, matches[row], self._is_here) for row in first]
        return states, codes.reshape(-1).astype(np.int64)

    def overall(self, otherwise: Availability, statements: Sequence[Statement]) -> Availability:
        """The status of a whole column: that of all its rows combined."""
        stated = (otherwise, tuple(statements))
        if stated not in self._overall:
            self._overall[stated] = combine(self.states(otherwise, statements)[0])
        return self._overall[stated]

    def over(self, column: ColumnMetadata) -> ColumnMetadata:
        """The metadata of a column over the rows that are here."""
        whole = self.overall(column.elsewhere, column.statements)
        here = replace(column, availability=whole, otherwise=column.elsewhere, absent=())
        return here.lacking(*filter(self.lacks, column.absent))

    def lacks(self, absent: AbsentRows) -> bool:
        """Whether what is stated of absent rows concerns the rows that are here.

        It does not where the rows are those of some values only of the column that picks them.
        """
        if absent.rows is None or not self._is_here(absent.rows):
            return True
        import pandas as pd

        values = pd.Series(self._arrays[absent.rows.column]).dropna().unique()
        return {*map(as_text, values)} >= {*absent.others}

    def _is_here(self, condition: Condition) -> bool:
        return condition.column in self._arrays and condition.column in self._trusted

    def _match(self, statement: Statement) -> Mask:
        """Mask of the rows that a statement concerns, or may concern."""
        import numpy as np

        mask = np.ones(self._rows, bool)
        for condition in filter(self._is_here, statement.rows):
            if condition not in self._masks:
                self._masks[condition] = _matching(self._arrays[condition.column], condition)
            mask &= self._masks[condition]
        return mask


def _state(
    otherwise: Availability, statements: Sequence[Statement], matches: Mask, is_here: Any
) -> Availability:
    """The status of a row from the statements that match it."""
    matching = [statements[at] for at in matches.nonzero()[0].tolist()]
    sure = [each for each in matching if all(map(is_here, each.rows))]
    sets = [frozenset(each.rows) for each in sure]
    narrow = [
        each.availability
        for each, rows in zip(sure, sets, strict=True)
        if not any(rows < other for other in sets)
    ]
    perhaps = [each.availability for each in matching if each not in sure]
    parts = [*(narrow or [otherwise]), *perhaps]
    return combine(parts) if len(parts) > 1 else parts[0]


def _matching(values: Any, condition: Condition) -> Mask:
    """Mask of the rows that match a condition, evaluated on distinct values only."""
    import numpy as np
    import pandas as pd

    codes, distinct = pd.factorize(values)
    listed = pd.Series(distinct).astype(object).tolist()
    found = np.array([*condition.matches(listed), False], bool)
    matching: Mask = found[codes]
    return matching


def dump_state(availability: Availability) -> tuple[str | None, ...]:
    """Convert an availability to status, cause and reason."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_state(state: Sequence[Any]) -> Availability:
    """Build an availability from status, cause and reason."""
    status, cause, reason = state
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


Stated = tuple[tuple[Statement, ...], Availability, tuple[AbsentRows, ...]]
"""Of a column its statements, the status of other rows, and what is stated of absent ones."""


def dump_statements(columns: Mapping[str, ColumnMetadata]) -> list[Any]:
    """Serialize statements about rows, the status of the others, and of rows that lack."""
    alike: dict[Any, list[str]] = {}
    for name, column in columns.items():
        if column.statements or column.absent:
            alike.setdefault((column.elsewhere, column.statements, column.absent), []).append(name)
    return sorted(
        [
            sorted(names),
            dump_state(elsewhere),
            [[dump_state(of.availability), [*map(_dump_rows, of.rows)]] for of in statements],
            [
                [dump_state(of.availability), of.rows and _dump_rows(of.rows), of.others]
                for of in absent
            ],
        ]
        for (elsewhere, statements, absent), names in alike.items()
    )


def load_statements(body: Sequence[Any]) -> dict[str, Stated]:
    """Parse statements about rows, by column."""
    stated: dict[str, Stated] = {}
    for names, elsewhere, statements, absent in body:
        whole = (
            tuple(
                Statement(load_state(of), tuple(map(_load_rows, rows))) for of, rows in statements
            ),
            load_state(elsewhere),
            tuple(
                AbsentRows(load_state(of), rows and _load_rows(rows), tuple(others))
                for of, rows, others in absent
            ),
        )
        stated |= dict.fromkeys(names, whole)
    return stated


def _dump_rows(rows: Condition) -> list[Any]:
    return [rows.column, rows.op, list(rows.values)]


def _load_rows(body: Sequence[Any]) -> Condition:
    column, op, values = body
    return Condition(column, op, tuple(values))
