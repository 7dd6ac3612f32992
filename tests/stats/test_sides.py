"""The window before, as an answer gives it: compared by prompt, refused where it is not."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from effort import effort
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import ArgumentError, AvailabilityError, ItemNotFound
from aatoolkit.sections import Profile, Section, Table, count, number, records, text, weighted
from aatoolkit.stats import estimate


@pytest.fixture(scope="module")
def ranking() -> aa.Tables:
    return shared_client().project("acme.example").read("ranking")


def test_a_list_in_a_column_named_like_a_filter_is_no_name() -> None:
    prompts = aa.demo().read("prompts").main
    prompts["topic"] = [["x", "y"]] * len(prompts)
    assert len(prompts.aa.compare("previous", "mention_rate"))


def test_rows_of_days_are_no_independent_answers() -> None:
    trend = aa.demo().read("overview")["overview_trend"]
    now, before = trend.tail(10), trend.head(10)
    rate = now.aa.compare(before, "mention_rate")
    assert rate.equals(now.aa.compare(before, "mention_rate", cluster="date"))
    count = now.aa.compare(before, "answer_count")["after"].item()
    assert count == now["answer_count"].sum()  # that of the window


def test_the_share_of_voice_of_each_brand_is_compared_with_the_window_before(
    ranking: aa.Tables,
) -> None:
    by_prompt = ranking["ranking_prompts"]
    table = by_prompt.aa.compare("previous", "share_of_voice", by="brand").set_index("brand")
    brands = ranking.main.set_index("brand")
    compared = table[~table["why"].str.contains("the set of prompt_id changed")]
    assert len(compared) == len(brands)
    for mine, theirs in (("after", "share_of_voice"), ("before", "previous_share_of_voice")):
        assert np.allclose(table[mine].astype(float), brands.loc[table.index, theirs].astype(float))
    assert set(table["verdict"]) <= {"up", "down", "no evidence", "cannot say"}
    tested = table[table["verdict"] != "cannot say"]
    assert len(tested) >= 5
    assert (tested["low"] < tested["change"]).all()
    assert (tested["change"] < tested["high"]).all()
    # By hand: the same test of the counts as they stand in the answer.
    counts = [cell["brands"]["Acme CRM"] for cell in ranking.payload.json["byPrompt"]]
    totals = ranking.payload.json["byPrompt"]
    parts = [
        np.array([cell[name] for cell in of], float)
        for name in ("mentionCount", "previousMentionCount")
        for of in (counts, totals)
    ]
    by_hand = estimate.paired_change(*parts, 0.95)
    assert table.loc["Acme CRM", "p"] == pytest.approx(by_hand.p, abs=1e-12)
    assert table.aa.explain("Acme CRM", "before").is_complete


def test_what_was_not_measured_before_is_not_compared(ranking: aa.Tables) -> None:
    answer: dict[str, Any] = copy.deepcopy(ranking.payload.json)
    words = {"status": "unavailable", "reason": "Answers were not collected then."}
    answer["availability"]["fields"] = {
        "byPrompt[].previousMentionCount": words,
        "byPrompt[].brands{}.previousMentionCount": words,
        "byPrompt[].brands{}.previousShareOfVoice": words,
    }
    for prompt in answer["byPrompt"]:
        prompt["previousMentionCount"] = None
        for cell in prompt["brands"].values():
            cell["previousMentionCount"] = cell["previousShareOfVoice"] = None
    frame = aa.normalize("ranking", answer)["ranking_prompts"]
    rows = frame.aa.compare("previous", "share_of_voice", by="brand")
    assert set(rows["verdict"]) == {"cannot say"}
    assert rows["why"].str.startswith("before: unavailable: Answers were not collected then").all()
    assert rows["before"].isna().all()


def test_refusals_name_what_would_do(ranking: aa.Tables) -> None:
    main, by_prompt = ranking.main, ranking["ranking_prompts"]
    with pytest.raises(ArgumentError, match="baseline='previous'") as caught:
        by_prompt.aa.compare("befor", "share_of_voice", by="brand")
    assert caught.value.argument == "baseline"
    with pytest.raises(ItemNotFound, match="what top_three_rate was in the window before"):
        main.aa.decompose("previous", "top_three_rate", by="brand")
    for column, by in (("rank", "prompt_id"), ("rank", ["brand"]), ("ranks", "brand")):
        with pytest.raises(ItemNotFound, match="by=$" if column == "rank" else "mean 'rank'"):
            main.aa.decompose(main, column, by=by)
    # A prompt's mentions are the same ones in the row of each brand, and do not add over brands.
    with pytest.raises(AvailabilityError, match="nothing shows that it adds over brand"):
        by_prompt.aa.compare("previous", "share_of_voice")


COUNTED = Profile(
    "counted",
    Section(
        "domains",
        "Citations.",
        Table(
            "counted_domains",
            "One row per domain.",
            records("rows"),
            "domain",
            (
                text("domain"),
                text("kind"),
                count("citation_count"),
                count("citations_previous", across=("engine",)),
                number("rate", optional=True, aggregate=weighted("citations_previous")),
            ),
        ),
    ),
)


def test_counts_of_the_window_before_compare_by_what_they_are_counted_of() -> None:
    rows = [
        {"domain": f"{n}.example", "kind": "blog" if n else "forum",
         "citationCount": 30 + n % 4, "citationsPrevious": 20 + n % 3}
        for n in range(12)
    ]  # fmt: skip
    frame = aa.normalize("domains", {"rows": rows}, profile=COUNTED).main
    total = frame.aa.compare("previous", "citation_count")
    assert total["verdict"].tolist() == ["cannot say"]  # domains are no sample of anything
    # A mean counts twice what its weight counts twice.
    with pytest.raises(AvailabilityError, match="citations_previous adds over engine"):
        frame.aa.aggregate("kind", "rate")
    changes = frame.aa.compare("previous", "citation_count", pair="domain")
    ends = frame[["citations_previous", "citation_count"]].sum().tolist()
    for result in (changes, total):
        assert result[["before", "after"]].iloc[0].tolist() == ends
        assert result.aa.explain(0, "change").value == ends[1] - ends[0]
    assert changes["verdict"].tolist() == ["up"]
    # One domain of a kind says nothing of how they vary, and ends no other group.
    groups = frame.aa.compare("previous", "citation_count", by="kind", pair="domain")
    verdicts = groups.set_index("kind")["verdict"].to_dict()
    assert verdicts == {"forum": "cannot say", "blog": "up"}


@pytest.mark.thorough
@pytest.mark.parametrize("icc", [0.1, 0.5])
def test_shares_of_mentions_raise_few_false_alarms(icc: float) -> None:
    """Answers that name several brands, prompts that differ: no change, and rarely one is seen."""
    rng = np.random.default_rng(5)
    weight = (1 - icc) / icc
    means = np.array([0.4, 0.5, 0.2, 0.1])
    tries, alarms = effort(400, 50), 0
    for _ in range(tries):
        rates = rng.beta(means * weight, (1 - means) * weight, (25, 4))
        mentions = rng.binomial(rng.integers(5, 30, (2, 25))[..., None], rates)
        counts, totals = mentions[..., 0] * 1.0, mentions.sum(axis=2)
        there = (totals > 0).all(axis=0)
        now, before = zip(counts[:, there], totals[:, there], strict=True)
        change = estimate.paired_change(*now, *before, 0.95, is_rate=True)
        alarms += change.p < 0.05
    assert alarms / tries <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / tries)


@pytest.fixture(scope="module")
def overview() -> aa.Tables:
    return shared_client().project("acme.example").read("overview")


def test_key_figures_are_compared_each_by_itself_also_without_their_counts(
    overview: aa.Tables,
) -> None:
    figures = overview["overview_kpis"]
    changes = figures.aa.compare("previous", "value").set_index("metric")  # rows do not combine
    named = figures.aa.compare("previous", "value", by="metric").set_index("metric")
    assert changes["change"].equals(named["change"])
    assert set(changes["verdict"]) == {"cannot say"}  # nothing says how prompts differ
    alone = figures[figures["metric"] == "mentionRate"][["metric", "value", "previous_value"]]
    result = alone.aa.compare("previous", "value").iloc[0]
    value = figures.set_index("metric")["value"]["mentionRate"]
    assert (result["after"], result["verdict"]) == (value, "cannot say")
    assert "gives no counts of it" in result["why"]
    assert result["change"] == changes.loc["mentionRate", "change"]
    assert alone.aa.compare("previous", "value").aa.explain(0, "change").is_complete


def test_a_share_is_compared_alike_wherever_it_stands(
    overview: aa.Tables, ranking: aa.Tables
) -> None:
    figures = overview["overview_kpis"].aa.compare("previous", "value").set_index("metric")
    shares = figures.loc[["shareOfVoice", "citationShare"]]
    leaders = ranking.main.aa.compare("previous", "share_of_voice", by="brand")
    for rows in (shares, leaders):
        assert rows["change"].notna().any()
        assert rows["p"].isna().all()
    assert leaders["why"].str.contains("one answer can hold several").all()


def test_a_rate_is_compared_by_its_counts_of_both_windows(overview: aa.Tables) -> None:
    brands = overview["overview_top_brands"]
    assert "previous_mention_rate" not in brands.columns
    result = brands.aa.compare("previous", "mention_rate", by="brand").set_index("brand")
    counts = brands.set_index("brand")[["previous_mention_count", "previous_answer_count"]]
    rates = (counts.iloc[:, 0] / counts.iloc[:, 1]).astype(float)
    assert result["before"].astype(float).to_dict() == pytest.approx(rates.to_dict())
    assert result["p"].notna().all()
    explained = result.aa.explain("Globex", "before")
    assert explained.is_complete
    assert explained.value == pytest.approx(rates["Globex"])


def test_rates_of_the_same_answers_are_not_two_samples() -> None:
    project = shared_client().project("acme.example")
    brands = project.read("overview", split="engine")["overview_top_brands"]
    cells = dict(iter(brands.groupby(["engine", "brand"])))
    own, other = cells["chatgpt", "Globex"], cells["chatgpt", "Initech"]
    (row,) = own.aa.compare(other, "mention_rate").to_dict("records")
    assert "compare aa.stats.answers of both" in row["why"]
    assert row["verdict"] == "cannot say"
    (row,) = own.aa.compare(cells["gemini", "Globex"], "mention_rate").to_dict("records")
    assert pd.notna(row["p"])
    engines = project.read("overview", split="brand")["overview_engines"]
    own, other = (engines[engines["brand"] == brand] for brand in ("Globex", "Initech"))
    (row,) = own.aa.compare(other, "mention_rate").to_dict("records")
    assert "compare aa.stats.answers of both" in row["why"]


def test_the_rate_of_a_brand_over_engines_is_that_of_its_counts() -> None:
    project = shared_client().project("acme.example")
    brands = project.read("overview", split="engine")["overview_top_brands"]
    brand = brands[brands["brand"] == "Globex"]
    (row,) = brand.aa.compare("previous", "mention_rate").to_dict("records")
    counts = brand[["mention_count", "answer_count"]].sum()
    assert row["after"] == pytest.approx(counts["mention_count"] / counts["answer_count"])
    assert pd.notna(row["p"])
    by_brand = brands.aa.compare("previous", "mention_rate", by="brand").set_index("brand")
    assert by_brand.loc["Globex", "p"] == row["p"]
    unlisted = brands[(brands["brand"] != "Globex") | (brands["engine"] == "chatgpt")]
    again = unlisted.aa.compare("previous", "mention_rate", by="brand").set_index("brand")
    assert "5 of 6 responses have no row of it" in again.loc["Globex", "why"]
    with pytest.raises(AvailabilityError, match="not additive across brands"):
        brands.aa.compare("previous", "mention_rate")


def test_a_label_and_a_measure_in_each_others_place_are_said_to_be_swapped(
    ranking: aa.Tables,
) -> None:
    frame = ranking["ranking_prompts"]
    with pytest.raises(AvailabilityError, match="share_of_voice is a number: are the two"):
        frame.aa.rank("brand", "share_of_voice")
    with pytest.raises(AvailabilityError, match=r"rules=\{'brand': 'count'\}$"):
        frame.aa.aggregate("prompt_id", "brand")


def test_frames_of_two_engines_are_named_by_them() -> None:
    project = shared_client().project("acme.example")
    engines = ("chatgpt", "gemini", ["claude", "gemini"])
    own, other, several = (project.read("prompts", engine=engine).main for engine in engines)
    (row,) = own.aa.compare(other, "mention_rate").to_dict("records")
    assert (row["engine"], row["baseline_engine"]) == ("chatgpt", "gemini")
    assert row["chatgpt"] - row["gemini"] == pytest.approx(row["change"])
    assert "claude,gemini" in own.aa.compare(several, "mention_rate")
