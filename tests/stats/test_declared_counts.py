"""Every rate with counts under it has its interval, whether or not its rows combine."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "overview.json"


def overview() -> dict[str, Any]:
    """The sample with figures and brands of the tests."""
    body: dict[str, Any] = json.loads(SAMPLE.read_bytes())
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
    found = frame.aa.interval(column).iloc[row]
    return found.iloc[0], found.iloc[1]


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


def test_every_rate_of_the_demonstration_that_declares_counts_has_its_interval() -> None:
    """The bounds hold the value, of every row that has counts."""
    dataset = aa.demo().read_all(
        days=30, sections=["overview", "ranking", "shopping"], progress=False
    )
    tried = 0
    for tables in dataset.values():
        for name, frame in tables.items():
            for column in aa.sections.table(name).columns:
                rule = column.aggregate
                if not (rule.counts or rule.over) or column.name not in frame:
                    continue
                found = frame.aa.interval(column.name)
                low, high = (found[each].astype(float) for each in found)
                value = frame[column.name].astype(float)
                shown = low.notna()
                tried += int(shown.any())
                assert (low[shown] <= value[shown] + 1e-9).all(), (name, column.name)
                assert (high[shown] >= value[shown] - 1e-9).all(), (name, column.name)
    assert tried >= 10


NO_SAMPLE = "measured once, or of all there is: no sample"
JUDGED = "a judgement of the service, and no share of counts"
OWN_INTERVAL = "the service gives its own interval or verdict, with the sizes it rests on"
UNKNOWN_TOTAL = "the answers give no total that it is a share of"

WITHOUT_COUNTS = {
    "actions.impact_high": JUDGED,
    "actions.impact_low": JUDGED,
    "actions.score": JUDGED,
    "ad_advertisers.ad_share": UNKNOWN_TOTAL,
    "chat_mentions.position": "one answer's: the mean is over rows",
    "chat_mentions.sentiment_score": "one answer's: the mean is over rows",
    "cited_urls.citation_share": UNKNOWN_TOTAL,
    "conversion_totals.other_conversion_rate": UNKNOWN_TOTAL,
    "crawlability_pages.visible_text_ratio": NO_SAMPLE,
    "crawlability_score.score": NO_SAMPLE,
    "gap_domains.opportunity_score": JUDGED,
    "gap_topics.gap": "a difference of two rates, whose counts are beside it",
    "impact_actions.control_change": OWN_INTERVAL,
    "impact_metrics.after_ci_high": OWN_INTERVAL,
    "impact_metrics.after_ci_low": OWN_INTERVAL,
    "impact_metrics.after_value": OWN_INTERVAL,
    "impact_metrics.before_ci_high": OWN_INTERVAL,
    "impact_metrics.before_ci_low": OWN_INTERVAL,
    "impact_metrics.before_value": OWN_INTERVAL,
    "impact_metrics.change": OWN_INTERVAL,
    "impact_metrics.confidence": OWN_INTERVAL,
    "impact_metrics.relative_change": OWN_INTERVAL,
    "insights.after": OWN_INTERVAL,
    "insights.before": OWN_INTERVAL,
    "insights.change": OWN_INTERVAL,
    "overview_top_brands.mention_rate_change": "its counts are those of two windows",
    "ranking_matrix.value": "a mean; sample_count is beside it",
    "shopping_merchants.offer_share": UNKNOWN_TOTAL,
    "shopping_products.visibility_rate": "mentions are counted, and not the answers that show it",
    "source_domains.retrieved_answer_share": UNKNOWN_TOTAL,
}
"""The rates, shares and means that no counts are declared for, and why."""


def test_every_rate_and_mean_declares_its_counts_or_a_reason_is_given_here() -> None:
    lacking = set()
    for section in aa.sections.names():
        for table in aa.sections.get(section):
            for column in table.columns:
                unit, rule = column.unit or "", column.aggregate
                is_rate = unit.startswith(("fraction", "score", "per ", "probability", "absolute"))
                counted = rule.over or rule.by or rule.counts
                if (is_rate or rule.rule == "mean") and not counted:
                    lacking.add(f"{table.name}.{column.name}")
    assert lacking ^ {*WITHOUT_COUNTS} == set()


def test_an_interval_of_a_share_of_all_citations_is_that_of_its_counts() -> None:
    body = json.loads((SAMPLE.parent / "domains.json").read_bytes())
    domains = aa.normalize("domains", body)["source_domains"]
    hits, trials = body["domains"][0]["citationCount"], body["totals"]["citationCount"]
    assert bounds(domains, "citation_share", 0) == pytest.approx(wilson(hits, trials))
