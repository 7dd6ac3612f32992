"""Cited source domains: how often engines cite them, retrieve them, and what kind they are."""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    SectionAnswer,
    SectionAvailability,
    answers_availability,
    not_held,
    section,
)
from aatoolkit.service.measures import own_citations_missing
from aatoolkit.service.observations import Observations
from aatoolkit.service.sources import RETRIEVAL_IS_KNOWN, retrieval_states

_TOTALS = """
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
_DOMAINS = f"""
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
    CASE WHEN {RETRIEVAL_IS_KNOWN} THEN count(*) END AS retrievals,
    CASE WHEN {RETRIEVAL_IS_KNOWN} THEN count(DISTINCT chat_id) END AS retrieved_answers
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
_TYPES = """
SELECT coalesce(domain_type, 'unclassified') AS "domainType", count(*) AS "citationCount",
  count(*) / sum(count(*)) OVER () AS "citationShare"
FROM seen_sources WHERE cited GROUP BY 1 ORDER BY 2 DESC, 1
"""


@section("domains")
def domains(o: Observations) -> SectionAnswer:
    """Rank the domains cited in the named answers.

    ``brandsMentioned`` are the brands found on the domain's pages; it is null where none
    of its pages was examined. ``retrievedAnswerShare`` is over the answers of engines that
    show what they retrieve. Where an engine that does not is seen to use a domain, its
    figures on retrieval are null.
    """
    if not o.observed("citations"):
        return SectionAnswer(_nothing(), SectionAvailability("unavailable", not_held("citations")))
    availability = answers_availability(
        o,
        sample_count=o.value("SELECT count(*) FROM named_answers"),
        fields=retrieval_states(
            o,
            "domains[].retrievalCount",
            "domains[].citationRate",
            "domains[].retrievedAnswerShare",
            "domains[].retrievedAnswerCount",
        ),
    )
    if availability.status == "unavailable":
        return SectionAnswer(_nothing(), availability)
    body = {
        "totals": o.row(_TOTALS, own_known=own_citations_missing(o) is None),
        "domains": o.rows(_DOMAINS, comparable=o.previous_observed),
        "typeBreakdown": o.rows(_TYPES),
    }
    return SectionAnswer(body, availability)


def _nothing() -> dict[str, Any]:
    totals = dict.fromkeys(("citationCount", "uniqueDomains", "answerCount", "ownCitationShare"))
    return {"totals": totals, "domains": [], "typeBreakdown": []}
