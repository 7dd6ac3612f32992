"""What has lost its declaration: what would have kept it, and sums that would count twice."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from foreign import draft_of
from helpers.serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections import CURRENCY, number, records, text


def why(frame: pd.DataFrame, column: str, **rules: Any) -> str:
    with pytest.raises(AvailabilityError) as error:
        frame.aa.aggregate(columns=column, rules=rules)
    return error.value.columns[column]


def test_for_plain_joins_and_stacks_the_verb_that_keeps_the_rules_is_named() -> None:
    domains, urls = (demo_dataset()[name].main for name in ("domains", "urls"))
    joined = domains.merge(urls, on="source_domain")
    lost = why(joined, "citation_count_x")
    assert (
        "left.aa.merge(right, on=…) in place of left.merge, or add .aa.adopt(left, right)" in lost
    )
    assert "rules=" not in lost
    assert why(joined, "rank") == lost
    assert "for the best: rules={'rank': 'min'}" in why(domains, "rank")
    week = domains.aa.aggregate("source_domain", "citation_count")
    stacked = why(pd.concat([domains, week]), "citation_count")
    assert "aatoolkit.concat" in stacked
    assert "merge" not in stacked
    assert "rules=" not in stacked
    plain = pd.DataFrame(domains.to_dict("list"))
    assert "or a file such as CSV has none" in why(plain, "citation_count")
    assert "'citation_count': 'sum'" in why(plain.aa.adopt(plain), "citation_count")
    renamed = domains.rename(columns={"citation_count": "cc"})
    assert "if it was citation_count, rename by df.aa.rename" in why(renamed, "cc")
    own = why(pd.DataFrame({"spend": [1.0]}), "spend")
    assert own == "it has no declared rule; aggregate with one, such as rules={'spend': 'sum'}"
    assert "weighted(COUNTS)" in why(pd.DataFrame({"miss_rate": [0.5]}), "miss_rate")
    prompts = demo_dataset()["prompts"].main
    own_rates = prompts.assign(miss=1 - prompts["mention_rate"])
    rule = eval(why(own_rates, "miss").partition("rules=")[2].partition(", or")[0])
    missing = own_rates.aa.aggregate("topic", rules=rule)["miss"].isna()
    assert not missing.any()
    assert "pandas" not in why(aa.stats.answers(demo_dataset()["chats"]), "position")


KEYS, SUMS = [*"aaaabbbbcc"], [7, 7, 7, 7, 5, 5, 5, 5, 2, 2]


def total(values: list[Any], keys: Any = KEYS, by: str | None = None, rule: Any = "sum") -> float:
    frame = pd.DataFrame({"k": keys, "u": range(10), "n": values})
    return float(frame.aa.aggregate(by, "n", skip_missing=True, rules={"n": rule})["n"].sum())


def test_a_sum_of_values_that_a_plain_join_repeated_is_refused() -> None:
    days = pd.date_range("2026-11-02", periods=3).repeat([4, 4, 2])
    for values, keys in ((SUMS, KEYS), ([90.5] * 4 + [None] * 4 + [2.0] * 2, KEYS), (SUMS, days)):
        for by in (None, "k"):
            with pytest.raises(AvailabilityError, match=r"one value per k over .*Aggregation"):
                total(values, keys, by)
        assert total(values, keys, "u") == total(values, keys, rule=aa.sections.SUM)
    flags, own, few = [1] * 4 + [0] * 6, [*SUMS[1:], 3], [2, 1] * 5
    numbers = [1] * 4 + [2] * 6
    sums = ([1] * 10, KEYS), (flags, KEYS), (own, KEYS), (few, [*"abcdefghii"]), (SUMS, numbers)
    for values, keys in (*sums, (SUMS, [[1]] * 4 + [[2]] * 6)):
        assert total(values, keys) == sum(values)


KPIS = (
    ("answers", 917.0, "count"),
    ("visibility", 0.4689, "ratio"),
    ("citations", 3994.0, "count"),
)
ANSWER = {"kpis": [{"metric": m, "value": v, "unit": u} for m, v, u in KPIS]}


def test_of_a_foreign_table_of_metrics_one_row_is_its_number_and_several_need_a_rule() -> None:
    section = draft_of({"overview": ANSWER})["overview"].section
    kpis = aa.normalize(section, ANSWER).main
    assert kpis.aa.aggregate("metric", "value").set_index("metric")["value"]["answers"] == 917
    assert kpis[kpis["metric"] == "answers"].aa.aggregate(None, "value")["value"].tolist() == [917]
    assert "different measures: choose one metric" in why(kpis, "value")
    answers, rates = (
        aa.concat([kpis[kpis["metric"] == metric].assign(host=host) for host in "ab"])
        for metric in ("answers", "visibility")
    )
    assert "choose" not in why(answers, "value")
    assert "if you know that they add up: rules={'value': 'sum'}" in why(answers, "value")
    words = "aa.sections.weighted(COUNTS)}, with the table of the counts"
    assert words in why(rates, "value") == why(rates.assign(days=30), "value")
    counts = rates.assign(mentions=430, answers=917)
    assert "aa.sections.weighted('answers')}" in why(counts, "value")
    assert words in why(counts.assign(answers=pd.array([917, None], "Int64")), "value")


def test_money_without_a_rule_is_told_a_sum_within_its_currency() -> None:
    columns = (text("page"), number("revenue", unit=CURRENCY), text("currency"))
    section = aa.Section("own", "", aa.Table("sales", "", records("rows"), "page", columns))
    rows = [{"page": page, "revenue": 1.5, "currency": "EUR"} for page in "ab"]
    sales = aa.normalize(section, {"rows": rows}).main
    rules = eval(why(sales, "revenue").partition("rules=")[2])
    assert sales.aa.aggregate(columns="revenue", rules=rules)["revenue"].item() == 3
    mixed = sales.assign(currency=["EUR", "USD"])
    assert "more than one currency" in why(mixed, "revenue", **rules)


@pytest.mark.parametrize(
    ("table", "column"), [("shopping_offers", "price_amount"), ("shopping_products", "price_min")]
)
def test_a_rule_by_name_leaves_money_in_its_currency(table: str, column: str) -> None:
    frame = demo_dataset()["shopping"][table]
    assert "more than one" in why(frame, column, **{column: "mean"})
