"""Examinations of the synthetic sites: what crawlers may do there, and what they get."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from aatoolkit.service.synth.random_columns import instant, tabled
from aatoolkit.service.synth.world import HostPlan

_LATEST, _EARLIER = instant("2026-11-20T04:00:00Z"), instant("2026-11-06T04:00:00Z")

_RULES = (
    ("GPTBot", "blocked", True, "Disallow: /", 403),
    ("OAI-SearchBot", "allowed", True, "Allow: /", 200),
    ("ChatGPT-User", "allowed", False, None, 403),
    ("PerplexityBot", "partial", True, "Disallow: /docs/", 200),
    ("ClaudeBot", "unknown", None, None, None),
)
_FILES = (
    ("robotsTxt", True, 200, 512),
    ("llmsTxt", False, 404, None),
    ("sitemapXml", True, 200, 88_012),
)
_PAGES = (
    ("/pricing", 200, True, True, 0.42, 310),
    ("/", 200, True, False, 0.91, 120),
    ("/docs/api", 200, False, None, 0.0, 95),
    ("/gone", 404, False, None, None, None),
)
_CAPABILITIES = (
    ("chatgpt", "retrievable", "ok"),
    ("chatgpt", "findable", "ok"),
    ("chatgpt", "trainable", "failed"),
    ("perplexity", "retrievable", "ok"),
    ("perplexity", "findable", "unknown"),
    ("perplexity", "trainable", "not_applicable"),
)
_CHECKS = (
    ("robots_txt", "access", "passed", None),
    ("server_answer", "access", "failed", "403 for ChatGPT-User although robots.txt allows it"),
    ("first_byte", "delivery", "passed", None),
    ("schema_org", "content", "failed", "No Product markup"),
    ("headings", "content", "warning", "Two first-level headings"),
    ("languages", "content", "skipped", None),
)


def checks(plan: HostPlan) -> dict[str, pa.Table]:
    """The examinations of a project: two of the first host, one of the second, no other."""
    if plan.number == 0:
        return _examined(plan.host)
    if plan.number == 1:
        return _without_robots(plan.host)
    return {}


def _examined(host: str) -> dict[str, pa.Table]:
    """An earlier examination of one page, and the latest of all."""
    times = (_EARLIER, _LATEST)
    pages = [(at, f"https://{host}{path}", *rest) for at, path, *rest in _audits()]
    found = [page[:2] for page in pages if page[2] == 200]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "site_checks": [(at, f"https://{host}/robots.txt", 200) for at in times],
        "robots_rules": [(at, *rule) for at in times for rule in _RULES],
        "site_files": [(at, *file) for at in times for file in _FILES],
        "page_audits": pages,
        "page_capabilities": [(*page, *one) for page in found for one in _CAPABILITIES],
        "page_checks": [(*page, *one) for page in found for one in _CHECKS],
    }
    return {name: tabled(name, host, listed) for name, listed in rows.items()}


def _audits() -> list[tuple[Any, ...]]:
    return [(_EARLIER, *_PAGES[0]), *((_LATEST, *page) for page in _PAGES)]


def _without_robots(host: str) -> dict[str, pa.Table]:
    """One examination that found no robots.txt and looked at no page."""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "site_checks": [(_EARLIER, f"https://{host}/robots.txt", 404)],
        "robots_rules": [(_EARLIER, "GPTBot", "allowed", False, None, 200)],
        "site_files": [(_EARLIER, "robotsTxt", False, 404)],
    }
    return {name: tabled(name, host, listed) for name, listed in rows.items()}
