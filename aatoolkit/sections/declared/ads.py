"""Ads: advertisements that were seen next to answers. Their cost is not known."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
SECTION = Section(
    "ads", "Observed advertisements.",
    Table("ads", "One row per observed ad.", records("observations"), key="ad_id", columns=(
        text("ad_id", "The observation's id."),
        text("engine", "The engine whose surface showed it."),
        category("surface", "The surface that showed the ad.", ("answer", "ai_overview", "ai_mode", "sidebar")),
        category("unit", "Form of the ad.", ("single_advertiser", "carousel", "product_carousel", "text")),
        category("placement", "Placement of the ad beside the answer.", ("above_answer", "inline", "below_answer")),
        rank("position", "Position among the ads; lower is better."),
        text("advertiser", "Name of the advertiser.", "advertiser.name"),
        text("advertiser_domain", "The advertiser's domain.", "advertiser.domain"),
        flag("own", "Whether the advertiser is the own brand.", "advertiser.own"),
        flag("tracked", "Whether the project tracks the advertiser.", "advertiser.tracked"),
        text("prompt_id", "The prompt asked; refers to `prompts`."),
        text("chat_id", "The answer beside the ad; refers to `chats`."),
        timestamp("observed_at", "When the ad was seen, in UTC."),
    )),
    Table("ad_cards", "One row per ad and card.", records("observations[].cards"), key=("ad_id", "card"), columns=(
        ref("ad_id", "The ad; refers to `ads`."),
        integer("card", "Position of the card, from 1.", "#1"),
        text("headline", "Headline of the card."),
        text("body", "Text of the card, if any."),
        text("image_url", "Address of its picture, if any."),
        text("target_url", "Address that it leads to."),
        number("price_amount", "The price shown, if any.", "price.amount", unit="price_currency units"),
        text("price_currency", "The currency of the price.", "price.currency", unit="ISO 4217"),
    )),
    Table("ad_advertisers", "One row per advertiser.", records("advertisers"), key="advertiser", columns=(
        text("advertiser", "Name of the advertiser."),
        text("advertiser_domain", "The advertiser's domain.", "domain"),
        count("observations", "Ads of it that were seen."),
        integer("prompt_count", "Distinct prompts with such ads.", unit="distinct prompts", aggregate=NOT_ADDITIVE),
        fraction("ad_share", "Its share of all ads; sums to 1.",
            aggregate=share(counts=("observations", "all_observations"))),
        make_total_count("all_observations", "Ads of all advertisers: the sample size of the share.", "ads"),
    )),
    Table("ad_engine_support", "One row per engine.", keyed("engineSupport", key="engine"), key="engine", columns=(
        ENGINE_COLUMN,
        category("support", "Whether ads were seen; only none_observed is a measured zero.",
            ("observed", "none_observed", "not_applicable", "not_checked"), "."),
    )),
    kept=("totals",),
)
