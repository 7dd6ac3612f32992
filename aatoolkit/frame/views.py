"""A frame as it is described, selected and handed on: code book, ``measured``, ``plain``, print."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd

from aatoolkit._util.show import Marks, ShowAs, Shown, as_text, row_ranges
from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.errors import AvailabilityError, MetadataError
from aatoolkit.frame.aggregation_plan import caution, common_unit
from aatoolkit.frame.cell_status import (
    CAUSE,
    COVERAGE,
    NO_VALUES,
    REASON,
    ROW,
    availability_of,
    cells_of,
    is_status_column,
)
from aatoolkit.frame.csv import as_texts
from aatoolkit.frame.groupby import find, flattened, numpy_times
from aatoolkit.frame.merge import is_joined
from aatoolkit.jsontree.decode import EXACT_FLOAT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import EMPTY, metadata_of
from aatoolkit.metadata.fingerprint import OVERWRITTEN


def codebook_of(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a column, by name; see ``df.aa.codebook``."""
    metadata = metadata_of(frame)
    columns = metadata.columns
    what = {name: declared(column) for name, column in columns.items()}
    dtypes = {str(name): str(dtype) for name, dtype in frame.dtypes.items()}
    return Shown(
        {
            "dtype": _words(dtypes.values()),
            "unit": _words(
                common_unit(frame, metadata, name) or (column and column.unit)
                for name, column in what.items()
            ),
            "aggregation": _words(column and str(column.aggregate) for column in what.values()),
            "doc": _words((column and column.doc) or None for column in what.values()),
            "availability": _words(
                str(availability_of(frame, name, column)) for name, column in columns.items()
            ),
            "caution": _words(caution(frame, metadata, name) for name in columns),
            "of": _words(
                None if is_joined(column.table) else column.of for column in columns.values()
            ),
        },
        index=pd.Index([*columns], dtype="string", name="column"),
    )


def _words(values: Iterable[object]) -> pd.Index:
    return pd.Index([*values], dtype="string")


def require(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a frame if its columns could be measured; see ``df.aa.require``."""
    find(frame, columns)
    metadata = metadata_of(frame)
    known = metadata.columns
    lacking: dict[str, str] = {}
    problem, advice = "these columns hold no measurement", ""
    for name in columns:
        state = availability_of(frame, name, known[name])
        is_silent = not frame[name].notna().to_numpy().any()
        is_lost = state.reason == OVERWRITTEN or cells_of(frame, name, metadata).unreported.any()
        is_unknown = state.status == Status.UNKNOWN
        is_partial = state.status == Status.PARTIAL and len(frame) > 0
        if (
            state.status in EMPTY
            or (is_unknown and is_lost)
            or (is_silent and (is_unknown or is_partial))
        ):
            lacking[name] = str(state)
            if not is_silent and state.reason != OVERWRITTEN:
                problem = "these columns were not measured in every row"
                advice = "; df.aa.measured() takes the rows in which they were"
    if lacking:
        reasons = "; ".join(f"{name}: {why}" for name, why in lacking.items())
        raise AvailabilityError(f"{problem}: {reasons}{advice}", columns=lacking)
    return frame


def drop_unavailable(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame without what could not be measured; see ``df.aa.drop_unavailable``."""
    metadata = metadata_of(frame)
    keep = [
        name in metadata.key or metadata.columns[name].availability.status not in EMPTY
        for name in map(str, frame.columns)
    ]
    return frame.loc[:, keep]


def measured(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """The rows that hold a measurement; see ``df.aa.measured``."""
    find(frame, columns)
    metadata = metadata_of(frame)
    numbers = [
        str(name)
        for name in frame.select_dtypes("number").columns
        if name not in metadata.key and not is_status_column(frame, str(name))
    ]
    given = [cells_of(frame, name, metadata).given for name in columns or numbers]
    if not given:
        return frame
    return frame.loc[np.logical_and.reduce(given) if columns else np.logical_or.reduce(given)]


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with ordinary dtypes; see ``df.aa.plain``."""
    flat = flattened(frame)
    columns = [_plain(flat.iloc[:, at]) for at in range(flat.shape[1])]
    whole = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(flat)))
    return whole.set_axis([str(name) for name in flat.columns], axis=1)


def _plain(values: pd.Series) -> pd.Series:
    """A column of numbers, flags or moments of NumPy, else of Python's texts and None."""
    kind, missing = values.dtype, values.isna().to_numpy(bool)
    api = pd.api.types
    if isinstance(kind, pd.CategoricalDtype):
        values = values.astype(kind.categories.dtype)
        kind = values.dtype
    if api.is_datetime64_any_dtype(kind):
        times = numpy_times(values)
        if times.dt.tz is not None:
            times = times.dt.tz_convert("UTC").dt.tz_localize(None)
        return times.reset_index(drop=True)
    if api.is_bool_dtype(kind) and not missing.any():
        return pd.Series(values.to_numpy(bool))
    if api.is_numeric_dtype(kind) and not api.is_bool_dtype(kind):
        is_whole = api.is_integer_dtype(kind)
        if is_whole and not missing.any():
            return pd.Series(values.to_numpy("uint64" if kind.kind == "u" else "int64"))
        largest = values.abs().max() if is_whole else 0
        if pd.isna(largest) or largest <= EXACT_FLOAT:
            return pd.Series(values.to_numpy(np.float64, na_value=np.nan))
    is_other = api.is_bool_dtype(kind) or api.is_numeric_dtype(kind)
    cells = values.astype(object) if is_other else as_texts(values)
    texts = cells.to_numpy(object, copy=True)
    texts[missing] = None
    return pd.Series(texts, dtype="object")


_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""How the columns end that say how those before them were measured."""

_REST = "; skip_missing=True adds the rest"
_REASONS = 4
"""How many different reasons of partial numbers are listed below the table."""


def view_of(frame: pd.DataFrame) -> ShowAs:
    """How a frame of measures is shown: what says how they were measured comes last."""
    names = {*map(str, frame.columns)}
    details = (f"{name}{ending}" for name in names for ending in _ENDINGS)
    return ShowAs(details=tuple(sorted({*details} & names)), remarks=_partial)


def in_sight(frame: pd.DataFrame) -> str:
    """Format any frame for a terminal: the first columns whole, and which are not shown."""
    return as_text(frame, ShowAs(details=view_of(frame).details))


def _partial(frame: pd.DataFrame, names: Collection[str]) -> tuple[Marks, list[str]]:
    """The numbers that are partial, and why, each reason once."""
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return {}, []
    reasons: dict[str, np.ndarray] = {}
    marks: Marks = {}
    lacking: list[str] = []
    for name in frame.columns:
        kind = frame[name].dtype
        if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind):
            continue
        cells = cells_of(frame, name, metadata)
        partial = cells.given & cells.having(Status.PARTIAL)
        if partial.any():
            marks[str(name)] = partial
        for code in np.unique(cells.codes[partial]).tolist():
            reason = cells.states[code].reason or ""
            rows = reasons.get(reason, np.zeros(len(frame), bool))
            reasons[reason] = rows | (partial & (cells.codes == code))
        counted = {state.reason or "" for state in cells.states if not cells.given.all()}
        lacking += [f"{name}: {why}{_REST}" for why in sorted(counted) if why.endswith(NO_VALUES)]
    notes = [
        f"* partial ({row_ranges(frame.index, rows)}){': ' if reason else ''}{visible(reason)}"
        for reason, rows in sorted(reasons.items(), key=lambda item: int(item[1].argmax()))[
            :_REASONS
        ]
    ]
    if len(reasons) > _REASONS:
        more = len(reasons) - _REASONS
        notes.append(f"* partial: {more} more reasons, in the columns of reasons")
    return marks, notes + lacking[:_REASONS]
