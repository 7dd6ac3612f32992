"""Which cells of a frame were measured, and why the others were not.

The status of a cell of column ``x`` is looked up in this order:

1. in the column ``x_availability``, which has the status of each cell of ``x``;
2. in the column ``availability``, which has the status of each row;
3. in the metadata of the frame.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.show import STAR, Marks, ShowAs, row_ranges
from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status, combine
from aatoolkit.availability.subject import as_text
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.attrs import (
    EMPTY,
    NO_METADATA,
    ColumnMetadata,
    FrameMetadata,
    metadata_of,
    row_status_of,
)

ROW = "availability"
"""The name of the column with the status of each row."""

CAUSE, REASON, COVERAGE = "_cause", "_reason", "_coverage"
"""Endings of the names of columns that describe another column, such as ``sales_coverage``."""

STATUSES = pd.CategoricalDtype([str(status) for status in Status], ordered=True)
"""The dtype of columns that hold statuses, such as "partial"."""

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_VALUE = Availability(Status.UNKNOWN, None, "no value is given")
"""The availability of a missing cell for which no reason is known."""

NO_ROW = Availability(Status.UNKNOWN, Cause.NO_ROW)
"""The availability of a row that the response did not have."""

MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))
"""The metadata of columns that always have values, such as those that a method adds."""


@dataclass(frozen=True)
class Cells:
    """The status of a column's cells: for each row, whether the cell was measured, or why not."""

    states: Sequence[Availability]  # the distinct states
    codes: Codes  # for each row, the position of its state
    has_number: Mask  # the rows with a number that may be used

    def having(self, *statuses: Status) -> Mask:
        """Return a boolean mask of the rows that have one of ``statuses``."""
        return np.array([state.status in statuses for state in self.states], bool)[self.codes]

    @property
    def applicable(self) -> Mask:
        """A boolean mask of the rows that have any other status than "not applicable"."""
        return ~self.having(Status.NOT_APPLICABLE)

    @property
    def complete(self) -> Mask:
        """A boolean mask of the rows that have a number, but not one that may be partial."""
        may_be_partial = [str(state.reason).startswith(_PARTIAL_PREFIX) for state in self.states]
        complete: Mask = self.has_number & ~np.array(may_be_partial, bool)[self.codes]
        return complete & ~self.having(Status.PARTIAL)

    @property
    def unreported(self) -> Mask:
        """A boolean mask of the rows that the response lacked and ``df.aa.complete`` added."""
        is_unreported = [
            (state.status, state.cause) == (Status.UNKNOWN, Cause.NO_ROW) for state in self.states
        ]
        return np.array(is_unreported, bool)[self.codes]

    def without(self, rows: Mask, why: str) -> Cells:
        """Return a copy in which the rows in a boolean mask have the status "not applicable".

        ``why`` is the reason to record for them.
        """
        return Cells(
            (*self.states, Availability(Status.NOT_APPLICABLE, None, why)),
            np.where(rows, len(self.states), self.codes),
            self.has_number & ~rows,
        )


def cells_of(frame: pd.DataFrame, name: str, metadata: FrameMetadata) -> Cells:
    """Return the status of each cell of a column: whether it was measured, or why not."""
    column, values = metadata.columns.get(name, NO_METADATA), frame[name]
    has_value = values.notna().to_numpy(bool)
    if values.dtype.kind == "f":  # NaN is no value, also in a nullable column
        has_value = has_value & ~np.isnan(values.to_numpy(np.float64, na_value=np.nan))
    states, codes = [column.other_availability], np.zeros(len(frame), np.int64)
    value_states = states
    if column.statements:
        states, codes = row_status_of(frame, metadata).states(
            column.other_availability, column.statements
        )
        if not all(
            metadata.has_valid_metadata(condition.column)
            for statement in column.statements
            for condition in statement.rows
        ):
            states = [
                replace(state, status=Status.UNKNOWN, reason=f"{_PARTIAL_PREFIX}{state.reason}")
                if state.status == Status.PARTIAL
                else state
                for state in states
            ]
        # A cell that holds a value nevertheless was measured in part.
        value_states = [
            replace(state, status=Status.PARTIAL) if state.status in EMPTY else state
            for state in states
        ]
    unknown_state = Availability(Status.UNKNOWN)  # without a reason
    missing_states = [
        NO_VALUE if state.status == Status.AVAILABLE or state == unknown_state else state
        for state in states
    ]
    cells = Cells(
        (*value_states, *missing_states), np.where(has_value, codes, codes + len(states)), has_value
    )
    for status_column, is_of_row in ((ROW, True), (f"{name}_{ROW}", False)):
        if not _holds_statuses(frame, status_column):
            continue
        parsed_cells = _parse_statuses(
            frame, status_column, cells.has_number if is_of_row else has_value
        )
        # A row that is available leaves it to the column; so does a cell without a value.
        says_nothing = parsed_cells.having(Status.AVAILABLE) & (is_of_row | ~has_value)
        has_status = frame[status_column].notna().to_numpy(bool) & ~says_nothing
        cells = Cells(
            (*cells.states, *parsed_cells.states),
            np.where(has_status, parsed_cells.codes + len(cells.states), cells.codes),
            np.where(has_status, parsed_cells.has_number, cells.has_number),
        )
    return cells


def availability_of(frame: pd.DataFrame, name: str, column: ColumnMetadata) -> Availability:
    """Return the availability of a whole column: a status such as "partial", with its reason."""
    state = column.availability
    if state.status == Status.AVAILABLE and len(frame) and not is_status_column(frame, name):
        values = frame[name]
        if isinstance(values, pd.Series) and values.isna().all():
            return NO_VALUE
    return state


def status_columns(states: Sequence[Availability], codes: Codes, name: str = ROW) -> pd.DataFrame:
    """Return a frame with three columns: the status, cause and reason of each row.

    The status says whether the row was measured; the cause is a keyword and the reason a text on
    why it was not. ``codes`` has for each row the position of its entry in ``states``. The names of
    the columns begin with ``name``.
    """
    texts = {
        name: [str(state.status) for state in states],
        name + CAUSE: [state.cause for state in states],
        name + REASON: [state.reason for state in states],
    }
    columns = pd.DataFrame(texts, dtype="string").astype({name: STATUSES})
    return columns.take(codes).reset_index(drop=True)


def combine_cells(first: Cells, second: Cells) -> Cells:
    """Combine the statuses of two columns, row by row.

    A row has a number only if both columns have one. Otherwise the row's reason is taken from the
    column without a number.
    """
    sides = np.where(first.has_number == second.has_number, 0, np.where(first.has_number, 1, 2))
    pair_count = len(first.states) * len(second.states)
    pairs = (sides * len(first.states) + first.codes) * len(second.states) + second.codes
    codes, distinct_pairs = pd.factorize(pairs, sort=True)
    states = []
    for pair in distinct_pairs.tolist():
        side, (code, other_code) = pair // pair_count, divmod(pair % pair_count, len(second.states))
        two_states = (first.states[code], second.states[other_code])
        not_applicable = [state for state in two_states if state.status == Status.NOT_APPLICABLE]
        deciding_states = two_states if not side else (two_states[2 - side],)
        states.append(not_applicable[0] if not_applicable else combine(deciding_states))
    return Cells(states, codes, first.has_number & second.has_number)


def is_status_column(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column has the statuses, or their causes or reasons, of another.

    A status, such as "partial", says whether a cell was measured.
    """
    return any(
        name.endswith(ROW + ending) and _holds_statuses(frame, name.removesuffix(ending))
        for ending in ("", CAUSE, REASON)
    )


def _holds_statuses(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column exists and all its values are statuses, such as "partial"."""
    if name not in frame.columns:
        return False
    texts = frame[name].dropna().unique()
    return {*map(str, texts)} <= {*STATUSES.categories} and (
        len(texts) > 0 or isinstance(frame[name].dtype, pd.CategoricalDtype)
    )


def _parse_statuses(frame: pd.DataFrame, name: str, has_value: Mask) -> Cells:
    """Return the status, cause and reason of each cell of the column ``name``.

    They are parsed from its column of statuses, such as ``name_availability``. ``has_value`` is a
    boolean mask of the rows with a value.
    """
    texts = pd.DataFrame(
        {ending: frame.get(name + ending) for ending in ("", CAUSE, REASON)}, index=frame.index
    ).astype("string")
    codes = texts.groupby(list(texts), dropna=False).ngroup()
    rows = texts.assign(code=codes).drop_duplicates("code").sort_values("code").astype(object)
    states = []
    for status, cause, reason, _ in rows.where(rows.notna(), None).itertuples(index=False):
        cause = Cause(cause) if cause in {*Cause} else None
        states.append(Availability(Status(status or Status.AVAILABLE), cause, reason))
    cells = Cells(states, codes.to_numpy().astype(np.int64), has_value)
    return replace(cells, has_number=has_value & cells.having(Status.AVAILABLE, Status.PARTIAL))


def row_statements(
    statuses: pd.DataFrame, name: str, keys: pd.DataFrame, metadata: FrameMetadata
) -> list[Statement]:
    """Convert a column of statuses to `Statement` objects, each for all rows of one status.

    A `Statement` consists of a status and the condition that selects its rows. ``statuses`` has the
    column ``name``. ``keys`` has the columns that identify each row.
    """
    statuses = statuses.fillna({name: Status.UNKNOWN})
    cells = _parse_statuses(statuses, name, np.ones(len(keys), bool))
    # With too many keys, or keys that may have changed, select rows by their status.
    if not can_list_keys(keys, metadata):
        keys = statuses[[name]]
    return key_statements(keys, cells.states, cells.codes)


def key_statements(
    keys: pd.DataFrame, states: Sequence[Availability], codes: Codes | int = 0
) -> list[Statement]:
    """Return `Statement` objects, each with an availability and the keys of the rows that have it.

    ``states`` are the availabilities (a status with its reason). ``codes`` has for each row the
    position of its availability in ``states``.
    """
    rows = keys.astype(object).map(as_text).assign(**{CAUSE: codes}).drop_duplicates()
    values_by_condition: dict[Any, list[str]] = {}
    for *first_values, last_value, code in rows.itertuples(index=False, name=None):
        values_by_condition.setdefault((code, *((value,) for value in first_values)), []).append(
            last_value
        )
    return [
        Statement(
            states[code],
            tuple(
                Condition(str(name), "in", values)
                for name, values in zip(keys, (*first_values, tuple(last_value)), strict=True)
            ),
        )
        for (code, *first_values), last_value in values_by_condition.items()
    ]


def can_list_keys(keys: pd.DataFrame, metadata: FrameMetadata) -> bool:
    """Return whether a condition may select rows by a list of their key values.

    This needs few rows, without missing keys, and key columns that nobody changed.
    """
    return (
        0 < keys.size <= _MAX_KEYS
        and not keys.isna().to_numpy().any()
        and all(map(metadata.has_valid_metadata, map(str, keys)))
    )


_MAX_KEYS = 1000
"""The maximum number of key values by which rows are selected."""

_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""Endings of the names of columns that describe another column, such as ``sales_coverage``."""

_PARTIAL_PREFIX = "partial in some of the rows: "
_SKIP_ADVICE = "; skip_missing=True adds the rest"
_MAX_REASONS = 4
"""The maximum number of reasons below a printed table."""


def view_of(frame: pd.DataFrame) -> ShowAs:
    """Return display options that move columns such as ``sales_coverage`` to the end."""
    names = {*map(str, frame.columns)}
    detail_columns = (f"{name}{ending}" for name in names for ending in _ENDINGS)
    return ShowAs(details=tuple(sorted({*detail_columns} & names)), remarks=_partial_remarks)


def _partial_remarks(frame: pd.DataFrame, _: Collection[str]) -> tuple[Marks, list[str]]:
    """Return boolean masks of the partially measured numbers, by column, and remarks on them.

    When the table is printed, these numbers get an asterisk, and the remarks stand below it.
    """
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return {}, []
    masks_by_reason: dict[str, np.ndarray] = {}
    marks: Marks = {}
    remarks_on_missing = []
    for name in frame.select_dtypes("number").columns:
        cells = cells_of(frame, name, metadata)
        is_partial = cells.has_number & cells.having(Status.PARTIAL)
        if is_partial.any():
            marks[str(name)] = is_partial
        for code in np.unique(cells.codes).tolist():
            reason, mask = cells.states[code].reason or "", cells.codes == code
            if (mask & is_partial).any():
                masks_by_reason[reason] = masks_by_reason.get(reason, False) | (mask & is_partial)
            elif reason.startswith(_PARTIAL_PREFIX):
                remarks_on_missing.append(f"{name}: {visible(reason)}")
            is_missing = mask & ~cells.has_number
            is_remarkable = cells.states[code].status == Status.PARTIAL or reason.endswith(
                " no value"
            )
            if is_remarkable and is_missing.any():
                row_text = row_ranges(frame.index, is_missing)
                remarks_on_missing.append(
                    f"{name}: missing ({row_text}): {visible(reason.rstrip('.'))}{_SKIP_ADVICE}"
                )
    remarks = [
        f"{STAR} partial ({row_ranges(frame.index, mask)}){': ' if reason else ''}{visible(reason)}"
        for reason, mask in sorted(
            masks_by_reason.items(), key=lambda reason_and_mask: reason_and_mask[1].argmax()
        )[:_MAX_REASONS]
    ]
    return marks, remarks + [*dict.fromkeys(remarks_on_missing)][:_MAX_REASONS]
