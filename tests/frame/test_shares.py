"""Shares and rates over several answers, counts of rows, and shares of flags."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


@cache
def tables(section: str, by: str | None = None) -> aa.Tables:
    return shared_client().project("acme.example").read(section, split=by)


@pytest.mark.parametrize(
    ("section", "table", "key", "share"),
    [
        ("domains", "source_domains", "source_domain", "citation_share"),
        ("overview", "overview_top_brands", "brand", "mention_rate"),
        ("overview", "overview_top_brands", "brand", "share_of_voice"),
    ],
)
def test_over_answers_by_engine_a_share_is_that_of_one_answer_over_all(
    section: str, table: str, key: str, share: str
) -> None:
    apart = tables(section, "engine")[table]
    result = apart.aa.aggregate(key, share).set_index(key)[share].dropna()
    shares = tables(section)[table].set_index(key)[share]
    assert len(result) == len(shares.dropna())
    assert result.to_dict() == pytest.approx(shares[result.index].to_dict())
    explained = apart.aa.aggregate(key, share).aa.explain(0, share)
    assert explained.formula is not None
    assert "over 4 responses" in explained.formula


def test_an_answer_that_may_have_left_out_a_row_is_no_zero() -> None:
    brands = tables("overview", "engine")["overview_top_brands"]
    own = brands[brands["own"].fillna(False).to_numpy(bool)]
    rate = own.aa.aggregate(columns="mention_rate")["mention_rate"][0]
    assert rate == pytest.approx(
        tables("overview")["overview_top_brands"].query("own")["mention_rate"].iloc[0]
    )
    is_cut = (brands["engine"] == "gemini") & brands["own"].fillna(False)
    cut = brands[~is_cut.to_numpy(bool)]
    result = cut.aa.aggregate("brand", "mention_rate").set_index("brand")
    name = own["brand"].iloc[0]
    assert pd.isna(result.loc[name, "mention_rate"])
    assert "1 of 6 responses have no row" in result.loc[name, "mention_rate_availability_reason"]
    some = cut.aa.aggregate("brand", "mention_rate", skip_missing=True).set_index("brand")
    rest = own[own["engine"] != "gemini"]
    expected = rest["mention_count"].sum() / rest["answer_count"].sum()
    assert some.loc[name, "mention_rate"] == pytest.approx(expected)
    assert some.loc[name, "mention_rate_availability"] == "partial"


def test_rows_are_counted_by_name_too() -> None:
    ads = tables("ads").main
    with pytest.raises(AvailabilityError, match=r"rules=\{'ad_id': 'count'\}"):
        ads.aa.aggregate("engine", "ad_id")
    counts = ads.aa.aggregate("engine", rules={"ad_id": "count"}).set_index("engine")["ad_id"]
    assert counts.to_dict() == ads["engine"].value_counts().loc[counts.index].to_dict()
    twice = pd.concat([ads, ads]).aa.aggregate(rules={"ad_id": "count"})
    assert twice["ad_id"].tolist() == [len(ads)], "a row that is there twice is one"


def test_flags_that_are_asked_for_become_the_share_of_rows_that_are_true() -> None:
    flags = pd.DataFrame({"engine": ["a", "a", "b"], "seen": pd.array([True, False, True])})
    result = flags.aa.aggregate("engine", "seen")
    assert result["seen"].tolist() == [0.5, 1.0]
    with pytest.raises(AvailabilityError):
        flags.aa.aggregate("engine")
    read = tables("ads")
    shares = read.main.groupby("engine", observed=True)["own"].mean()
    assert read.main.aa.aggregate("engine", "own").set_index("engine")["own"].equals(shares)
    cards = read.main.aa.merge(read["ad_cards"], on="ad_id")
    once = read.main[read.main["ad_id"].isin(cards["ad_id"])]
    assert cards.aa.aggregate(columns="own")["own"].tolist() == [once["own"].mean()]
