"""Overview: the key figures, their course by day, the brands and the engines.

The visibility score is the mention rate times 100.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aatoolkit.service.answer import SectionAnswer, State, fields, section
from aatoolkit.service.availability import NO_PREVIOUS, answers_availability, scoped_engines
from aatoolkit.service.mentions import brand_measures, focus_by, focus_total, subject_missing
from aatoolkit.service.observations import Observations
from aatoolkit.service.own_citations import (
    citation_total,
    citations_by,
    own_citations_missing,
)

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
        earlier = {f"previous{part.capitalize()}": before[s] for part, s in parts.items()}
        return {"value": now[name], "previous": before[name], **counts, **earlier, "unit": unit}

    return {
        "visibilityScore": kpi("visibility_score", "score"),
        "mentionRate": kpi(
            "mention_rate", "fraction", numerator="mention_count", denominator="answer_count"
        ),
        "shareOfVoice": kpi(
            "share_of_voice", "fraction", numerator="voice_count", denominator="all_voice_count"
        ),
        "averagePosition": kpi(
            "average_position", "rank", numerator="position_sum", denominator="position_count"
        ),
        "sentimentScore": kpi("sentiment_score", "score", denominator="scored_count"),
        "citationShare": kpi(
            "citation_share",
            "fraction",
            numerator="own_citation_count",
            denominator="citation_count",
        ),
        "answerCount": kpi("answer_count", "count"),
    }


def _figures(o: Observations, *, previous: bool) -> dict[str, Any]:
    figures = focus_total(o, previous=previous) | citation_total(o, previous=previous)
    rate, own, cited = (
        figures[name] for name in ("mention_rate", "own_citation_count", "citation_count")
    )
    figures["visibility_score"] = None if rate is None else 100.0 * rate
    figures["citation_share"] = own / cited if own is not None and cited else None
    return figures


def _points(o: Observations) -> list[dict[str, Any]]:
    """Compute every day of the window; one without answers has only their number, 0."""
    mentioned, cited = focus_by(o, "day"), citations_by(o, "day")
    days = (o.window.start + timedelta(days=n) for n in range(o.window.days))
    return [
        {
            "date": day,
            "answerCount": seen.get("answer_count", 0),
            **fields(
                seen,
                "mentionCount mentionRate shareOfVoice averagePosition positionCount"
                " brandMentionCount allMentionCount",
                brandMentionCount="voice_count",
                allMentionCount="all_voice_count",
            ),
            "citationCount": cited.get(day, {}).get("own_citation_count"),
        }
        for day in days
        for seen in (mentioned.get(day, {}),)
    ]


def _top_brands(o: Observations) -> list[dict[str, Any]]:
    before: dict[str, dict[str, Any]] = {}
    if o.previous_observed:
        before = {row["brand"]: row for row in brand_measures(o, previous=True)}
    return [
        {
            **fields(
                row,
                "rank brand own mentionCount mentionRate shareOfVoice averagePosition"
                " answerCount allMentionCount positionCount",
                allMentionCount="all_voice_count",
            ),
            "mentionRateChange": _change(earlier.get("mention_rate"), row["mention_rate"]),
            "previousMentionCount": earlier.get("mention_count"),
            "previousAnswerCount": earlier.get("answer_count"),
        }
        for row in brand_measures(o)
        for earlier in (before.get(row["brand"], {}),)
    ]


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _engines(o: Observations) -> list[dict[str, Any]]:
    """The engines that are switched on, and any other that answered in the window."""
    seen = focus_by(o, "engine")
    return [
        {
            "engine": row["engine"],
            "answerCount": figures.get("answer_count", 0),
            **fields(figures, "mentionCount mentionRate"),
            "lastRunDay": row["last_run_day"],
        }
        for row in scoped_engines(o)
        for figures in (seen.get(row["engine"], {}),)
        if row["configured"] or figures
    ]
