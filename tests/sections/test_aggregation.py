"""Aggregation rules: the known ones, and nothing that merely looks like one."""

from __future__ import annotations

import pytest

from aatoolkit.sections import Aggregation, Table, count, date, keyed
from aatoolkit.sections.profile_json import dump_table, load_table


@pytest.mark.parametrize("rule", ["average", "SUM", "", "mean ", "ratio"])
def test_a_rule_that_does_not_exist_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"is no aggregation rule; there are sum, min|needs over="):
        Aggregation(rule)


def test_a_rule_of_a_newer_version_combines_nothing() -> None:
    columns = (date("day"), count("n"))
    days = Table("days", "One row per day.", keyed("days", "day"), key="day", columns=columns)
    facts = dump_table(days)
    (column,) = (entry for entry in facts["columns"] if entry["name"] == "n")
    column["aggregate"] = {"rule": "median", "by": "weight"}
    read = load_table(facts)["n"].aggregate
    assert str(read) == "none (its rule, median, is of a newer version)"
