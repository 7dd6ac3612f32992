"""The availability of a funnel: each stage at the columns that rest on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.metadata.attrs import ColumnMetadata, attach, metadata_of
from aatoolkit.stats.results import MEASURED

_RESTS_ON = {
    "crawl_to_refer": ("crawled", "visited"),
    "conversion_rate": ("visited", "converted"),
    "conversion_rate_low": ("visited", "converted"),
    "conversion_rate_high": ("visited", "converted"),
    "n": ("visited",),
}
"""The stages that each further number is computed from."""


def with_states(frame: pd.DataFrame, states: Mapping[str, Availability]) -> pd.DataFrame:
    """The frame with the availability of each stage at the columns that rest on it, and no others.

    Parameters
    ----------
    frame : pandas.DataFrame
        The funnel.
    states : mapping of str to Availability
        What is known of each stage.
    """
    known = metadata_of(frame)
    columns: dict[str, ColumnMetadata] = {}
    for name, column in known.columns.items():
        parts = [states[each] for each in _RESTS_ON.get(name, (name,)) if each in states]
        state = combine(parts) if parts else MEASURED
        state = replace(state, reason=_once(state.reason))
        if frame[name].isna().all() and len(frame) and state.status != Status.UNAVAILABLE:
            state = replace(state, status=Status.UNAVAILABLE, cause=state.cause or Cause.NO_ROW)
        elif frame[name].isna().any() and state.status == Status.AVAILABLE:
            why = "some rows are not listed" if name in states else "see the verdict of each row"
            state = Availability(Status.PARTIAL, Cause.NO_ROW, why)
        columns[name] = replace(column, availability=state)
    return attach(frame, replace(known, columns=columns))


def _once(reason: str | None) -> str | None:
    """The sentences of a reason, each once, of whomever it is stated."""
    if reason is None:
        return None
    parts = [part.strip() for part in reason.split(";")]
    kept: list[str] = []
    for at, part in enumerate(parts):
        rest = " ".join(parts[:at] + parts[at + 1 :])
        sentence = part.partition(": ")[2] or part
        repeated = sentence in " ".join(kept) or (sentence != part and sentence in rest)
        if not repeated:
            kept.append(part)
    return "; ".join(kept)
