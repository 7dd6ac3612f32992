"""The sections on sources, answers, advertisements and shelves, checked by hand."""

from __future__ import annotations

import pytest

from aatoolkit.service.answer import State
from aatoolkit.service.sections import chats as chats_module
from aatoolkit.service.store import Store

from .sections_b_store import (
    ARTICLE,
    BEST,
    CRM,
    FORUM,
    HOST,
    OBSERVED,
    REVIEWS,
    TALK,
    WIKI,
    Rows,
    ask,
    at,
    body,
    nov,
    rows,
    store,
)


@pytest.fixture(scope="module")
def whole() -> Store:
    return store()


def test_domains(whole: Store) -> None:
    found = body(whole, "domains")
    assert found["totals"] == {
        "citationCount": 8,
        "uniqueDomains": 4,
        "answerCount": 4,
        "ownCitationShare": 1 / 8,
    }
    reviews, forum, own, wiki = found["domains"]
    assert reviews == {
        "rank": 1,
        "domain": REVIEWS,
        "domainType": "editorial",
        "citationCount": 4,
        "citationShare": 4 / 8,
        "retrievalCount": 5,
        "citationRate": 4 / 5,
        "answerCount": 3,
        "retrievedAnswerShare": 3 / 3,
        "retrievedAnswerCount": 3,
        "reportingAnswerCount": 3,
        "uniqueUrls": 2,
        "brandsMentioned": ["Globex"],
        "rankChange": None,
        "byEngine": {"aio": 1, "chatgpt": 3},
    }
    assert (forum["rank"], forum["rankChange"], forum["retrievalCount"]) == (2, -1, None)
    assert (own["rank"], wiki["rank"], wiki["citationRate"]) == (3, 3, 1.0)
    assert (own["citationCount"], own["retrievalCount"], own["brandsMentioned"]) == (1, None, None)
    types = {row["domainType"]: row["citationCount"] for row in found["typeBreakdown"]}
    assert types == {"editorial": 4, "ugc": 2, "owned": 1, "unclassified": 1}
    fields = ask(whole, "domains").availability.fields
    assert fields["domains[].retrievalCount"] == State(
        "partial", "Gemini shows cited sources only."
    )
    owned = body(whole, "domains", engine="chatgpt")["domains"]
    assert HOST not in [row["domain"] for row in owned]


def test_urls(whole: Store) -> None:
    found = body(whole, "urls")
    assert found["paging"] == {"nextCursor": None, "hasMore": False, "total": 5}
    first = found["items"][0]
    assert (first["url"], first["title"], first["retrievalCount"]) == (BEST, "Best", 4)
    assert (first["firstCitedOn"], first["lastCitedOn"]) == ("2026-09-01", "2026-11-20")
    assert first["averageCitationPosition"] == (1 + 3 + 1) / 3
    assert [brand["brand"] for brand in first["brands"]] == ["Globex", "Acme CRM"]
    assert first["prompts"] == [
        {"promptId": "p1", "citationCount": 2},
        {"promptId": "p3", "citationCount": 1},
    ]


@pytest.mark.parametrize(
    "filters",
    [{}, {"engine": "chatgpt"}, {"topic": "Startups"}, {"brand": "Acme CRM"}, {"engine": "aio"}],
    ids=str,
)
def test_citations_agree(whole: Store, filters: dict[str, str]) -> None:
    found = body(whole, "domains", **filters)
    count = found["totals"]["citationCount"]
    cited = [c for chat in body(whole, "chats", **filters)["chats"] for c in chat["citations"]]
    assert count > 0
    assert sum(row["citationCount"] for row in found["domains"]) == count
    assert sum(row["citationCount"] for row in found["typeBreakdown"]) == count
    assert sum(sum(row["byEngine"].values()) for row in found["domains"]) == count
    assert sum(row["citationCount"] for row in body(whole, "urls", **filters)["items"]) == count
    assert sum(source["cited"] for source in cited) == count


def test_an_engine_requested_has_its_part_of_the_whole(whole: Store) -> None:
    part = body(whole, "domains", engine="chatgpt")["domains"]
    every = body(whole, "domains")["domains"]
    assert {row["domain"]: row["citationCount"] for row in part} == {
        row["domain"]: row["byEngine"]["chatgpt"] for row in every if "chatgpt" in row["byEngine"]
    }


def test_gaps(whole: Store) -> None:
    found = body(whole, "gaps")
    assert (found["ownBrand"], found["competitors"]) == ("Acme CRM", ["Globex", "Initech"])
    assert found["counts"] == {"missing": 1, "weak": 0, "shared": 0, "strong": 2, "unique": 1}
    assert found["domainGaps"][0] == {
        "domain": WIKI,
        "domainType": None,
        "kind": "missing",
        "ownCitations": 0,
        "competitorCitations": {"Globex": 1, "Initech": 0},
        "promptCount": 1,
        "opportunityScore": 100.0,
        "engines": ["chatgpt"],
        "exampleUrl": ARTICLE,
    }
    kinds = {row["domain"]: (row["kind"], row["ownCitations"]) for row in found["domainGaps"]}
    assert kinds[REVIEWS] == ("strong", 2)
    assert kinds[HOST] == ("unique", 1)
    assert {row["domain"]: row["exampleUrl"] for row in found["domainGaps"]}[REVIEWS] == CRM
    assert [(t["topic"], t["leader"], t["gap"]) for t in found["topicGaps"]] == [
        ("Sales", "Globex", -1.0),
        ("Startups", "Acme CRM", 0.0),
    ]
    tied = body(whole, "gaps", engine="chatgpt")["topicGaps"][-1]
    assert (tied["leader"], tied["leaderMentionRate"]) == ("Acme CRM", 1.0)
    assert ask(whole, "gaps").availability.fields["topicGaps"].status == "partial"
    assert ask(whole, "gaps", brand="Globex").body["competitors"] == ["Acme CRM", "Initech"]


@pytest.mark.parametrize(
    ("own", "kind"), [(7, "weak"), (8, "shared"), (12, "shared"), (13, "strong")]
)
def test_gap_kinds_meet_a_fifth_from_the_mean(own: int, kind: str) -> None:
    answers = [("g", 10, "Globex"), ("o", own, "Acme CRM")]
    changes: dict[str, Rows | None] = {
        "brands": OBSERVED["brands"][:2],
        "answers": rows(
            "chat_id prompt_id engine ran_at outcome",
            *((chat, "p1", "chatgpt", at(20), "answered") for chat, _, _ in answers),
        ),
        "mentions": rows("chat_id brand", *((chat, brand) for chat, _, brand in answers)),
        "citations": rows(
            "chat_id n url source_domain cited",
            *((chat, n, TALK, FORUM, True) for chat, count, _ in answers for n in range(count)),
        ),
        **dict.fromkeys(("fanouts", "product_mentions", "ads", "ad_cards")),
    }
    (gap,) = body(store(changes), "gaps")["domainGaps"]
    assert (gap["kind"], gap["ownCitations"]) == (kind, own)


def test_chats(whole: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    found = body(whole, "chats")
    assert found["sampling"] == {"returned": 5, "matched": 5, "method": "most_recent"}
    empty, *_, last = found["chats"]
    assert (empty["outcome"], empty["answer"], empty["fanouts"]) == ("empty", None, [])
    assert (last["engine"], last["fanouts"]) == ("aio", None)
    monkeypatch.setattr(chats_module, "MAX_CHATS", 2)
    cut = ask(whole, "chats")
    assert [chat["chatId"] for chat in cut.body["chats"]] == ["a5", "a3"]
    assert cut.availability.status == "partial"
    assert cut.availability.reason == "Sampled answers: 2 of 5 matching answers returned."


def test_fanouts(whole: Store) -> None:
    answer = ask(whole, "fanouts")
    assert answer.body["totals"] == {
        "fanoutCount": 3,
        "uniqueQueries": 2,
        "answersWithFanouts": 2,
        "fanoutsPerAnswer": 1.5,
    }
    assert answer.body["terms"] == [
        ["crm", 3],
        ["2026", 2],
        ["best", 2],
        ["acme", 1],
        ["reviews", 1],
    ]
    best = answer.body["queries"][0]
    assert (best["share"], best["promptIds"], best["firstSeenOn"]) == (2 / 3, ["p1", "p2"], nov(19))
    assert answer.availability.reason == "AI Overviews does not expose its query expansions."
    assert answer.availability.engines["aio"].status == "not_applicable"
    hidden = ask(whole, "fanouts", engine="aio")
    assert hidden.availability.status == "not_applicable"
    assert set(hidden.body["totals"].values()) == {None}


def test_ads(whole: Store) -> None:
    found = body(whole, "ads")
    assert found["totals"] == {"answersChecked": 3, "answersWithAds": 1, "adRate": 1 / 3}
    assert found["engineSupport"] == {
        "aio": "not_applicable",
        "chatgpt": "observed",
        "gemini": "none_observed",
    }
    assert [card["price"] for card in found["observations"][0]["cards"]] == [
        {"amount": 599.0, "currency": "USD"},
        None,
    ]
    assert [row["adShare"] for row in found["advertisers"]] == [0.5, 0.5]
    assert [ad["adId"] for ad in body(whole, "ads", topic="Startups")["observations"]] == ["ad1"]
    globex = body(whole, "ads", brand="Globex")
    assert [row["adShare"] for row in globex["advertisers"]] == [0.5]
    assert globex["totals"]["answersChecked"] == 3
    none = ask(whole, "ads", engine="aio")
    assert none.availability.status == "not_applicable"
    assert set(none.body["totals"].values()) == {None}


def test_shopping(whole: Store) -> None:
    found = body(whole, "shopping")
    assert found["totals"] == {"answersChecked": 3, "answersWithShopping": 2, "triggerRate": 2 / 3}
    globex, acme = found["brands"]
    assert (globex["visibilityRate"], globex["winRate"], globex["shareOfShelf"]) == (1, 0.5, 2 / 3)
    assert (globex["averagePosition"], globex["productCount"]) == (1.5, 1)
    assert (acme["brand"], acme["own"], acme["winRate"]) == ("Acme CRM", True, 0.5)
    for row in (globex, acme):
        assert row["visibilityRate"] == row["answerCount"] / row["shoppingAnswerCount"]
        assert row["winRate"] == row["winCount"] / row["shoppingAnswerCount"]
        assert row["shareOfShelf"] == row["placementCount"] / row["allPlacementCount"]
    e7, desk = found["products"]
    assert (e7["firstPositionRate"], e7["rating"], e7["priceRange"]) == (0.5, None, None)
    assert desk["priceRange"] == {"min": 500.0, "max": 600.0, "currency": "USD"}
    assert found["merchants"][0]["offerShare"] == 0.5
    assert [(row["merchant"], row["averagePrice"]) for row in found["merchants"]] == [
        ("BigBox", 1.0),
        ("Uplift", 550.0),
    ]
    narrowed = body(whole, "shopping", brand="Acme CRM")
    assert [row["visibilityRate"] for row in narrowed["brands"]] == [0.5]
    assert [row["offerShare"] for row in narrowed["merchants"]] == [0.5, 0.25]


def test_nothing_in_scope_is_stated(whole: Store) -> None:
    for name in ("domains", "urls", "gaps", "chats", "fanouts"):
        answer = ask(whole, name, engine="gemini", topic="Sales")
        assert answer.availability.status == "unavailable", name
        assert "No answers were collected" in str(answer.availability.reason)
