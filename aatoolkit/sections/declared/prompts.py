"""Prompts: the questions put to AI engines, and the part of the account's quota that is used."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_PREVIOUS_WINDOW_COLUMNS = (
    *mark_optional(
        count("previous_answer_count", "Answers collected in the window before."),
        count("previous_mention_count", "Answers of the window before that mention the brand in focus."),
        fraction("previous_mention_rate", "The mention rate in the window before.",
            over=("previous_mention_count", "previous_answer_count")),
    ),
)

_MENTION_COLUMNS = (
    count("mention_count", "Answers that mention the brand in focus."),
    MENTION_RATE_COLUMN,
)

SECTION = Section(
    "prompts", "Prompts and the account's allowance.",
    Table("prompts", "One row per prompt.", records("rows"), key="prompt_id", columns=(
        text("prompt_id", "The prompt's id."),
        text("prompt", "The prompt as it is put to the engines."),
        text("topic", "Topic of the prompt, if any."),
        text("category", "Category of the prompt, if any."),
        category("intent", "Aim of somebody who asks the prompt.", PROMPT_INTENTS),
        flag("branded", "Whether it names the own brand, which makes a mention likely."),
        text("country", "Country from which it is asked.", unit="ISO 3166-1 alpha-2"),
        text("language", "Language of the prompt.", unit="BCP 47"),
        flag("active", "Whether the prompt is still asked."),
        integer("volume_estimate", "Estimated searches a month, not answers collected.", "volume.estimate",
            unit=SEARCHES),
        category("volume_band", "Searches a month, as a range.", ("0-10", "10-100", "<100", "100-1K", "1K-10K"),
            "volume.band"),
        count("answer_count", "Answers collected; if 0, other numbers are missing."),
        *_MENTION_COLUMNS,
        MEAN_POSITION_COLUMN,
        score("sentiment_score", "Mean score of the scored mentions; 50 is neutral.",
            aggregate=weighted("scored_count")),
        count("own_citation_count", "Citations of the own pages in the prompt's answers.", among="answer_count"),
        text("top_brand", "The brand that its answers mention most often."),
        timestamp("created_at", "When the prompt was added, in UTC."),
        *mark_optional(
            count("position_count", "Mentions with a position: sample size of the mean.", among="answer_count"),
            count("scored_count", "Mentions that were scored: the sample size of the score.", among="answer_count"),
        ),
        *_PREVIOUS_WINDOW_COLUMNS,
        *mark_optional(
            position("previous_average_position", "The mean position in the window before.",
                aggregate=weighted("previous_position_count")),
            count("previous_position_count", "Mentions with a position in the window before.",
                among="previous_answer_count"),
        ),
    )),
    Table("prompt_engines", "One row per prompt and engine: its latest run, and the counts of all its answers.",
        records("rows[].engines"), key=("prompt_id", "engine"), columns=(
        ref("prompt_id", "The prompt; refers to `prompts`."),
        text("engine", "The engine; one without a row is not reported."),
        flag("mentioned", "Whether the latest answer mentions the brand in focus."),
        position("position", "Position in the latest answer, if mentioned; lower is better."),
        date("last_run_day", "The day of the latest run.", aggregate=MAX),
        *mark_optional(
            count("answer_count", "Answers collected."),
            *_MENTION_COLUMNS,
        ),
        *_PREVIOUS_WINDOW_COLUMNS,
    )),
    Table("account_allowance", "One row per fetch: what the account may use and has used.", single("account"),
        key="domain", columns=(
        DOMAIN_COLUMN,
        text("plan", "The account's plan."),
        integer("prompt_allowance", "Prompts that the plan allows.", unit=COUNT),
        integer("prompts_used", "Prompts that count against the allowance.", unit=COUNT),
        integer("prompts_remaining", "Prompts that can still be added.", unit=COUNT),
        integer("engine_allowance", "Engines that the plan allows.", unit=COUNT),
        date("resets_on", "The day on which the allowance starts anew."),
    )),
    kept=("paging",),
)
