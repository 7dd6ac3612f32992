"""Synthetic projects, set up before anything is observed: engines, brands, prompts."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa

from aatoolkit.service.synth.random_columns import listed
from aatoolkit.service.synth.world import AS_OF, ENGINES, RESETS_ON, HostPlan


def projects(plan: HostPlan) -> dict[str, pa.Table]:
    """The tables that describe one project."""
    return {
        "projects": listed("projects", plan.host, [_project(plan)]),
        "engines": listed(
            "engines",
            plan.host,
            [
                {**ENGINES[engine.engine], "engine": engine.engine, "configured": engine.configured}
                for engine in plan.engines
            ],
        ),
        "brands": listed(
            "brands",
            plan.host,
            [
                {
                    "brand": brand.brand,
                    "tracked": brand.tracked,
                    "own": brand.own,
                    "domain": brand.domain,
                }
                for brand in plan.brands
            ],
        ),
        "own_terms": listed("own_terms", plan.host, [{"term": term} for term in plan.terms]),
        "prompts": listed("prompts", plan.host, _prompts(plan)),
    }


def _observed_from(plan: HostPlan) -> date | None:
    return AS_OF.date() - timedelta(days=plan.days - 1) if plan.days else None


def _project(plan: HostPlan) -> dict[str, object]:
    allowed = plan.allowance is not None
    return {
        "as_of": AS_OF,
        "observed_from": _observed_from(plan),
        "plan": plan.plan,
        "prompt_allowance": plan.allowance,
        "engine_allowance": 5 if allowed else None,
        "allowance_resets_on": RESETS_ON if allowed else None,
    }


def _prompts(plan: HostPlan) -> list[dict[str, object]]:
    start = datetime.combine(_observed_from(plan) or AS_OF.date(), time(9), UTC)
    return [
        {
            "prompt_id": f"pr_{number}",
            "prompt": prompt.text,
            "topic": prompt.topic,
            "category": prompt.category,
            "intent": prompt.intent,
            "branded": prompt.branded,
            "country": prompt.country,
            "language": prompt.language,
            "active": prompt.active,
            "volume_estimate": prompt.volume,
            "volume_band": prompt.band,
            "created_at": start - timedelta(days=2, minutes=number) if prompt.weight else AS_OF,
        }
        for number, prompt in enumerate(plan.prompts, 1)
    ]
