"""Lossless reshaping: one row a cell with its availability, and rows with their context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status
from aatoolkit.errors import AvailabilityError, NotWritten
from aatoolkit.frame.cell_status import (
    CAUSE,
    REASON,
    ROW,
    STATUSES,
    cells_of,
    is_status_column,
    status_columns,
)
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.jsontree.decode import EXACT_FLOAT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import recorded
from aatoolkit.scope import FILTERS, Scope

_ADDED = ("variable", "value", "unit", ROW, ROW + CAUSE, ROW + REASON)
_WINDOW = ("window_start", "window_end")
CONTEXT = ("host", "days", *_WINDOW, *(f"filter_{name}" for name in FILTERS), "fetched_at")
"""The columns that hold where and when rows were read."""

_MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))


@recorded("to_long", "frame")
def to_long(frame: pd.DataFrame, columns: str | Iterable[str] | None) -> pd.DataFrame:
    """One row a cell; see ``df.aa.to_long``."""
    flat = flattened(frame)
    flat = flat.set_axis([str(name) for name in flat.columns], axis=1)
    find(flat, flat.columns)
    metadata = metadata_of(flat)
    wanted = [columns] if isinstance(columns, str) else list(columns or ())
    find(flat, wanted)
    numbers = [
        name
        for name in map(str, flat.select_dtypes("number").columns)
        if name in wanted or not (wanted or name in metadata.key or is_status_column(flat, name))
    ]
    astray = {name: f"holds {flat[name].dtype}" for name in wanted if name not in numbers}
    if astray:
        reasons = ", ".join(f"{name} {why}" for name, why in astray.items())
        raise AvailabilityError(f"only numbers have a long form: {reasons}", columns=astray)
    is_whole = all(pd.api.types.is_integer_dtype(flat[name].dtype) for name in numbers)
    kind = "Int64" if numbers and is_whole else "Float64"
    others = {
        name: f"{name}_" if name in _ADDED else name
        for name in flat.columns
        if name not in numbers and not is_status_column(flat, name)
    }
    _check_free(others.values(), _ADDED)
    rows = flat[[*others]].rename(columns=others).reset_index(drop=True)
    kinds: dict[str, Any] = {"value": kind, ROW: STATUSES}
    nothing = {name: pd.Series(dtype=kinds.get(name, "string")) for name in _ADDED}
    blocks = [] if numbers else [rows.iloc[:0].assign(**nothing)]
    for name in numbers:
        cells, what = cells_of(flat, name, metadata), declared(metadata.columns[name])
        block = rows.assign(
            variable=pd.Series(name, index=rows.index, dtype="string"),
            value=_exact(flat[name], kind).array,
            unit=pd.Series(what.unit if what else None, index=rows.index, dtype="string"),
        )
        blocks.append(pd.concat([block, status_columns(cells.states, cells.codes)], axis=1))
    described = {new: metadata.columns[name].renamed(others) for name, new in others.items()}
    described |= dict.fromkeys((name for name in _ADDED if name != "value"), _MEASURED)
    key = (*(others[name] for name in metadata.key if name in others), "variable")
    long = pd.concat(blocks, ignore_index=True)
    return attach(long, FrameMetadata(described, key, metadata.sources))


def _exact(values: pd.Series, kind: str) -> pd.Series:
    """Cast numbers to a 64-bit dtype; raise where one would change."""
    is_whole = pd.api.types.is_integer_dtype(values.dtype)
    if kind == "Float64" and is_whole and (values.abs() > EXACT_FLOAT).any():
        raise NotWritten(
            f"{values.name} holds whole numbers beyond 2**53, which do not fit beside "
            "fractions; name whole-number columns alone",
        )
    exact: pd.Series = values.astype(pd.api.types.pandas_dtype(kind))
    return exact


@recorded("with_context", "frame")
def with_context(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with its context as columns; see ``df.aa.with_context``."""
    metadata = metadata_of(frame)
    if len(metadata.sources) != 1:
        many = f"{len(metadata.sources)} answers" if metadata.sources else "no answer that is known"
        why = f"the frame was read from {many}"
        raise AvailabilityError(
            f"{why}, so its rows have no one context; add it to each frame before combining them",
            columns=dict.fromkeys(CONTEXT, why),
        )
    _check_free(map(str, frame.columns), CONTEXT)
    (source,) = metadata.sources
    scope = None if source.scope is None else Scope._from_query(source.scope)
    facts: dict[str, tuple[object, str]] = {
        "host": (source.host, "string"),
        "days": (scope and scope.days, "Int64"),
        **{name: (_moment(getattr(source, name)), "datetime64[us]") for name in _WINDOW},
        **{f"filter_{name}": (_listed(scope, name), "string") for name in FILTERS},
        "fetched_at": (_moment(source.fetched_at), "datetime64[us, UTC]"),
    }
    context = pd.DataFrame(
        {
            name: pd.Series([fact], dtype=kind).repeat(len(frame)).set_axis(frame.index)
            for name, (fact, kind) in facts.items()
        }
    )
    described = {**dict.fromkeys(CONTEXT, _MEASURED), **metadata.columns}
    whole = pd.concat([context, frame], axis=1)
    return attach(whole, replace(metadata, columns=described))


@recorded("with_constant", "frame")
def with_constant(frame: pd.DataFrame, name: str, value: str) -> pd.DataFrame:
    """A frame with a first column that holds one text in every row."""
    metadata = metadata_of(frame)
    column = pd.Series([value], dtype="string").repeat(len(frame)).set_axis(frame.index)
    whole = pd.concat([column.rename(name), frame], axis=1)
    return attach(whole, replace(metadata, columns={name: _MEASURED, **metadata.columns}))


def _moment(text: str | None) -> object:
    return np.datetime64("NaT") if text is None else text


def _listed(scope: Scope | None, name: str) -> str | None:
    """The values that a filter was set to; None where nothing was filtered by it."""
    return ",".join(scope._filters.get(name, ())) or None if scope else None


def _check_free(there: Iterable[str], added: Iterable[str]) -> None:
    taken = sorted({*there} & {*added})
    if taken:
        raise AvailabilityError(
            f"the frame already has {', '.join(taken)}; rename it first",
            columns=dict.fromkeys(taken, "is there already"),
        )
