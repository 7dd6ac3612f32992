"""Detection of availability: words, places, and nothing where there is nothing."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_words import statements_in

from aatoolkit import Availability, Cause, ScopeOptions, Status
from aatoolkit.availability.detect import (
    WORDS,
    Rule,
    envelope_of,
    is_availability_header,
    read_word,
    signals_of,
)
from aatoolkit.errors import SchemaDriftWarning

VARIANTS = sorted((Path(__file__).parent / "variants").glob("*.json"))
DECOYS = json.loads((Path(__file__).parent / "decoys.json").read_bytes())
"""Synthetic answers about business of all kinds, in the words that availability uses too."""

SAMPLES = sorted((Path(__file__).parents[3] / "data" / "samples").glob("*.json"))

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


# --- the reference service, and known ones --------------------------------------------------


def test_the_reference_shape() -> None:
    section, field, engine = signals_of(REFERENCE)
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


def test_the_evidence_is_a_json_path_as_everywhere_else_with_the_raw_value() -> None:
    _, field, engine = signals_of(REFERENCE)
    assert field.path == '$.availability.fields["totals.revenue"]'
    assert engine.path == "$.availability.engines.gemini"
    assert field.raw == '{"status": "not_connected", "reason": "Connect GA4."}'
    assert signals_of({"_meta": {"dataStatus": "pending"}})[0].path == "$._meta.dataStatus"
    assert signals_of({"_meta": {"dataStatus": "pending"}})[0].raw == '"pending"'


def test_long_evidence_is_cut() -> None:
    (found,) = signals_of({"hasData": False, "availability": None, "rows": []})
    assert found.raw == "false"
    (found,) = signals_of({"caveats": ["x" * 2000]})
    assert found.raw is not None
    assert len(found.raw) == 500
    assert found.availability.reason == "x" * 2000


def test_an_answer_of_a_known_service_is_read_by_its_rule_alone() -> None:
    assert signals_of({**REFERENCE, "hasData": False, "rows": [{"noData": True}]}) == signals_of(
        REFERENCE
    )
    loose = {"availability": {"status": "partial"}, "rows": [{"noData": True}]}
    assert statements_in(loose) == {"section": "partial", "row rows[0]": "unavailable"}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_of_the_samples_the_envelope_is_read_and_nothing_else(sample: Path) -> None:
    document = json.loads(sample.read_bytes())
    found = signals_of(document)
    stated = document.get("availability")
    assert [signal.path for signal in found] == (["$.availability"] if stated else [])
    assert [signal.availability.reason for signal in found] == (
        [stated["reason"]] if stated else []
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_without_it_only_statements_of_samples_about_engines_are_read(sample: Path) -> None:
    document = json.loads(sample.read_bytes())
    document.pop("availability", None)
    assert {signal.path.split(".")[1].split("[")[0] for signal in signals_of(document)} <= {
        "engineSupport",
        "sampling",
    }


def test_a_known_service_is_one_rule_away() -> None:
    rule = Rule("theirs", at="_x", status="s", reason="note", fields="perField")
    answer = {"_x": {"s": "pending", "note": "Soon.", "perField": {"x": "error"}}, "noData": True}
    section, field = signals_of(answer, rule)
    assert section.availability == Availability(Status.UNAVAILABLE, Cause.PENDING, "Soon.")
    assert field.availability == Availability(Status.UNAVAILABLE, Cause.FAILED)
    assert {section.rule, field.rule} == {"theirs"}
    assert statements_in({"noData": True}, rule=rule) == {"section": "unavailable"}
    assert signals_of(answer, rule, status=503)[0].rule == "transport"


# --- words ----------------------------------------------------------------------------------


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
        ("truncated", Status.PARTIAL, Cause.TRUNCATED),
        ("filtered", Status.PARTIAL, Cause.FILTERED),
    ],
)
def test_every_canonical_word(word: str, status: Status, cause: Cause | None) -> None:
    assert WORDS[word] == (status, cause)
    if word != "filtered":
        assert read_word(word, "So it says.") == Availability(status, cause, "So it says.")


MEANT = {
    "available": "fully okay reported yes active configured enabled true on good present fresh "
    "measured observed live ready complete full ok Available",
    "partial": "approximate partially_available sampled estimated limited incomplete degraded "
    "stale PARTIAL partial_data data_loss_from_other_row extrapolated outdated "
    "not_complete some",
    "unavailable": "absent no false withdrawn not_available no_data missing empty none_observed "
    "not_collected untracked no-data noData not_found no_observations not_reported",
    "not_connected": "unlinked disconnected unconnected setup_required not_set_up not_installed "
    "gateway_not_connected requires_setup awaiting_connection ga4NotConnected "
    "not_linked cname_missing needs_configuration no_source missing_dns "
    "connection_required",
    "not_configured": "unconfigured NotConfigured engine_not_configured",
    "not_run": "never_ran no_runs not_started never_executed not_performed not_crawled",
    "not_applicable": "not_possible cannot_exist none_exposed not_supported unsupported n_a N/A na "
    "not_exposed inapplicable no_support",
    "pending": "generating_data data_delayed initial_sync running importing started initializing "
    "preparing generating refreshing indexing waiting collecting processing queued "
    "computing recalculating awaiting_data in_progress not_ready not_yet_available "
    "waiting_for_data warming_up backfilling first_run_pending syncing calculating "
    "scheduled delayed",
    "insufficient_sample": "insufficient_data too_thin low_sample underpowered untested "
    "not_measured "
    "calibrating low_confidence early_reading too_few_answers not_enough_data "
    "sample_too_small below_threshold below_minimum_sample unmeasured too_early "
    "low_traffic",
    "forbidden": "plan_limit_reached paywalled forbidden redacted gated disabled locked "
    "plan_required upgrade_required not_entitled not_enabled restricted "
    "permission_denied access_denied withheld suppressed requires_plan unauthorized "
    "hidden",
    "error": "errors failure fail broken crashed failed timeout fetch_failed internal_error "
    "timed_out errored",
    "truncated": "row_limit_reached capped",
    "filtered": "thresholded thresholding_applied subject_to_thresholding",
}


@pytest.mark.parametrize(
    ("meant", "word"), [(meant, word) for meant, words in MEANT.items() for word in words.split()]
)
def test_a_word_is_understood_by_the_way_it_is_built(meant: str, word: str) -> None:
    assert read_word(word) == Availability(*WORDS[meant])
    assert read_word(word.replace("_", "-")) == Availability(*WORDS[meant])


NOT_MEANT = (
    "blue moon|in_stock|open|done|passed|skipped|allowed|blocked|active_campaign|insufficient_funds"
    "|partially_shipped|high|low|growing|not|limited_edition|required|plan|new|seen|improved"
    "|not_at_all_a_word_of_any_of_this|404||the|unavailable products"
)


@pytest.mark.parametrize("word", [*NOT_MEANT.split("|"), 0, 1, True, ["available"]])
def test_any_other_word_is_unknown_and_kept_verbatim(word: object) -> None:
    assert read_word(word) == Availability(Status.UNKNOWN, None, repr(word))
    assert read_word(word, "Its words.") == Availability(Status.UNKNOWN, None, "Its words.")


def test_no_word_is_unknown_without_words() -> None:
    assert read_word(None) == read_word(None, "") == Availability()


def test_a_code_names_the_cause_of_an_absence_and_prose_does_not() -> None:
    assert read_word("unavailable", "not_connected").cause == Cause.NOT_CONNECTED
    assert read_word("partial", "low_sample").cause == Cause.INSUFFICIENT_SAMPLE
    assert read_word("unavailable", "It is not connected.") == Availability(
        Status.UNAVAILABLE, None, "It is not connected."
    )
    assert read_word("not_run", "not_connected").cause == Cause.NOT_RUN


@pytest.mark.parametrize(
    "answer",
    [
        {"availability": "blue_moon"},
        {"dataStatus": "blue_moon"},
        {"meta": {"availability": {"status": "blue_moon", "n": 3}}},
    ],
)
def test_an_unknown_word_of_availability_is_unknown_with_one_warning(answer: Any) -> None:
    with pytest.warns(SchemaDriftWarning, match="'blue_moon'") as caught:
        (found,) = signals_of(answer)
    assert found.availability == Availability(Status.UNKNOWN, None, "'blue_moon'")
    assert len(caught) == 1


# --- nothing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        None,
        5,
        "available",
        {"availability": None},
        {"availability": {}},
        {"availability": {"fields": [], "engines": None}},
        {"availability": 0.5},
        {"availability": {"status": 200}},
        {"hasData": 0},
        {"products": [{"availability": "in_stock"}]},
        {"actions": [{"status": "done"}]},
        {"checks": [{"status": "passed"}], "summary": {"brandCoverage": 41.2}},
        {"filters": {"engine": None}},
        {"bots": []},
    ],
)
def test_without_statements_nothing_is_found(answer: object) -> None:
    assert signals_of(answer) == []


@pytest.mark.parametrize("odd", [True, "812", 8.5, None])
def test_a_sample_that_is_no_whole_number_is_not_known(odd: object) -> None:
    (found,) = signals_of({"availability": {"status": "available", "sampleCount": odd, "asOf": 5}})
    assert (found.sample_size, found.as_of) == (None, None)


def test_sample_and_moment_are_read_under_other_names() -> None:
    stated = {"state": "partial", "sample_size": 6, "data_through": "2026-11-19", "why": "Late."}
    (found,) = signals_of({"data_quality": stated})
    assert (found.sample_size, found.as_of) == (6, "2026-11-19")
    assert found.availability.reason == "Late."


# --- the variants ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda path: path.stem)
def test_a_variant_reads_as_expected(variant: Path) -> None:
    case = json.loads(variant.read_bytes())
    found = statements_in(case["response"], **case["http"])
    expected = {
        each["scope"] if each["target"] == "*" else f"{each['scope']} {each['target']}": each[
            "status"
        ]
        for each in case["expected"]
        if each["status"] != "unknown"
    }
    assert {_last(name): word for name, word in found.items()} == expected


def _last(name: str) -> str:
    scope, _, target = name.partition(" ")
    return f"field {target.rsplit('.', 1)[-1]}" if scope == "field" else name


def test_there_are_all_variants() -> None:
    assert len(VARIANTS) == 240


@pytest.mark.parametrize("decoy", DECOYS)
def test_a_decoy_is_no_statement(decoy: str) -> None:
    assert statements_in(DECOYS[decoy]) == {}


def test_a_named_field_is_given_the_path_its_column_has() -> None:
    rows = [{"domain": "a.example", "retrievalCount": None}]
    (found,) = signals_of({"missingFields": ["retrievalCount"], "domains": rows})
    assert found.target == "domains[].retrievalCount"
    twice = {"missingFields": ["revenue"], "a": {"revenue": None}, "b": {"revenue": None}}
    assert signals_of(twice)[0].target == "revenue"
    assert signals_of({"missingFields": ["revenue"], "rows": []})[0].target == "revenue"


def test_what_is_pending_or_thin_is_partial_beside_numbers() -> None:
    for word, cause in (("pending", Cause.PENDING), ("low_sample", Cause.INSUFFICIENT_SAMPLE)):
        (found,) = signals_of({"dataStatus": word, "rows": [{"n": 3}]})
        assert found.availability == Availability(Status.PARTIAL, cause)
        (found,) = signals_of({"dataStatus": word, "rows": [{"n": None}]})
        assert found.availability == Availability(Status.UNAVAILABLE, cause)


# --- transport ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (202, "pending"),
        (204, "unavailable"),
        (206, "partial"),
        (400, "error"),
        (402, "forbidden"),
        (403, "forbidden"),
        (404, "unavailable"),
        (409, "not_connected"),
        (429, "pending"),
        (500, "error"),
        (501, "not_applicable"),
        (503, "pending"),
    ],
)
def test_a_status_is_a_statement_without_a_body(status: int, word: str) -> None:
    assert statements_in(None, status=status) == {"section": word}
    (found,) = signals_of(None, status=status)
    assert (found.path, found.rule, found.raw) == ("status", "transport", str(status))


def test_a_good_status_is_no_statement() -> None:
    assert signals_of({"rows": []}, status=200) == signals_of(None, status=304) == []


def test_the_body_of_an_error_is_more_precise_than_its_status() -> None:
    plan = {"error": {"code": "plan_required", "message": "Not on your plan."}}
    (found,) = signals_of(plan, status=404)
    assert found.availability == Availability(
        Status.UNAVAILABLE, Cause.WITHHELD, "Not on your plan."
    )
    assert statements_in({"code": "blue_moon", "detail": "No."}, status=409) == {
        "section": "not_connected"
    }
    assert statements_in({"code": "processing"}, status=409) == {"section": "pending"}


def test_no_statement_of_a_body_outweighs_the_transport() -> None:
    assert statements_in({"availability": "available", "hasData": True}, status=403) == {
        "section": "forbidden"
    }


@pytest.mark.parametrize(
    ("header", "value", "word"),
    [
        ("X-Data-Availability", "not-connected", "not_connected"),
        ("x-availability", 'partial; reason="Two engines."', "partial"),
        ("X-Data-Status", "status=pending, retry=3", "pending"),
        ("X-Data-Available", "false", "unavailable"),
        ("X-Partial", "true", "partial"),
        ("X-Data-Quality", '{"status": "low_sample", "n": 3}', "insufficient_sample"),
        ("Data-Completeness", "incomplete", "partial"),
    ],
)
def test_a_header_is_a_statement(header: str, value: str, word: str) -> None:
    assert is_availability_header(header)
    assert statements_in({"rows": []}, headers={header: value}) == {"section": word}
    (found,) = signals_of({"rows": []}, headers={header: value})
    assert (found.path, found.rule) == (f"header {header.lower()}", "header")


@pytest.mark.parametrize("header", ["Content-Type", "Date", "ETag", "Retry-After", "X-Request-Id"])
def test_other_headers_are_no_statements(header: str) -> None:
    assert not is_availability_header(header)
    assert signals_of({"rows": []}, headers={header: "unavailable"}) == []


# --- scope options, and what sections share -------------------------------------------------

ENGINES = [
    {"id": "chatgpt", "configured": True, "lastRunDay": "2026-11-20"},
    {"id": "alice", "configured": True, "lastRunDay": None},
    {"id": "copilot", "configured": False, "lastRunDay": None},
    {"id": "grok"},
]


def test_scope_options_list_engines_that_cannot_report() -> None:
    found = statements_in({"rows": [{"n": 1}]}, options={"engines": ENGINES})
    assert found == {"engine alice": "not_run", "engine copilot": "not_connected"}
    assert signals_of({"rows": []}, options={"engines": ENGINES})[1].availability.cause == (
        Cause.NOT_CONFIGURED
    )


def test_an_answer_goes_before_scope_options() -> None:
    answer = {"engineSupport": {"alice": "not_applicable"}, "rows": [{"n": 1}]}
    assert statements_in(answer, options={"engines": ENGINES[:2]}) == {
        "engine alice": "not_applicable"
    }


def test_scope_options_know_engines_that_nobody_else_does() -> None:
    answer = {"coverage": {"alice": "not_run"}, "rows": [{"rank": 1}]}
    assert statements_in(answer) == {"field alice": "not_run"}
    assert statements_in(answer, options={"engines": ENGINES[1:2]}) == {"engine alice": "not_run"}


def test_scope_options_are_about_engines_and_never_about_the_answer_as_a_whole() -> None:
    silent = {"engines": ENGINES[1:2]}
    for answer in ({"rows": []}, {"rows": [{"n": 0}]}, {"sessions": 14, "conversions": 0}):
        assert [signal.scope for signal in signals_of(answer, options=silent)] == ["engine"]
    assert statements_in({"hasData": True, "rows": []}, options=silent)["section"] == "available"


def test_scope_options_may_be_read_ones() -> None:
    engines = pd.DataFrame(
        {
            "engine": pd.array(["a", "b", "c"], dtype="string"),
            "configured": pd.array([True, False, None], dtype="boolean"),
            "last_run_day": pd.to_datetime(["2026-11-20", None, None]),
        }
    )
    empty = pd.DataFrame()
    options = ScopeOptions(
        "acme.example",
        engines=engines,
        topics=empty,
        categories=empty,
        brands=empty,
        own_terms=(),
        days=(30,),
    )
    found = signals_of({"rows": [{"n": 1}]}, options=options)
    assert [(each.target, each.availability.cause) for each in found] == [
        ("b", Cause.NOT_CONFIGURED),
        ("c", Cause.NOT_RUN),
    ]


def test_what_most_sections_share_is_the_envelope() -> None:
    documents = {path.stem: json.loads(path.read_bytes()) for path in SAMPLES}
    shared = envelope_of(documents)
    assert {"availability.status", "window.days", "section"} <= shared
    assert not {"totals", "rows"} & shared
    assert envelope_of({"a": {"x": 1}, "b": {"x": 1}}) == set()
    assert envelope_of({}) == envelope_of(dict.fromkeys("abc")) == set()


def test_in_the_envelope_a_word_under_any_name_is_read() -> None:
    documents = {name: {"zq": {"verdict": "not_connected"}, name: [1]} for name in "abcde"}
    assert signals_of(documents["a"]) == []
    (found,) = signals_of(documents["a"], envelope=envelope_of(documents))
    assert (found.path, found.rule) == ("$.zq.verdict", "envelope")
    assert found.availability.cause == Cause.NOT_CONNECTED
    calm = {"zq": {"verdict": "active"}, "a": [1]}
    assert signals_of(calm, envelope=envelope_of(documents)) == []


# --- laws -----------------------------------------------------------------------------------

_NAMES = (
    "status state availability available hasData dataStatus coverage errors error "
    "warnings meta unavailable missing engines engineSupport value reason fields data "
    "result section filters notes revenue revenueReason hasRevenue tier points sources "
    "gateway success code footnotes _revenue revenue@x .: masked observed collected flag date "
    "OBS_STATUS total sampled failed _shards collectionGaps missingDays jobStatus path message "
    "dataAbsentReason columns capabilities engineCoverage dataset phase entitlements final "
)
NAMES = st.sampled_from(_NAMES.split())
_TEXTS = (
    "available unavailable partial pending failed error not_connected in_stock open "
    "chatgpt insufficient_sample revenue blue_moon true x n/a : * e masked QUEUED 12/30 "
)
TEXTS = st.sampled_from(_TEXTS.split()) | st.text(max_size=6)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=examples(400), deadline=None)
@given(JSON, st.sampled_from([200, 202, 206, 404, 503]))
def test_no_document_makes_it_fail(document: Any, status: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        found = signals_of(document, status=status, headers={"x-data-status": "partial"})
    for signal in found:
        assert signal.scope in ("section", "field", "row", "engine")
        assert (signal.target is None) == (signal.scope == "section")
        assert signal.rule
        assert signal.path
        assert signal.raw is not None


@pytest.mark.parametrize("name", ["errors", "availability", "data", "meta", "rows", "missing"])
def test_no_depth_makes_it_fail(name: str) -> None:
    objects: Any = None
    arrays: Any = None
    for _ in range(3000):
        objects, arrays = {name: objects}, [arrays]
    for document in (objects, {name: arrays}, arrays):
        assert len(signals_of(document)) <= 1


BUSINESS = st.fixed_dictionaries(
    {"id": st.text(max_size=4)},
    optional={
        "status": st.sampled_from(
            ["open", "done", "pending", "failed", "blocked", "error", "unavailable", "partial"]
        )
        | st.integers(200, 599),
        "state": st.sampled_from(["new", "seen", "restricted", "not_applicable", "available"]),
        "availability": st.sampled_from(["in_stock", "out_of_stock", "available", "unavailable"]),
        "available": st.booleans(),
        "supported": st.booleans(),
        "connected": st.booleans(),
        "access": st.sampled_from(["allowed", "blocked", "unknown"]),
        "coverage": st.floats(0, 1),
        "confidence": st.floats(0, 1) | st.sampled_from(["high", "provisional", "confident"]),
        "reason": st.text(max_size=20),
        "rank": st.none() | st.integers(),
    },
)


@given(
    st.dictionaries(
        st.sampled_from(["products", "actions", "checks", "agents", "events", "rows"]),
        st.lists(BUSINESS, max_size=4),
        max_size=3,
    ),
    st.dictionaries(st.sampled_from(["engine", "status", "hasData"]), LEAVES, max_size=3),
)
@settings(deadline=None)
def test_business_records_are_no_statements(lists: dict[str, Any], echoed: dict[str, Any]) -> None:
    assert signals_of({"section": "x", **lists, "filters": echoed}) == []


@pytest.mark.parametrize(
    ("stated", "target"),
    [
        ({"fieldAvailability": {"engines[].mentionRate": {"status": "unavailable", "reason": "x"}}},
         "engines[].mentionRate"),
        ({"availability": {"$.engines[*].mentionRate": {"available": False}}},
         "$.engines[*].mentionRate"),
        ({"fieldAvailability": {"engineCount": {"status": "unavailable", "reason": "x"}}},
         "engineCount"),
        ({"availability": {"engines": {"status": "unavailable", "reason": "x"}}}, "engines"),
        ({"engineStatus": {"status": "unavailable", "reason": "x"}}, None),
    ],
)  # fmt: skip
def test_parts_of_a_statement_are_never_engines(stated: dict[str, Any], target: str | None) -> None:
    rows = [{"engine": "chatgpt", "mentionRate": 0.5}, {"engine": "gemini", "mentionRate": 0.0}]
    (signal,) = signals_of({"engines": rows, **stated})
    assert (signal.scope, signal.target) == ("section" if target is None else "field", target)
    assert signal.availability.status in ("unavailable", "partial")
