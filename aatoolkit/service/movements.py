"""Changes between the window before and the window of the question, with their p-values.

Each function compares what answers of the two windows say, in numbers alone; words are
found for them in :mod:`aatoolkit.service.sections.insights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit.service.observations import Observations
from aatoolkit.service.significance import means_differ, proportions_differ

_EVIDENCE = 5


@dataclass(frozen=True)
class Movement:
    """One measure in two windows.

    Parameters
    ----------
    kind, metric
        What sort of change, and of which measure.
    before, after
        The measure in the two windows.
    samples
        The observations behind it in the two windows.
    effect
        What its size is judged by: the change itself, or for counts that of their share
        of all answers.
    p_value
        Of the two-sided test that nothing changed.
    answer_count
        The answers of the later window that it rests on.
    brand, engine, domain
        Whose measure it is; None where it is not narrowed.
    prompt_ids, urls
        Prompts and pages that show it, a few at most.
    """

    kind: str
    metric: str
    before: float
    after: float
    samples: tuple[int, int]
    effect: float
    p_value: float
    answer_count: int
    brand: str | None
    engine: str | None = None
    domain: str | None = None
    prompt_ids: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @property
    def change(self) -> float:
        """What the measure gained."""
        return self.after - self.before


_BOTH = """
asked_answers AS (
  SELECT 'before' AS period, chat_id, prompt_id, engine FROM previous_answers
  UNION ALL
  SELECT 'after', chat_id, prompt_id, engine FROM answers
), named AS (
  SELECT chat_id, brand, sentiment_score FROM previous_mentions
  UNION ALL
  SELECT chat_id, brand, sentiment_score FROM mentions
), asked AS (
  SELECT asked_answers.*, focus.brand, named.chat_id IS NOT NULL AS mentioned, named.sentiment_score
  FROM asked_answers CROSS JOIN focus LEFT JOIN named USING (chat_id, brand)
)"""

_VISIBILITY = f"""
WITH {_BOTH}
SELECT brand, engine,
  count(*) FILTER (WHERE period = 'before') AS answers_before,
  count(*) FILTER (WHERE period = 'after') AS answers_after,
  count(*) FILTER (WHERE period = 'before' AND mentioned) AS mentions_before,
  count(*) FILTER (WHERE period = 'after' AND mentioned) AS mentions_after
FROM asked GROUP BY GROUPING SETS ((brand), (brand, engine))
HAVING answers_before > 0 AND answers_after > 0
  AND (engine IS NOT NULL OR count(DISTINCT asked.engine) > 1)
ORDER BY brand, engine NULLS FIRST
"""

_MOVED_PROMPTS = f"""
WITH {_BOTH}, moved AS (
  SELECT prompt_id,
    count(*) FILTER (WHERE period = 'after') / $answers_after
      - count(*) FILTER (WHERE period = 'before') / $answers_before AS share
  FROM asked
  WHERE mentioned AND brand = $about AND ($on_engine IS NULL OR engine = $on_engine)
  GROUP BY prompt_id
)
SELECT prompt_id FROM moved WHERE sign(share) = $direction
ORDER BY abs(share) DESC, prompt_id LIMIT {_EVIDENCE}
"""

_TURNED_PAGES = f"""
SELECT url FROM {{window}}citations
WHERE cited AND source_domain IN (SELECT source_domain FROM own_domains)
  AND ($on_engine IS NULL OR engine = $on_engine)
  AND url NOT IN (
    SELECT url FROM {{other}}citations
    WHERE cited AND ($on_engine IS NULL OR engine = $on_engine))
GROUP BY url ORDER BY count(*) DESC, url LIMIT {_EVIDENCE}
"""

_SENTIMENT = f"""
WITH {_BOTH}
SELECT brand, period, count(sentiment_score) AS size,
  sum(sentiment_score ORDER BY sentiment_score) AS total,
  sum(sentiment_score * sentiment_score ORDER BY sentiment_score) AS squares
FROM asked WHERE sentiment_score IS NOT NULL GROUP BY brand, period ORDER BY brand, period
"""

_SCORED_PROMPTS = f"""
WITH {_BOTH}
SELECT prompt_id FROM asked
WHERE brand = $about AND period = 'after' AND sentiment_score IS NOT NULL
GROUP BY prompt_id ORDER BY count(*) DESC, prompt_id LIMIT {_EVIDENCE}
"""

_CITED = """
cited AS (
  SELECT 'before' AS period, chat_id, prompt_id, source_domain, url
  FROM previous_citations WHERE cited
  UNION ALL
  SELECT 'after', chat_id, prompt_id, source_domain, url FROM citations WHERE cited
)"""

_COUNTED = f"""
  count(DISTINCT chat_id) FILTER (WHERE period = 'before') AS before,
  count(DISTINCT chat_id) FILTER (WHERE period = 'after') AS after,
  list_slice(list(DISTINCT prompt_id ORDER BY prompt_id), 1, {_EVIDENCE}) AS prompt_ids,
  list_slice(list(DISTINCT url ORDER BY url), 1, {_EVIDENCE}) AS urls
"""

_GAINS = f"""
WITH {_CITED}, rivals AS (
  SELECT brand FROM store.brands
  WHERE host = $host AND tracked AND own IS NOT TRUE
    AND brand NOT IN (SELECT brand FROM focus) AND EXISTS (SELECT 1 FROM focus)
), about AS (
  SELECT url, brand FROM store.source_page_brands
  WHERE host = $host AND mentioned AND brand IN (SELECT brand FROM rivals)
)
SELECT brand, source_domain, {_COUNTED}
FROM cited JOIN about USING (url)
WHERE source_domain NOT IN (SELECT source_domain FROM own_domains)
  AND source_domain NOT IN (
    SELECT domain FROM store.brands WHERE host = $host AND domain IS NOT NULL)
GROUP BY brand, source_domain HAVING after > before ORDER BY brand, source_domain
"""

_LOSSES = f"""
WITH {_CITED}, kept AS (SELECT url FROM citations WHERE cited)
SELECT (SELECT CASE WHEN count(*) = 1 THEN min(brand) END FROM focus) AS brand,
  source_domain, {_COUNTED}
FROM cited
WHERE source_domain IN (SELECT source_domain FROM own_domains)
  AND url NOT IN (SELECT url FROM kept)
GROUP BY source_domain ORDER BY source_domain
"""


def movements(o: Observations) -> Iterator[Movement]:
    """Every movement between two windows that both have answers, noteworthy or not."""
    yield from _visibility(o)
    yield from _sentiment(o)
    answers = (
        o.value("SELECT count(*) FROM previous_answers"),
        o.value("SELECT count(*) FROM answers"),
    )
    if all(answers):
        for kind, sql in (("competitor_citation_gain", _GAINS), ("citation_loss", _LOSSES)):
            yield from (_counted(kind, row, answers) for row in o.rows(sql))


def with_evidence(o: Observations, movement: Movement) -> Movement:
    """The movement with prompts and pages that show it."""
    if movement.kind == "sentiment_change":
        prompts = o.column(_SCORED_PROMPTS, about=movement.brand)
        return replace(movement, prompt_ids=tuple(prompts))
    if movement.kind != "visibility_change":
        return movement
    prompts = o.column(
        _MOVED_PROMPTS,
        about=movement.brand,
        on_engine=movement.engine,
        answers_before=movement.samples[0],
        answers_after=movement.samples[1],
        direction=1 if movement.change > 0 else -1,
    )
    return replace(movement, prompt_ids=tuple(prompts), urls=_turned_pages(o, movement))


def _turned_pages(o: Observations, movement: Movement) -> tuple[str, ...]:
    """Own pages newly cited where a brand rose, no longer cited where it fell.

    With several brands asked about, a page cannot be laid at the door of one of them.
    """
    if o.value("SELECT count(*) FROM focus") != 1:
        return ()
    windows = ("", "previous_") if movement.change > 0 else ("previous_", "")
    sql = _TURNED_PAGES.format(window=windows[0], other=windows[1])
    return tuple(o.column(sql, on_engine=movement.engine))


def _visibility(o: Observations) -> Iterator[Movement]:
    for row in o.rows(_VISIBILITY):
        samples = (row["answers_before"], row["answers_after"])
        counts = (row["mentions_before"], row["mentions_after"])
        before, after = counts[0] / samples[0], counts[1] / samples[1]
        yield Movement(
            kind="visibility_change",
            metric="mentionRate",
            before=before,
            after=after,
            samples=samples,
            effect=after - before,
            p_value=proportions_differ((counts[0], samples[0]), (counts[1], samples[1])),
            answer_count=samples[1],
            brand=row["brand"],
            engine=row["engine"],
        )


def _sentiment(o: Observations) -> Iterator[Movement]:
    scored: dict[str, dict[str, tuple[float, float, int]]] = {}
    for row in o.rows(_SENTIMENT):
        if row["size"] > 1:
            scored.setdefault(row["brand"], {})[row["period"]] = _moments(row)
    for brand, periods in scored.items():
        if len(periods) == 2:
            first, second = periods["before"], periods["after"]
            yield Movement(
                kind="sentiment_change",
                metric="sentimentScore",
                before=first[0],
                after=second[0],
                samples=(first[2], second[2]),
                effect=second[0] - first[0],
                p_value=means_differ(first, second),
                answer_count=second[2],
                brand=brand,
            )


def _moments(row: dict[str, Any]) -> tuple[float, float, int]:
    """Mean, sample variance and size of the scores."""
    size, total, squares = row["size"], row["total"], row["squares"]
    return total / size, max(0.0, (squares - total**2 / size) / (size - 1)), size


def _counted(kind: str, row: dict[str, Any], answers: tuple[int, int]) -> Movement:
    """A movement of the number of answers that cite something."""
    first, second = (row["before"], answers[0]), (row["after"], answers[1])
    return Movement(
        kind=kind,
        metric="citationCount",
        before=row["before"],
        after=row["after"],
        samples=answers,
        effect=row["after"] / answers[1] - row["before"] / answers[0],
        p_value=proportions_differ(first, second),
        answer_count=row["after"] if kind == "competitor_citation_gain" else answers[1],
        brand=row["brand"],
        domain=row["source_domain"],
        prompt_ids=tuple(row["prompt_ids"]),
        urls=tuple(row["urls"]),
    )
