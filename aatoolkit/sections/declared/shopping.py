"""Shopping: products, offers and merchants in shopping results next to answers.

The column ``stock_status`` says whether a product can be bought. The field of the API is called
``availability``.
"""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_STOCK_STATUS_COLUMN = category("stock_status", "Whether it can be bought; not data availability.",
    ("in_stock", "out_of_stock", "preorder", "unknown"), "availability")
_MERCHANT_COLUMNS = (text("merchant", "Who sells."), text("merchant_domain", "The seller's domain.", "domain"))

_BRAND_OVERLAP_REASON = "not additive across brands: one answer may show products of several"
_PRODUCT_ID_COLUMN = ref("product_id", "The product; refers to `shopping_products`.")

SECTION = Section(
    "shopping", "Observed shopping results.",
    Table("shopping_products", "One row per product.", records("products"), key="product_id", columns=(
        text("product_id", "The product's id."),
        text("title", "Title of the product."),
        text("brand", "Brand of the product."),
        flag("own", "Whether the product's brand is the project's own."),
        text("category", "Category of the product, not of prompts."),
        count("mention_count", "Answers that show the product."),
        fraction("visibility_rate", "Share of answers with shopping results that show the product.",
            aggregate=refused("not additive: one answer may show several products",
            ("answer_count", "shopping_answer_count"))),
        position("average_position", "Mean position in its answers; lower is better.",
            aggregate=weighted("position_count", otherwise="mention_count")),
        fraction("first_position_rate", "Share of answers with its position that show it first.",
            aggregate=ratio("first_position_count", "position_count", otherwise="mention_count")),
        number("rating_value", "Rating, at most `rating_max`.", "rating.value", unit="0..rating_max"),
        number("rating_max", "The best possible rating.", "rating.max"),
        integer("rating_count", "Reviews behind the rating.", "rating.count", unit="reviews"),
        number("price_min", "Lowest price, in `currency`.", "priceRange.min", unit=CURRENCY,
            aggregate=Aggregation("min", within="currency")),
        number("price_max", "Highest price, in `currency`.", "priceRange.max", unit=CURRENCY,
            aggregate=Aggregation("max", within="currency")),
        text("currency", "The currency of its prices.", "priceRange.currency", unit=ISO_4217),
        _STOCK_STATUS_COLUMN,
        *mark_optional(
            count("position_count", "Answers with its position: sample size of the mean."),
            count("first_position_count", "Answers that show the product first."),
            integer("answer_count", "Distinct answers with the product; products overlap.", unit="distinct answers",
                aggregate=NOT_ADDITIVE),
        ),
        make_total_count("shopping_answer_count", "Answers with shopping results: the sample size of the visibility.", "answers"),
    )),
    Table("shopping_offers", "One row per product and offer.", records("products[].offers"),
        key=("product_id", "offer_position"), columns=(
        _PRODUCT_ID_COLUMN,
        rank("offer_position", "Position among the product's offers; lower is better.", "position"),
        *_MERCHANT_COLUMNS,
        number("price_amount", "The price, if shown.", "price.amount", unit="price_currency units",
            aggregate=Aggregation("none", within="price_currency")),
        text("price_currency", "The currency of the price.", "price.currency", unit=ISO_4217),
        _STOCK_STATUS_COLUMN,
        text("delivery_text", "The text about delivery."),
        text("url", "Address of the offer."),
    )),
    Table("shopping_attributes", "One row per product and attribute.", keyed("products[].attributes", key="attribute"),
        key=("product_id", "attribute"), columns=(
        _PRODUCT_ID_COLUMN,
        text("attribute", "The attribute's name."),
        text("value", "Value of the attribute, as shown.", "."),
    )),
    Table("shopping_brands", "One row per brand.", records("brands"), key="brand", columns=(
        *BRAND_COLUMNS,
        fraction("visibility_rate", "Share of answers with shopping results that show the brand.",
            aggregate=refused(_BRAND_OVERLAP_REASON, ("answer_count", "shopping_answer_count"))),
        fraction("win_rate", "Share of answers with shopping results that show the brand first.",
            aggregate=refused(_BRAND_OVERLAP_REASON, ("win_count", "shopping_answer_count"))),
        fraction("share_of_shelf", "Its share of the product placements of all brands.",
            aggregate=share(counts=("placement_count", "all_placement_count"))),
        position("average_position", "Mean place of its products; lower is better.",
            aggregate=weighted("position_count")),
        count("product_count", "Products of it that are shown; engines share products.", across=("brand",)),
        *mark_optional(
            count("position_count", "Places of its products: the sample size of the mean place."),
            count("answer_count", "Answers with a product of the brand; brands overlap.", aggregate=refused(_BRAND_OVERLAP_REASON)),
            count("win_count", "Answers that show a product of the brand first.", aggregate=refused(_BRAND_OVERLAP_REASON)),
        ),
        make_total_count("shopping_answer_count", "Answers with shopping results: the sample size of both rates.", "answers"),
        count("placement_count", "Placements of products of the brand.", optional=True),
        make_total_count("all_placement_count", "Placements of all products: the sample size of the share of shelf.",
            "placements"),
    )),
    Table("shopping_merchants", "One row per merchant.", records("merchants"), key="merchant", columns=(
        *_MERCHANT_COLUMNS,
        count("offer_count", "Offers of the merchant."),
        fraction("offer_share", "Its offers, of those of all merchants.",
            aggregate=share(counts=("offer_count", "all_offer_count"))),
        number("average_price", "Mean price of its offers, in `currency`.", unit=CURRENCY,
            aggregate=Aggregation("none", within="currency")),
        text("currency", "The currency of its prices.", unit=ISO_4217),
        make_total_count("all_offer_count", "Offers of all merchants: the sample size of the share.", "offers"),
    )),
    Table("shopping_trigger", "One row per fetch: how often answers come with shopping results.", single("totals"),
        key="domain", columns=(
        DOMAIN_COLUMN,
        count("answers_checked", "Answers examined for shopping results."),
        count("answers_with_shopping", "Answers with shopping results."),
        fraction("trigger_rate", "Share of examined answers with shopping results.",
            over=("answers_with_shopping", "answers_checked")),
    )),
)
