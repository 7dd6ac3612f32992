"""Every rate with counts under it has its interval, whether or not its rows combine."""

from __future__ import annotations

import json
from math import sqrt
from typing import Any

import pandas as pd
import pytest
from samples import sample
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, PER_UNIT


def overview() -> dict[str, Any]:
    """The sample with figures and brands of the tests."""
    body: dict[str, Any] = sample("overview")
    rate = {"numerator": 30, "denominator": 120, "value": 0.25, "unit": "fraction"}
    rate |= {"previousNumerator": 40, "previousDenominator": 80, "previous": 0.5}
    mean = {**rate, "numerator": 30, "denominator": 30, "value": 1.0, "unit": "rank"}
    body["kpis"] = {"mentionRate": rate, "averagePosition": mean}
    first = body["topBrands"][0]
    body["topBrands"] = [
        {**first, "brand": brand, "mentionCount": mentions, "answerCount": answers}
        | {"allMentionCount": 50}
        for brand, mentions, answers in (("Acme", 30, 120), ("Globex", 20, None), ("Odd", 200, 120))
    ]
    return body


def wilson(hits: int, trials: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Both roots of (p - r)^2 = z^2 r (1 - r) / n, worked out another way."""
    a, b, c = trials + z * z, -(2 * hits + z * z), hits * hits / trials
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def bounds(frame: pd.DataFrame, column: str, row: int) -> tuple[float, float]:
    interval = frame.aa.interval(column).iloc[row]
    return interval.iloc[0], interval.iloc[1]


def test_brands_overlap_and_each_has_its_interval() -> None:
    brands = aa.normalize("overview", overview())["overview_top_brands"]
    assert bounds(brands, "mention_rate", 0) == pytest.approx(wilson(30, 120))
    assert bounds(brands, "share_of_voice", 1) == pytest.approx(wilson(20, 50))
    assert pd.isna(bounds(brands, "mention_rate", 1)[0])
    assert pd.isna(bounds(brands, "mention_rate", 2)[0])
    with pytest.raises(AvailabilityError, match="not additive across brands"):
        brands.aa.aggregate(columns="mention_rate")


def test_figures_that_are_fractions_have_one_and_means_have_none() -> None:
    figures = aa.normalize("overview", overview())["overview_kpis"]
    rows = [*figures["metric"]]
    rate, mean = rows.index("mentionRate"), rows.index("averagePosition")
    assert bounds(figures, "value", rate) == pytest.approx(wilson(30, 120))
    assert bounds(figures, "previous_value", rate) == pytest.approx(wilson(40, 80))
    assert pd.isna(bounds(figures, "value", mean)[0])
    with pytest.raises(AvailabilityError, match="unit of each row"):
        figures.drop(columns="unit").aa.interval("value")


def test_without_its_counts_there_is_none_and_it_says_what_lacks() -> None:
    brands = aa.normalize("overview", overview())["overview_top_brands"]
    with pytest.raises(AvailabilityError, match="needs answer_count"):
        brands.drop(columns="answer_count").aa.interval("mention_rate")
    body = overview()
    for row in body["topBrands"]:
        del row["answerCount"]
    silent = aa.normalize("overview", body)["overview_top_brands"]
    assert silent.aa.interval("mention_rate").isna().to_numpy().all()


def test_a_rate_of_nothing_is_said_to_be_none_whatever_it_counts() -> None:
    body = sample("conversions")
    body["engines"][0] |= {"sessions": 0, "completeSessions": 0, "conversions": 0}
    body["engines"][0]["conversionRate"] = None
    tables = aa.normalize("conversions", json.dumps(body).encode())
    engines = tables["conversion_engines"]
    missing = engines.aa.explain(0, "conversion_rate", within=tables).missing
    assert "complete_sessions is 0, and there is no rate of nothing" in str(missing)


@pytest.mark.thorough
def test_every_rate_of_the_demonstration_that_declares_counts_has_its_interval() -> None:
    """The bounds hold the value, of every row that has counts."""
    dataset = demo_dataset()
    tried, without = 0, set()
    for tables in dataset.values():
        for name, frame in tables.items():
            for column in aa.sections.table(name).columns:
                rule = column.aggregate
                if not (rule.counts or rule.over) or column.unit not in (FRACTION, PER_UNIT):
                    continue
                interval = frame.aa.interval(column.name)
                low, high = (interval[end].astype(float) for end in interval)
                value = frame[column.name].astype(float)
                has_bounds = low.notna()
                tried += int(has_bounds.any())
                if frame[column.name].notna().any() and not has_bounds.any():
                    without.add(f"{name}.{column.name}")
                assert (low[has_bounds] <= value[has_bounds] + 1e-9).all(), (name, column.name)
                assert (high[has_bounds] >= value[has_bounds] - 1e-9).all(), (name, column.name)
    assert without == set()
    assert tried >= 30


def test_every_rate_share_and_mean_declares_its_counts_or_says_why_there_are_none() -> None:
    rates = refusals = means = 0
    for section in aa.sections.names():
        tables = aa.normalize(section, sample(section))
        for table in aa.sections.get(section):
            numbers = {column.name for column in table.columns if column.dtype in NUMBERS}
            for column in table.columns:
                unit, rule = column.unit or "", column.aggregate
                if not (unit.startswith(RATES) or rule.rule == "mean"):
                    continue
                counts = rule.over or rule.counts
                at = f"{table.name}.{column.name}"
                if counts:
                    rates += 1
                    assert {*counts} <= numbers, at
                elif rule.rule == "mean":
                    means += 1
                    assert not unit.startswith("fraction"), at
                    assert rule.by is None or rule.by in numbers, at
                else:
                    refusals += 1
                    assert (rule.rule, rule.why is None) == ("none", False), at
                    with pytest.raises(AvailabilityError, match="has no interval") as refused:
                        tables[table.name].aa.interval(column.name)
                    assert refused.value.columns[column.name] == rule.why
    assert (rates, means, refusals) >= (35, 8, 15)


RATES = ("fraction", "score", "per ", "probability", "absolute")
NUMBERS = ("Int64", "Float64")
