"""The response of a section (kind of request): its fields, and their availability.

Also the registry of all sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any

from aatoolkit.service.observations import FILTERS, JsonObject, Observations, cache_results

NO_ANSWERS = "No answers were collected in this window for these filters."
NO_PREVIOUS = "Answers were not collected throughout the window before this one."
NONE_ANSWERED = "None of the runs in this window for these filters was answered."


@dataclass(frozen=True)
class State:
    """Whether one field or engine (AI assistant) could be measured: a status and a reason."""

    status: str
    reason: str | None = None


_NOT_COLLECTED = State("unavailable", NO_PREVIOUS)


@dataclass(frozen=True)
class SectionAvailability:
    """Whether the data of a section (one kind of response) were measured, and if not, why.

    ``sample_count`` is the number of observations, and ``as_of`` the time up to which they are
    complete. ``fields`` and ``engines`` map single fields and engines (AI assistants) to their
    states. ``requires`` names the sources that must be connected first.
    """

    status: str = "available"
    reason: str | None = None
    sample_count: int | None = None
    as_of: datetime | None = None
    fields: Mapping[str, State] = field(default_factory=dict)
    engines: Mapping[str, State] = field(default_factory=dict)
    requires: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """Return the availability as a dict for JSON."""
        body: JsonObject = {
            "status": self.status,
            "reason": self.reason,
            "sampleCount": self.sample_count,
            "asOf": self.as_of,
        }
        if self.requires:
            body["requires"] = self.requires
        for name, states in (("fields", self.fields), ("engines", self.engines)):
            if states:
                body[name] = {key: vars(state) for key, state in sorted(states.items())}
        return body


@dataclass(frozen=True)
class SectionAnswer:
    """The result of a section (kind of request): the fields of its JSON, and their availability."""

    body: JsonObject
    availability: SectionAvailability


SectionFunction = Callable[[Observations], SectionAnswer]


@dataclass(frozen=True)
class ServiceSection:
    """A section (one kind of request): its name, the function that computes it, and its filters."""

    name: str
    ask: SectionFunction
    filters: tuple[str, ...] = tuple(FILTERS)


SECTIONS: dict[str, ServiceSection] = {}
"""The sections, by name."""


def section(
    name: str, *, filters: Collection[str] = FILTERS
) -> Callable[[SectionFunction], SectionFunction]:
    """Return a decorator that registers a function as the section (kind of response) ``name``."""

    def register(function: SectionFunction) -> SectionFunction:
        SECTIONS[name] = ServiceSection(name, function, tuple(filters))
        return function

    return register


@cache
def _snake_case(name: str) -> str:
    """Convert a name from camel case to snake case: ``mentionRate`` to ``mention_rate``."""
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def select_fields(row: Mapping[str, Any], names: str, **renamed: str) -> JsonObject:
    """Return a JSON object with some values of a row, under the space-separated ``names``.

    The field ``mentionRate`` is taken from the column ``mention_rate``. With
    ``score="sentiment_score"``, the field ``score`` is taken from the column ``sentiment_score``.
    """
    return {name: row.get(renamed.get(name) or _snake_case(name)) for name in names.split()}


def json_text(value: date) -> str:
    """Return a day or timestamp as text in ISO format, such as ``2026-11-20T06:10:00Z``."""
    return f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else value.isoformat()


def why_no_rows(*tables: str) -> str:
    """Return a sentence which says that there is no data of a project in some tables."""
    return f"The store holds no {' and no '.join(tables)} for this project."


def answers_availability(
    obs: Observations,
    sample_count: int | None = None,
    *,
    reasons: Iterable[str | None] = (),
    fields: Mapping[str, State] | None = None,
) -> SectionAvailability:
    """Return the availability of a section that is computed from the answers of AI engines.

    A section is one kind of response. ``reasons`` are sentences on data that the section lacks; if
    there is one, the status is ``partial``. ``fields`` has the states of single fields.
    """
    engines = _run_counts_by_engine(obs).values()
    answer_count = sum(row["answer_count"] for row in engines)
    silent_states = _silent_engine_states(obs)
    status = "unavailable"
    if not obs.has_rows("answers"):
        notes = [why_no_rows("answers")]
    elif not answer_count:
        notes = [NONE_ANSWERED if engines else NO_ANSWERS]
    else:
        notes = [reason for reason in reasons if reason]
        first_day = obs.collected_since
        if first_day is not None and first_day > obs.window.start:
            notes.append(f"Answers were collected only since {first_day.isoformat()}.")
        requested_engines = [
            engine for engine in silent_states if engine in obs.question.filter("engine")
        ]
        if requested_engines:
            notes.append(f"There are no answers of {', '.join(requested_engines)}.")
        status = "partial" if notes else "available"
    return SectionAvailability(
        status=status,
        reason=" ".join(notes) or None,
        sample_count=answer_count if sample_count is None else sample_count,
        as_of=last_run_time(obs),
        fields=fields or {},
        engines=silent_states,
    )


def last_run_time(obs: Observations) -> datetime | None:
    """Return the time of the latest run that passes the filters.

    A run is one prompt sent to an engine (AI assistant).
    """
    return max((row["as_of"] for row in _run_counts_by_engine(obs).values()), default=None)


@cache_results
def _run_counts_by_engine(obs: Observations) -> dict[str, JsonObject]:
    """Return a dict from AI engine to its number of answers and the time of its last run."""
    rows = obs.fetch_rows(
        "SELECT engine, max(ran_at) AS as_of,"
        " count(*) FILTER (outcome = 'answered') AS answer_count FROM runs GROUP BY engine"
    )
    return {row["engine"]: row for row in rows}


@cache_results
def _silent_engine_states(obs: Observations) -> dict[str, State]:
    """Return a dict from each engine (AI assistant) without answers to a state that says why."""
    runs, states = _run_counts_by_engine(obs), {}
    for row in scoped_engines(obs):
        engine = row["engine"]
        if not row["configured"]:
            if obs.question.filter("engine") and not runs.get(engine, {}).get("answer_count"):
                reason = "This engine is not switched on for the project."
                states[engine] = State("not_configured", reason)
        elif row["last_run_day"] is None:
            states[engine] = State("unavailable", "This engine has not run yet.")
        elif engine not in runs:
            reason = "This engine did not run in this window for these filters."
            states[engine] = State("unavailable", reason)
        elif not runs[engine]["answer_count"]:
            reason = "No run of this engine in this window was answered."
            states[engine] = State("unavailable", reason)
    return states


def missing_changes(obs: Observations, paths: str) -> dict[str, State]:
    """Return a dict from JSON path to a state which says that no previous values are available.

    ``paths`` has the JSON paths of the fields, separated by spaces. The dict is empty if answers
    were collected throughout the window before.
    """
    return {} if obs.has_previous else dict.fromkeys(paths.split(), _NOT_COLLECTED)


@cache_results
def scoped_engines(obs: Observations) -> list[JsonObject]:
    """Return a list of the engines (AI assistants) that pass the engine filter.

    Each has the day of its last run.
    """
    return obs.fetch_rows(
        "SELECT engine, label, configured, last_run_day FROM scoped_engines ORDER BY engine"
    )
