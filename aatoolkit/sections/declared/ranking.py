"""Ranking: where brands stand among each other.

A position counts only where a brand is mentioned, so it is to be read beside the mentions.
"""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION, RANK, SUM, share, weighted
from aatoolkit.sections.declared._vocabulary import METRICS
from aatoolkit.sections.section import Column, Section, Table, keyed, matrix, records

SECTION = Section(
    "ranking",
    "How brands rank among each other.",
    Table(
        "ranking_leaderboard",
        "One row per brand.",
        records("leaderboard"),
        key="brand",
        columns=(
            Column("brand", "string", "The brand."),
            Column("own", "boolean", "Whether it is the project's own; null = not known."),
            Column("rank", "Int64", "Its place by share of voice; lower is better.", unit=RANK),
            Column(
                "previous_rank",
                "Int64",
                "Its place in the window before; null = it had none.",
                unit=RANK,
            ),
            Column(
                "average_position",
                "Float64",
                "Mean place among the brands of the answers that mention it; lower is better.",
                unit=RANK,
                aggregate=weighted("mention_count"),
            ),
            Column(
                "first_position_rate",
                "Float64",
                "Its mentions in first place, of those with a place.",
                unit=FRACTION,
                aggregate=weighted("mention_count"),
            ),
            Column(
                "top_three_rate",
                "Float64",
                "Its mentions in the first three places, of those with a place.",
                unit=FRACTION,
                aggregate=weighted("mention_count"),
            ),
            Column("mention_count", "Int64", "Answers that mention it.", unit=COUNT, aggregate=SUM),
            Column(
                "share_of_voice",
                "Float64",
                "Its mentions, of the mentions of all brands, listed or not.",
                unit=FRACTION,
                aggregate=share(),
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
            Column("brand", "string", "The brand."),
            Column("engine", "string", "The engine."),
            Column(
                "metric",
                "category",
                "What the values are; the same in every row.",
                source="$.matrix.metric",
                levels=METRICS,
            ),
            Column(
                "value",
                "Float64",
                "The metric of the brand in the engine's answers; null = not measured.",
                source=".",
                unit="per metric",
            ),
        ),
    ),
    Table(
        "ranking_positions",
        "One row per brand and band of positions.",
        keyed("positionCounts", key=("brand", "position_band")),
        key=("brand", "position_band"),
        columns=(
            Column("brand", "string", "The brand; one that is absent is not reported."),
            Column(
                "position_band",
                "category",
                "Its place in an answer; a band that is absent is not reported.",
                levels=("1", "2", "3", "4-10", "11+"),
            ),
            Column(
                "mention_count",
                "Int64",
                "Answers that mention the brand in such a place.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "ranking_history",
        "One row per date and brand.",
        keyed("history[].ranks", key="brand"),
        key=("date", "brand"),
        columns=(
            Column("date", "date", "The day, in UTC.", source="^date"),
            Column("brand", "string", "The brand; one that is absent had no place that day."),
            Column(
                "rank", "Int64", "Its place on the day; lower is better.", source=".", unit=RANK
            ),
        ),
    ),
)
