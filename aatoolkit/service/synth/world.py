"""The synthetic world: hosts, answer engines, brands. All of it is made up.

Engines bear the names of real ones so that the tables read naturally; what they do and say
here is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from aatoolkit.service.synth.questions import ACME, GLOBEX, INITECH, NEWCO, PromptPlan
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


ENGINES: dict[str, dict[str, Any]] = {
    "chatgpt": {
        "label": "ChatGPT",
        "exposes_fanouts": True,
        "exposes_retrieval": True,
        "shows_ads": True,
        "ads_checked": True,
        "shopping_checked": True,
        "separable_traffic": True,
        "referrers": ["chatgpt.com", "chat.openai.com"],
    },
    "perplexity": {
        "label": "Perplexity",
        "exposes_fanouts": True,
        "exposes_retrieval": True,
        "shows_ads": False,
        "ads_checked": True,
        "shopping_checked": True,
        "separable_traffic": True,
        "referrers": ["perplexity.ai"],
    },
    "gemini": {
        "label": "Gemini",
        "exposes_fanouts": True,
        "exposes_retrieval": False,
        "shows_ads": None,
        "ads_checked": True,
        "shopping_checked": True,
        "separable_traffic": True,
        "referrers": ["gemini.google.com"],
    },
    "claude": {
        "label": "Claude",
        "exposes_fanouts": False,
        "exposes_retrieval": None,
        "shows_ads": False,
        "ads_checked": None,
        "shopping_checked": False,
        "separable_traffic": True,
        "referrers": ["claude.ai"],
    },
    "google-ai-overview": {
        "label": "Google AI Overviews",
        "exposes_fanouts": False,
        "exposes_retrieval": True,
        "shows_ads": True,
        "ads_checked": True,
        "shopping_checked": True,
        "separable_traffic": False,
        "referrers": [],
    },
    "copilot": {
        "label": "Microsoft Copilot",
        "exposes_fanouts": None,
        "exposes_retrieval": None,
        "shows_ads": True,
        "ads_checked": False,
        "shopping_checked": None,
        "separable_traffic": True,
        "referrers": None,
    },
}

_ACME = HostPlan(
    number=0,
    host="acme.example",
    share=0.6,
    days=HISTORY_DAYS,
    plan="growth",
    allowance=100,
    engines=(
        EnginePlan("chatgpt", 5.0),
        EnginePlan("perplexity", 3.0, until=1),
        EnginePlan("gemini", 3.0, every=2),
        EnginePlan("claude", 2.0, every=7, until=1),
        EnginePlan("google-ai-overview"),
        EnginePlan("copilot", configured=False),
    ),
    brands=(
        BrandPlan("Acme CRM", "acme.example", 0.34, 0.62, own=True),
        BrandPlan("Globex", "globex.example", 0.55, 0.6),
        BrandPlan("Initech", "initech.example", 0.3, 0.4),
        BrandPlan("Monday.example", "monday.example", 0.26, 0.55),
        BrandPlan("Café CRM", "café-crm.example", 0.16, 0.7),
        BrandPlan("Hooli", None, 0.12, tracked=False, scored=False),
        BrandPlan("Bold & Sons", "bold.example", 0.08, 0.5),
        BrandPlan("Umbrella", "umbrella.example", 0.1, 0.3, own=None),
        BrandPlan("Vandelay", "vandelay.example"),
    ),
    prompts=ACME,
    terms=("acme", "acme crm", "acme.example"),
    silent=(9, 38, 39, 71, 120),
)

_GLOBEX = HostPlan(
    number=1,
    host="globex.example",
    share=0.32,
    days=HISTORY_DAYS,
    plan="enterprise",
    allowance=None,
    engines=(
        EnginePlan("chatgpt", 4.0),
        EnginePlan("google-ai-overview", 3.0),
        EnginePlan("perplexity", 2.0, every=3),
        EnginePlan("gemini", 2.0, until=45),
        EnginePlan("claude", 1.0, until=90, configured=False),
        EnginePlan("copilot", configured=False),
    ),
    brands=(
        BrandPlan("Globex", "globex.example", 0.5, 0.6, own=True),
        BrandPlan("Globex Lite", "lite.globex.example", 0.14, 0.5, own=True),
        BrandPlan("Acme CRM", "acme.example", 0.38, 0.6),
        BrandPlan("Initech", "initech.example", 0.2, 0.4),
        BrandPlan("Monday.example", None, 0.3, 0.5),
    ),
    prompts=GLOBEX,
    terms=("globex", "globex lite"),
    silent=(4, 60, 61),
)

_INITECH = HostPlan(
    number=2,
    host="initech.example",
    share=0.08,
    days=65,
    plan=None,
    allowance=None,
    engines=(EnginePlan("chatgpt", 2.0, every=2), EnginePlan("gemini", 1.0, every=3)),
    brands=(
        BrandPlan("Initech", "initech.example", 0.4, 0.5, own=True),
        BrandPlan("Globex", "globex.example", 0.5, 0.6),
    ),
    prompts=INITECH,
    terms=("initech",),
)

_NEWCO = HostPlan(
    number=3,
    host="newco.example",
    share=0.0,
    days=0,
    plan="starter",
    allowance=10,
    engines=(EnginePlan("chatgpt"), EnginePlan("perplexity")),
    brands=(
        BrandPlan("NewCo", "newco.example", own=True),
        BrandPlan("Acme CRM", "acme.example"),
    ),
    prompts=NEWCO,
)

HOSTS = (_ACME, _GLOBEX, _INITECH, _NEWCO)

RESETS_ON = date(2026, 12, 1)
