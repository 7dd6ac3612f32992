"""Impact: what completed actions moved, by comparing windows of answers before and after."""

from __future__ import annotations

from aatoolkit.sections.aggregation import PROBABILITY, SUM
from aatoolkit.sections.declared._vocabulary import METRIC_UNITS, METRICS
from aatoolkit.sections.section import Column, Section, Table, records

_VERDICTS = ("improved", "declined", "no_detectable_change", "too_early")

SECTION = Section(
    "impact",
    "What completed actions moved.",
    Table(
        "impact_actions",
        "One row per completed action.",
        records("actions"),
        key="action_id",
        columns=(
            Column("action_id", "string", "The action; refers to `actions`."),
            Column("title", "string", "It in a line."),
            Column("completed_on", "date", "The day it was done."),
            Column(
                "before_start", "date", "First day of the window before.", source="before.start"
            ),
            Column("before_end", "date", "Last day of the window before.", source="before.end"),
            Column("after_start", "date", "First day of the window after.", source="after.start"),
            Column("after_end", "date", "Last day of the window after.", source="after.end"),
            Column(
                "verdict",
                "category",
                "What the comparison says; too_early = not enough answers since.",
                levels=_VERDICTS,
            ),
            Column(
                "control_metric",
                "category",
                "The metric of the comparison group; null = there is none.",
                source="control.metric",
                levels=METRICS,
            ),
            Column(
                "control_change",
                "Float64",
                "How far it moved where the action was not at work, in its metric's unit.",
                source="control.change",
                unit="per metric",
            ),
        ),
    ),
    Table(
        "impact_metrics",
        "One row per action and metric.",
        records("actions[].metrics"),
        key=("action_id", "metric"),
        columns=(
            Column(
                "action_id",
                "string",
                "The action; refers to `impact_actions`.",
                source="^actionId",
            ),
            Column("metric", "category", "The metric compared.", levels=METRICS),
            Column("unit", "category", "The unit of the row's values.", levels=METRIC_UNITS),
            Column(
                "before_value",
                "Float64",
                "The metric over the window before.",
                source="before.value",
                unit="per unit",
            ),
            Column(
                "before_n",
                "Int64",
                "Answers it rests on.",
                source="before.sampleCount",
                unit="answers",
                aggregate=SUM,
            ),
            Column(
                "before_ci_low",
                "Float64",
                "Lower end of its confidence interval; null = none is given.",
                source="before.ciLow",
                unit="per unit",
            ),
            Column(
                "before_ci_high",
                "Float64",
                "Upper end of its confidence interval; null = none is given.",
                source="before.ciHigh",
                unit="per unit",
            ),
            Column(
                "after_value",
                "Float64",
                "The metric over the window after.",
                source="after.value",
                unit="per unit",
            ),
            Column(
                "after_n",
                "Int64",
                "Answers it rests on.",
                source="after.sampleCount",
                unit="answers",
                aggregate=SUM,
            ),
            Column(
                "after_ci_low",
                "Float64",
                "Lower end of its confidence interval; null = none is given.",
                source="after.ciLow",
                unit="per unit",
            ),
            Column(
                "after_ci_high",
                "Float64",
                "Upper end of its confidence interval; null = none is given.",
                source="after.ciHigh",
                unit="per unit",
            ),
            Column("change", "Float64", "After less before.", unit="per unit"),
            Column(
                "relative_change",
                "Float64",
                "The change as a fraction of the value before; null where that is 0.",
                unit="fraction of before",
            ),
            Column("verdict", "category", "What the comparison says.", levels=_VERDICTS),
            Column(
                "confidence",
                "Float64",
                "How sure the verdict is; null = not computed.",
                unit=PROBABILITY,
            ),
        ),
    ),
    Table(
        "impact_annotations",
        "One row per annotation.",
        records("annotations"),
        key=("date", "label"),
        columns=(
            Column("date", "date", "The day it happened."),
            Column("label", "string", "What happened, in words."),
            Column(
                "kind", "category", "The kind of event.", levels=("engine_change", "own_change")
            ),
        ),
    ),
    kept=("actions[].control.description",),
)
