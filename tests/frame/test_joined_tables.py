"""Columns of a CSV file beside an answer's count once for each of its rows."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.effort import examples
from hypothesis import given, settings, strategies as st

from aatoolkit.errors import AvailabilityError

PAGES = pd.DataFrame(
    {
        "url": ["a/1", "a/2", "a/3", "b/1", "c/1"],
        "source_domain": ["a", "a", "a", "b", "c"],
        "page_type": ["home", "home", "list", "list", "home"],
    }
)
MONEY = pd.DataFrame({"domain": ["a", "b"], "revenue": [100.0, 200.0]})
KEYS = {"left_on": "source_domain", "right_on": "domain"}

pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.AAToolkitWarning")


def total(frame: pd.DataFrame, by: str | None = None) -> object:
    sums = frame.aa.aggregate(by, "revenue", skip_missing=True, rules={"revenue": "sum"})
    return sums["revenue"].tolist() if by else sums["revenue"].item()


def joined() -> pd.DataFrame:
    return PAGES.aa.merge(MONEY, how="left", **KEYS)


@pytest.mark.thorough
def test_groups_that_share_a_row_do_not_add() -> None:
    result = joined().aa.aggregate(
        "page_type", "revenue", skip_missing=True, rules={"revenue": "sum"}
    )
    with pytest.raises(AvailabilityError, match="the groups overlap: rows of the frame with rev"):
        total(result)
    assert total(result, "page_type") == [100, 300]
    apart = joined().aa.aggregate(
        "source_domain", "revenue", skip_missing=True, rules={"revenue": "sum"}
    )
    assert total(apart) == 300


@pytest.mark.hypothesis
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=8),
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("pq"), st.integers(-3, 3)),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[:2],
    ),
    st.sampled_from(["left", "inner", "right", "outer"]),
    st.sampled_from([None, "kind", "k"]),
)
def test_a_sum_is_that_of_the_rows_that_were_met(
    rows: list[tuple[str, str]], own: list[tuple[str, str, int]], how: str, by: str | None
) -> None:
    left = pd.DataFrame(rows, columns=["k", "kind"])
    right = pd.DataFrame(own, columns=["k", "part", "revenue"])
    both = left.aa.merge(right, how=how, on="k")
    sums = both.aa.aggregate(by, "revenue", skip_missing=True, rules={"revenue": "sum"})
    names = [*dict.fromkeys([by, "k", "part", "revenue"] if by else ["k", "part", "revenue"])]
    once = both[names].drop_duplicates().dropna(subset="revenue")
    if by is None:
        assert sums["revenue"].fillna(0).item() == once["revenue"].sum()
    else:
        expected = once.groupby(by, dropna=False)["revenue"].sum()
        actual = sums.dropna(subset="revenue").set_index(by)["revenue"]
        assert {**actual.to_dict()} == {**expected.to_dict()}
