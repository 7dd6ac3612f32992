"""Synthetic visits to the sites, and the conversions that followed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.pages import OWN_PATHS
from aatoolkit.service.synth.random_columns import (
    FIXED,
    Flags,
    Integers,
    between,
    chance,
    days,
    numbered,
    observed,
    pick,
    stream,
    unless,
    weighted,
)
from aatoolkit.service.synth.world import HISTORY_DAYS, TODAY, HostPlan

_ENGINES = (None, "chatgpt", "perplexity", "gemini", "copilot")
_ENGINE_WEIGHTS = (85.0, 9.0, 3.0, 2.0, 1.0)
_AI_RATE, _OTHER_RATE = 0.026, 0.017
_LATE = 0.3
"""The part of the last day's conversions that has arrived."""


def draw_visits(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw the visits and conversions of a project that records them."""
    analytics = next(iter(FIXED.get(plan.host, {}).get("analytics", ())), None)
    if analytics is None or analytics["provider"] == "none":
        return {}
    rng = stream(seed, plan.number, 50)
    day = np.sort(TODAY - between(rng, 0, HISTORY_DAYS - 1, count))
    engine = weighted(rng, _ENGINE_WEIGHTS, count)
    visits = _visits(plan, rng, day, engine)
    rate = np.where(engine > 0, _AI_RATE, _OTHER_RATE) * np.where(day == TODAY, _LATE, 1.0)
    converted = np.flatnonzero(chance(rng, rate, count))
    priced = "currency" in analytics
    conversions = _conversions(plan, rng, converted, priced=priced)
    return {"visits": visits, "conversions": conversions}


def _visits(plan: HostPlan, rng: np.random.Generator, day: Integers, engine: Integers) -> pa.Table:
    count = len(day)
    counted = plan.host == "acme.example"
    visitor = between(rng, 1, max(count * 4 // 5, 1), count)
    anonymous: Flags = np.full(count, not counted)
    path = weighted(rng, list(OWN_PATHS.values()), count)
    return observed(
        "visits",
        plan.host,
        visit_id=numbered("v_", count),
        day=days(day),
        engine=pick(_ENGINES, engine),
        visitor_id=unless(anonymous, pick(numbered("u_", count), visitor - 1)),
        path=unless(chance(rng, 0.02, count), pick(list(OWN_PATHS), path)),
        engaged=chance(rng, np.where(engine > 0, 0.7, 0.5), count),
        seconds=np.floor(rng.random(count) * 2_600) / 10,
    )


def _conversions(
    plan: HostPlan, rng: np.random.Generator, visit: Integers, *, priced: bool
) -> pa.Table:
    count = len(visit)
    revenue = between(rng, 2_000, 40_000, count) / 100
    return observed(
        "conversions",
        plan.host,
        conversion_id=numbered("cv_", count),
        visit_id=pa.array([f"v_{number + 1:06d}" for number in visit], pa.string()),
        revenue=unless(chance(rng, 0.05, count) | (not priced), revenue),
    )
