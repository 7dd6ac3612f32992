"""Sections on commerce: advertisements, shopping results, visits and conversions.

**Ads.** How many answers have an advertisement, and the advertisers.

**Shopping.** The products, brands and merchants in the shopping results of answers. The trigger
rate is the share of examined answers that have shopping results. Other rates are shares of the
answers with shopping results. Price ranges and averages use only the most frequent currency. The
brand filter narrows the lists, but not the denominators.

**Conversions.** Visits that came from answer engines (AI assistants), and their conversions.
``totals.sessions`` counts all visits and ignores the engine filter. ``aiSessions`` counts the
visits from engines that pass the filter. *Other* visits come from no engine, or from an engine
whose visits cannot be told apart from others.

Conversions are recorded later than visits. Conversions, revenue and rates count only days whose
conversions are complete.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta

from aatoolkit.service.answer import (
    SectionAvailability,
    SectionResponse,
    State,
    explain_no_rows,
    find_answers_availability,
    register_section,
)
from aatoolkit.service.measures import are_citations_counted
from aatoolkit.service.observations import JsonObject, Observations

# --- ads ---------------------------------------------------------------------------------------

# An engine counts as examined where that is said, and where it is not known but an advertisement
# was seen on it. One seen without a prompt belongs to no topic and to no category.
_AD_TABLES_SQL = """
checked AS (
  SELECT answers.* FROM answers JOIN scoped_engines AS engines USING (host, engine)
  WHERE (shows_ads IS NOT FALSE AND ads_checked)
    OR ((shows_ads IS NOT FALSE AND ads_checked) IS NULL AND engine IN (
      SELECT engine FROM store.ads WHERE host = $host))
),
placed AS (
  SELECT * FROM store.ads
  WHERE host = $host AND CAST(observed_at AS DATE) BETWEEN $window_start AND $window_end
    AND (len($engine) = 0 OR list_contains($engine, engine))
    AND CASE WHEN prompt_id IS NULL THEN len($topic) = 0 AND len($category) = 0
             ELSE prompt_id IN (SELECT prompt_id FROM scoped_prompts) END
),
listed AS (SELECT * FROM placed WHERE len($brand) = 0 OR list_contains($brand, advertiser))
"""

_AD_TOTALS_SQL = f"""
WITH {_AD_TABLES_SQL}
SELECT (SELECT count(*) FROM checked) AS "answersChecked",
  count(DISTINCT chat_id) AS "answersWithAds",
  count(DISTINCT chat_id) / (SELECT nullif(count(*), 0) FROM checked) AS "adRate"
FROM listed WHERE chat_id IN (SELECT chat_id FROM checked)
"""

_AD_LIST_SQL = f"""
WITH {_AD_TABLES_SQL},
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

_ADVERTISERS_SQL = f"""
WITH {_AD_TABLES_SQL}
SELECT advertiser, any_value(domain) AS domain, count(*) AS observations,
  count(DISTINCT prompt_id) AS "promptCount",
  count(*) / (SELECT count(*) FROM placed) AS "adShare",
  (SELECT count(*) FROM placed) AS "allObservations"
FROM listed LEFT JOIN store.advertisers USING (host, advertiser)
WHERE advertiser IS NOT NULL GROUP BY advertiser ORDER BY observations DESC, advertiser
"""

_AD_ENGINES_SQL = f"""
WITH {_AD_TABLES_SQL},
supported AS (
  SELECT engine, coalesce(label, engine) AS label,
    engine IN (SELECT engine FROM answers) AS answered,
    CASE WHEN shows_ads IS FALSE THEN 'not_applicable'
         WHEN engine IN (SELECT engine FROM placed) THEN 'observed'
         WHEN engine IN (SELECT engine FROM checked) THEN 'none_observed'
         ELSE 'not_checked' END AS support
  FROM scoped_engines
  WHERE configured OR engine IN (SELECT engine FROM answers UNION SELECT engine FROM placed)
)
SELECT *, CASE support WHEN 'not_applicable' THEN support
    WHEN 'not_checked' THEN 'unavailable' END AS status,
  CASE support WHEN 'not_applicable' THEN label || ' carries no advertisements.'
    WHEN 'not_checked' THEN 'Answers of ' || label || ' were not examined for advertisements.'
  END AS reason
FROM supported ORDER BY engine
"""


@register_section("ads")
def ads(observations: Observations) -> SectionResponse:
    """Return the section ``ads``: advertisements, and the share of answers with one.

    The brand filter selects advertisers. Shares are still of the advertisements of all advertisers,
    or of all answers.
    """
    engine_rows = observations.fetch_rows(_AD_ENGINES_SQL)
    body = {
        "totals": dict.fromkeys(("answersChecked", "answersWithAds", "adRate")),
        "observations": observations.fetch_rows(_AD_LIST_SQL),
        "advertisers": observations.fetch_rows(_ADVERTISERS_SQL),
        "engineSupport": {row["engine"]: row["support"] for row in engine_rows},
    }
    totals_row = observations.fetch_row(_AD_TOTALS_SQL)
    if totals_row["answersChecked"] and observations.has_rows("ads"):
        body["totals"] = totals_row
    return SectionResponse(body, _find_ads_availability(observations, engine_rows, body))


def _find_ads_availability(
    observations: Observations, engine_rows: list[JsonObject], body: JsonObject
) -> SectionAvailability:
    """Return the availability of the section ``ads``.

    It names the engines (AI assistants) without advertisements, and those whose answers were not
    examined for advertisements. ``engine_rows`` has a row per engine that says whether it has
    advertisements; ``body`` has the fields of the section.
    """
    state_by_engine = {
        row["engine"]: State(row["status"], row["reason"]) for row in engine_rows if row["status"]
    }
    unexamined_engine_labels = [
        row["label"] for row in engine_rows if row["support"] == "not_checked" and row["answered"]
    ]
    if engine_rows and all(row["support"] == "not_applicable" for row in engine_rows):
        reason = " ".join(str(state.reason) for state in state_by_engine.values())
        return SectionAvailability("not_applicable", reason, engines=state_by_engine)
    if empty_reason := explain_no_rows(observations, "ads"):
        return SectionAvailability("unavailable", empty_reason, engines=state_by_engine)
    answer_count = body["totals"]["answersChecked"]
    reason = (
        f"Answers of {', '.join(unexamined_engine_labels)} were not examined for advertisements."
    )
    availability = find_answers_availability(
        observations,
        sample_count=answer_count,
        reasons=[reason] if unexamined_engine_labels else (),
    )
    availability = replace(availability, engines={**availability.engines, **state_by_engine})
    if answer_count:
        return availability
    status = "partial" if body["observations"] else "unavailable"
    return replace(availability, status=status, sample_count=0)


# --- shopping ----------------------------------------------------------------------------------

_PRODUCT_TABLES_SQL = """
listed AS (SELECT * FROM shelf WHERE len($brand) = 0 OR list_contains($brand, brand)),
whole AS (SELECT count(DISTINCT chat_id) AS answers, count(*) AS mentions FROM shelf),
on_offer AS (
  SELECT * FROM store.offers
  WHERE host = $host AND product_id IN (SELECT product_id FROM listed)
)
"""


_PRICES_SQL = """
priced AS (
  SELECT {0}, price_currency AS currency, min(price_amount) AS low,
    max(price_amount) AS high, avg(price_amount ORDER BY price_amount) AS mean
  FROM on_offer WHERE price_amount IS NOT NULL AND price_currency IS NOT NULL
  GROUP BY {0}, price_currency
  QUALIFY row_number() OVER (PARTITION BY {0} ORDER BY count(*) DESC, price_currency) = 1
)
"""
"""SQL: the lowest, highest and mean price for each value of a column, which replaces {0}.

Only prices in the most frequent currency of the value count.
"""

_SHOPPING_TOTALS_SQL = f"""
WITH {_PRODUCT_TABLES_SQL}
SELECT (SELECT count(*) FROM shopping_answers) AS "answersChecked",
  answers AS "answersWithShopping",
  answers / (SELECT nullif(count(*), 0) FROM shopping_answers) AS "triggerRate"
FROM whole
"""

_SHOPPING_BRANDS_SQL = f"""
WITH {_PRODUCT_TABLES_SQL}
SELECT brand, any_value(own) AS own,
  count(DISTINCT chat_id) / any_value(answers) AS "visibilityRate",
  CASE WHEN count(position) > 0
       THEN count(DISTINCT chat_id) FILTER (position = 1) / any_value(answers) END AS "winRate",
  count(*) / any_value(mentions) AS "shareOfShelf", avg(position) AS "averagePosition",
  count(position) AS "positionCount", count(DISTINCT product_id) AS "productCount",
  count(DISTINCT chat_id) AS "answerCount",
  CASE WHEN count(position) > 0
       THEN count(DISTINCT chat_id) FILTER (position = 1) END AS "winCount",
  any_value(answers) AS "shoppingAnswerCount", count(*) AS "placementCount",
  any_value(mentions) AS "allPlacementCount"
FROM listed LEFT JOIN store.brands USING (host, brand) CROSS JOIN whole
WHERE brand IS NOT NULL GROUP BY brand ORDER BY "visibilityRate" DESC, brand
"""

_PRODUCTS_SQL = f"""
WITH {_PRODUCT_TABLES_SQL}, {_PRICES_SQL.format("product_id")},
offered AS (
  SELECT product_id, list({{
    'merchant': merchant, 'domain': merchant_domain,
    'price': CASE WHEN price_amount IS NOT NULL
                  THEN {{'amount': price_amount, 'currency': price_currency}} END,
    'availability': stock_status, 'deliveryText': delivery_text, 'url': url,
    'position': offer_position
  }} ORDER BY offer_position) AS offers
  FROM on_offer GROUP BY product_id
),
described AS (
  SELECT product_id, map_from_entries(list((attribute, value) ORDER BY attribute)) AS attributes
  FROM store.product_attributes WHERE host = $host GROUP BY product_id
),
seen AS (
  SELECT host, product_id, brand, title, category, rating_value, rating_max, rating_count,
    stock_status, count(*) AS mentions, count(DISTINCT chat_id) AS answers,
    avg(position) AS position,
    count(*) FILTER (position = 1) / nullif(count(position), 0) AS first_rate,
    count(position) AS places, count(*) FILTER (position = 1) AS first_places
  FROM listed GROUP BY ALL
)
SELECT product_id AS "productId", title, brand, own, category,
  seen.mentions AS "mentionCount", seen.answers / whole.answers AS "visibilityRate",
  seen.answers AS "answerCount", whole.answers AS "shoppingAnswerCount",
  position AS "averagePosition", first_rate AS "firstPositionRate",
  places AS "positionCount", first_places AS "firstPositionCount",
  CASE WHEN rating_value IS NOT NULL
       THEN {{'value': rating_value, 'max': rating_max, 'count': rating_count}} END AS rating,
  CASE WHEN currency IS NOT NULL
       THEN {{'min': low, 'max': high, 'currency': currency}} END AS "priceRange",
  stock_status AS availability, coalesce(offers, []) AS offers,
  coalesce(attributes, MAP {{}}) AS attributes
FROM seen CROSS JOIN whole
LEFT JOIN store.brands USING (host, brand)
LEFT JOIN priced USING (product_id)
LEFT JOIN offered USING (product_id)
LEFT JOIN described USING (product_id)
ORDER BY "mentionCount" DESC, product_id
"""

_MERCHANTS_SQL = f"""
WITH {_PRODUCT_TABLES_SQL}, {_PRICES_SQL.format("merchant")},
sold AS (
  SELECT merchant, min(merchant_domain) AS domain, count(*) AS n
  FROM on_offer WHERE merchant IS NOT NULL GROUP BY merchant
),
all_offers AS (
  SELECT count(*) AS n FROM store.offers
  WHERE host = $host AND product_id IN (SELECT product_id FROM shelf)
)
SELECT merchant, domain, sold.n AS "offerCount", sold.n / all_offers.n AS "offerShare",
  all_offers.n AS "allOfferCount",
  mean AS "averagePrice", currency
FROM sold CROSS JOIN all_offers LEFT JOIN priced USING (merchant)
ORDER BY "offerCount" DESC, merchant
"""

_UNEXAMINED_ENGINES_SQL = """
SELECT DISTINCT coalesce(label, engine) AS label
FROM answers LEFT JOIN scoped_engines USING (host, engine)
WHERE engine NOT IN (SELECT engine FROM shopping_answers) ORDER BY label
"""


@register_section("shopping")
def shopping(observations: Observations) -> SectionResponse:
    """Return the section ``shopping``: products, brands and merchants in shopping results."""
    body: JsonObject = {
        "totals": dict.fromkeys(("answersChecked", "answersWithShopping", "triggerRate")),
        "brands": [],
        "products": [],
        "merchants": [],
    }
    if reason := explain_no_rows(observations, "product_mentions"):
        return SectionResponse(body, SectionAvailability("unavailable", reason))
    totals_row = observations.fetch_row(_SHOPPING_TOTALS_SQL)
    unexamined_engine_labels = observations.fetch_column(_UNEXAMINED_ENGINES_SQL)
    reasons = (
        [f"Answers of {', '.join(unexamined_engine_labels)} were not examined."]
        if unexamined_engine_labels
        else ()
    )
    availability = find_answers_availability(
        observations, sample_count=totals_row["answersWithShopping"], reasons=reasons
    )
    if not totals_row["answersChecked"]:
        return SectionResponse(body, replace(availability, status="unavailable"))
    body["totals"] = totals_row
    body["brands"] = observations.fetch_rows(_SHOPPING_BRANDS_SQL)
    body["products"] = observations.fetch_rows(_PRODUCTS_SQL)
    body["merchants"] = observations.fetch_rows(_MERCHANTS_SQL)
    return SectionResponse(body, availability)


# --- conversions -------------------------------------------------------------------------------

_ANALYTICS_SQL = """
SELECT {'provider': provider, 'property': property, 'attribution': attribution,
    'currency': currency, 'timezone': timezone} AS source, conversions_through
FROM store.projects LEFT JOIN store.analytics USING (host) WHERE host = $host
"""

# A day without any visit at all is taken for a day that was not recorded.
_VISIT_TABLES_SQL = """
visited AS (
  SELECT *, day <= CAST($through AS DATE) AS complete FROM site_visits
),
listed AS (
  SELECT engine, coalesce(label, engine) AS label, referrers,
    separable_traffic IS FALSE AS inseparable,
    separable_traffic IS TRUE OR engine IN (SELECT engine FROM visited WHERE ai) AS told_apart
  FROM scoped_engines
  WHERE configured OR engine IN (SELECT engine FROM visited WHERE ai)
  UNION ALL
  SELECT DISTINCT engine, engine, NULL, FALSE, TRUE FROM visited
  WHERE ai AND engine NOT IN (SELECT engine FROM scoped_engines)
)
"""


# The templates below are SQL expressions. Each computes a number for the visits that meet a
# condition, which replaces {0}. Only days whose conversions are complete count. Except for
# `_CONVERSION_SUM_SQL`, the number is null if conversions are not measured.
# `_CONVERSION_RATE_SQL` is also null without visits, and `_REVENUE_SQL` without a currency.

_CONVERSION_SUM_SQL = "CAST(coalesce(sum(made) FILTER (complete AND {0}), 0) AS BIGINT)"
_CONVERSIONS_SQL = f"CASE WHEN $measured THEN {_CONVERSION_SUM_SQL} END"
_VISITS_SQL = "CASE WHEN $measured THEN count(visit_id) FILTER (complete AND {0}) END"
_CONVERSION_RATE_SQL = (
    f"{_CONVERSION_SUM_SQL} / nullif(count(visit_id) FILTER (complete AND {{0}}), 0)"
)
_REVENUE_SQL = f"""CASE WHEN $measured AND $priced THEN CASE WHEN {_CONVERSION_SUM_SQL} = 0 THEN 0.0
      ELSE sum(revenue ORDER BY visit_id) FILTER (complete AND {{0}}) END END"""

_CONVERSIONS_TOTALS_SQL = f"""
WITH {_VISIT_TABLES_SQL}
SELECT count(*) AS sessions, count(*) FILTER (ai) AS "aiSessions",
  count(*) FILTER (ai) / count(*) AS "aiSessionShare",
  {_CONVERSIONS_SQL.format("ai")} AS "aiConversions",
  {_CONVERSION_RATE_SQL.format("ai")} AS "aiConversionRate",
  {_CONVERSION_RATE_SQL.format("other")} AS "otherConversionRate",
  {_REVENUE_SQL.format("ai")} AS "aiRevenue", {_VISITS_SQL.format("ai")} AS "aiCompleteSessions",
  {_CONVERSIONS_SQL.format("other")} AS "otherConversions",
  {_VISITS_SQL.format("other")} AS "otherCompleteSessions"
FROM visited
"""

_VISITS_BY_ENGINE_SQL = f"""
WITH {_VISIT_TABLES_SQL},
counted AS (
  SELECT engine, count(visit_id) AS sessions,
    CASE WHEN count(visit_id) = count(visitor_id) THEN count(DISTINCT visitor_id) END AS users,
    {_CONVERSIONS_SQL.format("true")} AS conversions, {_CONVERSION_RATE_SQL.format("true")} AS rate,
    {_REVENUE_SQL.format("true")} AS revenue, {_VISITS_SQL.format("true")} AS complete_sessions,
    count(visit_id) FILTER (engaged) AS engaged_sessions, count(engaged) AS rated_sessions,
    count(visit_id) FILTER (engaged) / nullif(count(engaged), 0) AS engagement,
    avg(seconds ORDER BY visit_id) AS seconds
  FROM listed LEFT JOIN (SELECT * FROM visited WHERE ai) USING (engine)
  WHERE told_apart AND NOT inseparable GROUP BY engine
)
SELECT engine, CASE WHEN inseparable THEN [] ELSE referrers END AS referrers, sessions, users,
  conversions, rate AS "conversionRate", revenue, engagement AS "engagementRate",
  seconds AS "averageSessionSeconds", complete_sessions AS "completeSessions",
  engaged_sessions AS "engagedSessions", rated_sessions AS "ratedSessions"
FROM listed LEFT JOIN counted USING (engine) ORDER BY sessions DESC NULLS LAST, engine
"""

_VISITS_BY_PAGE_SQL = f"""
WITH {_VISIT_TABLES_SQL},
cited AS (
  SELECT path, count(DISTINCT chat_id) AS n FROM citations
  JOIN (SELECT url, path FROM page_paths WHERE site IN ($host, 'www.' || $host)) USING (url)
  WHERE cited GROUP BY path
),
landed AS (
  SELECT coalesce(path, '(not set)') AS page, any_value(path) AS path, count(*) AS sessions,
    {_CONVERSIONS_SQL.format("true")} AS conversions,
    {_VISITS_SQL.format("true")} AS complete_sessions, {_REVENUE_SQL.format("true")} AS revenue
  FROM visited WHERE ai GROUP BY page
)
SELECT page AS path, sessions, conversions, complete_sessions AS "completeSessions", revenue,
  CASE WHEN $counted AND path IS NOT NULL THEN coalesce(n, 0) END AS "citedAnswerCount"
FROM landed LEFT JOIN cited USING (path) ORDER BY sessions DESC, page
"""

_VISITS_BY_DAY_SQL = f"""
WITH {_VISIT_TABLES_SQL},
counted AS (
  SELECT day, engine, count(visit_id) AS sessions,
    CASE WHEN day <= CAST($through AS DATE)
         THEN CAST(coalesce(sum(made), 0) AS BIGINT) END AS conversions
  FROM (SELECT DISTINCT day FROM visited)
  CROSS JOIN (SELECT engine FROM listed WHERE told_apart AND NOT inseparable)
  LEFT JOIN (SELECT * FROM visited WHERE ai) USING (day, engine)
  GROUP BY day, engine
)
SELECT day AS date, map_from_entries(list(
  (engine, {{'sessions': sessions, 'conversions': conversions}}) ORDER BY engine
)) AS "byEngine"
FROM counted GROUP BY day ORDER BY day
"""

_RECORDED_DAYS_SQL = """
SELECT count(DISTINCT day) AS days, max(day) AS last_day,
  count(*) FILTER (day <= CAST($through AS DATE)) > 0 AS measured
FROM site_visits
"""

_TRAFFIC_ENGINES_SQL = f"""
WITH {_VISIT_TABLES_SQL}
SELECT engine, label, inseparable,
  CASE WHEN inseparable THEN 'not_applicable' ELSE 'unavailable' END AS status,
  CASE WHEN inseparable THEN label || ' traffic cannot be separated from other traffic.'
    ELSE 'It is not known whether ' || label || ' traffic can be distinguished.' END AS reason
FROM listed WHERE inseparable OR told_apart IS NOT TRUE ORDER BY engine
"""

_REVENUE_PATHS = "totals.aiRevenue engines[].revenue landingPages[].revenue"
_CONVERSION_PATHS = """
totals.aiConversions totals.aiConversionRate totals.otherConversionRate totals.aiCompleteSessions
totals.otherConversions totals.otherCompleteSessions engines[].completeSessions
engines[].conversions engines[].conversionRate landingPages[].completeSessions
landingPages[].conversions daily[].byEngine{}.conversions
"""
_TOTAL_COLUMNS = """
sessions aiSessions aiSessionShare aiConversions aiConversionRate otherConversionRate aiRevenue
aiCompleteSessions otherConversions otherCompleteSessions
"""


@register_section("conversions", filters=("engine",))
def conversions(observations: Observations) -> SectionResponse:
    """Return the section ``conversions``: visits and conversions by engine, page and day."""
    analytics_row = observations.fetch_row(_ANALYTICS_SQL)
    body: JsonObject = {
        "source": analytics_row["source"],
        "totals": dict.fromkeys(_TOTAL_COLUMNS.split()),
        "engines": [],
        "landingPages": [],
        "daily": [],
    }
    if analytics_row["source"]["provider"] in (None, "none"):
        reason = "No web analytics is connected."
        return SectionResponse(
            body, SectionAvailability("not_connected", reason, requires=("analytics",))
        )
    # The last day whose conversions count; None if they are not recorded.
    last_complete_day: date | None = analytics_row["conversions_through"]
    if last_complete_day is None and observations.has_rows("conversions"):
        last_complete_day = observations.window.end
    day_count_row = observations.fetch_row(_RECORDED_DAYS_SQL, through=last_complete_day)
    if not day_count_row["days"]:
        reason_sentence = "No visits were recorded in this window."
        reason = explain_no_rows(observations, "visits") or reason_sentence
        return SectionResponse(body, SectionAvailability("unavailable", reason))
    has_currency = analytics_row["source"]["currency"] is not None
    is_measured = day_count_row["measured"]
    sql_parameters = {"through": last_complete_day, "priced": has_currency, "measured": is_measured}
    body["totals"] = observations.fetch_row(_CONVERSIONS_TOTALS_SQL, **sql_parameters)
    body["engines"] = observations.fetch_rows(_VISITS_BY_ENGINE_SQL, **sql_parameters)
    body["landingPages"] = observations.fetch_rows(
        _VISITS_BY_PAGE_SQL, **sql_parameters, counted=are_citations_counted(observations)
    )
    body["daily"] = observations.fetch_rows(_VISITS_BY_DAY_SQL, through=last_complete_day)
    reasons = []
    state_by_path = {}
    if day_count_row["days"] < observations.window.days:
        missing_day_count = observations.window.days - day_count_row["days"]
        reasons.append(
            f"{missing_day_count} of {observations.window.days} days in the window have no record."
        )
    if last_complete_day is None or last_complete_day < day_count_row["last_day"]:
        reason_sentence = "Conversions are not recorded."
        if last_complete_day is not None:
            reason_sentence = (
                f"Conversions are complete up to {last_complete_day.isoformat()}; "
                "later days are left out."
            )
        reasons.append(reason_sentence)
        field_state = State("partial" if is_measured else "unavailable", reason_sentence)
        state_by_path = dict.fromkeys((_CONVERSION_PATHS + _REVENUE_PATHS).split(), field_state)
    if not has_currency:
        field_state = State("unavailable", "The analytics property records no revenue.")
        state_by_path |= dict.fromkeys(_REVENUE_PATHS.split(), field_state)
    unmeasured_engine_rows = observations.fetch_rows(
        _TRAFFIC_ENGINES_SQL, through=last_complete_day
    )
    if inseparable_labels := [row["label"] for row in unmeasured_engine_rows if row["inseparable"]]:
        reasons.append(
            f"{', '.join(inseparable_labels)} traffic cannot be separated from other traffic."
        )
    recording_end = datetime.combine(day_count_row["last_day"] + timedelta(days=1), time())
    availability = SectionAvailability(
        status="partial" if reasons else "available",
        reason=" ".join(reasons) or None,
        sample_count=body["totals"]["aiSessions"],
        as_of=min(observations.as_of, recording_end),
        fields=state_by_path,
        engines={
            row["engine"]: State(row["status"], row["reason"]) for row in unmeasured_engine_rows
        },
    )
    return SectionResponse(body, availability)
