"""Prompts: every prompt in scope, what its answers say, and the account's allowance.

Prompts that never ran are listed too, with nothing but the number of their answers, 0.
All rows are given at once: the API documents no parameter for paging.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    NO_PREVIOUS,
    SectionAnswer,
    State,
    answers_availability,
    fields,
    section,
)
from aatoolkit.service.measures import (
    PROMPT_ENGINES,
    PROMPTS,
    Grouping,
    citations,
    earlier,
    focus,
    own_citations_missing,
    subject_missing,
)
from aatoolkit.service.observations import Observations

_PAGE = 100

_PROMPTS = """
WITH counted AS (
  SELECT prompt_id, brand, count(*) AS mention_count FROM mentions GROUP BY prompt_id, brand
), leaders AS (
  SELECT prompt_id, first(brand ORDER BY mention_count DESC, brand) AS top_brand
  FROM counted GROUP BY prompt_id
)
SELECT scoped_prompts.*, top_brand
FROM scoped_prompts LEFT JOIN leaders USING (prompt_id)
ORDER BY prompt_id
"""

_LATEST = """
WITH latest AS (
  SELECT * FROM runs
  QUALIFY row_number() OVER (
    PARTITION BY prompt_id, engine ORDER BY ran_at DESC, chat_id DESC) = 1
), named AS (
  SELECT chat_id, min(position) AS position FROM mentions
  WHERE brand IN (SELECT brand FROM focus) GROUP BY chat_id
)
SELECT prompt_id, engine, day, position, outcome = 'answered' AS answered,
  named.chat_id IS NOT NULL AS mentioned
FROM latest LEFT JOIN named USING (chat_id)
ORDER BY prompt_id, engine
"""

_COUNTS = "answerCount mentionCount mentionRate"
"""What is counted of each prompt, of each prompt on each engine, and in the window before."""

_MEANS = "averagePosition positionCount"
"""What the window before has beside, of each prompt."""

_USED = """
SELECT CASE WHEN count(*) > 0 AND count(*) = count(active)
  THEN count(*) FILTER (WHERE active) END AS used
FROM store.prompts WHERE host = $host
"""


@section("prompts")
def prompts(o: Observations) -> SectionAnswer:
    """Prompt rows and the account's allowance."""
    rows = _rows(o)
    account = _account(o)
    reasons = [subject_missing(o), own_citations_missing(o)]
    states = _unknown_allowances(account)
    if not o.previous_observed:
        names = [f"rows[].{name}" for name in earlier(fields({}, f"{_COUNTS} {_MEANS}"))]
        names += [f"rows[].engines[].{name}" for name in earlier(fields({}, _COUNTS))]
        states |= dict.fromkeys(names, State("unavailable", NO_PREVIOUS))
    return SectionAnswer(
        {
            "account": account,
            "rows": rows,
            "paging": {"offset": 0, "limit": max(_PAGE, len(rows)), "total": len(rows)},
        },
        answers_availability(
            o,
            reason=" ".join(filter(None, reasons)) or None,
            fields=states,
        ),
    )


def _account(o: Observations) -> dict[str, Any]:
    """The account's plan and allowance, which filters do not narrow."""
    project = o.project
    allowance, used = project["prompt_allowance"], o.value(_USED)
    known = allowance is not None and used is not None
    return {
        "plan": project["plan"],
        "promptAllowance": allowance,
        "promptsUsed": used,
        "promptsRemaining": allowance - used if known else None,
        "engineAllowance": project["engine_allowance"],
        "resetsOn": project["allowance_resets_on"],
    }


def _unknown_allowances(account: dict[str, Any]) -> dict[str, State]:
    return {
        f"account.{name}": State("unavailable", "This is not known of the account.")
        for name, value in account.items()
        if value is None
    }


def _rows(o: Observations) -> list[dict[str, Any]]:
    measured, cited = focus(o, PROMPTS), citations(o, PROMPTS)
    engines = _engines(o)
    rows = []
    for row in o.rows(_PROMPTS):
        prompt = row["prompt_id"]
        volume = {"estimate": row["volume_estimate"], "band": row["volume_band"]}
        rows.append(
            {
                **fields(
                    row,
                    "promptId prompt topic category intent branded country language active topBrand"
                    " createdAt",
                ),
                "volume": volume if any(v is not None for v in volume.values()) else None,
                **fields(
                    {"answer_count": 0, **measured.get(prompt, {}), **cited.get(prompt, {})},
                    f"{_COUNTS} averagePosition sentimentScore positionCount scoredCount"
                    " ownCitationCount",
                ),
                "engines": engines.get(prompt, []),
                **_previous(o, PROMPTS, prompt, f"{_COUNTS} {_MEANS}"),
            }
        )
    return rows


def _previous(o: Observations, grouping: Grouping, key: Any, names: str) -> dict[str, Any]:
    """The measures of the window before: without answers it has none, and 0 of them."""
    if not o.previous_observed:
        return earlier(fields({}, names))
    return earlier(fields({"answer_count": 0, **focus(o, grouping, True).get(key, {})}, names))


def _engines(o: Observations) -> dict[str, list[dict[str, Any]]]:
    """The latest run of each prompt on each engine, and the counts of all their answers."""
    known = subject_missing(o) is None
    measured = focus(o, PROMPT_ENGINES)
    engines: dict[str, list[dict[str, Any]]] = {}
    for row in o.rows(_LATEST):
        key = (row["prompt_id"], row["engine"])
        engines.setdefault(row["prompt_id"], []).append(
            {
                "engine": row["engine"],
                "mentioned": row["mentioned"] if known and row["answered"] else None,
                "position": row["position"],
                "lastRunDay": row["day"],
                **fields({"answer_count": 0, **measured.get(key, {})}, _COUNTS),
                **_previous(o, PROMPT_ENGINES, key, _COUNTS),
            }
        )
    return engines
