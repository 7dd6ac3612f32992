"""What has lost its declaration: what would have kept it, and sums that would count twice."""

from __future__ import annotations

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
    week = domains.aa.aggregate("source_domain", "citation_count")
    stacked = why(pd.concat([domains, week]), "citation_count")
    assert "aatoolkit.concat" in stacked
    assert "merge" not in stacked
    assert "rules=" not in stacked
    own = why(pd.DataFrame({"spend": [1.0]}), "spend")
    assert own == "it has no declared rule; give one, such as rules={'spend': 'sum'}"
