"""Every name in the vocabulary: without it, one of these tests fails."""

from __future__ import annotations

from typing import Any

import pytest
from signal_words import statements_in

from aatoolkit import Status
from aatoolkit.availability.detect import signals_of


def names(text: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", text.split())


@names(
    "meta metadata info envelope header context extensions diagnostics provenance measurement "
    "sampling access entitlement _meta responseInfo data result results response payload body "
    "content"
)
def test_metadata_and_wrappers_are_about_the_whole(name: str) -> None:
    assert statements_in({name: {"hasData": False}, "rows": []}) == {"section": "unavailable"}


@names(
    "filters filter query request params parameters arguments scope requested config settings "
    "options schema links paging pagination window sort echo input selection appliedFilters "
    "requestedMetrics"
)
def test_what_repeats_the_question_is_no_statement(name: str) -> None:
    assert (
        statements_in({name: {"hasData": False, "availability": "unavailable"}, "rows": []}) == {}
    )


@names(
    "product products stock inventory offer offers price sku item listing page site server host "
    "uptime room booking delivery shipping balance credits seats slots budget plans order payment "
    "job task experiment campaign user subscription account robots plan billing license "
    "permissions features sitemap file files txt ssl certificate checkout"
)
def test_things_of_trade_and_work_have_states_of_their_own(name: str) -> None:
    assert statements_in({name: {"x": {"connected": False, "status": "unavailable"}}}) == {}


STOCK = (
    "in_stock|out_of_stock|inStock|OutOfStock|low_stock|limited_stock|sold_out|preorder|pre_order"
    "|backorder|back_ordered|discontinued|on_sale|in_stock_only|in_store|in_store_only|online_only"
    "|made_to_order"
)


@pytest.mark.parametrize("word", STOCK.split("|"))
def test_words_of_the_shop_are_not_even_unknown(word: str) -> None:
    assert signals_of({"availability": word, "price": 3}) == []


@names(
    "reason message detail details description note explanation why text hint cause comment title"
)
def test_the_words_for_a_state(name: str) -> None:
    (found,) = signals_of({"availability": {"status": "partial", name: "It is so."}})
    assert found.availability.reason == "It is so."


@names(
    "sampleCount sample_size sample samples n observations observationCount answers answerCount "
    "dataPoints baseSize sampleN"
)
def test_the_size_of_a_sample(name: str) -> None:
    (found,) = signals_of({"dataStatus": {"status": "low_sample", name: 4}})
    assert found.sample_size == 4
    assert found.availability.status == Status.UNAVAILABLE


@names(
    "asOf updatedAt lastUpdated lastUpdatedAt dataThrough through until measuredAt "
    "measuredThrough lastRunAt dataLastUpdatedAt completeThrough"
)
def test_the_moment_of_a_statement(name: str) -> None:
    (found,) = signals_of({"availability": {"status": "partial", name: "2026-11-20"}})
    assert found.as_of == "2026-11-20"


@names(
    "engine engines platform platforms model models assistant assistants provider providers llm "
    "llms surface surfaces"
)
def test_the_names_of_engines(name: str) -> None:
    assert statements_in({f"{name}Support": {"zz": "unsupported"}}) == {
        "engine zz": "not_applicable"
    }
    assert statements_in({"coverage": [{name: "zz", "status": "unsupported"}]}) == {
        "engine zz": "not_applicable"
    }


@names(
    "field fields metric metrics column columns measure measures kpi kpis section sections "
    "dimension dimensions feature features"
)
def test_the_names_of_fields(name: str) -> None:
    assert statements_in({f"missing_{name}": ["zz"]}) == {"field zz": "unavailable"}


@names("field metric column path name key id property section")
def test_what_a_record_is_about(name: str) -> None:
    assert statements_in({"availability": [{name: "zz", "status": "not_run"}]}) == {
        "field zz": "not_run"
    }


@names(
    "source sources integration integrations connector connectors gateway connection connections "
    "setup feed feeds pipeline tracking"
)
def test_where_data_come_from(name: str) -> None:
    answer = {name: {"x": {"state": "failed"}, "y": {"state": "connected"}}, "rows": []}
    assert statements_in(answer) == {f"field {name}.x": "error", f"field {name}.y": "available"}


@names("integrations connections connectors availableSources activeSource linkedSources")
def test_no_source_of_data(name: str) -> None:
    for value in ([], None):
        assert statements_in({name: value, "rows": []}) == {"section": "not_connected"}
        assert statements_in({name: value, "rows": [{"visits": 3}]}) == {}


@names(
    "caveat caveats limitation limitations disclaimer dataNote coverageNotes availabilityNote "
    "completenessNote measurementNote sampleNote samplingNote"
)
def test_notes_of_limits(name: str) -> None:
    for value in ("Two of five.", ["Two of five."], [{"text": "Two of five."}]):
        (found,) = signals_of({name: value, "rows": []})
        assert (found.availability.status, found.rule) == (Status.PARTIAL, "note")
        assert found.availability.reason == "Two of five."


@names("warning warnings notice notices alerts")
def test_notices(name: str) -> None:
    assert statements_in({name: ["GA4 is not connected."], "rows": []}) == {
        "section": "not_connected"
    }
    assert statements_in({name: {"code": "LOW_SAMPLE"}, "rows": []}) == {
        "section": "insufficient_sample"
    }


@names("flags messages qualityFlags")
def test_notices_that_are_read_by_code_only(name: str) -> None:
    assert statements_in({name: ["LOW_SAMPLE"], "rows": []}) == {"section": "insufficient_sample"}
    assert statements_in({name: ["GA4 is not connected."], "rows": []}) == {}


@names(
    "availability available avail unavailability completeness readiness dataStatus dataset_state "
    "measurementQuality collectionCoverage sampleLevel samplingSupport ingestionHealth status "
    "state quality coverage health level support supported freshness tier confidence reliability "
    "evidence significance basis xAvailability isAvailable areAvailable availabilityByField "
    "metaStatus coverageInfo currentStatus overallQuality reportStatus coveragePerField"
)
def test_keys_about_availability(name: str) -> None:
    assert statements_in({name: "not_connected", "rows": []}) == {"section": "not_connected"}


@names("data dataset measurement collection sample sampling ingestion")
def test_keys_about_data_in_rows(name: str) -> None:
    assert statements_in({"rows": [{f"{name}_status": "pending"}]}) == {"row rows[0]": "pending"}


@names("tier confidence quality reliability evidence significance basis")
def test_grades_in_rows(name: str) -> None:
    assert statements_in({"rows": [{name: "untested"}, {name: "high"}]}) == {
        "row rows[0]": "insufficient_sample"
    }


@names("status state level availability tier quality code grade kind result type")
def test_the_word_of_a_statement(name: str) -> None:
    assert statements_in({"availability": {name: "not_connected"}}) == {"section": "not_connected"}


@names(
    "days limit offset page version statusCode code retryAfter progress eta seconds interval "
    "minimum required threshold status retryIn waitAfter"
)
def test_numbers_of_form_measure_nothing(name: str) -> None:
    (found,) = signals_of({"dataStatus": "pending", name: 3})
    assert found.availability.status == Status.UNAVAILABLE


@names("error errors fault failure problem partialFailureError")
def test_the_names_of_errors(name: str) -> None:
    assert statements_in({name: {"message": "It broke.", "requestId": "x"}}) == {"section": "error"}
    assert statements_in({name: {"4xx": 3}, "rows": []}) == {}


@names(
    "message code detail title status type locations reason extensions field source domain name "
    "id errors details hint statusCode errorCode description links instance requestId meta path"
)
def test_the_parts_of_an_error(name: str) -> None:
    value: Any = ["x"] if name == "path" else "x"
    assert statements_in({"error": {"message": "It broke.", "code": "E1", name: value}}) == {
        "section": "error"
    }


@names("verdict count url")
def test_an_error_with_other_parts_is_business(name: str) -> None:
    assert statements_in({"errors": [{"message": "It broke.", name: "x"}], "rows": []}) == {}


@names("locked restricted suppressed limited pending queued processing missing empty stale")
def test_everyday_flags_of_an_envelope(name: str) -> None:
    assert set(statements_in({name: True, "rows": []})) == {"section"}
    assert statements_in({name: False, "rows": []}) == {}


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("data", "unavailable"),
        ("hasData", "unavailable"),
        ("hasAnyData", "unavailable"),
        ("dataAvailable", "unavailable"),
        ("available", "unavailable"),
        ("measured", "unavailable"),
        ("collected", "unavailable"),
        ("captured", "unavailable"),
        ("hasResults", "unavailable"),
        ("connected", "not_connected"),
        ("ga4Linked", "not_connected"),
        ("integrated", "not_connected"),
        ("configured", "not_connected"),
        ("installed", "not_connected"),
        ("isSetUp", "not_connected"),
        ("supported", "not_applicable"),
        ("applicable", "not_applicable"),
        ("exposed", "not_applicable"),
        ("exposesQueries", "not_applicable"),
        ("ready", "pending"),
        ("dataReady", "pending"),
        ("computed", "pending"),
        ("calculated", "pending"),
        ("processed", "pending"),
        ("complete", "partial"),
        ("hasEnoughData", "insufficient_sample"),
        ("sufficientSample", "insufficient_sample"),
        ("entitled", "forbidden"),
        ("licensed", "forbidden"),
        ("enabled", "forbidden"),
        ("permitted", "forbidden"),
        ("granted", "forbidden"),
    ],
)
def test_what_a_flag_denies(name: str, word: str) -> None:
    assert statements_in({name: False, "rows": []}) == {"section": word}


@names(
    "hasData noData dataAvailable dataMissing insufficientData lowSample insufficientSample "
    "measured underpowered calibrating tooThin withheld recalculating "
    "unmeasured notMeasured lowVolume dataUnavailable hasEnoughData"
)
def test_flags_that_rows_may_carry(name: str) -> None:
    assert "row rows[0]" in {
        **statements_in({"rows": [{name: True}]}),
        **statements_in({"rows": [{name: False}]}),
    }


@names("partial isPartial incomplete estimated provisional preliminary sampled final complete")
def test_flags_that_only_points_in_time_carry(name: str) -> None:
    for flag in (True, False):
        assert statements_in({"refunds": [{"id": "a", name: flag, "amount": 3}]}) == {}
    found = [
        statements_in({"days": [{"day": "2026-11-20", name: flag, "n": 3}]})
        for flag in (True, False)
    ]
    assert "row days[0]" in {**found[0], **found[1]}


@names("masked suppressed redacted hidden missing absent isMasked")
def test_flags_that_count_where_there_is_no_number(name: str) -> None:
    rows = [{"brand": "a", name: True, "hits": None}, {"brand": "b", name: False, "hits": 3}]
    assert [*statements_in({"rows": rows})] == ["row rows[0]"]
    assert statements_in({"rows": [{**rows[0], "hits": 4}, rows[1]]}) == {}
    assert statements_in({"rows": [rows[0], {**rows[1], "hits": None}]}) == {}


@names("collected observed captured recorded ingested reported wasCollected")
def test_flags_that_deny_a_zero(name: str) -> None:
    rows = [{"day": "1", name: False, "hits": 0}, {"day": "2", name: True, "hits": 3}]
    assert statements_in({"rows": rows}) == {
        "row rows[0]": "unavailable",
        "row rows[1]": "available",
    }
    assert statements_in({"rows": [{**rows[0], "hits": 4}, rows[1]]}) == {}


@names("observed captured recorded reported")
def test_flags_that_deny_a_zero_of_a_day_only(name: str) -> None:
    rows = [{"ad": "a", name: False, "hits": 0}, {"ad": "b", name: True, "hits": 3}]
    assert statements_in({"rows": rows}) == {}
    assert "row rows[0]" in statements_in({"rows": [{**rows[0], "hits": None}, rows[1]]})


@names(
    "available supported connected enabled complete pending active verified truncated "
    "estimated configured ready locked visible tracked found"
)
def test_flags_that_are_business_in_rows(name: str) -> None:
    assert statements_in({"rows": [{name: True, "v": None}, {name: False, "v": 3}]}) == {}
