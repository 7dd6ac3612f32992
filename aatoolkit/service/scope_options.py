"""Scope options: the values that each filter may take for a project."""

from __future__ import annotations

from typing import Any

from aatoolkit.service.observations import Observations
from aatoolkit.service.question import DAYS

_LABELS = """
SELECT {label}, count(*) AS count FROM store.prompts
WHERE host = $host GROUP BY {label} ORDER BY {label} IS NULL, count DESC, {label}
"""

_BRANDS = """
SELECT brand AS name, tracked, own FROM store.brands
WHERE host = $host ORDER BY own DESC NULLS LAST, tracked DESC, brand
"""


def scope_options(o: Observations) -> dict[str, Any]:
    """Compute the scope options of the project of a question without filters.

    Topics and categories are counted over all its prompts, also those no longer asked;
    prompts without a topic are counted under ``None``. A brand of which it is not known
    whether it is the project's own has no ``own``.
    """
    return {
        "engines": o.rows(
            'SELECT engine AS id, label, configured, last_run_day AS "lastRunDay"'
            " FROM scoped_engines ORDER BY engine"
        ),
        "topics": o.rows(_LABELS.format(label="topic")),
        "categories": o.rows(_LABELS.format(label="category")),
        "brands": [
            {name: value for name, value in row.items() if name != "own" or value is not None}
            for row in o.rows(_BRANDS)
        ],
        "ownTerms": o.column("SELECT term FROM store.own_terms WHERE host = $host ORDER BY term"),
        "days": list(DAYS),
    }
