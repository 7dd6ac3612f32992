"""Measures of brands shared by several sections: mention rate, share of voice, sentiment.

===================== ==================================================================
mention rate          answers that mention the brand / answers
share of voice        mentions of the brand / mentions of all brands, tracked or not
average position      mean over the mentions whose position is known
sentiment score       mean over the mentions that were scored
===================== ==================================================================

A brand mentioned twice in one answer is one mention, so that mentions of one brand and
answers mentioning it are the same number. Of several brands together, the mention rate
counts answers that mention any of them and the share of voice adds their mentions.

Without an answer in scope every measure is None, because nothing was measured; over
answers that do not mention the brand, counts and rates are a measured 0.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.availability import not_held
from aatoolkit.service.observations import Observations, shared

NO_SUBJECT = "It is not known which brand is the project's own."

# Sums of fractions are taken in order of size: the sum of a set of numbers then never
# depends on how the work was divided among threads.
_FOCUS = """
WITH seen_answers AS (
  SELECT answers.chat_id, {key} AS key,
    seen.brand, seen.position, seen.sentiment, seen.sentiment_score,
    seen.brand IN (SELECT brand FROM focus) AS about
  FROM {window}answers AS answers LEFT JOIN {window}mentions AS seen USING (host, chat_id)
), counted AS (
  SELECT any_value(key) AS key,
    count(DISTINCT chat_id) AS answer_count,
    count(DISTINCT chat_id) FILTER (WHERE about) AS mention_count,
    count(*) FILTER (WHERE about) AS voice_count,
    count(brand) AS all_voice_count,
    sum(position) FILTER (WHERE about) AS position_sum,
    count(position) FILTER (WHERE about) AS position_count,
    count(sentiment_score) FILTER (WHERE about) AS scored_count,
    sum(sentiment_score ORDER BY sentiment_score) FILTER (WHERE about) AS score_sum,
    count(sentiment) FILTER (WHERE about) AS labelled_count,
    count(*) FILTER (WHERE about AND sentiment = 'positive') AS positive_count,
    count(*) FILTER (WHERE about AND sentiment = 'neutral') AS neutral_count,
    count(*) FILTER (WHERE about AND sentiment = 'negative') AS negative_count
  FROM seen_answers GROUP BY {group}
)
SELECT * REPLACE (CASE WHEN voice_count = 0 THEN 0 ELSE position_sum END AS position_sum),
  mention_count / nullif(answer_count, 0) AS mention_rate,
  voice_count / nullif(all_voice_count, 0) AS share_of_voice,
  position_sum / nullif(position_count, 0) AS average_position,
  score_sum / nullif(scored_count, 0) AS sentiment_score,
  positive_count / nullif(labelled_count, 0) AS positive,
  neutral_count / nullif(labelled_count, 0) AS neutral,
  negative_count / nullif(labelled_count, 0) AS negative
FROM counted ORDER BY key
"""

_BRANDS = """
WITH whole AS (
  SELECT (SELECT count(*) FROM {window}answers) AS answer_count,
    (SELECT count(*) FROM {window}mentions) AS all_voice_count
), counted AS (
  SELECT brands.brand, brands.own,
    count(seen.chat_id) AS mention_count,
    sum(position) AS position_sum,
    count(position) AS position_count,
    count(*) FILTER (WHERE position = 1) AS first_count,
    count(*) FILTER (WHERE position <= 3) AS top_three_count,
    sum(sentiment_score ORDER BY sentiment_score) AS score_sum,
    count(sentiment_score) AS scored_count,
    count(sentiment) AS labelled_count,
    count(*) FILTER (WHERE sentiment = 'positive') AS positive_count,
    count(*) FILTER (WHERE sentiment = 'neutral') AS neutral_count,
    count(*) FILTER (WHERE sentiment = 'negative') AS negative_count
  FROM store.brands AS brands LEFT JOIN {window}mentions AS seen USING (host, brand)
  WHERE brands.host = $host GROUP BY brands.brand, brands.own
), placed AS (
  SELECT *, row_number() OVER (ORDER BY mention_count DESC, brand) AS place FROM counted
)
SELECT brand, own, mention_count, answer_count, all_voice_count, position_count, first_count,
  top_three_count, scored_count, labelled_count, positive_count, neutral_count, negative_count,
  CASE WHEN mention_count > 0 THEN place END AS rank,
  mention_count / nullif(answer_count, 0) AS mention_rate,
  mention_count / nullif(all_voice_count, 0) AS share_of_voice,
  position_sum / nullif(position_count, 0) AS average_position,
  first_count / nullif(position_count, 0) AS first_position_rate,
  top_three_count / nullif(position_count, 0) AS top_three_rate,
  score_sum / nullif(scored_count, 0) AS sentiment_score,
  positive_count / nullif(labelled_count, 0) AS positive,
  neutral_count / nullif(labelled_count, 0) AS neutral,
  negative_count / nullif(labelled_count, 0) AS negative
FROM placed, whole
WHERE brand IN (SELECT brand FROM listed_brands)
ORDER BY place
"""

_NOT_MEASURES = ("key", "brand", "own", "answer_count")


@shared
def subject_missing(o: Observations) -> str | None:
    """Return the reason why the brands in focus cannot be measured; None where they can."""
    if not o.observed("mentions"):
        return not_held("mentions")
    if not o.value("SELECT count(*) FROM focus"):
        return NO_SUBJECT
    return None


def focus_total(o: Observations, *, previous: bool = False) -> dict[str, Any]:
    """The measures of the brands the question is about, over all answers of a window."""
    (row,) = _focus(o, "NULL", "()", previous=previous)
    return row


def focus_by(o: Observations, key: str) -> dict[Any, dict[str, Any]]:
    """The measures of the brands in focus for each ``engine``, ``day`` or ``prompt_id``."""
    rows = _focus(o, f"answers.{key}", "seen_answers.key", previous=False)
    return {row["key"]: row for row in rows}


@shared
def brand_measures(o: Observations, *, previous: bool = False) -> list[dict[str, Any]]:
    """The measures of each brand to list, the most mentioned first.

    A rank is a brand's place among all brands of the project, listed or not; a brand that
    is not mentioned has none.
    """
    rows = o.rows(_BRANDS.format(window=_window(previous)))
    known = o.observed("mentions")
    return [_measured(row, known) for row in rows]


@shared
def _focus(o: Observations, key: str, group: str, *, previous: bool) -> list[dict[str, Any]]:
    sql = _FOCUS.format(window=_window(previous), key=key, group=group)
    known = subject_missing(o) is None
    return [_measured(row, known) for row in o.rows(sql)]


def _window(previous: bool) -> str:
    return "previous_" if previous else ""


def _measured(row: dict[str, Any], known: bool) -> dict[str, Any]:
    """Return the row, without its measures where they could not be measured."""
    if known and row["answer_count"]:
        return row
    return {name: value if name in _NOT_MEASURES else None for name, value in row.items()}
