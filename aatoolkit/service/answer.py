"""The response of a section (one kind of response of the API), and whether it could be measured.

The module also has the registry of all sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any

from aatoolkit.service.observations import FILTERS, JsonObject, Observations, cache_results

NO_ANSWERS_REASON = "No answers were collected in this window for these filters."
NO_PREVIOUS_WINDOW_REASON = "Answers were not collected throughout the window before this one."
NONE_ANSWERED_REASON = "None of the runs in this window for these filters was answered."


@dataclass(frozen=True)
class State:
    """Whether one field, or the data of one engine (AI assistant), could be measured.

    ``status`` is a word such as ``partial``, and ``reason`` a sentence.
    """

    status: str
    reason: str | None = None


_NO_PREVIOUS_WINDOW_STATE = State("unavailable", NO_PREVIOUS_WINDOW_REASON)


@dataclass(frozen=True)
class SectionAvailability:
    """Whether the data of a section (one kind of response) were measured, and if not, why.

    ``sample_count`` is the number of observations, and ``as_of`` the time up to which they are
    complete. ``fields`` maps the JSON paths of fields that differ from the whole to their states,
    and ``engines`` does so for engines (AI assistants). ``requires`` names the data sources that
    must be connected first.
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
        json_object: JsonObject = {
            "status": self.status,
            "reason": self.reason,
            "sampleCount": self.sample_count,
            "asOf": self.as_of,
        }
        if self.requires:
            json_object["requires"] = self.requires
        for field_name, state_by_name in (("fields", self.fields), ("engines", self.engines)):
            if state_by_name:
                json_object[field_name] = {
                    json_path_or_engine: vars(state)
                    for json_path_or_engine, state in sorted(state_by_name.items())
                }
        return json_object


@dataclass(frozen=True)
class SectionResponse:
    """The response of a section (one kind of response): its JSON fields, and their availability."""

    body: JsonObject
    availability: SectionAvailability


SectionFunction = Callable[[Observations], SectionResponse]


@dataclass(frozen=True)
class ServiceSection:
    """A section (one kind of response): its name, its function ``compute``, and its filters.

    ``compute`` computes the response. ``filters`` are the names of the filters that apply to the
    section.
    """

    name: str
    compute: SectionFunction
    filters: tuple[str, ...] = tuple(FILTERS)


SECTIONS: dict[str, ServiceSection] = {}
"""The sections, by name."""


def register_section(
    section_name: str, *, filters: Collection[str] = FILTERS
) -> Callable[[SectionFunction], SectionFunction]:
    """Return a decorator that registers a function as a section, which is one kind of response.

    ``section_name`` is the name of the section, and ``filters`` are the names of the filters that
    apply to it.
    """

    def register(compute_section: SectionFunction) -> SectionFunction:
        SECTIONS[section_name] = ServiceSection(section_name, compute_section, tuple(filters))
        return compute_section

    return register


@cache
def _to_snake_case(name: str) -> str:
    """Convert a name from camel case to snake case: ``mentionRate`` to ``mention_rate``."""
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


def select_fields(row: Mapping[str, Any], field_names: str, **column_by_field: str) -> JsonObject:
    """Return a JSON object with some columns of a row, under their names in the API.

    ``field_names`` has the names of the object's fields, separated by spaces. The field
    ``mentionRate`` has the value of the column ``mention_rate``. With ``score="sentiment_score"``,
    the field ``score`` has the value of the column ``sentiment_score``.
    """
    return {
        field_name: row.get(column_by_field.get(field_name) or _to_snake_case(field_name))
        for field_name in field_names.split()
    }


def to_iso_text(value: date) -> str:
    """Return a day or timestamp as text in ISO format, such as ``2026-11-20T06:10:00Z``."""
    return f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else value.isoformat()


def explain_no_rows(observations: Observations, *table_names: str) -> str | None:
    """Return a sentence on the tables without rows of the project; None if all have rows."""
    empty_table_names = [
        table_name for table_name in table_names if not observations.has_rows(table_name)
    ]
    reason = f"The store holds no {' and no '.join(empty_table_names)} for this project."
    return reason if empty_table_names else None


def find_answers_availability(
    observations: Observations,
    sample_count: int | None = None,
    *,
    reasons: Iterable[str | None] = (),
    state_by_path: Mapping[str, State] | None = None,
) -> SectionAvailability:
    """Return the availability of a section that is computed from the answers of AI engines.

    A section is one kind of response. ``sample_count`` is the number of observations; by default,
    it is the number of answers. ``reasons`` are sentences on data that the section lacks, or None;
    if there is a sentence, the status is ``partial``. ``state_by_path`` maps the JSON paths of
    single fields to their states.
    """
    run_rows = _find_run_row_by_engine(observations).values()
    answer_count = sum(row["answer_count"] for row in run_rows)
    state_by_engine = _find_unanswering_engines(observations)
    status = "unavailable"
    if reason := explain_no_rows(observations, "answers"):
        reason_sentences = [reason]
    elif not answer_count:
        reason_sentences = [NONE_ANSWERED_REASON if run_rows else NO_ANSWERS_REASON]
    else:
        reason_sentences = [reason for reason in reasons if reason]
        collection_start = observations.first_collection_day
        if collection_start is not None and collection_start > observations.window.start:
            reason_sentences.append(
                f"Answers were collected only since {collection_start.isoformat()}."
            )
        requested_engines = [
            engine
            for engine in state_by_engine
            if engine in observations.scope.filter_values("engine")
        ]
        if requested_engines:
            reason_sentences.append(f"There are no answers of {', '.join(requested_engines)}.")
        status = "partial" if reason_sentences else "available"
    return SectionAvailability(
        status=status,
        reason=" ".join(reason_sentences) or None,
        sample_count=answer_count if sample_count is None else sample_count,
        as_of=find_last_run_time(observations),
        fields=state_by_path or {},
        engines=state_by_engine,
    )


def find_last_run_time(observations: Observations) -> datetime | None:
    """Return the time of the latest run that passes the filters; None without such a run.

    A run is one prompt sent to an engine (AI assistant).
    """
    return max(
        (row["as_of"] for row in _find_run_row_by_engine(observations).values()), default=None
    )


@cache_results
def _find_run_row_by_engine(observations: Observations) -> dict[str, JsonObject]:
    """Return, for each AI engine that ran, a row with its number of answers and last run time.

    The result is a dict by engine. Only runs that pass the filters count.
    """
    engine_rows = observations.fetch_rows(
        "SELECT engine, max(ran_at) AS as_of,"
        " count(*) FILTER (outcome = 'answered') AS answer_count FROM runs GROUP BY engine"
    )
    return {row["engine"]: row for row in engine_rows}


# An engine that is switched off is only named if it was asked for.
_UNANSWERING_ENGINES_SQL = """
WITH counted AS (
  SELECT engine, count(*) FILTER (outcome = 'answered') AS answers FROM runs GROUP BY engine
), stated AS (
  SELECT engine, CASE WHEN configured THEN 'unavailable' ELSE 'not_configured' END AS status,
    CASE WHEN NOT configured THEN
        CASE WHEN len($engine) > 0 AND coalesce(answers, 0) = 0
          THEN 'This engine is not switched on for the project.' END
      WHEN last_run_day IS NULL THEN 'This engine has not run yet.'
      WHEN answers IS NULL THEN 'This engine did not run in this window for these filters.'
      WHEN answers = 0 THEN 'No run of this engine in this window was answered.' END AS reason
  FROM scoped_engines LEFT JOIN counted USING (engine)
)
SELECT * FROM stated WHERE reason IS NOT NULL ORDER BY engine
"""


@cache_results
def _find_unanswering_engines(observations: Observations) -> dict[str, State]:
    """Return a dict from each engine (AI assistant) without answers to a state that says why."""
    return {
        row.pop("engine"): State(**row) for row in observations.fetch_rows(_UNANSWERING_ENGINES_SQL)
    }


def find_previous_window_states(observations: Observations, json_paths: str) -> dict[str, State]:
    """Return, by path, why fields that need the previous window of days could not be measured.

    ``json_paths`` has the JSON paths of the fields that need this window, separated by spaces. The
    result is a dict by path. It is empty if answers were collected throughout the window before.
    """
    return (
        {}
        if observations.has_previous_window
        else dict.fromkeys(json_paths.split(), _NO_PREVIOUS_WINDOW_STATE)
    )
