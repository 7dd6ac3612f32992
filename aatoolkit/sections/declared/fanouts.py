"""Fan-outs: the searches that engines make of a prompt before they answer."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
SECTION = Section(
    "fanouts", "Observed query expansions.",
    Table("fanout_queries", "One row per query.", records("queries"), key="query", columns=(
        text("query", "The query."),
        count("occurrences", "Times an engine made it of a prompt."),
        fraction("share", "Its occurrences, of those of all queries.",
            aggregate=share(counts=("occurrences", "all_occurrence_count"))),
        category("intent", "What somebody who searches it is after.", INTENTS),
        rank("own_organic_rank", "The project's place in search results; lower is better."),
        integer("search_volume", "Searches a month for it.", unit=SEARCHES),
        date("first_seen_on", "The first day of the window it was made.", aggregate=MIN),
        date("last_seen_on", "The last day of the window it was made.", aggregate=MAX),
        count("all_occurrence_count", "Occurrences of all queries: the sample size of the share.",
            "$.totals.fanoutCount", aggregate=refused("the same occurrences in every row"), optional=True),
    )),
    Table("fanout_query_engines", "One row per query and engine.", keyed("queries[].byEngine", key="engine"),
        key=("query", "engine"), columns=(
        ref("query", "The query; refers to `fanout_queries`."),
        REPORTED_ENGINE,
        count("occurrences", "Times the engine made the query.", "."),
    )),
    Table("fanout_query_prompts", "One row per query and prompt that it was made of.", records("queries[].promptIds"),
        key=("query", "prompt_id"), columns=(
        ref("query", "The query; refers to `fanout_queries`."),
        text("prompt_id", "The prompt; refers to `prompts`.", "."),
    )),
    Table("fanout_terms", "One row per term.", pairs("terms", "term", "occurrences"), key="term", columns=(
        text("term", "A word of the queries."),
        count("occurrences", "Times it occurs in a query."),
    )),
    Table("fanout_engine_support", "One row per engine.", records("engineSupport"), key="engine", columns=(
        ENGINE,
        flag("exposes_fanouts", "Whether it shows its queries; if not, its rows are not applicable."),
    )),
    kept=("totals.uniqueQueries", "totals.answersWithFanouts", "totals.fanoutsPerAnswer"),
)
