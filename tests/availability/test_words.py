"""Words of availability: each as it may be built, and each name that the vocabulary has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from signal_words import statements_in

from aatoolkit import Availability, Cause, Status
from aatoolkit.availability.detect import detect, read_status_text
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_TERM,
    find_status_word,
    find_status_word_in_sentence,
)

WORDS_OF_LANGUAGES = json.loads(Path(__file__).with_name("words.json").read_bytes())


def test_words_of_each_language_are_understood_and_those_of_business_are_not() -> None:
    """``words.json``: texts, with the standard term that they mean, or null for business."""
    wrong = [
        (text, word)
        for case in WORDS_OF_LANGUAGES
        for text in case["texts"]
        for word in [find_status_word(text) or find_status_word_in_sentence(text)]
        if (word and word.term) != case["means"]
    ]
    assert wrong == []
    for case in WORDS_OF_LANGUAGES:
        for text in filter(find_status_word, case["texts"]):
            spellings = text, text.replace("_", "-")
            assert {*map(read_status_text, spellings)} == {AVAILABILITY_BY_TERM[case["means"]]}


NOT_MEANT = (
    "blue moon|in_stock|open|done|passed|skipped|allowed|blocked|active_campaign|insufficient_funds"
    "|partially_shipped|high|low|growing|not|limited_edition|required|plan|new|seen|improved"
    "|not_at_all_a_word_of_any_of_this|404||the|unavailable products"
)


@pytest.mark.parametrize("word", [*NOT_MEANT.split("|"), 0, 1, True, ["available"]])
def test_any_other_word_is_unknown_and_kept_verbatim(word: object) -> None:
    assert read_status_text(word) == Availability(Status.UNKNOWN, None, repr(word))
    assert read_status_text(word, "Its words.") == Availability(Status.UNKNOWN, None, "Its words.")


def test_a_code_names_the_cause_of_an_absence_and_prose_does_not() -> None:
    assert read_status_text("unavailable", "not_connected").cause == Cause.NOT_CONNECTED
    assert read_status_text("partial", "low_sample").cause == Cause.INSUFFICIENT_SAMPLE
    assert read_status_text("unavailable", "It is not connected.") == Availability(
        Status.UNAVAILABLE, None, "It is not connected."
    )
    assert read_status_text("not_run", "not_connected").cause == Cause.NOT_RUN


# --- names of keys: without one in the vocabulary, its row fails ------------------------------

CASES = json.loads(Path(__file__).with_name("names.json").read_bytes())


def named(value: Any, name: str) -> Any:
    """A body or an expectation with a name in its place."""
    if isinstance(value, dict):
        return {named(key, name): named(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, name) for item in value]
    return value.replace("NAME", name) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for case in CASES for name in case["names"]]
)
def test_a_name_means_what_it_means(name: str, case: dict[str, Any]) -> None:
    """``names.json``: names, a response in which ``NAME`` stands for each, what it states."""
    assert statements_in(named(case["body"], name)) == named(case["expect"], name)


REASONS = "reason message detail details description note explanation why text hint cause title"
FORMS = "days limit offset page version statusCode progress eta"


@pytest.mark.parametrize("name", REASONS.split())
def test_the_words_for_a_state(name: str) -> None:
    (signal,) = detect({"availability": {"status": "partial", name: "It is so."}}).signals
    assert signal.availability.reason == "It is so."


@pytest.mark.parametrize(
    ("attribute", "names", "value"),
    [
        ("sample_size", "sampleCount sample_size samples n observations answers baseSize", 4),
        ("as_of", "asOf updatedAt lastUpdated dataThrough until measuredAt", "2026-11-20"),
    ],
)
def test_the_size_and_the_moment_of_a_statement(attribute: str, names: str, value: Any) -> None:
    for name in names.split():
        (signal,) = detect({"dataStatus": {"status": "low_sample", name: value}}).signals
        assert getattr(signal, attribute) == value
        assert signal.availability.status == Status.UNAVAILABLE


@pytest.mark.parametrize("name", FORMS.split())
def test_numbers_of_form_measure_nothing(name: str) -> None:
    (signal,) = detect({"dataStatus": "pending", name: 3}).signals
    assert signal.availability.status == Status.UNAVAILABLE
