"""Groups of rows: which group each row is in, and the availability of each group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from aatoolkit.availability import Availability, combine
from aatoolkit.errors import (
    ArgumentError,
    AvailabilityError,
    ItemNotFound,
    did_you_mean,
    near_matches,
)
from aatoolkit.frame.cell_status import Cells, Codes, Mask, distinct_codes
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, FrameMetadata
from aatoolkit.sections.aggregation import FRACTION

By = str | pd.Grouper | Sequence[str | pd.Grouper] | None


@dataclass(frozen=True)
class Groups:
    """The groups of a frame's rows.

    Parameters
    ----------
    ids : array of int
        For each row, its group.
    keys : pandas.DataFrame
        One row a group: the values of the columns that it was grouped by.
    by_value : frozenset of str
        The columns of which each group has one value, which is not so of bins.
    """

    ids: Codes
    keys: pd.DataFrame
    by_value: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.ids, minlength=len(self))

    def count(self, rows: Mask) -> npt.NDArray[np.int64]:
        """Count the given rows in each group."""
        return self.sizes if rows.all() else np.bincount(self.ids[rows], minlength=len(self))

    def last(self, rows: Mask) -> Mask:
        """The last of some rows in each group."""
        at = np.full(len(self), -1, np.int64)
        places = np.flatnonzero(rows)
        at[self.ids[places]] = places
        chosen = np.zeros(len(self.ids), bool)
        chosen[at[at >= 0]] = True
        return chosen

    def combined(self, cells: Cells) -> tuple[Codes, list[Availability]]:
        """The combined availability of each group's cells, as states and codes of them."""
        kinds = max(len(cells.states), 1)
        pairs, _ = distinct_codes(self.ids * kinds + cells.codes, len(self) * kinds)
        group, code = np.divmod(pairs, kinds)
        if np.array_equal(group, np.arange(len(self))):  # cells of one kind in every group
            used, alone = distinct_codes(code, kinds)
            return alone, [combine([cells.states[each]]) for each in used.tolist()]
        bounds = np.searchsorted(group, np.arange(len(self) + 1)).tolist()
        listed = code.tolist()
        found: dict[tuple[int, ...], int] = {}
        codes = [
            found.setdefault(tuple(listed[start:end]), len(found))
            for start, end in pairwise(bounds)
        ]
        states = [combine(cells.states[each] for each in members) for members in found]
        return np.array(codes, np.int64), states


def group(frame: pd.DataFrame, by: By, observed: bool) -> Groups:
    """The groups of a frame's rows; a missing key is a group of its own.

    Raises
    ------
    AvailabilityError
        If there is no such column, its values are lists, or rows have no place among the bins
        of a `pandas.Grouper`.
    """
    listed = [by] if isinstance(by, str | pd.Grouper) else list(by or ())
    find(frame, [name for name in listed if isinstance(name, str)])
    if not listed:
        return Groups(np.zeros(len(frame), np.int64), pd.DataFrame(index=range(1)))
    problem = ""
    try:
        plain = _plain_times(frame, listed)
        grouped = plain.groupby(list(dict.fromkeys(listed)), dropna=False, observed=observed)
        sizes, ids = grouped.size(), grouped.ngroup()
    except (LookupError, NotImplementedError, TypeError, ValueError) as error:
        problem = str(error)
    if problem:
        raise AvailabilityError(
            f"the rows cannot be grouped by {', '.join(map(str, listed))}: {problem}",
            columns={str(name): "its values cannot be grouped by" for name in listed},
        )
    keys = sizes.index.to_frame(index=False)
    for name in keys.columns:
        if name in frame.columns and isinstance(frame[name].dtype, pd.ArrowDtype):
            keys[name] = keys[name].astype(frame[name].dtype)
    if ids.isna().any():
        raise AvailabilityError(
            f"{int(ids.isna().sum())} rows have no value to bin by; drop or fill them first",
            columns={str(name): "has missing values" for name in keys.columns},
        )
    # pandas numbers groups with or without the empty ones between, by what they are made of.
    _, rank = np.unique(ids.to_numpy(), return_inverse=True)
    places = np.flatnonzero(sizes.to_numpy() > 0)
    return Groups(places[rank], keys, frozenset(name for name in listed if isinstance(name, str)))


def refuse_measures(by: By, known: FrameMetadata) -> None:
    """Raise if rows would be grouped by equal values of a rate or mean.

    Raises
    ------
    ArgumentError
        If a column to group by is one.
    """
    for name in [by] if isinstance(by, str) else by if isinstance(by, list | tuple) else ():
        what = declared(known.columns.get(name, NOTHING)) if isinstance(name, str) else None
        if what is not None and (what.aggregate.rule in ("ratio", "mean") or what.unit == FRACTION):
            raise ArgumentError(
                f"by={name!r} is a measure, and rows of equal values are no group; to compute it "
                f"write columns={name!r}, and by= what the groups are; for classes of it cut it "
                "first: df.assign(level=pd.cut(...))",
                argument="by",
            )


def _plain_times(frame: pd.DataFrame, by: Sequence[str | pd.Grouper]) -> pd.DataFrame:
    """The frame with times that pandas can bin: those of numpy in place of Arrow's."""
    names = [each.key for each in by if isinstance(each, pd.Grouper) and each.key in frame.columns]
    plain = {
        str(name): numpy_times(frame[name])
        for name in names
        if isinstance(frame[name].dtype, pd.ArrowDtype)
        and pd.api.types.is_datetime64_any_dtype(frame[name].dtype)
    }
    return frame.assign(**plain) if plain else frame


def numpy_times(values: pd.Series) -> pd.Series:
    """Days or times with numpy's dtype, or pandas' with their zone."""
    kind = values.dtype
    zone = getattr(kind.pyarrow_dtype, "tz", None) if isinstance(kind, pd.ArrowDtype) else None
    if not isinstance(kind, pd.ArrowDtype):
        return values
    return values.astype(pd.DatetimeTZDtype("us", zone) if zone else "datetime64[us]")


def flattened(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with the named levels of its index as columns."""
    named = [name for name in frame.index.names if name not in (None, *frame.columns)]
    return frame.reset_index(named) if named else frame


def find(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise if a name is no column of a frame, or that of several.

    Raises
    ------
    ItemNotFound
        If one is; its reason holds near matches.
    """
    there = [name for name in frame.columns if isinstance(name, str)]
    wrong = {
        name: f"there is no such column{_hint(name, there)}"
        if name not in there
        else "several columns have this name"
        for name in names
        if there.count(name) != 1
    }
    if wrong:
        problems = "; ".join(f"{name!r}: {why}" for name, why in wrong.items())
        raise ItemNotFound(f"the frame has no such columns: {problems}", columns=wrong)


def _hint(name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(near_matches(str(name), known))
    return f", {hint}" if hint else ""


def as_floats(values: pd.Series) -> npt.NDArray[np.float64]:
    """Values as floats; missing ones are NaN."""
    return values.to_numpy(np.float64, na_value=np.nan)


def added(values: npt.NDArray[np.float64], use: Mask, groups: Groups) -> npt.NDArray[np.float64]:
    """The sum of some rows of each group, as a float."""
    return np.bincount(groups.ids[use], values[use], minlength=len(groups)).astype(np.float64)


def sums(values: pd.Series, use: Mask, groups: Groups, name: str) -> pd.Series:
    """The sum of some rows of each group; integers and flags add exactly."""
    if pd.api.types.is_integer_dtype(values.dtype) or pd.api.types.is_bool_dtype(values.dtype):
        whole = pd.array(_whole_sums(values[use], groups.ids[use], len(groups), name), "Int64")
        return like(pd.Series(whole), values)
    total = pd.array(added(as_floats(values), use, groups), dtype="Float64")
    return like(pd.Series(total), values)


def _whole_sums(values: pd.Series, ids: Codes, groups: int, name: str) -> npt.NDArray[np.int64]:
    """Sum integers exactly, halves apart, so that nothing overflows."""
    if len(values) and int(values.max()) >= 2**63:
        raise _overflow(name)
    exact = values.to_numpy(np.int64)
    high, low = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    np.add.at(high, ids, exact >> 32)
    np.add.at(low, ids, exact & 0xFFFFFFFF)
    high += low >> 32
    if ((high < -(2**31)) | (high >= 2**31)).any():
        raise _overflow(name)
    return (high << 32) | (low & 0xFFFFFFFF)


def _overflow(name: str) -> AvailabilityError:
    why = "a sum is too large for a 64-bit integer"
    return AvailabilityError(f"{name}: {why}; convert it to Float64 first", columns={name: why})


def chosen(values: pd.Series, use: Mask, groups: Groups, rule: str) -> pd.Series:
    """The smallest, largest, first or last value of each group, of the same dtype."""
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iub":
        values = values.convert_dtypes()
    grouped = values[use].groupby(groups.ids[use])
    found: pd.Series = grouped.agg(rule)
    return found.reindex(range(len(groups)))


def like(result: pd.Series, values: pd.Series) -> pd.Series:
    """Cast a result to an Arrow dtype where the column has one."""
    if isinstance(values.dtype, pd.ArrowDtype):
        kind = pa.int64() if pd.api.types.is_integer_dtype(result.dtype) else pa.float64()
        return result.astype(pd.ArrowDtype(kind))
    return result


def names_of(columns: Iterable[str | Iterable[str]]) -> tuple[str, ...]:
    """The names among arguments, each of which is a name or a list of them.

    Examples
    --------
    >>> names_of(("hits", ["answers", "rate"]))
    ('hits', 'answers', 'rate')
    """
    lists = ([column] if isinstance(column, str) else column for column in columns)
    return tuple(name for names in lists for name in names)
