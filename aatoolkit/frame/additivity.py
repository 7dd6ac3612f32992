"""Dimensions over which a sum is declared to hold: over engines, for example, not over pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from aatoolkit.frame.groupby import Groups
from aatoolkit.sections.aggregation import Aggregation


def differing_keys(
    frame: pd.DataFrame,
    groups: Groups,
    rule: Aggregation,
    key: Iterable[str],
    names: Mapping[str, str],
) -> list[str]:
    """The parts of a key in which summed rows differ though the sum is not known to hold there.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    groups : Groups
        The rows that are added to each other.
    rule : Aggregation
        The rule of a column.
    key : iterable of str
        The key of the table that the column was declared in.
    names : mapping of str to str
        What its columns are called in the frame.
    """
    if not rule.across or not len(frame):
        return []
    found = []
    ids = pd.Series(groups.ids, index=frame.index)
    for part in key:
        name = names.get(part)
        if part in rule.across:
            continue
        if name is None or name not in frame.columns:
            differs = bool(ids.duplicated().any())
        else:
            pairs = pd.DataFrame({"group": ids.to_numpy(), "part": frame[name].to_numpy()})
            differs = bool(pairs.drop_duplicates()["group"].duplicated().any())
        if differs:
            found.append(part)
    return found
