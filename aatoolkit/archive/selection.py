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

    @property
    def times(self) -> list[str]:
        """The conditions on the time of fetch."""
        found = []
        if self.since is not None:
            found += [f"month >= '{self.since:%Y-%m}'", f"fetched_at >= {_literal(self.since)}"]
        if self.until is not None:
            found += [f"month <= '{self.until:%Y-%m}'", f"fetched_at <= {_literal(self.until)}"]
        return found

    def where(self) -> str:
        """The condition on rows with context; always a valid one."""
        found = [*self._hosts(), *self.times]
        if self.scope is not None:
            found.append(f"days = {self.scope.days}")
            for name in FILTERS:
                values = self.scope.filters.get(name)
                found.append(
                    in_list(f"filter_{name}", [",".join(values)])
                    if values
                    else f"filter_{name} IS NULL"
                )
        return " AND ".join(found) or "true"

    def where_answers(self) -> str:
        """The condition on the rows of the table ``answers``."""
        found = [*self._hosts(), *self.times]
        if self.scope is not None:
            found.append(in_list("scope", [self.scope.to_query()]))
        return " AND ".join(found) or "true"

    def expression(self) -> ds.Expression:
        """The condition on the rows of the table ``answers``, for Arrow."""
        kind = pa.timestamp("us", tz="UTC")
        found = pc.scalar(True)
        if self.hosts is not None:
            found &= among("host", self.hosts)
        if self.since is not None:
            found &= ds.field("fetched_at") >= pa.scalar(self.since, kind)
        if self.until is not None:
            found &= ds.field("fetched_at") <= pa.scalar(self.until, kind)
        if self.scope is not None:
            found &= ds.field("scope") == self.scope.to_query()
        return found

    def _hosts(self) -> list[str]:
        if self.hosts is None:
            return []
        return [in_list("host", self.hosts)] if self.hosts else ["false"]


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


def _literal(when: datetime) -> str:
    return f"TIMESTAMPTZ '{when.isoformat()}'"
