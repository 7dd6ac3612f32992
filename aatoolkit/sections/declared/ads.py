"""Ads: advertisements seen beside answers. They are observed, so nobody's spend is known."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION, NOT_ADDITIVE, RANK, SUM, share
from aatoolkit.sections.section import Column, Section, Table, keyed, records

SECTION = Section(
    "ads",
    "Observed advertisements.",
    Table(
        "ads",
        "One row per observed ad.",
        records("observations"),
        key="ad_id",
        columns=(
            Column("ad_id", "string", "The observation's id."),
            Column("engine", "string", "The engine whose surface showed it."),
            Column(
                "surface",
                "category",
                "Where it was shown.",
                levels=("answer", "ai_overview", "ai_mode", "sidebar"),
            ),
            Column(
                "unit",
                "category",
                "Its form.",
                levels=("single_advertiser", "carousel", "product_carousel", "text"),
            ),
            Column(
                "placement",
                "category",
                "Where it stood beside the answer.",
                levels=("above_answer", "inline", "below_answer"),
            ),
            Column("position", "Int64", "Its place among the ads; lower is better.", unit=RANK),
            Column("advertiser", "string", "Who advertises.", source="advertiser.name"),
            Column(
                "advertiser_domain",
                "string",
                "The advertiser's domain.",
                source="advertiser.domain",
            ),
            Column(
                "own",
                "boolean",
                "Whether the advertiser is the own brand; null = not known.",
                source="advertiser.own",
            ),
            Column(
                "tracked",
                "boolean",
                "Whether the project tracks the advertiser.",
                source="advertiser.tracked",
            ),
            Column("prompt_id", "string", "The prompt asked; refers to `prompts`."),
            Column(
                "chat_id",
                "string",
                "The answer it was seen with; refers to `chats`; null = not kept.",
            ),
            Column("observed_at", "timestamp", "When it was seen, in UTC."),
        ),
    ),
    Table(
        "ad_cards",
        "One row per ad and card.",
        records("observations[].cards"),
        key=("ad_id", "card"),
        columns=(
            Column("ad_id", "string", "The ad; refers to `ads`.", source="^adId"),
            Column("card", "Int64", "The card's place, from 1.", source="#1"),
            Column("headline", "string", "Its headline."),
            Column("body", "string", "Its text; null = none."),
            Column("image_url", "string", "Its picture; null = none."),
            Column("target_url", "string", "Where it leads."),
            Column(
                "price_amount",
                "Float64",
                "The price shown; null = none is.",
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
        ),
    ),
    Table(
        "ad_advertisers",
        "One row per advertiser.",
        records("advertisers"),
        key="advertiser",
        columns=(
            Column("advertiser", "string", "Who advertises."),
            Column("advertiser_domain", "string", "The advertiser's domain.", source="domain"),
            Column("observations", "Int64", "Ads of it that were seen.", unit=COUNT, aggregate=SUM),
            Column(
                "prompt_count",
                "Int64",
                "Distinct prompts beside which they were seen.",
                unit="distinct prompts",
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "ad_share",
                "Float64",
                "Its ads, of all ads seen; the advertisers sum to 1.",
                unit=FRACTION,
                aggregate=share(),
            ),
        ),
    ),
    Table(
        "ad_engine_support",
        "One row per engine.",
        keyed("engineSupport", key="engine"),
        key="engine",
        columns=(
            Column("engine", "string", "The engine."),
            Column(
                "support",
                "category",
                "Whether ads were seen; only none_observed is a measured zero.",
                source=".",
                levels=("observed", "none_observed", "not_applicable", "not_checked"),
            ),
        ),
    ),
    kept=("totals",),
)
