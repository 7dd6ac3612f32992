"""Impact: the effects of completed actions, measured by comparing answers before and after."""

from functools import partial

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_VERDICTS = ("improved", "declined", "no_detectable_change", "too_early")
_NO_AGGREGATION_RULE = refused("the same answers under every metric, and windows of actions overlap")
_make_value_column = partial(number, unit="per unit", aggregate=SERVICE_INTERVAL_RULE)

def _make_window_columns(window_name: str) -> tuple[Column, ...]:
    """Return the columns for a metric in the time before, or the time after, an action.

    ``window_name`` is ``"before"`` or ``"after"``.
    """
    return (
        _make_value_column(f"{window_name}_value", f"The metric {window_name}.", f"{window_name}.value"),
        count(f"{window_name}_n", "Answers behind the value.", f"{window_name}.sampleCount", unit="answers",
            aggregate=_NO_AGGREGATION_RULE),
        _make_value_column(f"{window_name}_ci_low", "Lower end of its interval.", f"{window_name}.ciLow"),
        _make_value_column(f"{window_name}_ci_high", "Upper end of its interval.", f"{window_name}.ciHigh"),
    )

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
        category("control_metric", "The metric of the comparison group.", METRIC_KEYS, "control.metric"),
        number("control_change", "Change in the comparison group.", "control.change", unit="per metric",
            aggregate=SERVICE_INTERVAL_RULE),
    )),
    Table("impact_metrics", "One row per action and metric.", records("actions[].metrics"), key=("action_id", "metric"),
        columns=(
        ref("action_id", "The action; refers to `impact_actions`."),
        category("metric", "The metric compared.", METRIC_KEYS),
        category("unit", "The unit of the row's values.", METRIC_UNITS),
        *_make_window_columns("before"),
        *_make_window_columns("after"),
        _make_value_column("change", "The value after minus the one before."),
        number("relative_change", "The change as a fraction of the value before.", unit="fraction of before",
            aggregate=SERVICE_INTERVAL_RULE),
        category("verdict", "What the comparison says.", _VERDICTS),
        number("confidence", "How sure the verdict is.", unit=PROBABILITY, aggregate=SERVICE_INTERVAL_RULE),
    )),
    Table("impact_annotations", "One row per annotation.", records("annotations"), key=("date", "label"), columns=(
        date("date", "The day it happened."),
        text("label", "What happened, in words."),
        category("kind", "The kind of event.", ("engine_change", "own_change")),
    )),
    kept=("actions[].control.description",),
)
