"""What an answer looks like: envelope, combined view, scope options, errors, headers."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import pytest

from aatoolkit.service import (
    SECTIONS,
    SectionAvailability,
    SectionResponse,
    ServiceSection,
    Store,
    write_store,
)

HOST = "acme.example"
TOKEN = "a-token-of-the-tests"
ENVELOPE = ["section", "domain", "window", "filters", "generatedAt", "availability"]
NO_FILTERS = {"engine": None, "topic": None, "category": None, "brand": None}


def fail(_: Any) -> SectionResponse:
    """A section that is broken."""
    raise RuntimeError("the secret reason")


def not_a_number(_: Any) -> SectionResponse:
    """A section that gives what JSON cannot carry."""
    return SectionResponse({"rate": float("nan")}, SectionAvailability())


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_every_section_begins_with_the_envelope(api: Any, section: str) -> None:
    body = api.get(f"agent-analytics?section={section}&engine=chatgpt").json()
    assert list(body)[: len(ENVELOPE)] == ENVELOPE
    assert len(body) > len(ENVELOPE)
    assert (body["section"], body["domain"]) == (section, HOST)
    assert set(body["window"]) == {"start", "end", "days", "timezone"}
    assert set(body["filters"]) == set(NO_FILTERS)
    assert body["generatedAt"] == "2026-11-20T23:30:00Z"
    assert list(body["availability"])[:4] == ["status", "reason", "sampleCount", "asOf"]


def test_a_filter_that_does_not_apply_is_not_applied_and_stated(counting: Any) -> None:
    query = "engine=chatgpt&topic=CRM%20for%20startups&brand=Globex"
    body = counting.get(f"agent-analytics?section=engines&{query}").json()
    assert body["filters"] == {**NO_FILTERS, "engine": ["chatgpt"]}
    assert body["given"] == {"engine": ["chatgpt"]}
    assert body["answerCount"] == 10
    assert body["availability"]["status"] == "partial"
    assert body["availability"]["reason"] == (
        "Half was lost. Filters that do not apply to this section: topic, brand."
    )
    body = counting.get("agent-analytics?section=nothing&topic=CRM%20for%20startups").json()
    assert body["filters"] == NO_FILTERS
    assert body["answerCount"] == 21
    assert body["availability"]["reason"] == "Filters that do not apply to this section: topic."
    body = counting.get("agent-analytics?section=nothing").json()
    assert body["availability"]["reason"] is None


@pytest.mark.parametrize("query", ["", "days=7&engine=chatgpt&brand=Globex"])
@pytest.mark.parametrize("service", ["api", "counting"])
def test_the_combined_view_holds_each_section_once(
    request: pytest.FixtureRequest, query: str, service: str
) -> None:
    api = request.getfixturevalue(service)
    combined = api.get(f"agent-analytics?{query}").json()
    assert list(combined) == [*ENVELOPE[:-1], "sections"]
    assert combined["section"] is None
    assert list(combined["sections"]) == sorted(api.service.sections)
    for name, part in combined["sections"].items():
        alone = api.get(f"agent-analytics?section={name}&{query}").json()
        for key in ("domain", "window", "generatedAt"):
            assert alone.pop(key) == combined[key]
        assert alone.pop("section") == name
        assert part == alone


@pytest.mark.parametrize("ask", [fail, not_a_number])
@pytest.mark.parametrize("query", ["", "?section=broken"])
def test_a_section_that_fails_is_an_error_and_is_logged(
    make_api: Any, counting_sections: Any, caplog: pytest.LogCaptureFixture, ask: Any, query: str
) -> None:
    api = make_api(sections={**counting_sections, "broken": ServiceSection("broken", ask)})
    with caplog.at_level(logging.ERROR, "aatoolkit.service"):
        response = api.get(f"agent-analytics{query}")
    assert response.status_code == 500
    assert api.error_of(response)["code"] == "internal"
    assert "secret" not in response.text
    (record,) = caplog.records
    assert response.headers["X-Request-Id"] in record.getMessage()
    assert record.exc_info
    assert TOKEN not in caplog.text
    assert api.get("agent-analytics?section=counts").ok


def test_large_answers_are_compressed_for_who_takes_it(api: Any) -> None:
    taking = {"Accept-Encoding": "gzip"}
    large, small = api.get("agent-analytics", headers=taking), api.get("x", headers=taking)
    plain = api.get("agent-analytics", headers={"Accept-Encoding": "identity"})
    assert large.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in small.headers
    assert "Content-Encoding" not in plain.headers
    assert large.content == plain.content
    assert int(large.headers["Content-Length"]) < len(gzip.compress(plain.content)) * 1.5


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(api: Any, method: str) -> None:
    response = api.ask(method, f"/api/domains/{HOST}/scope-options")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
    assert api.error_of(response)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    "path", ["/", "/api", f"/api/domains/{HOST}", f"/api/domains/{HOST}/scope-options/", "/docs"]
)
def test_other_addresses_are_not_found(api: Any, path: str) -> None:
    assert api.error_of(api.ask("GET", path))["code"] == "not_found"


def test_scope_options_tell_what_may_be_requested(api: Any) -> None:
    body = api.get("scope-options").json()
    assert list(body) == ["engines", "topics", "categories", "brands", "ownTerms", "days"]
    assert body["engines"][0] == {
        "id": "chatgpt",
        "label": "ChatGPT",
        "configured": True,
        "lastRunDay": "2026-11-20",
    }
    assert body["engines"][1]["lastRunDay"] is None
    assert {"topic": None, "count": 1} in body["topics"]
    assert {"name": "R&D + Söhne", "tracked": False} in body["brands"]
    assert body["days"] == [7, 30, 90]


def test_refresh_reads_the_store_again(
    make_api: Any, tmp_path: Path, counting_sections: Any, make_tables: Any
) -> None:
    write_store(tmp_path, make_tables())
    api = make_api(store=Store.open(tmp_path), sections=counting_sections)
    before = api.get("scope-options").json()
    tables = make_tables(answers=3)
    tables["engines"]["label"] = "renamed"
    write_store(tmp_path, tables)
    assert api.get("scope-options").json() == before
    assert api.get("scope-options?refresh=1").json()["engines"][0]["label"] == "renamed"
    assert api.get("scope-options").json()["engines"][0]["label"] == "renamed"
    assert api.get("agent-analytics?section=counts").json()["answerCount"] == 3


def test_a_refresh_that_fails_leaves_what_was_served(
    make_api: Any, tmp_path: Path, counting_sections: Any, make_tables: Any
) -> None:
    write_store(tmp_path, make_tables())
    api = make_api(store=Store.open(tmp_path), sections=counting_sections)
    path = tmp_path / "engines.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    response = api.get("scope-options?refresh=1")
    assert response.status_code == 502
    assert api.error_of(response)["code"] == "scope_options_unavailable"
    assert str(tmp_path) not in response.text
    assert api.get("scope-options").ok
    assert api.get("agent-analytics?section=counts&engine=chatgpt").ok
    path.write_bytes(content)
    assert api.get("scope-options?refresh=1").ok


def test_a_store_that_cannot_be_read_is_502(
    make_api: Any, counting_sections: Any, make_tables: Any
) -> None:
    store = Store.of(make_tables())
    api = make_api(store=store, sections=counting_sections)
    store.close()
    assert api.error_of(api.get("scope-options"))["status"] == 502
    assert api.error_of(api.get("agent-analytics"))["status"] == 500
