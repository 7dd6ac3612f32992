"""Insights: notable changes against the window before, worded by rule.

============================ ===========================================================
``visibility_change``        the mention rate of a brand asked about, overall or on an engine
``sentiment_change``         its sentiment score
``competitor_citation_gain`` answers citing pages of a domain that mention a competitor
``citation_loss``            answers that cited own pages which none cites any more
============================ ===========================================================

Every change is a pair of means over answers, or of counts among them, by prompt. Answers to one
prompt resemble each other, so all are judged by one test that pairs the windows by prompt
(`windows_differ`), and of the changes reported at most 10 % are expected to be chance: they are
those of an adjusted p-value up to 0.1 (Benjamini and Hochberg 1995). Severity is the size of
the change, confidence the adjusted p-value; a sample below 30 in either window is never more
than ``provisional``. A change that is too small, or that rests on fewer than 10 observations in
either window (of citations: 5 in both), is no insight. The prompts that it names are those that
moved most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import md5
from typing import Any

from aatoolkit.service.answer import (
    NO_PREVIOUS,
    SectionAnswer,
    SectionAvailability,
    answers_availability,
    scoped_engines,
    section,
)
from aatoolkit.service.measures import (
    WHOLE,
    answer_counts,
    focus_brands,
    own_citations_missing,
    subject_missing,
)
from aatoolkit.service.observations import Observations
from aatoolkit.service.significance import adjusted, windows_differ

_SEVERITIES = ("high", "medium", "low")
_CONFIDENCES = ((0.01, "high"), (0.05, "confident"), (0.1, "worth_a_look"))
_FALSE_DISCOVERIES = 0.1
_FIRM_SAMPLE, _LEAST_SAMPLE, _LEAST_EVENTS, _LEAST_COUNT = 30, 10, 5, 3
_EVIDENCE = 5


@dataclass(frozen=True)
class _Kind:
    """A kind of change: its metric, the least effects of each severity, and its words.

    ``advice`` is what to do about a rise, and about a fall.
    """

    key: str
    unit: str
    least: tuple[float, ...]
    title: str
    what: str
    advice: tuple[str, str]


_CITATIONS = ("citationCount", "count", (0.05, 0.02, 0.005))
_KINDS = {
    "visibility_change": _Kind(
        "mentionRate",
        "fraction",
        (0.10, 0.05, 0.02),
        "Mention rate of {brand} {up}{where}",
        "Mention rate moved from {before:.1%} to {after:.1%}.",
        (
            "Look at what the prompts that gained have in common, and extend it.",
            "Look at which sources and brands took the place in the prompts that lost.",
        ),
    ),
    "sentiment_change": _Kind(
        "sentimentScore",
        "score",
        (10.0, 5.0, 3.0),
        "Sentiment of {brand} {up}",
        "Sentiment score moved from {before:.1f} to {after:.1f}.",
        (
            "Keep the pages current that answers rest on.",
            "Read the answers that speak badly of it, and correct what their sources say.",
        ),
    ),
    "competitor_citation_gain": _Kind(
        *_CITATIONS,
        "{brand} {often} cited by way of {domain}",
        "Pages of {domain} that mention {brand} were cited in {after} answers, after {before} in"
        " the window before.",
        ("Ask {domain} to include you.",) * 2,
    ),
    "citation_loss": _Kind(
        *_CITATIONS,
        "Pages of {domain} no longer cited",
        "{before} answers cited pages of {domain} in the window before that no answer cites in"
        " this one.",
        ("Check that these pages can still be reached, and refresh them.",) * 2,
    ),
}
_WHY = (
    "Pages of its own came to be cited that the window before did not cite, such as {url}.",
    "Pages of its own are no longer cited that the window before cited, such as {url}.",
)


def _both(table: str, columns: str) -> str:
    """The rows of a table of both windows; ``before`` tells them apart."""
    return f"""(SELECT {columns}, TRUE AS before FROM previous_{table}
  UNION ALL SELECT {columns}, FALSE AS before FROM {table})"""


# Rows of one shape, by prompt: a total and a size in the window before, and in this one.
_ASKED = f"""
SELECT engine, prompt_id, count(*) FILTER (before) AS size0, count(*) FILTER (NOT before) AS size1
FROM {_both("answers", "engine, prompt_id")} GROUP BY ALL ORDER BY engine, prompt_id
"""

_MENTIONED = f"""
SELECT brand, engine, prompt_id,
  count(*) FILTER (before) AS total0, count(*) FILTER (NOT before) AS total1
FROM {_both("mentions", "brand, engine, prompt_id")}
WHERE brand IN (SELECT brand FROM focus) GROUP BY ALL
"""

_SCORED = f"""
SELECT brand, prompt_id, count(*) FILTER (before) AS size0, count(*) FILTER (NOT before) AS size1,
  coalesce(sum(sentiment_score ORDER BY sentiment_score) FILTER (before), 0) AS total0,
  coalesce(sum(sentiment_score ORDER BY sentiment_score) FILTER (NOT before), 0) AS total1
FROM {_both("mentions", "brand, prompt_id, sentiment_score")}
WHERE sentiment_score IS NOT NULL AND brand IN (SELECT brand FROM focus)
GROUP BY brand, prompt_id ORDER BY brand, prompt_id
"""

_CITED = f"""cited AS (
  SELECT * FROM {_both("citations", "chat_id, prompt_id, engine, source_domain, url, cited")}
  WHERE cited
)"""
_COUNTED = f"""
SELECT brand, source_domain AS domain, prompt_id,
  count(DISTINCT chat_id) FILTER (before) AS total0,
  count(DISTINCT chat_id) FILTER (NOT before) AS total1,
  list_slice(list_sort(list(DISTINCT url)), 1, {_EVIDENCE}) AS urls,
  list_slice(list_sort(list(DISTINCT url) FILTER (before)), 1, {_EVIDENCE}) AS urls_before
FROM about GROUP BY ALL ORDER BY ALL
"""

_GAINED = f"""
WITH {_CITED}, rivals AS (
  SELECT brand FROM store.brands WHERE host = $host AND tracked AND own IS NOT TRUE
    AND brand NOT IN (SELECT brand FROM focus) AND EXISTS (SELECT 1 FROM focus)
), owned AS (
  SELECT source_domain FROM own_domains
  UNION SELECT domain FROM store.brands WHERE host = $host AND domain IS NOT NULL
), pages AS (
  SELECT url, brand FROM store.source_page_brands JOIN rivals USING (brand)
  WHERE host = $host AND mentioned
), about AS (
  SELECT cited.*, brand FROM cited JOIN pages USING (url) ANTI JOIN owned USING (source_domain)
) {_COUNTED}
"""

_TURNED = f"""
WITH {_CITED}, pages AS (
  SELECT * FROM cited WHERE source_domain IN (SELECT source_domain FROM own_domains)
), about AS (
  SELECT *, (SELECT CASE WHEN count(*) = 1 THEN min(brand) END FROM focus) AS brand FROM pages
  WHERE url NOT IN (
    SELECT url FROM pages GROUP BY url HAVING bool_or(before) AND NOT bool_and(before))
) {_COUNTED}
"""
"""Answers that cite pages of one window only. A loss is one if fewer such pages came than went:
that some page is cited no more is so of every window in which many are cited rarely."""

_TURNED_PAGES = f"""
WITH {_CITED}
SELECT url FROM cited
WHERE source_domain IN (SELECT source_domain FROM own_domains)
  AND ($on_engine IS NULL OR engine = $on_engine)
GROUP BY url HAVING bool_and(before = $lost) ORDER BY count(*) DESC, url LIMIT {_EVIDENCE}
"""


@dataclass(frozen=True)
class _Change:
    """One measure in two windows.

    Parameters
    ----------
    kind
        What sort of change it is.
    prompts
        By prompt: total and size in the window before, total and size in this window.
    brand, engine, domain
        Whose measure it is; None where it is not narrowed.
    urls
        Pages that show it, a few at most.
    """

    kind: str
    prompts: Mapping[str, tuple[float, int, float, int]]
    brand: str | None
    engine: str | None = None
    domain: str | None = None
    urls: tuple[str, ...] = ()

    @cached_property
    def totals(self) -> tuple[float, int, float, int]:
        """Total and size in the window before, total and size in this window."""
        total0, size0, total1, size1 = map(sum, zip(*self.prompts.values(), strict=True))
        # Pages that came to be cited make no loss good: they are counted for the test alone.
        return total0, size0, 0 if self.kind == "citation_loss" else total1, size1

    @property
    def least_size(self) -> int:
        """The answers in the window that has fewer."""
        return min(self.totals[1], self.totals[3])

    @property
    def effect(self) -> float:
        """The change per answer, by which its size is judged."""
        total0, size0, total1, size1 = self.totals
        return total1 / size1 - total0 / size0

    @property
    def values(self) -> tuple[float, float]:
        """The measure in the window before and in this one."""
        total0, size0, total1, size1 = self.totals
        is_count = _KINDS[self.kind].unit == "count"
        return (total0, total1) if is_count else (total0 / size0, total1 / size1)

    @property
    def is_tested(self) -> bool:
        """Whether enough was observed; what was observed has no part in it."""
        events = sum(row[0] + row[2] for row in self.prompts.values())
        is_often = _KINDS[self.kind].unit != "count" or events >= _LEAST_EVENTS
        return bool(self.prompts) and self.least_size >= _LEAST_SAMPLE and is_often

    @property
    def severity(self) -> str | None:
        """The severity of the change; None where it is too small."""
        before, after = self.values
        kind = _KINDS[self.kind]
        if kind.unit == "count" and abs(after - before) < _LEAST_COUNT:
            return None
        reached = zip(_SEVERITIES, kind.least, strict=True)
        return next((name for name, least in reached if abs(self.effect) >= least), None)

    def confidence(self, p_value: float) -> str:
        """How sure the change is, from the p-value of the test that nothing changed."""
        is_firm = self.least_size >= _FIRM_SAMPLE
        words = (word for level, word in _CONFIDENCES if is_firm and p_value <= level)
        return next(words, "provisional")

    @property
    def evidence(self) -> list[str]:
        """The prompts that moved as the whole did, the furthest first."""
        _, size0, _, size1 = self.totals
        sign = 1 if self.effect > 0 else -1
        moved = {
            prompt: sign * (row[2] / size1 - row[0] / size0) for prompt, row in self.prompts.items()
        }
        names = [prompt for prompt, change in moved.items() if change > 0]
        return sorted(names, key=lambda prompt: (-moved[prompt], prompt))[:_EVIDENCE]


@section("insights")
def insights(o: Observations) -> SectionAnswer:
    """Noticeable changes, the most severe first, and a headline."""
    availability = _availability(o)
    if availability.status not in ("available", "partial"):
        nothing = {"headline": None, "bySeverity": dict.fromkeys(_SEVERITIES)}
        return SectionAnswer({"summary": nothing, "insights": []}, availability)
    tested = [change for change in _changes(o) if change.is_tested]
    p_values = adjusted([windows_differ(change.prompts.values()) for change in tested])
    shown = [
        (change, p_value)
        for change, p_value in zip(tested, p_values, strict=True)
        if p_value <= _FALSE_DISCOVERIES and change.severity is not None
    ]
    order = list(_KINDS)
    shown.sort(key=lambda c: (_SEVERITIES.index(str(c[0].severity)), order.index(c[0].kind)))
    rows = o.rows("SELECT insight_id, state FROM store.insight_states WHERE host = $host")
    states = {row["insight_id"]: row["state"] for row in rows}
    listed = []
    for change, p_value in shown:
        insight = _insight(o, change, p_value) | {"detectedAt": availability.as_of}
        listed.append(insight | {"state": states.get(insight["insightId"], "new")})
    severities = [insight["severity"] for insight in listed]
    headline = "; ".join(insight["title"] for insight in listed[:2])
    summary: dict[str, Any] = {
        "headline": f"{headline or 'Nothing changed noticeably against the window before'}.",
        "bySeverity": {severity: severities.count(severity) for severity in _SEVERITIES},
    }
    return SectionAnswer({"summary": summary, "insights": listed}, availability)


def _availability(o: Observations) -> SectionAvailability:
    missing = [
        subject_missing(o),
        own_citations_missing(o),
        None
        if o.observed("source_page_brands")
        else "It is not known which brands the cited pages mention.",
    ]
    availability = answers_availability(o, reason=" ".join(filter(None, missing)) or None)
    if availability.status == "unavailable":
        return availability
    if not o.previous_observed or not answer_counts(o, WHOLE, previous=True)[()]:
        return SectionAvailability(
            "insufficient_sample",
            f"There is nothing to compare with. {NO_PREVIOUS}",
            availability.sample_count,
            availability.as_of,
            engines=availability.engines,
        )
    return availability


def _changes(o: Observations) -> Iterator[_Change]:
    """Yield every change between two windows that both have answers."""
    asked, everywhere = o.rows(_ASKED), None
    engines = list(dict.fromkeys(row["engine"] for row in asked))
    mentioned = {(r["brand"], r["engine"], r["prompt_id"]): r for r in o.rows(_MENTIONED)}
    for brand in focus_brands(o):
        for engine in [everywhere, *engines] if len(engines) > 1 else engines:
            rows = [
                row | mentioned.get((brand, row["engine"], row["prompt_id"]), {})
                for row in asked
                if engine in (everywhere, row["engine"])
            ]
            yield _Change("visibility_change", _by_prompt(rows), brand, engine)
    scored = o.rows(_SCORED)
    for brand in dict.fromkeys(row["brand"] for row in scored):
        rows = [row for row in scored if row["brand"] == brand]
        yield _Change("sentiment_change", _by_prompt(rows), brand)
    for kind, sql, urls in (
        ("competitor_citation_gain", _GAINED, "urls"),
        ("citation_loss", _TURNED, "urls_before"),
    ):
        groups: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
        for row in o.rows(sql):
            groups.setdefault((row["brand"], row["domain"]), []).append(row)
        for (about, domain), rows in groups.items():
            pages = sorted({url for row in rows for url in row[urls] or ()})[:_EVIDENCE]
            change = _Change(
                kind, _by_prompt([*asked, *rows]), about, domain=domain, urls=tuple(pages)
            )
            before, after = change.values
            if after > before if kind == "competitor_citation_gain" else before:
                yield change


def _by_prompt(rows: list[dict[str, Any]]) -> dict[str, tuple[float, int, float, int]]:
    """Add up totals and sizes by prompt."""
    prompts: dict[str, list[Any]] = {}
    for row in rows:
        sums = prompts.setdefault(row["prompt_id"], [0, 0, 0, 0])
        for place, name in enumerate(("total0", "size0", "total1", "size1")):
            sums[place] += row.get(name, 0)
    return {prompt: (a, b, c, d) for prompt, (a, b, c, d) in prompts.items()}


def _insight(o: Observations, change: _Change, p_value: float) -> dict[str, Any]:
    before, after = change.values
    labels = {row["engine"]: row["label"] or row["engine"] for row in scoped_engines(o)}
    names = "|".join(
        part or "" for part in (change.kind, change.engine, change.brand, change.domain)
    )
    digest = md5(names.encode(), usedforsecurity=False).hexdigest()
    urls = change.urls
    if change.kind == "visibility_change" and len(focus_brands(o)) == 1:
        # With several brands asked about, a page cannot be laid at the door of one of them.
        turned = o.column(_TURNED_PAGES, on_engine=change.engine, lost=change.effect < 0)
        urls = tuple(turned)
    count = after if change.kind == "competitor_citation_gain" else change.totals[3]
    engine = labels.get(str(change.engine), change.engine)
    facts = {
        "brand": change.brand,
        "domain": change.domain,
        "before": before,
        "after": after,
        "up": "up" if after > before else "down",
        "where": f" on {engine}" if engine else "",
        "often": "more often" if before else "newly",
    }
    is_fall = after <= before
    about = _KINDS[change.kind]
    why = _WHY[is_fall].format(url=urls[0]) if about.key == "mentionRate" and urls else None
    return {
        "insightId": f"ins_{digest[:12]}",
        "type": change.kind,
        "severity": change.severity,
        "confidence": change.confidence(p_value),
        "title": about.title.format(**facts),
        "what": about.what.format(**facts),
        "why": why,
        "recommendation": about.advice[is_fall].format(**facts),
        "metric": {
            "key": about.key,
            "unit": about.unit,
            "before": before,
            "after": after,
            "change": after - before,
            "changeKind": "absolute",
        },
        "scope": {
            "engine": change.engine or _only(o, "engine"),
            "topic": _only(o, "topic"),
            "category": _only(o, "category"),
            "brand": change.brand,
        },
        "baseline": {"start": o.window.previous.start, "end": o.window.previous.end},
        "evidence": {"answerCount": count, "promptIds": change.evidence, "urls": list(urls)},
    }


def _only(o: Observations, name: str) -> str | None:
    """The value of a filter, where it has a single one."""
    values = o.question.filter(name)
    return values[0] if len(values) == 1 else None
