"""The pages that synthetic answers cite: own ones, competitors', and a long tail of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aatoolkit.service.synth.world import HostPlan

OWN_PATHS = {
    "/": 4.0,
    "/pricing": 9.0,
    "/compare/globex": 6.0,
    "/blog/crm-guide": 5.0,
    "/docs/api": 3.0,
    "/features": 2.0,
    "/customers/café-röstwerk": 1.0,
    "/blog/old-guide": 4.0,
}
"""Paths of a project's own site, and how much they are cited."""

_OWN_TYPES = {
    "/": "homepage",
    "/pricing": "product",
    "/compare/globex": "comparison",
    "/blog/crm-guide": "how_to",
    "/blog/old-guide": "article",
}
_GONE, _RISING = "/blog/old-guide", "https://reviews.example/best-crm-2026?ref=top"

_HEAD = (
    ("https://reviews.example/best-crm", "Best CRM 2026", "listicle", 26.0),
    (_RISING, "Best CRM 2026 — the short list", "listicle", 5.0),
    ("https://reviews.example/acme-crm", "Acme CRM, reviewed", "profile", 7.0),
    ("https://forum.example/t/4711", "Which CRM do you use?", "discussion", 18.0),
    ("https://forum.example/t/4712", None, "discussion", 8.0),
    ("https://wiki.example/wiki/CRM", "CRM", "article", 12.0),
    ("https://uni.example/study.pdf", "A study of sales tools", None, 3.0),
    ("https://bigcorp.example/blog/how-we-sell", "How we sell", "article", 4.0),
    ("https://social.example/@sales/post/9", None, "other", 5.0),
    ("https://daily.example/tech/crm-roundup", "CRM round-up", "article", 9.0),
    ("https://videos.example/watch?v=x1&t=10#comments", "CRM in ten minutes", "how_to", 6.0),
    ("https://globex.example/", "Globex", "homepage", 8.0),
    ("https://globex.example/vs/acme", "Globex or Acme?", "comparison", 7.0),
    ("https://acme.example/vs/globex", "Acme or Globex?", "comparison", 5.0),
    ("https://www.initech.example/alternatives", "Alternatives", "alternative", 4.0),
    ("https://café-crm.example/menü", "Café CRM", "category", 3.0),
    ("https://unlisted.example/page", "A page", None, 3.0),
)
_KINDS = {
    "reviews.example": "editorial",
    "daily.example": "editorial",
    "forum.example": "ugc",
    "wiki.example": "reference",
    "uni.example": "institutional",
    "bigcorp.example": "corporate",
    "social.example": "social",
    "videos.example": None,
}
_UNLISTED = "unlisted.example"
_RIVALS_ONLY = {
    3: "versus.example",
    9: "academy.example",
    17: "directory.example",
    21: "podcast.example",
}
"""Domains that are cited instead of some of the long tail where answers name rivals alone."""

_TAIL = 60


@dataclass(frozen=True)
class Page:
    """A page, with the weights of its citations, lately and before, and whether it was examined."""

    url: str
    title: str | None
    page_type: str | None
    weight: float
    recent_weight: float
    examined: bool

    @property
    def domain(self) -> str:
        """The domain it is on, without ``www``."""
        return self.url.split("/")[2].removeprefix("www.")


def pages(plan: HostPlan) -> list[Page]:
    """The pages that a project's answers may cite."""
    own = [
        Page(
            f"https://{plan.host}{path}",
            f"{plan.own}: {path.strip('/') or 'home'}",
            _OWN_TYPES.get(path),
            weight,
            0.0 if path == _GONE else weight,
            True,
        )
        for path, weight in OWN_PATHS.items()
    ]
    own.append(Page(f"https://help.{plan.host}/start", None, "how_to", 2.0, 2.0, False))
    head = [
        Page(url, title, kind, weight, 4 * weight if url == _RISING else weight, weight > 3.5)
        for url, title, kind, weight in _HEAD
    ]
    tail = [
        Page(
            f"https://blog{number % 23}.example/post-{number}",
            None if number % 7 == 0 else f"Post {number} (synthetic)",
            "article" if number % 3 else None,
            0.7,
            0.7,
            number % 4 == 0,
        )
        for number in range(1, _TAIL + 1)
    ]
    listed = own + [page for page in head if page.domain != plan.host] + tail
    return listed + [
        replace(
            page,
            url=f"https://{domain}/{page.url.rpartition('/')[2]}",
            weight=0.0,
            recent_weight=0.0,
        )
        for page, domain in _rivals_only(tail)
    ]


def _rivals_only(listed: Sequence[Page]) -> list[tuple[Page, str]]:
    """Pages of the long tail, each with the domain that takes its place."""
    domains = {f"blog{number}.example": domain for number, domain in _RIVALS_ONLY.items()}
    return [(page, domains[page.domain]) for page in listed if page.domain in domains]


def rivals_only(listed: Sequence[Page]) -> dict[int, int]:
    """The places of pages whose citations are another's where answers name rivals alone."""
    places = {page.url: place for place, page in enumerate(listed)}
    return {
        places[page.url]: places[f"https://{domain}/{page.url.rpartition('/')[2]}"]
        for page, domain in _rivals_only(listed)
    }


def domain_types(plan: HostPlan) -> dict[str, str | None]:
    """The kind of site of every domain that is listed."""
    rivals = {brand.domain for brand in plan.brands if not brand.own}
    kinds: dict[str, str | None] = {}
    for domain in dict.fromkeys(page.domain for page in pages(plan)):
        if domain == plan.host or domain.endswith(f".{plan.host}"):
            kinds[domain] = "owned"
        elif domain in rivals:
            kinds[domain] = "competitor"
        elif domain != _UNLISTED:
            kinds[domain] = _KINDS.get(domain, "other")
    return kinds
