"""Measures that several sections use: of brands, and of citations of the project's own pages.

===================== ==================================================================
mention rate          answers that mention the brand / answers
share of voice        mentions of the brand / mentions of all brands, tracked or not
average position      mean over the mentions whose position is known
sentiment score       mean over the mentions that were scored
===================== ==================================================================

A brand mentioned twice in one answer is one mention, so that mentions of one brand and answers that
mention it are the same number. For several brands together, the mention rate counts answers that
mention any of them, and the share of voice adds their mentions.

The brands in focus are those of the brand filter, or else the project's own. A page is an own page
if its domain is that of a brand in focus or a subdomain of it. If the project's own brand is in
focus, the host itself and the domains marked ``owned`` count too. Only sources that an answer cites
are counted, not those that it merely retrieved.

Without an answer in scope every measure is None, because nothing was measured; over
answers that do not mention the brand, counts and rates are a measured 0.

Answers, mentions and citations are counted by the same groups in separate small queries, and the
counts are put together here in Python. Joining every answer with its mentions would need many times
the rows, and planning one large query takes longer than running some small ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aatoolkit.service.answer import why_no_rows
from aatoolkit.service.observations import Observations, cache_results

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
"""The counts of a brand that no answer mentions."""

_CITATION_AGGREGATES = """count(*) AS citation_count,
  count(*) FILTER (source_domain IN (SELECT source_domain FROM own_domains)) AS own_citation_count
"""


class Grouping(NamedTuple):
    """A ``GROUP BY`` clause in SQL, and the columns that it groups by."""

    keys: tuple[str, ...]
    sql: str

    def aggregate(
        self, obs: Observations, aggregates: str, source: str, **values: object
    ) -> dict[Any, dict[str, Any]]:
        """Aggregate a table by group; return one row per group, by the key of the group.

        ``aggregates`` and ``source`` are SQL: ``count(*) AS n`` and the name of a table. The key is
        the value of the grouping column, or a tuple if there are several such columns or none.
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
"""What the tables of the window before are called by, as a prefix."""


@cache_results
def count_answers(obs: Observations, grouping: Grouping, window: str = "") -> dict[Any, int]:
    """Count the answers of each group; return the counts by the key of the group.

    The grouping `WHOLE` has a single group, with the key ``()``.
    """
    rows = grouping.aggregate(obs, "count(*) AS n", f"{window}answers")
    return {key: row["n"] for key, row in rows.items()}


@cache_results
def why_no_subject(obs: Observations) -> str | None:
    """Return the reason why the brands in focus cannot be measured; None if they can.

    The brands in focus are those of the brand filter; without that filter, the project's own.
    """
    if not obs.has_rows("mentions"):
        return why_no_rows("mentions")
    return None if focus_brands(obs) else NO_SUBJECT


@cache_results
def focus_brands(obs: Observations) -> list[str]:
    """Return the brands of the brand filter; without one, the project's own brands."""
    return obs.fetch_column("SELECT brand FROM focus ORDER BY brand")


@cache_results
def measure_focus_brands(
    obs: Observations, grouping: Grouping, window: str = ""
) -> dict[Any, dict[str, Any]]:
    """Measure the brands in focus, taken together, in each group of answers.

    The brands in focus are those of the brand filter; without that filter, the project's own.
    """
    mentions = f"{window}mentions"
    voice_rows = grouping.aggregate(obs, "count(*) AS n", mentions)
    rows = grouping.aggregate(
        obs,
        f"count(DISTINCT chat_id) AS mention_count, {_COUNT_AGGREGATES}, {_SCORE_AGGREGATE}",
        f"{mentions} WHERE list_contains($about, brand)",
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
def measure_brands(obs: Observations, window: str = "") -> list[dict[str, Any]]:
    """Measure each brand of the brand filter, or each brand of the project without that filter.

    The most mentioned brand comes first. Ranks are among all brands of the project; a brand without
    mentions has no rank. The previous window has no ``sentiment_score``: no section compares it,
    and sorting the scores takes longer than everything else.
    """
    aggregates = ", ".join(
        [_COUNT_AGGREGATES, _POSITION_AGGREGATES, *([] if window else [_SCORE_AGGREGATE])]
    )
    by_brand = Grouping(("brand",), "GROUP BY brand")
    mentions = by_brand.aggregate(obs, aggregates, f"{window}mentions")
    answer_count = count_answers(obs, WHOLE, window)[()]
    voice_count = sum(row["voice_count"] for row in mentions.values())
    requested_brands, is_measured = obs.question.filter("brand"), obs.has_rows("mentions")
    brands = obs.fetch_rows("SELECT brand, own FROM store.brands WHERE host = $host")
    rows = [brand | _ZERO_COUNTS | mentions.get(brand["brand"], {}) for brand in brands]
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
    """Return the reason why citations of own pages cannot be counted; None if they can."""
    if not obs.has_rows("citations"):
        return why_no_rows("citations")
    brands = obs.fetch_column(
        "SELECT brand FROM focus WHERE domain IS NULL AND own IS NOT TRUE ORDER BY brand"
    )
    return f"The domain of {', '.join(brands)} is not known." if brands else None


@cache_results
def count_citations(
    obs: Observations, grouping: Grouping, window: str = ""
) -> dict[Any, dict[str, Any]]:
    """Count the citations of all pages and of own pages in each group of answers.

    A count is None if it was not measured.
    """
    counts = grouping.aggregate(obs, _CITATION_AGGREGATES, f"{window}citations WHERE cited")
    measured_by_name = {
        "citation_count": obs.has_rows("citations"),
        "own_citation_count": why_no_own_citations(obs) is None,
    }
    return {
        key: {
            name: counts.get(key, {}).get(name, 0) if is_measured and count else None
            for name, is_measured in measured_by_name.items()
        }
        for key, count in count_answers(obs, grouping, window).items()
    }


def ratio(part: float | None, total: int | None) -> float | None:
    """Return ``part / total``; None if one of them is unknown, or the total is 0."""
    return part / total if part is not None and total else None


def _add_rates(
    row: dict[str, Any], answer_count: int, voice_count: int, is_measured: bool
) -> dict[str, Any]:
    """Add to the counts of a brand its rates, and the totals that are their denominators.

    All measures are None if nothing was measured.
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


def rename_to_previous(values: Mapping[str, Any]) -> dict[str, Any]:
    """Rename measures to their names for the previous window.

    For example, ``mentionRate`` becomes ``previousMentionRate``.
    """
    return {f"previous{name[0].upper()}{name[1:]}": value for name, value in values.items()}


def citations_are_counted(obs: Observations) -> bool:
    """Return whether citations can be counted: the host has some, and answers are in scope."""
    return obs.has_rows("citations") and bool(count_answers(obs, WHOLE)[()])
