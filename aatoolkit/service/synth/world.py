"""The synthetic world: hosts, answer engines, brands, prompts. All of it is made up.

``world.json`` has its plans, ``fixed.json`` the rows of it that are not drawn.

Engines bear the names of real ones so that the tables read naturally; what they do and say
here is invented.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from aatoolkit.service.synth.random_columns import day_number

AS_OF = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
TODAY = day_number(AS_OF.date())
HISTORY_DAYS = 200
"""The days before the end on which the synthetic hosts were observed."""
TURN = 30
"""Days before the end when things change noticeably, so that there is something to find."""


@dataclass(frozen=True)
class EnginePlan:
    """The plan of an engine: when a host's answers are collected from it, and how often."""

    engine: str
    weight: float = 0.0
    every: int = 1
    until: int = 0
    configured: bool = True


@dataclass(frozen=True)
class BrandPlan:
    """The plan of a brand: how often it is mentioned, and in what tone."""

    brand: str
    domain: str | None
    rate: float = 0.0
    tone: float = 0.5
    own: bool | None = False
    tracked: bool = True
    scored: bool = True


@dataclass(frozen=True)
class PromptPlan:
    """A prompt, and how it is asked.

    Parameters
    ----------
    weight
        How often it is asked, compared with the others; 0 where it never was.
    until
        Days before the end when it was last asked.
    """

    text: str
    topic: str | None
    category: str | None
    intent: str | None = "commercial"
    branded: bool | None = False
    country: str | None = "US"
    language: str | None = "en"
    volume: int | None = None
    band: str | None = None
    weight: float = 1.0
    until: int = 0

    @property
    def active(self) -> bool:
        """Whether it is still asked."""
        return self.until == 0


@dataclass(frozen=True)
class HostPlan:
    """A project's plan: its engines, brands and prompts, and since when it is observed."""

    number: int
    host: str
    share: float
    days: int
    plan: str | None
    allowance: int | None
    engines: tuple[EnginePlan, ...]
    brands: tuple[BrandPlan, ...]
    prompts: tuple[PromptPlan, ...]
    terms: tuple[str, ...] = ()
    silent: tuple[int, ...] = ()

    @property
    def own(self) -> str:
        """The name of the project's own brand, the first one."""
        return self.brands[0].brand


def _host(facts: dict[str, Any]) -> HostPlan:
    kinds: dict[str, Any] = {"engines": EnginePlan, "brands": BrandPlan, "prompts": PromptPlan}
    plans = {name: tuple(kind(**one) for one in facts[name]) for name, kind in kinds.items()}
    lists: dict[str, Any] = {
        name: tuple(facts[name]) for name in ("terms", "silent") if name in facts
    }
    known: dict[str, Any] = {**facts, **lists, **plans}
    return HostPlan(**known)


_FACTS = json.loads(Path(__file__).with_name("world.json").read_text(encoding="utf-8"))
ENGINES: dict[str, dict[str, Any]] = _FACTS["engines"]
HOSTS = tuple(map(_host, _FACTS["hosts"]))

RESETS_ON = date(2026, 12, 1)
