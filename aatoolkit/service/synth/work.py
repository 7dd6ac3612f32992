"""Synthetic work of the projects' people: actions, experiments, notes."""

from __future__ import annotations

from datetime import date
from hashlib import md5
from typing import Any

import pyarrow as pa

from aatoolkit.service.synth.answers import MOVED_PROMPTS, SALES
from aatoolkit.service.synth.random_columns import instant, listed, tabled
from aatoolkit.service.synth.world import HostPlan

_ACTIONS: tuple[dict[str, Any], ...] = (
    {
        "action_id": "act_1",
        "group": "offsite",
        "type": "listicle_outreach",
        "title": "Get listed on reviews.example",
        "state": "open",
        "created_at": instant("2026-11-12T00:00:00Z"),
        "priority": "high",
        "score": 0.82,
        "effort": "m",
        "target_url": "https://reviews.example/best-crm",
        "target_domain": "reviews.example",
        "topic": "CRM for startups",
        "category": "commercial",
        "impact_metric": "citationShare",
        "impact_low": 0.005,
        "impact_high": 0.015,
        "impact_unit": "fraction",
        "steps": ["Contact the editor", "Offer updated pricing data"],
        "evidence_prompt_ids": ["pr_1", "pr_4"],
        "evidence_competitors": ["Globex"],
        "updated_at": instant("2026-11-20T06:10:00Z"),
    },
    {
        "action_id": "act_2",
        "group": "onsite",
        "type": "content_gap",
        "title": "Write about sales automation",
        "state": "in_progress",
        "created_at": instant("2026-10-30T08:00:00Z"),
        "priority": "medium",
        "score": 0.55,
        "effort": "l",
        "topic": SALES,
        "engine": "chatgpt",
        "brand": "Acme CRM",
        "impact_metric": "mentionRate",
        "impact_low": 0.0,
        "impact_high": 0.1,
        "impact_unit": "fraction",
        "steps": ["Outline", "Write", "Have it reviewed"],
        "evidence_prompt_ids": ["pr_9", "pr_10"],
        "evidence_competitors": ["Globex", "Monday.example"],
        "updated_at": instant("2026-11-17T09:30:00Z"),
    },
    {
        "action_id": "act_3",
        "group": "technical",
        "type": "crawler_access",
        "title": "Let ChatGPT-User in at the edge",
        "state": "open",
        "created_at": instant("2026-11-20T04:10:00Z"),
        "steps": [],
        "evidence_prompt_ids": [],
        "evidence_competitors": [],
    },
    {
        "action_id": "act_4",
        "group": "offsite",
        "type": "forum_answer",
        "title": "Answer the thread on forum.example",
        "state": "dismissed",
        "created_at": instant("2026-09-02T12:00:00Z"),
        "priority": "low",
        "score": 0.0,
        "effort": "s",
        "target_url": "https://forum.example/t/4711",
        "target_domain": "forum.example",
        "engine": "perplexity",
        "updated_at": instant("2026-09-05T12:00:00Z"),
    },
    {
        "action_id": "act_5",
        "group": "onsite",
        "type": "page_refresh",
        "title": "Refresh two comparison pages",
        "state": "done",
        "created_at": instant("2026-10-01T00:00:00Z"),
        "priority": "high",
        "score": 0.9,
        "effort": "m",
        "target_url": "https://acme.example/compare/globex",
        "target_domain": "acme.example",
        "category": "commercial",
        "steps": ["Refresh the prices", "Date the page"],
        "evidence_prompt_ids": list(MOVED_PROMPTS),
        "updated_at": instant("2026-10-21T15:00:00Z"),
    },
)

_GLOBEX_ACTION: dict[str, Any] = {
    "action_id": "act_1",
    "group": "onsite",
    "type": "page_refresh",
    "title": "Refresh the page on data residency",
    "state": "open",
    "created_at": instant("2026-11-01T00:00:00Z"),
    "topic": "Compliance",
    "engine": "google-ai-overview",
    "brand": "Globex Lite",
}

_EXPERIMENTS: tuple[dict[str, Any], ...] = (
    {
        "action_id": "act_5",
        "title": "Refresh two comparison pages",
        "completed_on": date(2026, 10, 21),
        "before_start": date(2026, 9, 21),
        "before_end": date(2026, 10, 20),
        "after_start": date(2026, 10, 22),
        "after_end": date(2026, 11, 20),
        "prompt_ids": list(MOVED_PROMPTS),
        "metrics": ["mentionRate", "citationCount"],
        "control": "prompts not touched by the action",
    },
    {
        "action_id": "act_6",
        "title": "Add structured data",
        "completed_on": date(2026, 9, 20),
        "before_start": date(2026, 8, 21),
        "before_end": date(2026, 9, 19),
        "after_start": date(2026, 9, 21),
        "after_end": date(2026, 10, 20),
        "metrics": ["mentionRate"],
    },
    {
        "action_id": "act_7",
        "title": "Publish a glossary",
        "completed_on": date(2026, 11, 17),
        "before_start": date(2026, 11, 14),
        "before_end": date(2026, 11, 16),
        "after_start": date(2026, 11, 18),
        "after_end": date(2026, 11, 20),
        "prompt_ids": ["pr_11", "pr_14"],
        "metrics": ["mentionRate"],
    },
)

_ANNOTATIONS = (
    (date(2026, 11, 5), "ChatGPT model update", "engine_change"),
    (date(2026, 11, 5), "New prices", "own_change"),
    (date(2026, 8, 14), "Fair & congress", None),
)

_INSIGHTS = (
    ("visibility_change|chatgpt|Acme CRM|", "seen"),
    ("visibility_change||Acme CRM|", "new"),
    ("sentiment_change||Acme CRM|", "dismissed"),
    ("citation_loss||Acme CRM|acme.example", "seen"),
)
"""What an insight is about, as the service names it, and what was done with it."""


def work(plan: HostPlan) -> dict[str, pa.Table]:
    """The actions, experiments and notes of a project."""
    if plan.number == 1:
        return {"actions": listed("actions", plan.host, [_GLOBEX_ACTION])}
    if plan.number > 1:
        return {}
    states = [(f"ins_{_digest(name)}", state) for name, state in _INSIGHTS]
    return {
        "actions": listed("actions", plan.host, _ACTIONS),
        "experiments": listed("experiments", plan.host, _EXPERIMENTS),
        "annotations": tabled("annotations", plan.host, _ANNOTATIONS),
        "insight_states": tabled("insight_states", plan.host, states),
    }


def _digest(name: str) -> str:
    return md5(name.encode(), usedforsecurity=False).hexdigest()[:12]
