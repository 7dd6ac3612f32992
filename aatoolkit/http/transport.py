"""The requests adapter below the cache: one exchange with the service.

It returns a complete answer or raises `AttemptFailed`. The request of the answer has no token, and
of the response's headers only the listed ones are left, so that nothing above can store what must
not be stored.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import select_proxy

from aatoolkit import errors
from aatoolkit.availability.detect import is_availability_header
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.body import CHUNK, read_body
from aatoolkit.http.deadline import HEAD_LIMIT, Call
from aatoolkit.http.error_mapping import (
    DEADLINE_REACHED,
    MissingBundle,
    TransportProblem,
    UnsupportedProxy,
    problem_of,
    release,
)
from aatoolkit.http.response import ANSWERS, is_temporary, judge, retry_after
from aatoolkit.http.retry import AttemptFailed, is_retryable
from aatoolkit.http.secret import Secret
from aatoolkit.http.sockets import POOLS, tls_context
from aatoolkit.jsontree.decode import excerpt

KEPT_HEADERS = ("content-type", "date", "etag", "last-modified", "retry-after", "x-request-id")
"""The response headers that are kept, beside those about availability."""

READ_HEADERS = ("content-encoding", "location")
"""The response headers that are only read here."""

ERROR_BODY_LIMIT = 1 << 16
"""How much of the body of an error response is read, in bytes."""

ERROR_BODY_SECONDS = 2.0
"""How long reading it may take."""

_SHOWN = 1 << 12
_REMEMBERED = 64
_BRIEF = 256
"""How many texts of headers a session remembers as free of the token, and how long ones."""


class FinalResponse(requests.Response):
    """A complete answer, without anything that must not be stored."""

    fetched_at: datetime
    from_cache = False
    is_temporary = False


@dataclass
class _Partial:
    """The part of a response that has arrived."""

    url: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


class Transport(HTTPAdapter):
    """Sends one request: signs it, limits time and size, and classifies the response.

    Parameters
    ----------
    base
        The only origin that the token goes to.
    token
        The token, or None to send none.
    max_body
        The largest body, in bytes.
    connections
        The size of the connection pool.
    """

    def __init__(
        self, base: BaseUrl, token: Secret | None, *, max_body: int, connections: int
    ) -> None:
        super().__init__(pool_connections=1, pool_maxsize=connections)
        self._base = base
        self._token = token
        self._max_body = max_body
        self._connections = connections
        self._lock, self._is_closed = threading.Lock(), False
        self._clean = set[str]()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Use connections that respect the limits of the active call."""
        super().init_poolmanager(*arguments, ssl_context=tls_context(), **options)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Use such connections through a proxy too."""
        if proxy not in self.proxy_manager:
            options |= {"ssl_context": tls_context(), "proxy_ssl_context": tls_context()}
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = POOLS
        return manager

    def close(self) -> None:
        """Close the connections now; urllib3 would leave that to the garbage collector.

        From then on no connection is kept: that of an exchange under way, or of a later one, is
        closed when the exchange ends.
        """
        with self._lock:
            self._is_closed = True
            for manager in (self.poolmanager, *self.proxy_manager.values()):
                for key in manager.pools.keys():  # noqa: SIM118  (it has no other iteration)
                    pool = manager.pools.get(key)
                    if pool is not None:
                        pool.close()
            super().close()

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, timeout: float = 60.0, **options: Any
    ) -> requests.Response:
        """Send a request; ``timeout`` is the limit of the whole exchange, in seconds.

        Raises
        ------
        AttemptFailed
            If no answer came; it holds neither the request nor the library's exception.
        """
        outcome = self._outcome(request, timeout, options)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _outcome(
        self, request: requests.PreparedRequest, timeout: float, options: dict[str, Any]
    ) -> FinalResponse | BaseException:
        """Return the answer or the exception of an exchange, without its traceback.

        The frames and exceptions of the libraries hold requests, sockets and bytes; so does the
        traceback of an interrupt.
        """
        received = _Partial(str(request.url))
        call = Call(timeout, self._token if self._base.owns(received.url) else None)
        # Each broken connection from the pool is removed from it.
        for pooled in reversed(range(self._connections + 1)):
            try:
                with call.active():
                    self._exchange(request, call, received, options)
                return self._judged(request, received)
            except Exception as error:
                problem = DEADLINE_REACHED if call.is_expired else problem_of(error)
                release(error)
            except BaseException as error:
                release(error)
                return error
            if not (pooled and problem.retryable and call.is_stale_connection):
                break
        return self._failure(problem, received)

    def _exchange(
        self,
        request: requests.PreparedRequest,
        call: Call,
        received: _Partial,
        options: dict[str, Any],
    ) -> None:
        """Send the request, and receive the response's status, headers and body."""
        outgoing = request.copy()
        outgoing.headers.update(call.headers)
        options |= {"stream": True, "timeout": call.remaining()}
        _check_environment(received.url, options)
        response = super().send(outgoing, **options)
        raw = response.raw
        # Returned to the pool only after a complete answer: a broken one may leave bytes behind.
        connection, raw._connection = raw.connection, None
        try:
            received.status = response.status_code
            received.headers = CaseInsensitiveDict(
                (name, self._masked_text(value))
                for name, value in response.headers.items()
                if _is_kept(name) or name.lower() in READ_HEADERS
            )
            self._receive(raw, call, received)
            with self._lock:
                if raw.closed and not self._is_closed:
                    raw._connection, connection = connection, None
                    raw.release_conn()
        finally:
            if connection is not None:
                connection.close()
            raw.close()

    def _receive(self, raw: Any, call: Call, received: _Partial) -> None:
        """Read the body: all of an answer, the beginning of an error."""
        coding = received.headers.get("content-encoding", "").strip().lower()
        pieces = iter(lambda: raw.read(CHUNK, decode_content=False), b"")
        if received.status in ANSWERS:
            # Chunked framing may double the size of a body; more than that is an attack.
            call.limit_bytes(2 * self._max_body + HEAD_LIMIT)
            read_body(pieces, coding, self._max_body, received.body)
            call.remaining()
            return
        # The status says what happened; the body only adds a message, if it arrives in time.
        brief = Call(min(ERROR_BODY_SECONDS, call.remaining()))
        with suppress(Exception), brief.active():
            read_body(pieces, coding, ERROR_BODY_LIMIT, received.body)

    def _judged(
        self, request: requests.PreparedRequest, received: _Partial
    ) -> FinalResponse | AttemptFailed:
        """Return the answer or error that a response means; an internal error says that it is one.

        It does not stop an answer: that is returned as it came, and is not kept.
        """
        try:
            return self._judge(request, received)
        except Exception as error:
            name = type(error).__name__
            release(error)
        body = bytes(received.body)
        if received.status in ANSWERS and not self._repeats_token(body):
            return self._answer(request, received, body, is_temporary=True)
        return self._failure(
            TransportProblem(f"{name} within aatoolkit", retryable=False, kind="internal"), received
        )

    def _judge(
        self, request: requests.PreparedRequest, received: _Partial
    ) -> FinalResponse | AttemptFailed:
        url, body, headers = received.url, bytes(received.body), received.headers
        status = received.status or 0
        if status in ANSWERS and self._repeats_token(body):
            error: errors.FetchError | None = errors.DecodeError(
                "the answer repeats the token, and is not used, so that the token does not get "
                "into tables and files; tell whoever runs the service",
                problem="token",
                **self._facts(received),
            )
        else:
            error = judge(url, status, headers, body, self._masked)
        if error is not None:
            return AttemptFailed(
                error, retryable=is_retryable(error), retry_after=retry_after(headers)
            )
        # Errors may repeat what was sent.
        content = body if status in ANSWERS else self._masked(body)
        temporary = status in ANSWERS and is_temporary(body)
        return self._answer(request, received, content, is_temporary=temporary)

    def _answer(
        self,
        request: requests.PreparedRequest,
        received: _Partial,
        content: bytes,
        *,
        is_temporary: bool,
    ) -> FinalResponse:
        answer = FinalResponse()
        answer.status_code, answer.url = received.status or 0, received.url
        answer.request, answer._content = request, content
        kept = {name: value for name, value in received.headers.items() if _is_kept(name)}
        answer.headers.update(kept)
        answer.fetched_at, answer.is_temporary = datetime.now(UTC), is_temporary
        return answer

    def _failure(self, problem: TransportProblem, received: _Partial) -> AttemptFailed:
        """Return the error for a problem, with what had arrived until then."""
        facts = self._facts(received)
        if problem.kind == "deadline":
            message = f"{problem.reason}; ask for less, or raise the deadline"
            error: errors.FetchError = errors.DeadlineExceeded(message, **facts)
        elif problem.kind == "too_large" and received.status is not None:
            error = errors.DecodeError(
                f"the answer is larger than {self._max_body} bytes; narrow the scope, or raise "
                "max_body",
                problem="too_large",
                limit=self._max_body,
                **facts,
            )
        elif problem.kind == "internal":
            internal = errors.InternalError(
                f"the response could not be handled: {problem.reason}; this is a fault of "
                "aatoolkit and not of the network, please report it",
                **facts,
            )
            return AttemptFailed(internal, retryable=False)
        elif problem.kind == "encoding":
            error = errors.DecodeError(problem.reason, problem="encoding", **facts)
        else:
            message = f"no answer: {problem.reason}; check the base URL and the network"
            error = errors.ConnectionFailed(message, **facts)
        return AttemptFailed(error, retryable=problem.retryable)

    def _facts(self, received: _Partial) -> dict[str, Any]:
        shown = excerpt(self._masked(bytes(received.body[:_SHOWN])))
        came = received.status is not None
        return {
            "url": received.url,
            "status": received.status,
            "excerpt": shown if came else None,
        }

    def _repeats_token(self, body: bytes) -> bool:
        return self._token is not None and self._token.is_distinct and self._token.is_in(body)

    def _masked_text(self, text: str) -> str:
        # Answers of one service repeat most of their headers.
        if text in self._clean:
            return text
        masked = self._masked(text.encode("utf-8", "surrogateescape")).decode(errors="replace")
        if masked == text and len(text) < _BRIEF:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return masked

    def _masked(self, text: bytes) -> bytes:
        return text if self._token is None else self._token.hide_in(text)


def _check_environment(url: str, options: Mapping[str, Any]) -> None:
    """Refuse proxies and certificate bundles of the environment that cannot be used."""
    proxies = options.get("proxies")
    proxy = select_proxy(url, proxies) if proxies else None
    if proxy is not None and not proxy.lower().startswith(("http://", "https://")):
        raise UnsupportedProxy
    bundle = options.get("verify")
    if isinstance(bundle, str) and not Path(bundle).exists():
        raise MissingBundle


def _is_kept(header: str) -> bool:
    return header.lower() in KEPT_HEADERS or is_availability_header(header)
