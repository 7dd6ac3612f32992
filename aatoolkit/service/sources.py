"""SQL fragments shared by the sections on sources, queries and crawlers.

A *retrieval* is any source an engine is seen to have read for an answer, a *citation* one
that the answer shows. An engine that shows cited sources only tells nothing of what else
it read, so counts of retrievals are null wherever such an engine had a part.
"""

from __future__ import annotations

from collections.abc import Sequence

from aatoolkit.service.answer import State
from aatoolkit.service.measures import WHOLE, answer_counts
from aatoolkit.service.observations import Observations

RETRIEVAL_IS_KNOWN = "bool_and(exposes_retrieval IS NOT FALSE)"
"""Aggregate over ``seen_sources``: whether every engine of the group shows what it retrieved."""

LISTED_ENGINES = """
listed_engines AS (
  SELECT * FROM scoped_engines
  WHERE configured OR engine IN (SELECT engine FROM answers)
)
"""
"""CTE ``listed_engines``: engines in scope that the project has on, or that answered."""


def citations_are_counted(o: Observations) -> bool:
    """Whether counting the answers that cite something means anything in this scope."""
    return o.observed("citations") and bool(answer_counts(o, WHOLE)[()])


def retrieval_states(o: Observations, *paths: str) -> dict[str, State]:
    """The states of fields on retrieval, which some engines in scope do not report."""
    silent = o.column(
        "SELECT coalesce(label, engine) FROM scoped_engines"
        " WHERE exposes_retrieval IS FALSE AND engine IN (SELECT engine FROM named_answers)"
        " ORDER BY 1"
    )
    if not silent:
        return {}
    verb = "shows" if len(silent) == 1 else "show"
    reason = f"{enumerate_words(silent)} {verb} cited sources only."
    alone = not o.value(
        "SELECT count(*) > 0 FROM named_answers LEFT JOIN scoped_engines USING (host, engine)"
        " WHERE exposes_retrieval IS NOT FALSE"
    )
    state = State("not_applicable" if alone else "partial", reason)
    return dict.fromkeys(paths, state)


def enumerate_words(words: Sequence[str]) -> str:
    """Join words as a sentence does: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def checked_answers(flag: str, seen_on: str) -> str:
    """Build the CTE ``checked``: answers examined for something, such as advertisements.

    An engine counts as examined where its flag says so, and where that is not known but
    something was seen on it.

    Parameters
    ----------
    flag
        The column of the engines that says whether their answers are examined.
    seen_on
        A query for the engines on which something was seen, at any time.
    """
    return f"""
checked AS (
  SELECT answers.* FROM answers JOIN scoped_engines AS engines USING (host, engine)
  WHERE {flag} OR ({flag} IS NULL AND engine IN ({seen_on}))
)
"""
