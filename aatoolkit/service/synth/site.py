"""The sites' own logs: requests of crawlers that the gateway recorded, visits and conversions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.columns import (
    between,
    chance,
    drawn,
    instants,
    numbered,
    pick,
    stream,
    unless,
    weighted,
)
from aatoolkit.service.synth.world import HISTORY_DAYS, OWN_PATHS, ROWS, TODAY, HostPlan

_FIRST_HOUR, _LAST_HOUR = (TODAY - 80) * 24 + 10, TODAY * 24 + 23
_UNKNOWN_BOT = "UnlistedBot/1.0 (+https://unlisted.example)"
_PATHS = (*OWN_PATHS, "/robots.txt", "/gone", "/.env", "/wp-login.php")
_STATUSES = np.array([200, 200, 200, 301, 404, 429, 500, 503])
_ENGINES = (None, "chatgpt", "perplexity", "gemini", "copilot")


def draw_crawlers(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw what the gateway recorded of a project that is connected to it."""
    if "connected" not in plan.values("gateways", "cname_state"):
        return {}
    hours = np.arange(_FIRST_HOUR, _LAST_HOUR + 1, dtype=np.int64)
    age, clock = TODAY - hours // 24, hours % 24
    down = (age == 37) | ((age == 17) & (clock >= 5) & (clock < 9)) | ((age == 0) & (clock == 3))
    hours = hours[~down]
    rng = stream(seed, plan.number, 40)
    hour = np.sort(hours[weighted(rng, np.ones(len(hours)), count)])
    bot = weighted(rng, (40, 12, 18, 22, 9, 2, 3, 2), count)
    path = weighted(rng, [*OWN_PATHS.values(), 6, 1.5, 0.8, 0.8], count)
    # Mostly 200; paths that disguised scanners request are never there.
    status = _STATUSES[weighted(rng, (60, 20, 10, 3, 2, 1, 0.5, 0.5), count)]
    status = np.where((bot == 4) & (rng.random(count) < 0.3), 403, status)
    status = np.where(path >= _PATHS.index("/gone"), 404, status)
    requests = 1 + weighted(rng, (6, 3, 2, 1, 1), count)
    bots = [row["bot"] for row in ROWS[""]["bots"]]
    impostors = chance(rng, 0.06, count).astype(np.int64)
    second = between(rng, 0, 1_790, count)
    hits = drawn(
        "crawler_hits",
        plan.host,
        hour=instants(0, hour * 3_600),
        bot=pick([*bots, _UNKNOWN_BOT], bot),
        requests=requests,
        path=unless(chance(rng, 0.02, count), pick(_PATHS, path)),
        status=unless(chance(rng, 0.01, count), status),
        site=pick([plan.host, f"www.{plan.host}", None], weighted(rng, (8, 1, 1), count)),
        verified_requests=unless(bot >= len(bots) - 1, requests - impostors),
        bytes=unless(chance(rng, 0.03, count), np.where(status == 200, 9_000, 300) * requests),
        last_at=instants(0, hour * 3_600 + second),
    )
    recorded = drawn("crawler_hours", plan.host, hour=instants(0, hours * 3_600))
    return {"crawler_hours": recorded, "crawler_hits": hits}


def draw_visits(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw the visits and conversions of a project that records them."""
    analytics = next(iter(plan.rows("analytics")), {"provider": "none"})
    if analytics["provider"] == "none":
        return {}
    rng = stream(seed, plan.number, 50)
    day = np.sort(TODAY - between(rng, 0, HISTORY_DAYS - 1, count))
    engine = weighted(rng, (85.0, 9.0, 3.0, 2.0, 1.0), count)
    visitor = between(rng, 1, max(count * 4 // 5, 1), count)
    path = weighted(rng, [*OWN_PATHS.values()], count)
    anonymous = np.full(count, plan.host != "acme.example")
    visits = drawn(
        "visits",
        plan.host,
        visit_id=numbered("v_", count),
        day=pa.array(day.astype(np.int32)).cast(pa.date32()),
        engine=pick(_ENGINES, engine),
        visitor_id=unless(anonymous, pick(numbered("u_", count), visitor - 1)),
        path=unless(chance(rng, 0.02, count), pick([*OWN_PATHS], path)),
        engaged=chance(rng, np.where(engine > 0, 0.7, 0.5), count),
        seconds=np.floor(rng.random(count) * 2_600) / 10,
    )
    # Of the conversions of the last day a part has arrived.
    rate = np.where(engine > 0, 0.026, 0.017) * np.where(day == TODAY, 0.3, 1.0)
    visit = np.flatnonzero(chance(rng, rate, count))
    revenue = between(rng, 2_000, 40_000, len(visit)) / 100
    unpriced = chance(rng, 0.05, len(visit)) | ("currency" not in analytics)
    conversions = drawn(
        "conversions",
        plan.host,
        conversion_id=numbered("cv_", len(visit)),
        visit_id=pick(numbered("v_", count), visit),
        revenue=unless(unpriced, revenue),
    )
    return {"visits": visits, "conversions": conversions}
