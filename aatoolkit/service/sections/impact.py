"""Impact: what changed after an action was completed, between two windows of answers.

An action is listed where its later window overlaps the window asked for. Both its windows
are read from all answers that pass the engine, topic and category filters, limited to the
prompts that the action should move; the brand filter says whose mentions and citations
count, else the own brand's.

Answers to one prompt resemble each other, so that a prompt counts as one observation. The
verdicts are those of a test that is robust to it (`windows_differ`), with p < 0.05; confidence
is 1 - p. ``mentionRate`` carries a 95 % interval of prompts like these (`clustered_interval`);
``citationCount`` counts citations of the subject's pages, is tested per answer and has neither
interval nor confidence. With fewer than five prompts nothing can be detected. The verdict of an
action is that of its first metric.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, last_run, not_held, section
from aatoolkit.service.measures import focus_brands, own_citations_missing, subject_missing
from aatoolkit.service.observations import Observations
from aatoolkit.service.significance import clustered_interval, windows_differ

_LEAST_DAYS = 7
_LEAST_ANSWERS = 30
_LEAST_PROMPTS = 5
_LEVEL = 0.05
_METRICS = ("mentionRate", "citationCount")

_LISTED = "host = $host AND after_start <= $window_end AND after_end >= $window_start"

_EXPERIMENTS = f"""
SELECT *, date_diff('day', after_start, least(after_end, $window_end)) + 1 AS days_after
FROM store.experiments WHERE {_LISTED} ORDER BY completed_on, action_id
"""

# Answers are counted by day and prompt before they are put to the windows they are in.
_SAMPLES = f"""
WITH periods AS (
  SELECT action_id, prompt_ids, 'before' AS period, before_start AS first, before_end AS last
  FROM store.experiments WHERE {_LISTED}
  UNION ALL
  SELECT action_id, prompt_ids, 'after', after_start, after_end
  FROM store.experiments WHERE {_LISTED}
), asked AS (
  SELECT prompt_id, day, count(*) AS answers FROM trial_answers GROUP BY prompt_id, day
), named AS (
  SELECT prompt_id, day, count(DISTINCT chat_id) AS mentions FROM trial_mentions
  WHERE list_contains($about, brand) GROUP BY prompt_id, day
), cited AS (
  SELECT prompt_id, day, count(*) AS citations FROM trial_citations
  WHERE source_domain IN (SELECT source_domain FROM own_domains) GROUP BY prompt_id, day
)
SELECT action_id, period, prompt_id,
  prompt_ids IS NULL OR list_contains(prompt_ids, prompt_id) AS treated,
  CAST(sum(answers) AS BIGINT) AS answer_count,
  CAST(coalesce(sum(mentions), 0) AS BIGINT) AS mention_count,
  CAST(coalesce(sum(citations), 0) AS BIGINT) AS citation_count
FROM periods JOIN asked ON day BETWEEN first AND last
LEFT JOIN named USING (prompt_id, day) LEFT JOIN cited USING (prompt_id, day)
GROUP BY ALL
"""

_ANNOTATIONS = """
SELECT day AS date, label, kind FROM store.annotations
WHERE host = $host AND day BETWEEN $window_start AND $window_end
ORDER BY day, label
"""

Sample = dict[str, Any]
_COUNTS = ("answer_count", "mention_count", "citation_count")


@section("impact")
def impact(o: Observations) -> SectionAnswer:
    """Completed actions with the change that followed, and events of the window."""
    experiments = o.rows(_EXPERIMENTS)
    samples: dict[tuple[str, str, bool], list[Sample]] = {}
    for row in o.rows(_SAMPLES, about=focus_brands(o)) if experiments else []:
        key = (row["action_id"], row["period"], row["treated"])
        samples.setdefault(key, []).append(row)
    countable = {
        "mentionRate": subject_missing(o) is None,
        "citationCount": own_citations_missing(o) is None,
    }
    actions = [_action(row, samples, countable) for row in experiments]
    return SectionAnswer(
        {"actions": actions, "annotations": o.rows(_ANNOTATIONS)},
        _availability(o, actions, countable),
    )


def _action(
    experiment: dict[str, Any],
    samples: dict[tuple[str, str, bool], list[Sample]],
    countable: dict[str, bool],
) -> dict[str, Any]:
    def pair(treated: bool) -> tuple[Sample, Sample]:
        before, after = (
            _pooled(samples.get((experiment["action_id"], period, treated), []))
            for period in ("before", "after")
        )
        return before, after

    before, after = pair(treated=True)
    early = experiment["days_after"] < _LEAST_DAYS or after["answer_count"] < _LEAST_ANSWERS
    measured = not early and before["answer_count"] >= _LEAST_ANSWERS
    metrics = [
        _metric(name, before, after)
        for name in experiment["metrics"] or _METRICS
        if measured and countable[name]
    ]
    compared = measured and countable["mentionRate"] and experiment["prompt_ids"] is not None
    return {
        "actionId": experiment["action_id"],
        "title": experiment["title"],
        "completedOn": experiment["completed_on"],
        "before": {"start": experiment["before_start"], "end": experiment["before_end"]},
        "after": {"start": experiment["after_start"], "end": experiment["after_end"]},
        "verdict": "too_early" if early else metrics[0]["verdict"] if metrics else None,
        "metrics": metrics,
        "control": _control(experiment["control"], *pair(treated=False)) if compared else None,
    }


def _metric(name: str, before: Sample, after: Sample) -> dict[str, Any]:
    """One metric in both windows: a rate with intervals, or a count, which has none."""
    is_rate = name == "mentionRate"
    count = "mention_count" if is_rate else "citation_count"
    p_value = _p_value(before, after, count)
    rates = [_rate(sample, count) for sample in (before, after)]
    first, second = rates if is_rate else (before[count], after[count])
    verdict = "no_detectable_change"
    if p_value is not None and p_value < _LEVEL:
        verdict = "improved" if rates[1] > rates[0] else "declined"
    return {
        "metric": name,
        "unit": "fraction" if is_rate else "count",
        "before": _side(first, before, is_rate),
        "after": _side(second, after, is_rate),
        "change": second - first,
        "relativeChange": (second - first) / first if first else None,
        "verdict": verdict,
        "confidence": 1 - p_value if is_rate and p_value is not None else None,
    }


def _side(value: float, sample: Sample, is_rate: bool) -> dict[str, Any]:
    """One window; the interval of a rate is null with too few prompts."""
    rows, low, high = sample["prompts"].values(), None, None
    if is_rate and len(rows) >= _LEAST_PROMPTS:
        low, high = clustered_interval([(r["mention_count"], r["answer_count"]) for r in rows])
    count = sample["answer_count"]
    return {"value": value, "sampleCount": count, "ciLow": low, "ciHigh": high}


def _pooled(rows: list[Sample]) -> Sample:
    """Sum the counts of all prompts, and keep those of each."""
    whole: Sample = {name: sum(row[name] for row in rows) for name in _COUNTS}
    return whole | {"prompts": {row["prompt_id"]: row for row in rows}}


def _p_value(before: Sample, after: Sample, count: str) -> float | None:
    """The p-value of no change, a prompt as one observation; None with too few prompts."""
    prompts = {**before["prompts"], **after["prompts"]}
    if len(prompts) < _LEAST_PROMPTS:
        return None
    nothing = dict.fromkeys(_COUNTS, 0)
    pairs = [
        [sample["prompts"].get(prompt, nothing) for sample in (before, after)] for prompt in prompts
    ]
    return windows_differ(
        (one[count], one["answer_count"], two[count], two["answer_count"]) for one, two in pairs
    )


def _rate(sample: Sample, count: str = "mention_count") -> float:
    return float(sample[count] / sample["answer_count"])


def _control(description: str | None, before: Sample, after: Sample) -> dict[str, Any] | None:
    """The change of the prompts that the action did not touch."""
    if description is None:
        return None
    measured = before["answer_count"] and after["answer_count"]
    change = _rate(after) - _rate(before) if measured else None
    return {"description": description, "metric": "mentionRate", "change": change}


def _availability(
    o: Observations, actions: list[dict[str, Any]], countable: dict[str, bool]
) -> SectionAvailability:
    if not o.observed("experiments"):
        return SectionAvailability("unavailable", not_held("completed actions"), 0, last_run(o))
    if not actions:
        return SectionAvailability(
            "unavailable", "No completed action is measured in this window.", 0, last_run(o)
        )
    missing = filter(None, (subject_missing(o), own_citations_missing(o)))
    reasons = [*_shortages(actions, any(countable.values())), *missing]
    status = "partial" if reasons else "available"
    if not any(action["metrics"] for action in actions):
        status = "insufficient_sample" if any(countable.values()) else "unavailable"
    answers = sum(
        metric[side]["sampleCount"]
        for action in actions
        for metric in action["metrics"][:1]
        for side in ("before", "after")
    )
    return SectionAvailability(status, " ".join(reasons) or None, answers, last_run(o))


def _shortages(actions: list[dict[str, Any]], countable: bool) -> list[str]:
    """Word how many actions lack answers before or after their completion."""
    early = sum(action["verdict"] == "too_early" for action in actions)
    unfounded = sum(action["verdict"] is None for action in actions) if countable else 0
    narrow = sum(
        metric["metric"] == "mentionRate" and metric["confidence"] is None
        for action in actions
        for metric in action["metrics"]
    )
    few = (
        f"{narrow} of {len(actions)} completed actions {'is' if narrow == 1 else 'are'} about "
        f"fewer than {_LEAST_PROMPTS} prompts, too few to detect a change."
    )
    return [
        f"{count} of {len(actions)} completed actions {'has' if count == 1 else 'have'} "
        f"too little data {when} completion."
        for count, when in ((early, "after"), (unfounded, "before"))
        if count
    ] + ([few] if narrow else [])
