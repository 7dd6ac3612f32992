"""Perception: sentiment of brands, attributes given to them, and claims about them.

The shares of positive, neutral and negative are of the mentions labelled with a tone; the
score is the mean over the mentions scored. An attribute's share is of all attributes that
answers give to the same brand.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    SectionAnswer,
    State,
    answers_availability,
    fields,
    not_held,
    section,
)
from aatoolkit.service.measures import DAYS, brand_measures, focus, subject_missing
from aatoolkit.service.observations import Observations

_ATTRIBUTES = """
WITH seen AS (
  SELECT brand, attribute, engine, polarity FROM attributes
), by_engine AS (
  SELECT brand, attribute, engine, count(*) AS occurrences FROM seen GROUP BY ALL
), tones AS (
  SELECT brand, attribute, polarity, count(*) AS occurrences
  FROM seen WHERE polarity IS NOT NULL GROUP BY ALL
), usual_tone AS (
  SELECT brand, attribute, first(polarity ORDER BY occurrences DESC, polarity) AS polarity
  FROM tones GROUP BY brand, attribute
), counted AS (
  SELECT brand, attribute, CAST(sum(occurrences) AS BIGINT) AS occurrences,
    list(engine ORDER BY engine) AS engines, list(occurrences ORDER BY engine) AS counts
  FROM by_engine GROUP BY brand, attribute
)
SELECT attribute, brand, polarity, occurrences, engines, counts,
  occurrences / sum(occurrences) OVER (PARTITION BY brand) AS share,
  CAST(sum(occurrences) OVER (PARTITION BY brand) AS BIGINT) AS brand_occurrences
FROM counted LEFT JOIN usual_tone USING (brand, attribute)
WHERE brand IN (SELECT brand FROM listed_brands)
ORDER BY occurrences DESC, brand, attribute
"""

_CLAIMS = """
SELECT claim_id AS "claimId", brand, text, verdict, count(*) AS occurrences,
  list(DISTINCT engine ORDER BY engine) AS engines,
  first(chat_id ORDER BY day DESC, chat_id) AS "exampleChatId"
FROM claim_sightings JOIN store.claims USING (host, claim_id)
WHERE brand IN (SELECT brand FROM listed_brands)
GROUP BY claim_id, brand, text, verdict
ORDER BY occurrences DESC, claim_id
"""


@section("perception")
def perception(o: Observations) -> SectionAnswer:
    """Sentiment of each brand, its course for those asked about, attributes and claims."""
    sentiment = _sentiment(o)
    missing = _missing(o)
    reasons = dict.fromkeys(state.reason for state in missing.values() if state.reason)
    return SectionAnswer(
        {
            "sentiment": sentiment,
            "sentimentTrend": _trend(o),
            "attributes": _attributes(o),
            "claims": o.rows(_CLAIMS),
        },
        answers_availability(
            o,
            sum(row["scoredCount"] for row in sentiment if row["scoredCount"] is not None),
            reason=" ".join(reasons) or None,
            fields=missing,
        ),
    )


def _missing(o: Observations) -> dict[str, State]:
    """The states of the parts of the section that the store holds nothing about."""
    reasons = {
        "sentiment": None if o.observed("mentions") else not_held("mentions"),
        "sentimentTrend": subject_missing(o),
        "attributes": None if o.observed("attributes") else not_held("attributes"),
        "claims": None if o.observed("claim_sightings") else not_held("claims"),
    }
    return {part: State("unavailable", reason) for part, reason in reasons.items() if reason}


def _sentiment(o: Observations) -> list[dict[str, Any]]:
    return [
        {"brand": row["brand"], **_tones(row), **fields(row, "own mentionCount")}
        for row in brand_measures(o)
    ]


def _trend(o: Observations) -> list[dict[str, Any]]:
    """The days on which a mention of a brand asked about was scored."""
    rows = focus(o, DAYS).items()
    return [{"date": day, **_tones(row)} for day, row in rows if row["scored_count"]]


def _tones(row: dict[str, Any]) -> dict[str, Any]:
    """The score, the shares of positive, neutral and negative, and the counts under them."""
    return fields(
        row,
        "score positive neutral negative scoredCount labelledCount positiveCount neutralCount"
        " negativeCount",
        score="sentiment_score",
    )


def _attributes(o: Observations) -> list[dict[str, Any]]:
    return [
        {
            **fields(row, "attribute brand polarity occurrences share brandOccurrences"),
            "byEngine": dict(zip(row["engines"], row["counts"], strict=True)),
        }
        for row in o.rows(_ATTRIBUTES)
    ]
