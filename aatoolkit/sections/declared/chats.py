"""Chats: sampled answers as the engines gave them, with what they mention, cite and asked."""

from __future__ import annotations

from aatoolkit.sections.aggregation import CHARACTERS, MEAN, RANK, SCORE, SUM
from aatoolkit.sections.declared._vocabulary import DOMAIN_TYPES, TONES
from aatoolkit.sections.section import Column, Section, Table, records

SECTION = Section(
    "chats",
    "Sampled answers.",
    Table(
        "chats",
        "One row per sampled answer.",
        records("chats"),
        key="chat_id",
        columns=(
            Column("chat_id", "string", "The answer's id."),
            Column("prompt_id", "string", "The prompt that was asked; refers to `prompts`."),
            Column("prompt", "string", "The prompt as it was put to the engine."),
            Column("engine", "string", "The engine that answered."),
            Column("model", "string", "The engine's model; null = not known."),
            Column("country", "string", "The country it was asked from."),
            Column("ran_at", "timestamp", "When it was asked, in UTC."),
            Column(
                "outcome",
                "category",
                "What came back; only answered ones count in rates.",
                levels=("answered", "empty", "refused", "error"),
            ),
            Column(
                "answer_text",
                "string",
                "The answer, or its beginning; null = nothing came back.",
                source="answer.text",
            ),
            Column(
                "answer_format",
                "category",
                "How the text is marked up.",
                source="answer.format",
                levels=("markdown",),
            ),
            Column(
                "answer_characters",
                "Int64",
                "Length of the whole answer, be the text cut or not.",
                source="answer.characters",
                unit=CHARACTERS,
                aggregate=SUM,
            ),
            Column(
                "answer_truncated",
                "boolean",
                "Whether the text is only the answer's beginning.",
                source="answer.truncated",
            ),
            Column("features", "list<string>", "What the engine showed beside the text."),
        ),
    ),
    Table(
        "chat_mentions",
        "One row per answer and brand that it mentions.",
        records("chats[].mentions"),
        key=("chat_id", "brand"),
        columns=(
            Column("chat_id", "string", "The answer; refers to `chats`.", source="^chatId"),
            Column("brand", "string", "The brand."),
            Column("own", "boolean", "Whether it is the project's own; null = not known."),
            Column(
                "position",
                "Int64",
                "Its place among the brands of the answer; lower is better.",
                unit=RANK,
                aggregate=MEAN,
            ),
            Column("sentiment", "category", "The tone of the mention.", levels=TONES),
            Column(
                "sentiment_score",
                "Float64",
                "The mention's score; 50 is neutral, null = not scored.",
                unit=SCORE,
                aggregate=MEAN,
            ),
            Column("excerpt", "string", "The words around the mention."),
        ),
    ),
    Table(
        "chat_citations",
        "One row per answer and source.",
        records("chats[].citations"),
        key=("chat_id", "n"),
        columns=(
            Column("chat_id", "string", "The answer; refers to `chats`.", source="^chatId"),
            Column("n", "Int64", "The source's place in the answer, from 1.", unit="position"),
            Column("url", "string", "The source's address, as the engine gave it."),
            Column("source_domain", "string", "Its domain.", source="domain"),
            Column("title", "string", "Its title; null = the engine gave none."),
            Column("domain_type", "category", "What kind of site it is on.", levels=DOMAIN_TYPES),
            Column("cited", "boolean", "Whether the answer cites it; false = retrieved only."),
        ),
    ),
    Table(
        "chat_fanouts",
        "One row per answer and query that the engine made of the prompt.",
        records("chats[].fanouts"),
        key=("chat_id", "query_index"),
        columns=(
            Column("chat_id", "string", "The answer; refers to `chats`.", source="^chatId"),
            Column("query_index", "Int64", "The query's place, from 0.", source="#0"),
            Column("query", "string", "The query.", source="."),
        ),
    ),
    kept=("sampling",),
)
