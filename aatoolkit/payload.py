"""One request to the API, and one answer: its bytes, and where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal

from aatoolkit._util.arguments import names_wrong_arguments
from aatoolkit._util.html_table import table_html
from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import clipped
from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree import decode
from aatoolkit.scope import Scope

NO_CONTENT = frozenset({202, 204, 205})
"""The statuses of answers that may come without a body."""

_UNITS = ("bytes", "kB", "MB", "GB")

Resource = Literal["scope-options", "agent-analytics"]


@dataclass(frozen=True)
class Request:
    """One request to the API, before it is sent: all that looking up an answer depends on.

    Parameters
    ----------
    resource : {"scope-options", "agent-analytics"}
        The endpoint.
    host : str
        The project's domain, as ``canonical_host`` spells it.
    section : str or None
        The section; None for scope options and the combined view.
    scope : Scope or None
        The filters, for the payload and for errors.
    params : mapping of str to str
        The query parameters.
    refresh : bool
        Whether to ask the service in any case, and replace what is cached.
    expire_after : float, optional
        The age, in seconds, up to which a cached answer will do; by default the client's.

    Examples
    --------
    >>> request = Request.for_section("acme.example", "domains", Scope(days=7))
    >>> request.params
    {'section': 'domains', 'days': '7'}
    >>> request.url("https://api.example")
    'https://api.example/api/domains/acme.example/agent-analytics'
    """

    resource: Resource
    host: str
    section: str | None = None
    scope: Scope | None = None
    params: Mapping[str, str] = field(default_factory=dict, hash=False)
    refresh: bool = False
    expire_after: float | None = None

    @classmethod
    def for_scope_options(cls, host: str, *, refresh: bool = False) -> Request:
        """The request for the scope options of a project."""
        params = {"refresh": "1"} if refresh else {}
        return cls("scope-options", host, params=params, refresh=refresh)

    @classmethod
    def for_section(cls, host: str, section: str | None, scope: Scope, **options: Any) -> Request:
        """The request for one section, or for the combined view where it is None."""
        named = {} if section is None else {"section": section}
        params = {**named, **scope.to_params()}
        return cls("agent-analytics", host, section, scope, params, **options)

    def url(self, base_url: str) -> str:
        """The address of the request, without its parameters."""
        return f"{base_url}/api/domains/{self.host}/{self.resource}"


@names_wrong_arguments
@dataclass(frozen=True, repr=False)
class Payload:
    """One answer, as it came: frozen, comparable, picklable.

    Parameters
    ----------
    body : bytes
        The answer itself.
    url : str
        What was asked for.
    status : int
        The HTTP status it came with; not 200 where the service says why there is no answer.
    fetched_at : datetime.datetime
        When the service gave it, with a time zone.
    from_cache : bool
        Whether it was kept from an earlier call.
    stale : bool
        Whether it was used although it had expired.
    section : str or None
        The section; None for scope options and the combined view.
    scope : Scope or None
        The scope asked for.
    host : str or None
        The project's domain.
    headers : mapping of str to str
        The few response headers that are kept.

    Raises
    ------
    ArgumentError
        If ``fetched_at`` has no time zone.

    Examples
    --------
    >>> from datetime import datetime, timezone
    >>> payload = Payload(b'{"rows": []}', fetched_at=datetime(2026, 11, 20, tzinfo=timezone.utc))
    >>> payload.json
    {'rows': []}
    >>> payload.sha256[:8]
    '0fc3c38b'
    """

    body: bytes = field()
    url: str = ""
    status: int = 200
    fetched_at: datetime = field(kw_only=True)
    from_cache: bool = False
    stale: bool = False
    section: str | None = None
    scope: Scope | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.fetched_at.tzinfo is None:
            raise ArgumentError("fetched_at has no time zone; give an aware time, in UTC at best")

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the body, in hexadecimal."""
        return hashlib.sha256(self.body).hexdigest()

    @cached_property
    def json(self) -> Any:
        """The body, decoded strictly; treat it as read-only, it is decoded once.

        None where a status says that there is no body, and there is none.

        Raises
        ------
        DecodeError
            If the body is not one JSON document.
        """
        if self.status in NO_CONTENT and not self.body:
            return None
        facts = {"url": self.url, "status": self.status}
        return decode.decode(self.body, section=self.section, scope=self.scope, **facts)

    @property
    def origin(self) -> str:
        """The origin of the answer: ``service``, ``cache`` or ``stale cache``."""
        if not self.from_cache:
            return "service"
        return "stale cache" if self.stale else "cache"

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed again does not travel.
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __repr__(self) -> str:
        return f"<Payload {', '.join(str(value) for value in self._facts().values())}>"

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        return table_html([], [(n, clipped(str(v))) for n, v in self._facts().items()], labels=1)

    def _facts(self) -> dict[str, Any]:
        """The parts of the one-line summary, by name."""
        facts = {
            "host": self.host,
            "section": self.section,
            "scope": self.scope,
            "fetched": f"{self.fetched_at:%Y-%m-%d %H:%M:%S%z}",
            "from": self.origin,
            "size": _size(len(self.body)),
            "sha256": self.sha256[:12],
        }
        return {name: value for name, value in facts.items() if value is not None}


def window_of(document: Any) -> tuple[str | None, str | None]:
    """The first and the last day that an answer says it covers; None where it does not say.

    Examples
    --------
    >>> window_of({"window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30}})
    ('2026-10-22', '2026-11-20')
    >>> window_of({"window": {"days": 30}})
    (None, None)
    """
    stated = document.get("window") if isinstance(document, Mapping) else None
    given = stated if isinstance(stated, Mapping) else {}
    first, last = (_day(given, names) for names in (("start", "from"), ("end", "to")))
    return first, last


def _day(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    words = (given.get(name) for name in names)
    return next((word for word in words if _is_day(word)), None)


def _is_day(word: object) -> bool:
    try:
        return isinstance(word, str) and date.fromisoformat(word).isoformat() == word
    except ValueError:
        return False


def _size(count: int) -> str:
    """Format a number of bytes with a unit, such as ``1.2 kB``."""
    size, unit = float(count), _UNITS[0]
    for larger in _UNITS[1:]:
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
