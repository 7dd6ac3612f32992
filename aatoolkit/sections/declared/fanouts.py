"""Fan-outs: the searches that engines make of a prompt before they answer."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION, MAX, MIN, RANK, SEARCHES, SUM, share
from aatoolkit.sections.declared._vocabulary import INTENTS
from aatoolkit.sections.section import Column, Section, Table, keyed, pairs, records

SECTION = Section(
    "fanouts",
    "Observed query expansions.",
    Table(
        "fanout_queries",
        "One row per query.",
        records("queries"),
        key="query",
        columns=(
            Column("query", "string", "The query."),
            Column(
                "occurrences",
                "Int64",
                "Times an engine made it of a prompt.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "share",
                "Float64",
                "Its occurrences, of those of all queries.",
                unit=FRACTION,
                aggregate=share(),
            ),
            Column("intent", "category", "What somebody who searches it is after.", levels=INTENTS),
            Column(
                "own_organic_rank",
                "Int64",
                "The project's place in search results for it; lower is better, null = not known.",
                unit=RANK,
            ),
            Column(
                "search_volume",
                "Int64",
                "Searches a month for it; null = not known.",
                unit=SEARCHES,
            ),
            Column(
                "first_seen_on", "date", "The first day of the window it was made.", aggregate=MIN
            ),
            Column(
                "last_seen_on", "date", "The last day of the window it was made.", aggregate=MAX
            ),
        ),
    ),
    Table(
        "fanout_query_engines",
        "One row per query and engine.",
        keyed("queries[].byEngine", key="engine"),
        key=("query", "engine"),
        columns=(
            Column("query", "string", "The query; refers to `fanout_queries`.", source="^query"),
            Column("engine", "string", "The engine; one that is absent is not reported, not 0."),
            Column(
                "occurrences",
                "Int64",
                "Times the engine made the query.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "fanout_query_prompts",
        "One row per query and prompt that it was made of.",
        records("queries[].promptIds"),
        key=("query", "prompt_id"),
        columns=(
            Column("query", "string", "The query; refers to `fanout_queries`.", source="^query"),
            Column("prompt_id", "string", "The prompt; refers to `prompts`.", source="."),
        ),
    ),
    Table(
        "fanout_terms",
        "One row per term.",
        pairs("terms", "term", "occurrences"),
        key="term",
        columns=(
            Column("term", "string", "A word of the queries."),
            Column(
                "occurrences", "Int64", "Times it stands in a query.", unit=COUNT, aggregate=SUM
            ),
        ),
    ),
    Table(
        "fanout_engine_support",
        "One row per engine.",
        records("engineSupport"),
        key="engine",
        columns=(
            Column("engine", "string", "The engine."),
            Column(
                "exposes_fanouts",
                "boolean",
                "Whether it shows its queries; false = its absent rows are not applicable, not 0.",
            ),
        ),
    ),
    kept=("totals",),
)
