"""Cited source pages: how often engines cite them, for which prompts, naming which brands."""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    SectionAnswer,
    SectionAvailability,
    answers_availability,
    not_held,
    section,
)
from aatoolkit.service.observations import Observations
from aatoolkit.service.sources import RETRIEVAL_IS_KNOWN, retrieval_states

# First and last days are facts of the page, so they look beyond the filters and the
# window's start; titles differ between engines, so the latest one is given.
_ITEMS = f"""
WITH counted AS (
  SELECT host, url, min(source_domain) AS source_domain, any_value(domain_type) AS domain_type,
    last(title ORDER BY day, chat_id, n) FILTER (title IS NOT NULL) AS title,
    count(*) FILTER (cited) AS citations,
    count(DISTINCT chat_id) FILTER (cited) AS answers,
    avg(n) FILTER (cited) AS position,
    CASE WHEN {RETRIEVAL_IS_KNOWN} THEN count(*) END AS retrievals
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


@section("urls")
def urls(o: Observations) -> SectionAnswer:
    """List every page cited in the named answers; there are no further pages of results."""
    if not o.observed("citations"):
        return _answer([], SectionAvailability("unavailable", not_held("citations")))
    availability = answers_availability(
        o,
        sample_count=o.value("SELECT count(*) FROM named_answers"),
        fields=retrieval_states(o, "items[].retrievalCount"),
    )
    return _answer(o.rows(_ITEMS), availability)


def _answer(items: list[dict[str, Any]], availability: SectionAvailability) -> SectionAnswer:
    total = None if availability.status == "unavailable" else len(items)
    paging = {"nextCursor": None, "hasMore": False, "total": total}
    return SectionAnswer({"items": items, "paging": paging}, availability)
