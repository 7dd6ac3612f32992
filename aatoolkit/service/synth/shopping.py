"""Shopping results of synthetic answers: products, their offers, and where they are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.random_columns import between, listed, observed, pick, spread
from aatoolkit.service.synth.runs import Runs

_PRODUCTS = (
    ("Starter box", "Software boxes", 4.7, 1320, "in_stock"),
    ("Team box", "Software boxes", 4.2, 310, "in_stock"),
    ("Desk phone", "Phones", 3.9, 57, "out_of_stock"),
    ("Headset", "Headsets", None, None, "in_stock"),
    ("Handbook", "Books", 4.9, 12, "preorder"),
    ("Card reader", None, 4.0, 0, "unknown"),
    ("Café till", "Tills", 4.4, 88, None),
    ("Sticker set", "Extras", None, None, "in_stock"),
)
_WITHOUT_OFFERS = (3, 7)
_MERCHANTS = (
    ("Uplift", "uplift.example", "USD"),
    ("Büro & Co.", "buero.example", "EUR"),
    ("Box Market", None, "USD"),
)
_STOCK = ("in_stock", "out_of_stock", None)
_ATTRIBUTES = (("Warranty", "{} years"), ("Seats", "up to {}"), ("Weight (kg)", "{}.5"))


def draw_shopping(runs: Runs) -> dict[str, pa.Table]:
    """The products of a project, and the answers that show them."""
    host, count = runs.plan.host, len(_PRODUCTS)
    return {
        "products": listed("products", host, [_product(runs, number) for number in range(count)]),
        "product_attributes": listed(
            "product_attributes",
            host,
            [
                {"product_id": _id(number), "attribute": name, "value": value.format(number + 2)}
                for number in range(count - 1)
                for name, value in _ATTRIBUTES[: number % 4]
            ],
        ),
        "product_mentions": _mentions(runs),
        "offers": listed("offers", host, _offers(runs)),
    }


def _id(number: int) -> str:
    return f"p_{number + 1}"


def _product(runs: Runs, number: int) -> dict[str, Any]:
    title, category, rating, reviews, stock = _PRODUCTS[number]
    brands = [brand.brand for brand in runs.plan.brands[:3]]
    return {
        "product_id": _id(number),
        "title": f"{title} (synthetic)",
        "brand": None if number == 5 else brands[number % len(brands)],
        "category": category,
        "rating_value": rating,
        "rating_max": None if rating is None else 5.0,
        "rating_count": reviews,
        "stock_status": stock,
    }


def _mentions(runs: Runs) -> pa.Table:
    rng, products = runs.chance(30), len(_PRODUCTS)
    shown = np.flatnonzero(runs.shopping)
    lead = np.linspace(0.5, 0.0, products)
    order = np.argsort(-(rng.random((len(shown), products)) + lead), axis=1, kind="stable")
    run, place = spread(between(rng, 2, 5, len(shown)))
    return observed(
        "product_mentions",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, shown[run]),
        product_id=pick([_id(number) for number in range(products)], order[run, place]),
        position=place + 1,
    )


def _offers(runs: Runs) -> list[dict[str, Any]]:
    rng = runs.chance(31)
    offers = []
    for number in range(len(_PRODUCTS)):
        if number in _WITHOUT_OFFERS:
            continue
        for position in range(1, 2 + int(rng.integers(0, 4))):
            merchant, domain, currency = _MERCHANTS[int(rng.integers(0, len(_MERCHANTS)))]
            price = None if rng.random() < 0.15 else 20 + int(rng.integers(0, 600)) + 0.9
            offers.append(
                {
                    "product_id": _id(number),
                    "offer_position": position,
                    "merchant": merchant,
                    "merchant_domain": domain,
                    "price_amount": price,
                    "price_currency": None if price is None else currency,
                    "stock_status": _STOCK[int(rng.integers(0, len(_STOCK)))],
                    "delivery_text": "Free delivery" if rng.random() < 0.5 else None,
                    "url": f"https://{domain or 'box.example'}/{_id(number)}",
                }
            )
    return offers
