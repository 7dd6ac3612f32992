"""Observations in the scope of a question: those in its window that pass its filters.

Every filter is applied here, once, so that a section is a query over what is already in
scope and cannot forget one. On a cursor of its own, these tables hold the scoped rows:

===================== ==================================================================
``scoped_prompts``    prompts of the host with the topics and categories asked for
``scoped_engines``    engines of the host among those asked for, with ``last_run_day``
``runs``              every run of those prompts on those engines in the window, with the
                      prompt's own columns beside it, whatever its outcome
``answers``           the runs with outcome ``answered``: the denominator of every rate
``focus``             the brands the question is about: those of the brand filter, else the
                      project's own
``listed_brands``     brands to list: those of the brand filter, else all of the project
``named_runs``        the runs whose answer mentions a brand of the brand filter; without
                      that filter, all of ``runs``
``named_answers``     the same, of ``answers``
===================== ==================================================================

``mentions``, ``attributes``, ``citations``, ``fanouts``, ``product_mentions`` and
``claim_sightings`` are the rows of the store's table of that name that belong to
``answers``, with the answer's ``engine``, ``prompt_id`` and ``day``. The same names with
``previous_`` before them (``previous_answers``, ``previous_mentions``,
``previous_citations``) hold the window before, of equal length.

Whatever is not scoped by answers is under ``store.<table>`` and is limited to the host and
the window by the section that reads it, with the variables ``$host``, ``$window_start``,
``$window_end`` (days) given to every query.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import duckdb

from aatoolkit.service.question import FILTERS, Question, Window

_OF_ANSWERS = (
    "mentions",
    "attributes",
    "citations",
    "fanouts",
    "product_mentions",
    "claim_sightings",
)
_OF_PREVIOUS = ("mentions", "citations")

_SCOPED = """
CREATE OR REPLACE TEMP TABLE scoped_prompts AS
SELECT * FROM store.prompts
WHERE host = $host
  AND (len($topic) = 0 OR list_contains($topic, topic))
  AND (len($category) = 0 OR list_contains($category, category));

CREATE OR REPLACE TEMP TABLE scoped_engines AS
SELECT engines.*, seen.last_run_day
FROM store.engines AS engines
LEFT JOIN (
  SELECT engine, CAST(max(ran_at) AS DATE) AS last_run_day
  FROM store.answers WHERE host = $host GROUP BY engine
) AS seen USING (engine)
WHERE engines.host = $host
  AND (len($engine) = 0 OR list_contains($engine, engines.engine));

CREATE OR REPLACE TEMP TABLE {prefix}runs AS
SELECT answers.*, CAST(answers.ran_at AS DATE) AS day,
  prompts.prompt, prompts.topic, prompts.category, prompts.intent, prompts.branded,
  prompts.country, prompts.language
FROM store.answers AS answers
JOIN scoped_prompts AS prompts USING (host, prompt_id)
WHERE answers.host = $host
  AND CAST(answers.ran_at AS DATE) BETWEEN $window_start AND $window_end
  AND (len($engine) = 0 OR list_contains($engine, answers.engine));

CREATE OR REPLACE TEMP TABLE {prefix}answers AS
SELECT * FROM {prefix}runs WHERE outcome = 'answered';
"""

_BRANDS = """
CREATE OR REPLACE TEMP TABLE focus AS
SELECT * FROM store.brands
WHERE host = $host AND CASE WHEN len($brand) = 0 THEN own IS TRUE
                            ELSE list_contains($brand, brand) END;

CREATE OR REPLACE TEMP TABLE listed_brands AS
SELECT * FROM store.brands
WHERE host = $host AND (len($brand) = 0 OR list_contains($brand, brand));
"""

_NAMED = """
CREATE OR REPLACE TEMP TABLE named_{rows} AS
SELECT * FROM {rows}
WHERE len($brand) = 0
   OR chat_id IN (SELECT chat_id FROM mentions WHERE list_contains($brand, brand));
"""


class Observations:
    """Queries over the observations in the scope of a question.

    Parameters
    ----------
    connection
        A connection to the store's database, whose tables are in the schema ``store``.
        It is not used itself: the scoped tables live on a cursor of it.
    question
        What is asked.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, question: Question) -> None:
        self.question = question
        self._cursor = connection.cursor()
        self._cursor.execute("SET TimeZone = 'UTC'")
        self.project = self._project()
        self.as_of: datetime = self.project["as_of"]
        self.window = Window.until(self.as_of, question.days)
        self._scope()

    def __enter__(self) -> Observations:
        return self

    def __exit__(self, *_: object) -> None:
        self._cursor.close()

    def rows(self, sql: str, **values: object) -> list[dict[str, Any]]:
        """Run a query over what is in scope; one dict a row."""
        self._execute(sql, values)
        names = [column[0] for column in self._cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in self._cursor.fetchall()]

    def row(self, sql: str, **values: object) -> dict[str, Any]:
        """The one row of a query that always has exactly one, such as a plain aggregate."""
        (row,) = self.rows(sql, **values)
        return row

    def value(self, sql: str, **values: object) -> Any:
        """The one cell of a query with one row and one column."""
        (cell,) = self.row(sql, **values).values()
        return cell

    def column(self, sql: str, **values: object) -> list[Any]:
        """The cells of a query with one column."""
        self._execute(sql, values)
        return [row[0] for row in self._cursor.fetchall()]

    def observed(self, table: str) -> bool:
        """Whether the store holds anything at all of this kind for the host."""
        found = self.value(
            f"SELECT EXISTS (SELECT 1 FROM store.{table} WHERE host = $host) AS found"
        )
        return bool(found)

    @property
    def previous_observed(self) -> bool:
        """Whether answers were collected throughout the window before this one."""
        since: date | None = self.project["observed_from"]
        if since is None:
            since = self.value(
                "SELECT CAST(min(ran_at) AS DATE) AS day FROM store.answers WHERE host = $host"
            )
        return since is not None and since <= self.window.previous.start

    def _project(self) -> dict[str, Any]:
        self._cursor.execute(
            "SELECT * FROM store.projects WHERE host = $host", {"host": self.question.host}
        )
        names = [column[0] for column in self._cursor.description or ()]
        found = self._cursor.fetchone()
        if found is None:
            raise LookupError(self.question.host)
        return dict(zip(names, found, strict=True))

    def _scope(self) -> None:
        self._run(_SCOPED.format(prefix="previous_"), self.window.previous)
        self._run(_SCOPED.format(prefix=""), self.window)
        self._run(_BRANDS, self.window)
        for prefix, tables in (("", _OF_ANSWERS), ("previous_", _OF_PREVIOUS)):
            for table in tables:
                self._cursor.execute(
                    f"CREATE OR REPLACE TEMP VIEW {prefix}{table} AS "
                    f"SELECT seen.*, answers.engine, answers.prompt_id, answers.day "
                    f"FROM store.{table} AS seen JOIN {prefix}answers AS answers "
                    "USING (host, chat_id)"
                )
        for rows in ("runs", "answers"):
            self._run(_NAMED.format(rows=rows), self.window)

    def _run(self, script: str, window: Window) -> None:
        for statement in script.split(";"):
            if statement.strip():
                self._execute(statement, {}, window)

    def _execute(
        self, sql: str, values: Mapping[str, object], window: Window | None = None
    ) -> None:
        window = window or self.window
        known: dict[str, object] = {
            "host": self.question.host,
            "window_start": window.start,
            "window_end": window.end,
            **{name: list(self.question.filter(name)) for name in FILTERS},
            **values,
        }
        wanted = {name: value for name, value in known.items() if _mentions(sql, name)}
        self._cursor.execute(sql, wanted)


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"\${name}\b", sql) is not None
