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
from aatoolkit.service.grouping import (
    DAYS,
    PROMPT_ENGINES,
    PROMPTS,
    WHOLE,
    Grouping,
    Key,
    answer_counts,
    window_of,
)
from aatoolkit.service.observations import Observations, shared

_NOT_MEASURES = ("brand", "own", "answer_count")

NO_SUBJECT = "It is not known which brand is the project's own."

_TONES = ("positive", "neutral", "negative")

_COUNTS = """count(*) AS voice_count, sum(position) AS position_sum,
  count(position) AS position_count, count(sentiment_score) AS scored_count,
  count(sentiment) AS labelled_count, """ + ", ".join(
    f"count(*) FILTER (sentiment = '{tone}') AS {tone}_count" for tone in _TONES
)

# Sums of fractions are taken in order of size: the sum of a set of numbers then never
# depends on how the work was divided among threads.
_SCORES = "sum(sentiment_score ORDER BY sentiment_score) AS score_sum"

_PLACES = """count(*) FILTER (position = 1) AS first_count,
  count(*) FILTER (position <= 3) AS top_three_count"""

_COUNTED = (
    *("mention_count", "voice_count", "position_sum", "position_count", "first_count"),
    *("top_three_count", "scored_count", "labelled_count", *(f"{tone}_count" for tone in _TONES)),
)
_NOTHING = dict.fromkeys(_COUNTED, 0)
"""What is counted of a brand in answers that do not mention it."""


@shared
def subject_missing(o: Observations) -> str | None:
    """Return the reason why the brands in focus cannot be measured; None where they can."""
    if not o.observed("mentions"):
        return not_held("mentions")
    if not focus_brands(o):
        return NO_SUBJECT
    return None


@shared
def focus_brands(o: Observations) -> list[str]:
    """The brands the question is about."""
    return o.column("SELECT brand FROM focus ORDER BY brand")


def focus_total(o: Observations, *, previous: bool = False) -> dict[str, Any]:
    """The measures of the brands the question is about, over all answers of a window."""
    grouping = WHOLE if previous else DAYS
    return _focus(o, grouping, previous=previous)[grouping.whole]


def focus_by(o: Observations, key: str, *, previous: bool = False) -> dict[Any, dict[str, Any]]:
    """The measures of the brands in focus for each ``engine``, ``day`` or ``prompt_id``."""
    grouping = PROMPTS if key == "prompt_id" else DAYS
    return grouping.by(key, _focus(o, grouping, previous=previous))


def focus_by_prompt_and_engine(o: Observations, *, previous: bool) -> dict[Key, dict[str, Any]]:
    """The measures of the brands in focus for each prompt and engine."""
    return _focus(o, PROMPT_ENGINES, previous=previous)


@shared
def brand_measures(o: Observations, *, previous: bool = False) -> list[dict[str, Any]]:
    """The measures of each brand to list, the most mentioned first.

    A rank is a brand's place among all brands of the project, listed or not; a brand that
    is not mentioned has none. Those of the window before are without ``sentiment_score``:
    no section compares it, and sorting the scores takes longer than all the rest.
    """
    aggregates = [_COUNTS, _PLACES, *([] if previous else [_SCORES])]
    sql = f"SELECT brand, {', '.join(aggregates)} FROM {window_of(previous)}mentions GROUP BY brand"
    seen = {row.pop("brand"): row for row in o.rows(sql)}
    answers = answer_counts(o, WHOLE, previous=previous)[()]
    voices = sum(row["voice_count"] for row in seen.values())
    listed = o.question.filter("brand")
    known = o.observed("mentions")
    brands = o.rows("SELECT brand, own FROM store.brands WHERE host = $host")
    rows = [brand | _NOTHING | seen.get(brand["brand"], {}) for brand in brands]
    rows.sort(key=lambda row: (-row["voice_count"], row["brand"]))
    for place, row in enumerate(rows, 1):
        row["mention_count"] = row["voice_count"]
        row["rank"] = place if row["mention_count"] else None
        row["first_position_rate"] = _ratio(row["first_count"], row["position_count"])
        row["top_three_rate"] = _ratio(row["top_three_count"], row["position_count"])
        _complete(row, answers, voices)
        if previous:
            del row["sentiment_score"]
    return [_measured(row, known) for row in rows if not listed or row["brand"] in listed]


@shared
def _focus(o: Observations, grouping: Grouping, *, previous: bool) -> dict[Key, dict[str, Any]]:
    mentions = f"{window_of(previous)}mentions"
    answers = answer_counts(o, grouping, previous=previous)
    voices = grouping.rows(o, "count(*) AS n", mentions)
    about = grouping.rows(
        o,
        f"count(DISTINCT chat_id) AS mention_count, {_COUNTS}, {_SCORES}",
        f"{mentions} WHERE list_contains($about, brand)",
        about=focus_brands(o),
    )
    known = subject_missing(o) is None
    found = {}
    for key, count in answers.items():
        row = _NOTHING | about.get(key, {})
        _complete(row, count, voices[key]["n"] if key in voices else 0)
        found[key] = _measured(row, known)
    return found


def _complete(row: dict[str, Any], answers: int, voices: int) -> None:
    """Add to the counts of a brand those of all answers and brands, and the rates of both."""
    row["answer_count"], row["all_voice_count"] = answers, voices
    if not row["voice_count"]:
        row["position_sum"] = 0
    row["mention_rate"] = _ratio(row["mention_count"], answers)
    row["share_of_voice"] = _ratio(row["voice_count"], voices)
    row["average_position"] = _ratio(row["position_sum"], row["position_count"])
    row["sentiment_score"] = _ratio(row.pop("score_sum", None), row["scored_count"])
    for tone in _TONES:
        row[tone] = _ratio(row[f"{tone}_count"], row["labelled_count"])


def _ratio(part: float | None, whole: int) -> float | None:
    return part / whole if part is not None and whole else None


def _measured(row: dict[str, Any], known: bool) -> dict[str, Any]:
    """Return the row, without its measures where they could not be measured."""
    if known and row["answer_count"]:
        return row
    return {name: value if name in _NOT_MEASURES else None for name, value in row.items()}
