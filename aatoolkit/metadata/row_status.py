"""The status of each row of a column, from the statements about some of its rows.

A statement with conditions (`aatoolkit.availability.subject`) decides the status of the rows
that match it; the other rows have the status of the column. Of two statements about a row the
narrower one counts, and equal ones are combined. Where the column of a condition is gone, any
row may be meant: then the statement is combined with what else is known of each row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import Availability, combine
from aatoolkit.availability.subject import AbsentRows, Condition, Statement, as_text
from aatoolkit.metadata.column import ColumnMetadata

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Codes = npt.NDArray[np.int64]


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

    @cached_property
    def _masks(self) -> dict[Condition, Mask]:
        return {}

    @cached_property
    def _found(self) -> dict[tuple[Availability, tuple[Statement, ...]], Availability]:
        return {}

    @cached_property
    def _texts(self) -> dict[str, frozenset[str]]:
        return {}

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
        if stated not in self._found:
            self._found[stated] = combine(self.states(otherwise, statements)[0])
        return self._found[stated]

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
        column = absent.rows.column
        if column not in self._texts:
            import pandas as pd

            there = pd.Series(self._arrays[column]).dropna().unique()
            self._texts[column] = frozenset(map(as_text, there))
        return self._texts[column] >= {*absent.others}

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
