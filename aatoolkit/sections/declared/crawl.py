"""Crawl: requests of AI crawlers, recorded by the gateway (a proxy in front of the site)."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_CRAWLER_COLUMN = text("bot", "The crawler; refers to `crawl_bots`.")

SECTION = Section(
    "crawl", "Observed activity of AI crawlers.",
    Table("crawl_bots", "One row per crawler.", records("bots"), key="bot", columns=(
        *BOT_COLUMNS,
        count("requests", "Requests under its name.", unit=REQUESTS),
        count("verified_requests", "Requests proved to be from it.", unit=REQUESTS),
        category("verification", "How impostors are recognised; user_agent_only proves nothing.",
            ("ip_range", "reverse_dns", "web_bot_auth", "user_agent_only")),
        integer("unique_paths", "Distinct paths; crawlers share paths.", unit="distinct paths", aggregate=NOT_ADDITIVE),
        timestamp("last_seen_at", "Time of its last request, in UTC.", aggregate=MAX),
    )),
    Table("crawl_gateway", "One row per fetch: how the domain is connected.", single("gateway"), key="domain", columns=(
        DOMAIN_COLUMN,
        category("cname_state", "State of the CNAME record.", ("connected", "pending", "not_configured", "error"),
            "cname.state"),
        text("cname_host", "The name that points at the gateway.", "cname.host"),
        category("dcv_state", "State of domain control validation.", ("valid", "pending", "failed", "expired"),
            "dcv.state"),
        timestamp("dcv_validated_at", "When domain control was validated, in UTC.", "dcv.validatedAt"),
        timestamp("dcv_expires_at", "When that proof expires, in UTC.", "dcv.expiresAt"),
        timestamp("first_event_at", "The first recorded request, in UTC; nothing was measured earlier.", aggregate=MIN),
        timestamp("last_event_at", "The last request recorded, in UTC.", aggregate=MAX),
    )),
    Table("crawl_bot_statuses", "One row per crawler and class of HTTP status.",
        keyed("bots[].statusCounts", key="status_class"), key=("bot", "status_class"), columns=(
        ref("bot", "The crawler; refers to `crawl_bots`."),
        category("status_class", "The class of the response status.", ("2xx", "3xx", "4xx", "5xx")),
        count("requests", "Requests answered with such a status.", ".", unit=REQUESTS),
    )),
    Table("crawl_timeseries", "One row per bucket of time and crawler.",
        records("series.requests{}", key="bot"),
        key=("bucket_start", "bot"), columns=(
        timestamp("bucket_start", "The start of the hour or day, in UTC.", "$.series.timestamps[@1]"),
        _CRAWLER_COLUMN,
        count("requests", "Requests in the bucket; missing if it was not observed.", ".", unit=REQUESTS),
    )),
    Table("crawl_paths", "One row per path.", records("paths"), key="path", columns=(
        text("path", "The requested path."),
        count("requests", "Requests for the path.", unit=REQUESTS),
        timestamp("last_crawled_at", "Time of the last request for it, in UTC.", aggregate=MAX),
        integer("last_status", "The HTTP status of that response.", unit=HTTP_STATUS),
        CITED_ANSWERS_COLUMN,
    )),
    Table("crawl_path_bots", "One row per path and crawler.", keyed("paths[].byBot", key="bot"), key=("path", "bot"),
        columns=(
        ref("path", "The path; refers to `crawl_paths`."),
        _CRAWLER_COLUMN,
        count("requests", "Requests of the crawler for the path.", ".", unit=REQUESTS),
    )),
    kept=("totals", "series.bucket", "gateway.cname.target"),
)
