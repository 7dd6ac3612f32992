"""Fan-outs: the search queries that an AI engine makes from a prompt before it answers."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_QUERY_COLUMN = ref("query", "The query; refers to `fanout_queries`.")

SECTION = Section(
    "fanouts", "Observed query expansions.",
    Table("fanout_queries", "One row per query.", records("queries"), key="query", columns=(
        text("query", "The query."),
        count("occurrences", "Times an engine made the query from a prompt."),
        fraction("share", "Its share of the occurrences of all queries.",
            aggregate=share(counts=("occurrences", "all_occurrence_count"))),
        category("intent", "Aim of somebody who searches the query.", PROMPT_INTENTS),
        rank("own_organic_rank", "Position of the project in search results; lower is better."),
        integer("search_volume", "Searches a month for the query.", unit=SEARCHES),
        date("first_seen_on", "The first day in the window with the query.", aggregate=MIN),
        date("last_seen_on", "The last day in the window with the query.", aggregate=MAX),
        count("all_occurrence_count", "Occurrences of all queries: the sample size of the share.",
            "$.totals.fanoutCount", aggregate=refused("the same occurrences in every row"), optional=True),
    )),
    Table("fanout_query_engines", "One row per query and engine.", keyed("queries[].byEngine", key="engine"),
        key=("query", "engine"), columns=(
        _QUERY_COLUMN,
        REPORTED_ENGINE_COLUMN,
        count("occurrences", "Times the engine made the query.", "."),
    )),
    Table("fanout_query_prompts", "One row per query and prompt that it was made of.", records("queries[].promptIds"),
        key=("query", "prompt_id"), columns=(
        _QUERY_COLUMN,
        text("prompt_id", "The prompt; refers to `prompts`.", "."),
    )),
    Table("fanout_terms", "One row per term.", pairs("terms", "term", "occurrences"), key="term", columns=(
        text("term", "A word of the queries."),
        count("occurrences", "Times the term occurs in queries."),
    )),
    Table("fanout_engine_support", "One row per engine.", records("engineSupport"), key="engine", columns=(
        ENGINE_COLUMN,
        flag("exposes_fanouts", "Whether it shows its queries; if not, they are not applicable."),
    )),
    kept=("totals.uniqueQueries", "totals.answersWithFanouts", "totals.fanoutsPerAnswer"),
)
