"""Sections on work: actions to take, the impact of completed actions, and insights.

Impact and insights compare two windows of answers. Answers to the same prompt resemble each other,
so each prompt counts as one observation (`p_value_of_change`).

**Actions.** Actions for the filter values, and actions that are not limited to any value. Actions
that were proposed or changed after the window are left out.

**Impact.** A comparison of the windows before and after each completed action. The window after it
overlaps the requested window. Only answers to the prompts that the action should affect are
counted. The verdict is ``improved`` or ``declined`` if p < 0.05, else ``no_detectable_change``; the
confidence is 1 - p. ``mentionRate`` has a 95 % confidence interval (`clustered_interval`).
``citationCount``, the number of citations of own pages, has none; its test uses citations per
answer. With fewer than five prompts there is no test. The verdict on an action is the verdict on
its first metric.

**Insights.** Notable changes since the previous window:

============================ ===========================================================
``visibility_change``        the mention rate of a brand, overall or on one engine (AI assistant)
``sentiment_change``         the sentiment score of a brand
``competitor_citation_gain`` on one domain: more answers cite pages that mention one
                             competitor
``citation_loss``            on one domain: answers cited own pages that are no longer cited
============================ ===========================================================

The brands are those of the brand filter; by default, the project's own. Changes with an adjusted
p-value up to 0.1 are reported. At most 10 % of them are expected to be due to chance (Benjamini and
Hochberg 1995). The severity depends on the size of the change. The confidence is the adjusted
p-value in words, or ``provisional`` with fewer than 30 observations in either window. Small changes
are left out, and changes with fewer than 10 observations in either window. Changes of citations
need at least 5 citing answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from aatoolkit.service.answer import (
    NO_PREVIOUS_WINDOW_REASON,
    SectionAvailability,
    SectionResponse,
    explain_no_rows,
    find_answers_availability,
    find_last_run_time,
    register_section,
    select_fields,
)
from aatoolkit.service.measures import (
    PREVIOUS_PREFIX,
    UNGROUPED,
    count_answers,
    explain_no_mentions,
    explain_no_own_citations,
    find_focus_brands,
)
from aatoolkit.service.observations import JsonObject, Observations
from aatoolkit.service.significance import adjust_p_values, clustered_interval, p_value_of_change

# --- actions ---------------------------------------------------------------------------------

_ACTION_STATES = {
    "open": "open",
    "inProgress": "in_progress",
    "done": "done",
    "dismissed": "dismissed",
}

_ACTIONS_SQL = """
WITH evidence AS (
  SELECT action_id, count(chat_id) AS answer_count
  FROM (
    SELECT action_id, unnest(list_distinct(evidence_prompt_ids)) AS prompt_id
    FROM store.actions WHERE host = $host
  ) AS called LEFT JOIN answers USING (prompt_id)
  GROUP BY action_id
)
SELECT "group", CASE "group" WHEN 'offsite' THEN 'Earn citations'
    WHEN 'onsite' THEN 'Fix your pages' ELSE 'Open the site to engines' END AS label,
  list({
    'actionId': action_id, 'type': type, 'title': title, 'priority': priority, 'score': score,
    'effort': effort, 'state': state,
    'target': {'url': target_url, 'domain': target_domain, 'topic': topic, 'engine': engine},
    'expectedImpact': CASE WHEN impact_metric IS NOT NULL THEN {
      'metric': impact_metric, 'low': impact_low, 'high': impact_high, 'unit': impact_unit
    } END,
    'steps': steps,
    'evidence': {'promptIds': evidence_prompt_ids, 'answerCount': answer_count,
                 'competitors': evidence_competitors},
    'createdAt': created_at, 'updatedAt': updated_at
  } ORDER BY score DESC NULLS LAST, action_id) AS actions
FROM store.actions LEFT JOIN evidence USING (action_id)
WHERE host = $host
  AND CAST(created_at AS DATE) <= $window_end
  AND (updated_at IS NULL OR CAST(updated_at AS DATE) <= $window_end)
  AND (len($engine) = 0 OR engine IS NULL OR list_contains($engine, engine))
  AND (len($topic) = 0 OR topic IS NULL OR list_contains($topic, topic))
  AND (len($category) = 0 OR category IS NULL OR list_contains($category, category))
  AND (len($brand) = 0 OR brand IS NULL OR list_contains($brand, brand))
GROUP BY "group" ORDER BY "group"
"""


@register_section("actions")
def actions(observations: Observations) -> SectionResponse:
    """Return the section ``actions``: actions by group, and the number of actions by state."""
    if reason := explain_no_rows(observations, "actions"):
        availability = SectionAvailability(
            "unavailable", reason, 0, find_last_run_time(observations)
        )
        return SectionResponse(
            {"stateCounts": dict.fromkeys(_ACTION_STATES), "groups": []}, availability
        )
    groups = observations.fetch_rows(_ACTIONS_SQL)
    action_states = [action["state"] for group in groups for action in group["actions"]]
    reason = None if action_states else "No action concerns what these filters select."
    count_by_state = {
        name: action_states.count(action_state) for name, action_state in _ACTION_STATES.items()
    }
    return SectionResponse(
        {"stateCounts": count_by_state, "groups": groups},
        SectionAvailability(
            "available", reason, len(action_states), find_last_run_time(observations)
        ),
    )


# --- impact ----------------------------------------------------------------------------------

_MIN_DAYS_AFTER_ACTION = 7
_MIN_ANSWERS = 30
_MIN_PROMPTS = 5
_SIGNIFICANCE_LEVEL = 0.05
_COUNT_COLUMN_BY_METRIC = {"mentionRate": "mentions", "citationCount": "citations"}
"""The column that is counted for each metric."""

# Answers are counted by day and prompt before they are assigned to windows.
_EXPERIMENTS_SQL = """
WITH asked AS (
  SELECT prompt_id, day, count(*) AS answers FROM trial_answers GROUP BY prompt_id, day
), named AS (
  SELECT prompt_id, day, count(DISTINCT chat_id) AS mentions FROM trial_mentions
  WHERE list_contains($about, brand) GROUP BY prompt_id, day
), cited AS (
  SELECT prompt_id, day, count(*) AS citations FROM trial_citations
  WHERE source_domain IN (SELECT source_domain FROM own_domains) GROUP BY prompt_id, day
), listed AS (
  SELECT * FROM store.experiments
  WHERE host = $host AND after_start <= $window_end AND after_end >= $window_start
), counted AS (
  SELECT action_id, prompt_id,
    prompt_ids IS NULL OR list_contains(prompt_ids, prompt_id) AS treated,
    day BETWEEN after_start AND after_end AS later,
    CAST(sum(answers) AS BIGINT) AS answers,
    CAST(coalesce(sum(mentions), 0) AS BIGINT) AS mentions,
    CAST(coalesce(sum(citations), 0) AS BIGINT) AS citations
  FROM listed JOIN asked
    ON day BETWEEN before_start AND before_end OR day BETWEEN after_start AND after_end
  LEFT JOIN named USING (prompt_id, day) LEFT JOIN cited USING (prompt_id, day)
  GROUP BY ALL
), samples AS (
  SELECT action_id, [
      coalesce(list(counted ORDER BY prompt_id) FILTER (treated AND NOT later), []),
      coalesce(list(counted ORDER BY prompt_id) FILTER (treated AND later), [])
    ] AS samples,
    sum(mentions) FILTER (NOT treated AND later) / sum(answers) FILTER (NOT treated AND later)
      - sum(mentions) FILTER (NOT treated AND NOT later)
        / sum(answers) FILTER (NOT treated AND NOT later) AS control_change
  FROM counted GROUP BY action_id
)
SELECT listed.*, {'start': before_start, 'end': before_end} AS before,
  {'start': after_start, 'end': after_end} AS after, coalesce(samples, [[], []]) AS samples,
  control_change,
  date_diff('day', after_start, least(after_end, $window_end)) + 1 AS days_after
FROM listed LEFT JOIN samples USING (action_id) ORDER BY completed_on, action_id
"""

_ANNOTATIONS_SQL = """
SELECT day AS date, label, kind FROM store.annotations
WHERE host = $host AND day BETWEEN $window_start AND $window_end
ORDER BY day, label
"""


@register_section("impact")
def impact(observations: Observations) -> SectionResponse:
    """Return the section ``impact``: how metrics changed after actions, and notes on days."""
    reason_by_metric = {
        "mentionRate": explain_no_mentions(observations),
        "citationCount": explain_no_own_citations(observations),
    }
    countable_metrics = {
        metric_name for metric_name, reason in reason_by_metric.items() if reason is None
    }
    has_experiments = observations.has_rows("experiments")
    experiment_rows = (
        observations.fetch_rows(_EXPERIMENTS_SQL, about=find_focus_brands(observations))
        if has_experiments
        else []
    )
    outcome_objects = [_measure_outcome(row, countable_metrics) for row in experiment_rows]
    body = {"actions": outcome_objects, "annotations": observations.fetch_rows(_ANNOTATIONS_SQL)}
    reasons = [
        *_describe_small_samples(outcome_objects, bool(countable_metrics)),
        *filter(None, reason_by_metric.values()),
    ]
    status = "partial" if reasons else "available"
    sample_count = 0
    if not outcome_objects:
        default_reason = "No completed action is measured in this window."
        reasons = [
            default_reason
            if has_experiments
            else "The store holds no completed actions for this project."
        ]
        status = "unavailable"
    elif not any(outcome_object["metrics"] for outcome_object in outcome_objects):
        status = "insufficient_sample" if countable_metrics else "unavailable"
    for outcome_object in outcome_objects:
        for metric in outcome_object["metrics"][:1]:
            sample_count += metric["before"]["sampleCount"] + metric["after"]["sampleCount"]
    reason = " ".join(reasons) or None
    return SectionResponse(
        body, SectionAvailability(status, reason, sample_count, find_last_run_time(observations))
    )


def _measure_outcome(experiment: JsonObject, countable_metrics: set[str]) -> JsonObject:
    """Return a JSON object with the metrics before and after a completed action, and a verdict.

    ``experiment`` is a row with the action, its windows, and the counts of answers in each window.
    ``countable_metrics`` are the metrics that can be measured for the project.
    """
    rows_by_window = experiment["samples"]
    sample_sizes = [_sum_column(rows, "answers") for rows in rows_by_window]
    is_too_early = (
        experiment["days_after"] < _MIN_DAYS_AFTER_ACTION or sample_sizes[1] < _MIN_ANSWERS
    )
    is_measured = not is_too_early and sample_sizes[0] >= _MIN_ANSWERS
    metric_names = [
        name
        for name in experiment["metrics"] or _COUNT_COLUMN_BY_METRIC
        if is_measured and name in countable_metrics
    ]
    metrics = [_compare_metric(name, rows_by_window) for name in metric_names]
    control_object = None
    has_control = is_measured and "mentionRate" in countable_metrics
    if has_control and experiment["prompt_ids"] is not None and experiment["control"] is not None:
        control_change = experiment["control_change"]
        control_object = {
            "description": experiment["control"],
            "metric": "mentionRate",
            "change": control_change,
        }
    return {
        **select_fields(experiment, "actionId title completedOn before after"),
        "verdict": "too_early" if is_too_early else metrics[0]["verdict"] if metrics else None,
        "metrics": metrics,
        "control": control_object,
    }


def _sum_column(rows: list[JsonObject], column_name: str) -> int:
    """Return the sum of the values in one column of the rows."""
    return sum(row[column_name] for row in rows)


def _compare_metric(metric_name: str, rows_by_window: list[list[JsonObject]]) -> JsonObject:
    """Return a JSON object that compares a metric before and after an action.

    ``rows_by_window`` has two lists of rows, for the windows before and after. A row has the counts
    of one prompt.
    """
    count_column = _COUNT_COLUMN_BY_METRIC[metric_name]
    is_rate = metric_name == "mentionRate"
    counts_by_prompt: dict[str, list[int]] = {}
    estimates: list[JsonObject] = []
    window_rates: list[float] = []

    for window_index, rows in enumerate(rows_by_window):
        metric_total = _sum_column(rows, count_column)
        sample_size = _sum_column(rows, "answers")
        interval_low = None
        interval_high = None
        if is_rate and len(rows) >= _MIN_PROMPTS:
            interval_low, interval_high = clustered_interval(
                [(row[count_column], row["answers"]) for row in rows]
            )
        window_rates.append(metric_total / sample_size)
        estimate_value = window_rates[-1] if is_rate else metric_total
        estimates.append(
            {
                "value": estimate_value,
                "sampleCount": sample_size,
                "ciLow": interval_low,
                "ciHigh": interval_high,
            }
        )
        for row in rows:
            prompt_counts = counts_by_prompt.setdefault(row["prompt_id"], [0, 0, 0, 0])
            prompt_counts[2 * window_index : 2 * window_index + 2] = (
                row[count_column],
                row["answers"],
            )
    is_tested = len(counts_by_prompt) >= _MIN_PROMPTS
    p_value = p_value_of_change(counts_by_prompt.values()) if is_tested else 1.0
    value_before, value_after = (estimate["value"] for estimate in estimates)
    verdict = "improved" if window_rates[1] > window_rates[0] else "declined"
    return {
        "metric": metric_name,
        "unit": "fraction" if is_rate else "count",
        "before": estimates[0],
        "after": estimates[1],
        "change": value_after - value_before,
        "relativeChange": (value_after - value_before) / value_before if value_before else None,
        "verdict": verdict if p_value < _SIGNIFICANCE_LEVEL else "no_detectable_change",
        "confidence": 1 - p_value if is_rate and is_tested else None,
    }


def _describe_small_samples(outcome_objects: list[JsonObject], is_countable: bool) -> list[str]:
    """Return sentences that say how many actions have too few answers or prompts for a verdict.

    ``outcome_objects`` are the measured actions. ``is_countable`` says whether any metric can be
    measured for the project.
    """
    verdicts = [outcome_object["verdict"] for outcome_object in outcome_objects]
    untested_count = sum(
        metric["metric"] == "mentionRate" and metric["confidence"] is None
        for outcome_object in outcome_objects
        for metric in outcome_object["metrics"]
    )
    few_prompts_text = f"about fewer than {_MIN_PROMPTS} prompts, too few to detect a change."
    counts_and_texts = (
        (verdicts.count("too_early"), "has", "have", "too little data after completion."),
        (verdicts.count(None) * is_countable, "has", "have", "too little data before completion."),
        (untested_count, "is", "are", few_prompts_text),
    )
    return [
        f"{count} of {len(outcome_objects)} completed actions "
        f"{singular_verb if count == 1 else plural_verb} {shortage_text}"
        for count, singular_verb, plural_verb, shortage_text in counts_and_texts
        if count
    ]


# --- insights --------------------------------------------------------------------------------

_SEVERITIES = ("high", "medium", "low")
_CONFIDENCE_BY_P_VALUE = ((0.01, "high"), (0.05, "confident"), (0.1, "worth_a_look"))
_FALSE_DISCOVERY_RATE = 0.1
_LARGE_SAMPLE_SIZE = 30
_MIN_SAMPLE_SIZE = 10
_MIN_EVENT_COUNT = 5
_MIN_COUNT_CHANGE = 3
_MAX_EXAMPLES = 5


class _ChangeKind(NamedTuple):
    """A kind of notable change: its metric, its minimum size by severity, and its texts.

    ``key`` and ``unit`` are those of the metric. ``title``, ``text``, ``rise`` and ``fall`` are
    format strings: a title, a description, and the recommendations after an increase and after a
    decrease.
    """

    key: str
    unit: str
    minimum_effects: list[float]
    title: str
    text: str
    rise: str
    fall: str


_CHANGE_KIND_BY_NAME = {
    name: _ChangeKind(**fields)
    for name, fields in json.loads(
        Path(__file__).with_name("change_kinds.json").read_text("utf-8")
    ).items()
}
_CAUSE_TEMPLATES = (
    "Pages of its own came to be cited that the window before did not cite, such as {url}.",
    "Pages of its own are no longer cited that the window before cited, such as {url}.",
)

_CITED_TABLE_SQL = """cited AS (
  SELECT *, TRUE AS before FROM previous_citations WHERE cited
  UNION ALL BY NAME SELECT *, FALSE AS before FROM citations WHERE cited
)"""

# Every change by prompt: a total and a size in the window before, and in this one. Answers that
# cite pages of one window only: a loss is one if fewer such pages came than went. That some page
# is cited no more is so of every window in which many are cited rarely.
_CHANGES_SQL = f"""
WITH {_CITED_TABLE_SQL}, said AS (
  SELECT engine, prompt_id, TRUE AS before FROM previous_answers
  UNION ALL SELECT engine, prompt_id, FALSE FROM answers
), named AS (
  SELECT brand, engine, prompt_id, sentiment_score, TRUE AS before FROM previous_mentions
  UNION ALL SELECT brand, engine, prompt_id, sentiment_score, FALSE FROM mentions
), asked AS (
  SELECT engine, prompt_id, count(*) FILTER (before) AS size0,
    count(*) FILTER (NOT before) AS size1
  FROM said GROUP BY ALL
), mentioned AS (
  SELECT brand, engine, prompt_id,
    count(*) FILTER (before) AS total0, count(*) FILTER (NOT before) AS total1
  FROM named GROUP BY ALL
), visible AS (
  SELECT 1 AS place, 'visibility_change' AS kind, brand, engine, NULL AS domain, prompt_id,
    sum(coalesce(total0, 0)) AS total0, sum(size0) AS size0,
    sum(coalesce(total1, 0)) AS total1, sum(size1) AS size1
  FROM (SELECT brand FROM focus) CROSS JOIN asked
  LEFT JOIN mentioned USING (brand, engine, prompt_id)
  GROUP BY GROUPING SETS ((brand, engine, prompt_id), (brand, prompt_id))
  HAVING engine IS NOT NULL OR (SELECT count(DISTINCT engine) FROM asked) > 1
), felt AS (
  SELECT 2, 'sentiment_change', brand, NULL, NULL, prompt_id,
    coalesce(sum(sentiment_score ORDER BY sentiment_score) FILTER (before), 0),
    count(*) FILTER (before),
    coalesce(sum(sentiment_score ORDER BY sentiment_score) FILTER (NOT before), 0),
    count(*) FILTER (NOT before)
  FROM named
  WHERE sentiment_score IS NOT NULL AND brand IN (SELECT brand FROM focus)
  GROUP BY brand, prompt_id
), owned AS (
  SELECT source_domain FROM own_domains
  UNION SELECT domain FROM store.brands WHERE host = $host AND domain IS NOT NULL
), rivals AS (
  SELECT url, brand FROM store.source_page_brands JOIN store.brands USING (host, brand)
  WHERE host = $host AND mentioned AND tracked AND own IS NOT TRUE
    AND brand NOT IN (SELECT brand FROM focus) AND EXISTS (SELECT 1 FROM focus)
), pages AS (
  SELECT * FROM cited WHERE source_domain IN (SELECT source_domain FROM own_domains)
), about AS (
  SELECT 3 AS place, brand, source_domain, prompt_id, chat_id, url, before
  FROM cited JOIN rivals USING (url) ANTI JOIN owned USING (source_domain)
  UNION ALL
  SELECT 4, (SELECT CASE WHEN count(*) = 1 THEN min(brand) END FROM focus), source_domain,
    prompt_id, chat_id, url, before
  FROM pages WHERE url NOT IN (
    SELECT url FROM pages GROUP BY url HAVING bool_or(before) AND NOT bool_and(before))
), sources AS (
  SELECT place, brand, source_domain AS domain,
    list_slice(list_sort(list(DISTINCT url) FILTER (before OR place = 3)), 1, {_MAX_EXAMPLES})
      AS urls
  FROM about GROUP BY ALL
), sought AS (
  SELECT prompt_id, sum(size0) AS size0, sum(size1) AS size1 FROM asked GROUP BY prompt_id
), counted AS (
  SELECT place, brand, source_domain AS domain, prompt_id,
    count(DISTINCT chat_id) FILTER (before) AS total0,
    count(DISTINCT chat_id) FILTER (NOT before) AS total1
  FROM about GROUP BY ALL
), turned AS (
  SELECT sources.place,
    CASE sources.place WHEN 3 THEN 'competitor_citation_gain' ELSE 'citation_loss' END,
    sources.brand, NULL, sources.domain, sought.prompt_id,
    coalesce(total0, 0), size0, coalesce(total1, 0), size1
  FROM sources CROSS JOIN sought
  LEFT JOIN counted ON counted.place = sources.place AND counted.domain = sources.domain
    AND counted.brand IS NOT DISTINCT FROM sources.brand AND counted.prompt_id = sought.prompt_id
), changes AS (
  SELECT * FROM visible UNION ALL SELECT * FROM felt UNION ALL SELECT * FROM turned
), collected AS (
  SELECT changes.place, kind, changes.brand, engine, changes.domain,
    coalesce(any_value(urls), []) AS urls,
    list([total0, size0, total1, size1] ORDER BY prompt_id) AS prompts,
    list(prompt_id ORDER BY prompt_id) AS prompt_ids,
    'ins_' || left(md5(kind || '|' || coalesce(engine, '') || '|' || coalesce(changes.brand, '')
      || '|' || coalesce(changes.domain, '')), 12) AS insight_id
  FROM changes LEFT JOIN sources ON sources.place = changes.place
    AND sources.domain = changes.domain AND sources.brand IS NOT DISTINCT FROM changes.brand
  GROUP BY changes.place, kind, changes.brand, engine, changes.domain
)
SELECT collected.*, coalesce(nullif(label, ''), engine) AS label, coalesce(state, 'new') AS state
FROM collected LEFT JOIN scoped_engines USING (engine)
LEFT JOIN (SELECT * FROM store.insight_states WHERE host = $host) USING (insight_id)
ORDER BY place, brand, engine NULLS FIRST, domain
"""

_GAINED_OR_LOST_PAGES_SQL = f"""
WITH {_CITED_TABLE_SQL}
SELECT url FROM cited
WHERE source_domain IN (SELECT source_domain FROM own_domains)
  AND ($on_engine IS NULL OR engine = $on_engine)
GROUP BY url HAVING bool_and(before = $lost) ORDER BY count(*) DESC, url LIMIT {_MAX_EXAMPLES}
"""


@register_section("insights")
def insights(observations: Observations) -> SectionResponse:
    """Return the section ``insights``: notable changes of measures, the most severe first."""
    availability = _find_availability(observations)
    if availability.status not in ("available", "partial"):
        empty_summary = {"headline": None, "bySeverity": dict.fromkeys(_SEVERITIES)}
        return SectionResponse({"summary": empty_summary, "insights": []}, availability)
    metric_changes = [
        metric_change
        for row in observations.fetch_rows(_CHANGES_SQL)
        if (metric_change := _measure_metric_change(row))
    ]
    p_values = adjust_p_values(
        [p_value_of_change(metric_change["prompts"]) for metric_change in metric_changes]
    )
    insight_objects = [
        _build_insight(observations, metric_change, p_value)
        | {"detectedAt": availability.as_of, "state": metric_change["state"]}
        for metric_change, p_value in zip(metric_changes, p_values, strict=True)
        if p_value <= _FALSE_DISCOVERY_RATE and metric_change["severity"] is not None
    ]
    insight_objects.sort(key=lambda insight_object: _SEVERITIES.index(insight_object["severity"]))
    severities = [insight_object["severity"] for insight_object in insight_objects]
    headline = "; ".join(insight_object["title"] for insight_object in insight_objects[:2])
    summary = {
        "headline": f"{headline or 'Nothing changed noticeably against the window before'}.",
        "bySeverity": {severity: severities.count(severity) for severity in _SEVERITIES},
    }
    return SectionResponse({"summary": summary, "insights": insight_objects}, availability)


def _find_availability(observations: Observations) -> SectionAvailability:
    """Return the availability of the section ``insights``.

    The section needs answers in the requested window and in the window before it.
    """
    missing_reasons = [explain_no_mentions(observations), explain_no_own_citations(observations)]
    if not observations.has_rows("source_page_brands"):
        missing_reasons.append("It is not known which brands the cited pages mention.")
    availability = find_answers_availability(observations, reasons=missing_reasons)
    has_comparison = (
        observations.has_previous_window
        and count_answers(observations, UNGROUPED, PREVIOUS_PREFIX)[()]
    )
    if availability.status == "unavailable" or has_comparison:
        return availability
    return SectionAvailability(
        "insufficient_sample",
        f"There is nothing to compare with. {NO_PREVIOUS_WINDOW_REASON}",
        availability.sample_count,
        availability.as_of,
        engines=availability.engines,
    )


def _measure_metric_change(row: JsonObject) -> JsonObject | None:
    """Measure a change between two windows: its size, severity and most affected prompts.

    Return a copy of the row of the change with these added. If there are too few answers or
    citations, return None.
    """
    change_kind = _CHANGE_KIND_BY_NAME[row["kind"]]
    is_count = change_kind.unit == "count"
    is_loss = row["kind"] == "citation_loss"
    total_before, size_before, total_after, size_after = map(sum, zip(*row["prompts"], strict=True))
    event_count = total_before + total_after
    # Newly cited pages do not make up for a loss: they count only in the test.
    total_after = 0 if is_loss else total_after
    has_few_events = is_count and (
        event_count < _MIN_EVENT_COUNT
        or (not total_before if is_loss else total_after <= total_before)
    )
    smaller_size = min(size_before, size_after)
    if has_few_events or smaller_size < _MIN_SAMPLE_SIZE:
        return None
    rate_change = total_after / size_after - total_before / size_before
    window_values = (
        [int(total_before), int(total_after)]
        if is_count
        else [total_before / size_before, total_after / size_after]
    )
    is_small = is_count and abs(total_after - total_before) < _MIN_COUNT_CHANGE
    severities_and_minimums = zip(_SEVERITIES, change_kind.minimum_effects, strict=True)
    severity = next(
        (name for name, minimum in severities_and_minimums if abs(rate_change) >= minimum), None
    )
    direction = 1 if rate_change > 0 else -1
    rate_shift_by_prompt = {
        prompt: direction * (totals[2] / size_after - totals[0] / size_before)
        for prompt, totals in zip(row["prompt_ids"], row["prompts"], strict=True)
    }
    sorted_prompts = sorted(
        rate_shift_by_prompt, key=lambda prompt: (-rate_shift_by_prompt[prompt], prompt)
    )
    return row | {
        "values": window_values,
        "effect": rate_change,
        "size": smaller_size,
        "count": int(total_after if is_count and not is_loss else size_after),
        "severity": None if is_small else severity,
        "evidence": [prompt for prompt in sorted_prompts if rate_shift_by_prompt[prompt] > 0][
            :_MAX_EXAMPLES
        ],
    }


def _build_insight(
    observations: Observations, metric_change: JsonObject, p_value: float
) -> JsonObject:
    """Return a JSON object that describes a change of a measure by texts and numbers.

    ``metric_change`` is a result of `_measure_metric_change`, and ``p_value`` is its adjusted
    p-value.
    """
    change_kind_name, brand, engine, domain = (
        metric_change[name] for name in ("kind", "brand", "engine", "domain")
    )
    change_kind = _CHANGE_KIND_BY_NAME[change_kind_name]
    value_before, value_after = metric_change["values"]
    urls = metric_change["urls"]
    if change_kind_name == "visibility_change" and len(find_focus_brands(observations)) == 1:
        # With several brands in focus, it is not known to which of them a page belongs.
        urls = observations.fetch_column(
            _GAINED_OR_LOST_PAGES_SQL, on_engine=engine, lost=metric_change["effect"] < 0
        )
    template_values = {
        "brand": brand,
        "domain": domain,
        "before": value_before,
        "after": value_after,
        "up": "up" if value_after > value_before else "down",
        "where": f" on {metric_change['label']}" if engine else "",
        "often": "more often" if value_before else "newly",
    }
    is_fall = value_after <= value_before
    cause_sentence = (
        _CAUSE_TEMPLATES[is_fall].format(url=urls[0])
        if change_kind.key == "mentionRate" and urls
        else None
    )
    is_large_sample = metric_change["size"] >= _LARGE_SAMPLE_SIZE
    confidence_names = (
        confidence
        for max_p_value, confidence in _CONFIDENCE_BY_P_VALUE
        if is_large_sample and p_value <= max_p_value
    )
    values_by_filter = {
        name: observations.scope.filter_values(name) for name in ("engine", "topic", "category")
    }
    value_by_filter = {
        name: filter_values[0] if len(filter_values) == 1 else None
        for name, filter_values in values_by_filter.items()
    }
    return {
        "insightId": metric_change["insight_id"],
        "type": change_kind_name,
        "severity": metric_change["severity"],
        "confidence": next(confidence_names, "provisional"),
        "title": change_kind.title.format(**template_values),
        "what": change_kind.text.format(**template_values),
        "why": cause_sentence,
        "recommendation": (change_kind.fall if is_fall else change_kind.rise).format(
            **template_values
        ),
        "metric": {
            "key": change_kind.key,
            "unit": change_kind.unit,
            "before": value_before,
            "after": value_after,
            "change": value_after - value_before,
            "changeKind": "absolute",
        },
        "scope": {**value_by_filter, "engine": engine or value_by_filter["engine"], "brand": brand},
        "baseline": vars(observations.window.previous),
        "evidence": {
            "answerCount": metric_change["count"],
            "promptIds": metric_change["evidence"],
            "urls": urls,
        },
    }
