"""Describe, select and convert frames: ``codebook``, ``require``, ``measured`` and ``plain``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from aatoolkit._util.show import show_as
from aatoolkit.availability import Status
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregation_plan import approximation_reason, common_unit
from aatoolkit.frame.cell_status import availability_of, is_status_column, statuses_of
from aatoolkit.frame.csv import as_texts
from aatoolkit.frame.duplicates import is_joined_table
from aatoolkit.frame.groupby import check_columns, flatten_index, to_naive_times
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.decode import MAX_EXACT_FLOAT
from aatoolkit.metadata.attrs import EMPTY, UNDECLARED, FrameMetadata, Source, metadata_of
from aatoolkit.metadata.fingerprint import OVERWRITTEN_REASON
from aatoolkit.sections.aggregation import Aggregation


def codebook_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame that describes each column in one row; see ``df.aa.codebook``."""
    metadata = metadata_of(frame)
    dtype_by_column = {str(name): str(dtype) for name, dtype in frame.dtypes.items()}
    codebook_rows = []
    for name, column_metadata in metadata.columns.items():
        declaration = metadata.declaration_of(name)
        codebook_rows.append(
            (
                dtype_by_column[name],
                common_unit(frame, metadata, name) or declaration.unit,
                None if declaration is UNDECLARED else str(_rule_in_full(metadata, name)),
                declaration.doc or None,
                str(availability_of(frame, name, column_metadata)),
                approximation_reason(frame, metadata, name),
                None if is_joined_table(column_metadata.table) else column_metadata.declared_name,
            )
        )
    return show_as(
        codebook_rows,
        index=to_text_index(metadata.columns).rename("column"),
        columns=["dtype", "unit", "aggregation", "doc", "availability", "caution", "of"],
        dtype="string",
    )


def _rule_in_full(metadata: FrameMetadata, column_name: str) -> Aggregation:
    """Return the rule of a column, with all that limits over which columns rows are combined.

    A ratio is combined over the columns over which both of its counts may be added.
    """
    rule = metadata.declaration_of(column_name).aggregate
    count_names = rule.over or (rule.by or column_name,)
    combined_rules = [
        rule,
        *(metadata.declaration_of(count_name).aggregate for count_name in count_names),
    ]
    key_limits = [limited_rule.across for limited_rule in combined_rules if limited_rule.across]
    shared_key_columns = tuple(
        key_column
        for key_column in [*key_limits, ()][0]
        if all(key_column in key_limit for key_limit in key_limits)
    )
    return replace(rule, across=shared_key_columns)


def availability_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the availability of each column of a frame; see ``df.aa.availability``."""
    metadata_by_column = metadata_of(frame).columns
    availabilities = [
        availability_of(frame, name, column_metadata)
        for name, column_metadata in metadata_by_column.items()
    ]
    return show_as(
        {
            "status": pd.Categorical(
                [str(availability.status) for availability in availabilities],
                [str(status) for status in Status],
            ),
            "cause": to_text_index(availability.cause for availability in availabilities),
            "reason": to_text_index(availability.reason for availability in availabilities),
        },
        index=to_text_index(metadata_by_column).rename("column"),
    )


def source_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the API responses that a frame was read from; see ``df.aa.sources``."""
    sources = metadata_of(frame).sources
    source_frame = show_as({
        name: pd.array([getattr(source, name) for source in sources],
                       dtype="boolean" if name == "stale" else "string")
        for name in Source.__dataclass_fields__
    })  # fmt: skip
    fetch_times, _ = coerce_values([source.fetched_at for source in sources], "timestamp")
    source_frame["fetched_at"] = fetch_times.to_pandas()
    return source_frame


def to_text_index(values: Iterable[object]) -> pd.Index:
    """Return texts as a `pandas.Index` of dtype ``string``; None becomes a missing value."""
    return pd.Index([*values], dtype="string")


def require(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the frame unchanged if all ``columns`` were measured, else raise `AvailabilityError`.

    See ``df.aa.require``.
    """
    check_columns(frame, columns)
    metadata = metadata_of(frame)
    reason_by_column = {}
    problem_text = "these columns hold no measurement"
    advice = ""
    for name in columns:
        availability = availability_of(frame, name, metadata.columns[name])
        is_empty = bool(frame[name].isna().to_numpy().all())
        is_changed = availability.reason == OVERWRITTEN_REASON
        if availability.status == Status.UNKNOWN:
            cell_statuses = statuses_of(frame, name, metadata)
            # Of rows stated by a column that is gone, each without a value may be one of those.
            may_be_missing = cell_statuses.is_unreported | bool(metadata.columns[name].statements)
            is_refused = (
                is_empty or is_changed or bool((may_be_missing & ~cell_statuses.has_number).any())
            )
        else:
            is_partial = availability.status == Status.PARTIAL and len(frame) > 0
            is_refused = availability.status in EMPTY or (is_partial and is_empty)
        if is_refused:
            reason_by_column[name] = str(availability)
            if not is_empty and not is_changed:
                problem_text = "these columns were not measured in every row"
                advice = "; df.aa.measured() takes the rows in which they were"
    if reason_by_column:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in reason_by_column.items())
        raise AvailabilityError(f"{problem_text}: {reasons}{advice}", columns=reason_by_column)
    return frame


def measured(frame: pd.DataFrame, columns: tuple[str, ...], drop: bool) -> pd.DataFrame:
    """Return the rows in which all of ``columns`` were measured; see ``df.aa.measured``.

    Without ``columns``, a row is returned if any number in it was measured. ``drop`` says whether
    columns without measured values are left out.
    """
    check_columns(frame, columns)
    metadata = metadata_of(frame)
    number_columns = [
        str(name)
        for name in frame.select_dtypes("number").columns
        if name not in metadata.key and not is_status_column(frame, str(name))
    ]
    masks_of_measured_rows = [
        statuses_of(frame, name, metadata).has_number for name in columns or number_columns
    ]
    if masks_of_measured_rows:
        frame = frame.loc[
            (np.logical_and if columns else np.logical_or).reduce(masks_of_measured_rows)
        ]
    if not drop:
        return frame
    metadata_by_column = metadata_of(frame).columns
    measured_flags = [
        name in metadata.key or metadata_by_column[name].availability.status not in EMPTY
        for name in map(str, frame.columns)
    ]
    return frame.loc[:, measured_flags]


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with columns in NumPy dtypes; see ``df.aa.plain``."""
    flat_frame = flatten_index(frame)
    plain_columns = [
        _to_plain(flat_frame.iloc[:, position]) for position in range(flat_frame.shape[1])
    ]
    plain_frame = (
        pd.concat(plain_columns, axis=1)
        if plain_columns
        else pd.DataFrame(index=range(len(flat_frame)))
    )
    return plain_frame.set_axis([str(name) for name in flat_frame.columns], axis=1)


def _to_plain(column_values: pd.Series) -> pd.Series:
    """Convert a column to a NumPy dtype; texts, lists and very large integers become objects."""
    is_missing = column_values.isna().to_numpy(bool)
    if isinstance(column_values.dtype, pd.CategoricalDtype):
        column_values = column_values.astype(column_values.dtype.categories.dtype)
    dtype = column_values.dtype
    if dtype.kind == "M":
        return to_naive_times(column_values).reset_index(drop=True)
    if not is_missing.any() and dtype.kind in "bui":
        return pd.Series(
            column_values.to_numpy({"b": "bool", "u": "uint64", "i": "int64"}[dtype.kind])
        )
    is_whole = dtype.kind in "ui"
    if dtype.kind in "uif":
        largest_number = column_values.abs().max() if is_whole else 0
        if pd.isna(largest_number) or largest_number <= MAX_EXACT_FLOAT:
            return pd.Series(column_values.to_numpy(np.float64, na_value=np.nan))
    cells = (
        column_values.astype(object) if is_whole or dtype.kind == "b" else as_texts(column_values)
    )
    cell_objects = cells.to_numpy(object, copy=True)
    cell_objects[is_missing] = None
    return pd.Series(cell_objects, dtype="object")
