"""Scope options: what may be asked of a project. The answer has no envelope."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, LAST, SUM
from aatoolkit.sections.section import Column, Section, Table, records

SECTION = Section(
    "scope_options",
    "The values that the filters of a project take.",
    Table(
        "scope_engines",
        "One row per engine.",
        records("engines"),
        key="engine",
        columns=(
            Column(
                "engine", "string", "The engine's id, as the engine filter takes it.", source="id"
            ),
            Column("label", "string", "The engine's name for people."),
            Column("configured", "boolean", "Whether the project has the engine switched on."),
            Column(
                "last_run_day",
                "date",
                "The last day on which prompts were put to the engine; null = it never ran.",
                aggregate=LAST,
            ),
        ),
    ),
    Table(
        "scope_topics",
        "One row per topic; prompts without a topic are counted under (none).",
        records("topics"),
        key="topic",
        columns=(
            Column(
                "topic",
                "string",
                "The topic; (none) stands for prompts without one and is no filter value.",
                null="(none)",
            ),
            Column(
                "prompt_count",
                "Int64",
                "Prompts of the topic.",
                source="count",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "scope_categories",
        "One row per category; prompts without a category are counted under (none).",
        records("categories"),
        key="category",
        columns=(
            Column(
                "category",
                "string",
                "The category; (none) stands for prompts without one and is no filter value.",
                null="(none)",
            ),
            Column(
                "prompt_count",
                "Int64",
                "Prompts of the category.",
                source="count",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "scope_brands",
        "One row per brand.",
        records("brands"),
        key="brand",
        columns=(
            Column(
                "brand", "string", "The brand's name, as the brand filter takes it.", source="name"
            ),
            Column("tracked", "boolean", "Whether the project tracks the brand."),
            Column(
                "own",
                "boolean",
                "Whether the brand is the project's own; absent or null = not known, not false.",
                optional=True,
            ),
        ),
    ),
    kept=("days", "ownTerms"),
)
