"""What is stated of the groups of an aggregate, and of rows that a frame lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date

import numpy as np
import pandas as pd

from aatoolkit._util.text import combined_reason
from aatoolkit.availability import AbsentRows, Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.errors import ScopeError
from aatoolkit.frame.cell_status import CAUSE, REASON, Codes
from aatoolkit.frame.groupby import Groups
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata
from aatoolkit.scope import FILTERS, Scope

MOST_VALUES = 500
"""The most values of a column by which rows are distinguished; above, a status is of all."""

_WHOLE = (Status.AVAILABLE, Status.NOT_APPLICABLE)
_PREFIX = "filter_"


def distinct_texts(values: pd.Series) -> list[str] | None:
    """The distinct values of a column as text; None if there are too many, or some are missing."""
    if values.isna().any():
        return None
    found = values.unique()
    if len(found) > MOST_VALUES:
        return None
    return [
        each.isoformat() if isinstance(each, date) else str(each)
        for each in pd.Series(found).astype(object)
    ]


def picking(
    knowns: Iterable[FrameMetadata], frames: Sequence[tuple[pd.DataFrame, FrameMetadata]]
) -> list[tuple[Condition | None, tuple[str, ...]]]:
    """For each frame without rows, the value its rows would have, and those of other frames.

    Parameters
    ----------
    knowns : iterable of FrameMetadata
        The metadata of the frames without rows.
    frames : sequence of pandas.DataFrame and FrameMetadata
        The frames with rows.
    """
    names = [
        name
        for name in ("host", *(f"{_PREFIX}{each}" for each in FILTERS), *FILTERS)
        if all(name in frame.columns and name in metadata.columns for frame, metadata in frames)
    ]
    there = {name: _together(frame[name] for frame, _ in frames) for name in names}
    found: list[tuple[Condition | None, tuple[str, ...]]] = []
    for metadata in knowns:
        values = ((name, _value(metadata, name)) for name in names)
        chosen = [
            (Condition(name, "in", (value,)), others)
            for name, value in values
            if value is not None and (others := there[name]) and value not in others
        ]
        found.append(chosen[0] if chosen else (None, ()))
    return found


def of_groups(
    absent: Iterable[AbsentRows], metadata: FrameMetadata, groups: Groups
) -> Iterator[tuple[AbsentRows, Codes, bool]]:
    """What is stated of absent rows, the groups it concerns, and whether only some are."""
    for each in absent:
        name = each.rows.column if each.rows else None
        if each.rows is None or name not in groups.by_value or not metadata.holds(str(name)):
            yield each, np.ones(len(groups), bool), False
        else:
            keys = groups.keys[name].astype(object)
            yield each, np.array(each.rows.matches(keys.where(keys.notna(), None)), bool), True


def in_groups(
    states: Sequence[Availability], codes: Codes, absent: Iterable[tuple[AbsentRows, Codes, bool]]
) -> tuple[list[Availability], Codes]:
    """The states of groups, with what is stated of rows that they lack."""
    stated: dict[bytes, tuple[Codes, list[Availability]]] = {}
    for each, concerned, _ in absent:
        if concerned.any():
            stated.setdefault(concerned.tobytes(), (concerned, []))[1].append(each.availability)
    listed = [*states]
    for concerned, lacking in stated.values():
        codes = np.where(concerned, codes + len(listed), codes)
        listed += [combine([state, *lacking]) for state in listed]
    return listed, codes


def with_absent(
    columns: Mapping[str, ColumnMetadata],
    frames: Sequence[tuple[pd.DataFrame, FrameMetadata]],
    knowns: Sequence[FrameMetadata],
) -> dict[str, ColumnMetadata]:
    """Return the metadata of the columns of several frames, with what the empty ones state.

    Parameters
    ----------
    columns : mapping of str to ColumnMetadata
        The columns over the frames with rows.
    frames : sequence of pandas.DataFrame and FrameMetadata
        Those frames.
    knowns : sequence of FrameMetadata
        The metadata of the frames without rows.
    """
    rows = picking(knowns, frames)
    found = {}
    for name, column in columns.items():
        absent = [
            each
            for metadata in (*(metadata for _, metadata in frames), *knowns)
            if name in metadata.columns
            for each in metadata.columns[name].absent
        ]
        stated: dict[tuple[Availability, str, tuple[str, ...]], list[str]] = {}
        for metadata, (condition, others) in zip(knowns, rows, strict=True):
            state = metadata.columns[name].availability if name in metadata.columns else None
            if state is None or state.status in _WHOLE:
                continue
            if condition is None:
                absent.append(AbsentRows(state))
            else:
                stated.setdefault((state, condition.column, others), []).extend(condition.values)
        absent += [
            AbsentRows(state, Condition(of, "in", tuple(dict.fromkeys(values))), others)
            for (state, of, others), values in stated.items()
        ]
        found[name] = column.lacking(*absent) if absent else column
    return found


def _together(columns: Iterable[pd.Series]) -> tuple[str, ...]:
    """The distinct values of several columns as text; none where they are not all known."""
    texts = [distinct_texts(values) for values in columns]
    if any(each is None for each in texts):
        return ()
    found = tuple(dict.fromkeys(text for each in texts for text in each or ()))
    return found if len(found) <= MOST_VALUES else ()


def _value(metadata: FrameMetadata, name: str) -> str | None:
    """The value of a column that the rows of some answers would have, if it is one."""
    if name == "host":
        found = {source.host for source in metadata.sources}
    else:
        found = {_filtered(source.scope, name.removeprefix(_PREFIX)) for source in metadata.sources}
    return found.pop() if len(found) == 1 else None


def _filtered(scope: str | None, name: str) -> str | None:
    """What a scope is filtered by, as a text."""
    with suppress(ScopeError):
        return ",".join(Scope._from_query(scope or "")._filters.get(name, ())) or None
    return None


def row_statements(statuses: pd.DataFrame, name: str) -> list[Statement]:
    """What is stated of the rows of each status, which the column of statuses tells apart.

    Parameters
    ----------
    statuses : pandas.DataFrame
        A column each of status, cause and reason.
    name : str
        The name of the column of statuses.
    """
    statements = []
    for status, rows in statuses.astype("object").groupby(name, observed=True, sort=False):
        causes, reasons = rows[name + CAUSE].dropna(), rows[name + REASON].dropna()
        state = Availability(
            Status(str(status)),
            Cause(str(causes.iloc[0])) if causes.nunique() == 1 else None,
            combined_reason(map(str, reasons.unique())),
        )
        statements.append(Statement(state, (Condition(name, "in", (str(status),)),)))
    return statements
