"""Conversions: visits that engines send to the site and what comes of them.

Web analytics complete conversions late, so those of the last days can be null. Days are
those of the analytics property's time zone, which need not be the window's.
"""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    CURRENCY,
    FRACTION,
    NOT_ADDITIVE,
    SECONDS,
    SUM,
    Aggregation,
    ratio,
    weighted,
)
from aatoolkit.sections.section import Column, Section, Table, keyed, records, single


def _rate(conversions: str, sessions: str) -> Aggregation:
    """A conversion rate; the answer's own leaves out the days that lag, a recomputed one not."""
    lag = "too low where conversions lag: visits of those days count, their conversions do not"
    return Aggregation("ratio", over=(conversions, sessions), why=lag)


SECTION = Section(
    "conversions",
    "Observed visits from engines and their conversions.",
    Table(
        "conversion_engines",
        "One row per engine.",
        records("engines"),
        key="engine",
        columns=(
            Column("engine", "string", "The engine that the visits come from."),
            Column("referrers", "list<string>", "Hosts by which its visits are recognised."),
            Column(
                "sessions",
                "Int64",
                "Visits; null = they cannot be told from other traffic.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "users",
                "Int64",
                "Distinct visitors; one may come from several engines.",
                unit="distinct users",
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "conversions",
                "Int64",
                "Conversions in those visits, over the days that are complete.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "conversion_rate",
                "Float64",
                "Conversions for each visit, over the days that are complete.",
                unit=FRACTION,
                aggregate=_rate("conversions", "sessions"),
            ),
            Column(
                "revenue",
                "Float64",
                "Revenue of those conversions; its currency stands in `conversion_totals`.",
                unit=CURRENCY,
                aggregate=SUM,
            ),
            Column(
                "engagement_rate",
                "Float64",
                "Visits that the analytics count as engaged, of all visits.",
                unit=FRACTION,
                aggregate=weighted("sessions"),
            ),
            Column(
                "average_session_seconds",
                "Float64",
                "Mean length of a visit.",
                unit=SECONDS,
                aggregate=weighted("sessions"),
            ),
        ),
    ),
    Table(
        "conversion_totals",
        "One row per fetch.",
        single(),
        key="domain",
        columns=(
            Column("domain", "string", "The project's domain.", source="$.domain"),
            Column(
                "provider",
                "category",
                "The web analytics connected; none = no product is.",
                source="source.provider",
                levels=("ga4", "adobe_analytics", "cja", "plausible", "none"),
            ),
            Column(
                "attribution",
                "category",
                "How conversions are attributed to visits.",
                source="source.attribution",
                levels=("last_click",),
            ),
            Column(
                "currency",
                "string",
                "The currency of every revenue of the section.",
                source="source.currency",
                unit="ISO 4217",
            ),
            Column(
                "sessions",
                "Int64",
                "Visits from anywhere.",
                source="totals.sessions",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "ai_sessions",
                "Int64",
                "Visits that came from engines.",
                source="totals.aiSessions",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "ai_session_share",
                "Float64",
                "Visits that came from engines, of all visits.",
                source="totals.aiSessionShare",
                unit=FRACTION,
                aggregate=ratio("ai_sessions", "sessions"),
            ),
            Column(
                "ai_conversions",
                "Int64",
                "Conversions in visits from engines, over the days that are complete.",
                source="totals.aiConversions",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "ai_conversion_rate",
                "Float64",
                "Conversions for each visit from engines, over the days that are complete.",
                source="totals.aiConversionRate",
                unit=FRACTION,
                aggregate=_rate("ai_conversions", "ai_sessions"),
            ),
            Column(
                "other_conversion_rate",
                "Float64",
                "Conversions for each visit from elsewhere, to compare with.",
                source="totals.otherConversionRate",
                unit=FRACTION,
            ),
            Column(
                "ai_revenue",
                "Float64",
                "Revenue of conversions in visits from engines.",
                source="totals.aiRevenue",
                unit="`currency` units",
                aggregate=Aggregation("sum", within="currency"),
            ),
        ),
    ),
    Table(
        "conversion_landing_pages",
        "One row per landing path.",
        records("landingPages"),
        key="path",
        columns=(
            Column("path", "string", "The path visits from engines began at, or (not set)."),
            Column("sessions", "Int64", "Visits that began there.", unit=COUNT, aggregate=SUM),
            Column(
                "conversions",
                "Int64",
                "Conversions in those visits, over the days that are complete.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "revenue",
                "Float64",
                "Revenue of those conversions; its currency stands in `conversion_totals`.",
                unit=CURRENCY,
                aggregate=SUM,
            ),
            Column(
                "cited_answer_count",
                "Int64",
                "Answers that cite the path; null = citations are not counted.",
                unit=COUNT,
                aggregate=Aggregation(
                    "sum", why="one answer may cite several paths: these are answer-path pairs"
                ),
            ),
        ),
    ),
    Table(
        "conversion_daily",
        "One row per date and engine.",
        keyed("daily[].byEngine", key="engine"),
        key=("date", "engine"),
        columns=(
            Column(
                "date", "date", "The day, in the analytics property's time zone.", source="^date"
            ),
            Column("engine", "string", "The engine; one that is absent is not reported, not 0."),
            Column("sessions", "Int64", "Visits of the day.", unit=COUNT, aggregate=SUM),
            Column(
                "conversions",
                "Int64",
                "Conversions in those visits; null = lagging, 0 = complete and none.",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    kept=("source.property", "source.timezone"),
)
