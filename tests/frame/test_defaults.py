"""What a person with the demo in front of her gets by default: numbers, wherever there are any."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from carried import ColumnMetadata, metadata_of
from samples import sample
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError

SUMS_OF_WHAT_WAS_NOT_MEASURED = {
    ("conversion_daily", "conversions"): "complete up to",
    ("crawl_bots", "verified_requests"): "Not recorded for",
    ("crawl_timeseries", "requests"): "have no record",
    ("source_domains", "retrieval_count"): "shows cited sources only",
    ("cited_urls", "retrieval_count"): "shows cited sources only",
}
"""The only sums that are missing although some of their cells are there, and the reason given."""


@pytest.mark.thorough
def test_what_is_missing_by_default_has_no_cell_or_is_a_sum_with_one_that_was_not_measured() -> (
    None
):
    tried, seen = 0, set()
    dataset = demo_dataset()
    for tables in dataset.values():
        for table, frame in tables.items():
            metadata, plain = metadata_of(frame), frame.copy()
            plain.attrs = {}  # What is known of a frame is copied with each cut of it.
            rules = {name: rule(column) for name, column in metadata.columns.items()}
            for by in (None, *metadata.key):
                for name, result in aggregated(frame, by):
                    if rules[name] == "none":  # the currency of a sum, which it follows
                        continue
                    tried += 1
                    for group in result.index[result[name].isna()]:
                        rows = plain if by is None else of_key(plain, by, result.loc[group, by])
                        if rows[name].notna().any():
                            seen.add((table, name))
                            assert rules[name] == "sum", (name, by)
                            assert rows[name].isna().any(), (name, by)
                            why = SUMS_OF_WHAT_WAS_NOT_MEASURED[table, name]
                            assert why in result.aa.availability.loc[name, "reason"], (name, by)
    assert tried > 300
    assert seen == {*SUMS_OF_WHAT_WAS_NOT_MEASURED}


@pytest.mark.parametrize(
    ("answers", "citations", "total"),
    [
        ([10, 0, 5], [3, None, 1], 4),  # a day without answers has nothing to add
        ([10, 4, 5], [3, None, 1], None),
        ([10, None, 5], [3, None, 1], None),
        ([10, 0, 5], [3, 2, 1], 6),  # what is given is used
        ([0, 0, 0], [None, None, None], None),
    ],
)
def test_a_day_without_answers_has_nothing_to_add(
    answers: list[int | None], citations: list[int | None], total: int | None
) -> None:
    body = sample("overview")
    point = dict.fromkeys(body["trends"]["points"][0])
    body["trends"]["points"] = [
        point | {"date": f"2026-11-{18 + day}", "answerCount": count, "citationCount": cited}
        for day, (count, cited) in enumerate(zip(answers, citations, strict=True))
    ]
    trend = aa.normalize("overview", body)["overview_trend"]
    value = trend.aa.aggregate(columns="citation_count").loc[0, "citation_count"]
    assert pd.isna(value) if total is None else value == total


def aggregated(frame: pd.DataFrame, by: str | None) -> list[tuple[str, pd.DataFrame]]:
    """The columns that have a rule, and what becomes of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        try:
            result = frame.aa.aggregate(by)
        except AvailabilityError:
            return []
    return [(str(name), result) for name in result if name in frame and name != by]


def of_key(frame: pd.DataFrame, by: str, value: object) -> pd.DataFrame:
    return frame[frame[by].isna() if pd.isna(value) else (frame[by] == value).fillna(False)]


def rule(column: ColumnMetadata) -> str | None:
    table, _, own = (column.declared_name or "").partition(".")
    return aa.sections.table(table)[own].aggregate.rule if own else None
