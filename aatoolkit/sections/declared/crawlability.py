"""Crawlability: what an examination of the site found for crawlers and assistants.

What robots.txt declares and what the server does are two things, in two columns.
"""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    BYTES,
    CHECKS,
    FRACTION,
    HTTP_STATUS,
    MILLISECONDS,
    SCORE,
    SUM,
)
from aatoolkit.sections.declared._vocabulary import PURPOSES
from aatoolkit.sections.section import Column, Section, Table, keyed, records, single

SECTION = Section(
    "crawlability",
    "How well crawlers and assistants can use the site.",
    Table(
        "crawlability_score",
        "One row per fetch.",
        single(),
        key="domain",
        columns=(
            Column("domain", "string", "The project's domain.", source="$.domain"),
            Column("checked_at", "timestamp", "When the site was examined, in UTC."),
            Column(
                "score",
                "Float64",
                "The applicable checks that passed, as a percentage.",
                source="score.value",
                unit=SCORE,
            ),
            Column(
                "passed",
                "Int64",
                "Checks that passed.",
                source="score.passed",
                unit=CHECKS,
                aggregate=SUM,
            ),
            Column(
                "failed",
                "Int64",
                "Checks that failed.",
                source="score.failed",
                unit=CHECKS,
                aggregate=SUM,
            ),
            Column(
                "warning",
                "Int64",
                "Checks that gave a warning.",
                source="score.warning",
                unit=CHECKS,
                aggregate=SUM,
            ),
            Column(
                "skipped",
                "Int64",
                "Checks that did not apply.",
                source="score.skipped",
                unit=CHECKS,
                aggregate=SUM,
            ),
            Column(
                "applicable",
                "Int64",
                "Checks that applied: passed, failed and warning together.",
                source="score.applicable",
                unit=CHECKS,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "crawlability_bot_access",
        "One row per crawler.",
        records("robots.agents"),
        key="bot",
        columns=(
            Column("bot", "string", "The crawler."),
            Column("operator", "string", "Who runs it."),
            Column("purpose", "category", "What it fetches pages for.", levels=PURPOSES),
            Column(
                "access",
                "category",
                "What robots.txt declares; the server may do otherwise, see `server_status`.",
                levels=("allowed", "blocked", "partial", "unknown"),
            ),
            Column(
                "explicit_rule",
                "boolean",
                "Whether robots.txt names the crawler; null = not known.",
            ),
            Column("rule", "string", "The rule that decides; null = none does."),
            Column(
                "server_status",
                "Int64",
                "The status the server answers the crawler with; null = not tried.",
                unit=HTTP_STATUS,
            ),
        ),
    ),
    Table(
        "crawlability_files",
        "One row per well-known file.",
        keyed("files", key="file"),
        key="file",
        columns=(
            Column(
                "file",
                "category",
                "Which file.",
                levels=("robotsTxt", "llmsTxt", "sitemapXml"),
            ),
            Column("present", "boolean", "Whether it is there."),
            Column("http_status", "Int64", "The status it came with.", unit=HTTP_STATUS),
            Column("bytes", "Int64", "Its size; null where it is absent.", unit=BYTES),
        ),
    ),
    Table(
        "crawlability_pages",
        "One row per page examined.",
        records("pages"),
        key="url",
        columns=(
            Column("url", "string", "The page's address."),
            Column("http_status", "Int64", "The status it came with.", unit=HTTP_STATUS),
            Column("indexable", "boolean", "Whether it may be indexed."),
            Column("requires_javascript", "boolean", "Whether its text needs JavaScript."),
            Column(
                "visible_text_ratio",
                "Float64",
                "Its text that is visible without JavaScript, of all its text.",
                unit=FRACTION,
            ),
            Column(
                "ttfb_ms",
                "Int64",
                "Time to the first byte; lower is better.",
                unit=MILLISECONDS,
            ),
        ),
    ),
    Table(
        "crawlability_page_assistants",
        "One row per page, engine and capability.",
        keyed("pages[].assistants", key=("engine", "capability")),
        key=("url", "engine", "capability"),
        columns=(
            Column("url", "string", "The page; refers to `crawlability_pages`.", source="^url"),
            Column("engine", "string", "The engine; one that is absent was not examined."),
            Column(
                "capability",
                "category",
                "What the engine may do: fetch it live, find it in its index, train on it.",
                levels=("retrievable", "findable", "trainable"),
            ),
            Column(
                "result",
                "category",
                "What was found; not_applicable and unknown are not failures.",
                source=".",
                levels=("ok", "failed", "not_applicable", "unknown"),
            ),
        ),
    ),
    Table(
        "crawlability_checks",
        "One row per page and check.",
        records("pages[].checks"),
        key=("url", "check_id"),
        columns=(
            Column("url", "string", "The page; refers to `crawlability_pages`.", source="^url"),
            Column("check_id", "string", "The check."),
            Column(
                "group",
                "category",
                "What the check belongs to.",
                levels=("access", "delivery", "content"),
            ),
            Column(
                "result",
                "category",
                "What it found; skipped = it did not apply.",
                source="status",
                levels=("passed", "failed", "warning", "skipped"),
            ),
            Column("detail", "string", "What it found, in words."),
        ),
    ),
    kept=("robots.url", "robots.httpStatus"),
)
