"""Frames of results: units, meanings, availability and sources of their columns."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from aatoolkit._util.result_frame import ResultFrame
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, Source, attach
from aatoolkit.sections.aggregation import refused
from aatoolkit.sections.column import Column
from aatoolkit.sections.registry import remember
from aatoolkit.sections.section import Table, records

Meanings = Mapping[str, tuple[str, str | None]]
"""What each column of a result says, and its unit."""

MEASURED = Availability(Status.AVAILABLE)

_DTYPES = {"Int64": "Int64", "Float64": "Float64", "boolean": "boolean"}


def result(
    frame: pd.DataFrame,
    verb: str,
    meanings: Meanings,
    keys: Mapping[str, ColumnMetadata],
    sources: Iterable[Source],
    state: Availability = MEASURED,
    *,
    more: Mapping[str, ColumnMetadata] | None = None,
    key: Sequence[str] = (),
) -> pd.DataFrame:
    """Attach metadata to a frame of results, and return it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The results.
    verb : str
        What made them; with the unit it names the table that its columns are declared in.
    meanings : mapping
        What each new column says, and its unit.
    keys : mapping of str to ColumnMetadata
        The metadata of columns that were taken over.
    sources : iterable of Source
        The answers they were computed from.
    state : Availability
        What is known of the numbers that they were computed from.
    more : mapping of str to ColumnMetadata, optional
        The metadata of further columns.
    key : sequence of str
        The columns that identify a row.
    """
    table = _declared(frame, verb, meanings)
    columns = {**keys, **(more or {})}
    for name in meanings:
        columns[name] = ColumnMetadata(f"{table}.{name}", _state(frame[name], state))
    frame = ResultFrame(frame)
    ordered = {str(name): columns.get(str(name), ColumnMetadata()) for name in frame.columns}
    known = FrameMetadata(ordered, tuple(key), tuple(dict.fromkeys(sources)))
    return attach(frame, known)


def _state(values: pd.Series, state: Availability) -> Availability:
    """The availability of a result's column: none, part, or that of its origin."""
    there = values.notna()
    if not len(values) or there.all():
        return state if state.status in (Status.AVAILABLE, Status.PARTIAL) else MEASURED
    cause = state.cause or Cause.INSUFFICIENT_SAMPLE
    why = state.reason or "see the verdict of each row"
    if not there.any():
        return Availability(Status.UNAVAILABLE, cause, why)
    return Availability(Status.PARTIAL, cause, why)


def _declared(frame: pd.DataFrame, verb: str, meanings: Meanings) -> str:
    """Declare the columns of a result for the code book, and return the table's name."""
    columns = tuple(
        Column(
            name,
            _DTYPES.get(str(frame[name].dtype), _dtype(frame[name])),
            doc,
            unit=unit,
            aggregate=refused("a result of statistics: compute it anew from the rows"),
        )
        for name, (doc, unit) in meanings.items()
    )
    name = re.sub(r"[^a-z0-9]+", "_", verb.lower())
    name = f"statistics:{name}_{hashlib.sha256(repr(columns).encode()).hexdigest()[:8]}"
    remember(name, Table(name, f"Results of {verb}.", records("rows"), (), columns))
    return name


def _dtype(values: pd.Series) -> str:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "date"
    if pd.api.types.is_float_dtype(values.dtype):
        return "Float64"
    return "string"


def numbers(values: Iterable[float], dtype: str = "Float64") -> pd.Series:
    """Make a nullable column, missing where a number is NaN."""
    return pd.Series(pd.array(list(values), dtype="Float64")).astype(dtype)  # type: ignore[call-overload,no-any-return]


def words(values: Iterable[str | None]) -> pd.Series:
    """Make a column of text."""
    return pd.Series(list(values), dtype="string")


def joined(*states: Availability) -> Availability:
    """Combine the availability of all that a result was computed from."""
    return combine(states)


def percent(value: float) -> str:
    """Format a fraction as a percentage, with digits that distinguish it from its neighbours.

    Examples
    --------
    >>> percent(0.4579), percent(0.00021)
    ('45.8 %', '0.021 %')
    """
    digits = 1 if abs(value) >= 0.001 or value == 0 else 3
    return f"{100 * value:.{digits}f} %"


def amount(value: float, is_fraction: bool) -> str:
    """Format a number for a verdict."""
    return percent(value) if is_fraction else f"{value:.3g}"


def points(value: float, is_fraction: bool) -> str:
    """Format a signed change for a verdict: percentage points if it is one of a fraction.

    Examples
    --------
    >>> points(0.051, True), points(-0.2, False)
    ('+5.1 points', '-0.2')
    """
    return f"{100 * value:+.1f} points" if is_fraction else f"{value:+.3g}"
