"""Actions: what is proposed or under way, grouped by the kind of work.

An action passes a filter where it concerns one of the values asked for, or where it does
not say which it concerns: such an action concerns all. The window of days does not narrow
the list; what was proposed or changed after its end is left out.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, last_run, not_held, section
from aatoolkit.service.observations import Observations

_LABELS = {
    "offsite": "Earn citations",
    "onsite": "Fix your pages",
    "technical": "Open the site to engines",
}
_STATES = {"open": "open", "inProgress": "in_progress", "done": "done", "dismissed": "dismissed"}

_ACTIONS = """
WITH evidence AS (
  SELECT action_id, count(chat_id) AS answer_count
  FROM (
    SELECT action_id, unnest(list_distinct(evidence_prompt_ids)) AS prompt_id
    FROM store.actions WHERE host = $host
  ) AS called LEFT JOIN answers USING (prompt_id)
  GROUP BY action_id
)
SELECT actions.*, evidence.answer_count
FROM store.actions AS actions LEFT JOIN evidence USING (action_id)
WHERE host = $host
  AND CAST(created_at AS DATE) <= $window_end
  AND (updated_at IS NULL OR CAST(updated_at AS DATE) <= $window_end)
  AND (len($engine) = 0 OR engine IS NULL OR list_contains($engine, engine))
  AND (len($topic) = 0 OR topic IS NULL OR list_contains($topic, topic))
  AND (len($category) = 0 OR category IS NULL OR list_contains($category, category))
  AND (len($brand) = 0 OR brand IS NULL OR list_contains($brand, brand))
ORDER BY "group", score DESC NULLS LAST, action_id
"""


@section("actions")
def actions(o: Observations) -> SectionAnswer:
    """Optimisation actions by group, and how many are in each state."""
    if not o.observed("actions"):
        return SectionAnswer(
            {"stateCounts": dict.fromkeys(_STATES), "groups": []},
            SectionAvailability("unavailable", not_held("actions"), 0, last_run(o)),
        )
    rows = o.rows(_ACTIONS)
    reason = None if rows else "No action concerns what these filters select."
    return SectionAnswer(
        {
            "stateCounts": {
                name: sum(row["state"] == state for row in rows) for name, state in _STATES.items()
            },
            "groups": _groups(rows),
        },
        SectionAvailability("available", reason, len(rows), last_run(o)),
    )


def _groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(_action(row))
    return [
        {"group": group, "label": _LABELS[group], "actions": members}
        for group, members in groups.items()
    ]


def _action(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "actionId": row["action_id"],
        "type": row["type"],
        "title": row["title"],
        "priority": row["priority"],
        "score": row["score"],
        "effort": row["effort"],
        "state": row["state"],
        "target": {
            "url": row["target_url"],
            "domain": row["target_domain"],
            "topic": row["topic"],
            "engine": row["engine"],
        },
        "expectedImpact": _expected(row),
        "steps": row["steps"],
        "evidence": {
            "promptIds": row["evidence_prompt_ids"],
            "answerCount": row["answer_count"],
            "competitors": row["evidence_competitors"],
        },
        "createdAt": row["created_at"],
        "updatedAt": row["updated_at"],
    }


def _expected(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["impact_metric"] is None:
        return None
    return {
        "metric": row["impact_metric"],
        "low": row["impact_low"],
        "high": row["impact_high"],
        "unit": row["impact_unit"],
    }
