"""Ranking: the positions of brands in answers, and their shares of all mentions.

A brand has a position only in answers that mention it.
"""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_SUM_OVER_PROMPTS_RULE = Aggregation("sum", across=("engine", "prompt_id"))

def _make_ratio_over_prompts(numerator: str, denominator: str) -> Aggregation:
    """Return an `Aggregation` by a ratio of sums: Σnumerator/Σdenominator.

    Sums over engines (AI assistants) and prompts are allowed, but not over brands.
    """
    return Aggregation("ratio", over=(numerator, denominator), across=("engine", "prompt_id"))

_PREVIOUS_MENTIONS_COLUMN = count("previous_mention_count", "Answers of the window before that mention it.",
    aggregate=MENTIONS)

SECTION = Section(
    "ranking", "How brands rank among each other.",
    Table("ranking_leaderboard", "One row per brand.", records("leaderboard"), key="brand", columns=(
        *BRAND_COLUMNS,
        rank("rank", "Position by share of voice; lower is better."),
        rank("previous_rank", "Position in the window before, if the brand had one."),
        MEAN_POSITION_COLUMN,
        fraction("first_position_rate", "Share of mentions with a position that are first.",
            aggregate=ratio("first_position_count", "position_count", otherwise="mention_count")),
        fraction("top_three_rate", "Share of mentions with a position in the first three.",
            aggregate=ratio("top_three_count", "position_count", otherwise="mention_count")),
        BRAND_MENTIONS_COLUMN,
        SHARE_OF_VOICE_COLUMN,
        *mark_optional(
            POSITION_COUNT_COLUMN,
            count("first_position_count", "Mentions in the first position."),
            count("top_three_count", "Mentions in the first three positions."),
        ),
        ALL_MENTIONS_COLUMN,
        *mark_optional(
            fraction("previous_share_of_voice", "Its share of voice in the window before.",
                aggregate=share(counts=("previous_mention_count", "previous_all_mention_count"))),
            _PREVIOUS_MENTIONS_COLUMN,
        ),
        make_total_count("previous_all_mention_count", "Mentions of all brands in the window before.", "mentions"),
    )),
    Table("ranking_matrix", "One row per brand and engine.",
        records("matrix.values[][]"),
        key=("brand", "engine"), columns=(
        text("brand", "The brand.", "$.matrix.brands[@0]"),
        text("engine", "The engine.", "$.matrix.engines[@1]"),
        category("metric", "The metric of all values.", METRIC_KEYS, "$.matrix.metric"),
        number("value", "The metric of brand and engine.", ".", unit="per metric",
            aggregate=Aggregation("none", within="metric", otherwise="sample_count",
                why="how cells combine depends on the metric; of a mean the spread is not given")),
        count("sample_count", "The sample size; for positions, mentions with a position.",
            "$.matrix.sampleCounts[@0][@1]", optional=True),
    )),
    Table("ranking_positions", "One row per brand and band of positions.",
        keyed("positionCounts", key=("brand", "position_band")), key=("brand", "position_band"), columns=(
        text("brand", "The brand; one without a row is not reported."),
        category("position_band", "Position in an answer, as a range.", ("1", "2", "3", "4-10", "11+")),
        count("mention_count", "Answers that mention the brand in such a position.", ".", aggregate=MENTIONS),
    )),
    Table("ranking_history", "One row per date and brand.", keyed("history[].ranks", key="brand"),
        key=("date", "brand"), columns=(
        date("date", "The day, in UTC.", "^date"),
        text("brand", "The brand; one without a row had no position that day."),
        rank("rank", "Position on the day; lower is better.", "."),
    )),
    Table("ranking_prompts", "One row per prompt and brand, in this window and the one before.",
        keyed("byPrompt[].brands", key="brand"), key=("prompt_id", "brand"), columns=(
        ref("prompt_id", "The prompt; refers to `prompts`.", "^promptId"),
        text("brand", "The brand; every brand is listed for each answered prompt."),
        *mark_optional(
            count("mention_count", "Answers that mention the brand; missing if the prompt has no answer.",
                aggregate=MENTIONS),
            count("all_mention_count", "Mentions of all brands in the prompt's answers.", "^mentionCount",
                aggregate=_SUM_OVER_PROMPTS_RULE),
            fraction("share_of_voice", "Its share of the mentions of all brands.",
                aggregate=_make_ratio_over_prompts("mention_count", "all_mention_count")),
            _PREVIOUS_MENTIONS_COLUMN,
            count("previous_all_mention_count", "Mentions of all brands in the prompt's answers of the window before.",
                "^previousMentionCount", aggregate=_SUM_OVER_PROMPTS_RULE),
            fraction("previous_share_of_voice", "Its share of voice in the window before.",
                aggregate=_make_ratio_over_prompts("previous_mention_count", "previous_all_mention_count")),
        ),
    )),
)
