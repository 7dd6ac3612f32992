"""Citations of the pages that belong to the brands in focus.

A page is the subject's own where its domain is the domain of such a brand or a subdomain
of it. Where the project's own brand is asked about, the host itself and the domains marked
``owned`` count too. Only sources that an answer cites are counted, not those it merely
retrieved.
"""

from __future__ import annotations

from typing import Any

from aatoolkit.service.availability import not_held
from aatoolkit.service.observations import Observations, shared

_COUNTED = """
SELECT {key} AS key, count(DISTINCT answers.chat_id) AS answer_count,
  count(*) FILTER (WHERE cited) AS citation_count,
  count(*) FILTER (WHERE cited AND source_domain IN (SELECT source_domain FROM own_domains))
    AS own_citation_count
FROM {window}answers AS answers LEFT JOIN {window}citations AS seen USING (host, chat_id)
GROUP BY {group} ORDER BY key
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
    (row,) = _counted(o, "NULL", "()", previous=previous)
    return row


def citations_by(o: Observations, key: str) -> dict[Any, dict[str, Any]]:
    """The citations by ``engine``, ``day`` or ``prompt_id``, of all pages and the subject's own."""
    rows = _counted(o, f"answers.{key}", f"answers.{key}", previous=False)
    return {row["key"]: row for row in rows}


@shared
def _counted(o: Observations, key: str, group: str, *, previous: bool) -> list[dict[str, Any]]:
    window = "previous_" if previous else ""
    rows = o.rows(_COUNTED.format(key=key, group=group, window=window))
    unknown = {
        "citation_count": not o.observed("citations"),
        "own_citation_count": own_citations_missing(o) is not None,
    }
    return [
        {
            name: None if unknown.get(name, False) or not row["answer_count"] else value
            for name, value in row.items()
            if name != "answer_count"
        }
        for row in rows
    ]
