"""Answers as the engines gave them, with what they mention, cite and asked on the way."""

from __future__ import annotations

from dataclasses import replace
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

MAX_CHATS = 500
"""The most answers one response holds; the latest are chosen."""

# An engine that hides its query expansions leaves them unknown, not empty.
_CHATS = """
WITH chosen AS (
  SELECT host, chat_id, prompt_id, prompts.prompt, engine, prompts.country, ran_at, outcome
  FROM named_runs JOIN scoped_prompts AS prompts USING (host, prompt_id)
  ORDER BY ran_at DESC, chat_id LIMIT $limit
),
mentioned AS (
  SELECT chat_id, list({
    'brand': brand, 'own': own, 'position': position, 'sentiment': sentiment,
    'sentimentScore': sentiment_score, 'excerpt': excerpt
  } ORDER BY position NULLS LAST, brand) AS items
  FROM store.mentions LEFT JOIN store.brands USING (host, brand)
  WHERE host = $host AND chat_id IN (SELECT chat_id FROM chosen) GROUP BY chat_id
),
cited AS (
  SELECT chat_id, list({
    'n': n, 'url': url, 'domain': source_domain, 'title': title,
    'domainType': domain_type, 'cited': cited
  } ORDER BY n) AS items
  FROM store.citations LEFT JOIN store.source_domains USING (host, source_domain)
  WHERE host = $host AND chat_id IN (SELECT chat_id FROM chosen) GROUP BY chat_id
),
expanded AS (
  SELECT chat_id, list(query ORDER BY query_index) AS items
  FROM store.fanouts WHERE host = $host AND chat_id IN (SELECT chat_id FROM chosen) GROUP BY chat_id
)
SELECT chat_id AS "chatId", chosen.prompt_id AS "promptId", prompt, chosen.engine, model, country,
  chosen.ran_at AS "ranAt", chosen.outcome,
  CASE WHEN chosen.outcome = 'answered' THEN {
    'format': answer_format, 'text': answer_text,
    'characters': answer_characters, 'truncated': answer_truncated
  } END AS answer,
  coalesce(mentioned.items, []) AS mentions,
  coalesce(cited.items, []) AS citations,
  CASE WHEN expanded.items IS NULL AND exposes_fanouts IS FALSE AND chosen.outcome = 'answered'
       THEN NULL ELSE coalesce(expanded.items, []) END AS fanouts,
  features
FROM chosen
JOIN (SELECT * FROM store.answers WHERE host = $host) AS said USING (host, chat_id)
LEFT JOIN scoped_engines AS engines ON engines.engine = chosen.engine
LEFT JOIN mentioned USING (chat_id)
LEFT JOIN cited USING (chat_id)
LEFT JOIN expanded USING (chat_id)
ORDER BY chosen.ran_at DESC, chat_id
"""


@section("chats")
def chats(o: Observations) -> SectionAnswer:
    """Give the latest runs of every outcome, at most :data:`MAX_CHATS` of them.

    With a brand filter these are the answers that mention one of the brands.
    """
    matched = o.value("SELECT count(*) FROM named_runs")
    found = o.rows(_CHATS, limit=MAX_CHATS)
    sampling = {"returned": len(found), "matched": matched, "method": "most_recent"}
    return SectionAnswer(
        {"sampling": sampling, "chats": found}, _availability(o, len(found), matched)
    )


def _availability(o: Observations, returned: int, matched: int) -> SectionAvailability:
    cut = f"Sampled answers: {returned} of {matched} matching answers returned."
    fields: dict[str, Any] = {
        f"chats[].{table}": State("unavailable", not_held(table))
        for table in ("mentions", "citations", "fanouts")
        if not o.observed(table)
    }
    availability = answers_availability(
        o, sample_count=matched, reason=cut if returned < matched else None, fields=fields
    )
    if matched and availability.status == "unavailable":
        return replace(availability, status="partial")
    return availability
