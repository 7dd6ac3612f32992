"""Selections: rows of an archive by host, time and scope, as conditions of SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from aatoolkit._util.days import iso_hint, parse_moment
from aatoolkit._util.hosts import canonical_host
from aatoolkit.archive.schema import among
from aatoolkit.archive.snapshot import in_list
from aatoolkit.errors import ScopeError
from aatoolkit.scope import FILTERS, Scope

When = str | date | datetime
"""A day, or a moment with a time zone; text in ISO 8601."""


@dataclass(frozen=True)
class Selection:
    """Rows by host, time of fetch and scope.

    Parameters
    ----------
    hosts : tuple of str or None
        The hosts; None for all.
    since, until : datetime.datetime or None
        The first and last moment of fetch, both included.
    scope : Scope or None
        The scope; None for all.
    """

    hosts: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: Scope | None = None

    @classmethod
    def of(
        cls,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
    ) -> Selection:
        """Validate arguments, and return the selection that they describe.

        Raises
        ------
        ScopeError
            If a host is no domain, a day or moment cannot be read, or the first is after the last.
        """
        listed: Iterable[Any] = (
            hosts if isinstance(hosts, Iterable) and not isinstance(hosts, str) else [hosts]
        )
        if scope is not None and not isinstance(scope, Scope):
            raise ScopeError(f"{scope!r} is not a Scope; write aa.Scope(days=7)", parameter="scope")
        first = None if since is None else moment(since, "since")
        last = None if until is None else moment(until, "until", last=True)
        if first and last and first > last:
            raise ScopeError(f"since={since!r} is after until={until!r}", parameter="since")
        return cls(
            None if hosts is None else tuple(dict.fromkeys(map(canonical_host, listed))),
            first,
            last,
            scope,
        )

    def before(self, limit: datetime | None) -> Selection:
        """Return the selection limited to what was fetched until a moment."""
        if limit is None:
            return self
        return replace(self, until=limit if self.until is None else min(self.until, limit))

    def parts(self, *, answers: bool = False) -> list[tuple[str, str, Any]]:
        """The condition as columns, operators and values, of which each row meets all.

        Parameters
        ----------
        answers : bool
            Whether the rows are those of the table ``answers``, which has scopes as text.
        """
        parts: list[tuple[str, str, Any]] = []
        if self.hosts is not None:
            parts.append(("host", "in", self.hosts))
        for sign, limit in ((">=", self.since), ("<=", self.until)):
            if limit is not None:
                parts += [("month", sign, f"{limit:%Y-%m}"), ("fetched_at", sign, limit)]
        if self.scope is not None and answers:
            parts.append(("scope", "in", [self.scope.to_query()]))
        elif self.scope is not None:
            values = self.scope._filters
            texts = {
                name: [",".join(values[name])] if values.get(name) else None for name in FILTERS
            }
            parts += [(f"filter_{name}", "in", text) for name, text in texts.items()]
            parts.append(("days", "=", self.scope.days))
        return parts

    def where(self, *, answers: bool = False) -> str:
        """The condition in SQL; always a valid one."""
        return " AND ".join(_sql(*part) for part in self.parts(answers=answers)) or "true"

    def expression(self) -> ds.Expression:
        """The condition on the rows of the table ``answers``, for Arrow."""
        condition = pc.scalar(True)
        for column, operator, value in self.parts(answers=True):
            if operator == "in":
                condition &= among(column, value)
            else:
                kind = pa.timestamp("us", tz="UTC") if column == "fetched_at" else pa.string()
                compare = {">=": pc.greater_equal, "<=": pc.less_equal}[operator]
                condition &= compare(ds.field(column), pa.scalar(value, kind))
        return condition


def _sql(column: str, operator: str, value: Any) -> str:
    if operator == "in" and value is None:
        return f"{column} IS NULL"
    if operator == "in":
        return in_list(column, value) if value else "false"
    literal = {datetime: f"TIMESTAMPTZ '{value}'", int: f"{value}"}.get(type(value), f"'{value}'")
    return f"{column} {operator} {literal}"


def moment(given: When, name: str, *, last: bool = False) -> datetime:
    """Parse a moment in UTC; of a day, its first or its last moment.

    Raises
    ------
    ScopeError
        If it cannot be read, or has a time and no time zone.

    Examples
    --------
    >>> moment("2026-10-01", "since").isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> moment("2026-10-01", "until", last=True).isoformat()
    '2026-10-01T23:59:59.999999+00:00'
    """
    found: Any = given
    if isinstance(given, str):
        found = parse_moment(given)
    if isinstance(found, datetime) and found.tzinfo is not None:
        with contextlib.suppress(OverflowError):
            return found.astimezone(UTC)
    if isinstance(found, date) and not isinstance(found, datetime):
        start = datetime.combine(found, time(), UTC)
        return start + timedelta(days=1, microseconds=-1) if last else start
    raise ScopeError(
        f"{name}={given!r} is no day and no moment with a time zone; {_how(given)}",
        parameter=name,
    )


def _how(given: object) -> str:
    """Say how a day or a moment is written."""
    hint = iso_hint(given)
    if hint != iso_hint(None):
        return hint
    return "write '2026-10-01' or '2026-10-01T12:00:00Z'"
