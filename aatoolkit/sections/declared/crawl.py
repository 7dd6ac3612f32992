"""Crawl: requests of AI crawlers, as the gateway in front of the site recorded them."""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    HTTP_STATUS,
    MAX,
    MIN,
    NOT_ADDITIVE,
    REQUESTS,
    SUM,
    Aggregation,
)
from aatoolkit.sections.declared._vocabulary import PURPOSES
from aatoolkit.sections.section import Column, Section, Table, keyed, parallel, records, single

SECTION = Section(
    "crawl",
    "Observed activity of AI crawlers.",
    Table(
        "crawl_bots",
        "One row per crawler.",
        records("bots"),
        key="bot",
        columns=(
            Column("bot", "string", "The crawler."),
            Column("operator", "string", "Who runs it."),
            Column("purpose", "category", "What it fetches pages for.", levels=PURPOSES),
            Column(
                "requests",
                "Int64",
                "Requests made in its name.",
                unit=REQUESTS,
                aggregate=SUM,
            ),
            Column(
                "verified_requests",
                "Int64",
                "Requests proved to be its own; the others may be of impostors.",
                unit=REQUESTS,
                aggregate=SUM,
            ),
            Column(
                "verification",
                "category",
                "How requests are told from impostors'; user_agent_only proves nothing.",
                levels=("ip_range", "reverse_dns", "web_bot_auth", "user_agent_only"),
            ),
            Column(
                "unique_paths",
                "Int64",
                "Distinct paths it asked for; crawlers share paths.",
                unit="distinct paths",
                aggregate=NOT_ADDITIVE,
            ),
            Column("last_seen_at", "timestamp", "Its last request, in UTC.", aggregate=MAX),
        ),
    ),
    Table(
        "crawl_gateway",
        "One row per fetch: how the domain is connected.",
        single("gateway"),
        key="domain",
        columns=(
            Column("domain", "string", "The project's domain.", source="$.domain"),
            Column(
                "cname_state",
                "category",
                "Whether the CNAME record points at the gateway.",
                source="cname.state",
                levels=("connected", "pending", "not_configured", "error"),
            ),
            Column(
                "cname_host",
                "string",
                "The name that points at the gateway.",
                source="cname.host",
            ),
            Column(
                "dcv_state",
                "category",
                "How domain control validation stands.",
                source="dcv.state",
                levels=("valid", "pending", "failed", "expired"),
            ),
            Column(
                "dcv_validated_at",
                "timestamp",
                "When control of the domain was proved, in UTC.",
                source="dcv.validatedAt",
            ),
            Column(
                "dcv_expires_at",
                "timestamp",
                "When that proof expires, in UTC.",
                source="dcv.expiresAt",
            ),
            Column(
                "first_event_at",
                "timestamp",
                "The first request recorded, in UTC; nothing before it was measured.",
                aggregate=MIN,
            ),
            Column(
                "last_event_at",
                "timestamp",
                "The last request recorded, in UTC.",
                aggregate=MAX,
            ),
        ),
    ),
    Table(
        "crawl_bot_statuses",
        "One row per crawler and class of HTTP status.",
        keyed("bots[].statusCounts", key="status_class"),
        key=("bot", "status_class"),
        columns=(
            Column("bot", "string", "The crawler; refers to `crawl_bots`.", source="^bot"),
            Column(
                "status_class",
                "category",
                "The class of the status it was answered with.",
                levels=("2xx", "3xx", "4xx", "5xx"),
            ),
            Column(
                "requests",
                "Int64",
                "Requests answered with such a status.",
                source=".",
                unit=REQUESTS,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "crawl_timeseries",
        "One row per bucket of time and crawler.",
        parallel("series.requests", axis="series.timestamps", key="bot", name="bucket_start"),
        key=("bucket_start", "bot"),
        columns=(
            Column("bucket_start", "timestamp", "The start of the hour or day, in UTC."),
            Column("bot", "string", "The crawler; refers to `crawl_bots`."),
            Column(
                "requests",
                "Int64",
                "Requests in the bucket; null = bucket not observed, 0 = observed and none.",
                source=".",
                unit=REQUESTS,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "crawl_paths",
        "One row per path.",
        records("paths"),
        key="path",
        columns=(
            Column("path", "string", "The path that was asked for."),
            Column("requests", "Int64", "Requests for it.", unit=REQUESTS, aggregate=SUM),
            Column(
                "last_crawled_at",
                "timestamp",
                "The last request for it, in UTC.",
                aggregate=MAX,
            ),
            Column(
                "last_status",
                "Int64",
                "The status that request was answered with.",
                unit=HTTP_STATUS,
            ),
            Column(
                "cited_answer_count",
                "Int64",
                "Answers that cite the path; null = citations are not counted.",
                unit=COUNT,
                aggregate=Aggregation(
                    "sum", why="one answer may cite several paths: these are answer-path pairs"
                ),
            ),
        ),
    ),
    Table(
        "crawl_path_bots",
        "One row per path and crawler.",
        keyed("paths[].byBot", key="bot"),
        key=("path", "bot"),
        columns=(
            Column("path", "string", "The path; refers to `crawl_paths`.", source="^path"),
            Column("bot", "string", "The crawler; refers to `crawl_bots`."),
            Column(
                "requests",
                "Int64",
                "Requests of the crawler for the path.",
                source=".",
                unit=REQUESTS,
                aggregate=SUM,
            ),
        ),
    ),
    kept=("totals", "series.bucket", "gateway.cname.target"),
)
