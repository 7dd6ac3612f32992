"""Answers one by one agree with what the service counts, and so do the intervals beside numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.stats.interval import confidence_bounds


@pytest.fixture(scope="module")
def data() -> aa.Dataset:
    return aa.demo().read_all(sections=["overview", "prompts", "chats"], progress=False)


def test_the_counts_are_those_of_the_service(data: aa.Dataset) -> None:
    answers = aa.stats.answers(data["chats"])
    kpis = data["overview"]["overview_kpis"].set_index("metric")
    assert len(answers) == kpis.loc["mentionRate", "denominator"]
    assert answers["mentioned"].sum() == kpis.loc["mentionRate", "numerator"]
    assert answers["position"].notna().sum() == kpis.loc["averagePosition", "denominator"]
    prompts = data["prompts"].main.aa.interval("mention_rate", cluster="prompt_id").iloc[0]
    two = answers.aa.interval("mentioned", cluster="prompt_id").iloc[0]
    for end in ("", "_low", "_high", "_n", "_deff"):
        assert prompts[f"mention_rate{end}"] == pytest.approx(two[f"mentioned{end}"], abs=1e-12)
    other = aa.stats.answers(data["chats"], "Globex")
    sides = answers.aa.compare(other, "mentioned")
    assert sides["method"].item().startswith("paired by prompt_id")
    assert sides[["brand", "baseline_brand"]].iloc[0].tolist() == [answers["brand"][0], "Globex"]
    assert sides["Globex"].item() == pytest.approx(other["mentioned"].mean())
    assert "before" not in sides
    with pytest.raises(ItemNotFound, match="join it"):
        answers.aa.compare(other, "mentioned", by="topic")
    topics = data["prompts"].main[["prompt_id", "topic"]]
    joined, other_joined = (side.aa.merge(topics, on="prompt_id") for side in (answers, other))
    by_topic = joined.aa.compare(other_joined, "mentioned", by="topic")
    assert not by_topic["why"].str.contains("same answers").any()
    about_other = aa.demo().read("chats", brand="Globex")
    assert aa.stats.answers(about_other)["brand"].eq("Globex").all()
    mixed = {name: aa.concat([data["chats"][name], about_other[name]]) for name in about_other}
    with pytest.raises(AvailabilityError, match="some of them with none"):
        aa.stats.answers(mixed)
    with pytest.raises(AvailabilityError, match="spelling"):
        aa.stats.answers(data["chats"], "Globbex")


def test_a_page_that_was_only_read_is_not_cited(data: aa.Dataset) -> None:
    pages = data["chats"]["chat_citations"]
    own = pages[pages["domain_type"].eq("owned").fillna(False).to_numpy(bool)]
    read, cited = ({*rows["chat_id"]} for rows in (own, own[own["cited"].to_numpy(bool)]))
    answers = aa.stats.answers(data["chats"])
    assert {*answers.loc[answers["cited"], "chat_id"]} == cited < read


def test_without_owners_of_pages_nobody_knows_what_is_cited(data: aa.Dataset) -> None:
    chats = {name: table.copy() for name, table in data["chats"].items()}
    chats["chat_citations"]["domain_type"] = pd.array([pd.NA] * len(chats["chat_citations"]))
    assert aa.stats.answers(chats)["cited"].isna().all()


def test_a_mark_has_the_interval_over_the_prompts_that_add_up_to_it(data: aa.Dataset) -> None:
    engines, prompts = data["overview"]["overview_engines"], data["prompts"]["prompt_engines"]
    drawn = confidence_bounds(engines, "mention_rate", prompts, ["engine"])
    expected = prompts.aa.interval("mention_rate", "engine", "prompt_id").set_index("engine")
    lows = expected["mention_rate_low"].reindex(engines["engine"]).to_numpy(float, na_value=np.nan)
    assert np.array_equal(drawn.low, lows, equal_nan=True)
    alone = confidence_bounds(engines, "mention_rate")
    assert "independent" in alone.method
    assert np.nansum(drawn.high - drawn.low) > np.nansum(alone.high - alone.low)
    some = prompts[prompts["prompt_id"] != prompts["prompt_id"].iloc[0]]
    assert not confidence_bounds(engines, "mention_rate", some, ["engine"]).method.startswith(
        "95% interval for prompts"
    )
