"""Citations of the pages that belong to the brands in focus.

A page is the subject's own where its domain is the domain of such a brand or a subdomain
of it. Where the project's own brand is asked about, the host itself and the domains marked
``owned`` count too. Only sources that an answer cites are counted, not those it merely
retrieved.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.availability import not_held
from aatoolkit.service.grouping import (
    DAYS,
    PROMPTS,
    WHOLE,
    Grouping,
    Key,
    answer_counts,
    window_of,
)
from aatoolkit.service.observations import Observations, shared

_AGGREGATES = """count(*) AS citation_count,
  count(*) FILTER (source_domain IN (SELECT source_domain FROM own_domains)) AS own_citation_count
"""


@shared
def own_citations_missing(o: Observations) -> str | None:
    """Return the reason why the subject's citations cannot be counted; None where they can."""
    if not o.observed("citations"):
        return not_held("citations")
    without = o.column(
        "SELECT brand FROM focus WHERE domain IS NULL AND own IS NOT TRUE ORDER BY brand"
    )
    return f"The domain of {', '.join(without)} is not known." if without else None


def citation_total(o: Observations, *, previous: bool = False) -> dict[str, Any]:
    """The citations of a window, of all pages and of the subject's own.

    Both counts are None where nothing was measured.
    """
    grouping = WHOLE if previous else DAYS
    return _counted(o, grouping, previous=previous)[grouping.whole]


def citations_by(o: Observations, key: str) -> dict[Any, dict[str, Any]]:
    """The citations by ``engine``, ``day`` or ``prompt_id``, of all pages and the subject's own."""
    grouping = PROMPTS if key == "prompt_id" else DAYS
    return grouping.by(key, _counted(o, grouping, previous=False))


@shared
def _counted(o: Observations, grouping: Grouping, *, previous: bool) -> dict[Key, dict[str, Any]]:
    answers = answer_counts(o, grouping, previous=previous)
    cited = grouping.rows(o, _AGGREGATES, f"{window_of(previous)}citations WHERE cited")
    held = {
        "citation_count": o.observed("citations"),
        "own_citation_count": own_citations_missing(o) is None,
    }
    found: dict[Key, dict[str, Any]] = {}
    for key, count in answers.items():
        counts = cited.get(key, dict.fromkeys(held, 0))
        found[key] = {name: counts[name] if held[name] and count else None for name in held}
    return found
