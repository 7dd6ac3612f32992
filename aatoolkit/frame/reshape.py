"""`to_long`, `with_context`, and `complete`, which adds missing rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status, combine
from aatoolkit.errors import AvailabilityError, NotWritten
from aatoolkit.frame.cell_status import (
    CAUSE_SUFFIX,
    MEASURED_COLUMN,
    NO_ROW_AVAILABILITY,
    REASON_SUFFIX,
    STATUS_DTYPE,
    STATUS_NAME,
    is_status_column,
    row_statements,
    status_columns,
    statuses_of,
)
from aatoolkit.frame.groupby import check_columns, flatten_index, flatten_names, to_nullable
from aatoolkit.jsontree.decode import MAX_EXACT_FLOAT
from aatoolkit.metadata.attrs import (
    EMPTY,
    FrameMetadata,
    attach,
    metadata_of,
    recompute_availabilities,
)
from aatoolkit.metadata.column import load_availability
from aatoolkit.metadata.recorded import record_call_as
from aatoolkit.scope import FILTERS, Scope

_STATUS_COLUMNS = (STATUS_NAME, STATUS_NAME + CAUSE_SUFFIX, STATUS_NAME + REASON_SUFFIX)
# The columns that ``to_long`` adds.
_LONG_COLUMNS = ("variable", "value", "unit", *_STATUS_COLUMNS)
_WINDOW_COLUMNS = ("window_start", "window_end")
CONTEXT_COLUMNS = (
    "host",
    "days",
    *_WINDOW_COLUMNS,
    *(f"filter_{name}" for name in FILTERS),
    "fetched_at",
)
"""Columns that describe the response a row was read from: host, days, filters and time."""


@record_call_as("to_long", "frame")
def to_long(frame: pd.DataFrame, columns: str | Iterable[str] | None) -> pd.DataFrame:
    """Return a frame with one row per number, like `pandas.melt`; see ``df.aa.to_long``."""
    from aatoolkit.frame.aggregation_plan import row_units

    flat_frame = flatten_index(frame)
    flat_frame = flat_frame.set_axis([str(name) for name in flat_frame.columns], axis=1)
    check_columns(flat_frame, flat_frame.columns)
    metadata = metadata_of(flat_frame)
    requested_columns = flatten_names([columns or ()])
    check_columns(flat_frame, requested_columns)
    number_columns = [
        name
        for name in map(str, flat_frame.select_dtypes("number").columns)
        if name in requested_columns
        or not (requested_columns or name in metadata.key or is_status_column(flat_frame, name))
    ]
    reason_by_column = {
        name: f"holds {flat_frame[name].dtype}"
        for name in requested_columns
        if name not in number_columns
    }
    if reason_by_column:
        reasons_text = ", ".join(f"{name} {reason}" for name, reason in reason_by_column.items())
        raise AvailabilityError(
            f"only numbers have a long form: {reasons_text}", columns=reason_by_column
        )
    is_whole = all(flat_frame[name].dtype.kind in "iu" for name in number_columns)
    value_dtype: Any = "Int64" if number_columns and is_whole else "Float64"
    new_name_by_old = {
        name: f"{name}_" if name in _LONG_COLUMNS else name
        for name in flat_frame.columns
        if name not in number_columns and not is_status_column(flat_frame, name)
    }
    _refuse_existing_names(new_name_by_old.values(), _LONG_COLUMNS)
    id_frame = flat_frame[[*new_name_by_old]].rename(columns=new_name_by_old).reset_index(drop=True)
    dtype_by_column: dict[str, Any] = {"value": value_dtype, STATUS_NAME: STATUS_DTYPE}
    empty_columns = {
        name: pd.Series(dtype=dtype_by_column.get(name, "string")) for name in _LONG_COLUMNS
    }
    long_frames = [] if number_columns else [id_frame.iloc[:0].assign(**empty_columns)]
    for name in number_columns:
        cell_statuses = statuses_of(flat_frame, name, metadata)
        unit_of_row = row_units(flat_frame, metadata, name)
        if unit_of_row is None:
            unit_of_row = pd.Series(
                metadata.declaration_of(name).unit, index=id_frame.index, dtype="string"
            )
        column_values = flat_frame[name]
        if (
            not is_whole
            and column_values.dtype.kind in "iu"
            and (column_values.abs() > MAX_EXACT_FLOAT).any()
        ):
            raise NotWritten(
                f"{name} holds whole numbers beyond 2**53, which do not fit beside "
                "fractions; name whole-number columns alone"
            )
        column_frame = id_frame.assign(
            variable=pd.Series(name, index=id_frame.index, dtype="string"),
            value=column_values.astype(value_dtype).array,
            unit=unit_of_row.array,
        )
        long_frames.append(
            pd.concat(
                [column_frame, status_columns(cell_statuses.availabilities, cell_statuses.codes)],
                axis=1,
            )
        )
    metadata_by_column = {
        new_name: metadata.columns[name].renamed(new_name_by_old)
        for name, new_name in new_name_by_old.items()
    }
    metadata_by_column |= dict.fromkeys(
        (name for name in _LONG_COLUMNS if name != "value"), MEASURED_COLUMN
    )
    key_columns = (
        *(new_name_by_old[name] for name in metadata.key if name in new_name_by_old),
        "variable",
    )
    long_frame = pd.concat(long_frames, ignore_index=True)
    return attach(long_frame, FrameMetadata(metadata_by_column, key_columns, metadata.sources))


@record_call_as("with_context", "frame")
def with_context(frame: pd.DataFrame) -> pd.DataFrame:
    """Add columns with the request's host, days and filters; see ``df.aa.with_context``."""
    metadata = metadata_of(frame)
    if len(metadata.sources) != 1:
        reason = f"the frame was read from {len(metadata.sources) or 'no known'} responses"
        raise AvailabilityError(
            f"{reason}, so its rows have no one context: add it to frames of one response each, "
            "before combining them; what was read with split= is aggregated alone",
            columns=dict.fromkeys(CONTEXT_COLUMNS, reason),
        )
    _refuse_existing_names(map(str, frame.columns), CONTEXT_COLUMNS)
    (source,) = metadata.sources
    query_parameters = {} if source.scope is None else Scope._from_query(source.scope)._to_params()
    value_and_dtype_by_column = {
        "host": (source.host, "string"),
        "days": (query_parameters.get("days"), "Int64"),
        **{name: (getattr(source, name) or pd.NaT, "datetime64[us]") for name in _WINDOW_COLUMNS},
        **{f"filter_{name}": (query_parameters.get(name), "string") for name in FILTERS},
        "fetched_at": (source.fetched_at or pd.NaT, "datetime64[us, UTC]"),
    }
    return _with_constants(frame, metadata, value_and_dtype_by_column)


@record_call_as("with_constant", "frame")
def with_constant(frame: pd.DataFrame, name: str, value: str) -> pd.DataFrame:
    """Return a frame with a new first column, which has the same text in all rows."""
    return _with_constants(frame, metadata_of(frame), {name: (value, "string")})


def _with_constants(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    value_and_dtype_by_column: Mapping[str, tuple[Any, str]],
) -> pd.DataFrame:
    """Return a frame with new first columns, each with the same value in all rows."""
    constant_columns = {
        name: pd.Series(value, index=frame.index, dtype=dtype)
        for name, (value, dtype) in value_and_dtype_by_column.items()
    }
    extended_frame = pd.concat([pd.DataFrame(constant_columns), frame], axis=1)
    metadata_by_column = {
        **dict.fromkeys(value_and_dtype_by_column, MEASURED_COLUMN),
        **metadata.columns,
    }
    return attach(extended_frame, replace(metadata, columns=metadata_by_column))


def _refuse_existing_names(columns: Iterable[str], new_columns: Iterable[str]) -> None:
    """Raise `AvailabilityError` if ``columns`` already has one of ``new_columns``."""
    existing_names = sorted({*columns} & {*new_columns})
    if existing_names:
        raise AvailabilityError(
            f"the frame already has {', '.join(existing_names)}; rename it first",
            columns=dict.fromkeys(existing_names, "is there already"),
        )


# --- rows for what was not reported -------------------------------------------------------------


@record_call_as("complete", "frame", "availability")
def complete(
    frame: pd.DataFrame, levels: Mapping[str, object], availability: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return a frame with its missing rows added; see ``df.aa.complete``."""
    flat_frame = flatten_index(frame)
    flat_frame = flat_frame.astype(
        {name: to_nullable(column_levels).dtype for name, column_levels in flat_frame.items()}
    )
    check_columns(flat_frame, levels)
    metadata = metadata_of(flat_frame)
    availability_by_engine: dict[str, Availability] = {}
    if availability is not None:
        status_names = ("scope", "target", "status", "cause", "reason")
        check_columns(availability, status_names)
        status_rows = availability[[*status_names]].astype(object)
        status_tuples = status_rows.where(status_rows.notna(), None).itertuples(
            index=False, name=None
        )
        availability_by_engine = {
            engine: load_availability(status_fields)
            for scope, engine, *status_fields in status_tuples
            if scope == "engine"
        }
    levels_by_column = {
        name: _cast_levels(flat_frame, name, column_levels)
        for name, column_levels in levels.items()
    }
    flat_frame = flat_frame.assign(
        **{
            name: flat_frame[name].astype(column_levels.dtype)
            for name, column_levels in levels_by_column.items()
        }
    )
    new_rows = _make_missing_rows(flat_frame, metadata, levels_by_column)
    key_columns = [*dict.fromkeys((*metadata.key, *levels))]
    no_row_reason = f"no row in the response for this {' and '.join(key_columns)}"
    new_row_statuses = _make_row_statuses(
        new_rows,
        metadata,
        availability_by_engine,
        replace(NO_ROW_AVAILABILITY, reason=no_row_reason),
    )
    row_statuses = _make_row_statuses(
        flat_frame, metadata, availability_by_engine, Availability(Status.AVAILABLE)
    )
    stacked_frame = pd.concat([flat_frame, new_rows], ignore_index=True)
    for name in _STATUS_COLUMNS:
        status_of_row = (
            flat_frame[name] if is_status_column(flat_frame, name) else row_statuses[name]
        )
        stacked_frame[name] = pd.concat(
            [status_of_row.astype(new_row_statuses[name].dtype), new_row_statuses[name]],
            ignore_index=True,
        )
    statements = tuple(
        row_statements(new_row_statuses, STATUS_NAME, new_rows[key_columns], metadata)
    )
    metadata_by_column = {
        name: column
        if name in key_columns
        else replace(
            column,
            statements=(*column.statements, *statements),
            rest_availability=column.default_availability,
        )
        for name, column in metadata.columns.items()
    }
    metadata_by_column |= dict.fromkeys(_STATUS_COLUMNS, MEASURED_COLUMN)
    return attach(
        stacked_frame,
        replace(metadata, columns=recompute_availabilities(stacked_frame, metadata_by_column)),
    )


def _cast_levels(frame: pd.DataFrame, name: str, level_values: object) -> pd.Series:
    """Return the distinct ``level_values`` of a key column (its levels) as a Series of its dtype.

    If the dtype is an unordered category, new values are added to its categories. Values that do
    not fit the dtype raise `AvailabilityError`.
    """
    new_level_list: Any = (
        level_values if pd.api.types.is_list_like(level_values) else [level_values]
    )
    levels = pd.Series([*new_level_list], dtype=object, name=name)
    dtype = frame[name].dtype
    levels = levels.drop_duplicates()
    problem = "a level is missing" if levels.isna().any() else ""
    if isinstance(dtype, pd.CategoricalDtype):
        new_levels = [level for level in levels if level not in dtype.categories]
        if new_levels and dtype.ordered:
            problem = f"{', '.join(map(str, new_levels))} is not among the levels of the category"
        dtype = pd.CategoricalDtype([*dtype.categories, *new_levels], dtype.ordered)
    try:
        if not problem:
            return levels.astype(dtype)
    except (TypeError, ValueError) as error:
        problem = str(error)
    reason = f"the levels of {name!r} do not fit: {problem}"
    raise AvailabilityError(reason, columns={name: problem})


def _make_missing_rows(
    frame: pd.DataFrame, metadata: FrameMetadata, levels_by_column: Mapping[str, pd.Series]
) -> pd.DataFrame:
    """Return a frame with a row for each missing combination of keys, and empty other columns."""
    other_key_columns = [name for name in metadata.key if name not in levels_by_column]
    key_rows = (
        frame[other_key_columns].drop_duplicates()
        if other_key_columns
        else pd.DataFrame(index=range(1))
    )
    for column_levels in levels_by_column.values():
        key_rows = key_rows.merge(column_levels.to_frame(), how="cross")
    key_columns = [*other_key_columns, *levels_by_column]
    key_rows = key_rows[key_columns].astype(frame[key_columns].dtypes)
    row_exists = pd.concat([frame[key_columns], key_rows], ignore_index=True).duplicated()
    missing_keys = (
        key_rows[~row_exists.to_numpy()[len(frame) :]] if levels_by_column else key_rows.iloc[:0]
    )
    new_rows = frame.iloc[:0].reindex(range(len(missing_keys)))
    for name in key_columns:
        new_rows[name] = missing_keys[name].array
    return new_rows


def _make_row_statuses(
    rows: pd.DataFrame,
    metadata: FrameMetadata,
    availability_by_engine: Mapping[str, Availability],
    default_availability: Availability,
) -> pd.DataFrame:
    """Return a frame with the status, cause and reason of each row.

    ``availability_by_engine`` has the availability that the response states for each engine (AI
    assistant). ``default_availability`` is the availability of all other rows.
    """
    value_columns = [
        name
        for name in metadata.columns
        if name not in metadata.key and name in rows.columns and not is_status_column(rows, name)
    ]
    are_rows_added = default_availability.cause == NO_ROW_AVAILABILITY.cause
    engine_availabilities = [*availability_by_engine.values()]
    if are_rows_added:
        combined_availability = combine(
            metadata.columns[name].availability for name in value_columns
        )
        default_availability = (
            combined_availability if combined_availability.status in EMPTY else default_availability
        )
        # An added row has no values, whatever its engine measured elsewhere.
        engine_availabilities = [
            availability if availability.status in EMPTY else default_availability
            for availability in engine_availabilities
        ]
    # The state of its engine comes first; a row with a measurement keeps the default.
    availability_codes = np.zeros(len(rows), np.int64)
    if availability_by_engine and "engine" in rows.columns:
        code_by_engine = {engine: code for code, engine in enumerate(availability_by_engine, 1)}
        availability_codes = np.array(
            [code_by_engine.get(engine, 0) for engine in rows["engine"]], np.int64
        )
    if not are_rows_added:
        boolean_columns = [*rows[value_columns].select_dtypes(["bool", "boolean"])]
        measure_columns = (
            [*rows[value_columns].select_dtypes("number")] or boolean_columns or value_columns
        )
        is_measured = rows[measure_columns].notna().any(axis=1).to_numpy(bool)
        for name in boolean_columns:  # where nothing was measured, a flag may say whose a row is
            is_measured = is_measured | statuses_of(rows, name, metadata).is_complete
        availability_codes[is_measured] = 0
        statuses_of_measures = [statuses_of(rows, name, metadata) for name in measure_columns]
        is_empty_row = np.all(
            [cell_statuses.has_status(*EMPTY) for cell_statuses in statuses_of_measures], axis=0
        )
        has_cell_status_mask = is_empty_row & (availability_codes == 0) & ~is_measured
        for cell_statuses in statuses_of_measures[:1]:  # whose reason is that of the row
            availability_codes = np.where(
                has_cell_status_mask,
                len(engine_availabilities) + 1 + cell_statuses.codes,
                availability_codes,
            )
            engine_availabilities += cell_statuses.availabilities
    return status_columns([default_availability, *engine_availabilities], availability_codes)
