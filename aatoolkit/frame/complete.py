"""Add explicit rows for what was not reported, so that no later step skips it silently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.cell_status import CAUSE, REASON, ROW, is_status_column, status_columns
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.frame.statements import row_statements
from aatoolkit.metadata.arrow_schema import declared_key
from aatoolkit.metadata.attrs import (
    EMPTY,
    ColumnMetadata,
    FrameMetadata,
    attach,
    metadata_of,
    over_rows,
    tables_of,
)
from aatoolkit.metadata.recorded import recorded

_OF_ROWS = (ROW, ROW + CAUSE, ROW + REASON)
_REPORTED = Availability(Status.AVAILABLE)
_NO_ROW = Availability(Status.UNKNOWN, Cause.NO_ROW)


@recorded("complete", "frame", "availability")
def complete(
    frame: pd.DataFrame, levels: Mapping[str, object], availability: pd.DataFrame | None
) -> pd.DataFrame:
    """Add the rows that a frame lacks; see ``df.aa.complete``."""
    flat = _nullable(flattened(frame))
    find(flat, levels)
    metadata = metadata_of(flat)
    engines = {} if availability is None else _engines(availability)
    given = {name: _levels(flat, name, values) for name, values in levels.items()}
    for name, values in given.items():
        flat[name] = flat[name].astype(values.dtype)
    new, strangers = _with_attributes(_lacking(flat, metadata, given), flat, metadata, levels)
    states = _row_states(flat, metadata, engines, reported=True)
    added = _row_states(new, metadata, engines, reported=False)
    whole = pd.concat([flat, new], ignore_index=True)
    for name in _OF_ROWS:
        there = flat[name] if is_status_column(flat, name) else states[name]
        whole[name] = pd.concat([there.astype(added[name].dtype), added[name]], ignore_index=True)
    stated_of_new = row_statements(added, ROW)
    described = {
        name: column
        if name in (*metadata.key, *levels)
        else _with(column, stated_of_new, strangers.get(name))
        for name, column in metadata.columns.items()
    }
    described |= dict.fromkeys(_OF_ROWS, ColumnMetadata(None, _REPORTED))
    return attach(whole, replace(metadata, columns=over_rows(whole, described)))


def _with(
    column: ColumnMetadata, statements: Sequence[Statement], strangers: Condition | None
) -> ColumnMetadata:
    """A column with what is stated of new rows: of an attribute, of those with a new key only."""
    if strangers is not None:
        if not strangers.values:
            return column
        statements = [replace(each, rows=(*each.rows, strangers)) for each in statements]
    return replace(column, statements=(*column.statements, *statements), otherwise=column.elsewhere)


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert whole numbers and booleans to nullable dtypes, so that they can be missing."""
    kinds = {"i": "Int64", "u": "UInt64", "b": "boolean"}
    return frame.astype(
        {
            name: kinds[kind.kind]
            for name, kind in frame.dtypes.items()
            if kind.kind in kinds and not pd.api.types.is_extension_array_dtype(kind)
        }
    )


def _levels(frame: pd.DataFrame, name: str, values: object) -> pd.Series:
    """Return the given levels in the dtype of their column, which may gain categories."""
    several = isinstance(values, Iterable) and not isinstance(values, str)
    given: list[object] = list(values) if several else [values]  # type: ignore[call-overload]
    listed = pd.Series(given, dtype=object, name=name).drop_duplicates()
    kind = frame[name].dtype
    if isinstance(kind, pd.CategoricalDtype):
        new = [value for value in listed if value not in kind.categories]
        if new and kind.ordered:
            raise _refused(
                name, f"{', '.join(map(str, new))} is not among the levels of the category"
            )
        kind = pd.CategoricalDtype([*kind.categories, *new], kind.ordered)
    problem = "a level is missing" if listed.isna().any() else ""
    try:
        typed = listed.astype(kind)
    except (TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise _refused(name, problem)
    return typed


def _refused(name: str, why: str) -> AvailabilityError:
    return AvailabilityError(f"the levels of {name!r} do not fit: {why}", columns={name: why})


def _lacking(
    frame: pd.DataFrame, metadata: FrameMetadata, levels: Mapping[str, pd.Series]
) -> pd.DataFrame:
    """Build the missing rows: the levels crossed with the rest of the key, without those there."""
    others = [name for name in metadata.key if name not in levels]
    wanted = frame[others].drop_duplicates() if others else pd.DataFrame(index=range(1))
    for values in levels.values():
        wanted = wanted.merge(values.to_frame(), how="cross")
    key = [*others, *levels]
    wanted = wanted[key].astype(frame[key].dtypes)
    there = pd.concat([frame[key], wanted], ignore_index=True).duplicated()
    new = wanted[~there.to_numpy()[len(frame) :]] if levels else wanted.iloc[:0]
    blank = frame.iloc[:0].reindex(range(len(new)))
    for name in key:
        blank[name] = new[name].array
    return blank


def _with_attributes(
    new: pd.DataFrame, frame: pd.DataFrame, metadata: FrameMetadata, levels: Iterable[str]
) -> tuple[pd.DataFrame, dict[str, Condition]]:
    """Fill in what other rows say of a part of the key, such as the maker of an engine.

    Beside it, by attribute, the new rows of which no other row says anything.
    """
    key = {*metadata.key, *levels}
    strangers: dict[str, Condition] = {}
    for table in tables_of(metadata):
        grain = metadata.grain(table, declared_key(table)) or ()
        if not grain or not {*grain} < key or not {*grain} <= {*frame.columns}:
            continue
        of_key = frame.drop_duplicates([*grain]).set_index([*grain])
        wanted = pd.MultiIndex.from_frame(new[[*grain]]) if len(grain) > 1 else new[grain[0]]
        fresh = new.loc[~wanted.isin(of_key.index), grain[0]].unique().tolist()
        for name, column in metadata.columns.items():
            if column.table == table and name in of_key.columns and name not in key:
                new[name] = of_key[name].reindex(wanted).array
                if len(grain) == 1 or not fresh:
                    strangers[name] = Condition(grain[0], "in", tuple(map(str, fresh)))
    return new, strangers


def _row_states(
    rows: pd.DataFrame,
    metadata: FrameMetadata,
    engines: Mapping[str, Availability],
    reported: bool,
) -> pd.DataFrame:
    """Build the status columns of rows: reported, or why not.

    A row that was reported is in the state of its engine only if it holds no measurement.
    """
    others = [
        name
        for name in metadata.columns
        if name not in metadata.key and name in rows.columns and not is_status_column(rows, name)
    ]
    whole = combine(metadata.columns[name].availability for name in others)
    plain = _REPORTED if reported else whole if whole.status in EMPTY else _NO_ROW
    codes = np.zeros(len(rows), np.int64)
    if engines and "engine" in rows.columns:
        places = {engine: place for place, engine in enumerate(engines, 1)}
        codes = np.array([places.get(engine, 0) for engine in rows["engine"]], np.int64)
    if reported:
        measures = [*rows[others].select_dtypes(["number", "bool", "boolean"])] or others
        codes[rows[measures].notna().any(axis=1).to_numpy(bool)] = 0
    states = [state if reported or state.status in EMPTY else plain for state in engines.values()]
    return status_columns([plain, *states], codes)


def _engines(availability: pd.DataFrame) -> dict[str, Availability]:
    """What an answer says of whole engines, out of ``tables.availability``."""
    names = ("scope", "target", "status", "cause", "reason")
    find(availability, names)
    table = availability[[*names]].astype(object)
    rows = table.where(table.notna(), None).itertuples(index=False, name=None)
    return {target: _state(*state) for scope, target, *state in rows if scope == "engine"}


def _state(status: str, cause: str | None, reason: str | None) -> Availability:
    return Availability(Status(status), None if cause is None else Cause(cause), reason)
