"""Insights and impact: what changed, and how surely."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aatoolkit.service.significance import clustered_interval, proportions_differ, wilson_interval
from aatoolkit.service.store import Store

from .sections_a_store import RICH, SMALL, WIDE, ask, day, experiment, store


@pytest.fixture(scope="module")
def small() -> Store:
    return store(SMALL)


@pytest.fixture(scope="module")
def wide() -> Store:
    return store(WIDE)


@pytest.fixture(scope="module")
def rich_store() -> Store:
    return store(RICH)


def test_insights(wide: Store) -> None:
    answer = ask(wide, "insights")
    found = {(row["type"], row["scope"]["engine"]): row for row in answer.body["insights"]}
    assert set(found) == {
        ("visibility_change", None),
        ("visibility_change", "chatgpt"),
        ("visibility_change", "gemini"),
        ("sentiment_change", None),
        ("competitor_citation_gain", None),
        ("citation_loss", None),
    }
    rise = found["visibility_change", "chatgpt"]
    assert rise["metric"] == {
        "key": "mentionRate",
        "unit": "fraction",
        "before": 140 / 700,
        "after": 350 / 700,
        "change": 350 / 700 - 140 / 700,
        "changeKind": "absolute",
    }
    assert (rise["severity"], rise["confidence"]) == ("high", "high")
    assert rise["title"] == "Mention rate of Acme up on ChatGPT"
    assert rise["evidence"] == {
        "answerCount": 700,
        "promptIds": ["p12", "p13", "p14", "p2", "p22"],
        "urls": ["https://acme.example/new"],
    }
    assert rise["why"] is not None
    assert rise["baseline"] == {"start": day("11-07"), "end": day("11-13")}
    gain = found["competitor_citation_gain", None]
    assert (gain["scope"]["brand"], gain["evidence"]["answerCount"]) == ("Globex", 140)
    assert (gain["metric"]["before"], gain["metric"]["after"]) == (0, 140)
    assert gain["evidence"]["promptIds"] == ["p1", "p11", "p21", "p31", "p41"]
    loss = found["citation_loss", None]
    assert (loss["metric"]["before"], loss["metric"]["after"]) == (140, 0)
    assert loss["evidence"]["urls"] == ["https://acme.example/old"]
    sentiment = found["sentiment_change", None]["metric"]
    assert (sentiment["before"], sentiment["after"]) == (60.5, 82.0)
    severities = [row["severity"] for row in answer.body["insights"]]
    assert answer.body["summary"]["bySeverity"] == {
        severity: severities.count(severity) for severity in ("high", "medium", "low")
    }
    assert {row["state"] for row in answer.body["insights"]} == {"new"}
    assert answer.availability.sample_count == 1400
    assert answer.body["summary"]["headline"] == (
        "Mention rate of Acme up; Mention rate of Acme up on ChatGPT."
    )


def test_an_insight_keeps_its_id_and_the_readers_state(wide: Store) -> None:
    before = ask(wide, "insights").body["insights"]
    seen = before[0]["insightId"]
    states = [{"insight_id": seen, "state": "dismissed"}]
    after = ask(store({**WIDE, "insight_states": states}), "insights").body["insights"]
    assert [row["insightId"] for row in after] == [row["insightId"] for row in before]
    assert [row["state"] for row in after if row["insightId"] == seen] == ["dismissed"]
    assert len({row["insightId"] for row in before}) == len(before)


def test_one_engine_has_the_insights_of_that_engine(wide: Store) -> None:
    whole, one = ask(wide, "insights"), ask(wide, "insights", engine=("gemini",))
    changes = [row for row in one.body["insights"] if row["type"] == "visibility_change"]
    assert changes == [
        row
        for row in whole.body["insights"]
        if row["type"] == "visibility_change" and row["scope"]["engine"] == "gemini"
    ]


def test_insights_need_a_window_to_compare_with(rich_store: Store) -> None:
    answer = ask(rich_store, "insights", days=30)
    assert answer.body == {
        "summary": {"headline": None, "bySeverity": {"high": None, "medium": None, "low": None}},
        "insights": [],
    }
    assert answer.availability.status == "insufficient_sample"


def test_insights_need_the_whole_of_that_window() -> None:
    projects = [{**project, "observed_from": day("11-09")} for project in RICH["projects"]]
    answer = ask(store({**RICH, "projects": projects}), "insights")
    assert answer.body["insights"] == []
    assert answer.availability.status == "insufficient_sample"


def test_the_gravest_insights_come_first() -> None:
    mentions = [
        row
        for row in WIDE["mentions"]
        if row["brand"] != "Acme" or row["chat_id"].split("-")[1][-1] in "012"
    ]
    found = ask(store({**WIDE, "mentions": mentions}), "insights").body["insights"]
    severities = [row["severity"] for row in found]
    assert severities == sorted(severities, key=["high", "medium", "low"].index)
    assert len(set(severities)) > 1
    assert found[0]["type"] == "sentiment_change"


def test_a_small_change_is_no_insight(small: Store) -> None:
    body = ask(small, "insights").body
    assert body["insights"] == []
    assert body["summary"]["bySeverity"] == {"high": 0, "medium": 0, "low": 0}


def test_impact(rich_store: Store) -> None:
    answer = ask(rich_store, "impact")
    first, second = answer.body["actions"]
    rate, count = first["metrics"]
    # Two of five prompts always name it: five observations, not seventy.
    low, high = clustered_interval([(14, 14), (14, 14), (0, 14), (0, 14), (0, 14)])
    assert rate["before"] == {"value": 28 / 70, "sampleCount": 70, "ciLow": low, "ciHigh": high}
    assert (rate["after"]["value"], rate["change"]) == (1.0, 1.0 - 28 / 70)
    assert rate["relativeChange"] == (1.0 - 28 / 70) / (28 / 70)
    # Three of five prompts changed, which chance brings about once in twelve times.
    assert rate["verdict"] == first["verdict"] == "no_detectable_change"
    assert rate["confidence"] == pytest.approx(1 - math.erfc(math.sqrt(3 / 2)))
    assert count["before"] == {"value": 14, "sampleCount": 70, "ciLow": None, "ciHigh": None}
    assert (count["verdict"], count["confidence"]) == ("no_detectable_change", None)
    assert first["control"] == {
        "description": "prompts not touched by the action",
        "metric": "mentionRate",
        "change": 0.0,
    }
    assert (second["verdict"], second["metrics"], second["control"]) == ("too_early", [], None)
    assert [row["label"] for row in answer.body["annotations"]] == ["Model update"]
    assert answer.availability.status == "partial"
    assert answer.availability.sample_count == 140
    assert answer.availability.reason == (
        "1 of 2 completed actions has too little data after completion."
    )


def test_impact_on_citations_that_came() -> None:
    citations = [row for row in RICH["citations"] if not row["url"].endswith("/old")]
    answer = ask(store({**RICH, "citations": citations}), "impact")
    count = answer.body["actions"][0]["metrics"][1]
    assert (count["before"]["value"], count["after"]["value"], count["change"]) == (0, 14, 14)
    # All of them in answers to two prompts, which is too little to go by.
    assert (count["verdict"], count["relativeChange"]) == ("no_detectable_change", None)


def test_impact_on_many_prompts_is_detected(wide: Store) -> None:
    many = experiment("e1", "11-14", "11-20", prompt_ids=None)
    first = ask(store({**WIDE, "experiments": [many]}), "impact").body["actions"][0]
    assert (first["verdict"], first["metrics"][0]["verdict"]) == ("improved", "improved")
    assert first["metrics"][0]["confidence"] > 0.95


def test_impact_on_few_prompts_cannot_be_detected() -> None:
    few = experiment("e1", "11-14", "11-20", prompt_ids=["p1", "p2", "p3", "p4"])
    answer = ask(store({**RICH, "experiments": [few]}), "impact")
    rate = answer.body["actions"][0]["metrics"][0]
    assert rate["change"] == 1.0 - rate["before"]["value"] > 0.5
    assert (rate["verdict"], rate["confidence"]) == ("no_detectable_change", None)
    assert rate["before"]["ciLow"] is None
    assert answer.availability.status == "partial"
    assert answer.availability.reason == (
        "1 of 1 completed actions is about fewer than 5 prompts, too few to detect a change."
    )


def test_the_interval_over_prompts_is_that_of_the_field() -> None:
    stats = pytest.importorskip("scipy.stats")
    prompts = [(3, 10), (9, 12), (0, 8), (5, 20), (7, 7), (2, 9)]
    hits, sizes = (np.array(each, float) for each in zip(*prompts, strict=True))
    rate = hits.sum() / sizes.sum()
    variance = 6 / 5 * ((hits - rate * sizes) ** 2).sum() / sizes.sum() ** 2
    t, n = stats.t.ppf(0.975, 5), rate * (1 - rate) / variance
    centre = (rate + t**2 / (2 * n)) / (1 + t**2 / n)
    half = t / (1 + t**2 / n) * math.sqrt(rate * (1 - rate) / n + t**2 / (4 * n**2))
    assert clustered_interval(prompts) == pytest.approx((centre - half, centre + half), rel=5e-3)
    assert clustered_interval([(0, 10)] * 6)[1] > wilson_interval(0, 60)[1]


def test_impact_of_another_brand(rich_store: Store) -> None:
    rate = ask(rich_store, "impact", brand=("Globex",)).body["actions"][0]["metrics"][0]
    assert rate["before"]["value"] == rate["after"]["value"] == 1.0
    assert (rate["verdict"], rate["confidence"]) == ("no_detectable_change", 0.0)


def test_impact_of_one_engine_has_half_the_answers(rich_store: Store) -> None:
    first = ask(rich_store, "impact", engine=("gemini",)).body["actions"][0]
    assert first["metrics"][0]["after"]["sampleCount"] == 35


def test_impact_without_answers_before_has_no_verdict(rich_store: Store) -> None:
    early = experiment("e3", "11-14", "11-20", before_start=day("10-01"))
    early["before_end"] = day("10-31")
    answer = ask(store({**RICH, "experiments": [early]}), "impact")
    assert (answer.body["actions"][0]["verdict"], answer.body["actions"][0]["metrics"]) == (
        None,
        [],
    )
    assert answer.availability.status == "insufficient_sample"
    assert answer.availability.reason == (
        "1 of 1 completed actions has too little data before completion."
    )


def test_impact_of_a_store_without_experiments(small: Store) -> None:
    assert ask(small, "impact").availability.status == "unavailable"


def test_wilson_interval_of_the_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I: 81 of 263.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20)[0] == 0.0


def test_tests_of_change() -> None:
    # z = 0.1 / sqrt(0.35 * 0.65 * 2 / 100)
    p = proportions_differ((30, 100), (40, 100))
    assert p == pytest.approx(math.erfc(0.1 / math.sqrt(2 * 0.35 * 0.65 * 2 / 100)))
    assert proportions_differ((5, 5), (7, 7)) == 1.0
