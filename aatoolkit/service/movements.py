"""Changes between the window before and the window of the question, with their p-values.

Each function compares what answers of the two windows say, in numbers alone; words are
found for them in :mod:`aatoolkit.service.sections.insights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from aatoolkit.service.mentions import focus_brands
from aatoolkit.service.observations import Observations
from aatoolkit.service.significance import windows_differ
from aatoolkit.service.two_windows import (
    answers_by_prompt,
    mentions_by_prompt,
    scores_by_prompt,
)

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
        Of the two-sided test that nothing changed, in which a prompt is one observation.
    answer_count
        The answers of the later window that it rests on.
    events
        Of a count, the answers of both windows that the test rests on.
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
    events: int | None = None
    prompt_ids: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @property
    def change(self) -> float:
        """The difference of the measure: after less before."""
        return self.after - self.before


_TURNED_PAGES = f"""
SELECT url FROM {{window}}citations
WHERE cited AND source_domain IN (SELECT source_domain FROM own_domains)
  AND ($on_engine IS NULL OR engine = $on_engine)
  AND url NOT IN (
    SELECT url FROM {{other}}citations
    WHERE cited AND ($on_engine IS NULL OR engine = $on_engine))
GROUP BY url ORDER BY count(*) DESC, url LIMIT {_EVIDENCE}
"""

_CITED = """
cited AS (
  SELECT TRUE AS before, row_number() OVER () AS id, * FROM previous_page_sets
  UNION ALL
  SELECT FALSE, -row_number() OVER (), * FROM page_sets
)"""

_OF_RIVALS = f"""
WITH {_CITED}, rivals AS (
  SELECT brand FROM store.brands
  WHERE host = $host AND tracked AND own IS NOT TRUE
    AND brand NOT IN (SELECT brand FROM focus) AND EXISTS (SELECT 1 FROM focus)
), about AS (
  SELECT url, brand FROM store.source_page_brands
  WHERE host = $host AND mentioned AND brand IN (SELECT brand FROM rivals)
), others AS (
  SELECT before, id, source_domain, prompt_id, answers, unnest(urls) AS url FROM cited
  WHERE source_domain NOT IN (SELECT source_domain FROM own_domains)
    AND source_domain NOT IN (
      SELECT domain FROM store.brands WHERE host = $host AND domain IS NOT NULL)
), counted AS MATERIALIZED (
  SELECT * FROM others JOIN about USING (url)
)"""

_OF_OWN = f"""
WITH {_CITED}, own AS MATERIALIZED (
  SELECT (SELECT CASE WHEN count(*) = 1 THEN min(brand) END FROM focus) AS brand,
    before, id, source_domain, prompt_id, answers, unnest(urls) AS url
  FROM cited WHERE source_domain IN (SELECT source_domain FROM own_domains)
), kept AS (
  SELECT url FROM own GROUP BY url HAVING bool_or(before) AND NOT bool_and(before)
), counted AS MATERIALIZED (
  SELECT * FROM own WHERE url NOT IN (SELECT url FROM kept)
)"""

# Pages are listed once before they are sorted: many answers cite the same ones.
_BY_PROMPT = f""", pages AS (
  SELECT brand, source_domain, prompt_id, url, bool_or(before) AS before
  FROM counted GROUP BY ALL
), listed AS (
  SELECT brand, source_domain, prompt_id,
    list_slice(list(url ORDER BY url), 1, {_EVIDENCE}) AS urls,
    list_slice(list(url ORDER BY url) FILTER (WHERE before), 1, {_EVIDENCE}) AS urls_before
  FROM pages GROUP BY ALL
), numbers AS (
  SELECT brand, source_domain, prompt_id,
    CAST(coalesce(sum(answers) FILTER (WHERE before), 0) AS BIGINT) AS before,
    CAST(coalesce(sum(answers) FILTER (WHERE NOT before), 0) AS BIGINT) AS after
  FROM (SELECT DISTINCT brand, source_domain, prompt_id, before, id, answers FROM counted)
  GROUP BY ALL
)
SELECT numbers.*, urls, urls_before FROM numbers JOIN listed
  ON numbers.brand IS NOT DISTINCT FROM listed.brand
  AND numbers.source_domain = listed.source_domain AND numbers.prompt_id = listed.prompt_id
ORDER BY ALL
"""

_GAINED = f"{_OF_RIVALS}{_BY_PROMPT}"

_TURNED = f"{_OF_OWN}{_BY_PROMPT}"
"""Answers that cite pages of one window only. A loss is one if fewer such pages came than went:
that some page is cited no more is so of every window in which many are cited rarely."""


def movements(o: Observations) -> list[Movement]:
    """Compute all movements between two windows that both have answers."""
    answers_of: dict[str, tuple[int, int]] = {}
    for (_, prompt), (before, after) in sorted(answers_by_prompt(o).items()):
        earlier, later = answers_of.get(prompt, (0, 0))
        answers_of[prompt] = (earlier + before, later + after)
    sizes = (sum(row[0] for row in answers_of.values()), sum(row[1] for row in answers_of.values()))
    found = [*_visibility(o), *_sentiment(o)]
    if all(sizes):
        found += _gains(o, answers_of, sizes)
        found += _losses(o, answers_of, sizes)
    return found


def with_evidence(o: Observations, movement: Movement) -> Movement:
    """Add the prompts and pages that show a movement."""
    if movement.kind == "sentiment_change":
        counts = {
            prompt: after["n"]
            for (brand, prompt), (_, after) in scores_by_prompt(o).items()
            if brand == movement.brand and after
        }
        prompts = sorted(counts, key=lambda prompt: (-counts[prompt], prompt))
        return replace(movement, prompt_ids=tuple(prompts[:_EVIDENCE]))
    if movement.kind != "visibility_change":
        return movement
    prompts = _moved_prompts(o, movement)
    return replace(movement, prompt_ids=tuple(prompts), urls=_turned_pages(o, movement))


def _moved_prompts(o: Observations, movement: Movement) -> list[str]:
    """The prompts whose share of all answers moved as the whole did, the furthest first."""
    counts: dict[str, tuple[int, int]] = {}
    for (brand, engine, prompt), (before, after) in mentions_by_prompt(o).items():
        if brand == movement.brand and movement.engine in (None, engine):
            earlier, later = counts.get(prompt, (0, 0))
            counts[prompt] = (earlier + before, later + after)
    shares = {
        prompt: after / movement.samples[1] - before / movement.samples[0]
        for prompt, (before, after) in counts.items()
    }
    rose = movement.change > 0
    moved = [prompt for prompt, share in shares.items() if (share > 0 if rose else share < 0)]
    return sorted(moved, key=lambda prompt: (-abs(shares[prompt]), prompt))[:_EVIDENCE]


def _turned_pages(o: Observations, movement: Movement) -> tuple[str, ...]:
    """The own pages newly cited where a brand rose, or no longer cited where it fell.

    With several brands asked about, a page cannot be laid at the door of one of them.
    """
    if len(focus_brands(o)) != 1:
        return ()
    windows = ("", "previous_") if movement.change > 0 else ("previous_", "")
    sql = _TURNED_PAGES.format(window=windows[0], other=windows[1])
    return tuple(o.column(sql, on_engine=movement.engine))


def _visibility(o: Observations) -> Iterator[Movement]:
    engines = sorted({engine for engine, _ in answers_by_prompt(o)})
    for brand in focus_brands(o):
        for of_engine in [None, *engines] if len(engines) > 1 else engines:
            prompts: dict[str, list[int]] = {}
            for (engine, prompt), sizes in answers_by_prompt(o).items():
                if of_engine in (None, engine):
                    row = prompts.setdefault(prompt, [0, 0, 0, 0])
                    mentioned = mentions_by_prompt(o).get((brand, engine, prompt), (0, 0))
                    for at, count in enumerate((mentioned[0], sizes[0], mentioned[1], sizes[1])):
                        row[at] += count
            yield from _mean(
                "visibility_change", "mentionRate", [*prompts.values()], brand, of_engine
            )


def _sentiment(o: Observations) -> Iterator[Movement]:
    for brand in focus_brands(o):
        prompts = [
            [part for row in pair for part in ((row["total"], row["n"]) if row else (0, 0))]
            for (of_brand, _), pair in scores_by_prompt(o).items()
            if of_brand == brand
        ]
        yield from _mean("sentiment_change", "sentimentScore", prompts, brand)


def _mean(
    kind: str, metric: str, prompts: list[list[Any]], brand: str, engine: str | None = None
) -> Iterator[Movement]:
    """Yield the movement of a mean over answers, if both windows have answers.

    Each prompt has its total and size in the window before, then those in the window.
    """
    total, size, later, later_size = (sum(row[at] for row in prompts) for at in range(4))
    if not size or not later_size:
        return
    before, after = total / size, later / later_size
    yield Movement(
        kind=kind,
        metric=metric,
        before=before,
        after=after,
        samples=(size, later_size),
        effect=after - before,
        p_value=windows_differ(tuple(row) for row in prompts),
        answer_count=later_size,
        brand=brand,
        engine=engine,
    )


def _gains(
    o: Observations, answers_of: dict[str, tuple[int, int]], sizes: tuple[int, int]
) -> Iterator[Movement]:
    """Yield movements of rivals' domains that more answers cite than before."""
    for of, rows in _by_brand_and_domain(o, _GAINED):
        before, after = (sum(row[period] for row in rows) for period in ("before", "after"))
        if after > before:
            evidence = rows, "urls", (before, after)
            yield _counted("competitor_citation_gain", of, rows, evidence, answers_of, sizes)


def _losses(
    o: Observations, answers_of: dict[str, tuple[int, int]], sizes: tuple[int, int]
) -> Iterator[Movement]:
    """Yield movements of own domains with pages that no answer cites any more."""
    for of, rows in _by_brand_and_domain(o, _TURNED):
        lost = [row for row in rows if row["before"]]
        if lost:
            evidence = lost, "urls_before", (sum(row["before"] for row in lost), 0)
            yield _counted("citation_loss", of, rows, evidence, answers_of, sizes)


def _by_brand_and_domain(
    o: Observations, sql: str
) -> Iterator[tuple[tuple[str | None, str], list[dict[str, Any]]]]:
    """Yield the rows of a query, one per prompt, grouped by brand and domain."""
    for of, rows in groupby(o.rows(sql), key=itemgetter("brand", "source_domain")):
        yield of, [*rows]


def _counted(
    kind: str,
    of: tuple[str | None, str],
    rows: list[dict[str, Any]],
    evidence: tuple[list[dict[str, Any]], str, tuple[int, int]],
    answers_of: dict[str, tuple[int, int]],
    answers: tuple[int, int],
) -> Movement:
    """Build a movement of the number of answers that cite something."""
    shown, urls, (before, after) = evidence
    counts = {row["prompt_id"]: (row["before"], row["after"]) for row in rows}
    pairs = [(*counts.get(prompt, (0, 0)), *sizes) for prompt, sizes in answers_of.items()]
    return Movement(
        kind=kind,
        metric="citationCount",
        before=before,
        after=after,
        samples=answers,
        effect=after / answers[1] - before / answers[0],
        p_value=windows_differ((one, size, two, later) for one, two, size, later in pairs),
        answer_count=after if kind == "competitor_citation_gain" else answers[1],
        brand=of[0],
        domain=of[1],
        events=sum(one + two for one, two, _, _ in pairs),
        prompt_ids=tuple(row["prompt_id"] for row in shown[:_EVIDENCE]),
        urls=tuple(sorted({url for row in shown for url in row[urls]})[:_EVIDENCE]),
    )
