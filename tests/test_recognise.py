"""Availability read out of answers: words, places, and nothing where there is nothing."""

from __future__ import annotations

from typing import Any

import pytest

from aatoolkit import Availability, Cause, Status
from aatoolkit.recognise import WORDS, Rule, read_word, recognise

REFERENCE: dict[str, Any] = {
    "section": "crawl",
    "availability": {
        "status": "partial",
        "reason": "Two engines did not run.",
        "sampleCount": 812,
        "asOf": "2026-11-20T06:10:00Z",
        "fields": {"totals.revenue": {"status": "not_connected", "reason": "Connect GA4."}},
        "engines": {"gemini": "not_run"},
    },
}


def test_the_reference_shape() -> None:
    section, field, engine = recognise(REFERENCE)
    assert (section.scope, section.target, section.path) == ("section", None, "$.availability")
    assert section.availability == Availability(Status.PARTIAL, None, "Two engines did not run.")
    assert (section.sample_size, section.as_of) == (812, "2026-11-20T06:10:00Z")
    assert (field.scope, field.target) == ("field", "totals.revenue")
    assert field.availability == Availability(
        Status.UNAVAILABLE, Cause.NOT_CONNECTED, "Connect GA4."
    )
    assert (engine.scope, engine.target) == ("engine", "gemini")
    assert engine.availability == Availability(Status.UNAVAILABLE, Cause.NOT_RUN)
    assert {signal.rule for signal in (section, field, engine)} == {"reference"}


def test_the_evidence_is_a_json_path_as_everywhere_else() -> None:
    _, field, engine = recognise(REFERENCE)
    assert field.path == '$.availability.fields["totals.revenue"]'
    assert engine.path == "$.availability.engines.gemini"


@pytest.mark.parametrize(
    ("word", "status", "cause"),
    [
        ("available", Status.AVAILABLE, None),
        ("partial", Status.PARTIAL, None),
        ("unavailable", Status.UNAVAILABLE, None),
        ("not_connected", Status.UNAVAILABLE, Cause.NOT_CONNECTED),
        ("not_configured", Status.UNAVAILABLE, Cause.NOT_CONFIGURED),
        ("not_run", Status.UNAVAILABLE, Cause.NOT_RUN),
        ("not_applicable", Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
        ("pending", Status.UNAVAILABLE, Cause.PENDING),
        ("insufficient_sample", Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE),
        ("forbidden", Status.UNAVAILABLE, Cause.WITHHELD),
        ("error", Status.UNAVAILABLE, Cause.FAILED),
    ],
)
def test_every_word_of_the_wire(word: str, status: Status, cause: Cause | None) -> None:
    assert read_word(word, "So it says.") == Availability(status, cause, "So it says.")


def test_no_other_word_is_read() -> None:
    assert len(WORDS) == 11


@pytest.mark.parametrize("word", ["Available", "blue moon", 0, 1, True, ["available"], {"a": 1}])
def test_any_other_word_is_unknown_and_kept_verbatim(word: object) -> None:
    assert read_word(word) == Availability(Status.UNKNOWN, None, repr(word))
    assert read_word(word, "Its words.") == Availability(Status.UNKNOWN, None, "Its words.")


def test_no_word_is_unknown_without_words() -> None:
    assert read_word(None) == read_word(None, "") == Availability()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        None,
        5,
        "available",
        {"availability": "available"},
        {"availability": None},
        {"availability": {}},
        {"availability": {"fields": [], "engines": None}},
        {"products": [{"availability": "in_stock"}]},
        {"actions": [{"status": "done"}]},
        {"checks": [{"status": "passed"}], "summary": {"brandCoverage": 41.2}},
        {"filters": {"engine": None}},
        {"bots": []},
    ],
)
def test_where_nothing_is_said_nothing_is_found(answer: object) -> None:
    assert recognise(answer) == []


@pytest.mark.parametrize("odd", [True, "812", 8.5, None])
def test_a_sample_that_is_no_whole_number_is_not_known(odd: object) -> None:
    (found,) = recognise({"availability": {"status": "available", "sampleCount": odd, "asOf": 5}})
    assert (found.sample_size, found.as_of) == (None, None)


def test_a_known_service_is_one_rule_away() -> None:
    rule = Rule("theirs", at="_meta", status="dataStatus", reason="note", fields="perField")
    answer = {"_meta": {"dataStatus": "pending", "note": "Soon.", "perField": {"x": "error"}}}
    section, field = recognise(answer, rule)
    assert section.availability == Availability(Status.UNAVAILABLE, Cause.PENDING, "Soon.")
    assert field.availability == Availability(Status.UNAVAILABLE, Cause.FAILED)
    assert {section.rule, field.rule} == {"theirs"}
    assert recognise(answer) == []
