"""Detection of availability: evidence, the protocol, scope options; it never raises."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings, strategies as st
from signal_words import options_of, statements_in

from aatoolkit import Availability, Cause, Status
from aatoolkit.availability.detect import (
    Rule,
    detect,
    explains_absence,
    is_availability_header,
)
from aatoolkit.errors import SchemaDriftWarning

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


def test_the_reference_shape_with_its_evidence() -> None:
    section, field, engine = detect(REFERENCE).signals
    assert (section.scope, section.target, section.path) == ("section", None, "$.availability")
    assert section.availability == Availability(Status.PARTIAL, None, "Two engines did not run.")
    assert (section.sample_size, section.as_of) == (812, "2026-11-20T06:10:00Z")
    assert (field.scope, field.target) == ("field", "totals.revenue")
    assert field.path == '$.availability.fields["totals.revenue"]'
    assert field.raw == '{"status": "not_connected", "reason": "Connect GA4."}'
    assert str(field.availability) == "unavailable (not connected): Connect GA4."
    assert (engine.scope, engine.target) == ("engine", "gemini")
    assert engine.availability == Availability(Status.UNAVAILABLE, Cause.NOT_RUN)
    assert {signal.rule for signal in (section, field, engine)} == {"reference"}
    assert detect({"_meta": {"dataStatus": "pending"}}).signals[0].path == "$._meta.dataStatus"


def test_long_evidence_is_cut() -> None:
    (signal,) = detect({"caveats": ["x" * 2000]}).signals
    assert signal.raw is not None
    assert len(signal.raw) == 500
    assert signal.availability.reason == "x" * 2000


def test_a_response_of_a_known_service_is_read_by_its_rule_alone() -> None:
    more = {"hasData": False, "rows": [{"noData": True}]}
    assert detect({**REFERENCE, **more}).signals == detect(REFERENCE).signals
    loose = {"availability": {"status": "partial"}, "rows": [{"noData": True}]}
    assert statements_in(loose) == {"section": "partial", "row rows[0]": "unavailable"}
    rule = Rule("theirs", at="_x", status="s", reason="note", fields="perField")
    answer = {"_x": {"s": "pending", "note": "Soon.", "perField": {"x": "error"}}, "noData": True}
    section, field = detect(answer, rule).signals
    assert str(section.availability) == "unavailable (pending): Soon."
    assert field.availability == Availability(Status.UNAVAILABLE, Cause.FAILED)
    assert statements_in({"noData": True}, rule=rule) == {"section": "unavailable"}
    assert detect(answer, rule, status=503).signals[0].rule == "transport"


@pytest.mark.parametrize(
    "answer",
    [
        {"availability": "blue_moon"},
        {"dataStatus": "blue_moon"},
        {"meta": {"availability": {"status": "blue_moon", "n": 3}}},
        {"dataState": {"gemini": "not_run", **dict.fromkeys(("gpt", "grok"), "blue_moon")}},
    ],
)
def test_an_unknown_word_of_availability_is_unknown_with_one_warning(answer: Any) -> None:
    with pytest.warns(SchemaDriftWarning, match="'blue_moon'") as caught:
        *_, signal = detect(answer).signals
    assert signal.availability == Availability(Status.UNKNOWN, None, "'blue_moon'")
    assert len(caught) == 1


@pytest.mark.parametrize(
    "answer",
    [
        *({}, [], None, 5, "available", {"availability": None}, {"availability": {}}),
        {"availability": {"fields": [], "engines": None}},
        *({"availability": 0.5}, {"availability": {"status": 200}}, {"hasData": 0}),
    ],
)
def test_without_statements_nothing_is_read(answer: object) -> None:
    assert detect(answer).signals == []


@pytest.mark.parametrize("odd", [True, "812", 8.5, None])
def test_a_sample_that_is_no_whole_number_is_not_known(odd: object) -> None:
    (signal,) = detect(
        {"availability": {"status": "available", "sampleCount": odd, "asOf": 5}}
    ).signals
    assert (signal.sample_size, signal.as_of) == (None, None)


def test_a_named_field_is_given_the_path_its_column_has() -> None:
    rows = [{"domain": "a.example", "retrievalCount": None}]
    (signal,) = detect({"missingFields": ["retrievalCount"], "domains": rows}).signals
    assert signal.target == "domains[].retrievalCount"
    twice = {"missingFields": ["revenue"], "a": {"revenue": None}, "b": {"revenue": None}}
    assert detect(twice).signals[0].target == "revenue"


def test_what_is_pending_or_thin_is_partial_beside_numbers() -> None:
    for word, cause in (("pending", Cause.PENDING), ("low_sample", Cause.INSUFFICIENT_SAMPLE)):
        for number, status in ((3, Status.PARTIAL), (None, Status.UNAVAILABLE)):
            (signal,) = detect({"dataStatus": word, "rows": [{"n": number}]}).signals
            assert signal.availability == Availability(status, cause)


# --- the protocol ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "word"),
    [
        *((202, "pending"), (204, "unavailable"), (206, "partial"), (400, "error")),
        *((402, "forbidden"), (403, "forbidden"), (404, "unavailable"), (409, "not_connected")),
        *((429, "pending"), (500, "error"), (501, "not_applicable"), (503, "pending")),
    ],
)
def test_a_status_is_a_statement_without_a_body(status: int, word: str) -> None:
    assert statements_in(None, status=status) == {"section": word}
    (signal,) = detect(None, status=status).signals
    assert (signal.path, signal.rule, signal.raw) == ("status", "transport", str(status))
    assert detect(None, status=304).signals == []


def test_the_body_of_an_error_is_more_precise_than_its_status() -> None:
    plan = {"error": {"code": "plan_required", "message": "Not on your plan."}}
    (signal,) = detect(plan, status=404).signals
    assert str(signal.availability) == "unavailable (withheld): Not on your plan."
    odd = {"code": "blue_moon", "detail": "No."}
    assert statements_in(odd, status=409) == {"section": "not_connected"}
    assert statements_in({"code": "processing"}, status=409) == {"section": "pending"}
    fine = {"availability": "available", "hasData": True}
    assert statements_in(fine, status=403) == {"section": "forbidden"}
    aside = {"detail": "plan required", "note": {"message": "GA4 is not connected elsewhere."}}
    (signal,) = detect(aside, status=403).signals
    assert str(signal.availability) == "unavailable (withheld): plan required"


def test_what_denies_a_part_of_itself_does_not_say_that_all_is_available() -> None:
    ready = {"isReady": True, "inputs": {"answers": True, "crawlLogs": True}}
    assert statements_in({"readiness": ready, "rows": [{"n": 3}]}) == {"section": "available"}
    ready["inputs"] = {"answers": True, "crawlLogs": False}
    assert "section" not in statements_in({"readiness": ready, "rows": [{"n": 3}]})


def test_a_code_about_a_source_outweighs_a_sentence_that_names_the_domain() -> None:
    error = {"status": "409", "code": "GATEWAY_NOT_CONNECTED", "detail": "It needs the domain."}
    assert explains_absence(409, {"errors": [error]})
    assert not explains_absence(409, {"errors": [{**error, "code": "DOMAIN_NOT_CONNECTED"}]})
    nested = {"error": {"code": "FAILED_PRECONDITION", "reason": {"kind": "gatewayNotConnected"}}}
    assert explains_absence(412, nested)
    plan = {"code": "MODUL_NICHT_IM_VERTRAG", "detail": "Im Vertrag BASIS nicht enthalten."}
    assert explains_absence(403, {"errors": [{"status": "403", **plan}]})


@pytest.mark.parametrize(
    ("header", "value", "word"),
    [
        ("X-Data-Availability", "not-connected", "not_connected"),
        ("x-availability", 'partial; reason="Two engines."', "partial"),
        ("X-Data-Status", "status=pending, retry=3", "pending"),
        ("X-Data-Available", "false", "unavailable"),
    ],
)
def test_a_header_is_a_statement(header: str, value: str, word: str) -> None:
    assert is_availability_header(header)
    assert statements_in({"rows": []}, headers={header: value}) == {"section": word}
    (signal,) = detect({"rows": []}, headers={header: value}).signals
    assert (signal.path, signal.rule) == (f"header {header.lower()}", "header")


@pytest.mark.parametrize("header", ["Content-Type", "Date", "ETag", "Retry-After", "X-Request-Id"])
def test_other_headers_are_no_statements(header: str) -> None:
    assert not is_availability_header(header)
    assert detect({"rows": []}, headers={header: "unavailable"}).signals == []


# --- scope options --------------------------------------------------------------------------

ENGINES = {
    "chatgpt": (True, "2026-11-20"),
    "alice": (True, None),
    "copilot": (False, "2026-11-20"),
    "grok": (None, "2026-11-20"),
}


def test_scope_options_list_engines_that_cannot_report_and_a_response_goes_before_them() -> None:
    options = options_of(ENGINES)
    signals = detect({"rows": [{"n": 1}]}, options=options).signals
    assert [(s.scope, s.target, s.availability.cause) for s in signals] == [
        ("engine", "alice", Cause.NOT_RUN),
        ("engine", "copilot", Cause.NOT_CONFIGURED),
    ]
    answer = {"engineSupport": {"alice": "not_applicable"}, "rows": [{"n": 1}]}
    assert statements_in(answer, options=options)["engine alice"] == "not_applicable"


def test_scope_options_know_engines_that_nobody_else_does() -> None:
    answer = {"coverage": {"alice": "not_run"}, "rows": [{"rank": 1}]}
    assert statements_in(answer) == {"field alice": "not_run"}
    options = options_of({"alice": (True, None)})
    assert statements_in(answer, options=options) == {"engine alice": "not_run"}


def test_where_no_engine_could_report_and_nothing_was_measured_the_whole_is_unavailable() -> None:
    state = {"state": "NEVER_RAN", "why": "configured, waiting"}
    answer = {"rows": [], "meta": {"coverage": {"perplexity": state, "quux-search": state}}}
    assert statements_in(answer)["section"] == "not_run"
    lacking = {"chatgpt": "NEVER_RAN", "gemini": "NEVER_RAN"}
    assert "section" not in statements_in({"rows": [], "engineReasons": lacking})
    assert "section" not in statements_in({"rows": [{"hits": 3}], "engineSupport": lacking})
    some = {"chatgpt": "NEVER_RAN", "gemini": "available"}
    assert "section" not in statements_in({"rows": [], "engineSupport": some})


# --- laws -----------------------------------------------------------------------------------

_NAMES = (
    "status state availability available hasData dataStatus coverage errors error "
    "warnings meta unavailable missing engines engineSupport value reason fields data "
    "result section filters notes revenue revenueReason hasRevenue tier points sources "
    "gateway success code footnotes _revenue revenue@x .: masked observed collected flag date "
    "OBS_STATUS total sampled failed _shards collectionGaps missingDays jobStatus path message "
    "dataAbsentReason columns capabilities engineCoverage dataset phase entitlements final "
)
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
        | st.dictionaries(st.sampled_from(_NAMES.split()) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=examples(400), deadline=None)
@given(JSON, st.sampled_from([200, 202, 206, 404, 503]))
def test_no_document_makes_it_fail(document: Any, status: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        read = detect(document, status=status, headers={"x-data-status": "partial"})
    assert read.failure is None
    for signal in read.signals:
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
        assert len(detect(document).signals) <= 1


BUSINESS = st.fixed_dictionaries(
    {"id": st.text(max_size=4)},
    optional={
        "status": st.sampled_from(
            ["open", "done", "pending", "failed", "blocked", "error", "partial"]
        )
        | st.integers(200, 599),
        "state": st.sampled_from(["new", "seen", "restricted", "not_applicable", "available"]),
        "availability": st.sampled_from(["in_stock", "available", "unavailable"]),
        **dict.fromkeys(("available", "supported", "connected"), st.booleans()),
        "coverage": st.floats(0, 1),
        "confidence": st.floats(0, 1) | st.sampled_from(["high", "provisional"]),
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
    assert detect({"section": "x", **lists, "filters": echoed}).signals == []


def test_a_failure_keeps_what_was_read_and_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a secret of the answer")

    whole = detect({"rows": [{"n": 1}]})
    monkeypatch.setattr("aatoolkit.availability.detect.general_rules.read_rows", broken)
    with pytest.warns(SchemaDriftWarning, match=r"KeyError in test_detect\.py") as warned:
        read = detect({"hasData": False, "rows": [{"measured": False}]})
    assert [signal.rule for signal in read.signals] == ["flag"]
    assert read.hints[0].why == read.failure
    assert "secret" not in str(warned[0].message)
    monkeypatch.setattr(whole, "_scan", None)
    (hint,) = whole.hints
    assert "a fault of aatoolkit" in hint.why
