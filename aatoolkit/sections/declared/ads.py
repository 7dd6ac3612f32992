"""Ads: advertisements seen beside answers. They are observed, so nobody's spend is known."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
SECTION = Section(
    "ads", "Observed advertisements.",
    Table("ads", "One row per observed ad.", records("observations"), key="ad_id", columns=(
        text("ad_id", "The observation's id."),
        text("engine", "The engine whose surface showed it."),
        category("surface", "The surface that showed the ad.", ("answer", "ai_overview", "ai_mode", "sidebar")),
        category("unit", "The form of the ad.", ("single_advertiser", "carousel", "product_carousel", "text")),
        category("placement", "The placement of the ad beside the answer.", ("above_answer", "inline", "below_answer")),
        rank("position", "The ad's position among the ads; lower is better."),
        text("advertiser", "The name of the advertiser.", "advertiser.name"),
        text("advertiser_domain", "The advertiser's domain.", "advertiser.domain"),
        flag("own", "Whether the advertiser is the own brand.", "advertiser.own"),
        flag("tracked", "Whether the project tracks the advertiser.", "advertiser.tracked"),
        text("prompt_id", "The prompt asked; refers to `prompts`."),
        text("chat_id", "The answer beside which the ad was seen; refers to `chats`."),
        timestamp("observed_at", "When the ad was seen, in UTC."),
    )),
    Table("ad_cards", "One row per ad and card.", records("observations[].cards"), key=("ad_id", "card"), columns=(
        ref("ad_id", "The ad; refers to `ads`."),
        integer("card", "The card's position, from 1.", "#1"),
        text("headline", "The headline of the card."),
        text("body", "The text of the card, if any."),
        text("image_url", "The address of the card's picture, if any."),
        text("target_url", "The address to which the card leads."),
        number("price_amount", "The price shown, if any.", "price.amount", unit="price_currency units"),
        text("price_currency", "The currency of the price.", "price.currency", unit="ISO 4217"),
    )),
    Table("ad_advertisers", "One row per advertiser.", records("advertisers"), key="advertiser", columns=(
        text("advertiser", "The name of the advertiser."),
        text("advertiser_domain", "The advertiser's domain.", "domain"),
        count("observations", "Ads of the advertiser that were seen."),
        integer("prompt_count", "Distinct prompts with such ads.", unit="distinct prompts", aggregate=NOT_ADDITIVE),
        fraction("ad_share", "Its ads as a fraction of all ads; the rows sum to 1.",
            aggregate=share(counts=("observations", "all_observations"))),
        whole("all_observations", "Ads of all advertisers: the sample size of the share.", "ads"),
    )),
    Table("ad_engine_support", "One row per engine.", keyed("engineSupport", key="engine"), key="engine", columns=(
        ENGINE,
        category("support", "Whether ads were seen; only none_observed is a measured zero.",
            ("observed", "none_observed", "not_applicable", "not_checked"), "."),
    )),
    kept=("totals",),
)
