"""The API as an ASGI application: two routes, one envelope, one shape of error."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import aatoolkit.service.sections  # noqa: F401  importing them registers them
from aatoolkit.service.accounts import Accounts, canonical_host
from aatoolkit.service.answer import SECTIONS, ServiceSection, wire
from aatoolkit.service.observations import FILTERS, Observations, Question, scope_options
from aatoolkit.service.requests import ApiError, check_values, read_analytics, read_refresh
from aatoolkit.service.store import Store, StoreError

_log = logging.getLogger("aatoolkit.service")

GZIP_FROM = 1024
"""Bodies of so many bytes are compressed for callers that accept gzip."""

# Damaged bytes may also come to light as text or numbers that cannot be: a ValueError.
_READ_FAILURES = (StoreError, OSError, ValueError, duckdb.Error)


class Service:
    """The API over a store; ``asgi`` is the application that a server runs.

    Requests are answered in as many threads as there are processors, each one at a time.

    Parameters
    ----------
    store
        What is served. ``refresh=1`` reads it again from its folder and puts what it then
        holds in its place; a refresh that fails leaves it as it is.
    accounts
        The accounts that have access.
    sections
        The sections by name; all that are registered unless given.
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
                self._route("scope-options", self._scope_options),
                self._route("agent-analytics", self._agent_analytics),
            ],
            middleware=[Middleware(GZipMiddleware, minimum_size=GZIP_FROM, compresslevel=5)],
            exception_handlers={HTTPException: _refuse_route},
        )
        self.asgi.router.redirect_slashes = False

    def __repr__(self) -> str:
        return f"<Service: {len(self.sections)} sections>"

    def _route(self, name: str, answer: Callable[[Request, str], dict[str, Any]]) -> Route:
        def reply(request: Request) -> Response:
            try:
                # An answer belongs to one account and holds until the store is read again, which
                # may be at any moment: a cache on the way must ask each time.
                headers = {"Cache-Control": "private, no-cache"}
                return _reply(wire(answer(request, self._project(request))), 200, headers)
            except ApiError as error:
                return error_reply(error)
            except Exception:
                failed = error_reply(ApiError(500, "internal", "The service failed to answer."))
                _log.exception("%s %s failed", failed.headers["X-Request-Id"], request.url.path)
                return failed

        async def endpoint(request: Request) -> Response:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, reply, request)

        return Route(f"/api/domains/{{host}}/{name}", endpoint, methods=["GET"])

    def _scope_options(self, request: Request, host: str) -> dict[str, Any]:
        try:
            if read_refresh(request.url.query):
                # Requests under way keep the store that they began with.
                self.store = self.store.reload()
                host = self._project(request)
            return _options(self.store, host)
        except _READ_FAILURES as error:
            _log.warning("The scope options could not be read: %s", error)
            raise ApiError(
                502, "scope_options_unavailable", "The scope options could not be read."
            ) from error

    def _agent_analytics(self, request: Request, host: str) -> dict[str, Any]:
        store = self.store
        name, question = read_analytics(host, request.url.query, list(self.sections))
        if question.filters:
            check_values(question, _options(store, host))
        if name is not None:
            section = self.sections[name]
            with store.observe(_narrowed(question, section)) as o:
                return {**_envelope(name, o), **_measured(section, question, o)}
        answers = {}
        for name, section in self.sections.items():
            with store.observe(_narrowed(question, section)) as o:
                answers[name] = {
                    "filters": _filters(o.question),
                    **_measured(section, question, o),
                }
        with store.observe(question) as o:
            return {**_envelope(None, o), "sections": answers}

    def _project(self, request: Request) -> str:
        """The host of a visible project as the store spells it."""
        given = request.headers.getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        token = token.strip()
        if scheme.lower() != "bearer" or not self.accounts.knows(token):
            raise ApiError(
                401,
                "unauthorized",
                "Every request carries the header 'Authorization: Bearer <API_TOKEN>' with the"
                " token of an account.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        name = canonical_host(request.path_params["host"])
        for host in self.store.hosts:
            if canonical_host(host) == name and self.accounts.sees(token, host):
                return host
        # One answer for both, so that it does not tell whether the project exists.
        raise ApiError(
            404, "project_not_found", "No project of this host is visible to the account."
        )


def _options(store: Store, host: str) -> dict[str, Any]:
    with store.observe(Question(host)) as o:
        return scope_options(o)


def _narrowed(question: Question, section: ServiceSection) -> Question:
    """Drop the filters of a question that the section's observations do not carry."""
    carried = {name: value for name, value in question.filters.items() if name in section.filters}
    return replace(question, filters=carried)


def _envelope(section: str | None, o: Observations) -> dict[str, Any]:
    days = {"start": o.window.start, "end": o.window.end, "days": o.window.days}
    return {
        "section": section,
        "domain": o.question.host,
        "window": {**days, "timezone": "UTC"},
        "filters": _filters(o.question),
        "generatedAt": o.as_of,
    }


def _filters(question: Question) -> dict[str, list[str] | None]:
    return {name: list(question.filter(name)) or None for name in FILTERS}


def _measured(section: ServiceSection, question: Question, o: Observations) -> dict[str, Any]:
    answer = section.ask(o)
    notes = (answer.availability.reason, _not_applied(section, question))
    reason = " ".join(note for note in notes if note) or None
    return {"availability": replace(answer.availability, reason=reason).wire(), **answer.body}


def _not_applied(section: ServiceSection, question: Question) -> str | None:
    names = [name for name in question.filters if name not in section.filters]
    if len(names) < 2:
        return f"The {names[0]} filter does not apply to this section." if names else None
    return f"The {', '.join(names[:-1])} and {names[-1]} filters do not apply to this section."


async def _refuse_route(_request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        message, allow = "The service is read-only: GET is the method.", {"Allow": "GET, HEAD"}
        return error_reply(ApiError(405, "method_not_allowed", message, allow))
    return error_reply(ApiError(404, "not_found", "There is nothing at this address."))


def error_reply(error: ApiError) -> Response:
    """Build the response of an error."""
    return _reply(error.body, error.status, {"Cache-Control": "no-store", **error.headers})


def _reply(content: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    """Build a JSON response; a number that JSON has no word for raises ValueError."""
    always = {"Vary": "Authorization", "X-Request-Id": uuid4().hex}
    return JSONResponse(
        content, status, {**always, **headers}, media_type="application/json; charset=utf-8"
    )
