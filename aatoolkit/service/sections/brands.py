"""Sections on brands and prompts: what answers say about brands.

**Overview.** The key figures, their values by day, the brands and the engines. The visibility score
is the mention rate times 100.

**Ranking.** Brands, ordered by the number of answers that mention them. Rank 1 has the largest
share of voice; ties are ordered by name. The brand filter selects the brands to list, and does not
change ranks. The rates of first and of top three positions are shares of the mentions whose
position is known. Counts by prompt are 0 if no answer mentions the brand, and null if there are no
answers.

**Perception.** The sentiment of mentions, and the attributes and claims in answers. The shares of
positive, neutral and negative mentions are of all mentions with a sentiment. The score is the mean
over the mentions that have a score. The share of an attribute is of all attributes of the brand.

**Prompts.** Every prompt that passes the filters, with its measures, and the number of prompts in
the account's plan. Prompts that never ran have 0 answers, and null for other measures.

**Chats.** The texts of single answers, with their mentions, citations and search queries.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from aatoolkit.service.answer import (
    SectionResponse,
    State,
    explain_no_rows,
    find_answers_availability,
    find_previous_window_states,
    register_section,
    select_fields,
)
from aatoolkit.service.measures import (
    BY_DAY,
    BY_ENGINE,
    BY_PROMPT,
    BY_PROMPT_AND_ENGINE,
    PREVIOUS_PREFIX,
    UNGROUPED,
    Grouping,
    add_previous_prefix,
    count_citations,
    divide,
    explain_no_mentions,
    explain_no_own_citations,
    measure_brands,
    measure_focus_brands,
)
from aatoolkit.service.observations import JsonObject, Observations

# --- overview ----------------------------------------------------------------------------------

_BRAND_KPI_NAMES = (
    "visibilityScore",
    "mentionRate",
    "shareOfVoice",
    "averagePosition",
    "sentimentScore",
)
# The JSON paths of fields that need the window before the requested one.
_OVERVIEW_PREVIOUS_PATHS = """
kpis.visibilityScore.previous kpis.mentionRate.previous kpis.shareOfVoice.previous
kpis.averagePosition.previous kpis.sentimentScore.previous kpis.citationShare.previous
kpis.answerCount.previous topBrands[].mentionRateChange topBrands[].previousMentionCount
topBrands[].previousAnswerCount
"""


@register_section("overview")
def overview(observations: Observations) -> SectionResponse:
    """Return the section ``overview``: key figures, key figures by day, brands and engines."""
    no_measure_reasons = mentions_reason, citations_reason = (
        explain_no_mentions(observations),
        explain_no_own_citations(observations),
    )
    state_by_path = find_previous_window_states(observations, _OVERVIEW_PREVIOUS_PATHS)
    if mentions_reason:
        state_by_path |= {
            f"kpis.{kpi_name}": State("unavailable", mentions_reason)
            for kpi_name in _BRAND_KPI_NAMES
        }
    if citations_reason:
        state_by_path["kpis.citationShare"] = State("unavailable", citations_reason)
    return SectionResponse(
        {
            "kpis": _compute_kpis(observations),
            "trends": {"granularity": "day", "points": _compute_daily_key_figures(observations)},
            "topBrands": _list_top_brands(observations),
            "engines": _list_engine_measures(observations),
        },
        find_answers_availability(
            observations, reasons=no_measure_reasons, state_by_path=state_by_path
        ),
    )


_KPI_DEFINITIONS = """
visibilityScore visibility_score score
mentionRate     mention_rate     fraction numerator=mention_count      denominator=answer_count
shareOfVoice    share_of_voice   fraction numerator=voice_count        denominator=all_voice_count
averagePosition average_position rank     numerator=position_sum       denominator=position_count
sentimentScore  sentiment_score  score    denominator=scored_count
citationShare   citation_share   fraction numerator=own_citation_count denominator=citation_count
answerCount     answer_count     count
"""
"""Each key figure: its name, its column, its unit, and the columns that it is a quotient of."""


def _compute_kpis(observations: Observations) -> JsonObject:
    """Return a dict from the name of each key figure to its values in both windows and its unit.

    Key figures that are quotients also have their numerator and denominator.
    """
    key_figures = _compute_key_figures(observations)
    previous_key_figures = (
        _compute_key_figures(observations, PREVIOUS_PREFIX)
        if observations.has_previous_window
        else dict.fromkeys(key_figures)
    )
    kpis = {}
    for definition in _KPI_DEFINITIONS.strip().splitlines():
        kpi_name, column, unit, *operand_texts = definition.split()
        column_by_operand = dict(operand_text.split("=") for operand_text in operand_texts)
        kpis[kpi_name] = {
            "value": key_figures[column],
            "previous": previous_key_figures[column],
            **{operand: key_figures[column_by_operand[operand]] for operand in column_by_operand},
            **add_previous_prefix(
                {
                    operand: previous_key_figures[column_by_operand[operand]]
                    for operand in column_by_operand
                }
            ),
            "unit": unit,
        }
    return kpis


def _compute_key_figures(observations: Observations, table_prefix: str = "") -> JsonObject:
    """Return a dict of the key figures of one window, and the counts from which they are computed.

    ``table_prefix`` is "" for the requested window, or `PREVIOUS_PREFIX` for the window before.
    """
    key_figures = (
        measure_focus_brands(observations, UNGROUPED, table_prefix)[()]
        | count_citations(observations, UNGROUPED, table_prefix)[()]
    )
    mention_rate = key_figures["mention_rate"]
    key_figures["visibility_score"] = None if mention_rate is None else 100.0 * mention_rate
    key_figures["citation_share"] = divide(
        key_figures["own_citation_count"], key_figures["citation_count"]
    )
    return key_figures


def _compute_daily_key_figures(observations: Observations) -> list[JsonObject]:
    """Return a list with one JSON object per day of the window: its key figures."""
    measures_by_day = measure_focus_brands(observations, BY_DAY)
    citation_counts_by_day = count_citations(observations, BY_DAY)
    days = (
        observations.window.start + timedelta(days=day_offset)
        for day_offset in range(observations.window.days)
    )
    return [
        {
            "date": day,
            **select_fields(
                {
                    "answer_count": 0,
                    **measures_by_day.get(day, {}),
                    **citation_counts_by_day.get(day, {}),
                },
                "answerCount mentionCount mentionRate shareOfVoice averagePosition positionCount"
                " brandMentionCount allMentionCount citationCount",
                brandMentionCount="voice_count",
                allMentionCount="all_voice_count",
                citationCount="own_citation_count",
            ),
        }
        for day in days
    ]


def _find_previous_brand_measures(observations: Observations) -> dict[str, JsonObject]:
    """Return a dict from brand to its measures in the previous window."""
    brand_rows = (
        measure_brands(observations, PREVIOUS_PREFIX) if observations.has_previous_window else []
    )
    return {row["brand"]: row for row in brand_rows}


def _list_top_brands(observations: Observations) -> list[JsonObject]:
    """Return a list with one JSON object per brand: its measures, and how its mention rate changed.

    The change is from the window before to the requested window.
    """
    previous_measures_by_brand = _find_previous_brand_measures(observations)
    brand_objects = []
    for row in measure_brands(observations):
        previous_measures = previous_measures_by_brand.get(row["brand"], {})
        mention_rates = previous_measures.get("mention_rate"), row["mention_rate"]
        brand_objects.append(
            {
                **select_fields(
                    row,
                    "rank brand own mentionCount mentionRate shareOfVoice averagePosition"
                    " answerCount allMentionCount positionCount",
                    allMentionCount="all_voice_count",
                ),
                "mentionRateChange": None
                if None in mention_rates
                else mention_rates[1] - mention_rates[0],
                **add_previous_prefix(select_fields(previous_measures, "mentionCount answerCount")),
            }
        )
    return brand_objects


def _list_engine_measures(observations: Observations) -> list[JsonObject]:
    """Return a list with one JSON object per engine: the measures of its answers."""
    measures_by_engine = measure_focus_brands(observations, BY_ENGINE)
    return [
        select_fields(
            {"answer_count": 0, **row, **measures_by_engine.get(row["engine"], {})},
            "engine answerCount mentionCount mentionRate lastRunDay",
        )
        for row in observations.fetch_rows(
            "SELECT engine, configured, last_run_day FROM scoped_engines ORDER BY engine"
        )
        if row["configured"] or row["engine"] in measures_by_engine
    ]


# --- ranking -----------------------------------------------------------------------------------

_POSITION_MATRIX_SQL = """
WITH engines AS (SELECT DISTINCT engine FROM answers), counted AS (
  SELECT brand, engine, sum(position) / count(position) AS mean, count(position) AS n
  FROM mentions WHERE position IS NOT NULL GROUP BY brand, engine
)
SELECT list(mean ORDER BY engine) AS means,
  list(CASE WHEN $observed THEN coalesce(n, 0) END ORDER BY engine) AS counts
FROM (SELECT unnest($brands) AS brand, generate_subscripts($brands, 1) AS place)
CROSS JOIN engines LEFT JOIN counted USING (brand, engine)
GROUP BY place ORDER BY place
"""

_POSITION_BANDS_SQL = """
WITH counted AS (
  SELECT brand, CASE WHEN position <= 3 THEN CAST(position AS VARCHAR)
    WHEN position <= 10 THEN '4-10' ELSE '11+' END AS band, count(*) AS n, min(position) AS least
  FROM mentions WHERE position IS NOT NULL
    AND brand IN (SELECT brand FROM listed_brands)
  GROUP BY brand, band
)
SELECT brand, map_from_entries(list((band, n) ORDER BY least)) AS bands
FROM counted GROUP BY brand ORDER BY brand
"""

# A day on which no answer names a listed brand has no ranks.
_DAILY_RANKS_SQL = """
WITH counted AS (
  SELECT day, brand, count(*) AS n FROM mentions GROUP BY day, brand
), placed AS (
  SELECT day, brand, row_number() OVER (PARTITION BY day ORDER BY n DESC, brand) AS rank
  FROM counted
), listed AS (
  SELECT * FROM placed WHERE brand IN (SELECT brand FROM listed_brands)
)
SELECT day AS date, map_from_entries(coalesce(
  list((brand, rank) ORDER BY rank) FILTER (brand IS NOT NULL), [])) AS ranks
FROM (SELECT DISTINCT day FROM answers) AS days LEFT JOIN listed USING (day)
GROUP BY day ORDER BY day
"""

_MENTIONS_BY_PROMPT_SQL = """
WITH counted AS (
  SELECT prompt_id, brand, 0 AS before, count(*) AS n FROM mentions GROUP BY ALL
  UNION ALL
  SELECT prompt_id, brand, 1, count(*) FROM previous_mentions WHERE $compared GROUP BY ALL
), asked AS (
  SELECT DISTINCT prompt_id, 0 AS before FROM answers
  UNION ALL SELECT DISTINCT prompt_id, 1 FROM previous_answers WHERE $compared
), whole AS (
  SELECT prompt_id, before, CAST(coalesce(sum(n), 0) AS BIGINT) AS total
  FROM asked LEFT JOIN counted USING (prompt_id, before) GROUP BY ALL
), cells AS (
  SELECT prompt_id, listed.brand,
    max(total) FILTER (before = 0) AS total, max(total) FILTER (before = 1) AS total_before,
    max(coalesce(n, 0)) FILTER (before = 0) AS n,
    max(coalesce(n, 0)) FILTER (before = 1) AS n_before
  FROM whole CROSS JOIN (SELECT brand FROM listed_brands) AS listed
  LEFT JOIN counted USING (prompt_id, before, brand) GROUP BY ALL
)
SELECT prompt_id AS "promptId", max(total) AS "mentionCount",
  max(total_before) AS "previousMentionCount",
  map_from_entries(list((brand, {
    'mentionCount': n, 'shareOfVoice': n / nullif(total, 0),
    'previousMentionCount': n_before, 'previousShareOfVoice': n_before / nullif(total_before, 0)
  }) ORDER BY brand)) AS brands
FROM cells GROUP BY prompt_id ORDER BY prompt_id
"""


@register_section("ranking")
def ranking(observations: Observations) -> SectionResponse:
    """Return the section ``ranking``: brands by rank, by prompt, by engine and by day."""
    leaderboard = _make_leaderboard(observations)
    has_mentions = observations.has_rows("mentions")
    brands = [row["brand"] for row in leaderboard]
    matrix_rows = observations.fetch_rows(
        _POSITION_MATRIX_SQL, brands=brands, observed=has_mentions
    )
    empty_matrix: list[Any] = [[]] * len(brands)
    body = {
        "leaderboard": leaderboard,
        "matrix": {
            "metric": "averagePosition",
            "brands": brands,
            "engines": observations.fetch_column(
                "SELECT DISTINCT engine FROM answers ORDER BY engine"
            ),
            "values": [row["means"] for row in matrix_rows] or empty_matrix,
            "sampleCounts": [row["counts"] for row in matrix_rows] or empty_matrix,
        },
        "positionCounts": {
            row["brand"]: row["bands"] for row in observations.fetch_rows(_POSITION_BANDS_SQL)
        },
        "history": observations.fetch_rows(_DAILY_RANKS_SQL) if has_mentions else [],
        "byPrompt": observations.fetch_rows(
            _MENTIONS_BY_PROMPT_SQL, compared=observations.has_previous_window
        )
        if has_mentions
        else [],
    }
    return SectionResponse(
        body,
        find_answers_availability(
            observations,
            reasons=[explain_no_rows(observations, "mentions")],
            state_by_path=find_previous_window_states(observations, _RANKING_PREVIOUS_PATHS),
        ),
    )


_COMPARED_MEASURES = "rank shareOfVoice mentionCount allMentionCount"
"""The measures in the leaderboard that also have their value in the previous window."""

# The JSON paths of fields that need the window before the requested one.
_RANKING_PREVIOUS_PATHS = """
leaderboard[].previousRank leaderboard[].previousShareOfVoice leaderboard[].previousMentionCount
leaderboard[].previousAllMentionCount byPrompt[].previousMentionCount
byPrompt[].brands{}.previousMentionCount byPrompt[].brands{}.previousShareOfVoice
"""


def _make_leaderboard(observations: Observations) -> list[JsonObject]:
    """Return a list of brands by rank, with measures in the requested window and the one before."""
    previous_measures_by_brand = _find_previous_brand_measures(observations)
    return [
        {
            **select_fields(
                row,
                "rank brand own averagePosition firstPositionRate topThreeRate mentionCount"
                " shareOfVoice positionCount firstPositionCount topThreeCount allMentionCount",
                firstPositionCount="first_count",
                allMentionCount="all_voice_count",
            ),
            **add_previous_prefix(
                select_fields(
                    previous_measures_by_brand.get(row["brand"], {}),
                    _COMPARED_MEASURES,
                    allMentionCount="all_voice_count",
                )
            ),
        }
        for row in measure_brands(observations)
    ]


# --- perception --------------------------------------------------------------------------------

_ATTRIBUTES_SQL = """
WITH by_engine AS (
  SELECT brand, attribute, engine, count(*) AS n FROM attributes GROUP BY ALL
), tones AS (
  SELECT brand, attribute, polarity, count(*) AS n
  FROM attributes WHERE polarity IS NOT NULL GROUP BY ALL
), usual_tone AS (
  SELECT brand, attribute, first(polarity ORDER BY n DESC, polarity) AS polarity
  FROM tones GROUP BY brand, attribute
), counted AS (
  SELECT brand, attribute, CAST(sum(n) AS BIGINT) AS occurrences,
    map_from_entries(list((engine, n) ORDER BY engine)) AS engines
  FROM by_engine GROUP BY brand, attribute
)
SELECT attribute, brand, polarity, occurrences,
  occurrences / sum(occurrences) OVER (PARTITION BY brand) AS share,
  CAST(sum(occurrences) OVER (PARTITION BY brand) AS BIGINT) AS "brandOccurrences",
  engines AS "byEngine"
FROM counted LEFT JOIN usual_tone USING (brand, attribute)
WHERE brand IN (SELECT brand FROM listed_brands)
ORDER BY occurrences DESC, brand, attribute
"""

_CLAIMS_SQL = """
SELECT claim_id AS "claimId", brand, text, verdict, count(*) AS occurrences,
  list(DISTINCT engine ORDER BY engine) AS engines,
  first(chat_id ORDER BY day DESC, chat_id) AS "exampleChatId"
FROM claim_sightings JOIN store.claims USING (host, claim_id)
WHERE brand IN (SELECT brand FROM listed_brands)
GROUP BY claim_id, brand, text, verdict
ORDER BY occurrences DESC, claim_id
"""


@register_section("perception")
def perception(observations: Observations) -> SectionResponse:
    """Return the section ``perception``: sentiment by brand, its trend, attributes and claims."""
    sentiment_rows = [
        {
            "brand": measures["brand"],
            **_select_sentiment(measures),
            **select_fields(measures, "own mentionCount"),
        }
        for measures in measure_brands(observations)
    ]
    days_and_measures = measure_focus_brands(observations, BY_DAY).items()
    reason_by_field = {
        "sentiment": explain_no_rows(observations, "mentions"),
        "sentimentTrend": explain_no_mentions(observations),
        "attributes": explain_no_rows(observations, "attributes"),
        "claims": None
        if observations.has_rows("claim_sightings")
        else "The store holds no claims for this project.",
    }
    state_by_field = {
        field_name: State("unavailable", reason)
        for field_name, reason in reason_by_field.items()
        if reason
    }
    return SectionResponse(
        {
            "sentiment": sentiment_rows,
            "sentimentTrend": [
                {"date": day, **_select_sentiment(measures)}
                for day, measures in days_and_measures
                if measures["scored_count"]
            ],
            "attributes": observations.fetch_rows(_ATTRIBUTES_SQL),
            "claims": observations.fetch_rows(_CLAIMS_SQL),
        },
        find_answers_availability(
            observations,
            sum(row["scoredCount"] for row in sentiment_rows if row["scoredCount"] is not None),
            reasons=dict.fromkeys(reason_by_field.values()),
            state_by_path=state_by_field,
        ),
    )


def _select_sentiment(row: JsonObject) -> JsonObject:
    """Return a JSON object with the sentiment score, and the share and count of each sentiment."""
    return select_fields(
        row,
        "score positive neutral negative scoredCount labelledCount positiveCount neutralCount"
        " negativeCount",
        score="sentiment_score",
    )


# --- prompts -----------------------------------------------------------------------------------

_PAGE_SIZE = 100

_PROMPTS_SQL = """
WITH counted AS (
  SELECT prompt_id, brand, count(*) AS mention_count FROM mentions GROUP BY prompt_id, brand
), leaders AS (
  SELECT prompt_id, first(brand ORDER BY mention_count DESC, brand) AS top_brand
  FROM counted GROUP BY prompt_id
)
SELECT scoped_prompts.*, top_brand,
  CASE WHEN volume_estimate IS NOT NULL OR volume_band IS NOT NULL
    THEN {'estimate': volume_estimate, 'band': volume_band} END AS volume
FROM scoped_prompts LEFT JOIN leaders USING (prompt_id)
ORDER BY prompt_id
"""

_LATEST_RUNS_SQL = """
WITH latest AS (
  SELECT * FROM runs
  QUALIFY row_number() OVER (
    PARTITION BY prompt_id, engine ORDER BY ran_at DESC, chat_id DESC) = 1
), named AS (
  SELECT chat_id, min(position) AS position FROM mentions
  WHERE brand IN (SELECT brand FROM focus) GROUP BY chat_id
)
SELECT prompt_id, engine, day AS last_run_day, position,
  CASE WHEN $measured AND outcome = 'answered' THEN named.chat_id IS NOT NULL END AS mentioned
FROM latest LEFT JOIN named USING (chat_id)
ORDER BY prompt_id, engine
"""

_PROMPT_MEASURES = "answerCount mentionCount mentionRate"
"""The measures of each prompt, and of each prompt on each engine."""

# The JSON paths of fields that need the window before the requested one.
_PROMPTS_PREVIOUS_PATHS = """
rows[].previousAnswerCount rows[].previousMentionCount rows[].previousMentionRate
rows[].previousAveragePosition rows[].previousPositionCount rows[].engines[].previousAnswerCount
rows[].engines[].previousMentionCount rows[].engines[].previousMentionRate
"""

# How many prompts are used is known if it is known of each prompt.
_ACCOUNT_SQL = """
WITH counted AS (
  SELECT CASE WHEN count(*) > 0 AND count(*) = count(active)
    THEN count(*) FILTER (WHERE active) END AS used
  FROM store.prompts WHERE host = $host
)
SELECT plan, prompt_allowance AS "promptAllowance", used AS "promptsUsed",
  prompt_allowance - used AS "promptsRemaining", engine_allowance AS "engineAllowance",
  allowance_resets_on AS "resetsOn"
FROM store.projects CROSS JOIN counted WHERE host = $host
"""


@register_section("prompts")
def prompts(observations: Observations) -> SectionResponse:
    """Return the section ``prompts``: prompts with their measures, and the account's quota."""
    prompt_objects = _list_prompts(observations)
    account_fields = observations.fetch_row(_ACCOUNT_SQL)
    state_by_path = {
        f"account.{field_name}": State("unavailable", "This is not known of the account.")
        for field_name, value in account_fields.items()
        if value is None
    }
    state_by_path |= find_previous_window_states(observations, _PROMPTS_PREVIOUS_PATHS)
    return SectionResponse(
        {
            "account": account_fields,
            "rows": prompt_objects,
            "paging": {
                "offset": 0,
                "limit": max(_PAGE_SIZE, len(prompt_objects)),
                "total": len(prompt_objects),
            },
        },
        find_answers_availability(
            observations,
            reasons=(explain_no_mentions(observations), explain_no_own_citations(observations)),
            state_by_path=state_by_path,
        ),
    )


def _list_prompts(observations: Observations) -> list[JsonObject]:
    """Return a list with one JSON object per prompt: its properties and measures."""
    measures_by_prompt = measure_focus_brands(observations, BY_PROMPT)
    citation_counts_by_prompt = count_citations(observations, BY_PROMPT)
    runs_by_prompt = _find_runs_by_prompt(observations)
    prompt_objects = []
    for row in observations.fetch_rows(_PROMPTS_SQL):
        prompt_id = row["prompt_id"]
        prompt_objects.append(
            {
                **select_fields(
                    row,
                    "promptId prompt topic category intent branded country language active topBrand"
                    " createdAt volume",
                ),
                **select_fields(
                    {
                        "answer_count": 0,
                        **measures_by_prompt.get(prompt_id, {}),
                        **citation_counts_by_prompt.get(prompt_id, {}),
                    },
                    f"{_PROMPT_MEASURES} averagePosition sentimentScore positionCount scoredCount"
                    " ownCitationCount",
                ),
                "engines": runs_by_prompt.get(prompt_id, []),
                **_find_previous_measures(
                    observations,
                    BY_PROMPT,
                    prompt_id,
                    f"{_PROMPT_MEASURES} averagePosition positionCount",
                ),
            }
        )
    return prompt_objects


def _find_previous_measures(
    observations: Observations, grouping: Grouping, group: Any, measure_names: str
) -> JsonObject:
    """Return measures of one group of answers in the window before the requested one.

    ``group`` is the key of the group, for example the id of a prompt. ``measure_names`` has the
    names of the measures, separated by spaces; in the result, they have the prefix ``previous``.
    """
    row = {}
    if observations.has_previous_window:
        row = {
            "answer_count": 0,
            **measure_focus_brands(observations, grouping, PREVIOUS_PREFIX).get(group, {}),
        }
    return add_previous_prefix(select_fields(row, measure_names))


def _find_runs_by_prompt(observations: Observations) -> dict[str, list[JsonObject]]:
    """Return a dict from prompt to a list with one JSON object per AI engine.

    The object has the latest run of the prompt on the engine, and the measures of its answers.
    """
    measures_by_group = measure_focus_brands(observations, BY_PROMPT_AND_ENGINE)
    runs_by_prompt: dict[str, list[JsonObject]] = {}
    has_focus_mentions = explain_no_mentions(observations) is None
    for row in observations.fetch_rows(_LATEST_RUNS_SQL, measured=has_focus_mentions):
        prompt_and_engine = (row["prompt_id"], row["engine"])
        runs_by_prompt.setdefault(row["prompt_id"], []).append(
            {
                **select_fields(row, "engine mentioned position lastRunDay"),
                **select_fields(
                    {"answer_count": 0, **measures_by_group.get(prompt_and_engine, {})},
                    _PROMPT_MEASURES,
                ),
                **_find_previous_measures(
                    observations, BY_PROMPT_AND_ENGINE, prompt_and_engine, _PROMPT_MEASURES
                ),
            }
        )
    return runs_by_prompt


# --- chats -------------------------------------------------------------------------------------

MAX_CHATS = 500
"""The largest number of runs in one response."""

_CHATS_SQL = """
WITH chosen AS (
  SELECT host, chat_id, prompt_id, prompts.prompt, engine, prompts.country, ran_at, outcome
  FROM named_runs JOIN scoped_prompts AS prompts USING (host, prompt_id)
  ORDER BY ran_at DESC, chat_id LIMIT $limit
)
SELECT chat_id AS "chatId", chosen.prompt_id AS "promptId", prompt, chosen.engine, model, country,
  chosen.ran_at AS "ranAt", chosen.outcome,
  CASE WHEN chosen.outcome = 'answered' THEN {
    'format': answer_format, 'text': answer_text,
    'characters': answer_characters, 'truncated': answer_truncated
  } END AS answer,
  NULL AS mentions, NULL AS citations,
  exposes_fanouts IS FALSE AND chosen.outcome = 'answered' AS fanouts,
  features
FROM chosen
JOIN (SELECT * FROM store.answers WHERE host = $host) AS said USING (host, chat_id)
LEFT JOIN scoped_engines AS engines ON engines.engine = chosen.engine
ORDER BY chosen.ran_at DESC, chat_id
"""

# Flat rows take half the time of lists of structs.
_SQL_BY_CHAT_FIELD = {
    "mentions": """
SELECT chat_id, brand, own, position, sentiment, sentiment_score AS "sentimentScore", excerpt
FROM store.mentions LEFT JOIN store.brands USING (host, brand)
WHERE host = $host AND chat_id IN (SELECT unnest($chats)) ORDER BY position NULLS LAST, brand
""",
    "citations": """
SELECT chat_id, n, url, source_domain AS domain, title, domain_type AS "domainType", cited
FROM store.citations LEFT JOIN store.source_domains USING (host, source_domain)
WHERE host = $host AND chat_id IN (SELECT unnest($chats)) ORDER BY n
""",
    "fanouts": """
SELECT chat_id, query FROM store.fanouts
WHERE host = $host AND chat_id IN (SELECT unnest($chats)) ORDER BY query_index
""",
}


@register_section("chats")
def chats(observations: Observations) -> SectionResponse:
    """Return the section ``chats``: the latest runs, with any outcome.

    A run is one prompt sent to an engine (AI assistant).
    """
    matched_count = observations.fetch_value("SELECT count(*) FROM named_runs")
    chat_rows = observations.fetch_rows(_CHATS_SQL, limit=MAX_CHATS)
    chat_ids = [row["chatId"] for row in chat_rows]
    for field_name, sql in _SQL_BY_CHAT_FIELD.items():
        items_by_chat: dict[str, list[Any]] = {chat_id: [] for chat_id in chat_ids}
        for item_row in observations.fetch_rows(sql, chats=chat_ids):
            chat_id = item_row.pop("chat_id")
            items_by_chat[chat_id].append(
                item_row["query"] if field_name == "fanouts" else item_row
            )
        for row in chat_rows:
            # An engine that hides its query expansions leaves them unknown, not empty.
            row[field_name] = items_by_chat[row["chatId"]] or (None if row[field_name] else [])
    sampling_object = {
        "returned": len(chat_rows),
        "matched": matched_count,
        "method": "most_recent",
    }
    reason = f"Sampled answers: {len(chat_rows)} of {matched_count} matching answers returned"
    availability = find_answers_availability(
        observations,
        sample_count=matched_count,
        reasons=[f"{reason}, the latest, from {chat_rows[-1]['ranAt']:%Y-%m-%d} on."]
        if len(chat_rows) < matched_count
        else (),
        state_by_path={
            f"chats[].{table}": State("unavailable", empty_reason)
            for table in _SQL_BY_CHAT_FIELD
            if (empty_reason := explain_no_rows(observations, table))
        },
    )
    if matched_count and availability.status == "unavailable":
        availability = replace(availability, status="partial")
    return SectionResponse({"sampling": sampling_object, "chats": chat_rows}, availability)
