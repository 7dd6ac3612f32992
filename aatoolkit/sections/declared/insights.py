"""Insights: changes that the service reports, with their evidence."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_UNIT_PER_METRIC = "per metric_unit"

SECTION = Section(
    "insights", "Summaries of what changed for the brand.",
    Table("insights", "One row per insight.", records("insights"), key="insight_id", columns=(
        text("insight_id", "The insight's id."),
        category("type", "Kind of change.",
            ("visibility_change", "sentiment_change", "competitor_citation_gain", "citation_loss")),
        category("severity", "How much the insight matters.", LEVELS_LOW_TO_HIGH, ordered=True),
        category("confidence", "How well observations support the insight.",
            ("provisional", "worth_a_look", "confident", "high"), ordered=True),
        text("title", "The insight in a line."),
        text("what", "What happened, in words."),
        text("why", "A likely cause, in words."),
        text("recommendation", "What to do about it, in words."),
        category("metric", "The metric that moved.", METRIC_KEYS, "metric.key"),
        category("metric_unit", "The unit of metric and change.", METRIC_UNITS, "metric.unit"),
        number("before", "The metric over the baseline.", "metric.before", unit=_UNIT_PER_METRIC, aggregate=SERVICE_INTERVAL_RULE),
        number("after", "The metric over the window.", "metric.after", unit=_UNIT_PER_METRIC, aggregate=SERVICE_INTERVAL_RULE),
        number("change", "The change of the metric; see `change_kind`.", "metric.change", unit=_UNIT_PER_METRIC,
            aggregate=SERVICE_INTERVAL_RULE),
        category("change_kind", "A difference, or a fraction of the value before.", ("absolute", "relative"),
            "metric.changeKind"),
        text("engine", "Engine of the insight; missing if all.", "scope.engine"),
        text("topic", "Topic of the insight; missing if all.", "scope.topic"),
        text("category", "Prompt category of the insight; missing if all.", "scope.category"),
        text("brand", "Brand of the insight.", "scope.brand"),
        date("baseline_start", "First day of the baseline.", "baseline.start"),
        date("baseline_end", "Last day of the baseline.", "baseline.end"),
        integer("answer_count", "Answers behind the insight; insights overlap.", "evidence.answerCount", unit=COUNT),
        timestamp("detected_at", "When the insight was found, in UTC."),
        category("state", "A workflow state, not availability.", ("new", "seen", "dismissed")),
    )),
    Table("insight_evidence", "One row per insight and piece of evidence.",
        records("insights[].evidence{promptIds,urls}[]", key="kind"), key=("insight_id", "kind", "value"), columns=(
        ref("insight_id", "The insight; refers to `insights`."),
        category("kind", "Kind of evidence: a prompt's id or a page's address.", ("promptIds", "urls")),
        text("value", "The prompt's id or the page's address.", "."),
    )),
    kept=("summary.headline", "summary.bySeverity"),
)
