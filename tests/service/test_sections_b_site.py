"""The sections on crawlers and visits to the site, checked by hand."""

from __future__ import annotations

import pytest

from aatoolkit.service.answer import wire
from aatoolkit.service.store import Store

from .sections_b_store import Rows, ask, at, body, rows, store


@pytest.fixture(scope="module")
def whole() -> Store:
    return store()


def test_crawl(whole: Store) -> None:
    answer = ask(whole, "crawl", 30)
    found = wire(answer.body)
    assert answer.availability.status == "partial"
    assert answer.availability.reason == "694 of 720 hours in the window have no record."
    assert answer.availability.fields["totals.bytes"].status == "partial"
    assert found["totals"] == {
        "requests": 6,
        "verifiedRequests": 4,
        "uniqueBots": 2,
        "uniquePaths": 2,
        "bytes": 35,
    }
    gpt, gemini = found["bots"]
    assert (gpt["statusCounts"], gpt["lastSeenAt"]) == (
        {"2xx": 3, "4xx": 1},
        "2026-11-20T23:00:00Z",
    )
    assert (gemini["verifiedRequests"], gemini["uniquePaths"], gemini["statusCounts"]) == (
        *(None, None),
        {},
    )
    series = found["series"]
    assert (series["bucket"], len(series["timestamps"])) == ("day", 30)
    assert series["requests"] == {
        "GPTBot": [*[None] * 28, 0, 4],
        "GeminiBot": [*[None] * 28, 2, None],
    }
    assert {path["path"]: path["citedAnswerCount"] for path in found["paths"]} == {
        "/pricing": 1,
        "/old": 0,
    }
    assert found["paths"][0]["lastCrawledAt"] == "2026-11-20T22:30:00Z"
    hours = body(whole, "crawl")["series"]
    assert (hours["bucket"], len(hours["timestamps"])) == ("hour", 168)
    assert hours["requests"]["GPTBot"][-3:] == [None, 3, 1]
    assert body(whole, "crawl", engine="gemini")["totals"]["requests"] == 2


def test_crawl_not_connected_or_not_observed_is_never_zero() -> None:
    pending = ask(store({"gateways": rows("cname_state dcv_state", ("pending", "valid"))}), "crawl")
    assert (pending.availability.status, pending.availability.requires) == (
        *("not_connected",),
        ("cname",),
    )
    assert pending.body["gateway"]["cname"]["state"] == "pending"
    assert set(pending.body["totals"].values()) == {None}
    assert pending.body["series"] == {"bucket": "hour", "timestamps": [], "requests": {}}
    logs = body(store({"gateways": None, "crawler_hours": None}), "crawl", 30)
    assert logs["gateway"]["cname"]["state"] is None
    assert logs["series"]["requests"]["GPTBot"] == [*[None] * 29, 4]
    silent = ask(store({"crawler_hits": None, "crawler_hours": None}), "crawl")
    assert silent.availability.status == "unavailable"
    assert silent.body["totals"]["requests"] is None
    quiet = ask(store({"crawler_hits": None}), "crawl")
    assert quiet.body["totals"]["requests"] == 0


def test_crawlability(whole: Store) -> None:
    found = body(whole, "crawlability", engine="chatgpt")
    assert (found["checkedAt"], found["robots"]["httpStatus"]) == ("2026-11-20T04:00:00Z", 200)
    assert found["score"] == {
        "value": 100 / 3,
        "passed": 1,
        "failed": 1,
        "warning": 1,
        "skipped": 1,
        "applicable": 3,
    }
    assert list(found["pages"][0]["assistants"]) == ["chatgpt"]
    later = ask(
        store({"site_checks": rows("checked_at", (at(20, 4),)), "page_checks": None}),
        "crawlability",
    )
    assert set(later.body["score"].values()) == {None}
    assert later.availability.fields["score"].status == "unavailable"


def test_conversions(whole: Store) -> None:
    answer = ask(whole, "conversions")
    found = wire(answer.body)
    assert found["totals"] == {
        "sessions": 6,
        "aiSessions": 3,
        "aiSessionShare": 0.5,
        "aiConversions": 1,
        "aiConversionRate": 1 / 2,
        "otherConversionRate": 1 / 3,
        "aiRevenue": 100.0,
        "aiCompleteSessions": 2,
        "otherConversions": 1,
        "otherCompleteSessions": 3,
    }
    chatgpt, gemini, aio = found["engines"]
    assert (chatgpt["users"], chatgpt["engagementRate"]) == (2, 2 / 3)
    assert chatgpt["averageSessionSeconds"] == 70.0
    assert (chatgpt["completeSessions"], chatgpt["engagedSessions"]) == (2, 2)
    assert chatgpt["ratedSessions"] == 3
    assert (gemini["sessions"], gemini["conversions"], gemini["conversionRate"]) == (0, 0, None)
    assert aio.pop("engine") == "aio"
    assert aio.pop("referrers") == []
    assert set(aio.values()) == {None}
    assert [
        (page["path"], page["sessions"], page["citedAnswerCount"]) for page in found["landingPages"]
    ] == [("/pricing", 2, 1), ("(not set)", 1, None)]
    nothing = {"sessions": 0, "conversions": 0}
    assert found["daily"] == [
        {"date": "2026-11-18", "byEngine": {"chatgpt": nothing, "gemini": nothing}},
        {
            "date": "2026-11-19",
            "byEngine": {"chatgpt": {"sessions": 2, "conversions": 1}, "gemini": nothing},
        },
        {
            "date": "2026-11-20",
            "byEngine": {
                "chatgpt": {"sessions": 1, "conversions": None},
                "gemini": {"sessions": 0, "conversions": None},
            },
        },
    ]
    assert answer.availability.status == "partial"
    assert "4 of 7 days" in str(answer.availability.reason)
    assert "complete up to 2026-11-19" in str(answer.availability.reason)
    assert answer.availability.engines["aio"].status == "not_applicable"
    assert body(whole, "conversions", engine="gemini")["totals"]["aiSessions"] == 0


def test_conversions_without_currency_or_analytics_are_not_zero() -> None:
    free = ask(store({"analytics": rows("provider", ("ga4",))}), "conversions")
    assert free.body["totals"]["aiRevenue"] is None
    assert free.body["totals"]["aiConversions"] == 2
    assert free.availability.fields["engines[].revenue"].status == "unavailable"
    changes: dict[str, Rows | None] = {"conversions": None, "analytics": rows("provider", ("ga4",))}
    unknown = ask(store(changes), "conversions")
    assert unknown.body["totals"]["aiConversions"] is None
    assert unknown.body["totals"]["aiConversionRate"] is None
    none = ask(store({"analytics": None}), "conversions")
    assert none.availability.requires == ("analytics",)
