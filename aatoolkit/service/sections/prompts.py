"""Prompts: every prompt in scope, what its answers say, and the account's allowance.

Prompts that never ran are listed too, with nothing but the number of their answers, 0.
All rows are given at once: the API documents no parameter for paging.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit.service.answer import SectionAnswer, State, fields, section
from aatoolkit.service.availability import NO_PREVIOUS, answers_availability
from aatoolkit.service.mentions import focus_by, focus_by_prompt_and_engine, subject_missing
from aatoolkit.service.observations import Observations
from aatoolkit.service.own_citations import citations_by, own_citations_missing

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
        unmeasured = State("unavailable", NO_PREVIOUS)
        states |= {f"rows[].{name}": unmeasured for name in _before(f"{_COUNTS} {_MEANS}")}
        states |= {f"rows[].engines[].{name}": unmeasured for name in _before(_COUNTS)}
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
    mentioned, cited = focus_by(o, "prompt_id"), citations_by(o, "prompt_id")
    before = focus_by(o, "prompt_id", previous=True) if o.previous_observed else None
    engines = _engines(o)
    return [
        {
            **fields(
                row,
                "promptId prompt topic category intent branded country language active topBrand"
                " createdAt",
            ),
            "volume": _volume(row),
            "answerCount": seen.get("answer_count", 0),
            **fields(
                seen,
                "mentionCount mentionRate averagePosition sentimentScore positionCount scoredCount",
            ),
            "ownCitationCount": cited.get(row["prompt_id"], {}).get("own_citation_count"),
            "engines": engines.get(row["prompt_id"], []),
            **_previous(f"{_COUNTS} {_MEANS}", before, row["prompt_id"]),
        }
        for row in o.rows(_PROMPTS)
        for seen in (mentioned.get(row["prompt_id"], {}),)
    ]


def _before(names: str) -> list[str]:
    return [f"previous{name[0].upper()}{name[1:]}" for name in names.split()]


def _previous(names: str, rows: Mapping[Any, dict[str, Any]] | None, key: Any) -> dict[str, Any]:
    """The measures of the window before: without answers it has none, and 0 of them."""
    if rows is None:
        return dict.fromkeys(_before(names))
    row = {"answer_count": 0, **rows.get(key, {})}
    return dict(zip(_before(names), fields(row, names).values(), strict=True))


def _volume(row: dict[str, Any]) -> dict[str, Any] | None:
    estimate, band = row["volume_estimate"], row["volume_band"]
    return None if estimate is None and band is None else {"estimate": estimate, "band": band}


def _engines(o: Observations) -> dict[str, list[dict[str, Any]]]:
    """The latest run of each prompt on each engine, and the counts of all their answers."""
    known = subject_missing(o) is None
    now = focus_by_prompt_and_engine(o, previous=False)
    before = focus_by_prompt_and_engine(o, previous=True) if o.previous_observed else None
    latest: dict[str, list[dict[str, Any]]] = {}
    for row in o.rows(_LATEST):
        key = (row["prompt_id"], row["engine"])
        latest.setdefault(row["prompt_id"], []).append(
            {
                "engine": row["engine"],
                "mentioned": row["mentioned"] if known and row["answered"] else None,
                "position": row["position"],
                "lastRunDay": row["day"],
                **fields({"answer_count": 0, **now.get(key, {})}, _COUNTS),
                **_previous(_COUNTS, before, key),
            }
        )
    return latest
