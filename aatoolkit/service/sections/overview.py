"""Overview: the key figures, their course by day, the brands and the engines.

The visibility score is the mention rate times 100.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aatoolkit.service.answer import (
    NO_PREVIOUS,
    SectionAnswer,
    State,
    answers_availability,
    fields,
    scoped_engines,
    section,
)
from aatoolkit.service.measures import (
    DAYS,
    ENGINES,
    WHOLE,
    brand_measures,
    citations,
    earlier,
    focus,
    own_citations_missing,
    ratio,
    subject_missing,
)
from aatoolkit.service.observations import Observations

_OF_SUBJECT = (
    "visibilityScore",
    "mentionRate",
    "shareOfVoice",
    "averagePosition",
    "sentimentScore",
)
_CHANGES = ("mentionRateChange", "previousMentionCount", "previousAnswerCount")
_KPIS = (*_OF_SUBJECT, "citationShare", "answerCount")


@section("overview")
def overview(o: Observations) -> SectionAnswer:
    """Key figures of the brands asked about, against the window before."""
    states = _unmeasured(o)
    reasons = [subject_missing(o), own_citations_missing(o)]
    return SectionAnswer(
        {
            "kpis": _kpis(o),
            "trends": {"granularity": "day", "points": _points(o)},
            "topBrands": _top_brands(o),
            "engines": _engines(o),
        },
        answers_availability(o, reason=" ".join(filter(None, reasons)) or None, fields=states),
    )


def _unmeasured(o: Observations) -> dict[str, State]:
    """The states of figures that cannot be computed, whatever the answers."""
    states: dict[str, State] = {}
    if not o.previous_observed:
        states |= {f"kpis.{name}.previous": State("unavailable", NO_PREVIOUS) for name in _KPIS}
        states |= {f"topBrands[].{name}": State("unavailable", NO_PREVIOUS) for name in _CHANGES}
    if missing := subject_missing(o):
        states |= {f"kpis.{name}": State("unavailable", missing) for name in _OF_SUBJECT}
    if missing := own_citations_missing(o):
        states["kpis.citationShare"] = State("unavailable", missing)
    return states


def _kpis(o: Observations) -> dict[str, Any]:
    now = _figures(o, previous=False)
    before = _figures(o, previous=True) if o.previous_observed else dict.fromkeys(now)

    def kpi(name: str, unit: str, **parts: str) -> dict[str, Any]:
        counts = {part: now[source] for part, source in parts.items()}
        previous = earlier({part: before[source] for part, source in parts.items()})
        return {"value": now[name], "previous": before[name], **counts, **previous, "unit": unit}

    def rate(name: str, numerator: str, denominator: str, unit: str = "fraction") -> dict[str, Any]:
        return kpi(name, unit, numerator=numerator, denominator=denominator)

    return {
        "visibilityScore": kpi("visibility_score", "score"),
        "mentionRate": rate("mention_rate", "mention_count", "answer_count"),
        "shareOfVoice": rate("share_of_voice", "voice_count", "all_voice_count"),
        "averagePosition": rate("average_position", "position_sum", "position_count", "rank"),
        "sentimentScore": kpi("sentiment_score", "score", denominator="scored_count"),
        "citationShare": rate("citation_share", "own_citation_count", "citation_count"),
        "answerCount": kpi("answer_count", "count"),
    }


def _figures(o: Observations, *, previous: bool) -> dict[str, Any]:
    figures = focus(o, WHOLE, previous)[()] | citations(o, WHOLE, previous)[()]
    rate = figures["mention_rate"]
    figures["visibility_score"] = None if rate is None else 100.0 * rate
    figures["citation_share"] = ratio(figures["own_citation_count"], figures["citation_count"])
    return figures


def _points(o: Observations) -> list[dict[str, Any]]:
    """Compute every day of the window; one without answers has only their number, 0."""
    mentioned, cited = focus(o, DAYS), citations(o, DAYS)
    days = (o.window.start + timedelta(days=n) for n in range(o.window.days))
    return [
        {
            "date": day,
            **fields(
                {"answer_count": 0, **mentioned.get(day, {}), **cited.get(day, {})},
                "answerCount mentionCount mentionRate shareOfVoice averagePosition positionCount"
                " brandMentionCount allMentionCount citationCount",
                brandMentionCount="voice_count",
                allMentionCount="all_voice_count",
                citationCount="own_citation_count",
            ),
        }
        for day in days
    ]


def _top_brands(o: Observations) -> list[dict[str, Any]]:
    before: dict[str, dict[str, Any]] = {}
    if o.previous_observed:
        before = {row["brand"]: row for row in brand_measures(o, previous=True)}
    brands = []
    for row in brand_measures(o):
        previous = before.get(row["brand"], {})
        rates = previous.get("mention_rate"), row["mention_rate"]
        brands.append(
            {
                **fields(
                    row,
                    "rank brand own mentionCount mentionRate shareOfVoice averagePosition"
                    " answerCount allMentionCount positionCount",
                    allMentionCount="all_voice_count",
                ),
                "mentionRateChange": None if None in rates else rates[1] - rates[0],
                **earlier(fields(previous, "mentionCount answerCount")),
            }
        )
    return brands


def _engines(o: Observations) -> list[dict[str, Any]]:
    """The engines that are switched on, and any other that answered in the window."""
    measured = focus(o, ENGINES)
    return [
        fields(
            {"answer_count": 0, **row, **measured.get(row["engine"], {})},
            "engine answerCount mentionCount mentionRate lastRunDay",
        )
        for row in scoped_engines(o)
        if row["configured"] or row["engine"] in measured
    ]
