"""Perception: the tone of answers about brands, and the attributes and claims in them."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_TONE_COUNT_COLUMNS = (
    count("labelled_count", "Mentions labelled with a tone: the sample size of the shares."),
    count("positive_count", "Positive mentions."),
    count("neutral_count", "Neutral mentions."),
    count("negative_count", "Negative mentions."),
)

def _make_tone_share_columns(possessive: str, otherwise: str | None = None) -> tuple[Column, ...]:
    """Return the columns for the shares of mentions with a positive, neutral and negative tone.

    They are shares of the mentions whose tone is known. ``possessive`` is used in the descriptions
    of the columns, such as ``its``.
    """
    return tuple(
        fraction(f"{tone}_share", f"{tone.capitalize()} share of {possessive} labelled mentions.", tone,
            aggregate=ratio(f"{tone}_count", "labelled_count", otherwise))
        for tone in ANSWER_TONES
    )

_SCORED_COUNT_COLUMN = count("scored_count", "Mentions that were scored: the sample size of the score.")

SECTION = Section(
    "perception", "Summaries of how answers speak of brands.",
    Table("perception_sentiment", "One row per brand.", records("sentiment"), key="brand", columns=(
        *BRAND_COLUMNS,
        score("sentiment_score", "Mean score of the brand's scored mentions; 50 is neutral.", "score",
            aggregate=weighted("scored_count")),
        *_make_tone_share_columns("its", otherwise="scored_count"),
        _SCORED_COUNT_COLUMN,
        count("mention_count", "Answers that mention the brand, scored or not."),
        *mark_optional(*_TONE_COUNT_COLUMNS),
    )),
    Table("perception_sentiment_trend", "One row per date, for the brand in focus.", records("sentimentTrend"),
        key="date", columns=(
        DAY_COLUMN,
        score("sentiment_score", "Mean score of the day's scored mentions; 50 is neutral.", "score",
            aggregate=weighted("scored_count")),
        *_make_tone_share_columns("the day's"),
        *mark_optional(_SCORED_COUNT_COLUMN, *_TONE_COUNT_COLUMNS),
    )),
    Table("perception_attributes", "One row per brand and attribute.", records("attributes"),
        key=("brand", "attribute"), columns=(
        text("brand", "The brand."),
        text("attribute", "Attribute given to the brand, in words."),
        category("polarity", "The attribute's usual tone.", ANSWER_TONES),
        count("occurrences", "Answers that say it of the brand."),
        fraction("share", "Its share of the occurrences of all attributes of the brand.",
            aggregate=refused("an answer may ascribe several attributes", ("occurrences", "brand_occurrences"))),
        count("brand_occurrences", "Occurrences of all attributes of the brand: the sample size of the share.",
            aggregate=refused("the same occurrences in every row of the brand"), optional=True),
    )),
    Table("perception_attribute_engines", "One row per brand, attribute and engine.",
        keyed("attributes[].byEngine", key="engine"), key=("brand", "attribute", "engine"), columns=(
        ref("brand", "The brand."),
        ref("attribute", "Attribute given to the brand, in words."),
        REPORTED_ENGINE_COLUMN,
        count("occurrences", "Answers of the engine that say it of the brand.", "."),
    )),
    Table("perception_claims", "One row per claim.", records("claims"), key="claim_id", columns=(
        text("claim_id", "The claim's id."),
        text("brand", "Brand of the claim."),
        text("text", "The claim, in words."),
        category("verdict", "The result of the check.", ("accurate", "inaccurate", "unverified")),
        count("occurrences", "Answers that make the claim."),
        words("engines", "The engines whose answers make the claim."),
        text("example_chat_id", "An answer that makes the claim; refers to `chats`."),
    )),
)
