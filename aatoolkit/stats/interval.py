"""Confidence intervals of proportions."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd

from aatoolkit.errors import AvailabilityError
from aatoolkit.frame.aggregation_plan import plan
from aatoolkit.frame.cell_status import cells_of, together
from aatoolkit.frame.groupby import find, group
from aatoolkit.metadata.attrs import metadata_of


def interval(frame: pd.DataFrame, column: str, level: float) -> pd.DataFrame:
    """Wilson's score interval; see ``df.aa.interval``."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not between 0 and 1")
    find(frame, [column])
    known = metadata_of(frame)
    (planned,) = plan(frame, known, group(frame, None, True), column, {})
    if planned.rule.over is None:
        raise _refused(column, f"its rule ({planned.rule}) names no numerator and denominator")
    cells = together(*(cells_of(frame, part, known) for part in planned.parts))
    hits, trials = (frame[part].to_numpy(np.float64, na_value=np.nan) for part in planned.parts)
    counted = cells.given & (trials > 0)
    use = counted & (hits >= 0) & (hits <= trials)
    if counted.any() and not use.any():
        raise _refused(column, "its numerator is no part of its denominator")
    z = NormalDist().inv_cdf((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, spread = hits / trials, z * z / trials
        centre = (rate + spread / 2) / (1 + spread)
        half = np.sqrt(rate * (1 - rate) * spread + spread * spread / 4) / (1 + spread)
    bounds = {
        f"{column}_low": np.clip(centre - half, 0, 1),
        f"{column}_high": np.clip(centre + half, 0, 1),
    }
    return pd.DataFrame(
        {
            name: pd.array(np.where(use, bound, np.nan), dtype="Float64")
            for name, bound in bounds.items()
        },
        index=frame.index,
    )


def _refused(column: str, why: str) -> AvailabilityError:
    return AvailabilityError(f"{column} has no interval: {why}", columns={column: why})
