"""What answers show beside their text: the pages they cite, their queries, ads and products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.answers import Runs
from aatoolkit.service.synth.columns import (
    Array,
    between,
    chance,
    drawn,
    listed,
    numbered,
    pick,
    spread,
    unless,
    weighted,
)
from aatoolkit.service.synth.world import TURN

_SUFFIXES = ("2026", "reviews", "pricing", "alternatives", "comparison", "forum")
_INTENTS = ("commercial", "informational", "navigational", None)
_UNITS = ("single_advertiser", "carousel", "product_carousel", "text")
_CARDS = np.array([1, 3, 2, 0])
_PLACEMENTS = ("above_answer", "inline", "below_answer")
_HEADLINES = ("Close more deals", "Start today", "50 % off", "The CRM for you")
_WITHOUT_OFFERS = ("p_4", "p_8")
_MERCHANTS = (
    ("Uplift", "uplift.example", "USD"),
    ("Büro & Co.", "buero.example", "EUR"),
    ("Box Market", None, "USD"),
)
_STOCK = ("in_stock", "out_of_stock", None)


def draw_sources(runs: Runs) -> dict[str, pa.Table]:
    """The citations of a project, and what is known of the pages."""
    host, pages = runs.plan.host, runs.plan.pages()
    rng = runs.chance(11)
    brands = [row for row in runs.plan.rows("brands") if row["brand"] != "Umbrella"]
    mentioned = rng.random((len(pages), len(brands)))
    types = runs.plan.domain_types()
    known = [page for page in pages if page.get("examined") or page.get("page_type")]
    examined = [
        {
            "url": page["url"],
            "brand": brand["brand"],
            "mentioned": bool(mentioned[row, column] < 0.15 + brand["rate"]),
        }
        for row, page in enumerate(pages)
        if page.get("examined")
        for column, brand in enumerate(brands)
    ]
    domains = [{"source_domain": name, "domain_type": kind} for name, kind in types.items()]
    return {
        "citations": _citations(runs, pages),
        "source_domains": listed("source_domains", host, domains),
        "source_pages": listed("source_pages", host, known),
        "source_page_brands": listed("source_page_brands", host, examined),
    }


def _citations(runs: Runs, pages: list[dict[str, Any]]) -> pa.Table:
    rng = runs.chance(10)
    sizes = (0.12, 0.1, 0.14, 0.16, 0.16, 0.12, 0.1, 0.06, 0.04)
    run, _ = spread(weighted(rng, sizes, len(runs)) * runs.answered)
    before = weighted(rng, [page["weight"] for page in pages], len(run))
    lately = weighted(rng, [page.get("lately", page["weight"]) for page in pages], len(run))
    page = np.where(runs.age[run] < TURN, lately, before)
    # An answer cites a page once: of repeated pairs of run and page the first stays.
    _, first = np.unique(run * len(pages) + page, return_index=True)
    run, page = run[np.sort(first)], page[np.sort(first)]
    # Where rivals alone are named, other domains take the place of some.
    urls = [row["url"] for row in pages]
    rival = np.array([urls.index(row.get("rival", row["url"])) for row in pages])
    page = np.where(runs.names_rivals_alone[run], rival[page], page)
    _, place = spread(np.bincount(run, minlength=len(runs)).astype(np.int64))
    untitled = chance(rng, 0.06, len(run))
    return drawn(
        "citations",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, run),
        n=place + 1,
        url=pick(urls, page),
        source_domain=pick([row["domain"] for row in pages], page),
        cited=~runs.on("exposes_retrieval", True)[run] | chance(rng, 0.65, len(run)),
        title=unless(untitled, pick([row["title"] for row in pages], page)),
    )


def draw_fanouts(runs: Runs) -> dict[str, pa.Table]:
    """The queries that answers expand into; those with the year are shared within a topic."""
    rng, host = runs.chance(12), runs.plan.host
    shown = runs.on("exposes_fanouts", True) & runs.answered
    run, place = spread(weighted(rng, (0.2, 0.2, 0.3, 0.2, 0.1), len(runs)) * shown)
    first = weighted(rng, (4, 2, 2, 1, 1, 0.5), len(runs))
    suffix = (first[run] + place) % len(_SUFFIXES)
    words = [
        f"best {(row.get('topic') or 'crm').lower()} 2026"
        if name == "2026"
        else f"{row['prompt'].lower()} {name}"
        for row in runs.plan.rows("prompts")
        for name in _SUFFIXES
    ]
    queries = list(dict.fromkeys(words))
    count = len(queries)
    kept = np.flatnonzero(chance(rng, 0.8, count))
    ranks, volumes = weighted(rng, [1.0] * 40, count), weighted(rng, [1.0] * 90, count)
    unranked, uncounted = chance(rng, 0.4, count), chance(rng, 0.3, count)
    return {
        "fanouts": drawn(
            "fanouts",
            host,
            chat_id=pick(runs.chat_ids, run),
            query_index=place,
            query=pick(words, runs.prompt[run] * len(_SUFFIXES) + suffix),
        ),
        "queries": drawn(
            "queries",
            host,
            query=pick(queries, kept),
            intent=pick(_INTENTS, weighted(rng, (5, 3, 1, 1), len(kept))),
            own_organic_rank=unless(unranked[kept], ranks[kept] + 1),
            search_volume=unless(uncounted[kept], volumes[kept] * 10),
        ),
    }


def draw_ads(runs: Runs) -> dict[str, pa.Table]:
    """The advertisements of a project, and their cards."""
    rng, advertisers = runs.chance(20), runs.plan.rows("advertisers")
    examined = runs.on("shows_ads", True) & runs.on("ads_checked", True) & runs.answered
    run = np.flatnonzero(examined & chance(rng, 0.07, len(runs)))
    count = len(run)
    unit = weighted(rng, (5, 2, 2, 1), count)
    advertiser = weighted(rng, [1.0, 6.0, *[2.0] * (len(advertisers) - 2)], count)
    unlinked = chance(rng, 0.1, count)
    engines = runs.plan.values("engines", "engine")
    surfaces = ["ai_overview" if name == "google-ai-overview" else "answer" for name in engines]
    ads = drawn(
        "ads",
        runs.plan.host,
        ad_id=numbered("ad_", count),
        engine=pick(runs.engines, run),
        observed_at=pick(runs.ran_at, run),
        chat_id=unless(unlinked, pick(runs.chat_ids, run)),
        prompt_id=unless(unlinked & chance(rng, 0.5, count), pick(runs.prompt_ids, run)),
        surface=pick(surfaces, runs.engine[run]),
        unit=pick(_UNITS, unit),
        placement=pick(_PLACEMENTS, weighted(rng, (1, 1, 3), count)),
        position=unless(chance(rng, 0.05, count), between(rng, 1, 2, count)),
        advertiser=unless(
            chance(rng, 0.02, count),
            pick([row["advertiser"] for row in advertisers], advertiser),
        ),
    )
    return {"ads": ads, "ad_cards": _cards(runs, _CARDS[unit], advertiser)}


def _cards(runs: Runs, cards: Array, advertiser: Array) -> pa.Table:
    rng = runs.chance(21)
    ad, place = spread(cards)
    count = len(ad)
    domains = runs.plan.values("advertisers", "domain", "ads.example")
    unpriced = ~chance(rng, 0.4, count)
    price = 9 + between(rng, 0, 90, count) + 0.99
    return drawn(
        "ad_cards",
        runs.plan.host,
        ad_id=pick(numbered("ad_", len(cards)), ad),
        card=place + 1,
        headline=pick(_HEADLINES, weighted(rng, (3, 2, 1, 1), count)),
        body=unless(chance(rng, 0.2, count), "(synthetic) An advertisement."),
        image_url=unless(chance(rng, 0.5, count), "https://images.example/ad.png"),
        target_url=pick([f"https://{domain}/?from=ad" for domain in domains], advertiser[ad]),
        price_amount=unless(unpriced, price),
        price_currency=unless(unpriced, "USD"),
    )


def draw_shopping(runs: Runs) -> dict[str, pa.Table]:
    """The products that answers show, and their offers."""
    rng, ids = runs.chance(30), runs.plan.values("products", "product_id")
    shown = np.flatnonzero(runs.shopping)
    liking = rng.random((len(shown), len(ids))) + np.linspace(0.5, 0.0, len(ids))
    order = np.argsort(-liking, axis=1, kind="stable")
    run, place = spread(between(rng, 2, 5, len(shown)))
    mentions = drawn(
        "product_mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, shown[run]),
        product_id=pick(ids, order[run, place]),
        position=place + 1,
    )
    return {"product_mentions": mentions, "offers": listed("offers", runs.plan.host, _offers(runs))}


def _offers(runs: Runs) -> list[dict[str, Any]]:
    rng = runs.chance(31)
    offers = []
    for product in runs.plan.values("products", "product_id"):
        if product in _WITHOUT_OFFERS:
            continue
        for position in range(1, 2 + int(rng.integers(0, 4))):
            merchant, domain, currency = _MERCHANTS[int(rng.integers(0, len(_MERCHANTS)))]
            price = None if rng.random() < 0.15 else 20 + int(rng.integers(0, 600)) + 0.9
            offers.append(
                {
                    "product_id": product,
                    "offer_position": position,
                    "merchant": merchant,
                    "merchant_domain": domain,
                    "price_amount": price,
                    "price_currency": None if price is None else currency,
                    "stock_status": _STOCK[int(rng.integers(0, len(_STOCK)))],
                    "delivery_text": "Free delivery" if rng.random() < 0.5 else None,
                    "url": f"https://{domain or 'box.example'}/{product}",
                }
            )
    return offers
