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
an own page if its domain belongs to a focus brand. Only the pages that an answer cites are counted,
not pages that the engine (AI assistant) read without citing them.

Without answers, every measure is None. With answers that do not mention a brand, its counts and
rates are 0.

The argument ``table_prefix`` of functions is ``""`` for the requested window, `PREVIOUS_PREFIX` for
the window before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from aatoolkit.service.answer import explain_no_rows
from aatoolkit.service.observations import JsonObject, Observations, cache_results

NO_OWN_BRAND_REASON = "It is not known which brand is the project's own."

_NON_MEASURE_COLUMNS = ("brand", "own", "answer_count")
_SENTIMENTS = ("positive", "neutral", "negative")

_MENTION_COUNTS_SQL = """count(*) AS voice_count, sum(position) AS position_sum,
  count(position) AS position_count, count(sentiment_score) AS scored_count,
  count(sentiment) AS labelled_count, """ + ", ".join(
    f"count(*) FILTER (sentiment = '{tone}') AS {tone}_count" for tone in _SENTIMENTS
)

# Sums of fractions are taken in order of size: the sum of a set of numbers then never
# depends on how the work was divided among threads.
_SCORE_SUM_SQL = "sum(sentiment_score ORDER BY sentiment_score) AS score_sum"

# The prefix of the table of mentions replaces {0}, and a further sum {1}. A brand that no answer
# mentions has counts of 0, and no rank.
_BRANDS_SQL = f"""
WITH counted AS (
  SELECT brand, {_MENTION_COUNTS_SQL}, count(*) FILTER (position = 1) AS first_count,
    count(*) FILTER (position <= 3) AS top_three_count{{1}}
  FROM {{0}}mentions GROUP BY brand
), filled AS (
  SELECT brand, own, coalesce(COLUMNS('_(count|sum)$'), 0)
  FROM (SELECT brand, own FROM store.brands WHERE host = $host) LEFT JOIN counted USING (brand)
)
SELECT *, voice_count AS mention_count,
  CASE WHEN voice_count > 0 THEN row_number() OVER (ORDER BY voice_count DESC, brand) END AS rank,
  first_count / nullif(position_count, 0) AS first_position_rate,
  top_three_count / nullif(position_count, 0) AS top_three_rate,
  (SELECT count(*) FROM {{0}}mentions) AS all_voice_count
FROM filled QUALIFY len($brand) = 0 OR list_contains($brand, brand)
ORDER BY voice_count DESC, brand
"""

_COUNT_NAME_PREFIXES = "mention voice position scored labelled positive neutral negative"
_ZERO_COUNTS = dict.fromkeys(
    (*(f"{name}_count" for name in _COUNT_NAME_PREFIXES.split()), "position_sum"), 0
)
"""The counts of a group of answers without mentions."""

_CITATION_COUNTS_SQL = """count(*) AS citation_count,
  count(*) FILTER (source_domain IN (SELECT source_domain FROM own_domains)) AS own_citation_count
"""


class Grouping(NamedTuple):
    """A way to group answers: a ``GROUP BY`` clause of SQL, and the names of the columns in it.

    Without a clause and columns, all answers are one group.
    """

    columns: tuple[str, ...]
    clause: str

    def aggregate(
        self, observations: Observations, aggregates_sql: str, source_sql: str, **parameters: object
    ) -> dict[Any, JsonObject]:
        """Compute aggregates of a table by group; return a dict from group to a row of aggregates.

        A group is the value of the column that is grouped by, or a tuple if there are several
        columns or none. ``aggregates_sql`` and ``source_sql`` are SQL, such as ``count(*) AS n``
        and a table's name with a condition. ``parameters`` are the values of the parameters in this
        SQL.
        """
        aggregate_rows = observations.fetch_rows(
            f"SELECT {', '.join((*self.columns, aggregates_sql))} FROM {source_sql} {self.clause}",
            **parameters,
        )
        row_by_group = {
            tuple(row.pop(column) for column in self.columns): row for row in aggregate_rows
        }
        return {
            group_key[0] if len(group_key) == 1 else group_key: row
            for group_key, row in row_by_group.items()
        }


UNGROUPED = Grouping((), "")
BY_PROMPT = Grouping(("prompt_id",), "GROUP BY prompt_id")
BY_PROMPT_AND_ENGINE = Grouping(("prompt_id", "engine"), "GROUP BY prompt_id, engine")
BY_DAY = Grouping(("day",), "GROUP BY day ORDER BY day")
BY_ENGINE = Grouping(("engine",), "GROUP BY engine")

PREVIOUS_PREFIX = "previous_"
"""The prefix of tables of the previous window."""


@cache_results
def count_answers(
    observations: Observations, grouping: Grouping, table_prefix: str = ""
) -> dict[Any, int]:
    """Return the number of answers in each group, as a dict by group.

    ``table_prefix`` is "" for the requested window, or `PREVIOUS_PREFIX` for the window before.
    """
    row_by_group = grouping.aggregate(observations, "count(*) AS n", f"{table_prefix}answers")
    return {group_key: row["n"] for group_key, row in row_by_group.items()}


@cache_results
def explain_no_mentions(observations: Observations) -> str | None:
    """Return the reason why mentions of the focus brands cannot be counted; None if they can be.

    The focus brands are the brands of the brand filter; by default, the project's own brands.
    """
    no_brand_reason = None if find_focus_brands(observations) else NO_OWN_BRAND_REASON
    return explain_no_rows(observations, "mentions") or no_brand_reason


@cache_results
def find_focus_brands(observations: Observations) -> list[str]:
    """Return the brands of the brand filter; by default, the project's own brands."""
    return observations.fetch_column("SELECT brand FROM focus ORDER BY brand")


@cache_results
def measure_focus_brands(
    observations: Observations, grouping: Grouping, table_prefix: str = ""
) -> dict[Any, JsonObject]:
    """Return the measures of all focus brands together, such as their mention rate.

    The result is a dict from group of answers, such as the answers to a prompt, to a dict of
    measures. The focus brands are the brands of the brand filter; by default, the project's own
    brands. ``table_prefix`` is "" for the requested window, or `PREVIOUS_PREFIX` for the window
    before.
    """
    mentions_table = f"{table_prefix}mentions"
    all_mentions_row_by_group = grouping.aggregate(observations, "count(*) AS n", mentions_table)
    brand_row_by_group = grouping.aggregate(
        observations,
        f"count(DISTINCT chat_id) AS mention_count, {_MENTION_COUNTS_SQL}, {_SCORE_SUM_SQL}",
        f"{mentions_table} WHERE list_contains($about, brand)",
        about=find_focus_brands(observations),
    )
    is_measured = explain_no_mentions(observations) is None
    return {
        group_key: _add_rates(
            _ZERO_COUNTS | brand_row_by_group.get(group_key, {}),
            answer_count,
            all_mentions_row_by_group.get(group_key, {"n": 0})["n"],
            is_measured,
        )
        for group_key, answer_count in count_answers(observations, grouping, table_prefix).items()
    }


@cache_results
def measure_brands(observations: Observations, table_prefix: str = "") -> list[JsonObject]:
    """Return a list with the measures of each brand, the most mentioned brand first.

    ``table_prefix`` is "" for the requested window, or `PREVIOUS_PREFIX` for the window before.
    """
    # No section needs the sentiment of the previous window, which takes longest to compute.
    score_sum_sql = "" if table_prefix else f", {_SCORE_SUM_SQL}"
    brand_rows = observations.fetch_rows(_BRANDS_SQL.format(table_prefix, score_sum_sql))
    answer_count = count_answers(observations, UNGROUPED, table_prefix)[()]
    is_measured = observations.has_rows("mentions")
    return [
        _add_rates(row, answer_count, row["all_voice_count"], is_measured) for row in brand_rows
    ]


@cache_results
def explain_no_own_citations(observations: Observations) -> str | None:
    """Return the reason why citations of own pages cannot be counted; None if they can be.

    Own pages are the pages on domains of the focus brands. These are the brands of the brand
    filter; by default, the project's own brands.
    """
    if reason := explain_no_rows(observations, "citations"):
        return reason
    brands = observations.fetch_column(
        "SELECT brand FROM focus WHERE domain IS NULL AND own IS NOT TRUE ORDER BY brand"
    )
    return f"The domain of {', '.join(brands)} is not known." if brands else None


@cache_results
def count_citations(
    observations: Observations, grouping: Grouping, table_prefix: str = ""
) -> dict[Any, JsonObject]:
    """Return how often the answers of each group cite any page, and how often own pages.

    The result is a dict from group to these two numbers; a number that cannot be counted is None.
    Own pages are on domains of the focus brands, which are the brands of the brand filter; by
    default, the project's own brands. ``table_prefix`` is "" for the requested window, or
    `PREVIOUS_PREFIX` for the window before.
    """
    counts_row_by_group = grouping.aggregate(
        observations, _CITATION_COUNTS_SQL, f"{table_prefix}citations WHERE cited"
    )
    is_measured_by_name = {
        "citation_count": observations.has_rows("citations"),
        "own_citation_count": explain_no_own_citations(observations) is None,
    }
    return {
        group_key: {
            count_name: counts_row_by_group.get(group_key, {}).get(count_name, 0)
            if is_measured and answer_count
            else None
            for count_name, is_measured in is_measured_by_name.items()
        }
        for group_key, answer_count in count_answers(observations, grouping, table_prefix).items()
    }


def divide(numerator: float | None, denominator: int | None) -> float | None:
    """Return ``numerator / denominator``; None if one of them is None, or the latter is 0."""
    return numerator / denominator if numerator is not None and denominator else None


def _add_rates(
    row: JsonObject, answer_count: int, all_mention_count: int, is_measured: bool
) -> JsonObject:
    """Add rates, such as the mention rate, to a row with the counts of brands; return the row.

    ``answer_count`` is the number of answers, and ``all_mention_count`` that of the mentions of all
    brands. If ``is_measured`` is False, or there are no answers, all measures in the row are None.
    """
    row["answer_count"] = answer_count
    row["all_voice_count"] = all_mention_count
    if not row["voice_count"]:
        row["position_sum"] = 0
    row["mention_rate"] = divide(row["mention_count"], answer_count)
    row["share_of_voice"] = divide(row["voice_count"], all_mention_count)
    row["average_position"] = divide(row["position_sum"], row["position_count"])
    row["sentiment_score"] = divide(row.pop("score_sum", None), row["scored_count"])
    for sentiment in _SENTIMENTS:
        row[sentiment] = divide(row[f"{sentiment}_count"], row["labelled_count"])
    if is_measured and answer_count:
        return row
    return {name: value if name in _NON_MEASURE_COLUMNS else None for name, value in row.items()}


def add_previous_prefix(measures: Mapping[str, Any]) -> JsonObject:
    """Return measures of the previous window under new names, with the prefix ``previous``.

    For example, ``mentionRate`` becomes ``previousMentionRate``.
    """
    return {f"previous{name[0].upper()}{name[1:]}": value for name, value in measures.items()}


def are_citations_counted(observations: Observations) -> bool:
    """Return whether citations can be counted: the host has some, and answers pass the filters."""
    return observations.has_rows("citations") and bool(count_answers(observations, UNGROUPED)[()])
