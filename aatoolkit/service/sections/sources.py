"""Sections on sources: what answers cite, the search queries behind answers, and gaps.

**Domains.** How often engines (AI assistants) cite and retrieve each domain, and what kind of site
it is.

**Urls.** How often engines cite each page, for which prompts, and which brands the page mentions.

**Gaps.** The domains and topics where answers name competitors rather than the own brand.

The own brand is the brand of the brand filter; by default, the project's. Several own brands count
as one. The competitors are the other tracked brands.

On each domain, citations are counted per brand: a citation counts for every brand that the answer
mentions. The gap on the domain is of one of these kinds:

======== ======================================================================
missing  the own brand has no citations, a competitor has at least one
unique   the own brand has citations, no competitor has any
shared   the own brand's count is within a fifth of the mean of the competitors
weak     the own brand's count is lower than that
strong   the own brand's count is higher than that
======== ======================================================================

The lead of the competitors on a domain is the mean of their counts minus the count of the own
brand. The opportunity score is this lead as a percentage of the largest lead; it is 0 if the
competitors do not lead.

**Fanouts.** The search queries that engines send before they answer a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aatoolkit.service.answer import (
    SectionAvailability,
    SectionResponse,
    State,
    explain_no_rows,
    find_answers_availability,
    register_section,
)
from aatoolkit.service.measures import NO_OWN_BRAND_REASON, explain_no_own_citations
from aatoolkit.service.observations import JsonObject, Observations

_RETRIEVAL_IS_KNOWN_SQL = "bool_and(exposes_retrieval IS NOT FALSE)"
"""SQL aggregate: whether no engine of a group is known to hide the sources that it retrieves."""


def _find_availability(observations: Observations, *json_paths: str) -> SectionAvailability:
    """Return the availability of a section (kind of response) about cited sources.

    ``json_paths`` are the JSON paths of numbers about retrieved sources, which some engines (AI
    assistants) hide.
    """
    if reason := explain_no_rows(observations, "citations"):
        return SectionAvailability("unavailable", reason)
    hiding_engines = observations.fetch_column(
        "SELECT coalesce(label, engine) FROM scoped_engines"
        " WHERE exposes_retrieval IS FALSE AND engine IN (SELECT engine FROM named_answers)"
        " ORDER BY 1"
    )
    state_by_path = {}
    if hiding_engines:
        reason = " ".join(f"{label} shows cited sources only." for label in hiding_engines)
        is_hidden_by_all = not observations.fetch_value(
            "SELECT count(*) > 0 FROM named_answers LEFT JOIN scoped_engines USING (host, engine)"
            " WHERE exposes_retrieval IS NOT FALSE"
        )
        retrieval_state = State("not_applicable" if is_hidden_by_all else "partial", reason)
        state_by_path = dict.fromkeys(json_paths, retrieval_state)
    answer_count = observations.fetch_value("SELECT count(*) FROM named_answers")
    return find_answers_availability(
        observations, sample_count=answer_count, state_by_path=state_by_path
    )


# --- domains -----------------------------------------------------------------------------------

_CITATION_TOTALS_SQL = """
SELECT count(*) FILTER (cited) AS "citationCount",
  count(DISTINCT source_domain) FILTER (cited) AS "uniqueDomains",
  (SELECT count(*) FROM named_answers) AS "answerCount",
  CASE WHEN $own_known THEN
    count(*) FILTER (cited AND source_domain IN (SELECT source_domain FROM own_domains))
    / nullif(count(*) FILTER (cited), 0)
  END AS "ownCitationShare"
FROM seen_sources
"""

# Domains with equal counts share a rank; a change is of places, upwards positive.
_DOMAINS_SQL = f"""
WITH totals AS (
  SELECT (SELECT count(*) FROM seen_sources WHERE cited) AS citations,
    count(*) FILTER (exposes_retrieval IS NOT FALSE) AS exposed_answers
  FROM named_answers LEFT JOIN scoped_engines USING (host, engine)
),
counted AS (
  SELECT source_domain, any_value(domain_type) AS domain_type,
    count(*) FILTER (cited) AS citations,
    count(DISTINCT chat_id) FILTER (cited) AS answers,
    count(DISTINCT url) FILTER (cited) AS urls,
    CASE WHEN {_RETRIEVAL_IS_KNOWN_SQL} THEN count(*) END AS retrievals,
    CASE WHEN {_RETRIEVAL_IS_KNOWN_SQL} THEN count(DISTINCT chat_id) END AS retrieved_answers
  FROM seen_sources GROUP BY source_domain HAVING count(*) FILTER (cited) > 0
),
engines AS (
  SELECT source_domain, map_from_entries(list((engine, n) ORDER BY engine)) AS by_engine
  FROM (SELECT source_domain, engine, count(*) AS n FROM seen_sources WHERE cited GROUP BY ALL)
  GROUP BY source_domain
),
pages AS (SELECT DISTINCT host, source_domain, url FROM seen_sources),
brands AS (
  SELECT source_domain,
    coalesce(list(brand ORDER BY n DESC, brand) FILTER (n > 0), []) AS mentioned
  FROM (
    SELECT source_domain, brand, count(*) FILTER (mentioned) AS n
    FROM pages JOIN store.source_page_brands USING (host, url) GROUP BY ALL
  )
  GROUP BY source_domain
),
before AS (
  SELECT source_domain, rank() OVER (ORDER BY count(*) DESC) AS place
  FROM previous_citations
  WHERE cited AND $comparable AND (len($brand) = 0 OR chat_id IN (
    SELECT chat_id FROM previous_mentions WHERE list_contains($brand, brand)))
  GROUP BY source_domain
),
ranked AS (SELECT *, rank() OVER (ORDER BY citations DESC) AS place FROM counted)
SELECT ranked.place AS rank, source_domain AS domain, domain_type AS "domainType",
  ranked.citations AS "citationCount",
  ranked.citations / totals.citations AS "citationShare",
  retrievals AS "retrievalCount",
  ranked.citations / retrievals AS "citationRate",
  answers AS "answerCount",
  retrieved_answers / exposed_answers AS "retrievedAnswerShare",
  retrieved_answers AS "retrievedAnswerCount", exposed_answers AS "reportingAnswerCount",
  urls AS "uniqueUrls", mentioned AS "brandsMentioned",
  before.place - ranked.place AS "rankChange", by_engine AS "byEngine"
FROM ranked CROSS JOIN totals
LEFT JOIN engines USING (source_domain)
LEFT JOIN brands USING (source_domain)
LEFT JOIN before USING (source_domain)
ORDER BY ranked.place, source_domain
"""

# A breakdown needs a label for every part, so sources of no known type get one of their own.
_DOMAIN_TYPES_SQL = """
SELECT coalesce(domain_type, 'unclassified') AS "domainType", count(*) AS "citationCount",
  count(*) / sum(count(*)) OVER () AS "citationShare"
FROM seen_sources WHERE cited GROUP BY 1 ORDER BY 2 DESC, 1
"""


@register_section("domains")
def domains(observations: Observations) -> SectionResponse:
    """Return the section ``domains``: the domains that answers cite, by rank.

    Numbers of retrievals are null if an engine (AI assistant) that cites the domain hides its
    retrievals.
    """
    availability = _find_availability(
        observations,
        "domains[].retrievalCount",
        "domains[].citationRate",
        "domains[].retrievedAnswerShare",
        "domains[].retrievedAnswerCount",
    )
    if availability.status == "unavailable":
        total_columns = ("citationCount", "uniqueDomains", "answerCount", "ownCitationShare")
        return SectionResponse(
            {"totals": dict.fromkeys(total_columns), "domains": [], "typeBreakdown": []},
            availability,
        )
    body = {
        "totals": observations.fetch_row(
            _CITATION_TOTALS_SQL, own_known=explain_no_own_citations(observations) is None
        ),
        "domains": observations.fetch_rows(
            _DOMAINS_SQL, comparable=observations.has_previous_window
        ),
        "typeBreakdown": observations.fetch_rows(_DOMAIN_TYPES_SQL),
    }
    return SectionResponse(body, availability)


# --- urls --------------------------------------------------------------------------------------

# First and last days are facts of the page, so they look beyond the filters and the
# window's start; titles differ between engines, so the latest one is given.
_CITED_PAGES_SQL = f"""
WITH counted AS (
  SELECT host, url, min(source_domain) AS source_domain, any_value(domain_type) AS domain_type,
    last(title ORDER BY day, chat_id, n) FILTER (title IS NOT NULL) AS title,
    count(*) FILTER (cited) AS citations,
    count(DISTINCT chat_id) FILTER (cited) AS answers,
    avg(n) FILTER (cited) AS position,
    CASE WHEN {_RETRIEVAL_IS_KNOWN_SQL} THEN count(*) END AS retrievals
  FROM seen_sources GROUP BY host, url HAVING count(*) FILTER (cited) > 0
),
brands AS (
  SELECT url, list(
    {{'brand': brand, 'own': own, 'mentioned': mentioned}} ORDER BY mentioned DESC, brand
  ) AS brands
  FROM store.source_page_brands LEFT JOIN store.brands USING (host, brand)
  WHERE host = $host GROUP BY url
),
prompts AS (
  SELECT url, list({{'promptId': prompt_id, 'citationCount': n}} ORDER BY n DESC, prompt_id)
    AS prompts
  FROM (SELECT url, prompt_id, count(*) AS n FROM seen_sources WHERE cited GROUP BY ALL)
  GROUP BY url
)
SELECT url, source_domain AS domain, title, page_type AS "pageType",
  domain_type AS "domainType", citations AS "citationCount",
  citations / sum(citations) OVER () AS "citationShare",
  CAST(sum(citations) OVER () AS BIGINT) AS "allCitationCount",
  retrievals AS "retrievalCount", answers AS "answerCount",
  position AS "averageCitationPosition",
  first_day AS "firstCitedOn", last_day AS "lastCitedOn",
  coalesce(brands, []) AS brands, prompts
FROM counted
LEFT JOIN store.source_pages USING (host, url)
LEFT JOIN cited_pages USING (url)
LEFT JOIN brands USING (url)
LEFT JOIN prompts USING (url)
ORDER BY citations DESC, url
"""


@register_section("urls")
def urls(observations: Observations) -> SectionResponse:
    """Return the section ``urls``: all web pages that answers cite, with their citation counts."""
    availability = _find_availability(observations, "items[].retrievalCount")
    page_rows = observations.fetch_rows(_CITED_PAGES_SQL)
    item_count = None if availability.status == "unavailable" else len(page_rows)
    paging_object = {"nextCursor": None, "hasMore": False, "total": item_count}
    return SectionResponse({"items": page_rows, "paging": paging_object}, availability)


# --- gaps --------------------------------------------------------------------------------------

GAP_KINDS = ("missing", "weak", "shared", "strong", "unique")
SHARED_GAP_TOLERANCE = 0.2
"""The relative difference from the competitors' mean up to which counts are ``shared``."""

_COMPETITORS_SQL = """
competitors AS (
  SELECT brand FROM store.brands
  WHERE host = $host AND tracked AND brand NOT IN (SELECT brand FROM focus)
),
named AS (
  SELECT DISTINCT chat_id, $own AS brand, TRUE AS own
  FROM mentions WHERE brand IN (SELECT brand FROM focus)
  UNION ALL
  SELECT chat_id, brand, FALSE FROM mentions WHERE brand IN (SELECT brand FROM competitors)
)
"""

# Every answer is searched for every tracked brand, so a brand not found counts as 0.
_GAP_DOMAINS_SQL = f"""
WITH {_COMPETITORS_SQL},
cited AS (SELECT * FROM citations WHERE cited),
sources AS (
  SELECT source_domain, count(DISTINCT prompt_id) AS prompts,
    list(DISTINCT engine ORDER BY engine) AS engines
  FROM cited GROUP BY source_domain
),
counted AS (
  SELECT source_domain, brand, own, count(*) AS n
  FROM cited JOIN named USING (chat_id) GROUP BY ALL
),
compared AS (
  SELECT source_domain, avg(coalesce(n, 0)) AS mean,
    map_from_entries(list((brand, coalesce(n, 0)) ORDER BY brand)) AS by_competitor
  FROM (SELECT DISTINCT source_domain FROM counted) CROSS JOIN competitors
  LEFT JOIN counted USING (source_domain, brand)
  GROUP BY source_domain
),
leads AS (
  SELECT compared.*, coalesce(n, 0) AS own, greatest(mean - coalesce(n, 0), 0) AS lead
  FROM compared LEFT JOIN (SELECT source_domain, n FROM counted WHERE own) USING (source_domain)
),
examples AS (
  SELECT source_domain, first(url ORDER BY n DESC, url) AS url
  FROM (
    SELECT source_domain, url, count(*) AS n FROM cited
    WHERE chat_id IN (SELECT chat_id FROM named WHERE NOT own)
      AND chat_id NOT IN (SELECT chat_id FROM named WHERE own)
    GROUP BY ALL
  )
  GROUP BY source_domain
)
SELECT source_domain AS domain, domain_type AS "domainType",
  CASE WHEN own = 0 THEN 'missing' WHEN mean = 0 THEN 'unique'
       WHEN own < mean * (1 - $tolerance) THEN 'weak'
       WHEN own > mean * (1 + $tolerance) THEN 'strong' ELSE 'shared' END AS kind,
  own AS "ownCitations", by_competitor AS "competitorCitations", prompts AS "promptCount",
  CASE WHEN lead = 0 THEN 0.0 ELSE 100 * lead / max(lead) OVER () END AS "opportunityScore",
  engines, examples.url AS "exampleUrl"
FROM leads
JOIN sources USING (source_domain)
LEFT JOIN examples USING (source_domain)
LEFT JOIN store.source_domains AS kinds
  ON kinds.host = $host AND kinds.source_domain = leads.source_domain
ORDER BY "opportunityScore" DESC, domain
"""

# A topic in which nobody is mentioned has no leader; equal rates leave the own brand ahead.
_GAP_TOPICS_SQL = f"""
WITH {_COMPETITORS_SQL},
topics AS (SELECT topic, count(*) AS answers FROM answers WHERE topic IS NOT NULL GROUP BY topic),
contenders AS (SELECT $own AS brand, TRUE AS own UNION ALL SELECT brand, FALSE FROM competitors),
counted AS (
  SELECT topic, brand, count(*) AS n
  FROM named JOIN answers USING (chat_id) GROUP BY topic, brand
),
rated AS (
  SELECT topic, brand, own, answers, coalesce(n, 0) AS n,
    coalesce(n, 0) / answers AS rate
  FROM topics CROSS JOIN contenders LEFT JOIN counted USING (topic, brand)
)
SELECT topic, max(rate) FILTER (own) AS "ownMentionRate",
  CASE WHEN max(rate) > 0 THEN first(brand ORDER BY rate DESC, own DESC, brand) END AS leader,
  max(rate) AS "leaderMentionRate", max(rate) FILTER (own) - max(rate) AS gap,
  any_value(answers) AS "answerCount", max(n) FILTER (own) AS "ownMentionCount",
  max(n) AS "leaderMentionCount"
FROM rated GROUP BY topic ORDER BY gap, topic
"""


@register_section("gaps")
def gaps(observations: Observations) -> SectionResponse:
    """Return the section ``gaps``, which compares a brand with its competitors.

    It has the number of citations of each domain in answers that mention the brand or a competitor,
    and the mention rates of these brands by topic. The brand is the one in the brand filter;
    without such a filter, it is the project's own brand.
    """
    own_brands = observations.fetch_column(
        "SELECT brand FROM focus ORDER BY own IS TRUE DESC, brand"
    )
    competitors = observations.fetch_column(
        "SELECT brand FROM store.brands WHERE host = $host AND tracked"
        " AND brand NOT IN (SELECT brand FROM focus) ORDER BY brand"
    )
    body = {
        "ownBrand": ", ".join(own_brands) or None,
        "competitors": competitors,
        "counts": dict.fromkeys(GAP_KINDS),
        "domainGaps": [],
        "topicGaps": [],
    }
    reason = explain_no_rows(observations, "citations", "mentions")
    if not own_brands:
        reason = reason or NO_OWN_BRAND_REASON
    if not competitors:
        reason = reason or "No competitor is tracked."
    if reason:
        return SectionResponse(body, SectionAvailability("unavailable", reason))
    topic_count_row = observations.fetch_row(
        "SELECT count(*) FILTER (topic IS NULL) AS n, count(*) AS answers FROM answers"
    )
    reason_sentence = (
        f"Answers to prompts without a topic, {topic_count_row['n']} of "
        f"{topic_count_row['answers']}, are in none of the topics."
    )
    availability = find_answers_availability(
        observations,
        state_by_path={"topicGaps": State("partial", reason_sentence)}
        if topic_count_row["n"]
        else {},
    )
    if availability.status == "unavailable":
        return SectionResponse(body, availability)
    domain_gaps = observations.fetch_rows(
        _GAP_DOMAINS_SQL, own=body["ownBrand"], tolerance=SHARED_GAP_TOLERANCE
    )
    body["counts"] = {
        gap_kind: sum(row["kind"] == gap_kind for row in domain_gaps) for gap_kind in GAP_KINDS
    }
    body["domainGaps"] = domain_gaps
    body["topicGaps"] = observations.fetch_rows(_GAP_TOPICS_SQL, own=body["ownBrand"])
    return SectionResponse(body, availability)


# --- fanouts -----------------------------------------------------------------------------------

MAX_QUERY_TERMS = 50
"""The number of words to list, the most frequent first."""

_FANOUT_TOTALS_SQL = """
SELECT count(*) AS "fanoutCount", count(DISTINCT query) AS "uniqueQueries",
  count(DISTINCT chat_id) AS "answersWithFanouts",
  count(*) / nullif(count(DISTINCT chat_id), 0) AS "fanoutsPerAnswer"
FROM named_fanouts
"""

_FANOUT_QUERIES_SQL = """
WITH engines AS (
  SELECT query, map_from_entries(list((engine, n) ORDER BY engine)) AS by_engine
  FROM (SELECT query, engine, count(*) AS n FROM named_fanouts GROUP BY ALL) GROUP BY query
),
counted AS (
  SELECT query, count(*) AS n, list(DISTINCT prompt_id ORDER BY prompt_id) AS prompt_ids,
    min(day) AS first_day, max(day) AS last_day
  FROM named_fanouts GROUP BY query
)
SELECT query, n AS occurrences, n / sum(n) OVER () AS share, intent,
  by_engine AS "byEngine", prompt_ids AS "promptIds",
  own_organic_rank AS "ownOrganicRank", search_volume AS "searchVolume",
  first_day AS "firstSeenOn", last_day AS "lastSeenOn"
FROM counted JOIN engines USING (query)
LEFT JOIN (SELECT * FROM store.queries WHERE host = $host) USING (query)
ORDER BY n DESC, query
"""

# Words of one or two characters say little of what is searched for.
_QUERY_TERMS_SQL = r"""
WITH words AS (
  SELECT unnest(regexp_extract_all(lower(query), '[\p{L}\p{N}]+')) AS term, n
  FROM (SELECT query, count(*) AS n FROM named_fanouts GROUP BY query)
)
SELECT term, CAST(sum(n) AS BIGINT) AS n FROM words WHERE length(term) >= 3
GROUP BY term ORDER BY n DESC, term LIMIT $limit
"""

_FANOUT_EXPOSURE_SQL = """
SELECT engine, exposes_fanouts AS "exposesFanouts" FROM scoped_engines
WHERE configured OR engine IN (SELECT engine FROM answers) ORDER BY engine
"""

_FANOUT_ENGINES_SQL = """
SELECT engine, coalesce(label, engine) AS label, exposes_fanouts IS FALSE AS hides,
  count(chat_id) > 0 AS answered
FROM scoped_engines LEFT JOIN answers USING (host, engine) GROUP BY ALL ORDER BY label, engine
"""


@register_section("fanouts")
def fanouts(observations: Observations) -> SectionResponse:
    """Return the section ``fanouts``: the search queries that engines sent before they answered."""
    body: JsonObject = {
        "totals": dict.fromkeys(
            ("fanoutCount", "uniqueQueries", "answersWithFanouts", "fanoutsPerAnswer")
        ),
        "queries": [],
        "terms": [],
        "engineSupport": observations.fetch_rows(_FANOUT_EXPOSURE_SQL),
    }
    availability = _find_query_fanout_availability(observations)
    if availability.status not in ("available", "partial"):
        return SectionResponse(body, availability)
    body["totals"] = observations.fetch_row(_FANOUT_TOTALS_SQL)
    body["queries"] = observations.fetch_rows(_FANOUT_QUERIES_SQL)
    body["terms"] = [
        [row["term"], row["n"]]
        for row in observations.fetch_rows(_QUERY_TERMS_SQL, limit=MAX_QUERY_TERMS)
    ]
    answer_count = body["totals"]["answersWithFanouts"]
    return SectionResponse(body, replace(availability, sample_count=answer_count))


def _find_query_fanout_availability(observations: Observations) -> SectionAvailability:
    """Return the availability of the section (kind of response) ``fanouts``.

    It names the engines (AI assistants) that hide their search queries.
    """
    engine_rows = observations.fetch_rows(_FANOUT_ENGINES_SQL)
    label_by_engine = {row["engine"]: row["label"] for row in engine_rows if row["hides"]}
    state_by_engine = {
        engine: State("not_applicable", _explain_hidden_queries([label]))
        for engine, label in label_by_engine.items()
    }
    if engine_rows and len(label_by_engine) == len(engine_rows):
        reason = _explain_hidden_queries(label_by_engine.values())
        return SectionAvailability("not_applicable", reason, engines=state_by_engine)
    if empty_reason := explain_no_rows(observations, "fanouts"):
        return SectionAvailability("unavailable", empty_reason, engines=state_by_engine)
    hiding_engines = [row["label"] for row in engine_rows if row["hides"] and row["answered"]]
    availability = find_answers_availability(
        observations, reasons=[_explain_hidden_queries(hiding_engines)] if hiding_engines else ()
    )
    if hiding_engines and not any(row["answered"] and not row["hides"] for row in engine_rows):
        availability = replace(availability, status="unavailable", sample_count=0)
    return replace(availability, engines={**availability.engines, **state_by_engine})


def _explain_hidden_queries(engine_labels: Iterable[str]) -> str:
    """Return a text which says of each named AI engine that it hides its search queries."""
    return " ".join(f"{label} does not expose its query expansions." for label in engine_labels)
