"""Ranking: where brands stand among each other.

A position counts only where a brand is mentioned, so it is to be read beside the mentions.
"""

from __future__ import annotations

from aatoolkit.sections.aggregation import ratio, refused, share, weighted
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
from aatoolkit.sections.declared._vocabulary import METRICS
from aatoolkit.sections.section import Section, Table, keyed, matrix, records

SECTION = Section(
    "ranking",
    "How brands rank among each other.",
    Table(
        "ranking_leaderboard",
        "One row per brand.",
        records("leaderboard"),
        key="brand",
        columns=(
            text("brand", "The brand."),
            flag("own", "Whether it is the project's own."),
            rank("rank", "Its place by share of voice; lower is better."),
            rank("previous_rank", "Its place in the window before, if it had one."),
            position(
                "average_position",
                "Mean place where it is mentioned; lower is better.",
                aggregate=weighted("position_count", otherwise="mention_count"),
            ),
            fraction(
                "first_position_rate",
                "Mentions in first place, of those with a place.",
                aggregate=ratio(
                    "first_position_count", "position_count", otherwise="mention_count"
                ),
            ),
            fraction(
                "top_three_rate",
                "Mentions in the first three, of those with a place.",
                aggregate=ratio("top_three_count", "position_count", otherwise="mention_count"),
            ),
            count("mention_count", "Answers that mention it."),
            fraction(
                "share_of_voice",
                "Its mentions, of those of all brands.",
                aggregate=share(counts=("mention_count", "all_mention_count")),
            ),
            count(
                "position_count",
                "Mentions with a place: the sample size of the mean place.",
                optional=True,
            ),
            count("first_position_count", "Mentions in first place.", optional=True),
            count("top_three_count", "Mentions in the first three.", optional=True),
            count(
                "all_mention_count",
                "Mentions of all brands: the sample size of the share of voice.",
                aggregate=refused("the same mentions in every row"),
                optional=True,
            ),
        ),
    ),
    Table(
        "ranking_matrix",
        "One row per brand and engine.",
        matrix(
            "matrix.values",
            rows="matrix.brands",
            columns="matrix.engines",
            names=("brand", "engine"),
        ),
        key=("brand", "engine"),
        columns=(
            text("brand", "The brand."),
            text("engine", "The engine."),
            category("metric", "The metric of all values.", METRICS, "$.matrix.metric"),
            number(
                "value",
                "The metric of brand and engine.",
                ".",
                unit="per metric",
                aggregate=refused(
                    "how cells combine depends on the metric; of a mean the spread is not given"
                ),
            ),
            count(
                "sample_count",
                "What the value is a mean or share of: for positions, mentions with a place.",
                "&sampleCounts",
                optional=True,
            ),
        ),
    ),
    Table(
        "ranking_positions",
        "One row per brand and band of positions.",
        keyed("positionCounts", key=("brand", "position_band")),
        key=("brand", "position_band"),
        columns=(
            text("brand", "The brand; one that is absent is not reported."),
            category(
                "position_band",
                "Its place in an answer.",
                ("1", "2", "3", "4-10", "11+"),
            ),
            count("mention_count", "Answers that mention the brand in such a place.", "."),
        ),
    ),
    Table(
        "ranking_history",
        "One row per date and brand.",
        keyed("history[].ranks", key="brand"),
        key=("date", "brand"),
        columns=(
            date("date", "The day, in UTC.", "^date"),
            text("brand", "The brand; one that is absent had no place that day."),
            rank("rank", "Its place on the day; lower is better.", "."),
        ),
    ),
)
