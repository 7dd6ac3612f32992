"""Observed advertisements: how many answers carry one, and whose they are."""

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
from aatoolkit.service.sources import checked_answers, enumerate_words

_SEEN_ON = "SELECT engine FROM store.ads WHERE host = $host"

# An advertisement seen without a prompt belongs to no topic and to no category.
_PLACED = f"""
{checked_answers("shows_ads IS NOT FALSE AND ads_checked", _SEEN_ON)},
placed AS (
  SELECT * FROM store.ads
  WHERE host = $host AND CAST(observed_at AS DATE) BETWEEN $window_start AND $window_end
    AND (len($engine) = 0 OR list_contains($engine, engine))
    AND CASE WHEN prompt_id IS NULL THEN len($topic) = 0 AND len($category) = 0
             ELSE prompt_id IN (SELECT prompt_id FROM scoped_prompts) END
),
listed AS (SELECT * FROM placed WHERE len($brand) = 0 OR list_contains($brand, advertiser))
"""

_TOTALS = f"""
WITH {_PLACED}
SELECT (SELECT count(*) FROM checked) AS "answersChecked",
  count(DISTINCT chat_id) AS "answersWithAds",
  count(DISTINCT chat_id) / (SELECT nullif(count(*), 0) FROM checked) AS "adRate"
FROM listed WHERE chat_id IN (SELECT chat_id FROM checked)
"""

_OBSERVATIONS = f"""
WITH {_PLACED},
cards AS (
  SELECT ad_id, list({{
    'headline': headline, 'body': body, 'imageUrl': image_url, 'targetUrl': target_url,
    'price': CASE WHEN price_amount IS NOT NULL
                  THEN {{'amount': price_amount, 'currency': price_currency}} END
  }} ORDER BY card) AS cards
  FROM store.ad_cards WHERE host = $host GROUP BY ad_id
)
SELECT ad_id AS "adId", engine, surface, unit, placement, position,
  CASE WHEN listed.advertiser IS NOT NULL THEN {{
    'name': listed.advertiser, 'domain': domain, 'own': own, 'tracked': tracked
  }} END AS advertiser,
  prompt_id AS "promptId", chat_id AS "chatId", observed_at AS "observedAt",
  coalesce(cards, []) AS cards
FROM listed
LEFT JOIN cards USING (ad_id)
LEFT JOIN store.advertisers AS advertisers
  ON advertisers.host = listed.host AND advertisers.advertiser = listed.advertiser
ORDER BY observed_at DESC, ad_id
"""

_ADVERTISERS = f"""
WITH {_PLACED}
SELECT advertiser, any_value(domain) AS domain, count(*) AS observations,
  count(DISTINCT prompt_id) AS "promptCount",
  count(*) / (SELECT count(*) FROM placed) AS "adShare",
  (SELECT count(*) FROM placed) AS "allObservations"
FROM listed LEFT JOIN store.advertisers USING (host, advertiser)
WHERE advertiser IS NOT NULL GROUP BY advertiser ORDER BY observations DESC, advertiser
"""

_SUPPORT = f"""
WITH {_PLACED}
SELECT engine, coalesce(label, engine) AS label,
  engine IN (SELECT engine FROM answers) AS answered,
  CASE WHEN shows_ads IS FALSE THEN 'not_applicable'
       WHEN engine IN (SELECT engine FROM placed) THEN 'observed'
       WHEN engine IN (SELECT engine FROM checked) THEN 'none_observed'
       ELSE 'not_checked' END AS support
FROM scoped_engines
WHERE configured OR engine IN (SELECT engine FROM answers UNION SELECT engine FROM placed)
ORDER BY engine
"""


@section("ads")
def ads(o: Observations) -> SectionAnswer:
    """Give the advertisements seen in the window, and the rate among answers examined.

    The brand filter picks advertisers; ``answersChecked`` and the whole of ``adShare`` stay
    those of all advertisers.
    """
    engines = o.rows(_SUPPORT)
    body: dict[str, Any] = {
        "totals": dict.fromkeys(("answersChecked", "answersWithAds", "adRate")),
        "observations": o.rows(_OBSERVATIONS),
        "advertisers": o.rows(_ADVERTISERS),
        "engineSupport": {engine["engine"]: engine["support"] for engine in engines},
    }
    totals = o.row(_TOTALS)
    if totals["answersChecked"] and o.observed("ads"):
        body["totals"] = totals
    return SectionAnswer(body, _availability(o, engines, body))


def _availability(
    o: Observations, engines: list[dict[str, Any]], body: dict[str, Any]
) -> SectionAvailability:
    states = _states(engines)
    if engines and all(engine["support"] == "not_applicable" for engine in engines):
        reason = " ".join(str(state.reason) for state in states.values())
        return SectionAvailability("not_applicable", reason, engines=states)
    if not o.observed("ads"):
        return SectionAvailability("unavailable", not_held("ads"), engines=states)
    checked = body["totals"]["answersChecked"]
    availability = answers_availability(o, sample_count=checked, reason=_reason(engines))
    availability = replace(availability, engines={**availability.engines, **states})
    if checked:
        return availability
    status = "partial" if body["observations"] else "unavailable"
    return replace(availability, status=status, sample_count=0)


def _reason(engines: list[dict[str, Any]]) -> str | None:
    missed = [
        engine["label"]
        for engine in engines
        if engine["support"] == "not_checked" and engine["answered"]
    ]
    if not missed:
        return None
    return f"Answers of {enumerate_words(missed)} were not examined for advertisements."


def _states(engines: list[dict[str, Any]]) -> dict[str, State]:
    stated = {
        "not_applicable": ("not_applicable", "{} carries no advertisements."),
        "not_checked": ("unavailable", "Answers of {} were not examined for advertisements."),
    }
    states = {}
    for engine in engines:
        if engine["support"] in stated:
            status, reason = stated[engine["support"]]
            states[engine["engine"]] = State(status, reason.format(engine["label"]))
    return states
