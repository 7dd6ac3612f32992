"""Overview: key figures of the brand in focus, their course, the top brands, the engines."""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION_CHANGE,
    MENTIONS,
    PER_UNIT,
    Aggregation,
    refused,
    share,
    weighted,
)
from aatoolkit.sections.columns import (
    category,
    count,
    date,
    flag,
    fraction,
    number,
    position,
    rank,
    text,
)
from aatoolkit.sections.declared._vocabulary import METRIC_UNITS
from aatoolkit.sections.section import Section, Table, keyed, records

SECTION = Section(
    "overview",
    "Key figures, trends and top brands.",
    Table(
        "overview_kpis",
        "One row per metric.",
        keyed("kpis", key="metric"),
        key="metric",
        columns=(
            text("metric", "The metric, as the API spells it: mentionRate, …."),
            number(
                "value",
                "The metric, in the unit of its row.",
                unit=PER_UNIT,
                aggregate=refused(
                    "recompute from numerator/denominator", ("numerator", "denominator")
                ),
            ),
            number(
                "previous_value",
                "The metric in the window before, in the unit of its row.",
                "previous",
                unit=PER_UNIT,
                aggregate=refused(
                    "recompute from previous_numerator/previous_denominator",
                    ("previous_numerator", "previous_denominator"),
                ),
                optional=True,
            ),
            number(
                "numerator",
                "What the value counts or sums.",
                unit="count or sum",
                aggregate=Aggregation("sum", within="metric"),
                optional=True,
            ),
            number(
                "denominator",
                "The number that it is divided by: its sample size.",
                unit=COUNT,
                aggregate=Aggregation("sum", within="metric"),
                optional=True,
            ),
            category("unit", "The unit of the row's values.", METRIC_UNITS),
            number(
                "previous_numerator",
                "What the previous value counts or sums.",
                unit="count or sum",
                aggregate=Aggregation("sum", within="metric"),
                optional=True,
            ),
            number(
                "previous_denominator",
                "The number that it is divided by: its sample size.",
                unit=COUNT,
                aggregate=Aggregation("sum", within="metric"),
                optional=True,
            ),
        ),
    ),
    Table(
        "overview_trend",
        "One row per date.",
        records("trends.points"),
        key="date",
        columns=(
            date("date", "The day on which the answers were collected, in UTC."),
            count(
                "answer_count",
                "Answers collected on the day; without any, the rest is missing.",
            ),
            count(
                "mention_count",
                "Answers that mention the brand in focus.",
                among="answer_count",
            ),
            fraction(
                "mention_rate",
                "Answers that mention the brand in focus, of all.",
                over=("mention_count", "answer_count"),
            ),
            fraction(
                "share_of_voice",
                "Mentions of the brand in focus, of those of all brands.",
                over=("brand_mention_count", "all_mention_count"),
            ),
            position(
                "average_position",
                "Mean place where it is mentioned; lower is better.",
                aggregate=weighted("position_count", otherwise="mention_count"),
            ),
            count(
                "citation_count",
                "Citations of the own pages in answers of the day.",
                among="answer_count",
            ),
            count(
                "position_count",
                "Mentions with a place: the sample size of the mean place.",
                among="answer_count",
                optional=True,
            ),
            count(
                "brand_mention_count",
                "Mentions of the brands in focus.",
                among="answer_count",
                optional=True,
            ),
            count(
                "all_mention_count",
                "Mentions of all brands.",
                among="answer_count",
                optional=True,
            ),
        ),
    ),
    Table(
        "overview_top_brands",
        "One row per brand.",
        records("topBrands"),
        key="brand",
        columns=(
            text("brand", "The brand."),
            flag("own", "Whether it is the project's own."),
            rank("rank", "Its place among the brands; lower is better."),
            count("mention_count", "Answers that mention it.", aggregate=MENTIONS),
            fraction(
                "mention_rate",
                "Answers that mention it, of all; brands overlap.",
                aggregate=refused(
                    "not additive across brands: one answer may mention several",
                    ("mention_count", "answer_count"),
                ),
            ),
            fraction(
                "share_of_voice",
                "Its mentions, of those of all brands.",
                aggregate=share(counts=("mention_count", "all_mention_count")),
            ),
            position(
                "average_position",
                "Mean place where it is mentioned; lower is better.",
                aggregate=weighted("position_count", otherwise="mention_count"),
            ),
            number(
                "mention_rate_change",
                "Change of the mention rate; 0.01 is one percentage point.",
                unit=FRACTION_CHANGE,
                aggregate=refused("a difference of two rates, whose counts are beside it"),
            ),
            count(
                "answer_count",
                "Answers collected: the sample size of the mention rate.",
                aggregate=refused("the same answers in every row"),
                optional=True,
            ),
            count(
                "all_mention_count",
                "Mentions of all brands: the sample size of the share of voice.",
                aggregate=refused("the same mentions in every row"),
                optional=True,
            ),
            count(
                "position_count",
                "Mentions with a place: the sample size of the mean place.",
                optional=True,
            ),
            count(
                "previous_mention_count",
                "Answers that mention it in the window before.",
                optional=True,
            ),
            count(
                "previous_answer_count",
                "Answers collected in the window before.",
                aggregate=refused("the same answers in every row"),
                optional=True,
            ),
        ),
    ),
    Table(
        "overview_engines",
        "One row per engine.",
        records("engines"),
        key="engine",
        columns=(
            text("engine", "The engine."),
            count(
                "answer_count",
                "Answers collected from the engine; without any, the rest is missing.",
            ),
            count(
                "mention_count",
                "Answers that mention the brand in focus.",
                among="answer_count",
            ),
            fraction(
                "mention_rate",
                "Answers that mention the brand in focus, of all.",
                over=("mention_count", "answer_count"),
            ),
            date(
                "last_run_day",
                "The last day it ran; missing if it never did.",
                aggregate=Aggregation("max", among=("answer_count",)),
            ),
        ),
    ),
    kept=("trends.granularity",),
)
