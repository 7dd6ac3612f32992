"""The sections of the service: what a section returns, and the registry of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any

from aatoolkit.service.observations import Observations
from aatoolkit.service.question import FILTERS


@dataclass(frozen=True)
class SectionAvailability:
    """Availability of a section, in the words the service uses in its answers.

    Parameters
    ----------
    status
        ``available``, ``partial``, ``unavailable``, ``not_connected``, ``not_applicable``,
        ``pending`` or ``insufficient_sample``.
    reason
        In words, where there is something to say.
    sample_count
        The observations behind the section; None where counting them makes no sense.
    as_of
        The moment up to which observations are complete; None where there are none.
    fields
        Narrower states, by path of a field (``totals.aiRevenue``, ``engines[].revenue``).
    engines
        Narrower states, by engine id.
    requires
        What the user would have to set up.
    """

    status: str = "available"
    reason: str | None = None
    sample_count: int | None = None
    as_of: datetime | None = None
    fields: Mapping[str, State] = field(default_factory=dict)
    engines: Mapping[str, State] = field(default_factory=dict)
    requires: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        """Convert to the JSON object of the field ``availability``."""
        body: dict[str, Any] = {
            "status": self.status,
            "reason": self.reason,
            "sampleCount": self.sample_count,
            "asOf": wire(self.as_of),
        }
        if self.requires:
            body["requires"] = list(self.requires)
        for name, states in (("fields", self.fields), ("engines", self.engines)):
            if states:
                body[name] = {key: state.wire() for key, state in sorted(states.items())}
        return body


@dataclass(frozen=True)
class State:
    """Availability of one field or one engine."""

    status: str
    reason: str | None = None

    def wire(self) -> dict[str, Any]:
        """Convert to its JSON object."""
        return {"status": self.status, "reason": self.reason}


@dataclass(frozen=True)
class SectionAnswer:
    """The result of a section: its own fields and its availability."""

    body: dict[str, Any]
    availability: SectionAvailability


@dataclass(frozen=True)
class ServiceSection:
    """One of the 17 sections: its name, its query and the filters its observations carry."""

    name: str
    ask: Callable[[Observations], SectionAnswer]
    filters: tuple[str, ...] = FILTERS


SECTIONS: dict[str, ServiceSection] = {}
"""The sections by name; filled when the modules of ``aatoolkit.service.sections`` are imported."""


def section(
    name: str, *, filters: tuple[str, ...] = FILTERS
) -> Callable[[Callable[[Observations], SectionAnswer]], Callable[[Observations], SectionAnswer]]:
    """Register a section. ``filters`` are those its observations can be narrowed by."""

    def register(
        ask: Callable[[Observations], SectionAnswer],
    ) -> Callable[[Observations], SectionAnswer]:
        SECTIONS[name] = ServiceSection(name, ask, filters)
        return ask

    return register


@cache
def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def fields(row: Mapping[str, Any], names: str, **renamed: str) -> dict[str, Any]:
    """Select cells of a row by the names that answers have for them; absent ones are None.

    ``mentionRate`` is the cell ``mention_rate``, and so for all but those ``renamed``.
    """
    return {name: row.get(renamed.get(name) or _snake(name)) for name in names.split()}


_PLAIN = frozenset({str, int, float, bool, type(None)})


def wire(value: Any) -> Any:
    """Convert a value for JSON: days as ``2026-11-20``, instants as ``…T06:10:00Z``."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {key: item if type(item) in _PLAIN else wire(item) for key, item in value.items()}
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return value
