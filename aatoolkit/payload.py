"""Requests and responses of the API.

Caches, studies and archives store a `Request` with its `Response`. Users get a `Payload`: the
response, and whether it came from a cache.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any, Literal
from urllib.parse import quote_plus, urlencode

from aatoolkit._util.attributes import ShortHelpMeta
from aatoolkit._util.text import counted, print_wrapped, visible
from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree import decode
from aatoolkit.scope import Scope

NO_CONTENT_STATUSES = frozenset({202, 204, 205})
"""The HTTP statuses of responses that may have no body."""

Resource = Literal["scope-options", "agent-analytics"]

_url_quote = lru_cache(maxsize=4096)(
    quote_plus
)  # requests repeat sections, filters and their values

_REQUEST_URL_PATTERN = re.compile(
    r"(?P<base>https?://[^\s/?#@\\]+(?:/[^\s/?#\\]+)*)"
    r"/api/domains/(?P<host>[^\s/?#\\]+)/(?P<resource>scope-options|agent-analytics)"
)


@dataclass(frozen=True)
class Request:
    """One request to the API.

    Parameters
    ----------
    resource : {"scope-options", "agent-analytics"}
        The endpoint.
    host : str
        The project's domain.
    section : str or None
        The section; None for all sections in one response, and for the endpoint ``scope-options``.
    scope : Scope or None
        The days and filters; None for the endpoint ``scope-options``.
    params : mapping of str to str
        The query parameters.
    refresh : bool
        Whether to ask the service even if a response is cached.
    expire_after : float, optional
        The age, in seconds, up to which a cached response is used; by default as set in the client.
    base_url : str
        The base URL of the service; empty until `with_base_url` sets it.

    Examples
    --------
    >>> request = Request.for_section("acme.example", "domains", Scope(days=7))
    >>> request.params
    {'section': 'domains', 'days': '7'}
    >>> request.with_base_url("https://api.example").url
    'https://api.example/api/domains/acme.example/agent-analytics?section=domains&days=7'
    """

    resource: Resource
    host: str
    section: str | None = None
    scope: Scope | None = None
    params: Mapping[str, str] = field(default_factory=dict, hash=False)
    refresh: bool = False
    expire_after: float | None = None
    base_url: str = ""

    @classmethod
    def for_scope_options(cls, host: str, *, refresh: bool = False) -> Request:
        """Create the request for the scope options, which are the values that each filter may have.

        ``refresh`` says whether the service must compute them again.
        """
        params = {"refresh": "1"} if refresh else {}
        return cls("scope-options", host, params=params, refresh=refresh)

    @classmethod
    def for_section(cls, host: str, section: str | None, scope: Scope, **options: Any) -> Request:
        """Create the request for one section, or for all sections if ``section`` is None.

        ``options`` are further fields of the request, such as ``refresh``.
        """
        section_params = {} if section is None else {"section": section}
        params = {**section_params, **scope._to_params()}
        return cls("agent-analytics", host, section, scope, params, **options)

    def with_base_url(self, base_url: str) -> Request:
        """Return a copy of the request, to the service with this base URL."""
        return self if self.base_url == base_url else replace(self, base_url=base_url)

    @property
    def path(self) -> str:
        """The path of the URL below the base URL."""
        return f"/api/domains/{self.host}/{self.resource}"

    @cached_property
    def url(self) -> str:
        """The full URL, with the query parameters."""
        query_text = "&".join(
            f"{_url_quote(name)}={_url_quote(value)}" for name, value in self.params.items()
        )
        return f"{self.base_url}{self.path}{'?' if query_text else ''}{query_text}"

    @cached_property
    def key(self) -> tuple[str, ...]:
        """A tuple of texts that is equal for two requests if they ask for the same data.

        The order of the query parameters, and of the values of each, does not matter.

        Examples
        --------
        >>> Request("agent-analytics", "a.example", params={"engine": "b,a"}).key[-1]
        'engine=a,b'
        """
        parameter_texts = (
            f"{name}={','.join(sorted(set(value.split(','))))}"
            for name, value in sorted(self.params.items())
            if name != "refresh"
        )
        return self.base_url, self.host, self.resource, *parameter_texts

    def __str__(self) -> str:
        request_name = f"{self.section or self.resource} of {self.host}"
        return visible(f"{request_name}, {self.scope}" if self.scope else request_name)

    def distance(self, other: Request) -> tuple[int, ...]:
        """Return the distance to another request, as a tuple; the most similar has the smallest.

        The tuple says whether the hosts, the endpoints and the sections differ, and how many query
        parameters differ.
        """
        parameter_names = {*self.params, *other.params} - {"refresh"}
        return (
            other.host != self.host,
            other.resource != self.resource,
            other.section != self.section,
            sum(self.params.get(name) != other.params.get(name) for name in parameter_names),
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert the request to a dict of JSON values, to store it."""
        origin = "/".join(self.base_url.split("/", 3)[:3])
        return {
            "method": "GET",
            "origin": origin,
            "path": self.base_url[len(origin) :] + self.path,
            # Pairs keep the order that the parameters have in the URL.
            "params": [[*pair] for pair in self.params.items()],
        }

    @classmethod
    def from_dict(cls, json_dict: Mapping[str, Any]) -> Request:
        """Create a request from the dict that `to_dict` returned.

        Raises
        ------
        ValueError
            If the dict does not describe a request of the API.
        """
        try:
            params = {str(name): str(value) for name, value in json_dict["params"]}
            url_match: Any = _REQUEST_URL_PATTERN.fullmatch(json_dict["origin"] + json_dict["path"])
            resource = url_match["resource"]
            scope = None
            if resource == "agent-analytics":
                filter_parameters = {
                    name: value for name, value in params.items() if name != "section"
                }
                scope = Scope._from_query(urlencode(filter_parameters))
        except (KeyError, TypeError, ValueError):
            raise ValueError("it is not a request of the API") from None
        return cls(
            resource,
            url_match["host"],
            params.get("section"),
            scope,
            params,
            refresh="refresh" in params,
            base_url=url_match["base"],
        )


class _BodyHashMixin:
    """Base class of `Response` and `Payload`, with the SHA-256 of the body as a property."""

    body: bytes

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the body, in hexadecimal."""
        return hashlib.sha256(self.body).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are not pickled: they can be computed again.
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Response(_BodyHashMixin):
    """One response of the API, to be stored in a cache, study or archive.

    Parameters
    ----------
    request : Request
        The request, with the base URL of the service.
    status : int
        The HTTP status.
    headers : mapping of str to str
        The most important response headers, with names in lower case.
    fetched_at : datetime.datetime
        When the service sent the response, with a time zone.
    body : bytes
        The body, decompressed.

    Examples
    --------
    >>> from datetime import datetime, timezone
    >>> request = Request.for_section("acme.example", "urls", Scope()).with_base_url("https://api.example")
    >>> moment = datetime(2026, 11, 20, tzinfo=timezone.utc)
    >>> response = Response(request, 200, {}, moment, b'{"urls": []}')
    >>> response.to_dict()["size"], response.key == request.key
    (12, True)
    >>> Response.from_dict(response.to_dict(), response.body) == response
    True
    """

    request: Request
    status: int
    headers: Mapping[str, str] = field(hash=False)
    fetched_at: datetime
    body: bytes

    @property
    def key(self) -> tuple[str, ...]:
        """The key of the request: a tuple that is equal for requests of the same data."""
        return self.request.key

    def to_dict(self) -> dict[str, Any]:
        """Convert the response to a dict of JSON values, without the body."""
        utc_time = self.fetched_at.astimezone(UTC).replace(tzinfo=None)
        return {
            "request": self.request.to_dict(),
            "status": self.status,
            "headers": dict(self.headers),
            "fetched_at": f"{utc_time.isoformat(timespec='microseconds')}Z",
            "sha256": self.sha256,
            "size": len(self.body),
        }

    @classmethod
    def from_dict(
        cls, json_dict: Mapping[str, Any], body: bytes, request: Request | None = None
    ) -> Response:
        """Create a response from its body and the dict that `to_dict` returned.

        Raises
        ------
        ValueError
            If the body does not have the hash in ``json_dict``, or a value there is not valid.
        """
        try:
            fetched_at = datetime.fromisoformat(json_dict["fetched_at"])
            status = json_dict["status"]
            sent_request = Request.from_dict(json_dict["request"]) if request is None else request
            response = cls(sent_request, status, dict(json_dict["headers"]), fetched_at, body)
            is_intact = (json_dict["sha256"], json_dict["size"]) == (response.sha256, len(body))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("it is not a response that was written down") from error
        if not is_intact or type(status) is not int or fetched_at.tzinfo is None:
            raise ValueError("its body is not the one that was written down")
        return response


@dataclass(frozen=True, repr=False)
class Payload(_BodyHashMixin, metaclass=ShortHelpMeta):
    """One response of the API: its bytes, its URL, and when it was fetched; immutable.

    Parameters
    ----------
    body : bytes
        The body of the response.
    url : str
        The requested URL.
    status : int
        The HTTP status. It may be 404, for example, if the response says why there are no data.
    fetched_at : datetime.datetime
        When the service sent the response, with a time zone.
    from_cache : bool
        Whether the response was read from the cache.
    stale : bool
        Whether the response had expired in the cache.
    section : str or None
        The section; None for scope options and for all sections in one response.
    scope : Scope or None
        The filters of the request.
    host : str or None
        The project's domain.
    headers : mapping of str to str
        The most important response headers.

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

    @classmethod
    def _from_response(
        cls, response: Response, *, from_cache: bool = False, stale: bool = False
    ) -> Payload:
        """Create a payload from a `Response`, which is what caches and archives store.

        ``from_cache`` and ``stale`` are as in the class.
        """
        request = response.request
        payload = cls(
            response.body,
            url=request.url,
            status=response.status,
            fetched_at=response.fetched_at,
            from_cache=from_cache,
            stale=stale,
            section=request.section,
            scope=request.scope,
            host=request.host,
            headers=response.headers,
        )
        if "sha256" in vars(response):  # computed already, as by a store that checks it
            vars(payload)["sha256"] = response.sha256
        return payload

    @cached_property
    def json(self) -> Any:
        """The decoded body, which must not be changed; None if there is no body.

        Raises
        ------
        DecodeError
            If the body is not one JSON document.
        """
        if self.status in NO_CONTENT_STATUSES and not self.body:
            return None
        error_attributes = {"url": self.url, "status": self.status}
        return decode.decode(self.body, section=self.section, scope=self.scope, **error_attributes)

    def __repr__(self) -> str:
        request_parts = (self.host, self.section, self.scope)
        phrases = [
            *(str(request_part) for request_part in request_parts if request_part is not None),
            f"{self.fetched_at:%F %T%z}",
        ]
        origin_text = ("stale cache" if self.stale else "cache") if self.from_cache else "service"
        phrases += [
            f"from {origin_text}",
            counted(len(self.body), "byte"),
            f"sha256 {self.sha256[:12]}",
        ]
        return visible(f"<Payload {', '.join(phrases)}>")

    _repr_pretty_ = print_wrapped


def find_day_window(document: Any) -> tuple[str | None, str | None]:
    """Return the first and the last day that a decoded response says it covers.

    A day that the response does not state is None.

    Examples
    --------
    >>> find_day_window({"window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30}})
    ('2026-10-22', '2026-11-20')
    >>> find_day_window({"window": {"days": 30}})
    (None, None)
    """
    window_object = document.get("window") if isinstance(document, Mapping) else None
    window_fields = window_object if isinstance(window_object, Mapping) else {}

    def find_day(*field_names: str) -> str | None:
        return next(
            (window_fields[name] for name in field_names if _is_day(window_fields.get(name))), None
        )

    return find_day("start", "from"), find_day("end", "to")


def _is_day(value: object) -> bool:
    """Return whether a value is a day as text, such as ``2026-11-20``."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
