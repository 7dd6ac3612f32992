"""Frames of results: units, meanings, availability and sources of their columns.

Methods
-------
Rates and means of sampled prompts
    Ratio estimator, linearised variance over prompts (Kish 1965), Wilson's interval on the
    effective sample size (Kott & Carr 1997; compared by Franco, Little, Louis & Slud 2019),
    Student's t with the effective number of prompts.
Changes between two samples
    The same for differences, paired by prompt where both have it; Holm's or Benjamini and
    Hochberg's adjustment; what 80 % power would have shown (Bloom 1995; Miller 2024).
Effects of an action
    Difference in differences within prompts, clustered (Bertrand, Duflo & Mullainathan 2004), with
    pre-trend and placebo days (Roth 2022).
Change points
    Binomial likelihood, exact segmentation (Auger & Lawrence 1989), a test by shuffled blocks of
    days with their long-run variance (Newey & West 1987).
Ranks
    Confidence sets from simultaneous pairwise differences (Mogstad et al. 2024), multiplier
    bootstrap over prompts, of few prompts the quantile of Student's t as far out.
Overlaps
    Jaccard index and rank-biased overlap (Webber, Moffat & Zobel 2010) of pairs of answers, beside
    pairs of answers of one engine; Student's t over prompts.
Decomposition, concentration, agreement, association
    Kitagawa 1955; Simpson 1949 and Hill 1973 with rarefaction (Hurlbert 1971); intra-class
    correlation by analysis of variance (Ridout et al. 1999), cluster bootstrap; Mantel & Haenszel
    1959 with the variance of Robins, Breslow & Greenland 1986.

Assumptions
-----------
Prompts are independent of each other: paraphrases of one question are one prompt. Those that were
put to the engines are like those that matter; nothing here corrects for how they were chosen. Both
samples were made in the same way. Where a function assumes more, or takes answers for independent,
its ``method`` column and its documentation say so, which also says when not to use it.

Checks
------
Against statsmodels and SciPy, to 1e-9: clustered variances of rates, means and changes, paired
and unpaired; Wilson's and Newcombe's intervals; adjusted p-values; the fixed-effects regression
of effects and trends; means over prompts and their paired test; Student's t; the Mantel-Haenszel
ratio. By simulation where there is no such reference: coverage of intervals and rank sets, false
alarms and power of comparisons, effects and change points, on processes that fit the assumptions
and some that do not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from aatoolkit._util.show import Marks, ShowAs, Shown, row_ranges
from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Cause, Status, combine
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, Source, attach
from aatoolkit.sections.aggregation import refused
from aatoolkit.sections.column import Column
from aatoolkit.sections.registry import remember
from aatoolkit.sections.section import Table, records

Meanings = Mapping[str, tuple[str, str | None]]
"""What each column of a result says, and its unit."""

MEASURED = Availability(Status.AVAILABLE)

_DTYPES = {"Int64": "Int64", "Float64": "Float64", "boolean": "boolean"}


def result(
    frame: pd.DataFrame,
    verb: str,
    meanings: Meanings,
    keys: Mapping[str, ColumnMetadata],
    sources: Iterable[Source],
    state: Availability = MEASURED,
    *,
    more: Mapping[str, ColumnMetadata] | None = None,
    key: Sequence[str] = (),
) -> pd.DataFrame:
    """Attach metadata to a frame of results, and return it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The results.
    verb : str
        What made them; with the unit it names the table that its columns are declared in.
    meanings : mapping
        What each new column says, and its unit.
    keys : mapping of str to ColumnMetadata
        The metadata of columns that were taken over.
    sources : iterable of Source
        The answers they were computed from.
    state : Availability
        What is known of the numbers that they were computed from.
    more : mapping of str to ColumnMetadata, optional
        The metadata of further columns.
    key : sequence of str
        The columns that identify a row.
    """
    table = _declared(frame, verb, meanings)
    columns = {**keys, **(more or {})}
    for name in meanings:
        columns[name] = ColumnMetadata(f"{table}.{name}", _state(frame[name], state))
    frame = Shown(frame).with_view(view_of(frame))
    ordered = {str(name): columns.get(str(name), ColumnMetadata()) for name in frame.columns}
    known = FrameMetadata(ordered, tuple(key), tuple(dict.fromkeys(sources)))
    return attach(frame, known)


_DETAILS = (
    "method",
    "why",
    "unit",
    "p",
    "n_before",
    "n_baseline",
    "clusters",
    "detectable",
    "deff",
)
"""The columns that say how a result was made, which are shown where there is room."""

_REASONS = 4
"""How many different reasons are listed below the table."""


def view_of(frame: pd.DataFrame) -> ShowAs:
    """How a frame of results is shown: key, numbers and verdict; below them what it cannot say."""
    names = [*map(str, frame.columns)]
    endings = tuple(f"_{name}" for name in (*_DETAILS, "n"))
    details = (name for name in names if name in _DETAILS or name.endswith(endings))
    verdicts = [name for name in names if name == "verdict" or name.endswith("_verdict")]
    verdict = verdicts[0] if len(verdicts) == 1 else ""
    order = ("change",) if "change" in names and verdict else ()
    return ShowAs(tuple(details), verdict, order, _remarks)


def _remarks(frame: pd.DataFrame, names: Collection[str]) -> tuple[Marks, list[str]]:
    """Say why there is no verdict, and why none although an interval leaves 0 out."""
    notes = []
    if {"verdict", "why"} <= {*frame} and "why" not in names:
        is_open = _equal(frame["verdict"], "cannot say")
        reasons = [*frame["why"][is_open].value_counts().index]
        for reason in reasons[:_REASONS]:
            rows = row_ranges(frame.index, is_open & _equal(frame["why"], reason))
            notes.append(f"cannot say{f' ({rows})' * (len(reasons) > 1)}: {visible(str(reason))}")
        if len(reasons) > _REASONS:
            notes.append(f"cannot say: {len(reasons) - _REASONS} more reasons, in .why")
    if {"low", "high", "p_adjusted", "verdict"} <= {*frame}:
        low, high, p = (
            frame[name].to_numpy(np.float64, na_value=np.nan)
            for name in ("low", "high", "p_adjusted")
        )
        beyond = (low * high > 0) & _equal(frame["verdict"], "no evidence")
        if beyond.any():
            notes.append(
                f"no evidence ({row_ranges(frame.index, beyond)}) although the interval of that "
                f"row alone leaves out 0: adjusted for all rows that were compared, p is "
                f"{p[beyond].min():.2g}{' or more' * (int(beyond.sum()) > 1)}"
            )
    return {}, notes


def _equal(values: pd.Series, text: str) -> np.ndarray:
    return values.eq(text).fillna(False).to_numpy(bool)


def _state(values: pd.Series, state: Availability) -> Availability:
    """The availability of a result's column: none, part, or that of its origin."""
    there = values.notna()
    if not len(values) or there.all():
        return state if state.status in (Status.AVAILABLE, Status.PARTIAL) else MEASURED
    cause = state.cause or Cause.INSUFFICIENT_SAMPLE
    why = state.reason or "see the verdict of each row"
    if not there.any():
        return Availability(Status.UNAVAILABLE, cause, why)
    return Availability(Status.PARTIAL, cause, why)


def _declared(frame: pd.DataFrame, verb: str, meanings: Meanings) -> str:
    """Declare the columns of a result for the code book, and return the table's name."""
    columns = tuple(
        Column(
            name,
            _DTYPES.get(str(frame[name].dtype), _dtype(frame[name])),
            doc,
            unit=unit,
            aggregate=refused("a result of statistics: compute it anew from the rows"),
        )
        for name, (doc, unit) in meanings.items()
    )
    name = re.sub(r"[^a-z0-9]+", "_", verb.lower())
    name = f"statistics:{name}_{hashlib.sha256(repr(columns).encode()).hexdigest()[:8]}"
    remember(name, Table(name, f"Results of {verb}.", records("rows"), (), columns))
    return name


def _dtype(values: pd.Series) -> str:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "date"
    if pd.api.types.is_float_dtype(values.dtype):
        return "Float64"
    return "string"


def numbers(values: Iterable[float], dtype: str = "Float64") -> pd.Series:
    """Make a nullable column, missing where a number is NaN."""
    return pd.Series(pd.array(list(values), dtype="Float64")).astype(dtype)  # type: ignore[call-overload,no-any-return]


def words(values: Iterable[str | None]) -> pd.Series:
    """Make a column of text."""
    return pd.Series(list(values), dtype="string")


def joined(*states: Availability) -> Availability:
    """Combine the availability of all that a result was computed from."""
    return combine(states)


def percent(value: float) -> str:
    """Format a fraction as a percentage, with digits that distinguish it from its neighbours.

    Examples
    --------
    >>> percent(0.4579), percent(0.00021)
    ('45.8 %', '0.021 %')
    """
    digits = 1 if abs(value) >= 0.001 or value == 0 else 3
    return f"{100 * value:.{digits}f} %"


def amount(value: float, is_fraction: bool) -> str:
    """Format a number for a verdict."""
    return percent(value) if is_fraction else f"{value:.3g}"


def points(value: float, is_fraction: bool) -> str:
    """Format a signed change for a verdict: percentage points if it is one of a fraction.

    Examples
    --------
    >>> points(0.051, True), points(-0.2, False)
    ('+5.1 points', '-0.2')
    """
    return f"{100 * value:+.1f} points" if is_fraction else f"{value:+.3g}"
