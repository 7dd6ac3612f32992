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
    lacking = {}
    for name in columns:
        state = availability_of(frame, name, known[name])
        is_silent = not frame[name].notna().to_numpy().any()
        is_lost = state.reason == OVERWRITTEN or cells_of(frame, name, metadata).unreported.any()
        if state.status in EMPTY or (state.status == Status.UNKNOWN and (is_silent or is_lost)):
            lacking[name] = str(state)
    if lacking:
        reasons = "; ".join(f"{name}: {why}" for name, why in lacking.items())
        raise AvailabilityError(f"these columns hold no measurement: {reasons}", columns=lacking)
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
