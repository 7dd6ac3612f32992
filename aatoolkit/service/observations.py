"""Run SQL queries over the observations that pass the filters of a request.

Observations are what the store has recorded of a host, such as the answers of AI engines and the
visits to its pages. The tables below have only observations that pass the filters of the request:
its host, window of days, engines, topics and categories, as far as a table has them. Which tables
depend on the filter of brands, the list says. All are temporary tables; the first query that reads
a table creates it. Tables ``store.<table>`` have all rows.

===================== ==================================================================
``scoped_prompts``    prompts that pass the topic and category filters
``scoped_engines``    engines (AI assistants) that pass the engine filter, with ``last_run_day``
``runs``              all runs (of a prompt on an engine) with any outcome
``answers``           the runs with outcome ``answered``: the denominator of every rate
``focus``             the brands of the brand filter, else the project's own
``listed_brands``     the brands of the brand filter, else all of the project
``own_domains``       the cited domains that belong to the brands in ``focus``
``hits``              requests of crawlers
``hit_totals``        sums of ``hits`` by crawler, path, site and status
``hit_hours``         sums of ``hits`` by crawler and hour
``page_paths``        each cited address, split into ``site`` and ``path``
``site_visits``       visits with their conversions; ``ai`` is true for visits from the
                      engines of the filter, ``other`` for visits from no engine, or from
                      an engine whose visits cannot be told apart from others
``named_runs``        the runs whose answer mentions a brand of the brand filter
``named_answers``     the answers that mention a brand of the brand filter
``named_fanouts``     the search queries behind ``named_answers``
``seen_sources``      the sources of ``named_answers``, cited or only retrieved
``shopping_answers``  the answers that were examined for shopping results
``shelf``             the products that ``shopping_answers`` show
``cited_pages``       first and last day on which a page was cited
===================== ==================================================================

Without a brand filter, ``named_runs`` has all runs. ``mentions``, ``attributes``, ``citations``,
``fanouts``, ``product_mentions`` and ``claim_sightings`` have the rows that belong to ``answers``.
Tables with the prefix ``previous_`` have the days of the previous window, which is as long as the
requested window and ends on the day before it. Tables with the prefix ``trial_`` have the days that
are needed to compare the time before and after completed actions, such as changes of pages: from
the first day that is compared, to the end of the requested window.

Queries may use the parameters ``$host``, ``$engine``, ``$topic``, ``$category``, ``$brand``
(lists), ``$window_start`` and ``$window_end`` (days, both included).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, cached_property, wraps
from typing import Any, TypeVar, cast

import duckdb

Function = TypeVar("Function", bound=Callable[..., Any])
JsonObject = dict[str, Any]
"""A row of a table, or an object in JSON: a dict from names to values."""

FILTERS = {
    "engine": ("engines", "id"),
    "topic": ("topics", "topic"),
    "category": ("categories", "category"),
    "brand": ("brands", "name"),
}
"""The filters; for each, the list in the scope options with its values, and the field there."""

ALLOWED_DAYS = (7, 30, 90)


@dataclass(frozen=True)
class Window:
    """A range of whole UTC days, both ends included."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.end - self.start).days + 1

    @property
    def previous(self) -> Window:
        """The window of the same length that ends on the day before this one starts."""
        return Window(self.start - timedelta(days=self.days), self.start - timedelta(days=1))


@dataclass(frozen=True)
class ServiceScope:
    """The validated parameters of a request: its host, number of days, and filter values."""

    host: str
    days: int = 30
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def filter_values(self, name: str) -> tuple[str, ...]:
        """Return the values of a filter, as a tuple; it is empty if the filter is not set."""
        return self.filters.get(name, ())


_ANSWER_COLUMNS_BY_TABLE = {
    "mentions": "brand, position, sentiment, sentiment_score",
    "attributes": "brand, attribute, polarity",
    "citations": "n, url, source_domain, cited, title",
    "fanouts": "query_index, query",
    "product_mentions": "product_id, position",
    "claim_sightings": "claim_id",
}

_MENTIONS_BRAND_SQL = "chat_id IN (SELECT chat_id FROM mentions WHERE list_contains($brand, brand))"
"""The SQL condition that an answer mentions a brand of the brand filter."""

_SQL_BY_TABLE = {
    "scoped_prompts": """
SELECT * FROM store.prompts
WHERE host = $host
  AND (len($topic) = 0 OR list_contains($topic, topic))
  AND (len($category) = 0 OR list_contains($category, category))
""",
    "scoped_engines": """
SELECT engines.*, seen.last_run_day
FROM store.engines AS engines LEFT JOIN store.engine_runs AS seen USING (host, engine)
WHERE host = $host AND (len($engine) = 0 OR list_contains($engine, engine))
""",
    "runs": """
SELECT said.host, chat_id, prompt_id, engine, outcome, ran_at, CAST(ran_at AS DATE) AS day, topic
FROM store.answers AS said JOIN scoped_prompts USING (host, prompt_id)
WHERE said.host = $host AND CAST(ran_at AS DATE) BETWEEN $window_start AND $window_end
  AND (len($engine) = 0 OR list_contains($engine, engine))
""",
    "focus": """
SELECT * FROM store.brands
WHERE host = $host AND CASE WHEN len($brand) = 0 THEN own IS TRUE
                            ELSE list_contains($brand, brand) END
""",
    "listed_brands": """
SELECT * FROM store.brands
WHERE host = $host AND (len($brand) = 0 OR list_contains($brand, brand))
""",
    # A domain is the subject's own where it is the domain of a brand in focus or below it. Where
    # the project's own brand is asked about, the host and the domains marked owned count too.
    "own_domains": """
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
FROM (SELECT DISTINCT source_domain FROM store.citations WHERE host = $host) AS seen
JOIN own_names ON source_domain = name OR ends_with(source_domain, '.' || name)
""",
    "hit_hours": """
SELECT bot, hour, CAST(sum(requests) AS BIGINT) AS requests FROM hits GROUP BY bot, hour
""",
    "hits": """
SELECT * FROM store.crawler_hits
WHERE host = $host AND CAST(hour AS DATE) BETWEEN $window_start AND $window_end
  AND (len($engine) = 0
       OR bot IN (SELECT bot FROM store.bots WHERE list_contains($engine, engine)))
""",
    "hit_totals": """
SELECT bot, path, site, status, CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(verified_requests) AS BIGINT) AS verified_requests,
  CAST(sum(bytes) AS BIGINT) AS bytes,
  CAST(sum(requests) FILTER (verified_requests IS NULL) AS BIGINT) AS without_verified,
  CAST(sum(requests) FILTER (bytes IS NULL) AS BIGINT) AS without_bytes,
  max({'seen_at': coalesce(last_at, hour), 'hour': hour}) AS latest
FROM hits GROUP BY bot, path, site, status
""",
    "page_paths": """
SELECT url,
  lower(regexp_extract(url, '^[A-Za-z]+://([^/?#:]+)', 1)) AS site,
  coalesce(nullif(regexp_extract(url, '^[A-Za-z]+://[^/?#]+([^?#]*)', 1), ''), '/') AS path
FROM (SELECT DISTINCT url FROM citations WHERE cited)
""",
    # Every source of the named answers, cited or only retrieved, with the kind of its domain.
    "seen_sources": f"""
SELECT citations.*, engines.exposes_retrieval, source_domains.domain_type
FROM citations
LEFT JOIN scoped_engines AS engines USING (host, engine)
LEFT JOIN store.source_domains AS source_domains USING (host, source_domain)
WHERE {_MENTIONS_BRAND_SQL}
""",
    "shopping_answers": """
SELECT answers.* FROM answers JOIN scoped_engines AS engines USING (host, engine)
WHERE shopping_checked OR (shopping_checked IS NULL AND engine IN (
  SELECT engine FROM store.answers
  WHERE host = $host AND chat_id IN (SELECT chat_id FROM store.product_mentions WHERE host = $host)
))
""",
    "shelf": """
SELECT product_mentions.*, products.brand, products.title, products.category,
  products.rating_value, products.rating_max, products.rating_count, products.stock_status
FROM product_mentions
JOIN (SELECT host, chat_id FROM shopping_answers) AS checked USING (host, chat_id)
LEFT JOIN store.products AS products USING (host, product_id)
""",
    "cited_pages": """
SELECT url, CAST(min(ran_at) AS DATE) AS first_day, CAST(max(ran_at) AS DATE) AS last_day
FROM store.citations JOIN store.answers USING (host, chat_id)
WHERE host = $host AND cited AND outcome = 'answered' AND CAST(ran_at AS DATE) <= $window_end
GROUP BY url
""",
    "site_visits": """
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
""",
    # The windows of experiments lie anywhere: before the requested window, and before that.
    "trial_answers": """
SELECT host, chat_id, prompt_id, engine, CAST(ran_at AS DATE) AS day
FROM store.answers JOIN scoped_prompts USING (host, prompt_id)
WHERE host = $host AND outcome = 'answered' AND CAST(ran_at AS DATE) BETWEEN (
    SELECT least(min(before_start), min(after_start)) FROM store.experiments
    WHERE host = $host AND after_start <= $window_end AND after_end >= $window_start
  ) AND $window_end
  AND (len($engine) = 0 OR list_contains($engine, engine))
""",
}
_SQL_BY_TABLE["previous_runs"] = _SQL_BY_TABLE["runs"]
for _name in ("runs", "answers", "fanouts"):
    _SQL_BY_TABLE[f"named_{_name}"] = f"SELECT * FROM {_name} WHERE {_MENTIONS_BRAND_SQL}"
for _prefix in ("", "previous_"):
    _SQL_BY_TABLE[f"{_prefix}answers"] = f"SELECT * FROM {_prefix}runs WHERE outcome = 'answered'"
for _prefix in ("", "previous_", "trial_"):
    for _name, _columns in _ANSWER_COLUMNS_BY_TABLE.items():
        _SQL_BY_TABLE[f"{_prefix}{_name}"] = f"""
SELECT host, chat_id, {_columns}, said.engine, said.prompt_id, said.day
FROM store.{_name} AS seen JOIN {_prefix}answers AS said USING (host, chat_id)
WHERE host = $host{" AND cited" if _prefix and _name == "citations" else ""}
"""


class Observations:
    """Runs SQL queries over the observations that pass the filters of a request.

    ``scope`` has the host, days and filters of the request. ``has_rows_by_table`` keeps the
    results of `has_rows`. ``as_of`` is the last moment that was observed.
    """

    def __init__(
        self,
        scope: ServiceScope,
        has_rows_by_table: dict[str, bool],
        cursor: duckdb.DuckDBPyConnection,
    ) -> None:
        self.scope = scope
        self.cached_results: dict[object, Any] = {}
        """The results that were already computed for this request; see `cache_results`."""
        self._has_rows_by_table = has_rows_by_table
        self._cursor = cursor
        self._created_tables: set[str] = set()
        ((self.as_of,),) = cursor.execute(
            "SELECT as_of FROM store.projects WHERE host = ?", [scope.host]
        ).fetchall()
        last_day = self.as_of.date()
        self.window = Window(last_day - timedelta(days=scope.days - 1), last_day)

    def fetch_rows(self, sql: str, **parameters: object) -> list[JsonObject]:
        """Return the rows of an SQL query as dicts; ``parameters`` are its parameters by name."""
        cursor = self._execute(sql, self.window, parameters)
        column_names = [column[0] for column in cursor.description or ()]
        return [dict(zip(column_names, row, strict=True)) for row in cursor.fetchall()]

    def fetch_row(self, sql: str, **parameters: object) -> JsonObject:
        """Return the only row of the result of an SQL query, as a dict."""
        (row,) = self.fetch_rows(sql, **parameters)
        return row

    def fetch_column(self, sql: str, **parameters: object) -> list[Any]:
        """Return the first column of the result of an SQL query, as a list."""
        return [row[0] for row in self._execute(sql, self.window, parameters).fetchall()]

    def fetch_value(self, sql: str, **parameters: object) -> Any:
        """Return the value in the only row of the result of an SQL query."""
        (value,) = self.fetch_column(sql, **parameters)
        return value

    def has_rows(self, table: str) -> bool:
        """Return whether a table of the store has rows of the requested host, on any day."""
        if table not in self._has_rows_by_table:
            sql = f"SELECT host FROM store.{table} WHERE host = $host LIMIT 1"
            self._has_rows_by_table[table] = bool(self.fetch_column(sql))
        return self._has_rows_by_table[table]

    @cached_property
    def first_collection_day(self) -> date | None:
        """The first day on which answers were collected; None if there are no answers."""
        return self.fetch_value(  # type: ignore[no-any-return]
            "SELECT coalesce(observed_from, min(first_run_day))"
            " FROM store.projects LEFT JOIN store.engine_runs USING (host)"
            " WHERE host = $host GROUP BY observed_from"
        )

    @property
    def has_previous_window(self) -> bool:
        """Whether answers were collected throughout the window before the requested one."""
        first_day = self.first_collection_day
        return first_day is not None and first_day <= self.window.previous.start

    def _execute(
        self, sql: str, window: Window, parameter_values: dict[str, object]
    ) -> duckdb.DuckDBPyConnection:
        """Create the temporary tables that an SQL query reads, run it, and return its cursor.

        ``window`` gives the values of ``$window_start`` and ``$window_end`` in the query, and
        ``parameter_values`` those of other parameters.
        """
        table_names, parameter_names = _find_tables_and_parameters(sql)
        for table_name in table_names:
            if table_name in self._created_tables:
                continue
            table_window = (
                self.window.previous if table_name.startswith("previous_") else self.window
            )
            table_sql = _SQL_BY_TABLE[table_name]
            if not self.scope.filter_values("brand"):
                table_sql = table_sql.replace(_MENTIONS_BRAND_SQL, "true")
            self._execute(f"CREATE TEMP TABLE {table_name} AS {table_sql}", table_window, {})
            self._created_tables.add(table_name)
        parameter_values |= {
            "host": self.scope.host,
            "window_start": window.start,
            "window_end": window.end,
            **{name: list(self.scope.filter_values(name)) for name in FILTERS},
        }
        return self._cursor.execute(sql, {name: parameter_values[name] for name in parameter_names})


@cache
def _find_tables_and_parameters(sql: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the tables and of the parameters in an SQL query."""
    table_names = (
        frozenset(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)\b(?!\.)", sql)) & _SQL_BY_TABLE.keys()
    )
    return table_names, frozenset(re.findall(r"\$(\w+)", sql))


def cache_results(compute: Function) -> Function:
    """Decorate a function that takes `Observations`, so that it computes each result only once.

    The results are stored in the object, by function and arguments.
    """

    @wraps(compute)
    def compute_once(observations: Observations, /, *args: Any, **kwargs: Any) -> Any:
        function_and_arguments = (compute, args, *kwargs.items())
        if function_and_arguments not in observations.cached_results:
            observations.cached_results[function_and_arguments] = compute(
                observations, *args, **kwargs
            )
        return observations.cached_results[function_and_arguments]

    return cast(Function, compute_once)


_PROMPT_COUNTS_SQL = """
SELECT {column}, count(*) AS count FROM store.prompts
WHERE host = $host GROUP BY {column} ORDER BY {column} IS NULL, count DESC, {column}
"""


def find_scope_options(observations: Observations) -> JsonObject:
    """Return the values that each filter of a project may have, as a JSON object."""
    brand_rows = observations.fetch_rows(
        "SELECT brand AS name, tracked, own FROM store.brands"
        " WHERE host = $host ORDER BY own DESC NULLS LAST, tracked DESC, brand"
    )
    return {
        "engines": observations.fetch_rows(
            'SELECT engine AS id, label, configured, last_run_day AS "lastRunDay"'
            " FROM scoped_engines ORDER BY engine"
        ),
        "topics": observations.fetch_rows(_PROMPT_COUNTS_SQL.format(column="topic")),
        "categories": observations.fetch_rows(_PROMPT_COUNTS_SQL.format(column="category")),
        "brands": [
            {
                field_name: value
                for field_name, value in row.items()
                if field_name != "own" or value is not None
            }
            for row in brand_rows
        ],
        "ownTerms": observations.fetch_column(
            "SELECT term FROM store.own_terms WHERE host = $host ORDER BY term"
        ),
        "days": ALLOWED_DAYS,
    }
