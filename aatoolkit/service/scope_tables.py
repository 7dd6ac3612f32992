"""The tables of the rows in a question's scope, as SQL.

===================== ==================================================================
``scoped_prompts``    prompts of the host with the topics and categories asked for
``scoped_engines``    engines of the host among those asked for, with ``last_run_day``
``runs``              every run of those prompts on those engines in the window, with the
                      prompt's ``topic``, whatever its outcome
``answers``           the runs with outcome ``answered``: the denominator of every rate
``focus``             the brands the question is about: those of the brand filter, else the
                      project's own
``listed_brands``     brands to list: those of the brand filter, else all of the project
``own_domains``       the domains of the brands in focus among those cited
``hit_totals``        requests of the crawlers that serve the engines in the window, by
                      crawler, path, site and status, with the moment of the last
``hit_hours``         the same by crawler and hour
``page_sets``         the answers that cite the same pages of a domain, by engine and prompt:
                      ``source_domain``, ``urls`` (sorted) and the number of ``answers``
``page_paths``        each address cited in the window, whatever the filters, taken apart
                      into ``site`` and ``path``
``site_visits``       visits in the window with their conversions; ``ai`` those from the
                      engines asked for, ``other`` those from no engine
``named_runs``        the runs whose answer mentions a brand of the brand filter; without
                      that filter, all of ``runs``
``named_answers``     the same, of ``answers``
===================== ==================================================================

``mentions``, ``attributes``, ``citations``, ``fanouts``, ``product_mentions`` and
``claim_sightings`` are the rows of the store's table of that name that belong to
``answers``, with the answer's ``engine``, ``prompt_id`` and ``day``. The same names with
``previous_`` before them (``previous_answers``, ``previous_mentions``,
``previous_citations``) hold the window before, of equal length; of its sources only those
cited. With ``trial_`` before them (``trial_answers``, ``trial_mentions``,
``trial_citations``, of sources cited) they hold the windows of the completed actions that
:mod:`~aatoolkit.service.sections.impact` lists.

Long texts are left out: the one section that shows them reads them from the store.

The store is read once for a host and a window: a question with filters takes its rows of
answers, requests and visits from the tables of the same question without any. Tables that many
queries read are copied, of the others there are views.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PROMPTS = """
SELECT * FROM store.prompts
WHERE host = $host
  AND (len($topic) = 0 OR list_contains($topic, topic))
  AND (len($category) = 0 OR list_contains($category, category))
"""

_ENGINES = """
SELECT engines.*, runs.last_run_day
FROM store.engines AS engines LEFT JOIN derived.engine_runs AS runs USING (host, engine)
WHERE host = $host AND (len($engine) = 0 OR list_contains($engine, engine))
"""

# The bare comparison of ran_at is what lets a Parquet file skip all other days.
_RUNS = """
SELECT answers.host, answers.chat_id, answers.prompt_id, answers.engine, answers.outcome,
  CAST(answers.ran_at AS TIMESTAMP) AS ran_at, CAST(answers.ran_at AS DATE) AS day,
  prompts.topic
FROM raw.answers AS answers JOIN scoped_prompts AS prompts USING (host, prompt_id)
WHERE answers.host = $host AND answers.ran_at >= $window_first AND answers.ran_at < $window_until
  AND (len($engine) = 0 OR list_contains($engine, answers.engine))
"""

_FOCUS = """
SELECT * FROM store.brands
WHERE host = $host AND CASE WHEN len($brand) = 0 THEN own IS TRUE
                            ELSE list_contains($brand, brand) END
"""

_LISTED = """
SELECT * FROM store.brands
WHERE host = $host AND (len($brand) = 0 OR list_contains($brand, brand))
"""

# A domain is the subject's own where it is the domain of a brand in focus or below it. Where
# the project's own brand is asked about, the host and the domains marked owned count too.
_OWN_DOMAINS = """
WITH asked_own AS (
  SELECT len($brand) = 0 OR EXISTS (SELECT 1 FROM focus WHERE own) AS yes
), own_names AS (
  SELECT domain AS name FROM focus WHERE domain IS NOT NULL
  UNION
  SELECT $host FROM asked_own WHERE yes
  UNION
  SELECT source_domain FROM store.source_domains, asked_own
  WHERE host = $host AND domain_type = 'owned' AND yes
)
SELECT DISTINCT source_domain
FROM (SELECT source_domain FROM derived.source_domains WHERE host = $host) AS seen
JOIN own_names ON source_domain = name OR ends_with(source_domain, '.' || name)
"""

_NAMED = """
SELECT * FROM {rows}
WHERE chat_id IN (SELECT chat_id FROM mentions WHERE list_contains($brand, brand))
"""
_NAMED_ROWS = ("runs", "answers", "citations", "fanouts")

_HITS = """
FROM raw.crawler_hits
WHERE host = $host AND hour >= $window_first AND hour < $window_until
  AND (len($engine) = 0
       OR bot IN (SELECT bot FROM store.bots WHERE list_contains($engine, engine)))
"""
_HIT_HOURS = f"""
SELECT bot, CAST(hour AS TIMESTAMP) AS hour, CAST(sum(requests) AS BIGINT) AS requests
{_HITS} GROUP BY bot, hour
"""
_HIT_TOTALS = f"""
SELECT bot, path, site, status, CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(verified_requests) AS BIGINT) AS verified_requests,
  CAST(sum(bytes) AS BIGINT) AS bytes,
  CAST(sum(requests) FILTER (verified_requests IS NULL) AS BIGINT) AS without_verified,
  CAST(sum(requests) FILTER (bytes IS NULL) AS BIGINT) AS without_bytes,
  max({{'seen_at': CAST(coalesce(last_at, hour) AS TIMESTAMP), 'hour': CAST(hour AS TIMESTAMP)}})
    AS latest
{_HITS} GROUP BY bot, path, site, status
"""

_PAGE_PATHS = """
SELECT url,
  lower(regexp_extract(url, '^[A-Za-z]+://([^/?#:]+)', 1)) AS site,
  coalesce(nullif(regexp_extract(url, '^[A-Za-z]+://[^/?#]+([^?#]*)', 1), ''), '/') AS path
FROM (SELECT DISTINCT url FROM citations WHERE cited)
"""

_PAGE_SETS = """
SELECT source_domain, urls, engine, prompt_id, count(*) AS answers
FROM (
  SELECT source_domain, engine, prompt_id,
    CASE WHEN len(urls) = 1 THEN urls ELSE list_sort(list_distinct(urls)) END AS urls
  FROM (
    SELECT source_domain, list(url) AS urls, any_value(engine) AS engine,
      any_value(prompt_id) AS prompt_id
    FROM {window}citations WHERE cited GROUP BY chat_id, source_domain
  )
)
GROUP BY source_domain, urls, engine, prompt_id
"""

_SITE_VISITS = """
WITH made AS (
  SELECT host, visit_id, count(*) AS n, sum(revenue ORDER BY conversion_id) AS revenue
  FROM store.conversions WHERE host = $host GROUP BY host, visit_id
)
SELECT visits.*, coalesce(made.n, 0) AS made, made.revenue,
  visits.engine IS NULL OR engines.separable_traffic IS FALSE AS other,
  NOT other AND (len($engine) = 0 OR list_contains($engine, visits.engine)) AS ai
FROM store.visits AS visits
LEFT JOIN store.engines AS engines USING (host, engine)
LEFT JOIN made USING (host, visit_id)
WHERE visits.host = $host AND visits.day BETWEEN $window_start AND $window_end
"""

# The windows of experiments lie anywhere: before the question's window, and before that.
_TRIAL_ANSWERS = """
SELECT host, chat_id, prompt_id, engine, CAST(ran_at AS DATE) AS day
FROM raw.answers JOIN scoped_prompts USING (host, prompt_id)
WHERE host = $host AND outcome = 'answered' AND ran_at < $window_until
  AND (len($engine) = 0 OR list_contains($engine, engine))
  AND ran_at >= (
    SELECT CAST(least(min(before_start), min(after_start)) AS TIMESTAMP) FROM store.experiments
    WHERE host = $host AND after_start <= $window_end AND after_end >= $window_start)
"""

_OF_ANSWERS = {
    "mentions": "brand, position, sentiment, sentiment_score",
    "attributes": "brand, attribute, polarity",
    "citations": "n, url, source_domain, cited, title",
    "fanouts": "query_index, query",
    "product_mentions": "product_id, position",
    "claim_sightings": "claim_id",
}
_OF_PREVIOUS = {"mentions": _OF_ANSWERS["mentions"], "citations": "url, source_domain, cited"}
_OF_TRIALS = {"mentions": "brand", "citations": "source_domain"}


def _definitions() -> dict[str, str]:
    tables = {
        "scoped_prompts": _PROMPTS,
        "scoped_engines": _ENGINES,
        "focus": _FOCUS,
        "listed_brands": _LISTED,
        "own_domains": _OWN_DOMAINS,
        "hit_hours": _HIT_HOURS,
        "hit_totals": _HIT_TOTALS,
        "page_paths": _PAGE_PATHS,
        "site_visits": _SITE_VISITS,
        **{f"named_{rows}": _NAMED.format(rows=rows) for rows in _NAMED_ROWS},
    }
    for prefix in ("", "previous_"):
        tables[f"{prefix}runs"] = _RUNS
        tables[f"{prefix}page_sets"] = _PAGE_SETS.format(window=prefix)
        tables[f"{prefix}answers"] = f"SELECT * FROM {prefix}runs WHERE outcome = 'answered'"
    tables["trial_answers"] = _TRIAL_ANSWERS
    parts = {"": _OF_ANSWERS, "previous_": _OF_PREVIOUS, "trial_": _OF_TRIALS}
    for prefix, of_answers in parts.items():
        for name, columns in of_answers.items():
            tables[f"{prefix}{name}"] = (
                f"SELECT host, chat_id, {columns}, answers.engine, answers.prompt_id, answers.day"
                f" FROM store.{name} AS seen JOIN {prefix}answers AS answers USING (host, chat_id)"
                f" WHERE host = $host{' AND cited' if prefix and name == 'citations' else ''}"
            )
    return tables


TABLES = _definitions()
VIEWS = {
    *("runs", "previous_runs", "attributes", "claim_sightings", "site_visits"),
    *("page_sets", "previous_page_sets"),
    *("trial_answers", "trial_mentions", "trial_citations", "hit_hours", "hit_totals"),
}
"""Tables of which a question with filters has views: few queries read them."""
READ_ONCE = {"page_paths"} | VIEWS | {"answers", "previous_answers", *_OF_ANSWERS}
READ_ONCE |= {f"previous_{name}" for name in _OF_PREVIOUS}
"""Tables of which a question with filters has the rows that pass them."""
_READ = re.compile(rf"\b(?:FROM|JOIN)\s+({'|'.join(TABLES)})\b")


@lru_cache(maxsize=1024)
def tables_read(sql: str) -> tuple[str, ...]:
    """The tables of this module that a query reads."""
    return tuple(dict.fromkeys(_READ.findall(sql)))
