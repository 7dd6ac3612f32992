"""Measures of brands, and of citations of the project's own pages, for several sections.

===================== ==================================================================
mention rate          answers that mention the brand / answers
share of voice        mentions of the brand / mentions of all brands, tracked or not
average position      mean over the mentions whose position is known
sentiment score       mean over the mentions that were scored
===================== ==================================================================

A brand has at most one mention per answer. The mention rate of several brands counts the answers
that mention any of them; their share of voice adds their mentions.

The focus brands are the brands of the brand filter; by default, the project's own brands. A page is
an own page if its domain belongs to a focus brand. Only sources that an answer cites are counted,
not sources that the engine (AI assistant) only retrieved.

Without answers, every measure is None. With answers that do not mention a brand, its counts and
rates are 0.

The parameter ``window`` is a prefix of table names: ``""`` for the requested window, `PREVIOUS` for
the window before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aatoolkit.service.answer import why_no_rows
from aatoolkit.service.observations import JsonObject, Observations, cache_results

NO_SUBJECT = "It is not known which brand is the project's own."

_NOT_MEASURES = ("brand", "own", "answer_count")
_TONES = ("positive", "neutral", "negative")

_COUNT_AGGREGATES = """count(*) AS voice_count, sum(position) AS position_sum,
  count(position) AS position_count, count(sentiment_score) AS scored_count,
  count(sentiment) AS labelled_count, """ + ", ".join(
    f"count(*) FILTER (sentiment = '{tone}') AS {tone}_count" for tone in _TONES
)

# Sums of fractions are taken in order of size: the sum of a set of numbers then never
# depends on how the work was divided among threads.
_SCORE_AGGREGATE = "sum(sentiment_score ORDER BY sentiment_score) AS score_sum"

_POSITION_AGGREGATES = """count(*) FILTER (position = 1) AS first_count,
  count(*) FILTER (position <= 3) AS top_three_count"""

_COUNT_NAMES = "mention voice position first top_three scored labelled positive neutral negative"
_ZERO_COUNTS = dict.fromkeys(
    (*(f"{name}_count" for name in _COUNT_NAMES.split()), "position_sum"), 0
)
"""The counts of a brand without mentions."""

_CITATION_AGGREGATES = """count(*) AS citation_count,
  count(*) FILTER (source_domain IN (SELECT source_domain FROM own_domains)) AS own_citation_count
"""


class Grouping(NamedTuple):
    """A ``GROUP BY`` clause of SQL, and the names of the columns in it (``keys``)."""

    keys: tuple[str, ...]
    sql: str

    def aggregate(
        self, obs: Observations, aggregates: str, source: str, **values: object
    ) -> dict[Any, JsonObject]:
        """Aggregate a table by group; return a dict from group key to a row with the results.

        ``aggregates`` and ``source`` are SQL, such as ``count(*) AS n`` and a table's name.
        """
        rows = obs.fetch_rows(
            f"SELECT {', '.join((*self.keys, aggregates))} FROM {source} {self.sql}", **values
        )
        rows_by_key = {tuple(row.pop(key) for key in self.keys): row for row in rows}
        return {key[0] if len(key) == 1 else key: row for key, row in rows_by_key.items()}


WHOLE = Grouping((), "")
PROMPTS = Grouping(("prompt_id",), "GROUP BY prompt_id")
PROMPT_ENGINES = Grouping(("prompt_id", "engine"), "GROUP BY prompt_id, engine")
DAYS = Grouping(("day",), "GROUP BY day ORDER BY day")
ENGINES = Grouping(("engine",), "GROUP BY engine")

PREVIOUS = "previous_"
"""The prefix of tables of the previous window."""


@cache_results
def count_answers(obs: Observations, grouping: Grouping, window: str = "") -> dict[Any, int]:
    """Return a dict from group key to the number of answers in the group."""
    rows = grouping.aggregate(obs, "count(*) AS n", f"{window}answers")
    return {key: row["n"] for key, row in rows.items()}


@cache_results
def why_no_subject(obs: Observations) -> str | None:
    """Return the reason why mentions of the focus brands cannot be counted, or None.

    The focus brands are the brands of the brand filter; by default, the project's own brands.
    """
    if not obs.has_rows("mentions"):
        return why_no_rows("mentions")
    return None if focus_brands(obs) else NO_SUBJECT


@cache_results
def focus_brands(obs: Observations) -> list[str]:
    """Return the brands of the brand filter; by default, the project's own brands."""
    return obs.fetch_column("SELECT brand FROM focus ORDER BY brand")


@cache_results
def measure_focus_brands(
    obs: Observations, grouping: Grouping, window: str = ""
) -> dict[Any, JsonObject]:
    """Return the measures of all focus brands together, such as the mention rate.

    The result is a dict by group of answers. The focus brands are the brands of the brand filter;
    by default, the project's own brands.
    """
    mentions_table = f"{window}mentions"
    voice_rows = grouping.aggregate(obs, "count(*) AS n", mentions_table)
    rows = grouping.aggregate(
        obs,
        f"count(DISTINCT chat_id) AS mention_count, {_COUNT_AGGREGATES}, {_SCORE_AGGREGATE}",
        f"{mentions_table} WHERE list_contains($about, brand)",
        about=focus_brands(obs),
    )
    is_measured = why_no_subject(obs) is None
    return {
        key: _add_rates(
            _ZERO_COUNTS | rows.get(key, {}), count, voice_rows.get(key, {"n": 0})["n"], is_measured
        )
        for key, count in count_answers(obs, grouping, window).items()
    }


@cache_results
def measure_brands(obs: Observations, window: str = "") -> list[JsonObject]:
    """Return a list with the measures of each brand, the most mentioned brand first."""
    # No section needs the sentiment of the previous window, which takes longest to compute.
    aggregates = ", ".join(
        [_COUNT_AGGREGATES, _POSITION_AGGREGATES, *([] if window else [_SCORE_AGGREGATE])]
    )
    by_brand = Grouping(("brand",), "GROUP BY brand")
    counts_by_brand = by_brand.aggregate(obs, aggregates, f"{window}mentions")
    answer_count = count_answers(obs, WHOLE, window)[()]
    voice_count = sum(row["voice_count"] for row in counts_by_brand.values())
    requested_brands, is_measured = obs.question.filter("brand"), obs.has_rows("mentions")
    brands = obs.fetch_rows("SELECT brand, own FROM store.brands WHERE host = $host")
    rows = [brand | _ZERO_COUNTS | counts_by_brand.get(brand["brand"], {}) for brand in brands]
    rows.sort(key=lambda row: (-row["voice_count"], row["brand"]))
    for rank, row in enumerate(rows, 1):
        row["mention_count"] = row["voice_count"]
        row["rank"] = rank if row["mention_count"] else None
        row["first_position_rate"] = ratio(row["first_count"], row["position_count"])
        row["top_three_rate"] = ratio(row["top_three_count"], row["position_count"])
    return [
        _add_rates(row, answer_count, voice_count, is_measured)
        for row in rows
        if not requested_brands or row["brand"] in requested_brands
    ]


@cache_results
def why_no_own_citations(obs: Observations) -> str | None:
    """Return the reason why citations of own pages cannot be counted, or None.

    Own pages are on domains of the brands of the brand filter; by default, of the project's own
    brands.
    """
    if not obs.has_rows("citations"):
        return why_no_rows("citations")
    brands = obs.fetch_column(
        "SELECT brand FROM focus WHERE domain IS NULL AND own IS NOT TRUE ORDER BY brand"
    )
    return f"The domain of {', '.join(brands)} is not known." if brands else None


@cache_results
def count_citations(
    obs: Observations, grouping: Grouping, window: str = ""
) -> dict[Any, JsonObject]:
    """Return a dict by group of answers: the number of citations of all pages and of own pages.

    A number is None if it cannot be counted. Own pages are on domains of the focus brands, which
    are the brands of the brand filter; by default, the project's own brands.
    """
    counts = grouping.aggregate(obs, _CITATION_AGGREGATES, f"{window}citations WHERE cited")
    is_measured_by_name = {
        "citation_count": obs.has_rows("citations"),
        "own_citation_count": why_no_own_citations(obs) is None,
    }
    return {
        key: {
            name: counts.get(key, {}).get(name, 0) if is_measured and count else None
            for name, is_measured in is_measured_by_name.items()
        }
        for key, count in count_answers(obs, grouping, window).items()
    }


def ratio(part: float | None, total: int | None) -> float | None:
    """Return ``part / total``; None if ``part`` is None or ``total`` is None or 0."""
    return part / total if part is not None and total else None


def _add_rates(
    row: JsonObject, answer_count: int, voice_count: int, is_measured: bool
) -> JsonObject:
    """Add rates to the row with the counts of a brand; return the row.

    ``voice_count`` is the number of mentions of all brands. If ``is_measured`` is False, or there
    are no answers, the row is returned with None for all measures.
    """
    row["answer_count"], row["all_voice_count"] = answer_count, voice_count
    if not row["voice_count"]:
        row["position_sum"] = 0
    row["mention_rate"] = ratio(row["mention_count"], answer_count)
    row["share_of_voice"] = ratio(row["voice_count"], voice_count)
    row["average_position"] = ratio(row["position_sum"], row["position_count"])
    row["sentiment_score"] = ratio(row.pop("score_sum", None), row["scored_count"])
    for tone in _TONES:
        row[tone] = ratio(row[f"{tone}_count"], row["labelled_count"])
    if is_measured and answer_count:
        return row
    return {name: value if name in _NOT_MEASURES else None for name, value in row.items()}


def rename_to_previous(values: Mapping[str, Any]) -> JsonObject:
    """Rename measures for the previous window: ``mentionRate`` to ``previousMentionRate``."""
    return {f"previous{name[0].upper()}{name[1:]}": value for name, value in values.items()}


def are_citations_counted(obs: Observations) -> bool:
    """Return whether the host has citations, and answers that pass the filters."""
    return obs.has_rows("citations") and bool(count_answers(obs, WHOLE)[()])
