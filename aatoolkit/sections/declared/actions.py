"""Actions: optimisation actions, their steps and what calls for them."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION
from aatoolkit.sections.declared._vocabulary import LOW_TO_HIGH, METRIC_UNITS, METRICS
from aatoolkit.sections.section import Column, Section, Table, records

SECTION = Section(
    "actions",
    "Optimisation actions that are open to the project.",
    Table(
        "actions",
        "One row per action.",
        records("groups[].actions"),
        key="action_id",
        columns=(
            Column("action_id", "string", "The action's id."),
            Column(
                "group",
                "category",
                "What kind of work it is.",
                source="^group",
                levels=("onsite", "offsite", "technical"),
            ),
            Column(
                "type",
                "category",
                "The type of action.",
                levels=(
                    "listicle_outreach",
                    "forum_answer",
                    "content_gap",
                    "page_refresh",
                    "schema_markup",
                    "crawler_access",
                    "unblock_bot",
                ),
            ),
            Column("title", "string", "It in a line."),
            Column("priority", "category", "How urgent it is.", levels=LOW_TO_HIGH, ordered=True),
            Column(
                "score",
                "Float64",
                "How promising it is; a fraction, unlike other scores.",
                unit=FRACTION,
            ),
            Column(
                "effort",
                "category",
                "How much work it is: small, medium or large.",
                levels=("s", "m", "l"),
            ),
            Column(
                "state",
                "category",
                "How far it is; a workflow state, not availability.",
                levels=("open", "in_progress", "done", "dismissed"),
            ),
            Column(
                "target_url", "string", "The page it is about; null = none.", source="target.url"
            ),
            Column(
                "target_domain",
                "string",
                "The domain it is about; null = none.",
                source="target.domain",
            ),
            Column("topic", "string", "The topic it is about; null = all.", source="target.topic"),
            Column(
                "engine", "string", "The engine it is about; null = all.", source="target.engine"
            ),
            Column(
                "impact_metric",
                "category",
                "The metric it should move; null = no estimate.",
                source="expectedImpact.metric",
                levels=METRICS,
            ),
            Column(
                "impact_low",
                "Float64",
                "The least change expected of the metric.",
                source="expectedImpact.low",
                unit="per impact_unit",
            ),
            Column(
                "impact_high",
                "Float64",
                "The most change expected of the metric.",
                source="expectedImpact.high",
                unit="per impact_unit",
            ),
            Column(
                "impact_unit",
                "category",
                "The unit of that metric.",
                source="expectedImpact.unit",
                levels=METRIC_UNITS,
            ),
            Column(
                "evidence_answer_count",
                "Int64",
                "Answers that call for it; actions overlap, so these do not add.",
                source="evidence.answerCount",
                unit=COUNT,
            ),
            Column("created_at", "timestamp", "When it was proposed, in UTC."),
            Column("updated_at", "timestamp", "When it last changed, in UTC; null = never."),
        ),
    ),
    Table(
        "action_steps",
        "One row per action and step.",
        records("groups[].actions[].steps"),
        key=("action_id", "step"),
        columns=(
            Column("action_id", "string", "The action; refers to `actions`.", source="^actionId"),
            Column("step", "Int64", "The step's place, from 1.", source="#1"),
            Column("text", "string", "What to do.", source="."),
        ),
    ),
    Table(
        "action_evidence",
        "One row per action and piece of evidence.",
        records("groups[].actions[].evidence{promptIds,competitors}[]", key="kind"),
        key=("action_id", "kind", "value"),
        columns=(
            Column("action_id", "string", "The action; refers to `actions`.", source="^actionId"),
            Column(
                "kind",
                "category",
                "What the evidence is: a prompt's id or a competitor's name.",
                levels=("promptIds", "competitors"),
            ),
            Column("value", "string", "The prompt's id or the competitor's name.", source="."),
        ),
    ),
    kept=("stateCounts", "groups[].label"),
)
