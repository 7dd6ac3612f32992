"""The sections on sources, crawlers, visits, answers and shelves: the shape of their answers."""

from __future__ import annotations

from typing import Any

import pytest
from effort import one_in

from aatoolkit.service.store import Store

from .sections_b_store import OBSERVED, Rows, ask, body, store

SHAPES = {
    "domains": (
        "totals(citationCount uniqueDomains answerCount ownCitationShare) domains[](rank "
        "domain domainType citationCount citationShare retrievalCount citationRate "
        "answerCount retrievedAnswerShare retrievedAnswerCount reportingAnswerCount uniqueUrls "
        "brandsMentioned rankChange byEngine{}) "
        "typeBreakdown[](domainType citationCount citationShare)"
    ),
    "urls": (
        "items[](url domain title pageType domainType citationCount citationShare "
        "allCitationCount retrievalCount answerCount averageCitationPosition firstCitedOn "
        "lastCitedOn brands[](brand own mentioned) prompts[](promptId citationCount)) "
        "paging(nextCursor hasMore total)"
    ),
    "gaps": (
        "ownBrand competitors counts(missing weak shared strong unique) domainGaps[](domain "
        "domainType kind ownCitations competitorCitations{} promptCount opportunityScore "
        "engines exampleUrl) topicGaps[](topic ownMentionRate leader leaderMentionRate gap "
        "answerCount ownMentionCount leaderMentionCount)"
    ),
    "crawl": (
        "gateway(cname(state host target) dcv(state validatedAt expiresAt) firstEventAt "
        "lastEventAt) totals(requests verifiedRequests uniqueBots uniquePaths bytes) "
        "bots[](bot operator purpose requests verifiedRequests verification uniquePaths "
        "statusCounts{} lastSeenAt) series(bucket timestamps requests{}) paths[](path "
        "requests lastCrawledAt lastStatus byBot{} citedAnswerCount)"
    ),
    "crawlability": (
        "checkedAt score(value passed failed warning skipped applicable) robots(url "
        "httpStatus agents[](bot operator purpose access explicitRule rule serverStatus)) "
        "files(robotsTxt(present httpStatus bytes) llmsTxt(present httpStatus bytes) "
        "sitemapXml(present httpStatus bytes)) pages[](url httpStatus indexable "
        "requiresJavascript visibleTextRatio ttfbMs assistants{}(retrievable findable "
        "trainable) checks[](checkId group status detail))"
    ),
    "conversions": (
        "source(provider property attribution currency timezone) totals(sessions aiSessions "
        "aiSessionShare aiConversions aiConversionRate otherConversionRate aiRevenue "
        "aiCompleteSessions otherConversions otherCompleteSessions) "
        "engines[](engine referrers sessions users conversions conversionRate revenue "
        "engagementRate averageSessionSeconds completeSessions engagedSessions "
        "ratedSessions) landingPages[](path sessions conversions "
        "revenue citedAnswerCount) daily[](date byEngine{}(sessions conversions))"
    ),
    "chats": (
        "sampling(returned matched method) chats[](chatId promptId prompt engine model "
        "country ranAt outcome answer(format text characters truncated) mentions[](brand own "
        "position sentiment sentimentScore excerpt) citations[](n url domain title domainType"
        " cited) fanouts features)"
    ),
    "fanouts": (
        "totals(fanoutCount uniqueQueries answersWithFanouts fanoutsPerAnswer) "
        "queries[](query occurrences share intent byEngine{} promptIds ownOrganicRank "
        "searchVolume firstSeenOn lastSeenOn) terms engineSupport[](engine exposesFanouts)"
    ),
    "ads": (
        "totals(answersChecked answersWithAds adRate) observations[](adId engine surface unit"
        " placement position advertiser(name domain own tracked) promptId chatId observedAt "
        "cards[](headline body imageUrl targetUrl price(amount currency))) "
        "advertisers[](advertiser domain observations promptCount adShare "
        "allObservations) engineSupport{}"
    ),
    "shopping": (
        "totals(answersChecked answersWithShopping triggerRate) brands[](brand own "
        "visibilityRate winRate shareOfShelf averagePosition positionCount productCount "
        "answerCount winCount shoppingAnswerCount placementCount allPlacementCount) "
        "products[](productId title brand own category mentionCount visibilityRate answerCount "
        "shoppingAnswerCount averagePosition firstPositionRate positionCount firstPositionCount "
        "rating(value max count) priceRange(min max currency) "
        "availability offers[](merchant domain price(amount currency) availability "
        "deliveryText url position) attributes{}) merchants[](merchant domain offerCount "
        "offerShare allOfferCount averagePrice currency)"
    ),
}
KEYED = {"byEngine", "byBot", "competitorCitations", "statusCounts", "assistants", "requests"}
KEYED |= {"engineSupport", "attributes"}


def shape(value: Any, name: str = "") -> str:
    """The keys of an answer, in order; ``[]`` marks a list, ``{}`` keys that are data."""
    if isinstance(value, list):
        inner = _merged([item for item in value if isinstance(item, dict)])
        return f"[]{inner}" if inner else ""
    if not isinstance(value, dict) or not value:
        return ""
    if name in KEYED:
        return "{}" + _merged([item for item in value.values() if isinstance(item, dict)])
    return _merged([value])


def _merged(objects: Rows) -> str:
    keys = dict.fromkeys(key for item in objects for key in item)
    parts = (key + max((shape(item.get(key), key) for item in objects), key=len) for key in keys)
    return f"({' '.join(parts)})" if keys else ""


@pytest.fixture(scope="module")
def whole() -> Store:
    return store()


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_the_contract(whole: Store, name: str) -> None:
    assert shape(body(whole, name, 30)) == f"({SHAPES[name]})"


@pytest.mark.parametrize("name", one_in(3, SHAPES))
def test_answers_repeat_and_an_empty_scope_is_not_zero(whole: Store, name: str) -> None:
    assert ask(whole, name, 30) == ask(whole, name, 30)
    empty = ask(store({table: None for table in OBSERVED if table != "projects"}), name)
    assert empty.availability.status in ("unavailable", "not_connected")
    assert empty.availability.reason
    assert set(empty.body.get("totals", {}).values()) <= {None}
