"""Shopping: products, offers and merchants in shopping results beside answers.

The API's ``availability`` of a product is whether it can be bought. It is ``stock_status``
here, so that it is not taken for the availability of data.
"""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    CURRENCY,
    FRACTION,
    NOT_ADDITIVE,
    RANK,
    SUM,
    Aggregation,
    ratio,
    refused,
    share,
    weighted,
)
from aatoolkit.sections.section import Column, Section, Table, keyed, records, single

_STOCK = ("in_stock", "out_of_stock", "preorder", "unknown")

SECTION = Section(
    "shopping",
    "Observed shopping results.",
    Table(
        "shopping_products",
        "One row per product.",
        records("products"),
        key="product_id",
        columns=(
            Column("product_id", "string", "The product's id."),
            Column("title", "string", "Its title."),
            Column("brand", "string", "Its brand."),
            Column("own", "boolean", "Whether that is the own brand; null = not known."),
            Column("category", "string", "Its product category, not a prompt's."),
            Column("mention_count", "Int64", "Answers that show it.", unit=COUNT, aggregate=SUM),
            Column(
                "visibility_rate",
                "Float64",
                "Answers that show it, of the answers with shopping results.",
                unit=FRACTION,
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "average_position",
                "Float64",
                "Mean place among the products of the answers that show it; lower is better.",
                unit=RANK,
                aggregate=weighted("mention_count"),
            ),
            Column(
                "first_position_rate",
                "Float64",
                "Answers that show it first, of the answers that show it.",
                unit=FRACTION,
                aggregate=weighted("mention_count"),
            ),
            Column(
                "rating_value",
                "Float64",
                "Its rating, of at most `rating_max`; null = none is shown.",
                source="rating.value",
                unit="0..rating_max",
            ),
            Column("rating_max", "Float64", "The best rating there is.", source="rating.max"),
            Column(
                "rating_count",
                "Int64",
                "Reviews behind the rating.",
                source="rating.count",
                unit="reviews",
            ),
            Column(
                "price_min",
                "Float64",
                "Its lowest price, in `currency`; null = none is shown.",
                source="priceRange.min",
                unit=CURRENCY,
                aggregate=Aggregation("min", within="currency"),
            ),
            Column(
                "price_max",
                "Float64",
                "Its highest price, in `currency`; null = none is shown.",
                source="priceRange.max",
                unit=CURRENCY,
                aggregate=Aggregation("max", within="currency"),
            ),
            Column(
                "currency",
                "string",
                "The currency of its prices.",
                source="priceRange.currency",
                unit="ISO 4217",
            ),
            Column(
                "stock_status",
                "category",
                "Whether it can be bought; it says nothing of the availability of data.",
                source="availability",
                levels=_STOCK,
            ),
        ),
    ),
    Table(
        "shopping_offers",
        "One row per product and offer.",
        records("products[].offers"),
        key=("product_id", "offer_position"),
        columns=(
            Column(
                "product_id",
                "string",
                "The product; refers to `shopping_products`.",
                source="^productId",
            ),
            Column(
                "offer_position",
                "Int64",
                "The offer's place among those for the product; lower is better.",
                source="position",
                unit=RANK,
            ),
            Column("merchant", "string", "Who sells."),
            Column("merchant_domain", "string", "The seller's domain.", source="domain"),
            Column(
                "price_amount",
                "Float64",
                "The price; null = none is shown.",
                source="price.amount",
                unit="price_currency units",
            ),
            Column(
                "price_currency",
                "string",
                "The currency of the price.",
                source="price.currency",
                unit="ISO 4217",
            ),
            Column(
                "stock_status",
                "category",
                "Whether it can be bought; it says nothing of the availability of data.",
                source="availability",
                levels=_STOCK,
            ),
            Column("delivery_text", "string", "What is said of delivery; null = nothing."),
            Column("url", "string", "Where it is sold."),
        ),
    ),
    Table(
        "shopping_attributes",
        "One row per product and attribute.",
        keyed("products[].attributes", key="attribute"),
        key=("product_id", "attribute"),
        columns=(
            Column(
                "product_id",
                "string",
                "The product; refers to `shopping_products`.",
                source="^productId",
            ),
            Column("attribute", "string", "The attribute's name."),
            Column("value", "string", "Its value, as shown.", source="."),
        ),
    ),
    Table(
        "shopping_brands",
        "One row per brand.",
        records("brands"),
        key="brand",
        columns=(
            Column("brand", "string", "The brand."),
            Column("own", "boolean", "Whether it is the project's own; null = not known."),
            Column(
                "visibility_rate",
                "Float64",
                "Answers that show a product of it, of the answers with shopping results.",
                unit=FRACTION,
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "win_rate",
                "Float64",
                "Answers that list a product of it first, of the answers with shopping results.",
                unit=FRACTION,
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "share_of_shelf",
                "Float64",
                "Its product placements, of those of all brands, listed or not.",
                unit=FRACTION,
                aggregate=share(),
            ),
            Column(
                "average_position",
                "Float64",
                "Mean place of its products; lower is better.",
                unit=RANK,
                aggregate=refused("no sample size in this table"),
            ),
            Column(
                "product_count",
                "Int64",
                "Products of it that are shown.",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "shopping_merchants",
        "One row per merchant.",
        records("merchants"),
        key="merchant",
        columns=(
            Column("merchant", "string", "Who sells."),
            Column("merchant_domain", "string", "The seller's domain.", source="domain"),
            Column("offer_count", "Int64", "Offers of it.", unit=COUNT, aggregate=SUM),
            Column(
                "offer_share",
                "Float64",
                "Its offers, of those of all merchants, listed or not.",
                unit=FRACTION,
                aggregate=share(),
            ),
            Column(
                "average_price",
                "Float64",
                "Mean price of its offers, in `currency`; null = none is shown.",
                unit=CURRENCY,
            ),
            Column(
                "currency", "string", "The currency of its prices; null = none.", unit="ISO 4217"
            ),
        ),
    ),
    Table(
        "shopping_trigger",
        "One row per fetch: how often answers come with shopping results.",
        single("totals"),
        key="domain",
        columns=(
            Column("domain", "string", "The project's domain.", source="$.domain"),
            Column(
                "answers_checked",
                "Int64",
                "Answers examined for shopping results.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "answers_with_shopping",
                "Int64",
                "Answers that have them: the denominator of visibility.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "trigger_rate",
                "Float64",
                "Answers with shopping results, of the answers examined.",
                unit=FRACTION,
                aggregate=ratio("answers_with_shopping", "answers_checked"),
            ),
        ),
    ),
)
