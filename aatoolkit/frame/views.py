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
    rows = []
    for name, column in metadata.columns.items():
        declaration = metadata.declaration_of(name)
        rows.append(
            (
                dtype_by_column[name],
                common_unit(frame, metadata, name) or declaration.unit,
                None if declaration is UNDECLARED else str(_rule_in_full(metadata, name)),
                declaration.doc or None,
                str(availability_of(frame, name, column)),
                approximation_reason(frame, metadata, name),
                None if is_joined_table(column.table) else column.declared_name,
            )
        )
    return show_as(
        rows,
        index=to_text_index(metadata.columns).rename("column"),
        columns=["dtype", "unit", "aggregation", "doc", "availability", "caution", "of"],
        dtype="string",
    )


def _rule_in_full(metadata: FrameMetadata, name: str) -> Aggregation:
    """Return the rule of a column, with all that limits over which columns rows are combined.

    A ratio is combined over the columns over which both of its counts may be added.
    """
    rule = metadata.declaration_of(name).aggregate
    counts = rule.over or (rule.by or name,)
    rules = [rule, *(metadata.declaration_of(count_name).aggregate for count_name in counts)]
    limits = [limited.across for limited in rules if limited.across]
    across = tuple(key for key in [*limits, ()][0] if all(key in limit for limit in limits))
    return replace(rule, across=across)


def availability_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the availability of each column of a frame; see ``df.aa.availability``."""
    columns = metadata_of(frame).columns
    states = [availability_of(frame, name, column) for name, column in columns.items()]
    return show_as(
        {
            "status": pd.Categorical(
                [str(state.status) for state in states], [str(status) for status in Status]
            ),
            "cause": to_text_index(state.cause for state in states),
            "reason": to_text_index(state.reason for state in states),
        },
        index=to_text_index(columns).rename("column"),
    )


def source_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the API responses that a frame was read from; see ``df.aa.sources``."""
    sources = metadata_of(frame).sources
    table = show_as({
        name: pd.array([getattr(source, name) for source in sources],
                       dtype="boolean" if name == "stale" else "string")
        for name in Source.__dataclass_fields__
    })  # fmt: skip
    fetch_times, _ = coerce_values([source.fetched_at for source in sources], "timestamp")
    table["fetched_at"] = fetch_times.to_pandas()
    return table


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
    problem = "these columns hold no measurement"
    advice = ""
    for name in columns:
        availability = availability_of(frame, name, metadata.columns[name])
        is_empty = bool(frame[name].isna().to_numpy().all())
        is_changed = availability.reason == OVERWRITTEN_REASON
        if availability.status == Status.UNKNOWN:
            cells = statuses_of(frame, name, metadata)
            # Of rows stated by a column that is gone, each without a value may be one of those.
            may_be_missing = cells.is_unreported | bool(metadata.columns[name].statements)
            is_refused = is_empty or is_changed or bool((may_be_missing & ~cells.has_number).any())
        else:
            is_partial = availability.status == Status.PARTIAL and len(frame) > 0
            is_refused = availability.status in EMPTY or (is_partial and is_empty)
        if is_refused:
            reason_by_column[name] = str(availability)
            if not is_empty and not is_changed:
                problem = "these columns were not measured in every row"
                advice = "; df.aa.measured() takes the rows in which they were"
    if reason_by_column:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in reason_by_column.items())
        raise AvailabilityError(f"{problem}: {reasons}{advice}", columns=reason_by_column)
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
    columns = [_to_plain(flat_frame.iloc[:, position]) for position in range(flat_frame.shape[1])]
    result = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(flat_frame)))
    return result.set_axis([str(name) for name in flat_frame.columns], axis=1)


def _to_plain(values: pd.Series) -> pd.Series:
    """Convert a column to a NumPy dtype; texts, lists and very large integers become objects."""
    is_missing = values.isna().to_numpy(bool)
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.dtype.categories.dtype)
    dtype = values.dtype
    if dtype.kind == "M":
        return to_naive_times(values).reset_index(drop=True)
    if not is_missing.any() and dtype.kind in "bui":
        return pd.Series(values.to_numpy({"b": "bool", "u": "uint64", "i": "int64"}[dtype.kind]))
    is_whole = dtype.kind in "ui"
    if dtype.kind in "uif":
        largest_number = values.abs().max() if is_whole else 0
        if pd.isna(largest_number) or largest_number <= MAX_EXACT_FLOAT:
            return pd.Series(values.to_numpy(np.float64, na_value=np.nan))
    cells = values.astype(object) if is_whole or dtype.kind == "b" else as_texts(values)
    texts = cells.to_numpy(object, copy=True)
    texts[is_missing] = None
    return pd.Series(texts, dtype="object")
