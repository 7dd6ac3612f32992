"""Insights: changes that the service found worth telling, with their evidence."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT
from aatoolkit.sections.declared._vocabulary import LOW_TO_HIGH, METRIC_UNITS, METRICS
from aatoolkit.sections.section import Column, Section, Table, records

_PER_METRIC = "per metric_unit"

SECTION = Section(
    "insights",
    "Summaries of what changed for the brand.",
    Table(
        "insights",
        "One row per insight.",
        records("insights"),
        key="insight_id",
        columns=(
            Column("insight_id", "string", "The insight's id."),
            Column(
                "type",
                "category",
                "What kind of change it tells of.",
                levels=(
                    "visibility_change",
                    "sentiment_change",
                    "competitor_citation_gain",
                    "citation_loss",
                ),
            ),
            Column(
                "severity", "category", "How much it matters.", levels=LOW_TO_HIGH, ordered=True
            ),
            Column(
                "confidence",
                "category",
                "How well the observations support it.",
                levels=("provisional", "worth_a_look", "confident", "high"),
                ordered=True,
            ),
            Column("title", "string", "It in a line."),
            Column("what", "string", "What happened, in words."),
            Column("why", "string", "A likely cause, in words; null = none is known."),
            Column("recommendation", "string", "What to do about it, in words."),
            Column(
                "metric",
                "category",
                "The metric that moved.",
                source="metric.key",
                levels=METRICS,
            ),
            Column(
                "metric_unit",
                "category",
                "The unit of the metric and of its change.",
                source="metric.unit",
                levels=METRIC_UNITS,
            ),
            Column(
                "before",
                "Float64",
                "The metric over the baseline; 0 is a measured zero.",
                source="metric.before",
                unit=_PER_METRIC,
            ),
            Column(
                "after",
                "Float64",
                "The metric over the window.",
                source="metric.after",
                unit=_PER_METRIC,
            ),
            Column(
                "change",
                "Float64",
                "How far it moved, reckoned as `change_kind` says.",
                source="metric.change",
                unit=_PER_METRIC,
            ),
            Column(
                "change_kind",
                "category",
                "Whether the change is a difference (absolute) or a fraction of before (relative).",
                source="metric.changeKind",
                levels=("absolute", "relative"),
            ),
            Column(
                "engine", "string", "The engine it is about; null = all.", source="scope.engine"
            ),
            Column("topic", "string", "The topic it is about; null = all.", source="scope.topic"),
            Column(
                "category",
                "string",
                "The prompt category it is about; null = all.",
                source="scope.category",
            ),
            Column("brand", "string", "The brand it is about.", source="scope.brand"),
            Column(
                "baseline_start",
                "date",
                "First day of the window compared with.",
                source="baseline.start",
            ),
            Column(
                "baseline_end",
                "date",
                "Last day of the window compared with.",
                source="baseline.end",
            ),
            Column(
                "answer_count",
                "Int64",
                "Answers it rests on; insights overlap, so these do not add.",
                source="evidence.answerCount",
                unit=COUNT,
            ),
            Column("detected_at", "timestamp", "When it was found, in UTC."),
            Column(
                "state",
                "category",
                "What its reader did with it; a workflow state, not availability.",
                levels=("new", "seen", "dismissed"),
            ),
        ),
    ),
    Table(
        "insight_evidence",
        "One row per insight and piece of evidence.",
        records("insights[].evidence{promptIds,urls}[]", key="kind"),
        key=("insight_id", "kind", "value"),
        columns=(
            Column(
                "insight_id", "string", "The insight; refers to `insights`.", source="^insightId"
            ),
            Column(
                "kind",
                "category",
                "What the evidence is: a prompt's id or a page's address.",
                levels=("promptIds", "urls"),
            ),
            Column("value", "string", "The prompt's id or the page's address.", source="."),
        ),
    ),
    kept=("summary.headline", "summary.bySeverity"),
)
