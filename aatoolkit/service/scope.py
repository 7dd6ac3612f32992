"""Tables of the rows in a question's scope, created when a query first reads them.

:mod:`aatoolkit.service.scope_tables` says which there are. The tables of one question are in a
schema of their own, shared by the requests that ask it; a pool keeps those of recent questions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import duckdb

from aatoolkit.service.question import Question, Window
from aatoolkit.service.scope_tables import READ_ONCE, TABLES, VIEWS, tables_read

Result = TypeVar("Result")

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
    base
        The tables of the question without filters, of which this scope may have views.
    """

    def __init__(
        self,
        schema: str,
        question: Question,
        project: dict[str, Any],
        base: ScopeTables | None = None,
    ) -> None:
        self.schema = schema
        self.question = question
        self.project = project
        self.window = Window.until(project["as_of"], question.days)
        self.base = base
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
        sql = TABLES[name]
        is_view = False
        if base is not None and name in READ_ONCE:
            conditions = self._conditions(name)
            sql = _kept(name, base(name), conditions)
            is_view = name in VIEWS or not conditions
            if "prompt_id" in conditions:
                self.require("FROM scoped_prompts", execute, base)
        else:
            self.require(sql, execute, base)
        window = self.window.previous if name.startswith("previous_") else self.window
        kind = "VIEW" if is_view else "TABLE"
        created = execute(f"CREATE {kind} {self.schema}.{name} AS {sql}", window)
        if not is_view:
            count = created.fetchall()[0][0]
            with self._lock:
                self.rows += count
        self._created.add(name)

    def _conditions(self, name: str) -> dict[str, str]:
        """By column, the conditions of the filters on a table that is read once.

        They hold values and names in full, as views do not take parameters or a search path.
        """
        if name == "page_paths":
            return {}
        conditions = {}
        engines = self.question.filter("engine")
        if engines:
            listed = ", ".join("'" + engine.replace("'", "''") + "'" for engine in engines)
            conditions["engine"] = f"engine IN ({listed})"
        if name.startswith("hit_"):
            bots = f"SELECT bot FROM store.bots WHERE {conditions.get('engine')}"
            return {"bot": f"bot IN ({bots})"} if engines else {}
        narrowed = self.question.filter("topic") or self.question.filter("category")
        if narrowed and name != "site_visits":
            prompts = f"SELECT prompt_id FROM {self.schema}.scoped_prompts"
            conditions["prompt_id"] = f"prompt_id IN ({prompts})"
        return conditions


def _kept(name: str, base: str, conditions: dict[str, str]) -> str:
    """The query of the rows that pass the filters, among those of the base's table."""
    if not conditions:
        return f"FROM {base}.{name}"
    if name == "site_visits":
        return f"SELECT * REPLACE (ai AND {conditions['engine']} AS ai) FROM {base}.{name}"
    return f"SELECT * FROM {base}.{name} WHERE {' AND '.join(conditions.values())}"


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
        self,
        question: Question,
        project: dict[str, Any],
        cursor: duckdb.DuckDBPyConnection,
        base: ScopeTables | None = None,
    ) -> Iterator[ScopeTables]:
        """Lend the scope of a question, which is not dropped meanwhile.

        Nor is the ``base`` of a scope before the scope itself.
        """
        with self._lock:
            scope = self._scopes.get(question.key)
            if scope is None:
                self._made += 1
                scope = ScopeTables(f"scope_{self._made}", question, project, base)
                cursor.execute(f"CREATE SCHEMA {scope.schema}")
                self._scopes[question.key] = scope
                if base is not None:
                    base.users += 1
            self._scopes.move_to_end(question.key)
            if scope.base is not None:
                self._scopes.move_to_end(scope.base.question.key)
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
                if scope.base is not None:
                    scope.base.users -= 1
