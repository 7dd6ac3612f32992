"""Insights: notable changes against the window before, worded by rule.

============================ ===========================================================
``visibility_change``        the mention rate of a brand asked about, overall or on an engine
``sentiment_change``         its sentiment score
``competitor_citation_gain`` answers citing pages of a domain that mention a competitor
``citation_loss``            answers that cited own pages which none cites any more
============================ ===========================================================

Many changes are tested at once, and answers to one prompt resemble each other. So the test of a
change takes a prompt for one observation, and of the changes reported in an answer at most 10 %
are expected to be chance: they are those of an adjusted p-value up to 0.1 (Benjamini and Hochberg
1995). Severity is the size of the change, confidence the adjusted p-value; a sample below 30
in either window is never more than ``provisional``. A change that is too small, or that rests on
fewer than 10 observations in either window (of citations: 5 in both), is no insight.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import md5
from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, section
from aatoolkit.service.availability import NO_PREVIOUS, answers_availability, scoped_engines
from aatoolkit.service.grouping import WHOLE, answer_counts
from aatoolkit.service.insight_words import words
from aatoolkit.service.mentions import subject_missing
from aatoolkit.service.movements import Movement, movements, with_evidence
from aatoolkit.service.observations import Observations
from aatoolkit.service.own_citations import own_citations_missing
from aatoolkit.service.significance import adjusted

_KINDS = (
    "visibility_change",
    "sentiment_change",
    "competitor_citation_gain",
    "citation_loss",
)
_SEVERITIES = ("high", "medium", "low")
_LEAST_EFFECTS = {
    "mentionRate": (0.10, 0.05, 0.02),
    "sentimentScore": (10.0, 5.0, 3.0),
    "citationCount": (0.05, 0.02, 0.005),
}
_UNITS = {"mentionRate": "fraction", "sentimentScore": "score", "citationCount": "count"}
_CONFIDENCES = ((0.01, "high"), (0.05, "confident"), (0.1, "worth_a_look"))
_FALSE_DISCOVERIES = 0.1
_FIRM_SAMPLE, _LEAST_SAMPLE, _LEAST_EVENTS, _LEAST_COUNT = 30, 10, 5, 3


@section("insights")
def insights(o: Observations) -> SectionAnswer:
    """Noticeable changes, the most severe first, and a headline."""
    availability = _availability(o)
    if availability.status not in ("available", "partial"):
        return SectionAnswer(
            {
                "summary": {"headline": None, "bySeverity": dict.fromkeys(_SEVERITIES)},
                "insights": [],
            },
            availability,
        )
    found = [
        (severity, with_evidence(o, movement))
        for movement in _shown(movements(o))
        if (severity := _severity(movement)) is not None
    ]
    found.sort(key=_importance)
    labels, states = _labels(o), _states(o)
    listed = [
        {
            **_insight(o, severity, movement, labels),
            "detectedAt": availability.as_of,
            "state": states.get(_insight_id(movement), "new"),
        }
        for severity, movement in found
    ]
    return SectionAnswer({"summary": _summary(listed), "insights": listed}, availability)


def _availability(o: Observations) -> SectionAvailability:
    missing = [
        subject_missing(o),
        own_citations_missing(o),
        None
        if o.observed("source_page_brands")
        else "It is not known which brands the cited pages mention.",
    ]
    known = answers_availability(o, reason=" ".join(filter(None, missing)) or None)
    if known.status == "unavailable":
        return known
    if not o.previous_observed or not answer_counts(o, WHOLE, previous=True)[()]:
        return SectionAvailability(
            "insufficient_sample",
            f"There is nothing to compare with. {NO_PREVIOUS}",
            known.sample_count,
            known.as_of,
            engines=known.engines,
        )
    return known


def _shown(found: Iterable[Movement]) -> list[Movement]:
    """Select the significant movements, with p-values adjusted for the number tested.

    Which are tested at all depends on how much was observed, and not on what.
    """
    tested = [
        movement
        for movement in found
        if min(movement.samples) >= _LEAST_SAMPLE
        and (movement.events is None or movement.events >= _LEAST_EVENTS)
    ]
    p_values = adjusted([movement.p_value for movement in tested])
    return [
        replace(movement, p_value=p_value)
        for movement, p_value in zip(tested, p_values, strict=True)
        if p_value <= _FALSE_DISCOVERIES
    ]


def _severity(movement: Movement) -> str | None:
    """The severity of a movement; None where it is too small."""
    if movement.metric == "citationCount" and abs(movement.change) < _LEAST_COUNT:
        return None
    for severity, least in zip(_SEVERITIES, _LEAST_EFFECTS[movement.metric], strict=True):
        if abs(movement.effect) >= least:
            return severity
    return None


def _confidence(movement: Movement) -> str:
    if min(movement.samples) < _FIRM_SAMPLE:
        return "provisional"
    for level, word in _CONFIDENCES:
        if movement.p_value <= level:
            return word
    return "provisional"


def _importance(found: tuple[str, Movement]) -> tuple[int, int]:
    severity, movement = found
    return _SEVERITIES.index(severity), _KINDS.index(movement.kind)


def _name(movement: Movement) -> str:
    """The identity of a movement, to find the same one in another window."""
    parts = (movement.kind, movement.engine, movement.brand, movement.domain)
    return "|".join(part or "" for part in parts)


def _insight_id(movement: Movement) -> str:
    return "ins_" + md5(_name(movement).encode(), usedforsecurity=False).hexdigest()[:12]


def _insight(
    o: Observations, severity: str, movement: Movement, labels: dict[str, str]
) -> dict[str, Any]:
    return {
        "insightId": _insight_id(movement),
        "type": movement.kind,
        "severity": severity,
        "confidence": _confidence(movement),
        **words(movement, labels),
        "metric": {
            "key": movement.metric,
            "unit": _UNITS[movement.metric],
            "before": movement.before,
            "after": movement.after,
            "change": movement.change,
            "changeKind": "absolute",
        },
        "scope": {
            "engine": movement.engine or _only(o, "engine"),
            "topic": _only(o, "topic"),
            "category": _only(o, "category"),
            "brand": movement.brand,
        },
        "baseline": {"start": o.window.previous.start, "end": o.window.previous.end},
        "evidence": {
            "answerCount": movement.answer_count,
            "promptIds": list(movement.prompt_ids),
            "urls": list(movement.urls),
        },
    }


def _labels(o: Observations) -> dict[str, str]:
    """The engines' names by their ids, where they are known."""
    return {row["engine"]: row["label"] for row in scoped_engines(o) if row["label"] is not None}


def _only(o: Observations, name: str) -> str | None:
    """The value of a filter, where it has a single one."""
    values = o.question.filter(name)
    return values[0] if len(values) == 1 else None


def _states(o: Observations) -> dict[str, str]:
    """The states that are recorded of insights, by their ids."""
    rows = o.rows("SELECT insight_id, state FROM store.insight_states WHERE host = $host")
    return {row["insight_id"]: row["state"] for row in rows}


def _summary(listed: list[dict[str, Any]]) -> dict[str, Any]:
    severities = [insight["severity"] for insight in listed]
    return {
        "headline": "; ".join(insight["title"] for insight in listed[:2]) + "."
        if listed
        else "Nothing changed noticeably against the window before.",
        "bySeverity": {severity: severities.count(severity) for severity in _SEVERITIES},
    }
