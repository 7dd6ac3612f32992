"""Ranking: brands ordered by how often answers mention them.

Rank 1 has the largest share of voice; brands that tie are ranked by name, so that every
rank is one brand's. The brand filter chooses whose ranks are listed, never what they are
ranked against. Rates of first and top three positions are of the mentions with a position.
Mentions by prompt say how shares of them differ between prompts: each prompt that was answered has
every listed brand, a count of 0 where its answers do not mention it, and null where it has none.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import (
    NO_PREVIOUS,
    SectionAnswer,
    State,
    answers_availability,
    fields,
    not_held,
    section,
)
from aatoolkit.service.measures import brand_measures
from aatoolkit.service.observations import Observations

_POSITIONS = """
SELECT brand, engine, sum(position) / count(position) AS average_position, count(position) AS n
FROM mentions WHERE position IS NOT NULL
  AND brand IN (SELECT brand FROM listed_brands)
GROUP BY brand, engine
"""

_BANDS = """
SELECT brand, CASE WHEN position <= 3 THEN CAST(position AS VARCHAR)
  WHEN position <= 10 THEN '4-10' ELSE '11+' END AS band, count(*) AS mention_count
FROM mentions WHERE position IS NOT NULL
  AND brand IN (SELECT brand FROM listed_brands)
GROUP BY brand, band ORDER BY brand, min(position)
"""

_HISTORY = """
WITH counted AS (
  SELECT day, brand, count(*) AS mention_count FROM mentions GROUP BY day, brand
), placed AS (
  SELECT day, brand,
    row_number() OVER (PARTITION BY day ORDER BY mention_count DESC, brand) AS rank
  FROM counted
), listed AS (
  SELECT * FROM placed WHERE brand IN (SELECT brand FROM listed_brands)
)
SELECT day, brand, rank
FROM (SELECT DISTINCT day FROM answers) AS days LEFT JOIN listed USING (day)
ORDER BY day, rank
"""

_BY_PROMPT = """
WITH counted AS (
  SELECT prompt_id, brand, count(*) AS n FROM {window}mentions GROUP BY prompt_id, brand
), asked AS (
  SELECT DISTINCT prompt_id FROM {window}answers
), whole AS (
  SELECT prompt_id, coalesce(sum(n), 0) AS total
  FROM asked LEFT JOIN counted USING (prompt_id) GROUP BY prompt_id
)
SELECT prompt_id, listed.brand, coalesce(n, 0) AS n, total
FROM whole CROSS JOIN (SELECT brand FROM listed_brands) AS listed
LEFT JOIN counted USING (prompt_id, brand)
ORDER BY prompt_id, brand
"""


@section("ranking")
def ranking(o: Observations) -> SectionAnswer:
    """Leaderboard, positions by brand and engine, and ranks by day."""
    leaderboard = _leaderboard(o)
    known = o.observed("mentions")
    states: dict[str, State] = {}
    if not o.previous_observed:
        unmeasured = State("unavailable", NO_PREVIOUS)
        for name in ("Rank", "ShareOfVoice", "MentionCount", "AllMentionCount"):
            states[f"leaderboard[].previous{name}"] = unmeasured
        states["byPrompt[].previousMentionCount"] = unmeasured
        for name in ("MentionCount", "ShareOfVoice"):
            states[f"byPrompt[].brands{{}}.previous{name}"] = unmeasured
    return SectionAnswer(
        {
            "leaderboard": leaderboard,
            "matrix": _matrix(o, [row["brand"] for row in leaderboard]),
            "positionCounts": _bands(o),
            "history": _history(o) if known else [],
            "byPrompt": _by_prompt(o) if known else [],
        },
        answers_availability(o, reason=None if known else not_held("mentions"), fields=states),
    )


def _leaderboard(o: Observations) -> list[dict[str, Any]]:
    before: dict[str, dict[str, Any]] = {}
    if o.previous_observed:
        before = {row["brand"]: row for row in brand_measures(o, previous=True)}
    return [
        {
            **fields(
                row,
                "rank brand own averagePosition firstPositionRate topThreeRate mentionCount"
                " shareOfVoice positionCount firstPositionCount topThreeCount allMentionCount",
                firstPositionCount="first_count",
                allMentionCount="all_voice_count",
            ),
            **{
                f"previous{name[0].upper()}{name[1:]}": value
                for name, value in fields(
                    before.get(row["brand"], {}),
                    "rank shareOfVoice mentionCount allMentionCount",
                    allMentionCount="all_voice_count",
                ).items()
            },
        }
        for row in brand_measures(o)
    ]


def _matrix(o: Observations, brands: list[str]) -> dict[str, Any]:
    engines = o.column("SELECT DISTINCT engine FROM answers ORDER BY engine")
    found = {(row["brand"], row["engine"]): row for row in o.rows(_POSITIONS)}
    mean = {cell: row["average_position"] for cell, row in found.items()}
    known = o.observed("mentions")
    counts = {cell: row["n"] for cell, row in found.items()}
    return {
        "metric": "averagePosition",
        "brands": brands,
        "engines": engines,
        "values": [[mean.get((brand, engine)) for engine in engines] for brand in brands],
        "sampleCounts": [
            [counts.get((brand, engine), 0 if known else None) for engine in engines]
            for brand in brands
        ],
    }


def _bands(o: Observations) -> dict[str, dict[str, int]]:
    """Count the mentions of each brand by band of positions; empty bands are left out."""
    counts: dict[str, dict[str, int]] = {}
    for row in o.rows(_BANDS):
        counts.setdefault(row["brand"], {})[row["band"]] = row["mention_count"]
    return counts


def _history(o: Observations) -> list[dict[str, Any]]:
    """Ranks on each day with answers; a day on which none names a brand has no ranks."""
    days: dict[Any, dict[str, int]] = {}
    for row in o.rows(_HISTORY):
        ranks = days.setdefault(row["day"], {})
        if row["brand"] is not None:
            ranks[row["brand"]] = row["rank"]
    return [{"date": day, "ranks": ranks} for day, ranks in days.items()]


def _by_prompt(o: Observations) -> list[dict[str, Any]]:
    """Mentions by prompt and brand, in this window and the one before."""
    windows = [o.rows(_BY_PROMPT.format(window=""))]
    windows.append(o.rows(_BY_PROMPT.format(window="previous_")) if o.previous_observed else [])
    totals = [{row["prompt_id"]: row["total"] for row in rows} for rows in windows]
    counts = [{(row["prompt_id"], row["brand"]): row["n"] for row in rows} for rows in windows]
    brands: dict[str, dict[str, None]] = {}
    for prompt, brand in (*counts[0], *counts[1]):
        brands.setdefault(prompt, {})[brand] = None
    found = []
    for prompt in sorted(brands):
        now, before = (total.get(prompt) for total in totals)
        of_brands = {}
        for brand in brands[prompt]:
            count, earlier = (each.get((prompt, brand)) for each in counts)
            of_brands[brand] = {
                "mentionCount": count,
                "shareOfVoice": count / now if now else None,
                "previousMentionCount": earlier,
                "previousShareOfVoice": earlier / before if before else None,
            }
        found.append(
            {
                "promptId": prompt,
                "mentionCount": now,
                "previousMentionCount": before,
                "brands": of_brands,
            }
        )
    return found
