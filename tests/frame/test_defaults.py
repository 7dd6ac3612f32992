"""What a person with the demo in front of her gets by default: numbers, wherever there are any."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of


@pytest.mark.thorough
def test_what_is_missing_by_default_has_no_cell_or_is_a_sum_with_one_that_was_not_measured() -> (
    None
):
    tried = missing = with_values = 0
    dataset = aa.demo().read_all(days=30, progress=False)
    for tables in dataset.values():
        for frame in tables.values():
            for by in (None, *metadata_of(frame).key):
                for name, found in aggregated(frame, by):
                    if rule(frame, name) == "none":  # the currency of a sum, which it follows
                        continue
                    tried += 1
                    for group in found[found[name].isna()].index:
                        missing += 1
                        rows = frame if by is None else of_key(frame, by, found.loc[group, by])
                        if rows[name].notna().any():
                            with_values += 1
                            assert rule(frame, name) in ("sum", "min", "max"), (name, by)
                            assert rows[name].isna().any(), (name, by)
                            assert found.aa.availability.loc[name, "reason"], (name, by)
    assert tried > 200
    assert with_values < missing / 10


def aggregated(frame: pd.DataFrame, by: str | None) -> list[tuple[str, pd.DataFrame]]:
    """The columns that have a rule, and what becomes of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        try:
            found = frame.aa.aggregate(by)
        except AvailabilityError:
            return []
    return [(str(name), found) for name in found if name in frame and name != by]


def of_key(frame: pd.DataFrame, by: str, value: object) -> pd.DataFrame:
    return frame[frame[by].isna() if pd.isna(value) else (frame[by] == value).fillna(False)]


def rule(frame: pd.DataFrame, name: str) -> str | None:
    column = declared(metadata_of(frame).columns[name])
    return column.aggregate.rule if column else None


def test_a_column_that_was_overwritten_is_refused_where_it_is_required() -> None:
    frame = aa.demo().read("domains").main
    frame.aa.require("citation_count")
    with pytest.raises(AvailabilityError, match="overwritten"):
        frame.assign(citation_count=0).aa.require("citation_count")
