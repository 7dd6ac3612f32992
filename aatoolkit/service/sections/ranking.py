"""Ranking: brands ordered by how often answers mention them.

Rank 1 has the largest share of voice; brands that tie are ranked by name, so that every
rank is one brand's. The brand filter chooses whose ranks are listed, never what they are
ranked against. Rates of first and top three positions are of the mentions with a position.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.answer import SectionAnswer, State, section
from aatoolkit.service.availability import NO_PREVIOUS, answers_availability, not_held
from aatoolkit.service.mentions import brand_measures
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


@section("ranking")
def ranking(o: Observations) -> SectionAnswer:
    """Leaderboard, positions by brand and engine, and ranks by day."""
    leaderboard = _leaderboard(o)
    known = o.observed("mentions")
    fields: dict[str, State] = {}
    if not o.previous_observed:
        fields["leaderboard[].previousRank"] = State("unavailable", NO_PREVIOUS)
    return SectionAnswer(
        {
            "leaderboard": leaderboard,
            "matrix": _matrix(o, [row["brand"] for row in leaderboard]),
            "positionCounts": _bands(o),
            "history": _history(o) if known else [],
        },
        answers_availability(o, reason=None if known else not_held("mentions"), fields=fields),
    )


def _leaderboard(o: Observations) -> list[dict[str, Any]]:
    before = {}
    if o.previous_observed:
        before = {row["brand"]: row["rank"] for row in brand_measures(o, previous=True)}
    return [
        {
            "rank": row["rank"],
            "previousRank": before.get(row["brand"]),
            "brand": row["brand"],
            "own": row["own"],
            "averagePosition": row["average_position"],
            "firstPositionRate": row["first_position_rate"],
            "topThreeRate": row["top_three_rate"],
            "mentionCount": row["mention_count"],
            "shareOfVoice": row["share_of_voice"],
            "positionCount": row["position_count"],
            "firstPositionCount": row["first_count"],
            "topThreeCount": row["top_three_count"],
            "allMentionCount": row["all_voice_count"],
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
    """How often each brand is in each band of positions; a band without mentions is left out."""
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
