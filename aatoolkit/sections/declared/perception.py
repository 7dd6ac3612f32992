"""Perception: how answers speak of brands, what they ascribe to them, what they claim."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION, SCORE, SUM, refused, weighted
from aatoolkit.sections.declared._vocabulary import TONES
from aatoolkit.sections.section import Column, Section, Table, keyed, records

SECTION = Section(
    "perception",
    "Summaries of how answers speak of brands.",
    Table(
        "perception_sentiment",
        "One row per brand.",
        records("sentiment"),
        key="brand",
        columns=(
            Column("brand", "string", "The brand."),
            Column("own", "boolean", "Whether it is the project's own; null = not known."),
            Column(
                "sentiment_score",
                "Float64",
                "Mean score of its scored mentions; 50 is neutral, null = none was scored.",
                source="score",
                unit=SCORE,
                aggregate=weighted("scored_count"),
            ),
            Column(
                "positive_share",
                "Float64",
                "Its mentions in a positive tone, of those labelled with a tone.",
                source="positive",
                unit=FRACTION,
                aggregate=weighted("scored_count"),
            ),
            Column(
                "neutral_share",
                "Float64",
                "Its mentions in a neutral tone, of those labelled with a tone.",
                source="neutral",
                unit=FRACTION,
                aggregate=weighted("scored_count"),
            ),
            Column(
                "negative_share",
                "Float64",
                "Its mentions in a negative tone, of those labelled with a tone; lower is better.",
                source="negative",
                unit=FRACTION,
                aggregate=weighted("scored_count"),
            ),
            Column(
                "scored_count",
                "Int64",
                "Mentions that were scored: the sample size of the score.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "mention_count",
                "Int64",
                "Answers that mention the brand, scored or not.",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "perception_sentiment_trend",
        "One row per date, for the brand in focus.",
        records("sentimentTrend"),
        key="date",
        columns=(
            Column("date", "date", "The day on which the answers were collected, in UTC."),
            Column(
                "sentiment_score",
                "Float64",
                "Mean score of the day's scored mentions; 50 is neutral.",
                source="score",
                unit=SCORE,
                aggregate=refused("no n: the scored mentions of a day are not reported"),
            ),
            Column(
                "positive_share",
                "Float64",
                "The day's mentions in a positive tone, of those labelled with a tone.",
                source="positive",
                unit=FRACTION,
            ),
            Column(
                "neutral_share",
                "Float64",
                "The day's mentions in a neutral tone, of those labelled with a tone.",
                source="neutral",
                unit=FRACTION,
            ),
            Column(
                "negative_share",
                "Float64",
                "The day's mentions in a negative tone, of those labelled with a tone.",
                source="negative",
                unit=FRACTION,
            ),
        ),
    ),
    Table(
        "perception_attributes",
        "One row per brand and attribute.",
        records("attributes"),
        key=("brand", "attribute"),
        columns=(
            Column("brand", "string", "The brand."),
            Column("attribute", "string", "What answers ascribe to it, in words."),
            Column("polarity", "category", "The attribute's usual tone.", levels=TONES),
            Column(
                "occurrences",
                "Int64",
                "Answers that ascribe it to the brand.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "share",
                "Float64",
                "Its occurrences, of those of all attributes of the same brand.",
                unit=FRACTION,
            ),
        ),
    ),
    Table(
        "perception_attribute_engines",
        "One row per brand, attribute and engine.",
        keyed("attributes[].byEngine", key="engine"),
        key=("brand", "attribute", "engine"),
        columns=(
            Column("brand", "string", "The brand.", source="^brand"),
            Column(
                "attribute", "string", "What answers ascribe to it, in words.", source="^attribute"
            ),
            Column("engine", "string", "The engine; one that is absent is not reported, not 0."),
            Column(
                "occurrences",
                "Int64",
                "Answers of the engine that ascribe it to the brand.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "perception_claims",
        "One row per claim.",
        records("claims"),
        key="claim_id",
        columns=(
            Column("claim_id", "string", "The claim's id."),
            Column("brand", "string", "The brand it is about."),
            Column("text", "string", "The claim, in words."),
            Column(
                "verdict",
                "category",
                "What checking it found.",
                levels=("accurate", "inaccurate", "unverified"),
            ),
            Column(
                "occurrences", "Int64", "Answers that make the claim.", unit=COUNT, aggregate=SUM
            ),
            Column("engines", "list<string>", "The engines whose answers make the claim."),
            Column(
                "example_chat_id",
                "string",
                "An answer that makes the claim; refers to `chats`; null = none is shown.",
            ),
        ),
    ),
)
