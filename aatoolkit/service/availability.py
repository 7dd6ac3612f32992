"""Availability of sections computed from answers: whether there are any, and from which engines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from aatoolkit.service.answer import SectionAvailability, State
from aatoolkit.service.observations import Observations, shared

NO_ANSWERS = "No answers were collected in this window for these filters."
NO_PREVIOUS = "Answers were not collected throughout the window before this one."
NONE_ANSWERED = "None of the runs in this window for these filters was answered."


def answers_availability(
    o: Observations,
    sample_count: int | None = None,
    *,
    reason: str | None = None,
    fields: Mapping[str, State] | None = None,
    engines: Mapping[str, State] | None = None,
    requires: tuple[str, ...] = (),
) -> SectionAvailability:
    """Compute the availability of a section that is computed from the answers in scope.

    ``unavailable`` without a single answer; ``partial`` where the section gives a
    ``reason``, where the window starts before answers were collected, or where an engine
    that was asked for by name gave none; else ``available``.

    Parameters
    ----------
    o
        What is in scope.
    sample_count
        The observations behind the section; the number of answers where it is not given.
    reason
        What else the section could not measure, in words.
    fields, requires
        As in :class:`~aatoolkit.service.answer.SectionAvailability`.
    engines
        States of engines that only the section knows of; those of engines without answers
        are added here.
    """
    runs = _runs(o)
    silent = _silent_engines(o)
    status, reason_text = _status(o, runs, silent, reason)
    return SectionAvailability(
        status=status,
        reason=reason_text,
        sample_count=runs["answer_count"] if sample_count is None else sample_count,
        as_of=runs["as_of"],
        fields=fields or {},
        engines={**(engines or {}), **silent},
        requires=requires,
    )


def last_run(o: Observations) -> datetime | None:
    """The moment of the last run in scope; None where there was none."""
    moment: datetime | None = _runs(o)["as_of"]
    return moment


def not_held(*tables: str) -> str:
    """Word the reason that the store has no rows of some tables for the host."""
    return f"The store holds no {' and no '.join(tables)} for this project."


def _runs(o: Observations) -> dict[str, Any]:
    """The number of runs and answers in scope, and the moment of the last run."""
    found = _engine_runs(o).values()
    return {
        "as_of": max((row["as_of"] for row in found), default=None),
        "run_count": sum(row["run_count"] for row in found),
        "answer_count": sum(row["answer_count"] for row in found),
    }


@shared
def _engine_runs(o: Observations) -> dict[str, dict[str, Any]]:
    """The same by engine, of engines with runs."""
    rows = o.rows(
        "SELECT engine, max(ran_at) AS as_of, count(*) AS run_count,"
        " count(*) FILTER (outcome = 'answered') AS answer_count FROM runs GROUP BY engine"
    )
    return {row["engine"]: row for row in rows}


def _status(
    o: Observations, runs: Mapping[str, Any], silent: Mapping[str, State], reason: str | None
) -> tuple[str, str | None]:
    if not o.observed("answers"):
        return "unavailable", not_held("answers")
    if not runs["answer_count"]:
        return "unavailable", NONE_ANSWERED if runs["run_count"] else NO_ANSWERS
    reasons = [reason] if reason else []
    since = _collected_since(o)
    if since > o.window.start:
        reasons.append(f"Answers were collected only since {since.isoformat()}.")
    requested = [engine for engine in silent if engine in o.question.filter("engine")]
    if requested:
        reasons.append(f"There are no answers of {', '.join(requested)}.")
    return ("partial", " ".join(reasons)) if reasons else ("available", None)


def _collected_since(o: Observations) -> date:
    since: date | None = o.project["observed_from"] or o.first_run_day
    assert since is not None, "asked only of a project that has answers"
    return since


@shared
def _silent_engines(o: Observations) -> dict[str, State]:
    """The engines in scope without answers, and why.

    An engine that is not switched on is no gap in what was measured, unless it was asked for.
    """
    runs = _engine_runs(o)
    return {
        row["engine"]: _silence(row, runs.get(row["engine"]))
        for row in scoped_engines(o)
        if (row["configured"] or o.question.filter("engine"))
        and not runs.get(row["engine"], {}).get("answer_count")
    }


@shared
def scoped_engines(o: Observations) -> list[dict[str, Any]]:
    """The engines in scope, with the last day on which each was asked anything."""
    return o.rows(
        "SELECT engine, label, configured, last_run_day FROM scoped_engines ORDER BY engine"
    )


def _silence(engine: Mapping[str, Any], runs: Mapping[str, Any] | None) -> State:
    if not engine["configured"]:
        return State("not_configured", "This engine is not switched on for the project.")
    if engine["last_run_day"] is None:
        return State("unavailable", "This engine has not run yet.")
    if runs is None:
        return State("unavailable", "This engine did not run in this window for these filters.")
    return State("unavailable", "No run of this engine in this window was answered.")
