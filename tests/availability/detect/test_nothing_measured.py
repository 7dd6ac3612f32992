"""Detection where nothing was measured: engines one by one, reasons as objects, flags in doubt."""

from __future__ import annotations

from signal_words import statements_in

from aatoolkit.availability.detect import explains_absence


def test_where_no_engine_could_report_and_nothing_was_measured_the_whole_is_unavailable() -> None:
    state = {"state": "NEVER_RAN", "why": "configured, waiting"}
    answer = {"rows": [], "meta": {"coverage": {"perplexity": state, "quux-search": state}}}
    assert statements_in(answer) == {
        "engine perplexity": "not_run",
        "engine quux-search": "not_run",
        "section": "not_run",
    }
    surfaces = [
        {"engine": name, "supported": False, "why": "market not served"}
        for name in ("chatgpt", "gemini")
    ]
    found = statements_in({"data": {"products": [], "surfaces": surfaces}})
    assert found["section"] == "not_applicable"


def test_what_lacks_alone_or_numbers_beside_leave_the_whole_open() -> None:
    lacking = {"chatgpt": "NEVER_RAN", "gemini": "NEVER_RAN"}
    assert "section" not in statements_in({"rows": [], "engineReasons": lacking})
    assert "section" not in statements_in({"rows": [{"hits": 3}], "engineSupport": lacking})
    some = {"chatgpt": "NEVER_RAN", "gemini": "available"}
    assert "section" not in statements_in({"rows": [], "engineSupport": some})
    assert "section" not in statements_in({"rows": [], "engineSupport": {"gemini": "NEVER_RAN"}})


def test_a_flag_is_no_proof_beside_words_that_deny() -> None:
    surfaces = [
        {"engine": "chatgpt", "supported": True, "why": "the first collection has not happened"},
        {"engine": "gemini", "supported": False, "why": "shows no product results"},
    ]
    found = statements_in({"surfaces": surfaces, "products": []})
    assert found["engine chatgpt"] == "unknown"
    assert "section" not in found
    assert statements_in({"available": True, "reason": "Search Console is not connected."}) == {
        "section": "not_connected"
    }
    assert statements_in({"available": True, "reason": "All engines ran."}) == {
        "section": "available"
    }


def test_a_reason_may_be_an_object() -> None:
    reason = {"code": "ZEBRA_PHASE", "text": "Ask your agency."}
    assert statements_in({"data": None, "reason": reason}) == {"section": "unavailable"}
    coded = {"code": "NOT_CONNECTED", "text": "Link a tag."}
    assert statements_in({"data": None, "reason": coded}) == {"section": "not_connected"}
    assert statements_in({"data": {"hits": 3}, "reason": reason}) == {}
    scheduled = {"code": "FIRST_AUDIT_SCHEDULED", "for": "2026-11-10"}
    assert statements_in({"audit": None, "auditReason": scheduled}) == {
        "field audit": "unavailable"
    }
    assert statements_in({"audit": {"pages": 3}, "auditReason": scheduled}) == {}


def test_a_code_about_a_source_outweighs_a_sentence_that_names_the_domain() -> None:
    error = {"status": "409", "code": "GATEWAY_NOT_CONNECTED", "detail": "It needs the domain."}
    assert explains_absence(409, {"errors": [error]})
    assert not explains_absence(409, {"errors": [{**error, "code": "DOMAIN_NOT_CONNECTED"}]})
    assert not explains_absence(404, {"errors": [{**error, "code": "UNKNOWN_DOMAIN"}]})


def test_an_object_of_nothing_but_a_state_of_data_is_about_the_whole() -> None:
    state = {"code": "NO_DATA", "note": "the first run is to come"}
    assert statements_in({"q": state, "totals": {"ans": 0}, "rows": []})["section"] == "unavailable"
    assert "section" not in statements_in({"q": state, "totals": {"ans": 3}, "rows": []})
    revenue = {"status": "not_connected", "reason": "No shop is linked."}
    assert "section" not in statements_in({"revenue": revenue, "rows": []})


def test_zeros_beside_engines_that_never_ran_were_not_counted() -> None:
    engines = {"chatgpt": "pending", "gemini": "pending"}
    answer = {"meta": {"coverage": {"engines": engines}}, "totals": {"hits": 0}}
    assert statements_in(answer)["section"] == "pending"
    answer["totals"] = {"hits": 5}
    assert "section" not in statements_in(answer)
