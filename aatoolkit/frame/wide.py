"""How results of `aggregate` are shown: partial numbers are marked, and say why."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from aatoolkit._util.show import Marks, ShowAs, as_text, row_ranges
from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError
from aatoolkit.frame.cell_status import CAUSE, COVERAGE, REASON, ROW, cells_of
from aatoolkit.metadata.attrs import metadata_of

_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""How the columns end that say how those before them were measured."""

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
    notes = [
        f"* partial ({row_ranges(frame.index, rows)}){': ' if reason else ''}{visible(reason)}"
        for reason, rows in sorted(reasons.items(), key=lambda item: int(item[1].argmax()))[
            :_REASONS
        ]
    ]
    if len(reasons) > _REASONS:
        more = len(reasons) - _REASONS
        notes.append(f"* partial: {more} more reasons, in the columns of reasons")
    return marks, notes
