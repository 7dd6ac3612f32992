"""Impact: the effects of completed actions, found by comparing the answers before and after."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_VERDICTS = ("improved", "declined", "no_detectable_change", "too_early")
_SAME_ANSWERS = refused("the same answers under every metric, and windows of actions overlap")

SECTION = Section(
    "impact", "What completed actions moved.",
    Table("impact_actions", "One row per completed action.", records("actions"), key="action_id", columns=(
        text("action_id", "The action; refers to `actions`."),
        text("title", "The action in a line."),
        date("completed_on", "Day of completion."),
        date("before_start", "First day of the window before.", "before.start"),
        date("before_end", "Last day of the window before.", "before.end"),
        date("after_start", "First day of the window after.", "after.start"),
        date("after_end", "Last day of the window after.", "after.end"),
        category("verdict", "The result; too_early for lack of answers.", _VERDICTS),
        category("control_metric", "The metric of the comparison group.", METRICS, "control.metric"),
        number("control_change", "Change in the comparison group.", "control.change", unit="per metric",
            aggregate=OWN_INTERVAL),
    )),
    Table("impact_metrics", "One row per action and metric.", records("actions[].metrics"), key=("action_id", "metric"),
        columns=(
        ref("action_id", "The action; refers to `impact_actions`."),
        category("metric", "The metric compared.", METRICS),
        category("unit", "The unit of the row's values.", METRIC_UNITS),
        number("before_value", "The metric before.", "before.value", unit="per unit", aggregate=OWN_INTERVAL),
        count("before_n", "Answers behind the value.", "before.sampleCount", unit="answers", aggregate=_SAME_ANSWERS),
        number("before_ci_low", "Lower end of its interval.", "before.ciLow", unit="per unit", aggregate=OWN_INTERVAL),
        number("before_ci_high", "Upper end of its interval.", "before.ciHigh", unit="per unit",
            aggregate=OWN_INTERVAL),
        number("after_value", "The metric after.", "after.value", unit="per unit", aggregate=OWN_INTERVAL),
        count("after_n", "Answers behind the value.", "after.sampleCount", unit="answers", aggregate=_SAME_ANSWERS),
        number("after_ci_low", "Lower end of its interval.", "after.ciLow", unit="per unit", aggregate=OWN_INTERVAL),
        number("after_ci_high", "Upper end of its interval.", "after.ciHigh", unit="per unit", aggregate=OWN_INTERVAL),
        number("change", "The value after minus the one before.", unit="per unit", aggregate=OWN_INTERVAL),
        number("relative_change", "The change as a fraction of the value before.", unit="fraction of before",
            aggregate=OWN_INTERVAL),
        category("verdict", "What the comparison says.", _VERDICTS),
        number("confidence", "How sure the verdict is.", unit=PROBABILITY, aggregate=OWN_INTERVAL),
    )),
    Table("impact_annotations", "One row per annotation.", records("annotations"), key=("date", "label"), columns=(
        date("date", "The day it happened."),
        text("label", "What happened, in words."),
        category("kind", "The kind of event.", ("engine_change", "own_change")),
    )),
    kept=("actions[].control.description",),
)
