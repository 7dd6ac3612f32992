"""Crawlability: what the last examination of the site found for crawlers and assistants."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, State, not_held, section
from aatoolkit.service.observations import Observations

_LATEST = """
SELECT checked_at, robots_url, robots_status FROM store.site_checks
WHERE host = $host AND CAST(checked_at AS DATE) <= $window_end
ORDER BY checked_at DESC LIMIT 1
"""

# Skipped checks did not apply; without any check there is nothing to count.
_SCORE = """
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

_AGENTS = """
SELECT bot, operator, purpose, access, explicit_rule AS "explicitRule", rule,
  server_status AS "serverStatus"
FROM store.robots_rules LEFT JOIN store.bots USING (bot)
WHERE host = $host AND checked_at = $checked_at ORDER BY bot
"""

_FILES = """
SELECT file, present, http_status AS "httpStatus", bytes FROM store.site_files
WHERE host = $host AND checked_at = $checked_at
ORDER BY list_position(['robotsTxt', 'llmsTxt', 'sitemapXml'], file)
"""

_PAGES = """
WITH capable AS (
  SELECT url, engine, map_from_entries(list((capability, result)
    ORDER BY list_position(['retrievable', 'findable', 'trainable'], capability))) AS capabilities
  FROM store.page_capabilities
  WHERE host = $host AND checked_at = $checked_at
    AND (len($engine) = 0 OR list_contains($engine, engine))
  GROUP BY url, engine
),
assisted AS (
  SELECT url, map_from_entries(list((engine, capabilities) ORDER BY engine)) AS assistants
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
  ttfb_ms AS "ttfbMs", assistants, coalesce(checks, []) AS checks
FROM store.page_audits LEFT JOIN assisted USING (url) LEFT JOIN checked USING (url)
WHERE host = $host AND checked_at = $checked_at ORDER BY url
"""

_PARTS = (
    ("robots.agents", "robots_rules", "the rules for crawlers"),
    ("files", "site_files", "well-known files"),
    ("pages", "page_audits", "pages"),
    ("score", "page_checks", "single checks of pages"),
)


@section("crawlability", filters=("engine",))
def crawlability(o: Observations) -> SectionAnswer:
    """Give the latest examination up to the window's end; the engine filter picks assistants.

    The score is the percentage of applicable checks that passed; a warning did not pass.
    """
    latest = next(iter(o.rows(_LATEST)), None)
    if latest is None:
        reason = (
            "The site was not examined up to the end of this window."
            if o.observed("site_checks")
            else not_held("site_checks")
        )
        return SectionAnswer(_body(), SectionAvailability("unavailable", reason))
    at = latest["checked_at"]
    pages = o.rows(_PAGES, checked_at=at)
    for page in pages:
        page["assistants"] = page["assistants"] or {}
    body = {
        "checkedAt": at,
        "score": o.row(_SCORE, checked_at=at),
        "robots": {
            "url": latest["robots_url"],
            "httpStatus": latest["robots_status"],
            "agents": o.rows(_AGENTS, checked_at=at),
        },
        "files": {row["file"]: _without(row, "file") for row in o.rows(_FILES, checked_at=at)},
        "pages": pages,
    }
    availability = SectionAvailability(sample_count=len(pages), as_of=at, fields=_unexamined(o, at))
    return SectionAnswer(body, availability)


def _unexamined(o: Observations, checked_at: datetime) -> dict[str, State]:
    """The states of fields for which the examination holds nothing."""
    return {
        path: State("unavailable", f"This examination did not look at {what}.")
        for path, table, what in _PARTS
        if not o.value(
            f"SELECT count(*) > 0 FROM store.{table}"
            " WHERE host = $host AND checked_at = $checked_at",
            checked_at=checked_at,
        )
    }


def _without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def _body() -> dict[str, Any]:
    counts = ("value", "passed", "failed", "warning", "skipped", "applicable")
    return {
        "checkedAt": None,
        "score": dict.fromkeys(counts),
        "robots": {"url": None, "httpStatus": None, "agents": []},
        "files": {},
        "pages": [],
    }
