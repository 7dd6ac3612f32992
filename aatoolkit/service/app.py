"""The API over HTTP: accounts, query parameters, routes and errors.

Only SHA-256 digests of tokens are stored. The digests have no salt, because tokens are long and
random.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import aatoolkit.service.sections  # noqa: F401  importing them registers them
from aatoolkit.service.answer import SECTIONS, ServiceSection, to_iso_text
from aatoolkit.service.observations import (
    ALLOWED_DAYS,
    FILTERS,
    JsonObject,
    Observations,
    ServiceScope,
    find_scope_options,
)
from aatoolkit.service.store import Store, StoreError

_log = logging.getLogger("aatoolkit.service")

# --- accounts --------------------------------------------------------------------------------

_DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}")
_TOKEN_PATTERN = re.compile(r"[\x21-\x7e]+")


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token as hexadecimal text."""
    return hashlib.sha256(token.encode()).hexdigest()


def _normalize_host(host: str) -> str:
    """Return the name of a host in lower case, without a dot at the end."""
    # Only ASCII is converted to lower case: a Kelvin sign is no letter k in a host name.
    return (host.lower() if host.isascii() else host).removesuffix(".")


class Accounts:
    """The accounts of a service, and the hosts that each account may see.

    Parameters
    ----------
    hosts : mapping of str to iterable of str or None
        The hosts that each account may see, by the SHA-256 of its token; None means all hosts.

    Raises
    ------
    ValueError
        If there is no account, or a key of ``hosts`` is not 64 hexadecimal digits in lower case.
    """

    def __init__(self, hosts: Mapping[str, Iterable[str] | None]) -> None:
        if not hosts:
            raise ValueError("A service needs at least one account.")
        if not all(map(_DIGEST_PATTERN.fullmatch, hosts)):
            raise ValueError("A token_sha256 is 64 hexadecimal digits in lower case.")
        self._hosts = {
            token_digest: None
            if visible_hosts is None
            else frozenset(map(_normalize_host, visible_hosts))
            for token_digest, visible_hosts in hosts.items()
        }

    @classmethod
    def single(cls, token: str) -> Accounts:
        """Create one account that may see all hosts.

        Parameters
        ----------
        token : str
            The token of the account.

        Raises
        ------
        ValueError
            If the token is not valid.
        """
        if not _TOKEN_PATTERN.fullmatch(token):
            raise ValueError("A token is one word of printable ASCII characters.")
        return cls({hash_token(token): None})

    @classmethod
    def load(cls, path: str | Path) -> Accounts:
        """Read accounts from a file: ``{"accounts": [{"token_sha256": …, "hosts": […] or "*"}]}``.

        Parameters
        ----------
        path : str or path
            The path of the JSON file.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the file has another format.
        """
        hosts_by_digest: JsonObject = {}
        file_bytes = Path(path).read_bytes()
        with suppress(AttributeError, TypeError, KeyError, ValueError):
            for account in json.loads(file_bytes)["accounts"]:
                match account["hosts"]:
                    case "*":
                        hosts_by_digest[account["token_sha256"]] = None
                    case [*hosts]:
                        hosts_by_digest[account["token_sha256"]] = hosts
                    case _:
                        raise TypeError
            return cls(hosts_by_digest)
        # Outside the handler: the parser's error holds the text, and perhaps a token with it.
        raise ValueError(
            f"{path} does not hold accounts: "
            '{"accounts": [{"token_sha256": "<64 hexadecimal digits>", '
            '"hosts": ["acme.example"] or "*"}]} is wanted.'
        )

    def has_token(self, token: str) -> bool:
        """Return whether a token belongs to one of the accounts."""
        return hash_token(token) in self._hosts

    def may_see_host(self, token: str, host: str) -> bool:
        """Return whether the account with this token may see a host."""
        visible_hosts = self._hosts[hash_token(token)]
        return visible_hosts is None or _normalize_host(host) in visible_hosts


# --- parameters ------------------------------------------------------------------------------


class ApiError(Exception):
    """An error that is sent as a response, with HTTP status, error code and message.

    ``headers`` are additional HTTP headers. ``details`` are further fields of the JSON body, such
    as ``parameter``.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        **details: object,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        self.body = {"error": {"status": status, "code": code, "message": message, **details}}


def _make_value_error(parameter: str, problem_text: str, **details: object) -> ApiError:
    """Return an error about an invalid value of a query parameter.

    ``problem_text`` follows the name of the parameter in the message. ``details`` are further
    fields.
    """
    message = f"The parameter {parameter} {problem_text}"
    return ApiError(400, "invalid_parameter", message, None, parameter=parameter, **details)


def _make_unknown_error(
    parameter: str, unknown_values: Sequence[str], allowed_values: Sequence[str]
) -> ApiError:
    """Return an error about unknown values of a parameter; it lists similar allowed values."""
    return _make_value_error(
        parameter,
        f"knows no {_quote(unknown_values)}.",
        unknown=[*unknown_values],
        allowed=[*allowed_values],
        suggestions=_find_near_matches(unknown_values, allowed_values),
    )


def _find_near_matches(unknown_values: Sequence[str], allowed_values: Sequence[str]) -> list[str]:
    """Return the allowed values that are similar to one of ``unknown_values``."""
    value_by_casefold = {value.casefold(): value for value in reversed(allowed_values)}
    near_matches = (
        value_by_casefold[match]
        for value in unknown_values
        for match in difflib.get_close_matches(value.casefold(), value_by_casefold)
    )
    return list(dict.fromkeys(near_matches))


def _quote(values: Sequence[str]) -> str:
    """Return a text with all values in quotation marks, separated by commas."""
    return ", ".join(f"'{value}'" for value in values)


def _parse_parameters(query_string: str, supported_names: Sequence[str]) -> dict[str, str]:
    """Return the parameters in the query string of a URL, as a dict.

    An unsupported or repeated parameter raises `ApiError`.
    """
    parameters = {}
    for name, value in parse_qsl(query_string, keep_blank_values=True):
        if name not in supported_names:
            raise ApiError(
                400,
                "unsupported_parameter",
                f"There is no parameter {_quote([name])}; supported: {', '.join(supported_names)}.",
                parameter=name,
                allowed=list(supported_names),
                suggestions=_find_near_matches([name], supported_names),
            )
        if name in parameters:
            hint_text = (
                "several values of a filter are written in one parameter, separated by commas."
            )
            raise _make_value_error(name, f"is given twice; {hint_text}")
        parameters[name] = value
    return parameters


def _parse_scope(
    host: str, query_string: str, section_names: Sequence[str]
) -> tuple[str | None, ServiceScope]:
    """Parse the query string of a request: return the name of the section, and a `ServiceScope`.

    The section is the requested kind of response; None means all ``section_names``. The scope has
    the host, days and filters. A parameter that is not valid raises `ApiError`.
    """
    parameters = _parse_parameters(query_string, ("section", "days", *FILTERS))
    section_name = parameters.get("section")
    days = parameters.get("days", "30")
    if section_name is not None and section_name not in section_names:
        raise _make_unknown_error("section", [section_name], section_names)
    if days not in map(str, ALLOWED_DAYS):
        problem_text = f"is one of {', '.join(map(str, ALLOWED_DAYS))}; {_quote([days])} is not."
        raise _make_value_error("days", problem_text, unknown=[days], allowed=list(ALLOWED_DAYS))
    filters = {
        name: filter_values
        for name in FILTERS
        if (filter_values := _parse_filter_values(name, parameters))
    }
    return section_name, ServiceScope(host, int(days), filters)


def _parse_filter_values(filter_name: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of a filter in the query parameters, sorted.

    A value that has only blanks raises `ApiError`.
    """
    filter_text = parameters.get(filter_name, "")
    # Only spaces are trimmed: another blank, such as a line break, is part of a value.
    filter_item_texts = filter_text.split(",")
    filter_values = {filter_item_text.strip(" ") for filter_item_text in filter_item_texts} - {""}
    if any(
        filter_item_text and not filter_item_text.strip() for filter_item_text in filter_item_texts
    ) or (filter_text and not filter_values):
        raise _make_value_error(
            filter_name, "has a blank value; without a value, leave the parameter out."
        )
    return tuple(sorted(filter_values))


def _check_filter_values(scope: ServiceScope, options: Mapping[str, Any]) -> None:
    """Raise `ApiError` if a filter in a request has a value that it cannot have.

    The allowed values depend on the project, i.e. the website whose data are requested. ``options``
    are the scope options of this project, which list the values that its filters may have.
    """
    for name, filter_values in scope.filters.items():
        options_field, value_field = FILTERS[name]
        allowed_values = [
            option[value_field]
            for option in options[options_field]
            if option[value_field] is not None
        ]
        if unknown_values := [value for value in filter_values if value not in {*allowed_values}]:
            raise _make_unknown_error(name, unknown_values, allowed_values)


# --- the application -------------------------------------------------------------------------

# Damaged bytes may also raise a ValueError, as impossible text or numbers.
_STORE_READ_ERRORS = (StoreError, OSError, ValueError, duckdb.Error)


class Service:
    """The HTTP API over a store of observations; ``asgi`` is its ASGI application.

    Parameters
    ----------
    store : Store
        The observations to serve. They are read again on a request with ``refresh=1``.
    accounts : Accounts
        The accounts that have access.
    sections : mapping of str to ServiceSection, optional
        The sections to serve, by name; by default all sections of the API.
    """

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        *,
        sections: Mapping[str, ServiceSection] | None = None,
    ) -> None:
        self.store = store
        self.accounts = accounts
        self.sections = dict(sorted((SECTIONS if sections is None else sections).items()))
        self._threads = ThreadPoolExecutor(os.cpu_count(), "aatoolkit-service")
        self.asgi = Starlette(
            routes=[
                self._make_route("scope-options", self._answer_scope_options),
                self._make_route("agent-analytics", self._answer_agent_analytics),
            ],
            middleware=[Middleware(GZipMiddleware, minimum_size=1024, compresslevel=2)],
            exception_handlers={HTTPException: _refuse_route},
        )
        self.asgi.router.redirect_slashes = False

    def _make_route(
        self, endpoint_name: str, make_json_object: Callable[[Request, str], JsonObject]
    ) -> Route:
        """Return the route of an endpoint, such as ``scope-options``.

        ``make_json_object`` takes a request and its host, and returns the JSON body of the
        response.
        """

        def reply(request: Request) -> Response:
            try:
                # An answer belongs to one account and holds until the store is read again, which
                # may be at any moment: a cache on the way must ask each time.
                headers = {"Cache-Control": "private, no-cache"}
                return _make_json_response(
                    make_json_object(request, self._find_visible_host(request)), 200, headers
                )
            except ApiError as error:
                return make_error_response(error)
            except Exception:
                failure_response = make_error_response(
                    ApiError(500, "internal", "The service failed to answer.")
                )
                _log.exception(
                    "%s %s failed", failure_response.headers["X-Request-Id"], request.url.path
                )
                return failure_response

        async def endpoint(request: Request) -> Response:
            event_loop = asyncio.get_running_loop()
            return await event_loop.run_in_executor(self._threads, reply, request)

        return Route(f"/api/domains/{{host}}/{endpoint_name}", endpoint, methods=["GET"])

    def _answer_scope_options(self, request: Request, host: str) -> JsonObject:
        """Return the scope options of a host, which are the values that its filters may have.

        If the request has ``refresh=1``, the store is read again first.
        """
        try:
            refresh_value = _parse_parameters(request.url.query, ("refresh",)).get("refresh")
            if refresh_value not in (None, "1"):
                raise _make_unknown_error("refresh", [refresh_value], ["1"])
            if refresh_value:
                # Requests under way keep the store that they began with.
                self.store = self.store.reload()
                host = self._find_visible_host(request)
            return _load_scope_options(self.store, host)
        except _STORE_READ_ERRORS as error:
            _log.warning("The scope options could not be read: %s", error)
            raise ApiError(
                502, "scope_options_unavailable", "The scope options could not be read."
            ) from error

    def _answer_agent_analytics(self, request: Request, host: str) -> JsonObject:
        """Return the JSON body of the response to a request for one section or for all sections."""
        store = self.store
        section_name, scope = _parse_scope(host, request.url.query, list(self.sections))
        if scope.filters:
            _check_filter_values(scope, _load_scope_options(store, host))
        if section_name is not None:
            section = self.sections[section_name]
            with store.observe(_drop_unsupported_filters(scope, section)) as observations:
                return {
                    **_make_common_fields(section_name, observations),
                    **_make_section_body(section, scope, observations),
                }
        section_bodies = {}
        for section_name, section in self.sections.items():
            with store.observe(_drop_unsupported_filters(scope, section)) as observations:
                section_bodies[section_name] = {
                    "filters": _list_values_by_filter(observations.scope),
                    **_make_section_body(section, scope, observations),
                }
        with store.observe(scope) as observations:
            return {**_make_common_fields(None, observations), "sections": section_bodies}

    def _find_visible_host(self, request: Request) -> str:
        """Return the host of a request, or raise `ApiError` if the account may not see it."""
        headers = request.headers.getlist("authorization")
        scheme, _, token = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
        token = token.strip()
        if scheme.lower() != "bearer" or not self.accounts.has_token(token):
            raise ApiError(
                401,
                "unauthorized",
                "Every request carries the header 'Authorization: Bearer <API_TOKEN>' with the"
                " token of an account.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        canonical_host = _normalize_host(request.path_params["host"])
        for host in self.store.hosts:
            if _normalize_host(host) == canonical_host and self.accounts.may_see_host(token, host):
                return host
        # The answer is the same in both cases, so that it does not tell whether the project exists.
        raise ApiError(
            404, "project_not_found", "No project of this host is visible to the account."
        )


def _load_scope_options(store: Store, host: str) -> JsonObject:
    """Return the scope options of a host, which are the values that its filters may have.

    They are computed once for each store.
    """
    if host not in store.options:
        with store.observe(ServiceScope(host)) as observations:
            store.options[host] = find_scope_options(observations)
    return store.options[host]


def _drop_unsupported_filters(scope: ServiceScope, section: ServiceSection) -> ServiceScope:
    """Return a copy of a scope with only those of its filters that apply to a section."""
    filters = {name: value for name, value in scope.filters.items() if name in section.filters}
    return replace(scope, filters=filters)


def _make_common_fields(section_name: str | None, observations: Observations) -> JsonObject:
    """Return the fields with which every response begins: section, host, window, filters, time."""
    day_window = observations.window
    return {
        "section": section_name,
        "domain": observations.scope.host,
        "window": {**vars(day_window), "days": day_window.days, "timezone": "UTC"},
        "filters": _list_values_by_filter(observations.scope),
        "generatedAt": observations.as_of,
    }


def _list_values_by_filter(scope: ServiceScope) -> dict[str, list[str] | None]:
    """Return a dict from the name of each filter to its values, or to None if it is not set."""
    return {name: list(scope.filter_values(name)) or None for name in FILTERS}


def _make_section_body(
    section: ServiceSection, scope: ServiceScope, observations: Observations
) -> JsonObject:
    """Return the availability and the fields of a section as one JSON object.

    The availability names the filters in ``scope`` that do not apply to the section.
    """
    section_response = section.compute(observations)
    reason = section_response.availability.reason
    if ignored_filters := [name for name in scope.filters if name not in section.filters]:
        note = f"Filters that do not apply to this section: {', '.join(ignored_filters)}."
        reason = f"{reason} {note}" if reason else note
    return {
        "availability": replace(section_response.availability, reason=reason).to_dict(),
        **section_response.body,
    }


async def _refuse_route(_request: Request, error: Exception) -> Response:
    """Return the error response to a request with an unknown path or HTTP method."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        message = "The service is read-only: GET is the method."
        headers = {"Allow": "GET, HEAD"}
        return make_error_response(ApiError(405, "method_not_allowed", message, headers))
    return make_error_response(ApiError(404, "not_found", "There is nothing at this address."))


def make_error_response(error: ApiError) -> Response:
    """Return the HTTP response for an error."""
    return _make_json_response(
        error.body, error.status, {"Cache-Control": "no-store", **error.headers}
    )


def _make_json_response(
    json_object: Mapping[str, Any], status: int, headers: Mapping[str, str]
) -> Response:
    """Return an HTTP response with a JSON body; NaN and infinity in it raise `ValueError`."""
    common_headers = {"Vary": "Authorization", "X-Request-Id": uuid4().hex}
    body = json.dumps(
        json_object, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_iso_text
    )
    media_type = "application/json; charset=utf-8"
    return Response(body.encode(), status, {**common_headers, **headers}, media_type)
