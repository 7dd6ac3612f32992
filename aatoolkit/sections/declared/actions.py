"""Actions: optimisation actions, their steps and the reasons for them."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
SECTION = Section(
    "actions", "Optimisation actions that are open to the project.",
    Table("actions", "One row per action.", records("groups[].actions"), key="action_id", columns=(
        text("action_id", "The action's id."),
        category("group", "Kind of work.", ("onsite", "offsite", "technical"), "^group"),
        category("type", "The type of action.", ("listicle_outreach", "forum_answer", "content_gap", "page_refresh",
            "schema_markup", "crawler_access", "unblock_bot")),
        text("title", "The action in a line."),
        category("priority", "How urgent it is.", LOW_TO_HIGH, ordered=True),
        fraction("score", "How promising it is; a fraction, unlike other scores.", aggregate=JUDGED),
        category("effort", "How much work it is: small, medium or large.", ("s", "m", "l")),
        category("state", "Progress; a workflow state, not availability.",
            ("open", "in_progress", "done", "dismissed")),
        text("target_url", "The page it is about, if any.", "target.url"),
        text("target_domain", "The domain it is about, if any.", "target.domain"),
        text("topic", "The topic it is about; missing if all.", "target.topic"),
        text("engine", "The engine it is about; missing if all.", "target.engine"),
        category("impact_metric", "The metric it should move.", METRICS, "expectedImpact.metric"),
        number("impact_low", "Least expected change.", "expectedImpact.low", unit="per impact_unit", aggregate=JUDGED),
        number("impact_high", "Most expected change.", "expectedImpact.high", unit="per impact_unit", aggregate=JUDGED),
        category("impact_unit", "The unit of that metric.", METRIC_UNITS, "expectedImpact.unit"),
        integer("evidence_answer_count", "Answers that call for it; actions overlap.", "evidence.answerCount",
            unit=COUNT),
        timestamp("created_at", "When it was proposed, in UTC."),
        timestamp("updated_at", "When it last changed, in UTC."),
    )),
    Table("action_steps", "One row per action and step.", records("groups[].actions[].steps"),
        key=("action_id", "step"), columns=(
        ref("action_id", "The action; refers to `actions`."),
        integer("step", "The step's place, from 1.", "#1"),
        text("text", "What to do.", "."),
    )),
    Table("action_evidence", "One row per action and piece of evidence.",
        records("groups[].actions[].evidence{promptIds,competitors}[]", key="kind"), key=("action_id", "kind", "value"),
        columns=(
        ref("action_id", "The action; refers to `actions`."),
        category("kind", "A prompt's id or a competitor's name.", ("promptIds", "competitors")),
        text("value", "The prompt's id or the competitor's name.", "."),
    )),
    kept=("stateCounts", "groups[].label"),
)
