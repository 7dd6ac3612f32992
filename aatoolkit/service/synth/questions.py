"""The prompts that the projects of the synthetic world ask."""

from __future__ import annotations

from dataclasses import dataclass


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


_STARTUPS, _SALES = "CRM for startups", "Sales automation"
_SUPPORT, _OUTREACH = "Support & service", "B2B/B2C outreach"
_COMMERCIAL, _INFORMATIONAL, _HOW = "commercial", "informational", "how-to (basics)"

ACME = (
    PromptPlan("best crm for a small team", _STARTUPS, _COMMERCIAL, volume=720, band="100-1K"),
    PromptPlan("crm for startups with a free plan", _STARTUPS, _COMMERCIAL, volume=390),
    PromptPlan("which crm do founders like most?", _STARTUPS, _COMMERCIAL, band="10-100"),
    PromptPlan("cheapest crm with an api", _STARTUPS, _COMMERCIAL, volume=0, band="0-10"),
    PromptPlan("what is a crm good for", _STARTUPS, _INFORMATIONAL, "informational", volume=5400),
    PromptPlan("acme crm review", _STARTUPS, _COMMERCIAL, branded=True, volume=210),
    PromptPlan("acme crm or globex?", _STARTUPS, _COMMERCIAL, "comparison", branded=True),
    PromptPlan("how to choose a crm", _STARTUPS, _HOW, "informational", volume=880),
    PromptPlan("best sales automation tool", _SALES, _COMMERCIAL, volume=1900, band="1K-10K"),
    PromptPlan("automate follow-up mails", _SALES, _HOW, "informational", volume=320),
    PromptPlan('what does "lead scoring" mean', _SALES, _INFORMATIONAL, "informational"),
    PromptPlan(
        "sales automation für den Mittelstand",
        _SALES,
        _COMMERCIAL,
        country="DE",
        language="de",
        volume=140,
    ),
    PromptPlan("sales pipeline software compared", _SALES, _COMMERCIAL, "comparison", volume=590),
    PromptPlan("is sales automation worth it", _SALES, _INFORMATIONAL, None, volume=70),
    PromptPlan("crm with a help desk", _SUPPORT, _COMMERCIAL, volume=260, band="100-1K"),
    PromptPlan("best customer service software", _SUPPORT, _COMMERCIAL, volume=2400),
    PromptPlan("shared inbox & crm in one", _SUPPORT, _COMMERCIAL, country="GB"),
    PromptPlan("how to measure support quality", _SUPPORT, _HOW, "informational", country=None),
    PromptPlan("cold outreach tools", _OUTREACH, _COMMERCIAL, volume=480),
    PromptPlan("b2b contact database", _OUTREACH, _COMMERCIAL, volume=1300, branded=None),
    PromptPlan(
        "is cold mail legal in the EU?",
        _OUTREACH,
        _INFORMATIONAL,
        "informational",
        country="FR",
        volume=110,
    ),
    PromptPlan("best crm for agencies", None, _COMMERCIAL, volume=90),
    PromptPlan("crm データ移行", None, None, None, country="JP", language="ja"),
    PromptPlan("old crm names", _STARTUPS, _INFORMATIONAL, "informational", until=70, volume=20),
    PromptPlan("crm for public agencies", _SALES, _COMMERCIAL, weight=0.0),
)

GLOBEX = (
    PromptPlan("enterprise crm with audit trail", "Enterprise", _COMMERCIAL, volume=880),
    PromptPlan("crm for 5,000 seats", "Enterprise", _COMMERCIAL, volume=50),
    PromptPlan("globex pricing", "Enterprise", _COMMERCIAL, branded=True, volume=1300),
    PromptPlan("crm with data residency", "Compliance", _COMMERCIAL, country="DE"),
    PromptPlan("what is data residency", "Compliance", _INFORMATIONAL, "informational", volume=700),
    PromptPlan("globex or acme crm", "Compliance", _COMMERCIAL, "comparison", branded=True),
    PromptPlan("crm migration checklist", None, _INFORMATIONAL, "informational", volume=320),
    PromptPlan("crm for hospitals", "Enterprise", None, volume=None, until=30),
)

INITECH = (
    PromptPlan("tps report software", "Reporting", _COMMERCIAL, volume=40),
    PromptPlan("how to automate reports", "Reporting", _INFORMATIONAL, "informational"),
    PromptPlan("initech alternatives", "Reporting", _COMMERCIAL, "comparison", branded=True),
    PromptPlan("reporting tool with crm", None, _COMMERCIAL),
)

NEWCO = (
    PromptPlan("crm for new companies", "First steps", _COMMERCIAL, weight=0.0),
    PromptPlan("first crm to buy", "First steps", _COMMERCIAL, weight=0.0),
    PromptPlan("what is newco", "First steps", _INFORMATIONAL, branded=True, weight=0.0),
)
