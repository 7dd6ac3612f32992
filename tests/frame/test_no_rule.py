"""What has lost its declaration: what would have kept it, and sums that would count twice."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from helpers.serving import demo_dataset

from aatoolkit.errors import AvailabilityError


def why(frame: pd.DataFrame, column: str, **rules: str) -> str:
    with pytest.raises(AvailabilityError) as found:
        frame.aa.aggregate(columns=column, rules=rules)
    return found.value.columns[column]


def test_for_plain_joins_and_stacks_the_verb_that_keeps_the_rules_is_named() -> None:
    domains, urls = (demo_dataset()[name].main for name in ("domains", "urls"))
    joined = domains.merge(urls, on="source_domain")
    lost = why(joined, "citation_count_x")
    assert (
        "left.aa.merge(right, on=…) in place of left.merge, or add .aa.adopt(left, right)" in lost
    )
    assert "rules=" not in lost
    sums = why(joined, "citation_count_x", citation_count_x="sum")
    assert sums.startswith("citation_count_x has one value per source_domain over ")
    assert "df.aa.merge" in sums
    week = domains.aa.aggregate("source_domain", "citation_count")
    stacked = why(pd.concat([domains, week]), "citation_count")
    assert "aatoolkit.concat" in stacked
    assert "merge" not in stacked
    assert "rules=" not in stacked
    own = why(pd.DataFrame({"spend": [1.0]}), "spend")
    assert own == "it has no declared rule; give one, such as rules={'spend': 'sum'}"


MANY = {"k": [*"aaaabbbbcc"], "u": [*"qrstuvwxyz"], "n": [7, 7, 7, 7, 5, 5, 5, 5, 2, 2]}


def total(frame: pd.DataFrame, by: str | None = None) -> float:
    made = frame.aa.aggregate(by, columns="n", rules={"n": "sum"})
    return float(made["n"].sum())


def test_a_sum_of_values_that_a_plain_join_repeated_is_refused() -> None:
    frame = pd.DataFrame(MANY)
    with pytest.raises(AvailabilityError, match="n has one value per k over 10 rows"):
        total(frame)
    assert total(frame, "u") == 52


@pytest.mark.parametrize(
    "more",
    [
        {"n": [1] * 10},
        {"n": [1, 1, 1, 1, 0, 0, 0, 0, 1, 1]},
        {"n": [7, 7, 7, 7, 5, 5, 5, 5, 2, 3]},
        {"n": [None] * 10},
        {"k": [[1]] * 4 + [[2]] * 6},
        {"k": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]},
    ],
)
def test_counts_of_rows_and_values_of_their_own_are_summed(more: dict[str, object]) -> None:
    frame = pd.DataFrame({**MANY, **more})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert total(frame) == pytest.approx(float(frame["n"].fillna(0).sum()))
