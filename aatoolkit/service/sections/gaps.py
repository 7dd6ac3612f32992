"""Citation gaps: sources and topics where engines name competitors rather than the own brand.

A brand's citations of a domain are the cited sources of that domain in answers that
mention the brand. The own brand is the brand in focus; several in focus count as one.
Its competitors are the other tracked brands. With *mean* for the competitors' mean:

======== ===================================================================
missing  no citation of the own brand, at least one of a competitor
unique   citations of the own brand, none of any competitor
shared   within a fifth of the mean
weak     below that
strong   above that
======== ===================================================================

A domain cited only in answers that mention none of them is no gap and is left out. The
opportunity score is the mean less the own citations, as a percentage of the largest such
lead among the domains; 0 where the competitors do not lead.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    SectionAnswer,
    SectionAvailability,
    State,
    answers_availability,
    not_held,
    section,
)
from aatoolkit.service.observations import Observations

KINDS = ("missing", "weak", "shared", "strong", "unique")
TOLERANCE = 0.2
"""How far from the competitors' mean, as a fraction of it, still counts as equal."""

_CONTENDERS = """
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
_DOMAINS = f"""
WITH {_CONTENDERS},
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
_TOPICS = f"""
WITH {_CONTENDERS},
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


@section("gaps")
def gaps(o: Observations) -> SectionAnswer:
    """Compare the sources and topics of the own brand with those of its competitors."""
    own = o.column("SELECT brand FROM focus ORDER BY own IS TRUE DESC, brand")
    competitors = o.column(
        "SELECT brand FROM store.brands WHERE host = $host AND tracked"
        " AND brand NOT IN (SELECT brand FROM focus) ORDER BY brand"
    )
    body: dict[str, Any] = {
        "ownBrand": ", ".join(own) or None,
        "competitors": competitors,
        "counts": dict.fromkeys(KINDS),
        "domainGaps": [],
        "topicGaps": [],
    }
    lacking = _lacking(o, own, competitors)
    availability = SectionAvailability("unavailable", lacking) if lacking else _availability(o)
    if availability.status == "unavailable":
        return SectionAnswer(body, availability)
    found = o.rows(_DOMAINS, own=body["ownBrand"], tolerance=TOLERANCE)
    body["counts"] = {kind: sum(row["kind"] == kind for row in found) for kind in KINDS}
    body["domainGaps"] = found
    body["topicGaps"] = o.rows(_TOPICS, own=body["ownBrand"])
    return SectionAnswer(body, availability)


def _lacking(o: Observations, own: list[str], competitors: list[str]) -> str | None:
    """The reason why the brands cannot be compared; None if they can."""
    tables = [table for table in ("citations", "mentions") if not o.observed(table)]
    if tables:
        return not_held(*tables)
    if not own:
        return "It is not known which brand is the project's own."
    return None if competitors else "No competitor is tracked."


def _availability(o: Observations) -> SectionAvailability:
    untagged = o.row(
        "SELECT count(*) FILTER (topic IS NULL) AS n, count(*) AS answers FROM answers"
    )
    reason = (
        f"Answers to prompts without a topic, {untagged['n']} of {untagged['answers']},"
        " are in none of the topics."
    )
    return answers_availability(
        o, fields={"topicGaps": State("partial", reason)} if untagged["n"] else {}
    )
