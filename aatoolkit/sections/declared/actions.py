"""Actions: optimisation actions, their steps and the reasons for them."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_ACTION_ID_COLUMN = ref("action_id", "The action; refers to `actions`.")

SECTION = Section(
    "actions", "Optimisation actions that are open to the project.",
    Table("actions", "One row per action.", records("groups[].actions"), key="action_id", columns=(
        text("action_id", "The action's id."),
        category("group", "Kind of work.", ("onsite", "offsite", "technical"), "^group"),
        category("type", "The type of action.", ("listicle_outreach", "forum_answer", "content_gap", "page_refresh",
            "schema_markup", "crawler_access", "unblock_bot")),
        text("title", "The action in a line."),
        category("priority", "How urgent the action is.", LEVELS_LOW_TO_HIGH, ordered=True),
        fraction("score", "How promising the action is, from 0 to 1.", aggregate=JUDGEMENT_RULE),
        category("effort", "How much work the action is: small, medium or large.", ("s", "m", "l")),
        category("state", "Progress; a workflow state, not availability.",
            ("open", "in_progress", "done", "dismissed")),
        text("target_url", "Page that the action is about, if any.", "target.url"),
        text("target_domain", "Domain that the action is about, if any.", "target.domain"),
        text("topic", "Topic of the action; missing if all.", "target.topic"),
        text("engine", "Engine of the action; missing if all.", "target.engine"),
        category("impact_metric", "The metric that the action should improve.", METRIC_KEYS, "expectedImpact.metric"),
        number("impact_low", "Least expected change.", "expectedImpact.low", unit="per impact_unit", aggregate=JUDGEMENT_RULE),
        number("impact_high", "Most expected change.", "expectedImpact.high", unit="per impact_unit", aggregate=JUDGEMENT_RULE),
        category("impact_unit", "The unit of that metric.", METRIC_UNITS, "expectedImpact.unit"),
        integer("evidence_answer_count", "Answers that call for the action; actions overlap.", "evidence.answerCount",
            unit=COUNT),
        timestamp("created_at", "When the action was proposed, in UTC."),
        timestamp("updated_at", "When the action last changed, in UTC."),
    )),
    Table("action_steps", "One row per action and step.", records("groups[].actions[].steps"),
        key=("action_id", "step"), columns=(
        _ACTION_ID_COLUMN,
        integer("step", "Position of the step, from 1.", "#1"),
        text("text", "What to do in the step.", "."),
    )),
    Table("action_evidence", "One row per action and piece of evidence.",
        records("groups[].actions[].evidence{promptIds,competitors}[]", key="kind"), key=("action_id", "kind", "value"),
        columns=(
        _ACTION_ID_COLUMN,
        category("kind", "Kind of evidence: a prompt's id or a competitor's name.", ("promptIds", "competitors")),
        text("value", "The prompt's id or the competitor's name.", "."),
    )),
    kept=("stateCounts", "groups[].label"),
)
