"""Shopping results: which products, brands and merchants the engines put on the shelf.

The shelf is the answers with shopping results; every rate but the trigger rate is over
them. Prices in several currencies cannot be compared: ranges and averages are those of
the currency with most offers. The brand filter narrows what is listed, and leaves the
denominators as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aatoolkit.service.answer import (
    SectionAnswer,
    SectionAvailability,
    answers_availability,
    not_held,
    section,
)
from aatoolkit.service.observations import Observations
from aatoolkit.service.sources import enumerate_words

_LISTED = """
listed AS (SELECT * FROM shelf WHERE len($brand) = 0 OR list_contains($brand, brand)),
whole AS (SELECT count(DISTINCT chat_id) AS answers, count(*) AS mentions FROM shelf),
on_offer AS (
  SELECT * FROM store.offers
  WHERE host = $host AND product_id IN (SELECT product_id FROM listed)
)
"""


def _priced(key: str) -> str:
    """CTE ``priced``: prices of the currency with most offers, by product or by merchant."""
    return f"""
priced AS (
  SELECT {key}, price_currency AS currency, min(price_amount) AS low,
    max(price_amount) AS high, avg(price_amount ORDER BY price_amount) AS mean
  FROM on_offer WHERE price_amount IS NOT NULL AND price_currency IS NOT NULL
  GROUP BY {key}, price_currency
  QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY count(*) DESC, price_currency) = 1
)
"""


_TOTALS = f"""
WITH {_LISTED}
SELECT (SELECT count(*) FROM shopping_answers) AS "answersChecked",
  answers AS "answersWithShopping",
  answers / (SELECT nullif(count(*), 0) FROM shopping_answers) AS "triggerRate"
FROM whole
"""

_BRANDS = f"""
WITH {_LISTED}
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

_PRODUCTS = f"""
WITH {_LISTED}, {_priced("product_id")},
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
  stock_status AS availability, coalesce(offers, []) AS offers, attributes
FROM seen CROSS JOIN whole
LEFT JOIN store.brands USING (host, brand)
LEFT JOIN priced USING (product_id)
LEFT JOIN offered USING (product_id)
LEFT JOIN described USING (product_id)
ORDER BY "mentionCount" DESC, product_id
"""

_MERCHANTS = f"""
WITH {_LISTED}, {_priced("merchant")},
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

_MISSED = f"""
WITH {_LISTED}
SELECT DISTINCT coalesce(label, engine) AS label
FROM answers LEFT JOIN scoped_engines USING (host, engine)
WHERE engine NOT IN (SELECT engine FROM shopping_answers) ORDER BY label
"""


@section("shopping")
def shopping(o: Observations) -> SectionAnswer:
    """Give the shelf of the answers examined for shopping results."""
    body: dict[str, Any] = {
        "totals": dict.fromkeys(("answersChecked", "answersWithShopping", "triggerRate")),
        "brands": [],
        "products": [],
        "merchants": [],
    }
    if not o.observed("product_mentions"):
        return SectionAnswer(body, SectionAvailability("unavailable", not_held("product_mentions")))
    totals = o.row(_TOTALS)
    missed = o.column(_MISSED)
    reason = f"Answers of {enumerate_words(missed)} were not examined." if missed else None
    availability = answers_availability(
        o, sample_count=totals["answersWithShopping"], reason=reason
    )
    if not totals["answersChecked"]:
        return SectionAnswer(body, replace(availability, status="unavailable"))
    body["totals"] = totals
    body["brands"] = o.rows(_BRANDS)
    body["products"] = o.rows(_PRODUCTS)
    for product in body["products"]:
        product["attributes"] = product["attributes"] or {}
    body["merchants"] = o.rows(_MERCHANTS)
    return SectionAnswer(body, availability)
