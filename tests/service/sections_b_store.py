"""A synthetic store small enough to count on paper, and how to ask it for a section."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

import aatoolkit.service.sections  # noqa: F401  registers the sections
from aatoolkit.service.answer import SECTIONS, SectionAnswer, wire
from aatoolkit.service.question import Question
from aatoolkit.service.schema import TABLES
from aatoolkit.service.store import Store

HOST = "acme.example"
REVIEWS, FORUM, WIKI = "reviews.example", "forum.example", "wiki.example"
BEST, CRM = f"https://{REVIEWS}/best", f"https://{REVIEWS}/crm"
TALK, ARTICLE = f"https://{FORUM}/talk", f"https://{WIKI}/crm"
PRICING = f"https://{HOST}/pricing?plan=team#top"

Rows = list[dict[str, Any]]


def rows(columns: str, *values: tuple[Any, ...]) -> Rows:
    return [dict(zip(columns.split(), row, strict=True)) for row in values]


def at(day: int, hour: int = 0, minute: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


def nov(day: int) -> date:
    return date(2026, 11, day)


OBSERVED: dict[str, Rows] = {
    "projects": rows("as_of observed_from", (at(20, 23, 30), date(2026, 8, 1))),
    "engines": rows(
        "engine label configured exposes_fanouts exposes_retrieval shows_ads ads_checked"
        " shopping_checked separable_traffic referrers",
        ("aio", "AI Overviews", True, False, True, False, False, False, False, []),
        ("chatgpt", "ChatGPT", True, True, True, True, True, True, True, ["chatgpt.example"]),
        ("gemini", "Gemini", True, True, False, True, True, True, True, ["gemini.example"]),
    ),
    "brands": rows(
        "brand tracked own domain",
        ("Acme CRM", True, True, HOST),
        ("Globex", True, False, "globex.example"),
        ("Initech", True, False, None),
    ),
    "prompts": rows(
        "prompt_id prompt topic category country",
        ("p1", "best crm", "Startups", "commercial", "US"),
        ("p2", "crm for sales", "Sales", "commercial", "US"),
        ("p3", "what is crm", None, "informational", "US"),
    ),
    "answers": rows(
        "chat_id prompt_id engine ran_at outcome answer_text answer_format",
        ("a0", "p1", "chatgpt", at(1, month=9), "answered", "Old.", "text"),
        ("b1", "p1", "chatgpt", at(10), "answered", "Before.", "text"),
        ("a1", "p1", "chatgpt", at(20, 5), "answered", "Globex, Acme CRM.", "text"),
        ("a2", "p2", "chatgpt", at(19, 5), "answered", "Globex.", "text"),
        ("a3", "p1", "gemini", at(20, 6), "answered", "Acme CRM.", "text"),
        ("a4", "p3", "aio", at(18, 5), "answered", "A crm is a crm.", "text"),
        ("a5", "p1", "gemini", at(20, 7), "empty", None, None),
    ),
    "mentions": rows(
        "chat_id brand position",
        *(("a1", "Globex", 1), ("a1", "Acme CRM", 2), ("a2", "Globex", 1), ("a3", "Acme CRM", 1)),
    ),
    "citations": rows(
        "chat_id n url source_domain cited title",
        ("a0", 1, BEST, REVIEWS, True, "Best of 2025"),
        ("b1", 1, TALK, FORUM, True, None),
        ("a1", 1, BEST, REVIEWS, True, "Best"),
        ("a1", 2, PRICING, HOST, False, None),
        ("a1", 3, BEST, REVIEWS, True, None),
        ("a2", 1, CRM, REVIEWS, True, None),
        ("a2", 2, TALK, FORUM, True, None),
        ("a2", 3, ARTICLE, WIKI, True, None),
        ("a2", 4, BEST, REVIEWS, False, None),
        ("a3", 1, PRICING, HOST, True, None),
        ("a3", 2, TALK, FORUM, True, None),
        ("a4", 1, BEST, REVIEWS, True, "Best of 2026"),
    ),
    "source_domains": rows(
        "source_domain domain_type", (REVIEWS, "editorial"), (FORUM, "ugc"), (HOST, "owned")
    ),
    "source_pages": rows("url page_type", (BEST, "listicle")),
    "source_page_brands": rows(
        "url brand mentioned", (BEST, "Acme CRM", False), (BEST, "Globex", True)
    ),
    "fanouts": rows(
        "chat_id query_index query",
        ("a1", 0, "Best CRM 2026"),
        ("a1", 1, "acme-crm reviews"),
        ("a2", 0, "Best CRM 2026"),
    ),
    "queries": rows("query intent own_organic_rank", ("Best CRM 2026", "commercial", 7)),
    "advertisers": rows("advertiser domain own tracked", ("Globex", "globex.example", False, True)),
    "ads": rows(
        "ad_id engine observed_at chat_id prompt_id advertiser",
        ("ad1", "chatgpt", at(20, 5), "a1", "p1", "Globex"),
        ("ad2", "chatgpt", at(19, 5), None, None, "DeskCo"),
    ),
    "ad_cards": rows(
        "ad_id card headline price_amount price_currency",
        ("ad1", 1, "Close more", 599.0, "USD"),
        ("ad1", 2, "Try free", None, None),
    ),
    "products": rows(
        "product_id title brand rating_value rating_max stock_status",
        ("q9", "Desk", "Acme CRM", 4.7, 5.0, "in_stock"),
        ("q10", "E7", "Globex", None, None, "preorder"),
    ),
    "product_attributes": rows("product_id attribute value", ("q9", "Warranty", "15 years")),
    "product_mentions": rows(
        "chat_id product_id position", ("a1", "q9", 1), ("a1", "q10", 2), ("a3", "q10", 1)
    ),
    "offers": rows(
        "product_id offer_position merchant merchant_domain price_amount price_currency",
        ("q9", 1, "Uplift", "u.example", 600.0, "USD"),
        ("q9", 2, "Uplift", "u.example", 500.0, "USD"),
        ("q9", 3, "BigBox", "bb.example", 1.0, "EUR"),
        ("q10", 1, "BigBox", "bb.example", None, None),
    ),
    "gateways": rows("cname_state dcv_state", ("connected", "valid")),
    "bots": rows(
        "bot operator purpose engine",
        ("GPTBot", "OpenAI", "training", "chatgpt"),
        ("GeminiBot", "Google", "indexing", "gemini"),
    ),
    "crawler_hits": rows(
        "hour bot requests path status verified_requests bytes last_at",
        (at(20, 22), "GPTBot", 3, "/pricing", 200, 3, 30, at(20, 22, 30)),
        (at(20, 23), "GPTBot", 1, "/old", 404, 1, 5, None),
        (at(19, 10), "GeminiBot", 2, None, None, None, None, None),
    ),
    "crawler_hours": rows(
        "hour", *((at(19, hour),) for hour in range(24)), (at(20, 22),), (at(20, 23),)
    ),
    "site_checks": rows("checked_at robots_status", (at(1, 4), 500), (at(20, 4), 200)),
    "robots_rules": rows("checked_at bot access", (at(20, 4), "GPTBot", "blocked")),
    "site_files": rows(
        "checked_at file present http_status",
        *((at(20, 4), "sitemapXml", True, 200), (at(20, 4), "robotsTxt", True, 200)),
        (at(20, 4), "llmsTxt", False, 404),
    ),
    "page_audits": rows("checked_at url ttfb_ms", (at(20, 4), PRICING, 310)),
    "page_capabilities": rows(
        "checked_at url engine capability result",
        *(
            (at(20, 4), PRICING, engine, capability, "ok")
            for engine in ("chatgpt", "gemini")
            for capability in ("findable", "retrievable", "trainable")
        ),
    ),
    "page_checks": rows(
        "checked_at url check_id group result",
        (at(20, 4), PRICING, "a", "access", "passed"),
        (at(20, 4), PRICING, "b", "content", "failed"),
        (at(20, 4), PRICING, "c", "content", "warning"),
        (at(20, 4), PRICING, "d", "content", "skipped"),
    ),
    "analytics": rows("provider currency conversions_through", ("ga4", "USD", nov(19))),
    "visits": rows(
        "visit_id day engine visitor_id path engaged seconds",
        ("v1", nov(19), "chatgpt", "u1", "/pricing", True, 100.0),
        ("v2", nov(19), "chatgpt", "u1", None, False, 50.0),
        ("v3", nov(19), None, "u3", "/", True, 9.0),
        ("v4", nov(20), "chatgpt", "u2", "/pricing", True, 60.0),
        ("v5", nov(18), None, "u4", "/", True, 9.0),
        ("v6", nov(19), "aio", "u5", "/", True, 9.0),
    ),
    "conversions": rows(
        "conversion_id visit_id revenue",
        *(("c1", "v1", 100.0), ("c2", "v4", 7.0), ("c3", "v3", 5.0)),
    ),
}


def store(changes: dict[str, Rows | None] | None = None) -> Store:
    """The store above, with some tables replaced, or left out where None is given."""
    tables = {**OBSERVED, **(changes or {})}
    return Store.of(
        {
            name: pa.Table.from_pylist(
                [row if name == "bots" else {"host": HOST, **row} for row in given],
                schema=TABLES[name].arrow,
            )
            for name, given in tables.items()
            if given is not None
        }
    )


def ask(source: Store, name: str, days: int = 7, /, **filters: str) -> SectionAnswer:
    question = Question(HOST, days, {key: tuple(v.split(",")) for key, v in filters.items()})
    with source.observe(question) as o:
        return SECTIONS[name].ask(o)


def body(source: Store, name: str, days: int = 7, /, **filters: str) -> Any:
    return wire(ask(source, name, days, **filters).body)
