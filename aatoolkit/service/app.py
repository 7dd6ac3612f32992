"""The API as an ASGI application: two routes, one envelope, one shape of error."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import aatoolkit.service.sections  # noqa: F401  importing them registers them
from aatoolkit.service.accounts import Account, Accounts, canonical_host
from aatoolkit.service.answer import SECTIONS, ServiceSection, wire
from aatoolkit.service.observations import Observations
from aatoolkit.service.question import FILTERS, Question
from aatoolkit.service.replies import Body, BodyCache, Reply
from aatoolkit.service.requests import ApiError, known_values, read_analytics, read_refresh
from aatoolkit.service.store import Store, StoreError
from aatoolkit.service.workers import Busy, Cancellation, Workers

_log = logging.getLogger("aatoolkit.service")

_CACHE_BYTES = 32 << 20
MAX_WAITING = 512

# An answer belongs to one account and holds until the store is read again, which may be at
# any moment: a cache on the way must ask each time. An error is not worth keeping at all.
_CACHED = "private, no-cache"
_NOT_CACHED = "no-store"


# Damaged bytes may also come to light as text or numbers that cannot be: a ValueError.
_READ_FAILURES = (StoreError, OSError, ValueError, duckdb.Error)

_BUSY = "The service computes as many answers as it can at a time; ask again after Retry-After."


class _Served:
    """A store, with the answers already computed from it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.bodies = BodyCache(_CACHE_BYTES)
        self._hosts = {canonical_host(host): host for host in store.hosts}

    def project(self, name: str, account: Account) -> str:
        """The host of a project as the store spells it."""
        found = self._hosts.get(canonical_host(name))
        if found is None or not account.sees(found):
            # One answer for both, so that it does not tell whether the project exists.
            raise ApiError(
                404, "project_not_found", "No project of this host is visible to the account."
            )
        return found


class Service:
    """The API over a store; ``asgi`` is the application that a server runs.

    Parameters
    ----------
    store
        What is served. ``refresh=1`` reads it again from its folder and puts what it then
        holds in its place; a refresh that fails leaves it as it is.
    accounts
        The accounts that have access.
    sections
        The sections by name; all that are registered unless given.
    scope_options_fail
        While true, scope options answer 502 as they do after a failed read. It may be
        changed at any time.
    running
        Answers computed at the same time; unless given, one for each processor.
        More would only finish later, each of them: what waits takes its turn.
    waiting
        Requests that may wait for their turn. Further ones are answered 503 at once, with
        ``Retry-After``; so are those that would wait longer than 20 seconds, judging by how
        long recent answers took.
    """

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        *,
        sections: Mapping[str, ServiceSection] | None = None,
        scope_options_fail: bool = False,
        running: int | None = None,
        waiting: int = MAX_WAITING,
    ) -> None:
        self._served = _Served(store)
        self.accounts = accounts
        self.sections = dict(sorted((SECTIONS if sections is None else sections).items()))
        self.scope_options_fail = scope_options_fail
        self._running = running or max(2, os.cpu_count() or 1)
        self._waiting = waiting
        # Threads and queues belong to one event loop, and a service may run in several.
        self._workers: WeakKeyDictionary[asyncio.AbstractEventLoop, Workers] = WeakKeyDictionary()
        self.asgi = Starlette(
            routes=[
                _route("/api/domains/{host}/scope-options", self._scope_options),
                _route("/api/domains/{host}/agent-analytics", self._agent_analytics),
            ],
            exception_handlers={HTTPException: _refuse_route},
        )
        self.asgi.router.redirect_slashes = False

    def __repr__(self) -> str:
        return f"<Service: {len(self.sections)} sections>"

    @property
    def store(self) -> Store:
        """The store that is served; a refresh replaces it."""
        return self._served.store

    async def _run(self, key: tuple[object, ...], compute: Callable[[Cancellation], Any]) -> Any:
        loop = asyncio.get_running_loop()
        workers = self._workers.get(loop)
        if workers is None:
            workers = self._workers[loop] = Workers(self._running, self._waiting)
        return await workers.run(key, compute)

    async def _scope_options(self, request: Request) -> Body:
        account = self._account(request)
        try:
            host = self._served.project(request.path_params["host"], account)
            refresh = read_refresh(request.url.query)
            if self.scope_options_fail:
                raise _unreadable()
            if refresh:
                # Requests under way keep the store that they began with; the last frees it.
                self._served = await self._run(("refresh",), self._reloaded)
            served = self._served
            host = served.project(host, account)
            options = await self._run(
                ("scope-options", served, host), lambda _: served.store.scope_options(host)
            )
            return Body(wire(options), packed=_takes_gzip(request))
        except _READ_FAILURES as error:
            _log.warning("The scope options could not be read: %s", error)
            raise _unreadable() from error

    def _reloaded(self, _: Cancellation) -> _Served:
        store = self.store.reload()
        return self._served if store is self.store else _Served(store)

    async def _agent_analytics(self, request: Request) -> Body:
        served = self._served
        store = served.store
        host = served.project(request.path_params["host"], self._account(request))
        parsed = read_analytics(host, request.url.query, list(self.sections))
        if parsed.question.filters:
            options = await self._run(
                ("scope-options", served, host), lambda _: store.scope_options(host)
            )
            parsed.check(known_values(options))
        name, question = parsed.section, parsed.question
        packed = _takes_gzip(request)
        key = (name, packed, question.key)
        body = served.bodies.get(key)
        if body is not None:
            return body

        def compute(cancellation: Cancellation) -> Body:
            if name is None:
                content = _combined(store, self.sections, question, cancellation)
            else:
                content = _single(store, self.sections[name], question, cancellation)
            body = Body(content, packed=packed)
            served.bodies.put(key, body)
            return body

        found: Body = await self._run((served, *key), compute)
        return found

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


def _single(
    store: Store, section: ServiceSection, question: Question, cancellation: Cancellation
) -> dict[str, Any]:
    narrowed = _narrowed(question, section)
    with store.observe(narrowed, cancellation) as observations:
        return {
            **_envelope(section.name, narrowed, observations),
            **_measured(section, question, observations),
        }


def _combined(
    store: Store,
    sections: Mapping[str, ServiceSection],
    question: Question,
    cancellation: Cancellation,
) -> dict[str, Any]:
    answers = {}
    for name, section in sections.items():
        narrowed = _narrowed(question, section)
        with store.observe(narrowed, cancellation) as observations:
            answers[name] = {
                "filters": _filters(narrowed),
                **_measured(section, question, observations),
            }
    with store.observe(question, cancellation) as whole:
        return {**_envelope(None, question, whole), "sections": answers}


def _narrowed(question: Question, section: ServiceSection) -> Question:
    """Drop the filters of a question that the section's observations do not carry."""
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
    section: ServiceSection, question: Question, observations: Observations
) -> dict[str, Any]:
    answer = section.ask(observations)
    notes = (answer.availability.reason, _not_applied(section, question))
    reason = " ".join(note for note in notes if note) or None
    availability = replace(answer.availability, reason=reason)
    return {"availability": availability.wire(), **wire(answer.body)}


def _not_applied(section: ServiceSection, question: Question) -> str | None:
    names = [name for name in FILTERS if question.filter(name) and name not in section.filters]
    if not names:
        return None
    *first, last = names
    if not first:
        return f"The {last} filter does not apply to this section."
    return f"The {', '.join(first)} and {last} filters do not apply to this section."


def _route(path: str, answer: Callable[[Request], Coroutine[Any, Any, Body]]) -> Route:
    async def endpoint(request: Request) -> Response:
        try:
            body = await _while_connected(request, answer(request))
        except ApiError as error:
            return error_reply(error)
        except Busy as busy:
            retry = {"Retry-After": str(busy.seconds)}
            return error_reply(ApiError(503, "busy", _BUSY, headers=retry))
        except Exception:
            reply = error_reply(ApiError(500, "internal", "The service failed to answer."))
            _log.exception("%s %s failed", reply.headers["X-Request-Id"], request.url.path)
            return reply
        return Reply(body, 200, {"Cache-Control": _CACHED})

    return Route(path, endpoint, methods=["GET"])


def _takes_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


async def _while_connected(request: Request, work: Coroutine[Any, Any, Body]) -> Body:
    """Await the work; cancel it where the caller disconnects first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ApiError(499, "disconnected", "The caller disconnected.")
    finally:
        for task in (working, leaving):
            task.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refuse_route(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        return error_reply(
            ApiError(
                405,
                "method_not_allowed",
                "The service is read-only: GET is the method.",
                headers={"Allow": "GET, HEAD"},
            )
        )
    return error_reply(ApiError(404, "not_found", "There is nothing at this address."))


def error_reply(error: ApiError) -> Response:
    """Build the response of an error."""
    headers = {"Cache-Control": _NOT_CACHED, **error.headers}
    return Reply(Body(error.wire()), error.status, headers)
