"""Why a mark has no number, in a few words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aatoolkit.availability import Status
from aatoolkit.display.plot.data import Mask, PlotData
from aatoolkit.display.plot.style import NO_NUMBER, NO_VALUE, UNMEASURED, Style
from aatoolkit.frame.cell_status import COVERAGE
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

NOT_MEASURED, NOT_GIVEN = "not measured", "no value given"
NOT_MENTIONED, NOTHING = "not mentioned", "nothing to count"
NOT_LISTED, DOES_NOT_APPLY = "not listed", "does not apply"
INFINITE = "infinite"

_NOTHING_REASONS = ("zero_denominator", "zero weight", "nothing to count")
"""The reasons that an aggregation gives where there was nothing to divide by."""
_OF_MENTIONS = ("mention_count", "position_count", "scored_count", "labelled_count")
"""The counts of what only a mention has: a place, a tone."""


def style_without(reason: str) -> Style:
    """The style of what has no number, by the reason: hatched if it was not measured."""
    return {NOT_MEASURED: UNMEASURED, NOT_GIVEN: NO_VALUE}.get(reason, NO_NUMBER)


def why_missing(data: PlotData, name: str, row: int) -> str:
    """Describe in a few words why a cell has no number: see `whys_missing`."""
    return whys_missing(data, name, [row])[0]


def whys_missing(data: PlotData, name: str, rows: Iterable[int]) -> list[str]:
    """Describe in a few words why some cells of a column have no number.

    What was not measured differs from what was, and had nothing to be counted of, and from
    places and tones of a brand that was not mentioned.
    """
    cells, units, counted = data.cells(name), data.units(name), data.sample(name)
    is_tone = (counted or "").removeprefix(_before(name)) in _OF_MENTIONS
    uncovered, none = _zeros(data, f"{name}{COVERAGE}"), _zeros(data, counted)
    unmentioned = _unmentioned(data, _before(name))
    infinite = data.infinite(name)
    found = []
    for row in rows:
        state, unit = cells.states[int(cells.codes[row])], units[row]
        if infinite[row]:
            found.append(INFINITE)
        elif state.status == Status.NOT_APPLICABLE:
            found.append(NOTHING if state.reason in _NOTHING_REASONS else DOES_NOT_APPLY)
        elif state.status not in _IN_PART or uncovered[row]:
            found.append(NOT_MEASURED)
        elif unmentioned[row] and (is_tone or unit == RANK):
            found.append(NOT_MENTIONED)
        elif none[row] and unit in (FRACTION, RANK, SCORE):
            found.append(NOTHING)
        else:
            found.append(NOT_MEASURED if state.status == Status.PARTIAL else NOT_GIVEN)
    return found


_IN_PART = (Status.AVAILABLE, Status.PARTIAL, Status.UNKNOWN)
"""The statuses of a cell that could have had a number."""


def _before(name: str) -> str:
    """The prefix of the counts of the window before, for a number of that window."""
    return "previous_" if name.startswith("previous_") else ""


def _unmentioned(data: PlotData, before: str) -> Mask:
    """Mask of the rows that say that there was no mention."""
    if not before and data.kinds.get("mentioned") == "flag":
        mentioned = data.frame["mentioned"]
        return (~mentioned.fillna(True).astype(bool)).to_numpy(bool)
    return _zeros(data, f"{before}mention_count")


def _zeros(data: PlotData, name: str | None) -> Mask:
    """Mask of the rows in which a count is 0."""
    if name is None or data.kinds.get(name) != "number":
        return np.zeros(len(data), bool)
    return (data.frame[name] == 0).fillna(False).to_numpy(bool)
