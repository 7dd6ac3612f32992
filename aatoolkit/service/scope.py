"""Temporary tables of the rows in a question's scope, created when a query first reads them.

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
``hits``              requests of crawlers in the window, of those that serve the engines
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
``previous_citations``) hold the window before, of equal length.

Long texts are left out: the one section that shows them reads them from the store.

The store is read once for a host and a window: a question with filters takes its rows of
answers, requests and visits from the tables of the same question without any.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import duckdb

from aatoolkit.service.question import Question, Window

Result = TypeVar("Result")

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
SELECT bot, requests, path, status, site, verified_requests, bytes,
  CAST(hour AS TIMESTAMP) AS hour, CAST(coalesce(last_at, hour) AS TIMESTAMP) AS seen_at
FROM raw.crawler_hits
WHERE host = $host AND hour >= $window_first AND hour < $window_until
  AND (len($engine) = 0
       OR bot IN (SELECT bot FROM store.bots WHERE list_contains($engine, engine)))
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

_KEPT = """
SELECT * FROM {base}.{name}
WHERE (len($engine) = 0 OR list_contains($engine, engine))
"""
_KEPT_PROMPTS = " AND prompt_id IN (SELECT prompt_id FROM scoped_prompts)"
_KEPT_HITS = """
SELECT * FROM {base}.hits
WHERE len($engine) = 0
   OR bot IN (SELECT bot FROM store.bots WHERE list_contains($engine, engine))
"""
_KEPT_VISITS = """
SELECT * REPLACE (ai AND (len($engine) = 0 OR list_contains($engine, engine)) AS ai)
FROM {base}.site_visits
"""

_OF_ANSWERS = {
    "mentions": "brand, position, sentiment, sentiment_score",
    "attributes": "brand, attribute, polarity",
    "citations": "n, url, source_domain, cited, title",
    "fanouts": "query_index, query",
    "product_mentions": "product_id, position",
    "claim_sightings": "claim_id",
}


def _definitions() -> dict[str, str]:
    tables = {
        "scoped_prompts": _PROMPTS,
        "scoped_engines": _ENGINES,
        "focus": _FOCUS,
        "listed_brands": _LISTED,
        "own_domains": _OWN_DOMAINS,
        "hits": _HITS,
        "site_visits": _SITE_VISITS,
        **{f"named_{rows}": _NAMED.format(rows=rows) for rows in _NAMED_ROWS},
    }
    for prefix in ("", "previous_"):
        tables[f"{prefix}runs"] = _RUNS
        tables[f"{prefix}answers"] = f"SELECT * FROM {prefix}runs WHERE outcome = 'answered'"
        for name, columns in _OF_ANSWERS.items():
            tables[f"{prefix}{name}"] = (
                f"SELECT host, chat_id, {columns}, answers.engine, answers.prompt_id, answers.day"
                f" FROM store.{name} AS seen JOIN {prefix}answers AS answers USING (host, chat_id)"
                " WHERE host = $host"
            )
    return tables


_TABLES = _definitions()
_READ_ONCE = {
    f"{prefix}{name}" for prefix in ("", "previous_") for name in ("runs", *_OF_ANSWERS)
} | {"hits", "site_visits"}
"""Tables of which a question with filters has the rows that pass them."""
_READ = re.compile(rf"\b(?:FROM|JOIN)\s+({'|'.join(_TABLES)})\b")


@lru_cache(maxsize=1024)
def tables_read(sql: str) -> tuple[str, ...]:
    """The tables of this module that a query reads."""
    return tuple(dict.fromkeys(_READ.findall(sql)))


Execute = Callable[[str, Window], Any]
"""Runs a statement with the parameters of the question and of a window; returns its result."""

Base = Callable[[str], str]
"""Creates a table of the question without filters, and returns the name of its schema."""


class ScopeTables:
    """The tables of one question, in a schema of their own, shared by the requests that ask it.

    Parameters
    ----------
    schema
        The name of the schema.
    question
        The question.
    project
        The row of the host in the table of projects.
    """

    def __init__(self, schema: str, question: Question, project: dict[str, Any]) -> None:
        self.schema = schema
        self.question = question
        self.project = project
        self.window = Window.until(project["as_of"], question.days)
        self.users = 0
        self.rows = 0
        self._lock = threading.Lock()
        self._under_way: dict[object, threading.RLock] = {}
        self._created: set[str] = set()
        self._results: dict[object, Any] = {}

    def require(self, sql: str, execute: Execute, base: Base | None = None) -> None:
        """Create the tables that a query reads and that are not there yet.

        Parameters
        ----------
        sql
            The query.
        execute
            Runs a statement in this scope.
        base
            Where a question with filters takes its rows from; without it, the store.
        """
        for name in tables_read(sql):
            if name not in self._created:
                with self._turn(name):
                    self._create(name, execute, base)

    def once(self, key: object, compute: Callable[[], Result]) -> Result:
        """Return the result of a computation that the first section to need it runs.

        Sections that need it meanwhile wait; where the computation fails, the next one tries.
        """
        if key not in self._results:
            with self._turn(key):
                if key not in self._results:
                    self._results[key] = compute()
        result: Result = self._results[key]
        return result

    def _turn(self, key: object) -> threading.RLock:
        """The lock of one table or result, so that others can be computed meanwhile."""
        with self._lock:
            return self._under_way.setdefault(key, threading.RLock())

    def _create(self, name: str, execute: Execute, base: Base | None) -> None:
        if name in self._created:
            return
        rows = name.removeprefix("named_")
        if rows != name and not self.question.filter("brand"):
            # Every row passes: another name for the table costs no copy.
            self.require(f"FROM {rows}", execute, base)
            execute(f"CREATE VIEW {self.schema}.{name} AS FROM {self.schema}.{rows}", self.window)
            self._created.add(name)
            return
        sql = _TABLES[name]
        if base is not None and name in _READ_ONCE:
            sql = self._kept(name, base(name))
        self.require(sql, execute, base)
        window = self.window.previous if name.startswith("previous_") else self.window
        created = execute(f"CREATE TABLE {self.schema}.{name} AS {sql}", window)
        count = created.fetchall()[0][0]
        with self._lock:
            self.rows += count
        self._created.add(name)

    def _kept(self, name: str, base: str) -> str:
        """The query of the rows that pass the filters, among those of the base's table."""
        if name == "hits":
            return _KEPT_HITS.format(base=base)
        if name == "site_visits":
            return _KEPT_VISITS.format(base=base)
        narrowed = self.question.filter("topic") or self.question.filter("category")
        return _KEPT.format(base=base, name=name) + (_KEPT_PROMPTS if narrowed else "")


class ScopePool:
    """A pool of the scopes of recent questions; the least recently used are dropped.

    Parameters
    ----------
    most
        Scopes kept.
    most_rows
        Rows in all their tables together. Scopes in use are never dropped.
    """

    def __init__(self, most: int = 32, most_rows: int = 2_000_000) -> None:
        self._most = most
        self._most_rows = most_rows
        self._lock = threading.Lock()
        self._scopes: OrderedDict[tuple[object, ...], ScopeTables] = OrderedDict()
        self._made = 0

    @contextmanager
    def use(
        self, question: Question, project: dict[str, Any], cursor: duckdb.DuckDBPyConnection
    ) -> Iterator[ScopeTables]:
        """Lend the scope of a question, which is not dropped meanwhile."""
        with self._lock:
            scope = self._scopes.get(question.key)
            if scope is None:
                self._made += 1
                scope = ScopeTables(f"scope_{self._made}", question, project)
                cursor.execute(f"CREATE SCHEMA {scope.schema}")
                self._scopes[question.key] = scope
            self._scopes.move_to_end(question.key)
            scope.users += 1
        try:
            yield scope
        finally:
            with self._lock:
                scope.users -= 1
                self._evict(cursor)

    def _evict(self, cursor: duckdb.DuckDBPyConnection) -> None:
        rows = sum(scope.rows for scope in self._scopes.values())
        for key, scope in list(self._scopes.items()):
            if len(self._scopes) <= self._most and rows <= self._most_rows:
                return
            if not scope.users:
                cursor.execute(f"DROP SCHEMA {scope.schema} CASCADE")
                del self._scopes[key]
                rows -= scope.rows
