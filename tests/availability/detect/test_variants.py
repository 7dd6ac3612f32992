"""Shapes nobody documented, of our own invention: each must be read, and read right.

Every case is a body, and its statements: ``section``, ``field NAME``, ``row PATH`` or ``engine ID``
with a canonical word.
"""

from __future__ import annotations

from typing import Any

import pytest
from signal_words import statements_in

ROWS = [{"name": "a", "requests": 12}]

STATEMENTS: dict[str, tuple[Any, dict[str, str]]] = {
    "a state beside rows": (
        {"dataState": "NOT_CONNECTED", "message": "Add the CNAME.", "rows": []},
        {"section": "not_connected"},
    ),
    "kebab case": ({"data-status": "setup-required", "rows": []}, {"section": "not_connected"}),
    "words with spaces": (
        {"dataStatus": "Not enough data", "rows": []},
        {"section": "insufficient_sample"},
    ),
    "an object with a flag": (
        {"dataAvailability": {"isAvailable": False, "explanation": "Nothing yet"}, "rows": []},
        {"section": "unavailable"},
    ),
    "an object with flag and code": (
        {"availability": {"available": False, "code": "GATEWAY_NOT_CONNECTED"}, "rows": []},
        {"section": "not_connected"},
    ),
    "an object with level": (
        {"completeness": {"level": "partial", "note": "2 of 5 engines"}, "rows": ROWS},
        {"section": "partial"},
    ),
    "readiness": ({"readiness": "warming_up", "rows": []}, {"section": "pending"}),
    "coverage as a word": ({"coverage": "partial", "rows": ROWS}, {"section": "partial"}),
    "under meta": (
        {"meta": {"availability": "unavailable"}, "data": {"rows": []}},
        {"section": "unavailable"},
    ),
    "under nested metadata": (
        {"responseMetadata": {"data_quality": {"status": "low_sample", "n": 4}}, "rows": []},
        {"section": "insufficient_sample"},
    ),
    "under underscored info": (
        {"_info": {"sampled": True, "samplingRate": 0.1}, "rows": ROWS},
        {"section": "partial"},
    ),
    "inside a wrapper": (
        {"result": {"hasData": False, "rows": []}, "success": True},
        {"section": "unavailable"},
    ),
    "wrapped by data": (
        {"data": {"availability": {"state": "not_configured"}, "bots": []}},
        {"section": "not_connected"},
    ),
    "no data": ({"noData": True, "rows": []}, {"section": "unavailable"}),
    "has any data": ({"has_any_data": False, "rows": []}, {"section": "unavailable"}),
    "not connected": ({"isConnected": False, "rows": []}, {"section": "not_connected"}),
    "named connection": ({"gatewayConnected": False, "rows": []}, {"section": "not_connected"}),
    "not configured": ({"configured": False, "rows": []}, {"section": "not_connected"}),
    "not supported": ({"supported": False, "rows": []}, {"section": "not_applicable"}),
    "too few": (
        {"insufficientData": True, "answers": 4, "score": None},
        {"section": "insufficient_sample"},
    ),
    "enough": (
        {"hasEnoughData": False, "rows": []},
        {"section": "insufficient_sample"},
    ),
    "a flag of truncation": ({"truncated": True, "rows": ROWS}, {"section": "partial"}),
    "is partial": ({"isPartial": True, "rows": ROWS}, {"section": "partial"}),
    "stale": ({"stale": True, "rows": ROWS}, {"section": "partial"}),
    "thresholding": (
        {"metadata": {"subjectToThresholding": True}, "rows": ROWS},
        {"section": "partial"},
    ),
    "a named empty reason": (
        {"metadata": {"emptyReason": "NO_DATA_COLLECTED"}, "rows": []},
        {"section": "unavailable"},
    ),
    "no-data reason": (
        {"noDataReason": "not_connected", "rows": []},
        {"section": "not_connected"},
    ),
    "a list of missing metrics": (
        {"missingMetrics": ["revenue"], "totals": {"revenue": None, "sessions": 3}},
        {"field totals.revenue": "unavailable"},
    ),
    "a list of unsupported engines": (
        {"unsupportedEngines": ["gemini", "acme-bot"], "queries": []},
        {"engine gemini": "not_applicable", "engine acme-bot": "not_applicable"},
    ),
    "engines in a plain list": (
        {"notConnected": ["gemini"], "queries": []},
        {"engine gemini": "not_connected"},
    ),
    "records of what is unavailable": (
        {
            "unavailableFields": [{"name": "revenue", "code": "not_connected"}],
            "engines": [{"engine": "chatgpt", "revenue": None}],
        },
        {"field engines[].revenue": "not_connected"},
    ),
    "records under availability": (
        {
            "availability": [
                {"metric": "sessions", "status": "available"},
                {"metric": "revenue", "status": "not_connected"},
            ],
            "totals": {"sessions": 4, "revenue": None},
        },
        {"field totals.sessions": "available", "field totals.revenue": "not_connected"},
    ),
    "fields by name": (
        {
            "fieldStatus": {"sessions": "ok", "revenue": "unavailable"},
            "totals": {"sessions": 4, "revenue": None},
        },
        {"field totals.sessions": "available", "field totals.revenue": "unavailable"},
    ),
    "metrics by name": (
        {
            "availability": {"byMetric": {"revenue": {"available": False}}},
            "totals": {"revenue": None},
        },
        {"field totals.revenue": "unavailable"},
    ),
    "a list inside a statement": (
        {"availability": {"status": "partial", "missing": ["revenue"]}, "rows": ROWS},
        {"section": "partial", "field revenue": "unavailable"},
    ),
    "engines of a statement": (
        {"coverage": {"engines": {"chatgpt": "full", "gemini": "none"}}, "queries": ROWS},
        {"engine chatgpt": "available", "engine gemini": "unavailable"},
    ),
    "engines by name": (
        {"dataAvailability": {"chatgpt": True, "gemini": False}, "queries": ROWS},
        {"engine chatgpt": "available", "engine gemini": "unavailable"},
    ),
    "platform coverage": (
        {"platformCoverage": {"chatgpt": "supported", "alice": "unsupported"}, "queries": ROWS},
        {"engine chatgpt": "available", "engine alice": "not_applicable"},
    ),
    "engine status rows": (
        {
            "engineStatus": [
                {"engine": "chatgpt", "status": "collected"},
                {"engine": "gemini", "status": "not_run", "reason": "Not scheduled."},
            ],
            "rows": ROWS,
        },
        {"engine chatgpt": "available", "engine gemini": "not_run"},
    ),
    "engines that expose": (
        {
            "engineSupport": [
                {"engine": "chatgpt", "exposesFanouts": True},
                {"engine": "gemini", "exposesFanouts": False},
            ],
            "queries": [],
        },
        {"engine chatgpt": "available", "engine gemini": "not_applicable"},
    ),
    "a sibling status": (
        {"totals": {"revenue": None, "revenueStatus": "not_connected", "sessions": 4}},
        {"field totals.revenue": "not_connected"},
    ),
    "a sibling in snake case": (
        {"sentiment_score": None, "sentiment_score_note": "Too few answers to tell."},
        {"field sentiment_score": "insufficient_sample"},
    ),
    "has a field": (
        {"hasRevenue": False, "revenue": None, "sessions": 3},
        {"field revenue": "unavailable"},
    ),
    "is a field available": (
        {"isRevenueAvailable": False, "revenue": 0, "sessions": 3},
        {"field revenue": "unavailable"},
    ),
    "an object of its own": (
        {"sentiment": {"status": "insufficient_sample", "brands": []}, "mentions": {"n": 3}},
        {"field sentiment": "insufficient_sample"},
    ),
    "an object with a flag and a reason": (
        {"claims": {"available": False, "reason": "Facts are missing.", "items": []}},
        {"field claims": "unavailable"},
    ),
    "a wrapper with a flag": (
        {"kpis": {"revenue": {"value": None, "available": False}, "visits": {"value": 3}}},
        {"field kpis.revenue": "unavailable"},
    ),
    "a wrapper that is pending": (
        {"kpis": {"revenue": {"value": None, "state": "pending"}, "visits": {"value": 3}}},
        {"field kpis.revenue": "pending"},
    ),
    "a connection": (
        {"integrations": {"ga4": {"status": "disconnected"}}, "totals": {"sessions": None}},
        {"field integrations.ga4": "not_connected"},
    ),
    "no integrations": (
        {"connectedSources": [], "totals": {"sessions": None}, "rows": []},
        {"section": "not_connected"},
    ),
    "rows without data": (
        {
            "trend": [
                {"day": 1, "rate": 0, "has_data": False},
                {"day": 2, "rate": 3, "has_data": True},
            ]
        },
        {"row trend[0]": "unavailable", "row trend[1]": "available"},
    ),
    "rows in rows": (
        {"brands": [{"points": [{"v": None, "noData": True}]}]},
        {"row brands[0].points[0]": "unavailable"},
    ),
    "rows at the top": (
        [{"v": 3, "dataStatus": "available"}, {"v": None, "dataStatus": "pending"}],
        {"row [0]": "available", "row [1]": "pending"},
    ),
    "rows with a partial day": (
        {"days": [{"date": "2026-11-20", "n": 3, "isPartial": True}]},
        {"row days[0]": "partial"},
    ),
    "rows with too few": (
        {"brands": [{"brand": "A", "score": None, "confidence": "insufficient_data"}]},
        {"row brands[0]": "insufficient_sample"},
    ),
    "cells": (
        {"brands": [{"score": None, "scoreReason": "not_connected"}, {"score": 3}]},
        {"row brands[0].score": "not_connected"},
    ),
    "wrapped cells": (
        {"brands": [{"score": {"value": None, "status": "low_sample"}}, {"score": {"value": 3}}]},
        {"row brands[0].score": "insufficient_sample"},
    ),
    "caveats": (
        {"caveats": ["Two engines are missing."], "rows": ROWS},
        {"section": "partial"},
    ),
    "a limitation": ({"info": {"limitations": "EU only."}, "rows": ROWS}, {"section": "partial"}),
    "a data note": (
        {"dataNote": "Captured for some models.", "rows": ROWS},
        {"section": "partial"},
    ),
    "a warning with a code": (
        {"warnings": [{"type": "INSUFFICIENT_DATA", "text": "Under 10."}], "rows": []},
        {"section": "insufficient_sample"},
    ),
    "a warning of a field": (
        {"warnings": [{"field": "revenue", "code": "NOT_CONNECTED"}], "totals": {"revenue": None}},
        {"field totals.revenue": "not_connected"},
    ),
    "a warning in prose": (
        {"warnings": ["GA4 is not connected to this project."], "rows": []},
        {"section": "not_connected"},
    ),
    "a pending answer": ({"status": "queued", "retryAfter": 5}, {"section": "pending"}),
    "its own section in a map": (
        {"section": "crawl", "availability": {"crawl": {"status": "not_connected"}}, "rows": []},
        {"section": "not_connected"},
    ),
    "an error in a good answer": (
        {"error": {"code": "plan_required", "message": "Not on your plan."}},
        {"section": "forbidden"},
    ),
    "errors beside no data": (
        {"data": None, "errors": [{"message": "Upstream timed out."}]},
        {"section": "error"},
    ),
    "no success": ({"success": False, "message": "Could not be read."}, {"section": "error"}),
    "an error by word": (
        {"status": "error", "message": "Could not be read."},
        {"section": "error"},
    ),
    "an error by http number": (
        {"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}},
        {"section": "forbidden"},
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_are_read(name: str) -> None:
    document, expected = STATEMENTS[name]
    assert statements_in(document) == expected


MORE: list[tuple[Any, dict[str, str]]] = [
    (
        {
            "null_reasons": {"totals.revenue": "not_connected"},
            "totals": {"revenue": None, "sessions": 3},
        },
        {"field totals.revenue": "not_connected"},
    ),
    (
        {
            "unavailable": {"revenue": "It was never bought."},
            "totals": {"revenue": None, "sessions": 3},
        },
        {"field totals.revenue": "unavailable"},
    ),
    ({"unavailable": {"reason": "Nothing was collected."}, "rows": []}, {"section": "unavailable"}),
    (
        {"engines": {"chatgpt": "observed", "gemini": "not_run"}, "queries": ROWS},
        {"engine chatgpt": "available", "engine gemini": "not_run"},
    ),
    (
        {"meta": {"engines": {"gemini": "not_supported"}}, "queries": ROWS},
        {"engine gemini": "not_applicable"},
    ),
    (
        {"engines": {"chatgpt": {"queries": 4}, "gemini": {"status": "not_supported"}}},
        {"engine gemini": "not_applicable"},
    ),
    (
        {
            "engines": [
                {"engine": "chatgpt", "available": True},
                {"engine": "gemini", "available": False, "reason": "not exposed"},
            ],
            "queries": ROWS,
        },
        {"engine chatgpt": "available", "engine gemini": "unavailable"},
    ),
    ({"dataFreshness": {"status": "stale"}, "rows": ROWS}, {"section": "partial"}),
    (
        {"status": {"code": "NO_DATA", "message": "Nothing."}, "rows": []},
        {"section": "unavailable"},
    ),
    (
        {"title": "Not connected", "status": 409, "code": "gateway_not_connected"},
        {"section": "not_connected"},
    ),
    ({"meta": {"isComplete": False}, "rows": ROWS}, {"section": "partial"}),
    ({"meta": {"partialData": True}, "rows": ROWS}, {"section": "partial"}),
    ({"setupRequired": True, "rows": []}, {"section": "not_connected"}),
    ({"meta": {"flags": ["LOW_SAMPLE"]}, "rows": []}, {"section": "insufficient_sample"}),
    (
        {"rows": [{"d": 1, "n": None, "reason": "not_run"}, {"d": 2, "n": 3}]},
        {"row rows[0]": "not_run"},
    ),
    (
        {"rows": [{"d": 1, "n": None, "dataAbsentReason": "not-performed"}, {"d": 2, "n": 3}]},
        {"row rows[0]": "not_run"},
    ),
    (
        {"rows": [{"d": 1, "n": None, "flags": ["insufficient_sample"]}]},
        {"row rows[0]": "insufficient_sample"},
    ),
    ({"availability": "plan_required", "rows": []}, {"section": "forbidden"}),
    (
        {"access": {"granted": False, "reason": "upgrade_required"}, "rows": []},
        {"section": "forbidden"},
    ),
    ({"locked": True, "upgradeUrl": "https://x.example", "rows": []}, {"section": "forbidden"}),
    (
        {
            "availability": {"overall": "partial", "revenue": "unavailable"},
            "totals": {"revenue": None, "n": 3},
        },
        {"section": "partial", "field totals.revenue": "unavailable"},
    ),
    (
        {"data_availability": {"crawl": False, "visits": True}},
        {"field crawl": "unavailable", "field visits": "available"},
    ),
    (
        {"isEmpty": True, "emptyReason": "gateway_not_connected", "rows": []},
        {"section": "not_connected"},
    ),
    (
        {"crawl": {"hasData": False, "reason": "No CNAME."}, "rows": ROWS},
        {"field crawl": "not_connected"},
    ),
    (
        {"totals": {"revenue": {"value": None, "unavailableReason": "not_connected"}}},
        {"field totals.revenue": "not_connected"},
    ),
    (
        {"totals": {"revenue": {"value": None, "reason": "not_connected"}}},
        {"field totals.revenue": "not_connected"},
    ),
    (
        {"totals": {"revenue": None}, "reasons": {"revenue": "not_connected"}},
        {"field totals.revenue": "not_connected"},
    ),
    ({"collectionStatus": "collecting", "rows": []}, {"section": "pending"}),
    ({"lastRun": None, "neverRun": True, "rows": []}, {"section": "not_run"}),
    ({"measurement": {"status": "not_measured"}, "rows": []}, {"section": "insufficient_sample"}),
    ({"hasData": True, "isPartial": True, "rows": ROWS}, {"section": "partial"}),
    ({"notApplicable": True, "rows": []}, {"section": "not_applicable"}),
    (
        {"notApplicable": ["sentiment"], "sentiment": None, "n": ROWS},
        {"field sentiment": "not_applicable"},
    ),
    (
        {"pendingFields": ["sentiment"], "sentiment": None, "n": ROWS},
        {"field sentiment": "pending"},
    ),
    ({"estimatedFields": ["volume"], "rows": [{"volume": 3}]}, {"field rows[].volume": "partial"}),
    ({"x-availability": "unavailable", "rows": []}, {"section": "unavailable"}),
    (
        {"availabilityStatus": "no-data", "availabilityReason": "not_connected", "rows": []},
        {"section": "not_connected"},
    ),
    (
        {
            "dataSources": {"ga4": {"connected": False}, "gsc": {"connected": True}},
            "totals": {"n": None},
        },
        {"field dataSources.ga4": "not_connected", "field dataSources.gsc": "available"},
    ),
    ({"gateway": {"connected": False}, "bots": []}, {"field gateway": "not_connected"}),
    (
        {
            "warnings": [{"code": "PARTIAL_DATA", "scope": "engine", "engine": "gemini"}],
            "rows": ROWS,
        },
        {"engine gemini": "partial"},
    ),
    (
        {"limitations": [{"engine": "gemini", "reason": "Does not expose queries."}], "rows": ROWS},
        {"section": "partial"},
    ),
    (
        {"diagnostics": {"status": "insufficient_sample", "n": 4}, "score": None},
        {"section": "insufficient_sample"},
    ),
    (
        {"quality": {"grade": "insufficient", "sampleSize": 3}, "score": None},
        {"section": "insufficient_sample"},
    ),
    ({"confidence": {"tier": "underpowered"}, "change": None}, {"section": "insufficient_sample"}),
    ({"confidence": "low_confidence", "change": 3.0}, {"section": "insufficient_sample"}),
    (
        {
            "rows": [
                {"v": None, "availability": {"status": "not_connected"}},
                {"v": 3, "availability": {"status": "available"}},
            ]
        },
        {"row rows[0]": "not_connected", "row rows[1]": "available"},
    ),
    (
        {"rows": [{"engine": "x", "v": None, "availability": "insufficient_sample"}]},
        {"row rows[0]": "insufficient_sample"},
    ),
    (
        {"sections": [{"section": "crawl", "status": "not_connected"}], "section": "crawl"},
        {"section": "not_connected"},
    ),
    (
        {"errors": [{"code": "SOURCE_NOT_CONNECTED", "message": "x"}], "rows": []},
        {"section": "not_connected"},
    ),
    (
        {"messages": [{"level": "warning", "code": "insufficient_data"}], "rows": []},
        {"section": "insufficient_sample"},
    ),
    ({"_links": {}, "_status": "partial", "rows": ROWS}, {"section": "partial"}),
    ({"provenance": {"availability": "partial"}, "rows": ROWS}, {"section": "partial"}),
    ({"sampling": {"isSampled": True, "rate": 0.2}, "rows": ROWS}, {"section": "partial"}),
    (
        {"revenue": None, "revenue_meta": {"status": "not_connected"}, "n": 3},
        {"field revenue": "not_connected"},
    ),
]


@pytest.mark.parametrize(("document", "expected"), MORE)
def test_more_statements_are_read(document: Any, expected: dict[str, str]) -> None:
    assert statements_in(document) == expected


SILENT: dict[str, Any] = {
    "stock of products": {"products": [{"availability": "unavailable", "available": False}]},
    "stock of one product": {"product": {"availability": "out_of_stock", "available": False}},
    "stock at the top": {"productId": "p", "availability": "in_stock", "price": 3},
    "stock counts": {"availability": {"in_stock": 3, "out_of_stock": 4}},
    "opening hours": {"availability": {"monday": True, "sunday": False}, "rooms": ROWS},
    "workflow": {"actions": [{"status": "pending"}, {"status": "failed"}, {"state": "partial"}]},
    "one job": {"job": {"status": "failed", "progress": 3}},
    "one experiment": {"experiment": {"state": "running", "status": "pending"}},
    "http rows": {"events": [{"status": 404}, {"status": 503}, {"statusCode": 202}]},
    "http status of a file": {"files": {"llmsTxt": {"present": False, "status": 404}}},
    "check results": {"checks": [{"status": s} for s in ("failed", "skipped", "not_applicable")]},
    "assistants of a page": {"pages": [{"assistants": {"x": {"trainable": "failed"}}}]},
    "assistants": {"assistants": {"chatgpt": {"findable": "failed", "trainable": "ok"}}},
    "bot access": {"agents": [{"access": "blocked", "status": "forbidden", "allowed": False}]},
    "robots of one bot": {"robots": {"status": "forbidden", "access": "restricted"}},
    "coverage metrics": {"coverage": 0.4, "brandCoverage": 41.2, "dataCoverage": 0.9},
    "coverage by engine": {"coverage": {"chatgpt": 0.4, "gemini": 0.0}},
    "quality scores": {"quality": {"score": 82, "rank": 3}, "confidence": 0.95},
    "confidence of insights": {"insights": [{"confidence": "provisional"}, {"tier": "high"}]},
    "an echo of the question": {"filters": {"engine": None, "status": "unavailable"}, "n": ROWS},
    "another echo": {"query": {"availability": "not_connected"}, "request": {"hasData": False}},
    "paging": {"paging": {"hasMore": False, "total": 2, "complete": False}, "rows": ROWS},
    "flags of a project": {"active": False, "verified": False, "own": True, "indexable": False},
    "missing pages": {"missing": ["/pricing", "/about"], "missingPages": ["/x"], "rows": ROWS},
    "missing brands": {"missingBrands": ["Acme"], "excludedDomains": ["a.example"], "rows": ROWS},
    "no errors": {"errors": [], "error": None, "warnings": [], "success": True, "status": "ok"},
    "errors as a metric": {"errors": 12, "errorRate": 0.1, "failed": 3, "error": {"4xx": 3}},
    "errors of a crawler": {"errors": [{"path": "/x", "message": "Not found", "status": 404}]},
    "a warning of something else": {"warnings": ["The parameter days is deprecated."]},
    "notes of people": {"notes": ["Call them."], "note": "Looks fine.", "rows": ROWS},
    "sources": {"sources": [], "topSources": [], "rows": ROWS},
    "a catalogue": {"availableEngines": ["chatgpt"], "availableFilters": ["days"]},
    "a plan": {"account": {"plan": "growth", "status": "restricted", "locked": True}},
    "sites up and down": {"uptime": {"status": "unavailable"}, "server": {"available": False}},
    "verdicts": {"claims": [{"verdict": "unverified"}, {"verdict": "insufficient_evidence"}]},
    "a rank with its trend": {"rank": 3, "rankStatus": "up", "rankNote": "Rising."},
    "a failure with its reason": {"rows": [{"status": "failed", "statusReason": "timeout"}]},
    "domains for sale": {"domains": [{"domain": "a.example", "domainAvailable": True}]},
    "a connected account": {"connected": True, "configured": True, "enabled": True, "ready": True},
    "a gateway at work": {"gateway": {"cname": {"state": "connected"}, "dcv": {"state": "valid"}}},
    "sampling as data": {"sampling": {"returned": 2, "matched": 800, "method": "most_recent"}},
    "text of answers": {"chats": [{"text": "data unavailable", "excerpt": "not connected"}]},
    "an empty answer": {"rows": [], "totals": {"n": None}},
    "a null answer": {"data": None, "availability": None, "hasData": None},
    "names of engines": {"engines": [{"engine": "chatgpt", "configured": True, "answerCount": 3}]},
    "features of a plan": {"features": {"sso": {"enabled": False}, "api": {"available": False}}},
    "a file that is not there": {"files": {"llmsTxt": {"available": False}}, "rows": ROWS},
    "a locked document": {"locked": True, "restricted": True, "rows": ROWS},
    "order states": {"order": {"status": "partially_shipped"}, "status": "partially_refunded"},
    "not enough money": {"payments": [{"status": "insufficient_funds"}]},
    "reasons of checks": {"checks": [{"id": "a", "reason": "not_applicable", "value": None}]},
    "reasons of crawling": {"events": [{"path": "/x", "reason": "unsupported", "bytes": 3}]},
    "support tickets": {"tickets": [{"supported": False, "state": "pending"}], "support": "email"},
    "a progress": {"status": "complete", "progress": 100, "rows": ROWS},
    "a status of rows present": {"status": "failed", "checks": 4, "rows": ROWS},
    "configured engines": {"engines": [{"id": "x", "configured": False, "lastRunDay": None}]},
    "messages of a chat": {"messages": [{"role": "user", "text": "Data is not available."}]},
    "a completeness score": {"completeness": 0.8, "dataQuality": {"score": 3}, "health": "good"},
    "a quality nobody knows": {"dataQuality": "low", "coverage": "national", "rows": ROWS},
    "schema": {"schema": {"availability": "not_available"}, "settings": {"enabled": False}},
}


@pytest.mark.parametrize("name", SILENT)
def test_business_is_not_read_as_availability(name: str) -> None:
    assert statements_in(SILENT[name]) == {}
