"""Query expansions: the searches that engines make of a prompt before they answer."""

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
from aatoolkit.service.sources import LISTED_ENGINES, enumerate_words

MAX_TERMS = 50
"""How many of the commonest words of the queries are listed."""

_TOTALS = """
SELECT count(*) AS "fanoutCount", count(DISTINCT query) AS "uniqueQueries",
  count(DISTINCT chat_id) AS "answersWithFanouts",
  count(*) / nullif(count(DISTINCT chat_id), 0) AS "fanoutsPerAnswer"
FROM named_fanouts
"""

_QUERIES = """
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
_TERMS = r"""
WITH words AS (
  SELECT unnest(regexp_extract_all(lower(query), '[\p{L}\p{N}]+')) AS term, n
  FROM (SELECT query, count(*) AS n FROM named_fanouts GROUP BY query)
)
SELECT term, CAST(sum(n) AS BIGINT) AS n FROM words WHERE length(term) >= 3
GROUP BY term ORDER BY n DESC, term LIMIT $limit
"""

_SUPPORT = f"""
WITH {LISTED_ENGINES}
SELECT engine, exposes_fanouts AS "exposesFanouts" FROM listed_engines ORDER BY engine
"""

_ENGINES = """
SELECT engine, coalesce(label, engine) AS label, exposes_fanouts IS FALSE AS hides,
  count(chat_id) > 0 AS answered
FROM scoped_engines LEFT JOIN answers USING (host, engine) GROUP BY ALL ORDER BY label, engine
"""


@section("fanouts")
def fanouts(o: Observations) -> SectionAnswer:
    """Count the queries of the named answers; days of first and last sight are in the window.

    An engine that does not expose its queries has none to count, so it takes no part in
    any number and the availability names it.
    """
    body: dict[str, Any] = {
        "totals": dict.fromkeys(
            ("fanoutCount", "uniqueQueries", "answersWithFanouts", "fanoutsPerAnswer")
        ),
        "queries": [],
        "terms": [],
        "engineSupport": o.rows(_SUPPORT),
    }
    availability = _availability(o)
    if availability.status not in ("available", "partial"):
        return SectionAnswer(body, availability)
    body["totals"] = o.row(_TOTALS)
    body["queries"] = o.rows(_QUERIES)
    body["terms"] = [[row["term"], row["n"]] for row in o.rows(_TERMS, limit=MAX_TERMS)]
    count = body["totals"]["answersWithFanouts"]
    return SectionAnswer(body, replace(availability, sample_count=count))


def _availability(o: Observations) -> SectionAvailability:
    engines = o.rows(_ENGINES)
    hiding = {row["engine"]: row["label"] for row in engines if row["hides"]}
    states = {engine: State("not_applicable", _reason([name])) for engine, name in hiding.items()}
    if engines and len(hiding) == len(engines):
        reason = _reason(list(hiding.values()))
        return SectionAvailability("not_applicable", reason, engines=states)
    if not o.observed("fanouts"):
        return SectionAvailability("unavailable", not_held("fanouts"), engines=states)
    silent = [row["label"] for row in engines if row["hides"] and row["answered"]]
    availability = answers_availability(o, reason=_reason(silent) if silent else None)
    if silent and not any(row["answered"] and not row["hides"] for row in engines):
        availability = replace(availability, status="unavailable", sample_count=0)
    return replace(availability, engines={**availability.engines, **states})


def _reason(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"{labels[0]} does not expose its query expansions."
    return f"{enumerate_words(labels)} do not expose their query expansions."
