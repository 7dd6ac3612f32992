"""Answers one by one: what they mention and cite, and whether the two go together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError
from aatoolkit.stats.answer_rows import odds


@pytest.fixture(scope="module")
def chats() -> aa.Tables:
    return aa.demo().read("chats", days=30)


def test_the_counts_are_those_of_the_service(chats: aa.Tables) -> None:
    found = aa.stats.answers(chats)
    kpis = aa.demo().read("overview", days=30)["overview_kpis"].set_index("metric")
    assert len(found) == kpis.loc["mentionRate", "denominator"]
    assert found["mentioned"].sum() == kpis.loc["mentionRate", "numerator"]
    assert found["position"].notna().sum() == kpis.loc["averagePosition", "denominator"]
    other = aa.stats.answers(chats, "Globex")
    assert other["mentioned"].sum() != found["mentioned"].sum()
    assert found.aa.sources["section"].tolist() == ["chats"]
    with pytest.raises(AvailabilityError, match="spelling"):
        aa.stats.answers(chats, "Globbex")
    with pytest.raises(AvailabilityError, match="section chats"):
        aa.stats.answers({})


def test_answers_and_prompts_give_the_same_interval(chats: aa.Tables) -> None:
    prompts = aa.demo().read("prompts", days=30).main
    one = prompts.aa.interval("mention_rate", cluster="prompt_id").iloc[0]
    two = aa.stats.answers(chats).aa.interval("mentioned", cluster="prompt_id").iloc[0]
    for end in ("", "_low", "_high", "_n", "_deff"):
        assert one[f"mention_rate{end}"] == pytest.approx(two[f"mentioned{end}"], abs=1e-12)


def test_the_odds_ratio_is_that_of_statsmodels() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    rng = np.random.default_rng(1)
    a, b, c, d = rng.integers(0, 9, (4, 20)).astype(float)
    made = odds(a, b, c, d)
    stack = [np.array([[w, x], [y, z]]) for w, x, y, z in zip(a, b, c, d, strict=True)]
    expected = tables.StratifiedTable(stack)
    assert made.odds_ratio == pytest.approx(expected.oddsratio_pooled, abs=1e-9)
    assert made.error == pytest.approx(expected.logodds_pooled_se, abs=1e-9)


def test_prompts_that_invite_both_make_no_connection() -> None:
    """Within each prompt the two are independent; over all they look connected."""
    rng = np.random.default_rng(2)
    rate = np.repeat(np.linspace(0.05, 0.95, 30), 30)
    n = len(rate)
    ids = [f"c{at}" for at in range(n)]
    named, cited = rng.random(n) < rate, rng.random(n) < rate
    chats = {
        "chats": pd.DataFrame(
            {
                "chat_id": ids,
                "prompt_id": np.repeat(np.arange(30), 30),
                "engine": "x",
                "ran_at": pd.Timestamp("2026-11-01", tz="UTC"),
                "outcome": "answered",
            }
        ),
        "chat_mentions": pd.DataFrame(
            {"chat_id": np.array(ids)[named], "brand": "A", "own": True, "position": 1}
        ),
        "chat_citations": pd.DataFrame({"chat_id": np.array(ids)[cited], "domain_type": "owned"}),
    }
    found = aa.stats.cited_and_mentioned(chats).iloc[0]
    assert found["mentioned_if_cited"] > found["mentioned_if_not"] + 0.2
    assert found["low"] < 1 < found["high"]
    assert found["verdict"] == "no evidence"
    assert found["both"] + found["cited_only"] + found["mentioned_only"] + found["neither"] == n


def test_nothing_to_compare_cannot_say(chats: aa.Tables) -> None:
    few = {name: chats[name].head(3) for name in chats}
    found = aa.stats.cited_and_mentioned(few).iloc[0]
    assert found["verdict"] == "cannot say"
    assert pd.isna(found["p"])


def test_the_own_brand_is_compared_with_another_on_the_same_answers() -> None:
    chats = aa.demo().read("chats")
    mine, theirs = aa.stats.answers(chats), aa.stats.answers(chats, brand="Globex")
    found = mine.aa.compare(theirs, "mentioned").iloc[0]
    assert found["method"].startswith("paired by prompt_id")
    assert found["after"] == pytest.approx(mine["mentioned"].mean())
    assert found["before"] == pytest.approx(theirs["mentioned"].mean())
    assert "same answers" in mine.aa.compare(mine, "mentioned")["why"][0]
    ranking = aa.demo().read("ranking")["ranking_prompts"]
    one, two = (ranking[ranking["brand"] == name] for name in ("Acme CRM", "Globex"))
    voice = one.aa.compare(two, "share_of_voice").iloc[0]
    assert voice["method"].startswith("paired by prompt_id")
