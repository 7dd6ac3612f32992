"""Check and select columns and rows by availability: ``require``, ``measured`` …"""

from __future__ import annotations

import numpy as np
import pandas as pd

from aatoolkit.availability import Status
from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.cell_status import availability_of, cells_of, is_status_column
from aatoolkit.frame.groupby import find
from aatoolkit.metadata.attrs import EMPTY, metadata_of
from aatoolkit.metadata.fingerprint import OVERWRITTEN


def require(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a frame if its columns could be measured; see ``df.aa.require``."""
    find(frame, columns)
    metadata = metadata_of(frame)
    known = metadata.columns
    lacking, is_in_part = {}, False
    for name in columns:
        state = availability_of(frame, name, known[name])
        is_silent = not frame[name].notna().to_numpy().any()
        is_lost = state.reason == OVERWRITTEN or cells_of(frame, name, metadata).unreported.any()
        if state.status in EMPTY or (state.status == Status.UNKNOWN and (is_silent or is_lost)):
            lacking[name] = str(state)
            is_in_part |= not is_silent and state.reason != OVERWRITTEN
    if lacking:
        reasons = "; ".join(f"{name}: {why}" for name, why in lacking.items())
        problem = "these columns hold no measurement"
        if is_in_part:
            problem = "these columns were not measured in every row"
            reasons += "; df.aa.measured() takes the rows in which they were"
        raise AvailabilityError(f"{problem}: {reasons}", columns=lacking)
    return frame


def drop_unavailable(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame without what could not be measured; see ``df.aa.drop_unavailable``."""
    known = metadata_of(frame)
    keep = [
        name in known.key or known.columns[name].availability.status not in EMPTY
        for name in map(str, frame.columns)
    ]
    return frame.loc[:, keep]


def measured(frame: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """The rows that hold a measurement; see ``df.aa.measured``."""
    find(frame, columns)
    known = metadata_of(frame)
    numbers = [
        str(name)
        for name in frame.select_dtypes("number").columns
        if name not in known.key and not is_status_column(frame, str(name))
    ]
    given = [cells_of(frame, name, known).given for name in columns or numbers]
    if not given:
        return frame
    return frame.loc[np.logical_and.reduce(given) if columns else np.logical_or.reduce(given)]
