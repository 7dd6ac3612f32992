"""Advertisements seen beside synthetic answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.random_columns import (
    Integers,
    between,
    chance,
    instants,
    listed,
    numbered,
    observed,
    pick,
    spread,
    unless,
    weighted,
)
from aatoolkit.service.synth.runs import Runs

_AD_RATE = 0.07
_UNITS = ("single_advertiser", "carousel", "product_carousel", "text")
_CARDS = np.array([1, 3, 2, 0])
_PLACEMENTS = ("above_answer", "inline", "below_answer")
_HEADLINES = ("Close more deals", "Start today", "50 % off", "The CRM for you")


def draw_ads(runs: Runs) -> dict[str, pa.Table]:
    """The advertisements of a project, their cards, and who pays for them."""
    rng, known = runs.chance(20), _advertisers(runs)
    examined = runs.on("shows_ads", True) & runs.on("ads_checked", True) & (runs.outcome == 0)
    run = np.flatnonzero(examined & chance(rng, _AD_RATE, len(runs)))
    count = len(run)
    unit = weighted(rng, (5, 2, 2, 1), count)
    advertiser = weighted(rng, [1.0, 6.0, *[2.0] * (len(known) - 2)], count)
    unlinked = chance(rng, 0.1, count)
    ads = observed(
        "ads",
        runs.plan.host,
        ad_id=numbered("ad_", count),
        engine=runs.engines(run),
        observed_at=instants(runs.day(run), runs.second[run]),
        chat_id=unless(unlinked, pick(runs.chat_ids, run)),
        prompt_id=unless(unlinked & chance(rng, 0.5, count), runs.prompt_ids(run)),
        surface=pick(_surfaces(runs), runs.engine[run]),
        unit=pick(_UNITS, unit),
        placement=pick(_PLACEMENTS, weighted(rng, (1, 1, 3), count)),
        position=unless(chance(rng, 0.05, count), between(rng, 1, 2, count)),
        advertiser=unless(
            chance(rng, 0.02, count), pick([one["advertiser"] for one in known], advertiser)
        ),
    )
    return {
        "ads": ads,
        "ad_cards": _cards(runs, _CARDS[unit], advertiser),
        "advertisers": listed("advertisers", runs.plan.host, known),
    }


def _surfaces(runs: Runs) -> list[str]:
    overview = "google-ai-overview"
    return ["ai_overview" if e.engine == overview else "answer" for e in runs.plan.engines]


def _advertisers(runs: Runs) -> list[dict[str, Any]]:
    """Some of the brands, one that nobody tracks, and one of which little is known."""
    brands = [
        {
            "advertiser": brand.brand,
            "domain": brand.domain,
            "own": brand.own,
            "tracked": brand.tracked,
        }
        for brand in runs.plan.brands[:4]
    ]
    deals = {"advertiser": "Deals & Co.", "domain": "deals.example", "own": False}
    return [*brands, {**deals, "tracked": False}, {"advertiser": "Mystery Inc."}]


def _cards(runs: Runs, cards: Integers, advertiser: Integers) -> pa.Table:
    rng = runs.chance(21)
    ad, place = spread(cards)
    count = len(ad)
    domains = [known.get("domain") or "ads.example" for known in _advertisers(runs)]
    priced = chance(rng, 0.4, count)
    price = 9 + between(rng, 0, 90, count) + 0.99
    return observed(
        "ad_cards",
        runs.plan.host,
        ad_id=pick(numbered("ad_", len(cards)), ad),
        card=place + 1,
        headline=pick(_HEADLINES, weighted(rng, (3, 2, 1, 1), count)),
        body=unless(chance(rng, 0.2, count), pa.repeat("(synthetic) An advertisement.", count)),
        image_url=unless(
            chance(rng, 0.5, count), pa.repeat("https://images.example/ad.png", count)
        ),
        target_url=pick([f"https://{domain}/?from=ad" for domain in domains], advertiser[ad]),
        price_amount=unless(~priced, price),
        price_currency=unless(~priced, pa.repeat("USD", count)),
    )
