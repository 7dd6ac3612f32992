"""Overview: key figures of a brand, their trend, the top brands and the engines."""

from aatoolkit.sections.declared._vocabulary import *


# fmt: off
def _forbid_ratio_of_metric(numerator: str, denominator: str) -> Aggregation:
    """Return an `Aggregation` that forbids to aggregate a column.

    Its reason names the two columns whose sums can be divided instead.
    """
    reason = f"recompute from {numerator}/{denominator}"
    return Aggregation("none", why=reason, counts=(numerator, denominator), within="metric")

_MENTION_COLUMNS = (
    count("mention_count", "Answers that mention the brand in focus.", among="answer_count"),
    MENTION_RATE_COLUMN,
)

_SUM_WITHIN_METRIC_RULE = Aggregation("sum", within="metric")

SECTION = Section(
    "overview", "Key figures, trends and top brands.",
    Table("overview_kpis", "One row per metric.", keyed("kpis", key="metric"), key="metric", columns=(
        text("metric", "The metric, as the API spells it: mentionRate, …; visibilityScore is 100 × mentionRate, which the reference service takes as its score."),
        number("value", "The metric, in the unit of its row.", unit=PER_UNIT,
            aggregate=_forbid_ratio_of_metric("numerator", "denominator")),
        *mark_optional(
            number("previous_value", "The metric in the window before, in the unit of its row.", "previous",
                unit=PER_UNIT, aggregate=_forbid_ratio_of_metric("previous_numerator", "previous_denominator")),
            number("numerator", "Numerator of the value: a count or a sum.", unit="count or sum",
                aggregate=_SUM_WITHIN_METRIC_RULE),
            number("denominator", "The denominator, which is the sample size.", unit=COUNT,
                aggregate=_SUM_WITHIN_METRIC_RULE),
        ),
        category("unit", "The unit of the row's values.", METRIC_UNITS),
        *mark_optional(
            number("previous_numerator", "Numerator of the previous value: a count or a sum.", unit="count or sum",
                aggregate=_SUM_WITHIN_METRIC_RULE),
            number("previous_denominator", "The denominator, which is the sample size.", unit=COUNT,
                aggregate=_SUM_WITHIN_METRIC_RULE),
        ),
    )),
    Table("overview_trend", "One row per date.", records("trends.points"), key="date", columns=(
        DAY_COLUMN,
        count("answer_count", "Answers of the day; if 0, other numbers are missing."),
        *_MENTION_COLUMNS,
        fraction("share_of_voice", "Share of the brand in focus in the mentions of all brands.",
            over=("brand_mention_count", "all_mention_count")),
        MEAN_POSITION_COLUMN,
        count("citation_count", "Citations of the own pages in answers of the day.", among="answer_count"),
        *mark_optional(
            count("position_count", "Mentions with a position: sample size of the mean.", among="answer_count"),
            count("brand_mention_count", "Mentions of the brands in focus.", among="answer_count"),
            count("all_mention_count", "Mentions of all brands.", among="answer_count"),
        ),
    )),
    Table("overview_top_brands", "One row per brand.", records("topBrands"), key="brand", columns=(
        *BRAND_COLUMNS,
        rank("rank", "Position among the brands; lower is better."),
        BRAND_MENTIONS_COLUMN,
        fraction("mention_rate", "Share of answers that mention the brand; brands overlap.",
            aggregate=refused("not additive across brands: one answer may mention several",
            ("mention_count", "answer_count"))),
        SHARE_OF_VOICE_COLUMN,
        MEAN_POSITION_COLUMN,
        number("mention_rate_change", "Change of the mention rate; 0.01 is one percentage point.", unit=FRACTION_CHANGE,
            aggregate=refused("a difference of two rates, whose counts are beside it")),
        make_total_count("answer_count", "Answers collected: the sample size of the mention rate.", "answers"),
        ALL_MENTIONS_COLUMN,
        *mark_optional(
            POSITION_COUNT_COLUMN,
            count("previous_mention_count", "Answers of the window before that mention it."),
        ),
        make_total_count("previous_answer_count", "Answers collected in the window before.", "answers"),
    )),
    Table("overview_engines", "One row per engine.", records("engines"), key="engine", columns=(
        ENGINE_COLUMN,
        count("answer_count", "Answers of the engine; if 0, other numbers are missing."),
        *_MENTION_COLUMNS,
        date("last_run_day", "The last day the engine ran; missing if it never ran.",
            aggregate=Aggregation("max", among=("answer_count",))),
    )),
    kept=("trends.granularity",),
)
