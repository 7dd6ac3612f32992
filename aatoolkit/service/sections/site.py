"""Sections on the site: requests of crawlers, and an examination of its pages.

**Crawl.** Which crawlers requested which paths. The time series counts requests by hour or by day.
A count of 0 means that there were no requests, and all hours were recorded. If there were no
requests but some hours were not recorded, the count is null.

**Crawlability.** The results of the latest examination of the site, for crawlers and assistants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit.service.answer import (
    SectionAvailability,
    SectionResponse,
    State,
    explain_no_rows,
    register_section,
)
from aatoolkit.service.measures import are_citations_counted
from aatoolkit.service.observations import JsonObject, Observations

# --- crawl -------------------------------------------------------------------------------------

_RECORDED_HOURS_SQL = """
SELECT count(*) AS hours, max(hour) AS last_hour
FROM (SELECT host, hour FROM store.crawler_hours UNION SELECT host, hour FROM store.crawler_hits)
WHERE host = $host AND CAST(hour AS DATE) BETWEEN $window_start AND $window_end
"""

_CRAWL_TOTALS_SQL = """
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

_CRAWLERS_SQL = """
WITH classes AS (
  SELECT bot, list((concat(hundred, 'xx'), n) ORDER BY concat(hundred, 'xx')) AS counts
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
  paths AS "uniquePaths",
  map_from_entries(coalesce(counts, [])) AS "statusCounts", seen_at AS "lastSeenAt"
FROM seen LEFT JOIN classes USING (bot) LEFT JOIN store.bots USING (bot)
ORDER BY requests DESC, bot
"""

_TIME_BUCKETS_SQL = """
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

_REQUEST_SERIES_SQL = f"""
WITH {_TIME_BUCKETS_SQL},
counted AS (
  SELECT bot, date_trunc($bucket, hour) AS start, CAST(sum(requests) AS BIGINT) AS n
  FROM hit_hours GROUP BY ALL
)
SELECT bot, list(CASE WHEN n IS NULL AND hours = $hours THEN 0 ELSE n END ORDER BY start)
  AS requests
FROM (SELECT DISTINCT bot FROM hit_hours) CROSS JOIN buckets LEFT JOIN counted USING (bot, start)
GROUP BY bot ORDER BY sum(n) DESC, bot
"""

_CRAWLED_PATHS_SQL = """
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

_JSON_PATHS_BY_COLUMN = {
    "verified_requests": ("totals.verifiedRequests", "bots[].verifiedRequests"),
    "bytes": ("totals.bytes",),
    "path": ("totals.uniquePaths", "bots[].uniquePaths", "paths"),
    "status": ("bots[].statusCounts", "paths[].lastStatus"),
}
"""The JSON paths of the fields that are computed from an optional column, by column."""

_GATEWAY_SQL = """
SELECT {'state': cname_state, 'host': cname_host, 'target': cname_target} AS cname,
  {'state': dcv_state, 'validatedAt': dcv_validated_at, 'expiresAt': dcv_expires_at} AS dcv,
  first_at AS "firstEventAt", last_at AS "lastEventAt"
FROM (
  SELECT min(hour) AS first_at, max(coalesce(last_at, hour)) AS last_at
  FROM store.crawler_hits WHERE host = $host AND CAST(hour AS DATE) <= $window_end
) LEFT JOIN (SELECT * FROM store.gateways WHERE host = $host) ON TRUE
"""

_REQUIREMENT_BY_SETTING = {
    "cname": ("connected", "CNAME gateway is not connected."),
    "dcv": ("valid", "Domain control validation is not complete."),
}
_TOTAL_COLUMNS = ("requests", "verifiedRequests", "uniqueBots", "uniquePaths", "bytes")


@register_section("crawl", filters=("engine",))
def crawl(observations: Observations) -> SectionResponse:
    """Return the section ``crawl``: the requests of AI crawlers for pages of the host.

    The engine filter selects the crawlers of its engines.
    """
    gateway = observations.fetch_row(_GATEWAY_SQL)
    time_unit = "hour" if observations.window.days == 7 else "day"
    body: JsonObject = {
        "gateway": gateway,
        "totals": dict.fromkeys(_TOTAL_COLUMNS),
        "bots": [],
        "series": {"bucket": time_unit, "timestamps": [], "requests": {}},
        "paths": [],
    }
    has_records = observations.has_rows("crawler_hits") or observations.has_rows("crawler_hours")
    if not observations.has_rows("gateways") and not has_records:
        gateway["cname"]["state"] = "not_configured"
    if observations.has_rows("gateways") or not has_records:
        missing_settings = [
            setting_name
            for setting_name, (required_state, _) in _REQUIREMENT_BY_SETTING.items()
            if gateway[setting_name]["state"] != required_state
        ]
        if missing_settings:
            reason = " ".join(
                _REQUIREMENT_BY_SETTING[setting_name][1] for setting_name in missing_settings
            )
            availability = SectionAvailability(
                "not_connected", reason, requires=tuple(missing_settings)
            )
            return SectionResponse(body, availability)
    totals_row = observations.fetch_row(_CRAWL_TOTALS_SQL)
    availability = _find_crawl_availability(observations, totals_row)
    if availability.status != "unavailable":
        # Without requests all totals are 0; else a total that no request recorded is null.
        total_by_name = {name: totals_row[name] for name in _TOTAL_COLUMNS}
        total_by_name["uniquePaths"] = total_by_name["uniquePaths"] or None
        body["totals"] = (
            total_by_name if totals_row["uniqueBots"] else dict.fromkeys(_TOTAL_COLUMNS, 0)
        )
        body["bots"] = observations.fetch_rows(_CRAWLERS_SQL)
        timestamps_sql = f"WITH {_TIME_BUCKETS_SQL} SELECT start FROM buckets ORDER BY start"
        body["series"]["timestamps"] = observations.fetch_column(timestamps_sql, bucket=time_unit)
        hours_per_bucket = 1 if time_unit == "hour" else 24
        series_rows = observations.fetch_rows(
            _REQUEST_SERIES_SQL, bucket=time_unit, hours=hours_per_bucket
        )
        body["series"]["requests"] = {row["bot"]: row["requests"] for row in series_rows}
        body["paths"] = observations.fetch_rows(
            _CRAWLED_PATHS_SQL, counted=are_citations_counted(observations)
        )
    return SectionResponse(body, availability)


def _find_crawl_availability(
    observations: Observations, totals_row: Mapping[str, Any]
) -> SectionAvailability:
    """Return the availability of the section (kind of response) ``crawl``.

    It is ``partial`` if some hours were not recorded. ``totals_row`` has the number of requests,
    and how many of them have no value in an optional column.
    """
    requested_engines = observations.scope.filter_values("engine")
    if requested_engines and not observations.fetch_value(
        "SELECT count(*) > 0 FROM store.bots WHERE list_contains($engine, engine)"
    ):
        reason = f"No crawler of {', '.join(requested_engines)} is known."
        return SectionAvailability("unavailable", reason)
    hour_count_row = observations.fetch_row(_RECORDED_HOURS_SQL)
    expected_hour_count = 24 * observations.window.days
    missing_hour_count = expected_hour_count - hour_count_row["hours"]
    if missing_hour_count == expected_hour_count:
        return SectionAvailability("unavailable", "No hour in the window has a record.")
    state_by_path = {}
    for column, json_paths in _JSON_PATHS_BY_COLUMN.items():
        if request_count := totals_row[f"without_{column}"]:
            status = "unavailable" if request_count == totals_row["requests"] else "partial"
            reason = f"Not recorded for {request_count} of {totals_row['requests']} requests."
            state_by_path.update(dict.fromkeys(json_paths, State(status, reason)))
    return SectionAvailability(
        "partial" if missing_hour_count else "available",
        f"{missing_hour_count} of {expected_hour_count} hours in the window have no record."
        if missing_hour_count
        else None,
        as_of=totals_row["last_seen"] or hour_count_row["last_hour"],
        fields=state_by_path,
    )


# --- crawlability ------------------------------------------------------------------------------

_LATEST_CHECK_SQL = """
SELECT checked_at, {'url': robots_url, 'httpStatus': robots_status} AS robots
FROM store.site_checks
WHERE host = $host AND CAST(checked_at AS DATE) <= $window_end
ORDER BY checked_at DESC LIMIT 1
"""

# Skipped checks did not apply; without any check there is nothing to count.
_CHECK_SCORE_SQL = """
WITH counted AS (
  SELECT count(*) FILTER (result = 'passed') AS passed,
    count(*) FILTER (result = 'failed') AS failed,
    count(*) FILTER (result = 'warning') AS warning,
    count(*) FILTER (result = 'skipped') AS skipped,
    count(*) FILTER (result <> 'skipped') AS applicable
  FROM store.page_checks WHERE host = $host AND checked_at = $checked_at HAVING count(*) > 0
)
SELECT 100 * passed / nullif(applicable, 0) AS value, passed, failed, warning, skipped, applicable
FROM (SELECT 1) LEFT JOIN counted ON TRUE
"""

_ROBOTS_RULES_SQL = """
SELECT bot, operator, purpose, access, explicit_rule AS "explicitRule", rule,
  server_status AS "serverStatus"
FROM store.robots_rules LEFT JOIN store.bots USING (bot)
WHERE host = $host AND checked_at = $checked_at ORDER BY bot
"""

_SITE_FILES_SQL = """
SELECT file, present, http_status AS "httpStatus", bytes FROM store.site_files
WHERE host = $host AND checked_at = $checked_at
ORDER BY list_position(['robotsTxt', 'llmsTxt', 'sitemapXml'], file)
"""

_CHECKED_PAGES_SQL = """
WITH capable AS (
  SELECT url, engine, map_from_entries(list((capability, result)
    ORDER BY list_position(['retrievable', 'findable', 'trainable'], capability))) AS capabilities
  FROM store.page_capabilities
  WHERE host = $host AND checked_at = $checked_at
    AND (len($engine) = 0 OR list_contains($engine, engine))
  GROUP BY url, engine
),
assisted AS (
  SELECT url, list((engine, capabilities) ORDER BY engine) AS assistants
  FROM capable GROUP BY url
),
checked AS (
  SELECT url, list({
    'checkId': check_id, 'group': "group", 'status': result, 'detail': detail
  } ORDER BY check_id) AS checks
  FROM store.page_checks WHERE host = $host AND checked_at = $checked_at GROUP BY url
)
SELECT url, http_status AS "httpStatus", indexable,
  requires_javascript AS "requiresJavascript", visible_text_ratio AS "visibleTextRatio",
  ttfb_ms AS "ttfbMs", map_from_entries(coalesce(assistants, [])) AS assistants,
  coalesce(checks, []) AS checks
FROM store.page_audits LEFT JOIN assisted USING (url) LEFT JOIN checked USING (url)
WHERE host = $host AND checked_at = $checked_at ORDER BY url
"""

_CHECK_TEXT_BY_JSON_PATH = {
    "robots.agents": "the rules for crawlers",
    "files": "well-known files",
    "pages": "pages",
    "score": "single checks of pages",
}


@register_section("crawlability", filters=("engine",))
def crawlability(observations: Observations) -> SectionResponse:
    """Return the section ``crawlability``: the results of the latest examination of the site.

    The score is the percentage of checks that passed.
    """
    body: JsonObject = {
        "checkedAt": None,
        "score": dict.fromkeys(["value", "passed", "failed", "warning", "skipped", "applicable"]),
        "robots": {"url": None, "httpStatus": None, "agents": []},
        "files": {},
        "pages": [],
    }
    latest_check_row = next(iter(observations.fetch_rows(_LATEST_CHECK_SQL)), None)
    if latest_check_row is None:
        default_reason = "The site was not examined up to the end of this window."
        reason = explain_no_rows(observations, "site_checks") or default_reason
        return SectionResponse(body, SectionAvailability("unavailable", reason))
    checked_at = body["checkedAt"] = latest_check_row["checked_at"]
    body["score"] = observations.fetch_row(_CHECK_SCORE_SQL, checked_at=checked_at)
    robots_rules = observations.fetch_rows(_ROBOTS_RULES_SQL, checked_at=checked_at)
    body["robots"] = {**latest_check_row["robots"], "agents": robots_rules}
    body["files"] = {
        row.pop("file"): row
        for row in observations.fetch_rows(_SITE_FILES_SQL, checked_at=checked_at)
    }
    body["pages"] = observations.fetch_rows(_CHECKED_PAGES_SQL, checked_at=checked_at)
    # The examination may lack some of its parts.
    value_by_path = {"robots.agents": body["robots"]["agents"], **body}
    value_by_path["score"] = any(value is not None for value in body["score"].values())
    state_by_path = {
        json_path: State("unavailable", f"This examination did not look at {check_text}.")
        for json_path, check_text in _CHECK_TEXT_BY_JSON_PATH.items()
        if not value_by_path[json_path]
    }
    availability = SectionAvailability(
        sample_count=len(body["pages"]), as_of=checked_at, fields=state_by_path
    )
    return SectionResponse(body, availability)
