"""Crawlability: whether robots.txt and the server let crawlers and assistants read the site."""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_HTTP_STATUS_COLUMN = integer("http_status", "The status it came with.", unit=HTTP_STATUS)
_PAGE_URL_COLUMN = ref("url", "The page; refers to `crawlability_pages`.")

SECTION = Section(
    "crawlability", "How well crawlers and assistants can use the site.",
    Table("crawlability_score", "One row per fetch.", single(), key="domain", columns=(
        DOMAIN_COLUMN,
        timestamp("checked_at", "When the site was examined, in UTC."),
        score("score", "The applicable checks that passed, as a percentage.", "score.value", aggregate=NO_SAMPLE_RULE),
        count("passed", "Checks that passed.", "score.passed", unit=CHECKS),
        count("failed", "Checks that failed.", "score.failed", unit=CHECKS),
        count("warning", "Checks that gave a warning.", "score.warning", unit=CHECKS),
        count("skipped", "Checks that did not apply.", "score.skipped", unit=CHECKS),
        count("applicable", "Checks that applied: passed, failed, warning.", "score.applicable", unit=CHECKS),
    )),
    Table("crawlability_bot_access", "One row per crawler.", records("robots.agents"), key="bot", columns=(
        *BOT_COLUMNS,
        category("access", "What robots.txt declares; for what the server does see `server_status`.",
            ("allowed", "blocked", "partial", "unknown")),
        flag("explicit_rule", "Whether robots.txt names the crawler."),
        text("rule", "The rule that decides, if one does."),
        integer("server_status", "The HTTP status returned to the crawler.", unit=HTTP_STATUS),
    )),
    Table("crawlability_files", "One row per well-known file.", keyed("files", key="file"), key="file", columns=(
        category("file", "The well-known file.", ("robotsTxt", "llmsTxt", "sitemapXml")),
        flag("present", "Whether the site has the file."),
        _HTTP_STATUS_COLUMN,
        integer("bytes", "Size of the file.", unit=BYTES),
    )),
    Table("crawlability_pages", "One row per page examined.", records("pages"), key="url", columns=(
        text("url", "The page's address."),
        _HTTP_STATUS_COLUMN,
        flag("indexable", "Whether the page may be indexed."),
        flag("requires_javascript", "Whether the text of the page needs JavaScript."),
        fraction("visible_text_ratio", "Share of its text that needs no JavaScript.", aggregate=NO_SAMPLE_RULE),
        integer("ttfb_ms", "Time to the first byte; lower is better.", unit=MILLISECONDS),
    )),
    Table("crawlability_page_assistants", "One row per page, engine and capability.",
        keyed("pages[].assistants", key=("engine", "capability")), key=("url", "engine", "capability"), columns=(
        _PAGE_URL_COLUMN,
        text("engine", "The engine; one without a row was not examined."),
        category("capability", "What the engine may do: fetch it live, index it, train on it.",
            ("retrievable", "findable", "trainable")),
        category("result", "Result; not_applicable and unknown are no failures.",
            ("ok", "failed", "not_applicable", "unknown"), "."),
    )),
    Table("crawlability_checks", "One row per page and check.", records("pages[].checks"), key=("url", "check_id"),
        columns=(
        _PAGE_URL_COLUMN,
        text("check_id", "The check."),
        category("group", "Group of the check.", ("access", "delivery", "content")),
        category("result", "The result of the check; skipped if it did not apply.",
            ("passed", "failed", "warning", "skipped"), "status"),
        text("detail", "What the check found, in words."),
    )),
    kept=("robots.url", "robots.httpStatus"),
)
