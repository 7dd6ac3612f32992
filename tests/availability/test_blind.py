"""Answers as strangers write them, from JSON to what a frame says of each cell and each sum.

Each takes the rows of a sample and says of its availability what the sample does not, in words
of its own. What is stated of one engine, metric or day must reach those cells and no others.
"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from samples import SAMPLES

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError

pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.AAToolkitWarning")


def read(section: str, **parts: Any) -> aa.Tables:
    """The rows of a sample, and what else an answer says instead of its availability."""
    body = json.loads((SAMPLES / f"{section}.json").read_bytes())
    del body["availability"]
    return aa.normalize(section, {**body, **parts})


def status(frame: pd.DataFrame, column: str) -> tuple[str, str | None]:
    """The status of a column and its cause."""
    row = frame.aa.availability.loc[column]
    return str(row["status"]), None if pd.isna(row["cause"]) else str(row["cause"])


def cells(frame: pd.DataFrame, column: str, by: str) -> dict[str, str]:
    """The status of each cell of a column."""
    long = frame.aa.to_long(column)
    return dict(zip(long[by].astype(str), long["availability"].astype(str), strict=True))


def test_a_map_of_engines_concerns_the_rows_of_each() -> None:
    states = {"chatgpt": "ok", "gemini": "not_collected", "perplexity": "ok"}
    tables = read("domains", meta={"engineStatus": states})
    frame = tables["source_domain_engines"]
    assert status(frame, "citation_count")[0] == "partial"
    assert status(frame[frame["engine"] == "chatgpt"], "citation_count") == ("available", None)
    assert status(frame[frame["engine"] == "gemini"], "citation_count")[0] == "unavailable"
    by_engine = frame.aa.aggregate("engine", "citation_count").set_index("engine")
    assert by_engine.loc["chatgpt", "citation_count"] == 250
    assert by_engine.loc["gemini", "citation_count"] is pd.NA
    assert status(tables.main, "citation_count")[0] == "partial"
    assert "gemini" in tables.main.aa.availability.loc["citation_count", "reason"]


def test_days_that_are_not_complete_yet_concern_themselves() -> None:
    frame = read("overview", dataCompleteThrough="2026-11-19")["overview_trend"]
    statements = cells(frame, "answer_count", "date")
    assert statements["2026-11-18"] == "available"
    assert statements["2026-11-20"] == "partial"
    assert status(frame, "answer_count") == ("partial", "pending")
    early = frame[frame["date"] <= "2026-11-19"]
    assert status(early, "answer_count")[0] == "available"
    assert status(frame.aa.aggregate(columns="answer_count"), "answer_count")[0] == "partial"
    assert status(early.aa.aggregate(columns="answer_count"), "answer_count")[0] == "available"


def test_one_metric_that_was_not_measured_has_no_numbers_and_the_others_do() -> None:
    words = {"status": "unavailable", "reason": "Mentions are being recomputed."}
    frame = read("overview", fieldAvailability={"mentionRate": words})["overview_engines"]
    assert status(frame, "mention_rate")[0] == "unavailable"
    assert frame["mention_rate"].isna().all()
    assert frame["mention_count"].notna().any()
    reason = frame.aa.availability.loc["mention_rate", "reason"]
    assert reason == "Mentions are being recomputed."
    with pytest.raises(AvailabilityError, match="recomputed"):
        frame.aa.require("mention_rate")
    frame.aa.require("mention_count")


def test_an_error_inside_an_answer_is_the_reason_of_every_cell() -> None:
    message = "No CDN log source has been connected yet."
    body = {"section": "crawl", "domain": "acme.example"}
    tables = aa.normalize(
        "crawl", {**body, "error": {"code": "integration_missing", "message": message}}
    )
    for frame in tables.values():
        numbers = frame.select_dtypes("number")
        assert numbers.isna().to_numpy().all()
        for name in numbers:
            assert status(frame, name) == ("unavailable", "not_connected")
    frame = tables["crawl_bots"]
    assert status(frame, "requests") == ("unavailable", "not_connected")
    total = frame.aa.aggregate(columns="requests", skip_missing=True)
    assert total.loc[0, "requests"] is pd.NA
    assert total.aa.availability.loc["requests", "reason"] == message


def test_a_warning_makes_no_number_sure() -> None:
    tables = read(
        "perception",
        warnings=[
            {
                "code": "SENTIMENT_DISABLED",
                "message": "Sentiment scoring is turned off for this account.",
                "fields": ["sentiment"],
            }
        ],
    )
    frame = tables["perception_sentiment"]
    assert status(frame, "sentiment_score")[0] in ("partial", "unavailable")
    assert status(frame.aa.aggregate(), "sentiment_score")[0] in ("partial", "unavailable")


def test_a_place_where_no_rule_looks_is_pointed_out() -> None:
    tables = read("domains", collection={"engineStatus": {"gemini": "not_collected"}})
    assert status(tables.main, "citation_count")[0] == "unknown"
    assert [*tables.hints["path"]] == ["$.collection.engineStatus.gemini"]


def test_a_word_of_business_says_nothing_of_the_data() -> None:
    body = json.loads((SAMPLES / "shopping.json").read_bytes())
    before = aa.normalize("shopping", body)
    body["products"][0] |= {"availability": "out_of_stock", "title": "Not available in your plan"}
    body["merchants"][0]["merchant"] = "Not connected Ltd."
    body["brands"][0]["brand"] = "Pending & Sons"
    after = aa.normalize("shopping", body)
    for name, frame in after.items():
        columns = ["status", "cause", "reason"]
        pd.testing.assert_frame_equal(
            frame.aa.availability[columns], before[name].aa.availability[columns]
        )
    assert len(after.hints) == len(before.hints)


def test_silence_is_unknown_and_a_number_is_a_number() -> None:
    frame = read("domains").main
    assert status(frame, "citation_count")[0] == "unknown"
    document = json.loads((SAMPLES / "domains.json").read_bytes())
    total = frame.aa.aggregate(columns="citation_count")
    assert total.loc[0, "citation_count"] == sum(
        row["citationCount"] for row in document["domains"]
    )
    assert status(total, "citation_count")[0] == "unknown"
