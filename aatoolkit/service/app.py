"""The API as an ASGI application: two routes, one envelope, one shape of error."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
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
from aatoolkit.service.accounts import Account, Accounts, canonical_host
from aatoolkit.service.answer import SECTIONS, ServiceSection, wire
from aatoolkit.service.observations import Observations
from aatoolkit.service.question import FILTERS, Question
from aatoolkit.service.requests import ApiError, known_values, read_analytics, read_refresh
from aatoolkit.service.scope_options import scope_options
from aatoolkit.service.store import Store, StoreError

_log = logging.getLogger("aatoolkit.service")

_GZIP_FROM = 1024

# An answer belongs to one account and holds until the store is read again, which may be at
# any moment: a cache on the way must ask each time. An error is not worth keeping at all.
_CACHED = "private, no-cache"
_NOT_CACHED = "no-store"


# Damaged bytes may also come to light as text or numbers that cannot be: a ValueError.
_READ_FAILURES = (StoreError, OSError, ValueError, duckdb.Error)


class Service:
    """The API over a store; ``asgi`` is the application that a server runs.

    Parameters
    ----------
    store
        What is served. ``refresh=1`` reads it again from its folder and puts what it then
        holds in its place; a refresh that fails leaves it as it is.
    accounts
        Who may ask.
    sections
        The sections by name; all that are registered unless given.
    scope_options_fail
        While true, scope options answer 502 as they do after a failed read. It may be
        changed at any time.
    """

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        *,
        sections: Mapping[str, ServiceSection] | None = None,
        scope_options_fail: bool = False,
    ) -> None:
        self.store = store
        self.accounts = accounts
        self.sections = dict(sorted((SECTIONS if sections is None else sections).items()))
        self.scope_options_fail = scope_options_fail
        self._refreshing = threading.Lock()
        self.asgi = Starlette(
            routes=[
                _route("/api/domains/{host}/scope-options", self._scope_options),
                _route("/api/domains/{host}/agent-analytics", self._agent_analytics),
            ],
            middleware=[Middleware(GZipMiddleware, minimum_size=_GZIP_FROM)],
            exception_handlers={HTTPException: _refuse_route},
        )
        self.asgi.router.redirect_slashes = False

    def __repr__(self) -> str:
        return f"<Service: {len(self.sections)} sections>"

    def _scope_options(self, request: Request) -> dict[str, Any]:
        account = self._account(request)
        try:
            _project(self.store, request, account)
            refresh = read_refresh(request.url.query)
            if self.scope_options_fail:
                raise _unreadable()
            if refresh:
                self._refresh()
            store = self.store
            options = scope_options(store.connection, _project(store, request, account))
            return dict(wire(options))
        except _READ_FAILURES as error:
            _log.warning("The scope options could not be read: %s", error)
            raise _unreadable() from error

    def _refresh(self) -> None:
        # Requests under way keep the store that they began with; the last one frees it.
        with self._refreshing:
            self.store = self.store.reload()

    def _agent_analytics(self, request: Request) -> dict[str, Any]:
        store = self.store
        host = _project(store, request, self._account(request))
        name, question = read_analytics(
            host,
            request.url.query,
            list(self.sections),
            lambda: known_values(scope_options(store.connection, host)),
        )
        if name is None:
            return _combined(store, self.sections, question)
        return _single(store, self.sections[name], question)

    def _account(self, request: Request) -> Account:
        given = request.headers.getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        account = self.accounts.find(token.strip()) if scheme.lower() == "bearer" else None
        if account is None:
            raise ApiError(
                401,
                "unauthorized",
                "Every request carries the header 'Authorization: Bearer <API_TOKEN>' with the"
                " token of an account.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return account


def _unreadable() -> ApiError:
    return ApiError(502, "scope_options_unavailable", "The scope options could not be read.")


def _project(store: Store, request: Request, account: Account) -> str:
    asked = canonical_host(request.path_params["host"])
    found = {canonical_host(host): host for host in store.hosts}.get(asked)
    if found is None or not account.sees(found):
        # One answer for both, so that it does not tell whether the project exists.
        raise ApiError(
            404, "project_not_found", "No project of this host is visible to the account."
        )
    return found


def _single(store: Store, section: ServiceSection, question: Question) -> dict[str, Any]:
    narrowed = _narrowed(question, section)
    with Observations(store.connection, narrowed) as observations:
        return {
            **_envelope(section.name, narrowed, observations),
            **_measured(section, question, observations),
        }


def _combined(
    store: Store,
    sections: Mapping[str, ServiceSection],
    question: Question,
) -> dict[str, Any]:
    with ExitStack() as stack:

        def observe(narrowed: Question) -> Observations:
            return stack.enter_context(Observations(store.connection, narrowed))

        whole = observe(question)
        answers = {}
        for name, section in sections.items():
            narrowed = _narrowed(question, section)
            observations = whole if narrowed == question else observe(narrowed)
            answers[name] = {
                "filters": _filters(narrowed),
                **_measured(section, question, observations),
            }
        return {**_envelope(None, question, whole), "sections": answers}


def _narrowed(question: Question, section: ServiceSection) -> Question:
    """The question with only the filters that the section's observations carry."""
    carried = {name: value for name, value in question.filters.items() if name in section.filters}
    return replace(question, filters=carried)


def _envelope(
    section: str | None, question: Question, observations: Observations
) -> dict[str, Any]:
    window = observations.window
    return {
        "section": section,
        "domain": question.host,
        "window": {
            "start": wire(window.start),
            "end": wire(window.end),
            "days": window.days,
            "timezone": "UTC",
        },
        "filters": _filters(question),
        "generatedAt": wire(observations.as_of),
    }


def _filters(question: Question) -> dict[str, list[str] | None]:
    return {name: list(question.filter(name)) or None for name in FILTERS}


def _measured(
    section: ServiceSection, asked: Question, observations: Observations
) -> dict[str, Any]:
    answer = section.ask(observations)
    notes = (answer.availability.reason, _not_applied(section, asked))
    reason = " ".join(note for note in notes if note) or None
    availability = replace(answer.availability, reason=reason)
    return {"availability": availability.wire(), **wire(answer.body)}


def _not_applied(section: ServiceSection, asked: Question) -> str | None:
    names = [name for name in FILTERS if asked.filter(name) and name not in section.filters]
    if not names:
        return None
    *first, last = names
    if not first:
        return f"The {last} filter does not apply to this section."
    return f"The {', '.join(first)} and {last} filters do not apply to this section."


def _route(path: str, answer: Callable[[Request], dict[str, Any]]) -> Route:
    def endpoint(request: Request) -> Response:
        try:
            return _reply(answer(request), 200, {"Cache-Control": _CACHED})
        except ApiError as error:
            return _fail(error)
        except Exception:
            reply = _fail(ApiError(500, "internal", "The service failed to answer."))
            _log.exception("%s %s failed", reply.headers["X-Request-Id"], request.url.path)
            return reply

    return Route(path, endpoint, methods=["GET"])


async def _refuse_route(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        return _fail(
            ApiError(
                405,
                "method_not_allowed",
                "The service is read-only: GET is the method.",
                headers={"Allow": "GET, HEAD"},
            )
        )
    return _fail(ApiError(404, "not_found", "There is nothing at this address."))


def _fail(error: ApiError) -> Response:
    return _reply(error.wire(), error.status, {"Cache-Control": _NOT_CACHED, **error.headers})


def _reply(body: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    # A number that JSON has no word for raises here instead of reaching a reader.
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(
        text.encode(),
        status,
        {**headers, "Vary": "Authorization", "X-Request-Id": uuid4().hex},
        "application/json; charset=utf-8",
    )
