"""Queries over the observations in the scope of a question.

Every filter is applied in the tables of :mod:`aatoolkit.service.scope_tables`, once, so that a
section is a query over what is already in scope and cannot forget one. What is not scoped by
answers is in ``store.<table>``, and is limited to the host and the window by the section that
reads it. ``derived.<table>`` holds what is computed once for a store
(:mod:`aatoolkit.service.database`).

Queries may use the parameters ``$host``, ``$engine``, ``$topic``, ``$category``, ``$brand``
(lists), ``$window_start`` and ``$window_end`` (days, both included), and ``$window_first``
and ``$window_until`` (instants, the second not included).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import date, datetime, time, timedelta
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import duckdb

from aatoolkit.service.database import Derived
from aatoolkit.service.question import FILTERS, Window
from aatoolkit.service.scope import ScopeTables
from aatoolkit.service.workers import Cancellation

P = ParamSpec("P")
R = TypeVar("R")


class Observations:
    """Queries over one scope, on a cursor of their own.

    Parameters
    ----------
    scope
        The scope of the question.
    cursor
        A cursor of the store's database that nobody else uses.
    observed
        For each table of the store, the hosts that have a row in it.
    derived
        The tables computed once for the store.
    cancellation
        Stops the queries when nobody waits for the answer any more.
    base
        Queries over the same question without filters, whose tables this one shares.
    """

    def __init__(
        self,
        scope: ScopeTables,
        cursor: duckdb.DuckDBPyConnection,
        observed: Mapping[str, frozenset[str]],
        derived: Derived,
        cancellation: Cancellation | None = None,
        base: Observations | None = None,
    ) -> None:
        self.scope = scope
        self.question = scope.question
        self.project = scope.project
        self.as_of: datetime = self.project["as_of"]
        self.window = scope.window
        self._cursor = cursor
        self._observed = observed
        self._derived = derived
        self._cancellation = cancellation
        self._base = base
        cursor.execute(f"SET search_path = '{scope.schema}'")

    def rows(self, sql: str, **values: object) -> list[dict[str, Any]]:
        """Run a query over what is in scope; one dict a row."""
        cursor = self._execute(sql, self.window, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def row(self, sql: str, **values: object) -> dict[str, Any]:
        """Run a query that always has one row, such as a plain aggregate, and return it."""
        (row,) = self.rows(sql, **values)
        return row

    def value(self, sql: str, **values: object) -> Any:
        """Run a query of one row and one column, and return the cell."""
        (cell,) = self.row(sql, **values).values()
        return cell

    def column(self, sql: str, **values: object) -> list[Any]:
        """Run a query of one column, and return its cells."""
        return [row[0] for row in self._execute(sql, self.window, values).fetchall()]

    def observed(self, table: str) -> bool:
        """Whether the store holds anything at all of this kind for the host."""
        return self.question.host in self._observed[table]

    @property
    def first_run_day(self) -> date | None:
        """The day of the host's first run; None where it has none."""
        sql = "SELECT min(first_run_day) FROM derived.engine_runs WHERE host = $host"
        day: date | None = self.scope.once("first_run_day", lambda: self.value(sql))
        return day

    @property
    def previous_observed(self) -> bool:
        """Whether answers were collected throughout the window before this one."""
        since = self.project["observed_from"] or self.first_run_day
        return since is not None and since <= self.window.previous.start

    def shared(self, name: str) -> str:
        """Create a table of the scope, and return the name of its schema."""
        self.scope.require(f"FROM {name}", self._create)
        return self.scope.schema

    def _execute(
        self, sql: str, window: Window, values: Mapping[str, object]
    ) -> duckdb.DuckDBPyConnection:
        self._derived.require(sql)
        self.scope.require(sql, self._create, None if self._base is None else self._base.shared)
        known: dict[str, object] = {
            "host": self.question.host,
            "window_start": window.start,
            "window_end": window.end,
            "window_first": datetime.combine(window.start, time()),
            "window_until": datetime.combine(window.end + timedelta(days=1), time()),
            **{name: list(self.question.filter(name)) for name in FILTERS},
            **values,
        }
        wanted = {name: known[name] for name in _parameters(sql)}
        running = self._cancellation.running(self._cursor) if self._cancellation else nullcontext()
        with running:
            return self._cursor.execute(sql, wanted)

    def _create(self, sql: str, window: Window) -> duckdb.DuckDBPyConnection:
        return self._execute(sql, window, {})


@lru_cache(maxsize=1024)
def _parameters(sql: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"\$(\w+)", sql)))


def shared(
    compute: Callable[Concatenate[Observations, P], R],
) -> Callable[Concatenate[Observations, P], R]:
    """Cache a computation per scope, for all sections that need it."""

    @wraps(compute)
    def once(o: Observations, /, *args: P.args, **kwargs: P.kwargs) -> R:
        key = (compute.__module__, compute.__name__, args, *sorted(kwargs.items()))
        return o.scope.once(key, lambda: compute(o, *args, **kwargs))

    return once
