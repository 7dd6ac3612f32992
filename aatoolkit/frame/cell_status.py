"""The availability of each cell: which hold a number that counts, and why the others do not.

The narrowest of three statements decides. A column ``x_availability`` beside ``x`` gives the
status of its cells one by one. A column ``availability`` gives that of whole rows: a row with
any status but available has no number to give, whatever it holds. Where neither says more, a
cell has the status that its column has in its row (`aatoolkit.metadata.column`); a missing
value of a measured column is unknown, and an explicit number in a column without metadata
counts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.show import Marks, ShowAs, row_ranges
from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status, combine
from aatoolkit.availability.subject import as_text
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.attrs import (
    EMPTY,
    NOTHING,
    ColumnMetadata,
    FrameMetadata,
    metadata_of,
    rows_of,
)

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

NO_ROW = Availability(Status.UNKNOWN, Cause.NO_ROW)
"""The availability of what was not reported."""

MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))
"""The metadata of columns that verbs add."""


@dataclass(frozen=True)
class Cells:
    """The availability of the cells of one column, or of several columns combined.

    Parameters
    ----------
    states : sequence of Availability
        The states that occur.
    codes : array of int
        For each row, which of the states is its own.
    has_number : array of bool
        Whether the cell holds a number that counts, wholly or in part.
    """

    states: Sequence[Availability]
    codes: Codes
    has_number: Mask

    def having(self, *statuses: Status) -> Mask:
        """The rows whose state has one of these statuses."""
        return np.array([state.status in statuses for state in self.states], bool)[self.codes]

    @property
    def applicable(self) -> Mask:
        """The rows that could have a number."""
        return ~self.having(Status.NOT_APPLICABLE)

    @property
    def complete(self) -> Mask:
        """The rows whose number is complete, not measured in part."""
        return self.has_number & ~self.having(Status.PARTIAL)

    @property
    def unreported(self) -> Mask:
        """The rows added for what was not reported, of which nothing is known."""
        kinds = [
            (state.status, state.cause) == (Status.UNKNOWN, Cause.NO_ROW) for state in self.states
        ]
        return np.array(kinds, bool)[self.codes]

    def without(self, rows: Mask, why: str) -> Cells:
        """Return the cells with some rows left out as not applicable."""
        state = Availability(Status.NOT_APPLICABLE, None, why)
        codes = np.where(rows, len(self.states), self.codes)
        return Cells((*self.states, state), codes, self.has_number & ~rows)


def cells_of(frame: pd.DataFrame, name: str, metadata: FrameMetadata) -> Cells:
    """The availability of the cells of a column."""
    column, values = metadata.columns.get(name, NOTHING), frame[name]
    present = values.notna().to_numpy(bool)
    if values.dtype.kind == "f":  # NaN is no value, also in a nullable column
        present = present & ~np.isnan(values.to_numpy(np.float64, na_value=np.nan))
    states, codes = [column.elsewhere], np.zeros(len(frame), np.int64)
    held = states
    if column.statements:
        states, codes = rows_of(frame, metadata).states(column.elsewhere, column.statements)
        conditions = (it for statement in column.statements for it in statement.rows)
        if not all(metadata.holds(it.column) for it in conditions):
            states = [
                replace(s, status=Status.UNKNOWN, reason=f"{_IN_SOME}{s.reason}")
                if s.status == Status.PARTIAL
                else s
                for s in states
            ]
        # A cell that holds a value nevertheless was measured in part.
        held = [replace(s, status=Status.PARTIAL) if s.status in EMPTY else s for s in states]
    silent = Availability(Status.UNKNOWN)  # which gives no reason either
    lacking = [NO_VALUE if s.status == Status.AVAILABLE or s == silent else s for s in states]
    cells = Cells((*held, *lacking), np.where(present, codes, codes + len(states)), present)
    for column_of, is_of_row in ((ROW, True), (f"{name}_{ROW}", False)):
        if not _holds_statuses(frame, column_of):
            continue
        stated = _stated(frame, column_of, cells.has_number if is_of_row else present)
        # A row that is available leaves it to the column; so does a cell without a value.
        is_silent = stated.having(Status.AVAILABLE) & (is_of_row | ~present)
        rows = frame[column_of].notna().to_numpy(bool) & ~is_silent
        cells = Cells(
            (*cells.states, *stated.states),
            np.where(rows, stated.codes + len(cells.states), cells.codes),
            np.where(rows, stated.has_number, cells.has_number),
        )
    return cells


def availability_of(frame: pd.DataFrame, name: str, column: ColumnMetadata) -> Availability:
    """The availability of a column; unknown where the frame's rows hold no value of it."""
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


def together(first: Cells, second: Cells) -> Cells:
    """Combine two columns row by row; rows to which either does not apply are left out.

    A row in which one of them gives no number lacks it for the reason of that one alone.
    """
    alone = np.where(first.has_number == second.has_number, 0, np.where(first.has_number, 1, 2))
    kinds = len(first.states) * len(second.states)
    pairs = (alone * len(first.states) + first.codes) * len(second.states) + second.codes
    codes, distinct = pd.factorize(pairs, sort=True)
    states = []
    for pair in distinct.tolist():
        lacking, (code, other) = pair // kinds, divmod(pair % kinds, len(second.states))
        both = (first.states[code], second.states[other])
        outside = [state for state in both if state.status == Status.NOT_APPLICABLE]
        parts = both if not lacking else (both[2 - lacking],)
        states.append(outside[0] if outside else combine(parts))
    return Cells(states, codes, first.has_number & second.has_number)


def is_status_column(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column describes rows or another column, and is no measure."""
    return any(
        name.endswith(ROW + ending) and _holds_statuses(frame, name.removesuffix(ending))
        for ending in ("", CAUSE, REASON)
    )


def _holds_statuses(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column holds statuses and nothing else."""
    if name not in frame.columns:
        return False
    words = frame[name].dropna().unique()
    return {*map(str, words)} <= {*STATUSES.categories} and (
        len(words) > 0 or isinstance(frame[name].dtype, pd.CategoricalDtype)
    )


def _stated(frame: pd.DataFrame, name: str, present: Mask) -> Cells:
    """Read cells from a column of statuses; a missing status leaves the value to count."""
    parts = pd.DataFrame(
        {part: frame.get(name + part) for part in ("", CAUSE, REASON)}, index=frame.index
    ).astype("string")
    codes = parts.groupby(list(parts), dropna=False).ngroup()
    rows = parts.assign(code=codes).drop_duplicates("code").sort_values("code").astype(object)
    states = []
    for status, cause, reason, _ in rows.where(rows.notna(), None).itertuples(index=False):
        cause = Cause(cause) if cause in {*Cause} else None
        states.append(Availability(Status(status or Status.AVAILABLE), cause, reason))
    stated = Cells(states, codes.to_numpy().astype(np.int64), present)
    return replace(stated, has_number=present & stated.having(Status.AVAILABLE, Status.PARTIAL))


def row_statements(
    statuses: pd.DataFrame, name: str, keys: pd.DataFrame, metadata: FrameMetadata
) -> list[Statement]:
    """What is stated of the rows of each state, by the values of their keys.

    Where these are many, or nothing is known of them, it is by the column of statuses.

    Parameters
    ----------
    statuses : pandas.DataFrame
        A column each of status, cause and reason.
    name : str
        The name of the column of statuses.
    keys : pandas.DataFrame
        The columns that identify the rows.
    metadata : FrameMetadata
        The metadata of the keys.
    """
    statuses = statuses.fillna({name: Status.UNKNOWN})
    stated = _stated(statuses, name, np.ones(len(keys), bool))
    if not are_named(keys, metadata):
        keys = statuses[[name]]
    return key_statements(keys, stated.states, stated.codes)


def key_statements(
    keys: pd.DataFrame, states: Sequence[Availability], codes: Codes | int = 0
) -> list[Statement]:
    """What is stated of rows, each of which is in one of several states, by their keys."""
    rows = keys.astype(object).map(as_text).assign(**{CAUSE: codes}).drop_duplicates()
    alike: dict[Any, list[str]] = {}
    for *others, last, code in rows.itertuples(index=False, name=None):
        alike.setdefault((code, *((other,) for other in others)), []).append(last)
    return [
        Statement(
            states[code],
            tuple(
                Condition(str(name), "in", values)
                for name, values in zip(keys, (*others, tuple(last)), strict=True)
            ),
        )
        for (code, *others), last in alike.items()
    ]


def are_named(keys: pd.DataFrame, metadata: FrameMetadata) -> bool:
    """Whether statements can name rows by these keys: they are not many, and none is missing."""
    is_short = 0 < keys.size <= _MOST_NAMED and not keys.isna().to_numpy().any()
    return is_short and all(map(metadata.holds, map(str, keys)))


_MOST_NAMED = 1000
"""Of more keys no statement names the values."""

_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""How the columns end that say how those before them were measured."""

_IN_SOME = "partial in some of the rows: "
_REST = "; skip_missing=True adds the rest"
_REASONS = 4
"""How many different reasons of partial numbers are listed below the table."""


def view_of(frame: pd.DataFrame) -> ShowAs:
    """How a frame of measures is shown: what says how they were measured comes last."""
    names = {*map(str, frame.columns)}
    details = (f"{name}{ending}" for name in names for ending in _ENDINGS)
    return ShowAs(details=tuple(sorted({*details} & names)), remarks=_partial)


def _partial(frame: pd.DataFrame, names: Collection[str]) -> tuple[Marks, list[str]]:
    """The numbers that are partial, and why, each reason once."""
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return {}, []
    reasons: dict[str, np.ndarray] = {}
    marks: Marks = {}
    lacking = []
    for name in frame.select_dtypes("number").columns:
        cells = cells_of(frame, name, metadata)
        partial = cells.has_number & cells.having(Status.PARTIAL)
        if partial.any():
            marks[str(name)] = partial
        for code in np.unique(cells.codes).tolist():
            reason, rows = cells.states[code].reason or "", cells.codes == code
            if (rows & partial).any():
                reasons[reason] = reasons.get(reason, False) | (rows & partial)
            elif reason.startswith(_IN_SOME):
                lacking.append(f"{name}: {visible(reason)}")
            absent = rows & ~cells.has_number
            is_part = cells.states[code].status == Status.PARTIAL or reason.endswith(" no value")
            if is_part and absent.any():
                where = row_ranges(frame.index, absent)
                lacking.append(f"{name}: missing ({where}): {visible(reason.rstrip('.'))}{_REST}")
    notes = [
        f"* partial ({row_ranges(frame.index, rows)}){': ' if reason else ''}{visible(reason)}"
        for reason, rows in sorted(reasons.items(), key=lambda item: item[1].argmax())[:_REASONS]
    ]
    return marks, notes + [*dict.fromkeys(lacking)][:_REASONS]
