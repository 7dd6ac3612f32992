"""Sources of synthetic answers: pages they cite and queries they expand into."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aatoolkit.service.synth.answers import mentions_of
from aatoolkit.service.synth.pages import Page, domain_types, pages, rivals_only
from aatoolkit.service.synth.random_columns import (
    Flags,
    Integers,
    Numbers,
    chance,
    listed,
    observed,
    pick,
    spread,
    unless,
    weighted,
)
from aatoolkit.service.synth.runs import Runs
from aatoolkit.service.synth.world import TURN, PromptPlan

_SOURCE_COUNTS = (0.12, 0.1, 0.14, 0.16, 0.16, 0.12, 0.1, 0.06, 0.04)
_QUERY_COUNTS = (0.2, 0.2, 0.3, 0.2, 0.1)
_SUFFIXES = ("2026", "reviews", "pricing", "alternatives", "comparison", "forum")
_INTENTS = ("commercial", "informational", "navigational", None)
_UNEXAMINED = "Umbrella"


def draw_sources(runs: Runs) -> dict[str, pa.Table]:
    """The citations and query expansions of a project, and what is known of both."""
    known = pages(runs.plan)
    return {
        "citations": _citations(runs, known),
        **_page_tables(runs, known),
        **_fanouts(runs),
    }


def _citations(runs: Runs, known: list[Page]) -> pa.Table:
    rng = runs.chance(10)
    counts = weighted(rng, _SOURCE_COUNTS, len(runs)) * (runs.outcome == 0)
    run, _ = spread(counts)
    before = weighted(rng, [page.weight for page in known], len(run))
    lately = weighted(rng, [page.recent_weight for page in known], len(run))
    run, page = _once(run, np.where(runs.age[run] < TURN, lately, before), len(known))
    page = np.where(_names_rivals_alone(runs)[run], _swapped(known)[page], page)
    _, place = spread(np.bincount(run, minlength=len(runs)).astype(np.int64))
    shows_retrieved = runs.on("exposes_retrieval", True)[run]
    untitled = chance(rng, 0.06, len(run))
    return observed(
        "citations",
        runs.plan.host,
        chat_id=pick(runs.chat_ids, run),
        n=place + 1,
        url=pick([page.url for page in known], page),
        source_domain=pick([page.domain for page in known], page),
        cited=~shows_retrieved | chance(rng, 0.65, len(run)),
        title=unless(untitled, pick([page.title for page in known], page)),
    )


def _swapped(known: list[Page]) -> Integers:
    """For each page, the one that is cited in its place where rivals alone are named."""
    places = np.arange(len(known), dtype=np.int64)
    for old, new in rivals_only(known).items():
        places[old] = new
    return places


def _names_rivals_alone(runs: Runs) -> Flags:
    """For each run, whether its answer names a tracked rival and no own brand."""
    mentions = mentions_of(runs)
    brands = runs.plan.brands
    is_own = np.array([brand.own is True for brand in brands])
    is_rival = np.array([brand.tracked for brand in brands]) & ~is_own
    named = [
        np.isin(np.arange(len(runs)), mentions.run[which[mentions.brand]])
        for which in (is_own, is_rival)
    ]
    return ~named[0] & named[1]


def _once(run: Integers, page: Integers, size: int) -> tuple[Integers, Integers]:
    """Drop repeated pairs of run and page; the first of each stays."""
    _, first = np.unique(run * size + page, return_index=True)
    kept = np.sort(first)
    return run[kept], page[kept]


def _page_tables(runs: Runs, known: list[Page]) -> dict[str, pa.Table]:
    rng, host = runs.chance(11), runs.plan.host
    brands = [brand for brand in runs.plan.brands if brand.brand != _UNEXAMINED]
    mentioned: Numbers = rng.random((len(known), len(brands)))
    kinds = domain_types(runs.plan)
    return {
        "source_domains": listed(
            "source_domains",
            host,
            [{"source_domain": domain, "domain_type": kind} for domain, kind in kinds.items()],
        ),
        "source_pages": listed(
            "source_pages",
            host,
            [
                {"url": page.url, "page_type": page.page_type}
                for page in known
                if page.examined or page.page_type
            ],
        ),
        "source_page_brands": listed(
            "source_page_brands",
            host,
            [
                {
                    "url": page.url,
                    "brand": brand.brand,
                    "mentioned": bool(mentioned[row, column] < 0.15 + brand.rate),
                }
                for row, page in enumerate(known)
                if page.examined
                for column, brand in enumerate(brands)
            ],
        ),
    }


def _query(prompt: PromptPlan, suffix: str) -> str:
    """The words searched for; those with the year are shared by the prompts of a topic."""
    if suffix == _SUFFIXES[0]:
        return f"best {(prompt.topic or 'crm').lower()} {suffix}"
    return f"{prompt.text.lower()} {suffix}"


def _fanouts(runs: Runs) -> dict[str, pa.Table]:
    rng, host = runs.chance(12), runs.plan.host
    shown = runs.on("exposes_fanouts", True) & (runs.outcome == 0)
    run, place = spread(weighted(rng, _QUERY_COUNTS, len(runs)) * shown)
    first = weighted(rng, (4, 2, 2, 1, 1, 0.5), len(runs))
    suffix = (first[run] + place) % len(_SUFFIXES)
    words = [_query(prompt, suffix) for prompt in runs.plan.prompts for suffix in _SUFFIXES]
    queries = list(dict.fromkeys(words))
    known = chance(rng, 0.8, len(queries))
    ranks, volumes = (
        weighted(rng, [1.0] * 40, len(queries)),
        weighted(rng, [1.0] * 90, len(queries)),
    )
    unranked, uncounted = chance(rng, 0.4, len(queries)), chance(rng, 0.3, len(queries))
    kept = np.flatnonzero(known)
    return {
        "fanouts": observed(
            "fanouts",
            host,
            chat_id=pick(runs.chat_ids, run),
            query_index=place,
            query=pick(words, runs.prompt[run] * len(_SUFFIXES) + suffix),
        ),
        "queries": observed(
            "queries",
            host,
            query=pick(queries, kept),
            intent=pick(_INTENTS, weighted(rng, (5, 3, 1, 1), len(kept))),
            own_organic_rank=unless(unranked[kept], ranks[kept] + 1),
            search_volume=unless(uncounted[kept], volumes[kept] * 10),
        ),
    }
