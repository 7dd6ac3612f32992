"""Crawler activity: which crawlers asked for which paths, as the gateway recorded it.

An hour the gateway was not recording is not an hour without requests: a bucket of the
series is null unless requests were seen in it, and 0 only where every one of its hours is
known to have been recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, State, section
from aatoolkit.service.observations import Observations
from aatoolkit.service.sources import citations_are_counted, enumerate_words

_RECORDED = """
SELECT count(*) AS hours, max(hour) AS last_hour
FROM (SELECT host, hour FROM store.crawler_hours UNION SELECT host, hour FROM store.crawler_hits)
WHERE host = $host AND CAST(hour AS DATE) BETWEEN $window_start AND $window_end
"""

_EVENTS = """
SELECT min(hour) AS first_at, max(coalesce(last_at, hour)) AS last_at
FROM store.crawler_hits WHERE host = $host AND CAST(hour AS DATE) <= $window_end
"""

_TOTALS = """
SELECT CAST(coalesce(sum(requests), 0) AS BIGINT) AS requests,
  CAST(sum(verified_requests) AS BIGINT) AS "verifiedRequests",
  count(DISTINCT bot) AS "uniqueBots", count(DISTINCT path) AS "uniquePaths",
  CAST(sum(bytes) AS BIGINT) AS bytes, max(latest.seen_at) AS last_seen,
  CAST(sum(without_verified) AS BIGINT) AS without_verified_requests,
  CAST(sum(without_bytes) AS BIGINT) AS without_bytes,
  CAST(sum(requests) FILTER (path IS NULL) AS BIGINT) AS without_path,
  CAST(sum(requests) FILTER (status IS NULL) AS BIGINT) AS without_status
FROM hit_totals
"""

_BOTS = """
WITH classes AS (
  SELECT bot, map_from_entries(list((concat(hundred, 'xx'), n) ORDER BY concat(hundred, 'xx')))
    AS counts
  FROM (
    SELECT bot, status // 100 AS hundred, CAST(sum(requests) AS BIGINT) AS n
    FROM hit_totals WHERE status IS NOT NULL GROUP BY ALL
  )
  GROUP BY bot
), seen AS (
  SELECT bot, CAST(sum(requests) AS BIGINT) AS requests,
    CAST(sum(verified_requests) AS BIGINT) AS verified,
    nullif(count(DISTINCT path), 0) AS paths, max(latest.seen_at) AS seen_at
  FROM hit_totals GROUP BY bot
)
SELECT bot, operator, purpose, requests, verified AS "verifiedRequests", verification,
  paths AS "uniquePaths", counts AS "statusCounts", seen_at AS "lastSeenAt"
FROM seen LEFT JOIN classes USING (bot) LEFT JOIN store.bots USING (bot)
ORDER BY requests DESC, bot
"""

_BUCKETS = """
buckets AS (
  SELECT start, count(DISTINCT listed.hour) AS hours
  FROM generate_series(
    CAST($window_start AS TIMESTAMP), CAST($window_end AS TIMESTAMP) + INTERVAL 23 HOUR,
    CAST(concat('1 ', $bucket) AS INTERVAL)
  ) AS series(start)
  LEFT JOIN (SELECT hour FROM store.crawler_hours WHERE host = $host) AS listed
    ON date_trunc($bucket, CAST(listed.hour AS TIMESTAMP)) = start
  GROUP BY start
)
"""

_SERIES = f"""
WITH {_BUCKETS},
counted AS (
  SELECT bot, date_trunc($bucket, hour) AS start, CAST(sum(requests) AS BIGINT) AS n
  FROM hit_hours GROUP BY ALL
)
SELECT bot, list(CASE WHEN n IS NULL AND hours = $hours THEN 0 ELSE n END ORDER BY start)
  AS requests
FROM (SELECT DISTINCT bot FROM hit_hours) CROSS JOIN buckets LEFT JOIN counted USING (bot, start)
GROUP BY bot ORDER BY sum(n) DESC, bot
"""

_PATHS = """
WITH sites AS (
  SELECT path, lower(site) AS site FROM hit_totals WHERE site IS NOT NULL
  UNION SELECT path, unnest([$host, 'www.' || $host]) FROM hit_totals
),
cited AS (
  SELECT path, count(DISTINCT chat_id) AS n FROM citations
  JOIN (SELECT url, path FROM page_paths JOIN sites USING (site, path)) USING (url)
  WHERE cited GROUP BY path
),
crawlers AS (
  SELECT path, bot, CAST(sum(requests) AS BIGINT) AS n FROM hit_totals GROUP BY path, bot
),
by_path AS (
  SELECT path, map_from_entries(list((bot, n) ORDER BY n DESC, bot)) AS by_bot
  FROM crawlers GROUP BY path
),
counted AS (
  SELECT path, CAST(sum(requests) AS BIGINT) AS requests, max(latest.seen_at) AS seen_at,
    last(status ORDER BY latest.seen_at, latest.hour, bot, status NULLS FIRST) AS status
  FROM hit_totals WHERE path IS NOT NULL GROUP BY path
)
SELECT path, requests, seen_at AS "lastCrawledAt", status AS "lastStatus", by_bot AS "byBot",
  CASE WHEN $counted THEN coalesce(n, 0) END AS "citedAnswerCount"
FROM counted JOIN by_path USING (path) LEFT JOIN cited USING (path)
ORDER BY requests DESC, path
"""

_RECORDING = {
    "verified_requests": ("totals.verifiedRequests", "bots[].verifiedRequests"),
    "bytes": ("totals.bytes",),
    "path": ("totals.uniquePaths", "bots[].uniquePaths", "paths"),
    "status": ("bots[].statusCounts", "paths[].lastStatus"),
}
"""Columns of a request that may not be recorded, and the fields that rest on them."""

_REQUIRED = {
    "cname": "CNAME gateway is not connected.",
    "dcv": "Domain control validation is not complete.",
}


@section("crawl", filters=("engine",))
def crawl(o: Observations) -> SectionAnswer:
    """Give the requests of the crawlers in scope; the engine filter picks their crawlers.

    A host with records but no gateway has logs of its own, and is served from them.
    """
    gateway = next(iter(o.rows("SELECT * FROM store.gateways WHERE host = $host")), None)
    held = o.observed("crawler_hits") or o.observed("crawler_hours")
    bucket = "hour" if o.window.days == 7 else "day"
    body: dict[str, Any] = {
        "gateway": _gateway(o, gateway, held),
        "totals": dict.fromkeys(
            ("requests", "verifiedRequests", "uniqueBots", "uniquePaths", "bytes")
        ),
        "bots": [],
        "series": {"bucket": bucket, "timestamps": [], "requests": {}},
        "paths": [],
    }
    requires = _requires(gateway, held)
    if requires:
        reason = " ".join(_REQUIRED[name] for name in requires)
        return SectionAnswer(body, SectionAvailability("not_connected", reason, requires=requires))
    totals = o.row(_TOTALS)
    availability = _availability(o, totals)
    if availability.status != "unavailable":
        body |= _activity(o, bucket, totals)
    return SectionAnswer(body, availability)


def _requires(gateway: Mapping[str, Any] | None, held: bool) -> tuple[str, ...]:
    if gateway is None:
        return () if held else tuple(_REQUIRED)
    lacking = {
        "cname": gateway["cname_state"] != "connected",
        "dcv": gateway["dcv_state"] != "valid",
    }
    return tuple(name for name, lacks in lacking.items() if lacks)


def _gateway(o: Observations, gateway: Mapping[str, Any] | None, held: bool) -> dict[str, Any]:
    known = gateway or {"cname_state": None if held else "not_configured"}
    events = o.row(_EVENTS)
    return {
        "cname": {
            "state": known["cname_state"],
            "host": known.get("cname_host"),
            "target": known.get("cname_target"),
        },
        "dcv": {
            "state": known.get("dcv_state"),
            "validatedAt": known.get("dcv_validated_at"),
            "expiresAt": known.get("dcv_expires_at"),
        },
        "firstEventAt": events["first_at"],
        "lastEventAt": events["last_at"],
    }


def _activity(o: Observations, bucket: str, totals: dict[str, Any]) -> dict[str, Any]:
    bots = o.rows(_BOTS)
    for bot in bots:
        bot["statusCounts"] = bot["statusCounts"] or {}
    hours = 1 if bucket == "hour" else 24
    return {
        "totals": _recorded(totals),
        "bots": bots,
        "series": {
            "bucket": bucket,
            "timestamps": o.column(
                f"WITH {_BUCKETS} SELECT start FROM buckets ORDER BY start", bucket=bucket
            ),
            "requests": {
                row["bot"]: row["requests"] for row in o.rows(_SERIES, bucket=bucket, hours=hours)
            },
        },
        "paths": o.rows(_PATHS, counted=citations_are_counted(o)),
    }


def _recorded(totals: Mapping[str, Any]) -> dict[str, Any]:
    """The totals: without a request all are 0, else null is what was recorded of none."""
    names = ("requests", "verifiedRequests", "uniqueBots", "uniquePaths", "bytes")
    if not totals["uniqueBots"]:
        return dict.fromkeys(names, 0)
    return {name: totals[name] for name in names} | {"uniquePaths": totals["uniquePaths"] or None}


def _availability(o: Observations, totals: Mapping[str, Any]) -> SectionAvailability:
    requested = o.question.filter("engine")
    if requested and not o.value(
        "SELECT count(*) > 0 FROM store.bots WHERE list_contains($engine, engine)"
    ):
        reason = f"No crawler of {enumerate_words(requested)} is known."
        return SectionAvailability("unavailable", reason)
    recorded = o.row(_RECORDED)
    expected = 24 * o.window.days
    missing = expected - recorded["hours"]
    if missing == expected:
        return SectionAvailability("unavailable", "No hour in the window has a record.")
    return SectionAvailability(
        "partial" if missing else "available",
        f"{missing} of {expected} hours in the window have no record." if missing else None,
        as_of=totals["last_seen"] or recorded["last_hour"],
        fields=_unrecorded(totals),
    )


def _unrecorded(totals: Mapping[str, Any]) -> dict[str, State]:
    """The states of fields that rest on facts not recorded for all requests."""
    states = {}
    for name, paths in _RECORDING.items():
        without = totals[f"without_{name}"]
        if without:
            status = "unavailable" if without == totals["requests"] else "partial"
            reason = f"Not recorded for {without} of {totals['requests']} requests."
            states.update(dict.fromkeys(paths, State(status, reason)))
    return states
