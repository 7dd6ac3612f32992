"""The availability of each cell: which hold a number that counts, and why the others do not.

The narrowest of three statements decides. A column ``x_availability`` beside ``x`` gives the
status of its cells one by one. A column ``availability`` gives that of whole rows: a row with
any status but available has no number to give, whatever it holds. Where neither says more, a
cell has the status that its column has in its row (`aatoolkit.metadata.column`); a missing
value of a measured column is unknown, and an explicit number in a column without metadata
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata, rows_of

ROW = "availability"
"""The column that holds the status of each row."""

CAUSE, REASON, COVERAGE = "_cause", "_reason", "_coverage"
"""The endings of columns that describe the cells of another column, or the rows."""

STATUSES = pd.CategoricalDtype([str(status) for status in Status], ordered=True)
"""The dtype of statuses as data."""

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_VALUE = Availability(Status.UNKNOWN, None, "no value is given")
"""The availability of a cell that holds nothing, of a column of which nothing says why."""


NO_VALUES = ("row has no value", "rows has no value", "rows have no value")
"""How the reasons end that count the rows of a group without a value."""


@dataclass(frozen=True)
class Cells:
    """The availability of the cells of one column, or of several columns combined.

    Parameters
    ----------
    states : sequence of Availability
        The states that occur.
    codes : array of int
        For each row, which of the states is its own.
    given : array of bool
        Whether the cell holds a number that counts, wholly or in part.
    """

    states: Sequence[Availability]
    codes: Codes
    given: Mask

    def having(self, *statuses: Status) -> Mask:
        """The rows whose state has one of these statuses."""
        return np.array([state.status in statuses for state in self.states], bool)[self.codes]

    @property
    def applicable(self) -> Mask:
        """The rows that could have a number."""
        return ~self.having(Status.NOT_APPLICABLE)

    @property
    def whole(self) -> Mask:
        """The rows whose number is the whole of what was to be measured."""
        return self.given & ~self.having(Status.PARTIAL)

    @property
    def unreported(self) -> Mask:
        """The rows added for what was not reported, of which nothing is known."""
        return np.array(
            [
                state.cause == Cause.NO_ROW and state.status == Status.UNKNOWN
                for state in self.states
            ],
            bool,
        )[self.codes]

    def without(self, rows: Mask, why: str) -> Cells:
        """Return the cells with some rows left out as not applicable."""
        state = Availability(Status.NOT_APPLICABLE, None, why)
        codes = np.where(rows, len(self.states), self.codes)
        return Cells((*self.states, state), codes, self.given & ~rows)


def cells_of(frame: pd.DataFrame, name: str, metadata: FrameMetadata) -> Cells:
    """The availability of the cells of a column."""
    column, present = metadata.columns[name], _present(frame[name])
    states, codes = [column.elsewhere], np.zeros(len(frame), np.int64)
    if column.statements:
        states, codes = rows_of(frame, metadata).states(column.elsewhere, column.statements)
    held = [_held(state) if column.statements else state for state in states]
    lacking = [NO_VALUE if _is_silent(state) else state for state in states]
    cells = Cells((*held, *lacking), np.where(present, codes, codes + len(states)), present)
    if _holds_statuses(frame, ROW):
        cells = _by_row(frame, cells)
    if _holds_statuses(frame, f"{name}_{ROW}"):
        cells = _by_cell(frame, f"{name}_{ROW}", cells, present)
    return cells


def availability_of(frame: pd.DataFrame, name: str, column: ColumnMetadata) -> Availability:
    """The availability of a column; unknown where the rows that are left hold no value of it."""
    state = column.availability
    if state.status == Status.AVAILABLE and len(frame) and not is_status_column(frame, name):
        values = frame[name]
        if isinstance(values, pd.Series) and values.isna().all():
            return NO_VALUE
    return state


def status_columns(states: Sequence[Availability], codes: Codes, name: str = ROW) -> pd.DataFrame:
    """Statuses as data: a column each of status, cause and reason, one row for each code."""
    words = {
        name: [str(state.status) for state in states],
        name + CAUSE: [state.cause for state in states],
        name + REASON: [state.reason for state in states],
    }
    columns = pd.DataFrame(words, dtype="string").take(codes).reset_index(drop=True)
    return columns.astype({name: STATUSES})


def _is_silent(state: Availability) -> bool:
    """Whether a status gives no reason for which a cell could lack its value."""
    return state.status == Status.AVAILABLE or state == Availability(Status.UNKNOWN)


def together(first: Cells, second: Cells) -> Cells:
    """Combine two columns row by row; rows to which either does not apply are left out.

    A row in which one of them gives no number lacks it for the reason of that one alone.
    """
    alone = np.where(first.given == second.given, 0, np.where(first.given, 1, 2))
    kinds = len(first.states) * len(second.states)
    pairs = (alone * len(first.states) + first.codes) * len(second.states) + second.codes
    distinct, codes = distinct_codes(pairs, 3 * kinds)
    states = []
    for pair in distinct.tolist():
        lacking, (one, other) = pair // kinds, divmod(pair % kinds, len(second.states))
        both = (first.states[one], second.states[other])
        states.append(_both(*both, both if not lacking else (both[2 - lacking],)))
    return Cells(states, codes, first.given & second.given)


def distinct_codes(codes: Codes, limit: int) -> tuple[Codes, Codes]:
    """The distinct codes in order, and for each code its place among them.

    Codes are from 0 up to a limit, so they are counted rather than sorted.
    """
    there = np.bincount(codes, minlength=limit) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def is_status_column(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column describes rows or another column, and is no measure."""
    return any(
        name.endswith(ROW + ending) and _holds_statuses(frame, name.removesuffix(ending))
        for ending in ("", CAUSE, REASON)
    )


def _held(state: Availability) -> Availability:
    """Replace a status of no value by ``partial``, for a cell that holds a value nevertheless."""
    return replace(state, status=Status.PARTIAL) if state.status in EMPTY else state


def _present(values: pd.Series) -> Mask:
    """Whether each cell holds a value; NaN is none, also in a nullable column."""
    there = values.notna().to_numpy(bool)
    if pd.api.types.is_float_dtype(values.dtype):
        there = there & ~np.isnan(values.to_numpy(np.float64, na_value=np.nan))
    return there


def _both(
    first: Availability, second: Availability, lacking: Sequence[Availability]
) -> Availability:
    for state in (first, second):
        if state.status == Status.NOT_APPLICABLE:
            return state
    return combine(lacking)


def _holds_statuses(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column holds statuses and nothing else."""
    if name not in frame.columns:
        return False
    words = frame[name].dropna().unique()
    return {*map(str, words)} <= {*STATUSES.categories} and (
        len(words) > 0 or isinstance(frame[name].dtype, pd.CategoricalDtype)
    )


def _by_row(frame: pd.DataFrame, cells: Cells) -> Cells:
    """Apply the status of rows; a row that is available leaves it to the column."""
    stated = _stated(frame, ROW, cells.given)
    limited = ~stated.having(Status.AVAILABLE)
    return _over(cells, stated, limited)


def _by_cell(frame: pd.DataFrame, name: str, cells: Cells, present: Mask) -> Cells:
    """Apply the statuses of single cells; where there is none, that of the row stays."""
    stated = _stated(frame, name, present)
    contradicted = stated.having(Status.AVAILABLE) & ~present
    return _over(cells, stated, frame[name].notna().to_numpy(bool) & ~contradicted)


def _over(cells: Cells, stated: Cells, rows: Mask) -> Cells:
    """Replace the status of some rows by what is stated."""
    return Cells(
        (*cells.states, *stated.states),
        np.where(rows, stated.codes + len(cells.states), cells.codes),
        np.where(rows, stated.given, cells.given),
    )


def _stated(frame: pd.DataFrame, name: str, present: Mask) -> Cells:
    """Read cells from a column of statuses; a missing status leaves the value to count."""
    parts = pd.DataFrame(
        {
            part: frame[name + part].astype("string") if name + part in frame.columns else pd.NA
            for part in ("", CAUSE, REASON)
        },
        index=frame.index,
    ).astype("string")
    codes = parts.groupby(list(parts), dropna=False, sort=True).ngroup()
    first = parts.assign(code=codes).drop_duplicates("code").sort_values("code")
    rows = first[["", CAUSE, REASON]].itertuples(index=False, name=None)
    stated = Cells([_state(*row) for row in rows], codes.to_numpy().astype(np.int64), present)
    given = present & stated.having(Status.AVAILABLE, Status.PARTIAL)
    return replace(stated, given=given)


def _state(status: object, cause: object, reason: object) -> Availability:
    return Availability(
        Status(status) if isinstance(status, str) else Status.AVAILABLE,
        Cause(cause) if isinstance(cause, str) and cause in {*Cause} else None,
        reason if isinstance(reason, str) else None,
    )
