"""Which cells of a frame were measured, and why the others were not.

The status of a cell of column ``x`` is looked up in this order:

1. in the column ``x_availability``, which has the status of each cell of ``x``;
2. in the column ``availability``, which has the status of each row;
3. in the metadata of the frame.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.grouping import group_values
from aatoolkit._util.show import STAR, CellMarks, DisplayOptions, format_row_numbers
from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status, combine
from aatoolkit.availability.subject import as_text
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.attrs import (
    EMPTY,
    NO_METADATA,
    ColumnMetadata,
    FrameMetadata,
    make_row_availability,
    metadata_of,
)

STATUS_NAME = "availability"
"""The name of the column with the status of each row."""

CAUSE_SUFFIX = "_cause"
REASON_SUFFIX = "_reason"
COVERAGE_SUFFIX = "_coverage"
"""Endings of the names of columns that describe another column, such as ``sales_coverage``."""

STATUS_DTYPE = pd.CategoricalDtype([str(status) for status in Status], ordered=True)
"""The dtype of columns that hold statuses, such as "partial"."""

IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_VALUE_AVAILABILITY = Availability(Status.UNKNOWN, None, "no value is given")
"""The availability of a missing cell for which no reason is known."""

NO_ROW_AVAILABILITY = Availability(Status.UNKNOWN, Cause.NO_ROW)
"""The availability of a row that the response did not have."""

MEASURED_COLUMN = ColumnMetadata(None, Availability(Status.AVAILABLE))
"""The metadata of columns that always have values, such as those that a method adds."""


@dataclass(frozen=True)
class CellStatuses:
    """The status of a column's cells: for each row, whether the cell was measured, or why not."""

    availabilities: Sequence[Availability]  # the distinct availabilities (a status with its reason)
    codes: IntArray  # for each row, the position of its availability in `availabilities`
    has_number: Mask  # the rows with a number that may be used

    def has_status(self, *statuses: Status) -> Mask:
        """Return a boolean mask of the rows that have one of ``statuses``."""
        return np.array(
            [availability.status in statuses for availability in self.availabilities], bool
        )[self.codes]

    @property
    def is_applicable(self) -> Mask:
        """A boolean mask of the rows that have any other status than "not applicable"."""
        return ~self.has_status(Status.NOT_APPLICABLE)

    @property
    def is_complete(self) -> Mask:
        """A boolean mask of the rows whose number was, for certain, measured completely."""
        may_be_partial = [
            availability.status == Status.PARTIAL
            or str(availability.reason).startswith(_PARTIAL_REASON_PREFIX)
            for availability in self.availabilities
        ]
        is_complete: Mask = self.has_number & ~np.array(may_be_partial, bool)[self.codes]
        return is_complete

    @property
    def is_unreported(self) -> Mask:
        """A boolean mask of the rows that the response lacked and ``df.aa.complete`` added."""
        is_unreported = [
            (availability.status, availability.cause) == (Status.UNKNOWN, Cause.NO_ROW)
            for availability in self.availabilities
        ]
        return np.array(is_unreported, bool)[self.codes]

    def exclude(self, mask: Mask, reason: str) -> CellStatuses:
        """Return a copy in which the rows in a boolean mask are "not applicable" for a reason."""
        return CellStatuses(
            (*self.availabilities, Availability(Status.NOT_APPLICABLE, None, reason)),
            np.where(mask, len(self.availabilities), self.codes),
            self.has_number & ~mask,
        )


def statuses_of(frame: pd.DataFrame, column_name: str, metadata: FrameMetadata) -> CellStatuses:
    """Return the status of each cell of a column: whether it was measured, or why not."""
    column_metadata = metadata.columns.get(column_name, NO_METADATA)
    column_values = frame[column_name]
    has_value = column_values.notna().to_numpy(bool)
    if column_values.dtype.kind == "f":  # NaN is no value, also in a nullable column
        has_value = has_value & ~np.isnan(column_values.to_numpy(np.float64, na_value=np.nan))
    availabilities = [column_metadata.default_availability]
    availability_codes = np.zeros(len(frame), np.int64)
    value_availabilities = availabilities
    if column_metadata.statements:
        availabilities, availability_codes = make_row_availability(
            frame, metadata
        ).distinct_availabilities(column_metadata.default_availability, column_metadata.statements)
        if not all(
            metadata.has_valid_metadata(condition.column)
            for statement in column_metadata.statements
            for condition in statement.rows
        ):
            availabilities = [
                replace(
                    availability,
                    status=Status.UNKNOWN,
                    reason=f"{_PARTIAL_REASON_PREFIX}{availability.reason}",
                )
                if availability.status == Status.PARTIAL
                else availability
                for availability in availabilities
            ]
        # A cell that holds a value nevertheless was measured in part.
        value_availabilities = [
            replace(availability, status=Status.PARTIAL)
            if availability.status in EMPTY
            else availability
            for availability in availabilities
        ]
    unknown_availability = Availability(Status.UNKNOWN)  # without a reason
    missing_availabilities = [
        NO_VALUE_AVAILABILITY
        if availability.status == Status.AVAILABLE or availability == unknown_availability
        else availability
        for availability in availabilities
    ]
    cells = CellStatuses(
        (*value_availabilities, *missing_availabilities),
        np.where(has_value, availability_codes, availability_codes + len(availabilities)),
        has_value,
    )
    for status_column, is_row_status in (
        (STATUS_NAME, True),
        (f"{column_name}_{STATUS_NAME}", False),
    ):
        if not _holds_statuses(frame, status_column):
            continue
        parsed_statuses = _parse_statuses(
            frame, status_column, cells.has_number if is_row_status else has_value
        )
        # A row that is available leaves it to the column; so does a cell without a value.
        is_ignored_status = parsed_statuses.has_status(Status.AVAILABLE) & (
            is_row_status | ~has_value
        )
        has_status = frame[status_column].notna().to_numpy(bool) & ~is_ignored_status
        cells = CellStatuses(
            (*cells.availabilities, *parsed_statuses.availabilities),
            np.where(has_status, parsed_statuses.codes + len(cells.availabilities), cells.codes),
            np.where(has_status, parsed_statuses.has_number, cells.has_number),
        )
    return cells


def availability_of(
    frame: pd.DataFrame, column_name: str, column_metadata: ColumnMetadata
) -> Availability:
    """Return the availability of a whole column: a status such as "partial", with its reason."""
    availability = column_metadata.availability
    if (
        availability.status == Status.AVAILABLE
        and len(frame)
        and not is_status_column(frame, column_name)
    ):
        column_values = frame[column_name]
        if isinstance(column_values, pd.Series) and column_values.isna().all():
            return NO_VALUE_AVAILABILITY
    return availability


def status_columns(
    availabilities: Sequence[Availability],
    availability_codes: IntArray,
    status_column_name: str = STATUS_NAME,
) -> pd.DataFrame:
    """Return a frame with three columns: the status, cause and reason of each row.

    The status says whether the row was measured; the cause is a keyword and the reason a text on
    why it was not. ``availabilities`` has the distinct availabilities, and ``availability_codes``
    has for each row the position of its availability in them. ``status_column_name`` is the name of
    the column of statuses; the names of the other two begin with it.
    """
    texts_by_column = {
        status_column_name: [str(availability.status) for availability in availabilities],
        status_column_name + CAUSE_SUFFIX: [availability.cause for availability in availabilities],
        status_column_name + REASON_SUFFIX: [
            availability.reason for availability in availabilities
        ],
    }
    status_frame = pd.DataFrame(texts_by_column, dtype="string").astype(
        {status_column_name: STATUS_DTYPE}
    )
    return status_frame.take(availability_codes).reset_index(drop=True)


def combine_cells(left: CellStatuses, right: CellStatuses) -> CellStatuses:
    """Combine the statuses of two columns, such as numerator and denominator, row by row.

    A row has a number only if both columns have one. Otherwise its status and reason are those of
    the column without a number.
    """
    deciding_sides = np.where(
        left.has_number == right.has_number, 0, np.where(left.has_number, 1, 2)
    )
    code_shape = (3, len(left.availabilities), len(right.availabilities))
    code_of_row = np.ravel_multi_index((deciding_sides, left.codes, right.codes), code_shape)
    position_of_row, distinct_codes = pd.factorize(code_of_row, sort=True)
    availabilities = []
    for deciding_side, left_code, right_code in np.transpose(
        np.unravel_index(distinct_codes, code_shape)
    ).tolist():
        side_availabilities = (left.availabilities[left_code], right.availabilities[right_code])
        not_applicable_availabilities = [
            availability
            for availability in side_availabilities
            if availability.status == Status.NOT_APPLICABLE
        ]
        deciding_availabilities = (
            side_availabilities if not deciding_side else (side_availabilities[2 - deciding_side],)
        )
        availabilities.append(
            not_applicable_availabilities[0]
            if not_applicable_availabilities
            else combine(deciding_availabilities)
        )
    return CellStatuses(availabilities, position_of_row, left.has_number & right.has_number)


def is_status_column(frame: pd.DataFrame, column_name: str) -> bool:
    """Return whether a column has the statuses of another column, or their causes or reasons.

    A status, such as "partial", says whether a cell was measured.
    """
    return any(
        column_name.endswith(STATUS_NAME + suffix)
        and _holds_statuses(frame, column_name.removesuffix(suffix))
        for suffix in ("", CAUSE_SUFFIX, REASON_SUFFIX)
    )


def _holds_statuses(frame: pd.DataFrame, column_name: str) -> bool:
    """Return whether a column exists and all its values are statuses, such as "partial"."""
    if column_name not in frame.columns:
        return False
    distinct_values = frame[column_name].dropna().unique()
    return {*map(str, distinct_values)} <= {*STATUS_DTYPE.categories} and (
        len(distinct_values) > 0 or isinstance(frame[column_name].dtype, pd.CategoricalDtype)
    )


def _parse_statuses(
    frame: pd.DataFrame, status_column_name: str, has_value_mask: Mask
) -> CellStatuses:
    """Parse the column ``status_column_name``, which has the statuses of another column's cells.

    A status is a word such as ``unavailable``. Columns beside it have the cause of each status,
    such as ``not_connected``, and the reason as free text. ``has_value_mask`` is a boolean mask of
    the rows in which the other column has a value.
    """
    status_texts = pd.DataFrame(
        {
            suffix: frame.get(status_column_name + suffix)
            for suffix in ("", CAUSE_SUFFIX, REASON_SUFFIX)
        },
        index=frame.index,
    ).astype("string")
    availability_codes = status_texts.groupby(list(status_texts), dropna=False).ngroup()
    distinct_status_texts = (
        status_texts.assign(code=availability_codes)
        .drop_duplicates("code")
        .sort_values("code")
        .astype(object)
    )
    availabilities = []
    for status, cause, reason, _ in distinct_status_texts.where(
        distinct_status_texts.notna(), None
    ).itertuples(index=False):
        cause = Cause(cause) if cause in {*Cause} else None
        availabilities.append(Availability(Status(status or Status.AVAILABLE), cause, reason))
    cells = CellStatuses(
        availabilities, availability_codes.to_numpy().astype(np.int64), has_value_mask
    )
    return replace(
        cells, has_number=has_value_mask & cells.has_status(Status.AVAILABLE, Status.PARTIAL)
    )


def row_statements(
    statuses: pd.DataFrame, status_column_name: str, keys: pd.DataFrame, metadata: FrameMetadata
) -> list[Statement]:
    """Convert a column of statuses to `Statement` objects, each for all rows of one status.

    A `Statement` consists of a status and the condition that selects its rows. ``statuses`` has the
    column ``status_column_name``. ``keys`` has the columns that identify each row.
    """
    statuses = statuses.fillna({status_column_name: Status.UNKNOWN})
    cells = _parse_statuses(statuses, status_column_name, np.ones(len(keys), bool))
    # With too many keys, or keys that may have changed, select rows by their status.
    if not are_keys_listable(keys, metadata):
        keys = statuses[[status_column_name]]
    return key_statements(keys, cells.availabilities, cells.codes)


def key_statements(
    keys: pd.DataFrame,
    availabilities: Sequence[Availability],
    availability_codes: IntArray | int = 0,
) -> list[Statement]:
    """Return `Statement` objects, each with an availability and the keys of the rows that have it.

    ``availabilities`` are the distinct availabilities (a status with its reason).
    ``availability_codes`` has for each row the position of its availability in ``availabilities``.
    """
    key_rows = (
        keys.astype(object)
        .map(as_text)
        .assign(**{CAUSE_SUFFIX: availability_codes})
        .drop_duplicates()
    )
    last_values_by_key = group_values(
        ((code, *((key_value,) for key_value in leading_values)), last_value)
        for *leading_values, last_value, code in key_rows.itertuples(index=False, name=None)
    )
    return [
        Statement(
            availabilities[code],
            tuple(
                Condition(str(name), "in", key_values)
                for name, key_values in zip(keys, (*leading_values, tuple(last_value)), strict=True)
            ),
        )
        for (code, *leading_values), last_value in last_values_by_key.items()
    ]


def are_keys_listable(keys: pd.DataFrame, metadata: FrameMetadata) -> bool:
    """Return whether the metadata may list the keys of some rows in order to select these rows.

    It may if there are few rows, no key value is missing, and the key columns still have the
    values that were read. ``keys`` has the key columns of the rows.
    """
    return (
        0 < keys.size <= _MAX_KEY_VALUES
        and not keys.isna().to_numpy().any()
        and all(map(metadata.has_valid_metadata, map(str, keys)))
    )


_MAX_KEY_VALUES = 1000
"""The maximum number of key values by which rows are selected."""

_DETAIL_SUFFIXES = (
    f"_{STATUS_NAME}",
    f"_{STATUS_NAME}{CAUSE_SUFFIX}",
    f"_{STATUS_NAME}{REASON_SUFFIX}",
    COVERAGE_SUFFIX,
)
"""Endings of the names of columns that describe another column, such as ``sales_coverage``."""

_PARTIAL_REASON_PREFIX = "partial in some of the rows: "
_SKIP_MISSING_ADVICE = "; skip_missing=True adds the rest"
_MAX_REASONS = 4
"""The maximum number of reasons below a printed table."""


def display_options_of(frame: pd.DataFrame) -> DisplayOptions:
    """Return how to print a frame: columns such as ``sales_coverage`` last, and remarks below."""
    column_names = {*map(str, frame.columns)}
    detail_columns = (f"{name}{suffix}" for name in column_names for suffix in _DETAIL_SUFFIXES)
    return DisplayOptions(
        details=tuple(sorted({*detail_columns} & column_names)), remarks=_marks_and_remarks
    )


def _marks_and_remarks(frame: pd.DataFrame, _: Collection[str]) -> tuple[CellMarks, list[str]]:
    """Return a dict from column to a mask of its partially measured numbers, and remarks on them.

    When the table is printed, these numbers get an asterisk, and the remarks stand below it.
    """
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return {}, []
    masks_by_reason: dict[str, np.ndarray] = {}
    mask_by_column: CellMarks = {}
    missing_value_remarks = []
    for name in frame.select_dtypes("number").columns:
        cells = statuses_of(frame, name, metadata)
        is_partial = cells.has_number & cells.has_status(Status.PARTIAL)
        if is_partial.any():
            mask_by_column[str(name)] = is_partial
        for code in np.unique(cells.codes).tolist():
            reason = cells.availabilities[code].reason or ""
            has_code_mask = cells.codes == code
            if (has_code_mask & is_partial).any():
                masks_by_reason[reason] = masks_by_reason.get(reason, False) | (
                    has_code_mask & is_partial
                )
            elif reason.startswith(_PARTIAL_REASON_PREFIX):
                missing_value_remarks.append(f"{name}: {visible(reason)}")
            is_missing = has_code_mask & ~cells.has_number
            needs_remark = cells.availabilities[code].status == Status.PARTIAL or reason.endswith(
                " no value"
            )
            if needs_remark and is_missing.any():
                rows_text = format_row_numbers(frame.index, is_missing)
                missing_value_remarks.append(
                    f"{name}: missing ({rows_text}): {visible(reason.rstrip('.'))}"
                    f"{_SKIP_MISSING_ADVICE}"
                )
    remarks = [
        f"{STAR} partial ({format_row_numbers(frame.index, has_code_mask)})"
        f"{': ' if reason else ''}{visible(reason)}"
        for reason, has_code_mask in sorted(
            masks_by_reason.items(), key=lambda reason_and_mask: reason_and_mask[1].argmax()
        )[:_MAX_REASONS]
    ]
    return mask_by_column, remarks + [*dict.fromkeys(missing_value_remarks)][:_MAX_REASONS]
