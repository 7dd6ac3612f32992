"""Chats: a sample of answers of AI engines, with mentions, citations and search queries."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_CHAT_ID_COLUMN = ref("chat_id", "The answer; refers to `chats`.")

SECTION = Section(
    "chats", "Sampled answers.",
    Table("chats", "One row per sampled answer.", records("chats"), key="chat_id", columns=(
        text("chat_id", "The answer's id."),
        text("prompt_id", "The prompt that was asked; refers to `prompts`."),
        text("prompt", "The prompt as it was put to the engine."),
        text("engine", "The engine that answered."),
        text("model", "The model that the engine used."),
        text("country", "Country from which it was asked."),
        timestamp("ran_at", "When the prompt was asked, in UTC."),
        category("outcome", "The outcome; rates count only outcomes that are answered.",
            ("answered", "empty", "refused", "error")),
        text("answer_text", "The answer, or its beginning.", "answer.text"),
        category("answer_format", "How the text is marked up.", ("markdown",), "answer.format"),
        count("answer_characters", "Length of the whole answer.", "answer.characters", unit=CHARACTERS,
            aggregate=Aggregation("sum", among=("outcome", "answered"))),
        flag("answer_truncated", "Whether the text was cut.", "answer.truncated"),
        words("features", "Features shown beside the text."),
    )),
    Table("chat_mentions", "One row per answer and brand that it mentions.", records("chats[].mentions"),
        key=("chat_id", "brand"), columns=(
        _CHAT_ID_COLUMN,
        *BRAND_COLUMNS,
        rank("position", "Position in the answer; lower is better.", aggregate=MEAN),
        category("sentiment", "The tone of the mention.", ANSWER_TONES),
        score("sentiment_score", "Score of the tone; 50 is neutral.", aggregate=MEAN),
        text("excerpt", "The words around the mention."),
    )),
    Table("chat_citations", "One row per answer and source.", records("chats[].citations"), key=("chat_id", "n"),
        columns=(
        _CHAT_ID_COLUMN,
        integer("n", "Position in the answer, from 1.", unit="position"),
        text("url", "The source's address, as the engine gave it."),
        text("source_domain", "Domain of the source.", "domain"),
        text("title", "Title of the source, if the engine gave one."),
        category("domain_type", "Kind of site of the source.", DOMAIN_TYPES),
        flag("cited", "Whether the answer cites it; false if the engine only read it."),
    )),
    Table("chat_fanouts", "One row per answer and query that the engine made of the prompt.",
        records("chats[].fanouts"), key=("chat_id", "query_index"), columns=(
        _CHAT_ID_COLUMN,
        integer("query_index", "Position of the query, from 0.", "#0"),
        text("query", "The query.", "."),
    )),
    kept=("sampling",),
)
