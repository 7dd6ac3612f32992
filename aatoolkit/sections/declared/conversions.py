"""Conversions: visits to the site that come from AI engines, and their conversions.

The conversions of the last days can be null, because web analytics counts them with a delay. Days
are in the time zone of the web analytics account.
"""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_REVENUE_COLUMN = number("revenue", "Revenue of those conversions, in `currency`.", unit="`currency` units",
    aggregate=Aggregation("sum", within="currency"))
_CURRENCY_COLUMN = text("currency", "The currency of the revenue.", "$.source.currency", unit=ISO_4217)

_CONVERSIONS_COLUMN = count("conversions", "Conversions of those visits, on complete days.")

SECTION = Section(
    "conversions", "Observed visits from engines and their conversions.",
    Table("conversion_engines", "One row per engine.", records("engines"), key="engine", columns=(
        text("engine", "The engine that the visits come from."),
        words("referrers", "Hosts by which visits from it are recognised."),
        count("sessions", "Visits from the engine that can be recognised."),
        integer("users", "Distinct visitors; engines overlap.", unit="distinct users", aggregate=NOT_ADDITIVE),
        _CONVERSIONS_COLUMN,
        fraction("conversion_rate", "Conversions per visit, on complete days.",
            aggregate=ratio("conversions", "complete_sessions", otherwise="sessions")),
        _REVENUE_COLUMN,
        fraction("engagement_rate", "Share of engaged visits, where that is known.",
            aggregate=ratio("engaged_sessions", "rated_sessions", otherwise="sessions")),
        number("average_session_seconds", "Mean length of a visit.", unit=SECONDS, aggregate=weighted("sessions")),
        _CURRENCY_COLUMN,
        *mark_optional(
            count("complete_sessions", "Visits of complete days: the sample size of the conversion rate."),
            count("engaged_sessions", "Engaged visits."),
            count("rated_sessions", "Visits known to be engaged or not: the sample size of the engagement rate."),
        ),
    )),
    Table("conversion_totals", "One row per fetch.", single(), key="domain", columns=(
        DOMAIN_COLUMN,
        category("provider", "Connected web analytics; none without any.",
            ("ga4", "adobe_analytics", "cja", "plausible", "none"), "source.provider"),
        category("attribution", "How conversions are attributed.", ("last_click",), "source.attribution"),
        text("currency", "Currency of all revenue.", "source.currency", unit=ISO_4217),
        count("sessions", "Visits from anywhere.", "totals.sessions"),
        count("ai_sessions", "Visits that came from engines.", "totals.aiSessions"),
        fraction("ai_session_share", "Share of visits that come from engines.", "totals.aiSessionShare",
            over=("ai_sessions", "sessions")),
        count("ai_conversions", "Conversions from engines, on complete days.", "totals.aiConversions"),
        fraction("ai_conversion_rate", "Conversions per visit from engines, on complete days.",
            "totals.aiConversionRate",
            aggregate=ratio("ai_conversions", "ai_complete_sessions", otherwise="ai_sessions")),
        fraction("other_conversion_rate", "Conversions per visit from elsewhere, on complete days.",
            "totals.otherConversionRate", over=("other_conversions", "other_complete_sessions")),
        number("ai_revenue", "Revenue of visits from engines.", "totals.aiRevenue", unit="`currency` units",
            aggregate=Aggregation("sum", within="currency")),
        *mark_optional(
            count("ai_complete_sessions", "Visits from engines on complete days: the sample size of their rate.",
                "totals.aiCompleteSessions"),
            count("other_conversions", "Conversions from elsewhere, on complete days.", "totals.otherConversions"),
            count("other_complete_sessions", "Visits from elsewhere on complete days: the sample size of their rate.",
                "totals.otherCompleteSessions"),
        ),
    )),
    Table("conversion_landing_pages", "One row per landing path.", records("landingPages"), key="path", columns=(
        text("path", "The path at which visits from engines began, or (not set)."),
        count("sessions", "Visits that began there."),
        _CONVERSIONS_COLUMN,
        _REVENUE_COLUMN,
        CITED_ANSWERS_COLUMN,
        _CURRENCY_COLUMN,
        count("complete_sessions", "Visits of complete days, from which the conversions come.",
            optional=True),
    )),
    Table("conversion_daily", "One row per date and engine.", keyed("daily[].byEngine", key="engine"),
        key=("date", "engine"), columns=(
        date("date", "The day, in the analytics property's time zone.", "^date"),
        REPORTED_ENGINE_COLUMN,
        count("sessions", "Visits of the day."),
        count("conversions", "Conversions of those visits; missing until they are complete."),
    )),
    kept=("source.property", "source.timezone"),
)
