"""Synthetic crawlers, and their requests that the gateway recorded hour by hour."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.pages import OWN_PATHS
from aatoolkit.service.synth.random_columns import (
    FIXED,
    Flags,
    Integers,
    between,
    chance,
    day_number,
    instants,
    observed,
    pick,
    stream,
    unless,
    weighted,
)
from aatoolkit.service.synth.world import TODAY, HostPlan

_SINCE = day_number(date(2026, 9, 1)) * 24 + 10
_UNTIL = TODAY * 24 + 23
_HALF_PAST = 1_790

_UNKNOWN_BOT = "UnlistedBot/1.0 (+https://unlisted.example)"
_BOT_WEIGHTS = (40, 12, 18, 22, 9, 2, 3, 2)
_PATHS = (*OWN_PATHS, "/robots.txt", "/gone", "/.env", "/wp-login.php")
_STATUSES = np.array([200, 200, 200, 301, 404, 429, 500, 503])


def draw_crawlers(plan: HostPlan, seed: int, count: int) -> dict[str, pa.Table]:
    """Draw what the gateway recorded of a project that is connected to it."""
    gateways = FIXED.get(plan.host, {}).get("gateways", ())
    if not any(gateway["cname_state"] == "connected" for gateway in gateways):
        return {}
    hours = _recorded()
    zeros = np.zeros(len(hours), dtype=np.int64)
    return {
        "crawler_hours": observed("crawler_hours", plan.host, hour=instants(zeros, hours * 3_600)),
        "crawler_hits": _hits(plan, seed, hours, count),
    }


def _recorded() -> Integers:
    """The hours since the gateway went live, without those in which it was not recording."""
    hours = np.arange(_SINCE, _UNTIL + 1, dtype=np.int64)
    day, hour = TODAY - hours // 24, hours % 24
    down: Flags = (
        (day == 37) | ((day == 17) & (hour >= 5) & (hour < 9)) | ((day == 0) & (hour == 3))
    )
    return hours[~down]


def _hits(plan: HostPlan, seed: int, hours: Integers, count: int) -> pa.Table:
    rng = stream(seed, plan.number, 40)
    hour = np.sort(hours[weighted(rng, np.ones(len(hours)), count)])
    bot = weighted(rng, _BOT_WEIGHTS, count)
    path = weighted(rng, [*OWN_PATHS.values(), 6, 1.5, 0.8, 0.8], count)
    status = _status(rng, bot, path)
    requests = 1 + weighted(rng, (6, 3, 2, 1, 1), count)
    names = [row["bot"] for row in FIXED[""]["bots"]]
    unverifiable = bot >= len(names) - 1
    impostors = np.where(chance(rng, 0.06, count), 1, 0)
    zeros, second = np.zeros(count, dtype=np.int64), between(rng, 0, _HALF_PAST, count)
    return observed(
        "crawler_hits",
        plan.host,
        hour=instants(zeros, hour * 3_600),
        bot=pick([*names, _UNKNOWN_BOT], bot),
        requests=requests,
        path=unless(chance(rng, 0.02, count), pick(_PATHS, path)),
        status=unless(chance(rng, 0.01, count), status),
        site=pick([plan.host, f"www.{plan.host}", None], weighted(rng, (8, 1, 1), count)),
        verified_requests=unless(unverifiable, requests - impostors),
        bytes=unless(chance(rng, 0.03, count), np.where(status == 200, 9_000, 300) * requests),
        last_at=instants(zeros, hour * 3_600 + second),
    )


def _status(rng: np.random.Generator, bot: Integers, path: Integers) -> Integers:
    """Draw HTTP statuses, mostly 200; paths that disguised scanners request are never there."""
    usual = _STATUSES[weighted(rng, (60, 20, 10, 3, 2, 1, 0.5, 0.5), len(path))]
    missing = path >= _PATHS.index("/gone")
    forbidden = (bot == 4) & (rng.random(len(path)) < 0.3)
    return np.where(missing, 404, np.where(forbidden, 403, usual))
