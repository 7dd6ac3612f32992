"""Prompts: what is asked of the engines, and how much of the account's allowance is used."""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    MAX,
    RANK,
    SCORE,
    SEARCHES,
    SUM,
    ratio,
    refused,
    weighted,
)
from aatoolkit.sections.declared._vocabulary import INTENTS
from aatoolkit.sections.section import Column, Section, Table, records, single

SECTION = Section(
    "prompts",
    "Prompts and the account's allowance.",
    Table(
        "prompts",
        "One row per prompt.",
        records("rows"),
        key="prompt_id",
        columns=(
            Column("prompt_id", "string", "The prompt's id."),
            Column("prompt", "string", "The prompt as it is put to the engines."),
            Column("topic", "string", "Its topic; null = untagged."),
            Column("category", "string", "Its category; null = none."),
            Column("intent", "category", "What somebody who asks it is after.", levels=INTENTS),
            Column(
                "branded",
                "boolean",
                "Whether it names the own brand, which makes a mention all but certain.",
            ),
            Column("country", "string", "The country it is asked from.", unit="ISO 3166-1 alpha-2"),
            Column("language", "string", "The language it is asked in.", unit="BCP 47"),
            Column("active", "boolean", "Whether it is still asked."),
            Column(
                "volume_estimate",
                "Int64",
                "Estimated searches a month for it, not answers collected; null = no estimate.",
                source="volume.estimate",
                unit=SEARCHES,
            ),
            Column(
                "volume_band",
                "category",
                "Searches a month as a band.",
                source="volume.band",
                levels=("0-10", "10-100", "<100", "100-1K", "1K-10K"),
            ),
            Column(
                "answer_count",
                "Int64",
                "Answers collected; 0 = it was not asked, so the other figures are null.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "mention_count",
                "Int64",
                "Answers that mention the brand in focus.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "mention_rate",
                "Float64",
                "Answers that mention the brand in focus, of the prompt's answers.",
                unit=FRACTION,
                aggregate=ratio("mention_count", "answer_count"),
            ),
            Column(
                "average_position",
                "Float64",
                "Mean place among the brands of the answers that mention it; lower is better.",
                unit=RANK,
                aggregate=weighted("mention_count"),
            ),
            Column(
                "sentiment_score",
                "Float64",
                "Mean score of the scored mentions; 50 is neutral.",
                unit=SCORE,
                aggregate=refused("no n: the scored mentions of a prompt are not reported"),
            ),
            Column(
                "own_citation_count",
                "Int64",
                "Citations of the own pages in the prompt's answers.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column("top_brand", "string", "The brand that its answers mention most often."),
            Column("created_at", "timestamp", "When it was added, in UTC."),
        ),
    ),
    Table(
        "prompt_engines",
        "One row per prompt and engine, for the latest run.",
        records("rows[].engines"),
        key=("prompt_id", "engine"),
        columns=(
            Column("prompt_id", "string", "The prompt; refers to `prompts`.", source="^promptId"),
            Column("engine", "string", "The engine; one that is absent is not reported."),
            Column(
                "mentioned", "boolean", "Whether the latest answer mentions the brand in focus."
            ),
            Column(
                "position",
                "Float64",
                "The brand's place in that answer; lower is better, null = not mentioned.",
                unit=RANK,
            ),
            Column("last_run_day", "date", "The day of the latest run.", aggregate=MAX),
        ),
    ),
    Table(
        "account_allowance",
        "One row per fetch: what the account may use and has used.",
        single("account"),
        key="domain",
        columns=(
            Column("domain", "string", "The project's domain.", source="$.domain"),
            Column("plan", "string", "The account's plan."),
            Column("prompt_allowance", "Int64", "Prompts that the plan allows.", unit=COUNT),
            Column("prompts_used", "Int64", "Prompts that count against it.", unit=COUNT),
            Column("prompts_remaining", "Int64", "Prompts still to be had.", unit=COUNT),
            Column("engine_allowance", "Int64", "Engines that the plan allows.", unit=COUNT),
            Column("resets_on", "date", "The day on which the allowance starts anew."),
        ),
    ),
    kept=("paging",),
)
