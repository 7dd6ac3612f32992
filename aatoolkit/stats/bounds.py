"""The interval that pictures, tables and reports draw beside a number: one choice for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aatoolkit.errors import AvailabilityError
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.stats.cluster_sums import Numbers
from aatoolkit.stats.estimate import LEAST_CLUSTERS
from aatoolkit.stats.interval import interval
from aatoolkit.stats.sides import PROMPT

OVER_PROMPTS = (
    f"95% interval for prompts like these, Wilson's with their design effect; none with fewer "
    f"than {LEAST_CLUSTERS} prompts"
)
OF_ONE = "Wilson's 95% interval, which takes the answers to one prompt for independent"
OF_PARTS = "Wilson's 95% interval, which takes what is counted for independent"
OF_ANSWERS = "Wilson's 95% interval, which takes answers for independent"
DECLARED = "the interval of the rate, as the table has it"


@dataclass(frozen=True)
class Bounds:
    """The interval of each row of a frame.

    Parameters
    ----------
    low, high : array of float
        Its ends, NaN where there is none.
    method : str
        Which interval it is, in words; empty where there is none.
    result : pandas.DataFrame, optional
        The intervals as they were computed, beside the columns that name the rows.
    is_over_prompts : bool
        Whether it is clustered: answers to one prompt resemble each other.
    """

    low: Numbers
    high: Numbers
    method: str = ""
    result: pd.DataFrame | None = None
    is_over_prompts: bool = False


def bounds(
    frame: pd.DataFrame,
    column: str,
    rows: pd.DataFrame | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
) -> Bounds:
    """Return the interval of each row of a frame: what a whisker beside its number shows.

    The one that the frame has (``x_low``, ``x_high``); else, where prompts are known, that over
    prompts; else Wilson's, which takes answers for independent and says so.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a mark.
    column : str
        The number of the marks.
    rows : pandas.DataFrame, optional
        The rows that the marks were made of, or another table that counts the same by prompt:
        where its prompts do not add up to the marks' numbers, these have Wilson's interval.
    by : sequence of str
        The columns that tell the marks apart, in both frames; none if there is one mark.
    level : float
        The confidence level.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> data = aa.demo().read_all(sections=["overview", "prompts"], progress=False)
    >>> engines = data["overview"]["overview_engines"]
    >>> drawn = bounds(engines, "mention_rate", data["prompts"]["prompt_engines"], ["engine"])
    >>> drawn.is_over_prompts, drawn.method.split(",")[0]
    (True, '95% interval for prompts like these')
    """
    ends = [f"{column}_low", f"{column}_high"]
    if all(name in frame.columns for name in ends):
        method = frame.get(f"{column}_method")
        words = str(method.iloc[0]) if method is not None and len(frame) else DECLARED
        return Bounds(*_ends(frame, column), words)
    keys = list(dict.fromkeys(by))
    try:
        if rows is not None and PROMPT in rows.columns and PROMPT not in keys:
            clustered = _over_prompts(frame, column, rows, keys, level)
            if clustered is not None:
                return clustered
        single = interval(frame, column, level, join=True)
    except AvailabilityError:
        nothing = np.full(len(frame), np.nan)
        return Bounds(nothing, nothing)
    return Bounds(*_ends(single, column), _of_independent(frame, column), single)


def _over_prompts(
    frame: pd.DataFrame, column: str, rows: pd.DataFrame, keys: list[str], level: float
) -> Bounds | None:
    """The intervals over prompts; None where the prompts do not add up to the marks."""
    pooled = interval(rows, column, level, by=keys or None, cluster=PROMPT)
    places = {tuple(row): at for at, row in enumerate(_marks(pooled, keys))}
    place = np.array([places.get(tuple(row), -1) for row in _marks(frame, keys)], np.int64)
    value, mark = (part[column].to_numpy(np.float64, na_value=np.nan) for part in (pooled, frame))
    is_same = (place >= 0) & np.isclose(value[place], mark, rtol=1e-6, atol=1e-12)
    if (np.isfinite(mark) & ~is_same).any():  # one picture has one kind of interval
        return None
    low, high = (np.where(is_same, end[place], np.nan) for end in _ends(pooled, column))
    return Bounds(low, high, OVER_PROMPTS, pooled, is_over_prompts=True)


def _of_independent(frame: pd.DataFrame, column: str) -> str:
    """Which interval that of single rows is: of answers to one prompt, of answers, of others."""
    metadata = metadata_of(frame)
    if PROMPT in metadata.key:
        return OF_ONE
    declaration = declared(metadata.columns[column])
    rule = declaration.aggregate if declaration else None
    parts = (rule.over or rule.counts) if rule else None
    return OF_ANSWERS if parts and parts[1].endswith("answer_count") else OF_PARTS


def _ends(frame: pd.DataFrame, column: str) -> tuple[Numbers, Numbers]:
    low, high = (
        frame[f"{column}_{end}"].to_numpy(np.float64, na_value=np.nan) for end in ("low", "high")
    )
    return low, high


def _marks(frame: pd.DataFrame, keys: list[str]) -> list[list[object]]:
    """The key of each row; a missing part is equal to another one."""
    values = frame[keys].astype(object)
    marks: list[list[object]] = values.where(values.notna(), None).to_numpy().tolist()
    return marks if keys else [[]] * len(frame)
