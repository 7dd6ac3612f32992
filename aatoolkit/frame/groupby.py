"""Group rows, also by week or month, and sum each group."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.availability import Availability, combine
from aatoolkit.errors import (
    ArgumentError,
    AvailabilityError,
    ItemNotFound,
    find_near_matches,
    unknown,
)
from aatoolkit.frame.cell_status import CellStatuses, IntArray, Mask
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.scope import FILTERS
from aatoolkit.sections.aggregation import COUNT, REQUESTS
from aatoolkit.sections.registry import find_table

By = str | pd.Grouper | Sequence[str | pd.Grouper] | None
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """A grouping of rows: the group number of each row, and the key of each group."""

    row_codes: IntArray  # for each row, the position of its group in `keys`
    keys: pd.DataFrame  # one row per group
    # The key columns that have one value in all rows of a group; a week has several days.
    constant_keys: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of rows in each group."""
        return np.bincount(self.row_codes, minlength=len(self))

    def count(self, row_mask: Mask) -> IntArray:
        """Return for each group how many of its rows are True in the boolean mask ``row_mask``."""
        return np.bincount(self.row_codes[row_mask], minlength=len(self))

    def combine_availability(
        self, cell_statuses: CellStatuses
    ) -> tuple[IntArray, list[Availability]]:
        """Combine the availabilities (statuses with reasons) of the cells in each group.

        Returns two results: an array with the position of each group's availability in a list, and
        this list.
        """
        availability_count = max(len(cell_statuses.availabilities), 1)
        has_availability = np.zeros(len(self) * availability_count, bool)
        has_availability[self.row_codes * availability_count + cell_statuses.codes] = True
        group_positions, distinct_codes = np.divmod(
            np.flatnonzero(has_availability), availability_count
        )
        group_bounds = np.searchsorted(group_positions, np.arange(len(self) + 1)).tolist()
        sorted_codes = distinct_codes.tolist()
        position_by_code_set = dict[tuple[int, ...], int]()
        code_set_of_group = [
            position_by_code_set.setdefault(
                tuple(sorted_codes[group_start:group_end]), len(position_by_code_set)
            )
            for group_start, group_end in pairwise(group_bounds)
        ]
        combined_availabilities = [
            combine(cell_statuses.availabilities[code] for code in code_set)
            for code_set in position_by_code_set
        ]
        return np.array(code_set_of_group, np.int64), combined_availabilities


def group_rows(frame: pd.DataFrame, by: By, observed: bool) -> Groups:
    """Group the rows of a frame, as ``DataFrame.groupby`` does with ``dropna=False``.

    With ``observed=False``, unused categories of a key form empty groups.
    """
    groupers = groupers_of(by)
    column_names = [grouper for grouper in groupers if isinstance(grouper, str)]
    check_columns(frame, column_names)
    if not groupers:
        return Groups(np.zeros(len(frame), np.int64), pd.DataFrame(index=range(1)))
    for grouper in groupers:
        if isinstance(grouper, pd.Grouper) and not isinstance(grouper.freq, pd.offsets.Tick | None):
            key_times: Any = frame.get(grouper.key)  # days have no time zone
            if getattr(getattr(key_times, "dt", None), "tz", None) is not None:
                frame = frame.assign(**{str(grouper.key): key_times.dt.tz_localize(None)})
    try:
        grouped_rows = frame.groupby(list(dict.fromkeys(groupers)), dropna=False, observed=observed)
        group_sizes = grouped_rows.size()
        group_ids = grouped_rows.ngroup()
    except (LookupError, NotImplementedError, TypeError, ValueError) as error:
        raise AvailabilityError(
            f"the rows cannot be grouped by {', '.join(map(str, groupers))}: {error}",
            columns={str(name): "its values cannot be grouped by" for name in groupers},
        ) from None
    group_keys = group_sizes.index.to_frame(index=False)
    if group_ids.isna().any():
        raise AvailabilityError(
            f"{int(group_ids.isna().sum())} rows have no value to bin by; drop or fill them first",
            columns={str(name): "has missing values" for name in group_keys.columns},
        )
    # Depending on the keys, pandas skips the empty groups when it numbers groups, or not.
    _, group_rank_of_row = np.unique(group_ids.to_numpy(), return_inverse=True)
    nonempty_groups = np.flatnonzero(group_sizes.to_numpy() > 0)
    return Groups(nonempty_groups[group_rank_of_row], group_keys, frozenset(column_names))


def groupers_of(by: By) -> list[str | pd.Grouper]:
    """Return the argument ``by`` as a list of column names and `pandas.Grouper` objects."""
    groupers = [by] if isinstance(by, str | pd.Grouper | pd.Series) else [*(by or ())]
    if any(isinstance(grouper, pd.Series) for grouper in groupers):
        raise ArgumentError(
            "by= takes names of columns, not their values; put these into a column first, as in "
            "frame.assign(week=…), and name it",
            argument="by",
        )
    return groupers


def to_naive_times(values: pd.Series) -> pd.Series:
    """Convert times to UTC, in a pandas dtype without time zone."""
    if values.dt.tz is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    return values.astype("datetime64[us]") if isinstance(values.dtype, pd.ArrowDtype) else values


def flatten_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its named index levels as columns."""
    level_names = [name for name in frame.index.names if name not in (None, *frame.columns)]
    return frame.reset_index(level_names) if level_names else frame


def check_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise `ItemNotFound` unless each name belongs to exactly one column of the frame."""
    column_names = [name for name in frame.columns if isinstance(name, str)]
    problem_by_name = {}
    for name in names:
        if column_names.count(name) > 1:
            problem_by_name[name] = f"several columns are called {name!r}"
        elif name not in column_names:
            problem_by_name[name] = unknown("column", name, column_names)
            if name in ("topic", "category") and "prompt_id" in column_names:
                advice = f"join it: df.aa.merge(prompts[['prompt_id', {name!r}]], on='prompt_id')"
                problem_by_name[name] += f"; to have it, {advice}"
            elif name in FILTERS:
                problem_by_name[name] += f"; to have it, read the section with split={name!r}"
    if problem_by_name:
        first_problem_name = next(iter(problem_by_name))
        raise ItemNotFound(
            "; ".join(problem_by_name.values()),
            key=first_problem_name,
            suggestions=find_near_matches(first_problem_name, column_names),
            columns=problem_by_name,
        )


def as_floats(values: pd.Series) -> FloatArray:
    """Convert a column to floats, with NaN for missing values."""
    return values.to_numpy(np.float64, na_value=np.nan)


def float_sum_by_group(values: FloatArray, row_mask: Mask, groups: Groups) -> FloatArray:
    """Return the sum of each group as a float, over the rows in ``row_mask``."""
    return np.bincount(groups.row_codes[row_mask], values[row_mask], minlength=len(groups)).astype(
        np.float64
    )


def sum_by_group(values: pd.Series, row_mask: Mask, groups: Groups, column_name: str) -> pd.Series:
    """Return the sum of each group, over the rows in ``row_mask``; exact for integers."""
    approximate_sums = float_sum_by_group(as_floats(values), row_mask, groups)
    if values.dtype.kind not in "iub":
        return numbers_to_nullable(approximate_sums, values)
    largest_value = values[row_mask].max() if row_mask.any() else 0
    if (np.abs(approximate_sums) >= 2**63).any() or int(largest_value) >= 2**63:
        overflow_reason = "a sum is too large for a 64-bit integer"
        raise AvailabilityError(
            f"{column_name}: {overflow_reason}; convert it to Float64 first",
            columns={column_name: overflow_reason},
        )
    # Sums that overflow on the way are right if the result fits.
    exact_sums = np.zeros(len(groups), np.int64)
    np.add.at(exact_sums, groups.row_codes[row_mask], values[row_mask].to_numpy(np.int64))
    return numbers_to_nullable(exact_sums, values)


def to_nullable(values: pd.Series) -> pd.Series:
    """Convert integers or booleans to a dtype that can hold missing values."""
    dtype = values.dtype
    is_numpy = isinstance(dtype, np.dtype) and dtype.kind in "iub"
    return values.convert_dtypes() if is_numpy else values


def pick_by_group(values: pd.Series, row_mask: Mask, groups: Groups, rule: str) -> pd.Series:
    """Return the min, max, first or last value of each group, as ``rule`` says.

    Only the rows in the boolean mask count.
    """
    picked_values = to_nullable(values)[row_mask].groupby(groups.row_codes[row_mask]).agg(rule)
    return picked_values.reindex(range(len(groups)))


def numbers_to_nullable(numbers: npt.NDArray[Any], values: pd.Series) -> pd.Series:
    """Return numbers as a nullable Series, in an Arrow dtype if ``values`` has one."""
    is_whole = numbers.dtype.kind == "i"
    nullable_column = pd.Series(pd.array(numbers, dtype="Int64" if is_whole else "Float64"))
    if isinstance(values.dtype, pd.ArrowDtype):
        return nullable_column.astype("int64[pyarrow]" if is_whole else "double[pyarrow]")
    return nullable_column


def flatten_names(columns: Iterable[str | Iterable[str]]) -> tuple[str, ...]:
    """Return a flat tuple of the names in ``columns``, whose items are names or lists of names.

    Examples
    --------
    >>> flatten_names(("hits", ["answers", "rate"]))
    ('hits', 'answers', 'rate')
    """
    name_lists = ([column] if isinstance(column, str) else column for column in columns)
    return tuple(name for name_list in name_lists for name in name_list)


def period_groupers(frame: pd.DataFrame, by: By, freq: str) -> list[str | pd.Grouper]:
    """Return the keys to group rows by period: a `pandas.Grouper` and the keys in ``by``.

    ``freq`` is a pandas frequency, such as "W".
    """
    flat_frame = flatten_index(frame)
    groupers = groupers_of(by)
    metadata = metadata_of(flat_frame)
    if not all(isinstance(key, str) for key in groupers):
        raise ArgumentError("give freq=, or a pandas.Grouper in by=, not both", argument="freq")
    time_columns = [str(name) for name, dtype in flat_frame.dtypes.items() if dtype.kind == "M"]
    time_columns = [name for name in time_columns if name in metadata.key] or time_columns
    days_hint = (
        _make_daily_tables_hint(metadata.columns[time_columns[0]].declared_name or "")
        if time_columns
        else None
    )
    if len(time_columns) != 1 or days_hint is not None:
        need_text = (
            f"needs one column of times, and there are {', '.join(time_columns) or 'none'}; name it"
        )
        if days_hint is not None:
            need_text = f"needs the day of a row, and {time_columns[0]} describes totals{days_hint}"
            need_text += "; if it is meant"
        example_key = repr(time_columns[0] if time_columns else "column")
        raise ArgumentError(
            f"freq= {need_text}: by=pandas.Grouper(key={example_key}, freq=…)", argument="freq"
        )
    with suppress(ValueError, TypeError, Warning), warnings.catch_warnings():
        warnings.simplefilter("error")  # pandas will drop what it deprecates
        grouper = pd.Grouper(key=time_columns[0], freq=freq)
        if grouper.freq is not None:
            return [grouper, *(key for key in groupers if key != time_columns[0])]
    raise ArgumentError(
        f"freq={freq!r} is no frequency that pandas knows; it takes offset aliases, such as "
        "'W' (weeks that end on Sunday), 'W-SAT', '7D', 'MS' (months by their first day), "
        "'ME' (by their last), 'QS' or 'YS'",
        argument="freq",
    )


def _make_daily_tables_hint(declared_name: str) -> str | None:
    """Return a hint on tables with daily counts, if a datetime column does not date the counts.

    For example, the day on which a prompt was created does not date its answers. The result is None
    if no hint is needed.
    """
    table_name, _, column_name = declared_name.partition(".")
    table = find_table(table_name)
    if table is None or column_name in table.key:
        return None
    has_count_columns = any(
        column.unit in (COUNT, REQUESTS) and column.aggregate.rule == "sum"
        for column in table.columns
    )
    return " (overview_trend and crawl_timeseries have days)" if has_count_columns else None


def find_partial_periods(
    frame: pd.DataFrame, by: By, groups: Groups, metadata: FrameMetadata
) -> dict[int, tuple[float, str]]:
    """Return a dict from the number of each group that is a week or month with missing days.

    Its values are the fraction of the days that the data have, and a text such as "3 of the 7 days
    from …".
    """
    partial_periods = dict[int, tuple[float, str]]()
    groupers = [
        grouper
        for grouper in groupers_of(by)
        if isinstance(grouper, pd.Grouper) and grouper.freq is not None
    ]
    time_columns = [frame[grouper.key] for grouper in groupers]
    if not len(frame) or [column.dtype.kind for column in time_columns] != ["M"]:
        return partial_periods
    (grouper,) = groupers
    day_of_row, period_labels = (
        to_naive_times(time_values).dt.normalize()
        for time_values in (*time_columns, groups.keys[grouper.key])
    )
    one_day = pd.Timedelta(days=1)
    first_day = day_of_row.min()
    last_day = day_of_row.max()
    # No two rows of neighbouring days: the rows stand for whole weeks or months.
    if (
        first_day != last_day
        and not (day_of_row.drop_duplicates().sort_values().diff() == one_day).any()
    ):
        return partial_periods
    day_counts = pd.Series(day_of_row.to_numpy()).groupby(groups.row_codes).nunique()
    # If days are no part of the key, rows are events, and days between events are not missing.
    if is_daily_series := grouper.key in metadata.key:
        covered_days = pd.DatetimeIndex(day_of_row.unique())
    else:
        covered_days = pd.date_range(first_day, last_day)
    is_single_series = is_daily_series and all(
        name in groups.keys or (name in frame and frame[name].nunique() == 1)
        for name in metadata.key
    )
    for group_number in day_counts.index:
        period_label = period_labels.iloc[group_number]
        period_offset = grouper.freq
        is_labelled_by_end = grouper.closed == "right"  # type: ignore[attr-defined]
        period_start, period_end = (
            (period_label - period_offset + one_day, period_label)
            if is_labelled_by_end
            else (period_label, period_label + period_offset - one_day)
        )
        period_day_count = (period_end - period_start).days + 1
        covered_day_count = (
            day_counts[group_number]
            if is_single_series
            else int(((covered_days >= period_start) & (covered_days <= period_end)).sum())
        )
        if covered_day_count < period_day_count:
            days_text = (
                f"{covered_day_count} of the {period_day_count} days from {period_start.date()} to "
                f"{period_end.date()}"
            )
            partial_periods[group_number] = (covered_day_count / period_day_count, days_text)
    return partial_periods
