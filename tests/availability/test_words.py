"""Words of availability: each as it may be built, and each name that the vocabulary has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from signal_words import statements_in

from aatoolkit import Availability, Cause, Status
from aatoolkit.availability.detect import detect, read_word
from aatoolkit.availability.detect.words import AVAILABILITY_BY_TERM, find_word, find_word_in_text

WORDS_OF_LANGUAGES = json.loads(Path(__file__).with_name("words.json").read_bytes())


def test_words_of_each_language_are_understood_and_those_of_business_are_not() -> None:
    """``words.json``: texts, with the standard term that they mean, or null for business."""
    wrong = [
        (text, word)
        for case in WORDS_OF_LANGUAGES
        for text in case["texts"]
        for word in [find_word(text) or find_word_in_text(text)]
        if (word and word.canonical) != case["means"]
    ]
    assert wrong == []
    for case in WORDS_OF_LANGUAGES:
        for text in filter(find_word, case["texts"]):
            spellings = text, text.replace("_", "-")
            assert {*map(read_word, spellings)} == {AVAILABILITY_BY_TERM[case["means"]]}


NOT_MEANT = (
    "blue moon|in_stock|open|done|passed|skipped|allowed|blocked|active_campaign|insufficient_funds"
    "|partially_shipped|high|low|growing|not|limited_edition|required|plan|new|seen|improved"
    "|not_at_all_a_word_of_any_of_this|404||the|unavailable products"
)


@pytest.mark.parametrize("word", [*NOT_MEANT.split("|"), 0, 1, True, ["available"]])
def test_any_other_word_is_unknown_and_kept_verbatim(word: object) -> None:
    assert read_word(word) == Availability(Status.UNKNOWN, None, repr(word))
    assert read_word(word, "Its words.") == Availability(Status.UNKNOWN, None, "Its words.")


def test_a_code_names_the_cause_of_an_absence_and_prose_does_not() -> None:
    assert read_word("unavailable", "not_connected").cause == Cause.NOT_CONNECTED
    assert read_word("partial", "low_sample").cause == Cause.INSUFFICIENT_SAMPLE
    assert read_word("unavailable", "It is not connected.") == Availability(
        Status.UNAVAILABLE, None, "It is not connected."
    )
    assert read_word("not_run", "not_connected").cause == Cause.NOT_RUN


# --- names of keys: without one in the vocabulary, its row fails ------------------------------

NAME = "NAME"
ROWS = [{"visits": 3}]
NAMES: list[tuple[str, Any, dict[str, str]]] = [
    (
        "meta metadata info envelope header context extensions diagnostics provenance measurement "
        "sampling access entitlement _meta responseInfo data result results response payload body "
        "content",
        {NAME: {"hasData": False}, "rows": []},
        {"section": "unavailable"},
    ),
    (
        "filters filter query request params parameters arguments scope requested config settings "
        "options schema links paging pagination window sort echo input selection appliedFilters "
        "requestedMetrics",
        {NAME: {"hasData": False, "availability": "unavailable"}, "rows": []},
        {},
    ),
    (
        "product stock offers price sku listing page site server uptime booking delivery credits "
        "budget plans order payment job task experiment campaign user subscription account robots "
        "billing license permissions features sitemap file certificate checkout",
        {NAME: {"x": {"connected": False, "status": "unavailable"}}},
        {},
    ),
    (
        "in_stock out_of_stock inStock low_stock sold_out preorder back_ordered discontinued "
        "on_sale in_store online_only made_to_order",
        {"availability": NAME, "price": 3},
        {},
    ),
    (
        "engine engines platform platforms model models assistant assistants provider llm surface",
        {"coverage": [{NAME: "zz", "status": "unsupported"}]},
        {"engine zz": "not_applicable"},
    ),
    (
        "field fields metric metrics column columns measure measures kpi kpis section sections "
        "dimension dimensions feature features",
        {"missing_NAME": ["zz"]},
        {"field zz": "unavailable"},
    ),
    (
        "caveat caveats limitation limitations disclaimer dataNote coverageNotes availabilityNote",
        {NAME: "Two of five.", "rows": []},
        {"section": "partial"},
    ),
    (
        "warning warnings notice notices alerts",
        {NAME: ["GA4 is not connected."], "rows": []},
        {"section": "not_connected"},
    ),
    (
        "flags messages qualityFlags warnings",
        {NAME: ["LOW_SAMPLE"], "rows": []},
        {"section": "insufficient_sample"},
    ),
    ("flags messages qualityFlags", {NAME: ["GA4 is not connected."], "rows": []}, {}),
    (
        "availability available avail unavailability completeness readiness dataStatus "
        "dataset_state measurementQuality collectionCoverage sampleLevel ingestionHealth status "
        "state quality coverage health level support freshness tier confidence reliability "
        "evidence basis xAvailability isAvailable availabilityByField metaStatus overallQuality",
        {NAME: "not_connected", "rows": []},
        {"section": "not_connected"},
    ),
    (
        "status state level availability tier quality code grade kind result type",
        {"availability": {NAME: "not_connected"}},
        {"section": "not_connected"},
    ),
    (
        "error errors fault failure problem partialFailureError",
        {NAME: {"message": "It broke.", "requestId": "x"}},
        {"section": "error"},
    ),
    ("error errors fault failure problem", {NAME: {"4xx": 3}, "rows": []}, {}),
    (
        "status type reason source domain name details hint statusCode link requestId",
        {"error": {"message": "It broke.", "code": "E1", NAME: "x"}},
        {"section": "error"},
    ),
    (
        "noData dataMissing insufficientData lowSample underpowered tooThin withheld unmeasured",
        {"rows": [{NAME: False}, {"x": 1}]},
        {},
    ),
    (
        "masked suppressed redacted hidden missing absent isMasked",
        {"rows": [{NAME: True, "hits": 4}, {NAME: False, "hits": 3}]},
        {},
    ),
    (
        "available supported connected enabled complete pending active verified truncated "
        "estimated configured ready locked visible tracked found",
        {"rows": [{NAME: True, "v": None}, {NAME: False, "v": 3}]},
        {},
    ),
    *(
        (names, {NAME: False, "rows": []}, {"section": word})
        for word, names in {
            "unavailable": "data hasAnyData dataAvailable measured collected captured hasResults",
            "not_connected": "connected ga4Linked integrated configured installed isSetUp",
            "not_applicable": "supported applicable exposed exposesQueries",
            "pending": "ready dataReady computed calculated processed",
            "partial": "complete",
            "insufficient_sample": "hasEnoughData sufficientSample",
            "forbidden": "entitled licensed enabled permitted granted",
        }.items()
    ),
    *(
        (names, {"rows": [{NAME: flag, "v": None}]}, {"row rows[0]": word})
        for word, flag, names in [
            ("unavailable", False, "hasData dataAvailable measured"),
            ("unavailable", True, "noData dataMissing dataUnavailable"),
            ("insufficient_sample", True, "lowSample underpowered tooThin unmeasured lowVolume"),
            ("forbidden", True, "withheld"),
        ]
    ),
    *(
        (names, {"days": [{"day": "2026-11-20", NAME: flag, "n": 3}]}, {"row days[0]": "partial"})
        for flag, names in [
            (True, "partial isPartial incomplete estimated provisional preliminary sampled"),
            (False, "final complete"),
        ]
    ),
]


def named(value: Any, name: str) -> Any:
    """A body or an expectation with a name in its place."""
    if isinstance(value, dict):
        return {named(key, name): named(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, name) for item in value]
    return value.replace(NAME, name) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "body", "expected"), [(n, b, e) for names, b, e in NAMES for n in names.split()]
)
def test_a_name_means_what_it_means(name: str, body: Any, expected: dict[str, str]) -> None:
    assert statements_in(named(body, name)) == named(expected, name)


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
