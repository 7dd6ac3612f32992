"""Answers, mentions and scores by prompt, in the window before and in that of the question."""

from __future__ import annotations

from typing import Any

from aatoolkit.service.mentions import focus_brands
from aatoolkit.service.observations import Observations, shared

_ANSWERS = """
SELECT engine, prompt_id, count(*) AS n FROM {window}answers GROUP BY engine, prompt_id
"""

_MENTIONS = """
SELECT brand, engine, prompt_id, count(*) AS n FROM {window}mentions
WHERE list_contains($about, brand) GROUP BY brand, engine, prompt_id
"""

_SCORES = """
SELECT brand, prompt_id, count(*) AS n, sum(sentiment_score ORDER BY sentiment_score) AS total
FROM {window}mentions WHERE sentiment_score IS NOT NULL AND list_contains($about, brand)
GROUP BY brand, prompt_id
"""


def _windows(o: Observations, sql: str, *keys: str, **values: object) -> dict[Any, Any]:
    """The rows of both windows by their keys: that before and that of the question, or None."""
    found: dict[Any, list[dict[str, Any] | None]] = {}
    for at, window in enumerate(("previous_", "")):
        for row in o.rows(sql.format(window=window), **values):
            found.setdefault(tuple(row[key] for key in keys), [None, None])[at] = row
    return found


def _counts(rows: dict[Any, Any]) -> dict[Any, tuple[int, int]]:
    return {
        key: (before["n"] if before else 0, after["n"] if after else 0)
        for key, (before, after) in rows.items()
    }


@shared
def answers_by_prompt(o: Observations) -> dict[tuple[str, str], tuple[int, int]]:
    """The answers in both windows, by engine and prompt."""
    return _counts(_windows(o, _ANSWERS, "engine", "prompt_id"))


@shared
def mentions_by_prompt(o: Observations) -> dict[tuple[str, str, str], tuple[int, int]]:
    """The answers that mention a brand in focus, by brand, engine and prompt."""
    keys = ("brand", "engine", "prompt_id")
    return _counts(_windows(o, _MENTIONS, *keys, about=focus_brands(o)))


@shared
def scores_by_prompt(o: Observations) -> dict[tuple[str, str], Any]:
    """The number and sum of the scores of brands in focus, by brand and prompt, in order."""
    found = _windows(o, _SCORES, "brand", "prompt_id", about=focus_brands(o))
    return dict(sorted(found.items()))
